/* explain.c - a rank is longer in one phase: is it late there, or does it wait there?
 *
 * The phases in which the rank is shorter than the others decide, if there are any:
 *
 *     shorter in phases with more collectives    the rank came late to these collectives: the others wait there
 *     shorter in phases with fewer of them       the rank was early: it waits in the longer phase
 *     shorter in phases with as many             the steps in which the rank is not late decide, if there are any: if
 *                                                the others are shorter in these steps, they waited in the late ones
 *     shorter nowhere                            no phase shows a wait
 */
#include "internal.h"
#include <math.h>
#include <string.h>

/* Evidence for a candidate, by class, measured waits last: how much the rank is shorter than the others, which may be
 * waiting for it; and how much longer the others are in the candidate's steps than in other steps. */
typedef struct evidence {
    int64_t *shorter_ns, *others_longer_ns; /* [nclasses + 1] */
} evidence;

/* Sum and maximum of what the rank is shorter by, over the classes of one sort (more, fewer or as many collectives). */
typedef struct makes_up {
    int64_t ns, most_ns;
    uint32_t class; /* the class with most_ns */
} makes_up;

static void count(makes_up *m, uint32_t class, int64_t shorter_ns)
{
    if (shorter_ns <= 0)
        return;
    m->ns = tl_ns_add(m->ns, shorter_ns);
    if (shorter_ns > m->most_ns) {
        m->most_ns = shorter_ns;
        m->class = class;
    }
}

/* Compares what two classes hold, for a rank that is shorter in a class with `these` and as much longer in a class with
 * `those`.  1: it arrives late at the collectives in these; -1: it is early and waits in those; 0: either. */
static int compare_holds(tl_phase_holds these, tl_phase_holds those)
{
    bool not_known = these == TL_HOLDS_UNKNOWN && those == TL_HOLDS_SOME; /* these may be all that there is */
    return not_known ? 0 : TL_COMPARE(these, those);
}

static tl_phase_answer answer(const tl_phase_job *j, const tl_phase_candidate *u, const evidence *e, uint32_t *in)
{
    const uint32_t nclasses = (uint32_t)j->nclasses;
    makes_up more = { .class = UINT32_MAX }, fewer = more, equal = more;
    double enough = TL_PHASE_MAKES_UP * (double)u->late_ns;

    for (uint32_t c = 0; c < nclasses; c++) {
        int order = compare_holds(j->classes[c].holds, j->classes[u->class].holds);
        if (c != u->class)
            count(order > 0 ? &more : order < 0 ? &fewer : &equal, c, e->shorter_ns[c]);
    }
    count(&more, nclasses, e->shorter_ns[nclasses]);
    if ((double)more.ns >= enough && more.ns >= fewer.ns) {
        *in = more.class;
        return TL_PHASE_STRAGGLER;
    }
    if ((double)fewer.ns >= enough) {
        *in = fewer.class;
        return TL_PHASE_WAITING;
    }
    *in = equal.class;
    if ((double)equal.ns < enough)
        return TL_PHASE_LONGER;
    bool waited = u->shape.nup < u->nsteps && (double)e->others_longer_ns[equal.class] * (double)u->shape.nup >= enough;
    return waited ? TL_PHASE_STRAGGLER : TL_PHASE_OPEN;
}

/* Gathers the evidence for a candidate.  A rank that is shorter outside of phases is no evidence: the others may be
 * idle there while phases of theirs overlap. */
static void gather(const tl_phase_job *j, const tl_phase_candidate *u, evidence *e, int64_t *scratch)
{
    const size_t outside = j->nclasses - 1;
    memset(e->shorter_ns, 0, (j->nclasses + 1) * sizeof *e->shorter_ns);
    for (size_t c = 0; c < j->nclasses; c++) {
        int64_t ns[2] = { 0 }, n[2] = { 0 }; /* of baselines, in its other steps and in its steps */
        for (size_t at = j->classes[c].first; at < j->classes[c].first + j->classes[c].n; at++) {
            const tl_phase_group *g = &j->groups[at];
            const tl_phase_step *row = tl_phase_is_compared(j, g) ? tl_phase_row_of(g, u->rank) : NULL;
            if (row == NULL)
                continue;
            ns[u->on[g->step]] = tl_ns_sum(ns[u->on[g->step]], row->baseline_ns);
            n[u->on[g->step]]++;
            if (!tl_phase_is_after(u, g->step))
                continue;
            e->shorter_ns[c] = tl_ns_sum(e->shorter_ns[c], -row->excess_ns);
            for (size_t i = 0; row->wait_ns >= 0 && i < g->n; i++)
                scratch[i] = g->rows[i].wait_ns;
            if (row->wait_ns >= 0)
                e->shorter_ns[j->nclasses] += tl_median(scratch, g->n) - row->wait_ns;
        }
        e->others_longer_ns[c] = n[0] > 0 && n[1] > 0 ? ns[1] / n[1] - ns[0] / n[0] : 0;
    }
    e->shorter_ns[outside] = tl_ns_min(0, e->shorter_ns[outside]);
    e->others_longer_ns[outside] = 0;
}

