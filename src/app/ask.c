/* ask.c - the answers of a result file: as text and JSON (ask), as a page with pictures (html), and a slice of the job
 * that shows them as a trace (export). */
#include "cli.h"
#include "export.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/job/run.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/report/html.h"
#include "tlmpi/store/load.h"
#include <stdlib.h>
#include <string.h>

/* An open result, and the tables that the answers are read from. */
typedef struct asked {
    const char *path;
    tl_result *result;
    tl_tables tables;
    tl_answers answers;
    char *selection, *notes;
    char *command, *history, *host, *version; /* for a page */
} asked;

/* Returns the error with the file's name put before it. */
static tl_status in_file(const asked *a, tl_status st, tl_error *why, tl_error *err)
{
    return st != TL_OK ? tl_fail(err, st, "%s: %s", a->path, why->text) : TL_OK;
}

static void asked_free(asked *a)
{
    tl_result_close(a->result);
    tl_tables_free(&a->tables);
    free(a->selection);
    free(a->notes);
    free(a->command);
    free(a->history);
    free(a->host);
    free(a->version);
}

/* Loads the tables of the answers, and of a page if wanted.  The caller ends *a by asked_free in any case. */
static tl_status load(asked *a, const char *path, bool page, tl_error *err)
{
    enum { MOST = 64 };
    const tl_schema *schemas[MOST];
    size_t n = 0, required;
    tl_error why;

    *a = (asked){ .path = path };
    for (const tl_schema *const *of = tl_answer_tables(&required); *of != NULL && n < MOST; of++)
        schemas[n++] = *of;
    for (const tl_schema *const *of = tl_html_tables(); page && *of != NULL && n < MOST; of++)
        schemas[n++] = *of;
    tl_status st = tl_result_open(path, &a->result, err);
    if (st != TL_OK)
        return st;
    tl_tables_init(&a->tables, schemas, n);
    st = in_file(a, tl_result_load(a->result, &a->tables, required, &why), &why, err);
    const struct {
        const char *name;
        char **text;
    } attributes[] = { { "selection", &a->selection },  { "selection_notes", &a->notes },
                       { "command_line", &a->command }, { "history", &a->history },
                       { "hostname", &a->host },        { "creator_version", &a->version } };
    for (size_t i = 0; st == TL_OK && i < sizeof attributes / sizeof attributes[0]; i++)
        st = in_file(a, tl_result_attr_text(a->result, attributes[i].name, attributes[i].text, &why), &why, err);
    if (st == TL_OK) {
        tl_answers_read(&a->tables, &a->answers);
        a->answers.selection = a->selection;
        a->answers.notes = a->notes;
    }
    return st;
}

/* A command's use of the answers: prints them to `out`. */
typedef tl_status put_answers(asked *a, const tl_cli *cli, FILE *out, tl_error *err);

/* Loads the result named on the command line, and prints to `output`.  Returns the exit status. */
static int answer(const tl_cli *cli, const char *output, put_answers *put)
{
    tl_error err;
    tl_outfile file = { .out = NULL };
    asked a = { .path = NULL };
    bool too_much = false;
    tl_status st = cli->nwords == 1
                       ? load(&a, cli->words[0], cli->command->bit == TL_FOR_HTML, &err)
                       : tl_fail(&err, TL_EUSAGE, "%s: tlmpi %s FILE.h5",
                                 cli->nwords == 0 ? "no result file named" : "one file at a time", cli->command->name);
    if (st == TL_OK)
        st = tl_outfile_open(&file, a.path, output, cli->run.force, &err);
    if (st == TL_OK)
        st = tl_outfile_close(&file, put(&a, cli, file.out, &err), &err);
    if (st == TL_OK && cli->command->bit == TL_FOR_ASK)
        too_much = tl_gates_judge(&cli->run.fail_on, &a.answers, stderr);
    asked_free(&a);
    return st != TL_OK ? tl_cli_complain(cli, &err) : too_much ? TL_EXIT_FAIL_ON : TL_EXIT_DONE;
}

