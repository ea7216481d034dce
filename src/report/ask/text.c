/* text.c - the four questions, a paragraph each, and the basis of all answers:
 *
 *     Which rank holds the job up?
 *       Rank 2 (host node0, device 2) holds the job up in all 8 steps (1-8): it costs 25.0 ms (25.0 %) of each of these
 *       steps of 100 ms on average
 *       Gain: 200 ms less of 800 ms (25.0 %) without its delay, simulated
 *       Evidence: it comes last in 16 of 16 collectives; its delay is more than 100 times what its peers vary by
 *       (tlmpi show traces.h5 straggler)
 *       Trust: high
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
#include "tlmpi/report/answers/tell.h"
#include "tlmpi/report/ask.h"
#include <inttypes.h>
#include <math.h>
#include <stdint.h>

/* Other culprits that are named; a larger distance in units of noise is told as "more than". */
enum { ALSO = 4, FAR_Z = 100 };

/* Prints a question, after a blank line unless it is the first paragraph. */
static void begin_question(tl_telling *t, const char *question)
{
    tl_tell_end(t);
    fprintf(t->w.out, "%s%s\n", t->label != NULL ? "\n" : "", question);
}

static const char *pronoun_of(const tl_culprit *c)
{
    return tl_is_several(c) ? "them" : "it";
}

/* ------------------------------------------------------------------------------------------------------ which rank */

static void tell_evidence_of_rank(tl_telling *t)
{
    static const char *const varying[] = { "its peers", "stages", "its steps" }; /* by tl_against */
    const tl_answers *a = t->a;
    const tl_culprit *c = a->first;
    tl_wrap *w = tl_tell(t, "evidence", tl_is_link(c) ? "link" : "straggler");

    if (tl_is_link(c)) {
        tl_say(w, "its transfers take %.1f~times as long as they should; the excess is %.1f~times their noise",
               a->link->ratio, c->z);
    } else {
        if (!tl_is_untraced(c) && a->trust.judged > 0)
            tl_say(w, "%s comes last in %s~of~%s collectives;", tl_is_several(c) ? "one of them" : "it",
                   tl_grouped(c->late_count).text, tl_grouped(a->trust.judged).text);
        if (tl_is_several(c))
            tl_say(w, "rank~%" PRId32 "~alone:", c->rank);
        const tl_phrase z = tl_phrase_of(c->z < FAR_Z ? "%.1f" : "more than %.0f", c->z < FAR_Z ? c->z : FAR_Z);
        tl_say(w, "its delay is %s~times what %s vary by", z.text, varying[a->against]);
    }
    if (isnan(c->path_share))
        return;
    w = tl_tell(t, "evidence", "critical_path");
    tl_say(w, "%s of the critical path runs on %s", tl_share_in_words(c->path_share).text,
           tl_is_link(c) ? "the ranks at its ends" : pronoun_of(c));
    if (a->path.ns > 0 && a->path.unexplained_ns > 0)
        tl_say(w, "- %s of the path, on any rank, is unexplained",
               tl_part_in_words(a->path.unexplained_ns, a->path.ns).text);
}

static void which_rank(tl_telling *t)
{
    const tl_answers *a = t->a;
    tl_tell_verdict(t);
    if (a->finding == TL_FOUND_NONE)
        tl_say(tl_tell(t, "evidence", "straggler"), "%s~of~%s collectives matched across %zu~ranks",
               tl_grouped(a->trust.matched).text, tl_grouped(a->trust.collectives).text, a->trust.nranks);
    if (a->first == NULL)
        return;
    tl_tell_file(t);
    tl_tell_gain(t);
    tl_tell_also(t, ALSO);
    tell_evidence_of_rank(t);
}

/* ----------------------------------------------------------------------------------------------------- which phase */

/* Says "others wait 740 ms of GPU time for it - 97.3 % of that for its host_late": the activity with the largest
 * part. */
static void say_largest_part(tl_wrap *w, const tl_answers *a)
{
    const tl_culprit *c = a->first;
    int largest = 0;
    for (int p = 1; p <= TL_NACTIVITIES; p++)
        largest = a->activities[p] > a->activities[largest] ? p : largest;
    tl_say(w, "others wait %s of GPU time for %s", tl_duration(c->blame_ns).text, pronoun_of(c));
    if (a->activities[largest] > 0)
        tl_say(w, "-~%s of that for its %s", tl_part_in_words(a->activities[largest], c->blame_ns).text,
               tl_activity_labels[largest]);
}

