/* test_answers.c - who holds the job up, in facts: from tables to culprits, confidence and doubts. */
#include "answer_job.h"
#include "tlmpi/base/mem.h"

static void a_rank_that_holds_the_job_up_is_found_with_what_it_costs(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->p_value = 0.0001;
    const tl_answers *a = answers_of(j);

    CU_ASSERT_EQUAL(a->finding, TL_FOUND_STRAGGLER);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 1);
    CU_ASSERT_EQUAL(a->culprits[0].rank->rank, 2);
    CU_ASSERT_STRING_EQUAL(a->culprits[0].of->host, "node0");
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, 200 * MS);
    CU_ASSERT_DOUBLE_EQUAL(tl_answers_share(a, 200 * MS), 0.25, 1e-9);
    CU_ASSERT_EQUAL(a->culprits[0].nflagged, 8);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 25 * MS); /* the gain, of 8 steps */
    CU_ASSERT_EQUAL(a->culprits[0].step_ns, 100 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].lost_ns, 240 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].blame_ns, 720 * MS);
    CU_ASSERT_EQUAL(a->nwaiters, 3);
    CU_ASSERT_EQUAL(a->waiters[2], 3);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_HIGH);
    CU_ASSERT_EQUAL(a->phase.confidence, TL_CONFIDENCE_HIGH);
    CU_ASSERT_EQUAL(a->waiting.confidence, TL_CONFIDENCE_HIGH);
    CU_ASSERT_EQUAL(a->persistence.confidence, TL_CONFIDENCE_HIGH);
    job_free(j);
}

/* The host waits for its device in the last of eight steps, which it marks 765 ms long, the others 5. */
static void a_step_is_as_long_as_the_devices_take_for_it(void)
{
    answer_job *j = job_of(4, 8);
    tl_table *steps = tl_tables_get(&j->tables, &tl_step_schema), *costs = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++) {
        tl_step *step = tl_table_row(steps, i);
        step->start_ns = step->step * 5 * MS;
        step->end_ns = step->start_ns + (step->step == 8 ? 765 : 5) * MS;
    }
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 2, 5, 30 * MS, 80 * MS)->p_value = 0.0001;
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 20 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].step_ns, 100 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].lost_ns, 120 * MS);
    for (size_t i = 0; i < costs->n; i++)
        ((tl_blame_step *)tl_table_row(costs, i))->step_ns = 0; /* nothing tells */
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].step_ns, 100 * MS);
    job_free(j);
}

/* It stands out a little in step 1, too, which is none of its pattern. */
static void what_costs_lies_in_the_steps_of_the_pattern(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 5, 6, 30 * MS, 50 * MS)->p_value = 0.0001;
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++) {
        tl_blame_step *step = tl_table_row(steps, i);
        step->flagged |= step->rank == 2 && step->step == 1;
    }
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].nflagged, 2);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 25 * MS);
    job_free(j);
}

/* Half of what it gains is behind the last mark, where the others wait for it as well. */
static void what_is_gained_outside_of_marks_is_no_cost_of_a_step(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 1, 8, 30 * MS, 400 * MS)->p_value = 0.0001;
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++) {
        tl_blame_step *step = tl_table_row(steps, i);
        step->gain_ns = step->flagged ? 25 * MS : 0;
    }
    tl_blame behind = { .to_rank = 2, .step = -1, .from_rank = 0, .cause = TL_PART_HOST, .waiters = 1,
                        .direct_ns = 200 * MS };
    put_row(j, &tl_blame_schema, &behind);
    CU_ASSERT_TRUE(tl_table_sort(tl_tables_get(&j->tables, &tl_blame_schema)));
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, 400 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 25 * MS);
    job_free(j);
}

/* It stands out in step 5 alone, and gains a little in each. */
static void what_is_gained_in_other_steps_is_no_cost_of_that_one(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 5, 5, 30 * MS, 60 * MS)->p_value = 0.0001;
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++) {
        tl_blame_step *step = tl_table_row(steps, i);
        step->gain_ns = step->rank == 2 ? step->flagged ? 25 * MS : 5 * MS : 0;
    }
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, 60 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 25 * MS);
    for (size_t i = 0; i < steps->n; i++) { /* of one delay that goes on over a mark most is here */
        tl_blame_step *step = tl_table_row(steps, i);
        step->gain_ns = step->rank == 2 && step->flagged ? 35 * MS : 0;
    }
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].step_cost_ns, 60 * MS);
    for (size_t i = 0; i < steps->n; i++) { /* 21 of it are gained in others */
        tl_blame_step *step = tl_table_row(steps, i);
        step->gain_ns = step->rank == 2 ? step->flagged ? 35 * MS : 3 * MS : 0;
    }
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].step_cost_ns, 39 * MS);
    job_free(j);
}

