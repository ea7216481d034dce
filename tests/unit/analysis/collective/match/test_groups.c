/* test_groups.c - which ranks form a group, by what they say of it. */
#include "group_job.h"
#include "tlmpi/model/tables.h"

static void the_same_members_are_one_group_whatever_they_call_it(void)
{
    begin();
    member(0, 77, "5");
    member(1, 77, "9");
    member(1, 78, "5");
    decide();
    CU_ASSERT_EQUAL(j.groups.n, 2);
    CU_ASSERT_EQUAL(j.fates[0].group, j.fates[1].group);
    CU_ASSERT_EQUAL(j.fates[0].group_key, j.fates[1].group_key);
    CU_ASSERT_NOT_EQUAL(j.fates[1].group, j.fates[2].group);
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->name, "5"); /* as its lowest rank has it */
    CU_ASSERT_EQUAL(group((size_t)j.fates[0].group)->seen, 2);
}

static void two_names_on_one_rank_are_two_groups(void)
{
    begin();
    member(0, 77, "5");
    member(0, 77, "6");
    member(1, 77, "6");
    decide();
    CU_ASSERT_EQUAL(j.groups.n, 2);
    CU_ASSERT_NOT_EQUAL(j.fates[0].group, j.fates[1].group);
    CU_ASSERT_EQUAL(j.fates[1].group, j.fates[2].group);
}

static void one_rank_without_numbers_takes_them_from_all(void)
{
    begin();
    member(0, 77, "5")->nseq = 1;
    member(1, 77, "5")->nseq = 1;
    decide();
    CU_ASSERT_TRUE(j.fates[0].by_seq && j.fates[1].by_seq);
    j.m[1].nseq = 0;
    tl_table_free(&j.groups);
    decide();
    CU_ASSERT_FALSE(j.fates[0].by_seq || j.fates[1].by_seq);
}

static void launches_outside_steps_count_where_all_saw_the_same(void)
{
    begin();
    for (int32_t r = 0; r < 2; r++) {
        tl_membership *m = member(r, 77, "5");
        m->nloose = 3, m->loose_key = 1234;
    }
    decide();
    CU_ASSERT_TRUE(j.fates[0].by_loose_launch);
    j.m[1].loose_key = 1235;
    tl_table_free(&j.groups);
    decide();
    CU_ASSERT_FALSE(j.fates[0].by_loose_launch);
}

/* The clock of rank 1 is 5 ms ahead; it has begun to record a step later than rank 0, and steps are not of one
 * length. */
static void launches_that_do_not_end_together_are_not_the_same(void)
{
    static const struct {
        int64_t ends_us[3];
        int same;
    } cases[] = {
        { { 5000, 105000, 405000 }, 1 },   { { 5150, 105000, 405020 }, 1 }, /* some leave earlier than others */
        { { 5000, 105020, 405240 }, 1 },                                    /* 1 part in 10 000 is a drift */
        { { 105000, 205300, 505000 }, 0 }, { { 105000, 205000, 506000 }, 0 },
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        begin();
        for (int32_t r = 0; r < 2; r++) {
            tl_membership *m = member(r, 77, "5");
            m->nloose = m->nends = 5, m->loose_key = 1234;
            for (int i = 0; i < 3; i++)
                m->ends_ns[i] = r == 1 ? cases[c].ends_us[i] * 1000 : (const int64_t[]){ 0, 100000000, 400000000 }[i];
        }
        decide();
        CU_ASSERT_EQUAL(j.fates[0].by_loose_launch, cases[c].same);
        tl_table_free(&j.groups);
    }
}

/* Two ranks end together, one is alone with its stream.  Where every rank of the job has a trace, the two are all; one alone is not. */
static void an_inferred_group_is_all_only_if_all_have_a_trace(void)
{
    for (int all = 0; all < 2; all++) {
        begin();
        j.all_traced = all;
        for (int32_t r = 0; r < 3; r++) {
            tl_membership *m = member(r, r < 2 ? 900 : 901, "");
            m->inferred = 1;
            m->size = -1;
            m->collects = r == 1;
        }
        decide();
        CU_ASSERT_EQUAL_FATAL(j.groups.n, 2);
        CU_ASSERT(group(0)->seen == 2 && group(1)->seen == 1);
        CU_ASSERT_EQUAL(group(0)->size, all ? 2 : -1);
        CU_ASSERT_EQUAL(group(1)->size, -1);
        CU_ASSERT(j.facts[0].collects == 1 && j.facts[1].collects == 0 && j.facts[0].all_traced == all);
    }
}

