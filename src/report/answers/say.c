#include "tlmpi/report/answers/say.h"

#include "tlmpi/base/stats.h"
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

void tl_say_selection(tl_wrap *w, const tl_answers *a)
{
    if (a->selection == NULL)
        return;
    tl_wrap_words(w, "Selected:");
    tl_wrap_words(w, a->selection);
    tl_wrap_words(w,
                  a->notes != NULL ? "- all that follows is of that alone;" : "- all that follows is of that alone.");
    if (a->notes != NULL)
        tl_wrap_words(w, a->notes);
}

/* Begins a sentence. */
static void say_name(tl_wrap *w, const tl_culprit *c)
{
    tl_phrase name = tl_culprit_in_words(c);
    name.text[0] = (char)toupper((unsigned char)name.text[0]);
    tl_say_phrase(w, name);
    tl_say_phrase(w, tl_place_of_culprit(c));
}

/* "it costs 7.28 ms (3.0 %) of each step of 244 ms": of several in the mean. */
static void say_step_cost(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    if (c->step_cost_ns == 0) { /* judged by the waits alone */
        tl_wrap_words(w, tl_is_several(c) ? "others wait for them" : "others wait for it");
        tl_wrap_words(w, "- the simulation gains nothing");
        return;
    }
    tl_wrap_words(w, tl_is_several(c) ? "they cost" : tl_is_least(a, c) ? "it costs at least" : "it costs");
    tl_wrap_printf(w, "%s", tl_duration(c->step_cost_ns).text);
    if (c->step_ns > 0)
        tl_wrap_printf(w, "(%s)", tl_share_in_words((double)c->step_cost_ns / (double)c->step_ns).text);
    tl_wrap_words(w, a->trust.nsteps == 0    ? "of"
                     : c->steps_flagged == 1 ? "of that step of"
                                             : "of each of these steps of");
    tl_wrap_printf(w, "%s", tl_duration(c->step_ns).text);
    if (c->steps_flagged > 1)
        tl_wrap_words(w, "on average");
}

void tl_say_culprit(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    tl_phrase pattern = tl_pattern_in_words(c, &a->trust);

    say_name(w, c);
    tl_wrap_words(w, tl_is_several(c)    ? "hold the job up together"
                     : tl_is_untraced(c) ? "is the suspect: it seems to hold the job up"
                                         : "holds the job up");
    if (tl_is_link(c) || c->steps_flagged > 0)
        memcpy(pattern.text + strlen(pattern.text), ":", 2);
    tl_say_phrase(w, pattern);
    if (tl_is_link(c)) {
        tl_wrap_words(w, "its");
        tl_say_phrase(w, tl_link_in_words(a->link));
    } else if (c->steps_flagged > 0) {
        say_step_cost(w, a, c);
    }
}

/* A cell of a table, in quotes, and a mark of at most one byte after them. */
static void say_quoted(tl_wrap *w, const char *cell, size_t size, const char *mark)
{
    char quoted[sizeof(((tl_rank *)NULL)->file) + 4];
    int most = size < sizeof quoted - 4 ? (int)size : (int)sizeof quoted - 4;

    snprintf(quoted, sizeof quoted, "\"%.*s\"%.1s", most, cell, mark);
    for (const char *p = quoted; *(p += strspn(p, " ")) != '\0';) {
        size_t n = strcspn(p, " ");
        tl_wrap_printf(w, "%.*s%s", n > WORD_BYTES ? WORD_BYTES : (int)n, p, n > WORD_BYTES ? "..." : "");
        p += n;
    }
}

void tl_say_place(tl_wrap *w, const tl_culprit *c)
{
    say_quoted(w, c->place, sizeof c->place, "");
}

void tl_say_excess(tl_wrap *w, const tl_answers *a, size_t most)
{
    size_t n = a->nexcess < most ? a->nexcess : most;
    for (size_t i = 0; i < n; i++) {
        const tl_excess_row *row = &a->excess[i];
        tl_wrap_printf(w, "%s", tl_duration(row->own_ns).text);
        tl_wrap_words(w, i == 0 ? "of a step in" : "in");
        say_quoted(w, row->place, sizeof row->place, ",");
        tl_wrap_printf(w, "%s", tl_duration(row->peers_ns).text);
        tl_wrap_words(w, i + 1 < n ? "on its peers;" : "on its peers");
    }
}

