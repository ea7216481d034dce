/* host_doing.c - what did the host do during the gaps of a device?
 *
 *     gaps                  |<--- gap --->|             |<-gap->|
 *     operators   [ aten::linear              ]   [aten::add            ]
 *                    [aten::t][ aten::mm  ]
 *     self time             ttt mmmmmmmmmmmll           aaaaaaaaa
 *     calls                      [cudaMalloc]
 *
 * An instant of a thread belongs to the operator that began last and still runs, and to the call that began first.  So
 * one stack and one look at each event are enough at any depth.  The row of a gap gets the operators and calls of the
 * thread that launched the work after it; of other threads, the operator with the most time on any one of them.
 */
#include "internal.h"
#include <stdlib.h>

/* Largest number of other threads that are looked at: those with the most events. */
enum { OTHER_THREADS = 64 };

/* ---------------------------------------------------------------------------------------------------------- tallies */

void tl_idle_tally_make(tl_idle_tally *tally, const tl_names *names)
{
    *tally = (tl_idle_tally){
        .v = tl_malloc(sizeof *tally->v), .cap = 1, .slot = tl_malloc_none(names->n), .nnames = (uint32_t)names->n
    };
}

void tl_idle_tally_free(tl_idle_tally *tally)
{
    free(tally->v);
    free(tally->slot);
}

void tl_idle_tally_clear(tl_idle_tally *tally)
{
    for (size_t i = 0; i < tally->n; i++)
        *tl_idle_slot(tally, tally->v[i].name) = TL_NONE;
    tally->n = 0;
}

/* Fills the columns of calls: the class with the most time, and the largest call of that class.  Ties: the first
 * one. */
static void fill_calls(const tl_idle_tally *tally, tl_gap *row)
{
    int64_t sums[TL_NCALLS] = { 0 }, most = -1;

    for (size_t i = 0; i < tally->n; i++)
        sums[tally->v[i].call] = tl_ns_add(sums[tally->v[i].call], tally->v[i].ns);
    for (size_t i = 0; i < tally->n; i++) /* the first of equal classes */
        row->call_class = i == 0 || sums[tally->v[i].call] > sums[row->call_class] ? tally->v[i].call : row->call_class;
    row->call_ns = sums[row->call_class];
    for (size_t i = 0; i < tally->n; i++)
        if (tally->v[i].call == row->call_class && tally->v[i].ns > most) {
            row->call = tally->v[i].name;
            most = tally->v[i].ns;
        }
}

/* Fills the columns of operators: the three with the most self time; ties: the first one. */
static void fill_own_ops(const tl_idle_tally *tally, tl_gap *row)
{
    enum { SHOWN = 3 };
    tl_idle_tally_entry top[SHOWN + 1] = { { TL_NO_NAME, 0, 0, 0 }, { TL_NO_NAME, 0, 0, 0 }, { TL_NO_NAME, 0, 0, 0 } };

    row->ops_ns = 0;
    for (size_t i = 0; i < tally->n; i++) {
        size_t at = SHOWN;
        row->ops_ns = tl_ns_add(row->ops_ns, tally->v[i].ns);
        for (; at > 0 && tally->v[i].ns > top[at - 1].ns; at--)
            top[at] = top[at - 1];
        top[at] = tally->v[i];
    }
    row->dominant_op = top[0].name;
    row->second_op = top[1].name;
    row->third_op = top[2].name;
    row->dominant_op_ns = top[0].ns;
    row->second_op_ns = top[1].ns;
    row->third_op_ns = top[2].ns;
}

/* ------------------------------------------------------------------------------------------------------- operators */

typedef struct doing {
    tl_idle_rank *k;
    const tl_idle_device *d;
    tl_gap *rows;
    uint32_t *gaps; /* by (track, time); gaps of no thread are left out */
    size_t *first;  /* [ntracks + 1] by track: index in gaps */
    size_t ntracks; /* largest track of a thread with gaps, + 1 */
    tl_idle_tally tally;
} doing;

/* Returns the gaps that belong to the thread, *n of them. */
static const uint32_t *gaps_of(const doing *w, uint32_t track, size_t *n)
{
    bool any = track < w->ntracks;
    *n = any ? w->first[track + 1] - w->first[track] : 0;
    return any ? w->gaps + w->first[track] : w->gaps;
}

/* An operator of one thread that runs at the current instant. */
typedef struct running {
    int64_t end_ns;
    uint32_t name;
} running;

typedef struct op_walk {
    const tl_rank_view *view;
    bool annotations; /* true: annotations, except step marks, which have a column; false: everything else */
    size_t at, end;   /* events that are still to come */
    TL_VEC(running) stack;
} op_walk;

