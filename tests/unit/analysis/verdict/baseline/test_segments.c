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

int main(void)
{
    static const unit_test tests[] = {
        TEST(hosts_are_compared_between_collectives),
        TEST(hosts_with_unlike_numbers_of_collectives_are_compared_as_a_whole),
    };
    return unit_main("segments of hosts", tests, COUNT(tests));
}
