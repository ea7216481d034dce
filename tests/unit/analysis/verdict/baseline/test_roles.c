/* test_roles.c - who does the same. */
#include "graph_drawn.h"
#include "hand_graph.h"
#include <string.h>

static int64_t alike(size_t rank, size_t step)
{
    return 1000 + 0 * (int64_t)(rank + step);
}

/* The role of each rank, a digit a rank. */
static void expect_roles(const char *roles, const char *const *groups)
{
    tl_late_row rows[64];
    tl_baseline b;
    char got[16] = "";
    size_t nrows = 0;
    hand_job *h = hand_new(strlen(roles), 1, alike, alike);
    for (int32_t g = 0; groups[g] != NULL; g++)
        nrows += hand_group(rows + nrows, g, groups[g]);
    tl_baseline_make(&h->graph, &h->served.asker, h->ranks, rows, nrows, &b);
    for (size_t r = 0; r < h->nranks; r++) {
        got[r] = (char)('0' + b.role_of[r]);
        CU_ASSERT_EQUAL(b.members[b.roles[b.role_of[r]].first + b.index_in_role[r]], r);
    }
    CU_ASSERT_STRING_EQUAL(got, roles);
    tl_baseline_free(&b);
    hand_free(h);
}

#define GROUPS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void all_of_one_group_do_the_same(void)
{
    expect_roles("0000", GROUPS("c 0 1 2 3"));
}

static void without_groups_all_do_the_same(void)
{
    expect_roles("0000", ((const char *const[]){ NULL }));
}

static void groups_smaller_than_the_job_count(void)
{
    expect_roles("0011", GROUPS("c 0 1", "c 2 3", "c 0 1 2 3"));
}

static void groups_that_share_a_rank_are_one_role(void)
{
    expect_roles("0000", GROUPS("c 0 1", "c 2 3", "c 0 2", "c 1 3", "c 0 1 2 3")); /* TP x DP */
}

static void stages_of_a_pipeline_are_roles(void)
{
    expect_roles("0011", GROUPS("c 0 1", "c 2 3", "p 0 2", "p 1 3", "c 0 1 2 3"));
}

static void sends_and_receives_alone_make_no_role(void)
{
    expect_roles("0112", GROUPS("p 0 1", "p 1 2", "p 2 3", "c 0 1 2 3")); /* by the sides to which they talk */
}

static void a_rank_without_a_graph_does_the_same_as_nobody(void)
{
    graph_job *j = graph_job_of(draw("host:      ar......",
                                     "compute 7: .AA.....",
                                     "comm 9:    ....RRRR", NULL), draw("steps:     1111", NULL),
                                draw("host:      ar......",
                                     "compute 7: .AA.....",
                                     "comm 9:    ....RRRR", NULL), NULL);
    graph_job_baseline(j);
    CU_ASSERT_EQUAL(j->baseline.role_of[0], j->baseline.role_of[2]);
    CU_ASSERT_NOT_EQUAL(j->baseline.role_of[0], j->baseline.role_of[1]);
    CU_ASSERT_EQUAL(j->baseline.roles[j->baseline.role_of[0]].n, 2);
    tl_baseline_free(&j->baseline); /* nor where no group tells who does the same */
    tl_baseline_make(&j->graph, &j->served.asker, j->ranks, NULL, 0, &j->baseline);
    CU_ASSERT_EQUAL(j->baseline.role_of[0], j->baseline.role_of[2]);
    CU_ASSERT_NOT_EQUAL(j->baseline.role_of[0], j->baseline.role_of[1]);
    graph_job_free(j);
}

/* Stages of a pipeline, whose traces do not tell between whom sends go, come together as a norm is summed. */
static void a_group_of_all_tells_nothing_where_sends_go_anywhere(void)
{
    for (size_t nloose = 1; nloose <= 2; nloose++) {
        tl_late_row rows[6];
        graph_job *j = graph_job_of(draw("host:   rst..........",
                                         "comm 9: ...RRRSSSTTT.", NULL), draw("host:   rst..........",
                                                                              "comm 9: ...RRRSSSTTT.", NULL), NULL);
        size_t nrows = hand_group(rows, 0, "c 0 1");
        for (int32_t r = 0; r < 2; r++)
            for (size_t k = 0; k < nloose; k++)
                rows[nrows++] = (tl_late_row){ .rank = r, .group = 0, .peer = -1, .kind = TL_SEND_RECV, .doubt = TL_COMM_DOUBT_PARTNER };
        CU_ASSERT_EQUAL(j->graph.ranks[0].nports, 3);
        tl_baseline_make(&j->graph, &j->served.asker, j->ranks, rows, nrows, &j->baseline);
        CU_ASSERT_EQUAL(j->baseline.nroles, nloose);
        graph_job_free(j);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(all_of_one_group_do_the_same),
        TEST(without_groups_all_do_the_same),
        TEST(groups_smaller_than_the_job_count),
        TEST(groups_that_share_a_rank_are_one_role),
        TEST(stages_of_a_pipeline_are_roles),
        TEST(sends_and_receives_alone_make_no_role),
        TEST(a_rank_without_a_graph_does_the_same_as_nobody),
        TEST(a_group_of_all_tells_nothing_where_sends_go_anywhere),
    };
    return unit_main("roles", tests, COUNT(tests));
}
