/* test_clock_lsq.c - values of clocks and groups that fit best what lies between them. */
#include "src/analysis/clock/lsq.h"
#include "tlmpi/base/mem.h"
#include "unit.h"
#include <string.h>

static void edges_around_a_ring_meet_in_the_middle(void)
{
    /* Clocks 0, 1, 2; three groups of two.  Each pair says 10, 10 and -17: the 3 too many are shared out. */
    static const struct {
        int32_t clock, group;
        double value;
    } edges[] = { { 0, 0, 0 }, { 1, 0, 10 }, { 1, 1, 0 }, { 2, 1, 10 }, { 2, 2, 0 }, { 0, 2, -17 } };
    tl_lsq s;
    CU_ASSERT_FATAL(tl_lsq_make(&s, 6, 3, 3));
    for (size_t e = 0; e < 6; e++) {
        s.clock[e] = edges[e].clock;
        s.group[e] = edges[e].group;
        s.value[e] = edges[e].value;
        s.weight[e] = 5;
    }
    tl_lsq_solve(&s);
    CU_ASSERT_DOUBLE_EQUAL(s.x[1] - s.x[0], 9, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.x[2] - s.x[0], 18, 1e-9);
    tl_lsq_free(&s);
}

/* Whichever of its twelve arrays is not to be had. */
static void equations_without_memory_are_none(void)
{
    for (size_t n = 1; n <= 12; n++) {
        tl_lsq s;
        tl_mem_fail_after(n);
        CU_ASSERT_FALSE(tl_lsq_make(&s, 6, 3, 3));
        tl_mem_fail_after(0);
        tl_lsq_free(&s);
    }
}

static void what_no_group_connects_is_another_component(void)
{
    tl_lsq s;
    int32_t component[5 + 2];
    CU_ASSERT_FATAL(tl_lsq_make(&s, 5, 5, 2));
    static const int32_t clocks[] = { 0, 3, 1, 4, 2 }, groups[] = { 0, 0, 1, 1, 1 };
    for (size_t e = 0; e < 5; e++) {
        s.clock[e] = clocks[e];
        s.group[e] = groups[e];
        s.value[e] = (double)e * 7;
        s.weight[e] = e == 4 ? 0 : 1; /* an edge without weight connects nothing */
    }
    tl_lsq_components(&s, component);
    static const int32_t wanted[] = { 0, 1, 2, 0, 1 };
    CU_ASSERT_EQUAL(memcmp(component, wanted, sizeof wanted), 0);
    tl_lsq_solve(&s);
    CU_ASSERT_DOUBLE_EQUAL(s.x[3] - s.x[0], 7, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.x[4] - s.x[1], 7, 1e-9);
    CU_ASSERT_EQUAL(s.x[2], 0);
    tl_lsq_free(&s);
}

/* A chain of a thousand clocks, neighbours 1 ms apart: the errors of a solver would add up. */
static void a_long_chain_is_exact(void)
{
    enum { N = 1000 };
    tl_lsq s;
    CU_ASSERT_FATAL(tl_lsq_make(&s, 2 * (N - 1), N, N - 1));
    for (int32_t g = 0; g < N - 1; g++)
        for (int32_t k = 0; k < 2; k++) {
            s.clock[2 * g + k] = g + k;
            s.group[2 * g + k] = g;
            s.value[2 * g + k] = k == 1 ? 1e6 : 0;
            s.weight[2 * g + k] = 100;
        }
    tl_lsq_solve(&s);
    CU_ASSERT_DOUBLE_EQUAL(s.x[N - 1] - s.x[0], (N - 1) * 1e6, 0.4);
    tl_lsq_free(&s);
}

static const unit_test tests[] = {
    TEST(edges_around_a_ring_meet_in_the_middle),
    TEST(equations_without_memory_are_none),
    TEST(what_no_group_connects_is_another_component),
    TEST(a_long_chain_is_exact),
};

int main(void)
{
    return unit_main("clock lsq", tests, COUNT(tests));
}
