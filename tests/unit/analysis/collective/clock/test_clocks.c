/* test_clocks.c - clocks are corrected where they are impossible, and only there. */
#include "clock_job.h"

#define SEC INT64_C(1000000000)

/* An all-reduce of all ranks, who arrive at these times; the transfer takes each as long. */
static void meet_at(const int64_t *start_ns, int64_t transfer_ns)
{
    int64_t last_ns = INT64_MIN;
    j.key++;
    for (size_t i = 0; i < j.nrank_clocks; i++)
        last_ns = start_ns[i] > last_ns ? start_ns[i] : last_ns;
    for (size_t i = 0; i < j.nrank_clocks; i++)
        add((int32_t)i, TL_ALL_REDUCE, TL_NO_PEER, start_ns[i], last_ns + transfer_ns);
}

static void send_at(int32_t from, int32_t to, int64_t sent_ns, int64_t send_end_ns, int64_t recv_ns,
                    int64_t recv_end_ns)
{
    j.key++;
    add(from, TL_SEND, to, sent_ns, send_end_ns);
    add(to, TL_RECV, from, recv_ns, recv_end_ns);
}

/* By how much a rank's clock is still ahead of rank 0's, at a time. */
static int64_t left_at(int32_t rank, int64_t ns)
{
    return tl_clock_correct(&j.rank_clocks[rank], shown(rank, ns)) - tl_clock_correct(&j.rank_clocks[0], shown(0, ns));
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
    find(TL_CLOCK_AUTO);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_FALSE(j.rank_clocks[i].applied);
        CU_ASSERT_EQUAL(j.rank_clocks[i].clock, (int32_t)i);
        CU_ASSERT_EQUAL(j.rank_clocks[i].component, 0);
    }
}

/* Rank 1 never seems to wait for rank 0, for its kernels have lost their durations. */
static void work_of_no_length_says_nothing_of_clocks(void)
{
    begin(2, 1);
    for (int k = 0; k < 20; k++) {
        int64_t at = (k + 1) * 10 * MS;
        j.key++;
        add(0, TL_ALL_REDUCE, TL_NO_PEER, at + 3 * MS, at + 4 * MS);
        add(1, TL_ALL_REDUCE, TL_NO_PEER, at, k % 4 == 0 ? at : at + 4 * MS);
    }
    find(TL_CLOCK_AUTO);
    CU_ASSERT_FALSE(j.rank_clocks[0].applied);
    CU_ASSERT_FALSE(j.rank_clocks[1].applied);
}

static void what_is_impossible_is_corrected(void)
{
    begin(2, 1);
    j.ahead[1] = 7 * MS;
    wait_in_turn(20, 3 * MS, 100 * US);
    find(TL_CLOCK_AUTO);
    CU_ASSERT_TRUE(j.rank_clocks[1].applied);
    CU_ASSERT_FALSE(j.rank_clocks[0].applied); /* of two the lower is right */
    check_left(1, 100 * MS, 10 * US);
    CU_ASSERT_TRUE(j.rank_clocks[1].sigma_ns <= 10 * US); /* a part of the transfer */

    j.rank_clocks[1].applied = 0;
    find(TL_CLOCK_NONE);
    CU_ASSERT_FALSE(j.rank_clocks[1].applied);
    CU_ASSERT_TRUE(llabs(j.rank_clocks[1].offset_ns - 7 * MS) <= 10 * US); /* told all the same */
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
        find(TL_CLOCK_AUTO);
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
    find(TL_CLOCK_AUTO);
    CU_ASSERT_FALSE(j.rank_clocks[1].applied);
    j.key++;
    add(0, TL_ALL_REDUCE, TL_NO_PEER, 4 * MS, 5 * MS);
    add(1, TL_ALL_REDUCE, TL_NO_PEER, 5 * MS + TL_CLOCK_ERROR_NS + 1, 6 * MS);
    find(TL_CLOCK_AUTO);
    CU_ASSERT_TRUE(j.rank_clocks[1].applied);
}

/* Nothing is received before it is sent; that it was sent before anybody asked for it says nothing. */
static void messages_bound_clocks_in_their_direction(void)
{
    begin(2, 1);
    send_at(0, 1, 0, MS, 5 * MS, 6 * MS);
    find(TL_CLOCK_AUTO);
    CU_ASSERT_FALSE(j.rank_clocks[1].applied);
    CU_ASSERT_EQUAL(j.rank_clocks[1].sigma_ns, INT64_MAX);

    begin(2, 1);
    j.ahead[1] = -4 * MS;
    for (int k = 0; k < 10; k++) {
        send_at(0, 1, k * 10 * MS, k * 10 * MS + MS, k * 10 * MS - MS, k * 10 * MS + MS);
        send_at(1, 0, k * 10 * MS + 5 * MS, k * 10 * MS + 6 * MS, k * 10 * MS + 4 * MS, k * 10 * MS + 6 * MS);
    }
    find(TL_CLOCK_AUTO);
    check_left(1, 0, 10 * US);
    CU_ASSERT_TRUE(j.rank_clocks[1].sigma_ns <= 100 * US);
}

