/* test_culprits.c - who holds the job up: from tables to culprits. */
#include "answer_job.h"

static void a_rank_that_holds_the_job_up_is_found_with_what_it_costs(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->p_value = 0.000001;
    const tl_answers *a = answers_of(j);

    CU_ASSERT_EQUAL(a->finding, TL_FOUND_STRAGGLER);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 1);
    CU_ASSERT_EQUAL(a->culprits[0].rank, 2);
    CU_ASSERT_STRING_EQUAL(a->culprits[0].host, "node0");
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, 200 * MS);
    CU_ASSERT_DOUBLE_EQUAL(tl_answers_share(a, 200 * MS), 0.25, 1e-9);
    CU_ASSERT_EQUAL(a->culprits[0].steps_flagged, 8);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 25 * MS); /* the gain, of 8 steps */
    CU_ASSERT_EQUAL(a->culprits[0].step_ns, 100 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].excess_ns, 240 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].blame_ns, 720 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].nwaiters, 3);
    CU_ASSERT_STRING_EQUAL(a->culprits[0].waiters, "0,1,3");
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_HIGH);
    CU_ASSERT_EQUAL(a->phase.confidence, TL_CONFIDENCE_HIGH);
    CU_ASSERT_EQUAL(a->waiting.confidence, TL_CONFIDENCE_HIGH);
    CU_ASSERT_EQUAL(a->persistence.confidence, TL_CONFIDENCE_HIGH);
    job_free(j);
}

static void the_largest_gain_comes_first(void)
{
    answer_job *j = job_of(8, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 1, 1, 8, 10 * MS, 40 * MS);
    hold_up(j, 6, 3, 5, 90 * MS, 200 * MS);
    hold_up(j, 3, 1, 8, 20 * MS, 40 * MS);
    hold_up(j, 4, 1, 8, 20 * MS, 40 * MS);
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 300 * MS);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 4);
    CU_ASSERT_EQUAL(a->culprits[0].rank, 6);
    CU_ASSERT_EQUAL(a->culprits[1].rank, 3);
    CU_ASSERT_EQUAL(a->culprits[2].rank, 4);
    CU_ASSERT_EQUAL(a->culprits[3].rank, 1);
    CU_ASSERT_EQUAL(a->culprits[0].pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT_EQUAL(a->together_gain_ns, 300 * MS);
    CU_ASSERT_STRING_EQUAL(a->culprits[0].host, "node1");
    job_free(j);
}

/* Each is late in its steps; the others wait in all of them. */
static void ranks_late_in_turn_are_one_culprit(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 1, 1, 4, 30 * MS, 4 * MS)->p_value = 0.5;
    hold_up(j, 2, 5, 8, 20 * MS, 5 * MS)->cause = TL_CAUSE_GC;
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 160 * MS);
    walk(j, -1, TL_ACTIVITY_HOST, 800 * MS, 0);
    walk(j, 1, TL_ACTIVITY_HOST, 200 * MS, 0);
    walk(j, 2, TL_ACTIVITY_HOST, 300 * MS, 0);
    verdict_of(j, 1)->late_count = 9;
    verdict_of(j, 2)->late_count = 7;
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 1);
    const tl_culprit *c = &a->culprits[0];
    CU_ASSERT_EQUAL_FATAL(c->nranks, 2);
    CU_ASSERT_STRING_EQUAL(c->ranks, "1,2");
    CU_ASSERT_EQUAL(c->rank, 2); /* alone it gains more */
    CU_ASSERT_FALSE(c->same_cause);
    CU_ASSERT_EQUAL(c->gain_ns, 160 * MS);
    CU_ASSERT_EQUAL(c->late_count, 16);
    CU_ASSERT_EQUAL(c->steps_flagged, 8);
    CU_ASSERT_EQUAL(c->pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT(c->first_step == 1 && c->last_step == 8);
    CU_ASSERT_EQUAL(c->step_cost_ns, 20 * MS);
    CU_ASSERT_EQUAL(c->excess_ns, 200 * MS);
    /* Ranks 0 and 3; what the two wait for each other does not count. */
    CU_ASSERT_EQUAL(c->blame_ns, 2 * 200 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].nwaiters, 2);
    CU_ASSERT_DOUBLE_EQUAL(c->path_share, 0.625, 1e-9);
    CU_ASSERT_EQUAL(c->p_value, 0.5);
    job_free(j);
}

