/* test_slow_link.c - whose transfers are long, against what, in which steps, and between whom.
 *
 * A drawing has a line for each group and a digit for each step: what its transfers of that step take, in tenths of a
 * millisecond; a step takes 5 ms.  Groups are of `size` ranks: 0 .. size - 1, size .. 2 size - 1, ... */
#include "tlmpi/analysis/slow_link.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/view.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { ENDS_MAX = 4096, STEPS_MAX = 32, UNIT_NS = 100000, STEP_NS = 5000000 };

static tl_link_end ends[ENDS_MAX];
static tl_link_collective collectives[ENDS_MAX];
static double step_ns[STEPS_MAX];
static tl_link_input input;
static size_t nends;
static tl_slow_links links;

static void begin(void)
{
    tl_slow_links_free(&links);
    nends = 0;
    input = (tl_link_input){ ends, collectives, 0, step_ns, 0, NULL };
    for (size_t i = 0; i < STEPS_MAX; i++)
        step_ns[i] = STEP_NS;
}

/* One collective of `n` ranks from `first` on, which all take ns. */
static tl_link_collective *meet(uint32_t first, uint32_t n, uint32_t step, int64_t ns)
{
    tl_link_collective *c = &collectives[input.ncollectives++];
    *c = (tl_link_collective){
        .first = (uint32_t)nends, .n = n, .step = step, .bytes = 4096, .kind = TL_ALL_REDUCE, .span = TL_SPAN_INTRA_NODE
    };
    for (uint32_t k = 0; k < n; k++) {
        int64_t start = (int64_t)step * STEP_NS;
        ends[nends++] = (tl_link_end){ start, start + ns, start + ns, first + k };
    }
    if (step >= input.nsteps)
        input.nsteps = step + 1;
    return c;
}

static void draw_groups(uint32_t size, const char *const *lines)
{
    begin();
    for (uint32_t s = 0; lines[0][s] != 0; s++)
        for (uint32_t g = 0; lines[g] != NULL; g++)
            meet(g * size, size, s, (lines[g][s] - '0') * (int64_t)UNIT_NS);
}

static void find(void)
{
    tl_error err;
    tl_slow_links_free(&links);
    CU_ASSERT_EQUAL_FATAL(tl_slow_links_find(&input, &links, &err), TL_OK);
}

#define DRAW(size, ...) draw_groups(size, (const char *const[]){ __VA_ARGS__, NULL })

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

/* Sizes that nobody knows.  A line is a group of two ranks, the first of which stands before it; groups may share
 * ranks. */
typedef struct unsized {
    uint32_t first;
    const char *line;
    uint8_t kind;
} unsized;

static void draw_unsized(const unsized *of, size_t n, const int32_t *roles, bool roles_known)
{
    static int32_t group[ENDS_MAX];
    static const bool pair[ENDS_MAX] = { false };
    begin();
    for (uint32_t s = 0; of[0].line[s] != 0; s++)
        for (size_t g = 0; g < n; g++) {
            tl_link_collective *c = meet(of[g].first, 2, s, (of[g].line[s] - '0') * (int64_t)UNIT_NS);
            c->bytes = -1;
            c->kind = of[g].kind;
            group[input.ncollectives - 1] = (int32_t)g;
        }
    const tl_link_like_input likes = { ends, collectives, group, pair, input.ncollectives, roles, roles_known };
    CU_ASSERT_FATAL(tl_link_likes_set(&likes));
    find();
}

static void groups_of_one_stage_do_the_same_whatever_its_size(void)
{
    static const unsized of[] = { { 0, "2222222222", TL_ALL_REDUCE }, { 2, "3333333333", TL_ALL_REDUCE } };
    static const int32_t one[4] = { 0 }, two[4] = { 0, 0, 1, 1 };
    draw_unsized(of, COUNT(of), one, true);
    CU_ASSERT_EQUAL_FATAL(links.n, 1);
    CU_ASSERT(links.of[0].ends[0] == 2 && links.of[0].evidence == TL_LINK_BY_GROUPS);
    draw_unsized(of, COUNT(of), one, false); /* there may be stages that do not show */
    CU_ASSERT_EQUAL(links.n, 0);
    draw_unsized(of, COUNT(of), two, true); /* there are */
    CU_ASSERT_EQUAL(links.n, 0);
}

