/* idle.c - why a stream was idle between two kernels.
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
#include "tlmpi/base/group.h"
#include "tlmpi/compat/hta/streams.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

enum { HOST_WAIT, KERNEL_WAIT, OTHER, NCAUSES };
static const char *const cause_names[] = { "host_wait", "kernel_wait", "other" };

/* Thresholds of the second table, in us. */
static const int64_t thresholds_us[] = { 5, 10, 100, 1000 };

/* The gaps of one stream in the order of its kernels; the first kernel has none. */
typedef struct stream {
    int64_t rank, id;
    size_t n;     /* kernels */
    double *gap;  /* n - 1 */
    bool *waited; /* for the host */
} stream;

typedef struct idle_tables {
    tl_hta_job *job;
    TL_VEC(stream) streams; /* of all ranks, each in order of first appearance */
    tl_arena arena;
    double *room; /* for as many gaps as a stream has at most */
} idle_tables;

static bool is_work(tl_text cat)
{
    static const char *const cats[] = { "kernel",     "Kernel", "gpu_memset",     "Memset",
                                        "gpu_memcpy", "Memcpy", "mtia_ccp_events" };
    for (size_t i = 0; i < sizeof cats / sizeof cats[0]; i++)
        if (tl_text_is(cat, cats[i]))
            return true;
    return false;
}

/* The ts of the row with this index; NaN where there is none. */
static double *starts_by_index(const tl_hta_frame *frame, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < frame->rows.n; i++)
        if (frame->rows.v[i].index >= *n)
            *n = (size_t)frame->rows.v[i].index + 1;
    double *starts = tl_malloc(*n * sizeof *starts);
    for (size_t i = 0; i < *n; i++)
        starts[i] = NAN;
    for (size_t i = 0; i < frame->rows.n; i++)
        starts[frame->rows.v[i].index] = frame->rows.v[i].ts;
    return starts;
}

/* By time, the streams in order of their numbers. */
typedef struct placed {
    const tl_hta_row *rows;
    const uint32_t *number; /* of the stream, by position of a row */
} placed;

static int by_stream(const void *context, uint32_t a, uint32_t b)
{
    const placed *p = context;
    int order = TL_COMPARE(p->number[a], p->number[b]);
    return order != 0 ? order : TL_COMPARE(p->rows[a].ts, p->rows[b].ts);
}

/* A kernel whose link is 0, "none", is taken to be launched by the event that has index 0. */
static void find_gaps(idle_tables *t, stream *s, const tl_hta_row *rows, const uint32_t *kernels, const double *starts,
                      size_t nstarts)
{
    s->gap = tl_arena_take(&t->arena, s->n, sizeof *s->gap);
    s->waited = tl_arena_take(&t->arena, s->n, sizeof *s->waited);
    for (size_t i = 1; i < s->n; i++) {
        const tl_hta_row *before = &rows[kernels[i - 1]], *row = &rows[kernels[i]];
        double end = before->ts + before->dur;
        double launch = row->link >= 0 && (uint64_t)row->link < nstarts ? starts[row->link] : NAN;
        s->gap[i - 1] = row->ts - end;
        s->waited[i - 1] = launch > end;
    }
}

/* Numbers the streams of the work in order of first appearance, and looks at each. */
static void find_idle(idle_tables *t, const tl_hta_frame *frame, const bool *works)
{
    const size_t first = t->streams.n;
    const tl_hta_row *rows = frame->rows.v;
    size_t nstarts, n = 0;
    tl_map seen = { 0 }; /* stream -> its number */
    uint32_t *number = tl_malloc(frame->rows.n * sizeof *number), *kernels = tl_malloc(frame->rows.n * sizeof *kernels);
    double *starts = starts_by_index(frame, &nstarts);
    const placed by = { rows, number };

    for (uint32_t i = 0; i < frame->rows.n; i++) {
        if (!tl_hta_on_stream(&rows[i]) || !works[rows[i].cat])
            continue;
        number[i] = tl_map_get(&seen, (uint64_t)rows[i].stream);
        if (number[i] >= t->streams.n - first) { /* TL_MAP_NONE: a new one */
            number[i] = (uint32_t)(t->streams.n - first);
            tl_map_put(&seen, (uint64_t)rows[i].stream, number[i]);
            tl_vec_push(&t->streams, (stream){ .rank = frame->rank, .id = rows[i].stream });
        }
        kernels[n++] = i;
        t->streams.v[first + number[i]].n++;
    }
    tl_sort_index(kernels, n, by_stream, &by);
    n = 0;
    for (size_t k = first; k < t->streams.n; n += t->streams.v[k++].n)
        find_gaps(t, &t->streams.v[k], rows, kernels + n, starts, nstarts);
    tl_map_free(&seen);
    free(number);
    free(kernels);
    free(starts);
}

/* The gaps of a cause, in order, to out; how many there are.  *any: there are, or it has the first kernel. */
static size_t gaps_of(double *out, bool *any, const stream *s, int cause, int64_t threshold_us)
{
    size_t n = 0;

    for (size_t i = 0; i + 1 < s->n; i++) {
        int it = s->waited[i] ? HOST_WAIT : s->gap[i] < (double)threshold_us ? KERNEL_WAIT : OTHER;
        if (it == cause)
            out[n++] = s->gap[i];
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
            time[cause] = tl_pandas_sum(t->room, gaps_of(t->room, &any[cause], s, cause, threshold_us));
            total += time[cause];
        }
        for (int cause = 0; cause < NCAUSES; cause++)
            if (any[cause]) {
                if (with_threshold)
                    TL_CELLS(csv, threshold_us);
                TL_ROW(csv, s->rank, s->id, cause_names[cause], tl_numpy_round2(time[cause]),
                       tl_numpy_round2(time[cause] / total));
            }
    }
}

static void write_stats(const idle_tables *t, tl_csv *csv, int64_t threshold_us)
{
    for (size_t k = 0; k < t->streams.n; k++)
        for (int cause = 0; cause < NCAUSES; cause++) {
            const stream *s = &t->streams.v[k];
            double described[TL_NDESCRIBED];
            bool any;
            size_t n = gaps_of(t->room, &any, s, cause, threshold_us);
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
    idle_tables t = { .job = job };
    bool *works = tl_hta_symbols_that(&job->symbols, is_work);
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
            tl_hta_note(job, "idle_time_breakdown: rank %lld: no kernel is on a stream; HTA gives up all ranks",
                        (long long)frame->rank);
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
