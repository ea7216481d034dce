/* plan.c - plans a repair: by how much which work of a rank exceeds the baseline, in which steps. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

void tl_repair_plan_free(tl_repair_plan *p)
{
    free(p->window);
    free(p->own_ns);
    free(p->baseline_ns);
    free(p->drop);
    free(p->sums);
    *p = (tl_repair_plan){ 0 };
}

void tl_repair_plan_put(const tl_repair_plan *p, tl_bytes *out)
{
    const size_t cells = p->nkinds * p->nsteps, sums = p->nwindows * p->nkinds;
    tl_bytes_put(out, p, sizeof *p);
    tl_bytes_put_list(out, p->window, cells, sizeof *p->window);
    tl_bytes_put_list(out, p->own_ns, sums, sizeof *p->own_ns);
    tl_bytes_put_list(out, p->baseline_ns, sums, sizeof *p->baseline_ns);
    tl_bytes_put_list(out, p->drop, cells, sizeof *p->drop);
    tl_bytes_put_list(out, p->sums, p->nsums, sizeof *p->sums);
}

void tl_repair_plan_get(tl_repair_plan *p, tl_bytes *in)
{
    size_t n;
    tl_bytes_get(in, p, sizeof *p);
    tl_bytes_get_list(in, (void **)&p->window, &n, sizeof *p->window);
    tl_bytes_get_list(in, (void **)&p->own_ns, &n, sizeof *p->own_ns);
    tl_bytes_get_list(in, (void **)&p->baseline_ns, &n, sizeof *p->baseline_ns);
    tl_bytes_get_list(in, (void **)&p->drop, &n, sizeof *p->drop);
    tl_bytes_get_list(in, (void **)&p->sums, &p->nsums, sizeof *p->sums);
}

/* ------------------------------------------------------------------------------------------------------------- make */

typedef struct planning {
    const tl_baseline *b;
    const tl_repair *repair;
    tl_repair_plan *plan;
    tl_arena arena;
    size_t *window_at; /* [nsteps] 1 + the window in which the step is compared; 0: none */
    bool *more;        /* [nkinds * nsteps] the rank has more pieces of device work than peers */
    bool *on;          /* [nsteps] scratch */
    int64_t *scratch;  /* [nranks + nsteps] */
} planning;

static const tl_work_class *class_of(const planning *p, size_t kind)
{
    return &p->b->classes[p->b->class_of_kind[p->repair->rank][kind]];
}

static bool is_of_family(const planning *p, size_t kind)
{
    tl_family family = (tl_family)p->repair->family;
    return class_of(p, kind)->family == (family == TL_FAMILY_ADDITIONAL ? TL_FAMILY_DEVICE : family);
}

static int64_t pieces_of(const planning *p, size_t kind, size_t step)
{
    return tl_class_pieces(class_of(p, kind), p->b->index_in_role[p->repair->rank], step);
}

static int64_t pieces_beyond_peers(const planning *p, size_t kind, size_t step)
{
    return tl_ns_max(0, pieces_of(p, kind, step) - tl_pieces_usual(p->b, class_of(p, kind), step, p->scratch));
}

static void fill_windows(planning *p)
{
    const tl_baseline *b = p->b;
    tl_repair_plan *plan = p->plan;
    for (size_t s = 0; s < b->nsteps; s++) {
        p->window_at[s] = p->repair->on[s] ? (p->repair->drifts ? ++plan->nwindows : 1) : 0;
    }
    plan->nwindows = p->repair->drifts ? plan->nwindows : 1;
    plan->nsummed = p->repair->family == TL_FAMILY_ADDITIONAL ? plan->nwindows : 0;
    for (size_t k = 0; k < plan->nkinds; k++)
        for (size_t i = 0; class_of(p, k)->family == TL_FAMILY_DEVICE && i < class_of(p, k)->steps.n; i++) {
            size_t s = class_of(p, k)->steps.v[i];
            p->more[k * b->nsteps + s] = pieces_beyond_peers(p, k, s) > 0;
        }
    for (size_t k = 0; k < plan->nkinds; k++)
        for (size_t s = 0; s < b->nsteps; s++) {
            bool summed = plan->nsummed > 0 && p->more[k * b->nsteps + s];
            if (is_of_family(p, k) && p->window_at[s] > 0)
                plan->window[k * b->nsteps + s] = (uint32_t)(p->window_at[s] + (summed ? plan->nwindows : 0));
        }
    plan->nwindows += plan->nsummed;
}

