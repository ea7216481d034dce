/* text.c - the four questions, a paragraph each:
 *
 *     Which rank holds the job up?
 *       Rank 2 (host node0, device 2) holds the job up in all 8 steps (1-8): each of these steps of 100 ms is 30.0 ms
 *       (30.0 %) longer for it
 *       Cost: the job would take 200 ms less without its delay, 25.0 % of 800 ms (simulated)
 *       Evidence: it comes last in 16 of 16 collectives; z = 207.8 (tlmpi show traces.h5 straggler)
 *       Confidence: high
 */
#include "asking.h"
#include "basis.h"
#include "phases.h"
#include "tlmpi/report/answers/say.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/format/words.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Parts of a delay that are named; culprits beside the worst; the distance in units of noise from which on no more is told. */
enum { PARTS_NAMED = 3, NEXT_NAMED = 4, FAR_Z = 100 };

/* The first line of a paragraph: it begins at its indent. */
static tl_wrap answer_line(const asking *q)
{
    tl_wrap w = { .out = q->out, .indent = 2, .columns = q->columns };
    fputc(' ', q->out);
    w.column = 1;
    w.begun = true;
    return w;
}

static void end_with_table(tl_wrap *w, const asking *q, const char *table)
{
    tl_wrap_printf(w, "(tlmpi show %s %s)", q->file, table); /* in one line: a command is there to be copied */
    tl_wrap_end(w);
}

static void say_answer_confidence(const asking *q, const tl_answer *answer, bool last)
{
    tl_wrap w = paragraph(q, "Confidence:");
    tl_say_confidence(&w, q->a, answer, TL_NDOUBTS);
    tl_wrap_end(&w);
    if (!last)
        fputc('\n', q->out);
}

static bool has_culprit(const asking *q)
{
    return q->a->finding > TL_FOUND_NOBODY;
}

/* ------------------------------------------------------------------------------------------------------ which rank */

static void say_others_too(const asking *q)
{
    const tl_answers *a = q->a;
    for (size_t i = 1; i < a->nculprits && i <= NEXT_NAMED; i++) {
        tl_wrap w = paragraph(q, "Also:");
        tl_say_next_culprit(&w, a, &a->culprits[i]);
        tl_wrap_end(&w);
    }
    if (a->nculprits > NEXT_NAMED + 1) {
        tl_wrap w = paragraph(q, "Also:");
        tl_wrap_printf(&w, "%zu more;", a->nculprits - NEXT_NAMED - 1);
        tl_wrap_words(&w, "tables straggler and link have them.");
        tl_wrap_end(&w);
    }
    if (a->nculprits > 1 && a->together_gain_ns > a->culprits[0].gain_ns) {
        tl_wrap w = paragraph(q, "Together: without all that are named the job would take");
        tl_wrap_printf(&w, "%s less", tl_duration(a->together_gain_ns).text);
        tl_wrap_printf(&w, "(%s).", tl_share_in_words(tl_answers_share(a, a->together_gain_ns)).text);
        tl_wrap_end(&w);
    }
}

/* The delay in units of the noise of its peers; beyond FAR_Z the number tells a reader nothing more. */
static void say_distance(tl_wrap *w, double z)
{
    tl_wrap_words(w, "its delay is");
    if (z < FAR_Z)
        tl_wrap_printf(w, "%.1f times", z);
    else
        tl_wrap_printf(w, "more than %d times", FAR_Z);
    tl_wrap_words(w, "what its peers vary by");
}

static void say_evidence_of_rank(const asking *q, const tl_culprit *c)
{
    tl_wrap w = paragraph(q, "Evidence:");
    if (!tl_is_link(c)) {
        if (q->a->trust.judged > 0 && !tl_is_untraced(c)) {
            tl_wrap_words(&w, tl_is_several(c) ? "one of them comes last in" : "it comes last in");
            tl_wrap_printf(&w, "%s of %s", tl_grouped(c->late_count).text, tl_grouped(q->a->trust.judged).text);
            tl_wrap_words(&w, "collectives;");
        }
        if (tl_is_several(c))
            tl_wrap_printf(&w, "rank %" PRId32 " alone:", c->rank);
        say_distance(&w, c->z);
    } else {
        tl_wrap_words(&w, "its transfers take");
        tl_wrap_printf(&w, "%.1f times", q->a->link->ratio);
        tl_wrap_words(&w, "as long as they should;");
        tl_wrap_words(&w, "the excess is");
        tl_wrap_printf(&w, "%.1f times", c->z);
        tl_wrap_words(&w, "their noise");
    }
    end_with_table(&w, q, tl_is_link(c) ? "link" : "straggler");
    if (isnan(c->path_share))
        return;
    w = paragraph(q, "Evidence:");
    tl_say_path(&w, q->a, c);
    end_with_table(&w, q, "critical_path");
}

