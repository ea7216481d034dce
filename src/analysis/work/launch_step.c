/* launch_step.c - the launches of each step.
 *
 *     steps    [    4    )[    5    )
 *     host      |a  |b       |c    |d  |e      4: a b; 5: c d; in none: e
 */
#include "launch_step.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/work_tables.h"
#include <stdlib.h>

static void add_call(tl_launch_step *row, const tl_launch *call, int64_t device_ns, const tl_call_cost *cost)
{
    row->calls++;
    row->kernels += call->nkernels;
    row->host_ns = tl_ns_add(row->host_ns, cost->host_ns);
    row->device_ns = tl_ns_add(row->device_ns, device_ns);
    row->delay_ns = tl_ns_add(row->delay_ns, cost->delay_ns);
    row->short_calls += cost->is_short;
    row->slow_calls += cost->is_slow;
    row->late_calls += cost->is_late;
}

static int by_step(const void *a, const void *b)
{
    const tl_launch_step *x = a, *y = b;
    return TL_COMPARE(x->step, y->step);
}

void tl_launch_steps_add(const tl_rank_view *view, const tl_launch_config *config, const int64_t *device_ns,
                         const int64_t *first_ns, tl_table *table)
{
    size_t first = table->n, step = 0;
    tl_launch_step none = { .rank = view->rank, .step = -1 };

    for (size_t s = 0; s < view->nsteps; s++) {
        tl_launch_step *row = tl_table_add(table);
        row->rank = view->rank;
        row->step = view->steps[s].number;
    }
    for (size_t i = 0; i < view->nlaunches; i++) {
        const tl_launch *call = &view->launches[i];
        if (call->nkernels == 0)
            continue;
        while (step < view->nsteps && view->steps[step].end_ns <= call->start_ns)
            step++;
        bool in_step = step < view->nsteps && view->steps[step].start_ns <= call->start_ns;
        const tl_call_cost cost = tl_call_cost_of(call, device_ns[i], first_ns[i], config);
        add_call(in_step ? tl_table_row(table, first + step) : &none, call, device_ns[i], &cost);
    }
    if (none.calls > 0)
        tl_table_append(table, &none, 1);
    if (table->n > first)
        qsort(tl_table_row(table, first), table->n - first, sizeof none, by_step);
}
