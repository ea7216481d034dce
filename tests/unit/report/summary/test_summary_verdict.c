/* test_summary_verdict.c - the verdict in the summary: one text from the sentence to the largest loss. */
#include "answer_job.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/report/summary.h"

/* The summary's rows are those of the job's tables. */
static char *whole_summary(answer_job *j)
{
    char *text = NULL;
    size_t size = 0;
    const tl_table *ranks = tl_tables_get(&j->tables, &tl_rank_schema),
                   *rows = tl_tables_get(&j->tables, &tl_breakdown_schema);
    const tl_summary s = { .version = "1",
                           .ranks = (const tl_rank *)(const void *)ranks->rows,
                           .nranks = ranks->n,
                           .breakdown = (const tl_breakdown *)(const void *)rows->rows,
                           .nbreakdown = rows->n,
                           .answers = answers_of(j),
                           .run = 1,
                           .nruns = 1 };
    FILE *out = open_memstream(&text, &size);
    tl_print_summary(out, &s);
    (void)fclose(out);
    CU_ASSERT_TRUE(fits_a_screen(text));
    return text;
}

/* What stands after the table, to the end.  Good until the next call. */
static const char *verdict(answer_job *j)
{
    static char kept[4096];
    char *text = whole_summary(j);
    const char *mean = strstr(text, "  mean "), *from = mean != NULL ? strstr(mean, "\n\n") : NULL;
    snprintf(kept, sizeof kept, "%s", from != NULL ? from + 2 : text);
    free(text);
    return kept;
}

#define LOSS                                                                                                           \
    "Largest loss: rank 0, exposed comm 30.0 % of its wall time (240.0 of 800.0 ms) -\n"                               \
    "  over all ranks 30.0 %"

static void a_straggler_is_a_paragraph(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.012);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->p_value = 0.0001;
    walk(j, -1, TL_ACTIVITY_HOST, 800 * MS, 0);
    walk(j, 2, TL_ACTIVITY_HOST, 572 * MS, 0);
    CU_ASSERT_STRING_EQUAL(verdict(j),
                           "Rank 2 (host node0, device 2) holds the job up in every step (8 of 8, 1-8): it\n"
                           "  costs 25.0 ms of a step of 100 ms\n"
                           "  cause   host_late: the host launches late, and the device is idle meanwhile\n"
                           "  where   \"forward\"\n"
                           "  others  3 ranks wait for it, 720 ms of their time together - ranks 0-1, 3\n"
                           "  gain    without its delay the job takes 200 ms less (25.0 % of 800 ms), as\n"
                           "          simulated\n"
                           "  path    it holds 71.5 % of the critical path\n"
                           "  trust   high - p = 0.0001, 16 of 16 collectives matched, 1 clock, simulation\n"
                           "          off by 1.2 %\n" LOSS "\n");
    char *text = whole_summary(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "  2       800.0  50.0 %  30.0 %   0.0 %  20.0 %   0.0 %  <- straggler\n"));
    free(text);
    job_free(j);
}

/* Its verdict rests on the waits: a cost of nothing would deny it. */
static void what_gains_nothing_has_no_cost(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.012);
    hold_up(j, 2, 1, 8, 30 * MS, 0)->p_value = 0.0001;
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), "Rank 2 (host node0, device 2) holds the job up in every step (8 of 8, 1-8):\n"
                                              "  others wait for it, but the simulation gains nothing\n  cause "));
    job_free(j);
}

static void doubts_stand_before_what_it_rests_on(void)
{
    answer_job *j = job_of(4, 3);
    hold_up(j, 1, 2, 2, 30 * MS, -1)->pattern = TL_PATTERN_ONE_OFF;
    verdict_of(j, 1)->place[0] = '\0';
    verdict_of(j, 1)->cause_share = 0.62;
    verdict_of(j, 1)->cause = TL_CAUSE_MIXED;
    verdict_of(j, 1)->largest_cause = TL_CAUSE_GC;
    const char *text = verdict(j);
    static const char expected[] = "Rank 1 (host node0, device 1) holds the job up in step 2 alone: it costs 30.0 ms\n"
                                   "  of a step of 100 ms\n"
                                   "  cause   mixed: several causes, none of them alone (the largest, gc, has 62.0 %\n"
                                   "          of what its repair gains)\n"
                                   "  others  3 ranks wait for it, 90.0 ms of their time together - ranks 0, 2-3\n"
                                   "  gain    not known: nothing could be replayed; by the charges 30.0 ms of the\n"
                                   "          steps concerned\n"
                                   "  trust   medium - only 3 steps, too few for a test of significance; what it\n"
                                   "          costs could not be simulated; 6 of 6 collectives matched, 1 clock, no\n"
                                   "          simulation\n";
    CU_ASSERT_NSTRING_EQUAL(text, expected, strlen(expected));
    job_free(j);
}

