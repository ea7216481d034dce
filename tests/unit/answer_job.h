/* answer_job.h - the tables that culprits are found in and answers read from, filled row by row. */
#ifndef TESTS_UNIT_ANSWER_JOB_H
#define TESTS_UNIT_ANSWER_JOB_H

#include "tlmpi/analysis/verdict/cause/culprit.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/report/answers/answers.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

typedef struct answer_job {
    tl_tables tables;
    tl_answers answers;
} answer_job;

static inline void put_row(answer_job *j, const tl_schema *schema, const void *row)
{
    tl_table_append(tl_tables_get(&j->tables, schema), row, 1);
}

static inline void count_check(answer_job *j, tl_quality_check check, int64_t count, int64_t of)
{
    tl_quality row = { .check = (uint8_t)check, .count = count, .of = of };
    put_row(j, &tl_quality_schema, &row);
}

/* A job of so many ranks and steps (1, 2, ...) of 100 ms, four ranks a host: half compute, 30 % exposed comm, 20 %
 * idle. Two collectives a step, all matched; one clock; nobody waits. */
static inline answer_job *job_of(int32_t nranks, int32_t nsteps)
{
    size_t n = 0, required;
    const tl_schema *const *schemas = tl_answer_tables(&required);
    answer_job *j = calloc(1, sizeof *j);
    int64_t wall_ns = (nsteps > 0 ? nsteps : 1) * 100 * MS;

    while (schemas[n] != NULL)
        n++;
    CU_ASSERT_TRUE_FATAL(j != NULL);
    tl_tables_init(&j->tables, schemas, n);
    for (int32_t r = -1; r < nranks; r++) {
        int64_t ns = r < 0 ? wall_ns * nranks : wall_ns;
        tl_breakdown row = { .rank = r, .device = -1, .step = -1, .wall_ns = ns, .busy_ns = ns / 10 * 8,
                             .compute_ns = ns / 2, .comm_ns = ns / 10 * 3, .comm_exposed_ns = ns / 10 * 3,
                             .comm_transfer_ns = ns / 10 * 3, .idle_ns = ns / 10 * 2 };
        put_row(j, &tl_breakdown_schema, &row);
    }
    for (int32_t r = 0; r < nranks; r++) {
        tl_rank row = { .rank = r, .device = r % 4, .devices = 1, .world_size = nranks };
        tl_straggler verdict = { .rank = r, .p_value = NAN, .first_step = -1, .last_step = -1, .slowdown = 1 };
        snprintf(row.host, sizeof row.host, "node%d", r / 4);
        snprintf(verdict.reason, sizeof verdict.reason, "no step in which it stands out among its peers");
        put_row(j, &tl_rank_schema, &row);
        put_row(j, &tl_straggler_schema, &verdict);
        for (int32_t s = 1; s <= nsteps; s++) {
            tl_step step = { .rank = r, .step = s, .start_ns = s * 100 * MS, .end_ns = (s + 1) * 100 * MS };
            tl_blame_step blame = { .rank = r, .step = s, .step_ns = 100 * MS };
            put_row(j, &tl_step_schema, &step);
            put_row(j, &tl_blame_step_schema, &blame);
        }
        if (nsteps == 0)
            put_row(j, &tl_blame_step_schema, &(tl_blame_step){ .rank = r, .step = -1 });
    }
    count_check(j, TL_CHECK_MATCHED, 2 * nsteps, 2 * nsteps);
    count_check(j, TL_CHECK_CLOCKS, 1, nranks);
    return j;
}

static inline tl_breakdown *job_breakdown(answer_job *j)
{
    return tl_table_row(tl_tables_get(&j->tables, &tl_breakdown_schema), 0);
}

static inline void job_free(answer_job *j)
{
    tl_tables_free(&j->tables);
    free(j);
}

/* The row of a rank that is in the order of the table. */
static inline tl_straggler *verdict_of(answer_job *j, int32_t rank)
{
    return tl_table_row(tl_tables_get(&j->tables, &tl_straggler_schema), (size_t)rank);
}

/* What the repair of rank 2 gains in each of the steps in which it stands out, and in each other one. */
static inline void gain_in_steps(answer_job *j, int64_t flagged_ns, int64_t others_ns)
{
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++) {
        tl_blame_step *step = tl_table_row(steps, i);
        step->gain_ns = step->rank != 2 ? 0 : step->flagged ? flagged_ns : others_ns;
    }
}

/* The rank holds the others up for so long in each of these steps; the replay gains gain_ns (below 0: there is
 * none). */
