/* test_summary_verdict.c - the verdict in the summary: a sentence, and what is to be known about it. */
#include "answer_job.h"
#include "flat.h"
#include "summary_tables.h"
#include "tlmpi/model/parameters.h"

/* The summary's rows are those of the job's tables. */
static char *whole_summary(answer_job *j)
{
    char *text = NULL;
    size_t size = 0;
    const tl_summary s = { .version = "1",
                           .ranks = tl_tables_get(&j->tables, &tl_rank_schema),
                           .breakdown = tl_tables_get(&j->tables, &tl_breakdown_schema),
                           .answers = answers_of(j),
                           .run = 1,
                           .nruns = 1 };
    FILE *out = open_memstream(&text, &size);
    print_tables(out, s);
    (void)fclose(out);
    CU_ASSERT_TRUE(fits_a_screen(text));
    return text;
}

/* What stands after the table, to the end, wherever its lines end.  Good until the next call. */
static const char *verdict(answer_job *j)
{
    static char kept[4096];
    char *text = whole_summary(j);
    const char *mean = strstr(text, "  mean "), *from = mean != NULL ? strstr(mean, "\n\n") : NULL;
    char *flat = flat_of(from != NULL ? from + 2 : text);
    snprintf(kept, sizeof kept, "%s", flat);
    free(flat);
    free(text);
    return kept;
}

static void a_straggler_is_a_paragraph(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.012);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->p_value = 0.000001;
    walk(j, -1, TL_ACTIVITY_HOST, 800 * MS, 0);
    walk(j, 2, TL_ACTIVITY_HOST, 572 * MS, 0);
    CU_ASSERT_STRING_EQUAL(verdict(j),
                           "Rank 2 (host node0, device 2) holds the job up in all 8 steps (1-8): it costs 25.0 ms (25.0 %) of each of these steps of 100 ms on average cause host_late: its device waits "
                           "for launches, because its CPU thread sleeps or works in \"forward\" gain 200 ms less of 800 ms (25.0 %) without its delay, simulated trust high "
                           "next record that rank with Python stacks (with_stack=True) or run py-spy on it; pin its process to cores near its device ");
    char *text = whole_summary(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "  2     800.0  50.0 %   0.0 %   30.0 %   0.0 %  20.0 %       -  straggler\n"));
    free(text);
    job_free(j);
}

/* Its verdict rests on the waits: a cost of nothing would deny it. */
static void what_gains_nothing_has_no_cost(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.012);
    hold_up(j, 2, 1, 8, 30 * MS, 0)->p_value = 0.000001;
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), "Rank 2 (host node0, device 2) holds the job up in all 8 steps (1-8): others wait for it "
                           "- the simulation gains nothing cause "));
    job_free(j);
}

static void doubts_are_told(void)
{
    answer_job *j = job_of(4, 3);
    hold_up(j, 1, 2, 2, 30 * MS, -1)->pattern = TL_PATTERN_ONE_OFF;
    verdict_of(j, 1)->place[0] = '\0';
    verdict_of(j, 1)->cause_share = 0.62;
    verdict_of(j, 1)->cause = TL_CAUSE_MIXED;
    verdict_of(j, 1)->largest_cause = TL_CAUSE_GC;
    const char *text = verdict(j);
    static const char expected[] = "Rank 1 (host node0, device 1) holds the job up in step 2 only: it costs 30.0 ms (30.0 %) of that step of 100 ms cause mixed: several causes, none of which has 80 % of the gain (the largest is gc, 62.0 % "
                           "of the gain) gain not known, because nothing could be simulated; it has 30.0 ms "
                           "more work than peers in these steps trust medium: 3 steps are too few for a test of significance; the "
                           "replay misses the measured time by more than 5 %, or there is none ";
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
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "- 200 ms less (25.0 %) without all that are named here "));
    CU_ASSERT_PTR_NOT_NULL(strstr(text,
                                  " also rank 4 (host node1, device 0) in all 8 steps (1-8) - host_late, gain 104 ms (13.0 "
                           "%) rank 3 (host node0, device 3) in all 8 steps (1-8) - host_late, gain 103 ms (12.9 %) "
                           "and 2 more (tables straggler, link) "));
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
    static const char expected[] = "Ranks 4-7 (all of host node1) hold the job up together in all 8 steps (1-8): they cost 20.0 ms (20.0 %) of each of these steps of 100 ms on average cause host_late: its device "
                           "waits for launches, because its CPU thread sleeps or works in \"forward\" gain 160 ms less of 800 ms (20.0 %) without their delays, simulated ";
    CU_ASSERT_NSTRING_EQUAL(text, expected, strlen(expected));
    CU_ASSERT_PTR_NULL(strstr(text, "also"));
    verdict_of(j, 5)->cause = TL_CAUSE_GC;
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), "(rank 4)"));
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
                              .excess_ns = 90 * MS,
                              .gain_ns = 80 * MS,
                              .pattern = TL_PATTERN_BOUNDED,
                              .first_step = 2,
                              .last_step = 5,
                              .p_value = 0.000001 };
    replay(j, 800 * MS, 0);
    hold_up(j, 3, 2, 5, 20 * MS, 80 * MS)->cause = TL_CAUSE_SLOW_LINK;
    put_row(j, &tl_slow_link_row_schema, &link);
    const char *text = verdict(j);
    static const char expected[] = "The link between ranks 3 and 4 (host node0 and host node1) holds the job up in steps 2-5 "
                           "only: its all_reduce of 16.8 MB takes 393 us, where other ranks take 131 us cause "
                           "slow_link: no rank is late, but data move slowly (table link) gain 80.0 ms less of 800 ms (10.0 %) were the link as fast as others, simulated ";
    CU_ASSERT_NSTRING_EQUAL(text, expected, strlen(expected));
    job_free(j);
}