/* "idle 4.2 %, exposed communication 92.2 % of its time - waiting 0.5 %, transfer 91.7 %", the unknown rest with its
 * reason, and what the rank that loses most loses. */
static void say_losses(tl_wrap *w, const tl_answers *a)
{
    const int64_t all_ns = a->all.wall_ns;
    tl_say(w, "idle %s, exposed communication %s of %s~time", tl_part_in_words(a->all.idle_ns, all_ns).text,
           tl_part_in_words(a->all.comm_exposed_ns, all_ns).text, a->trust.nranks > 1 ? "all ranks'" : "its");
    if (a->all.comm_waiting_ns > 0 || a->all.comm_transfer_ns > 0)
        tl_say(w, "- waiting %s, transfer %s", tl_part_in_words(a->all.comm_waiting_ns, all_ns).text,
               tl_part_in_words(a->all.comm_transfer_ns, all_ns).text);
    if (a->all.comm_unknown_ns > 0) {
        tl_say(w, "- %s:", tl_part_in_words(a->all.comm_unknown_ns, all_ns).text);
        tl_say_comm_doubt(w, a);
    }
    if (a->worst.ns > 0)
        tl_say(w, "- most on rank~%" PRId32 ": %s %s", a->worst.rank, a->worst.name,
               tl_part_in_words(a->worst.ns, a->worst.wall_ns).text);
}

/* "rank 2 is bound by computing for 71.2 % of the time - by waiting for other ranks for 12.0 %". */
static void say_bound(tl_wrap *w, const tl_answers *a)
{
    const tl_path_sum *b = &a->bound;
    struct part {
        int64_t ns;
        const char *words;
    } parts[] = { { b->compute_ns, "computing" },
                  { b->comm_ns, "communication" },
                  { b->peer_ns, "waiting for other ranks" },
                  { b->cpu_ns, "the host, which works towards its next launch," },
                  { b->input_ns, "waiting for input" },
                  { b->sync_ns, "what synchronisation adds" },
                  { b->launch_ns, "the start of launched kernels" },
                  { b->kernel_kernel_ns, "the gaps between queued kernels" },
                  { b->copy_ns, "copies" },
                  { b->unexplained_ns, "nothing that is known" } };
    enum { NPARTS = sizeof parts / sizeof parts[0], SAID = 3 };
    if (b->rank >= 0)
        tl_say(w, "rank~%" PRId32 " is bound", b->rank);
    else
        tl_say(w, a->trust.nranks > 1 ? "ranks are bound" : "the rank is bound");
    for (int said = 0; said < SAID; said++) {
        struct part *most = &parts[0];
        for (int i = 1; i < NPARTS; i++)
            most = parts[i].ns > most->ns ? &parts[i] : most;
        if (said > 0 && most->ns < b->wall_ns / 100)
            break;
        tl_say(w, "%s by %s for %s%s", said > 0 ? "-" : "", most->words, tl_part_in_words(most->ns, b->wall_ns).text,
               said == 0 ? " of the time" : "");
        most->ns = 0;
    }
}

static void which_phase(tl_telling *t)
{
    const tl_answers *a = t->a;
    const tl_path_facts *path = &a->path;
    if (a->worst.name == NULL && a->first == NULL) {
        tl_say(tl_tell(t, "", NULL), "Nothing ran on a device.");
    } else if (a->first == NULL) {
        say_losses(tl_tell(t, "lost", "breakdown"), a);
    } else {
        tl_tell_cause(t, SIZE_MAX);
        if (tl_is_link(a->first))
            tl_say(tl_tell(t, "evidence", "link"), "%s more than these transfers should take",
                   tl_duration(a->first->excess_ns).text);
        else if (!tl_is_untraced(a->first))
            say_largest_part(tl_tell(t, "evidence", "blame"), a);
    }
    if (a->first == NULL && path->ns > 0) {
        tl_wrap *w = tl_tell(t, "evidence", "critical_path");
        tl_say(w, "%s of the critical path is %s", tl_share_in_words(path->activity_share).text, path->activity);
        if (a->trust.nranks > 1)
            tl_say(w, "- %s of it is there only because ranks differ", tl_share_in_words(path->imbalance_share).text);
    }
    if (a->bound.wall_ns > 0)
        say_bound(tl_tell(t, "bound", "path_sum"), a);
    if (tl_largest_imbalance(a) > 0)
        tl_say_imbalance(tl_tell(t, "balance", "whatif"), a, SIZE_MAX);
    tl_tell_next(t);
}

