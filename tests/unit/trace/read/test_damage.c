/* test_damage.c - what is left of a trace that is damaged around the array of its entries. */
#include "damaged.h"

/* The first `from` in the text becomes `to`; *at is its offset. */
static void replace(char *out, size_t size, const char *text, const char *from, const char *to, size_t *at)
{
    const char *found = strstr(text, from);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    *at = (size_t)(found - text);
    snprintf(out, size, "%.*s%s%s", (int)*at, text, to, found + strlen(from));
}

/* The '!' in what a piece of the head becomes stands before the first byte that cannot be there. */
static void a_damaged_head_loses_neither_rank_nor_base_nor_events(void)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        { "\"y\": [1", "\"y\": [!@@@" },
        { "\"y\": [1", "\"y\": [1.!.2" },
        { "\"z\"", "\"z\" !z\"" },
        { "\"z\"", "\"z\"!\"z\"" },
        { "\"z\"", "!\x01\"z\"" },
        { "\"z\"]},", "\"z]}," },
        { "\"z\"]}", "\"z\"!}" },
        { "\"z\"]}", "\"z\"]}]" },
        { "\"z\"]}", "\"z\"]}}!" },
        { "\"x\": ", "\"x\" !" },
        { "\"x\"", "!{\"x\"" },
        { "\"id\": 0, ", "\"id\": 0, !, " },
        { "\"A100\"", "\"A\"!100\"" },
        { "\"A100\"}", "\"A100\"" },
        { "{\"id\": 1}", "{\"id\": 1}}" },
        { "\"id\": 1}]", "\"id\": 1}" },
        { "\"nccl\"", "\"nc\"!cl\"" },
        { "\"nccl\"", "!@" },
        { "\"nccl\", ", "\"nccl\" !" },
        { "\"world_size\": 8", "\"world_size\": 8!@" },
        { "\"world_size\": 8}", "\"world_size\": 8!]" },
        { "{\"schema", "!\"schema" },
        { "{\"schema", "![{\"schema" },
        { "{\"schema", "!x{\"schema" },
        { "\"schemaVersion", "schemaVersion" },
        { "\"schemaVersion\"", "\"schemaVersion" },
        { "\"traceEvents\": [\n", "\"traceEvents\": !" },
        { "\"traceEvents\": [", "\"traceEvents\" ![" },
        { "\"traceEvents\": [", "!\"traceEvnts\": [" },
        { "\"traceEvents\": [", "!\"traceE\\vents\": [" },
        { "\"traceEvents\": [", "\"traceEvents\": !\x02 [" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char damaged[4096], text[4096];
        size_t at, mark = SIZE_MAX;
        replace(damaged, sizeof damaged, HEAD EVENTS TAIL, cases[i].from, cases[i].to, &at);
        snprintf(text, sizeof text, "%s", damaged);
        if (strchr(cases[i].to, '!') != NULL)
            replace(text, sizeof text, damaged, "!", "", &mark);
        tl_trace t = read_text(text);
        bool right = t.events.n == 3 && t.meta.rank == 5 && t.meta.has_base && t.meta.base_ns == INT64_C(1700000000000000000) &&
                     strcmp(t.meta.trace_name, "t") == 0 && t.report.source_fault && !t.report.cut && t.report.dropped == 0 &&
                     t.report.first_bad_byte >= (int64_t)at && strncmp(strchr(t.report.first_bad, ':'), ": expected ", 11) == 0 &&
                     (mark == SIZE_MAX || t.report.first_bad_byte == (int64_t)mark);
        CU_ASSERT_TRUE(right);
        if (!right)
            printf("\n%s: %zu events, rank %d, base %d, name %s, cut %d, lost %d, %s (wanted %zu)\n", cases[i].to, t.events.n,
                   (int)t.meta.rank, t.meta.has_base, t.meta.trace_name, t.report.cut, (int)t.report.dropped, t.report.first_bad,
                   mark);
        tl_trace_free(&t);
    }
}

