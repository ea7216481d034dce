/* text.c - the four questions, a paragraph each, and what all answers rest on:
 *
 *     Which rank holds the job up?
 *       Rank 2 (host node0, device 2) holds the job up in all 8 steps (1-8): each of these steps of 100 ms is 30.0 ms
 *       (30.0 %) longer for it
 *       Cost: the job would take 200 ms less without its delay, 25.0 % of 800 ms (simulated)
 *       Evidence: it comes last in 16 of 16 collectives; z = 207.8 (tlmpi show traces.h5 straggler)
 *       Confidence: high
 *
 *     What do the answers rest on?
 *       Recording: 15 of 16 launches of rank 1 in steps 12-13 were not recorded, ...
 *       Collectives: 27 of 30 matched across ranks; ends up to 137 us apart (tlmpi show traces.h5 quality)
 *       Clocks: the times of 2 ranks were shifted, by up to 3000 us, to within 25 us (tlmpi show traces.h5 clock)
 *       Waiting: 25.2 % of it is charged to late ranks; 73.3 % is for late senders
 *       Simulation: off by 0.0 % of the measured time
 */
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/report/answers/phases.h"
#include "tlmpi/report/answers/say.h"
#include "tlmpi/report/ask.h"
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Culprits, or rows of phase_verdict, that are named beside the first; the distance in units of noise from which on no
 * more is told. */
enum { NEXT_NAMED = 4, FAR_Z = 100 };

typedef struct asking {
    FILE *out;
    const tl_answers *a;
    const char *file;        /* as a word for a shell */
    const char *table;       /* that the open paragraph refers to; NULL: none */
    tl_wrap w;               /* the paragraph that is open, if a character stands in its line */
    bool asked;              /* a question has been printed */
} asking;

/* Ends the open paragraph with the command that prints its table. */
static void end(asking *q)
{
    if (q->w.column == 0)
        return;
    if (q->table != NULL)
        tl_wrap_printf(&q->w, "(tlmpi show %s %s)", q->file, q->table); /* in one line: a command is there to be copied */
    tl_wrap_end(&q->w);
}

/* Begins a paragraph: two spaces, and a label that may be empty.  The paragraph ends where the next one begins. */
static tl_wrap *begin(asking *q, const char *label, const char *table)
{
    end(q);
    q->table = table;
    q->w.column = (size_t)fprintf(q->out, "  %s", label);
    q->w.begun = label[0] != '\0';
    return &q->w;
}

/* A paragraph of one sentence. */
__attribute__((format(printf, 4, 5))) static void say(asking *q, const char *label, const char *table,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tl_vsay(begin(q, label, table), format, args);
    va_end(args);
}

/* Prints a question after a blank line, and begins its answer. */
static void ask(asking *q, const char *question)
{
    end(q);
    fprintf(q->out, "%s%s\n", q->asked ? "\n" : "", question);
    q->asked = true;
    begin(q, "", NULL);
}

static const char *them(const tl_culprit *c)
{
    return tl_is_several(c) ? "them" : "it";
}

/* ------------------------------------------------------------------------------------------------------ which rank */

static void say_others_too(asking *q)
{
    const tl_answers *a = q->a;
    for (size_t i = 1; i < a->nculprits && i <= NEXT_NAMED; i++)
        tl_say_next_culprit(begin(q, "Also:", NULL), a, &a->culprits[i]);
    if (a->nculprits > NEXT_NAMED + 1)
        say(q, "Also:", NULL, "%zu~more; tables straggler and link have them.", a->nculprits - NEXT_NAMED - 1);
    if (a->nculprits > 1 && a->together_gain_ns > a->first->gain_ns)
        say(q, "Together: without all that are named the job would take", NULL, "%s~less (%s).",
            tl_duration(a->together_gain_ns).text, tl_share_in_words(tl_answers_share(a, a->together_gain_ns)).text);
}

