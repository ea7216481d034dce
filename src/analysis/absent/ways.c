/* ways.c - see ways.h. */
#include "ways.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/coll.h"
#include <stdlib.h>

/* ---- ways ---- */

static int by_way(const void *meetings, uint32_t a, uint32_t b)
{
    const tl_meeting *x = (const tl_meeting *)meetings + a, *y = (const tl_meeting *)meetings + b;
    int order = TL_COMPARE(x->group, y->group);
    order = order != 0 ? order : TL_COMPARE(x->from, y->from);
    order = order != 0 ? order : TL_COMPARE(x->to, y->to);
    return order != 0 ? order : TL_COMPARE(a, b);
}

static bool same_way(const tl_meeting *a, const tl_meeting *b)
{
    return a->group == b->group && a->from == b->from && a->to == b->to;
}

bool tl_absent_find_middle(tl_absent_finding *f)
{
    int32_t *steps = tl_malloc((f->in->nmeetings + 1) * sizeof *steps);
    if (steps == NULL)
        return false;
    for (size_t i = 0; i < f->in->nmeetings; i++)
        steps[i] = f->in->meetings[i].step;
    tl_int_sort(steps, f->in->nmeetings);
    f->middle = steps[tl_upper_middle(f->in->nmeetings)];
    free(steps);
    return true;
}

const tl_meeting *tl_absent_meeting_at(const tl_absent_finding *f, const tl_way *w, size_t k)
{
    return &f->in->meetings[f->order[w->first + k]];
}

bool tl_absent_is_pair(const tl_meeting *m)
{
    return m->group < 0;
}

static void look_at_middle(const tl_absent_finding *f, tl_way *w)
{
    for (size_t k = 0; k < w->n; k++) {
        const tl_meeting *m = tl_absent_meeting_at(f, w, k);
        if (m->step != f->middle)
            continue;
        if (w->does == 0)
            w->begins_ns = m->last_start_ns;
        w->usual++;
        w->does = tl_hash_mix(tl_hash_mix(w->does, m->kind),
                              tl_is_synchronising((tl_collective)m->kind) ? (uint64_t)m->bytes : 0) |
                  1;
    }
}

bool tl_absent_list_ways(tl_absent_finding *f)
{
    size_t n = f->in->nmeetings;
    f->order = tl_malloc((n + 1) * sizeof *f->order);
    f->ways = tl_calloc(n + 1, sizeof *f->ways);
    if (f->order == NULL || f->ways == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        f->order[i] = i;
    if (!tl_sort_index(f->order, n, by_way, f->in->meetings))
        return false;
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && same_way(&f->in->meetings[f->order[to]], &f->in->meetings[f->order[i]]); to++)
            ;
        tl_way *w = &f->ways[f->nways++];
        *w = (tl_way){ .first = (uint32_t)i, .n = (uint32_t)(to - i) };
        look_at_middle(f, w);
    }
    return true;
}

/* ---- whose ways they are ---- */

bool tl_absent_role_of(const tl_absent_finding *f, int32_t rank, int32_t *role)
{
    size_t at = tl_index_of(f->in->ranks, f->in->nranks, rank);
    if (at < f->in->nranks) {
        *role = f->in->roles[at];
        return true;
    }
    at = tl_index_of(f->in->named, f->in->nnamed, rank);
    if (at < f->in->nnamed)
        *role = f->in->named_roles[at];
    return at < f->in->nnamed;
}

/* Of a pair its direction, and the role of the other. */
static uint64_t likeness(const tl_absent_finding *f, const tl_way *w, int32_t rank)
{
    const tl_meeting *m = tl_absent_meeting_at(f, w, 0);
    int32_t role = -1;
    if (!tl_absent_is_pair(m))
        return tl_hash_mix(w->does, f->in->groups[m->group].n);
    tl_absent_role_of(f, m->from == rank ? m->to : m->from, &role);
    return tl_hash_mix(tl_hash_mix(1, m->from == rank), (uint64_t)(int64_t)role);
}