static void a_rank_that_gains_half_of_all_stands_for_itself(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 1, 1, 4, 30 * MS, 80 * MS);
    hold_up(j, 2, 5, 8, 20 * MS, 5 * MS);
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 160 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->nculprits, 1);
    verdict_of(j, 1)->gain_ns = 81 * MS;
    ((tl_whatif_row *)tl_table_row(tl_tables_get(&j->tables, &tl_whatif_row_schema), 2))->gain_ns = 81 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->nculprits, 2);
    CU_ASSERT_EQUAL(j->answers.culprits[0].nranks, 1);
    job_free(j);
}

static void all_ranks_of_a_host_are_the_host(void)
{
    answer_job *j = job_of(8, 8);
    replay(j, 800 * MS, 0);
    for (int32_t r = 4; r < 8; r++)
        hold_up(j, r, 3, 5, 30 * MS, 3 * MS);
    gain_of(j, TL_SCENARIO_HOST, 0, 0);
    gain_of(j, TL_SCENARIO_HOST, 4, 90 * MS);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 1);
    CU_ASSERT_EQUAL(a->culprits[0].nranks, 4);
    CU_ASSERT_EQUAL(a->culprits[0].kind, TL_CULPRIT_HOST);
    CU_ASSERT_TRUE(a->culprits[0].same_cause);
    CU_ASSERT_STRING_EQUAL(a->culprits[0].host, "node1");
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, 90 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 30 * MS);
    /* A member may stand out in no step by itself. */
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++)
        if (((tl_blame_step *)tl_table_row(steps, i))->rank == 6)
            ((tl_blame_step *)tl_table_row(steps, i))->flagged = 0;
    verdict_of(j, 6)->first_step = verdict_of(j, 6)->last_step = -1;
    verdict_of(j, 6)->pattern = TL_PATTERN_NONE;
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].first_step, 3);
    CU_ASSERT_EQUAL(j->answers.culprits[0].nranks, 4);
    CU_ASSERT_EQUAL(j->answers.culprits[0].pattern, TL_PATTERN_BOUNDED);
    for (size_t i = 0; i < steps->n; i++)
        ((tl_blame_step *)tl_table_row(steps, i))->flagged = 0;
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].first_step, -1);
    CU_ASSERT_EQUAL(j->answers.culprits[0].pattern, TL_PATTERN_NONE);
    /* Without one of them it is not the host; without a joint repair they stand alone. */
    verdict_of(j, 7)->verdict = TL_VERDICT_OK;
    CU_ASSERT_EQUAL(answers_of(j)->nculprits, 3);
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 60 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->nculprits, 1);
    CU_ASSERT_EQUAL(j->answers.culprits[0].kind, TL_CULPRIT_SEVERAL);
    CU_ASSERT_STRING_EQUAL(j->answers.culprits[0].host, "node1"); /* on that host, all the same */
    job_free(j);
}

/* From the steps alone it would be "bounded". */
static void ranks_that_drift_drift_together(void)
{
    answer_job *j = job_of(8, 8);
    replay(j, 800 * MS, 0);
    for (int32_t r = 4; r < 8; r++)
        hold_up(j, r, 3, 8, 30 * MS, 3 * MS)->pattern = TL_PATTERN_DRIFTING;
    gain_of(j, TL_SCENARIO_HOST, 0, 0);
    gain_of(j, TL_SCENARIO_HOST, 4, 90 * MS);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 1);
    CU_ASSERT_EQUAL(a->culprits[0].pattern, TL_PATTERN_DRIFTING);
    CU_ASSERT_EQUAL(a->culprits[0].first_step, 3);
    CU_ASSERT_EQUAL(a->culprits[0].last_step, 8);
    CU_ASSERT_EQUAL(a->culprits[0].steps_flagged, 6);
    verdict_of(j, 5)->pattern = TL_PATTERN_BOUNDED; /* not all of them */
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].pattern, TL_PATTERN_BOUNDED);
    job_free(j);
}