/* What it does behind the last collective of step 5 makes that step longer, though the others mark it as any other. */
static void a_step_costs_no_more_than_it_is_long(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 5, 5, 30 * MS, 120 * MS)->p_value = 0.0001;
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].step_cost_ns, 100 * MS);
    for (size_t i = 0; i < steps->n; i++) {
        tl_blame_step *step = tl_table_row(steps, i);
        step->step_ns = step->step == 5 ? 230 * MS : 100 * MS;
        step->wall_ns = step->flagged ? 120 * MS : 0;
    }
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 120 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].step_ns, 230 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].lost_ns, 120 * MS);
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
    CU_ASSERT_EQUAL(a->culprits[0].rank->rank, 6);
    CU_ASSERT_EQUAL(a->culprits[1].rank->rank, 3);
    CU_ASSERT_EQUAL(a->culprits[2].rank->rank, 4);
    CU_ASSERT_EQUAL(a->culprits[3].rank->rank, 1);
    CU_ASSERT_EQUAL(a->culprits[0].pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT_EQUAL(a->together_gain_ns, 300 * MS);
    CU_ASSERT_STRING_EQUAL(a->culprits[0].of->host, "node1");
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
    walk(j, -1, TL_PART_HOST, 800 * MS, 0);
    walk(j, 1, TL_PART_HOST, 200 * MS, 0);
    walk(j, 2, TL_PART_HOST, 300 * MS, 0);
    verdict_of(j, 1)->late_count = 9;
    verdict_of(j, 2)->late_count = 7;
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 1);
    const tl_culprit *c = &a->culprits[0];
    CU_ASSERT_EQUAL_FATAL(c->nmembers, 2);
    CU_ASSERT(c->members[0] == 1 && c->members[1] == 2);
    CU_ASSERT_EQUAL(c->rank->rank, 2); /* alone it gains more */
    CU_ASSERT_FALSE(c->same_cause);
    CU_ASSERT_EQUAL(c->gain_ns, 160 * MS);
    CU_ASSERT_EQUAL(c->late_count, 16);
    CU_ASSERT_EQUAL(c->nflagged, 8);
    CU_ASSERT_EQUAL(c->pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT(c->first_step == 1 && c->last_step == 8);
    CU_ASSERT_EQUAL(c->step_cost_ns, 20 * MS);
    CU_ASSERT_EQUAL(c->lost_ns, 200 * MS);
    /* Ranks 0 and 3; what the two wait for each other does not count. */
    CU_ASSERT_EQUAL(c->blame_ns, 2 * 200 * MS);
    CU_ASSERT_EQUAL(a->nwaiters, 2);
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
    CU_ASSERT_EQUAL(j->answers.culprits[0].nmembers, 1);
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
    CU_ASSERT_EQUAL(a->culprits[0].nmembers, 4);
    CU_ASSERT_TRUE(a->culprits[0].whole_host);
    CU_ASSERT_TRUE(a->culprits[0].same_cause);
    CU_ASSERT_STRING_EQUAL(a->culprits[0].of->host, "node1");
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
    CU_ASSERT_EQUAL(j->answers.culprits[0].nmembers, 4);
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
    CU_ASSERT_FALSE(j->answers.culprits[0].whole_host);
    CU_ASSERT_PTR_NOT_NULL(j->answers.culprits[0].of); /* on that host, all the same */
    job_free(j);
}

/* No step stands out of either by itself; in 3 of 8 they do together, and the table says which pattern that is. */
static void a_host_that_was_judged_as_one_has_the_pattern_of_its_rows(void)
{
    answer_job *j = job_of(8, 8);
    replay(j, 800 * MS, 0);
    for (int32_t r = 4; r < 8; r++) {
        tl_straggler *row = hold_up(j, r, 2, 7, 30 * MS, 3 * MS);
        row->pattern = TL_PATTERN_SPORADIC;
        row->share_steps = 3.0 / 8;
        strcpy(row->reason, "with 4 ranks of host node1");
    }
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++)
        ((tl_blame_step *)tl_table_row(steps, i))->flagged = 0;
    gain_of(j, TL_SCENARIO_HOST, 0, 0);
    gain_of(j, TL_SCENARIO_HOST, 4, 90 * MS);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 1);
    CU_ASSERT_EQUAL(a->culprits[0].pattern, TL_PATTERN_SPORADIC);
    CU_ASSERT_EQUAL(a->culprits[0].first_step, 2);
    CU_ASSERT_EQUAL(a->culprits[0].last_step, 7);
    CU_ASSERT_EQUAL(a->culprits[0].nflagged, 3);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 30 * MS);
    strcpy(verdict_of(j, 5)->reason, "another"); /* each for itself */
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].pattern, TL_PATTERN_NONE);
    job_free(j);
}

