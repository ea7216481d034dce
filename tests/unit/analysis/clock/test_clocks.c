/* test_clocks.c - the clocks of a job: who is off, by how much, how sure that is. */
#include "tlmpi/analysis/clock.h"
#include "tlmpi/model/coll_tables.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define MS  INT64_C(1000000)
#define SEC INT64_C(1000000000)

enum { MOST = 16 };

typedef struct job {
    tl_rank_place places[MOST];
    size_t nplaces;
    tl_clock_edge edges[4 * MOST];
    size_t nedges;
    tl_clock_edge pairs[2 * MOST];
    size_t npairs;
    tl_table table;
} job;

static job j;

/* n ranks, `share` on a host; one group of all, whose edges say `ahead`. */
static void begin(size_t n, size_t share, const int64_t *ahead)
{
    tl_table_free(&j.table);
    j = (job){ .table = { .schema = &tl_clock_schema } };
    for (size_t i = 0; i < n; i++) {
        j.places[i] = (tl_rank_place){ .rank = (int32_t)i, .host = share > 0 ? (int32_t)(i / share) : -1 };
        j.edges[i] = (tl_clock_edge){ .rank = (int32_t)i,
                                      .anchors = 40,
                                      .first_ns = 0,
                                      .last_ns = 2 * SEC,
                                      .middle_ns = SEC,
                                      .ahead_ns = ahead[i],
                                      .sigma_ns = 5000 };
    }
    j.nplaces = j.nedges = n;
}

static void solve(tl_clock_mode mode)
{
    const tl_clock_edges edges = { .of_groups = j.edges, .of_pairs = j.pairs, .ngroups = j.nedges, .npairs = j.npairs };
    tl_error err;
    j.table.n = 0;
    for (size_t i = 0; i < j.nplaces; i++)
        CU_ASSERT_FATAL(tl_table_add(&j.table) != NULL);
    CU_ASSERT_EQUAL_FATAL(tl_clocks_solve(&edges, mode, j.places, j.nplaces, &j.table, &err), TL_OK);
}

static const tl_clock *row(size_t i)
{
    return tl_table_row(&j.table, i);
}

/* `hosts` hosts of two ranks, whose collectives stay on their host. */
static void begin_apart(size_t hosts)
{
    static const int64_t level[MOST];
    begin(2 * hosts, 2, level);
    for (size_t i = 0; i < j.nedges; i++)
        j.edges[i].group = (int32_t)(i / 2);
}

/* What the lower of two ranks sends, or the higher: how far the lower is ahead by that. */
static void add_pair(int32_t rank, int32_t peer, int32_t way, int64_t ahead_ns)
{
    j.pairs[j.npairs++] = (tl_clock_edge){ .rank = rank,
                                           .group = -1,
                                           .anchors = 40,
                                           .first_ns = 0,
                                           .last_ns = 2 * SEC,
                                           .middle_ns = SEC,
                                           .ahead_ns = ahead_ns,
                                           .sigma_ns = 2000,
                                           .took_ns = 400000,
                                           .peer = peer,
                                           .way = way };
}

/* Host 1 is 7 ms ahead of host 0, host 2 another 5. */
static void what_is_sent_both_ways_ties_hosts(void)
{
    begin_apart(3);
    add_pair(0, 2, TL_WAY_UP, -7 * MS - 30000);
    add_pair(0, 2, TL_WAY_DOWN, -7 * MS + 30000);
    add_pair(1, 3, TL_WAY_UP, -7 * MS - 30000);
    add_pair(1, 3, TL_WAY_DOWN, -7 * MS + 30000);
    add_pair(3, 5, TL_WAY_BOTH, -5 * MS);
    solve(TL_CLOCK_AUTO);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(row(i)->clock, (int32_t)i / 2);
        CU_ASSERT_EQUAL(row(i)->component, 0);
        CU_ASSERT_EQUAL(row(i)->offset_ns, i < 2 ? -7 * MS : i < 4 ? 0 : 5 * MS);
        CU_ASSERT_EQUAL(row(i)->applied, i < 2 || i >= 4);
    }
    CU_ASSERT_EQUAL(row(0)->sigma_ns, 30000); /* half of what the ways leave */
    CU_ASSERT_EQUAL(row(5)->sigma_ns, 5000);  /* of the collectives */
}

