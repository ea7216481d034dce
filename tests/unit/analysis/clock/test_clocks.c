/* test_clocks.c - clocks are corrected where they are impossible, and only there. */
#include "tlmpi/analysis/clock.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/parameters.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define US  INT64_C(1000)
#define MS  INT64_C(1000000)
#define SEC INT64_C(1000000000)

enum { MOST = 8, MANY = 4096 };

typedef struct job {
    tl_rank_place places[MOST];
    size_t nplaces;
    int64_t ahead[MOST]; /* what is to be found: of clocks, when things are added */
    double drift[MOST];  /* ns a ns */
    tl_participant parts[MANY];
    size_t nparts;
    uint64_t key;
} job;

static job j;

/* n ranks, `share` on a host, 0: hosts are not known. */
static void begin(size_t n, size_t share)
{
    memset(&j, 0, sizeof j);
    for (size_t i = 0; i < n; i++)
        j.places[i] = (tl_rank_place){ .rank = (int32_t)i, .host = share > 0 ? (int32_t)(i / share) : -1 };
    j.nplaces = n;
}

/* What the clock of a rank shows at a time. */
static int64_t shown(int32_t rank, int64_t ns)
{
    return ns + j.ahead[rank] + (int64_t)(j.drift[rank] * (double)ns);
}

static void add(int32_t rank, tl_collective kind, int32_t peer, int64_t start_ns, int64_t end_ns)
{
    CU_ASSERT_FATAL(j.nparts < MANY);
    j.parts[j.nparts++] = (tl_participant){ .key = j.key,
                                            .start_ns = shown(rank, start_ns),
                                            .end_ns = shown(rank, end_ns),
                                            .launch_ns = TL_TIME_UNKNOWN,
                                            .seq = -1,
                                            .bytes = -1,
                                            .rank = rank,
                                            .step = -1,
                                            .nth = -1,
                                            .peer = peer,
                                            .kind = (uint8_t)kind,
                                            .rule = TL_BY_SEQ };
}

/* An all-reduce of all ranks, who arrive at these times; the transfer takes each as long. */
static void meet_at(const int64_t *start_ns, int64_t transfer_ns)
{
    int64_t last_ns = INT64_MIN;
    j.key++;
    for (size_t i = 0; i < j.nplaces; i++)
        last_ns = start_ns[i] > last_ns ? start_ns[i] : last_ns;
    for (size_t i = 0; i < j.nplaces; i++)
        add((int32_t)i, TL_ALL_REDUCE, TL_NO_PEER, start_ns[i], last_ns + transfer_ns);
}

static void send_at(int32_t from, int32_t to, int64_t sent_ns, int64_t send_end_ns, int64_t recv_ns,
                    int64_t recv_end_ns)
{
    j.key++;
    add(from, TL_SEND, to, sent_ns, send_end_ns);
    add(to, TL_RECV, from, recv_ns, recv_end_ns);
}

static tl_status alone(int64_t *values, size_t n, tl_error *err)
{
    (void)values;
    (void)n;
    (void)err;
    return TL_OK;
}

static tl_status find(tl_clock_mode mode)
{
    static const tl_clock_procs procs = { alone, alone };
    tl_error err;
    CU_ASSERT_FATAL(tl_participants_sort(j.parts, j.nparts));
    return tl_clocks_find(j.parts, j.nparts, mode, &procs, j.places, j.nplaces, &err);
}

/* By how much a rank's clock is still ahead of rank 0's, at a time. */
static int64_t left_at(int32_t rank, int64_t ns)
{
    return tl_clock_correct(&j.places[rank], shown(rank, ns)) - tl_clock_correct(&j.places[0], shown(0, ns));
}

static void check_left(int32_t rank, int64_t ns, int64_t most_ns)
{
    int64_t left_ns = left_at(rank, ns);
    CU_ASSERT_TRUE(left_ns <= most_ns);
    CU_ASSERT_TRUE(-left_ns <= most_ns);
}

