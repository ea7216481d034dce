/* summary_job.h - jobs to sum up, built rank by rank, and what their summaries say. */
#ifndef TESTS_UNIT_SUMMARY_JOB_H
#define TESTS_UNIT_SUMMARY_JOB_H

#include "tlmpi/analysis/verdict/cause/culprit.h"
#include "summary_tables.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

/* A job under construction; rows stay in key order because ranks are added in order and rank -1 has its place first. */
typedef struct job {
    tl_rank ranks[1000];
    tl_breakdown rows[1001];
    tl_step steps[3000];
    tl_table of_ranks, of_rows, of_steps, of_idle, of_kernels, of_sides;
    tl_summary s;
} job;

static inline job *new_job(void)
{
    job *j = calloc(1, sizeof *j);
    j->of_ranks = (tl_table){ .schema = &tl_rank_schema, .rows = (unsigned char *)j->ranks };
    j->of_rows = (tl_table){ .schema = &tl_breakdown_schema, .rows = (unsigned char *)j->rows };
    j->of_steps = (tl_table){ .schema = &tl_step_schema, .rows = (unsigned char *)j->steps };
    j->of_idle.schema = &tl_idle_schema;
    j->of_kernels.schema = &tl_kernel_ranks_schema;
    j->of_sides.schema = &tl_side_file_schema;
    j->s = (tl_summary){ .version = "1.2.3", .ranks = &j->of_ranks, .breakdown = &j->of_rows, .steps = &j->of_steps,
                         .idle = &j->of_idle, .kernels = &j->of_kernels,
                         .side_files = &j->of_sides, .run = 1, .nruns = 1, .nprocs = 4, .seconds = 0.04,
                         .output = "traces.h5", .output_bytes = 600000 };
    j->rows[0] = (tl_breakdown){ .rank = -1, .device = -1, .step = -1 };
    return j;
}

/* Another rank, with its parts of wall time in ms; all zero for a rank without device work. */
static inline tl_rank *add_rank(job *j, int64_t compute, int64_t comm_exposed, int64_t copy_exposed, int64_t idle)
{
    size_t i = j->of_ranks.n++;
    tl_rank *rank = &j->ranks[i];
    *rank = (tl_rank){ .rank = (int32_t)i, .file_bytes = 750000, .events = 3425, .devices = 1, .kernel_ns = 100 };
    strcpy(rank->host, "ip-172-31-16-248");
    strcpy(rank->device_name, "Tesla V100-SXM2-16GB");

    int64_t wall = compute + comm_exposed + copy_exposed + idle;
    if (wall == 0)
        return rank;
    if (j->of_rows.n == 0)
        j->of_rows.n = 1;
    tl_breakdown row = { .rank = (int32_t)i, .device = -1, .step = -1, .wall_ns = wall * MS,
                         .busy_ns = (wall - idle) * MS, .compute_ns = compute * MS,
                         .comm_ns = 2 * comm_exposed * MS,
                         .comm_exposed_ns = comm_exposed * MS, .comm_transfer_ns = comm_exposed * MS,
                         .copy_ns = copy_exposed * MS,
                         .copy_exposed_ns = copy_exposed * MS, .idle_ns = idle * MS };
    j->rows[j->of_rows.n++] = row;
    j->rows[0].wall_ns += row.wall_ns;
    j->rows[0].compute_ns += row.compute_ns;
    j->rows[0].comm_ns += row.comm_ns;
    j->rows[0].comm_exposed_ns += row.comm_exposed_ns;
    j->rows[0].comm_transfer_ns += row.comm_transfer_ns;
    j->rows[0].copy_exposed_ns += row.copy_exposed_ns;
    j->rows[0].idle_ns += row.idle_ns;
    return rank;
}

static inline void add_step(job *j, int32_t rank, int32_t step)
{
    j->steps[j->of_steps.n++] = (tl_step){ .rank = rank, .step = step };
}

/* What there is of the tables that the verdict is read from. */
static inline tl_tables tables_of(const job *j)
{
    size_t n = 0, required;
    const tl_schema *const *schemas = tl_answer_tables(&required);
    tl_tables tables;
    while (schemas[n] != NULL)
        n++;
    tl_tables_init(&tables, schemas, n);
    tl_table_append(tl_tables_get(&tables, &tl_rank_schema), j->ranks, j->of_ranks.n);
    tl_table_append(tl_tables_get(&tables, &tl_breakdown_schema), j->rows, j->of_rows.n);
    tl_table_append(tl_tables_get(&tables, &tl_step_schema), j->steps, j->of_steps.n);
    return tables;
}

/* The summary; every line of it has at most 80 characters. */
static inline char *summary_of(const job *j)
{
    char *text = NULL;
    size_t size = 0;
    tl_tables tables = tables_of(j);
    tl_answers answers;
    tl_summary s = j->s;
    tl_culprits_find(&tables);
    tl_answers_read(&tables, &answers);
    s.answers = &answers;
    FILE *out = open_memstream(&text, &size);
    print_tables(out, s);
    fclose(out);
    tl_tables_free(&tables);

    size_t column = 0;
    for (const char *p = text; *p != '\0'; p++) {
        column = *p == '\n' ? 0 : column + (((unsigned char)*p & 0xC0) != 0x80);
        CU_ASSERT_TRUE(column <= 80);
        CU_ASSERT_TRUE(*p == '\n' || (unsigned char)*p >= 0x20);
        if (column == 81)
            fprintf(stderr, "too wide:\n%s\n", text);
    }
    return text;
}

static inline size_t count(const char *text, const char *what)
{
    size_t n = 0;
    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        n++;
    }
    return n;
}

static inline void expect(const char *text, const char *what, size_t times)
{
    CU_ASSERT_EQUAL(count(text, what), times);
    if (count(text, what) != times)
        fprintf(stderr, "expected %zu times: %s\nin:\n%s\n", times, what, text);
}

#endif
