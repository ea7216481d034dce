/* test_split.c - entries found in text, whatever the size of the blocks it comes in. */
#include "tlmpi/trace/text/split.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

typedef struct found {
    char entries[4096];         /* the entries, each with a newline after it */
    char doc[4096];
    int nbad, nodd, nentries;
    bool complete, cut;
} found;

/* Whether an entry looks whole: as many opening as closing braces outside of strings, and no raw newline in a
 * string. */
static bool plausible(tl_text t)
{
    bool in_string = false;
    for (size_t i = 0; i < t.n; i++) {
        if (t.p[i] == '\\')
            i++;
        else if (t.p[i] == '"')
            in_string = !in_string;
        else if (in_string && t.p[i] == '\n')
            return false;
        else if (!in_string && t.p[i] == '@')
            return false;
    }
    return true;
}

/* Feeds the text in blocks of `block` bytes. */
static found feed(const char *text, size_t n, size_t block)
{
    found f = { .nbad = 0 };
    tl_split s;
    tl_split_item item;
    size_t at = 0, cap;
    bool go_on = true;

    tl_split_init(&s);
    while (go_on) {
        switch (tl_split_next(&s, &item)) {
        case TL_SPLIT_MORE: {
            char *space = tl_split_space(&s, &cap);
            size_t m = n - at < block ? n - at : block;
            CU_ASSERT_FATAL(cap >= 1);
            m = m < cap ? m : cap;
            memcpy(space, text + at, m);
            tl_split_fill(&s, m);
            at += m;
            if (m == 0)
                tl_split_eof(&s);
            break;
        }
        case TL_SPLIT_ENTRY:
            if (!plausible(item.text)) {
                f.nbad++;
                tl_split_resync(&s);
                break;
            }
            CU_ASSERT(memcmp(text + item.offset, item.text.p, item.text.n) == 0);
            f.nentries++;
            if (strlen(f.entries) + item.text.n + 2 < sizeof f.entries) {
                strncat(f.entries, item.text.p, item.text.n);
                unit_append(f.entries, sizeof f.entries, "\n");
            }
            break;
        case TL_SPLIT_BAD:
            f.nbad++;
            break;
        case TL_SPLIT_BROKEN:
        case TL_SPLIT_CUT:
            f.nbad++;
            f.cut = true;
            break;
        case TL_SPLIT_TORN:
        case TL_SPLIT_LOOSE:
            f.nodd++;
            break;
        case TL_SPLIT_RESTART:
            f.entries[0] = 0;
            break;
        case TL_SPLIT_END:
            go_on = false;
        }
    }
    f.complete = s.complete;
    if (s.ndoc < sizeof f.doc && s.ndoc > 0)
        memcpy(f.doc, s.doc, s.ndoc);
    tl_split_free(&s);
    return f;
}

static void check(const char *text, const char *entries, const char *doc, int nbad, bool complete)
{
    static const size_t blocks[] = { 1, 2, 3, 7, 63, 64, 65, 1000, 1 << 20 };
    for (size_t b = 0; b < COUNT(blocks); b++) {
        found f = feed(text, strlen(text), blocks[b]);
        CU_ASSERT_STRING_EQUAL(f.entries, entries);
        CU_ASSERT_STRING_EQUAL(f.doc, doc);
        CU_ASSERT_EQUAL(f.nbad, nbad);
        CU_ASSERT_EQUAL(f.complete, complete);
    }
}

static void entries_come_out_whole(void)
{
    check("{\"a\":1,\"traceEvents\": [ {\"ph\":\"X\"},\n {\"args\":{\"b\":{}}} ], \"z\": {\"rank\": 3} }",
          "{\"ph\":\"X\"}\n{\"args\":{\"b\":{}}}\n", "{\"a\":1,\"traceEvents\": [], \"z\": {\"rank\": 3} }", 0, true);
}

static void brackets_in_strings_mean_nothing(void)
{
    check("{\"traceEvents\":[{\"name\":\"a}]{[\\\"}\\\\\"},{\"n\":\"]\"}]}", "{\"name\":\"a}]{[\\\"}\\\\\"}\n{\"n\":\"]\"}\n",
          "{\"traceEvents\":[]}", 0, true);
}

