/* class.c - kernel name to HTA's class.
 *
 *     communication   nccl..., hip..., hccl..., or ncclKernel anywhere
 *     memory          Memcpy..., Memset..., dma...
 *     other           synchronisation and launches; Memcpy, Memset, dma or Sync anywhere
 *     computation     the rest
 *
 * The upper one wins and case counts.  Hence a HIP copy is communication, NCCL's rivals are computation, and a compute
 * kernel with "Sync" in its name is neither compute nor communication.
 */
#include "tlmpi/compat/hta/frame/symbols.h"

const char *const tl_hta_class_labels[TL_HTA_NCLASSES] = {
    [TL_HTA_COMPUTATION] = "COMPUTATION",
    [TL_HTA_COMMUNICATION] = "COMMUNICATION",
    [TL_HTA_MEMORY] = "MEMORY",
    [TL_HTA_OTHER] = "OTHER",
};

const tl_hta_rule tl_hta_rules[] = {
    /* begins, has                               class                  seen */
    { "nccl", "",                                TL_HTA_COMMUNICATION, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" },
    { "hip", "",                                 TL_HTA_COMMUNICATION, "hipMemcpyAsync" },
    { "hccl", "",                                TL_HTA_COMMUNICATION, "hccl_all_reduce" },
    { "", "ncclKernel",                          TL_HTA_COMMUNICATION, "void ncclKernel_AllGather<int>(int)" },
    { "Memcpy", "",                              TL_HTA_MEMORY,        "Memcpy HtoD (Pageable -> Device)" },
    { "Memset", "",                              TL_HTA_MEMORY,        "Memset (Device)" },
    { "dma", "",                                 TL_HTA_MEMORY,        "dma_load" },
    { "Stream Wait Event", "",                   TL_HTA_OTHER,         "Stream Wait Event" },
    { "runFunction", "",                         TL_HTA_OTHER,         "runFunction - job_prep" },
    { "job_exe", "",                             TL_HTA_OTHER,         "job_exe" },
    { "packet", "",                              TL_HTA_OTHER,         "packet" },
    { "pe_exe", "",                              TL_HTA_OTHER,         "pe_exe" },
    { "cpum_exe_subgraph", "",                   TL_HTA_OTHER,         "cpum_exe_subgraph" },
    { "collective_subgraph_execution", "",       TL_HTA_OTHER,         "collective_subgraph_execution" },
    { "cuda", "LaunchKernel",                    TL_HTA_OTHER,         "cudaLaunchKernel" },
    { "", "Memcpy",                              TL_HTA_OTHER,         "cudaMemcpyAsync" },
    { "", "Memset",                              TL_HTA_OTHER,         "cudaMemsetAsync" },
    { "", "dma",                                 TL_HTA_OTHER,         "void sdma_copy(int)" },
    { "", "Sync",                                TL_HTA_OTHER,         "Stream Sync" },
    { "", "",                                    TL_HTA_COMPUTATION,   "ampere_sgemm_32x32_sliced1x4_tn" },
};
const size_t tl_hta_nrules = sizeof tl_hta_rules / sizeof tl_hta_rules[0];

static bool matches(const tl_hta_rule *rule, tl_text name)
{
    size_t n = strlen(rule->begins);
    return tl_text_starts(name, rule->begins) && tl_text_has((tl_text){ name.p + n, name.n - n }, rule->has);
}

const tl_hta_rule *tl_hta_rule_of(tl_text name)
{
    const tl_hta_rule *rule = tl_hta_rules;
    while (!matches(rule, name))
        rule++;
    return rule;
}
