/* idle.c - why was a device idle?
 *
 *     host     [launch A]....[what the CPU did  ]....[launch B]
 *     device        [  A  ]                               [  B  ]
 *                          |<---------- gap ------------->|
 *                                                    |<-->|  launch to execution, L
 *
 * B is queued if its launch call ended more than launch_ns before the gap.  The label says what the host did; the first
 * line that holds counts, and lines two to six need a launch of B:
 *
 *     WORK_NOT_RECORDED       between the launches of A and B, a call queued work that the trace lacks: lost_work.c
 *     GRAPH_INTERNAL          B is a later node of a graph launch
 *     LAUNCH_ANOMALY          B is not queued, and L is longer than anomaly_ns and than anomaly_pct of the gap
 *     DEPENDENCY_WAIT         B is queued, the gap is longer than queued_ns, and B's stream was made to wait for an
 *                             event
 *     LAUNCH_ANOMALY          B is queued, and the gap is longer than queued_ns
 *     LAUNCH_OVERHEAD_ONLY    gap - L is less than half of launch_ns, or than 2 us
 *     RUNTIME_DOMINATED       calls of one class take at least runtime_pct of the gap
 *     CPU_DOMINATED           operators take at least coverage_pct of the gap
 *     NO_CPU_TRACE            the trace has no operators at all
 *     CPU_UNTRACED            operators take less than coverage_pct of the gap
 *
 * Labels and thresholds are those of TraceLens; tl_idle_rules lists the rules that differ.
 */
#include "tlmpi/analysis/rank/idle.h"
#include "internal.h"
#include "tlmpi/model/work_tables.h"
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- over all ranks */

/* Idle_summary over all ranks, and the sums of the job.
 *
 *     rank 0  starved CPU_DOMINATED aten::copy_   12 ms
 *     rank 1  starved CPU_DOMINATED aten::copy_   11 ms   ->  rank -1  starved CPU_DOMINATED aten::copy_
 *     rank 2  starved CPU_DOMINATED aten::copy_   40 ms                63 ms, 3 ranks, worst 2
 *
 * Classes of different ranks are matched by their words: names have different numbers on each rank.
 */

static int by_class(const void *rows, uint32_t a, uint32_t b)
{
    const tl_idle_summary *x = (const tl_idle_summary *)rows + a, *y = (const tl_idle_summary *)rows + b;
    int order = TL_COMPARE(x->step, y->step);
    order = order != 0 ? order : (x->place > 0) - (y->place > 0); /* a class may have the same words as a sum over
                                                                   * labels */
    order = order != 0 ? order : TL_ORDER(x, y, drain_type, cpu_during_gap);
    return order != 0 ? order : memcmp(x->dominant_op, y->dominant_op, sizeof x->dominant_op);
}

static int by_class_and_rank(const void *rows, uint32_t a, uint32_t b)
{
    const tl_idle_summary *v = rows;
    int order = by_class(rows, a, b);
    return order != 0 ? order : TL_COMPARE(v[a].rank, v[b].rank);
}

/* One rank's part of a class. */
typedef struct share {
    int32_t rank;
    int64_t total_ns;
    const tl_idle_summary *row; /* any row of the rank in the class */
} share;

TL_SORT_BY(by_time, share, DOWN(total_ns), rank)
/* Adds a row to the class; two rows of a rank (long names that were truncated alike) are one share.  Returns the new
 * number of shares. */
static size_t add_row(tl_idle_summary *sum, const tl_idle_summary *row, share *v, size_t n)
{
    if (row->count > 0 && (sum->count == 0 || row->min_ns < sum->min_ns))
        sum->min_ns = row->min_ns;
    sum->max_ns = tl_ns_max(sum->max_ns, row->max_ns);
    sum->count += row->count;
    sum->total_ns = tl_ns_add(sum->total_ns, row->total_ns);
    sum->steps_count += row->steps_count;
    sum->steps_ns = tl_ns_add(sum->steps_ns, row->steps_ns);
    sum->peer_ns = row->peer_ns < 0 ? -1 : tl_ns_add(sum->peer_ns, row->peer_ns);
    if (row->count == 0)
        return n;
    if (n == 0 || v[n - 1].rank != row->rank)
        v[n++] = (share){ .rank = row->rank, .row = row };
    v[n - 1].total_ns = tl_ns_add(v[n - 1].total_ns, row->total_ns);
    return n;
}

