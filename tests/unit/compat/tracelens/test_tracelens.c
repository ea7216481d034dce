/* test_tracelens.c - TraceLens' whole tables of a rank; and what goes wrong. */
#include "lens_tables.h"

/* ---------------------------------------------------------------------------------------------------- whole tables */

static void tables_of(const char *text, const char *out)
{
    bool incomplete = true;
    tl_error err;
    CU_ASSERT_EQUAL(run(&text, 1, out, &incomplete, &err), TL_OK);
    CU_ASSERT_FALSE(incomplete);
}

#define STORY                                                                                                          \
    TRACE(KERNEL("a", "1", "0", "100") "," FLOW("2") "," LAUNCH("2", "150", "5") "," OP("aten::mm", "100", "60") ","   \
          KERNEL("b", "2", "200", "10") "," CALL("cudaStreamSynchronize", "3", "80", "20") ","                         \
          KERNEL("a", "7", "212", "4") "," KERNEL("a", "8", "240", "4"))

static void the_tables_of_gaps(void)
{
    tables_of(STORY, "gaps");
    CU_ASSERT_STRING_EQUAL(
        scratch_content("gaps/idle_intervals.csv"),
        "idle_id,group,start_us,end_us,duration_us,drain_type,sync_type,sync_event_name,sync_event_correlation,sync_event_dur,"
        "cpu_during_gap,cpu_during_gap_detail,dominant_op,preceding_gpu_event,following_gpu_event,following_launch_name,"
        "following_gpu_uid,following_launch_uid,sync_event_uid,launch_to_exec_us,kernel_prequeued\n"
        "0,sync_drain | LAUNCH_ANOMALY | launched_during_gap,100,200,100,sync_drain,STREAM_SYNC,cudaStreamSynchronize,3,20,"
        "LAUNCH_ANOMALY,launch_to_exec=45.0" MICRO "s (launched_during_gap),,a,b,cudaLaunchKernel,5,3,6,45,False\n"
        "1,starved | CPU_UNTRACED | (no_cpu_op_overlap),216,240,24,starved,,,,,"
        "CPU_UNTRACED,no cpu_op/python_function events overlap this gap,(no_cpu_op_overlap),a,a,,8,,,,\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("gaps/idle_noise.csv"), "idle_id,start_us,end_us,duration_us\n-1,210,212,2\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("gaps/idle_summary.csv"),
                           "drain_type,cpu_during_gap,dominant_op,count,total_time_ms,pct_of_idle,cumulative_pct,mean_us,median_us,"
                           "std_us,min_us,max_us,idle_ids\n"
                           "ALL,ALL,ALL,2,0.124,100,,62,62,38,24,100,\n"
                           "\342\200\224,noise,\342\200\224,1,0.002,,,2,2,0,2,2,\n"
                           "sync_drain,LAUNCH_ANOMALY,launched_during_gap,1,0.1,80.64516129032259,80.64516129032259,100,100,0,"
                           "100,100,0\n"
                           "starved,CPU_UNTRACED,(no_cpu_op_overlap),1,0.024,19.35483870967742,100.00000000000001,24,24,0,24,24,1\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("gaps/idle_overview.csv"),
                           "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,pct_of_trace,gpu_utilization_pct,mean_us,"
                           "median_us,min_us,max_us\n"
                           "ALL,ALL,2,0.124,100,51.239669421487605,48.760330578512395,62,62,24,100\n"
                           "sync_drain,LAUNCH_ANOMALY,1,0.1,80.64516129032259,41.32231404958678,48.760330578512395,100,100,100,"
                           "100\n"
                           "starved,CPU_UNTRACED,1,0.024,19.35483870967742,9.917355371900827,48.760330578512395,24,24,24,24\n");
}

