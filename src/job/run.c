/* run.c - the flow of a run.
 *
 *     plan, selection -> for each rank of the queue { read -> analyse -> rows to the file }
 *          -> the same once more, where kernels turn out to communicate that no rule names
 *          -> gather -> match collectives -> reduce -> phases timed without a profiler -> write -> tell
 *
 * Every stage that can fail ends in an agreement on the status: all procs go on, or none does.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#define _XOPEN_SOURCE 700 /* realpath */
#include "tlmpi/job/run.h"
#include "stages.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/job/attribute.h"
#include "tlmpi/job/match.h"
#include "tlmpi/job/phase.h"
#include "tlmpi/job/read/execution.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- the end of a run */

/* The end of a run, on proc 0: reductions over all ranks, the result file, and the printed conclusions. */

/* Returns the time of a monotonic clock, s. */
static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void reduce(tl_job *j)
{
    const tl_verdict_options *judge = &j->options->judge;
    tl_table *parameters = tl_tables_get(&j->tables, &tl_parameter_schema);
    tl_parameters_list(parameters, judge->alpha, judge->least_cost);
    for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
        if ((*a)->reduce != NULL)
            (*a)->reduce(&j->tables);
}

static tl_status write_names(tl_store *store, const tl_names *names, tl_error *err)
{
    tl_status st = TL_OK;
    for (uint32_t i = 0; st == TL_OK && i < names->n; i++) {
        tl_text text = tl_names_text(names, i);
        st = tl_store_name(store, text.p, text.n, err);
    }
    return st;
}

/* Writes the paths that were read, absolute, one per line. */
static tl_status write_inputs(tl_store *store, const tl_options *options, tl_error *err)
{
    tl_bytes paths = { 0 };
    for (size_t i = 0; i < options->npaths; i++) {
        char *path = realpath(options->paths[i], NULL);
        tl_bytes_say(&paths, "%s%s", i > 0 ? "\n" : "", path != NULL ? path : options->paths[i]);
        free(path);
    }
    tl_bytes_put(&paths, "", 1);
    tl_status st = tl_store_attr_text(store, "inputs", paths.v, err);
    free(paths.v);
    return st;
}

