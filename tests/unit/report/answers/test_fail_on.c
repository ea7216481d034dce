/* test_fail_on.c - thresholds: what they may say, and what passes them. */
#include "answer_job.h"
#include "tlmpi/report/answers/fail_on.h"

/* A share below 0 stands for none. */
static void thresholds_are_read(void)
{
    static const struct {
        const char *text;
        double most[TL_NGATES]; /* straggler, link, idle, comm */
    } good[] = {
        { "", { -1, -1, -1, -1 } },
        { "straggler>5%", { 0.05, -1, -1, -1 } },
        { " straggler > 5 % , idle>20% ", { 0.05, -1, 0.2, -1 } },
        { "comm>0.5%,link>100%", { -1, 1, -1, 0.005 } },
        { "idle>0%", { -1, -1, 0, -1 } },
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        tl_gates gates;
        CU_ASSERT_TRUE(tl_gates_read(&tl_answer_gates, good[i].text, &gates));
        for (int gate = 0; gate < TL_NGATES; gate++)
            CU_ASSERT_DOUBLE_EQUAL(gates.set[gate] ? gates.most[gate] : -1, good[i].most[gate], 0);
    }
}

static void what_is_no_threshold_is_refused(void)
{
    static const char *const bad[] = {
        "straggler",      "straggler>",
        "straggler>%",    "straggler>5",
        "straggler>5%%",  "straggler<5%",
        "straggler>=5%",  "straggler>-5%",
        "straggler>101%", "straggler>5%,",
        ",straggler>5%",  "wait>5%",
        "stragglers>5%",  "straggler>5%,straggler>6%",
        "straggler>nan%", "straggler>0x10%",
        "straggler>1e1%", "straggler>5%;idle>1%",
        "Straggler>5%",   "straggler>5.%%",
        "straggler>5 5%", "straggler>1.2.3%",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        tl_gates gates = { .set = { [TL_GATE_COMM] = true }, .most = { [TL_GATE_COMM] = 0.125 } };
        CU_ASSERT_FALSE(tl_gates_read(&tl_answer_gates, bad[i], &gates));
        CU_ASSERT(gates.set[TL_GATE_COMM] && !gates.set[TL_GATE_STRAGGLER] && gates.most[TL_GATE_COMM] == 0.125);
    }
}

/* Whether the thresholds are met; *said, if not NULL, is what was said, good until the next call. */
static bool met(answer_job *j, const char *thresholds, const char **said)
{
    static char kept[1024];
    char *text = NULL;
    size_t size = 0;
    tl_gates gates;
    CU_ASSERT_TRUE_FATAL(tl_gates_read(&tl_answer_gates, thresholds, &gates));
    FILE *err = open_memstream(&text, &size);
    bool is = tl_gates_judge(&gates, answers_of(j), err);
    (void)fclose(err);
    snprintf(kept, sizeof kept, "%s", text);
    free(text);
    if (said != NULL)
        *said = kept;
    return is;
}

static void a_gain_above_the_threshold_is_too_much(void)
{
    answer_job *j = job_of(4, 8);
    const char *said;
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS); /* 25 % */
    CU_ASSERT_TRUE(met(j, "straggler>24.9%", &said));
    CU_ASSERT_STRING_EQUAL(said, "tlmpi: --fail-on straggler>24.9%: 25.0 % (rank 2)\n");
    CU_ASSERT_FALSE(met(j, "straggler>25%", &said));
    CU_ASSERT_STRING_EQUAL(said, "");
    CU_ASSERT_FALSE(met(j, "link>0%", NULL));
    CU_ASSERT_FALSE(met(j, "", NULL));
    /* One of several is enough. */
    CU_ASSERT_TRUE(met(j, "idle>99%,straggler>1%", &said));
    CU_ASSERT_STRING_EQUAL(said, "tlmpi: --fail-on straggler>1%: 25.0 % (rank 2)\n");
    job_free(j);
}

/* Late in turn: one alone gains nothing. */
static void several_count_together(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 1, 1, 4, 30 * MS, 4 * MS);
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 160 * MS);
    CU_ASSERT_FALSE(met(j, "straggler>1%", NULL));
    hold_up(j, 2, 5, 8, 30 * MS, 4 * MS);
    const char *said;
    CU_ASSERT_TRUE(met(j, "straggler>19%", &said));
    CU_ASSERT_STRING_EQUAL(said, "tlmpi: --fail-on straggler>19%: 20.0 % (ranks 1,2)\n");
    CU_ASSERT_FALSE(met(j, "straggler>21%", NULL));
    job_free(j);
}

