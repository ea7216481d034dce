/* graphs.c - what proc 0 has to know of the graphs of ranks (analysis/graph.h) before it can ask for more: their
 * communication, pauses and votes.  Nodes and edges stay. */
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/job/transport/messages.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

enum { COMMS, PAUSES, RELEASES, VOTES, NARRAYS };

static const size_t element_size[NARRAYS] = { sizeof(tl_node_comm), sizeof(tl_pause), sizeof(tl_pause_release),
                                              sizeof(uint64_t) };

typedef struct head {
    int64_t rank;
    size_t nnodes, nedges;
    size_t n[NARRAYS];
} head;

/* Pauses have one more, which ends what belongs to the last. */
static head head_of(const tl_rank_graph *g)
{
    size_t last = g->pauses != NULL;
    return (head){ g->rank, g->nnodes, g->nedges, { g->ncomms, g->npauses + last, g->nreleases, g->nfalse } };
}

static void enclose(const tl_rank_graph *g, tl_bytes *out)
{
    const head h = head_of(g);
    const void *const arrays[NARRAYS] = { g->comms, g->pauses, g->releases, g->false_votes };
    tl_bytes_put(out, &h, sizeof h);
    for (int which = 0; which < NARRAYS; which++)
        if (arrays[which] != NULL)
            tl_bytes_put(out, arrays[which], h.n[which] * element_size[which]);
}

static tl_rank_graph unpack(tl_bytes *in)
{
    head h;
    void *array[NARRAYS];

    tl_bytes_get(in, &h, sizeof h);
    for (int which = 0; which < NARRAYS; which++) {
        array[which] = tl_calloc(h.n[which] + 1, element_size[which]);
        tl_bytes_get(in, array[which], h.n[which] * element_size[which]);
    }
    tl_rank_graph out = { .rank = (int32_t)h.rank,
                          .comms = array[COMMS],
                          .pauses = array[PAUSES],
                          .releases = array[RELEASES],
                          .false_votes = array[VOTES] };
    if (h.n[PAUSES] > 0) {
        out.nnodes = h.nnodes;
        out.nedges = h.nedges;
        out.ncomms = h.n[COMMS];
        out.npauses = h.n[PAUSES] - 1;
        out.nreleases = h.n[RELEASES];
        out.nfalse = h.n[VOTES];
    }
    return out;
}

static int by_rank(const void *a, const void *b)
{
    const tl_rank_graph *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

void tl_graph_heads_collect(const tl_rank_graphs *own, tl_rank_graphs *all)
{
    tl_bytes mine = { 0 }, messages = { 0 };
    void *bytes = NULL;

    for (size_t i = 0; i < own->of.n; i++)
        enclose(&own->of.v[i], &mine);
    tl_par_gather(mine.v, mine.n, &bytes, &messages.n, NULL);
    free(mine.v);
    messages.v = bytes;
    while (messages.at < messages.n) {
        (void)tl_vec_room(&all->of);
        all->of.v[all->of.n++] = unpack(&messages);
    }
    free(bytes);
    if (all->of.n > 1)
        qsort(all->of.v, all->of.n, sizeof *all->of.v, by_rank);
}
