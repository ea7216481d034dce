/* host_idle.h - idle time of the device that the host causes, in ns: its sum within a span of time, and the largest
 * amount in one contiguous idle span. */
#ifndef ANALYSIS_LOCAL_HOST_IDLE_H
#define ANALYSIS_LOCAL_HOST_IDLE_H

#include "tlmpi/analysis/time.h"

/* Sums over an activity, which is borrowed.  tl_host_idle_free ends it. */
typedef struct tl_host_idle {
    const tl_activity *activity;
    int64_t *before;  /* by block of stretches: idle time before the block, ns */
    int64_t *longest; /* tree of maxima: leaf nblocks + b has the largest idle time, ns, of one span that begins in
                       * block b */
    size_t nblocks;
} tl_host_idle;

void tl_host_idle_make(tl_host_idle *idle, const tl_activity *activity);
void tl_host_idle_free(tl_host_idle *idle);

/* Returns the idle time that the host causes in [start, end), in ns.  *at: 0 in the first call, then left as it is;
 * calls ascend by start. */
int64_t tl_host_idle_within(const tl_host_idle *idle, size_t *at, int64_t start_ns, int64_t end_ns);

/* Returns the largest idle time, in ns, that the host causes in one idle span that begins in (from, to]. */
int64_t tl_host_idle_longest(const tl_host_idle *idle, int64_t from_ns, int64_t to_ns);

#endif