/* 240 and 8 ms: of three ranks the mean is 82.7. */
static void who_hardly_waits_is_no_waiter(void)
{
    answer_job *j = job_of(3, 8);
    hold_up(j, 1, 1, 8, 30 * MS, -1);
    tl_table *blame = tl_tables_get(&j->tables, &tl_blame_schema);
    for (size_t i = 0; i < blame->n; i++) {
        tl_blame *row = tl_table_row(blame, i);
        if (row->from_rank == 2)
            row->direct_ns = MS;
    }
    CU_ASSERT_EQUAL(answers_of(j)->nwaiters, 1);
    CU_ASSERT_EQUAL(j->answers.waiters[0], 0);
    CU_ASSERT_EQUAL(j->answers.culprits[0].nwaiters, 1);
    job_free(j);
}

/* Groups of more than 32 ranks do not name who waits. */
static void waiters_without_names_are_counted(void)
{
    answer_job *j = job_of(40, 8);
    hold_up(j, 7, 1, 8, 30 * MS, -1);
    tl_table *blame = tl_tables_get(&j->tables, &tl_blame_schema);
    blame->n = 0;
    for (int32_t s = 1; s <= 8; s++)
        put_row(j, &tl_blame_schema,
                &(tl_blame){ .to_rank = 7, .step = s, .from_rank = -1, .waiters = 39, .direct_ns = 39 * 30 * MS });
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].nwaiters, 39);
    CU_ASSERT_EQUAL(a->nwaiters, 0);
    CU_ASSERT_EQUAL(a->culprits[0].blame_ns, 8 * 39 * 30 * MS);
    job_free(j);
}

/* Of 40 ranks 39 waited for each of two: at most 38 of them are others. */
static void members_are_no_waiters(void)
{
    answer_job *j = job_of(40, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 7, 1, 8, 30 * MS, 4 * MS);
    hold_up(j, 9, 1, 8, 30 * MS, 4 * MS);
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 160 * MS);
    tl_tables_get(&j->tables, &tl_blame_schema)->n = 0;
    for (int32_t rank = 7; rank <= 9; rank += 2)
        put_row(j, &tl_blame_schema,
                &(tl_blame){ .to_rank = rank, .step = 1, .from_rank = -1, .waiters = 39, .direct_ns = 30 * MS });
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].nmembers, 2);
    CU_ASSERT_EQUAL(j->answers.culprits[0].nwaiters, 38);
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
                               .surplus_ns = 90 * MS,
                               .gain_ns = 80 * MS,
                               .pattern = TL_PATTERN_PERSISTENT,
                               .first_step = 1,
                               .last_step = 8,
                               .p_value = 0.0001,
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
    CU_ASSERT_PTR_NULL(a->culprits[0].rank);
    CU_ASSERT_EQUAL(a->culprits[0].link->peer, 3);
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, 80 * MS);
    /* Ranks 0 and 1 wait for both ends; what the ends wait for each other does not count. */
    CU_ASSERT_EQUAL(a->nwaiters, 2);
    CU_ASSERT_EQUAL(a->culprits[0].blame_ns, 8 * 2 * 15 * MS);
    CU_ASSERT_EQUAL(a->phase.confidence, TL_CONFIDENCE_HIGH);
    job_free(j);
}

static void a_link_that_costs_nothing_is_nobodys_verdict(void)
{
    answer_job *j = job_of(4, 8);
    tl_slow_link_row link = link_between(-1, -1);
    replay(j, 800 * MS, 0);
    link.gain_ns = 6 * MS;
    put_row(j, &tl_slow_link_row_schema, &link);
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NOBODY);
    ((tl_slow_link_row *)tl_table_row(tl_tables_get(&j->tables, &tl_slow_link_row_schema), 0))->gain_ns = 7 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_LINK);
    CU_ASSERT_PTR_NULL(j->answers.culprits[0].of);
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

