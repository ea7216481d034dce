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
#include "tlmpi/compat/hta/streams.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include <math.h>
#include <stdlib.h>

enum { HOST_WAIT, KERNEL_WAIT, OTHER, NCAUSES };
static const char *const cause_names[] = { "host_wait", "kernel_wait", "other" };

/* Those that a second table has. */
static const int64_t thresholds_us[] = { 5, 10, 100, 1000 };

/* The gaps of one stream in the order of its kernels; the first kernel has none. */
typedef struct stream {
    int64_t id;
    size_t n;     /* kernels */
    double *gap;  /* n - 1 */
    bool *waited; /* for the host */
} stream;

typedef struct rank_idle {
    tl_arena arena;
    TL_VEC(stream) streams; /* in order of first appearance */
} rank_idle;

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
static double *starts_by_index(tl_arena *arena, const tl_hta_frame *frame, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < frame->rows.n; i++)
        if (frame->rows.v[i].index >= *n)
            *n = (size_t)frame->rows.v[i].index + 1;
    double *starts = tl_arena_take(arena, *n, sizeof *starts);
    for (size_t i = 0; starts != NULL && i < *n; i++)
        starts[i] = NAN;
    for (size_t i = 0; starts != NULL && i < frame->rows.n; i++)
        starts[frame->rows.v[i].index] = frame->rows.v[i].ts;
    return starts;
}

/* The kernels of each stream, in row order one stream after the other: v[at[k]] is the first of stream k. */
typedef struct kernels {
    tl_arena arena; /* of all that the search for gaps needs */
    const tl_hta_row **v;
    size_t *at;
} kernels;

static bool find_streams(rank_idle *idle, kernels *found, const tl_hta_frame *frame, const bool *works)
{
    tl_map seen = { 0 }; /* stream -> its place */
    size_t n = 0;

    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (!tl_hta_on_stream(row) || !works[row->cat])
            continue;
        uint32_t k = tl_map_get(&seen, (uint64_t)row->stream);
        if (k == TL_MAP_NONE) {
            k = (uint32_t)idle->streams.n;
            if (!tl_vec_room(&idle->streams) || tl_map_put(&seen, (uint64_t)row->stream, k) != 0) {
                tl_map_free(&seen);
                return false;
            }
            idle->streams.v[idle->streams.n++] = (stream){ .id = row->stream };
        }
        idle->streams.v[k].n++;
        n++;
    }
    found->v = tl_arena_take(&found->arena, n, sizeof *found->v);
    found->at = tl_arena_take(&found->arena, idle->streams.n, sizeof *found->at);
    if (!found->arena.failed) {
        for (size_t k = 0, sum = 0; k < idle->streams.n; k++) {
            found->at[k] = sum;
            sum += idle->streams.v[k].n;
        }
        for (size_t i = 0; i < frame->rows.n; i++) {
            const tl_hta_row *row = &frame->rows.v[i];
            if (tl_hta_on_stream(row) && works[row->cat])
                found->v[found->at[tl_map_get(&seen, (uint64_t)row->stream)]++] = row;
        }
        for (size_t k = 0; k < idle->streams.n; k++)
            found->at[k] -= idle->streams.v[k].n;
    }
    tl_map_free(&seen);
    return !found->arena.failed;
}

/* A kernel whose link is 0, "none", is taken to be launched by the event that has index 0. */
static void find_gaps(stream *s, const tl_hta_row *const *rows, const uint32_t *order, const double *starts,
                      size_t nstarts)
{
    for (size_t i = 1; i < s->n; i++) {
        const tl_hta_row *before = rows[order[i - 1]], *row = rows[order[i]];
        double end = before->ts + before->dur;
        double launch = row->link >= 0 && (uint64_t)row->link < nstarts ? starts[row->link] : NAN;
        s->gap[i - 1] = row->ts - end;
        s->waited[i - 1] = launch > end;
    }
}

static bool find_all_gaps(rank_idle *idle, kernels *found, const tl_hta_frame *frame, const bool *works)
{
    size_t nstarts, longest = 0;

    if (!find_streams(idle, found, frame, works))
        return false;
    for (size_t k = 0; k < idle->streams.n; k++)
        longest = idle->streams.v[k].n > longest ? idle->streams.v[k].n : longest;
    double *starts = starts_by_index(&found->arena, frame, &nstarts);
    double *ts = tl_arena_take(&found->arena, longest, sizeof *ts);
    uint32_t *order = tl_arena_take(&found->arena, longest, sizeof *order);
    if (found->arena.failed)
        return false;

    for (size_t k = 0; k < idle->streams.n; k++) {
        stream *s = &idle->streams.v[k];
        s->gap = tl_arena_take(&idle->arena, s->n, sizeof *s->gap);
        s->waited = tl_arena_take(&idle->arena, s->n, sizeof *s->waited);
        if (idle->arena.failed)
            return false;
        for (size_t i = 0; i < s->n; i++)
            ts[i] = found->v[found->at[k] + i]->ts;
        tl_numpy_argsort(order, ts, s->n);
        find_gaps(s, found->v + found->at[k], order, starts, nstarts);
    }
    return true;
}

