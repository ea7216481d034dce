/* test_tracelens.c - TraceLens' rules, each on a trace of a few lines. */
#include "../../src/compat/tracelens.h"
#include "../../src/compat/tracelens_coll.h"
#include "../../src/compat/tracelens_cover.h"
#include "scratch.h"
#include "unit.h"
#include <math.h>

/* ------------------------------------------------------------------------------------------------------ traces */

#define TRACE(entries) "{\"schemaVersion\": 1, \"traceEvents\": [" entries "]}"
#define ENTRY(cat, name, pid, tid, ts, dur, args)                                                                      \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts               \
    ",\"dur\":" dur ",\"args\":{" args "}}"
#define KERNEL(name, corr, ts, dur) \
    ENTRY("kernel", name, "0", "7", ts, dur, "\"stream\":7,\"correlation\":" corr)
#define CALL(name, corr, ts, dur) ENTRY("cuda_runtime", name, "1", "1", ts, dur, "\"correlation\":" corr)
#define LAUNCH(corr, ts, dur) CALL("cudaLaunchKernel", corr, ts, dur)
#define COPY(args, ts, dur) ENTRY("cuda_runtime", "hipMemcpyAsync", "1", "1", ts, dur, args)
#define OP(name, ts, dur) ENTRY("cpu_op", name, "1", "1", ts, dur, "")
#define FRAME(name, ts, dur) ENTRY("python_function", name, "1", "2", ts, dur, "")
#define START(id) "{\"ph\":\"s\",\"id\":" id ",\"pid\":1,\"tid\":1,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"}"
#define END(id) "{\"ph\":\"f\",\"id\":" id ",\"pid\":0,\"tid\":7,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"}"
#define FLOW(id) START(id) "," END(id)

/* A trace, what TraceLens sees in it, and its gaps. */
typedef struct rank {
    tl_trace trace;
    tl_lens lens;
    tl_lens_idle idle;
} rank;

static void load(rank *r, const char *text)
{
    const tl_read_options options = { .keep = ~0u, .raw = true, .more = true };
    tl_error err;
    *r = (rank){ .lens = { 0 } };
    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("rank.json", text), &options, &r->trace, &err), TL_OK);
    CU_ASSERT_EQUAL_FATAL(tl_lens_open(&r->lens, &r->trace, &err), TL_OK);
    CU_ASSERT_EQUAL_FATAL(tl_lens_idle_find(&r->idle, &r->lens, &err), TL_OK);
}

static void unload(rank *r)
{
    tl_lens_idle_free(&r->idle);
    tl_lens_free(&r->lens);
    tl_trace_free(&r->trace);
}

static const char *word(const rank *r, uint32_t id)
{
    return tl_names_text(&r->idle.words, id).p;
}

/* ------------------------------------------------------------------------------------------------------- launches */

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

/* ---------------------------------------------------------------------------------------------------------- gaps */

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

/* -------------------------------------------------------------------------------------------------------- drains */

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

/* ------------------------------------------------------------------------------------------------------- the host */

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
#define MICRO "\302\265"
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

/* ------------------------------------------------------------------------------------------------------ timeline */

#define COMM(ts, dur) KERNEL("ncclDevKernel_AllReduce(x)", "1", ts, dur)
#define MEMCPY(ts, dur) ENTRY("gpu_memcpy", "nccl in a copy's name", "0", "9", ts, dur, "")

/*     compute   0         20
 *     comm           10             40
 *     copies     5  9           30       50     70 72
 */
