/* time.c - rows merged to spans and the tree of the largest numbers; how busy a rank was, its classes over each other, and why
 * a stream was idle.
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

TL_ORDER_BY(by_ts, tl_hta_row, ts)

/* Rows sorted by start; one that starts after the last span has ended begins a new span.  Rows that touch are one span, an
 * empty row alone is a span of length 0, and a row of duration -1 alone one of -1. */
tl_hta_spans tl_hta_spans_of(const tl_hta_frame *frame, tl_hta_class class)
{
    tl_hta_spans out = { 0 };
    size_t n = 0;
    uint32_t *rows = tl_malloc(frame->rows.n * sizeof *rows);

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (tl_hta_on_stream(row) && (class == TL_HTA_ANY_CLASS || tl_hta_symbol_of(frame, row)->class == class))
            rows[n++] = (uint32_t)(row - frame->rows.v);
    tl_sort_index(rows, n, by_ts, frame->rows.v);
    for (size_t i = 0; i < n; i++) {
        const tl_hta_row *row = &frame->rows.v[rows[i]];
        double ts = row->ts, end = ts + row->dur;
        if (out.n == 0 || ts > out.v[out.n - 1].end)
            tl_vec_push(&out, (tl_hta_span){ ts, end });
        else
            out.v[out.n - 1].end = fmax(out.v[out.n - 1].end, end);
    }
    free(rows);
    return out;
}

double tl_hta_spans_total(const tl_hta_spans *spans)
{
    const size_t stride = sizeof *spans->v / sizeof(double);

    if (spans->n == 0)
        return 0;
    return tl_numpy_sum(&spans->v[0].end, spans->n, stride) - tl_numpy_sum(&spans->v[0].ts, spans->n, stride);
}

double tl_hta_spans_lengths(const tl_hta_spans *spans)
{
    double *lengths = tl_malloc(spans->n * sizeof *lengths);

    for (size_t i = 0; i < spans->n; i++)
        lengths[i] = spans->v[i].end - spans->v[i].ts;
    double sum = tl_numpy_sum(lengths, spans->n, 1);
    free(lengths);
    return sum;
}

/*     a       [       )     [        )
 *     b    [     )  [   )     [   )[    )
 *     both    [  )  [  )      [   )[ )            one length each, added up in this order
 */
double tl_hta_spans_overlap(const tl_hta_spans *a, const tl_hta_spans *b)
{
    double *lengths = tl_malloc((a->n + b->n) * sizeof *lengths);
    size_t n = 0;

    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        double from = fmax(a->v[i].ts, b->v[j].ts), to = fmin(a->v[i].end, b->v[j].end);
        if (from < to)
            lengths[n++] = to - from;
        if (a->v[i].end < b->v[j].end)
            i++;
        else
            j++;
    }
    double sum = tl_numpy_sum(lengths, n, 1);
    free(lengths);
    return sum;
}

/* -------------------------------------------------------------------------------------------------- largest numbers */

void tl_hta_peaks_make(tl_hta_peaks *peaks, size_t n)
{
    peaks->nleaves = 1;
    while (peaks->nleaves < n)
        peaks->nleaves *= 2;
    peaks->v = tl_malloc(2 * peaks->nleaves * sizeof *peaks->v);
    for (size_t i = 0; i < 2 * peaks->nleaves; i++)
        peaks->v[i] = -INFINITY;
}

void tl_hta_peaks_set(tl_hta_peaks *peaks, size_t i, double value)
{
    peaks->v[i += peaks->nleaves] = value;
    while ((i /= 2) > 0)
        peaks->v[i] = fmax(peaks->v[2 * i], peaks->v[2 * i + 1]);
}

