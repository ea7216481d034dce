/* test_tracelens_gaps.c - where the gaps of a device are, and how it ran dry before them, as TraceLens sees it. */
#include "lens_rank.h"

/* ------------------------------------------------------------------------------------------------------------ gaps */

/* "0:10-20 -1:25-26 " */
static const char *gaps(const char *text)
{
    static char out[256];
    size_t at = 0;
    rank r;
    load(&r, text);
    out[0] = '\0';
    for (size_t i = 0; i < r.idle.gaps.n; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%lld:%g-%g ", (long long)r.idle.gaps.v[i].id, r.idle.gaps.v[i].lo,
                               r.idle.gaps.v[i].hi);
    unload(&r);
    return out;
}

static void gaps_lie_between_busy_runs(void)
{
    CU_ASSERT_STRING_EQUAL(gaps(TRACE(KERNEL("a", "1", "0", "10") "," KERNEL("b", "2", "10", "5"))), "");
    CU_ASSERT_STRING_EQUAL(gaps(TRACE(KERNEL("b", "2", "30", "5") "," KERNEL("a", "1", "0", "10"))), "0:10-30 ");
    /* A long one hides the gap after a short one, on any device. */
    CU_ASSERT_STRING_EQUAL(gaps(TRACE(KERNEL("a", "1", "0", "50") "," KERNEL("a", "1", "5", "5") ","
                                      ENTRY("gpu_memset", "m", "3", "9", "60", "5", ""))), "0:50-60 ");
    /* An empty event splits a gap. */
    CU_ASSERT_STRING_EQUAL(gaps(TRACE(KERNEL("a", "1", "0", "10") "," KERNEL("b", "2", "20", "0") "," KERNEL("c", "3", "40", "1"))),
                           "0:10-20 1:20-40 ");
    /* Old spellings of categories are nothing. */
    CU_ASSERT_STRING_EQUAL(gaps(TRACE(KERNEL("a", "1", "0", "10") "," ENTRY("Kernel", "k", "0", "7", "20", "5", "") ","
                                      KERNEL("c", "3", "40", "1"))), "0:10-40 ");
}

static void a_gap_of_five_microseconds_is_no_noise(void)
{
    CU_ASSERT_STRING_EQUAL(gaps(TRACE(KERNEL("a", "1", "0", "1") "," KERNEL("b", "2", "5.999", "1") "," KERNEL("c", "3", "12", "1")
                                      "," KERNEL("d", "4", "13.5", "1") "," KERNEL("e", "5", "30", "1"))),
                           "-1:1-5.999 0:6.999-12 -2:13-13.5 1:14.5-30 ");
    CU_ASSERT_STRING_EQUAL(gaps(TRACE(KERNEL("a", "1", "0", "1") "," KERNEL("b", "2", "6", "1"))), "0:1-6 ");
}

static void times_are_equal_to_the_thousandth(void)
{
    uint64_t seed = 3;
    char text[64];

    CU_ASSERT_EQUAL(tl_lens_thousandths(0.0625), 62);           /* exactly half way: to even */
    CU_ASSERT_EQUAL(tl_lens_thousandths(0.1875), 188);
    CU_ASSERT_EQUAL(tl_lens_thousandths(0.0005), 1);            /* a little above half way, though 1000 times it is 0.5 */
    CU_ASSERT_EQUAL(tl_lens_thousandths(0.0075), 7);            /* a little below */
    CU_ASSERT_EQUAL(tl_lens_thousandths(-0.0625), -62);
    CU_ASSERT_EQUAL(tl_lens_thousandths(1707417525512146.25), INT64_C(1707417525512146250));
    CU_ASSERT_EQUAL(tl_lens_thousandths(-3), -3000);
    for (int i = 0; i < 100000; i++) {
        double x = (double)(unit_random(&seed) >> 11) / (double)(UINT64_C(1) << (10 + unit_below(&seed, 40)));
        x = x > 2e15 ? x / 1e3 : x;
        snprintf(text, sizeof text, "%.3f", x);
        size_t n = strlen(text);
        memmove(text + n - 4, text + n - 3, 4);                 /* the point goes */
        CU_ASSERT_EQUAL(tl_lens_thousandths(x), strtoll(text, NULL, 10));
    }
}

/* Of events that tie, names go by the last of the file, uids by the first that starts there. */
static void names_and_uids_may_be_of_different_events(void)
{
    rank r;
    load(&r, TRACE(KERNEL("a", "1", "0", "10") "," KERNEL("b", "2", "2", "8") "," KERNEL("c", "3", "30", "1") ","
                   KERNEL("d", "4", "30", "2")));
    const tl_lens_gap *gap = &r.idle.gaps.v[0];
    CU_ASSERT_EQUAL_FATAL(r.idle.gaps.n, 1);
    CU_ASSERT_EQUAL(gap->before, 1);
    CU_ASSERT_EQUAL(gap->after, 3);
    CU_ASSERT_EQUAL(gap->next, 2);
    unload(&r);
}

/* ---------------------------------------------------------------------------------------------------------- drains */

/* "sync_drain DEVICE_SYNC 1" for the only gap: drain, sort of wait, its event. */
static const char *drain(const char *text)
{
    static char out[64];
    rank r;
    load(&r, text);
    CU_ASSERT_EQUAL_FATAL(r.idle.nmacro, 1);
    const tl_lens_gap *gap = &r.idle.gaps.v[0];
    snprintf(out, sizeof out, "%s %s %d", word(&r, gap->drain), word(&r, gap->sync),
             gap->sync_call != TL_NONE ? (int)gap->sync_call : -1);
    unload(&r);
    return out;
}

#define A_GAP_B KERNEL("a", "1", "0", "100") "," KERNEL("b", "2", "200", "10") "," FLOW("2") "," LAUNCH("2", "150", "5")

