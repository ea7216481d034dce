/* peers.c - lists the parts of gaps that may be waits for other ranks.
 *
 *     device 0   [ A ]..............[ B ]      B was held by an event, or the host waited, while on device 1
 *     device 1   [ 1             ]             only communication ran: evidence host_sync, dependency
 *                     |<- part ->|
 *
 *     thread     [ gloo:barrier     ]          the host was in a collective of hosts: host_collective, host_wait
 *     device     [ A ]..............[ B ]
 *                     |<-  part  ->|
 *
 * Which ranks were late, and how much of a part was waiting for them, is known after ranks are matched.  No
 * communication runs on the gap's own device in a gap, so waits in it are never gaps of that device.
 */
#include "internal.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/span.h"
#include <fnmatch.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ waits of the host */

/* Operators, frames and annotations in which a host waits for other ranks. */

/* Shortest wait for other ranks, ns; a shorter one counts as a call like any other. */
#define LEAST_WAIT_NS INT64_C(100000)

/* Patterns of fnmatch; the first match counts. */
static const struct {
    const char *pattern;
    tl_host_wait_kind wait_kind;
} rules[] = {
    /* Collectives of PyTorch's backends for hosts, from the call to the end: "gloo:all_reduce", "mpi:broadcast". */
    { "gloo:*", TL_HOST_WAIT_ASYNC },
    { "mpi:*", TL_HOST_WAIT_ASYNC },
    /* "MPI_Allreduce", as a program marks its own; "<built-in method Barrier of mpi4py.MPI.Intracomm object at 0x...>"
     */
    { "MPI_*", TL_HOST_WAIT_BLOCKING },
    { "*mpi4py.MPI*", TL_HOST_WAIT_BLOCKING },
    /* "torch/distributed/distributed_c10d.py(4159): barrier", "...: monitored_barrier", "...: _store_based_barrier" */
    { "torch/distributed/*barrier", TL_HOST_WAIT_BLOCKING },
    { "c10d::monitored_barrier_*", TL_HOST_WAIT_BLOCKING },
    { "c10d::barrier*", TL_HOST_WAIT_BLOCKING },
    /* "<built-in method wait of torch._C._distributed_c10d.Work object at 0x...>", "<built-in method get of
     * torch._C._distributed_c10d.TCPStore ...>"; newer ones have "PyCapsule" for the type of either. */
    { "<built-in method wait of *_distributed_c10d*", TL_HOST_WAIT_FOR_OTHERS },
    { "<built-in method get of *_distributed_c10d*", TL_HOST_WAIT_FOR_OTHERS },
    { "<built-in method wait of PyCapsule*", TL_HOST_WAIT_FOR_OTHERS },
    { "*c10d_functional::wait_tensor*", TL_HOST_WAIT_FOR_OTHERS },
    { "c10d::*", TL_HOST_WAIT_FOR_OTHERS },
};

static tl_host_wait_kind wait_kind_named(tl_text name)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (fnmatch(rules[i].pattern, name.p, 0) == 0)
            return rules[i].wait_kind;
    return TL_HOST_WAIT_NONE;
}

/* A launch of communication. */
typedef struct comm_launch {
    uint32_t track;
    int64_t start_ns;
} comm_launch;

typedef struct wait_finding {
    const tl_rank_view *view;
    tl_host_waits *out;
    uint8_t *wait_kind;           /* [names + 1] by name, the last one for ops without a name: tl_host_wait_kind */
    TL_VEC(comm_launch) launches; /* by track and time */
    tl_spans taken;               /* of one thread: spans that its stretches leave out */
} wait_finding;

TL_SORT_BY(by_wait_track, comm_launch, track, start_ns)

/* Whether the thread launches communication in [start_ns, end_ns): then the device waits, not the host. */
static bool launches_comm(const wait_finding *f, uint32_t track, int64_t start_ns, int64_t end_ns)
{
    const comm_launch *l = f->launches.v, start = { track, start_ns };
    size_t low = 0;
    TL_BISECT(low, f->launches.n, i, TL_ORDER(&l[i], &start, track, start_ns) < 0);
    return low < f->launches.n && l[low].track == track && l[low].start_ns < end_ns;
}

