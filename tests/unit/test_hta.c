/* test_hta.c - HTA's rules, each on a trace of a few lines. */
#include "../../src/compat/hta_job.h"
#include "../../src/compat/hta_spans.h"
#include "scratch.h"
#include "tlmpi/compat/hta.h"
#include "tlmpi/model/schema.h"
#include "unit.h"
#include <math.h>

/* ------------------------------------------------------------------------------------------------------ traces */

#define TRACE(entries) "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 7000, \"traceEvents\": [" entries "]}"
#define ENTRY(cat, name, ts, dur, args)                                                                                \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur           \
    ",\"args\":{" args "}}"
#define OP(name, ts, dur) ENTRY("cpu_op", name, ts, dur, "")
#define STEP(k, ts, dur) ENTRY("user_annotation", "ProfilerStep#" k, ts, dur, "")
#define LAUNCH(corr, ts, dur) ENTRY("cuda_runtime", "cudaLaunchKernel", ts, dur, "\"correlation\":" corr)
#define KERNEL(name, stream, corr, ts, dur) \
    ENTRY("kernel", name, ts, dur, "\"device\":0,\"stream\":" stream ",\"correlation\":" corr)
#define META "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"ts\":0,\"args\":{}}"

/* The job of one trace, or of two. */
static tl_hta_job load(const char *text, const char *text_1, bool ns)
{
    tl_hta_file files[] = { { scratch_text("rank0.json", text), 0 },
                            { text_1 != NULL ? scratch_text("rank1.json", text_1) : NULL, 1 } };
    tl_hta_options options = { .files = files, .nfiles = text_1 != NULL ? 2 : 1, .ns = ns };
    tl_hta_job job = { 0 };
    tl_error err;

    CU_ASSERT_EQUAL_FATAL(tl_hta_job_load(&job, &options, &err), TL_OK);
    CU_ASSERT_EQUAL_FATAL(job.frames.n, options.nfiles);
    return job;
}

static tl_hta_row row(const tl_hta_job *job, size_t i)
{
    CU_ASSERT_FATAL(i < job->frames.v[0].rows.n);
    return job->frames.v[0].rows.v[i];
}

static void settle(tl_hta_job *job, bool include_last)
{
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(tl_hta_job_settle(job, include_last, &err), TL_OK);
}

/* "3 5 4 " for the rows with these indices. */
static const char *indices(const tl_hta_frame *frame)
{
    static char text[256];
    int at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < frame->rows.n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%u ", frame->rows.v[i].index);
    return text;
}

/* ----------------------------------------------------------------------------------------------------- classes */

static void each_rule_is_the_first_to_catch_its_name(void)
{
    for (size_t i = 0; i < tl_hta_nrules; i++) {
        const char *seen = tl_hta_rules[i].seen;
        CU_ASSERT_PTR_EQUAL(tl_hta_rule_of((tl_text){ seen, strlen(seen) }), &tl_hta_rules[i]);
    }
}

static void the_name_decides_the_class(void)
{
    static const struct {
        const char *name;
        tl_hta_class class;
    } known[] = {
        { "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)", TL_HTA_COMMUNICATION },
        { "hipMemcpyAsync", TL_HTA_COMMUNICATION },             /* not memory: hip comes first */
        { "xncclKernel", TL_HTA_COMMUNICATION },
        { "xncclDevKernel", TL_HTA_COMPUTATION },
        { "NCCL", TL_HTA_COMPUTATION },                         /* case counts */
        { "Memcpy DtoH (Device -> Pageable)", TL_HTA_MEMORY },
        { "memcpy", TL_HTA_COMPUTATION },
        { "void Memcpy", TL_HTA_OTHER },
        { "cudaLaunchKernelExC", TL_HTA_OTHER },
        { "cudaGraphLaunch", TL_HTA_COMPUTATION },
        { "cuLaunchKernel", TL_HTA_COMPUTATION },
        { "void softmax_dmax(float)", TL_HTA_OTHER },           /* dma in the middle of a word */
        { "Context Sync", TL_HTA_OTHER },
        { "DeepEP::dispatch", TL_HTA_COMPUTATION },
        { "", TL_HTA_COMPUTATION },
    };
    for (size_t i = 0; i < COUNT(known); i++)
        CU_ASSERT_EQUAL(tl_hta_rule_of((tl_text){ known[i].name, strlen(known[i].name) })->class, known[i].class);
}