/* Fills the columns of ranks.  nranks: number of ranks with device work. */
static void fill_ranks(tl_idle_summary *sum, share *v, size_t n, size_t nranks, int64_t *scratch)
{
    qsort(v, n, sizeof *v, by_time);
    sum->ranks = (int32_t)n;
    sum->worst_rank = n > 0 ? v[0].rank : -1;
    sum->worst_ns = n > 0 ? v[0].total_ns : 0;
    if (n > 0)
        memcpy(sum->other_op, v[0].row->other_op, sizeof sum->other_op);
    nranks = nranks > n ? nranks : n;
    for (size_t i = 0; i < nranks; i++)
        scratch[i] = i < n ? v[i].total_ns : 0;
    sum->median_rank_ns = nranks > 0 ? tl_median_rounded_up(scratch, nranks) : 0;
}

/* Order by name number, which is the same on all ranks after the merge. */
static int by_name(const void *a, const void *b)
{
    return TL_ORDER(*(const tl_idle_annotation *const *)a, *(const tl_idle_annotation *const *)b, annotation);
}

/* Fills the largest annotation of a class over all ranks; rows[index[n]]: the class's rows of idle_summary. */
static void fill_largest_annotation(const tl_table *annotations, const tl_idle_summary *rows, const uint32_t *index,
                                    size_t n, tl_idle_summary *sum)
{
    const tl_idle_annotation *v = tl_table_row(annotations, 0);
    TL_VEC(const tl_idle_annotation *) found = { 0 };

    for (size_t i = 0; i < n; i++) {
        const tl_idle_summary *class = &rows[index[i]];
        size_t at = 0;
        TL_BISECT(at, annotations->n, k, TL_ORDER(&v[k], class, rank, place) < 0);
        for (; at < annotations->n && TL_ORDER(&v[at], class, rank, place) == 0; at++)
            tl_vec_push(&found, &v[at]);
    }
    tl_vec_sort(&found, by_name);
    for (size_t from = 0, to; from < found.n; from = to) {
        int64_t ns = 0;
        for (to = from; to < found.n && found.v[to]->annotation == found.v[from]->annotation; to++)
            ns = tl_ns_add(ns, found.v[to]->total_ns);
        if (ns > sum->annotation_ns) {
            sum->annotation = found.v[from]->annotation;
            sum->annotation_ns = ns;
        }
    }
    free(found.v);
}

TL_ORDER_BY(by_total, tl_idle_summary, DOWN(total_ns))

/* Numbers the classes by time, descending; ties in key order. */
static void number_classes(const tl_table *sums)
{
    uint32_t *order = tl_sorted_index(sums->n, by_total, sums->rows);
    int32_t place = 0;
    for (size_t i = 0; i < sums->n; i++) {
        tl_idle_summary *row = tl_table_row(sums, order[i]);
        row->place = row->place > 0 ? ++place : row->place;
    }
    free(order);
}

static void reduce_classes(tl_tables *tables, size_t nranks)
{
    tl_table *summary = tl_tables_get(tables, &tl_idle_summary_schema), sums = { .schema = &tl_idle_summary_schema };
    const tl_idle_summary *rows = tl_table_row(summary, 0);
    uint32_t *order = tl_sorted_index(summary->n, by_class_and_rank, rows);
    share *shares = tl_malloc((summary->n + 1) * sizeof *shares);
    int64_t *scratch = tl_malloc((summary->n + nranks + 1) * sizeof *scratch);
    int64_t all_ns = 0; /* time of the step: its row ALL comes first */
    size_t n = 0;

    for (size_t i = 0; i < summary->n; i++)
        if (rows[order[i]].device == -1)
            order[n++] = order[i];
    TL_GROUPS (from, to, order, n, by_class, rows) {
        tl_idle_summary *sum = tl_table_add(&sums);
        size_t m = 0;

        *sum = rows[order[from]];
        sum->rank = -1;
        sum->count = sum->total_ns = sum->peer_ns = sum->min_ns = sum->max_ns = sum->annotation_ns = 0;
        sum->median_ns = sum->std_ns = sum->longest_id = -1;
        sum->annotation = TL_NO_NAME;
        for (size_t i = from; i < to; i++)
            m = add_row(sum, &rows[order[i]], shares, m);
        fill_ranks(sum, shares, m, nranks, scratch);
        if (sum->drain_type == TL_DRAIN_ALL && sum->place == 0)
            all_ns = sum->total_ns;
        sum->idle_pct = tl_idle_pct(sum->total_ns, sum->drain_type == TL_DRAIN_NOISE ? 0 : all_ns);
        if (sum->place != 0)
            fill_largest_annotation(tl_tables_get(tables, &tl_idle_annotation_schema), rows, order + from, to - from,
                                    sum);
    }
    number_classes(&sums);
    tl_table_append(summary, sums.rows, sums.n);
    tl_table_free(&sums);
    free(order);
    free(shares);
    free(scratch);
    tl_table_sort(summary);
}

