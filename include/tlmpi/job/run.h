/* run.h - one job: traces in, result file and summary out. */
#ifndef TLMPI_JOB_RUN_H
#define TLMPI_JOB_RUN_H

#include "tlmpi/base/status.h"
#include "tlmpi/job/options.h"

/* Exit statuses of the program. */
enum {
    TL_EXIT_DONE = 0,
    TL_EXIT_PARTIAL = 1,        /* done, but some input was unusable or incomplete */
    TL_EXIT_USAGE = 2,
    TL_EXIT_NOTHING = 3,        /* nothing usable */
    TL_EXIT_OUTPUT = 4,         /* output cannot be written */
    TL_EXIT_FAIL_ON = 5,
    TL_EXIT_FAULT = 70          /* a fault of ours, or memory is out */
};

/* The exit status for a failure. */
int tl_exit_of_status(tl_status status);

/* Collective: analyses the traces and writes PREFIX.h5.  Returns the exit status, the same on every proc; messages have
 * been printed by proc 0. */
int tl_run(const tl_options *options);

/* Collective: reads everything, prints the inventory (a line a rank: file, size, entries, status), analyses nothing. */
int tl_check(const tl_options *options);

/* Collective: writes a copy of each trace with tracks added, into the folder options->output. */
int tl_augment(const tl_options *options);

#endif
