/* test_discover.c - which file is the trace of which rank, in which run. */
#include "capture.h"
#include "scratch.h"
#include "tlmpi/trace/find.h"

#include <CUnit/Basic.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define DAY_ONE (INT64_C(1700000000) * SECOND)

static tl_error err;

/* ----------------------------------------------------------------------------------------------------------- names */

static void names_tell_ranks(void)
{
    static const struct {
        const char *path;
        int64_t rank;
    } cases[] = {
        { "rank-0.json.gz", 0 },
        { "/dev/shm/run/rank-3.json", 3 },
        { "/dev/fd/63", -1 },
        { "/dev/rank-3.json", -1 },
        { "/proc/self/fd/7", -1 },
        { "rank0.json", 0 },
        { "rank_17.json", 17 },
        { "rank[3].json", 3 },
        { "rank_[3].json", 3 },
        { "Rank=4.JSON.GZ", 4 },
        { "rank0_trace.json", 0 },
        { "trace_rank_0.json", 0 },
        { "trace-rank-12.json", 12 },
        { "rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", 34 },
        { "sampled_rank-1.json.gz", 1 },
        { "worker0_step_12.1698.pt.trace.json", 0 },
        { "worker3_1698955063520.pt.trace.json", 3 },
        { "megatron_kineto_0.json", 0 },
        { "megatron_kineto_7.json.gz", 7 },
        { "coll_rank3.json", 3 },
        { "graph_capture_rank_0.1773.pt.trace.json.gz", 0 },
        { "graph_capture_rank_5.1773709930853487683.pt.trace.json.gz", 5 },
        { "dlrm_kineto.worker3.json", 3 },
        { "node0_local_rank_1_rank_9.json", 9 },
        { "worker1_rank2.json", 2 },
        { "trace_4.json", 4 },
        { "7.json", 7 },
        { "/a/rank_3/trace.json", 3 },
        { "runs/rank_3/rank_4/more/trace.json", 4 },
        { "rank_3/rank_5.json", 5 },
        { "rank_3/trace_6.json", 3 },
        { "more/trace_6.json", 6 },

        { "ip-172-31-16-248.us-east-2.compute.internal_21147.1698955063520869240.pt.trace.json", -1 },
        { "pytorchjob-worker-3_1234.1698955063520869240.pt.trace.json", -1 },
        { "1782843274.7-TP-0-DECODE.trace.json.gz", -1 },
        { "1782843274.7-TP-0.trace.json.gz", -1 },
        { "xx-TP-0-DP-0-PP-0-EP-0.trace.json.gz", -1 },
        { "libkineto_activities_123.json", -1 },
        { "train.json", -1 },
        { "base.json", -1 },
        { "resnet50.json", -1 },
        { "train_resnet18.json.gz", -1 },
        { "benchmark_result_2869224_1695835535_trace.json", -1 },
        { "Falconsai_nsfw_image_detection__1016002.json.gz", -1 },
        { "mi250_minitoy_train_ROCm6_2_kineto.json.gz", -1 },
        { "step_500.json", -1 },
        { "trace_2024-05-17.json", -1 },
        { "trace_20240517.json", -1 },
        { "lora_rank_16.json", -1 },
        { "tp_rank_1.json", -1 },
        { "local_rank_1.json", -1 },
        { "frank3.json", -1 },
        { "8ranks.json", -1 },
        { "rank_2d.json", -1 },
        { "rank.json", -1 },
        { "rank_99999999999999999999.json", -1 },
        { "worker3/trace.json", -1 },
        { "", -1 },
        { "/", -1 },
        { ".json", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_EQUAL(tl_rank_of_name(cases[i].path), cases[i].rank);
        if (tl_rank_of_name(cases[i].path) != cases[i].rank)
            printf("%s: %lld\n", cases[i].path, (long long)tl_rank_of_name(cases[i].path));
    }
}

/* ------------------------------------------------------------------------------------------------ a look at a file */

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
        CU_ASSERT_EQUAL(t.begin_ns, cases[i].begin_ns >= 0 ? cases[i].begin_ns : t.mtime_ns);
        CU_ASSERT(t.begin_ns > 0);
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
        at += (size_t)sprintf(text + at, "%s{\"ph\": \"X\", \"name\": \"event %zu\", \"ts\": %zu, \"dur\": 1}",
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
        text[n - 1] = ',';              /* the bracket stands behind the decoy */
        snprintf(whole, n + sizeof more, "%s%s", text, more);
        tl_input t = look_at_text("tail.json", whole, true);
        CU_ASSERT_EQUAL(t.kind, TL_INPUT_TRACE);
        CU_ASSERT_EQUAL(t.meta_rank, told ? 4 : -1);
        CU_ASSERT_EQUAL(t.begin_ns, told ? DAY_ONE + 1000 : t.mtime_ns);
        free(whole);
        free(text);
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
        { "a.json", "{\"traceEvents\": []}", TL_INPUT_TRACE, "" },
        { "a.json", "{\"traceEvents\": [", TL_INPUT_TRACE, "" },
        { "a.json", "{\"traceEvents\": [{\"ph\": \"X\", \"na", TL_INPUT_TRACE, "" },
        { "a.json", "{\"traceEvents\": [{\"na\": NaN, \"ts\": 1}, 5, {}]}", TL_INPUT_TRACE, "" },
        { "a.json", "[{\"ph\": \"X\"}]", TL_INPUT_TRACE, "" },
        { "a.json", "[{\"ph\": \"X\", \"na", TL_INPUT_TRACE, "" },
        { "a.json", "[{\"name\": \"x\"}]", TL_INPUT_OTHER, "array" },
        { "a.json", "[{\"name\": \"x\"}, {\"ph\": \"X\"}]", TL_INPUT_OTHER, "array" },
        { "a.json", "[1, 2, {\"ph\": \"X\"}]", TL_INPUT_OTHER, "array" },
        { "a.json", "[]", TL_INPUT_OTHER, "array" },
        { "a.json", "{}", TL_INPUT_OTHER, "traceEvents" },
        { "a.json", "{\"traceEvents\": {}}", TL_INPUT_OTHER, "traceEvents" },
        { "a.json", "{\"x\": {\"traceEvents\": [{\"ph\": \"X\"}]}}", TL_INPUT_OTHER, "traceEvents" },
        { "trace.json", "{\"segments\": [1, 2, 3]}", TL_INPUT_OTHER, "traceEvents" },
        { "trace.json", "{\"schema\": \"1.0.1\", \"pid\": 1, \"nodes\": [{}]}", TL_INPUT_OTHER, "execution trace" },
        { "trace.json", "{\"schema\": \"1.0.1\", \"nodes\": [{", TL_INPUT_OTHER, "execution trace" },
        { "a.json", "{\"x\": [1, 2", TL_INPUT_OTHER, "cut short" },
        { "trace.json", "{\"x\": [1, 2", TL_INPUT_UNREADABLE, "cut short" },
        { "a.json", "{\"deviceProperties\": [{}", TL_INPUT_UNREADABLE, "cut short" },
        { "a.json", "words", TL_INPUT_OTHER, "no JSON" },
        { "my.pt.trace.json", "words", TL_INPUT_UNREADABLE, "no JSON" },
        { "kineto_0.json", "words", TL_INPUT_UNREADABLE, "no JSON" },
        { "rank_0.json", "words", TL_INPUT_UNREADABLE, "no JSON" },
        { "a.json", "", TL_INPUT_UNREADABLE, "empty" },
        { "a.json", " \n ", TL_INPUT_UNREADABLE, "empty" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_input t = look_at_text(cases[i].name, cases[i].text, i % 2);
        CU_ASSERT_EQUAL(t.kind, cases[i].kind);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.why, cases[i].word));
        CU_ASSERT(t.kind == TL_INPUT_TRACE ? t.why[0] == '\0' : strstr(t.why, cases[i].name) != NULL);
        if (t.kind != cases[i].kind || strstr(t.why, cases[i].word) == NULL)
            printf("%s: kind %d, %s\n", cases[i].text, (int)t.kind, t.why);
    }
}

