/* idle_tracks.c - the gaps of a rank's devices, and their waits for other ranks, as tracks; also the rank's
 * critical path and patterns as tracks, and its queues and copies as counters. */
#include "tlmpi/analysis/rank/idle.h"
#include "tlmpi/analysis/rank/work.h"
#include "tlmpi/analysis/rank/work/pattern.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/work_tables.h"
#include "tlmpi/trace/view.h"
#include "tlmpi/trace_out/idle.h"
#include "tlmpi/trace_out/process.h"
#include "parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct idle_tracks {
    tl_tables tables;
    const tl_table *gaps, *noise; /* noise: the short gaps of table series */
    TL_VEC(tl_wait) waits;        /* with device and time; sorted by these */
    tl_rank_told told;
    tl_counters counters;
    tl_occurrences patterns;
    tl_names names; /* names in the rows and of the processes */
    tl_out_processes processes;
    int64_t base_ns; /* difference between the times of rows and of the trace */
} idle_tracks;

/* --------------------------------------------------------------------------------------------------------- reading */

TL_SORT_BY(by_device, tl_wait, device, start_ns, uid)

/* Lists the waits.  A wait in a kernel gets the kernel's device and start. */
static void list_waits(const tl_rank_view *view, idle_tracks *t)
{
    tl_map kernel_of = { 0 };
    for (size_t i = 0; t->told.nwaits > 0 && i < view->nkernels; i++)
        if (view->kernels[i].kind == TL_COMM)
            tl_map_put(&kernel_of, view->kernels[i].uid, (uint32_t)i);
    for (size_t i = 0; i < t->told.nwaits; i++) {
        tl_wait wait = t->told.waits[i];
        uint32_t k = wait.uid != TL_NONE ? tl_map_get(&kernel_of, wait.uid) : TL_MAP_NONE;
        if (wait.uid != TL_NONE && k == TL_MAP_NONE)
            continue;
        if (wait.uid != TL_NONE) {
            wait.device = view->kernels[k].device;
            wait.start_ns = view->kernels[k].start_ns;
        }
        tl_vec_push(&t->waits, wait);
    }
    tl_map_free(&kernel_of);
    tl_vec_sort(&t->waits, by_device);
}

static void find_all(tl_trace *trace, const tl_options *options, idle_tracks *t)
{
    const tl_rules no_rules = { .user = { 0 } };
    tl_linked linked;
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);

    tl_tables_init(&t->tables, schemas, n);
    t->gaps = tl_tables_get(&t->tables, &tl_gap_schema);
    t->noise = tl_tables_get(&t->tables, &tl_series_row_schema);
    tl_link(trace, &no_rules, 0, &linked);
    tl_config config = options->config;
    config.series = true;
    tl_idle_analysis.per_rank(&linked.view, &config, &t->tables);
    list_waits(&linked.view, t);
    tl_counters_find(&t->counters, &linked.view);
    tl_pattern_occurrences(&linked.view, TL_OUT_PATTERN_TRACKS, &t->patterns);
    tl_linked_free(&linked);
}

static size_t ngaps(const void *tracks)
{
    const idle_tracks *t = tracks;
    return t->gaps->n + t->noise->n;
}

static void free_tracks(void *tracks)
{
    idle_tracks *t = tracks;
    if (t == NULL)
        return;
    tl_tables_free(&t->tables);
    tl_counters_free(&t->counters);
    free(t->patterns.v);
    tl_names_free(&t->names);
    free(t->waits.v);
    free(t->processes.v);
    free(t);
}

static tl_status read_tracks(const char *path, const tl_options *options, const tl_rank_told *told,
                             tl_read_report *report, void **out, tl_error *err)
{
    const tl_read_options reading = { .keep = TL_LINK_KEEP | TL_CAT_BIT(TL_CAT_OTHER),
                                      .yajl_only = options->yajl_only };
    const tl_out_search search = { .apart = true, .first_tid = TL_OUT_IDLE_TID, .ntids = TL_OUT_IDLE_STRIDE };
    tl_trace trace;
    idle_tracks *t = tl_calloc(1, sizeof *t);

    tl_status st = tl_trace_read(path, &reading, &trace, err);
    *report = trace.report;
    t->base_ns = trace.meta.has_base ? trace.meta.base_ns : 0;
    t->told = *told;
    if (st == TL_OK)
        st = tl_out_idle_check_new(path, &trace.events, err);
    if (st == TL_OK) {
        tl_out_processes_find(&trace.events, &search, &t->processes);
        find_all(&trace, options, t);
    }
    t->names = trace.events.names;
    trace.events.names = (tl_names){ 0 };
    tl_trace_free(&trace);
    if (st == TL_OK)
        *out = t;
    else
        free_tracks(t);
    return st;
}

/* ---------------------------------------------------------------------------------------------------------- adding */

