/* attribute.c - delay costs and verdicts on proc 0, from the rows that all procs have. */
#include "tlmpi/job/attribute.h"
#include "causes.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/analysis/verdict.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

tl_status tl_attribute(const tl_attribution *own, tl_tables *tables, tl_error *err)
{
    tl_rank_graphs all_graphs = { 0 };
    tl_judged judged = { 0 };
    void *all = NULL;
    size_t nall = 0;

    tl_status st = tl_collect_rows(own->rows->v, own->rows->n, sizeof *own->rows->v, &all, &nall, NULL, err);
    free(own->rows->v);
    *own->rows = (tl_late_rows){ 0 };
    if (st == TL_OK)
        st = tl_graphs_collect(own->graphs, &all_graphs, err);
    if (st == TL_OK && tl_par_proc() == 0)
        st = tl_job_judge(all, nall, &(tl_job_basis){ &all_graphs, own->judge }, tables, &judged, err);
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_causes_find(own->details, &(tl_cause_input){ judged.ranks, judged.roles, judged.nranks }, tables, err);
    if (st == TL_OK && tl_par_proc() == 0)
        st = tl_verdict_finish(tables, err);
    st = tl_par_agree(st, err);
    tl_rank_graphs_free(&all_graphs);
    tl_judged_free(&judged);
    free(all);
    return st;
}