/* A trace in gzip, cut everywhere: from the first byte of text behind the bracket on it is a trace. */
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
    CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "gone.json: cannot be opened: No such file"));
    t = look_at(scratch_folder, true);
    CU_ASSERT_EQUAL(t.kind, TL_INPUT_UNREADABLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "folder"));

    snprintf(path, sizeof path, "%s/", scratch_folder); /* of a long path the end is shown, and the reason whole */
    for (int i = 0; i < 200; i++)
        strcat(path, "./");
    strcat(path, "gone.json");
    t = look_at(path, true);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.why, "gone.json: cannot be opened: No such file"));
}

/* --------------------------------------------------------------------------------------------------------- folders */

static void make_folder(const char *name)
{
    CU_ASSERT_EQUAL(mkdir(scratch_path(name), 0700), 0);
}

static bool has_path(const tl_inventory *inventory, const char *name)
{
    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (strcmp(inventory->inputs.v[i].path, scratch_path(name)) == 0)
            return true;
    return false;
}

static void folders_are_searched_for_traces(void)
{
    tl_inventory inventory = { 0 };
    make_folder("set");
    make_folder("set/a");
    make_folder("set/a/b.json");
    make_folder("set/.hidden");
    make_folder("elsewhere");
    scratch_text("set/one.json", "{}");
    scratch_text("set/two.JSON.GZ", "{}");
    scratch_text("set/a/b.json/three.Json", "{}");
    scratch_text("set/no.json.gz.1", "{}");
    scratch_text("set/no.h5", "{}");
    scratch_text("set/.json", "{}");
    scratch_text("set/.hidden.json", "{}");
    scratch_text("set/.hidden/no.json", "{}");
    scratch_text("elsewhere/four.json", "{}");
    CU_ASSERT_EQUAL(symlink("..", scratch_path("set/a/up")), 0);           /* loops */
    CU_ASSERT_EQUAL(symlink("a", scratch_path("set/0_link_to_a")), 0);     /* by its own place, not by the link */
    CU_ASSERT_EQUAL(symlink("../elsewhere", scratch_path("set/first")), 0);
    CU_ASSERT_EQUAL(symlink("../elsewhere", scratch_path("set/second")), 0);
    CU_ASSERT_EQUAL(symlink("nowhere", scratch_path("set/dangling.json")), 0);
    CU_ASSERT_EQUAL(symlink("loop.json", scratch_path("set/loop.json")), 0);
    CU_ASSERT_EQUAL(symlink("nowhere", scratch_path("set/dangling")), 0);
    CU_ASSERT_EQUAL(symlink("one.json", scratch_path("set/linked.json")), 0);
    CU_ASSERT_EQUAL(mkfifo(scratch_path("set/pipe.json"), 0600), 0);

    CU_ASSERT_EQUAL(tl_inventory_add(&inventory, scratch_path("set"), &err), TL_OK);
    tl_inventory_sort(&inventory);
    CU_ASSERT_EQUAL(inventory.inputs.n, 7);
    CU_ASSERT_TRUE(has_path(&inventory, "set/one.json"));               /* and not as set/linked.json */
    CU_ASSERT_TRUE(has_path(&inventory, "set/two.JSON.GZ"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/a/b.json/three.Json"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/first/four.json"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/dangling.json"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/loop.json"));
    for (size_t i = 1; i < inventory.inputs.n; i++)
        CU_ASSERT(strcmp(inventory.inputs.v[i - 1].path, inventory.inputs.v[i].path) < 0);
    for (size_t i = 0; i < inventory.inputs.n; i++) {   /* a pipe is named, with what it is, and never opened */
        const tl_input *input = &inventory.inputs.v[i];
        bool pipe = strstr(input->path, "pipe") != NULL;
        CU_ASSERT_EQUAL(input->no_file, pipe);
        CU_ASSERT(!pipe || (input->kind == TL_INPUT_UNREADABLE && strstr(input->why, "found a pipe") != NULL));
    }

    /* A file that is named is taken whatever its name, and once however often it is named. */
    CU_ASSERT_EQUAL(tl_inventory_add(&inventory, scratch_path("set/no.h5"), &err), TL_OK);
    CU_ASSERT_EQUAL(tl_inventory_add(&inventory, scratch_path("set//./one.json"), &err), TL_OK);
    CU_ASSERT_EQUAL(tl_inventory_add(&inventory, scratch_path("set/a/"), &err), TL_OK);
    tl_inventory_sort(&inventory);
    CU_ASSERT_TRUE(has_path(&inventory, "set/no.h5"));
    size_t found = 0;
    for (size_t i = 0; i < inventory.inputs.n; i++)
        found += strstr(inventory.inputs.v[i].path, "one.json") != NULL;
    CU_ASSERT_EQUAL(found, 1);
    tl_inventory_free(&inventory);
    tl_inventory_sort(&inventory);

    CU_ASSERT_EQUAL(tl_inventory_add(&inventory, scratch_path("set/pipe.json"), &err), TL_OK);
    CU_ASSERT_EQUAL_FATAL(inventory.inputs.n, 1);
    CU_ASSERT_FALSE(inventory.inputs.v[0].no_file);     /* it was asked for */
    tl_inventory_free(&inventory);
}

