/* test_splice.c - events added to a copy of a trace: every byte of the trace is passed through, whatever the layout. */
#include "tlmpi/trace_out/idle.h"
#include "tlmpi/trace_out/splice.h"
#include "trace_text.h"

typedef struct adding {
    int n; /* events to add */
    int calls;
} adding;

static tl_status add_some(void *arg, tl_out_writer *w, tl_error *err)
{
    adding *a = arg;
    (void)err;
    a->calls++;
    for (int i = 0; i < a->n; i++)
        tl_out_put(w, &(tl_out_event){ .ph = 'X',
                                       .track = { .pid = 1, .tid = 9000 },
                                       .name = TL_TEXT("new ] }"),
                                       .cat = TL_OUT_IDLE_CAT,
                                       .ts = tl_out_us(i * 10),
                                       .dur = tl_out_us(5) });
    return TL_OK;
}

/* A copy of the file with n more events; its path. */
static const char *spliced(const char *path, bool gzip, int n, tl_splice *splice)
{
    const char *out = scratch_path("spliced.json");
    adding a = { .n = n };
    uint64_t added = 99;
    tl_trace trace;
    tl_error err = { 0 };
    int fd;

    CU_ASSERT_EQUAL_FATAL(read_trace(path, &trace), TL_OK);
    *splice = tl_splice_of(&trace.report);
    tl_trace_free(&trace);
    tl_sink *sink = sink_to(out, gzip, &fd);
    tl_status st = tl_splice_copy(path, splice, sink, add_some, &a, &added, &err);
    CU_ASSERT_EQUAL(st, TL_OK);
    if (st != TL_OK)
        printf("\n%s\n", err.text);
    CU_ASSERT_EQUAL(a.calls, 1);
    CU_ASSERT_EQUAL(added, (uint64_t)n);
    tl_sink_close(sink);
    close(fd);
    return out;
}

/* Whether two traces hold the same events, but for `more` at the end of the second. */
static bool same_events(const char *before, const char *after, uint64_t more)
{
    tl_trace a, b;
    bool read = read_trace(before, &a) == TL_OK && read_trace(after, &b) == TL_OK;
    CU_ASSERT_FATAL(read);
    bool same = b.events.n == a.events.n + more && b.meta.rank == a.meta.rank && b.meta.base_ns == a.meta.base_ns;
    for (size_t i = 0; same && i < a.events.n; i++)
        same = a.events.ts_ns[i] == b.events.ts_ns[i] &&
               tl_event_dur_ns(&a.events, i) == tl_event_dur_ns(&b.events, i) &&
               a.events.uid[i] == b.events.uid[i] && a.events.name[i] == b.events.name[i];
    for (size_t i = a.events.n; same && i < b.events.n; i++)
        same = b.events.ts_ns[i] == (int64_t)(i - a.events.n) * 10 && tl_event_dur_ns(&b.events, i) == 5 &&
               tl_event_cat(&b.events, i) == TL_CAT_OTHER;
    tl_trace_free(&a);
    tl_trace_free(&b);
    return same;
}

#define EVENT                                                                                                          \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k]}[{\\\"\", \"pid\": 0, \"tid\": 7, \"ts\": 1.000, \"dur\": 2}"

typedef struct layout {
    const char *what, *text;
    bool json; /* a proper document it is, before and after */
} layout;