static void the_tables_of_kernels(void)
{
    tables_of(STORY, "kernels");
    CU_ASSERT_STRING_EQUAL(scratch_content("kernels/kernel_summary.csv"),
                           "Parent op category,Parent cpu_op,Kernel name,Kernel stream,Kernel duration (" MICRO "s)_sum,"
                           "Kernel duration (" MICRO "s)_count,Kernel duration (" MICRO "s)_mean,Kernel duration (" MICRO "s)_min,"
                           "Kernel duration (" MICRO "s)_max,Percent of kernels time (%),Percent of total time (%)\n"
                           ",,a,7,108,3,36,4,100,91.52542372881356,1080\n"
                           ",aten::mm,b,7,10,1,10,10,10,8.47457627118644,100\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("kernels/short_kernel_histogram.csv"), "\n4,4.01,2\n"));
    /* No short kernel has an operator whose arguments were recorded. */
    CU_ASSERT_STRING_EQUAL(scratch_content("kernels/short_kernels_summary.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("kernels/gpu_timeline.csv"), "busy_time,0.01,100\nidle_time,0,0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("kernels/gpu_timeline_all_events_micro5.csv"),
                                  "busy_time,0.118,48.36065573770492\nmicro_idle_time,0.002,0.819672131147541\n"
                                  "macro_idle_time,0.124,50.81967213114754\ntotal_time,0.244,100\n"));
}

/* The lower edge belongs to the bin, the last bin has both. */
static void short_kernels_fall_into_equal_bins(void)
{
    tables_of(TRACE(LAUNCH("1", "0", "1") "," KERNEL("a", "1", "0", "0") "," KERNEL("a", "1", "10", "0.09") ","
                    KERNEL("a", "1", "20", "8.91") "," KERNEL("a", "1", "30", "9") "," KERNEL("b", "1", "50", "10") ","
                    KERNEL("a", "1", "70", "8.9")), "bins");
    const char *text = scratch_content("bins/short_kernel_histogram.csv");
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "bin_start,bin_end,count\n0,0.09,1\n0.09,0.18,1\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n8.82,8.91,1\n8.91,9,2\n"));
    /* Without operators, by name. */
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("bins/short_kernels_summary.csv"), "\na,26.9,5,5.38,\n"));
}

static void short_kernels_are_told_by_their_operator(void)
{
    tables_of(TRACE(ENTRY("cpu_op", "aten::mm", "1", "1", "0", "20", "\"Input Dims\":[[2,3],[]],\"Input Strides\":[[3,1],[]],"
                          "\"Concrete Inputs\":[\"\",\"1\"]") "," LAUNCH("1", "1", "1") "," FLOW("1") ","
                    KERNEL("k", "1", "30", "4") "," OP("no arguments", "40", "20") "," LAUNCH("2", "41", "1") "," FLOW("2") ","
                    KERNEL("k", "2", "50", "4")), "short");
    CU_ASSERT_STRING_EQUAL(scratch_content("short/short_kernels_summary.csv"),
                           "Parent cpu_op,Input dims,Input strides,Concrete Inputs,Kernel name,Short Kernel duration (" MICRO
                           "s) sum,Short Kernel count,Short Kernel duration (" MICRO "s) mean,Short Kernel duration (" MICRO
                           "s) percent of total time\n"
                           "aten::mm,\"((2, 3), ())\",\"((3, 1), ())\",\"('', '1')\",k,4,1,4,16.666666666666664\n");
}

