/* test_record.c - which phases are recorded, when they are written, and how. */
#include "capture.h"
#include "recorded.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

static void a_phase_is_the_line_of_the_example(void)
{
    const tlmpi_record_value micro = { "micro_step", TLMPI_RECORD_INT, { .integer = 2 } };
    uint64_t id = 0;

    fresh(3);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_STRING_EQUAL(tlmpi_record_reason(recorder), "");
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "training_step", 7, NULL, &micro, 1, &id), TLMPI_RECORD_OK);
    CU_ASSERT_NOT_EQUAL(id, 0);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OK);
    CU_ASSERT_STRING_EQUAL(
        scratch_content("cuda_events_rank_3.jsonl"),
        "{\"duration_ms\": 1.25, \"micro_step\": 2, \"name\": \"training_step\", \"rank\": 3, \"step\": 7}\n");
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);
}

static void metadata_of_every_type_stands_in_its_order(void)
{
    const tlmpi_record_value metadata[] = {
        { "zeta", TLMPI_RECORD_BOOL, { .integer = 1 } },
        { "a", TLMPI_RECORD_DOUBLE, { .real = 0.1 } },
        { "nobody", TLMPI_RECORD_STRING, { .text = NULL } },
        { "Z", TLMPI_RECORD_BOOL, { .integer = 0 } },
        { "file", TLMPI_RECORD_STRING, { .text = "a \"b\"\n\xc3\xa9 \xf0\x9f\x9a\x80" } },
        { "loss", TLMPI_RECORD_DOUBLE, { .real = (double)NAN } },
        { "low", TLMPI_RECORD_INT, { .integer = INT64_MIN } },
    };
    uint64_t id;

    fresh(0);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", -5, NULL, metadata, COUNT(metadata), &id), TLMPI_RECORD_SKIPPED);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, metadata, COUNT(metadata), &id), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);
    CU_ASSERT_STRING_EQUAL(scratch_content("cuda_events_rank_0.jsonl"),
                           "{\"Z\": false, \"a\": 0.1, \"duration_ms\": 1.25, \"file\": \"a \\\"b\\\"\\n\\u00e9 \\ud83d\\ude80\", "
                           "\"loss\": null, \"low\": -9223372036854775808, \"name\": \"p\", \"nobody\": null, \"rank\": 0, "
                           "\"step\": 0, \"zeta\": true}\n");
}

/* The line of a phase with that JSON; "" where it is refused. */
static const char *line_with(const char *json)
{
    const tlmpi_record_value value = { "v", TLMPI_RECORD_JSON, { .text = json } };
    uint64_t id;
    fresh(0);
    CU_ASSERT_TRUE_FATAL(opened());
    if (tlmpi_record_begin(recorder, "p", 0, NULL, &value, 1, &id) == TLMPI_RECORD_OK)
        CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, NULL), TLMPI_RECORD_OK);
    (void)tlmpi_record_close(recorder, &counts);
    CU_ASSERT_EQUAL(counts.written + counts.failed, 1);
    return scratch_content("cuda_events_rank_0.jsonl");
}

#define WITH(value) "{\"duration_ms\": 1.25, \"name\": \"p\", \"rank\": 0, \"step\": 0, \"v\": " value "}\n"

static void metadata_may_be_any_json(void)
{
    char deep[200];
    CU_ASSERT_STRING_EQUAL(line_with("[1,{\"b\":[ ],\n\"a\" : {}} ,-0.5e+3, true]"),
                           WITH("[1, {\"b\": [], \"a\": {}}, -0.5e+3, true]"));
    CU_ASSERT_STRING_EQUAL(line_with("1180591620717411303424"), WITH("1180591620717411303424"));
    CU_ASSERT_STRING_EQUAL(line_with(" \"\xc3\xa9\\u00e9\\n\x7f\" "), WITH("\"\\u00e9\\u00e9\\n\\u007f\""));
    CU_ASSERT_STRING_EQUAL(line_with("[NaN, Infinity, -Infinity, null]"), WITH("[null, null, null, null]"));
    CU_ASSERT_STRING_EQUAL(line_with(NULL), WITH("null"));
    memset(deep, '[', 64);
    memset(deep + 64, ']', 64);
    deep[128] = '\0';
    CU_ASSERT_PTR_NOT_NULL(strstr(line_with(deep), deep));
}

static void what_is_no_json_is_refused(void)
{
    static const char *const none[] = { "", " ", "[", "]", "[1,]", "[,1]", "[1 2]", "{", "{]", "[}", "{1:2}", "{\"a\"}",
                                        "{\"a\":}", "{\"a\":1,}", "{\"a\" 1}", "01", "-", "1.", ".5", "1e", "+1", "1e+",
                                        "-NaN", "nul", "truest", "1 2", "\"", "\"\\", "\"\\x\"", "\"\\u12g4\"",
                                        "\"\\u123", "\"a\nb\"", "[] []", "\"a\"b" };
    char deep[200];
    capture_begin();
    for (size_t i = 0; i < COUNT(none); i++)
        CU_ASSERT_STRING_EQUAL(line_with(none[i]), "");
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    deep[130] = '\0';
    CU_ASSERT_STRING_EQUAL(line_with(deep), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(capture_end(), "\"p\": a metadata value is no JSON\n"));
}

