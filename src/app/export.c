/* export.c - ranks and steps of a job as one trace, for ui.perfetto.dev. */
#include "opened.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/read/rank_result.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/table.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/html/strip.h"
#include "tlmpi/store/load.h"
#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace_out/idle.h"
#include "tlmpi/trace_out/sink.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".perfetto.json.gz";

/* A part of a job for ui.perfetto.dev: the chosen ranks in the chosen steps, on one clock, in one file.
 *
 *     rank 15 (node1, device 7) <- straggler          a process for each rank
 *         thread 1234   [forward [linear [launch]]]   the host, with --fuse: from the traces
 *         stream 7      [gemm][gemm]...               a thread for each stream, from the result
 *         Idle ...      [idle#3 starved]              idle time by its causes
 *         Waiting for Ranks     [others wait for rank 15: all_reduce]
 *     rank 3 ...                ^--------------.      arrows from the last to come to those that waited
 *         Waiting for Ranks     [waits for rank 15: all_reduce]
 *     critical path of the job  [on rank 15]
 */

enum {
    PATH_PID = 1000000, /* a process of its own for the critical path, after all ranks */
    HOST_TID = 1,       /* the first track of a host; streams, then idle tracks, come after */
    STREAM_TID = 5000
};

/* The first work that a call queued. */
typedef struct queued {
    int64_t from_ns;
    tl_out_track track;
} queued;

typedef struct exported {
    const tl_cli *cli;
    const tl_strip *strip;
    tl_result *result;
    tl_out_writer *w;
    int32_t rank, device, stream; /* of the last row of table interval */
    int64_t tid;                  /* track of the stream; numbers count the streams */
    tl_map queue_of;              /* hash of (rank, correlation) -> queue; with --fuse */
    TL_VEC(queued) queue;
    int64_t arrows; /* numbers of arrows that were given */
} exported;

static uint64_t call_key(int32_t rank, int64_t correlation)
{
    return tl_hash_mix((uint64_t)rank, (uint64_t)correlation);
}

/* Whether --kinds and --min-us ask for a slice. */
static bool is_asked(const exported *e, tl_text kind, int64_t dur_ns)
{
    tl_text kinds = tl_text_of(e->cli->kinds != NULL ? e->cli->kinds : ""), item;
    bool found = e->cli->kinds == NULL;
    while (!found && tl_text_next(&kinds, &item))
        found = tl_text_compare(kind, item) == 0;
    return found && dur_ns >= 1000 * e->cli->min_us;
}

static tl_out_track track_of(int32_t rank, int64_t tid)
{
    return (tl_out_track){ .pid = rank, .tid = tid };
}

/* Returns the track for late arrivals: the first track of patterns, since an export has no patterns. */
static tl_out_track late_track(int32_t rank)
{
    return track_of(rank, TL_OUT_IDLE_TID + TL_OUT_PATTERN_FIRST);
}

static bool is_shown(const tl_strip *s, int32_t rank)
{
    return tl_strip_place(s, rank) < s->nranks;
}

/* A span of time. */
typedef struct piece {
    int64_t from_ns, to_ns, dur_ns;
} piece;

/* Clips the span to the window and makes it relative to the window's begin; returns false if nothing remains. */
static bool clip(const tl_strip *s, piece *p)
{
    const bool inside = p->from_ns != TL_TIME_UNKNOWN && p->from_ns < s->to_ns && p->to_ns >= s->from_ns;
    p->from_ns = tl_ns_between(tl_ns_max(p->from_ns, s->from_ns), s->from_ns);
    p->to_ns = tl_ns_between(tl_ns_min(p->to_ns, s->to_ns), s->from_ns);
    p->dur_ns = tl_ns_max(p->to_ns - p->from_ns, 0);
    return inside;
}

/* As clip, for a span on the rank's own clock; returns false also if the rank is not shown. */
static bool clip_of_rank(const tl_strip *s, int32_t rank, piece *p)
{
    if (!is_shown(s, rank))
        return false;
    const tl_clock *clock = s->ranks[tl_strip_place(s, rank)].clock;
    *p = (piece){ tl_strip_time(s, clock, p->from_ns), tl_strip_time(s, clock, p->to_ns), 0 };
    return clip(s, p);
}

static tl_text name_shown(void *result, uint32_t id)
{
    return id != TL_NO_NAME ? tl_result_name(result, id) : TL_TEXT("(no name)");
}

