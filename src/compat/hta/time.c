/* time.c - time tables from spans of rows: how busy a rank was, overlap of kernel classes, idle time by cause. */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/spans.h"
#include <stdlib.h>

/* Returns the spans covered by the rows on streams of a class (TL_HTA_NCLASSES: any class). */
static tl_real_spans spans_of(const tl_hta_frame *frame, tl_hta_class class)
{
    tl_real_spans out = { 0 };

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (tl_hta_on_stream(row) && (class == TL_HTA_NCLASSES || tl_hta_symbol_of(frame, row)->class == class))
            tl_vec_push(&out, (tl_real_span){ row->ts, row->ts + row->dur });
    tl_real_spans_join(&out);
    return out;
}

/* Returns the sum of the ends less the sum of the starts, us, with HTA's loss of digits. */
static double total_of(const tl_real_spans *s)
{
    const size_t stride = sizeof *s->v / sizeof(double);

    return s->n > 0 ? tl_numpy_sum(&s->v[0].end, s->n, stride) - tl_numpy_sum(&s->v[0].ts, s->n, stride) : 0;
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
static void write_division(tl_csv *csv, const tl_hta_frame *frame)
{
    tl_real_spans all = spans_of(frame, TL_HTA_NCLASSES), compute = spans_of(frame, TL_HTA_COMPUTATION);

    if (all.n == 0) {
        tl_hta_note_rank(csv->folder, "temporal_breakdown", frame, "%s", "no GPU events; HTA gives up all ranks");
    } else {
        const double kernel = all.v[all.n - 1].end - all.v[0].ts, idle = kernel - total_of(&all);
        const double computed = total_of(&compute), other = kernel - computed - idle;
        if (idle > kernel || computed > kernel || other < 0)
            tl_hta_note_rank(csv->folder, "temporal_breakdown", frame,
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

TL_HTA_TABLE(tl_hta_temporal_breakdown, "temporal_breakdown",
             "rank,idle_time(us),compute_time(us),non_compute_time(us),kernel_time(us),"
             "idle_time_pctg,compute_time_pctg,non_compute_time_pctg",
             write_division)

/* Writes the percentage of communication time that overlaps compute; NaN without communication. */
void tl_hta_comm_comp_overlap(tl_hta_job *job)
{
    static const char header[] = "rank,comp_comm_overlap_pctg";
    tl_csv rounded = tl_csv_open(&job->out, "comm_comp_overlap.csv", header);
    tl_csv exact = tl_csv_open(&job->out, "comm_comp_overlap_unrounded.csv", header);

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        tl_real_spans spans[] = { spans_of(frame, TL_HTA_COMMUNICATION), spans_of(frame, TL_HTA_COMPUTATION) };
        double us[TL_NSETS];
        tl_real_spans_overlap(spans, 2, false, us);
        const double overlap = spans[0].n > 0 ? 100 * (fmax(us[3], 0) / tl_real_spans_total(&spans[0])) : NAN;
        TL_ROW(&rounded, frame->rank, tl_numpy_round(100, overlap));
        TL_ROW(&exact, frame->rank, overlap);
        free(spans[0].v);
        free(spans[1].v);
    }
    tl_csv_close(&rounded);
    tl_csv_close(&exact);
}

/* ------------------------------------------------------------------------------------------ classes over each other */

enum { COMPUTE = 1, COMM = 2, COPY = 4 };
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

/* Sorted by time, descending, sets that never run last; ties by label. */
static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const double *us = context;
    return TL_COMPARE(fmax(us[sets[b].set], 0), fmax(us[sets[a].set], 0));
}

/* Writes how long the classes of kernels ran, on all ranks, in whole us. */
static void write_types(tl_hta_job *job, const char *table, size_t nclasses)
{
    double us[TL_NSETS], sum[TL_NSETS], total = 0;
    tl_csv csv = tl_csv_open(&job->out, table, "kernel_type,sum,percentage");

    for (int set = 0; set < TL_NSETS; set++)
        sum[set] = NAN;
    TL_EACH (const tl_hta_frame, frame, job->frames) {
        tl_real_spans spans[] = { spans_of(frame, TL_HTA_COMPUTATION), spans_of(frame, TL_HTA_COMMUNICATION),
                                  spans_of(frame, TL_HTA_MEMORY) };
        tl_real_spans_overlap(spans, nclasses, true, us);
        for (int set = 0; set < TL_NSETS; set++)
            if (!isnan(us[set])) {
                sum[set] = fmax(sum[set], 0) + us[set];
                total += us[set];
            }
        for (size_t k = 0; k < 3; k++)
            free(spans[k].v);
    }
    uint32_t *order = tl_sorted_index(NLABELS, by_time, sum);
    for (size_t i = 0; i < NLABELS; i++) {
        const int set = sets[order[i]].set;
        if (!isnan(sum[set]))
            TL_ROW(&csv, sets[order[i]].label, sum[set], tl_numpy_round(10, 100 * sum[set] / total));
    }
    free(order);
    tl_csv_close(&csv);
}

void tl_hta_kernel_types(tl_hta_job *job)
{
    write_types(job, "kernel_type_breakdown.csv", 3);
    write_types(job, "kernel_type_breakdown_no_memory.csv", 2);
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
    double *gaps; /* room for a number for each kernel */
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

/* Sets gaps[0 .. n) to the gaps of a cause between the kernels [from, to) of a stream, us, in order; returns n. */
static size_t gaps_of(const idle_tables *t, size_t from, size_t to, int cause, int64_t threshold_us, double *gaps)
{
    size_t n = 0;

    for (size_t i = from + 1; i < to; i++) {
        const kernel *a = &t->kernels.v[i - 1], *b = &t->kernels.v[i];
        const double gap = b->ts - a->end;
        const int it = b->launch > a->end ? HOST_WAIT : gap < (double)threshold_us ? KERNEL_WAIT : OTHER;
        if (it == cause)
            gaps[n++] = gap;
    }
    return n;
}

/* Writes the idle time of each stream by cause; and with `stats` the statistics of its gaps, else the threshold as
 * first cell.  `other` always has a row, for a stream's first kernel, which has no gap. */
static void write_causes(const idle_tables *t, int64_t threshold_us, tl_csv *times, tl_csv *stats)
{
    TL_RUNS (from, to, &t->kernels, by_stream) {
        const kernel *first = &t->kernels.v[from];
        double time[NCAUSES], total = 0, described[TL_NDESCRIBED], *gaps[NCAUSES + 1] = { t->gaps };
        for (int cause = 0; cause < NCAUSES; cause++) {
            gaps[cause + 1] = gaps[cause] + gaps_of(t, from, to, cause, threshold_us, gaps[cause]);
            time[cause] = tl_stats_of(NULL, (size_t)(gaps[cause + 1] - gaps[cause]), gaps[cause], sizeof(double)).sum;
            total += time[cause];
        }
        for (int cause = 0; cause < NCAUSES; cause++) {
            const size_t n = (size_t)(gaps[cause + 1] - gaps[cause]);
            if (n == 0 && cause != OTHER)
                continue;
            if (stats == NULL)
                TL_CELLS(times, threshold_us);
            TL_ROW(times, first->rank, first->id, cause_names[cause], tl_numpy_round(100, time[cause]),
                   tl_numpy_round(100, time[cause] / total));
            if (stats == NULL)
                continue;
            tl_real_describe(described, gaps[cause], n);
            TL_CELLS(stats, cause_names[cause], first->rank, first->id);
            for (size_t i = 0; i < TL_NDESCRIBED; i++)
                TL_CELLS(stats, tl_numpy_round(100, described[i]));
            tl_csv_end_row(stats);
        }
    }
}

void tl_hta_idle_time(tl_hta_job *job)
{
    const int64_t asked_us = job->parameters->consecutive_kernel_delay;
    idle_tables t = { .gaps = NULL };
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
            tl_hta_note_rank(&job->out, "idle_time_breakdown", frame, "%s",
                             "no kernel is on a stream; HTA gives up all ranks");
    }
    tl_vec_sort(&t.kernels, by_stream_and_time);
    t.gaps = tl_malloc(t.kernels.n * sizeof *t.gaps);
    write_causes(&t, asked_us, &times, &stats);
    for (size_t i = 0; i < sizeof thresholds_us / sizeof thresholds_us[0]; i++)
        write_causes(&t, thresholds_us[i], &more, NULL);
    tl_csv_end(&times, t.kernels.n > 0);
    tl_csv_end(&more, t.kernels.n > 0);
    tl_csv_end(&stats, t.kernels.n > 0);
    free(t.kernels.v);
    free(t.gaps);
}
