/* test_mix.c - what ran at once, on drawings. */
#include "draw.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/model/tables.h"
#include "unit.h"

/* Microseconds by mix, in the order of the bits. */
static void check_mixes(drawing *d, const int us[8])
{
    const tl_table *table = tl_tables_get(&d->out, &tl_mix_schema);
    size_t at = 0;
    int all = 0;
    for (int i = 0; i < 8; i++)
        all += us[i];
    for (int i = 0; i < 8; i++) {
        if (us[i] == 0)
            continue;
        CU_ASSERT_FATAL(at < table->n);
        const tl_mix *row = tl_table_row(table, at++);
        CU_ASSERT_EQUAL(row->running, i);
        CU_ASSERT_EQUAL(row->time_ns, us[i] * US);
        CU_ASSERT_DOUBLE_EQUAL(row->share, (double)us[i] / all, 1e-12);
    }
    CU_ASSERT_EQUAL(table->n, at);
}

static void run(drawing *d)
{
    tl_breakdown_analysis.per_rank(&d->view, &tl_config_default, &d->out);
}

static void what_runs_at_once_is_told_apart(void)
{
    drawing *d = draw("compute 7: .AAAAA....BBBB....",
                      "comm 9:    ...CCCCC..D...EE..",
                      "memcpy 11: MM....MMMMM...MM.M",
                      "memset 7:  .............|....", NULL);
    run(d);
    /*                        idle  c  x cx  m cm xm all */
    check_mixes(d, (const int[]){ 1, 4, 0, 3, 4, 1, 4, 1 });
    drawing_free(d);
}

static void devices_and_ranks_add_up(void)
{
    drawing *d = draw("compute 0/7: ..AA..", "compute 1/7: .BB...", "memcpy 1/8: |..M.|", NULL); /* idle: 0 on device 0, 2 on 1 */
    run(d);
    check_mixes(d, (const int[]){ 2, 4, 0, 0, 1, 0, 0, 0 });
    tl_breakdown_analysis.reduce(&d->out);
    const tl_mix *job = tl_table_row(tl_tables_get(&d->out, &tl_mix_schema), 0);
    CU_ASSERT_EQUAL(job[1].rank, -1);
    CU_ASSERT_EQUAL(job[1].time_ns, 4 * US);
    drawing_free(d);
}

static void what_takes_no_time_has_no_row(void)
{
    drawing *d = draw("compute 7: |", NULL);
    run(d);
    CU_ASSERT_EQUAL(tl_tables_get(&d->out, &tl_mix_schema)->n, 0);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_runs_at_once_is_told_apart),
        TEST(devices_and_ranks_add_up),
        TEST(what_takes_no_time_has_no_row),
    };
    return unit_main("mix", tests, COUNT(tests));
}
