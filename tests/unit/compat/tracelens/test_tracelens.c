/* test_tracelens.c - launches, gaps, drains and what the host did, as TraceLens sees them. */
#include "lens_rank.h"

/* -------------------------------------------------------------------------------------------------------- launches */

/* "3 - 0 " for the launches of the events. */
static const char *launches(const char *text)
{
    static char out[256];
    size_t at = 0;
    rank r;
    load(&r, text);
    out[0] = '\0';
    for (size_t i = 0; i < r.trace.events.n; i++)
        at += r.lens.launch[i] != TL_NONE ? (size_t)snprintf(out + at, sizeof out - at, "%u ", r.lens.launch[i])
                                          : (size_t)snprintf(out + at, sizeof out - at, "- ");
    unload(&r);
    return out;
}

static void a_flow_with_both_ends_links(void)
{
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," FLOW("5") "," KERNEL("k", "5", "4", "1"))), "- - - 0 ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," END("5") "," KERNEL("k", "5", "4", "1"))), "- - - ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," START("5") "," KERNEL("k", "5", "4", "1"))), "- - - ");
    /* Equal numbers alone, and flows of another name, link nothing. */
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," KERNEL("k", "5", "4", "1"))), "- - ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(KERNEL("k", "5", "4", "1") "," FLOW("\"5\"") "," LAUNCH("5", "1", "1"))), "- - - - ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(ENTRY("kernel", "k", "0", "7", "4", "1", "\"correlation\":\"5\"") "," FLOW("\"5\"") ","
                                          LAUNCH("\"5\"", "1", "1"))), "3 - - - ");
}

static void a_flow_ends_at_the_last_event_of_its_place(void)
{
    CU_ASSERT_STRING_EQUAL(launches(TRACE(KERNEL("k", "5", "4", "1") "," KERNEL("k", "5", "9", "1") "," FLOW("5") ","
                                          LAUNCH("5", "1", "1"))), "- 4 - - - ");
    /* Another stream, or a wait that took the place. */
    CU_ASSERT_STRING_EQUAL(launches(TRACE(ENTRY("kernel", "k", "0", "8", "4", "1", "\"correlation\":5") "," FLOW("5") ","
                                          LAUNCH("5", "1", "1"))), "- - - - ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(KERNEL("k", "5", "4", "1") "," FLOW("5") "," LAUNCH("5", "1", "1") ","
                                          ENTRY("cuda_sync", "Stream Sync", "0", "7", "4", "1", "\"correlation\":5"))),
                           "- - - - 3 ");
}

static void the_last_call_has_a_kernel(void)
{
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," LAUNCH("5", "9", "1") "," FLOW("5") ","
                                          KERNEL("k", "5", "4", "1"))), "- - - - 1 ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(CALL("cudaGraphLaunch", "5", "1", "1") "," LAUNCH("5", "1", "1") "," FLOW("5") ","
                                          KERNEL("a", "5", "4", "1") "," KERNEL("b", "5", "6", "1"))), "- - - - 0 1 ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," CALL("hipGraphLaunch", "5", "1", "1") "," FLOW("5") ","
                                          KERNEL("a", "5", "4", "1") "," KERNEL("b", "5", "6", "1"))), "- - - - 1 1 ");
}

static void the_first_launch_decides_about_the_key(void)
{
#define BOTH(cat, name, pid, tid, ts) ENTRY(cat, name, pid, tid, ts, "1", "\"External id\":5,\"correlation\":6")
    /* By correlation: the flow 6. */
    CU_ASSERT_STRING_EQUAL(launches(TRACE(CALL("cudaMalloc", "1", "0", "1") "," BOTH("cuda_driver", "cuLAUNCHKernel", "1", "1", "1")
                                          "," FLOW("6") "," BOTH("kernel", "k", "0", "7", "4"))), "- - - - 1 ");
    /* By external id: the flow 5. */
    CU_ASSERT_STRING_EQUAL(launches(TRACE(ENTRY("cuda_runtime", "cudaLaunchKernel", "1", "1", "0", "1", "\"External id\":1") ","
                                          BOTH("cuda_runtime", "cudaLaunchKernel", "1", "1", "1") "," FLOW("5") ","
                                          BOTH("kernel", "k", "0", "7", "4"))), "- - - - 1 ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(ENTRY("cuda_runtime", "cudaLaunchKernel", "1", "1", "0", "1", "\"External id\":1") ","
                                          BOTH("cuda_runtime", "cudaLaunchKernel", "1", "1", "1") "," FLOW("6") ","
                                          BOTH("kernel", "k", "0", "7", "4"))), "- - - - - ");
