/* test_trace_out.c - events into a trace: what is written, and where it is shown. */
#include "tlmpi/model/kind.h"
#include "tlmpi/trace_out/idle.h"
#include "tlmpi/trace_out/process.h"
#include "trace_text.h"

/* What a few puts write, in memory of its own. */
static char *written(void (*put)(tl_out_writer *))
{
    const char *path = scratch_path("written");
    int fd;
    size_t n;
    tl_out_writer w = { .sink = sink_to(path, false, &fd) };
    put(&w);
    CU_ASSERT_EQUAL(tl_sink_end(w.sink, NULL), TL_OK);
    tl_sink_close(w.sink);
    close(fd);
    return read_file(path, &n);
}

/* ---------------------------------------------------------------------------------------------------------- events */

static void put_each_kind(tl_out_writer *w)
{
    const tl_out_arg args[] = { { "int", tl_out_int(INT64_MIN) },
                                { "absent", { .kind = TL_OUT_ABSENT } },
                                { "us", tl_out_us(-1) },
                                { "least", tl_out_us(INT64_MIN) },
                                { "double", tl_out_double(37.727783203125) },
                                { "tenth", tl_out_double(0.1) },
                                { "whole", tl_out_double(32) },
                                { "large", tl_out_double(1e300) },
                                { "nan", tl_out_double(0.0 / 0.0) },
                                { "text", tl_out_text(TL_TEXT("a")) } };
    tl_out_put(w, &(tl_out_event){ .ph = 'X',
                                   .track = { .pid = 1, .tid = 9000 },
                                   .name = TL_TEXT("n"),
                                   .cat = "c",
                                   .ts = tl_out_us(INT64_C(1419247333433985)),
                                   .dur = tl_out_us(1000),
                                   .args = args + 1,
                                   .nargs = 9 });
    tl_out_put(w, &(tl_out_event){ .ph = 'C',
                                   .track = { .pid_text = TL_TEXT("GPU 0"), .tid = 2 },
                                   .name = TL_TEXT(""),
                                   .args = args,
                                   .nargs = 1 });
}

static void values_are_exact(void)
{
    char *text = written(put_each_kind);
    CU_ASSERT_STRING_EQUAL(text, "\n{\"ph\": \"X\", \"cat\": \"c\", \"name\": \"n\", \"pid\": 1, \"tid\": 9000, "
                                 "\"ts\": 1419247333433.985, \"dur\": 1.000, \"args\": {\"us\": -0.001, "
                                 "\"least\": -9223372036854775.808, \"double\": 37.727783203125, \"tenth\": 0.1, "
                                 "\"whole\": 32.0, \"large\": 1e+300, \"nan\": null, \"text\": \"a\"}},\n"
                                 "{\"ph\": \"C\", \"name\": \"\", \"pid\": \"GPU 0\", \"tid\": 2, "
                                 "\"args\": {\"int\": -9223372036854775808}}");
    free(text);
}

static void put_odd_names(tl_out_writer *w)
{
    static const char odd[] = "q\" b\\ n\n z\0 d\x7f \xC3\xA9 \xC3 \xFF\xFE\xE2\x82 \xED\xA0\x80 \xF0\x9F\x92\xA9";
    tl_out_put(w, &(tl_out_event){ .ph = 'M', .name = { odd, sizeof odd - 1 } });
}

static void any_bytes_become_json(void)
{
    static const char bad[] = "\xEF\xBF\xBD";
    char expected[256];
    char *text = written(put_odd_names);
    snprintf(expected, sizeof expected,
             "\n{\"ph\": \"M\", \"name\": \"q\\\" b\\\\ n\\u000a z\\u0000 d\\u007f \xC3\xA9 %s %s%s%s%s %s%s%s "
             "\xF0\x9F\x92\xA9\", \"pid\": 0, \"tid\": 0, \"args\": {}}",
             bad, bad, bad, bad, bad, bad, bad, bad);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
}

static uint64_t chance = 1;

static void put_random_name(tl_out_writer *w)
{
    static char name[2000];
    size_t n = unit_below(&chance, sizeof name);
    for (size_t i = 0; i < n; i++) /* mostly bytes of UTF-8 characters */
        name[i] = (char)(unit_below(&chance, 4) == 0 ? unit_below(&chance, 256) : 0x80 + unit_below(&chance, 0x7f));
    tl_out_put(w, &(tl_out_event){ .ph = 'M', .name = { name, n } });
}

static void random_bytes_become_json(void)
{
    for (int i = 0; i < 300; i++) {
        char *text = written(put_random_name);
        CU_ASSERT_TRUE(is_json(text, strlen(text)));
        free(text);
    }
}

