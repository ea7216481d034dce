/* test_hta_frame.c - the rows that HTA makes of one trace: rounding, links, steps. */
#include "hta_trace.h"

static void a_row_needs_a_duration_and_a_category(void)
{
    tl_hta_job job = load(TRACE(META ","
                                "{\"ph\":\"X\",\"name\":\"no cat\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2},"
                                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"no dur\",\"pid\":1,\"tid\":1,\"ts\":1},"
                                ENTRY("Trace", "PyTorch Profiler (0)", "0", "9", "") ","
                                "{\"ph\":\"i\",\"cat\":\"odd\",\"name\":\"any ph\",\"ts\":1,\"dur\":2},"
                                OP("aten::mm", "5", "3")), NULL, false);
    CU_ASSERT_STRING_EQUAL(indices(&job.frames.v[0]), "4 5 ");
    CU_ASSERT_EQUAL(job.symbols->v.n, 4);        /* two names, two categories */
    CU_ASSERT_EQUAL(row(&job, 1).stream, -1);
    CU_ASSERT_EQUAL(row(&job, 1).correlation, -1);
    CU_ASSERT_EQUAL(row(&job, 1).link, -1);
    tl_hta_job_free(&job);
}

static void rounding_moves_both_ends_inwards(void)
{
    const char *text = TRACE(OP("a", "10.200", "0.500") "," OP("b", "20.000", "2.900") ","
                             OP("c", "30.700", "1.300") "," OP("d", "40", "3"));
    static const double ts[] = { 11, 20, 31, 40 }, dur[] = { -1, 2, 1, 3 };
    tl_hta_job job = load(text, NULL, false);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(row(&job, i).ts, ts[i]);
        CU_ASSERT_EQUAL(row(&job, i).dur, dur[i]);
        CU_ASSERT_EQUAL(row(&job, i).end, ts[i] + dur[i]);
    }
    CU_ASSERT(job.frames.v[0].ts_whole);
    tl_hta_job_free(&job);

    job = load(text, NULL, true);
    CU_ASSERT_EQUAL(row(&job, 0).ts, 10.2);
    CU_ASSERT_EQUAL(row(&job, 0).dur, 0.5);
    CU_ASSERT_FALSE(job.frames.v[0].ts_whole);
    tl_hta_job_free(&job);
}

static void whole_time_stamps_are_not_rounded(void)
{
    tl_hta_job job = load(TRACE(OP("a", "10", "0.5") "," OP("b", "20", "2")), NULL, false);
    CU_ASSERT_EQUAL(row(&job, 0).dur, 0.5);
    CU_ASSERT(job.frames.v[0].ts_whole);
    tl_hta_job_free(&job);
}

static void a_graph_launch_points_at_its_last_kernel(void)
{
    tl_hta_job job = load(TRACE(OP("first", "0", "1") "," KERNEL("k", "7", "5", "4", "1") "," LAUNCH("5", "1", "1") ","
                                KERNEL("k", "7", "5", "6", "1") "," LAUNCH("6", "2", "1")), NULL, false);
    static const int64_t link[] = { -1, 2, 3, 2, 0 };
    for (size_t i = 0; i < COUNT(link); i++)
        CU_ASSERT_EQUAL(row(&job, i).link, link[i]);
    tl_hta_job_free(&job);
}

static void the_first_entry_cannot_be_linked_to(void)
{
    tl_hta_job job = load(TRACE(LAUNCH("5", "1", "1") "," KERNEL("k", "7", "5", "4", "1") "," STEP("3", "0", "9")),
                          NULL, false);
    CU_ASSERT_EQUAL(row(&job, 0).link, 1);
    CU_ASSERT_EQUAL(row(&job, 0).iteration, 3);
    CU_ASSERT_EQUAL(row(&job, 1).link, 0);
    CU_ASSERT_EQUAL(row(&job, 1).iteration, TL_HTA_NO_STEP);
    tl_hta_job_free(&job);
}

/* "stream" is a lane for display where there is "original_stream", too: HTA does not know of that. */
static void the_stream_is_what_the_trace_calls_so(void)
{
    tl_hta_job job = load(TRACE(META "," ENTRY("kernel", "k", "5", "1", "\"stream\":7,\"original_stream\":20") ","
                                ENTRY("kernel", "k", "6", "1", "\"stream\":\"x\"")), NULL, false);

    CU_ASSERT_EQUAL(row(&job, 0).stream, 7);
    CU_ASSERT_EQUAL(row(&job, 1).stream, -1);
    tl_hta_job_free(&job);
}