/* Writes the attributes that --reproducible leaves out: time, host, command and input paths. */
static tl_status write_circumstances(tl_store *store, const tl_options *options, tl_error *err)
{
    char when[32] = "", host[256] = "", history[4096];
    time_t now = time(NULL);
    struct tm utc;
    const char *command = options->command_line != NULL ? options->command_line : "tlmpi";
    const char *job = getenv("SLURM_JOB_ID");

    if (gmtime_r(&now, &utc) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = 0;
    snprintf(history, sizeof history, "%s: %s", when, command);
    tl_status st = tl_store_attr_text(store, "history", history, err);
    if (st == TL_OK)
        st = tl_store_attr_text(store, "command_line", command, err);
    if (st == TL_OK)
        st = tl_store_attr_text(store, "hostname", host, err);
    if (st == TL_OK)
        st = write_inputs(store, options, err);
    if (st == TL_OK && job != NULL)
        st = tl_store_attr_text(store, "slurm_job_id", job, err);
    if (st == TL_OK && tl_git_commit[0] != '\0')
        st = tl_store_attr_text(store, "git_commit", tl_git_commit, err);
    return st;
}

/* Writes which run is analysed, "2 of 3", if the paths hold others that are not read together with it. */
static tl_status write_run(tl_store *store, const tl_inventory *inventory, tl_error *err)
{
    char text[32];
    bool others = false;
    for (int32_t r = 0; r < inventory->nruns && inventory->runs != NULL; r++)
        others |= r != inventory->run && !inventory->runs[r].joined && inventory->runs[r].ntraces > 0;
    snprintf(text, sizeof text, "%d of %d", (int)inventory->run + 1, (int)inventory->nruns);
    return others ? tl_store_attr_text(store, "run", text, err) : TL_OK;
}

/* The tables of ranks and of the job, their names, and the root attributes. */
static tl_status write_file(const tl_job *j, tl_error *err)
{
    tl_store *store = j->store;
    const tl_tables *job = &j->tables;
    const int64_t epoch_ns = tl_writer_epoch(j->writer);
    tl_status st = TL_OK;

    for (size_t t = 0; st == TL_OK && t < job->n; t++)
        if (job->v[t].schema->scope != TL_SCOPE_EVENT && job->v[t].schema->scope != TL_SCOPE_COLLECTIVE)
            st = tl_store_table(store, &job->v[t], epoch_ns, err);
    if (st == TL_OK)
        st = write_names(store, job->names, err);
    if (st == TL_OK)
        st = tl_store_attr_int(store, "epoch_ns", epoch_ns, err);
    if (st == TL_OK)
        st = tl_store_attr_int(store, "complete", j->stopped_by == 0, err);
    if (st == TL_OK)
        st = write_run(store, &j->plan.inventory, err);
    if (st == TL_OK && j->selected_words[0] != '\0')
        st = tl_store_attr_text(store, "selection", j->selected_words, err);
    if (st == TL_OK && j->selection_notes[0] != '\0')
        st = tl_store_attr_text(store, "selection_notes", j->selection_notes, err);
    if (st == TL_OK && !j->options->reproducible)
        st = write_circumstances(store, j->options, err);
    if (st == TL_OK && j->options->settings != NULL)
        st = tl_store_attr_text(store, "settings", j->options->settings, err);
    return st;
}

/* Prints the answers, as JSON or summary, and sets the exit code: a threshold passed (--fail-on) outranks incomplete
 * traces. */
static void conclude(tl_job *j, bool summary, double start_s, int *code)
{
    tl_answers answers;

    tl_answers_read(&j->tables, &answers);
    answers.selection = j->selected_words[0] != '\0' ? j->selected_words : NULL;
    answers.notes = j->selection_notes[0] != '\0' ? j->selection_notes : NULL;
    if (j->options->json)
        tl_print_answers_json(stdout, &answers, j->output);
    else if (summary)
        tl_tell_summary(&j->plan, &j->tables, &answers, j->options, j->output, now_s() - start_s);
    if (tl_gates_judge(&j->options->fail_on, &answers, stderr))
        *code = TL_EXIT_FAIL_ON;
}

/* On proc 0: reduces, writes the file and prints.  start_s: now_s() at the start of the run.  *code: the
 * exit status that the traces call for. */
static tl_status job_finish(tl_job *j, double start_s, int *code, tl_error *err)
{
    bool summary = !j->options->digest && !j->options->json && !j->options->quiet;
    tl_status st = tl_job_end_selection(j, err);
    if (st != TL_OK)
        return st;
    *code = tl_exit_of_input(&j->plan, &j->tables);
    tl_tell_problems(&j->plan, &j->tables);
    if (j->selection_notes[0] != '\0')
        tl_warn("%s", j->selection_notes);
    if (j->options->step_name != NULL && tl_tables_get(&j->tables, &tl_step_schema)->n == 0)
        tl_warn("--step-name: no range of the host has such a name: there are no steps");
    if (*code == TL_EXIT_NOTHING)
        return tl_fail_unreadable(&j->tables, err);
    if (j->stopped_by != 0)
        tl_warn("signal %d ended the reading: the result has the ranks that had been read (complete = 0)",
                j->stopped_by);
    reduce(j);
    st = write_file(j, err);
    if (st == TL_OK) {
        st = tl_store_finish(j->store, err);
        j->store = NULL;
    }
    if (st == TL_OK && j->options->digest)
        st = tl_tell_digest(j->output, err);
    if (st == TL_OK)
        conclude(j, summary, start_s, code);
    return st;
}

/* Gathers the rows of scope RANK on proc 0, which adds to the plan what they tell of the job. */
static void gather_ranks(tl_job *j)
{
    tl_gather_tables(&j->tables, TL_SCOPE_RANK);

    if (tl_is_first())
        tl_plan_learn(&j->plan, tl_tables_get(&j->tables, &tl_rank_schema));
}

static void job_free(tl_job *j)
{
    tl_store_abandon(j->store);
    tl_writer_close(j->writer);
    tl_tables_free(&j->tables);
    tl_participants_free(&j->participants);
    free(j->exposures.v);
    free(j->behaviours.v);
    tl_work_by_name_free(&j->work_by_name);
    tl_rank_graphs_free(&j->graphs);
    free(j->late.v);
    tl_plan_free(&j->plan);
    tl_found_free(&j->found);
    tl_rules_free(&j->rules);
    free(j->output);
}

/* Collective: prints the error of a failed command, frees the job, and returns the exit code.  code: the exit code
 * unless st is a failure. */
static int end_command(tl_job *j, tl_status st, int code, const tl_error *err)
{
    if (st != TL_OK && tl_is_first())
        code = tl_exit_say(err);
    if (j->stopped_by != 0)
        code = TL_EXIT_SIGNAL + j->stopped_by;
    tl_par_bcast(&code, sizeof code);
    job_free(j);
    return code;
}

/* Collective: reads the ranks, matches their collectives and judges the job. */
static tl_status analyse(tl_job *j, tl_error *err)
{
    tl_status st = tl_job_read(j, true, err);
    if (st == TL_OK)
        st = tl_job_reread(j, err);
    if (st == TL_OK)
        st = tl_job_check_selection(j, err);
    if (st != TL_OK)
        return st;
    tl_job_read_memory(j);
    tl_executions_list(&j->plan, NULL, &j->tables);
    gather_ranks(j);
    tl_match_run(&j->participants, &j->exposures, j->plan.inventory.world_size, (tl_clock_mode)j->options->clock,
                 &j->tables, &j->late);
    tl_gather_tables(&j->tables, TL_SCOPE_JOB);
    st = tl_attribute(&(tl_attribution){ &j->late, &j->graphs, &j->work_by_name, j->options->judge, j->whatif },
                      &j->tables, err);
    if (j->plan.nholes > 0)
        tl_windows_cut_path(&j->plan, tl_tables_get(&j->tables, &tl_rank_path_row_schema));
    return st;
}

/* Returns whether the command is only to list runs (--run list), and prints the list.  st: the status of
 * tl_job_prepare; false for a failure. */
static bool list_runs_alone(const tl_job *j, tl_status st)
{
    bool alone = st == TL_OK && j->options->run < 0;
    if (alone && tl_is_first())
        tl_tell_runs(&j->plan.inventory);
    return alone;
}

int tl_run(const tl_options *options)
{
    tl_job j = { .options = options };
    tl_error err = { 0 };
    double start_s = now_s();
    int code = TL_EXIT_DONE;

    tl_stop_on_signal();
    tl_status st = tl_job_prepare(&j, &err);
    if (list_runs_alone(&j, st))
        return end_command(&j, st, code, &err);
    if (st == TL_OK)
        st = tl_job_select(&j, &err);
    if (st == TL_OK)
        st = tl_job_open_output(&j, &err);
    if (st == TL_OK)
        st = analyse(&j, &err);
    if (st == TL_OK)
        tl_phase_run(&j.plan, options, true, &j.tables);
    if (st == TL_OK)
        st = tl_stream_tables(j.store, j.writer != NULL ? tl_writer_epoch(j.writer) : 0, &j.tables, &err);
    if (st == TL_OK) {
        if (tl_is_first())
            st = job_finish(&j, start_s, &code, &err);
        st = tl_par_agree(st, &err);
    }
    return end_command(&j, st, code, &err);
}

/* Proc 0: fails if the traces differ from those that a result was made of. */
static tl_status check_unchanged(tl_job *j, const tl_whatif_origin *origin, tl_error *err)
{
    const tl_table *now = tl_tables_get(&j->tables, &tl_rank_schema), *then = &origin->ranks;
    for (size_t i = 0, k = 0; i < now->n || k < then->n;) {
        static const tl_rank none = { .rank = INT32_MAX };
        const tl_rank *is = i < now->n ? tl_table_row(now, i) : &none;
        const tl_rank *was = k < then->n ? tl_table_row(then, k) : &none;
        i += is->rank <= was->rank;
        k += was->rank <= is->rank;
        if (is->rank != was->rank && !origin->selects)
            return tl_fail(err, TL_EINPUT, "rank %d has %s trace, unlike when %s was made; name the traces themselves",
                           is->rank < was->rank ? is->rank : was->rank, is->rank < was->rank ? "a" : "no",
                           origin->result);
        bool same = is->events == was->events && is->text_bytes == was->text_bytes &&
                    (origin->selects || (is->intervals == was->intervals && is->kernel_ns == was->kernel_ns));
        if (is->rank == was->rank && !same)
            return tl_fail(err, TL_EINPUT,
                           "the trace of rank %d has changed since %s was made: it has %" PRId64 " entries in %" PRId64
                           " bytes and %" PRId64 " ns of kernels, and had %" PRId64 ", %" PRId64 " and %" PRId64
                           "; name the traces themselves to replay them as they are",
                           is->rank, origin->result, is->events, is->text_bytes, is->kernel_ns, was->events,
                           was->text_bytes, was->kernel_ns);
    }
    return TL_OK;
}

int tl_whatif(const tl_options *options, const tl_whatif_origin *origin, tl_whatif_study *whatif,
              const tl_printer *print)
{
    tl_job j = { .options = options, .whatif = whatif };
    tl_error err = { 0 };
    int code = TL_EXIT_DONE;

    tl_status st = tl_job_prepare(&j, &err);
    if (list_runs_alone(&j, st))
        return end_command(&j, st, code, &err);
    if (st == TL_OK)
        st = tl_job_select(&j, &err);
    if (st == TL_OK)
        st = analyse(&j, &err);
    if (st == TL_OK && tl_is_first() && origin != NULL)
        st = check_unchanged(&j, origin, &err);
    if (st == TL_OK && tl_is_first()) {
        code = tl_exit_of_input(&j.plan, &j.tables);
        if (!options->quiet)
            tl_tell_problems(&j.plan, &j.tables);
        tl_facts facts;
        tl_facts_find(&j.tables, &facts);
        st = whatif->recorded_ns > 0
                 ? tl_whatif_tell(whatif, print, facts.trust.missing, &err)
                 : tl_fail(&err, TL_EINPUT, "no device work in these traces: there is nothing to replay");
        TL_ROWS (const tl_whatif_change_row, row, &whatif->change_rows)
            if (code == TL_EXIT_DONE && row->place > 0 && row->pieces == 0 &&
                whatif->changes.v[row->place - 1].sort <= TL_WHATIF_OVERLAP)
                code = TL_EXIT_PARTIAL; /* its conditions select nothing */
    }
    st = tl_par_agree(st, &err);
    return end_command(&j, st, code, &err);
}

int tl_check(const tl_options *options)
{
    tl_job j = { .options = options };
    tl_error err = { 0 };
    int code = TL_EXIT_DONE;

    tl_status st = tl_job_prepare(&j, &err);
    if (list_runs_alone(&j, st))
        return end_command(&j, st, code, &err);
    if (st == TL_OK)
        st = tl_job_read(&j, false, &err);
    if (st == TL_OK) {
        gather_ranks(&j);
        tl_phase_run(&j.plan, options, false, &j.tables);
        tl_job_read_memory(&j);
        tl_executions_list(&j.plan, NULL, &j.tables);
        tl_gather_tables(&j.tables, TL_SCOPE_JOB);
    }
    if (st == TL_OK && tl_is_first()) {
        code = tl_exit_of_input(&j.plan, &j.tables);
        tl_tell_inventory(&j.plan, &j.tables);
        tl_tell_problems(&j.plan, &j.tables);
    }
    return end_command(&j, st, code, &err);
}