static void put_interval(void *arg, const void *of)
{
    exported *e = arg;
    const tl_interval *row = of;
    piece p = { row->start_ns, row->end_ns, 0 };
    const tl_text kind = tl_text_of(tl_kind_labels[row->kind]);
    if (row->kind == TL_SYNC || !clip_of_rank(e->strip, row->rank, &p) || !is_asked(e, kind, row->duration_ns))
        return;
    const bool next = row->rank != e->rank || row->device != e->device || row->stream != e->stream;
    e->tid = row->rank != e->rank ? STREAM_TID : next ? e->tid + 1 : e->tid;
    const tl_out_track track = track_of(row->rank, e->tid);
    if (next)
        tl_out_name_track(e->w, &track,
                          tl_phrase_of("stream %" PRId32 " (device %" PRId32 ")", row->stream, row->device).text);
    e->rank = row->rank;
    e->device = row->device;
    e->stream = row->stream;
    const tl_out_arg args[] = { { "step", tl_out_int(row->step) },
                                { "operator", tl_out_text(tl_result_name(e->result, row->operator)) },
                                { "annotation", tl_out_text(tl_result_name(e->result, row->annotation)) },
                                { "correlation", tl_out_int(row->correlation) } };
    tl_out_put_slice(e->w, &track, tl_result_name(e->result, row->name), tl_kind_labels[row->kind], p.from_ns, p.dur_ns,
                     args, sizeof args / sizeof args[0]);
    if (e->cli->fuse && row->correlation >= 0 &&
        tl_map_number(&e->queue_of, call_key(row->rank, row->correlation), e->queue.n) == e->queue.n)
        tl_vec_push(&e->queue, (queued){ p.from_ns, track });
}

static void put_gap(void *arg, const void *of)
{
    const exported *e = arg;
    const tl_gap *row = of;
    piece p = { row->start_ns, row->end_ns, 0 };
    const tl_out_track first = track_of(row->rank, TL_OUT_IDLE_TID);
    if (clip_of_rank(e->strip, row->rank, &p) && is_asked(e, TL_TEXT("idle"), row->duration_ns))
        tl_out_idle_row(e->w, &first, row, p.from_ns, p.to_ns - p.from_ns, name_shown, e->result);
}

/* Writes the waits of the ranks, and arrows to them from the last rank to arrive. */
static void put_waits(exported *e)
{
    const tl_strip *s = e->strip;
    const tl_strip_stay *last = NULL;
    tl_out_track first = { 0 };
    tl_out_waits tracks = { .first = &first, .of = "" };
    TL_EACH (const tl_strip_stay, stay, s->stays) {
        const tl_strip_meeting *m = &s->meetings.v[stay->collective];
        piece p = { stay->start_ns, tl_ns_sum(stay->start_ns, stay->wait_ns), 0 }, late = { m->last_ns, m->end_ns, 0 };
        if (!is_shown(s, stay->rank) || stay->wait_ns <= 0 || !clip(s, &p) ||
            !is_asked(e, TL_TEXT("wait"), stay->wait_ns))
            continue;
        if (last == NULL || last->rank != stay->rank)
            tracks.n = 0;
        last = stay;
        first = track_of(stay->rank, TL_OUT_IDLE_TID);
        const tl_out_wait wait = { p.from_ns, p.to_ns - p.from_ns, m->late_rank, stay->collective, m->kind };
        const tl_out_track to = track_of(stay->rank, tl_out_wait_put(e->w, &tracks, &wait)),
                           from = late_track(m->late_rank);
        if (to.tid < 0 || !is_shown(s, m->late_rank) || p.dur_ns == 0 || !clip(s, &late))
            continue;
        tl_out_put_arrow(e->w, 's', &from, "last arrival", TL_OUT_IDLE_CAT, late.from_ns, ++e->arrows);
        tl_out_put_arrow(e->w, 'f', &to, "last arrival", TL_OUT_IDLE_CAT, p.to_ns - 1, e->arrows);
    }
}

TL_ORDER_BY(by_late_rank, tl_strip_meeting, late_rank, last_ns, end_ns)

/* Writes a slice for each collective at which a shown rank arrived last while others waited, up to the next such
 * slice. */
