/* test_align.c - rows of ends, laid side by side. */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/model/coll.h"
#include "unit.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

enum { MOST = 2000 };

typedef struct ends {
    tl_align_item v[MOST];
    char letter[MOST];
    size_t n;
} ends;

/* A letter ends a collective, a millisecond a column; a small one is open. */
static void draw_ends(ends *row, const char *time, int64_t ahead_ns)
{
    row->n = 0;
    for (size_t i = 0; time[i] != '\0'; i++) {
        if (!isalpha((unsigned char)time[i]))
            continue;
        row->letter[row->n] = (char)toupper((unsigned char)time[i]);
        row->v[row->n++] = (tl_align_item){ .end_ns = (int64_t)i * MS + ahead_ns,
                                            .bytes = -1,
                                            .key = isupper((unsigned char)time[i]) ? (uint64_t)time[i] : 0,
                                            .kind = TL_ALL_REDUCE };
    }
}

static ends mine, ref;
static int64_t match[MOST];

/* The letters that ours were matched with, '.' for none. */
static const char *matched(void)
{
    static char text[MOST + 1];
    tl_align(mine.v, mine.n, ref.v, ref.n, match);
    for (size_t i = 0; i < mine.n; i++)
        text[i] = match[i] >= 0 ? ref.letter[match[i]] : '.';
    text[mine.n] = '\0';
    return text;
}

static void what_was_launched_before_the_window_is_found_by_its_end(void)
{
    draw_ends(&ref, "A..B...CD..E", 0);
    draw_ends(&mine, "...b...CD..E", 0);
    CU_ASSERT_STRING_EQUAL(matched(), "B...");
    draw_ends(&mine, "a..b...CD..E", 7 * MS); /* the clock does not matter */
    CU_ASSERT_STRING_EQUAL(matched(), "AB...");
    draw_ends(&mine, "a.b....CD..E", 0); /* b ends 1 ms away from it: it is something else */
    CU_ASSERT_STRING_EQUAL(matched(), "A....");
}

/* Our clock is set back by 3 ms before E; what is open has the distance of what is beside it. */
static void beside_a_step_the_clocks_are_otherwise_apart(void)
{
    draw_ends(&ref, "A..B...CD..E..F.G...H..I.J", 0);
    draw_ends(&mine, "A..b...CD..E..F.G...H..i.J", 0);
    for (size_t i = 0; i < 4; i++)
        mine.v[i].end_ns += 3 * MS;
    CU_ASSERT_STRING_EQUAL(matched(), ".B......I.");
}

static void what_has_a_partner_is_not_taken_again(void)
{
    draw_ends(&ref, "..B..CD", 0);
    draw_ends(&mine, "..Bb.CD", 0);
    mine.v[1].end_ns = mine.v[0].end_ns + 100 * US; /* as near, but B is ours already */
    CU_ASSERT_STRING_EQUAL(matched(), "....");
}

static void one_wrong_key_moves_no_clock(void)
{
    draw_ends(&ref, "A.B.C.D.E.F.....G", 0);
    draw_ends(&mine, "a.B.C.D.E.F.G....", 0);
    CU_ASSERT_STRING_EQUAL(matched(), "A......");
}

/* Cut windows without a key in common: shifted by one, one in the middle lost. */
static void rows_without_keys_are_shifted_until_they_fit(void)
{
    draw_ends(&ref, "A..B...C.D....E.F..G", 0);
    draw_ends(&mine, "...b...c.d....e.f..g...h", 0);
    CU_ASSERT_STRING_EQUAL(matched(), "BCDEFG.");
    draw_ends(&mine, "...b...c......e.f..g...h", 400 * MS);
    CU_ASSERT_STRING_EQUAL(matched(), "BCEFG.");
}

/* As regular as a clock, each shift fits: then sizes tell, and where they do not, that clocks are right. */
static void sizes_tell_what_regular_ends_do_not(void)
{
    draw_ends(&ref, "A.B.C.D.E.F", 0);
    draw_ends(&mine, "..b.c.d.e.f", 0);
    CU_ASSERT_STRING_EQUAL(matched(), "BCDEF");
    for (size_t i = 0; i < ref.n; i++)
        ref.v[i].bytes = (int64_t)(i * i) + 100;
    for (size_t i = 0; i < mine.n; i++)
        mine.v[i].bytes = (int64_t)(i * i) + 100; /* ours are A to E on a clock that is 2 ms ahead */
    CU_ASSERT_STRING_EQUAL(matched(), "ABCDE");
}

static void kinds_must_agree(void)
{
    draw_ends(&ref, "A.B..C.D", 0);
    draw_ends(&mine, "a.b..C.D", 0);
    mine.v[0].kind = TL_ALL_GATHER;
    mine.v[1].kind = TL_COLL_UNKNOWN; /* contradicts nothing */
    CU_ASSERT_STRING_EQUAL(matched(), ".B..");
}

static void all_to_alls_may_end_milliseconds_apart(void)
{
    draw_ends(&ref, "...A.......B....", 0);
    draw_ends(&mine, "......a.....B...", 0);
    CU_ASSERT_STRING_EQUAL(matched(), "..");
    for (size_t i = 0; i < 2; i++)
        mine.v[i].kind = ref.v[i].kind = TL_ALL_TO_ALL;
    CU_ASSERT_STRING_EQUAL(matched(), "A.");
    mine.v[0].kind = TL_SEND_RECV; /* as its kernel calls it */
    CU_ASSERT_STRING_EQUAL(matched(), "A.");
}

