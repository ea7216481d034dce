/* test_hta_patterns.c - what operators launch, and the counters of launches. */
#include "hta_trace.h"

#define ON_HOST(cat, name, ts, dur, args)                                                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur            \
    ",\"args\":{" args "}}"
#define ON_DEVICE(name, stream, corr, ts, dur)                                                                         \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" ts ",\"dur\":" dur             \
    ",\"args\":{\"device\":0,\"stream\":" stream ",\"correlation\":" corr "}}"

/* An aten::mm at `ts` with launch `corr`, and the kernel of it `after` it. */
#define MM(name, ts, launch, corr, kernel, kernel_ts)                                                                  \
    ON_HOST("cpu_op", name, ts, "10", "") "," ON_HOST("cuda_runtime", "cudaLaunchKernel", launch, "1",                 \
                                                     "\"correlation\":" corr) "," ON_DEVICE(kernel, "7", corr, kernel_ts, "3")

#define HEAD "pattern,count,GPU kernel duration (us),CPU op duration (us),rank\n"

static tl_hta_job tables(const char *text, const char *text_1, tl_hta_table *write)
{
    tl_hta_job job = load(text, text_1, false);

    settle(&job, true);
    scratch_remove_tree(scratch_path("out"));
    CU_ASSERT_EQUAL(mkdir(scratch_path("out"), 0777), 0);
    CU_ASSERT_EQUAL(write_table(&job, write, scratch_path("out")), TL_OK);
    return job;
}

static void patterns_go_by_count_and_then_by_text(void)
{
    tl_hta_job job = tables(TRACE(META "," MM("aten::mm", "10", "11", "1", "gemm", "30") "," MM(
                                "aten::mm", "20", "21", "2", "fast", "40") "," MM("aten::mm", "30", "31", "3", "gemm",
                                                                                  "50") "," MM("aten::mm", "40", "41",
                                                                                               "4", "exact", "60")),
                            NULL, tl_hta_frequent_patterns);
    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_mm_min1.csv"),
                           HEAD "aten::mm|gemm,2,6,20,0\naten::mm|exact,1,3,10,0\naten::mm|fast,1,3,10,0\n");
    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_mm_min3.csv"), "none\n");
    CU_ASSERT_STRING_EQUAL(content("out/patterns_overlay_aten_mm_min1_rank0.csv"), "events,marked\n13,12\n");
    CU_ASSERT_STRING_EQUAL(content("out/patterns_overlay_aten_mm_min3_rank0.csv"), "(no file)");
    tl_hta_job_free(&job);
}

/* aten::mm stands in aten::matmul: as aten::mm's the inner row is the shallowest, for "aten::mm" is no part of the other's
 * name.  The kernels of both launches stand by start: the later launch's comes first. */
static void kernels_of_an_operator_stand_by_start(void)
{
    tl_hta_job job =
        tables(TRACE(ON_HOST("cpu_op", "aten::matmul", "10", "20", "") "," ON_HOST("cpu_op", "aten::mm", "11", "10", "") ","
                     ON_HOST("cuda_runtime", "cudaLaunchKernel", "12", "1", "\"correlation\":1") ","
                     ON_HOST("cuda_runtime", "cudaLaunchKernel", "14", "1", "\"correlation\":2") ","
                     ON_HOST("cuda_runtime", "cudaLaunchKernel", "25", "1", "\"correlation\":3") ","
                     ON_DEVICE("second", "7", "1", "50", "3") "," ON_DEVICE("first", "8", "2", "40", "3") ","
                     ON_DEVICE("th,ird", "7", "3", "60", "3")),
               NULL, tl_hta_frequent_patterns);
    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_mm_min1.csv"), HEAD "aten::mm|first|second,1,6,10,0\n");
    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_matmul_min3.csv"),
                           HEAD "\"aten::matmul|first|second|th,ird\",1,9,20,0\n");
    CU_ASSERT_STRING_EQUAL(content("out/patterns_overlay_aten_matmul_min3_rank0.csv"), "events,marked\n8,8\n");
    tl_hta_job_free(&job);
}

/* A bar in a name: two sequences of names have one text. */
static void patterns_of_one_text_are_one(void)
{
    tl_hta_job job = tables(TRACE(META "," MM("aten::mm", "10", "11", "1", "a|b", "30") "," MM("aten::mm", "20", "21", "2", "a",
                                                                                      "40") ","
                                  ON_HOST("cuda_runtime", "cudaLaunchKernel", "23", "1", "\"correlation\":5") ","
                                  ON_DEVICE("b", "7", "5", "60", "4")),
                            NULL, tl_hta_frequent_patterns);
    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_mm_min1.csv"), HEAD "aten::mm|a|b,2,10,20,0\n");
    tl_hta_job_free(&job);
}

static void the_first_two_operators_of_the_first_two_ranks(void)
{
    const char *one = TRACE(MM("aten::mm", "10", "11", "1", "gemm", "30") "," MM("aten::add", "30", "31", "2", "add", "40")
                            "," MM("aten::addmm", "50", "51", "3", "gemm", "60"));
    const char *other = TRACE(OP("aten::conv2d", "1", "1"));
    tl_hta_job job = tables(one, other, tl_hta_frequent_patterns);

    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_conv2d_min1.csv"), "none\n");
    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_addmm_min1.csv"), HEAD "aten::addmm|gemm,1,3,10,0\n");
    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_mm_min1.csv"), "(no file)");
    tl_hta_job_free(&job);

    job = tables(TRACE(OP("n", "10.2", "0.3") "," OP("aten::mm", "10.9", "0.3")), NULL, tl_hta_frequent_patterns);
    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_mm_min1.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(job.out.notes.v, "frequent_patterns: rank 0: "));
    tl_hta_job_free(&job);
}

