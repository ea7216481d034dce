/* test_reader.c - a file to events: what is kept, cut off or lost, whole or in pieces. */
#include "tlmpi/trace/read/reader.h"
#include "trace/read_text.h"

static void an_entry_that_is_no_json_costs_itself_alone(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"name\":\"un \"quoted\" b\",\"ts\":2,"
                              "\"dur\":1},{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"dur\":1}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 2);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 1), "c");
    CU_ASSERT_EQUAL(t.report.dropped, 1);
    CU_ASSERT_FALSE(t.report.cut);
    CU_ASSERT_STRING_EQUAL(t.meta.trace_name, "t");
    tl_trace_free(&t);
}

/* Without its closing bracket an entry is JSON, as far as it goes, to the end of the file. */
static void a_missing_bracket_costs_one_entry(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},\n{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1,"
                              "\"args\":{\"grid\":[1,\n{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"dur\":1},\n"
                              "{\"ph\":\"X\",\"name\":\"d\",\"ts\":4,\"dur\":1}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 3);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 1), "c");
    CU_ASSERT_EQUAL(t.report.dropped, 1);
    CU_ASSERT_FALSE(t.report.cut);
    CU_ASSERT_STRING_EQUAL(t.meta.trace_name, "t");
    tl_trace_free(&t);
}

static void text_behind_the_document_is_damage(void)
{
    static const char text[] = "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}]}\n {\"traceEvents\":[]}";
    tl_trace t = read_text(text, sizeof text - 1, false);
    CU_ASSERT_EQUAL(t.events.n, 1);
    CU_ASSERT_TRUE(t.report.source_fault);
    CU_ASSERT_EQUAL(t.report.first_bad_byte, 56);
    tl_trace_free(&t);
}

/* Every prefix of a trace gives each entry that is whole in it, and says that it is cut. */
static void every_cut_gives_every_whole_entry(void)
{
    static const char text[] = "{\"schemaVersion\": 1, \"traceEvents\": [\n"
                               "  {\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a{\",\"ts\":1.5,\"dur\":1,\"args\":{\"stream\":7}},\n"
                               "  {\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\\\"\",\"ts\":2.5,\"dur\":1,\"args\":{\"stream\":7}}\n"
                               "], \"traceName\": \"x\"}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        tl_trace t = read_text(text, n, false);
        const char *first = strstr(text, "7}},") + 3, *second = strstr(first, "7}}") + 3;
        size_t whole = (size_t)(n >= (size_t)(first - text)) + (n >= (size_t)(second - text));
        CU_ASSERT_EQUAL(t.events.n, whole);
        CU_ASSERT_TRUE(t.report.cut);
        tl_trace_free(&t);
    }
}

/* The file in pieces that begin at the given bytes, joined.  False: some piece is not proven. */
static bool read_pieces(const char *path, const uint64_t *from, size_t n, tl_trace *whole)
{
    tl_error err;
    bool proven = true;

    for (size_t i = 0; i < n && proven; i++) {
        const tl_read_range range = { from[i], i + 1 < n ? from[i + 1] : UINT64_MAX };
        const tl_read_options options = { .keep = ~0u, .range = &range };
        tl_trace piece;
        tl_status st = tl_trace_read(path, &options, i == 0 ? whole : &piece, &err);
        if (i == 0) {
            CU_ASSERT_EQUAL(st, TL_OK);
            continue;
        }
        proven = tl_trace_append(whole, &piece);
        tl_trace_free(&piece);
    }
    tl_trace_complete(whole);
    return proven;
}

