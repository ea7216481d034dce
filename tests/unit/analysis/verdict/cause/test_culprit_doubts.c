/* test_culprit_doubts.c - what the confidence in an answer is lowered for. */
#include "answer_job.h"
#include "tlmpi/model/health_table.h"

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
        tl_quality *check = tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 0);
        if (cases[i].nsteps == 0)
            check->count = check->of = 1;
        const tl_answers *a = answers_of(j);
        CU_ASSERT_EQUAL(a->rank.doubts, 1u << cases[i].doubt);
        CU_ASSERT_EQUAL(a->rank.confidence, cases[i].confidence);
        CU_ASSERT_EQUAL(a->persistence.doubts, 1u << cases[i].doubt);
        CU_ASSERT_EQUAL(a->waiting.doubts, 0);
        job_free(j);
    }
}

/* z is the delay in standard errors: with fewer than ten the gain is not known to a tenth. */
static void noise_makes_the_gain_uncertain(void)
{
    for (int z = 9; z <= 10; z++) {
        answer_job *j = job_of(4, 8);
        replay(j, 800 * MS, 0);
        tl_straggler *row = hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
        row->p_value = 0.000001;
        row->z = z;
        const tl_answers *a = answers_of(j);
        CU_ASSERT_EQUAL(a->rank.doubts, z == 9 ? 1u << TL_DOUBT_CHANCE : 0);
        CU_ASSERT_EQUAL(a->persistence.doubts, 0);
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

static void other_stages_need_not_do_as_much(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    verdict_of(j, 2)->against = TL_AGAINST_STAGES;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_OTHER_STAGES);
    job_free(j);
}

/* In all steps there is nothing but the other half to compare with; for a while there are the other steps. */
static void the_other_half_alone_is_a_doubt(void)
{
    for (int32_t first = 1; first <= 3; first += 2) {
        answer_job *j = job_of(8, 8);
        replay(j, 800 * MS, 0);
        for (int32_t r = 4; r < 8; r++)
            hold_up(j, r, first, first == 1 ? 8 : 5, 30 * MS, 3 * MS);
        gain_of(j, TL_SCENARIO_HOST, 4, 90 * MS);
        CU_ASSERT_EQUAL(answers_of(j)->culprits[0].kind, TL_CULPRIT_HOST);
        CU_ASSERT_EQUAL((j->answers.rank.doubts & 1u << TL_DOUBT_HALF) != 0, first == 1);
        job_free(j);
    }
}

/* Nobody can say what device work without a launch waited for. */
static void traces_without_launches_are_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    tl_rank *ranks = tl_table_row(tl_tables_get(&j->tables, &tl_rank_schema), 0);
    replay(j, 800 * MS, 0);
    ranks[1].intervals = 100;
    ranks[1].no_launch = 10; /* some may have been launched before the recording */
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    tl_health lost = { .rank = 1, .defect = TL_DEFECT_NO_LAUNCH, .step = -1, .count = 1, .of = 100 };
    put_row(j, &tl_health_schema, &lost); /* in one of 8 steps */
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_NO_LAUNCHES);
    ((tl_health *)tl_table_row(tl_tables_get(&j->tables, &tl_health_schema), 0))->count = 0;
    ranks[1].no_launch = 11;
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
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->p_value = 0.000001;
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

/* Of 240 ms of waiting clocks can tell of 40 for whom it was.  Without rank 2 the job takes 20 ms less, and each other
 * rank is known to have waited 9 ms for it, or 10. */
static void where_clocks_hide_most_waiting_nobody_is_sure(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 4, 4, 9 * MS, 20 * MS)->p_value = 0.000001;
    count_check(j, TL_CHECK_CHARGED, 40 * MS, 240 * MS);
    count_check(j, TL_CHECK_UNCHARGED, 200 * MS, 240 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->rank.confidence,
                    TL_CONFIDENCE_HIGH); /* as far as clocks may be apart, that is nothing */
    ((tl_quality *)tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 1))->count = 2;
    count_check(j, TL_CHECK_INCONCLUSIVE, 15, 16);
    for (int32_t r = 0; r < 4; r++)
        put_row(j, &tl_clock_schema, &(tl_clock){ .rank = r, .clock = r / 2, .sigma_ns = 3 * MS, .applied = 1 });
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->rank.doubts, 1u << TL_DOUBT_HIDDEN);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_LOW);
    tl_blame more = { .to_rank = 2, .step = 4, .from_rank = 0, .cause = TL_ACTIVITY_COMPUTE, .waiters = 1, .direct_ns = 3 * MS };
    put_row(j, &tl_blame_schema, &more);
    tl_table_sort(tl_tables_get(&j->tables, &tl_blame_schema));
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_CLOCKS);
    job_free(j);
}

