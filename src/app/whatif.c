/* whatif.c - tlmpi whatif: the changes, and the traces to which the changes are applied: traces on the command line, or
 * the traces of a result file. */
#include "cli.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/job/run.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/store/load.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tl_status read_changes(const tl_cli *cli, tl_whatif_changes *changes, tl_error *err)
{
    tl_status st = TL_OK;
    for (size_t i = 0; i < cli->scale.n && st == TL_OK; i++)
        st = tl_whatif_change_read(TL_WHATIF_SCALE, cli->scale.v[i], changes, err);
    for (size_t i = 0; i < cli->overlap.n && st == TL_OK; i++)
        st = tl_whatif_change_read(TL_WHATIF_OVERLAP, cli->overlap.v[i], changes, err);
    if (st == TL_OK && cli->remove_sync)
        st = tl_whatif_change_read(TL_WHATIF_REMOVE_SYNC, "--remove-sync", changes, err);
    if (st == TL_OK && cli->no_launch_overhead)
        st = tl_whatif_change_read(TL_WHATIF_NO_LAUNCH_OVERHEAD, "--no-launch-overhead", changes, err);
    if (st == TL_OK && changes->n == 0 && cli->whatif_top == 0)
        st = tl_fail(err, TL_EUSAGE,
                     "what would be otherwise? name a change (--scale, --overlap, --remove-sync, "
                     "--no-launch-overhead), or --top N");
    return st;
}

/* Proc 0: reads the attributes of a result that record its paths and options, each terminated by 0, and its rows of
 * table rank. */
static tl_status read_origin(const char *path, tl_bytes *origin, tl_table *ranks, tl_error *err)
{
    static const char *const attributes[] = { "inputs", "settings" };
    tl_tables tables = { .v = ranks, .n = 1 };
    tl_result *result;
    tl_status st = tl_result_open(path, &result, err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; st == TL_OK && i < 2; i++) {
        char *text = NULL;
        st = tl_result_attr_text(result, attributes[i], &text, err);
        if (st == TL_OK && text == NULL)
            st = tl_fail(
                err, TL_EUSAGE,
                "%s does not say which traces it was made of (--reproducible, or an older tlmpi wrote it): name "
                "the traces instead",
                path);
        if (text != NULL)
            tl_bytes_put(origin, text, strlen(text) + 1);
        free(text);
    }
    if (st == TL_OK)
        st = tl_result_load(result, &tables, 1, err);
    tl_result_close(result);
    return st;
}

/* All procs: sets the paths and options of the result in *cli, which borrows them from *origin; on proc 0 also what the
 * traces held, in *made_of. */
static tl_status take_origin(tl_cli *cli, tl_texts *paths, tl_bytes *origin, tl_whatif_origin *made_of, tl_error *err)
{
    const char *result = cli->words[0];
    made_of->selects = cli->run.ranks.n + cli->run.steps.n + cli->run.times.n > 0;
    tl_status st = cli->nwords == 1 ? TL_OK : tl_fail(err, TL_EUSAGE, "%s: one result file, or traces", result);
    if (st == TL_OK && tl_par_proc() == 0)
        st = read_origin(result, origin, &made_of->ranks, err);
    st = tl_par_agree(st, err);
    if (st != TL_OK)
        return st;
    tl_par_share((void **)&origin->v, &origin->n, 1);
    char *settings = origin->v + strlen(origin->v) + 1, *rest;
    for (char *path = strtok_r(origin->v, "\n", &rest); path != NULL; path = strtok_r(NULL, "\n", &rest)) {
        if (access(path, F_OK) != 0)
            return tl_fail(err, TL_EINPUT, "%s was made of %s: %s; name its traces where they are now", result, path,
                           strerror(errno));
        tl_vec_push(paths, path);
    }
    cli->run.paths = paths->v;
    cli->run.npaths = paths->n;
    return tl_options_restore(cli, TL_FOR_WHATIF, settings, err);
}

static void drop_restored(tl_ranges *now, const tl_ranges *given)
{
    if (now->v != given->v)
        free(now->v);
}

int tl_whatif_command(const tl_cli *cli)
{
    tl_cli own = *cli;
    tl_whatif_study study = { .top = cli->whatif_top };
    tl_printer print = tl_cli_printer(cli, stdout);
    tl_error err;
    tl_texts paths = { 0 };
    tl_bytes origin = { 0 };
    tl_whatif_origin made_of = { .result = cli->words[0], .ranks = { .schema = &tl_rank_schema } };
    const bool of_result = tl_is_result(cli->words[0]);

    print.signed_times = true;
    print.format = cli->run.json ? TL_FORMAT_JSON : print.format;
    print.unit = cli->run.json ? TL_UNIT_NS : print.unit;
    own.run.json = false;
    tl_status st = read_changes(cli, &study.changes, &err);
    if (st == TL_OK && of_result)
        st = take_origin(&own, &paths, &origin, &made_of, &err);
    const tl_whatif_origin *compared = of_result && cli->run.run == 0 ? &made_of : NULL; /* of this run */
    int code = st == TL_OK          ? tl_whatif(&own.run, compared, &study, &print)
               : tl_par_proc() == 0 ? tl_cli_complain(cli, &err)
                                    : tl_exit_of_status(st);
    tl_whatif_free(&study);
    drop_restored(&own.run.ranks, &cli->run.ranks);
    drop_restored(&own.run.steps, &cli->run.steps);
    drop_restored(&own.run.times, &cli->run.times);
    tl_table_free(&made_of.ranks);
    free(paths.v);
    free(origin.v);
    return code;
}