static tl_slow_link_row link_between(int32_t rank, int32_t peer)
{
    return (tl_slow_link_row){ .rank = rank,
                               .peer = peer,
                               .kind = TL_ALL_REDUCE,
                               .bytes = 16777216,
                               .transfer_ns = 393010,
                               .elsewhere_ns = 130915,
                               .excess_ns = 90 * MS,
                               .gain_ns = 80 * MS,
                               .pattern = TL_PATTERN_PERSISTENT,
                               .first_step = 1,
                               .last_step = 8,
                               .p_value = 0.000001,
                               .ranks = "2,3" };
}

static void a_slow_link_is_one_culprit_and_not_two_ranks(void)
{
    answer_job *j = job_of(4, 8);
    tl_slow_link_row link = link_between(2, 3);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 10 * MS, 80 * MS)->cause = TL_CAUSE_SLOW_LINK;
    hold_up(j, 3, 1, 8, 5 * MS, 80 * MS)->cause = TL_CAUSE_SLOW_LINK;
    put_row(j, &tl_slow_link_row_schema, &link);
    const tl_answers *a = answers_of(j);

    CU_ASSERT_EQUAL(a->finding, TL_FOUND_LINK);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 1);
    CU_ASSERT_EQUAL(a->culprits[0].kind, TL_CULPRIT_LINK);
    CU_ASSERT_EQUAL(a->culprits[0].peer, 3);
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, 80 * MS);
    /* Ranks 0 and 1 wait for both ends; what the ends wait for each other does not count. */
    CU_ASSERT_EQUAL(a->culprits[0].nwaiters, 2);
    CU_ASSERT_EQUAL(a->culprits[0].blame_ns, 8 * 2 * 15 * MS);
    CU_ASSERT_EQUAL(a->phase.confidence, TL_CONFIDENCE_HIGH);
    job_free(j);
}

static void a_slow_link_without_ranks_is_a_verdict_of_its_own(void)
{
    answer_job *j = job_of(4, 8);
    tl_slow_link_row link = link_between(-1, -1);
    replay(j, 800 * MS, 0);
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NONE);
    link.gain_ns = 6 * MS;
    put_row(j, &tl_slow_link_row_schema, &link);
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_LINK);
    CU_ASSERT_STRING_EQUAL(j->answers.culprits[0].host, "");
    CU_ASSERT_EQUAL(j->answers.rank.doubts & 1u << TL_DOUBT_ENDS, 1u << TL_DOUBT_ENDS);
    CU_ASSERT_EQUAL(j->answers.rank.doubts & 1u << TL_DOUBT_OTHER_STAGES, 0);
    link.evidence = TL_LINK_BY_STEPS;
    tl_tables_get(&j->tables, &tl_slow_link_row_schema)->n = 0;
    put_row(j, &tl_slow_link_row_schema, &link);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts & 1u << TL_DOUBT_OTHER_STAGES, 1u << TL_DOUBT_OTHER_STAGES);
    job_free(j);
}

static void who_was_not_repaired_has_no_gain(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.2);
    hold_up(j, 2, 1, 8, 30 * MS, -1);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, -1);
    CU_ASSERT_FALSE(a->trust.simulated);
    CU_ASSERT_EQUAL(a->wall_ns, 800 * MS); /* measured */
    CU_ASSERT_EQUAL(a->rank.doubts, 1u << TL_DOUBT_NOT_REPLAYED);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_MEDIUM);
    job_free(j);
}

