/* test_transfers.c - between which ranks data move, which of these links are compared, and what is usual there. */
#include "linked_job.h"

/* The sorts of the groups as letters, in the order of links. */
static const char *sorts_of(const linked_job *j)
{
    static char text[LINKED_GROUPS + 1];
    size_t n = 0;
    for (; n < j->baseline.nlinks; n++)
        text[n] = (char)('a' + j->baseline.links[n].role - j->baseline.nroles);
    text[n] = 0;
    return text;
}

/* By how much each step of a link is too long, in 100 us, as digits; below 0 as -. */
static const char *late_of(const linked_job *j, size_t link)
{
    static char text[32];
    const tl_link_ranks *l = &j->baseline.links[link];
    double late_ns[LINKED_GROUPS * 32];
    int64_t scratch[64];
    tl_lateness(&j->baseline, l->role, TL_FAMILY_TRANSFER, late_ns, scratch);
    for (size_t s = 0; s < j->baseline.nsteps; s++) {
        double x = late_ns[l->member * j->baseline.nsteps + s] / (100 * (double)LINKED_US);
        text[s] = (char)(x < 0 ? '-' : '0' + (int)(x + 0.5));
    }
    text[j->baseline.nsteps] = 0;
    return text;
}

static void groups_of_one_description_are_compared(void)
{
    linked_job *j = linked_new(8);
    linked_group(j, "01", "tensor", 4096, "111911");
    linked_group(j, "23", "tensor", 4096, "111111");
    linked_group(j, "45", "tensor", 4096, "111111");
    linked_group(j, "67", "other", 4096, "555555");
    linked_ready(j);
    CU_ASSERT_STRING_EQUAL(sorts_of(j), "aaab");
    CU_ASSERT_STRING_EQUAL(late_of(j, 0), "000800");
    CU_ASSERT_STRING_EQUAL(late_of(j, 1), "000000");
    CU_ASSERT_STRING_EQUAL(late_of(j, 3), "000000");
    linked_free(j);
}

static void other_sizes_are_other_classes(void)
{
    linked_job *j = linked_new(8);
    linked_group(j, "01", "tensor", 4096, "1111");
    linked_group(j, "23", "tensor", 4096, "1111");
    linked_group(j, "45", "tensor", 8192, "2222");
    linked_group(j, "67", "tensor", 8192, "2242");
    linked_ready(j);
    CU_ASSERT_STRING_EQUAL(sorts_of(j), "aaaa");
    CU_ASSERT_EQUAL(j->baseline.classes[j->baseline.nclasses - 1].family, TL_FAMILY_TRANSFER);
    CU_ASSERT_EQUAL(tl_transfer_bytes(j->baseline.classes[j->baseline.nclasses - 1].key), 8192);
    CU_ASSERT_STRING_EQUAL(late_of(j, 2), "0000");
    CU_ASSERT_STRING_EQUAL(late_of(j, 3), "0020");
    linked_free(j);
}

/* Three stages of a pipeline, of two ranks each: the first talks up, the last down, the middle to both sides. */
static linked_job *three_stages(int64_t bytes)
{
    linked_job *j = linked_new(6);
    linked_group(j, "01", "data", bytes, "9999");
    linked_group(j, "23", "data", bytes, "1111");
    linked_group(j, "45", "data", bytes, "1111");
    linked_group(j, "02", "pipeline", 4096, "1111");
    linked_group(j, "24", "pipeline", 4096, "1111");
    j->groups[3].pair = j->groups[3].talks = j->groups[4].pair = j->groups[4].talks = true;
    linked_ready(j);
    return j;
}

static void equal_amounts_are_compared_across_stages(void)
{
    linked_job *j = three_stages(4096);
    CU_ASSERT_EQUAL(j->baseline.links[0].role, j->baseline.links[2].role);
    CU_ASSERT_STRING_EQUAL(late_of(j, 0), "8888");
    linked_free(j);
    j = three_stages(-1); /* the first has other weights, too */
    CU_ASSERT_STRING_EQUAL(late_of(j, 0), "0000");
    CU_ASSERT_EQUAL(tl_transfer_bytes(j->baseline.classes[j->baseline.meeting_class[0]].key), -1);
    linked_free(j);
}

