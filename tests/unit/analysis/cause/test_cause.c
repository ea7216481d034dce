/* test_cause.c - why a rank is late, from what it and its peers did. */
#include "tlmpi/analysis/cause.h"
#include "tlmpi/base/mem.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)

/* Rank 0 is the suspect, 1 to 3 are its peers. */
enum { NRANKS = 4, ROWS_MOST = 128 };

typedef struct story {
    tl_cause_row rows[ROWS_MOST];
    size_t n;
    int64_t gain_us; /* of the suspect's repair; 0: not known */
} story;

static tl_cause_row *row_of(story *s, int32_t rank, tl_detail_kind kind, tl_activity_kind activity, uint64_t name, int64_t us)
{
    tl_cause_row *row = &s->rows[s->n++];
    *row = (tl_cause_row){
        .name = name, .ns = us * US, .rank = rank, .count = 1, .kind = (uint8_t)kind, .activity = (uint8_t)activity
    };
    return row;
}

/* The time of one activity: the suspect's, and its peers'; and what their hosts did for it, seen by the device or
 * not. */
static void part_of_host(story *s, tl_activity_kind activity, int64_t own_us, int64_t peers_us, int64_t own_host_us, int64_t peers_host_us)
{
    for (int32_t rank = 0; rank < NRANKS; rank++) {
        tl_cause_row *row = row_of(s, rank, TL_DETAIL_ACTIVITY, activity, 0, rank == 0 ? own_us : peers_us + (rank - 2));
        row->size = (rank == 0 ? own_host_us : peers_host_us) * US;
        row->count = 0;
    }
}

static void activity(story *s, tl_activity_kind activity, int64_t own_us, int64_t peers_us)
{
    part_of_host(s, activity, own_us, peers_us, own_us, peers_us);
}

/* A kernel: time of all of them, and how many. */
static void kernel(story *s, uint64_t name, int64_t own_us, uint32_t own_count, int64_t peers_us, uint32_t peers_count)
{
    for (int32_t rank = 0; rank < NRANKS; rank++) {
        tl_cause_row *row = row_of(s, rank, TL_DETAIL_WORK, TL_ACTIVITY_COMPUTE, name, rank == 0 ? own_us : peers_us);
        row->count = rank == 0 ? own_count : peers_count;
        row->size = 100 * (int64_t)row->count;
    }
}

/* A name of the host with idle time, which its peers do not have. */
static void span(story *s, uint64_t name, int64_t us, uint32_t depth, tl_activity_kind stands_for)
{
    row_of(s, 0, TL_DETAIL_HOST, stands_for, name, us)->depth = depth;
}

static tl_cause_found found(story *s)
{
    tl_cause_found out;
    CU_ASSERT_TRUE_FATAL(tl_cause_find(s->rows, s->n, 0, NRANKS - 1, s->gain_us * US, &out));
    return out;
}

static void few_kernels_longer_are_slow_at_their_place(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_COMPUTE, 1300, 1000);
    activity(&s, TL_ACTIVITY_COMM, 100, 400);
    kernel(&s, 1, 700, 10, 400, 10);
    kernel(&s, 2, 300, 10, 300, 10);
    kernel(&s, 3, 300, 10, 300, 10);
    tl_cause_found f = found(&s);
    CU_ASSERT_TRUE(f.found);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_COMPUTE_SLOW);
    CU_ASSERT_EQUAL(f.place, 1);
    CU_ASSERT_EQUAL(f.ns, 300 * US);
    CU_ASSERT_EQUAL(f.awaited_ns, 300 * US);
    CU_ASSERT_DOUBLE_EQUAL(f.share, 1, 1e-9);
}

static void all_kernels_longer_are_throttled(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_COMPUTE, 1240, 1000);
    kernel(&s, 1, 520, 10, 400, 10);
    kernel(&s, 2, 390, 10, 300, 10);
    kernel(&s, 3, 330, 10, 300, 10); /* what waits for memory feels less of it */
    tl_cause_found f = found(&s);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_THROTTLED);
    CU_ASSERT_EQUAL(f.place, 0);
}