void tl_phase_candidates_explain(tl_phase_job *j)
{
    tl_arena arena = { 0 };
    evidence e = { tl_arena_take(&arena, j->nclasses + 1, sizeof *e.shorter_ns),
                   tl_arena_take(&arena, j->nclasses + 1, sizeof *e.others_longer_ns) };
    int64_t *scratch = tl_arena_take(&arena, j->nranks, sizeof *scratch);
    for (size_t i = 0; i < j->candidates.n; i++) {
        tl_phase_candidate *u = &j->candidates.v[i];
        gather(j, u, &e, scratch);
        u->answer = answer(j, u, &e, &u->in);
        u->shorter_ns = u->in <= j->nclasses ? e.shorter_ns[u->in] : 0;
        u->by_history = u->answer == TL_PHASE_STRAGGLER && u->in < j->nclasses &&
                        compare_holds(j->classes[u->in].holds, j->classes[u->class].holds) == 0;
    }
    tl_arena_free(&arena);
}

/* ---------------------------------------------------------------------------------------------------------- measure */

/* What the rank takes in the group beyond the middle of the ranks that are not named; these are its peers.  Without
 * any: of all ranks.  named[nranks]. */
static int64_t beside_peers(const tl_phase_job *j, const tl_phase_group *g, const tl_phase_step *row, const bool *named,
                            int64_t *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (!named[g->rows[i].rank])
            scratch[n++] = tl_phase_own_ns(&g->rows[i]);
    int64_t middle_ns = j->classes[g->class].alone >= 0 ? 0 : n > 0 ? tl_median(scratch, n) : row->baseline_ns;
    if (g->class == j->nclasses - 1) /* who is early is no measure of who is late */
        middle_ns = tl_ns_max(0, middle_ns);
    return tl_ns_between(tl_phase_own_ns(row), middle_ns);
}

/* longer_ns[nranks]: what each rank takes longer than the candidate's where others may wait for it. */
static void find_waiters(const tl_phase_job *j, tl_phase_candidate *u, int64_t *longer_ns)
{
    int64_t sum_ns = 0;
    memset(longer_ns, 0, j->nranks * sizeof *longer_ns);
    for (size_t at = 0; at < j->ngroups; at++) {
        const tl_phase_group *g = &j->groups[at];
        bool asked = tl_phase_is_after(u, g->step) && (g->class == u->in || g->rows[0].wait_ns >= 0);
        const tl_phase_step *own = asked ? tl_phase_row_of(g, u->rank) : NULL;
        for (size_t i = 0; own != NULL && i < g->n; i++) {
            int64_t *ns = &longer_ns[g->rows[i].rank];
            if (g->class == u->in)
                *ns = tl_ns_sum(*ns, tl_phase_own_ns(&g->rows[i]) - tl_phase_own_ns(own));
            if (own->wait_ns >= 0)
                *ns = tl_ns_sum(*ns, g->rows[i].wait_ns - own->wait_ns);
        }
    }
    for (size_t r = 0; r < j->nranks; r++)
        if (longer_ns[r] > 0 && (double)longer_ns[r] >= TL_PHASE_MAKES_UP * (double)u->late_ns) {
            u->nwaiters++;
            sum_ns = tl_ns_sum(sum_ns, longer_ns[r]);
        }
    u->waited_ns = u->nwaiters > 0 ? sum_ns / u->nwaiters : 0;
}

static void measure(const tl_phase_job *j, tl_phase_candidate *u, const bool *named, int64_t *scratch)
{
    int64_t late_ns = 0, shorter_ns = 0;
    for (size_t at = 0; at < j->ngroups; at++) {
        const tl_phase_group *g = &j->groups[at];
        bool late = g->class == u->class && u->on[g->step],
             shorter = g->class == u->in && tl_phase_is_after(u, g->step);
        const tl_phase_step *row = late || shorter ? tl_phase_row_of(g, u->rank) : NULL;
        if (row == NULL)
            continue;
        int64_t ns = beside_peers(j, g, row, named, scratch);
        late_ns = tl_ns_sum(late_ns, late ? ns : 0);
        if (late)
            u->excess_ns[g->step] = tl_ns_max(0, ns);
        shorter_ns = tl_ns_sum(shorter_ns, shorter ? -ns : 0);
    }
    u->late_ns = late_ns;
    u->shorter_ns = u->in < j->nclasses ? shorter_ns : u->shorter_ns;
}

void tl_phase_candidates_measure(tl_phase_job *j)
{
    tl_arena arena = { 0 };
    bool *named = tl_arena_zeroed(&arena, j->nranks, sizeof *named), peers = false;
    int64_t *scratch = tl_arena_take(&arena, j->nranks, sizeof *scratch);
    for (size_t i = 0; i < j->candidates.n; i++)
        named[j->candidates.v[i].rank] |= j->candidates.v[i].answer == TL_PHASE_STRAGGLER;
    for (size_t r = 0; r < j->nranks; r++)
        peers = peers || !named[r];
    for (size_t i = 0; i < j->candidates.n && peers; i++)
        if (j->candidates.v[i].answer == TL_PHASE_STRAGGLER)
            measure(j, &j->candidates.v[i], named, scratch);
    tl_arena_free(&arena);
}

void tl_phase_waiters_find(tl_phase_job *j)
{
    int64_t *scratch = tl_calloc(j->nranks, sizeof *scratch);
    for (size_t i = 0; i < j->candidates.n; i++)
        if (j->candidates.v[i].answer == TL_PHASE_STRAGGLER)
            find_waiters(j, &j->candidates.v[i], scratch);
    free(scratch);
}
