/* diff.c - tlmpi diff A B, tlmpi html A B: compares two runs, each a result file, or traces, which are analysed first.
 */
#include "opened.h"
#include "tlmpi/analysis/diff.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/diff.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/store/load.h"
#include <string.h>

enum { ROWS_SHOWN = 10, TEXT_SHOWN = 48 };

/* -------------------------------------------------------------------------------------------------------- comparison
 */

typedef struct compared {
    tl_opened of[2];
    tl_diff *diff;
} compared;

typedef struct taker {
    tl_diff *diff;
    int side;
    const tl_schema *schema;
} taker;

static void take(void *arg, const void *row)
{
    const taker *t = arg;
    tl_diff_take(t->diff, t->side, t->schema, row);
}

/* Compares the results at `path`, which messages call `shown`; the caller ends *c by compared_free in any case. */
static tl_status compare(compared *c, const char *const *shown, const char *const *path, tl_error *err)
{
    tl_diff_input input = { .side = { { 0 } } };
    size_t n, nstreams;
    const tl_schema *const *schemas = tl_diff_reads(&n), *const *streams = tl_diff_streams(&nstreams);
    tl_status st = TL_OK;
    for (int i = 0; st == TL_OK && i < 2; i++) {
        tl_opened *of = &c->of[i];
        st = tl_opened_load(of, shown[i], path[i], schemas, n, n, err);
        input.side[i] = (tl_diff_side){ .path = shown[i],
                                        .tables = &of->tables,
                                        .name = tl_opened_name,
                                        .name_arg = of,
                                        .selection = of->texts[TL_OPENED_selection],
                                        .run = of->texts[TL_OPENED_run] };
    }
    if (st != TL_OK)
        return st;
    c->diff = tl_diff_new(&input);
    for (int i = 0; i < 2; i++)
        if (tl_diff_basis_of(c->diff).ranks[i] == 0)
            return tl_fail(err, TL_EINPUT, "%s: no kernel or copy of a device: %s", shown[i],
                           tl_tables_get(&c->of[i].tables, &tl_rank_schema)->n > 0
                               ? "of a trace the device work is compared, and this one has only the host's"
                               : "only traces are compared, not durations of phases");
    for (size_t k = 0; st == TL_OK && k < 2 * nstreams; k++) {
        tl_error why;
        taker t = { c->diff, (int)(k / nstreams), streams[k % nstreams] };
        const tl_opened *of = &c->of[t.side];
        st = tl_opened_tell(of, tl_result_each(of->result, t.schema, take, &t, &why), &why, err);
    }
    if (st == TL_OK)
        tl_diff_compare(c->diff);
    return st;
}

static void compared_free(compared *c)
{
    tl_diff_free(c->diff);
    for (int i = 0; i < 2; i++)
        tl_opened_free(&c->of[i]);
}

/* ------------------------------------------------------------------------------------------------------------ output
 */

static void print_table(const tl_cli *cli, const compared *c, const tl_schema *schema, FILE *out, bool brief)
{
    const tl_table *table = tl_diff_table(c->diff, schema);
    tl_printer p = tl_cli_printer(cli, out);
    p.schema = schema;
    p.signed_times = true;
    p.format = cli->run.json ? TL_FORMAT_JSON : p.format;
    p.name = tl_diff_name;
    p.name_arg = c->diff;
    p.unit = brief ? TL_UNIT_AUTO : p.unit;
    p.text_width = brief ? TEXT_SHOWN : cli->nwords > 2 ? p.text_width : 0;
    size_t n = brief && table->n > ROWS_SHOWN ? ROWS_SHOWN : table->n;
    tl_print_begin(&p);
    tl_print_rows(&p, table->rows, n);
    tl_print_end(&p);
    if (n < table->n)
        fprintf(out, "(%zu more rows: tlmpi diff A B %s)\n", table->n - n, schema->name);
}

static tl_diff_words words_of(const compared *c)
{
    return (tl_diff_words){ .found = tl_diff_table(c->diff, &tl_diff_found_schema),
                            .run = tl_diff_table(c->diff, &tl_diff_run_schema),
                            .step = tl_diff_table(c->diff, &tl_diff_step_schema),
                            .kernel = tl_diff_table(c->diff, &tl_diff_kernel_schema),
                            .operator= tl_diff_table(c->diff, &tl_diff_operator_schema),
                            .call_path = tl_diff_table(c->diff, &tl_diff_call_path_schema),
                            .name = tl_diff_name,
                            .name_arg = c->diff,
                            .basis = tl_diff_basis_of(c->diff) };
}

