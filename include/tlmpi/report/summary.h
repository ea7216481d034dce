/* summary.h - what a run found, on one screen: where nothing is wrong with the input, and the path of the result is short,
 * 24 lines of 80 columns.
 *
 * In this order: what was read, the one table, the verdict, where most time is lost, what cannot be trusted or is not
 * there, the file, the next command.  Facts only: every number stands in a table of the result file too.  Files that
 * are damaged or left out are told on stderr (job/tell.h).
 *
 * From the tables of the result and from answers; may use format.
 */
#ifndef TLMPI_REPORT_SUMMARY_H
#define TLMPI_REPORT_SUMMARY_H

#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/measured_tables.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/work_tables.h"
#include "tlmpi/report/answers/answers.h"
#include <stdbool.h>
#include <stdio.h>

/* Everything is borrowed.  Tables have their rows in key order. */
typedef struct tl_summary {
    const char *version;
    const tl_table *ranks; /* a row for each trace of the run */
    const tl_table *breakdown, *steps, *idle, *classes, *stragglers, *phases, *memory, *executions,
        *phase_files;         /* of tables breakdown, step, idle, idle_summary, straggler, phase, memory_category,
                               * execution_trace and phase_file */
    const tl_table *kernels;   /* rows of kernel_ranks, the most time first */
    const tl_names *names;     /* that columns of type NAME are of */
    int64_t noise_ns;          /* a gap below it has no class */
    const tl_answers *answers; /* the verdict */

    int64_t world_size;     /* ranks of the traced job; 0 or less when unknown */
    const int64_t *missing; /* ranks without a trace, ascending: nmissing of them, or the first of them */
    size_t nmissing_listed, nmissing;
    int run, nruns;  /* the one analysed, 1 = oldest, and how many the paths hold */
    bool run_asked;  /* --run named it */
    const char *windows; /* what joined several runs to one, a sentence without its end; empty or NULL: one run is analysed */
    const char *apart;   /* why another run is no window of the one analysed; empty or NULL: nothing is known */

    int nprocs;
    double seconds;     /* from start to summary */
    const char *output; /* path of the result file; NULL when none was written */
    int64_t output_bytes;
} tl_summary;

/* Colours are used where out may be shown them (wrap.h). */
void tl_print_summary(FILE *out, const tl_summary *summary);

#endif
