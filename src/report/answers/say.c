#include "tlmpi/report/answers/say.h"

#include "tlmpi/report/format/words.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* How much is shown of a word of a trace: what fits a line after its label. */
enum { WORD_BYTES = 64 };

static bool is_unit(const char *word, size_t n)
{
    static const char *const units[] = { "us", "ms", "s", "%", "B", "kB", "MB", "GB", "steps" };
    while (n > 0 && strchr(",;:)", word[n - 1]) != NULL)
        n--;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i]) == n && memcmp(word, units[i], n) == 0)
            return true;
    return false;
}

void tl_say_phrase(tl_wrap *w, tl_phrase phrase)
{
    for (const char *p = phrase.text; *(p += strspn(p, " ")) != '\0';) {
        size_t n = strcspn(p, " "), gap = strspn(p + n, " "), next = strcspn(p + n + gap, " ");
        if (isdigit((unsigned char)p[p[0] == '(']) && is_unit(p + n + gap, next))
            n += gap + next;
        tl_wrap_printf(w, "%.*s", (int)n, p);
        p += n;
    }
}

/* Begins a sentence. */
static void say_name(tl_wrap *w, const tl_culprit *c)
{
    tl_phrase name = tl_culprit_in_words(c);
    name.text[0] = (char)toupper((unsigned char)name.text[0]);
    tl_say_phrase(w, name);
    tl_say_phrase(w, tl_place_of_culprit(c));
}

void tl_say_culprit(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    tl_phrase pattern = tl_pattern_in_words(c, &a->trust);

    say_name(w, c);
    tl_wrap_words(w, tl_is_several(c) ? "hold the job up together" : "holds the job up");
    if (tl_is_link(c) || c->steps_flagged > 0)
        memcpy(pattern.text + strlen(pattern.text), ":", 2);
    tl_say_phrase(w, pattern);
    if (tl_is_link(c)) {
        tl_wrap_words(w, "its");
        tl_say_phrase(w, tl_link_in_words(a->link));
    } else if (c->steps_flagged > 0 && c->step_cost_ns == 0) { /* judged by the waits alone */
        tl_wrap_words(w, tl_is_several(c) ? "others wait for them," : "others wait for it,");
        tl_wrap_words(w, "but the simulation gains nothing");
    } else if (c->steps_flagged > 0) {
        tl_wrap_words(w, tl_is_several(c) ? "they cost" : "it costs");
        tl_wrap_printf(w, "%s", tl_duration(c->step_cost_ns).text);
        tl_wrap_words(w, a->trust.nsteps > 0 ? "of a step of" : "of");
        tl_wrap_printf(w, "%s", tl_duration(c->step_ns).text);
    }
}

void tl_say_place(tl_wrap *w, const tl_culprit *c)
{
    char quoted[sizeof c->place + 3];
    snprintf(quoted, sizeof quoted, "\"%.*s\"", (int)sizeof c->place, c->place);
    for (const char *p = quoted; *(p += strspn(p, " ")) != '\0';) {
        size_t n = strcspn(p, " ");
        tl_wrap_printf(w, "%.*s%s", n > WORD_BYTES ? WORD_BYTES : (int)n, p, n > WORD_BYTES ? "..." : "");
        p += n;
    }
}

void tl_say_next_culprit(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    tl_say_phrase(w, tl_culprit_in_words(c));
    tl_say_phrase(w, tl_place_of_culprit(c));
    tl_say_phrase(w, tl_pattern_in_words(c, &a->trust));
    tl_wrap_printf(w, "- %s,", tl_cause_labels[c->cause]);
    if (c->gain_ns == 0)
        tl_wrap_words(w, "of which the simulation gains nothing");
    else if (c->gain_ns > 0)
        tl_wrap_printf(w, "gain %s (%s)", tl_duration(c->gain_ns).text,
                       tl_share_in_words(tl_answers_share(a, c->gain_ns)).text);
    else
        tl_wrap_printf(w, "cost %s", tl_duration(c->lost_ns).text);
}

/* ---------------------------------------------------------------------------------------------------------- nobody */

/* A sentence that is finished with a full stop where it has none. */
static void say_reason(tl_wrap *w, const char *cell, size_t size)
{
    tl_phrase reason = tl_cell_in_words(cell, size);
    size_t n = strlen(reason.text);
    if (n > 0 && reason.text[n - 1] != '.')
        memcpy(reason.text + n, ".", 2);
    tl_say_phrase(w, reason);
}

