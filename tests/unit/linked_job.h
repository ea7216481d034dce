/* linked_job.h - a drawn job of nothing but collectives; a digit is what the transfer of one takes in a step, in 100
 * us.
 *
 *     linked_job *j = linked_new(4);
 *     linked_group(j, "01", "tensor", 4096, "1119");     the last of its all-reduces is slow
 *     linked_group(j, "23", "tensor", 4096, "1111");
 *     linked_ready(j);
 *
 * In each step the groups meet in the order of their drawings; a member arrives 10 us after it has left its last
 * collective.
 */
#ifndef TLMPI_TESTS_LINKED_JOB_H
#define TLMPI_TESTS_LINKED_JOB_H

#include "served_ranks.h"
#include "tlmpi/analysis/verdict/stragglers.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/tables.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINKED_RANKS = 8, LINKED_GROUPS = 8 };
#define LINKED_US INT64_C(1000)

typedef struct linked_group_drawn {
    const char *ranks, *transfers;
    const char *tails[LINKED_RANKS]; /* by member: how much later than the first it is done, in 100 us; NULL: at once */
    int64_t bytes;
    uint8_t kind;
    bool pair, talks; /* talks: the two of a pair know each other */
} linked_group_drawn;

typedef struct linked_job {
    linked_group_drawn groups[LINKED_GROUPS];
    const char *hosts; /* a letter a rank; NULL: unknown */
    const char *computes[LINKED_RANKS]; /* by rank: what it computes before the first meeting of a step, in 100 us;
                                         * NULL: nothing */
    size_t nranks, ngroups;
    int32_t ranks[LINKED_RANKS];
    int64_t now_ns[LINKED_RANKS], late_counts[LINKED_RANKS];
    TL_VEC(tl_late_row) rows;
    tl_rank_graphs graphs;
    served_ranks served;
    tl_tables tables;
    tl_job_graph graph;
    tl_baseline baseline;
    tl_findings judgement;
} linked_job;

static inline linked_job *linked_new(size_t nranks)
{
    static const tl_schema *const schemas[] = { &tl_group_row_schema,  &tl_rank_schema,      &tl_slow_link_row_schema,
                                                &tl_straggler_schema,  &tl_whatif_row_schema, &tl_blame_schema,
                                                &tl_blame_step_schema, &tl_path_row_schema,  &tl_path_sum_schema,
                                                &tl_rank_path_row_schema };
    linked_job *j = calloc(1, sizeof *j);
    if (j == NULL)
        abort();
    tl_tables_init(&j->tables, schemas, COUNT(schemas));
    j->nranks = nranks;
    return j;
}

/* Its drawing, to be changed before the job is ready. */
static inline linked_group_drawn *linked_group(linked_job *j, const char *ranks, const char *description, int64_t bytes,
                                               const char *transfers)
{
    tl_group_row row = { .group = (int32_t)j->ngroups, .size = (int32_t)strlen(ranks), .seen = (int32_t)strlen(ranks) };
    snprintf(row.description, sizeof row.description, "%s", description);
    tl_table_append(tl_tables_get(&j->tables, &tl_group_row_schema), &row, 1);
    linked_group_drawn *g = &j->groups[j->ngroups++];
    *g = (linked_group_drawn){ .ranks = ranks, .transfers = transfers, .bytes = bytes, .kind = TL_ALL_REDUCE };
    return g;
}

static inline void linked_compute(linked_job *j, size_t r, size_t step)
{
    tl_rank_graph *of = &j->graphs.of.v[r];
    int64_t work = (j->computes[r][step] - '0') * 100 * LINKED_US;
    tl_node node = { .done_ns = j->now_ns[r] + work, .work_ns = work, .first_edge = (uint32_t)of->nedges, .step = (int32_t)step,
                     .key = 2, .kind = TL_NODE_WORK, .activity = TL_ACTIVITY_COMPUTE, .segment = (uint32_t)of->ncomms };
    if (of->nnodes > 0)
        of->edges[of->nedges++] = (tl_edge){ .from = (uint32_t)of->nnodes - 1 };
    of->nodes[of->nnodes++] = node;
    of->nodes[of->nnodes] = (tl_node){ .first_edge = (uint32_t)of->nedges };
    j->now_ns[r] += work;
}

