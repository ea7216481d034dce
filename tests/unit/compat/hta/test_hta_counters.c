/* test_hta_counters.c - queues and copies in the course of time. */
#include "hta_table.h"

#define COPY(name, stream, ts, dur, gbps)                                                                              \
    ENTRY("gpu_memcpy", name, ts, dur, "\"stream\":" stream ",\"correlation\":9,\"memory bandwidth (GB/s)\":" gbps)

/*     host    abc......
 *     7       ...AAABB.       and C on stream 8 at once with A
 */
#define QUEUES                                                                                                         \
    TRACE(LAUNCH("1", "100", "1") "," LAUNCH("2", "101", "1") "," LAUNCH("3", "102", "1") ","                          \
          KERNEL("A", "8", "1", "103", "3") "," KERNEL("B", "7", "2", "106", "2") "," KERNEL("C", "7", "3", "103", "1"))

static void a_queue_grows_by_launches_and_shrinks_by_starts(void)
{
    CU_ASSERT_STRING_EQUAL(make(tl_hta_queues, QUEUES, NULL), "");
    CU_ASSERT_STRING_EQUAL(rows_of("queue_length_time_series.csv"), "1,1,1,1,7,1,0\n2,2,1,1,7,2,0\n5,3,1,1,7,1,0\n"
                                                                    "4,6,1,1,7,0,0\n0,0,1,1,8,1,0\n3,3,1,1,8,0,0\n");
    CU_ASSERT_STRING_EQUAL(rows_of("queue_length_summary.csv"),
                           "0,7,4,1,0.816496580927726,0,0.75,1,1.25,2\n"
                           "0,8,2,0.5,0.7071067811865476,0,0.25,0.5,0.75,1\n");
    CU_ASSERT_STRING_EQUAL(rows_of("time_blocked_on_full_queue.csv"), "");
    CU_ASSERT_STRING_EQUAL(make(tl_hta_counter_events, QUEUES, NULL), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(rows_of("counter_events.csv"), "0,Queue Length,100,1,8,Queue Length,1\n"));
}