#undef BOTH
}

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
    /* A long one hides the gap behind a short one, on any device. */
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
    snprintf(out, sizeof out, "%s %s %d", tl_lens_drain_word(gap->drained), tl_lens_sync_word(gap->sync),
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
    CU_ASSERT_EQUAL(r.idle.gaps.v[0].sync, TL_LENS_SYNC_STREAM);
    CU_ASSERT_EQUAL(r.idle.gaps.v[1].sync, TL_LENS_SYNC_DEVICE);
    unload(&r);
    load(&r, TRACE(KERNEL("a", "1", "0", "10") "," KERNEL("b", "2", "20", "10") "," KERNEL("c", "3", "40", "10") ","
                   CALL("cudaDeviceSynchronize", "8", "2", "100") "," CALL("cudaStreamSynchronize", "9", "1", "100")));
    CU_ASSERT_EQUAL(r.idle.gaps.v[0].sync, TL_LENS_SYNC_DEVICE);
    CU_ASSERT_EQUAL(r.idle.gaps.v[1].sync, TL_LENS_SYNC_DEVICE);
    unload(&r);
}

/* -------------------------------------------------------------------------------------------------------- the host */

/* "LABEL; detail; dominant operator" of the only gap. */
static const char *host(const char *text)
{
    static char out[512];
    rank r;
    load(&r, text);
    CU_ASSERT_EQUAL_FATAL(r.idle.nmacro, 1);
    const tl_lens_gap *gap = &r.idle.gaps.v[0];
    snprintf(out, sizeof out, "%s; %s; %s", tl_lens_cpu_word(gap->cpu), word(&r, gap->detail), word(&r, gap->op));
    unload(&r);
    return out;
}

/* A gap from 100 to 200, and a launch in it or before it. */
#define GAP(entries) TRACE(KERNEL("a", "1", "0", "100") "," KERNEL("b", "2", "200", "10") entries)
#define LAUNCHED(ts, dur) "," FLOW("2") "," LAUNCH("2", ts, dur)
#define NO_OPS "no cpu_op/python_function events overlap this gap; (no_cpu_op_overlap)"

static void a_late_start_is_an_anomaly(void)
{
    CU_ASSERT_STRING_EQUAL(host(GAP(LAUNCHED("150", "5"))),
                           "LAUNCH_ANOMALY; launch_to_exec=45.0" MICRO "s (launched_during_gap); ");
    /* More than a quarter of the gap, and more than 10 us. */
    CU_ASSERT_STRING_EQUAL(host(GAP(LAUNCHED("170", "5"))), "CPU_UNTRACED; " NO_OPS);
    CU_ASSERT_STRING_EQUAL(host(GAP(LAUNCHED("169", "5.9"))),
                           "LAUNCH_ANOMALY; launch_to_exec=25.1" MICRO "s (launched_during_gap); ");
    /* Returned more than 8 us before the gap. */
    CU_ASSERT_STRING_EQUAL(host(GAP(LAUNCHED("80", "11.9"))),
                           "LAUNCH_ANOMALY; gap=100.0" MICRO "s, launch_to_exec=108.1" MICRO "s (prequeued); ");
    CU_ASSERT_STRING_EQUAL(host(GAP(LAUNCHED("80", "12"))),
                           "LAUNCH_ANOMALY; launch_to_exec=108.0" MICRO "s (launched_during_gap); ");
}

static void a_short_gap_is_the_launch_itself(void)
{
#define SHORT(launch, dur) \
    TRACE(KERNEL("a", "1", "0", "100") "," KERNEL("b", "2", "112", "10") "," FLOW("2") "," LAUNCH("2", launch, dur))
    CU_ASSERT_STRING_EQUAL(host(SHORT("102", "1.5")),
                           "LAUNCH_OVERHEAD_ONLY; app_overhead=3.5" MICRO "s, launch_to_exec=8.5" MICRO "s; ");
    CU_ASSERT_STRING_EQUAL(host(SHORT("102", "2")), "CPU_UNTRACED; " NO_OPS);
#undef SHORT
}