/* ----------------------------------------------------------------------------------------- waiting, and persistence */

/* "3 ranks (0-1, 3) wait for it: 9.11 s of GPU time". */
static void say_waiters(tl_wrap *w, const tl_answers *a)
{
    const tl_culprit *c = a->first;
    tl_say(w, "%s~rank%s", tl_grouped(c->nwaiters).text, tl_plural(c->nwaiters));
    if (c->waiters[0] != '\0')
        tl_say(w, "(%s)", tl_list_in_words(c->waiters, sizeof c->waiters).text);
    tl_say(w, "%s for %s: %s of GPU time", c->nwaiters == 1 ? "waits" : "wait", tl_is_several(c) ? "them" : "it",
           tl_duration(tl_ns_between(c->blame_ns, c->indirect_ns)).text);
    if (c->indirect_ns > c->blame_ns / 100)
        tl_say(w, "- ranks that wait for these wait %s more", tl_duration(c->indirect_ns).text);
}

/* "for several in turn: 28.0 ms of GPU time for rank 3 (35.0 % of all waiting), ... and 4 more": which ranks were
 * waited for, where the culprit, or the lack of one, does not tell. */
static void say_waited_for(tl_wrap *w, const tl_answers *a)
{
    size_t n = a->nwaited_for < TL_WAITED_FOR_MOST ? a->nwaited_for : TL_WAITED_FOR_MOST;

    tl_say(w, "%s", n > 1 ? "for several in turn:" : n == 1 ? "for one:" : "in turn");
    for (size_t i = 0; i < n; i++) {
        const tl_awaited *of = &a->waited_for[i];
        tl_say(w, "%s %s rank~%" PRId32 " (%s%s)%s", tl_duration(of->ns).text, i == 0 ? "of GPU time for" : "for",
               of->rank, tl_part_in_words(of->ns, a->wait_ns).text, i == 0 ? " of" TL_KEPT "all" TL_KEPT "waiting" : "",
               i + 1 < n || a->nwaited_for > n ? "," : "");
    }
    if (a->nwaited_for > n)
        tl_say(w, "and~%zu~more", a->nwaited_for - n);
    if (a->passed_on_ns > a->wait_ns / 100)
        tl_say(w, "-~%s (%s) for ranks that had waited themselves", tl_duration(a->passed_on_ns).text,
               tl_part_in_words(a->passed_on_ns, a->wait_ns).text);
}

static void others_waiting(tl_telling *t)
{
    const tl_answers *a = t->a;
    const tl_culprit *c = a->first;
    const bool known = a->finding >= TL_FOUND_NONE, told = known || a->why != NULL;
    tl_wrap *w = tl_tell(t, "", NULL);

    if (c != NULL && tl_is_untraced(c)) {
        tl_say(w, "Yes: for the rank without a trace; how long each waits for it no table has.");
    } else if (c != NULL && c->nwaiters > 0) {
        tl_say(w, "Yes:");
        say_waiters(w, a);
    } else if (a->waits && told) {
        tl_say(w, "Yes,");
        say_waited_for(w, a);
    } else if (a->pairs_wait && told) {
        tl_say(w, "Yes, in sends and receives, which are charged to no rank: %s of GPU time, %s of all GPU time.",
               tl_duration(a->uncharged_ns).text, tl_part_in_words(a->uncharged_ns, a->all.wall_ns).text);
    } else if (known && a->may_wait) {
        tl_say(w, "Not known: of exposed communication, %s of the time,",
               tl_part_in_words(a->all.comm_unknown_ns, a->all.wall_ns).text);
        tl_say_comm_doubt(w, a);
    } else if (known) {
        tl_say(w, "%s", a->wait_ns == 0 ? "No: no wait is recorded." : "Hardly.");
    } else {
        tl_say_no_culprit(w, a);
    }
    if (!told || a->all.wall_ns <= 0)
        return;
    w = tl_tell(t, "evidence", "blame");
    tl_say(w, "waiting for late ranks takes %s of GPU time, %s of all GPU time", tl_duration(a->wait_ns).text,
           tl_part_in_words(a->wait_ns, a->all.wall_ns).text);
    if (a->wait_exposed_ns < a->wait_ns - a->wait_ns / 10)
        tl_say(w, "- no more than %s exposed, the rest hidden behind other work",
               tl_part_in_words(a->wait_exposed_ns, a->all.wall_ns).text);
    if (c != NULL && a->wait_ns > 0 && !tl_is_untraced(c))
        tl_say(w, "- %s of it for %s", tl_part_in_words(c->blame_ns, a->wait_ns).text,
               tl_is_several(c) ? "them" : "this rank");
}

