/* slices.h - durations of events whose beginnings and ends a trace tells apart.
 *
 *     in order of time, as most writers do    begin a, begin b, end b, end a    an end closes the last that is open
 *     in groups, as PyTorch does              begin b, begin a, end b, end a    in any order, the ends in the same
 */
#ifndef TLMPI_TRACE_READ_SLICES_H
#define TLMPI_TRACE_READ_SLICES_H

#include "tlmpi/base/mem.h"
#include "tlmpi/trace/event/events.h"

#define TL_NO_EVENT UINT32_MAX

/* A beginning or an end of a slice on a track, the one with number `order` in the file. */
typedef struct tl_slice_edge {
    int64_t at_ns;
    uint32_t order, track, event; /* event: that begins; TL_NO_EVENT: an end, or the event is not kept */
    bool ends;
    uint32_t below; /* edge of the slice around it, while it is open */
} tl_slice_edge;

/* Zero-initialise; tl_slices_close ends it. */
typedef struct tl_slices {
    TL_VEC(tl_slice_edge) batch, edges; /* beginnings, then ends, of one writer; of slices that batches left open */
    size_t nbegins;
    uint32_t writer;
} tl_slices;

/* Adds the next edge of the file, by a writer. */
void tl_slices_add(tl_slices *slices, tl_events *events, uint32_t writer, tl_slice_edge edge);

/* Closes what is left, on tracks below ntracks.  Returns the number of events without an end, whose durations stay. */
uint64_t tl_slices_close(tl_slices *slices, tl_events *events, size_t ntracks);

#endif
