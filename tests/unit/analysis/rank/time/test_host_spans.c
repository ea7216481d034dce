/* test_host_spans.c - what a host does that is known by its name, and what it does for most of a time. */
#include "draw.h"
#include "tlmpi/analysis/rank/time.h"
#include "unit.h"

#define US INT64_C(1000)

static void most_of_the_time_is_what_counts(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a..............b....c", /**/
                      "op 1 gc.collect:           ..====..............", /**/
                      "op 1 DataLoader_next:      ...=====............", /**/
                      "call 1 cudaMalloc:         ................==..", /**/
                      "op 2 gc.collect:           ........=====.......", /**/
                      "compute 7:                 .A.............BBB.C", NULL);
    static const struct {
        int64_t from_us, to_us;
        tl_activity_kind kind;
    } cases[] = { { 1, 8, TL_ACTIVITY_GC },         /* 4 of 7; input has 5 of them, but what is stronger comes first */
                  { 3, 9, TL_ACTIVITY_INPUT },      /* 3 of 6 are no more than half */
                  { 1, 15, TL_ACTIVITY_HOST },      /* 2 does not launch */
                  { 16, 19, TL_ACTIVITY_ALLOCATOR } /* 2 of 3 */ };
    tl_host_spans spans = { 0 };
    tl_host_spans_find(&spans, &d->view);
    for (size_t i = 0; i < COUNT(cases); i++)
        CU_ASSERT_EQUAL(tl_host_activity_in(&spans, cases[i].from_us * US, cases[i].to_us * US), cases[i].kind);
    tl_host_spans_free(&spans);
    drawing_free(d);
}

/* Its name is that of a file or of all of the step, and no word about each moment in it. */
static void a_frame_around_launches_says_nothing_of_them(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel:       a.......b....c", /**/
                      "frame 1 get_batch_and_step:      ==========....", /**/
                      "frame 1 get_batch:               ..........===.", /**/
                      "compute 7:                       .A.......BBB.C", NULL);
    tl_host_spans spans = { 0 };
    tl_host_spans_find(&spans, &d->view);
    CU_ASSERT_EQUAL(tl_host_activity_in(&spans, US, 8 * US), TL_ACTIVITY_HOST);
    CU_ASSERT_EQUAL(tl_host_activity_in(&spans, 9 * US, 13 * US), TL_ACTIVITY_INPUT);
    tl_host_spans_free(&spans);
    drawing_free(d);
}

static void a_wait_for_the_device_is_no_work(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel:    a.......b", /**/
                      "call 1 cudaDeviceSynchronize: .======..", /**/
                      "compute 7:                    .AAAAAA.B", NULL);
    tl_host_spans spans = { 0 };
    tl_host_spans_find(&spans, &d->view);
    CU_ASSERT_EQUAL(tl_host_activity_in(&spans, US, 8 * US), TL_ACTIVITY_HOST);
    tl_host_spans_free(&spans);
    drawing_free(d);
}

static const unit_test tests[] = {
    TEST(most_of_the_time_is_what_counts),
    TEST(a_frame_around_launches_says_nothing_of_them),
    TEST(a_wait_for_the_device_is_no_work),
};

int main(void)
{
    return unit_main("host_spans", tests, COUNT(tests));
}
