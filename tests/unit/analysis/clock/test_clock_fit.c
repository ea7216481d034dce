/* test_clock_fit.c - what ends of a collective tell of clocks, and the line through them. */
#include "tlmpi/analysis/clock.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define MS  INT64_C(1000000)
#define SEC INT64_C(1000000000)

/* --------------------------------------------------------------------------------------------------------- anchors */

static size_t anchors_of(const tl_participant *p, size_t n, tl_anchor *out)
{
    size_t nout = 99;
    CU_ASSERT_TRUE(tl_collective_anchors(p, n, out, &nout));
    return nout;
}

static void ends_of_an_all_reduce_are_anchors(void)
{
    tl_participant p[3] = { { .rank = 0, .end_ns = 100, .kind = TL_ALL_REDUCE, .bytes = -1 },
                            { .rank = 1, .end_ns = 130, .kind = TL_ALL_REDUCE, .bytes = -1 },
                            { .rank = 2, .end_ns = 90, .kind = TL_ALL_REDUCE, .bytes = -1 } };
    tl_anchor a[3];
    CU_ASSERT_EQUAL_FATAL(anchors_of(p, 3, a), 3);
    CU_ASSERT_EQUAL(a[0].at_ns, 100);
    CU_ASSERT_EQUAL(a[0].ahead_ns, 0);
    CU_ASSERT_EQUAL(a[1].ahead_ns, 30);
    CU_ASSERT_EQUAL(a[2].ahead_ns, -10);
    CU_ASSERT_EQUAL(a[2].took_ns, 90);
    CU_ASSERT_EQUAL(anchors_of(p, 1, a), 0);
    p[1].kind = TL_ALL_GATHER; /* no two ranks of one collective */
    CU_ASSERT_EQUAL(anchors_of(p, 3, a), 0);
    for (int i = 0; i < 3; i++)
        p[i].kind = TL_ALL_TO_ALL; /* ranks leave it when they like */
    CU_ASSERT_EQUAL(anchors_of(p, 3, a), 0);
}

static void ends_of_a_pair_are_one_anchor(void)
{
    tl_participant p[2] = {
        { .rank = 0, .peer = 4, .start_ns = 10, .end_ns = 100, .kind = TL_SEND, .rule = TL_BY_PAIR, .bytes = 8 },
        { .rank = 4, .peer = 0, .start_ns = 90, .end_ns = 130, .kind = TL_RECV, .rule = TL_BY_PAIR, .bytes = 8 }
    };
    tl_anchor a[2];
    CU_ASSERT_EQUAL_FATAL(anchors_of(p, 2, a), 1);
    CU_ASSERT_EQUAL(a[0].rank, 0);
    CU_ASSERT_EQUAL(a[0].peer, 4);
    CU_ASSERT_EQUAL(a[0].group, -1);
    CU_ASSERT_EQUAL(a[0].ahead_ns, -30);
    CU_ASSERT_EQUAL(a[0].took_ns, 40);
    CU_ASSERT_EQUAL(a[0].way, TL_WAY_UP);
    p[0].kind = TL_RECV;
    p[1].kind = TL_SEND;
    CU_ASSERT_EQUAL_FATAL(anchors_of(p, 2, a), 1);
    CU_ASSERT_EQUAL(a[0].way, TL_WAY_DOWN);
    p[0].kind = p[1].kind = TL_SEND_RECV;
    CU_ASSERT_EQUAL_FATAL(anchors_of(p, 2, a), 1);
    CU_ASSERT_EQUAL(a[0].way, TL_WAY_BOTH);
    p[0].rule = p[1].rule = TL_BY_ENDTIME; /* they were found by the clocks */
    CU_ASSERT_EQUAL(anchors_of(p, 2, a), 0);
    p[0].rule = p[1].rule = TL_BY_PAIR;
    p[1].bytes = 16;
    p[1].dtype = 2;
    p[0].dtype = 1;
    CU_ASSERT_EQUAL(anchors_of(p, 2, a), 0);
}