/* Two ranks that wait for each other in turn, every 10 ms. */
static void wait_in_turn(int n, int64_t wait_ns, int64_t transfer_ns)
{
    for (int k = 0; k < n; k++) {
        int64_t at = (k + 1) * 10 * MS;
        const int64_t starts[] = { at + (k % 2 == 0 ? wait_ns : 0), at + (k % 2 == 1 ? wait_ns : 0) };
        meet_at(starts, transfer_ns);
    }
}

/* One true clock, and members that need 1 to 4 ms for their own part of the transfer: their ends always differ. */
static void ends_that_differ_are_no_offset(void)
{
    begin(4, 1);
    for (int k = 0; k < 20; k++) {
        int64_t at = (k + 1) * 20 * MS;
        j.key++;
        for (int32_t r = 0; r < 4; r++)
            add(r, TL_ALL_REDUCE, TL_NO_PEER, at + (k * 7 + r * 3) % 10 * MS, at + 10 * MS + (r + 1) * MS);
    }
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(j.places[i].offset_ns, 0);
        CU_ASSERT_FALSE(j.places[i].applied);
        CU_ASSERT_EQUAL(j.places[i].clock, (int32_t)i);
        CU_ASSERT_EQUAL(j.places[i].component, 0);
    }
}

static void what_is_impossible_is_corrected(void)
{
    begin(2, 1);
    j.ahead[1] = 7 * MS;
    wait_in_turn(20, 3 * MS, 100 * US);
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_TRUE(j.places[1].applied);
    CU_ASSERT_FALSE(j.places[0].applied); /* of two the lower is right */
    check_left(1, 100 * MS, 10 * US);
    CU_ASSERT_TRUE(j.places[1].sigma_ns <= 150 * US); /* the transfer, and the clock error */

    j.places[1].applied = 0;
    CU_ASSERT_EQUAL(find(TL_CLOCK_NONE), TL_OK);
    CU_ASSERT_FALSE(j.places[1].applied);
    CU_ASSERT_TRUE(llabs(j.places[1].offset_ns - 7 * MS) <= 10 * US); /* told all the same */
}

/* Whatever the clocks are off by, the same corrected times come out. */
static void the_result_does_not_depend_on_the_offset(void)
{
    int64_t first[4] = { 0 };
    for (int k = 0; k < 5; k++) {
        begin(4, 0);
        for (int32_t r = 0; r < 4; r++)
            j.ahead[r] = (k * 977 + r * 3571) % 4000 * US + r * 5 * MS;
        for (int n = 0; n < 40; n++) {
            int64_t at = (n + 1) * 10 * MS, starts[4];
            for (int r = 0; r < 4; r++)
                starts[r] = at + (n * 13 + r * 29) % 40 * 100 * US;
            meet_at(starts, 300 * US);
        }
        CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
        for (int32_t r = 1; r < 4; r++) {
            first[r] = k == 0 ? left_at(r, 0) : first[r];
            CU_ASSERT_TRUE(llabs(left_at(r, 0) - first[r]) <= 2 * US);
            check_left(r, 0, 160 * US);
        }
    }
}

static void the_clock_error_is_forgiven(void)
{
    begin(2, 1);
    j.key++;
    add(0, TL_ALL_REDUCE, TL_NO_PEER, 0, MS);
    add(1, TL_ALL_REDUCE, TL_NO_PEER, MS + TL_CLOCK_ERROR_NS, 2 * MS);
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_FALSE(j.places[1].applied);
    j.key++;
    add(0, TL_ALL_REDUCE, TL_NO_PEER, 4 * MS, 5 * MS);
    add(1, TL_ALL_REDUCE, TL_NO_PEER, 5 * MS + TL_CLOCK_ERROR_NS + 1, 6 * MS);
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_TRUE(j.places[1].applied);
}

