/* time.h - what did the devices of one rank do, and when?
 *
 * Input: the view of one rank.  Results: its time as a sequence of activities; the spans in which only communication
 * runs; its steps; the tables step, breakdown, stream_idle and interval; and its row of table rank.  Uses no other
 * folder.
 */
#ifndef TLMPI_ANALYSIS_RANK_TIME_H
#define TLMPI_ANALYSIS_RANK_TIME_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/span.h"
#include "tlmpi/model/activity.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>

/* --------------------------------------------------------------------------------------------------------- activity */

/* What a rank's devices were doing at each instant, one activity at a time.
 *
 *     compute    ...[=====]........[====]......
 *     comm       ......[=======]...............
 *     copy       .[==].................[===]...
 *     activity   .hhcccccccxxxxx...ccccccooo...      h: to the device, c: compute, x: exposed comm,
 *                                                    o: other copy, .: idle
 *
 * If several kinds of work run at once, the first of compute, copy to the device, other copy, comm counts: the rest,
 * comm, is communication that no work of the rank hides.  Idle time is divided by what the host did (see idle
 * activity).  So any part of a rank's time is a sum of activities, exact to the nanosecond, and two ranks can be
 * compared activity by activity.
 */

/* Returns COMPUTE, H2D, COPY or COMM. */
tl_activity_kind tl_activity_of_work(const tl_rank_view *view, const tl_kernel *kernel);

/* Stretches of one activity each, as columns.  They are disjoint, in order, and touch: stretch i ends at the start of i
 * + 1; entry n is the end, with activity TL_NACTIVITIES.  Zero-initialise; tl_activity_free ends it. */
typedef struct tl_activity {
    int64_t *start_ns;
    uint8_t *kind; /* tl_activity_kind */
    size_t n, cap;
    tl_activity_ns *sums; /* [n / TL_ACTIVITY_BLOCK + 1] sums over all stretches before i * TL_ACTIVITY_BLOCK */
} tl_activity;

enum { TL_ACTIVITY_BLOCK = 32 };

void tl_activity_free(tl_activity *activity);

/* Adds the activities of [from_ns, to_ns) to *sum; time outside of the stretches adds nothing.  O(log n) for any
 * length. */
void tl_activity_add(const tl_activity *activity, int64_t from_ns, int64_t to_ns, tl_activity_ns *sum);

/* ------------------------------------------------------------------------------------------------------- host spans */

/* Returns the activity of idle time under a call, operator or frame of this name: GC, INPUT, ALLOCATOR or SYNC; HOST
 * for all other names. */
tl_activity_kind tl_idle_activity_of_call(tl_text name);
tl_activity_kind tl_idle_activity_of_op(tl_text name);

/* Spans in which threads that launch do something known by its name; by kind, the one with precedence first.
 * Zero-initialise; tl_host_spans_free ends it. */
enum { TL_HOST_SPANS = 4 };
extern const tl_activity_kind tl_host_span_kinds[TL_HOST_SPANS]; /* GC, INPUT, ALLOCATOR, SYNC */

typedef struct tl_host_spans {
    tl_spans of[TL_HOST_SPANS];
} tl_host_spans;

/* Needs the calls and ops of the view. */
void tl_host_spans_find(tl_host_spans *spans, const tl_rank_view *view);
void tl_host_spans_free(tl_host_spans *spans);

/* Returns the activity of the host in more than half of [from_ns, to_ns): GC, INPUT or ALLOCATOR; HOST: none of
 * these. */
tl_activity_kind tl_host_activity_in(const tl_host_spans *spans, int64_t from_ns, int64_t to_ns);

/* ---------------------------------------------------------------------------------------------------- idle activity */

/* Idle time of a rank's devices, divided by what the host did instead of launching work.
 *
 *     host    ..[launch a][synchronize   ]....[launch b][ gc.collect        ]..[launch c]...
 *     device  ............[    a     ]..............[ b ].......................[ c ]
 *                                    |ssssssssssssss|   |ggggggggggggggggggggggh|
 *
 * A coarse division of all idle time, exact to the nanosecond, for the comparison of ranks.  The first line that holds
 * counts:
 *
 *     device       the work that ends the gap was launched before the gap, so the host was not late; also if the launch
 *                  is unknown
 *     gc           a garbage collection on a thread that launches
 *     input        such a thread waits for the data loader
 *     allocator    such a thread allocates or frees device memory
 *     sync         such a thread waits for the device; also the short gaps after the wait, until launches are ahead of
 *                  the device again
 *     host         anything else
 */

