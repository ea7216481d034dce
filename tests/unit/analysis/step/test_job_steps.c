/* test_job_steps.c - how long steps are, and whether the first and the last one are like the others.
 *
 * A drawing has a line for each rank, a column a millisecond: digits are collectives of that step, dots nothing, dashes
 * collectives of no step.  The k-th of a line is matched with the k-th of the others. */
#include "unit.h"

#include "tlmpi/analysis/step.h"
#include "tlmpi/model/tables.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 64, MS = 1000000 };

static tl_late_row rows[ROWS_MAX];
static size_t nrows;
static int32_t ranks[8];
static size_t nranks;

static void draw_rows(const char *const *lines)
{
    nrows = 0;
    for (nranks = 0; lines[nranks] != NULL; nranks++) {
        const char *line = lines[nranks];
        ranks[nranks] = (int32_t)nranks;
        for (size_t from = 0, to; line[from] != 0; from = to) {
            for (to = from + 1; line[to] == line[from]; to++)
                ;
            if (line[from] == '.')
                continue;
            CU_ASSERT_FATAL(nrows < ROWS_MAX);
            rows[nrows++] = (tl_late_row){ .rank = ranks[nranks],
                                           .start_ns = (int64_t)from * MS,
                                           .end_ns = (int64_t)to * MS,
                                           .step = line[from] == '-' ? -1 : line[from] - '0',
                                           .peer = -1,
                                           .fits = 1 };
        }
    }
}

#define ROWS(...) draw_rows((const char *const[]){ __VA_ARGS__, NULL })

static tl_job_step steps[4];
static size_t nsteps;

/* Steps 1 to 3, which the host marks for mark_ms each. */
static void list(int64_t mark_ms)
{
    const tl_schema *const schemas[] = { &tl_rank_schema, &tl_step_schema };
    tl_tables tables;
    CU_ASSERT_FATAL(tl_tables_init(&tables, schemas, COUNT(schemas)));
    for (int32_t s = 1; s <= 3; s++) {
        const tl_step row = { .step = s, .start_ns = (s - 1) * mark_ms * MS, .end_ns = s * mark_ms * MS };
        CU_ASSERT_FATAL(tl_table_append(tl_tables_get(&tables, &tl_step_schema), &row, 1));
    }
    const int32_t marked[] = { 0 };
    tl_job_step *of = tl_job_steps_list(&tables, marked, COUNT(marked), rows, nrows, &nsteps);
    CU_ASSERT_FATAL(of != NULL && nsteps == 3);
    memcpy(steps, of, nsteps * sizeof *of);
    free(of);
    tl_tables_free(&tables);
}

static bool begun(void)
{
    return tl_job_begun(steps, nsteps, ranks, nranks, rows, nrows);
}

static void a_step_ends_with_its_last_collective(void)
{
    ROWS("..1.1......2.2......3.3..", "...11.......22.......33..");
    list(2);
    CU_ASSERT_EQUAL(steps[1].ns, 9 * MS);
    CU_ASSERT_EQUAL(steps[2].ns, 9 * MS);
    CU_ASSERT_EQUAL(steps[0].ns, 3 * MS); /* as far as it is known */
    list(20);
    CU_ASSERT_EQUAL(steps[0].ns, 20 * MS); /* marked longer than that */
}

/* What rank 1 has to do behind the last collective of step 2 the others wait for in step 3. */
static void work_behind_the_last_collective_is_of_its_step(void)
{
    ROWS("..1.1......2.2......33333..", "...11.......22..........3..");
    for (size_t i = 0; i < nrows; i++) {
        rows[i].own_step = rows[i].step;
        rows[i].done_ns = rows[i].rank == 1 && rows[i].step == 2 ? 22 * MS : TL_TIME_UNKNOWN;
    }
    list(2);
    CU_ASSERT_EQUAL(steps[1].ns, 17 * MS);
    CU_ASSERT_EQUAL(steps[2].ns, 3 * MS);
    for (size_t i = 0; i < nrows; i++)
        rows[i].own_step++; /* its marks are not those of the job */
    list(2);
    CU_ASSERT_EQUAL(steps[1].ns, 9 * MS);
    CU_ASSERT_EQUAL(steps[2].ns, 11 * MS);
}

static void the_first_step_begins_where_what_was_before_it_ends(void)
{
    ROWS("-.....1.1......2.2......3.3..-", ".-.....11.......22.......33...-");
    list(20);
    CU_ASSERT_EQUAL(steps[0].ns, 7 * MS);
    CU_ASSERT_EQUAL(steps[1].ns, 9 * MS);
}

static void all_have_begun_where_each_is_known_half_a_step_before(void)
{
    ROWS("-.....1.1......2.2......3.3..-", "-......11.......22.......33...-");
    list(20);
    CU_ASSERT_TRUE(begun());
    ROWS("-.....1.1......2.2......3.3..-", "...-...11.......22.......33...-");
    list(20);
    CU_ASSERT_FALSE(begun()); /* the other came 4 ms before */
    ROWS("......1.1......2.2......3.3..-", "......11.......22.......33....-");
    list(20);
    CU_ASSERT_FALSE(begun());
    ROWS("-.....1.1......2.2......3.3..-", "-......11.......22.......33...-");
    list(20);
    for (size_t i = 0; i < nrows; i++)
        rows[i].fits = rows[i].step > 0;
    CU_ASSERT_FALSE(begun()); /* nobody knows whom they met */
}

static void recordings_end_in_turn_where_some_have_more_of_the_last_step(void)
{
    ROWS("......1.1......2.2......3.3..-", ".......1.1.....2.2......3.3...");
    list(20);
    CU_ASSERT_FALSE(tl_job_ends_in_turn(steps, nsteps, rows, nrows));
    ROWS("......1.1......2.2......3.3...", "......1.1......2.2......3.....");
    list(20);
    CU_ASSERT_TRUE(tl_job_ends_in_turn(steps, nsteps, rows, nrows));
    ROWS("......1.1......2.2......3.3...", "......1.1......2.2............");
    list(20);
    CU_ASSERT_TRUE(tl_job_ends_in_turn(steps, nsteps, rows, nrows));
    ROWS("......1.1......2.2......3.3...", "......1.1......2........3.3...");
    list(20);
    CU_ASSERT_FALSE(tl_job_ends_in_turn(steps, nsteps, rows, nrows)); /* not in the last */
    ROWS("......1.1......2.2......3.3...", "......1.1......2.2......3.....");
    list(20);
    for (size_t i = 0; i < nrows; i++)
        rows[i].group = rows[i].rank;
    CU_ASSERT_FALSE(tl_job_ends_in_turn(steps, nsteps, rows, nrows)); /* groups do as much as they like */
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_step_ends_with_its_last_collective),
        TEST(work_behind_the_last_collective_is_of_its_step),
        TEST(the_first_step_begins_where_what_was_before_it_ends),
        TEST(all_have_begun_where_each_is_known_half_a_step_before),
        TEST(recordings_end_in_turn_where_some_have_more_of_the_last_step),
    };
    return unit_main("the steps of a job", tests, COUNT(tests));
}