/* Nothing is received before it is sent; that it was sent before anybody asked for it says nothing. */
static void messages_bound_clocks_in_their_direction(void)
{
    begin(2, 1);
    send_at(0, 1, 0, MS, 5 * MS, 6 * MS);
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_FALSE(j.places[1].applied);
    CU_ASSERT_EQUAL(j.places[1].sigma_ns, INT64_MAX);

    begin(2, 1);
    j.ahead[1] = -4 * MS;
    for (int k = 0; k < 10; k++) {
        send_at(0, 1, k * 10 * MS, k * 10 * MS + MS, k * 10 * MS - MS, k * 10 * MS + MS);
        send_at(1, 0, k * 10 * MS + 5 * MS, k * 10 * MS + 6 * MS, k * 10 * MS + 4 * MS, k * 10 * MS + 6 * MS);
    }
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    check_left(1, 0, 10 * US);
    CU_ASSERT_TRUE(j.places[1].sigma_ns <= MS + 2 * TL_CLOCK_ERROR_NS);
}

/* Rank 1 is always last, by 30 ms: its clock may be 30 ms ahead, as far as waiting tells.  But all leave together. */
static void where_bounds_are_wide_ends_tell(void)
{
    begin(2, 1);
    j.ahead[1] = -2 * MS;
    for (int k = 0; k < 20; k++)
        meet_at((const int64_t[]){ k * 50 * MS, k * 50 * MS + 30 * MS }, 200 * US);
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_FALSE(j.places[1].applied); /* it seems to wait less, but nothing is impossible */

    begin(2, 1);
    j.ahead[1] = 2 * MS;
    for (int k = 0; k < 20; k++)
        meet_at((const int64_t[]){ k * 50 * MS, k * 50 * MS + 30 * MS }, 200 * US);
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_TRUE(j.places[1].applied);
    check_left(1, 0, 20 * US);
}

static void ranks_of_a_host_share_a_clock(void)
{
    begin(4, 2);
    j.ahead[2] = j.ahead[3] = -5 * MS;
    for (int k = 0; k < 20; k++) {
        int64_t at = k * 10 * MS;
        const int64_t starts[] = { at, at + k % 3 * MS, at + k % 2 * MS, at };
        meet_at(starts, 200 * US);
    }
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_EQUAL(j.places[1].clock, j.places[0].clock);
    CU_ASSERT_EQUAL(j.places[3].clock, j.places[2].clock);
    CU_ASSERT_EQUAL(j.places[2].offset_ns, j.places[3].offset_ns);
    check_left(2, 0, 150 * US);
}

static void a_rank_that_its_host_cannot_explain_gets_a_clock_of_its_own(void)
{
    begin(4, 4);
    j.ahead[2] = 3 * MS;
    for (int k = 0; k < 40; k++) {
        int64_t at = k * 10 * MS, starts[4];
        for (int r = 0; r < 4; r++)
            starts[r] = at + (k + r) % 4 * MS;
        meet_at(starts, 100 * US);
    }
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_NOT_EQUAL(j.places[2].clock, j.places[0].clock);
    check_left(1, 0, 30 * US);
    check_left(2, 0, 30 * US);
}

/* 100 ppm over 2 s: 200 us, where transfers hide 50. */
static void a_drift_is_found_where_no_offset_fits(void)
{
    begin(2, 1);
    j.drift[1] = 1e-4;
    j.ahead[1] = -3 * MS;
    wait_in_turn(200, MS, 20 * US);
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    for (int64_t at = 0; at <= 2 * SEC; at += SEC / 2)
        check_left(1, at, 40 * US);
    CU_ASSERT_TRUE(llabs(llabs(j.places[1].drift_ppb) - 100000) < 5000);
}

