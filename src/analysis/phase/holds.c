/* holds.c - what the name of a phase says of collectives in it. */
#include "tlmpi/analysis/phase.h"
#include <ctype.h>

/* The first that stands anywhere in the name, in small letters, decides. */
static const struct {
    const char *needle;
    tl_phase_holds holds;
} rules[] = {
    { "all_reduce", TL_HOLDS_ONLY },  { "allreduce", TL_HOLDS_ONLY },      { "all-reduce", TL_HOLDS_ONLY },
    { "all_gather", TL_HOLDS_ONLY },  { "allgather", TL_HOLDS_ONLY },      { "all_to_all", TL_HOLDS_ONLY },
    { "alltoall", TL_HOLDS_ONLY },    { "reduce_scatter", TL_HOLDS_ONLY }, { "grad_sync", TL_HOLDS_ONLY },
    { "grad_reduce", TL_HOLDS_ONLY }, { "barrier", TL_HOLDS_ONLY },        { "nccl", TL_HOLDS_ONLY },
    { "rccl", TL_HOLDS_ONLY },        { "collective", TL_HOLDS_ONLY },     { "comm", TL_HOLDS_ONLY },
    { "train", TL_HOLDS_SOME },       { "parallel", TL_HOLDS_SOME },       { "ddp", TL_HOLDS_SOME },
    { "fsdp", TL_HOLDS_SOME },        { "backward", TL_HOLDS_SOME },       { "bwd", TL_HOLDS_SOME },
    { "optim", TL_HOLDS_SOME },       { "step", TL_HOLDS_SOME },           { "host_to_device", TL_HOLDS_NONE },
    { "h2d", TL_HOLDS_NONE },         { "data", TL_HOLDS_NONE },           { "input", TL_HOLDS_NONE },
    { "loader", TL_HOLDS_NONE },      { "loading", TL_HOLDS_NONE },        { "prefetch", TL_HOLDS_NONE },
    { "tokeniz", TL_HOLDS_NONE },     { "preproc", TL_HOLDS_NONE },
};

tl_phase_holds tl_phase_holds_of(tl_text name)
{
    char small[256];
    size_t n = name.n < sizeof small ? name.n : sizeof small;
    for (size_t i = 0; i < n; i++)
        small[i] = (char)tolower((unsigned char)name.p[i]);
    const tl_text text = { small, n };

    if (tl_text_has(text, "metric")) /* of a training step, and after it */
        return TL_HOLDS_UNKNOWN;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (tl_text_has(text, rules[i].needle))
            return rules[i].holds;
    return TL_HOLDS_UNKNOWN;
}
