/* test_tracelens_coll.c - TraceLens' tables of collectives: which kernels are one, who waits, what is exchanged. */
#include "lens_tables.h"

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
        "g_1,g,\"[0, 1, 2]\",allreduce,3,Float,262144,262144,1,1,1,10,0,2,0,0,97.65624999999999,130.20833333333331,200,10,,,200,10,"
        "0,,0,inter_node\n"
        "g_0,g,\"[0, 1, 2]\",allreduce,3,Float,262144,262144,1,1,1,20,30,0,16.666666666666668,0,48.82812499999999,65.10416666666666,"
        "100,50,130,20,110,40,30,0,20,inter_node\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("coll/nccl_straggler_summary.csv"),
                           "rank,total_wait_time_us,mean_wait_time_us,times_arrived_last,times_arrived_first,pct_arrived_last,"
                           "num_collectives,total_nccl_dur_us,node_id\n"
                           "1,0,0,1,0,50,2,20,0\n2,20,10,0,1,0,2,50,1\n0,30,15,1,1,50,2,60,0\n");
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
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("plain/nccl_implicit_sync.csv"), "\n0,all,,,,,,,,,,5,0,2,0,0,,,100,5,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("plain/nccl_implicit_sync.csv"), "\n1,all,,allreduce,,,,,,,,5,0,2,0,0,,,200,5,"));
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
    tl_csv_folder folder = { .dir = scratch_folder };
    for (size_t i = 0; i < COUNT(known); i++) {
        char want[32];
        tl_csv csv = tl_csv_open(&folder, "span.csv", NULL);
        const tl_coll_row row = { .ranks = tl_names_intern(&colls.texts, known[i].ranks, strlen(known[i].ranks)) };
        tl_coll_end_row(&csv, &colls, TL_COLL_SPAN, &row);
        tl_csv_close(&csv);
        snprintf(want, sizeof want, "%s\n", known[i].span);
        CU_ASSERT_STRING_EQUAL(scratch_content("span.csv"), want);
    }
    tl_colls_free(&colls);
}

static void exchanges_are_summed_up(void)
{
    CU_ASSERT_EQUAL(run_ranks("a2a", TRACE(EXCHANGE("[1048576, 0, 2097152]", "100", "50")),
                              TRACE(EXCHANGE("[1048576, ...]", "110", "40") "," EXCHANGE("[7]", "900", "9")),
                              TRACE(EXCHANGE("[ 1048576,1048576, 1048576 ]", "120", "20"))),
                    TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("a2a/nccl_all2allv.csv"),
                                  "\ng_0,g,\"[0, 1, 2]\",all_to_allv,3,Byte,7,9,9437184,50,50,20,36.666666666666664,175.78125,"
                                  "146.484375,58.59375,1,20,10,"));
    CU_ASSERT_STRING_EQUAL(scratch_content("a2a/nccl_all2allv_heatmap.csv"),
                           "src_rank,dst_rank,total_sent_MB,avg_sent_MB,count\n0,0,1,1,1\n0,1,0,0,1\n0,2,2,2,1\n"
                           "2,0,1,1,1\n2,1,1,1,1\n2,2,1,1,1\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("a2a/nccl_implicit_sync.csv"), "(no file)");
}

static const unit_test tests[] = {
    TEST(collectives_are_matched_by_order),
    TEST(ranks_that_differ_are_a_note),
    TEST(without_metadata_positions_are_matched),
    TEST(groups_span_nodes),
    TEST(exchanges_are_summed_up),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("tracelens_coll", tests, COUNT(tests));
    scratch_remove();
    return status;
}
