/* finish.c - the end of a run, on proc 0: reductions over all ranks, the result file, and what is said of it. */
#include "stages.h"
#include "tell.h"
#include "write.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/log.h"
#include "tlmpi/job/run.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/format/wrap.h"
#include <stdio.h>
#include <time.h>

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

static void tell_problems(tl_job *j)
{
    tl_tell_problems(&j->plan, &j->tables);
    if (j->selection_notes[0] != '\0')
        tl_warn("%s", j->selection_notes);
}

/* Prints what was found, as JSON or summary, and sets the exit code: a threshold passed (--fail-on) outranks incomplete
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
    if (*code == TL_EXIT_NOTHING || !(summary && tl_is_terminal(stdout)))
        tell_problems(j); /* else the summary says it, on the same screen */
    if (*code == TL_EXIT_NOTHING)
        return tl_fail(err, TL_EINPUT, "none of the %s could be read", tl_inputs_word(&j->tables));
    reduce(j);
    st = tl_write_end(j->store, j->options, &j->tables, j->selected_words, j->selection_notes,
                      tl_writer_epoch(j->writer), err);
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
