/* test_hta_critical.c - the edges of HTA's graph, rule by rule, the path through them, and where HTA gives up. */
#include "hta_trace.h"
#include "src/compat/hta/critical_path.h"

#define ON(tid, cat, name, ts, dur, args)                                                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur     \
    ",\"args\":{" args "}}"
#define CALL(name, corr, ts, dur) ENTRY("cuda_runtime", name, ts, dur, "\"correlation\":" corr)
/* On a thread of its stream: a thread with work of a device has no call stack. */
#define WORK(name, stream, corr, ts, dur)                                                                              \
    ON(stream, "kernel", name, ts, dur, "\"stream\":" stream ",\"correlation\":" corr)
#define SYNC(name, stream, corr, ts, dur, args)                                                                        \
    ON("\"sync\"", "cuda_sync", name, ts, dur, "\"stream\":" stream ",\"correlation\":" corr args)
#define WAITS_FOR(stream, record) ",\"wait_on_stream\":" stream ",\"wait_on_cuda_event_record_corr_id\":" record

static const tl_hta_region whole = { .annotation = "" };

/* "1s>2s dependency 0" for an edge, with " @1" where its time counts for row 1; edges in the order that HTA met them. */
static int put_edges(char *text, size_t size, const tl_hta_path_graph *g)
{
    int n = 0;
    TL_EACH (const tl_hta_edge, edge, g->edges) {
        const tl_hta_moment *from = &g->nodes.v[edge->from], *to = &g->nodes.v[edge->to];
        n += snprintf(text + n, size - (size_t)n, "%s%u%c>%u%c %s %g", n > 0 ? ", " : "",
                      g->clip.rows.v[from->row].index, from->end ? 'e' : 's', g->clip.rows.v[to->row].index,
                      to->end ? 'e' : 's', tl_hta_edge_labels[edge->kind], edge->weight);
        if (edge->event != TL_HTA_NO_EVENT)
            n += snprintf(text + n, size - (size_t)n, " @%d", (int)edge->event);
    }
    return n;
}

/* The edges of a region, "no path: why" behind them where there is none; or "gives up: why". */
static const char *edges_in(const char *trace, const tl_hta_region *region, bool ns)
{
    static char text[1024];
    tl_hta_job job = load(trace, NULL, ns);

    settle(&job, true);
    tl_hta_rank_calls calls = tl_hta_rank_calls_of(&job.frames.v[0], "load");
    if (calls.why != NULL) {
        snprintf(text, sizeof text, "gives up: %s", calls.why);
    } else {
        tl_hta_path_graph g = tl_hta_path_graph_of(&calls, region);
        int n = put_edges(text, sizeof text, &g);
        if (g.why[0] != '\0')
            snprintf(text, sizeof text, "gives up: %s", g.why);
        else if (g.invalid != NULL)
            snprintf(text + n, sizeof text - (size_t)n, ", no path: %s", g.invalid);
        tl_hta_path_graph_free(&g);
    }
    tl_hta_rank_calls_free(&calls);
    tl_hta_job_free(&job);
    return text;
}

/* The nodes of the path as "1s 1e 2s ". */
static const char *path_in(const char *trace)
{
    static char text[512];
    int n = 0;
    tl_hta_job job = load(trace, NULL, false);

    settle(&job, true);
    tl_hta_rank_calls calls = tl_hta_rank_calls_of(&job.frames.v[0], NULL);
    CU_ASSERT_PTR_NULL_FATAL(calls.why);
    tl_hta_path_graph g = tl_hta_path_graph_of(&calls, &whole);
    text[0] = '\0';
    for (size_t i = 0; i <= g.npath && g.npath > 0; i++) {
        const uint32_t node = tl_hta_node_of_path(&g, i);
        n += snprintf(text + n, sizeof text - (size_t)n, "%u%c ", tl_hta_row_of_node(&g, node)->index,
                      g.nodes.v[node].end ? 'e' : 's');
    }
    tl_hta_path_graph_free(&g);
    tl_hta_rank_calls_free(&calls);
    tl_hta_job_free(&job);
    return text;
}

/*     1   [launch a)               [100, 105)
 *     2   |--------->[ a )         [110, 114): the launch found the queue empty, and so the delay is the launch's
 */
static void a_kernel_that_finds_its_stream_empty_comes_after_its_launch(void)
{
    const char *trace = TRACE(META "," LAUNCH("1", "100", "5") "," WORK("a", "7", "1", "110", "4"));

    CU_ASSERT_STRING_EQUAL(edges_in(trace, &whole, false), "1s>1e operator 5 @1, 2s>2e operator 4 @2, "
                                                           "1s>2s kernel_launch_delay 10");
    CU_ASSERT_STRING_EQUAL(path_in(trace), "1s 2s 2e ");
}