static void what_is_not_hidden_is_exposed(void)
{
    tl_lens_timeline all, linked;
    tl_error err;
    rank r;
    load(&r, TRACE(KERNEL("a", "1", "0", "12") "," ENTRY("gpu_memset", "Memset", "1", "3", "11.5", "8.5", "") "," COMM("10", "30") ","
                   MEMCPY("30", "20") "," MEMCPY("5", "4") "," KERNEL("__amd_rocclr_copyBufferRect.kd", "1", "70", "2")));
    CU_ASSERT_EQUAL(tl_lens_timeline_of(&all, &r.lens, false, &err), TL_OK);
    CU_ASSERT_EQUAL(all.computation, 20);
    CU_ASSERT_EQUAL(all.comm, 30);
    CU_ASSERT_EQUAL(all.exposed_comm, 20);
    CU_ASSERT_EQUAL(all.memcpy, 26);
    CU_ASSERT_EQUAL(all.exposed_memcpy, 12);
    CU_ASSERT_EQUAL(all.busy, 52);
    CU_ASSERT_EQUAL(all.total, 72);
    CU_ASSERT_EQUAL(all.idle, 20);
    CU_ASSERT_EQUAL(all.macro_idle, 20);
    CU_ASSERT_EQUAL(all.micro_idle, 0);
    CU_ASSERT_EQUAL(tl_lens_timeline_of(&linked, &r.lens, true, &err), TL_OK);
    CU_ASSERT_FALSE(linked.any);
    unload(&r);
}

static void names_tell_communication_in_any_case(void)
{
    rank r;
    tl_lens_timeline t;
    tl_error err;
    load(&r, TRACE(KERNEL("RCCL_Generic", "1", "0", "1") "," KERNEL("void Cross_Device_Reduce_1stage<x>", "1", "10", "1") ","
                   ENTRY("gpu_memset", "memset for nccl", "0", "7", "20", "1", "") "," KERNEL("deep_ep::dispatch", "1", "30", "1") ","
                   KERNEL("__amd_rocclr_fillBuffer", "1", "40", "1") "," KERNEL("MEMORY_COPY_HOST_TO_DEVICE", "1", "50", "1") ","
                   KERNEL("MEMORY_COPY_HOST_TO_DEVICE_2", "1", "60", "1")));
    CU_ASSERT_EQUAL(tl_lens_timeline_of(&t, &r.lens, false, &err), TL_OK);
    CU_ASSERT_EQUAL(t.comm, 3);
    CU_ASSERT_EQUAL(t.memcpy, 1);
    CU_ASSERT_EQUAL(t.computation, 3);
    unload(&r);
}

/* -------------------------------------------------------------------------------------------------- the call tree */

/* The operator of the event, "-" for none. */
static const char *operator_of(const char *text, uint32_t event)
{
    static char out[64];
    rank r;
    load(&r, text);
    uint32_t *op = tl_lens_parent_ops(&r.lens);
    CU_ASSERT_PTR_NOT_NULL_FATAL(op);
    tl_text name = op[event] != TL_NONE ? tl_lens_name(&r.lens, op[event], "") : TL_TEXT("-");
    snprintf(out, sizeof out, "%.*s", (int)name.n, name.p);
    free(op);
    unload(&r);
    return out;
}

static void the_nearest_operator_above_counts(void)
{
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," OP("a", "0", "100") "," OP("b", "10", "50")), 0), "b");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," OP("a", "0", "100") "," OP("b", "10", "10")), 0), "a");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," OP("a", "0", "100") "," CALL("outer", "1", "15", "20")), 0),
                           "a");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," FRAME("f", "0", "100")), 0), "-");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," ENTRY("cpu_op", "a", "1", "9", "0", "100", "")), 0), "-");
}

static void an_event_that_ends_too_late_is_left_out(void)
{
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("a", "0", "100") "," LAUNCH("1", "90", "20")), 1), "-");
    /* But where the top ends less than 1 us later, what is under it counts. */
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("a", "0", "100") "," OP("b", "10", "40.5") "," LAUNCH("1", "50", "20")), 2), "a");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("a", "0", "100") "," OP("b", "10", "41") "," LAUNCH("1", "50", "20")), 2), "-");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("b", "10", "40.5") "," OP("c", "50", "20") "," LAUNCH("1", "60", "2")), 2), "-");
}

/* -------------------------------------------------------------------------------------------------- whole tables */