/* Waits in one group after the other can be longer than the step. */
static void a_step_costs_no_more_than_it_takes(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 130 * MS, -1);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 100 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].lost_ns, 800 * MS);
    job_free(j);
}

static void nobody_is_an_answer(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->finding, TL_FOUND_NOBODY);
    CU_ASSERT_PTR_NULL(a->most);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_HIGH);
    CU_ASSERT_STRING_EQUAL(a->job.name, "exposed comm");

    hold_up(j, 3, 2, 2, 4 * MS, 0)->verdict = TL_VERDICT_OK;
    a = answers_of(j);
    CU_ASSERT_EQUAL(a->finding, TL_FOUND_NOBODY);
    CU_ASSERT_EQUAL_FATAL(a->most->rank, 3);
    CU_ASSERT_EQUAL(a->most_ns, 4 * MS);
    CU_ASSERT_EQUAL(a->wait_ns, 12 * MS);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_HIGH);
    verdict_of(j, 3)->gain_ns = 40 * MS; /* of 800: who gains so much ought to have a name */
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_UNNAMED);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_MEDIUM);
    job_free(j);
}

/* One job after the other, each a little poorer. */
static void where_nothing_can_be_told_the_answer_says_why(void)
{
    answer_job *j = job_of(4, 8);
    verdict_of(j, 1)->verdict = TL_VERDICT_INCONCLUSIVE;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NO_VERDICT);
    CU_ASSERT_STRING_EQUAL(j->answers.why, verdict_of(j, 1)->reason);
    CU_ASSERT_EQUAL(j->answers.rank.doubts, 1u << TL_DOUBT_NO_VERDICT);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_LOW);
    CU_ASSERT_EQUAL(j->answers.persistence.confidence, TL_CONFIDENCE_LOW);
    verdict_of(j, 1)->verdict = TL_VERDICT_OK;

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

static void steps_are_needed_for_confidence(void)
{
    static const struct {
        int32_t nsteps;
        tl_doubt doubt;
        tl_confidence confidence;
    } cases[] = { { 0, TL_DOUBT_ONE_STEP, TL_CONFIDENCE_LOW },
                  { 1, TL_DOUBT_ONE_STEP, TL_CONFIDENCE_LOW },
                  { 2, TL_DOUBT_FEW_STEPS, TL_CONFIDENCE_MEDIUM },
                  { 4, TL_DOUBT_FEW_STEPS, TL_CONFIDENCE_MEDIUM } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        answer_job *j = job_of(4, cases[i].nsteps);
        replay(j, 800 * MS, 0);
        hold_up(j, 2, cases[i].nsteps > 0 ? 1 : -1, cases[i].nsteps, 30 * MS, 200 * MS);
        if (cases[i].nsteps == 0)
            count_check(j, TL_CHECK_MATCHED, 1, 1);
        const tl_answers *a = answers_of(j);
        CU_ASSERT_EQUAL(a->rank.doubts, 1u << cases[i].doubt);
        CU_ASSERT_EQUAL(a->rank.confidence, cases[i].confidence);
        CU_ASSERT_EQUAL(a->persistence.doubts, 1u << cases[i].doubt);
        CU_ASSERT_EQUAL(a->waiting.doubts, 0);
        job_free(j);
    }
}

static unsigned doubts_with(int64_t matched, int64_t of, int32_t world, uint8_t status, double p_value)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->p_value = p_value;
    tl_quality *check = tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 0);
    tl_rank *ranks = tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), 0);
    check->count = matched;
    check->of = of;
    for (size_t r = 0; r < 4; r++)
        ranks[r].world_size = world;
    ranks[3].status = status;
    unsigned doubts = answers_of(j)->rank.doubts;
    job_free(j);
    return doubts;
}

/* Nobody is named for it, and that much of the job's time may be somebody's doing. */
static void a_step_that_is_left_out_is_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    verdict_of(j, 1)->left_out_step = 1;
    verdict_of(j, 1)->left_out_ns = 7 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0); /* of 800 ms */
    verdict_of(j, 2)->left_out_step = 1;
    verdict_of(j, 2)->left_out_ns = 60 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_LEFT_OUT);
    CU_ASSERT_PTR_EQUAL(j->answers.left_out, verdict_of(j, 2));
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_MEDIUM);
    CU_ASSERT_EQUAL(j->answers.persistence.confidence, TL_CONFIDENCE_MEDIUM);
    job_free(j);
}

