/* groups.c - ranks and process groups of the job: decided on proc 0, known to all. */
#include "parts.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- ranks */

/* Proc 0: the number of a host is the row of its first rank; every rank that has a trace gets a place. */
static bool place_ranks(tl_matching *m)
{
    size_t n = m->rank_rows->n;
    tl_map hosts = { 0 };
    m->ranks = tl_calloc(n + 1, sizeof *m->ranks);
    m->nranks = 0;
    bool ok = m->ranks != NULL;

    for (size_t i = 0; ok && i < n; i++) {
        const tl_rank *rank = tl_table_row(m->rank_rows, i);
        uint64_t key = tl_host_key(rank);
        uint32_t host = key != 0 ? tl_map_get(&hosts, key) : TL_MAP_NONE;
        if (rank->status == TL_RANK_UNREADABLE)
            continue;
        if (key != 0 && host == TL_MAP_NONE) {
            host = (uint32_t)i;
            ok = tl_map_put(&hosts, key, host) == 0;
        }
        m->ranks[m->nranks++] =
            (tl_rank_place){ .rank = rank->rank, .host = key != 0 ? (int32_t)host : -1, .clock = (int32_t)i };
    }
    tl_map_free(&hosts);
    return ok;
}

/* ---------------------------------------------------------------------------------------------------------- groups */

/* Proc 0: what all procs say of their memberships, and which proc says how much. */
typedef struct census {
    tl_membership *memberships;
    size_t n;
    tl_sighting *sightings;
    size_t nsightings;
    size_t *counts, *sighted; /* by proc */
    int32_t *hosts;           /* of each membership */
    int32_t *to;              /* the proc that it is from */
    tl_fate *fates;
} census;

