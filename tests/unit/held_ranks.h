/* held_ranks.h - graphs of ranks that a test has made, held as where they were read; the test keeps its own. */
#ifndef TLMPI_TESTS_HELD_RANKS_H
#define TLMPI_TESTS_HELD_RANKS_H

#include "tlmpi/analysis/held.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

/* Those that are held, and who asks them.  Zero-initialise; held_ranks_free ends it. */
typedef struct held_ranks {
    tl_held held;
    tl_asker asker;
} held_ranks;

/* Zeros, with room for one more. */
static inline void *held_room(size_t n, size_t size)
{
    void *room = calloc(n + 1, size);
    if (room == NULL)
        abort();
    return room;
}

static inline void *held_copy(const void *v, size_t n, size_t size)
{
    void *copy = v != NULL ? held_room(n, size) : NULL;
    if (copy != NULL && n > 0)
        memcpy(copy, v, n * size);
    return copy;
}

static inline tl_rank_graph graph_copy(const tl_rank_graph *g)
{
    tl_rank_graph copy = *g;
    copy.nodes = held_copy(g->nodes, g->nnodes + 1, sizeof *g->nodes);
    copy.edges = held_copy(g->edges, g->nedges, sizeof *g->edges);
    copy.keys = held_copy(g->keys, g->nkeys, sizeof *g->keys);
    copy.bytes = held_copy(g->bytes, g->nbytes, 1);
    copy.comms = held_copy(g->comms, g->ncomms, sizeof *g->comms);
    copy.pauses = held_copy(g->pauses, g->npauses + 1, sizeof *g->pauses);
    copy.releases = held_copy(g->releases, g->nreleases, sizeof *g->releases);
    copy.false_votes = held_copy(g->false_votes, g->nfalse, sizeof *g->false_votes);
    return copy;
}

/* Copies of graphs, which have not settled, in place of those that are held; ranks are those that will be asked, and
 * have to stay. */
static inline void hold_ranks(const tl_rank_graphs *graphs, const int32_t *ranks, held_ranks *h)
{
    tl_rank_graphs copies = { .of = { .v = held_room(graphs->of.n, sizeof *copies.of.v), .n = graphs->of.n } };
    for (size_t i = 0; i < graphs->of.n; i++)
        copies.of.v[i] = graph_copy(&graphs->of.v[i]);
    tl_held_free(&h->held);
    tl_held_take(&copies, &h->held);
    h->asker = tl_held_asker(&h->held);
    h->asker.ranks = ranks;
}

/* The one that has index `rank` among those that are asked. */
static inline tl_held_rank *held_rank(const tl_asker *asker, size_t rank)
{
    const tl_held *held = asker->of;
    size_t at = tl_held_index(held, asker->ranks[rank]);
    CU_ASSERT_FATAL(at < held->n);
    return &held->ranks[at];
}

static inline void held_ranks_free(held_ranks *h)
{
    tl_held_free(&h->held);
}

#endif
