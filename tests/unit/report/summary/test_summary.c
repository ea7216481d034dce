/* test_summary.c - one screen that holds the facts, whatever the job looked like. */
#include "summary_job.h"

static void a_job_of_four_is_one_screen(void)
{
    job *j = new_job();
    add_rank(j, 36, 907, 0, 57);
    add_rank(j, 36, 906, 0, 58);
    add_rank(j, 37, 10, 0, 953);
    add_rank(j, 36, 906, 0, 58);
    for (int32_t rank = 0; rank < 4; rank++)
        for (int32_t step = 4; step <= 6; step++)
            add_step(j, rank, step);
    j->s.world_size = 4;
    for (int i = 0; i < 2; i++) { /* of the job, and of rank 0 */
        j->rows[i].comm_waiting_ns += 807 * MS;
        j->rows[i].comm_transfer_ns -= 807 * MS;
    }
    tl_idle idle[] = { { .rank = -1, .device = -1 },
                             { .rank = 0, .device = -1, .busy_ns = MS },
                             { .rank = 1, .device = -1, .busy_ns = MS } };
    j->of_idle.rows = (unsigned char *)idle;
    j->of_idle.n = COUNT(idle);

    char *text = summary_of(j);
    CU_ASSERT_STRING_EQUAL(text,
        "tlmpi 1.2.3  4 traces, 4 of 4 ranks, 3.0 MB, 13 700 events, steps 4-6,\n"
        "  host ip-172-31-16-248, Tesla V100-SXM2-16GB, 0.04 s on 4 procs\n"
        "\n"
        "  rank   wall ms compute waiting transfer    copy    idle    late\n"
        "     0    1000.0   3.6 %  80.7 %   10.0 %   0.0 %   5.7 %       -\n"
        "     1    1000.0   3.6 %   0.0 %   90.6 %   0.0 %   5.8 %       -\n"
        "     2    1000.0   3.7 %   0.0 %    1.0 %   0.0 %  95.3 %       -\n"
        "     3    1000.0   3.6 %   0.0 %   90.6 %   0.0 %   5.8 %       -\n"
        "  mean    1000.0   3.6 %  20.2 %   48.0 %   0.0 %  28.1 %\n"
        "\n"
        "No verdict: the traces show no communication between ranks.\n"
        "  next    name the kernels that communicate in a rules file (--rules), or record\n"
        "          where ranks communicate\n"
        "  lost    48.0 % of GPU time: exposed transfers (1.92 s)\n"
        "          20.2 %: exposed waiting for other ranks (807 ms)\n"
        "Wrote traces.h5 (600.0 kB). Next: tlmpi ask traces.h5\n");
    free(text);
    free(j);
}

/* Rank 0 has 300 ms that may be waiting or transfer, rank 1 nothing else. */
static void what_is_unknown_has_a_column_of_its_own(void)
{
    job *j = new_job();
    add_rank(j, 200, 600, 0, 200);
    add_rank(j, 300, 700, 0, 0);
    j->rows[1].comm_transfer_ns -= 300 * MS;
    j->rows[2].comm_transfer_ns = 0;
    j->rows[0].comm_transfer_ns = 300 * MS;
    j->rows[1].comm_unknown_ns = 300 * MS;
    j->rows[2].comm_unknown_ns = 700 * MS;
    j->rows[0].comm_unknown_ns = 1000 * MS;
    tl_idle idle[] = { { .rank = -1, .device = -1 } };
    j->of_idle.rows = (unsigned char *)idle;
    j->of_idle.n = COUNT(idle);
    char *text = summary_of(j);
    expect(text, "  rank wall ms compute waiting transfer unknown   copy    idle   late\n"
                 "     0  1000.0  20.0 %   0.0 %   30.0 %  30.0 %  0.0 %  20.0 %      -\n"
                 "     1  1000.0  30.0 %       -        -  70.0 %  0.0 %   0.0 %      -\n"
                 "  mean  1000.0  25.0 %   0.0 %   15.0 %  50.0 %  0.0 %  10.0 %\n", 1);
    expect(text, "  lost    50.0 % of GPU time: exposed communication, waiting or transfer is\n"
                 "          unknown: the result does not tell why (1.00 s)\n"
                 "          15.0 %: exposed transfers (300 ms)\n", 1);
    free(text);
    j->rows[1].comm_unknown_ns = j->rows[2].comm_unknown_ns = 499999; /* said as 0.0 % */
    text = summary_of(j);
    expect(text, "  rank   wall ms compute waiting transfer    copy    idle    late\n", 1);
    free(text);
    free(j);
}

static void long_times_are_in_seconds(void)
{
    job *j = new_job();
    add_rank(j, 553283, 0, 0, 0);
    char *text = summary_of(j);
    expect(text, "  rank    wall s compute", 1);
    expect(text, "     0    553.28 100.0 %", 1);
    free(text);
    j->rows[1].wall_ns = j->rows[1].compute_ns = 86400 * 1000 * MS;
    text = summary_of(j);
    expect(text, "     0     86400 100.0 %", 1);
    free(text);
    free(j);
}

static void one_rank_has_no_mean(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 30, 0);
    char *text = summary_of(j);
    expect(text, "1 trace,", 1);
    expect(text, "mean", 0);
    expect(text, " 75.0 %   0.0 %       -\n", 1); /* nobody to be late for */
    free(text);
    free(j);
}

