/* test_answers.c - what is told is what table culprit says. */
#include "answer_job.h"
#include "tlmpi/report/answers/tell.h"

/* No other table would name rank 3, or doubt it. */
static void who_it_is_stands_in_the_table_alone(void)
{
    answer_job *j = job_of(4, 8);
    tl_culprit row = { .kind = TL_CULPRIT_RANK,
                       .ranks = "3",
                       .nranks = 1,
                       .rank = 3,
                       .gain_ns = 80 * MS,
                       .confidence = TL_CONFIDENCE_MEDIUM,
                       .doubts = "clocks chance",
                       .steps_confidence = TL_CONFIDENCE_LOW,
                       .steps_doubts = "one_step" };
    put_row(j, &tl_culprit_schema, &row);
    tl_answers_read(&j->tables, &j->answers);
    const tl_answers *a = &j->answers;
    CU_ASSERT_EQUAL(a->finding, TL_FOUND_STRAGGLER);
    CU_ASSERT_EQUAL_FATAL(a->nculprits, 1);
    CU_ASSERT_EQUAL(a->culprits[0].rank, 3);
    CU_ASSERT_EQUAL(a->rank.confidence, TL_CONFIDENCE_MEDIUM);
    CU_ASSERT_EQUAL(a->rank.doubts, 1u << TL_DOUBT_CLOCKS | 1u << TL_DOUBT_CHANCE);
    CU_ASSERT_EQUAL(a->persistence.doubts, 1u << TL_DOUBT_ONE_STEP);
    CU_ASSERT_EQUAL(a->persistence.confidence, TL_CONFIDENCE_LOW);
    CU_ASSERT_EQUAL(a->phase.confidence, TL_CONFIDENCE_HIGH);
    job_free(j);
}

/* And where the table says nobody, it is nobody, whoever others wait for. */
static void nobody_stands_in_the_table_too(void)
{
    static const struct {
        tl_culprit_kind kind;
        tl_finding finding;
    } cases[] = {
        { TL_CULPRIT_NONE, TL_FOUND_NONE },       { TL_CULPRIT_INCONCLUSIVE, TL_FOUND_NO_VERDICT },
        { TL_CULPRIT_UNMATCHED, TL_FOUND_UNMATCHED }, { TL_CULPRIT_SILENCE, TL_FOUND_SILENCE },
        { TL_CULPRIT_ONE_RANK, TL_FOUND_ONE_RANK },   { TL_CULPRIT_NO_WORK, TL_FOUND_NO_WORK },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        answer_job *j = job_of(4, 8);
        tl_culprit row = { .kind = (uint8_t)cases[i].kind, .rank = 1, .waited_ns = 5 * MS };
        hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
        put_row(j, &tl_culprit_schema, &row);
        tl_answers_read(&j->tables, &j->answers);
        CU_ASSERT_EQUAL(j->answers.finding, cases[i].finding);
        CU_ASSERT_EQUAL(j->answers.nculprits, 0);
        CU_ASSERT((j->answers.most == verdict_of(j, 1)) == (cases[i].kind == TL_CULPRIT_NONE));
        CU_ASSERT((j->answers.why == verdict_of(j, 1)) == (cases[i].kind == TL_CULPRIT_INCONCLUSIVE));
        job_free(j);
    }
}

static void without_rows_there_is_nothing_to_tell(void)
{
    answer_job *j = job_of(4, 8);
    tl_answers_read(&j->tables, &j->answers);
    CU_ASSERT_EQUAL(j->answers.finding, TL_FOUND_NO_WORK);
    CU_ASSERT_EQUAL(j->answers.rank.doubts, 1u << TL_DOUBT_NO_VERDICT);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_LOW);
    job_free(j);
}