static void step_names_are_read_as_hta_reads_them(void)
{
    static const struct {
        const char *name;
        int64_t step;
        bool row, counts;
    } known[] = {
        { "ProfilerStep#12", 12, true, true },   { "ProfilerStep # 7 end", 7, true, false },
        { "ProfilerStep#", -1, true, false },    { "ProfilerStep*", -1, true, false },
        { "ProfilerStep", -1, true, false },     { "aProfilerStep#3", -1, false, false },
        { "ProfilerStep#007", 7, true, true },
    };
    tl_hta_symbols symbols = { 0 };
    for (size_t i = 0; i < COUNT(known); i++) {
        uint32_t id = tl_hta_symbol_id(&symbols, (tl_text){ known[i].name, strlen(known[i].name) });
        CU_ASSERT_EQUAL_FATAL(id, i);
        CU_ASSERT_EQUAL(symbols.v.v[id].step, known[i].step);
        CU_ASSERT_EQUAL(symbols.v.v[id].step_row, known[i].row);
        CU_ASSERT_EQUAL(symbols.v.v[id].step_name, known[i].counts);
    }
    tl_hta_symbols_free(&symbols);
}

/* ---------------------------------------------------------------------------------------------------- the frame */

static void a_row_needs_a_duration_and_a_category(void)
{
    tl_hta_job job = load(TRACE(META ","
                                "{\"ph\":\"X\",\"name\":\"no cat\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2},"
                                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"no dur\",\"pid\":1,\"tid\":1,\"ts\":1},"
                                ENTRY("Trace", "PyTorch Profiler (0)", "0", "9", "") ","
                                "{\"ph\":\"i\",\"cat\":\"odd\",\"name\":\"any ph\",\"ts\":1,\"dur\":2},"
                                OP("aten::mm", "5", "3")), NULL, false);
    CU_ASSERT_STRING_EQUAL(indices(&job.frames.v[0]), "4 5 ");
    CU_ASSERT_EQUAL(job.symbols.v.n, 4);        /* two names, two categories */
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
    CU_ASSERT_FALSE(job.frames.v[0].dur_whole);
    tl_hta_job_free(&job);

    job = load(TRACE(OP("b", "20", "2")), NULL, false);
    CU_ASSERT(job.frames.v[0].dur_whole);
    tl_hta_job_free(&job);

    /* An entry without a duration makes the column one of doubles, though it is dropped. */
    job = load(TRACE(META "," OP("b", "20", "2")), NULL, false);
    CU_ASSERT_FALSE(job.frames.v[0].dur_whole);
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
        tl_hta_job job = { 0 };
        tl_hta_frame frame = { 0 };
        tl_error err;
        for (uint32_t i = 0; i < 40; i++) {
            char name[32];
            bool window = i % 4 == 0;
            int n = snprintf(name, sizeof name, window ? "ProfilerStep#%u" : "op", i);
            tl_hta_row r = { .ts = unit_below(&seed, 20), .dur = window ? (double)unit_below(&seed, 12) - 1 : 1,
                             .stream = -1, .correlation = -1, .link = -1, .index = i };
            r.end = r.ts + r.dur;
            r.name = r.cat = tl_hta_symbol_id(&job.symbols, (tl_text){ name, (size_t)n });
            CU_ASSERT_FATAL(tl_vec_room(&frame.rows));
            frame.rows.v[frame.rows.n++] = r;
        }
        CU_ASSERT_EQUAL_FATAL(tl_hta_frame_iterate(&frame, &job.symbols, &err), TL_OK);
        for (size_t i = 0; i < frame.rows.n; i++)
            CU_ASSERT_EQUAL(frame.rows.v[i].iteration, slow_step(&frame, &job.symbols, frame.rows.v[i].ts));
        tl_hta_frame_free(&frame);
        tl_hta_job_free(&job);
    }
}

