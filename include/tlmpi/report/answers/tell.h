/* tell.h - the answers in words, shared by the terminal's summary, `tlmpi ask` and the page: phrases for values,
 * sentences in lines of 80 columns, and labelled lines, a few in the summary after a run (the screen), all in ask:
 *
 *     screen      gain    200 ms less of 800 ms (25.0 %) without its delay, simulated
 *     ask         Gain: 200 ms less of 800 ms (25.0 %) without its delay, simulated
 *
 *     tl_telling t = { .w.out = out, .a = answers };
 *     tl_say(tl_tell(&t, "gain", NULL), "%s", tl_gain_in_words(answers, c).text);
 *     tl_tell_end(&t);
 */
#ifndef TLMPI_REPORT_ANSWERS_TELL_H
#define TLMPI_REPORT_ANSWERS_TELL_H

#include "tlmpi/model/health_table.h"
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/format/words.h"

/* --------------------------------------------------------------------------------------------------------- phrases */

/* Returns "in all 3 steps (4-6)", "in steps 2-3 only (2 of 5)", "in all 2 whole steps (5-6)": `flagged` (0: not
 * counted) of `nsteps` less `left_out` steps, from first to last. */
tl_phrase tl_pattern_in_words(tl_pattern pattern, int32_t first, int32_t last, int64_t flagged, size_t nsteps,
                              size_t left_out);
tl_phrase tl_pattern_of_culprit(const tl_answers *answers, const tl_culprit *culprit);

/* Returns "14.4 ms less of 42.7 ms (33.8 %) without its delay, simulated", or why the gain is unknown. */
tl_phrase tl_gain_in_words(const tl_answers *answers, const tl_culprit *culprit);

/* Returns the doubt in words: "there is a single step". */
tl_phrase tl_doubt_in_words(const tl_answers *answers, tl_doubt doubt);

/* "15 of 48 launches of rank 1 in steps 12-13 were not recorded, or not whole: ...", of all rows with the defect
 * together, without a full stop.  False where there are none. */
bool tl_health_in_words(const tl_table *health, tl_defect defect, tl_phrase *out);

/* Returns what to do next, by cause: "record rank 2 with Python stacks ..."; empty: nothing is known to help.
 * *table: the one that shows more; NULL: none. */
tl_phrase tl_next_in_words(const tl_answers *answers, const char **table);

/* Returns the ranks of a cell, "0-1, 5", or the beginning of a longer list: "0, 2, 4, ...". */
tl_phrase tl_list_in_words(const char *cell, size_t size);

/* ------------------------------------------------------------------------------------------------------- sentences */

/* Says which part of the traces is selected; nothing if all. */
void tl_say_selection(tl_wrap *w, const tl_answers *answers);

/* "No rank that has a trace holds the job up", and `end`. */
void tl_say_no_rank_holds(tl_wrap *wrap, const tl_answers *answers, const char *end);

/* "No rank holds the job up.  Rank 3 works longest beyond its peers, 0.4 % of the time: ...", or why there is no
 * verdict. */
void tl_say_no_culprit(tl_wrap *wrap, const tl_answers *answers);

/* "waiting or transfer is unknown: ranks that take part have no trace here": said of exposed communication, with the
 * reason for most of the unknown part. */
void tl_say_comm_doubt(tl_wrap *wrap, const tl_answers *answers);

/* Returns the gain without the largest imbalance that is no rank's fault, in ns; 0: nothing is said.
 * tl_say_imbalance: "ranks that do the same as rank 6 compute 1.60 times as long as the others in the median:
 * balanced 4.37 s less (13.0 %)", the largest imbalances first, `most` at most. */
int64_t tl_largest_imbalance(const tl_answers *answers);
void tl_say_imbalance(tl_wrap *wrap, const tl_answers *answers, size_t most);

/* ----------------------------------------------------------------------------------------------------------- lines */

typedef struct tl_telling {
    tl_wrap w; /* the open line; it has text if w.column is not 0 */
    const tl_answers *a;
    const char *file; /* path of the result, quoted for a shell; NULL: the screen, whose labels stand in a column */
    bool coloured;    /* the screen may be shown colours */
    /* private, of the open line: */
    const char *label, *table;
    bool bold;
} tl_telling;

/* Ends the open line, and begins a line with a label ("": none), to which the caller says its sentence.  `table`: the
 * evidence, or NULL; in ask, the line ends with the command that prints the table.  The screen does not repeat
 * labels. */
tl_wrap *tl_tell(tl_telling *t, const char *label, const char *table);
void tl_tell_end(tl_telling *t);

/* Begins the line of the finding, bold on the screen if a culprit is named. */
tl_wrap *tl_tell_found(tl_telling *t, bool named);

/* Tells which rank holds the job up, when, and its cost per step; or why no culprit is named. */
void tl_tell_verdict(tl_telling *t);

/* Tells the file of the culprit, if its rank number comes from the order of files. */
void tl_tell_file(tl_telling *t);

/* Tells the first culprit's cause, up to `most` places where it spends more than its peers, and the gain without it. */
void tl_tell_cause(tl_telling *t, size_t most);
void tl_tell_gain(tl_telling *t);

/* Tells up to `most` other culprits, and the number of further culprits. */
void tl_tell_also(tl_telling *t, size_t most);

/* Tells the confidence of an answer, its first `most` (at least 1) doubts, and the number of further doubts. */
void tl_tell_trust(tl_telling *t, const tl_answer *answer, int most);

/* Tells what to do next, if anything is known to help. */
void tl_tell_next(tl_telling *t);

/* ---------------------------------------------------------------------------------------------- durations of phases */

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

/* Say what the stragglers cost; and what else was found, a row. */
void tl_say_phase_cost(tl_wrap *wrap, const tl_answers *answers);
void tl_say_phase_also(tl_wrap *wrap, const tl_phase_verdict *row);

/* Tell an answer to each of the four questions (the first with cost and other findings), and the confidence. */
void tl_tell_phase_rank(tl_telling *t);
void tl_tell_phase_reason(tl_telling *t);
void tl_tell_phase_waiting(tl_telling *t);
void tl_tell_phase_pattern(tl_telling *t);
void tl_tell_phase_trust(tl_telling *t);

#endif
