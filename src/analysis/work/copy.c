/* copy.c - how fast were copies, by themselves and together?
 *
 *     stream 7    [ 4 GB/s ].........
 *     stream 9    .....[  2 GB/s  ]..
 *     together    4    6    2      0
 *
 * The bandwidth of a copy is what the trace says, where that fits its bytes and its duration: a duration in whole
 * microseconds may be far off, and the profiler knew the true one.  Else it is the bytes / the duration.  Where they add
 * up at instants, bandwidths are whole numbers of byte/s, so that their sums leave nothing behind.
 */
#include "places.h"
#include "tlmpi/analysis/work.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

/* NaN: it is not known. */
static double gb_per_s(const tl_rank_view *view, const tl_kernel *copy)
{
    int64_t ns = copy->end_ns - copy->start_ns, off = ns % 1000 == 0 ? 1000 : 1; /* off: error of ns, in ns */
    double bytes = (double)copy->bytes, said = copy->said != TL_NONE ? view->said_gb_per_s[copy->said] : NAN;

    if (copy->bytes <= 0 || ns <= 0)
        return NAN;
    bool fits = said * ((double)ns + (double)off) >= bytes && said * (double)tl_ns_max(ns - off, 1) <= bytes;
    return fits ? said : bytes / (double)ns;
}

int64_t tl_copy_bandwidth(const tl_rank_view *view, const tl_kernel *copy)
{
    double gb_s = gb_per_s(view, copy);
    if (isnan(gb_s))
        return -1;
    return gb_s < 9e9 ? tl_ns_max((int64_t)(gb_s * 1e9 + 0.5), 1) : INT64_MAX;
}

void tl_copy_loads(const tl_rank_view *view, const tl_kernel *v, const uint32_t *order, size_t n, tl_loads *out)
{
    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &v[order[i]];
        int64_t bandwidth = tl_copy_bandwidth(view, k);
        if (bandwidth < 0)
            continue;
        tl_vec_room(out);
        out->v[out->n++] = (tl_load){ k->start_ns, k->end_ns, bandwidth };
    }
}

static int by_name(const void *kernels, uint32_t a, uint32_t b)
{
    const tl_kernel *x = (const tl_kernel *)kernels + a, *y = (const tl_kernel *)kernels + b;
    if (x->name != y->name)
        return TL_COMPARE(x->name, y->name);
    return x->kind != y->kind ? TL_COMPARE(x->kind, y->kind) : tl_kernel_by_start_uid(kernels, a, b);
}

void tl_copies_find(const tl_kernel *v, size_t n, tl_copy_order *out)
{
    for (size_t i = 0; i < n; i++) {
        if (v[i].kind != TL_MEMCPY && v[i].kind != TL_MEMSET)
            continue;
        tl_vec_room(out);
        out->v[out->n++] = (uint32_t)i;
    }
    tl_sort_index(out->v, out->n, by_name, v);
}

size_t tl_copies_of_name(const tl_kernel *v, const uint32_t *order, size_t n)
{
    size_t same = 1;
    while (same < n && v[order[same]].name == v[order[0]].name && v[order[same]].kind == v[order[0]].kind)
        same++;
    return same;
}

typedef struct scratch {
    tl_spans spans;
    tl_loads loads;
    tl_series series;
} scratch;

/* The copies order[0, n), which are of one name. */
static void add_row(const tl_rank_view *view, const uint32_t *order, size_t n, scratch *c, tl_table *table)
{
    const tl_kernel *v = view->kernels;
    tl_copy_row *row = tl_table_add(table);

    row->rank = view->rank;
    row->kind = v[order[0]].kind;
    row->name = v[order[0]].name;
    row->count = (int64_t)n;
    c->spans.n = c->loads.n = c->series.n = 0;
    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &v[order[i]];
        row->total_ns = tl_ns_add(row->total_ns, k->end_ns - k->start_ns);
        row->bytes = tl_ns_add(row->bytes, tl_ns_max(k->bytes, 0));
        tl_spans_add(&c->spans, k->start_ns, k->end_ns);
    }
    tl_copy_loads(view, v, order, n, &c->loads);
    tl_series_add(&c->series, c->loads.v, c->loads.n);
    row->busy_ns = tl_spans_total(&c->spans);
    row->unknown = (int64_t)(n - c->loads.n);
    row->mean_gb_s = row->busy_gb_s = row->max_gb_s = NAN;
    if (c->loads.n == 0)
        return;
    double bytes = 0;
    int64_t ns = 0;
    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &v[order[i]];
        double gb_s = gb_per_s(view, k);
        if (isnan(gb_s))
            continue;
        bytes += gb_s * (double)(k->end_ns - k->start_ns);
        ns = tl_ns_add(ns, k->end_ns - k->start_ns);
    }
    row->mean_gb_s = bytes / (double)ns;
    row->busy_gb_s = bytes / (double)tl_series_ns(&c->series, 1);
    row->max_gb_s = (double)tl_series_max(&c->series) / 1e9;
}

static void copy_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    static const char *const measures[] = { "total_ns", NULL };
    tl_table *table = tl_tables_get(out, &tl_copy_row_schema);
    size_t first = table->n;
    tl_copy_order order = { 0 };
    scratch c = { 0 };
    tl_copies_find(view->kernels, view->nkernels, &order);

    (void)config;
    for (size_t i = 0, n; i < order.n; i += n) {
        n = tl_copies_of_name(view->kernels, order.v + i, order.n - i);
        add_row(view, order.v + i, n, &c, table);
    }
    tl_places_number(table, first, view->names, measures);
    free(order.v);
    tl_spans_free(&c.spans);
    free(c.loads.v);
    free(c.series.v);
}

TL_TABLE_DEFINE_AS(copy_row, "copy", TL_COPY_FIELDS, TL_SCOPE_RANK, "copies by name",
                   "How much do copies move, and how fast?");

static const tl_schema *const tables[] = { &tl_copy_row_schema, NULL };

const tl_analysis tl_copy_analysis = {
    .name = "copy",
    .question = "How much do copies move, and how fast?",
    .tables = tables,
    .per_rank = copy_per_rank,
};
