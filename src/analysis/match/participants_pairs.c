/* participants_pairs.c - counts the sends and receives of a rank by the rank at the other end.
 *
 * Every rank counts what it sends to another, and what it receives from there, step by step: the k-th of one is the
 * k-th of the other.
 *
 *     recording      |<- begins
 *     step                ... 4 ...|.... 5 .....|.... 6 .....
 *     launched             s  r  s  | s r s r s  | s r s r s
 *     stream       [s][r] [s][r][s]  ...
 *                    |        |- three have none of the marks of step 4
 *                    |- two have no launch
 *
 * Where the recording begins in a step its first ones are missing and its last one is the last: they are counted from
 * the end.  Kernels launched before the recording have no names, but on streams that have nothing but sends and
 * receives every step has the same of them: what came before the first launched one is what comes there in a whole
 * step.  A rank that marks no steps counts nothing: tl_ways_align finds partners by their ends.
 */
#include "internal.h"
#include <stdlib.h>

typedef struct pairing {
    const tl_rank_view *view;
    tl_participant *participants;
    size_t n;
    tl_map all;  /* way and step -> how many go there */
    tl_map most; /* way -> how many at most in a step that the recording has whole */
    tl_map now;  /* way and step -> how many have been counted */
} pairing;

static bool is_before_steps(const pairing *k, const tl_participant *p)
{
    return p->step < 0 && k->view->nsteps > 0 && p->launch_ns < k->view->steps[0].start_ns;
}

/* Returns the step of the launch.  A step in which the recording begins or ends has no mark: its number is that of the
 * first less 1, or of the last plus 1. */
static int32_t step_of(const pairing *k, const tl_participant *p)
{
    if (p->step >= 0 || k->view->nsteps == 0)
        return p->step;
    const tl_step_window *first = &k->view->steps[0], *last = &k->view->steps[k->view->nsteps - 1];
    if (is_before_steps(k, p))
        return first->number - (first->number > INT32_MIN);
    return last->number + (last->number < INT32_MAX);
}

/* ------------------------------------------------------------------------------------------------------------ ways */

/* What goes one way between this rank and another, in one group. */
static uint64_t way_of(const tl_participant *p, bool out)
{
    return tl_hash_mix(tl_hash_mix((uint64_t)p->group, (uint64_t)p->peer), out);
}

static uint64_t way_in_step(const tl_participant *p, bool out)
{
    return tl_hash_mix(way_of(p, out), (uint64_t)p->subseq);
}

static bool goes(const tl_participant *p, bool out)
{
    return out ? p->kind != TL_RECV : p->kind != TL_SEND;
}

static bool is_counted(const tl_participant *p)
{
    return p->peer >= 0 && p->launch_ns != TL_TIME_UNKNOWN;
}

static void count_ways(pairing *k)
{
    for (size_t i = 0; i < k->n; i++) {
        tl_participant *p = &k->participants[i];
        if (!is_counted(p))
            continue;
        p->subseq = step_of(k, p);
        for (int out = 0; out < 2; out++) {
            if (!goes(p, out))
                continue;
            uint32_t n = tl_map_count(&k->all, way_in_step(p, out)) + 1, most = tl_map_get(&k->most, way_of(p, out));
            if (p->step >= 0 && (most == TL_MAP_NONE || most < n))
                tl_map_put(&k->most, way_of(p, out), n);
        }
    }
}

/* Returns the number among those of one way in the step; -1: not known.  Counted from the end in the step in which the
 * recording begins. */
static int32_t nth_of(pairing *k, const tl_participant *p, bool out)
{
    int32_t nth = (int32_t)tl_map_count(&k->now, way_in_step(p, out));
    if (!is_before_steps(k, p))
        return nth;
    uint32_t most = tl_map_get(&k->most, way_of(p, out)), have = tl_map_get(&k->all, way_in_step(p, out));
    return most == TL_MAP_NONE || most < have ? -1 : nth + (int32_t)(most - have);
}

