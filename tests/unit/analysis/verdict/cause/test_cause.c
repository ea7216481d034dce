/* test_cause.c - under which name a rank is late, from what it and its peers did. */
#include "tlmpi/analysis/verdict/cause.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)

/* Rank 0 is the suspect, 1 to 3 are its peers. */
enum { NRANKS = 4, ROWS_MOST = 128 };

typedef struct story {
    tl_cause_row rows[ROWS_MOST];
    size_t n;
} story;

static tl_cause_row *row_of(story *s, int32_t rank, tl_named_work_kind kind, tl_activity_kind activity, uint64_t name,
                            int64_t us)
{
    tl_cause_row *row = &s->rows[s->n++];
    *row = (tl_cause_row){
        .name = name, .ns = us * US, .rank = rank, .count = 1, .kind = (uint8_t)kind, .activity = (uint8_t)activity
    };
    return row;
}

/* A kernel: time of all of them, and how many. */
static void kernel(story *s, uint64_t name, int64_t own_us, uint32_t own_count, int64_t peers_us, uint32_t peers_count)
{
    for (int32_t rank = 0; rank < NRANKS; rank++) {
        tl_cause_row *row = row_of(s, rank, TL_NAMED_WORK, TL_ACTIVITY_COMPUTE, name, rank == 0 ? own_us : peers_us);
        row->count = rank == 0 ? own_count : peers_count;
        row->size = 100 * (int64_t)row->count;
    }
}

/* A name of the host with idle time, which its peers do not have. */
static void span(story *s, uint64_t name, int64_t us, uint32_t depth, tl_activity_kind stands_for)
{
    row_of(s, 0, TL_NAMED_HOST, stands_for, name, us)->depth = depth;
}

static tl_cause_found found(story *s, tl_cause cause)
{
    tl_cause_found out;
    const tl_cause_question q = { .rank = 0, .npeers = NRANKS - 1, .cause = cause, .least_ns = 10 * US };
    tl_cause_find(s->rows, s->n, &q, &out);
    return out;
}

static tl_cause_found of_compute(story *s)
{
    return found(s, TL_CAUSE_COMPUTE_SLOW);
}

static void few_kernels_longer_are_the_dominant_work(void)
{
    story s = { .n = 0 };
    kernel(&s, 1, 700, 10, 400, 10);
    kernel(&s, 2, 300, 10, 300, 10);
    kernel(&s, 3, 300, 10, 300, 10);
    tl_cause_found f = of_compute(&s);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_COMPUTE_SLOW);
    CU_ASSERT_EQUAL(f.dominant_work, 1);
}

static void all_kernels_longer_are_throttled(void)
{
    story s = { .n = 0 };
    kernel(&s, 1, 520, 10, 400, 10);
    kernel(&s, 2, 390, 10, 300, 10);
    kernel(&s, 3, 340, 10, 300, 10); /* what waits for memory feels less of it */
    tl_cause_found f = of_compute(&s);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_THROTTLED);
    CU_ASSERT_EQUAL(f.dominant_work, 0);
}

/* Most of the time is one kernel's: the device is not slow if another is as fast as at peers. */
static void a_device_is_slow_only_if_all_its_kernels_are(void)
{
    story s = { .n = 0 };
    kernel(&s, 1, 1440, 10, 720, 10);
    kernel(&s, 2, 200, 10, 200, 10);
    CU_ASSERT_EQUAL(of_compute(&s).cause, TL_CAUSE_COMPUTE_SLOW);
    s.n = 0;
    kernel(&s, 1, 1440, 10, 720, 10);
    kernel(&s, 2, 201, 10, 200, 10); /* noise makes some rank the slowest */
    CU_ASSERT_EQUAL(of_compute(&s).cause, TL_CAUSE_COMPUTE_SLOW);
    for (size_t i = 0; i < s.n; i++) /* now it differs between peers by as much as it would be slowed */
        if (s.rows[i].name == 2 && s.rows[i].rank > 0)
            s.rows[i].ns = (200 + 100 * (s.rows[i].rank - 1)) * US;
    kernel(&s, 3, 400, 10, 200, 10);
    CU_ASSERT_EQUAL(of_compute(&s).cause, TL_CAUSE_THROTTLED);
}

