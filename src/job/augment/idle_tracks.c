/* idle_tracks.c - the gaps of a rank's devices, and what they waited for other ranks, as tracks; and beside them its
 * critical path, its queues and copies, as counters, and its patterns. */
#include "tlmpi/analysis/idle.h"
#include "tlmpi/analysis/pattern.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/analysis/work.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/work_tables.h"
#include "tlmpi/trace/view.h"
#include "tlmpi/trace_out/idle.h"
#include "tlmpi/trace_out/process.h"
#include "parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A wait, where it is shown. */
typedef struct shown_wait {
    int32_t device;
    int64_t start_ns;
    tl_wait wait;
} shown_wait;

typedef struct idle_tracks {
    tl_tables tables;
    const tl_table *gaps, *noise; /* noise: of series, short gaps alone */
    TL_VEC(shown_wait) waits;     /* by device and time */
    tl_rank_told told;
    tl_counters counters;
    tl_occurrences patterns;
    tl_names names; /* of the rows, and of the processes */
    tl_out_processes processes;
    int64_t base_ns; /* what the times of the rows have over those of the trace */
} idle_tracks;

/* --------------------------------------------------------------------------------------------------------- reading */

static int by_device(const void *a, const void *b)
{
    const shown_wait *x = a, *y = b;
    if (x->device != y->device)
        return TL_COMPARE(x->device, y->device);
    return x->start_ns != y->start_ns ? TL_COMPARE(x->start_ns, y->start_ns) : TL_COMPARE(x->wait.uid, y->wait.uid);
}

/* A wait in a kernel begins with it. */
static void list_waits(const tl_rank_view *view, const tl_wait *waits, size_t n, idle_tracks *t)
{
    tl_map kernel_of = { 0 };
    for (size_t i = 0; n > 0 && i < view->nkernels; i++)
        if (view->kernels[i].kind == TL_COMM)
            tl_map_put(&kernel_of, view->kernels[i].uid, (uint32_t)i);
    for (size_t i = 0; i < n; i++) {
        const tl_wait *w = &waits[i];
        uint32_t k = w->uid != TL_NONE ? tl_map_get(&kernel_of, w->uid) : TL_MAP_NONE;
        if (w->uid != TL_NONE && k == TL_MAP_NONE)
            continue;
        tl_vec_push(&t->waits, w->uid == TL_NONE
                                   ? (shown_wait){ w->device, w->start_ns, *w }
                                   : (shown_wait){ view->kernels[k].device, view->kernels[k].start_ns, *w });
    }
    tl_map_free(&kernel_of);
    if (t->waits.n > 1)
        qsort(t->waits.v, t->waits.n, sizeof *t->waits.v, by_device);
}

static void find_all(tl_trace *trace, const tl_options *options, const tl_rank_told *told, idle_tracks *t)
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
    list_waits(&linked.view, told->waits, told->nwaits, t);
    t->told = *told;
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
    if (st == TL_OK)
        st = tl_out_idle_check_new(path, &trace.events, err);
    if (st == TL_OK)
        tl_out_processes_find(&trace.events, &search, &t->processes);
    if (st == TL_OK)
        find_all(&trace, options, told, t);
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

static int64_t on_trace(const idle_tracks *t, int64_t ns)
{
    int64_t own;
    return __builtin_sub_overflow(ns, t->base_ns, &own) ? ns : own;
}

/* The waits of one device, below its gaps: those at one time, of its streams, on tracks of their own. */
static void add_waits(const idle_tracks *t, tl_out_writer *w, const tl_out_track *first, int32_t device, const char *of)
{
    int64_t until_ns[TL_OUT_WAIT_TRACKS];
    int ntracks = 0;
    size_t at = 0;
    TL_BISECT(at, t->waits.n, mid, t->waits.v[mid].device < device);
    for (; at < t->waits.n && t->waits.v[at].device == device; at++) {
        const shown_wait *s = &t->waits.v[at];
        int track = 0;
        while (track < ntracks && until_ns[track] > s->start_ns)
            track++;
        if (track == TL_OUT_WAIT_TRACKS)
            track--;
        else if (track == ntracks)
            tl_out_waits_begin(w, first, ntracks++, of);
        until_ns[track] = tl_ns_sum(s->start_ns, s->wait.wait_ns);
        tl_out_wait_put(w, first, track,
                        &(tl_out_wait){ .ts = tl_out_us(on_trace(t, s->start_ns)),
                                        .dur = tl_out_us(s->wait.wait_ns),
                                        .late_rank = s->wait.late_rank,
                                        .collective = s->wait.collective,
                                        .kind = s->wait.collective >= 0 ? tl_collective_labels[s->wait.kind] : NULL });
    }
}

