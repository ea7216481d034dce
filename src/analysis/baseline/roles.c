/* roles.c - groups ranks that do the same work into roles. */
#include "internal.h"
#include "tlmpi/base/components.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

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

void tl_baseline_roles(const int32_t *ranks, const tl_late_row *rows, size_t nrows, tl_baseline *out)
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
