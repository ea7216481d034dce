/* export.c - a slice of a job for ui.perfetto.dev: the ranks that matter in the worst step, on one clock, in one file.
 *
 *     rank 15 (node1, device 7) <- straggler          a process for each rank
 *         stream 7      [gemm][gemm]...               a thread for each stream
 *         Idle ...      [idle#3 starved]              idle time by its causes
 *         Waiting for Ranks     [others wait for rank 15: all_reduce]
 *     rank 3 ...                ^--------------.      arrows from the last to come to those that waited
 *         Waiting for Ranks     [waits for rank 15: all_reduce]
 *     critical path of the job  [on rank 15]
 */
#include "cli.h"
#include "export.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/report/html/strip.h"
#include "tlmpi/store/load.h"
#include "tlmpi/trace_out/idle.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_PID = 1000000 }; /* of a process of its own, after all ranks */

typedef struct exported {
    const tl_strip *strip;
    tl_result *result;
    tl_out_writer *w;
    int32_t rank, device, stream; /* of the last row of table interval */
    int64_t tid;                  /* its track; streams are counted */
} exported;

static tl_out_track track_of(int32_t rank, int64_t tid)
{
    return (tl_out_track){ .pid = rank, .tid = tid };
}

static void put_meta(tl_out_writer *w, int64_t pid, const char *what, tl_out_arg arg)
{
    tl_out_put(w, &(tl_out_event){
                      .ph = 'M', .track = { .pid = pid }, .name = { what, strlen(what) }, .args = &arg, .nargs = 1 });
}

static void put_process(tl_out_writer *w, int64_t pid, const char *name)
{
    put_meta(w, pid, "process_name", (tl_out_arg){ "name", tl_out_text((tl_text){ name, strlen(name) }) });
    put_meta(w, pid, "process_sort_index", (tl_out_arg){ "sort_index", tl_out_int(pid) });
}

/* The part of a piece of time that is in the window, from the window's begin; false: none. */
static bool clip(const tl_strip *s, int64_t *from_ns, int64_t *to_ns)
{
    bool inside = *from_ns != TL_TIME_UNKNOWN && *from_ns < s->to_ns && *to_ns >= s->from_ns;
    *from_ns = tl_ns_between(tl_ns_max(*from_ns, s->from_ns), s->from_ns);
    *to_ns = tl_ns_between(tl_ns_min(*to_ns, s->to_ns), s->from_ns);
    return inside;
}

/* The same of a piece of time by the rank's own clock; false also where the rank is not shown. */
static bool clip_of_rank(const tl_strip *s, int32_t rank, int64_t *from_ns, int64_t *to_ns)
{
    size_t place = tl_strip_place(s, rank);
    if (place == s->nranks)
        return false;
    *from_ns = tl_strip_time(s, &s->ranks[place], *from_ns);
    *to_ns = tl_strip_time(s, &s->ranks[place], *to_ns);
    return clip(s, from_ns, to_ns);
}

static void take_interval(void *arg, const void *of, tl_error *err)
{
    exported *e = arg;
    const tl_interval *row = of;
    int64_t from_ns = row->start_ns, to_ns = row->end_ns;
    (void)err;
    if (row->kind == TL_SYNC || !clip_of_rank(e->strip, row->rank, &from_ns, &to_ns))
        return;
    if (row->rank != e->rank || row->device != e->device || row->stream != e->stream) {
        char name[64];
        e->tid = row->rank == e->rank ? e->tid + 1 : 1;
        e->rank = row->rank;
        e->device = row->device;
        e->stream = row->stream;
        snprintf(name, sizeof name, "stream %" PRId32 " (device %" PRId32 ")", row->stream, row->device);
        const tl_out_track track = track_of(row->rank, e->tid);
        tl_out_name_track(e->w, &track, name);
    }
    const tl_out_arg args[] = { { "step", tl_out_int(row->step) },
                                { "operator", tl_out_text(tl_result_name(e->result, row->operator)) },
                                { "annotation", tl_out_text(tl_result_name(e->result, row->annotation)) },
                                { "correlation", tl_out_int(row->correlation) } };
    tl_out_event event = tl_out_slice(track_of(row->rank, e->tid), tl_result_name(e->result, row->name),
                                      tl_kind_labels[row->kind], from_ns, tl_ns_max(to_ns - from_ns, 0));
    event.args = args;
    event.nargs = sizeof args / sizeof args[0];
    tl_out_put(e->w, &event);
}

