/* test_hta.c - HTA's tables as files: the books of a drawing, and what goes wrong. */
#include "hta_trace.h"

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
    CU_ASSERT_STRING_EQUAL(content("deep/out/temporal_breakdown.csv"),
                           "rank,idle_time(us),compute_time(us),non_compute_time(us),kernel_time(us),"
                           "idle_time_pctg,compute_time_pctg,non_compute_time_pctg\n"
                           "2,3,6,7,16,18.75,37.5,43.75\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(content("deep/out/notes.txt"),
                                  "temporal_breakdown: rank 1: no GPU events; HTA gives up all ranks\n"));
    CU_ASSERT_STRING_EQUAL(content("deep/out/comm_comp_overlap.csv"), "rank,comp_comm_overlap_pctg\n1,\n2,33.33\n");
    CU_ASSERT_STRING_EQUAL(content("deep/out/comm_comp_overlap_unrounded.csv"),
                           "rank,comp_comm_overlap_pctg\n1,\n2,33.33333333333333\n");
    CU_ASSERT_STRING_EQUAL(content("deep/out/profiler_steps.csv"), "step\n");
    CU_ASSERT_STRING_EQUAL(content("deep/out/events_by_category.csv"),
                           "rank,cat,count,sum_dur,negative_dur,zero_dur,min_ts,max_ts,max_end,stream_minus_1,stream_0,"
                           "linked,unlinked,not_linkable,iteration_minus_1,iteration_nan\n"
                           "1,cpu_op,1,4,0,0,3,3,7,1,0,0,0,1,1,0\n"
                           "2,cpu_op,1,24,0,0,0,0,24,1,0,0,0,1,1,0\n"
                           "2,kernel,4,15,0,0,4,17,20,0,0,0,4,0,4,0\n");
    CU_ASSERT_STRING_EQUAL(
        content("deep/out/load_summary.csv"),
        "rank,file,device_type,rows_parsed,raw_min_ts,raw_max_ts,rows_after_filter,global_min_ts,ts_dtype,"
        "duration,iterations,world_size,base_time_ns,start_unix_ns,symbols\n"
        "1,b.json,UNKNOWN GPU,1,3,3,1,0,int64,0,,,7000,7000,8\n"
        "2,a.json,UNKNOWN GPU,5,0,17,5,0,int64,17,,,7000,7000,8\n");
}

static void the_start_is_the_base_plus_the_zero(void)
{
    const char *text = scratch_text("start.json", TRACE(OP("x", "1000.5", "2.5")));
    tl_hta_file file = { text, 0 };
    tl_hta_options options = { .files = &file, .nfiles = 1, .out_dir = scratch_path("start") };
    bool incomplete;
    tl_error err;

    CU_ASSERT_EQUAL_FATAL(tl_compat_hta(&options, &incomplete, &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("start/load_summary.csv"),
                                  "\n0,start.json,UNKNOWN GPU,1,1001,1001,1,1001,int64,0,,,7000,1008000,2\n"));
    options.ns = true;
    CU_ASSERT_EQUAL_FATAL(tl_compat_hta(&options, &incomplete, &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("start/load_summary.csv"),
                                  "\n0,start.json,UNKNOWN GPU,1,1000.5,1000.5,1,1000.5,float64,0,,,7000,"
                                  "1007500,2\n"));

    scratch_text("start.json", "{\"traceEvents\": [" OP("x", "1000", "2") "]}");
    CU_ASSERT_EQUAL_FATAL(tl_compat_hta(&options, &incomplete, &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("start/load_summary.csv"), ",1000,int64,0,,,,KeyError,2\n"));
}

static void what_hta_refuses_is_a_note(void)
{
    /* The copy from 20.2 to 20.5 becomes one of -1 us: kernel 10..20, compute 5, idle 10 - (5 - 1), non-compute -1. */
    const char *texts[] = { TRACE(KERNEL("A", "7", "1", "10.0", "5.0") "," KERNEL("Memcpy", "8", "2", "20.2", "0.3")) };
    bool incomplete;
    tl_error err;

    CU_ASSERT_EQUAL_FATAL(run(texts, 1, "refused", &incomplete, &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("refused/notes.txt"),
                                  "temporal_breakdown: rank 1: the books do not balance: idle 6, "
                                  "compute 5, non-compute -1 of 10 us"));
    CU_ASSERT_PTR_NULL(strstr(content("refused/temporal_breakdown.csv"), "\n1,"));
}

static void a_file_that_cannot_be_used_is_left_out(void)
{
    const char *texts[] = { BOOKS, "{\"nodes\": []}", TRACE(META) };
    bool incomplete = false;
    tl_error err;

    CU_ASSERT_EQUAL_FATAL(run(texts, 3, "some", &incomplete, &err), TL_OK);
    CU_ASSERT(incomplete);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("some/notes.txt"), "rank 2: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(content("some/notes.txt"), "rank 1: "));
    CU_ASSERT_STRING_EQUAL(content("some/comm_comp_overlap.csv"), "rank,comp_comm_overlap_pctg\n3,33.33\n");

    incomplete = false;
    CU_ASSERT_EQUAL(run(texts + 1, 2, "nothing", &incomplete, &err), TL_EINPUT);
    CU_ASSERT(incomplete);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("nothing/notes.txt"), "rank 2: "));
    CU_ASSERT_STRING_EQUAL(content("nothing/load_summary.csv"), "(no file)");
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
    CU_ASSERT_STRING_EQUAL(content("twice/comm_comp_overlap.csv"), "rank,comp_comm_overlap_pctg\n4,\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(content("twice/notes.txt"), "old.json"));
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
    CU_ASSERT_STRING_EQUAL(content("blocked/profiler_steps.csv.part"), "(no file)");
}

static const unit_test tests[] = {
    TEST(the_books_are_those_of_the_drawing),
    TEST(the_start_is_the_base_plus_the_zero),
    TEST(what_hta_refuses_is_a_note),
    TEST(a_file_that_cannot_be_used_is_left_out),
    TEST(of_two_files_of_a_rank_the_later_is_taken),
    TEST(an_output_that_cannot_be_written_is_said),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta", tests, COUNT(tests));
    scratch_remove();
    return status;
}
