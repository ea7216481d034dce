/* rank_result.c - reads one trace file and runs the analyses of one rank. */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/read/execution.h"
#include "tlmpi/job/read/rank_result.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/report/format/words.h"
#include "tlmpi/trace/view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void text_cell(char *cell, size_t size, const char *text)
{
    tl_cell_text(cell, size, text, strlen(text));
}

/* Fills the columns of table rank that the read report and the metadata give. */
static void describe_reading(const tl_trace *trace, const tl_plan_item *item, tl_rank *row)
{
    const tl_read_report *report = &trace->report;
    const tl_meta *meta = &trace->meta;

    bool told = item->alone && meta->rank >= 0 && meta->rank <= INT32_MAX;
    row->rank = (int32_t)(told ? meta->rank : item->rank);
    row->rank_from = (uint8_t)(told ? TL_RANK_META : item->rank_source);
    row->base_time_ns = meta->has_base ? meta->base_ns : 0;
    row->world_size = meta->world_size > 0 && meta->world_size <= INT32_MAX ? (int32_t)meta->world_size : -1;
    row->dropped = (int64_t)report->dropped;
    row->repaired = (int64_t)report->repaired;
    row->untimed = (int64_t)report->untimed;
    row->first_bad_byte = report->first_bad_byte;
    row->events = (int64_t)report->entries;
    row->kept = (int64_t)report->kept;
    row->file_bytes = (int64_t)item->bytes;
    row->text_bytes = (int64_t)report->text_bytes;
    row->first_ns = row->last_ns = TL_TIME_UNKNOWN;
    row->device = -1;
    text_cell(row->device_name, sizeof row->device_name, meta->device);
    text_cell(row->host, sizeof row->host, meta->host);
    char libraries[sizeof row->libraries + 1];
    tl_meta_libraries(meta, libraries, sizeof libraries);
    text_cell(row->libraries, sizeof row->libraries, libraries);
    if (row->host[0] == 0) {
        tl_text host = tl_host_of_name(item->path, item->pid);
        tl_cell_text(row->host, sizeof row->host, host.p, host.n);
    }
    tl_cell_path(row->file, sizeof row->file, item->path);
    text_cell(row->error, sizeof row->error, report->first_bad);
    if (report->first_bad[0] == 0 && !told && item->rank_source == TL_RANK_ORDER && meta->rank >= 0 &&
        meta->rank != item->rank) {
        char words[128]; /* only for a pipe, whose rank is unknown before it is read */
        snprintf(words, sizeof words,
                 "counts as rank %lld by its place among the paths; the trace calls itself rank %lld",
                 (long long)item->rank, (long long)meta->rank);
        text_cell(row->error, sizeof row->error, words);
    }
    bool misnumbered = !item->unreadable && item->why[0] != 0;
    if (misnumbered && row->error[0] == 0)
        text_cell(row->error, sizeof row->error, item->why);
    row->status = report->cut                                                  ? TL_RANK_CUT
                  : report->dropped > 0 || report->source_fault || misnumbered ? TL_RANK_DAMAGED
                  : !tl_has_gpu_work(&trace->events)                           ? TL_RANK_NO_GPU
                                                                               : TL_RANK_OK;
}

void tl_found_words(const tl_found *found, const tl_selection *selection, char *out, size_t n)
{
    char steps[80] = "no steps";
    size_t used = 0;

    *out = '\0';
    if (found->steps.n > 0) {
        size_t named = (size_t)snprintf(steps, sizeof steps, "steps ");
        tl_ranges_text(&found->steps, steps + named, sizeof steps - named);
    }
    if (selection->steps->n > 0)
        used = (size_t)snprintf(out, n, "%s%s", steps, selection->times->n > 0 ? "; " : "");
    if (selection->times->n > 0 && used < n)
        snprintf(out + used, n - used, "events from %.6g to %.6g ms",
                 (double)tl_ns_between(found->first_ns, selection->origin_ns) / 1e6,
                 (double)tl_ns_between(found->last_ns, selection->origin_ns) / 1e6);
}

/* Runs the analyses whose needs equal `needs`. */
static void run_analyses(unsigned needs, const tl_rank_view *view, const tl_rank_reading *how, tl_tables *out)
{
    for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++) {
        if ((*a)->per_rank == NULL || (*a)->needs != needs)
            continue;
        if (how->tick != NULL)
            how->tick(how->tick_arg);
        (*a)->per_rank(view, &how->options->config, out);
    }
}

