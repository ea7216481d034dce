/* counters.h - what changes over time, as counters of a trace: the work that waits in each stream's queue, and how much
 * copies move.
 *
 *     Queue (stream 7)                        length    1 2 3 2 1 0
 *     Memcpy HtoD (Pinned -> Device)          GB/s      0 23.4 0
 */
#ifndef JOB_AUGMENT_COUNTERS_H
#define JOB_AUGMENT_COUNTERS_H

#include "tlmpi/analysis/work.h"
#include "tlmpi/trace_out/process.h"

/* One of a device; its points are [first, first + n). */
typedef struct tl_counter {
    int32_t device, stream;
    uint32_t name; /* of copies; TL_NO_NAME: the queue of the stream */
    size_t first, n;
} tl_counter;

/* Zero-initialise; tl_counters_free ends it. */
typedef struct tl_counters {
    TL_VEC(tl_counter) v; /* by device */
    tl_series points;
} tl_counters;

/* Those of a rank.  False when memory is out; *counters then holds part of them. */
bool tl_counters_find(tl_counters *counters, const tl_rank_view *view);
void tl_counters_free(tl_counters *counters);

/* Writes those of the device that the process shows.  names: those of the trace; base_ns: what the points have over the
 * times of the trace.  TL_ENOMEM. */
tl_status tl_counters_put(const tl_counters *counters, tl_out_writer *writer, const tl_out_process *process,
                          const tl_names *names, int64_t base_ns, tl_error *err);

#endif
