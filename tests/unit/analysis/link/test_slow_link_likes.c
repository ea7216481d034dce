/* test_slow_link_likes.c - which groups do the same where nobody knows sizes: whose transfers are compared. */
#include "drawn_links.h"

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

/* From step 6 on ranks 0 and 1 do two of their three transfers while rank 1 is busy with rank 2: they take twice as long.  So
 * does the third where the link is slow. */
static void what_shares_its_wires_with_others_is_not_slow(void)
{
    for (int slow = 0; slow < 2; slow++) {
        begin();
        for (uint32_t s = 0; s < 12; s++)
            for (int nth = 0; nth < 3; nth++) {
                bool shared = s >= 6 && nth < 2;
                int64_t later = nth * (int64_t)UNIT_NS * 8, ns = shared || (s >= 6 && slow) ? 6 * UNIT_NS : 3 * UNIT_NS;
                for (uint32_t first = 0; first < (shared ? 2 : 1); first++) {
                    tl_link_collective *c = meet(first, 2, s, ns);
                    c->bytes <<= first;
                    for (uint32_t k = c->first; k < c->first + 2; k++) {
                        ends[k].start_ns += later;
                        ends[k].end_ns += later;
                        ends[k].shown_end_ns += later;
                    }
                }
            }
        find();
        CU_ASSERT_EQUAL(links.n, (size_t)slow);
    }
}

static const unit_test tests[] = {
    TEST(what_shares_its_wires_with_others_is_not_slow),
    TEST(groups_of_one_stage_do_the_same_whatever_its_size),
    TEST(stages_send_about_as_much_as_other_stages),
    TEST(who_is_in_two_groups_does_different_things_in_them),
    TEST(what_each_sends_to_each_is_of_a_size_of_its_own),
    TEST(chance_does_not_make_transfers_many_times_as_long),
};

int main(void)
{
    return links_main("slow_link_likes", tests, COUNT(tests));
}
