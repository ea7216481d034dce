/* symbols.c - a text enters the table once, and what HTA reads out of it is noted beside it: its class as a kernel,
 * among others.
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
#include "tlmpi/base/group.h"
#include "tlmpi/model/schema.h"
#include <stdlib.h>

const char *const tl_hta_class_labels[TL_HTA_NCLASSES] = {
    [TL_HTA_COMPUTATION] = "COMPUTATION",
    [TL_HTA_COMMUNICATION] = "COMMUNICATION",
    [TL_HTA_MEMORY] = "MEMORY",
    [TL_HTA_OTHER] = "OTHER",
};

const tl_hta_rule tl_hta_rules[] = {
    /* begins, has                               class                  seen */
    { "nccl", "", TL_HTA_COMMUNICATION, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" },
    { "hip", "", TL_HTA_COMMUNICATION, "hipMemcpyAsync" },
    { "hccl", "", TL_HTA_COMMUNICATION, "hccl_all_reduce" },
    { "", "ncclKernel", TL_HTA_COMMUNICATION, "void ncclKernel_AllGather<int>(int)" },
    { "Memcpy", "", TL_HTA_MEMORY, "Memcpy HtoD (Pageable -> Device)" },
    { "Memset", "", TL_HTA_MEMORY, "Memset (Device)" },
    { "dma", "", TL_HTA_MEMORY, "dma_load" },
    { "Stream Wait Event", "", TL_HTA_OTHER, "Stream Wait Event" },
    { "runFunction", "", TL_HTA_OTHER, "runFunction - job_prep" },
    { "job_exe", "", TL_HTA_OTHER, "job_exe" },
    { "packet", "", TL_HTA_OTHER, "packet" },
    { "pe_exe", "", TL_HTA_OTHER, "pe_exe" },
    { "cpum_exe_subgraph", "", TL_HTA_OTHER, "cpum_exe_subgraph" },
    { "collective_subgraph_execution", "", TL_HTA_OTHER, "collective_subgraph_execution" },
    { "cuda", "LaunchKernel", TL_HTA_OTHER, "cudaLaunchKernel" },
    { "", "Memcpy", TL_HTA_OTHER, "cudaMemcpyAsync" },
    { "", "Memset", TL_HTA_OTHER, "cudaMemsetAsync" },
    { "", "dma", TL_HTA_OTHER, "void sdma_copy(int)" },
    { "", "Sync", TL_HTA_OTHER, "Stream Sync" },
    { "", "", TL_HTA_COMPUTATION, "ampere_sgemm_32x32_sliced1x4_tn" },
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

/* More digits than this are no step number: it must fit an int64_t. */
#define STEP_DIGITS 18

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The k of "ProfilerStep#k", blanks around the '#' allowed; -1 for any other text. */
static int64_t step_of(tl_text name)
{
    size_t i = sizeof "ProfilerStep" - 1, first;
    int64_t step = 0;

    while (i < name.n && is_blank(name.p[i]))
        i++;
    if (i >= name.n || name.p[i++] != '#')
        return -1;
    while (i < name.n && is_blank(name.p[i]))
        i++;
    for (first = i; i < name.n && is_digit(name.p[i]) && i - first < STEP_DIGITS; i++)
        step = 10 * step + (name.p[i] - '0');
    return i > first ? step : -1;
}

static tl_hta_vendor vendor_of(tl_text name)
{
    if (tl_text_is(name, "cudaLaunchKernel"))
        return TL_HTA_NVIDIA;
    if (tl_text_is(name, "hipLaunchKernel"))
        return TL_HTA_AMD;
    if (tl_text_is(name, "runFunction - job_prep_and_submit_for_execution"))
        return TL_HTA_MTIA;
    return TL_HTA_NO_LAUNCH;
}

static tl_hta_symbol symbol_of(tl_text name)
{
    static const char marked[] = "ProfilerStep#";
    const size_t n = sizeof marked - 1;
    bool step_row = tl_text_starts(name, "ProfilerStep");

    return (tl_hta_symbol){
        .class = tl_hta_rule_of(name)->class,
        .launch = vendor_of(name),
        .sync = tl_text_is(name, "Event Sync") || tl_text_is(name, "Context Sync"),
        .step_row = step_row,
        .step_name = tl_text_starts(name, marked) && name.n > n && is_digit(name.p[n]),
        .step_mark = tl_text_starts(name, marked),
        .autograd = tl_text_has(name, "autograd::"),
        .backward_mark = tl_text_starts(name, "## backward ##"),
        .step = step_row ? step_of(name) : -1,
    };
}

uint32_t tl_hta_symbol_id(tl_hta_symbols *symbols, tl_text text)
{
    uint32_t id = tl_names_intern(&symbols->texts, text.p, text.n);
    if (id == symbols->v.n)
        tl_vec_push(&symbols->v, symbol_of(text));
    return id;
}

bool *tl_hta_symbols_that(const tl_hta_symbols *symbols, bool (*is)(tl_text))
{
    bool *that = tl_calloc(symbols->v.n, sizeof *that);
    for (size_t i = 0; i < symbols->v.n; i++)
        that[i] = is(tl_hta_text(symbols, (uint32_t)i));
    return that;
}

void tl_hta_symbols_free(tl_hta_symbols *symbols)
{
    tl_names_free(&symbols->texts);
    free(symbols->v.v);
    *symbols = (tl_hta_symbols){ 0 };
}
