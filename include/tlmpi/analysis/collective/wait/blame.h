/* blame.h - which ranks made which ranks wait, and how long?
 *
 * Input: rows of arrivals in collectives (wait.h).  Every nanosecond of waiting is charged to the ranks that arrived
 * late, and passed on to ranks that these had waited for before.  Fills table blame.  May use wait.
 */
#ifndef TLMPI_ANALYSIS_COLLECTIVE_WAIT_BLAME_H
#define TLMPI_ANALYSIS_COLLECTIVE_WAIT_BLAME_H

#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"

/* ------------------------------------------------------------------------------------------------------ delay costs */

/* Delay costs: waiting in matched collectives, charged to the ranks that arrived late. */

typedef struct tl_delay_cost_input {
    const tl_late_row *rows; /* in the order of collectives */
    size_t nrows;
    const int32_t *ranks; /* ascending; the ranks of the rows are among them */
    size_t nranks;
} tl_delay_cost_input;

/* On proc 0.  Adds the rows of table blame; late_counts[nranks]: number of collectives in which each rank arrived
 * last. */
tl_status tl_delay_costs_find(const tl_delay_cost_input *in, int64_t *late_counts, tl_tables *tables, tl_error *err);

/* Adds to delay_cost_ns[nranks * nsteps] the waiting of other ranks, ns, that table blame charges to each rank in each
 * step.  ranks, steps: ascending. */
void tl_delay_costs_by_step(const tl_table *blame, const int32_t *ranks, size_t nranks, const int32_t *steps,
                            size_t nsteps, int64_t *delay_cost_ns);

#endif
