/* job.c - from what ranks were late for in collectives to a verdict on each: the order of it all. */
#include "tlmpi/analysis/judging.h"
#include "tlmpi/analysis/verdict.h"
#include "tlmpi/analysis/blame.h"
#include "tlmpi/analysis/gain.h"
#include "hidden.h"
#include "links.h"
#include "tlmpi/analysis/link.h"
#include "tlmpi/analysis/step.h"
#include "tlmpi/analysis/absent.h"
#include "units.h"
#include "judging.h"
#include "lateness.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/tables.h"
#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------ ranks and their steps */

typedef struct attributing {
    tl_tables *tables;
    const tl_late_row *rows;
    size_t nrows;
    int32_t *ranks; /* ascending */
    int64_t *late_counts;
    size_t nranks;
    int32_t *marked; /* those with marks of steps that tell the same as most others' */
    size_t nmarked;
    tl_steps_from where_none; /* whose steps are those of the others */
    tl_job_roles roles;
} attributing;

static bool list_ranks(attributing *a)
{
    const tl_table *table = tl_tables_get(a->tables, &tl_rank_schema);
    a->ranks = tl_malloc((table->n + 1) * sizeof *a->ranks);
    a->late_counts = tl_calloc(table->n + 1, sizeof *a->late_counts);
    if (a->ranks == NULL || a->late_counts == NULL)
        return false;
    for (size_t i = 0; i < table->n; i++) {
        const tl_rank *row = tl_table_row(table, i);
        if (row->devices > 0 && (a->nranks == 0 || a->ranks[a->nranks - 1] != row->rank))
            a->ranks[a->nranks++] = row->rank;
    }
    return true;
}

static bool is_marked(const attributing *a, int32_t rank)
{
    return tl_index_of(a->marked, a->nmarked, rank) < a->nmarked;
}

/* Steps that are not marked. */
static tl_status number_steps(attributing *a, tl_late_row *rows, tl_programs *programs, tl_error *err)
{
    const tl_table *steps = tl_tables_get(a->tables, &tl_step_schema);
    size_t nsteps = 0;
    bool follow = false, some = false, whole = tl_marked_list(steps, rows, a->nrows, &a->marked, &a->nmarked);
    for (size_t r = 0; r < a->nranks; r++)
        some = some || !is_marked(a, a->ranks[r]);
    if (whole && a->nmarked == 0)
        whole = tl_unmarked_number(rows, a->nrows, programs, &nsteps);
    else if (whole && some)
        whole = tl_unmarked_follow(rows, a->nrows, a->marked, a->nmarked, programs, &follow);
    a->where_none = follow ? TL_STEPS_MET : nsteps > 0 ? TL_STEPS_RETURNED : TL_STEPS_NONE;
    return whole ? TL_OK : tl_fail_memory(err, "the steps of the job");
}

/* What the steps of each rank come from; of those that follow others', where they meet them. */
static void tell_steps(const attributing *a, tl_table *stragglers)
{
    for (size_t i = 0; i < stragglers->n; i++) {
        tl_straggler *row = tl_table_row(stragglers, i);
        row->steps_from = (uint8_t)(is_marked(a, row->rank)         ? TL_STEPS_MARKED
                                    : a->where_none == TL_STEPS_MET ? TL_STEPS_NONE
                                                                    : a->where_none);
    }
    for (size_t i = 0; a->where_none == TL_STEPS_MET && i < a->nrows; i++) {
        size_t r = tl_index_of(a->ranks, a->nranks, a->rows[i].rank);
        if (r == a->nranks || !a->rows[i].fits || a->rows[i].step < 0)
            continue;
        tl_straggler *row = tl_table_row(stragglers, r);
        row->steps_from = row->steps_from == TL_STEPS_NONE ? TL_STEPS_MET : row->steps_from;
    }
}

/* ---------------------------------------------------------------------------------------------------- the verdicts */