/* Fills own_ns and baseline_ns of a kind in the steps p->on.  The difference is the excess to repair: HOST: all time
 * beyond peers; DEVICE: time beyond peers for the same amount of work; ADDITIONAL: the time of the additional work. */
static void fill_excess_of(planning *p, size_t kind, size_t at)
{
    const size_t member = p->b->index_in_role[p->repair->rank];
    int64_t *own_ns = &p->plan->own_ns[at], *baseline_ns = &p->plan->baseline_ns[at];
    *baseline_ns = tl_baseline_of(p->b, class_of(p, kind), member, p->on, own_ns, p->scratch);
    if (class_of(p, kind)->amount == NULL)
        return;
    int64_t as_much_ns = tl_baseline_of_amount(p->b, class_of(p, kind), member, p->on, own_ns, p->scratch);
    *baseline_ns = p->repair->family == TL_FAMILY_DEVICE ? as_much_ns : *own_ns - (as_much_ns - *baseline_ns);
}

/* Fills drop: the number of waits for the device beyond that of peers in the same stretch. */
static void fill_drops(planning *p)
{
    for (size_t k = 0; k < p->plan->nkinds; k++)
        for (size_t s = 0; class_of(p, k)->family == TL_FAMILY_WAIT && s < p->b->nsteps; s++)
            if (p->repair->on[s])
                p->plan->drop[k * p->b->nsteps + s] = pieces_beyond_peers(p, k, s);
}

int64_t tl_pieces_usual(const tl_baseline *b, const tl_work_class *class, size_t step, int64_t *scratch)
{
    size_t n = b->roles[class->role].n;
    for (size_t i = 0; i < n; i++)
        scratch[i] = tl_class_pieces(class, i, step);
    return tl_baseline_median(scratch, n);
}

void tl_repair_plan_make(const tl_baseline *b, const tl_repair *repair, tl_repair_plan *out)
{
    size_t nkinds = b->nkinds[repair->rank], cells = nkinds * b->nsteps;
    planning p = { .b = b, .repair = repair, .plan = out };
    p.window_at = tl_arena_zeroed(&p.arena, b->nsteps, sizeof *p.window_at);
    p.more = tl_arena_zeroed(&p.arena, cells, sizeof *p.more);
    p.on = tl_arena_zeroed(&p.arena, b->nsteps, sizeof *p.on);
    p.scratch = tl_arena_take(&p.arena, b->graph->nranks + b->nsteps, sizeof *p.scratch);
    *out = (tl_repair_plan){ .family = repair->family,
                             .nkinds = nkinds,
                             .nsteps = b->nsteps,
                             .window = tl_calloc(cells, sizeof *out->window),
                             .drop = tl_calloc(cells, sizeof *out->drop) };
    fill_windows(&p);
    out->own_ns = tl_calloc(out->nwindows * nkinds + 1, sizeof *out->own_ns);
    out->baseline_ns = tl_calloc(out->nwindows * nkinds + 1, sizeof *out->baseline_ns);
    if (repair->family != TL_FAMILY_WAIT) {
        for (size_t w = 0; w < out->nwindows - out->nsummed; w++)
            for (size_t k = 0; k < out->nkinds; k++) {
                size_t at = w * out->nkinds + k;
                if (!is_of_family(&p, k))
                    continue;
                for (size_t s = 0; s < b->nsteps; s++)
                    p.on[s] = out->window[k * b->nsteps + s] == w + 1;
                fill_excess_of(&p, k, at);
            }
    }
    if (repair->family == TL_FAMILY_WAIT || repair->family == TL_FAMILY_HOST)
        fill_drops(&p);
    if (out->nsummed > 0)
        tl_repair_plan_sums(b, repair->rank, out);
    tl_arena_free(&p.arena);
}