static void what_is_sent_one_way_leaves_a_transfer_in_doubt(void)
{
    begin_apart(2);
    add_pair(0, 2, TL_WAY_UP, -7 * MS);
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(row(2)->component, 0);
    CU_ASSERT_EQUAL(row(2)->offset_ns, 7 * MS);
    CU_ASSERT_EQUAL(row(2)->sigma_ns, 400000);
    CU_ASSERT_TRUE(row(2)->applied);
    j.pairs[0].ahead_ns = -1000000; /* of which a transfer may be the most */
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_FALSE(row(2)->applied);
    j.pairs[0].ahead_ns = -300000; /* and all of it: two hosts stay in doubt, ranks of nobody knows which may be on one */
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(row(2)->sigma_ns, 400000);
    j.places[0].host = -1;
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(row(0)->sigma_ns, 5000);
}

/* The ends of sends and receives lie where they like: 3 ms apart inside a host, and between hosts that an all-reduce
 * compares. */
static void where_collectives_compare_clocks_what_is_sent_does_not(void)
{
    begin(4, 2, (const int64_t[]){ 0, 0, 0, 0 });
    add_pair(0, 1, TL_WAY_BOTH, 3 * MS);
    add_pair(0, 2, TL_WAY_BOTH, 3 * MS);
    solve(TL_CLOCK_AUTO);
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(row(i)->offset_ns, 0);
    CU_ASSERT_EQUAL(row(0)->sigma_ns, 5000);
}

static void of_several_pairs_the_middle_one_tells(void)
{
    begin(6, 3, (const int64_t[6]){ 0 });
    for (size_t i = 0; i < 6; i++)
        j.edges[i].group = (int32_t)(i / 3);
    add_pair(0, 3, TL_WAY_BOTH, -4 * MS);
    add_pair(1, 4, TL_WAY_BOTH, -30 * MS); /* wrong matches */
    add_pair(2, 5, TL_WAY_BOTH, -4 * MS);
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(row(3)->offset_ns, 4 * MS);
    CU_ASSERT_EQUAL(row(3)->sigma_ns, 5000);
}

static void drifts_are_tied_as_well(void)
{
    begin_apart(2);
    add_pair(0, 2, TL_WAY_BOTH, 0);
    j.pairs[0].has_drift = 1;
    j.pairs[0].drift = 20e-6;
    j.pairs[0].middle_ns = SEC / 2; /* the job's is at 1 s */
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(row(0)->offset_ns - row(2)->offset_ns, 10000);
    CU_ASSERT_EQUAL(row(0)->drift_ppb - row(2)->drift_ppb, 20000);
}

/* Two hosts of two ranks, 3 ms apart; ranks sit 20 us from their hosts. */
static void ranks_of_a_host_share_its_clock(void)
{
    begin(4, 2, (const int64_t[]){ 20000, -20000, 3000000 - 20000, 3000000 + 20000 });
    solve(TL_CLOCK_AUTO);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(j.places[i].clock, (int32_t)i / 2);
        CU_ASSERT_EQUAL(row(i)->component, 0);
        CU_ASSERT_EQUAL(row(i)->offset_ns, i < 2 ? 0 : 3 * MS); /* not 1.5 ms each */
        CU_ASSERT_EQUAL(row(i)->applied, i >= 2);
        CU_ASSERT_EQUAL(row(i)->residual_ns, i == 0 || i == 3 ? 20000 : -20000);
        CU_ASSERT_EQUAL(row(i)->sigma_ns, 5000);
        CU_ASSERT_EQUAL(row(i)->anchors, 40);
    }
}

static void one_rank_beside_its_host_has_a_clock_of_its_own(void)
{
    begin(4, 4, (const int64_t[]){ 0, 10000, 700000, -10000 });
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(j.places[0].clock, 0);
    CU_ASSERT_EQUAL(j.places[2].clock, 1);
    CU_ASSERT_EQUAL(j.places[3].clock, 0);
    CU_ASSERT_EQUAL(row(2)->offset_ns, 700000);
    CU_ASSERT_EQUAL(row(2)->applied, 1);
    CU_ASSERT_EQUAL(row(0)->applied, 0);
    CU_ASSERT_EQUAL(row(1)->residual_ns, 10000);
}

