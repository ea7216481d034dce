/* terminal.c - whether a person reads along. */
#include "tlmpi/report/format/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tl_is_terminal(FILE *out)
{
    int fd = fileno(out);
    return fd >= 0 && isatty(fd) && isatty(STDERR_FILENO);
}

bool tl_shows_colour(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return tl_is_terminal(out) && (no_color == NULL || *no_color == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}
