/* words.c - the values of the answers as phrases. */
#include "tlmpi/report/answers/say.h"

#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ when */

tl_phrase tl_pattern_in_words(tl_pattern pattern, int32_t first, int32_t last, int64_t flagged, size_t nsteps)
{
    const tl_phrase range =
        first == last ? tl_phrase_of("%" PRId32, first) : tl_phrase_of("%" PRId32 "-%" PRId32, first, last);
    const tl_phrase count = /* links have no count of flagged steps */
        flagged > 0 ? tl_phrase_of("%" PRId64 " of %zu steps", flagged, nsteps) : tl_phrase_of("some steps");
    if (nsteps == 0)
        return tl_phrase_of("in the whole trace, which marks no steps");
    if (nsteps == 1)
        return tl_phrase_of("in the only step, %s", range.text);
    switch (pattern) {
    case TL_PATTERN_PERSISTENT:
        if (flagged > 0 && flagged < (int64_t)nsteps)
            return tl_phrase_of("in %s (%s)", count.text, range.text);
        return tl_phrase_of("in all %zu steps (%s)", nsteps, range.text);
    case TL_PATTERN_BOUNDED:
        return flagged > 0 ? tl_phrase_of("in steps %s only (%" PRId64 " of %zu)", range.text, flagged, nsteps)
                           : tl_phrase_of("in steps %s only", range.text);
    case TL_PATTERN_SPORADIC:
        return tl_phrase_of("in %s (the first is %" PRId32 ", the last %" PRId32 ")", count.text, first, last);
    case TL_PATTERN_DRIFTING:
        return tl_phrase_of("by an amount that grows or shrinks, in %s (%s)", count.text, range.text);
    case TL_PATTERN_ONE_OFF:
        return tl_phrase_of("in step %" PRId32 " only", first);
    case TL_PATTERN_NONE:
        break;
    }
    return tl_phrase_of("in no single step, but in all of them together");
}

/* ------------------------------------------------------------------------------------------------------------- why */

tl_phrase tl_cause_in_words(const tl_answers *a, unsigned cause)
{
    static const char *const against[] = { [TL_AGAINST_PEERS] = "",
                                           [TL_AGAINST_STAGES] = ", compared with other stages",
                                           [TL_AGAINST_OWN_STEPS] = ", compared with its other steps" };
    return tl_phrase_of("%s%s", tl_cause_meanings[cause], against[a->against]);
}

tl_phrase tl_link_in_words(const tl_slow_link_row *link)
{
    const char *kind = link->kind < TL_NCOLLECTIVES ? tl_collective_labels[link->kind] : "transfer";
    return tl_phrase_of("%s%s%s takes %s, where other %s take %s", kind, link->bytes > 0 ? " of " : "",
                        link->bytes > 0 ? tl_bytes_in_words(link->bytes).text : "", tl_duration(link->transfer_ns).text,
                        link->evidence == TL_LINK_BY_GROUPS ? "ranks" : "steps", tl_duration(link->elsewhere_ns).text);
}

/* ----------------------------------------------------------------------------------------------------------- costs */

/* Returns how much of the gain lies in the flagged steps, if less than 90 %; else empty. */
static tl_phrase gain_in_steps(const tl_culprit *c)
{
    double told_ns = (double)c->step_cost_ns * (double)c->steps_flagged;
    if (tl_is_link(c) || told_ns <= 0 || told_ns >= 0.9 * (double)c->gain_ns)
        return tl_phrase_of("%s", "");
    return tl_phrase_of(", %s of it in %s", tl_duration((int64_t)told_ns).text,
                        c->steps_flagged == 1 ? "that step" : "these steps");
}

tl_phrase tl_gain_in_words(const tl_answers *a, const tl_culprit *c)
{
    const char *without = tl_is_link(c)      ? "were the link as fast as others"
                          : tl_is_several(c) ? "without their delays"
                                             : "without its delay";
    if (c->gain_ns == 0)
        return tl_phrase_of("nothing %s, simulated", without);
    if (c->gain_ns > 0)
        return tl_phrase_of("%s%s less of %s (%s) %s%s, simulated", tl_gain_is_least(a, c) ? "at least " : "",
                            tl_duration(c->gain_ns).text, tl_duration(a->wall_ns).text,
                            tl_share_in_words(tl_answers_share(a, c->gain_ns)).text, without, gain_in_steps(c).text);
    const tl_phrase why = a->trust.simulated ? tl_phrase_of("simulated, because others cost more")
                          : isnan(a->trust.model_error)
                              ? tl_phrase_of("known, because nothing could be simulated")
                              : tl_phrase_of("known, because the simulation misses the measured time by %.1f %%",
                                             100 * fabs(a->trust.model_error));
    return tl_phrase_of("not %s; %s %s more work than peers in these steps", why.text,
                        tl_is_several(c) ? "they have" : "it has", tl_duration(c->excess_ns).text);
}

