/* groups.c - ranks and process groups of the job: decided on proc 0, known to all. */
#include "internal.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Proc 0: what all procs say of their memberships, and which proc says how much. */
typedef struct census {
    tl_membership *memberships;
    size_t n;
    tl_sighting *sightings;
    size_t nsightings;
    tl_arena arena;           /* of what follows */
    size_t *counts, *sighted; /* by proc */
    int32_t *to;              /* the proc that it is from */
    tl_fate *fates;
} census;

static void make_room(census *c)
{
    size_t at = 0;
    c->to = tl_arena_zeroed(&c->arena, c->n, sizeof *c->to);
    c->fates = tl_arena_zeroed(&c->arena, c->n, sizeof *c->fates);
    for (int p = 0; p < tl_par_nprocs(); p++)
        for (size_t i = 0; i < c->counts[p]; i++)
            c->to[at++] = p;
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

/* Whether every rank of the job has a trace.  A single trace that tells no size of the job may be one of many. */
static bool all_traced(const tl_matching *m)
{
    bool told = m->nranks > 1;
    for (size_t i = 0; !told && i < m->rank_rows->n; i++)
        told = ((const tl_rank *)tl_table_row(m->rank_rows, i))->world_size > 0;
    return told && m->world <= (int64_t)m->nranks;
}

/* Proc 0. */
static void decide(tl_matching *m, census *c)
{
    const tl_job_facts facts = { .ranks = m->ranks, .nranks = m->nranks, .all_traced = all_traced(m) };
    make_room(c);

    number_sightings(c);
    tl_groups_decide(c->memberships, c->n, &facts, c->sightings, c->nsightings, c->fates, m->group_rows, &m->groups);
    m->ngroups = m->group_rows->n;
}

/* Collects the memberships and sightings of all procs on proc 0. */
static void take_census(const tl_matching *m, census *c)
{
    tl_sighting *mine = NULL;
    size_t nmine = 0;

    c->counts = tl_arena_zeroed(&c->arena, (size_t)tl_par_nprocs(), sizeof *c->counts);
    c->sighted = tl_arena_zeroed(&c->arena, (size_t)tl_par_nprocs(), sizeof *c->sighted);
    tl_sightings_draw(m->set, &mine, &nmine);
    tl_collect_rows(m->set->memberships.v, m->set->memberships.n, sizeof *c->memberships, (void **)&c->memberships,
                    &c->n, c->counts);
    tl_collect_rows(mine, nmine, sizeof *mine, (void **)&c->sightings, &c->nsightings, c->sighted);
    free(mine);
}

static void census_free(census *c)
{
    free(c->memberships);
    free(c->sightings);
    tl_arena_free(&c->arena);
}

void tl_match_groups(tl_matching *m)
{
    census c = { 0 };
    size_t nfates = 0;
    bool first = tl_par_proc() == 0;

    if (first) {
        tl_rank_clocks_make(m->rank_rows, &m->ranks, &m->nranks);
        tl_clock_rows_begin(m->ranks, m->nranks, m->rank_rows, m->clock_rows);
    }
    tl_par_share((void **)&m->ranks, &m->nranks, sizeof *m->ranks);
    take_census(m, &c);
    if (first)
        decide(m, &c);
    tl_par_shuffle(c.fates, c.n, sizeof *c.fates, c.to, (void **)&m->fates, &nfates);
    tl_par_share((void **)&m->groups, &m->ngroups, sizeof *m->groups);
    if (first)
        tl_clock_rows_launches(c.memberships, c.n, m->clock_rows);
    census_free(&c);
}