/*     1 2     [a) [b)                        [100, 102) [103, 105)
 *     3 4     ......[  a  ).[  b  )...       [110, 120) [123, 130): b waited for a; a, with b behind it in the queue,
 *                                            for nothing
 *     5 6     ..................[c]....[c)   as late as 1,500 us after b: for nothing
 */
static void a_kernel_that_was_queued_comes_after_the_one_before_it(void)
{
    const char *trace = TRACE(
        META "," LAUNCH("1", "100", "2") "," LAUNCH("2", "103", "2") "," WORK("a", "7", "1", "110", "10") "," WORK(
            "b", "7", "2", "123", "7") "," LAUNCH("3", "126", "1") "," WORK("c", "7", "3", "1630", "1"));

    CU_ASSERT_STRING_EQUAL(edges_in(trace, &whole, false),
                           "1s>1e operator 2 @1, 2s>2e operator 2 @2, 5s>5e operator 1 @5, 1e>2s dependency 0, "
                           "2e>5s dependency 0, 3s>3e operator 10 @3, 4s>4e operator 7 @4, "
                           "3e>4s kernel_kernel_delay 3 @3, 6s>6e operator 1 @6");
    /* With launch edges each kernel comes after its launch. */
    CU_ASSERT_PTR_NOT_NULL(strstr(edges_in(trace, &(tl_hta_region){ .annotation = "", .launch_edges = true }, false),
                                  "2s>4s kernel_launch_delay 0, 6s>6e operator 1 @6, 5s>6s kernel_launch_delay 0"));
}

/*     1   [ mm                            )   [ add )        [100, 140) [150, 155)
 *     2     [ launch )                                       [105, 110): a lock, its time is its own
 *     3                 [ sync       )                       [115, 130): what it waits for matters, not itself
 */
static void time_of_the_host_counts_for_what_is_open(void)
{
    const char *trace = TRACE(META "," OP("mm", "100", "40") "," LAUNCH("1", "105", "5") "," CALL(
        "cudaDeviceSynchronize", "2", "115", "15") "," OP("add", "150", "5") "," WORK("k", "7", "1", "112", "4"));

    CU_ASSERT_STRING_EQUAL(edges_in(trace, &whole, false),
                           "2s>2e operator 5 @2, 1s>2s operator 5 @1, 2e>3s operator 5 @1, 3s>3e operator 0 @3, "
                           "3e>1e operator 10 @1, 1e>4s dependency 0, 4s>4e operator 5 @4, 5s>5e operator 4 @5, "
                           "2s>5s kernel_launch_delay 7");
}

/*     1   thread 1   [ launch a      )              [100, 110)
 *     2   thread 2      [ launch b        )         [104, 115): open when a ends, and so b's time does not count
 *     3   thread 1                          [ host alloc )
 */
static void of_calls_that_hold_the_lock_the_first_to_end_counts(void)
{
    const char *trace = TRACE(META "," LAUNCH("1", "100", "10") "," ON(
        "2", "cuda_runtime", "cudaLaunchKernel", "104", "11",
        "\"correlation\":2") "," CALL("cudaHostAlloc", "9", "120",
                                      "5") "," WORK("a", "7", "1", "130", "1") "," WORK("b", "20", "2", "140", "1"));

    CU_ASSERT_STRING_EQUAL(edges_in(trace, &whole, false),
                           "2s>1e dependency 0, 1s>1e operator 10 @1, 1e>2e dependency 0, 3s>3e operator 5 @3, "
                           "1e>3s dependency 0, 4s>4e operator 1 @4, 1s>4s kernel_launch_delay 30, "
                           "5s>5e operator 1 @5, 2s>5s kernel_launch_delay 36");
}

/*     1   thread 1   [ forward )                          row 2, of the other thread, comes after it as if it were of
 *     2   thread 2                [ autograd )            the same
 */
static void the_backward_pass_follows_the_forward_pass(void)
{
    const char *trace = TRACE(META "," OP("my forward", "100", "10") "," ON(
        "2", "cpu_op", "autograd::f", "120", "10", "") "," LAUNCH("1", "140", "1") "," WORK("k", "7", "1", "150", "1"));
    const char *other = TRACE(META "," OP("my forward", "100", "10") "," ON(
        "2", "cpu_op", "other", "120", "10", "") "," LAUNCH("1", "140", "1") "," WORK("k", "7", "1", "150", "1"));

    CU_ASSERT_PTR_NOT_NULL(strstr(edges_in(trace, &whole, false), "1e>2s dependency 0, 2s>2e operator 10 @2, 2e>3s"));
    CU_ASSERT_PTR_NULL(strstr(edges_in(other, &whole, false), "1e>2s"));
}

