/* reps.h - tlmpi reps: how long the device works in each repetition, and in which variant longer.
 *
 * From the traces alone, one by one; prints tables, writes no result.  Uses read/, and the repetitions of analysis.
 */
#ifndef TLMPI_JOB_REPS_H
#define TLMPI_JOB_REPS_H

#include "tlmpi/job/call/options.h"

/* Which of the tables is printed. */
typedef enum tl_reps_shown { TL_REPS_STATISTICS, TL_REPS_EACH, TL_REPS_KERNELS, TL_REPS_COMPARED } tl_reps_shown;

typedef struct tl_reps_options {
    const char
        *rep; /* ProfilerStep, one-per-file, or an annotation; NULL: ProfilerStep, of a trace without any the file */
    const char *exclude; /* extended regular expression of names left out; NULL: none */
    int64_t skip;        /* works left out at the begin of each repetition */
    tl_reps_shown shown;
    int format, unit;  /* tl_format, tl_unit_choice */
    size_t text_width; /* of a text in a table; 0: all of it */
} tl_reps_options;

/* Collective: reads the traces of options->paths, each path a variant, and prints on standard output.  The exit
 * status. */
int tl_reps(const tl_options *options, const tl_reps_options *reps);

#endif
