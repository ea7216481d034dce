/* compat_tracelens.c - tlmpi compat tracelens: every proc does its share of the ranks, proc 0 what needs them all. */
#include "compat_cmd.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/tracelens/tracelens.h"
#include "tlmpi/job/run.h"
#include "tlmpi/par/par.h"

#include <stdlib.h>
#include <string.h>

/* One trace to read. */
typedef struct trace_file {
    const char *path;
    int64_t rank;
    uint64_t bytes;
    int32_t proc; /* who reads it */
} trace_file;

typedef TL_VEC(trace_file) trace_files;

/* ---------------------------------------------------------------------------------------------------------- proc 0 */

static int by_rank(const void *a, const void *b)
{
    const trace_file *x = a, *y = b;
    return x->rank != y->rank ? TL_COMPARE(x->rank, y->rank) : strcmp(x->path, y->path);
}

/* The rank that every file's name tells; failing that, every file's text; failing that, its place in path order.  A
 * single trace is rank 0.  What distributedInfo says counts for TraceLens in no case: it wants a list, or names. */
static void number_files(trace_files *files, tl_inventory *inventory)
{
    bool by_name = files->n > 1, by_text = files->n > 1;
    size_t i = 0;

    for (size_t k = 0; k < inventory->inputs.n; k++)
        if (inventory->inputs.v[k].kind == TL_INPUT_TRACE)
            by_name = by_name && inventory->inputs.v[k].name_rank >= 0;
    for (size_t k = 0; k < inventory->inputs.n && !by_name && by_text; k++) {
        tl_input *input = &inventory->inputs.v[k];
        if (input->kind != TL_INPUT_TRACE)
            continue;
        if (input->meta_rank < 0)
            tl_input_look(input, true);
        by_text = input->meta_rank >= 0;
    }
    for (size_t k = 0; k < inventory->inputs.n; k++) {
        const tl_input *input = &inventory->inputs.v[k];
        if (input->kind != TL_INPUT_TRACE || i == files->n)
            continue;
        files->v[i].rank = by_name ? input->name_rank : by_text ? input->meta_rank : (int64_t)i;
        i++;
    }
}

/* Sorts the files by rank and keeps the first file of each. */
static void drop_duplicates(trace_files *files, size_t *left_out)
{
    size_t n = 0;

    qsort(files->v, files->n, sizeof *files->v, by_rank);
    for (size_t i = 0; i < files->n; i++) {
        if (n > 0 && files->v[i].rank == files->v[n - 1].rank) {
            tl_warn("rank %lld: %s: left out, %s is of this rank, too", (long long)files->v[i].rank, files->v[i].path,
                    files->v[n - 1].path);
            ++*left_out;
        } else {
            files->v[n++] = files->v[i];
        }
    }
    files->n = n;
    if (n > 0 && files->v[n - 1].rank != (int64_t)n - 1)
        tl_warn("the ranks found are not 0 to %zu: TraceLens would stop here", n - 1);
}

static int largest_first(const void *context, uint32_t a, uint32_t b)
{
    const trace_file *files = context;
    return TL_COMPARE(files[b].bytes, files[a].bytes);
}

/* Deals the files out, the largest first, each to the proc with the fewest bytes up to then. */
static void deal(trace_files *files)
{
    size_t nprocs = (size_t)tl_par_nprocs();
    uint32_t *order = tl_sorted_index(files->n, largest_first, files->v);
    uint64_t *load = tl_calloc(nprocs, sizeof *load);

    for (size_t i = 0; i < files->n; i++) {
        trace_file *file = &files->v[order[i]];
        size_t least = 0;
        for (size_t p = 1; p < nprocs; p++)
            least = load[p] < load[least] ? p : least;
        load[least] += file->bytes;
        file->proc = (int32_t)least;
    }
    free(order);
    free(load);
}