static bool find_idle(rank_idle *idle, const tl_hta_frame *frame, const bool *works)
{
    kernels found = { .v = NULL };
    bool ok = find_all_gaps(idle, &found, frame, works);
    tl_arena_free(&found.arena);
    return ok;
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
static void write_times(tl_sheet *csv, int64_t rank, const stream *s, int64_t threshold_us, bool with_threshold,
                        double *room)
{
    double time[NCAUSES], total = 0;
    bool any[NCAUSES];

    for (int cause = 0; cause < NCAUSES; cause++) {
        time[cause] = tl_pandas_sum(room, gaps_of(room, &any[cause], s, cause, threshold_us));
        total += time[cause];
    }
    for (int cause = 0; cause < NCAUSES; cause++) {
        if (!any[cause])
            continue;
        if (with_threshold)
            tl_sheet_int(csv, threshold_us);
        tl_sheet_int(csv, rank);
        tl_sheet_int(csv, s->id);
        tl_sheet_words(csv, cause_names[cause]);
        tl_sheet_real(csv, tl_numpy_round2(time[cause]));
        tl_sheet_real(csv, tl_numpy_round2(time[cause] / total));
        tl_sheet_end_row(csv);
    }
}

static void write_stats(tl_sheet *csv, int64_t rank, const stream *s, int64_t threshold_us, double *room)
{
    for (int cause = 0; cause < NCAUSES; cause++) {
        bool any;
        size_t n = gaps_of(room, &any, s, cause, threshold_us);
        if (!any)
            continue;
        tl_described d = tl_pandas_describe(room, n);
        const double cells[] = { d.count, d.mean, d.std, d.min, d.quartile[0], d.quartile[1], d.quartile[2], d.max };
        tl_sheet_words(csv, cause_names[cause]);
        tl_sheet_int(csv, rank);
        tl_sheet_int(csv, s->id);
        for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
            tl_sheet_real(csv, tl_numpy_round2(cells[i]));
        tl_sheet_end_row(csv);
    }
}

typedef struct job_idle {
    const tl_hta_job *job;
    rank_idle *v; /* one a frame */
    double *room; /* for as many gaps as a stream has at most */
} job_idle;

/* A row has its threshold where there are several. */
static tl_status write_times_table(const job_idle *ranks, const int64_t *thresholds, size_t n, const char *dir,
                                   const char *name, const char *header, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, name, header, err);
    if (st != TL_OK)
        return st;
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < ranks->job->frames.n; i++)
            for (size_t k = 0; k < ranks->v[i].streams.n; k++)
                write_times(&csv, ranks->job->frames.v[i].rank, &ranks->v[i].streams.v[k], thresholds[t], n > 1,
                            ranks->room);
    return tl_sheet_close(&csv, err);
}

static tl_status write_stats_table(const job_idle *ranks, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "idle_interval_stats.csv",
                                 "idle_category,rank,stream,count,mean,std,min,25%,50%,75%,max", err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < ranks->job->frames.n; i++)
        for (size_t k = 0; k < ranks->v[i].streams.n; k++)
            write_stats(&csv, ranks->job->frames.v[i].rank, &ranks->v[i].streams.v[k],
                        ranks->job->parameters->consecutive_kernel_delay, ranks->room);
    return tl_sheet_close(&csv, err);
}

static tl_status write_tables(const job_idle *ranks, const char *dir, tl_error *err)
{
    tl_status st =
        write_times_table(ranks, &ranks->job->parameters->consecutive_kernel_delay, 1, dir, "idle_time_breakdown.csv",
                          "rank,stream,idle_category,idle_time,idle_time_ratio", err);
    if (st == TL_OK)
        st = write_times_table(ranks, thresholds_us, sizeof thresholds_us / sizeof thresholds_us[0], dir,
                               "idle_time_breakdown_thresholds.csv",
                               "consecutive_kernel_delay,rank,stream,idle_category,idle_time,idle_time_ratio", err);
    return st == TL_OK ? write_stats_table(ranks, dir, err) : st;
}

tl_status tl_hta_idle_time(tl_hta_job *job, const char *dir, tl_error *err)
{
    job_idle ranks = { .job = job, .v = tl_calloc(job->frames.n, sizeof *ranks.v) };
    bool *works = tl_calloc(job->symbols.v.n, sizeof *works), any = false;
    size_t longest = 0;
    tl_status st = TL_OK;

    for (size_t i = 0; works != NULL && i < job->symbols.v.n; i++)
        works[i] = is_work(tl_names_text(&job->symbols.texts, (uint32_t)i));
    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++) {
        if (works == NULL || ranks.v == NULL || !find_idle(&ranks.v[i], &job->frames.v[i], works)) {
            st = tl_fail_memory(err, "the idle time of a rank");
            break;
        }
        for (size_t k = 0; k < ranks.v[i].streams.n; k++)
            longest = ranks.v[i].streams.v[k].n > longest ? ranks.v[i].streams.v[k].n : longest;
        any = any || ranks.v[i].streams.n > 0;
        if (ranks.v[i].streams.n == 0)
            st = tl_hta_job_note(job, err,
                                 "idle_time_breakdown: rank %lld: no kernel is on a stream; HTA gives up all ranks",
                                 (long long)job->frames.v[i].rank);
    }
    if (st == TL_OK && any) {
        ranks.room = tl_malloc(longest * sizeof *ranks.room);
        st = ranks.room != NULL ? write_tables(&ranks, dir, err) : tl_fail_memory(err, "the gaps of a stream");
    }
    for (size_t i = 0; ranks.v != NULL && i < job->frames.n; i++) {
        free(ranks.v[i].streams.v);
        tl_arena_free(&ranks.v[i].arena);
    }
    free(ranks.v);
    free(ranks.room);
    free(works);
    return st;
}
