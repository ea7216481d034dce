/* terminal.h - whether a person reads along, and sees colours. */
#ifndef TLMPI_REPORT_FORMAT_TERMINAL_H
#define TLMPI_REPORT_FORMAT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Whether `out` and stderr are terminals.  A terminal on stdout alone is not enough: mpirun gives a program a
 * terminal of its own for stdout, wherever mpirun then sends the output. */
bool tl_is_terminal(FILE *out);

/* How many columns a line of `out` may have: the terminal's, but 40 to 120; 80 where `out` is no terminal.  Text in
 * memory counts as text for stdout. */
size_t tl_line_columns(FILE *out);

/* Whether `out` is a terminal that may be shown colours: NO_COLOR is not set, TERM is not "dumb". */
bool tl_shows_colour(FILE *out);

#endif
