/* test_slow_link.c - whose transfers are long, against what, and in which steps. */
#include "drawn_links.h"

static void a_link_that_is_always_slow_shows_against_other_groups(void)
{
    DRAW(2, "1111111111", "3333333333", "1111111111");
    find();
    CU_ASSERT_EQUAL_FATAL(links.n, 1);
    const tl_slow_link *link = &links.of[0];
    CU_ASSERT(link->nends == 2 && link->ends[0] == 2 && link->ends[1] == 3);
    CU_ASSERT_EQUAL(link->evidence, TL_LINK_BY_GROUPS);
    CU_ASSERT(link->here_ns == 3 * UNIT_NS && link->elsewhere_ns == UNIT_NS);
    CU_ASSERT_EQUAL(link->surplus_ns, 10 * 2 * UNIT_NS);
    CU_ASSERT_EQUAL(link->found.pattern, TL_PATTERN_PERSISTENT);
    for (size_t c = 0; c < input.ncollectives; c++) {
        CU_ASSERT_EQUAL(links.link_of[c], c % 3 == 1 ? 0 : TL_NONE);
        CU_ASSERT_EQUAL(links.surplus_ns[c], c % 3 == 1 ? 2 * UNIT_NS : 0);
    }
}

/* Ranks of a healthy ring end up to 50 us apart, for where they stand in it: a last end that is late by no more than that is no
 * slow transfer.  One by which all ranks are late is; two ranks are done at once, and those of an all-to-all when they have what
 * they are sent. */
static void ends_apart_as_in_healthy_rings_are_no_slow_link(void)
{
    for (uint32_t size = 2; size < 5; size++)
        for (uint32_t late = 1; late <= size; late++) {
            DRAW(size, "1111111111", "1111111111", "1111111111");
            for (size_t c = 1; c < input.ncollectives; c += 3)
                for (uint32_t k = size - late; k < size; k++)
                    ends[collectives[c].first + k].end_ns += 40000;
            for (size_t s = 0; s < input.nsteps; s++)
                step_ns[s] = 5 * UNIT_NS;
            find();
            CU_ASSERT_EQUAL(links.n, size == 2 || late == size ? 1 : 0);
            for (size_t c = 0; c < input.ncollectives; c++)
                collectives[c].kind = TL_ALL_TO_ALL;
            find();
            CU_ASSERT_EQUAL(links.n, 1);
        }
}

/* Two steps of six are longer by a fifth.  By how much the others differ is not told by all of them, of which these are a third, but
 * by the rest; what is no further from the rest than that is from itself is chance. */
static void steps_far_from_all_others_are_slow_however_few_there_are(void)
{
    for (int far = 0; far < 2; far++) {
        static const int64_t us[][6] = { { 1037, 1168, 1127, 1017, 1063, 1090 }, { 1037, 1268, 1227, 1017, 1023, 1050 } };
        begin();
        for (uint32_t s = 0; s < 6; s++)
            for (int n = 0; n < 4; n++)
                meet(0, 4, s, us[far][s] * 1000);
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, (size_t)far);
        if (far) {
            CU_ASSERT_EQUAL(links.of[0].found.pattern, TL_PATTERN_BOUNDED);
            CU_ASSERT(links.of[0].found.first == 1 && links.of[0].found.last == 2);
        }
    }
}

/* One of the two transfers of a step may have had a hiccup; both are a slow link. */
static void one_step_is_slow_if_all_its_transfers_are(void)
{
    for (uint32_t slow = 1; slow < 3; slow++) {
        begin();
        for (uint32_t s = 0; s < 10; s++)
            for (uint32_t n = 0; n < 2; n++)
                meet(0, 4, s, (s == 4 && n < slow ? 15 : 10) * UNIT_NS)->bytes = n == 0 ? 4096 : 8192;
        find();
        CU_ASSERT_EQUAL(links.n, slow == 2 ? 1 : 0);
    }
}

/* Pipelines 0-1-2 and 3-4-5, where the second hop leaves the host: it is slow for both, and the first hop for one of
 * them. */
