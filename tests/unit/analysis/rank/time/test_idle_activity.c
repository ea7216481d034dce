/* test_idle_activity.c - what the host did instead of feeding the device, on drawings. */
#include "draw.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/mem.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static const char letters[TL_NACTIVITIES + 1] = "chox.igsad";

/* The idle time as text, a microsecond a letter, ' ' where the device is busy; '.': the host was late. */
static const char *parts_of(const drawing *d)
{
    static char text[256];
    tl_activity a = { 0 };
    size_t n = 0;
    memset(text, ' ', sizeof text);
    find_activity(&a, d);
    for (size_t i = 0; i < a.n; i++)
        for (int64_t t = a.start_ns[i]; a.kind[i] > TL_ACTIVITY_COMM && t < a.start_ns[i + 1];
             t += US, n = (size_t)(t / US))
            text[t / US] = letters[a.kind[i]];
    text[n] = 0;
    tl_activity_free(&a);
    return text;
}

static void work_that_was_queued_in_time_is_the_devices_own_matter(void)
{
    drawing *d = draw("host:      ab..................", "compute 7: .....AAAAAAAAAA....BB", NULL);
    CU_ASSERT_STRING_EQUAL(parts_of(d), "               dddd");
    drawing_free(d);
    d = draw("compute 7: .....AAAAAAAAAA....BB", NULL); /* nor is it known who is late where no launch is */
    CU_ASSERT_STRING_EQUAL(parts_of(d), "               dddd");
    drawing_free(d);
}

static void a_late_launch_is_the_hosts(void)
{
    drawing *d = draw("host:      a.............b.....", "compute 7: .AAAAAAA........BB", NULL);
    CU_ASSERT_STRING_EQUAL(parts_of(d), "        ........");
    drawing_free(d);
}

static void a_launch_that_takes_long_is_late_while_it_lasts(void)
{
    drawing *d = draw("host:      a.b......................", "compute 7: .AAAAAAAAAAAAAA......BB", NULL);
    d->launches[1].end_ns = 20 * US;
    CU_ASSERT_STRING_EQUAL(parts_of(d), "               ......");
    d->launches[1].end_ns = 14 * US;
    CU_ASSERT_STRING_EQUAL(parts_of(d), "               dddddd");
    d->launches[1].end_ns = 20 * US;
    d->launches[1].nkernels = 2; /* a graph: what is inside follows on its own */
    CU_ASSERT_STRING_EQUAL(parts_of(d), "               dddddd");
    drawing_free(d);
}

static void names_of_the_host_say_why(void)
{
    drawing *d = draw("host:                     a......................b..", /**/
                      "compute 7:                .AA.....................BB",
                      "frame gc.collect:         ....====.................",
                      "op enumerate(DataLoader): .......=====.............",
                      "call hipMalloc:           ..............===........", NULL);
    CU_ASSERT_STRING_EQUAL(parts_of(d), "   .ggggiiii..aaa.......");
    drawing_free(d);
}

static void a_wait_that_drains_the_device_has_the_short_gaps_behind_it(void)
{
    drawing *d = draw("host:                       a..............b......c...........", /**/
                      "compute 7:                  .AAAAAAAAA........BB......CC",
                      "call cudaStreamSynchronize: .==========.........................", NULL);
    CU_ASSERT_STRING_EQUAL(parts_of(d), "          ssssssss  ssssss");
    drawing_free(d);
}

static void a_wait_that_begins_when_the_device_is_idle_has_drained_nothing(void)
{
    drawing *d = draw("host:                       a..............b......", /**/
                      "compute 7:                  .AAAA.............BB",
                      "call hipDeviceSynchronize:  ..........==.......", NULL);
    CU_ASSERT_STRING_EQUAL(parts_of(d), "     .....ss......");
    drawing_free(d);
}

static void long_thought_after_a_wait_is_the_hosts(void)
{
    drawing *d = draw("host:                       a....b", /**/
                      "compute 7:                  .AAAABB", "call cudaDeviceSynchronize: .====.", NULL);
    d->launches[1].start_ns = 200 * US;
    d->kernels[1].start_ns = d->kernels[1].launch_ns = 200 * US;
    d->kernels[1].end_ns = 202 * US;
    tl_activity a = { 0 };
    find_activity(&a, d);
    CU_ASSERT_EQUAL_FATAL(a.n, 3);
    CU_ASSERT_EQUAL(a.kind[1], TL_ACTIVITY_HOST);
    tl_activity_free(&a);
    drawing_free(d);
}

static void names_are_known_in_all_their_spellings(void)
{
    static const struct {
        const char *name;
        tl_activity_kind of_call, of_op;
    } cases[] = {
        { "cudaDeviceSynchronize", TL_ACTIVITY_SYNC, TL_ACTIVITY_HOST },
        { "hipStreamSynchronize", TL_ACTIVITY_SYNC, TL_ACTIVITY_HOST },
        { "cuMemCreate", TL_ACTIVITY_ALLOCATOR, TL_ACTIVITY_HOST },
        { "hipFree", TL_ACTIVITY_ALLOCATOR, TL_ACTIVITY_HOST },
        { "cudaHostRegister", TL_ACTIVITY_ALLOCATOR, TL_ACTIVITY_HOST },
        { "cudaLaunchKernel", TL_ACTIVITY_HOST, TL_ACTIVITY_HOST },
        { "Python GC", TL_ACTIVITY_HOST, TL_ACTIVITY_GC },
        { "<built-in function collect>", TL_ACTIVITY_HOST, TL_ACTIVITY_GC },
        { "gc", TL_ACTIVITY_HOST, TL_ACTIVITY_GC },
        { "torch/utils/data/dataloader.py(733): __next__", TL_ACTIVITY_HOST, TL_ACTIVITY_INPUT },
        { "aten::gcd", TL_ACTIVITY_HOST, TL_ACTIVITY_HOST },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tl_text name = { cases[i].name, strlen(cases[i].name) };
        CU_ASSERT_EQUAL(tl_idle_activity_of_call(name), cases[i].of_call);
        CU_ASSERT_EQUAL(tl_idle_activity_of_op(name), cases[i].of_op);
    }
}

static const unit_test tests[] = {
    TEST(work_that_was_queued_in_time_is_the_devices_own_matter),
    TEST(a_late_launch_is_the_hosts),
    TEST(a_launch_that_takes_long_is_late_while_it_lasts),
    TEST(names_of_the_host_say_why),
    TEST(a_wait_that_drains_the_device_has_the_short_gaps_behind_it),
    TEST(a_wait_that_begins_when_the_device_is_idle_has_drained_nothing),
    TEST(long_thought_after_a_wait_is_the_hosts),
    TEST(names_are_known_in_all_their_spellings),
};

int main(void)
{
    return unit_main("idle_part", tests, COUNT(tests));
}
