/* sweep.h - an activity in the making: work comes in order of its start, and with it the idle time before it.
 */
#ifndef ANALYSIS_TIME_SWEEP_H
#define ANALYSIS_TIME_SWEEP_H

#include "tlmpi/analysis/time.h"

/* The layers of work: each hides the layers after it; comm is the last. */
enum { TL_WORK_LAYERS = TL_ACTIVITY_COMM + 1 };

typedef struct tl_sweep {
    tl_activity *out;
    const tl_rank_view *view;
    const tl_idle_span *idle; /* how idle time divides from here on; sorted, disjoint.  The caller may change it */
    size_t nidle, next_idle;  /* between two pieces of work, and then sets next_idle to 0 */
    int64_t now, last;        /* all before `now` is appended; the last end of any work */
    int64_t busy_to[TL_WORK_LAYERS]; /* the last end of the work of each layer that has begun */
} tl_sweep;

/* Begins a sweep over the work of the view, whose first piece starts at first_ns. */
tl_sweep tl_sweep_begin(tl_activity *out, const tl_rank_view *view, int64_t first_ns);

/* What was done up to the start of the next piece of work; then that. */
void tl_sweep_work(tl_sweep *sweep, const tl_kernel *work);

/* The rest. */
void tl_sweep_end(tl_sweep *sweep);

#endif
