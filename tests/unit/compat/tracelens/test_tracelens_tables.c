/* test_tracelens_tables.c - TraceLens' timeline, call tree, whole tables, and collectives; and what goes wrong. */
#include "lens_rank.h"

/* -------------------------------------------------------------------------------------------------------- timeline */

#define COMM(ts, dur) KERNEL("ncclDevKernel_AllReduce(x)", "1", ts, dur)
#define MEMCPY(ts, dur) ENTRY("gpu_memcpy", "nccl in a copy's name", "0", "9", ts, dur, "")

/*     compute   0         20
 *     comm           10             40
 *     copies     5  9           30       50     70 72
 */
static void what_is_not_hidden_is_exposed(void)
{
    tl_lens_timeline all, linked;
    tl_error err;
    rank r;
    load(&r, TRACE(KERNEL("a", "1", "0", "12") "," ENTRY("gpu_memset", "Memset", "1", "3", "11.5", "8.5", "") "," COMM("10", "30") ","
                   MEMCPY("30", "20") "," MEMCPY("5", "4") "," KERNEL("__amd_rocclr_copyBufferRect.kd", "1", "70", "2")));
    CU_ASSERT_EQUAL(tl_lens_timeline_of(&all, &r.lens, false, &err), TL_OK);
    CU_ASSERT_EQUAL(all.computation, 20);
    CU_ASSERT_EQUAL(all.comm, 30);
    CU_ASSERT_EQUAL(all.exposed_comm, 20);
    CU_ASSERT_EQUAL(all.memcpy, 26);
    CU_ASSERT_EQUAL(all.exposed_memcpy, 12);
    CU_ASSERT_EQUAL(all.busy, 52);
    CU_ASSERT_EQUAL(all.total, 72);
    CU_ASSERT_EQUAL(all.idle, 20);
    CU_ASSERT_EQUAL(all.macro_idle, 20);
    CU_ASSERT_EQUAL(all.micro_idle, 0);
    CU_ASSERT_EQUAL(tl_lens_timeline_of(&linked, &r.lens, true, &err), TL_OK);
    CU_ASSERT_FALSE(linked.any);
    unload(&r);
}

static void names_tell_communication_in_any_case(void)
{
    rank r;
    tl_lens_timeline t;
    tl_error err;
    load(&r, TRACE(KERNEL("RCCL_Generic", "1", "0", "1") "," KERNEL("void Cross_Device_Reduce_1stage<x>", "1", "10", "1") ","
                   ENTRY("gpu_memset", "memset for nccl", "0", "7", "20", "1", "") "," KERNEL("deep_ep::dispatch", "1", "30", "1") ","
                   KERNEL("__amd_rocclr_fillBuffer", "1", "40", "1") "," KERNEL("MEMORY_COPY_HOST_TO_DEVICE", "1", "50", "1") ","
                   KERNEL("MEMORY_COPY_HOST_TO_DEVICE_2", "1", "60", "1")));
    CU_ASSERT_EQUAL(tl_lens_timeline_of(&t, &r.lens, false, &err), TL_OK);
    CU_ASSERT_EQUAL(t.comm, 3);
    CU_ASSERT_EQUAL(t.memcpy, 1);
    CU_ASSERT_EQUAL(t.computation, 3);
    unload(&r);
}

/* --------------------------------------------------------------------------------------------------- the call tree */

/* The operator of the event, "-" for none. */
static const char *operator_of(const char *text, uint32_t event)
{
    static char out[64];
    rank r;
    load(&r, text);
    uint32_t *op = tl_lens_parent_ops(&r.lens);
    CU_ASSERT_PTR_NOT_NULL_FATAL(op);
    tl_text name = op[event] != TL_NONE ? tl_lens_name(&r.lens, op[event], "") : TL_TEXT("-");
    snprintf(out, sizeof out, "%.*s", (int)name.n, name.p);
    free(op);
    unload(&r);
    return out;
}

