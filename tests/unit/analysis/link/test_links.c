/* test_links.c - whose clocks the ends of a slow ring are measured by.
 *
 * Eight ranks of two hosts, whose clocks are 0.3 ms apart, reduce 16 MB in a ring in which the link between 3 and 4 is
 * slow: both are done last, and each behind them 90 us before the one before it.  No trace tells the hosts. */
#include "unit.h"

#include "tlmpi/analysis/link.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/coll_tables.h"

#include <stdlib.h>

enum { RANKS = 8, STEPS = 6, US = 1000, MS = 1000000, A = 3, B = 4, PASS = 90 * US, APART = 300 * US };

static tl_late_row rows[2 * RANKS * STEPS];
static size_t nrows;

static bool each_its_own; /* clock, not one a host */

static int64_t clock_of(int32_t rank)
{
    return each_its_own ? rank * rank * 7 % 11 * APART : rank >= RANKS / 2 ? APART : 0;
}

/* All come within 0.1 ms; what is sent takes ns behind the last, less what is spared. */
static void meet(int32_t step, int64_t at_ns, int64_t ns, int64_t pass_ns, int64_t bytes)
{
    for (int32_t r = 0; r < RANKS; r++) {
        int64_t behind = r == A ? 0 : (r - B + RANKS) % RANKS;
        rows[nrows] = (tl_late_row){ .collective = (int64_t)(nrows / RANKS),
                                     .start_ns = at_ns + r * 10 * US + clock_of(r),
                                     .end_ns = at_ns + 100 * US + ns - behind * pass_ns + clock_of(r),
                                     .rank = r,
                                     .step = step,
                                     .bytes = bytes,
                                     .kind = TL_ALL_REDUCE,
                                     .fits = 1,
                                     .group = 0,
                                     .peer = -1 };
        nrows++;
    }
}

/* The link that is found: the ranks at its ends. */
static void find(bool with_brief, int32_t *rank, int32_t *peer)
{
    static const int32_t ranks[RANKS] = { 0, 1, 2, 3, 4, 5, 6, 7 }, roles[RANKS] = { 0 };
    const tl_schema *const schemas[] = { &tl_clock_schema, &tl_group_row_schema, &tl_slow_link_row_schema };
    tl_job_step steps[STEPS];
    tl_job_links links = { 0 };
    tl_tables tables;
    tl_error err;

    CU_ASSERT_FATAL(tl_tables_init(&tables, schemas, COUNT(schemas)));
    for (int32_t r = 0; r < RANKS; r++) {
        const tl_clock row = { .rank = r };
        CU_ASSERT_FATAL(tl_table_append(tl_tables_get(&tables, &tl_clock_schema), &row, 1));
    }
    nrows = 0;
    for (int32_t s = 0; s < STEPS; s++) {
        steps[s] = (tl_job_step){ s, 10 * MS };
        if (with_brief)
            meet(s, s * 10 * MS, 0, 0, 4);
        meet(s, s * 10 * MS + 5 * MS, 2 * MS, PASS, 16777216);
    }
    const tl_link_job job = { .ranks = ranks, .roles = roles, .nranks = RANKS, .steps = steps, .nsteps = STEPS };
    CU_ASSERT_EQUAL_FATAL(tl_job_links_find(&links, &job, rows, nrows, &tables, &err), TL_OK);
    const tl_table *found = tl_tables_get(&tables, &tl_slow_link_row_schema);
    *rank = *peer = -1;
    if (found->n > 0) {
        const tl_slow_link_row *row = tl_table_row(found, 0);
        *rank = row->rank;
        *peer = row->peer;
        CU_ASSERT_EQUAL(row->evidence, TL_LINK_BY_TAILS);
    }
    tl_job_links_free(&links);
    tl_tables_free(&tables);
}

