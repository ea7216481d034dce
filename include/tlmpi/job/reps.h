/* reps.h - tlmpi reps: the time of device work in each repetition, and in which variant it is longer.
 *
 * Reads the traces one by one; prints tables, writes no result.  Uses read/, and the repetitions of analysis.
 */
#ifndef TLMPI_JOB_REPS_H
#define TLMPI_JOB_REPS_H

#include "tlmpi/job/call/options.h"
#include "tlmpi/report/format/print.h"

/* The table that is printed. */
typedef enum tl_reps_shown { TL_REPS_STATISTICS, TL_REPS_EACH, TL_REPS_KERNELS, TL_REPS_COMPARED } tl_reps_shown;

typedef struct tl_reps_options {
    const char
        *rep; /* ProfilerStep, one-per-file, or an annotation; NULL: ProfilerStep, or one-per-file for a trace without
               * steps */
    const regex_t *exclude; /* names of what is left out; NULL: none */
    int64_t skip;           /* number of works left out at the beginning of each repetition */
    tl_reps_shown shown;
    tl_printer printer; /* how the table is printed */
} tl_reps_options;

/* Collective: reads the traces of options->paths, each path a variant, and prints on standard output.  Returns the exit
 * status. */
int tl_reps(const tl_options *options, const tl_reps_options *reps);

#endif