/* Pieces that begin anywhere, in names and args that look like the starts of entries: what is proven is right. */
static void pieces_are_proven_or_refused(void)
{
    static const char *const entries[] = {
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1.5,\"dur\":1,\"args\":{\"stream\":7,\"bytes\":3}}",
        "{\"ph\": \"X\", \"name\": \"}, { \\\"ph\\\": \\\"X\\\"\", \"ts\": 2, \"dur\": 1}",
        "{\"ph\":\"X\",\"name\":\"nest\",\"ts\":3,\"dur\":1,\"args\":{\"a\":[{\"b\":1}, {\"name\":\"x\",\"ph\":\"X\",\"ts\":9}]}}",
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\"Spans\",\"ts\":0,\"args\":{\"name\":\"p\"}}",
        "{\"ph\":\"X\",\"name\":\"x\",\"cat\":\"gpu_memcpy\",\"pid\":1,\"tid\":\"stream 7\",\"ts\":4,\"dur\":1,\"args\":{\"Seq\":1}}",
    };
    uint64_t seed = 3;
    int proven = 0, refused = 0;

    for (int round = 0; round < 400; round++) {
        char text[16384] = "{\"schemaVersion\": 1, ";
        unit_append(text, sizeof text, round % 4 == 1 ? "\"baseTimeNanoseconds\": -5, \"traceEvents\": [\n" : "\"traceEvents\": [\n");
        unsigned n = 1 + unit_below(&seed, 40);
        for (unsigned e = 0; e < n; e++) {
            unit_append(text, sizeof text, e > 0 ? ",\n  " : "");
            unit_append(text, sizeof text, entries[unit_below(&seed, round < 200 ? 2 : COUNT(entries))]);
        }
        unit_append(text, sizeof text, "], \"traceName\": \"t\", \"deviceProperties\": [{\"id\": 0, \"name\": \"a\"}, {\"id\": 1}]");
        unit_append(text, sizeof text, round % 4 == 2 ? ", \"baseTimeNanoseconds\": null}" : "}");
        size_t size = strlen(text), npieces = 2 + unit_below(&seed, 3);
        uint64_t from[4] = { 0 };
        for (size_t i = 1; i < npieces; i++)
            from[i] = from[i - 1] + 1 + unit_below(&seed, (unsigned)(size / npieces));
        const char *path = scratch_write("pieces.json", text, size);
        tl_trace joined, whole = read_text(text, size, false);
        if (read_pieces(path, from, npieces, &joined)) {
            proven++;
            CU_ASSERT_EQUAL(hash_of(&joined), hash_of(&whole));
            CU_ASSERT_STRING_EQUAL(joined.meta.trace_name, "t");
            CU_ASSERT_EQUAL(joined.meta.ndevices, whole.meta.ndevices);
            CU_ASSERT_EQUAL(joined.report.text_bytes, whole.report.text_bytes);
            CU_ASSERT_STRING_EQUAL(joined.report.first_bad, whole.report.first_bad);
        } else {
            refused++;
        }
        tl_trace_free(&joined);
        tl_trace_free(&whole);
    }
    CU_ASSERT(proven > 200);
    CU_ASSERT(refused > 5);
}

/* An entry of a category that is not kept is read by either parser as strictly as any. */
static void what_is_not_kept_is_read_as_strictly(void)
{
    static const char text[] =
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"x\":[{}]}},"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"b\",\"cat\":\"kernel\",\"ts\":2,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"bad \" quote\",\"ts\":3,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"ac2g\",\"id\":NaN},{\"cat\":7},{\"cat\":\"python_function\",\"ts\":99999999999999999999},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"ts\":4,\"dur\":1}]}";
    const char *path = scratch_write("filter.json", text, sizeof text - 1);
    uint64_t hash[2];
    for (int yajl_only = 0; yajl_only < 2; yajl_only++) {
        const tl_read_options options = { .keep = TL_CAT_GPU_WORK, .yajl_only = yajl_only };
        tl_trace t;
        tl_error err = { 0 };
        CU_ASSERT_EQUAL(tl_trace_read(path, &options, &t, &err), TL_OK);
        CU_ASSERT_EQUAL(t.events.n, 2);
        CU_ASSERT_EQUAL(t.report.dropped, 1);
        CU_ASSERT_EQUAL(t.report.repaired, 1);
        hash[yajl_only] = hash_of(&t);
        tl_trace_free(&t);
    }
    CU_ASSERT_EQUAL(hash[0], hash[1]);
}

static void deep_nesting_is_read(void)
{
    size_t deep = 200000, n = 0; /* a recursive reader needs more than 8 MB of stack */
    char *text = tl_malloc(2 * deep + 200);
    n += (size_t)sprintf(text, "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"x\":");
    memset(text + n, '[', deep);
    memset(text + n + deep, ']', deep);
    n += 2 * deep;
    n += (size_t)sprintf(text + n, "}},{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1}]}");
    tl_trace t = read_text(text, n, false);
    CU_ASSERT_EQUAL(t.events.n, 2);
    tl_trace_free(&t);
    free(text);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(an_entry_that_is_no_json_costs_itself_alone),
        TEST(a_missing_bracket_costs_one_entry),
        TEST(text_behind_the_document_is_damage),
        TEST(every_cut_gives_every_whole_entry),
        TEST(pieces_are_proven_or_refused),
        TEST(what_is_not_kept_is_read_as_strictly),
        TEST(deep_nesting_is_read),
    };
    int failed = scratch_make() || unit_main("reader", tests, COUNT(tests));
    return scratch_remove() || failed;
}
