/* ranges.h - a set of numbers as a user writes it: "0-3,7", "-1", "-1,4-6". */
#ifndef TLMPI_APP_RANGES_H
#define TLMPI_APP_RANGES_H

#include "tlmpi/base/mem.h"
#include <stdint.h>

typedef struct tl_range {
    int64_t first, last;        /* both belong to it */
} tl_range;

/* Zero-initialise; free(ranges.v) ends it.  A set without ranges holds every number. */
typedef TL_VEC(tl_range) tl_ranges;

/* Replaces *ranges by the numbers that text names.  False: the text is no list of numbers and ranges, a range runs
 * backwards, or memory is out; *ranges is then empty. */
bool tl_ranges_parse(const char *text, tl_ranges *ranges);

bool tl_ranges_has(const tl_ranges *ranges, int64_t number);

#endif
