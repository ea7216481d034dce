/* idle.c - why was a device idle?
 *
 *     host     [launch A]....[what the CPU did  ]....[launch B]
 *     device        [  A  ]                               [  B  ]
 *                          |<---------- gap ------------->|
 *                                                    |<-->|  launch to execution, L
 *
 * B is queued when its launch call has ended more than launch_ns before the gap.  What the host did has one name; the
 * first that holds of these, where the first five need a launch of B:
 *
 *     GRAPH_INTERNAL          B is a later node of a graph launch
 *     LAUNCH_ANOMALY          B is not queued, and L is longer than anomaly_ns and than anomaly_pct of the gap
 *     LAUNCH_ANOMALY          B is queued, and the gap longer than queued_ns
 *     DEPENDENCY_WAIT         likewise, and its stream waits for an event
 *     LAUNCH_OVERHEAD_ONLY    gap - L is less than half of launch_ns, or than 2 us
 *     RUNTIME_DOMINATED       calls of one class took runtime_pct of the gap or more
 *     CPU_UNTRACED            operators took less than coverage_pct of it
 *     NO_CPU_TRACE            likewise, and the trace has none at all
 *     CPU_DOMINATED           operators took it
 *
 * The definition, and the plain rules that each correction departs from, are TraceLens' and those of tl_idle_rules.
 */
#include "tlmpi/analysis/idle.h"
#include "parts.h"
#include <stdlib.h>

/* A launch takes some of launch_ns, and at least this much of a gap is not worth another name. */
#define LEAST_OVERHEAD_NS 2000

/* Whether part is less than pct percent of whole. */
static bool below(int64_t part, int64_t pct, int64_t whole)
{
    __extension__ typedef __int128 wide;
    return (wide)part * 100 < (wide)whole * pct;
}

static bool above(int64_t part, int64_t pct, int64_t whole)
{
    return below(-part, pct, -whole);
}

static bool is_later_node(tl_idle_rank *k, const tl_idle_gap *g)
{
    return g->launch != TL_NONE && k->first_kernel[g->launch] != g->next && tl_idle_is_graph(k, g->launch);
}

/* What the launch of the work behind the gap tells; TL_DOING_ALL when that is nothing. */
static uint8_t label_of_launch(tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g, const tl_gap *row)
{
    const tl_idle_config *c = k->config;
    int64_t gap = row->duration_ns, latency = row->launch_to_exec_ns;
    int64_t overhead = c->launch_ns / 2 > LEAST_OVERHEAD_NS ? c->launch_ns / 2 : LEAST_OVERHEAD_NS;

    if (tl_idle_holds(k, TL_IDLE_GRAPHS) && is_later_node(k, g))
        return TL_DOING_GRAPH;
    if (row->prequeued == TL_QUEUED_UNKNOWN)
        return TL_DOING_ALL;
    if (row->prequeued == TL_QUEUED_NO && latency > c->anomaly_ns && above(latency, c->anomaly_pct, gap))
        return TL_DOING_LAUNCH_ANOMALY;
    if (row->prequeued == TL_QUEUED_YES && gap > c->queued_ns) {
        bool waits = tl_idle_holds(k, TL_IDLE_WAITS) && (is_later_node(k, g) || tl_idle_held(k, d, g));
        return waits ? TL_DOING_DEPENDENCY : TL_DOING_LAUNCH_ANOMALY;
    }
    return gap - latency < overhead ? TL_DOING_LAUNCH_OVERHEAD : TL_DOING_ALL;
}

static uint8_t label_of(tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g, const tl_gap *row)
{
    uint8_t label = label_of_launch(k, d, g, row);
    if (label != TL_DOING_ALL)
        return label;
    if (row->call_class != TL_CALL_NONE && !below(row->call_ns, k->config->runtime_pct, row->duration_ns))
        return TL_DOING_RUNTIME;
    if (row->ops_ns > 0 && !below(row->ops_ns, k->config->coverage_pct, row->duration_ns))
        return TL_DOING_CPU;
    return tl_idle_holds(k, TL_IDLE_MISSING) && k->nops[TL_OP] + k->nops[TL_FRAME] == 0 ? TL_DOING_NO_TRACE
                                                                                        : TL_DOING_UNTRACED;
}

static bool classify(tl_idle_rank *k, tl_idle_device *d, tl_tables *out)
{
    tl_table *gaps = tl_tables_get(out, &tl_gap_schema), *noise = tl_tables_get(out, &tl_gap_noise_schema);

    if (!tl_idle_gaps(k, d, gaps, noise))
        return false;
    if (d->gaps.n == 0)
        return true;
    tl_gap *rows = tl_table_row(gaps, d->first_row);
    if (!(tl_idle_holds(k, TL_IDLE_THREADS) ? tl_idle_doing(k, d, rows) : tl_idle_doing_mixed(k, d, rows)))
        return false;
    for (size_t i = 0; i < d->gaps.n; i++) {
        tl_idle_drain(k, d, &d->gaps.v[i], &rows[i]);
        rows[i].cpu_during_gap = label_of(k, d, &d->gaps.v[i], &rows[i]);
    }
    return true;
}

/* How many timelines the rank has: its devices (they lie together in the view), or one of all. */
static size_t count_devices(const tl_idle_rank *k)
{
    size_t n = 1;
    for (size_t i = 1; i < k->view->nkernels; i++)
        n += k->view->kernels[i].device != k->view->kernels[i - 1].device;
    return tl_idle_holds(k, TL_IDLE_DEVICES) ? n : 1;
}

static void take_device(const tl_idle_rank *k, tl_idle_device *d, size_t first)
{
    const tl_kernel *v = k->view->kernels;
    size_t to = first;

    *d = (tl_idle_device){ .device = -1, .first = first };
    if (!tl_idle_holds(k, TL_IDLE_DEVICES)) {
        to = k->view->nkernels;
    } else if (first < k->view->nkernels) {
        d->device = v[first].device;
        while (to < k->view->nkernels && v[to].device == d->device)
            to++;
    }
    d->n = to - first;
}

static tl_status idle_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out, tl_error *err)
{
    tl_idle_rank k = { .view = view, .config = &config->idle };
    size_t n = count_devices(&k), first = 0;
    tl_idle_device *devices = tl_calloc(n, sizeof *devices);
    bool whole = devices != NULL && tl_idle_prepare(&k);

    for (size_t i = 0; whole && i < n; i++) {
        take_device(&k, &devices[i], first);
        first += devices[i].n;
        whole = classify(&k, &devices[i], out);
    }
    whole = whole && tl_idle_peers(&k, devices, n, out) && tl_idle_sums(&k, devices, n, out);
    for (size_t i = 0; devices != NULL && i < n; i++)
        free(devices[i].gaps.v);
    free(devices);
    tl_idle_free(&k);
    return whole ? TL_OK : tl_fail_memory(err, "the reasons of idle time");
}

static const tl_schema *const tables[] = { &tl_gap_schema,           &tl_gap_noise_schema,
                                           &tl_gap_peer_schema,      &tl_idle_schema,
                                           &tl_idle_overview_schema, &tl_idle_summary_schema,
                                           &tl_idle_job_schema,      NULL };

const tl_analysis tl_idle_analysis = {
    .name = "idle",
    .question = "Why was each device idle?",
    .needs = TL_NEEDS_HOST,
    .tables = tables,
    .per_rank = idle_per_rank,
    .reduce = tl_idle_reduce,
};