/* --------------------------------------------------------------------------------------------------------- threads */

static tl_host_wait_kind wait_kind_of(const wait_finding *f, size_t i)
{
    uint32_t name = f->view->ops.name[i];
    return (tl_host_wait_kind)f->wait_kind[name != TL_NO_NAME ? name : f->view->names->n];
}

TL_SORT_BY(by_end, tl_host_stretch, end_ns, op)
TL_SORT_BY(by_start, tl_host_stretch, start_ns)

/* Lists the asynchronous collectives of all threads, except those nested in others of the same thread. */
static void list_asyncs(wait_finding *f)
{
    const tl_ops *o = &f->view->ops;
    for (size_t t = 0; t < o->nthreads; t++) {
        int64_t until = INT64_MIN;
        for (size_t i = o->threads[t].first; i < o->threads[t].first + o->threads[t].n; i++) {
            int64_t end = tl_op_end(o, i);
            if (wait_kind_of(f, i) != TL_HOST_WAIT_ASYNC || end <= until || o->dur_ns[i] <= 0)
                continue;
            tl_vec_push(&f->out->ops, (uint32_t)i);
            tl_vec_push(&f->out->asyncs, (tl_host_stretch){ o->start_ns[i], end, (uint32_t)i, TL_HOST_WAIT_ASYNC });
            until = end;
        }
    }
    tl_vec_sort(&f->out->asyncs, by_end);
}

static void add_held(wait_finding *f, int64_t from_ns, int64_t to_ns, size_t op, tl_host_wait_kind wait_kind)
{
    if (from_ns < to_ns)
        tl_vec_push(&f->out->held, (tl_host_stretch){ from_ns, to_ns, (uint32_t)op, (uint8_t)wait_kind });
}

/* Adds [from_ns, to_ns) less f->taken.  *at: number of taken spans that ended before from_ns; from_ns does not decrease
 * from call to call. */
static void add_outside_taken(wait_finding *f, int64_t from_ns, int64_t to_ns, size_t op, tl_host_wait_kind wait_kind,
                              size_t *at)
{
    const tl_spans *taken = &f->taken;
    while (*at < taken->n && taken->v[*at].end_ns <= from_ns)
        ++*at;
    for (size_t i = *at; from_ns < to_ns; i++) {
        const tl_span *other = i < taken->n && taken->v[i].start_ns < to_ns ? &taken->v[i] : NULL;
        add_held(f, from_ns, other != NULL ? other->start_ns : to_ns, op, wait_kind);
        from_ns = other != NULL ? other->end_ns : to_ns;
    }
}

/* Adds the thread's stretches in blocking collectives (TL_HOST_WAIT_BLOCKING), which also become f->taken; or in waits
 * for other ranks (TL_HOST_WAIT_FOR_OTHERS), outside of f->taken.  Where two of a kind overlap, the first to begin has
 * the common time. */
static void add_host_waits(wait_finding *f, const tl_thread *t, tl_host_wait_kind wait_kind)
{
    const tl_ops *o = &f->view->ops;
    int64_t until = INT64_MIN;
    size_t at = 0;

    for (size_t i = t->first; i < t->first + t->n; i++) {
        int64_t start = o->start_ns[i], end = tl_op_end(o, i), from = tl_ns_max(start, until);
        if (wait_kind_of(f, i) != wait_kind || end <= until ||
            (wait_kind == TL_HOST_WAIT_FOR_OTHERS && o->dur_ns[i] < LEAST_WAIT_NS) ||
            launches_comm(f, t->track, start, end))
            continue;
        until = end;
        if (wait_kind == TL_HOST_WAIT_FOR_OTHERS) {
            add_outside_taken(f, from, end, i, wait_kind, &at);
            continue;
        }
        tl_vec_push(&f->out->ops, (uint32_t)i);
        add_held(f, from, end, i, wait_kind);
        tl_spans_add(&f->taken, from, end);
    }
}

