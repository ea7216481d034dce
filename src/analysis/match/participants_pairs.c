/* participants_pairs.c - counts the sends and receives of a rank by peer.
 *
 * Every rank numbers its sends to a peer and its receives from it, step by step: the k-th send is the peer's k-th
 * receive.
 *
 *     recording      |<- begins
 *     step                ... 4 ...|.... 5 .....|.... 6 .....
 *     launched             s  r  s  | s r s r s  | s r s r s
 *     stream       [s][r] [s][r][s]  ...
 *                    |        |- three have none of the marks of step 4
 *                    |- two have no launch
 *
 * In a step in which the recording begins the first ones are missing: they are counted from the step's end.  Kernels
 * launched before the recording have no names; on a stream with sends and receives alone every step repeats the same
 * ones, so a whole step gives the kind and peer of the kernels before the first launched one.  Without step marks
 * nothing is counted: tl_ways_align matches by ends.
 */
#include "internal.h"
#include <stdlib.h>

typedef struct pairing {
    const tl_rank_view *view;
    tl_participant *participants;
    size_t n;
    tl_map all;  /* way and step -> number of messages */
    tl_map most; /* way -> largest number of messages in a completely recorded step */
    tl_map now;  /* way and step -> number counted up to now */
} pairing;

static bool is_before_steps(const pairing *k, const tl_participant *p)
{
    return p->step < 0 && k->view->nsteps > 0 && p->launch_ns < k->view->steps[0].start_ns;
}

/* Returns the step of the launch.  A step in which the recording begins or ends has no mark: its number is the first
 * mark's less 1, or the last mark's plus 1. */
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

/* Returns a key of the messages in one direction between this rank and its peer, in one group. */
static uint64_t way_of(const tl_participant *p, bool out)
{
    return tl_hash_mix(tl_hash_mix((uint64_t)p->group, (uint64_t)p->peer), out);
}

static uint64_t way_in_step(const tl_participant *p, bool out)
{
    return tl_hash_mix(way_of(p, out), (uint64_t)p->subseq);
}

static bool has_way(const tl_participant *p, bool out)
{
    return out ? p->kind != TL_RECV : p->kind != TL_SEND;
}

static bool is_counted(const tl_participant *p)
{
    return p->peer >= 0 && p->launch_ns != TL_TIME_UNKNOWN;
}

static void count_per_way(pairing *k)
{
    for (size_t i = 0; i < k->n; i++) {
        tl_participant *p = &k->participants[i];
        if (!is_counted(p))
            continue;
        p->subseq = step_of(k, p);
        for (int out = 0; out < 2; out++) {
            if (!has_way(p, out))
                continue;
            uint32_t n = tl_map_count(&k->all, way_in_step(p, out)) + 1, most = tl_map_get(&k->most, way_of(p, out));
            if (p->step >= 0 && (most == TL_MAP_NONE || most < n))
                tl_map_put(&k->most, way_of(p, out), n);
        }
    }
}

/* Returns the number of the message among those of its way and step, from 0; -1: unknown.  In the step in which the
 * recording begins it is counted from the end. */
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
        int32_t out = has_way(p, true) ? nth_of(k, p, true) : -1, in = has_way(p, false) ? nth_of(k, p, false) : -1;
        p->nth = tl_is_sender((tl_collective)p->kind, p->rank, p->peer) ? out : in;
    }
}

/* -------------------------------------------------------------------------------------------- before the recording */

TL_ORDER_BY(by_stream, tl_participant, device, stream, start_ns, uid)

/* The participants of one stream, ascending by start. */
typedef struct row {
    tl_participant *participants;
    const uint32_t *of;
    size_t n;
    size_t first;             /* index of the first participant with a launch */
    size_t pattern, npattern; /* participants of the first completely recorded step */
} row;

static tl_participant *participant_at(const row *r, size_t i)
{
    return &r->participants[r->of[i]];
}

/* Whether the stream has sends and receives alone, at least one of them with a known peer. */
static bool is_of_pairs(const row *r)
{
    bool any = false;
    for (size_t i = 0; i < r->n; i++) {
        const tl_participant *p = participant_at(r, i);
        if (p->launch_ns != TL_TIME_UNKNOWN
                ? p->peer == TL_NO_PEER
                : !(p->peer != TL_NO_PEER || p->kind == TL_SEND_RECV || p->kind == TL_COLL_UNKNOWN))
            return false;
        any = any || (p->launch_ns != TL_TIME_UNKNOWN && p->peer >= 0);
    }
    return any;
}

/* Sets first and pattern; returns false if no step is completely recorded. */
static bool find_pattern(row *r)
{
    while (r->first < r->n && participant_at(r, r->first)->launch_ns == TL_TIME_UNKNOWN)
        r->first++;
    r->pattern = r->first;
    while (r->pattern < r->n && participant_at(r, r->pattern)->step < 0)
        r->pattern++;
    while (r->pattern + r->npattern < r->n && participant_at(r, r->pattern + r->npattern)->step >= 0 &&
           participant_at(r, r->pattern + r->npattern)->step == participant_at(r, r->pattern)->step)
        r->npattern++;
    return r->npattern > 0;
}

/* Copies kind, peer, nth and group from the repeated pattern to participants before the first launch. */
static void extend_pattern(const row *r)
{
    for (size_t i = r->first; i-- > 0;) {
        size_t back = r->pattern - i, steps = (back + r->npattern - 1) / r->npattern;
        const tl_participant *like = participant_at(r, i + steps * r->npattern);
        tl_participant *p = participant_at(r, i);
        if (like->peer < 0 || steps > INT16_MAX || like->nth < 0)
            continue;
        p->kind = like->kind;
        p->peer = like->peer;
        p->nth = like->nth;
        p->subseq = like->subseq - (int32_t)steps;
        p->group = like->group;
    }
}

static void number_unlaunched(pairing *k)
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
            if (participant_at(&r, i)->peer == TL_NO_PEER)
                participant_at(&r, i)->peer = TL_PEER_UNKNOWN;
        if (find_pattern(&r))
            extend_pattern(&r);
    }
    free(of);
}

void tl_pairs_count(const tl_rank_view *view, tl_participant *participants, const uint32_t *by_launch, size_t n)
{
    pairing k = { .view = view, .participants = participants, .n = n };

    for (size_t i = 0; view->nsteps == 0 && i < n; i++) /* counts of two ranks may start at different messages */
        participants[i].subseq = participants[i].peer >= 0 ? TL_UNCOUNTED : participants[i].subseq;
    if (view->nsteps > 0) {
        count_per_way(&k);
        count_launched(&k, by_launch);
    }
    number_unlaunched(&k);
    tl_map_free(&k.all);
    tl_map_free(&k.most);
    tl_map_free(&k.now);
}