/* Whatever is found of them is found of several jobs. */
static void ranks_of_two_jobs_are_a_grave_doubt(void)
{
    answer_job *j = job_of(4, 8);
    tl_rank *ranks = tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), 0);
    replay(j, 800 * MS, 0);
    ranks[1].world_size = -1; /* it does not tell */
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    ranks[2].world_size = 2;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts & 1u << TL_DOUBT_SIZES, 1u << TL_DOUBT_SIZES);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_LOW);
    CU_ASSERT_EQUAL(j->answers.phase.confidence, TL_CONFIDENCE_LOW);
    CU_ASSERT_EQUAL(j->answers.persistence.confidence, TL_CONFIDENCE_LOW);
    ranks[2].world_size = 4;
    ranks[0].duplicates = 1;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_DUPLICATES);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_LOW);
    job_free(j);
}

/* Of device work alone nobody can say what the device waited for. */
static void traces_without_launches_are_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    tl_rank *ranks = tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), 0);
    replay(j, 800 * MS, 0);
    ranks[1].intervals = 10;
    ranks[1].no_launch = 9; /* launched before the recording */
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    ranks[1].no_launch = 10;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_NO_LAUNCHES);
    CU_ASSERT_EQUAL(j->answers.phase.doubts & 1u << TL_DOUBT_NO_LAUNCHES, 1u << TL_DOUBT_NO_LAUNCHES);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_MEDIUM);
    job_free(j);
}

/* Rank 3 of 4 lost its marks: what it does more is compared with nothing. */
static void a_rank_without_steps_is_a_grave_doubt(void)
{
    answer_job *j = job_of(4, 8);
    tl_table *steps = tl_tables_get(&j->tables, &tl_step_schema);
    replay(j, 800 * MS, 0);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts & 1u << TL_DOUBT_UNMARKED, 0);
    while (steps->n > 0 && ((const tl_step *)tl_table_row(steps, steps->n - 1))->rank == 3)
        steps->n--;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts & 1u << TL_DOUBT_UNMARKED, 1u << TL_DOUBT_UNMARKED);
    CU_ASSERT_EQUAL(answers_of(j)->rank.confidence, TL_CONFIDENCE_LOW);
    ((tl_straggler *)tl_table_row(tl_tables_get(&j->tables, &tl_straggler_schema), 3))->steps_from = TL_STEPS_MET;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts & (1u << TL_DOUBT_UNMARKED | 1u << TL_DOUBT_FOLLOWING),
                    1u << TL_DOUBT_FOLLOWING); /* others tell them */
    CU_ASSERT_EQUAL(answers_of(j)->rank.confidence, TL_CONFIDENCE_MEDIUM);
    steps->n = 0; /* nobody has any: steps are told by what returns */
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts & 1u << TL_DOUBT_UNMARKED, 0);
    job_free(j);
}

/* Of rank 2's 1000 events two have no duration; all ranks together have 16 000. */
static void events_without_durations_are_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    tl_table *ranks = tl_tables_get(&j->tables, &tl_rank_schema);
    replay(j, 800 * MS, 0);
    for (size_t i = 0; i < ranks->n; i++)
        ((tl_rank *)tl_table_row(ranks, i))->kept = i == 2 ? 1000 : 5000;
    ((tl_rank *)tl_table_row(ranks, 2))->untimed = 2;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0); /* nobody is named, and of all they are too few */
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->p_value = 0.0001;
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->rank.doubts, 1u << TL_DOUBT_UNTIMED);
    CU_ASSERT_EQUAL(a->phase.doubts, 1u << TL_DOUBT_UNTIMED);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_MEDIUM);
    ((tl_rank *)tl_table_row(ranks, 2))->untimed = 0;
    ((tl_rank *)tl_table_row(ranks, 0))->untimed = 12;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    ((tl_rank *)tl_table_row(ranks, 0))->untimed = 16;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_UNTIMED);
    job_free(j);
}

