/* say.h - the answers in words, shared by the terminal's summary, `tlmpi ask` and the page: phrases for values,
 * and sentences in lines of 80 columns. */
#ifndef TLMPI_REPORT_ANSWERS_SAY_H
#define TLMPI_REPORT_ANSWERS_SAY_H

#include "tlmpi/model/health_table.h"
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/format/words.h"

/* --------------------------------------------------------------------------------------------------------- phrases */

/* Returns "in all 3 steps (4-6)", "in steps 2-3 only (2 of 5)": `flagged` (0: not counted) of `nsteps` steps, from
 * first to last. */
tl_phrase tl_pattern_in_words(tl_pattern pattern, int32_t first, int32_t last, int64_t flagged, size_t nsteps);

/* Returns the meaning of a cause. */
tl_phrase tl_cause_in_words(const tl_answers *answers, unsigned cause);

/* "all_reduce of 16.8 MB takes 393 us, where other ranks take 131 us". */
tl_phrase tl_link_in_words(const tl_slow_link_row *link);

/* Returns "14.4 ms less of 42.7 ms (33.8 %) without its delay, simulated", or why the gain is unknown. */
tl_phrase tl_gain_in_words(const tl_answers *answers, const tl_culprit *culprit);

/* Returns the doubt in words: "there is a single step". */
tl_phrase tl_doubt_in_words(const tl_answers *answers, tl_doubt doubt);

/* "15 of 48 launches of rank 1 in steps 12-13 were not recorded, or not whole: ...", of all rows with the defect
 * together, without a full stop.  False where there are none. */
bool tl_health_in_words(const tl_table *health, tl_defect defect, tl_phrase *out);

/* Returns what to do next, by cause: "record rank 2 with Python stacks ..."; empty: nothing is known to help. */
tl_phrase tl_next_in_words(const tl_answers *answers);

/* ------------------------------------------------------------------------------------------------------- sentences */

/* Says which part of the traces is selected; nothing if all. */
void tl_say_selection(tl_wrap *w, const tl_answers *answers);

/* "Rank 2 (host a, device 2) holds the job up in all 3 steps (4-6): it costs 1.01 s (95.3 %) of each of these steps of
 * 1.06 s on average". */
void tl_say_culprit(tl_wrap *wrap, const tl_answers *answers, const tl_culprit *culprit);

/* For a culprit after the first: "rank 6 in all 5 steps (1-5) - host_late, gain 7.1 ms (1.1 %)". */
void tl_say_next_culprit(tl_wrap *wrap, const tl_answers *answers, const tl_culprit *culprit);

/* "host_late: its device waits for launches, because ... (76.6 % of the gain) in "forward"": of the first culprit. */
void tl_say_cause(tl_wrap *wrap, const tl_answers *answers);

/* Says the first `most` places where the first culprit spends more than its peers: "20.2 ms of a step in "aten::mm",
 * 9.60 ms on its peers; 2.1 ms in "relu", 1.0 ms on its peers".  Needs answers->nexcess > 0. */
void tl_say_excess(tl_wrap *wrap, const tl_answers *answers, size_t most);

/* Says the file of a rank whose number comes from the order of files. */
void tl_say_file(tl_wrap *w, const tl_rank *row);

/* "No rank that has a trace holds the job up", and `end`. */
void tl_say_no_rank_holds(tl_wrap *wrap, const tl_answers *answers, const char *end);

/* "No rank holds the job up.  Rank 3 works longest beyond its peers, 0.4 % of the time: ...", or why there is no
 * verdict. */
void tl_say_no_culprit(tl_wrap *wrap, const tl_answers *answers);

/* "3 ranks (0-1, 3) wait for it: 9.11 s of GPU time". */
void tl_say_waiters(tl_wrap *wrap, const tl_answers *answers);

/* "for several in turn: 28.0 ms of GPU time for rank 3 (35.0 % of all waiting), ... and 4 more": which ranks were
 * waited for, where the culprit, or the lack of one, does not tell. */
void tl_say_waited_for(tl_wrap *wrap, const tl_answers *answers);

/* "waiting or transfer is unknown: ranks that take part have no trace here": said of exposed communication, with the
 * reason for most of the unknown part. */
void tl_say_comm_doubt(tl_wrap *wrap, const tl_answers *answers);

/* "idle 4.2 %, exposed communication 92.2 % of its time - waiting 0.5 %, transfer 91.7 %", the unknown rest with its
 * reason, and what the rank that loses most loses. */
void tl_say_losses(tl_wrap *wrap, const tl_answers *answers);

/* "rank 2 is bound by computing for 71.2 % of the time - by waiting for other ranks for 12.0 %"; answers->bound is
 * known. */
void tl_say_bound(tl_wrap *wrap, const tl_answers *answers);

/* Returns the gain without the largest imbalance that is no rank's fault, in ns; 0: nothing is said.
 * tl_say_imbalance: "ranks that do the same as rank 6 compute 1.60 times as long as the others in the median:
 * balanced 4.37 s less (13.0 %)", the largest imbalances first, `most` at most. */
int64_t tl_largest_imbalance(const tl_answers *answers);
void tl_say_imbalance(tl_wrap *wrap, const tl_answers *answers, size_t most);

#endif