static void a_queue_of_eight_is_full(void)
{
    char text[8192] = "{\"traceEvents\": [";
    for (int i = 0; i < 9; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":\"stream 7\","
                 "\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}},"
                 "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":\"GPU\",\"tid\":\"stream 7\",\"ts\":%d,\"dur\":1,"
                 "\"args\":{\"stream\":0,\"correlation\":%d}}%s",
                 i, i, 20 + 5 * i, i, i < 8 ? "," : "]}");
    make(tl_hta_queues, text, NULL);
    /* Full from the 8th launch, 7, to the second start, 25; the trace lasts until 60. */
    CU_ASSERT_STRING_EQUAL(rows_of("time_blocked_on_full_queue.csv"), "8,0,0,18,0.3\n");
    CU_ASSERT_STRING_EQUAL(rows_of("queue_length_summary.csv"),
                           "0,0,18,4.5,2.706202027152575,0,2.25,4.5,6.75,9\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(rows_of("queue_length_time_series.csv"), "0,0,GPU,stream 7,0,1,0\n"));
}

static void a_correlation_of_two_launches_has_no_queue(void)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(make(tl_hta_queues,
                                       TRACE(OP("x", "0", "1") "," LAUNCH("1", "1", "1") "," LAUNCH("1", "2", "1") ","
                                             KERNEL("A", "7", "1", "3", "1")), NULL),
                                  "rank 0: a correlation is that of several launches"));
    CU_ASSERT_STRING_EQUAL(rows_of("queue_length_time_series.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(make(tl_hta_counter_events, TRACE(OP("x", "0", "1")), NULL), "no rank has queues"));
    CU_ASSERT_STRING_EQUAL(rows_of("counter_events.csv"), "(no file)");
}

static void a_launch_of_many_kernels_counts_each(void)
{
    make(tl_hta_queues, TRACE(OP("x", "0", "1") "," LAUNCH("1", "1", "1") "," KERNEL("A", "7", "1", "3", "1") ","
                              KERNEL("B", "7", "1", "5", "1")), NULL);
    CU_ASSERT_STRING_EQUAL(rows_of("queue_length_time_series.csv"),
                           "1,1,1,1,7,1,0\n1,1,1,1,7,2,0\n2,3,1,1,7,1,0\n3,5,1,1,7,0,0\n");
}

static void ranks_without_launches_spoil_no_other(void)
{
    CU_ASSERT_STRING_EQUAL(make(tl_hta_queues, TRACE(KERNEL("A", "7", "1", "100", "1")), QUEUES),
                           "queue_length: rank 0: nothing was launched by a call that HTA knows; HTA gives up all ranks\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(rows_of("queue_length_summary.csv"), "1,8,2,"));
}

static void copies_at_once_add_up(void)
{
    CU_ASSERT_STRING_EQUAL(make(tl_hta_bandwidths,
                                TRACE(COPY("Memcpy HtoD (Pageable -> Device)", "7", "10", "5", "2.5") ","
                                      COPY("Memcpy HtoD", "8", "12", "8", "1.5") "," COPY("dma_x", "8", "12", "0", "4")),
                                NULL), "");
    CU_ASSERT_STRING_EQUAL(rows_of("memory_bw_time_series.csv"),
                           "0,1,Memcpy HtoD,2.5,0\n2,1,Memcpy HtoD,4,0\n5,1,Memcpy HtoD,1.5,0\n10,1,Memcpy HtoD,0,0\n"
                           "2,1,Memcpy Unknown,4,0\n3,1,Memcpy Unknown,0,0\n");
    CU_ASSERT_STRING_EQUAL(rows_of("memory_bw_summary.csv"),
                           "0,Memcpy HtoD,3,2.6666666666666665,1.2583057392117916,1.5,2,2.5,3.25,4\n"
                           "0,Memcpy Unknown,1,4,,4,4,4,4,4\n");
}

static void a_kind_is_eleven_characters(void)
{
    make(tl_hta_bandwidths, TRACE(COPY("Memcpy \303\204toD (x)", "7", "10", "5", "2.5") ","
                                  ENTRY("gpu_memset", "Memset (Device)", "11", "1", "\"stream\":7")), NULL);
    CU_ASSERT_STRING_EQUAL(rows_of("memory_bw_time_series.csv"), "0,1,Memcpy \303\204toD,2.5,0\n5,1,Memcpy \303\204toD,0,0\n"
                                                                 "1,1,Memset,0,0\n2,1,Memset,0,0\n");
}

static void without_copies_or_speeds_there_is_little(void)
{
    CU_ASSERT_STRING_EQUAL(make(tl_hta_bandwidths, QUEUES, NULL), "memory_bw: no memory is copied or set on a stream\n");
    CU_ASSERT_STRING_EQUAL(rows_of("memory_bw_summary.csv"), "(no file)");
    make(tl_hta_bandwidths, TRACE(ENTRY("gpu_memset", "Memset", "11", "1", "\"stream\":7")), NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(text_of_table("memory_bw_summary.csv"), "index,memory_bw_gbps_count,"));
    CU_ASSERT_STRING_EQUAL(rows_of("memory_bw_summary.csv"), "");
}

static void counters_have_the_times_of_the_trace(void)
{
    make(tl_hta_counter_events,
         TRACE(LAUNCH("9", "100", "1") "," COPY("Memcpy HtoD", "7", "110", "5", "2.5")), NULL);
    CU_ASSERT_STRING_EQUAL(rows_of("counter_events.csv"),
                           "0,Queue Length,100,1,7,Queue Length,1\n0,Queue Length,110,1,7,Queue Length,0\n"
                           "0,Memcpy HtoD,110,1,,Memcpy BW,2.5\n0,Memcpy HtoD,115,1,,Memcpy BW,0\n");
}

static const unit_test tests[] = {
    TEST(a_queue_grows_by_launches_and_shrinks_by_starts),
    TEST(a_queue_of_eight_is_full),
    TEST(a_correlation_of_two_launches_has_no_queue),
    TEST(a_launch_of_many_kernels_counts_each),
    TEST(ranks_without_launches_spoil_no_other),
    TEST(copies_at_once_add_up),
    TEST(a_kind_is_eleven_characters),
    TEST(without_copies_or_speeds_there_is_little),
    TEST(counters_have_the_times_of_the_trace),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta counters", tests, COUNT(tests));
    scratch_remove();
    return status;
}
