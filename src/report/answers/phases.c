/* phases.c - what phase_verdict says, in sentences. */
#include "tlmpi/report/answers/phases.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <math.h>

static bool is_named(const tl_answers *a)
{
    return a->phases->verdict == TL_PHASE_STRAGGLER;
}

size_t tl_phase_stragglers(const tl_answers *a)
{
    size_t n = 0;
    for (size_t i = 1; i < a->nphases; i++)
        n += a->phases[i].verdict == TL_PHASE_STRAGGLER;
    return n;
}

/* Other ranks that are named, too. */
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

/* ns in each of the row's steps. */
static tl_phrase a_step(const tl_phase_verdict *row, int64_t ns)
{
    return tl_duration(row->steps_flagged > 0 ? ns / row->steps_flagged : ns);
}

static tl_phrase steps_in_words(const tl_phase_verdict *row)
{
    const tl_phrase of = tl_phrase_of("%" PRId64 TL_KEPT "of" TL_KEPT "%" PRId64, row->steps_flagged, row->steps);
    if (row->pattern == TL_PATTERN_PERSISTENT)
        return tl_phrase_of("in" TL_KEPT "%s" TL_KEPT "steps", of.text);
    if (row->pattern == TL_PATTERN_DRIFTING)
        return tl_phrase_of("more and more from step %" PRId32 " on (%s steps)", row->first_step, of.text);
    if (row->first_step == row->last_step)
        return tl_phrase_of("in step %" PRId32 " only", row->first_step);
    return tl_phrase_of("in %s %" PRId32 "-%" PRId32 " only (%s)",
                        row->pattern == TL_PATTERN_SPORADIC ? "some of the steps" : "steps", row->first_step,
                        row->last_step, of.text);
}

void tl_say_phase_rank(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = a->phases;
    if (!is_named(a)) {
        tl_say(w, "%s",
               row->verdict == TL_PHASE_ONE_RANK ? "There is one rank: nobody to compare with."
               : row->verdict == TL_PHASE_OPEN   ? "Durations do not tell who holds the job up."
                                                 : "No rank holds the job up, as far as durations tell.");
        return;
    }
    const size_t others = other_stragglers(a);
    tl_say(w, "Rank~%" PRId32, row->rank);
    if (others > 0)
        tl_say(w, "and~%zu~other~rank%s", others, tl_plural((int64_t)others));
    tl_say(w, "%s the job up %s - in %s", others > 0 ? "hold" : "holds", steps_in_words(tl_phase_told_of(a)).text,
           tl_cell_in_words(row->phase, sizeof row->phase).text);
    if (others > 0)
        tl_say(w, "rank~%" PRId32 "~takes", row->rank);
    else
        tl_say(w, "it takes");
    tl_say(w, "%s longer than its peers in each of them", a_step(row, row->excess_ns).text);
}

const tl_phase_verdict *tl_phase_told_of(const tl_answers *a)
{
    for (size_t i = 1; i < a->nphases; i++)
        if (a->phases[i].verdict == a->phases->verdict && (is_named(a) || a->phases->verdict == TL_PHASE_OPEN))
            return &a->phases[i];
    return a->phases;
}

void tl_say_phase_reason(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = tl_phase_told_of(a);
    if (row->phase[0] != '\0') {
        if (!is_named(a))
            tl_say(w, "rank~%" PRId32 ",", row->rank);
        tl_say(w, "%s (%s of what it takes longer):", tl_cell_in_words(row->phase, sizeof row->phase).text,
               tl_share_in_words(row->share).text);
    }
    tl_say(w, "%s",
           row->reason[0] != '\0' ? tl_cell_in_words(row->reason, sizeof row->reason).text : "no phase stands out");
}

void tl_say_phase_waiting(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = a->phases;
    if (!is_named(a)) {
        tl_say(w, "Not shown for anybody.");
        return;
    }
    tl_say(w, "Yes:~%" PRId32 "~rank%s %s %s a step longer in %s", row->nwaiters, tl_plural(row->nwaiters),
           row->nwaiters == 1 ? "takes" : "take", a_step(row, row->waited_ns).text,
           tl_cell_in_words(row->waits_in, sizeof row->waits_in).text);
}

void tl_say_phase_pattern(tl_wrap *w, const tl_answers *a)
{
    if (is_named(a))
        tl_say(w, "%s: %s (p~=~%.2g)", tl_pattern_labels[a->phases->pattern], steps_in_words(tl_phase_told_of(a)).text,
               a->phases->p_value);
    else
        tl_say(w, "Neither, as far as durations tell.");
}

void tl_say_phase_cost(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = a->phases;
    tl_say(w, "about~%s of~%s (%s) of the time of recorded steps%s", tl_duration(row->cost_ns).text,
           tl_duration(row->time_ns).text, tl_part_in_words(row->cost_ns, row->time_ns).text,
           tl_phase_stragglers(a) > 1 ? ", for all that are named" : "");
}

void tl_say_phase_also(tl_wrap *w, const tl_phase_verdict *row)
{
    tl_say(w, "rank~%" PRId32 " %s, %s: %s", row->rank, tl_phase_answer_labels[row->verdict],
           tl_cell_in_words(row->phase, sizeof row->phase).text,
           tl_cell_in_words(row->reason, sizeof row->reason).text);
}

tl_finding tl_phase_finding(const tl_answers *a)
{
    switch ((tl_phase_answer)a->phases->verdict) {
    case TL_PHASE_STRAGGLER:
        return TL_FOUND_STRAGGLER;
    case TL_PHASE_ONE_RANK:
        return TL_FOUND_ONE_RANK;
    case TL_PHASE_OPEN:
        return TL_FOUND_NO_VERDICT;
    case TL_PHASE_NOBODY:
    case TL_PHASE_WAITING:
    case TL_PHASE_LONGER:
    case TL_PHASE_CHEAP:
        break;
    }
    return TL_FOUND_NOBODY;
}

double tl_phase_loss(const tl_answers *a)
{
    const tl_phase_verdict *row = a->phases;
    if (!is_named(a))
        return row->verdict == TL_PHASE_NOBODY && row->confidence != TL_CONFIDENCE_LOW ? 0 : NAN;
    return row->time_ns > 0 ? (double)row->cost_ns / (double)row->time_ns : NAN;
}
