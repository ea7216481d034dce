/* words.h - numbers, lists and paths as they stand in a sentence. */
#ifndef TLMPI_REPORT_FORMAT_WORDS_H
#define TLMPI_REPORT_FORMAT_WORDS_H

#include "tlmpi/base/ranges.h"
#include "tlmpi/report/format/wrap.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct tl_digits {
    char text[32];
} tl_digits;

/* 13702 -> "13 702"; four digits stay together. */
tl_digits tl_grouped(int64_t value);

/* 3000000 -> "3.0 MB". */
tl_digits tl_bytes_in_words(int64_t value);

/* How much of a host's name is said: its first label ("node0" of "node0.cluster.local"), of an address all. */
size_t tl_host_length(const char *name, size_t size);

/* What makes a word that stands after n the plural: "s", or nothing. */
const char *tl_plural(int64_t n);

/* The path as a word for a shell, 0-terminated. */
void tl_shell_word(char *out, size_t n, const char *path);

/* "1-3, 7 and 5 more": so many runs of the listed ranks (ascending) as fit a line or two; there are `all` of them. */
void tl_say_ranks(tl_wrap *wrap, const int64_t *ranks, size_t listed, size_t all);

/* The text that names sorted ranges, "0-3,7", those that overlap or follow one another as one; of spans of time in ns,
 * whose ends are not in them, each in the largest unit that needs no fraction: "10ms-20500us".  What n bytes have no room
 * for is dots. */
void tl_ranges_text(const tl_ranges *ranges, char *out, size_t n);
void tl_times_text(const tl_ranges *times, char *out, size_t n);

#endif
