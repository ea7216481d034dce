/* job.h - the frames of all ranks, loaded as HTA loads them, what HTA's functions take, and the tables that are made. */
#ifndef TLMPI_COMPAT_HTA_FRAME_JOB_H
#define TLMPI_COMPAT_HTA_FRAME_JOB_H

#include "tlmpi/compat/hta/frame/frame.h"
#include "tlmpi/base/ranges.h"

/* Parameters of HTA's functions, under HTA's names.  A name that several functions share sets only the tables named
 * here; elsewhere HTA's default holds. */
typedef struct tl_hta_parameters {
    /* kernel_breakdown_default: names of a class that keep a line of their own; and of the running totals of their
     * times the quantile above which names are others. */
    int64_t num_kernels;
    double duration_ratio;

    int64_t consecutive_kernel_delay;            /* idle_time_breakdown, idle_interval_stats: us */
    int64_t runtime_cutoff, launch_delay_cutoff; /* launch_stats_summary: us */
    int64_t max_queue_length;                    /* time_blocked_on_full_queue; 0: three of them */

    /* potential_stragglers: their number, and the steps they are looked for in; without a range all steps. */
    int64_t num_candidates;
    tl_ranges profiler_steps;

    /* frequent_patterns, patterns_overlay: an operator; NULL: some that are common, and of those a length of 1, too. */
    const char *operator_name;
    int64_t min_pattern_len, top_k;
} tl_hta_parameters;

/* HTA's own. */
extern const tl_hta_parameters tl_hta_defaults;

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
    tl_csv_folder out;                   /* of the tables, with the first failure */
    tl_bytes notes;                      /* lines */
    bool incomplete;                     /* a file could not be used, or is damaged */
} tl_hta_job;

void tl_hta_job_free(tl_hta_job *job);

/* Reads and loads all files.  A file that cannot be used is noted and left out. */
void tl_hta_job_load(tl_hta_job *job, const tl_hta_options *options);

/* align and cut, when all frames are there. */
void tl_hta_job_align(tl_hta_job *job, bool include_last_step);

/* Adds a line to the notes. */
#define tl_hta_note(job, ...) tl_csv_note(&(job)->notes, false, __VA_ARGS__)

/* A table, or several of one idea: writes files from the frames.  Where HTA could not make its rows the file is not
 * written, and a line of the notes tells why. */
typedef void tl_hta_table(tl_hta_job *job);

/* A table to which each rank adds its rows. */
typedef void tl_hta_rows(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame);
void tl_hta_write_ranks(tl_hta_job *job, const char *file, const char *header, tl_hta_rows *rows);

#endif
