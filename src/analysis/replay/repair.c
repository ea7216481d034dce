/* repair.c - a rank's excess over its baseline, taken off its work. */
#include "tlmpi/analysis/replay.h"
#include "parts.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* What there is to take off one class of one rank in some steps. */
typedef struct excess {
    int64_t own_ns, usual_ns;
    int64_t surplus_ns; /* host: by how much pieces are longer than at peers, together */
    int64_t drawn_ns;   /* host: how much of what is drawn upon has been, and ... */
    int64_t off_ns;     /* ... has been taken off for it: nothing is lost to rounding */
    int64_t cut_ns;     /* host: what the step that was cut has */
} excess;

typedef struct repairing {
    const tl_baseline *b;
    const tl_repair *repair;
    tl_changes *changes;
    excess *excess;   /* by class */
    bool *more;       /* [nclasses * nsteps]: where the rank has more pieces of work of the device than peers */
    bool *on;         /* [nsteps] scratch */
    bool *also;       /* [nsteps] steps that were cut, and are repaired as others are */
    int64_t *scratch; /* [nranks + nsteps] */
} repairing;

static bool is_of_family(const repairing *r, uint32_t class)
{
    tl_family family = (tl_family)r->repair->family;
    return r->b->classes[class].family == (family == TL_FAMILY_ADDITIONAL ? TL_FAMILY_DEVICE : family);
}

/* Whether a step of a class is repaired: where there are more pieces of work it is as additional, elsewhere as what takes long. */
static bool is_step(const repairing *r, uint32_t class, size_t step)
{
    return r->more[class * r->b->nsteps + step] == (r->repair->family == TL_FAMILY_ADDITIONAL);
}

static bool is_concerned(const repairing *r, uint32_t node, const bool *on)
{
    uint32_t class = r->changes->class_of[node], step = r->changes->step_of[node];
    size_t like = r->also[step] ? tl_whole_step_at(r->b, step) : step;
    return class != TL_NONE && on[like] && is_of_family(r, class) && is_step(r, class, like);
}

static bool has_more(const repairing *r, const tl_work_class *class, size_t step)
{
    const tl_baseline *b = r->b;
    size_t n = b->roles[class->role].n;
    for (size_t i = 0; i < n; i++)
        r->scratch[i] = class->pieces[i * b->nsteps + step];
    int64_t own = r->scratch[b->place_of[r->repair->rank]];
    return own > tl_usual(r->scratch, n);
}

static void find_more(repairing *r)
{
    const tl_baseline *b = r->b;
    for (size_t c = 0; c < b->nclasses; c++)
        for (size_t s = 0; s < b->nsteps; s++)
            r->more[c * b->nsteps + s] = b->classes[c].family == TL_FAMILY_DEVICE &&
                                         b->classes[c].role == b->role_of[r->repair->rank] && has_more(r, &b->classes[c], s);
}

static void find_excess(repairing *r, const bool *on)
{
    const tl_baseline *b = r->b;
    for (uint32_t c = 0; c < b->nclasses; c++) {
        const tl_work_class *class = &b->classes[c];
        if (!is_of_family(r, c) || class->role != b->role_of[r->repair->rank])
            continue;
        excess *e = &r->excess[c];
        *e = (excess){ 0 };
        for (size_t s = 0; s < b->nsteps; s++)
            r->on[s] = on[s] && is_step(r, c, s);
        e->usual_ns = tl_baseline_of(b, class, b->place_of[r->repair->rank], r->on, &e->own_ns, r->scratch);
    }
}

static int64_t work_of(const repairing *r, uint32_t node)
{
    return r->changes->open.nodes[node].work_ns;
}

static int64_t surplus_of(const repairing *r, uint32_t node)
{
    return tl_ns_max(0, work_of(r, node) - r->changes->usual_ns[node]);
}

/* The excess of a host comes from the surplus of its pieces; where that does not make it up, from all of their time. */
static void take_off_host(repairing *r, uint32_t node, excess *e)
{
    int64_t work = work_of(r, node), too_much = e->own_ns - e->usual_ns;
    bool enough = e->surplus_ns >= too_much;

    if (too_much <= 0 || e->own_ns <= 0)
        return;
    e->drawn_ns += enough ? surplus_of(r, node) : work;
    int64_t off = tl_portion(too_much, e->drawn_ns, enough ? e->surplus_ns : e->own_ns);
    r->changes->less_ns[node] += off - e->off_ns;
    e->off_ns = off;
}

/* Of a step that was cut: by how much a host has more there than peers have in a whole one of n. */
static int64_t more_in_cut(const excess *e, int64_t n)
{
    return e->own_ns > 0 ? tl_ns_max(0, e->cut_ns - e->usual_ns / n) : 0;
}

