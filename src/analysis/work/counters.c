/* counters.c - how much waited in each stream, and how fast copies were, at each instant.
 *
 *     stream 7   queue length    1 2 3 2 1 0
 *     Memcpy HtoD                GB/s 0 23.4 0      all copies of the name on a device together
 */
#include "tlmpi/analysis/work.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/kind.h"
#include <stdlib.h>

static bool add_counter(tl_counters *c, const tl_kernel *of, uint32_t name, const tl_loads *loads)
{
    size_t first = c->points.n;
    if (!tl_series_add(&c->points, loads->v, loads->n))
        return false;
    if (c->points.n == first)
        return true;
    if (!tl_vec_room(&c->v))
        return false;
    c->v.v[c->v.n++] = (tl_counter){ of->device, of->stream, name, of->kind, first, c->points.n - first };
    return true;
}

/* The queue of each stream of one device. */
static bool add_queues(tl_counters *c, const tl_kernel *v, size_t n, tl_loads *loads)
{
    bool ok = true;
    for (size_t from = 0, to; ok && from < n; from = to) {
        for (to = from + 1; to < n && v[to].stream == v[from].stream; to++)
            ;
        loads->n = 0;
        ok = tl_queue_loads(v + from, to - from, loads) && add_counter(c, &v[from], TL_NO_NAME, loads);
    }
    return ok;
}

/* The copies of one device, by name. */
static bool add_copies(tl_counters *c, const tl_rank_view *view, const tl_kernel *v, size_t n, tl_loads *loads)
{
    tl_copy_order order = { 0 };
    bool ok = tl_copies_find(v, n, &order);
    for (size_t i = 0, same; ok && i < order.n; i += same) {
        const tl_kernel *first = &v[order.v[i]];
        same = tl_copies_of_name(v, order.v + i, order.n - i);
        loads->n = 0;
        ok = first->name == TL_NO_NAME ||
             (tl_copy_loads(view, v, order.v + i, same, loads) && add_counter(c, first, first->name, loads));
    }
    free(order.v);
    return ok;
}

bool tl_counters_find(tl_counters *c, const tl_rank_view *view)
{
    const tl_kernel *v = view->kernels;
    tl_loads loads = { 0 };
    bool ok = true;

    for (size_t from = 0, to; ok && from < view->nkernels; from = to) {
        for (to = from + 1; to < view->nkernels && v[to].device == v[from].device; to++)
            ;
        ok = add_queues(c, v + from, to - from, &loads) && add_copies(c, view, v + from, to - from, &loads);
    }
    free(loads.v);
    return ok;
}

void tl_counters_free(tl_counters *c)
{
    free(c->v.v);
    free(c->points.v);
    *c = (tl_counters){ 0 };
}

/* ----------------------------------------------------------------------------------------------------------- as rows */

static bool add_queue(const tl_rank_view *view, const tl_counters *all, const tl_counter *c, tl_table *table)
{
    for (size_t i = c->first; i < c->first + c->n; i++) {
        const tl_queue_series row = { .rank = view->rank,
                                      .device = c->device,
                                      .stream = c->stream,
                                      .time_ns = all->points.v[i].at_ns,
                                      .length = all->points.v[i].value };
        if (!tl_table_append(table, &row, 1))
            return false;
    }
    return true;
}

/* Copies in the order of their places, which table copy has given them. */
typedef struct placed {
    int32_t place;
    const tl_counter *counter;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return x->place != y->place ? TL_COMPARE(x->place, y->place) : TL_COMPARE(x->counter->device, y->counter->device);
}

static int32_t place_of(const tl_table *copies, const tl_counter *c)
{
    for (size_t i = 0; i < copies->n; i++) {
        const tl_copy_row *row = tl_table_row(copies, i);
        if (row->name == c->name && row->kind == c->kind)
            return row->place;
    }
    return -1;
}

static bool add_copies_of(const tl_rank_view *view, const tl_counters *all, const placed *p, tl_table *table)
{
    const tl_counter *c = p->counter;
    for (size_t i = c->first; i < c->first + c->n; i++) {
        const tl_copy_series row = { .rank = view->rank,
                                     .place = p->place,
                                     .device = c->device,
                                     .time_ns = all->points.v[i].at_ns,
                                     .gb_s = (double)all->points.v[i].value / 1e9,
                                     .kind = c->kind,
                                     .name = c->name };
        if (!tl_table_append(table, &row, 1))
            return false;
    }
    return true;
}

static bool add_rows(const tl_rank_view *view, const tl_counters *all, tl_tables *out)
{
    const tl_table *copies = tl_tables_get(out, &tl_copy_row_schema);
    placed *v = tl_malloc((all->v.n + 1) * sizeof *v);
    size_t n = 0;
    bool ok = v != NULL;

    for (size_t i = 0; ok && i < all->v.n; i++) {
        const tl_counter *c = &all->v.v[i];
        if (c->name == TL_NO_NAME)
            ok = add_queue(view, all, c, tl_tables_get(out, &tl_queue_series_schema));
        else
            v[n++] = (placed){ place_of(copies, c), c };
    }
    if (ok && n > 1)
        qsort(v, n, sizeof *v, by_place);
    for (size_t i = 0; ok && i < n; i++)
        ok = add_copies_of(view, all, &v[i], tl_tables_get(out, &tl_copy_series_schema));
    free(v);
    return ok;
}

static tl_status series_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out, tl_error *err)
{
    tl_counters all = { 0 };
    bool ok = !config->series || (tl_counters_find(&all, view) && add_rows(view, &all, out));

    tl_counters_free(&all);
    return ok ? TL_OK : tl_fail_memory(err, "what changes over time");
}

TL_TABLE_DEFINE_RARE(queue_series, TL_QUEUE_SERIES_FIELDS, TL_SCOPE_EVENT, "queues of streams over time",
                     "How much work waited in a stream at each instant?");

TL_TABLE_DEFINE_RARE(copy_series, TL_COPY_SERIES_FIELDS, TL_SCOPE_EVENT, "copies by name over time",
                     "How fast were copies at each instant?");

static const tl_schema *const tables[] = { &tl_queue_series_schema, &tl_copy_series_schema, NULL };

const tl_analysis tl_series_analysis = {
    .name = "series",
    .question = "How much waited in each stream, and how fast were copies, over time?",
    .tables = tables,
    .per_rank = series_per_rank,
};