static void a_wait_that_ends_with_the_work_is_a_drain(void)
{
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B)), "starved  -1");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaDeviceSynchronize", "9", "50", "51"))), "sync_drain DEVICE_SYNC 5");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("hipStreamSynchronize", "9", "94.9", "6"))), "sync_drain STREAM_SYNC 5");
    /* 5 us of the work before the gap, not more: there was nothing to drain. */
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaEventSynchronize", "9", "95", "6"))), "starved EVENT_SYNC 5");
    /* It may end 2 us before the gap, and must begin before it. */
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaDeviceSynchronize", "9", "50", "48"))), "sync_drain DEVICE_SYNC 5");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaDeviceSynchronize", "9", "50", "47.9"))), "starved  -1");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaDeviceSynchronize", "9", "100", "10"))), "starved  -1");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaFree", "9", "50", "51"))), "starved  -1");
}

static void a_wait_that_outlasts_the_next_launch_did_not_hold_it_back(void)
{
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaDeviceSynchronize", "9", "50", "100"))), "sync_drain DEVICE_SYNC 5");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaDeviceSynchronize", "9", "50", "101"))), "starved  -1");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("hipStreamSynchronize", "9", "10", "92") ","
                                       CALL("cudaDeviceSynchronize", "9", "50", "101"))), "sync_drain STREAM_SYNC 5");
}

static void the_latest_wait_decides(void)
{
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaDeviceSynchronize", "9", "50", "51") ","
                                       CALL("cudaStreamSynchronize", "9", "99", "2"))), "starved STREAM_SYNC 6");
    /* Of two that start at once, the later in the file. */
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," CALL("cudaDeviceSynchronize", "9", "50", "51") ","
                                       CALL("cudaStreamSynchronize", "9", "50", "51"))), "sync_drain STREAM_SYNC 6");
}

static void a_copy_waits_by_its_direction(void)
{
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," COPY("\"kind\":\"2\"", "50", "51"))), "sync_drain D2H_COPY 5");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," COPY("\"kind\":1", "50", "51"))), "sync_drain H2D_COPY 5");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," COPY("\"kind\":3", "50", "51"))), "starved  -1");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(A_GAP_B "," COPY("", "50", "51"))), "starved  -1");
    /* One that does not say it is judged by the device event before the gap; 0 says it. */
#define DTOH ENTRY("gpu_memcpy", "Memcpy", "0", "7", "0", "100", "\"kind\":\"DtoH\"") "," KERNEL("b", "2", "200", "10")
    CU_ASSERT_STRING_EQUAL(drain(TRACE(DTOH "," COPY("\"kind\":\"\"", "50", "51"))), "sync_drain D2H_COPY 2");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(DTOH "," COPY("\"kind\":null", "50", "51"))), "sync_drain D2H_COPY 2");
    CU_ASSERT_STRING_EQUAL(drain(TRACE(DTOH "," COPY("\"kind\":0", "50", "51"))), "starved  -1");
#undef DTOH
}

/* The event that started last is not the one that ended last: nothing lies before the gap. */
static void what_started_last_stands_before_the_gap(void)
{
    CU_ASSERT_STRING_EQUAL(drain(TRACE(KERNEL("a", "1", "0", "100") "," KERNEL("short", "3", "50", "10") ","
                                       KERNEL("b", "2", "200", "10") "," CALL("cudaDeviceSynchronize", "9", "50", "51"))),
                           "starved DEVICE_SYNC 3");
}

/* Gaps go forward, and so does the search for waits: one that is over is forgotten, one that goes on is not. */
static void a_long_wait_counts_for_each_gap(void)
{
    rank r;
    load(&r, TRACE(KERNEL("a", "1", "0", "10") "," KERNEL("b", "2", "20", "10") "," KERNEL("c", "3", "40", "10") ","
                   CALL("cudaDeviceSynchronize", "8", "2", "100") "," CALL("cudaStreamSynchronize", "9", "4", "7")));
    CU_ASSERT_EQUAL_FATAL(r.idle.nmacro, 2);
    CU_ASSERT_STRING_EQUAL(word(&r, r.idle.gaps.v[0].sync), "STREAM_SYNC");
    CU_ASSERT_STRING_EQUAL(word(&r, r.idle.gaps.v[1].sync), "DEVICE_SYNC");
    unload(&r);
    load(&r, TRACE(KERNEL("a", "1", "0", "10") "," KERNEL("b", "2", "20", "10") "," KERNEL("c", "3", "40", "10") ","
                   CALL("cudaDeviceSynchronize", "8", "2", "100") "," CALL("cudaStreamSynchronize", "9", "1", "100")));
    CU_ASSERT_STRING_EQUAL(word(&r, r.idle.gaps.v[0].sync), "DEVICE_SYNC");
    CU_ASSERT_STRING_EQUAL(word(&r, r.idle.gaps.v[1].sync), "DEVICE_SYNC");
    unload(&r);
}

static const unit_test tests[] = {
    TEST(gaps_lie_between_busy_runs),
    TEST(a_gap_of_five_microseconds_is_no_noise),
    TEST(times_are_equal_to_the_thousandth),
    TEST(names_and_uids_may_be_of_different_events),
    TEST(a_wait_that_ends_with_the_work_is_a_drain),
    TEST(a_wait_that_outlasts_the_next_launch_did_not_hold_it_back),
    TEST(the_latest_wait_decides),
    TEST(a_copy_waits_by_its_direction),
    TEST(what_started_last_stands_before_the_gap),
    TEST(a_long_wait_counts_for_each_gap),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("tracelens_gaps", tests, COUNT(tests));
    scratch_remove();
    return status;
}