/* Of 240 ms of waiting clocks can tell of 40 for whom it was. */
static void where_clocks_hide_most_waiting_nobody_is_sure(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 4, 4, 10 * MS, 20 * MS)->p_value = 0.0001;
    count_check(j, TL_CHECK_CHARGED, 40 * MS, 240 * MS);
    count_check(j, TL_CHECK_UNCHARGED, 200 * MS, 240 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->rank.confidence, TL_CONFIDENCE_HIGH); /* as far as clocks may be apart, that is nothing */
    ((tl_quality *)tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 1))->count = 2;
    count_check(j, TL_CHECK_INCONCLUSIVE, 15, 16);
    for (int32_t r = 0; r < 4; r++)
        put_row(j, &tl_clock_schema, &(tl_clock){ .rank = r, .clock = r / 2, .sigma_ns = 3 * MS, .applied = 1 });
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->rank.doubts, 1u << TL_DOUBT_HIDDEN);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_LOW);
    job_free(j);
}

/* It stands out in step 5 alone, which has 25 of 60 ms. */
static void gains_in_other_steps_are_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 5, 5, 30 * MS, 60 * MS)->p_value = 0.0001;
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (int64_t ms = 25; ms <= 35; ms += 10) {
        for (size_t i = 0; i < steps->n; i++) {
            tl_blame_step *step = tl_table_row(steps, i);
            step->gain_ns = step->rank == 2 && step->flagged ? ms * MS : 0;
        }
        CU_ASSERT_EQUAL(answers_of(j)->persistence.doubts, ms < 30 ? 1u << TL_DOUBT_ELSEWHERE : 0);
    }
    job_free(j);
}

static void what_is_missing_is_a_doubt(void)
{
    CU_ASSERT_EQUAL(doubts_with(90, 100, 4, TL_RANK_OK, 0.05), 0);
    CU_ASSERT_EQUAL(doubts_with(89, 100, 4, TL_RANK_OK, 0.05), 1u << TL_DOUBT_PARTLY_MATCHED);
    CU_ASSERT_EQUAL(doubts_with(50, 100, 4, TL_RANK_OK, 0.05), 1u << TL_DOUBT_PARTLY_MATCHED);
    CU_ASSERT_EQUAL(doubts_with(49, 100, 4, TL_RANK_OK, 0.05), 1u << TL_DOUBT_HARDLY_MATCHED);
    CU_ASSERT_EQUAL(doubts_with(90, 100, 5, TL_RANK_OK, 0.05), 1u << TL_DOUBT_MISSING);
    CU_ASSERT_EQUAL(doubts_with(90, 100, 4, TL_RANK_CUT, 0.05), 1u << TL_DOUBT_DAMAGED);
    CU_ASSERT_EQUAL(doubts_with(90, 100, 4, TL_RANK_NO_GPU, 0.05), 1u << TL_DOUBT_NO_WORK);
    CU_ASSERT_EQUAL(doubts_with(90, 100, 4, TL_RANK_OK, 0.06), 1u << TL_DOUBT_CHANCE);
}

/* A trace of the host alone: no table has a row. */
static void without_steps_and_device_work_there_is_an_answer(void)
{
    answer_job *j = job_of(0, 0);
    CU_ASSERT_EQUAL(tl_tables_get(&j->tables, &tl_blame_step_schema)->n, 0);
    CU_ASSERT_EQUAL(answers_of(j)->nculprits, 0);
    job_free(j);
}

static void three_doubts_are_many(void)
{
    answer_job *j = job_of(4, 3);
    replay(j, 300 * MS, 0);
    hold_up(j, 2, 1, 3, 30 * MS, 80 * MS);
    tl_rank *rank = tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), 3);
    rank->status = TL_RANK_DAMAGED;
    CU_ASSERT_EQUAL(answers_of(j)->rank.confidence, TL_CONFIDENCE_MEDIUM);
    rank->world_size = 8;
    CU_ASSERT_EQUAL(answers_of(j)->rank.confidence, TL_CONFIDENCE_LOW);
    job_free(j);
}

static void charges_that_speak_of_another_part_are_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->phase.doubts & 1u << TL_DOUBT_CHARGES, 0);
    const tl_table *blame = tl_tables_get(&j->tables, &tl_blame_schema);
    for (size_t i = 0; i < blame->n; i++)
        ((tl_blame *)tl_table_row(blame, i))->cause = TL_PART_COMPUTE;
    CU_ASSERT_NOT_EQUAL(answers_of(j)->phase.doubts & 1u << TL_DOUBT_CHARGES, 0);
    CU_ASSERT_EQUAL(answers_of(j)->phase.confidence, TL_CONFIDENCE_MEDIUM);
    for (size_t i = 0; i < blame->n; i++) /* a third each: two of them of what it is not */
        ((tl_blame *)tl_table_row(blame, i))->cause =
            (uint8_t)(i % 3 == 0 ? TL_PART_HOST : i % 3 == 1 ? TL_PART_COMPUTE : TL_PART_ALLOCATOR);
    CU_ASSERT_NOT_EQUAL(answers_of(j)->phase.doubts & 1u << TL_DOUBT_CHARGES, 0);
    job_free(j);
}