/* The tracks of one device, within its process. */
typedef struct adding {
    idle_tracks *t;
    tl_out_writer *w;
    const tl_out_process *process;
    tl_out_track first;
    char of[32]; /* suffix of the tracks' names: " (device 1)", or empty */
} adding;

static int64_t on_trace(const idle_tracks *t, int64_t ns)
{
    return tl_ns_between(ns, t->base_ns);
}

static tl_text name_of(void *names, uint32_t id)
{
    return id != TL_NO_NAME ? tl_names_text(names, id) : TL_TEXT("(no name)");
}

/* Adds the gaps of the device, from rows *macro and *noise on; both tables are sorted by time. */
static void add_gaps(const adding *a, size_t *macro, size_t *noise)
{
    idle_tracks *t = a->t;
    const int32_t device = a->process->device;
    for (int64_t id = -1;;) {
        const tl_gap *m = *macro < t->gaps->n ? tl_table_row(t->gaps, *macro) : NULL;
        const tl_series_row *n = *noise < t->noise->n ? tl_table_row(t->noise, *noise) : NULL;
        m = m != NULL && m->device == device ? m : NULL;
        n = n != NULL && n->device == device ? n : NULL;
        if (m == NULL && n == NULL)
            break;
        if (n == NULL || (m != NULL && m->start_ns < n->time_ns)) {
            tl_out_idle_row(a->w, &a->first, m, on_trace(t, m->start_ns), m->duration_ns, name_of, &t->names);
            (*macro)++;
        } else {
            const tl_out_value dur = tl_out_us((int64_t)n->value);
            const tl_out_gap gap = { tl_out_us(on_trace(t, n->time_ns)), dur, dur, .id = id--, .noise = true };
            tl_out_idle_gap(a->w, &a->first, &gap);
            (*noise)++;
        }
    }
}

/* Adds the waits of the device, below its gaps. */
static void add_waits(const adding *a)
{
    tl_out_waits tracks = { .first = &a->first, .of = a->of };
    TL_EACH (const tl_wait, wait, a->t->waits)
        if (wait->device == a->process->device)
            tl_out_wait_put(a->w, &tracks,
                            &(tl_out_wait){ on_trace(a->t, wait->start_ns), wait->wait_ns, wait->late_rank,
                                            wait->collective, wait->kind });
}

/* Adds a track for each sequence of work that takes most of the device's time, on whatever streams:
 *
 *     Pattern 1: aten::batch_norm        [pattern 1]  [pattern 1]     [pattern 1]
 */
static void add_patterns(const adding *a)
{
    const idle_tracks *t = a->t;
    int32_t named = 0;
    int64_t until_ns = INT64_MIN;
    TL_EACH (const tl_occurrence, o, t->patterns) {
        if (o->device != a->process->device)
            continue;
        const tl_text operator= tl_names_text(&t->names, o->operator);
        tl_out_track track = a->first;
        track.tid += TL_OUT_PATTERN_FIRST + o->pattern - 1;
        tl_bytes name = { 0 };
        if (o->pattern != named) {
            tl_bytes_say(&name, "Pattern %" PRId32 ": %.*s%s", o->pattern, (int)operator.n, operator.p, a->of);
            tl_bytes_put(&name, "", 1);
            tl_out_name_track(a->w, &track, name.v);
            named = o->pattern;
            until_ns = INT64_MIN;
        }
        /* Occurrences on a track must not overlap, even if their work on several streams does. */
        const int64_t start_ns = tl_ns_max(o->start_ns, until_ns);
        until_ns = tl_ns_max(until_ns, o->end_ns);
        const tl_out_arg args[] = { { "operator", tl_out_text(operator) },
                                    { "kernels", tl_out_int(o->kernels) },
                                    { "id", tl_out_int(o->id) } };
        name.n = 0;
        tl_bytes_say(&name, "pattern %" PRId32, o->pattern);
        if (start_ns < o->end_ns || o->start_ns == o->end_ns)
            tl_out_put_slice(a->w, &track, (tl_text){ name.v, name.n }, TL_OUT_PATTERN_CAT, on_trace(t, start_ns),
                             tl_ns_between(o->end_ns, start_ns), args, sizeof args / sizeof args[0]);
        tl_bytes_free(&name);
    }
}

/* Adds queues and copies as counters:
 *
 *     Queue (stream 7)                        length    1 2 3 2 1 0
 *     Memcpy HtoD (Pinned -> Device)          GB/s      0 23.4 0
 */
