/* test_phases.c - JSON lines of phases: what a line says, and what is made of lines that say nothing. */
#include "scratch.h"
#include "tlmpi/trace/read/phases.h"
#include "tlmpi/trace/read/reader.h"
#include "unit.h"

static tl_side_file row;

/* Returns the byte that the row's error names; -1: none. */
static int64_t first_bad_byte(void)
{
    long long byte = -1;
    (void)sscanf(row.error, "byte %lld of the text", &byte);
    return byte;
}
static tl_phase_record seen[64];
static char names[64][64];
static size_t nseen;

static void keep(void *arg, const tl_phase_record *record)
{
    (void)arg;
    if (nseen < 64) {
        snprintf(names[nseen], sizeof names[nseen], "%.*s", (int)record->name.n, record->name.p);
        seen[nseen++] = *record;
    }
}

static void read_text(const char *text, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/cuda_events_rank_3.jsonl", scratch_folder);
    FILE *f = fopen(path, "wb");
    CU_ASSERT_FATAL(f != NULL && fwrite(text, 1, n, f) == n && fclose(f) == 0);
    nseen = 0;
    row = (tl_side_file){ 0 };
    tl_phases_read(path, 9, keep, NULL, &row);
}

static void read_lines(const char *text)
{
    read_text(text, strlen(text));
}

static void a_record_is_read_exactly(void)
{
    read_lines("{\"duration_ms\": 1.2518399953842163, \"micro_step\": 0, \"name\": \"training_step\", \"rank\": 3, \"step\": 7}\n"
               "{\"step\":8,\"rank\":3,\"name\":\"h\\u00e9\",\"duration_ms\":0.1}\n");
    CU_ASSERT_EQUAL_FATAL(nseen, 2);
    CU_ASSERT_EQUAL(seen[0].duration_ns, 1251840);
    CU_ASSERT_EQUAL(seen[0].step, 7);
    CU_ASSERT_EQUAL(seen[0].rank, 3);
    CU_ASSERT_STRING_EQUAL(names[0], "training_step");
    CU_ASSERT_NOT_EQUAL(seen[0].metadata, 0);
    CU_ASSERT_EQUAL(seen[1].duration_ns, 100000);
    CU_ASSERT_EQUAL(seen[1].metadata, 0);
    CU_ASSERT_STRING_EQUAL(names[1], "h\xc3\xa9");
    CU_ASSERT(row.entries == 2 && row.lost == 0);
    CU_ASSERT_EQUAL(first_bad_byte(), -1);
}

static void metadata_has_no_order(void)
{
    read_lines("{\"name\":\"a\",\"step\":1,\"duration_ms\":1,\"b\":[1,{\"c\":2}],\"d\":\"x\"}\n"
               "{\"d\":\"x\",\"name\":\"a\",\"b\":[1,{\"c\":2}],\"step\":1,\"duration_ms\":2}\n"
               "{\"d\":\"x\",\"name\":\"a\",\"b\":[1,{\"c\":3}],\"step\":1,\"duration_ms\":2}\n"
               "{\"d\":\"x\",\"name\":\"a\",\"b\":null,\"step\":1,\"duration_ms\":NaN,\"duration_ms\":2}\n");
    CU_ASSERT_EQUAL_FATAL(nseen, 4);
    CU_ASSERT_EQUAL(seen[0].metadata, seen[1].metadata);
    CU_ASSERT_NOT_EQUAL(seen[0].line, seen[1].line);
    CU_ASSERT_NOT_EQUAL(seen[1].metadata, seen[2].metadata);
    CU_ASSERT_NOT_EQUAL(seen[2].metadata, seen[3].metadata);
    CU_ASSERT_EQUAL(seen[3].rank, 9);
}

