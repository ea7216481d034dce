/* summary.h - the findings of a run on one screen: if the input has no faults and the path of the result is short,
 * 24 lines of 80 columns.
 *
 * In this order: the input, the table of ranks, the verdict, where most time is lost, unreliable or missing
 * data, the file, the next command.  Every number stands in a table of the result file too.  Files that
 * are damaged or left out are told on stderr (job/tell.c).
 *
 * From the tables of the result and from answers; may use format.
 */
#ifndef TLMPI_REPORT_SUMMARY_H
#define TLMPI_REPORT_SUMMARY_H

#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/measured_tables.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/work_tables.h"
#include "tlmpi/report/answers/answers.h"
#include <stdbool.h>
#include <stdio.h>

/* Everything is borrowed.  Tables have their rows in key order. */
typedef struct tl_summary {
    const char *version;
    const tl_table *ranks; /* a row for each trace of the run */
    const tl_table *breakdown, *steps, *idle, *classes, *stragglers, *phases, *memory,
        *side_files;           /* of tables breakdown, step, idle, idle_summary, straggler, phase, memory_category and
                               * side_file */
    const tl_table *kernels;   /* rows of kernel_ranks, by time, descending */
    const tl_names *names;     /* texts of columns of type NAME */
    int64_t noise_ns;          /* shorter gaps have no class */
    const tl_answers *answers; /* the verdict */

    int64_t world_size;     /* ranks of the traced job; 0 or less when unknown */
    const int64_t *missing; /* the nmissing ranks without a trace, ascending, or the first of them */
    size_t nmissing_listed, nmissing;
    int run, nruns;      /* the analysed run, 1 = oldest; number of runs in the paths */
    bool run_asked;      /* the run was selected with --run */
    const char *windows; /* why several runs were joined, a sentence without full stop; empty or NULL: not joined */
    const char *apart;   /* why another run is no window of the analysed run; empty or NULL: unknown */

    int nprocs;
    double seconds;     /* from start to summary */
    const char *output; /* path of the result file; NULL when none was written */
    int64_t output_bytes;
} tl_summary;

/* Prints the summary; in colour if tl_shows_colour(out). */
void tl_print_summary(FILE *out, const tl_summary *summary);

#endif
