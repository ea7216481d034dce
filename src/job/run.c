/* run.c - the whole flow, and nothing else.
 *
 *     plan -> for each rank of the queue { read -> analyse -> rows to the file } -> gather -> match collectives -> reduce
 *          -> write -> tell
 *
 * Every phase that can fail ends in an agreement, so that all procs go on, or none.
 */
#include "tlmpi/job/run.h"
#include "attribute.h"
#include "match.h"
#include "plan.h"
#include "post.h"
#include "rank_result.h"
#include "stream.h"
#include "team.h"
#include "tell.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/spare.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/format/terminal.h"
#include "write.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct job {
    const tl_options *options;
    tl_rules rules;
    tl_plan plan;
    tl_tables tables;           /* rows of the ranks that this proc has read; of all ranks on proc 0 after gather */
    tl_participants participants;       /* of the ranks that this proc has read; matching uses them up */
    tl_exposures exposures;             /* likewise */
    tl_details details;
    tl_programs programs;
    tl_late_rows late;
    tl_desk *desk;              /* proc 0 alone, as all below */
    tl_store *store;
    char *output;
} job;

static bool is_first(void)
{
    return tl_par_proc() == 0;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Rules, files, tables: what every proc needs before it can read. */
static tl_status prepare(job *j, tl_error *err)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    tl_status st = tl_tables_init(&j->tables, schemas, n) ? TL_OK : tl_fail_memory(err, "the tables");

    if (st == TL_OK)
        st = tl_output_check(j->options, err);
    if (st == TL_OK && j->options->rules != NULL)
        st = tl_rules_read(j->options->rules, &j->rules, err);
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_plan_make(j->options, &j->plan, err);
    if (st == TL_OK && j->plan.n == 0) {
        if (is_first())
            tl_tell_problems(&j->plan, &j->tables);
        st = tl_fail(err, TL_EINPUT, "%s%s: no traces found (.json, .json.gz)", j->options->paths[0],
                     j->options->npaths > 1 ? " ..." : "");
    }
    return st;
}

/* No trace is written over, nor are the rules. */
static tl_status spare_inputs(const job *j, tl_error *err)
{
    const tl_inventory *inventory = &j->plan.inventory;
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        const tl_input *in = &inventory->inputs.v[i];
        if (tl_spare_is(j->output, in->device, in->inode))
            return tl_fail(err, TL_EUSAGE, "%s would be written over, and is read as %s: choose another name with -o",
                           j->output, in->path);
    }
    return j->options->rules != NULL ? tl_spare_input(j->output, j->options->rules, err) : TL_OK;
}

static tl_status open_output(job *j, tl_error *err)
{
    tl_status st = TL_OK;
    if (is_first()) {
        j->output = tl_output_path(j->options);
        st = j->output != NULL ? spare_inputs(j, err) : tl_fail_memory(err, "the output's name");
        if (st == TL_OK)
            st = tl_store_create(j->output, j->options->force, &j->store, err);
        if (st == TL_OK)
            st = tl_write_begin(j->store, err);
    }
    return tl_par_agree(st, err);
}

/* Keeps what is not an event table of a rank that has been read. */
static bool keep_rows(job *j, tl_rank_result *result)
{
    for (size_t t = 0; t < j->tables.n; t++) {
        const tl_table *from = &result->tables.v[t];
        if (from->schema->scope != TL_SCOPE_EVENT && !tl_table_append(&j->tables.v[t], from->rows, from->n))
            return false;
    }
    return true;
}

/* Reads ranks until there are no more. */
static tl_status read_ranks(job *j, bool analyse, tl_error *err)
{
    tl_post post;
    tl_status st = TL_OK;

    if (is_first()) {
        j->desk = tl_desk_open(&j->plan, j->store, j->options->reproducible, !j->options->quiet);
        st = j->desk != NULL ? TL_OK : tl_fail_memory(err, "the queue of ranks");
    }
    st = tl_par_agree(st, err);
    if (st != TL_OK)
        return st;

    tl_post_open(&post, j->desk);
    const tl_rank_reading how = { .options = j->options,
                                  .rules = &j->rules,
                                  .analyse = analyse,
                                  .participants = &j->participants,
                                  .exposures = &j->exposures,
                                  .details = &j->details,
                                  .programs = &j->programs,
                                  .read = tl_team_read,
                                  .read_arg = &post,
                                  .tick = is_first() ? tl_post_tick : NULL,
                                  .tick_arg = &post };
    const tl_read_options reading = tl_rank_read_options(&how);
    for (tl_task task; (task = tl_post_next(&post)).item >= 0;) {
        const tl_plan_item *item = &j->plan.items[task.item];
        tl_rank_result result;
        tl_error why = { 0 };
        if (task.piece > 0) {
            tl_team_help(&post, item, &task, &reading);
            continue;
        }
        if (tl_rank_read(item, &how, &result, &why) != TL_OK) {
            fprintf(stderr, "tlmpi: %s\n", why.text);      /* not even a row of it: nobody can go on */
            tl_par_abort(TL_EXIT_FAULT);
        }
        tl_status delivered = tl_post_deliver(&post, task.item, &result, &why);
        if (delivered == TL_OK && !keep_rows(j, &result))
            delivered = tl_fail_memory(&why, "the rows of a rank");
        if (delivered != TL_OK && st == TL_OK)
            st = tl_fail(err, delivered, "%s", why.text);
        tl_rank_result_free(&result);
    }
    if (is_first()) {
        tl_desk_serve_out(j->desk);
        tl_status desk = tl_desk_status(j->desk, st == TL_OK ? err : NULL);
        st = st == TL_OK ? desk : st;
    }
    tl_mail_free(&post.mail);
    return tl_par_agree(st, err);
}