static void count_launched(pairing *k, const uint32_t *by_launch)
{
    for (size_t i = 0; i < k->n; i++) {
        tl_participant *p = &k->participants[by_launch[i]];
        if (!is_counted(p))
            continue;
        int32_t out = goes(p, true) ? nth_of(k, p, true) : -1, in = goes(p, false) ? nth_of(k, p, false) : -1;
        p->nth = tl_is_sender((tl_collective)p->kind, p->rank, p->peer) ? out : in;
    }
}

/* -------------------------------------------------------------------------------------------- before the recording */

TL_ORDER_BY(by_stream, tl_participant, device, stream, start_ns, uid)

/* The participants of one stream, in order. */
typedef struct row {
    tl_participant *participants;
    const uint32_t *of;
    size_t n;
    size_t first;             /* the first with a launch */
    size_t pattern, npattern; /* those of the first step that the recording has whole */
} row;

static tl_participant *at(const row *r, size_t i)
{
    return &r->participants[r->of[i]];
}

/* Whether the stream has nothing but sends and receives, and some that are known. */
static bool is_of_pairs(const row *r)
{
    bool any = false;
    for (size_t i = 0; i < r->n; i++) {
        const tl_participant *p = at(r, i);
        if (p->launch_ns != TL_TIME_UNKNOWN
                ? p->peer == TL_NO_PEER
                : !(p->peer != TL_NO_PEER || p->kind == TL_SEND_RECV || p->kind == TL_COLL_UNKNOWN))
            return false;
        any = any || (p->launch_ns != TL_TIME_UNKNOWN && p->peer >= 0);
    }
    return any;
}

/* Finds the first launched one and the first whole step; false where there is none. */
static bool find_pattern(row *r)
{
    while (r->first < r->n && at(r, r->first)->launch_ns == TL_TIME_UNKNOWN)
        r->first++;
    r->pattern = r->first;
    while (r->pattern < r->n && at(r, r->pattern)->step < 0)
        r->pattern++;
    while (r->pattern + r->npattern < r->n && at(r, r->pattern + r->npattern)->step >= 0 &&
           at(r, r->pattern + r->npattern)->step == at(r, r->pattern)->step)
        r->npattern++;
    return r->npattern > 0;
}

/* Gives participants without a launch the kind, peer and place that the stream's pattern of a whole step has there. */
static void extend_pattern(const row *r)
{
    for (size_t i = r->first; i-- > 0;) {
        size_t back = r->pattern - i, steps = (back + r->npattern - 1) / r->npattern;
        const tl_participant *like = at(r, i + steps * r->npattern);
        tl_participant *p = at(r, i);
        if (like->peer < 0 || steps > INT16_MAX || like->nth < 0)
            continue;
        p->kind = like->kind;
        p->peer = like->peer;
        p->nth = like->nth;
        p->subseq = like->subseq - (int32_t)steps;
        p->group = like->group;
    }
}

static void look_before(pairing *k)
{
    uint32_t *of = tl_sorted_index(k->n, by_stream, k->participants);

    for (size_t from = 0, to; from < k->n; from = to) {
        const tl_participant *first = &k->participants[of[from]];
        for (to = from; to < k->n && k->participants[of[to]].device == first->device &&
                        k->participants[of[to]].stream == first->stream;
             to++)
            ;
        row r = { .participants = k->participants, .of = of + from, .n = to - from };
        if (!is_of_pairs(&r))
            continue;
        for (size_t i = 0; i < r.n; i++)
            if (at(&r, i)->peer == TL_NO_PEER)
                at(&r, i)->peer = TL_PEER_UNKNOWN;
        if (find_pattern(&r))
            extend_pattern(&r);
    }
    free(of);
}

void tl_pairs_count(const tl_rank_view *view, tl_participant *participants, const uint32_t *by_launch, size_t n)
{
    pairing k = { .view = view, .participants = participants, .n = n };

    for (size_t i = 0; view->nsteps == 0 && i < n; i++) /* counts of two ranks may begin at different messages */
        participants[i].subseq = participants[i].peer >= 0 ? TL_UNCOUNTED : participants[i].subseq;
    if (view->nsteps > 0) {
        count_ways(&k);
        count_launched(&k, by_launch);
    }
    look_before(&k);
    tl_map_free(&k.all);
    tl_map_free(&k.most);
    tl_map_free(&k.now);
}
