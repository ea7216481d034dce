/* cover.h - how much of each of many spans the others within it cover, however they cross.
 *
 *     span 0    [------------------]
 *     span 1       [----]  :              within 0
 *     span 2          [--------------]    crosses 0
 *     span 3          [--------]          within 0: 1 and 3 cover this part of 0
 *                  |<--------->|
 */
#ifndef TLMPI_COMPAT_TRACELENS_IDLE_COVER_H
#define TLMPI_COMPAT_TRACELENS_IDLE_COVER_H

#include <stddef.h>
#include <stdint.h>

/* A span [from, to), to > from, in any unit, and where it really ends, which may be beyond `to`. */
typedef struct tl_cover_span {
    int64_t from, to;
    double end;
    size_t first; /* the first span after this one that may lie within it */
} tl_cover_span;

/* covered[i]: of span i what is covered by those from its `first` on that end no later than it does.  Spans come by
 * start. O(n log^2 n). */
void tl_cover_find(const tl_cover_span *spans, size_t n, int64_t *covered);

#endif
