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
    tl_membership m = { .rank = k->view->rank,
                        .members_key = g->members_key,
                        .name_key = tl_hash_bytes(name.p, name.n),
                        .size = g->size };
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
        tl_vec_push(&k->set->memberships, (tl_membership){ .rank = k->view->rank,
                                                           .members_key = key,
                                                           .size = size > 0 ? size : -1,
                                                           .inferred = 1 });
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
    tl_pairs_count(k->view, participants, order, n);
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