static tl_status judge(attributing *a, const tl_programs *programs, tl_error *err)
{
    size_t nsteps;
    tl_verdict_gains gained = { 0 };
    tl_job_step *steps = tl_job_steps_list(a->tables, a->marked, a->nmarked, a->rows, a->nrows, &nsteps);
    double *gain_ns = tl_malloc((a->nranks * nsteps + 1) * sizeof *gain_ns);
    double *sure_ns = tl_malloc((a->nranks + 1) * sizeof *sure_ns);
    int64_t *late_ns = tl_malloc((a->nranks * nsteps + 1) * sizeof *late_ns);
    int64_t *own_ns = tl_malloc((a->nranks + 1) * sizeof *own_ns);
    bool whole = steps != NULL && gain_ns != NULL && sure_ns != NULL && late_ns != NULL && own_ns != NULL &&
                 tl_job_roles_find(&a->roles, &(tl_role_input){ a->rows, a->nrows, a->ranks, a->nranks, programs });
    tl_status st = whole ? TL_OK : tl_fail_memory(err, "the steps of the job");
    tl_table *stragglers = tl_tables_get(a->tables, &tl_straggler_schema);
    const tl_table *groups = tl_tables_get(a->tables, &tl_group_row_schema);
    tl_verdict_input input = {
        .blame = tl_tables_get(a->tables, &tl_blame_schema),
        .ranks = a->ranks,
        .roles = a->roles.of,
        .late_counts = a->late_counts,
        .nranks = a->nranks,
        .steps = steps,
        .nsteps = nsteps,
        .begun = whole && tl_job_begun(steps, nsteps, a->ranks, a->nranks, a->rows, a->nrows),
        .in_turn = whole && tl_job_ends_in_turn(steps, nsteps, a->rows, a->nrows),
    };
    const tl_link_job link_job = { a->ranks, a->roles.of, a->nranks, steps, nsteps };
    tl_job_links links = { 0 };
    const tl_gain_input gain_input = { .rows = a->rows,
                                       .nrows = a->nrows,
                                       .ranks = a->ranks,
                                       .roles = a->roles.of,
                                       .nranks = a->nranks,
                                       .named = a->roles.named,
                                       .named_roles = a->roles.named_roles,
                                       .nnamed = a->roles.nnamed,
                                       .programs = programs,
                                       .links = &links };
    tl_gains *gains = NULL;

    if (st == TL_OK)
        st = tl_gains_open(&gain_input, a->tables, &gains, err);
    if (st == TL_OK && tl_gains_known(gains)) {
        input.gain_ns = gain_ns;
        input.sure_ns = sure_ns;
        input.late_ns = late_ns;
        input.waits_known = a->roles.nnamed == a->nranks && !tl_passed_on_unseen(groups);
        input.by_gain = a->roles.several;
        if (!tl_gains_by_step(gains, steps, nsteps, gain_ns, sure_ns, late_ns) || !tl_gains_own(gains, own_ns))
            st = tl_fail_memory(err, "what each step would gain");
    }
    if (st == TL_OK)
        st = tl_verdict_make(&input, tl_tables_get(a->tables, &tl_blame_step_schema), stragglers, err);
    if (st == TL_OK)
        tell_steps(a, stragglers);
    if (st == TL_OK)
        st = tl_job_links_find(&links, &link_job, a->rows, a->nrows, a->tables, err);
    if (st == TL_OK)
        st = tl_gains_find(gains, &gained, err);
    if (st == TL_OK)
        st = tl_verdict_judge(&input, &gained, tl_tables_get(a->tables, &tl_blame_step_schema), stragglers, err);
    if (st == TL_OK)
        st = tl_units_judge(&input, own_ns, gains, a->tables, err);
    if (st == TL_OK)
        tl_job_links_judge(&input, gained.simulated, a->tables);
    if (st == TL_OK)
        st = tl_job_withhold(&input, a->rows, a->nrows, a->tables, err);
    if (st == TL_OK && input.late_ns != NULL && nsteps >= TL_LATENESS_LEAST_STEPS)
        st = tl_verdict_lateness(&input, tl_tables_get(a->tables, &tl_blame_step_schema), stragglers, err);
    tl_gains_close(gains);
    tl_job_links_free(&links);
    free(gain_ns);
    free(sure_ns);
    free(late_ns);
    free(own_ns);
    free(steps);
    return st;
}

