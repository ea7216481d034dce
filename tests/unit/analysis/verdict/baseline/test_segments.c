/* test_segments.c - the pieces between collectives in which hosts are compared. */
#include "graph_drawn.h"

static drawing *segments(bool one_more)
{
    return draw("steps:     11111111111111111111",
                one_more ? "host:      .a..r...b.t.s......." : "host:      .a..r...b...s.......",
                "compute 7: ..A......B..........",
                one_more ? "comm 9:    .....RR....TTSS....." : "comm 9:    .....RR.......SS....", NULL);
}

static void expect_host_classes(drawing *one, drawing *other, size_t n, bool whole)
{
    graph_job *j = graph_job_of(one, other, NULL);
    size_t host = 0;
    graph_job_baseline(j);
    for (size_t c = 0; c < j->baseline.nclasses; c++) {
        host += j->baseline.classes[c].family == TL_FAMILY_HOST;
        CU_ASSERT(j->baseline.classes[c].family != TL_FAMILY_HOST || (j->baseline.classes[c].key == UINT32_MAX) == whole);
    }
    CU_ASSERT_EQUAL(host, n);
    graph_job_free(j);
}

static void hosts_are_compared_between_collectives(void)
{
    expect_host_classes(segments(false), segments(false), 2, false);
}

static void hosts_with_unlike_numbers_of_collectives_are_compared_as_a_whole(void)
{
    expect_host_classes(segments(false), segments(true), 1, true);
}

/* What is before the whole steps ends as they do; what is after them begins so. */
static drawing *cut_segments(void)
{
    return draw("steps:     ..................111111111111............",
                "host:      bs....ar...ct.....du...ev.....fw...g......",
                "compute 7: .B.....A....C......D....E......F....G.....",
                "comm 9:    ..SS....RR...TT.....UU...VV.....WW........", NULL);
}

static void cut_steps_have_the_segments_of_whole_ones(void)
{
    static const struct { int64_t us; uint32_t segment; } ends[] = { { 2, 1 },  { 8, 0 },  { 13, 1 }, { 20, 0 },
                                                                     { 25, 1 }, { 32, 0 }, { 37, 1 } };
    graph_job *j = graph_job_of(cut_segments(), cut_segments(), NULL);
    graph_job_baseline(j);
    CU_ASSERT_EQUAL_FATAL(j->baseline.nsteps, 3);
    for (size_t i = 0; i < COUNT(ends); i++)
        CU_ASSERT_EQUAL(
            tl_segment_of(&served_rank(&j->served.asker, 1)->class_map, job_at(j, 1, TL_NODE_WORK, ends[i].us)),
            ends[i].segment);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(hosts_are_compared_between_collectives),
        TEST(hosts_with_unlike_numbers_of_collectives_are_compared_as_a_whole),
        TEST(cut_steps_have_the_segments_of_whole_ones),
    };
    return unit_main("segments of hosts", tests, COUNT(tests));
}
