/* queue.c - how much work had been launched on a stream and not yet started?
 *
 *     host      [a][b][c]....................
 *     stream    ....[  a  ][    b    ][c]....
 *     queue     1  2 1 2    1          0         from the start of a launch to the start of its work
 */
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

void tl_queue_loads(const tl_kernel *v, size_t n, tl_loads *out)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].launch_ns != TL_TIME_UNKNOWN && v[i].launch_ns < v[i].start_ns)
            tl_vec_push(out, (tl_load){ v[i].launch_ns, v[i].start_ns, 1 });
}

typedef struct scratch {
    tl_loads loads;
    tl_series series;
    TL_VEC(int64_t) ns; /* by queue length: time with that length */
} scratch;

/* Returns the smallest length that the queue does not exceed for part / 100 of the time. */
static int64_t quantile(const scratch *c, int64_t wall_ns, int64_t part)
{
    int64_t sum = 0, need = tl_portion(wall_ns, part, 100);
    size_t length = 0;

    while (length < c->ns.n && (sum = tl_ns_add(sum, c->ns.v[length])) < need)
        length++;
    return (int64_t)(length < c->ns.n ? length : c->ns.n - 1);
}

/* Fills the columns that follow from the time of each length.  full: smallest length that counts as full. */
static void find_lengths(scratch *c, int64_t full, tl_queue_row *row)
{
    size_t n = (size_t)row->max_length + 1;
    wide sum = 0; /* of length * time */

    tl_grow((void **)&c->ns.v, &c->ns.cap, n, sizeof *c->ns.v);
    c->ns.n = n;
    memset(c->ns.v, 0, n * sizeof *c->ns.v);
    for (size_t i = 1; i < c->series.n; i++)
        if (c->series.v[i - 1].value > 0)
            c->ns.v[c->series.v[i - 1].value] += c->series.v[i].at_ns - c->series.v[i - 1].at_ns;
    c->ns.v[0] = row->wall_ns;
    for (size_t length = 1; length < n; length++) {
        c->ns.v[0] -= c->ns.v[length];
        sum += (wide)c->ns.v[length] * (int64_t)length;
    }
    for (size_t length = full > 0 ? (size_t)full : 0; length < n; length++)
        row->full_ns += c->ns.v[length];
    row->empty_ns = c->ns.v[0];
    row->mean_length = (double)sum / (row->wall_ns > 0 ? (double)row->wall_ns : NAN);
    row->median_length = quantile(c, row->wall_ns, 50);
    row->p95_length = quantile(c, row->wall_ns, 95);
}

static void add_row(const tl_rank_view *view, const tl_kernel *v, size_t n, int64_t full, scratch *c, tl_table *table)
{
    tl_queue_row *row = tl_table_add(table);

    c->loads.n = c->series.n = 0;
    tl_queue_loads(v, n, &c->loads);
    tl_series_add(&c->series, c->loads.v, c->loads.n);
    row->rank = view->rank;
    row->device = v->device;
    row->stream = v->stream;
    row->kernels = (int64_t)n;
    /* begin and end of the stream */
    int64_t from = v[0].start_ns, to = v[0].end_ns, seams_ns = 0;

    for (size_t i = 0; i < n; i++) {
        bool launched = v[i].launch_ns != TL_TIME_UNKNOWN;
        int64_t begin_ns = launched ? tl_ns_min(v[i].launch_ns, v[i].start_ns) : v[i].start_ns;
        if (i > 0 && begin_ns > to && tl_is_seam(view, to, begin_ns))
            seams_ns += begin_ns - to;
        from = launched ? tl_ns_min(from, v[i].launch_ns) : from;
        to = tl_ns_max(to, v[i].end_ns);
    }
    row->wall_ns = tl_ns_between(to, from) - seams_ns;
    row->max_length = tl_series_max(&c->series);
    find_lengths(c, full, row);
}

static void queue_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_queue_row_schema);
    scratch c = { 0 };

    for (size_t from = 0, to; from < view->nkernels; from = to) {
        to = tl_stream_end(view, from);
        add_row(view, view->kernels + from, to - from, config->launch.full, &c, table);
    }
    free(c.loads.v);
    free(c.series.v);
    free(c.ns.v);
}

TL_TABLE_DEFINE_AS(queue_row, "queue", TL_QUEUE_FIELDS, TL_SCOPE_RANK, "queues of streams",
                   "How much work had been launched on a stream and not yet started?");

const tl_analysis tl_queue_analysis = { .per_rank = queue_per_rank };
