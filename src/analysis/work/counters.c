/* counters.c - how much waited in each stream, and how fast copies were, at each instant.
 *
 *     stream 7   queue length    1 2 3 2 1 0
 *     Memcpy HtoD                GB/s 0 23.4 0      all copies of the name on a device together
 */
#include "tlmpi/analysis/work.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/kind.h"
#include <stdlib.h>

static void add_counter(tl_counters *c, const tl_kernel *of, uint32_t name, const tl_loads *loads)
{
    size_t first = c->points.n;
    tl_series_add(&c->points, loads->v, loads->n);
    if (c->points.n > first)
        tl_vec_push(&c->v, (tl_counter){ of->device, of->stream, name, of->kind, first, c->points.n - first });
}

/* The queue of each stream of one device. */
static void add_queues(tl_counters *c, const tl_kernel *v, size_t n, tl_loads *loads)
{
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && v[to].stream == v[from].stream; to++)
            ;
        loads->n = 0;
        tl_queue_loads(v + from, to - from, loads);
        add_counter(c, &v[from], TL_NO_NAME, loads);
    }
}

/* The copies of one device, by name. */
static void add_copies(tl_counters *c, const tl_rank_view *view, const tl_kernel *v, size_t n, tl_loads *loads)
{
    tl_copy_order order = { 0 };
    tl_copies_find(v, n, &order);
    for (size_t i = 0, same; i < order.n; i += same) {
        const tl_kernel *first = &v[order.v[i]];
        same = tl_copies_of_name(v, order.v + i, order.n - i);
        if (first->name == TL_NO_NAME)
            continue;
        loads->n = 0;
        tl_copy_loads(view, v, order.v + i, same, loads);
        add_counter(c, first, first->name, loads);
    }
    free(order.v);
}

void tl_counters_find(tl_counters *c, const tl_rank_view *view)
{
    const tl_kernel *v = view->kernels;
    tl_loads loads = { 0 };

    for (size_t from = 0, to; from < view->nkernels; from = to) {
        for (to = from + 1; to < view->nkernels && v[to].device == v[from].device; to++)
            ;
        add_queues(c, v + from, to - from, &loads);
        add_copies(c, view, v + from, to - from, &loads);
    }
    free(loads.v);
}

void tl_counters_free(tl_counters *c)
{
    free(c->v.v);
    free(c->points.v);
    *c = (tl_counters){ 0 };
}

/* ----------------------------------------------------------------------------------------------------------- as rows */

/* A counter, and what its rows are of. */
typedef struct placed {
    const tl_counter *counter;
    tl_series_of what;
    tl_text name;
} placed;

/* By the key of the series that each belongs to. */
static int by_key(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->what != y->what)
        return TL_COMPARE(x->what, y->what);
    if (x->counter->device != y->counter->device)
        return TL_COMPARE(x->counter->device, y->counter->device);
    return x->what == TL_SERIES_QUEUE ? TL_COMPARE(x->counter->stream, y->counter->stream)
                                      : tl_text_compare(x->name, y->name);
}

static void add_points(const tl_rank_view *view, const tl_counters *all, const placed *p, tl_table *table)
{
    const tl_counter *c = p->counter;
    const double unit = p->what == TL_SERIES_QUEUE ? 1 : 1e9;

    for (size_t i = c->first; i < c->first + c->n; i++) {
        const tl_point *at = &all->points.v[i];
        const tl_series_row row = { .rank = view->rank,
                                    .what = (uint8_t)p->what,
                                    .device = c->device,
                                    .stream = p->what == TL_SERIES_QUEUE ? c->stream : -1,
                                    .name = c->name,
                                    .time_ns = at->at_ns,
                                    .value = (double)at->value / unit,
                                    .step = tl_step_at(view->steps, view->nsteps, at->at_ns),
                                    .operator= TL_NO_NAME,
                                    .annotation = TL_NO_NAME };
        tl_table_append(table, &row, 1);
    }
}

static void series_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_counters all = { 0 };
    if (!config->series)
        return;
    tl_counters_find(&all, view);
    placed *v = tl_malloc((all.v.n + 1) * sizeof *v);
    for (size_t i = 0; i < all.v.n; i++) {
        const tl_counter *c = &all.v.v[i];
        v[i] = (placed){ c,
                         c->name == TL_NO_NAME     ? TL_SERIES_QUEUE
                         : c->kind == TL_MEMCPY ? TL_SERIES_MEMCPY
                                                   : TL_SERIES_MEMSET,
                         tl_names_text(view->names, c->name) };
    }
    if (all.v.n > 1)
        qsort(v, all.v.n, sizeof *v, by_key);
    for (size_t i = 0; i < all.v.n; i++)
        add_points(view, &all, &v[i], tl_tables_get(out, &tl_series_row_schema));
    free(v);
    tl_counters_free(&all);
}

static const tl_schema *const tables[] = { &tl_series_row_schema, NULL };

const tl_analysis tl_series_analysis = {
    .name = "series",
    .question = "How much waited in each stream, and how fast were copies, over time?",
    .tables = tables,
    .per_rank = series_per_rank,
};