static void more_kernels_are_more_work(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_COMPUTE, 1300, 1000);
    kernel(&s, 1, 700, 14, 500, 10);
    kernel(&s, 2, 600, 12, 500, 10);
    CU_ASSERT_EQUAL(found(&s).cause, TL_CAUSE_MORE_WORK);
    s.n = 0;
    activity(&s, TL_ACTIVITY_COMPUTE, 1300, 1000);
    kernel(&s, 1, 500, 10, 500, 10);
    kernel(&s, 2, 500, 10, 500, 10);
    row_of(&s, 0, TL_DETAIL_WORK, TL_ACTIVITY_COMPUTE, 3, 300); /* one that its peers do not have at all */
    CU_ASSERT_EQUAL(found(&s).cause, TL_CAUSE_MORE_WORK);
}

static void larger_grids_are_more_work(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_COMPUTE, 1300, 1000);
    kernel(&s, 1, 780, 10, 600, 10);
    kernel(&s, 2, 520, 10, 400, 10);
    for (size_t i = 0; i < s.n; i++)
        if (s.rows[i].rank == 0)
            s.rows[i].size = s.rows[i].size * 13 / 10;
    CU_ASSERT_EQUAL(found(&s).cause, TL_CAUSE_MORE_WORK);
    /* A little larger than usual, which explains nothing. */
    for (size_t i = 0; i < s.n; i++)
        if (s.rows[i].rank == 0)
            s.rows[i].size = s.rows[i].size * 101 / 130;
    CU_ASSERT_EQUAL(found(&s).cause, TL_CAUSE_THROTTLED);
}

static void larger_messages_are_more_work(void)
{
    for (int64_t own = 100; own <= 130; own += 30) {
        story s = { .n = 0 };
        activity(&s, TL_ACTIVITY_COMPUTE, 1300, 1000);
        kernel(&s, 1, 780, 10, 600, 10);
        kernel(&s, 2, 520, 10, 400, 10);
        for (int32_t rank = 0; rank < NRANKS; rank++)
            row_of(&s, rank, TL_DETAIL_COMM, TL_ACTIVITY_COMM, 7, 50)->size = rank == 0 ? own : 100 + rank;
        CU_ASSERT_EQUAL(found(&s).cause, own == 130 ? TL_CAUSE_MORE_WORK : TL_CAUSE_THROTTLED);
    }
}

static void copies_have_their_name(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_COMPUTE, 1000, 1000);
    activity(&s, TL_ACTIVITY_H2D, 400, 100);
    for (int32_t rank = 0; rank < NRANKS; rank++)
        row_of(&s, rank, TL_DETAIL_WORK, TL_ACTIVITY_H2D, 5, rank == 0 ? 400 : 100);
    tl_cause_found f = found(&s);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_H2D);
    CU_ASSERT_EQUAL(f.place, 5);
}

static void the_place_is_the_innermost_that_covers_most(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_HOST, 1000, 0);
    span(&s, 1, 1000, 0, TL_ACTIVITY_HOST); /* step */
    span(&s, 2, 900, 1, TL_ACTIVITY_HOST);  /* forward */
    span(&s, 3, 850, 2, TL_ACTIVITY_HOST);  /* sparse */
    span(&s, 4, 500, 3, TL_ACTIVITY_HOST);  /* half of it */
    tl_cause_found f = found(&s);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_HOST_LATE);
    CU_ASSERT_EQUAL(f.place, 3);
    s.n = 0;
    activity(&s, TL_ACTIVITY_HOST, 1000, 0);
    span(&s, 1, 300, 0, TL_ACTIVITY_HOST);
    CU_ASSERT_EQUAL(found(&s).place, 0); /* nothing stands out */
}

