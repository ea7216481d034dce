/* test_discover.c - paths to files that may be traces, and what their names say. */
#include "capture.h"
#include "scratch.h"
#include "tlmpi/trace/find.h"
#include "unit.h"

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

static void a_handler_writes_the_host_into_the_name(void)
{
    static const char *const cases[][2] = {
        { "logs/node-17_4100.1700000000100.pt.trace.json", "node-17" },
        { "a_b_21147.1698955063520869240.pt.trace.json.gz", "a_b" },
        { "node17_4100.1700000000.pt.trace.json", "" },
        { "node17-4100.1700000000100.pt.trace.json", "" },
        { "_4100.1700000000100.pt.trace.json", "" },
        { "rank0.1700000000100.pt.trace.json", "" },
        { "1700000000100.pt.trace.json", "" },
        { "node17_4100.1700000000100.json", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CU_ASSERT_TRUE(tl_text_is(tl_host_of_name(cases[i][0], 0), cases[i][1]));
    static const char step[] = "worker0_step_12.1700000000100.pt.trace.json"; /* no process has written its id */
    CU_ASSERT_TRUE(tl_text_is(tl_host_of_name(cases[0][0], 4100), "node-17"));
    CU_ASSERT_EQUAL(tl_host_of_name(cases[0][0], 4101).n, 0);
    CU_ASSERT_EQUAL(tl_host_of_name(step, 4100).n, 0);
}

/* --------------------------------------------------------------------------------------------------------- folders */

static void make_folder(const char *name)
{
    CU_ASSERT_EQUAL(mkdir(scratch_path(name), 0700), 0);
}

/* Adds the path, and looks at what it names as the program does. */
static void name(tl_inventory *inventory, const char *path)
{
    size_t from = inventory->inputs.n;
    tl_inventory_add(inventory, path);
    for (size_t i = from; i < inventory->inputs.n; i++)
        if (!inventory->inputs.v[i].no_file)
            tl_input_look(&inventory->inputs.v[i], false);
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
    scratch_text("set/five.json.zst", "{}");
    scratch_text("set/six.tar.gz", "{}");
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
    CU_ASSERT_EQUAL(mkfifo(scratch_path("set/pipe_rank_3.json"), 0600), 0);
    CU_ASSERT_EQUAL(mkfifo(scratch_path("set/pipe_rank_9.jsonl.gz"), 0600), 0);

    tl_inventory_add(&inventory, scratch_path("set"));
    tl_inventory_sort(&inventory);
    CU_ASSERT_EQUAL(inventory.inputs.n, 10);
    CU_ASSERT_TRUE(has_path(&inventory, "set/one.json"));               /* and not as set/linked.json */
    CU_ASSERT_TRUE(has_path(&inventory, "set/two.JSON.GZ"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/a/b.json/three.Json"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/first/four.json"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/five.json.zst"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/six.tar.gz"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/dangling.json"));
    CU_ASSERT_TRUE(has_path(&inventory, "set/loop.json"));
    for (size_t i = 1; i < inventory.inputs.n; i++)
        CU_ASSERT(strcmp(inventory.inputs.v[i - 1].path, inventory.inputs.v[i].path) < 0);
    for (size_t i = 0; i < inventory.inputs.n; i++) {   /* a pipe is named, with what it is, and never opened */
        const tl_input *input = &inventory.inputs.v[i];
        bool pipe = strstr(input->path, "pipe") != NULL;
        CU_ASSERT_EQUAL(input->no_file, pipe);
        CU_ASSERT(!pipe || (input->kind == TL_INPUT_UNREADABLE && strstr(input->why, "found a pipe") != NULL));
        /* One of phases is no rank's trace. */
        CU_ASSERT_EQUAL(input->name_rank, strstr(input->path, "rank_3") != NULL ? 3 : -1);
    }

    /* A file that is named is taken whatever its name, and once however often it is named. */
    tl_inventory_add(&inventory, scratch_path("set/no.h5"));
    tl_inventory_add(&inventory, scratch_path("set//./one.json"));
    tl_inventory_add(&inventory, scratch_path("set/a/"));
    tl_inventory_sort(&inventory);
    CU_ASSERT_TRUE(has_path(&inventory, "set/no.h5"));
    size_t found = 0;
    for (size_t i = 0; i < inventory.inputs.n; i++)
        found += strstr(inventory.inputs.v[i].path, "one.json") != NULL;
    CU_ASSERT_EQUAL(found, 1);
    tl_inventory_free(&inventory);
    tl_inventory_sort(&inventory);

    tl_inventory_add(&inventory, scratch_path("set/pipe.json"));
    CU_ASSERT_EQUAL_FATAL(inventory.inputs.n, 1);
    CU_ASSERT_FALSE(inventory.inputs.v[0].no_file);     /* it was asked for */
    tl_inventory_free(&inventory);
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
    name(&inventory, scratch_path("vain/again")); /* gives what the one before has given */
    for (size_t k = 0; k < NVAIN; k++)
        name(&inventory, vain[k].path[0] == 'v' ? scratch_path(vain[k].path) : vain[k].path);
    tl_inventory_sort(&inventory);
    tl_inventory_close(&inventory);
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
        tl_inventory_add(&inventory, names[i]);
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
    for (size_t level = 1, n = strlen(name); level <= 70; level++, n += 2) {
        snprintf(name + n, sizeof name - n, "/d");
        make_folder(name);
        if (level == 64 || level == 65) {
            snprintf(name + n + 2, sizeof name - n - 2, "/x.json");
            scratch_text(name, "{}");
            name[n + 2] = '\0';
        }
    }
    capture_begin();
    tl_inventory_add(&inventory, scratch_path("deep"));
    CU_ASSERT_PTR_NOT_NULL(strstr(capture_end(), "64 folders deep"));
    CU_ASSERT_EQUAL(inventory.inputs.n, 1);
    tl_inventory_free(&inventory);
}

/* A square of their number would take longer than CTest lets a test run. */
static void ten_thousand_files_are_found(void)
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
    tl_inventory_add(&inventory, scratch_path("many"));
    tl_inventory_sort(&inventory);
    CU_ASSERT_EQUAL(inventory.inputs.n, 10000);
    for (size_t i = 0; i < inventory.inputs.n; i++)
        tl_input_look(&inventory.inputs.v[i], false);
    CU_ASSERT_EQUAL(tl_inventory_decide(&inventory, 0, &err), TL_OK);
    CU_ASSERT_EQUAL(inventory.nruns, 1);
    CU_ASSERT_EQUAL(inventory.nmissing, 0);
    CU_ASSERT_EQUAL(inventory.world_size, 10000);
    tl_inventory_free(&inventory);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(names_tell_ranks),
        TEST(a_handler_writes_the_host_into_the_name),
        TEST(folders_are_searched_for_traces),
        TEST(what_is_named_in_vain_is_listed_with_its_reason),
        TEST(the_working_directory_goes_unsaid),
        TEST(too_deep_folders_are_left_out),
        TEST(ten_thousand_files_are_found),
    };
    int failed = scratch_make() || unit_main("discover", tests, COUNT(tests));
    return scratch_remove() || failed;
}