static const layout layouts[] = {
    { "one line", "{\"schemaVersion\": 1,\"traceEvents\":[" EVENT "," EVENT "],\"traceName\":\"a]\"}", true },
    { "spaced", "{ \"traceEvents\" : [ " EVENT " , " EVENT " ] , \"traceName\" : \"a\" }\n", true },
    { "indented",
      "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n  " EVENT ",\n  " EVENT "\n  ],\n  \"traceName\": \"a\"\n}\n",
      true },
    { "CRLF", "{\r\n\"traceEvents\": [\r\n" EVENT "\r\n]\r\n}\r\n", true },
    { "objects behind",
      "{\"traceEvents\": [" EVENT "], \"distributedInfo\": {\"rank\": 3, \"a\": [[], [1]]}, "
      "\"baseTimeNanoseconds\": 5, \"x\": [{\"ph\": \"X\"}]}",
      true },
    { "arrays before", "{\"a\": [{\"traceEvents\": [1, 2]}], \"traceEvents\": [" EVENT "]}", true },
    { "a bare array", "[" EVENT ",\n" EVENT "]", true },
    { "a bare array, spaces", " [\n" EVENT "\n]\n\n", true },
    { "empty", "{\"traceEvents\":[]}", true },
    { "empty, spaces", "{\"traceEvents\": [ \n ], \"a\": 1}", true },
    { "a byte order mark", "\xEF\xBB\xBF{\"traceEvents\": [" EVENT "]}", true },
    { "two arrays", "{\"traceEvents\": [" EVENT "], \"traceEvents\": [" EVENT "]}", true },
    { "two arrays, the last empty", "{\"traceEvents\": [" EVENT "], \"traceEvents\": []}", true },
    { "a comma too many", "{\"traceEvents\": [" EVENT ",\n], \"a\": 1}", false },
    { "text behind", "{\"traceEvents\": [" EVENT "]} {\"more\": []}", false },
    { "a stray bracket", "{\"traceEvents\": [" EVENT ", ], " EVENT "], \"a\": 1}", false },
    { "a missing bracket", "{\"traceEvents\": [" EVENT ", " EVENT ", \"traceName\": \"a\"}", false },
    { "a torn entry at the end",
      "{\"traceEvents\": [" EVENT ", {\"ph\": \"X\", \"dur\": 1}, \"args\": {}}], \"traceName\": \"a\"}", false },
    { "a damaged document", "{\"traceEvents\": [" EVENT "], \"a\": \"b\"c\", \"distributedInfo\": {\"rank\": 3}}",
      false },
    { "a damaged document, cut", "{\"traceEvents\": [" EVENT "], \"a\": \"b\"c\", \"distributedInfo\": {\"rank\": 3}",
      false },
    { "other elements alone", "{\"traceEvents\": [1, {}2, \"a\" ], \"a\": 1}", false },
    { "numbers alone", "{\"traceEvents\": [1, 2 ]}", true },
    { "nothing whole", "{\"a\": 1, \"traceEvents\"ph\": \"X\", \"dur\": 1, \"args\": {}},\n {\"ph\": \"X\", \"na",
      false },
    { "an array within", "{\"a\": {\"traceEvents\": [" EVENT "]}, \"traceEvents\": [" EVENT ", " EVENT "]}", true },
    { "no entries", "{\"traceEvents\": [1, \"a\", " EVENT ", null], \"a\": 1}", true },
};

static void check_layout(const layout *l, const char *path, bool gzip)
{
    static const int counts[] = { 0, 1, 3 };
    size_t n = strlen(l->text), nout;

    for (size_t k = 0; k < COUNT(counts); k++) {
        tl_splice splice;
        const char *out = spliced(path, gzip, counts[k], &splice);
        char *text = read_file(out, &nout);
        size_t at = (size_t)splice.insert_at, inserted = nout - n;
        /* Without what was inserted it is the original. */
        bool same =
            nout >= n && memcmp(text, l->text, at) == 0 && memcmp(text + at + inserted, l->text + at, n - at) == 0;
        CU_ASSERT(same && (counts[k] > 0) == (inserted > 0));
        CU_ASSERT_EQUAL(is_json(text, nout), l->json);
        bool events = same_events(path, out, (uint64_t)counts[k]);
        CU_ASSERT(events);
        if (!same || !events)
            printf("\n%s, %d events: %s\n", l->what, counts[k], text);
        free(text);
    }
}

static void every_layout_is_passed_through(void)
{
    for (size_t i = 0; i < COUNT(layouts); i++)
        check_layout(&layouts[i], scratch_text("layout.json", layouts[i].text), false);
}

static void gzip_members_become_one(void)
{
    static unsigned char packed[1 << 16];
    for (size_t i = 0; i < COUNT(layouts); i++) {
        const char *text = layouts[i].text;
        size_t n = strlen(text), half = n / 2;
        size_t used = scratch_gzip(text, half, 6, packed, sizeof packed);
        used += scratch_gzip("", 0, 6, packed + used, sizeof packed - used);
        used += scratch_gzip(text + half, n - half, 1, packed + used, sizeof packed - used);
        check_layout(&layouts[i], scratch_write("layout.json.gz", packed, used), true);
    }
}