static void brief_collectives_tell_the_clocks_that_ends_are_measured_by(void)
{
    int32_t rank, peer;
    for (int own = 0; own < 2; own++) {
        each_its_own = own == 1;
        find(true, &rank, &peer);
        CU_ASSERT(rank == A && peer == B);
    }
}

static void without_them_a_ring_tells_where_several_ranks_have_one_clock(void)
{
    int32_t rank, peer;
    each_its_own = false;
    find(false, &rank, &peer);
    CU_ASSERT(rank == A && peer == B);
    each_its_own = true;
    find(false, &rank, &peer);
    CU_ASSERT(rank == -1 && peer == -1);
}

/* Two ranks reduce; in half of the steps it takes three times as long.  How many links are slow, when the job has so many
 * ranks? */
static size_t slow_of_two(int32_t world_size)
{
    static const int32_t ranks[] = { 0, 1 }, roles[] = { 0, 0 };
    const tl_schema *const schemas[] = { &tl_clock_schema, &tl_group_row_schema, &tl_slow_link_row_schema,
                                         &tl_rank_schema };
    enum { OF_STEP = 8 };
    static tl_late_row two[2 * OF_STEP * STEPS];
    tl_job_step steps[STEPS];
    tl_job_links links = { 0 };
    tl_tables tables;
    tl_error err;
    size_t n = 0;

    CU_ASSERT_FATAL(tl_tables_init(&tables, schemas, COUNT(schemas)));
    const tl_group_row group = { .group = 0, .size = -1, .seen = 2, .inferred = 1 };
    CU_ASSERT_FATAL(tl_table_append(tl_tables_get(&tables, &tl_group_row_schema), &group, 1));
    for (int32_t r = 0; r < 2; r++) {
        const tl_rank row = { .rank = r, .world_size = world_size };
        const tl_clock clock = { .rank = r };
        CU_ASSERT_FATAL(tl_table_append(tl_tables_get(&tables, &tl_rank_schema), &row, 1));
        CU_ASSERT_FATAL(tl_table_append(tl_tables_get(&tables, &tl_clock_schema), &clock, 1));
    }
    for (int32_t s = 0; s < STEPS; s++) {
        steps[s] = (tl_job_step){ s, 10 * MS };
        for (int32_t k = 0; k < OF_STEP; k++)
            for (int32_t r = 0; r < 2; r++, n++) {
                int64_t at_ns = s * 10 * MS + k * MS;
                int64_t ns = s >= STEPS / 2 ? 600 * US : 200 * US;
                two[n] = (tl_late_row){ .collective = (int64_t)(n / 2), .start_ns = at_ns + r * 10 * US,
                                        .end_ns = at_ns + 10 * US + ns, .rank = r, .step = s, .bytes = 1 << 20,
                                        .kind = TL_ALL_REDUCE, .fits = 1, .peer = -1 };
            }
    }
    const tl_link_job job = { .ranks = ranks, .roles = roles, .nranks = 2, .steps = steps, .nsteps = STEPS };
    CU_ASSERT_EQUAL_FATAL(tl_job_links_find(&links, &job, two, n, &tables, &err), TL_OK);
    size_t found = tl_tables_get(&tables, &tl_slow_link_row_schema)->n;
    tl_job_links_free(&links);
    tl_tables_free(&tables);
    return found;
}

/* Where nobody says who belongs to a group, a rank without a trace may: what looks slow may wait for it. */
static void nothing_is_said_of_groups_that_may_have_ranks_without_a_trace(void)
{
    CU_ASSERT_EQUAL(slow_of_two(2), 1);
    CU_ASSERT_EQUAL(slow_of_two(-1), 1);
    CU_ASSERT_EQUAL(slow_of_two(3), 0);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(brief_collectives_tell_the_clocks_that_ends_are_measured_by),
        TEST(without_them_a_ring_tells_where_several_ranks_have_one_clock),
        TEST(nothing_is_said_of_groups_that_may_have_ranks_without_a_trace),
    };
    return unit_main("slow links of a job", tests, COUNT(tests));
}
