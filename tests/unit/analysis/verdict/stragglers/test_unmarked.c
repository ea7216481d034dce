/* test_unmarked.c - steps that nobody marks, from what a rank computes between collectives.
 *
 * A digit is a collective, and that many kernels before it, which take as long each; all have one size. */
#include "tlmpi/analysis/verdict/stragglers/step.h"
#include "unit.h"
#include <string.h>

enum { MOST = 128 };

static int32_t step_of[MOST];

/* How many steps are found; those of the collectives are in step_of. */
static size_t number(const char *digits)
{
    static tl_node_comm comms[MOST];
    static tl_late_row rows[MOST];
    uint32_t n = (uint32_t)strlen(digits);
    int64_t start_ns = 0;
    size_t nsteps = 99;

    for (uint32_t i = 0; i < n; i++) {
        comms[i] = (tl_node_comm){ .uid = i, .turn = i, .nwork = (uint32_t)(digits[i] - '0') };
        start_ns += 500 + (digits[i] - '0') * 50;
        rows[i] = (tl_late_row){ .collective = i,
                                 .start_ns = start_ns,
                                 .end_ns = start_ns + 500,
                                 .step = -1,
                                 .uid = i,
                                 .bytes = 64,
                                 .kind = TL_ALL_REDUCE,
                                 .fits = 1 };
    }
    tl_rank_graph rank = { .comms = comms, .ncomms = n };
    const tl_rank_graphs graphs = { .of = { .v = &rank, .n = 1 } };
    tl_unmarked_number(rows, n, &graphs, &nsteps);
    for (uint32_t i = 0; i < n; i++)
        step_of[i] = rows[i].step;
    return nsteps;
}

static void what_is_computed_between_equal_collectives_tells_steps(void)
{
    CU_ASSERT_EQUAL(number("922292229222922292229222"), 6);
    for (int32_t i = 1; i < 24; i++)
        CU_ASSERT(step_of[i] == step_of[i - 1] || (step_of[i] == step_of[i - 1] + 1 && i % 4 == 0));
}

static void a_kernel_more_makes_no_other_step(void)
{
    CU_ASSERT_EQUAL(number("922292239222922292239222"), 6); /* it logs every third */
}

static void the_first_steps_may_do_more(void)
{
    size_t n = number("99229222922292229222922292229222");
    CU_ASSERT(n == 7 || n == 8);
    CU_ASSERT_EQUAL(step_of[8] + 1, step_of[12]);
}

/* The longest pause is within a step, as before a long backward pass. */
static void a_recording_of_whole_steps_begins_with_one(void)
{
    CU_ASSERT_EQUAL(number("229222922292"), 3);
    CU_ASSERT(step_of[0] == 0 && step_of[3] == 0 && step_of[4] == 1);
    CU_ASSERT_EQUAL(number("2292229222922"), 2); /* a collective more: steps are told by the pause alone */
    CU_ASSERT(step_of[1] == -1 && step_of[2] == 0 && step_of[6] == 1);
}

static void where_nothing_differs_each_is_a_step(void)
{
    CU_ASSERT_EQUAL(number("222222222222"), 12);
}

/* A pipeline of two stages, a column a micro-batch or a meeting of all: b goes back, f forth, * is met by both.  The
 * pause of the first stage is longest before b, but there it has half a step after it that the other has not begun. */
static void expect_steps_after_all_have_met(const char *line)
{
    static tl_node_comm comms[2][MOST];
    static tl_late_row rows[2 * MOST];
    tl_rank_graph v[2];
    uint32_t n[2] = { 0 }, nrows = 0;
    size_t nsteps = 0;

    for (uint32_t i = 0; line[i] != 0; i++)
        for (int32_t r = 0; r < 2; r++) {
            bool all = line[i] == '*';
            if (line[i] == '.' || (r == 1 && !all))
                continue;
            comms[r][n[r]] = (tl_node_comm){ .uid = i, .turn = n[r] };
            n[r]++;
            rows[nrows++] = (tl_late_row){ .collective = i,
                                           .rank = r,
                                           .start_ns = (int64_t)i * 1000,
                                           .end_ns = (int64_t)i * 1000 + 500,
                                           .step = -1,
                                           .uid = i,
                                           .bytes = 64,
                                           .kind = all ? TL_ALL_REDUCE : line[i] == 'f' ? TL_SEND : TL_RECV,
                                           .fits = 1 };
        }
    for (int32_t r = 0; r < 2; r++)
        v[r] = (tl_rank_graph){ .rank = r, .comms = comms[r], .ncomms = n[r] };
    const tl_rank_graphs graphs = { .of = { .v = v, .n = 2 } };
    tl_unmarked_number(rows, nrows, &graphs, &nsteps);
    for (uint32_t i = 1; i < nrows; i++)
        if (rows[i].collective != rows[i - 1].collective)
            CU_ASSERT_EQUAL(rows[i].step != rows[i - 1].step, rows[i - 1].kind == TL_ALL_REDUCE);
}

