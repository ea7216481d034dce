/* test_entry.c - the text of an entry to a row of columns, and that both event readers say the same. */
#include "trace/read_text.h"

static void a_kernel_becomes_columns(void)
{
    tl_trace t = read_entries(
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k<int>\", \"pid\": 1, \"tid\": 7, \"ts\": 6851234567890.123,"
        " \"dur\": 812.4, \"args\": {\"External id\": 9, \"device\": 1, \"stream\": 7, \"correlation\": 90211,"
        " \"grid\": [1, 2, 3], \"Collective name\": \"allreduce\", \"In msg nelems\": 4194304, \"Seq\": 118}}");
    const tl_events *e = &t.events;
    CU_ASSERT_EQUAL_FATAL(e->n, 1);
    CU_ASSERT_EQUAL(e->ts_ns[0], INT64_C(6851234567890123));
    CU_ASSERT_EQUAL(tl_event_dur_ns(e, 0), 812400);
    CU_ASSERT_EQUAL(tl_event_corr(e, 0), 90211);
    CU_ASSERT_EQUAL(tl_event_lane(e, 0)->device, 1);
    CU_ASSERT_EQUAL(tl_event_lane(e, 0)->stream, 7);
    CU_ASSERT_EQUAL(e->tracks.v[tl_event_track(e, 0)].tid, 7);
    CU_ASSERT_EQUAL(tl_event_cat(e, 0), TL_CAT_KERNEL);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 0), "k<int>");
    CU_ASSERT_PTR_NOT_NULL_FATAL(tl_events_coll(e, 0));
    CU_ASSERT_EQUAL(tl_events_coll(e, 0)->in_nelems, 4194304);
    CU_ASSERT_EQUAL(tl_events_coll(e, 0)->seq, 118);
    CU_ASSERT_PTR_NULL(tl_events_coll(e, 1));
    CU_ASSERT_EQUAL(t.report.first_bad_byte, -1);
    tl_trace_free(&t);
}

static void grids_are_blocks_by_either_parser(void)
{
    static const struct {
        const char *grid;
        uint32_t blocks; /* 0: not known */
    } cases[] = { { "[4, 5, 6]", 120 },   { "[1152,1,1]", 1152 },      { "[ 7 ]", 7 },
                  { "[]", 0 },            { "[4,\"5\",6]", 0 },        { "[4,[5],6]", 0 },
                  { "\"[4,5,6]\"", 120 }, { "17", 0 },                 { "[0,1,1]", 0 },
                  { "[-4,1,1]", 0 },      { "[99999,99999,9]", UINT32_MAX }, { "{\"x\":4}", 0 } };
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":1,"
                 "\"args\":{\"grid\":%s,\"stream\":7}}]}",
                 cases[i / 2].grid);
        tl_trace t = read_text(text, strlen(text), i % 2 == 1);
        CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
        const tl_grid_args *grid = t.events.grids.n > 0 ? &t.events.grids.v[0] : NULL;
        CU_ASSERT_EQUAL(grid != NULL ? grid->blocks : 0, cases[i / 2].blocks);
        CU_ASSERT_EQUAL(tl_event_lane(&t.events, 0)->stream, 7);
        tl_trace_free(&t);
    }
}

/* Where kernels of a graph are shown in one lane, `stream` is the lane. */
static void the_stream_is_the_one_that_ran_the_work(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,"
                              "\"args\":{\"original_stream\":45,\"stream\":7}},"
                              "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":4,\"dur\":2,"
                              "\"args\":{\"stream\":7}}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 2);
    CU_ASSERT_EQUAL(tl_event_lane(&t.events, 0)->stream, 45);
    CU_ASSERT_EQUAL(tl_event_lane(&t.events, 1)->stream, 7);
    tl_trace_free(&t);
}

static void a_copy_is_named_with_its_direction(void)
{
    static const struct {
        const char *name, *args, *expected;
    } cases[] = { { "Memcpy", "\"copy kind\":\"HtoD\"", "Memcpy HtoD" },
                  { "Memcpy DtoH (Device -> Pinned)", "\"copy kind\":\"DtoH\"", "Memcpy DtoH (Device -> Pinned)" },
                  { "Memcpy", "\"bytes\":4", "Memcpy" } };
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"%s\",\"ts\":1,\"dur\":1,"
                 "\"args\":{%s}}]}",
                 cases[i / 2].name, cases[i / 2].args);
        tl_trace t = read_text(text, strlen(text), i % 2 == 1);
        CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
        CU_ASSERT_STRING_EQUAL(name_of(&t, 0), cases[i / 2].expected);
        tl_trace_free(&t);
    }
}

