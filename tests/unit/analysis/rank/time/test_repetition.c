/* test_repetition.c - repetitions: what belongs to one, what is left out, and the statistics of many. */
#include "draw.h"
#include "tlmpi/analysis/rank/time/repetition.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static tl_repetition_set find(drawing *d, const tl_repetition_rule *rule)
{
    tl_repetition_set set = { 0 };
    tl_repetition_set_find(&d->view, rule, &set);
    return set;
}

/* b is launched in the first step and runs in the second; c and d overlap; nobody knows who launched e. */
static void work_belongs_to_the_step_that_launched_it(void)
{
    drawing *d = draw("steps:                     1111111111222222222222",
                      "launch 1 cudaLaunchKernel: ..ab......cd..........",
                      "compute 7:                 ....AAAAA.B..CCCC...E.",
                      "compute 8:                 ..............DDDD....", NULL);
    const tl_repetition_rule rule = { .of = TL_REPETITION_STEP };
    tl_repetition_set set = find(d, &rule);
    CU_ASSERT_EQUAL_FATAL(set.v.n, 2);
    const tl_repetition *one = &set.v.v[0], *two = &set.v.v[1];
    CU_ASSERT_EQUAL(one->works, 2); /* B runs in the second step */
    CU_ASSERT_EQUAL(one->kernel_ns, 6 * US);
    CU_ASSERT_EQUAL(one->busy_ns, 6 * US);
    CU_ASSERT_EQUAL(one->span_ns, 7 * US);
    CU_ASSERT_EQUAL(one->bubble_ns, 1 * US);
    CU_ASSERT_EQUAL(two->works, 2);
    CU_ASSERT_EQUAL(two->kernel_ns, 8 * US);
    CU_ASSERT_EQUAL(two->busy_ns, 5 * US);
    CU_ASSERT_EQUAL(two->span_ns, 5 * US);
    CU_ASSERT_EQUAL(two->bubble_ns, 0);
    CU_ASSERT_EQUAL(two->forward_ns, 8 * US);
    CU_ASSERT_EQUAL(set.unlinked, 1);
    CU_ASSERT_EQUAL(set.outside, 0);
    CU_ASSERT_EQUAL(set.shares.n, 4);
    tl_repetition_set_free(&set);
    drawing_free(d);
}

static void annotations_in_annotations_of_the_name_are_parts(void)
{
    drawing *d = draw("mark 1 rep:                ======..====....",
                      "mark 1 rep:                ..==............",
                      "mark 1 other:              .............==.",
                      "launch 1 cudaLaunchKernel: a..b.c...d....e.",
                      "compute 7:                 .A..B..C..D....E", NULL);
    const tl_repetition_rule rule = { .of = TL_REPETITION_ANNOTATION, .name = "rep" };
    tl_repetition_set set = find(d, &rule);
    CU_ASSERT_EQUAL_FATAL(set.v.n, 2);
    CU_ASSERT_EQUAL(set.v.v[0].works, 3);
    CU_ASSERT_EQUAL(set.v.v[1].works, 1);
    CU_ASSERT_STRING_EQUAL(set.v.v[1].name, "rep");
    CU_ASSERT_EQUAL(set.nested, 1);
    CU_ASSERT_EQUAL(set.beside, 0);
    CU_ASSERT_EQUAL(set.outside, 1);
    CU_ASSERT_EQUAL(set.outside_ns, 1 * US);
    tl_repetition_set_free(&set);
    const tl_repetition_rule file = { .of = TL_REPETITION_FILE };
    set = find(d, &file);
    CU_ASSERT_EQUAL_FATAL(set.v.n, 1);
    CU_ASSERT_EQUAL(set.v.v[0].works, 5);
    tl_repetition_set_free(&set);
    drawing_free(d);
}

