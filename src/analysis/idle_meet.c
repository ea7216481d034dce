/* idle_meet.c - see idle_meet.h. */
#include "idle_meet.h"
#include "tlmpi/base/span.h"
#include <stdlib.h>

/* A wait that is shorter is a call like any other. */
#define LEAST_WAIT_NS INT64_C(100000)

/* ---------------------------------------------------------------------------------------------------------- names */

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

tl_meet tl_meet_named(tl_text name)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (fits(name, rules[i].at, rules[i].word) &&
            (rules[i].and == NULL || fits(name, rules[i].and_at, rules[i].and)))
            return rules[i].meet;
    return TL_MEET_NOT;
}

/* ------------------------------------------------------------------------------------------------ communication */

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
    tl_spans others; /* of one thread: what is no part of a stretch */
} finding;

static int by_track(const void *a, const void *b)
{
    const comm_launch *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static bool list_launches(finding *f)
{
    const tl_rank_view *v = f->view;
    for (size_t i = 0; i < v->nkernels; i++) {
        if (v->kernels[i].kind != TL_COMM || v->kernels[i].launch == TL_NONE)
            continue;
        if (!tl_vec_room(&f->launches))
            return false;
        const tl_launch *l = &v->launches[v->kernels[i].launch];
        f->launches.v[f->launches.n++] = (comm_launch){ l->track, l->start_ns };
    }
    if (f->launches.n > 0)
        qsort(f->launches.v, f->launches.n, sizeof *f->launches.v, by_track);
    return true;
}

/* Whether the thread launches communication in [start_ns, end_ns): then the wait is the device's. */
static bool launches_comm(const finding *f, uint32_t track, int64_t start_ns, int64_t end_ns)
{
    size_t low = 0, high = f->launches.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const comm_launch *l = &f->launches.v[mid];
        if (l->track < track || (l->track == track && l->start_ns < start_ns))
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->launches.n && f->launches.v[low].track == track && f->launches.v[low].start_ns < end_ns;
}

/* -------------------------------------------------------------------------------------------------------- threads */

static int64_t end_of(const tl_ops *o, size_t i)
{
    return o->start_ns[i] + o->dur_ns[i];
}

static tl_meet meet_of(const finding *f, size_t i)
{
    uint32_t name = f->view->ops.name[i];
    return name != TL_NO_NAME ? (tl_meet)f->meet[name] : TL_MEET_NOT;
}

static bool is_collective(tl_meet meet)
{
    return meet == TL_MEET_ASYNC || meet == TL_MEET_HELD;
}

/* Adds [from_ns, to_ns) without f->others, of which the first *at have ended before; successive calls go on in time. */
static bool add_held(finding *f, int64_t from_ns, int64_t to_ns, size_t op, tl_meet meet, size_t *at)
{
    const tl_spans *others = &f->others;

    while (*at < others->n && others->v[*at].end_ns <= from_ns)
        ++*at;
    for (size_t i = *at; from_ns < to_ns; i++) {
        const tl_span *other = i < others->n && others->v[i].start_ns < to_ns ? &others->v[i] : NULL;
        int64_t until = other != NULL ? other->start_ns : to_ns;
        if (until > from_ns) {
            if (!tl_vec_room(&f->out->held))
                return false;
            f->out->held.v[f->out->held.n++] = (tl_held){ from_ns, until, (uint32_t)op, (uint8_t)meet };
        }
        from_ns = other != NULL ? other->end_ns : to_ns;
    }
    return true;
}

/* What else the host did while collectives that leave it free were under way: operators that begin in one. */
static bool find_others(finding *f, const tl_thread *t)
{
    const tl_ops *o = &f->view->ops;
    int64_t until = INT64_MIN;

    f->others.n = 0;
    for (size_t i = t->first; i < t->first + t->n; i++) {
        tl_meet meet = meet_of(f, i);
        if (meet == TL_MEET_ASYNC && end_of(o, i) > until)
            until = end_of(o, i);
        if (meet == TL_MEET_NOT && o->kind[i] == TL_OP && o->start_ns[i] < until &&
            !tl_spans_add(&f->others, o->start_ns[i], end_of(o, i)))
            return false;
    }
    return true;
}

/* The thread's stretches of collectives of hosts, of those that run at once the first to begin. */
static bool walk_collectives(finding *f, const tl_thread *t)
{
    const tl_ops *o = &f->view->ops;
    int64_t until = INT64_MIN;
    size_t at = 0;

    if (!find_others(f, t))
        return false;
    for (size_t i = t->first; i < t->first + t->n; i++) {
        tl_meet meet = meet_of(f, i);
        int64_t start = o->start_ns[i], end = end_of(o, i);
        if (!is_collective(meet) || end <= until || end <= start ||
            (meet == TL_MEET_HELD && launches_comm(f, t->track, start, end)))
            continue;
        if (!tl_vec_room(&f->out->ops))
            return false;
        f->out->ops.v[f->out->ops.n++] = (uint32_t)i;
        size_t none = f->others.n, *from = meet == TL_MEET_ASYNC ? &at : &none;
        if (!add_held(f, start > until ? start : until, end, i, meet, from))
            return false;
        until = end;
    }
    return true;
}

/* The waits outside of these. */
static bool walk_waits(finding *f, const tl_thread *t, size_t first)
{
    const tl_ops *o = &f->view->ops;
    size_t n = f->out->held.n, at = 0;
    int64_t until = INT64_MIN;

    f->others.n = 0;
    for (size_t h = first; h < n; h++)
        if (!tl_spans_add(&f->others, f->out->held.v[h].start_ns, f->out->held.v[h].end_ns))
            return false;
    for (size_t i = t->first; i < t->first + t->n; i++) {
        int64_t start = o->start_ns[i], end = end_of(o, i);
        if (meet_of(f, i) != TL_MEET_WAIT || end <= until || o->dur_ns[i] < LEAST_WAIT_NS ||
            launches_comm(f, t->track, start, end))
            continue;
        if (!add_held(f, start > until ? start : until, end, i, TL_MEET_WAIT, &at))
            return false;
        until = end;
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    const tl_held *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static bool walk_thread(finding *f, const tl_thread *t)
{
    tl_meets *out = f->out;
    size_t first = out->held.n;

    if (!walk_collectives(f, t) || !walk_waits(f, t, first))
        return false;
    if (out->held.n == first)
        return true;
    qsort(out->held.v + first, out->held.n - first, sizeof *out->held.v, by_start);
    if (!tl_vec_room(&out->threads))
        return false;
    out->threads.v[out->threads.n++] = (tl_held_thread){ t->track, first, out->held.n - first };
    return true;
}

static bool any_name(finding *f, bool *any)
{
    const tl_names *names = f->view->names;
    f->meet = tl_calloc(names->n + 1, 1);
    *any = false;
    for (size_t i = 0; f->meet != NULL && i < names->n; i++) {
        f->meet[i] = (uint8_t)tl_meet_named(tl_names_text(names, (uint32_t)i));
        *any |= f->meet[i] != TL_MEET_NOT;
    }
    return f->meet != NULL;
}

bool tl_meets_find(const tl_rank_view *view, tl_meets *out)
{
    finding f = { .view = view, .out = out };
    bool any, whole = any_name(&f, &any);

    if (whole && any) {
        whole = list_launches(&f);
        for (size_t t = 0; whole && t < view->ops.nthreads; t++)
            whole = walk_thread(&f, &view->ops.threads[t]);
    }
    free(f.meet);
    free(f.launches.v);
    tl_spans_free(&f.others);
    return whole;
}

void tl_meets_free(tl_meets *meets)
{
    free(meets->held.v);
    free(meets->threads.v);
    free(meets->ops.v);
    *meets = (tl_meets){ 0 };
}