static void the_last_of_equal_keys_counts(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"name\":\"b\",\"args\":{\"stream\":1,\"stream\":5}}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 0), "b");
    CU_ASSERT_EQUAL(tl_event_lane(&t.events, 0)->stream, 5);
    tl_trace_free(&t);
}

static void times_may_be_texts(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"17.5\",\"dur\":\"2\"}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
    CU_ASSERT_EQUAL(t.events.ts_ns[0], 17500);
    CU_ASSERT_EQUAL(tl_event_dur_ns(&t.events, 0), 2000);
    CU_ASSERT_EQUAL(t.report.dropped + t.report.repaired, 0);
    tl_trace_free(&t);
}

static void a_negative_or_missing_dur_is_zero_and_counted(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-2},{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 2);
    CU_ASSERT_EQUAL(tl_event_dur_ns(&t.events, 0), 0);
    CU_ASSERT_EQUAL(t.report.repaired, 2);
    CU_ASSERT_EQUAL(t.report.dropped, 0);
    CU_ASSERT_EQUAL(t.report.first_bad_byte, 17);
    tl_trace_free(&t);
}

static void a_time_that_cannot_be_costs_its_entry(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":99999999999999999999,\"dur\":1},"
                              "{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":1e300},{\"ph\":\"X\",\"name\":\"c\",\"dur\":1},"
                              "{\"ph\":\"X\",\"name\":\"d\",\"ts\":true,\"dur\":1},{\"ph\":\"X\",\"name\":\"e\",\"ts\":1,\"dur\":1}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 0), "e");
    CU_ASSERT_EQUAL(t.events.uid[0], 4);
    CU_ASSERT_EQUAL(t.report.dropped, 4);
    tl_trace_free(&t);
}

static void almost_json_is_repaired(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\x01\xff" "b\",\"ts\":1,\"dur\":1,\"args\":{\"bytes\":NaN,\"x\":-inf,"
                              "\"y\":N/A,}},{\"ph\":\"X\",\"name\":\"C:\\dir\",\"ts\":1,\"dur\":1}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 2);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 0), "a \xEF\xBF\xBD" "b");
    CU_ASSERT_STRING_EQUAL(name_of(&t, 1), "C:\\dir");
    CU_ASSERT_EQUAL(t.report.repaired, 2);
    CU_ASSERT_EQUAL(t.report.dropped, 0);
    tl_trace_free(&t);
}

/* What is right beside the odd value stays: the exponent of another number, too. */
static void a_number_may_have_a_plus(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":+5,\"dur\":+1.5e+1,\"args\":{\"stream\":+7,\"bytes\":-3}},"
                              "{\"ph\":\"X\",\"name\":\"b\",\"ts\":25e-1,\"dur\":1e+1,\"args\":{\"x\":NaN,\"y\":1E-5}},"
                              "{\"ph\":\"X\",\"name\":\"c\",\"ts\":++5,\"dur\":1},{\"ph\":\"X\",\"name\":\"d\",\"ts\":5+,\"dur\":1}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 2);
    CU_ASSERT_EQUAL(t.events.ts_ns[0], 5000);
    CU_ASSERT_EQUAL(tl_event_dur_ns(&t.events, 0), 15000);
    CU_ASSERT_EQUAL(tl_event_lane(&t.events, 0)->stream, 7);
    CU_ASSERT_EQUAL(t.events.ts_ns[1], 2500);
    CU_ASSERT_EQUAL(tl_event_dur_ns(&t.events, 1), 10000);
    CU_ASSERT_EQUAL(t.report.repaired, 2);
    CU_ASSERT_EQUAL(t.report.dropped, 2);
    CU_ASSERT_EQUAL(t.report.first_bad_byte, 43);
    tl_trace_free(&t);
}

