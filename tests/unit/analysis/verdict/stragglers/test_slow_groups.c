/* test_slow_groups.c - which links hold the job up, and by how much. */
#include "linked_job.h"

static const tl_slow_link_row *link_row(linked_job *j, size_t i)
{
    return tl_table_row(tl_tables_get(&j->tables, &tl_slow_link_row_schema), i);
}

static size_t nlinks(linked_job *j)
{
    return tl_tables_get(&j->tables, &tl_slow_link_row_schema)->n;
}

/* Ranks that are named for a slow link, one after the other. */
static const char *named(linked_job *j)
{
    static char text[LINKED_RANKS + 1];
    const tl_table *stragglers = tl_tables_get(&j->tables, &tl_straggler_schema);
    size_t n = 0;
    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        if (row->verdict == TL_VERDICT_STRAGGLER && row->cause == TL_CAUSE_SLOW_LINK)
            text[n++] = (char)('0' + row->rank);
    }
    text[n] = 0;
    return text;
}

static int64_t gain_of_links(linked_job *j)
{
    const tl_whatif_row *row = tl_whatif_row_of(tl_tables_get(&j->tables, &tl_whatif_row_schema), TL_SCENARIO_LINKS, -1);
    return row != NULL ? row->gain_ns : 0;
}

static linked_job *four_pairs(const char *first)
{
    linked_job *j = linked_new(8);
    linked_group(j, "01", "tensor", 4096, first);
    linked_group(j, "23", "tensor", 4096, "22222222");
    linked_group(j, "45", "tensor", 4096, "22222222");
    linked_group(j, "67", "tensor", 4096, "22222222");
    return j;
}

