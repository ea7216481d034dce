/* attribute.c - delay costs and verdicts on proc 0, from the rows that all procs have. */
#include "tlmpi/job/attribute.h"
#include "causes.h"
#include "tlmpi/job/transport/ask.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/analysis/verdict.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Proc 0 judges, and asks the others.  rows are freed. */
static tl_status judge(const tl_attribution *own, tl_late_row *rows, size_t nrows, const tl_rank_graphs *heads,
                       tl_rank_server *server, tl_tables *tables, tl_judged *judged, tl_error *err)
{
    tl_rank_procs procs;
    tl_rank_procs_find(server, &procs);
    tl_status st = TL_OK;
    if (tl_par_proc() == 0) {
        const tl_job_basis basis = { heads, tl_procs_asker(&procs), own->judge, own->whatif };
        st = tl_job_judge(rows, nrows, &basis, tables, judged, err);
        rows = NULL;
        tl_ask_nothing();
    } else {
        tl_answer_questions(&procs);
    }
    free(rows);
    tl_rank_procs_free(&procs);
    return tl_par_agree(st, err);
}

tl_status tl_attribute(const tl_attribution *own, tl_tables *tables, tl_error *err)
{
    tl_rank_graphs heads = { 0 };
    tl_rank_server server = { 0 };
    tl_judged judged = { 0 };
    void *all = NULL;
    size_t nall = 0;

    tl_collect_rows(own->rows->v, own->rows->n, sizeof *own->rows->v, &all, &nall);
    free(own->rows->v);
    *own->rows = (tl_late_rows){ 0 };
    tl_graph_heads_collect(own->graphs, &heads);
    tl_rank_server_take(own->graphs, &server);
    tl_status st = judge(own, all, nall, &heads, &server, tables, &judged, err);
    tl_rank_graphs_free(&heads);
    tl_rank_server_free(&server);
    if (st == TL_OK)
        st = tl_causes_find(own->work_by_name,
                            &(tl_cause_input){ judged.ranks, judged.roles, judged.nranks, own->judge.least_cost },
                            tables, err);
    if (st == TL_OK && tl_par_proc() == 0)
        tl_verdict_finish(tables);
    st = tl_par_agree(st, err);
    tl_judged_free(&judged);
    return st;
}
