/* stages.c - stages of a pipeline of which each is one rank: who needs longer for the same kernels?
 *
 *     stage 0   F0 F1 F2 ..... B0 .. B1 .. B2         the same kernels in every stage, in another order
 *     stage 1      F0 F1 ..B0 F2 B1 .. B2
 *     stage 2         F0 B0 F1 B1 F2 B2 ..... loss    another one: not compared
 *
 * A rank alone can be compared with its own other steps, which does not show what is slow in all of them.  The sums of
 * a step can be compared with those of other stages, if these compute the same.  That is all that is the same: the first
 * stage copies what it is fed with, which is no fault of its.
 */
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "peers.h"
#include <stdlib.h>

/* The others that it takes to know who is slow. */
enum { OTHERS = 2 };

/* Work of equal kernels is equal but for chance; hosts differ by what they launch for communication. */
enum { WORK_SLACK = 32, HOST_SLACK = 8 };

static int by_work(const void *a, const void *b)
{
    const tl_block *x = a, *y = b;
    int order = TL_COMPARE(x->step, y->step);
    order = order != 0 ? order : TL_COMPARE(x->does, y->does);
    order = order != 0 ? order : TL_COMPARE(x->rank, y->rank);
    return order != 0 ? order : TL_COMPARE(x->first, y->first);
}

static int64_t sum_of(const tl_block *b, bool host)
{
    return host ? b->host_ns : b->work_ns - b->beside_ns;
}

static int64_t beside(const tl_whatif *w, const tl_block *b)
{
    tl_parts sum = { { 0 } };
    int64_t ns = 0;
    for (size_t i = b->first; i < b->first + b->n; i++)
        tl_whatif_cell_parts(w, b->rank, &w->cells[i], &sum);
    for (int part = 0; part < TL_NPARTS; part++)
        ns += part != TL_PART_COMPUTE && tl_part_is_work((tl_part)part) ? sum.ns[part] : 0;
    return ns < b->work_ns ? ns : b->work_ns;
}

static int64_t *peer_of(tl_cell *cell, bool host)
{
    return host ? &cell->host_peer_ns : &cell->work_peer_ns;
}

/* The middle of the others, the lower of two. */
static int64_t middle_of_others(const tl_block *v, size_t n, size_t own, bool host, int64_t *scratch)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (i != own)
            scratch[m++] = sum_of(&v[i], host);
    return tl_lower_median(scratch, m);
}

/* How much of a cell's time a surplus may be: of work all; of the host what its work stood idle for, where any did. */
static int64_t weight_of(const tl_whatif *w, const tl_block *b, size_t cell, bool host, bool idle)
{
    tl_parts parts = { { 0 } };
    int64_t sum = 0, most = *peer_of(&w->cells[cell], host);
    if (!host || !idle)
        return most;
    tl_whatif_cell_parts(w, b->rank, &w->cells[cell], &parts);
    for (int part = 0; part < TL_NPARTS; part++)
        sum += tl_part_is_work((tl_part)part) ? 0 : parts.ns[part];
    return sum < most ? sum : most;
}

/* Takes what is expected of the block's cells down to what others need, where it is clearly more. */
static void expect(tl_whatif *w, const tl_block *b, int64_t middle_ns, bool host)
{
    int64_t expected = host ? 0 : -b->beside_ns, idle = 0, left;
    for (size_t i = b->first; i < b->first + b->n; i++) {
        expected += *peer_of(&w->cells[i], host);
        idle += host ? weight_of(w, b, i, true, true) : 0;
    }
    left = expected - middle_ns;
    if (left <= middle_ns / (host ? HOST_SLACK : WORK_SLACK))
        return;
    for (int round = idle > 0; round >= 0 && left > 0; round--) {
        int64_t all = 0, more = left;
        for (size_t i = b->first; i < b->first + b->n; i++)
            all += weight_of(w, b, i, host, round == 1);
        for (size_t i = b->first; i < b->first + b->n; i++) {
            int64_t ns = tl_portion(more < all ? more : all, weight_of(w, b, i, host, round == 1), all);
            *peer_of(&w->cells[i], host) -= ns;
            left -= ns;
        }
    }
}

/* Marks the ranks whose role no other rank has; *any: there are some.  False when memory is out. */
static bool find_lonely(const tl_whatif *w, bool *lonely, bool *any)
{
    tl_map ranks = { 0 };
    bool whole = true;
    for (uint32_t r = 0; whole && r < w->in.nranks; r++) {
        uint32_t n = tl_map_get(&ranks, (uint64_t)(int64_t)w->in.roles[r]);
        n = n == TL_MAP_NONE ? 0 : n;
        whole = w->in.programs[r].nsegments == 0 || tl_map_put(&ranks, (uint64_t)(int64_t)w->in.roles[r], n + 1) == 0;
    }
    for (uint32_t r = 0; whole && r < w->in.nranks; r++) {
        lonely[r] = tl_map_get(&ranks, (uint64_t)(int64_t)w->in.roles[r]) == 1;
        *any = *any || lonely[r];
    }
    tl_map_free(&ranks);
    return whole;
}

/* Those that the recordings have whole, to the front; how many. */
static size_t keep_whole(tl_block *v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!v[i].no_front && !v[i].no_back)
            v[kept++] = v[i];
    return kept;
}

bool tl_whatif_compare_stages(tl_whatif *w, tl_block *v, size_t n)
{
    int64_t *scratch = tl_malloc((n + 1) * sizeof *scratch);
    bool *lonely = tl_calloc(w->in.nranks + 1, sizeof *lonely), any = false;

    if (scratch == NULL || lonely == NULL || !find_lonely(w, lonely, &any)) {
        free(scratch);
        free(lonely);
        return false;
    }
    n = any ? keep_whole(v, n) : 0;
    for (size_t i = 0; i < n; i++)
        v[i].beside_ns = beside(w, &v[i]);
    if (n > 1)
        qsort(v, n, sizeof *v, by_work);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && v[to].step == v[from].step && v[to].does == v[from].does; to++)
            ;
        if (v[from].does == 0 || to - from <= OTHERS)
            continue;
        for (size_t i = from; i < to; i++)
            for (int host = 0; lonely[v[i].rank] && host < 2; host++)
                expect(w, &v[i], middle_of_others(v + from, to - from, i - from, host, scratch), host);
    }
    free(scratch);
    free(lonely);
    return true;
}