/* Up from the place to the first subtree on its left that has one, then down in it. */
size_t tl_hta_peaks_last(const tl_hta_peaks *peaks, size_t before, double bound)
{
    size_t i = before + peaks->nleaves;

    if (before >= peaks->nleaves)
        i = 1;
    else
        while (i % 2 == 0 || peaks->v[i - 1] < bound)
            if ((i /= 2) <= 1)
                return TL_HTA_NO_PEAK;
    if (i > 1)
        i--;
    if (peaks->v[i] < bound)
        return TL_HTA_NO_PEAK;
    while (i < peaks->nleaves)
        i = 2 * i + (peaks->v[2 * i + 1] >= bound);
    return i - peaks->nleaves;
}

void tl_hta_peaks_free(tl_hta_peaks *peaks)
{
    free(peaks->v);
    *peaks = (tl_hta_peaks){ 0 };
}

/* ---------------------------------------------------------------------------------------------- how busy a rank was */

/* How a rank's device time divides, and how much communication is hidden.
 *
 *     compute        ..[####]......[########].............
 *     anything else  ......[####]......[###]....[##]......
 *     merged           [###########################]        kernel time: from the first start to the last end
 *     idle                     [--]         [--]            nothing on any stream
 *
 *     kernel time = compute + non-compute + idle;  compute wins where both are
 *
 *     overlap = time with compute and communication / time with communication
 *
 * A row is here for the stream in its arguments: synchronisation and host operators that name a stream count as busy. */

/* HTA asserts that the books balance, and where rounding has made durations negative it gives up all ranks. */
static void write_division(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame)
{
    tl_hta_spans all = tl_hta_spans_of(frame, TL_HTA_ANY_CLASS), compute = tl_hta_spans_of(frame, TL_HTA_COMPUTATION);

    if (all.n == 0) {
        tl_hta_note_rank(job, "temporal_breakdown", frame, "%s", "no GPU events; HTA gives up all ranks");
    } else {
        const double kernel = all.v[all.n - 1].end - all.v[0].ts, idle = kernel - tl_hta_spans_total(&all);
        const double computed = tl_hta_spans_total(&compute), other = kernel - computed - idle;
        if (idle > kernel || computed > kernel || other < 0)
            tl_hta_note_rank(job, "temporal_breakdown", frame,
                             "the books do not balance: idle %g, compute %g, non-compute %g of %g us; HTA gives up all "
                             "ranks",
                             idle, computed, other, kernel);
        else
            TL_ROW(csv, frame->rank, idle, computed, other, kernel, tl_numpy_round2(100 * idle / kernel),
                   tl_numpy_round2(100 * computed / kernel), tl_numpy_round2(100 * other / kernel));
    }
    free(all.v);
    free(compute.v);
}

void tl_hta_temporal_breakdown(tl_hta_job *job)
{
    tl_hta_write_ranks(job, "temporal_breakdown.csv",
                       "rank,idle_time(us),compute_time(us),non_compute_time(us),kernel_time(us),"
                       "idle_time_pctg,compute_time_pctg,non_compute_time_pctg",
                       write_division);
}

/* Percent of the communication time that is under compute; NaN without communication. */
void tl_hta_comm_comp_overlap(tl_hta_job *job)
{
    static const char header[] = "rank,comp_comm_overlap_pctg";
    tl_csv rounded = tl_csv_open(&job->out, "comm_comp_overlap.csv", header);
    tl_csv exact = tl_csv_open(&job->out, "comm_comp_overlap_unrounded.csv", header);

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        tl_hta_spans comm = tl_hta_spans_of(frame, TL_HTA_COMMUNICATION);
        tl_hta_spans compute = tl_hta_spans_of(frame, TL_HTA_COMPUTATION);
        double overlap = comm.n > 0 ? 100 * (tl_hta_spans_overlap(&comm, &compute) / tl_hta_spans_lengths(&comm)) : NAN;
        TL_ROW(&rounded, frame->rank, tl_numpy_round2(overlap));
        TL_ROW(&exact, frame->rank, overlap);
        free(comm.v);
        free(compute.v);
    }
    tl_csv_close(&rounded);
    tl_csv_close(&exact);
}

