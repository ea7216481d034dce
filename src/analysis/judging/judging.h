/* judging.h - from charges to a verdict on each rank.
 *
 * A rank's charge in a step as wall time: the ranks q that waited for it waited w(q); what one of them lost, each
 * weighted by its own wait, is
 *
 *     sum of w(q)^2 / sum of w(q)
 *
 * so that one large wait in a small group counts as what it cost there, and a thousand ranks that wait for the same
 * delay do not make it longer.
 *
 * In a pipeline much of all waiting is the schedule's, and falls on whoever the schedule makes come last; there it is
 * what the step would have gained without the rank's lateness that is tested.
 */
#ifndef ANALYSIS_JUDGING_JUDGING_H
#define ANALYSIS_JUDGING_JUDGING_H

#include "tlmpi/analysis/gain.h"
#include "tlmpi/analysis/step.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"

typedef struct tl_verdict_input {
    const tl_table *blame;      /* in order of its keys */
    const int32_t *ranks;       /* ascending */
    const int32_t *roles;       /* of each rank: those of one role are compared */
    const int64_t *late_counts; /* of each rank */
    size_t nranks;
    const tl_job_step *steps; /* ascending */
    size_t nsteps;
    const double *gain_ns; /* [nranks * nsteps] what the step would have gained without the rank's lateness; NULL: not
                            * known, then the charges as wall time stand for it */
    const int64_t
        *late_ns; /* [nranks * nsteps] what the rank had more to do in the step than its peers; NULL: not known */
    const double
        *sure_ns;     /* [nranks] of that of the first step, what does not come from how recordings begin; or NULL */
    bool waits_known; /* a replay knows what others waited for: ranks without a trace pass nothing on unseen */
    bool by_gain;     /* test that in place of the charges: a pipeline */
    bool begun;       /* all recordings had begun long before the first step (outlier.h) */
    bool in_turn;     /* recordings end in turn within the last step (outlier.h) */
} tl_verdict_input;

/* Appends a row for each rank to the tables blame_step and straggler; cause is the largest part, the verdict is open
 * (ok), place is empty, gain_ns 0.  TL_ENOMEM. */
tl_status tl_verdict_make(const tl_verdict_input *input, tl_table *blame_step, tl_table *straggler, tl_error *err);

/* Whether a gain is enough for a verdict, of the steps [first, last] that what costs it lies in. */
bool tl_gain_matters(const tl_verdict_input *input, int32_t first_step, int32_t last_step, int64_t gain_ns);

/* Then: verdict and reason, from what stands in the rows of both tables, which are those of tl_verdict_make.
 * TL_ENOMEM. */
tl_status tl_verdict_judge(const tl_verdict_input *input, const tl_verdict_gains *gains, const tl_table *blame_step,
                           tl_table *straggler, tl_error *err);

#endif
