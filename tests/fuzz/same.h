/* same.h - whether two readings of the same bytes come to the same trace; the first difference is told, and ends the
 * program.
 *
 * Equal means: columns, texts, side tables, metadata, counters, the first bad byte and what is said about it.  Ids of
 * names may differ where a way never sees a name, so texts are compared.
 */
#ifndef TLMPI_TESTS_FUZZ_SAME_H
#define TLMPI_TESTS_FUZZ_SAME_H

#include "tlmpi/compat/verbatim.h"
#include "tlmpi/trace/read/reader.h"

typedef struct reading {
    const char *label;
    tl_status status;
    tl_trace trace;
    tl_verbatim words;
} reading;

/* A number that is `what`, or entry i of it. */
void same_int(const reading *a, const reading *b, const char *what, size_t i, int64_t x, int64_t y);

/* What is true of the bytes however they come; a gzip file through a pipe has no size, and its faults name the path. */
void same_report(const reading *a, const reading *b);

void same_meta(const reading *a, const reading *b);

/* verbatim: with what the hook of compat/verbatim.h has kept. */
void same_columns(const reading *a, const reading *b, bool verbatim);

void same_sides(const reading *a, const reading *b);

#endif
