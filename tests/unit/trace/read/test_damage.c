/* test_damage.c - what is left of a damaged trace: around the array, at its end, between its entries.
 *
 * Every text is read in three ways, which must say the same: as a run does, through yajl alone, without the filter.
 */
#include "scratch.h"
#include "tlmpi/trace/read/reader.h"
#include "unit.h"

static tl_trace read_one(const char *path, bool yajl_only, bool no_filter, tl_status *st)
{
    const tl_read_options options = { .keep = TL_CAT_BIT(TL_CAT_KERNEL), .yajl_only = yajl_only, .no_filter = no_filter };
    tl_trace trace;
    tl_error err = { 0 };
    *st = tl_trace_read(path, &options, &trace, &err);
    return trace;
}

static void check_same(const tl_trace *a, const tl_trace *b)
{
    const tl_read_report *x = &a->report, *y = &b->report;
    CU_ASSERT_EQUAL(a->events.n, b->events.n);
    CU_ASSERT_EQUAL(x->entries, y->entries);
    CU_ASSERT_EQUAL(x->kept, y->kept);
    CU_ASSERT_EQUAL(x->dropped, y->dropped);
    CU_ASSERT_EQUAL(x->repaired, y->repaired);
    CU_ASSERT_EQUAL(x->first_bad_byte, y->first_bad_byte);
    CU_ASSERT_STRING_EQUAL(x->first_bad, y->first_bad);
    CU_ASSERT_EQUAL(x->cut, y->cut);
    CU_ASSERT_EQUAL(x->source_fault, y->source_fault);
    CU_ASSERT_EQUAL(a->meta.rank, b->meta.rank);
    for (size_t i = 0; i < a->events.n && i < b->events.n; i++) {
        CU_ASSERT_EQUAL(a->events.dur_ns[i], b->events.dur_ns[i]);
        CU_ASSERT_EQUAL(a->events.uid[i], b->events.uid[i]);
    }
}

static tl_trace read_text(const char *text)
{
    const char *path = scratch_text("damage.json", text);
    tl_status st[3];
    tl_trace first = read_one(path, false, false, &st[0]);
    for (int k = 1; k < 3; k++) {
        tl_trace other = read_one(path, k == 1, k == 2, &st[k]);
        CU_ASSERT_EQUAL(st[k], st[0]);
        check_same(&first, &other);
        tl_trace_free(&other);
    }
    return first;
}

#define K(name, dur) "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":1,\"dur\":" #dur ",\"args\":{\"stream\":7}}"
#define P(name) "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"" name "\",\"ts\":1,\"dur\":1}"
#define HEAD                                                                                                           \
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"A100\"}, {\"id\": 1}], \"x\": {\"y\": [1, \"z\"]}, "        \
    "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 5, \"world_size\": 8}, \"baseTimeNanoseconds\": 1700000000000000000, "  \
    "\"traceEvents\": [\n"
#define EVENTS K("a", 1) ",\n" P("p") ",\n" K("b", 2) ",\n" K("c", 3)
#define TAIL "\n], \"traceName\": \"t\"}\n"

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
    CU_ASSERT_EQUAL(t.events.dur_ns[0], 1000);
    CU_ASSERT_EQUAL(t.events.dur_ns[1], 2000);
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

    /* The byte behind the first end. */
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

/* What stands behind an entry tells whether it is whole. */
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
    CU_ASSERT_EQUAL(t.events.colls.n + t.events.waits.n + t.events.grids.n, 0);
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
            tl_trace t = read_one(path, yajl_only, false, &st);
            CU_ASSERT(st == TL_OK || st == TL_EINPUT);
            tl_trace_free(&t);
        }
    }
    free(text);
}

/* Whatever cannot be had: the whole result, or a failure that says so. */
static void without_memory_it_fails_and_says_so(void)
{
    static const char text[] =
        "{\"x\": @, \"o\": {\"p\": [[1, 2]], \"distributedInfo\": {\"rank\": 5}, \"traceEvents\": [" EVENTS ", [1, [2]], "
        "{\"ph\":[0,{\"ph\":\"X\",\"a\":[0,{\"ph\":@}]}]}, {\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"n\\q\",\"ts\":1,\"dur\":NaN}"
        "], \"traceName\": \"t\"}\n, " K("d", 4) "]}";
    const tl_read_options options = { .keep = TL_CAT_BIT(TL_CAT_KERNEL) };
    const char *path = scratch_text("memory.json", text);
    tl_trace whole = read_text(text);
    bool failed = true;
    size_t k = 0;

    CU_ASSERT_EQUAL(whole.events.n, 5);
    while (failed && k < 1000) {
        tl_trace t;
        tl_error err = { 0 };
        tl_mem_fail_after(++k);
        tl_status st = tl_trace_read(path, &options, &t, &err);
        tl_mem_fail_after(0);
        failed = st != TL_OK;
        CU_ASSERT(failed ? st == TL_ENOMEM && err.text[0] != 0 : t.events.n == whole.events.n);
        if (!failed)
            check_same(&whole, &t);
        tl_trace_free(&t);
    }
    CU_ASSERT(k > 15 && k < 1000);
    tl_trace_free(&whole);
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
        TEST(a_torn_entry_is_not_believed),
        TEST(device_work_is_a_complete_event),
        TEST(each_element_that_is_no_entry_counts),
        TEST(texts_made_to_take_long_are_read_once),
        TEST(without_memory_it_fails_and_says_so),
    };
    int failed = scratch_make() || unit_main("damage", tests, COUNT(tests));
    return scratch_remove() || failed;
}