/* The tables of some ranks in the folder `out` (of one) or out/rank<i>. */
static tl_status run(const char *const *texts, size_t n, const char *out, bool *incomplete, tl_error *err)
{
    tl_bytes share = { 0 };
    char folder[256], dir[300];
    tl_status st = TL_OK;

    snprintf(folder, sizeof folder, "%s/%s", scratch_folder, out);
    for (size_t i = n; st == TL_OK && i-- > 0;) {       /* any order will do */
        snprintf(dir, sizeof dir, n > 1 ? "%s/rank%zu" : "%s", folder, i);
        st = tl_tracelens_rank(scratch_text("rank.json", texts[i]), (int64_t)i, dir, &share, err);
    }
    if (st == TL_OK)
        st = tl_tracelens_ranks(share.v, share.n, n > 1 ? 2 : 0, folder, incomplete, err);
    free(share.v);
    return st;
}

static void tables_of(const char *text, const char *out)
{
    bool incomplete = true;
    tl_error err;
    CU_ASSERT_EQUAL(run(&text, 1, out, &incomplete, &err), TL_OK);
    CU_ASSERT_FALSE(incomplete);
}

#define STORY                                                                                                          \
    TRACE(KERNEL("a", "1", "0", "100") "," FLOW("2") "," LAUNCH("2", "150", "5") "," OP("aten::mm", "100", "60") ","   \
          KERNEL("b", "2", "200", "10") "," CALL("cudaStreamSynchronize", "3", "80", "20") ","                         \
          KERNEL("a", "7", "212", "4") "," KERNEL("a", "8", "240", "4"))

static void the_tables_of_gaps(void)
{
    tables_of(STORY, "gaps");
    CU_ASSERT_STRING_EQUAL(
        scratch_content("gaps/idle_intervals.csv"),
        "idle_id,group,start_us,end_us,duration_us,drain_type,sync_type,sync_event_name,sync_event_correlation,sync_event_dur,"
        "cpu_during_gap,cpu_during_gap_detail,dominant_op,preceding_gpu_event,following_gpu_event,following_launch_name,"
        "following_gpu_uid,following_launch_uid,sync_event_uid,launch_to_exec_us,kernel_prequeued\n"
        "0,sync_drain | LAUNCH_ANOMALY | launched_during_gap,100,200,100,sync_drain,STREAM_SYNC,cudaStreamSynchronize,3.0,20.0,"
        "LAUNCH_ANOMALY,launch_to_exec=45.0" MICRO "s (launched_during_gap),,a,b,cudaLaunchKernel,5,3.0,6.0,45.0,False\n"
        "1,starved | CPU_UNTRACED | (no_cpu_op_overlap),216,240,24,starved,,,,,"
        "CPU_UNTRACED,no cpu_op/python_function events overlap this gap,(no_cpu_op_overlap),a,a,,8,,,,\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("gaps/idle_noise.csv"), "idle_id,start_us,end_us,duration_us\n-1,210,212,2\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("gaps/idle_summary.csv"),
                           "drain_type,cpu_during_gap,dominant_op,count,total_time_ms,pct_of_idle,cumulative_pct,mean_us,median_us,"
                           "std_us,min_us,max_us,idle_ids\n"
                           "ALL,ALL,ALL,2,0.124,100.0,,62.0,62.0,38.0,24,100,\n"
                           "\342\200\224,noise,\342\200\224,1,0.002,,,2.0,2.0,0.0,2,2,\n"
                           "sync_drain,LAUNCH_ANOMALY,launched_during_gap,1,0.1,80.64516129032259,80.64516129032259,100.0,100.0,0.0,"
                           "100,100,0\n"
                           "starved,CPU_UNTRACED,(no_cpu_op_overlap),1,0.024,19.35483870967742,100.00000000000001,24.0,24.0,0.0,24,24,1\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("gaps/idle_overview.csv"),
                           "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,pct_of_trace,gpu_utilization_pct,mean_us,"
                           "median_us,min_us,max_us\n"
                           "ALL,ALL,2,0.124,100.0,51.239669421487605,48.760330578512395,62.0,62.0,24,100\n"
                           "sync_drain,LAUNCH_ANOMALY,1,0.1,80.64516129032259,41.32231404958678,48.760330578512395,100.0,100.0,100,"
                           "100\n"
                           "starved,CPU_UNTRACED,1,0.024,19.35483870967742,9.917355371900827,48.760330578512395,24.0,24.0,24,24\n");
}