static void what_goes_between_two_stages_is_compared_with_its_like(void)
{
    for (int known = 0; known < 2; known++) {
        DRAW(2, "2222222222", "6666666666", "1111111111", "6666666666");
        for (size_t c = 0; c < input.ncollectives; c++) {
            collectives[c].kind = TL_SEND_RECV;
            collectives[c].stages = 1 + c % 2; /* groups 0 and 2 are the first hop, 1 and 3 the second */
            collectives[c].bytes = known ? 4096 : -1;
        }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, 1);
        CU_ASSERT_EQUAL(links.of[0].ends[0], 0);
        CU_ASSERT_EQUAL(links.of[0].surplus_ns, 10 * UNIT_NS);
    }
}

/* Two messages a step, of sizes that nobody knows: each is compared with the same one of other steps. */
static void places_in_the_step_stand_for_sizes(void)
{
    for (int known = 0; known < 2; known++) {
        begin();
        for (uint32_t s = 0; s < 12; s++)
            for (int k = 0; k < 2; k++) {
                tl_link_collective *c = meet(0, 2, s, (k == 0 ? 9 : s >= 4 && s < 8 ? 4 : 1) * UNIT_NS);
                c->bytes = -1;
                c->stages = known ? (uint64_t)(1 + k) : 0;
            }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, (size_t)known);
        if (known) {
            CU_ASSERT_EQUAL(links.of[0].evidence, TL_LINK_BY_STEPS);
            CU_ASSERT_EQUAL(links.of[0].found.first, 4);
            CU_ASSERT_EQUAL(links.of[0].found.last, 7);
        }
    }
}

/* What takes long may be waiting for who is missing; and what others take is no measure, if they may have waited. */
static void groups_with_ranks_missing_tell_nothing(void)
{
    for (int whole = 0; whole < 2; whole++) {
        DRAW(2, "1111111111", "3333333333", "1111111111");
        for (size_t c = 0; c < input.ncollectives; c++)
            collectives[c].partial = (c % 3 == 1) != (whole == 1);
        find();
        CU_ASSERT_EQUAL(links.n, 0);
    }
    DRAW(2, "9999999999", "3333333333", "1111111111", "9999999999");
    for (size_t c = 0; c < input.ncollectives; c++)
        collectives[c].partial = c % 4 == 0 || c % 4 == 3;
    find();
    CU_ASSERT_EQUAL_FATAL(links.n, 1);
    CU_ASSERT_EQUAL(links.of[0].ends[0], 2);
    CU_ASSERT_EQUAL(links.of[0].elsewhere_ns, UNIT_NS);
}

/* Four messages of 0.5 ms a step, in one of the steps a tenth longer; the others differ by noise_ns. */
static void draw_a_tenth_longer(int64_t noise_ns, double each_step_ns)
{
    begin();
    for (uint32_t s = 0; s < 10; s++)
        for (int k = 0; k < 4; k++)
            meet(0, 2, s, 5 * UNIT_NS + (s == 6 ? UNIT_NS / 2 : 0) + (int64_t)(s % 3) * noise_ns);
    for (uint32_t s = 0; s < 10; s++)
        step_ns[s] = each_step_ns;
    find();
}

static void a_tenth_tells_where_steps_are_steady_and_it_matters(void)
{
    draw_a_tenth_longer(2000, STEP_NS * 0.9);
    CU_ASSERT_EQUAL_FATAL(links.n, 1);
    CU_ASSERT_EQUAL(links.of[0].evidence, TL_LINK_BY_STEPS);
    CU_ASSERT(links.of[0].found.first == 6 && links.of[0].found.last == 6);
    CU_ASSERT(links.of[0].surplus_ns > 19 * UNIT_NS / 10 && links.of[0].surplus_ns < 21 * UNIT_NS / 10);
    draw_a_tenth_longer(2000, STEP_NS * 1.2); /* 3.3 % of a step */
    CU_ASSERT_EQUAL(links.n, 0);
    draw_a_tenth_longer(10000, STEP_NS * 0.9); /* as noise is */
    CU_ASSERT_EQUAL(links.n, 0);
}

/* Eight places of a step of whose sizes nothing is known, each a little longer in steps 4 to 9: together that is plain,
 * though clocks leave more open. */
static void what_lasts_for_half_the_steps_is_no_noise(void)
{
    for (int longer = 0; longer < 2; longer++) {
        begin();
        for (uint32_t s = 0; s < 12; s++)
            for (uint32_t k = 0; k < 8; k++) {
                int64_t more = longer == 1 && s >= 4 && s <= 9 ? 40000 : 0, noise = (s * 7 + k * 5) % 11 * 1000;
                tl_link_collective *c = meet(0, 2, s, 5 * UNIT_NS + more + noise);
                c->bytes = -1;
                c->stages = 1 + k;
                c->uncertainty_ns = 20000;
            }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, (size_t)longer);
        if (longer == 1)
            CU_ASSERT(links.of[0].found.first == 4 && links.of[0].found.last == 9);
    }
}

