/* phases.c - what phase_verdict says, in sentences. */
#include "tlmpi/report/answers/phases.h"
#include "tlmpi/report/answers/words.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <math.h>

static const tl_phase_verdict *job(const tl_answers *a)
{
    return a->phases;
}

static bool is_named(const tl_answers *a)
{
    return job(a)->verdict == TL_PHASE_STRAGGLER;
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
        bool counts = a->phases[i].verdict == TL_PHASE_STRAGGLER && a->phases[i].rank != job(a)->rank;
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

static void say_steps(tl_wrap *w, const tl_phase_verdict *row)
{
    if (row->pattern == TL_PATTERN_PERSISTENT)
        tl_wrap_printf(w, "in %" PRId64 " of %" PRId64 " steps", row->steps_flagged, row->steps);
    else if (row->pattern == TL_PATTERN_DRIFTING)
        tl_wrap_printf(w, "more and more from step %" PRId32 " on (%" PRId64 " of %" PRId64 " steps)", row->first_step,
                       row->steps_flagged, row->steps);
    else if (row->first_step == row->last_step)
        tl_wrap_printf(w, "in step %" PRId32 " only", row->first_step);
    else
        tl_wrap_printf(w, "in %s %" PRId32 "-%" PRId32 " only (%" PRId64 " of %" PRId64 ")",
                       row->pattern == TL_PATTERN_SPORADIC ? "some of the steps" : "steps", row->first_step,
                       row->last_step, row->steps_flagged, row->steps);
}

void tl_say_phase_rank(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = job(a);
    if (!is_named(a)) {
        tl_wrap_words(w, row->verdict == TL_PHASE_ONE_RANK ? "There is one rank: nobody to compare with."
                         : row->verdict == TL_PHASE_OPEN   ? "Durations do not tell who holds the job up."
                                                           : "No rank holds the job up, as far as durations tell.");
        return;
    }
    const size_t others = other_stragglers(a);
    tl_wrap_printf(w, "Rank %" PRId32, row->rank);
    if (others > 0)
        tl_wrap_printf(w, "and %zu other rank%s", others, tl_plural((int64_t)others));
    tl_wrap_words(w, others > 0 ? "hold the job up" : "holds the job up");
    say_steps(w, tl_phase_told_of(a));
    tl_wrap_printf(w, "- in");
    tl_wrap_printf(w, "%s", tl_cell_in_words(row->phase, sizeof row->phase).text);
    if (others > 0)
        tl_wrap_printf(w, "rank %" PRId32 " takes", row->rank);
    else
        tl_wrap_words(w, "it takes");
    tl_wrap_printf(w, "%s", a_step(row, row->excess_ns).text);
    tl_wrap_words(w, "longer than its peers in each of them");
}

const tl_phase_verdict *tl_phase_told_of(const tl_answers *a)
{
    for (size_t i = 1; i < a->nphases; i++)
        if (a->phases[i].verdict == job(a)->verdict && (is_named(a) || job(a)->verdict == TL_PHASE_OPEN))
            return &a->phases[i];
    return job(a);
}

void tl_say_phase_reason(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = tl_phase_told_of(a);
    if (row->phase[0] != '\0') {
        if (!is_named(a))
            tl_wrap_printf(w, "rank %" PRId32 ",", row->rank);
        tl_wrap_printf(w, "%s", tl_cell_in_words(row->phase, sizeof row->phase).text);
        tl_wrap_printf(w, "(%s", tl_share_in_words(row->share).text);
        tl_wrap_words(w, "of what it takes longer):");
    }
    tl_wrap_words(w, row->reason[0] != '\0' ? tl_cell_in_words(row->reason, sizeof row->reason).text
                                            : "no phase stands out");
}

void tl_say_phase_waiting(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = job(a);
    if (!is_named(a)) {
        tl_wrap_words(w, "Not shown for anybody.");
        return;
    }
    tl_wrap_printf(w, "Yes: %" PRId32 " rank%s", row->nwaiters, tl_plural(row->nwaiters));
    tl_wrap_words(w, row->nwaiters == 1 ? "takes" : "take");
    tl_wrap_printf(w, "%s", a_step(row, row->waited_ns).text);
    tl_wrap_words(w, "a step longer in");
    tl_wrap_words(w, tl_cell_in_words(row->waits_in, sizeof row->waits_in).text);
}

void tl_say_phase_pattern(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = job(a);
    if (!is_named(a)) {
        tl_wrap_words(w, "Neither, as far as durations tell.");
        return;
    }
    tl_wrap_printf(w, "%s:", tl_pattern_labels[row->pattern]);
    say_steps(w, tl_phase_told_of(a));
    tl_wrap_printf(w, "(p = %.2g)", row->p_value);
}

void tl_say_phase_cost(tl_wrap *w, const tl_answers *a)
{
    const tl_phase_verdict *row = job(a);
    tl_wrap_printf(w, "about %s", tl_duration(row->cost_ns).text);
    tl_wrap_printf(w, "of %s", tl_duration(row->time_ns).text);
    tl_wrap_printf(w, "(%s)",
                   tl_share_in_words(row->time_ns > 0 ? (double)row->cost_ns / (double)row->time_ns : 0).text);
    tl_wrap_words(w, tl_phase_stragglers(a) > 1 ? "of the time of recorded steps, for all that are named"
                                                : "of the time of recorded steps");
}

void tl_say_phase_also(tl_wrap *w, const tl_phase_verdict *row)
{
    tl_wrap_printf(w, "rank %" PRId32, row->rank);
    tl_wrap_printf(w, "%s,", tl_phase_answer_labels[row->verdict]);
    tl_wrap_printf(w, "%s:", tl_cell_in_words(row->phase, sizeof row->phase).text);
    tl_wrap_words(w, tl_cell_in_words(row->reason, sizeof row->reason).text);
}

tl_finding tl_phase_finding(const tl_answers *a)
{
    switch ((tl_phase_answer)job(a)->verdict) {
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
    const tl_phase_verdict *row = job(a);
    if (!is_named(a))
        return row->verdict == TL_PHASE_NOBODY && row->confidence != TL_CONFIDENCE_LOW ? 0 : NAN;
    return row->time_ns > 0 ? (double)row->cost_ns / (double)row->time_ns : NAN;
}