/* The traces that the command line names, ready to be dealt with. */
static tl_status list_files(const tl_cli *cli, tl_inventory *inventory, trace_files *files, size_t *left_out,
                            tl_error *err)
{
    tl_status st = tl_compat_check_folder(cli->run.output, cli->run.force, err);
    if (st == TL_OK)
        st = tl_compat_find_files(cli, inventory, left_out, err);
    for (size_t i = 0; st == TL_OK && i < inventory->inputs.n; i++) {
        const tl_input *input = &inventory->inputs.v[i];
        if (input->kind != TL_INPUT_TRACE)
            continue;
        tl_vec_push(files, (trace_file){ .path = input->path, .bytes = input->bytes });
    }
    if (st != TL_OK)
        return st;
    if (files->n == 0)
        return tl_fail(err, TL_EINPUT, "no trace in %s%s", cli->words[1],
                       cli->nwords > 2 ? " and the other paths" : "");
    tl_tracelens_clear(cli->run.output);
    number_files(files, inventory);
    drop_duplicates(files, left_out);
    deal(files);
    return TL_OK;
}

/* ------------------------------------------------------------------------------------------------------- all procs */

/* Collective: proc 0's list to all.  The paths are those of *text then. */
static void share_files(trace_files *files, tl_bytes *text)
{
    for (size_t i = 0; tl_par_proc() == 0 && i < files->n; i++) {
        tl_bytes_put(text, &files->v[i], sizeof files->v[i]);
        tl_bytes_put(text, files->v[i].path, strlen(files->v[i].path) + 1);
    }
    tl_par_share((void **)&text->v, &text->n, 1);
    files->n = 0;
    for (size_t at = 0; at < text->n;) {
        trace_file file;
        memcpy(&file, text->v + at, sizeof file);
        file.path = text->v + at + sizeof file;
        at += sizeof file + strlen(file.path) + 1;
        tl_vec_push(files, file);
    }
}

/* This proc's share of the files: their own tables, and what they have to say to the others. */
static tl_status do_share(const trace_files *files, const char *folder, tl_bytes *share, tl_error *err)
{
    size_t size = strlen(folder) + 32;
    char *dir = tl_malloc(size);
    tl_status st = TL_OK;

    for (size_t i = 0; st == TL_OK && i < files->n; i++) {
        const trace_file *file = &files->v[i];
        if (file->proc != tl_par_proc())
            continue;
        if (files->n == 1)
            snprintf(dir, size, "%s", folder);
        else
            snprintf(dir, size, "%s/rank%lld", folder, (long long)file->rank);
        st = tl_tracelens_rank(file->path, file->rank, dir, share, err);
    }
    free(dir);
    return st;
}

static tl_status write_tables(const tl_cli *cli, bool *incomplete, tl_error *err)
{
    tl_inventory inventory = { .nruns = 0 };
    trace_files files = { 0 };
    tl_bytes text = { 0 }, share = { 0 }, all = { 0 };
    size_t left_out = 0;
    void *gathered = NULL;
    bool first = tl_par_proc() == 0;

    tl_status st = first ? list_files(cli, &inventory, &files, &left_out, err) : TL_OK;
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        share_files(&files, &text);
    if (st == TL_OK)
        st = tl_par_agree(do_share(&files, cli->run.output, &share, err), err);
    if (st == TL_OK)
        tl_par_gather(share.v, share.n, &gathered, &all.n, NULL);
    all.v = gathered;
    if (st == TL_OK && first)
        st = tl_tracelens_ranks(&all, cli->gpus_per_node, cli->run.output, incomplete, err);
    st = tl_par_agree(st, err);
    *incomplete = *incomplete || left_out > 0;
    free(gathered);
    free(share.v);
    free(files.v);
    free(text.v);
    tl_inventory_free(&inventory);
    return st;
}

int tl_compat_tracelens(const tl_cli *cli)
{
    tl_error err = { .status = TL_OK };
    bool incomplete = false;

    if (write_tables(cli, &incomplete, &err) != TL_OK)
        return tl_par_proc() == 0 ? tl_cli_complain(cli, &err) : tl_exit_of_status(err.status);
    tl_compat_point_to_notes(cli, incomplete);
    return incomplete ? TL_EXIT_PARTIAL : TL_EXIT_DONE;
}