/* Adds stretches of unknown waiting: a thread without Python functions in the trace may wait wherever it has neither an
 * operator nor a call.  t NULL: the thread has no operators. */
static void add_unknown_waits(wait_finding *f, const tl_thread *t, const tl_thread *calls)
{
    const tl_ops *o = &f->view->ops;
    const tl_calls *c = &f->view->calls;
    size_t i = t != NULL ? t->first : 0, op_end = t != NULL ? t->first + t->n : 0;
    size_t j = calls->first, call_end = calls->first + calls->n, at = 0;
    int64_t until = INT64_MIN;

    while (i < op_end || j < call_end) {
        bool call = i == op_end || (j < call_end && c->start_ns[j] <= o->start_ns[i]);
        tl_host_wait_kind wait_kind = call ? TL_HOST_WAIT_NONE : wait_kind_of(f, i);
        int64_t start = call ? c->start_ns[j] : o->start_ns[i], end = call ? tl_call_end(c, j) : tl_op_end(o, i);
        bool counts =
            call || wait_kind == TL_HOST_WAIT_FOR_OTHERS || (wait_kind == TL_HOST_WAIT_NONE && o->kind[i] == TL_OP);
        i += !call;
        j += call;
        if (!counts)
            continue;
        if (until != INT64_MIN && start > until)
            add_outside_taken(f, until, start, TL_NONE, TL_HOST_WAIT_UNKNOWN, &at);
        until = tl_ns_max(until, end);
    }
}

static bool has_frames(const tl_ops *o, const tl_thread *t)
{
    for (size_t i = t->first; i < t->first + t->n; i++)
        if (o->kind[i] == TL_FRAME)
            return true;
    return false;
}

/* t, calls: the thread's operators and calls; either may be NULL. */
static void walk_thread(wait_finding *f, const tl_thread *t, const tl_thread *calls)
{
    tl_host_waits *out = f->out;
    size_t first = out->held.n;

    f->taken.n = 0;
    if (t != NULL) {
        add_host_waits(f, t, TL_HOST_WAIT_BLOCKING);
        add_host_waits(f, t, TL_HOST_WAIT_FOR_OTHERS);
    }
    if (calls != NULL && out->asyncs.n > 0 && (t == NULL || !has_frames(&f->view->ops, t)))
        add_unknown_waits(f, t, calls);
    if (out->held.n == first)
        return;
    qsort(out->held.v + first, out->held.n - first, sizeof *out->held.v, by_start);
    tl_vec_push(&out->threads,
                (tl_thread_stretches){ t != NULL ? t->track : calls->track, first, out->held.n - first });
}

static void host_waits_find(const tl_rank_view *view, tl_host_waits *out)
{
    wait_finding f = { .view = view, .out = out, .wait_kind = tl_calloc(view->names->n + 1, 1) };
    const tl_ops *o = &view->ops;
    const tl_calls *c = &view->calls;
    bool any = false;

    for (uint32_t i = 0; i < view->names->n; i++) {
        f.wait_kind[i] = (uint8_t)wait_kind_named(tl_names_text(view->names, i));
        any |= f.wait_kind[i] != TL_HOST_WAIT_NONE;
    }
    if (any) {
        const tl_rank_view *v = f.view;
        for (size_t i = 0; i < v->nkernels; i++)
            if (v->kernels[i].kind == TL_COMM && v->kernels[i].launch != TL_NONE) {
                const tl_launch *l = &v->launches[v->kernels[i].launch];
                tl_vec_push(&f.launches, (comm_launch){ l->track, l->start_ns });
            }
        tl_vec_sort(&f.launches, by_wait_track);
        list_asyncs(&f);
    }
    for (size_t i = 0, j = 0; any && (i < o->nthreads || j < c->nthreads);) { /* threads are by track in both */
        uint32_t a = i < o->nthreads ? o->threads[i].track : TL_NONE,
                 b = j < c->nthreads ? c->threads[j].track : TL_NONE;
        walk_thread(&f, a <= b ? &o->threads[i] : NULL, b <= a ? &c->threads[j] : NULL);
        i += a <= b;
        j += b <= a;
    }
    free(f.wait_kind);
    free(f.launches.v);
    tl_spans_free(&f.taken);
}

