/* test_slow_link_ring.c - between whom transfers are long: who is done last in a ring, and who came last. */
#include "drawn_links.h"

/* A ring of eight in the order of ranks, all-reduce, 1.4 ms longer for the link between 2 and 3: a pass is 0.1 ms.  Its
 * clocks were taken to be off by just that much. */
static void ring(uint32_t passes_of[8])
{
    begin();
    for (uint32_t s = 0; s < 10; s++) {
        tl_link_collective *c = meet(0, 8, s, UNIT_NS + 14 * UNIT_NS);
        for (uint32_t k = 0; k < 8; k++) {
            ends[c->first + k].shown_end_ns -= passes_of[k] * (int64_t)UNIT_NS;
            ends[c->first + k].start_ns -= (3 - (int64_t)passes_of[k]) * UNIT_NS;
            ends[c->first + k].end_ns -= 3 * UNIT_NS;
        }
    }
    find();
}

static void a_ring_alone_shows_by_who_is_done_last(void)
{
    ring((uint32_t[]){ 5, 6, 0, 0, 1, 2, 3, 4 });
    CU_ASSERT_EQUAL_FATAL(links.n, 1);
    CU_ASSERT(links.of[0].nends == 2 && links.of[0].ends[0] == 2 && links.of[0].ends[1] == 3);
    CU_ASSERT_EQUAL(links.of[0].evidence, TL_LINK_BY_TAILS);
    CU_ASSERT_EQUAL(links.of[0].surplus_ns, INT64_C(10) * 14 * UNIT_NS);
    CU_ASSERT_EQUAL(links.of[0].found.pattern, TL_PATTERN_PERSISTENT);
}

static void a_ring_needs_no_sizes(void)
{
    ring((uint32_t[]){ 5, 6, 0, 0, 1, 2, 3, 4 });
    for (size_t c = 0; c < input.ncollectives; c++)
        collectives[c].bytes = -1;
    find();
    CU_ASSERT_EQUAL_FATAL(links.n, 1);
    CU_ASSERT_EQUAL(links.of[0].evidence, TL_LINK_BY_TAILS);
}

static void clocks_that_are_off_are_no_ring(void)
{
    ring((uint32_t[]){ 6, 6, 6, 6, 0, 0, 0, 0 }); /* two hosts */
    CU_ASSERT_EQUAL(links.n, 0);
    ring((uint32_t[]){ 0, 1, 2, 3, 4, 5, 6, 6 }); /* one is last, alone */
    CU_ASSERT_EQUAL(links.n, 0);
    ring((uint32_t[]){ 0, 0, 1, 1, 5, 6, 6, 6 });
    CU_ASSERT_EQUAL(links.n, 0);
}

/* A ring of eight behind a link between 2 and 3, on hosts of four, one of them a second ahead; in the second round
 * between 3 and 4, one on each host. */
static void what_ranks_of_one_host_are_apart_is_no_clock(void)
{
    static const int32_t host[] = { 0, 0, 0, 0, 4, 4, 4, 4 }, unknown[] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    static const uint32_t passes_of[2][8] = { { 5, 6, 0, 0, 1, 2, 3, 4 }, { 4, 5, 6, 0, 0, 1, 2, 3 } };
    for (int known = 0; known < 2; known++)
        for (uint32_t across = 0; across < 2; across++) {
            begin();
            input.host = known ? host : unknown;
            for (uint32_t s = 0; s < 10; s++) {
                tl_link_collective *c = meet(0, 8, s, UNIT_NS + 14 * UNIT_NS);
                for (uint32_t k = 0; k < 8; k++)
                    ends[c->first + k].shown_end_ns +=
                        (k < 4 ? INT64_C(1000000000) : 0) - passes_of[across][k] * (int64_t)UNIT_NS;
            }
            find();
            CU_ASSERT_EQUAL_FATAL(links.n, 1);
            CU_ASSERT_EQUAL(links.of[0].evidence, TL_LINK_BY_TAILS);
            CU_ASSERT(links.of[0].nends == 2 && links.of[0].ends[0] == 2 + across && links.of[0].ends[1] == 3 + across);
        }
}

/* All of a ring's steps alike, up to where it begins again: so it is without a slow link. */
static void a_ring_that_has_no_pair_is_healthy(void)
{
    static const int32_t host[] = { 0, 0, 0, 0, 4, 4, 4, 4 };
    begin();
    input.host = host;
    for (uint32_t s = 0; s < 10; s++) {
        tl_link_collective *c = meet(0, 8, s, 15 * UNIT_NS);
        for (uint32_t k = 0; k < 8; k++)
            ends[c->first + k].shown_end_ns += (k < 4 ? INT64_C(1000000000) : 0) - k * (int64_t)UNIT_NS;
    }
    find();
    CU_ASSERT_EQUAL(links.n, 0);
}

/* Behind a link between 7 and 0, of which the other steps are no more than clocks of devices on one host leave of them;
 * a ring that takes less than the link alone would is none. */
static void clocks_of_devices_do_not_hide_a_ring(void)
{
    static const int64_t passes_of[] = { 0, 1, 2, 3, 4, 5, 6, 0 }, off_us[] = { 4, -4, 8, 0, -8, 3, -3, 8 };
    static const int32_t host[] = { 0, 0, 0, 0, 0, 0, 0, 0 };
    for (int brief = 0; brief < 2; brief++) {
        begin();
        input.host = host;
        for (uint32_t s = 0; s < 10; s++) {
            tl_link_collective *c = meet(0, 8, s, (brief == 1 ? 1 : 5) * (int64_t)UNIT_NS);
            for (uint32_t k = 0; k < 8; k++)
                ends[c->first + k].shown_end_ns += 1000 * (off_us[k] - 20 * passes_of[k]);
        }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, brief == 0);
        if (brief == 0)
            CU_ASSERT(links.of[0].nends == 2 && links.of[0].ends[0] == 0 && links.of[0].ends[1] == 7);
    }
}

