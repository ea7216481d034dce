/* words.h - what the answers know, in words, for the terminal and for `tlmpi ask`: a phrase for a value, with its
 * unit. */
#ifndef TLMPI_REPORT_ANSWERS_WORDS_H
#define TLMPI_REPORT_ANSWERS_WORDS_H

#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/format/wrap.h"

typedef struct tl_phrase {
    char text[384];
} tl_phrase;

/* 1009537890 -> "1.01 s", 20439898 -> "20.4 ms", 131000 -> "131 us". */
tl_phrase tl_duration(int64_t ns);

/* "2.4 %"; the text of a cell of `size` bytes, which may fill the cell. */
tl_phrase tl_share_in_words(double share);
tl_phrase tl_cell_in_words(const char *cell, size_t size);

/* "rank 2", "ranks 16-23", "the link between ranks 8 and 9", "the links among ranks 8-15". */
tl_phrase tl_culprit_in_words(const tl_culprit *culprit);

/* " (host node1, device 2)", of several ranks " (all of host node1)", of a link " (hosts node1 and node2)"; empty where
 * nothing is known. */
tl_phrase tl_place_of_culprit(const tl_culprit *culprit);

/* "in every step (3 of 3, 4-6)", "in steps 2-3 (2 of 5)"; "over the whole trace" without steps. */
tl_phrase tl_pattern_in_words(const tl_culprit *culprit, const tl_trust *trust);

/* What the cause of a rank's delay means. */
const char *tl_cause_in_words(unsigned cause);

/* "untraced: ...; its trace would show (rank-2.json)": of the first culprit, which has no trace. */
tl_phrase tl_untraced_in_words(const tl_answers *answers);

/* "(76.6 % of what it takes longer than its peers)". */
tl_phrase tl_cause_share_in_words(const tl_culprit *culprit);

/* "its transfers of 16.8 MB (all_reduce) take 393 us, and 131 us between other ranks". */
tl_phrase tl_link_in_words(const tl_slow_link_row *link);

/* "without the delay the job takes 14.4 ms less (33.8 % of 42.7 ms), simulated", or why that is not known. */
tl_phrase tl_gain_in_words(const tl_answers *answers, const tl_culprit *culprit);

/* A doubt, "only 3 steps". */
tl_phrase tl_doubt_in_words(const tl_answers *answers, tl_doubt doubt);

#endif
