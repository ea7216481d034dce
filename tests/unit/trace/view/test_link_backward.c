/* test_link_backward.c - arrows from forward to backward operators, and annotations of the device, from text to view. */
#include "scratch.h"
#include "tlmpi/trace/view.h"
#include "unit.h"
#include <stdlib.h>

#define OP(name, tid, ts, dur)                                                                                         \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur "}"
#define FLOW(ph, id, tid, ts)                                                                                          \
    "{\"ph\":\"" ph "\",\"id\":" #id ",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"bp\":\"e\"}"
#define RANGE(name, ts, dur)                                                                                           \
    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" #ts ",\"dur\":" #dur "}"

/* linear and addmm begin at once; of arrow 3 one end is missing, of 4 an operator; 5 begins twice. */
#define ENTRIES                                                                                                        \
    FLOW("f", 1, 2, 50) "," FLOW("s", 1, 1, 10.5) "," FLOW("f", 2, 2, 70.25) "," FLOW("s", 2, 1, 30) ","               \
    FLOW("s", 3, 1, 10.5) "," FLOW("s", 4, 1, 11) "," FLOW("f", 4, 2, 50) ","                                          \
    FLOW("s", 5, 1, 30) "," FLOW("s", 5, 1, 10.5) "," FLOW("f", 5, 2, 90) ","                                          \
    OP("AddmmBackward0", 2, 50, 9) "," OP("ReluBackward0", 2, 70.25, 9) "," OP("Odd", 2, 90, 1) ","                    \
    OP("linear", 1, 10.5, 9) "," OP("addmm", 1, 10.5, 8) "," OP("relu", 1, 30, 5) ","                                  \
    RANGE("forward", 12, 30) "," RANGE("ProfilerStep#4", 12.5, 0) "," RANGE("forward", 60, 1.5)
#define TEXT "{\"baseTimeNanoseconds\": 1000000, \"traceEvents\": [" ENTRIES "]}"

static bool is_op(const tl_rank_view *v, uint32_t op, const char *name)
{
    return tl_text_is(tl_names_text(v->names, v->ops.name[op]), name);
}

static void check_view(tl_trace *trace)
{
    const tl_rules rules = { 0 };
    tl_linked linked;
    tl_link(trace, &rules, 3, &linked);
    const tl_rank_view *v = &linked.view;

    CU_ASSERT_EQUAL_FATAL(v->nbackwards, 3);
    for (size_t i = 0; i < v->nbackwards; i++) {
        const tl_backward *b = &v->backwards[i];
        CU_ASSERT_TRUE(i == 0 || v->backwards[i - 1].op < b->op);
        CU_ASSERT_TRUE(is_op(v, b->op, "AddmmBackward0")  ? is_op(v, b->forward, "addmm")
                       : is_op(v, b->op, "ReluBackward0") ? is_op(v, b->forward, "relu")
                                                          : is_op(v, b->op, "Odd") && is_op(v, b->forward, "relu"));
    }
    CU_ASSERT_EQUAL_FATAL(v->nranges, 3);
    CU_ASSERT_EQUAL(v->ranges[0].start_ns, 1012000);
    CU_ASSERT_EQUAL(v->ranges[0].dur_ns, 30000);
    CU_ASSERT_TRUE(tl_text_is(tl_names_text(v->names, v->ranges[1].name), "ProfilerStep#4"));
    CU_ASSERT_EQUAL(v->ranges[2].dur_ns, 1500);
    /* They are no work, no operators and no steps. */
    CU_ASSERT_EQUAL(v->nkernels, 0);
    CU_ASSERT_EQUAL(v->ops.n, 6);
    CU_ASSERT_EQUAL(v->nsteps, 0);
    tl_linked_free(&linked);
    tl_trace_free(trace);
}

static void arrows_join_operators(void)
{
    for (int yajl = 0; yajl < 2; yajl++) {
        const tl_read_options options = { .keep = TL_LINK_KEEP, .yajl_only = yajl };
        tl_trace trace;
        tl_error err = { 0 };
        CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("backward.json", TEXT), &options, &trace, &err), TL_OK);
        check_view(&trace);
    }
}

static void what_the_host_did_goes_with_them(void)
{
    const tl_read_options options = { .keep = TL_LINK_KEEP };
    const tl_rules rules = { 0 };
    tl_trace trace;
    tl_linked linked;
    tl_error err = { 0 };
    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("backward.json", TEXT), &options, &trace, &err), TL_OK);
    tl_link(&trace, &rules, 3, &linked);
    tl_linked_free_host(&linked);
    CU_ASSERT_EQUAL(linked.view.nbackwards, 0);
    CU_ASSERT_EQUAL(linked.view.nranges, 3);
    tl_linked_free(&linked);
    tl_trace_free(&trace);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(arrows_join_operators),
        TEST(what_the_host_did_goes_with_them),
    };
    return unit_main("link_backward", tests, COUNT(tests));
}
