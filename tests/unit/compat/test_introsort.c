/* test_introsort.c - the order of equals is numpy's: what numpy 1.24 made of the same numbers. */
#include "tlmpi/compat/python.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static uint64_t digest(const double *v, size_t n)
{
    uint32_t *order = malloc(n * sizeof *order);
    uint64_t x = 0;
    tl_numpy_argsort(order, v, n);
    for (size_t i = 0; i < n; i++)
        x = x * 1000003 + order[i] + 1;
    free(order);
    return x;
}

/* Few values, each very often. */
static uint64_t digest_of(size_t n, size_t nvalues)
{
    double *v = malloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = (double)(i * 7919 % nvalues);
    uint64_t x = digest(v, n);
    free(v);
    return x;
}

static void a_few_are_inserted_and_stay_in_order(void)
{
    const double v[] = { 2, 1, 2, 1, 2, 1 };
    uint32_t order[6];
    tl_numpy_argsort(order, v, 6);
    CU_ASSERT(order[0] == 1 && order[1] == 3 && order[2] == 5 && order[3] == 0 && order[4] == 2 && order[5] == 4);
    CU_ASSERT_EQUAL(digest_of(16, 5), UINT64_C(0x2073f3179ab13468));
    tl_numpy_argsort(order, v, 0);
}

static void many_are_parted_and_do_not(void)
{
    CU_ASSERT_EQUAL(digest_of(17, 5), UINT64_C(0xafa07bb321d376e5));
    CU_ASSERT_EQUAL(digest_of(40, 3), UINT64_C(0x524e59465deb583e));
    CU_ASSERT_EQUAL(digest_of(1000, 7), UINT64_C(0x3006a53b51fdc8ec));
    CU_ASSERT_EQUAL(digest_of(20000, 100), UINT64_C(0xe7a91cf0e04cf468));
}

/* The median of three is the smallest but one again and again. */
static void what_is_parted_badly_goes_to_a_heap(void)
{
    enum { N = 20000 };
    double *v = calloc(N, sizeof *v);
    for (size_t i = 1; i <= N / 2; i++) {
        if (i % 2 == 1) {
            v[i - 1] = (double)i;
            v[i] = (double)(N / 2 + i);
        }
        v[N / 2 + i - 1] = (double)(2 * i);
    }
    for (size_t i = 0; i < N; i++)
        v[i] = floor(v[i] / 3);
    CU_ASSERT_EQUAL(digest(v, N), UINT64_C(0xcd88d9da0e5ee400));
    free(v);
}

static void describe_is_that_of_pandas(void)
{
    double v[] = { 4, 1, 3, 2 }, d[TL_NDESCRIBED];
    tl_real_describe(d, v, 4);
    CU_ASSERT(d[0] == 4 && d[1] == 2.5 && d[3] == 1 && d[7] == 4);
    CU_ASSERT(d[2] == 1.2909944487358056);
    CU_ASSERT(d[4] == 1.75 && d[5] == 2.5 && d[6] == 3.25);
    tl_real_describe(d, v, 1);
    CU_ASSERT(d[0] == 1 && d[1] == 1 && isnan(d[2]) && d[6] == 1);
    tl_real_describe(d, v, 0);
    CU_ASSERT(d[0] == 0 && isnan(d[1]) && isnan(d[7]));
}

static const unit_test tests[] = {
    TEST(a_few_are_inserted_and_stay_in_order),
    TEST(many_are_parted_and_do_not),
    TEST(what_is_parted_badly_goes_to_a_heap),
    TEST(describe_is_that_of_pandas),
};

int main(void)
{
    return unit_main("introsort", tests, COUNT(tests));
}
