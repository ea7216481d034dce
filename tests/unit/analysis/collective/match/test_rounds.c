/* test_rounds.c - rows of ranks against a reference, in rounds. */
#include "tlmpi/analysis/collective/match.h"
#include "unit.h"

enum { MS = 1000000, MOST = 64 };

static tl_align_item items[MOST];
static size_t nitems;

/* One of group 0 that ends then; key 0: it is open. */
static void ends(int32_t rank, int64_t ms, uint64_t key)
{
    items[nitems] = (tl_align_item){ .key = key,
                                     .lone = 1000 + nitems,
                                     .end_ns = ms * MS,
                                     .bytes = 8 * ms,
                                     .rank = rank,
                                     .peer = TL_NO_PEER,
                                     .uid = (uint32_t)nitems,
                                     .kind = TL_ALL_REDUCE };
    nitems++;
}

/* The key of the rank's item that ends then. */
static uint64_t key_of(int32_t rank, int64_t ms)
{
    for (size_t i = 0; i < nitems; i++)
        if (items[i].rank == rank && items[i].end_ns == ms * MS)
            return items[i].key;
    CU_FAIL("no item ends then");
    return 0;
}

/* Rank 1 has most keys, and is the reference; rank 0 has only open ones, rank 2 one that neither has: that stays open. */
static void those_without_a_key_take_that_of_the_reference(void)
{
    nitems = 0;
    for (int64_t ms = 10; ms < 60; ms += 10) {
        ends(0, ms, 0);
        ends(1, ms, ms == 30 ? 0 : (uint64_t)ms);
    }
    ends(2, 77, 0);
    tl_rows_align(items, nitems);
    for (int64_t ms = 10; ms < 60; ms += 10) {
        CU_ASSERT(ms == 30 ? key_of(1, ms) >= 1000 : key_of(1, ms) == (uint64_t)ms); /* its own where it was open */
        CU_ASSERT_EQUAL(key_of(0, ms), key_of(1, ms));
    }
    CU_ASSERT_EQUAL(key_of(2, 77), 0);
}

/* What the first reference has not, two others may have in common: the reference is the one of them with most, of equals
 * the lower rank. */
static void the_next_reference_has_most_that_are_open(void)
{
    nitems = 0;
    for (int64_t ms = 10; ms < 60; ms += 10) {
        ends(0, ms, (uint64_t)ms);
        ends(1, ms + 3, 0);
        ends(2, ms + 3, 0);
    }
    tl_rows_align(items, nitems);
    for (int64_t ms = 10; ms < 60; ms += 10) {
        CU_ASSERT_EQUAL(key_of(0, ms), (uint64_t)ms);
        CU_ASSERT_EQUAL(key_of(1, ms + 3), 1001 + 3 * (uint64_t)(ms / 10 - 1)); /* its own */
        CU_ASSERT_EQUAL(key_of(2, ms + 3), key_of(1, ms + 3));
    }
}

/* What one group has says nothing to another. */
static void groups_are_apart(void)
{
    nitems = 0;
    for (int64_t ms = 10; ms < 60; ms += 10) {
        ends(0, ms, (uint64_t)ms);
        ends(1, ms, 0);
        items[nitems - 1].group = 1;
    }
    tl_rows_align(items, nitems);
    for (int64_t ms = 10; ms < 60; ms += 10)
        CU_ASSERT_EQUAL(key_of(1, ms), 0);
}

static const unit_test tests[] = {
    TEST(those_without_a_key_take_that_of_the_reference),
    TEST(the_next_reference_has_most_that_are_open),
    TEST(groups_are_apart),
};

int main(void)
{
    return unit_main("rounds", tests, COUNT(tests));
}