static void several_are_told_worst_first_and_then_counted(void)
{
    answer_job *j = job_of(8, 8);
    replay(j, 800 * MS, 0);
    for (int32_t r = 1; r < 6; r++)
        hold_up(j, r, 1, 8, 30 * MS, (100 + r) * MS);
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 200 * MS);
    const char *text = verdict(j);
    CU_ASSERT_NSTRING_EQUAL(text, "Rank 5 (host node1, device 1) ", 30);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "- all that stand out together 200 ms\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text,
                                  "  also    rank 4 (host node1, device 0) in every step (8 of 8, 1-8) - host_late,\n"
                                  "          gain 104 ms (13.0 %)\n"
                                  "          rank 3 (host node0, device 3) in every step (8 of 8, 1-8) - host_late,\n"
                                  "          gain 103 ms (12.9 %)\n"
                                  "          and 2 more (tables straggler, link)\n"));
    job_free(j);
}

static void a_slow_host_is_told_by_its_ranks(void)
{
    answer_job *j = job_of(12, 8);
    replay(j, 800 * MS, 0);
    for (int32_t r = 4; r < 8; r++)
        hold_up(j, r, 1, 8, 30 * MS, 3 * MS);
    gain_of(j, TL_SCENARIO_HOST, 4, 160 * MS);
    const char *text = verdict(j);
    static const char expected[] = "Ranks 4-7 (all of host node1) hold the job up together in every step (8 of 8,\n"
                                   "  1-8): they cost 20.0 ms of a step of 100 ms\n"
                                   "  cause   host_late: the host launches late, and the device is idle meanwhile\n"
                                   "  where   \"forward\"\n"
                                   "  others  8 ranks wait for them, 7.68 s of their time together - ranks 0-3, 8-11\n"
                                   "  gain    without their delays the job takes 160 ms less (20.0 % of 800 ms), as\n"
                                   "          simulated\n";
    CU_ASSERT_NSTRING_EQUAL(text, expected, strlen(expected));
    CU_ASSERT_PTR_NULL(strstr(text, "also"));
    verdict_of(j, 5)->cause = TL_CAUSE_GC;
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), "meanwhile\n          (rank 4)\n"));
    job_free(j);
}

static void a_slow_link_is_a_verdict(void)
{
    answer_job *j = job_of(8, 8);
    tl_slow_link_row link = { .rank = 3,
                              .peer = 4,
                              .kind = TL_ALL_REDUCE,
                              .bytes = 16777216,
                              .transfer_ns = 393010,
                              .elsewhere_ns = 130915,
                              .surplus_ns = 90 * MS,
                              .gain_ns = 80 * MS,
                              .pattern = TL_PATTERN_BOUNDED,
                              .first_step = 2,
                              .last_step = 5,
                              .p_value = 0.0001 };
    replay(j, 800 * MS, 0);
    hold_up(j, 3, 2, 5, 20 * MS, 80 * MS)->cause = TL_CAUSE_SLOW_LINK;
    put_row(j, &tl_slow_link_row_schema, &link);
    const char *text = verdict(j);
    static const char expected[] = "The link between ranks 3 and 4 (hosts node0 and node1) holds the job up in steps\n"
                                   "  2-5 alone: its all_reduce of 16.8 MB takes 393 us, where other ranks take\n"
                                   "  131 us\n"
                                   "  cause   slow_link: nobody comes late, but data move slowly\n"
                                   "  others  6 ranks wait for it, 480 ms of their time together - ranks 0-2, 5-7\n"
                                   "  gain    without that the job takes 80.0 ms less (10.0 % of 800 ms), as\n"
                                   "          simulated\n";
    CU_ASSERT_NSTRING_EQUAL(text, expected, strlen(expected));
    job_free(j);
}

static void no_rank_stands_out_is_an_answer_with_the_loss_behind_it(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 3, 2, 2, 4 * MS, 0)->verdict = TL_VERDICT_OK;
    verdict_of(j, 3)->p_value = 0.61;
    snprintf(verdict_of(j, 3)->reason, 128, "stands out in 1 of 8 steps, but costs 0.5 %% of them");
    CU_ASSERT_STRING_EQUAL(
        verdict(j), "No rank holds the job up. Others wait most for rank 3, 0.5 % of the time\n"
                    "  (p = 0.61); stands out in 1 of 8 steps, but costs 0.5 % of them.\n"
                    "  trust   high - 16 of 16 collectives matched, 1 clock, simulation off by 0.0 %\n" LOSS "\n");
    job_free(j);
}

