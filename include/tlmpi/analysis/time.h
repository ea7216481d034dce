/* time.h - what did the devices of one rank do, and when?
 *
 * From the view of one rank: its work as sets of instants, and as one activity after the other; the spans in which it
 * does nothing but communicate; its steps; the tables step, breakdown, stream_idle and interval, and its row of table
 * rank.  Uses no other folder.
 */
#ifndef TLMPI_ANALYSIS_TIME_H
#define TLMPI_ANALYSIS_TIME_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/span.h"
#include "tlmpi/model/activity.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>

/* --------------------------------------------------------------------------------------------------------- activity */

/* What a rank's devices were doing, instant by instant, one thing at a time.
 *
 *     compute    ...[=====]........[====]......
 *     comm       ......[=======]...............
 *     copy       .[==].................[===]...
 *     activity   .hhcccccccxxxxx...ccccccooo...      h: to the device, c: compute, x: exposed comm,
 *                                                    o: other copy, .: idle
 *
 * Where several run at once the first of compute, copy to the device, other copies, comm counts: what is left for comm
 * is what nothing of the rank's own hid.  Idle time is divided by what the host did (see idle activity).  So any stretch
 * of a rank's time is a sum of activities, to the nanosecond, and two ranks can be compared activity by activity.
 */

/* COMPUTE, H2D, COPY or COMM. */
tl_activity_kind tl_activity_of_work(const tl_rank_view *view, const tl_kernel *kernel);

/* Stretches of one activity each, in columns: there are more of them than kernels.  They are disjoint, in order, and
 * touch: i lasts up to the start of i + 1.  Number n is the end, of activity TL_NACTIVITIES.  Zero-initialise;
 * tl_activity_free ends it. */
typedef struct tl_activity {
    int64_t *start_ns;
    uint8_t *kind; /* tl_activity_kind */
    size_t n, cap;
    tl_activity_ns *sums; /* of all before stretch i * TL_ACTIVITY_BLOCK, for each such i */
} tl_activity;

enum { TL_ACTIVITY_BLOCK = 32 };

void tl_activity_free(tl_activity *activity);

/* Adds the activities of [from_ns, to_ns) to *sum; what lies outside the activity adds nothing.  O(log n), however long
 * the stretch of time. */
void tl_activity_add(const tl_activity *activity, int64_t from_ns, int64_t to_ns, tl_activity_ns *sum);

/* ------------------------------------------------------------------------------------------------------- host spans */

/* What a call, operator or frame of this name says about idle time under it: GC, INPUT, ALLOCATOR or SYNC; HOST for all
 * others. */
tl_activity_kind tl_idle_activity_of_call(tl_text name);
tl_activity_kind tl_idle_activity_of_op(tl_text name);

/* Spans in which threads that launch did something known by its name; the strongest kind first.
 * Zero-initialise; tl_host_spans_free ends it. */
enum { TL_HOST_SPANS = 4 };
extern const tl_activity_kind tl_host_span_kinds[TL_HOST_SPANS]; /* GC, INPUT, ALLOCATOR, SYNC */

typedef struct tl_host_spans {
    tl_spans of[TL_HOST_SPANS];
} tl_host_spans;

/* Needs the calls and ops of the view. */
void tl_host_spans_find(tl_host_spans *spans, const tl_rank_view *view);
void tl_host_spans_free(tl_host_spans *spans);

/* Returns what the host did for more than half of [from_ns, to_ns): GC, INPUT or ALLOCATOR; HOST: none of these. */
tl_activity_kind tl_host_activity_in(const tl_host_spans *spans, int64_t from_ns, int64_t to_ns);

/* ---------------------------------------------------------------------------------------------------- idle activity */

/* Idle time of a rank's devices, cut by what the host did instead of feeding them.
 *
 *     host    ..[launch a][synchronize   ]....[launch b][ gc.collect        ]..[launch c]...
 *     device  ............[    a     ]..............[ b ].......................[ c ]
 *                                    |ssssssssssssss|   |ggggggggggggggggggggggh|
 *
 * For comparing ranks: a coarse cut of all idle time, to the nanosecond, by the first that holds
 *
 *     device       the work that ends the gap was launched before the gap: nothing was late on the host; so, too,
 *                  without any launch
 *     gc           a garbage collection on a thread that launches
 *     input        such a thread waits for the data loader
 *     allocator    it allocates or frees device memory
 *     sync         it waits for the device; and then the short gaps until launches are ahead of the device again
 *     host         all else
 */

