/* peer.c - which ranks send to each other, from numbers in annotations.
 *
 * Arguments name ranks of the job.  Annotations name what the communication library was given, which is places in the
 * group:
 *
 *     group [0, 2, 4, 6]     "nccl:send 1->2"     on rank 2: to rank 4
 *
 * but writers of traces may mean ranks as well ("nccl:send 2->4").  What the annotation calls this rank itself tells
 * which; where that fits both, the others of the group do, and where all fit both, whichever is the nearer neighbour.
 *
 * In a group of two the peer is the other rank; no number is needed.
 */
#include "internal.h"

typedef enum numbering { BY_EITHER, BY_GROUP_RANK, BY_RANK, BY_NEITHER } numbering;

/* The number of a rank in a group; -1 where it is not in it. */
static int32_t group_rank_of(const tl_group *g, int32_t rank)
{
    for (size_t i = 0; i < g->nmembers; i++)
        if (g->members[i] == rank)
            return (int32_t)i;
    return -1;
}

static int32_t rank_at(const tl_group *g, int32_t group_rank)
{
    return group_rank >= 0 && (size_t)group_rank < g->nmembers ? g->members[group_rank] : -1;
}

/* What the numbers of one piece of communication can be. */
static numbering numbering_of(const tl_group *g, int32_t rank, const tl_comm_ends *e)
{
    bool group_rank = e->own == group_rank_of(g, rank), is_rank = e->own == rank;
    const int32_t others[] = { e->from, e->to };

    for (int i = 0; i < 2; i++) {
        group_rank = group_rank && (others[i] < 0 || (size_t)others[i] < g->nmembers);
        is_rank = is_rank && (others[i] < 0 || group_rank_of(g, others[i]) >= 0);
    }
    return group_rank && is_rank ? BY_EITHER : group_rank ? BY_GROUP_RANK : is_rank ? BY_RANK : BY_NEITHER;
}

static bool is_numbered(const tl_comm_ends *e)
{
    return e->own >= 0 && !e->several && (e->from >= 0 || e->to >= 0);
}

/* The group, where all its members are known; else NULL. */
static const tl_group *known_group(const tl_group_book *book, uint32_t group)
{
    const tl_group *g = group < book->groups.n ? &book->groups.v[group] : NULL;
    return g != NULL && g->complete && g->nmembers > 0 ? g : NULL;
}

/* Where both numberings fit: returns the one in which the two ends are nearer to each other in the group. */
static numbering nearer_numbering(const tl_group *g, int32_t rank, const tl_comm_ends *e)
{
    int32_t own = group_rank_of(g, rank), other = e->to >= 0 ? e->to : e->from;
    return abs(other - own) < abs(group_rank_of(g, other) - own) ? BY_GROUP_RANK : BY_RANK;
}

/* Returns, for each group, the numbering that this rank's annotations use: that of the first annotation which fits one
 * numbering alone.  *ranks: without a group only ranks can be told, and these only where no annotation calls this rank
 * anything else. */
static numbering *judge_groups(const tl_group_book *book, int32_t rank, const tl_coll *colls, const tl_comm_ends *ends,
                               size_t n, bool *ranks)
{
    numbering *of = tl_calloc(book->groups.n + 1, sizeof *of);

    *ranks = true;
    for (size_t i = 0; i < n; i++) {
        const tl_group *g = known_group(book, colls[i].group);
        if (!is_numbered(&ends[i]))
            continue;
        if (colls[i].group == TL_NONE && ends[i].own != rank)
            *ranks = false;
        if (g == NULL || of[colls[i].group] != BY_EITHER)
            continue;
        numbering how = numbering_of(g, rank, &ends[i]);
        of[colls[i].group] = how != BY_NEITHER ? how : BY_EITHER;
    }
    return of;
}

/* Finds src and dst of one piece of communication, from its ends; `how`: the numbering of its group. */
static void find_one(tl_group_book *book, int32_t rank, numbering how, bool ranks, tl_comm_ends e, tl_coll *c)
{
    const tl_group *g = known_group(book, c->group);
    int32_t src = -1, dst = -1; /* where no argument says */

    if (is_numbered(&e) && (g != NULL || (c->group == TL_NONE && ranks))) {
        numbering own = g != NULL ? numbering_of(g, rank, &e) : BY_RANK;
        how = own != BY_EITHER ? own : how != BY_EITHER ? how : nearer_numbering(g, rank, &e);
        src = how == BY_GROUP_RANK ? rank_at(g, e.from) : how == BY_RANK ? e.from : -1;
        dst = how == BY_GROUP_RANK ? rank_at(g, e.to) : how == BY_RANK ? e.to : -1;
    }
    e.src = e.src >= 0 ? e.src : src;
    e.dst = e.dst >= 0 ? e.dst : dst;
    if (g != NULL && g->nmembers == 2 && !e.several && group_rank_of(g, rank) >= 0) { /* the other one of two */
        int32_t other = g->members[g->members[0] == rank];
        e.src = e.src >= 0 ? e.src : other;
        e.dst = e.dst >= 0 ? e.dst : other;
    }
    bool sends = c->kind != TL_RECV, receives = c->kind != TL_SEND;
    if (e.several || (sends && receives && e.src != e.dst))
        return;
    c->src = receives ? e.src : -1;
    c->dst = sends ? e.dst : -1;
    int32_t other = sends ? c->dst : c->src;
    if (c->group == TL_NONE && other >= 0 && other != rank)
        c->group = tl_group_of_two(book, rank, other);
}

void tl_peers_find(tl_group_book *book, int32_t rank, tl_coll *colls, const tl_comm_ends *ends, size_t n)
{
    bool ranks;
    numbering *of_group = judge_groups(book, rank, colls, ends, n, &ranks);
    size_t ngroups = book->groups.n;

    for (size_t i = 0; i < n; i++)
        if (colls[i].p2p)
            find_one(book, rank, colls[i].group < ngroups ? of_group[colls[i].group] : BY_EITHER, ranks, ends[i],
                     &colls[i]);
    free(of_group);
}