static void put_idle(tl_out_writer *w)
{
    const tl_out_track first = { .pid = 3, .tid = 9010 };
    tl_out_gap gap = {
        .ts = tl_out_us(5000), .dur = tl_out_us(1500), .duration = tl_out_us(1500), .id = -1, .noise = true
    };
    tl_out_idle_begin(w, &first, " (device 1)");
    tl_out_idle_gap(w, &first, &gap);
    gap = (tl_out_gap){ .ts = tl_out_us(7000),
                        .dur = tl_out_us(9500),
                        .duration = tl_out_text(TL_TEXT("9.50")),
                        .id = 0,
                        .drain = TL_TEXT("starved"),
                        .sync = TL_TEXT("EVENT_SYNC"),
                        .label = TL_TEXT("CPU_UNTRACED") };
    tl_out_idle_gap(w, &first, &gap);
    gap.id = 1;
    gap.drain = TL_TEXT("sync_drain");
    gap.detail = TL_TEXT("nobody");
    tl_out_idle_gap(w, &first, &gap);
    gap.sync = (tl_text){ NULL, 0 };
    tl_out_idle_gap(w, &first, &gap);
    CU_ASSERT_EQUAL(w->nevents, 6 + 1 + 3 + 3 + 3);
}

/* Line i of the text, from 1: line 0 is empty. */
static bool line_is(const char *text, int i, const char *wanted)
{
    for (; i > 0 && text != NULL; i--)
        text = strchr(text, '\n') != NULL ? strchr(text, '\n') + 1 : NULL;
    size_t n = strlen(wanted);
    bool is = text != NULL && strncmp(text, wanted, n) == 0 && (text[n] == '\n' || text[n] == ',' || text[n] == 0);
    if (!is)
        printf("\nfound  %.300s\nwanted %s\n", text != NULL ? text : "nothing", wanted);
    return is;
}

static void idle_time_is_three_tracks(void)
{
    char *t = written(put_idle);
#define AT(tid) "\"pid\": 3, \"tid\": " tid
#define NOISE   "\"ts\": 5.000, \"dur\": 1.500"
#define MACRO   "\"ts\": 7.000, \"dur\": 9.500"
#define CAT     "{\"ph\": \"X\", \"cat\": \"idle_classification\", \"name\": "
    CU_ASSERT(line_is(t, 1,
                      "{\"ph\": \"M\", \"name\": \"thread_name\", " AT(
                          "9010") ", \"args\": {\"name\": \"Idle: Noise/Macro (device 1)\"}}"));
    CU_ASSERT(line_is(
        t, 2, "{\"ph\": \"M\", \"name\": \"thread_sort_index\", " AT("9010") ", \"args\": {\"sort_index\": 9010}}"));
    CU_ASSERT(line_is(t, 3,
                      "{\"ph\": \"M\", \"name\": \"thread_name\", " AT(
                          "9011") ", \"args\": {\"name\": \"Idle: Drain Type (device 1)\"}}"));
    CU_ASSERT(line_is(
        t, 6, "{\"ph\": \"M\", \"name\": \"thread_sort_index\", " AT("9012") ", \"args\": {\"sort_index\": 9012}}"));
    CU_ASSERT(line_is(
        t, 7, CAT "\"noise\", " AT("9010") ", " NOISE ", \"args\": {\"idle_id\": -1, \"duration_us\": 1.500}}"));
    CU_ASSERT(line_is(
        t, 8, CAT "\"idle#0\", " AT("9010") ", " MACRO ", \"args\": {\"idle_id\": 0, \"duration_us\": \"9.50\"}}"));
    CU_ASSERT(line_is(
        t, 9,
        CAT "\"idle#0 starved\", " AT(
            "9011") ", " MACRO
                    ", \"args\": {\"idle_id\": 0, \"drain_type\": \"starved\", \"sync_type\": \"EVENT_SYNC\"}}"));
    CU_ASSERT(
        line_is(t, 10,
                CAT "\"idle#0 CPU_UNTRACED\", " AT(
                    "9012") ", " MACRO
                            ", \"args\": {\"idle_id\": 0, \"cpu_during_gap\": \"CPU_UNTRACED\", \"detail\": \"\"}}"));
    CU_ASSERT(line_is(
        t, 12,
        CAT "\"idle#1 sync_drain: EVENT_SYNC\", " AT(
            "9011") ", " MACRO
                    ", \"args\": {\"idle_id\": 1, \"drain_type\": \"sync_drain\", \"sync_type\": \"EVENT_SYNC\"}}"));
    CU_ASSERT(line_is(
        t, 13,
        CAT "\"idle#1 CPU_UNTRACED: nobody\", " AT(
            "9012") ", " MACRO
                    ", \"args\": {\"idle_id\": 1, \"cpu_during_gap\": \"CPU_UNTRACED\", \"detail\": \"nobody\"}}"));
    CU_ASSERT(
        line_is(t, 15,
                CAT "\"idle#1 sync_drain\", " AT(
                    "9011") ", " MACRO
                            ", \"args\": {\"idle_id\": 1, \"drain_type\": \"sync_drain\", \"sync_type\": \"none\"}}"));
    free(t);
}

