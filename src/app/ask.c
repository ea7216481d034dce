/* ask.c - the answers of a result file: as text and JSON (ask), and as a page with pictures (html). */
#include "opened.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/job/call/exit.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/html.h"
#include "tlmpi/store/load.h"
#include <stdlib.h>
#include <string.h>

tl_status tl_opened_tell(const tl_opened *a, tl_status st, const tl_error *why, tl_error *err)
{
    return st != TL_OK ? tl_fail(err, st, "%s: %s", a->named, why->text) : TL_OK;
}

tl_status tl_opened_load(tl_opened *a, const char *named, const char *path, const tl_schema *const *schemas, size_t n,
                         size_t required, tl_error *err)
{
#define NAME(name) #name,
    static const char *const attributes[] = { TL_OPENED_LIST(NAME) };
    tl_error why;
    *a = (tl_opened){ .named = named };
    tl_status st = tl_result_open(path, &a->result, err);
    if (st != TL_OK)
        return st;
    tl_tables_init(&a->tables, schemas, n);
    st = tl_result_load(a->result, &a->tables, required, &why);
    for (int i = 0; st == TL_OK && i < TL_OPENED_TEXTS; i++)
        st = tl_result_attr_text(a->result, attributes[i], &a->texts[i], &why);
    return tl_opened_tell(a, st, &why, err);
}

void tl_opened_free(tl_opened *a)
{
    tl_result_close(a->result);
    tl_tables_free(&a->tables);
    for (int i = 0; i < TL_OPENED_TEXTS; i++)
        free(a->texts[i]);
}

/* Loads the tables of the answers, and of a page if wanted.  The caller ends *a by tl_opened_free in any case. */
static tl_status load(tl_opened *a, const tl_answer_how *how, bool page, tl_error *err)
{
    enum { MOST = 64 };
    const tl_schema *schemas[MOST];
    size_t n = 0, required;
    for (const tl_schema *const *of = tl_answer_tables(&required); *of != NULL && n < MOST; of++)
        schemas[n++] = *of;
    for (const tl_schema *const *of = tl_html_tables(); page && *of != NULL && n < MOST; of++)
        schemas[n++] = *of;
    tl_status st = tl_opened_load(a, how->named, how->path, schemas, n, required, err);
    a->arg = how->arg;
    if (st == TL_OK)
        tl_answers_read(&a->tables, &a->answers);
    a->answers.selection = a->texts[TL_OPENED_selection];
    a->answers.notes = a->texts[TL_OPENED_selection_notes];
    return st;
}

char *tl_path_beside(const char *result, const char *ending)
{
    const size_t n = strlen(result), stem = n > 3 && strcmp(result + n - 3, ".h5") == 0 ? n - 3 : n;
    tl_bytes path = { 0 };
    tl_bytes_put(&path, result, stem);
    tl_bytes_put(&path, ending, strlen(ending) + 1);
    return path.v;
}

int tl_opened_answer(const tl_cli *cli, const tl_answer_how *how)
{
    tl_error err;
    tl_outfile file = { .out = NULL };
    tl_opened a;
    bool too_much = false;
    char *beside = how->ending != NULL ? tl_path_beside(how->named, how->ending) : NULL;
    tl_status st = load(&a, how, cli->command->bit == TL_FOR_HTML, &err);
    if (st == TL_OK)
        st =
            tl_outfile_open(&file, how->path, cli->run.output != NULL ? cli->run.output : beside, cli->run.force, &err);
    if (st == TL_OK)
        st = tl_outfile_close(&file, how->put(&a, cli, file.out, &err), &err);
    if (st == TL_OK && cli->command->bit == TL_FOR_ASK)
        too_much = tl_gates_judge(&cli->run.fail_on, &a.answers, stderr);
    tl_opened_free(&a);
    free(beside);
    return st != TL_OK ? tl_cli_complain(cli, &err) : too_much ? TL_EXIT_FAIL_ON : TL_EXIT_DONE;
}

/* Answers of the one result that the command line names. */
static int answer_of_file(const tl_cli *cli, const char *ending, tl_put_answers *put)
{
    tl_error err;
    const tl_answer_how how = { .path = cli->words[0], .named = cli->words[0], .ending = ending, .put = put };
    if (cli->nwords == 1)
        return tl_opened_answer(cli, &how);
    (void)tl_fail(&err, TL_EUSAGE, "%s: tlmpi %s FILE.h5",
                  cli->nwords == 0 ? "no result file named" : "one file at a time", cli->command->name);
    return tl_cli_complain(cli, &err);
}

static tl_status put_text(tl_opened *a, const tl_cli *cli, FILE *out, tl_error *err)
{
    (void)err;
    if (cli->run.json)
        tl_print_answers_json(out, &a->answers, a->named);
    else
        tl_print_answers(out, &a->answers, a->named, 0);
    return TL_OK;
}

int tl_ask(const tl_cli *cli)
{
    return answer_of_file(cli, NULL, put_text);
}

/* ------------------------------------------------------------------------------------------------------------ html */

tl_text tl_opened_name(void *of, uint32_t id)
{
    return tl_result_name(((const tl_opened *)of)->result, id);
}

static tl_status each_row(void *of, const tl_schema *table, tl_html_take *take, void *arg, tl_error *err)
{
    const tl_opened *a = of;
    tl_error why;
    return tl_result_find(a->result, table->name) != NULL
               ? tl_opened_tell(a, tl_result_each(a->result, table, take, arg, &why), &why, err)
               : TL_OK;
}

tl_html_input tl_opened_input(tl_opened *a)
{
    return (tl_html_input){ .file = a->named,
                            .answers = &a->answers,
                            .tables = &a->tables,
                            .result = a,
                            .name = tl_opened_name,
                            .each = each_row,
                            .command = a->texts[TL_OPENED_command_line],
                            .when = a->texts[TL_OPENED_history],
                            .host = a->texts[TL_OPENED_hostname],
                            .version = a->texts[TL_OPENED_creator_version] };
}

static tl_status put_page(tl_opened *a, const tl_cli *cli, FILE *out, tl_error *err)
{
    (void)cli;
    /* "2026-03-01T12:00:00Z: tlmpi ..."; the command is shown separately */
    char *history = a->texts[TL_OPENED_history];
    if (history != NULL)
        history[strcspn(history, " ") - (strcspn(history, " ") > 0)] = '\0';
    const tl_html_input input = tl_opened_input(a);
    return tl_html_write(&input, out, err);
}

int tl_html_page(const tl_cli *cli)
{
    if (cli->nwords == 2)
        return tl_diff_command(cli);
    if (tl_par_proc() > 0)
        return TL_EXIT_DONE;
    return answer_of_file(cli, ".html", put_page);
}
