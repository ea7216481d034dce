/* test_slices.c - durations from beginnings and ends, drawn in the order of the file. */
#include "src/trace/read/formats.h"
#include "unit.h"
#include <ctype.h>
#include <stdlib.h>

/* Reads "a0:1 B4:2 ...": a letter (small: begins, capital: ends), a time, a track.  Fills the duration of each letter. */
static uint64_t close_all(const char *file, int64_t dur_ns[26])
{
    tl_events events = { 0 };
    tl_slices slices = { 0 };
    uint32_t order = 0;

    tl_events_reserve(&events, 26);
    for (size_t i = 0; i < 26; i++)
        tl_narrow_set(&events.dur_ns, i, 0);
    while (*file != 0) {
        const char letter = *file++;
        char *rest;
        const int64_t at_ns = strtoll(file, &rest, 10);
        const uint32_t track = *rest == ':' ? (uint32_t)strtoul(rest + 1, &rest, 10) : 0;
        const bool ends = isupper((unsigned char)letter);
        file = rest + strspn(rest, " ");
        tl_slices_add(&slices, &events, 1,
                      (tl_slice_edge){ at_ns, order++, track, ends ? TL_NO_EVENT : (uint32_t)(letter - 'a'), ends, TL_NO_EVENT });
    }
    const uint64_t left = tl_slices_close(&slices, &events, 4);
    for (size_t i = 0; i < 26; i++)
        dur_ns[i] = tl_narrow_get(&events.dur_ns, i);
    tl_events_free(&events);
    return left;
}

static void in_order_of_time_an_end_closes_the_last_that_is_open(void)
{
    int64_t ns[26];
    CU_ASSERT_EQUAL(close_all("a0 b2 B4 c4 C6 A9 d9 D9", ns), 0);
    CU_ASSERT(ns[0] == 9 && ns[1] == 2 && ns[2] == 2 && ns[3] == 0);
    CU_ASSERT_EQUAL(close_all("a0:1 b1:2 A5:1 c6:1 B7:2 C8:1", ns), 0);
    CU_ASSERT(ns[0] == 5 && ns[1] == 6 && ns[2] == 2);
}

static void in_groups_the_ends_come_as_the_beginnings(void)
{
    int64_t ns[26];
    CU_ASSERT_EQUAL(close_all("b10 a0 c20 B20 A10 C20", ns), 0); /* they touch, and the last is empty */
    CU_ASSERT(ns[0] == 10 && ns[1] == 10 && ns[2] == 0);
    CU_ASSERT_EQUAL(close_all("b5 a0 B9 A20 c3:1 C4:1", ns), 0); /* one around the other */
    CU_ASSERT(ns[0] == 20 && ns[1] == 4 && ns[2] == 1);
}

static void what_has_no_end_is_counted(void)
{
    int64_t ns[26];
    CU_ASSERT_EQUAL(close_all("A1 a2 b3 B5 C9:3", ns), 1);
    CU_ASSERT(ns[0] == 0 && ns[1] == 2);
}

static const unit_test tests[] = {
    TEST(in_order_of_time_an_end_closes_the_last_that_is_open),
    TEST(in_groups_the_ends_come_as_the_beginnings),
    TEST(what_has_no_end_is_counted),
};

int main(void)
{
    return unit_main("slices", tests, COUNT(tests));
}