static void of_a_thousand_ranks_three_are_shown(void)
{
    job *j = new_job();
    for (int i = 0; i < 1000; i++)
        add_rank(j, 2000 - i, i, 0, 0);
    j->s.world_size = 1024;
    int64_t missing[24];
    for (int i = 0; i < 24; i++)
        missing[i] = 1000 + i + (i == 23);
    j->s.missing = missing;
    j->s.nmissing_listed = j->s.nmissing = 24;
    char *text = summary_of(j);
    expect(text, "   999    2000.0  50.0 %   0.0 %   50.0 %   0.0 %   0.0 %       -  most\n", 1);
    expect(text, "   499    2000.0  75.0 %   0.0 %   24.9 %   0.0 %   0.0 %       -  median\n", 1);
    expect(text, "     0    2000.0 100.0 %   0.0 %    0.0 %   0.0 %   0.0 %       -  least\n", 1);
    expect(text, " 2000.0 ", 4); /* and the mean */
    expect(text, "  (3 of 1000 ranks, by waiting + transfer + idle; all: tables breakdown,\n  exposed)\n", 1);
    expect(text, "No trace of 24 ranks: 1000-1022, 1024\n", 1);
    free(text);
    free(j);
}

static void ties_go_to_the_lower_rank(void)
{
    job *j = new_job();
    for (int i = 0; i < 20; i++)
        add_rank(j, 50, 50, 0, 0);
    char *text = summary_of(j);
    const char *most = strstr(text, "     0     100.0"), *least = strstr(text, "    19     100.0");
    CU_ASSERT_TRUE(most != NULL && least != NULL && most < least);
    expect(text, "     5     100.0", 0);
    free(text);
    free(j);
}

static void short_times_have_more_decimals(void)
{
    job *j = new_job();
    add_rank(j, 1, 0, 0, 3);
    j->rows[1].wall_ns = 46123;
    j->rows[1].idle_ns = 23456;
    char *text = summary_of(j);
    expect(text, "     0     0.046", 1);
    free(text);
    free(j);
}

static void a_job_without_loss_says_so(void)
{
    job *j = new_job();
    add_rank(j, 50, 0, 0, 0);
    add_rank(j, 60, 0, 0, 0);
    char *text = summary_of(j);
    expect(text, "lost", 0);
    free(text);
    free(j);
}

static void huge_numbers_keep_the_table_in_its_columns(void)
{
    job *j = new_job();
    add_rank(j, 1, 1, 1, 1);
    j->rows[1].wall_ns = j->rows[1].idle_ns = INT64_MAX;
    j->rows[1].rank = j->ranks[0].rank = INT32_MAX;
    j->ranks[0].file_bytes = j->ranks[0].events = INT64_MAX;
    j->ranks[0].status = TL_RANK_DAMAGED;
    free(summary_of(j));
    free(j);
}

static void steps_are_given_from_the_first_of_any_rank_to_the_last(void)
{
    job *j = new_job();
    add_rank(j, 1, 0, 0, 1);
    add_rank(j, 1, 0, 0, 1);
    add_step(j, 0, 4);
    add_step(j, 0, 5);
    add_step(j, 1, 5);
    char *text = summary_of(j);
    expect(text, "steps 4-5", 1);
    free(text);

    add_step(j, 1, 6);
    text = summary_of(j);
    expect(text, "steps 4-6", 1);
    free(text);
    free(j);
}

static void what_to_type_next_can_be_typed(void)
{
    job *j = new_job();
    add_rank(j, 50, 0, 0, 0);
    j->s.output = "my traces/rank's.h5";
    char *text = summary_of(j);
    expect(text, "Next: tlmpi ask 'my traces/rank'\\''s.h5'\n", 1);
    free(text);
    free(j);
}

static void without_device_work_the_ranks_are_what_to_look_at(void)
{
    job *j = new_job();
    add_rank(j, 50, 0, 0, 0);
    j->of_rows.n = 0;
    char *text = summary_of(j);
    expect(text, "there is nothing to analyse", 1);
    expect(text, "Next: tlmpi show traces.h5 rank\n", 1);
    free(text);
    free(j);
}

static void wide_names_stay_in_80_columns(void)
{
    job *j = new_job();
    add_rank(j, 50, 0, 0, 0);
#define SEVEN "\xe8\xae\xad\xe7\xbb\x83\xe6\x95\xb0\xe6\x8d\xae\xe8\xae\xad\xe7\xbb\x83\xe6\x95\xb0" /* of two columns each */
    j->s.output = SEVEN SEVEN ".h5";
    char *text = summary_of(j);
    expect(text, "(600.0 kB).\n  Next: tlmpi ask ", 1); /* 80 columns would do were they narrow */
    free(text);
    free(j);
}

static const unit_test tests[] = {
    TEST(a_job_of_four_is_one_screen),
    TEST(what_is_unknown_has_a_column_of_its_own),
    TEST(long_times_are_in_seconds),
    TEST(one_rank_has_no_mean),
    TEST(of_a_thousand_ranks_three_are_shown),
    TEST(ties_go_to_the_lower_rank),
    TEST(short_times_have_more_decimals),
    TEST(a_job_without_loss_says_so),
    TEST(huge_numbers_keep_the_table_in_its_columns),
    TEST(steps_are_given_from_the_first_of_any_rank_to_the_last),
    TEST(what_to_type_next_can_be_typed),
    TEST(without_device_work_the_ranks_are_what_to_look_at),
    TEST(wide_names_stay_in_80_columns),
};

int main(void)
{
    return unit_main("summary", tests, COUNT(tests));
}