/* A document cut after any of its bytes becomes one that holds each entry that was whole. */
static void check_cuts(const char *document, bool bare)
{
    size_t whole = strlen(document), n;
    size_t from = bare ? 1 : (size_t)(strstr(document, "\"traceEvents\": [") - document) + 16;

    for (size_t cut = from; cut < whole; cut++) {
        tl_splice splice;
        char cut_text[2048];
        memcpy(cut_text, document, cut);
        cut_text[cut] = 0;
        const char *path = scratch_text("cut.json", cut_text), *out = spliced(path, false, 2, &splice);
        char *text = read_file(out, &n);
        bool json = is_json(text, n), events = same_events(path, out, 2);
        CU_ASSERT(json && events);
        CU_ASSERT_EQUAL(memcmp(text, document, (size_t)splice.insert_at), 0);
        if (!json || !events)
            printf("\ncut at %zu: %s\n", cut, text);
        free(text);
    }
}

static void a_cut_trace_is_closed(void)
{
    check_cuts(
        "{\"schemaVersion\": 1, \"traceEvents\": [\n" EVENT ",\n" EVENT "\n], \"distributedInfo\": {\"rank\": 12, "
        "\"pg\": [{\"a\": \"b, c\"}]}, \"s\": \"x\\\"y\", \"n\": 12, \"t\": true, \"l\": [], \"traceName\": \"a\"}\n",
        false);
    check_cuts("[\n" EVENT ",\n" EVENT "\n]", true);
    check_cuts("{\"traceEvents\": [" EVENT "], \"a\": 1, \"traceEvents\": [" EVENT ", " EVENT "]}", false);
}

