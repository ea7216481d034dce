/* test_groups_infer.c - which ranks form a group where nobody says so: those whose collectives end together. */
#include "group_job.h"

/* The k-th collective of a rank ended then. */
static void saw(int32_t membership, uint64_t item, int64_t end_ns)
{
    j.seen[j.nseen++] =
        (tl_sighting){ .item = item, .start_ns = end_ns - 50000000, .end_ns = end_ns, .membership = membership };
}

/* Four ranks of an inferred group: 0 and 2 end together, 1 and 3 do, at other times.  Clocks may be apart. */
static void those_who_do_not_end_together_are_parted(void)
{
    static const int64_t clock[] = { 0, 0, 5000000000, -70000 };
    begin();
    for (int32_t r = 0; r < 4; r++) {
        member(r, 900, "")->inferred = 1;
        j.m[r].size = -1;
        for (uint64_t k = 1; k <= 10; k++)
            saw(r, k, (int64_t)k * 10000000 + clock[r] + (r % 2 == 1 ? (int64_t)(k * k % 7) * 1000000 : 0) + r * 9000);
    }
    decide();
    CU_ASSERT_EQUAL_FATAL(j.groups.n, 2);
    CU_ASSERT_EQUAL(j.fates[0].group, j.fates[2].group);
    CU_ASSERT_EQUAL(j.fates[1].group, j.fates[3].group);
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, "0,2");
    CU_ASSERT_EQUAL(group(0)->size, -1);
    CU_ASSERT_EQUAL(group(0)->seen, 2);
}

/* Pairs that end nearly together; but now and then 2 and 3 come when 0 and 1 have left. */
static void who_comes_when_others_have_left_is_of_another_group(void)
{
    for (int missing = 0; missing < 2; missing++) {
        begin();
        for (int32_t r = 0; r < 4; r++) {
            member(r, 900, "")->inferred = 1;
            for (uint64_t k = 1; k <= 20; k++) {
                int64_t late = r / 2 * (int64_t)(k % 4) * 60000;
                saw(r, k, (int64_t)k * 10000000 + late + r * 3000);
                j.seen[j.nseen - 1].start_ns = j.seen[j.nseen - 1].end_ns - (missing && k % 4 == 3 ? 30000 : 400000);
            }
        }
        decide();
        CU_ASSERT_EQUAL_FATAL(j.groups.n, missing ? 2 : 1);
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, missing ? "0,1" : "0-3");
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[2].group)->ranks, missing ? "2,3" : "0-3");
        tl_table_free(&j.groups);
    }
}

/* Ranks 0 and 1 are one stage of a pipeline, 2 and 3 the next: each reduces its gradients, always 12 ms after the
 * other, and then all do something together.  The hosts' clocks are 3 ms apart. */
static void stages_that_are_always_the_same_time_apart_are_no_group(void)
{
    begin();
    for (int32_t r = 0; r < 4; r++) {
        member(r, 900, "")->inferred = 1;
        for (uint64_t k = 1; k <= 10; k++)
            saw(2 * r, k, (int64_t)k * 50000000 + r / 2 * (3000000 - 12000000 + (int64_t)(k * k % 5) * 30000));
        member(r, 901, "")->inferred = 1;
        for (uint64_t k = 1; k <= 10; k++)
            saw(2 * r + 1, k, (int64_t)k * 50000000 + 4000000 + r / 2 * 3000000 + r * 4000);
    }
    decide();
    CU_ASSERT_EQUAL_FATAL(j.groups.n, 3);
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, "0,1");
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[4].group)->ranks, "2,3");
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[1].group)->ranks, "0-3");
    for (size_t i = 0; i < j.nseen; i++) /* without what they do together nobody would know */
        if (j.seen[i].membership % 2 == 1)
            j.seen[i].item = 1000 + (uint64_t)j.seen[i].membership * 100 + i;
    tl_table_free(&j.groups);
    decide();
    CU_ASSERT_EQUAL(j.fates[0].group, j.fates[4].group);
}

/* Four pairs reduce in step with each other: all end within some 30 us, each pair within one.  When all reduce the norm
 * they end within one: it is not the clocks; stages may reduce theirs apart.  Where they never do that, the pairs may be
 * hosts.  In a ring each is steady with the one before it and the one after. */
