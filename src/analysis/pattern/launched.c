/* launched.c - device work in the order in which it was launched.
 *
 *     thread 1   |launch 1      |launch 2, of a graph
 *     device     ...[a]...........[b][c][b]            a b c b
 *
 * The hash of a stretch comes from those of two beginnings, as the sum of a stretch comes from two sums.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"

__extension__ typedef unsigned __int128 wide;

#define PRIME ((UINT64_C(1) << 61) - 1)
#define BASE  UINT64_C(1442695040888963407)

static uint64_t reduce(uint64_t x)
{
    x = (x & PRIME) + (x >> 61);
    return x >= PRIME ? x - PRIME : x;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return reduce((uint64_t)(product & PRIME) + (uint64_t)(product >> 61));
}

static uint64_t hash_of_name(const tl_rank_view *view, uint32_t name)
{
    return name != TL_NO_NAME ? reduce(view->names->v[tl_name_key(view, name)].key) : 1;
}

/* Which work each launch has, in the order of the launches; next: by launch, 0. */
static void deal(tl_launched *l, const tl_rank_view *view, size_t *next)
{
    size_t at = 0;

    for (size_t i = 0; i < view->nkernels; i++)
        if (view->kernels[i].launch != TL_NONE)
            next[view->kernels[i].launch]++;
    for (size_t p = 0; p < view->nlaunches; p++) {
        size_t n = next[l->by.v[p]];
        l->first[p] = next[l->by.v[p]] = at;
        at += n;
    }
    l->first[view->nlaunches] = l->n = at;
    for (size_t i = 0; i < view->nkernels; i++)
        if (view->kernels[i].launch != TL_NONE)
            l->kernel[next[view->kernels[i].launch]++] = (uint32_t)i;
}

static void sum_up(tl_launched *l, const tl_rank_view *view)
{
    l->ns[0] = 0;
    l->hash[0] = 0;
    l->power[0] = 1;
    for (size_t i = 0; i < l->n; i++) {
        const tl_kernel *k = &view->kernels[l->kernel[i]];
        l->ns[i + 1] = tl_ns_add(l->ns[i], k->end_ns - k->start_ns);
        l->hash[i + 1] = reduce(times(l->hash[i], BASE) + hash_of_name(view, k->name));
        l->power[i + 1] = times(l->power[i], BASE);
    }
}

void tl_launched_find(tl_launched *l, const tl_rank_view *view, tl_arena *arena)
{
    size_t n = view->nkernels;

    l->first = tl_arena_take(arena, view->nlaunches + 1, sizeof *l->first);
    l->kernel = tl_arena_take(arena, n, sizeof *l->kernel);
    l->ns = tl_arena_take(arena, n + 1, sizeof *l->ns);
    l->hash = tl_arena_take(arena, n + 1, sizeof *l->hash);
    l->power = tl_arena_take(arena, n + 1, sizeof *l->power);
    size_t *next = tl_arena_zeroed(arena, view->nlaunches, sizeof *next);
    tl_launches_by_thread(view, arena, &l->by);
    deal(l, view, next);
    sum_up(l, view);
}

uint64_t tl_launched_hash(const tl_launched *l, size_t from, size_t to)
{
    return reduce(l->hash[to] + PRIME - times(l->hash[from], l->power[to - from]));
}