/* Adds the classes of gaps over all ranks, and the sums of the job. */
static void idle_reduce(tl_tables *job)
{
    tl_table *table = tl_tables_get(job, &tl_idle_schema);
    tl_idle sum = { .rank = -1, .device = -1, .utilization_pct = tl_idle_pct(0, 0) };
    size_t nranks = 0; /* ranks with device work */
    TL_ROWS (const tl_idle, row, table)
        if (row->device == -1) {
            tl_idle_add(&sum, row);
            nranks += row->busy_ns > 0;
        }
    tl_table_append(table, &sum, 1);
    tl_table_sort(table);
    reduce_classes(job, nranks);
}

/* Lower bound of launch_ns / 2: this much of a gap, ns, is always attributed to the launch. */
enum { LEAST_OVERHEAD_NS = 2000 };

/* Whether part is less than pct percent of whole. */
static bool below(int64_t part, int64_t pct, int64_t whole)
{
    __extension__ typedef __int128 wide;
    return (wide)part * 100 < (wide)whole * pct;
}

/* Whether a launch without recorded work was queued between the work before the gap and the work after it. */
static bool has_unrecorded_work(const tl_idle_rank *k, const tl_idle_gap *g, int64_t gap_end_ns)
{
    const tl_kernel *prev = &k->view->kernels[g->prev];
    int64_t from = prev->launch != TL_NONE ? prev->launch_ns : prev->start_ns;
    int64_t to = g->launch != TL_NONE ? k->view->launches[g->launch].start_ns : gap_end_ns;
    size_t low = 0; /* index of the first lost launch at or after `from` */

    TL_BISECT(low, k->lost.n, mid, k->lost.v[mid].start_ns < from);
    return low < k->lost.n && k->lost.v[low].start_ns <= to;
}

static uint8_t label_of(tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g, const tl_gap *row)
{
    const tl_idle_config *c = k->config;
    int64_t gap = row->duration_ns, latency = row->launch_to_exec_ns;

    if (has_unrecorded_work(k, g, row->end_ns))
        return TL_DOING_UNRECORDED;
    if (tl_idle_is_later_graph_node(k, g))
        return TL_DOING_GRAPH;
    if (row->prequeued == TL_QUEUED_NO && latency > c->anomaly_ns && below(-latency, c->anomaly_pct, -gap))
        return TL_DOING_LAUNCH_ANOMALY;
    if (row->prequeued == TL_QUEUED_YES && gap > c->queued_ns)
        return tl_idle_held_by_event(k, d, g) ? TL_DOING_DEPENDENCY : TL_DOING_LAUNCH_ANOMALY;
    if (row->prequeued != TL_QUEUED_UNKNOWN && gap - latency < tl_ns_max(c->launch_ns / 2, LEAST_OVERHEAD_NS))
        return TL_DOING_LAUNCH_OVERHEAD;
    if (row->call_class != TL_CALL_NONE && !below(row->call_ns, c->runtime_pct, gap))
        return TL_DOING_RUNTIME;
    if (row->ops_ns > 0 && !below(row->ops_ns, c->coverage_pct, gap))
        return TL_DOING_CPU;
    return k->nops[TL_OP] + k->nops[TL_FRAME] == 0 ? TL_DOING_NO_TRACE : TL_DOING_UNTRACED;
}

static void classify(tl_idle_rank *k, tl_idle_device *d, tl_tables *out)
{
    tl_table *gaps = tl_tables_get(out, &tl_gap_schema);

    tl_idle_gaps(k, d, gaps);
    if (d->gaps.n == 0)
        return;
    tl_gap *rows = tl_table_row(gaps, d->first_row);
    tl_idle_doing(k, d, rows);
    tl_idle_drain(k, d, rows);
    for (size_t i = 0; i < d->gaps.n; i++) {
        rows[i].cpu_during_gap = label_of(k, d, &d->gaps.v[i], &rows[i]);
        if (rows[i].cpu_during_gap == TL_DOING_UNRECORDED)
            tl_idle_lost_time(k, &rows[i], tl_tables_get(out, &tl_health_schema));
    }
}

/* A rank has a timeline for each of its devices, whose kernels are consecutive in the view; a rank without device work
 * has one empty timeline. */
