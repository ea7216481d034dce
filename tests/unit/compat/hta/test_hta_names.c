/* test_hta_names.c - what HTA makes of names: classes, steps, vendors. */
#include "hta_trace.h"

static void each_rule_is_the_first_to_catch_its_name(void)
{
    for (size_t i = 0; i < tl_hta_nrules; i++) {
        const char *seen = tl_hta_rules[i].seen;
        CU_ASSERT_PTR_EQUAL(tl_hta_rule_of((tl_text){ seen, strlen(seen) }), &tl_hta_rules[i]);
    }
}

static void the_name_decides_the_class(void)
{
    static const struct {
        const char *name;
        tl_hta_class class;
    } known[] = {
        { "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)", TL_HTA_COMMUNICATION },
        { "hipMemcpyAsync", TL_HTA_COMMUNICATION },             /* not memory: hip comes first */
        { "xncclKernel", TL_HTA_COMMUNICATION },
        { "xncclDevKernel", TL_HTA_COMPUTATION },
        { "NCCL", TL_HTA_COMPUTATION },                         /* case counts */
        { "Memcpy DtoH (Device -> Pageable)", TL_HTA_MEMORY },
        { "memcpy", TL_HTA_COMPUTATION },
        { "void Memcpy", TL_HTA_OTHER },
        { "cudaLaunchKernelExC", TL_HTA_OTHER },
        { "cudaGraphLaunch", TL_HTA_COMPUTATION },
        { "cuLaunchKernel", TL_HTA_COMPUTATION },
        { "void softmax_dmax(float)", TL_HTA_OTHER },           /* dma in the middle of a word */
        { "Context Sync", TL_HTA_OTHER },
        { "DeepEP::dispatch", TL_HTA_COMPUTATION },
        { "", TL_HTA_COMPUTATION },
    };
    for (size_t i = 0; i < COUNT(known); i++)
        CU_ASSERT_EQUAL(tl_hta_rule_of((tl_text){ known[i].name, strlen(known[i].name) })->class, known[i].class);
}

static void step_names_are_read_as_hta_reads_them(void)
{
    static const struct {
        const char *name;
        int64_t step;
        bool row, counts;
    } known[] = {
        { "ProfilerStep#12", 12, true, true },   { "ProfilerStep # 7 end", 7, true, false },
        { "ProfilerStep#", -1, true, false },    { "ProfilerStep*", -1, true, false },
        { "ProfilerStep", -1, true, false },     { "aProfilerStep#3", -1, false, false },
        { "ProfilerStep#007", 7, true, true },
    };
    tl_hta_symbols symbols = { 0 };
    for (size_t i = 0; i < COUNT(known); i++) {
        uint32_t id = tl_hta_symbol_id(&symbols, (tl_text){ known[i].name, strlen(known[i].name) });
        CU_ASSERT_EQUAL_FATAL(id, i);
        CU_ASSERT_EQUAL(symbols.v.v[id].step, known[i].step);
        CU_ASSERT_EQUAL(tl_hta_is(&symbols, id, TL_HTA_STEP_ROW), known[i].row);
        CU_ASSERT_EQUAL(tl_hta_is(&symbols, id, TL_HTA_STEP_NAME), known[i].counts);
    }
    tl_hta_symbols_free(&symbols);
}

static void launch_calls_tell_the_vendor(void)
{
    static const struct {
        const char *text;
        tl_hta_vendor vendor;
    } known[] = {
        { TRACE(OP("x", "1", "1")), TL_HTA_NO_LAUNCH },
        { TRACE(OP("hipLaunchKernel", "1", "1") "," OP("cudaLaunchKernel", "1", "1")), TL_HTA_NVIDIA },
        { TRACE(OP("hipLaunchKernel", "1", "1") "," OP("cudaLaunchKernelExC", "1", "1")), TL_HTA_AMD },
        { TRACE(OP("runFunction - job_prep_and_submit_for_execution", "1", "1")), TL_HTA_MTIA },
        { "{\"distributedInfo\": {\"backend\": \"cpu:gloo,mtia:hccl\"}, \"traceEvents\": ["
          OP("cudaLaunchKernel", "1", "1") "]}", TL_HTA_MTIA },
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        tl_hta_job job = load(known[i].text, NULL, false);
        CU_ASSERT_EQUAL(job.frames.v[0].vendor, known[i].vendor);
        tl_hta_job_free(&job);
    }
}

static const unit_test tests[] = {
    TEST(each_rule_is_the_first_to_catch_its_name),
    TEST(the_name_decides_the_class),
    TEST(step_names_are_read_as_hta_reads_them),
    TEST(launch_calls_tell_the_vendor),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta names", tests, COUNT(tests));
    scratch_remove();
    return status;
}