/* Thread 3 has none of its own: c is of the only one that is open, d of the one that began last, e of none. */
static void threads_have_repetitions_of_their_own(void)
{
    drawing *d = draw("mark 1 rep:                ======.........",
                      "mark 2 rep:                ...======......",
                      "launch 1 cudaLaunchKernel: a..............",
                      "launch 2 cudaLaunchKernel: .....b.........",
                      "launch 3 cudaLaunchKernel: .c..d.......e..",
                      "compute 7:                 .A.CCDDDDBB.EEE", NULL);
    const tl_repetition_rule rule = { .of = TL_REPETITION_ANNOTATION, .name = "rep" };
    tl_repetition_set set = find(d, &rule);
    CU_ASSERT_EQUAL_FATAL(set.v.n, 2);
    CU_ASSERT_EQUAL(set.v.v[0].kernel_ns, 3 * US);
    CU_ASSERT_EQUAL(set.v.v[0].rep, 0);
    CU_ASSERT_EQUAL(set.v.v[1].kernel_ns, 6 * US);
    CU_ASSERT_EQUAL(set.v.v[1].rep, 1);
    CU_ASSERT_EQUAL(set.nested, 0);
    CU_ASSERT_EQUAL(set.beside, 1);
    CU_ASSERT_EQUAL(set.guessed, 1);
    CU_ASSERT_EQUAL(set.outside, 1);
    CU_ASSERT_EQUAL(set.outside_ns, 3 * US);
    tl_repetition_set_free(&set);
    drawing_free(d);
}

static void work_is_left_out_by_name_and_by_place(void)
{
    drawing *d = draw("steps:                     1111111111",
                      "launch 1 cudaLaunchKernel: abc..b....",
                      "compute 7:                 .AAABC.BB.", NULL);
    regex_t b;
    CU_ASSERT_EQUAL_FATAL(regcomp(&b, "^B$", REG_EXTENDED | REG_NOSUB), 0);
    const tl_repetition_rule rule = { .of = TL_REPETITION_STEP, .skip = 1, .exclude = &b };
    tl_repetition_set set = find(d, &rule);
    CU_ASSERT_EQUAL_FATAL(set.v.n, 1);
    CU_ASSERT_EQUAL(set.v.v[0].works, 1);
    CU_ASSERT_EQUAL(set.v.v[0].kernel_ns, 1 * US);
    CU_ASSERT_EQUAL(set.v.v[0].excluded, 3);
    CU_ASSERT_EQUAL(set.v.v[0].excluded_ns, 6 * US);
    regfree(&b);
    tl_repetition_set_free(&set);
    drawing_free(d);
}

static void what_autograd_launches_is_backward(void)
{
    drawing *d = draw("steps:                                              111111111111111111",
                      "op 2 autograd::engine::evaluate_function: MmBackward0: ......======......",
                      "op 2 aten::mm:                                      .......===........",
                      "op 1 aten::mm:                                      .===..............",
                      "launch 1 cudaLaunchKernel:                          ..a...............",
                      "launch 2 cudaLaunchKernel:                          ........b.c...d...",
                      "compute 7:                                          ...AA....BBBC..DD.", NULL);
    const tl_repetition_rule rule = { .of = TL_REPETITION_STEP };
    for (size_t i = 0; i < d->view.nlaunches; i++) /* as the view of a trace has it */
        for (size_t k = 0; k < d->view.ops.n; k++)
            if (d->launches[i].start_ns >= d->view.ops.start_ns[k] &&
                d->launches[i].start_ns < d->view.ops.start_ns[k] + d->view.ops.dur_ns[k])
                d->launches[i].op = (uint32_t)k;
    tl_repetition_set set = find(d, &rule);
    CU_ASSERT_EQUAL_FATAL(set.v.n, 1);
    CU_ASSERT_EQUAL(set.v.v[0].backward_ns, 4 * US);
    CU_ASSERT_EQUAL(set.v.v[0].forward_ns, 4 * US);
    CU_ASSERT_EQUAL(set.v.v[0].kernel_ns, 8 * US);
    tl_repetition_set_free(&set);
    drawing_free(d);
}

