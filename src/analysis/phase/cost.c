/* cost.c - what the job would gain without candidates that are named, and which of them cost enough.
 *
 * In the class where the others wait, the rank that they wait for is the shortest.  Repaired, it arrives earlier by its
 * excess, and another rank may be the last:
 *
 *     compute      rank 3 [###########]      others [######] [#######] [#####]     5 more than the middle
 *     all_reduce   rank 3 [##]               others [#######] [######] [####]      2 shorter than the next: it costs 2
 */
#include "internal.h"
#include <string.h>

/* Where a candidate's cost is measured. */
typedef struct place {
    uint32_t class; /* nclasses: measured waits */
    bool next;      /* the others wait one step later: the candidate ends its step late */
} place;

typedef struct costing {
    tl_phase_job *j;
    place *places;           /* [candidates] */
    bool *chosen;            /* [candidates] */
    double *share, *scratch; /* [candidates] */
    int64_t *arrive_ns;      /* [nranks] when a rank comes, repaired; INT64_MIN: it does not */
    int64_t *gain_ns;        /* [nsteps] */
} costing;

static bool is_at(const costing *a, const tl_phase_group *g, const place *p)
{
    return p->class == a->j->nclasses ? g->rows[0].wait_ns >= 0 : g->class == p->class;
}

/* How late a rank comes. */
static int64_t arrival(const costing *a, const tl_phase_step *row, const place *p)
{
    return p->class == a->j->nclasses ? -row->wait_ns : -tl_phase_own_ns(row);
}

/* In the class that makes up for it; in which of both steps it is shorter there by more, tells when it comes late. */
static place place_of(const costing *a, const tl_phase_candidate *u)
{
    place p = { .class = u->in };
    int64_t shorter_ns[2] = { 0 };
    for (size_t i = 0; i < a->j->ngroups; i++) {
        const tl_phase_group *g = &a->j->groups[i];
        const tl_phase_step *row = is_at(a, g, &p) ? tl_phase_row_of(g, u->rank) : NULL;
        int64_t ns = row == NULL ? 0 : p.class == a->j->nclasses ? -row->wait_ns : -row->excess_ns;
        if (u->on[g->step])
            shorter_ns[0] = tl_ns_sum(shorter_ns[0], ns);
        if (g->step > 0 && u->on[g->step - 1])
            shorter_ns[1] = tl_ns_sum(shorter_ns[1], ns);
    }
    p.next = shorter_ns[1] > shorter_ns[0];
    return p;
}

/* Returns the ns that the candidate's repair takes off in a step. */
static int64_t repair_ns(const tl_phase_candidate *u, const place *p, size_t step)
{
    return !p->next ? u->excess_ns[step] : step > 0 ? u->excess_ns[step - 1] : 0;
}

/* Repairs all chosen candidates of one place in one step.  A candidate's cost grows by how much later the last rank
 * would come without that candidate's repair. */
static void cost_in(costing *a, const tl_phase_group *g, const place *p)
{
    tl_phase_job *j = a->j;
    int64_t before_ns = INT64_MIN, after_ns = INT64_MIN;
    for (size_t r = 0; r < j->nranks; r++)
        a->arrive_ns[r] = INT64_MIN;
    for (size_t i = 0; i < g->n; i++) {
        int64_t ns = arrival(a, &g->rows[i], p);
        a->arrive_ns[g->rows[i].rank] = ns;
        before_ns = tl_ns_max(before_ns, ns);
    }
    const int64_t last_ns = before_ns;
    for (size_t i = 0; i < j->candidates.n; i++) {
        const tl_phase_candidate *u = &j->candidates.v[i];
        if (!a->chosen[i] || a->places[i].class != p->class)
            continue;
        int64_t ns = repair_ns(u, &a->places[i], g->step);
        if (a->arrive_ns[u->rank] == INT64_MIN) /* not recorded: later than the last by as much as it is late */
            a->arrive_ns[u->rank] = tl_ns_sum(last_ns, ns);
        before_ns = tl_ns_max(before_ns, a->arrive_ns[u->rank]);
        a->arrive_ns[u->rank] -= ns;
    }
    for (size_t r = 0; r < j->nranks; r++)
        after_ns = tl_ns_max(after_ns, a->arrive_ns[r]);
    a->gain_ns[g->step] = tl_ns_max(a->gain_ns[g->step], tl_ns_between(before_ns, after_ns));
    for (size_t i = 0; i < j->candidates.n; i++) {
        tl_phase_candidate *u = &j->candidates.v[i];
        if (!a->chosen[i] || a->places[i].class != p->class)
            continue;
        int64_t without_ns = a->arrive_ns[u->rank] + repair_ns(u, &a->places[i], g->step);
        u->cost_ns = tl_ns_add(u->cost_ns, tl_ns_max(0, tl_ns_between(without_ns, after_ns)));
    }
}

/* Sets the gain of repairing all chosen candidates (j->cost_ns), and the part of it that needs each candidate
 * (cost_ns). */
static void cost_all(costing *a)
{
    tl_phase_job *j = a->j;
    memset(a->gain_ns, 0, j->nsteps * sizeof *a->gain_ns);
    for (size_t i = 0; i < j->candidates.n; i++)
        j->candidates.v[i].cost_ns = 0;
    for (size_t i = 0; i < j->candidates.n; i++) {
        bool done = !a->chosen[i];
        for (size_t k = 0; k < i && !done; k++)
            done = a->chosen[k] && a->places[k].class == a->places[i].class;
        for (size_t at = 0; at < j->ngroups && !done; at++)
            if (is_at(a, &j->groups[at], &a->places[i]))
                cost_in(a, &j->groups[at], &a->places[i]);
    }
    j->cost_ns = 0;
    for (size_t s = 0; s < j->nsteps; s++)
        j->cost_ns = tl_ns_add(j->cost_ns, a->gain_ns[s]);
    for (size_t i = 0; i < j->candidates.n; i++)
        a->share[i] = j->candidates.v[i].time_ns > 0
                          ? (double)j->candidates.v[i].cost_ns / (double)j->candidates.v[i].time_ns
                          : 0;
}

void tl_phase_candidates_cost(tl_phase_job *j)
{
    const size_t n = j->candidates.n;
    tl_arena arena = { 0 };
    costing a = { .j = j,
                  .places = tl_arena_take(&arena, n, sizeof *a.places),
                  .chosen = tl_arena_zeroed(&arena, n, sizeof *a.chosen),
                  .share = tl_arena_take(&arena, n, sizeof *a.share),
                  .scratch = tl_arena_take(&arena, n, sizeof *a.scratch),
                  .arrive_ns = tl_arena_take(&arena, j->nranks, sizeof *a.arrive_ns),
                  .gain_ns = tl_arena_take(&arena, j->nsteps, sizeof *a.gain_ns) };
    for (size_t i = 0; i < n; i++) {
        a.chosen[i] = j->candidates.v[i].answer == TL_PHASE_STRAGGLER;
        if (a.chosen[i])
            a.places[i] = place_of(&a, &j->candidates.v[i]);
    }
    do {
        cost_all(&a);
    } while (tl_eliminate_least_needed(a.chosen, a.share, n, j->options->least_cost, a.scratch));
    for (size_t i = 0; i < n; i++)
        if (j->candidates.v[i].answer == TL_PHASE_STRAGGLER && !a.chosen[i])
            j->candidates.v[i].answer = TL_PHASE_CHEAP;
    tl_arena_free(&arena);
}
