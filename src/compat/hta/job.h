/* job.h - the frames of all ranks, loaded as HTA loads them, and the facts that no table has a place for. */
#ifndef TLMPI_COMPAT_HTA_JOB_H
#define TLMPI_COMPAT_HTA_JOB_H

#include "frame.h"
#include "tlmpi/compat/hta.h"

/* Zero-initialise; tl_hta_job_free ends it. */
typedef struct tl_hta_job {
    TL_VEC(tl_hta_frame) frames; /* ascending rank, one a rank, each with rows before the cut */
    tl_hta_symbols symbols;
    double zero; /* the earliest ts of all ranks, which is 0 after align */
    bool zero_whole;
    TL_VEC(char) notes; /* lines */
    bool incomplete;    /* a file could not be used, or is damaged */
} tl_hta_job;

void tl_hta_job_free(tl_hta_job *job);

/* Reads and loads all files.  A file that cannot be used is noted and left out. */
tl_status tl_hta_job_load(tl_hta_job *job, const tl_hta_options *options, tl_error *err);

/* align and cut, where all frames are there. */
tl_status tl_hta_job_settle(tl_hta_job *job, bool include_last_step, tl_error *err);

/* Adds a line to the notes. */
tl_status tl_hta_job_note(tl_hta_job *job, tl_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The tables, each a file or two in dir. */
tl_status tl_hta_write_load_summary(tl_hta_job *job, const char *dir, tl_error *err);
tl_status tl_hta_write_events_by_category(tl_hta_job *job, const char *dir, tl_error *err);
tl_status tl_hta_write_profiler_steps(tl_hta_job *job, const char *dir, tl_error *err);
tl_status tl_hta_write_temporal_breakdown(tl_hta_job *job, const char *dir, tl_error *err);
tl_status tl_hta_write_comm_comp_overlap(tl_hta_job *job, const char *dir, tl_error *err);

#endif