/* A host's delay need not be in the same stretch of each step; in all of them together it is no longer than in a whole one. */
static void take_off_cut_host(repairing *r, size_t step, int64_t n)
{
    const tl_changes *c = r->changes;
    int64_t all = 0, most = 0;
    for (uint32_t k = 0; k < r->b->nclasses; k++)
        r->excess[k].cut_ns = 0;
    for (uint32_t v = 0; v < c->open.n; v++)
        if (c->step_of[v] == step && c->class_of[v] != TL_NONE)
            r->excess[c->class_of[v]].cut_ns += work_of(r, v);
    for (uint32_t k = 0; k < r->b->nclasses; k++) {
        all += more_in_cut(&r->excess[k], n);
        most += tl_ns_max(0, r->excess[k].own_ns - r->excess[k].usual_ns) / n;
    }
    for (uint32_t v = 0; v < c->open.n; v++) {
        const excess *e = c->class_of[v] != TL_NONE ? &r->excess[c->class_of[v]] : NULL;
        if (e == NULL || c->step_of[v] != step || e->cut_ns <= 0)
            continue;
        int64_t off = tl_portion(work_of(r, v), more_in_cut(e, n), e->cut_ns);
        c->less_ns[v] += all > most ? tl_portion(off, most, all) : off;
    }
}

static void repair_host(repairing *r, const bool *on)
{
    const tl_changes *c = r->changes;
    int64_t n = 0;
    for (size_t s = 0; s < r->b->nsteps; s++)
        n += on[s];
    for (uint32_t v = 0; v < c->open.n; v++)
        if (on[c->step_of[v]] && is_concerned(r, v, on))
            r->excess[c->class_of[v]].surplus_ns += surplus_of(r, v);
    for (uint32_t v = 0; v < c->open.n; v++)
        if (on[c->step_of[v]] && is_concerned(r, v, on))
            take_off_host(r, v, &r->excess[c->class_of[v]]);
    for (size_t s = 0; s < r->b->nsteps; s++)
        if (r->also[s])
            take_off_cut_host(r, s, n);
}

static void repair_device(repairing *r, const bool *on)
{
    const tl_changes *c = r->changes;
    for (uint32_t v = 0; v < c->open.n; v++) {
        const excess *e = is_concerned(r, v, on) ? &r->excess[c->class_of[v]] : NULL;
        int64_t work = work_of(r, v);
        if (e != NULL && e->own_ns > 0)
            c->less_ns[v] += work - tl_portion(work, e->usual_ns, e->own_ns);
    }
}

static bool repair_steps(repairing *r, const bool *on)
{
    if (r->repair->family == TL_FAMILY_WAIT)
        return tl_repair_waits(r->changes, on, r->also);
    if (r->repair->family == TL_FAMILY_ADDITIONAL)
        return tl_repair_segments(r->changes, on, r->also, r->more);
    find_excess(r, on);
    if (r->repair->family == TL_FAMILY_HOST)
        repair_host(r, on);
    else
        repair_device(r, on);
    return true;
}

bool tl_repair_apply(const tl_repair *repair, tl_changes *changes)
{
    const tl_baseline *b = changes->b;
    repairing r = { .b = b,
                    .repair = repair,
                    .changes = changes,
                    .excess = tl_calloc(b->nclasses + 1, sizeof *r.excess),
                    .more = tl_calloc(b->nclasses * b->nsteps + 1, sizeof *r.more),
                    .on = tl_calloc(b->nsteps + 1, sizeof *r.on),
                    .also = tl_calloc(b->nsteps + 1, sizeof *r.also),
                    .scratch = tl_malloc((b->graph->nranks + b->nsteps + 1) * sizeof *r.scratch) };
    bool *one = tl_calloc(b->nsteps + 1, sizeof *one);
    bool ok = r.excess != NULL && r.more != NULL && r.on != NULL && r.also != NULL && r.scratch != NULL && one != NULL;

    tl_changes_compare(changes);
    for (size_t s = 0; ok && s < b->nsteps; s++)
        r.also[s] = tl_repair_lasts(b, repair, s);
    if (ok && (repair->family == TL_FAMILY_DEVICE || repair->family == TL_FAMILY_ADDITIONAL))
        find_more(&r);
    if (ok && !repair->drifts)
        ok = repair_steps(&r, repair->on);
    for (size_t s = 0; ok && repair->drifts && s < b->nsteps; s++) {
        if (!repair->on[s])
            continue;
        one[s] = true;
        ok = repair_steps(&r, one);
        one[s] = false;
    }
    free(r.excess);
    free(r.more);
    free(r.on);
    free(r.also);
    free(r.scratch);
    free(one);
    return ok;
}
