/* behave.c - the second look at a job whose kernels turn out to communicate though no rule names them.
 *
 *     every proc   sightings of kernels that may communicate  ->  proc 0: which do (analysis/behave.h)  ->  every proc
 *
 * Everything that a rank is asked depends on what communicates: so what was read is dropped, and read again.
 */
#include "stages.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/job/transport/rows.h"
#include <stdlib.h>

/* A pipe can be read once. */
static bool can_reread(const tl_inventory *inventory)
{
    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (inventory->inputs.v[i].pipe)
            return false;
    return true;
}

/* The names that communicate, to the rules of every proc. */
static void decide(tl_job *j)
{
    tl_behaviour *all = NULL;
    size_t n = 0;

    tl_collect_rows(j->behaviours.v, j->behaviours.n, sizeof *all, (void **)&all, &n);
    if (tl_is_first() && n > 0 && can_reread(&j->plan.inventory))
        tl_behaviours_decide(all, n, &j->rules.behave, &j->rules.nbehave);
    free(all);
    free(j->behaviours.v);
    j->behaviours = (tl_behaviours){ 0 };
    tl_par_share((void **)&j->rules.behave, &j->rules.nbehave, sizeof *j->rules.behave);
}

/* Drops all that came of reading; the output begins anew. */
static tl_status begin_again(tl_job *j, tl_error *err)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);

    tl_store_abandon(j->store);
    tl_writer_close(j->writer);
    j->store = NULL;
    j->writer = NULL;
    free(j->output);
    j->output = NULL;
    tl_participants_free(&j->participants);
    free(j->exposures.v);
    j->exposures = (tl_exposures){ 0 };
    tl_work_by_name_free(&j->work_by_name);
    tl_rank_graphs_free(&j->graphs);
    tl_found_free(&j->found);
    tl_tables_free(&j->tables);
    tl_tables_init(&j->tables, schemas, n);
    return tl_job_open_output(j, err);
}

tl_status tl_job_reread(tl_job *j, tl_error *err)
{
    decide(j);
    tl_status st = TL_OK;
    if (j->rules.nbehave == 0)
        return st;
    st = begin_again(j, err);
    return st == TL_OK ? tl_job_read(j, true, err) : st;
}