static void launch_calls_tell_the_vendor(void)
{
    static const struct {
        const char *text;
        tl_hta_vendor vendor;
    } known[] = {
        { TRACE(OP("x", "1", "1")), TL_HTA_NO_LAUNCH },
        { TRACE(OP("hipLaunchKernel", "1", "1") "," OP("cudaLaunchKernel", "1", "1")), TL_HTA_NVIDIA },
        { TRACE(OP("hipLaunchKernel", "1", "1") "," OP("cudaLaunchKernelExC", "1", "1")), TL_HTA_AMD },
        { TRACE(OP("runFunction - job_prep_and_submit_for_execution", "1", "1")), TL_HTA_MTIA },
        { "{\"distributedInfo\": {\"backend\": \"cpu:gloo,mtia:hccl\"}, \"traceEvents\": ["
          OP("cudaLaunchKernel", "1", "1") "]}", TL_HTA_MTIA },
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        tl_hta_job job = load(known[i].text, NULL, false);
        CU_ASSERT_EQUAL(job.frames.v[0].vendor, known[i].vendor);
        tl_hta_job_free(&job);
    }
}

/* ------------------------------------------------------------------------------------------------ all the ranks */

static void the_earliest_row_of_all_ranks_is_zero(void)
{
    tl_hta_job job = load(TRACE(OP("a", "1700000000000010", "2")), TRACE(OP("b", "1700000000000003", "2")), false);
    settle(&job, false);
    CU_ASSERT_EQUAL(job.zero, 1700000000000003.0);
    CU_ASSERT_EQUAL(row(&job, 0).ts, 7);
    CU_ASSERT_EQUAL(row(&job, 0).end, 1700000000000012.0);      /* `end` stays where it was */
    CU_ASSERT_EQUAL(job.frames.v[1].rows.v[0].ts, 0);
    tl_hta_job_free(&job);
}

/* Steps 5 and 6 at [100, 110) and [110, 120); launch 1 in the one, launch 2 in the other, launch 3 behind both. */
#define TWO_STEPS                                                                                                 \
    TRACE(KERNEL("k", "7", "1", "112", "1") "," STEP("5", "100", "10") "," LAUNCH("1", "101", "1") ","            \
          STEP("6", "110", "10") "," LAUNCH("2", "111", "1") "," KERNEL("k", "7", "2", "115", "1") ","            \
          LAUNCH("3", "125", "1") "," KERNEL("k", "7", "3", "126", "1") "," KERNEL("k", "7", "9", "101", "1"))

static void the_last_step_goes_with_its_kernels(void)
{
    tl_hta_job job = load(TWO_STEPS, NULL, false);
    settle(&job, false);
    CU_ASSERT_STRING_EQUAL(indices(&job.frames.v[0]), "0 1 2 ");        /* device rows first; no launch, no kernel */
    CU_ASSERT_EQUAL(job.frames.v[0].nloaded, 9);
    tl_hta_job_free(&job);
}

static void the_last_step_stays_where_asked_and_so_does_what_is_behind(void)
{
    tl_hta_job job = load(TWO_STEPS, NULL, false);
    settle(&job, true);
    CU_ASSERT_STRING_EQUAL(indices(&job.frames.v[0]), "0 5 7 1 2 3 4 6 "); /* 125 - 100 <= 120: `end` is not aligned */
    tl_hta_job_free(&job);
}

static void a_single_step_is_not_cut(void)
{
    tl_hta_job job = load(TRACE(STEP("5", "100", "10") "," OP("a", "120", "1") "," KERNEL("k", "7", "9", "1", "1")),
                          TRACE(STEP("5", "100", "10")), false);
    settle(&job, false);
    CU_ASSERT_STRING_EQUAL(indices(&job.frames.v[0]), "0 1 2 ");
    tl_hta_job_free(&job);
}

static void a_kernel_is_there_once_for_each_row_of_its_launch(void)
{
    tl_hta_job job = load(TRACE(STEP("5", "100", "10") "," LAUNCH("1", "101", "1") "," LAUNCH("1", "102", "1") ","
                                KERNEL("k", "7", "1", "103", "1") "," STEP("6", "110", "10")), NULL, false);
    settle(&job, false);
    CU_ASSERT_STRING_EQUAL(indices(&job.frames.v[0]), "3 3 0 1 2 ");
    tl_hta_job_free(&job);
}

static void a_rank_without_steps_is_cut_at_its_first_host_row(void)
{
    tl_hta_job job = load(TRACE(OP("a", "100", "1") "," OP("b", "101", "1")),
                          TRACE(STEP("5", "100", "10") "," STEP("6", "110", "10")), false);
    settle(&job, false);
    CU_ASSERT_EQUAL(job.frames.v[0].rows.n, 0);
    CU_ASSERT_EQUAL(job.frames.v[1].rows.n, 1);
    tl_hta_job_free(&job);
}

