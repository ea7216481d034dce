/* step_done.c - when the device had done with a step. */
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/stats.h"

size_t tl_step_window_of(const tl_rank_view *view, size_t from, int32_t number)
{
    for (size_t i = 0; number >= 0 && i < view->nsteps; i++) {
        size_t at = from + i < view->nsteps ? from + i : from + i - view->nsteps;
        if (view->steps[at].number == number)
            return at;
    }
    return view->nsteps;
}

void tl_steps_done(const tl_rank_view *view, int64_t *done_ns)
{
    size_t at = 0;

    for (size_t s = 0; s < view->nsteps; s++)
        done_ns[s] = TL_TIME_UNKNOWN;
    for (size_t i = 0, to; view->nsteps > 0 && i < view->nkernels; i = to) {
        bool computes = false;
        for (to = i; to < view->nkernels && tl_same_stream(&view->kernels[to], &view->kernels[i]); to++)
            computes = computes || view->kernels[to].kind == TL_COMPUTE;
        for (size_t k = i; computes && k < to; k++) {
            const tl_kernel *kernel = &view->kernels[k];
            if (kernel->kind == TL_COMM || kernel->step < 0)
                continue;
            size_t s = tl_step_window_of(view, at, kernel->step);
            if (s == view->nsteps)
                continue;
            at = s;
            done_ns[s] = tl_ns_max(done_ns[s], kernel->end_ns);
        }
    }
    for (size_t s = 1; s < view->nsteps; s++)
        done_ns[s] = tl_ns_max(done_ns[s], done_ns[s - 1]);
}
