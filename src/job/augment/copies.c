/* copies.c - the names of the copies, and the procs that make them. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "parts.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/part_file.h"
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ----------------------------------------------------------------------------------------------------------- names */

/* Returns the index at which ".json", ".json.gz" or the like begins in a file's name; without such an ending, its
 * length. */
static size_t ending_at(const char *name)
{
    size_t n = strlen(name), at = n;
    for (size_t i = n; i-- > 1;)
        if (strncasecmp(name + i, ".json", 5) == 0 && (name[i + 5] == '\0' || name[i + 5] == '.'))
            at = i;
    if (at == n && n > 3 && strcasecmp(name + n - 3, ".gz") == 0)
        at = n - 3;
    if (at == n && n > 4 && strcasecmp(name + n - 4, ".zst") == 0)
        at = n - 4;
    return at;
}

/* Returns DIR/below with the ending of the copy; the caller frees it. */
static char *path_of(const char *dir, const char *below, tl_copy_ending ending)
{
    const char *slash = strrchr(below, '/'), *name = slash != NULL ? slash + 1 : below;
    bool same = ending == TL_COPY_SAME;
    size_t n_below = strlen(below), ndir = strlen(dir);
    bool zstd = n_below > 4 && strcasecmp(below + n_below - 4, ".zst") == 0; /* copies are written with gzip */
    size_t nkept = same ? n_below - (zstd ? 4 : 0) : (size_t)(name - below) + ending_at(name);
    const char *suffix = !same ? "_idle_augmented.json.gz" : zstd ? ".gz" : "";
    size_t n = ndir + 1 + nkept + strlen(suffix) + 1;
    char *path = tl_malloc(n);
    snprintf(path, n, "%s%s%.*s%s", dir, ndir > 0 && dir[ndir - 1] == '/' ? "" : "/", (int)nkept, below, suffix);
    return path;
}

static int by_copy(const void *context, uint32_t a, uint32_t b)
{
    const tl_copies *copies = context;
    return strcmp(copies->v[a].path, copies->v[b].path);
}

static tl_status check_names(const tl_plan *plan, const tl_copies *copies, tl_error *err)
{
    uint32_t *order = tl_sorted_index(copies->n, by_copy, copies);
    tl_status st = TL_OK;
    for (size_t i = 1; i < copies->n && st == TL_OK; i++)
        if (by_copy(copies, order[i - 1], order[i]) == 0)
            st = tl_fail(err, TL_EUSAGE, "%s and %s would both be copied to %s: copy them in two calls",
                         plan->items[order[i - 1]].path, plan->items[order[i]].path, copies->v[order[i]].path);
    free(order);
    return st;
}

/* ----------------------------------------------------------------------------------------------------------- files */

static tl_file_id id_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return (tl_file_id){ 0, 0 };
    return (tl_file_id){ (uint64_t)st.st_dev, (uint64_t)st.st_ino };
}

static bool is_trace(const tl_copies *copies, const char *path)
{
    const tl_file_id id = id_of(path);
    for (size_t i = 0; i < copies->n && id.inode != 0; i++)
        if (copies->traces[i].inode == id.inode && copies->traces[i].device == id.device)
            return true;
    return false;
}

tl_status tl_copy_check(const tl_copies *copies, size_t i, tl_error *err)
{
    size_t n = strlen(copies->v[i].path) + sizeof ".part";
    char *part = tl_malloc(n);
    snprintf(part, n, "%s.part", copies->v[i].path);
    bool bad = is_trace(copies, copies->v[i].path) || is_trace(copies, part);
    free(part);
    if (bad)
        return tl_fail(err, TL_EUSAGE, "%s is one of the traces to be copied, and is not written over",
                       copies->v[i].path);
    return TL_OK;
}

/* Returns the first of the paths that is the folder or contains it; NULL: none.  The folder need not exist yet. */
static const char *searched_above(const tl_options *options, const char *folder)
{
    char *at = tl_strndup(folder, strlen(folder)), *part = at, *real;
    const char *found = NULL;
    while ((real = realpath(part, NULL)) == NULL && strcmp(part, ".") != 0 && strcmp(part, "/") != 0)
        part = dirname(part);
    for (size_t i = 0; found == NULL && real != NULL && i < options->npaths; i++) {
        char *path = realpath(options->paths[i], NULL);
        size_t n = path != NULL ? strlen(path) : 0;
        n -= n > 0 && path[n - 1] == '/';
        if (path != NULL && strncmp(real, path, n) == 0 && (real[n] == '/' || real[n] == '\0'))
            found = options->paths[i];
        free(path);
    }
    free(real);
    free(at);
    return found;
}

/* Makes the folder for the copies.  Refuses a folder inside a searched path, where the next run would find the
 * copies. */
static tl_status make_folder(const tl_options *options, tl_error *err)
{
    const char *above = searched_above(options, options->output);

    if (above != NULL)
        return tl_fail(err, TL_EUSAGE,
                       "%s lies in %s, where the copies would be found as more traces: choose a folder elsewhere",
                       options->output, above);
    return tl_make_folders(options->output, err);
}

tl_status tl_copies_plan(const tl_plan *plan, const tl_options *options, tl_copy_ending ending, int nprocs,
                         tl_copies *out, tl_error *err)
{
    uint64_t *bytes = tl_calloc(plan->n + 1, sizeof *bytes);
    out->v = tl_calloc(plan->n + 1, sizeof *out->v);
    out->traces = tl_calloc(plan->n + 1, sizeof *out->traces);
    out->n = plan->n;
    for (size_t i = 0; i < plan->n; i++)
        bytes[i] = plan->items[i].bytes;
    int32_t *proc = tl_deal_by_size(bytes, plan->n, nprocs);
    for (size_t i = 0; i < plan->n; i++) {
        const tl_plan_item *item = &plan->items[i];
        out->v[i] = (tl_copy){ path_of(options->output, item->path + item->below, ending), proc[i] };
        out->traces[i] = id_of(item->path);
    }
    free(bytes);
    free(proc);
    tl_status st = check_names(plan, out, err);
    return st == TL_OK ? make_folder(options, err) : st;
}

void tl_copies_free(tl_copies *copies)
{
    for (size_t i = 0; i < copies->n; i++)
        free(copies->v[i].path);
    free(copies->v);
    free(copies->traces);
    *copies = (tl_copies){ 0 };
}