static void the_nearest_operator_above_counts(void)
{
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," OP("a", "0", "100") "," OP("b", "10", "50")), 0), "b");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," OP("a", "0", "100") "," OP("b", "10", "10")), 0), "a");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," OP("a", "0", "100") "," CALL("outer", "1", "15", "20")), 0),
                           "a");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," FRAME("f", "0", "100")), 0), "-");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," ENTRY("cpu_op", "a", "1", "9", "0", "100", "")), 0), "-");
}

static void an_event_that_ends_too_late_is_left_out(void)
{
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("a", "0", "100") "," LAUNCH("1", "90", "20")), 1), "-");
    /* But where the top ends less than 1 us later, what is under it counts. */
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("a", "0", "100") "," OP("b", "10", "40.5") "," LAUNCH("1", "50", "20")), 2), "a");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("a", "0", "100") "," OP("b", "10", "41") "," LAUNCH("1", "50", "20")), 2), "-");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("b", "10", "40.5") "," OP("c", "50", "20") "," LAUNCH("1", "60", "2")), 2), "-");
}

/* ---------------------------------------------------------------------------------------------------- whole tables */

/* The tables of some ranks in the folder `out` (of one) or out/rank<i>. */
static tl_status run(const char *const *texts, size_t n, const char *out, bool *incomplete, tl_error *err)
{
    tl_bytes share = { 0 };
    char folder[256], dir[300];
    tl_status st = TL_OK;

    snprintf(folder, sizeof folder, "%s/%s", scratch_folder, out);
    for (size_t i = n; st == TL_OK && i-- > 0;) {       /* any order will do */
        snprintf(dir, sizeof dir, n > 1 ? "%s/rank%zu" : "%s", folder, i);
        st = tl_tracelens_rank(scratch_text("rank.json", texts[i]), (int64_t)i, dir, &share, err);
    }
    if (st == TL_OK)
        st = tl_tracelens_ranks(share.v, share.n, n > 1 ? 2 : 0, folder, incomplete, err);
    free(share.v);
    return st;
}

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
        "0,sync_drain | LAUNCH_ANOMALY | launched_during_gap,100,200,100,sync_drain,STREAM_SYNC,cudaStreamSynchronize,3.0,20.0,"
        "LAUNCH_ANOMALY,launch_to_exec=45.0" MICRO "s (launched_during_gap),,a,b,cudaLaunchKernel,5,3.0,6.0,45.0,False\n"
        "1,starved | CPU_UNTRACED | (no_cpu_op_overlap),216,240,24,starved,,,,,"
        "CPU_UNTRACED,no cpu_op/python_function events overlap this gap,(no_cpu_op_overlap),a,a,,8,,,,\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("gaps/idle_noise.csv"), "idle_id,start_us,end_us,duration_us\n-1,210,212,2\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("gaps/idle_summary.csv"),
                           "drain_type,cpu_during_gap,dominant_op,count,total_time_ms,pct_of_idle,cumulative_pct,mean_us,median_us,"
                           "std_us,min_us,max_us,idle_ids\n"
                           "ALL,ALL,ALL,2,0.124,100.0,,62.0,62.0,38.0,24,100,\n"
                           "\342\200\224,noise,\342\200\224,1,0.002,,,2.0,2.0,0.0,2,2,\n"
                           "sync_drain,LAUNCH_ANOMALY,launched_during_gap,1,0.1,80.64516129032259,80.64516129032259,100.0,100.0,0.0,"
                           "100,100,0\n"
                           "starved,CPU_UNTRACED,(no_cpu_op_overlap),1,0.024,19.35483870967742,100.00000000000001,24.0,24.0,0.0,24,24,1\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("gaps/idle_overview.csv"),
                           "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,pct_of_trace,gpu_utilization_pct,mean_us,"
                           "median_us,min_us,max_us\n"
                           "ALL,ALL,2,0.124,100.0,51.239669421487605,48.760330578512395,62.0,62.0,24,100\n"
                           "sync_drain,LAUNCH_ANOMALY,1,0.1,80.64516129032259,41.32231404958678,48.760330578512395,100.0,100.0,100,"
                           "100\n"
                           "starved,CPU_UNTRACED,1,0.024,19.35483870967742,9.917355371900827,48.760330578512395,24.0,24.0,24,24\n");
}