static void take_gap(void *arg, const void *of, tl_error *err)
{
    const exported *e = arg;
    const tl_gap *row = of;
    int64_t from_ns = row->start_ns, to_ns = row->end_ns;
    (void)err;
    if (!clip_of_rank(e->strip, row->rank, &from_ns, &to_ns))
        return;
    const tl_out_track first = track_of(row->rank, TL_OUT_IDLE_TID);
    const tl_out_gap gap = tl_out_gap_of(row, from_ns, to_ns - from_ns, tl_result_name(e->result, row->dominant_op));
    tl_out_idle_gap(e->w, &first, &gap);
}

/* An end of an arrow from the last rank to come to one that waited, in their slices. */
static void put_arrow(tl_out_writer *w, char end, tl_out_track track, int64_t ns, int64_t id)
{
    tl_out_put(w, &(tl_out_event){ .ph = end,
                                   .track = track,
                                   .name = TL_TEXT("last arrival"),
                                   .cat = TL_OUT_IDLE_CAT,
                                   .ts = tl_out_us(ns),
                                   .id = tl_out_int(id) });
}

/* The waits of the ranks, on as many tracks as overlap; and for the last rank to come a slice from which arrows lead. */
static void put_waits(const exported *e)
{
    const tl_strip *s = e->strip;
    int64_t busy_to[TL_OUT_WAIT_TRACKS] = { 0 }, number = 0;
    int32_t rank = -1;
    TL_EACH (const tl_strip_stay, stay, s->stays) {
        const tl_strip_meeting *m = &s->meetings.v[stay->collective];
        size_t place = tl_strip_place(s, stay->rank), late = tl_strip_place(s, m->late_rank);
        if (place == s->nranks || stay->wait_ns <= 0)
            continue;
        int64_t from_ns = stay->start_ns, to_ns = tl_ns_sum(stay->start_ns, stay->wait_ns);
        if (!clip(s, &from_ns, &to_ns))
            continue;
        const tl_out_track first = track_of(stay->rank, TL_OUT_IDLE_TID);
        int track = 0;
        for (int k = 0; k < TL_OUT_WAIT_TRACKS && stay->rank != rank; k++)
            busy_to[k] = INT64_MIN;
        if (stay->rank != rank)
            tl_out_waits_begin(e->w, &first, 0, "");
        rank = stay->rank;
        while (track < TL_OUT_WAIT_TRACKS && busy_to[track] > from_ns)
            track++;
        if (track == TL_OUT_WAIT_TRACKS)
            continue;
        if (track > 0 && busy_to[track] == INT64_MIN)
            tl_out_waits_begin(e->w, &first, track, "");
        busy_to[track] = to_ns;
        const tl_out_wait wait = { .ts = tl_out_us(from_ns),
                                   .dur = tl_out_us(to_ns - from_ns),
                                   .late_rank = m->late_rank,
                                   .collective = stay->collective,
                                   .kind = tl_collective_labels[m->kind] };
        tl_out_wait_put(e->w, &first, track, &wait);
        int64_t last_ns = m->last_ns, end_ns = m->end_ns;
        if (late == s->nranks || to_ns <= from_ns || !clip(s, &last_ns, &end_ns))
            continue;
        put_arrow(e->w, 's', track_of(m->late_rank, TL_OUT_IDLE_TID + TL_OUT_PATTERN_FIRST), last_ns, ++number);
        put_arrow(e->w, 'f', track_of(stay->rank, TL_OUT_IDLE_TID + 3 + track), to_ns - 1, number);
    }
}

TL_ORDER_BY(by_late_rank, tl_strip_meeting, late_rank, last_ns, end_ns)

