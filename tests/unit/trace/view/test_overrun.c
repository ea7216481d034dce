/* test_overrun.c - device work that seems to run on for longer than it can. */
#include "view_text.h"

static const tl_rank_view *cut_view_of(const char *entries)
{
    return view_of(entries, "");
}

/* Times in us. */
#define GPU(cat, name, ts, dur, corr, stream)                                                                          \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" #stream ",\"ts\":" #ts ",\"dur\":" #dur         \
    ",\"args\":{\"device\":0,\"stream\":" #stream ",\"correlation\":" #corr "}}"
#define HOST(cat, name, ts, dur, corr)                                                                                 \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":99,\"tid\":98,\"ts\":" #ts ",\"dur\":" #dur                 \
    ",\"args\":{\"correlation\":" #corr "}}"

static void work_that_runs_on_after_the_next_ended_is_cut_where_that_began(void)
{
    const tl_rank_view *v = cut_view_of(HOST("cuda_runtime", "l", 0, 5, 1) "," HOST("cuda_runtime", "l", 20, 5, 2) "," GPU(
        "kernel", "a", 10, 10000000000000, 1, 7) "," GPU("kernel", "b", 30, 10, 2, 7));
    CU_ASSERT_EQUAL_FATAL(v->nkernels, 2);
    CU_ASSERT_EQUAL(v->kernels[0].end_ns, 30000);
    CU_ASSERT_EQUAL(v->kernels[1].end_ns, 40000);
    CU_ASSERT_EQUAL(v->ntoo_long, 1);
    CU_ASSERT_EQUAL(v->too_long_ns, INT64_C(9999999999980000));
    forget();
}

/* The stream waits before the next work, which tells nothing of how long this ran. */
static void work_that_is_cut_lasts_as_long_as_its_like(void)
{
    const tl_rank_view *v = cut_view_of(GPU("kernel", "a", 10, 5, 1, 7) "," GPU("kernel", "a", 20, 1000000, 2, 7) "," GPU(
        "kernel", "b", 90, 5, 3, 7) "," GPU("kernel", "a", 100, 6, 4, 7));
    CU_ASSERT_EQUAL(v->ntoo_long, 1);
    CU_ASSERT_EQUAL(v->kernels[1].end_ns, 26000);
    forget();
}

/* b is cut first, so that a is seen to run on, too. */
static void one_that_cannot_be_does_not_hide_another(void)
{
    const tl_rank_view *v = cut_view_of(GPU("kernel", "a", 10, 1000000, 1, 7) "," GPU("kernel", "b", 20, 2000000, 2, 7) "," GPU(
        "gpu_memcpy", "c", 30, 10, 3, 7) "," GPU("kernel", "d", 30, 5, 4, 8) "," GPU("kernel", "e", 40, 5, 5, 7) "," GPU(
        "kernel", "f", 50, 5, 6, 7) "," GPU("kernel", "g", 60, 5, 7, 7) "," GPU("kernel", "h", 70, 5, 8, 7) "," GPU(
        "kernel", "i", 80, 5, 9, 7) "," GPU("kernel", "j", 90, 5, 10, 7) "," GPU("kernel", "k", 100, 5, 11, 7) "," GPU(
        "kernel", "l", 110, 5, 12, 7) "," GPU("kernel", "m", 120, 5, 13, 7));
    CU_ASSERT_EQUAL(v->ntoo_long, 2);
    CU_ASSERT_EQUAL(v->kernels[0].end_ns, 20000);
    CU_ASSERT_EQUAL(v->kernels[1].end_ns, 30000);
    CU_ASSERT_EQUAL(v->kernels[2].end_ns, 40000);
    forget();
}

/* b is launched to begin early: it waits for a, and so it ends after it; c, which has no need to, a little before. */
static void a_dependent_launch_may_begin_early(void)
{
    const tl_rank_view *v = cut_view_of(GPU("kernel", "a", 10, 2000, 1, 7) "," GPU("kernel", "b", 20, 2000, 2, 7) "," GPU(
        "kernel", "c", 30, 1900, 3, 7));
    CU_ASSERT_EQUAL(v->ntoo_long, 0);
    CU_ASSERT_EQUAL(v->kernels[0].end_ns, 2010000);
    CU_ASSERT_EQUAL(v->kernels[1].end_ns, 2020000);
    forget();
}

static void branches_of_a_graph_run_side_by_side(void)
{
    const tl_rank_view *v = cut_view_of(HOST("cuda_runtime", "g", 0, 5, 1) "," HOST("cuda_runtime", "l", 7, 5, 2) "," GPU(
        "kernel", "a", 10, 1000, 1, 7) "," GPU("kernel", "b", 20, 10, 1, 7) "," GPU("kernel", "c", 40, 9000, 1, 7) "," GPU(
        "kernel", "d", 2000, 10, 2, 7));
    CU_ASSERT_EQUAL(v->ntoo_long, 1);
    CU_ASSERT_EQUAL(v->kernels[0].end_ns, 1010000);
    CU_ASSERT_EQUAL(v->kernels[2].end_ns, 2000000); /* but not when the next launch has begun */
    forget();
}

static void a_stream_that_is_none_is_left_alone(void)
{
    char entries[8000] = "";
    for (int i = 0; i < 20; i++) {
        size_t n = strlen(entries);
        snprintf(entries + n, sizeof entries - n,
                 "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":%d}", i > 0 ? "," : "",
                 i * 10, 1000 - 100 * (i % 10));
    }
    const tl_rank_view *v = cut_view_of(entries);
    CU_ASSERT_EQUAL_FATAL(v->nkernels, 20);
    CU_ASSERT_EQUAL(v->ntoo_long, 0);
    forget();
}

static void the_last_work_ends_ten_minutes_after_the_recording_at_most(void)
{
    const tl_rank_view *v = cut_view_of(HOST("cuda_runtime", "l", 0, 5, 1) "," HOST("cuda_runtime", "sync", 20, 80, 2) "," GPU(
        "kernel", "a", 10, 600000091, 1, 7) "," GPU("kernel", "b", 10, 600000090, 1, 8));
    CU_ASSERT_EQUAL(v->ntoo_long, 1);
    CU_ASSERT_EQUAL(v->kernels[0].end_ns, 100000);
    CU_ASSERT_EQUAL(v->kernels[1].end_ns, INT64_C(600000100000));
    forget();
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_that_runs_on_after_the_next_ended_is_cut_where_that_began),
        TEST(work_that_is_cut_lasts_as_long_as_its_like),
        TEST(one_that_cannot_be_does_not_hide_another),
        TEST(a_dependent_launch_may_begin_early),
        TEST(branches_of_a_graph_run_side_by_side),
        TEST(a_stream_that_is_none_is_left_alone),
        TEST(the_last_work_ends_ten_minutes_after_the_recording_at_most),
    };
    int failed = scratch_make() || unit_main("overrun", tests, COUNT(tests));
    return scratch_remove() || failed;
}
