/* diff.c - tlmpi diff A B, tlmpi html A B: compares two runs, each a result file, or traces, which are analysed first.
 */
#include "origin.h"
#include "tlmpi/analysis/diff.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/diff.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/report/format/words.h"
#include "tlmpi/report/html.h"
#include "tlmpi/store/load.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS_SHOWN = 10, TEXT_SHOWN = 48 };

/* -------------------------------------------------------------------------------------------------------- comparison
 */

typedef struct compared {
    const char *shown[2], *path[2]; /* the words on the command line; the paths of the results */
    tl_result *result[2];
    tl_tables tables[2];
    char *selection[2], *run[2]; /* attributes of the results */
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

static tl_text name_of(void *result, uint32_t id)
{
    return tl_result_name(result, id);
}

static tl_status load(compared *c, int side, tl_error *err)
{
    size_t n;
    const tl_schema *const *schemas = tl_diff_reads(&n);
    tl_error why;
    tl_tables_init(&c->tables[side], schemas, n);
    tl_status st = tl_result_open(c->path[side], &c->result[side], err);
    if (st != TL_OK)
        return st;
    st = tl_result_load(c->result[side], &c->tables[side], n, &why);
    if (st == TL_OK)
        st = tl_result_attr_text(c->result[side], "selection", &c->selection[side], &why);
    if (st == TL_OK)
        st = tl_result_attr_text(c->result[side], "run", &c->run[side], &why);
    return st != TL_OK ? tl_fail(err, st, "%s: %s", c->shown[side], why.text) : TL_OK;
}

/* Compares the results; the caller ends *c by compared_free in any case. */
static tl_status compare(compared *c, tl_error *err)
{
    tl_diff_input input = { .side = { { 0 } } };
    tl_status st = TL_OK;
    for (int i = 0; st == TL_OK && i < 2; i++)
        st = load(c, i, err);
    if (st != TL_OK)
        return st;
    for (int i = 0; i < 2; i++)
        input.side[i] = (tl_diff_side){ .path = c->shown[i],
                                        .tables = &c->tables[i],
                                        .name = name_of,
                                        .name_arg = c->result[i],
                                        .selection = c->selection[i],
                                        .run = c->run[i] };
    c->diff = tl_diff_new(&input);
    for (int i = 0; i < 2; i++)
        if (tl_diff_basis_of(c->diff).ranks[i] == 0)
            return tl_fail(err, TL_EINPUT, "%s: no kernel or copy of a device: %s", c->shown[i],
                           tl_tables_get(&c->tables[i], &tl_rank_schema)->n > 0
                               ? "of a trace the device work is compared, and this one has only the host's"
                               : "only traces are compared, not durations of phases");
    size_t n;
    const tl_schema *const *streams = tl_diff_streams(&n);
    for (size_t k = 0; k < 2 * n; k++) {
        tl_error why;
        taker t = { c->diff, (int)(k / n), streams[k % n] };
        st = tl_result_each(c->result[t.side], t.schema, take, &t, &why);
        if (st != TL_OK)
            return tl_fail(err, st, "%s: %s", c->shown[t.side], why.text);
    }
    tl_diff_compare(c->diff);
    return TL_OK;
}

static void compared_free(compared *c)
{
    tl_diff_free(c->diff);
    for (int i = 0; i < 2; i++) {
        tl_result_close(c->result[i]);
        tl_tables_free(&c->tables[i]);
        free(c->selection[i]);
        free(c->run[i]);
    }
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
static int compare_results(const tl_cli *cli, compared *c, const tl_schema *named, tl_outfile *file)
{
    tl_error err;
    tl_gates_judged judged = TL_GATES_HELD;
    tl_status st = compare(c, &err);
    if (st == TL_OK) {
        tl_diff_words words = words_of(c);
        if (cli->command->bit == TL_FOR_HTML)
            tl_html_write_diff(&words, file->out);
        else
            print(cli, c, named, file->out);
        st = tl_outfile_close(file, TL_OK, &err);
        judged = st == TL_OK ? tl_diff_gates_judge(&cli->diff_fail_on, &words, stderr) : TL_GATES_HELD;
    }
    compared_free(c);
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
    compared c = { .diff = NULL };
    tl_passing results = { .folder = "" };
    const tl_schema *named;
    bool partial = false, first = tl_par_proc() == 0;
    int code = TL_EXIT_DONE;

    if (find_table(cli, &named, &err) != TL_OK)
        return first ? tl_cli_complain(cli, &err) : TL_EXIT_USAGE;
    bool analysed = !tl_is_result(cli->words[0]) || !tl_is_result(cli->words[1]);
    if (open_output(cli, &file, &err) != TL_OK || (analysed && tl_passing_begin(&results, &err) != TL_OK)) {
        code = first ? tl_cli_complain(cli, &err) : TL_EXIT_OUTPUT;
        (void)tl_outfile_close(&file, TL_EOUTPUT, &err);
        return code;
    }
    for (int i = 0; i < 2; i++) {
        tl_cli own = *cli;
        own.run.run = cli->diff_run[i];
        c.shown[i] = c.path[i] = cli->words[i];
        if (tl_is_result(cli->words[i]))
            continue;
        code = code <= TL_EXIT_PARTIAL ? tl_passing_add(&results, i, &own, &cli->words[i], 1) : code;
        partial |= code == TL_EXIT_PARTIAL;
        c.path[i] = results.path[i];
    }
    if (code <= TL_EXIT_PARTIAL && first)
        code = compare_results(cli, &c, named, &file);
    (void)tl_outfile_close(&file, TL_EOUTPUT, &err); /* removed unless printed completely */
    tl_passing_end(&results);
    return code == TL_EXIT_DONE && partial ? TL_EXIT_PARTIAL : code;
}
