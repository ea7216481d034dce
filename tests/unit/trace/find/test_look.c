/* test_look.c - what a look at a file says of it, before it is read. */
#include "scratch.h"
#include "tlmpi/trace/find.h"
#include "unit.h"

#define SECOND INT64_C(1000000000)
#define DAY_ONE (INT64_C(1700000000) * SECOND)

static tl_input look_at(const char *path, bool deep)
{
    tl_input input = { .path = (char *)(size_t)path, .rank = -1, .run = -1 };
    tl_input_look(&input, deep);
    return input;
}

static tl_input look_at_text(const char *name, const char *text, bool deep)
{
    return look_at(scratch_text(name, text), deep);
}

static void the_head_tells_rank_and_begin(void)
{
    tl_input t =
        look_at_text("a.json",
                     "\xEF\xBB\xBF \n{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 3, \"world_size\": 8},"
                     "\"traceEvents\": [{\"ph\": \"M\", \"ts\": 5}, {\"ph\": \"X\", \"ts\": 1700000000000000.5}]}",
                     false);
    CU_ASSERT_EQUAL(t.kind, TL_INPUT_TRACE);
    CU_ASSERT_EQUAL(t.meta_rank, 3);
    CU_ASSERT_EQUAL(t.name_rank, -1);
    CU_ASSERT_EQUAL(t.world_size, 8);
    CU_ASSERT_EQUAL(t.begin_ns, DAY_ONE + 500);
    CU_ASSERT_STRING_EQUAL(t.why, "");
    CU_ASSERT(t.bytes > 100 && t.mtime_ns > DAY_ONE);

    t = look_at_text(
        "a.json",
        "{\"baseTimeNanoseconds\": 1700000000000000000, \"traceEvents\": [{\"ph\": \"X\", \"ts\": \"7.001\"}]}", false);
    CU_ASSERT_EQUAL(t.meta_rank, -1);
    CU_ASSERT_EQUAL(t.begin_ns, DAY_ONE + 7001);

    t = look_at_text("rank_5.json", "[{\"ph\": \"X\", \"ts\": 1700000000000000}]", false);
    CU_ASSERT_EQUAL(t.kind, TL_INPUT_TRACE);
    CU_ASSERT_EQUAL(t.name_rank, 5);
    CU_ASSERT_EQUAL(t.begin_ns, DAY_ONE);
}