static void say_nobody(tl_wrap *w, const tl_answers *a)
{
    const tl_straggler *most = a->most;

    tl_wrap_words(w, a->trust.workless > 0  ? "No rank whose trace shows device work holds the job up."
                     : a->trust.missing > 0 ? "No rank that has a trace holds the job up."
                                            : "No rank holds the job up.");
    if (most == NULL) {
        tl_wrap_words(w, "No rank waits for another in a collective.");
        return;
    }
    tl_wrap_words(w, "Others wait most for");
    tl_wrap_printf(w, "rank %" PRId32 ",", most->rank);
    tl_wrap_printf(w, "%s", tl_share_in_words(tl_answers_share(a, a->most_ns)).text);
    tl_wrap_words(w, isnan(most->p_value) ? "of the time;" : "of the time");
    if (!isnan(most->p_value))
        tl_wrap_printf(w, "(p = %.2f);", most->p_value);
    say_reason(w, most->reason, sizeof most->reason);
}

static void say_blur(tl_wrap *w, const tl_answers *a)
{
    if (a->trust.untied) {
        tl_wrap_words(w, "nothing compares the clocks of hosts;");
    } else {
        tl_wrap_words(w, "clocks are uncertain by");
        tl_wrap_printf(w, "%s;", tl_duration(a->trust.clock_uncertainty_ns).text);
    }
    tl_wrap_words(w, "who came last cannot be told in");
    tl_wrap_printf(w, "%s of %s", tl_grouped(a->trust.blurred).text, tl_grouped(a->trust.matched).text);
    tl_wrap_words(w, "collectives (table clock).");
}

void tl_say_no_culprit(tl_wrap *w, const tl_answers *a)
{
    switch (a->finding) {
    case TL_FOUND_NO_WORK:
        tl_wrap_words(w, "No verdict: nothing ran on a device.");
        break;
    case TL_FOUND_ONE_RANK:
        tl_wrap_words(w, "No verdict: there is one rank, and nobody to compare it with.");
        break;
    case TL_FOUND_SILENCE:
        tl_wrap_words(w, "No verdict: the ranks do not communicate in these traces, so nobody is seen to wait.");
        break;
    case TL_FOUND_UNMATCHED:
        tl_wrap_words(w, "No verdict: none of the");
        tl_wrap_printf(w, "%s", tl_grouped(a->trust.collectives).text);
        tl_wrap_words(w, "collectives could be matched across ranks (table quality).");
        break;
    case TL_FOUND_NO_VERDICT:
        tl_wrap_words(w, "No verdict:");
        if (a->why != NULL)
            say_reason(w, a->why, sizeof((const tl_straggler *)0)->reason);
        else
            say_blur(w, a);
        break;
    default:
        say_nobody(w, a);
    }
}

/* --------------------------------------------------------------------------------------------------------- waiting */

void tl_say_waiters(tl_wrap *w, const tl_answers *a)
{
    const tl_culprit *worst = &a->culprits[0];
    int64_t n = worst->nwaiters, named[TL_RANKS_LISTED];
    int32_t ranks[TL_RANKS_LISTED];
    size_t nnamed = tl_ranks_listed(worst->waiters, sizeof worst->waiters, ranks);

    tl_wrap_printf(w, "%s rank%s", tl_grouped(n).text, n == 1 ? " waits" : "s wait");
    bool through = worst->indirect_ns > worst->blame_ns / 100;
    tl_wrap_words(w, tl_is_several(worst) ? "for them," : "for it,");
    if (through)
        tl_wrap_words(w, n == 1 ? "and others for that one," : "and others for these,");
    tl_wrap_printf(w, "%s", tl_duration(worst->blame_ns).text);
    tl_wrap_words(w, n == 1 && !through ? "in all" : "of their time together");
    for (size_t i = 0; i < nnamed; i++)
        named[i] = ranks[i];
    if (nnamed > 0 && (int64_t)nnamed == n) {
        tl_wrap_printf(w, "- rank%s", tl_plural(n));
        tl_say_ranks(w, named, nnamed, nnamed);
    }
}