/* ------------------------------------------------------------------------------------------ classes over each other */

/* How long the classes of kernels ran, alone and over each other.
 *
 *     computation     ....[######]......[##)
 *     communication   .......[######]......
 *     both                   [##)
 *
 * Each stretch counts in whole microseconds, what is beyond is lost.  A row of duration -1 takes its class away before
 * it comes: what HTA then names may be a class that is not there. */

enum { COMPUTE = 1, COMM = 2, COPY = 4, NSETS = 8 };
#define OVER " overlapping "

/* The sets of classes in the order of their labels. */
static const struct {
    int set;
    const char *label;
} sets[] = {
    { COMM, "COMMUNICATION" },
    { COMM | COPY, "COMMUNICATION" OVER "MEMORY" },
    { COMPUTE, "COMPUTATION" },
    { COMPUTE | COMM, "COMPUTATION" OVER "COMMUNICATION" },
    { COMPUTE | COMM | COPY, "COMPUTATION" OVER "COMMUNICATION" OVER "MEMORY" },
    { COMPUTE | COPY, "COMPUTATION" OVER "MEMORY" },
    { COPY, "MEMORY" },
};
#define NLABELS (sizeof sets / sizeof sets[0])

/* A class begins, or ends where the bit is negative. */
typedef struct edge {
    double ts;
    int bit;
} edge;

TL_ORDER_BY(by_edge, edge, ts)

typedef struct sums {
    bool seen[NSETS];
    double us[NSETS];
} sums;

static void add_rank(sums *s, const tl_hta_frame *frame, bool copies)
{
    static const struct {
        tl_hta_class class;
        int bit;
    } classes[] = { { TL_HTA_COMPUTATION, COMPUTE }, { TL_HTA_COMMUNICATION, COMM }, { TL_HTA_MEMORY, COPY } };
    TL_VEC(edge) all = { 0 };
    int running = 0;

    for (size_t k = 0; k < (copies ? 3 : 2); k++) {
        tl_hta_spans spans = tl_hta_spans_of(frame, classes[k].class);
        TL_EACH (const tl_hta_span, span, spans) {
            tl_vec_push(&all, (edge){ span->ts, classes[k].bit });
            tl_vec_push(&all, (edge){ span->end, -classes[k].bit });
        }
        free(spans.v);
    }
    uint32_t *order = tl_sorted_index(all.n, by_edge, all.v);
    for (size_t i = 0; i < all.n; i++) {
        running += all.v[order[i]].bit;
        if (running <= 0)
            continue;
        s->seen[running] = true;
        s->us[running] += i + 1 < all.n ? trunc(all.v[order[i + 1]].ts - all.v[order[i]].ts) : 0;
    }
    free(order);
    free(all.v);
}

/* The longest first; of equal ones the one whose label comes first. */
static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const sums *s = context;
    return TL_COMPARE(s->us[sets[b].set], s->us[sets[a].set]);
}

static void write_types(tl_hta_job *job, const char *table, bool copies)
{
    sums s = { 0 };
    double total = 0;
    tl_csv csv = tl_csv_open(&job->out, table, "kernel_type,sum,percentage");

    TL_EACH (const tl_hta_frame, frame, job->frames)
        add_rank(&s, frame, copies);
    uint32_t *order = tl_sorted_index(NLABELS, by_time, &s);
    for (size_t i = 0; i < NLABELS; i++)
        total += s.us[sets[i].set];
    for (size_t i = 0; i < NLABELS; i++) {
        double us = s.us[sets[order[i]].set];
        if (s.seen[sets[order[i]].set])
            TL_ROW(&csv, sets[order[i]].label, us, rint(100 * us / total * 10) / 10);
    }
    free(order);
    tl_csv_close(&csv);
}

void tl_hta_kernel_types(tl_hta_job *job)
{
    write_types(job, "kernel_type_breakdown.csv", true);
    write_types(job, "kernel_type_breakdown_no_memory.csv", false);
}