static void a_slow_pair_names_both_its_ends(void)
{
    linked_job *j = four_pairs("99999999");
    linked_judge(j);
    CU_ASSERT_EQUAL_FATAL(nlinks(j), 1);
    CU_ASSERT_EQUAL(link_row(j, 0)->pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT_EQUAL(link_row(j, 0)->evidence, TL_LINK_BY_GROUPS);
    CU_ASSERT_EQUAL(link_row(j, 0)->transfer_ns, 900 * LINKED_US);
    CU_ASSERT_EQUAL(link_row(j, 0)->elsewhere_ns, 200 * LINKED_US);
    CU_ASSERT_EQUAL(link_row(j, 0)->excess_ns, 8 * 700 * LINKED_US);
    CU_ASSERT_EQUAL(link_row(j, 0)->gain_ns, 8 * 700 * LINKED_US);
    CU_ASSERT_EQUAL(gain_of_links(j), 8 * 700 * LINKED_US);
    CU_ASSERT_STRING_EQUAL(link_row(j, 0)->ranks, "0,1");
    CU_ASSERT_STRING_EQUAL(named(j), "01");
    linked_free(j);
}

static void a_link_is_slow_in_some_steps(void)
{
    linked_job *j = four_pairs("22299922");
    linked_judge(j);
    CU_ASSERT_EQUAL_FATAL(nlinks(j), 1);
    CU_ASSERT_EQUAL(link_row(j, 0)->pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT_EQUAL(link_row(j, 0)->first_step, 3);
    CU_ASSERT_EQUAL(link_row(j, 0)->last_step, 5);
    CU_ASSERT_EQUAL(gain_of_links(j), 3 * 700 * LINKED_US);
    linked_free(j);
}

static void a_link_that_is_slower_in_some_steps_is_one_link(void)
{
    linked_job *j = four_pairs("22299442");
    linked_judge(j);
    CU_ASSERT_EQUAL_FATAL(nlinks(j), 1);
    CU_ASSERT_EQUAL(link_row(j, 0)->pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT_EQUAL(link_row(j, 0)->first_step, 3);
    CU_ASSERT_EQUAL(link_row(j, 0)->last_step, 6);
    CU_ASSERT_EQUAL(link_row(j, 0)->excess_ns, 1800 * LINKED_US);
    CU_ASSERT_EQUAL(link_row(j, 0)->gain_ns, 1800 * LINKED_US);
    CU_ASSERT_EQUAL(gain_of_links(j), 1800 * LINKED_US);
    CU_ASSERT_STRING_EQUAL(named(j), "01");
    linked_free(j);
}

/* Half of the steps of one are a quarter of all, and in the other the same is missing. */
static void one_of_two_is_slow_in_half_of_the_steps(void)
{
    linked_job *j = linked_new(4);
    linked_group(j, "01", "tensor", 4096, "222999999222");
    linked_group(j, "23", "tensor", 4096, "222222222222");
    linked_judge(j);
    CU_ASSERT_EQUAL_FATAL(nlinks(j), 1);
    CU_ASSERT_EQUAL(link_row(j, 0)->first_step, 3);
    CU_ASSERT_EQUAL(link_row(j, 0)->last_step, 8);
    CU_ASSERT_EQUAL(gain_of_links(j), 6 * 700 * LINKED_US);
    CU_ASSERT_STRING_EQUAL(named(j), "01");
    linked_free(j);
}

static void nobody_is_named_where_all_take_as_long(void)
{
    linked_job *j = four_pairs("22222222");
    linked_judge(j);
    CU_ASSERT_EQUAL(nlinks(j), 0);
    CU_ASSERT_STRING_EQUAL(named(j), "");
    CU_ASSERT_PTR_NULL(tl_whatif_row_of(tl_tables_get(&j->tables, &tl_whatif_row_schema), TL_SCENARIO_LINKS, -1));
    linked_free(j);
}

static void a_slow_link_that_costs_nothing_is_not_named(void)
{
    linked_job *j = four_pairs("33333333");
    linked_group(j, "23", "data", 8192, "99999999"); /* what it is waited for in the end */
    linked_group(j, "02", "world", 64, "11111111");
    linked_judge(j);
    CU_ASSERT_EQUAL(nlinks(j), 0);
    linked_free(j);
}

static void who_is_alone_is_never_slow_in_all_steps(void)
{
    linked_job *j = linked_new(2);
    linked_group(j, "01", "world", 4096, "22229992");
    linked_judge(j);
    CU_ASSERT_EQUAL_FATAL(nlinks(j), 1);
    CU_ASSERT_EQUAL(link_row(j, 0)->pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT_EQUAL(link_row(j, 0)->evidence, TL_LINK_BY_STEPS);
    linked_free(j);
    j = linked_new(2);
    linked_group(j, "01", "world", 4096, "99999999");
    linked_judge(j);
    CU_ASSERT_EQUAL(nlinks(j), 0);
    linked_free(j);
}

/* Sends and receives among ranks that no metadata names: with the names they are a link, without them they may wait for
 * ranks of other groups. */
static void ranks_that_are_guessed_to_send_to_each_other_are_no_link(void)
{
    for (int inferred = 0; inferred < 2; inferred++) {
        linked_job *j = linked_new(2);
        linked_group(j, "01", "world", 4096, "22229992");
        ((tl_group_row *)tl_table_row(tl_tables_get(&j->tables, &tl_group_row_schema), 0))->inferred = inferred;
        j->groups[0].pair = true;
        linked_judge(j);
        CU_ASSERT_EQUAL(nlinks(j), inferred ? 0 : 1);
        linked_free(j);
    }
}

static linked_job *two_fours(const char *first)
{
    linked_job *j = linked_new(8);
    linked_group(j, "0123", "tensor", 4096, first);
    linked_group(j, "4567", "tensor", 4096, "22222222");
    return j;
}

static void nor_is_what_drifts_noise(void)
{
    linked_job *j = linked_new(3);
    linked_group(j, "012", "world", 4096, "1123456781");
    linked_judge(j);
    CU_ASSERT_EQUAL_FATAL(nlinks(j), 1);
    CU_ASSERT_EQUAL(link_row(j, 0)->last_step, 8);
    CU_ASSERT_TRUE(link_row(j, 0)->excess_ns >= 2200 * LINKED_US); /* of 2800; where it begins nobody can tell */
    linked_free(j);
}

static void of_more_than_two_nobody_is_named(void)
{
    linked_job *j = two_fours("99999999");
    linked_judge(j);
    CU_ASSERT_EQUAL_FATAL(nlinks(j), 1);
    CU_ASSERT_EQUAL(link_row(j, 0)->rank, -1);
    CU_ASSERT_EQUAL(gain_of_links(j), 8 * 700 * LINKED_US);
    CU_ASSERT_STRING_EQUAL(named(j), "");
    linked_free(j);
}

static void a_late_rank_makes_no_link_slow(void)
{
    linked_job *j = four_pairs("22222222");
    linked_group(j, "0", "late", 64, "99999999"); /* what rank 0 alone is busy with */
    linked_judge(j);
    CU_ASSERT_EQUAL(nlinks(j), 0);
    linked_free(j);
}

/* All-to-all of eight, in which members 3 and 6 stay 500 us longer in three steps.  Why they do no trace tells. */
static void ranks_that_an_all_to_all_holds_up_are_late_for_no_known_cause(void)
{
    linked_job *j = linked_new(8);
    linked_group_drawn *g = linked_group(j, "01234567", "expert", 4096, "22222222");
    g->kind = TL_ALL_TO_ALL;
    for (size_t i = 0; i < 8; i++)
        g->tails[i] = i == 3 || i == 6 ? "00555000" : "00000000";
    linked_judge(j);
    CU_ASSERT_EQUAL(nlinks(j), 0);
    const tl_table *stragglers = tl_tables_get(&j->tables, &tl_straggler_schema);
    for (size_t r = 0; r < 8; r++) {
        const tl_straggler *row = tl_table_row(stragglers, r);
        CU_ASSERT_EQUAL(row->verdict == TL_VERDICT_STRAGGLER, r == 3 || r == 6);
        CU_ASSERT_EQUAL(row->cause, TL_CAUSE_UNKNOWN);
    }
    linked_free(j);
}

static const unit_test tests[] = {
    TEST(a_slow_pair_names_both_its_ends),
    TEST(a_link_is_slow_in_some_steps),
    TEST(a_link_that_is_slower_in_some_steps_is_one_link),
    TEST(one_of_two_is_slow_in_half_of_the_steps),
    TEST(nobody_is_named_where_all_take_as_long),
    TEST(a_slow_link_that_costs_nothing_is_not_named),
    TEST(who_is_alone_is_never_slow_in_all_steps),
    TEST(ranks_that_are_guessed_to_send_to_each_other_are_no_link),
    TEST(nor_is_what_drifts_noise),
    TEST(of_more_than_two_nobody_is_named),
    TEST(a_late_rank_makes_no_link_slow),
    TEST(ranks_that_an_all_to_all_holds_up_are_late_for_no_known_cause),
};

int main(void)
{
    return unit_main("slow groups", tests, COUNT(tests));
}