static void a_cause_has_doubts_of_its_own(void)
{
    answer_job *j = job_of(4, 8);
    tl_straggler *row = hold_up(j, 2, 1, 8, 30 * MS, -1);
    row->place[0] = '\0';
    CU_ASSERT_EQUAL(answers_of(j)->phase.doubts, 1u << TL_DOUBT_NO_PLACE);
    row->cause_share = 0.79;
    CU_ASSERT_EQUAL(answers_of(j)->phase.doubts, 1u << TL_DOUBT_NO_PLACE | 1u << TL_DOUBT_MIXED);
    row->cause = TL_CAUSE_THROTTLED; /* all kernels are slower: none of them is the place */
    CU_ASSERT_EQUAL(answers_of(j)->phase.doubts & 1u << TL_DOUBT_NO_PLACE, 0);
    row->cause = TL_CAUSE_UNKNOWN;
    row->cause_share = NAN;
    CU_ASSERT_EQUAL(answers_of(j)->phase.confidence, TL_CONFIDENCE_LOW);
    job_free(j);
}

static void a_gain_far_below_the_wait_is_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 30 * MS, 120 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    tl_whatif_row *row = tl_table_row(tl_tables_get(&j->tables, &tl_whatif_row_schema), 2);
    row->gain_ns = verdict_of(j, 2)->gain_ns = 120 * MS - 1;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_GAIN);
    verdict_of(j, 2)->verdict = TL_VERDICT_OK; /* named or not: others wait 240 of 800 ms for it */
    verdict_of(j, 2)->gain_ns = 120 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NOBODY);
    CU_ASSERT_EQUAL(j->answers.rank.doubts, 1u << TL_DOUBT_UNNAMED);
    verdict_of(j, 2)->gain_ns = 119 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_UNNAMED | 1u << TL_DOUBT_GAIN);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_MEDIUM);
    job_free(j);
}

/* 16 collectives blurred by 250 us on both sides are 8 of 800 ms. */
static void clocks_may_hide_somebody(void)
{
    answer_job *j = job_of(4, 8);
    tl_clock clock = { .rank = 0, .offset_ns = -250000, .sigma_ns = 10 };
    put_row(j, &tl_clock_schema, &clock);
    count_check(j, TL_CHECK_INCONCLUSIVE, 16, 16);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0); /* one clock */
    ((tl_quality *)tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 1))->count = 2;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NO_VERDICT); /* in no collective */
    CU_ASSERT_PTR_NULL(j->answers.why);
    CU_ASSERT_EQUAL(j->answers.trust.clock_uncertainty_ns, 250000);
    ((tl_quality *)tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 2))->count = 8;
    ((tl_clock *)tl_table_row(tl_tables_get(&j->tables, &tl_clock_schema), 0))->offset_ns = 500000;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NOBODY); /* in half of them */
    CU_ASSERT_EQUAL(j->answers.rank.doubts, 1u << TL_DOUBT_CLOCKS);
    ((tl_clock *)tl_table_row(tl_tables_get(&j->tables, &tl_clock_schema), 0))->applied = 1;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    job_free(j);
}

static void clocks_that_hide_most_arrivals_speak_against_a_culprit(void)
{
    answer_job *j = job_of(4, 8);
    tl_clock clock = { .rank = 0, .offset_ns = -500000, .sigma_ns = 10 };
    put_row(j, &tl_clock_schema, &clock);
    count_check(j, TL_CHECK_INCONCLUSIVE, 9, 16);
    ((tl_quality *)tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 1))->count = 2;
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_STRAGGLER);
    CU_ASSERT_EQUAL(j->answers.rank.doubts, 1u << TL_DOUBT_CLOCKS);
    ((tl_quality *)tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 2))->count = 8;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    job_free(j);
}

