/* verdict_parts.h - what the tests of steps and the verdicts that rest on them share. */
#ifndef TLMPI_ANALYSIS_VERDICT_PARTS_H
#define TLMPI_ANALYSIS_VERDICT_PARTS_H

#include "tlmpi/model/blame_tables.h"

/* In so few steps no test of steps tells anything. */
enum { TL_TOO_FEW_STEPS = 2 };

/* What a rank's flagged steps took, others waited for it in them, and a repair would gain; what it is charged for them,
 * and all are. */
typedef struct tl_explaining {
    double steps_ns, waited_ns, gain_ns, blame_ns, all_ns;
    bool all_traced; /* no rank is without a trace */
} tl_explaining;

/* Most of all waiting was for it, not just by chance, and a repair explains next to nothing of that: others without a
 * trace may pass its delay on.  Where all have one, waits that cost nothing are nobody's fault: what waits has time, as in
 * a job whose hosts set the pace. */
bool tl_is_unexplained(const tl_explaining *e, tl_pattern pattern, double p);

/* What a share is of the step itself, in percent: shares are of the step without the cost, but of half a step at least
 * (standing.c). */
double tl_percent_of_step(double share);

#endif
