/* activity.h - what a rank's devices were doing, instant by instant, one thing at a time.
 *
 *     compute    ...[=====]........[====]......
 *     comm       ......[=======]...............
 *     copy       .[==].................[===]...
 *     activity   .hhcccccccxxxxx...ccccccooo...      h: to the device, c: compute, x: exposed comm,
 *                                                    o: other copy, .: idle
 *
 * Where several run at once the first of compute, copy to the device, other copies, comm counts: what is left for comm
 * is what nothing of the rank's own hid.  Idle time is divided by why it was idle, as the caller says.  So any stretch
 * of a rank's time is a sum of parts, to the nanosecond, and two ranks can be compared part by part.
 */
#ifndef TLMPI_ANALYSIS_ACTIVITY_H
#define TLMPI_ANALYSIS_ACTIVITY_H

#include "tlmpi/model/parts.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>

/* A stretch of idle time and its reason. */
typedef struct tl_idle_span {
    int64_t start_ns, end_ns;
    tl_part part;
} tl_idle_span;

/* COMPUTE, H2D, COPY or COMM. */
tl_part tl_part_of_work(const tl_rank_view *view, const tl_kernel *kernel);

/* Stretches of one activity each, in columns: there are more of them than kernels.  They are disjoint, in order, and
 * touch: i lasts up to the start of i + 1.  Number n is the end, of part TL_NPARTS.  Zero-initialise; tl_activity_free
 * ends it. */
typedef struct tl_activity {
    int64_t *start_ns;
    uint8_t *part; /* tl_part */
    size_t n, cap;
    tl_parts *sums; /* of all before stretch i * TL_ACTIVITY_BLOCK, for each such i */
} tl_activity;

enum { TL_ACTIVITY_BLOCK = 32 };

void tl_activity_free(tl_activity *activity);

/* A place in an activity, from which sums go forward.  Start with { 0 }. */
typedef struct tl_activity_cursor {
    size_t at;
} tl_activity_cursor;

/* Puts the cursor where t_ns is, wherever it was; O(log n). */
void tl_activity_seek(const tl_activity *activity, tl_activity_cursor *cursor, int64_t t_ns);

/* Adds the parts of [from_ns, to_ns) to *sum; what lies outside the activity adds nothing.  Calls on one cursor come in
 * order of from_ns; one costs what its cursor passes over and O(log n), however long the stretch of time. */
void tl_activity_add(const tl_activity *activity, tl_activity_cursor *cursor, int64_t from_ns, int64_t to_ns,
                     tl_parts *sum);

#endif