static void host_waits_free(tl_host_waits *host_waits)
{
    free(host_waits->held.v);
    free(host_waits->asyncs.v);
    free(host_waits->threads.v);
    free(host_waits->ops.v);
}

/* Largest number of devices and streams that are distinguished. */
enum { SCOPES_MOST = 64 };

/* Communication without compute in a scope: a stream, a device (stream -1), or the whole rank (both -1). */
typedef struct scope {
    int32_t device, stream;
    tl_comm_spans spans;
} scope;

/* A wait of a thread.  Where two overlap, the first to begin has the common time. */
typedef struct stay {
    uint32_t track, wait;
    int64_t start_ns, end_ns;
} stay;

typedef struct finding {
    tl_idle_rank *k;
    tl_table *out;
    tl_host_waits host_waits;
    uint32_t *order, *chosen; /* kernels by start: all; those of the current scope */
    TL_VEC(scope) scopes;
    TL_VEC(stay) stays; /* by (track, start) */
} finding;

/* The awaited kernel, operator or Python function. */
typedef struct awaited {
    uint32_t name, uid;
    int64_t start_ns;
} awaited;

static awaited awaited_op(const finding *f, uint32_t op)
{
    const tl_ops *o = &f->k->view->ops;
    return (awaited){ tl_name_key(f->k->view, o->name[op]), o->uid[op], o->start_ns[op] };
}

/* Adds a part of a gap.  gap NULL: a collective of hosts, in a gap or not. */
static void add_row(finding *f, const tl_gap *gap, int64_t from_ns, int64_t to_ns, tl_peer_evidence evidence,
                    awaited what)
{
    const tl_rank_view *view = f->k->view;
    if (gap != NULL && to_ns - from_ns < f->k->config->noise_ns)
        return;
    tl_gap_peer *row = tl_table_add(f->out);
    row->rank = view->rank;
    row->from_ns = from_ns;
    row->peer_ns = to_ns - from_ns;
    row->late_rank = -1;
    row->evidence = (uint8_t)evidence;
    row->collective = -1;
    row->awaited_uid = what.uid <= INT32_MAX ? (int32_t)what.uid : -1;
    row->awaited_ns = what.start_ns;
    tl_cell_put(row->awaited, sizeof row->awaited, tl_names_text(view->names, what.name));
    row->device = gap != NULL ? gap->device : -1;
    row->start_ns = gap != NULL ? gap->start_ns : from_ns;
    row->idle_id = gap != NULL ? gap->idle_id : -1;
    row->step = gap != NULL ? gap->step : tl_step_at(view->steps, view->nsteps, from_ns);
    if (gap == NULL)
        return;
    row->drain_type = gap->drain_type;
    row->cpu_during_gap = gap->cpu_during_gap;
    tl_idle_say_class(view->names, gap, row->dominant_op, sizeof row->dominant_op);
}

/* Returns the spans of communication without compute in a scope. */
static const tl_comm_spans *spans_of(finding *f, int32_t device, int32_t stream)
{
    const tl_rank_view *v = f->k->view;
    size_t n = 0;

    if (f->scopes.n >= SCOPES_MOST)
        device = stream = -1;
    TL_EACH (const scope, s, f->scopes)
        if (s->device == device && s->stream == stream)
            return &s->spans;
    tl_vec_push(&f->scopes, (scope){ .device = device, .stream = stream });
    for (size_t i = 0; i < v->nkernels; i++) {
        const tl_kernel *k = &v->kernels[f->order[i]];
        if ((device < 0 || k->device == device) && (stream < 0 || k->stream == stream))
            f->chosen[n++] = f->order[i];
    }
    tl_comm_spans *spans = &f->scopes.v[f->scopes.n - 1].spans;
    tl_comm_only(v->kernels, f->chosen, n, spans);
    return spans;
}