/* Of two near ones the nearer, but never crosswise. */
static void order_is_kept(void)
{
    draw_ends(&ref, "AB..........Z", 0);
    draw_ends(&mine, "ab..........Z", 0);
    ref.v[1].end_ns = ref.v[0].end_ns + 100 * US;
    mine.v[0].end_ns = 90 * US;
    mine.v[1].end_ns = 120 * US;
    CU_ASSERT_STRING_EQUAL(matched(), "AB.");
    mine.n = 1; /* alone it is B; Z is gone, clocks are taken to agree */
    CU_ASSERT_STRING_EQUAL(matched(), "B");
}

static void strangers_do_not_meet(void)
{
    uint64_t state = 11;
    for (size_t i = 0; i < 200; i++) {
        ref.v[i] = (tl_align_item){
            .end_ns = (int64_t)(i * 10 + unit_below(&state, 9)) * MS, .bytes = -1, .key = i + 1, .kind = TL_ALL_REDUCE
        };
        mine.v[i] = ref.v[i];
        mine.v[i].end_ns = (int64_t)(i * 10 + unit_below(&state, 9)) * MS;
        mine.v[i].key = 0;
    }
    mine.n = ref.n = 200;
    memset(ref.letter, 'x', 200);
    const char *text = matched();
    CU_ASSERT_EQUAL(strspn(text, "."), 200);
}

static void nothing_to_align_is_aligned(void)
{
    draw_ends(&ref, "", 0);
    draw_ends(&mine, "a.b", 0);
    CU_ASSERT_STRING_EQUAL(matched(), "..");
    draw_ends(&ref, "A.B", 0);
    draw_ends(&mine, "", 0);
    CU_ASSERT_STRING_EQUAL(matched(), "");
    draw_ends(&mine, "A.B", 0);
    CU_ASSERT_STRING_EQUAL(matched(), "..");
}

/* A thousand that all ended at once cost no more than a thousand. */
static void a_heap_of_equal_ends_is_bounded(void)
{
    for (size_t i = 0; i < 1500; i++) {
        ref.v[i] = (tl_align_item){ .end_ns = 5, .bytes = -1, .key = i + 1, .kind = TL_ALL_REDUCE };
        mine.v[i] = ref.v[i];
        mine.v[i].key = 0;
    }
    mine.v[1499].key = 1500;
    mine.n = ref.n = 1500;
    tl_align(mine.v, mine.n, ref.v, ref.n, match);
    size_t n = 0;
    int64_t last = -1;
    for (size_t i = 0; i < 1500; i++) {
        if (match[i] < 0)
            continue;
        CU_ASSERT(match[i] > last);
        last = match[i];
        n++;
    }
    CU_ASSERT_EQUAL(n, 128);
}

/* Against trying all: small rows, random ends, the total closeness of the best assignment that keeps the order. */
static int64_t gain(const tl_align_item *a, const tl_align_item *b)
{
    int64_t apart = llabs(a->end_ns - b->end_ns);
    return apart <= 500 * US ? 1000 - 500 * apart / (500 * US) : 0;
}

static int64_t best(size_t i, size_t j)
{
    int64_t most = 0;
    for (size_t a = i; a < mine.n; a++)
        for (size_t b = j; b < ref.n; b++)
            if (gain(&mine.v[a], &ref.v[b]) > 0) {
                int64_t here = gain(&mine.v[a], &ref.v[b]) + best(a + 1, b + 1);
                most = here > most ? here : most;
            }
    return most;
}

static int by_end(const void *a, const void *b)
{
    const tl_align_item *x = a, *y = b;
    return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static void no_other_way_keeps_ends_closer(void)
{
    uint64_t state = 5;
    for (int round = 0; round < 300; round++) {
        mine.n = 1 + unit_below(&state, 6);
        ref.n = 1 + unit_below(&state, 6);
        for (size_t i = 0; i < mine.n; i++)
            mine.v[i] =
                (tl_align_item){ .end_ns = (int64_t)unit_below(&state, 2000) * US, .bytes = -1, .kind = TL_ALL_REDUCE };
        for (size_t i = 0; i < ref.n; i++)
            ref.v[i] =
                (tl_align_item){ .end_ns = (int64_t)unit_below(&state, 2000) * US, .bytes = -1, .kind = TL_ALL_REDUCE };
        qsort(mine.v, mine.n, sizeof *mine.v, by_end);
        qsort(ref.v, ref.n, sizeof *ref.v, by_end);
        int64_t most = best(0, 0);
        for (size_t i = 0; i < ref.n; i++)
            ref.v[i].key = i + 1;
        mine.v[mine.n] = (tl_align_item){ .end_ns = 90 * MS, .key = 99, .kind = TL_ALL_REDUCE };
        ref.v[ref.n] = mine.v[mine.n]; /* clocks agree */
        mine.n++;
        ref.n++;
        tl_align(mine.v, mine.n, ref.v, ref.n, match);
        int64_t got = 0;
        for (size_t i = 0; i < mine.n; i++)
            got += match[i] >= 0 ? gain(&mine.v[i], &ref.v[match[i]]) : 0;
        CU_ASSERT_EQUAL(got, most);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_was_launched_before_the_window_is_found_by_its_end),
        TEST(beside_a_step_the_clocks_are_otherwise_apart),
        TEST(what_has_a_partner_is_not_taken_again),
        TEST(one_wrong_key_moves_no_clock),
        TEST(rows_without_keys_are_shifted_until_they_fit),
        TEST(sizes_tell_what_regular_ends_do_not),
        TEST(kinds_must_agree),
        TEST(all_to_alls_may_end_milliseconds_apart),
        TEST(order_is_kept),
        TEST(strangers_do_not_meet),
        TEST(nothing_to_align_is_aligned),
        TEST(a_heap_of_equal_ends_is_bounded),
        TEST(no_other_way_keeps_ends_closer),
    };
    return unit_main("align", tests, COUNT(tests));
}
