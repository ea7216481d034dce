/* test_work_by_name.c - the names under which a rank's time went, step by step, on drawings. */
#include "draw.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/analysis/rank/work/local.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static tl_work_by_name work_by_name;

static void collect(const drawing *d)
{
    tl_activity activity = { 0 };
    tl_work_by_name_free(&work_by_name);
    find_activity(&activity, d);
    tl_work_by_name_collect(&d->view, &activity, &work_by_name);
    tl_activity_free(&activity);
}

/* The row of a name; one of nothing where there is none. */
static tl_named_work row_of(tl_named_work_kind kind, int32_t step, const char *name)
{
    for (size_t i = 0; i < work_by_name.rows.n; i++) {
        const tl_named_work *row = &work_by_name.rows.v[i];
        if (row->kind == kind && row->step == step && tl_text_is(tl_names_text(&work_by_name.names, row->name), name))
            return *row;
    }
    return (tl_named_work){ .ns = 0 };
}

static void work_counts_by_name_and_step(void)
{
    drawing *d = draw("steps:     1111111111111222222222222", /**/
                      "compute 7: .AA.AAA.B......AA........", /**/
                      "memcpy 7:  .........MM..............", "comm 9:    ...........CC............", NULL);
    d->kernels[0].blocks = 10;
    d->kernels[1].blocks = 30;
    for (size_t i = 0; i < d->view.nkernels; i++)
        if (d->kernels[i].kind == TL_MEMCPY)
            d->kernels[i].bytes = 4096;
    d->colls[0].bytes = 512;
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, 1, "A").ns, 5 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, 1, "A").count, 2);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, 1, "A").size, 40);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, 2, "A").ns, 2 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, 1, "M").size, 4096);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, 1, "M").activity, TL_ACTIVITY_COPY);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, 1, "C").count, 0);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_COMM, 1, "C").size, 512);
    drawing_free(d);
}

static void kernels_of_thousands_of_years_sum_up_to_the_most_there_is(void)
{
    drawing *d = draw("steps:     11111111111", "compute 7: .A.A.A.....", "compute 9: .......B...", NULL);
    for (size_t i = 0; i < 3; i++)
        d->kernels[i].end_ns = d->kernels[i].start_ns + INT64_MAX / 2;
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, 1, "A").ns, INT64_MAX);
    drawing_free(d);
}

static void spans_have_the_idle_time_that_they_cover(void)
{
    drawing *d = draw("steps:         111111111111111111111111",  /**/
                      "host:          a.................b.....",  /**/
                      "compute 7:     .AAA...............BB....", /**/
                      "mark forward:  .==============.........",  /**/
                      "op aten::outer: ...===========..........", /**/
                      "op aten::inner: .....===....=...........", /**/
                      "op aten::early: =.......................", /**/
                      "call hipMalloc: ......==................", NULL);
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 1, "forward").ns, 11 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 1, "aten::outer").ns, 10 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 1, "aten::inner").ns, 4 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 1, "aten::inner").count, 2);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 1, "aten::inner").depth, 2);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 1, "aten::early").count, 0);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 1, "hipMalloc").ns, 2 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 1, "hipMalloc").activity, TL_ACTIVITY_ALLOCATOR);
    CU_ASSERT_TRUE(row_of(TL_NAMED_HOST, 1, "hipMalloc").depth > 2);
    drawing_free(d);
}

static void spans_have_time_of_their_own(void)
{
    drawing *d = draw("host:           a............................................................b.", /**/
                      "compute 7:      .A............................................................B", /**/
                      "mark forward:   .==========================================================....", /**/
                      "op aten::outer: ...==================================================..........", /**/
                      "op aten::inner: .....=======================...................................", /**/
                      "op aten::short: ............................=====...===========................", NULL);
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_SPAN, -1, "aten::inner").ns, 23 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_SPAN, -1, "aten::outer").ns, 11 * US); /* 50 - 23 - 16 */
    CU_ASSERT_EQUAL(row_of(TL_NAMED_SPAN, -1, "aten::short").ns, 16 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_SPAN, -1, "forward").ns, 8 * US); /* 58 - 50 */
    drawing_free(d);
}

/* Thread 1 waits for thread 2, which is the next to launch. */
static void time_is_of_the_thread_that_launches_next(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a...............................................................c..", /**/
                      "launch 2 cudaLaunchKernel: ...................................b..............................", /**/
                      "compute 7:                 .A..................................B............................C", /**/
                      "mark 1 backward:           .===============================================================..", /**/
                      "op 2 all_to_all:           ....==============================................................", NULL);
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_SPAN, -1, "all_to_all").ns, 30 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_SPAN, -1, "backward").ns, 29 * US); /* from the launch of b on */
    drawing_free(d);
}

/* As a checkpoint at the end of a step. */
static void host_work_is_of_the_step_in_which_it_begins(void)
{
    drawing *d = draw("steps:         11111111111222222222222", /**/
                      "host:          a..........b...........", /**/
                      "compute 7:     .A..........BBBB.......", /**/
                      "mark save:     ..========.............", NULL);
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 1, "save").ns, 8 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, 2, "save").ns, 0);
    drawing_free(d);
}

