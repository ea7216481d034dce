/* stream_idle.c - how long was a stream idle, and the device with it?
 *
 *     stream 7     [====]....[====]......[====]
 *     stream 9     ......[=======]............
 *     device idle      ..            ....
 *
 * A stream that idles while another works is the normal case of communication under compute: not the device's idle
 * time.  What the stream itself waited for is told by the launch of its next work, which splits a gap in two:
 *
 *     host                     [launch b]
 *     stream 7     [    a    ].................[    b    ]
 *                             |host|  kernel   |            other, where that takes too long; unknown without a launch
 */
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include <math.h>
#include <stdlib.h>

/* The kernels of one stream lie together, by start. */
static bool spans_of(const tl_kernel *v, size_t n, tl_spans *out)
{
    out->n = 0;
    for (size_t i = 0; i < n; i++)
        if (!tl_spans_add(out, v[i].start_ns, v[i].end_ns))
            return false;
    return true;
}

/* All of one device. */
static bool spans_of_device(const tl_kernel *v, size_t n, tl_spans *out)
{
    uint32_t *index = tl_malloc((n + 1) * sizeof *index);
    bool ok = index != NULL;

    for (size_t i = 0; ok && i < n; i++)
        index[i] = (uint32_t)i;
    ok = ok && tl_sort_index(index, n, tl_kernel_by_start, v);
    for (size_t i = 0; ok && i < n; i++)
        ok = tl_spans_add(out, v[index[i]].start_ns, v[index[i]].end_ns);
    free(index);
    return ok;
}

typedef TL_VEC(int64_t) stretches;

typedef struct scratch {
    tl_spans stream, device, clipped, others;
    stretches gaps, waits[TL_NSTREAM_WAITS]; /* whole, and their parts */
} scratch;

/* One of no time is none. */
static bool add_wait(scratch *c, tl_stream_wait wait, int64_t ns)
{
    stretches *waits = &c->waits[wait];
    if (ns == 0)
        return true;
    if (!tl_vec_room(waits))
        return false;
    waits->v[waits->n++] = ns;
    return true;
}

/* The gap that ends where the work starts. */
static bool add_gap(scratch *c, const tl_config *config, int64_t from_ns, const tl_kernel *next)
{
    int64_t gap = next->start_ns - from_ns;
    if (!tl_vec_room(&c->gaps))
        return false;
    c->gaps.v[c->gaps.n++] = gap;
    if (next->launch_ns == TL_TIME_UNKNOWN)
        return add_wait(c, TL_STREAM_UNKNOWN, gap);
    int64_t launched = tl_ns_max(from_ns, tl_ns_min(next->launch_ns, next->start_ns));
    int64_t starting = next->start_ns - launched;
    return add_wait(c, TL_STREAM_HOST_WAIT, launched - from_ns) &&
           add_wait(c, starting <= config->idle.kernel_ns ? TL_STREAM_KERNEL_WAIT : TL_STREAM_OTHER, starting);
}

/* What the stream of the row waited for, a row for each sort; their sums. */
static bool add_waits(scratch *c, const tl_stream_idle *of, tl_table *table, int64_t sums_ns[TL_NSTREAM_WAITS])
{
    for (int wait = 0; wait < TL_NSTREAM_WAITS; wait++) {
        stretches *waits = &c->waits[wait];
        const tl_spread d = tl_spread_of(waits->v, waits->n);
        const tl_stream_gap row = { .rank = of->rank,
                                    .device = of->device,
                                    .stream = of->stream,
                                    .waited_for = (uint8_t)wait,
                                    .count = (int64_t)waits->n,
                                    .total_ns = d.total,
                                    .mean_ns = d.mean,
                                    .std_ns = d.std,
                                    .min_ns = d.min,
                                    .p25_ns = d.p25,
                                    .median_ns = d.median,
                                    .p75_ns = d.p75,
                                    .max_ns = d.max };
        sums_ns[wait] = d.total;
        if (waits->n > 0 && !tl_table_append(table, &row, 1))
            return false;
    }
    return true;
}

