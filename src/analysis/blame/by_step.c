/* by_step.c - charges of table blame, summed by the rank and step that are charged. */
#include "tlmpi/analysis/blame.h"
#include "tlmpi/base/sort.h"

/* Rows of one (rank, step) lie together, those of one waiter within them. */
void tl_delay_costs_by_step(const tl_table *blame, const int32_t *ranks, size_t nranks, const int32_t *steps,
                            size_t nsteps, int64_t *delay_cost_ns, double *wall_ns)
{
    for (size_t i = 0, to; i < blame->n; i = to) {
        const tl_blame *first = tl_table_row(blame, i);
        double squares = 0, sum = 0;
        int64_t total = 0;
        for (to = i; to < blame->n;) {
            const tl_blame *row = tl_table_row(blame, to);
            if (row->to_rank != first->to_rank || row->step != first->step)
                break;
            int32_t from = row->from_rank, waiters = 1;
            double wait = 0;
            for (; to < blame->n; to++) {
                const tl_blame *of = tl_table_row(blame, to);
                if (of->to_rank != first->to_rank || of->step != first->step || of->from_rank != from)
                    break;
                wait += (double)(of->direct_ns + of->indirect_ns);
                total += of->direct_ns + of->indirect_ns;
                waiters = of->waiters > waiters ? of->waiters : waiters;
            }
            squares += wait * wait / waiters;
            sum += wait;
        }
        size_t r = tl_index_of(ranks, nranks, first->to_rank), s = tl_index_of(steps, nsteps, first->step);
        if (r == nranks || s == nsteps || sum <= 0)
            continue;
        delay_cost_ns[r * nsteps + s] = total;
        wall_ns[r * nsteps + s] = squares / sum;
    }
}
