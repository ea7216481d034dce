/* stream_idle.c - how long was a stream idle, and what did it wait for?
 *
 * A stream that is idle while another stream works is normal for communication under compute, and is not idle time of
 * the device.  The launch of a stream's next work divides a gap of the stream in two:
 *
 *     host                     [launch b]
 *     stream 7     [    a    ].................[    b    ]
 *                             |host|  kernel   |            kernel: "other" if too long; unknown without a launch
 */
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include <math.h>
#include <stdlib.h>

typedef struct scratch {
    TL_VEC(int64_t) waits[TL_NSTREAM_WAITS]; /* by wait: lengths of whole gaps (TL_STREAM_ALL), and of their parts */
} scratch;

/* Adds a wait, unless its length is 0. */
static void add_wait(scratch *c, tl_stream_wait wait, int64_t ns)
{
    if (ns > 0)
        tl_vec_push(&c->waits[wait], ns);
}

/* Adds the gap from from_ns to the start of `next`. */
static void add_gap(scratch *c, const tl_config *config, int64_t from_ns, const tl_kernel *next)
{
    int64_t gap = next->start_ns - from_ns;
    int64_t launched = tl_ns_max(from_ns, tl_ns_min(next->launch_ns, next->start_ns));
    int64_t starting = next->start_ns - launched;

    add_wait(c, TL_STREAM_ALL, gap);
    if (next->launch_ns == TL_TIME_UNKNOWN) {
        add_wait(c, TL_STREAM_UNKNOWN, gap);
        return;
    }
    add_wait(c, TL_STREAM_HOST_WAIT, launched - from_ns);
    add_wait(c, starting <= config->idle.kernel_ns ? TL_STREAM_KERNEL_WAIT : TL_STREAM_OTHER, starting);
}

/* Adds the stream's row for all its gaps, and one for each kind of wait.  Kernels [from, to) are in order of start. */
static void add_stream(const tl_rank_view *view, const tl_config *config, size_t from, size_t to, scratch *c,
                       tl_table *table)
{
    const tl_kernel *v = view->kernels;
    int64_t end = v[from].end_ns;

    for (int wait = 0; wait < TL_NSTREAM_WAITS; wait++)
        c->waits[wait].n = 0;
    for (size_t i = from; i < to; i++) {
        if (v[i].start_ns > end && !tl_is_seam(view, end, v[i].start_ns))
            add_gap(c, config, end, &v[i]);
        end = tl_ns_max(end, v[i].end_ns);
    }
    for (int wait = 0; wait < TL_NSTREAM_WAITS; wait++) {
        const size_t count = c->waits[wait].n;
        const tl_spread d = tl_spread_of(c->waits[wait].v, count);
        const tl_stream_idle row = { .rank = view->rank,
                                     .device = v[from].device,
                                     .stream = v[from].stream,
                                     .waited_for = (uint8_t)wait,
                                     .count = (int64_t)count,
                                     .total_ns = d.total,
                                     .std_ns = count > 0 ? d.std : NAN,
                                     .min_ns = d.min,
                                     .p25_ns = count > 0 ? d.p25 : NAN,
                                     .median_ns = count > 0 ? d.median : NAN,
                                     .p75_ns = count > 0 ? d.p75 : NAN,
                                     .max_ns = d.max };
        if (wait == TL_STREAM_ALL || count > 0)
            tl_table_append(table, &row, 1);
    }
}

static void stream_idle_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    scratch c = { 0 };

    for (size_t from = 0, to; from < view->nkernels; from = to) {
        to = tl_stream_end(view, from);
        add_stream(view, config, from, to, &c, tl_tables_get(out, &tl_stream_idle_schema));
    }
    for (int wait = 0; wait < TL_NSTREAM_WAITS; wait++)
        free(c.waits[wait].v);
}

TL_TABLE_DEFINE(stream_idle, TL_STREAM_IDLE_FIELDS, TL_SCOPE_RANK, "idle streams",
                "How long was a stream idle, and what did it wait for?");

const tl_analysis tl_stream_idle_analysis = { .per_rank = stream_idle_per_rank };
