/* reading.c - what a run reads: one trace after the other, as the writer hands them out; all traces again, if kernels
 * turn out to communicate that no rule names; and memory timelines. */
#include "stages.h"
#include "tlmpi/analysis/rank/measured.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/job/run.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/job/transport/team.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/trace/read/memory.h"
#include <stdlib.h>
#include <string.h>

/* Keeps the rows of a rank that has been read, but for its event tables, which go to the file. */
static void keep_rows(tl_job *j, tl_rank_result *result)
{
    for (size_t t = 0; t < j->tables.n; t++) {
        const tl_table *from = &result->tables.v[t];
        if (from->schema->scope != TL_SCOPE_EVENT)
            tl_table_append(&j->tables.v[t], from->rows, from->n);
    }
}

/* Collective: sets j->stopped_by where the reading of any proc was ended by a signal. */
static void note_stop(tl_job *j)
{
    const int mine = tl_stop_signal();
    tl_bytes all = { 0 };

    tl_par_gather(&mine, sizeof mine, &all);
    for (size_t i = 0; i + sizeof mine <= all.n && j->stopped_by == 0; i += sizeof mine)
        memcpy(&j->stopped_by, all.v + i, sizeof mine);
    free(all.v);
    tl_par_bcast(&j->stopped_by, sizeof j->stopped_by);
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
                                  .label = j->whatif != NULL || j->options->config.path,
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
    note_stop(j);
    return tl_par_agree(st, err);
}

/* ------------------------------------------------------------------------------------------------------- once more
 *
 *     every proc   sightings of kernels that may communicate  ->  proc 0: which do (behave.h)  ->  every proc
 *
 *                  iterations of a server  ->  proc 0: are they the same on all ranks
 *
 * All tables of a rank depend on which kernels communicate and on its steps: the rows of the first reading are dropped,
 * and all ranks are read again.
 */

/* Returns whether every input can be read twice: a pipe cannot. */
static bool can_reread(const tl_inventory *inventory)
{
    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (inventory->inputs.v[i].pipe)
            return false;
    return true;
}

/* Proc 0 decides which names communicate; every proc adds them to its rules. */
static void decide_behaviours(tl_job *j)
{
    tl_behaviour *all = NULL;
    size_t n = 0;

    tl_collect_rows(j->behaviours.v, j->behaviours.n, sizeof *all, (void **)&all, &n);
    if (tl_is_first() && n > 0)
        tl_behaviours_decide(all, n, &j->rules.behave, &j->rules.nbehave);
    free(all);
    free(j->behaviours.v);
    j->behaviours = (tl_behaviours){ 0 };
    tl_par_share((void **)&j->rules.behave, &j->rules.nbehave, sizeof *j->rules.behave);
}

/* Sets steps_differ if some rank has iterations of a server, and the ranks with device work have not the same number of
 * them, in the same order of kinds. */
static void compare_iterations(tl_job *j)
{
    const tl_table *ranks = tl_tables_get(&j->tables, &tl_rank_schema),
                   *steps = tl_tables_get(&j->tables, &tl_step_schema);
    TL_VEC(uint64_t) mine = { 0 }; /* by rank: hash of its iterations; 0: none */
    uint64_t *all = NULL;
    size_t n = 0, at = 0;
    bool any = false, differ = false;

    TL_ROWS (const tl_rank, rank, ranks) { /* the rows of both tables are in the order of reading */
        uint64_t own = 0;
        for (; at < steps->n && ((const tl_step *)tl_table_row(steps, at))->rank == rank->rank; at++) {
            const uint8_t serving = ((const tl_step *)tl_table_row(steps, at))->serving;
            if (serving != TL_NOT_SERVING)
                own = tl_hash_mix(own, serving);
        }
        if (rank->devices > 0)
            tl_vec_push(&mine, own);
    }
    tl_collect_rows(mine.v, mine.n, sizeof *all, (void **)&all, &n);
    for (size_t i = 0; tl_is_first() && i < n; i++) {
        any = any || all[i] != 0;
        differ = differ || all[i] != all[0];
    }
    j->rules.steps_differ = any && differ;
    tl_par_bcast(&j->rules.steps_differ, sizeof j->rules.steps_differ);
    free(mine.v);
    free(all);
}

