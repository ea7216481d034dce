/* withhold.h - verdicts that the clocks do not carry.
 *
 * Where clocks hide who came last to most of the collectives that a rank takes part in, what is known of it is its own
 * time alone.  A straggler that costs more in a step than the clocks leave open is one all the same, whatever the
 * arrivals; one that costs less is not told from an error of the clocks, and neither is a rank that nothing was found
 * of where the clocks may hide what matters.  Slow links are told by transfers, and by less than the clocks leave open.
 */
#ifndef ANALYSIS_JUDGING_WITHHOLD_H
#define ANALYSIS_JUDGING_WITHHOLD_H

#include "judging.h"

/* What the clocks hide of a rank. */
typedef struct tl_hidden {
    int64_t collectives, hidden; /* matched ones with it; those of them whose last arrival clocks cannot tell */
    int64_t untied;              /* ... and those of them whose clocks nothing compares; not among `hidden` */
    double uncertainty_ns;       /* of the clocks in the hidden ones, in the mean */
} tl_hidden;

/* Last of all: turns verdicts that the clocks do not carry into inconclusive ones, and says why.  hidden: of each rank;
 * rows are those of tl_verdict_make, in its order; together_ns: what the job gains without all stragglers, below 0:
 * not known. */
void tl_verdict_withhold(const tl_verdict_input *in, const tl_hidden *hidden, int64_t together_ns,
                         const tl_table *blame_step, tl_table *straggler);

#endif
