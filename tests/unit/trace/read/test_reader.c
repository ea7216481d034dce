/* test_reader.c - text to columns: what is kept, repaired or lost, and that both event readers say the same. */
#include "scratch.h"
#include "tlmpi/trace/read/join.h"
#include "unit.h"

static bool hooked;        /* the next readings have the hook below */
static uint64_t heard[64]; /* what it was told of each event of the last reading, as a hash */

static tl_key key_of(const char *p, size_t n)
{
    static const char *const keys[] = { "External id", "Input Dims", "Input Strides", "Concrete Inputs" };
    for (int k = 0; k < (int)COUNT(keys); k++)
        if (strlen(keys[k]) == n && memcmp(p, keys[k], n) == 0)
            return (tl_key)(TL_KEY_HOOK + k);
    return TL_KEY_UNKNOWN;
}

static bool hear(void *arg, tl_events *events, const tl_fields *f, uint32_t i)
{
    (void)arg;
    (void)events;
    CU_ASSERT_FATAL(i < COUNT(heard));
    heard[i] = f->seen;
    for (int k = 0; k < TL_NKEYS; k++) {
        const tl_value *v = tl_fields_get(f, (tl_key)k);
        bool text = v != NULL && (v->type != TL_VALUE_OTHER || k >= TL_KEY_GRID);
        if (v != NULL)
            heard[i] = tl_hash_mix(heard[i], (uint64_t)v->type);
        if (text)
            heard[i] = tl_hash_mix(heard[i], tl_hash_bytes(v->text.n > 0 ? v->text.p : "", v->text.n));
    }
    return true;
}

static tl_trace read_text(const char *text, size_t n, bool yajl_only)
{
    const tl_entry_hook hook = { .key_of = key_of, .keep = hear };
    const tl_read_options options = {
        .keep = ~0u, .yajl_only = yajl_only, .any_ph = true, .hook = hooked ? &hook : NULL
    };
    tl_trace trace;
    tl_error err = { 0 };
    tl_trace_read(scratch_write("reader.json", text, n), &options, &trace, &err);
    return trace;
}

static tl_trace read_entries(const char *entries)
{
    char text[8192];
    snprintf(text, sizeof text, "{\"traceEvents\": [%s], \"traceName\": \"t\"}", entries);
    return read_text(text, strlen(text), false);
}

static const char *name_of(const tl_trace *t, size_t i)
{
    return tl_names_text(&t->events.names, t->events.name[i]).p;
}

static uint64_t hash_of(const tl_trace *t)
{
    const tl_events *e = &t->events;
    uint64_t h = tl_hash_bytes(e->names.bytes != NULL ? e->names.bytes : "", e->names.nbytes);
    const uint64_t more[] = { e->n, t->report.entries, t->report.kept, t->report.dropped, t->report.repaired,
                              (uint64_t)t->report.first_bad_byte, t->report.cut, t->report.fractional_ts, e->copies.n,
                              e->colls.n, e->waits.n, e->grids.n };
    for (size_t i = 0; i < COUNT(more); i++)
        h = tl_hash_mix(h, more[i]);
    for (size_t i = 0; i < e->n; i++) {
        const uint64_t cells[] = { (uint64_t)e->ts_ns[i], (uint64_t)e->dur_ns[i], (uint64_t)e->corr[i], e->name[i],
                                   e->track[i], e->lane[i], e->uid[i], e->category[i], e->flags[i] };
        for (size_t k = 0; k < COUNT(cells); k++)
            h = tl_hash_mix(h, cells[k]);
    }
    return h;
}

