/* test_hta_rows.c - rows by step, windows, rows on a stream, and what HTA's filters let through. */
#include "hta_trace.h"

static void rows_are_counted_by_step_and_the_unknown_last(void)
{
    /* The kernel on stream 0 has no step to HTA, and with it every step is a double; the one on stream 7 has its launch's. */
    const char *text = TRACE(KERNEL("a", "0", "1", "101", "2") "," STEP("5", "100", "10") "," LAUNCH("2", "102", "1") ","
                             KERNEL("b", "7", "2", "104", "3") "," OP("c", "90", "1"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_events_by_iteration, "events_by_iteration.csv", text, NULL, false),
                           "rank,iteration,cpu_events,gpu_events,gpu_dur\n"
                           "0,-1,1,0,0\n"
                           "0,5,2,1,3\n"
                           "0,,0,1,2\n");
}

static void one_rank_of_doubles_makes_the_column_doubles(void)
{
    const char *text = TRACE(OP("a", "100", "1")), *unknown = TRACE(KERNEL("k", "0", "1", "100", "2"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_events_by_iteration, "events_by_iteration.csv", text, unknown, false),
                           "rank,iteration,cpu_events,gpu_events,gpu_dur\n0,-1,1,0,0\n1,,0,1,2\n");
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_events_by_iteration, "events_by_iteration.csv", text, text, false),
                           "rank,iteration,cpu_events,gpu_events,gpu_dur\n0,-1,1,0,0\n1,-1,1,0,0\n");
}

static void a_rank_of_which_nothing_is_left_has_no_lines(void)
{
    /* Two steps, and a rank without any: the cut leaves it nothing. */
    const char *text = TRACE(OP("a", "100", "1")), *steps = TRACE(STEP("5", "100", "10") "," STEP("6", "110", "10"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_events_by_iteration, "events_by_iteration.csv", text, steps, false),
                           "rank,iteration,cpu_events,gpu_events,gpu_dur\n1,5,1,0,0\n");
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_filter_counts, "filter_counts.csv", text, steps, false),
                           "rank,filter,events,sum_dur\n"
                           "1,GPUKernelFilter,0,0\n"
                           "1,CPUOperatorFilter,1,10\n"
                           "1,FirstIterationFilter,1,10\n"
                           "1,TimeRangeFilter:0:0,0,0\n"
                           "1,NameFilter:aten::,0,0\n"
                           "1,NameFilter:^cuda,0,0\n"
                           "1,ZeroDurationFilter,1,10\n"
                           "1,IterationFilter:5,1,10\n");
    CU_ASSERT_STRING_EQUAL(table_notes, "filter_counts: rank 0: no row is left, where HTA finds no first step\n");
}

static void windows_are_all_rows_of_the_name_in_their_order(void)
{
    /* The one of the device counts, and comes where it stands; a name without a number is none. */
    const char *text = TRACE(STEP("7", "100.5", "10.0") "," ENTRY("gpu_user_annotation", "ProfilerStep # 6", "99.25", "2.5", "")
                             "," ENTRY("user_annotation", "ProfilerStep", "100", "1", ""));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_profiler_step_windows, "profiler_step_windows.csv", text, NULL, true),
                           "rank,iter,ts,dur,end\n0,7,1.25,10,11.25\n0,6,0,2.5,2.5\n");
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_profiler_step_windows, "profiler_step_windows.csv", TRACE(OP("a", "1", "1")),
                                    NULL, false), "rank,iter,ts,dur,end\n");
}

static void rows_on_a_stream_are_listed_with_their_ids(void)
{
    const char *text =
        TRACE("{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k, \\\"l\\\"\",\"pid\":\"GPU 0\",\"tid\":\"stream 7\",\"ts\":10,\"dur\":2,"
              "\"args\":{\"stream\":7,\"correlation\":3}}," LAUNCH("3", "8", "1") ","
              ENTRY("cpu_op", "triton", "9", "4", "\"stream\":0"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_gpu_events, "gpu_events.csv", text, NULL, false),
                           "rank,index,ts,dur,stream,correlation,index_correlation,iteration,pid,tid,cat,kernel_type,name\n"
                           "0,0,2,2,7,3,1,-1,GPU 0,stream 7,Kernel,COMPUTATION,\"k, \"\"l\"\"\"\n"
                           "0,2,1,4,0,-1,-1,-1,1,1,cpu_op,COMPUTATION,triton\n");
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_gpu_events, "gpu_events.csv", TRACE(OP("a", "1", "1")), NULL, false),
                           "rank,index,ts,dur,stream,correlation,index_correlation,iteration,pid,tid,cat,kernel_type,name\n");
}