static void of_two_groups_the_longer_one_is_slow(void)
{
    DRAW(2, "1111111111", "3333333333");
    find();
    CU_ASSERT_EQUAL_FATAL(links.n, 1);
    CU_ASSERT_EQUAL(links.of[0].ends[0], 2);
}

/* A fifth longer than others that do the same, step after step: what wires differ by is less.  0 and 1 are done last,
 * but by no more than clocks may be off. */
static void a_fifth_more_tells_where_steps_are_steady_and_it_matters(void)
{
    for (int matters = 0; matters < 2; matters++)
        for (int off = 0; off < 2; off++) {
            begin();
            for (uint32_t s = 0; s < 10; s++)
                for (uint32_t g = 0; g < 2; g++) {
                    tl_link_collective *c = meet(4 * g, 4, s, (g == 0 ? 12 : 10) * (int64_t)UNIT_NS + s % 3 * 1000);
                    ends[c->first + 2].end_ns -= 40000;
                    ends[c->first + 3].end_ns -= 40000;
                    c->uncertainty_ns = off == 1 ? 45000 : 1000;
                }
            for (uint32_t s = 0; s < 10; s++)
                step_ns[s] = STEP_NS * (matters == 1 ? 0.9 : 1.2);
            find();
            CU_ASSERT_EQUAL_FATAL(links.n, (size_t)matters);
            CU_ASSERT(matters == 0 ||
                      (off == 0 ? links.of[0].nends == 2 && links.of[0].ends[1] == 1 : links.of[0].nends == 0));
        }
}

