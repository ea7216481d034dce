/* exit.c - the exit status for each status of the program. */
#include "tlmpi/job/call/exit.h"
#include "tlmpi/base/log.h"
#include <stdio.h>

int tl_exit_of_status(tl_status st)
{
    switch (st) {
    case TL_OK:
        return TL_EXIT_DONE;
    case TL_EINPUT:
        return TL_EXIT_NOTHING;
    case TL_EUSAGE:
        return TL_EXIT_USAGE;
    case TL_EOUTPUT:
        return TL_EXIT_OUTPUT;
    case TL_ENOMEM:
    case TL_EINTERNAL:
        break;
    }
    return TL_EXIT_FAULT;
}

int tl_exit_say(const tl_error *err)
{
    char safe[sizeof err->text];
    tl_printable(safe, sizeof safe, err->text);
    fprintf(stderr, "tlmpi: %s\n", safe);
    return tl_exit_of_status(err->status);
}
