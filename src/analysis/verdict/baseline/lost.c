/* lost.c - bounds the work of a rank in steps in which the trace lost some of it (table health).
 *
 *     step        4     5        6
 *     rank 0      100   101      99
 *     rank 1      100   40 + ?   130 + ?     late in 6 by at least 30; in 5 it counts as 101 and is not judged
 *     rank 2      101   100      100
 *
 * Bounds.  Device: at least the recorded work, at most this plus the idle time next to lost work.  Host: at most the
 * recorded work, at least this less that idle time.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/parameters.h"

enum {
    BOUNDED = TL_FAMILY_HOST + 1
}; /* families with known bounds are the first ones; copies share the bounds of
                                        * kernels */

static const int64_t NO_BOUND = INT64_MAX; /* hidden time of a step whose begin or end is not recorded */

typedef struct bounding {
    tl_baseline *b;
    tl_arena arena;
    int64_t *hidden_ns; /* [nranks * nsteps] idle time that may be lost work, or NO_BOUND; -1: no work was lost */
    int64_t *own_ns;    /* [BOUNDED * nranks * nsteps] recorded work */
    bool *late;         /* [BOUNDED * nranks * nsteps] late under any bound */
    int64_t *ns, *pieces, *amount; /* [nranks] scratch */
} bounding;

static size_t cell_of(const bounding *g, size_t family, size_t rank, size_t step)
{
    family = family == TL_FAMILY_COPY ? TL_FAMILY_DEVICE : family;
    return (family * g->b->graph->nranks + rank) * g->b->nsteps + step;
}

static int64_t hidden_ns_of(const bounding *g, size_t rank, size_t step)
{
    return g->hidden_ns[cell_of(g, 0, rank, step)];
}

/* Fills hidden_ns from table health.  Returns whether any work was lost. */
static bool find_hidden(bounding *g, const int32_t *ranks, const tl_table *health)
{
    tl_baseline *b = g->b;
    size_t n = b->graph->nranks;
    bool any = false;
    for (size_t i = 0; i < n * b->nsteps; i++)
        g->hidden_ns[i] = -1;
    TL_ROWS (const tl_health, row, health) {
        size_t r = tl_index_of(ranks, n, row->rank), s = 0;
        if (row->done != TL_REMEDY_NOT_JUDGED || row->step < 0 || r == n)
            continue;
        TL_BISECT(s, b->nsteps, mid, b->steps[mid] < row->step);
        if (s == b->nsteps || b->steps[s] != row->step)
            continue;
        int64_t *ns = &g->hidden_ns[cell_of(g, 0, r, s)];
        *ns = row->defect != TL_DEFECT_LOST ? NO_BOUND : tl_ns_add(*ns < 0 ? 0 : *ns, row->time_ns);
        any = true;
    }
    return any;
}

/* Returns the median, over the members of a role, of the upper bounds of their work of a family in a step, ns. */
static int64_t usual_most(bounding *g, const tl_role_ranks *role, size_t family, size_t step)
{
    for (size_t i = 0; i < role->n; i++) {
        size_t r = g->b->members[role->first + i];
        bool bound = family == TL_FAMILY_DEVICE && hidden_ns_of(g, r, step) != NO_BOUND;
        g->ns[i] =
            tl_ns_add(g->own_ns[cell_of(g, family, r, step)], bound ? tl_ns_max(0, hidden_ns_of(g, r, step)) : 0);
    }
    return tl_baseline_median(g->ns, role->n);
}

/* Marks the ranks whose lateness in a step is more than TL_VERDICT_LEAST_COST of it under any bound; others that lost
 * work are not judged. */
static void find_late(bounding *g, const tl_role_ranks *role, size_t step)
{
    int64_t device_ns = usual_most(g, role, TL_FAMILY_DEVICE, step),
            host_ns = usual_most(g, role, TL_FAMILY_HOST, step);
    double least = TL_VERDICT_LEAST_COST * (double)tl_ns_add(device_ns, host_ns);
    for (size_t i = 0; role->n > 1 && i < role->n; i++) {
        size_t r = g->b->members[role->first + i];
        int64_t may_be = hidden_ns_of(g, r, step);
        size_t device = cell_of(g, TL_FAMILY_DEVICE, r, step), host = cell_of(g, TL_FAMILY_HOST, r, step);
        if (may_be < 0)
            continue;
        if (may_be == NO_BOUND) {
            g->b->lost[r * g->b->nsteps + step] = true;
            continue;
        }
        g->late[device] = (double)tl_ns_between(g->own_ns[device], device_ns) > least;
        g->late[host] = (double)tl_ns_between(tl_ns_between(g->own_ns[host], may_be), host_ns) > least;
        g->b->lost[r * g->b->nsteps + step] = !g->late[device] && !g->late[host];
    }
}