/* Without Unix time in the entries: the name, and where that has none, the file. */
static void a_begin_is_always_found(void)
{
    static const char text[] = "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 7}]}";
    static const struct {
        const char *name;
        int64_t begin_ns;
    } cases[] = {
        { "host_21147.1698955063520869240.pt.trace.json", INT64_C(1698955063520869240) },
        { "host_21147.1698955063520.pt.trace.json", INT64_C(1698955063520000000) },
        { "result_2869224_1695835535_trace.json", INT64_C(1695835535000000000) },
        { "host_1.1698955063520869.json", INT64_C(1698955063520869000) },
        { "host_1.9999999999999999999.json", -1 },
        { "host_1.json", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_input t = look_at_text(cases[i].name, text, true);
        CU_ASSERT_EQUAL(t.begin_ns, cases[i].begin_ns);
    }
}

/* `{"traceEvents": [ ... ], more}` with n entries; the caller frees. */
static char *trace_with(size_t n, const char *more)
{
    char *text = malloc(n * 80 + strlen(more) + 100);
    if (text == NULL)
        exit(1);
    size_t at = (size_t)sprintf(text, "{\"traceEvents\": [");
    for (size_t i = 0; i < n; i++)
        at += (size_t)sprintf(text + at, "%s{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"event %zu\", \"ts\": %zu, \"dur\": 1}",
                              i ? ",\n" : "", i, i * 7 % 1000 + 1);
    sprintf(text + at, "]%s", more);
    return text;
}

static void the_tail_is_for_a_deep_look(void)
{
    static const char more[] =
        ", \"distributedInfo\": {\"rank\": 9, \"world_size\": 10, \"pg_config\": [{\"ranks\": \"[0]\"}],"
        " \"x\": \"}\\\"{\"}, \"traceName\": \"distributedInfo\", \"baseTimeNanoseconds\":1700000000000000000\n}";
    static const size_t sizes[] = { 10, 3000, 60000 };
    for (size_t i = 0; i < 3; i++) {
        char *text = trace_with(sizes[i], more);
        size_t n = strlen(text);
        unsigned char *packed = malloc(n + 1000);
        const char *plain = scratch_write("plain.json", text, n);
        const char *gz = scratch_write("packed.json.gz", packed, scratch_gzip(text, n, 6, packed, n + 1000));
        for (int k = 0; k < 2; k++) {
            tl_input t = look_at(k ? gz : plain, false);
            CU_ASSERT_EQUAL(t.kind, TL_INPUT_TRACE);
            CU_ASSERT_EQUAL(t.meta_rank, -1);
            t = look_at(k ? gz : plain, true);
            CU_ASSERT_EQUAL(t.meta_rank, 9);
            CU_ASSERT_EQUAL(t.world_size, 10);
            CU_ASSERT_EQUAL(t.begin_ns, DAY_ONE + 1000);
        }
        free(packed);
        free(text);
    }
    char *text = trace_with(1, ", \"baseTimeNanoseconds\": 17000");    /* a number that may be cut is none */
    tl_input t = look_at_text("host_1.1698955063520869240.json", text, true);
    CU_ASSERT_EQUAL(t.begin_ns, INT64_C(1698955063520869240));
    free(text);
}

/* Whatever is said of ranks and times inside an event is none of the document's. */
static void an_event_near_the_end_does_not_name_the_rank(void)
{
    static const char decoy[] = ",\n{\"ph\": \"X\", \"ts\": 5, \"args\": {\"distributedInfo\": {\"rank\": 9}, \"baseTimeNanoseconds\": 5}}]";
    char more[512];
    snprintf(more, sizeof more, "%s, \"traceName\": \"x\"}", decoy + 1);
    for (int told = 0; told < 2; told++) {
        if (told)
            snprintf(more, sizeof more, "%s, \"distributedInfo\": {\"rank\": 4}, \"baseTimeNanoseconds\": 1700000000000000000\n}", decoy + 1);
        char *text = trace_with(60000, "");
        size_t n = strlen(text);
        char *whole = malloc(n + sizeof more);
        CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
        text[n - 1] = ',';              /* the bracket stands after the decoy */
        snprintf(whole, n + sizeof more, "%s%s", text, more);
        tl_input t = look_at_text("tail.json", whole, true);
        CU_ASSERT_EQUAL(t.kind, TL_INPUT_TRACE);
        CU_ASSERT_EQUAL(t.meta_rank, told ? 4 : -1);
        CU_ASSERT_EQUAL(t.begin_ns, told ? DAY_ONE + 1000 : -1);
        free(whole);
        free(text);
    }
}

/* A trace without distributedInfo: 20,000 entries, then a collective that says where in its group the rank stands. */
static void a_collective_tells_the_rank(void)
{
    static const struct {
        const char *args;
        int64_t rank;
    } cases[] = {
        { "\"Rank\": 1, \"Process Group Ranks\": \"[4, 6, 8]\"", 6 },
        { "\"Rank\": 3, \"Process Group Ranks\": \"[0, ..., 31]\", \"Global rank start\": 8, \"Global rank stride\": 4", 20 },
        { "\"Rank\": 3, \"Process Group Ranks\": \"[0, 1]\"", -1 },
        { "\"Rank\": 1", -1 },
        { "\"Rank\": -1, \"Global rank start\": 0, \"Global rank stride\": 1", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = trace_with(20000, "");
        size_t n = strlen(text), room = n + 1000;
        char *whole = malloc(room);
        CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
        text[n - 1] = '\0';
        n = (size_t)snprintf(whole, room, "%s, {\"ph\": \"X\", \"cat\": \"cpu_op\", \"ts\": 9, \"args\": {%s}}]}", text,
                             cases[i].args);
        unsigned char *packed = malloc(n + 1000);
        const char *plain = scratch_write("plain.json", whole, n);
        const char *gz = scratch_write("packed.json.gz", packed, scratch_gzip(whole, n, 6, packed, n + 1000));
        CU_ASSERT_EQUAL(look_at(plain, false).meta_rank, -1);
        CU_ASSERT_EQUAL(look_at(plain, true).meta_rank, cases[i].rank);
        CU_ASSERT_EQUAL(look_at(gz, true).meta_rank, cases[i].rank);
        free(packed);
        free(whole);
        free(text);
    }
    tl_input t = look_at_text("told.json", /* distributedInfo goes before arguments, wherever it stands */
                              "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 9, \"args\": {\"Rank\": 1, \"Process Group "
                              "Ranks\": \"[4, 6]\"}}], \"distributedInfo\": {\"rank\": 5}}",
                              true);
    CU_ASSERT_EQUAL(t.meta_rank, 5);
}

static void a_deep_look_tells_whether_a_device_worked(void)
{
    static const char host[] = "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"ts\": 9}]}",
                      both[] = "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"ts\": 9},"
                               "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 9}]}";
    CU_ASSERT(!look_at_text("host.json", host, false).origin.no_device_work);
    CU_ASSERT(look_at_text("host.json", host, true).origin.no_device_work);
    CU_ASSERT(!look_at_text("both.json", both, true).origin.no_device_work);
    CU_ASSERT(!look_at_text("cut.json", "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"ts\": 9}, ", true)
                   .origin.no_device_work);
}

/* What is not read is named. */
static void formats_of_others_are_named(void)
{
    static const struct {
        const char *file, *text, *word;
    } cases[] = {
        { "rank_0.pftrace", "\n\x20", "Perfetto" },
        { "report.nsys-rep", "x", "Nsight Systems" },
        { "t.json", "[{\"ph\": \"M\", \"args\": {\"name\": \"Ascend Hardware\"}}]", "Ascend" },
        { "nccl.json", "[{\"cat\": \"COLL\", \"ph\": \"b\", \"ts\": 1}]", "category \"COLL\"" },
        { "results.json", "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"gemm\", \"ts\": 1, \"dur\": 2}]}", "without categories" },
        { "host.trace.json", "{\"metadata\": {\"highres-ticks\": true}, \"traceEvents\": [{}]}", "JAX" },
        { "results.json", "{\"rocprofiler-sdk-tool\": []}", "rocprofv3" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_input t = look_at_text(cases[i].file, cases[i].text, true);
        CU_ASSERT_EQUAL(t.kind, TL_INPUT_OTHER);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.why, cases[i].word));
    }
}

static void a_damaged_head_still_names_the_rank(void)
{
    static const char *const heads[] = {
        "{\"x\": @@, \"distributedInfo\": {\"rank\": 3}, \"traceEvents\": [",
        "{\"x\": \"un\"quoted\", \"distributedInfo\": {\"rank\": 3}, \"traceEvents\": [",
        "{\"x\": {\"y\": 1, \"distributedInfo\": {\"rank\": 3}, \"traceEvents\": [",
        "{\"distributedInfo\": {\"rank\": 3, \"traceEvents\": [",
        "\"distributedInfo\": {\"rank\": 3}, \"traceEvents\": [",
        "[{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 3}, \"traceEvents\": [",
        "{\"x\": 1}}, \"distributedInfo\": {\"rank\": 3}, \"traceEvents\": [",
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        for (int deep = 0; deep < 2; deep++) {
            char text[512];
            snprintf(text, sizeof text, "%s{\"ph\": \"X\", \"ts\": 1700000000000000}, {\"ph\": \"X\", \"ts\": 7}]}", heads[i]);
            tl_input t = look_at_text("a.json", text, deep);
            CU_ASSERT_EQUAL(t.kind, TL_INPUT_TRACE);
            CU_ASSERT_EQUAL(t.meta_rank, 3);
            CU_ASSERT_EQUAL(t.begin_ns, DAY_ONE);
        }
}

static void kinds_are_told_apart(void)
{
    static const struct {
        const char *name, *text;
        tl_input_kind kind;
        const char *word;
    } cases[] = {
        { "a.json", "{\"traceEvents\": [", TL_INPUT_TRACE, "" },
        { "a.json", "{\"traceEvents\": [{\"ph\": \"X\", \"na", TL_INPUT_TRACE, "" },
        { "a.json", "{\"traceEvents\": [{\"na\": NaN, \"ts\": 1}, 5, {}]}", TL_INPUT_TRACE, "" },
        { "a.json", "[{\"ph\": \"X\"}]", TL_INPUT_TRACE, "" },
        { "a.json", "[{\"ph\": \"X\", \"na", TL_INPUT_TRACE, "" },
        { "a.json", "[{\"name\": \"x\"}]", TL_INPUT_OTHER, "array" },
        { "a.json", "[{\"name\": \"x\"}, {\"ph\": \"X\"}]", TL_INPUT_OTHER, "array" },
        { "a.json", "[1, 2, {\"ph\": \"X\"}]", TL_INPUT_OTHER, "array" },
        { "a.json", "[]", TL_INPUT_OTHER, "found none" },
        { "rank_0.json", "[]", TL_INPUT_UNREADABLE, "found none" },
        { "a.json", "[", TL_INPUT_OTHER, "" },
        { "a.json", "{\"traceEvents\": []}", TL_INPUT_OTHER, "found none" },
        { "rank_0.json", "{\"traceEvents\": [], \"displayTimeUnit\": \"ms\"}", TL_INPUT_UNREADABLE, "found none" },
        { "a.json", "{\"traceEvents\": [], \"distributedInfo\": {\"rank\": 1}}", TL_INPUT_TRACE, "" },
        { "a.json", "{}", TL_INPUT_OTHER, "traceEvents" },
        { "a.json", "{\"traceEvents\": {}}", TL_INPUT_OTHER, "traceEvents" },
        { "a.json", "{\"x\": {\"traceEvents\": [{\"ph\": \"X\"}]}}", TL_INPUT_OTHER, "traceEvents" },
        { "trace.json", "{\"segments\": [1, 2, 3]}", TL_INPUT_OTHER, "traceEvents" },
        { "a.json", "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 2}, \"traceEvents\": null}", TL_INPUT_UNREADABLE,
          "traceEvents" },
        { "trace.json", "{\"schema\": \"1.0.1\", \"pid\": 1, \"nodes\": [{}]}", TL_INPUT_EXECUTION, "execution trace" },
        { "trace.json", "{\"schema\": \"1.0.1\", \"nodes\": [{", TL_INPUT_EXECUTION, "execution trace" },
        { "a.json", "{\"x\": [1, 2", TL_INPUT_OTHER, "cut short" },
        { "trace.json", "{\"x\": [1, 2", TL_INPUT_UNREADABLE, "cut short" },
        { "a.json", "{\"deviceProperties\": [{}", TL_INPUT_UNREADABLE, "cut short" },
        { "a.json", "words", TL_INPUT_OTHER, "no JSON" },
        { "my.pt.trace.json", "words", TL_INPUT_UNREADABLE, "no JSON" },
        { "kineto_0.json", "words", TL_INPUT_UNREADABLE, "no JSON" },
        { "rank_0.json", "words", TL_INPUT_UNREADABLE, "no JSON" },
        { "rank_0.json.xz", "\xfd" "7zXZ", TL_INPUT_UNREADABLE, "an xz file, which has to be unpacked" },
        { "all.zip", "PK\x03\x04 {\"traceEvents\": [{\"ph\": \"X\"}]}", TL_INPUT_OTHER, "a zip archive" },
        { "rank_0.json", "(\xb5\x2f\xfd", TL_INPUT_UNREADABLE, "zstd" },
        { "x.h5", "\x89HDF\r\n\x1a\n", TL_INPUT_OTHER, "an HDF5 file" },
        { "y.h5", "tlmpi result, 512 bytes, ", TL_INPUT_OTHER, "tlmpi ask" },
        { "a.json", "", TL_INPUT_UNREADABLE, "empty" },
        { "a.json", " \n ", TL_INPUT_UNREADABLE, "empty" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_input t = look_at_text(cases[i].name, cases[i].text, i % 2);
        CU_ASSERT_EQUAL(t.kind, cases[i].kind);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.why, cases[i].word));
        CU_ASSERT(t.kind == TL_INPUT_TRACE ? t.why[0] == '\0' : strstr(t.why, cases[i].name) == NULL);
        if (t.kind != cases[i].kind || strstr(t.why, cases[i].word) == NULL)
            printf("%s: kind %d, %s\n", cases[i].text, (int)t.kind, t.why);
    }
}

/* A tar archive names itself behind the name of its first file; in gzip, too. */
static void an_archive_is_known_in_gzip(void)
{
    char text[1024] = "rank0.json";
    unsigned char packed[2048];
    memcpy(text + 257, "ustar", 5);
    strcpy(text + 512, "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 5}]}");
    size_t n = scratch_gzip(text, sizeof text, 0, packed, sizeof packed);
    tl_input t = look_at(scratch_write("traces.tar.gz", packed, n), true);
    CU_ASSERT_EQUAL(t.kind, TL_INPUT_UNREADABLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "gzip with a tar archive, which has to be unpacked first"));
}