void tl_say_path(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    tl_wrap_words(w, tl_is_link(c) ? "the ranks at its ends hold" : tl_is_several(c) ? "they hold" : "it holds");
    tl_wrap_printf(w, "%s", tl_share_in_words(c->path_share).text);
    tl_wrap_words(w, "of the critical path");
    if (a->path.ns > 0 && a->path.unexplained_ns > 0) {
        tl_wrap_printf(w, "(%s", tl_share_in_words((double)a->path.unexplained_ns / (double)a->path.ns).text);
        tl_wrap_words(w, "of it unexplained)");
    }
}

/* ------------------------------------------------------------------------------------------------------------ loss */

void tl_say_loss(tl_wrap *w, const tl_answers *a)
{
    const tl_loss *worst = &a->worst, *job = &a->job;
    bool several = a->trust.nranks > 1;
    int decimals = a->measured_ns < 100000000 ? 3 : 1;

    if (several)
        tl_wrap_printf(w, "rank %" PRId32 ",", worst->rank);
    tl_wrap_printf(w, "%s", worst->name);
    tl_wrap_printf(w, "%s", tl_share_in_words((double)worst->ns / (double)worst->wall_ns).text);
    tl_wrap_words(w, "of its wall time");
    tl_wrap_printf(w, "(%.*f of %.*f ms)", decimals, (double)worst->ns / 1e6, decimals, (double)worst->wall_ns / 1e6);
    if (!several || job->name == NULL)
        return;
    tl_wrap_printf(w, "-");
    tl_wrap_words(w, "over all ranks");
    if (strcmp(job->name, worst->name) != 0) {
        tl_wrap_words(w, "it is");
        tl_wrap_printf(w, "%s,", job->name);
    }
    tl_wrap_printf(w, "%s", tl_share_in_words((double)job->ns / (double)job->wall_ns).text);
}

/* ----------------------------------------------------------------------------------------------------------- trust */

static void say_grounds(tl_wrap *w, const tl_answers *a, const tl_answer *answer)
{
    const unsigned matching = 1u << TL_DOUBT_HARDLY_MATCHED | 1u << TL_DOUBT_PARTLY_MATCHED;
    const tl_trust *t = &a->trust;

    if (a->nculprits > 0 && !isnan(a->culprits[0].p_value) && (answer->doubts & 1u << TL_DOUBT_CHANCE) == 0)
        tl_wrap_printf(w, "p = %.4f,", a->culprits[0].p_value);
    if ((answer->doubts & matching) == 0) {
        tl_wrap_printf(w, "%s of %s", tl_grouped(t->matched).text, tl_grouped(t->collectives).text);
        tl_wrap_words(w, "collectives matched,");
    }
    if (t->clocks > 1) {
        tl_wrap_printf(w, "%s clocks", tl_grouped(t->clocks).text);
        if (t->untied)
            tl_wrap_words(w, "(not all compared),");
        else
            tl_wrap_printf(w, "(+-%s),", tl_duration(t->clock_uncertainty_ns).text);
    } else {
        tl_wrap_words(w, "1 clock,");
    }
    if (t->simulated) {
        tl_wrap_words(w, "simulation off by");
        tl_wrap_printf(w, "%.1f %%", 100 * fabs(t->model_error));
    } else {
        tl_wrap_words(w, "no simulation");
    }
}

/* `more`: something follows. */
static void say_doubts(tl_wrap *w, const tl_answers *a, const tl_answer *answer, bool more)
{
    tl_wrap_printf(w, "%s%s", tl_confidence_labels[answer->confidence], more || answer->doubts != 0 ? " -" : "");
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++) {
        if ((answer->doubts & 1u << doubt) == 0)
            continue;
        tl_phrase words = tl_doubt_in_words(a, (tl_doubt)doubt);
        if (more || answer->doubts >> doubt > 1)
            memcpy(words.text + strlen(words.text), ";", 2);
        tl_say_phrase(w, words);
    }
}

void tl_say_doubts(tl_wrap *w, const tl_answers *a, const tl_answer *answer)
{
    say_doubts(w, a, answer, false);
}

void tl_say_confidence(tl_wrap *w, const tl_answers *a, const tl_answer *answer)
{
    say_doubts(w, a, answer, true);
    say_grounds(w, a, answer);
}