/* ------------------------------------------------------------------------------------------------------- spans */

static tl_hta_spans spans_of(const tl_hta_job *job, tl_hta_class class)
{
    tl_hta_spans spans = { 0 };
    CU_ASSERT_FATAL(tl_hta_spans_of(&spans, &job->frames.v[0], &job->symbols, class));
    return spans;
}

static void rows_that_overlap_or_touch_are_one_span(void)
{
    /*     ts     0         1         2
     *            0123456789012345678901234
     *     7      ....AAAA....BB...........
     *     8      ......CCCCCC.....D..E....       D is empty, E (from 20) ends at 19
     *     9      .......F.F...............       within C, which goes on
     */
    tl_hta_job job = load(TRACE(OP("host", "0", "24") "," KERNEL("B", "7", "2", "12", "2") ","
                                KERNEL("A", "7", "1", "4", "4") "," KERNEL("C", "8", "3", "6", "6") ","
                                KERNEL("D", "8", "4", "17", "0") "," KERNEL("E", "8", "5", "20", "-1") ","
                                KERNEL("F", "9", "6", "7", "1") "," KERNEL("F", "9", "7", "9", "1")), NULL, false);
    tl_hta_spans all = spans_of(&job, TL_HTA_ANY_CLASS), memory = spans_of(&job, TL_HTA_MEMORY);
    double lengths;

    CU_ASSERT_EQUAL_FATAL(all.n, 3);
    CU_ASSERT_EQUAL(all.v[0].ts, 4);
    CU_ASSERT_EQUAL(all.v[0].end, 14);
    CU_ASSERT_EQUAL(all.v[1].ts, 17);
    CU_ASSERT_EQUAL(all.v[1].end, 17);
    CU_ASSERT_EQUAL(all.v[2].end, 19);
    CU_ASSERT_EQUAL(tl_hta_spans_total(&all), 9);       /* 10 + 0 - 1 */
    CU_ASSERT(tl_hta_spans_lengths(&all, &lengths));
    CU_ASSERT_EQUAL(lengths, 9);
    CU_ASSERT_EQUAL(memory.n, 0);
    CU_ASSERT_EQUAL(tl_hta_spans_total(&memory), 0);
    free(all.v);
    free(memory.v);
    tl_hta_job_free(&job);
}

static void overlap_is_where_both_are(void)
{
    tl_hta_span a[] = { { 0, 4 }, { 6, 10 }, { 12, 12 }, { 20, 30 } },
                b[] = { { 2, 7 }, { 8, 9 }, { 11, 21 }, { 29, 40 } };
    tl_hta_spans x = { .v = a, .n = COUNT(a) }, y = { .v = b, .n = COUNT(b) }, none = { 0 };
    double both;

    CU_ASSERT(tl_hta_spans_overlap(&x, &y, &both));
    CU_ASSERT_EQUAL(both, 2 + 1 + 1 + 1 + 1);
    CU_ASSERT(tl_hta_spans_overlap(&y, &x, &both));
    CU_ASSERT_EQUAL(both, 6);
    CU_ASSERT(tl_hta_spans_overlap(&x, &none, &both));
    CU_ASSERT_EQUAL(both, 0);
}

/* -------------------------------------------------------------------------------------------- the rank of a file */

static int64_t rank_in(const char *text)
{
    int64_t rank = -1;
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(tl_hta_rank_of_file(scratch_text("rank.json", text), &rank, &err), TL_OK);
    return rank;
}

static void the_rank_is_the_first_that_the_text_names(void)
{
    CU_ASSERT_EQUAL(rank_in("{\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 34, \"world_size\": 300}}"), 34);
    CU_ASSERT_EQUAL(rank_in("{\"x\": {\"rank\": \t5}, \"distributedInfo\": {\"rank\": 3}}"), 5);
    CU_ASSERT_EQUAL(rank_in("{\"distributedInfo\":{\"rank\":3}}"), 0);              /* no white space */
    CU_ASSERT_EQUAL(rank_in("{\"rank\":3, \"rank\": 4}"), 4);
    CU_ASSERT_EQUAL(rank_in("{\"rank\":\n 3}"), 0);                                 /* lines are searched one by one */
    CU_ASSERT_EQUAL(rank_in("{\"rank\": \"3\", \"rank\" : 2}"), 0);
    CU_ASSERT_EQUAL(rank_in("\"rank\"rank\": 7"), 7); /* the second quote begins it anew */
    CU_ASSERT_EQUAL(rank_in("\"\"rank\": 8"), 8);
    CU_ASSERT_EQUAL(rank_in("\"rank\": 9"), 9);                                     /* the text ends in it */
    CU_ASSERT_EQUAL(rank_in("\"rank\": 12345678901234567890123 "), rank_in("\"rank\": 123456789012345678901234 "));
    CU_ASSERT_EQUAL(rank_in(""), 0);
}