static void persistence(tl_telling *t)
{
    const tl_answers *a = t->a;
    const tl_culprit *c = a->first;
    tl_wrap *w = tl_tell(t, "", NULL);

    if (c == NULL && a->finding == TL_FOUND_NONE) {
        tl_say_no_rank_holds(w, a, ",");
        tl_say(w, "neither always nor for a while.");
        return;
    }
    if (c == NULL) {
        tl_say_no_culprit(w, a);
        return;
    }
    tl_say(w, "%s: %s", tl_pattern_labels[c->pattern], tl_pattern_of_culprit(a, c).text);
    w = tl_tell(t, "evidence", tl_is_link(c) ? "link" : "blame_step");
    if (!tl_is_link(c))
        tl_say(w, "%" PRId64 "~of~%zu%s steps flagged;", c->steps_flagged, a->trust.nsteps - a->trust.left_out,
               a->trust.left_out > 0 ? " whole" : "");
    if (!tl_is_link(c) && c->steps_not_counted > 0)
        tl_say(w,
               "%" PRId64 " more not counted, because it costs less in them, or because they are not fully recorded;",
               c->steps_not_counted);
    if (isnan(c->p_value) || (a->persistence.doubts & (1u << TL_DOUBT_FEW_STEPS | 1u << TL_DOUBT_ONE_STEP)) != 0)
        tl_say(w, "too few steps for a test of significance");
    else
        tl_say(w, "%s", tl_chance_in_words(c->p_value).text);
}

/* ----------------------------------------------------------------------------------------- what the answers rest on */

static const tl_quality *check_of(const tl_answers *a, tl_quality_check check)
{
    static const tl_quality none;
    TL_ROWS (const tl_quality, row, a->quality)
        if (row->check == check)
            return row;
    return &none;
}

/* Returns the difference of clocks in words: microseconds, or up to hours. */
static tl_phrase difference_in_words(int64_t ns)
{
    return ns < INT64_C(10000000) ? tl_phrase_of("%.0f us", (double)ns / 1000) : tl_duration(ns);
}

static void tell_matched(tl_telling *t)
{
    const tl_quality *matched = check_of(t->a, TL_CHECK_MATCHED), *ends = check_of(t->a, TL_CHECK_END_TOGETHER),
                     *alone = check_of(t->a, TL_CHECK_ALONE);
    tl_wrap *w = matched->of > 0 ? tl_tell(t, "collectives", "quality") : NULL;
    if (w != NULL && alone->of > 0 && alone->count == alone->of)
        tl_say(w, "%s, of one rank each: there is none to compare with", tl_grouped(matched->of).text);
    else if (w != NULL)
        tl_say(w, "%s~of~%s matched across ranks%s", tl_grouped(matched->count).text, tl_grouped(matched->of).text,
               ends->of > 0 ? tl_phrase_of("; ends up to" TL_KEPT "%s apart", tl_duration(ends->worst_ns).text).text
                            : "");
}

