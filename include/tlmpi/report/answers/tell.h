/* tell.h - the answers in labelled lines, of which the screen after a run has a few and `tlmpi ask` all:
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
    tl_wrap w; /* of the open line, which has a character if w.column is not 0 */
    const tl_answers *a;
    const char *file; /* the result, as a word for a shell; NULL: the screen, whose labels stand in a column */
    bool coloured;    /* the screen may be shown colours */
    /* private, of the open line: */
    const char *label, *table;
    bool bold;
} tl_telling;

/* Ends the open line, and begins one with a label, or "" without; what is said then is its sentence.  `table`, if not
 * NULL, is the evidence: lines of ask end with the command that prints it.  On the screen a label is not repeated. */
tl_wrap *tl_tell(tl_telling *t, const char *label, const char *table);
void tl_tell_end(tl_telling *t);

/* Begins the line of what was found, which is bold on the screen where a culprit is named. */
tl_wrap *tl_tell_found(tl_telling *t, bool named);

/* Who holds the job up, when, and what it costs a step; or why no culprit is named. */
void tl_tell_verdict(tl_telling *t);

/* Of the first culprit its cause, up to `most` places where it spends more than its peers, and the gain without it. */
void tl_tell_cause(tl_telling *t, size_t most);
void tl_tell_gain(tl_telling *t);

/* Up to `most` other culprits, and how many more there are. */
void tl_tell_also(tl_telling *t, size_t most);

/* The confidence of an answer, its first `most` (at least 1) doubts, and the number of the others. */
void tl_tell_trust(tl_telling *t, const tl_answer *answer, int most);

/* What to do next, if anything is known to help. */
void tl_tell_next(tl_telling *t);

/* All that the screen has of the answers by traces. */
void tl_tell_screen(tl_telling *t, int doubts);

#endif