/* ---------------------------------------------------------------------------------------------------------- doubts */

static tl_phrase clocks_in_words(const tl_trust *t)
{
    if (t->apart)
        return tl_phrase_of("nothing compares the clocks of the hosts, whose recordings are of different times");
    if (t->untied)
        return tl_phrase_of("nothing compares the clocks of the hosts: who came last is unknown in %s collectives",
                            tl_grouped(t->blurred).text);
    if (t->clock_step_ns > 0)
        return tl_phrase_of("a clock steps by %s in the middle of the recording", tl_duration(t->clock_step_ns).text);
    if (t->clock_off_ns > 0)
        return tl_phrase_of("collectives end as if a clock were off by %s, which is not corrected",
                            tl_duration(t->clock_off_ns).text);
    return tl_phrase_of("clocks are uncertain by %s: who came last is unknown in %s collectives",
                        tl_duration(t->clock_uncertainty_ns).text, tl_grouped(t->blurred).text);
}

/* Returns how long others wait, and how much of that repairing the culprit would save. */
static tl_phrase unlike_gain_in_words(const tl_culprit *c)
{
    if (c->gain_ns > c->waited_ns)
        return tl_phrase_of("its delay, and what others wait for it, is less than half of what would be saved");
    return tl_phrase_of(
        "others wait %s each for %s, but only %s would be saved: the rest is hidden, waited anyway, or not simulated",
        tl_duration(c->waited_ns).text, tl_is_several(c) ? "them" : "it", tl_duration(c->gain_ns).text);
}

/* Returns the doubt with its numbers if these matter for the trust; else the doubt's meaning. */
tl_phrase tl_doubt_in_words(const tl_answers *a, tl_doubt doubt)
{
    static const char grave[] = "grave: ";
    const tl_trust *t = &a->trust;

    switch (doubt) {
    case TL_DOUBT_FEW_STEPS:
        return tl_phrase_of("%zu%s step%s too few for a test of significance", t->nsteps - t->left_out,
                            t->left_out > 0 ? " whole" : "", t->nsteps - t->left_out == 1 ? " is" : "s are");
    case TL_DOUBT_CHANCE:
        if (a->first == NULL)
            break;
        return a->first->p_value > TL_VERDICT_SURE_CHANCE
                   ? tl_phrase_of("chance alone would do so with p = %.1g", a->first->p_value)
                   : tl_phrase_of("noise makes its delay uncertain by %.0f %%", 100 / a->first->z);
    case TL_DOUBT_HARDLY_MATCHED:
        return tl_phrase_of("only %s of %s collectives could be matched across ranks", tl_grouped(t->matched).text,
                            tl_grouped(t->collectives).text);
    case TL_DOUBT_COMM_UNKNOWN:
        return tl_phrase_of("of %s of the time it is unknown whether ranks waited or data moved",
                            tl_part_in_words(a->all.comm_unknown_ns, a->all.wall_ns).text);
    case TL_DOUBT_OUTSIDE:
        if (t->left_out > t->nsteps / (size_t)TL_LITTLE_PART)
            return tl_phrase_of("%zu of %zu steps %s left out: a delay there is not seen", t->left_out, t->nsteps,
                                t->left_out == 1 ? "is" : "are");
        if (t->outside <= t->matched / TL_LITTLE_PART)
            return tl_phrase_of(
                "others wait for it where delays are not judged, too: outside of steps, or in the first or last");
        return tl_phrase_of("%s of %s matched collectives are outside of the marked steps and are not judged",
                            tl_grouped(t->outside).text, tl_grouped(t->matched).text);
    case TL_DOUBT_CLOCKS:
        return clocks_in_words(t);
    case TL_DOUBT_HIDDEN:
        return tl_phrase_of("for whom %s of all waiting was is unknown, because of clocks (%s of %s collectives)",
                            tl_part_in_words(t->hidden_wait_ns, tl_ns_add(t->hidden_wait_ns, t->known_wait_ns)).text,
                            tl_grouped(t->blurred).text, tl_grouped(t->matched).text);
    case TL_DOUBT_MISSING:
        return tl_phrase_of("%zu rank%s no trace", t->missing, t->missing == 1 ? " has" : "s have");
    case TL_DOUBT_SIZES:
        return tl_phrase_of("some traces say that the job has %" PRId32 " rank%s, others %" PRId32
                            ": they may be of two jobs",
                            t->other_world, tl_plural(t->other_world), t->world);
    case TL_DOUBT_GAIN:
        if (a->first != NULL && a->first->gain_ns >= 0)
            return unlike_gain_in_words(a->first);
        break;
    case TL_DOUBT_EXCESS:
        return tl_phrase_of(
            "others wait for a rank or host that does more than its peers, or a step takes %g %% longer than others "
            "(table blame_step): it may be chance, or the first or last step",
            100 * TL_VERDICT_LARGE_COST);
    default:
        break;
    }
    const size_t skipped = strncmp(tl_doubt_meanings[doubt], grave, strlen(grave)) == 0 ? strlen(grave) : 0;
    return tl_phrase_of("%s", tl_doubt_meanings[doubt] + skipped);
}

