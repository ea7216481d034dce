/* attribute.h - delay costs and verdicts: which ranks delay the job, from its matched collectives.
 *
 *     owners     a row for each rank and collective: the arrival, and the activities that took longer than at the peers
 *     proc 0     delay costs, from the last collective to the first; then a verdict on each rank
 *     all        what proc 0 asks about the suspects: the names with the most time, of each suspect and of its peers
 *
 * Proc 0 receives rows in proportion to ranks times collectives, never events.  May use transport, and of the analyses
 * wait, graph, local, cause and verdict.
 */
#ifndef TLMPI_JOB_ATTRIBUTE_H
#define TLMPI_JOB_ATTRIBUTE_H

#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/analysis/config.h"
#include "tlmpi/analysis/rank/work/local.h"
#include "tlmpi/analysis/verdict/graph.h"
#include "tlmpi/analysis/verdict/whatif.h"
#include "tlmpi/model/table.h"

/* The input that each proc contributes. */
typedef struct tl_attribution {
    tl_late_rows *rows;     /* of this proc's collectives, in order; freed by tl_attribute */
    tl_rank_graphs *graphs; /* of the ranks that this proc has read; freed by tl_attribute */
    const tl_work_by_name *work_by_name;
    tl_verdict_options judge;
    tl_whatif_study *whatif; /* NULL: no what-if study is wanted */
} tl_attribution;

/* Collective.  On proc 0 `tables` has the rows of all ranks and receives the tables blame, blame_step and straggler.
 * Returns the same status and message on every proc. */
tl_status tl_attribute(const tl_attribution *own, tl_tables *tables, tl_error *err);

#endif