static void a_group_alone_shows_by_its_other_steps(void)
{
    DRAW(2, "1111444411");
    find();
    CU_ASSERT_EQUAL_FATAL(links.n, 1);
    CU_ASSERT_EQUAL(links.of[0].evidence, TL_LINK_BY_STEPS);
    CU_ASSERT_EQUAL(links.of[0].found.pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT(links.of[0].found.first == 4 && links.of[0].found.last == 7);
    CU_ASSERT_EQUAL(links.of[0].surplus_ns, 4 * 3 * UNIT_NS);
}

/* Of a link that grows slower (or recovers) in all its steps, or from the third on, the half with less is no measure. */
static void what_drifts_is_held_against_where_it_begins(void)
{
    for (uint32_t begins = 0; begins < 3; begins += 2)
        for (int recovers = 0; recovers < 2; recovers++) {
            begin();
            for (uint32_t s = 0; s < 10; s++) {
                uint32_t at = recovers ? 9 - s : s;
                meet(0, 2, s, 10 * UNIT_NS + (at > begins ? at - begins : 0) * (int64_t)(2 * UNIT_NS));
            }
            find();
            CU_ASSERT_EQUAL_FATAL(links.n, 1);
            const tl_slow_link *link = &links.of[0];
            CU_ASSERT_EQUAL(link->elsewhere_ns, 10 * UNIT_NS);
            CU_ASSERT_EQUAL(link->surplus_ns, (begins == 0 ? 45 : 28) * (int64_t)(2 * UNIT_NS));
            CU_ASSERT_EQUAL(link->found.pattern, TL_PATTERN_DRIFTING);
            CU_ASSERT_EQUAL(recovers ? 9 - link->found.last : link->found.first, begins + 1);
        }
}

static void a_group_alone_that_is_always_the_same_says_nothing(void)
{
    DRAW(2, "4444444444");
    find();
    CU_ASSERT_EQUAL(links.n, 0);
}

static void a_quarter_more_is_jitter(void)
{
    DRAW(2, "5555555555", "6666666666", "5555555555");
    find();
    CU_ASSERT_EQUAL(links.n, 0);
    DRAW(2, "5555555555", "7777777777", "5555555555");
    find();
    CU_ASSERT_EQUAL(links.n, 1);
}

/* Another size, span, kind or number of ranks is another class: then there is nobody to compare with. */
static void only_what_is_alike_is_compared(void)
{
    for (int what = 0; what < 4; what++) {
        begin();
        for (uint32_t s = 0; s < 10; s++) {
            meet(0, 2, s, UNIT_NS);
            meet(2, 2, s, UNIT_NS);
            tl_link_collective *c = meet(4, what == 3 ? 3 : 2, s, 4 * UNIT_NS);
            c->bytes = what == 0 ? 8192 : 4096;
            c->span = what == 1 ? TL_SPAN_INTER_NODE : TL_SPAN_INTRA_NODE;
            c->kind = what == 2 ? TL_ALL_GATHER : TL_ALL_REDUCE;
        }
        find();
        CU_ASSERT_EQUAL(links.n, 0);
    }
}

static void who_comes_late_has_no_slow_link(void)
{
    DRAW(2, "1111111111", "1111111111", "1111111111");
    for (size_t c = 1; c < input.ncollectives; c += 3) { /* rank 3 is late by 1 ms, and all end so much later */
        for (uint32_t k = 0; k < 2; k++) {
            tl_link_end *e = &ends[collectives[c].first + k];
            e->end_ns += 1000000;
            e->start_ns += k == 1 ? 1000000 : 0;
        }
    }
    find();
    CU_ASSERT_EQUAL(links.n, 0);
}

static void clocks_leave_it_open(void)
{
    DRAW(2, "1111111111", "3333333333", "1111111111");
    for (size_t c = 0; c < input.ncollectives; c++)
        collectives[c].uncertainty_ns = UNIT_NS;
    find();
    CU_ASSERT_EQUAL(links.n, 0);
}

static void unknown_sizes_are_not_compared(void)
{
    DRAW(2, "1111111111", "3333333333", "1111111111");
    for (size_t c = 0; c < input.ncollectives; c++)
        collectives[c].bytes = -1;
    find();
    CU_ASSERT_EQUAL(links.n, 0);
}

/* Three transfers a step. */
static void one_hiccup_is_no_event(void)
{
    for (int slow = 1; slow <= 3; slow += 2) {
        begin();
        for (uint32_t s = 0; s < 10; s++)
            for (int i = 0; i < 3; i++) {
                meet(0, 2, s, UNIT_NS * (s == 4 && i < slow ? 4 : 1));
                meet(2, 2, s, UNIT_NS);
            }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, slow == 3 ? 1 : 0);
        if (slow == 3) {
            CU_ASSERT_EQUAL(links.of[0].found.pattern, TL_PATTERN_ONE_OFF);
            CU_ASSERT_EQUAL(links.of[0].found.first, 4);
        }
    }
}

/* Nobody knows whether those two lie across hosts. */
static void without_hosts_two_slow_ones_have_no_ends(void)
{
    for (int slow = 1; slow <= 2; slow++) {
        DRAW(2, "1111111111", "3333333333", "1111111111", "1111111111", "1111111111", "1111111111", "1111111111");
        for (size_t c = 0; c < input.ncollectives; c++) {
            collectives[c].span = TL_SPAN_UNKNOWN;
            if (slow == 2 && c % 7 == 3)
                for (uint32_t k = 0; k < 2; k++)
                    ends[collectives[c].first + k].end_ns += 2 * UNIT_NS;
        }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, (size_t)slow);
        CU_ASSERT_EQUAL(links.of[0].nends, slow == 1 ? 2 : 0);
    }
}

/* All-to-all of four: ranks 5 and 6 exchange slowly, the others of their group do not notice. */
static void an_all_to_all_is_long_for_the_two_at_the_link(void)
{
    for (int slow = 0; slow < 2; slow++) {
        begin();
        for (uint32_t s = 0; s < 10; s++)
            for (uint32_t g = 0; g < 2; g++) {
                tl_link_collective *c = meet(4 * g, 4, s, 2 * UNIT_NS);
                c->kind = TL_ALL_TO_ALL;
                for (uint32_t k = 1; g == 1 && k < 3; k++) /* a little more data is no slow link */
                    ends[c->first + k].end_ns += slow ? 2 * UNIT_NS : UNIT_NS / 2;
            }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, (size_t)slow);
        if (slow)
            CU_ASSERT(links.of[0].nends == 2 && links.of[0].ends[0] == 5 && links.of[0].ends[1] == 6);
    }
}

/* Four long exchanges a step that differ as they will, and a short all-reduce: that alone takes longer in group 0, in
 * steps 3 to 8 or in all. */
