/* units.h - verdicts on ranks together: those of a host, and those that hide each other. */
#ifndef ANALYSIS_JUDGING_UNITS_H
#define ANALYSIS_JUDGING_UNITS_H

#include "judging.h"

/* On proc 0, after tl_verdict_judge, of the same ranks: rows of table straggler become stragglers where ranks hold the
 * job up together, and whatif has what the repair of all stragglers gains.  Only where gains are known.  TL_ENOMEM. */
tl_status tl_units_judge(const tl_verdict_input *job, const int64_t *own_ns, tl_gains *gains, tl_tables *tables,
                         tl_error *err);

#endif