/* Prints the verdict and the tables, or only the table `named`. */
static void print(const tl_cli *cli, const compared *c, const tl_schema *named, FILE *out)
{
    size_t n;
    const tl_schema *const *schemas = tl_diff_schemas(&n);
    bool json = cli->run.json || cli->format == TL_FORMAT_JSON, brief = !json && cli->format == TL_FORMAT_TABLE;
    if (named != NULL) {
        print_table(cli, c, named, out, false);
        return;
    }
    if (brief) {
        tl_diff_words words = words_of(c);
        tl_print_diff(out, &words);
    }
    for (size_t i = brief ? 1 : 0; i < n; i++) {
        fprintf(out,
                json    ? "%s\"%s\": "
                : brief ? "%s\n%s\n"
                        : "%s# %s\n",
                json ? i > 0 ? "," : "{" : "", schemas[i]->name);
        print_table(cli, c, schemas[i], out, brief);
    }
    if (json)
        fputs("}\n", out);
}

static tl_status find_table(const tl_cli *cli, const tl_schema **named, tl_error *err)
{
    size_t n;
    const tl_schema *const *schemas = tl_diff_schemas(&n);
    const char *names[16];
    *named = NULL;
    if (cli->nwords < 2 || cli->nwords > 3)
        return tl_fail(err, TL_EUSAGE, "%s: tlmpi diff A B [TABLE]",
                       cli->nwords < 2 ? "two runs are compared" : "one table at a time");
    for (size_t i = 0; i < n && cli->nwords == 3; i++) {
        names[i] = schemas[i]->name;
        if (strcmp(cli->words[2], names[i]) == 0)
            *named = schemas[i];
    }
    return cli->nwords == 3 && *named == NULL
               ? tl_fail_unknown(err, "table", cli->words[2], "a comparison", names, sizeof *names, n)
               : TL_OK;
}

/* Proc 0: compares the results and prints.  Returns the exit status. */
static int compare_results(const tl_cli *cli, const char *const *path, const tl_schema *named, tl_outfile *file)
{
    tl_error err;
    compared c = { .diff = NULL };
    tl_gates_judged judged = TL_GATES_HELD;
    tl_status st = compare(&c, cli->words, path, &err);
    if (st == TL_OK) {
        tl_diff_words words = words_of(&c);
        if (cli->command->bit == TL_FOR_HTML)
            tl_html_write_diff(&words, file->out);
        else
            print(cli, &c, named, file->out);
        st = tl_outfile_close(file, TL_OK, &err);
        judged = st == TL_OK ? tl_diff_gates_judge(&cli->diff_fail_on, &words, stderr) : TL_GATES_HELD;
    }
    compared_free(&c);
    return st != TL_OK                  ? tl_cli_complain(cli, &err)
           : judged == TL_GATES_PASSED  ? TL_EXIT_FAIL_ON
           : judged == TL_GATES_UNKNOWN ? TL_EXIT_PARTIAL
                                        : TL_EXIT_DONE;
}

/* All procs: opens proc 0's output before the analysis of traces, which may take long, so that errors show early. */
static tl_status open_output(const tl_cli *cli, tl_outfile *file, tl_error *err)
{
    tl_status st = TL_OK;
    const char *output = cli->run.output == NULL && cli->command->bit == TL_FOR_HTML ? "diff.html" : cli->run.output;
    if (tl_par_proc() == 0 && output != NULL)
        st = tl_check_input_kept(output, cli->words[1], err);
    if (tl_par_proc() == 0 && st == TL_OK)
        st = tl_outfile_open(file, cli->words[0], output, cli->run.force, err);
    return tl_par_agree(st, err);
}

int tl_diff_command(const tl_cli *cli)
{
    tl_error err;
    tl_outfile file = { .part = TL_PART_FILE_INIT };
    const char *path[2];
    tl_passing results = { .folder = "" };
    const tl_schema *named;
    bool partial = false;
    int code = TL_EXIT_DONE;

    if (find_table(cli, &named, &err) != TL_OK)
        return tl_cli_complain(cli, &err);
    bool analysed = !tl_is_result(cli->words[0]) || !tl_is_result(cli->words[1]);
    if (open_output(cli, &file, &err) != TL_OK || (analysed && tl_passing_begin(&results, &err) != TL_OK)) {
        code = tl_cli_complain(cli, &err);
        (void)tl_outfile_close(&file, TL_EOUTPUT, &err);
        return code;
    }
    for (int i = 0; i < 2; i++) {
        tl_cli own = *cli;
        own.run.run = cli->diff_run[i];
        path[i] = cli->words[i];
        if (tl_is_result(cli->words[i]))
            continue;
        code = code <= TL_EXIT_PARTIAL ? tl_passing_add(&results, i, &own, &cli->words[i], 1) : code;
        partial |= code == TL_EXIT_PARTIAL;
        path[i] = results.path[i];
    }
    if (code <= TL_EXIT_PARTIAL && tl_par_proc() == 0)
        code = compare_results(cli, path, named, &file);
    (void)tl_outfile_close(&file, TL_EOUTPUT, &err); /* removed unless printed completely */
    tl_passing_end(&results);
    return code == TL_EXIT_DONE && partial ? TL_EXIT_PARTIAL : code;
}