/*     host        [a).[record)..[wait)...[b).................[event sync   )...[stream sync)..[context sync)
 *     stream 7    ......[ a       )..
 *     stream 20   ...................[ b ]...                b waits for a
 */
static void synchronisations_come_after_the_work_that_they_wait_for(void)
{
#define QUEUED                                                                                                         \
    META "," LAUNCH("1", "100", "2") "," CALL("cudaEventRecord", "2", "104", "1") "," CALL(                            \
        "cudaStreamWaitEvent", "3", "106",                                                                             \
        "1") "," LAUNCH("4", "110", "2") "," WORK("a", "7", "1", "105", "30") "," WORK("b", "20", "4", "136", "4")
    const char *stream = TRACE(QUEUED "," SYNC("Stream Wait Event", "20", "3", "106", "1", WAITS_FOR("7", "2")));
    const char *event = TRACE(QUEUED "," CALL("cudaEventSynchronize", "5", "112", "25") "," SYNC(
        "Event Sync", "-1", "5", "112", "24", WAITS_FOR("7", "2")));
    const char *one_stream = TRACE(
        QUEUED "," CALL("cudaStreamSynchronize", "6", "130", "15") "," SYNC("Stream Sync", "20", "6", "130", "14", ""));
    const char *all = TRACE(QUEUED "," CALL("cudaDeviceSynchronize", "7", "130", "15") "," SYNC("Context Sync", "-1",
                                                                                                "7", "130", "14", ""));

    CU_ASSERT_PTR_NOT_NULL(strstr(edges_in(stream, &whole, false), "6s>6e operator 4 @6, 5e>6s sync_dependency 0"));
    CU_ASSERT_PTR_NULL(strstr(edges_in(stream, &whole, false), "4s>6s")); /* a ended after b's launch */
    CU_ASSERT_PTR_NOT_NULL(strstr(edges_in(event, &whole, false), "5e>7e sync_dependency 0"));
    CU_ASSERT_PTR_NOT_NULL(strstr(edges_in(one_stream, &whole, false), "6e>7e sync_dependency 0"));
    CU_ASSERT_PTR_NULL(strstr(edges_in(one_stream, &whole, false), "5e>7e"));
    CU_ASSERT_PTR_NOT_NULL(strstr(edges_in(all, &whole, false), "5e>7e sync_dependency 0, 6e>7e sync_dependency 0"));
}

/*     1   [ fwd   )                                region: the second fwd; the kernel belongs to it for its launch
 *     2               [ fwd           )
 *     3 4                 [launch)          [k)
 */
static void a_region_has_the_work_that_it_launched(void)
{
    const char *trace = TRACE(META "," OP("fwd", "100", "10") "," OP("fwd 2", "120", "10") "," LAUNCH(
        "1", "122", "1") "," WORK("k", "7", "1", "150", "1"));
    const char *inside = "3s>3e operator 1 @3, 2s>3s operator 2 @2, 3e>2e operator 7 @2, 4s>4e operator 1 @4, "
                         "3s>4s kernel_launch_delay 28";

    CU_ASSERT_STRING_EQUAL(edges_in(trace, &(tl_hta_region){ "fwd", { 1, 1 }, false }, false), inside);
    CU_ASSERT_STRING_EQUAL(edges_in(trace, &(tl_hta_region){ "fwd", { 1, 7 }, false }, false), inside);
    CU_ASSERT_STRING_EQUAL(edges_in(trace, &(tl_hta_region){ "fwd", { 2, 2 }, false }, false),
                           "gives up: instance 2 is asked for, and there are 2, counted from 0");
}

