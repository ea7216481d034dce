/* ranges.h - a set of numbers, as a list of ranges. */
#ifndef TLMPI_BASE_RANGES_H
#define TLMPI_BASE_RANGES_H

#include "tlmpi/base/mem.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct tl_range {
    int64_t first, last; /* both included */
} tl_range;

/* Ranges in any order, which may overlap.  Zero-initialise; free(ranges.v) ends it.  A set without ranges contains
 * every number. */
typedef TL_VEC(tl_range) tl_ranges;

static inline bool tl_ranges_has(const tl_ranges *ranges, int64_t number)
{
    for (size_t i = 0; i < ranges->n; i++)
        if (number >= ranges->v[i].first && number <= ranges->v[i].last)
            return true;
    return ranges->n == 0;
}

/* Whether one of the ranges has a number in common with this one; an empty list has none. */
static inline bool tl_ranges_meet(const tl_ranges *ranges, tl_range with)
{
    for (size_t i = 0; i < ranges->n; i++)
        if (with.last >= ranges->v[i].first && with.first <= ranges->v[i].last)
            return true;
    return false;
}

/* Reads "0-3,-1,7"; with `reader`, which reads a value at *text and advances it, spans whose ends are excluded:
 * "10-20,35ms-0.1s".  Fills *out, sorted; after an error *out is empty and *part points to the invalid part. */
typedef enum tl_ranges_fault {
    TL_RANGES_FINE,
    TL_RANGES_MALFORMED,
    TL_RANGES_BACKWARDS,
    TL_RANGES_EMPTY,  /* a span that ends where it begins */
    TL_RANGES_BELOW_0 /* a range that begins below `least` */
} tl_ranges_fault;
tl_ranges_fault tl_ranges_read(const char *text, bool (*reader)(const char **text, int64_t *value), int64_t least,
                               tl_ranges *out, const char **part);

/* Sorts by first, then last number. */
void tl_ranges_sort(tl_ranges *ranges);

/* Returns the union of the ranges from *at on that overlap or are adjacent; moves *at behind them.  The ranges must be
 * sorted. */
static inline tl_range tl_ranges_run(const tl_ranges *ranges, size_t *at)
{
    tl_range run = ranges->v[(*at)++];
    for (; *at < ranges->n && ranges->v[*at].first - (ranges->v[*at].first > run.last) <= run.last; (*at)++)
        run.last = ranges->v[*at].last > run.last ? ranges->v[*at].last : run.last;
    return run;
}

#endif