/* ------------------------------------------------------------------------------------------------------- processes */

static void work(char *text, size_t *n, const char *pid, int tid, int device)
{
    *n += (size_t)sprintf(text + *n,
                          "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": %s, \"tid\": %d, "
                          "\"ts\": 1, \"dur\": 2, \"args\": {\"device\": %d}}",
                          *n > 17 ? ",\n" : "", pid, tid, device);
}

static bool is_event(const void *arg, uint32_t event)
{
    return *(const uint32_t *)arg == event;
}

/* Tracks go to the process with most of a device's work, and to tids that it does not use. */
static void a_device_is_shown_in_its_process(void)
{
    char text[4096];
    size_t n = (size_t)sprintf(text, "{\"traceEvents\": [");
    tl_out_search search = { .apart = true, .first_tid = 9000, .ntids = 10 };
    tl_out_processes p = { 0 };
    tl_trace trace;

    work(text, &n, "7", 1, 0);
    work(text, &n, "0", 1, 0);
    work(text, &n, "0", 1, 0);
    work(text, &n, "2", 9005, 1); /* in the first ten tids */
    work(text, &n, "3", 1, 1);    /* as much work, but later */
    work(text, &n, "2", 9010, 4);
    work(text, &n, "\"GPU 5\"", 9000, 5);
    work(text, &n, "\"GPU\"", 1, -7); /* no device: shown with the first */
    n += (size_t)sprintf(text + n, "]}");
    CU_ASSERT_EQUAL_FATAL(read_trace(scratch_write("devices.json", text, n), &trace), TL_OK);
    tl_out_processes_find(&trace.events, &search, &p);
    CU_ASSERT_EQUAL_FATAL(p.n, 4);

    static const struct {
        int32_t device;
        int64_t pid, tid;
        bool shared;
    } expected[] = { { 0, 0, 9000, false }, { 1, 2, 9020, true }, { 4, 2, 9030, true }, { 5, 0, 9010, false } };
    for (size_t i = 0; i < p.n; i++) {
        CU_ASSERT_EQUAL(p.v[i].device, expected[i].device);
        CU_ASSERT_EQUAL(p.v[i].pid, expected[i].pid);
        CU_ASSERT_EQUAL(p.v[i].tid, expected[i].tid);
        CU_ASSERT_EQUAL(p.v[i].shared, expected[i].shared);
        CU_ASSERT_EQUAL(p.v[i].pid_text == TL_NO_NAME, i < 3);
    }
    tl_out_track track = tl_out_process_track(&p.v[3], &trace.events.names);
    CU_ASSERT(tl_text_is(track.pid_text, "GPU 5") && track.tid == 9010);
    CU_ASSERT_PTR_NULL(tl_out_process_track(&p.v[0], &trace.events.names).pid_text.p);
    free(p.v);

    p = (tl_out_processes){ 0 };
    search.apart = false;
    tl_out_processes_find(&trace.events, &search, &p);
    CU_ASSERT_EQUAL_FATAL(p.n, 1);
    CU_ASSERT(p.v[0].device == -1 && p.v[0].pid == 0 && p.v[0].pid_text == TL_NO_NAME && !p.v[0].shared);
    free(p.v);

    static const uint32_t only = 3;
    p = (tl_out_processes){ 0 };
    search.counts = is_event;
    search.arg = &only;
    tl_out_processes_find(&trace.events, &search, &p);
    CU_ASSERT(p.n == 1 && p.v[0].pid == 2);
    free(p.v);
    tl_trace_free(&trace);
}

/* ----------------------------------------------------------------------------------------------------------- words */

static tl_text name_of(void *names, uint32_t id)
{
    return tl_names_text(names, id);
}

