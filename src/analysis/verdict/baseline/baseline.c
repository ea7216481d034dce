/* baseline.c - the median work of a role in each step, and by how much a rank exceeds it. */
#include "internal.h"
#include "tlmpi/base/components.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------ roles */

/* Groups ranks that do the same work into roles. */

/* One rank in one group. */
typedef struct in_group {
    int32_t group;
    uint32_t rank;
    bool collective; /* takes part in other operations than sends and receives */
} in_group;

typedef struct finding {
    in_group *v;
    size_t n;
    uint8_t *talks;  /* by rank; the baseline's */
    uint32_t *loose; /* by rank: sends and receives with unknown partners */
    uint32_t *up;    /* by rank: union-find */
} finding;

TL_SORT_BY(by_group, in_group, group, rank)

/* Lists each rank once in each of its groups. */
static void list_in_group(finding *f, const int32_t *ranks, const tl_job_graph *g, const tl_late_row *rows,
                          size_t nrows)
{
    size_t kept = 0, nranks = g->nranks;
    for (size_t i = 0; i < nrows; i++) {
        const tl_late_row *row = &rows[i];
        size_t r = tl_index_of(ranks, nranks, row->rank);
        if (r == nranks)
            continue;
        f->loose[r] += row->doubt == TL_COMM_DOUBT_PARTNER;
        bool sends = tl_is_point_to_point((tl_collective)row->kind) || row->pair;
        if (row->peer >= 0 && row->peer != row->rank)
            f->talks[r] |= row->peer > row->rank ? TL_TALKS_UP : TL_TALKS_DOWN;
        if (row->group >= 0 && row->fits && tl_job_graph_has(g, r))
            f->v[f->n++] = (in_group){ row->group, (uint32_t)r, !sends };
    }
    tl_sort(f->v, f->n, sizeof *f->v, by_group);
    for (size_t i = 0; i < f->n; i++) {
        if (kept > 0 && f->v[kept - 1].group == f->v[i].group && f->v[kept - 1].rank == f->v[i].rank)
            f->v[kept - 1].collective = f->v[kept - 1].collective || f->v[i].collective;
        else
            f->v[kept++] = f->v[i];
    }
    f->n = kept;
}

/* Unites those of the ranks v[from, to) that exchange data with the same sides.  g not NULL: the group has all ranks,
 * and a rank most of whose transfers are sends and receives with unknown partners is left out: it may be a stage of its
 * own. */
static void unite_by_sides(finding *f, size_t from, size_t to, const tl_job_graph *g)
{
    for (int talks = 0; talks <= (TL_TALKS_UP | TL_TALKS_DOWN); talks++) {
        uint32_t first = TL_NONE;
        for (size_t i = from; i < to; i++) {
            uint32_t rank = f->v[i].rank;
            if (f->talks[rank] != talks || (g != NULL && 2 * (size_t)f->loose[rank] > g->ranks[rank].nports))
                continue;
            first = first == TL_NONE ? rank : tl_components_join(f->up, first, rank);
        }
    }
}

/* Unites the ranks of each group that has collectives, with `smaller` only of groups smaller than the job.  Returns
 * whether there is any such group. */
static bool unite_groups(finding *f, const tl_job_graph *g, bool smaller)
{
    size_t nranks = 0; /* a rank without a graph has no recorded work and is in no role with others */
    bool any = false;
    for (size_t r = 0; r < g->nranks; r++)
        nranks += tl_job_graph_has(g, r);
    for (size_t i = 0, to; i < f->n; i = to) {
        bool collective = false;
        for (to = i; to < f->n && f->v[to].group == f->v[i].group; to++)
            collective = collective || f->v[to].collective;
        if (!collective || to - i < 2 || (smaller && to - i == nranks))
            continue;
        any = true;
        unite_by_sides(f, i, to, smaller ? NULL : g);
    }
    return any;
}

/* Numbers roles in order of their lowest ranks. */
static void number_roles(finding *f, size_t nranks, tl_baseline *out)
{
    uint32_t at = 0;
    for (uint32_t r = 0; r < nranks; r++)
        if (tl_component_of(f->up, r) == r)
            out->role_of[r] = (uint32_t)out->nroles++;
    for (uint32_t r = 0; r < nranks; r++) {
        out->role_of[r] = out->role_of[tl_component_of(f->up, r)];
        out->index_in_role[r] = out->roles[out->role_of[r]].n++;
    }
    for (size_t q = 0; q < out->nroles; q++) {
        out->roles[q].first = at;
        at += out->roles[q].n;
    }
    for (uint32_t r = 0; r < nranks; r++)
        out->members[out->roles[out->role_of[r]].first + out->index_in_role[r]] = r;
}

