/* step.c - when were the training steps? */
#include "tlmpi/analysis/time.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const tl_step *x = a, *y = b;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* The row of that step; rows are sorted by it. */
static tl_step *row_of(tl_table *table, int32_t step)
{
    tl_step key = { .step = step };
    return table->n > 0 ? bsearch(&key, table->rows, table->n, sizeof key, by_number) : NULL;
}

static void step_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    (void)config;
    tl_table *table = tl_tables_get(out, &tl_step_schema);

    for (size_t i = 0; i < view->nsteps; i++) {
        const tl_step_window *s = &view->steps[i];
        tl_step *row = tl_table_add(table);
        *row = (tl_step){ .rank = view->rank, .step = s->number, .start_ns = s->start_ns, .end_ns = s->end_ns };
    }
    if (table->n > 0)
        qsort(table->rows, table->n, sizeof(tl_step), by_number);
    for (size_t i = 0; i < view->nkernels; i++) {
        tl_step *row = view->kernels[i].step >= 0 ? row_of(table, view->kernels[i].step) : NULL;
        if (row != NULL)
            row->intervals++;
    }
}

static const tl_schema *const tables[] = { &tl_step_schema, NULL };

const tl_analysis tl_step_analysis = {
    .name = "step",
    .question = "When were the training steps?",
    .tables = tables,
    .per_rank = step_per_rank,
};