/* Puts the rows of a scope's tables, each behind their number, into the letter; the tables are empty then. */
static bool enclose(job *j, tl_scope scope, tl_letter *out)
{
    bool whole = true;
    for (size_t t = 0; whole && t < j->tables.n; t++) {
        tl_table *table = &j->tables.v[t];
        if (table->schema->scope != scope)
            continue;
        whole = tl_letter_put(out, &table->n, sizeof table->n) &&
                tl_letter_put(out, table->rows, table->n * table->schema->row_size);
        table->n = 0;
    }
    return whole;
}

/* Proc 0: the letters of all procs, one behind the other, back into the tables. */
static bool unpack(job *j, tl_scope scope, tl_letter *in)
{
    bool whole = true;
    while (whole && in->at < in->n)
        for (size_t t = 0; whole && t < j->tables.n; t++) {
            tl_table *table = &j->tables.v[t];
            size_t n = 0, size = table->schema->row_size;
            if (table->schema->scope != scope)
                continue;
            whole = tl_letter_get(in, &n, sizeof n) && n <= (in->n - in->at) / size &&
                    tl_table_append(table, in->v + in->at, n);
            in->at += whole ? n * size : 0;
        }
    return whole;
}

static bool sort(job *j, tl_scope scope)
{
    bool whole = true;
    for (size_t t = 0; whole && t < j->tables.n; t++)
        whole = j->tables.v[t].schema->scope != scope || tl_table_sort(&j->tables.v[t]);
    return whole;
}

/* The rows of all procs to proc 0, in the order of their keys.  All tables go at once: each round of all procs takes its
 * time, however little is in it. */
static tl_status gather(job *j, tl_scope scope, tl_error *err)
{
    tl_letter mine = { 0 }, all = { 0 };
    void *bytes = NULL;

    if (tl_par_nprocs() == 1)
        return sort(j, scope) ? TL_OK : tl_fail_memory(err, "the rows of ranks");
    tl_status st = tl_par_agree(enclose(j, scope, &mine) ? TL_OK : tl_fail_memory(err, "the rows of ranks"), err);
    if (st == TL_OK)
        st = tl_par_gather(mine.v, mine.n, &bytes, &all.n, NULL, err);
    free(mine.v);
    all.v = bytes;
    if (st == TL_OK && is_first() && !(unpack(j, scope, &all) && sort(j, scope)))
        st = tl_fail_memory(err, "the rows of ranks");
    free(bytes);
    return tl_par_agree(st, err);
}

/* The rows of the ranks to proc 0, and what they tell of the job. */
static tl_status gather_ranks(job *j, tl_error *err)
{
    tl_status st = gather(j, TL_SCOPE_RANK, err);

    if (st == TL_OK && is_first()) {
        tl_table *ranks = tl_tables_get(&j->tables, &tl_rank_schema);
        st = tl_plan_learn(&j->plan, (tl_rank *)(void *)ranks->rows, ranks->n, err);
    }
    return tl_par_agree(st, err);
}

static tl_status reduce(job *j, tl_error *err)
{
    tl_status st = TL_OK;
    for (const tl_analysis *const *a = tl_analyses; st == TL_OK && *a != NULL; a++)
        if ((*a)->reduce != NULL)
            st = (*a)->reduce(&j->tables, err);
    return st;
}

/* What was found, for whoever asked; a threshold that is passed goes before traces that were incomplete. */
static tl_status conclude(job *j, bool summary, double start_s, int *code, tl_error *err)
{
    tl_answers answers;
    tl_status st = tl_answers_find(&j->tables, &answers, err);
    if (st != TL_OK)
        return st;
    if (j->options->json)
        tl_print_answers_json(stdout, &answers, j->output);
    else if (summary)
        tl_tell_summary(&j->plan, &j->tables, &answers, j->options, j->output, now_s() - start_s);
    if (tl_gates_judge(&j->options->fail_on, &answers, stderr))
        *code = TL_EXIT_FAIL_ON;
    tl_answers_free(&answers);
    return TL_OK;
}