static bool is_walked(const op_walk *s, size_t op)
{
    if ((s->view->ops.kind[op] == TL_ANNOTATION) != s->annotations)
        return false;
    return !s->annotations || !tl_is_step_mark(s->view->names, s->view->served, s->view->ops.name[op]);
}

static void pop_ended(op_walk *s, int64_t by_ns)
{
    while (s->stack.n > 0 && s->stack.v[s->stack.n - 1].end_ns <= by_ns)
        s->stack.n--;
}

/* Adds the self times of operators in [lo, hi) to the tally. */
static void add_self_times(doing *w, op_walk *s, int64_t lo, int64_t hi)
{
    const tl_ops *o = &s->view->ops;

    for (; s->at < s->end && o->start_ns[s->at] <= lo; s->at++) {
        int64_t end = tl_op_end(o, s->at);
        if (end <= lo || !is_walked(s, s->at))
            continue;
        pop_ended(s, o->start_ns[s->at]);
        tl_vec_push(&s->stack, (running){ end, o->name[s->at] });
    }
    for (int64_t now = lo, until; now < hi; now = until) {
        pop_ended(s, now);
        while (s->at < s->end && !is_walked(s, s->at))
            s->at++;
        int64_t begins = s->at < s->end ? o->start_ns[s->at] : INT64_MAX;
        until = tl_ns_min(begins, hi);
        if (s->stack.n > 0) {
            const running *top = &s->stack.v[s->stack.n - 1];
            until = tl_ns_min(top->end_ns, until);
            if (until > now)
                tl_idle_tally_add(&w->tally, tl_name_key(s->view, top->name), 0, until - now);
        }
        if (until == begins && until < hi) {
            int64_t end = tl_op_end(o, s->at);
            if (end > until)
                tl_vec_push(&s->stack, (running){ end, o->name[s->at] });
            s->at++;
        }
    }
}

/* Writes the tally of a gap into its row: as the thread's own operators, those of another thread, or annotations. */
static void write_tally(doing *w, uint32_t gap, uint32_t track, bool annotations)
{
    const tl_idle_tally_entry *largest = tl_idle_tally_largest(&w->tally);
    tl_gap *row = &w->rows[gap];

    if (annotations) {
        row->annotation = largest->name;
        for (size_t i = 0; i < w->tally.n; i++)
            tl_vec_push(&w->k->gap_annotations,
                        (tl_gap_annotation){ w->d->first_row + gap, w->tally.v[i].name, w->tally.v[i].ns });
    } else if (w->d->gaps.v[gap].track == track) {
        fill_own_ops(&w->tally, row);
    } else if (largest->ns > row->other_op_ns) {
        row->other_op = largest->name;
        row->other_op_ns = largest->ns;
    }
    tl_idle_tally_clear(&w->tally);
}

/* Walks a thread through n gaps.  by: their indices; NULL: all gaps. */
static void walk_ops(doing *w, const tl_thread *t, const uint32_t *by, size_t n, op_walk *s)
{
    s->at = t->first;
    s->end = t->first + t->n;
    s->stack.n = 0;
    for (size_t i = 0; i < n && (s->at < s->end || s->stack.n > 0); i++) {
        uint32_t gap = by != NULL ? by[i] : (uint32_t)i;
        if (s->stack.n == 0 && s->view->ops.start_ns[s->at] >= w->rows[gap].end_ns)
            continue;
        add_self_times(w, s, w->rows[gap].start_ns, w->rows[gap].end_ns);
        if (w->tally.n > 0)
            write_tally(w, gap, t->track, s->annotations);
    }
}

/* Order: number of events, descending; ties in order of threads. */
TL_ORDER_BY(by_events, tl_thread, DOWN(n))

static void walk_all_ops(doing *w)
{
    op_walk s = { .view = w->k->view };
    const tl_ops *o = &s.view->ops;
    uint32_t *order = tl_sorted_index(o->nthreads, by_events, o->threads);
    bool *asked = tl_calloc(o->nthreads + 1, sizeof *asked);
    size_t n;

    for (size_t i = 0; i < o->nthreads && i < OTHER_THREADS; i++)
        asked[order[i]] = true;
    for (size_t t = 0; t < o->nthreads; t++) {
        const uint32_t *by = gaps_of(w, o->threads[t].track, &n);
        walk_ops(w, &o->threads[t], asked[t] ? NULL : by, asked[t] ? w->d->gaps.n : n, &s);
    }
    free(order);
    free(asked);
    s.annotations = true;
    for (size_t t = 0; w->k->nops[TL_ANNOTATION] > 0 && t < o->nthreads; t++) {
        const uint32_t *by = gaps_of(w, o->threads[t].track, &n);
        walk_ops(w, &o->threads[t], by, n, &s);
    }
    free(s.stack.v);
}