/* Finds the activities of a view, all its devices together, with idle time divided as above.  spans: of the view. */
void tl_activity_find(tl_activity *activity, const tl_rank_view *view, const tl_host_spans *spans);

/* -------------------------------------------------------------------------------------------------------- comm only */

/* When did a device do nothing but communicate?
 *
 *     stream 7     [ A  ]..............[ B ]
 *     stream 20    ....[ 1    ]....[ 2    ]
 *     spans            |  1 |     |2|
 *
 * Waiting in a collective looks like work: the kernel runs until the last rank has arrived.  The waiting part of a span
 * is known once ranks are matched.
 */

/* A span of communication without compute that overlaps it. */
typedef struct tl_comm_span {
    int64_t start_ns, end_ns;
    uint32_t kernel; /* index of the communication kernel in the span that ends last */
} tl_comm_span;

typedef TL_VEC(tl_comm_span) tl_comm_spans;

/* Appends the spans of the kernels order[0, n), which are in order of start.  The spans are disjoint and ascending. */
void tl_comm_only(const tl_kernel *kernels, const uint32_t *order, size_t n, tl_comm_spans *out);

/* Appends the spans of the device with the kernels [first, end) of the view. */
void tl_comm_only_of_device(const tl_rank_view *view, size_t first, size_t end, tl_comm_spans *out);

/* A span of communication as it is sent between procs: ns within a part of one kernel's time, counted from the kernel's
 * start.  Compute may divide a kernel into any number of spans; a kernel with more than TL_EXPOSURES_MOST has that many
 * parts of equal length instead, and the spans of each part count as spread evenly.  Step boundaries divide spans as
 * well. */
enum { TL_EXPOSURES_MOST = 16 };

typedef struct tl_exposure {
    int64_t from_ns, to_ns;
    int64_t ns; /* length of the spans in the part */
    int32_t rank, device;
    uint32_t uid; /* of the kernel */
    int32_t step; /* step of the rank in whose window the part lies; -1: none */
} tl_exposure;

/* Returns the part of the exposure that lies in the first wait_ns of the kernel, ns. */
int64_t tl_exposure_within(const tl_exposure *exposure, int64_t wait_ns);

/* The exposures of all ranks that a proc has read.  Zero-initialise; free(v) ends it. */
typedef TL_VEC(tl_exposure) tl_exposures;

/* Appends the exposures of each device of the rank. */
void tl_exposures_add(const tl_rank_view *view, tl_exposures *out);

/* --------------------------------------------------------------------------------------------------------- rank row */

/* Fills the columns of a row of table rank that the view knows: amount, first and last time of device work, number of
 * devices and streams, and oddities; and lost step marks, which make the trace damaged. */
void tl_rank_describe(const tl_rank_view *view, tl_rank *row);

/* As tl_rank_describe, for a view that has steps alone: their number, and lost marks. */
void tl_rank_describe_steps(const tl_rank_view *view, tl_rank *row);

/* Returns the first start in rows of table interval; TL_TIME_UNKNOWN: there are no rows. */
int64_t tl_interval_first(const tl_table *intervals);

/* -------------------------------------------------------------------------------------------------------- step done */

/* When did the device finish the work of a step?
 *
 *     host     | step 4          | step 5          |
 *     device       [ a ][ b ]-----[ c ]  [ d ][ e ]-----[ f ]      -: a collective; c, f: after the step's last one
 *     done                           ^4                    ^5
 *
 * Work belongs to the step in which it was launched, whenever it runs.  Idle time of the device after the step's work
 * belongs to the next step, as in the replay (graph.h).  A copy on a stream without compute may be the next step's
 * batch, and does not end this one.
 */

/* Fills done_ns[view->nsteps] with the last end of compute, and of copies on streams that compute, launched in the step
 * or an earlier one; TL_TIME_UNKNOWN: there is none. */
void tl_steps_done(const tl_rank_view *view, int64_t *done_ns);

/* Returns the index of the window of the step with this number; searched from `from` on, then from the beginning;
 * view->nsteps: there is none. */
size_t tl_step_window_of(const tl_rank_view *view, size_t from, int32_t number);

extern const tl_analysis tl_interval_analysis, tl_step_analysis, tl_breakdown_analysis, tl_stream_idle_analysis;

#endif
