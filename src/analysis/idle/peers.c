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
#include "tlmpi/analysis/time.h"
#include <stdlib.h>

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
    tl_host_waits_find(v, &f.host_waits);
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
    tl_host_waits_free(&f.host_waits);
    TL_EACH (scope, s, f.scopes)
        free(s->spans.v);
    free(f.scopes.v);
    free(f.stays.v);
    free(f.order);
    free(f.chosen);
}