static void words_say_what_the_label_does_not(void)
{
    tl_names names = { 0 };
    uint32_t add = tl_names_intern(&names, "aten::add", 9), mul = tl_names_intern(&names, "aten::mul", 9),
             call = tl_names_intern(&names, "cudaMalloc", 10);
    const struct {
        tl_gap gap;
        const char *words;
    } cases[] = {
        { { .cpu_during_gap = TL_DOING_CPU,
            .duration_ns = 1000,
            .dominant_op = add,
            .dominant_op_ns = 604,
            .second_op = mul,
            .second_op_ns = 95,
            .third_op = TL_NO_NAME },
          "aten::add: 60%, aten::mul: 10%" },
        { { .cpu_during_gap = TL_DOING_RUNTIME, .call_class = TL_CALL_ALLOC, .call = call },
          "MEMORY_ALLOC: cudaMalloc" },
        { { .cpu_during_gap = TL_DOING_UNRECORDED }, "work was launched that the trace lacks" },
        { { .cpu_during_gap = TL_DOING_LAUNCH_OVERHEAD, .duration_ns = 12050, .launch_to_exec_ns = 14000 },
          "app_overhead=-2.0\xC2\xB5s, launch_to_exec=14.0\xC2\xB5s" },
        { { .cpu_during_gap = TL_DOING_NOISE }, "" },
    };
    tl_bytes words = { 0 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        words.n = 0;
        tl_out_gap_words(&words, &cases[i].gap, name_of, &names);
        CU_ASSERT_TRUE(tl_text_is((tl_text){ words.v, words.n }, cases[i].words));
    }
    free(words.v);
    tl_names_free(&names);
}

static void put_waits(tl_out_writer *w)
{
    const tl_out_track first = { .pid = 3, .tid = 9000 };
    tl_out_waits tracks = { .first = &first, .of = " (device 1)" };
    CU_ASSERT_EQUAL(tl_out_wait_put(w, &tracks, &(tl_out_wait){ 1000, 5000, 2, 7, TL_ALL_REDUCE }), 9003);
    CU_ASSERT_EQUAL(tl_out_wait_put(w, &tracks, &(tl_out_wait){ 4000, 4000, -1, -1, 0 }), 9004);
    CU_ASSERT_EQUAL(tl_out_wait_put(w, &tracks, &(tl_out_wait){ 6000, 1000, 2, 8, TL_ALL_REDUCE }), 9003);
    CU_ASSERT_EQUAL(w->nevents, 2 + 1 + 2 + 1 + 1);
    for (int i = 2; i < TL_OUT_WAIT_TRACKS; i++)
        CU_ASSERT_EQUAL(tl_out_wait_put(w, &tracks, &(tl_out_wait){ 6500, 1000, 2, 8, TL_ALL_REDUCE }), 9003 + i);
    CU_ASSERT_EQUAL(tl_out_wait_put(w, &tracks, &(tl_out_wait){ 6500, 1000, 2, 8, TL_ALL_REDUCE }), -1);
}

/* Perfetto drops an event that begins within another one of its track. */
static void waits_that_overlap_stand_on_tracks_of_their_own(void)
{
    char *t = written(put_waits);
    CU_ASSERT(line_is(t, 1,
                      "{\"ph\": \"M\", \"name\": \"thread_name\", " AT(
                          "9003") ", \"args\": {\"name\": \"Waiting for Ranks (device 1)\"}}"));
    CU_ASSERT(line_is(t, 3,
                      CAT "\"waits for rank 2: all_reduce\", " AT(
                          "9003") ", \"ts\": 1.000, \"dur\": 5.000, \"args\": {\"late_rank\": 2, \"collective\": 7}}"));
    CU_ASSERT(line_is(t, 4,
                      "{\"ph\": \"M\", \"name\": \"thread_name\", " AT(
                          "9004") ", \"args\": {\"name\": \"Waiting for Ranks 2 (device 1)\"}}"));
    CU_ASSERT(line_is(t, 6, CAT "\"waits for other ranks\", " AT("9004") ", \"ts\": 4.000, \"dur\": 4.000"
                            ", \"args\": {\"late_rank\": -1, \"collective\": -1}}"));
    free(t);
}

static const unit_test tests[] = {
    TEST(waits_that_overlap_stand_on_tracks_of_their_own),
    TEST(values_are_exact),
    TEST(any_bytes_become_json),
    TEST(random_bytes_become_json),
    TEST(idle_time_is_three_tracks),
    TEST(a_device_is_shown_in_its_process),
    TEST(words_say_what_the_label_does_not),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int failed = unit_main("trace_out", tests, COUNT(tests));
    scratch_remove();
    return failed;
}
