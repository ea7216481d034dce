/* mixed.c - what did the host do, with all threads as one (without rule `threads`)?
 *
 * The plain rule, for comparison: the time of calls is added over all threads, and an operator contains another when it
 * lies around it in time, on whatever thread.  An operator's own time is its part of the gap less what those that it
 * contains cover.
 */
#include "parts.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* Events of all threads in order, and those of them that run in the gap that is looked at. */
typedef struct mixed {
    const int64_t *start_ns, *dur_ns;
    uint32_t *order;
    size_t n, at;             /* at: the first that has not been met */
    TL_VEC(uint32_t) running; /* in order */
} mixed;

typedef struct sorting {
    const int64_t *start_ns, *dur_ns;
    const uint32_t *uid;
    bool longer_first;
} sorting;

static int in_order(const void *context, uint32_t a, uint32_t b)
{
    const sorting *s = context;
    if (s->start_ns[a] != s->start_ns[b])
        return s->start_ns[a] < s->start_ns[b] ? -1 : 1;
    if (s->longer_first && s->dur_ns[a] != s->dur_ns[b])
        return s->dur_ns[a] > s->dur_ns[b] ? -1 : 1;
    return s->uid[a] < s->uid[b] ? -1 : s->uid[a] > s->uid[b];
}

static bool mixed_make(mixed *m, const sorting *s, size_t n)
{
    *m =
        (mixed){ .start_ns = s->start_ns, .dur_ns = s->dur_ns, .order = tl_malloc((n + 1) * sizeof *m->order), .n = n };
    for (size_t i = 0; m->order != NULL && i < n; i++)
        m->order[i] = (uint32_t)i;
    return m->order != NULL && tl_sort_index(m->order, n, in_order, s);
}

static void mixed_free(mixed *m)
{
    free(m->order);
    free(m->running.v);
}

static int64_t end_of(const mixed *m, uint32_t event)
{
    return m->start_ns[event] + m->dur_ns[event];
}

