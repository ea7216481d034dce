/* meet.c - operators, frames and annotations in which a host waits for other ranks. */
#include "meet.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include <stdlib.h>

/* A wait that is shorter is a call like any other. */
#define LEAST_WAIT_NS INT64_C(100000)

/* ----------------------------------------------------------------------------------------------------------- names */

typedef enum where { STARTS, HAS, ENDS } where;

static bool fits(tl_text name, where at, const char *word)
{
    size_t n = strlen(word);
    if (at == STARTS)
        return tl_text_starts(name, word);
    return at == HAS ? tl_text_has(name, word) : name.n >= n && memcmp(name.p + name.n - n, word, n) == 0;
}

/* First match wins.  With a second word both must fit. */
static const struct {
    const char *word;
    where at;
    tl_meet meet;
    const char *and;
    where and_at;
} rules[] = {
    /* Collectives of PyTorch's backends for hosts, from the call to the end: "gloo:all_reduce", "mpi:broadcast". */
    { "gloo:", STARTS, TL_MEET_ASYNC, NULL, HAS },
    { "mpi:", STARTS, TL_MEET_ASYNC, NULL, HAS },
    /* "MPI_Allreduce", as a program marks its own; "<built-in method Barrier of mpi4py.MPI.Intracomm object at 0x...>"
     */
    { "MPI_", STARTS, TL_MEET_HELD, NULL, HAS },
    { "mpi4py.MPI", HAS, TL_MEET_HELD, NULL, HAS },
    /* "torch/distributed/distributed_c10d.py(4159): barrier", "...: monitored_barrier", "...: _store_based_barrier" */
    { "barrier", ENDS, TL_MEET_HELD, "torch/distributed/", STARTS },
    { "c10d::monitored_barrier_", STARTS, TL_MEET_HELD, NULL, HAS },
    { "c10d::barrier", STARTS, TL_MEET_HELD, NULL, HAS },
    /* "<built-in method wait of torch._C._distributed_c10d.Work object at 0x...>", "<built-in method get of
     * torch._C._distributed_c10d.TCPStore ...>"; newer ones have "PyCapsule" for the type of either. */
    { "<built-in method wait of ", STARTS, TL_MEET_WAIT, "_distributed_c10d", HAS },
    { "<built-in method get of ", STARTS, TL_MEET_WAIT, "_distributed_c10d", HAS },
    { "<built-in method wait of PyCapsule", STARTS, TL_MEET_WAIT, NULL, HAS },
    { "c10d_functional::wait_tensor", HAS, TL_MEET_WAIT, NULL, HAS },
    { "c10d::", STARTS, TL_MEET_WAIT, NULL, HAS },
};

static tl_meet meet_named(tl_text name)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (fits(name, rules[i].at, rules[i].word) &&
            (rules[i].and == NULL || fits(name, rules[i].and_at, rules[i].and)))
            return rules[i].meet;
    return TL_MEET_NOT;
}

/* --------------------------------------------------------------------------------------------------- communication */

/* A launch of communication. */
typedef struct comm_launch {
    uint32_t track;
    int64_t start_ns;
} comm_launch;

typedef struct finding {
    const tl_rank_view *view;
    tl_meets *out;
    uint8_t *meet; /* by name: tl_meet */
    TL_VEC(comm_launch) launches;
    tl_spans taken; /* of one thread: what its stretches leave out */
} finding;

static int by_track(const void *a, const void *b)
{
    const comm_launch *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return TL_COMPARE(x->start_ns, y->start_ns);
}

static void list_launches(finding *f)
{
    const tl_rank_view *v = f->view;
    for (size_t i = 0; i < v->nkernels; i++) {
        if (v->kernels[i].kind != TL_COMM || v->kernels[i].launch == TL_NONE)
            continue;
        tl_vec_room(&f->launches);
        const tl_launch *l = &v->launches[v->kernels[i].launch];
        f->launches.v[f->launches.n++] = (comm_launch){ l->track, l->start_ns };
    }
    if (f->launches.n > 0)
        qsort(f->launches.v, f->launches.n, sizeof *f->launches.v, by_track);
}

/* Whether the thread launches communication in [start_ns, end_ns): then the wait is the device's. */
static bool launches_comm(const finding *f, uint32_t track, int64_t start_ns, int64_t end_ns)
{
    const comm_launch *l = f->launches.v;
    size_t low = 0;
    TL_BISECT(low, f->launches.n, i, l[i].track < track || (l[i].track == track && l[i].start_ns < start_ns));
    return low < f->launches.n && l[low].track == track && l[low].start_ns < end_ns;
}

