/* attribute.h - which ranks hold the job up, from its matched collectives.
 *
 *     owners     a row a rank and collective: when it came, and in what it had more time than its peers
 *     proc 0     delay costs, from the last collective to the first; then a verdict on each rank
 *     all        what proc 0 asks about the suspects: the names that took most of their time, and of their peers'
 *
 * Proc 0 sees ranks times collectives, never their events.  May use transport, and of the analyses wait, graph, local,
 * cause and verdict.
 */
#ifndef TLMPI_JOB_ATTRIBUTE_H
#define TLMPI_JOB_ATTRIBUTE_H

#include "tlmpi/analysis/config.h"
#include "tlmpi/analysis/graph.h"
#include "tlmpi/analysis/local.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/model/table.h"

/* What this proc has of the job. */
typedef struct tl_attribution {
    tl_late_rows *rows;     /* of its collectives, in order; used up */
    tl_rank_graphs *graphs; /* of the ranks that it has read; used up */
    const tl_work_by_name *work_by_name;
    tl_verdict_options judge;
    tl_whatif_study *whatif; /* NULL: nothing else is asked */
} tl_attribution;

/* Collective.  On proc 0 `tables` has the rows of all ranks, and gets blame, blame_step and straggler.  The same status
 * and message on every proc. */
tl_status tl_attribute(const tl_attribution *own, tl_tables *tables, tl_error *err);

#endif