/* Adds the spans of communication in [from_ns, to_ns) whose kernels end by by_ns; sets *found if one is long enough. */
static void add_spans(finding *f, const tl_gap *gap, const tl_comm_spans *spans, int64_t from_ns, int64_t to_ns,
                      int64_t by_ns, tl_peer_evidence evidence, bool *found)
{
    size_t low = 0; /* index of the first span that ends after from_ns */
    TL_BISECT(low, spans->n, mid, spans->v[mid].end_ns <= from_ns);
    for (; low < spans->n && spans->v[low].start_ns < to_ns; low++) {
        const tl_comm_span *p = &spans->v[low];
        const tl_kernel *k = &f->k->view->kernels[p->kernel];
        int64_t from = tl_ns_max(p->start_ns, from_ns), to = tl_ns_min(p->end_ns, to_ns);
        if (k->end_ns > by_ns || k->device == gap->device)
            continue;
        *found |= to - from >= f->k->config->noise_ns;
        add_row(f, gap, from, to, evidence, (awaited){ k->name, k->uid, k->start_ns });
    }
}

/* ----------------------------------------------------------------------------------------------------------- waits */

TL_SORT_BY(by_track, stay, track, start_ns, wait)

static void list_thread_waits(finding *f)
{
    const tl_idle_rank *k = f->k;
    size_t kept = 0;

    for (uint32_t i = 0; i < k->waits.n; i++) {
        const tl_idle_wait *w = &k->waits.v[i];
        tl_vec_push(&f->stays, (stay){ tl_call_track(&k->view->calls, w->call), i, w->start_ns, w->end_ns });
    }
    tl_vec_sort(&f->stays, by_track);
    TL_EACH (stay, s, f->stays) {
        const stay *last = kept > 0 ? &f->stays.v[kept - 1] : NULL;
        if (last != NULL && last->track == s->track)
            s->start_ns = tl_ns_max(last->end_ns, s->start_ns);
        if (s->start_ns < s->end_ns)
            f->stays.v[kept++] = *s;
    }
    f->stays.n = kept;
}

/* Adds waits of the gap's thread for communication on another device of the rank. */
static void add_waits(finding *f, const tl_gap *gap, uint32_t track, bool *found)
{
    const stay *v = f->stays.v;
    size_t low = 0; /* index of the thread's first stay that ends after the beginning of the gap */
    TL_BISECT(low, f->stays.n, i, v[i].track < track || (v[i].track == track && v[i].end_ns <= gap->start_ns));
    for (size_t i = low; i < f->stays.n && v[i].track == track && v[i].start_ns < gap->end_ns; i++) {
        const tl_idle_wait *w = &f->k->waits.v[v[i].wait];
        add_spans(f, gap, spans_of(f, w->device, w->stream), tl_ns_max(v[i].start_ns, gap->start_ns),
                  tl_ns_min(v[i].end_ns, gap->end_ns), w->end_ns + f->k->config->sync_ns, TL_PEER_SYNC, found);
    }
}

/* Adds the parts of a stretch in which the thread waited in `op`, or was free (op TL_NONE): at each instant the wait is
 * for the collective that ends last among those that end in the stretch.  In the rest of the stretch, if there is an
 * op, the thread waited for something unknown. */
static void add_stretch(finding *f, const tl_gap *gap, int64_t from_ns, int64_t to_ns, uint32_t op)
{
    size_t low = 0; /* index of the first collective that ends after the stretch */
    TL_BISECT(low, f->host_waits.asyncs.n, mid, f->host_waits.asyncs.v[mid].end_ns <= to_ns);
    for (size_t i = low; i > 0 && f->host_waits.asyncs.v[i - 1].end_ns > from_ns && from_ns < to_ns; i--) {
        const tl_host_stretch *x = &f->host_waits.asyncs.v[i - 1];
        int64_t from = tl_ns_max(x->start_ns, from_ns), end = tl_ns_min(x->end_ns, to_ns);
        if (from >= end)
            continue;
        if (op != TL_NONE && end < to_ns)
            add_row(f, gap, end, to_ns, TL_PEER_WAIT, awaited_op(f, op));
        add_row(f, gap, from, end, TL_PEER_MEETING, awaited_op(f, x->op));
        to_ns = from;
    }
    if (op != TL_NONE && from_ns < to_ns)
        add_row(f, gap, from_ns, to_ns, TL_PEER_WAIT, awaited_op(f, op));
}