/* One of 200 was matched with the next of its kind, a second later. */
static void a_wrong_match_is_left_out(void)
{
    begin(2, 1);
    j.ahead[1] = 7 * MS;
    wait_in_turn(200, 3 * MS, 100 * US);
    j.key++;
    add(0, TL_ALL_REDUCE, TL_NO_PEER, 0, MS);
    add(1, TL_ALL_REDUCE, TL_NO_PEER, SEC, SEC + MS);
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    check_left(1, SEC, 10 * US);
}

/* Each leaves every second before the other has come, by a second: that is no matter of clocks. */
static void what_no_clock_explains_changes_none(void)
{
    begin(2, 1);
    for (int k = 0; k < 20; k++) {
        j.key++;
        add(k % 2, TL_ALL_REDUCE, TL_NO_PEER, k * 5 * SEC, k * 5 * SEC + MS);
        add(1 - k % 2, TL_ALL_REDUCE, TL_NO_PEER, k * 5 * SEC + SEC, k * 5 * SEC + SEC + MS);
    }
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_FALSE(j.places[0].applied);
    CU_ASSERT_FALSE(j.places[1].applied);
    CU_ASSERT_EQUAL(j.places[1].sigma_ns, INT64_MAX);
}

static void a_forced_clock_goes_to_the_middle(void)
{
    begin(2, 1);
    j.ahead[1] = 300 * US;
    wait_in_turn(20, 3 * MS, 400 * US);
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_FALSE(j.places[1].applied);
    CU_ASSERT_EQUAL(find(TL_CLOCK_FORCE), TL_OK);
    CU_ASSERT_TRUE(j.places[1].applied);
    check_left(1, 0, 10 * US);
}

/* Of ranks that meet nobody in common nothing is known. */
static void clocks_that_nothing_compares_are_components(void)
{
    begin(4, 2);
    for (int k = 0; k < 4; k++) {
        j.key++;
        add(0, TL_ALL_REDUCE, TL_NO_PEER, k * MS, k * MS + 500 * US);
        add(1, TL_ALL_REDUCE, TL_NO_PEER, k * MS, k * MS + 500 * US);
        j.key++;
        add(2, TL_ALL_REDUCE, TL_NO_PEER, k * MS, k * MS + 500 * US);
        add(3, TL_ALL_REDUCE, TL_NO_PEER, k * MS, k * MS + 500 * US);
    }
    CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
    CU_ASSERT_EQUAL(j.places[0].component, j.places[1].component);
    CU_ASSERT_EQUAL(j.places[2].component, j.places[3].component);
    CU_ASSERT_NOT_EQUAL(j.places[0].component, j.places[2].component);
}

/* A broadcast, an all-to-all and a collective in which sizes disagree say nothing of clocks. */
static void only_what_nobody_leaves_early_tells(void)
{
    static const tl_collective kinds[] = { TL_BROADCAST, TL_ALL_TO_ALL, TL_ALL_REDUCE };
    for (size_t k = 0; k < 3; k++) {
        begin(2, 1);
        j.key++;
        add(0, kinds[k], TL_NO_PEER, 0, MS);
        add(1, kinds[k], TL_NO_PEER, 9 * MS, 10 * MS);
        j.parts[0].bytes = 1024;
        j.parts[1].bytes = 2048;
        CU_ASSERT_EQUAL(find(TL_CLOCK_AUTO), TL_OK);
        CU_ASSERT_FALSE(j.places[1].applied);
    }
}

static void what_ends_differ_by_is_told(void)
{
    tl_clock_end ends[8];
    size_t n;
    begin(3, 0);
    j.key++;
    for (int32_t r = 0; r < 3; r++)
        add(r, TL_ALL_REDUCE, TL_NO_PEER, 0, MS + r * 30 * US);
    CU_ASSERT_TRUE(tl_clock_ends(j.parts, 3, ends, &n));
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT_EQUAL(ends[0].apart_ns, 30 * US);
    CU_ASSERT_EQUAL(ends[1].apart_ns, 0);
    CU_ASSERT_EQUAL(ends[2].apart_ns, 30 * US);
    tl_clock_scatter s = tl_clock_scatter_of(ends, 1);
    CU_ASSERT_EQUAL(s.sigma_ns, 44478);
    CU_ASSERT_EQUAL(s.ends, 1);
    j.parts[1].kind = TL_BROADCAST;
    CU_ASSERT_TRUE(tl_clock_ends(j.parts, 3, ends, &n));
    CU_ASSERT_EQUAL(n, 0);
}