/* ----------------------------------------------------------------------------------------------------------- calls */

/* The calls of one thread as disjoint stretches: where calls overlap, the first to begin. */
typedef struct call_walk {
    size_t at, end;
    int64_t from_ns, to_ns; /* the current stretch; empty at first */
    size_t call;            /* call of the current stretch */
} call_walk;

static bool next_stretch(const tl_calls *c, call_walk *s)
{
    for (; s->at < s->end; s->at++) {
        int64_t end = tl_call_end(c, s->at);
        if (end <= s->to_ns || c->dur_ns[s->at] == 0)
            continue;
        s->from_ns = tl_ns_max(c->start_ns[s->at], s->to_ns);
        s->to_ns = end;
        s->call = s->at++;
        return true;
    }
    return false;
}

/* Whether the call is the launch after the gap or contains it, and is shorter than own_launch_ns: any launch takes some
 * time. */
static bool is_own_launch(const doing *w, uint32_t gap, size_t call)
{
    const tl_calls *c = &w->k->view->calls;
    uint32_t launch = w->d->gaps.v[gap].launch;

    if (launch == TL_NONE || c->dur_ns[call] >= w->k->config->own_launch_ns)
        return false;
    const tl_launch *l = &w->k->view->launches[launch];
    return c->start_ns[call] <= l->start_ns && l->end_ns <= tl_call_end(c, call);
}

static uint8_t class_of(tl_idle_rank *k, size_t call)
{
    const tl_idle_call *name = tl_idle_call_named(k, k->view->calls.name[call]);
    if (name->rule->does == TL_DOES_ALLOCATE || name->rule->does == TL_DOES_FREE)
        return TL_CALL_ALLOC;
    if (tl_idle_launches(name))
        return TL_CALL_LAUNCH;
    return !name->plain && tl_idle_wait_kind(k, call, name) != TL_SYNC_NONE ? TL_CALL_SYNC : TL_CALL_OTHER;
}

static void walk_calls(doing *w, const tl_thread *t)
{
    const tl_calls *c = &w->k->view->calls;
    call_walk s = { .at = t->first, .end = t->first + t->n, .from_ns = INT64_MIN, .to_ns = INT64_MIN };
    size_t n;
    const uint32_t *by = gaps_of(w, t->track, &n);
    bool there = true;

    for (size_t i = 0; there && i < n; i++) {
        tl_gap *row = &w->rows[by[i]];
        while (there && s.to_ns <= row->start_ns)
            there = next_stretch(c, &s);
        for (; there && s.from_ns < row->end_ns; there = next_stretch(c, &s)) {
            int64_t from = tl_ns_max(s.from_ns, row->start_ns), to = tl_ns_min(s.to_ns, row->end_ns);
            if (!is_own_launch(w, by[i], s.call))
                tl_idle_tally_add(&w->tally, c->name[s.call], class_of(w->k, s.call), to - from);
            if (s.to_ns > row->end_ns)
                break; /* the call goes on into later gaps */
        }
        if (w->tally.n > 0)
            fill_calls(&w->tally, row);
        tl_idle_tally_clear(&w->tally);
    }
}

void tl_idle_doing(tl_idle_rank *k, const tl_idle_device *d, tl_gap *rows)
{
    tl_arena arena = { 0 };
    doing w = { .k = k, .d = d, .rows = rows, .gaps = tl_arena_take(&arena, d->gaps.n, sizeof *w.gaps) };
    uint32_t *track_of = tl_arena_take(&arena, d->gaps.n, sizeof *track_of);

    for (size_t i = 0; i < d->gaps.n; i++) {
        track_of[i] = d->gaps.v[i].track;
        w.ntracks = track_of[i] != TL_NONE && track_of[i] >= w.ntracks ? (size_t)track_of[i] + 1 : w.ntracks;
    }
    w.first = tl_arena_take(&arena, w.ntracks + 1, sizeof *w.first);
    tl_group_rows(track_of, d->gaps.n, w.ntracks, w.first, w.gaps);
    tl_idle_tally_make(&w.tally, k->view->names);
    walk_all_ops(&w);
    for (size_t t = 0; t < k->view->calls.nthreads; t++)
        walk_calls(&w, &k->view->calls.threads[t]);
    tl_idle_tally_free(&w.tally);
    tl_arena_free(&arena);
}
