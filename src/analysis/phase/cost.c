/* cost.c - what the job would gain without the named candidates, and which of them cost enough.
 *
 * In the class where other ranks wait, the late rank is the shortest.  Repaired, the late rank arrives earlier by its
 * excess, and another rank may be the last:
 *
 *     compute      rank 3 [###########]      others [######] [#######] [#####]     5 more than the median
 *     all_reduce   rank 3 [##]               others [#######] [######] [####]      2 shorter than the next: cost 2
 */
#include "internal.h"

typedef struct costing {
    tl_phase_job *j;
    bool *chosen;      /* [candidates] */
    bool *next;        /* [candidates] others wait in the next step: the candidate ends its step late */
    double *arrive_ns; /* [nranks] arrival of the repaired rank; -INFINITY: it does not take part */
    double *gain_ns;   /* [nsteps] */
} costing;

/* Returns whether the candidate is late at the end of its steps: it is shorter by more in the following steps. */
static bool is_late_next(const tl_phase_job *j, const tl_phase_candidate *u)
{
    const tl_phase_class *in = &j->classes[u->in];
    double shorter_ns[2] = { 0 };
    for (size_t k = 0; k < in->columns.n; k++) {
        const size_t step = in->columns.v[k].step;
        if (isnan(tl_phase_own(j, in, k, u->rank)))
            continue;
        shorter_ns[0] -= tl_phase_is_late(u, step) ? tl_phase_excess(j, in, k, u->rank) : 0;
        shorter_ns[1] -= step > 0 && tl_phase_is_late(u, step - 1) ? tl_phase_excess(j, in, k, u->rank) : 0;
    }
    return shorter_ns[1] > shorter_ns[0];
}

/* Returns the ns by which a candidate's repair makes it arrive earlier in a step; 0: it is not chosen, or others do not
 * wait for it in the class. */
static double repair_ns(const costing *a, size_t i, uint32_t class, size_t step)
{
    const tl_phase_candidate *u = &a->j->candidates.v[i];
    const double *ns = !a->next[i] ? &u->excess_ns[step] : step > 0 ? &u->excess_ns[step - 1] : NULL;
    return a->chosen[i] && u->in == class && ns != NULL && !isnan(*ns) ? *ns : 0;
}

/* Repairs all chosen candidates in one column.  Adds to each candidate's cost how much later the last rank would arrive
 * without that candidate's repair. */
static void add_column_cost(costing *a, uint32_t class, size_t column)
{
    tl_phase_job *j = a->j;
    const size_t step = j->classes[class].columns.v[column].step;
    double before_ns = -INFINITY, after_ns = -INFINITY;
    for (uint32_t r = 0; r < j->nranks; r++) {
        double own_ns = tl_phase_own(j, &j->classes[class], column, r);
        a->arrive_ns[r] = isnan(own_ns) ? -INFINITY : -own_ns;
        before_ns = fmax(before_ns, a->arrive_ns[r]);
    }
    for (size_t i = 0; i < j->candidates.n; i++)
        a->arrive_ns[j->candidates.v[i].rank] -= repair_ns(a, i, class, step);
    for (size_t r = 0; r < j->nranks; r++)
        after_ns = fmax(after_ns, a->arrive_ns[r]);
    a->gain_ns[step] = fmax(a->gain_ns[step], before_ns - after_ns);
    for (size_t i = 0; i < j->candidates.n; i++) {
        tl_phase_candidate *u = &j->candidates.v[i];
        u->cost_ns += fmax(0, a->arrive_ns[u->rank] + repair_ns(a, i, class, step) - after_ns);
    }
}

/* Sets the gain of repairing all chosen candidates (j->cost_ns), and the part of this gain that needs each candidate
 * (cost_ns). */
static void cost_all(costing *a)
{
    tl_phase_job *j = a->j;
    for (size_t s = 0; s < j->nsteps; s++)
        a->gain_ns[s] = 0;
    for (uint32_t c = 0; c < j->nclasses; c++) {
        bool any = false;
        for (size_t i = 0; i < j->candidates.n; i++) {
            j->candidates.v[i].cost_ns = c == 0 ? 0 : j->candidates.v[i].cost_ns;
            any = any || (a->chosen[i] && j->candidates.v[i].in == c);
        }
        for (size_t k = 0; any && k < j->classes[c].columns.n; k++)
            add_column_cost(a, c, k);
    }
    j->cost_ns = 0;
    for (size_t s = 0; s < j->nsteps; s++)
        j->cost_ns += a->gain_ns[s];
}

void tl_phase_candidates_cost(tl_phase_job *j)
{
    const size_t n = j->candidates.n;
    tl_arena arena = { 0 };
    costing a = { .j = j,
                  .chosen = tl_arena_zeroed(&arena, n, sizeof *a.chosen),
                  .next = tl_arena_zeroed(&arena, n, sizeof *a.next),
                  .arrive_ns = tl_arena_take(&arena, j->nranks, sizeof *a.arrive_ns),
                  .gain_ns = tl_arena_take(&arena, j->nsteps, sizeof *a.gain_ns) };
    double *share = tl_arena_zeroed(&arena, n, sizeof *share), *scratch = tl_arena_take(&arena, n, sizeof *scratch);
    for (size_t i = 0; i < n; i++) {
        a.chosen[i] = j->candidates.v[i].answer == TL_PHASE_STRAGGLER;
        a.next[i] = a.chosen[i] && is_late_next(j, &j->candidates.v[i]);
    }
    do {
        cost_all(&a);
        for (size_t i = 0; i < n; i++)
            share[i] = j->candidates.v[i].cost_ns / fmax(1, j->candidates.v[i].time_ns);
    } while (tl_eliminate_least_needed(a.chosen, share, n, j->options->least_cost, scratch));
    for (size_t i = 0; i < n; i++)
        if (j->candidates.v[i].answer == TL_PHASE_STRAGGLER && !a.chosen[i])
            j->candidates.v[i].answer = TL_PHASE_CHEAP;
    tl_arena_free(&arena);
}