static void a_kernel_becomes_columns(void)
{
    tl_trace t = read_entries(
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k<int>\", \"pid\": 1, \"tid\": 7, \"ts\": 6851234567890.123,"
        " \"dur\": 812.4, \"args\": {\"External id\": 9, \"device\": 1, \"stream\": 7, \"correlation\": 90211,"
        " \"grid\": [1, 2, 3], \"Collective name\": \"allreduce\", \"In msg nelems\": 4194304, \"Seq\": 118}}");
    const tl_events *e = &t.events;
    CU_ASSERT_EQUAL_FATAL(e->n, 1);
    CU_ASSERT_EQUAL(e->ts_ns[0], INT64_C(6851234567890123));
    CU_ASSERT_EQUAL(e->dur_ns[0], 812400);
    CU_ASSERT_EQUAL(e->corr[0], 90211);
    CU_ASSERT_EQUAL(e->lanes.v[e->lane[0]].device, 1);
    CU_ASSERT_EQUAL(e->lanes.v[e->lane[0]].stream, 7);
    CU_ASSERT_EQUAL(e->tracks.v[e->track[0]].tid, 7);
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
        CU_ASSERT_EQUAL(t.events.lanes.v[t.events.lane[0]].stream, 7);
        tl_trace_free(&t);
    }
}

static void the_last_of_equal_keys_counts(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"name\":\"b\",\"args\":{\"stream\":1,\"stream\":5}}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 0), "b");
    CU_ASSERT_EQUAL(t.events.lanes.v[t.events.lane[0]].stream, 5);
    tl_trace_free(&t);
}

static void times_may_be_texts(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"17.5\",\"dur\":\"2\"}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
    CU_ASSERT_EQUAL(t.events.ts_ns[0], 17500);
    CU_ASSERT_EQUAL(t.events.dur_ns[0], 2000);
    CU_ASSERT_EQUAL(t.report.dropped + t.report.repaired, 0);
    tl_trace_free(&t);
}

static void a_negative_or_missing_dur_is_zero_and_counted(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-2},{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 2);
    CU_ASSERT_EQUAL(t.events.dur_ns[0], 0);
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
    CU_ASSERT_EQUAL(t.events.dur_ns[0], 15000);
    CU_ASSERT_EQUAL(t.events.lanes.v[t.events.lane[0]].stream, 7);
    CU_ASSERT_EQUAL(t.events.ts_ns[1], 2500);
    CU_ASSERT_EQUAL(t.events.dur_ns[1], 10000);
    CU_ASSERT_EQUAL(t.report.repaired, 2);
    CU_ASSERT_EQUAL(t.report.dropped, 2);
    CU_ASSERT_EQUAL(t.report.first_bad_byte, 43);
    tl_trace_free(&t);
}

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

