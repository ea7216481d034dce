/* participants.c - lists the collectives that a rank takes part in, and numbers them in each step.
 *
 *     host     ProfilerStep#4 ..[launch A]..[launch A]..[launch B]..  ProfilerStep#5 ..[launch A]..
 *     stream   [ A ]...........[ A ]...........[  A  ]....[ B ]...............................[ A ]
 *                ^ no launch     ^ step 4, 0th    ^ 1st     ^ 0th of its kind                    ^ step 5, 0th
 *
 * Only kernels whose launch is in the trace are counted, step by step: ranks then number alike although their profilers
 * started at different moments.  Kernels launched before that may still run on one device and be over on another.
 *
 * A kernel without a group belongs to the one group that its stream serves; if there is none, to an inferred group of
 * all ranks, identified by the stream's ordinal among such streams and the kind of collective, and split later.
 */
#include "internal.h"
#include "tlmpi/model/table.h"
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------ pairs */

/* Counts the sends and receives of a rank by peer.
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

static void count_launched_pairs(pairing *k, const uint32_t *by_launch)
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

/* Sets nth and subseq of the sends and receives with a known peer among the n participants of this view; and kind and
 * peer of those launched before the recording, if the order on their streams tells.  by_launch: indices of the
 * participants, ascending by launch. */
static void pairs_count(const tl_rank_view *view, tl_participant *participants, const uint32_t *by_launch, size_t n)
{
    pairing k = { .view = view, .participants = participants, .n = n };

    for (size_t i = 0; view->nsteps == 0 && i < n; i++) /* counts of two ranks may start at different messages */
        participants[i].subseq = participants[i].peer >= 0 ? TL_UNCOUNTED : participants[i].subseq;
    if (view->nsteps > 0) {
        count_per_way(&k);
        count_launched_pairs(&k, by_launch);
    }
    number_unlaunched(&k);
    tl_map_free(&k.all);
    tl_map_free(&k.most);
    tl_map_free(&k.now);
}

/* ----------------------------------------------------------------------------------------------------- memberships */

typedef struct collecting {
    const tl_rank_view *view;
    tl_participants *set;
    size_t first_part;  /* index of this rank's first participant in the set */
    uint32_t *of_group; /* group of the view -> membership of this rank, TL_NONE */
    tl_map inferred;    /* members key -> membership of this rank */
    tl_map counters;    /* key of what is counted -> count up to now */
} collecting;

/* Returns the index of the membership in a named group; adds it at first sight. */
static uint32_t named_membership(collecting *k, uint32_t group)
{
    if (k->of_group[group] != TL_NONE)
        return k->of_group[group];
    const tl_group *g = &k->view->groups[group];
    tl_text name = tl_names_text(k->view->names, g->name), desc = tl_names_text(k->view->names, g->desc);
    tl_membership m = {
        .rank = k->view->rank, .members_key = g->members_key, .name_key = tl_hash_bytes(name.p, name.n), .size = g->size
    };
    tl_cell_text(m.name, sizeof m.name, name.p, name.n);
    tl_cell_text(m.desc, sizeof m.desc, desc.p, desc.n);
    tl_ranks_text(g->members, g->complete ? g->nmembers : 0, m.ranks, sizeof m.ranks);
    tl_vec_push(&k->set->memberships, m);
    return k->of_group[group] = (uint32_t)(k->set->memberships.n - 1);
}

/* Returns the members_key of an inferred group; size: ranks in the group, -1: unknown. */
static uint64_t inferred_key(int32_t position, tl_collective family, int32_t size)
{
    uint64_t key = tl_hash_mix(tl_hash_mix(UINT64_C(0x696e666572726564), (uint64_t)position), family);
    return size > 0 ? tl_hash_mix(key, (uint64_t)size) : key;
}

uint64_t tl_sends_members_key(void)
{
    return inferred_key(-1, TL_SEND_RECV, -1);
}

static uint32_t inferred_membership(collecting *k, int32_t position, tl_collective family, int32_t size)
{
    uint64_t key = inferred_key(position, family, size);
    uint32_t at = tl_map_number(&k->inferred, key, k->set->memberships.n);
    if (at == k->set->memberships.n)
        tl_vec_push(
            &k->set->memberships,
            (tl_membership){ .rank = k->view->rank, .members_key = key, .size = size > 0 ? size : -1, .inferred = 1 });
    return at;
}