static void say_next(const asking *q)
{
    const char *next = tl_next_in_words(q->a);
    if (next == NULL)
        return;
    tl_wrap w = paragraph(q, "Next:");
    tl_wrap_words(&w, next);
    tl_wrap_end(&w);
}

static void which_rank(const asking *q)
{
    fputs("Which rank holds the job up?\n", q->out);
    tl_wrap w = answer_line(q);
    if (!has_culprit(q)) {
        tl_say_no_culprit(&w, q->a);
        tl_wrap_end(&w);
        if (q->a->finding == TL_FOUND_NOBODY) {
            w = paragraph(q, "Evidence:");
            tl_wrap_printf(&w, "%s of %s", tl_grouped(q->a->trust.matched).text,
                           tl_grouped(q->a->trust.collectives).text);
            tl_wrap_words(&w, "collectives matched across");
            tl_wrap_printf(&w, "%zu ranks", q->a->trust.nranks);
            end_with_table(&w, q, "straggler");
        }
        say_next(q);
        say_answer_confidence(q, &q->a->rank, false);
        return;
    }
    const tl_culprit *worst = &q->a->culprits[0];
    tl_say_culprit(&w, q->a, worst);
    tl_wrap_end(&w);
    if (q->a->by_order != NULL) {
        w = paragraph(q, "File:");
        tl_say_file(&w, q->a->by_order);
        tl_wrap_end(&w);
    }
    w = paragraph(q, "Cost:");
    tl_say_phrase(&w, tl_gain_in_words(q->a, worst));
    tl_wrap_end(&w);
    say_others_too(q);
    say_evidence_of_rank(q, worst);
    say_next(q);
    say_answer_confidence(q, &q->a->rank, false);
}

/* ----------------------------------------------------------------------------------------------------- which phase */

/* The largest part of the delay that is not among the first n; -1: what is left is less than a hundredth. */
static int next_part(const tl_answers *a, const int *first, int n)
{
    int largest = -1;
    for (int p = 0; p <= TL_NACTIVITIES; p++) {
        bool said = false;
        for (int i = 0; i < n; i++)
            said |= first[i] == p;
        if (!said && a->activities[p] > a->culprits[0].blame_ns / 100 &&
            (largest < 0 || a->activities[p] > a->activities[largest]))
            largest = p;
    }
    return largest;
}

/* "others wait 740 ms of GPU time for it: 97.3 % because of its host_late, 1.6 % of its compute, ..." */
static void say_parts(tl_wrap *w, const tl_answers *a)
{
    const tl_culprit *c = &a->culprits[0];
    int activities[PARTS_NAMED + 1], n = 0;

    while (n < PARTS_NAMED && (activities[n] = next_part(a, activities, n)) >= 0)
        n++;
    tl_wrap_words(w, "others wait");
    tl_wrap_printf(w, "%s", tl_duration(c->blame_ns).text);
    tl_wrap_words(w, tl_is_several(c) ? "of GPU time for them" : "of GPU time for it");
    for (int i = 0; i < n; i++) {
        double share = (double)a->activities[activities[i]] / (double)c->blame_ns;
        tl_wrap_printf(w, "%s%s", i == 0 ? "- " : "", tl_share_in_words(share).text);
        tl_wrap_words(w, i == 0 ? "of that for its" : "for");
        tl_wrap_printf(w, "%s%s", tl_activity_labels[activities[i]],
                       i + 1 < n || next_part(a, activities, n) >= 0 ? "," : "");
    }
    if (next_part(a, activities, n) >= 0)
        tl_wrap_printf(w, "...");
}

static void say_phase_of_rank(const asking *q, const tl_culprit *c)
{
    tl_wrap w = answer_line(q);

    tl_wrap_printf(&w, "%s:", tl_cause_labels[c->cause]);
    tl_wrap_words(&w, tl_cause_in_words(c->cause));
    if (!c->same_cause)
        tl_wrap_printf(&w, "(rank %" PRId32 ")", c->rank);
    if (c->cause_share > 0)
        tl_say_phrase(&w, tl_cause_share_in_words(c));
    if (c->place[0] != '\0' && q->a->nexcess < 2) { /* several are told below, each with its part */
        tl_wrap_words(&w, "- most of it in");
        tl_say_place(&w, c);
    }
    tl_wrap_end(&w);
    if (q->a->nexcess > 0) {
        w = paragraph(q, "Where:");
        tl_say_excess(&w, q->a, SIZE_MAX);
        end_with_table(&w, q, "excess");
    }
    w = paragraph(q, "Evidence:");
    say_parts(&w, q->a);
    end_with_table(&w, q, "blame");
}