static void the_tables_of_kernels(void)
{
    tables_of(STORY, "kernels");
    CU_ASSERT_STRING_EQUAL(scratch_content("kernels/kernel_summary.csv"),
                           "Parent op category,Parent cpu_op,Kernel name,Kernel stream,Kernel duration (" MICRO "s)_sum,"
                           "Kernel duration (" MICRO "s)_count,Kernel duration (" MICRO "s)_mean,Kernel duration (" MICRO "s)_min,"
                           "Kernel duration (" MICRO "s)_max,Percent of kernels time (%),Percent of total time (%)\n"
                           ",,a,7,108,3,36.0,4,100,91.52542372881356,1080.0\n"
                           ",aten::mm,b,7,10,1,10.0,10,10,8.47457627118644,100.0\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("kernels/short_kernel_histogram.csv"), "\n4.0,4.01,2\n"));
    /* No short kernel has an operator whose arguments were recorded. */
    CU_ASSERT_STRING_EQUAL(scratch_content("kernels/short_kernels_summary.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("kernels/gpu_timeline.csv"), "busy_time,0.01,100.0\nidle_time,0.0,0.0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("kernels/gpu_timeline_all_events_micro5.csv"),
                                  "busy_time,0.118,48.36065573770492\nmicro_idle_time,0.002,0.819672131147541\n"
                                  "macro_idle_time,0.124,50.81967213114754\ntotal_time,0.244,100.0\n"));
}

/* The lower edge belongs to the bin, the last bin has both. */
static void short_kernels_fall_into_equal_bins(void)
{
    tables_of(TRACE(LAUNCH("1", "0", "1") "," KERNEL("a", "1", "0", "0") "," KERNEL("a", "1", "10", "0.09") ","
                    KERNEL("a", "1", "20", "8.91") "," KERNEL("a", "1", "30", "9") "," KERNEL("b", "1", "50", "10") ","
                    KERNEL("a", "1", "70", "8.9")), "bins");
    const char *text = scratch_content("bins/short_kernel_histogram.csv");
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "bin_start,bin_end,count\n0.0,0.09,1\n0.09,0.18,1\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n8.82,8.91,1\n8.91,9.0,2\n"));
    /* Without operators, by name. */
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("bins/short_kernels_summary.csv"), "\na,26.9,5,5.38,\n"));
}

static void short_kernels_are_told_by_their_operator(void)
{
    tables_of(TRACE(ENTRY("cpu_op", "aten::mm", "1", "1", "0", "20", "\"Input Dims\":[[2,3],[]],\"Input Strides\":[[3,1],[]],"
                          "\"Concrete Inputs\":[\"\",\"1\"]") "," LAUNCH("1", "1", "1") "," FLOW("1") ","
                    KERNEL("k", "1", "30", "4") "," OP("no arguments", "40", "20") "," LAUNCH("2", "41", "1") "," FLOW("2") ","
                    KERNEL("k", "2", "50", "4")), "short");
    CU_ASSERT_STRING_EQUAL(scratch_content("short/short_kernels_summary.csv"),
                           "Parent cpu_op,Input dims,Input strides,Concrete Inputs,Kernel name,Short Kernel duration (" MICRO
                           "s) sum,Short Kernel count,Short Kernel duration (" MICRO "s) mean,Short Kernel duration (" MICRO
                           "s) percent of total time\n"
                           "aten::mm,\"((2, 3), ())\",\"((3, 1), ())\",\"('', '1')\",k,4,1,4.0,16.666666666666664\n");
}