/* Closing brackets that are missing leave JSON, in which the keys of the document stand too deep. */
static void a_missing_bracket_in_the_head_is_put_back(void)
{
    static const struct {
        const char *from, *to, *next;
    } cases[] = {
        { "\"world_size\": 8}", "\"world_size\": 8", "\"baseTime" },
        { "\"z\"]}", "\"z\"]", "\"distributedInfo" },
        { "{\"id\": 1}]", "{\"id\": 1", "\"distributedInfo" },
        { "\"A100\"}, {\"id\": 1}]", "\"A100\", \"o\": {\"id\": 1", "\"distributedInfo" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[4096];
        size_t at;
        replace(text, sizeof text, HEAD EVENTS TAIL, cases[i].from, cases[i].to, &at);
        tl_trace t = read_text(text);
        CU_ASSERT_EQUAL(t.events.n, 3);
        CU_ASSERT_EQUAL(t.meta.rank, 5);
        CU_ASSERT_EQUAL(t.meta.world_size, 8);
        CU_ASSERT_EQUAL(t.meta.base_ns, INT64_C(1700000000000000000));
        CU_ASSERT_STRING_EQUAL(t.meta.trace_name, "t");
        CU_ASSERT_STRING_EQUAL(t.meta.device, "A100");
        CU_ASSERT_TRUE(t.report.source_fault && !t.report.cut);
        CU_ASSERT_EQUAL(t.report.first_bad_byte, strstr(text, cases[i].next) - text);
        tl_trace_free(&t);
    }
}

/* On-demand traces say last who they are. */
static void a_damaged_tail_loses_neither_rank_nor_base(void)
{
    static const char whole[] = "{\"schemaVersion\": 1, \"traceEvents\": [" EVENTS
                                "], \"x\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 5}, \"baseTimeNanoseconds\": 7, "
                                "\"traceName\": \"t\"}";
    static const struct {
        const char *from, *to;
        int lost;
    } cases[] = {
        { "\"x\": 1", "\"x\": !@", 0 },
        { "\"x\": 1", "\"x\": \"a\"!b\"", 0 },
        { "\"x\": 1", "\"x\": [1!", 0 },
        { "\"rank\": 5}", "\"rank\": 5", 0 },
        { "], \"x\": 1, \"dist", ", !\"dist", 0 },
        { "], \"x\": 1, \"dist", "x!x], \"dist", 0 },
        { "], \"x\"", "],! {\"x\"", 0 },
        { "\"t\"}", "\"t\"}!}", 0 },
        { "\"t\"}", "\"t\"} !x", 0 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char damaged[4096], text[4096];
        size_t at;
        replace(damaged, sizeof damaged, whole, cases[i].from, cases[i].to, &at);
        snprintf(text, sizeof text, "%s", damaged);
        if (strchr(damaged, '!') != NULL)
            replace(text, sizeof text, damaged, "!", "", &at);
        tl_trace t = read_text(text);
        bool right = t.events.n == 3 - (size_t)cases[i].lost && t.meta.rank == 5 && t.meta.base_ns == 7 &&
                     (t.report.source_fault || t.report.dropped > 0) && t.report.first_bad_byte >= (int64_t)at - 1;
        CU_ASSERT_TRUE(right);
        if (!right)
            printf("\n%s: %zu events, rank %d, base %d, %s\n", cases[i].to, t.events.n, (int)t.meta.rank, (int)t.meta.base_ns,
                   t.report.first_bad);
        tl_trace_free(&t);
    }
}

/* In a whole file only the document's own keys count, wherever else such words stand. */
static void words_elsewhere_are_no_keys(void)
{
    tl_trace t = read_text(
        "{\"note\": \"\\\"traceEvents\\\": [{\\\"ph\\\": 1}\", \"o\": {\"distributedInfo\": {\"rank\": 9}, \"baseTimeNanoseconds\": 9, "
        "\"traceEvents\": [" K("no", 9) "], \"z\": 1}, \"distributedInfo\": {\"rank\": 5}, \"baseTimeNanoseconds\": 7, \"traceEvents\": ["
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"\\\"distributedInfo\\\": {\\\"rank\\\": 8}\",\"ts\":1,\"dur\":1,\"args\":"
        "{\"traceEvents\":[" K("no", 9) "],\"distributedInfo\":{\"rank\":6},\"baseTimeNanoseconds\":8}}," K("b", 2)
        "], \"p\": {\"distributedInfo\": {\"rank\": 4}, \"traceEvents\": [" K("no", 9) "]}}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 2);
    CU_ASSERT_EQUAL(tl_event_dur_ns(&t.events, 0), 1000);
    CU_ASSERT_EQUAL(tl_event_dur_ns(&t.events, 1), 2000);
    CU_ASSERT_EQUAL(t.events.uid[1], 1);
    CU_ASSERT_EQUAL(t.report.entries, 2);
    CU_ASSERT_EQUAL(t.meta.rank, 5);
    CU_ASSERT_EQUAL(t.meta.base_ns, 7);
    CU_ASSERT_EQUAL(t.report.first_bad_byte, -1);
    CU_ASSERT_FALSE(t.report.source_fault);
    tl_trace_free(&t);

    t = read_text("{\"o\": {\"distributedInfo\": {\"rank\": 9}, \"traceEvents\": [" K("no", 9) "]}}");
    CU_ASSERT_EQUAL(t.events.n, 0);
    CU_ASSERT_FALSE(t.report.has_events);
    tl_trace_free(&t);
}

/* The byte that is told is marked by what stands there: the value, or what is wrong before it. */
static void a_base_time_that_is_none_is_said_with_its_byte(void)
{
    static const struct {
        const char *text, *at;
        size_t events;
    } cases[] = {
        { "{\"baseTimeNanoseconds\": \"soon\", \"traceEvents\": [" K("a", 1) "]}", "\"soon\"", 1 },
        { "\xEF\xBB\xBF \n{\"a\": {\"baseTimeNanoseconds\": 1}, \"baseTimeNanoseconds\" : -5, \"traceEvents\": [" K("a", 1) "]}",
          "-5", 1 },
        { "{\"traceEvents\": [" K("a", 1) "," K("b", 2) "], \"b\": [1], \"baseTimeNanoseconds\": null}", "null", 2 },
        { "{\"traceEvents\": [" K("a", 1) "], \"baseTimeNanoseconds\": {\"x\": 1}, \"traceName\": \"n\"}", "{\"x\"", 1 },
        { "{\"bad\": NaN, \"also\": \"\x01\xff\", \"traceEvents\": [" K("a", 1) "], \"baseTimeNanoseconds\": NaN}", "NaN}", 1 },
        { "{\"baseTimeNanoseconds\": -5, \"traceEvents\": [" K("a", 1) "], \"baseTimeNanoseconds\": -6}", "-6", 1 },
        { "{\"baseTimeNanoseconds\": -5, \"traceEvents\": [" K("a", 1) ", 17]}", "-5", 1 },
        { "{\"traceEvents\": [" K("a", 1) ", 17], \"baseTimeNanoseconds\": -5}", "17", 1 },
        { "{\"x\": {\"traceEvents\": [" K("no", 1) "]}, \"baseTimeNanoseconds\": [7], \"traceEvents\": [" K("a", 1) "]}", "[7]", 1 },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_trace t = read_text(cases[i].text);
        CU_ASSERT_EQUAL(t.events.n, cases[i].events);
        CU_ASSERT_FALSE(t.meta.has_base);
        CU_ASSERT_EQUAL(t.report.repaired, 1);
        CU_ASSERT_EQUAL(t.report.first_bad_byte, strstr(cases[i].text, cases[i].at) - cases[i].text);
        bool told = strstr(t.report.first_bad, "baseTimeNanoseconds") != NULL;
        CU_ASSERT_EQUAL(told, strcmp(cases[i].at, "17") != 0);
        tl_trace_free(&t);
    }
}

/* The end of a trace, or its beginning, in the middle of it: the entries on both sides are read. */
static void a_text_with_its_own_ends_inside_is_read_to_its_end(void)
{
    static const char whole[] = HEAD EVENTS ",\n" EVENTS TAIL;
    const size_t n = sizeof whole - 1, first = strlen(HEAD), last = n - strlen(TAIL);

    for (size_t p = first; p <= last; p++) {
        static const size_t lengths[] = { 20, 21, 23, 60, 120, 200 };
        for (size_t k = 0; k < COUNT(lengths); k++) {
            char text[8192];
            snprintf(text, sizeof text, "%.*s%s%s", (int)p, whole, whole + n - lengths[k], whole + p);
            tl_trace t = read_text(text);
            bool right = t.events.n >= 4 && t.meta.rank == 5 && strcmp(t.meta.trace_name, "t") == 0 &&
                         t.report.first_bad_byte >= (int64_t)first;
            CU_ASSERT_TRUE(right);
            if (!right)
                printf("\n%zu of the end at %zu: %zu events, %s\n", lengths[k], p, t.events.n, t.report.first_bad);
            tl_trace_free(&t);
        }
        char text[8192];
        snprintf(text, sizeof text, "%.*s%s", (int)p, whole, whole);
        tl_trace t = read_text(text);
        CU_ASSERT(t.events.n >= 5);
        CU_ASSERT_EQUAL(t.meta.rank, 5);
        CU_ASSERT(t.report.first_bad_byte >= (int64_t)first);
        tl_trace_free(&t);
    }

    /* The byte after the first end. */
    char text[4096];
    size_t at;
    replace(text, sizeof text, whole, K("c", 3) ",\n", K("c", 3) TAIL ",\n", &at);
    tl_trace t = read_text(text);
    CU_ASSERT_EQUAL(t.events.n, 6);
    CU_ASSERT_EQUAL(t.report.dropped, 0);
    CU_ASSERT_TRUE(t.report.source_fault && !t.report.cut);
    CU_ASSERT_EQUAL(t.report.first_bad_byte, strstr(text, TAIL) + strlen(TAIL) - text);
    tl_trace_free(&t);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_damaged_head_loses_neither_rank_nor_base_nor_events),
        TEST(a_missing_bracket_in_the_head_is_put_back),
        TEST(a_damaged_tail_loses_neither_rank_nor_base),
        TEST(words_elsewhere_are_no_keys),
        TEST(a_base_time_that_is_none_is_said_with_its_byte),
        TEST(a_text_with_its_own_ends_inside_is_read_to_its_end),
    };
    int failed = scratch_make() || unit_main("damage", tests, COUNT(tests));
    return scratch_remove() || failed;
}
