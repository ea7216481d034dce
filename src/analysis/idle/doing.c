/* doing.c - what did the host do during the gaps of a device?
 *
 *     gaps                  |<--- gap --->|             |<-gap->|
 *     operators   [ aten::linear              ]   [aten::add            ]
 *                    [aten::t][ aten::mm  ]
 *     own time              ttt mmmmmmmmmmmll           aaaaaaaaa
 *     calls                      [cudaMalloc]
 *
 * An instant of a thread belongs to the operator that began last and still runs, and to the call that began first.  So
 * a stack and one look at each event are enough, however deep they nest.  What the thread did that launched the work
 * after the gap goes into the gap's row; of other threads, the operator with the most time on any one of them.
 */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* How many threads are asked what they did beside the one that counts: those with the most events. */
#define OTHER_THREADS 64

typedef struct doing {
    tl_idle_rank *k;
    const tl_idle_device *d;
    tl_gap *rows;
    uint32_t *by_thread; /* gaps by (track, time) */
    tl_idle_tally ops, calls;
} doing;

static uint32_t track_of(const doing *w, uint32_t gap)
{
    return w->d->gaps.v[gap].track;
}

/* ------------------------------------------------------------------------------------------------------- operators */

/* Operators of one thread that run, the one that began last on top. */
typedef struct running {
    int64_t end_ns;
    uint32_t name;
} running;

typedef struct op_walk {
    const tl_ops *o;
    size_t at, end; /* events not yet met */
    TL_VEC(running) stack;
} op_walk;

static void pop_ended(op_walk *s, int64_t by_ns)
{
    while (s->stack.n > 0 && s->stack.v[s->stack.n - 1].end_ns <= by_ns)
        s->stack.n--;
}

static void push(op_walk *s, size_t i, int64_t end_ns)
{
    tl_vec_room(&s->stack);
    s->stack.v[s->stack.n++] = (running){ end_ns, s->o->name[i] };
}

/* Goes on to the instant: what runs then is on the stack. */
static void go_to(op_walk *s, int64_t lo)
{
    for (; s->at < s->end && s->o->start_ns[s->at] <= lo; s->at++) {
        int64_t end = s->o->start_ns[s->at] + s->o->dur_ns[s->at];
        if (end <= lo || s->o->kind[s->at] == TL_ANNOTATION)
            continue;
        pop_ended(s, s->o->start_ns[s->at]);
        push(s, s->at, end);
    }
}

/* Adds up the own times of operators in [lo, hi). */
static void own_times(doing *w, op_walk *s, int64_t lo, int64_t hi)
{
    int64_t now = lo;

    go_to(s, lo);
    while (now < hi) {
        pop_ended(s, now);
        while (s->at < s->end && s->o->kind[s->at] == TL_ANNOTATION)
            s->at++;
        int64_t begins = s->at < s->end ? s->o->start_ns[s->at] : INT64_MAX;
        int64_t until = begins < hi ? begins : hi;
        if (s->stack.n > 0) {
            const running *top = &s->stack.v[s->stack.n - 1];
            until = top->end_ns < until ? top->end_ns : until;
            if (until > now)
                tl_idle_tally_add(&w->ops, tl_name_key(w->k->view, top->name), 0, until - now);
        }
        now = until;
        if (now == begins && now < hi) {
            int64_t end = begins + s->o->dur_ns[s->at];
            if (end > now)
                push(s, s->at, end);
            s->at++;
        }
    }
}

/* Enters what the thread did in the gap: its own, or that of another; or in which annotation it was. */
static void enter_ops(doing *w, uint32_t gap, uint32_t track, bool annotations)
{
    tl_gap *row = &w->rows[gap];

    if (annotations) {
        row->annotation = tl_idle_tally_largest(&w->ops)->name;
        for (size_t i = 0; i < w->ops.n; i++) {
            tl_vec_room(&w->k->places);
            w->k->places.v[w->k->places.n++] =
                (tl_idle_place){ w->d->first_row + gap, w->ops.v[i].name, w->ops.v[i].ns };
        }
    } else if (track_of(w, gap) == track) {
        tl_idle_tally_ops(&w->ops, row);
    } else {
        const tl_idle_tally_entry *other = tl_idle_tally_largest(&w->ops);
        if (other->ns > row->other_op_ns) {
            row->other_op = other->name;
            row->other_op_ns = other->ns;
        }
    }
    tl_idle_tally_clear(&w->ops);
}