static void the_tables_of_kernels(void)
{
    tables_of(STORY, "kernels");
    CU_ASSERT_STRING_EQUAL(scratch_content("kernels/kernel_summary.csv"),
                           "Parent op category,Parent cpu_op,Kernel name,Kernel stream,Kernel duration (" MICRO "s)_sum,"
                           "Kernel duration (" MICRO "s)_count,Kernel duration (" MICRO "s)_mean,Kernel duration (" MICRO "s)_min,"
                           "Kernel duration (" MICRO "s)_max,Percent of kernels time (%),Percent of total time (%)\n"
                           ",,a,7,108,3,36.0,4,100,91.52542372881356,1080.0\n"
                           ",aten::mm,b,7,10,1,10.0,10,10,8.47457627118644,100.0\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("kernels/short_kernel_histogram.csv"), "\n4.0,4.01,2\n"));
    /* No short kernel has an operator whose arguments were recorded. */
    CU_ASSERT_STRING_EQUAL(scratch_content("kernels/short_kernels_summary.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("kernels/gpu_timeline.csv"), "busy_time,0.01,100.0\nidle_time,0.0,0.0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("kernels/gpu_timeline_all_events_micro5.csv"),
                                  "busy_time,0.118,48.36065573770492\nmicro_idle_time,0.002,0.819672131147541\n"
                                  "macro_idle_time,0.124,50.81967213114754\ntotal_time,0.244,100.0\n"));
}

/* The lower edge belongs to the bin, the last bin has both. */
static void short_kernels_fall_into_equal_bins(void)
{
    tables_of(TRACE(LAUNCH("1", "0", "1") "," KERNEL("a", "1", "0", "0") "," KERNEL("a", "1", "10", "0.09") ","
                    KERNEL("a", "1", "20", "8.91") "," KERNEL("a", "1", "30", "9") "," KERNEL("b", "1", "50", "10") ","
                    KERNEL("a", "1", "70", "8.9")), "bins");
    const char *text = scratch_content("bins/short_kernel_histogram.csv");
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "bin_start,bin_end,count\n0.0,0.09,1\n0.09,0.18,1\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n8.82,8.91,1\n8.91,9.0,2\n"));
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
                           "aten::mm,\"((2, 3), ())\",\"((3, 1), ())\",\"('', '1')\",k,4,1,4.0,16.666666666666664\n");
}