static void say_evidence_of_rank(asking *q)
{
    const tl_culprit *c = q->a->first;
    const tl_answers *a = q->a;
    const char *varies = a->against == TL_AGAINST_PEERS    ? "what its peers vary by"
                         : a->against == TL_AGAINST_STAGES ? "what stages vary by"
                                                           : "what its steps vary by";
    tl_wrap *w = begin(q, "Evidence:", tl_is_link(c) ? "link" : "straggler");

    if (!tl_is_link(c) && !tl_is_untraced(c) && a->trust.judged > 0)
        tl_say(w, "%s comes last in %s~of~%s collectives;", tl_is_several(c) ? "one of them" : "it",
               tl_grouped(c->late_count).text, tl_grouped(a->trust.judged).text);
    if (tl_is_several(c))
        tl_say(w, "rank~%" PRId32 "~alone:", c->rank);
    if (tl_is_link(c))
        tl_say(w, "its transfers take %.1f~times as long as they should; the excess is %.1f~times their noise",
               a->link->ratio, c->z);
    else if (c->z < FAR_Z) /* beyond FAR_Z the number tells a reader nothing more */
        tl_say(w, "its delay is %.1f~times %s", c->z, varies);
    else
        tl_say(w, "its delay is more~than~%d~times %s", FAR_Z, varies);
    if (isnan(c->path_share))
        return;
    say(q, "Evidence:", "critical_path", "%s of the critical path runs on %s", tl_share_in_words(c->path_share).text,
        tl_is_link(c) ? "the ranks at its ends" : them(c));
    if (a->path.ns > 0 && a->path.unexplained_ns > 0)
        tl_say(w, "- %s of the path, on any rank, is unexplained",
               tl_part_in_words(a->path.unexplained_ns, a->path.ns).text);
}

static void which_rank(asking *q)
{
    const tl_answers *a = q->a;
    const char *next = tl_next_in_words(a);
    if (a->first == NULL) {
        tl_say_no_culprit(&q->w, a);
        if (a->finding == TL_FOUND_NOBODY)
            say(q, "Evidence:", "straggler", "%s~of~%s collectives matched across %zu~ranks",
                tl_grouped(a->trust.matched).text, tl_grouped(a->trust.collectives).text, a->trust.nranks);
    } else {
        tl_say_culprit(&q->w, a, a->first);
        if (a->by_order != NULL)
            tl_say_file(begin(q, "File:", NULL), a->by_order);
        say(q, "Cost:", NULL, "%s", tl_gain_in_words(a, a->first).text);
        say_others_too(q);
        say_evidence_of_rank(q);
    }
    if (next != NULL)
        say(q, "Next:", NULL, "%s", next);
}

/* ----------------------------------------------------------------------------------------------------- which phase */

/* "others wait 740 ms of GPU time for it - 97.3 % of that for its host_late": the activity with the largest part. */
static void say_largest_part(tl_wrap *w, const tl_answers *a)
{
    const tl_culprit *c = a->first;
    int largest = 0;
    for (int p = 1; p <= TL_NACTIVITIES; p++)
        largest = a->activities[p] > a->activities[largest] ? p : largest;
    tl_say(w, "others wait %s of GPU time for %s", tl_duration(c->blame_ns).text, them(c));
    if (a->activities[largest] > 0)
        tl_say(w, "-~%s of that for its %s", tl_part_in_words(a->activities[largest], c->blame_ns).text,
               tl_activity_labels[largest]);
}

static void say_phase_of_rank(asking *q)
{
    const tl_culprit *c = q->a->first;

    tl_say(&q->w, "%s: %s", tl_cause_labels[c->cause], tl_cause_in_words(q->a, c->cause).text);
    if (!c->same_cause)
        tl_say(&q->w, "(rank~%" PRId32 ")", c->rank);
    if (c->cause_share > 0)
        tl_say(&q->w, "%s", tl_cause_share_in_words(c).text);
    if (c->place[0] != '\0' && q->a->nexcess < 2) { /* several are told below, each with its part */
        tl_say(&q->w, "- most of it in");
        tl_say_place(&q->w, c);
    }
    if (q->a->nexcess > 0)
        tl_say_excess(begin(q, "Where:", "excess"), q->a, SIZE_MAX);
    say_largest_part(begin(q, "Evidence:", "blame"), q->a);
}