static void more_kernels_are_more_work(void)
{
    story s = { .n = 0 };
    kernel(&s, 1, 700, 14, 500, 10);
    kernel(&s, 2, 600, 12, 500, 10);
    CU_ASSERT_EQUAL(of_compute(&s).cause, TL_CAUSE_MORE_WORK);
    s.n = 0;
    kernel(&s, 1, 500, 10, 500, 10);
    kernel(&s, 2, 500, 10, 500, 10);
    row_of(&s, 0, TL_NAMED_WORK, TL_ACTIVITY_COMPUTE, 3, 300); /* one that its peers do not have at all */
    CU_ASSERT_EQUAL(of_compute(&s).cause, TL_CAUSE_MORE_WORK);
}

static void larger_grids_are_more_work(void)
{
    story s = { .n = 0 };
    kernel(&s, 1, 780, 10, 600, 10);
    kernel(&s, 2, 520, 10, 400, 10);
    for (size_t i = 0; i < s.n; i++)
        if (s.rows[i].rank == 0)
            s.rows[i].size = s.rows[i].size * 13 / 10;
    CU_ASSERT_EQUAL(of_compute(&s).cause, TL_CAUSE_MORE_WORK);
    /* A little larger than usual, which explains nothing. */
    for (size_t i = 0; i < s.n; i++)
        if (s.rows[i].rank == 0)
            s.rows[i].size = s.rows[i].size * 101 / 130;
    CU_ASSERT_EQUAL(of_compute(&s).cause, TL_CAUSE_THROTTLED);
}

static void larger_messages_are_more_work(void)
{
    for (int64_t own = 100; own <= 130; own += 30) {
        story s = { .n = 0 };
        kernel(&s, 1, 780, 10, 600, 10);
        kernel(&s, 2, 520, 10, 400, 10);
        for (int32_t rank = 0; rank < NRANKS; rank++)
            row_of(&s, rank, TL_NAMED_COMM, TL_ACTIVITY_COMM, 7, 50)->size = rank == 0 ? own : 100 + rank;
        CU_ASSERT_EQUAL(of_compute(&s).cause, own == 130 ? TL_CAUSE_MORE_WORK : TL_CAUSE_THROTTLED);
    }
}

static void work_of_the_device_has_its_name(void)
{
    story s = { .n = 0 };
    kernel(&s, 1, 700, 14, 500, 10);
    kernel(&s, 2, 600, 12, 500, 10);
    for (int32_t rank = 0; rank < NRANKS; rank++)
        row_of(&s, rank, TL_NAMED_WORK, TL_ACTIVITY_H2D, 5, rank == 0 ? 400 : 100);
    tl_cause_found f = found(&s, TL_CAUSE_H2D);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_H2D);
    CU_ASSERT_EQUAL(f.dominant_work, 5);
    for (int32_t rank = 0; rank < NRANKS; rank++)
        row_of(&s, rank, TL_NAMED_WORK, TL_ACTIVITY_COPY, 6, rank == 0 ? 900 : 100);
    f = found(&s, TL_CAUSE_COPY);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_COPY);
    CU_ASSERT_EQUAL(f.dominant_work, 6);
    CU_ASSERT_EQUAL_FATAL(f.ndominant, 1);
    CU_ASSERT_EQUAL(f.dominant[0].own_ns, 900 * US);
    f = found(&s, TL_CAUSE_MORE_WORK);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_MORE_WORK);
    CU_ASSERT_EQUAL(f.dominant_work, 1); /* 200 of 300 us */
}

