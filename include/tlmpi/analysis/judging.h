/* judging.h - who holds the job up?
 *
 * From what ranks were late for in collectives, and what their repair gains: a verdict on each rank, with its reason, on ranks
 * of a host together, and on those at a slow link; withheld where clocks do not carry it.  Fills straggler and blame_step.
 * May use all that gain may, and outlier, cause and gain.
 */
#ifndef TLMPI_ANALYSIS_JUDGING_H
#define TLMPI_ANALYSIS_JUDGING_H

#include "tlmpi/analysis/config.h"
#include "tlmpi/analysis/graph.h"
#include "tlmpi/analysis/program/programs.h"
#include "tlmpi/analysis/role.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"

/* Who has been judged.  Zero-initialise; tl_judged_free ends it. */
typedef struct tl_judged {
    int32_t *ranks; /* ascending */
    size_t nranks;
    tl_job_roles roles;
} tl_judged;

/* What a verdict by graph rests on. */
typedef struct tl_graph_basis {
    tl_rank_graphs *graphs; /* of all ranks, ascending; used up */
    tl_verdict_options options;
} tl_graph_basis;

/* rows: of all collectives of the job, in order; programs: of all ranks; graph: what
 * the verdict rests on instead, and programs are used up then, or NULL; where ranks mark no steps, both get numbers of
 * steps.  `tables` has the rows of all ranks, and gets blame, blame_step, straggler, link, whatif and critical_path.
 * TL_ENOMEM; TL_EINPUT. */
tl_status tl_job_judge(tl_late_row *rows, size_t nrows, tl_programs *programs, const tl_graph_basis *graph,
                       tl_tables *tables, tl_judged *out, tl_error *err);
void tl_judged_free(tl_judged *judged);

/* Then: blame_ns of each row in straggler with what others waited for the rank outside of steps, too, of which no verdict is made. */
void tl_verdict_sum_all(const tl_table *blame, tl_table *straggler);

/* Last: ranks whose trace shows no device work get a row in straggler each, of which nothing is known.  TL_ENOMEM. */
tl_status tl_verdict_add_workless(tl_tables *tables, tl_error *err);

#endif