/* A thread through n gaps; by: their numbers, NULL for all. */
static void walk_ops(doing *w, const tl_ops *o, const tl_thread *t, const uint32_t *by, size_t n, op_walk *s)
{
    *s = (op_walk){ .o = o, .at = t->first, .end = t->first + t->n, .stack = { s->stack.v, 0, s->stack.cap } };
    for (size_t i = 0; i < n; i++) {
        uint32_t gap = by != NULL ? by[i] : (uint32_t)i;
        if (s->at == s->end && s->stack.n == 0)
            break;
        if (s->stack.n == 0 && o->start_ns[s->at] >= w->rows[gap].end_ns)
            continue;
        own_times(w, s, w->rows[gap].start_ns, w->rows[gap].end_ns);
        if (w->ops.n > 0)
            enter_ops(w, gap, t->track, o != &w->k->view->ops);
    }
}

/* ----------------------------------------------------------------------------------------------------- annotations */

/* The n annotations among the operators, as operators of their own; but for the marks of steps, which are a column. */
typedef struct annotations {
    tl_arena arena;
    int64_t *start_ns, *dur_ns;
    uint32_t *name;
    uint8_t *kind;
    tl_thread *threads;
    tl_ops ops;
} annotations;

static void annotations_make(annotations *a, const tl_rank_view *v, size_t n)
{
    a->start_ns = tl_arena_take(&a->arena, n, sizeof *a->start_ns);
    a->dur_ns = tl_arena_take(&a->arena, n, sizeof *a->dur_ns);
    a->name = tl_arena_take(&a->arena, n, sizeof *a->name);
    a->kind = tl_arena_zeroed(&a->arena, n, sizeof *a->kind);
    a->threads = tl_arena_take(&a->arena, v->ops.nthreads, sizeof *a->threads);
    n = 0;
    for (size_t t = 0; t < v->ops.nthreads; t++) {
        const tl_thread *thread = &v->ops.threads[t];
        a->threads[t] = (tl_thread){ thread->track, n, 0 };
        for (size_t i = thread->first; i < thread->first + thread->n; i++) {
            if (v->ops.kind[i] != TL_ANNOTATION ||
                tl_text_starts(tl_names_text(v->names, v->ops.name[i]), "ProfilerStep"))
                continue;
            a->start_ns[n] = v->ops.start_ns[i];
            a->dur_ns[n] = v->ops.dur_ns[i];
            a->name[n++] = v->ops.name[i];
        }
        a->threads[t].n = n - a->threads[t].first;
    }
    a->ops = (tl_ops){ .start_ns = a->start_ns,
                       .dur_ns = a->dur_ns,
                       .name = a->name,
                       .kind = a->kind,
                       .n = n,
                       .threads = a->threads,
                       .nthreads = v->ops.nthreads };
}

/* ----------------------------------------------------------------------------------------------------------- calls */

/* The calls of one thread as stretches that do not overlap: of what runs at once, the first to have begun. */
typedef struct call_walk {
    size_t at, end;
    int64_t from_ns, to_ns; /* the stretch that is met now; empty at first */
    size_t call;            /* whose it is */
} call_walk;

static bool next_stretch(const tl_calls *c, call_walk *s)
{
    for (; s->at < s->end; s->at++) {
        int64_t start = c->start_ns[s->at], end = start + c->dur_ns[s->at];
        if (end <= s->to_ns || end == start)
            continue;
        s->from_ns = start > s->to_ns ? start : s->to_ns;
        s->to_ns = end;
        s->call = s->at++;
        return true;
    }
    return false;
}

/* Whether the call is, or has in it, the launch after the gap, and is short: every launch takes a moment. */
static bool is_own_launch(const doing *w, uint32_t gap, size_t call)
{
    const tl_calls *c = &w->k->view->calls;
    uint32_t launch = w->d->gaps.v[gap].launch;

    if (launch == TL_NONE || c->dur_ns[call] >= w->k->config->own_launch_ns)
        return false;
    const tl_launch *l = &w->k->view->launches[launch];
    return c->start_ns[call] <= l->start_ns && l->end_ns <= c->start_ns[call] + c->dur_ns[call];
}

static uint8_t class_of(tl_idle_rank *k, size_t call)
{
    const tl_idle_call *name = tl_idle_call_named(k, k->view->calls.name[call]);
    uint8_t class = name->call;
    if (class == TL_CALL_OTHER && !name->plain && tl_idle_wait_kind(k, (uint32_t)call, name) != TL_SYNC_NONE)
        class = TL_CALL_SYNC;
    return class;
}

static void walk_calls(doing *w, const tl_thread *t, const uint32_t *by, size_t n)
{
    const tl_calls *c = &w->k->view->calls;
    call_walk s = { .at = t->first, .end = t->first + t->n, .from_ns = INT64_MIN, .to_ns = INT64_MIN };

    for (size_t i = 0; i < n; i++) {
        tl_gap *row = &w->rows[by[i]];
        int64_t lo = row->start_ns, hi = row->end_ns;
        bool there = true;
        while (there && s.to_ns <= lo)
            there = next_stretch(c, &s);
        for (; there && s.from_ns < hi; there = next_stretch(c, &s)) {
            int64_t from = s.from_ns > lo ? s.from_ns : lo, to = s.to_ns < hi ? s.to_ns : hi;
            if (!is_own_launch(w, by[i], s.call))
                tl_idle_tally_add(&w->calls, c->name[s.call], class_of(w->k, s.call), to - from);
            if (s.to_ns > hi)
                break; /* it goes on into later gaps */
        }
        if (w->calls.n > 0)
            tl_idle_tally_calls(&w->calls, row);
        tl_idle_tally_clear(&w->calls);
        if (!there)
            break;
    }
}

