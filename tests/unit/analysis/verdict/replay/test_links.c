/* test_links.c - what is taken off transfers: by the repair of a link, and by the ideal. */
#include "linked_job.h"
#include "replayed.h"

/* What a repair takes off meetings, or ENDs, in a step; of a rank, TL_NONE: of all. */
static int64_t less_of(const linked_job *j, const tl_transfer_list *list, bool of_ends, uint32_t rank, int32_t step)
{
    int64_t ns = 0;
    for (size_t i = 0; i < list->n; i++) {
        const tl_transfer_less *less = &list->v[i];
        bool end = less->rank != TL_NONE;
        int32_t at = end ? j->graph.ranks[less->rank].ports[less->of].step : j->graph.meetings[less->of].step;
        ns += end == of_ends && at == step && (rank == TL_NONE || less->rank == rank) ? less->ns : 0;
    }
    return ns;
}

/* What the job gains by it. */
static int64_t gain_of(const linked_job *j, const tl_transfer_list *list)
{
    tl_changes *ranks = ranks_open(&j->baseline);
    void **marks = by_node(&j->baseline, 1);
    for (size_t r = 0; r < j->nranks; r++)
        for (uint32_t v = 0; v < ranks[r].open.n; v++)
            ((uint8_t *)marks[r])[v] = TL_FOLD_KEEP;
    assembled a = assemble(&j->baseline, ranks, marks);
    int64_t end = assembled_end(&a);
    for (size_t i = 0; i < list->n; i++) {
        const tl_transfer_less *less = &list->v[i];
        uint32_t node = less->rank == TL_NONE ? a.job_net.meetings + less->of
                                              : ((uint32_t *)a.number_of[less->rank])[j->graph.ranks[less->rank].ports[less->of].arrival + 1];
        a.job_net.net.own_ns[node] -= less->ns;
    }
    int64_t gain = end - assembled_end(&a);
    assembled_free(&a);
    by_node_free(&j->baseline, marks);
    ranks_close(&j->baseline, ranks);
    return gain;
}

static linked_job *two_pairs(const char *first)
{
    linked_job *j = linked_new(4);
    linked_group(j, "01", "tensor", 4096, first);
    linked_group(j, "23", "tensor", 4096, "2222");
    linked_ready(j);
    return j;
}

static const bool all[4] = { true, true, true, true };

static void a_transfer_takes_what_others_take(void)
{
    linked_job *j = two_pairs("9999");
    for (int drifts = 0; drifts < 2; drifts++) {
        tl_transfer_list list = { 0 };
        const tl_repair repair = { .rank = 0, .family = TL_FAMILY_TRANSFER, .drifts = drifts == 1, .on = all };
        tl_repair_link(&j->baseline, &repair, &list);
        for (int32_t s = 0; s < 4; s++) {
            CU_ASSERT_EQUAL(less_of(j, &list, false, TL_NONE, s), 700 * LINKED_US);
            CU_ASSERT_EQUAL(less_of(j, &list, true, TL_NONE, s), 0);
        }
        CU_ASSERT_EQUAL(gain_of(j, &list), 4 * 700 * LINKED_US);
        free(list.v);
    }
    linked_free(j);
}

static void other_steps_and_other_links_stay_as_they_are(void)
{
    const bool on[4] = { false, false, true, false };
    linked_job *j = two_pairs("2299");
    tl_transfer_list list = { 0 };
    tl_repair_link(&j->baseline, &(tl_repair){ .rank = 1, .family = TL_FAMILY_TRANSFER, .on = all }, &list);
    CU_ASSERT_EQUAL(gain_of(j, &list), 0);
    for (size_t i = 0; i < list.n; i++)
        CU_ASSERT_EQUAL(list.v[i].ns, 0);
    tl_repair_link(&j->baseline, &(tl_repair){ .rank = 0, .family = TL_FAMILY_TRANSFER, .on = on }, &list);
    for (int32_t s = 0; s < 4; s++)
        CU_ASSERT_EQUAL(less_of(j, &list, false, TL_NONE, s), s == 2 ? 700 * LINKED_US : 0);
    CU_ASSERT_EQUAL(gain_of(j, &list), 700 * LINKED_US); /* appended to what was there */
    free(list.v);
    linked_free(j);
}

/* Step by step each to what it takes others; together each by the same part. */
static void a_ramp_is_repaired_step_by_step(void)
{
    linked_job *j = two_pairs("2469");
    for (int drifts = 0; drifts < 2; drifts++) {
        static const int64_t own[4] = { 2, 4, 6, 9 };
        tl_transfer_list list = { 0 };
        const tl_repair repair = { .rank = 0, .family = TL_FAMILY_TRANSFER, .drifts = drifts == 1, .on = all };
        tl_repair_link(&j->baseline, &repair, &list);
        for (int32_t s = 0; s < 4; s++) {
            int64_t ns = own[s] * 100 * LINKED_US, expected = drifts ? ns - 200 * LINKED_US : ns - ns * 8 / 21;
            CU_ASSERT(llabs(less_of(j, &list, false, TL_NONE, s) - expected) <= 1);
        }
        free(list.v);
    }
    linked_free(j);
}

/* One member is done as long after the others as the transfer takes: half of both is too long. */
static void what_a_member_is_done_later_goes_as_well(void)
{
    linked_job *j = linked_new(6);
    linked_group(j, "012", "tensor", 4096, "1111")->tails[1] = "1111";
    linked_group(j, "345", "tensor", 4096, "1111");
    linked_ready(j);
    tl_transfer_list list = { 0 };
    tl_repair_link(&j->baseline, &(tl_repair){ .rank = 0, .family = TL_FAMILY_TRANSFER, .on = all }, &list);
    for (int32_t s = 0; s < 4; s++) {
        CU_ASSERT_EQUAL(less_of(j, &list, false, TL_NONE, s), 50 * LINKED_US);
        CU_ASSERT_EQUAL(less_of(j, &list, true, 1, s), 50 * LINKED_US);
        CU_ASSERT_EQUAL(less_of(j, &list, true, TL_NONE, s), 50 * LINKED_US);
    }
    CU_ASSERT_EQUAL(gain_of(j, &list), 4 * 100 * LINKED_US);
    free(list.v);
    linked_free(j);
}

static void ideally_a_transfer_takes_what_others_take_in_the_step(void)
{
    linked_job *j = two_pairs("2492");
    static const int64_t more[4] = { 0, 200, 700, 0 };
    tl_ideal *ideal = tl_ideal_new(&j->baseline);
    for (uint32_t m = 0; m < j->graph.nmeetings; m++) {
        const tl_meeting *meeting = &j->graph.meetings[m];
        int64_t expected = tl_link_of(&j->baseline, m) == 0 ? more[meeting->step] * LINKED_US : 0;
        CU_ASSERT_EQUAL(tl_ideal_of_transfer(ideal, m, meeting->work_ns), expected);
        CU_ASSERT_EQUAL(tl_ideal_of_transfer(ideal, m, 0), 0);
    }
    CU_ASSERT_EQUAL(tl_ideal_of_transfer(ideal, TL_NONE, 1000), 0);
    tl_ideal_free(ideal);
    linked_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_transfer_takes_what_others_take),
        TEST(other_steps_and_other_links_stay_as_they_are),
        TEST(a_ramp_is_repaired_step_by_step),
        TEST(what_a_member_is_done_later_goes_as_well),
        TEST(ideally_a_transfer_takes_what_others_take_in_the_step),
    };
    return unit_main("repairs of links", tests, COUNT(tests));
}