/* ------------------------------------------------------------------------------------------------------------ next */

/* What to do next, by cause. */
static const char *const next_of[] = {
    [TL_CAUSE_UNKNOWN] = "record that rank again with Python stacks (with_stack=True) and compare it with a peer",
    [TL_CAUSE_COMPUTE_SLOW] =
        "compare these kernels with a peer's (tlmpi show ... kernel_ranks): shapes, library versions, "
        "what else runs on that device",
    [TL_CAUSE_THROTTLED] = "look at clocks, power and temperature of that device, and at what else runs on it",
    [TL_CAUSE_MORE_WORK] = "balance what ranks are given: sequence lengths, batch, experts, layers of a stage",
    [TL_CAUSE_HOST_LATE] =
        "record that rank with Python stacks (with_stack=True) or run py-spy on it; pin its process to "
        "cores near its device",
    [TL_CAUSE_INPUT] = "more workers or prefetch for the data loader of that rank; look at its storage",
    [TL_CAUSE_H2D] = "pin host memory, copy with non_blocking=True, and look at the bus of that device",
    [TL_CAUSE_GC] = "collect garbage on all ranks in the same steps (gc.disable, then gc.collect), or gc.freeze",
    [TL_CAUSE_SYNC_DRAIN] = "take out what reads values of the device in the step (item, cpu, nonzero, print)",
    [TL_CAUSE_ALLOCATOR] = "do not empty the cache in the step; try PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    [TL_CAUSE_SLOW_LINK] = "run nccl-tests between the ranks at its ends, and look at counters of their links",
    [TL_CAUSE_OTHER_GROUP] = "record all members of its groups, so that this communication can be matched",
    [TL_CAUSE_MIXED] = "begin with the largest of its causes; table excess has the places",
    [TL_CAUSE_COPY] = "compare these copies with a peer's (tlmpi show ... copy): sizes, pinned memory, the bus of that "
                      "device",
};

/* Returns what to do next where no rank and no link is named; empty: nothing is known to help. */
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
    if (a->imbalance.roles_ns > 0 && a->imbalance.roles_ns == tl_largest_imbalance(a))
        return next_of[TL_CAUSE_MORE_WORK];
    if (a->trust.nsteps > 0 && a->trust.nsteps < TL_PATTERN_LEAST)
        return a->trust.missing > 0 ? "record all ranks, and more steps, five at least"
                                    : "record more steps, five at least: of these few chance is not told from a delay";
    if (a->trust.missing > 0)
        return "record all ranks";
    if (a->imbalance.hosts_ns == 0 || a->imbalance.hosts_ns != tl_largest_imbalance(a))
        return "";
    return a->trust.nranks > 1 && a->imbalance.hosts_rank >= 0
               ? next_of[TL_CAUSE_HOST_LATE]
               : "launch less: CUDA graphs, torch.compile, larger batches, fused operators";
}

tl_phrase tl_next_in_words(const tl_answers *a)
{
    const char *file = a->untraced_file.text;
    if (a->finding > TL_FOUND_NONE && tl_is_untraced(a->first))
        return tl_phrase_of("record that rank: its own trace shows whether it comes late, and why%s%s",
                            file[0] != '\0' ? " - by the names of the others, its file is " : "", file);
    return tl_phrase_of("%s", a->finding > TL_FOUND_NONE ? next_of[a->first->cause] : without_culprit(a));
}