/* The first and the last stage have more weights than others, but not three times as many. */
static void stages_send_about_as_much_as_other_stages(void)
{
    static const int32_t roles[8] = { 0, 0, 1, 1, 2, 2, 3, 3 };
    for (int slow = 0; slow < 2; slow++) {
        const unsized of[] = { { 0, "3333333333", TL_ALL_REDUCE },
                               { 2, "2222222222", TL_ALL_REDUCE },
                               { 4, slow == 1 ? "6666666666" : "5555555555", TL_ALL_REDUCE },
                               { 6, "1111111111", TL_ALL_REDUCE } };
        draw_unsized(of, COUNT(of), roles, true);
        CU_ASSERT_EQUAL_FATAL(links.n, (size_t)slow);
        CU_ASSERT(slow == 0 || (links.of[0].ends[0] == 4 && links.of[0].elsewhere_ns == 2 * UNIT_NS));
    }
    const unsized now_and_then[] = { { 0, "2222222222", TL_ALL_REDUCE },
                                     { 2, "1111331111", TL_ALL_REDUCE },
                                     { 4, "2222222222", TL_ALL_REDUCE } };
    draw_unsized(now_and_then, COUNT(now_and_then), roles, true);
    CU_ASSERT_EQUAL_FATAL(links.n, 1);
    CU_ASSERT(links.of[0].ends[0] == 2 && links.of[0].evidence == TL_LINK_BY_STEPS);
    const unsized two[] = { { 0, "1111111111", TL_ALL_REDUCE }, { 2, "9999999999", TL_ALL_REDUCE } };
    draw_unsized(two, COUNT(two), roles, true); /* which of them is unlike others? */
    CU_ASSERT_EQUAL(links.n, 0);
}

/* 0-1 and 2-3 do one thing, 1-2 another, of which there are as many. */
static void who_is_in_two_groups_does_different_things_in_them(void)
{
    static const unsized of[] = { { 0, "1111111111", TL_ALL_REDUCE },
                                  { 2, "1111111111", TL_ALL_REDUCE },
                                  { 1, "9999999999", TL_ALL_REDUCE } };
    static const int32_t roles[4] = { 0 };
    draw_unsized(of, COUNT(of), roles, true);
    CU_ASSERT_EQUAL(links.n, 0);
}

static void what_each_sends_to_each_is_of_a_size_of_its_own(void)
{
    for (int loose = 0; loose < 2; loose++) {
        const unsized of[] = { { 0, "5555555555", loose == 1 ? TL_ALL_TO_ALL : TL_ALL_REDUCE },
                               { 2, "1111111111", loose == 1 ? TL_ALL_TO_ALL : TL_ALL_REDUCE } };
        static const int32_t roles[4] = { 0 };
        draw_unsized(of, COUNT(of), roles, true);
        CU_ASSERT_EQUAL(links.n, (size_t)(loose == 0));
    }
}

/* Two of ten steps of one of eight groups: chance may do that to somebody, but not make them many times as long. */
static void chance_does_not_make_transfers_many_times_as_long(void)
{
    for (int much = 0; much < 2; much++) {
        DRAW(2, "2222222222", "2222222222", "2222222222", "2222222222", "2222222222", "2222222222", "2222222222",
             much == 1 ? "2228222822" : "2223222322");
        for (uint32_t g = 0; g < 2; g++) /* others have such steps */
            for (int64_t i = 0; i < 2; i++) {
                tl_link_collective *c = &collectives[(size_t)(2 * g + 1) * 8 + (g * 2 + (size_t)i)];
                for (uint32_t k = 0; k < c->n; k++)
                    ends[c->first + k].end_ns += UNIT_NS;
            }
        find();
        CU_ASSERT_EQUAL_FATAL(links.n, (size_t)much);
        CU_ASSERT(much == 0 || links.of[0].ends[0] == 14);
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
    TEST(a_ring_alone_shows_by_who_is_done_last),
    TEST(a_ring_needs_no_sizes),
    TEST(what_goes_between_two_stages_is_compared_with_its_like),
    TEST(places_in_the_step_stand_for_sizes),
    TEST(groups_of_one_stage_do_the_same_whatever_its_size),
    TEST(stages_send_about_as_much_as_other_stages),
    TEST(who_is_in_two_groups_does_different_things_in_them),
    TEST(what_each_sends_to_each_is_of_a_size_of_its_own),
    TEST(chance_does_not_make_transfers_many_times_as_long),
    TEST(clocks_that_are_off_are_no_ring),
    TEST(who_came_last_tells_slow_wires_from_a_clock),
    TEST(what_ranks_of_one_host_are_apart_is_no_clock),
    TEST(a_ring_that_has_no_pair_is_healthy),
    TEST(clocks_of_devices_do_not_hide_a_ring),
    TEST(a_pair_tells_of_a_ring_no_wider_than_healthy_ones),
    TEST(nothing_is_nothing),
    TEST(memory_may_run_out_anywhere),
    TEST(memory_may_run_out_over_hosts_and_likes),
};

int main(void)
{
    int failed = unit_main("slow_link", tests, COUNT(tests));
    tl_slow_links_free(&links);
    return failed;
}