/* 54 us between the first and the last is what healthy rings do, but these have no two that are done last, together.
 * Each rank is done 3 us after the one before it, whatever the link: a pass is 9 us. */
static void a_pair_tells_of_a_ring_no_wider_than_healthy_ones(void)
{
    static const int64_t late_us[2][8] = { { 6, 0, 56, 59, 30, 24, 18, 12 }, { 6, 0, 42, 36, 30, 24, 18, 12 } };
    for (int healthy = 0; healthy < 2; healthy++) {
        begin();
        for (uint32_t s = 0; s < 10; s++) {
            tl_link_collective *c = meet(0, 8, s, 3 * UNIT_NS);
            for (uint32_t k = 0; k < 8; k++)
                ends[c->first + k].shown_end_ns += 1000 * late_us[healthy][k];
        }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, healthy == 0);
        if (healthy == 0) {
            CU_ASSERT(links.of[0].nends == 2 && links.of[0].ends[0] == 2 && links.of[0].ends[1] == 3);
            CU_ASSERT_EQUAL(links.of[0].surplus_ns, 10 * 14 * 9000);
        }
    }
}

/* Three hosts of four ranks reduce 30 times; somebody of each comes last in turn.  Host 1 is done 70 us after the
 * others: behind slow wires, which hold the ring up by that in each of its 22 passes, or by its clock. */
static void draw_hosts(bool known, bool wires, bool clock, int64_t later_ns)
{
    static const int32_t host[12] = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2 };
    begin();
    for (uint32_t i = 0; i < 30; i++) {
        int64_t at = (int64_t)i * STEP_NS / 3, ns = 10 * UNIT_NS + (wires ? 22 * later_ns : 0) + i * 7 % 5 * 1000;
        tl_link_collective *c = meet(0, 12, i / 3, 0);
        for (uint32_t k = 0; k < 12; k++) {
            tl_link_end *e = &ends[c->first + k];
            int64_t off = clock && host[k] == 1 ? 2 * later_ns : 0;
            int64_t start = at + (k == i * 5 % 12 ? 300000 : k * 20000);
            int64_t end = at + 300000 + ns - (wires && host[k] != 1 ? later_ns : 0);
            /* The ends have been taken for the clock. */
            int64_t taken_off = host[k] == 1 ? off + (wires ? later_ns : 0) : 0;
            *e = (tl_link_end){ start + off - taken_off, end + off - taken_off, end + off, k };
        }
    }
    input.host = known ? host : NULL;
    find();
}

static void who_came_last_tells_slow_wires_from_a_clock(void)
{
    for (int i = 0; i < 4; i++) {
        bool known = i % 2 == 1, clock = i / 2 == 1;
        draw_hosts(known, true, clock, 70000);
        CU_ASSERT_EQUAL_FATAL(links.n, 1);
        const tl_slow_link *link = &links.of[0];
        CU_ASSERT(link->evidence == TL_LINK_BY_LAST && link->found.pattern == TL_PATTERN_PERSISTENT);
        CU_ASSERT(link->nends == 2 && link->ends[0] == 4 && link->ends[1] == 7);
        CU_ASSERT(link->elsewhere_ns > 9 * UNIT_NS && link->elsewhere_ns < 11 * UNIT_NS);
        draw_hosts(known, false, clock, 70000);
        CU_ASSERT_EQUAL(links.n, 0);
        draw_hosts(known, true, clock, 40000); /* healthy rings let hosts go so far apart */
        CU_ASSERT_EQUAL(links.n, 0);
    }
}

static void memory_may_run_out_over_hosts_and_likes(void)
{
    static const int32_t roles[12] = { 0 };
    static int32_t group[ENDS_MAX];
    static const bool pair[ENDS_MAX] = { false };
    tl_status st = TL_ENOMEM;
    bool whole = false;

    for (size_t n = 1; !whole && n < 1000; n++) {
        draw_hosts(false, true, false, 70000);
        for (size_t c = 0; c < input.ncollectives; c++)
            collectives[c].bytes = -1;
        const tl_link_like_input likes = { ends, collectives, group, pair, input.ncollectives, roles, true };
        tl_mem_fail_after(n);
        whole = tl_link_likes_set(&likes);
        tl_mem_fail_after(0);
    }
    CU_ASSERT(whole);
    for (size_t n = 1; st != TL_OK && n < 1000; n++) {
        tl_error err;
        tl_slow_links_free(&links);
        tl_mem_fail_after(n);
        st = tl_slow_links_find(&input, &links, &err);
        tl_mem_fail_after(0);
        CU_ASSERT(st == TL_OK || st == TL_ENOMEM);
    }
    CU_ASSERT_EQUAL(st, TL_OK);
    CU_ASSERT(links.n == 1 && links.of[0].evidence == TL_LINK_BY_LAST);
}

static const unit_test tests[] = {
    TEST(a_ring_alone_shows_by_who_is_done_last),
    TEST(a_ring_needs_no_sizes),
    TEST(clocks_that_are_off_are_no_ring),
    TEST(who_came_last_tells_slow_wires_from_a_clock),
    TEST(what_ranks_of_one_host_are_apart_is_no_clock),
    TEST(a_ring_that_has_no_pair_is_healthy),
    TEST(clocks_of_devices_do_not_hide_a_ring),
    TEST(a_pair_tells_of_a_ring_no_wider_than_healthy_ones),
    TEST(memory_may_run_out_over_hosts_and_likes),
};

int main(void)
{
    return links_main("slow_link_ring", tests, COUNT(tests));
}