/* A ring with a slow link keeps some up to 0.9 ms longer than others, in collectives of 1 ms. */
static void ranks_that_end_apart_by_less_than_they_take_have_one_clock(void)
{
    for (int longer = 0; longer < 2; longer++) {
        begin(4, 4, (const int64_t[]){ -450000, -150000, 150000, 450000 });
        for (size_t i = 0; i < j.nedges; i++)
            j.edges[i].took_ns = longer ? MS : MS / 10;
        solve(TL_CLOCK_AUTO);
        for (size_t i = 0; i < 4; i++) {
            CU_ASSERT_EQUAL(j.places[i].clock, longer ? 0 : (int32_t)i);
            CU_ASSERT_EQUAL(row(i)->applied, !longer && row(i)->offset_ns != 0);
        }
    }
}

/* Four ranks whose clocks agree are done 5 ms apart with their gradients, which take 30 ms, and together with their
 * norm, which takes 20 us.  Where there are gradients alone, nobody knows better. */
static void brief_collectives_outweigh_long_ones(void)
{
    for (int norm = 0; norm < 2; norm++) {
        begin(4, 0, (const int64_t[]){ 0, -5 * MS, -10 * MS, -15 * MS });
        for (size_t i = 4; i-- > 0;) { /* in order of rank and group */
            tl_clock_edge gradients = j.edges[i], *own = &j.edges[norm == 1 ? 2 * i : i];
            gradients.took_ns = 30 * MS;
            own[0] = own[norm] = gradients;
            if (norm == 1) {
                own[1].group = 1;
                own[1].ahead_ns = (int64_t)i * 1000;
                own[1].took_ns = 20000;
            }
        }
        j.nedges = norm == 1 ? 8 : 4;
        solve(TL_CLOCK_AUTO);
        for (size_t i = 0; i < 4; i++)
            CU_ASSERT_EQUAL(row(i)->applied, norm == 0 && row(i)->offset_ns != 0);
    }
}

/* On one host ends lie up to 49 us apart for other reasons; and what is scattered widely is believed later. */
static void nothing_below_fifty_microseconds_or_three_sigma_is_applied(void)
{
    static const struct {
        int64_t ahead_ns, sigma_ns;
        int applied;
    } cases[] = {
        { 49000, 5000, 0 }, { 51000, 5000, 1 }, { 200000, 70000, 0 }, { 220000, 70000, 1 }, { -51000, 0, 1 }
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        begin(3, 0, (const int64_t[]){ 0, 0, cases[c].ahead_ns });
        j.edges[2].sigma_ns = cases[c].sigma_ns;
        solve(TL_CLOCK_AUTO);
        CU_ASSERT_EQUAL(row(2)->offset_ns, cases[c].ahead_ns);
        CU_ASSERT_EQUAL(row(2)->applied, cases[c].applied);
        CU_ASSERT_EQUAL(j.places[2].applied, cases[c].applied);
        solve(TL_CLOCK_FORCE);
        CU_ASSERT_EQUAL(row(2)->applied, 1);
        CU_ASSERT_EQUAL(row(0)->applied, 0); /* nothing to apply */
        solve(TL_CLOCK_NONE);
        CU_ASSERT_EQUAL(row(2)->applied, 0);
        CU_ASSERT_EQUAL(row(2)->offset_ns, cases[c].ahead_ns);
    }
}

/* Ranks 0 and 1 meet in one group, 2 and 3 in another: each pair has its own zero. */
static void what_never_meets_is_not_compared(void)
{
    begin(4, 0, (const int64_t[]){ 0, 400000, 7 * SEC, 7 * SEC + 300000 });
    j.edges[2].group = j.edges[3].group = 1;
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(row(1)->component, 0);
    CU_ASSERT_EQUAL(row(2)->component, 1);
    CU_ASSERT_EQUAL(row(1)->offset_ns, 400000);
    CU_ASSERT_EQUAL(row(2)->offset_ns, 0);
    CU_ASSERT_EQUAL(row(3)->offset_ns, 300000);
}

