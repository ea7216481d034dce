/* hosts.c - ranks of one host, by their process ids.
 *
 *     rank     0    1    2    3         4    5    6    7
 *     pid   4100 4101 4102 4104     91530 91531 91532 91533
 *     device   0    1    2    3         0    1    2    3
 *           '------ a host ----'   '------ another ------'
 *
 * A launcher starts the ranks of a host one after the other, so that their ids follow upon one another, but for threads
 * that were started in between.  Hosts that are alike may give the same ids: where one is there twice, nothing is said.
 */
#include "tlmpi/job/read/plan.h"
#include "tlmpi/base/sort.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest step between the process ids of two ranks that were started one after the other. */
#define STEP_MOST 4

typedef struct process {
    int64_t pid;
    tl_rank *row;
} process;

static int by_pid(const void *a, const void *b)
{
    const process *x = a, *y = b;
    return x->pid != y->pid ? TL_COMPARE(x->pid, y->pid) : TL_COMPARE(x->row->rank, y->row->rank);
}

static int by_item_rank(const void *key, const void *item)
{
    int64_t rank = *(const int64_t *)key, other = ((const tl_plan_item *)item)->rank;
    return TL_COMPARE(rank, other);
}

/* Ranks without a host whose process and device are known, by pid. */
static size_t collect(const tl_plan *plan, tl_rank *rows, size_t n, process *out)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t rank = rows[i].rank;
        const tl_plan_item *item = bsearch(&rank, plan->items, plan->n, sizeof *plan->items, by_item_rank);
        if (item != NULL && item->pid > 0 && rows[i].host[0] == 0 && rows[i].device >= 0)
            out[count++] = (process){ item->pid, &rows[i] };
    }
    if (count > 1)
        qsort(out, count, sizeof *out, by_pid);
    return count;
}

/* Whether p goes on with v[from .. to): the next id, another device, and work at a time when all of them worked. */
static bool goes_on(const process *v, size_t from, size_t to, const process *p)
{
    if (p->pid - v[to - 1].pid > STEP_MOST)
        return false;
    for (size_t i = from; i < to; i++)
        if (v[i].row->device == p->row->device || p->row->first_ns >= v[i].row->last_ns ||
            v[i].row->first_ns >= p->row->last_ns)
            return false;
    return true;
}

static void name_host(const process *v, size_t from, size_t to)
{
    for (size_t i = from; to - from > 1 && i < to; i++)
        snprintf(v[i].row->host, sizeof v[i].row->host, "pids %" PRId64 "-%" PRId64, v[from].pid, v[to - 1].pid);
}

void tl_hosts_infer(const tl_plan *plan, tl_rank *rows, size_t n)
{
    process *v = tl_calloc(n + 1, sizeof *v);
    bool twice = false;

    size_t count = collect(plan, rows, n, v);
    for (size_t i = 1; i < count; i++)
        twice |= v[i].pid == v[i - 1].pid;
    for (size_t from = 0, to; !twice && from < count; from = to) {
        for (to = from + 1; to < count && goes_on(v, from, to, &v[to]); to++)
            ;
        name_host(v, from, to);
    }
    free(v);
}
