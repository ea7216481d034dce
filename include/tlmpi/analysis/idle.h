/* idle.h - why was a device idle?
 *
 * From the view of one rank: its gaps, each with how the device ran dry before it and what the host did meanwhile, and
 * their sums; over ranks, the classes of gaps of the job.  Fills gap, gap_peer, idle, idle_summary and
 * idle_annotation, and with --series the short gaps of series.  May use time.
 */
#ifndef TLMPI_ANALYSIS_IDLE_H
#define TLMPI_ANALYSIS_IDLE_H

#include "tlmpi/analysis/analysis.h"

extern const tl_analysis tl_idle_analysis;

/* The rules of the classification, in words; a rule that differs from the one of TraceLens (compat/tracelens) says
 * how. */
typedef struct tl_idle_rule {
    const char *word, *doc;
} tl_idle_rule;

extern const tl_idle_rule tl_idle_rules[]; /* ended by word NULL */

#endif
