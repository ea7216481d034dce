/* calls.c - finds in the host's columns what a graph needs: calls that wait, pauses between calls, recorded waits of
 * streams. */
#include "build.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/call.h"
#include <stdlib.h>

typedef struct finding {
    const tl_rank_view *view;
    tl_host_calls *out;
    uint8_t *kind_of; /* by name: 1 + tl_call_wait of its calls; 0: not looked up yet */
    tl_map sync_of;   /* correlation -> index of the recorded wait of a host */
    tl_map record_at; /* correlation of an event record that a stream waits for -> 1 + its call; 0: call not found
                       * yet */
} finding;

/* Returns the kind of wait of calls of a name; TL_CALL_UNKNOWN: the name does not tell. */
static tl_call_wait kind_of(finding *f, uint32_t name)
{
    if (name == TL_NO_NAME)
        return TL_CALL_UNKNOWN;
    if (f->kind_of[name] == 0) {
        const tl_call_rule *rule = tl_call_rule_of(tl_names_text(f->view->names, name));
        const bool all = rule->after == TL_AFTER_ALL;
        const bool waits = rule->does == TL_DOES_WAIT, frees = rule->does == TL_DOES_FREE && all;
        f->kind_of[name] = (uint8_t)(1 + (waits   ? all ? TL_CALL_WAITS_DEVICE : TL_CALL_WAITS_STREAM
                                          : frees ? TL_CALL_FREES
                                                  : TL_CALL_UNKNOWN));
    }
    return (tl_call_wait)(f->kind_of[name] - 1);
}

static uint64_t key_of_name(const tl_rank_view *view, uint32_t name)
{
    return name != TL_NO_NAME ? view->names->v[tl_name_key(view, name)].key : 0;
}

/* Whether the call of the thread at start_ns is a launch. */
static bool is_launch(const tl_rank_view *view, uint32_t track, int64_t start_ns)
{
    size_t at = 0;
    TL_BISECT(at, view->nlaunches, mid, view->launches[mid].start_ns < start_ns);
    while (at < view->nlaunches && view->launches[at].start_ns == start_ns && view->launches[at].track != track)
        at++;
    return at < view->nlaunches && view->launches[at].start_ns == start_ns;
}

/* Adds call i of the thread if its name says that it waits, or if the name does not tell, the call is no launch and
 * takes longer than TL_SURE_SIGMAS times TL_WAKE_SPREAD_NS.  last: the call that ended last before call i. */
static void add_call(finding *f, const tl_thread *thread, size_t i, size_t last)
{
    const tl_calls *calls = &f->view->calls;
    const tl_stream_id *stream = &f->view->streams[calls->stream[i]];
    const tl_call_wait kind = kind_of(f, calls->name[i]);
    if ((double)calls->dur_ns[i] <= (kind == TL_CALL_UNKNOWN ? TL_SURE_SIGMAS * (double)TL_WAKE_SPREAD_NS : 0))
        return;
    tl_waiting_call wait = { .start_ns = calls->start_ns[i],
                             .end_ns = tl_call_end(calls, i),
                             .track = thread->track,
                             .device = stream->device,
                             .stream = stream->stream,
                             .name = calls->name[i],
                             .kind = (uint8_t)kind };
    if (kind == TL_CALL_UNKNOWN) {
        uint64_t before = key_of_name(f->view, calls->name[last]), own = key_of_name(f->view, calls->name[i]);
        if (is_launch(f->view, thread->track, wait.start_ns))
            return;
        wait.calls = tl_hash_mix(tl_hash_mix(before, own), TL_CALL_UNKNOWN);
        wait.device = wait.stream = -1;
    } else if (wait.stream < 0 && calls->correlation[i] > 0) {
        uint32_t recorded = tl_map_get(&f->sync_of, (uint64_t)calls->correlation[i]);
        wait.stream = recorded != TL_MAP_NONE ? f->view->syncs[recorded].stream : wait.stream;
    }
    tl_vec_push(&f->out->waits, wait);
}

static void add_pause(finding *f, const tl_thread *thread, int64_t from_ns, int64_t to_ns, uint64_t before,
                      uint64_t after)
{
    if (to_ns - from_ns > TL_WAKE_NS)
        tl_vec_push(&f->out->waits, (tl_waiting_call){ .start_ns = from_ns,
                                                       .end_ns = to_ns,
                                                       .calls = tl_hash_mix(before, after),
                                                       .track = thread->track,
                                                       .device = -1,
                                                       .stream = -1,
                                                       .name = TL_NO_NAME,
                                                       .kind = TL_CALL_PAUSE });
}

/* Adds the pauses between two calls of a thread.  Step marks split a pause as calls would: the part before a mark
 * belongs to the step that ends there. */
static void add_pauses(finding *f, const tl_thread *thread, size_t last, size_t next)
{
    const tl_calls *calls = &f->view->calls;
    int64_t from = calls->start_ns[last] + calls->dur_ns[last], to = calls->start_ns[next];
    uint64_t before = key_of_name(f->view, calls->name[last]);
    size_t s = 0;

    TL_BISECT(s, f->view->nsteps, mid, f->view->steps[mid].start_ns <= from);
    for (; s < f->view->nsteps && f->view->steps[s].start_ns < to; s++) {
        add_pause(f, thread, from, f->view->steps[s].start_ns, before, 0);
        from = f->view->steps[s].start_ns;
        before = 0;
    }
    add_pause(f, thread, from, to, before, key_of_name(f->view, calls->name[next]));
}

