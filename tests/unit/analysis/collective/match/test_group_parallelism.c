/* test_group_parallelism.c - what a process group divides among its ranks, by its description and its collectives. */
#include "tlmpi/analysis/collective/match.h"
#include "unit.h"

#include <stdio.h>

static int of(const char *description, int64_t collectives, int64_t pairs)
{
    tl_group_row row = { .collectives = collectives, .pairs = pairs };
    snprintf(row.description, sizeof row.description, "%s", description);
    return (int)tl_group_parallelism(&row, 8);
}

static void descriptions_of_frameworks_are_known(void)
{
    CU_ASSERT_EQUAL(of("default_pg", 10, 0), TL_PARALLEL_WORLD);
    CU_ASSERT_EQUAL(of("mesh_tp", 10, 0), TL_PARALLEL_TENSOR);
    CU_ASSERT_EQUAL(of("mesh_dp_shard", 10, 0), TL_PARALLEL_DATA);
    CU_ASSERT_EQUAL(of("mesh_pp", 10, 0), TL_PARALLEL_PIPELINE);
    CU_ASSERT_EQUAL(of("TENSOR_MODEL_PARALLEL_GROUP", 10, 0), TL_PARALLEL_TENSOR);
    CU_ASSERT_EQUAL(of("EXPERT_MODEL_PARALLEL_GROUP", 10, 0), TL_PARALLEL_EXPERT);
    CU_ASSERT_EQUAL(of("CONTEXT_PARALLEL_GROUP", 10, 0), TL_PARALLEL_CONTEXT);
    CU_ASSERT_EQUAL(of("tp2", 10, 0), TL_PARALLEL_TENSOR);
}

static void of_two_words_the_one_that_divides_counts(void)
{
    CU_ASSERT_EQUAL(of("EXPERT_DATA_PARALLEL_GROUP", 10, 0), TL_PARALLEL_DATA);
    CU_ASSERT_EQUAL(of("EXPERT_TENSOR_PARALLEL_GROUP", 10, 0), TL_PARALLEL_TENSOR);
    CU_ASSERT_EQUAL(of("DATA_PARALLEL_GROUP_WITH_CP", 10, 0), TL_PARALLEL_DATA);
    CU_ASSERT_EQUAL(of("mesh_dp_shard_cp", 10, 0), TL_PARALLEL_DATA);
    CU_ASSERT_EQUAL(of("TENSOR_AND_CONTEXT_PARALLEL_GROUP", 10, 0), TL_PARALLEL_UNKNOWN);
}

static void words_within_words_mean_nothing(void)
{
    CU_ASSERT_EQUAL(of("", 10, 0), TL_PARALLEL_UNKNOWN);
    CU_ASSERT_EQUAL(of("undefined", 10, 0), TL_PARALLEL_UNKNOWN);
    CU_ASSERT_EQUAL(of("stepping", 10, 0), TL_PARALLEL_UNKNOWN);
    CU_ASSERT_EQUAL(of("a_description_of_some_database_or_other", 10, 0), TL_PARALLEL_UNKNOWN);
}

static void who_only_sends_and_receives_is_a_pipeline(void)
{
    CU_ASSERT_EQUAL(of("undefined", 10, 10), TL_PARALLEL_PIPELINE);
    CU_ASSERT_EQUAL(of("undefined", 10, 9), TL_PARALLEL_UNKNOWN);
    CU_ASSERT_EQUAL(of("mesh_cp", 10, 10), TL_PARALLEL_CONTEXT); /* a ring of attention */
    CU_ASSERT_EQUAL(of("", 0, 0), TL_PARALLEL_UNKNOWN);
}

static void a_group_of_all_ranks_is_the_world(void)
{
    tl_group_row row = { .collectives = 10, .size = 8, .seen = 3 };

    CU_ASSERT_EQUAL(tl_group_parallelism(&row, 8), TL_PARALLEL_WORLD);
    CU_ASSERT_EQUAL(tl_group_parallelism(&row, 16), TL_PARALLEL_UNKNOWN);
    row.size = -1; /* inferred: those seen */
    CU_ASSERT_EQUAL(tl_group_parallelism(&row, 8), TL_PARALLEL_UNKNOWN);
    row.seen = 8;
    CU_ASSERT_EQUAL(tl_group_parallelism(&row, 8), TL_PARALLEL_WORLD);
    row.pairs = 10;
    CU_ASSERT_EQUAL(tl_group_parallelism(&row, 8), TL_PARALLEL_PIPELINE);
    row = (tl_group_row){ .size = 8, .collectives = 1, .description = "mesh_tp" };
    CU_ASSERT_EQUAL(tl_group_parallelism(&row, 8), TL_PARALLEL_TENSOR);
    row = (tl_group_row){ .size = 1, .collectives = 1 };
    CU_ASSERT_EQUAL(tl_group_parallelism(&row, 1), TL_PARALLEL_UNKNOWN);
    CU_ASSERT_EQUAL(tl_group_parallelism(&(tl_group_row){ .size = -1 }, 0), TL_PARALLEL_UNKNOWN);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(descriptions_of_frameworks_are_known),
        TEST(of_two_words_the_one_that_divides_counts),
        TEST(words_within_words_mean_nothing),
        TEST(who_only_sends_and_receives_is_a_pipeline),
        TEST(a_group_of_all_ranks_is_the_world),
    };
    return unit_main("group_parallelism", tests, COUNT(tests));
}