/* Those that begin before hi and end after lo.  Gaps come in order of time. */
static bool meet(mixed *m, int64_t lo, int64_t hi)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->running.n; i++)
        if (end_of(m, m->running.v[i]) > lo)
            m->running.v[kept++] = m->running.v[i];
    m->running.n = kept;
    for (; m->at < m->n && m->start_ns[m->order[m->at]] < hi; m->at++) {
        if (end_of(m, m->order[m->at]) <= lo)
            continue;
        if (!tl_vec_room(&m->running))
            return false;
        m->running.v[m->running.n++] = m->order[m->at];
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- calls */

static bool add_calls(tl_idle_rank *k, const tl_idle_gap *g, mixed *m, tl_idle_tally *tally, tl_gap *row)
{
    const tl_calls *c = &k->view->calls;
    int64_t lo = row->start_ns, hi = row->end_ns;
    bool calls = tl_idle_holds(k, TL_IDLE_CALLS);
    uint32_t own = calls && g->launch != TL_NONE ? k->view->launches[g->launch].uid : TL_NONE;

    if (!meet(m, lo, hi))
        return false;
    for (size_t i = 0; i < m->running.n; i++) {
        uint32_t call = m->running.v[i];
        if (c->uid[call] == own && c->dur_ns[call] < k->config->own_launch_ns)
            continue;
        int64_t from = c->start_ns[call] > lo ? c->start_ns[call] : lo,
                to = end_of(m, call) < hi ? end_of(m, call) : hi;
        const tl_idle_call *name = tl_idle_call_named(k, c->name[call]);
        uint8_t class = name->call;
        if (class == TL_CALL_OTHER && tl_idle_wait_kind(k, call, name) != TL_SYNC_NONE)
            class = TL_CALL_SYNC;
        if (!tl_idle_tally_add(tally, c->name[call], class, to > from ? to - from : 0))
            return false;
    }
    if (tally->n > 0)
        tl_idle_tally_calls(tally, calls, row);
    tl_idle_tally_clear(tally);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- operators */

/* One operator in the gap.  behind: the first one after it in order that does not lie within it; where the ones between
 * all do, they can be stepped over. */
typedef struct part {
    int64_t start_ns, end_ns, from_ns, to_ns;
    uint32_t name;
    size_t behind;
} part;

typedef struct parts {
    TL_VEC(part) v;
    TL_VEC(size_t) open;
} parts;

static bool within(const part *a, const part *b)
{
    return b->start_ns >= a->start_ns && b->end_ns <= a->end_ns;
}

/* Fills `behind`: an operator is open until one comes that does not lie within it. */
static bool link_parts(parts *p)
{
    p->open.n = 0;
    for (size_t i = 0; i <= p->v.n; i++) {
        while (p->open.n > 0 && (i == p->v.n || !within(&p->v.v[p->open.v[p->open.n - 1]], &p->v.v[i])))
            p->v.v[p->open.v[--p->open.n]].behind = i;
        if (i == p->v.n)
            break;
        if (!tl_vec_room(&p->open))
            return false;
        p->open.v[p->open.n++] = i;
    }
    return true;
}

/* The length that those which i contains cover of the gap. */
static int64_t covered(const parts *p, size_t i)
{
    const part *a = &p->v.v[i];
    int64_t sum = 0, until = INT64_MIN;

    for (size_t j = i + 1; j < p->v.n && p->v.v[j].start_ns <= a->end_ns;) {
        const part *b = &p->v.v[j];
        bool same = b->start_ns == a->start_ns && b->end_ns == a->end_ns;
        if (!within(a, b) || same) {
            j++;
            continue;
        }
        int64_t from = b->from_ns > until ? b->from_ns : until;
        if (b->to_ns > from) {
            sum += b->to_ns - from;
            until = b->to_ns;
        }
        j = b->behind; /* all up to there lie within b */
    }
    return sum;
}

static bool add_ops(const tl_idle_rank *k, mixed *m, parts *p, tl_idle_tally *tally, tl_gap *row)
{
    const tl_ops *o = &k->view->ops;
    int64_t lo = row->start_ns, hi = row->end_ns;

    if (!meet(m, lo, hi))
        return false;
    p->v.n = 0;
    for (size_t i = 0; i < m->running.n; i++) {
        uint32_t op = m->running.v[i];
        int64_t start = o->start_ns[op], end = end_of(m, op);
        if (o->kind[op] == TL_ANNOTATION || end == start)
            continue;
        if (!tl_vec_room(&p->v))
            return false;
        p->v.v[p->v.n++] = (part){ start, end, start > lo ? start : lo, end < hi ? end : hi, o->name[op], 0 };
    }
    if (!link_parts(p))
        return false;
    for (size_t i = 0; i < p->v.n; i++) {
        int64_t own = p->v.v[i].to_ns - p->v.v[i].from_ns - covered(p, i);
        if (own > 0 && !tl_idle_tally_add(tally, tl_idle_key(k, p->v.v[i].name), 0, own))
            return false;
    }
    if (tally->n > 0)
        tl_idle_tally_ops(tally, row);
    tl_idle_tally_clear(tally);
    return true;
}

bool tl_idle_doing_mixed(tl_idle_rank *k, const tl_idle_device *d, tl_gap *rows)
{
    const tl_rank_view *v = k->view;
    const sorting of_calls = { v->calls.start_ns, v->calls.dur_ns, v->calls.uid, false };
    const sorting of_ops = { v->ops.start_ns, v->ops.dur_ns, v->ops.uid, true };
    mixed calls = { 0 }, ops = { 0 };
    parts p = { 0 };
    tl_idle_tally tally = { 0 };
    bool whole = mixed_make(&calls, &of_calls, v->calls.n) && mixed_make(&ops, &of_ops, v->ops.n) &&
                 tl_idle_tally_make(&tally, v->names);

    for (size_t i = 0; whole && i < d->gaps.n; i++)
        whole = add_calls(k, &d->gaps.v[i], &calls, &tally, &rows[i]) && add_ops(k, &ops, &p, &tally, &rows[i]);
    mixed_free(&calls);
    mixed_free(&ops);
    free(p.v.v);
    free(p.open.v);
    tl_idle_tally_free(&tally);
    return whole;
}
