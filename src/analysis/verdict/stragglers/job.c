/* job.c - the passes of a verdict in order: from late rows of collectives and graphs of ranks to a verdict per rank. */
#include "internal.h"
#include "tlmpi/analysis/collective/wait/blame.h"
#include "tlmpi/analysis/verdict/stragglers/step.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/tables.h"
#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------ ranks and their steps */

typedef struct judging {
    tl_tables *tables;
    tl_late_row *rows; /* of collectives; freed before candidates are sought */
    size_t nrows;
    int32_t *ranks; /* ascending */
    int64_t *late_counts;
    size_t nranks;
    int32_t *marked; /* ranks whose step marks agree with those of most ranks */
    size_t nmarked;
    bool *meets;              /* [nranks] the rank has a matched collective in a step */
    tl_steps_from where_none; /* origin of the steps of ranks without marks */
    uint32_t *roles;
} judging;

static void list_ranks(judging *a)
{
    const tl_table *table = tl_tables_get(a->tables, &tl_rank_schema);
    a->ranks = tl_malloc((table->n + 1) * sizeof *a->ranks);
    a->late_counts = tl_calloc(table->n + 1, sizeof *a->late_counts);
    a->meets = tl_calloc(table->n + 1, sizeof *a->meets);
    TL_ROWS (const tl_rank, row, table)
        if (row->devices > 0 && (a->nranks == 0 || a->ranks[a->nranks - 1] != row->rank))
            a->ranks[a->nranks++] = row->rank;
}

static bool is_marked(const judging *a, int32_t rank)
{
    return tl_index_of(a->marked, a->nmarked, rank) < a->nmarked;
}

/* Numbers the steps of ranks without marks: after marked ranks or, if no rank has marks, by repetitions of work. */
static void number_steps(judging *a, const tl_rank_graphs *graphs)
{
    tl_late_row *rows = a->rows;
    const tl_table *steps = tl_tables_get(a->tables, &tl_step_schema);
    size_t nsteps = 0;
    bool follow = false, some = false;
    tl_marked_list(steps, rows, a->nrows, &a->marked, &a->nmarked);
    for (size_t r = 0; r < a->nranks; r++)
        some = some || !is_marked(a, a->ranks[r]);
    if (a->nmarked == 0)
        tl_unmarked_number(rows, a->nrows, graphs, &nsteps);
    else if (some)
        tl_unmarked_follow(rows, a->nrows, a->marked, a->nmarked, graphs, &follow);
    a->where_none = follow ? TL_STEPS_MET : nsteps > 0 ? TL_STEPS_RETURNED : TL_STEPS_NONE;
    for (size_t i = 0; follow && i < a->nrows; i++) {
        size_t r = tl_index_of(a->ranks, a->nranks, rows[i].rank);
        if (r < a->nranks && rows[i].fits && rows[i].step >= 0)
            a->meets[r] = true;
    }
}

/* Fills steps_from: whether a rank's steps are marked, found, or follow other ranks' steps where it meets them. */
static void fill_steps_from(const judging *a, tl_table *stragglers)
{
    TL_ROWS (tl_straggler, row, stragglers) {
        size_t r = tl_index_of(a->ranks, a->nranks, row->rank);
        if (r == a->nranks)
            continue; /* the rank has no trace */
        row->steps_from = (uint8_t)(is_marked(a, row->rank)                         ? TL_STEPS_MARKED
                                    : a->where_none == TL_STEPS_MET && !a->meets[r] ? TL_STEPS_NONE
                                                                                    : a->where_none);
    }
}

/* ---------------------------------------------------------------------------------------------------- the verdicts */

/* Returns the number of ranks that the traces state; 0: none states one, or they disagree. */
static int32_t world_of(const tl_table *ranks)
{
    int32_t world = 0;
    for (size_t i = 0; i < ranks->n; i++) {
        int32_t size = ((const tl_rank *)tl_table_row(ranks, i))->world_size;
        if (size > 0 && world > 0 && size != world)
            return 0;
        world = size > 0 ? size : world;
    }
    return world;
}

/* Returns by how much clocks may be apart, ns: the uncertainty of their distance, or the distance where it was left. */
static int64_t clock_error_of(const tl_table *clocks)
{
    int64_t error_ns = 0;
    TL_ROWS (const tl_clock, row, clocks)
        error_ns = tl_ns_max(
            error_ns, tl_ns_max(row->sigma_ns, row->applied ? 0 : llabs(tl_ns_within(row->offset_ns, INT64_MAX))));
    return error_ns;
}

