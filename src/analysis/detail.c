/* detail.c - the names under which most of a rank's time went, step by step. */
#include "tlmpi/analysis/local.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

typedef struct gathering {
    const tl_rank_view *view;
    const tl_idle_span *idle;
    size_t nidle;
    int64_t *before;     /* [nidle]: idle time before each */
    int64_t *covered_to; /* by name: where the last span of that name on this thread ends */
    tl_map places;       /* (step, name, kind) -> index in rows */
    TL_VEC(tl_detail) rows;
} gathering;

static bool add(gathering *g, tl_detail_kind kind, int32_t step, uint32_t name, int64_t ns, uint32_t depth)
{
    name = tl_name_key(g->view, name);
    uint64_t key = tl_hash_mix(tl_hash_mix((uint64_t)kind, (uint64_t)(int64_t)step), name);
    uint32_t at = tl_map_get(&g->places, key);
    if (at == TL_MAP_NONE) {
        at = (uint32_t)g->rows.n;
        if (!tl_vec_room(&g->rows) || tl_map_put(&g->places, key, at) != 0)
            return false;
        g->rows.v[g->rows.n++] =
            (tl_detail){ .rank = g->view->rank, .step = step, .name = name, .kind = (uint8_t)kind };
    }
    tl_detail *row = &g->rows.v[at];
    row->ns += ns;
    row->count++;
    row->depth = depth > row->depth ? depth : row->depth;
    return true;
}

static bool add_work(gathering *g)
{
    for (size_t i = 0; i < g->view->nkernels; i++) {
        const tl_kernel *k = &g->view->kernels[i];
        if (k->kind != TL_COMM && k->name != TL_NO_NAME &&
            !add(g, TL_DETAIL_WORK, k->step, k->name, k->end_ns - k->start_ns, 0))
            return false;
    }
    return true;
}

/* Idle time of the host's doing before t. */
static int64_t idle_before(const gathering *g, int64_t t_ns)
{
    size_t low = 0, high = g->nidle;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (g->idle[mid].start_ns < t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return 0;
    const tl_idle_span *last = &g->idle[low - 1];
    int64_t part = (t_ns < last->end_ns ? t_ns : last->end_ns) - last->start_ns;
    return g->before[low - 1] + (last->part != TL_PART_DEVICE ? part : 0);
}

static bool sum_idle(gathering *g)
{
    int64_t sum = 0;
    g->before = tl_malloc((g->nidle + 1) * sizeof *g->before);
    for (size_t i = 0; g->before != NULL && i < g->nidle; i++) {
        g->before[i] = sum;
        sum += g->idle[i].part != TL_PART_DEVICE ? g->idle[i].end_ns - g->idle[i].start_ns : 0;
    }
    return g->before != NULL;
}

static bool add_thread(gathering *g, const tl_thread *thread)
{
    const tl_ops *ops = &g->view->ops;
    TL_VEC(int64_t) open = { 0 }; /* ends of the spans around this one */
    bool whole = true;

    for (size_t i = 0; i < g->view->names->n; i++)
        g->covered_to[i] = INT64_MIN;
    for (size_t i = thread->first; whole && i < thread->first + thread->n; i++) {
        int64_t start = ops->start_ns[i], end = start + ops->dur_ns[i];
        uint32_t name = ops->name[i];
        while (open.n > 0 && open.v[open.n - 1] <= start)
            open.n--;
        /* A name within the same name covers the same time. */
        if (name != TL_NO_NAME && start >= g->covered_to[name]) {
            int64_t idle = idle_before(g, end) - idle_before(g, start);
            g->covered_to[name] = end;
            if (idle > 0)
                whole = add(g, TL_DETAIL_HOST, tl_step_at(g->view->steps, g->view->nsteps, start), name, idle,
                            (uint32_t)open.n);
        }
        whole = whole && tl_vec_room(&open);
        if (whole)
            open.v[open.n++] = end;
    }
    free(open.v);
    return whole;
}

/* Threads that launch; what others do feeds no device. */
static bool add_host(gathering *g)
{
    tl_map launching = { 0 };
    g->covered_to = tl_malloc((g->view->names->n + 1) * sizeof *g->covered_to);
    bool whole = g->covered_to != NULL && sum_idle(g);
    for (size_t i = 0; whole && i < g->view->nlaunches; i++)
        whole = tl_map_put(&launching, g->view->launches[i].track, 1) == 0;
    for (size_t t = 0; whole && t < g->view->ops.nthreads; t++)
        if (tl_map_get(&launching, g->view->ops.threads[t].track) != TL_MAP_NONE)
            whole = add_thread(g, &g->view->ops.threads[t]);
    tl_map_free(&launching);
    free(g->covered_to);
    free(g->before);
    return whole;
}

/* By kind and step, most time first. */
static int by_time(const void *rows, uint32_t a, uint32_t b)
{
    const tl_detail *x = (const tl_detail *)rows + a, *y = (const tl_detail *)rows + b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static bool keep_most(gathering *g, tl_details *details)
{
    uint32_t *order = tl_malloc((g->rows.n + 1) * sizeof *order);
    bool whole = order != NULL;
    size_t kept = 0;

    for (size_t i = 0; whole && i < g->rows.n; i++)
        order[i] = (uint32_t)i;
    whole = whole && tl_sort_index(order, g->rows.n, by_time, g->rows.v);
    for (size_t i = 0; whole && i < g->rows.n; i++) {
        tl_detail row = g->rows.v[order[i]];
        const tl_detail *before = i > 0 ? &g->rows.v[order[i - 1]] : NULL;
        kept = before != NULL && before->kind == row.kind && before->step == row.step ? kept + 1 : 0;
        if (kept >= TL_DETAILS_MAX)
            continue;
        tl_text name = tl_names_text(g->view->names, row.name);
        row.name = tl_names_intern(&details->names, name.p, name.n);
        whole = row.name != TL_NO_NAME && tl_vec_room(&details->rows);
        if (whole)
            details->rows.v[details->rows.n++] = row;
    }
    free(order);
    return whole;
}

bool tl_details_collect(const tl_rank_view *view, const tl_idle_span *idle, size_t nidle, tl_details *details)
{
    gathering g = { .view = view, .idle = idle, .nidle = nidle };
    bool whole = add_work(&g) && add_host(&g) && keep_most(&g, details);
    tl_map_free(&g.places);
    free(g.rows.v);
    return whole;
}

void tl_details_free(tl_details *details)
{
    free(details->rows.v);
    tl_names_free(&details->names);
    *details = (tl_details){ 0 };
}
