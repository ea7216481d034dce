/* breakdown.c - where did the time of each rank go?
 *
 *     compute   ..[====]....[===========]......
 *     comm      .....[=======]....[==]..[==]...      [==] under compute: overlapped; the rest is exposed
 *     copy      [====]....................[==].      exposed where neither computes nor communicates
 *               |<----------- wall ---------->|
 *
 *     wall = compute + comm_exposed + copy_exposed + idle,   to the nanosecond
 *
 * A set of instants counts once, on however many streams.  A step's row looks through a window: device work is cut to the
 * step, and wall runs from the first start to the last end of what is left.
 */
#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>

enum { COMPUTE, COMM, COPY, NSETS };

/* One device of one rank. */
typedef struct device_work {
    tl_spans set[NSETS];
    TL_VEC(int64_t) empty;              /* instants of work of no length, ascending: they count for wall alone */
    int64_t first_ns, last_ns;          /* first start, last end; first > last without work */
} device_work;

/* Scratch that every window uses again. */
typedef struct scratch {
    tl_spans clipped[NSETS], exposed, either, exposed_copy;
} scratch;

static int set_of(uint8_t kind)
{
    return kind == TL_COMM ? COMM : kind == TL_COMPUTE ? COMPUTE : COPY;
}

static int by_start(const void *a, const void *b)
{
    const tl_span *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_instant(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void work_free(device_work *w)
{
    for (int s = 0; s < NSETS; s++)
        tl_spans_free(&w->set[s]);
    free(w->empty.v);
    *w = (device_work){ 0 };
}

/* The kernels of one device, which lie together: their spans by set, streams merged. */
static bool work_collect(device_work *w, const tl_kernel *kernels, size_t n)
{
    tl_span *spans = tl_malloc((n + 1) * sizeof *spans);
    bool whole = spans != NULL;

    *w = (device_work){ .first_ns = INT64_MAX, .last_ns = INT64_MIN };
    for (int s = 0; whole && s < NSETS; s++) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (set_of(kernels[i].kind) == s && kernels[i].end_ns > kernels[i].start_ns)
                spans[m++] = (tl_span){ kernels[i].start_ns, kernels[i].end_ns };
        qsort(spans, m, sizeof *spans, by_start);
        for (size_t i = 0; whole && i < m; i++)
            whole = tl_spans_add(&w->set[s], spans[i].start_ns, spans[i].end_ns);
    }
    for (size_t i = 0; whole && i < n; i++) {
        const tl_kernel *k = &kernels[i];
        w->first_ns = k->start_ns < w->first_ns ? k->start_ns : w->first_ns;
        w->last_ns = k->end_ns > w->last_ns ? k->end_ns : w->last_ns;
        if (k->end_ns > k->start_ns)
            continue;
        whole = tl_vec_room(&w->empty);
        if (whole)
            w->empty.v[w->empty.n++] = k->start_ns;
    }
    if (w->empty.n > 0)
        qsort(w->empty.v, w->empty.n, sizeof *w->empty.v, by_instant);
    free(spans);
    return whole;
}

/* Index of the first instant at or after at_ns. */
static size_t first_from(const device_work *w, int64_t at_ns)
{
    size_t low = 0, high = w->empty.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (w->empty.v[mid] < at_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The first start and last end of work in [from, to), cut to it. */
static void extent(const device_work *w, const scratch *c, int64_t from_ns, int64_t to_ns, int64_t *first, int64_t *last)
{
    size_t i = first_from(w, from_ns), j = first_from(w, to_ns);

    *first = i < j ? w->empty.v[i] : INT64_MAX;
    *last = i < j ? w->empty.v[j - 1] : INT64_MIN;
    for (int s = 0; s < NSETS; s++) {
        const tl_spans *set = &c->clipped[s];
        if (set->n == 0)
            continue;
        *first = set->v[0].start_ns < *first ? set->v[0].start_ns : *first;
        *last = set->v[set->n - 1].end_ns > *last ? set->v[set->n - 1].end_ns : *last;
    }
}

/* The definition: the measures of three sets and the time they lie in. */
static bool measure(const tl_spans *compute, const tl_spans *comm, const tl_spans *copy, int64_t wall_ns, scratch *c,
                    tl_breakdown *row)
{
    if (!tl_spans_subtract(&c->exposed, comm, compute) || !tl_spans_union(&c->either, compute, comm) ||
        !tl_spans_subtract(&c->exposed_copy, copy, &c->either))
        return false;
    row->wall_ns = wall_ns;
    row->compute_ns = tl_spans_total(compute);
    row->comm_ns = tl_spans_total(comm);
    row->comm_exposed_ns = tl_spans_total(&c->exposed);
    row->comm_overlapped_ns = row->comm_ns - row->comm_exposed_ns;
    row->copy_ns = tl_spans_total(copy);
    row->copy_exposed_ns = tl_spans_total(&c->exposed_copy);
    row->busy_ns = row->compute_ns + row->comm_exposed_ns + row->copy_exposed_ns;
    row->idle_ns = row->wall_ns - row->busy_ns;
    return true;
}

static bool measure_all(const device_work *w, scratch *c, tl_breakdown *row)
{
    return measure(&w->set[COMPUTE], &w->set[COMM], &w->set[COPY], w->first_ns <= w->last_ns ? w->last_ns - w->first_ns : 0,
                   c, row);
}

static bool measure_window(const device_work *w, int64_t from_ns, int64_t to_ns, scratch *c, tl_breakdown *row)
{
    int64_t first, last;
    for (int s = 0; s < NSETS; s++)
        if (!tl_spans_clip(&c->clipped[s], &w->set[s], from_ns, to_ns))
            return false;
    extent(w, c, from_ns, to_ns, &first, &last);
    return measure(&c->clipped[COMPUTE], &c->clipped[COMM], &c->clipped[COPY], first <= last ? last - first : 0, c, row);
}

static void add_to(tl_breakdown *sum, const tl_breakdown *row)
{
    sum->wall_ns += row->wall_ns;
    sum->busy_ns += row->busy_ns;
    sum->compute_ns += row->compute_ns;
    sum->comm_ns += row->comm_ns;
    sum->comm_overlapped_ns += row->comm_overlapped_ns;
    sum->comm_exposed_ns += row->comm_exposed_ns;
    sum->copy_ns += row->copy_ns;
    sum->copy_exposed_ns += row->copy_exposed_ns;
    sum->idle_ns += row->idle_ns;
}

/* The rows of one device are added to the rank's own (`sums`: the whole trace, then each step) and, where the rank has
 * several devices, stand in the table, too. */
static bool device_rows(const tl_rank_view *view, const device_work *w, int32_t device, bool several, scratch *c,
                        tl_breakdown *sums, tl_table *table)
{
    for (size_t i = 0; i <= view->nsteps; i++) {
        const tl_step_window *step = i > 0 ? &view->steps[i - 1] : NULL;
        tl_breakdown row = { .rank = view->rank, .device = device, .step = step != NULL ? step->number : -1 };
        bool whole = step != NULL ? measure_window(w, step->start_ns, step->end_ns, c, &row) : measure_all(w, c, &row);
        if (!whole || (several && !tl_table_append(table, &row, 1)))
            return false;
        add_to(&sums[i], &row);
    }
    return true;
}

static tl_status per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out, tl_error *err)
{
    (void)config;
    tl_table *table = tl_tables_get(out, &tl_breakdown_schema);
    tl_breakdown *sums = tl_calloc(view->nsteps + 1, sizeof *sums);
    scratch c = { 0 };
    bool whole = sums != NULL;
    const tl_kernel *k = view->kernels;
    bool several = view->nkernels > 0 && k[0].device != k[view->nkernels - 1].device;

    for (size_t i = 0; whole && i <= view->nsteps; i++) {
        sums[i].rank = view->rank;
        sums[i].device = -1;
        sums[i].step = i > 0 ? view->steps[i - 1].number : -1;
    }
    for (size_t from = 0, to; whole && from < view->nkernels; from = to) {
        device_work w;
        for (to = from; to < view->nkernels && k[to].device == k[from].device; to++)
            ;
        whole = work_collect(&w, k + from, to - from) && device_rows(view, &w, k[from].device, several, &c, sums, table);
        work_free(&w);
    }
    whole = whole && tl_table_append(table, sums, view->nsteps + 1) && tl_table_sort(table);
    for (int s = 0; s < NSETS; s++)
        tl_spans_free(&c.clipped[s]);
    tl_spans_free(&c.exposed);
    tl_spans_free(&c.either);
    tl_spans_free(&c.exposed_copy);
    free(sums);
    return whole ? TL_OK : tl_fail_memory(err, "the breakdown");
}

/* Rows of the whole job: for the whole trace and for each step the sum over ranks. */
static tl_status reduce(tl_tables *job, tl_error *err)
{
    tl_table *table = tl_tables_get(job, &tl_breakdown_schema);
    tl_table sums = { .schema = &tl_breakdown_schema };
    tl_map place = { 0 };
    bool whole = true;

    for (size_t i = 0; whole && i < table->n; i++) {
        const tl_breakdown *row = tl_table_row(table, i);
        if (row->device != -1)
            continue;
        uint32_t at = tl_map_get(&place, (uint64_t)(int64_t)row->step);
        if (at == TL_MAP_NONE) {
            tl_breakdown empty = { .rank = -1, .device = -1, .step = row->step };
            at = (uint32_t)sums.n;
            whole = tl_table_append(&sums, &empty, 1) && tl_map_put(&place, (uint64_t)(int64_t)row->step, at) == 0;
        }
        if (whole)
            add_to(tl_table_row(&sums, at), row);
    }
    whole = whole && tl_table_append(table, sums.rows, sums.n) && tl_table_sort(table);
    tl_table_free(&sums);
    tl_map_free(&place);
    return whole ? TL_OK : tl_fail_memory(err, "the breakdown of the job");
}

static const tl_schema *const tables[] = { &tl_breakdown_schema, NULL };

const tl_analysis tl_breakdown_analysis = {
    .name = "breakdown",
    .question = "Where did the time of each rank go?",
    .tables = tables,
    .per_rank = per_rank,
    .reduce = reduce,
};
