/* series.c - amounts over time: the queue length of each stream, and the bandwidth of copies, at each instant.
 *
 *     spans     [  2  ]..........
 *               ...[  1  ]..[ 3 ]
 *     series    2  3  1  0  3   0       a point where the sum changes; its value holds until the next point
 *
 *     stream 7   queue length    1 2 3 2 1 0
 *     Memcpy HtoD                GB/s 0 23.4 0      all copies of the name on a device together
 */
#include "internal.h"
#include <stdlib.h>

__extension__ typedef __int128 wide;

TL_ORDER_BY(by_from, tl_load, from_ns)
TL_ORDER_BY(by_to, tl_load, to_ns)

/* Appends a point at each instant at which a load begins or ends, unless the sum does not change. */
void tl_series_add(tl_series *out, const tl_load *v, size_t n)
{
    uint32_t *come = tl_sorted_index(n, by_from, v), *go = tl_sorted_index(n, by_to, v);
    int64_t before = 0;
    wide now = 0;

    tl_grow((void **)&out->v, &out->cap, out->n + 2 * n, sizeof *out->v);
    for (size_t i = 0, j = 0; j < n;) {
        int64_t at_ns = i < n && v[come[i]].from_ns < v[go[j]].to_ns ? v[come[i]].from_ns : v[go[j]].to_ns;
        while (j < n && v[go[j]].to_ns == at_ns)
            now -= v[go[j++]].weight;
        while (i < n && v[come[i]].from_ns == at_ns)
            now += v[come[i++]].weight;
        int64_t value = now > INT64_MAX ? INT64_MAX : (int64_t)now;
        if (value != before)
            out->v[out->n++] = (tl_point){ at_ns, value };
        before = value;
    }
    free(come);
    free(go);
}

int64_t tl_series_max(const tl_series *series)
{
    int64_t most = 0;
    TL_EACH (const tl_point, p, *series)
        most = tl_ns_max(most, p->value);
    return most;
}

int64_t tl_series_ns(const tl_series *series)
{
    int64_t ns = 0;
    for (size_t i = 1; i < series->n; i++)
        if (series->v[i - 1].value > 0)
            ns += series->v[i].at_ns - series->v[i - 1].at_ns;
    return ns;
}

/* --------------------------------------------------------------------------------------------------------- counters */

static void add_counter(tl_counters *c, const tl_kernel *of, uint32_t name, tl_loads *loads)
{
    size_t first = c->points.n;
    tl_series_add(&c->points, loads->v, loads->n);
    loads->n = 0;
    if (c->points.n > first)
        tl_vec_push(&c->v, (tl_counter){ of->device, of->stream, name, of->kind, first, c->points.n - first });
}

/* Lists the queues of each device's streams, then the device's copies by name. */
void tl_counters_find(tl_counters *c, const tl_rank_view *view)
{
    tl_loads loads = { 0 };

    for (size_t from = 0, to; from < view->nkernels; from = to) {
        const tl_kernel *v = view->kernels + from;
        size_t ncopies;
        to = tl_device_end(view, from);
        for (size_t at = from, end; at < to; at = end) {
            end = tl_stream_end(view, at);
            tl_queue_loads(view->kernels + at, end - at, &loads);
            add_counter(c, &view->kernels[at], TL_NO_NAME, &loads);
        }
        uint32_t *copies = tl_copies_find(v, to - from, &ncopies);
        TL_GROUPS (at, end, copies, ncopies, tl_copy_by_name, v) {
            if (v[copies[at]].name == TL_NO_NAME)
                continue;
            tl_copy_loads(view, v, copies + at, end - at, &loads);
            add_counter(c, &v[copies[at]], v[copies[at]].name, &loads);
        }
        free(copies);
    }
    free(loads.v);
}

void tl_counters_free(tl_counters *c)
{
    free(c->v.v);
    free(c->points.v);
    *c = (tl_counters){ 0 };
}

/* A counter, with the key of its rows. */
typedef struct placed {
    const tl_counter *counter;
    tl_series_of what;
    tl_text name;
} placed;

/* Order of the rows' keys. */
static int by_key(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->what != y->what || x->counter->device != y->counter->device)
        return TL_ORDER(x, y, what, counter->device);
    return x->what == TL_SERIES_QUEUE ? TL_ORDER(x, y, counter->stream) : tl_text_compare(x->name, y->name);
}

static void series_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_counters all = { 0 };
    TL_VEC(placed) v = { 0 };
    if (!config->series)
        return;
    tl_counters_find(&all, view);
    TL_EACH (const tl_counter, c, all.v) {
        tl_series_of what = c->name == TL_NO_NAME  ? TL_SERIES_QUEUE
                            : c->kind == TL_MEMCPY ? TL_SERIES_MEMCPY
                                                   : TL_SERIES_MEMSET;
        tl_vec_push(&v, (placed){ c, what, tl_names_text(view->names, c->name) });
    }
    tl_vec_sort(&v, by_key);
    TL_EACH (const placed, p, v) {
        const tl_counter *c = p->counter;
        for (const tl_point *at = all.points.v + c->first; at < all.points.v + c->first + c->n; at++) {
            const tl_series_row row = { .rank = view->rank,
                                        .what = (uint8_t)p->what,
                                        .device = c->device,
                                        .stream = p->what == TL_SERIES_QUEUE ? c->stream : -1,
                                        .name = c->name,
                                        .time_ns = at->at_ns,
                                        .value = (double)at->value / (p->what == TL_SERIES_QUEUE ? 1 : 1e9),
                                        .step = tl_step_at(view->steps, view->nsteps, at->at_ns),
                                        .operator= TL_NO_NAME,
                                        .annotation = TL_NO_NAME };
            tl_table_append(tl_tables_get(out, &tl_series_row_schema), &row, 1);
        }
    }
    free(v.v);
    tl_counters_free(&all);
}

const tl_analysis tl_series_analysis = { .per_rank = series_per_rank };