static void only_the_outermost_key_counts(void)
{
    check("{\"x\":{\"traceEvents\":[{\"no\":1}]},\"y\":\"traceEvents\",\"z\":[{\"no\":2}],\"traceEvents\":[{\"yes\":1}]}",
          "{\"yes\":1}\n", "{\"x\":{\"traceEvents\":[]},\"y\":\"traceEvents\",\"z\":[{\"no\":2}],\"traceEvents\":[]}", 0,
          true);
}

static void a_value_between_key_and_array_breaks_the_bond(void)
{
    check("{\"trace\\u0045vents\":[{\"ph\":\"X\"}]}", "{\"ph\":\"X\"}\n", "{\"trace\\u0045vents\":[]}", 0, true);
    check("{\"\\u0074race\\u0045vent\\u0073\":[{\"ph\":\"X\"}]}", "{\"ph\":\"X\"}\n",
          "{\"\\u0074race\\u0045vent\\u0073\":[]}", 0, true);
    check("{\"trace\\\\u0045vents\":[{\"ph\":\"X\"}]}", "", "{\"trace\\\\u0045vents\":[{\"ph\":\"X\"}]}", 0, true);
    check("{\"traceEvents\": 7, \"other\": [{\"no\":1}]}", "", "{\"traceEvents\": 7, \"other\": [{\"no\":1}]}", 0, true);
}

static void a_bare_array_is_a_trace(void)
{
    check("\xEF\xBB\xBF \n[{\"ph\":\"X\"},{\"ph\":\"M\"}]\n", "{\"ph\":\"X\"}\n{\"ph\":\"M\"}\n", "", 0, true);
}

static void objects_behind_the_array_are_no_entries(void)
{
    check("{\"traceEvents\":[{\"ph\":\"X\"}],\"deviceProperties\":[{\"id\":0},{\"id\":1}]}", "{\"ph\":\"X\"}\n",
          "{\"traceEvents\":[],\"deviceProperties\":[{\"id\":0},{\"id\":1}]}", 0, true);
}

static void a_cut_text_gives_what_is_whole(void)
{
    check("{\"traceEvents\":[{\"ph\":\"X\"},{\"ph\":\"X\",\"na", "{\"ph\":\"X\"}\n", "{\"traceEvents\":[", 1, false);
}

static void a_bare_quote_costs_one_entry(void)
{
    check("{\"traceEvents\":[\n{\"ph\":\"a\"},\n{\"ph\":\"X\",\"name\":\"bad \" quote\"},\n{\"ph\":\"b\"},\n{\"ph\":\"c\"}\n],\n"
          "\"traceName\":\"t\"}",
          "{\"ph\":\"a\"}\n{\"ph\":\"b\"}\n{\"ph\":\"c\"}\n", "{\"traceEvents\":[],\n\"traceName\":\"t\"}", 1, true);
}

static void a_bare_quote_in_the_last_entry_still_finds_the_end(void)
{
    found f;
    const char *text = "{\"traceEvents\":[\n{\"ph\":\"a\"},\n{\"ph\":\"X\",\"name\":\"bad \" quote\"}\n],\n\"traceName\":\"t\"}\n";
    for (size_t block = 1; block < 200; block += 13) {
        f = feed(text, strlen(text), block);
        CU_ASSERT_STRING_EQUAL(f.entries, "{\"ph\":\"a\"}\n");
        CU_ASSERT_TRUE(f.complete);
        CU_ASSERT_PTR_NOT_NULL(strstr(f.doc, "traceName"));
    }
}

static void what_is_no_entry_is_passed_over(void)
{
    check("{\"traceEvents\":[{\"ph\":\"a\"}, 7, \"x\", null, {\"ph\":\"b\"}]}", "{\"ph\":\"a\"}\n{\"ph\":\"b\"}\n",
          "{\"traceEvents\":[]}", 3, true);
    check("{\"traceEvents\":[{\"ph\":\"a\"}, null, 7, {\"ph\":\"b\"}, true]}", "{\"ph\":\"a\"}\n{\"ph\":\"b\"}\n",
          "{\"traceEvents\":[]}", 3, true);
}