static void what_is_slow_is_not_lost_among_the_rest(void)
{
    for (int always = 0; always < 2; always++) {
        begin();
        for (uint32_t s = 0; s < 12; s++)
            for (uint32_t g = 0; g < 2; g++) {
                bool slow = g == 0 && (always == 1 || (s >= 3 && s <= 8));
                for (uint32_t k = 0; k < 4; k++)
                    meet(4 * g, 4, s, (10 + (s * 5 + g * 3 + k) % 3) * (int64_t)UNIT_NS)->kind = TL_ALL_TO_ALL;
                tl_link_collective *c = meet(4 * g, 4, s, (slow ? 4 : 1) * (int64_t)UNIT_NS);
                for (uint32_t k = 0; slow && k < 2; k++)
                    ends[c->first + k].end_ns -= UNIT_NS / 2;
            }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, 1);
        CU_ASSERT_EQUAL(links.of[0].evidence, TL_LINK_BY_GROUPS);
        CU_ASSERT_EQUAL(collectives[links.of[0].like].kind, TL_ALL_REDUCE);
        CU_ASSERT_EQUAL(links.of[0].found.first, always == 1 ? 0 : 3);
        CU_ASSERT_EQUAL(links.of[0].found.last, always == 1 ? 11 : 8);
        CU_ASSERT_EQUAL(links.of[0].surplus_ns, (always == 1 ? 12 : 6) * 3 * INT64_C(100000));
        CU_ASSERT(links.of[0].nends == 2 && links.of[0].ends[0] == 2 && links.of[0].ends[1] == 3);
    }
}

static void nothing_is_nothing(void)
{
    begin();
    find();
    CU_ASSERT_EQUAL(links.n, 0);
    meet(0, 2, 0, 0); /* no time at all */
    meet(0, 1, 0, UNIT_NS);
    collectives[1].step = TL_NONE;
    find();
    CU_ASSERT_EQUAL(links.n, 0);
}

static void memory_may_run_out_anywhere(void)
{
    tl_status st = TL_ENOMEM;
    size_t n = 1;
    for (; st != TL_OK && n < 1000; n++) {
        tl_error err;
        DRAW(3, "1111111111", "3333333333", "1111111111");
        tl_mem_fail_after(n);
        st = tl_slow_links_find(&input, &links, &err);
        tl_mem_fail_after(0);
        CU_ASSERT(st == TL_OK || st == TL_ENOMEM);
    }
    CU_ASSERT_EQUAL(st, TL_OK);
    CU_ASSERT(n > 10);
    tl_slow_links_free(&links);
}

static const unit_test tests[] = {
    TEST(a_link_that_is_always_slow_shows_against_other_groups),
    TEST(steps_far_from_all_others_are_slow_however_few_there_are),
    TEST(one_step_is_slow_if_all_its_transfers_are),
    TEST(ends_apart_as_in_healthy_rings_are_no_slow_link),
    TEST(a_tenth_tells_where_steps_are_steady_and_it_matters),
    TEST(what_lasts_for_half_the_steps_is_no_noise),
    TEST(of_two_groups_the_longer_one_is_slow),
    TEST(groups_with_ranks_missing_tell_nothing),
    TEST(a_fifth_more_tells_where_steps_are_steady_and_it_matters),
    TEST(a_group_alone_shows_by_its_other_steps),
    TEST(what_drifts_is_held_against_where_it_begins),
    TEST(a_group_alone_that_is_always_the_same_says_nothing),
    TEST(a_quarter_more_is_jitter),
    TEST(only_what_is_alike_is_compared),
    TEST(who_comes_late_has_no_slow_link),
    TEST(clocks_leave_it_open),
    TEST(unknown_sizes_are_not_compared),
    TEST(one_hiccup_is_no_event),
    TEST(without_hosts_two_slow_ones_have_no_ends),
    TEST(an_all_to_all_is_long_for_the_two_at_the_link),
    TEST(what_is_slow_is_not_lost_among_the_rest),
    TEST(what_goes_between_two_stages_is_compared_with_its_like),
    TEST(places_in_the_step_stand_for_sizes),
    TEST(nothing_is_nothing),
    TEST(memory_may_run_out_anywhere),
};

int main(void)
{
    return links_main("slow_link", tests, COUNT(tests));
}