static void what_is_missing_is_a_doubt(void)
{
    CU_ASSERT_EQUAL(doubts_with(90, 100, 4, TL_RANK_OK, 0.000001), 0);
    CU_ASSERT_EQUAL(doubts_with(50, 100, 4, TL_RANK_OK, 0.000001), 0);
    CU_ASSERT_EQUAL(doubts_with(49, 100, 4, TL_RANK_OK, 0.000001), 1u << TL_DOUBT_HARDLY_MATCHED);
    CU_ASSERT_EQUAL(doubts_with(90, 100, 5, TL_RANK_OK, 0.000001), 1u << TL_DOUBT_MISSING);
    CU_ASSERT_EQUAL(doubts_with(90, 100, 4, TL_RANK_CUT, 0.000001), 1u << TL_DOUBT_DAMAGED);
    CU_ASSERT_EQUAL(doubts_with(90, 100, 4, TL_RANK_NO_GPU, 0.000001), 1u << TL_DOUBT_NO_WORK);
    CU_ASSERT_EQUAL(doubts_with(90, 100, 4, TL_RANK_OK, 0.001), 1u << TL_DOUBT_CHANCE);
}

static void put_unknown(answer_job *j, int64_t ns)
{
    const tl_table *breakdown = tl_tables_get(&j->tables, &tl_breakdown_schema);
    for (size_t i = 0; i < breakdown->n; i++)
        ((tl_breakdown *)tl_table_row(breakdown, i))->comm_unknown_ns = ns;
}

/* Of each rank's 800 ms: a culprit that gains 200 may gain a tenth more or less, beside nobody there may be one that
 * costs a hundredth. */
static void communication_that_may_be_waiting_is_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    put_unknown(j, 8 * MS - 1);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    put_unknown(j, 20 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_COMM_UNKNOWN);
    CU_ASSERT_EQUAL(j->answers.waiting.doubts, 1u << TL_DOUBT_COMM_UNKNOWN);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->p_value = 0.000001;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    put_unknown(j, 20 * MS + 1);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_COMM_UNKNOWN);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_MEDIUM);
    job_free(j);
}

/* What is unknown in steps that are left out, since a rank began to record late, hides no culprit in the others. */
static void what_is_unknown_in_steps_left_out_is_no_doubt(void)
{
    answer_job *j = job_of(4, 8);
    tl_breakdown whole = { .device = -1, .step = TL_WHOLE_STEPS, .wall_ns = 700 * MS, .comm_unknown_ns = 7 * MS };
    replay(j, 800 * MS, 0);
    put_unknown(j, 40 * MS);
    for (whole.rank = 0; whole.rank < 4; whole.rank++)
        put_row(j, &tl_breakdown_schema, &whole);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    job_free(j);
}

/* Step 1 of 8 is not whole: a delay in it is not seen.  With steps 1 to 4 left out, four are too few for a test. */
static void steps_left_out_are_not_denied(void)
{
    answer_job *j = job_of(4, 8);
    tl_health not_whole = { .rank = -1, .defect = TL_DEFECT_NOT_WHOLE, .step = 1, .count = 1, .of = 8 };
    replay(j, 800 * MS, 0);
    put_row(j, &tl_health_schema, &not_whole);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_OUTSIDE);
    for (not_whole.step = 2; not_whole.step <= 4; not_whole.step++)
        put_row(j, &tl_health_schema, &not_whole);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_OUTSIDE | 1u << TL_DOUBT_FEW_STEPS);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_FEW_STEPS);
    job_free(j);
}

/* Nobody waits for a rank that meets none. */
static void a_culprit_without_communication_is_a_grave_doubt(void)
{
    CU_ASSERT_EQUAL(doubts_with(0, 0, 4, TL_RANK_OK, 0.000001), 1u << TL_DOUBT_HARDLY_MATCHED);
}

