/* terminal.c - whether a person reads along. */
#include "tlmpi/report/format/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool tl_is_terminal(FILE *out)
{
    int fd = fileno(out);
    return fd >= 0 && isatty(fd) && isatty(STDERR_FILENO);
}

size_t tl_line_columns(FILE *out)
{
    enum { LEAST = 40, USUAL = 80, MOST = 120 };
    struct winsize size;
    int fd = fileno(out) >= 0 ? fileno(out) : STDOUT_FILENO;
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL;
    return size.ws_col < LEAST ? LEAST : size.ws_col > MOST ? MOST : size.ws_col;
}

bool tl_shows_colour(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return tl_is_terminal(out) && (no_color == NULL || *no_color == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}
