/* compat_cmd.c - tlmpi compat: the tables of another tool, for the files of one job. */
#include "compat_cmd.h"
#include "suggest.h"
#include "tlmpi/base/log.h"
#include "tlmpi/compat/hta.h"
#include "tlmpi/job/run.h"
#include "tlmpi/par/par.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char *const faces[] = { "hta", "tracelens" };

enum { HTA, NFACES = sizeof faces / sizeof faces[0] };

/* `hta diff` stands for what is to come: it names no path today.  A path of that name is written ./diff. */
static tl_status check_words(const tl_cli *cli, tl_error *err)
{
    if (cli->nwords == 0)
        return tl_fail(err, TL_EUSAGE, "no tool named: tlmpi compat hta|tracelens PATH... -o DIR");
    if (strcmp(cli->words[0], "hta") == 0 && cli->nwords > 1 && strcmp(cli->words[1], "diff") == 0)
        return tl_fail(err, TL_EUSAGE, "this version has no compat hta diff yet; it has: tlmpi compat hta PATH... -o DIR");
    if (cli->run.output != NULL && strcmp(cli->run.output, "-") == 0)
        return tl_fail(err, TL_EUSAGE, "-o -: expected DIR, a folder for the tables; they are several files");
    for (size_t i = 0; i < NFACES; i++)
        if (strcmp(cli->words[0], faces[i]) == 0) {
            if (cli->nwords == 1)
                return tl_fail(err, TL_EUSAGE, "no traces named: tlmpi compat %s PATH... -o DIR", faces[i]);
            if (cli->run.output == NULL)
                return tl_fail(err, TL_EUSAGE, "no folder for the tables named: tlmpi compat %s PATH... -o DIR",
                               faces[i]);
            if (i != HTA && (cli->ns || cli->include_last_step))
                return tl_fail(err, TL_EUSAGE, "--ns and --include-last-step are for tlmpi compat hta alone");
            if (i == HTA && cli->gpus_per_node > 0)
                return tl_fail(err, TL_EUSAGE, "--gpus-per-node is for tlmpi compat tracelens alone");
            return TL_OK;
        }
    return tl_fail_unknown(err, "tool", cli->words[0], "compat", faces, NFACES);
}

tl_status tl_compat_check_folder(const char *path, bool force, tl_error *err)
{
    tl_status st = TL_OK;
    DIR *folder = force ? NULL : opendir(path);
    if (folder == NULL)
        return TL_OK;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL && st == TL_OK;) {
        size_t n = strlen(entry->d_name);
        if ((n > 4 && strcmp(entry->d_name + n - 4, ".csv") == 0) || strcmp(entry->d_name, "notes.txt") == 0)
            st = tl_fail(err, TL_EOUTPUT, "%s holds tables already (%s); -f overwrites them", path, entry->d_name);
    }
    closedir(folder);
    return st;
}

tl_status tl_compat_find_files(const tl_cli *cli, tl_inventory *inventory, size_t *left_out, tl_error *err)
{
    tl_status st = TL_OK;
    for (size_t i = 1; i < cli->nwords && st == TL_OK; i++)
        st = tl_inventory_add(inventory, cli->words[i], err);
    if (st != TL_OK)
        return st;
    tl_inventory_sort(inventory);
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        tl_input *input = &inventory->inputs.v[i];
        if (!input->no_file)
            tl_input_look(input, false);
        if (input->pipe)
            return tl_fail(err, TL_EINPUT, "%s: expected a file, which is read twice, found a pipe", input->path);
        if (input->kind == TL_INPUT_TRACE)
            continue;
        tl_warn("%s", input->why);
        *left_out += input->kind == TL_INPUT_UNREADABLE || input->named;
    }
    size_t looked_at = inventory->inputs.n;
    st = tl_inventory_close(inventory, err);
    for (size_t i = looked_at; i < inventory->inputs.n; i++, ++*left_out)
        tl_warn("%s", inventory->inputs.v[i].why);
    return st;
}

static tl_status write_hta(const tl_cli *cli, bool *incomplete, tl_error *err)
{
    tl_inventory inventory = { .nruns = 0 };
    tl_hta_file *files = NULL;
    size_t nfiles = 0, left_out = 0;

    tl_status st = tl_compat_check_folder(cli->run.output, cli->run.force, err);
    if (st == TL_OK)
        st = tl_compat_find_files(cli, &inventory, &left_out, err);
    if (st != TL_OK)
        goto done;

    files = tl_calloc(inventory.inputs.n + 1, sizeof *files);
    if (files == NULL) {
        st = tl_fail_memory(err, "files of a job");
        goto done;
    }
    for (size_t i = 0; i < inventory.inputs.n; i++) {
        const tl_input *input = &inventory.inputs.v[i];
        if (input->kind != TL_INPUT_TRACE)
            continue;
        tl_error why;
        tl_hta_file file = { .path = input->path };
        if (tl_hta_rank_of_file(input->path, &file.rank, &why) == TL_OK) {
            files[nfiles++] = file;
        } else {
            tl_warn("%s", why.text);
            left_out++;
        }
    }
    if (nfiles == 0) {
        st = tl_fail(err, TL_EINPUT, "no trace in %s%s", cli->words[1], cli->nwords > 2 ? " and the other paths" : "");
        goto done;
    }

    tl_hta_options options = { .files = files,
                               .nfiles = nfiles,
                               .out_dir = cli->run.output,
                               .ns = cli->ns,
                               .include_last_step = cli->include_last_step };
    st = tl_compat_hta(&options, incomplete, err);
    *incomplete = *incomplete || left_out > 0;

done:
    free(files);
    tl_inventory_free(&inventory);
    return st;
}

/* HTA's tables need all ranks at once: proc 0 makes them. */
static int hta(const tl_cli *cli)
{
    tl_error err;
    bool incomplete = false;
    if (tl_par_proc() != 0)
        return TL_EXIT_DONE;
    if (write_hta(cli, &incomplete, &err) != TL_OK)
        return tl_cli_complain(cli, &err);
    return incomplete ? TL_EXIT_PARTIAL : TL_EXIT_DONE;
}

int tl_compat(const tl_cli *cli)
{
    tl_error err;
    if (check_words(cli, &err) != TL_OK) /* the same on every proc */
        return tl_par_proc() == 0 ? tl_cli_complain(cli, &err) : TL_EXIT_USAGE;
    return strcmp(cli->words[0], faces[HTA]) == 0 ? hta(cli) : tl_compat_tracelens(cli);
}
