#include "tlmpi/report/answers/words.h"

#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How much of a host's name is shown, how many runs of ranks, and how much of the text of those among which a link
 * is. */
enum { HOST_BYTES = 64, NAMED_RUNS = 8, AMONG_BYTES = 64 };

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
        for (to = i + 1; to < n && ranks[to] == ranks[to - 1] + 1; to++)
            ;
        if (runs == NAMED_RUNS) {
            snprintf(out.text + used, sizeof out.text - used, " and %" PRId64 " more", c->nranks - (int64_t)i);
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
    int host = c->host[0] != '\0' ? HOST_BYTES : 0;

    if (c->kind == TL_CULPRIT_RANK && c->device >= 0)
        return phrase(" (%s%.*s%sdevice %" PRId32 ")", host > 0 ? "host " : "", host, c->host, host > 0 ? ", " : "",
                      c->device);
    if (host == 0 || (tl_is_link(c) && c->peer_host[0] == '\0'))
        return phrase("%s", "");
    if (tl_is_several(c))
        return phrase(" (%s host %.*s)", c->kind == TL_CULPRIT_HOST ? "all of" : "on", host, c->host);
    if (!tl_is_link(c) || memcmp(c->host, c->peer_host, sizeof c->host) == 0)
        return phrase(" (host %.*s)", host, c->host);
    return phrase(" (hosts %.*s and %.*s)", host, c->host, HOST_BYTES, c->peer_host);
}

/* ------------------------------------------------------------------------------------------------------------ when */

/* "3 of 3, 4-6", "2 of 5" of a rank; of a link, whose steps are not counted, the first to the last of the pattern. */
static tl_phrase steps_in_words(const tl_culprit *c, const tl_trust *t, bool range)
{
    tl_phrase steps = phrase("%" PRId32 "-%" PRId32, c->first_step, c->last_step);
    if (c->first_step == c->last_step)
        steps = phrase("%" PRId32, c->first_step);
    if (c->steps_flagged == 0)
        return steps;
    return phrase("%" PRId64 " of %zu%s%s", c->steps_flagged, t->nsteps, range ? ", " : "", range ? steps.text : "");
}

tl_phrase tl_pattern_in_words(const tl_culprit *c, const tl_trust *t)
{
    if (t->nsteps == 0)
        return phrase("over the whole trace, which marks no steps");
    if (t->nsteps == 1)
        return phrase("in the only step, %" PRId32, c->first_step);
    const tl_phrase steps = steps_in_words(c, t, true), count = steps_in_words(c, t, false);
    switch ((tl_pattern)c->pattern) {
    case TL_PATTERN_PERSISTENT:
        if (c->steps_flagged > 0 && c->steps_flagged < (int64_t)t->nsteps)
            return phrase("in nearly every step (%s)", steps.text);
        return phrase("in every step (%s)", steps.text);
    case TL_PATTERN_BOUNDED:
        return c->steps_flagged > 0
                   ? phrase("in steps %" PRId32 "-%" PRId32 " alone (%s)", c->first_step, c->last_step, count.text)
                   : phrase("in steps %s alone", steps.text);
    case TL_PATTERN_SPORADIC:
        return phrase("now and then (steps: %s)", steps.text);
    case TL_PATTERN_DRIFTING:
        return phrase("by an amount that grows or shrinks (steps: %s)", steps.text);
    case TL_PATTERN_ONE_OFF:
        return phrase("in step %" PRId32 " alone", c->first_step);
    case TL_PATTERN_NONE:
        break;
    }
    return phrase("in no step above the others, but in sum");
}

/* ------------------------------------------------------------------------------------------------------------- why */

const char *tl_cause_in_words(unsigned cause)
{
    static const char *const words[] = {
        [TL_CAUSE_UNKNOWN] = "nothing in the rank's own time explains the delay",
        [TL_CAUSE_COMPUTE_SLOW] = "some kernels take longer than the same ones of peers",
        [TL_CAUSE_THROTTLED] = "all kernels take longer than those of peers: a slow device",
        [TL_CAUSE_MORE_WORK] = "more kernels, or larger ones, than peers have",
        [TL_CAUSE_HOST_LATE] = "the host launches late, and the device is idle meanwhile",
        [TL_CAUSE_INPUT] = "the host waits for input data",
        [TL_CAUSE_H2D] = "copies from host to device",
        [TL_CAUSE_GC] = "the host collects garbage",
        [TL_CAUSE_SYNC_DRAIN] = "the host waits for the device, which then runs dry",
        [TL_CAUSE_ALLOCATOR] = "the host allocates or frees device memory",
        [TL_CAUSE_SLOW_LINK] = "nobody comes late, but data move slowly",
        [TL_CAUSE_OTHER_GROUP] = "communication with others that could not be matched",
        [TL_CAUSE_MIXED] = "several causes, none of them alone",
    };
    return cause < sizeof words / sizeof words[0] ? words[cause] : "";
}

