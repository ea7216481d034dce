/* wrap.h - words wrapped into lines that fit the terminal, or 80 columns.
 *
 *     tl_wrap w = { .out = stdout, .indent = 4 };
 *     tl_say(&w, "%d~traces, %s of a job", n, tl_duration(ns).text);     broken at spaces, but not at "~"
 *     tl_wrap_printf(&w, "%s", path);                                    kept together
 *     tl_wrap_end(&w);
 *
 * A text longer than a line stands unbroken on a line of its own, so that a path can be copied.
 */
#ifndef TLMPI_REPORT_FORMAT_WRAP_H
#define TLMPI_REPORT_FORMAT_WRAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns whether `out` and stderr are terminals.  A terminal on stdout only is not enough: mpirun gives a program a
 * terminal as stdout even if mpirun's own output goes elsewhere. */
bool tl_is_terminal(FILE *out);

/* Returns the columns of a line of `out`: the terminal's, limited to 40 to 120; 80 if `out` is no terminal.  Text in
 * memory counts as text for stdout. */
size_t tl_line_columns(FILE *out);

/* Returns whether `out` is a terminal that supports colours: NO_COLOR is not set, TERM is not "dumb". */
bool tl_shows_colour(FILE *out);

/* As `columns`: lines are not wrapped, and words that tl_say keeps together are joined by no-break spaces. */
#define TL_ONE_LINE SIZE_MAX

typedef struct tl_wrap {
    FILE *out;
    size_t indent;  /* of every line but the first */
    size_t column;  /* characters in this line; set by a caller that has begun the line itself */
    size_t columns; /* columns of a line; 0: as tl_line_columns says; TL_ONE_LINE: not wrapped */
    bool begun;     /* the line has text: the next text follows after a space */
} tl_wrap;

/* Says one text (up to 1,023 bytes, the rest is cut), without line breaks and control bytes. */
void tl_wrap_printf(tl_wrap *wrap, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says the words of a text. */
void tl_wrap_words(tl_wrap *wrap, const char *text);

/* Says the words of a sentence.  A "~" of the format, and a TL_KEPT of a text, is a space without a line break.  A
 * number stays with the unit behind it, and with its groups of three digits. */
#define TL_KEPT "\x1f"
void tl_say(tl_wrap *wrap, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tl_vsay(tl_wrap *wrap, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Ends the line; the next text begins a new one at column 0. */
void tl_wrap_end(tl_wrap *wrap);

/* A sentence by itself: all its lines but the first begin with two spaces. */
void tl_print_sentence(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
