/* ranges.h - a set of numbers, as a list of ranges. */
#ifndef TLMPI_BASE_RANGES_H
#define TLMPI_BASE_RANGES_H

#include "tlmpi/base/mem.h"
#include <stdint.h>

typedef struct tl_range {
    int64_t first, last; /* both belong to it */
} tl_range;

/* Zero-initialise; free(ranges.v) ends it.  A set without ranges holds every number. */
typedef TL_VEC(tl_range) tl_ranges;

static inline bool tl_ranges_has(const tl_ranges *ranges, int64_t number)
{
    for (size_t i = 0; i < ranges->n; i++)
        if (number >= ranges->v[i].first && number <= ranges->v[i].last)
            return true;
    return ranges->n == 0;
}

#endif
