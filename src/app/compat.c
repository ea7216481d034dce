/* compat.c - tlmpi compat: the tables of another tool, for the files of one job.
 *
 *     hta          needs all ranks at once: proc 0 makes its tables
 *     tracelens    every proc does its share of the ranks; proc 0 makes the tables over all ranks
 */
#include "cli.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/hta/hta.h"
#include "tlmpi/compat/tracelens/tracelens.h"
#include "tlmpi/job/run.h"
#include "tlmpi/par/par.h"
#include "tlmpi/trace/find.h"
#include "tlmpi/trace/read/execution.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LIST = -1 };

static bool is_hta(const tl_cli *cli)
{
    return strcmp(cli->words[0], "hta") == 0;
}

/* Returns whether the words are "hta diff"; a path named diff is written ./diff. */
static bool is_diff(const tl_cli *cli)
{
    return cli->nwords > 1 && is_hta(cli) && strcmp(cli->words[1], "diff") == 0;
}

static tl_status check_words(const tl_cli *cli, tl_error *err)
{
    static const char *const tools[] = { "hta", "tracelens" };
    if (cli->nwords == 0)
        return tl_fail(err, TL_EUSAGE, "no tool named: tlmpi compat hta|tracelens PATH... -o DIR");
    if (!is_hta(cli) && strcmp(cli->words[0], tools[1]) != 0)
        return tl_fail_unknown(err, "tool", cli->words[0], "compat", tools, sizeof *tools, 2);
    if (cli->nwords == 1)
        return tl_fail(err, TL_EUSAGE, "no trace given: tlmpi compat %s PATH... -o DIR", cli->words[0]);
    if (is_diff(cli) && cli->nwords != 4)
        return tl_fail(err, TL_EUSAGE, "%zu jobs to compare, not two: tlmpi compat hta diff A B -o DIR",
                       cli->nwords - 2);
    if (cli->hta.instance_id.n > 0 && (cli->hta.annotation == NULL || strcmp(cli->hta.annotation, "*") == 0))
        return tl_fail(err, TL_EUSAGE, "--instance-id numbers what --annotation=TEXT names: name it");
    if (cli->run.output == NULL && cli->compat_run != LIST)
        return tl_fail(err, TL_EUSAGE, "no folder for the tables named: tlmpi compat %s PATH... -o DIR", cli->words[0]);
    if (cli->run.output != NULL && strcmp(cli->run.output, "-") == 0)
        return tl_fail(err, TL_EUSAGE, "-o -: expected DIR, a folder for the tables; they are several files");
    return tl_options_check_face(cli,
                                 is_diff(cli)  ? TL_FOR_HTA_DIFF
                                 : is_hta(cli) ? TL_FOR_HTA
                                               : TL_FOR_TRACELENS,
                                 err);
}

/* Refuses an output folder that holds tables already, of another job or an older result, unless `force`; and one in
 * which a table could overwrite a trace, also in its rank folders (below: in one of them). */
static tl_status check_folder(const tl_inventory *inventory, const char *folder, bool force, bool below, tl_error *err)
{
    static const char *const csv[] = { ".csv", NULL }, *const parts[] = { ".csv.part", "notes.txt.part", NULL };
    tl_status st = TL_OK;
    struct stat there;
    DIR *open = opendir(folder);
    if (open == NULL)
        return TL_OK;
    for (const struct dirent *entry; st == TL_OK && (entry = readdir(open)) != NULL;) {
        const char *name = entry->d_name;
        const bool table = tl_name_has_ending(name, csv) || strcmp(name, "notes.txt") == 0;
        char path[4096];
        if (table && !force && !below)
            st = tl_fail(err, TL_EOUTPUT, "%s holds tables already (%s); -f overwrites them", folder, name);
        if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || stat(path, &there) != 0)
            continue;
        if (S_ISDIR(there.st_mode) && !below && strncmp(name, "rank", 4) == 0)
            st = check_folder(inventory, path, force, true, err);
        for (size_t i = 0; st == TL_OK && (table || tl_name_has_ending(name, parts)) && i < inventory->inputs.n; i++) {
            const tl_input *in = &inventory->inputs.v[i];
            if (in->inode == (uint64_t)there.st_ino && in->device == (uint64_t)there.st_dev && in->inode != 0)
                st = tl_fail(err, TL_EUSAGE, "%s might be written over, and is read: choose another folder with -o",
                             path);
        }
    }
    closedir(open);
    return st;
}

