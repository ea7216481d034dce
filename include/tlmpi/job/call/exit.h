/* exit.h - the exit status of the program: what a script may rely on, as --help says it. */
#ifndef TLMPI_JOB_CALL_EXIT_H
#define TLMPI_JOB_CALL_EXIT_H

#include "tlmpi/base/status.h"

/* Exit statuses of the program. */
enum {
    TL_EXIT_DONE = 0,
    TL_EXIT_PARTIAL = 1, /* done, but some input was unusable or incomplete */
    TL_EXIT_USAGE = 2,
    TL_EXIT_NOTHING = 3, /* nothing usable */
    TL_EXIT_OUTPUT = 4,  /* output cannot be written */
    TL_EXIT_FAIL_ON = 5,
    TL_EXIT_FAULT = 70,  /* a fault of ours, or memory is out */
    TL_EXIT_SIGNAL = 128 /* and the number of the signal that ended the reading; the results are written */
};

/* The exit status for a failure. */
int tl_exit_of_status(tl_status status);

/* Says the failure on stderr, as text that is safe to show; its exit status. */
int tl_exit_say(const tl_error *err);

#endif
