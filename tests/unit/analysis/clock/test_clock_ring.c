/* test_clock_ring.c - what clocks may be off by because ranks leave a ring one after the other.
 *
 * A ring is drawn as its ranks' ends in us, host by host; all hosts have the same time.
 */
#include "tlmpi/analysis/clock.h"
#include "unit.h"

enum { MOST = 16, US = 1000, MS = 1000000 };

typedef struct job {
    tl_rank_place places[MOST];
    tl_clock_edge edges[2 * MOST];
    size_t nplaces, nedges;
    tl_table table;
} job;

static job j;

/* `share` ranks on a host. */
static void begin(size_t nranks, size_t share)
{
    tl_table_free(&j.table);
    j = (job){ .nplaces = nranks, .table = { .schema = &tl_clock_schema } };
    for (size_t i = 0; i < nranks; i++) {
        j.places[i] = (tl_rank_place){ .rank = (int32_t)i, .host = (int32_t)(i / share) };
        CU_ASSERT_FATAL(tl_table_add(&j.table) != NULL);
    }
}

/* Edges lie in the order of ranks. */
static void put(int32_t rank, int32_t group, int64_t ahead_us, int64_t took_us, int64_t anchors)
{
    j.edges[j.nedges++] = (tl_clock_edge){ .rank = rank,
                                           .group = group,
                                           .anchors = anchors,
                                           .last_ns = 2 * MS,
                                           .middle_ns = MS,
                                           .ahead_ns = ahead_us * US,
                                           .took_ns = took_us * US };
}

static const tl_clock *solved(size_t rank)
{
    const tl_clock_edges edges = { .of_groups = j.edges, .ngroups = j.nedges };
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(tl_clocks_solve(&edges, TL_CLOCK_AUTO, j.places, j.nplaces, &j.table, &err), TL_OK);
    return tl_table_row(&j.table, rank);
}

static void ring(size_t nranks, size_t share, const int64_t *ends_us, int64_t took_us, int64_t anchors)
{
    begin(nranks, share);
    for (size_t i = 0; i < nranks; i++)
        put((int32_t)i, 0, ends_us[i], took_us, anchors);
}

/* Who sits further on ends later, and nothing tells that from a clock that is behind. */
static void a_clock_is_no_surer_than_the_ring_is_long(void)
{
    ring(8, 4, (const int64_t[]){ 0, 3, 6, 9, 12, 15, 18, 21 }, 600, 40);
    const tl_clock *row = solved(7);
    CU_ASSERT_EQUAL(row->offset_ns, 12 * US); /* all of it the ring's */
    CU_ASSERT_EQUAL(row->leeway_ns, 12 * US); /* four hops to those of the other host */
    CU_ASSERT_EQUAL(row->sigma_ns, 0);        /* the same in each collective */
    CU_ASSERT_EQUAL(j.places[7].sigma_ns, 12 * US);
}

static void a_ring_that_begins_within_a_host_has_no_longer_hops(void)
{
    ring(8, 4, (const int64_t[]){ 6, 9, 12, 15, 18, 21, 0, 3 }, 600, 40);
    CU_ASSERT_EQUAL(solved(0)->leeway_ns, 12 * US);
}

static void ranks_of_one_clock_leave_nothing_open(void)
{
    ring(4, 4, (const int64_t[]){ 0, 10, 20, 30 }, 600, 40);
    CU_ASSERT_EQUAL(solved(0)->leeway_ns, 0);
}

/* One rank a host: nothing shows how far ends are apart on one clock. */
static void where_no_host_tells_it_may_be_the_most_that_was_seen(void)
{
    static const int64_t ends[] = { 0, 7, 14, 21 };
    ring(4, 1, ends, 600, 40);
    CU_ASSERT_EQUAL(solved(3)->leeway_ns, 50 * US);
    ring(4, 1, ends, 30, 40); /* none ends more apart than it takes */
    CU_ASSERT_EQUAL(solved(3)->leeway_ns, 30 * US);
}

static void ranks_that_are_not_seen_to_be_apart_may_share_a_clock(void)
{
    static const int64_t ends[] = { 0, 7, 14, 700 };
    ring(4, 1, ends, 600, 40);
    for (size_t i = 0; i < 4; i++)
        j.places[i].host = -1;
    CU_ASSERT_EQUAL(solved(0)->leeway_ns, 0);
    CU_ASSERT_EQUAL(solved(3)->leeway_ns, 50 * US);
}

/* Rings within hosts of two spread their ends over a tenth of what they take: so may those between hosts. */
static void rings_of_other_groups_tell_the_part(void)
{
    begin(4, 2);
    for (int32_t r = 0; r < 4; r++) {
        put(r, r / 2, r % 2 * 10, 100, 40);
        put(r, 2 + r % 2, 0, 200, 40);
    }
    CU_ASSERT_EQUAL(solved(0)->leeway_ns, 20 * US);
}

static void one_collective_shows_no_scatter(void)
{
    static const int64_t ends[] = { 0, 3, 406, 409 };
    ring(4, 2, ends, 600, 1);
    CU_ASSERT_EQUAL(solved(3)->applied, 1);
    CU_ASSERT_EQUAL(solved(3)->leeway_ns, 50 * US);
    ring(4, 2, ends, 600, 3);
    CU_ASSERT_EQUAL(solved(3)->leeway_ns, 6 * US);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_clock_is_no_surer_than_the_ring_is_long),
        TEST(a_ring_that_begins_within_a_host_has_no_longer_hops),
        TEST(ranks_of_one_clock_leave_nothing_open),
        TEST(where_no_host_tells_it_may_be_the_most_that_was_seen),
        TEST(ranks_that_are_not_seen_to_be_apart_may_share_a_clock),
        TEST(rings_of_other_groups_tell_the_part),
        TEST(one_collective_shows_no_scatter),
    };
    int failed = unit_main("clock_ring", tests, COUNT(tests));
    tl_table_free(&j.table);
    return failed;
}