/* Returns whether the input is an execution trace named for HTA, which links its nodes to the rows of a trace. */
static bool is_execution_trace(const tl_cli *cli, const tl_input *input)
{
    return is_hta(cli) && (input->kind == TL_INPUT_EXECUTION || input->kind == TL_INPUT_OTHER) && input->named &&
           !input->no_file && tl_exec_is(input->path);
}

/* Finds the traces in the words after the tool's name, in path order; *left_out counts unreadable traces.  Inputs of
 * other kinds stay in the inventory. */
static tl_status find_files(const tl_cli *cli, tl_inventory *inventory, size_t *left_out, tl_error *err)
{
    for (size_t i = 1; i < cli->nwords; i++)
        tl_inventory_add(inventory, cli->words[i]);
    tl_inventory_sort(inventory);
    tl_status st = check_folder(inventory, cli->run.output, cli->run.force, false, err);
    if (st != TL_OK || cli->nwords == 1)
        return st;
    TL_EACH (tl_input, input, inventory->inputs) {
        if (!input->no_file)
            tl_input_look(input, cli->compat_run != TL_ALL_RUNS); /* the begin of a trace may be recorded at its end */
        if (input->pipe)
            return tl_fail(err, TL_EINPUT, "%s: expected a file, which is read twice, found a pipe", input->path);
        if (input->kind == TL_INPUT_TRACE || is_execution_trace(cli, input))
            continue;
        tl_input_warn(input, "", "");
        *left_out += input->kind == TL_INPUT_UNREADABLE || input->named;
    }
    size_t looked_at = inventory->inputs.n;
    tl_inventory_close(inventory);
    for (size_t i = looked_at; i < inventory->inputs.n; i++, ++*left_out)
        tl_input_warn(&inventory->inputs.v[i], "", "");
    if (cli->compat_run == TL_ALL_RUNS)
        return TL_OK;
    st = tl_inventory_decide(inventory, cli->compat_run, err);
    *left_out += st == TL_OK ? tl_tell_lost(inventory) : 0;
    TL_EACH (tl_input, input, inventory->inputs)
        if (st == TL_OK && input->run != inventory->run && input->kind == TL_INPUT_TRACE)
            input->kind = TL_INPUT_OTHER;
    return st;
}

static tl_status fail_no_trace(const tl_cli *cli, tl_error *err)
{
    return tl_fail(err, TL_EINPUT, "no trace in %s%s", cli->words[1], cli->nwords > 2 ? " and the other paths" : "");
}

/* ------------------------------------------------------------------------------------------------------------- hta */

/* Finds the memory timeline, and removes it from the words. */
static tl_status take_memory_timeline(tl_cli *cli, const char **timeline, tl_error *err)
{
    static const char *const ends[] = { ".raw.gz", ".raw.json.gz", NULL }; /* endings of the profiler's names */
    size_t n = 1;

    *timeline = NULL;
    for (size_t i = 1; i < cli->nwords; i++)
        if (!tl_name_has_ending(cli->words[i], ends))
            cli->words[n++] = cli->words[i];
        else if (*timeline == NULL)
            *timeline = cli->words[i];
        else
            return tl_fail(err, TL_EUSAGE, "%s and %s: the tables of a memory timeline are those of one", *timeline,
                           cli->words[i]);
    cli->nwords = n;
    return TL_OK;
}

/* The files of a job for HTA; the inventory owns the paths. */
typedef struct hta_job {
    tl_inventory inventory;
    tl_hta_file *files;
    tl_hta_options options;
    size_t left_out;
} hta_job;

