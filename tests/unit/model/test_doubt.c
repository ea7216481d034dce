/* test_doubt.c - sets of doubts as texts, and back. */
#include "tlmpi/model/doubt.h"
#include "unit.h"

#include <string.h>

static void a_set_is_a_text_and_back(void)
{
    char cell[256];
    tl_doubts_text(1u << TL_DOUBT_FEW_STEPS | 1u << TL_DOUBT_CHANCE, cell, sizeof cell);
    CU_ASSERT_STRING_EQUAL(cell, "few_steps chance");
    CU_ASSERT_EQUAL(tl_doubts_of_text(cell, sizeof cell), 1u << TL_DOUBT_FEW_STEPS | 1u << TL_DOUBT_CHANCE);
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++) {
        tl_doubts_text(1u << doubt, cell, sizeof cell);
        CU_ASSERT_STRING_EQUAL(cell, tl_doubt_labels[doubt]);
        CU_ASSERT_EQUAL(tl_doubts_of_text(cell, sizeof cell), 1u << doubt);
    }
    tl_doubts_text(0, cell, sizeof cell);
    CU_ASSERT_STRING_EQUAL(cell, "");
    CU_ASSERT_EQUAL(tl_doubts_of_text(cell, sizeof cell), 0);
}

/* All that may speak against one answer at once: of those that exclude each other the longer. */
static void what_may_come_together_fits_a_cell(void)
{
    const unsigned all = ~0u >> (32 - TL_NDOUBTS),
                   never = 1u << TL_DOUBT_ONE_STEP | 1u << TL_DOUBT_CHANCE | 1u << TL_DOUBT_ELSEWHERE | 1u << TL_DOUBT_COMM_UNKNOWN |
                           1u << TL_DOUBT_CLOCKS | 1u << TL_DOUBT_NOT_REPLAYED | 1u << TL_DOUBT_GAIN | 1u << TL_DOUBT_HALF |
                           1u << TL_DOUBT_OTHER_STAGES | 1u << TL_DOUBT_ENDS |
                           1u << TL_DOUBT_MIXED | 1u << TL_DOUBT_UNKNOWN | 1u << TL_DOUBT_NO_PLACE |
                           1u << TL_DOUBT_CHARGES | 1u << TL_DOUBT_NO_VERDICT;
    char cell[256];
    tl_doubts_text(all & ~never, cell, sizeof cell);
    CU_ASSERT_EQUAL(tl_doubts_of_text(cell, sizeof cell), all & ~never);
}

/* The cell is full: nothing ends it. */
static void what_does_not_fit_is_left_out_whole(void)
{
    char cell[16];
    tl_doubts_text(1u << TL_DOUBT_FEW_STEPS | 1u << TL_DOUBT_CHANCE | 1u << TL_DOUBT_HIDDEN, cell, sizeof cell);
    CU_ASSERT_NSTRING_EQUAL(cell, "few_steps chance", 16);
    CU_ASSERT_EQUAL(tl_doubts_of_text(cell, sizeof cell), 1u << TL_DOUBT_FEW_STEPS | 1u << TL_DOUBT_CHANCE);
}

static void what_is_no_doubt_is_left_out(void)
{
    CU_ASSERT_EQUAL(tl_doubts_of_text("chances few_step  clocks ", 25), 1u << TL_DOUBT_CLOCKS);
}

static const unit_test tests[] = {
    TEST(a_set_is_a_text_and_back),
    TEST(what_may_come_together_fits_a_cell),
    TEST(what_does_not_fit_is_left_out_whole),
    TEST(what_is_no_doubt_is_left_out),
};

int main(void)
{
    return unit_main("doubt", tests, COUNT(tests));
}