static tl_status put_text(asked *a, const tl_cli *cli, FILE *out, tl_error *err)
{
    (void)err;
    if (cli->run.json)
        tl_print_answers_json(out, &a->answers, a->path);
    else
        tl_print_answers(out, &a->answers, a->path, 0);
    return TL_OK;
}

int tl_ask(const tl_cli *cli)
{
    return answer(cli, cli->run.output, put_text);
}

/* ------------------------------------------------------------------------------------------------------------ html */

static tl_text name_of(void *of, uint32_t id)
{
    return tl_result_name(((const asked *)of)->result, id);
}

static tl_status each_row(void *of, const tl_schema *table, tl_html_take *take, void *arg, tl_error *err)
{
    const asked *a = of;
    tl_error why;
    return tl_result_find(a->result, table->name) != NULL
               ? in_file(a, tl_result_each(a->result, table, take, arg, &why), &why, err)
               : TL_OK;
}

static tl_html_input input_of(asked *a)
{
    return (tl_html_input){ .file = a->path,
                            .answers = &a->answers,
                            .tables = &a->tables,
                            .result = a,
                            .name = name_of,
                            .each = each_row,
                            .command = a->command,
                            .when = a->history,
                            .host = a->host,
                            .version = a->version };
}

static tl_status put_page(asked *a, const tl_cli *cli, FILE *out, tl_error *err)
{
    (void)cli;
    if (a->history != NULL) /* history is "2026-03-01T12:00:00Z: tlmpi ..."; the command is shown separately */
        a->history[strcspn(a->history, " ") - (strcspn(a->history, " ") > 0)] = '\0';
    const tl_html_input input = input_of(a);
    return tl_html_write(&input, out, err);
}

/* Answers into a file beside the result unless -o is given: "a/traces.html" for "a/traces.h5". */
static int answer_beside(const tl_cli *cli, const char *ending, put_answers *put)
{
    const char *path = cli->nwords > 0 ? cli->words[0] : "";
    size_t n = strlen(path), stem = n > 3 && strcmp(path + n - 3, ".h5") == 0 ? n - 3 : n;
    tl_bytes name = { 0 };
    tl_bytes_put(&name, path, stem);
    tl_bytes_put(&name, ending, strlen(ending) + 1);
    int code = answer(cli, cli->run.output != NULL ? cli->run.output : (const char *)name.v, put);
    tl_bytes_free(&name);
    return code;
}

int tl_html_page(const tl_cli *cli)
{
    if (cli->nwords == 2)
        return tl_diff_command(cli);
    if (tl_par_proc() > 0)
        return TL_EXIT_DONE;
    return answer_beside(cli, ".html", put_page);
}

/* ---------------------------------------------------------------------------------------------------------- export */

static tl_status put_slice(asked *a, const tl_cli *cli, FILE *out, tl_error *err)
{
    const tl_ranges *ranks = &cli->run.ranks, *steps = &cli->run.steps;
    const tl_html_input input = input_of(a);
    const char *path = cli->run.output;
    bool gzip = path == NULL || (strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".gz") == 0);
    tl_strip strip;
    tl_sink *sink = NULL;
    tl_error why;
    tl_status st = tl_strip_gather(&strip, &input, ranks->n > 0 ? ranks : NULL, steps->n > 0 ? steps : NULL, err);
    if (st == TL_OK)
        st = tl_sink_open(fileno(out), path != NULL ? path : "the export", gzip, &sink, err);
    if (st == TL_OK)
        st = in_file(a, tl_export_perfetto(a->result, tl_tables_get(&a->tables, &tl_rank_schema), &strip, sink, &why),
                     &why, err);
    tl_sink_close(sink);
    tl_strip_free(&strip);
    return st;
}

int tl_export(const tl_cli *cli)
{
    return answer_beside(cli, ".perfetto.json.gz", put_slice);
}
