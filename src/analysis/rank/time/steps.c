/* steps.c - when were the steps, and when did the device finish each? */
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/stats.h"

static void step_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_step_schema);
    (void)config;

    for (const tl_step_window *s = view->steps; view->nsteps > 0 && s < view->steps + view->nsteps; s++) {
        const tl_iteration is = tl_iteration_of(tl_names_text(view->names, s->name));
        const tl_step row = {
            view->rank, s->number, s->start_ns, s->end_ns, (uint8_t)is.serving, is.requests, is.tokens
        };
        tl_table_append(table, &row, 1);
    }
    tl_table_sort(table);
}

const tl_analysis tl_step_analysis = { .per_rank = step_per_rank };

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
        to = tl_stream_end(view, i);
        for (size_t k = i; k < to; k++)
            computes = computes || view->kernels[k].kind == TL_COMPUTE;
        for (size_t k = i; computes && k < to; k++) {
            const tl_kernel *kernel = &view->kernels[k];
            size_t s = kernel->kind != TL_COMM ? tl_step_window_of(view, at, kernel->step) : view->nsteps;
            if (s == view->nsteps)
                continue;
            at = s;
            done_ns[s] = tl_ns_max(done_ns[s], kernel->end_ns);
        }
    }
    for (size_t s = 1; s < view->nsteps; s++)
        done_ns[s] = tl_ns_max(done_ns[s], done_ns[s - 1]);
}
