/* wrap.h - words in lines that fit the terminal, or 80 columns.
 *
 *     tl_wrap w = { .out = stdout, .indent = 4 };
 *     tl_say(&w, "%d~traces, %s of a job", n, tl_duration(ns).text);     broken at spaces, but not at "~"
 *     tl_wrap_printf(&w, "%s", path);                                    kept together
 *     tl_wrap_end(&w);
 *
 * A text that is longer than a line stands whole on a line of its own: a path must stay one that can be copied.
 */
#ifndef TLMPI_REPORT_FORMAT_WRAP_H
#define TLMPI_REPORT_FORMAT_WRAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whether `out` and stderr are terminals.  A terminal on stdout alone is not enough: mpirun gives a program a
 * terminal of its own for stdout, wherever mpirun then sends the output. */
bool tl_is_terminal(FILE *out);

/* How many columns a line of `out` may have: the terminal's, but 40 to 120; 80 where `out` is no terminal.  Text in
 * memory counts as text for stdout. */
size_t tl_line_columns(FILE *out);

/* Whether `out` is a terminal that may be shown colours: NO_COLOR is not set, TERM is not "dumb". */
bool tl_shows_colour(FILE *out);

/* Columns of a text that a page breaks into lines: what tl_say keeps together has no-break spaces. */
#define TL_ONE_LINE SIZE_MAX

typedef struct tl_wrap {
    FILE *out;
    size_t indent;  /* of every line but the first */
    size_t column;  /* characters in this line; a caller that has begun the line itself sets it */
    size_t columns; /* that a line may have; 0: as tl_line_columns says; TL_ONE_LINE: a page breaks the lines */
    bool begun;     /* a text stands in this line: the next one is parted from it by a space */
} tl_wrap;

/* One text (of up to 1,023 bytes, the rest is cut), control bytes made harmless. */
void tl_wrap_printf(tl_wrap *wrap, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The words of a text, each by itself. */
void tl_wrap_words(tl_wrap *wrap, const char *text);

/* The words of a sentence.  A "~" of the format, and a TL_KEPT of a text, is a space at which no line ends.  A number
 * stays with the unit behind it, and its groups of three digits stay together. */
#define TL_KEPT "\x1f"
void tl_say(tl_wrap *wrap, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tl_vsay(tl_wrap *wrap, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Ends the line; the next text begins a new one at column 0. */
void tl_wrap_end(tl_wrap *wrap);

/* A sentence by itself: all its lines but the first begin with two spaces. */
void tl_print_sentence(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
