/* test_torn.c - what is left of a trace that is damaged between its entries, or in them. */
#include "damaged.h"
#include "tlmpi/trace/view.h"

/* What stands after an entry tells whether it is whole. */
static void a_torn_entry_is_not_believed(void)
{
    static const struct {
        const char *entries;
        size_t kept;
        uint64_t lost, repaired;
    } cases[] = {
        { K("a", 1) "," K("b", 2), 2, 0, 0 },
        { K("a", 1) "\n\t ," K("b", 2) " \n", 2, 0, 0 },
        { K("a", 1) ",," K("b", 2) ",", 2, 0, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":12}34,\"args\":{\"stream\":7}}," K("b", 2), 1, 1, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":12},\"args\":{\"stream\":7}}," K("b", 2), 1, 1, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":12}}," K("b", 2), 1, 1, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":12} @ ," K("b", 2), 2, 1, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":12}" K("b", 2), 2, 0, 1 },
        { K("a", 1) K("b", 2) "\n" P("p") K("c", 3), 3, 0, 3 },
        { K("a", 1) ";" K("b", 2), 2, 1, 0 },
        { K("a", 1) "}," K("b", 2), 2, 0, 1 },
        { K("a", 1) " }\n}" K("b", 2), 2, 0, 1 },
        { K("a", 1) "," K("b", 2) "}", 2, 0, 1 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":12" K("b", 2) "," K("c", 3), 2, 1, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":" K("b", 2) "," K("c", 3), 2, 1, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"cu" K("b", 2) "," K("c", 3), 2, 1, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"cu{\n \"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1}," K("c", 3), 2, 1, 1 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"name\":\"a\"}\n" K("b", 2), 2, 0, 1 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"name\":\"a\"} x," K("b", 2), 2, 1, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"name\":\"a\"}}," K("b", 2), 1, 1, 0 },
        { "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":NaN} 5," K("b", 2), 1, 1, 0 },
        { P("torn") "}," K("b", 2), 1, 1, 0 },
        { K("a", 1), 1, 0, 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[2048];
        for (int bare = 0; bare < 2; bare++) {
            snprintf(text, sizeof text, bare ? "[%s]" : HEAD "%s" TAIL, cases[i].entries);
            tl_trace t = read_text(text);
            bool right = t.events.n == cases[i].kept && t.report.dropped == cases[i].lost &&
                         t.report.repaired == cases[i].repaired && !t.report.cut && !t.report.source_fault &&
                         t.report.kept + t.report.filtered + t.report.dropped == t.report.entries;
            CU_ASSERT_TRUE(right);
            if (!right)
                printf("\n%s: %zu kept, %d lost, %d repaired of %d, %s\n", cases[i].entries, t.events.n, (int)t.report.dropped,
                       (int)t.report.repaired, (int)t.report.entries, t.report.first_bad);
            tl_trace_free(&t);
        }
    }
    /* The side tables forget it, too. */
    static const char torn[] = "[{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"args\":{\"bytes\":12,\"Seq\":1,\"wait_on_stream\":3,\"grid\":[1,2,3]}}";
    char text[1024];
    snprintf(text, sizeof text, "%s4,{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"args\":{\"bytes\":34}}]", torn);
    tl_trace t = read_text(text);
    CU_ASSERT_EQUAL(t.events.n, 1);
    CU_ASSERT_EQUAL(t.events.colls.n + t.events.waits.n + t.events.grids.n + t.events.memory.n, 0);
    CU_ASSERT_EQUAL_FATAL(t.events.copies.n, 1);
    CU_ASSERT_EQUAL(t.events.copies.v[0].event, 0);
    CU_ASSERT_EQUAL(t.events.copies.v[0].bytes, 34);
    CU_ASSERT_EQUAL(t.report.first_bad_byte, (int64_t)strlen(torn));
    tl_trace_free(&t);
}

/* A begin and an end are not two pieces of work without length; nor does a mark count as one. */
static void device_work_is_a_complete_event(void)
{
    tl_trace t = read_text("[" K("a", 1) ",\n{\"ph\":\"B\",\"cat\":\"kernel\",\"ts\":5},{\"ph\":\"E\",\"cat\":\"kernel\",\"ts\":9},"
                           "{\"ph\":\"i\",\"cat\":\"kernel\",\"ts\":9,\"dur\":1},{\"ph\":\"B\",\"cat\":\"cpu_op\",\"ts\":5},"
                           "{\"cat\":\"kernel\",\"ts\":9,\"dur\":1}]");
    CU_ASSERT_EQUAL(t.events.n, 2);
    CU_ASSERT_EQUAL(t.report.dropped, 3);
    CU_ASSERT_EQUAL(t.report.repaired, 0);
    CU_ASSERT_EQUAL(t.report.first_bad_byte, (int64_t)strlen("[" K("a", 1) ",\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(t.report.first_bad, "complete event (ph X)"));
    tl_trace_free(&t);
}

/* Nor does what the host does vanish without a word; its marks are no work. */
static void so_is_what_the_host_does(void)
{
    static const char *const categories[] = { "cpu_op", "user_annotation", "cuda_runtime", "cuda_driver" };
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "[" K("a", 1) ",{\"ph\":\"B\",\"cat\":\"%s\",\"ts\":5},{\"ph\":\"E\",\"cat\":\"%s\",\"ts\":9},"
                 "{\"ph\":\"i\",\"cat\":\"%s\",\"ts\":9}]", categories[i], categories[i], categories[i]);
        tl_read_options options = { .keep = TL_LINK_KEEP };
        tl_trace t;
        tl_error err = { 0 };
        CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("host.json", text), &options, &t, &err), TL_OK);
        CU_ASSERT_EQUAL(t.report.dropped, 2);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.report.first_bad, "complete event (ph X)"));
        tl_trace_free(&t);
    }
}