static void put_last_arrivals(const exported *e)
{
    const tl_strip *s = e->strip;
    const tl_strip_meeting *v = s->meetings.v;
    size_t n = s->meetings.n;
    uint32_t *index = tl_sorted_index(n, by_late_rank, v);
    for (size_t i = 0, named = SIZE_MAX; i < n; i++) {
        const tl_strip_meeting *m = &v[index[i]], *next = i + 1 < n ? &v[index[i + 1]] : NULL;
        piece p = { m->last_ns, m->end_ns, 0 };
        if (next != NULL && next->late_rank == m->late_rank)
            p.to_ns = tl_ns_min(p.to_ns, next->last_ns);
        if (!m->told || !is_shown(s, m->late_rank) || !clip(s, &p) || !is_asked(e, TL_TEXT("wait"), p.dur_ns))
            continue;
        const tl_out_track track = late_track(m->late_rank);
        if (named != tl_strip_place(s, m->late_rank))
            tl_out_name_track(e->w, &track, "Others wait for this rank");
        named = tl_strip_place(s, m->late_rank);
        tl_out_put_slice(e->w, &track,
                         tl_text_of(tl_phrase_of("others waited: %s", tl_collective_labels[m->kind]).text),
                         TL_OUT_IDLE_CAT, p.from_ns, p.dur_ns, NULL, 0);
    }
    free(index);
}

static void put_path(const exported *e)
{
    const tl_out_track track = { .pid = PATH_PID, .tid = 1 };
    if (e->strip->path.n == 0)
        return;
    tl_out_name_process(e->w, PATH_PID, "critical path of the job");
    tl_out_name_track(e->w, &track,
                      e->strip->whole_path ? "Critical Path" : "Critical Path, through the last arrivals");
    TL_EACH (const tl_strip_piece, part, e->strip->path) {
        piece p = { part->from_ns, part->to_ns, 0 };
        if (clip(e->strip, &p))
            tl_out_put_slice(e->w, &track, tl_text_of(tl_phrase_of("on rank %" PRId32, part->rank).text),
                             TL_OUT_PATH_CAT, p.from_ns, p.dur_ns, NULL, 0);
    }
}

/* Writes the names of the ranks' processes: "rank 15 (node1, device 7) <- straggler". */
static void put_ranks(const exported *e, const tl_table *ranks)
{
    for (size_t i = 0; i < e->strip->nranks; i++) {
        const tl_strip_rank *r = &e->strip->ranks[i];
        const tl_rank *row = tl_row_of_rank(ranks, r->rank);
        int host = row != NULL ? (int)tl_host_length(row->host, sizeof row->host) : 0;
        const tl_out_track idle = track_of(r->rank, TL_OUT_IDLE_TID);
        tl_out_name_process(e->w, r->rank,
                            tl_phrase_of("rank %" PRId32 " (%.*s%sdevice %" PRId32 ")%s", r->rank, host,
                                         row != NULL ? row->host : "", host > 0 ? ", " : "",
                                         row != NULL ? row->device : -1, r->named ? " <- straggler" : "")
                                .text);
        tl_out_idle_begin(e->w, &idle, "");
    }
}

/* ----------------------------------------------------------------------------------------------------------- hosts */

/* Writes a host's slices, and arrows from calls to the first work that they queued. */
static void put_host(exported *e, int32_t rank, const tl_trace *trace)
{
    const unsigned host = TL_CAT_BIT(TL_CAT_RUNTIME) | TL_CAT_BIT(TL_CAT_DRIVER) | TL_CAT_BIT(TL_CAT_CPU_OP) |
                          TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_PYTHON) | TL_CAT_BIT(TL_CAT_OVERHEAD);
    const tl_events *ev = &trace->events;
    const int64_t base_ns = trace->meta.has_base ? trace->meta.base_ns : 0;
    bool *named = tl_calloc(ev->tracks.n + 1, sizeof *named);
    for (size_t i = 0; i < ev->n; i++) {
        const int64_t dur_ns = tl_event_dur_ns(ev, i), start_ns = tl_ns_sum(ev->ts_ns[i], base_ns),
                      correlation = tl_event_corr(ev, i);
        const tl_text kind = tl_names_text(&ev->names, tl_event_category(ev, i)->text);
        piece p = { start_ns, tl_ns_sum(start_ns, dur_ns), 0 };
        if ((host & TL_CAT_BIT(tl_event_cat(ev, i))) == 0 || (ev->flags[i] & TL_EVENT_PH_X) == 0 ||
            !clip_of_rank(e->strip, rank, &p) || !is_asked(e, kind, dur_ns))
            continue;
        const tl_track *thread = &ev->tracks.v[tl_event_track(ev, i)];
        const tl_text text = thread->tid_text != TL_NO_NAME ? tl_names_text(&ev->names, thread->tid_text) : TL_TEXT("");
        const tl_out_track track = track_of(rank, HOST_TID + tl_event_track(ev, i));
        if (!named[tl_event_track(ev, i)])
            tl_out_name_track(e->w, &track,
                              text.n > 0 ? tl_phrase_of("thread %.*s", (int)text.n, text.p).text
                                         : tl_phrase_of("thread %" PRId64, thread->tid).text);
        named[tl_event_track(ev, i)] = true;
        tl_out_put_slice(e->w, &track, ev->name[i] != TL_NO_NAME ? tl_names_text(&ev->names, ev->name[i]) : TL_TEXT(""),
                         tl_phrase_of("%.*s", (int)kind.n, kind.p).text, p.from_ns, p.dur_ns, NULL, 0);
        const uint32_t to = correlation >= 0 ? tl_map_get(&e->queue_of, call_key(rank, correlation)) : TL_MAP_NONE;
        if (to == TL_MAP_NONE)
            continue;
        tl_out_put_arrow(e->w, 's', &track, "launch", "ac2g", p.from_ns, ++e->arrows);
        tl_out_put_arrow(e->w, 'f', &e->queue.v[to].track, "launch", "ac2g", e->queue.v[to].from_ns, e->arrows);
    }
    free(named);
}

