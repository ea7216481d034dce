/* replayed.h - what a job would have taken with its ranks as a test changes them: by pieces and the net of them, and
 * node by node.
 *
 *     tl_changes *ranks = ranks_open(b);
 *     ranks[2].less_ns[v] = 5;
 *     int64_t end = ranks_end(b, ranks);
 *     ranks_close(b, ranks);
 */
#ifndef TLMPI_TESTS_REPLAYED_H
#define TLMPI_TESTS_REPLAYED_H

#include "served_ranks.h"
#include "tlmpi/analysis/verdict/replay.h"
#include "unit.h"
#include <stdlib.h>

/* One without a graph has never been told how the job has its steps. */
static inline void rank_open(const tl_baseline *b, size_t rank, tl_changes *changes)
{
    tl_served_rank *of = served_rank(b->asker, rank);
    if (!tl_job_graph_has(b->graph, rank))
        of->class_map.nsteps = b->nsteps;
    tl_open_rank open = { 0 };
    tl_open_free(&changes->open);
    tl_rank_open(&of->final, &open);
    changes->open = open;
    tl_changes_open(&open, &of->class_map, changes);
}

static inline void rank_close(tl_changes *changes)
{
    tl_open_free(&changes->open);
    tl_changes_free(changes);
}

/* The class of a node's work; TL_NONE. */
static inline uint32_t class_at(const tl_baseline *b, size_t rank, const tl_changes *changes, uint32_t node)
{
    return changes->kind_of[node] != TL_NONE ? b->class_of_kind[rank][changes->kind_of[node]] : TL_NONE;
}

/* As its holder does that has been told of the repair. */
static inline void repair_apply(const tl_baseline *b, const tl_repair *repair, tl_changes *changes)
{
    tl_repair_plan plan = { 0 }, told = { 0 };
    tl_bytes bytes = { 0 };
    tl_repair_plan_make(b, repair, &plan);
    tl_repair_plan_put(&plan, &bytes);
    tl_repair_plan_get(&told, &bytes);
    tl_repair_plan_apply(&told, changes);
    tl_repair_plan_free(&plan);
    tl_repair_plan_free(&told);
    tl_bytes_free(&bytes);
}

/* Likewise of the ideal. */
static inline void ideal_apply(const tl_ideal *ideal, size_t rank, tl_changes *changes)
{
    tl_rank_ideal told = { 0 };
    tl_bytes bytes = { 0 };
    tl_ideal_put(ideal, rank, &bytes);
    tl_rank_ideal_get(&told, &bytes);
    tl_rank_ideal_apply(&told, changes);
    tl_rank_ideal_free(&told);
    tl_bytes_free(&bytes);
}

/* Every rank of the job, open and unchanged. */
static inline tl_changes *ranks_open(const tl_baseline *b)
{
    tl_changes *ranks = calloc(b->graph->nranks + 1, sizeof *ranks);
    if (ranks == NULL)
        abort();
    for (size_t r = 0; r < b->graph->nranks; r++)
        rank_open(b, r, &ranks[r]);
    return ranks;
}

static inline void ranks_close(const tl_baseline *b, tl_changes *ranks)
{
    for (size_t r = 0; r < b->graph->nranks; r++)
        rank_close(&ranks[r]);
    free(ranks);
}

/* Zeros for each node of each rank, each `size` large. */
static inline void **by_node(const tl_baseline *b, size_t size)
{
    void **of = calloc(b->graph->nranks + 1, sizeof *of);
    for (size_t r = 0; of != NULL && r < b->graph->nranks; r++)
        if ((of[r] = calloc(b->graph->ranks[r].nnodes + 1, size)) == NULL)
            abort();
    if (of == NULL)
        abort();
    return of;
}

static inline void by_node_free(const tl_baseline *b, void **of)
{
    for (size_t r = 0; of != NULL && r < b->graph->nranks; r++)
        free(of[r]);
    free(of);
}

/* -------------------------------------------------------------------------------------------------------- by pieces */

