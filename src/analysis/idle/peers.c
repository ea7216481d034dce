/* peers.c - which parts of gaps may be waiting for other ranks?
 *
 *     device 0   [ A ]..............[ B ]      B was held by an event, or the host by a wait, and meanwhile on device 1
 *     device 1   [ 1             ]             nothing ran but communication: host_sync, dependency
 *                     |<- part ->|
 *
 *     thread     [ gloo:barrier     ]          the host was in a collective of hosts: host_collective, host_wait
 *     device     [ A ]..............[ B ]
 *                     |<-  part  ->|
 *
 * Which ranks were late, and how much of these parts was waiting for them, is known when ranks are matched.  On the
 * gap's own device no communication runs: what waits there is no gap.
 */
#include "internal.h"
#include "meet.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* The most devices and streams that waits are told apart by. */
enum { SCOPES_MOST = 64 };

/* What communicates alone in a scope: a stream, a device (stream -1), or all the rank has (both -1). */
typedef struct scope {
    int32_t device, stream;
    tl_comm_spans spans;
} scope;

/* A wait of a thread; where two overlap, the first to begin has the common time. */
typedef struct stay {
    uint32_t track, wait;
    int64_t start_ns, end_ns;
} stay;

typedef struct finding {
    tl_idle_rank *k;
    tl_table *out;
    tl_meets meets;
    uint32_t *order, *chosen; /* kernels by start: all; those of a scope */
    TL_VEC(scope) scopes;
    TL_VEC(stay) stays; /* by (track, start) */
} finding;

/* ------------------------------------------------------------------------------------------------------------ rows */

/* What was waited for. */
typedef struct awaited {
    uint32_t name, uid;
    int64_t start_ns;
} awaited;

static void add_row(finding *f, const tl_gap *gap, int64_t from_ns, int64_t to_ns, tl_peer_evidence evidence,
                    awaited what)
{
    const tl_names *names = f->k->view->names;
    if (gap != NULL && to_ns - from_ns < f->k->config->noise_ns)
        return;
    tl_gap_peer *row = tl_table_add(f->out);
    tl_text name = tl_names_text(names, what.name);
    row->rank = f->k->view->rank;
    row->from_ns = from_ns;
    row->peer_ns = to_ns - from_ns;
    row->late_rank = -1;
    row->evidence = (uint8_t)evidence;
    row->collective = -1;
    row->awaited_uid = what.uid <= INT32_MAX ? (int32_t)what.uid : -1;
    row->awaited_ns = what.start_ns;
    tl_cell_text(row->awaited, sizeof row->awaited, name.p, name.n);
    row->device = gap != NULL ? gap->device : -1;
    row->start_ns = gap != NULL ? gap->start_ns : from_ns;
    row->idle_id = gap != NULL ? gap->idle_id : -1;
    row->step = gap != NULL ? gap->step : tl_step_at(f->k->view->steps, f->k->view->nsteps, from_ns);
    if (gap == NULL)
        return;
    row->drain_type = gap->drain_type;
    row->cpu_during_gap = gap->cpu_during_gap;
    tl_idle_say_class(names, gap, row->dominant_op, sizeof row->dominant_op);
}

static awaited kernel_of(const finding *f, uint32_t kernel)
{
    const tl_kernel *k = &f->k->view->kernels[kernel];
    return (awaited){ k->name, k->uid, k->start_ns };
}

static awaited op_of(const finding *f, uint32_t op)
{
    const tl_ops *o = &f->k->view->ops;
    return (awaited){ tl_name_key(f->k->view, o->name[op]), o->uid[op], o->start_ns[op] };
}

/* ---------------------------------------------------------------------------------------------------------- places */

static bool lies_in(const tl_kernel *k, int32_t device, int32_t stream)
{
    return (device < 0 || k->device == device) && (stream < 0 || k->stream == stream);
}

/* What communicates alone there. */
static const tl_comm_spans *spans_of(finding *f, int32_t device, int32_t stream)
{
    const tl_rank_view *v = f->k->view;
    size_t n = 0;

    if (f->scopes.n >= SCOPES_MOST)
        device = stream = -1;
    for (size_t i = 0; i < f->scopes.n; i++)
        if (f->scopes.v[i].device == device && f->scopes.v[i].stream == stream)
            return &f->scopes.v[i].spans;
    tl_vec_room(&f->scopes);
    scope *p = &f->scopes.v[f->scopes.n++];
    *p = (scope){ .device = device, .stream = stream };
    for (size_t i = 0; i < v->nkernels; i++)
        if (lies_in(&v->kernels[f->order[i]], device, stream))
            f->chosen[n++] = f->order[i];
    tl_comm_only(v->kernels, f->chosen, n, &p->spans);
    return &p->spans;
}

