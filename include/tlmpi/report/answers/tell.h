/* tell.h - the answers in labelled lines: a few in the summary after a run (the screen), all in `tlmpi ask`:
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

#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/format/wrap.h"

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

/* Tells the first culprit's cause, up to `most` places where it spends more than its peers, and the gain without it. */
void tl_tell_cause(tl_telling *t, size_t most);
void tl_tell_gain(tl_telling *t);

/* Tells up to `most` other culprits, and the number of further culprits. */
void tl_tell_also(tl_telling *t, size_t most);

/* Tells the confidence of an answer, its first `most` (at least 1) doubts, and the number of further doubts. */
void tl_tell_trust(tl_telling *t, const tl_answer *answer, int most);

/* Tells what to do next, if anything is known to help. */
void tl_tell_next(tl_telling *t);

/* Tells all answers from traces that the screen shows. */
void tl_tell_screen(tl_telling *t, int doubts);

#endif
