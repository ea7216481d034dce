/* test_breakdown.c - compute, exposed communication, exposed copies and idle time, on drawings. */
#include "draw.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/model/tables.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    tl_breakdown_analysis.per_rank(&d->view, &tl_config_default, &d->out);
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

    run(d);
    d->view.rank = 1;
    run(d);
    tl_breakdown_analysis.reduce(&d->out);
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

/* One of a step's columns: whether the device computes, communicates, copies in it. */
static int runs_at(const drawing *d, int device, uint8_t kind, int64_t at_ns)
{
    for (size_t i = 0; i < d->view.nkernels; i++) {
        const tl_kernel *k = &d->kernels[i];
        if (k->device == device && k->kind == kind && k->start_ns <= at_ns && at_ns < k->end_ns)
            return 1;
    }
    return 0;
}

/* The row of a device and a step, counted column by column. */
static tl_breakdown counted(const drawing *d, int device, const tl_step_window *step)
{
    tl_breakdown r = { .device = device, .step = step->number };
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int64_t at = step->start_ns; at < step->end_ns; at += US) {
        int compute = runs_at(d, device, TL_COMPUTE, at), comm = runs_at(d, device, TL_COMM, at),
            copy = runs_at(d, device, TL_MEMCPY, at);
        r.compute_ns += compute * US;
        r.comm_ns += comm * US;
        r.comm_exposed_ns += (comm && !compute) * US;
        r.copy_ns += copy * US;
        r.copy_exposed_ns += (copy && !comm && !compute) * US;
        r.busy_ns += (compute || comm || copy) * US;
        if (compute || comm || copy) {
            first = at < first ? at : first;
            last = at + US;
        }
    }
    r.wall_ns = first < last ? last - first : 0;
    r.idle_ns = r.wall_ns - r.busy_ns;
    return r;
}

static void add_row(tl_breakdown *sum, const tl_breakdown *r)
{
    sum->wall_ns += r->wall_ns;
    sum->busy_ns += r->busy_ns;
    sum->compute_ns += r->compute_ns;
    sum->comm_ns += r->comm_ns;
    sum->comm_exposed_ns += r->comm_exposed_ns;
    sum->copy_ns += r->copy_ns;
    sum->copy_exposed_ns += r->copy_exposed_ns;
    sum->idle_ns += r->idle_ns;
}

static bool same_measures(const tl_breakdown *a, const tl_breakdown *b)
{
    return a->wall_ns == b->wall_ns && a->busy_ns == b->busy_ns && a->compute_ns == b->compute_ns &&
           a->comm_ns == b->comm_ns &&
           a->comm_exposed_ns == b->comm_exposed_ns && a->copy_ns == b->copy_ns &&
           a->copy_exposed_ns == b->copy_exposed_ns && a->idle_ns == b->idle_ns;
}

/* 48 columns of runs of letters and gaps, short and long. */
static void random_runs(uint64_t *seed, char *time)
{
    for (unsigned c = 0, n; c < 48; c += n) {
        n = 1 + (unit_below(seed, 3) == 0 ? unit_below(seed, 20) : unit_below(seed, 4));
        n = c + n > 48 ? 48 - c : n;
        memset(time + c, unit_below(seed, 2) ? 'A' + (int)(c % 2) : '.', n);
    }
}

/* Long kernels that run through steps, short ones in them, steps without work: each row is what counting its columns
 * says, a device has the rows of the steps in which it worked, and no others. */
static void devices_and_steps_agree_with_counting_columns(void)
{
    uint64_t seed = 11;
    for (int round = 0; round < 200; round++) {
        char line[5][64] = { "compute 0/7: ", "comm 0/9:    ", "compute 1/7: ", "comm 1/9:    ", "memcpy 1/11: " };
        for (int l = 0; l < 5; l++)
            random_runs(&seed, line[l] + 13);
        drawing *d = draw(line[0], line[1], line[2], line[3], line[4],
                          "steps:       000001111122222333334444455555666667777788888", NULL);
        bool several = d->view.nkernels > 0 && d->kernels[0].device != d->kernels[d->view.nkernels - 1].device;
        size_t rows = run(d), expected = 1 + d->view.nsteps + (several ? 2 : 0);
        for (size_t s = 0; s < d->view.nsteps; s++) {
            const tl_step_window *step = &d->view.steps[s];
            tl_breakdown sum = { .device = -1, .step = step->number };
            for (int device = 0; device < 2; device++) {
                tl_breakdown want = counted(d, device, step);
                add_row(&sum, &want);
                if (want.wall_ns == 0 || !several)
                    continue;
                expected++;
                CU_ASSERT_TRUE(same_measures(row(d, device, step->number), &want));
            }
            CU_ASSERT_TRUE(same_measures(row(d, -1, step->number), &sum));
        }
        CU_ASSERT_EQUAL(rows, expected);
        drawing_free(d);
    }
}

/* A view of `devices` devices, one kernel each, and `steps` steps of 10 us; kernel i is [start, end) of i, in us. */
typedef struct crowd {
    drawing *d;
    tl_kernel *kernels;
    tl_step_window *steps;
} crowd;

