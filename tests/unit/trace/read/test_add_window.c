/* test_add_window.c - windows of one process to one trace. */
#include "damaged.h"

static tl_trace whole_of(const char *a, const char *b, const tl_window *second)
{
    tl_trace whole = { 0 }, next = read_text(a);
    tl_trace_add_window(&whole, &next, &(tl_window){ 0 });
    next = read_text(b);
    tl_trace_add_window(&whole, &next, second);
    return whole;
}

#define WORK(ts, corr) "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":" #ts ",\"dur\":5,\"args\":{\"correlation\":" #corr "}}"

/* The second begins 1 s later by its base time and 400 us by its events; the hole is of 1 s. */
static void times_are_of_recorded_time(void)
{
    tl_trace t = whole_of("{\"baseTimeNanoseconds\":1000000000,\"traceEvents\":[" WORK(100, 1) "," WORK(200, 2) "]}",
                          "{\"baseTimeNanoseconds\":2000000000,\"traceEvents\":[" WORK(400, 3) "]}",
                          &(tl_window){ .number = 1, .more_steps = 1000, .closed_ns = 1000000000 });
    CU_ASSERT_EQUAL_FATAL(t.events.n, 3);
    CU_ASSERT_EQUAL(t.events.ts_ns[1], 200000);
    CU_ASSERT_EQUAL(t.events.ts_ns[2], 400000);
    CU_ASSERT_EQUAL(t.meta.base_ns, 1000000000);
    CU_ASSERT_EQUAL_FATAL(t.events.windows.n, 2);
    CU_ASSERT(t.events.windows.v[0].begin_ns == 100000 && t.events.windows.v[0].first_event == 0);
    CU_ASSERT(t.events.windows.v[1].begin_ns == 400000 && t.events.windows.v[1].first_event == 2);
    CU_ASSERT(t.events.windows.v[1].number == 1 && t.events.windows.v[1].more_steps == 1000);
    CU_ASSERT_EQUAL(t.report.entries, 3);
    CU_ASSERT(t.events.uid[0] < t.events.uid[1] && t.events.uid[1] < t.events.uid[2]);
    tl_trace_free(&t);
}

static void correlations_that_come_again_are_moved(void)
{
    tl_trace t = whole_of("[" WORK(100, 7) "," WORK(200, 9) "]", "[" WORK(400, 7) "]", &(tl_window){ .number = 1 });
    CU_ASSERT_EQUAL_FATAL(t.events.n, 3);
    CU_ASSERT(tl_event_corr(&t.events, 1) == 9 && tl_event_corr(&t.events, 2) == 16);
    tl_trace_free(&t);
    t = whole_of("[" WORK(100, 7) "," WORK(200, 9) "]", "[" WORK(400, 10) "]", &(tl_window){ .number = 1 });
    CU_ASSERT_EQUAL(tl_event_corr(&t.events, 2), 10);
    tl_trace_free(&t);
}

static void a_window_without_events_is_none(void)
{
    tl_trace t = whole_of("[" WORK(100, 7) "]", "[]", &(tl_window){ .number = 1 });
    CU_ASSERT(t.events.n == 1 && t.events.windows.n == 1);
    tl_trace_free(&t);
    t = whole_of("[]", "[" WORK(400, 7) "]", &(tl_window){ .number = 1 });
    CU_ASSERT(t.events.n == 1 && t.events.windows.n == 1 && t.events.windows.v[0].number == 1);
    tl_trace_free(&t);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(times_are_of_recorded_time),
        TEST(correlations_that_come_again_are_moved),
        TEST(a_window_without_events_is_none),
    };
    return unit_main("windows to one trace", tests, COUNT(tests));
}