/* The host's spans and calls that the graph needs after the host's columns are freed. */
typedef struct own_work {
    tl_host_spans spans;
    tl_host_calls *calls;
} own_work;

static bool loses_work(const tl_health *row, const tl_rank_view *view)
{
    return row->rank == view->rank && row->step >= 0 && row->defect == TL_DEFECT_LOST;
}

/* Sets nth to -1 for collectives in steps with lost events, whose order is unreliable: they are matched by their ends.
 * Does nothing if half of the steps or more have lost events: too few ends remain to compare the rank's clock. */
static void forget_order(tl_participants *set, size_t first, const tl_rank_view *view, tl_tables *tables)
{
    const tl_table *health = tl_tables_get(tables, &tl_health_schema);
    size_t nlost = 0;
    for (size_t i = 0; i < health->n; i++)
        nlost += loses_work(tl_table_row(health, i), view);
    for (size_t i = 0; 2 * nlost < view->nsteps && i < health->n; i++) {
        const tl_health *row = tl_table_row(health, i);
        for (size_t k = first; loses_work(row, view) && k < set->participants.n; k++) {
            tl_participant *p = &set->participants.v[k];
            p->nth = p->step == row->step && p->peer == TL_NO_PEER ? -1 : p->nth;
        }
    }
}

/* Collects the rank's participants, exposures, work between collectives and work by name. */
static void collect_own_work(const tl_rank_view *view, const tl_rank_reading *how, own_work *own, tl_tables *tables)
{
    tl_participants *set = how->participants;
    size_t first = set->participants.n;
    tl_activity activity = { 0 };
    tl_participants_collect(view, set);
    tl_participant *mine = set->participants.n > first ? set->participants.v + first : NULL;

    forget_order(set, first, view, tables);
    tl_host_calls_find(view, how->label, &own->calls);
    tl_exposures_add(view, how->exposures);
    tl_host_spans_find(&own->spans, view);
    tl_activity_find(&activity, view, &own->spans);
    tl_work_by_name_collect(view, &activity, how->work_by_name);
    tl_work_between_collectives(view, &activity, mine, set->participants.n - first);
    tl_activity_free(&activity);
}

static void add_graph(const tl_rank_reading *how, const tl_rank_view *view, const own_work *own)
{
    tl_rank_graphs_room(how->graphs);
    tl_rank_graph *graph = &how->graphs->of.v[how->graphs->of.n++];
    tl_rank_graph_make(view, own->calls, &own->spans, how->label, graph);
}

/* Writes into row->error what the trace has if nothing of it is selected. */
static void explain_empty_selection(const tl_found *found, const tl_rank_reading *how, tl_rank *row)
{
    char there[120], words[160];

    if (found->selected > 0 || found->events == 0 || row->error[0] != 0)
        return;
    tl_found_words(found, how->selection, there, sizeof there);
    snprintf(words, sizeof words, "nothing of it is selected: it has %s", there);
    text_cell(row->error, sizeof row->error, words);
}

/* Analyses that need the host's columns run first, so that the columns can be freed before the others run. */
static void analyse(const tl_plan_item *item, tl_trace *trace, const tl_records *records, const tl_rank_reading *how,
                    tl_rank *row, tl_rank_result *out)
{
    tl_linked linked;
    own_work own = { .calls = NULL };
    tl_found found = { 0 };

    tl_mem_expect(TL_MEM_PASSING);
    tl_link_selected(trace, how->rules, row->rank, how->selection, &linked, &found);
    if (how->selection != NULL) {
        explain_empty_selection(&found, how, row);
        tl_found_add(how->found, &found);
    }
    tl_found_free(&found);
    out->tables.names = &trace->events.names;
    if (how->behaviours != NULL)
        tl_behaviours_collect(&linked.view, how->behaviours);
    run_analyses(TL_NEEDS_HOST, &linked.view, how, &out->tables);
    collect_own_work(&linked.view, how, &own, &out->tables);
    tl_executions_link(how->plan, item, records, trace, &linked.view, &out->tables);
    tl_linked_free_host(&linked);
    add_graph(how, &linked.view, &own);
    tl_host_spans_free(&own.spans);
    tl_host_calls_free(own.calls);
    run_analyses(0, &linked.view, how, &out->tables);
    tl_rank_describe(&linked.view, row);
    out->tables.names = NULL;
    tl_linked_free(&linked);
}