static void metadata_may_overwrite_keys(void)
{
    read_lines("{\"duration_ms\": 1, \"name\": \"a\", \"rank\": 0, \"step\": 1, \"rank\": \"5\", \"name\": \"b\"}\n"
               "{\"duration_ms\": 1, \"name\": \"a\", \"rank\": 0, \"step\": 1, \"step\": {\"x\": 1}}\n");
    CU_ASSERT_EQUAL_FATAL(nseen, 1);
    CU_ASSERT_EQUAL(seen[0].rank, 5);
    CU_ASSERT_STRING_EQUAL(names[0], "b");
    CU_ASSERT_EQUAL(row.lost, 1);
}

static void each_bad_line_costs_itself(void)
{
    static const char good[] = "{\"duration_ms\": 1, \"name\": \"a\", \"rank\": 0, \"step\": 1}\n";
    static const struct {
        const char *line;
        int json, key, duration;
    } bad[] = {
        { "{\"duration_ms\": 1, \"name\": \"a\"", 1, 0, 0 },
        { "[1]", 1, 0, 0 },
        { "7", 1, 0, 0 },
        { "\"x\"", 1, 0, 0 },
        { "{}{}", 1, 0, 0 },
        { "}", 1, 0, 0 },
        { "\xff\xfe", 1, 0, 0 },
        { "{}", 0, 1, 0 },
        { "{\"duration_ms\": 1, \"name\": \"\", \"step\": 1}", 0, 1, 0 },
        { "{\"duration_ms\": 1, \"name\": 4, \"step\": 1}", 0, 1, 0 },
        { "{\"duration_ms\": 1, \"name\": \"a\", \"step\": -1}", 0, 1, 0 },
        { "{\"duration_ms\": 1, \"name\": \"a\", \"step\": 1.5}", 0, 1, 0 },
        { "{\"duration_ms\": 1, \"name\": \"a\", \"step\": 99999999999}", 0, 1, 0 },
        { "{\"duration_ms\": 1, \"name\": \"a\", \"step\": 1, \"rank\": -2}", 0, 1, 0 },
        { "{\"name\": \"a\", \"step\": 1}", 0, 0, 1 },
        { "{\"duration_ms\": -0.5, \"name\": \"a\", \"step\": 1}", 0, 0, 1 },
        { "{\"duration_ms\": NaN, \"name\": \"a\", \"step\": 1}", 0, 0, 1 },
        { "{\"duration_ms\": -Infinity, \"name\": \"a\", \"step\": 1}", 0, 0, 1 },
        { "{\"duration_ms\": 1e300, \"name\": \"a\", \"step\": 1}", 0, 0, 1 },
        { "{\"duration_ms\": [1], \"name\": \"a\", \"step\": 1}", 0, 0, 1 },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s\n\r\n  \n%s", good, bad[i].line, good);
        read_lines(text);
        CU_ASSERT_EQUAL(nseen, 2);
        CU_ASSERT(row.entries == 2 && row.lost == 1);
        CU_ASSERT_EQUAL(first_bad_byte(), (int64_t)sizeof good - 1);
        CU_ASSERT_EQUAL(strstr(row.error, "a JSON object") != NULL, bad[i].json);
        CU_ASSERT_EQUAL(strstr(row.error, "a duration_ms") != NULL, bad[i].duration);
        CU_ASSERT_NOT_EQUAL(row.status, TL_SIDE_CUT);
        CU_ASSERT_EQUAL(seen[0].line, seen[1].line);
    }
}

static void a_byte_order_mark_costs_no_line(void)
{
    read_lines("\xef\xbb\xbf{\"duration_ms\": 1, \"name\": \"a\", \"rank\": 0, \"step\": 1}\nx\n"
               "\xef\xbb\xbf{\"duration_ms\": 1, \"name\": \"a\", \"rank\": 0, \"step\": 2}\n");
    CU_ASSERT_EQUAL_FATAL(nseen, 1);
    CU_ASSERT_EQUAL(seen[0].step, 1);
    CU_ASSERT_EQUAL(row.lost, 2);
    CU_ASSERT_EQUAL(first_bad_byte(), 57);
    read_lines("\xef\xbb\xbf");
    CU_ASSERT_EQUAL(row.status, TL_SIDE_EMPTY);
    CU_ASSERT_EQUAL(first_bad_byte(), -1);
}

