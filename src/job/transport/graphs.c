/* graphs.c - the graphs of ranks (analysis/graph.h), from the procs that have read them to proc 0.  A graph is six arrays and a
 * head, and travels so. */
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/job/transport/messages.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

enum { NODES, EDGES, COMMS, PAUSES, RELEASES, VOTES, NARRAYS };

static const size_t element_size[NARRAYS] = { sizeof(tl_node),  sizeof(tl_edge),          sizeof(tl_node_comm),
                                              sizeof(tl_pause), sizeof(tl_pause_release), sizeof(uint64_t) };

typedef struct head {
    int64_t rank;
    size_t n[NARRAYS];
} head;

/* Nodes and pauses have one more, which ends what belongs to the last. */
static head head_of(const tl_rank_graph *g)
{
    size_t last = g->nodes != NULL;
    return (head){ g->rank,
                   { g->nnodes + last, g->nedges, g->ncomms, g->npauses + last, g->nreleases, g->nfalse } };
}

static bool enclose(const tl_rank_graph *g, tl_message *out)
{
    const head h = head_of(g);
    const void *const arrays[NARRAYS] = { g->nodes, g->edges, g->comms, g->pauses, g->releases, g->false_votes };
    bool ok = tl_message_put(out, &h, sizeof h);
    for (int which = 0; ok && which < NARRAYS; which++)
        ok = arrays[which] == NULL || tl_message_put(out, arrays[which], h.n[which] * element_size[which]);
    return ok;
}

static bool unpack(tl_message *in, tl_rank_graph *out)
{
    head h;
    void *array[NARRAYS] = { NULL };
    bool ok = tl_message_get(in, &h, sizeof h);

    for (int which = 0; ok && which < NARRAYS; which++) {
        array[which] = tl_calloc(h.n[which] + 1, element_size[which]);
        ok = array[which] != NULL && tl_message_get(in, array[which], h.n[which] * element_size[which]);
    }
    *out = (tl_rank_graph){ .rank = ok ? (int32_t)h.rank : -1,
                            .nodes = array[NODES],
                            .edges = array[EDGES],
                            .comms = array[COMMS],
                            .pauses = array[PAUSES],
                            .releases = array[RELEASES],
                            .false_votes = array[VOTES] };
    if (ok && h.n[NODES] > 0) {
        out->nnodes = h.n[NODES] - 1;
        out->nedges = h.n[EDGES];
        out->ncomms = h.n[COMMS];
        out->npauses = h.n[PAUSES] - 1;
        out->nreleases = h.n[RELEASES];
        out->nfalse = h.n[VOTES];
    }
    return ok;
}

static bool unpack_all(tl_message *in, tl_rank_graphs *all)
{
    bool ok = true;
    while (ok && in->at < in->n) {
        ok = tl_vec_room(&all->of);
        if (ok)
            ok = unpack(in, &all->of.v[all->of.n++]);
    }
    return ok;
}

static int by_rank(const void *a, const void *b)
{
    const tl_rank_graph *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

tl_status tl_graphs_collect(tl_rank_graphs *own, tl_rank_graphs *all, tl_error *err)
{
    tl_message mine = { 0 }, messages = { 0 };
    void *bytes = NULL;
    bool alone = tl_par_nprocs() == 1, ok = true;

    if (alone) {
        *all = *own;
        *own = (tl_rank_graphs){ 0 };
    }
    for (size_t i = 0; ok && i < own->of.n; i++)
        ok = enclose(&own->of.v[i], &mine);
    tl_rank_graphs_free(own);
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the graphs of ranks"), err);
    if (st == TL_OK && !alone)
        st = tl_par_gather(mine.v, mine.n, &bytes, &messages.n, NULL, err);
    free(mine.v);
    messages.v = bytes;
    if (st == TL_OK && !unpack_all(&messages, all))
        st = tl_fail_memory(err, "the graphs of all ranks");
    free(bytes);
    if (all->of.n > 1)
        qsort(all->of.v, all->of.n, sizeof *all->of.v, by_rank);
    return tl_par_agree(st, err);
}