static void idle_time_is_what_the_host_did(void)
{
    static const struct {
        tl_activity_kind activity;
        tl_cause cause;
    } cases[] = { { TL_ACTIVITY_GC, TL_CAUSE_GC },
                  { TL_ACTIVITY_INPUT, TL_CAUSE_INPUT },
                  { TL_ACTIVITY_ALLOCATOR, TL_CAUSE_ALLOCATOR },
                  { TL_ACTIVITY_SYNC, TL_CAUSE_SYNC_DRAIN } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        story s = { .n = 0 };
        activity(&s, cases[i].activity, 700, 0);
        activity(&s, TL_ACTIVITY_HOST, 300, 0); /* what follows from it */
        span(&s, 1, 1000, 0, TL_ACTIVITY_HOST);
        span(&s, 2, 690, 4, cases[i].activity);
        span(&s, 3, 690, 5, cases[i].activity);
        s.rows[s.n - 1].frame = 1; /* an operator's name says more */
        tl_cause_found f = found(&s);
        CU_ASSERT_EQUAL(f.cause, cases[i].cause);
        CU_ASSERT_EQUAL(f.place, 2);
        CU_ASSERT_DOUBLE_EQUAL(f.share, 1, 1e-9);
    }
}

/* The peers allocate as long, but their devices have work meanwhile. */
static void what_peers_do_under_cover_is_no_cause(void)
{
    story s = { .n = 0 };
    part_of_host(&s, TL_ACTIVITY_ALLOCATOR, 900, 0, 5000, 5000);
    activity(&s, TL_ACTIVITY_HOST, 100, 0);
    span(&s, 1, 1000, 0, TL_ACTIVITY_HOST);
    span(&s, 2, 900, 4, TL_ACTIVITY_ALLOCATOR);
    CU_ASSERT_EQUAL(found(&s).cause, TL_CAUSE_HOST_LATE);
    for (size_t i = 0; i < s.n; i++) /* as long, and a bit */
        if (s.rows[i].rank == 0 && s.rows[i].kind == TL_DETAIL_ACTIVITY && s.rows[i].activity == TL_ACTIVITY_ALLOCATOR)
            s.rows[i].size += 850 * US;
    CU_ASSERT_EQUAL(found(&s).cause, TL_CAUSE_ALLOCATOR);
}

static void a_wait_that_peers_do_not_have_is_a_drain(void)
{
    for (uint32_t own = 1; own <= 2; own++) {
        story s = { .n = 0 };
        activity(&s, TL_ACTIVITY_HOST, 500, 0);
        span(&s, 1, 500, 0, TL_ACTIVITY_HOST);
        for (int32_t rank = 0; rank < NRANKS; rank++)
            row_of(&s, rank, TL_DETAIL_WAIT, TL_ACTIVITY_SYNC, 9, rank == 0 ? 480 : 0)->count = rank == 0 ? own : 1;
        tl_cause_found f = found(&s);
        CU_ASSERT_EQUAL(f.cause, own == 2 ? TL_CAUSE_SYNC_DRAIN : TL_CAUSE_HOST_LATE);
        CU_ASSERT_EQUAL(f.place, own == 2 ? 9 : 1);
    }
}

/* Who waits as often as its peers and is idle after that for longer needs longer to launch again. */
static void what_is_idle_behind_waits_that_all_have_is_the_hosts(void)
{
    for (uint32_t own = 3; own <= 4; own++) {
        story s = { .n = 0 };
        activity(&s, TL_ACTIVITY_SYNC, 900, 300);
        activity(&s, TL_ACTIVITY_HOST, 400, 200);
        for (int32_t rank = 0; rank < NRANKS; rank++)
            row_of(&s, rank, TL_DETAIL_WAIT, TL_ACTIVITY_SYNC, 9, rank == 0 ? 300 : 100)->count = rank == 0 ? own : 3;
        CU_ASSERT_EQUAL(found(&s).cause, own == 3 ? TL_CAUSE_HOST_LATE : TL_CAUSE_SYNC_DRAIN);
    }
}