static void filters_take_what_they_say(void)
{
    /* ts 0 2 4 6 8: quartiles 2 and 6.  An entry without dur makes durations doubles. */
    const char *text = TRACE(META "," OP("aten::mm", "10", "0") "," OP("aten::mm", "12", "4") ","
                             ENTRY("cuda_sync", "Event Sync", "14", "3", "") "," LAUNCH("1", "16", "1") ","
                             KERNEL("k", "7", "1", "18", "5"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_filter_counts, "filter_counts.csv", text, NULL, false),
                           "rank,filter,events,sum_dur\n"
                           "0,GPUKernelFilter,2,8\n"
                           "0,CPUOperatorFilter,3,5\n"
                           "0,FirstIterationFilter,5,13\n"
                           "0,TimeRangeFilter:2:6,1,4\n"
                           "0,NameFilter:aten::,2,4\n"
                           "0,NameFilter:^cuda,1,1\n"
                           "0,ZeroDurationFilter,4,13\n");
}

/* How many rows FirstIterationFilter takes. */
static int first_step_of(const char *text)
{
    static const char line[] = "FirstIterationFilter,";
    const char *at = strstr(table_of(tl_hta_filter_counts, "filter_counts.csv", text, NULL, false), line);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    return atoi(at + sizeof line - 1);
}

static void the_first_step_is_the_second_of_pythons_order_after_none(void)
{
#define UNKNOWN(ts) KERNEL("k", "0", "9", ts, "1")
#define FIVE        STEP("5", "100", "10") "," OP("x", "101", "1") "," OP("x", "102", "1")
    CU_ASSERT_EQUAL(first_step_of(TRACE(FIVE)), 3);
    CU_ASSERT_EQUAL(first_step_of(TRACE(OP("a", "90", "1"))), 1); /* -1 alone */
    CU_ASSERT_EQUAL(first_step_of(TRACE(OP("a", "90", "1") "," FIVE)), 3);
    CU_ASSERT_EQUAL(first_step_of(TRACE(FIVE "," OP("a", "90", "1"))), 3);
    CU_ASSERT_EQUAL(first_step_of(TRACE(UNKNOWN("100") "," FIVE)), 0);
    CU_ASSERT_EQUAL(first_step_of(TRACE(FIVE "," UNKNOWN("100"))), 3);
    CU_ASSERT_EQUAL(first_step_of(TRACE(OP("a", "90", "1") "," UNKNOWN("100") "," FIVE)), 0); /* -1, none, 5 */
    CU_ASSERT_EQUAL(first_step_of(TRACE(FIVE "," OP("a", "90", "1") "," UNKNOWN("100"))), 3); /* 5, -1 turned round */
    CU_ASSERT_EQUAL(first_step_of(TRACE(FIVE "," UNKNOWN("100") "," OP("a", "90", "1"))), 3); /* 5 stays first */
    CU_ASSERT_EQUAL(first_step_of(TRACE(OP("a", "90", "1") "," UNKNOWN("100"))), 0);
}

static void the_longest_times_are_no_trap(void)
{
    const char *text = TRACE(KERNEL("k", "7", "1", "0", "1000000000000000") ","
                             KERNEL("k", "7", "1", "1000000000000000", "1000000000000000"));
    CU_ASSERT_PTR_NOT_NULL(strstr(table_of(tl_hta_filter_counts, "filter_counts.csv", text, NULL, false),
                                  "TimeRangeFilter:250000000000000:750000000000000,0,0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(table_of(tl_hta_events_by_iteration, "events_by_iteration.csv", text, NULL, false),
                                  "\n0,-1,0,2,2000000000000000\n"));
}

static const unit_test tests[] = {
    TEST(rows_are_counted_by_step_and_the_unknown_last),
    TEST(one_rank_of_doubles_makes_the_column_doubles),
    TEST(a_rank_of_which_nothing_is_left_has_no_lines),
    TEST(windows_are_all_rows_of_the_name_in_their_order),
    TEST(rows_on_a_stream_are_listed_with_their_ids),
    TEST(filters_take_what_they_say),
    TEST(the_first_step_is_the_second_of_pythons_order_after_none),
    TEST(the_longest_times_are_no_trap),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta rows", tests, COUNT(tests));
    scratch_remove();
    return status;
}
