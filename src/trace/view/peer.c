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
#include "peer.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

typedef enum numbering { BY_EITHER, BY_GROUP_RANK, BY_RANK, BY_NEITHER } numbering;

/* The number of a rank in a group; -1 where it is not in it. */
static int32_t group_rank_of(const tl_group *g, int32_t rank)
{
    for (size_t i = 0; i < g->nmembers; i++)
        if (g->members[i] == rank)
            return (int32_t)i;
    return -1;
}

static bool is_group_rank(const tl_group *g, int32_t number)
{
    return number < 0 || (size_t)number < g->nmembers;
}

static bool has_rank(const tl_group *g, int32_t number)
{
    return number < 0 || group_rank_of(g, number) >= 0;
}

/* What the numbers of one piece of communication can be. */
static numbering numbering_of(const tl_group *g, int32_t rank, const tl_comm_ends *e)
{
    bool group_rank = e->own == group_rank_of(g, rank) && is_group_rank(g, e->from) && is_group_rank(g, e->to);
    bool ranks = e->own == rank && has_rank(g, e->from) && has_rank(g, e->to);
    return group_rank && ranks ? BY_EITHER : group_rank ? BY_GROUP_RANK : ranks ? BY_RANK : BY_NEITHER;
}

static bool is_numbered(const tl_comm_ends *e)
{
    return e->own >= 0 && !e->several && (e->from >= 0 || e->to >= 0);
}

static bool is_known(const tl_group_book *book, uint32_t group)
{
    return group < book->groups.n && book->groups.v[group].complete && book->groups.v[group].nmembers > 0;
}

/* Where both numberings fit: returns the one in which the two ends are nearer to each other in the group. */
static numbering nearer(const tl_group *g, int32_t rank, const tl_comm_ends *e)
{
    int32_t own = group_rank_of(g, rank), other = e->to >= 0 ? e->to : e->from;
    int32_t by_group_rank = abs(other - own), by_rank = abs(group_rank_of(g, other) - own);
    return by_group_rank < by_rank ? BY_GROUP_RANK : BY_RANK;
}

/* Returns, for each group, the numbering that this rank's annotations use: that of the first annotation which fits one
 * numbering alone. */
static numbering *judge_groups(const tl_group_book *book, int32_t rank, const tl_coll *colls, const tl_comm_ends *ends,
                               size_t n)
{
    numbering *of = tl_calloc(book->groups.n + 1, sizeof *of);
    for (size_t i = 0; i < n; i++)
        if (is_numbered(&ends[i]) && is_known(book, colls[i].group) && of[colls[i].group] == BY_EITHER) {
            numbering how = numbering_of(&book->groups.v[colls[i].group], rank, &ends[i]);
            of[colls[i].group] = how != BY_NEITHER ? how : BY_EITHER;
        }
    return of;
}

static int32_t rank_at(const tl_group *g, int32_t group_rank)
{
    return group_rank >= 0 && (size_t)group_rank < g->nmembers ? g->members[group_rank] : -1;
}

static void number_in_group(const tl_group *g, int32_t rank, numbering how, tl_comm_ends *e)
{
    numbering own = numbering_of(g, rank, e);
    if (own == BY_NEITHER)
        return;
    how = own != BY_EITHER ? own : how != BY_EITHER ? how : nearer(g, rank, e);
    e->src = e->src >= 0 ? e->src : how == BY_GROUP_RANK ? rank_at(g, e->from) : e->from;
    e->dst = e->dst >= 0 ? e->dst : how == BY_GROUP_RANK ? rank_at(g, e->to) : e->to;
}

/* Without a group only ranks can be told, and these only where no annotation calls this rank anything else. */
static bool are_ranks(int32_t rank, const tl_coll *colls, const tl_comm_ends *ends, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (colls[i].group == TL_NONE && is_numbered(&ends[i]) && ends[i].own != rank)
            return false;
    return true;
}

/* The other one of two; -1 where the group is not of two, or not of this rank. */
static int32_t other_of_two(const tl_group *g, int32_t rank)
{
    if (g->nmembers != 2 || group_rank_of(g, rank) < 0)
        return -1;
    return g->members[g->members[0] == rank];
}

static uint32_t group_of_two(tl_group_book *book, int32_t a, int32_t b, bool *no_memory)
{
    const int32_t members[2] = { a < b ? a : b, a < b ? b : a };
    return tl_group_of_ranks(book, members, 2, no_memory);
}

static void find_one(tl_group_book *book, int32_t rank, numbering how, bool ranks, tl_comm_ends e, tl_coll *c,
                     bool *no_memory)
{
    if (is_numbered(&e) && is_known(book, c->group)) {
        number_in_group(&book->groups.v[c->group], rank, how, &e);
    } else if (is_numbered(&e) && c->group == TL_NONE && ranks) {
        e.src = e.src >= 0 ? e.src : e.from;
        e.dst = e.dst >= 0 ? e.dst : e.to;
    }
    if (is_known(book, c->group) && !e.several) {
        int32_t other = other_of_two(&book->groups.v[c->group], rank);
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
        c->group = group_of_two(book, rank, other, no_memory);
}

void tl_peers_find(tl_group_book *book, int32_t rank, tl_coll *colls, const tl_comm_ends *ends, size_t n,
                   bool *no_memory)
{
    numbering *of_group = judge_groups(book, rank, colls, ends, n);
    bool ranks = are_ranks(rank, colls, ends, n);
    size_t ngroups = book->groups.n;

    for (size_t i = 0; i < n; i++) {
        if (!colls[i].p2p)
            continue;
        numbering how = colls[i].group < ngroups ? of_group[colls[i].group] : BY_EITHER;
        find_one(book, rank, how, ranks, ends[i], &colls[i], no_memory);
    }
    free(of_group);
}