static void who_holds_how_much_of_the_critical_path(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    CU_ASSERT_TRUE(isnan(answers_of(j)->culprits[0].path_share));
    CU_ASSERT_EQUAL(j->answers.path.ns, 0);
    walk(j, -1, TL_PART_COMPUTE, 300 * MS, 0);
    walk(j, -1, TL_PART_HOST, 400 * MS, 160 * MS);
    walk(j, -1, TL_NPARTS, 100 * MS, 0);
    walk(j, 0, TL_PART_COMPUTE, 300 * MS, 0);
    walk(j, 2, TL_PART_COMPUTE, 0, 0);
    walk(j, 2, TL_PART_HOST, 400 * MS, 0);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->path.ns, 800 * MS);
    CU_ASSERT_EQUAL(a->path.rank, 2);
    CU_ASSERT_DOUBLE_EQUAL(a->path.rank_share, 0.5, 1e-9);
    CU_ASSERT_STRING_EQUAL(a->path.activity, "host");
    CU_ASSERT_DOUBLE_EQUAL(a->path.activity_share, 0.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a->path.imbalance_share, 0.2, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a->culprits[0].path_share, 0.5, 1e-9);
    job_free(j);
}

static void times_from_nowhere_do_no_harm(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    static const tl_schema *const touched[] = { &tl_blame_schema, &tl_blame_step_schema, &tl_step_schema,
                                                &tl_breakdown_schema, &tl_path_row_schema };
    walk(j, -1, TL_PART_HOST, 1, 1);
    walk(j, 2, TL_PART_HOST, 1, 1);
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

static void without_memory_there_is_no_answer(void)
{
    answer_job *j = job_of(4, 8);
    tl_status st = TL_ENOMEM;
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    for (size_t n = 1; st == TL_ENOMEM && n < 100; n++) {
        tl_error err;
        tl_mem_fail_after(n);
        st = tl_answers_find(&j->tables, &j->answers, &err);
        tl_mem_fail_after(0);
        CU_ASSERT((st == TL_OK) == (j->answers.nculprits > 0));
        tl_answers_free(&j->answers);
    }
    CU_ASSERT_EQUAL(st, TL_OK);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(a_rank_that_holds_the_job_up_is_found_with_what_it_costs),
    TEST(a_step_is_as_long_as_the_devices_take_for_it),
    TEST(what_is_gained_outside_of_marks_is_no_cost_of_a_step),
    TEST(what_is_gained_in_other_steps_is_no_cost_of_that_one),
    TEST(a_step_costs_no_more_than_it_is_long),
    TEST(what_costs_lies_in_the_steps_of_the_pattern),
    TEST(the_largest_gain_comes_first),
    TEST(ranks_late_in_turn_are_one_culprit),
    TEST(a_rank_that_gains_half_of_all_stands_for_itself),
    TEST(all_ranks_of_a_host_are_the_host),
    TEST(a_host_that_was_judged_as_one_has_the_pattern_of_its_rows),
    TEST(who_hardly_waits_is_no_waiter),
    TEST(waiters_without_names_are_counted),
    TEST(members_are_no_waiters),
    TEST(a_slow_link_is_one_culprit_and_not_two_ranks),
    TEST(a_link_that_costs_nothing_is_nobodys_verdict),
    TEST(who_was_not_repaired_has_no_gain),
    TEST(a_step_costs_no_more_than_it_takes),
    TEST(nobody_is_an_answer),
    TEST(where_nothing_can_be_told_the_answer_says_why),
    TEST(steps_are_needed_for_confidence),
    TEST(a_step_that_is_left_out_is_a_doubt),
    TEST(ranks_of_two_jobs_are_a_grave_doubt),
    TEST(traces_without_launches_are_a_doubt),
    TEST(a_rank_without_steps_is_a_grave_doubt),
    TEST(events_without_durations_are_a_doubt),
    TEST(where_clocks_hide_most_waiting_nobody_is_sure),
    TEST(gains_in_other_steps_are_a_doubt),
    TEST(what_is_missing_is_a_doubt),
    TEST(without_steps_and_device_work_there_is_an_answer),
    TEST(three_doubts_are_many),
    TEST(charges_that_speak_of_another_part_are_a_doubt),
    TEST(a_cause_has_doubts_of_its_own),
    TEST(a_gain_far_below_the_wait_is_a_doubt),
    TEST(clocks_may_hide_somebody),
    TEST(clocks_that_hide_most_arrivals_speak_against_a_culprit),
    TEST(who_holds_how_much_of_the_critical_path),
    TEST(times_from_nowhere_do_no_harm),
    TEST(without_memory_there_is_no_answer),
};

int main(void)
{
    return unit_main("answers", tests, COUNT(tests));
}