/* The file has lost its table link. */
static void a_link_whose_row_is_not_there_is_a_link_all_the_same(void)
{
    answer_job *j = job_of(4, 8);
    tl_culprit row = { .kind = TL_CULPRIT_LINK, .ranks = "2,3", .nranks = 2, .rank = 2, .peer = 3, .link = 7 };
    put_row(j, &tl_culprit_schema, &row);
    tl_answers_read(&j->tables, &j->answers);
    CU_ASSERT_EQUAL(j->answers.finding, TL_FOUND_LINK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(j->answers.link);
    CU_ASSERT_TRUE(j->answers.link != NULL && j->answers.link->transfer_ns == 0);
    job_free(j);
}

static void of_ranks_that_do_not_fit_those_are_listed_that_do(void)
{
    int32_t ranks[TL_RANKS_LISTED];
    CU_ASSERT_EQUAL(tl_ranks_listed("0-2,7,...", 9, ranks), 4);
    CU_ASSERT_EQUAL(ranks[3], 7);
    CU_ASSERT_EQUAL(tl_ranks_listed("1-7/2\0\0", 7, ranks), 4);
    CU_ASSERT_EQUAL(tl_ranks_listed("", 1, ranks), 0);
    CU_ASSERT_EQUAL(tl_ranks_listed("no ranks", 8, ranks), 0);
}

/* How the trace of rank 11 would be called where those of 2 and 7 are called so; "": not known. */
static const char *called(const char *of_2, const char *of_7)
{
    static tl_phrase name;
    tl_table ranks = { .schema = &tl_rank_schema };
    tl_rank rows[] = { { .rank = 2 }, { .rank = 7 } };
    snprintf(rows[0].file, sizeof rows[0].file, "%s", of_2);
    snprintf(rows[1].file, sizeof rows[1].file, "%s", of_7);
    tl_table_append(&ranks, rows, 2);
    name = tl_file_of_family(&ranks, 11);
    tl_table_free(&ranks);
    return name.text;
}

static void a_trace_that_is_not_there_has_the_name_of_its_family(void)
{
    CU_ASSERT_STRING_EQUAL(called("run/rank-2.json.gz", "run/rank-7.json.gz"), "rank-11.json.gz");
    CU_ASSERT_STRING_EQUAL(called("step2_r002.json", "step2_r007.json"), "step2_r011.json");
    CU_ASSERT_STRING_EQUAL(called("host_2.1698.json", "host_7.1699.json"), "");
    CU_ASSERT_STRING_EQUAL(called("a.json", "b.json"), "");
    CU_ASSERT_STRING_EQUAL(called("", ""), "");
}

/* The verdict may call a rank late all the same: the words do not contradict it. */
static void a_rank_with_lost_work_may_be_late_without_it(void)
{
    tl_health row = { .rank = 6, .defect = TL_DEFECT_LOST, .step = 11, .count = 5, .of = 8, .done = TL_REMEDY_NOT_JUDGED };
    const tl_table health = { .schema = &tl_health_schema, .rows = (unsigned char *)&row, .n = 1 };
    tl_phrase said;
    CU_ASSERT_TRUE_FATAL(tl_health_in_words(&health, TL_DEFECT_LOST, &said));
    CU_ASSERT_STRING_EQUAL(said.text, "5 of 8 launches of rank 6 in step 11 were not recorded, or not whole: there a delay of "
                                      "this rank counts as far as the recorded work shows it");
}

static const unit_test tests[] = {
    TEST(a_rank_with_lost_work_may_be_late_without_it),
    TEST(who_it_is_stands_in_the_table_alone),
    TEST(nobody_stands_in_the_table_too),
    TEST(without_rows_there_is_nothing_to_tell),
    TEST(a_link_whose_row_is_not_there_is_a_link_all_the_same),
    TEST(of_ranks_that_do_not_fit_those_are_listed_that_do),
    TEST(a_trace_that_is_not_there_has_the_name_of_its_family),
};

int main(void)
{
    return unit_main("answers", tests, COUNT(tests));
}