/* Where most time is lost, and what decides when the job ends: no culprit holds it up. */
static void say_phase_of_none(asking *q)
{
    const tl_answers *a = q->a;
    const tl_path_facts *path = &a->path;

    if (a->finding == TL_FOUND_NOBODY && a->rank.confidence == TL_CONFIDENCE_HIGH)
        tl_say(&q->w, "No single rank.");
    tl_say_losses(&q->w, a);
    tl_say_shares(begin(q, "Evidence:", "breakdown"), a);
    if (path->ns <= 0)
        return;
    say(q, "Evidence:", "critical_path", "the critical path%s is %s %s", a->trust.nranks > 1 ? " across ranks" : "",
        tl_share_in_words(path->activity_share).text, path->activity);
    if (a->trust.nranks > 1)
        tl_say(&q->w, "- %s of it is there only because ranks differ", tl_share_in_words(path->imbalance_share).text);
}

static void which_phase(asking *q)
{
    const tl_answers *a = q->a;
    if (a->first == NULL && a->worst.name == NULL) {
        tl_say(&q->w, "Nothing ran on a device.");
    } else if (a->first == NULL) {
        say_phase_of_none(q);
    } else if (tl_is_untraced(a->first)) {
        tl_say(&q->w, "%s", tl_untraced_in_words(a).text);
    } else if (tl_is_link(a->first)) {
        tl_say(&q->w, "%s: %s", tl_cause_labels[TL_CAUSE_SLOW_LINK], tl_link_in_words(a->link).text);
        say(q, "Evidence:", "link", "%s more than these transfers should take", tl_duration(a->first->excess_ns).text);
    } else {
        say_phase_of_rank(q);
    }
    if (a->bound.wall_ns > 0)
        tl_say_bound(begin(q, "Bound:", "path_sum"), a);
    if (tl_largest_imbalance(a) > 0)
        tl_say_imbalance(begin(q, "Balance:", "whatif"), a, SIZE_MAX);
}

/* ----------------------------------------------------------------------------------------- waiting, and persistence */

static void others_waiting(asking *q)
{
    const tl_answers *a = q->a;
    bool known = a->finding >= TL_FOUND_NOBODY, told = known || a->why != NULL;
    tl_wrap *w = &q->w;

    if (a->first != NULL && tl_is_untraced(a->first)) {
        tl_say(w, "Yes: for the rank without a trace; how long each waits for it no table has.");
    } else if (a->first != NULL && a->first->nwaiters > 0) {
        tl_say(w, "Yes:");
        tl_say_waiters(w, a);
    } else if (a->waits && told) {
        tl_say(w, "Yes,");
        tl_say_waited_for(w, a);
    } else if (a->pairs_wait && told) {
        tl_say(w, "Yes, in sends and receives, which are charged to no rank: %s of GPU time, %s of all GPU time.",
               tl_duration(a->uncharged_ns).text, tl_part_in_words(a->uncharged_ns, a->wall_sum_ns).text);
    } else if (known && a->may_wait) {
        tl_say(w, "Not known: of exposed communication, %s of the time,",
               tl_part_in_words(a->comm_unknown_ns, a->wall_sum_ns).text);
        tl_say_comm_doubt(w, a);
    } else if (known) {
        tl_say(w, "%s", a->wait_ns == 0 ? "No: no wait is recorded." : "Hardly.");
    } else {
        tl_say_no_culprit(w, a);
    }
    if (!told || a->wall_sum_ns <= 0)
        return;
    say(q, "Evidence:", "blame", "waiting for late ranks takes %s of GPU time, %s of all GPU time",
        tl_duration(a->wait_ns).text, tl_part_in_words(a->wait_ns, a->wall_sum_ns).text);
    if (a->wait_exposed_ns < a->wait_ns - a->wait_ns / 10)
        tl_say(w, "- no more than %s exposed, the rest hidden behind other work",
               tl_part_in_words(a->wait_exposed_ns, a->wall_sum_ns).text);
    if (a->first != NULL && a->wait_ns > 0 && !tl_is_untraced(a->first))
        tl_say(w, "- %s of it for %s", tl_part_in_words(a->first->blame_ns, a->wait_ns).text,
               tl_is_several(a->first) ? "them" : "this rank");
}