static void runtime_calls_that_fill_a_quarter_dominate(void)
{
    CU_ASSERT_STRING_EQUAL(host(GAP("," CALL("cudaFree", "9", "90", "35"))), "RUNTIME_DOMINATED; MEMORY_ALLOC: cudaFree; ");
    CU_ASSERT_STRING_EQUAL(host(GAP("," CALL("cudaFree", "9", "90", "34.9"))), "CPU_UNTRACED; " NO_OPS);
    CU_ASSERT_STRING_EQUAL(host(GAP("," CALL("hipGraphLaunch", "9", "180", "900"))), "CPU_UNTRACED; " NO_OPS);
    CU_ASSERT_STRING_EQUAL(host(GAP("," CALL("hipGraphLaunch", "9", "120", "900"))),
                           "RUNTIME_DOMINATED; LAUNCH_STALL: hipGraphLaunch; ");
    CU_ASSERT_STRING_EQUAL(host(GAP("," COPY("\"kind\":2", "120", "50"))), "RUNTIME_DOMINATED; SYNC_CALL: hipMemcpyAsync; ");
    CU_ASSERT_STRING_EQUAL(host(GAP("," COPY("", "120", "50"))), "RUNTIME_DOMINATED; OTHER_RUNTIME: hipMemcpyAsync; ");
    /* The name is the largest of all classes, and need not be of the class. */
    CU_ASSERT_STRING_EQUAL(host(GAP("," CALL("hipMalloc", "9", "110", "20") "," CALL("x", "9", "130", "15") ","
                                    CALL("y", "9", "150", "15"))), "RUNTIME_DOMINATED; OTHER_RUNTIME: hipMalloc; ");
    /* Of equal sums the first met. */
    CU_ASSERT_STRING_EQUAL(host(GAP("," CALL("hipFree", "9", "150", "30") "," CALL("cudaDeviceSynchronize", "9", "110", "30"))),
                           "RUNTIME_DOMINATED; SYNC_CALL: cudaDeviceSynchronize; ");
}

/*     a  [                            )         100
 *     b      [         )     [      )            60
 *     c        [    )                            20, in both
 */
static void self_time_is_what_children_leave(void)
{
    CU_ASSERT_STRING_EQUAL(host(GAP("," OP("a", "50", "200") "," OP("b", "110", "40") "," OP("c", "120", "20") ","
                                    OP("b", "160", "20"))), "CPU_DOMINATED; a: 40%, b: 40%, c: 20%; a");
    /* Python's frames count like operators, and threads do not matter. */
    CU_ASSERT_STRING_EQUAL(host(GAP("," OP("a", "100", "50") "," FRAME("f", "110", "30"))), "CPU_DOMINATED; f: 30%, a: 20%; f");
    /* The first three, by sum. */
    CU_ASSERT_STRING_EQUAL(host(GAP("," OP("a", "100", "10") "," OP("b", "110", "20") "," OP("c", "130", "30") ","
                                    OP("d", "160", "40"))), "CPU_DOMINATED; d: 40%, c: 30%, b: 20%; d");
    CU_ASSERT_STRING_EQUAL(host(GAP("," OP("a", "100", "19"))), "CPU_UNTRACED; self_time_coverage=19% of gap; a");
    CU_ASSERT_STRING_EQUAL(host(GAP("," OP("a", "100", "20"))), "CPU_DOMINATED; a: 20%; a");
    /* An empty one, and one that ends where the gap begins, are not there. */
    CU_ASSERT_STRING_EQUAL(host(GAP("," OP("a", "150", "0") "," OP("b", "90", "10") "," OP("c", "200", "5"))),
                           "CPU_UNTRACED; " NO_OPS);
}

/*     a  [         )          neither contains the other
 *     b       [         )
 *     c         [  )          in both
 */
static void operators_that_cross_are_no_children(void)
{
    CU_ASSERT_STRING_EQUAL(host(GAP("," OP("a", "100", "50") "," OP("b", "120", "50") "," OP("c", "130", "20"))),
                           "CPU_DOMINATED; a: 30%, b: 30%, c: 20%; a");
    /* Of one extent: they do not contain each other, and share their children. */
    CU_ASSERT_STRING_EQUAL(host(GAP("," OP("a", "100", "60") "," OP("b", "100", "60") "," OP("c", "100", "20"))),
                           "CPU_DOMINATED; a: 40%, b: 40%, c: 20%; a");
}

