/* reading.c - one trace after the other, as the writer hands them out: read, analysed, its rows delivered. */
#include "stages.h"
#include "tlmpi/job/run.h"
#include "tlmpi/job/transport/team.h"

/* Keeps what is not an event table of a rank that has been read. */
static void keep_rows(tl_job *j, tl_rank_result *result)
{
    for (size_t t = 0; t < j->tables.n; t++) {
        const tl_table *from = &result->tables.v[t];
        if (from->schema->scope != TL_SCOPE_EVENT)
            tl_table_append(&j->tables.v[t], from->rows, from->n);
    }
}

tl_status tl_job_read(tl_job *j, bool analyse, tl_error *err)
{
    tl_endpoint endpoint;
    tl_status st = TL_OK;

    if (tl_is_first())
        j->writer = tl_writer_open(&j->plan, j->store, j->options->reproducible, !j->options->quiet);

    tl_endpoint_open(&endpoint, j->writer);
    const tl_rank_reading how = { .options = j->options,
                                  .rules = &j->rules,
                                  .plan = &j->plan,
                                  .selection = j->selected ? &j->selection : NULL,
                                  .found = &j->found,
                                  .analyse = analyse,
                                  .participants = &j->participants,
                                  .exposures = &j->exposures,
                                  .behaviours = j->rules.nbehave == 0 ? &j->behaviours : NULL,
                                  .work_by_name = &j->work_by_name,
                                  .graphs = &j->graphs,
                                  .label = j->whatif != NULL,
                                  .read = tl_team_read,
                                  .read_arg = &endpoint,
                                  .tick = tl_is_first() ? tl_endpoint_tick : NULL,
                                  .tick_arg = &endpoint };
    const tl_read_options reading = tl_rank_read_options(&how);
    for (tl_task task; (task = tl_work_queue_next(&endpoint)).item >= 0;) {
        const tl_plan_item *item = &j->plan.items[task.item];
        tl_rank_result result;
        if (task.slice > 0) {
            tl_team_help(&endpoint, item, &task, &reading);
            continue;
        }
        tl_rank_read(item, &how, &result);
        tl_work_queue_deliver(&endpoint, task.item, &result);
        keep_rows(j, &result);
        tl_rank_result_free(&result);
    }
    if (tl_is_first()) {
        tl_writer_serve_out(j->writer);
        j->tables.names = tl_writer_names(j->writer);
        st = tl_writer_status(j->writer, err);
    }
    tl_unexpected_free(&endpoint.unexpected);
    return tl_par_agree(st, err);
}