/* --------------------------------------------------------------------------------------------------------- threads */

static int64_t end_of(const tl_ops *o, size_t i)
{
    return o->start_ns[i] + o->dur_ns[i];
}

static tl_meet meet_of(const finding *f, size_t i)
{
    uint32_t name = f->view->ops.name[i];
    return name != TL_NO_NAME ? (tl_meet)f->meet[name] : TL_MEET_NOT;
}

static void keep_op(finding *f, size_t op)
{
    tl_vec_room(&f->out->ops);
    f->out->ops.v[f->out->ops.n++] = (uint32_t)op;
}

/* The thread's collectives that leave it free, but for those within others. */
static void list_asyncs(finding *f, const tl_thread *t)
{
    const tl_ops *o = &f->view->ops;
    int64_t until = INT64_MIN;

    for (size_t i = t->first; i < t->first + t->n; i++) {
        int64_t start = o->start_ns[i], end = end_of(o, i);
        if (meet_of(f, i) != TL_MEET_ASYNC || end <= until || end <= start)
            continue;
        keep_op(f, i);
        tl_vec_room(&f->out->asyncs);
        f->out->asyncs.v[f->out->asyncs.n++] = (tl_held){ start, end, (uint32_t)i, TL_MEET_ASYNC };
        until = end;
    }
}

static int by_end(const void *a, const void *b)
{
    const tl_held *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return TL_COMPARE(x->op, y->op);
}

static void add_held(finding *f, int64_t from_ns, int64_t to_ns, uint32_t op, tl_meet meet)
{
    if (from_ns >= to_ns)
        return;
    tl_vec_room(&f->out->held);
    f->out->held.v[f->out->held.n++] = (tl_held){ from_ns, to_ns, op, (uint8_t)meet };
}

/* Adds the thread's stretches in collectives that hold it, also to f->taken.  Where two overlap, the first to begin has
 * the common time. */
static void walk_collectives(finding *f, const tl_thread *t)
{
    const tl_ops *o = &f->view->ops;
    int64_t until = INT64_MIN;

    f->taken.n = 0;
    for (size_t i = t->first; i < t->first + t->n; i++) {
        int64_t start = o->start_ns[i], end = end_of(o, i);
        if (meet_of(f, i) != TL_MEET_HELD || end <= until || launches_comm(f, t->track, start, end))
            continue;
        int64_t from = start > until ? start : until;
        keep_op(f, i);
        add_held(f, from, end, (uint32_t)i, TL_MEET_HELD);
        tl_spans_add(&f->taken, from, end);
        until = end;
    }
}

/* Adds [from_ns, to_ns) less f->taken.  *at: the number of taken spans that ended before; from_ns does not decrease
 * from call to call. */
static void add_rest(finding *f, int64_t from_ns, int64_t to_ns, uint32_t op, tl_meet meet, size_t *at)
{
    const tl_spans *taken = &f->taken;
    while (*at < taken->n && taken->v[*at].end_ns <= from_ns)
        ++*at;
    for (size_t i = *at; from_ns < to_ns; i++) {
        const tl_span *other = i < taken->n && taken->v[i].start_ns < to_ns ? &taken->v[i] : NULL;
        int64_t until = other != NULL ? other->start_ns : to_ns;
        add_held(f, from_ns, until, op, meet);
        from_ns = other != NULL ? other->end_ns : to_ns;
    }
}

/* Adds the thread's waits for other ranks, outside of its collectives. */
static void walk_waits(finding *f, const tl_thread *t)
{
    const tl_ops *o = &f->view->ops;
    int64_t until = INT64_MIN;
    size_t at = 0;

    for (size_t i = t->first; i < t->first + t->n; i++) {
        int64_t start = o->start_ns[i], end = end_of(o, i);
        if (meet_of(f, i) != TL_MEET_WAIT || end <= until || o->dur_ns[i] < LEAST_WAIT_NS ||
            launches_comm(f, t->track, start, end))
            continue;
        add_rest(f, start > until ? start : until, end, (uint32_t)i, TL_MEET_WAIT, &at);
        until = end;
    }
}