/* Groups by size, named before inferred; and the same whoever is asked first. */
static void numbers_do_not_depend_on_the_order_of_ranks(void)
{
    tl_fate first[MOST];
    for (int way = 0; way < 2; way++) {
        begin();
        for (int32_t i = 0; i < 8; i++) {
            int32_t rank = way == 0 ? i : 7 - i;
            member(rank, 1000, "all")->size = 8;
            member(rank, (uint64_t)(50 + rank / 2), "tp")->size = 2;
        }
        j.m[0].inferred = 0;
        decide();
        CU_ASSERT_EQUAL_FATAL(j.groups.n, 5);
        CU_ASSERT_EQUAL(group(0)->size, 8);
        for (size_t i = 0; i < j.n; i++) {
            size_t rank = (size_t)j.m[i].rank, at = rank * 2 + i % 2;
            if (way == 0)
                first[at] = j.fates[i];
            CU_ASSERT_EQUAL(j.fates[i].group, first[at].group);
            CU_ASSERT_EQUAL(j.fates[i].group_key, first[at].group_key);
            CU_ASSERT_EQUAL(j.fates[i].group, i % 2 == 0 ? 0 : 1 + (int32_t)rank / 2);
        }
    }
}

static void hosts_say_where_a_group_lies(void)
{
    begin();
    for (int32_t r = 0; r < 4; r++)
        member(r, 77, "5");
    static const struct {
        int32_t hosts[4], size, nhosts;
        tl_node_span span;
    } cases[] = {
        { { 3, 3, 3, 3 }, 4, 1, TL_SPAN_INTRA_NODE }, { { 3, 3, 4, 3 }, 4, 2, TL_SPAN_INTER_NODE },
        { { 3, 3, -1, 3 }, 4, -1, TL_SPAN_UNKNOWN },  { { 3, 3, 3, 3 }, 8, 1, TL_SPAN_UNKNOWN },
        { { 3, 4, 3, 4 }, 8, 2, TL_SPAN_INTER_NODE }, { { 3, 3, 3, 3 }, -1, 1, TL_SPAN_INTRA_NODE },
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        for (size_t i = 0; i < 4; i++) {
            j.ranks[i].host = cases[c].hosts[i];
            j.m[i].size = cases[c].size;
        }
        tl_table_free(&j.groups);
        decide();
        CU_ASSERT_EQUAL(group(0)->span, cases[c].span);
        CU_ASSERT_EQUAL(group(0)->hosts, cases[c].nhosts);
    }
}

/* A rank without a readable trace has no place; one that tells no host has none. */
static void ranks_of_one_host_have_one_number(void)
{
    tl_rank rows[] = { { .rank = 0, .host = "b" },
                       { .rank = 1, .host = "a", .status = TL_RANK_UNREADABLE },
                       { .rank = 2 },
                       { .rank = 3, .host = "a", .status = TL_RANK_CUT },
                       { .rank = 4, .host = "b" } };
    const tl_table ranks = { .schema = &tl_rank_schema, .rows = (unsigned char *)rows, .n = COUNT(rows) };
    tl_rank_clock *places;
    size_t n;
    tl_rank_clocks_make(&ranks, &places, &n);
    CU_ASSERT_EQUAL_FATAL(n, 4);
    CU_ASSERT_EQUAL(places[1].rank, 2);
    CU_ASSERT_EQUAL(places[1].host, -1);
    CU_ASSERT(places[0].host >= 0 && places[2].host >= 0);
    CU_ASSERT_NOT_EQUAL(places[0].host, places[2].host);
    CU_ASSERT_EQUAL(places[0].host, places[3].host);
    CU_ASSERT_NOT_EQUAL(places[0].clock, places[3].clock);
    free(places);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(an_inferred_group_is_all_only_if_all_have_a_trace),
        TEST(the_same_members_are_one_group_whatever_they_call_it),
        TEST(two_names_on_one_rank_are_two_groups),
        TEST(one_rank_without_numbers_takes_them_from_all),
        TEST(launches_outside_steps_count_where_all_saw_the_same),
        TEST(launches_that_do_not_end_together_are_not_the_same),
        TEST(numbers_do_not_depend_on_the_order_of_ranks),
        TEST(hosts_say_where_a_group_lies),
        TEST(ranks_of_one_host_have_one_number),
    };
    int failed = unit_main("groups", tests, COUNT(tests));
    tl_table_free(&j.groups);
    free(j.facts);
    return failed;
}