/* The gaps of a stream, whose kernels are by start. */
static bool add_gaps(scratch *c, const tl_config *config, const tl_kernel *v, size_t n, tl_stream_idle *row,
                     tl_table *table)
{
    int64_t end = v[0].end_ns, sums_ns[TL_NSTREAM_WAITS];
    c->gaps.n = 0;
    for (int wait = 0; wait < TL_NSTREAM_WAITS; wait++)
        c->waits[wait].n = 0;
    for (size_t i = 1; i < n; i++) {
        if (v[i].start_ns > end && !add_gap(c, config, end, &v[i]))
            return false;
        end = tl_ns_max(end, v[i].end_ns);
    }
    if (!add_waits(c, row, table, sums_ns))
        return false;
    row->host_wait_ns = sums_ns[TL_STREAM_HOST_WAIT];
    row->kernel_wait_ns = sums_ns[TL_STREAM_KERNEL_WAIT];
    row->other_ns = sums_ns[TL_STREAM_OTHER];
    row->unknown_ns = sums_ns[TL_STREAM_UNKNOWN];
    tl_spread gaps = tl_spread_of(c->gaps.v, c->gaps.n);
    row->gaps = (int64_t)c->gaps.n;
    row->longest_ns = gaps.max;
    row->p25_ns = c->gaps.n > 0 ? gaps.p25 : NAN;
    row->median_ns = c->gaps.n > 0 ? gaps.median : NAN;
    row->p75_ns = c->gaps.n > 0 ? gaps.p75 : NAN;
    return true;
}

static bool add_stream(const tl_rank_view *view, const tl_config *config, size_t from, size_t to, scratch *c,
                       tl_tables *out)
{
    const tl_kernel *v = view->kernels;
    int64_t last = v[from].end_ns;
    for (size_t i = from; i < to; i++)
        last = v[i].end_ns > last ? v[i].end_ns : last;
    /* What others do while the stream is between its first start and its last end. */
    if (!spans_of(v + from, to - from, &c->stream) || !tl_spans_clip(&c->clipped, &c->device, v[from].start_ns, last) ||
        !tl_spans_subtract(&c->others, &c->clipped, &c->stream))
        return false;
    tl_stream_idle *row = tl_table_add(tl_tables_get(out, &tl_stream_idle_schema));
    if (row == NULL)
        return false;
    row->rank = view->rank;
    row->device = v[from].device;
    row->stream = v[from].stream;
    row->intervals = (int64_t)(to - from);
    row->wall_ns = last - v[from].start_ns;
    row->busy_ns = tl_spans_total(&c->stream);
    row->idle_device_busy_ns = tl_spans_total(&c->others);
    row->idle_device_idle_ns = row->wall_ns - row->busy_ns - row->idle_device_busy_ns;
    return add_gaps(c, config, v + from, to - from, row, tl_tables_get(out, &tl_stream_gap_schema));
}

static tl_status stream_idle_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out, tl_error *err)
{
    const tl_kernel *v = view->kernels;
    scratch c = { 0 };
    bool ok = true;

    for (size_t from = 0, end; ok && from < view->nkernels; from = end) {
        for (end = from; end < view->nkernels && v[end].device == v[from].device; end++)
            ;
        c.device.n = 0;
        ok = spans_of_device(v + from, end - from, &c.device);
        for (size_t at = from, to; ok && at < end; at = to) {
            for (to = at; to < end && v[to].stream == v[at].stream; to++)
                ;
            ok = add_stream(view, config, at, to, &c, out);
        }
    }
    tl_spans_free(&c.stream);
    tl_spans_free(&c.device);
    tl_spans_free(&c.clipped);
    tl_spans_free(&c.others);
    free(c.gaps.v);
    for (int wait = 0; wait < TL_NSTREAM_WAITS; wait++)
        free(c.waits[wait].v);
    return ok ? TL_OK : tl_fail_memory(err, "the idle time of streams");
}

TL_TABLE_DEFINE(stream_idle, TL_STREAM_IDLE_FIELDS, TL_SCOPE_RANK, "idle streams",
                "How long was a stream idle, what did it wait for, and was the device idle with it?");

TL_TABLE_DEFINE(stream_gap, TL_STREAM_GAP_FIELDS, TL_SCOPE_RANK, "what idle streams waited for",
                "How long were the waits of a stream for the host, for a start, for something else?");

static const tl_schema *const tables[] = { &tl_stream_idle_schema, &tl_stream_gap_schema, NULL };

const tl_analysis tl_stream_idle_analysis = {
    .name = "stream_idle",
    .question = "How long was each stream idle, what did it wait for, and was the device idle with it?",
    .tables = tables,
    .per_rank = stream_idle_per_rank,
};
