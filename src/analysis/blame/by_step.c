/* by_step.c - charges of table blame, summed by the rank and step that are charged. */
#include "tlmpi/analysis/blame.h"
#include "tlmpi/base/sort.h"

void tl_delay_costs_by_step(const tl_table *blame, const int32_t *ranks, size_t nranks, const int32_t *steps,
                            size_t nsteps, int64_t *delay_cost_ns)
{
    for (size_t i = 0, r = 0, s = 0; i < blame->n; i++) {
        const tl_blame *row = tl_table_row(blame, i), *before = i > 0 ? tl_table_row(blame, i - 1) : NULL;
        if (before == NULL || before->to_rank != row->to_rank)
            r = tl_index_of(ranks, nranks, row->to_rank);
        if (before == NULL || before->step != row->step)
            s = tl_index_of(steps, nsteps, row->step);
        if (r < nranks && s < nsteps)
            delay_cost_ns[r * nsteps + s] += row->direct_ns + row->indirect_ns;
    }
}