/* ------------------------------------------------------------------------------------------- why a stream was idle */

/* Why a stream was idle between two kernels.
 *
 *     host     ...[launch a]........[launch b]....
 *     stream   .......[    a    ]..........[  b  ]
 *                               |<- gap -->|          may be negative, where b starts before a ends
 *
 *     host wait     b was launched after a ended
 *     kernel wait   the gap is below the threshold, which is one of microseconds
 *     other         the rest; and the first kernel, which has no gap
 *
 * The first that holds has the whole gap.  Each stream is looked at by itself, whatever others do meanwhile.
 */

enum { HOST_WAIT, KERNEL_WAIT, OTHER, NCAUSES };
static const char *const cause_names[] = { "host_wait", "kernel_wait", "other" };

/* Thresholds of the second table, in us. */
static const int64_t thresholds_us[] = { 5, 10, 100, 1000 };

/* A kernel, and the gap before it. */
typedef struct kernel {
    int64_t id;      /* of the stream */
    uint32_t stream; /* its number, by first appearance in the rank */
    double ts, end, launch;
} kernel;

TL_ORDER_BY(by_stream, kernel, stream)
TL_ORDER_BY(by_stream_and_time, kernel, stream, ts)

/* The gaps of one stream in the order of its kernels; the first kernel has none. */
typedef struct stream {
    int64_t rank, id;
    size_t n; /* gaps */
    double *gap;
    bool *waited; /* for the host */
} stream;

typedef struct idle_tables {
    TL_VEC(stream) streams; /* of all ranks, each in order of first appearance */
    tl_arena arena;
    double *room; /* for as many gaps as a stream has at most */
} idle_tables;

static bool is_work(tl_text cat)
{
    static const char *const cats[] = { "kernel",     "Kernel", "gpu_memset",      "Memset",
                                        "gpu_memcpy", "Memcpy", "mtia_ccp_events", NULL };
    return tl_hta_is_one_of(cat, cats);
}

/* Adds the streams of a rank's work, and the gaps of each.  A kernel whose link is 0, "none", is taken to be launched by the
 * event that has index 0. */
static void find_idle(idle_tables *t, const tl_hta_frame *frame, const bool *works)
{
    const size_t nindices = tl_hta_nindices(frame);
    TL_VEC(kernel) kernels = { 0 };
    tl_map seen = { 0 }; /* stream -> its number */
    double *starts = tl_malloc(nindices * sizeof *starts);

    for (size_t i = 0; i < nindices; i++)
        starts[i] = NAN;
    TL_EACH (const tl_hta_row, row, frame->rows)
        starts[row->index] = row->ts;
    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (!tl_hta_on_stream(row) || !works[row->cat])
            continue;
        uint32_t number = tl_map_get(&seen, (uint64_t)row->stream);
        if (number == TL_MAP_NONE) {
            number = (uint32_t)seen.n;
            tl_map_put(&seen, (uint64_t)row->stream, number);
        }
        bool linked = row->link >= 0 && (uint64_t)row->link < nindices;
        tl_vec_push(&kernels,
                    (kernel){ row->stream, number, row->ts, row->ts + row->dur, linked ? starts[row->link] : NAN });
    }
    uint32_t *order = tl_sorted_index(kernels.n, by_stream_and_time, kernels.v);
    TL_GROUPS (from, to, order, kernels.n, by_stream, kernels.v) {
        stream s = { .rank = frame->rank, .id = kernels.v[order[from]].id };
        s.gap = tl_arena_take(&t->arena, to - from, sizeof *s.gap);
        s.waited = tl_arena_take(&t->arena, to - from, sizeof *s.waited);
        for (size_t i = from + 1; i < to; i++) {
            double end = kernels.v[order[i - 1]].end;
            s.gap[s.n] = kernels.v[order[i]].ts - end;
            s.waited[s.n++] = kernels.v[order[i]].launch > end;
        }
        tl_vec_push(&t->streams, s);
    }
    tl_map_free(&seen);
    free(kernels.v);
    free(order);
    free(starts);
}

