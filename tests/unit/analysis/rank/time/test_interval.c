/* test_interval.c - what a row of device work says. */
#include "draw.h"
#include "tlmpi/analysis/rank/time.h"
#include "unit.h"

/* -1 is what a table has where there is nothing to say, whatever the trace wrote. */
static void what_is_not_known_is_minus_one(void)
{
    static const int64_t written[] = { 7, 0, -5, INT32_MIN, -1 };
    const tl_config config = { 0 };

    for (size_t i = 0; i < COUNT(written); i++) {
        drawing *d = draw("memcpy 7 copy: .AA.", NULL);
        d->kernels[0].correlation = written[i];
        d->kernels[0].bytes = written[i];
        tl_interval_analysis.per_rank(&d->view, &config, &d->out);
        const tl_interval *row = tl_table_row(tl_tables_get(&d->out, &tl_interval_schema), 0);
        CU_ASSERT_EQUAL(row->correlation, written[i] > 0 ? written[i] : -1);
        CU_ASSERT_EQUAL(row->bytes, written[i] >= 0 ? written[i] : -1);
        drawing_free(d);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_is_not_known_is_minus_one),
    };
    return unit_main("interval", tests, COUNT(tests));
}
