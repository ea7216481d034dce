/* test_hta_stragglers.c - the ranks that HTA takes for stragglers. */
#include "hta_table.h"

#define TABLE "potential_stragglers.csv"
#define NOTE  "potential_stragglers: all ranks: "

/* Step 3 at [0, 100), and what the text says; step 4, which is cut off. */
#define RANK(more) TRACE(OP("x", "0", "1") "," STEP("3", "0", "100") "," more "," STEP("4", "100", "10"))
#define ALL(n, corr, name, stream, ts, dur) LAUNCH(corr, n, "1") "," KERNEL(name, stream, corr, ts, dur)

/*     0    ....[ A      ]..[ B   ]..         A: 40 and 20, B: 20 and 18
 *     1    .........[ A ]....[ B ]..
 */
static void the_collective_whose_durations_scatter_most_decides(void)
{
    CU_ASSERT_STRING_EQUAL(make(tl_hta_potential_stragglers,
                                RANK(ALL("1", "1", "ncclKernel_A", "7", "10", "40") "," ALL("2", "2", "ncclKernel_B", "7", "60", "20")),
                                RANK(ALL("1", "1", "ncclKernel_A", "7", "30", "20") "," ALL("2", "2", "ncclKernel_B", "7", "62", "18"))),
                           "");
    CU_ASSERT_STRING_EQUAL(text_of_table(TABLE), "rank,count,stream,name,mean_std\n"
                                                 "0,1,7,ncclKernel_A,0.14142135623730953\n"
                                                 "1,1,7,ncclKernel_A,0.14142135623730953\n");
}

/* A straggler's own kernel is short, so that an earlier one counts: 30 and 10 are compared, not 30 and 0. */
static void a_kernel_below_a_hundredth_of_a_step_is_none(void)
{
    make(tl_hta_potential_stragglers, RANK(ALL("1", "1", "ncclKernel_A", "7", "10", "30")),
         RANK(ALL("1", "1", "ncclKernel_A", "7", "10", "10") "," ALL("50", "2", "ncclKernel_A", "7", "60", "0")));
    CU_ASSERT_STRING_EQUAL(rows_of(TABLE), "0,1,7,ncclKernel_A,0.1414213562373095\n1,1,7,ncclKernel_A,0.1414213562373095\n");
}

/* The last row of a rank is not the one that starts last. */
static void rows_count_in_the_order_of_the_file(void)
{
    make(tl_hta_potential_stragglers, RANK(ALL("1", "1", "ncclKernel_A", "7", "10", "30")),
         RANK(ALL("50", "2", "ncclKernel_A", "7", "60", "30") "," ALL("1", "1", "ncclKernel_A", "7", "10", "10")));
    CU_ASSERT_STRING_EQUAL(rows_of(TABLE), "0,1,7,ncclKernel_A,0.1414213562373095\n1,1,7,ncclKernel_A,0.1414213562373095\n");
}

static void what_hta_stumbles_over_is_told(void)
{
    const char *a = RANK(ALL("1", "1", "ncclKernel_A", "7", "10", "30"));
    CU_ASSERT_STRING_EQUAL(make(tl_hta_potential_stragglers, a, NULL), NOTE "there is a single rank; HTA gives up\n");
    CU_ASSERT_STRING_EQUAL(text_of_table(TABLE), "(no file)");
    CU_ASSERT_STRING_EQUAL(make(tl_hta_potential_stragglers, a, RANK(ALL("1", "1", "ncclKernel_A", "8", "10", "30"))),
                           NOTE "no long ncclKernel is on two ranks; HTA gives up\n");
    CU_ASSERT_STRING_EQUAL(make(tl_hta_potential_stragglers, RANK(ALL("1", "1", "ncclDevKernel_A", "7", "10", "30")),
                                RANK(ALL("1", "1", "ncclKernel_A", "0", "10", "30"))),
                           NOTE "no ncclKernel is as long as 1 % of a step; HTA gives up\n");
    CU_ASSERT_STRING_EQUAL(
        make(tl_hta_potential_stragglers, TRACE(ALL("1", "1", "ncclKernel_A", "7", "10", "30")), NULL),
        NOTE "no profiler step is left, or none that is asked for; HTA gives up\n");
}

/* In step 3 both are there, in step 5 one alone. */
static void a_step_with_fewer_ranks_than_candidates_ends_it(void)
{
#define BOTH ALL("1", "1", "ncclKernel_A", "7", "10", "30") "," STEP("5", "100", "100")
    CU_ASSERT_STRING_EQUAL(make(tl_hta_potential_stragglers,
                                TRACE(STEP("3", "0", "100") "," BOTH "," ALL("101", "2", "ncclKernel_A", "7", "110", "30") ","
                                      STEP("6", "200", "10")),
                                TRACE(STEP("3", "0", "100") "," BOTH "," STEP("6", "200", "10"))),
                           NOTE "in a step there are fewer ranks with the kernel than candidates are asked for; HTA gives up\n");
}

static const unit_test tests[] = {
    TEST(the_collective_whose_durations_scatter_most_decides),
    TEST(a_kernel_below_a_hundredth_of_a_step_is_none),
    TEST(rows_count_in_the_order_of_the_file),
    TEST(what_hta_stumbles_over_is_told),
    TEST(a_step_with_fewer_ranks_than_candidates_ends_it),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta stragglers", tests, COUNT(tests));
    scratch_remove();
    return status;
}
