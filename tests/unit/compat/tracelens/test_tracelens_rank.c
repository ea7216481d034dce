/* test_tracelens_rank.c - launches, time and the call tree of one rank, as TraceLens sees them. */
#include "lens_rank.h"

/* -------------------------------------------------------------------------------------------------------- launches */

/* "3 - 0 " for the launches of the events. */
static const char *launches(const char *text)
{
    static char out[256];
    size_t at = 0;
    rank r;
    load(&r, text);
    out[0] = '\0';
    for (size_t i = 0; i < r.trace.events.n; i++)
        at += r.lens.launch[i] != TL_NONE ? (size_t)snprintf(out + at, sizeof out - at, "%u ", r.lens.launch[i])
                                          : (size_t)snprintf(out + at, sizeof out - at, "- ");
    unload(&r);
    return out;
}

static void a_flow_with_both_ends_links(void)
{
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," FLOW("5") "," KERNEL("k", "5", "4", "1"))), "- - - 0 ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," END("5") "," KERNEL("k", "5", "4", "1"))), "- - - ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," START("5") "," KERNEL("k", "5", "4", "1"))), "- - - ");
    /* Equal numbers alone, and flows of another name, link nothing. */
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," KERNEL("k", "5", "4", "1"))), "- - ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(KERNEL("k", "5", "4", "1") "," FLOW("\"5\"") "," LAUNCH("5", "1", "1"))), "- - - - ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(ENTRY("kernel", "k", "0", "7", "4", "1", "\"correlation\":\"5\"") "," FLOW("\"5\"") ","
                                          LAUNCH("\"5\"", "1", "1"))), "3 - - - ");
}

static void a_flow_ends_at_the_last_event_of_its_place(void)
{
    CU_ASSERT_STRING_EQUAL(launches(TRACE(KERNEL("k", "5", "4", "1") "," KERNEL("k", "5", "9", "1") "," FLOW("5") ","
                                          LAUNCH("5", "1", "1"))), "- 4 - - - ");
    /* Another stream, or a wait that took the place. */
    CU_ASSERT_STRING_EQUAL(launches(TRACE(ENTRY("kernel", "k", "0", "8", "4", "1", "\"correlation\":5") "," FLOW("5") ","
                                          LAUNCH("5", "1", "1"))), "- - - - ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(KERNEL("k", "5", "4", "1") "," FLOW("5") "," LAUNCH("5", "1", "1") ","
                                          ENTRY("cuda_sync", "Stream Sync", "0", "7", "4", "1", "\"correlation\":5"))),
                           "- - - - 3 ");
}

static void the_last_call_has_a_kernel(void)
{
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," LAUNCH("5", "9", "1") "," FLOW("5") ","
                                          KERNEL("k", "5", "4", "1"))), "- - - - 1 ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(CALL("cudaGraphLaunch", "5", "1", "1") "," LAUNCH("5", "1", "1") "," FLOW("5") ","
                                          KERNEL("a", "5", "4", "1") "," KERNEL("b", "5", "6", "1"))), "- - - - 0 1 ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(LAUNCH("5", "1", "1") "," CALL("hipGraphLaunch", "5", "1", "1") "," FLOW("5") ","
                                          KERNEL("a", "5", "4", "1") "," KERNEL("b", "5", "6", "1"))), "- - - - 1 1 ");
}

static void the_first_launch_decides_about_the_key(void)
{
#define BOTH(cat, name, pid, tid, ts) ENTRY(cat, name, pid, tid, ts, "1", "\"External id\":5,\"correlation\":6")
    /* By correlation: the flow 6. */
    CU_ASSERT_STRING_EQUAL(launches(TRACE(CALL("cudaMalloc", "1", "0", "1") "," BOTH("cuda_driver", "cuLAUNCHKernel", "1", "1", "1")
                                          "," FLOW("6") "," BOTH("kernel", "k", "0", "7", "4"))), "- - - - 1 ");
    /* By external id: the flow 5. */
    CU_ASSERT_STRING_EQUAL(launches(TRACE(ENTRY("cuda_runtime", "cudaLaunchKernel", "1", "1", "0", "1", "\"External id\":1") ","
                                          BOTH("cuda_runtime", "cudaLaunchKernel", "1", "1", "1") "," FLOW("5") ","
                                          BOTH("kernel", "k", "0", "7", "4"))), "- - - - 1 ");
    CU_ASSERT_STRING_EQUAL(launches(TRACE(ENTRY("cuda_runtime", "cudaLaunchKernel", "1", "1", "0", "1", "\"External id\":1") ","
                                          BOTH("cuda_runtime", "cudaLaunchKernel", "1", "1", "1") "," FLOW("6") ","
                                          BOTH("kernel", "k", "0", "7", "4"))), "- - - - - ");
#undef BOTH
}

/* -------------------------------------------------------------------------------------------------------- timeline */

#define COMM(ts, dur) KERNEL("ncclDevKernel_AllReduce(x)", "1", ts, dur)
#define MEMCPY(ts, dur) ENTRY("gpu_memcpy", "nccl in a copy's name", "0", "9", ts, dur, "")