static void escapes_are_resolved(void)
{
    tl_trace t = read_entries("{\"ph\":\"X\",\"n\\u0061me\":\"\\u00e9\\\"\\/\",\"ts\":1,\"dur\":1}");
    CU_ASSERT_EQUAL_FATAL(t.events.n, 1);
    CU_ASSERT_STRING_EQUAL(name_of(&t, 0), "\xC3\xA9\"/");
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

/* Damages a trace at random, a byte or a piece at a time: both readers must agree on everything, and nothing may crash. */
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

/* The file in pieces that begin at the given bytes, joined.  False: some piece is not proven. */
static bool read_pieces(const char *path, const uint64_t *from, size_t n, tl_trace *whole)
{
    tl_error err;
    bool proven = true;

    for (size_t i = 0; i < n && proven; i++) {
        const tl_read_range range = { from[i], i + 1 < n ? from[i + 1] : UINT64_MAX };
        const tl_read_options options = { .keep = ~0u, .any_ph = true, .range = &range };
        tl_trace piece;
        tl_status st = tl_trace_read(path, &options, i == 0 ? whole : &piece, &err);
        if (i == 0) {
            CU_ASSERT_EQUAL(st, TL_OK);
            continue;
        }
        proven = tl_trace_continues(whole, &piece);
        if (proven)
            CU_ASSERT_EQUAL(tl_trace_append(whole, &piece, &err), TL_OK);
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
        strcat(text, round % 4 == 1 ? "\"baseTimeNanoseconds\": -5, \"traceEvents\": [\n" : "\"traceEvents\": [\n");
        unsigned n = 1 + unit_below(&seed, 40);
        for (unsigned e = 0; e < n; e++) {
            strcat(text, e > 0 ? ",\n  " : "");
            strcat(text, entries[unit_below(&seed, round < 200 ? 2 : COUNT(entries))]);
        }
        strcat(text, "], \"traceName\": \"t\", \"deviceProperties\": [{\"id\": 0, \"name\": \"a\"}, {\"id\": 1}]");
        strcat(text, round % 4 == 2 ? ", \"baseTimeNanoseconds\": null}" : "}");
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

/* Filtering changes what is kept in memory, never what is counted: not even where the text is odd. */
static void the_filter_changes_nothing_but_the_work(void)
{
    static const char text[] =
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"x\":[{}]}},"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"b\",\"cat\":\"kernel\",\"ts\":2,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"bad \" quote\",\"ts\":3,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"ac2g\",\"id\":NaN},{\"cat\":7},{\"cat\":\"python_function\",\"ts\":99999999999999999999},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"ts\":4,\"dur\":1}]}";
    const char *path = scratch_write("filter.json", text, sizeof text - 1);
    uint64_t hash[2];
    for (int no_filter = 0; no_filter < 2; no_filter++) {
        const tl_read_options options = { .keep = TL_CAT_GPU_WORK, .no_filter = no_filter };
        tl_trace t;
        tl_error err = { 0 };
        CU_ASSERT_EQUAL(tl_trace_read(path, &options, &t, &err), TL_OK);
        CU_ASSERT_EQUAL(t.events.n, 2);
        CU_ASSERT_EQUAL(t.report.dropped, 1);
        CU_ASSERT_EQUAL(t.report.repaired, 1);
        hash[no_filter] = hash_of(&t);
        tl_trace_free(&t);
    }
    CU_ASSERT_EQUAL(hash[0], hash[1]);
}

static void deep_nesting_is_read(void)
{
    size_t deep = 1000000, n = 0;
    char *text = malloc(2 * deep + 200);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
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

static void without_memory_it_fails_and_says_so(void)
{
    static const char text[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\\n\",\"ts\":1,\"dur\":1,"
                               "\"args\":{\"stream\":7,\"bytes\":3}},{\"name\":\"b\x01\"}]}";
    const tl_read_options options = { .keep = ~0u };
    const char *path = scratch_write("memory.json", text, sizeof text - 1);
    bool failed = true;
    size_t k = 0;

    while (failed && k < 1000) {
        tl_trace t;
        tl_error err = { 0 };
        tl_mem_fail_after(++k);
        tl_status st = tl_trace_read(path, &options, &t, &err);
        tl_mem_fail_after(0);
        failed = st != TL_OK;
        CU_ASSERT(failed ? err.text[0] != 0 : strcmp(name_of(&t, 0), "a\n") == 0);     /* nor is a name lost in silence */
        tl_trace_free(&t);
    }
    CU_ASSERT(k > 10 && k < 1000);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_kernel_becomes_columns),
        TEST(grids_are_blocks_by_either_parser),
        TEST(the_last_of_equal_keys_counts),
        TEST(times_may_be_texts),
        TEST(a_negative_or_missing_dur_is_zero_and_counted),
        TEST(a_time_that_cannot_be_costs_its_entry),
        TEST(almost_json_is_repaired),
        TEST(a_number_may_have_a_plus),
        TEST(an_entry_that_is_no_json_costs_itself_alone),
        TEST(a_missing_bracket_costs_one_entry),
        TEST(text_behind_the_document_is_damage),
        TEST(escapes_are_resolved),
        TEST(every_cut_gives_every_whole_entry),
        TEST(both_readers_agree_on_damaged_text),
        TEST(pieces_are_proven_or_refused),
        TEST(the_filter_changes_nothing_but_the_work),
        TEST(deep_nesting_is_read),
        TEST(long_names_are_cut_and_stay_apart),
        TEST(without_memory_it_fails_and_says_so),
    };
    int failed = scratch_make() || unit_main("reader", tests, COUNT(tests));
    return scratch_remove() || failed;
}