void tl_say_file(tl_wrap *w, const tl_rank *row)
{
    size_t n = strnlen(row->file, sizeof row->file), from = n;
    while (from > 0 && row->file[from - 1] != '/')
        from--;
    say_quoted(w, row->file + from, n - from, "");
    tl_wrap_words(w, "does not say that it is this rank: numbered by the order of the names");
}

void tl_say_next_culprit(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    tl_say_phrase(w, tl_culprit_in_words(c));
    tl_say_phrase(w, tl_place_of_culprit(c));
    tl_say_phrase(w, tl_pattern_in_words(c, &a->trust));
    if (!tl_is_link(c))
        tl_wrap_printf(w, "- %s,", tl_is_untraced(c) ? "untraced" : tl_cause_labels[c->cause]);
    else
        tl_wrap_printf(w, "-");
    if (c->gain_ns == 0)
        tl_wrap_words(w, "no gain in the simulation");
    else if (c->gain_ns > 0)
        tl_wrap_printf(w, "gain %s%s (%s)", tl_is_least(a, c) ? "at least " : "", tl_duration(c->gain_ns).text,
                       tl_share_in_words(tl_answers_share(a, c->gain_ns)).text);
    else
        tl_wrap_printf(w, "cost %s", tl_duration(c->excess_ns).text);
}

/* ------------------------------------------------------------------------------------------------------ no culprit */

/* A sentence that is finished with a full stop where it has none. */
static void say_reason(tl_wrap *w, const char *cell, size_t size)
{
    tl_phrase reason = tl_cell_in_words(cell, size);
    size_t n = strlen(reason.text);
    if (n > 0 && reason.text[n - 1] != '.')
        memcpy(reason.text + n, ".", 2);
    tl_say_phrase(w, reason);
}

/* "It" of a rank's reason is that rank. */
static void say_why(tl_wrap *w, const tl_straggler *of)
{
    const char *words = of->reason;
    size_t n = strncmp(words, "it ", 3) == 0 ? 3 : strncmp(words, "its ", 4) == 0 ? 4 : 0;
    if (n > 0)
        tl_wrap_printf(w, "rank %" PRId32 "%s", of->rank, n == 4 ? "'s" : "");
    say_reason(w, words + n, sizeof of->reason - n);
}

static void say_waits(tl_wrap *w, const tl_answers *a)
{
    if (!a->waits || a->nwaited_for == 0)
        return;
    tl_wrap_words(w, "Others wait");
    tl_say_waited_for(w, a);
}

void tl_say_nobody_holds(tl_wrap *w, const tl_answers *a, const char *end)
{
    tl_wrap_words(w, a->trust.workless > 0  ? "No rank whose trace shows device work"
                     : a->trust.missing > 0 ? "No rank that has a trace"
                                            : "No rank");
    tl_wrap_words(w, "holds the job");
    tl_wrap_printf(w, "up%s", end);
}

static void say_nobody(tl_wrap *w, const tl_answers *a)
{
    const tl_straggler *most = a->most;

    tl_say_nobody_holds(w, a, ".");
    if (most == NULL) {
        tl_wrap_words(w, "No rank has more work than its peers.");
        return;
    }
    tl_wrap_printf(w, "Rank %" PRId32, most->rank);
    tl_wrap_words(w, "works longest beyond its peers,");
    tl_wrap_printf(w, "%s", tl_share_in_words(tl_answers_share(a, a->most_ns)).text);
    bool undecided = a->trust.nranks == 2 && !(most->share_steps > 0);
    const char *end = undecided ? ";" : ":";
    tl_wrap_printf(w, "of the time%s", isnan(most->p_value) ? end : "");
    if (!isnan(most->p_value))
        tl_wrap_printf(w, "(p = %.2f)%s", most->p_value, end);
    if (undecided)
        tl_wrap_words(w, "with two ranks there is no third to tell which one is unusual.");
    else
        say_reason(w, most->reason, sizeof most->reason);
    if (a->trust.nranks == 2)
        say_waits(w, a);
}

