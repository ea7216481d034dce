/* test_hta_job.c - the ranks of a job: which file is whose, and what HTA cuts off. */
#include "hta_trace.h"

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

static const unit_test tests[] = {
    TEST(the_earliest_row_of_all_ranks_is_zero),
    TEST(the_last_step_goes_with_its_kernels),
    TEST(the_last_step_stays_where_asked_and_so_does_what_is_behind),
    TEST(a_single_step_is_not_cut),
    TEST(a_kernel_is_there_once_for_each_row_of_its_launch),
    TEST(a_rank_without_steps_is_cut_at_its_first_host_row),
    TEST(the_rank_is_the_first_that_the_text_names),
    TEST(a_rank_is_found_across_blocks),
    TEST(a_file_that_is_not_there_has_no_rank),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta job", tests, COUNT(tests));
    scratch_remove();
    return status;
}