static inline tl_straggler *hold_up(answer_job *j, int32_t rank, int32_t first, int32_t last, int64_t wait_ns,
                                    int64_t gain_ns)
{
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    int32_t nranks = (int32_t)tl_tables_get(&j->tables, &tl_straggler_schema)->n, n = 0;
    tl_straggler *row = verdict_of(j, rank);

    for (size_t i = 0; i < steps->n; i++) {
        tl_blame_step *step = tl_table_row(steps, i);
        if (step->rank != rank || step->step < first || step->step > last)
            continue;
        step->excess_ns = wait_ns;
        step->blame_ns = wait_ns * (nranks - 1);
        step->flagged = 1;
        n++;
        for (int32_t from = 0; from < nranks; from++) {
            tl_blame blame = { .to_rank = rank, .step = step->step, .from_rank = from, .cause = TL_ACTIVITY_HOST,
                               .waiters = 1, .direct_ns = wait_ns };
            if (from != rank)
                put_row(j, &tl_blame_schema, &blame);
        }
    }
    tl_table_sort(tl_tables_get(&j->tables, &tl_blame_schema));
    row->verdict = TL_VERDICT_STRAGGLER;
    row->blame_ns = n * wait_ns * (nranks - 1);
    job_breakdown(j)->comm_waiting_ns += row->blame_ns;
    row->z = 100;
    row->pattern = (size_t)n * (size_t)nranks == steps->n ? TL_PATTERN_PERSISTENT : TL_PATTERN_BOUNDED;
    row->first_step = first;
    row->last_step = last;
    row->cause = TL_CAUSE_HOST_LATE;
    row->cause_share = 1;
    snprintf(row->place, sizeof row->place, "forward");
    if (gain_ns >= 0) {
        tl_whatif_row whatif = { .scenario = TL_SCENARIO_RANK, .rank = rank, .cause = TL_NACTIVITIES, .gain_ns = gain_ns };
        row->gain_ns = gain_ns;
        put_row(j, &tl_whatif_row_schema, &whatif);
    }
    return row;
}

/* What others wait for the rank itself, and what they wait for those that wait for it; all of that is exposed. */
static inline void charge(answer_job *j, int32_t rank, int64_t direct_ns, int64_t indirect_ns)
{
    job_breakdown(j)->comm_waiting_ns += direct_ns + indirect_ns - verdict_of(j, rank)->blame_ns;
    tl_table *blame = tl_tables_get(&j->tables, &tl_blame_schema);
    const tl_blame row = { .to_rank = rank, .step = 1, .from_rank = 0, .direct_ns = direct_ns, .indirect_ns = indirect_ns };
    size_t at = tl_table_from_rank(blame, rank);
    verdict_of(j, rank)->blame_ns = direct_ns + indirect_ns;
    if (at < blame->n && ((tl_blame *)tl_table_row(blame, at))->to_rank == rank)
        *(tl_blame *)tl_table_row(blame, at) = row;
    else
        put_row(j, &tl_blame_schema, &row);
}

/* The replay takes wall_ns, `error` off what was measured; beyond 5 % nothing more is known. */
static inline void replay(answer_job *j, int64_t wall_ns, double error)
{
    tl_whatif_row row = { .scenario = TL_SCENARIO_UNCHANGED, .rank = -1, .cause = TL_NACTIVITIES, .time_ns = wall_ns,
                          .model_error = error };
    put_row(j, &tl_whatif_row_schema, &row);
    row.scenario = TL_SCENARIO_IDEAL;
    if (fabs(error) <= 0.05)
        put_row(j, &tl_whatif_row_schema, &row);
}

/* What the replay gains by repairing all suspects, or (its lowest rank named) a host. */
static inline void gain_of(answer_job *j, tl_scenario_kind scenario, int32_t rank, int64_t gain_ns)
{
    tl_whatif_row row = { .scenario = (uint8_t)scenario, .rank = rank, .cause = TL_NACTIVITIES, .gain_ns = gain_ns };
    put_row(j, &tl_whatif_row_schema, &row);
}

/* A row of the critical path. */
static inline void walk(answer_job *j, int32_t rank, int subseq, int64_t path_ns, int64_t imbalance_ns)
{
    tl_path_row row = { .rank = rank, .activity = (uint8_t)subseq, .path_ns = path_ns, .imbalance_ns = imbalance_ns };
    put_row(j, &tl_path_row_schema, &row);
}

/* Once all rows are there: decided, and read back. */
static inline const tl_answers *answers_of(answer_job *j)
{
    tl_culprits_find(&j->tables);
    tl_answers_read(&j->tables, &j->answers);
    return &j->answers;
}

/* Whether each line has at most 80 characters; says the first that has not. */
static inline bool fits_a_screen(const char *text)
{
    for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        if (end - line > 80) {
            fprintf(stderr, "too wide: %.*s\n", (int)(end - line), line);
            return false;
        }
    }
    return true;
}

#endif