/* Adds the path, and looks at what it names as the program does. */
static void name(tl_inventory *inventory, const char *path)
{
    size_t from = inventory->inputs.n;
    CU_ASSERT_EQUAL(tl_inventory_add(inventory, path, &err), TL_OK);
    for (size_t i = from; i < inventory->inputs.n; i++)
        if (!inventory->inputs.v[i].no_file)
            tl_input_look(&inventory->inputs.v[i], false);
}

static void what_is_named_in_vain_is_listed_with_its_reason(void)
{
    static const struct {
        const char *path, *why;
        tl_input_kind kind;
    } vain[] = {
        { "vain/absent.json", "No such file", TL_INPUT_UNREADABLE },
        { "vain/dangling.json", "No such file", TL_INPUT_UNREADABLE },
        { "vain/loop.json", "symbolic links", TL_INPUT_UNREADABLE },
        { "/dev/null", "found a device", TL_INPUT_UNREADABLE },
        { "", "No such file", TL_INPUT_UNREADABLE },
        { "vain/hello.json", "found none in 2 bytes", TL_INPUT_OTHER },
        { "vain/empty", "expected traces", TL_INPUT_OTHER },
        { "vain/others", "expected traces", TL_INPUT_OTHER },
    };
    enum { NVAIN = sizeof vain / sizeof vain[0] };
    tl_inventory inventory = { 0 };
    size_t reasons[NVAIN] = { 0 }, named = 0;

    make_folder("vain");
    make_folder("vain/empty");
    make_folder("vain/others");
    make_folder("vain/mixed");
    scratch_text("vain/hello.json", "{}");
    scratch_text("vain/others/hello.json", "{}");
    scratch_text("vain/mixed/hello.json", "{}");
    scratch_text("vain/mixed/rank_0.json", "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 5}]}");
    CU_ASSERT_EQUAL(symlink("nowhere", scratch_path("vain/dangling.json")), 0);
    CU_ASSERT_EQUAL(symlink("loop.json", scratch_path("vain/loop.json")), 0);
    CU_ASSERT_EQUAL(symlink("mixed", scratch_path("vain/again")), 0);

    name(&inventory, scratch_path("vain/mixed"));
    name(&inventory, scratch_path("vain/again"));           /* gives what the one before has given */
    for (size_t k = 0; k < NVAIN; k++)
        name(&inventory, vain[k].path[0] == 'v' ? scratch_path(vain[k].path) : vain[k].path);
    tl_inventory_sort(&inventory);
    CU_ASSERT_EQUAL(tl_inventory_close(&inventory, &err), TL_OK);
    for (size_t i = 0; i < inventory.inputs.n; i++) {
        const tl_input *in = &inventory.inputs.v[i];
        const char *path = in->path[0] == '/' && strstr(in->path, "vain/") != NULL ? strstr(in->path, "vain/") : in->path;
        named += in->named;
        for (size_t k = 0; k < NVAIN; k++)
            reasons[k] += in->named && strcmp(path, vain[k].path) == 0 && in->kind == vain[k].kind &&
                          strstr(in->why, vain[k].why) != NULL;
    }
    CU_ASSERT_EQUAL(named, NVAIN);
    for (size_t k = 0; k < NVAIN; k++)
        CU_ASSERT_EQUAL(reasons[k], 1);
    tl_inventory_free(&inventory);
}

