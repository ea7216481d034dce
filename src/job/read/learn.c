/* learn.c - what the plan did not know before the traces were read: ranks, hosts, how large the job is. */
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/read/hosts.h"
#include "tlmpi/job/read/plan.h"
#include <stdlib.h>

static int by_row_rank(const void *key, const void *row)
{
    int64_t rank = *(const int64_t *)key, other = ((const tl_rank *)row)->rank;
    return TL_COMPARE(rank, other);
}

/* Recordings of one job that follow upon one another are at least their length apart; half of it is sure. */
static void count_duplicates(const tl_inventory *inventory, tl_rank *rows, size_t n)
{
    for (size_t i = 0; inventory->nruns > 1 && i < n; i++)
        rows[i].duplicates = (int32_t)tl_inventory_duplicates(inventory, rows[i].rank,
                                                              tl_ns_between(rows[i].last_ns, rows[i].first_ns) / 2);
}

void tl_plan_learn(tl_plan *plan, tl_rank *rows, size_t n)
{
    tl_inventory *inventory = &plan->inventory;

    for (size_t i = 0; i < inventory->inputs.n; i++) {
        tl_input *in = &inventory->inputs.v[i];
        if (!plan->planned[i] || n == 0)
            continue;
        const tl_rank *row = plan->items[0].alone ? rows : bsearch(&in->rank, rows, n, sizeof *rows, by_row_rank);
        if (row == NULL || row->status == TL_RANK_UNREADABLE)
            continue;
        in->rank = row->rank;
        in->world_size = row->world_size;
    }
    count_duplicates(inventory, rows, n);
    tl_hosts_infer(plan, rows, n);
    tl_inventory_learn(inventory);
}