static void of_waits_before_one_gap_the_longest_counts(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_HOST, 500, 0);
    row_of(&s, 0, TL_DETAIL_WAIT, TL_ACTIVITY_ALLOCATOR, 1, 480)->size = 5;
    row_of(&s, 0, TL_DETAIL_WAIT, TL_ACTIVITY_ALLOCATOR, 2, 480)->size = 900;
    row_of(&s, 0, TL_DETAIL_WAIT, TL_ACTIVITY_ALLOCATOR, 3, 480)->size = 7;
    tl_cause_found f = found(&s);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_ALLOCATOR);
    CU_ASSERT_EQUAL(f.place, 2);
}

static void two_of_a_size_are_mixed(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_COMPUTE, 1500, 1000);
    activity(&s, TL_ACTIVITY_HOST, 400, 0);
    kernel(&s, 1, 1500, 10, 1000, 10);
    tl_cause_found f = found(&s);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_MIXED);
    CU_ASSERT_DOUBLE_EQUAL(f.share, 500.0 / 900, 1e-9);
}

/* A copy of 100 us keeps its host from launching ahead, as its peers' do while they wait: what is idle after it gains
 * nothing more.  Two causes gain what both are. */
static void a_lost_lead_is_no_cause(void)
{
    for (int i = 0; i < 3; i++) {
        story s = { .n = 0, .gain_us = i == 0 ? 105 : i == 1 ? 180 : 0 };
        activity(&s, TL_ACTIVITY_COMPUTE, 1000, 1001);
        activity(&s, TL_ACTIVITY_H2D, 200, 100);
        activity(&s, TL_ACTIVITY_HOST, 380, 300);
        activity(&s, TL_ACTIVITY_COMM, 100, 280);
        tl_cause_found f = found(&s);
        CU_ASSERT_EQUAL(f.cause, i == 0 ? TL_CAUSE_H2D : TL_CAUSE_MIXED);
        CU_ASSERT_DOUBLE_EQUAL(f.share, i == 0 ? 100. / 105 : 100. / 180, 1e-2);
    }
}

/* So does a host that waits for its data; of what little is known nothing follows. */
static void who_waits_for_data_loses_its_lead_too(void)
{
    for (int i = 0; i < 2; i++) {
        story s = { .n = 0, .gain_us = 110 };
        activity(&s, TL_ACTIVITY_INPUT, i == 0 ? 120 : 40, 20);
        activity(&s, TL_ACTIVITY_HOST, 430, 300);
        activity(&s, TL_ACTIVITY_COMM, 100, i == 0 ? 330 : 250);
        CU_ASSERT_EQUAL(found(&s).cause, i == 0 ? TL_CAUSE_INPUT : TL_CAUSE_HOST_LATE);
    }
}

/* What the host did is not cut for the sake of a little work, however little its repair gains beside another's. */
static void little_work_takes_no_lead(void)
{
    story s = { .n = 0, .gain_us = 20 };
    activity(&s, TL_ACTIVITY_COMPUTE, 1020, 1000);
    activity(&s, TL_ACTIVITY_HOST, 500, 300);
    activity(&s, TL_ACTIVITY_COMM, 100, 320);
    CU_ASSERT_EQUAL(found(&s).cause, TL_CAUSE_HOST_LATE);
}

/* A host that launches no faster than its device works is after by one delay in ten intervals of the step; its peers
 * wait for it in ten collectives.  The repair gains the one. */
static void a_delay_that_is_met_again_is_one(void)
{
    for (int i = 0; i < 4; i++) {
        story s = { .n = 0, .gain_us = i < 3 ? 100 : 600 };
        bool copy = i % 2 == 0, hidden = i == 1;
        activity(&s, TL_ACTIVITY_COMPUTE, 1000, 1000);
        activity(&s, TL_ACTIVITY_H2D, copy ? 150 : 50, 50);
        part_of_host(&s, TL_ACTIVITY_INPUT, copy ? 20 : hidden ? 30 : 120, 20, copy ? 40 : 140, 40);
        activity(&s, TL_ACTIVITY_HOST, 1400, 500);
        activity(&s, TL_ACTIVITY_COMM, 100, 1100);
        tl_cause_found f = found(&s);
        CU_ASSERT_EQUAL(f.cause, i == 3 ? TL_CAUSE_HOST_LATE : copy ? TL_CAUSE_H2D : TL_CAUSE_INPUT);
        CU_ASSERT(f.share > 0.8);
    }
}