/* Fills roles, members, role_of, index_in_role and talks of `out`. */
static void baseline_roles(const int32_t *ranks, const tl_late_row *rows, size_t nrows, tl_baseline *out)
{
    size_t nranks = out->graph->nranks;
    tl_arena arena = { 0 };
    out->talks = tl_arena_zeroed(&out->arena, nranks, sizeof *out->talks);
    finding f = { .v = tl_arena_take(&arena, nrows + nranks, sizeof *f.v),
                  .talks = out->talks,
                  .loose = tl_arena_zeroed(&arena, nranks, sizeof *f.loose),
                  .up = tl_arena_take(&arena, nranks, sizeof *f.up) };
    out->roles = tl_calloc(nranks + 1, sizeof *out->roles);
    out->members = tl_malloc((nranks + 1) * sizeof *out->members);
    out->role_of = tl_malloc((nranks + 1) * sizeof *out->role_of);
    out->index_in_role = tl_arena_take(&out->arena, nranks, sizeof *out->index_in_role);

    for (uint32_t r = 0; r < nranks; r++)
        f.up[r] = r;
    list_in_group(&f, ranks, out->graph, rows, nrows);
    out->by_sides = !unite_groups(&f, out->graph, true);
    if (out->by_sides && !unite_groups(&f, out->graph, false)) {
        const tl_job_graph *g = out->graph;
        f.n = 0;
        for (uint32_t r = 0; r < g->nranks; r++)
            if (tl_job_graph_has(g, r))
                f.v[f.n++] = (in_group){ 0, r, true };
        unite_by_sides(&f, 0, f.n, g);
    }
    number_roles(&f, nranks, out);
    tl_arena_free(&arena);
}

bool tl_steps_between(const tl_job_rank *rank, int32_t from, int32_t to, int32_t *low, int32_t *high)
{
    *low = TL_STEP_AFTER;
    *high = -1;
    for (size_t s = 0; s < rank->nsteps; s++) {
        int32_t step = rank->steps[s];
        if (!tl_step_is_numbered(step) || step < from || step > to)
            continue;
        *low = step < *low ? step : *low;
        *high = step > *high ? step : *high;
    }
    return *high >= 0;
}

size_t tl_consecutive_end(const int32_t *steps, size_t nsteps, size_t from)
{
    size_t to = from + 1;
    while (to < nsteps && steps[to - 1] >= 0 && steps[to] == steps[to - 1] + 1)
        to++;
    return to;
}

/* Cuts those of steps[from, to), consecutive numbers, that some rank with steps did not record in full. */
static void cut_ends(tl_baseline *out, size_t from, size_t to)
{
    const tl_job_graph *g = out->graph;
    int32_t first = -1, last = TL_STEP_AFTER, low, high;
    for (size_t r = 0; r < g->nranks; r++) {
        if (!tl_steps_between(&g->ranks[r], 0, TL_STEP_AFTER, &low, &high))
            continue;
        tl_steps_between(&g->ranks[r], out->steps[from], out->steps[to - 1], &low, &high);
        first = low > first ? low : first;
        last = high < last ? high : last;
    }
    for (size_t s = from; s < to; s++)
        out->cut[s] = out->steps[s] < first || out->steps[s] > last ||
                      tl_index_of(g->late.v, g->late.n, out->steps[s]) < g->late.n;
}

/* Cuts, in each run of consecutive step numbers, the steps before the latest begin and after the earliest end of a
 * rank, and all steps of the run if a rank has none of them: each window of the recording is such a run.  The time
 * before or after all steps is always cut.  If no rank has a numbered step, nothing is cut. */
