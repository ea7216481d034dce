/* parts.h - what the tests of steps and the verdicts that rest on them share. */
#ifndef ANALYSIS_JUDGING_PARTS_H
#define ANALYSIS_JUDGING_PARTS_H

#include "judging.h"
#include "tlmpi/model/blame_tables.h"

/* In so few steps no test of steps tells anything. */
enum { TL_TOO_FEW_STEPS = 2 };

/* What a rank's flagged steps took, others waited for it in them, and a repair would gain; what it is charged for them,
 * of that for communication that nobody matched, and what all are. */
typedef struct tl_explaining {
    double steps_ns, waited_ns, gain_ns, blame_ns, comm_ns, all_ns;
    bool waits_known; /* as in judging.h */
} tl_explaining;

/* Most of all waiting was for it, not just by chance, and a repair explains next to nothing of that: others without a
 * trace may pass its delay on.  Where all have one, waits that cost nothing are nobody's fault: what waits has time, as in
 * a job whose hosts set the pace.  Nor is what it spent in communication that nobody matched a delay of its own: there it
 * waited for others, as the first stage of a pipeline does whose sends and receives tell nothing. */
bool tl_is_unexplained(const tl_explaining *e, tl_pattern pattern, double p);

/* Of what the rank is charged in flagged[nsteps] steps, what it is for communication that nobody matched. */
double tl_charged_for_comm(const tl_verdict_input *input, size_t rank, const bool *flagged);

/* What a share is of the step itself, in percent: shares are of the step without the cost, but of half a step at least
 * (outlier/standing.c). */
double tl_percent_of_step(double share);

#endif