/* Says what decides when the job ends, where no culprit holds it up. */
static void say_path(const asking *q)
{
    const tl_path_facts *path = &q->a->path;
    if (path->ns <= 0)
        return;
    tl_wrap w = paragraph(q, "Evidence:");
    tl_wrap_words(&w, q->a->trust.nranks > 1 ? "the critical path across ranks is" : "the critical path is");
    tl_wrap_printf(&w, "%s", tl_share_in_words(path->activity_share).text);
    tl_wrap_words(&w, path->activity);
    if (q->a->trust.nranks > 1) {
        tl_wrap_printf(&w, "-");
        tl_wrap_printf(&w, "%s", tl_share_in_words(path->imbalance_share).text);
        tl_wrap_words(&w, "of it is there only because ranks differ");
    }
    end_with_table(&w, q, "critical_path");
}

static void which_phase(const asking *q)
{
    fputs("In which phase, and why?\n", q->out);
    if (has_culprit(q) && tl_is_untraced(&q->a->culprits[0])) {
        tl_wrap w = answer_line(q);
        tl_say_phrase(&w, tl_untraced_in_words(q->a));
        tl_wrap_end(&w);
    } else if (has_culprit(q) && !tl_is_link(&q->a->culprits[0])) {
        say_phase_of_rank(q, &q->a->culprits[0]);
    } else if (has_culprit(q)) {
        tl_wrap w = answer_line(q);
        tl_wrap_printf(&w, "%s:", tl_cause_labels[TL_CAUSE_SLOW_LINK]);
        tl_say_phrase(&w, tl_link_in_words(q->a->link));
        tl_wrap_end(&w);
        w = paragraph(q, "Evidence:");
        tl_wrap_printf(&w, "%s", tl_duration(q->a->culprits[0].excess_ns).text);
        tl_wrap_words(&w, "more than these transfers should take");
        end_with_table(&w, q, "link");
    } else if (q->a->worst.name == NULL) {
        tl_wrap w = answer_line(q);
        tl_wrap_words(&w, "Nothing ran on a device.");
        tl_wrap_end(&w);
    } else {
        tl_wrap w = answer_line(q);
        if (q->a->finding == TL_FOUND_NOBODY && q->a->rank.confidence == TL_CONFIDENCE_HIGH)
            tl_wrap_words(&w, "No single rank.");
        tl_say_losses(&w, q->a);
        tl_wrap_end(&w);
        w = paragraph(q, "Evidence:");
        tl_say_shares(&w, q->a);
        end_with_table(&w, q, "breakdown");
        say_path(q);
    }
    if (tl_largest_imbalance(q->a) > 0) {
        tl_wrap w = paragraph(q, "Balance:");
        tl_say_imbalance(&w, q->a, SIZE_MAX);
        end_with_table(&w, q, "whatif");
    }
    say_answer_confidence(q, &q->a->phase, false);
}

/* --------------------------------------------------------------------------------------------------------- waiting */