/* Columns of 4 bytes hold the longer ones apart: beside the others, and gone with their event. */
static void numbers_of_any_size_are_kept(void)
{
    static const int64_t numbers[] = { 7, INT64_C(4294967293), INT64_C(4294967294), INT64_C(1) << 60, -1, -2, 8 };
    tl_events e = { .n = 0 };
    tl_events_reserve(&e, COUNT(numbers));
    e.n = COUNT(numbers);
    for (size_t i = 0; i < COUNT(numbers); i++)
        tl_narrow_set(&e.corr, i, numbers[i]);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        CU_ASSERT_EQUAL(tl_event_corr(&e, i), numbers[i]);
        for (size_t k = 0; k < COUNT(numbers); k++)
            CU_ASSERT_EQUAL(tl_narrow_compare(&e.corr, i, k), (numbers[i] > numbers[k]) - (numbers[i] < numbers[k]));
    }
    tl_narrow_set(&e.corr, 3, -5);
    tl_narrow_set(&e.corr, 0, INT64_MIN);
    CU_ASSERT(tl_event_corr(&e, 3) == -5 && tl_event_corr(&e, 0) == INT64_MIN);
    CU_ASSERT(tl_event_corr(&e, 2) == numbers[2] && tl_event_corr(&e, 5) == -2);
    tl_events_truncate(&e, 3);
    tl_narrow_set(&e.corr, 3, 5);
    CU_ASSERT(e.corr.wide.n == 2 && tl_event_corr(&e, 3) == 5);
    tl_events_free(&e);
}

static void escapes_are_resolved(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"n\\u0061me\":\"\\u00e9\\\"\\/\",\"ts\":1,\"dur\":1}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 0), "\xC3\xA9\"/");
    tl_trace_free(&t);
}

/* Damages a trace at random, a byte or a piece at a time: both readers must agree on everything, and nothing may
 * crash. */
static void both_readers_agree_on_damaged_text(void)
{
    static const char good[] =
        "{\"schemaVersion\": 1, \"traceEvents\": [\n"
        "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void k<4>(int*, float)\", \"pid\": 0, \"tid\": 7,\n"
        "    \"ts\": 1698955060096688.125, \"dur\": 22,\n    \"args\": {\n      \"External id\": 0, \"queued\": 0, \"device\": 0,"
        " \"Input Dims\": [[8, []], [ ]], \"kind\": \"x\",\n      \"stream\": 7, \"correlation\": 1264,\n      \"registers per thread\": 16, \"grid\": [16, 1, 1],"
        " \"occ\": 1.5e-3, \"on\": true, \"nothing\": null, \"deep\": [[{\"a\": []}]]\n    }\n  },\n"
        "  {\"ph\": \"s\", \"id\": 1264, \"pid\": 0, \"tid\": 7, \"ts\": 12, \"cat\": \"ac2g\", \"name\": \"ac2g\"},\n"
        "  {\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD\",\"pid\":0,\"tid\":7,\"ts\":\"5.5\",\"dur\":1,\"args\":"
        "{\"bytes\":1024,\"memory bandwidth (GB/s)\":1.25,\"stream\":7}},\n"
        "  {\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1, \"pid\": \"Spans\", \"args\": {\"name\": \"python\"}}\n"
        "], \"traceName\": \"x\", \"distributedInfo\": {\"rank\": 3}}";
    static const char odd[] = "\"\\{}[],: \n0-+.eEtn\x01\x7f\x80\xc3/NaN'ux";
    uint64_t seed = 5;

    for (int round = 0; round < 1500; round++) {
        char text[sizeof good + 64];
        size_t n = sizeof good - 1;
        hooked = round % 3 == 0;
        memcpy(text, good, n);
        for (unsigned k = 1 + unit_below(&seed, 3); k > 0; k--) {
            size_t at = unit_below(&seed, (unsigned)n);
            switch (unit_below(&seed, 4)) {
            case 0:
                text[at] = odd[unit_below(&seed, sizeof odd - 1)];
                break;
            case 1:
                memmove(text + at, text + at + 1, n - at - 1);
                n--;
                break;
            case 2:
                memmove(text + at + 1, text + at, n - at);
                text[at] = odd[unit_below(&seed, sizeof odd - 1)];
                n++;
                break;
            default:
                text[at] = (char)(text[at] ^ (1 << unit_below(&seed, 8)));
            }
        }
        uint64_t fast_heard[COUNT(heard)];
        tl_trace fast = read_text(text, n, false);
        memcpy(fast_heard, heard, sizeof heard);
        tl_trace reference = read_text(text, n, true);
        CU_ASSERT_EQUAL(hash_of(&fast), hash_of(&reference));
        if (hash_of(&fast) != hash_of(&reference))
            printf("\n%.*s\n%s\n%s\n", (int)n, text, fast.report.first_bad, reference.report.first_bad);
        if (hooked)
            CU_ASSERT_EQUAL(memcmp(fast_heard, heard, fast.events.n * sizeof *heard), 0);
        CU_ASSERT(fast.report.kept + fast.report.filtered + fast.report.dropped <= fast.report.entries + 1);
        tl_trace_free(&fast);
        tl_trace_free(&reference);
    }
    hooked = false;
}

