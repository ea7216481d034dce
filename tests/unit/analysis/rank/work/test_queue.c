/* test_queue.c - work that was launched and has not started. */
#include "draw.h"
#include "src/analysis/rank/work/internal.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static tl_config config; /* set by main */

static const tl_queue_row *rows_of(drawing *d, size_t n)
{
    tl_queue_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_queue_row_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, n);
    return (const tl_queue_row *)(const void *)table->rows;
}

static void work_waits_from_its_launch_to_its_start(void)
{
    drawing *d = draw("host:      ab.c..............",
                      "compute 7: ....AAA..BBBB.CCC.", NULL); /* 4, 8 and 11 us; 1 2 2 3 2 2 2 2 2 1 1 1 1 1 */
    config.launch.full = 3;
    const tl_queue_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->stream, 7);
    CU_ASSERT_EQUAL(r->kernels, 3);
    CU_ASSERT_EQUAL(r->wall_ns, 17 * US);
    CU_ASSERT_DOUBLE_EQUAL(r->mean_length, 23.0 / 17, 1e-12);
    CU_ASSERT_EQUAL(r->max_length, 3);
    CU_ASSERT_EQUAL(r->median_length, 1);
    CU_ASSERT_EQUAL(r->p95_length, 3);
    CU_ASSERT_EQUAL(r->empty_ns, 3 * US);
    CU_ASSERT_EQUAL(r->full_ns, 1 * US);
    config = tl_config_default;
    drawing_free(d);
}

static void what_starts_leaves_before_the_next_joins(void)
{
    drawing *d = draw("host:      a.b.c...",
                      "compute 7: ..A.B.C.", NULL);
    const tl_queue_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->max_length, 1);
    CU_ASSERT_EQUAL(r->empty_ns, 1 * US);
    drawing_free(d);
}

static void a_graph_adds_all_its_work_at_once(void)
{
    drawing *d = draw("host:      g.......",
                      "compute 7: ..GG.G..",
                      "compute 8: ...G..G.", NULL);
    const tl_queue_row *r = rows_of(d, 2);
    CU_ASSERT_EQUAL(r[0].max_length, 2);
    CU_ASSERT_EQUAL(r[1].stream, 8);
    CU_ASSERT_EQUAL(r[1].max_length, 2);
    CU_ASSERT_DOUBLE_EQUAL(r[1].mean_length, 9.0 / 7, 1e-12);
    drawing_free(d);
}

static void what_has_no_launch_or_starts_before_it_does_not_count(void)
{
    drawing *d = draw("host:      ...bc....",
                      "compute 7: XAB.C....", NULL); /* b is launched at 3 and starts at 2, c starts when it is launched */
    const tl_queue_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->kernels, 4);
    CU_ASSERT_EQUAL(r->wall_ns, 5 * US);
    CU_ASSERT_EQUAL(r->max_length, 0);
    CU_ASSERT_EQUAL(r->empty_ns, 5 * US);
    CU_ASSERT_EQUAL(r->full_ns, 0);
    drawing_free(d);

    d = draw("compute 7: |", NULL);
    r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->wall_ns, 0);
    CU_ASSERT_TRUE(isnan(r->mean_length));
    drawing_free(d);
}

static void a_series_has_a_point_where_the_sum_changes(void)
{
    const tl_load loads[] = { { 5, 9, 2 }, { 0, 5, 1 }, { 5, 7, 3 }, { 0, 5, 4 }, { 12, 14, 1 }, { 14, 15, 1 } };
    const tl_point expected[] = { { 0, 5 }, { 7, 2 }, { 9, 0 }, { 12, 1 }, { 15, 0 } };
    tl_series s = { 0 };
    tl_series_add(&s, loads, COUNT(loads));
    CU_ASSERT_EQUAL_FATAL(s.n, COUNT(expected));
    for (size_t i = 0; i < s.n; i++) {
        CU_ASSERT_EQUAL(s.v[i].at_ns, expected[i].at_ns);
        CU_ASSERT_EQUAL(s.v[i].value, expected[i].value);
    }
    CU_ASSERT_EQUAL(tl_series_max(&s), 5);
    CU_ASSERT_EQUAL(tl_series_ns(&s), 12);
    free(s.v);
}

/* Sums that no integer holds end at the largest. */
static void the_largest_loads_do_not_wrap(void)
{
    const tl_load loads[] = { { INT64_MIN / 2, INT64_MAX / 2, INT64_MAX }, { 0, 1, INT64_MAX } };
    tl_series s = { 0 };
    tl_series_add(&s, loads, COUNT(loads));
    CU_ASSERT_EQUAL(tl_series_max(&s), INT64_MAX);
    CU_ASSERT_EQUAL(s.n, 2); /* 0 and 1 tell nothing new */
    free(s.v);
}

static void what_waits_is_told_over_time(void)
{
    drawing *d = draw("host:      ..ab......",
                      "compute 7: .....AB...", NULL);
    config.series = true;
    tl_series_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_series_row_schema);
    static const int64_t at[] = { 2, 3, 5, 6 }, length[] = { 1, 2, 1, 0 };
    CU_ASSERT_EQUAL_FATAL(table->n, COUNT(at));
    const tl_series_row *s = (const tl_series_row *)(const void *)table->rows;
    for (size_t i = 0; i < COUNT(at); i++) {
        CU_ASSERT_EQUAL(s[i].stream, 7);
        CU_ASSERT_EQUAL(s[i].time_ns, at[i] * US);
        CU_ASSERT_EQUAL(s[i].what, TL_SERIES_QUEUE);
        CU_ASSERT_DOUBLE_EQUAL(s[i].value, (double)length[i], 0);
    }
    config = tl_config_default;
    tl_tables_get(&d->out, &tl_series_row_schema)->n = 0;
    tl_series_analysis.per_rank(&d->view, &config, &d->out);
    CU_ASSERT_EQUAL(tl_tables_get(&d->out, &tl_series_row_schema)->n, 0); /* nobody has asked for it */
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_waits_from_its_launch_to_its_start),
        TEST(what_starts_leaves_before_the_next_joins),
        TEST(a_graph_adds_all_its_work_at_once),
        TEST(what_has_no_launch_or_starts_before_it_does_not_count),
        TEST(a_series_has_a_point_where_the_sum_changes),
        TEST(the_largest_loads_do_not_wrap),
        TEST(what_waits_is_told_over_time),
    };
    config = tl_config_default;
    return unit_main("queue", tests, COUNT(tests));
}