static void a_rank_is_found_across_blocks(void)
{
    static char text[(256 << 10) + 64];
    for (size_t back = 0; back < 16; back++) {
        memset(text, ' ', sizeof text);
        snprintf(text + (256 << 10) - back, 32, "\"rank\":  417,");
        text[sizeof text - 1] = '\0';
        memset(text + (256 << 10) - back + 13, ' ', sizeof text - 1 - ((256 << 10) - back + 13));
        CU_ASSERT_EQUAL(rank_in(text), 417);
    }
}

static void a_file_that_is_not_there_has_no_rank(void)
{
    int64_t rank;
    tl_error err;
    CU_ASSERT_EQUAL(tl_hta_rank_of_file(scratch_path("nowhere.json"), &rank, &err), TL_EINPUT);
}

/* -------------------------------------------------------------------------------------------------- all together */

/*     ts      0         1         2
 *             0123456789012345678901234
 *     7       ....AAAA....BB...........       compute
 *     20      ......NNNNNN.............       communication
 *     8       .................MMM.....       memory
 *
 *     kernel 16 = compute 6 + non-compute 7 (8..12, 17..20) + idle 3;  under compute: 6..8 of 6..12
 */
#define BOOKS                                                                                                          \
    TRACE(OP("host", "0", "24") "," KERNEL("A", "7", "1", "4", "4") ","                                                \
          KERNEL("ncclDevKernel", "20", "2", "6", "6") "," KERNEL("B", "7", "3", "12", "2") ","                        \
          KERNEL("Memcpy DtoD", "8", "4", "17", "3"))

static tl_status run(const char *const *texts, size_t n, const char *out, bool *incomplete, tl_error *err)
{
    static const char *const names[] = { "a.json", "b.json", "c.json" };
    tl_hta_file files[3];
    tl_hta_options options = { .files = files, .nfiles = n, .out_dir = scratch_path(out) };
    for (size_t i = 0; i < n; i++)
        files[i] = (tl_hta_file){ scratch_text(names[i], texts[i]), (int64_t)(n - i) };
    return tl_compat_hta(&options, incomplete, err);
}

static void the_books_are_those_of_the_drawing(void)
{
    const char *texts[] = { BOOKS, TRACE(OP("host only", "3", "4")) };
    bool incomplete = true;
    tl_error err;

    CU_ASSERT_EQUAL_FATAL(run(texts, 2, "deep/out", &incomplete, &err), TL_OK);
    CU_ASSERT_FALSE(incomplete);
    CU_ASSERT_STRING_EQUAL(scratch_content("deep/out/temporal_breakdown.csv"),
                           "rank,idle_time(us),compute_time(us),non_compute_time(us),kernel_time(us),"
                           "idle_time_pctg,compute_time_pctg,non_compute_time_pctg\n"
                           "2,3,6,7,16,18.75,37.5,43.75\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("deep/out/notes.txt"),
                           "temporal_breakdown: rank 1: no GPU events; HTA gives up all ranks\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("deep/out/comm_comp_overlap.csv"), "rank,comp_comm_overlap_pctg\n1,\n2,33.33\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("deep/out/comm_comp_overlap_unrounded.csv"),
                           "rank,comp_comm_overlap_pctg\n1,\n2,33.33333333333333\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("deep/out/profiler_steps.csv"), "step\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("deep/out/events_by_category.csv"),
                           "rank,cat,count,sum_dur,negative_dur,zero_dur,min_ts,max_ts,max_end,stream_minus_1,stream_0,"
                           "linked,unlinked,not_linkable,iteration_minus_1,iteration_nan\n"
                           "1,cpu_op,1,4,0,0,3,3,7,1,0,0,0,1,1,0\n"
                           "2,cpu_op,1,24,0,0,0,0,24,1,0,0,0,1,1,0\n"
                           "2,kernel,4,15,0,0,4,17,20,0,0,0,4,0,4,0\n");
    CU_ASSERT_STRING_EQUAL(
        scratch_content("deep/out/load_summary.csv"),
        "rank,file,device_type,rows_parsed,raw_min_ts,raw_max_ts,rows_after_filter,global_min_ts,ts_dtype,"
        "duration,iterations,world_size,base_time_ns,start_unix_ns,symbols\n"
        "1,b.json,UNKNOWN GPU,1,3.0,3.0,1,0,int64,0,,,7000,7000,8\n"
        "2,a.json,UNKNOWN GPU,5,0.0,17.0,5,0,int64,17,,,7000,7000,8\n");
}

