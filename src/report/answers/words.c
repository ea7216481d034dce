/* words.c - the values of the answers as phrases; what is wrong with the recording, a phrase for each defect. */
#include "tlmpi/report/answers/tell.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/parameters.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ when */

tl_phrase tl_pattern_in_words(tl_pattern pattern, int32_t first, int32_t last, int64_t flagged, size_t nsteps,
                              size_t left_out)
{
    const char *whole = left_out > 0 ? "whole " : "";
    nsteps -= left_out;
    const tl_phrase range =
        first == last ? tl_phrase_of("%" PRId32, first) : tl_phrase_of("%" PRId32 "-%" PRId32, first, last);
    const tl_phrase count = /* links have no count of flagged steps */
        flagged > 0 ? tl_phrase_of("%" PRId64 " of %zu %ssteps", flagged, nsteps, whole) : tl_phrase_of("some steps");
    if (nsteps == 0)
        return tl_phrase_of("in the whole trace, which marks no steps");
    if (nsteps == 1)
        return tl_phrase_of("in the only %sstep, %s", whole, range.text);
    switch (pattern) {
    case TL_PATTERN_PERSISTENT:
        if (flagged > 0 && flagged < (int64_t)nsteps)
            return tl_phrase_of("in %s (%s)", count.text, range.text);
        return tl_phrase_of("in all %zu %ssteps (%s)", nsteps, whole, range.text);
    case TL_PATTERN_BOUNDED:
        return flagged > 0 ? tl_phrase_of("in %ssteps %s only (%" PRId64 " of %zu)", whole, range.text, flagged, nsteps)
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

/* ----------------------------------------------------------------------------------------------------------- costs */

tl_phrase tl_gain_in_words(const tl_answers *a, const tl_culprit *c)
{
    const char *without = tl_is_link(c)      ? "were the link as fast as others"
                          : tl_is_several(c) ? "without their delays"
                                             : "without its delay";
    if (c->gain_ns == 0)
        return tl_phrase_of("nothing %s, simulated", without);
    if (c->gain_ns > 0) {
        const double told_ns = (double)c->step_cost_ns * (double)c->steps_flagged; /* the gain in the flagged steps */
        const bool elsewhere = !tl_is_link(c) && told_ns > 0 && told_ns < 0.9 * (double)c->gain_ns;
        const tl_phrase part = tl_phrase_of(", %s of it in %s", tl_duration(elsewhere ? (int64_t)told_ns : 0).text,
                                            c->steps_flagged == 1 ? "that step" : "these steps");
        return tl_phrase_of("%s%s less of %s (%s) %s%s, simulated", tl_gain_is_least(a, c) ? "at least " : "",
                            tl_duration(c->gain_ns).text, tl_duration(a->wall_ns).text,
                            tl_share_in_words(tl_answers_share(a, c->gain_ns)).text, without,
                            elsewhere ? part.text : "");
    }
    const tl_phrase why = a->trust.simulated ? tl_phrase_of("simulated, because others cost more")
                          : isnan(a->trust.model_error)
                              ? tl_phrase_of("known, because nothing could be simulated")
                              : tl_phrase_of("known, because the simulation misses the measured time by %s",
                                             tl_share_in_words(fabs(a->trust.model_error)).text);
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
                   ? tl_phrase_of("chance alone explains it with p = %.1g", a->first->p_value)
                   : tl_phrase_of("noise makes its delay uncertain by %.0f %%", 100 / a->first->z);
    case TL_DOUBT_HARDLY_MATCHED:
        return tl_phrase_of("only %s of %s collectives could be matched across ranks", tl_grouped(t->matched).text,
                            tl_grouped(t->collectives).text);
    case TL_DOUBT_COMM_UNKNOWN:
        return tl_phrase_of("for %s of the time it is unknown whether ranks waited or data moved",
                            tl_part_in_words(a->all.comm_unknown_ns, a->all.wall_ns).text);
    case TL_DOUBT_OUTSIDE:
        if (t->left_out > t->nsteps / (size_t)TL_LITTLE_PART)
            return tl_phrase_of("%zu of %zu steps %s left out: a delay there is not seen", t->left_out, t->nsteps,
                                t->left_out == 1 ? "is" : "are");
        if (t->outside <= t->matched / TL_LITTLE_PART)
            return tl_phrase_of(
                "others also wait for it where delays are not judged: outside of steps, or in the first or last step");
        return tl_phrase_of("%s of %s matched collectives are outside of the marked steps and are not judged",
                            tl_grouped(t->outside).text, tl_grouped(t->matched).text);
    case TL_DOUBT_CLOCKS:
        return clocks_in_words(t);
    case TL_DOUBT_HIDDEN:
        return tl_phrase_of("the clocks leave open which rank %s of all waiting was for (%s of %s collectives)",
                            tl_part_in_words(t->hidden_wait_ns, tl_ns_add(t->hidden_wait_ns, t->known_wait_ns)).text,
                            tl_grouped(t->blurred).text, tl_grouped(t->matched).text);
    case TL_DOUBT_MISSING:
        return tl_phrase_of("%zu rank%s no trace", t->missing, t->missing == 1 ? " has" : "s have");
    case TL_DOUBT_SIZES:
        return tl_phrase_of("some traces say that the job has %" PRId32 " rank%s, others %" PRId32
                            ": they may be of two jobs",
                            t->other_world, tl_plural(t->other_world), t->world);
    case TL_DOUBT_GAIN:
        if (a->first == NULL || a->first->gain_ns < 0)
            break;
        if (a->first->gain_ns > a->first->waited_ns)
            return tl_phrase_of("its delay, and what others wait for it, is less than half of what would be saved");
        return tl_phrase_of(
            "others wait %s each for %s, but only %s would be saved: the rest is hidden, waited anyway, "
            "or not simulated",
            tl_duration(a->first->waited_ns).text, tl_is_several(a->first) ? "them" : "it",
            tl_duration(a->first->gain_ns).text);
    case TL_DOUBT_EXCESS:
        return tl_phrase_of(
            "others wait for a rank or host that does more than its peers, or a step takes %g %% longer than others "
            "(table blame_step), by work or transfers: it may be chance, or the first or last step",
            100 * TL_VERDICT_LARGE_COST);
    default:
        break;
    }
    const size_t skipped = strncmp(tl_doubt_meanings[doubt], grave, strlen(grave)) == 0 ? strlen(grave) : 0;
    return tl_phrase_of("%s", tl_doubt_meanings[doubt] + skipped);
}

/* ------------------------------------------------------------------------------------------------------------ next */

extern const char *const tl_next_text[]; /* the lines of next.txt */

/* Returns what next.txt advises for the cause or finding: the line after that of its word and of the table that shows
 * more. */
static const char *advice_of(const char *word, const char **table)
{
    const char *const *line = tl_next_text;
    const size_t n = strlen(word);
    while (strncmp(*line, word, n) != 0 || (*line)[n] != ' ')
        line += 2;
    *table = *line + n + 1;
    return line[1];
}

/* Returns what to do next where no rank and no link is named; empty: nothing is known to help. */
static const char *without_culprit(const tl_answers *a, const char **table)
{
    if (a->finding < TL_FOUND_NO_VERDICT)
        return advice_of(tl_finding_labels[a->finding], table);
    if (a->imbalance.roles_ns > 0 && a->imbalance.roles_ns == tl_largest_imbalance(a))
        return advice_of("more_work", table);
    if (a->trust.nsteps > 0 && a->trust.nsteps < TL_PATTERN_LEAST)
        return a->trust.missing > 0 ? "record all ranks, and more steps, five at least"
                                    : "record more steps, five at least: fewer cannot tell a delay from chance";
    if (a->trust.missing > 0)
        return "record all ranks";
    if (a->imbalance.hosts_ns == 0 || a->imbalance.hosts_ns != tl_largest_imbalance(a))
        return "";
    return a->trust.nranks > 1 && a->imbalance.hosts_rank >= 0
               ? advice_of("host_late", table)
               : "launch less: CUDA graphs, torch.compile, larger batches, fused operators";
}

tl_phrase tl_next_in_words(const tl_answers *a, const char **table)
{
    const char *file = a->untraced_file.text;
    *table = NULL;
    if (a->phases_alone)
        return tl_phrase_of("%s", a->phases->verdict == TL_PHASE_STRAGGLER
                                      ? "record Kineto traces of all ranks in such steps: they show why"
                                      : "");
    if (a->finding <= TL_FOUND_NONE)
        return tl_phrase_of("%s", without_culprit(a, table));
    if (tl_is_untraced(a->first))
        return tl_phrase_of("record that rank: its own trace shows whether it comes late, and why%s%s",
                            file[0] != '\0' ? " - by the names of the others, its file is " : "", file);
    return tl_phrase_of("%s", advice_of(tl_cause_labels[a->first->cause], table));
}

/* -------------------------------------------------------------------------------------------------------- selection */

void tl_say_selection(tl_wrap *w, const tl_answers *a)
{
    if (a->selection != NULL)
        tl_say(w, "Selected: %s - everything below describes only that%s%s", a->selection,
               a->notes != NULL ? "; " : ".", a->notes != NULL ? a->notes : "");
}

/* ------------------------------------------------------------------------------------------------------- recording */

/* The sums of all rows of one defect. */
typedef struct total {
    int64_t count, of, time_ns, worst_ns;
    int32_t worst; /* the rank with the longest time */
    size_t nranks, nsteps;
    tl_phrase ranks, steps; /* "rank 1", "ranks 1-3"; "step 4", "steps 4,7-9", empty */
} total;

/* Sorts the numbers, removes duplicates, and returns them in words. */
static tl_phrase numbers_in_words(const char *word, int32_t *v, size_t *n)
{
    char list[40] = "";
    *n = tl_int_unique(v, *n);
    tl_ranks_text(v, *n, list, sizeof list);
    return *n == 0 ? (tl_phrase){ "" }
                   : tl_phrase_of("%s%s %.*s", word, tl_plural((int64_t)*n), (int)sizeof list, list);
}

static total sum_rows(const tl_table *health, tl_defect defect)
{
    int32_t *ranks = tl_malloc((health->n + 1) * sizeof *ranks), *steps = tl_malloc((health->n + 1) * sizeof *steps);
    total t = { .worst = -1 };
    TL_ROWS (const tl_health, row, health) {
        if (row->defect != defect)
            continue;
        t.count = tl_ns_add(t.count, row->count);
        t.of = tl_ns_add(t.of, row->of);
        t.time_ns = tl_ns_add(t.time_ns, row->time_ns);
        if (t.nranks == 0 || row->time_ns > t.worst_ns) {
            t.worst = row->rank;
            t.worst_ns = row->time_ns;
        }
        ranks[t.nranks++] = row->rank;
        if (row->step >= 0)
            steps[t.nsteps++] = row->step;
    }
    t.ranks = numbers_in_words("rank", ranks, &t.nranks);
    t.steps = numbers_in_words("step", steps, &t.nsteps);
    free(ranks);
    free(steps);
    return t;
}

static tl_phrase lost_in_words(const total *t, bool at_end)
{
    const tl_phrase idle = t->time_ns > 0 ? tl_phrase_of("; %s of idle time may be work", tl_duration(t->time_ns).text)
                                          : (tl_phrase){ "" };
    return tl_phrase_of("%" PRId64 " of %" PRId64 " launches of %s%s%s %s%s%s", t->count, t->of, t->ranks.text,
                        t->nsteps > 0 ? " in " : "", t->steps.text,
                        at_end ? "had not run when the recording ended, or were not recorded"
                               : "were not recorded, or not whole",
                        t->nsteps == 0  ? ""
                        : t->nranks > 1 ? ": there a delay of these ranks counts as far as the recorded work shows it"
                                        : ": there a delay of this rank counts as far as the recorded work shows it",
                        idle.text);
}

/* "rank 3 began later, by 15.0 s: step 10 left out". */
static tl_phrase other_window_in_words(const total *t, const char *how)
{
    const tl_phrase others =
        t->nranks > 1 ? tl_phrase_of(", and %zu other%s by less", t->nranks - 1, tl_plural((int64_t)t->nranks - 1))
                      : (tl_phrase){ "" };
    return tl_phrase_of("rank %" PRId32 " %s, by %s%s%s%s%s", t->worst, how, tl_duration(t->worst_ns).text, others.text,
                        t->nsteps > 0 ? ": " : "", t->steps.text, t->nsteps > 0 ? " left out" : "");
}

bool tl_health_in_words(const tl_table *health, tl_defect defect, tl_phrase *out)
{
    const total t = sum_rows(health, defect);
    switch (defect) {
    case TL_DEFECT_LOST:
    case TL_DEFECT_LOST_AT_BEGIN:
    case TL_DEFECT_LOST_AT_END:
        *out = lost_in_words(&t, defect == TL_DEFECT_LOST_AT_END);
        break;
    case TL_DEFECT_BEGINS_LATER:
        *out = other_window_in_words(&t, "began later");
        break;
    case TL_DEFECT_ENDS_EARLIER:
        *out = other_window_in_words(&t, "ended earlier");
        break;
    case TL_DEFECT_NOT_WHOLE:
        *out = tl_phrase_of("%s %s not whole on all ranks: the table of ranks and the losses describe the other steps",
                            t.steps.text, t.nsteps > 1 ? "are" : "is");
        break;
    case TL_DEFECT_NO_LAUNCH:
        *out = tl_phrase_of("%" PRId64 " of %" PRId64 " pieces of device work of %s have no launch in the trace: what "
                            "released them is unknown",
                            t.count, t.of, t.ranks.text);
        break;
    case TL_NDEFECTS:
        break;
    }
    return t.nranks > 0;
}
