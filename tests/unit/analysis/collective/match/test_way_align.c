/* test_way_align.c - sends and receives between known ranks, drawn: a line what one sends, a line what the other
 * receives, a column is 100 us.  A letter ends in its column; the same letters are the same message.
 */
#include "tlmpi/analysis/collective/match.h"
#include "unit.h"
#include <string.h>

enum { MOST = 128, COLUMN_NS = 100000, SENDER = 3, RECEIVER = 7 };

static tl_align_item items[MOST];
static size_t n;

static void add(const char *line, bool sends, int ahead)
{
    for (size_t i = 0; line[i] != 0; i++) {
        if (line[i] == '.')
            continue;
        items[n] = (tl_align_item){ .lone = 1000 + n,
                                   .end_ns = ((int64_t)i + (sends ? 0 : ahead)) * COLUMN_NS,
                                   .rank = sends ? SENDER : RECEIVER,
                                   .peer = sends ? RECEIVER : SENDER,
                                   .sends = sends,
                                   .position = (size_t)line[i] };
        n++;
    }
}

/* The receiver's clock is ahead by so many columns. */
static void draw_way(const char *sent, const char *received, int ahead)
{
    n = 0;
    add(received, false, ahead);
    add(sent, true, 0);
}

/* Whether the same letters have one key, and others have others. */
static bool is_right(void)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if ((items[i].key == items[j].key) != (items[i].position == items[j].position))
                return false;
    return true;
}

static void a_recording_may_begin_with_the_second(void)
{
    for (int ahead = -1; ahead <= 1; ahead++) {
        draw_way("ab.c.....de.f.....gh.i.....", ".b.c.....de.f.....gh.i.....", ahead);
        tl_ways_align(items, n);
        CU_ASSERT_TRUE(is_right());
        draw_way(".b.c.....de.f.....gh.i.....", "ab.c.....de.f.....gh.......", ahead);
        tl_ways_align(items, n);
        CU_ASSERT_TRUE(is_right());
    }
}

/* Most of the differences of its micro-batches are equal, shifted by one: the clocks are farther apart than these. */
static void seams_of_steps_tell_what_equal_micro_batches_do_not(void)
{
    draw_way("a.b.c.d.e.f............g.h.i.j.k.l.......", "..b.c.d.e.f............g.h.i.j.k.l.......", 2);
    tl_ways_align(items, n);
    CU_ASSERT_TRUE(is_right());
}

/* Nothing but the distance of ends tells one step from the next. */
static void of_equal_steps_the_nearest_is_the_same(void)
{
    draw_way("a....b....c....d....e....", ".....b....c....d....e....f", 1);
    tl_ways_align(items, n);
    CU_ASSERT_TRUE(is_right());
}

/* Who marks steps has counted: the other takes the keys on. */
static void keys_are_taken_on(void)
{
    draw_way("ab.c.....de.f.....", ".b.c.....de.f.....", 0);
    for (size_t i = 0; i < n; i++)
        items[i].key = items[i].sends ? items[i].position : 0;
    tl_ways_align(items, n);
    CU_ASSERT_TRUE(is_right());
    for (size_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL(items[i].key, items[i].position);
}

/* One way says nothing about another; who has no partner is alone. */
static void ways_are_apart(void)
{
    draw_way("a....b....c....d....e....", "", 0);
    tl_ways_align(items, n);
    CU_ASSERT_TRUE(is_right());
    draw_way("a....b....c....", "", 0);
    for (size_t i = 0; i < n; i++) {
        items[n + i] = items[i];
        items[n + i].lone += 500;
        items[n + i].sends = 0;
        items[n + i].rank = RECEIVER + 1;
    }
    n *= 2;
    tl_ways_align(items, n);
    for (size_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL(items[i].key, items[i].lone);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_recording_may_begin_with_the_second),
        TEST(seams_of_steps_tell_what_equal_micro_batches_do_not),
        TEST(of_equal_steps_the_nearest_is_the_same),
        TEST(keys_are_taken_on),
        TEST(ways_are_apart),
    };
    return unit_main("way_align", tests, COUNT(tests));
}
