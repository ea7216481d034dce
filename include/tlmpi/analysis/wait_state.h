/* wait_state.h - how long each rank of a collective waited, and whom for.
 *
 *     all-reduce   rank 0   [wwwwwwwwwwww|===]        all wait for the last to come
 *                  rank 1        [wwwwwww|===]
 *                  rank 2                [===]
 *
 *     all-to-all   rank 0   [wwww|==]                 0 gets nothing of 2 and leaves before it comes: it waited for 1
 *                  rank 1        [wwwwwww|===]
 *                  rank 2                [===]
 *
 * Nobody waits past the end of its own kernel: where clocks disagree the last can seem to come later than that.
 */
#ifndef TLMPI_ANALYSIS_WAIT_STATE_H
#define TLMPI_ANALYSIS_WAIT_STATE_H

#include "tlmpi/analysis/collectives.h"

/* Whom the waits of a collective are for. */
tl_wait_state tl_wait_state_of(const tl_collective_view *c);

/* Until when a rank waits whose kernel ends at end_ns: for the last of n > 0 starts, ascending, that is not past it by more
 * than the clock error, but no longer than to its end; to its end where all are.  The starts are those of all ranks where each may leave before all have come, else the last
 * one alone. */
int64_t tl_wait_end(const int64_t *starts, size_t n, int64_t end_ns);

/* waits_ns[i]: what by_rank[i] waited, from its own start.  False when memory is out. */
bool tl_wait_each(const tl_collective_view *c, int64_t *waits_ns);

/* Whether its clocks hide who came last: arrivals [first, last] lie within twice what they leave open, unless it is a
 * matter of transfer even if every rank had waited that much longer than `wait_ns`, of `kernel_ns` in all. */
bool tl_clocks_hide(const tl_collective_view *c, int64_t first_ns, int64_t last_ns, int64_t wait_ns, int64_t kernel_ns);

#endif
