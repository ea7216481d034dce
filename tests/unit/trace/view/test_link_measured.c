/* test_link_measured.c - counters and memory, from their text to the view. */
#include "scratch.h"
#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace/view.h"
#include "unit.h"
#include <stdlib.h>

#define RANGE(ts, args) "{\"ph\":\"X\",\"cat\":\"cuda_profiler_range\",\"name\":\"gemm\",\"pid\":0,\"tid\":0,\"ts\":" #ts ",\"dur\":2,\"args\":{" args "}}"
#define MEMORY(ts, args)                                                                                               \
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":" #ts ",\"args\":{" args "}}"
#define SAMPLE(ts, args) "{\"ph\":\"C\",\"cat\":\"hardware_counters\",\"name\":\"busy\",\"pid\":\"GPU 0 Counters\",\"ts\":" #ts ",\"args\":{" args "}}"
#define ENTRIES                                                                                                        \
    SAMPLE(1, "\"\": 41.5") "," SAMPLE(2, "\"idle\": 3") ","                                                           \
    RANGE(7, "\"x.sum\": 99, \"x.sum\": 12, \"of\": \"no number\", \"nested\": {\"y\": [1, 2]}, \"x.avg\": 1.5") ","                  \
    RANGE(3, "\"x.sum\": \"-1e3\"") ","                                                                                \
    RANGE(5, "\"x.sum\": null, \"x.avg\": 1e999") "," RANGE(6, "") ","                                                                                    \
    MEMORY(5, "\"Total Reserved\": 8192, \"Total Allocated\": \"4096\", \"Bytes\": 512, \"Device Id\": 1, \"Device Type\": 1") "," \
    MEMORY(2, "\"Total Allocated\": 64, \"Device Id\": 0, \"Device Type\": 0") ","                                     \
    MEMORY(4, "\"Bytes\": 5, \"Device Id\": 1, \"Device Type\": 1") ","                                                \
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"else\",\"pid\":1,\"tid\":1,\"ts\":5,\"args\":{\"Total Allocated\": 7}}"
#define TEXT "{\"traceEvents\": [" ENTRIES "]}"

static void check_view(tl_trace *trace)
{
    const tl_rules rules = { 0 };
    tl_linked linked;
    tl_link(trace, &rules, 3, &linked);
    const tl_rank_view *v = &linked.view;

    CU_ASSERT_EQUAL_FATAL(v->ncounted, 7);
    CU_ASSERT_EQUAL(v->counted[0].start_ns, 3000);
    CU_ASSERT_EQUAL(v->counted[0].value, -1000);
    CU_ASSERT_TRUE(v->counted[1].start_ns == 5000 && v->counted[2].start_ns == 6000); /* these have no value */
    CU_ASSERT_TRUE(v->counted[1].counter == TL_NO_NAME && v->counted[2].counter == TL_NO_NAME);
    CU_ASSERT_EQUAL(v->counted[3].uid, 2);
    CU_ASSERT_EQUAL(v->counted[4].uid, 2);
    CU_ASSERT_EQUAL(v->counted[3].value + v->counted[4].value, 13.5);
    CU_ASSERT_TRUE(tl_text_is(tl_names_text(v->names, v->counted[0].name), "gemm"));
    CU_ASSERT_TRUE(tl_text_is(tl_names_text(v->names, v->counted[0].counter), "x.sum"));
    CU_ASSERT_TRUE(!v->counted[4].sampled && v->counted[5].sampled && v->counted[5].start_ns == 1000);
    CU_ASSERT_TRUE(v->counted[5].value == 41.5 && tl_text_is(tl_names_text(v->names, v->counted[5].counter), "busy"));
    CU_ASSERT_TRUE(v->counted[6].value == 3 && tl_text_is(tl_names_text(v->names, v->counted[6].counter), "idle"));

    CU_ASSERT_EQUAL_FATAL(v->nmemory, 3);
    CU_ASSERT_EQUAL(v->memory[0].device, -1);
    CU_ASSERT_EQUAL(v->memory[0].allocated, 64);
    CU_ASSERT_EQUAL(v->memory[0].reserved, INT64_MIN);
    CU_ASSERT_EQUAL(v->memory[1].at_ns, 4000);
    CU_ASSERT_EQUAL(v->memory[1].allocated, INT64_MIN);
    CU_ASSERT_EQUAL(v->memory[2].device, 1);
    CU_ASSERT_EQUAL(v->memory[2].allocated, 4096);
    CU_ASSERT_EQUAL(v->memory[2].reserved, 8192);
    CU_ASSERT_EQUAL(v->memory[2].track, v->memory[0].track);
    CU_ASSERT_EQUAL(v->ops.n, 0);
    tl_linked_free(&linked);
    tl_trace_free(trace);
}

static void what_is_measured_is_in_the_view(void)
{
    for (int yajl = 0; yajl < 2; yajl++) {
        const tl_read_options options = { .keep = TL_LINK_KEEP, .yajl_only = yajl };
        tl_trace trace;
        tl_error err = { 0 };
        CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("measured.json", TEXT), &options, &trace, &err), TL_OK);
        check_view(&trace);
    }
}

/* Wherever a file is cut in two, its pieces are the whole. */
static void it_is_the_same_in_pieces(void)
{
    const char *path = scratch_text("measured.json", TEXT);
    size_t joined = 0;

    for (uint64_t at = 1; at < sizeof TEXT - 1; at++) {
        const tl_read_range ranges[] = { { 0, at }, { at, UINT64_MAX } };
        tl_read_options options = { .keep = TL_LINK_KEEP };
        tl_trace whole, next;
        tl_error err = { 0 };
        options.range = &ranges[0];
        CU_ASSERT_EQUAL_FATAL(tl_trace_read(path, &options, &whole, &err), TL_OK);
        options.range = &ranges[1];
        bool ok = tl_trace_read(path, &options, &next, &err) == TL_OK && tl_trace_append(&whole, &next);
        if (ok) {
            joined++;
            tl_trace_complete(&whole);
            check_view(&whole);
        } else {
            tl_trace_free(&whole);
        }
        tl_trace_free(&next);
    }
    CU_ASSERT(joined > 100);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_is_measured_is_in_the_view),
        TEST(it_is_the_same_in_pieces),
    };
    return unit_main("measured", tests, COUNT(tests));
}