static void others_waiting(const asking *q)
{
    const tl_answers *a = q->a;

    fputs("Do others wait?\n", q->out);
    tl_wrap w = answer_line(q);
    if (has_culprit(q) && tl_is_untraced(&a->culprits[0])) {
        tl_wrap_words(&w, "Yes: for the rank without a trace; how long each waits for it no table has.");
    } else if (has_culprit(q) && a->culprits[0].nwaiters > 0) {
        tl_wrap_printf(&w, "Yes:");
        tl_say_waiters(&w, a);
    } else if (a->waits && (a->finding >= TL_FOUND_NOBODY || a->why != NULL)) {
        tl_wrap_printf(&w, "Yes,");
        tl_say_waited_for(&w, a);
    } else if (a->finding >= TL_FOUND_NOBODY && a->may_wait) {
        tl_wrap_words(&w, "Not known: of exposed communication,");
        tl_wrap_printf(&w, "%s", tl_share_in_words((double)a->comm_unknown_ns / (double)a->wall_sum_ns).text);
        tl_wrap_words(&w, "of the time,");
        tl_say_comm_doubt(&w, a);
    } else if (a->finding >= TL_FOUND_NOBODY) {
        tl_wrap_words(&w, a->wait_ns == 0 ? "No: no wait is recorded." : "Hardly.");
    } else {
        tl_say_no_culprit(&w, a);
    }
    tl_wrap_end(&w);
    if ((a->finding >= TL_FOUND_NOBODY || a->why != NULL) && a->wall_sum_ns > 0) {
        w = paragraph(q, "Evidence:");
        tl_wrap_words(&w, "waiting for late ranks takes");
        tl_wrap_printf(&w, "%s", tl_duration(a->wait_ns).text);
        tl_wrap_words(&w, "of GPU time,");
        tl_wrap_printf(&w, "%s", tl_share_in_words((double)a->wait_ns / (double)a->wall_sum_ns).text);
        tl_wrap_words(&w, "of all GPU time");
        if (a->wait_exposed_ns < a->wait_ns - a->wait_ns / 10) {
            tl_wrap_printf(&w, "-");
            tl_wrap_words(&w, "no more than");
            tl_wrap_printf(&w, "%s", tl_share_in_words((double)a->wait_exposed_ns / (double)a->wall_sum_ns).text);
            tl_wrap_words(&w, "exposed, the rest hidden behind other work");
        }
        if (has_culprit(q) && a->wait_ns > 0 && !tl_is_untraced(&a->culprits[0])) {
            tl_wrap_printf(&w, "-");
            tl_wrap_printf(&w, "%s", tl_share_in_words((double)a->culprits[0].blame_ns / (double)a->wait_ns).text);
            tl_wrap_words(&w, tl_is_several(&a->culprits[0]) ? "of it for them" : "of it for this rank");
        }
        end_with_table(&w, q, "blame");
    }
    say_answer_confidence(q, &a->waiting, false);
}

/* ----------------------------------------------------------------------------------------------------- persistence */

static void persistence(const asking *q)
{
    const tl_answers *a = q->a;

    fputs("Always, or only for a while?\n", q->out);
    tl_wrap w = answer_line(q);
    if (!has_culprit(q)) {
        if (a->finding == TL_FOUND_NOBODY) {
            tl_say_nobody_holds(&w, a, ",");
            tl_wrap_words(&w, "neither always nor for a while.");
        } else {
            tl_say_no_culprit(&w, a);
        }
        tl_wrap_end(&w);
        say_answer_confidence(q, &a->persistence, true);
        return;
    }
    const tl_culprit *c = &a->culprits[0];
    tl_wrap_printf(&w, "%s:", tl_pattern_labels[c->pattern]);
    tl_say_phrase(&w, tl_pattern_in_words(c, &a->trust));
    tl_wrap_end(&w);
    w = paragraph(q, "Evidence:");
    if (!tl_is_link(c)) {
        tl_wrap_printf(&w, "%" PRId64 " of %zu", c->steps_flagged, a->trust.nsteps);
        tl_wrap_words(&w, "steps flagged;");
        if (c->steps_not_counted > 0) {
            tl_wrap_printf(&w, "%" PRId64, c->steps_not_counted);
            tl_wrap_words(&w,
                          "more not counted, because it costs less in them, or because they are not fully recorded;");
        }
    }
    if (isnan(c->p_value) || (a->persistence.doubts & (1u << TL_DOUBT_FEW_STEPS | 1u << TL_DOUBT_ONE_STEP)) != 0)
        tl_wrap_words(&w, "too few steps for a test of significance");
    else
        tl_say_chance(&w, c->p_value);
    end_with_table(&w, q, tl_is_link(c) ? "link" : "blame_step");
    say_answer_confidence(q, &a->persistence, true);
}

void tl_print_answers(FILE *out, const tl_answers *answers, const char *file, size_t columns)
{
    char path[1000];
    tl_shell_word(path, sizeof path, file);
    if (answers->selection != NULL) {
        tl_wrap w = { .out = out, .columns = columns };
        tl_say_selection(&w, answers);
        tl_wrap_end(&w);
        fputc('\n', out);
    }
    if (answers->phases_alone) {
        tl_print_phase_answers(out, answers, path, columns);
        return;
    }
    const asking q = { out, answers, path, columns };
    which_rank(&q);
    which_phase(&q);
    others_waiting(&q);
    persistence(&q);
    tl_print_basis(out, answers, path, columns);
    if (tl_has_phases(answers))
        tl_print_phases_beside_traces(out, answers, path, columns);
}