static void a_name_within_itself_counts_once(void)
{
    drawing *d = draw("host:      a.................b.....", "compute 7: .AAA...............BB...",
                      "op f: ....==========", "op f: ......====....", NULL);
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, -1, "f").ns, 10 * US);
    drawing_free(d);
}

static void idle_time_of_the_device_itself_is_no_names(void)
{
    drawing *d = draw("host:      ab......................", "compute 7: .AAAAAAAAAAA......BB....",
                      "op aten::add: ..................====", "op aten::mul: ...........======", NULL);
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_HOST, -1, "aten::mul").count, 0);
    drawing_free(d);
}

static void waits_have_the_idle_time_behind_them(void)
{
    drawing *d = draw("host:                       a......................b........c....", /**/
                      "compute 7:                  .AAAAAAAA...............BBBBBB...CC..",
                      "op aten::item:              ..=========..........................",
                      "call cudaStreamSynchronize: ...======............................",
                      "call cudaDeviceSynchronize: .........................===.........", NULL);
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WAIT, -1, "aten::item").ns, 15 * US);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WAIT, -1, "aten::item").count, 1);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WAIT, -1, "cudaDeviceSynchronize").count, 1); /* by itself: its own name */
    drawing_free(d);
}

/* Else the waits of some steps stand under one name, and those of others under another. */
static void what_rounding_ends_too_soon_still_is_around_its_call(void)
{
    drawing *d = draw("host:                       a......................b..", /**/
                      "compute 7:                  .AAAAAAAA...............BB",
                      "op aten::item:              ..======..................",
                      "call cudaStreamSynchronize: ...======.................", NULL);
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WAIT, -1, "aten::item").count, 1);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WAIT, -1, "cudaStreamSynchronize").count, 0);
    drawing_free(d);
}

static void communication_may_hide_the_beginning_of_a_pause(void)
{
    drawing *d = draw("host:                      ab...........................................c..", /**/
                      "compute 7:                 .AAAA..........................................CC",
                      "comm 9:                    ..BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB..........",
                      "call cudaStreamSynchronize: ..===........................................", NULL);
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WAIT, -1, "cudaStreamSynchronize").ns, 10 * US);
    drawing_free(d);
}

/* An asynchronous copy waits for nothing, though the device runs dry before the host does anything else. */
static void who_only_may_wait_has_waited_if_the_device_ran_dry_in_the_call(void)
{
    static const char *const copies[] = { "call 1 cudaMemcpyAsync:    ...=..........................................",
                                          "call 1 cudaMemcpy:         ...=.........................................." };
    for (size_t i = 0; i < COUNT(copies); i++) {
        drawing *d = draw("launch 1 cudaLaunchKernel: a............................................b", copies[i],
                          "compute 7:                 .AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA..........B", NULL);
        collect(d);
        CU_ASSERT_EQUAL(row_of(TL_NAMED_WAIT, -1, "cudaMemcpyAsync").ns, 0);
        CU_ASSERT_EQUAL(row_of(TL_NAMED_WAIT, -1, "cudaMemcpy").ns, i == 0 ? 0 : 10 * US);
        drawing_free(d);
    }
}

static void few_names_are_kept_the_largest(void)
{
    drawing *d = draw("compute 7: A", NULL);
    for (uint32_t i = 0; i < TL_WORK_BY_NAME_MAX + 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "kernel %u", i);
        d->kernels[i] = d->kernels[0];
        d->kernels[i].name = tl_names_intern(&d->names, name, strlen(name));
        d->kernels[i].start_ns = (int64_t)i * 100 * US;
        d->kernels[i].end_ns = d->kernels[i].start_ns + (int64_t)(i + 1) * US;
        d->kernels[i].uid = i;
    }
    d->view.nkernels = TL_WORK_BY_NAME_MAX + 8;
    collect(d);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, -1, "kernel 7").count, 0);
    CU_ASSERT_EQUAL(row_of(TL_NAMED_WORK, -1, "kernel 8").count, 1);
    drawing_free(d);
    tl_work_by_name_free(&work_by_name);
}

static const unit_test tests[] = {
    TEST(work_counts_by_name_and_step),
    TEST(kernels_of_thousands_of_years_sum_up_to_the_most_there_is),
    TEST(spans_have_time_of_their_own),
        TEST(time_is_of_the_thread_that_launches_next),
        TEST(spans_have_the_idle_time_that_they_cover),
    TEST(host_work_is_of_the_step_in_which_it_begins),
    TEST(a_name_within_itself_counts_once),
    TEST(idle_time_of_the_device_itself_is_no_names),
    TEST(waits_have_the_idle_time_behind_them),
    TEST(what_rounding_ends_too_soon_still_is_around_its_call),
    TEST(communication_may_hide_the_beginning_of_a_pause),
    TEST(who_only_may_wait_has_waited_if_the_device_ran_dry_in_the_call),
    TEST(few_names_are_kept_the_largest),
};

int main(void)
{
    return unit_main("work by name", tests, COUNT(tests));
}
