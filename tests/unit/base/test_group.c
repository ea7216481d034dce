/* test_group.c - rows in groups. */
#include "tlmpi/base/group.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static int by_tens(const void *context, uint32_t a, uint32_t b)
{
    const int *v = context;
    return TL_COMPARE(v[a] / 10, v[b] / 10);
}

static void rows_of_a_group_stand_together_and_as_they_were(void)
{
    const int v[] = { 21, 3, 25, 14, 1, 20 };
    uint32_t *order = tl_sorted_index(COUNT(v), by_tens, v);
    const uint32_t want[] = { 1, 4, 3, 0, 2, 5 };
    for (size_t i = 0; i < COUNT(v); i++)
        CU_ASSERT_EQUAL(order[i], want[i]);
    CU_ASSERT_EQUAL(tl_group_end(order, 0, COUNT(v), by_tens, v), 2);
    CU_ASSERT_EQUAL(tl_group_end(order, 2, COUNT(v), by_tens, v), 3);
    CU_ASSERT_EQUAL(tl_group_end(order, 3, COUNT(v), by_tens, v), 6);
    free(order);
    free(tl_sorted_index(0, by_tens, v));
}

/* Runs of any length that overlap much, little or not at all, with equal values in both. */
static void sorting_is_stable_whatever_the_runs(void)
{
    enum { MOST = 700 };
    uint64_t seed = 3;
    for (int trial = 0; trial < 300; trial++) {
        const size_t n = (size_t)unit_below(&seed, MOST), run = 1 + (size_t)unit_below(&seed, MOST);
        const int step = 1 + (int)unit_below(&seed, 12), apart = (int)unit_below(&seed, 3000);
        int v[MOST];
        for (size_t i = 0; i < n; i++)
            v[i] = trial % 5 == 0 ? (int)unit_below(&seed, 500) : (int)(i % run) * step + (int)(i / run) % 3 * apart;
        uint32_t *order = tl_sorted_index(n, by_tens, v);
        for (size_t i = 1; i < n; i++)
            CU_ASSERT_FATAL(v[order[i - 1]] / 10 < v[order[i]] / 10 ||
                            (v[order[i - 1]] / 10 == v[order[i]] / 10 && order[i - 1] < order[i]));
        free(order);
    }
}

static void rows_are_dealt_to_the_groups_that_they_name(void)
{
    const uint32_t group_of[] = { 2, 0, 2, UINT32_MAX, 3, 0 }, want[] = { 1, 5, 0, 2, 4 };
    const size_t begin[] = { 0, 2, 2, 4, 5 };
    size_t first[5];
    uint32_t v[6];
    tl_group_rows(group_of, COUNT(group_of), 4, first, v);
    CU_ASSERT_EQUAL(memcmp(v, want, sizeof want), 0);
    CU_ASSERT_EQUAL(memcmp(first, begin, sizeof begin), 0);
    tl_group_rows(NULL, 0, 0, first, NULL);
    CU_ASSERT_EQUAL(first[0], 0);
}

static int by_first(const void *a, const void *b)
{
    return TL_COMPARE(*(const int *)a, *(const int *)b);
}

/* 9 | 7 + 1 | 4 + 3: each to the proc with the fewest bytes so far. */
static void files_are_dealt_by_size(void)
{
    const uint64_t bytes[] = { 1, 4, 9, 3, 7 };
    const int32_t expected[] = { 1, 2, 0, 2, 1 };
    int32_t *proc = tl_deal_by_size(bytes, COUNT(bytes), 3), *none = tl_deal_by_size(bytes, 0, 3);
    for (size_t i = 0; i < COUNT(bytes); i++)
        CU_ASSERT_EQUAL(proc[i], expected[i]);
    free(proc);
    free(none);
}

static void a_list_is_sorted_also_when_it_is_empty(void)
{
    TL_VEC(int) v = { 0 };
    tl_vec_sort(&v, by_first);
    for (int i = 5; i > 0; i--)
        tl_vec_push(&v, i);
    tl_vec_sort(&v, by_first);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(v.v[i], i + 1);
    free(v.v);
}

static void a_value_is_appended_whole(void)
{
    typedef struct pair {
        int a, b;
    } pair;
    TL_VEC(pair) v = { 0 };
    for (int i = 0; i < 100; i++)
        tl_vec_push(&v, (pair){ i, 2 * i });
    CU_ASSERT_EQUAL(v.n, 100);
    CU_ASSERT(v.v[99].a == 99 && v.v[99].b == 198);
    free(v.v);
}

static const unit_test tests[] = {
    TEST(rows_of_a_group_stand_together_and_as_they_were),
    TEST(sorting_is_stable_whatever_the_runs),
    TEST(rows_are_dealt_to_the_groups_that_they_name),
    TEST(files_are_dealt_by_size),
    TEST(a_list_is_sorted_also_when_it_is_empty),
    TEST(a_value_is_appended_whole),
};

int main(void)
{
    return unit_main("group", tests, COUNT(tests));
}
