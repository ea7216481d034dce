/* host_idle.h - idle time of the device that the host causes, in ns: how much of it lies in a span, and in one
 * contiguous span. */
#ifndef ANALYSIS_LOCAL_HOST_IDLE_H
#define ANALYSIS_LOCAL_HOST_IDLE_H

#include "tlmpi/analysis/time.h"

/* Over an activity, which stays.  tl_host_idle_free ends it, also after a failure. */
typedef struct tl_host_idle {
    const tl_activity *activity;
    int64_t *before;  /* by block of stretches: the idle time before it */
    int64_t *longest; /* the most in a span that begins in a block; a tree: leaf b stands at nblocks + b, a node has
                       * the larger of its two */
    size_t nblocks;
} tl_host_idle;

void tl_host_idle_make(tl_host_idle *idle, const tl_activity *activity);
void tl_host_idle_free(tl_host_idle *idle);

/* Returns the idle time that the host causes in [start, end), in ns.  *at: where the search begins, 0 at first; calls
 * come in order of start. */
int64_t tl_host_idle_within(const tl_host_idle *idle, size_t *at, int64_t start_ns, int64_t end_ns);

/* Returns the most idle time that the host causes in one span of idle time which begins after `from` and by `to`, in
 * ns. */
int64_t tl_host_idle_longest(const tl_host_idle *idle, int64_t from_ns, int64_t to_ns);

#endif