static void without_gaps_the_tables_have_no_columns(void)
{
    tables_of(TRACE(OP("a", "0", "1")), "none");
    CU_ASSERT_STRING_EQUAL(scratch_content("none/idle_intervals.csv"), "\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("none/idle_overview.csv"),
                           "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,mean_us,median_us,min_us,max_us\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("none/idle_summary.csv"), "\n\342\200\224,noise,\342\200\224,0,0.0,,,,,,,,\n"));
    CU_ASSERT_STRING_EQUAL(scratch_content("none/gpu_timeline_all_events.csv"), "(no file)");
    CU_ASSERT_STRING_EQUAL(scratch_content("none/kernel_summary.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("none/notes.txt"), "rank 0: no device work"));
}

/* --------------------------------------------------------------------------------------------------- collectives */

#define COLLECTIVE(group, name, n, ts, dur)                                                                            \
    ENTRY("kernel", "ncclDevKernel(x)", "0", "7", ts, dur,                                                             \
          "\"stream\":7,\"correlation\":1,\"Process Group Name\":\"" group "\",\"Process Group Ranks\":\"[0, 1, 2]\"," \
          "\"Collective name\":\"" name "\",\"Group size\":3,\"dtype\":\"Float\",\"In msg nelems\":" n                  \
          ",\"Out msg nelems\":" n ",\"In split size\":\"[]\",\"Out split size\":\"[]\"")

static tl_status run_ranks(const char *out, const char *a, const char *b, const char *c)
{
    const char *texts[] = { a, b, c };
    bool incomplete;
    tl_error err;
    return run(texts, 3, out, &incomplete, &err);
}

/* Rank 1 comes last, and takes no part in the second collective, which rank 2 calls the first of its group. */
static void collectives_are_matched_by_order(void)
{
    CU_ASSERT_EQUAL(run_ranks("coll",
                              TRACE(COLLECTIVE("g", "allreduce", "262144", "200", "10") ","
                                    COLLECTIVE("g", "allreduce", "262144", "100", "50")),
                              TRACE(COLLECTIVE("g", "allreduce", "262144", "130", "20")),
                              TRACE(COLLECTIVE("g", "allreduce", "262144", "110", "40") ","
                                    COLLECTIVE("g", "allreduce", "262144", "200", "10"))), TL_OK);
    CU_ASSERT_STRING_EQUAL(
        scratch_content("coll/nccl_implicit_sync.csv"),
        "collective_id,Process Group Name,Process Group Ranks,Collective name,Group size,dtype,In msg nelems,Out msg nelems,"
        "In msg size (MB),Out msg size (MB),Full msg size (MB),comm_latency,skew in start time,earliest arrival rank,avg_wait_time,"
        "skew in end time,algo bw (GB/s),bus bw (GB/s),rank_0_ts,rank_0_dur,rank_1_ts,rank_1_dur,rank_2_ts,rank_2_dur,"
        "rank_0_wait_time,rank_1_wait_time,rank_2_wait_time,node_span\n"
        "g_1,g,\"[0, 1, 2]\",allreduce,3,Float,262144,262144,1.0,1.0,1.0,10,0,2,0.0,0,97.65624999999999,130.20833333333331,200,10,,,200,10,"
        "0,,0,inter_node\n"
        "g_0,g,\"[0, 1, 2]\",allreduce,3,Float,262144,262144,1.0,1.0,1.0,20,30,0,16.666666666666668,0,48.82812499999999,65.10416666666666,"
        "100,50,130.0,20.0,110,40,30,0.0,20,inter_node\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("coll/nccl_straggler_summary.csv"),
                           "rank,total_wait_time_us,mean_wait_time_us,times_arrived_last,times_arrived_first,pct_arrived_last,"
                           "num_collectives,total_nccl_dur_us,node_id\n"
                           "1,0.0,0.0,1,0,50.0,2,20.0,0\n2,20.0,10.0,0,1,0.0,2,50.0,1\n0,30.0,15.0,1,1,50.0,2,60.0,0\n");
    /* The rank's own table knows it as 0 and nothing of nodes. */
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("coll/rank2/coll_analysis.csv"), "\n0,g,"));
    CU_ASSERT_PTR_NULL(strstr(scratch_content("coll/rank2/coll_analysis.csv"), "node"));
}

static void ranks_that_differ_are_a_note(void)
{
    CU_ASSERT_EQUAL(run_ranks("differ", TRACE(COLLECTIVE("g", "allreduce", "1", "100", "50")),
                              TRACE(COLLECTIVE("g", "allreduce", "2", "100", "50")), TRACE(OP("a", "0", "1"))), TL_OK);
    CU_ASSERT_STRING_EQUAL(scratch_content("differ/nccl_implicit_sync.csv"), "(no file)");
    CU_ASSERT_STRING_EQUAL(scratch_content("differ/nccl_straggler_summary.csv"), "(no file)");
    CU_ASSERT_STRING_NOT_EQUAL(scratch_content("differ/nccl_long.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("differ/notes.txt"), "collective g_0: the ranks do not agree"));
    /* What does not synchronise may differ. */
    CU_ASSERT_EQUAL(run_ranks("may", TRACE(COLLECTIVE("g", "broadcast", "1", "100", "50")),
                              TRACE(COLLECTIVE("g", "broadcast", "2", "100", "50")), TRACE(OP("a", "0", "1"))), TL_OK);
    CU_ASSERT_PTR_NULL(strstr(scratch_content("may/notes.txt"), "agree"));
}

/* Without groups and on one stream each, positions alone are matched; a custom all-reduce is known by its name. */
static void without_metadata_positions_are_matched(void)
{
    const char *a = TRACE(KERNEL("ncclKernel(x)", "1", "100", "5") "," KERNEL("void cross_device_reduce_2stage<x>", "2", "200", "5"));
    CU_ASSERT_EQUAL(run_ranks("plain", a, a, a), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("plain/nccl_implicit_sync.csv"), "\n0,all,,,,,,,,,,5,0,2,0.0,0,,,100,5,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("plain/nccl_implicit_sync.csv"), "\n1,all,,allreduce,,,,,,,,5,0,2,0.0,0,,,200,5,"));
    CU_ASSERT_STRING_EQUAL(scratch_content("plain/nccl_summary_long.csv"), "(no file)");
    /* Two streams: nothing is known. */
    CU_ASSERT_EQUAL(run_ranks("streams", a, TRACE(KERNEL("ncclKernel(x)", "1", "100", "5") ","
                                                  ENTRY("kernel", "nccl", "0", "8", "200", "5", "\"stream\":8,\"correlation\":2")), a),
                    TL_OK);
    CU_ASSERT_STRING_EQUAL(scratch_content("streams/nccl_implicit_sync.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("streams/nccl_long.csv"), "\nUnknown_Group_1,1,1,Unknown_Group,"));
}

/* A rank in the list that was shortened may lie on another node. */
static void groups_span_nodes(void)
{
    static const struct {
        const char *ranks, *span;
    } known[] = {
        { "[0, 1]", "intra_node" },     { "[2, 3]", "intra_node" }, { "[1, 2]", "inter_node" }, { "[0, 1, ...]", "unknown" },
        { "[0, 1, 2, ...]", "inter_node" }, { "[]", "unknown" },    { "", "unknown" },
    };
    tl_colls colls = { .gpus_per_node = 2 };
    tl_sheet sheet;
    tl_error err;
    for (size_t i = 0; i < COUNT(known); i++) {
        char want[32];
        CU_ASSERT_EQUAL_FATAL(tl_sheet_open(&sheet, scratch_folder, "span.csv", NULL, &err), TL_OK);
        tl_coll_put_span(&sheet, &colls, tl_names_intern(&colls.texts, known[i].ranks, strlen(known[i].ranks)));
        tl_sheet_end_row(&sheet);
        CU_ASSERT_EQUAL(tl_sheet_close(&sheet, &err), TL_OK);
        snprintf(want, sizeof want, "%s\n", known[i].span);
        CU_ASSERT_STRING_EQUAL(scratch_content("span.csv"), want);
    }
    tl_colls_free(&colls);
}

#define EXCHANGE(split, ts, dur)                                                                                       \
    ENTRY("kernel", "nccl", "0", "7", ts, dur,                                                                         \
          "\"stream\":7,\"correlation\":1,\"Process Group Name\":\"g\",\"Process Group Ranks\":\"[0, 1, 2]\","         \
          "\"Collective name\":\"all_to_allv\",\"Group size\":3,\"dtype\":\"Byte\",\"In msg nelems\":3145728,"          \
          "\"Out msg nelems\":3145728,\"In split size\":\"" split "\",\"Out split size\":\"[]\"")

static void exchanges_are_summed_up(void)
{
    CU_ASSERT_EQUAL(run_ranks("a2a", TRACE(EXCHANGE("[1048576, 0, 2097152]", "100", "50")),
                              TRACE(EXCHANGE("[1048576, ...]", "110", "40") "," EXCHANGE("[7]", "900", "9")),
                              TRACE(EXCHANGE("[ 1048576,1048576, 1048576 ]", "120", "20"))),
                    TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("a2a/nccl_all2allv.csv"),
                                  "\ng_0,g,\"[0, 1, 2]\",all_to_allv,3,Byte,7,9.0,9437184,50,50,20,36.666666666666664,175.78125,"
                                  "146.484375,58.59375,1.0,20,10,"));
    CU_ASSERT_STRING_EQUAL(scratch_content("a2a/nccl_all2allv_heatmap.csv"),
                           "src_rank,dst_rank,total_sent_MB,avg_sent_MB,count\n0,0,1.0,1.0,1\n0,1,0.0,0.0,1\n0,2,2.0,2.0,1\n"
                           "2,0,1.0,1.0,1\n2,1,1.0,1.0,1\n2,2,1.0,1.0,1\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("a2a/nccl_implicit_sync.csv"), "(no file)");
}

/* ---------------------------------------------------------------------------------------------------------- faults */

/* TraceLens stops at most of these. */
static void nothing_in_a_trace_is_taken_for_granted(void)
{
    static const char *const traces[] = {
        TRACE(""),
        TRACE("{}"),
        TRACE("{\"cat\":\"kernel\"},{\"cat\":\"kernel\",\"ph\":\"X\",\"ts\":1},{\"cat\":\"kernel\",\"dur\":1}"),
        TRACE("{\"cat\":\"cuda_runtime\",\"name\":\"launch\"},{\"cat\":\"ac2g\",\"ph\":\"s\"},{\"cat\":\"ac2g\",\"ph\":\"f\"}"),
        TRACE("{\"cat\":\"kernel\",\"ts\":5,\"dur\":-9},{\"cat\":\"kernel\",\"ts\":50,\"dur\":1},{\"cat\":\"cpu_op\",\"ph\":\"X\",\"ts\":20}"),
        TRACE("{\"cat\":\"kernel\",\"name\":\"nccl\",\"ts\":5,\"dur\":9,\"args\":{\"External id\":\"x\"}},"
              "{\"cat\":\"kernel\",\"ts\":50,\"dur\":1}"),
        TRACE(COLLECTIVE("", "all_to_allv", "0", "0", "0") "," COLLECTIVE("g", "allgather", "0", "100", "0")),
        TRACE(ENTRY("kernel", "k", "\"a\"", "\"b\"", "-2305843009213693", "1", "\"correlation\":1.5") ","
              ENTRY("kernel", "k", "null", "[]", "2305843009213693", "0", "\"correlation\":[1],\"stream\":{}")),
        "[]",
    };
    for (size_t i = 0; i < COUNT(traces); i++) {
        bool incomplete;
        tl_error err;
        CU_ASSERT_EQUAL(run(&traces[i], 1, "odd", &incomplete, &err), TL_OK);
        CU_ASSERT_STRING_NOT_EQUAL(scratch_content("odd/idle_summary.csv"), "(no file)");
    }
}

static void a_file_that_cannot_be_used_is_left_out(void)
{
    const char *texts[] = { STORY, "no trace" };
    bool incomplete = false;
    tl_error err;
    CU_ASSERT_EQUAL(run(texts, 2, "left", &incomplete, &err), TL_OK);
    CU_ASSERT(incomplete);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("left/notes.txt"), "rank 1: left out: "));
    CU_ASSERT_STRING_NOT_EQUAL(scratch_content("left/rank0/idle_summary.csv"), "(no file)");
    CU_ASSERT_EQUAL(run(&texts[1], 1, "nothing", &incomplete, &err), TL_EINPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("nothing/notes.txt"), "rank 0: left out: "));
}

static void a_table_of_an_earlier_run_does_not_stay(void)
{
    tables_of(STORY, "again");
    CU_ASSERT_STRING_NOT_EQUAL(scratch_content("again/kernel_summary.csv"), "(no file)");
    tables_of(TRACE(OP("a", "0", "1")), "again");
    CU_ASSERT_STRING_EQUAL(scratch_content("again/kernel_summary.csv"), "(no file)");
}

static void without_memory_it_says_so_and_leaves_nothing(void)
{
    const char *texts[] = { TRACE(KERNEL("a", "1", "0", "100") "," FLOW("2") "," LAUNCH("2", "150", "5") ","
                                  ENTRY("cpu_op", "aten::mm", "1", "1", "100", "60", "\"Input Dims\":[[1]],\"Input Strides\":[],"
                                        "\"Concrete Inputs\":[]") "," KERNEL("b", "2", "230", "4") ","
                                  CALL("cudaStreamSynchronize", "3", "80", "21") "," KERNEL("c", "3", "900", "1") ","
                                  COLLECTIVE("g", "allreduce", "1", "1100", "50") "," EXCHANGE("[1, 2, 3]", "1200", "9")),
                            TRACE(COLLECTIVE("g", "allreduce", "1", "1100", "50") "," EXCHANGE("[1, 2, 3]", "1200", "9")) };
    tl_status st = TL_ENOMEM;
    size_t k = 1;

    /* Not every one: a table that is written costs a wait for the disk. */
    for (; st != TL_OK && k < 5000; k += 1 + k / 30) {
        bool incomplete;
        tl_error err;
        tl_mem_fail_after(k);
        st = run(texts, 2, "tight", &incomplete, &err);
        tl_mem_fail_after(0);
        if (st != TL_OK) {
            CU_ASSERT_EQUAL(st, TL_ENOMEM);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "memory"));
        }
    }
    CU_ASSERT_EQUAL(st, TL_OK);
    CU_ASSERT(k > 150);
    CU_ASSERT_STRING_NOT_EQUAL(scratch_content("tight/nccl_all2allv_heatmap.csv"), "(no file)");
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
    TEST(what_is_not_hidden_is_exposed),
    TEST(names_tell_communication_in_any_case),
    TEST(the_nearest_operator_above_counts),
    TEST(an_event_that_ends_too_late_is_left_out),
    TEST(the_tables_of_gaps),
    TEST(the_tables_of_kernels),
    TEST(short_kernels_fall_into_equal_bins),
    TEST(short_kernels_are_told_by_their_operator),
    TEST(without_gaps_the_tables_have_no_columns),
    TEST(collectives_are_matched_by_order),
    TEST(ranks_that_differ_are_a_note),
    TEST(without_metadata_positions_are_matched),
    TEST(groups_span_nodes),
    TEST(exchanges_are_summed_up),
    TEST(nothing_in_a_trace_is_taken_for_granted),
    TEST(a_file_that_cannot_be_used_is_left_out),
    TEST(a_table_of_an_earlier_run_does_not_stay),
    TEST(without_memory_it_says_so_and_leaves_nothing),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("tracelens", tests, COUNT(tests));
    scratch_remove();
    return status;
}