/* Reads the traces of the shown ranks one after the other, and writes what their hosts did.  TL_EINPUT: a trace is not
 * as it was when the result was made. */
static tl_status put_hosts(exported *e, const tl_plan *plan, const tl_table *ranks, tl_error *err)
{
    const tl_read_options reading = { .keep = UINT32_MAX, .columns_alone = true };
    tl_records records = { .v = { 0 } }; /* none without a hook */
    tl_status st = TL_OK;
    for (size_t i = 0; st == TL_OK && i < plan->n; i++) {
        const int32_t rank = plan->items[i].alone ? e->strip->ranks[0].rank : (int32_t)plan->items[i].rank;
        const tl_rank *row = tl_row_of_rank(ranks, rank);
        tl_trace trace;
        if (!is_shown(e->strip, rank))
            continue;
        st = plan->items[i].nwindows == 0 ? tl_trace_read(plan->items[i].path, &reading, &trace, err)
                                          : tl_rank_read_windows(&plan->items[i], &reading, &records, &trace, err);
        if (st == TL_OK && row != NULL && (uint64_t)row->events != trace.report.entries)
            st = tl_fail(err, TL_EINPUT,
                         "%s has changed since: it has %" PRIu64 " entries, and had %" PRId64
                         "; name the traces themselves",
                         plan->items[i].path, trace.report.entries, row->events);
        if (st == TL_OK)
            put_host(e, rank, &trace);
        tl_trace_free(&trace);
    }
    return st;
}

/* -------------------------------------------------------------------------------------------------------- the whole */

/* Writes what the strip shows, in Chrome's trace format, and ends the sink.  TL_EINPUT: it shows nothing. */
static tl_status put_all(tl_opened *a, const tl_cli *cli, const tl_strip *strip, tl_sink *sink, tl_error *err)
{
    const tl_table *ranks = tl_tables_get(&a->tables, &tl_rank_schema);
    tl_out_writer writer = { .sink = sink };
    exported e = { .cli = cli, .strip = strip, .result = a->result, .w = &writer, .rank = -1 };
    const tl_phrase head = tl_phrase_of(
        "{\"displayTimeUnit\": \"ns\", \"baseTimeNanoseconds\": %" PRId64 ", \"traceEvents\": [", strip->from_ns);
    if (strip->nranks == 0)
        return tl_fail(err, TL_EINPUT, "no rank has work in these steps, or none of these ranks");
    tl_sink_put(sink, head.text, strlen(head.text));
    put_ranks(&e, ranks);
    tl_status st = tl_result_each(a->result, &tl_interval_schema, put_interval, &e, err);
    if (st == TL_OK)
        st = tl_result_each(a->result, &tl_gap_schema, put_gap, &e, err);
    if (st == TL_OK && cli->fuse)
        st = put_hosts(&e, a->arg, ranks, err);
    put_last_arrivals(&e);
    put_waits(&e);
    put_path(&e);
    tl_sink_put(sink, "]}\n", 3);
    tl_map_free(&e.queue_of);
    free(e.queue.v);
    return st == TL_OK ? tl_sink_end(sink, err) : st;
}