/* The gaps of a cause, in order, to t->room; how many there are.  *any: there are, or it has the first kernel. */
static size_t gaps_of(const idle_tables *t, bool *any, const stream *s, int cause, int64_t threshold_us)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        int it = s->waited[i] ? HOST_WAIT : s->gap[i] < (double)threshold_us ? KERNEL_WAIT : OTHER;
        if (it == cause)
            t->room[n++] = s->gap[i];
    }
    *any = n > 0 || cause == OTHER;
    return n;
}

/* with_threshold: the first column has it. */
static void write_times(const idle_tables *t, tl_csv *csv, int64_t threshold_us, bool with_threshold)
{
    TL_EACH (const stream, s, t->streams) {
        double time[NCAUSES], total = 0;
        bool any[NCAUSES];
        for (int cause = 0; cause < NCAUSES; cause++) {
            time[cause] = tl_pandas_sum(t->room, gaps_of(t, &any[cause], s, cause, threshold_us));
            total += time[cause];
        }
        for (int cause = 0; cause < NCAUSES; cause++) {
            if (any[cause] && with_threshold)
                TL_CELLS(csv, threshold_us);
            if (any[cause])
                TL_ROW(csv, s->rank, s->id, cause_names[cause], tl_numpy_round2(time[cause]),
                       tl_numpy_round2(time[cause] / total));
        }
    }
}

static void write_stats(const idle_tables *t, tl_csv *csv, int64_t threshold_us)
{
    TL_EACH (const stream, s, t->streams)
        for (int cause = 0; cause < NCAUSES; cause++) {
            double described[TL_NDESCRIBED];
            bool any;
            size_t n = gaps_of(t, &any, s, cause, threshold_us);
            if (!any)
                continue;
            tl_pandas_describe(described, t->room, n);
            TL_CELLS(csv, cause_names[cause], s->rank, s->id);
            for (size_t i = 0; i < TL_NDESCRIBED; i++)
                TL_CELLS(csv, tl_numpy_round2(described[i]));
            tl_csv_end_row(csv);
        }
}

void tl_hta_idle_time(tl_hta_job *job)
{
    const int64_t asked_us = job->parameters->consecutive_kernel_delay;
    idle_tables t = { .room = NULL };
    bool *works = tl_hta_symbols_that(job->symbols, is_work);
    size_t longest = 0;
    tl_csv times =
        tl_csv_open(&job->out, "idle_time_breakdown.csv", "rank,stream,idle_category,idle_time,idle_time_ratio");
    tl_csv more = tl_csv_open(&job->out, "idle_time_breakdown_thresholds.csv",
                              "consecutive_kernel_delay,rank,stream,idle_category,idle_time,idle_time_ratio");
    tl_csv stats = tl_csv_open(&job->out, "idle_interval_stats.csv",
                               "idle_category,rank,stream,count,mean,std,min,25%,50%,75%,max");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        size_t before = t.streams.n;
        find_idle(&t, frame, works);
        if (t.streams.n == before)
            tl_hta_note_rank(job, "idle_time_breakdown", frame, "%s",
                             "no kernel is on a stream; HTA gives up all ranks");
    }
    TL_EACH (const stream, s, t.streams)
        longest = s->n > longest ? s->n : longest;
    t.room = tl_arena_take(&t.arena, longest, sizeof *t.room);
    write_times(&t, &times, asked_us, false);
    for (size_t i = 0; i < sizeof thresholds_us / sizeof thresholds_us[0]; i++)
        write_times(&t, &more, thresholds_us[i], true);
    write_stats(&t, &stats, asked_us);
    tl_csv_end(&times, t.streams.n > 0);
    tl_csv_end(&more, t.streams.n > 0);
    tl_csv_end(&stats, t.streams.n > 0);
    free(t.streams.v);
    tl_arena_free(&t.arena);
    free(works);
}
