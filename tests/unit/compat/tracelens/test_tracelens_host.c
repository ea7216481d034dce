/* test_tracelens_host.c - what the host did in a gap, as TraceLens sees it. */
#include "lens_rank.h"

/* "LABEL; detail; dominant operator" of the only gap. */
static const char *host(const char *text)
{
    static char out[512];
    rank r;
    load(&r, text);
    CU_ASSERT_EQUAL_FATAL(r.idle.nmacro, 1);
    const tl_lens_gap *gap = &r.idle.gaps.v[0];
    snprintf(out, sizeof out, "%s; %s; %s", word(&r, gap->cpu), word(&r, gap->detail), word(&r, gap->op));
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
        CU_ASSERT_STRING_EQUAL(word(&r, gap->cpu), all >= 20 ? "CPU_DOMINATED" : "CPU_UNTRACED");
        CU_ASSERT_FATAL(op[0] == 'n');
        CU_ASSERT_EQUAL(self[strtoul(op + 1, NULL, 10)], best);
        unload(&r);
    }
}

/* 2,000 operators that cross and 2,000 within all of them. */
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
    TEST(a_late_start_is_an_anomaly),
    TEST(a_short_gap_is_the_launch_itself),
    TEST(runtime_calls_that_fill_a_quarter_dominate),
    TEST(self_time_is_what_children_leave),
    TEST(operators_that_cross_are_no_children),
    TEST(a_crowd_that_crosses_has_its_self_times),
    TEST(self_times_are_those_of_all_pairs),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("tracelens_host", tests, COUNT(tests));
    scratch_remove();
    return status;
}