static void hta_gives_up_where_a_row_is_not_what_it_expects(void)
{
    const char *no_launch = TRACE(META "," OP("a", "100", "10"));
    const char *unknown = TRACE(META "," ENTRY("mtia_runtime", "cudaLaunchKernel", "100", "5",
                                               "\"correlation\":1") "," WORK("a", "7", "1", "110", "4"));
    const char *twice = TRACE(META "," LAUNCH("1", "100", "5") "," WORK("a", "7", "1", "110", "4") "," OP(
        "b", "120", "1") "," ENTRY("cpu_op", "c", "90", "1", "\"correlation\":1"));
    const char *other_sync = TRACE(META "," LAUNCH("1", "100", "5") "," WORK("a", "7", "1", "110", "4") "," CALL(
        "cudaX", "2", "130", "3") "," SYNC("Unknown", "7", "2", "130", "1", ""));

    /* The second call is not in the region. */
    const char *waits_twice = TRACE(META "," OP("fwd", "100", "30") "," LAUNCH("1", "105", "2") "," WORK(
        "a", "7", "1", "110", "4") "," CALL("cudaStreamWaitEvent", "3", "112",
                                            "1") "," CALL("cudaStreamWaitEvent", "3", "300",
                                                          "1") "," SYNC("Stream Wait Event", "7", "3", "115", "1", ""));

    CU_ASSERT_STRING_EQUAL(edges_in(waits_twice, &(tl_hta_region){ "fwd", { 0, 0 }, false }, false),
                           "gives up: entry 6, on a stream, is linked to several calls");
    CU_ASSERT_STRING_EQUAL(edges_in(no_launch, &whole, false),
                           "gives up: nothing was launched by a call that HTA knows");
    CU_ASSERT_STRING_EQUAL(edges_in(unknown, &whole, false),
                           "gives up: entry 1, which launched entry 2, is no node of the graph");
    CU_ASSERT_STRING_EQUAL(edges_in(twice, &whole, false),
                           "gives up: entry 2, on a stream, is linked to several calls");
    CU_ASSERT_STRING_EQUAL(edges_in(other_sync, &whole, false),
                           "gives up: entry 4 is a synchronisation of a kind that HTA does not know");
}

/* The wait is for the stream that it is on: b, on stream 7, for a, on stream 7. */
static void no_path_goes_through_a_wait_within_a_stream(void)
{
    const char *trace = TRACE(META "," LAUNCH("1", "100", "2") "," CALL("cudaEventRecord", "2", "104", "1") "," CALL(
        "cudaStreamWaitEvent", "3", "106",
        "1") "," LAUNCH("4", "110", "2") "," WORK("a", "7", "1", "105",
                                                  "30") "," WORK("b", "7", "4", "136",
                                                                 "4") "," SYNC("Stream Wait Event", "7", "3", "106",
                                                                               "1", WAITS_FOR("7", "2")));

    CU_ASSERT_PTR_NOT_NULL(strstr(edges_in(trace, &whole, false),
                                  "5e>6s sync_dependency 0, "
                                  "no path: work waits for other work of the same stream"));
}

/* A launch of two kernels stands in the series of its queue twice, and so its last kernel comes twice: after itself. */
static void no_path_goes_through_a_circle(void)
{
    const char *trace =
        TRACE(META "," LAUNCH("1", "100", "5") "," WORK("a", "7", "1", "110", "4") "," WORK("b", "7", "1", "120", "4"));

    CU_ASSERT_PTR_NOT_NULL(strstr(edges_in(trace, &whole, false), "no path: edges make a circle"));
    CU_ASSERT_STRING_EQUAL(path_in(trace), "");
}

/* From 100.2 to 100.9 lies no full microsecond.  A row of -1 us on a stream weighs that, and counts nothing. */
static void a_weight_of_minus_one_counts_nothing(void)
{
    const char *trace =
        TRACE(META "," LAUNCH("1", "90.0", "5.0") "," WORK("a", "7", "1", "100.2", "0.7") "," OP("b", "110.0", "50.0"));

    CU_ASSERT_STRING_EQUAL(edges_in(trace, &whole, false),
                           "1s>1e operator 5 @1, 1e>3s dependency 0, 3s>3e operator 50 @3, 2s>2e operator -1 @2, "
                           "1s>2s kernel_launch_delay 11");
    CU_ASSERT_STRING_EQUAL(path_in(trace), "1s 1e 3s 3e ");
    CU_ASSERT_PTR_NOT_NULL(strstr(edges_in(trace, &whole, true), "2s>2e operator 0.7"));
}