tl_phrase tl_cause_share_in_words(const tl_culprit *c)
{
    const tl_phrase share = tl_share_in_words(c->cause_share);
    if (c->cause == TL_CAUSE_MIXED)
        return phrase("(the largest, %s, has %s of what its repair gains)", tl_cause_labels[c->largest_cause], share.text);
    return phrase("(%s of what its repair gains)", share.text);
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

tl_phrase tl_gain_in_words(const tl_answers *a, const tl_culprit *c)
{
    const char *without = tl_is_link(c) ? "that" : tl_is_several(c) ? "their delays" : "its delay";
    if (c->gain_ns >= 0)
        return phrase("without %s the job takes %s less (%s of %s), as simulated", without,
                      tl_duration(c->gain_ns).text, tl_share_in_words(tl_answers_share(a, c->gain_ns)).text,
                      tl_duration(a->wall_ns).text);
    const tl_phrase lost = tl_duration(c->lost_ns);
    if (a->trust.simulated)
        return phrase("not simulated, others cost more; %s of waiting in the steps concerned", lost.text);
    if (isnan(a->trust.model_error))
        return phrase("not known: nothing could be replayed; by the charges %s of the steps concerned", lost.text);
    return phrase("not known: the replay misses the measured time by %.1f %%; by the charges %s of the steps concerned",
                  100 * fabs(a->trust.model_error), lost.text);
}

static const char *following_in_words(const tl_trust *t)
{
    bool one = t->following == 1;
    if (t->misnumbered == 0)
        return one ? "has no marks of steps" : "have no marks of steps";
    if (t->misnumbered == t->following)
        return one ? "numbers steps otherwise" : "number steps otherwise";
    return "have no marks of steps or other numbers";
}

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* Of the ranks that are named, where these have more of them than all together. */
static tl_phrase untimed_in_words(const tl_answers *a)
{
    const tl_culprit *worst = a->nculprits > 0 ? &a->culprits[0] : NULL;
    bool own = worst != NULL && share_of(worst->untimed, worst->events) > share_of(a->trust.untimed, a->trust.events);
    int64_t n = own ? worst->untimed : a->trust.untimed, of = own ? worst->events : a->trust.events;
    return phrase("%s event%s, %s of %s, %s no duration that can be, and count%s as 0", tl_grouped(n).text,
                  n == 1 ? "" : "s", tl_share_in_words(share_of(n, of)).text,
                  !own                 ? "all"
                  : worst->nranks == 1 ? "its"
                                       : "theirs",
                  n == 1 ? "has" : "have", n == 1 ? "s" : "");
}

tl_phrase tl_doubt_in_words(const tl_answers *a, tl_doubt doubt)
{
    const tl_trust *t = &a->trust;

    switch (doubt) {
    case TL_DOUBT_ONE_STEP:
        return t->nsteps == 0 ? phrase("the traces mark no steps") : phrase("a single step");
    case TL_DOUBT_FEW_STEPS:
        return phrase("only %zu steps, too few for a test of significance", t->nsteps);
    case TL_DOUBT_CHANCE:
        return phrase("chance alone does so with p = %.2f", a->nculprits > 0 ? a->culprits[0].p_value : NAN);
    case TL_DOUBT_ELSEWHERE:
        return a->nculprits == 0 || a->culprits[0].gain_ns <= 0
                   ? phrase("%s", "")
                   : phrase("%s of what it gains lies in other steps, in which no test tells it from chance",
                            tl_share_in_words(1 - (double)a->culprits[0].in_steps_ns / (double)a->culprits[0].gain_ns)
                                .text);
    case TL_DOUBT_HARDLY_MATCHED:
    case TL_DOUBT_PARTLY_MATCHED:
        return phrase("only %s of %s collectives matched", tl_grouped(t->matched).text,
                      tl_grouped(t->collectives).text);
    case TL_DOUBT_OUTSIDE:
        return phrase("%s of %s matched collectives are in no marked step, where nobody is judged",
                      tl_grouped(t->outside).text, tl_grouped(t->matched).text);
    case TL_DOUBT_CLOCKS:
        if (t->untied)
            return phrase("nothing compares the clocks of hosts, which blurs %s collectives",
                          tl_grouped(t->blurred).text);
        return phrase("clocks are uncertain by %s, which blurs %s collectives",
                      tl_duration(t->clock_uncertainty_ns).text, tl_grouped(t->blurred).text);
    case TL_DOUBT_HIDDEN:
        return phrase(
            "clocks hide for whom %s of all waiting was, in %s of %s collectives",
            tl_share_in_words((double)t->hidden_wait_ns / ((double)t->hidden_wait_ns + (double)t->known_wait_ns)).text,
            tl_grouped(t->blurred).text, tl_grouped(t->matched).text);
    case TL_DOUBT_MISSING:
        if (t->stood_in > 0)
            return phrase("%s rank%s no trace (others stand for %s in the simulation)",
                          tl_grouped((int64_t)t->missing).text, t->missing == 1 ? " has" : "s have",
                          tl_grouped(t->stood_in).text);
        return phrase("%s rank%s no trace", tl_grouped((int64_t)t->missing).text, t->missing == 1 ? " has" : "s have");
    case TL_DOUBT_DAMAGED:
        return phrase("%zu trace%s damaged or cut", t->damaged, t->damaged == 1 ? " is" : "s are");
    case TL_DOUBT_UNTIMED:
        return untimed_in_words(a);
    case TL_DOUBT_SIZES:
        return phrase("some traces tell of a job of %" PRId32 " rank%s, others of one of %" PRId32
                      ", as where two jobs are mixed",
                      t->other_world, t->other_world == 1 ? "" : "s", t->world);
    case TL_DOUBT_DUPLICATES:
        return phrase("of %zu rank%s there is more than one trace of the same time, as where two jobs are mixed",
                      t->duplicates, t->duplicates == 1 ? "" : "s");
    case TL_DOUBT_NO_WORK:
        return phrase("the trace%s of %zu rank%s no device work", t->workless == 1 ? "" : "s", t->workless,
                      t->workless == 1 ? " shows" : "s show");
    case TL_DOUBT_NO_LAUNCHES:
        return phrase("the trace%s of %zu rank%s no host, so that what %s device%s idle for is not known",
                      t->launchless == 1 ? "" : "s", t->launchless, t->launchless == 1 ? " shows" : "s show",
                      t->launchless == 1 ? "its" : "their", t->launchless == 1 ? " was" : "s were");
    case TL_DOUBT_UNMARKED:
        return phrase("%s rank%s no marks of steps, so that what %s more is not found",
                      tl_grouped((int64_t)t->unmarked).text, t->unmarked == 1 ? " has" : "s have",
                      t->unmarked == 1 ? "it does" : "they do");
    case TL_DOUBT_FOLLOWING:
        return phrase("%s rank%s %s: %s taken from the collectives in which %s others",
                      tl_grouped((int64_t)t->following).text, t->following == 1 ? "" : "s", following_in_words(t),
                      t->following == 1 ? "its steps are" : "their steps are",
                      t->following == 1 ? "it meets" : "they meet");
    case TL_DOUBT_NOT_REPLAYED:
        return phrase("what it costs could not be simulated");
    case TL_DOUBT_GAIN:
        return phrase("the simulation gains less than half of what the others wait in the mean");
    case TL_DOUBT_UNEXPLAINED:
        return phrase("nothing explains %s of the critical path, which is more than it gains",
                      tl_duration(a->path.unexplained_ns).text);
    case TL_DOUBT_MIXED:
        return phrase("no cause has 80 %% of the delay");
    case TL_DOUBT_UNKNOWN:
        return phrase("no cause is known");
    case TL_DOUBT_NO_PLACE:
        return phrase("no kernel, operator or annotation stands out");
    case TL_DOUBT_CHARGES:
        return phrase("most of the waits are charged to other parts of its time");
    case TL_DOUBT_NO_VERDICT:
        return phrase("there is nothing to judge by");
    case TL_NDOUBTS:
        break;
    }
    return phrase("%s", "");
}