static void the_working_directory_goes_unsaid(void)
{
    char before[4096];
    static const char *const names[] = { ".", "./", "here.json", "././/here.json", "below/..//" };
    tl_inventory inventory = { 0 };
    make_folder("work");
    scratch_text("work/here.json", "{}");
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(before, sizeof before));
    CU_ASSERT_EQUAL_FATAL(chdir(scratch_path("work")), 0);
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(tl_inventory_add(&inventory, names[i], &err), TL_OK);
    CU_ASSERT_EQUAL(chdir(before), 0);
    tl_inventory_sort(&inventory);
    CU_ASSERT_EQUAL_FATAL(inventory.inputs.n, 1);
    CU_ASSERT_STRING_EQUAL(inventory.inputs.v[0].path, "here.json");
    tl_inventory_free(&inventory);
}

static void too_deep_folders_are_left_out(void)
{
    char name[512] = "deep";
    tl_inventory inventory = { 0 };
    make_folder(name);
    for (int level = 1; level <= 70; level++) {
        strcat(name, "/d");
        make_folder(name);
        if (level == 64 || level == 65) {
            size_t n = strlen(name);
            strcat(name, "/x.json");
            scratch_text(name, "{}");
            name[n] = '\0';
        }
    }
    capture_begin();
    CU_ASSERT_EQUAL(tl_inventory_add(&inventory, scratch_path("deep"), &err), TL_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(capture_end(), "64 folders deep"));
    CU_ASSERT_EQUAL(inventory.inputs.n, 1);
    tl_inventory_free(&inventory);
}

