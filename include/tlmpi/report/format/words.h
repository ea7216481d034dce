/* words.h - numbers, lists and paths in a sentence. */
#ifndef TLMPI_REPORT_FORMAT_WORDS_H
#define TLMPI_REPORT_FORMAT_WORDS_H

#include "tlmpi/base/ranges.h"
#include "tlmpi/report/format/wrap.h"
#include <stdbool.h>
#include <stdint.h>

/* A text returned by value: tl_say(w, "%s", tl_duration(ns).text). */
typedef struct tl_phrase {
    char text[384];
} tl_phrase;

tl_phrase tl_phrase_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* 13702 -> "13 702"; four digits stay together. */
tl_phrase tl_grouped(int64_t value);

/* 3000000 -> "3.0 MB". */
tl_phrase tl_bytes_in_words(int64_t value);

/* 1009537890 -> "1.01 s", 20439898 -> "20.4 ms", 131000 -> "131 us". */
tl_phrase tl_duration(int64_t ns);

/* 0.024 -> "2.4 %".  tl_part_in_words: the share part / whole in these words; 0 where whole is 0. */
tl_phrase tl_share_in_words(double share);
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

#endif