static void the_start_is_the_base_plus_the_zero(void)
{
    const char *text = scratch_text("start.json", TRACE(OP("x", "1000.5", "2.5")));
    tl_hta_file file = { text, 0 };
    tl_hta_options options = { .files = &file, .nfiles = 1, .out_dir = scratch_path("start") };
    bool incomplete;
    tl_error err;

    CU_ASSERT_EQUAL_FATAL(tl_compat_hta(&options, &incomplete, &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("start/load_summary.csv"),
                                  "\n0,start.json,UNKNOWN GPU,1,1001.0,1001.0,1,1001,int64,0,,,7000,1008000,2\n"));
    options.ns = true;
    CU_ASSERT_EQUAL_FATAL(tl_compat_hta(&options, &incomplete, &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("start/load_summary.csv"),
                                  "\n0,start.json,UNKNOWN GPU,1,1000.5,1000.5,1,1000.5,float64,0.0,,,7000,"
                                  "1007500,2\n"));

    scratch_text("start.json", "{\"traceEvents\": [" OP("x", "1000", "2") "]}");
    CU_ASSERT_EQUAL_FATAL(tl_compat_hta(&options, &incomplete, &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("start/load_summary.csv"), ",1000,int64,0,,,,KeyError,2\n"));
}

static void what_hta_refuses_is_a_note(void)
{
    /* The copy from 20.2 to 20.5 becomes one of -1 us: kernel 10..20, compute 5, idle 10 - (5 - 1), non-compute -1. */
    const char *texts[] = { TRACE(KERNEL("A", "7", "1", "10.0", "5.0") "," KERNEL("Memcpy", "8", "2", "20.2", "0.3")) };
    bool incomplete;
    tl_error err;

    CU_ASSERT_EQUAL_FATAL(run(texts, 1, "refused", &incomplete, &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("refused/notes.txt"),
                                  "temporal_breakdown: rank 1: the books do not balance: idle 6, "
                                  "compute 5, non-compute -1 of 10 us"));
    CU_ASSERT_PTR_NULL(strstr(scratch_content("refused/temporal_breakdown.csv"), "\n1,"));
}

static void a_file_that_cannot_be_used_is_left_out(void)
{
    const char *texts[] = { BOOKS, "{\"nodes\": []}", TRACE(META) };
    bool incomplete = false;
    tl_error err;

    CU_ASSERT_EQUAL_FATAL(run(texts, 3, "some", &incomplete, &err), TL_OK);
    CU_ASSERT(incomplete);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("some/notes.txt"), "rank 2: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("some/notes.txt"), "rank 1: "));
    CU_ASSERT_STRING_EQUAL(scratch_content("some/comm_comp_overlap.csv"), "rank,comp_comm_overlap_pctg\n3,33.33\n");

    incomplete = false;
    CU_ASSERT_EQUAL(run(texts + 1, 2, "nothing", &incomplete, &err), TL_EINPUT);
    CU_ASSERT(incomplete);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("nothing/notes.txt"), "rank 2: "));
    CU_ASSERT_STRING_EQUAL(scratch_content("nothing/load_summary.csv"), "(no file)");
}