/* Returns the median of the n values of members that lost nothing, or `most`, the maximum over all members, if n is
 * 0. */
static int64_t usual_of(int64_t *values, size_t n, int64_t most)
{
    return n > 0 ? tl_baseline_median(values, n) : most;
}

/* Returns the work, ns, that a member which lost work counts with in a cell.  usual_ns: median of the others; below 0:
 * unknown. */
static int64_t bounded_ns(const bounding *g, const tl_work_class *class, size_t rank, size_t step, int64_t ns,
                          int64_t usual_ns)
{
    bool device = class->family != TL_FAMILY_HOST;
    if (class->family >= BOUNDED)
        return tl_ns_max(0, usual_ns);
    size_t at = cell_of(g, class->family, rank, step);
    int64_t own_ns = g->own_ns[at], may_be = hidden_ns_of(g, rank, step);
    if (!g->late[at] && usual_ns >= 0)
        return usual_ns;
    if (own_ns <= 0 || g->late[at] == device || may_be == NO_BOUND)
        return ns;
    return tl_portion(ns, device ? tl_ns_add(own_ns, may_be) : tl_ns_max(0, own_ns - may_be), own_ns);
}

/* Replaces, in the k-th step of a class, the work of members that lost some by the median of the others or by a
 * bound. */
static void replace_lost(const bounding *g, tl_work_class *class, size_t k)
{
    const tl_role_ranks *role = &g->b->roles[class->role];
    const uint32_t *members = g->b->members + role->first;
    size_t n = 0, step = class->steps.v[k];
    int64_t most_pieces = 0, most_amount = 0;
    for (size_t i = 0; i < role->n; i++) {
        size_t cell = i * class->steps.n + k;
        int64_t amount = class->amount != NULL ? class->amount[cell] : 0;
        most_pieces = tl_ns_max(most_pieces, class->pieces[cell]);
        most_amount = tl_ns_max(most_amount, amount);
        if (hidden_ns_of(g, members[i], step) >= 0)
            continue;
        g->ns[n] = class->ns[cell];
        g->amount[n] = amount;
        g->pieces[n++] = class->pieces[cell];
    }
    if (n == role->n)
        return;
    int64_t usual_ns = usual_of(g->ns, n, -1), pieces = usual_of(g->pieces, n, most_pieces),
            amount = usual_of(g->amount, n, most_amount);
    for (size_t i = 0; i < role->n; i++) {
        size_t cell = i * class->steps.n + k;
        if (hidden_ns_of(g, members[i], step) < 0)
            continue;
        bool late = class->family < BOUNDED && g->late[cell_of(g, class->family, members[i], step)];
        class->ns[cell] = bounded_ns(g, class, members[i], step, class->ns[cell], usual_ns);
        class->pieces[cell] = (uint32_t)tl_ns_max(late ? class->pieces[cell] : 0, pieces);
        if (class->amount != NULL)
            class->amount[cell] = tl_ns_max(late ? class->amount[cell] : 0, amount);
    }
}

void tl_baseline_leave_out(tl_baseline *b, const int32_t *ranks, const tl_table *health)
{
    size_t n = b->graph->nranks, cells = n * b->nsteps;
    bounding g = { .b = b };
    g.hidden_ns = tl_arena_take(&g.arena, cells, sizeof *g.hidden_ns);
    g.own_ns = tl_arena_zeroed(&g.arena, BOUNDED * cells, sizeof *g.own_ns);
    g.late = tl_arena_zeroed(&g.arena, BOUNDED * cells, sizeof *g.late);
    g.ns = tl_arena_take(&g.arena, n, sizeof *g.ns);
    g.pieces = tl_arena_take(&g.arena, n, sizeof *g.pieces);
    g.amount = tl_arena_take(&g.arena, n, sizeof *g.amount);
    if (find_hidden(&g, ranks, health)) {
        b->lost = tl_arena_zeroed(&b->arena, cells, sizeof *b->lost);
        for (size_t c = 0; c < g.b->nclasses; c++) {
            const tl_work_class *class = &g.b->classes[c];
            const tl_role_ranks *role = &g.b->roles[class->role];
            for (size_t i = 0; class->family < BOUNDED && i < role->n; i++)
                for (size_t k = 0; k < class->steps.n; k++)
                    g.own_ns[cell_of(&g, class->family, g.b->members[role->first + i], class->steps.v[k])] +=
                        class->ns[i * class->steps.n + k];
        }
        for (size_t q = 0; q < b->nroles; q++)
            for (size_t s = 0; s < b->nsteps; s++)
                find_late(&g, &b->roles[q], s);
        for (size_t c = 0; c < b->nclasses; c++)
            for (size_t k = 0; b->classes[c].family != TL_FAMILY_TRANSFER && k < b->classes[c].steps.n; k++)
                replace_lost(&g, &b->classes[c], k);
    }
    tl_arena_free(&g.arena);
}