/* The value of a type in the timeline of all events, us; NaN where the table is not there. */
static double timeline(const char *text, const char *table, const char *type)
{
    char line[128];
    double ms = NAN;
    rank r;
    load(&r, text);
    tl_csv_folder folder = { .dir = scratch_folder };
    tl_lens_write_device(&r.lens, 0, &folder);
    FILE *f = fopen(scratch_path(table), "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, type, strlen(type)) == 0 && line[strlen(type)] == ',')
            ms = strtod(line + strlen(type) + 1, NULL);
    if (f != NULL)
        fclose(f);
    tl_bytes_free(&folder.notes);
    unload(&r);
    return ms * 1000;
}

/*     compute   0         20
 *     comm           10             40
 *     copies     5  9           30       50     70 72
 */
static void what_is_not_hidden_is_exposed(void)
{
    static const char text[] =
        TRACE(KERNEL("a", "1", "0", "12") "," ENTRY("gpu_memset", "Memset", "1", "3", "11.5", "8.5", "") ","
              COMM("10", "30") "," MEMCPY("30", "20") "," MEMCPY("5", "4") ","
              KERNEL("__amd_rocclr_copyBufferRect.kd", "1", "70", "2"));
    static const struct {
        const char *type;
        double us;
    } expected[] = {
        { "computation_time", 20 },   { "total_comm_time", 30 },     { "exposed_comm_time", 20 },
        { "total_memcpy_time", 26 },  { "exposed_memcpy_time", 12 }, { "busy_time", 52 },
        { "total_time", 72 },         { "macro_idle_time", 20 },     { "micro_idle_time", 0 },
    };

    for (size_t i = 0; i < COUNT(expected); i++)
        CU_ASSERT_DOUBLE_EQUAL(timeline(text, "gpu_timeline_all_events_micro5.csv", expected[i].type),
                               expected[i].us, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(timeline(text, "gpu_timeline_all_events.csv", "idle_time"), 20, 1e-9);
    CU_ASSERT(isnan(timeline(text, "gpu_timeline.csv", "busy_time"))); /* nothing is linked */
}

static void names_tell_communication_in_any_case(void)
{
    static const char text[] =
        TRACE(KERNEL("RCCL_Generic", "1", "0", "1") "," KERNEL("void Cross_Device_Reduce_1stage<x>", "1", "10", "1") ","
              ENTRY("gpu_memset", "memset for nccl", "0", "7", "20", "1", "") ","
              KERNEL("deep_ep::dispatch", "1", "30", "1") "," KERNEL("__amd_rocclr_fillBuffer", "1", "40", "1") ","
              KERNEL("MEMORY_COPY_HOST_TO_DEVICE", "1", "50", "1") ","
              KERNEL("MEMORY_COPY_HOST_TO_DEVICE_2", "1", "60", "1"));
    CU_ASSERT_DOUBLE_EQUAL(timeline(text, "gpu_timeline_all_events.csv", "total_comm_time"), 3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(timeline(text, "gpu_timeline_all_events.csv", "total_memcpy_time"), 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(timeline(text, "gpu_timeline_all_events.csv", "computation_time"), 3, 1e-9);
}

/* --------------------------------------------------------------------------------------------------- the call tree */

/* The operator of the event, "-" for none. */
static const char *operator_of(const char *text, uint32_t event)
{
    static char out[64];
    rank r;
    load(&r, text);
    uint32_t *op = tl_lens_parent_ops(&r.lens);
    tl_text name = op[event] != TL_NONE ? tl_lens_name(&r.lens, op[event], "") : TL_TEXT("-");
    snprintf(out, sizeof out, "%.*s", (int)name.n, name.p);
    free(op);
    unload(&r);
    return out;
}

static void the_nearest_operator_above_counts(void)
{
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," OP("a", "0", "100") "," OP("b", "10", "50")), 0), "b");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," OP("a", "0", "100") "," OP("b", "10", "10")), 0), "a");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," OP("a", "0", "100") "," CALL("outer", "1", "15", "20")), 0),
                           "a");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," FRAME("f", "0", "100")), 0), "-");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(LAUNCH("1", "20", "5") "," ENTRY("cpu_op", "a", "1", "9", "0", "100", "")), 0), "-");
}

static void an_event_that_ends_too_late_is_left_out(void)
{
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("a", "0", "100") "," LAUNCH("1", "90", "20")), 1), "-");
    /* But where the top ends less than 1 us later, what is under it counts. */
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("a", "0", "100") "," OP("b", "10", "40.5") "," LAUNCH("1", "50", "20")), 2), "a");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("a", "0", "100") "," OP("b", "10", "41") "," LAUNCH("1", "50", "20")), 2), "-");
    CU_ASSERT_STRING_EQUAL(operator_of(TRACE(OP("b", "10", "40.5") "," OP("c", "50", "20") "," LAUNCH("1", "60", "2")), 2), "-");
}

static const unit_test tests[] = {
    TEST(a_flow_with_both_ends_links),
    TEST(a_flow_ends_at_the_last_event_of_its_place),
    TEST(the_last_call_has_a_kernel),
    TEST(the_first_launch_decides_about_the_key),
    TEST(what_is_not_hidden_is_exposed),
    TEST(names_tell_communication_in_any_case),
    TEST(the_nearest_operator_above_counts),
    TEST(an_event_that_ends_too_late_is_left_out),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("tracelens_rank", tests, COUNT(tests));
    scratch_remove();
    return status;
}
