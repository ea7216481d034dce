/* stream_idle.c - how long was a stream idle, and the device with it?
 *
 *     stream 7     [====]....[====]......[====]
 *     stream 9     ......[=======]............
 *     device idle      ..            ....
 *
 * A stream that idles while another works is the normal case of communication under compute: not the device's idle
 * time.
 */
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/model/idle_tables.h"
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

typedef struct scratch {
    tl_spans stream, device, clipped, others;
} scratch;

static bool add_stream(const tl_rank_view *view, size_t from, size_t to, scratch *c, tl_table *table)
{
    const tl_kernel *v = view->kernels;
    int64_t last = v[from].end_ns;
    for (size_t i = from; i < to; i++)
        last = v[i].end_ns > last ? v[i].end_ns : last;
    /* What others do while the stream is between its first start and its last end. */
    if (!spans_of(v + from, to - from, &c->stream) || !tl_spans_clip(&c->clipped, &c->device, v[from].start_ns, last) ||
        !tl_spans_subtract(&c->others, &c->clipped, &c->stream))
        return false;
    tl_stream_idle *row = tl_table_add(table);
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
    for (size_t i = 1; i < c->stream.n; i++) {
        int64_t gap = c->stream.v[i].start_ns - c->stream.v[i - 1].end_ns;
        row->gaps++;
        row->longest_ns = gap > row->longest_ns ? gap : row->longest_ns;
    }
    return true;
}

static tl_status stream_idle_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out, tl_error *err)
{
    tl_table *table = tl_tables_get(out, &tl_stream_idle_schema);
    const tl_kernel *v = view->kernels;
    scratch c = { 0 };
    bool ok = true;

    (void)config;
    for (size_t from = 0, end; ok && from < view->nkernels; from = end) {
        for (end = from; end < view->nkernels && v[end].device == v[from].device; end++)
            ;
        c.device.n = 0;
        ok = spans_of_device(v + from, end - from, &c.device);
        for (size_t at = from, to; ok && at < end; at = to) {
            for (to = at; to < end && v[to].stream == v[at].stream; to++)
                ;
            ok = add_stream(view, at, to, &c, table);
        }
    }
    tl_spans_free(&c.stream);
    tl_spans_free(&c.device);
    tl_spans_free(&c.clipped);
    tl_spans_free(&c.others);
    return ok ? TL_OK : tl_fail_memory(err, "the idle time of streams");
}

TL_TABLE_DEFINE(stream_idle, TL_STREAM_IDLE_FIELDS, TL_SCOPE_RANK, "idle streams",
                "How long was a stream idle, and was the device idle with it?");

static const tl_schema *const tables[] = { &tl_stream_idle_schema, NULL };

const tl_analysis tl_stream_idle_analysis = {
    .name = "stream_idle",
    .question = "How long was each stream idle, and was the device idle with it?",
    .tables = tables,
    .per_rank = stream_idle_per_rank,
};