static void idle_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_idle_rank k = { .view = view, .config = &config->idle };
    TL_VEC(tl_idle_device) devices = { 0 };
    size_t to = 0;
    tl_idle_prepare(&k);
    tl_idle_lost_rows(&k, tl_tables_get(out, &tl_health_schema));

    do {
        tl_idle_device d = { .device = -1, .first = to };
        if (to < view->nkernels) {
            to = tl_device_end(view, to);
            d.device = view->kernels[d.first].device;
            d.n = to - d.first;
        }
        tl_vec_push(&devices, d);
        classify(&k, &devices.v[devices.n - 1], out);
    } while (to < view->nkernels);
    tl_idle_peers(&k, devices.v, devices.n, out);
    tl_idle_sums(&k, devices.v, devices.n, out);
    if (config->series) {
        /* With --series only: there may be as many as pieces of device work. */
        TL_EACH (const tl_idle_noise, n, k.noise) {
            const tl_series_row row = { .rank = k.view->rank,
                                        .what = TL_SERIES_SHORT_GAP,
                                        .device = n->device,
                                        .stream = -1,
                                        .name = TL_NO_NAME,
                                        .time_ns = n->start_ns,
                                        .value = (double)n->duration_ns,
                                        .step = n->step,
                                        .operator= TL_NO_NAME,
                                        .annotation = TL_NO_NAME };
            tl_table_append(tl_tables_get(out, &tl_series_row_schema), &row, 1);
        }
    }
    TL_EACH (tl_idle_device, d, devices)
        free(d->gaps.v);
    free(devices.v);
    tl_idle_free(&k);
}

const tl_idle_rule tl_idle_rules[] = {
    { "exact", "times are integers of nanoseconds, read from the text: gaps of less than a nanosecond, which rounding "
               "makes, do not exist, and thresholds are exact." },
    { "devices", "each device has a timeline of its own, and a wait for another device explains none of its gaps. "
                 "TraceLens: all devices of a rank are one, and a busy one hides an idle one." },
    { "ended", "the event before a gap is the one that ended last, and a wait for a stream is measured by what ended "
               "last on that stream. TraceLens: the one that started last, if it ended less than 2 us before the "
               "gap." },
    { "linked", "device work belongs to the call with its correlation number, of several the last that began before "
                "it; flow arrows are not needed." },
    { "names", "calls are known by how their names begin and end: driver calls and versions (_v2, _ptsz) too; freeing "
               "memory, and allocating it when that takes long, is IMPLICIT_SYNC. TraceLens: by a short list." },
    { "copies", "a copy is a wait when the copy on the device says that it is from or to pageable memory, or when the "
                "call lasted until the copy had ended. TraceLens: every copy call of HIP between host and device is "
                "one, and none of CUDA." },
    { "threads", "what the CPU did is what the thread did that launched the work after the gap, and an instant counts "
                 "once: for the operator that began last, and the call that began first. TraceLens: all threads are "
                 "added, and an operator of one thread that lies within that of another is taken for its child." },
    { "calls", "the launch call that ended the gap is no reason for it when it was short; the call named is the "
               "largest of its class. TraceLens: it counts, and the call named may be of another class." },
    { "waits", "work queued in time that had to wait for an event of another stream is DEPENDENCY_WAIT, not "
               "LAUNCH_ANOMALY." },
    { "graphs", "between two nodes of one graph launch the gap is GRAPH_INTERNAL: only the first node has a launch "
                "latency." },
    { "lost", "a gap into which launches fall whose work is not in the trace (of graphs, less than half of what equal "
              "ones have) is WORK_NOT_RECORDED, whatever the host did: table health counts them. TraceLens: it is idle "
              "time like any other." },
    { "addresses", "operators whose names differ by an address alone are one: 0x7f3c is 0x\xe2\x80\xa6." },
    { "steps", "a gap carries the profiler step in whose window it begins." },
    { "missing", "where the trace has no operators at all an unexplained gap is NO_CPU_TRACE, not CPU_UNTRACED." },
    { "overruns", "work that seems to run on when the next of its stream has begun (other than inside one graph "
                  "launch) ends there, and is counted." },
    { "peers", "the part of a gap in which the device waited for other ranks is told from the rank's own: table "
               "gap_peer and the columns peer_ns." },
    { NULL, NULL },
};

const tl_analysis tl_idle_analysis = {
    .needs = TL_NEEDS_HOST,
    .per_rank = idle_per_rank,
    .reduce = idle_reduce,
};
