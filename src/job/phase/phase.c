/* phase.c - the steps, one after the other. */
#include "internal.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

static void phasing_free(tl_phasing *p)
{
    tl_names_free(&p->names);
    free(p->cells.v);
    free(p->file_counts);
    free(p->holds);
    free(p->titles);
    free(p->name_rows);
    free(p->steps);
    free(p->ranks);
    free(p->alone);
    free(p->step_ns);
    free(p->common_steps);
    free(p->column_holds);
    free(p->has_alone);
    free(p->before_ns);
    free(p->series);
    free(p->series_steps);
    free(p->series_x);
    free(p->series_middle);
    free(p->norms);
    free(p->units.units.v);
    free(p->units.up);
}

/* The rows of phase_step have numbers of phases; in the file they have those of names. */
static void name_rows(const tl_phasing *p)
{
    tl_table *table = tl_tables_get(p->tables, &tl_phase_step_schema);
    for (size_t i = 0; i < table->n; i++) {
        tl_phase_step *row = tl_table_row(table, i);
        row->phase = p->name_rows[row->phase];
    }
}

tl_status tl_phase_run(const tl_plan *plan, const tl_options *options, bool analyse, tl_tables *tables, tl_error *err)
{
    tl_phasing p = { .options = options, .tables = tables };

    if (plan->phases_bytes == 0)
        return TL_OK;
    tl_status st = tl_par_agree(tl_phase_files_read(plan, &p, err), err);
    if (st == TL_OK)
        st = tl_phases_meet(&p, err);
    if (st == TL_OK)
        st = tl_phase_files_gather(&p, err);
    if (st == TL_OK && analyse && p.nranks > 0)
        st = tl_phases_spread(&p, err);
    if (st == TL_OK && analyse && p.nranks > 0)
        st = tl_phases_judge(&p, err);
    if (st == TL_OK && analyse && p.nranks > 0)
        st = tl_phases_answer(&p, err);
    if (st == TL_OK && analyse)
        name_rows(&p);
    phasing_free(&p);
    return st;
}