static void of_two_files_of_a_rank_the_later_is_taken(void)
{
    tl_hta_file files[] = { { scratch_text("old.json", BOOKS), 4 },
                            { scratch_text("new.json", TRACE(OP("x", "1", "1"))), 4 } };
    tl_hta_options options = { .files = files, .nfiles = 2, .out_dir = scratch_path("twice") };
    bool incomplete = false;
    tl_error err;

    CU_ASSERT_EQUAL_FATAL(tl_compat_hta(&options, &incomplete, &err), TL_OK);
    CU_ASSERT(incomplete);
    CU_ASSERT_STRING_EQUAL(scratch_content("twice/comm_comp_overlap.csv"), "rank,comp_comm_overlap_pctg\n4,\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("twice/notes.txt"), "old.json"));
}

static void an_output_that_cannot_be_written_is_said(void)
{
    const char *texts[] = { BOOKS };
    bool incomplete;
    tl_error err;

    scratch_text("file", "");
    CU_ASSERT_EQUAL(run(texts, 1, "file", &incomplete, &err), TL_EOUTPUT);
    CU_ASSERT_EQUAL(run(texts, 1, "file/below", &incomplete, &err), TL_EOUTPUT);

    /* A folder stands where a table should go: the others are there, this one leaves no half. */
    CU_ASSERT_EQUAL(mkdir(scratch_path("blocked"), 0777), 0);
    CU_ASSERT_EQUAL(mkdir(scratch_path("blocked/profiler_steps.csv"), 0777), 0);
    CU_ASSERT_EQUAL(run(texts, 1, "blocked", &incomplete, &err), TL_EOUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "profiler_steps.csv"));
    CU_ASSERT_STRING_EQUAL(scratch_content("blocked/profiler_steps.csv.part"), "(no file)");
}

static void without_memory_it_says_so_and_leaves_nothing(void)
{
    const char *texts[] = { TWO_STEPS, BOOKS };
    tl_status st = TL_ENOMEM;
    size_t k = 1;

    for (; st != TL_OK && k < 5000; k++) {
        bool incomplete;
        tl_error err;
        tl_mem_fail_after(k);
        st = run(texts, 2, "tight", &incomplete, &err);
        tl_mem_fail_after(0);
        if (st != TL_OK) {
            CU_ASSERT_EQUAL(st, TL_ENOMEM);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "memory"));
            CU_ASSERT_STRING_EQUAL(scratch_content("tight/load_summary.csv.part"), "(no file)");
        }
    }
    CU_ASSERT_EQUAL(st, TL_OK);
    CU_ASSERT(k > 40);
}

static const unit_test tests[] = {
    TEST(each_rule_is_the_first_to_catch_its_name),
    TEST(the_name_decides_the_class),
    TEST(step_names_are_read_as_hta_reads_them),
    TEST(a_row_needs_a_duration_and_a_category),
    TEST(rounding_moves_both_ends_inwards),
    TEST(whole_time_stamps_are_not_rounded),
    TEST(a_graph_launch_points_at_its_last_kernel),
    TEST(the_first_entry_cannot_be_linked_to),
    TEST(synchronisations_of_all_streams_are_of_the_device),
    TEST(rows_belong_to_the_step_of_their_start_or_launch),
    TEST(stream_0_has_no_step_except_for_host_operators),
    TEST(of_windows_in_any_position_the_last_in_the_file_counts),
    TEST(launch_calls_tell_the_vendor),
    TEST(the_earliest_row_of_all_ranks_is_zero),
    TEST(the_last_step_goes_with_its_kernels),
    TEST(the_last_step_stays_where_asked_and_so_does_what_is_behind),
    TEST(a_single_step_is_not_cut),
    TEST(a_kernel_is_there_once_for_each_row_of_its_launch),
    TEST(a_rank_without_steps_is_cut_at_its_first_host_row),
    TEST(rows_that_overlap_or_touch_are_one_span),
    TEST(overlap_is_where_both_are),
    TEST(the_rank_is_the_first_that_the_text_names),
    TEST(a_rank_is_found_across_blocks),
    TEST(a_file_that_is_not_there_has_no_rank),
    TEST(the_books_are_those_of_the_drawing),
    TEST(the_start_is_the_base_plus_the_zero),
    TEST(what_hta_refuses_is_a_note),
    TEST(a_file_that_cannot_be_used_is_left_out),
    TEST(of_two_files_of_a_rank_the_later_is_taken),
    TEST(an_output_that_cannot_be_written_is_said),
    TEST(without_memory_it_says_so_and_leaves_nothing),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta", tests, COUNT(tests));
    scratch_remove();
    return status;
}