static void ten_thousand_files_are_quick(void)
{
    tl_inventory inventory = { 0 };
    char name[64];
    make_folder("many");
    for (int i = 0; i < 10000; i++) {
        if (i % 10 == 0) {
            snprintf(name, sizeof name, "many/%d", i / 10);
            (void)mkdir(scratch_path(name), 0700);
        }
        snprintf(name, sizeof name, "many/%d/rank_%d.json", i / 10, i);
        scratch_text(name, "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 1700000000000000}]}");
    }
    clock_t begin = clock();
    CU_ASSERT_EQUAL(tl_inventory_add(&inventory, scratch_path("many"), &err), TL_OK);
    tl_inventory_sort(&inventory);
    CU_ASSERT_EQUAL(inventory.inputs.n, 10000);
    for (size_t i = 0; i < inventory.inputs.n; i++)
        tl_input_look(&inventory.inputs.v[i], false);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nruns, 1);
    CU_ASSERT_EQUAL(inventory.nmissing, 0);
    CU_ASSERT_EQUAL(inventory.world_size, 10000);
    CU_ASSERT((double)(clock() - begin) / CLOCKS_PER_SEC < 20.0);
    tl_inventory_free(&inventory);
}

static void no_memory_is_said_and_nothing_leaks(void)
{
    int failed = 0, tried = 0;
    make_folder("memory");
    make_folder("memory/below");
    scratch_text("memory/a.json", "{}");
    scratch_text("memory/below/b.json", "{}");
    CU_ASSERT_EQUAL(symlink("../../elsewhere", scratch_path("memory/below/link")), 0);
    for (size_t k = 1; k < 30; k++, tried++) {
        tl_inventory one = { 0 };
        tl_mem_fail_after(k);
        tl_status st = tl_inventory_add(&one, scratch_path("memory"), &err);
        tl_mem_fail_after(0);
        CU_ASSERT(st == TL_OK || st == TL_ENOMEM);
        failed += st != TL_OK;
        tl_inventory_free(&one);
    }
    CU_ASSERT(failed > 5 && failed < tried);

    const char *trace = scratch_text("rank_0.json", "{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 5}]}");
    failed = tried = 0;
    for (size_t k = 1; k < 30; k++, tried++) {
        tl_mem_fail_after(k);
        tl_input t = look_at(trace, true);
        tl_mem_fail_after(0);
        CU_ASSERT(t.kind == TL_INPUT_TRACE || (t.kind == TL_INPUT_UNREADABLE && t.why[0] != '\0'));
        failed += t.kind != TL_INPUT_TRACE;
    }
    CU_ASSERT(failed > 2 && failed < tried);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("discover", scratch_make, scratch_remove);
    CU_ADD_TEST(s, names_tell_ranks);
    CU_ADD_TEST(s, the_head_tells_rank_and_begin);
    CU_ADD_TEST(s, a_begin_is_always_found);
    CU_ADD_TEST(s, the_tail_is_for_a_deep_look);
    CU_ADD_TEST(s, an_event_near_the_end_does_not_name_the_rank);
    CU_ADD_TEST(s, a_damaged_head_still_names_the_rank);
    CU_ADD_TEST(s, kinds_are_told_apart);
    CU_ADD_TEST(s, a_cut_gzip_is_a_trace_once_it_begins);
    CU_ADD_TEST(s, what_cannot_be_opened_says_so);
    CU_ADD_TEST(s, folders_are_searched_for_traces);
    CU_ADD_TEST(s, what_is_named_in_vain_is_listed_with_its_reason);
    CU_ADD_TEST(s, the_working_directory_goes_unsaid);
    CU_ADD_TEST(s, too_deep_folders_are_left_out);
    CU_ADD_TEST(s, ten_thousand_files_are_quick);
    CU_ADD_TEST(s, no_memory_is_said_and_nothing_leaks);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0;
}
