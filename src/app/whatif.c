/* whatif.c - tlmpi whatif: the changes, and the traces to which the changes are applied: traces on the command line, or
 * the traces of a result file. */
#include "opened.h"

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

int tl_whatif_command(const tl_cli *cli)
{
    tl_cli own = *cli;
    tl_whatif_study study = { .top = cli->whatif_top };
    tl_printer print = tl_cli_printer(cli, stdout);
    tl_error err;
    tl_made_of made_of = { .text = { 0 } };
    const bool of_result = tl_is_result(cli->words[0]);

    print.signed_times = true;
    print.format = cli->run.json ? TL_FORMAT_JSON : print.format;
    print.unit = cli->run.json ? TL_UNIT_NS : print.unit;
    own.run.json = false;
    tl_status st = read_changes(cli, &study.changes, &err);
    if (st == TL_OK && of_result)
        st = tl_made_of_read(&own, &made_of, &err);
    const tl_whatif_origin *compared = of_result && cli->run.run == 0 ? &made_of.whole : NULL; /* of this run */
    int code = st == TL_OK ? tl_whatif(&own.run, compared, &study, &print) : tl_cli_complain(cli, &err);
    tl_whatif_free(&study);
    tl_made_of_free(&made_of, &own.run, &cli->run);
    return code;
}