static void add_counters(const adding *a)
{
    const idle_tracks *t = a->t;
    TL_EACH (const tl_counter, c, t->counters.v) {
        const bool queue = c->name == TL_NO_NAME;
        const tl_text copy = queue ? TL_TEXT("") : tl_names_text(&t->names, c->name);
        tl_bytes name = { 0 };
        if (c->device != a->process->device)
            continue;
        if (queue)
            tl_bytes_say(&name, "Queue (stream %" PRId32 ")%s", c->stream, a->of);
        else
            tl_bytes_say(&name, "%.*s%s", (int)copy.n, copy.p, a->of);
        for (size_t i = c->first; i < c->first + c->n; i++) {
            const tl_point *point = &t->counters.points.v[i];
            const tl_out_arg value = { queue ? "length" : "GB/s",
                                       queue ? tl_out_int(point->value) : tl_out_double((double)point->value / 1e9) };
            tl_out_put(a->w, &(tl_out_event){ .ph = 'C',
                                              .track = a->first,
                                              .name = { name.v, name.n },
                                              .cat = TL_OUT_COUNTER_CAT,
                                              .ts = tl_out_us(on_trace(t, point->at_ns)),
                                              .args = &value,
                                              .nargs = 1 });
        }
        tl_bytes_free(&name);
    }
}

/* Returns the process that shows work of the device; NULL: none. */
static const tl_out_process *process_of(const idle_tracks *t, int32_t device)
{
    TL_EACH (const tl_out_process, p, t->processes)
        if (p->device == device)
            return p;
    return NULL;
}

/* Adds the critical path of the rank, or the part of the job's path on the rank, with arrows to the rank's work,
 * which Kineto shows in the thread that has the stream's number:
 *
 *     Critical Path        [cpu_bound][launch_overhead][compute: gemm][waiting_for_ranks: rank 3][communication: ...]
 */
static void add_path(const adding *a, bool of_job)
{
    const idle_tracks *t = a->t;
    const size_t end = of_job ? t->told.nof_job : t->told.npath, from = of_job ? 0 : t->told.nof_job;
    tl_out_track track = a->first;
    track.tid += TL_OUT_PATH_TRACK + of_job;
    if (end > from)
        tl_out_name_track(a->w, &track, of_job ? "Critical Path of the Job" : "Critical Path");
    for (size_t i = from; i < end; i++) {
        const tl_rank_path_row *row = &t->told.path[i];
        const bool waits = row->what == TL_BOUND_PEER, works = waits || row->what == TL_BOUND_COMPUTE ||
                                                               row->what == TL_BOUND_COMM || row->what == TL_BOUND_COPY;
        const tl_text work = tl_result_name(t->told.result, row->name);
        const tl_out_arg args[] = {
            { "number", tl_out_int(row->number) },
            { "step", tl_out_int(row->step) },
            { "work", tl_out_text(work) },
            { "operator", tl_out_text(tl_result_name(t->told.result, row->operator)) },
            { "annotation", tl_out_text(tl_result_name(t->told.result, row->annotation)) },
        };
        tl_bytes name = { 0 };
        tl_bytes_say(&name, "%s", tl_bound_labels[row->what]);
        if (waits && row->peer >= 0)
            tl_bytes_say(&name, ": rank %" PRId32, row->peer);
        else if (waits)
            tl_bytes_say(&name, ": other ranks");
        else if (works && work.n > 0)
            tl_bytes_say(&name, ": %.*s", (int)work.n, work.p);
        tl_out_put_slice(a->w, &track, (tl_text){ name.v, name.n }, TL_OUT_PATH_CAT, on_trace(t, row->start_ns),
                         row->duration_ns, args, sizeof args / sizeof args[0]);
        tl_bytes_free(&name);
        const tl_out_process *p = works && row->stream >= 0 ? process_of(t, row->device) : NULL;
        if (p == NULL)
            continue;
        const char *arrow = row->rank < 0 ? "critical path of the job" : "critical path";
        tl_out_track to = tl_out_process_track(p, &t->names);
        to.tid = row->stream;
        tl_out_put_arrow(a->w, 's', &track, arrow, TL_OUT_PATH_CAT, on_trace(t, row->start_ns), row->number);
        tl_out_put_arrow(a->w, 'f', &to, arrow, TL_OUT_PATH_CAT, on_trace(t, row->start_ns), row->number);
    }
}

static tl_status add_tracks(void *arg, tl_out_writer *w, tl_error *err)
{
    idle_tracks *t = arg;
    size_t macro = 0, noise = 0;

    TL_EACH (const tl_out_process, p, t->processes) {
        adding a = { .t = t, .w = w, .process = p, .first = tl_out_process_track(p, &t->names) };
        if (p->shared)
            snprintf(a.of, sizeof a.of, " (device %" PRId32 ")", p->device);
        if (ngaps(t) > 0)
            tl_out_idle_begin(w, &a.first, a.of);
        add_gaps(&a, &macro, &noise);
        add_waits(&a);
        add_patterns(&a);
        add_counters(&a);
        for (int of_job = 0; p == t->processes.v && of_job < 2; of_job++) /* on its first device */
            add_path(&a, of_job);
    }
    if (macro + noise < ngaps(t))
        return tl_fail(err, TL_EINTERNAL, "%zu of %zu gaps belong to no process", ngaps(t) - macro - noise, ngaps(t));
    return TL_OK;
}

const tl_track_maker tl_idle_tracks = { TL_COPY_SAME, read_tracks, add_tracks, ngaps, free_tracks };