static void say_blur(tl_wrap *w, const tl_answers *a)
{
    if (a->trust.untied) {
        tl_wrap_words(w, "nothing compares the clocks of the hosts;");
    } else {
        tl_wrap_words(w, "clocks are uncertain by");
        tl_wrap_printf(w, "%s;", tl_duration(a->trust.clock_uncertainty_ns).text);
    }
    tl_wrap_words(w, "who came last is unknown in");
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
        tl_wrap_words(w, "No verdict:");
        tl_wrap_words(w, a->trust.missing > 0 ? "a single rank has a trace, and there is" : "there is a single rank, and");
        tl_wrap_words(w, "none to compare it with.");
        break;
    case TL_FOUND_SILENCE:
        tl_wrap_words(w, "No verdict: the traces show no communication between ranks.");
        break;
    case TL_FOUND_UNMATCHED:
        tl_wrap_words(w, "No verdict: none of the");
        tl_wrap_printf(w, "%s", tl_grouped(a->trust.collectives).text);
        tl_wrap_words(w, "collectives could be matched across ranks (table quality).");
        break;
    case TL_FOUND_NO_VERDICT:
        tl_wrap_words(w, "No verdict:");
        if (a->why != NULL)
            say_why(w, a->why);
        else
            say_blur(w, a);
        say_waits(w, a);
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

    tl_wrap_printf(w, "%s rank%s", tl_grouped(n).text, tl_plural(n));
    for (size_t i = 0; i < nnamed; i++)
        named[i] = ranks[i];
    if (nnamed > 0 && (int64_t)nnamed == n) {
        tl_wrap_printf(w, "(");
        w->begun = false; /* no space after the bracket */
        tl_say_ranks(w, named, nnamed, nnamed);
        fputc(')', w->out);
        w->column++;
    }
    tl_wrap_words(w, n == 1 ? "waits" : "wait");
    tl_wrap_words(w, tl_is_several(worst) ? "for them:" : "for it:");
    tl_wrap_printf(w, "%s", tl_duration(tl_ns_between(worst->blame_ns, worst->indirect_ns)).text);
    tl_wrap_words(w, "of GPU time");
    if (worst->indirect_ns > worst->blame_ns / 100) {
        tl_wrap_printf(w, "-");
        tl_wrap_words(w, "ranks that wait for these wait");
        tl_wrap_printf(w, "%s", tl_duration(worst->indirect_ns).text);
        tl_wrap_words(w, "more");
    }
}

void tl_say_waited_for(tl_wrap *w, const tl_answers *a)
{
    size_t n = a->nwaited_for < TL_WAITED_FOR_MOST ? a->nwaited_for : TL_WAITED_FOR_MOST;

    tl_wrap_words(w, n > 1 ? "for several in turn:" : n == 1 ? "for one:" : "in turn");
    for (size_t i = 0; i < n; i++) {
        tl_wrap_printf(w, "%s", tl_duration(a->waited_for[i].ns).text);
        tl_wrap_words(w, i == 0 ? "of GPU time for" : "for");
        tl_wrap_printf(w, "rank %" PRId32, a->waited_for[i].rank);
        tl_phrase share = tl_share_in_words((double)a->waited_for[i].ns / (double)a->wait_ns);
        const char *end = i + 1 < n || a->nwaited_for > n ? ")," : ")";
        if (i == 0) {
            tl_wrap_printf(w, "(%s", share.text);
            tl_wrap_printf(w, "of all waiting%s", end);
        } else {
            tl_wrap_printf(w, "(%s%s", share.text, end);
        }
    }
    if (a->nwaited_for > n)
        tl_wrap_printf(w, "and %zu more", a->nwaited_for - n);
    if (a->passed_on_ns > a->wait_ns / 100) {
        tl_wrap_printf(w, "- %s", tl_duration(a->passed_on_ns).text);
        tl_wrap_printf(w, "(%s)", tl_share_in_words((double)a->passed_on_ns / (double)a->wait_ns).text);
        tl_wrap_words(w, "for ranks that had waited themselves");
    }
}

void tl_say_path(tl_wrap *w, const tl_answers *a, const tl_culprit *c)
{
    tl_wrap_printf(w, "%s", tl_share_in_words(c->path_share).text);
    tl_wrap_words(w, "of the critical path runs on");
    tl_wrap_words(w, tl_is_link(c) ? "the ranks at its ends" : tl_is_several(c) ? "them" : "it");
    if (a->path.ns > 0 && a->path.unexplained_ns > 0) {
        tl_wrap_printf(w, "-");
        tl_wrap_printf(w, "%s", tl_share_in_words((double)a->path.unexplained_ns / (double)a->path.ns).text);
        tl_wrap_words(w, "of the path, on any rank, is unexplained");
    }
}

/* ------------------------------------------------------------------------------------------------------------ loss */