/* Host 1 gains 30 us a second; seen over 20 s, 300 us at either end. */
static void a_drift_is_the_clocks(void)
{
    begin(4, 2, (const int64_t[]){ 0, 0, 0, 0 });
    for (size_t i = 0; i < 4; i++) {
        j.edges[i].last_ns = 20 * SEC;
        j.edges[i].middle_ns = 10 * SEC;
        j.edges[i].has_drift = 1;
        j.edges[i].drift = i < 2 ? -15e-6 : 15e-6; /* against the middle of all */
    }
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(row(0)->drift_ppb, 0);
    CU_ASSERT_EQUAL(row(2)->drift_ppb, 30000);
    CU_ASSERT_EQUAL(row(2)->offset_ns, 0);
    CU_ASSERT_EQUAL(row(2)->applied, 1);
    CU_ASSERT_EQUAL(tl_clock_correct(&j.places[2], 10 * SEC), 10 * SEC);
    CU_ASSERT_EQUAL(tl_clock_correct(&j.places[2], 20 * SEC), 20 * SEC - 300000);
    CU_ASSERT_EQUAL(tl_clock_correct(&j.places[2], 0), 300000);
    CU_ASSERT_EQUAL(tl_clock_correct(&j.places[0], 77), 77);
}

/* Edges whose middles differ are brought to the middle of all before they are compared. */
static void an_offset_holds_in_the_middle(void)
{
    begin(2, 0, (const int64_t[]){ 0, 100000 });
    for (size_t i = 0; i < 2; i++) {
        j.edges[i].has_drift = 1;
        j.edges[i].last_ns = 10 * SEC;
    }
    j.edges[1].drift = 10e-6;
    j.edges[1].middle_ns = 3 * SEC; /* 100 us there, 120 us two seconds later */
    j.edges[0].middle_ns = 5 * SEC;
    solve(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(row(1)->offset_ns, 120000);
    CU_ASSERT_EQUAL(j.places[1].middle_ns, 5 * SEC);
}

static void a_job_without_anchors_has_clocks_all_the_same(void)
{
    begin(3, 3, (const int64_t[]){ 0, 0, 0 });
    j.nedges = 0;
    solve(TL_CLOCK_FORCE);
    CU_ASSERT_EQUAL(row(2)->clock, 0);
    CU_ASSERT_EQUAL(row(2)->anchors, 0);
    CU_ASSERT_EQUAL(row(2)->applied, 0);
    j.nplaces = 0;
    solve(TL_CLOCK_AUTO);
}

static void correcting_overflows_nothing(void)
{
    tl_rank_place p = { .applied = 1, .offset_ns = INT64_MAX, .drift_ppb = 1000000, .middle_ns = INT64_MIN + 1 };
    CU_ASSERT_EQUAL(tl_clock_correct(&p, TL_TIME_UNKNOWN), TL_TIME_UNKNOWN);
    CU_ASSERT(tl_clock_correct(&p, INT64_MAX) <= 0);
    p.offset_ns = -INT64_MAX;
    CU_ASSERT(tl_clock_correct(&p, INT64_MAX) > 0);
}

static const unit_test tests[] = {
    TEST(ranks_of_a_host_share_its_clock),
    TEST(one_rank_beside_its_host_has_a_clock_of_its_own),
    TEST(ranks_that_end_apart_by_less_than_they_take_have_one_clock),
    TEST(brief_collectives_outweigh_long_ones),
    TEST(nothing_below_fifty_microseconds_or_three_sigma_is_applied),
    TEST(what_is_sent_both_ways_ties_hosts),
    TEST(what_is_sent_one_way_leaves_a_transfer_in_doubt),
    TEST(where_collectives_compare_clocks_what_is_sent_does_not),
    TEST(of_several_pairs_the_middle_one_tells),
    TEST(drifts_are_tied_as_well),
    TEST(what_never_meets_is_not_compared),
    TEST(a_drift_is_the_clocks),
    TEST(an_offset_holds_in_the_middle),
    TEST(a_job_without_anchors_has_clocks_all_the_same),
    TEST(correcting_overflows_nothing),
};

int main(void)
{
    int failed = unit_main("clocks", tests, COUNT(tests));
    tl_table_free(&j.table);
    return failed;
}
