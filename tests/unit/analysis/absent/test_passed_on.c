/* test_passed_on.c - whether ranks without a trace pass on what nobody sees. */
#include "unit.h"

#include "tlmpi/analysis/absent.h"
#include "tlmpi/model/coll_tables.h"

#include <stdio.h>

typedef struct group {
    const char *ranks;
    int32_t size, seen;
    int64_t pairs;
} group;

static bool unseen(const group *v, size_t n)
{
    tl_table groups = { .schema = &tl_group_row_schema };
    for (size_t i = 0; i < n; i++) {
        tl_group_row row = { .group = (int32_t)i, .size = v[i].size, .seen = v[i].seen, .pairs = v[i].pairs };
        snprintf(row.ranks, sizeof row.ranks, "%s", v[i].ranks);
        CU_ASSERT_FATAL(tl_table_append(&groups, &row, 1));
    }
    bool found = tl_passed_on_unseen(&groups);
    tl_table_free(&groups);
    return found;
}

static void who_is_met_in_one_group_passes_nothing_on_that_others_do_not(void)
{
    static const group all[] = { { "0-7", 8, 8, 9 }, { "0-3", 4, 4, 0 }, { "4-7", 4, 4, 0 } };
    static const group one[] = { { "0-7", 8, 6, 0 } };
    static const group twice[] = { { "0-7", 8, 6, 0 }, { "0,1", 2, 2, 0 }, { "0-7", 8, 6, 0 } };
    CU_ASSERT_FALSE(unseen(all, COUNT(all)));
    CU_ASSERT_FALSE(unseen(one, COUNT(one)));
    CU_ASSERT_FALSE(unseen(twice, COUNT(twice)));
}

static void who_is_met_in_several_groups_or_messages_may(void)
{
    static const group grid[] = { { "0,1", 2, 1, 0 }, { "2,3", 2, 2, 0 }, { "0,2", 2, 2, 0 }, { "1,3", 2, 1, 0 } };
    static const group sent[] = { { "0-3", 4, 3, 12 } };
    static const group nameless[] = { { "", 300, 299, 0 }, { "", 300, 299, 0 } };
    CU_ASSERT(unseen(grid, COUNT(grid)));
    CU_ASSERT(unseen(sent, COUNT(sent)));
    CU_ASSERT(unseen(nameless, COUNT(nameless)));
}

static const unit_test tests[] = {
    TEST(who_is_met_in_one_group_passes_nothing_on_that_others_do_not),
    TEST(who_is_met_in_several_groups_or_messages_may),
};

int main(void)
{
    return unit_main("passed_on", tests, COUNT(tests));
}