static void a_cut_last_line_is_told_apart(void)
{
    static const char text[] = "{\"duration_ms\": 1, \"name\": \"a\", \"rank\": 0, \"step\": 1}";
    read_text(text, sizeof text - 1);
    CU_ASSERT_EQUAL(nseen, 1);
    CU_ASSERT_NOT_EQUAL(row.status, TL_SIDE_CUT);
    for (size_t n = 1; n < sizeof text - 1; n++) {
        read_text(text, n);
        CU_ASSERT_EQUAL(nseen, 0);
        CU_ASSERT_EQUAL(row.status, TL_SIDE_CUT);
        CU_ASSERT_EQUAL(first_bad_byte(), 0);
    }
}

static void a_line_without_end_is_not_held(void)
{
    size_t n = (size_t)5 << 20;
    char *text = tl_malloc(n);
    static const char tail[] = "\n{\"duration_ms\": 1, \"name\": \"a\", \"rank\": 0, \"step\": 1}\n";
    memset(text, '[', n);
    memcpy(text + n - sizeof tail + 1, tail, sizeof tail - 1);
    read_text(text, n);
    CU_ASSERT_EQUAL(nseen, 1);
    CU_ASSERT(row.entries == 1 && row.lost == 1);
    free(text);
}

static void random_damage_loses_no_other_line(void)
{
    static const char line[] = "{\"duration_ms\": 1.5, \"name\": \"abc\", \"rank\": 0, \"step\": 1}\n";
    uint64_t state = 7;
    for (int round = 0; round < 3000; round++) {
        char text[3 * sizeof line];
        size_t n = sizeof line - 1;
        for (int i = 0; i < 3; i++)
            memcpy(text + (size_t)i * n, line, n);
        for (unsigned k = unit_below(&state, 4); k > 0; k--) { /* not its end of line, which would join two */
            char c = (char)unit_below(&state, 256);
            text[n + unit_below(&state, (unsigned)n - 1)] = c == '\n' ? ' ' : c;
        }
        read_text(text, 3 * n);
        CU_ASSERT(nseen >= 2 && nseen <= 3);
        CU_ASSERT_EQUAL(row.entries + row.lost, 3);
    }
}

static void a_name_or_a_key_tells_the_format(void)
{
    static const struct {
        const char *name, *text;
        tl_input_kind kind;
    } files[] = {
        { "cuda_events_rank_0.jsonl", "", TL_INPUT_PHASES },
        { "cuda_events_rank_0.jsonl", "\xff\xff", TL_INPUT_PHASES },
        { "phases.JSONL", "{\"step\": 1, \"duration_ms\": 2}\n", TL_INPUT_PHASES },
        { "losses.jsonl", "{\"step\": 1, \"loss\": 2}\n", TL_INPUT_OTHER },
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        char path[128];
        tl_look out;
        snprintf(path, sizeof path, "%s/%s", scratch_folder, files[i].name);
        FILE *f = fopen(path, "wb");
        CU_ASSERT_FATAL(f != NULL && fputs(files[i].text, f) >= 0 && fclose(f) == 0);
        CU_ASSERT_STRING_EQUAL_FATAL(tl_reader_among(tl_readers, path)->name, "jsonl");
        tl_look_at(path, false, strstr(files[i].name, "rank") != NULL, &out);
        CU_ASSERT_EQUAL(out.kind, files[i].kind);
    }
}

static const unit_test tests[] = {
    TEST(a_record_is_read_exactly),        TEST(metadata_has_no_order),
    TEST(metadata_may_overwrite_keys),     TEST(each_bad_line_costs_itself),
    TEST(a_cut_last_line_is_told_apart),   TEST(a_line_without_end_is_not_held),
    TEST(random_damage_loses_no_other_line),
    TEST(a_name_or_a_key_tells_the_format), TEST(a_byte_order_mark_costs_no_line),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int failed = unit_main("phases", tests, COUNT(tests));
    scratch_remove_tree(scratch_folder);
    return failed;
}
