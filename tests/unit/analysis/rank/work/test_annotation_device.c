/* test_annotation_device.c - user annotations as the profiler mirrors them on the device. */
#include "draw.h"
#include "tlmpi/analysis/rank/work.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static const tl_config config = { 0 };

static const tl_annotation_device *rows_of(drawing *d, size_t n)
{
    tl_annotation_device_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_annotation_device_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, n);
    return (const tl_annotation_device *)(const void *)table->rows;
}

static void ranges_of_a_name_are_one_row_the_most_time_first(void)
{
    drawing *d = draw("compute 7: A", NULL);
    uint32_t step = tl_names_intern(&d->names, "ProfilerStep#4", 14), b = tl_names_intern(&d->names, "b", 1),
             a = tl_names_intern(&d->names, "A", 1);
    const tl_device_range ranges[] = { { 0, 9, a, 0 }, { 1, 2, step, 1 }, { 20, 5, b, 2 }, { 30, 1, step, 3 }, { 40, 6, step, 4 } };
    d->view.ranges = ranges;
    d->view.nranges = COUNT(ranges);
    const tl_annotation_device *r = rows_of(d, 3);
    CU_ASSERT_EQUAL(r[0].name, a); /* of equals the first by name */
    CU_ASSERT_EQUAL(r[0].place, 1);
    CU_ASSERT_TRUE(isnan(r[0].std_ns));
    CU_ASSERT_EQUAL(r[1].name, step);
    CU_ASSERT_EQUAL(r[1].count, 3);
    CU_ASSERT_EQUAL(r[1].total_ns, 9);
    CU_ASSERT_DOUBLE_EQUAL(r[1].std_ns, sqrt(7), 1e-12); /* 2 1 6: (1 + 4 + 9) / 2 */
    CU_ASSERT_EQUAL(r[1].min_ns, 1);
    CU_ASSERT_EQUAL(r[1].max_ns, 6);
    CU_ASSERT_EQUAL(r[2].name, b);
    CU_ASSERT_EQUAL(r[2].place, 3);
    drawing_free(d);
}

static void a_device_without_ranges_has_no_rows(void)
{
    drawing *d = draw("mark 1 forward: ===", "compute 7: A", NULL);
    (void)rows_of(d, 0);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(ranges_of_a_name_are_one_row_the_most_time_first),
        TEST(a_device_without_ranges_has_no_rows),
    };
    return unit_main("annotation_device", tests, COUNT(tests));
}
