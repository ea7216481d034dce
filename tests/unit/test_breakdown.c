/* test_breakdown.c - compute, exposed communication, exposed copies and idle time, on drawings. */
#include "draw.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/model/tables.h"
#include "unit.h"

static const tl_breakdown *row(drawing *d, int device, int step)
{
    static const tl_breakdown none = { .rank = -9 };
    const tl_table *table = tl_tables_get(&d->out, &tl_breakdown_schema);
    for (size_t i = 0; i < table->n; i++) {
        const tl_breakdown *r = tl_table_row(table, i);
        if (r->rank == 0 && r->device == device && r->step == step)
            return r;
    }
    CU_FAIL("there is no such row");
    return &none;
}

static size_t run(drawing *d)
{
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(tl_breakdown_analysis.per_rank(&d->view, &tl_config_default, &d->out, &err), TL_OK);
    return tl_tables_get(&d->out, &tl_breakdown_schema)->n;
}

/* Microseconds: wall, busy, compute, comm, exposed comm, copy, exposed copy, idle. */
static void check(const tl_breakdown *r, int wall, int busy, int compute, int comm, int comm_exposed, int copy,
                  int copy_exposed, int idle)
{
    CU_ASSERT_EQUAL(r->wall_ns, wall * US);
    CU_ASSERT_EQUAL(r->busy_ns, busy * US);
    CU_ASSERT_EQUAL(r->compute_ns, compute * US);
    CU_ASSERT_EQUAL(r->comm_ns, comm * US);
    CU_ASSERT_EQUAL(r->comm_exposed_ns, comm_exposed * US);
    CU_ASSERT_EQUAL(r->comm_overlapped_ns, (comm - comm_exposed) * US);
    CU_ASSERT_EQUAL(r->copy_ns, copy * US);
    CU_ASSERT_EQUAL(r->copy_exposed_ns, copy_exposed * US);
    CU_ASSERT_EQUAL(r->idle_ns, idle * US);
    CU_ASSERT_EQUAL(r->wall_ns, r->compute_ns + r->comm_exposed_ns + r->copy_exposed_ns + r->idle_ns);
}

static void what_hides_under_compute_is_not_exposed(void)
{
    drawing *d = draw("compute 7: .AAAAA....BBBB....",
                      "comm 9:    ...CCCCC..D...EE..",
                      "memcpy 11: MM....MMMMM....MM.", NULL);
    CU_ASSERT_EQUAL(run(d), 1);
    /*         wall busy comp comm exposed copy exposed idle */
    check(row(d, -1, -1), 17, 17, 9, 8, 4, 9, 4, 0);
    drawing_free(d);
}

static void two_streams_count_an_instant_once(void)
{
    drawing *d = draw("compute 7: AAAA....",
                      "compute 8: ..BBBB..",
                      "compute 9: ......C.", NULL);
    run(d);
    check(row(d, -1, -1), 7, 7, 7, 0, 0, 0, 0, 0);
    drawing_free(d);
}

static void memset_is_a_copy_and_a_gap_is_idle(void)
{
    drawing *d = draw("memset 7:  ..S..",
                      "compute 7: .....", "comm 7: ....C", NULL);
    run(d);
    check(row(d, -1, -1), 3, 2, 0, 1, 1, 1, 1, 1);
    drawing_free(d);
}

static void a_step_looks_through_its_window(void)
{
    drawing *d = draw("steps:     44444445555555....",
                      "compute 7: ..AAA....BB....CC.",
                      "comm 9:    .....DDDD.........", NULL);
    CU_ASSERT_EQUAL(run(d), 3);
    check(row(d, -1, -1), 15, 11, 7, 4, 4, 0, 0, 4);
    check(row(d, -1, 4), 5, 5, 3, 2, 2, 0, 0, 0);
    check(row(d, -1, 5), 4, 4, 2, 2, 2, 0, 0, 0);
    drawing_free(d);
}

static void a_step_without_work_has_a_row_of_zeros(void)
{
    drawing *d = draw("steps:     444555",
                      "compute 7: AAA...", NULL);
    CU_ASSERT_EQUAL(run(d), 3);
    check(row(d, -1, 5), 0, 0, 0, 0, 0, 0, 0, 0);
    drawing_free(d);
}