static tl_status put_slice(tl_opened *a, const tl_cli *cli, FILE *out, tl_error *err)
{
    static const tl_range every = { 0, INT32_MAX }, whole = { -1, INT32_MAX };
    const tl_ranges all_ranks = { .v = (tl_range *)&every, .n = 1 }, all_steps = { .v = (tl_range *)&whole, .n = 1 };
    const tl_ranges *ranks = cli->run.ranks.n > 0 ? &cli->run.ranks : cli->fuse ? &all_ranks : NULL;
    const tl_ranges *steps = cli->run.steps.n > 0 ? &cli->run.steps : cli->fuse ? &all_steps : NULL;
    const tl_html_input input = tl_opened_input(a);
    const char *path = cli->run.output;
    bool gzip = path == NULL || (strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".gz") == 0);
    tl_strip strip;
    tl_sink *sink = NULL;
    tl_error why;
    tl_status st = tl_strip_gather(&strip, &input, ranks, steps, err);
    if (st == TL_OK)
        st = tl_sink_open(fileno(out), path != NULL ? path : "the export", gzip, &sink, err);
    if (st == TL_OK)
        st = tl_opened_tell(a, put_all(a, cli, &strip, sink, &why), &why, err);
    tl_sink_close(sink);
    tl_strip_free(&strip);
    return st;
}

/* Returns whether the output can be opened: an analysis may take long, and a refusal comes before it. */
static tl_status try_output(const tl_cli *cli, const char *named, tl_error *err)
{
    tl_outfile file = { .part = TL_PART_FILE_INIT };
    tl_error none;
    char *beside = tl_path_beside(named, ending);
    tl_status st = tl_par_proc() > 0
                       ? TL_OK
                       : tl_outfile_open(&file, cli->words[0], cli->run.output != NULL ? cli->run.output : beside,
                                         cli->run.force, err);
    (void)tl_outfile_close(&file, TL_EOUTPUT, &none);
    free(beside);
    return tl_par_agree(st, err);
}

/* All procs: analyses the traces, and exports their result. */
static int export_traces(const tl_cli *cli, void *plan, tl_error *err)
{
    tl_passing passing = { .folder = "" };
    tl_options unnamed = cli->run;
    unnamed.output = NULL;
    char *named = tl_output_path(&unnamed);
    int code = TL_EXIT_DONE, put;
    tl_status st = try_output(cli, named, err);
    if (st == TL_OK)
        st = tl_passing_begin(&passing, err);
    if (st != TL_OK)
        code = tl_cli_complain(cli, err);
    else
        code = tl_passing_add(&passing, 0, cli, cli->words, cli->nwords);
    const tl_answer_how how = { passing.path[0], named, ending, put_slice, plan };
    if (code <= TL_EXIT_PARTIAL && tl_par_proc() == 0 && (put = tl_opened_answer(cli, &how)) != TL_EXIT_DONE)
        code = put;
    tl_passing_end(&passing);
    free(named);
    return code;
}

int tl_export(const tl_cli *cli)
{
    tl_cli own = *cli;
    tl_error err;
    tl_plan plan = { .n = 0 };
    tl_made_of made_of = { .text = { 0 } };
    const bool of_result = tl_is_result(cli->words[0]);
    const tl_answer_how how = { cli->words[0], cli->words[0], ending, put_slice, &plan };
    tl_status st = TL_OK;
    int code = TL_EXIT_DONE;

    own.run.ranks = own.run.steps = (tl_ranges){ 0 }; /* of the slice, not of its result */
    if (of_result && cli->nwords > 1)
        st = tl_fail(&err, TL_EUSAGE, "one file at a time: tlmpi export FILE.h5");
    if (st == TL_OK && cli->fuse && of_result)
        st = tl_made_of_read(&own, &made_of, &err);
    if (st == TL_OK && cli->fuse)
        st = tl_plan_make(&own.run, &plan, &err);
    if (st != TL_OK)
        code = tl_cli_complain(cli, &err);
    else if (!of_result)
        code = export_traces(cli, &plan, &err);
    else if (tl_par_proc() == 0)
        code = tl_opened_answer(cli, &how);
    tl_plan_free(&plan);
    tl_made_of_free(&made_of, &own.run, &(tl_options){ .npaths = 0 });
    return code;
}