static void nobody_is_an_answer(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->finding, TL_FOUND_NONE);
    CU_ASSERT_PTR_NULL(a->most);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_HIGH);
    CU_ASSERT_STRING_EQUAL(a->job.name, "exposed communication");

    hold_up(j, 3, 2, 2, 4 * MS, 0)->verdict = TL_VERDICT_OK;
    a = answers_of(j);
    CU_ASSERT_EQUAL(a->finding, TL_FOUND_NONE);
    CU_ASSERT_EQUAL_FATAL(a->most->rank, 3);
    CU_ASSERT_EQUAL(a->most_ns, 4 * MS);
    CU_ASSERT_EQUAL(a->wait_ns, 12 * MS);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_HIGH);
    job_free(j);
}

/* One job after the other, each a little poorer. */
static void where_nothing_can_be_told_the_answer_says_why(void)
{
    answer_job *j = job_of(4, 8);
    verdict_of(j, 1)->verdict = TL_VERDICT_INCONCLUSIVE;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NO_VERDICT);
    CU_ASSERT_PTR_EQUAL(j->answers.why, verdict_of(j, 1));
    CU_ASSERT_EQUAL(j->answers.rank.doubts, 1u << TL_DOUBT_NO_VERDICT);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_LOW);
    CU_ASSERT_EQUAL(j->answers.persistence.confidence, TL_CONFIDENCE_LOW);
    verdict_of(j, 2)->verdict = TL_VERDICT_INCONCLUSIVE;
    verdict_of(j, 2)->blame_ns = 5 * MS; /* of two that nothing else was found of, the one that others waited for */
    CU_ASSERT_PTR_EQUAL(answers_of(j)->why, verdict_of(j, 2));
    verdict_of(j, 1)->verdict = verdict_of(j, 2)->verdict = TL_VERDICT_OK;

    tl_quality *matched = tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 0);
    matched->count = 0;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_UNMATCHED);
    matched->of = 0;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_SILENCE);
    CU_ASSERT_EQUAL(j->answers.phase.confidence, TL_CONFIDENCE_HIGH); /* the largest loss is known */
    tl_tables_get(&j->tables, &tl_breakdown_schema)->n = 2;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_ONE_RANK);
    tl_tables_get(&j->tables, &tl_breakdown_schema)->n = 0;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NO_WORK);
    CU_ASSERT_EQUAL(j->answers.phase.confidence, TL_CONFIDENCE_LOW);
    for (size_t i = 0; i < j->tables.n; i++)
        j->tables.v[i].n = 0;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NO_WORK);
    job_free(j);
}

static void times_from_nowhere_do_no_harm(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    static const tl_schema *const touched[] = { &tl_blame_schema, &tl_blame_step_schema, &tl_step_schema,
                                                &tl_breakdown_schema, &tl_path_row_schema };
    walk(j, -1, TL_ACTIVITY_HOST, 1, 1);
    walk(j, 2, TL_ACTIVITY_HOST, 1, 1);
    for (size_t t = 0; t < COUNT(touched); t++) {
        tl_table *table = tl_tables_get(&j->tables, touched[t]);
        for (size_t i = 0; i < table->n; i++)
            for (size_t f = 0; f < touched[t]->nfields; f++)
                if (touched[t]->fields[f].type == TL_TYPE_I64 || touched[t]->fields[f].type == TL_TYPE_TIME) {
                    int64_t huge = (i + f) % 2 == 0 ? INT64_MAX : INT64_MIN;
                    memcpy((char *)tl_table_row(table, i) + touched[t]->fields[f].offset, &huge, sizeof huge);
                }
    }
    answers_of(j);
    job_free(j);
}