/* Adds what communicates alone there in [from_ns, to_ns), if it is over by by_ns; *found: whether there was any. */
static void add_spans(finding *f, const tl_gap *gap, const tl_comm_spans *spans, int64_t from_ns, int64_t to_ns,
                      int64_t by_ns, tl_peer_evidence evidence, bool *found)
{
    size_t low = 0; /* to the first that ends after the beginning */
    TL_BISECT(low, spans->n, mid, spans->v[mid].end_ns <= from_ns);
    for (size_t i = low; i < spans->n && spans->v[i].start_ns < to_ns; i++) {
        const tl_comm_span *p = &spans->v[i];
        const tl_kernel *k = &f->k->view->kernels[p->kernel];
        int64_t from = p->start_ns > from_ns ? p->start_ns : from_ns, to = p->end_ns < to_ns ? p->end_ns : to_ns;
        if (k->end_ns > by_ns || k->device == gap->device)
            continue;
        *found |= to - from >= f->k->config->noise_ns;
        add_row(f, gap, from, to, evidence, kernel_of(f, p->kernel));
    }
}

/* ----------------------------------------------------------------------------------------------------------- waits */

static int by_track(const void *a, const void *b)
{
    const stay *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return TL_COMPARE(x->wait, y->wait);
}

static void list_stays(finding *f)
{
    const tl_idle_rank *k = f->k;
    size_t kept = 0;

    for (size_t i = 0; i < k->waits.n; i++) {
        const tl_idle_wait *w = &k->waits.v[i];
        tl_vec_room(&f->stays);
        f->stays.v[f->stays.n++] =
            (stay){ tl_call_track(&k->view->calls, w->call), (uint32_t)i, w->start_ns, w->end_ns };
    }
    if (f->stays.n > 0)
        qsort(f->stays.v, f->stays.n, sizeof *f->stays.v, by_track);
    for (size_t i = 0; i < f->stays.n; i++) {
        stay s = f->stays.v[i];
        const stay *last = kept > 0 && f->stays.v[kept - 1].track == s.track ? &f->stays.v[kept - 1] : NULL;
        s.start_ns = last != NULL && last->end_ns > s.start_ns ? last->end_ns : s.start_ns;
        if (s.start_ns < s.end_ns)
            f->stays.v[kept++] = s;
    }
    f->stays.n = kept;
}

/* The host waited for communication on another device of the rank. */
static void add_waits(finding *f, const tl_gap *gap, uint32_t track, bool *found)
{
    const stay *v = f->stays.v;
    size_t low = 0; /* to the first of the thread that ends after the beginning of the gap */
    TL_BISECT(low, f->stays.n, i, v[i].track < track || (v[i].track == track && v[i].end_ns <= gap->start_ns));
    for (size_t i = low; i < f->stays.n && v[i].track == track && v[i].start_ns < gap->end_ns; i++) {
        const stay *s = &v[i];
        const tl_idle_wait *w = &f->k->waits.v[s->wait];
        int64_t from = s->start_ns > gap->start_ns ? s->start_ns : gap->start_ns;
        int64_t to = s->end_ns < gap->end_ns ? s->end_ns : gap->end_ns;
        const tl_comm_spans *spans = spans_of(f, w->device, w->stream);
        add_spans(f, gap, spans, from, to, w->end_ns + f->k->config->sync_ns, TL_PEER_SYNC, found);
    }
}

/* -------------------------------------------------------------------------------------------------------- meetings */

static const tl_held_thread *held_of(const finding *f, uint32_t track)
{
    size_t low = 0;
    TL_BISECT(low, f->meets.threads.n, mid, f->meets.threads.v[mid].track < track);
    return low < f->meets.threads.n && f->meets.threads.v[low].track == track ? &f->meets.threads.v[low] : NULL;
}

/* A stretch in which the host waited in op, or was free (TL_NONE): for the collectives that ended meanwhile, at each
 * instant for the one that ends last.  In the rest of the stretch the host waited for something unknown. */
