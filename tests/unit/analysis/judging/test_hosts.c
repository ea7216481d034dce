/* test_hosts.c - whole hosts that come late, and hosts one of whose ranks does. */
#include "tlmpi/analysis/role.h"
#include "src/analysis/judging/hosts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/tables.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

enum { RANKS = 8, STEPS = 10 };

static tl_table ranks = { .schema = &tl_rank_schema }, stragglers = { .schema = &tl_straggler_schema };
static const int32_t numbers[RANKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static uint32_t host_of[RANKS];

/* Names "aabb": ranks 0 and 1 are of host a.  Digits are devices of ranks whose host no trace tells. */
static size_t hosts_of(const char *names)
{
    size_t n = strlen(names);
    tl_table_free(&ranks);
    for (size_t r = 0; r < n; r++) {
        tl_rank row = { .rank = (int32_t)r, .intervals = 1, .device = names[r] - '0' };
        if (names[r] >= 'a')
            row.host[0] = names[r];
        CU_ASSERT_FATAL(tl_table_append(&ranks, &row, 1));
    }
    return tl_hosts_of(&ranks, numbers, n, host_of);
}

static void hosts_have_names_or_count_their_devices(void)
{
    CU_ASSERT_EQUAL(hosts_of("aabbaacc"), 3);
    CU_ASSERT(host_of[0] == 0 && host_of[2] == 1 && host_of[4] == 0 && host_of[7] == 2);
    CU_ASSERT_EQUAL(hosts_of("01230123"), 2);
    CU_ASSERT(host_of[3] == 0 && host_of[4] == 1);
    CU_ASSERT_EQUAL(hosts_of("00000000"), 8); /* each sees its own device alone: no host to speak of */
    CU_ASSERT_EQUAL(hosts_of("0123/123"), 0); /* a device that is not known */
}

static int first_late = 0, last_late = STEPS - 1;
static double pause_ms;  /* of rank 6 in the third step, beside */
static int first_elsewhere = RANKS; /* this rank and those above it have their surplus in the other steps */
static double random_ms; /* of one rank after the other, in steps of its own */

/* Host b's repair gains so much of each step of 100 ms from first_late to last_late, each of its ranks alone so much.
 */
static size_t named(double together_ms, double alone_ms, const char *surplus)
{
    static tl_job_step steps[STEPS];
    double gain[RANKS * STEPS] = { 0 }, host_gain[2 * STEPS] = { 0 };
    int64_t surplus_ns[RANKS * STEPS] = { 0 };
    size_t n = 0;
    tl_error err;

    hosts_of("aaaabbbb");
    tl_table_free(&stragglers);
    for (int s = 0; s < STEPS; s++) {
        steps[s] = (tl_job_step){ s + 3, 100000000 };
        host_gain[s] = 1e5;
        gain[s % RANKS * STEPS + s] = random_ms * 1e6;
        if (s < first_late || s > last_late)
            continue;
        host_gain[STEPS + s] = together_ms * 1e6 + s % 3 * 1e4;
        for (int r = 4; r < RANKS; r++)
            gain[r * STEPS + s] = alone_ms * 1e6;
        if (s == 2) {
            gain[6 * STEPS + s] += pause_ms * 1e6;
            host_gain[STEPS + s] += pause_ms * 1e6;
        }
    }
    for (int r = 0; r < RANKS; r++) {
        tl_straggler row = { .rank = r };
        for (int s = 0; s < STEPS; s++)
            if ((s >= first_late && s <= last_late) == (r < first_elsewhere))
                surplus_ns[r * STEPS + s] = (surplus[r] - '0') * 10000000;
        CU_ASSERT_FATAL(tl_table_append(&stragglers, &row, 1));
    }
    const tl_verdict_input job = {
        .ranks = numbers, .nranks = RANKS, .steps = steps, .nsteps = STEPS, .gain_ns = gain
    };
    const tl_host_input input = { &job, &ranks, host_of, 2, host_gain, surplus_ns };
    CU_ASSERT_EQUAL_FATAL(tl_hosts_judge(&input, &stragglers, &err), TL_OK);
    for (size_t r = 0; r < RANKS; r++)
        n += ((const tl_straggler *)tl_table_row(&stragglers, r))->verdict == TL_VERDICT_STRAGGLER;
    return n;
}

static void ranks_that_are_late_alike_are_all_named(void)
{
    CU_ASSERT_EQUAL(named(9, 0.2, "01009998"), 4);
    const tl_straggler *row = tl_table_row(&stragglers, 5);
    CU_ASSERT_EQUAL(row->pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT(row->first_step == 3 && row->last_step == 12);
    CU_ASSERT(row->p_value < 0.01);
    CU_ASSERT_PTR_NOT_NULL(strstr(row->reason, "host b"));
}

/* Without the host's ranks one by one the job is as much shorter: they are not late alike. */
static void a_rank_alone_is_not_its_host(void)
{
    CU_ASSERT_EQUAL(named(9, 9.0 / 4, "01000090"), 0);
    CU_ASSERT_EQUAL(named(0.5, 0.01, "01009999"), 0); /* half a percent matters to nobody */
}

/* It costs as much as the host does in half of all steps, and the rank's device alone most of what that host's do. */
static void a_pause_of_one_rank_hides_no_slow_host(void)
{
    pause_ms = 45;
    CU_ASSERT_EQUAL(named(9, 0.2, "01003393"), 4);
    CU_ASSERT_EQUAL(named(0.5, 0.01, "01000090"), 0);
    pause_ms = 0;
}

/* Checkpoint of one rank, in the middle of some steps in which all of the host are late by a little. */
static void a_pause_of_one_rank_is_not_its_hosts(void)
{
    last_late = 3;
    pause_ms = 45;
    CU_ASSERT_EQUAL(named(2, 0.1, "01009998"), 0);
    pause_ms = 0;
    last_late = STEPS - 1;
}

static void who_is_not_late_is_not_named_with_its_host(void)
{
    CU_ASSERT_EQUAL(named(9, 0.2, "01009991"), 3);
    CU_ASSERT_EQUAL(((const tl_straggler *)tl_table_row(&stragglers, 7))->verdict, TL_VERDICT_OK);
}

/* A pause in one step of some of its ranks is theirs; that of all of them is the host's. */
static void in_one_step_or_two_most_of_a_host_is_late_or_it_is_chance(void)
{
    first_late = last_late = 4;
    CU_ASSERT_EQUAL(named(40, 0.2, "01009911"), 0);
    CU_ASSERT_EQUAL(named(40, 0.2, "01009991"), 0);
    CU_ASSERT_EQUAL(named(40, 0.2, "01009998"), 4);
    last_late = 5;
    CU_ASSERT_EQUAL(named(40, 0.2, "01009991"), 0);
    CU_ASSERT_EQUAL(named(40, 0.2, "01009998"), 4);
    last_late = 7;
    CU_ASSERT_EQUAL(named(40, 0.2, "01009911"), 2);
    first_late = 0;
    last_late = STEPS - 1;
}

static void who_had_more_to_do_in_other_steps_is_not_late_with_its_host(void)
{
    first_late = 4;
    last_late = 7;
    first_elsewhere = 6;
    CU_ASSERT_EQUAL(named(40, 0.2, "01009999"), 2);
    first_elsewhere = RANKS;
    CU_ASSERT_EQUAL(named(40, 0.2, "01009999"), 4);
    first_late = 0;
    last_late = STEPS - 1;
}

/* Batches of random length: the ranks of a host are late together now and then. */
static void what_single_ranks_are_late_by_is_a_hosts_noise(void)
{
    first_late = last_late = 4;
    CU_ASSERT_EQUAL(named(8, 0.2, "01009998"), 4);
    random_ms = 5;
    CU_ASSERT_EQUAL(named(8, 0.2, "01009998"), 0);
    random_ms = 0;
    first_late = 0;
    last_late = STEPS - 1;
}

/* Ranks 1 and 3 hide each other: a unit, every other rank another. */
static void ranks_of_no_host_are_named_alike(void)
{
    static const uint32_t unit_of[RANKS] = { 1, 0, 2, 0, 3, 4, 5, 6 };
    static tl_job_step steps[STEPS];
    double gain[RANKS * STEPS] = { 0 }, unit_gain[(RANKS - 1) * STEPS] = { 0 };
    tl_error err;

    tl_table_free(&stragglers);
    for (int s = 0; s < STEPS; s++) {
        steps[s] = (tl_job_step){ s, 100000000 };
        unit_gain[s] = 8e6 + s % 3 * 1e4;
        gain[1 * STEPS + s] = 1e6;
    }
    for (int r = 0; r < RANKS; r++)
        CU_ASSERT_FATAL(tl_table_append(&stragglers, &(tl_straggler){ .rank = r }, 1));
    const tl_verdict_input job = {
        .ranks = numbers, .nranks = RANKS, .steps = steps, .nsteps = STEPS, .gain_ns = gain
    };
    const tl_host_input input = { &job, NULL, unit_of, RANKS - 1, unit_gain, NULL };
    CU_ASSERT_EQUAL_FATAL(tl_hosts_judge(&input, &stragglers, &err), TL_OK);
    for (size_t r = 0; r < RANKS; r++) {
        const tl_straggler *row = tl_table_row(&stragglers, r);
        CU_ASSERT_EQUAL(row->verdict, r == 1 || r == 3 ? TL_VERDICT_STRAGGLER : TL_VERDICT_OK);
    }
    const tl_straggler *row = tl_table_row(&stragglers, 3);
    CU_ASSERT(row->first_step == 0 && row->last_step == STEPS - 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(row->reason, "one of 2 ranks that are late alike, together 80."));
}

static void without_memory_it_says_so(void)
{
    double gain[RANKS * STEPS] = { 0 };
    int64_t surplus_ns[RANKS * STEPS] = { 0 };
    tl_job_step steps[STEPS];
    tl_error err;
    bool failed = true;
    hosts_of("aaaabbbb");
    for (int s = 0; s < STEPS; s++)
        steps[s] = (tl_job_step){ s, 1000 };
    const tl_verdict_input job = {
        .ranks = numbers, .nranks = RANKS, .steps = steps, .nsteps = STEPS, .gain_ns = gain
    };
    const tl_host_input input = { &job, &ranks, host_of, 2, gain, surplus_ns };
    for (size_t n = 1; failed && n < 100; n++) {
        tl_mem_fail_after(n);
        failed = tl_hosts_judge(&input, &stragglers, &err) == TL_ENOMEM;
        tl_mem_fail_after(0);
    }
    CU_ASSERT_FALSE(failed);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(hosts_have_names_or_count_their_devices),
        TEST(ranks_that_are_late_alike_are_all_named),
        TEST(a_rank_alone_is_not_its_host),
        TEST(a_pause_of_one_rank_hides_no_slow_host),
        TEST(a_pause_of_one_rank_is_not_its_hosts),
        TEST(who_is_not_late_is_not_named_with_its_host),
        TEST(in_one_step_or_two_most_of_a_host_is_late_or_it_is_chance),
        TEST(who_had_more_to_do_in_other_steps_is_not_late_with_its_host),
        TEST(what_single_ranks_are_late_by_is_a_hosts_noise),
        TEST(ranks_of_no_host_are_named_alike),
        TEST(without_memory_it_says_so),
    };
    int failed = unit_main("hosts", tests, COUNT(tests));
    tl_table_free(&ranks);
    tl_table_free(&stragglers);
    return failed;
}
