/* repair.c - takes the excess of a rank over its baseline off the rank's work. */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* The excess of one kind of work in one window. */
typedef struct excess {
    int64_t own_ns, baseline_ns;
    int64_t longer_ns; /* host: sum over pieces of the time beyond the same piece of peers */
    int64_t drawn_ns;  /* host: running sum of the time (or excess) of the pieces handled so far */
    int64_t off_ns;    /* host: running sum of the time taken off; follows drawn_ns, so rounding loses nothing */
} excess;

typedef struct repairing {
    const tl_repair_plan *plan;
    tl_changes *c;
    excess *excess; /* [nwindows * nkinds] */
} repairing;

static int64_t work_of(const repairing *r, uint32_t node)
{
    return r->c->open.nodes[node].work_ns;
}

/* Returns the excess of the node's kind and window; NULL: the node is not repaired. */
static excess *excess_of(const repairing *r, uint32_t node)
{
    uint32_t kind = r->c->kind_of[node];
    uint32_t window = kind != TL_NONE ? r->plan->window[kind * r->plan->nsteps + r->c->step_of[node]] : 0;
    return window > 0 ? &r->excess[(window - 1) * r->plan->nkinds + kind] : NULL;
}

/* ------------------------------------------------------------------------------------------------------------- host */

/* Takes the node's share of the host's excess off: in proportion to the node's own excess; if all such excess is too
 * little, in proportion to the node's time. */
static void take_off_host(const repairing *r, uint32_t node, excess *e)
{
    int64_t too_much = e->own_ns - e->baseline_ns;
    bool enough = e->longer_ns >= too_much;

    if (too_much <= 0 || e->own_ns <= 0)
        return;
    e->drawn_ns += enough ? tl_excess_of_piece(r->c, node) : work_of(r, node);
    int64_t off = tl_portion(too_much, e->drawn_ns, enough ? e->longer_ns : e->own_ns);
    r->c->less_ns[node] += off - e->off_ns;
    e->off_ns = off;
}

static void repair_host(const repairing *r)
{
    for (uint32_t v = 0; v < r->c->open.n; v++) {
        excess *e = excess_of(r, v);
        if (e != NULL)
            e->longer_ns += tl_excess_of_piece(r->c, v);
    }
    for (uint32_t v = 0; v < r->c->open.n; v++) {
        excess *e = excess_of(r, v);
        if (e != NULL)
            take_off_host(r, v, e);
    }
}

typedef struct wait {
    int64_t minus_ns; /* 0 - the time waited: the longest comes first */
    uint32_t kind, step, node;
} wait;

TL_SORT_BY(by_stretch, wait, kind, step, minus_ns, node)

void tl_drop_waits(tl_changes *c, const int64_t *drop)
{
    TL_VEC(wait) waits = { 0 };
    for (uint32_t v = 0; v < c->open.n; v++) {
        int64_t waited_ns = tl_waited_ns(&c->open, v);
        uint32_t kind = waited_ns >= 0 ? tl_kind_of_wait(c->class_map, &c->open.nodes[v]) : TL_NONE;
        if (kind == TL_NONE || drop[kind * c->class_map->nsteps + c->step_of[v]] == 0)
            continue;
        tl_vec_push(&waits, (wait){ -waited_ns, kind, c->step_of[v], v });
    }
    tl_vec_sort(&waits, by_stretch);
    int64_t before = 0;
    for (size_t i = 0; i < waits.n; i++) {
        const wait *w = &waits.v[i];
        bool same = i > 0 && w[-1].kind == w->kind && w[-1].step == w->step;
        before = same ? before + 1 : 0;
        if (before < drop[w->kind * c->class_map->nsteps + w->step]) /* the longest waits are dropped */
            c->gone[w->node] = true; /* the edge from the kernel that released the wait */
    }
    free(waits.v);
}

void tl_repair_plan_apply(const tl_repair_plan *plan, tl_changes *c)
{
    size_t n = plan->nwindows * plan->nkinds;
    tl_changes_compare(c);
    if (plan->family == TL_FAMILY_WAIT) {
        tl_drop_waits(c, plan->drop);
        return;
    }
    repairing r = { plan, c, tl_calloc(n + 1, sizeof *r.excess) };
    for (size_t i = 0; i < n; i++) {
        r.excess[i].own_ns = plan->own_ns[i];
        r.excess[i].baseline_ns = plan->baseline_ns[i];
    }
    if (plan->family == TL_FAMILY_HOST)
        repair_host(&r);
    else
        for (uint32_t v = 0; v < r.c->open.n; v++) {
            const excess *e = excess_of(&r, v);
            if (e != NULL && e->own_ns > 0)
                r.c->less_ns[v] += work_of(&r, v) - tl_portion(work_of(&r, v), e->baseline_ns, e->own_ns);
        }
    free(r.excess);
    if (plan->nsummed != 0)
        tl_repair_stretches(plan, c);
}