typedef struct assembled {
    const tl_baseline *b;
    tl_job_net job_net;
    void **number_of;   /* by rank, uint32_t by node: its number in the whole, TL_NONE: it is folded */
    int64_t *done_ns;   /* by node of the whole, of the last replay */
    int64_t *step_ends; /* [nsteps] of the last replay */
} assembled;

/* marks: by rank, tl_fold_mark (uint8_t) of its nodes; NULL: none. */
static inline assembled assemble(const tl_baseline *b, tl_changes *ranks, void **marks)
{
    const size_t n = b->graph->nranks;
    assembled a = { .b = b, .number_of = by_node(b, sizeof(uint32_t)), .step_ends = calloc(b->nsteps + 1, sizeof *a.step_ends) };
    tl_folded *pieces = calloc(n + 1, sizeof *pieces);
    if (a.step_ends == NULL || pieces == NULL)
        abort();
    for (size_t r = 0; r < n; r++)
        tl_folded_make(&ranks[r], marks != NULL ? marks[r] : NULL, &pieces[r], a.number_of[r]);
    tl_job_net_make(b, pieces, NULL, &a.job_net);
    for (size_t r = 0; r < n; r++) {
        uint32_t *number_of = a.number_of[r];
        for (uint32_t v = 0; v < ranks[r].open.n; v++)
            if (number_of[v] != TL_NONE)
                number_of[v] += a.job_net.base[r];
        tl_folded_free(&pieces[r]);
    }
    free(pieces);
    a.done_ns = calloc(a.job_net.net.n + 1, sizeof *a.done_ns);
    if (a.done_ns == NULL)
        abort();
    return a;
}

/* When the job ends. */
static inline int64_t assembled_end(assembled *a)
{
    int64_t end = tl_net_replay(&a->job_net.net, a->done_ns);
    tl_net_step_ends(&a->job_net.net, a->done_ns, a->step_ends);
    return end;
}

static inline void assembled_free(assembled *a)
{
    by_node_free(a->b, a->number_of);
    tl_job_net_free(&a->job_net);
    free(a->done_ns);
    free(a->step_ends);
}

/* When the job ends with these changes. */
static inline int64_t ranks_end(const tl_baseline *b, tl_changes *ranks)
{
    assembled a = assemble(b, ranks, NULL);
    int64_t end = assembled_end(&a);
    assembled_free(&a);
    return end;
}

/* Unchanged, each node is done when it was. */
static inline void expect_exact(const tl_baseline *b)
{
    tl_changes *ranks = ranks_open(b);
    void **marks = by_node(b, 1);
    size_t n = 1 + b->graph->nmeetings;
    for (size_t r = 0; r < b->graph->nranks; r++)
        for (uint32_t v = 0; v < ranks[r].open.n; v++, n++)
            ((uint8_t *)marks[r])[v] = TL_FOLD_KEEP;
    assembled a = assemble(b, ranks, marks);
    assembled_end(&a);
    CU_ASSERT_EQUAL(a.job_net.net.n, n);
    for (size_t r = 0; r < b->graph->nranks; r++)
        for (uint32_t v = 0; v < ranks[r].open.n; v++) {
            uint32_t number = ((uint32_t *)a.number_of[r])[v];
            CU_ASSERT_EQUAL(a.done_ns[number], ranks[r].open.nodes[v].done_ns);
            CU_ASSERT_EQUAL(a.job_net.done_ns[number], ranks[r].open.nodes[v].done_ns);
        }
    for (size_t m = 0; m < b->graph->nmeetings; m++) {
        CU_ASSERT_EQUAL(a.done_ns[a.job_net.meetings + m], b->graph->meetings[m].done_ns);
        CU_ASSERT_EQUAL(a.job_net.done_ns[a.job_net.meetings + m], b->graph->meetings[m].done_ns);
    }
    assembled_free(&a);
    by_node_free(b, marks);
    ranks_close(b, ranks);
}

/* ----------------------------------------------------------------------------------------------------- node by node */

#define NOT_YET (INT64_MIN / 2)

typedef struct plainly {
    const tl_baseline *b;
    const tl_changes *ranks;
    void **done_ns;  /* by rank, int64_t by node */
    int64_t *met_ns; /* by meeting */
} plainly;

