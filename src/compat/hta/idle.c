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
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

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

TL_ORDER_BY(by_stream, kernel, stream, ts)

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
    uint32_t *order = tl_sorted_index(kernels.n, by_stream, kernels.v);
    for (size_t from = 0, to; from < kernels.n; from = to) {
        stream s = { .rank = frame->rank, .id = kernels.v[order[from]].id };
        for (to = from; to < kernels.n && kernels.v[order[to]].stream == kernels.v[order[from]].stream;)
            to++;
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