/* Of 800 ms nothing explains 80, and each rank waits 10: somebody may be late in these. */
static void nobody_is_sure_where_much_is_unexplained(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    tl_whatif_row *unchanged = tl_table_row(tl_tables_get(&j->tables, &tl_whatif_row_schema), 0);
    unchanged->unexplained_ns = 80 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0); /* nobody waits */
    verdict_of(j, 1)->blame_ns = 40 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NONE);
    CU_ASSERT_EQUAL(j->answers.rank.doubts, 1u << TL_DOUBT_UNEXPLAINED);
    unchanged->unexplained_ns = 8 * MS - 1; /* less than what is worth acting upon */
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    job_free(j);
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
        ((tl_blame *)tl_table_row(blame, i))->cause = TL_ACTIVITY_COMPUTE;
    CU_ASSERT_NOT_EQUAL(answers_of(j)->phase.doubts & 1u << TL_DOUBT_CHARGES, 0);
    CU_ASSERT_EQUAL(answers_of(j)->phase.confidence, TL_CONFIDENCE_MEDIUM);
    for (size_t i = 0; i < blame->n; i++) /* a third each: two of them of what it is not */
        ((tl_blame *)tl_table_row(blame, i))->cause = (uint8_t)(i % 3 == 0   ? TL_ACTIVITY_HOST
                                                                : i % 3 == 1 ? TL_ACTIVITY_COMPUTE
                                                                             : TL_ACTIVITY_ALLOCATOR);
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
    row->cause_share = 1;
    put_row(j, &tl_excess_row_schema, &(tl_excess_row){ .rank = 2, .place = "forward", .own_ns = 9 * MS });
    CU_ASSERT_EQUAL(answers_of(j)->phase.doubts, 0); /* there it takes longer */
    tl_tables_get(&j->tables, &tl_excess_row_schema)->n = 0;
    row->cause = TL_CAUSE_THROTTLED; /* all kernels are slower: none of them is the place */
    CU_ASSERT_EQUAL(answers_of(j)->phase.doubts & 1u << TL_DOUBT_NO_PLACE, 0);
    row->cause = TL_CAUSE_UNKNOWN;
    row->cause_share = NAN;
    CU_ASSERT_EQUAL(answers_of(j)->phase.confidence, TL_CONFIDENCE_LOW);
    job_free(j);
}

/* In step 4 of 8, in which others wait for the rank as long: 5 ms of 100 are a large cost, and may be no chance. */
static void who_is_late_in_a_step_is_not_denied_with_high_confidence(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    tl_straggler *row = hold_up(j, 2, 4, 4, 5 * MS, -1);
    row->verdict = TL_VERDICT_OK;
    tl_blame_step *step = tl_table_row(tl_tables_get(&j->tables, &tl_blame_step_schema), 2 * 8 + 3);
    tl_blame other = { .to_rank = 1, .step = 4, .from_rank = 3, .cause = TL_ACTIVITY_HOST, .waiters = 1, .direct_ns = 30 * MS };
    put_row(j, &tl_blame_schema, &other); /* of another rank, which does no more than its peers */
    tl_table_sort(tl_tables_get(&j->tables, &tl_blame_schema));
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NONE);
    CU_ASSERT_EQUAL(j->answers.rank.doubts, 1u << TL_DOUBT_EXCESS);
    CU_ASSERT_EQUAL(step->step, 4);
    step->excess_ns = 5 * MS - 1; /* it does less, though others wait longer */
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    step->excess_ns = 7 * MS; /* it does more, and all others wait for less */
    tl_table *blame = tl_tables_get(&j->tables, &tl_blame_schema);
    for (size_t i = 0; i < blame->n; i++)
        ((tl_blame *)tl_table_row(blame, i))->direct_ns = 5 * MS - 1;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    job_free(j);
}

/* Steps of 100 ms, 30 of them exposed transfers; those from first to last are longer, and there two ranks communicate
 * comm_ms, the others 36, transfer_ms of which are transfers. */
static void put_steps(answer_job *j, int32_t first, int32_t last, int64_t step_ms, int64_t comm_ms, int64_t transfer_ms)
{
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    replay(j, 800 * MS, 0);
    for (size_t k = 0; k < steps->n; k++) {
        tl_blame_step *step = tl_table_row(steps, k);
        bool in = step->step >= first && step->step <= last;
        step->step_ns = in ? step_ms * MS : 100 * MS;
        tl_breakdown row = { .rank = step->rank, .device = -1, .step = step->step, .wall_ns = step->step_ns,
                             .comm_exposed_ns = (in ? step->rank < 2 ? comm_ms : 36 : 30) * MS,
                             .comm_transfer_ns = (in ? transfer_ms : 30) * MS };
        put_row(j, &tl_breakdown_schema, &row);
    }
    tl_table_sort(tl_tables_get(&j->tables, &tl_breakdown_schema));
}