static void no_rank_stands_out_is_an_answer(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 3, 2, 2, 4 * MS, 0)->verdict = TL_VERDICT_OK;
    verdict_of(j, 3)->p_value = 0.61;
    snprintf(verdict_of(j, 3)->reason, 128, "it is late in 1 of 8 steps, which costs only 0.50 %% of it");
    CU_ASSERT_STRING_EQUAL(verdict(j),
                           "No rank holds the job up. Rank 3 works longest beyond its peers, 0.5 % of the time (p = "
                           "0.61): it is late in 1 of 8 steps, which costs only 0.50 % of it. trust high ");
    job_free(j);
}

static void of_two_ranks_neither_is_unusual(void)
{
    answer_job *j = job_of(2, 8);
    replay(j, 800 * MS, 0);
    tl_straggler *late = hold_up(j, 1, 2, 2, 4 * MS, 0);
    late->verdict = TL_VERDICT_OK;
    late->share_steps = 0;
    snprintf(late->reason, sizeof late->reason, "it is late in no step by more than chance explains");
    const char *text = verdict(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "; with two ranks there is no third to tell which one is unusual. "));
    CU_ASSERT_PTR_NULL(strstr(text, "chance explains"));
    job_free(j);
}

/* Beyond what those who are named cost: 40 of the 100 ms that the ideal gains are a rank's. */
static void what_nobody_is_at_fault_for_is_said(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    put_row(j, &tl_whatif_row_schema, &(tl_whatif_row){ .scenario = TL_SCENARIO_BALANCED, .rank = 2, .group = -1, .gain_ns = 104 * MS, .slowdown = 1.6 });
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), " balance ranks that do the same as rank 2 compute 1.60 times as long as the others in the median: balanced 104 ms less of 800 ms (13.0 %) "));
    verdict_of(j, 2)->against = TL_AGAINST_STAGES; /* a stage of one rank, whose gain the simulation cannot tell */
    tl_whatif_row *balanced = tl_whatif_row_of(tl_tables_get(&j->tables, &tl_whatif_row_schema), TL_SCENARIO_BALANCED, 2);
    balanced->gain_ns = -8 * MS;
    balanced->unexplained_ns = 112 * MS;
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), " balance rank 2 computes 1.60 times as long as the others in the median: balanced, at most 104 ms less of 800 ms (13.0 %) "));
    verdict_of(j, 2)->against = TL_AGAINST_PEERS;
    balanced->gain_ns = 104 * MS;
    balanced->unexplained_ns = 0;
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
    tl_parameters_list(parameters, TL_VERDICT_ALPHA, 0.005); /* somebody has chosen that */
    CU_ASSERT_EQUAL(answers_of(j)->imbalance.hosts_ns, 7 * MS);
    parameters->n = 0;
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), " balance ranks that do the same as rank 2")); /* more than rank 1 */
    tl_whatif_row_of(tl_tables_get(&j->tables, &tl_whatif_row_schema), TL_SCENARIO_BALANCED, 2)->gain_ns = 20 * MS;
    ideal->gain_ns = 60 * MS;
    CU_ASSERT_PTR_NULL(strstr(verdict(j), "balance"));
    late = verdict_of(j, 1);
    late->cause = TL_CAUSE_COMPUTE_SLOW; /* its host takes what others' do */
    CU_ASSERT_EQUAL(answers_of(j)->imbalance.hosts_ns, 47 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->imbalance.hosts_rank, -1); /* all are idle as long */
    TL_ROWS (tl_breakdown, row, tl_tables_get(&j->tables, &tl_breakdown_schema))
        row->idle_ns = row->rank == 2 ? 9 * MS : MS / 2;
    CU_ASSERT_EQUAL(answers_of(j)->imbalance.hosts_rank, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict(j), "the GPU of rank 2 waits for its CPU; at best 47.0 ms less"));
    job_free(j);
}

