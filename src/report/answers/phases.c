/* phases.c - the answers from durations of phases, in lines:
 *
 *     Rank 3 holds the job up in all 90 steps (1-90) - in host_to_device it takes 60.1 ms longer than its peers in each
 *       cost    about 5.41 s of 45.1 s (12.0 %) of the time of recorded steps
 *       phase   host_to_device (100.0 % of what it takes longer): 60.1 ms a step longer here, ...
 *       others  7 ranks take 59.8 ms a step longer in training_step
 */
#include "tlmpi/report/answers/tell.h"
#include <inttypes.h>
#include <math.h>

static bool is_named(const tl_answers *a)
{
    return a->phases->verdict == TL_PHASE_STRAGGLER;
}

/* Returns the number of named ranks besides the first. */
static size_t other_stragglers(const tl_answers *a)
{
    size_t n = 0;
    for (size_t i = 1; i < a->nphases; i++) {
        bool counts = a->phases[i].verdict == TL_PHASE_STRAGGLER && a->phases[i].rank != a->phases->rank;
        for (size_t k = 1; k < i && counts; k++)
            counts = a->phases[k].verdict != TL_PHASE_STRAGGLER || a->phases[k].rank != a->phases[i].rank;
        n += counts;
    }
    return n;
}

const tl_phase_verdict *tl_phase_told_of(const tl_answers *a)
{
    for (size_t i = 1; i < a->nphases; i++)
        if (a->phases[i].verdict == a->phases->verdict && (is_named(a) || a->phases->verdict == TL_PHASE_OPEN))
            return &a->phases[i];
    return a->phases;
}

tl_finding tl_phase_finding(const tl_answers *a)
{
    const uint8_t verdict = a->phases->verdict;
    return verdict == TL_PHASE_STRAGGLER  ? TL_FOUND_STRAGGLER
           : verdict == TL_PHASE_ONE_RANK ? TL_FOUND_ONE_RANK
           : verdict == TL_PHASE_OPEN     ? TL_FOUND_NO_VERDICT
                                          : TL_FOUND_NONE;
}

double tl_phase_loss(const tl_answers *a)
{
    const tl_phase_verdict *row = a->phases;
    if (!is_named(a))
        return row->verdict == TL_PHASE_NONE && row->confidence != TL_CONFIDENCE_LOW ? 0 : NAN;
    return row->time_ns > 0 ? (double)row->cost_ns / (double)row->time_ns : NAN;
}

/* ------------------------------------------------------------------------------------------------------- sentences */

/* Returns ns divided by the row's flagged steps, in words. */
static tl_phrase per_step_in_words(const tl_phase_verdict *row, int64_t ns)
{
    return tl_duration(row->steps_flagged > 0 ? ns / row->steps_flagged : ns);
}

static tl_phrase steps_in_words(const tl_answers *a)
{
    const tl_phase_verdict *row = tl_phase_told_of(a);
    return tl_pattern_in_words((tl_pattern)row->pattern, row->first_step, row->last_step, row->steps_flagged,
                               (size_t)row->steps, 0);
}

void tl_say_phase_cost(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = a->phases;
    tl_say(w, "about~%s of~%s (%s) of the time of recorded steps%s", tl_duration(row->cost_ns).text,
           tl_duration(row->time_ns).text, tl_part_in_words(row->cost_ns, row->time_ns).text,
           other_stragglers(a) > 0 ? ", for all that are named" : "");
}

void tl_say_phase_also(tl_wrap *w, const tl_phase_verdict *row)
{
    tl_say(w, "rank~%" PRId32 " %s, %s: %s", row->rank, tl_phase_answer_labels[row->verdict],
           tl_cell_in_words(row->phase, sizeof row->phase).text,
           tl_cell_in_words(row->reason, sizeof row->reason).text);
}

/* ----------------------------------------------------------------------------------------------------------- lines */

void tl_tell_phase_rank(tl_telling *t)
{
    enum { ALSO = 3 };
    const tl_answers *a = t->a;
    const tl_phase_verdict *row = a->phases;
    tl_wrap *w = tl_tell_found(t, is_named(a));
    if (!a->phases_alone && t->file == NULL)
        tl_say(w, "Phases~of~%" PRId64 "~step%s:", a->phases->steps, tl_plural(a->phases->steps));
    if (!is_named(a)) {
        tl_say(w, "%s",
               row->verdict == TL_PHASE_ONE_RANK ? "There is one rank, and none to compare it with."
               : row->verdict == TL_PHASE_OPEN   ? "Durations do not tell who holds the job up."
                                                 : "No rank holds the job up, as far as durations tell.");
    } else {
        const size_t others = other_stragglers(a);
        tl_say(w, "Rank~%" PRId32, row->rank);
        if (others > 0)
            tl_say(w, "and~%zu~other~rank%s", others, tl_plural((int64_t)others));
        tl_say(w, "%s the job up %s - in %s rank~%" PRId32 "~takes %s longer than its peers in each of them",
               others > 0 ? "hold" : "holds", steps_in_words(a).text,
               tl_cell_in_words(row->phase, sizeof row->phase).text, row->rank,
               per_step_in_words(row, row->excess_ns).text);
        tl_say_phase_cost(tl_tell(t, "cost", NULL), a);
    }
    for (size_t i = 1, n = 0; i < a->nphases && n < ALSO; i++)
        if (&a->phases[i] != tl_phase_told_of(a)) {
            tl_say_phase_also(tl_tell(t, "also", NULL), &a->phases[i]);
            n++;
        }
}

void tl_tell_phase_reason(tl_telling *t)
{
    const tl_phase_verdict *row = tl_phase_told_of(t->a);
    tl_wrap *w = tl_tell(t, "phase", "phase");
    if (row->phase[0] != '\0' && !is_named(t->a))
        tl_say(w, "rank~%" PRId32 ",", row->rank);
    if (row->phase[0] != '\0')
        tl_say(w, "%s (%s of what it takes longer):", tl_cell_in_words(row->phase, sizeof row->phase).text,
               tl_share_in_words(row->share).text);
    tl_say(w, "%s",
           row->reason[0] != '\0' ? tl_cell_in_words(row->reason, sizeof row->reason).text : "no phase stands out");
}

void tl_tell_phase_waiting(tl_telling *t)
{
    const tl_phase_verdict *row = t->a->phases;
    tl_wrap *w = tl_tell(t, "others", "phase");
    if (!is_named(t->a))
        tl_say(w, "not shown to wait for anybody");
    else
        tl_say(w, "%" PRId32 "~rank%s %s %s a step longer in %s", row->nwaiters, tl_plural(row->nwaiters),
               row->nwaiters == 1 ? "takes" : "take", per_step_in_words(row, row->waited_ns).text,
               tl_cell_in_words(row->waits_in, sizeof row->waits_in).text);
}

void tl_tell_phase_pattern(tl_telling *t)
{
    const tl_phase_verdict *row = t->a->phases;
    tl_wrap *w = tl_tell(t, "steps", "phase_step");
    if (is_named(t->a))
        tl_say(w, "%s: %s (%s)", tl_pattern_labels[row->pattern], steps_in_words(t->a).text,
               tl_chance_in_words(row->p_value).text);
    else
        tl_say(w, "neither always nor for a while, as far as durations tell");
}

void tl_tell_phase_trust(tl_telling *t)
{
    tl_say(tl_tell(t, "trust", NULL), "%s", tl_confidence_labels[t->a->phases->confidence]);
}