static void tell_clocks(tl_telling *t)
{
    const tl_quality *shifted = check_of(t->a, TL_CHECK_SHIFTED);
    const tl_trust *trust = &t->a->trust;
    if (trust->untied)
        tl_say(tl_tell(t, "clocks", "clock"), "not all can be compared");
    if (shifted->count == 0)
        return;
    tl_wrap *w = tl_tell(t, "clocks", "clock");
    tl_say(w, "the times of %" PRId64 "~rank%s were shifted, by~up~to~%s%s", shifted->count, tl_plural(shifted->count),
           difference_in_words(shifted->worst_ns).text, trust->clock_uncertainty_ns > 0 ? "," : "");
    if (trust->clock_uncertainty_ns > 0)
        tl_say(w, "to within %s", difference_in_words(trust->clock_uncertainty_ns).text);
    if (trust->clock_step_ns > 0)
        tl_say(w, "-~one clock~steps~by~%s", difference_in_words(trust->clock_step_ns).text);
}

static double share_of(const tl_quality *row)
{
    return row->of > 0 ? (double)row->count / (double)row->of : 0;
}

/* Says which waiting is charged to no rank, and why, where one reason takes 1 % of all waiting or more. */
static void tell_uncharged(tl_telling *t)
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
    const tl_quality *charged = check_of(t->a, TL_CHECK_CHARGED);
    double most = 0;
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++)
        most = fmax(most, share_of(check_of(t->a, of[k].check)));
    if (most < 0.01)
        return;
    tl_wrap *w = tl_tell(t, "waiting", "blame");
    tl_say(w, "%s of~it is charged to late ranks", tl_part_in_words(charged->count, charged->of).text);
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        const double share = share_of(check_of(t->a, of[k].check));
        if (share >= TL_LEAST_SHOWN)
            tl_say(w, "-~%s %s", tl_share_in_words(share).text, of[k].words);
    }
}

static void basis(tl_telling *t)
{
    const tl_answers *a = t->a;
    const bool recorded = a->health != NULL && a->health->n > 0;
    tl_phrase words;

    if (check_of(a, TL_CHECK_MATCHED)->of == 0 && !recorded)
        return;
    begin_question(t, "What do the answers rest on?");
    for (int defect = 0; recorded && defect < TL_NDEFECTS; defect++)
        if (tl_health_in_words(a->health, (tl_defect)defect, &words))
            tl_say(tl_tell(t, "recording", "health"), "%s", words.text);
    tell_matched(t);
    tell_clocks(t);
    tell_uncharged(t);
    if (!isnan(a->trust.model_error))
        tl_say(tl_tell(t, "simulation", "whatif"), "off by %s of the measured time",
               tl_share_in_words(fabs(a->trust.model_error)).text);
}

void tl_print_answers(FILE *out, const tl_answers *a, const char *file, size_t columns)
{
    const struct {
        const char *question;
        void (*by_traces)(tl_telling *);
        const tl_answer *answer;
        void (*by_phases)(tl_telling *);
    } answers[] = {
        { "Which rank holds the job up?", which_rank, &a->rank, tl_tell_phase_rank },
        { "In which phase, and why?", which_phase, &a->phase, tl_tell_phase_reason },
        { "Do others wait?", others_waiting, &a->waiting, tl_tell_phase_waiting },
        { "Always, or only for a while?", persistence, &a->persistence, tl_tell_phase_pattern },
    };
    char path[1000];
    tl_telling t = { .a = a, .file = path, .w = { .out = out, .columns = columns, .indent = 2 } };

    tl_shell_word(path, sizeof path, file);
    if (a->selection != NULL) {
        tl_wrap w = { .out = out, .columns = columns };
        tl_say_selection(&w, a);
        tl_wrap_end(&w);
        fputc('\n', out);
    }
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        begin_question(&t, answers[i].question);
        if (a->phases_alone) {
            answers[i].by_phases(&t);
            if (i == 1)
                tl_tell_next(&t);
            tl_tell_phase_trust(&t);
        } else {
            answers[i].by_traces(&t);
            tl_tell_trust(&t, answers[i].answer, TL_NDOUBTS);
        }
    }
    if (!a->phases_alone)
        basis(&t);
    if (!a->phases_alone && tl_has_phases(a)) {
        const int64_t steps = a->phases->steps;
        begin_question(
            &t, tl_phrase_of("What do the phases say that were timed in %" PRId64 " step%s?", steps, tl_plural(steps))
                    .text);
        tl_tell_phase_rank(&t);
        tl_tell_phase_reason(&t);
        tl_tell_phase_trust(&t);
    }
    tl_tell_end(&t);
}
