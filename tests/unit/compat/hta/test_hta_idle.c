/* test_hta_idle.c - why streams were idle. */
#include "hta_table.h"

/*     host    .ab..c...........
 *     7       ..AAA.BB..CCC.D..        a gap of 1 (kernel wait), of 2, of 1 after which D, which nobody launched
 */
#define GAPS                                                                                                           \
    TRACE(OP("first", "0", "1") "," LAUNCH("1", "1", "1") "," LAUNCH("2", "2", "1") "," LAUNCH("3", "9", "1") ","      \
          KERNEL("A", "7", "1", "2", "3") "," KERNEL("C", "7", "3", "10", "3") "," KERNEL("B", "7", "2", "6", "2") "," \
          KERNEL("D", "7", "4", "114", "1"))

static void the_first_that_holds_has_the_gap(void)
{
    /* Not in the order of the file: A, B (launched before A ended), C (after B ended), D (by nobody, after 101). */
    CU_ASSERT_STRING_EQUAL(make(tl_hta_idle_time, GAPS, NULL), "");
    CU_ASSERT_STRING_EQUAL(rows_of("idle_time_breakdown.csv"),
                           "0,7,host_wait,2,0.02\n0,7,kernel_wait,1,0.01\n0,7,other,101,0.97\n");
    CU_ASSERT_STRING_EQUAL(rows_of("idle_interval_stats.csv"), "host_wait,0,7,1,2,,2,2,2,2,2\n"
                                                               "kernel_wait,0,7,1,1,,1,1,1,1,1\n"
                                                               "other,0,7,1,101,,101,101,101,101,101\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(rows_of("idle_time_breakdown_thresholds.csv"),
                                  "1000,0,7,host_wait,2,0.02\n1000,0,7,kernel_wait,102,0.98\n1000,0,7,other,0,0\n"));
}

static void streams_come_as_they_first_appear_and_stream_0_is_one(void)
{
    CU_ASSERT_STRING_EQUAL(make(tl_hta_idle_time, TRACE(KERNEL("A", "9", "1", "5", "1") "," KERNEL("B", "0", "2", "1", "1")),
                                NULL), "");
    CU_ASSERT_STRING_EQUAL(rows_of("idle_time_breakdown.csv"), "0,9,other,0,\n0,0,other,0,\n");
}

static void kernels_that_overlap_have_a_negative_gap(void)
{
    make(tl_hta_idle_time, TRACE(OP("x", "0", "1") "," KERNEL("A", "7", "1", "1", "9") "," KERNEL("B", "7", "2", "4", "1")), NULL);
    CU_ASSERT_STRING_EQUAL(rows_of("idle_time_breakdown.csv"), "0,7,kernel_wait,-6,1\n0,7,other,0,-0\n");
}

static void a_kernel_without_a_launch_takes_event_0_for_it(void)
{
    make(tl_hta_idle_time, TRACE(OP("x", "50", "1") "," KERNEL("A", "7", "1", "1", "9") "," KERNEL("B", "7", "2", "60", "1")), NULL);
    CU_ASSERT_STRING_EQUAL(rows_of("idle_time_breakdown.csv"), "0,7,host_wait,50,1\n0,7,other,0,0\n");
}

static void waits_are_no_kernels(void)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(make(tl_hta_idle_time, TRACE(ENTRY("cuda_sync", "Stream Sync", "1", "2",
                                                                     "\"stream\":7,\"correlation\":1")), NULL), "rank 0"));
    CU_ASSERT_STRING_EQUAL(rows_of("idle_time_breakdown.csv"), "(no file)");
    CU_ASSERT_STRING_EQUAL(rows_of("idle_interval_stats.csv"), "(no file)");
}

static void a_rank_without_kernels_spoils_no_other(void)
{
    CU_ASSERT_STRING_EQUAL(make(tl_hta_idle_time, TRACE(OP("x", "0", "1")), TRACE(KERNEL("A", "7", "1", "1", "9"))),
                           "idle_time_breakdown: rank 0: no kernel is on a stream; HTA gives up all ranks\n");
    CU_ASSERT_STRING_EQUAL(rows_of("idle_time_breakdown.csv"), "1,7,other,0,\n");
}

static const unit_test tests[] = {
    TEST(the_first_that_holds_has_the_gap),
    TEST(streams_come_as_they_first_appear_and_stream_0_is_one),
    TEST(kernels_that_overlap_have_a_negative_gap),
    TEST(a_kernel_without_a_launch_takes_event_0_for_it),
    TEST(waits_are_no_kernels),
    TEST(a_rank_without_kernels_spoils_no_other),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta idle", tests, COUNT(tests));
    scratch_remove();
    return status;
}