static void work_of_no_length_stretches_the_wall(void)
{
    drawing *d = draw("steps:     4444455555",
                      "compute 7: |.AA...|..", NULL);
    run(d);
    check(row(d, -1, -1), 7, 2, 2, 0, 0, 0, 0, 5);
    check(row(d, -1, 4), 4, 2, 2, 0, 0, 0, 0, 2);
    check(row(d, -1, 5), 0, 0, 0, 0, 0, 0, 0, 0);
    drawing_free(d);
}

static void devices_have_rows_of_their_own_and_a_sum(void)
{
    drawing *d = draw("compute 0/7: AA..A",
                      "compute 1/7: ..BB.", NULL);
    CU_ASSERT_EQUAL(run(d), 3);
    check(row(d, 0, -1), 5, 3, 3, 0, 0, 0, 0, 2);
    check(row(d, 1, -1), 2, 2, 2, 0, 0, 0, 0, 0);
    check(row(d, -1, -1), 7, 5, 5, 0, 0, 0, 0, 2);
    drawing_free(d);
}

static void a_rank_without_work_has_a_row_of_zeros(void)
{
    drawing *d = draw("host: ab", NULL);
    CU_ASSERT_EQUAL(run(d), 1);
    check(row(d, -1, -1), 0, 0, 0, 0, 0, 0, 0, 0);
    drawing_free(d);
}

static void the_job_is_the_sum_of_its_ranks(void)
{
    drawing *d = draw("steps: 4455", "compute 7: AAA.", NULL);
    tl_error err;

    run(d);
    d->view.rank = 1;
    run(d);
    CU_ASSERT_EQUAL_FATAL(tl_breakdown_analysis.reduce(&d->out, &err), TL_OK);
    const tl_table *table = tl_tables_get(&d->out, &tl_breakdown_schema);
    CU_ASSERT_EQUAL(table->n, 9);
    const tl_breakdown *job = tl_table_row(table, 0);
    CU_ASSERT_EQUAL(job->rank, -1);
    CU_ASSERT_EQUAL(job->step, -1);
    CU_ASSERT_EQUAL(job->compute_ns, 6 * US);
    drawing_free(d);
}

/* Random timelines: the books balance, and the sets agree with counting columns one by one. */
static void the_books_balance_on_random_drawings(void)
{
    uint64_t seed = 7;
    for (int round = 0; round < 300; round++) {
        char line[4][64] = { "compute 7: ", "compute 8: ", "comm 9:    ", "memcpy 11: " };
        int busy[4] = { 0 }, first = 40, last = 0, compute = 0, exposed = 0, copy = 0;
        for (int l = 0; l < 4; l++) {
            for (int c = 0; c < 40; c++)
                line[l][11 + c] = unit_below(&seed, 3) == 0 ? (char)('A' + unit_below(&seed, 2)) : '.';
            line[l][51] = 0;
        }
        for (int c = 0; c < 40; c++) {
            for (int l = 0; l < 4; l++) {
                busy[l] = line[l][11 + c] != '.';
                if (busy[l]) {
                    first = c < first ? c : first;
                    last = c + 1;
                }
            }
            compute += busy[0] || busy[1];
            exposed += busy[2] && !busy[0] && !busy[1];
            copy += busy[3] && !busy[0] && !busy[1] && !busy[2];
        }
        if (last == 0)
            continue;
        drawing *d = draw(line[0], line[1], line[2], line[3], NULL);
        run(d);
        const tl_breakdown *r = row(d, -1, -1);
        CU_ASSERT_EQUAL(r->wall_ns, (last - first) * US);
        CU_ASSERT_EQUAL(r->compute_ns, compute * US);
        CU_ASSERT_EQUAL(r->comm_exposed_ns, exposed * US);
        CU_ASSERT_EQUAL(r->copy_exposed_ns, copy * US);
        CU_ASSERT_EQUAL(r->idle_ns, (last - first - compute - exposed - copy) * US);
        drawing_free(d);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_hides_under_compute_is_not_exposed),
        TEST(two_streams_count_an_instant_once),
        TEST(memset_is_a_copy_and_a_gap_is_idle),
        TEST(a_step_looks_through_its_window),
        TEST(a_step_without_work_has_a_row_of_zeros),
        TEST(work_of_no_length_stretches_the_wall),
        TEST(devices_have_rows_of_their_own_and_a_sum),
        TEST(a_rank_without_work_has_a_row_of_zeros),
        TEST(the_job_is_the_sum_of_its_ranks),
        TEST(the_books_balance_on_random_drawings),
    };
    return unit_main("breakdown", tests, COUNT(tests));
}