/* A trace in gzip, cut everywhere: from the first byte of text after the bracket on it is a trace. */
static void a_cut_gzip_is_a_trace_once_it_begins(void)
{
    static const char text[] =
        "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"ts\": 5}, {\"ph\": \"X\", \"ts\": 6}]}";
    unsigned char packed[512];
    size_t n = scratch_gzip(text, strlen(text), 0, packed, sizeof packed);
    int traces = 0;
    for (size_t k = 2; k <= n; k++) {
        tl_input t = look_at(scratch_write("cut.json.gz", packed, k), true);
        CU_ASSERT_EQUAL(t.kind, k >= 15 + strlen("{\"schemaVersion\": 1, \"traceEvents\": [") ? TL_INPUT_TRACE
                                                                                              : TL_INPUT_UNREADABLE);
        CU_ASSERT(t.kind == TL_INPUT_TRACE || strstr(t.why, "cut short") != NULL);
        traces += t.kind == TL_INPUT_TRACE;
    }
    CU_ASSERT(traces > 20);
    packed[2] = 1;
    tl_input t = look_at(scratch_write("cut.json.gz", packed, n), true);
    CU_ASSERT_EQUAL(t.kind, TL_INPUT_UNREADABLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "header"));
}

static void what_cannot_be_opened_says_so(void)
{
    char path[700];
    (void)unlink(scratch_path("gone.json"));
    (void)symlink("nowhere", scratch_path("gone.json"));
    tl_input t = look_at(scratch_path("gone.json"), true);
    CU_ASSERT_EQUAL(t.kind, TL_INPUT_UNREADABLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "cannot be opened: No such file"));
    t = look_at(scratch_folder, true);
    CU_ASSERT_EQUAL(t.kind, TL_INPUT_UNREADABLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "folder"));

    snprintf(path, sizeof path, "%s/", scratch_folder); /* of a long path the end is shown, and the reason whole */
    for (int i = 0; i < 200; i++)
        strcat(path, "./");
    strcat(path, "gone.json");
    t = look_at(path, true);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "cannot be opened: No such file"));
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_head_tells_rank_and_begin),
        TEST(a_begin_is_always_found),
        TEST(the_tail_is_for_a_deep_look),
        TEST(an_event_near_the_end_does_not_name_the_rank),
        TEST(a_collective_tells_the_rank),
        TEST(a_deep_look_tells_whether_a_device_worked),
        TEST(formats_of_others_are_named),
        TEST(a_damaged_head_still_names_the_rank),
        TEST(kinds_are_told_apart),
        TEST(an_archive_is_known_in_gzip),
    TEST(a_cut_gzip_is_a_trace_once_it_begins),
        TEST(what_cannot_be_opened_says_so),
    };
    int failed = scratch_make() || unit_main("look", tests, COUNT(tests));
    return scratch_remove() || failed;
}
