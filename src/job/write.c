/* write.c - the result file: where it goes, and what proc 0 writes into it. */
#include "write.h"
#include "commit.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/find.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)256 << 10)

/* Length of text without one of the endings. */
static size_t without(const char *text, size_t n, const char *const *endings)
{
    for (; *endings != NULL; endings++) {
        size_t m = strlen(*endings);
        if (n > m && memcmp(text + n - m, *endings, m) == 0)
            return n - m;
    }
    return n;
}

char *tl_output_path(const tl_options *options)
{
    static const char *const written[] = { ".h5", NULL }, *const packed[] = { ".gz", ".zst", NULL },
                             *const json[] = { ".json", ".jsonl", NULL }, *const pt[] = { ".pt.trace", NULL };
    const char *prefix = options->output;
    size_t n;

    if (prefix != NULL) {
        n = without(prefix, strlen(prefix), written);
    } else {
        const char *path = options->npaths == 1 && tl_path_is_given(options->paths[0]) ? options->paths[0] : "";
        n = strlen(path);
        while (n > 0 && path[n - 1] == '/')
            n--;
        size_t from = n;
        while (from > 0 && path[from - 1] != '/')
            from--;
        prefix = path + from;
        n = without(prefix, without(prefix, without(prefix, n - from, packed), json), pt);
        if (n == 0 || (prefix[0] == '.' && (n == 1 || (n == 2 && prefix[1] == '.')))) {
            prefix = "tlmpi";
            n = 5;
        }
    }
    char *path = tl_malloc(n + 4);
    memcpy(path, prefix, n);
    memcpy(path + n, ".h5", 4);
    return path;
}

tl_status tl_output_check(const tl_options *options, tl_error *err)
{
    const char *output = options->output;
    if (output == NULL)
        return TL_OK;
    if (strcmp(output, "-") == 0)
        return tl_fail(err, TL_EUSAGE,
                       "-o -: the result is an HDF5 file, which cannot go to standard output; write it with "
                       "-o PREFIX, then print its tables with tlmpi show");
    const char *slash = strrchr(output, '/'), *name = slash != NULL ? slash + 1 : output;
    if (name[0] == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return tl_fail(err, TL_EUSAGE, "-o %s: expected PREFIX, the result's path less .h5", output);
    return TL_OK;
}

tl_status tl_write_begin(tl_store *store, tl_error *err)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    tl_status st = TL_OK;
    for (size_t i = 0; st == TL_OK && i < n; i++)
        st = tl_store_add_table(store, schemas[i], err);
    return st;
}

static tl_status write_table(tl_store *store, const tl_table *table, int64_t epoch_ns, tl_error *err)
{
    size_t size = tl_packed_size(table->schema), most = BLOCK_BYTES / size + 1;
    size_t block = table->n < most ? table->n : most;
    char *packed = tl_malloc(block * size);
    tl_status st = TL_OK;

    for (size_t i = 0; st == TL_OK && i < table->n; i += block) {
        size_t n = table->n - i < block ? table->n - i : block;
        tl_pack(table->schema, tl_table_row(table, i), n, epoch_ns, packed);
        st = tl_store_rows(store, table->schema, i, packed, n, err);
    }
    free(packed);
    return st;
}

static tl_status write_names(tl_store *store, const tl_names *names, tl_error *err)
{
    tl_status st = TL_OK;
    for (uint32_t i = 0; st == TL_OK && i < names->n; i++) {
        tl_text text = tl_names_text(names, i);
        st = tl_store_name(store, text.p, text.n, err);
    }
    return st;
}

/* When, where and by which command the file was made: what --reproducible leaves out. */
static tl_status write_circumstances(tl_store *store, const tl_options *options, tl_error *err)
{
    char when[32] = "", host[256] = "", history[4096];
    time_t now = time(NULL);
    struct tm utc;
    const char *command = options->command_line != NULL ? options->command_line : "tlmpi";
    const char *job = getenv("SLURM_JOB_ID");

    if (gmtime_r(&now, &utc) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = 0;
    snprintf(history, sizeof history, "%s: %s", when, command);
    tl_status st = tl_store_attr_text(store, "history", history, err);
    if (st == TL_OK)
        st = tl_store_attr_text(store, "command_line", command, err);
    if (st == TL_OK)
        st = tl_store_attr_text(store, "hostname", host, err);
    if (st == TL_OK && job != NULL)
        st = tl_store_attr_text(store, "slurm_job_id", job, err);
    if (st == TL_OK && tl_git_commit[0] != '\0')
        st = tl_store_attr_text(store, "git_commit", tl_git_commit, err);
    return st;
}

tl_status tl_write_end(tl_store *store, const tl_options *options, const tl_tables *job, const char *selection,
                       const char *notes, int64_t epoch_ns, tl_error *err)
{
    tl_status st = TL_OK;

    for (size_t t = 0; st == TL_OK && t < job->n; t++)
        if (job->v[t].schema->scope != TL_SCOPE_EVENT && job->v[t].schema->scope != TL_SCOPE_COLLECTIVE)
            st = write_table(store, &job->v[t], epoch_ns, err);
    if (st == TL_OK)
        st = write_names(store, job->names, err);
    if (st == TL_OK)
        st = tl_store_attr_int(store, "epoch_ns", epoch_ns, err);
    if (st == TL_OK && selection[0] != '\0')
        st = tl_store_attr_text(store, "selection", selection, err);
    if (st == TL_OK && notes[0] != '\0')
        st = tl_store_attr_text(store, "selection_notes", notes, err);
    if (st == TL_OK && !options->reproducible)
        st = write_circumstances(store, options, err);
    if (st == TL_OK && options->settings != NULL)
        st = tl_store_attr_text(store, "settings", options->settings, err);
    return st;
}
