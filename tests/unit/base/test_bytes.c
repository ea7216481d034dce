/* test_bytes.c - numbers and lists as bytes, and back; what is cut short, or tells of too many, is refused. */
#include "tlmpi/base/bytes.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    int64_t ns;
    uint32_t of, at;
} pair;

static const pair pairs[3] = { { -1, 2, 3 }, { INT64_MAX, 0, 1 }, { 0, UINT32_MAX, 7 } };

/* A list that must not be there. */
static void expect_none(tl_bytes *b, size_t size)
{
    size_t n = 77;
    void *v = &n;
    CU_ASSERT_FALSE(tl_bytes_get_list(b, &v, &n, size));
    CU_ASSERT_EQUAL(n, 0);
    CU_ASSERT_PTR_NULL(v);
}

static void what_is_put_is_got_in_its_order(void)
{
    tl_bytes b = { 0 };
    const uint16_t number = 4711;
    uint16_t got = 0;
    pair *list = NULL;
    char *text = NULL;
    size_t n = 0;
    CU_ASSERT_FATAL(tl_bytes_put(&b, &number, sizeof number) && tl_bytes_put_list(&b, pairs, 3, sizeof *pairs) &&
                    tl_bytes_put_list(&b, "abc", 3, 1));
    CU_ASSERT_EQUAL(b.n, sizeof number + sizeof(size_t) + sizeof pairs + sizeof(size_t) + 3);
    CU_ASSERT_TRUE(tl_bytes_get(&b, &got, sizeof got));
    CU_ASSERT_EQUAL(got, number);
    CU_ASSERT_FATAL(tl_bytes_get_list(&b, (void **)&list, &n, sizeof *list));
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT_EQUAL(memcmp(list, pairs, sizeof pairs), 0);
    list[3] = pairs[0]; /* there is room for one more */
    CU_ASSERT_FATAL(tl_bytes_get_list(&b, (void **)&text, &n, 1));
    CU_ASSERT_EQUAL_FATAL(n, 3);
    text[3] = 0;
    CU_ASSERT_STRING_EQUAL(text, "abc");
    CU_ASSERT_EQUAL(b.at, b.n);
    free(list);
    free(text);
    tl_bytes_free(&b);
    CU_ASSERT(b.v == NULL && b.n == 0 && b.cap == 0 && b.at == 0);
}

static void a_list_of_none_is_one(void)
{
    tl_bytes b = { 0 };
    pair *list = NULL;
    size_t n = 5;
    CU_ASSERT_FATAL(tl_bytes_put_list(&b, NULL, 0, sizeof *list));
    CU_ASSERT_FATAL(tl_bytes_get_list(&b, (void **)&list, &n, sizeof *list));
    CU_ASSERT_EQUAL(n, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    list[0] = pairs[1];
    free(list);
    CU_ASSERT_TRUE(tl_bytes_get(&b, NULL, 0));
    expect_none(&b, 1); /* and no other after it */
    tl_bytes_free(&b);
}

static void nothing_is_got_of_what_is_cut_short(void)
{
    tl_bytes all = { 0 };
    CU_ASSERT_FATAL(tl_bytes_put_list(&all, pairs, 3, sizeof *pairs));
    for (size_t n = 0; n < all.n; n++) {
        tl_bytes part = { 0 };
        CU_ASSERT_FATAL(tl_bytes_put(&part, all.v, n));
        expect_none(&part, sizeof *pairs);
        tl_bytes_free(&part);
    }
    tl_bytes_free(&all);
}

static void a_number_that_is_not_there_leaves_what_is(void)
{
    tl_bytes b = { 0 };
    uint32_t small = 5;
    uint64_t large = 9;
    CU_ASSERT_FATAL(tl_bytes_put(&b, &small, sizeof small));
    CU_ASSERT_FALSE(tl_bytes_get(&b, &large, sizeof large));
    CU_ASSERT_EQUAL(large, 9);
    small = 0;
    CU_ASSERT_TRUE(tl_bytes_get(&b, &small, sizeof small));
    CU_ASSERT_EQUAL(small, 5);
    CU_ASSERT_FALSE(tl_bytes_get(&b, &small, 1));
    tl_bytes_free(&b);
}

/* Also where so many times the size is few again. */
static void a_count_that_is_too_large_is_refused(void)
{
    const size_t counts[] = { 4, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / sizeof *pairs, SIZE_MAX / sizeof *pairs + 1,
                              SIZE_MAX / sizeof *pairs + 4, (size_t)1 << 63, ((size_t)1 << 60) + 2 };
    for (size_t i = 0; i < COUNT(counts); i++) {
        tl_bytes b = { 0 };
        CU_ASSERT_FATAL(tl_bytes_put(&b, &counts[i], sizeof counts[i]) && tl_bytes_put(&b, pairs, sizeof pairs));
        expect_none(&b, sizeof *pairs);
        tl_bytes_free(&b);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_is_put_is_got_in_its_order),
        TEST(a_list_of_none_is_one),
        TEST(nothing_is_got_of_what_is_cut_short),
        TEST(a_number_that_is_not_there_leaves_what_is),
        TEST(a_count_that_is_too_large_is_refused),
    };
    return unit_main("bytes", tests, COUNT(tests));
}
