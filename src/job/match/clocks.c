/* match_clocks.c - clocks: from the ends of collectives, where they lie, to an offset a clock, known to all.
 *
 *     owners of collectives    anchors          one a participant of a synchronising collective, one a pair
 *     owners of (rank, group)  edges            from the anchors of one rank in one group, or of one pair and way
 *     proc 0                   a clock a rank   from all edges
 */
#include "parts.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* A group's clocks are read off about so many of its collectives: more would not make them surer. */
#define COLLECTIVES_READ 256u

typedef TL_VEC(tl_anchor) anchor_list;
typedef TL_VEC(tl_clock_edge) edge_list;

/* Whether the collective is one of those that clocks are read off: a function of its key, so the same on any number of
 * procs. */
static bool is_read(const tl_matching *m, const tl_participant *p)
{
    uint32_t most = p->group >= 0 && (size_t)p->group < m->ngroups ? m->groups[p->group].most : 0;
    return tl_hash_mix(p->key, 0) % (most / COLLECTIVES_READ + 1) == 0;
}

static bool take_anchors(const tl_matching *m, anchor_list *out)
{
    const tl_participant *parts = m->set->parts.v;
    size_t n = m->set->parts.n;

    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && parts[to].group == parts[from].group && parts[to].key == parts[from].key; to++)
            ;
        if (!is_read(m, &parts[from]))
            continue;
        size_t more = 0;
        if (!tl_grow((void **)&out->v, &out->cap, out->n + (to - from), sizeof *out->v) ||
            !tl_collective_anchors(parts + from, to - from, out->v + out->n, &more))
            return false;
        out->n += more;
    }
    return true;
}

/* By the edge that they are of. */
static int by_edge(const void *a, const void *b)
{
    const tl_anchor *x = a, *y = b;
    int order = TL_COMPARE(x->rank, y->rank);
    order = order != 0 ? order : TL_COMPARE(x->group, y->group);
    order = order != 0 ? order : TL_COMPARE(x->peer, y->peer);
    return order != 0 ? order : TL_COMPARE(x->way, y->way);
}

static int by_edge_and_time(const void *a, const void *b)
{
    const tl_anchor *x = a, *y = b;
    int order = by_edge(a, b);
    order = order != 0 ? order : TL_COMPARE(x->at_ns, y->at_ns);
    order = order != 0 ? order : TL_COMPARE(x->ahead_ns, y->ahead_ns);
    return order != 0 ? order : TL_COMPARE(x->took_ns, y->took_ns);
}

/* The edges of the anchors that have come here. */
static bool fit_edges(tl_anchor *anchors, size_t n, edge_list *out)
{
    if (n > 0)
        qsort(anchors, n, sizeof *anchors, by_edge_and_time);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && by_edge(&anchors[to], &anchors[from]) == 0; to++)
            ;
        if (!tl_vec_room(out) || !tl_clock_edge_fit(anchors + from, to - from, &out->v[out->n]))
            return false;
        out->n++;
    }
    return true;
}

/* Those of groups before those of pairs. */
static int by_rank(const void *a, const void *b)
{
    const tl_clock_edge *x = a, *y = b;
    int order = TL_COMPARE(x->way != TL_WAY_GROUP, y->way != TL_WAY_GROUP);
    order = order != 0 ? order : TL_COMPARE(x->rank, y->rank);
    order = order != 0 ? order : TL_COMPARE(x->group, y->group);
    order = order != 0 ? order : TL_COMPARE(x->peer, y->peer);
    return order != 0 ? order : TL_COMPARE(x->way, y->way);
}

/* Proc 0. */
static tl_status solve(tl_matching *m, tl_clock_mode mode, tl_clock_edge *edges, size_t n, tl_error *err)
{
    tl_clock_edges all = { .of_groups = edges };
    if (n > 0)
        qsort(edges, n, sizeof *edges, by_rank);
    while (all.ngroups < n && edges[all.ngroups].way == TL_WAY_GROUP)
        all.ngroups++;
    all.of_pairs = edges + all.ngroups;
    all.npairs = n - all.ngroups;
    return tl_clocks_solve(&all, mode, m->ranks, m->nranks, m->clock_rows, err);
}

/* Anchors to the owners of their edges. */
static tl_status move_anchors(const tl_matching *m, tl_anchor **moved, size_t *n, tl_error *err)
{
    anchor_list mine = { 0 };
    int32_t *to = NULL;
    bool whole = take_anchors(m, &mine) && (to = tl_malloc((mine.n + 1) * sizeof *to)) != NULL;

    for (size_t i = 0; whole && i < mine.n; i++) {
        uint64_t key = tl_hash_mix((uint64_t)mine.v[i].rank, (uint64_t)mine.v[i].group);
        to[i] = (int32_t)(key % (uint64_t)tl_par_nprocs());
    }
    tl_status st = tl_par_agree(whole ? TL_OK : tl_fail_memory(err, "the clocks"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(mine.v, mine.n, sizeof *mine.v, to, (void **)moved, n, err);
    free(mine.v);
    free(to);
    return st;
}

static void correct(tl_matching *m)
{
    const tl_job_facts facts = { .ranks = m->ranks, .nranks = m->nranks };
    for (size_t i = 0; i < m->set->parts.n; i++) {
        tl_participant *p = &m->set->parts.v[i];
        const tl_rank_place *place = tl_place_of(&facts, p->rank);
        if (place == NULL || !place->applied)
            continue;
        int64_t end_ns = tl_clock_correct(place, p->end_ns);
        p->start_ns = tl_clock_correct(place, p->start_ns);
        p->end_ns = end_ns > p->start_ns ? end_ns : p->start_ns;
        p->launch_ns = tl_clock_correct(place, p->launch_ns);
        p->done_ns = tl_clock_correct(place, p->done_ns);
    }
}

tl_status tl_match_clocks(tl_matching *m, tl_clock_mode mode, tl_error *err)
{
    tl_anchor *anchors = NULL;
    tl_clock_edge *edges = NULL;
    edge_list mine = { 0 };
    size_t n = 0, nedges = 0;

    tl_status st = move_anchors(m, &anchors, &n, err);
    if (st == TL_OK)
        st = tl_par_agree(fit_edges(anchors, n, &mine) ? TL_OK : tl_fail_memory(err, "the clocks"), err);
    free(anchors);
    if (st == TL_OK)
        st = tl_collect_rows(mine.v, mine.n, sizeof *mine.v, (void **)&edges, &nedges, NULL, err);
    free(mine.v);
    if (st == TL_OK && tl_par_proc() == 0)
        st = solve(m, mode, edges, nedges, err);
    free(edges);
    st = tl_par_agree(st, err);
    if (st == TL_OK && tl_par_proc() != 0) {
        free(m->ranks);
        m->ranks = NULL;
    }
    if (st == TL_OK)
        st = tl_share_rows((void **)&m->ranks, &m->nranks, sizeof *m->ranks, err);
    if (st == TL_OK)
        correct(m);
    return st;
}
