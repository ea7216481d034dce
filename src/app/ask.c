/* ask.c - the answers of a result file: as text and JSON (ask), as a page with pictures (html), and a slice of the job
 * that shows them as a trace (export). */
#include "cli.h"
#include "tlmpi/model/table.h"
#include "tlmpi/store/result.h"
#include "tlmpi/trace_out/sink.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/run.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/html.h"
#include "tlmpi/report/html/strip.h"
#include "tlmpi/store/load.h"
#include "tlmpi/trace_out/idle.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- export */

/* A slice of a job for ui.perfetto.dev: the chosen ranks in the worst step, on one clock, in one file.
 *
 *     rank 15 (node1, device 7) <- straggler          a process for each rank
 *         stream 7      [gemm][gemm]...               a thread for each stream
 *         Idle ...      [idle#3 starved]              idle time by its causes
 *         Waiting for Ranks     [others wait for rank 15: all_reduce]
 *     rank 3 ...                ^--------------.      arrows from the last to come to those that waited
 *         Waiting for Ranks     [waits for rank 15: all_reduce]
 *     critical path of the job  [on rank 15]
 */

enum { PATH_PID = 1000000 }; /* a process of its own for the critical path, after all ranks */

typedef struct exported {
    const tl_strip *strip;
    tl_result *result;
    tl_out_writer *w;
    int32_t rank, device, stream; /* of the last row of table interval */
    int64_t tid;                  /* track of the stream; numbers count the streams */
} exported;

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
    if (row->kind == TL_SYNC || !clip_of_rank(e->strip, row->rank, &p))
        return;
    const bool next = row->rank != e->rank || row->device != e->device || row->stream != e->stream;
    e->tid = row->rank != e->rank ? 1 : next ? e->tid + 1 : e->tid;
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
}

static void put_gap(void *arg, const void *of)
{
    const exported *e = arg;
    const tl_gap *row = of;
    piece p = { row->start_ns, row->end_ns, 0 };
    const tl_out_track first = track_of(row->rank, TL_OUT_IDLE_TID);
    if (clip_of_rank(e->strip, row->rank, &p))
        tl_out_idle_row(e->w, &first, row, p.from_ns, p.to_ns - p.from_ns, name_shown, e->result);
}