/* Kernels of a name that is n letters long, but for its last one, which is 'a', 'b' ... */
static tl_trace read_long_names(size_t n, const char *lasts, bool yajl_only)
{
    size_t cap = (n + 128) * (strlen(lasts) + 1), at = 0;
    char *text = tl_malloc(cap), *name = tl_malloc(n);
    memset(name, 'n', n);
    at += (size_t)snprintf(text, cap, "{\"traceEvents\": [");
    for (const char *last = lasts; *last != 0; last++) {
        name[n - 1] = *last;
        at += (size_t)snprintf(text + at, cap - at,
                               "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"name\": \"%.*s\"}",
                               last > lasts ? "," : "", (int)n, name);
    }
    at += (size_t)snprintf(text + at, cap - at, "]}");
    tl_trace t = read_text(text, at, yajl_only);
    free(name);
    free(text);
    return t;
}

/* Up to 20 digits before the point and 5 after it, with what else may stand in a number or must not. */
static void numbers_of_any_length_are_read_alike(void)
{
    static const char digits[] = "98765432109876543210", *const ends[] = { "", "e2", "E-1", ".", "x", "0" },
                      *const begins[] = { "", "-", "0" };

    for (int before = 0; before <= 20; before++) {
        char text[1 << 15];
        size_t n = (size_t)snprintf(text, sizeof text, "[{\"ts\":1}");
        for (size_t i = 0; i < COUNT(begins) * COUNT(ends) * 6; i++) {
            const char *begin = begins[i % 3], *end = ends[i / 3 % 6];
            const int after = (int)(i / 18);
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  ",{\"ts\":%s%.*s%s%.*s%s%s,\"dur\":1,\"ph\":\"X\",\"cat\":\"kernel\","
                                  "\"args\":{\"correlation\":%s%.*s%s}}",
                                  begin, before, digits, after > 0 ? "." : "", after, digits, end,
                                  i % 2 == 0 ? " " : "", begin, before, digits, end);
        }
        text[n++] = ']';
        tl_trace fast = read_text(text, n, false), reference = read_text(text, n, true);
        CU_ASSERT_EQUAL(fast.report.entries, COUNT(begins) * COUNT(ends) * 6 + 1);
        CU_ASSERT_EQUAL(hash_of(&fast), hash_of(&reference));
        tl_trace_free(&fast);
        tl_trace_free(&reference);
    }
}

static void long_names_are_cut_and_stay_apart(void)
{
    const size_t most = (size_t)64 << 10;
    tl_trace whole = read_long_names(most, "ab", false);
    CU_ASSERT_EQUAL(whole.report.repaired, 0);
    CU_ASSERT_EQUAL(tl_names_text(&whole.events.names, whole.events.name[0]).n, most);
    tl_trace_free(&whole);

    tl_trace cut = read_long_names(most + 1, "aba", false), same = read_long_names(most + 1, "aba", true);
    CU_ASSERT_EQUAL_FATAL(cut.events.n, 3);
    CU_ASSERT_EQUAL(cut.report.repaired, 3);
    CU_ASSERT_EQUAL(cut.report.dropped, 0);
    CU_ASSERT_EQUAL(cut.report.first_bad_byte, 17);
    CU_ASSERT_EQUAL(cut.events.name[0], cut.events.name[2]);
    CU_ASSERT_NOT_EQUAL(cut.events.name[0], cut.events.name[1]);
    tl_text text = tl_names_text(&cut.events.names, cut.events.name[1]);
    CU_ASSERT_EQUAL(text.n, most + 3 + 16);
    CU_ASSERT_EQUAL(memcmp(text.p + most, "\xE2\x80\xA6", 3), 0);
    CU_ASSERT_EQUAL(hash_of(&cut), hash_of(&same));
    tl_trace_free(&cut);
    tl_trace_free(&same);
}