static void a_stray_bracket_does_not_end_the_array(void)
{
    check("{\"traceEvents\":[{\"ph\":\"a\"}],{\"ph\":\"b\"}, ] {\"ph\":\"c\"}],\"traceName\":\"t\"}",
          "{\"ph\":\"a\"}\n{\"ph\":\"b\"}\n{\"ph\":\"c\"}\n", "{\"traceEvents\":[],\"traceName\":\"t\"}", 2, true);
    check("[{\"ph\":\"a\"},],{\"ph\":\"b\"}]\n", "{\"ph\":\"a\"}\n{\"ph\":\"b\"}\n", "", 1, true);
}

static void commas_too_many_do_no_harm(void)
{
    check("{\"traceEvents\":[{\"ph\":\"a\"},,{\"ph\":\"b\"},]}", "{\"ph\":\"a\"}\n{\"ph\":\"b\"}\n", "{\"traceEvents\":[]}", 0, true);
}

/* Random entries with escapes and brackets in strings: every block size gives the same items. */
static void block_sizes_do_not_matter(void)
{
    static const char *const bits[] = { "\\\"", "\\\\", "{", "}", "[", "]", "a", ",", ":", " ", "\\u00e9", "\xC3\xA9" };
    uint64_t seed = 11;
    for (int round = 0; round < 200; round++) {
        char text[8192] = "{\"traceEvents\":[", want[8192] = "";
        unsigned n = unit_below(&seed, 12);
        for (unsigned e = 0; e < n; e++) {
            char entry[512] = "{\"ph\":\"";
            for (unsigned k = unit_below(&seed, 40); k > 0; k--)
                unit_append(entry, sizeof entry, bits[unit_below(&seed, COUNT(bits))]);
            unit_append(entry, sizeof entry, unit_below(&seed, 2) ? "\",\"args\":{\"b\":[{}]}}" : "\"}");
            unit_append(text, sizeof text, e > 0 ? "," : "");
            unit_append(text, sizeof text, entry);
            unit_append(want, sizeof want, entry);
            unit_append(want, sizeof want, "\n");
        }
        unit_append(text, sizeof text, "]}");
        if (strlen(want) >= 4000)
            continue;
        check(text, want, "{\"traceEvents\":[]}", 0, true);
    }
}

/* An entry without end is given up, and what follows is found. */
static void an_endless_entry_is_given_up(void)
{
    size_t n = TL_ENTRY_MAX + (1 << 20);
    char *text = tl_malloc(n + 100);
    static const char head[] = "[{\"name\":\"", tail[] = "\"},\n{\"ph\":\"b\"}]";
    memset(text, 'x', n);
    memcpy(text, head, sizeof head - 1);
    memcpy(text + n, tail, sizeof tail);
    found f = feed(text, n + sizeof tail - 1, 100000);
    CU_ASSERT_STRING_EQUAL(f.entries, "{\"ph\":\"b\"}\n");
    CU_ASSERT_TRUE(f.cut);
    free(text);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(entries_come_out_whole),
        TEST(brackets_in_strings_mean_nothing),
        TEST(only_the_outermost_key_counts),
        TEST(a_value_between_key_and_array_breaks_the_bond),
        TEST(a_bare_array_is_a_trace),
        TEST(objects_behind_the_array_are_no_entries),
        TEST(a_cut_text_gives_what_is_whole),
        TEST(a_bare_quote_costs_one_entry),
        TEST(a_bare_quote_in_the_last_entry_still_finds_the_end),
        TEST(what_is_no_entry_is_passed_over),
        TEST(a_stray_bracket_does_not_end_the_array),
        TEST(commas_too_many_do_no_harm),
        TEST(block_sizes_do_not_matter),
        TEST(an_endless_entry_is_given_up),
    };
    return unit_main("split", tests, COUNT(tests));
}
