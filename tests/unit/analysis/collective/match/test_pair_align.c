/* test_pair_align.c - sends and receives between nobody knows whom, drawn: a line for each rank, a column is 100 us.
 *
 *     "a.?..?.b"     a small letter: one that is known; the same one on another line is its partner
 *                    ?: one that is open; it ends in that column
 */
#include "tlmpi/analysis/collective/match.h"
#include "unit.h"
#include <string.h>

enum { MOST = 64, COLUMN_NS = 100000 };

static tl_align_item items[MOST];
static size_t n;
static tl_group_fact groups[1] = { { .inferred = 1 } }; /* neighbours are not guessed */

static int32_t partner_of(const char *const *lines, size_t rank, char letter)
{
    for (size_t r = 0; lines[r] != NULL; r++)
        if (r != rank && strchr(lines[r], letter) != NULL)
            return (int32_t)r;
    return -2;
}

/* One group.  ahead[rank]: by so many columns its clock is ahead. */
static void draw_ranks(const char *const *lines, const int *ahead)
{
    n = 0;
    for (size_t r = 0; lines[r] != NULL; r++)
        for (size_t i = 0; lines[r][i] != 0; i++) {
            char c = lines[r][i];
            if (c == '.')
                continue;
            items[n] = (tl_align_item){ .key = c == '?' ? 0 : (uint64_t)c,
                                       .lone = 1000 + n,
                                       .end_ns = ((int64_t)i + (ahead != NULL ? ahead[r] : 0)) * COLUMN_NS,
                                       .rank = (int32_t)r,
                                       .peer = c == '?' ? -2 : partner_of(lines, r, c) };
            n++;
        }
    tl_pairs_align(items, n, groups);
}

#define DRAW(ahead, ...) draw_ranks((const char *const[]){ __VA_ARGS__, NULL }, ahead)

/* The peer of the rank's k-th. */
static int32_t peer(int32_t rank, int k)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].rank == rank && k-- == 0) {
            for (size_t j = 0; j < n; j++) /* and it has that one's key, and nobody else's */
                CU_ASSERT_EQUAL(i != j && items[i].key == items[j].key,
                                i != j && items[i].peer >= 0 && items[j].rank == items[i].peer &&
                                    items[j].peer == rank && items[j].key == items[i].key);
            return items[i].peer;
        }
    CU_FAIL("there are not so many");
    return -9;
}

/* Ranks 1 and 2 exchange at the same time as 0 and 1 once did: but then 0 is over. */
static void a_chain_is_matched_from_its_ends(void)
{
    DRAW(NULL, "a..?.......?.....", "ab.?...?...?...?.", ".bc....?.......?.", "..c..............");
    CU_ASSERT_EQUAL(peer(0, 1), 1);
    CU_ASSERT_EQUAL(peer(0, 2), 1);
    CU_ASSERT_EQUAL(peer(1, 2), 0);
    CU_ASSERT_EQUAL(peer(1, 3), 2);
    CU_ASSERT_EQUAL(peer(1, 4), 0);
    CU_ASSERT_EQUAL(peer(1, 5), 2);
    CU_ASSERT_EQUAL(peer(2, 2), 1);
}

/* What 0 does at that time 3 does as well: they are no neighbours. */
static void only_neighbours_meet(void)
{
    DRAW(NULL, "a..?....", "ab.?....", ".bc.....?", "..c.....?");
    CU_ASSERT_EQUAL(peer(0, 1), 1);
    CU_ASSERT_EQUAL(peer(3, 1), 2);
    DRAW(NULL, "a..?....", "ab......", ".b.?....");
    CU_ASSERT_EQUAL(peer(0, 1), -2);
    CU_ASSERT_EQUAL(peer(2, 1), -2);
}

static void clocks_are_compared_by_what_is_known(void)
{
    DRAW(((const int[]){ 0, 40 }), "ab..?......", "ab..?......");
    CU_ASSERT_EQUAL(peer(0, 2), 1);
    DRAW(NULL, "ab..?...........", "ab.........?....");
    CU_ASSERT_EQUAL(peer(0, 2), -2);
}

/* The nearest of the nearest: the second has nobody, though it is close. */
static void each_has_one(void)
{
    DRAW(NULL, "a..??....", "a..?.....");
    CU_ASSERT_EQUAL(peer(0, 1), 1);
    CU_ASSERT_EQUAL(peer(0, 2), -2);
}

static void where_nothing_is_known_those_next_to_each_other_are_neighbours(void)
{
    for (int known = 0; known < 2; known++) {
        groups[0].inferred = !known;
        DRAW(NULL, "..?.....?..", "..?..?..?..", ".....?.....");
        CU_ASSERT_EQUAL(peer(0, 0), known ? 1 : -2);
        CU_ASSERT_EQUAL(peer(1, 1), known ? 2 : -2);
    }
    groups[0].inferred = 1;
}

/* Each waits for two: nobody is at an end. */
static void a_ring_stays_alone(void)
{
    DRAW(NULL, "ac.?.", "ab.?.", ".bc?.");
    for (int32_t r = 0; r < 3; r++)
        CU_ASSERT_EQUAL(peer(r, 2), -2);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_chain_is_matched_from_its_ends),
        TEST(only_neighbours_meet),
        TEST(clocks_are_compared_by_what_is_known),
        TEST(each_has_one),
        TEST(where_nothing_is_known_those_next_to_each_other_are_neighbours),
        TEST(a_ring_stays_alone),
    };
    return unit_main("pair_align", tests, COUNT(tests));
}
