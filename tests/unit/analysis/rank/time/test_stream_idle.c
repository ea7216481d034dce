/* test_stream_idle.c - idle streams: with their device or beside it, and what they waited for. */
#include "draw.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/model/idle_tables.h"
#include "unit.h"
#include <math.h>

/* b is launched while its stream is idle, c in good time, d late and starts late; e's launch nobody saw. */
static void what_a_stream_waits_for_is_split_at_the_launch(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a.....bc............d............",
                      "compute 7:                 .AAA.....BB...CC.........DD..EE", NULL);
    tl_config config = tl_config_default;
    config.idle.kernel_ns = 3 * US;
    tl_stream_idle_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_stream_idle_schema);
    const int64_t expected[][5] = { { TL_STREAM_ALL, 4, 19 * US, 2 * US, 9 * US }, /* of 2, 3, 5 and 9 us */
                                    { TL_STREAM_HOST_WAIT, 2, 6 * US, 2 * US, 4 * US }, /* before the launches of b and d */
                                    { TL_STREAM_KERNEL_WAIT, 2, 6 * US, 3 * US, 3 * US }, /* then to b, and all before c */
                                    { TL_STREAM_OTHER, 1, 5 * US, 5 * US, 5 * US },     /* from the launch of d to d */
                                    { TL_STREAM_UNKNOWN, 1, 2 * US, 2 * US, 2 * US } };
    CU_ASSERT_EQUAL_FATAL(table->n, COUNT(expected));
    const tl_stream_idle *row = tl_table_row(table, 0), *waits = row + 1;
    CU_ASSERT_DOUBLE_EQUAL(row->p25_ns, 2.75 * US, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(row->median_ns, 4 * US, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(row->p75_ns, 6 * US, 1e-9);
    for (size_t i = 0; i < COUNT(expected); i++) {
        CU_ASSERT_TRUE(row[i].device == row->device && row[i].stream == 7);
        CU_ASSERT_EQUAL(row[i].waited_for, expected[i][0]);
        CU_ASSERT_EQUAL(row[i].count, expected[i][1]);
        CU_ASSERT_EQUAL(row[i].total_ns, expected[i][2]);
        CU_ASSERT_EQUAL(row[i].min_ns, expected[i][3]);
        CU_ASSERT_EQUAL(row[i].max_ns, expected[i][4]);
    }
    CU_ASSERT_DOUBLE_EQUAL(waits[0].std_ns, 1414.2135623731, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(waits[0].p25_ns, 2.5 * US, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(waits[0].median_ns, 3 * US, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(waits[0].p75_ns, 3.5 * US, 1e-9);
    CU_ASSERT_TRUE(isnan(waits[2].std_ns));
    drawing_free(d);
}

/* Work that begins while other work of the stream still runs ends no gap, and a launch that seems to come after its work
 * takes no more than the gap. */
static void no_more_than_a_gap_is_split(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: ......c..b.........e",
                      "compute 7:                 AAAAA...BB......D.E.",
                      "compute 7:                 .......CCCCCCC......", NULL);
    tl_stream_idle_analysis.per_rank(&d->view, &tl_config_default, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_stream_idle_schema);
    const int64_t expected[][3] = { { TL_STREAM_ALL, 3, 5 * US },
                                    { TL_STREAM_HOST_WAIT, 2, 1 * US + 1 * US },
                                    { TL_STREAM_KERNEL_WAIT, 1, 1 * US },
                                    { TL_STREAM_UNKNOWN, 1, 2 * US } };
    CU_ASSERT_EQUAL_FATAL(table->n, COUNT(expected));
    const tl_stream_idle *row = tl_table_row(table, 0);
    for (size_t i = 0; i < COUNT(expected); i++) {
        CU_ASSERT_EQUAL(row[i].waited_for, expected[i][0]);
        CU_ASSERT_EQUAL(row[i].count, expected[i][1]);
        CU_ASSERT_EQUAL(row[i].total_ns, expected[i][2]);
    }
    drawing_free(d);
}

static void each_stream_of_each_device_has_rows(void)
{
    drawing *d =
        draw("compute 7: AAAA....BB....CC", "comm 9:    ..DDDD.........EE.", "compute 1/7: FFFFFFFFFFFF", NULL);
    tl_stream_idle_analysis.per_rank(&d->view, &tl_config_default, &d->out);
    const tl_table *t = tl_tables_get(&d->out, &tl_stream_idle_schema);
    const tl_stream_idle *v[3] = { NULL }; /* their rows of all */
    size_t n = 0;
    for (size_t i = 0; i < t->n && n < COUNT(v); i++) {
        const tl_stream_idle *row = tl_table_row(t, i);
        if (row->waited_for == TL_STREAM_ALL)
            v[n++] = row;
    }
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT_EQUAL(v[0]->total_ns, 8 * US);
    CU_ASSERT_EQUAL(v[0]->count, 2);
    CU_ASSERT_EQUAL(v[0]->max_ns, 4 * US);
    CU_ASSERT_EQUAL(v[1]->total_ns, 9 * US);
    CU_ASSERT_EQUAL(v[2]->device, 1);
    CU_ASSERT_EQUAL(v[2]->total_ns, 0);
    CU_ASSERT_TRUE(isnan(v[2]->median_ns));
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_a_stream_waits_for_is_split_at_the_launch),
        TEST(no_more_than_a_gap_is_split),
        TEST(each_stream_of_each_device_has_rows),
    };
    return unit_main("stream_idle", tests, COUNT(tests));
}