/* The whole of the first rank, and what binds it: 5 us load data, 10 wait for the launch, 4 are a kernel's. */
static void tables_say_what_binds_a_path(void)
{
    const char *trace = TRACE(META "," OP("load it", "95", "5") "," LAUNCH("1", "100", "1") "," WORK(
        "ncclDevKernel_AllReduce", "7", "1", "110", "4") "," STEP("3", "90", "50"));
    const char *file = scratch_text("rank0.json", trace);
    tl_hta_file files[] = { { file, 0 }, { scratch_text("rank1.json", trace), 1 } };
    tl_hta_parameters parameters = tl_hta_defaults;
    tl_hta_options options = { .files = files, .nfiles = 2, .parameters = &parameters };
    tl_hta_job job = { 0 };

    parameters.data_load_events = "load";
    tl_hta_job_load(&job, &options);
    settle(&job, false);
    CU_ASSERT_EQUAL(write_table(&job, tl_hta_critical_paths, scratch_folder), TL_OK);
    CU_ASSERT_STRING_EQUAL(content("critical_path_whole_bound_by.csv"), "bound_by,count,sum\n,1,0\n"
                                                                        "data_loading,1,5\n"
                                                                        "gpu_communication_bound,1,4\n"
                                                                        "gpu_kernel_launch_overhead,1,10\n");
    CU_ASSERT_STRING_EQUAL(content("critical_path_whole_path.csv"),
                           "node,event,ts,is_start,name\n0,1,5,True,load it\n1,1,10,False,load it\n"
                           "2,2,10,True,cudaLaunchKernel\n4,3,20,True,ncclDevKernel_AllReduce\n"
                           "5,3,24,False,ncclDevKernel_AllReduce\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(content("critical_path_step0_rank1_stats.csv"), "success,True\nclipped_events,4\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(content("critical_path_step0_rank1_stats.csv"),
                                  "what_if_comm_free_path_length,15\n"
                                  "what_if_kernels_half_path_length,17\n"));
    CU_ASSERT_STRING_EQUAL(content("critical_path_whole_rank1_stats.csv"), "(no file)");
    CU_ASSERT_STRING_EQUAL(content("critical_path_step1_rank0_stats.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(
        strstr(content("critical_path_whole_edges.csv"), "\n2,4,2,1,3,1,10,20,kernel_launch_delay,10,10,,1\n"));

    parameters.annotation = "load it";
    parameters.launch_edges = true;
    CU_ASSERT_EQUAL(write_table(&job, tl_hta_critical_paths, scratch_folder), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("critical_path_load_it_0_launch_edges_rank1_stats.csv"), "edges,5\n"));
    tl_hta_job_free(&job);
}

/* Of complete events the path's and annotations stay; the op that is not on it goes. */
static void the_overlaid_trace_shows_the_path(void)
{
    const char *trace = TRACE(META "," OP("off", "60", "5") "," LAUNCH("1", "100", "5") "," WORK(
        "k", "7", "1", "110.5", "4") "," STEP("3", "90", "50"));
    tl_hta_file file = { scratch_text("shown.json", trace), 0 };
    tl_hta_parameters parameters = tl_hta_defaults;
    tl_hta_options options = { .files = &file, .nfiles = 1, .parameters = &parameters };
    tl_hta_job job = { 0 };

    parameters.overlay = true;
    parameters.annotation = "ProfilerStep";
    tl_hta_job_load(&job, &options);
    settle(&job, false);
    CU_ASSERT_EQUAL(write_table(&job, tl_hta_critical_paths, scratch_folder), TL_OK);
    const char *text = content("overlaid_critical_path_shown.json");
    CU_ASSERT_PTR_NULL(strstr(text, "off"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "ProfilerStep#3"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"args\":{\"critical\": 1, \"stream\":7,"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "{\"ph\": \"s\", \"cat\": \"critical_path\", \"name\": \"critical_path\", \"pid\": 1, "
                     "\"tid\": 1, \"ts\": 100, \"id\": 0, \"args\": {\"weight\": 11, \"critical\": 1, "
                     "\"type\": \"critical_path_kernel_launch_delay\"}},"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"tid\": 7, \"ts\": 110, \"id\": 0, \"bp\": \"e\""));
    tl_hta_job_free(&job);
}

static const unit_test tests[] = {
    TEST(a_kernel_that_finds_its_stream_empty_comes_after_its_launch),
    TEST(a_kernel_that_was_queued_comes_after_the_one_before_it),
    TEST(time_of_the_host_counts_for_what_is_open),
    TEST(of_calls_that_hold_the_lock_the_first_to_end_counts),
    TEST(the_backward_pass_follows_the_forward_pass),
    TEST(synchronisations_come_after_the_work_that_they_wait_for),
    TEST(a_region_has_the_work_that_it_launched),
    TEST(hta_gives_up_where_a_row_is_not_what_it_expects),
    TEST(no_path_goes_through_a_wait_within_a_stream),
    TEST(no_path_goes_through_a_circle),
    TEST(a_weight_of_minus_one_counts_nothing),
    TEST(tables_say_what_binds_a_path),
    TEST(the_overlaid_trace_shows_the_path),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta critical path", tests, COUNT(tests));
    scratch_remove();
    return status;
}
