/* terminal.h - whether a person reads along, and sees colours. */
#ifndef TLMPI_REPORT_FORMAT_TERMINAL_H
#define TLMPI_REPORT_FORMAT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Whether `out` and stderr are terminals.  One is not enough: mpirun gives a program a terminal of its own for stdout,
 * whatever it then does with what comes out of it. */
bool tl_is_terminal(FILE *out);

/* How many columns its lines may have: those of the terminal, of 40 to 120; 80 where it is none.  Text in
 * memory is for stdout. */
size_t tl_line_columns(FILE *out);

/* Whether `out` is a terminal that may be shown colours: NO_COLOR is not set, TERM is not "dumb". */
bool tl_shows_colour(FILE *out);

#endif