/* Fills the step columns of table rank for a trace that is not analysed. */
static void describe_steps(const tl_trace *trace, const tl_rules *rules, tl_rank *row)
{
    tl_linked linked;
    tl_link_steps(trace, rules, &linked);

    tl_rank_describe_steps(&linked.view, row);
    tl_linked_free(&linked);
}

tl_status tl_rank_read_windows(const tl_plan_item *item, const tl_read_options *reading, tl_records *records,
                               tl_trace *trace, tl_error *why)
{
    tl_status worst = TL_EINPUT;
    *trace = (tl_trace){ .meta = TL_META_INIT, .report = { .first_bad_byte = -1 } };
    for (size_t w = 0; w < item->nwindows; w++) {
        const tl_plan_window *window = &item->windows[w];
        const size_t first = records->v.n;
        tl_read_options own = *reading;
        tl_records of_window = { .v = { 0 } };
        const tl_entry_hook hook = tl_executions_hook(&of_window);
        tl_trace next;
        own.hook = reading->hook != NULL ? &hook : NULL;
        tl_status st = tl_trace_read(window->path, &own, &next, why);
        TL_EACH (const tl_record, record, of_window.v) {
            tl_vec_push(&records->v, *record);
            records->v.v[records->v.n - 1].uid += (uint32_t)trace->report.entries;
        }
        free(of_window.v.v);
        if (st != TL_OK) {
            records->v.n = first;
            tl_trace_free(&next);
            next = (tl_trace){ .meta = TL_META_INIT, .report = { .source_fault = true, .first_bad_byte = -1 } };
            snprintf(next.report.first_bad, sizeof next.report.first_bad, "%.200s", tl_error_reason(why, window->path));
        }
        worst = st == TL_OK ? TL_OK : worst;
        tl_trace_add_window(trace, &next, &window->place);
    }
    return worst;
}

tl_read_options tl_rank_read_options(const tl_rank_reading *how)
{
    return (tl_read_options){ .keep = TL_LINK_KEEP,
                              .yajl_only = how->options->yajl_only,
                              .columns_alone = !how->analyse,
                              .tick = how->tick,
                              .tick_arg = how->tick_arg };
}

void tl_rank_read(const tl_plan_item *item, const tl_rank_reading *how, tl_rank_result *out)
{
    tl_records records = { .v = { 0 } };
    const tl_entry_hook hook = tl_executions_hook(&records);
    tl_read_options reading = tl_rank_read_options(how);
    tl_trace trace = { .meta = TL_META_INIT, .report = { .first_bad_byte = -1 } };
    tl_rank row = { 0 };
    size_t nschemas;
    const tl_schema *const *schemas = tl_all_schemas(&nschemas);
    tl_error why = { 0 };

    tl_mem_expect(TL_MEM_GROWING);
    *out = (tl_rank_result){ .first_ns = TL_TIME_UNKNOWN };
    tl_tables_init(&out->tables, schemas, nschemas);
    if (how->analyse && tl_executions_are_of(how->plan, item))
        reading.hook = &hook;
    tl_status st = item->unreadable     ? tl_fail(&why, TL_EINPUT, "%s", item->why)
                   : item->nwindows > 0 ? tl_rank_read_windows(item, &reading, &records, &trace, &why)
                                        : how->read(how->read_arg, item, &reading, &trace, &why);
    if (tl_stop_signal() != 0 && !item->unreadable)
        st = tl_fail(&why, TL_EINPUT, "not read: a signal (%d) ended the reading", tl_stop_signal());
    describe_reading(&trace, item, &row);
    if (st == TL_OK && how->analyse)
        analyse(item, &trace, &records, how, &row, out);
    else if (st == TL_OK)
        describe_steps(&trace, how->rules, &row);
    free(records.v.v);
    if (st != TL_OK) {
        row.status = TL_RANK_UNREADABLE;
        text_cell(row.error, sizeof row.error, tl_error_reason(&why, item->path)); /* column file has the path */
    }
    if (st != TL_OK || !how->analyse)
        tl_executions_list(how->plan, item, &out->tables);
    out->rank = row.rank;
    out->first_ns = tl_interval_first(tl_tables_get(&out->tables, &tl_interval_schema));
    out->names = trace.events.names; /* the result keeps only the names */
    trace.events.names = (tl_names){ 0 };
    tl_trace_free(&trace);
    tl_table_append(tl_tables_get(&out->tables, &tl_rank_schema), &row, 1);
}

void tl_rank_result_free(tl_rank_result *result)
{
    tl_tables_free(&result->tables);
    tl_names_free(&result->names);
}
