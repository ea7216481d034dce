/* say.h - the sentences that the terminal's verdict and `tlmpi ask` share: words.h put together, in lines of 80
 * columns. */
#ifndef TLMPI_REPORT_ANSWERS_SAY_H
#define TLMPI_REPORT_ANSWERS_SAY_H

#include "tlmpi/report/answers/words.h"

/* The words of a phrase; a number stays with its unit. */
void tl_say_phrase(tl_wrap *wrap, tl_phrase phrase);

/* "Rank 2 (host a, device 2) holds the job up in every step (3 of 3, 4-6): it costs 1.01 s of a step of 1.06 s." */
void tl_say_culprit(tl_wrap *wrap, const tl_answers *answers, const tl_culprit *culprit);

/* In quotes; there must be one. */
void tl_say_place(tl_wrap *wrap, const tl_culprit *culprit);

/* A line for one that is not the worst: "rank 6, in every step (...), host_late, gain 7.1 ms (1.1 %)". */
void tl_say_next_culprit(tl_wrap *wrap, const tl_answers *answers, const tl_culprit *culprit);

/* "No rank holds the job up.  Others waited most for rank 3: 0.4 % of the time; ...", or why there is no answer. */
void tl_say_no_culprit(tl_wrap *wrap, const tl_answers *answers);

/* "3 ranks wait, 9.11 s together: 0-1, 3". */
void tl_say_waiters(tl_wrap *wrap, const tl_answers *answers);

/* "it holds 71.0 % of the critical path (0.3 % of it unexplained)"; that must be known. */
void tl_say_path(tl_wrap *wrap, const tl_answers *answers, const tl_culprit *culprit);

/* "Largest loss: rank 2, idle 95.3 % of its wall time (...) - over all ranks it is exposed comm, 68.2 %"; after the
 * words that the caller has said. */
void tl_say_loss(tl_wrap *wrap, const tl_answers *answers);

/* Whether there is anything to be said of imbalance; "that rank 6 and those that do the same compute 1.6
 * times as long as the others costs 13.0 %; ..." */
bool tl_has_imbalance(const tl_answers *answers);
void tl_say_imbalance(tl_wrap *wrap, const tl_answers *answers);

/* "medium - only 3 steps; no kernel stands out": the confidence and the doubts. */
void tl_say_doubts(tl_wrap *wrap, const tl_answers *answers, const tl_answer *answer);

/* The same, and what else the answer rests on: "12 of 13 collectives matched, 1 clock, simulation off by 0.1 %". */
void tl_say_confidence(tl_wrap *wrap, const tl_answers *answers, const tl_answer *answer);

#endif