/* Rows [*at, ...) of one device, both tables in order of time, to its tracks. */
static void add_gaps(const idle_tracks *t, tl_out_writer *w, const tl_out_process *p, const tl_out_track *first,
                     size_t *macro, size_t *noise, tl_bytes *detail)
{
    int64_t id = 0;
    while (true) {
        const tl_gap *m = *macro < t->gaps->n ? tl_table_row(t->gaps, *macro) : NULL;
        const tl_series_row *n = *noise < t->noise->n ? tl_table_row(t->noise, *noise) : NULL;
        m = m != NULL && m->device == p->device ? m : NULL;
        n = n != NULL && n->device == p->device ? n : NULL;
        if (m == NULL && n == NULL)
            break;
        if (n == NULL || (m != NULL && m->start_ns < n->time_ns)) {
            tl_out_gap_words(detail, &t->names, m);
            const tl_out_gap gap = tl_out_gap_of(m, on_trace(t, m->start_ns), m->duration_ns,
                                                 (tl_text){ detail->v, detail->n });
            tl_out_idle_gap(w, first, &gap);
            (*macro)++;
        } else {
            /* of the short gaps of a device the first is -1 */
            tl_out_idle_gap(w, first,
                            &(tl_out_gap){ .ts = tl_out_us(on_trace(t, n->time_ns)),
                                           .dur = tl_out_us((int64_t)n->value),
                                           .duration = tl_out_us((int64_t)n->value),
                                           .id = --id,
                                           .noise = true });
            (*noise)++;
        }
    }
}

/* The sequences of work that take most of the device's time, wherever they run, a track each:
 *
 *     Pattern 1: aten::batch_norm        [pattern 1]  [pattern 1]     [pattern 1]
 */
static void put_patterns(const idle_tracks *t, tl_out_writer *w, const tl_out_process *p, const tl_out_track *first,
                         const char *of)
{
    int64_t until_ns = INT64_MIN;

    for (size_t i = 0; i < t->patterns.n; i++) {
        const tl_occurrence *o = &t->patterns.v[i];
        tl_out_track track = *first;
        char head[32];
        if (o->device != p->device)
            continue;
        const tl_text operator= tl_names_text(&t->names, o->operator);
        track.tid += TL_OUT_PATTERN_FIRST + o->pattern - 1;
        if (i == 0 || o[-1].device != o->device || o[-1].pattern != o->pattern) {
            tl_bytes name = { 0 };
            int n = snprintf(head, sizeof head, "Pattern %" PRId32 ": ", o->pattern);
            until_ns = INT64_MIN;
            tl_bytes_put(&name, head, (size_t)n);
            tl_bytes_put(&name, operator.p, operator.n);
            tl_bytes_put(&name, of, strlen(of) + 1);
            tl_out_name_track(w, &track, name.v);
            tl_bytes_free(&name);
        }
        /* On a track one begins where the one before it ends, also where their work is on several streams. */
        int64_t start_ns = tl_ns_max(o->start_ns, until_ns);
        until_ns = tl_ns_max(until_ns, o->end_ns);
        if (start_ns >= o->end_ns && o->start_ns != o->end_ns)
            continue;
        const tl_out_arg args[] = { { "operator", tl_out_text(operator) },
                                    { "kernels", tl_out_int(o->kernels) },
                                    { "id", tl_out_int(o->id) } };
        int n = snprintf(head, sizeof head, "pattern %" PRId32, o->pattern);
        tl_out_event event = tl_out_slice(track, (tl_text){ head, (size_t)n }, TL_OUT_PATTERN_CAT,
                                          tl_ns_between(start_ns, t->base_ns), tl_ns_between(o->end_ns, start_ns));
        event.args = args;
        event.nargs = sizeof args / sizeof args[0];
        tl_out_put(w, &event);
    }
}

/* Queues and copies as counters:
 *
 *     Queue (stream 7)                        length    1 2 3 2 1 0
 *     Memcpy HtoD (Pinned -> Device)          GB/s      0 23.4 0
 */
static void put_counters(const idle_tracks *t, tl_out_writer *w, const tl_out_process *p, const tl_out_track *track,
                         const char *of)
{
    for (size_t k = 0; k < t->counters.v.n; k++) {
        const tl_counter *c = &t->counters.v.v[k];
        bool queue = c->name == TL_NO_NAME;
        char words[32];
        tl_text head = { words, 0 };
        tl_bytes name = { 0 };
        if (c->device != p->device)
            continue;
        if (queue)
            head.n = (size_t)snprintf(words, sizeof words, "Queue (stream %" PRId32 ")", c->stream);
        else
            head = tl_names_text(&t->names, c->name);
        tl_bytes_put(&name, head.p, head.n);
        tl_bytes_put(&name, of, strlen(of));
        for (size_t i = c->first; i < c->first + c->n; i++) {
            const tl_point *point = &t->counters.points.v[i];
            const tl_out_arg value = { queue ? "length" : "GB/s",
                                       queue ? tl_out_int(point->value) : tl_out_double((double)point->value / 1e9) };
            tl_out_put(w, &(tl_out_event){ .ph = 'C',
                                           .track = *track,
                                           .name = { name.v, name.n },
                                           .cat = TL_OUT_COUNTER_CAT,
                                           .ts = tl_out_us(tl_ns_between(point->at_ns, t->base_ns)),
                                           .args = &value,
                                           .nargs = 1 });
        }
        tl_bytes_free(&name);
    }
}