static crowd crowd_of(int devices, int steps)
{
    crowd c = { draw("host: a", NULL), calloc((size_t)devices, sizeof *c.kernels), calloc((size_t)steps, sizeof *c.steps) };
    if (c.kernels == NULL || c.steps == NULL)
        abort();
    for (int i = 0; i < devices; i++)
        c.kernels[i] = (tl_kernel){ .device = i, .kind = TL_COMPUTE, .launch = TL_NONE };
    for (int i = 0; i < steps; i++)
        c.steps[i] = (tl_step_window){ i * 10 * US, (i + 1) * 10 * US, i, TL_NO_NAME };
    c.d->view.kernels = c.kernels;
    c.d->view.nkernels = (size_t)devices;
    c.d->view.steps = c.steps;
    c.d->view.nsteps = (size_t)steps;
    return c;
}

static void crowd_free(crowd *c)
{
    drawing_free(c->d);
    free(c->kernels);
    free(c->steps);
}

static void rows_are_as_many_as_work_and_not_as_devices_times_steps(void)
{
    crowd c = crowd_of(1000, 1000);
    for (int i = 0; i < 1000; i++) {
        c.kernels[i].start_ns = (i * 10 + 8) * US;          /* two steps each, the last one */
        c.kernels[i].end_ns = (i * 10 + 11) * US;
    }
    CU_ASSERT_EQUAL(run(c.d), 1001 + 1000 + 1999);
    check(row(c.d, 500, 501), 1, 1, 1, 0, 0, 0, 0, 0);
    check(row(c.d, -1, 501), 3, 3, 3, 0, 0, 0, 0, 0);
    crowd_free(&c);
}

static void where_every_device_works_in_every_step_the_sums_are_left(void)
{
    crowd c = crowd_of(1000, 1000);
    for (int i = 0; i < 1000; i++) {
        c.kernels[i].start_ns = 3 * US;
        c.kernels[i].end_ns = (10000 - 3) * US;
    }
    CU_ASSERT_EQUAL(run(c.d), 1001 + 1000);
    check(row(c.d, 500, -1), 9994, 9994, 9994, 0, 0, 0, 0, 0);
    check(row(c.d, -1, 0), 7000, 7000, 7000, 0, 0, 0, 0, 0);
    check(row(c.d, -1, 501), 10000, 10000, 10000, 0, 0, 0, 0, 0);
    check(row(c.d, -1, 999), 7000, 7000, 7000, 0, 0, 0, 0, 0);
    crowd_free(&c);
}

static void sums_end_at_the_largest_integer(void)
{
    crowd c = crowd_of(8, 1);
    for (int i = 0; i < 8; i++)
        c.kernels[i].end_ns = INT64_C(1) << 61;
    c.steps[0].end_ns = INT64_C(1) << 61;
    run(c.d);
    CU_ASSERT_EQUAL(row(c.d, 7, -1)->wall_ns, INT64_C(1) << 61);
    CU_ASSERT_EQUAL(row(c.d, -1, -1)->wall_ns, INT64_MAX);
    CU_ASSERT_EQUAL(row(c.d, -1, 0)->compute_ns, INT64_MAX);
    crowd_free(&c);
}

/* A does 312 kFLOP, 1 ns of an A100 at its peak, two thirds of them in step 4, and so does B, where that is known. */
static void operations_count_where_their_kernel_runs(void)
{
    for (size_t known = 0; known <= 2; known++) {
        drawing *d = draw("steps:          44444445555555",
                          "launch 1 l:     a....b........",
                          "compute 7 gemm: .....AAA......",
                          "compute 8 gemm: .........BB...", NULL);
        const tl_flop flops[] = { { 312000, 0, 0, TL_F16 }, { 312000, 1, 0, TL_F16 } };
        d->view.flops = flops;
        d->view.nflops = known;
        d->view.device_name = "NVIDIA A100-SXM4-40GB";
        run(d);
        tl_breakdown_analysis.reduce(&d->out);
        const tl_breakdown *four = row(d, -1, 4), *five = row(d, -1, 5), *all = row(d, -1, -1);
        CU_ASSERT(known == 0 ? isnan(four->flop) : fabs(four->flop - 208000) < 1e-6);
        CU_ASSERT(known < 2 ? isnan(five->flop) && isnan(five->peak_share) : fabs(five->flop - 416000) < 1e-6);
        CU_ASSERT(known < 2 ? isnan(all->flop) && isnan(all->peak_ns) : fabs(all->flop - 624000) < 1e-6);
        if (known == 2) {
            CU_ASSERT_DOUBLE_EQUAL(all->peak_ns, 2, 1e-12);
            CU_ASSERT_DOUBLE_EQUAL(all->peak_share, 2 / 6e3, 1e-12); /* 6 us of wall */
            CU_ASSERT_DOUBLE_EQUAL(all->tflop_per_s, 624e-3 / 6, 1e-12);
        }
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
        TEST(devices_and_steps_agree_with_counting_columns),
        TEST(rows_are_as_many_as_work_and_not_as_devices_times_steps),
        TEST(where_every_device_works_in_every_step_the_sums_are_left),
        TEST(sums_end_at_the_largest_integer),
        TEST(operations_count_where_their_kernel_runs),
    };
    return unit_main("breakdown", tests, COUNT(tests));
}