static void persistence(asking *q)
{
    const tl_answers *a = q->a;
    const tl_culprit *c = q->a->first;
    tl_wrap *w = &q->w;

    if (c == NULL && a->finding == TL_FOUND_NOBODY) {
        tl_say_nobody_holds(w, a, ",");
        tl_say(w, "neither always nor for a while.");
    } else if (c == NULL) {
        tl_say_no_culprit(w, a);
    } else {
        tl_say(w, "%s: %s", tl_pattern_labels[c->pattern], tl_pattern_in_words(c, &a->trust).text);
        begin(q, "Evidence:", tl_is_link(c) ? "link" : "blame_step");
        if (!tl_is_link(c))
            tl_say(w, "%" PRId64 "~of~%zu steps flagged;", c->steps_flagged, a->trust.nsteps);
        if (!tl_is_link(c) && c->steps_not_counted > 0)
            tl_say(w,
                   "%" PRId64
                   " more not counted, because it costs less in them, or because they are not fully recorded;",
                   c->steps_not_counted);
        if (isnan(c->p_value) || (a->persistence.doubts & (1u << TL_DOUBT_FEW_STEPS | 1u << TL_DOUBT_ONE_STEP)) != 0)
            tl_say(w, "too few steps for a test of significance");
        else
            tl_wrap_printf(w, "%s", tl_chance_in_words(c->p_value).text);
    }
}

/* ----------------------------------------------------------------------------------------- what the answers rest on */

static const tl_quality *check_of(const asking *q, tl_quality_check check)
{
    static const tl_quality none;
    TL_ROWS (const tl_quality, row, q->a->quality)
        if (row->check == check)
            return row;
    return &none;
}

/* Clocks are apart by microseconds, or by hours. */
static tl_phrase apart(int64_t ns)
{
    return ns < INT64_C(10000000) ? tl_phrase_of("%.0f us", (double)ns / 1000) : tl_duration(ns);
}

static void say_matched(asking *q, const tl_quality *matched)
{
    const tl_quality *ends = check_of(q, TL_CHECK_END_TOGETHER), *alone = check_of(q, TL_CHECK_ALONE);
    if (alone->of > 0 && alone->count == alone->of) {
        say(q, "Collectives:", NULL, "%s, of one rank each: there is none to compare with",
            tl_grouped(matched->of).text);
        return;
    }
    say(q, "Collectives:", "quality", "%s~of~%s matched across ranks%s", tl_grouped(matched->count).text,
        tl_grouped(matched->of).text, ends->of > 0 ? ";" : "");
    if (ends->of > 0)
        tl_say(&q->w, "ends up to %s~apart", tl_duration(ends->worst_ns).text);
}

static void say_clocks(asking *q)
{
    const tl_quality *shifted = check_of(q, TL_CHECK_SHIFTED);
    const tl_trust *trust = &q->a->trust;
    if (trust->untied)
        say(q, "Clocks:", "clock", "not all can be compared");
    if (shifted->count == 0)
        return;
    say(q, "Clocks:", "clock", "the times of %" PRId64 "~rank%s were shifted, by~up~to~%s%s", shifted->count,
        tl_plural(shifted->count), apart(shifted->worst_ns).text, trust->clock_uncertainty_ns > 0 ? "," : "");
    if (trust->clock_uncertainty_ns > 0)
        tl_say(&q->w, "to within %s", apart(trust->clock_uncertainty_ns).text);
    if (trust->clock_step_ns > 0)
        tl_say(&q->w, "-~one clock~steps~by~%s", apart(trust->clock_step_ns).text);
}

static double percent_of(const tl_quality *row)
{
    return row->of > 0 ? 100 * (double)row->count / (double)row->of : 0;
}

/* Says which waiting is charged to no rank, and why, where one reason takes 1 % of all waiting or more. */
static void say_uncharged(asking *q)
{
    static const struct {
        tl_quality_check check;
        const char *words;
    } of[] = {
        { TL_CHECK_LATE_SENDER, "is for late senders" },
        { TL_CHECK_LATE_RECEIVER, "is for late receivers" },
        { TL_CHECK_LATE_PARTNER, "is for one of two that send to each other" },
        { TL_CHECK_UNCHARGED, "cannot be charged because of clocks" },
        { TL_CHECK_WAIT_SUSPECT, "is in suspect collectives" },
    };
    double most = 0;
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
        most = fmax(most, percent_of(check_of(q, of[k].check)));
    if (most < 1)
        return;
    say(q, "Waiting:", "blame", "%.1f %% of~it is charged to late ranks", percent_of(check_of(q, TL_CHECK_CHARGED)));
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        double pct = percent_of(check_of(q, of[k].check));
        if (pct >= 0.05)
            tl_say(&q->w, "-~%.1f~%% %s", pct, of[k].words);
    }
}

