/* test_idle_lost.c - launches whose work is not in the trace, and those that need have none. */
#include "idle_drawn.h"

static const tl_health none = { .defect = TL_NDEFECTS };

/* The i-th row of table health. */
static const tl_health *row(drawing *d, size_t i)
{
    tl_table *t = tl_tables_get(&d->out, &tl_health_schema);
    return i < t->n ? tl_table_row(t, i) : &none;
}

/* How many rows there are; the drawing is freed. */
static size_t rows_of(drawing *d)
{
    (void)run(d, &tl_config_default);
    size_t n = tl_tables_get(&d->out, &tl_health_schema)->n;
    drawing_free(d);
    return n;
}

static void a_launch_between_others_is_lost_in_its_step(void)
{
    drawing *d = draw("steps:                      444444444455555555556666666666",
                      "launch 1 cudaLaunchKernel: a...b..............d....e....",
                      "call 1 cudaLaunchKernel:   ..............=..............",
                      "compute 7:                 .AA..BB................DD..EE", NULL);
    (void)run(d, &tl_config_default);
    CU_ASSERT_EQUAL(tl_tables_get(&d->out, &tl_health_schema)->n, 1);
    CU_ASSERT_EQUAL(row(d, 0)->defect, TL_DEFECT_LOST);
    CU_ASSERT_EQUAL(row(d, 0)->done, TL_REMEDY_NOT_JUDGED);
    CU_ASSERT_EQUAL(row(d, 0)->step, 5);
    CU_ASSERT_EQUAL(row(d, 0)->count, 1);
    CU_ASSERT_EQUAL(row(d, 0)->of, 2);
    /* The gap from B to D may have been work, and is all that may. */
    CU_ASSERT_EQUAL(row(d, 0)->time_ns, 16 * US);
    CU_ASSERT_EQUAL(gap(d, 0)->cpu_during_gap, TL_DOING_UNRECORDED);
    drawing_free(d);
}

static void what_is_launched_first_or_last_is_told_apart(void)
{
    const char *work = "compute 7:                 .AA...BB.......CC";
    drawing *d = draw("launch 1 cudaLaunchKernel: ....b....c", "call 1 cudaLaunchKernel: =............=...=",
                      "compute 7:                 ......BB.......CC", NULL);
    (void)run(d, &tl_config_default);
    CU_ASSERT_EQUAL(row(d, 0)->defect, TL_DEFECT_LOST_AT_BEGIN);
    CU_ASSERT_EQUAL(row(d, 0)->count, 1);
    CU_ASSERT_EQUAL(row(d, 1)->defect, TL_DEFECT_LOST_AT_END);
    CU_ASSERT_EQUAL(row(d, 1)->count, 2);
    drawing_free(d);
    /* A wait that began after d: d has run. */
    d = draw("launch 1 cudaLaunchKernel: a...b....c", "call 1 cudaLaunchKernel: .............=.....=", "call 1 cudaDeviceSynchronize: ...............==", work, NULL);
    (void)run(d, &tl_config_default);
    CU_ASSERT_EQUAL(row(d, 0)->defect, TL_DEFECT_LOST);
    CU_ASSERT_EQUAL(row(d, 0)->count, 1);
    drawing_free(d);
}

/* The launches after A, and before C, are at the end of the first window and at the begin of the second. */
static void each_window_has_its_own_end_and_begin(void)
{
    static const tl_recorded_window windows[] = { { 0, 0 }, { 12 * US, 1 } };
    for (size_t n = 0; n <= 2; n += 2) {
        drawing *d = draw("launch 1 cudaLaunchKernel: a...............c....", "call 1 cudaLaunchKernel:   ......=.......=......",
                          "compute 7:                 .AA..............CC..", NULL);
        d->view.windows = windows;
        d->view.nwindows = n;
        (void)run(d, &tl_config_default);
        CU_ASSERT_EQUAL(row(d, 0)->defect, n == 0 ? TL_DEFECT_LOST : TL_DEFECT_LOST_AT_BEGIN);
        CU_ASSERT_EQUAL(row(d, 0)->count, n == 0 ? 2 : 1);
        CU_ASSERT_EQUAL(row(d, 1)->defect, n == 0 ? TL_NDEFECTS : TL_DEFECT_LOST_AT_END);
        drawing_free(d);
    }
}