static void judge(judging *a, const tl_job_basis *basis)
{
    const tl_table *groups = tl_tables_get(a->tables, &tl_group_row_schema);
    const tl_job_graph_input input = { .graphs = basis->graphs,
                                       .ranks = a->ranks,
                                       .nranks = a->nranks,
                                       .marked = a->marked,
                                       .nmarked = a->nmarked,
                                       .rows = a->rows,
                                       .nrows = a->nrows,
                                       .groups = groups,
                                       .world = world_of(tl_tables_get(a->tables, &tl_rank_schema)) };
    const tl_verdict_ranks ranks = { a->ranks, a->late_counts, a->nranks };
    const tl_asker asker = { basis->asker.ask, basis->asker.of, a->ranks };
    const tl_link_input links = { a->ranks, a->rows, a->nrows, groups, tl_tables_get(a->tables, &tl_rank_schema) };
    tl_job_graph graph = { 0 };
    tl_baseline baseline = { 0 };
    tl_findings findings = { 0 };

    tl_job_graph_make(&input, &asker, &graph);
    tl_table *health = tl_tables_get(a->tables, &tl_health_schema);
    tl_windows_open(tl_tables_get(a->tables, &tl_step_schema), a->ranks, &graph, health);
    tl_baseline_make(&graph, &asker, a->ranks, a->rows, a->nrows, &baseline);
    tl_baseline_leave_out(&baseline, a->ranks, health);
    tl_baseline_add_links(&baseline, &links);
    free(a->rows); /* the largest input, freed to make room for the search */
    a->rows = NULL;
    tl_verdict_find(&baseline, &basis->options, &findings);
    tl_windows_rows(&baseline, findings.step_ns, a->ranks, links.hosts, health);
    tl_verdict_rows(&findings, &baseline, &ranks, a->tables);
    fill_steps_from(a, tl_tables_get(a->tables, &tl_straggler_schema));
    if (basis->whatif != NULL && findings.time_ns > 0)
        tl_whatif_find(
            &(tl_whatif_input){ .graph = &graph,
                                .baseline = &baseline,
                                .names = a->tables->names,
                                .folded = findings.folded,
                                .step_ns = findings.step_ns,
                                .ranks = a->ranks,
                                .start_ns = findings.start_ns,
                                .end_ns = findings.end_ns,
                                .error_ns = findings.error_ns,
                                .clock_error_ns = clock_error_of(tl_tables_get(a->tables, &tl_clock_schema)) },
            basis->whatif);
    a->roles = baseline.role_of;
    baseline.role_of = NULL;
    tl_findings_free(&findings);
    tl_baseline_free(&baseline);
    tl_job_graph_free(&graph);
}

/* Sums blame_ns of each rank.  Includes waits outside of steps, unlike verdicts; excludes steps that table health
 * leaves out. */
static void sum_blame(tl_tables *tables)
{
    const tl_table *blame = tl_tables_get(tables, &tl_blame_schema),
                   *stragglers = tl_tables_get(tables, &tl_straggler_schema),
                   *health = tl_tables_get(tables, &tl_health_schema);
    TL_ROWS (tl_straggler, row, stragglers) {
        row->blame_ns = 0;
        for (size_t b = tl_table_from_rank(blame, row->rank); b < blame->n; b++) {
            const tl_blame *charge = tl_table_row(blame, b);
            if (charge->to_rank != row->rank)
                break;
            if (!tl_step_is_left_out(health, charge->step))
                row->blame_ns += charge->direct_ns + charge->indirect_ns;
        }
    }
}

tl_status tl_job_judge(tl_late_row *rows, size_t nrows, const tl_job_basis *basis, tl_tables *tables, tl_judged *out,
                       tl_error *err)
{
    judging a = { .tables = tables, .rows = rows, .nrows = nrows };
    list_ranks(&a);

    number_steps(&a, basis->graphs);
    tl_status st =
        tl_delay_costs_find(&(tl_delay_cost_input){ rows, nrows, a.ranks, a.nranks }, a.late_counts, tables, err);
    if (st == TL_OK)
        judge(&a, basis);
    free(a.rows);
    free(a.meets);
    free(a.marked);
    free(a.late_counts);
    *out = (tl_judged){ a.ranks, a.roles, a.nranks };
    return st;
}

void tl_judged_free(tl_judged *judged)
{
    free(judged->ranks);
    free(judged->roles);
    *judged = (tl_judged){ 0 };
}

void tl_verdict_finish(tl_tables *tables)
{
    const tl_table *ranks = tl_tables_get(tables, &tl_rank_schema);
    tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    sum_blame(tables);
    for (size_t i = 0; i < ranks->n; i++) {
        const tl_rank *rank = tl_table_row(ranks, i);
        if (rank->devices > 0 || rank->status == TL_RANK_UNREADABLE ||
            (i > 0 && ((const tl_rank *)tl_table_row(ranks, i - 1))->rank == rank->rank))
            continue;
        tl_straggler row = tl_straggler_empty(rank->rank, "its trace shows no device work");
        row.verdict = TL_VERDICT_INCONCLUSIVE;
        row.steps_from = TL_STEPS_NONE;
        tl_table_append(stragglers, &row, 1);
    }
    tl_table_sort(stragglers);
}