static void synchronisations_of_all_streams_are_of_the_device(void)
{
    tl_hta_job job = load(TRACE(OP("first", "0", "1") "," LAUNCH("5", "1", "9") ","
                                ENTRY("cuda_sync", "Context Sync", "2", "7", "\"correlation\":5") ","
                                LAUNCH("6", "11", "9") ","
                                ENTRY("cuda_sync", "Event Sync", "12", "7", "\"stream\":-1,\"correlation\":6") ","
                                LAUNCH("7", "21", "9") ","
                                ENTRY("cuda_sync", "Stream Sync", "22", "7", "\"correlation\":7")), NULL, false);
    static const int64_t link[] = { -1, 2, 1, 4, 3, 0, 0 };
    for (size_t i = 0; i < COUNT(link); i++)
        CU_ASSERT_EQUAL(row(&job, i).link, link[i]);
    tl_hta_job_free(&job);
}

static void rows_belong_to_the_step_of_their_start_or_launch(void)
{
    tl_hta_job job = load(TRACE(OP("before", "9", "5") ","                  /* none */
                                STEP("3", "10", "10") "," STEP("4", "20", "10") ","
                                OP("at the start", "10", "30") ","          /* 3 */
                                OP("at the end", "20", "0") ","             /* 4: a step does not hold its end */
                                OP("behind", "30", "1") ","                 /* none */
                                LAUNCH("5", "19", "1") "," KERNEL("k", "7", "5", "25", "1") ","     /* 3, 3 */
                                KERNEL("unlinked", "7", "6", "25", "1")), NULL, false);             /* none */
    static const int64_t step[] = { -1, 3, 4, 3, 4, -1, 3, 3, -1 };
    for (size_t i = 0; i < COUNT(step); i++)
        CU_ASSERT_EQUAL(row(&job, i).iteration, step[i]);
    CU_ASSERT(job.frames.v[0].iteration_whole);
    tl_hta_job_free(&job);
}

static void stream_0_has_no_step_except_for_host_operators(void)
{
    tl_hta_job job = load(TRACE(STEP("3", "10", "10") "," LAUNCH("5", "11", "1") ","
                                KERNEL("k", "0", "5", "12", "1") ","
                                ENTRY("cpu_op", "triton", "12", "1", "\"stream\":0")), NULL, false);
    CU_ASSERT_EQUAL(row(&job, 1).iteration, 3);
    CU_ASSERT_EQUAL(row(&job, 2).iteration, TL_HTA_STEP_UNKNOWN);
    CU_ASSERT_EQUAL(row(&job, 2).link, 1);
    CU_ASSERT_EQUAL(row(&job, 3).iteration, 3);
    CU_ASSERT_FALSE(job.frames.v[0].iteration_whole);
    tl_hta_job_free(&job);
}

/* The last window in file order that holds ts. */
static int64_t slow_step(const tl_hta_frame *frame, const tl_hta_symbols *symbols, double ts)
{
    int64_t step = TL_HTA_NO_STEP;
    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *r = &frame->rows.v[i];
        if (symbols->v.v[r->name].step >= 0 && r->ts <= ts && ts < r->ts + r->dur)
            step = symbols->v.v[r->name].step;
    }
    return step;
}

static void of_windows_in_any_position_the_last_in_the_file_counts(void)
{
    uint64_t seed = 20;
    for (int round = 0; round < 200; round++) {
        tl_hta_symbols symbols = { 0 };
        tl_hta_frame frame = { .symbols = &symbols };
        for (uint32_t i = 0; i < 40; i++) {
            char name[32];
            bool window = i % 4 == 0;
            int n = snprintf(name, sizeof name, window ? "ProfilerStep#%u" : "op", i);
            tl_hta_row r = { .ts = unit_below(&seed, 20), .dur = window ? (double)unit_below(&seed, 12) - 1 : 1,
                             .stream = -1, .correlation = -1, .link = -1, .index = i };
            r.end = r.ts + r.dur;
            r.name = r.cat = tl_hta_symbol_id(&symbols, (tl_text){ name, (size_t)n });
            tl_vec_room(&frame.rows);
            frame.rows.v[frame.rows.n++] = r;
        }
        tl_hta_frame_iterate(&frame);
        for (size_t i = 0; i < frame.rows.n; i++)
            CU_ASSERT_EQUAL(frame.rows.v[i].iteration, slow_step(&frame, &symbols, frame.rows.v[i].ts));
        tl_hta_frame_free(&frame);
        tl_hta_symbols_free(&symbols);
    }
}

static const unit_test tests[] = {
    TEST(a_row_needs_a_duration_and_a_category),
    TEST(rounding_moves_both_ends_inwards),
    TEST(whole_time_stamps_are_not_rounded),
    TEST(a_graph_launch_points_at_its_last_kernel),
    TEST(the_first_entry_cannot_be_linked_to),
    TEST(the_stream_is_what_the_trace_calls_so),
    TEST(synchronisations_of_all_streams_are_of_the_device),
    TEST(rows_belong_to_the_step_of_their_start_or_launch),
    TEST(stream_0_has_no_step_except_for_host_operators),
    TEST(of_windows_in_any_position_the_last_in_the_file_counts),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta frame", tests, COUNT(tests));
    scratch_remove();
    return status;
}
