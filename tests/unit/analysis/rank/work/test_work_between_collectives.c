/* test_work_between_collectives.c - what a rank did between its collectives, on drawings. */
#include "draw.h"
#include "tlmpi/analysis/rank/work/local.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { PARTS_MOST = 8 };

/* The participants of the drawing: its communication kernels, in the order of streams; groups[i] is that of the i-th.
 */
static size_t take(const drawing *d, const int32_t *groups, tl_participant parts[PARTS_MOST])
{
    tl_activity activity = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < d->view.nkernels; i++) {
        const tl_kernel *k = &d->kernels[i];
        if (k->kind != TL_COMM)
            continue;
        parts[n] = (tl_participant){ .start_ns = k->start_ns,
                                     .end_ns = k->end_ns,
                                     .launch_ns = k->launch_ns,
                                     .step = k->step,
                                     .stream = k->stream,
                                     .group = groups[n],
                                     .uid = k->uid };
        n++;
    }
    draw_activity(&activity, &d->view);
    tl_work_between_collectives(&d->view, &activity, parts, n);
    tl_activity_free(&activity);
    return n;
}

static void time_since_the_previous_one_is_divided(void)
{
    drawing *d = draw("steps:     1111111111111111111111", /**/
                      "compute 7: ..AAAA......BBBBB.....", /**/
                      "memcpy 7:  ......................", "comm 9:    ......CCC...........DD", NULL);
    tl_participant p[PARTS_MOST];
    CU_ASSERT_EQUAL_FATAL(take(d, (const int32_t[]){ 1, 1 }, p), 2);
    CU_ASSERT_EQUAL(p[0].previous, TL_NONE);
    CU_ASSERT_EQUAL(p[0].work_between_collectives.ns[TL_ACTIVITY_COMPUTE], 4 * US); /* since the step began */
    CU_ASSERT_EQUAL(p[0].work_between_collectives.ns[TL_ACTIVITY_HOST], 2 * US);
    CU_ASSERT_EQUAL(p[1].previous, p[0].uid);
    CU_ASSERT_EQUAL(p[1].work_between_collectives.ns[TL_ACTIVITY_COMPUTE], 5 * US);
    CU_ASSERT_EQUAL(p[1].work_between_collectives.ns[TL_ACTIVITY_DEVICE], 6 * US);
    CU_ASSERT_EQUAL(p[1].work_between_collectives.ns[TL_ACTIVITY_COMM],
                    0); /* what it spent in the previous one is that one's own matter */
    drawing_free(d);
}

static void collectives_of_other_groups_are_time_between(void)
{
    drawing *d = draw("compute 7: AA.........BB......", /**/
                      "comm 9:    ..CC.........DD....", "comm 11:   ....EEEEE..........", NULL);
    tl_participant p[PARTS_MOST];
    CU_ASSERT_EQUAL_FATAL(take(d, (const int32_t[]){ 1, 1, 2 }, p), 3);
    CU_ASSERT_EQUAL(p[1].previous, p[0].uid);
    CU_ASSERT_EQUAL(p[1].work_between_collectives.ns[TL_ACTIVITY_COMM], 5 * US);
    CU_ASSERT_EQUAL(p[1].work_between_collectives.ns[TL_ACTIVITY_COMPUTE], 2 * US);
    CU_ASSERT_EQUAL(p[2].previous, TL_NONE);
    drawing_free(d);
}

static void one_that_waits_for_its_stream_is_ready_when_its_work_is_done(void)
{
    /* d waits for b alone, and could have begun at 8, had C been over. */
    drawing *d = draw("host:      abcdx.................", /**/
                      "compute 7: .AAABBBBXXXX..........", "comm 9:    ....CCCCCCCCCCDD......", NULL);
    tl_participant p[PARTS_MOST];
    CU_ASSERT_EQUAL_FATAL(take(d, (const int32_t[]){ 1, 1 }, p), 2);
    CU_ASSERT_EQUAL(p[1].work_between_collectives.ns[TL_ACTIVITY_COMPUTE], 4 * US); /* B, and none of X */
    drawing_free(d);
}

static void since_the_step_counts_from_the_last_of_the_step_before(void)
{
    drawing *d = draw("steps:     1111111111222222222222", /**/
                      "compute 7: AA..BB.....FFF..GG....", "comm 9:    ..CC..DD......HH..II..", NULL);
    tl_participant p[PARTS_MOST];
    CU_ASSERT_EQUAL_FATAL(take(d, (const int32_t[]){ 1, 1, 1, 1 }, p), 4);
    CU_ASSERT_EQUAL(p[1].work_since_step.ns[TL_ACTIVITY_COMPUTE], 4 * US);
    CU_ASSERT_EQUAL(p[2].work_since_step.ns[TL_ACTIVITY_COMPUTE], 3 * US);
    CU_ASSERT_EQUAL(p[3].work_since_step.ns[TL_ACTIVITY_COMPUTE], 5 * US); /* F and G */
    drawing_free(d);
}

/* F runs after the last collective of step 1, which launched it, and is done at 12; G is of step 2. */
static void work_behind_the_last_one_is_of_the_step_that_launched_it(void)
{
    drawing *d = draw("steps:     1111111112222222222222", /**/
                      "host:      a.c.d.f..g.i......j...", /**/
                      "compute 7: .AA....FFFFFGG...JJ...", "comm 9:    ...CDDD.......II......", NULL);
    tl_participant p[PARTS_MOST];
    CU_ASSERT_EQUAL_FATAL(take(d, (const int32_t[]){ 1, 2, 1 }, p), 3);
    CU_ASSERT_EQUAL(p[0].step, 1);
    CU_ASSERT_EQUAL(p[2].step, 2);
    CU_ASSERT_EQUAL(p[1].after_last_ns, 0);
    CU_ASSERT_EQUAL(p[2].work_between_collectives.ns[TL_ACTIVITY_COMPUTE], 7 * US);
    CU_ASSERT_EQUAL(p[2].after_last_ns, 5 * US);
    CU_ASSERT_EQUAL(p[2].after_last_step_ns, 5 * US); /* since the last of any group */
    CU_ASSERT_EQUAL(p[1].done_ns, 12 * US);
    CU_ASSERT_EQUAL(p[2].done_ns, 19 * US);
    drawing_free(d);
}

/* The batch of step 2 is on its way, on a stream of its own, while step 1 is done. */
static void a_copy_beside_is_no_end_of_a_step(void)
{
    drawing *d = draw("steps:     1111111112222222222222", /**/
                      "host:      a.c.f.b.....i.........", /**/
                      "compute 7: .AA.FF...........JJ...", "memcpy 8:  .......BBBB...........",
                      "comm 9:    ...C..........I.......", NULL);
    tl_participant p[PARTS_MOST];
    CU_ASSERT_EQUAL_FATAL(take(d, (const int32_t[]){ 1, 1 }, p), 2);
    CU_ASSERT_EQUAL(p[0].done_ns, 6 * US);
    CU_ASSERT_EQUAL(p[1].after_last_ns, 2 * US);
    drawing_free(d);
}

static const unit_test tests[] = {
    TEST(time_since_the_previous_one_is_divided),
    TEST(collectives_of_other_groups_are_time_between),
    TEST(one_that_waits_for_its_stream_is_ready_when_its_work_is_done),
    TEST(since_the_step_counts_from_the_last_of_the_step_before),
    TEST(work_behind_the_last_one_is_of_the_step_that_launched_it),
    TEST(a_copy_beside_is_no_end_of_a_step),
};

int main(void)
{
    return unit_main("work between collectives", tests, COUNT(tests));
}