static void find_cut(tl_baseline *out)
{
    const size_t n = out->nsteps;
    int32_t low, high;
    bool any = false;
    for (size_t r = 0; r < out->graph->nranks; r++) {
        if (!tl_steps_between(&out->graph->ranks[r], 0, TL_STEP_AFTER, &low, &high))
            continue;
        any = true;
        out->edge[tl_step_index(out->steps, n, low)] = true;
        out->edge[tl_step_index(out->steps, n, high)] = true;
    }
    for (size_t from = 0, to; any && from < n; from = to) {
        to = from + 1;
        out->cut[from] = true;
        if (!tl_step_is_numbered(out->steps[from]))
            continue;
        to = tl_consecutive_end(out->steps, n, from);
        cut_ends(out, from, to);
    }
    for (size_t s = 0; s < n; s++) {
        bool beside = (s > 0 && out->cut[s - 1] && tl_step_is_numbered(out->steps[s - 1])) ||
                      (s + 1 < n && out->cut[s + 1] && tl_step_is_numbered(out->steps[s + 1]));
        out->left_out[s] = out->cut[s] && (tl_step_is_numbered(out->steps[s]) || beside);
    }
}

/* Lists the steps of all ranks' nodes. */
static void find_steps(tl_baseline *out)
{
    size_t n = 0, at = 0;
    for (size_t r = 0; r < out->graph->nranks; r++)
        n += out->graph->ranks[r].nsteps;
    out->steps = tl_arena_take(&out->arena, n, sizeof *out->steps);
    for (size_t r = 0; r < out->graph->nranks; r++)
        for (size_t s = 0; s < out->graph->ranks[r].nsteps; s++)
            out->steps[at++] = out->graph->ranks[r].steps[s];
    out->nsteps = tl_int_unique(out->steps, n);
    out->cut = tl_arena_zeroed(&out->arena, out->nsteps, sizeof *out->cut);
    out->left_out = tl_arena_zeroed(&out->arena, out->nsteps, sizeof *out->left_out);
    out->edge = tl_arena_zeroed(&out->arena, out->nsteps, sizeof *out->edge);
    find_cut(out);
}

void tl_baseline_make(const tl_job_graph *graph, const tl_asker *asker, const int32_t *ranks, const tl_late_row *rows,
                      size_t nrows, tl_baseline *out)
{
    *out = (tl_baseline){ .graph = graph, .asker = asker };
    baseline_roles(ranks, rows, nrows, out);
    find_steps(out);
    tl_baseline_cells(out);
    tl_baseline_host_pieces(out);
    tl_baseline_own(out);
}

void tl_baseline_free(tl_baseline *b)
{
    tl_arena_free(&b->arena);
    free(b->roles);
    free(b->members);
    free(b->role_of);
    for (size_t c = 0; c < b->nclasses; c++)
        free(b->classes[c].steps.v);
    free(b->classes);
    tl_map_free(&b->class_of);
    free(b->links);
    free(b->link_members);
    *b = (tl_baseline){ 0 };
}

int64_t tl_baseline_median(int64_t *values, size_t n)
{
    return tl_lower_median(values, n);
}

int64_t tl_baseline_of(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on, int64_t *own_ns,
                       int64_t *scratch)
{
    size_t n = b->roles[class->role].n;
    if (class->family == TL_FAMILY_TRANSFER)
        return tl_baseline_of_link(b, class, member, on, own_ns, scratch);
    if (n == 1)
        return tl_baseline_of_own(b, class, member, on, own_ns, scratch);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = 0;
        for (size_t k = 0; k < class->steps.n; k++)
            scratch[i] += on[class->steps.v[k]] ? class->ns[i * class->steps.n + k] : 0;
    }
    *own_ns = scratch[member];
    return tl_baseline_median(scratch, n);
}

int64_t tl_additional(int64_t ns, int64_t amount, int64_t baseline_ns, int64_t baseline_amount)
{
    if (amount >= baseline_amount)
        return amount > 0 ? tl_portion(ns, amount - baseline_amount, amount) : 0;
    return -tl_portion(baseline_ns, baseline_amount - amount, baseline_amount);
}

/* Returns the time, ns, of an additional amount of work, at the peers' rate at most: time beyond that rate is
 * slowness. */
static int64_t additional_amount(int64_t ns, int64_t amount, int64_t baseline_ns, int64_t baseline_amount)
{
    int64_t additional = tl_additional(ns, amount, baseline_ns, baseline_amount);
    if (amount <= baseline_amount || baseline_amount <= 0)
        return additional;
    return tl_ns_min(additional, tl_portion(baseline_ns, amount - baseline_amount, baseline_amount));
}