/* What the fast reader remembers of one entry must not be believed of the next. */
static void layouts_change_nothing_but_the_time(void)
{
    static const char *const entries[] = {
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"args\": {\"stream\": 7, \"correlation\": 9}}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"args\": {\"stream\":  8, \"correlation\": 9}, \"id\": 4}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"args\": {}}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"args\": null}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"args\": [{\"stream\": 7}]}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"args\":{\"stream\":6},\"args\":{\"device\":1},\"tid\":3}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"stream\": 7, \"correlation\": 9}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\":\n2, \"args\": {\"stream\":\t8, \"correlation\" : 9 } }",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"args\": {\"stream\": 5,}}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1{\"dur\": 2}",
        ("{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2, \"args\": {\"wait_on_cuda_event_record_corr_id\":   "
         "             5, \"stream\": 4}}"),
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 1, \"tid\": 2, \"ts\": 1, \"dur\": 2}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 1, \"tid\": 3, \"ts\": 1, \"dur\": 2}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 1, \"tid\": \"2\", \"ts\": 1, \"dur\": 2}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 1, \"tid\": -2, \"ts\": 1, \"dur\": 2}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 1, \"tid\": 2.5, \"ts\": 1, \"dur\": 2}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 1, \"tid\": 2e1, \"ts\": 1, \"dur\": 2}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 1, \"tid\": 02, \"ts\": 1, \"dur\": 2}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 1, \"tid\": true, \"ts\": 1, \"dur\": 2}",
        "{\"ts\": 1, \"pid\": 1, \"pid\": 2, \"ph\": \"X\", \"cat\": \"a\", \"cat\": \"kernel\", \"dur\": 2}",
        "{\"ts\": 1, \"pid\": 1, \"pid\": 2, \"ph\": \"X\", \"cat\": \"a\\u0062\", \"dur\": 2, \"tid\": 11}",
        ("{\"ts\": 1, \"cat\": \"a category as long as a piece may be, and longer still, for nothing so long is "
         "remembered\", \"ph\": \"X\", \"dur\": 2, \"args\": {\"device\": 0, \"stream\": 12345678901234567}}"),
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"args\": {\"grid\": [4, 1, 1]}}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"args\": {\"grid\": [4, 1, 1 ]}}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"args\": {\"grid\": [4, 1, 1 1]}}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"args\": {\"Input Dims\": [[4096, 1, 8192], [8192, 4096], [16, 16, 16, 1]]}}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"args\": {\"Input Dims\": [[4096, 1, 8192], [8192, 4096], []], \"stream\": 7}}",
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"args\": {\"Input Dims\": [[4096, 1, 8192], [8192, 4096], [16]}}",
        "{}",
    };
    for (int k = 0; k < 2; k++) {
        char text[1 << 17];
        size_t n = (size_t)snprintf(text, sizeof text, "{\"traceEvents\": [");
        hooked = k == 1;
        for (size_t i = 0; i < (hooked ? 2 : 12) * COUNT(entries); i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i > 0 ? ", " : "", entries[i * (1 + i % 3) % COUNT(entries)]);
        for (int i = 0; !hooked && i < 600; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, ", {\"ts\": 1, \"other %d\": 0, \"dur\": 4}", i % 400);
        n += (size_t)snprintf(text + n, sizeof text - n, "]}");
        tl_trace fast = read_text(text, n, false);
        uint64_t words[COUNT(heard)];
        memcpy(words, heard, sizeof words);
        tl_trace slow = read_text(text, n, true);
        CU_ASSERT(fast.events.n > 32);
        CU_ASSERT_EQUAL(hash_of(&fast), hash_of(&slow));
        CU_ASSERT_EQUAL(memcmp(words, heard, sizeof words), 0);
        tl_trace_free(&fast);
        tl_trace_free(&slow);
    }
    hooked = false;
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_kernel_becomes_columns),
        TEST(grids_are_blocks_by_either_parser),
        TEST(the_stream_is_the_one_that_ran_the_work),
        TEST(a_copy_is_named_with_its_direction),
        TEST(the_last_of_equal_keys_counts),
        TEST(times_may_be_texts),
        TEST(a_negative_or_missing_dur_is_zero_and_counted),
        TEST(a_time_that_cannot_be_costs_its_entry),
        TEST(almost_json_is_repaired),
        TEST(a_number_may_have_a_plus),
        TEST(numbers_of_any_length_are_read_alike),
        TEST(numbers_of_any_size_are_kept),
        TEST(escapes_are_resolved),
        TEST(both_readers_agree_on_damaged_text),
        TEST(long_names_are_cut_and_stay_apart),
        TEST(layouts_change_nothing_but_the_time),
    };
    int failed = scratch_make() || unit_main("entry", tests, COUNT(tests));
    return scratch_remove() || failed;
}