/* What the kernels [from, to) of one stream have in common. */
typedef struct stream_use {
    uint32_t group; /* the one group of its kernels, of a stream of pairs the first; TL_NONE: none or several */
    bool of_pairs;  /* all kernels of known kind are sends and receives */
} stream_use;

/* Whether only the kernel's name tells its kind, SendRecv: all-to-alls have that name as well as sends and receives. */
static bool is_nameless(const tl_coll *c)
{
    return c->kind == TL_SEND_RECV && c->from == TL_COLL_FROM_NAME && !c->p2p;
}

static stream_use use_of_stream(const tl_rank_view *view, size_t from, size_t to)
{
    stream_use use = { .group = TL_NONE };
    bool several = false, others = false;
    for (size_t i = from; i < to; i++) {
        if (view->kernels[i].kind != TL_COMM)
            continue;
        const tl_coll *c = &view->colls[view->kernels[i].coll];
        use.of_pairs = use.of_pairs || c->p2p;
        others = others || (!c->p2p && view->kernels[i].launch_ns != TL_TIME_UNKNOWN && !is_nameless(c));
        several = several || (c->group != TL_NONE && use.group != TL_NONE && c->group != use.group);
        use.group = use.group == TL_NONE ? c->group : use.group;
    }
    use.of_pairs = use.of_pairs && !others;
    if (several && !use.of_pairs)
        use.group = TL_NONE;
    return use;
}

/* ---------------------------------------------------------------------------------------------------- participants */

static int32_t peer_of(const tl_coll *c, const stream_use *use)
{
    if (!c->p2p)
        return use->of_pairs && is_nameless(c) ? TL_PEER_UNKNOWN : TL_NO_PEER;
    int32_t peer = c->kind == TL_RECV ? c->src : c->dst;
    return peer >= 0 ? peer : TL_PEER_UNKNOWN;
}

/* Returns the bytes of elements of the collective's type; -1: unknown. */
static int64_t bytes_of(const tl_coll *c, int64_t nelems)
{
    return tl_message_bytes(TL_SEND, nelems, -1, c->dtype_bytes);
}

/* Adds a participant.  launched_ns: launch of the last kernel, up to this one, of its stream that has a launch;
 * TL_TIME_UNKNOWN: none has. */
static void add_participant(collecting *k, const tl_kernel *kernel, int64_t launched_ns, const stream_use *use,
                            uint32_t membership)
{
    const tl_coll *c = &k->view->colls[kernel->coll];
    tl_membership *m = &k->set->memberships.v[membership];

    tl_vec_push(&k->set->participants, (tl_participant){
                                           .start_ns = kernel->start_ns,
                                           .end_ns = kernel->end_ns,
                                           .launch_ns = launched_ns,
                                           .seq = c->seq,
                                           .bytes = c->bytes,
                                           .in_bytes = bytes_of(c, c->in_nelems),
                                           .out_bytes = bytes_of(c, c->out_nelems),
                                           .dtype = c->dtype,
                                           .rank = k->view->rank,
                                           .group = (int32_t)membership,
                                           .step = kernel->step,
                                           .nth = -1,
                                           .peer = peer_of(c, use),
                                           .uid = kernel->uid,
                                           .device = kernel->device,
                                           .stream = kernel->stream,
                                           .kind = c->kind,
                                           .size_from = c->size_from,
                                       });
    m->n++;
    m->collects |= c->kind != TL_COLL_UNKNOWN && !tl_is_point_to_point((tl_collective)c->kind);
}

/* Adds every communication kernel, stream by stream; `position` numbers the streams that have kernels without a group.
 * Streams of pairs have no number: ranks have as many as they have neighbours. */