/* ------------------------------------------------------------------------------------------------------- the whole */

/* Gaps of a thread in order of time; those of none stand last. */
static void order_by_thread(const doing *w)
{
    size_t ntracks = 0;
    for (uint32_t i = 0; i < w->d->gaps.n; i++)
        if (track_of(w, i) != TL_NONE && track_of(w, i) >= ntracks)
            ntracks = (size_t)track_of(w, i) + 1;
    size_t *next = tl_calloc(ntracks + 2, sizeof *next); /* by track: where its next gap goes */
    for (uint32_t i = 0; i < w->d->gaps.n; i++)
        next[(track_of(w, i) != TL_NONE ? track_of(w, i) : ntracks) + 1]++;
    for (size_t t = 0; t < ntracks; t++)
        next[t + 1] += next[t];
    for (uint32_t i = 0; i < w->d->gaps.n; i++)
        w->by_thread[next[track_of(w, i) != TL_NONE ? track_of(w, i) : ntracks]++] = i;
    free(next);
}

/* The gaps of the thread, in *by; their number. */
static size_t gaps_of(const doing *w, uint32_t track, const uint32_t **by)
{
    size_t low = 0, n = 0;
    TL_BISECT(low, w->d->gaps.n, mid, track_of(w, w->by_thread[mid]) < track);
    *by = w->by_thread + low;
    while (low + n < w->d->gaps.n && track_of(w, w->by_thread[low + n]) == track)
        n++;
    return n;
}

/* Limits the threads that are looked at to OTHER_THREADS: threads with more than *least events, and *ties of the
 * threads with exactly that number. */
static void limit_threads(const tl_ops *o, size_t *least, size_t *ties)
{
    size_t low = 1, high = o->n;

    *least = 0;
    *ties = 0;
    if (o->nthreads <= OTHER_THREADS)
        return;
    while (low < high) { /* the largest number of events that OTHER_THREADS threads reach */
        size_t mid = low + (high - low + 1) / 2, reach = 0;
        for (size_t t = 0; t < o->nthreads; t++)
            reach += o->threads[t].n >= mid;
        if (reach >= OTHER_THREADS)
            low = mid;
        else
            high = mid - 1;
    }
    size_t above = 0;
    for (size_t t = 0; t < o->nthreads; t++)
        above += o->threads[t].n > low;
    *least = low;
    *ties = OTHER_THREADS - above;
}

void tl_idle_doing(tl_idle_rank *k, const tl_idle_device *d, tl_gap *rows)
{
    const tl_rank_view *v = k->view;
    doing w = { .k = k, .d = d, .rows = rows, .by_thread = tl_malloc((d->gaps.n + 1) * sizeof *w.by_thread) };
    op_walk s = { 0 };
    annotations a = { 0 };
    size_t least, ties;
    tl_idle_tally_make(&w.ops, v->names);
    tl_idle_tally_make(&w.calls, v->names);

    limit_threads(&v->ops, &least, &ties);
    order_by_thread(&w);
    for (size_t t = 0; t < v->ops.nthreads; t++) {
        const tl_thread *thread = &v->ops.threads[t];
        const uint32_t *by = NULL;
        size_t n = d->gaps.n;
        bool asked = thread->n > least || (thread->n == least && ties > 0);
        ties -= thread->n == least && ties > 0;
        if (!asked)
            n = gaps_of(&w, thread->track, &by);
        walk_ops(&w, &v->ops, thread, by, n, &s);
    }
    annotations_make(&a, v, k->nops[TL_ANNOTATION]);
    for (size_t t = 0; t < a.ops.nthreads; t++) {
        const uint32_t *by;
        size_t n = gaps_of(&w, a.threads[t].track, &by);
        walk_ops(&w, &a.ops, &a.threads[t], by, n, &s);
    }
    tl_arena_free(&a.arena);
    for (size_t t = 0; t < v->calls.nthreads; t++) {
        const uint32_t *by;
        size_t n = gaps_of(&w, v->calls.threads[t].track, &by);
        walk_calls(&w, &v->calls.threads[t], by, n);
    }
    tl_idle_tally_free(&w.ops);
    tl_idle_tally_free(&w.calls);
    free(w.by_thread);
    free(s.stack.v);
}