/* Finds the activity of a view, all its devices together, with idle time divided by the reasons above; spans: of the
 * view. */
void tl_activity_find(tl_activity *activity, const tl_rank_view *view, const tl_host_spans *spans);

/* -------------------------------------------------------------------------------------------------------- comm only */

/* When did a device do nothing but communicate?
 *
 *     stream 7     [ A  ]..............[ B ]
 *     stream 20    ....[ 1    ]....[ 2    ]
 *     spans            |  1 |     |2|
 *
 * What the device waits in a collective shows as work: the kernel runs until the last rank has come.  How much of a
 * span was waiting is known when ranks are matched.
 */

/* A span of communication without compute that overlaps it. */
typedef struct tl_comm_span {
    int64_t start_ns, end_ns;
    uint32_t kernel; /* index of the communication kernel in the span that ends last */
} tl_comm_span;

typedef TL_VEC(tl_comm_span) tl_comm_spans;

/* Appends the spans of the kernels order[0, n), which are in order of start.  The spans are disjoint, and in order of
 * time. */
void tl_comm_only(const tl_kernel *kernels, const uint32_t *order, size_t n, tl_comm_spans *out);

/* Such spans as they are sent: ns of a stretch of one kernel's time, which is counted from its start.  Compute may part
 * a kernel into any number of spans; a kernel with more than TL_EXPOSURES_MOST has as many stretches of equal length,
 * in which the spans are taken to be spread evenly.  A bound of a step parts spans, too. */
enum { TL_EXPOSURES_MOST = 16 };

typedef struct tl_exposure {
    int64_t from_ns, to_ns;
    int64_t ns; /* length of the spans in the stretch */
    int32_t rank, device;
    uint32_t uid; /* of the kernel */
    int32_t step; /* step of the rank in whose window the stretch lies; -1: none */
} tl_exposure;

/* Returns the part of the exposure that lies in the first wait_ns of the kernel, ns. */
int64_t tl_exposure_within(const tl_exposure *exposure, int64_t wait_ns);

/* The exposures of all ranks that a proc has read.  Zero-initialise; free(v) ends it. */
typedef TL_VEC(tl_exposure) tl_exposures;

/* Appends the exposures of each device of the rank. */
void tl_exposures_add(const tl_rank_view *view, tl_exposures *out);

/* --------------------------------------------------------------------------------------------------------- rank row */

/* Fills the columns of a row of table rank that the view tells: amount, first and last time of device work, number of
 * devices and streams, and oddities; and lost step marks, which damage the trace. */
void tl_rank_describe(const tl_rank_view *view, tl_rank *row);

/* Does the same for a view that has steps alone: their number, and lost marks. */
void tl_rank_describe_steps(const tl_rank_view *view, tl_rank *row);

/* Returns the first start in rows of table interval; TL_TIME_UNKNOWN: there are no rows. */
int64_t tl_interval_first(const tl_table *intervals);

/* -------------------------------------------------------------------------------------------------------- step done */

/* When the device had done with a step.
 *
 *     host     | step 4          | step 5          |
 *     device       [ a ][ b ]-----[ c ]  [ d ][ e ]-----[ f ]      -: a collective; c, f: after the step's last one
 *     done                           ^4                    ^5
 *
 * What was launched in a step is its work, whenever it runs.  What the device is idle for after it is of the next step,
 * as in the replay (graph.h).  A copy on a stream of its own may be the next step's batch, and is no end of
 * this one.
 */

/* Fills done_ns[view->nsteps]: the last end of compute, and of copies on its streams, launched in the step or one
 * before it; TL_TIME_UNKNOWN where there is none. */
void tl_steps_done(const tl_rank_view *view, int64_t *done_ns);

/* Returns the index of the window of the step with this number, sought from `from` on and then from the beginning;
 * view->nsteps: there is none. */
size_t tl_step_window_of(const tl_rank_view *view, size_t from, int32_t number);

extern const tl_analysis tl_interval_analysis, tl_step_analysis, tl_breakdown_analysis, tl_stream_idle_analysis;

#endif