static void without_gaps_the_tables_have_no_columns(void)
{
    tables_of(TRACE(OP("a", "0", "1")), "none");
    CU_ASSERT_STRING_EQUAL(scratch_content("none/idle_intervals.csv"), "\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("none/idle_overview.csv"),
                           "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,mean_us,median_us,min_us,max_us\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("none/idle_summary.csv"), "\n\342\200\224,noise,\342\200\224,0,0,,,,,,,,\n"));
    CU_ASSERT_STRING_EQUAL(scratch_content("none/gpu_timeline_all_events.csv"), "(no file)");
    CU_ASSERT_STRING_EQUAL(scratch_content("none/kernel_summary.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("none/notes.txt"), "rank 0: no device work"));
}

/* ---------------------------------------------------------------------------------------------------------- faults */

/* TraceLens stops at most of these. */
static void nothing_in_a_trace_is_taken_for_granted(void)
{
    static const char *const traces[] = {
        TRACE(""),
        TRACE("{}"),
        TRACE("{\"cat\":\"kernel\"},{\"cat\":\"kernel\",\"ph\":\"X\",\"ts\":1},{\"cat\":\"kernel\",\"dur\":1}"),
        TRACE("{\"cat\":\"cuda_runtime\",\"name\":\"launch\"},{\"cat\":\"ac2g\",\"ph\":\"s\"},{\"cat\":\"ac2g\",\"ph\":\"f\"}"),
        TRACE("{\"cat\":\"kernel\",\"ts\":5,\"dur\":-9},{\"cat\":\"kernel\",\"ts\":50,\"dur\":1},{\"cat\":\"cpu_op\",\"ph\":\"X\",\"ts\":20}"),
        TRACE("{\"cat\":\"kernel\",\"name\":\"nccl\",\"ts\":5,\"dur\":9,\"args\":{\"External id\":\"x\"}},"
              "{\"cat\":\"kernel\",\"ts\":50,\"dur\":1}"),
        TRACE(COLLECTIVE("", "all_to_allv", "0", "0", "0") "," COLLECTIVE("g", "allgather", "0", "100", "0")),
        TRACE(ENTRY("kernel", "k", "\"a\"", "\"b\"", "-2305843009213693", "1", "\"correlation\":1.5") ","
              ENTRY("kernel", "k", "null", "[]", "2305843009213693", "0", "\"correlation\":[1],\"stream\":{}")),
        "[]",
    };
    for (size_t i = 0; i < COUNT(traces); i++) {
        bool incomplete;
        tl_error err;
        CU_ASSERT_EQUAL(run(&traces[i], 1, "odd", &incomplete, &err), TL_OK);
        CU_ASSERT_STRING_NOT_EQUAL(scratch_content("odd/idle_summary.csv"), "(no file)");
    }
}

static void a_file_that_cannot_be_used_is_left_out(void)
{
    const char *texts[] = { STORY, "no trace" };
    bool incomplete = false;
    tl_error err;
    CU_ASSERT_EQUAL(run(texts, 2, "left", &incomplete, &err), TL_OK);
    CU_ASSERT(incomplete);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("left/notes.txt"), "rank 1: left out: "));
    CU_ASSERT_STRING_NOT_EQUAL(scratch_content("left/rank0/idle_summary.csv"), "(no file)");
    CU_ASSERT_EQUAL(run(&texts[1], 1, "nothing", &incomplete, &err), TL_EINPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("nothing/notes.txt"), "rank 0: left out: "));
}

static void a_table_of_an_earlier_run_does_not_stay(void)
{
    tables_of(STORY, "again");
    CU_ASSERT_STRING_NOT_EQUAL(scratch_content("again/kernel_summary.csv"), "(no file)");
    tables_of(TRACE(OP("a", "0", "1")), "again");
    CU_ASSERT_STRING_EQUAL(scratch_content("again/kernel_summary.csv"), "(no file)");
}

static const unit_test tests[] = {
    TEST(the_tables_of_gaps),
    TEST(the_tables_of_kernels),
    TEST(short_kernels_fall_into_equal_bins),
    TEST(short_kernels_are_told_by_their_operator),
    TEST(without_gaps_the_tables_have_no_columns),
    TEST(nothing_in_a_trace_is_taken_for_granted),
    TEST(a_file_that_cannot_be_used_is_left_out),
    TEST(a_table_of_an_earlier_run_does_not_stay),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("tracelens", tests, COUNT(tests));
    scratch_remove();
    return status;
}