/* A candidate that is in no graph is the shallowest: nothing is found. */
static void a_name_without_a_place_hides_the_others(void)
{
    tl_hta_job job = tables(TRACE(MM("aten::mm", "10", "11", "1", "gemm", "30") ","
                                  "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"aten::mm\",\"pid\":0,"
                                  "\"tid\":7,\"ts\":1,\"dur\":2}"),
                            NULL, tl_hta_frequent_patterns);
    CU_ASSERT_STRING_EQUAL(content("out/frequent_patterns_aten_mm_min1.csv"), "none\n");
    tl_hta_job_free(&job);
}

/* -------------------------------------------------------------------------------------------------------- counters */

#define RANGE(ts, args)                                                                                                \
    "{\"ph\":\"X\",\"cat\":\"cuda_profiler_range\",\"name\":\"r\",\"pid\":0,\"tid\":0,\"ts\":" ts ",\"dur\":5,\"args\":{"  \
    args "}}"
#define TWO_LAUNCHES                                                                                                   \
    OP("out", "10", "20") "," OP("in", "10", "9") "," LAUNCH("1", "12", "1") "," LAUNCH("2", "25", "1")

static void a_range_belongs_to_the_launch_of_its_number(void)
{
    tl_hta_job job = tables(TRACE(RANGE("300", "\"inst.sum\": 7, \"Group size\": 4, \"a,b\": 1.50") "," RANGE(
                                "200", "\"inst.sum\": 5, \"who\": \"x\\ty\"") "," TWO_LAUNCHES),
                            NULL, tl_hta_cupti_counters);
    const char *first = "\n1,cuda_profiler_range,r,0,0,190,5,-1,-1,-1,0,-1,-1,-1,-1,-1,-1,-1,-1,,0,0,,0,-1,[],[],5,-1,"
                        "x\ty,-1,-1,205,-1,-1,-1,0,0,0,-1,-1,4,out|in,out,in\n",
               *second = "\n0,cuda_profiler_range,r,0,0,290,5,-1,-1,-1,0,-1,-1,-1,-1,-1,-1,-1,-1,,0,0,,4,-1,[],[],7,1.5,"
                         "-1,-1,-1,305,-1,-1,-1,0,0,0,-1,-1,5,out,out,out\n";
    CU_ASSERT_PTR_NOT_NULL(strstr(content("out/cupti_counters_rank0.csv"), ",out_split_size,inst.sum,\"a,b\",who,index_"));
    CU_ASSERT_PTR_NOT_NULL(strstr(content("out/cupti_counters_rank0.csv"), first));
    CU_ASSERT_PTR_NOT_NULL(strstr(content("out/cupti_counters_rank0.csv"), second));
    tl_hta_job_free(&job);
}

static void counters_that_cannot_be_placed_are_a_note(void)
{
    static const struct {
        const char *trace, *why;
    } cases[] = {
        { TRACE(RANGE("30", "") "," TWO_LAUNCHES), "1 ranges and 2 launches" },
        { TRACE(RANGE("30", "") "," LAUNCH("1", "12", "1")), "entry 1 stands in no operator" },
        { TRACE(RANGE("30", "") "," OP("n", "10.2", "0.3") "," LAUNCH("1", "10.9", "0.3")), "there is no call graph" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_hta_job job = tables(cases[i].trace, NULL, tl_hta_cupti_counters);
        CU_ASSERT_STRING_EQUAL(content("out/cupti_counters_rank0.csv"), "(no file)");
        CU_ASSERT_FATAL(job.out.notes.n > 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(job.out.notes.v, cases[i].why));
        tl_hta_job_free(&job);
    }

    tl_hta_job job = tables(TRACE(TWO_LAUNCHES), NULL, tl_hta_cupti_counters);
    CU_ASSERT_EQUAL(job.out.notes.n, 0);
    tl_hta_job_free(&job);
}

static void counters_are_those_of_the_file_as_it_was_read(void)
{
    tl_hta_job job = load(TRACE(RANGE("30", "\"c\": 1") "," OP("a", "10", "9") "," LAUNCH("1", "12", "1")), NULL, false);
    settle(&job, true);
    scratch_text("rank0.json", TRACE(OP("a", "10", "9")));
    CU_ASSERT_EQUAL(write_table(&job, tl_hta_cupti_counters, scratch_path("out")), TL_OK);
    CU_ASSERT_EQUAL(job.out.notes.n, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("out/cupti_counters_rank0.csv"), ",out_split_size,c,index_"));
    tl_hta_job_free(&job);
}

static const unit_test tests[] = {
    TEST(patterns_go_by_count_and_then_by_text),
    TEST(kernels_of_an_operator_stand_by_start),
    TEST(patterns_of_one_text_are_one),
    TEST(the_first_two_operators_of_the_first_two_ranks),
    TEST(a_name_without_a_place_hides_the_others),
    TEST(a_range_belongs_to_the_launch_of_its_number),
    TEST(counters_that_cannot_be_placed_are_a_note),
    TEST(counters_are_those_of_the_file_as_it_was_read),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta patterns", tests, COUNT(tests));
    scratch_remove();
    return status;
}