/* The bound of a clock, or what ends leave open where that is less; ranks of unknown hosts may share a clock. */
static void what_is_in_doubt_stands_in_the_table(void)
{
    tl_table table = { .schema = &tl_clock_schema };
    const tl_clock_scatter scatter[] = { { .rank = 0, .ends = 4, .sigma_ns = 50 * US },
                                         { .rank = 1, .ends = 4, .sigma_ns = 70 * US } };
    tl_error err;
    begin(3, 1);
    for (int32_t i = 0; i < 3; i++) {
        CU_ASSERT_FATAL(tl_table_add(&table) != NULL);
        j.places[i].clock = i;
        j.places[i].sigma_ns = i == 0 ? 60 * US : i == 1 ? 40 * US : INT64_MAX;
    }
    CU_ASSERT_EQUAL(tl_clocks_fill(scatter, 2, j.places, 3, &table, &err), TL_OK);
    const tl_clock *rows = (const tl_clock *)(const void *)table.rows;
    CU_ASSERT_EQUAL(rows[0].bound_ns, 60 * US);
    CU_ASSERT_EQUAL(rows[0].sigma_ns, 50 * US);
    CU_ASSERT_EQUAL(rows[0].anchors, 4);
    CU_ASSERT_EQUAL(rows[1].sigma_ns, 40 * US);
    CU_ASSERT_EQUAL(rows[2].bound_ns, -1);
    CU_ASSERT_EQUAL(rows[2].sigma_ns, -1);
    CU_ASSERT_EQUAL(rows[2].anchors, 0);
    tl_table_free(&table);
}

/* Where memory is out it is said, and nothing is left behind. */
static void no_memory_is_told(void)
{
    begin(2, 1);
    j.ahead[1] = 7 * MS;
    wait_in_turn(20, 3 * MS, 100 * US);
    CU_ASSERT_FATAL(tl_participants_sort(j.parts, j.nparts));
    for (size_t n = 1; n <= 4; n++) {
        static const tl_clock_procs procs = { alone, alone };
        tl_error err;
        tl_mem_fail_after(n);
        CU_ASSERT_EQUAL(tl_clocks_find(j.parts, j.nparts, TL_CLOCK_AUTO, &procs, j.places, 2, &err), TL_ENOMEM);
        tl_mem_fail_after(0);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(ends_that_differ_are_no_offset),
        TEST(what_is_impossible_is_corrected),
        TEST(the_result_does_not_depend_on_the_offset),
        TEST(the_clock_error_is_forgiven),
        TEST(messages_bound_clocks_in_their_direction),
        TEST(where_bounds_are_wide_ends_tell),
        TEST(ranks_of_a_host_share_a_clock),
        TEST(a_rank_that_its_host_cannot_explain_gets_a_clock_of_its_own),
        TEST(a_drift_is_found_where_no_offset_fits),
        TEST(a_wrong_match_is_left_out),
        TEST(what_no_clock_explains_changes_none),
        TEST(a_forced_clock_goes_to_the_middle),
        TEST(clocks_that_nothing_compares_are_components),
        TEST(only_what_nobody_leaves_early_tells),
        TEST(what_ends_differ_by_is_told),
        TEST(what_is_in_doubt_stands_in_the_table),
        TEST(no_memory_is_told),
    };
    return unit_main("clocks", tests, COUNT(tests));
}
