/* words.h - numbers, lists and paths in a sentence; words wrapped into lines that fit the terminal, or 80 columns; and
 * text in a page.
 *
 *     tl_wrap w = { .out = stdout, .indent = 4 };
 *     tl_say(&w, "%d~traces, %s of a job", n, tl_duration(ns).text);     broken at spaces, but not at "~"
 *     tl_wrap_printf(&w, "%s", path);                                    kept together
 *     tl_wrap_end(&w);
 *
 * A text longer than a line stands unbroken on a line of its own, so that a path can be copied.
 */
#ifndef TLMPI_REPORT_FORMAT_WORDS_H
#define TLMPI_REPORT_FORMAT_WORDS_H

#include "tlmpi/base/ranges.h"
#include "tlmpi/base/text.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ----------------------------------------------------------------------------------------------------------- lines */

/* Returns whether `out` and stderr are terminals.  A terminal on stdout only is not enough: mpirun gives a program a
 * terminal as stdout even if mpirun's own output goes elsewhere. */
bool tl_is_terminal(FILE *out);

/* Returns whether `out` is a terminal that supports colours: NO_COLOR is not set, TERM is not "dumb". */
bool tl_shows_colour(FILE *out);

/* Returns a file in memory; the caller closes the file, which sets *text and its length *n, and frees *text. */
FILE *tl_memory_file(char **text, size_t *n);

/* As `columns`: lines are not wrapped, and words that tl_say keeps together are joined by no-break spaces. */
#define TL_ONE_LINE SIZE_MAX

typedef struct tl_wrap {
    FILE *out;
    size_t indent;  /* of every line but the first */
    size_t column;  /* characters in this line; set by a caller that has begun the line itself */
    size_t columns; /* columns of a line; 0: those of the terminal, 40 to 120, or 80; TL_ONE_LINE: not wrapped */
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

/* --------------------------------------------------------------------------------------------------------- phrases */

/* A text returned by value: tl_say(w, "%s", tl_duration(ns).text). */
typedef struct tl_phrase {
    char text[384];
} tl_phrase;

tl_phrase tl_phrase_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* 13702 -> "13 702"; four digits stay together. */
tl_phrase tl_grouped(int64_t value);

/* 3000000 -> "3.0 MB". */
tl_phrase tl_bytes_in_words(int64_t value);

/* 1009537890 -> "1.01 s", 20439898 -> "20.4 ms", 131000 -> "131 us", -4500 -> "-4.50 us". */
tl_phrase tl_duration(int64_t ns);

/* 0.024 -> "2.4 %", 1 -> "100 %".  tl_part_in_words: the share part / whole in these words; 0 where whole is 0. */
tl_phrase tl_share_in_words(double share);
#define TL_LEAST_SHOWN 0.0005 /* a smaller share is "0.0 %" */
tl_phrase tl_part_in_words(int64_t part, int64_t whole);

/* 0.0123 -> "p = 0.0123", 1e-9 -> "p < 0.0001". */
tl_phrase tl_chance_in_words(double p);

/* The text of a cell of `size` bytes, which may fill the cell. */
tl_phrase tl_cell_in_words(const char *cell, size_t size);

/* Returns the length of the shown part of a host's name: the first label ("node0" of "node0.cluster.local"), or all of
 * an address. */
size_t tl_host_length(const char *name, size_t size);

/* Returns the plural ending after the number n: "s", or "". */
const char *tl_plural(int64_t n);

/* Writes the path, quoted for a shell and 0-terminated. */
void tl_shell_word(char *out, size_t n, const char *path);

/* "1-3, 7, and 5 more": the first 8 runs of the `listed` ranks (ascending); `all` is the number of ranks, listed or
 * not; `comma` stands before "and". */
tl_phrase tl_ranks_in_words(const int64_t *ranks, size_t listed, size_t all, const char *comma);

/* Writes sorted ranges as text, "0-3,7": ranges that overlap or follow one another become one.  tl_times_text:
 * half-open spans of time in ns, each in the largest unit that needs no fraction: "10ms-20500us".  A text longer
 * than n bytes ends in dots. */
void tl_ranges_text(const tl_ranges *ranges, char *out, size_t n);
void tl_times_text(const tl_ranges *times, char *out, size_t n);

/* Writes a text for use between tags and in quoted values of HTML and SVG: & < > " ' are escaped; an invisible
 * character (a control, a change of text direction), one that XML forbids, and a byte that is no UTF-8 become U+FFFD
 * each. */
void tl_put_markup(FILE *out, tl_text text);

/* As tl_put_markup; the space between a number and its unit becomes a no-break space. */
void tl_put_sentence(FILE *out, const char *text);

#endif