static void within_a_host_is_not_across_hosts(void)
{
    linked_job *j = linked_new(8);
    j->hosts = "aaabbbbb";
    linked_group(j, "01", "tensor", 4096, "11");
    linked_group(j, "23", "tensor", 4096, "99");
    linked_group(j, "45", "tensor", 4096, "11");
    linked_group(j, "67", "tensor", 4096, "11");
    linked_ready(j);
    CU_ASSERT_STRING_EQUAL(sorts_of(j), "abaa");
    linked_free(j);
}

static void two_groups_of_the_same_ranks_are_not_alike(void)
{
    linked_job *j = linked_new(4);
    linked_group(j, "0123", "", -1, "1111");
    linked_group(j, "0123", "", -1, "7777");
    linked_ready(j);
    CU_ASSERT_STRING_EQUAL(sorts_of(j), "ab");
    linked_free(j);
}

static void who_is_alone_is_compared_with_its_better_steps(void)
{
    linked_job *j = linked_new(4);
    linked_group(j, "0123", "world", 4096, "11999911");
    linked_ready(j);
    CU_ASSERT_STRING_EQUAL(late_of(j, 0), "00888800");
    linked_free(j);
}

static void collectives_of_ranks_without_a_trace_are_no_evidence(void)
{
    linked_job *j = linked_new(5);
    linked_group(j, "01", "tensor", 4096, "11");
    linked_group(j, "236", "tensor", 4096, "99");
    linked_ready(j);
    CU_ASSERT_EQUAL(j->baseline.nlinks, 1);
    CU_ASSERT_EQUAL(j->graph.nmeetings, 4);
    CU_ASSERT_EQUAL(j->baseline.link_of[1], TL_NONE);
    linked_free(j);
}

/* The group is known by who is seen in it, and the job has a rank more. */
static void a_group_that_may_have_more_members_is_no_evidence(void)
{
    linked_job *j = linked_new(4);
    linked_group(j, "01", "tensor", 4096, "11");
    linked_group(j, "23", "tensor", 4096, "99");
    linked_ready(j);
    CU_ASSERT_EQUAL(j->baseline.nlinks, 2);
    tl_baseline_free(&j->baseline);
    for (size_t i = 0; i < j->rows.n; i++)
        j->rows.v[i].doubt = j->rows.v[i].group == 1 ? TL_COMM_DOUBT_NO_TRACE : TL_COMM_DOUBT_NONE;
    linked_baseline(j);
    const tl_link_input links = { j->ranks, j->rows.v, j->rows.n, tl_tables_get(&j->tables, &tl_group_row_schema),
                                  tl_tables_get(&j->tables, &tl_rank_schema) };
    tl_baseline_add_links(&j->baseline, &links);
    CU_ASSERT_EQUAL(j->baseline.nlinks, 1);
    linked_free(j);
}

static void the_last_member_ends_a_transfer(void)
{
    linked_job *j = linked_new(6);
    linked_group(j, "012", "tensor", 4096, "11")->tails[1] = "03";
    linked_group(j, "345", "tensor", 4096, "11");
    linked_ready(j);
    CU_ASSERT_STRING_EQUAL(late_of(j, 0), "03");
    linked_free(j);
}

static void a_pair_is_the_same_both_ways(void)
{
    linked_job *j = linked_new(2);
    linked_group(j, "01", "pipeline", 5000, "11")->pair = true;
    linked_ready(j);
    CU_ASSERT_EQUAL(j->baseline.nlinks, 1);
    CU_ASSERT_EQUAL(tl_transfer_bytes(j->baseline.classes[j->baseline.nclasses - 1].key), 4096); /* up to twice as much */
    CU_ASSERT_EQUAL(tl_transfer_bytes(tl_transfer_key(TL_SEND_RECV, -1)), -1);
    CU_ASSERT_EQUAL(tl_transfer_kind(tl_transfer_key(TL_SEND_RECV, -1)), TL_SEND_RECV);
    linked_free(j);
}

static const unit_test tests[] = {
    TEST(groups_of_one_description_are_compared),
    TEST(other_sizes_are_other_classes),
    TEST(equal_amounts_are_compared_across_stages),
    TEST(within_a_host_is_not_across_hosts),
    TEST(two_groups_of_the_same_ranks_are_not_alike),
    TEST(who_is_alone_is_compared_with_its_better_steps),
    TEST(collectives_of_ranks_without_a_trace_are_no_evidence),
    TEST(a_group_that_may_have_more_members_is_no_evidence),
    TEST(the_last_member_ends_a_transfer),
    TEST(a_pair_is_the_same_both_ways),
};

int main(void)
{
    return unit_main("transfers", tests, COUNT(tests));
}
