/* idle.h - why was a device idle?
 *
 * Input: the view of one rank.  Results: its gaps, each with how the device ran dry before it and what the host did in
 * it, and their sums; over ranks, the classes of gaps of the job.  Fills gap, gap_peer, idle, idle_summary and
 * idle_annotation, and with --series the short gaps of series.  May use time.
 */
#ifndef TLMPI_ANALYSIS_RANK_IDLE_H
#define TLMPI_ANALYSIS_RANK_IDLE_H

#include "tlmpi/analysis/analysis.h"

extern const tl_analysis tl_idle_analysis;

/* The rules of the classification, in words.  A rule that differs from that of TraceLens (compat/tracelens) says
 * how. */
typedef struct tl_idle_rule {
    const char *word, *doc;
} tl_idle_rule;

extern const tl_idle_rule tl_idle_rules[]; /* ends with word NULL */

#endif