/* What stands after the array is kept as far as it is whole. */
static void a_cut_behind_the_array_keeps_whole_members(void)
{
    static const char *const cases[][2] = {
        { "{\"traceEvents\": [], \"a\": 1, \"b\": 2", "{\"traceEvents\": [], \"a\": 1}\n" },
        { "{\"traceEvents\": [], \"a\": {\"x\": 1}", "{\"traceEvents\": [], \"a\": {\"x\": 1}}\n" },
        { "{\"traceEvents\": [], \"a\": \"x\"", "{\"traceEvents\": [], \"a\": \"x\"}\n" },
        { "{\"traceEvents\": [], \"a\"", "{\"traceEvents\": []}\n" },
        { "{\"traceEvents\": [], \"a\": {\"b\": [1, [\"x]\"], {\"c\": ",
          "{\"traceEvents\": [], \"a\": {\"b\": [1, [\"x]\"], {}]}}\n" },
        { "{\"traceEvents\": [], \"a\": {\"b\": \"x\", \"c\": [\"d\"",
          "{\"traceEvents\": [], \"a\": {\"b\": \"x\", \"c\": [\"d\"]}}\n" },
        { "{\"traceEvents\": [], \"a\": [\"b\", tru", "{\"traceEvents\": [], \"a\": [\"b\"]}\n" },
        { "{\"traceEvents\": []", "{\"traceEvents\": []}\n" },
        { "{\"traceEvents\": [", "{\"traceEvents\": [\n]}\n" },
        { "{\"traceEvents\": [" EVENT ", {\"ph\": \"X\", ", "{\"traceEvents\": [" EVENT "\n]}\n" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_splice splice;
        size_t n;
        char *text = read_file(spliced(scratch_text("cut.json", cases[i][0]), false, 0, &splice), &n);
        CU_ASSERT_STRING_EQUAL(text, cases[i][1]);
        free(text);
    }
}

/* A broken entry at the end of a cut trace is not taken for its last whole one. */
static void a_cut_behind_a_broken_entry(void)
{
    tl_splice splice;
    size_t n;
    const char *path = scratch_text("cut.json", "{\"traceEvents\": [" EVENT ", {\"ph\": \"X\", \"name\": \"a\"b\"}");
    char *text = read_file(spliced(path, false, 1, &splice), &n);
    CU_ASSERT(is_json(text, n));
    free(text);
}

/* ----------------------------------------------------------------------------------------------- what can go wrong */

static char *large_trace(size_t entries, size_t *n)
{
    char *text = malloc(entries * 256 + 64);
    *n = (size_t)sprintf(text, "{\"traceEvents\": [\n");
    for (size_t i = 0; i < entries; i++)
        *n += (size_t)sprintf(
            text + *n, "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k%zu\", \"ts\": %zu.%03zu, \"dur\": 2}",
            i > 0 ? ",\n" : "", i * i % 997, i * 7919, i % 1000);
    *n += (size_t)sprintf(text + *n, "\n], \"traceName\": \"a\"}\n");
    return text;
}

static void many_blocks_are_copied(void)
{
    for (int gzip = 0; gzip < 2; gzip++) {
        tl_splice splice;
        size_t n, nout;
        char *text = large_trace(20000, &n);
        const char *path = scratch_write("large.json", text, n), *out = spliced(path, gzip, 1000, &splice);
        char *got = read_file(out, &nout);
        size_t at = (size_t)splice.insert_at;
        CU_ASSERT(n > 1000000 && nout > n);
        CU_ASSERT(memcmp(got, text, at) == 0 && memcmp(got + at + (nout - n), text + at, n - at) == 0);
        CU_ASSERT(is_json(got, nout));
        CU_ASSERT(same_events(path, out, 1000));
        free(got);
        free(text);
    }
}

static tl_status copy_again(const char *path, const tl_splice *splice, const char *to, bool gzip, tl_error *err)
{
    adding a = { .n = 2 };
    tl_sink *sink = NULL;
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    tl_status st = tl_sink_open(fd, to, gzip, &sink, err);
    if (st == TL_OK)
        st = tl_splice_copy(path, splice, sink, add_some, &a, NULL, err);
    tl_sink_close(sink);
    close(fd);
    return st;
}

static void a_full_disk_is_told(void)
{
    static const size_t sizes[] = { 1, 20000 };
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int gzip = 0; gzip < 2; gzip++) {
            size_t n;
            tl_splice splice;
            tl_error err = { 0 };
            char *text = large_trace(sizes[i], &n);
            const char *path = scratch_write("large.json", text, n);
            (void)spliced(path, false, 0, &splice);
            CU_ASSERT_EQUAL(copy_again(path, &splice, "/dev/full", gzip, &err), TL_EOUTPUT);
            CU_ASSERT(strstr(err.text, "/dev/full") != NULL);
            free(text);
        }
}

static void a_trace_that_changes_is_no_longer_copied(void)
{
    static const char *const changed[] = { "{\"traceEvents\": [" EVENT "]}",
                                           "{\"traceEvents\": [" EVENT "], \"a\": 1,  \"b\": 2}",
                                           "{ \"traceEvents\": [" EVENT "], \"a\": 1 \"b\": 2}",
                                           "{\"traceEvents\": [" };
    const char *path = scratch_text("change.json", "{\"traceEvents\": [" EVENT "], \"a\": 1, \"b\": 2}");
    tl_splice splice;
    tl_error err = { 0 };

    (void)spliced(path, false, 1, &splice);
    for (size_t i = 0; i < COUNT(changed); i++) {
        (void)scratch_text("change.json", changed[i]);
        CU_ASSERT_EQUAL(copy_again(path, &splice, scratch_path("out.json"), false, &err), TL_EINPUT);
        CU_ASSERT(strstr(err.text, "has changed") != NULL);
    }
    unlink(path);
    CU_ASSERT_EQUAL(copy_again(path, &splice, scratch_path("out.json"), false, &err), TL_EINPUT);
}

