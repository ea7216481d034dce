/* time.c - time tables from spans of rows: how busy a rank was, overlap of kernel classes, idle time by cause. */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

typedef struct span {
    double ts, end;
} span;

typedef TL_VEC(span) spans;

TL_SORT_BY(by_ts, span, ts)

/* Returns the spans covered by the rows on streams of a class (TL_HTA_NCLASSES: any class), in order of time.  Rows
 * that touch are one span; a row alone keeps its length, even 0 or -1. */
static spans spans_of(const tl_hta_frame *frame, tl_hta_class class)
{
    spans out = { 0 };
    size_t n = 0;

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (tl_hta_on_stream(row) && (class == TL_HTA_NCLASSES || tl_hta_symbol_of(frame, row)->class == class))
            tl_vec_push(&out, (span){ row->ts, row->ts + row->dur });
    tl_vec_sort(&out, by_ts);
    TL_EACH (const span, each, out) {
        if (n == 0 || each->ts > out.v[n - 1].end)
            out.v[n++] = *each;
        else
            out.v[n - 1].end = fmax(out.v[n - 1].end, each->end);
    }
    out.n = n;
    return out;
}

/* Returns the sum of the ends less the sum of the starts, us, as in HTA's breakdown.  HTA's overlap uses the sum of the
 * lengths (lengths_of), which differs in the last digits. */
static double total_of(const spans *s)
{
    const size_t stride = sizeof *s->v / sizeof(double);

    if (s->n == 0)
        return 0;
    return tl_numpy_sum(&s->v[0].end, s->n, stride) - tl_numpy_sum(&s->v[0].ts, s->n, stride);
}

static double lengths_of(const spans *s)
{
    double *lengths = tl_malloc(s->n * sizeof *lengths);

    for (size_t i = 0; i < s->n; i++)
        lengths[i] = s->v[i].end - s->v[i].ts;
    double sum = tl_numpy_sum(lengths, s->n, 1);
    free(lengths);
    return sum;
}

/*     a       [       )     [        )
 *     b    [     )  [   )     [   )[    )
 *     both    [  )  [  )      [   )[ )            the sum of these lengths, us, in this order
 */
static double overlap_of(const spans *a, const spans *b)
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

/* ---------------------------------------------------------------------------------------------- how busy a rank was */

/* How a rank's device time divides, and how much communication is hidden.
 *
 *     compute        ..[####]......[########].............
 *     anything else  ......[####]......[###]....[##]......
 *     merged           [###########################]        kernel time: from the first start to the last end
 *     idle                     [--]         [--]            nothing on any stream
 *
 *     kernel time = compute + non-compute + idle;  compute wins in an overlap
 *
 *     overlap = time with compute and communication / time with communication
 *
 * Rows count by the stream in their args: synchronisations and host operators that name a stream count as busy. */

