#include "tlmpi/report/answers/words.h"

#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How many runs of ranks are shown, and how much of the text of those among which a link is. */
enum { NAMED_RUNS = 8, AMONG_BYTES = 64 };

static tl_phrase phrase(const char *format, ...) __attribute__((format(printf, 1, 2)));

static tl_phrase phrase(const char *format, ...)
{
    tl_phrase out;
    va_list args;
    va_start(args, format);
    if (vsnprintf(out.text, sizeof out.text, format, args) < 0)
        out.text[0] = '\0';
    va_end(args);
    return out;
}

tl_phrase tl_duration(int64_t ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = { { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
    size_t unit = 0;
    while (unit < 2 && (double)ns >= 999.5 * units[unit].ns)
        unit++;
    double value = (double)ns / units[unit].ns;
    int decimals = value >= 99.95 || ns == 0 ? 0 : value >= 9.995 ? 1 : 2;
    return phrase("%.*f %s", decimals, value, units[unit].name);
}

tl_phrase tl_share_in_words(double share)
{
    return phrase("%.1f %%", 100 * share);
}

tl_phrase tl_cell_in_words(const char *cell, size_t size)
{
    return phrase("%.*s", (int)size, cell);
}

/* ------------------------------------------------------------------------------------------------------------- who */

/* "16-23", "1, 5-6 and 9 more". */
static tl_phrase ranks_in_words(const tl_culprit *c)
{
    int32_t ranks[TL_RANKS_LISTED];
    size_t n = tl_ranks_listed(c->ranks, sizeof c->ranks, ranks);
    tl_phrase out = phrase("%s", "");
    size_t used = 0;
    for (size_t i = 0, to, runs = 0; i < n; i = to, runs++) {
        char run[48];
        for (to = i + 1; to < n && tl_ns_between(ranks[to], ranks[to - 1]) == 1; to++)
            ;
        if (runs == NAMED_RUNS) {
            snprintf(out.text + used, sizeof out.text - used, " and %" PRId64 " more", tl_ns_between(c->nranks, (int64_t)i));
            break;
        }
        if (to == i + 1)
            snprintf(run, sizeof run, "%s%" PRId32, i > 0 ? ", " : "", ranks[i]);
        else
            snprintf(run, sizeof run, "%s%" PRId32 "-%" PRId32, i > 0 ? ", " : "", ranks[i], ranks[to - 1]);
        memcpy(out.text + used, run, strlen(run) + 1);
        used += strlen(run);
    }
    return out;
}

tl_phrase tl_culprit_in_words(const tl_culprit *c)
{
    if (tl_is_several(c))
        return phrase("ranks %s", ranks_in_words(c).text);
    if (!tl_is_link(c))
        return phrase("rank %" PRId32, c->rank);
    if (c->rank >= 0 && c->peer >= 0)
        return phrase("the link between ranks %" PRId32 " and %" PRId32, c->rank, c->peer);
    return phrase("a link among ranks %.*s", AMONG_BYTES, c->ranks);
}

tl_phrase tl_place_of_culprit(const tl_culprit *c)
{
    int host = (int)tl_host_length(c->host, sizeof c->host),
        peer = (int)tl_host_length(c->peer_host, sizeof c->peer_host);

    if (tl_is_untraced(c))
        return phrase(" (no trace)");
    if (c->kind == TL_CULPRIT_RANK && tl_is_host_of_pids(c->host, sizeof c->host))
        host = 0;
    if (c->kind == TL_CULPRIT_RANK && c->device >= 0)
        return phrase(" (%s%.*s%sdevice %" PRId32 ")", host > 0 ? "host " : "", host, c->host, host > 0 ? ", " : "",
                      c->device);
    if (host == 0 || (tl_is_link(c) && c->peer_host[0] == '\0'))
        return phrase("%s", "");
    if (tl_is_several(c))
        return phrase(" (%s host %.*s)", c->kind == TL_CULPRIT_HOST ? "all of" : "on", host, c->host);
    if (!tl_is_link(c) || memcmp(c->host, c->peer_host, sizeof c->host) == 0)
        return phrase(" (host %.*s)", host, c->host);
    return phrase(" (hosts %.*s and %.*s)", host, c->host, peer, c->peer_host);
}

/* ------------------------------------------------------------------------------------------------------------ when */

/* "4-6", or "4". */
static tl_phrase range_in_words(const tl_culprit *c)
{
    if (c->first_step == c->last_step)
        return phrase("%" PRId32, c->first_step);
    return phrase("%" PRId32 "-%" PRId32, c->first_step, c->last_step);
}

/* "3 of 5 steps"; of a link, whose steps are not counted, "some steps". */
static tl_phrase count_in_words(const tl_culprit *c, const tl_trust *t)
{
    return c->steps_flagged > 0 ? phrase("%" PRId64 " of %zu steps", c->steps_flagged, t->nsteps)
                                : phrase("some steps");
}

tl_phrase tl_pattern_in_words(const tl_culprit *c, const tl_trust *t)
{
    const tl_phrase range = range_in_words(c), count = count_in_words(c, t);
    if (t->nsteps == 0)
        return phrase("in the whole trace, which marks no steps");
    if (t->nsteps == 1)
        return phrase("in the only step, %" PRId32, c->first_step);
    switch ((tl_pattern)c->pattern) {
    case TL_PATTERN_PERSISTENT:
        if (c->steps_flagged > 0 && c->steps_flagged < (int64_t)t->nsteps)
            return phrase("in %s (%s)", count.text, range.text);
        return phrase("in all %zu steps (%s)", t->nsteps, range.text);
    case TL_PATTERN_BOUNDED:
        return c->steps_flagged > 0
                   ? phrase("in steps %s only (%" PRId64 " of %zu)", range.text, c->steps_flagged, t->nsteps)
                   : phrase("in steps %s only", range.text);
    case TL_PATTERN_SPORADIC:
        return phrase("in %s (the first is %" PRId32 ", the last %" PRId32 ")", count.text, c->first_step,
                      c->last_step);
    case TL_PATTERN_DRIFTING:
        return phrase("by an amount that grows or shrinks, in %s (%s)", count.text, range.text);
    case TL_PATTERN_ONE_OFF:
        return phrase("in step %" PRId32 " only", c->first_step);
    case TL_PATTERN_NONE:
        break;
    }
    return phrase("in no single step, but in all of them together");
}

/* ------------------------------------------------------------------------------------------------------------- why */

const char *tl_cause_in_words(unsigned cause)
{
    static const char *const words[] = {
        [TL_CAUSE_UNKNOWN] = "nothing in the rank's own time explains the delay",
        [TL_CAUSE_COMPUTE_SLOW] = "some of its kernels are slower than the same ones of its peers",
        [TL_CAUSE_THROTTLED] = "all its kernels are slower than its peers' - a slow device",
        [TL_CAUSE_MORE_WORK] = "more kernels, or larger ones, than its peers have",
        [TL_CAUSE_HOST_LATE] = "its device waits for launches, because its CPU thread sleeps or works",
        [TL_CAUSE_INPUT] = "the host waits for input data",
        [TL_CAUSE_H2D] = "copies from host to device",
        [TL_CAUSE_GC] = "the host collects garbage",
        [TL_CAUSE_SYNC_DRAIN] = "the host waits for the device, which then has nothing queued",
        [TL_CAUSE_ALLOCATOR] = "the host allocates or frees device memory",
        [TL_CAUSE_SLOW_LINK] = "no rank is late, but data move slowly",
        [TL_CAUSE_OTHER_GROUP] = "communication that could not be matched",
        [TL_CAUSE_MIXED] = "several causes",
        [TL_CAUSE_COPY] = "copies from its device, within it or to another one take longer than its peers'",
    };
    return cause < sizeof words / sizeof words[0] ? words[cause] : "";
}

tl_phrase tl_untraced_in_words(const tl_answers *a)
{
    const char *file = a->untraced_file;
    return phrase("untraced: its peers have all come and leave together long after, so it comes late, or its link is slow; "
                  "its trace would show%s%s%s",
                  file[0] != '\0' ? " (" : "", file, file[0] != '\0' ? ")" : "");
}

tl_phrase tl_cause_share_in_words(const tl_culprit *c)
{
    const tl_phrase share = tl_share_in_words(c->cause_share);
    if (c->cause == TL_CAUSE_MIXED)
        return phrase("(the largest is %s, %s of the gain)", tl_cause_labels[c->largest_cause], share.text);
    return phrase("(%s of the gain)", share.text);
}

static const char *yardstick_of(const tl_slow_link_row *link)
{
    return link->evidence == TL_LINK_BY_GROUPS ? "other ranks take" : "other steps take";
}

tl_phrase tl_link_in_words(const tl_slow_link_row *link)
{
    const char *kind = link->kind < TL_NCOLLECTIVES ? tl_collective_labels[link->kind] : "transfer";
    if (link->bytes <= 0)
        return phrase("%s takes %s, where %s %s", kind, tl_duration(link->transfer_ns).text, yardstick_of(link),
                      tl_duration(link->elsewhere_ns).text);
    return phrase("%s of %s takes %s, where %s %s", kind, tl_bytes_in_words(link->bytes).text,
                  tl_duration(link->transfer_ns).text, yardstick_of(link), tl_duration(link->elsewhere_ns).text);
}

/* ----------------------------------------------------------------------------------------------------------- costs */

/* Says how much of the gain lies in the flagged steps, where that is less than 90 % of it. */
static tl_phrase gain_in_steps(const tl_culprit *c)
{
    double told_ns = (double)c->step_cost_ns * (double)c->steps_flagged;
    if (tl_is_link(c) || told_ns <= 0 || told_ns >= 0.9 * (double)c->gain_ns)
        return phrase("%s", "");
    return phrase(", %s of it in %s", tl_duration((int64_t)told_ns).text,
                  c->steps_flagged == 1 ? "that step" : "these steps");
}

/* Several slow links may hide each other: what each alone gains is told, and is little. */
static tl_phrase gain_of_links(const tl_answers *a)
{
    if (a->links_gain_ns <= 0)
        return phrase("%s", "");
    return phrase("; without all slow links %s less (%s)", tl_duration(a->links_gain_ns).text,
                  tl_share_in_words(tl_answers_share(a, a->links_gain_ns)).text);
}

tl_phrase tl_gain_in_words(const tl_answers *a, const tl_culprit *c)
{
    const char *without = tl_is_link(c)      ? "were the link as fast as others"
                          : tl_is_several(c) ? "without their delays"
                                             : "without its delay";
    if (c->gain_ns == 0)
        return phrase("nothing %s, simulated%s", without, gain_of_links(a).text);
    if (c->gain_ns >= 0)
        return phrase("%s%s less of %s (%s) %s%s, simulated%s", tl_is_least(a, c) ? "at least " : "",
                      tl_duration(c->gain_ns).text,
                      tl_duration(a->wall_ns).text, tl_share_in_words(tl_answers_share(a, c->gain_ns)).text, without,
                      gain_in_steps(c).text, gain_of_links(a).text);
    const tl_phrase beyond = phrase("%s %s more work than peers", tl_is_several(c) ? "they have" : "it has",
                                    tl_duration(c->excess_ns).text);
    if (a->trust.simulated)
        return phrase("not simulated, because others cost more; %s in these steps", beyond.text);
    if (isnan(a->trust.model_error))
        return phrase("not known, because nothing could be simulated; %s in these steps", beyond.text);
    return phrase("not known, because the simulation misses the measured time by %.1f %%; %s in these steps",
                  100 * fabs(a->trust.model_error), beyond.text);
}

static const char *following_in_words(const tl_trust *t)
{
    bool one = t->following == 1;
    if (t->misnumbered == 0)
        return one ? "marks no steps" : "mark no steps";
    if (t->misnumbered == t->following)
        return one ? "numbers its steps otherwise" : "number their steps otherwise";
    return "mark no steps, or number them otherwise";
}

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* Says how many events have no valid duration: of the first culprit's ranks, where their share is above that of all
 * ranks. */
static tl_phrase untimed_in_words(const tl_answers *a)
{
    const tl_culprit *worst = a->nculprits > 0 ? &a->culprits[0] : NULL;
    bool own = worst != NULL && share_of(worst->untimed, worst->events) > share_of(a->trust.untimed, a->trust.events);
    int64_t n = own ? worst->untimed : a->trust.untimed, of = own ? worst->events : a->trust.events;
    return phrase("%s event%s (%s of %s events) %s no valid duration and count%s as 0", tl_grouped(n).text,
                  tl_plural(n), tl_share_in_words(share_of(n, of)).text,
                  !own                 ? "all"
                  : worst->nranks == 1 ? "its"
                                       : "their",
                  n == 1 ? "has" : "have", n == 1 ? "s" : "");
}

static tl_phrase clocks_in_words(const tl_trust *t)
{
    if (t->untied)
        return phrase("nothing compares the clocks of the hosts: who came last is unknown in %s collectives",
                      tl_grouped(t->blurred).text);
    if (t->clock_step_ns > 0)
        return phrase("a clock steps by %s in the middle of the recording", tl_duration(t->clock_step_ns).text);
    if (t->clock_off_ns > 0)
        return phrase("collectives end as if a clock were off by %s, which is not corrected",
                      tl_duration(t->clock_off_ns).text);
    return phrase("clocks are uncertain by %s: who came last is unknown in %s collectives",
                  tl_duration(t->clock_uncertainty_ns).text, tl_grouped(t->blurred).text);
}

static tl_phrase missing_in_words(const tl_trust *t)
{
    const char *have = t->missing == 1 ? " has" : "s have";
    if (t->stood_in > 0)
        return phrase("%s rank%s no trace (%s estimated from others in the simulation)",
                      tl_grouped((int64_t)t->missing).text, have, tl_grouped(t->stood_in).text);
    return phrase("%s rank%s no trace", tl_grouped((int64_t)t->missing).text, have);
}

/* What others wait, and what of it would be saved. */
static tl_phrase unlike_gain_in_words(const tl_answers *a)
{
    if (a->nculprits == 0 || a->culprits[0].gain_ns < 0)
        return phrase("%s", "");
    const tl_culprit *c = &a->culprits[0];
    if (c->gain_ns > c->waited_ns)
        return phrase("its delay, and what others wait for it, is less than half of what would be saved");
    return phrase("others wait %s each for %s, but only %s would be saved: the rest is hidden, or would be waited "
                  "anyway",
                  tl_duration(c->waited_ns).text, tl_is_several(c) ? "them" : "it", tl_duration(c->gain_ns).text);
}

static tl_phrase elsewhere_in_words(const tl_answers *a)
{
    if (a->nculprits == 0 || a->culprits[0].gain_ns <= 0)
        return phrase("%s", "");
    return phrase("%s of the gain is in other steps, in which the delay is no larger than chance explains",
                  tl_share_in_words(1 - share_of(a->culprits[0].in_steps_ns, a->culprits[0].gain_ns)).text);
}

tl_phrase tl_doubt_in_words(const tl_answers *a, tl_doubt doubt)
{
    const tl_trust *t = &a->trust;

    switch (doubt) {
    case TL_DOUBT_ONE_STEP:
        return t->nsteps == 0 ? phrase("the traces mark no steps") : phrase("there is a single step");
    case TL_DOUBT_FEW_STEPS:
        return phrase("%zu steps are too few for a test of significance", t->nsteps);
    case TL_DOUBT_CHANCE:
        return phrase("chance alone would do so with p = %.1g", a->nculprits > 0 ? a->culprits[0].p_value : NAN);
    case TL_DOUBT_ELSEWHERE:
        return elsewhere_in_words(a);
    case TL_DOUBT_HARDLY_MATCHED:
        if (t->collectives == 0)
            return phrase("the traces show no communication between ranks");
        return phrase("only %s of %s collectives could be matched across ranks", tl_grouped(t->matched).text,
                      tl_grouped(t->collectives).text);
    case TL_DOUBT_COMM_UNKNOWN:
        return phrase("of %s of the time it is unknown whether ranks waited or data moved",
                      tl_share_in_words(share_of(a->comm_unknown_ns, a->wall_sum_ns)).text);
    case TL_DOUBT_OUTSIDE:
        return phrase("%s of %s matched collectives are outside of the marked steps and are not judged",
                      tl_grouped(t->outside).text, tl_grouped(t->matched).text);
    case TL_DOUBT_CLOCKS:
        return clocks_in_words(t);
    case TL_DOUBT_HIDDEN:
        return phrase(
            "for whom %s of all waiting was is unknown, because of clocks (%s of %s collectives)",
            tl_share_in_words(share_of(t->hidden_wait_ns, tl_ns_add(t->hidden_wait_ns, t->known_wait_ns))).text,
            tl_grouped(t->blurred).text, tl_grouped(t->matched).text);
    case TL_DOUBT_MISSING:
        return missing_in_words(t);
    case TL_DOUBT_DAMAGED:
        return phrase("%zu trace%s damaged or cut", t->damaged, t->damaged == 1 ? " is" : "s are");
    case TL_DOUBT_UNTIMED:
        return untimed_in_words(a);
    case TL_DOUBT_SIZES:
        return phrase("some traces say that the job has %" PRId32 " rank%s, others %" PRId32
                      ": they may be of two jobs",
                      t->other_world, tl_plural(t->other_world), t->world);
    case TL_DOUBT_DUPLICATES:
        return phrase("%zu rank%s more than one trace of the same time: they may be of two jobs", t->duplicates,
                      t->duplicates == 1 ? " has" : "s have");
    case TL_DOUBT_NO_WORK:
        return phrase("the trace%s of %zu rank%s no device work", tl_plural((int64_t)t->workless), t->workless,
                      t->workless == 1 ? " shows" : "s show");
    case TL_DOUBT_NO_LAUNCHES:
        return phrase("the trace%s of %zu rank%s the launches of a tenth of the device work or more: what released it is unknown",
                      tl_plural((int64_t)t->launchless), t->launchless, t->launchless == 1 ? " lacks" : "s lack");
    case TL_DOUBT_LOST:
        return phrase("the work of some launches is not in the traces (table health)");
    case TL_DOUBT_TAKEN:
        return phrase("kernels are taken for communication because they end together on all ranks (--rules FILE can "
                      "name them)");
    case TL_DOUBT_UNMARKED:
        return phrase("%s rank%s no steps: additional work of %s is not found", tl_grouped((int64_t)t->unmarked).text,
                      t->unmarked == 1 ? " marks" : "s mark", t->unmarked == 1 ? "it" : "theirs");
    case TL_DOUBT_FOLLOWING:
        return phrase("%s rank%s %s: steps are taken from the collectives that %s with others",
                      tl_grouped((int64_t)t->following).text, tl_plural((int64_t)t->following), following_in_words(t),
                      t->following == 1 ? "it shares" : "they share");
    case TL_DOUBT_NOT_REPLAYED:
        return phrase("the cost could not be simulated");
    case TL_DOUBT_GAIN:
        return unlike_gain_in_words(a);
    case TL_DOUBT_UNEXPLAINED:
        return phrase("%s of the critical path is unexplained%s", tl_duration(a->path.unexplained_ns).text,
                      a->nculprits > 0 ? ", which is more than the gain" : ": a delay may hide there");
    case TL_DOUBT_EXCESS:
        return phrase("a rank or a host does more than its peers, for which others wait most or %g %% of a step, or a step "
                      "takes so much longer, on ranks without peers that do not (table blame_step): it may be chance, or the first or "
                      "last step",
                      100 * TL_VERDICT_LARGE_COST);
    case TL_DOUBT_ENDS:
        return phrase("which of its ranks are at the ends of the link is unknown");
    case TL_DOUBT_OTHER_STAGES:
        return phrase("all ranks that do the same are slow beside those of other stages, which run as many kernels of "
                      "these names: whether these do as much is unknown");
    case TL_DOUBT_HALF:
        return phrase("half of the ranks are slower than the other half: which half is as it should be is unknown");
    case TL_DOUBT_MIXED:
        return phrase("no single cause has 80 %% of the delay");
    case TL_DOUBT_UNKNOWN:
        return phrase("the cause is unknown");
    case TL_DOUBT_NO_PLACE:
        return phrase("no kernel, operator or annotation stands out");
    case TL_DOUBT_CHARGES:
        return phrase("others wait mostly while it does something else than its cause (table blame)");
    case TL_DOUBT_NO_VERDICT:
        return phrase("there is no verdict");
    case TL_NDOUBTS:
        break;
    }
    return phrase("%s", "");
}