/* Finds the files of a job for HTA in the words after the tool's name. */
static tl_status find_hta_job(tl_cli *cli, hta_job *job, tl_error *err)
{
    const char *execution_trace = NULL;
    size_t nfiles = 0;

    tl_status st = find_files(cli, &job->inventory, &job->left_out, err);
    if (st != TL_OK)
        return st;
    tl_hta_file *files = job->files = tl_calloc(job->inventory.inputs.n + 1, sizeof *files);
    TL_EACH (const tl_input, input, job->inventory.inputs) {
        if (is_execution_trace(cli, input)) {
            job->left_out += execution_trace != NULL;
            if (execution_trace != NULL)
                tl_warn("%s: left out, %s is an execution trace, too", execution_trace, input->path);
            execution_trace = input->path;
        }
        if (input->kind != TL_INPUT_TRACE)
            continue;
        tl_error why;
        tl_hta_file file = { .path = input->path };
        if (tl_hta_rank_of_file(input->path, &file.rank, &why) == TL_OK) {
            files[nfiles++] = file;
        } else {
            tl_warn("%s", why.text);
            job->left_out++;
        }
    }
    job->options = (tl_hta_options){ .files = files,
                                     .nfiles = nfiles,
                                     .execution_trace = execution_trace,
                                     .out_dir = cli->run.output,
                                     .ns = cli->ns,
                                     .include_last_step = cli->include_last_step };
    return nfiles == 0 && cli->nwords > 1 ? fail_no_trace(cli, err) : TL_OK;
}

/* Writes the tables of one job, or of two compared. */
static tl_status write_hta(const tl_cli *cli, bool *incomplete, tl_error *err)
{
    const bool diff = is_diff(cli);
    hta_job jobs[2] = { { .left_out = 0 }, { .left_out = 0 } };
    const char *timeline = NULL;
    tl_status st = TL_OK;

    for (size_t side = 0; side <= diff && st == TL_OK; side++) {
        tl_cli mine = *cli;
        const char *words[] = { cli->words[0], diff ? cli->words[2 + side] : NULL };
        if (diff) {
            mine.words = words;
            mine.nwords = 2;
        } else {
            st = take_memory_timeline(&mine, &timeline, err);
        }
        if (st == TL_OK)
            st = find_hta_job(&mine, &jobs[side], err);
        jobs[side].options.parameters = &cli->hta;
        jobs[side].options.memory_timeline = timeline;
    }
    if (st == TL_OK)
        st = diff ? tl_compat_hta_diff(&jobs[0].options, &jobs[1].options, incomplete, err)
                  : tl_compat_hta(&jobs[0].options, incomplete, err);
    for (size_t side = 0; side < 2; side++) {
        *incomplete = *incomplete || jobs[side].left_out > 0;
        free(jobs[side].files);
        tl_inventory_free(&jobs[side].inventory);
    }
    return st;
}

/* ------------------------------------------------------------------------------------------------------- tracelens */

/* A trace to read. */
typedef struct trace_file {
    const char *path;
    tl_input *input; /* on proc 0 only */
    int64_t rank;
    uint64_t bytes;
} trace_file;

typedef TL_VEC(trace_file) trace_files;

static int by_rank(const void *a, const void *b)
{
    const trace_file *x = a, *y = b;
    return x->rank != y->rank ? TL_COMPARE(x->rank, y->rank) : strcmp(x->path, y->path);
}

/* Numbers the files by the rank in every file's name; else by the rank in every file's text; else in path order.  A
 * single trace is rank 0.  distributedInfo does not count, since TraceLens takes a list of files, or names. */
static void number_files(trace_files *files)
{
    bool by_name = files->n > 1, by_text = files->n > 1;

    for (size_t i = 0; i < files->n; i++)
        by_name = by_name && files->v[i].input->name_rank >= 0;
    for (size_t i = 0; i < files->n && !by_name && by_text; i++) {
        tl_input *input = files->v[i].input;
        if (input->meta_rank < 0)
            tl_input_look(input, true);
        by_text = input->meta_rank >= 0;
    }
    for (size_t i = 0; i < files->n; i++) {
        const tl_input *input = files->v[i].input;
        files->v[i].rank = by_name ? input->name_rank : by_text ? input->meta_rank : (int64_t)i;
    }
}

