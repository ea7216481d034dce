/* test_hta_spans.c - HTA's sets of spans. */
#include "hta_trace.h"

static const char *division(const char *text)
{
    const char *table = table_of(tl_hta_temporal_breakdown, "temporal_breakdown.csv", text, NULL, false);
    const char *rows = strchr(table, '\n');
    return rows != NULL ? rows + 1 : table;
}

/*     ts     0         1         2
 *            0123456789012345678901234
 *     7      ....AAAA....BB...........
 *     8      ......CCCCCC.....D.........       D is empty
 *     9      .......F.F.........E.....       within C, which goes on; E is communication
 *
 *     kernel time from 4 to 20, busy 10 + 0 + 1, of which compute 10
 */
#define DRAWN(tail)                                                                                                    \
    TRACE(OP("host", "0", "24") "," KERNEL("B", "7", "2", "12", "2") "," KERNEL("A", "7", "1", "4", "4") "," KERNEL(   \
        "C", "8", "3", "6", "6") "," KERNEL("D", "8", "4", "17", "0") "," KERNEL("F", "9", "6", "7",                   \
                                                                                 "1") "," KERNEL("F", "9", "7", "9",   \
                                                                                                 "1") "," tail)

static void rows_that_overlap_or_touch_are_one_span(void)
{
    CU_ASSERT_STRING_EQUAL(division(DRAWN(KERNEL("nccl", "9", "8", "19", "1"))), "0,5,10,1,16,31.25,62.5,6.25\n");
    /* A row of -1 us from 20 alone ends at 19: it takes 1 us from what is busy. */
    CU_ASSERT_STRING_EQUAL(division(DRAWN(KERNEL("nccl", "9", "8", "18", "1") "," KERNEL("E", "8", "5", "20", "-1"))),
                           "0,5,9,1,15,33.33,60,6.67\n");
}

static const char *overlap(const char *text)
{
    return table_of(tl_hta_comm_comp_overlap, "comm_comp_overlap_unrounded.csv", text, NULL, true);
}

static void overlap_is_where_both_are(void)
{
    /* Communication [0, 4) [6, 10) [20, 30) and compute [2, 7) [8, 9) [11, 21) [29, 40): 2 + 1 + 1 + 1 + 1 of 18 us. */
    CU_ASSERT_STRING_EQUAL(
        overlap(TRACE(KERNEL("nccl", "7", "1", "0", "4") "," KERNEL("nccl", "7", "2", "6", "4") "," KERNEL(
            "nccl", "7", "3", "20",
            "10") "," KERNEL("a", "8", "4", "2", "5") "," KERNEL("a", "8", "5", "8",
                                                                 "1") "," KERNEL("a", "8", "6", "11",
                                                                                 "10") "," KERNEL("a", "8", "7", "29",
                                                                                                  "11"))),
        "rank,comp_comm_overlap_pctg\n0,33.33333333333333\n");
    CU_ASSERT_STRING_EQUAL(overlap(TRACE(KERNEL("nccl", "7", "1", "0", "4"))), "rank,comp_comm_overlap_pctg\n0,0\n");
}

static const unit_test tests[] = {
    TEST(rows_that_overlap_or_touch_are_one_span),
    TEST(overlap_is_where_both_are),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta spans", tests, COUNT(tests));
    scratch_remove();
    return status;
}
