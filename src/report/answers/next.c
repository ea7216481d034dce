/* next.c - what to do next: one line for each cause, and for each reason why there is no verdict. */
#include "tlmpi/model/parameters.h"
#include "tlmpi/report/answers/say.h"
#include <stddef.h>

static const char *const by_cause[] = {
    [TL_CAUSE_UNKNOWN] = "record that rank again with Python stacks (with_stack=True) and compare it with a peer",
    [TL_CAUSE_COMPUTE_SLOW] = ("compare these kernels with a peer's (tlmpi show ... kernel_ranks): shapes, library "
                                "versions, what else runs on that device"),
    [TL_CAUSE_THROTTLED] = "look at clocks, power and temperature of that device, and at what else runs on it",
    [TL_CAUSE_MORE_WORK] = "balance what ranks are given: sequence lengths, batch, experts, layers of a stage",
    [TL_CAUSE_HOST_LATE] = ("record that rank with Python stacks (with_stack=True) or run py-spy on it; pin its process "
                                "to cores near its device"),
    [TL_CAUSE_INPUT] = "more workers or prefetch for the data loader of that rank; look at its storage",
    [TL_CAUSE_H2D] = "pin host memory, copy with non_blocking=True, and look at the bus of that device",
    [TL_CAUSE_GC] = "collect garbage on all ranks in the same steps (gc.disable, then gc.collect), or gc.freeze",
    [TL_CAUSE_SYNC_DRAIN] = "take out what reads values of the device in the step (item, cpu, nonzero, print)",
    [TL_CAUSE_ALLOCATOR] = "do not empty the cache in the step; try PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    [TL_CAUSE_SLOW_LINK] = "run nccl-tests between the ranks at its ends, and look at counters of their links",
    [TL_CAUSE_OTHER_GROUP] = "record all members of its groups, so that this communication can be matched",
    [TL_CAUSE_COPY] = "compare these copies with a peer's (tlmpi show ... copy): sizes, pinned memory, the bus of that device",
    [TL_CAUSE_MIXED] = "begin with the largest of its causes; table excess has the places",
};

/* Returns what to do next where no rank and no link is named. */
static const char *without_culprit(const tl_answers *a)
{
    switch (a->finding) {
    case TL_FOUND_NO_WORK:
        return "record with ProfilerActivity.CUDA (or the device's own)";
    case TL_FOUND_ONE_RANK:
        return "record the other ranks too: a delay shows only against peers";
    case TL_FOUND_SILENCE:
        return "name the kernels that communicate in a rules file (--rules), or record where ranks communicate";
    case TL_FOUND_UNMATCHED:
        return "record all members of a group in the same steps";
    default:
        break;
    }
    if (a->trust.nsteps > 0 && a->trust.nsteps < (size_t)TL_PATTERN_LEAST_STEPS)
        return a->trust.missing > 0 ? "record all ranks, and more steps, five at least"
                                    : "record more steps, five at least: of these few chance is not told from a delay";
    if (a->trust.missing > 0)
        return "record all ranks";
    return a->imbalance.hosts_ns > 0 && a->imbalance.hosts_ns == tl_largest_imbalance(a)
               ? "launch less: CUDA graphs, torch.compile, larger batches, fused operators"
               : NULL;
}

const char *tl_next_in_words(const tl_answers *a)
{
    if (a->finding <= TL_FOUND_NOBODY)
        return without_culprit(a);
    if (tl_is_untraced(&a->culprits[0]))
        return "record that rank: its own trace shows whether it comes late, and why";
    unsigned cause = a->culprits[0].cause;
    return cause < sizeof by_cause / sizeof *by_cause ? by_cause[cause] : NULL;
}
