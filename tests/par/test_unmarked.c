/* test_unmarked.c - steps that nobody marks, from what a rank computes between collectives.
 *
 * A digit is a collective, and that many kernels before it; all have one size, and one time between them. */
#include "../../src/job/unmarked.h"
#include "../unit/unit.h"
#include <string.h>

enum { MOST = 128 };

static int32_t step_of[MOST];

/* How many steps are found; those of the collectives are in step_of. */
static size_t number(const char *digits)
{
    static tl_comm comms[MOST];
    static tl_segment segments[MOST];
    static tl_late_row rows[MOST];
    uint32_t n = (uint32_t)strlen(digits);
    size_t nsteps = 99;

    for (uint32_t i = 0; i < n; i++) {
        comms[i] = (tl_comm){ .host = i, .work = TL_NONE, .kernel = i, .segment = i };
        segments[i] = (tl_segment){ .nkernels = (uint32_t)(digits[i] - '0'), .step = -1 };
        rows[i] = (tl_late_row){ .collective = i,
                                 .start_ns = (int64_t)i * 1000,
                                 .end_ns = (int64_t)i * 1000 + 500,
                                 .step = -1,
                                 .uid = i,
                                 .bytes = 64,
                                 .kind = TL_ALL_REDUCE,
                                 .fits = 1 };
    }
    tl_rank_program rank = { .program = { .comms = comms, .ncomms = n, .segments = segments, .nsegments = n } };
    tl_programs programs = { .of = { .v = &rank, .n = 1 } };
    CU_ASSERT_TRUE_FATAL(tl_unmarked_number(rows, n, &programs, &nsteps));
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

static void where_nothing_differs_each_is_a_step(void)
{
    CU_ASSERT_EQUAL(number("222222222222"), 12);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_is_computed_between_equal_collectives_tells_steps),
        TEST(a_kernel_more_makes_no_other_step),
        TEST(the_first_steps_may_do_more),
        TEST(where_nothing_differs_each_is_a_step),
    };
    return unit_main("unmarked", tests, COUNT(tests));
}
