/* served_ranks.h - graphs of ranks that a test has made, held as where they were read; the test keeps its own. */
#ifndef TLMPI_TESTS_SERVED_RANKS_H
#define TLMPI_TESTS_SERVED_RANKS_H

#include "tlmpi/analysis/verdict/whatif/rank_server.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

/* The server, and an asker of its ranks.  Zero-initialise; served_ranks_free ends it. */
typedef struct served_ranks {
    tl_rank_server server;
    tl_asker asker;
} served_ranks;

/* Zeros, with room for one more. */
static inline void *room_for(size_t n, size_t size)
{
    void *room = calloc(n + 1, size);
    if (room == NULL)
        abort();
    return room;
}

static inline void *copy_of_array(const void *v, size_t n, size_t size)
{
    void *copy = v != NULL ? room_for(n, size) : NULL;
    if (copy != NULL && n > 0)
        memcpy(copy, v, n * size);
    return copy;
}

/* The texts stay those of the original. */
static inline tl_node_labels *copy_of_labels(const tl_node_labels *labels, size_t nnodes)
{
    tl_node_labels *copy = copy_of_array(labels, 1, sizeof *labels);
    if (copy == NULL)
        return NULL;
    copy->arena = (tl_arena){ 0 };
    copy->of = tl_arena_take(&copy->arena, nnodes, sizeof *copy->of);
    memcpy(copy->of, labels->of, nnodes * sizeof *copy->of);
    copy->list.v = copy_of_array(labels->list.v, labels->list.n, sizeof *labels->list.v);
    copy->list.cap = copy->list.n;
    return copy;
}

static inline tl_rank_graph graph_copy(const tl_rank_graph *g)
{
    tl_rank_graph copy = *g;
    copy.nodes = copy_of_array(g->nodes, g->nnodes + 1, sizeof *g->nodes);
    copy.edges = copy_of_array(g->edges, g->nedges, sizeof *g->edges);
    copy.votes = copy_of_array(g->votes, g->nvotes, sizeof *g->votes);
    copy.keys = copy_of_array(g->keys, g->nkeys, sizeof *g->keys);
    copy.bytes = copy_of_array(g->bytes, g->nbytes, 1);
    copy.comms = copy_of_array(g->comms, g->ncomms, sizeof *g->comms);
    copy.pauses = copy_of_array(g->pauses, g->npauses + 1, sizeof *g->pauses);
    copy.releases = copy_of_array(g->releases, g->nreleases, sizeof *g->releases);
    copy.false_votes = copy_of_array(g->false_votes, g->nfalse, sizeof *g->false_votes);
    copy.steps = copy_of_array(g->steps, g->nsteps, sizeof *g->steps);
    copy.labels = copy_of_labels(g->labels, g->nnodes);
    return copy;
}

/* Serves copies of graphs, none of them final, in place of those that are served; ranks are those that will be asked,
 * and have to stay. */
static inline void serve_ranks(const tl_rank_graphs *graphs, const int32_t *ranks, served_ranks *h)
{
    tl_rank_graphs copies = { .of = { .v = room_for(graphs->of.n, sizeof *copies.of.v), .n = graphs->of.n } };
    for (size_t i = 0; i < graphs->of.n; i++)
        copies.of.v[i] = graph_copy(&graphs->of.v[i]);
    tl_rank_server_free(&h->server);
    tl_rank_server_take(&copies, &h->server);
    h->asker = tl_rank_server_asker(&h->server);
    h->asker.ranks = ranks;
}

/* The one that has index `rank` among those that are asked. */
static inline tl_served_rank *served_rank(const tl_asker *asker, size_t rank)
{
    const tl_rank_server *server = asker->of;
    size_t at = tl_rank_server_index(server, asker->ranks[rank]);
    CU_ASSERT_FATAL(at < server->n);
    return &server->ranks[at];
}

static inline void served_ranks_free(served_ranks *h)
{
    tl_rank_server_free(&h->server);
}

#endif