/* The interval of the median by order statistics, as tables have it: n = 6: least and most; 20: 6th and 15th. */
static void the_median_has_an_interval(void)
{
    static const struct {
        size_t n, k;
    } known[] = { { 1, 0 }, { 5, 0 }, { 6, 1 }, { 8, 1 }, { 9, 2 }, { 20, 6 }, { 50, 18 }, { 100, 40 } };
    for (size_t i = 0; i < COUNT(known); i++) {
        int64_t values[128];
        tl_repetition_stat stat;
        for (size_t k = 0; k < known[i].n; k++)
            values[k] = (int64_t)(100 - k); /* any order */
        tl_repetition_summarise(values, known[i].n, &stat);
        if (known[i].k == 0) {
            CU_ASSERT_TRUE(isnan(stat.low_ns) && isnan(stat.high_ns));
            continue;
        }
        CU_ASSERT_DOUBLE_EQUAL(stat.low_ns, (double)(100 - known[i].n + known[i].k), 1e-9);
        CU_ASSERT_DOUBLE_EQUAL(stat.high_ns, (double)(101 - known[i].k), 1e-9);
    }
    int64_t three[] = { 4, 1, 7 };
    tl_repetition_stat stat;
    tl_repetition_summarise(three, 3, &stat);
    CU_ASSERT_DOUBLE_EQUAL(stat.median_ns, 4, 0);
    CU_ASSERT_DOUBLE_EQUAL(stat.std_ns, sqrt(6), 1e-12); /* divided by 3 */
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Against all differences, written out. */
static void differences_are_those_of_all_pairs(void)
{
    uint64_t random = 88172645463325252;
    for (int round = 0; round < 50; round++) {
        int64_t a[40], b[40], all[1600];
        size_t n = 1 + (size_t)round % 40, m = 1 + (size_t)(7 * round) % 40, nall = 0;
        for (size_t i = 0; i < 80; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            (i < 40 ? a : b)[i % 40] = (int64_t)(random % (round < 25 ? 20 : 100000));
        }
        qsort(a, n, sizeof *a, compare_ns);
        qsort(b, m, sizeof *b, compare_ns);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < m; k++)
                all[nall++] = a[i] - b[k];
        qsort(all, nall, sizeof *all, compare_ns);
        tl_repetition_compare got;
        tl_repetition_compare_with(a, n, b, m, &got);
        CU_ASSERT_DOUBLE_EQUAL(got.difference_ns, ((double)all[(nall - 1) / 2] + (double)all[nall / 2]) / 2, 0);
        double place = floor((double)nall / 2 - 1.959963984540054 * sqrt((double)nall * (double)(n + m + 1) / 12));
        if (place < 1) {
            CU_ASSERT_TRUE(isnan(got.low_ns) && isnan(got.high_ns));
        } else {
            CU_ASSERT_DOUBLE_EQUAL(got.low_ns, (double)all[(size_t)place - 1], 0);
            CU_ASSERT_DOUBLE_EQUAL(got.high_ns, (double)all[nall - (size_t)place], 0);
        }
    }
}

/* Also of more numbers than would be compared two by two. */
static void all_numbers_are_compared(void)
{
    enum { N = 10000 };
    int64_t *v = malloc(N * sizeof *v);
    const int64_t base[] = { 0 };
    tl_repetition_compare got;
    CU_ASSERT_PTR_NOT_NULL_FATAL(v);
    for (int64_t i = 0; i < N; i++)
        v[i] = i * i;
    tl_repetition_compare_with(v, N, base, 1, &got);
    CU_ASSERT_DOUBLE_EQUAL(got.difference_ns, (4999.0 * 4999.0 + 5000.0 * 5000.0) / 2, 0);
    free(v);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_belongs_to_the_step_that_launched_it),
        TEST(annotations_in_annotations_of_the_name_are_parts),
        TEST(threads_have_repetitions_of_their_own),
        TEST(work_is_left_out_by_name_and_by_place),
        TEST(what_autograd_launches_is_backward),
        TEST(the_median_has_an_interval),
        TEST(differences_are_those_of_all_pairs),
        TEST(all_numbers_are_compared),
    };
    return unit_main("repetition", tests, COUNT(tests));
}