/* Beyond what those who are named cost: 40 of the 100 ms that the ideal gains are a rank's. */
static void what_nobody_is_at_fault_for_is_said(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    put_row(j, &tl_whatif_row_schema, &(tl_whatif_row){ .scenario = TL_SCENARIO_BALANCED, .rank = 2, .group = -1, .gain_ns = 104 * MS, .slowdown = 1.6 });
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j),
                                  "\nImbalance: that rank 2 and those that do the same compute 1.60 times as long as\n"
                                  "  the others costs 13.0 %\n" LOSS));
    tl_straggler *late = hold_up(j, 1, 1, 8, 5 * MS, 40 * MS); /* with its row of whatif */
    late->cause = TL_CAUSE_HOST_LATE;
    put_row(j, &tl_whatif_row_schema, &(tl_whatif_row){ .scenario = TL_SCENARIO_HOST_FREE, .rank = -1, .group = -1, .gain_ns = 47 * MS });
    tl_whatif_row *ideal = tl_whatif_row_of(tl_tables_get(&j->tables, &tl_whatif_row_schema), TL_SCENARIO_IDEAL, -1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ideal);
    ideal->gain_ns = 100 * MS;
    const tl_imbalance *of = &answers_of(j)->imbalance;
    CU_ASSERT_EQUAL(of->chance_ns, 60 * MS);
    CU_ASSERT_EQUAL(of->hosts_ns, 0); /* 7 ms are less than 1 % of 800 */
    tl_table *parameters = tl_tables_get(&j->tables, &tl_parameter_schema);
    CU_ASSERT_TRUE(tl_parameters_list(parameters, TL_VERDICT_ALPHA, 0.005)); /* somebody has chosen that */
    CU_ASSERT_EQUAL(answers_of(j)->imbalance.hosts_ns, 7 * MS);
    parameters->n = 0;
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), "\nImbalance: beside what is named above, that rank 2 and those that"));
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), "costs 7.5 % (these overlap)\n"));
    late = verdict_of(j, 1);
    late->cause = TL_CAUSE_COMPUTE_SLOW; /* its host takes what others' do */
    CU_ASSERT_EQUAL(answers_of(j)->imbalance.hosts_ns, 47 * MS);
    job_free(j);
}

static void ranks_without_a_trace_are_not_acquitted(void)
{
    answer_job *j = job_of(4, 8);
    for (size_t r = 0; r < 4; r++)
        ((tl_rank *)tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), r))->world_size = 6;
    const char *text = verdict(j);
    CU_ASSERT_NSTRING_EQUAL(text, "No rank that has a trace holds the job up. No rank waits", 56);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "  trust   medium - 2 ranks have no trace; 16 of 16"));
    walk(j, 1, TL_ACTIVITY_COMPUTE, 5 * MS, 0);
    walk(j, 4, TL_ACTIVITY_COMPUTE, 5 * MS, 0);
    walk(j, 4, TL_ACTIVITY_COMM, 5 * MS, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), "  trust   medium - 2 ranks have no trace (others stand for 1 in the simulation);\n"
                                              "          16 of 16"));
    job_free(j);
}

static void without_a_verdict_the_loss_is_said_all_the_same(void)
{
    answer_job *j = job_of(4, 8);
    tl_quality *matched = tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 0);
    matched->count = 0;
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: none of the 16 collectives could be matched across ranks (table\n"
                                       "  quality).\n" LOSS "\n");
    matched->count = 16;
    count_check(j, TL_CHECK_INCONCLUSIVE, 15, 16);
    put_row(j, &tl_clock_schema, &(tl_clock){ .offset_ns = 5060000 });
    ((tl_quality *)tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 1))->count = 2;
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: clocks are uncertain by 5.06 ms; who came last cannot be told in\n"
                                       "  15 of 16 collectives (table clock).\n" LOSS "\n");
    put_row(j, &tl_clock_schema, &(tl_clock){ .rank = 1, .host = "b", .clock = 1, .component = 1 });
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: nothing compares the clocks of hosts; who came last cannot be told\n"
                                       "  in 15 of 16 collectives (table clock).\n" LOSS "\n");
    verdict_of(j, 0)->verdict = TL_VERDICT_INCONCLUSIVE;
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: no step in which it stands out among its peers.\n" LOSS "\n");
    job_free(j);
}

static void where_nobody_is_seen_to_wait_none_are_counted(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 0, 200 * MS);
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), "\n  others  nobody is seen to wait\n"));
    job_free(j);
}

/* Names of a trace: long, without an end, with bytes that are none of a terminal. */
static void whatever_the_names_the_lines_fit(void)
{
    answer_job *j = job_of(4, 8);
    tl_straggler *row = hold_up(j, 2, 1, 8, 30 * MS, -1);
    tl_rank *rank = tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), 2);
    memset(rank->host, '\033', sizeof rank->host);
    for (size_t i = 0; i < sizeof row->place; i++)
        row->place[i] = i % 9 == 0 ? ' ' : '\t';
    char *text = whole_summary(j);
    CU_ASSERT_PTR_NULL(strchr(text, '\033'));
    CU_ASSERT_PTR_NULL(strchr(text, '\t'));
    free(text);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(a_straggler_is_a_paragraph),
    TEST(what_gains_nothing_has_no_cost),
    TEST(doubts_stand_before_what_it_rests_on),
    TEST(several_are_told_worst_first_and_then_counted),
    TEST(a_slow_host_is_told_by_its_ranks),
    TEST(a_slow_link_is_a_verdict),
    TEST(no_rank_stands_out_is_an_answer_with_the_loss_behind_it),
    TEST(what_nobody_is_at_fault_for_is_said),
    TEST(ranks_without_a_trace_are_not_acquitted),
    TEST(without_a_verdict_the_loss_is_said_all_the_same),
    TEST(where_nobody_is_seen_to_wait_none_are_counted),
    TEST(whatever_the_names_the_lines_fit),
};

int main(void)
{
    return unit_main("summary verdict", tests, COUNT(tests));
}