/* Rank 1 is always last, by 30 ms: its clock may be 30 ms ahead, as far as waiting tells.  But all leave together. */
static void where_bounds_are_wide_ends_tell(void)
{
    begin(2, 1);
    j.ahead[1] = -2 * MS;
    for (int k = 0; k < 20; k++)
        meet_at((const int64_t[]){ k * 50 * MS, k * 50 * MS + 30 * MS }, 200 * US);
    find(TL_CLOCK_AUTO);
    CU_ASSERT_FALSE(j.rank_clocks[1].applied); /* it seems to wait less, but nothing is impossible */

    begin(2, 1);
    j.ahead[1] = 2 * MS;
    for (int k = 0; k < 20; k++)
        meet_at((const int64_t[]){ k * 50 * MS, k * 50 * MS + 30 * MS }, 200 * US);
    find(TL_CLOCK_AUTO);
    CU_ASSERT_TRUE(j.rank_clocks[1].applied);
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
    find(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(j.rank_clocks[1].clock, j.rank_clocks[0].clock);
    CU_ASSERT_EQUAL(j.rank_clocks[3].clock, j.rank_clocks[2].clock);
    CU_ASSERT_EQUAL(j.rank_clocks[2].offset_ns, j.rank_clocks[3].offset_ns);
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
    find(TL_CLOCK_AUTO);
    CU_ASSERT_NOT_EQUAL(j.rank_clocks[2].clock, j.rank_clocks[0].clock);
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
    find(TL_CLOCK_AUTO);
    for (int64_t at = 0; at <= 2 * SEC; at += SEC / 2)
        check_left(1, at, 40 * US);
    CU_ASSERT_TRUE(llabs(llabs(j.rank_clocks[1].drift_ppb) - 100000) < 5000);
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
    find(TL_CLOCK_AUTO);
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
    find(TL_CLOCK_AUTO);
    CU_ASSERT_FALSE(j.rank_clocks[0].applied);
    CU_ASSERT_FALSE(j.rank_clocks[1].applied);
    CU_ASSERT_TRUE(j.rank_clocks[1].sigma_ns >= SEC);
}

static void a_forced_clock_goes_to_the_middle(void)
{
    begin(2, 1);
    j.ahead[1] = 300 * US;
    wait_in_turn(20, 3 * MS, 400 * US);
    find(TL_CLOCK_AUTO);
    CU_ASSERT_FALSE(j.rank_clocks[1].applied);
    find(TL_CLOCK_FORCE);
    CU_ASSERT_TRUE(j.rank_clocks[1].applied);
    check_left(1, 0, 10 * US);
}

/* Two hosts, both of which wait more than their clocks are apart by: no time is impossible, but all ranks of the one end
 * as much after those of the other. */
static void hosts_whose_ends_agree_on_an_offset_are_corrected(void)
{
    for (int k = 0; k < 2; k++) {
        begin(8, 4);
        for (int32_t r = 4; r < 8; r++)
            j.ahead[r] = k == 0 ? 375 * US : 0;
        for (int n = 0; n < 40; n++) {
            int64_t at = n * 10 * MS, starts[8];
            for (int r = 0; r < 8; r++)
                starts[r] = at + (n * 5 + r * 3) % 8 * 200 * US;
            meet_at(starts, 500 * US);
        }
        for (size_t i = 0; i < j.nparticipants; i++) /* by their place in the ring */
            j.participants[i].end_ns += j.participants[i].rank % 4 * 10 * US;
        find(TL_CLOCK_AUTO);
        CU_ASSERT_EQUAL(j.rank_clocks[4].applied, k == 0);
        check_left(4, 0, k == 0 ? 25 * US : 0);
        CU_ASSERT_TRUE(j.rank_clocks[4].sigma_ns >= 10 * US);
        CU_ASSERT_TRUE(j.rank_clocks[4].sigma_ns <= 60 * US);
    }
}

/* Pairs that meet often and shortly, tied to the others by long collectives alone; rank 5 is always last, and its ends
 * scatter by 2 us as all do. */
static void who_is_always_last_does_not_pull_its_clock(void)
{
    begin(8, 8);
    for (int32_t r = 0; r < 8; r++)
        j.ahead[r] = (r * 7919) % 13 * 500 * US;
    for (int n = 0; n < 60; n++) {
        int64_t at = n * 4 * MS, last_ns = at + 2 * MS;
        for (int32_t pair = 0; pair < 4; pair++, j.key++)
            for (int32_t r = 2 * pair; r < 2 * pair + 2; r++)
                add(r, TL_ALL_REDUCE, TL_NO_PEER, at + (r == 5 ? 1000 : 20 + (n * 3 + r) % 5 * 10) * US,
                    at + (pair == 2 ? 1040 : 100) * US + (n * 7 + r * 5) % 4 * US);
        for (int32_t odd = 0; odd < 2; odd++, j.key++)
            for (int32_t r = odd; r < 8; r += 2)
                add(r, TL_ALL_REDUCE, TL_NO_PEER, r / 2 == 2 ? last_ns : at + MS + (n + r) % 3 * 50 * US,
                    last_ns + 400 * US + (n * 5 + r * 3) % 4 * US);
    }
    find(TL_CLOCK_AUTO);
    for (int32_t r = 1; r < 8; r++) {
        check_left(r, 100 * MS, 3 * US);
        CU_ASSERT_TRUE(j.rank_clocks[r].sigma_ns <= 50 * US);
    }
}

/* One clock of four is set forward by 3 ms in the middle; the others are not. */
static void a_clock_that_steps_is_found(void)
{
    begin(4, 0);
    for (int32_t r = 0; r < 4; r++)
        j.ahead[r] = r * 700 * US;
    j.step[2] = 3 * MS;
    j.step_at_ns = 204 * MS;
    for (int n = 0; n < 40; n++) {
        int64_t at = n * 10 * MS, starts[4];
        for (int r = 0; r < 4; r++)
            starts[r] = at + (n * 13 + r * 29) % 10 * 100 * US;
        meet_at(starts, 100 * US);
    }
    find(TL_CLOCK_AUTO);
    for (int32_t r = 1; r < 4; r++) {
        check_left(r, 100 * MS, 10 * US);
        check_left(r, 300 * MS, 10 * US);
        CU_ASSERT_EQUAL(j.rank_clocks[r].step_ns != 0, r == 2);
    }
    CU_ASSERT_TRUE(llabs(j.rank_clocks[2].step_ns - 3 * MS) <= 10 * US);
    CU_ASSERT_TRUE(llabs(j.rank_clocks[2].step_at_ns - shown(2, 203 * MS)) <= 3 * MS);
}

/* Eight ranks that come unequally late to a collective every 10 ms, which takes 2 ms; their ends scatter by 3 us. */
static void meet_often(int n, int64_t transfer_ns)
{
    for (int k = 0; k < n; k++, j.key++)
        for (int r = 0; r < 8; r++) {
            int64_t at = k * 10 * MS, came = (k * 13 + r * 29) % 10 * 100 * US;
            add(r, TL_ALL_REDUCE, TL_NO_PEER, at + came, at + MS + transfer_ns + (k * 5 + r * 7) % 4 * US);
        }
}

/* Both hosts are right until the one's clock is set back by 400 us; long transfers do not hide that. */
static void a_step_of_a_host_is_found_whatever_transfers_take(void)
{
    for (int k = 0; k < 3; k++) {
        begin(8, k == 1 ? 0 : 4);
        for (int32_t r = 4; r < 8; r++)
            j.step[r] = k < 2 ? -400 * US : 0;
        j.step_at_ns = 204 * MS;
        meet_often(40, 20 * MS);
        find(TL_CLOCK_AUTO);
        for (int32_t r = 1; r < 8; r++) {
            check_left(r, 100 * MS, 15 * US);
            check_left(r, 300 * MS, 15 * US);
        }
        CU_ASSERT_EQUAL(j.rank_clocks[0].step_ns != j.rank_clocks[7].step_ns, k < 2);
    }
}

/* 50 ppm over 2 s, and 300 us at once. */
static void a_step_is_found_beside_a_drift(void)
{
    begin(8, 4);
    for (int32_t r = 4; r < 8; r++) {
        j.drift[r] = 5e-5;
        j.step[r] = 300 * US;
    }
    j.step_at_ns = 1304 * MS;
    meet_often(200, 100 * US);
    find(TL_CLOCK_AUTO);
    for (int64_t at = 0; at <= 2 * SEC; at += SEC / 4)
        check_left(5, at, 10 * US);
}

/* Ranks that miss a collective meet in ties of their own: too few ends to tell of a step are no sign that there is none. */
static void who_meets_once_says_nothing_of_a_step(void)
{
    begin(8, 4);
    for (int32_t r = 4; r < 8; r++)
        j.step[r] = 460 * US;
    j.step_at_ns = 204 * MS;
    meet_often(40, 190 * US);
    for (int k = 2; k < 7; k++, j.key++)
        for (int32_t r = 0; r < k; r++)
            add(r, TL_ALL_REDUCE, TL_NO_PEER, k * 10 * MS + 5 * MS, k * 10 * MS + 6 * MS);
    find(TL_CLOCK_AUTO);
    CU_ASSERT_TRUE(j.rank_clocks[4].applied);
    CU_ASSERT_TRUE(llabs(j.rank_clocks[4].step_ns - 460 * US) <= 5 * US);
}

/* A link that slows down in the middle makes one rank leave late, and takes all longer: no clock steps. */
static void a_transfer_that_changes_is_no_step(void)
{
    begin(8, 0);
    for (int k = 0; k < 40; k++, j.key++)
        for (int r = 0; r < 8; r++) {
            int64_t slow_ns = k >= 20 ? 500 * US : 0;
            add(r, TL_ALL_REDUCE, TL_NO_PEER, k * 10 * MS + (r == k % 8 ? MS : 0),
                k * 10 * MS + 4 * MS + slow_ns + (r == 3 ? slow_ns / 2 : 0) + (k * 5 + r * 7) % 4 * US);
        }
    find(TL_CLOCK_AUTO);
    for (int32_t r = 0; r < 8; r++) {
        CU_ASSERT_FALSE(j.rank_clocks[r].applied);
        CU_ASSERT_EQUAL(j.rank_clocks[r].step_ns, 0);
    }
}

/* The clock of one host steps twice: the larger step is taken off, and for the other the clock is unsure. */
static void a_second_step_is_doubt(void)
{
    begin(8, 4);
    for (int32_t r = 4; r < 8; r++)
        j.step[r] = 2 * MS;
    j.step_at_ns = 104 * MS;
    meet_often(40, 100 * US);
    for (size_t i = 0; i < j.nparticipants; i++) { /* and back by 800 us */
        tl_participant *p = &j.participants[i];
        int64_t back_ns = p->rank >= 4 && p->start_ns > 304 * MS ? 800 * US : 0;
        p->start_ns -= back_ns;
        p->end_ns -= back_ns;
    }
    find(TL_CLOCK_AUTO);
    CU_ASSERT_TRUE(llabs(j.rank_clocks[4].step_ns) >= MS);
    CU_ASSERT_TRUE(j.rank_clocks[4].sigma_ns >= 300 * US);
}

/* All-to-alls of two hosts of two ranks, whose clocks are 2 ms apart; in every one another rank comes 1 ms late.  `early`:
 * rank 1 gets nothing of rank 0, and leaves before it comes. */
static void exchange(bool early)
{
    begin(4, 2);
    j.ahead[2] = j.ahead[3] = 2 * MS;
    for (int n = 0; n < 40; n++) {
        int64_t at = (n + 1) * 10 * MS;
        j.key++;
        for (int32_t r = 0; r < 4; r++) {
            int64_t start_ns = at + (r == n % 4 ? MS : r * 10 * US);
            add(r, TL_ALL_TO_ALL, TL_NO_PEER, start_ns, at + (early && r == 1 && n % 4 == 0 ? 200 * US : MS + 60 * US));
        }
    }
    find(TL_CLOCK_AUTO);
}

static void all_to_alls_that_no_rank_leaves_early_compare_clocks(void)
{
    exchange(false);
    CU_ASSERT_TRUE(j.group.stays);
    CU_ASSERT_TRUE(j.rank_clocks[2].applied);
    check_left(2, 100 * MS, 60 * US);
    check_left(3, 100 * MS, 60 * US);
    CU_ASSERT_EQUAL(j.rank_clocks[2].component, 0);
}

static void all_to_alls_that_a_rank_leaves_early_do_not(void)
{
    exchange(true);
    CU_ASSERT_FALSE(j.group.stays);
    CU_ASSERT_FALSE(j.rank_clocks[2].applied);
    CU_ASSERT_NOT_EQUAL(j.rank_clocks[2].component, 0);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(ends_that_differ_are_no_offset),
        TEST(work_of_no_length_says_nothing_of_clocks),
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
        TEST(hosts_whose_ends_agree_on_an_offset_are_corrected),
        TEST(who_is_always_last_does_not_pull_its_clock),
        TEST(a_clock_that_steps_is_found),
        TEST(a_step_of_a_host_is_found_whatever_transfers_take),
        TEST(a_step_is_found_beside_a_drift),
        TEST(who_meets_once_says_nothing_of_a_step),
        TEST(a_transfer_that_changes_is_no_step),
        TEST(a_second_step_is_doubt),
        TEST(all_to_alls_that_no_rank_leaves_early_compare_clocks),
        TEST(all_to_alls_that_a_rank_leaves_early_do_not),
    };
    return unit_main("clocks", tests, COUNT(tests));
}