/* Computing and copies take longer, and neither has more to do it on: that is not one cause. */
static void more_work_has_to_be_seen(void)
{
    story s = { .n = 0 };
    kernel(&s, 1, 700, 10, 500, 10);
    CU_ASSERT_EQUAL(found(&s, TL_CAUSE_MORE_WORK).cause, TL_CAUSE_MIXED);
}

static void the_dominant_work_is_the_innermost_that_covers_most(void)
{
    story s = { .n = 0 };
    span(&s, 1, 1000, 0, TL_ACTIVITY_HOST); /* step */
    span(&s, 2, 900, 1, TL_ACTIVITY_HOST);  /* forward */
    span(&s, 3, 850, 2, TL_ACTIVITY_HOST);  /* sparse */
    span(&s, 4, 500, 3, TL_ACTIVITY_HOST);  /* half of it */
    tl_cause_found f = found(&s, TL_CAUSE_HOST_LATE);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_HOST_LATE);
    CU_ASSERT_EQUAL(f.dominant_work, 3);
}

static void what_the_host_did_is_looked_for_among_its_like(void)
{
    static const struct {
        tl_activity_kind activity;
        tl_cause cause;
    } cases[] = { { TL_ACTIVITY_GC, TL_CAUSE_GC },
                  { TL_ACTIVITY_INPUT, TL_CAUSE_INPUT },
                  { TL_ACTIVITY_ALLOCATOR, TL_CAUSE_ALLOCATOR } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        story s = { .n = 0 };
        span(&s, 1, 1000, 0, TL_ACTIVITY_HOST);
        span(&s, 2, 690, 4, cases[i].activity);
        span(&s, 3, 690, 5, cases[i].activity);
        s.rows[s.n - 1].frame = 1; /* an operator's name says more */
        tl_cause_found f = found(&s, cases[i].cause);
        CU_ASSERT_EQUAL(f.cause, cases[i].cause);
        CU_ASSERT_EQUAL(f.dominant_work, 2);
    }
}

static void a_wait_that_peers_do_not_have_is_the_dominant_work_of_a_drain(void)
{
    story s = { .n = 0 };
    span(&s, 1, 900, 0, TL_ACTIVITY_HOST);
    for (int32_t rank = 0; rank < NRANKS; rank++) {
        row_of(&s, rank, TL_NAMED_WAIT, TL_ACTIVITY_SYNC, 8, 490)->count = 1;
        row_of(&s, rank, TL_NAMED_WAIT, TL_ACTIVITY_SYNC, 9, rank == 0 ? 480 : 0)->count = rank == 0 ? 2 : 1;
    }
    tl_cause_found f = found(&s, TL_CAUSE_SYNC_DRAIN);
    CU_ASSERT_EQUAL(f.cause, TL_CAUSE_SYNC_DRAIN);
    CU_ASSERT_EQUAL(f.dominant_work, 9);
}

static void of_waits_before_one_gap_the_longest_counts(void)
{
    story s = { .n = 0 };
    row_of(&s, 0, TL_NAMED_WAIT, TL_ACTIVITY_SYNC, 1, 480)->size = 5;
    row_of(&s, 0, TL_NAMED_WAIT, TL_ACTIVITY_SYNC, 2, 480)->size = 900;
    row_of(&s, 0, TL_NAMED_WAIT, TL_ACTIVITY_SYNC, 3, 480)->size = 7;
    CU_ASSERT_EQUAL(found(&s, TL_CAUSE_SYNC_DRAIN).dominant_work, 2);
}

/* Own time of the host in a name, and that of each of its peers. */
static void own_time(story *s, uint64_t name, int64_t own_us, int64_t peers_us)
{
    for (int32_t rank = 0; rank < NRANKS; rank++)
        row_of(s, rank, TL_NAMED_SPAN, TL_ACTIVITY_HOST, name, rank == 0 ? own_us : peers_us);
}