/* n anchors, a time apart, on a line. */
static tl_anchor *line(size_t n, int64_t apart_ns, int64_t ahead_ns, double drift)
{
    tl_anchor *a = calloc(n, sizeof *a);
    if (a == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        a[i] = (tl_anchor){ .rank = 3,
                            .group = 1,
                            .at_ns = (int64_t)i * apart_ns,
                            .ahead_ns = ahead_ns + llround(drift * (double)((int64_t)i * apart_ns)),
                            .took_ns = MS / 100 };
    return a;
}

/* The clock is 1 ms ahead; half of what is sent lies in a buffer until the other comes. */
static void where_a_sender_is_not_held_its_end_tells_nothing(void)
{
    for (int way = TL_WAY_UP; way <= TL_WAY_DOWN; way++) {
        tl_clock_edge e;
        tl_anchor *a = line(40, MS, MS, 0);
        for (size_t i = 0; i < 40; i++) {
            int64_t late_ns = i % 2 == 0 ? (int64_t)(i + 1) * MS : (int64_t)i * 100;
            a[i].way = way;
            a[i].ahead_ns += way == TL_WAY_UP ? -late_ns : late_ns;
        }
        CU_ASSERT_TRUE(tl_clock_edge_fit(a, 40, &e));
        CU_ASSERT_EQUAL(e.way, way);
        CU_ASSERT_EQUAL(e.ahead_ns, way == TL_WAY_UP ? MS - 1100 : MS + 1100);
        CU_ASSERT_EQUAL(e.sigma_ns, 1000);
        free(a);
    }
}

static void where_long_and_short_collectives_disagree_the_short_ones_tell(void)
{
    static const struct {
        int64_t longer_ns; /* ahead in the long ones */
        int64_t short_ns;  /* what the short ones take, of 1 ms */
        int64_t told_ns;
    } cases[] = { { 400000, MS / 10, 1000 }, { 40000, MS / 10, 40000 }, { 400000, MS * 9 / 10, 400000 } };

    for (size_t c = 0; c < COUNT(cases); c++) {
        tl_clock_edge e;
        tl_anchor *a = line(24, MS, cases[c].longer_ns, 0);
        for (size_t i = 0; i < 24; i++) {
            bool small = i % 6 == 5;
            a[i].took_ns = small ? cases[c].short_ns : MS;
            a[i].ahead_ns = small ? 1000 : a[i].ahead_ns;
        }
        CU_ASSERT_TRUE(tl_clock_edge_fit(a, 24, &e));
        CU_ASSERT_EQUAL(e.ahead_ns, cases[c].told_ns);
        CU_ASSERT_EQUAL(e.anchors, 24);
        CU_ASSERT_EQUAL(e.took_ns, cases[c].told_ns == 1000 ? MS / 10 : MS);
        free(a);
    }
}

static void an_offset_is_the_middle_of_what_anchors_say(void)
{
    tl_clock_edge e;
    tl_anchor *a = line(9, MS, 5000, 0);
    a[1].ahead_ns += 400 * MS; /* two wrong matches, and some noise */
    a[7].ahead_ns -= 900 * MS;
    a[4].ahead_ns += 300;
    CU_ASSERT_TRUE(tl_clock_edge_fit(a, 9, &e));
    CU_ASSERT_EQUAL(e.ahead_ns, 5000);
    CU_ASSERT_EQUAL(e.sigma_ns, 0);
    CU_ASSERT_FALSE(e.has_drift); /* 8 ms are too short */
    CU_ASSERT_EQUAL(e.anchors, 9);
    CU_ASSERT_EQUAL(e.first_ns, 0);
    CU_ASSERT_EQUAL(e.last_ns, 8 * MS);
    free(a);
}

/* 20 ppm: 20 us in a second. */
static void a_drift_takes_twenty_anchors_over_a_second(void)
{
    static const struct {
        size_t n;
        int64_t apart_ns;
        int has_drift;
    } cases[] = { { 20, 100 * MS, 1 }, { 19, 100 * MS, 0 }, { 20, 50 * MS, 0 }, { 3000, MS, 1 } };
    for (size_t c = 0; c < COUNT(cases); c++) {
        tl_clock_edge e;
        tl_anchor *a = line(cases[c].n, cases[c].apart_ns, 0, 20e-6);
        CU_ASSERT_TRUE(tl_clock_edge_fit(a, cases[c].n, &e));
        CU_ASSERT_EQUAL(e.has_drift, cases[c].has_drift);
        CU_ASSERT_DOUBLE_EQUAL(e.drift, cases[c].has_drift ? 20e-6 : 0, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL((double)e.ahead_ns, 20e-6 * (double)e.middle_ns, 1000);
        CU_ASSERT_EQUAL(e.middle_ns, (int64_t)(cases[c].n - 1) * cases[c].apart_ns / 2);
        free(a);
    }
}

static void a_quarter_of_wrong_anchors_bends_nothing(void)
{
    tl_clock_edge e;
    uint64_t state = 3;
    tl_anchor *a = line(200, 20 * MS, 1000, -30e-6);
    for (size_t i = 0; i < 200; i++)
        a[i].ahead_ns +=
            i % 4 == 0 ? (int64_t)(unit_random(&state) % 1000000000) : (int64_t)unit_below(&state, 2001) - 1000;
    CU_ASSERT_TRUE(tl_clock_edge_fit(a, 200, &e));
    CU_ASSERT_DOUBLE_EQUAL(e.drift, -30e-6, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL((double)e.ahead_ns, 1000 - 30e-6 * (double)e.middle_ns, 1500);
    CU_ASSERT(e.sigma_ns > 200 && e.sigma_ns < 4000);
    free(a);
}

static void a_clock_that_runs_wild_has_no_drift(void)
{
    tl_clock_edge e;
    tl_anchor *a = line(30, 100 * MS, 0, 0.01);
    CU_ASSERT_TRUE(tl_clock_edge_fit(a, 30, &e));
    CU_ASSERT_FALSE(e.has_drift);
    free(a);
}

static const unit_test tests[] = {
    TEST(ends_of_an_all_reduce_are_anchors),
    TEST(ends_of_a_pair_are_one_anchor),
    TEST(where_a_sender_is_not_held_its_end_tells_nothing),
    TEST(an_offset_is_the_middle_of_what_anchors_say),
    TEST(where_long_and_short_collectives_disagree_the_short_ones_tell),
    TEST(a_drift_takes_twenty_anchors_over_a_second),
    TEST(a_quarter_of_wrong_anchors_bends_nothing),
    TEST(a_clock_that_runs_wild_has_no_drift),
};

int main(void)
{
    return unit_main("clock fit", tests, COUNT(tests));
}
