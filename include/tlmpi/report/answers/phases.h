/* phases.h - the four questions about durations of phases, alone or beside traces: table phase_verdict in sentences. */
#ifndef TLMPI_REPORT_ANSWERS_PHASES_H
#define TLMPI_REPORT_ANSWERS_PHASES_H

#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/format/wrap.h"

/* Whether there are durations of phases; the functions below need them. */
static inline bool tl_has_phases(const tl_answers *answers)
{
    return answers->phases != NULL;
}

/* Returns how many rows name a straggler; these rows follow the first row. */
size_t tl_phase_stragglers(const tl_answers *answers);

/* "Rank 3 holds the job up in steps 10-40: it takes 20.1 ms longer in host_to_device in each of them", or that no
 * rank holds the job up. */
void tl_say_phase_rank(tl_wrap *wrap, const tl_answers *answers);

/* "host_to_device (100.0 % of what it takes longer): 20.1 ms a step longer here, ..."; without a straggler, what may
 * be hidden. */
void tl_say_phase_reason(tl_wrap *wrap, const tl_answers *answers);

/* "Yes: 7 ranks take 20.3 ms a step longer in training_step". */
void tl_say_phase_waiting(tl_wrap *wrap, const tl_answers *answers);

/* "bounded: in 31 of 90 steps, 10-40 (p = 1e-12)". */
void tl_say_phase_pattern(tl_wrap *wrap, const tl_answers *answers);

/* "0.62 s of 12.4 s (5.0 %) at most, without its delay". */
void tl_say_phase_cost(tl_wrap *wrap, const tl_answers *answers);

/* Returns the row that the reason is about: the first row with the job's answer, or the job's row if no other has
 * it. */
const tl_phase_verdict *tl_phase_told_of(const tl_answers *answers);

/* What else was found, a row: "rank 5 waiting, host_to_device: ...". */
void tl_say_phase_also(tl_wrap *wrap, const tl_phase_verdict *row);

/* The answer, as a tl_finding; and the share of the job's time that stragglers cost, NAN: not judged. */
tl_finding tl_phase_finding(const tl_answers *answers);
double tl_phase_loss(const tl_answers *answers);

#endif