static void say_loss(tl_wrap *w, const tl_loss *loss)
{
    tl_wrap_words(w, loss->name);
    tl_wrap_printf(w, "%s", tl_share_in_words((double)loss->ns / (double)loss->wall_ns).text);
}

static const char *because(const tl_answers *a)
{
    switch (a->comm_doubt) {
    case TL_COMM_DOUBT_UNMATCHED:
        return "no other rank was found that takes part";
    case TL_COMM_DOUBT_PARTNER:
        return "nothing tells which ranks send to which";
    case TL_COMM_DOUBT_NO_TRACE:
        return a->selection != NULL ? "ranks that take part have no trace here, or are not selected"
                                    : "ranks that take part have no trace here";
    case TL_COMM_DOUBT_MISSING:
        return "traces of ranks that take part lack it";
    case TL_COMM_DOUBT_SUSPECT:
        return "ranks do not fit together in it";
    case TL_COMM_DOUBT_CLOCKS:
        return "clocks leave it open";
    case TL_COMM_DOUBT_NONE:
    case TL_NCOMM_DOUBTS:
        break;
    }
    return "the result does not tell why";
}

void tl_say_comm_doubt(tl_wrap *w, const tl_answers *a)
{
    tl_wrap_words(w, "waiting or transfer is unknown:");
    tl_wrap_words(w, because(a));
}

static void say_share(tl_wrap *w, const tl_answers *a, const char *what, int64_t ns, const char *end)
{
    tl_wrap_words(w, what);
    tl_wrap_printf(w, "%s%s", tl_share_in_words((double)ns / (double)a->wall_sum_ns).text, end);
}

void tl_say_shares(tl_wrap *w, const tl_answers *a)
{
    bool exposed = a->comm_exposed_ns > 0;
    say_share(w, a, "idle", a->idle_ns, ",");
    say_share(w, a, "exposed communication", a->comm_exposed_ns, "");
    tl_wrap_words(w, a->trust.nranks > 1 ? "of all ranks'" : "of its");
    tl_wrap_printf(w, "time%s", exposed ? ":" : "");
    if (!exposed)
        return;
    if (a->comm_unknown_ns == a->comm_exposed_ns) {
        tl_say_comm_doubt(w, a);
        return;
    }
    say_share(w, a, "waiting", a->comm_waiting_ns, ",");
    say_share(w, a, "transfer", a->comm_transfer_ns, a->comm_unknown_ns > 0 ? "," : "");
    if (a->comm_unknown_ns > 0) {
        say_share(w, a, "unknown", a->comm_unknown_ns, ":");
        tl_wrap_words(w, because(a));
    }
}

void tl_say_losses(tl_wrap *w, const tl_answers *a)
{
    if (a->worst.name == NULL || a->worst.ns == 0) {
        tl_wrap_words(w, "No rank is idle, or has exposed communication or copies.");
        return;
    }
    if (a->trust.nranks > 1 && a->job.name != NULL) {
        tl_wrap_words(w, "All ranks:");
        say_loss(w, &a->job);
        tl_wrap_words(w, "of their time. Most:");
    } else {
        tl_wrap_words(w, "Largest loss:");
    }
    tl_wrap_printf(w, "rank %" PRId32 ",", a->worst.rank);
    say_loss(w, &a->worst);
    tl_wrap_words(w, "of its time.");
}

/* ----------------------------------------------------------------------------------------------------------- trust */

void tl_say_confidence(tl_wrap *w, const tl_answers *a, const tl_answer *answer, int most)
{
    int said = 0;
    tl_wrap_printf(w, "%s%s", tl_confidence_labels[answer->confidence], answer->doubts != 0 ? ":" : "");
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++) {
        if ((answer->doubts & 1u << doubt) == 0)
            continue;
        if (++said > most) {
            tl_wrap_printf(w, "and %d more", __builtin_popcount(answer->doubts) - most);
            return;
        }
        tl_phrase words = tl_doubt_in_words(a, (tl_doubt)doubt);
        if (answer->doubts >> doubt > 1)
            memcpy(words.text + strlen(words.text), ";", 2);
        tl_say_phrase(w, words);
    }
}

void tl_say_chance(tl_wrap *w, double p)
{
    if (p < 0.0001)
        tl_wrap_printf(w, "p < 0.0001");
    else
        tl_wrap_printf(w, "p = %.4f", p);
}