static void what_cannot_be_is_refused_counted_and_told_once(void)
{
    const tlmpi_record_value ours = { "rank", TLMPI_RECORD_INT, { .integer = 2 } };
    const tlmpi_record_value twice[] = { { "a\xff", TLMPI_RECORD_INT, { .integer = 2 } },
                                         { "a\xfe", TLMPI_RECORD_INT, { .integer = 3 } } };
    const tlmpi_record_value unknown = { "a", 9, { .integer = 2 } }, nameless = { NULL, 0, { .text = "" } };
    const tlmpi_record_value many[TLMPI_RECORD_MAX_METADATA + 1] = { { NULL, 0, { .text = "" } } };
    uint64_t id = 1;

    fresh(0);
    settings.start_step = INT64_MIN;
    CU_ASSERT_TRUE(opened());
    capture_begin();
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, NULL, 0, NULL, NULL, 0, &id), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(id, 0);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, NULL, 0, NULL), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, NULL, 1, &id), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, &ours, 1, &id), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, twice, 2, &id), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, &unknown, 1, &id), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, &nameless, 1, &id), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, many, COUNT(many), &id), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(phase("", 0, NULL), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(phase("p", -1, NULL), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(phase("p", (int64_t)INT32_MAX + 1, NULL), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, 0, NULL), TLMPI_RECORD_SKIPPED);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, 77, NULL), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, UINT64_MAX, NULL), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, NULL, NULL, 0, &id), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, NULL), TLMPI_RECORD_BAD_USE); /* twice */
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, NULL), TLMPI_RECORD_BAD_USE); /* after it was written */
    uint64_t next;
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 1, NULL, NULL, 0, &next), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, NULL), TLMPI_RECORD_BAD_USE); /* its place is another's now */
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, next, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(phase("last", INT32_MAX, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(closed(3), TLMPI_RECORD_OK);
    CU_ASSERT_STRING_EQUAL(capture_end(), "tlmpi_record: rank 0: phases are lost, the program goes on: \"\": it has no name\n");
    CU_ASSERT_EQUAL(counts.failed, 11);

    fresh(-1);
    capture_begin();
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_STRING_EQUAL(capture_end(), "tlmpi_record: rank -1: phases are not recorded: a rank is 0 or more\n");
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
    CU_ASSERT_EQUAL(tlmpi_record_open(NULL, &recorder), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_PTR_NULL(recorder);
}

static void nobody_records_unless_told_to(void)
{
    const int others[] = { 0, 1 };
    fake_counts fake;

    fresh(3);
    tlmpi_record_defaults(&settings);
    settings.directory = scratch_folder;
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_PTR_NOT_NULL_FATAL(recorder);
    CU_ASSERT_STRING_EQUAL(tlmpi_record_reason(recorder), "it is not enabled");
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OFF);
    CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, 0), TLMPI_RECORD_OFF);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OFF);
    CU_ASSERT_EQUAL(tlmpi_record_count(recorder, &counts), TLMPI_RECORD_OFF);
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);

    settings.enable = 1;
    settings.rank = 3;
    settings.ranks = others;
    settings.nranks = 2;
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_STRING_EQUAL(tlmpi_record_reason(recorder), "rank 3 is not of those to record");
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
    settings.nranks = 0;
    CU_ASSERT_FALSE(opened());
    CU_ASSERT_EQUAL(closed(0), TLMPI_RECORD_OFF);
    fake_count(&fake);
    CU_ASSERT_EQUAL(fake.made, 0);
    CU_ASSERT_STRING_EQUAL(scratch_content("cuda_events_rank_3.jsonl"), "(no file)");

    CU_ASSERT_EQUAL(tlmpi_record_open(&settings, NULL), TLMPI_RECORD_BAD_USE);
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OFF); /* without any recorder */
    CU_ASSERT_STRING_EQUAL(tlmpi_record_reason(NULL), "there is no recorder");
    CU_ASSERT_EQUAL(tlmpi_record_close(NULL, NULL), TLMPI_RECORD_OFF);
}