static void say_basis(asking *q)
{
    const tl_answers *a = q->a;
    const tl_quality *matched = check_of(q, TL_CHECK_MATCHED);
    tl_phrase words;

    if (matched->of == 0 && (a->health == NULL || a->health->n == 0))
        return;
    end(q);
    fputs("\nWhat do the answers rest on?\n", q->out);
    for (int defect = 0; a->health != NULL && defect < TL_NDEFECTS; defect++)
        if (tl_health_in_words(a->health, (tl_defect)defect, &words))
            say(q, "Recording:", "health", "%s", words.text);
    if (matched->of > 0)
        say_matched(q, matched);
    say_clocks(q);
    say_uncharged(q);
    if (!isnan(a->trust.model_error))
        say(q, "Simulation: off by", "whatif", "%.1f %% of the measured time", 100 * fabs(a->trust.model_error));
}

/* ---------------------------------------------------------------------------------------------------------- phases */

static void say_phase_cost(asking *q)
{
    const tl_answers *a = q->a;
    if (a->phases->verdict == TL_PHASE_STRAGGLER)
        tl_say_phase_cost(begin(q, "Cost:", NULL), a);
    for (size_t i = 1, n = 0; i < a->nphases && n < NEXT_NAMED; i++)
        if (&a->phases[i] != tl_phase_told_of(a)) {
            tl_say_phase_also(begin(q, "Also:", NULL), &a->phases[i]);
            n++;
        }
}

static void end_phase_answer(asking *q, const char *table)
{
    say(q, "Confidence:", table, "%s", tl_confidence_labels[q->a->phases->confidence]);
}

/* What durations of phases say beside traces. */
static void say_phases(asking *q)
{
    const tl_phase_verdict *row = q->a->phases;
    ask(q, tl_phrase_of("What do the phases say that were timed in %" PRId64 " step%s?", row->steps,
                        tl_plural(row->steps))
               .text);
    tl_say_phase_rank(&q->w, q->a);
    tl_say_phase_reason(begin(q, "", NULL), q->a);
    say_phase_cost(q);
    end_phase_answer(q, "phase_verdict");
}

void tl_print_answers(FILE *out, const tl_answers *a, const char *file, size_t columns)
{
    const struct {
        const char *question;
        void (*say)(asking *); /* by traces */
        const tl_answer *answer;
        void (*say_phases)(tl_wrap *, const tl_answers *); /* where there are only durations of phases */
        const char *table;
    } answers[] = {
        { "Which rank holds the job up?", which_rank, &a->rank, tl_say_phase_rank, "phase_verdict" },
        { "In which phase, and why?", which_phase, &a->phase, tl_say_phase_reason, "phase" },
        { "Do others wait?", others_waiting, &a->waiting, tl_say_phase_waiting, "phase" },
        { "Always, or only for a while?", persistence, &a->persistence, tl_say_phase_pattern, "phase_step" },
    };
    char path[1000];
    asking q = { .out = out, .a = a, .file = path, .w = { .out = out, .indent = 2, .columns = columns } };

    tl_shell_word(path, sizeof path, file);
    if (a->selection != NULL) {
        tl_wrap w = { .out = out, .columns = columns };
        tl_say_selection(&w, a);
        tl_wrap_end(&w);
        fputc('\n', out);
    }
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        ask(&q, answers[i].question);
        if (a->phases_alone)
            answers[i].say_phases(&q.w, a);
        else
            answers[i].say(&q);
        if (a->phases_alone && i == 0)
            say_phase_cost(&q);
        if (a->phases_alone)
            end_phase_answer(&q, answers[i].table);
        else
            tl_say_confidence(begin(&q, "Confidence:", NULL), a, answers[i].answer, TL_NDOUBTS);
    }
    if (!a->phases_alone)
        say_basis(&q);
    if (!a->phases_alone && tl_has_phases(a))
        say_phases(&q);
    end(&q);
}
