/* host_waits.c - operators, frames and annotations in which a host waits for other ranks. */
#include "internal.h"
#include "tlmpi/base/span.h"
#include <fnmatch.h>
#include <stdlib.h>

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

typedef struct finding {
    const tl_rank_view *view;
    tl_host_waits *out;
    uint8_t *wait_kind;           /* [names + 1] by name, the last one for ops without a name: tl_host_wait_kind */
    TL_VEC(comm_launch) launches; /* by track and time */
    tl_spans taken;               /* of one thread: spans that its stretches leave out */
} finding;

TL_SORT_BY(by_track, comm_launch, track, start_ns)

/* Whether the thread launches communication in [start_ns, end_ns): then the device waits, not the host. */
static bool launches_comm(const finding *f, uint32_t track, int64_t start_ns, int64_t end_ns)
{
    const comm_launch *l = f->launches.v, start = { track, start_ns };
    size_t low = 0;
    TL_BISECT(low, f->launches.n, i, TL_ORDER(&l[i], &start, track, start_ns) < 0);
    return low < f->launches.n && l[low].track == track && l[low].start_ns < end_ns;
}

/* --------------------------------------------------------------------------------------------------------- threads */

static tl_host_wait_kind wait_kind_of(const finding *f, size_t i)
{
    uint32_t name = f->view->ops.name[i];
    return (tl_host_wait_kind)f->wait_kind[name != TL_NO_NAME ? name : f->view->names->n];
}

TL_SORT_BY(by_end, tl_host_stretch, end_ns, op)
TL_SORT_BY(by_start, tl_host_stretch, start_ns)

/* Lists the asynchronous collectives of all threads, except those nested in others of the same thread. */
static void list_asyncs(finding *f)
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

static void add_held(finding *f, int64_t from_ns, int64_t to_ns, size_t op, tl_host_wait_kind wait_kind)
{
    if (from_ns < to_ns)
        tl_vec_push(&f->out->held, (tl_host_stretch){ from_ns, to_ns, (uint32_t)op, (uint8_t)wait_kind });
}

/* Adds [from_ns, to_ns) less f->taken.  *at: number of taken spans that ended before from_ns; from_ns does not decrease
 * from call to call. */
static void add_outside_taken(finding *f, int64_t from_ns, int64_t to_ns, size_t op, tl_host_wait_kind wait_kind,
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
static void add_waits(finding *f, const tl_thread *t, tl_host_wait_kind wait_kind)
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
static void add_unknown_waits(finding *f, const tl_thread *t, const tl_thread *calls)
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
static void walk_thread(finding *f, const tl_thread *t, const tl_thread *calls)
{
    tl_host_waits *out = f->out;
    size_t first = out->held.n;

    f->taken.n = 0;
    if (t != NULL) {
        add_waits(f, t, TL_HOST_WAIT_BLOCKING);
        add_waits(f, t, TL_HOST_WAIT_FOR_OTHERS);
    }
    if (calls != NULL && out->asyncs.n > 0 && (t == NULL || !has_frames(&f->view->ops, t)))
        add_unknown_waits(f, t, calls);
    if (out->held.n == first)
        return;
    qsort(out->held.v + first, out->held.n - first, sizeof *out->held.v, by_start);
    tl_vec_push(&out->threads,
                (tl_thread_stretches){ t != NULL ? t->track : calls->track, first, out->held.n - first });
}

void tl_host_waits_find(const tl_rank_view *view, tl_host_waits *out)
{
    finding f = { .view = view, .out = out, .wait_kind = tl_calloc(view->names->n + 1, 1) };
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
        tl_vec_sort(&f.launches, by_track);
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

void tl_host_waits_free(tl_host_waits *host_waits)
{
    free(host_waits->held.v);
    free(host_waits->asyncs.v);
    free(host_waits->threads.v);
    free(host_waits->ops.v);
}