/* Sorts the files by rank and keeps the first file of each. */
static void drop_duplicates(trace_files *files, size_t *left_out)
{
    size_t n = 0;

    tl_vec_sort(files, by_rank);
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

/* Collective: sends proc 0's list to all procs; the paths point into *text. */
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

/* Writes the tables of this proc's files, and collects the data for the tables over all ranks. */
static tl_status do_share(const trace_files *files, const char *folder, tl_bytes *share, tl_error *err)
{
    size_t size = strlen(folder) + 32;
    char *dir = tl_malloc(size);
    uint64_t *bytes = tl_calloc(files->n, sizeof *bytes);
    tl_status st = TL_OK;

    for (size_t i = 0; i < files->n; i++)
        bytes[i] = files->v[i].bytes;
    int32_t *proc = tl_deal_by_size(bytes, files->n, tl_par_nprocs());
    for (size_t i = 0; st == TL_OK && i < files->n; i++) {
        const trace_file *file = &files->v[i];
        if (proc[i] != tl_par_proc())
            continue;
        if (files->n == 1)
            snprintf(dir, size, "%s", folder);
        else
            snprintf(dir, size, "%s/rank%lld", folder, (long long)file->rank);
        st = tl_tracelens_rank(file->path, file->rank, dir, share, err);
    }
    free(dir);
    free(bytes);
    free(proc);
    return st;
}

static tl_status write_tracelens(const tl_cli *cli, bool *incomplete, tl_error *err)
{
    tl_inventory inventory = { .nruns = 0 };
    trace_files files = { 0 };
    tl_bytes text = { 0 }, share = { 0 }, all = { 0 };
    size_t left_out = 0;
    bool first = tl_par_proc() == 0;

    tl_status st = first ? find_files(cli, &inventory, &left_out, err) : TL_OK;
    TL_EACH (tl_input, input, inventory.inputs)
        if (st == TL_OK && input->kind == TL_INPUT_TRACE)
            tl_vec_push(&files, (trace_file){ .path = input->path, .input = input, .bytes = input->bytes });
    if (st == TL_OK && first && files.n == 0)
        st = fail_no_trace(cli, err);
    if (st == TL_OK && first) {
        tl_tracelens_clear(cli->run.output);
        number_files(&files);
        drop_duplicates(&files, &left_out);
    }
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        share_files(&files, &text);
    if (st == TL_OK)
        st = tl_par_agree(do_share(&files, cli->run.output, &share, err), err);
    if (st == TL_OK)
        tl_par_gather(share.v, share.n, &all);
    if (st == TL_OK && first)
        st = tl_tracelens_ranks(&all, cli->gpus_per_node, cli->run.output, incomplete, err);
    st = tl_par_agree(st, err);
    *incomplete = *incomplete || left_out > 0;
    free(all.v);
    free(share.v);
    free(files.v);
    free(text.v);
    tl_inventory_free(&inventory);
    return st;
}

/* ----------------------------------------------------------------------------------------------------- the command */

int tl_compat(const tl_cli *cli)
{
    tl_cli mine = *cli;
    tl_error err = { .status = TL_OK };
    bool incomplete = false;

    if (check_words(cli, &err) != TL_OK) /* checked the same way on every proc */
        return tl_cli_complain(cli, &err);
    if (cli->compat_run == LIST) {
        mine.run.paths = cli->words + 1 + is_diff(cli);
        mine.run.npaths = cli->nwords - 1 - is_diff(cli);
        mine.run.output = NULL;
        mine.run.run = LIST;
        return tl_check(&mine.run);
    }
    if (is_hta(cli) && tl_par_proc() > 0)
        return TL_EXIT_DONE;
    tl_status st = is_hta(cli) ? write_hta(cli, &incomplete, &err) : write_tracelens(cli, &incomplete, &err);
    if (st != TL_OK)
        return tl_cli_complain(cli, &err);

    char path[4096];
    struct stat notes = { .st_size = 0 };
    if (snprintf(path, sizeof path, "%s/notes.txt", cli->run.output) < (int)sizeof path && stat(path, &notes) != 0)
        notes.st_size = 0;
    if (incomplete || notes.st_size > 0)
        tl_warn("%s/notes.txt says what the tables lack", cli->run.output);
    return incomplete ? TL_EXIT_PARTIAL : TL_EXIT_DONE;
}