/* HTA asserts that no part is negative or longer than the whole: if rounding breaks this, HTA fails for all ranks. */
static void write_division(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame)
{
    spans all = spans_of(frame, TL_HTA_NCLASSES), compute = spans_of(frame, TL_HTA_COMPUTATION);

    if (all.n == 0) {
        tl_hta_note_rank(job, "temporal_breakdown", frame, "%s", "no GPU events; HTA gives up all ranks");
    } else {
        const double kernel = all.v[all.n - 1].end - all.v[0].ts, idle = kernel - total_of(&all);
        const double computed = total_of(&compute), other = kernel - computed - idle;
        if (idle > kernel || computed > kernel || other < 0)
            tl_hta_note_rank(job, "temporal_breakdown", frame,
                             "the books do not balance: idle %g, compute %g, non-compute %g of %g us; HTA gives up all "
                             "ranks",
                             idle, computed, other, kernel);
        else
            TL_ROW(csv, frame->rank, idle, computed, other, kernel, tl_numpy_round(100, 100 * idle / kernel),
                   tl_numpy_round(100, 100 * computed / kernel), tl_numpy_round(100, 100 * other / kernel));
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

/* Writes the percentage of communication time that overlaps compute; NaN without communication. */
void tl_hta_comm_comp_overlap(tl_hta_job *job)
{
    static const char header[] = "rank,comp_comm_overlap_pctg";
    tl_csv rounded = tl_csv_open(&job->out, "comm_comp_overlap.csv", header);
    tl_csv exact = tl_csv_open(&job->out, "comm_comp_overlap_unrounded.csv", header);

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        spans comm = spans_of(frame, TL_HTA_COMMUNICATION);
        spans compute = spans_of(frame, TL_HTA_COMPUTATION);
        double overlap = comm.n > 0 ? 100 * (overlap_of(&comm, &compute) / lengths_of(&comm)) : NAN;
        TL_ROW(&rounded, frame->rank, tl_numpy_round(100, overlap));
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
 * Each piece between two edges counts in whole microseconds, truncated.  A row of duration -1 ends before it starts, so
 * HTA may count a class that does not run. */

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

/* The start of a class's span, or with a negative bit its end. */
typedef struct edge {
    double ts;
    int bit;
} edge;

TL_SORT_BY(by_edge, edge, ts)

typedef struct sums {
    bool seen[NSETS];
    double us[NSETS];
} sums;

static void add_rank_times(sums *s, const tl_hta_frame *frame, bool copies)
{
    static const struct {
        tl_hta_class class;
        int bit;
    } classes[] = { { TL_HTA_COMPUTATION, COMPUTE }, { TL_HTA_COMMUNICATION, COMM }, { TL_HTA_MEMORY, COPY } };
    TL_VEC(edge) all = { 0 };
    int running = 0;

    for (size_t k = 0; k < (copies ? 3 : 2); k++) {
        spans merged = spans_of(frame, classes[k].class);
        TL_EACH (const span, each, merged) {
            tl_vec_push(&all, (edge){ each->ts, classes[k].bit });
            tl_vec_push(&all, (edge){ each->end, -classes[k].bit });
        }
        free(merged.v);
    }
    tl_vec_sort(&all, by_edge);
    for (size_t i = 0; i < all.n; i++) {
        running += all.v[i].bit;
        if (running <= 0)
            continue;
        s->seen[running] = true;
        s->us[running] += i + 1 < all.n ? trunc(all.v[i + 1].ts - all.v[i].ts) : 0;
    }
    free(all.v);
}

/* Sorted by time, descending; ties by label. */
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
        add_rank_times(&s, frame, copies);
    uint32_t *order = tl_sorted_index(NLABELS, by_time, &s);
    for (size_t i = 0; i < NLABELS; i++)
        total += s.us[sets[i].set];
    for (size_t i = 0; i < NLABELS; i++) {
        double us = s.us[sets[order[i]].set];
        if (s.seen[sets[order[i]].set])
            TL_ROW(&csv, sets[order[i]].label, us, tl_numpy_round(10, 100 * us / total));
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
 *                               |<- gap -->|          negative if b starts before a ends
 *
 *     host wait     b was launched after a ended
 *     kernel wait   the gap is below the threshold, us
 *     other         all other gaps; and the first kernel, which has no gap
 *
 * The first cause that holds gets the whole gap.  Each stream counts by itself, whatever other streams do.
 */

enum { HOST_WAIT, KERNEL_WAIT, OTHER, NCAUSES };
static const char *const cause_names[] = { "host_wait", "kernel_wait", "other" };

/* Thresholds of idle_time_breakdown_thresholds, us. */
static const int64_t thresholds_us[] = { 5, 10, 100, 1000 };

typedef struct kernel {
    int64_t rank, id;       /* id: stream id in the trace */
    uint32_t stream;        /* number of the rank's stream, by first appearance in the job */
    double ts, end, launch; /* us; launch: start of the launch call, NaN: unknown */
} kernel;

TL_SORT_BY(by_stream, kernel, stream)
TL_SORT_BY(by_stream_and_time, kernel, stream, ts)

typedef struct idle_tables {
    TL_VEC(kernel) kernels; /* of all ranks, sorted by stream and time */
    uint32_t nstreams;
    double *room; /* buffer of one number for each kernel */
} idle_tables;

/* Adds the kernels of a rank.  As in HTA, a link of 0 (none) counts as a link to the row with index 0. */
static void add_kernels(idle_tables *t, const tl_hta_frame *frame)
{
    tl_map seen = { 0 }; /* stream -> its number */

    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (!tl_hta_on_stream(row) || !tl_hta_is(frame->symbols, row->cat, TL_HTA_IS_WORK))
            continue;
        const uint32_t number = tl_map_number(&seen, (uint64_t)row->stream, t->nstreams + seen.n);
        const tl_hta_row *launch = tl_hta_row_at(frame, row->link);
        const double launch_ts = launch != NULL ? launch->ts : NAN;
        tl_vec_push(&t->kernels, (kernel){ frame->rank, row->stream, number, row->ts, row->ts + row->dur, launch_ts });
    }
    t->nstreams += (uint32_t)seen.n;
    tl_map_free(&seen);
}

/* Sets t->room to the gaps of a cause between the kernels [from, to) of a stream, us, in order; returns their
 * number. */
static size_t gaps_of(const idle_tables *t, size_t from, size_t to, int cause, int64_t threshold_us)
{
    size_t n = 0;

    for (size_t i = from + 1; i < to; i++) {
        const kernel *a = &t->kernels.v[i - 1], *b = &t->kernels.v[i];
        const double gap = b->ts - a->end;
        const int it = b->launch > a->end ? HOST_WAIT : gap < (double)threshold_us ? KERNEL_WAIT : OTHER;
        if (it == cause)
            t->room[n++] = gap;
    }
    return n;
}

/* Writes the idle time of each stream by cause; with_threshold: the threshold is the first cell.  `other` always has
 * a row, for a stream's first kernel, which has no gap. */
static void write_times(const idle_tables *t, tl_csv *csv, int64_t threshold_us, bool with_threshold)
{
    TL_RUNS (from, to, &t->kernels, by_stream) {
        const kernel *first = &t->kernels.v[from];
        double time[NCAUSES], total = 0;
        size_t n[NCAUSES];
        for (int cause = 0; cause < NCAUSES; cause++) {
            n[cause] = gaps_of(t, from, to, cause, threshold_us);
            time[cause] = tl_pandas_sum(t->room, n[cause]);
            total += time[cause];
        }
        for (int cause = 0; cause < NCAUSES; cause++) {
            if (n[cause] == 0 && cause != OTHER)
                continue;
            if (with_threshold)
                TL_CELLS(csv, threshold_us);
            TL_ROW(csv, first->rank, first->id, cause_names[cause], tl_numpy_round(100, time[cause]),
                   tl_numpy_round(100, time[cause] / total));
        }
    }
}

static void write_stats(const idle_tables *t, tl_csv *csv, int64_t threshold_us)
{
    TL_RUNS (from, to, &t->kernels, by_stream) {
        const kernel *first = &t->kernels.v[from];
        for (int cause = 0; cause < NCAUSES; cause++) {
            double described[TL_NDESCRIBED];
            const size_t n = gaps_of(t, from, to, cause, threshold_us);
            if (n == 0 && cause != OTHER)
                continue;
            tl_pandas_describe(described, t->room, n);
            TL_CELLS(csv, cause_names[cause], first->rank, first->id);
            for (size_t i = 0; i < TL_NDESCRIBED; i++)
                TL_CELLS(csv, tl_numpy_round(100, described[i]));
            tl_csv_end_row(csv);
        }
    }
}

void tl_hta_idle_time(tl_hta_job *job)
{
    const int64_t asked_us = job->parameters->consecutive_kernel_delay;
    idle_tables t = { .room = NULL };
    tl_csv times =
        tl_csv_open(&job->out, "idle_time_breakdown.csv", "rank,stream,idle_category,idle_time,idle_time_ratio");
    tl_csv more = tl_csv_open(&job->out, "idle_time_breakdown_thresholds.csv",
                              "consecutive_kernel_delay,rank,stream,idle_category,idle_time,idle_time_ratio");
    tl_csv stats = tl_csv_open(&job->out, "idle_interval_stats.csv",
                               "idle_category,rank,stream,count,mean,std,min,25%,50%,75%,max");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        const size_t before = t.kernels.n;
        add_kernels(&t, frame);
        if (t.kernels.n == before)
            tl_hta_note_rank(job, "idle_time_breakdown", frame, "%s",
                             "no kernel is on a stream; HTA gives up all ranks");
    }
    tl_vec_sort(&t.kernels, by_stream_and_time);
    t.room = tl_malloc(t.kernels.n * sizeof *t.room);
    write_times(&t, &times, asked_us, false);
    for (size_t i = 0; i < sizeof thresholds_us / sizeof thresholds_us[0]; i++)
        write_times(&t, &more, thresholds_us[i], true);
    write_stats(&t, &stats, asked_us);
    tl_csv_end(&times, t.kernels.n > 0);
    tl_csv_end(&more, t.kernels.n > 0);
    tl_csv_end(&stats, t.kernels.n > 0);
    free(t.kernels.v);
    free(t.room);
}
