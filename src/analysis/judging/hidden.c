/* hidden.c - see hidden.h. */
#include "hidden.h"
#include "withhold.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/blame_tables.h"
#include <stdlib.h>

static void count(tl_hidden *of, const tl_late_row *row)
{
    bool untied = row->uncertainty_ns >= TL_CLOCK_UNTIED_NS;
    of->collectives++;
    if (!row->hidden)
        return;
    of->untied += untied;
    of->hidden += !untied;
    of->uncertainty_ns += untied ? 0 : (double)row->uncertainty_ns;
}

tl_status tl_job_withhold(const tl_verdict_input *job, const tl_late_row *rows, size_t nrows, tl_tables *tables,
                          tl_error *err)
{
    const tl_whatif_row *together =
        tl_whatif_row_of(tl_tables_get(tables, &tl_whatif_row_schema), TL_SCENARIO_SUSPECTS, -1);
    tl_hidden *hidden = tl_calloc(job->nranks + 1, sizeof *hidden);
    if (hidden == NULL)
        return tl_fail_memory(err, "the verdict");
    for (size_t i = 0; i < nrows; i++) {
        size_t r = tl_index_of(job->ranks, job->nranks, rows[i].rank);
        if (rows[i].fits && r < job->nranks)
            count(&hidden[r], &rows[i]);
    }
    for (size_t r = 0; r < job->nranks; r++)
        hidden[r].uncertainty_ns /= hidden[r].hidden > 0 ? (double)hidden[r].hidden : 1;
    tl_verdict_withhold(job, hidden, together != NULL ? together->gain_ns : -1,
                        tl_tables_get(tables, &tl_blame_step_schema), tl_tables_get(tables, &tl_straggler_schema));
    free(hidden);
    return TL_OK;
}