/* A thread without Python functions shows no wait: it may wait wherever it has neither an operator nor a call.  t: NULL
 * where it has no operator at all. */
static void walk_nothing(finding *f, const tl_thread *t, const tl_thread *calls)
{
    const tl_ops *o = &f->view->ops;
    const tl_calls *c = &f->view->calls;
    size_t i = t != NULL ? t->first : 0, op_end = t != NULL ? t->first + t->n : 0;
    size_t j = calls->first, call_end = calls->first + calls->n, at = 0;
    int64_t until = INT64_MIN;

    while (i < op_end || j < call_end) {
        bool call = i == op_end || (j < call_end && c->start_ns[j] <= o->start_ns[i]);
        tl_meet meet = call ? TL_MEET_NOT : meet_of(f, i);
        int64_t start = call ? c->start_ns[j] : o->start_ns[i];
        int64_t end = call ? start + c->dur_ns[j] : end_of(o, i);
        bool counts = call || meet == TL_MEET_WAIT || (meet == TL_MEET_NOT && o->kind[i] == TL_OP);
        i += !call;
        j += call;
        if (!counts)
            continue;
        if (until != INT64_MIN && start > until)
            add_rest(f, until, start, TL_NONE, TL_MEET_FREE, &at);
        until = end > until ? end : until;
    }
}

static int by_start(const void *a, const void *b)
{
    const tl_held *x = a, *y = b;
    return TL_COMPARE(x->start_ns, y->start_ns);
}

static bool has_frames(const tl_ops *o, const tl_thread *t)
{
    for (size_t i = t->first; i < t->first + t->n; i++)
        if (o->kind[i] == TL_FRAME)
            return true;
    return false;
}

/* t and calls: what the thread has of operators and of calls, either may be NULL. */
static void walk_thread(finding *f, const tl_thread *t, const tl_thread *calls)
{
    tl_meets *out = f->out;
    size_t first = out->held.n;

    f->taken.n = 0;
    if (t != NULL) {
        walk_collectives(f, t);
        walk_waits(f, t);
    }
    if (calls != NULL && f->out->asyncs.n > 0 && (t == NULL || !has_frames(&f->view->ops, t)))
        walk_nothing(f, t, calls);
    if (out->held.n == first)
        return;
    qsort(out->held.v + first, out->held.n - first, sizeof *out->held.v, by_start);
    tl_vec_room(&out->threads);
    out->threads.v[out->threads.n++] =
        (tl_held_thread){ t != NULL ? t->track : calls->track, first, out->held.n - first };
}

/* Threads that have operators, or calls, or both; by track. */
static void walk_threads(finding *f)
{
    const tl_rank_view *v = f->view;
    size_t i = 0, j = 0;

    while (i < v->ops.nthreads || j < v->calls.nthreads) {
        uint32_t a = i < v->ops.nthreads ? v->ops.threads[i].track : TL_NONE,
                 b = j < v->calls.nthreads ? v->calls.threads[j].track : TL_NONE;
        walk_thread(f, a <= b ? &v->ops.threads[i] : NULL, b <= a ? &v->calls.threads[j] : NULL);
        i += a <= b;
        j += b <= a;
    }
}

static void any_name(finding *f, bool *any)
{
    const tl_names *names = f->view->names;
    f->meet = tl_calloc(names->n + 1, 1);
    *any = false;
    for (size_t i = 0; i < names->n; i++) {
        f->meet[i] = (uint8_t)meet_named(tl_names_text(names, (uint32_t)i));
        *any |= f->meet[i] != TL_MEET_NOT;
    }
}

void tl_meets_find(const tl_rank_view *view, tl_meets *out)
{
    finding f = { .view = view, .out = out };
    bool any;
    any_name(&f, &any);

    if (any) {
        list_launches(&f);
        for (size_t t = 0; t < view->ops.nthreads; t++)
            list_asyncs(&f, &view->ops.threads[t]);
        if (out->asyncs.n > 0)
            qsort(out->asyncs.v, out->asyncs.n, sizeof *out->asyncs.v, by_end);
        walk_threads(&f);
    }
    free(f.meet);
    free(f.launches.v);
    tl_spans_free(&f.taken);
}

void tl_meets_free(tl_meets *meets)
{
    free(meets->held.v);
    free(meets->asyncs.v);
    free(meets->threads.v);
    free(meets->ops.v);
    *meets = (tl_meets){ 0 };
}
