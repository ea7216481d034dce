/* activity.h - what a rank's devices were doing, instant by instant, one thing at a time.
 *
 *     compute    ...[=====]........[====]......
 *     comm       ......[=======]...............
 *     copy       .[==].................[===]...
 *     activity   .h hcccccxxxxx.....cccco....       h: to the device, c: compute, x: exposed comm, o: other copy, .:
 * idle
 *
 * Where several run at once the first of compute, copy to the device, other copies, comm counts: what is left for comm
 * is what nothing of the rank's own hid.  Idle time is divided by why it was idle, as the caller says.  So any stretch
 * of a rank's time is a sum of parts, to the nanosecond, and two ranks can be compared part by part.
 */
#ifndef TLMPI_ANALYSIS_ACTIVITY_H
#define TLMPI_ANALYSIS_ACTIVITY_H

#include "tlmpi/model/view.h"
#include <stdbool.h>

typedef enum tl_part {
    TL_PART_COMPUTE,
    TL_PART_H2D,  /* copies from host to device that nothing hides */
    TL_PART_COPY, /* other copies and memsets, likewise */
    TL_PART_COMM, /* communication that nothing of the rank's own hides: transfer, and waiting for others */
    /* idle, by what the host did instead of feeding the device */
    TL_PART_HOST,      /* it was late, and none of what follows says why */
    TL_PART_INPUT,     /* it waited for data */
    TL_PART_GC,        /* it collected garbage */
    TL_PART_SYNC,      /* it had waited for the device to run dry */
    TL_PART_ALLOCATOR, /* it allocated or freed device memory */
    TL_PART_DEVICE,    /* nothing was late on the host: dependencies, launch latency, the inside of graphs */
    TL_NPARTS
} tl_part;

typedef struct tl_parts {
    int64_t ns[TL_NPARTS];
} tl_parts;

/* A stretch of idle time and its reason. */
typedef struct tl_idle_span {
    int64_t start_ns, end_ns;
    tl_part part;
} tl_idle_span;

/* One stretch of one activity; stretches are disjoint, in order, and touch. */
typedef struct tl_stretch {
    int64_t start_ns; /* up to the start of the next */
    tl_part part;
} tl_stretch;

/* Zero-initialise; tl_activity_free ends it.  v[n] is the end: its start is where the last stretch stops. */
typedef struct tl_activity {
    tl_stretch *v;
    size_t n, cap;
} tl_activity;

/* All devices of the view together.  Idle time outside the n given spans (sorted, disjoint) counts as TL_PART_HOST.
 * False when memory is out. */
bool tl_activity_make(tl_activity *activity, const tl_rank_view *view, const tl_idle_span *idle, size_t nidle);
void tl_activity_free(tl_activity *activity);

/* A place in an activity, from which sums go forward.  Start with { 0 }. */
typedef struct tl_activity_cursor {
    size_t at;
} tl_activity_cursor;

/* Adds the parts of [from_ns, to_ns) to *sum; what lies outside the activity adds nothing.  Calls on one cursor come in
 * order of from_ns, and cost what they pass over. */
void tl_activity_add(const tl_activity *activity, tl_activity_cursor *cursor, int64_t from_ns, int64_t to_ns,
                     tl_parts *sum);

#endif