/* Returns the process in which work of the device is shown; NULL: none. */
static const tl_out_process *process_of(const idle_tracks *t, int32_t device)
{
    for (size_t i = 0; i < t->processes.n; i++)
        if (t->processes.v[i].device == device)
            return &t->processes.v[i];
    return NULL;
}

static bool is_work(tl_bound what)
{
    return what == TL_BOUND_COMPUTE || what == TL_BOUND_COMM || what == TL_BOUND_COPY || what == TL_BOUND_PEER;
}

/* An arrow from a piece of the path to its work, which Kineto shows in the thread that has the stream's number. */
static void put_arrow(const idle_tracks *t, tl_out_writer *w, const tl_out_track *from, const tl_rank_path_row *piece)
{
    const tl_out_process *p = is_work((tl_bound)piece->what) ? process_of(t, piece->device) : NULL;
    if (p == NULL || piece->stream < 0)
        return;
    tl_out_track to = tl_out_process_track(p, &t->names);
    to.tid = piece->stream;
    tl_out_event arrow = { .ph = 's',
                           .track = *from,
                           .name = piece->rank < 0 ? TL_TEXT("critical path of the job") : TL_TEXT("critical path"),
                           .cat = TL_OUT_PATH_CAT,
                           .ts = tl_out_us(on_trace(t, piece->start_ns)),
                           .id = tl_out_int(piece->number) };
    tl_out_put(w, &arrow);
    arrow.ph = 'f';
    arrow.track = to;
    tl_out_put(w, &arrow);
}

/* The critical path of the rank, and on another track the part of the job's that is on the rank, beside its first
 * device:
 *
 *     Critical Path        [cpu_bound][launch_overhead][compute: gemm][waiting_for_ranks: rank 3][communication: ncclAll...]
 */
static void put_path(const idle_tracks *t, tl_out_writer *w, const tl_out_track *first, bool of_job)
{
    tl_out_track track = *first;
    size_t end = of_job ? t->told.nof_job : t->told.npath, from = of_job ? 0 : t->told.nof_job;
    track.tid += TL_OUT_PATH_TRACK + of_job;
    if (end > from)
        tl_out_name_track(w, &track, of_job ? "Critical Path of the Job" : "Critical Path");
    for (size_t i = from; i < end; i++) {
        const tl_rank_path_row *piece = &t->told.path[i];
        const tl_text work = tl_names_text(t->told.names, piece->name);
        tl_bytes name = { 0 };
        char head[64], peer[24] = "other ranks";
        if (piece->peer >= 0)
            snprintf(peer, sizeof peer, "rank %" PRId32, piece->peer);
        bool waits = piece->what == TL_BOUND_PEER;
        int n = snprintf(head, sizeof head, "%s%s%s", tl_bound_labels[piece->what],
                         waits || (is_work((tl_bound)piece->what) && work.n > 0) ? ": " : "", waits ? peer : "");
        tl_bytes_put(&name, head, (size_t)n);
        if (!waits && is_work((tl_bound)piece->what))
            tl_bytes_put(&name, work.p, work.n);
        const tl_out_arg args[] = {
            { "number", tl_out_int(piece->number) },
            { "step", tl_out_int(piece->step) },
            { "work", tl_out_text(work) },
            { "operator", tl_out_text(tl_names_text(t->told.names, piece->operator)) },
            { "annotation", tl_out_text(tl_names_text(t->told.names, piece->annotation)) },
        };
        tl_out_event event = tl_out_slice(track, (tl_text){ name.v, name.n }, TL_OUT_PATH_CAT,
                                          on_trace(t, piece->start_ns), piece->duration_ns);
        event.args = args;
        event.nargs = sizeof args / sizeof args[0];
        tl_out_put(w, &event);
        put_arrow(t, w, &track, piece);
        tl_bytes_free(&name);
    }
}

static tl_status add_tracks(void *arg, tl_out_writer *w, tl_error *err)
{
    const idle_tracks *t = arg;
    tl_bytes detail = { 0 };
    size_t macro = 0, noise = 0;
    tl_status st = TL_OK;

    for (size_t i = 0; i < t->processes.n; i++) {
        const tl_out_process *p = &t->processes.v[i];
        const tl_out_track first = tl_out_process_track(p, &t->names);
        char of[32] = "";
        if (p->shared)
            snprintf(of, sizeof of, " (device %" PRId32 ")", p->device);
        if (ngaps(t) > 0)
            tl_out_idle_begin(w, &first, of);
        add_gaps(t, w, p, &first, &macro, &noise, &detail);
        add_waits(t, w, &first, p->device, of);
        put_patterns(t, w, p, &first, of);
        put_counters(t, w, p, &first, of);
        for (int of_job = 0; i == 0 && of_job < 2; of_job++)
            put_path(t, w, &first, of_job);
    }
    if (macro + noise < ngaps(t))
        st = tl_fail(err, TL_EINTERNAL, "%zu of %zu gaps belong to no process", ngaps(t) - macro - noise, ngaps(t));
    free(detail.v);
    return st;
}

const tl_track_maker tl_idle_tracks = { TL_COPY_SAME, read_tracks, add_tracks, ngaps, free_tracks };