static inline void linked_meet(linked_job *j, size_t group, size_t step)
{
    const linked_group_drawn *g = &j->groups[group];
    int64_t last = 0, collective = j->rows.n > 0 ? j->rows.v[j->rows.n - 1].collective + 1 : 0;
    size_t n = strlen(g->ranks);

    for (size_t r = 0; r < j->nranks && group == 0; r++)
        if (j->computes[r] != NULL)
            linked_compute(j, r, step);
    for (size_t i = 0; i < n; i++)
        if (j->now_ns[g->ranks[i] - '0'] > last)
            last = j->now_ns[g->ranks[i] - '0'];
    last += 10 * LINKED_US;
    for (size_t i = 0; i < n; i++) {
        size_t r = (size_t)(g->ranks[i] - '0');
        if (r >= j->nranks) /* has no trace */
            continue;
        tl_rank_graph *of = &j->graphs.of.v[r];
        int64_t start = j->now_ns[r] + 10 * LINKED_US, tail = g->tails[i] != NULL ? g->tails[i][step] - '0' : 0;
        int64_t end = last + (g->transfers[step] - '0' + tail) * 100 * LINKED_US;
        uint32_t at = (uint32_t)of->nnodes;
        of->comms[of->ncomms] = (tl_node_comm){ .start_ns = start, .uid = (uint32_t)of->ncomms, .arrival = at, .turn = (uint32_t)of->ncomms };
        of->nodes[at] = (tl_node){ .done_ns = start, .first_edge = (uint32_t)of->nedges, .step = (int32_t)step, .kind = TL_NODE_ARRIVAL,
                                   .segment = (uint32_t)of->ncomms };
        if (at > 0)
            of->edges[of->nedges++] = (tl_edge){ .from = at - 1 };
        of->nodes[at + 1] = of->nodes[at];
        of->nodes[at + 1].done_ns = end;
        of->nodes[at + 1].kind = TL_NODE_END;
        of->nodes[at + 1].activity = TL_ACTIVITY_COMM;
        of->nodes[at + 1].first_edge = (uint32_t)of->nedges;
        of->edges[of->nedges++] = (tl_edge){ .from = at };
        of->nnodes += 2;
        of->nodes[of->nnodes] = (tl_node){ .first_edge = (uint32_t)of->nedges };
        tl_vec_room(&j->rows);
        j->rows.v[j->rows.n++] = (tl_late_row){ .collective = collective, .start_ns = start, .end_ns = end, .rank = (int32_t)r,
                                                .step = (int32_t)step, .own_step = (int32_t)step, .uid = (uint32_t)of->ncomms++,
                                                .bytes = g->bytes, .kind = g->kind, .fits = true, .counted = true,
                                                .pair = g->pair, .group = (int32_t)group,
                                                .peer = g->talks ? g->ranks[1 - i] - '0' : -1 };
        j->now_ns[r] = end;
    }
}

static inline void linked_baseline(linked_job *j)
{
    tl_baseline_make(&j->graph, &j->served.asker, j->ranks, j->rows.v, j->rows.n, &j->baseline);
}

static inline void linked_ready(linked_job *j)
{
    size_t nsteps = strlen(j->groups[0].transfers), most = (2 * j->ngroups + 1) * nsteps + 1;

    for (size_t r = 0; r < j->nranks; r++) {
        tl_rank row = { .rank = (int32_t)r, .devices = 1 };
        if (j->hosts != NULL)
            row.host[0] = j->hosts[r];
        tl_vec_room(&j->graphs.of);
        tl_table_append(tl_tables_get(&j->tables, &tl_rank_schema), &row, 1);
        j->ranks[r] = (int32_t)r;
        j->graphs.of.v[j->graphs.of.n++] = (tl_rank_graph){ .rank = (int32_t)r,
                                                            .nodes = calloc(most, sizeof(tl_node)),
                                                            .edges = calloc(most, sizeof(tl_edge)),
                                                            .comms = calloc(most, sizeof(tl_node_comm)),
                                                            .pauses = calloc(1, sizeof(tl_pause)) };
    }
    for (size_t s = 0; s < nsteps; s++)
        for (size_t g = 0; g < j->ngroups; g++)
            linked_meet(j, g, s);
    const tl_job_graph_input input = { &j->graphs, j->ranks, j->nranks, j->ranks, j->nranks, j->rows.v, j->rows.n,
                                   tl_tables_get(&j->tables, &tl_group_row_schema), 0 };
    const tl_link_input links = { j->ranks, j->rows.v, j->rows.n, tl_tables_get(&j->tables, &tl_group_row_schema),
                                  tl_tables_get(&j->tables, &tl_rank_schema) };
    serve_ranks(&j->graphs, j->ranks, &j->served);
    tl_job_graph_make(&input, &j->served.asker, &j->graph);
    linked_baseline(j);
    tl_baseline_add_links(&j->baseline, &links);
}

/* The verdict and its rows. */
static inline void linked_judge(linked_job *j)
{
    const tl_verdict_options options = { TL_VERDICT_ALPHA, TL_VERDICT_LEAST_COST };
    const tl_verdict_ranks ranks = { j->ranks, j->late_counts, j->nranks };
    linked_ready(j);
    tl_verdict_find(&j->baseline, &options, &j->judgement);
    tl_verdict_rows(&j->judgement, &j->baseline, &ranks, &j->tables);
}

static inline void linked_free(linked_job *j)
{
    tl_findings_free(&j->judgement);
    tl_baseline_free(&j->baseline);
    tl_job_graph_free(&j->graph);
    tl_rank_graphs_free(&j->graphs);
    served_ranks_free(&j->served);
    tl_tables_free(&j->tables);
    free(j->rows.v);
    free(j);
}

#endif
