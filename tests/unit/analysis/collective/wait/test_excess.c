/* test_excess.c - what a rank had more of than the others. */
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/stats.h"
#include "unit.h"

/* The way that needs no thought: all but one in order. */
static int64_t surplus_by_hand(const tl_activity_ns *activities, size_t n, size_t of)
{
    int64_t sum = 0;
    for (int part = 0; part < TL_NACTIVITIES; part++) {
        int64_t others[16];
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (i != of)
                others[m++] = activities[i].ns[part];
        int64_t over = activities[of].ns[part] - tl_median(others, m);
        sum += over > 0 ? over : 0;
    }
    return sum;
}

static void surplus_is_over_the_median_of_the_others(void)
{
    tl_activity_ns activities[4] = {
        { { 100, 0, 0, 5, 10 } }, { { 110, 0, 0, 50, 10 } }, { { 180, 0, 0, 7, 40 } }, { { 100, 3, 0, 6, 10 } }
    };
    uint16_t share[TL_NACTIVITIES];
    int64_t scratch[16];
    tl_middles middles;
    tl_middles_find(&middles, activities, 4, sizeof *activities, scratch);
    CU_ASSERT_EQUAL(tl_excess_by_activity(&middles, &activities[2], share), 111);
    CU_ASSERT_EQUAL(share[TL_ACTIVITY_COMPUTE], 80 * TL_SHARE_ONE / 111); /* 180 over 100; 7 over 6; 40 over 10 */
    CU_ASSERT_EQUAL(share[TL_ACTIVITY_COMM], 1 * TL_SHARE_ONE / 111);
    CU_ASSERT_EQUAL(share[TL_ACTIVITY_HOST], 30 * TL_SHARE_ONE / 111);
    tl_middles_find(&middles, activities, 2, sizeof *activities, scratch);
    CU_ASSERT_EQUAL(tl_excess_by_activity(&middles, &activities[0], share), 0);
    for (int p = 0; p < TL_NACTIVITIES; p++)
        CU_ASSERT_EQUAL(share[p], 0);
    tl_middles_find(&middles, activities, 1, sizeof *activities, scratch);
    CU_ASSERT_EQUAL(tl_excess_by_activity(&middles, &activities[0], share), 0);

    uint32_t chance = 7; /* many drawn ones, equals among them */
    for (size_t n = 2; n <= 16; n++) {
        tl_activity_ns drawn[16] = { 0 };
        for (size_t i = 0; i < n; i++)
            for (int p = 0; p < 3; p++) {
                chance = chance * 1664525 + 1013904223;
                drawn[i].ns[p] = (int64_t)(chance >> 24) % (p == 0 ? 3 : 200);
            }
        tl_middles_find(&middles, drawn, n, sizeof *drawn, scratch);
        for (size_t i = 0; i < n; i++)
            CU_ASSERT_EQUAL(tl_excess_by_activity(&middles, &drawn[i], share), surplus_by_hand(drawn, n, i));
    }
}

static const unit_test tests[] = {
    TEST(surplus_is_over_the_median_of_the_others),
};

int main(void)
{
    return unit_main("surplus", tests, COUNT(tests));
}
