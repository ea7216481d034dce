/* clocks.c - clocks: each proc's collectives bound them, all procs agree on the bounds; then all times are brought to
 * the clocks that were found, and what ends still differ by tells how sure these are.
 *
 *     owners of collectives    bounds, agreed on round by round (clock.h)      a clock a rank, known to all
 *     owners of collectives    ends     ->  owners of ranks   scatter   ->     proc 0: table clock
 */
#include "parts.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* A group's ends are read of about so many of its collectives: more would not make them surer. */
#define COLLECTIVES_READ 256u

typedef TL_VEC(tl_clock_end) end_list;
typedef TL_VEC(tl_clock_scatter) scatter_list;

/* Whether the collective is one of those whose ends are read: a function of its key, so the same on any number of procs. */
static bool is_read(const tl_matching *m, const tl_participant *p)
{
    uint32_t most = p->group >= 0 && (size_t)p->group < m->ngroups ? m->groups[p->group].most : 0;
    return tl_hash_mix(p->key, 0) % (most / COLLECTIVES_READ + 1) == 0;
}

static bool take_ends(const tl_matching *m, end_list *out)
{
    const tl_participant *parts = m->set->parts.v;
    size_t n = m->set->parts.n;

    for (size_t from = 0, to; from < n; from = to) {
        to = tl_participants_end(parts, n, from);
        size_t more = 0;
        if (!is_read(m, &parts[from]))
            continue;
        if (!tl_grow((void **)&out->v, &out->cap, out->n + (to - from), sizeof *out->v) ||
            !tl_clock_ends(parts + from, to - from, out->v + out->n, &more))
            return false;
        out->n += more;
    }
    return true;
}

/* Ends to the owners of their ranks. */
static tl_status move_ends(const tl_matching *m, tl_clock_end **moved, size_t *n, tl_error *err)
{
    end_list mine = { 0 };
    int32_t *to = NULL;
    bool ok = take_ends(m, &mine) && (to = tl_malloc((mine.n + 1) * sizeof *to)) != NULL;

    for (size_t i = 0; ok && i < mine.n; i++)
        to[i] = (int32_t)(tl_hash_mix((uint64_t)mine.v[i].rank, 0) % (uint64_t)tl_par_nprocs());
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the clocks"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(mine.v, mine.n, sizeof *mine.v, to, (void **)moved, n, err);
    free(mine.v);
    free(to);
    return st;
}

static int by_rank(const void *a, const void *b)
{
    const tl_clock_end *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

static int scatter_by_rank(const void *a, const void *b)
{
    const tl_clock_scatter *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

/* The scatter of the ranks whose ends have come here. */
static bool scatter(tl_clock_end *ends, size_t n, scatter_list *out)
{
    if (n > 0)
        qsort(ends, n, sizeof *ends, by_rank);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && ends[to].rank == ends[from].rank; to++)
            ;
        if (!tl_vec_room(out))
            return false;
        out->v[out->n++] = tl_clock_scatter_of(ends + from, to - from);
    }
    return true;
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

/* What ends leave open, on all procs. */
static tl_status doubt(tl_matching *m, tl_error *err)
{
    tl_clock_end *ends = NULL;
    tl_clock_scatter *all = NULL;
    scatter_list mine = { 0 };
    size_t n = 0, nall = 0;

    tl_status st = move_ends(m, &ends, &n, err);
    if (st == TL_OK)
        st = tl_par_agree(scatter(ends, n, &mine) ? TL_OK : tl_fail_memory(err, "the clocks"), err);
    free(ends);
    if (st == TL_OK)
        st = tl_collect_rows(mine.v, mine.n, sizeof *mine.v, (void **)&all, &nall, NULL, err);
    free(mine.v);
    if (st == TL_OK && tl_par_proc() == 0) {
        if (nall > 0)
            qsort(all, nall, sizeof *all, scatter_by_rank);
        st = tl_clocks_fill(all, nall, m->ranks, m->nranks, m->clock_rows, err);
    }
    free(all);
    st = tl_par_agree(st, err);
    if (st == TL_OK && m->nranks > 0)
        tl_par_bcast(m->ranks, m->nranks * sizeof *m->ranks);
    return st;
}

tl_status tl_match_clocks(tl_matching *m, tl_clock_mode mode, tl_error *err)
{
    static const tl_clock_procs procs = { tl_share_least, tl_share_sum };
    tl_status st = tl_clocks_find(m->set->parts.v, m->set->parts.n, mode, &procs, m->ranks, m->nranks, err);
    if (st == TL_OK) {
        correct(m);
        st = doubt(m, err);
    }
    return st;
}