/* A slice for each collective to which a rank that is shown came last while others waited, up to the next one. */
static void put_last_arrivals(const exported *e)
{
    const tl_strip *s = e->strip;
    const tl_strip_meeting *v = s->meetings.v;
    size_t n = s->meetings.n;
    uint32_t *index = tl_sorted_index(n, by_late_rank, v);
    for (size_t i = 0, named = SIZE_MAX; i < n; i++) {
        const tl_strip_meeting *m = &v[index[i]], *next = i + 1 < n ? &v[index[i + 1]] : NULL;
        int64_t from_ns = m->last_ns, to_ns = m->end_ns;
        size_t place = tl_strip_place(s, m->late_rank);
        if (next != NULL && next->late_rank == m->late_rank)
            to_ns = tl_ns_min(to_ns, next->last_ns);
        if (!m->told || place == s->nranks || !clip(s, &from_ns, &to_ns))
            continue;
        const tl_out_track track = track_of(m->late_rank, TL_OUT_IDLE_TID + TL_OUT_PATTERN_FIRST);
        if (named != place)
            tl_out_name_track(e->w, &track, "Others wait for this rank");
        named = place;
        const tl_phrase name = tl_phrase_of("others waited: %s", tl_collective_labels[m->kind]);
        const tl_out_event event =
            tl_out_slice(track, (tl_text){ name.text, strlen(name.text) }, TL_OUT_IDLE_CAT, from_ns,
                         tl_ns_max(to_ns - from_ns, 0));
        tl_out_put(e->w, &event);
    }
    free(index);
}

static void put_path(const exported *e)
{
    if (e->strip->path.n == 0)
        return;
    const tl_out_track track = { .pid = PATH_PID, .tid = 1 };
    put_process(e->w, PATH_PID, "critical path of the job");
    tl_out_name_track(e->w, &track,
                      e->strip->whole_path ? "Critical Path" : "Critical Path, through the last arrivals");
    TL_EACH (const tl_strip_piece, piece, e->strip->path) {
        const tl_phrase name = tl_phrase_of("on rank %" PRId32, piece->rank);
        int64_t from_ns = piece->from_ns, to_ns = piece->to_ns;
        if (!clip(e->strip, &from_ns, &to_ns))
            continue;
        const tl_out_event event =
            tl_out_slice(track, (tl_text){ name.text, strlen(name.text) }, TL_OUT_PATH_CAT, from_ns,
                         tl_ns_max(to_ns - from_ns, 0));
        tl_out_put(e->w, &event);
    }
}

/* "rank 15 (node1, device 7) <- straggler" */
static void put_ranks(const exported *e, const tl_table *ranks)
{
    for (size_t i = 0; i < e->strip->nranks; i++) {
        const tl_strip_rank *r = &e->strip->ranks[i];
        const tl_rank *row = tl_row_of_rank(ranks, r->rank);
        int host = row != NULL ? (int)tl_host_length(row->host, sizeof row->host) : 0;
        const tl_phrase name =
            tl_phrase_of("rank %" PRId32 " (%.*s%sdevice %" PRId32 ")%s", r->rank, host, row != NULL ? row->host : "",
                         host > 0 ? ", " : "", row != NULL ? row->device : -1, r->named ? " <- straggler" : "");
        const tl_out_track idle = track_of(r->rank, TL_OUT_IDLE_TID);
        put_process(e->w, r->rank, name.text);
        tl_out_idle_begin(e->w, &idle, "");
    }
}

tl_status tl_export_perfetto(tl_result *result, const tl_table *ranks, const tl_strip *strip, tl_sink *sink,
                             tl_error *err)
{
    tl_out_writer writer = { .sink = sink };
    exported e = { .strip = strip, .result = result, .w = &writer, .rank = -1 };
    const tl_phrase head = tl_phrase_of(
        "{\"displayTimeUnit\": \"ns\", \"baseTimeNanoseconds\": %" PRId64 ", \"traceEvents\": [", strip->from_ns);
    if (strip->nranks == 0)
        return tl_fail(err, TL_EINPUT, "no rank has work in these steps, or none of these ranks");
    tl_sink_put(sink, head.text, strlen(head.text));
    put_ranks(&e, ranks);
    tl_status st = tl_result_each(result, &tl_interval_schema, take_interval, &e, err);
    if (st == TL_OK)
        st = tl_result_each(result, &tl_gap_schema, take_gap, &e, err);
    put_last_arrivals(&e);
    put_waits(&e);
    put_path(&e);
    tl_sink_put(sink, "]}\n", 3);
    return st == TL_OK ? tl_sink_end(sink, err) : st;
}
