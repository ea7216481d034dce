/* test_verdict_rows.c - what rows tell of a judgement. */
#include "noisy_job.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/model/coll_tables.h"
#include <math.h>
#include <string.h>

static void rows_tell_the_judgement(void)
{
    const int64_t late_counts[8] = { 1, 2, 3, 40, 5, 6, 7, 8 };
    hand_job *h = hand_new(8, 8, usual_host, slow_device);
    tl_tables tables;
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    tl_tables_init(&tables, schemas, n);
    hand_judge(h, alpha, least_cost);
    const tl_verdict_ranks ranks = { h->ranks, late_counts, 8 };
    tl_verdict_rows(&h->judgement, &h->baseline, &ranks, &tables);

    const tl_table *stragglers = tl_tables_get(&tables, &tl_straggler_schema),
                   *whatif = tl_tables_get(&tables, &tl_whatif_row_schema),
                   *steps = tl_tables_get(&tables, &tl_blame_step_schema);
    CU_ASSERT_EQUAL_FATAL(stragglers->n, 8);
    const tl_straggler *late = tl_table_row(stragglers, 3), *other = tl_table_row(stragglers, 4);
    CU_ASSERT_EQUAL(late->verdict, TL_VERDICT_STRAGGLER);
    CU_ASSERT_EQUAL(late->pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT_EQUAL(late->late_count, 40);
    CU_ASSERT_EQUAL(late->first_step, 0);
    CU_ASSERT_EQUAL(late->last_step, 7);
    CU_ASSERT_DOUBLE_EQUAL(late->share_steps, 1, 1e-12);
    CU_ASSERT_EQUAL(late->gain_ns, h->judgement.rank_ns[3]);
    CU_ASSERT_DOUBLE_EQUAL(late->slowdown, (double)h->judgement.time_ns / (double)(h->judgement.time_ns - late->gain_ns), 1e-12);
    CU_ASSERT(late->p_value < 1e-6 && late->z > 10);
    CU_ASSERT_EQUAL(late->against, TL_AGAINST_PEERS);
    CU_ASSERT_PTR_NOT_NULL(strstr(late->reason, "late in 8 of 8 steps"));
    CU_ASSERT_EQUAL(other->verdict, TL_VERDICT_OK);
    CU_ASSERT_EQUAL(other->gain_ns, -1);
    CU_ASSERT_EQUAL(other->first_step, -1);
    CU_ASSERT(isnan(other->p_value) && isnan(other->slowdown));
    CU_ASSERT_STRING_EQUAL(other->reason, "it is late in no step by more than chance explains");

    const tl_whatif_row *unchanged = tl_whatif_row_of(whatif, TL_SCENARIO_UNCHANGED, -1),
                        *repaired = tl_whatif_row_of(whatif, TL_SCENARIO_RANK, 3),
                        *ideal = tl_whatif_row_of(whatif, TL_SCENARIO_IDEAL, -1),
                        *hosts = tl_whatif_row_of(whatif, TL_SCENARIO_HOST_FREE, -1);
    CU_ASSERT_FATAL(unchanged != NULL && repaired != NULL && ideal != NULL && hosts != NULL);
    CU_ASSERT_EQUAL(whatif->n, 9); /* five parts of the time */
    CU_ASSERT_PTR_NULL(tl_whatif_row_of(whatif, TL_SCENARIO_RANK, 4));
    CU_ASSERT(ideal->gain_ns >= repaired->gain_ns && hosts->gain_ns > 0);
    CU_ASSERT_DOUBLE_EQUAL(repaired->share, (double)repaired->gain_ns / (double)unchanged->time_ns, 1e-12);
    for (size_t i = 0; i < whatif->n; i++)
        CU_ASSERT(((const tl_whatif_row *)tl_table_row(whatif, i))->share <= 1);
    CU_ASSERT_DOUBLE_EQUAL(unchanged->slowdown, (double)unchanged->time_ns / (double)ideal->time_ns, 1e-12);
    CU_ASSERT_EQUAL(unchanged->model_error, 0);
    CU_ASSERT_EQUAL(unchanged->unexplained_ns, 0); /* what came before the first launch is in a step that is not judged */
    CU_ASSERT_EQUAL(unchanged->time_ns, h->judgement.time_ns);
    CU_ASSERT_EQUAL(repaired->time_ns + repaired->gain_ns, unchanged->time_ns);
    CU_ASSERT(isnan(repaired->model_error));

    CU_ASSERT_EQUAL(steps->n, 64);
    int64_t gained = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const tl_blame_step *row = tl_table_row(steps, i);
        CU_ASSERT_EQUAL(row->flagged, row->rank == 3);
        gained += row->gain_ns;
    }
    CU_ASSERT_EQUAL(gained, late->gain_ns);
    tl_tables_free(&tables);
    hand_free(h);
}