/* Drops all results of reading, and opens the output anew. */
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
    bool again = tl_is_first() && can_reread(&j->plan.inventory);
    tl_status st = TL_OK;

    tl_par_bcast(&again, sizeof again);
    if (!again)
        return st;
    decide_behaviours(j);
    compare_iterations(j);
    if (j->rules.nbehave == 0 && !j->rules.steps_differ)
        return st;
    if (j->stopped_by != 0)
        return tl_fail(err, TL_EINPUT,
                       "a signal (%d) ended the run before the traces could be read once more, for kernels "
                       "that communicate by an unknown name",
                       j->stopped_by);
    st = begin_again(j, err);
    return st == TL_OK ? tl_job_read(j, true, err) : st;
}

/* ------------------------------------------------------------------------------------------------ memory timelines
 *
 * The profiler's raw memory timelines, beside traces or alone: proc p of n reads files p, p + n, p + 2n, ...
 */

_Static_assert((int)TL_MEMORY_KINDS == (int)TL_MEMORY_SUMS, "a row for each category of the file, and the total");

typedef struct memory_reading {
    tl_side_file *file;
    tl_memory_category rows[TL_MEMORY_KINDS];
    tl_table *timeline;
    int64_t n;
} memory_reading;

static void add_state(void *arg, const tl_memory_state *s)
{
    memory_reading *r = arg;
    const int64_t *b = s->bytes;
    const tl_memory_timeline row = { r->file->file, r->n++, s->time_ns, b[0], b[1], b[2],
                                     b[3],          b[4],   b[5],       b[6], b[7], b[8] };

    tl_memory_peaks_add(r->rows, s->time_ns, b);
    tl_table_append(r->timeline, &row, 1);
}

/* Returns the time to show: memory allocated before the recording has a time below 0 and is shown at the earliest
 * time. */
static int64_t shown_at(int64_t time_ns, int64_t earliest_ns)
{
    return time_ns >= 0 ? time_ns : earliest_ns != INT64_MAX ? earliest_ns : TL_TIME_UNKNOWN;
}

static void read_memory(const char *path, int32_t number, tl_tables *tables)
{
    tl_table *timeline = tl_tables_get(tables, &tl_memory_timeline_schema);
    int64_t named = tl_rank_of_name(path);
    tl_side_file file = { .kind = TL_SIDE_MEMORY,
                          .file = number,
                          .rank = named >= 0 && named <= INT32_MAX ? (int32_t)named : -1,
                          .replaced_by = -1 };
    memory_reading r = { .file = &file, .timeline = timeline };
    tl_memory_report report;
    tl_error why = { 0 };
    size_t first = timeline->n;

    tl_memory_peaks_begin(r.rows, number, file.rank);
    tl_status st = tl_memory_timeline_read(path, add_state, &r, &report, &why);
    file.entries = report.entries;
    file.status = st == TL_OK           ? (report.entries > 0 ? TL_SIDE_OK : TL_SIDE_EMPTY)
                  : report.entries == 0 ? TL_SIDE_UNREADABLE
                  : report.cut          ? TL_SIDE_CUT
                                        : TL_SIDE_DAMAGED;
    const char *words = file.status == TL_SIDE_EMPTY ? "no entry" : tl_error_reason(&why, path);
    tl_cell_text(file.error, sizeof file.error, words, strlen(words));
    tl_cell_path(file.path, sizeof file.path, path);

    for (size_t i = first; i < timeline->n; i++) {
        tl_memory_timeline *row = tl_table_row(timeline, i);
        row->time_ns = shown_at(row->time_ns, report.earliest_ns);
    }
    for (int i = 0; i < TL_MEMORY_KINDS; i++)
        r.rows[i].peak_ns = shown_at(r.rows[i].peak_ns, report.earliest_ns);
    tl_table_append(tl_tables_get(tables, &tl_side_file_schema), &file, 1);
    if (report.entries != 0)
        tl_table_append(tl_tables_get(tables, &tl_memory_category_schema), r.rows, TL_MEMORY_KINDS);
}

/* Returns whether the memory timeline belongs to a selected rank, by its file name, or to no known rank. */
static bool is_of_selected_rank(const tl_options *options, const char *path)
{
    int64_t named = tl_rank_of_name(path);
    return named < 0 || tl_ranges_has(&options->ranks, named);
}

void tl_job_read_memory(tl_job *j)
{
    for (size_t i = 0; i < j->plan.nsides; i++) {
        const tl_plan_side *side = &j->plan.sides[i];
        if (tl_plan_is_mine(side, TL_INPUT_MEMORY) && is_of_selected_rank(j->options, side->path))
            read_memory(side->path, side->number, &j->tables);
    }
}