static void without_gaps_the_tables_have_no_columns(void)
{
    tables_of(TRACE(OP("a", "0", "1")), "none");
    CU_ASSERT_STRING_EQUAL(scratch_content("none/idle_intervals.csv"), "\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("none/idle_overview.csv"),
                           "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,mean_us,median_us,min_us,max_us\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("none/idle_summary.csv"), "\n\342\200\224,noise,\342\200\224,0,0.0,,,,,,,,\n"));
    CU_ASSERT_STRING_EQUAL(scratch_content("none/gpu_timeline_all_events.csv"), "(no file)");
    CU_ASSERT_STRING_EQUAL(scratch_content("none/kernel_summary.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("none/notes.txt"), "rank 0: no device work"));
}

/* ----------------------------------------------------------------------------------------------------- collectives */

#define COLLECTIVE(group, name, n, ts, dur)                                                                            \
    ENTRY("kernel", "ncclDevKernel(x)", "0", "7", ts, dur,                                                             \
          "\"stream\":7,\"correlation\":1,\"Process Group Name\":\"" group "\",\"Process Group Ranks\":\"[0, 1, 2]\"," \
          "\"Collective name\":\"" name "\",\"Group size\":3,\"dtype\":\"Float\",\"In msg nelems\":" n                  \
          ",\"Out msg nelems\":" n ",\"In split size\":\"[]\",\"Out split size\":\"[]\"")

static tl_status run_ranks(const char *out, const char *a, const char *b, const char *c)
{
    const char *texts[] = { a, b, c };
    bool incomplete;
    tl_error err;
    return run(texts, 3, out, &incomplete, &err);
}

/* Rank 1 comes last, and takes no part in the second collective, which rank 2 calls the first of its group. */
static void collectives_are_matched_by_order(void)
{
    CU_ASSERT_EQUAL(run_ranks("coll",
                              TRACE(COLLECTIVE("g", "allreduce", "262144", "200", "10") ","
                                    COLLECTIVE("g", "allreduce", "262144", "100", "50")),
                              TRACE(COLLECTIVE("g", "allreduce", "262144", "130", "20")),
                              TRACE(COLLECTIVE("g", "allreduce", "262144", "110", "40") ","
                                    COLLECTIVE("g", "allreduce", "262144", "200", "10"))), TL_OK);
    CU_ASSERT_STRING_EQUAL(
        scratch_content("coll/nccl_implicit_sync.csv"),
        "collective_id,Process Group Name,Process Group Ranks,Collective name,Group size,dtype,In msg nelems,Out msg nelems,"
        "In msg size (MB),Out msg size (MB),Full msg size (MB),comm_latency,skew in start time,earliest arrival rank,avg_wait_time,"
        "skew in end time,algo bw (GB/s),bus bw (GB/s),rank_0_ts,rank_0_dur,rank_1_ts,rank_1_dur,rank_2_ts,rank_2_dur,"
        "rank_0_wait_time,rank_1_wait_time,rank_2_wait_time,node_span\n"
        "g_1,g,\"[0, 1, 2]\",allreduce,3,Float,262144,262144,1.0,1.0,1.0,10,0,2,0.0,0,97.65624999999999,130.20833333333331,200,10,,,200,10,"
        "0,,0,inter_node\n"
        "g_0,g,\"[0, 1, 2]\",allreduce,3,Float,262144,262144,1.0,1.0,1.0,20,30,0,16.666666666666668,0,48.82812499999999,65.10416666666666,"
        "100,50,130.0,20.0,110,40,30,0.0,20,inter_node\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("coll/nccl_straggler_summary.csv"),
                           "rank,total_wait_time_us,mean_wait_time_us,times_arrived_last,times_arrived_first,pct_arrived_last,"
                           "num_collectives,total_nccl_dur_us,node_id\n"
                           "1,0.0,0.0,1,0,50.0,2,20.0,0\n2,20.0,10.0,0,1,0.0,2,50.0,1\n0,30.0,15.0,1,1,50.0,2,60.0,0\n");
    /* The rank's own table knows it as 0 and nothing of nodes. */
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("coll/rank2/coll_analysis.csv"), "\n0,g,"));
    CU_ASSERT_PTR_NULL(strstr(scratch_content("coll/rank2/coll_analysis.csv"), "node"));
}

static void ranks_that_differ_are_a_note(void)
{
    CU_ASSERT_EQUAL(run_ranks("differ", TRACE(COLLECTIVE("g", "allreduce", "1", "100", "50")),
                              TRACE(COLLECTIVE("g", "allreduce", "2", "100", "50")), TRACE(OP("a", "0", "1"))), TL_OK);
    CU_ASSERT_STRING_EQUAL(scratch_content("differ/nccl_implicit_sync.csv"), "(no file)");
    CU_ASSERT_STRING_EQUAL(scratch_content("differ/nccl_straggler_summary.csv"), "(no file)");
    CU_ASSERT_STRING_NOT_EQUAL(scratch_content("differ/nccl_long.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("differ/notes.txt"), "collective g_0: the ranks do not agree"));
    /* What does not synchronise may differ. */
    CU_ASSERT_EQUAL(run_ranks("may", TRACE(COLLECTIVE("g", "broadcast", "1", "100", "50")),
                              TRACE(COLLECTIVE("g", "broadcast", "2", "100", "50")), TRACE(OP("a", "0", "1"))), TL_OK);
    CU_ASSERT_PTR_NULL(strstr(scratch_content("may/notes.txt"), "agree"));
}

/* Without groups and on one stream each, positions alone are matched; a custom all-reduce is known by its name. */
static void without_metadata_positions_are_matched(void)
{
    const char *a = TRACE(KERNEL("ncclKernel(x)", "1", "100", "5") "," KERNEL("void cross_device_reduce_2stage<x>", "2", "200", "5"));
    CU_ASSERT_EQUAL(run_ranks("plain", a, a, a), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("plain/nccl_implicit_sync.csv"), "\n0,all,,,,,,,,,,5,0,2,0.0,0,,,100,5,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("plain/nccl_implicit_sync.csv"), "\n1,all,,allreduce,,,,,,,,5,0,2,0.0,0,,,200,5,"));
    CU_ASSERT_STRING_EQUAL(scratch_content("plain/nccl_summary_long.csv"), "(no file)");
    /* Two streams: nothing is known. */
    CU_ASSERT_EQUAL(run_ranks("streams", a, TRACE(KERNEL("ncclKernel(x)", "1", "100", "5") ","
                                                  ENTRY("kernel", "nccl", "0", "8", "200", "5", "\"stream\":8,\"correlation\":2")), a),
                    TL_OK);
    CU_ASSERT_STRING_EQUAL(scratch_content("streams/nccl_implicit_sync.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("streams/nccl_long.csv"), "\nUnknown_Group_1,1,1,Unknown_Group,"));
}

/* A rank in the list that was shortened may lie on another node. */
static void groups_span_nodes(void)
{
    static const struct {
        const char *ranks, *span;
    } known[] = {
        { "[0, 1]", "intra_node" },     { "[2, 3]", "intra_node" }, { "[1, 2]", "inter_node" }, { "[0, 1, ...]", "unknown" },
        { "[0, 1, 2, ...]", "inter_node" }, { "[]", "unknown" },    { "", "unknown" },
    };
    tl_colls colls = { .gpus_per_node = 2 };
    tl_sheet sheet;
    tl_error err;
    for (size_t i = 0; i < COUNT(known); i++) {
        char want[32];
        CU_ASSERT_EQUAL_FATAL(tl_sheet_open(&sheet, scratch_folder, "span.csv", NULL, &err), TL_OK);
        tl_coll_put_span(&sheet, &colls, tl_names_intern(&colls.texts, known[i].ranks, strlen(known[i].ranks)));
        tl_sheet_end_row(&sheet);
        CU_ASSERT_EQUAL(tl_sheet_close(&sheet, &err), TL_OK);
        snprintf(want, sizeof want, "%s\n", known[i].span);
        CU_ASSERT_STRING_EQUAL(scratch_content("span.csv"), want);
    }
    tl_colls_free(&colls);
}

#define EXCHANGE(split, ts, dur)                                                                                       \
    ENTRY("kernel", "nccl", "0", "7", ts, dur,                                                                         \
          "\"stream\":7,\"correlation\":1,\"Process Group Name\":\"g\",\"Process Group Ranks\":\"[0, 1, 2]\","         \
          "\"Collective name\":\"all_to_allv\",\"Group size\":3,\"dtype\":\"Byte\",\"In msg nelems\":3145728,"          \
          "\"Out msg nelems\":3145728,\"In split size\":\"" split "\",\"Out split size\":\"[]\"")

static void exchanges_are_summed_up(void)
{
    CU_ASSERT_EQUAL(run_ranks("a2a", TRACE(EXCHANGE("[1048576, 0, 2097152]", "100", "50")),
                              TRACE(EXCHANGE("[1048576, ...]", "110", "40") "," EXCHANGE("[7]", "900", "9")),
                              TRACE(EXCHANGE("[ 1048576,1048576, 1048576 ]", "120", "20"))),
                    TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("a2a/nccl_all2allv.csv"),
                                  "\ng_0,g,\"[0, 1, 2]\",all_to_allv,3,Byte,7,9.0,9437184,50,50,20,36.666666666666664,175.78125,"
                                  "146.484375,58.59375,1.0,20,10,"));
    CU_ASSERT_STRING_EQUAL(scratch_content("a2a/nccl_all2allv_heatmap.csv"),
                           "src_rank,dst_rank,total_sent_MB,avg_sent_MB,count\n0,0,1.0,1.0,1\n0,1,0.0,0.0,1\n0,2,2.0,2.0,1\n"
                           "2,0,1.0,1.0,1\n2,1,1.0,1.0,1\n2,2,1.0,1.0,1\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("a2a/nccl_implicit_sync.csv"), "(no file)");
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

static void without_memory_it_says_so_and_leaves_nothing(void)
{
    const char *texts[] = { TRACE(KERNEL("a", "1", "0", "100") "," FLOW("2") "," LAUNCH("2", "150", "5") ","
                                  ENTRY("cpu_op", "aten::mm", "1", "1", "100", "60", "\"Input Dims\":[[1]],\"Input Strides\":[],"
                                        "\"Concrete Inputs\":[]") "," KERNEL("b", "2", "230", "4") ","
                                  CALL("cudaStreamSynchronize", "3", "80", "21") "," KERNEL("c", "3", "900", "1") ","
                                  COLLECTIVE("g", "allreduce", "1", "1100", "50") "," EXCHANGE("[1, 2, 3]", "1200", "9")),
                            TRACE(COLLECTIVE("g", "allreduce", "1", "1100", "50") "," EXCHANGE("[1, 2, 3]", "1200", "9")) };
    tl_status st = TL_ENOMEM;
    size_t k = 1;

    /* Not every one: a table that is written costs a wait for the disk. */
    for (; st != TL_OK && k < 5000; k += 1 + k / 30) {
        bool incomplete;
        tl_error err;
        tl_mem_fail_after(k);
        st = run(texts, 2, "tight", &incomplete, &err);
        tl_mem_fail_after(0);
        if (st != TL_OK) {
            CU_ASSERT_EQUAL(st, TL_ENOMEM);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "memory"));
        }
    }
    CU_ASSERT_EQUAL(st, TL_OK);
    CU_ASSERT(k > 150);
    CU_ASSERT_STRING_NOT_EQUAL(scratch_content("tight/nccl_all2allv_heatmap.csv"), "(no file)");
}

static const unit_test tests[] = {
    TEST(what_is_not_hidden_is_exposed),
    TEST(names_tell_communication_in_any_case),
    TEST(the_nearest_operator_above_counts),
    TEST(an_event_that_ends_too_late_is_left_out),
    TEST(the_tables_of_gaps),
    TEST(the_tables_of_kernels),
    TEST(short_kernels_fall_into_equal_bins),
    TEST(short_kernels_are_told_by_their_operator),
    TEST(without_gaps_the_tables_have_no_columns),
    TEST(collectives_are_matched_by_order),
    TEST(ranks_that_differ_are_a_note),
    TEST(without_metadata_positions_are_matched),
    TEST(groups_span_nodes),
    TEST(exchanges_are_summed_up),
    TEST(nothing_in_a_trace_is_taken_for_granted),
    TEST(a_file_that_cannot_be_used_is_left_out),
    TEST(a_table_of_an_earlier_run_does_not_stay),
    TEST(without_memory_it_says_so_and_leaves_nothing),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("tracelens_tables", tests, COUNT(tests));
    scratch_remove();
    return status;
}