/* Adds the parts of a gap in which its thread was in a collective of hosts, or in a call that waits for other ranks. */
static void add_host_collectives(finding *f, const tl_gap *gap, uint32_t track)
{
    const tl_thread_stretches *threads = f->host_waits.threads.v;
    size_t at = 0, low = 0; /* low: index of the first stretch that ends after the beginning of the gap */
    TL_BISECT(at, f->host_waits.threads.n, mid, threads[mid].track < track);
    if (at == f->host_waits.threads.n || threads[at].track != track)
        return;
    const tl_host_stretch *v = f->host_waits.held.v + threads[at].first;
    TL_BISECT(low, threads[at].n, mid, v[mid].end_ns <= gap->start_ns);
    for (size_t i = low; i < threads[at].n && v[i].start_ns < gap->end_ns; i++) {
        int64_t from = tl_ns_max(v[i].start_ns, gap->start_ns), to = tl_ns_min(v[i].end_ns, gap->end_ns);
        if (v[i].wait_kind == TL_HOST_WAIT_BLOCKING)
            add_row(f, gap, from, to, TL_PEER_MEETING, awaited_op(f, v[i].op));
        else
            add_stretch(f, gap, from, to, v[i].op);
    }
}

/* Adds the parts of one gap.  Each has one reason: what the work after the gap waited for; else what the host did. */
static void find_waits_in_gap(finding *f, const tl_idle_gap *g, const tl_gap *gap, bool several)
{
    bool found = several && gap->cpu_during_gap == TL_DOING_DEPENDENCY;
    if (found) {
        add_spans(f, gap, spans_of(f, -1, -1), gap->start_ns, gap->end_ns, gap->end_ns, TL_PEER_DEPENDENCY, &found);
        return;
    }
    if (several && g->track != TL_NONE)
        add_waits(f, gap, g->track, &found);
    if (!found && g->track != TL_NONE)
        add_host_collectives(f, gap, g->track);
}

void tl_idle_peers(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out)
{
    finding f = { .k = k, .out = tl_tables_get(out, &tl_gap_peer_schema) };
    const tl_table *gaps = tl_tables_get(out, &tl_gap_schema);
    const tl_rank_view *v = k->view;
    bool several = n > 1 && v->ncolls > 0;

    if (v->world_size == 1) /* the job has no other rank */
        return;
    host_waits_find(v, &f.host_waits);
    if (several) {
        f.order = tl_sorted_index(v->nkernels, tl_kernel_by_start_uid, v->kernels);
        f.chosen = tl_malloc((v->nkernels + 1) * sizeof *f.chosen);
        list_thread_waits(&f);
    }
    /* The last rank to arrive at a collective of hosts may have no gap there. */
    TL_EACH (const uint32_t, op, f.host_waits.ops)
        add_row(&f, NULL, v->ops.start_ns[*op], tl_op_end(&v->ops, *op), TL_PEER_MEETING, awaited_op(&f, *op));
    for (size_t d = 0; (several || f.host_waits.threads.n > 0) && d < n; d++)
        for (size_t i = 0; i < devices[d].gaps.n; i++)
            find_waits_in_gap(&f, &devices[d].gaps.v[i], tl_table_row(gaps, devices[d].first_row + i), several);
    host_waits_free(&f.host_waits);
    TL_EACH (scope, s, f.scopes)
        free(s->spans.v);
    free(f.scopes.v);
    free(f.stays.v);
    free(f.order);
    free(f.chosen);
}
