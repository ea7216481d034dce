/* test_call.c - calls of the runtime and driver are known by their names. */
#include "tlmpi/model/call.h"
#include "unit.h"
#include <string.h>

static const tl_call_rule *rule_of(const char *name)
{
    return tl_call_rule_of((tl_text){ name, strlen(name) });
}

static void every_rule_catches_what_it_was_made_for(void)
{
    for (size_t i = 0; i < tl_ncall_rules; i++)
        CU_ASSERT_PTR_EQUAL(rule_of(tl_call_rules[i].seen), &tl_call_rules[i]);
}

static void a_call_is_the_same_in_all_its_spellings(void)
{
    static const char *const names[] = { "cudaStreamSynchronize", "cudaStreamSynchronize_ptsz",
                                         "hipStreamSynchronize_spt", "cuStreamSynchronize_v2_ptsz",
                                         "cudaStreamSynchronize_v11060" };
    for (size_t i = 0; i < COUNT(names); i++)
        CU_ASSERT_PTR_EQUAL(rule_of(names[i]), rule_of("cuStreamSynchronize"));
}

static void names_tell_what_calls_do_and_what_they_return_after(void)
{
    static const struct {
        const char *name;
        tl_does does;
        tl_does_after after;
    } cases[] = {
        { "cuLaunchKernelEx", TL_DOES_LAUNCH, TL_AFTER_NOTHING },
        { "cudaLaunchCooperativeKernel", TL_DOES_LAUNCH, TL_AFTER_NOTHING },
        { "cuGraphLaunch_ptsz", TL_DOES_LAUNCH_GRAPH, TL_AFTER_NOTHING },
        { "cudaGraphInstantiate", TL_DOES_OTHER, TL_AFTER_NOTHING },
        { "cuGraphAddMemcpyNode", TL_DOES_OTHER, TL_AFTER_NOTHING },
        { "cudaGraphAddMemAllocNode", TL_DOES_OTHER, TL_AFTER_NOTHING },
        { "cuMemcpyDtoH_v2", TL_DOES_COPY, TL_AFTER_COPY },
        { "cuMemcpyHtoDAsync_v2", TL_DOES_COPY, TL_AFTER_PERHAPS },
        { "cudaMemcpy3DPeerAsync", TL_DOES_COPY, TL_AFTER_PERHAPS },
        { "cudaFree", TL_DOES_FREE, TL_AFTER_ALL },
        { "hipFreeAsync", TL_DOES_FREE, TL_AFTER_NOTHING },
        { "cuMemFreeAsync_ptsz", TL_DOES_FREE, TL_AFTER_NOTHING },
        { "cuMemFreeHost", TL_DOES_FREE, TL_AFTER_ALL },
        { "cuMemHostUnregister", TL_DOES_FREE, TL_AFTER_ALL },
        { "cuMemHostRegister_v2", TL_DOES_ALLOCATE, TL_AFTER_PERHAPS },
        { "cuMemHostAlloc", TL_DOES_ALLOCATE, TL_AFTER_PERHAPS },
        { "cudaMallocManaged", TL_DOES_ALLOCATE, TL_AFTER_PERHAPS },
        { "cudaMallocFromPoolAsync", TL_DOES_ALLOCATE, TL_AFTER_NOTHING },
        { "cuMemGetAllocationGranularity", TL_DOES_OTHER, TL_AFTER_NOTHING },
        { "cudaMemsetAsync", TL_DOES_OTHER, TL_AFTER_NOTHING },
        { "cudaStreamWaitEvent_ptsz", TL_DOES_HOLD, TL_AFTER_NOTHING },
        { "cudaEventQuery", TL_DOES_OTHER, TL_AFTER_NOTHING },
        { "custom::Malloc", TL_DOES_OTHER, TL_AFTER_NOTHING },
        { "torch.cuda.synchronize", TL_DOES_OTHER, TL_AFTER_NOTHING },
        { "cuda", TL_DOES_OTHER, TL_AFTER_NOTHING },
        { "", TL_DOES_OTHER, TL_AFTER_NOTHING },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CU_ASSERT_EQUAL(rule_of(cases[i].name)->does, cases[i].does);
        CU_ASSERT_EQUAL(rule_of(cases[i].name)->after, cases[i].after);
    }
    char longest[200] = "cudaMalloc";
    memset(longest + 10, 'x', sizeof longest - 11);
    CU_ASSERT_EQUAL(rule_of(longest)->does, TL_DOES_OTHER);
}

static const unit_test tests[] = {
    TEST(every_rule_catches_what_it_was_made_for),
    TEST(a_call_is_the_same_in_all_its_spellings),
    TEST(names_tell_what_calls_do_and_what_they_return_after),
};

int main(void)
{
    return unit_main("call", tests, COUNT(tests));
}
