/* finish.c - the end of a run, on proc 0: reductions over all ranks, the result file, and the printed conclusions. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "stages.h"
#include "tell.h"
#include "commit.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/log.h"
#include "tlmpi/job/run.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/format/wrap.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

double tl_now_s(void)
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
        tl_tell_summary(&j->plan, &j->tables, &answers, j->options, j->output, tl_now_s() - start_s);
    if (tl_gates_judge(&j->options->fail_on, &answers, stderr))
        *code = TL_EXIT_FAIL_ON;
}

tl_status tl_job_finish(tl_job *j, double start_s, int *code, tl_error *err)
{
    bool summary = !j->options->digest && !j->options->json && !j->options->quiet;
    tl_status st = tl_job_end_selection(j, err);
    if (st != TL_OK)
        return st;
    *code = tl_exit_of_input(&j->plan, &j->tables);
    tl_tell_problems(&j->plan, &j->tables);
    if (j->selection_notes[0] != '\0')
        tl_warn("%s", j->selection_notes);
    if (*code == TL_EXIT_NOTHING)
        return tl_fail(err, TL_EINPUT, "none of the %s could be read", tl_inputs_word(&j->tables));
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