static void each_element_that_is_no_entry_counts(void)
{
    static const struct {
        const char *entries;
        size_t kept;
        uint64_t lost;
    } cases[] = {
        { "\"a\", \"b\", \"c\"," K("a", 1), 1, 3 },
        { K("a", 1) ", [], [1, [2]], [\"]\"]," K("b", 1), 2, 3 },
        { "\"a\", 1, null, [2], \"e\\\"\"", 0, 5 },
        { "[{\"a\": 1}, {}], [{}]," K("a", 1), 1, 2 },
        { "[" K("a", 1) "," K("b", 1), 2, 1 },
        { "[0," K("a", 1) "," K("b", 1), 2, 1 },
        { "[0," K("a", 1) "," K("b", 1) "]", 2, 2 },
        { "\"," K("a", 1) "," K("b", 1), 2, 1 },
        { "\"a\" \"b\"," K("a", 1), 1, 1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text, HEAD "%s" TAIL, cases[i].entries);
        tl_trace t = read_text(text);
        bool right = t.events.n == cases[i].kept && t.report.dropped == cases[i].lost && !t.report.cut;
        CU_ASSERT_TRUE(right);
        if (!right)
            printf("\n%s: %zu kept, %d lost\n", cases[i].entries, t.events.n, (int)t.report.dropped);
        tl_trace_free(&t);
    }
}

/* Texts that have been written to take long: a second look at each stretch of 2 MB takes minutes, before which the time
 * limit of the tests ends it. */
static void texts_made_to_take_long_are_read_once(void)
{
    static const struct {
        const char *head, *unit;
    } cases[] = {
        { "[", "{\"ph\":\"X\",\"name\":\"," },
        { "[", "{\"ph\":1,"},
        { "[", "{\"ph\":[0,"},
        { "[{\"ph\":@,\"a\":[0", ",{\"ph\":[0" },
        { "[", "{\"ph\":" },
        { "[", "{\"a\":" },
        { "[", "{\"ph\":\"\\\"," },
        { "[", "{\"ph\":[}," },
        { "[", "{\"ph\":[0,{\"ph\":[0,{\"ph\":[0,{\"ph\":[0,@]}]}]}]}," },
        { "[", "\"" },
        { "[", "[" },
        { "[", "[0,{\"ph\":1" },
        { "[{\"ph\":1}", "]" },
        { "[", "{               " },
        { "[{\"ph\":\"", "\\" },
        { "{\"a\":", "[" },
        { "{\"a\":@", "\"rank\":1," },
        { "{\"a\":@", "\"" },
        { "{\"traceEvents\":[]}", ",{\"id\":1" },
        { "{\"traceEvents\":[]}", ",{\"ph\":1}],\"traceName\":\"x\"}" },
    };
    const size_t size = UNIT_SANITIZED ? 200000 : 2000000; /* its realloc copies, which makes yajl's stack of brackets dear */
    char *text = malloc(size + 200);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = strlen(cases[i].head), unit = strlen(cases[i].unit);
        memcpy(text, cases[i].head, n);
        for (; n + unit <= size; n += unit)
            memcpy(text + n, cases[i].unit, unit);
        const char *path = scratch_write("long.json", text, n);
        for (int yajl_only = 0; yajl_only < 2; yajl_only++) {
            tl_status st;
            tl_trace t = read_one(path, yajl_only, &st);
            CU_ASSERT(st == TL_OK || st == TL_EINPUT);
            tl_trace_free(&t);
        }
    }
    free(text);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_torn_entry_is_not_believed),
        TEST(device_work_is_a_complete_event),
        TEST(so_is_what_the_host_does),
        TEST(each_element_that_is_no_entry_counts),
        TEST(texts_made_to_take_long_are_read_once),
    };
    int failed = scratch_make() || unit_main("torn", tests, COUNT(tests));
    return scratch_remove() || failed;
}