static void add_thread(finding *f, const tl_thread *thread)
{
    const tl_calls *calls = &f->view->calls;
    size_t last = thread->first; /* the call with the latest end so far */

    for (size_t i = thread->first; i < thread->first + thread->n; i++) {
        int64_t start = calls->start_ns[i], before = calls->start_ns[last] + calls->dur_ns[last];
        if (i > thread->first && start - before > TL_WAKE_NS && !tl_is_seam(f->view, before, start))
            add_pauses(f, thread, last, i);
        add_call(f, thread, i, last);
        if (start + calls->dur_ns[i] > before)
            last = i;
    }
}

static bool is_wait_of_stream(const tl_rank_view *view, const tl_sync *s)
{
    return s->name != TL_NO_NAME && tl_text_has(tl_names_text(view->names, s->name), "Wait Event");
}

static void map_recorded(finding *f)
{
    for (size_t i = 0; i < f->view->nsyncs; i++) {
        const tl_sync *s = &f->view->syncs[i];
        if (is_wait_of_stream(f->view, s)) {
            if (s->wait_on_correlation > 0)
                tl_map_put(&f->record_at, (uint64_t)s->wait_on_correlation, 0);
        } else if (s->correlation > 0) {
            tl_map_put(&f->sync_of, (uint64_t)s->correlation, (uint32_t)i);
        }
    }
    const tl_calls *calls = &f->view->calls;
    for (size_t i = 0; f->record_at.n > 0 && i < calls->n; i++) {
        uint32_t *at = calls->correlation[i] > 0 ? tl_map_at(&f->record_at, (uint64_t)calls->correlation[i]) : NULL;
        if (at != NULL)
            *at = (uint32_t)i + 1;
    }
}

/* Adds the recorded waits of streams for which the calls of both the wait and the event record are known. */
static void add_events(finding *f)
{
    for (size_t i = 0; i < f->view->nsyncs; i++) {
        const tl_sync *s = &f->view->syncs[i];
        if (!is_wait_of_stream(f->view, s) || s->call_ns == TL_TIME_UNKNOWN || s->wait_on_correlation <= 0 ||
            s->stream == s->wait_on_stream || s->stream < 0 || s->wait_on_stream < 0)
            continue;
        uint32_t call = tl_map_get(&f->record_at, (uint64_t)s->wait_on_correlation);
        if (call == TL_MAP_NONE || call == 0)
            continue;
        tl_vec_push(&f->out->events, (tl_event_wait){ s->call_ns, f->view->calls.start_ns[call - 1], s->device,
                                                      s->stream, s->wait_on_stream });
    }
}

/* Fills op and annotation of each wait, the innermost ones around it.  Waits are by thread, then by time, as ops
 * are. */
static void fill_wait_names(finding *f)
{
    const tl_ops *ops = &f->view->ops;
    tl_open_ops operators = { .ops = ops }, annotations = { .ops = ops };
    size_t t = 0, at = 0;
    TL_EACH (tl_waiting_call, w, f->out->waits) {
        while (t < ops->nthreads && ops->threads[t].track < w->track)
            t++;
        bool same = t < ops->nthreads && ops->threads[t].track == w->track;
        if (same && at < ops->threads[t].first) {
            at = ops->threads[t].first;
            operators.stack.n = annotations.stack.n = 0;
        }
        int64_t at_ns = w->kind == TL_CALL_PAUSE ? w->end_ns : w->start_ns;
        for (; same && at < ops->threads[t].first + ops->threads[t].n && ops->start_ns[at] <= at_ns; at++)
            if (ops->kind[at] == TL_OP)
                tl_open_ops_push(&operators, (uint32_t)at);
            else if (ops->kind[at] == TL_ANNOTATION && !tl_is_step_mark(f->view->names, f->view->served, ops->name[at]))
                tl_open_ops_push(&annotations, (uint32_t)at);
        uint32_t op = same ? tl_open_ops_innermost(&operators, at_ns) : TL_NONE;
        uint32_t annotation = same ? tl_open_ops_innermost(&annotations, at_ns) : TL_NONE;
        w->op = op != TL_NONE ? ops->name[op] : TL_NO_NAME;
        w->annotation = annotation != TL_NONE ? ops->name[annotation] : TL_NO_NAME;
    }
    free(operators.stack.v);
    free(annotations.stack.v);
}

void tl_host_calls_find(const tl_rank_view *view, bool named, tl_host_calls **out)
{
    finding f = { .view = view, .out = tl_calloc(1, sizeof **out) };
    tl_map launching = { 0 };
    f.kind_of = tl_calloc(view->names->n + 1, sizeof *f.kind_of);
    tl_launching_tracks(view, &launching);
    map_recorded(&f);

    for (size_t t = 0; t < view->calls.nthreads; t++)
        if (view->nlaunches == 0 || tl_map_get(&launching, view->calls.threads[t].track) != TL_MAP_NONE)
            add_thread(&f, &view->calls.threads[t]);
    add_events(&f);
    f.out->begin_ns = INT64_MAX;
    for (size_t t = 0; view->nsteps == 0 && t < view->ops.nthreads; t++)
        if (tl_map_get(&launching, view->ops.threads[t].track) != TL_MAP_NONE)
            f.out->begin_ns = tl_ns_min(f.out->begin_ns, view->ops.start_ns[view->ops.threads[t].first]);
    if (named)
        fill_wait_names(&f);
    tl_map_free(&launching);
    tl_map_free(&f.sync_of);
    tl_map_free(&f.record_at);
    free(f.kind_of);
    *out = f.out;
}

void tl_host_calls_free(tl_host_calls *calls)
{
    if (calls == NULL)
        return;
    free(calls->waits.v);
    free(calls->events.v);
    free(calls);
}
