/* test_hta_spans.c - HTA's sets of spans. */
#include "hta_trace.h"
#include "tlmpi/model/schema.h"
#include <math.h>

static tl_hta_spans spans_of(const tl_hta_job *job, tl_hta_class class)
{
    return tl_hta_spans_of(&job->frames.v[0], class);
}

static void rows_that_overlap_or_touch_are_one_span(void)
{
    /*     ts     0         1         2
     *            0123456789012345678901234
     *     7      ....AAAA....BB...........
     *     8      ......CCCCCC.....D..E....       D is empty, E (from 20) ends at 19
     *     9      .......F.F...............       within C, which goes on
     */
    tl_hta_job job = load(TRACE(OP("host", "0", "24") "," KERNEL("B", "7", "2", "12", "2") ","
                                KERNEL("A", "7", "1", "4", "4") "," KERNEL("C", "8", "3", "6", "6") ","
                                KERNEL("D", "8", "4", "17", "0") "," KERNEL("E", "8", "5", "20", "-1") ","
                                KERNEL("F", "9", "6", "7", "1") "," KERNEL("F", "9", "7", "9", "1")), NULL, false);
    tl_hta_spans all = spans_of(&job, TL_HTA_ANY_CLASS), memory = spans_of(&job, TL_HTA_MEMORY);

    CU_ASSERT_EQUAL_FATAL(all.n, 3);
    CU_ASSERT_EQUAL(all.v[0].ts, 4);
    CU_ASSERT_EQUAL(all.v[0].end, 14);
    CU_ASSERT_EQUAL(all.v[1].ts, 17);
    CU_ASSERT_EQUAL(all.v[1].end, 17);
    CU_ASSERT_EQUAL(all.v[2].end, 19);
    CU_ASSERT_EQUAL(tl_hta_spans_total(&all), 9);       /* 10 + 0 - 1 */
    CU_ASSERT_EQUAL(tl_hta_spans_lengths(&all), 9);
    CU_ASSERT_EQUAL(memory.n, 0);
    CU_ASSERT_EQUAL(tl_hta_spans_total(&memory), 0);
    free(all.v);
    free(memory.v);
    tl_hta_job_free(&job);
}

static void overlap_is_where_both_are(void)
{
    tl_hta_span a[] = { { 0, 4 }, { 6, 10 }, { 12, 12 }, { 20, 30 } },
                b[] = { { 2, 7 }, { 8, 9 }, { 11, 21 }, { 29, 40 } };
    tl_hta_spans x = { .v = a, .n = COUNT(a) }, y = { .v = b, .n = COUNT(b) }, none = { 0 };

    CU_ASSERT_EQUAL(tl_hta_spans_overlap(&x, &y), 2 + 1 + 1 + 1 + 1);
    CU_ASSERT_EQUAL(tl_hta_spans_overlap(&y, &x), 6);
    CU_ASSERT_EQUAL(tl_hta_spans_overlap(&x, &none), 0);
}

static const unit_test tests[] = {
    TEST(rows_that_overlap_or_touch_are_one_span),
    TEST(overlap_is_where_both_are),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta spans", tests, COUNT(tests));
    scratch_remove();
    return status;
}