static void dominant_work_is_that_with_more_time_than_at_any_peer(void)
{
    story s = { .n = 0 };
    own_time(&s, 1, 990, 10);
    own_time(&s, 2, 20, 1);
    own_time(&s, 3, 15, 6); /* less than is told */
    own_time(&s, 4, 500, 100);
    s.rows[s.n - 1].ns = 500 * US; /* one peer has as much */
    kernel(&s, 5, 900, 10, 300, 10);
    tl_cause_found f = found(&s, TL_CAUSE_HOST_LATE);
    CU_ASSERT_EQUAL_FATAL(f.ndominant, 2);
    CU_ASSERT_EQUAL(f.dominant[0].name, 1);
    CU_ASSERT_EQUAL(f.dominant[0].own_ns, 990 * US);
    CU_ASSERT_EQUAL(f.dominant[0].peers_ns, 10 * US);
    CU_ASSERT_TRUE(f.dominant[0].host);
    CU_ASSERT_EQUAL(f.dominant[1].name, 2);
    f = found(&s, TL_CAUSE_MIXED); /* of the host and of the device */
    CU_ASSERT_EQUAL_FATAL(f.ndominant, 3);
    CU_ASSERT_EQUAL(f.dominant[1].name, 5);
    CU_ASSERT_FALSE(f.dominant[1].host);
    CU_ASSERT_EQUAL(f.dominant[2].name, 2);
}

static void no_more_dominant_work_is_listed_than_there_is_room_for(void)
{
    story s = { .n = 0 };
    for (uint64_t name = 1; name <= 5; name++)
        own_time(&s, name, 100 * (int64_t)name, 1);
    tl_cause_found f = found(&s, TL_CAUSE_GC);
    CU_ASSERT_EQUAL_FATAL(f.ndominant, TL_DOMINANT_WORK_MOST);
    for (size_t i = 0; i < TL_DOMINANT_WORK_MOST; i++)
        CU_ASSERT_EQUAL(f.dominant[i].name, 5 - i);
}

static void without_peers_or_names_no_more_is_known(void)
{
    story s = { .n = 0 };
    tl_cause_found f;
    tl_cause_question q = { .rank = 0, .npeers = NRANKS - 1, .cause = TL_CAUSE_GC };
    tl_cause_find(s.rows, 0, &q, &f);
    CU_ASSERT_TRUE(f.cause == TL_CAUSE_GC && f.dominant_work == 0);
    kernel(&s, 1, 700, 10, 400, 10);
    kernel(&s, 2, 600, 10, 400, 10);
    CU_ASSERT_EQUAL(of_compute(&s).cause, TL_CAUSE_THROTTLED);
    q.cause = TL_CAUSE_COMPUTE_SLOW;
    q.npeers = 0;
    tl_cause_find(s.rows, s.n, &q, &f);
    CU_ASSERT_TRUE(f.cause == TL_CAUSE_COMPUTE_SLOW && f.dominant_work == 0 && f.ndominant == 0);
}

static const unit_test tests[] = {
    TEST(few_kernels_longer_are_the_dominant_work),
    TEST(all_kernels_longer_are_throttled),
    TEST(a_device_is_slow_only_if_all_its_kernels_are),
    TEST(more_kernels_are_more_work),
    TEST(larger_grids_are_more_work),
    TEST(larger_messages_are_more_work),
    TEST(work_of_the_device_has_its_name),
    TEST(more_work_has_to_be_seen),
    TEST(the_dominant_work_is_the_innermost_that_covers_most),
    TEST(what_the_host_did_is_looked_for_among_its_like),
    TEST(a_wait_that_peers_do_not_have_is_the_dominant_work_of_a_drain),
    TEST(of_waits_before_one_gap_the_longest_counts),
    TEST(dominant_work_is_that_with_more_time_than_at_any_peer),
    TEST(no_more_dominant_work_is_listed_than_there_is_room_for),
    TEST(without_peers_or_names_no_more_is_known),
};

int main(void)
{
    return unit_main("cause", tests, COUNT(tests));
}