/* The same, from the graph of all their work. */
static tl_status judge_graph(attributing *a, tl_programs *programs, const tl_graph_basis *basis, tl_error *err)
{
    const tl_graph_input input = { .graphs = basis->graphs,
                                   .ranks = a->ranks,
                                   .nranks = a->nranks,
                                   .marked = a->marked,
                                   .nmarked = a->nmarked,
                                   .rows = a->rows,
                                   .nrows = a->nrows,
                                   .groups = tl_tables_get(a->tables, &tl_group_row_schema) };
    const tl_verdict_ranks ranks = { a->ranks, a->late_counts, a->nranks };
    const tl_link_input links = { a->ranks, a->rows, a->nrows, tl_tables_get(a->tables, &tl_group_row_schema),
                                  tl_tables_get(a->tables, &tl_rank_schema) };
    tl_graph graph = { 0 };
    tl_baseline baseline = { 0 };
    tl_findings findings = { 0 };
    const tl_role_input roles = { a->rows, a->nrows, a->ranks, a->nranks, programs };

    tl_status st = tl_job_roles_find(&a->roles, &roles) ? TL_OK : tl_fail_memory(err, "the roles of ranks");
    tl_programs_free(programs);
    tl_mem_return();
    if (st == TL_OK)
        st = tl_graph_make(&input, &graph, err);
    tl_rank_graphs_free(basis->graphs);
    tl_mem_return();
    if (st == TL_OK)
        st = tl_baseline_make(&graph, a->ranks, a->rows, a->nrows, &baseline, err);
    if (st == TL_OK)
        st = tl_baseline_add_links(&baseline, &links, err);
    if (st == TL_OK)
        st = tl_verdict_find(&baseline, &basis->options, &findings, err);
    if (st == TL_OK)
        st = tl_verdict_rows(&findings, &baseline, &ranks, a->tables, err);
    if (st == TL_OK)
        tell_steps(a, tl_tables_get(a->tables, &tl_straggler_schema));
    tl_findings_free(&findings);
    tl_baseline_free(&baseline);
    tl_graph_free(&graph);
    return st;
}

tl_status tl_verdict_add_workless(tl_tables *tables, tl_error *err)
{
    const tl_table *ranks = tl_tables_get(tables, &tl_rank_schema);
    tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    for (size_t i = 0; i < ranks->n; i++) {
        const tl_rank *rank = tl_table_row(ranks, i);
        if (rank->devices > 0 || rank->status == TL_RANK_UNREADABLE ||
            (i > 0 && ((const tl_rank *)tl_table_row(ranks, i - 1))->rank == rank->rank))
            continue;
        tl_straggler row = { .rank = rank->rank,
                             .verdict = TL_VERDICT_INCONCLUSIVE,
                             .z = NAN,
                             .share_steps = NAN,
                             .first_step = -1,
                             .last_step = -1,
                             .p_value = NAN,
                             .cause_share = NAN,
                             .gain_ns = -1,
                             .slowdown = NAN,
                             .left_out_step = -1,
                             .steps_from = TL_STEPS_NONE,
                             .reason = "its trace shows no device work" };
        if (!tl_table_append(stragglers, &row, 1))
            return tl_fail_memory(err, "the verdict");
    }
    return tl_table_sort(stragglers) ? TL_OK : tl_fail_memory(err, "the verdict");
}

tl_status tl_job_judge(tl_late_row *rows, size_t nrows, tl_programs *programs, const tl_graph_basis *graph,
                       tl_tables *tables, tl_judged *out, tl_error *err)
{
    attributing a = { .tables = tables, .rows = rows, .nrows = nrows };
    tl_status st = list_ranks(&a) ? TL_OK : tl_fail_memory(err, "the ranks of the job");

    if (st == TL_OK)
        st = number_steps(&a, rows, programs, err);
    if (st == TL_OK)
        st = tl_delay_costs_find(&(tl_delay_cost_input){ rows, nrows, a.ranks, a.nranks }, a.late_counts, tables, err);
    if (st == TL_OK)
        st = graph != NULL ? judge_graph(&a, programs, graph, err) : judge(&a, programs, err);
    free(a.marked);
    free(a.late_counts);
    *out = (tl_judged){ a.ranks, a.nranks, a.roles };
    return st;
}

void tl_judged_free(tl_judged *judged)
{
    free(judged->ranks);
    tl_job_roles_free(&judged->roles);
    *judged = (tl_judged){ 0 };
}
