/* job.h - the frames of all ranks, loaded as HTA loads them, and the facts that no table has a place for. */
#ifndef TLMPI_COMPAT_HTA_FRAME_JOB_H
#define TLMPI_COMPAT_HTA_FRAME_JOB_H

#include "tlmpi/compat/hta/frame/frame.h"
#include "tlmpi/compat/hta/frame/parameters.h"

typedef struct tl_hta_file {
    const char *path;
    int64_t rank; /* tl_hta_rank_of_file decides it as HTA does */
} tl_hta_file;

typedef struct tl_hta_options {
    const tl_hta_file *files;            /* of two files of one rank the later is taken */
    size_t nfiles;                       /* 0: there is a memory timeline alone */
    const char *memory_timeline;         /* a raw one of the profiler's; NULL: none */
    const char *execution_trace;         /* of one of the ranks, whose rows are linked to its nodes; NULL: none */
    const char *out_dir;                 /* made if missing, parents too; tables in it are replaced */
    bool ns;                             /* time stamps keep their fractions (HTA_DISABLE_NS_ROUNDING=1) */
    bool include_last_step;              /* the last profiler step stays (include_last_profiler_step=True) */
    const tl_hta_parameters *parameters; /* NULL: HTA's defaults */
} tl_hta_options;

/* Zero-initialise; tl_hta_job_free ends it. */
typedef struct tl_hta_job {
    TL_VEC(tl_hta_frame) frames; /* ascending rank, one a rank, each with rows before the cut */
    tl_hta_symbols symbols;
    double zero; /* the earliest ts of all ranks, which is 0 after align */
    bool zero_whole;
    const char *execution_trace;         /* borrowed; NULL: none */
    const tl_hta_parameters *parameters; /* borrowed */
    TL_VEC(char) notes;                  /* lines */
    bool incomplete;                     /* a file could not be used, or is damaged */
} tl_hta_job;

void tl_hta_job_free(tl_hta_job *job);

/* Reads and loads all files.  A file that cannot be used is noted and left out. */
tl_status tl_hta_job_load(tl_hta_job *job, const tl_hta_options *options, tl_error *err);

/* align and cut, where all frames are there. */
tl_status tl_hta_job_settle(tl_hta_job *job, bool include_last_step, tl_error *err);

/* Adds a line to the notes. */
tl_status tl_hta_job_note(tl_hta_job *job, tl_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A table, or some of one idea: writes files into dir, from frames that are settled.  Where HTA could not make its rows
 * it is not written, and a line of the notes tells why.  TL_EOUTPUT; TL_ENOMEM; a file appears whole or not at all. */
typedef tl_status tl_hta_table(tl_hta_job *job, const char *dir, tl_error *err);

#endif