static void groups_in_step_are_told_by_how_steadily_they_end(void)
{
    enum { TOLD, STAGES, NO_NORM, RING, CASES };
    for (int what = 0; what < CASES; what++) {
        begin();
        for (int32_t r = 0; r < 8; r++) {
            member(r, 900, "")->inferred = 1;
            for (uint64_t k = 1; k <= 20; k++) {
                int64_t pair = (int64_t)(k * (uint64_t)(r / 2 * 7 + 3) * 2654435761U >> 8 & 63) * 1000;
                int64_t place = (int64_t)(k * 40503U >> 4 & 31) * 1000 * r;
                saw(2 * r, k, (int64_t)k * 10000000 + (what == RING ? place : pair) + r % 2 * 12000);
            }
            member(r, 901, "")->inferred = 1;
            for (uint64_t k = 1; k <= 10; k++)
                saw(2 * r + 1, what == NO_NORM ? 1000 + (uint64_t)r * 100 + k : k,
                    (int64_t)k * 20000000 + r * 500 + (what == STAGES ? r / 4 * (int64_t)(k * 40503U >> 4 & 7) * 1000000 : 0));
        }
        decide();
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, what <= STAGES ? "0,1" : "0-7");
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[14].group)->ranks, what <= STAGES ? "6,7" : "0-7");
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[1].group)->ranks, what == STAGES ? "0-3" : "0-7");
        tl_table_free(&j.groups);
    }
}

static void two_collectives_in_common_contradict_nothing(void)
{
    begin();
    for (int32_t r = 0; r < 2; r++) {
        member(r, 900, "")->inferred = 1;
        for (uint64_t k = 1; k <= 4; k++)
            if (k <= 2 || r == 0)
                saw(r, k, (int64_t)k * 10000000 + r * (int64_t)k * 1000000);
    }
    decide();
    CU_ASSERT_EQUAL(j.groups.n, 1);
    CU_ASSERT_STRING_EQUAL(group(0)->ranks, "0,1");
}

static void an_outlier_does_not_part_a_group(void)
{
    begin();
    for (int32_t r = 0; r < 2; r++) {
        member(r, 900, "")->inferred = 1;
        for (uint64_t k = 1; k <= 9; k++)
            saw(r, k, (int64_t)k * 10000000 + (r == 1 && k % 3 == 0 ? 4000000 : 0));
    }
    decide();
    CU_ASSERT_EQUAL(j.groups.n, 1);
}

/* Eight ranks that end together; the clock of the second half is set back by 2 ms when a third has been recorded.  Where
 * another group of the same ranks ends together all the time, it is no clock that steps. */
static void a_clock_that_steps_does_not_part_a_group(void)
{
    for (int steady = 0; steady < 2; steady++) {
        begin();
        for (int32_t r = 0; r < 8; r++) {
            member(r, 900, "")->inferred = 1;
            for (uint64_t k = 1; k <= 30; k++)
                saw((int32_t)j.n - 1, k,
                    (int64_t)k * 10000000 + (r >= 4 && k > 10 ? -2000000 : 0) + (int64_t)(k * 7 + (uint64_t)r) % 5 * 2000);
            if (!steady)
                continue;
            member(r, 901, "")->inferred = 1;
            for (uint64_t k = 1; k <= 30; k++)
                saw((int32_t)j.n - 1, k, (int64_t)k * 10000000 + 5000000 + (int64_t)(k * 3 + (uint64_t)r) % 5 * 1000);
        }
        decide();
        CU_ASSERT_EQUAL_FATAL(j.groups.n, steady ? 3 : 1);
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, steady ? "0-3" : "0-7");
        tl_table_free(&j.groups);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(those_who_do_not_end_together_are_parted),
        TEST(who_comes_when_others_have_left_is_of_another_group),
        TEST(groups_in_step_are_told_by_how_steadily_they_end),
        TEST(stages_that_are_always_the_same_time_apart_are_no_group),
        TEST(two_collectives_in_common_contradict_nothing),
        TEST(an_outlier_does_not_part_a_group),
        TEST(a_clock_that_steps_does_not_part_a_group),
    };
    int failed = unit_main("groups_infer", tests, COUNT(tests));
    tl_table_free(&j.groups);
    free(j.facts);
    return failed;
}