/* Writes the waits of the ranks, and arrows to them from the last rank to arrive. */
static void put_waits(const exported *e)
{
    const tl_strip *s = e->strip;
    const tl_strip_stay *last = NULL;
    tl_out_track first = { 0 };
    tl_out_waits tracks = { .first = &first, .of = "" };
    int64_t number = 0;
    TL_EACH (const tl_strip_stay, stay, s->stays) {
        const tl_strip_meeting *m = &s->meetings.v[stay->collective];
        piece p = { stay->start_ns, tl_ns_sum(stay->start_ns, stay->wait_ns), 0 }, late = { m->last_ns, m->end_ns, 0 };
        if (!is_shown(s, stay->rank) || stay->wait_ns <= 0 || !clip(s, &p))
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
        tl_out_put_arrow(e->w, 's', &from, "last arrival", TL_OUT_IDLE_CAT, late.from_ns, ++number);
        tl_out_put_arrow(e->w, 'f', &to, "last arrival", TL_OUT_IDLE_CAT, p.to_ns - 1, number);
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
        if (!m->told || !is_shown(s, m->late_rank) || !clip(s, &p))
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

/* Writes what the strip shows, in Chrome's trace format, and ends the sink.  TL_EINPUT: it shows nothing. */
static tl_status export_perfetto(tl_result *result, const tl_table *ranks, const tl_strip *strip, tl_sink *sink,
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
    tl_status st = tl_result_each(result, &tl_interval_schema, put_interval, &e, err);
    if (st == TL_OK)
        st = tl_result_each(result, &tl_gap_schema, put_gap, &e, err);
    put_last_arrivals(&e);
    put_waits(&e);
    put_path(&e);
    tl_sink_put(sink, "]}\n", 3);
    return st == TL_OK ? tl_sink_end(sink, err) : st;
}

/* Attributes of a result; the last four are for a page. */
enum { SELECTION, NOTES, COMMAND, HISTORY, HOST, VERSION, NTEXTS };
static const char *const attributes[NTEXTS] = { "selection", "selection_notes", "command_line",
                                                "history",   "hostname",        "creator_version" };

/* An open result, and the tables that the answers are read from. */
typedef struct asked {
    const char *path;
    tl_result *result;
    tl_tables tables;
    tl_answers answers;
    char *texts[NTEXTS];
} asked;

/* Returns the error with the file's name put before it. */
static tl_status in_file(const asked *a, tl_status st, tl_error *why, tl_error *err)
{
    return st != TL_OK ? tl_fail(err, st, "%s: %s", a->path, why->text) : TL_OK;
}

static void asked_free(asked *a)
{
    tl_result_close(a->result);
    tl_tables_free(&a->tables);
    for (int i = 0; i < NTEXTS; i++)
        free(a->texts[i]);
}

/* Loads the tables of the answers, and of a page if wanted.  The caller ends *a by asked_free in any case. */
static tl_status load(asked *a, const char *path, bool page, tl_error *err)
{
    enum { MOST = 64 };
    const tl_schema *schemas[MOST];
    size_t n = 0, required;
    tl_error why;

    *a = (asked){ .path = path };
    for (const tl_schema *const *of = tl_answer_tables(&required); *of != NULL && n < MOST; of++)
        schemas[n++] = *of;
    for (const tl_schema *const *of = tl_html_tables(); page && *of != NULL && n < MOST; of++)
        schemas[n++] = *of;
    tl_status st = tl_result_open(path, &a->result, err);
    if (st != TL_OK)
        return st;
    tl_tables_init(&a->tables, schemas, n);
    st = in_file(a, tl_result_load(a->result, &a->tables, required, &why), &why, err);
    for (int i = 0; st == TL_OK && i < NTEXTS; i++)
        st = in_file(a, tl_result_attr_text(a->result, attributes[i], &a->texts[i], &why), &why, err);
    if (st == TL_OK) {
        tl_answers_read(&a->tables, &a->answers);
        a->answers.selection = a->texts[SELECTION];
        a->answers.notes = a->texts[NOTES];
    }
    return st;
}

/* A command's use of the answers: prints them to `out`. */
typedef tl_status put_answers(asked *a, const tl_cli *cli, FILE *out, tl_error *err);

/* Loads the result named on the command line, and prints to the output asked for, else to stdout, or, with an ending,
 * into a file beside the result: "a/traces.html" for "a/traces.h5".  Returns the exit status. */
static int answer(const tl_cli *cli, const char *ending, put_answers *put)
{
    tl_error err;
    tl_outfile file = { .out = NULL };
    asked a = { .path = NULL };
    bool too_much = false;
    const char *path = cli->nwords > 0 ? cli->words[0] : "";
    const size_t n = strlen(path), stem = n > 3 && strcmp(path + n - 3, ".h5") == 0 ? n - 3 : n;
    tl_bytes beside = { 0 };
    tl_bytes_put(&beside, path, stem);
    tl_bytes_put(&beside, ending, ending != NULL ? strlen(ending) + 1 : 0);
    tl_status st = cli->nwords == 1
                       ? load(&a, path, cli->command->bit == TL_FOR_HTML, &err)
                       : tl_fail(&err, TL_EUSAGE, "%s: tlmpi %s FILE.h5",
                                 cli->nwords == 0 ? "no result file named" : "one file at a time", cli->command->name);
    if (st == TL_OK)
        st = tl_outfile_open(&file, path, cli->run.output != NULL || ending == NULL ? cli->run.output : beside.v,
                             cli->run.force, &err);
    if (st == TL_OK)
        st = tl_outfile_close(&file, put(&a, cli, file.out, &err), &err);
    if (st == TL_OK && cli->command->bit == TL_FOR_ASK)
        too_much = tl_gates_judge(&cli->run.fail_on, &a.answers, stderr);
    asked_free(&a);
    tl_bytes_free(&beside);
    return st != TL_OK ? tl_cli_complain(cli, &err) : too_much ? TL_EXIT_FAIL_ON : TL_EXIT_DONE;
}

static tl_status put_text(asked *a, const tl_cli *cli, FILE *out, tl_error *err)
{
    (void)err;
    if (cli->run.json)
        tl_print_answers_json(out, &a->answers, a->path);
    else
        tl_print_answers(out, &a->answers, a->path, 0);
    return TL_OK;
}

int tl_ask(const tl_cli *cli)
{
    return answer(cli, NULL, put_text);
}

/* ------------------------------------------------------------------------------------------------------------ html */

static tl_text name_of(void *of, uint32_t id)
{
    return tl_result_name(((const asked *)of)->result, id);
}

static tl_status each_row(void *of, const tl_schema *table, tl_html_take *take, void *arg, tl_error *err)
{
    const asked *a = of;
    tl_error why;
    return tl_result_find(a->result, table->name) != NULL
               ? in_file(a, tl_result_each(a->result, table, take, arg, &why), &why, err)
               : TL_OK;
}

static tl_html_input input_of(asked *a)
{
    return (tl_html_input){ .file = a->path,
                            .answers = &a->answers,
                            .tables = &a->tables,
                            .result = a,
                            .name = name_of,
                            .each = each_row,
                            .command = a->texts[COMMAND],
                            .when = a->texts[HISTORY],
                            .host = a->texts[HOST],
                            .version = a->texts[VERSION] };
}

static tl_status put_page(asked *a, const tl_cli *cli, FILE *out, tl_error *err)
{
    (void)cli;
    char *history = a->texts[HISTORY]; /* "2026-03-01T12:00:00Z: tlmpi ..."; the command is shown separately */
    if (history != NULL)
        history[strcspn(history, " ") - (strcspn(history, " ") > 0)] = '\0';
    const tl_html_input input = input_of(a);
    return tl_html_write(&input, out, err);
}

int tl_html_page(const tl_cli *cli)
{
    if (cli->nwords == 2)
        return tl_diff_command(cli);
    if (tl_par_proc() > 0)
        return TL_EXIT_DONE;
    return answer(cli, ".html", put_page);
}

/* ---------------------------------------------------------------------------------------------------------- export */

static tl_status put_slice(asked *a, const tl_cli *cli, FILE *out, tl_error *err)
{
    const tl_ranges *ranks = &cli->run.ranks, *steps = &cli->run.steps;
    const tl_html_input input = input_of(a);
    const char *path = cli->run.output;
    bool gzip = path == NULL || (strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".gz") == 0);
    tl_strip strip;
    tl_sink *sink = NULL;
    tl_error why;
    tl_status st = tl_strip_gather(&strip, &input, ranks->n > 0 ? ranks : NULL, steps->n > 0 ? steps : NULL, err);
    if (st == TL_OK)
        st = tl_sink_open(fileno(out), path != NULL ? path : "the export", gzip, &sink, err);
    if (st == TL_OK)
        st = in_file(a, export_perfetto(a->result, tl_tables_get(&a->tables, &tl_rank_schema), &strip, sink, &why),
                     &why, err);
    tl_sink_close(sink);
    tl_strip_free(&strip);
    return st;
}

int tl_export(const tl_cli *cli)
{
    return answer(cli, ".perfetto.json.gz", put_slice);
}