/* The scan that skips must find what comparing all pairs finds. */
static void self_times_are_those_of_all_pairs(void)
{
    uint64_t seed = 11;

    for (int round = 0; round < 200; round++) {
        static char text[20000];
        double from[24], to[24], self[24], best = 0, all = 0;
        size_t n = 1 + unit_below(&seed, 24), at = (size_t)snprintf(text, sizeof text, "%s", "{\"traceEvents\": [");
        for (size_t i = 0; i < n; i++) {
            from[i] = 100 + unit_below(&seed, 20) * 4;
            to[i] = fmin(200, from[i] + 4 * (1 + unit_below(&seed, unit_below(&seed, 2) ? 3 : 25)));
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n%zu\",\"pid\":1,\"tid\":1,\"ts\":%g,\"dur\":%g},", i,
                                   from[i], to[i] - from[i]);
        }
        snprintf(text + at, sizeof text - at, "%s", KERNEL("a", "1", "0", "100") "," KERNEL("b", "2", "200", "10") "]}");
        for (size_t i = 0; i < n; i++) {
            self[i] = 0;
            for (int t = 100; t < 200; t += 4) {
                bool child = false;
                for (size_t j = 0; j < n; j++)
                    child |= from[i] <= from[j] && to[j] <= to[i] && (from[i] < from[j] || to[j] < to[i]) && from[j] <= t &&
                             t < to[j];
                self[i] += from[i] <= t && t < to[i] && !child ? 4 : 0;
            }
            best = fmax(best, self[i]);
            all += self[i];
        }
        rank r;
        load(&r, text);
        const tl_lens_gap *gap = &r.idle.gaps.v[0];
        const char *op = word(&r, gap->op);
        CU_ASSERT_EQUAL(gap->cpu, all >= 20 ? TL_LENS_CPU_DOMINATED : TL_LENS_CPU_UNTRACED);
        CU_ASSERT_FATAL(op[0] == 'n');
        CU_ASSERT_EQUAL(self[strtoul(op + 1, NULL, 10)], best);
        unload(&r);
    }
}

static void covered_is_what_lies_within_each(void)
{
    enum { MOST = 60, LENGTH = 40 };
    uint64_t seed = 5;
    int wrong = 0;
    for (int round = 0; round < 2000; round++) {
        tl_cover_span v[MOST];
        int64_t covered[MOST];
        size_t n = 1 + unit_below(&seed, MOST);
        for (size_t i = 0; i < n; i++) {
            int64_t from = i > 0 ? v[i - 1].from + (int64_t)unit_below(&seed, 2) : 0;
            int64_t to = from + 1 + (int64_t)unit_below(&seed, unit_below(&seed, 2) ? 4 : LENGTH);
            v[i] = (tl_cover_span){ from, to, (double)(to + (int64_t)unit_below(&seed, 2)),
                                    i + 1 + (i + 1 < n ? unit_below(&seed, 2) : 0) };
        }
        CU_ASSERT_TRUE_FATAL(tl_cover_find(v, n, covered));
        for (size_t i = 0; i < n; i++) {
            int64_t expected = 0;
            for (int64_t t = 0; t < MOST + LENGTH + 4; t++) {
                bool any = false;
                for (size_t k = v[i].first; k < n; k++)
                    any |= v[k].end <= v[i].end && v[k].from <= t && t < v[k].to;
                expected += any;
            }
            wrong += covered[i] != expected;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* 2,000 operators that cross and 2,000 within all of them: pair by pair they are two million steps. */
static void a_crowd_that_crosses_has_its_self_times(void)
{
    enum { N = 2000 };
    size_t size = 4 * N * 100, at = 0;
    char *text = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    at += (size_t)snprintf(text + at, size - at, "{\"traceEvents\": [");
    for (int i = 0; i < 2 * N; i++)
        at += (size_t)snprintf(text + at, size - at,
                               "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":%d},",
                               i < N ? "long" : "short", i, i < N ? 100 + i : 100 + 2 * i - N, i < N ? 4 * N : 1);
    snprintf(text + at, size - at, "%s", KERNEL("a", "1", "0", "100") "," KERNEL("b", "2", "12100", "10") "]}");
    rank r;
    load(&r, text);
    /* Each long one has 8,000 less the 2,000 of the short ones; the gap is 12,000. */
    CU_ASSERT_STRING_EQUAL(word(&r, r.idle.gaps.v[0].op), "long");
    CU_ASSERT_STRING_EQUAL(word(&r, r.idle.gaps.v[0].detail), "long: 100000%, short: 17%");
    unload(&r);
    free(text);
}

static const unit_test tests[] = {
    TEST(a_flow_with_both_ends_links),
    TEST(a_flow_ends_at_the_last_event_of_its_place),
    TEST(the_last_call_has_a_kernel),
    TEST(the_first_launch_decides_about_the_key),
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
    TEST(a_late_start_is_an_anomaly),
    TEST(a_short_gap_is_the_launch_itself),
    TEST(runtime_calls_that_fill_a_quarter_dominate),
    TEST(self_time_is_what_children_leave),
    TEST(operators_that_cross_are_no_children),
    TEST(covered_is_what_lies_within_each),
    TEST(a_crowd_that_crosses_has_its_self_times),
    TEST(self_times_are_those_of_all_pairs),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("tracelens", tests, COUNT(tests));
    scratch_remove();
    return status;
}
