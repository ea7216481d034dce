/* copy.c - the bandwidth of copies, one by one and together.
 *
 *     stream 7    [ 4 GB/s ].........
 *     stream 9    .....[  2 GB/s  ]..
 *     together    4    6    2      0
 *
 * The bandwidth of a copy is the one in the trace if it fits the copy's bytes and duration (a duration in whole
 * microseconds may be inaccurate, while the profiler knew the exact one); else bytes / duration.  Bandwidths that are
 * added up at instants are whole numbers of byte/s, so that sums return to exactly 0.
 */
#include "internal.h"
#include "tlmpi/base/span.h"
#include <math.h>
#include <stdlib.h>

/* Returns the bandwidth of a copy in GB/s; NaN: unknown. */
static double gb_per_s(const tl_rank_view *view, const tl_kernel *copy)
{
    int64_t ns = copy->end_ns - copy->start_ns, off = ns % 1000 == 0 ? 1000 : 1; /* off: possible error of ns, ns */
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
        if (bandwidth >= 0)
            tl_vec_push(out, (tl_load){ k->start_ns, k->end_ns, bandwidth });
    }
}

int tl_copy_by_name(const void *kernels, uint32_t a, uint32_t b)
{
    const tl_kernel *v = kernels;
    return TL_ORDER(&v[a], &v[b], name, kind);
}

TL_ORDER_BY(by_name_and_start, tl_kernel, name, kind, start_ns, uid)

uint32_t *tl_copies_find(const tl_kernel *v, size_t n, size_t *ncopies)
{
    TL_VEC(uint32_t) found = { 0 };
    for (uint32_t i = 0; i < n; i++)
        if (v[i].kind == TL_MEMCPY || v[i].kind == TL_MEMSET)
            tl_vec_push(&found, i);
    tl_sort_index(found.v, found.n, by_name_and_start, v);
    *ncopies = found.n;
    return found.v;
}

typedef struct scratch {
    tl_spans spans;
    tl_loads loads;
    tl_series series;
} scratch;

/* Adds the row of the n copies of one name. */
static void add_row(const tl_rank_view *view, const uint32_t *order, size_t n, scratch *c, tl_table *table)
{
    const tl_kernel *v = view->kernels;
    tl_copy_row *row = tl_table_add(table);
    double bytes = 0;
    int64_t known_ns = 0;

    row->rank = view->rank;
    row->kind = v[order[0]].kind;
    row->name = v[order[0]].name;
    row->count = (int64_t)n;
    c->spans.n = c->loads.n = c->series.n = 0;
    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &v[order[i]];
        int64_t ns = k->end_ns - k->start_ns;
        double gb_s = gb_per_s(view, k);
        row->total_ns = tl_ns_add(row->total_ns, ns);
        row->bytes = tl_ns_add(row->bytes, tl_ns_max(k->bytes, 0));
        tl_spans_add(&c->spans, k->start_ns, k->end_ns);
        bytes += isnan(gb_s) ? 0 : gb_s * (double)ns;
        known_ns = tl_ns_add(known_ns, isnan(gb_s) ? 0 : ns);
    }
    tl_copy_loads(view, v, order, n, &c->loads);
    tl_series_add(&c->series, c->loads.v, c->loads.n);
    row->busy_ns = tl_spans_total(&c->spans);
    row->unknown = (int64_t)(n - c->loads.n);
    row->mean_gb_s = row->busy_gb_s = row->max_gb_s = NAN;
    if (c->loads.n == 0)
        return;
    row->mean_gb_s = bytes / (double)known_ns;
    row->busy_gb_s = bytes / (double)tl_series_ns(&c->series);
    row->max_gb_s = (double)tl_series_max(&c->series) / 1e9;
}

static void copy_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_copy_row_schema);
    size_t first = table->n, n;
    uint32_t *order = tl_copies_find(view->kernels, view->nkernels, &n);
    scratch c = { 0 };
    (void)config;

    TL_GROUPS (from, to, order, n, tl_copy_by_name, view->kernels)
        add_row(view, order + from, to - from, &c, table);
    tl_rows_sort_and_number(table, first, view->names, "total_ns", NULL);
    free(order);
    tl_spans_free(&c.spans);
    free(c.loads.v);
    free(c.series.v);
}

TL_TABLE_DEFINE_AS(copy_row, "copy", TL_COPY_FIELDS, TL_SCOPE_RANK, "copies by name",
                   "How much do copies move, and how fast?");

const tl_analysis tl_copy_analysis = { .per_rank = copy_per_rank };
