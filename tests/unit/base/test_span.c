/* test_span.c - set operations on spans: drawn cases, and random sets against a bitmap. */
#include "unit.h"

#include "tlmpi/base/span.h"

#include <string.h>

/* A set as a drawing, one column an instant: "..##.#". */
static tl_spans drawn(const char *drawing)
{
    tl_spans set = { 0 };
    for (size_t i = 0; drawing[i] != '\0'; i++)
        if (drawing[i] == '#')
            tl_spans_add(&set, (int64_t)i, (int64_t)i + 1);
    return set;
}

/* Whether the set is this drawing, and normalised: sorted, disjoint, nothing empty, nothing touching. */
static bool looks_like(const tl_spans *set, const char *drawing)
{
    size_t width = strlen(drawing);
    int64_t total = 0;

    for (size_t i = 0; i < set->n; i++) {
        const tl_span *s = &set->v[i];
        if (s->start_ns >= s->end_ns || s->start_ns < 0 || s->end_ns > (int64_t)width)
            return false;
        if (i > 0 && set->v[i - 1].end_ns >= s->start_ns)
            return false;
        if ((s->start_ns > 0 && drawing[s->start_ns - 1] == '#') || drawing[s->end_ns] == '#')
            return false;
        for (int64_t t = s->start_ns; t < s->end_ns; t++)
            if (drawing[t] != '#')
                return false;
        total += s->end_ns - s->start_ns;
    }
    for (size_t i = 0; i < width; i++)
        total -= drawing[i] == '#';
    return total == 0;
}

static void touching_spans_become_one(void)
{
    tl_spans set = { 0 };
    tl_spans_add(&set, 1, 3);
    tl_spans_add(&set, 3, 5);
    tl_spans_add(&set, 4, 4); /* empty: nothing */
    tl_spans_add(&set, 4, 6);
    tl_spans_add(&set, 4, 5); /* inside */
    tl_spans_add(&set, 7, 9);
    tl_spans_add(&set, 9, 8); /* backwards: nothing */
    CU_ASSERT(looks_like(&set, ".#####.##."));
    CU_ASSERT_EQUAL(set.n, 2);
    CU_ASSERT_EQUAL(tl_spans_total(&set), 7);
    tl_spans_free(&set);
    CU_ASSERT_PTR_NULL(set.v);
}

static void the_drawn_case(void)
{
    tl_spans a = drawn("..######..####..##"), out = { 0 };
    tl_spans b = drawn("####..##..##....##");

    tl_spans_subtract(&out, &a, &b);
    CU_ASSERT(looks_like(&out, "....##......##...."));
    tl_spans_subtract(&out, &b, &a);
    CU_ASSERT(looks_like(&out, "##................"));
    tl_spans_clip(&out, &a, 3, 12);
    CU_ASSERT(looks_like(&out, "...#####..##......"));
    tl_spans_clip(&out, &a, 8, 10);
    CU_ASSERT_EQUAL(out.n, 0);
    tl_spans_clip(&out, &a, 12, 3);
    CU_ASSERT_EQUAL(out.n, 0);
    tl_spans_free(&a);
    tl_spans_free(&b);
    tl_spans_free(&out);
}

static void the_ends_of_time_fit(void)
{
    tl_spans all = { 0 }, some = { 0 }, out = { 0 };
    tl_spans_add(&all, INT64_MIN, INT64_MAX);
    tl_spans_add(&some, 0, 5);
    CU_ASSERT_EQUAL(tl_spans_total(&all), INT64_MAX); /* more than an int64_t can say */
    tl_spans_subtract(&out, &all, &some);
    CU_ASSERT_EQUAL(out.n, 2);
    CU_ASSERT_EQUAL(out.v[0].end_ns, 0);
    CU_ASSERT_EQUAL(out.v[1].start_ns, 5);
    tl_spans_free(&all);
    tl_spans_free(&some);
    tl_spans_free(&out);
}

#define WIDTH 72

/* A random set and its drawing, from spans in order of start that overlap, touch and repeat. */
static tl_spans random_set(uint64_t *seed, char *drawing)
{
    tl_spans set = { 0 };
    unsigned density = 1 + unit_below(seed, 12);

    memset(drawing, '.', WIDTH);
    drawing[WIDTH] = '\0';
    for (unsigned t = 0; t < WIDTH; t++) {
        if (unit_below(seed, density + 1) > 1)
            continue;
        unsigned end = t + unit_below(seed, 9);
        end = end < WIDTH ? end : WIDTH;
        tl_spans_add(&set, t, end);
        memset(drawing + t, '#', end - t);
    }
    return set;
}

static void random_sets_agree_with_a_bitmap(void)
{
    uint64_t seed = 4711;
    size_t wrong = 0;
    tl_spans out = { 0 };

    for (int round = 0; round < 20000; round++) {
        char a[WIDTH + 1], b[WIDTH + 1], only[WIDTH + 1], window[WIDTH + 1];
        tl_spans set_a = random_set(&seed, a), set_b = random_set(&seed, b);
        unsigned from = unit_below(&seed, WIDTH + 1), to = unit_below(&seed, WIDTH + 1);

        for (unsigned t = 0; t <= WIDTH; t++) {
            char none = t < WIDTH ? '.' : '\0';
            only[t] = a[t] == '#' && b[t] != '#' ? '#' : none;
            window[t] = a[t] == '#' && t >= from && t < to ? '#' : none;
        }
        wrong += !looks_like(&set_a, a) || !looks_like(&set_b, b);
        tl_spans_subtract(&out, &set_a, &set_b);
        wrong += !looks_like(&out, only);
        tl_spans_clip(&out, &set_a, from, to);
        wrong += !looks_like(&out, window);
        tl_spans_free(&set_a);
        tl_spans_free(&set_b);
    }
    tl_spans_free(&out);
    CU_ASSERT_EQUAL(wrong, 0);
}

static const unit_test tests[] = {
    TEST(touching_spans_become_one),
    TEST(the_drawn_case),
    TEST(the_ends_of_time_fit),
    TEST(random_sets_agree_with_a_bitmap),
};

int main(void)
{
    return unit_main("span", tests, COUNT(tests));
}