/* All ranks of a stage may have more work in step 4, which then takes longer; where they communicate longer, they wait
 * there, or all do. */
static void a_long_step_is_not_denied_with_high_confidence(void)
{
    static const struct {
        int64_t step_ms, comm_ms;
        unsigned doubts;
    } cases[] = { { 106, 30, 1u << TL_DOUBT_EXCESS },
                  { 106, 33, 1u << TL_DOUBT_EXCESS },
                  { 106, 34, 0 },
                  { 105, 30, 0 } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        answer_job *j = job_of(4, 8);
        put_steps(j, 4, 4, cases[i].step_ms, cases[i].comm_ms, 30);
        CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, cases[i].doubts);
        job_free(j);
    }
}

/* Transfers of all ranks that take longer from a step on make the other steps the usual ones, unless these are hardly
 * any. */
static void steps_with_longer_transfers_are_not_denied_with_high_confidence(void)
{
    static const struct {
        int32_t first;
        int64_t step_ms, transfer_ms;
        unsigned doubts;
    } cases[] = { { 7, 106, 33, 1u << TL_DOUBT_EXCESS },
                  { 3, 106, 33, 1u << TL_DOUBT_EXCESS },
                  { 2, 106, 33, 0 },
                  { 3, 106, 32, 0 },
                  { 3, 105, 35, 0 } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        answer_job *j = job_of(4, 8);
        put_steps(j, cases[i].first, 8, cases[i].step_ms, 36, cases[i].transfer_ms);
        CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, cases[i].doubts);
        job_free(j);
    }
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
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NONE); /* in half of them */
    CU_ASSERT_EQUAL(j->answers.rank.doubts, 1u << TL_DOUBT_CLOCKS);
    ((tl_clock *)tl_table_row(tl_tables_get(&j->tables, &tl_clock_schema), 0))->applied = 1;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    job_free(j);
}

/* Recordings of 800 ms, an hour apart by clocks that nothing compares: the replay takes an hour. */
static void recordings_that_do_not_overlap_give_no_verdict(void)
{
    answer_job *j = job_of(4, 8);
    tl_clock clock = { .rank = 2, .component = 1, .host = "node1", .sigma_ns = -1 };
    replay(j, 3600 * 1000 * MS, 0);
    put_row(j, &tl_clock_schema, &clock);
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NONE); /* one clock */
    ((tl_quality *)tl_table_row(tl_tables_get(&j->tables, &tl_quality_schema), 1))->count = 2;
    CU_ASSERT_EQUAL(answers_of(j)->finding, TL_FOUND_NO_VERDICT);
    CU_ASSERT(j->answers.trust.apart && j->answers.wall_ns < 1000 * MS);
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

static const unit_test tests[] = {
    TEST(noise_makes_the_gain_uncertain),
    TEST(steps_are_needed_for_confidence),
    TEST(ranks_of_two_jobs_are_a_grave_doubt),
    TEST(other_stages_need_not_do_as_much),
    TEST(the_other_half_alone_is_a_doubt),
    TEST(traces_without_launches_are_a_doubt),
    TEST(a_rank_without_steps_is_a_grave_doubt),
    TEST(events_without_durations_are_a_doubt),
    TEST(where_clocks_hide_most_waiting_nobody_is_sure),
    TEST(what_is_missing_is_a_doubt),
    TEST(communication_that_may_be_waiting_is_a_doubt),
        TEST(what_is_unknown_in_steps_left_out_is_no_doubt),
        TEST(steps_left_out_are_not_denied),
    TEST(a_culprit_without_communication_is_a_grave_doubt),
    TEST(nobody_is_sure_where_much_is_unexplained),
    TEST(without_steps_and_device_work_there_is_an_answer),
    TEST(three_doubts_are_many),
    TEST(charges_that_speak_of_another_part_are_a_doubt),
    TEST(a_cause_has_doubts_of_its_own),
    TEST(a_long_step_is_not_denied_with_high_confidence),
    TEST(steps_with_longer_transfers_are_not_denied_with_high_confidence),
    TEST(who_is_late_in_a_step_is_not_denied_with_high_confidence),
    TEST(clocks_may_hide_somebody),
    TEST(recordings_that_do_not_overlap_give_no_verdict),
    TEST(clocks_that_hide_most_arrivals_speak_against_a_culprit),
};

int main(void)
{
    return unit_main("culprit_doubts", tests, COUNT(tests));
}