static bool add_way(const tl_absent_finding *f, const tl_way *w, int32_t rank, tl_own_way **v, size_t *n, size_t *cap)
{
    if (!tl_grow((void **)v, cap, *n + 1, sizeof **v))
        return false;
    (*v)[(*n)++] = (tl_own_way){ rank, (uint32_t)(w - f->ways), likeness(f, w, rank), w->begins_ns };
    return true;
}

tl_group_ranks tl_absent_ranks_of(const tl_absent_finding *f, const tl_way *w, int32_t two[2])
{
    const tl_meeting *m = tl_absent_meeting_at(f, w, 0);
    if (!tl_absent_is_pair(m))
        return f->in->groups[m->group];
    two[0] = m->from;
    two[1] = m->to;
    return (tl_group_ranks){ two, 2 };
}

bool tl_absent_list_linking(const tl_absent_finding *f, int32_t **out, size_t *n)
{
    tl_map counts = { 0 };
    TL_VEC(int32_t) linking = { 0 };
    bool whole = true;

    for (size_t i = 0; whole && i < f->nways; i++) {
        int32_t two[2];
        const tl_group_ranks ranks = tl_absent_ranks_of(f, &f->ways[i], two);
        for (size_t k = 0; whole && f->ways[i].does != 0 && k < ranks.n; k++) {
            if (tl_index_of(f->in->ranks, f->in->nranks, ranks.ranks[k]) < f->in->nranks)
                continue;
            uint32_t seen = tl_map_get(&counts, (uint64_t)(int64_t)ranks.ranks[k]);
            seen = seen == TL_MAP_NONE ? 0 : seen;
            whole = tl_map_put(&counts, (uint64_t)(int64_t)ranks.ranks[k], seen + 1) == 0;
            if (whole && seen == 1) {
                whole = tl_vec_room(&linking);
                if (whole)
                    linking.v[linking.n++] = ranks.ranks[k];
            }
        }
    }
    tl_map_free(&counts);
    tl_int_sort(linking.v, linking.n);
    *out = linking.v;
    *n = linking.n;
    return whole;
}

static int by_rank(const void *a, const void *b)
{
    const tl_own_way *x = a, *y = b;
    int order = TL_COMPARE(x->rank, y->rank);
    order = order != 0 ? order : TL_COMPARE(x->like, y->like);
    order = order != 0 ? order : TL_COMPARE(x->begins_ns, y->begins_ns);
    return order != 0 ? order : TL_COMPARE(x->way, y->way);
}

bool tl_absent_list_own_ways(tl_absent_finding *f, const int32_t *linking, size_t nlinking)
{
    bool whole = true;
    for (size_t i = 0; whole && i < f->nways; i++) {
        const tl_way *w = &f->ways[i];
        int32_t two[2];
        const tl_group_ranks ranks = tl_absent_ranks_of(f, w, two);
        for (size_t k = 0; whole && w->does != 0 && k < ranks.n; k++) {
            int32_t rank = ranks.ranks[k];
            if (tl_index_of(f->in->ranks, f->in->nranks, rank) < f->in->nranks)
                whole = add_way(f, w, rank, &f->present.v, &f->present.n, &f->present.cap);
            else if (tl_index_of(linking, nlinking, rank) < nlinking)
                whole = add_way(f, w, rank, &f->absent.v, &f->absent.n, &f->absent.cap);
        }
    }
    if (f->present.n > 1)
        qsort(f->present.v, f->present.n, sizeof *f->present.v, by_rank);
    if (f->absent.n > 1)
        qsort(f->absent.v, f->absent.n, sizeof *f->absent.v, by_rank);
    return whole;
}

size_t tl_absent_ways_of(const tl_own_way *v, size_t n, int32_t rank, size_t *first)
{
    size_t low = 0, m = 0;
    TL_BISECT(low, n, mid, v[mid].rank < rank);
    while (low + m < n && v[low + m].rank == rank)
        m++;
    *first = low;
    return m;
}