static int by_item(const void *a, const void *b)
{
    const tl_sighting *x = a, *y = b;
    if (x->membership != y->membership)
        return x->membership < y->membership ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static int by_lot(const void *a, const void *b)
{
    const tl_sighting *x = a, *y = b;
    uint64_t p = tl_hash_mix(x->item, 0), q = tl_hash_mix(y->item, 0);
    if (x->membership != y->membership)
        return x->membership < y->membership ? -1 : 1;
    return p != q ? (p < q ? -1 : 1) : x->item < y->item ? -1 : x->item > y->item;
}

/* Of each membership some sightings of the whole recording, which are the same for all of a group: a lot decides that
 * knows the item alone.  Ascending by membership and item; how many. */
static size_t draw_lots(tl_sighting *seen, size_t n)
{
    size_t kept = 0, of_this = 0;
    if (n > 0)
        qsort(seen, n, sizeof *seen, by_lot);
    for (size_t i = 0; i < n; i++) {
        of_this = i > 0 && seen[i].membership == seen[i - 1].membership ? of_this + 1 : 0;
        if (of_this < TL_SIGHTINGS)
            seen[kept++] = seen[i];
    }
    if (kept > 0)
        qsort(seen, kept, sizeof *seen, by_item);
    return kept;
}

static bool sight(const tl_participants *set, tl_sighting **out, size_t *n)
{
    TL_VEC(tl_sighting) seen = { 0 };
    bool *stepped = tl_calloc(set->memberships.n + 1, sizeof *stepped), ok = stepped != NULL;

    for (size_t i = 0; ok && i < set->parts.n; i++)
        stepped[set->parts.v[i].group] |= set->parts.v[i].step >= 0;
    for (size_t i = 0; ok && i < set->parts.n; i++) {
        const tl_participant *p = &set->parts.v[i];
        uint64_t item = tl_sighting_item(p);
        if (stepped[p->group] &&
            p->step < 0) /* ranks begin to record at different moments: their first are not the same */
            continue;
        if (item == 0 || !set->memberships.v[p->group].inferred)
            continue;
        ok = tl_vec_room(&seen);
        if (ok)
            seen.v[seen.n++] = (tl_sighting){ .item = item,
                                              .start_ns = p->start_ns,
                                              .end_ns = p->end_ns,
                                              .membership = p->group,
                                              .loose = tl_is_loose((tl_collective)p->kind) };
    }
    free(stepped);
    *n = ok ? draw_lots(seen.v, seen.n) : 0;
    *out = seen.v;
    return ok;
}

static bool make_room(census *c)
{
    size_t at = 0;
    c->hosts = tl_calloc(c->n + 1, sizeof *c->hosts);
    c->to = tl_calloc(c->n + 1, sizeof *c->to);
    c->fates = tl_calloc(c->n + 1, sizeof *c->fates);
    for (int p = 0; c->to != NULL && p < tl_par_nprocs(); p++)
        for (size_t i = 0; i < c->counts[p]; i++)
            c->to[at++] = p;
    return c->hosts != NULL && c->to != NULL && c->fates != NULL;
}

/* Sightings number the memberships of their proc: now those of the job. */
static void number_sightings(census *c)
{
    size_t at = 0;
    int32_t before = 0;
    for (int p = 0; p < tl_par_nprocs(); p++) {
        for (size_t i = 0; i < c->sighted[p]; i++)
            c->sightings[at++].membership += before;
        before += (int32_t)c->counts[p];
    }
}

/* Proc 0. */
static tl_status decide(tl_matching *m, census *c, tl_error *err)
{
    const tl_job_facts facts = { .ranks = m->ranks, .nranks = m->nranks };
    tl_status st = make_room(c) ? TL_OK : tl_fail_memory(err, "the process groups");

    if (st != TL_OK)
        return st;
    number_sightings(c);
    for (size_t i = 0; i < c->n; i++) {
        const tl_rank_place *place = tl_place_of(&facts, c->memberships[i].rank);
        c->hosts[i] = place != NULL ? place->host : -1;
    }
    st = tl_groups_decide(c->memberships, c->hosts, c->n, c->sightings, c->nsightings, c->fates, m->group_rows,
                          &m->groups, err);
    m->ngroups = m->group_rows->n;
    return st;
}

/* All procs' memberships and sightings to proc 0. */
static tl_status take_census(const tl_matching *m, census *c, tl_error *err)
{
    tl_sighting *mine = NULL;
    size_t nmine = 0;
    tl_status st = TL_OK;

    c->counts = tl_calloc((size_t)tl_par_nprocs(), sizeof *c->counts);
    c->sighted = tl_calloc((size_t)tl_par_nprocs(), sizeof *c->sighted);
    if (c->counts == NULL || c->sighted == NULL || !sight(m->set, &mine, &nmine))
        st = tl_fail_memory(err, "the process groups");
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_collect_rows(m->set->memberships.v, m->set->memberships.n, sizeof *c->memberships,
                             (void **)&c->memberships, &c->n, c->counts, err);
    if (st == TL_OK)
        st = tl_collect_rows(mine, nmine, sizeof *mine, (void **)&c->sightings, &c->nsightings, c->sighted, err);
    free(mine);
    return st;
}

static void census_free(census *c)
{
    free(c->memberships);
    free(c->sightings);
    free(c->counts);
    free(c->sighted);
    free(c->hosts);
    free(c->to);
    free(c->fates);
}

/* Proc 0: what each rank's kernels say of host and device clocks. */
static void count_before_launch(tl_matching *m, const census *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const tl_membership *s = &c->memberships[i];
        size_t at = tl_table_from_rank(m->clock_rows, s->rank);
        tl_clock *row = at < m->clock_rows->n ? tl_table_row(m->clock_rows, at) : NULL;
        if (row == NULL || row->rank != s->rank)
            continue;
        row->before_launch += s->nbefore;
        row->before_launch_ns = s->before_ns > row->before_launch_ns ? s->before_ns : row->before_launch_ns;
    }
}

/* Proc 0: a row a rank that has a trace. */
static bool begin_clocks(tl_matching *m)
{
    const tl_rank *row = (const tl_rank *)(const void *)m->rank_rows->rows;
    for (size_t i = 0; i < m->nranks; i++, row++) {
        while (row->rank != m->ranks[i].rank)
            row++;
        tl_clock *clock = tl_table_add(m->clock_rows);
        if (clock == NULL)
            return false;
        clock->rank = row->rank;
        memcpy(clock->host, row->host, sizeof clock->host);
    }
    return true;
}

tl_status tl_match_groups(tl_matching *m, tl_error *err)
{
    census c = { 0 };
    size_t nfates = 0;
    bool first = tl_par_proc() == 0;

    tl_status st = first && !(place_ranks(m) && begin_clocks(m)) ? tl_fail_memory(err, "the ranks") : TL_OK;
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_share_rows((void **)&m->ranks, &m->nranks, sizeof *m->ranks, err);
    if (st == TL_OK)
        st = take_census(m, &c, err);
    if (st == TL_OK)
        st = tl_par_agree(first ? decide(m, &c, err) : TL_OK, err);
    if (st == TL_OK)
        st = tl_par_shuffle(c.fates, c.n, sizeof *c.fates, c.to, (void **)&m->fates, &nfates, err);
    if (st == TL_OK)
        st = tl_share_rows((void **)&m->groups, &m->ngroups, sizeof *m->groups, err);
    if (st == TL_OK && first)
        count_before_launch(m, &c);
    census_free(&c);
    return st;
}
