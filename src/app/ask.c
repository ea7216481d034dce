/* ask.c - the four questions, asked of a result file. */
#include "cli.h"
#include "outfile.h"
#include "tlmpi/job/run.h"
#include "tlmpi/report/ask.h"
#include "tlmpi/store/load.h"

static tl_status load(const char *path, tl_tables *tables, tl_error *err)
{
    tl_result *result = NULL;
    size_t n = 0, required;
    const tl_schema *const *schemas = tl_answer_tables(&required);

    while (schemas[n] != NULL)
        n++;
    tl_status st = tl_result_open(path, &result, err);
    if (st != TL_OK)
        return st;
    st = tl_tables_init(tables, schemas, n) ? TL_OK : tl_fail_memory(err, "the tables");
    if (st == TL_OK) {
        tl_error why;
        st = tl_result_load(result, tables, required, &why);
        if (st != TL_OK)
            tl_fail(err, st, "%s: %s", path, why.text);
    }
    tl_result_close(result);
    return st;
}

static tl_status answer(const tl_cli *cli, bool *too_much, tl_error *err)
{
    const char *path = cli->words[0];
    tl_tables tables = { 0 };
    tl_answers answers = { 0 };
    tl_outfile file = { .out = NULL };
    tl_status st = load(path, &tables, err);

    if (st == TL_OK) {
        tl_answers_read(&tables, &answers);
        st = tl_outfile_open(&file, path, cli->run.output, cli->run.force, err);
    }
    if (st == TL_OK) {
        if (cli->run.json)
            tl_print_answers_json(file.out, &answers, path);
        else
            tl_print_answers(file.out, &answers, path, 0);
        st = tl_outfile_close(&file, st, err);
    }
    if (st == TL_OK)
        *too_much = tl_gates_judge(&cli->run.fail_on, &answers, stderr);
    tl_tables_free(&tables);
    return st;
}

int tl_ask(const tl_cli *cli)
{
    tl_error err;
    bool too_much = false;

    if (cli->nwords != 1) {
        tl_fail(&err, TL_EUSAGE, "%s: tlmpi ask FILE.h5",
                cli->nwords == 0 ? "no result file named" : "one file at a time");
        return tl_cli_complain(cli, &err);
    }
    if (answer(cli, &too_much, &err) != TL_OK)
        return tl_cli_complain(cli, &err);
    return too_much ? TL_EXIT_FAIL_ON : TL_EXIT_DONE;
}
