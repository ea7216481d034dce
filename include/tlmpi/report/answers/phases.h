/* phases.h - the four questions about durations of phases, alone or beside traces: table phase_verdict in sentences. */
#ifndef TLMPI_REPORT_ANSWERS_PHASES_H
#define TLMPI_REPORT_ANSWERS_PHASES_H

#include "tlmpi/report/answers/tell.h"

/* Returns whether there are durations of phases; the functions below need them. */
static inline bool tl_has_phases(const tl_answers *answers)
{
    return answers->phases != NULL;
}

/* Returns the row that the reason is about: the first row with the job's answer, or the job's row if no other has
 * it. */
const tl_phase_verdict *tl_phase_told_of(const tl_answers *answers);

/* Return the answer, as a tl_finding; and the share of the job's time that stragglers cost, NAN: not judged. */
tl_finding tl_phase_finding(const tl_answers *answers);
double tl_phase_loss(const tl_answers *answers);

/* Sentences: which rank holds the job up, and when; by which phase (without a straggler, what may be hidden); what that
 * costs; and what else was found, a row. */
void tl_say_phase_rank(tl_wrap *wrap, const tl_answers *answers);
void tl_say_phase_reason(tl_wrap *wrap, const tl_answers *answers);
void tl_say_phase_cost(tl_wrap *wrap, const tl_answers *answers);
void tl_say_phase_also(tl_wrap *wrap, const tl_phase_verdict *row);

/* Tell an answer to each of the four questions (the first with cost and other findings), and the confidence. */
void tl_tell_phase_rank(tl_telling *t);
void tl_tell_phase_reason(tl_telling *t);
void tl_tell_phase_waiting(tl_telling *t);
void tl_tell_phase_pattern(tl_telling *t);
void tl_tell_phase_trust(tl_telling *t);

#endif