static void what_peers_differ_by_counts_for_nothing(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_HOST, 400, 0);
    for (int32_t rank = 0; rank < NRANKS; rank++)
        row_of(&s, rank, TL_DETAIL_ACTIVITY, TL_ACTIVITY_COMPUTE, 0, rank == 0 ? 1200 : 800 + 100 * rank);
    tl_cause_found f = found(&s);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_HOST_LATE);
    CU_ASSERT_DOUBLE_EQUAL(f.share, 1, 1e-9);
}

static void the_devices_own_idle_time_is_no_cause_beside_another(void)
{
    story s = { .n = 0 };
    activity(&s, TL_ACTIVITY_HOST, 400, 0);
    activity(&s, TL_ACTIVITY_DEVICE, 300, 0);
    CU_ASSERT_EQUAL(found(&s).cause, TL_CAUSE_HOST_LATE);
    activity(&s, TL_ACTIVITY_COMM, 0, 0);
    for (size_t i = 0; i < s.n; i++)
        if (s.rows[i].activity == TL_ACTIVITY_HOST)
            s.rows[i].ns = 0;
    CU_ASSERT_EQUAL(found(&s).cause, TL_CAUSE_UNKNOWN);
}

static void without_surplus_or_peers_nothing_is_found(void)
{
    story s = { .n = 0 };
    tl_cause_found f;
    activity(&s, TL_ACTIVITY_COMPUTE, 1000, 1001);
    CU_ASSERT_FALSE(found(&s).found);
    CU_ASSERT_TRUE(tl_cause_find(s.rows, 0, 0, NRANKS - 1, 0, &f) && !f.found);
    activity(&s, TL_ACTIVITY_HOST, 500, 0);
    CU_ASSERT_TRUE(tl_cause_find(s.rows, s.n, 0, 0, 0, &f) && !f.found);
    tl_mem_fail_after(1);
    CU_ASSERT_FALSE(tl_cause_find(s.rows, s.n, 0, NRANKS - 1, 0, &f));
    tl_mem_fail_after(2);
    CU_ASSERT_FALSE(tl_cause_find(s.rows, s.n, 0, NRANKS - 1, 0, &f));
    tl_mem_fail_after(0);
}

static const unit_test tests[] = {
    TEST(few_kernels_longer_are_slow_at_their_place),
    TEST(all_kernels_longer_are_throttled),
    TEST(more_kernels_are_more_work),
    TEST(larger_grids_are_more_work),
    TEST(larger_messages_are_more_work),
    TEST(copies_have_their_name),
    TEST(the_place_is_the_innermost_that_covers_most),
    TEST(idle_time_is_what_the_host_did),
    TEST(what_peers_do_under_cover_is_no_cause),
    TEST(a_wait_that_peers_do_not_have_is_a_drain),
    TEST(what_is_idle_behind_waits_that_all_have_is_the_hosts),
    TEST(of_waits_before_one_gap_the_longest_counts),
    TEST(two_of_a_size_are_mixed),
    TEST(a_lost_lead_is_no_cause),
    TEST(who_waits_for_data_loses_its_lead_too),
    TEST(little_work_takes_no_lead),
    TEST(a_delay_that_is_met_again_is_one),
    TEST(what_peers_differ_by_counts_for_nothing),
    TEST(the_devices_own_idle_time_is_no_cause_beside_another),
    TEST(without_surplus_or_peers_nothing_is_found),
};

int main(void)
{
    return unit_main("cause", tests, COUNT(tests));
}