/* What stands in the rows, and only there. */
static void a_row_says_what_it_costs_of_which_time(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 750 * MS, 0.01);
    hold_up(j, 2, 1, 8, 30 * MS, 150 * MS)->z = 7;
    const tl_culprit *row = &answers_of(j)->culprits[0];
    CU_ASSERT_EQUAL(row->culprit, 0);
    CU_ASSERT_EQUAL(row->kind, TL_CULPRIT_RANK);
    CU_ASSERT_EQUAL(row->cost_ns, 150 * MS);
    CU_ASSERT_EQUAL(row->wall_ns, 750 * MS);
    CU_ASSERT_DOUBLE_EQUAL(row->cost_share, 0.2, 1e-9);
    CU_ASSERT_EQUAL(row->waited_ns, 240 * MS);
    CU_ASSERT_EQUAL(row->device, 2);
    CU_ASSERT_EQUAL(row->z, 7);
    CU_ASSERT_EQUAL(row->cause, TL_CAUSE_HOST_LATE);
    CU_ASSERT_STRING_EQUAL(row->place, "forward");
    CU_ASSERT_EQUAL(row->link, -1);
    ((tl_whatif_row *)tl_table_row(tl_tables_get(&j->tables, &tl_whatif_row_schema), 2))->gain_ns = 0;
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].cost_ns, 240 * MS); /* named for the waits */
    job_free(j);
}

/* Each row has the doubts of its own. */
static void each_culprit_is_doubted_for_itself(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 1, 1, 8, 10 * MS, 100 * MS)->p_value = 0.000001;
    hold_up(j, 2, 1, 8, 10 * MS, 90 * MS)->p_value = 0.3;
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 2);
    CU_ASSERT_STRING_EQUAL(a->culprits[0].doubts, "");
    CU_ASSERT_STRING_EQUAL(a->culprits[1].doubts, "chance");
    CU_ASSERT_EQUAL(a->culprits[1].confidence, TL_CONFIDENCE_MEDIUM);
    CU_ASSERT_EQUAL(a->rank.doubts, 0); /* the answer is the first */
    job_free(j);
}

/* One row, of the rank whose own work exceeds that of its peers most, whoever others wait for. */
static void nobody_is_a_row(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 3, 2, 2, 4 * MS, 0)->verdict = TL_VERDICT_OK;
    hold_up(j, 1, 2, 2, 3 * MS, 0)->verdict = TL_VERDICT_OK;
    put_row(j, &tl_blame_schema, &(tl_blame){ .to_rank = 1, .step = 2, .from_rank = 0, .indirect_ns = 900 * MS });
    verdict_of(j, 1)->blame_ns += 900 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->nculprits, 0);
    const tl_table *table = tl_tables_get(&j->tables, &tl_culprit_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, 1);
    const tl_culprit *row = tl_table_row(table, 0);
    CU_ASSERT_EQUAL(row->kind, TL_CULPRIT_NONE);
    CU_ASSERT_EQUAL(row->rank, 3);
    CU_ASSERT_EQUAL(row->nranks, 0);
    CU_ASSERT_EQUAL(row->excess_ns, 4 * MS);
    CU_ASSERT_EQUAL(row->first_step, -1);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(a_rank_that_holds_the_job_up_is_found_with_what_it_costs),
    TEST(the_largest_gain_comes_first),
    TEST(ranks_late_in_turn_are_one_culprit),
    TEST(a_rank_that_gains_half_of_all_stands_for_itself),
    TEST(all_ranks_of_a_host_are_the_host),
    TEST(ranks_that_drift_drift_together),
    TEST(a_slow_link_is_one_culprit_and_not_two_ranks),
    TEST(a_slow_link_without_ranks_is_a_verdict_of_its_own),
    TEST(who_was_not_repaired_has_no_gain),
    TEST(nobody_is_an_answer),
    TEST(where_nothing_can_be_told_the_answer_says_why),
    TEST(a_row_says_what_it_costs_of_which_time),
    TEST(each_culprit_is_doubted_for_itself),
    TEST(nobody_is_a_row),
    TEST(times_from_nowhere_do_no_harm),
};

int main(void)
{
    return unit_main("culprits", tests, COUNT(tests));
}
