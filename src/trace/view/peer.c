/* peer.c - finds the peers of sends and receives, from numbers in annotations.
 *
 * Arguments name ranks of the job.  Annotations have the numbers that the communication library was given, which are
 * indices in the group:
 *
 *     group [0, 2, 4, 6]     "nccl:send 1->2"     on rank 2: to rank 4
 *
 * If the numbers of this rank and of the other cannot be indices, they are ranks ("nccl:send 2->4").
 *
 * In a group of two the peer is the other rank; no number is needed.
 */
#include "internal.h"

typedef enum numbering { BY_GROUP_RANK, BY_RANK, BY_NEITHER } numbering;

/* Returns the index of a rank in a group; -1: the rank is not in it. */
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

/* Returns whether the ends of a transfer are numbered by rank, by rank within the group, or by neither. */
static numbering end_numbering_of(const tl_group *g, int32_t rank, const tl_comm_ends *e)
{
    bool group_rank = e->own == group_rank_of(g, rank), is_rank = e->own == rank;
    const int32_t others[] = { e->from, e->to };

    for (int i = 0; i < 2; i++) {
        group_rank = group_rank && (others[i] < 0 || (size_t)others[i] < g->nmembers);
        is_rank = is_rank && (others[i] < 0 || group_rank_of(g, others[i]) >= 0);
    }
    return group_rank ? BY_GROUP_RANK : is_rank ? BY_RANK : BY_NEITHER;
}

static bool is_numbered(const tl_comm_ends *e)
{
    return e->own >= 0 && !e->several && (e->from >= 0 || e->to >= 0);
}

/* Returns the group if all its members are known, else NULL. */
static const tl_group *known_group(const tl_group_book *book, uint32_t group)
{
    const tl_group *g = group < book->groups.n ? &book->groups.v[group] : NULL;
    return g != NULL && g->complete && g->nmembers > 0 ? g : NULL;
}

/* Fills src and dst of one transfer, from its ends.  ranks: numbers outside of groups are ranks. */
static void fill_peer(tl_group_book *book, int32_t rank, bool ranks, tl_comm_ends e, tl_coll *c)
{
    const tl_group *g = known_group(book, c->group);
    int32_t src = -1, dst = -1; /* used if no argument names them */

    if (is_numbered(&e) && (g != NULL || (c->group == TL_NONE && ranks))) {
        numbering how = g != NULL ? end_numbering_of(g, rank, &e) : BY_RANK;
        src = how == BY_GROUP_RANK ? rank_at(g, e.from) : how == BY_RANK ? e.from : -1;
        dst = how == BY_GROUP_RANK ? rank_at(g, e.to) : how == BY_RANK ? e.to : -1;
    }
    e.src = e.src >= 0 ? e.src : src;
    e.dst = e.dst >= 0 ? e.dst : dst;
    if (g != NULL && g->nmembers == 2 && !e.several && group_rank_of(g, rank) >= 0) { /* in a group of two, the other
                                                                                       * member */
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
    bool ranks = true; /* every annotation outside of groups that names this rank has its rank number */

    for (size_t i = 0; i < n; i++)
        ranks = ranks && !(is_numbered(&ends[i]) && colls[i].group == TL_NONE && ends[i].own != rank);
    for (size_t i = 0; i < n; i++)
        if (colls[i].p2p)
            fill_peer(book, rank, ranks, ends[i], &colls[i]);
}