static void steps_begin_where_all_have_met(void)
{
    expect_steps_after_all_have_met("ff.bb*ff.bb*ff.bb*ff.bb*");
    expect_steps_after_all_have_met("bb*ff.bb*ff.bb*ff.bb*ff."); /* periods fill the recording, and steps do not */
}

/* -------------------------------------------------------------------------------------------- some ranks mark steps */

enum { WITH, WITHOUT, NRANKS };

/* A line a rank, one that marks steps and one that marks none; a column a collective that the rank is in, by the step
 * of its mark, '?' where it has none, '-' before its first, '.' where it takes no part. */
static tl_late_row met[MOST];
static size_t nmet;

static bool follow(const char *with, const char *without)
{
    static tl_node_comm comms[NRANKS][MOST];
    static tl_rank_graph v[NRANKS];
    const char *const lines[NRANKS] = { with, without };
    const int32_t marked[] = { WITH };
    uint32_t n[NRANKS] = { 0 }, nrows = 0;
    bool follows;

    for (uint32_t i = 0; with[i] != 0; i++)
        for (int32_t r = 0; r < NRANKS; r++) {
            if (lines[r][i] == '.')
                continue;
            int32_t step = with[i] >= '0' && with[i] <= '9' ? with[i] - '0' : -1;
            comms[r][n[r]] = (tl_node_comm){ .uid = i, .turn = n[r] };
            n[r]++;
            met[nrows++] = (tl_late_row){
                .collective = i, .rank = r, .step = step, .own_step = r == WITH ? step : -1, .uid = i, .fits = 1
            };
        }
    for (int32_t r = 0; r < NRANKS; r++)
        v[r] = (tl_rank_graph){ .rank = r, .comms = comms[r], .ncomms = n[r] };
    const tl_rank_graphs graphs = { .of = { .v = v, .n = NRANKS } };
    tl_unmarked_follow(met, nrows, marked, COUNT(marked), &graphs, &follows);
    nmet = nrows;
    return follows;
}

/* The step of the n-th collective that the rank is in. */
static int32_t step_in(int32_t rank, size_t n)
{
    for (size_t i = 0; i < nmet; i++)
        if (met[i].rank == rank && n-- == 0)
            return met[i].step;
    return INT32_MIN;
}

static void a_rank_without_marks_has_the_steps_of_those_it_meets(void)
{
    static const int32_t steps[] = { -1, 4, 4, 5, 5, 6 };
    CU_ASSERT(follow("-44556", "??????"));
    for (size_t i = 0; i < COUNT(steps); i++) {
        CU_ASSERT_EQUAL(step_in(WITHOUT, i), steps[i]);
        CU_ASSERT_EQUAL(step_in(WITH, i), steps[i]);
    }
}

static void what_it_does_without_them_is_of_the_next_step_in_which_it_meets_them(void)
{
    static const int32_t steps[] = { 4, 5, 5, 5, -1 };
    CU_ASSERT(follow("4..5.", "?????"));
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(step_in(WITHOUT, i), steps[i]);
    CU_ASSERT_EQUAL(step_in(WITHOUT, 4), -1); /* after the last of these nobody knows */
}

static void who_meets_nobody_with_marks_has_no_steps(void)
{
    CU_ASSERT_FALSE(follow("44..55", "..??.."));
    CU_ASSERT_EQUAL(step_in(WITHOUT, 0), -1);
    CU_ASSERT_EQUAL(step_in(WITH, 0), 4);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_is_computed_between_equal_collectives_tells_steps),
        TEST(a_kernel_more_makes_no_other_step),
        TEST(the_first_steps_may_do_more),
        TEST(a_recording_of_whole_steps_begins_with_one),
        TEST(where_nothing_differs_each_is_a_step),
        TEST(steps_begin_where_all_have_met),
        TEST(a_rank_without_marks_has_the_steps_of_those_it_meets),
        TEST(what_it_does_without_them_is_of_the_next_step_in_which_it_meets_them),
        TEST(who_meets_nobody_with_marks_has_no_steps),
    };
    return unit_main("unmarked", tests, COUNT(tests));
}