/* Named for the waits, which the replay does not explain: 30 ms in 4 steps of 800 ms. */
static void a_gain_of_nothing_lets_the_wait_count(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 1, 1, 4, 30 * MS, 0);
    const char *said;
    CU_ASSERT_TRUE(met(j, "straggler>14%", &said));
    CU_ASSERT_STRING_EQUAL(said, "tlmpi: --fail-on straggler>14%: 15.0 % (rank 1)\n");
    CU_ASSERT_FALSE(met(j, "straggler>16%", NULL));
    job_free(j);
}

static void nobody_among_ranks_without_steps_is_not_judged(void)
{
    answer_job *j = job_of(4, 8);
    tl_table *steps = tl_tables_get(&j->tables, &tl_step_schema);
    const char *said;
    replay(j, 800 * MS, 0);
    CU_ASSERT_FALSE(met(j, "straggler>1%", &said));
    CU_ASSERT_STRING_EQUAL(said, "");
    while (steps->n > 0 && ((const tl_step *)tl_table_row(steps, steps->n - 1))->rank == 3)
        steps->n--;
    CU_ASSERT_FALSE(met(j, "straggler>1%", &said));
    CU_ASSERT_STRING_EQUAL(said, "tlmpi: --fail-on straggler: not judged: steps_unmarked\n");
    job_free(j);
}

static void without_a_simulation_the_wait_counts(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 900 * MS, 0.12);
    hold_up(j, 2, 1, 8, 30 * MS, -1); /* 240 of 800 ms */
    CU_ASSERT_TRUE(met(j, "straggler>29%", NULL));
    CU_ASSERT_FALSE(met(j, "straggler>31%", NULL));
    job_free(j);
}

static void idle_and_comm_are_those_of_all_ranks(void)
{
    answer_job *j = job_of(4, 8);
    CU_ASSERT_TRUE(met(j, "idle>19%", NULL));
    CU_ASSERT_FALSE(met(j, "idle>21%", NULL));
    CU_ASSERT_TRUE(met(j, "comm>29%", NULL));
    CU_ASSERT_FALSE(met(j, "comm>31%", NULL));
    job_free(j);
}

static void what_cannot_be_judged_is_not_met_and_told(void)
{
    answer_job *j = job_of(4, 8);
    const char *said;
    verdict_of(j, 1)->verdict = TL_VERDICT_INCONCLUSIVE;
    CU_ASSERT_FALSE(met(j, "straggler>0%,link>0%,comm>99%", &said));
    CU_ASSERT_STRING_EQUAL(said, "tlmpi: --fail-on straggler: not judged: inconclusive\n"
                                 "tlmpi: --fail-on link: not judged: inconclusive\n");
    CU_ASSERT_TRUE(met(j, "idle>19%", NULL));
    /* No rank stands out: that is a verdict. */
    verdict_of(j, 1)->verdict = TL_VERDICT_OK;
    CU_ASSERT_FALSE(met(j, "straggler>0%", &said));
    CU_ASSERT_STRING_EQUAL(said, "");
    tl_tables_get(&j->tables, &tl_breakdown_schema)->n = 0;
    CU_ASSERT_FALSE(met(j, "idle>0%", &said));
    CU_ASSERT_STRING_EQUAL(said, "tlmpi: --fail-on idle: not judged: no_device_work\n");
    job_free(j);
}

static const unit_test tests[] = {
    TEST(thresholds_are_read),           TEST(what_is_no_threshold_is_refused),
    TEST(a_gain_above_the_threshold_is_too_much),    TEST(several_count_together),
    TEST(a_gain_of_nothing_lets_the_wait_count),
    TEST(nobody_among_ranks_without_steps_is_not_judged),
    TEST(without_a_simulation_the_wait_counts),      TEST(idle_and_comm_are_those_of_all_ranks),
    TEST(what_cannot_be_judged_is_not_met_and_told),
};

int main(void)
{
    return unit_main("fail_on", tests, COUNT(tests));
}