static inline int64_t plainly_node(const plainly *p, size_t rank, uint32_t v)
{
    const tl_changes *c = &p->ranks[rank];
    const tl_open_rank *o = &c->open;
    const int64_t *done_ns = p->done_ns[rank];
    uint32_t e = o->nodes[v].first_edge, last = o->nodes[v + 1].first_edge;
    int64_t since = e == last ? 0 : NOT_YET;
    for (last -= c->gone[v]; e < last; e++) {
        uint32_t from = o->edges[e].from;
        int64_t ns = (from < o->n ? done_ns[from] : p->met_ns[o->of->ports[from - o->n].meeting]) + o->edges[e].lag_ns;
        since = ns > since ? ns : since;
    }
    return since + o->nodes[v].work_ns + o->rest_ns[v] - c->less_ns[v];
}

static inline int64_t plainly_meeting(const plainly *p, uint32_t m)
{
    const tl_job_graph *g = p->b->graph;
    int64_t since = NOT_YET;
    for (uint32_t e = g->meetings[m].first_edge; e < g->meetings[m + 1].first_edge; e++) {
        const tl_meeting_edge *edge = &g->edges[e];
        const int64_t *done_ns = edge->rank != TL_NONE ? p->done_ns[edge->rank] : p->met_ns;
        int64_t ns = done_ns[edge->rank != TL_NONE ? g->ranks[edge->rank].ports[edge->of].arrival : edge->of] + edge->lag_ns;
        since = ns > since ? ns : since;
    }
    return since + g->meetings[m].work_ns + tl_meeting_rest_ns(g, m);
}

/* Whether anything is done at another time than in the pass before. */
static inline bool plainly_pass(plainly *p)
{
    bool moved = false;
    for (size_t r = 0; r < p->b->graph->nranks; r++)
        for (uint32_t v = 0; v < p->ranks[r].open.n; v++) {
            int64_t *done_ns = p->done_ns[r], ns = plainly_node(p, r, v);
            moved = moved || ns != done_ns[v];
            done_ns[v] = ns;
        }
    for (uint32_t m = 0; m < p->b->graph->nmeetings; m++) {
        int64_t ns = plainly_meeting(p, m);
        moved = moved || ns != p->met_ns[m];
        p->met_ns[m] = ns;
    }
    return moved;
}

/* Again and again all nodes, in no order, until none moves: when the job ends, and step_ends[nsteps].  Not where there
 * are cycles. */
static inline int64_t replay_plainly(const tl_baseline *b, const tl_changes *ranks, int64_t *step_ends)
{
    plainly p = { b, ranks, by_node(b, sizeof(int64_t)), calloc(b->graph->nmeetings + 1, sizeof *p.met_ns) };
    int64_t end = INT64_MIN;
    size_t npasses = 0;
    if (p.met_ns == NULL)
        abort();
    for (size_t s = 0; s < b->nsteps; s++)
        step_ends[s] = INT64_MIN;
    for (size_t r = 0; r < b->graph->nranks; r++)
        for (uint32_t v = 0; v < ranks[r].open.n; v++)
            ((int64_t *)p.done_ns[r])[v] = NOT_YET;
    for (size_t m = 0; m < b->graph->nmeetings; m++)
        p.met_ns[m] = NOT_YET;
    while (npasses++ < 10000 && plainly_pass(&p))
        ;
    CU_ASSERT(npasses < 10000);
    for (size_t m = 0; m < b->graph->nmeetings; m++)
        end = p.met_ns[m] > end ? p.met_ns[m] : end;
    for (size_t r = 0; r < b->graph->nranks; r++)
        for (uint32_t v = 0; v < ranks[r].open.n; v++) {
            int64_t ns = ((int64_t *)p.done_ns[r])[v], *of_step = &step_ends[ranks[r].step_of[v]];
            end = ns > end ? ns : end;
            *of_step = ns > *of_step ? ns : *of_step;
        }
    for (size_t s = 1; s < b->nsteps; s++)
        step_ends[s] = step_ends[s] > step_ends[s - 1] ? step_ends[s] : step_ends[s - 1];
    by_node_free(b, p.done_ns);
    free(p.met_ns);
    return end;
}

#endif