static void add_participants(collecting *k)
{
    const tl_rank_view *view = k->view;
    int32_t position = 0;

    for (size_t from = 0, to; from < view->nkernels; from = to) {
        for (to = from; to < view->nkernels && view->kernels[to].device == view->kernels[from].device &&
                        view->kernels[to].stream == view->kernels[from].stream;
             to++)
            ;
        const stream_use use = use_of_stream(view, from, to);
        int64_t launched = TL_TIME_UNKNOWN;
        bool used = false;
        for (size_t i = from; i < to; i++) {
            const tl_kernel *kernel = &view->kernels[i];
            launched = kernel->launch != TL_NONE ? kernel->launch_ns : launched;
            if (kernel->kind != TL_COMM)
                continue;
            const tl_coll *c = &view->colls[kernel->coll];
            uint32_t group = c->group != TL_NONE ? c->group : use.group;
            used |= group == TL_NONE && !use.of_pairs;
            uint32_t m = group != TL_NONE ? named_membership(k, group)
                                          : inferred_membership(k, use.of_pairs ? -1 : position,
                                                                tl_is_of_sends((tl_collective)kernel->collective)
                                                                    ? TL_SEND_RECV
                                                                    : (tl_collective)kernel->collective,
                                                                use.of_pairs ? -1 : c->group_size);
            add_participant(k, kernel, launched, &use, m);
        }
        position += used;
    }
}

/* -------------------------------------------------------------------------------------------------------- counting */

TL_ORDER_BY(by_launch, tl_participant, launch_ns, start_ns, uid)
TL_ORDER_BY(by_start, tl_participant, start_ns, uid)

/* Sets nth of participants with a launch, in order of launch, and the membership's counts that decide its match
 * rule. */
static void count_launched(collecting *k, tl_participant *participants, const uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = &participants[order[i]];
        tl_membership *m = &k->set->memberships.v[p->group];
        if (p->launch_ns == TL_TIME_UNKNOWN || p->peer != TL_NO_PEER)
            continue;
        uint64_t key = tl_hash_mix(tl_hash_mix((uint64_t)p->group, (uint64_t)p->step), p->kind);
        p->nth = (int32_t)tl_map_count(&k->counters, key);
        m->nlaunched++;
        m->nseq += p->seq >= 0;
        if (p->step >= 0)
            continue;
        m->nloose++;
        m->loose_key = tl_hash_mix(m->loose_key, p->kind);
        if (tl_is_loose((tl_collective)p->kind))
            continue;
        m->nends++; /* keeps three ends: the first, the last, and the last one whose number is a power of two */
        m->ends_ns[0] = m->nends == 1 ? p->end_ns : m->ends_ns[0];
        m->ends_ns[1] = (m->nends & (m->nends - 1)) == 0 ? p->end_ns : m->ends_ns[1];
        m->ends_ns[2] = p->end_ns;
    }
}

static void number_participants(collecting *k)
{
    tl_participant *participants = k->set->participants.v + k->first_part;
    size_t n = k->set->participants.n - k->first_part;
    uint32_t *order = tl_sorted_index(n, by_launch, participants);

    count_launched(k, participants, order, n);
    pairs_count(k->view, participants, order, n);
    tl_map_free(&k->counters);
    k->counters = (tl_map){ 0 };
    tl_sort_index(order, n, by_start, participants);
    /* Numbers participants that share a seq, the kernels of one coalesced launch, by subseq in order of start; in each
     * window of the recording from another number, since a communicator may count anew. */
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = &participants[order[i]];
        if (p->seq < 0 || p->peer != TL_NO_PEER)
            continue;
        int32_t window = k->view->nwindows > 0 ? k->view->windows[tl_window_at(k->view, p->start_ns)].number : 0;
        uint64_t key = tl_hash_mix(tl_hash_mix((uint64_t)p->group, (uint64_t)p->seq), (uint64_t)window);
        uint32_t number = tl_map_count(&k->counters, key);
        p->subseq = (int32_t)(window > 0 ? (uint32_t)tl_hash_mix((uint64_t)window, number) : number);
    }
    free(order);
}

void tl_participants_collect(const tl_rank_view *view, tl_participants *set)
{
    collecting k = { .view = view, .set = set, .first_part = set->participants.n };

    if (view->ncolls == 0)
        return;
    k.of_group = tl_malloc_none(view->ngroups);
    add_participants(&k);
    number_participants(&k);
    free(k.of_group);
    tl_map_free(&k.inferred);
    tl_map_free(&k.counters);
}