static void who_is_alone_in_its_role_is_not_judged(void)
{
    hand_job *h = hand_new(3, 4, usual_host, usual_device);
    tl_tables tables;
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    tl_tables_init(&tables, schemas, n);
    h->rows[0].peer = 1; /* talks to a higher rank, as no other does */
    hand_judge(h, alpha, least_cost);
    const tl_verdict_ranks ranks = { h->ranks, (const int64_t[]){ 0, 0, 0 }, 3 };
    tl_verdict_rows(&h->judgement, &h->baseline, &ranks, &tables);
    const tl_table *stragglers = tl_tables_get(&tables, &tl_straggler_schema);
    CU_ASSERT_EQUAL(((const tl_straggler *)tl_table_row(stragglers, 0))->verdict, TL_VERDICT_INCONCLUSIVE);
    CU_ASSERT_EQUAL(((const tl_straggler *)tl_table_row(stragglers, 1))->verdict, TL_VERDICT_OK);
    tl_tables_free(&tables);
    hand_free(h);
}

/* 7 is late at no cost that is seen; then it is met by ranks of whom nothing is known. */
static void what_nobody_sees_is_not_without_cost(void)
{
    const tl_group_row row = { .group = 5, .size = -1, .seen = 1, .inferred = 1, .ranks = "7" };
    hand_job *h = hand_new(8, 8, idle_late_host, late_for_long);
    hand_judge(h, alpha, least_cost);
    for (int known = 1; known >= 0; known--) {
        tl_tables tables;
        size_t n;
        const tl_schema *const *schemas = tl_all_schemas(&n);
        tl_tables_init(&tables, schemas, n);
        if (!known)
            tl_table_append(tl_tables_get(&tables, &tl_group_row_schema), &row, 1);
        const tl_verdict_ranks ranks = { h->ranks, (const int64_t[8]){ 0 }, 8 };
        tl_verdict_rows(&h->judgement, &h->baseline, &ranks, &tables);
        const tl_straggler *stragglers = tl_table_row(tl_tables_get(&tables, &tl_straggler_schema), 0);
        CU_ASSERT_EQUAL(stragglers[7].verdict, known ? TL_VERDICT_OK : TL_VERDICT_INCONCLUSIVE);
        CU_ASSERT_EQUAL(stragglers[0].verdict, TL_VERDICT_STRAGGLER);
        CU_ASSERT_EQUAL(stragglers[1].verdict, TL_VERDICT_OK);
        tl_tables_free(&tables);
    }
    hand_free(h);
}

/* Rank 0 takes longer in steps 3 to 5. */
static int64_t late_for_a_while(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 0 && step >= 3 && step <= 5 ? DEVICE / 5 : 0);
}

/* Rank 0 alone talks to a higher rank: no other rank tells whether its other steps have less to do. */
static void a_rank_without_peers_is_held_against_its_other_steps(void)
{
    const int64_t late_counts[4] = { 0 };
    hand_job *h = hand_new(4, 10, usual_host, late_for_a_while);
    tl_tables tables;
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    tl_tables_init(&tables, schemas, n);
    h->rows[0].peer = 1;
    hand_judge(h, alpha, least_cost);
    const tl_verdict_ranks ranks = { h->ranks, late_counts, 4 };
    tl_verdict_rows(&h->judgement, &h->baseline, &ranks, &tables);
    const tl_straggler *late = tl_table_row(tl_tables_get(&tables, &tl_straggler_schema), 0);
    CU_ASSERT_EQUAL(late->verdict, TL_VERDICT_STRAGGLER);
    CU_ASSERT_EQUAL(late->against, TL_AGAINST_OWN_STEPS);
    tl_tables_free(&tables);
    hand_free(h);
}

/* Two ranks that do the same, as replicas or as the inner stages of a pipeline. */
static void two_inner_stages_need_not_do_as_much(void)
{
    const int64_t late_counts[2] = { 0 };
    const tl_verdict_options options = { alpha, least_cost };
    for (int stages = 0; stages < 2; stages++) {
        hand_job *h = hand_new(2, 10, usual_host, late_for_a_while);
        tl_tables tables;
        size_t n;
        const tl_schema *const *schemas = tl_all_schemas(&n);
        tl_tables_init(&tables, schemas, n);
        hand_baseline(h);
        for (size_t r = 0; stages && r < 2; r++)
            h->baseline.talks[r] = TL_TALKS_UP | TL_TALKS_DOWN;
        tl_verdict_find(&h->baseline, &options, &h->judgement);
        const tl_verdict_ranks ranks = { h->ranks, late_counts, 2 };
        tl_verdict_rows(&h->judgement, &h->baseline, &ranks, &tables);
        const tl_straggler *late = tl_table_row(tl_tables_get(&tables, &tl_straggler_schema), 0);
        CU_ASSERT_EQUAL(late->verdict, TL_VERDICT_STRAGGLER);
        CU_ASSERT_EQUAL(late->against, stages ? TL_AGAINST_STAGES : TL_AGAINST_PEERS);
        tl_tables_free(&tables);
        hand_free(h);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(rows_tell_the_judgement), TEST(a_rank_without_peers_is_held_against_its_other_steps),
        TEST(who_is_alone_in_its_role_is_not_judged),   TEST(two_inner_stages_need_not_do_as_much),
        TEST(what_nobody_sees_is_not_without_cost),
    };
    return unit_main("rows of a verdict", tests, COUNT(tests));
}
