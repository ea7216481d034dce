/* test_hta_launches.c - launch calls and what they launched. */
#include "hta_trace.h"

#define EACH "rank,correlation,cpu_duration,gpu_duration,launch_delay\n"
#define ALL                                                                                                            \
    "rank,include_memory_events,runtime_cutoff,launch_delay_cutoff,pairs,short_kernels,runtime_outliers,"              \
    "launch_delay_outliers,sum_cpu,sum_gpu,sum_delay,max_delay\n"
#define COPY(corr, ts, dur) ENTRY("cuda_runtime", "cudaMemcpyAsync", ts, dur, "\"correlation\":" corr)

static const char *launches(const char *text, const char *text_1)
{
    return table_of(tl_hta_launch_stats, "launch_stats.csv", text, text_1, false);
}

static void the_delay_is_from_the_end_of_the_call(void)
{
    /* 1: 5 us late; 2: starts under its call; 3: 50 us are not slow, 100 are no delay; 4: 51 and 101 are; 9: no call. */
    const char *text = TRACE(KERNEL("k", "0", "1", "20", "9") "," LAUNCH("1", "10", "5") "," COPY("2", "30", "8") ","
                             KERNEL("Memcpy DtoH", "7", "2", "33", "7") "," LAUNCH("3", "100", "50") ","
                             KERNEL("k", "7", "3", "250", "49") "," LAUNCH("4", "300", "51") ","
                             KERNEL("k", "7", "4", "452", "60") "," KERNEL("k", "7", "9", "600", "1") ","
                             OP("cudaLaunchKernel", "700", "1"));
    CU_ASSERT_STRING_EQUAL(launches(text, NULL), EACH "0,1,5,9,5\n0,2,8,7,0\n0,3,50,49,100\n0,4,51,60,101\n");
    CU_ASSERT_STRING_EQUAL(content("launch_stats_summary.csv"), ALL "0,True,50,100,4,2,1,1,114,125,206,101\n"
                                                                    "0,False,50,100,3,1,1,1,106,118,206,101\n");
}

static void without_pairs_there_is_no_largest_delay(void)
{
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("1", "10", "5") "," KERNEL("k", "7", "2", "20", "1")),
                                    TRACE(LAUNCH("1", "10", "5") "," KERNEL("k", "7", "1", "20", "1"))),
                           EACH "1,1,5,1,5\n");
    CU_ASSERT_STRING_EQUAL(content("launch_stats_summary.csv"), ALL "0,True,50,100,0,0,0,0,0,0,0,\n"
                                                                    "0,False,50,100,0,0,0,0,0,0,0,\n"
                                                                    "1,True,50,100,1,1,0,0,5,1,5,5\n"
                                                                    "1,False,50,100,1,1,0,0,5,1,5,5\n");
}

static void each_row_of_a_correlation_meets_each(void)
{
    /* Calls in file order, kernels in file order for each; the driver's call has the launch's correlation. */
    const char *text = TRACE(KERNEL("b", "7", "1", "40", "2") "," KERNEL("a", "7", "1", "30", "1") ","
                             LAUNCH("1", "10", "5") "," ENTRY("cuda_driver", "cuLaunchKernel", "11", "3", "\"correlation\":1"));
    CU_ASSERT_STRING_EQUAL(launches(text, NULL), EACH "0,1,5,2,25\n0,1,5,1,15\n0,1,3,2,26\n0,1,3,1,16\n");
}

static void a_call_without_correlation_has_minus_one(void)
{
    const char *text = TRACE(OP("host", "1", "2") "," ENTRY("cuda_runtime", "cudaLaunchKernel", "10", "5", "") ","
                             ENTRY("kernel", "k", "20", "3", "\"stream\":7"));
    CU_ASSERT_STRING_EQUAL(launches(text, NULL), EACH "0,-1,2,3,17\n0,-1,5,3,5\n");
}

static void too_many_pairs_are_given_up(void)
{
    enum { N = 1100 };
    static char text[2 * N * 128];
    size_t at = (size_t)sprintf(text, "{\"traceEvents\": [" OP("host", "0", "1"));
    for (int i = 0; i < N; i++)
        at += (size_t)sprintf(text + at, "," LAUNCH("1", "1", "1") "," KERNEL("k", "7", "1", "9", "1"));
    strcpy(text + at, "]}");
    CU_ASSERT_STRING_EQUAL(launches(text, TRACE(LAUNCH("1", "10", "5") "," KERNEL("k", "7", "1", "20", "1"))),
                           EACH "1,1,5,1,5\n");
    CU_ASSERT_STRING_EQUAL(table_notes, "launch_stats: rank 0: left out: too many calls and kernels have the same "
                                        "correlation\n");
}

static const unit_test tests[] = {
    TEST(the_delay_is_from_the_end_of_the_call),
    TEST(without_pairs_there_is_no_largest_delay),
    TEST(each_row_of_a_correlation_meets_each),
    TEST(a_call_without_correlation_has_minus_one),
    TEST(too_many_pairs_are_given_up),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta launches", tests, COUNT(tests));
    scratch_remove();
    return status;
}