/* A may have been launched before the recording; C was launched after B. */
static void work_between_launched_work_lacks_its_launch(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: ...b......d", "compute 7:                 AA...BB..CC.DD", NULL);
    (void)run(d, &tl_config_default);
    CU_ASSERT_EQUAL(tl_tables_get(&d->out, &tl_health_schema)->n, 1);
    CU_ASSERT_EQUAL(row(d, 0)->defect, TL_DEFECT_NO_LAUNCH);
    CU_ASSERT_EQUAL(row(d, 0)->done, TL_REMEDY_TOLD);
    CU_ASSERT_EQUAL(row(d, 0)->count, 1);
    CU_ASSERT_EQUAL(row(d, 0)->of, 4);
    drawing_free(d);
}

static void what_need_not_have_work_is_not_lost(void)
{
    static const char *const work = "compute 7:                 .AA....BB";
    /* Captured into a graph. */
    CU_ASSERT_EQUAL(rows_of(draw("launch 1 cudaLaunchKernel: a.....b", "call 1 cudaLaunchKernel: ..=", "call 1 cudaStreamBeginCapture: .=",
                                 "call 1 cudaStreamEndCapture: ....=", work, NULL)), 0);
    /* Within another call that launches, whose work it is. */
    CU_ASSERT_EQUAL(rows_of(draw("launch 1 cudaLaunchKernel: aaaa..b", "call 1 cudaLaunchKernel: .=", work, NULL)), 0);
    /* No call of that name has work. */
    CU_ASSERT_EQUAL(rows_of(draw("launch 1 cudaLaunchKernel: a.....b", "call 1 cuLaunchKernelEx: ..=", work, NULL)), 0);
    /* A copy of nothing, a memset of nothing, a function of the host. */
    CU_ASSERT_EQUAL(rows_of(draw("launch 1 cudaLaunchKernel: a.....b", "call 1 cudaMemcpyAsync: ..=",
                                 "call 1 cudaMemsetAsync: ...=", "call 1 cudaLaunchHostFunc: ....=", work, NULL)), 0);
    /* Nothing ran on a device, as far as the trace tells. */
    CU_ASSERT_EQUAL(rows_of(draw("call 1 cudaLaunchKernel: =..=..=", NULL)), 0);
}

static void without_numbers_nothing_is_known_to_be_lost(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a.....b", "call 1 cudaLaunchKernel: ..=",
                      "compute 7:                 .AA.XX..BB", NULL);
    for (size_t i = 0; i < d->view.nkernels; i++)
        if (d->kernels[i].correlation == 'x')
            d->kernels[i].correlation = -1;
    CU_ASSERT_EQUAL(rows_of(d), 0);
}

static void a_copy_is_lost_next_to_a_lost_kernel(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a.........c", "call 1 cudaLaunchKernel: ...=",
                      "call 1 cudaMemcpyAsync: .....=", "launch 1 cudaMemcpyAsync: .......n",
                      "compute 7:                 .AA........CC", "memcpy 7 Memcpy HtoD: .........NN", NULL);
    (void)run(d, &tl_config_default);
    CU_ASSERT_EQUAL(row(d, 0)->count, 2);
    CU_ASSERT_EQUAL(row(d, 0)->of, 5);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_launch_between_others_is_lost_in_its_step),
        TEST(what_is_launched_first_or_last_is_told_apart),
        TEST(each_window_has_its_own_end_and_begin),
        TEST(work_between_launched_work_lacks_its_launch),
        TEST(what_need_not_have_work_is_not_lost),
        TEST(without_numbers_nothing_is_known_to_be_lost),
        TEST(a_copy_is_lost_next_to_a_lost_kernel),
    };
    return unit_main("idle_lost", tests, COUNT(tests));
}
