/* part.h - the events of a trace, parted by what a view makes of them.
 *
 *     events   [op][call][op][wait][kernel][call][op][kernel]
 *     ops      [op]      [op]                    [op]
 *     calls        [call]                  [call]
 *     work                         [kernel]          [kernel]
 *     waits                  [wait]
 *
 * A large trace leaves no room for a second set of columns.  So each column goes by itself and is gone when the next
 * one comes, and a set has no more columns than it needs.
 */
#ifndef TLMPI_TRACE_VIEW_PART_H
#define TLMPI_TRACE_VIEW_PART_H

#include "tlmpi/trace/view.h"

typedef enum tl_link_set { TL_LINK_OPS, TL_LINK_CALLS, TL_LINK_WORK, TL_LINK_WAITS, TL_LINK_SETS } tl_link_set;

/* Takes the columns of the events over; the side tables stay.  base_ns is added to the times.  sets[s] holds its events
 * in file order; tl_columns_free ends it, also after a failure. */
void tl_events_part(tl_events *events, int64_t base_ns, tl_columns sets[TL_LINK_SETS]);

/* ts + base; ts where that is no time. */
static inline int64_t tl_since_base(int64_t ts_ns, int64_t base_ns)
{
    int64_t sum;
    return __builtin_add_overflow(ts_ns, base_ns, &sum) ? ts_ns : sum;
}

/* Puts all columns in the order, by way of a column of room: order[i] is the event that comes to i. */
void tl_columns_order(tl_columns *columns, const uint32_t *order);

/* Leaves the first n events, and gives back the room of the others. */
void tl_columns_cut(tl_columns *columns, size_t n);

/* Gives back what lies after the first n elements of the array that `array` points to; where that fails it stays as it
 * is. */
void tl_shrink(void *array, size_t n, size_t size);

#endif