/* The steps below 40 that are in the file, which name is that of the settings. */
static void has_steps(const char *expected)
{
    char found[256] = "";
    for (int64_t step = 0; step < 40; step++)
        (void)phase("p", step, NULL);
    (void)tlmpi_record_close(recorder, NULL);
    for (const char *p = scratch_content("cuda_events_rank_0.jsonl"); (p = strstr(p, "\"step\": ")) != NULL; p++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%d ", atoi(p + 8));
    CU_ASSERT_STRING_EQUAL(found, expected);
}

static void steps_are_those_of_the_settings(void)
{
    const int both[] = { 5, 0 };
    fresh(0);
    tlmpi_record_defaults(&settings);
    settings.enable = 1;
    settings.directory = scratch_folder;
    CU_ASSERT_TRUE(opened());
    has_steps("0 10 20 30 ");

    fresh(0);
    settings.start_step = 2;
    settings.end_step = 6;
    settings.record_every_n_steps = 2;
    settings.ranks = both;
    settings.nranks = 2;
    CU_ASSERT_TRUE(opened());
    has_steps("2 4 6 ");

    fresh(0);
    settings.start_step = INT64_MIN;
    settings.end_step = 1;
    settings.record_every_n_steps = 0; /* as 1 */
    CU_ASSERT_TRUE(opened());
    has_steps("0 1 ");
}

static void a_flush_waits_for_no_device(void)
{
    void *slow = fake_stream(0, 1), *fast = fake_stream(0, 2);
    fake_counts fake;

    fresh(0);
    CU_ASSERT_TRUE(opened());
    fake_hold(slow, 1);
    CU_ASSERT_EQUAL(phase("slow", 0, slow), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(phase("fast", 0, fast), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, 5), TLMPI_RECORD_OK); /* which 10 does not divide */
    CU_ASSERT_EQUAL(nlines(0), 0);
    CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, 10), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(nlines(0), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(scratch_content("cuda_events_rank_0.jsonl"), "\"fast\""));
    CU_ASSERT_EQUAL(tlmpi_record_count(recorder, &counts), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.pending, 1);
    CU_ASSERT_EQUAL(counts.written, 1);

    fake_hold(slow, 0);
    CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, 10), TLMPI_RECORD_OK); /* once for each step */
    CU_ASSERT_EQUAL(nlines(0), 1);
    CU_ASSERT_EQUAL(tlmpi_record_step_end(recorder, 20), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(nlines(0), 2);

    fake_hold(slow, 1);
    CU_ASSERT_EQUAL(phase("last", 21, slow), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OK);
    fake_count(&fake);
    CU_ASSERT_EQUAL(fake.synchronizes, 0);
    CU_ASSERT_EQUAL(closed(3), TLMPI_RECORD_OK); /* which waits */
    fake_count(&fake);
    CU_ASSERT_TRUE(fake.synchronizes > 0);
}

static void a_phase_may_end_on_another_stream(void)
{
    void *first = fake_stream(0, 1), *second = fake_stream(0, 2);
    uint64_t id;

    fresh(0);
    CU_ASSERT_TRUE(opened());
    fake_hold(first, 1);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "p", 0, first, NULL, 0, &id), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, id, second), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OK); /* its end is passed, its begin is not */
    CU_ASSERT_EQUAL(nlines(0), 0);
    fake_hold(first, 0);
    CU_ASSERT_EQUAL(tlmpi_record_flush(recorder), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(nlines(0), 1);
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);
}

static void phases_overlap_and_may_never_end(void)
{
    uint64_t outer, inner, never;
    fresh(0);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "outer", 0, NULL, NULL, 0, &outer), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "inner", 0, NULL, NULL, 0, &inner), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_begin(recorder, "never", 0, NULL, NULL, 0, &never), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, outer, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_end(recorder, inner, NULL), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(tlmpi_record_count(recorder, &counts), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(counts.open, 1);
    capture_begin();
    CU_ASSERT_EQUAL(closed(2), TLMPI_RECORD_OK);
    (void)capture_end();
    CU_ASSERT_EQUAL(counts.failed, 1);
}

static void a_child_records_nothing(void)
{
    fresh(0);
    CU_ASSERT_TRUE(opened());
    CU_ASSERT_EQUAL(phase("p", 0, NULL), TLMPI_RECORD_OK);
    pid_t child = fork();
    if (child == 0) {
        bool good = phase("p", 1, NULL) == TLMPI_RECORD_OFF && tlmpi_record_flush(recorder) == TLMPI_RECORD_OFF &&
                    strcmp(tlmpi_record_reason(recorder), "another process opened it") == 0 &&
                    tlmpi_record_close(recorder, NULL) == TLMPI_RECORD_OFF;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(nlines(0), 0);
    CU_ASSERT_EQUAL(closed(1), TLMPI_RECORD_OK);
    CU_ASSERT_EQUAL(nlines(0), 1);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_phase_is_the_line_of_the_example),   TEST(metadata_of_every_type_stands_in_its_order),
        TEST(metadata_may_be_any_json),             TEST(what_is_no_json_is_refused),
        TEST(what_cannot_be_is_refused_counted_and_told_once), TEST(nobody_records_unless_told_to),
        TEST(steps_are_those_of_the_settings),      TEST(a_flush_waits_for_no_device),
        TEST(a_phase_may_end_on_another_stream),    TEST(phases_overlap_and_may_never_end),
        TEST(a_child_records_nothing),
    };
    return recorded_main("record", tests, COUNT(tests));
}