int64_t tl_baseline_of_amount(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                              int64_t *own_ns, int64_t *scratch)
{
    int64_t amount, baseline_ns = tl_baseline_of(b, class, member, on, own_ns, scratch);
    tl_work_class amounts = *class;
    amounts.ns = class->amount;
    if (b->roles[class->role].n < 2)
        return baseline_ns;
    int64_t baseline_amount = tl_baseline_of(b, &amounts, member, on, &amount, scratch);
    return baseline_ns + additional_amount(*own_ns, amount, baseline_ns, baseline_amount);
}

/* The baseline of n values of a step: the median; for two members, the other one, so that noise has both signs. */
typedef struct step_baseline {
    int64_t pair, median;
    size_t n;
} step_baseline;

static step_baseline step_baseline_of(int64_t *values, size_t n)
{
    int64_t pair = n == 2 ? values[0] + values[1] : 0;
    return (step_baseline){ pair, tl_baseline_median(values, n), n };
}

/* Returns the baseline of the class's k-th step from of[n members * steps]. */
static step_baseline baseline_of_step(const tl_work_class *class, const int64_t *of, size_t n, size_t k,
                                      int64_t *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = of[i * class->steps.n + k];
    return step_baseline_of(scratch, n);
}

static int64_t peer_baseline(const step_baseline *u, int64_t own)
{
    return u->n == 2 ? u->pair - own : u->median;
}

/* Adds the k-th step of a class to late_ns.  ADDITIONAL and WAIT: the time of pieces that peers do not have. */
static void add_step(const tl_work_class *class, size_t n, size_t nsteps, size_t k, tl_family family, double *late_ns,
                     int64_t *scratch)
{
    const step_baseline ns = baseline_of_step(class, class->ns, n, k, scratch),
                        amount = class->amount != NULL ? baseline_of_step(class, class->amount, n, k, scratch) : ns;
    const bool counts = family == TL_FAMILY_ADDITIONAL || family == TL_FAMILY_WAIT;
    for (size_t i = 0; i < n; i++) {
        size_t cell = i * class->steps.n + k, at = i * nsteps + class->steps.v[k];
        int64_t own = class->ns[cell], baseline_ns = peer_baseline(&ns, own), late = own - baseline_ns, additional = 0;
        if (class->amount != NULL)
            additional =
                additional_amount(own, class->amount[cell], baseline_ns, peer_baseline(&amount, class->amount[cell]));
        late_ns[at] += (double)(counts ? additional : late - additional);
    }
}

void tl_excess(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch)
{
    size_t n = b->roles[class->role].n, nsteps = class->steps.n;
    if (class->family == TL_FAMILY_TRANSFER) {
        tl_excess_of_links(b, class, late_ns, scratch);
        return;
    }
    for (size_t k = 0; k < nsteps; k++) {
        step_baseline ns = baseline_of_step(class, class->ns, n, k, scratch);
        for (size_t i = 0; i < n; i++)
            late_ns[i * nsteps + k] = n > 1 ? (double)(class->ns[i * nsteps + k] - ns.median) : 0;
    }
}

void tl_lateness(const tl_baseline *b, uint32_t role, tl_family family, double *late_ns, int64_t *scratch)
{
    tl_family of = family == TL_FAMILY_ADDITIONAL ? TL_FAMILY_DEVICE : family;
    size_t n = b->roles[role].n;

    for (size_t i = 0; i < n * b->nsteps; i++)
        late_ns[i] = 0;
    if (n == 1 && family <= TL_FAMILY_HOST)
        tl_lateness_of_own(b, role, family, late_ns, scratch);
    for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next) {
        const tl_work_class *class = &b->classes[c];
        if (class->family != of)
            continue;
        if (family == TL_FAMILY_TRANSFER)
            tl_lateness_of_links(b, class, late_ns, scratch);
        else if (n > 1)
            for (size_t k = 0; k < class->steps.n; k++)
                add_step(class, n, b->nsteps, k, family, late_ns, scratch);
    }
    for (size_t s = 0; n > 2 && s < b->nsteps; s++) { /* medians of skewed summands do not add up */
        for (size_t i = 0; i < n; i++)
            scratch[i] = (int64_t)late_ns[i * b->nsteps + s];
        int64_t middle = tl_median(scratch, n);
        for (size_t i = 0; i < n; i++)
            late_ns[i * b->nsteps + s] -= (double)middle;
    }
}