/* Proc 0: reductions, the file, the words.  *code is the exit status that the traces call for. */
static tl_status finish(job *j, double start_s, int *code, tl_error *err)
{
    bool summary = !j->options->digest && !j->options->json && !j->options->quiet;
    *code = tl_exit_of_input(&j->plan, &j->tables);
    if (*code == TL_EXIT_NOTHING || !(summary && tl_is_terminal(stdout)))
        tl_tell_problems(&j->plan, &j->tables);     /* else the summary says it, on the same screen */
    if (*code == TL_EXIT_NOTHING)
        return tl_fail(err, TL_EINPUT, "none of the traces could be read");
    tl_status st = reduce(j, err);
    if (st == TL_OK)
        st = tl_write_end(j->store, j->options, &j->tables, tl_desk_names(j->desk), tl_desk_epoch(j->desk), err);
    if (st == TL_OK) {
        st = tl_store_finish(j->store, err);
        j->store = NULL;
    }
    if (st == TL_OK && j->options->digest)
        st = tl_tell_digest(j->output, err);
    return st == TL_OK ? conclude(j, summary, start_s, code, err) : st;
}

static void job_free(job *j)
{
    tl_store_abandon(j->store);
    tl_desk_close(j->desk);
    tl_tables_free(&j->tables);
    tl_participants_free(&j->participants);
    free(j->exposures.v);
    tl_details_free(&j->details);
    tl_programs_free(&j->programs);
    free(j->late.v);
    tl_plan_free(&j->plan);
    tl_rules_free(&j->rules);
    free(j->output);
}

int tl_exit_of_status(tl_status st)
{
    switch (st) {
    case TL_OK:
        return TL_EXIT_DONE;
    case TL_EINPUT:
        return TL_EXIT_NOTHING;
    case TL_EUSAGE:
        return TL_EXIT_USAGE;
    case TL_EOUTPUT:
        return TL_EXIT_OUTPUT;
    case TL_ENOMEM:
    case TL_EINTERNAL:
        break;
    }
    return TL_EXIT_FAULT;
}

/* All procs: the end of a command.  code: where nothing has failed. */
static int end(job *j, tl_status st, int code, const tl_error *err)
{
    if (st != TL_OK) {
        code = tl_exit_of_status(st);
        char safe[sizeof err->text];
        tl_printable(safe, sizeof safe, err->text);
        if (is_first())
            fprintf(stderr, "tlmpi: %s\n", safe);
    }
    tl_par_bcast(&code, sizeof code);
    job_free(j);
    return code;
}

int tl_run(const tl_options *options)
{
    job j = { .options = options };
    tl_error err = { 0 };
    double start_s = now_s();
    int code = TL_EXIT_DONE;

    tl_status st = prepare(&j, &err);
    if (st == TL_OK && options->run < 0) {
        if (is_first())
            tl_tell_runs(&j.plan.inventory);
        return end(&j, st, code, &err);
    }
    if (st == TL_OK)
        st = open_output(&j, &err);
    if (st == TL_OK)
        st = read_ranks(&j, true, &err);
    if (st == TL_OK)
        st = gather_ranks(&j, &err);
    if (st == TL_OK)
        st = tl_match_run(&j.participants, &j.exposures, (tl_clock_mode)options->clock, &j.tables, &j.late, &err);
    if (st == TL_OK)
        st = gather(&j, TL_SCOPE_JOB, &err);
    if (st == TL_OK)
        st = tl_attribute(&j.late, &j.programs, &j.details, &j.tables, &err);
    if (st == TL_OK)
        st = tl_stream_tables(j.store, j.desk != NULL ? tl_desk_epoch(j.desk) : 0, &j.tables, &err);
    if (st == TL_OK) {
        if (is_first())
            st = finish(&j, start_s, &code, &err);
        st = tl_par_agree(st, &err);
    }
    return end(&j, st, code, &err);
}

int tl_check(const tl_options *options)
{
    job j = { .options = options };
    tl_error err = { 0 };
    int code = TL_EXIT_DONE;

    tl_status st = prepare(&j, &err);
    if (st == TL_OK && options->run < 0) {
        if (is_first())
            tl_tell_runs(&j.plan.inventory);
        return end(&j, st, code, &err);
    }
    if (st == TL_OK)
        st = read_ranks(&j, false, &err);
    if (st == TL_OK)
        st = gather_ranks(&j, &err);
    if (st == TL_OK && is_first()) {
        code = tl_exit_of_input(&j.plan, &j.tables);
        tl_tell_inventory(&j.plan, &j.tables);
        tl_tell_problems(&j.plan, &j.tables);
    }
    return end(&j, st, code, &err);
}