/* Entries 0 and 4 are marked, 1 and 3 dropped, the others stay: behind the fates, too. */
static void entries_are_dropped_and_marked(void)
{
    static const uint8_t fate[] = { TL_ENTRY_MARKED, TL_ENTRY_DROPPED, TL_ENTRY_KEPT, TL_ENTRY_DROPPED,
                                    TL_ENTRY_MARKED };
    static const tl_splice_edit edit = { fate, sizeof fate, "\"critical\": 1" };
    static const char *const entries =
        "{\"name\": \"args\", \"args\" :{ \"a\\\"}\": {\"args\": {}}}, \"dur\":1,\"ts\":1,\"ph\":\"X\"} ,\n " EVENT
        ", {\"ph\":\"M\",\"args\":{}},\t" EVENT
        ",{\"args\":{ },\"ts\":2,\"dur\":1,\"ph\":\"X\"},{\"ts\":3,\"dur\":1,\"ph\":\"X\"}\n";
    static const char *const expected =
        "{\"traceEvents\":[\n{\"name\": \"args\", \"args\" :{\"critical\": 1 , \"a\\\"}\": {\"args\": {}}}, "
        "\"dur\":1,\"ts\":1,\"ph\":\"X\"},\n{\"ph\":\"M\",\"args\":{}},\n{\"args\":{\"critical\": 1 "
        "},\"ts\":2,\"dur\":1,"
        "\"ph\":\"X\"},\n{\"ts\":3,\"dur\":1,\"ph\":\"X\"}\n],\"a\":[{\"args\":{}}]}";
    char text[1024];
    tl_splice splice;
    tl_error err = { 0 };
    size_t n;

    snprintf(text, sizeof text, "{\"traceEvents\":[%s],\"a\":[{\"args\":{}}]}", entries);
    const char *path = scratch_text("edit.json", text), *out = scratch_path("edited.json");
    (void)spliced(path, false, 0, &splice);
    splice.edit = &edit;
    CU_ASSERT_EQUAL(copy_again(path, &splice, out, false, &err), TL_OK);
    char *copy = read_file(out, &n);
    CU_ASSERT(is_json(copy, n));
    CU_ASSERT_PTR_NOT_NULL(strstr(copy, "new ] }"));
    char *added = strstr(copy, ",\n{\"ph\": \"X\""); /* the new event of copy_again, up to the end of the array */
    CU_ASSERT_PTR_NOT_NULL_FATAL(added);
    char *end = strstr(added, "\n],");
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    memmove(added, end, strlen(end) + 1);
    CU_ASSERT_STRING_EQUAL(copy, expected);
    free(copy);
}

/* Of one block as of many: a mark and a comma may lie on both sides of a border. */
static void many_blocks_are_edited(void)
{
    size_t n;
    char *text = large_trace(20000, &n);
    const char *path = scratch_write("large.json", text, n), *out = scratch_path("edited.json");
    tl_trace before, after;
    tl_splice splice;
    tl_error err = { 0 };

    (void)spliced(path, false, 0, &splice);
    CU_ASSERT_EQUAL_FATAL(read_trace(path, &before), TL_OK);
    uint8_t *fate = malloc(before.report.entries);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fate);
    for (uint64_t i = 0; i < before.report.entries; i++)
        fate[i] = i % 3 == 0 ? TL_ENTRY_DROPPED : i % 3 == 1 ? TL_ENTRY_MARKED : TL_ENTRY_KEPT;
    splice.edit = &(tl_splice_edit){ fate, before.report.entries, "\"critical\": 1" };
    CU_ASSERT_EQUAL(copy_again(path, &splice, out, true, &err), TL_OK);
    CU_ASSERT_EQUAL_FATAL(read_trace(out, &after), TL_OK);
    CU_ASSERT_EQUAL(after.report.dropped + after.report.repaired, 0);
    CU_ASSERT_EQUAL(after.report.entries, before.report.entries - (before.report.entries + 2) / 3 + 2);
    tl_trace_free(&before);
    tl_trace_free(&after);
    free(fate);
    free(text);
}

static const unit_test tests[] = {
    TEST(every_layout_is_passed_through),
    TEST(gzip_members_become_one),
    TEST(a_cut_trace_is_closed),
    TEST(a_cut_behind_the_array_keeps_whole_members),
    TEST(a_cut_behind_a_broken_entry),
    TEST(many_blocks_are_copied),
    TEST(a_full_disk_is_told),
    TEST(a_trace_that_changes_is_no_longer_copied),
    TEST(entries_are_dropped_and_marked),
    TEST(many_blocks_are_edited),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int failed = unit_main("splice", tests, COUNT(tests));
    scratch_remove();
    return failed;
}