static void add_stretch(finding *f, const tl_gap *gap, int64_t from_ns, int64_t to_ns, uint32_t op)
{
    size_t low = 0; /* to the first that ends after the stretch */
    TL_BISECT(low, f->meets.asyncs.n, mid, f->meets.asyncs.v[mid].end_ns <= to_ns);
    for (size_t i = low; i > 0 && f->meets.asyncs.v[i - 1].end_ns > from_ns && from_ns < to_ns; i--) {
        const tl_held *x = &f->meets.asyncs.v[i - 1];
        int64_t from = x->start_ns > from_ns ? x->start_ns : from_ns, end = x->end_ns < to_ns ? x->end_ns : to_ns;
        if (from >= end)
            continue;
        if (op != TL_NONE && end < to_ns)
            add_row(f, gap, end, to_ns, TL_PEER_WAIT, op_of(f, op));
        add_row(f, gap, from, end, TL_PEER_MEETING, op_of(f, x->op));
        to_ns = from;
    }
    if (op != TL_NONE && from_ns < to_ns)
        add_row(f, gap, from_ns, to_ns, TL_PEER_WAIT, op_of(f, op));
}

/* The host was in a collective of hosts, or in a call that waits for others. */
static void add_meetings(finding *f, const tl_gap *gap, uint32_t track)
{
    const tl_held_thread *thread = held_of(f, track);
    if (thread == NULL)
        return;
    const tl_held *v = f->meets.held.v + thread->first;
    size_t low = 0; /* to the first that ends after the beginning of the gap */
    TL_BISECT(low, thread->n, mid, v[mid].end_ns <= gap->start_ns);
    for (size_t i = low; i < thread->n && v[i].start_ns < gap->end_ns; i++) {
        int64_t from = v[i].start_ns > gap->start_ns ? v[i].start_ns : gap->start_ns;
        int64_t to = v[i].end_ns < gap->end_ns ? v[i].end_ns : gap->end_ns;
        if (v[i].meet == TL_MEET_HELD)
            add_row(f, gap, from, to, TL_PEER_MEETING, op_of(f, v[i].op));
        else
            add_stretch(f, gap, from, to, v[i].op);
    }
}

/* ------------------------------------------------------------------------------------------------------- the whole */

/* A part of a gap has one reason: what the work after it waited for; else what the host did. */
static void look_at(finding *f, const tl_idle_gap *g, const tl_gap *gap, bool several)
{
    bool found = false;
    if (several && gap->cpu_during_gap == TL_DOING_DEPENDENCY) {
        const tl_comm_spans *spans = spans_of(f, -1, -1);
        add_spans(f, gap, spans, gap->start_ns, gap->end_ns, gap->end_ns, TL_PEER_DEPENDENCY, &found);
        return;
    }
    if (several && g->track != TL_NONE)
        add_waits(f, gap, g->track, &found);
    if (!found && g->track != TL_NONE)
        add_meetings(f, gap, g->track);
}

static void prepare(finding *f, bool several)
{
    size_t n = f->k->view->nkernels;

    tl_meets_find(f->k->view, &f->meets);
    if (!several)
        return;
    f->order = tl_malloc((n + 1) * sizeof *f->order);
    f->chosen = tl_malloc((n + 1) * sizeof *f->chosen);
    for (size_t i = 0; i < n; i++)
        f->order[i] = (uint32_t)i;
    tl_sort_index(f->order, n, tl_kernel_by_start_uid, f->k->view->kernels);
    list_stays(f);
}

/* A rank that came last to a collective of hosts may have no gap there. */
static void add_collectives(finding *f)
{
    const tl_ops *o = &f->k->view->ops;
    for (size_t i = 0; i < f->meets.ops.n; i++) {
        uint32_t op = f->meets.ops.v[i];
        add_row(f, NULL, o->start_ns[op], o->start_ns[op] + o->dur_ns[op], TL_PEER_MEETING, op_of(f, op));
    }
}

void tl_idle_peers(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out)
{
    finding f = { .k = k, .out = tl_tables_get(out, &tl_gap_peer_schema) };
    const tl_table *gaps = tl_tables_get(out, &tl_gap_schema);
    bool several = n > 1 && k->view->ncolls > 0;

    if (k->view->world_size == 1) {
        /* the job has no other rank to wait for */
        return;
    }
    prepare(&f, several);
    add_collectives(&f);

    for (size_t d = 0; (several || f.meets.threads.n > 0) && d < n; d++)
        for (size_t i = 0; i < devices[d].gaps.n; i++)
            look_at(&f, &devices[d].gaps.v[i], tl_table_row(gaps, devices[d].first_row + i), several);
    tl_meets_free(&f.meets);
    for (size_t i = 0; i < f.scopes.n; i++)
        free(f.scopes.v[i].spans.v);
    free(f.scopes.v);
    free(f.stays.v);
    free(f.order);
    free(f.chosen);
}