/* Rank 4 of 5 has no trace: what is told of it is the least. */
static void a_rank_without_a_trace_is_a_suspect(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    tl_straggler late = { .rank = 4, .verdict = TL_VERDICT_STRAGGLER, .z = 60, .share_steps = 1, .first_step = 1,
                          .last_step = 8, .p_value = 1e-9, .cause_share = NAN, .gain_ns = 80 * MS };
    put_row(j, &tl_straggler_schema, &late);
    put_row(j, &tl_whatif_row_schema, &(tl_whatif_row){ .scenario = TL_SCENARIO_RANK, .rank = 4, .gain_ns = 80 * MS });
    for (int32_t s = 1; s <= 8; s++)
        put_row(j, &tl_blame_step_schema, &(tl_blame_step){ .rank = 4, .step = s, .step_ns = 100 * MS, .flagged = 1,
                                                            .excess_ns = 11 * MS, .gain_ns = 10 * MS });
    for (size_t r = 0; r < 4; r++) {
        tl_rank *row = tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), r);
        row->world_size = 5;
    }
    verdict_of(j, 4)->pattern = TL_PATTERN_PERSISTENT;
    const char *text = verdict(j);
    static const char expected[] =
        "Rank 4 (no trace) is the suspect: it seems to hold the job up in all 8 steps (1-8): it costs at least 10.0 ms "
        "(10.0 %) of each of these steps of 100 ms on average cause untraced: its peers have all come and leave together "
        "long after, so it comes late, or its link is slow gain at least 80.0 ms less of "
        "800 ms (10.0 %) without its delay, simulated trust medium: 1 rank has no trace ";
    CU_ASSERT_NSTRING_EQUAL(text, expected, strlen(expected));
    job_free(j);
}

static void ranks_without_a_trace_are_not_acquitted(void)
{
    answer_job *j = job_of(4, 8);
    for (size_t r = 0; r < 4; r++)
        ((tl_rank *)tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), r))->world_size = 6;
    const char *text = verdict(j);
    CU_ASSERT_NSTRING_EQUAL(text, "No rank that has a trace holds the job up. No rank has more", 59);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, " trust medium: 2 ranks have no trace "));
    job_free(j);
}

static void why_there_is_no_verdict_is_said(void)
{
    answer_job *j = job_of(4, 8);
    tl_quality *matched = tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 0);
    matched->count = 0;
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: none of the 16 collectives could be matched across ranks (table quality). "
                           "next record all members of a group in the same steps ");
    matched->count = 16;
    count_check(j, TL_CHECK_INCONCLUSIVE, 15, 16);
    put_row(j, &tl_clock_schema, &(tl_clock){ .offset_ns = 5060000 });
    ((tl_quality *)tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 1))->count = 2;
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: clocks are uncertain by 5.06 ms; who came last is unknown in 15 of 16 "
                           "collectives (table clock). ");
    put_row(j, &tl_clock_schema, &(tl_clock){ .rank = 1, .host = "b", .clock = 1, .component = 1 });
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: nothing compares the clocks of the hosts; who came last is unknown in 15 of "
                           "16 collectives (table clock). ");
    verdict_of(j, 0)->verdict = TL_VERDICT_INCONCLUSIVE;
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: no step in which it stands out among its peers. ");
    snprintf(verdict_of(j, 0)->reason, 128, "it is late in 3 of 8 steps");
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: rank 0 is late in 3 of 8 steps. ");
    snprintf(verdict_of(j, 0)->reason, 128, "its time stamps are too far apart");
    CU_ASSERT_STRING_EQUAL(verdict(j), "No verdict: rank 0's time stamps are too far apart. ");
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
    TEST(doubts_are_told),
    TEST(several_are_told_worst_first_and_then_counted),
    TEST(a_slow_host_is_told_by_its_ranks),
    TEST(a_slow_link_is_a_verdict),
    TEST(no_rank_stands_out_is_an_answer),
    TEST(of_two_ranks_neither_is_unusual),
    TEST(what_nobody_is_at_fault_for_is_said),
    TEST(a_rank_without_a_trace_is_a_suspect),
    TEST(ranks_without_a_trace_are_not_acquitted),
    TEST(why_there_is_no_verdict_is_said),
    TEST(whatever_the_names_the_lines_fit),
};

int main(void)
{
    return unit_main("summary verdict", tests, COUNT(tests));
}
