/* discover.c - the files that a path names.
 *
 * Folders are walked in two rounds: first what really lies below the path, then what links lead to.  So a folder is
 * known by its own place where it has one, and by a link only where it lies elsewhere.
 */
#include "tlmpi/trace/find.h"
#include "input.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/text/source.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 64

typedef struct folder {
    char *path; /* owned */
    int level;
    bool by_link; /* a link leads to it, or to a folder above it */
} folder;

typedef struct walk {
    tl_inventory *inventory;
    TL_VEC(folder) folders; /* still to be walked: a stack */
    TL_VEC(folder) links;   /* links to folders, for the second round */
    TL_VEC(struct stat) visited;
    tl_map visited_map; /* hash of (device, inode) -> index in visited */
    tl_error *err;
} walk;

void tl_input_set_stat(tl_input *input, const struct stat *st)
{
    int64_t s = (int64_t)st->st_mtim.tv_sec;
    input->bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0;
    input->device = (uint64_t)st->st_dev;
    input->inode = (uint64_t)st->st_ino;
    input->mtime_ns = s > 0 && s < INT64_MAX / 1000000000 ? s * 1000000000 + st->st_mtim.tv_nsec : 0;
}

/* Takes the path over, also on failure. */
static void add_file(tl_inventory *inventory, char *path, const struct stat *st, bool by_link)
{
    tl_vec_room(&inventory->inputs);
    tl_input *input = &inventory->inputs.v[inventory->inputs.n++];
    *input = (tl_input){ .path = path,
                         .kind = TL_INPUT_UNREADABLE,
                         .meta_rank = -1,
                         .name_rank = -1,
                         .world_size = -1,
                         .rank = -1,
                         .rank_source = TL_RANK_ORDER,
                         .run = -1,
                         .by_link = by_link };
    if (st != NULL)
        tl_input_set_stat(input, st);
}

/* Whether the folder is seen for the first time.  Where memory is out it counts as seen. */
static bool first_visit(walk *w, const struct stat *st)
{
    uint64_t key = tl_hash_mix(tl_hash_mix(0, (uint64_t)st->st_dev), (uint64_t)st->st_ino);
    uint32_t at;

    while ((at = tl_map_get(&w->visited_map, key)) != TL_MAP_NONE) {
        if (w->visited.v[at].st_dev == st->st_dev && w->visited.v[at].st_ino == st->st_ino)
            return false;
        key = tl_hash_mix(key, 1);
    }
    tl_vec_room(&w->visited);
    tl_map_put(&w->visited_map, key, (uint32_t)w->visited.n);
    w->visited.v[w->visited.n++] = *st;
    return true;
}

/* Endings of packed files, which are listed but not read. */
static const char *const packed[] = { ".xz", ".zst", ".bz2", ".lz4", ".zip", ".7z", ".tar", ".tgz", ".tar.gz", NULL };

/* Whether a file of this name may be a trace, or be packed around one. */
static bool may_be_trace(const char *name)
{
    if (tl_name_has_ending(name, packed))
        return true;
    for (const tl_reader *const *reader = tl_readers; *reader != NULL; reader++)
        if (tl_name_has_ending(name, (*reader)->endings))
            return true;
    return false;
}

/* The working directory is left unsaid: "./x" is the file "x", whichever way it was found. */
static char *join(const char *folder_path, const char *name)
{
    size_t a = strcmp(folder_path, ".") == 0 ? 0 : strlen(folder_path), b = strlen(name);
    bool slash = a > 0 && folder_path[a - 1] != '/';
    char *path = tl_malloc(a + slash + b + 1);

    memcpy(path, folder_path, a);
    if (slash)
        path[a] = '/';
    memcpy(path + a + slash, name, b + 1);
    return path;
}

/* Whether its name is a trace's: no other file stands for a rank. */
static bool is_called_trace(const char *name)
{
    for (const tl_reader *const *reader = tl_readers; *reader != NULL; reader++)
        if ((*reader)->by_name && (*reader)->claims(name, (tl_text){ name, 0 }))
            return (*reader)->kind == TL_INPUT_TRACE;
    return true;
}

/* Lists a pipe, socket or device found in a folder as unreadable: a search must not wait for a writer. */
static void add_no_file(tl_inventory *inventory, char *path, const struct stat *st, bool by_link)
{
    char reason[80];
    add_file(inventory, path, st, by_link);

    tl_input *input = &inventory->inputs.v[inventory->inputs.n - 1];
    input->no_file = true;
    input->name_rank = is_called_trace(input->path) ? tl_rank_of_name(input->path) : -1;
    snprintf(reason, sizeof reason, "expected a regular file, found %s", tl_source_word(st->st_mode));
    tl_input_say_why(input, TL_INPUT_UNREADABLE, reason);
}

/* Takes one name of a folder: a trace file, a folder to walk later, or nothing to us.  A name that looks like a trace
 * is listed even where the file cannot be reached, so that a warning names it. */
static void take_name(walk *w, const folder *in, int dir, const char *name)
{
    struct stat st, target;
    bool trace = may_be_trace(name);

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (trace)
            add_file(w->inventory, join(in->path, name), NULL, false);
        return;
    }
    bool link = S_ISLNK(st.st_mode);
    if (link && fstatat(dir, name, &target, 0) != 0) {
        if (trace)
            add_file(w->inventory, join(in->path, name), NULL, true);
        return;
    }
    if (link)
        st = target;
    if (S_ISREG(st.st_mode)) {
        if (trace)
            add_file(w->inventory, join(in->path, name), &st, link || in->by_link);
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        if (trace)
            add_no_file(w->inventory, join(in->path, name), &st, link || in->by_link);
        return;
    }

    folder below = { join(in->path, name), in->level + 1, link || in->by_link };
    if (link)
        tl_vec_room(&w->links);
    else
        tl_vec_room(&w->folders);
    if (link)
        w->links.v[w->links.n++] = below;
    else
        w->folders.v[w->folders.n++] = below;
}

/* A folder below the path that cannot be read is a warning: the rest is still worth having. */
static tl_status walk_folder(walk *w, const folder *f)
{
    struct stat st;

    if (f->level > LEVELS_MAX) {
        tl_warn("%s: left out: more than %d folders deep", f->path, LEVELS_MAX);
        return TL_OK;
    }
    DIR *dir = opendir(f->path);
    if (dir == NULL || fstat(dirfd(dir), &st) != 0) {
        int cause = errno;
        if (dir != NULL)
            (void)closedir(dir);
        if (f->level == 0)
            return tl_fail(w->err, TL_EINPUT, "%s", strerror(cause));
        tl_warn("%s: left out: cannot be read: %s", f->path, strerror(cause));
        return TL_OK;
    }
    if (first_visit(w, &st)) {
        const struct dirent *entry;
        errno = 0;
        while ((entry = readdir(dir)) != NULL) {
            if (entry->d_name[0] != '.')
                take_name(w, f, dirfd(dir), entry->d_name);
            errno = 0;
        }
        if (errno != 0)
            tl_warn("%s: not read to its end: %s", f->path, strerror(errno));
    }
    (void)closedir(dir);
    return TL_OK;
}

static int by_folder_path(const void *a, const void *b)
{
    return strcmp(((const folder *)a)->path, ((const folder *)b)->path);
}

/* Takes `top` over. */
static tl_status walk_all(tl_inventory *inventory, char *top, tl_error *err)
{
    walk w = { .inventory = inventory, .err = err };
    tl_status st = TL_OK;
    size_t next_link = 0;

    tl_vec_room(&w.folders);
    w.folders.v[w.folders.n++] = (folder){ .path = top };
    while (st == TL_OK && (w.folders.n > 0 || next_link < w.links.n)) {
        if (w.folders.n == 0) { /* of two links to one folder, the first by name is followed on every file system */
            qsort(w.links.v + next_link, w.links.n - next_link, sizeof *w.links.v, by_folder_path);
            folder link = w.links.v[next_link];
            w.links.v[next_link++].path = NULL;
            w.folders.v[w.folders.n++] = link;
        }
        folder f = w.folders.v[--w.folders.n];
        st = walk_folder(&w, &f);
        free(f.path);
    }
    for (size_t i = 0; i < w.folders.n; i++)
        free(w.folders.v[i].path);
    for (size_t i = next_link; i < w.links.n; i++)
        free(w.links.v[i].path);
    free(w.folders.v);
    free(w.links.v);
    free(w.visited.v);
    tl_map_free(&w.visited_map);
    return st;
}

/* A copy without "./", doubled slashes and a slash at the end, so that one file has one path however it was typed. */
static char *tidy(const char *path)
{
    char *copy = tl_malloc(strlen(path) + 2);
    size_t n = 0;

    for (const char *p = path; *p != '\0';) {
        bool at_start = n == 0 || copy[n - 1] == '/';
        if (at_start && p[0] == '.' && (p[1] == '/' || p[1] == '\0'))
            p += p[1] == '/' ? 2 : 1;
        else if (n > 0 && copy[n - 1] == '/' && p[0] == '/')
            p++;
        else
            copy[n++] = *p++;
        while (n == 0 && p > path && *p == '/') /* "./" and then a slash is not the root */
            p++;
    }
    if (n > 1 && copy[n - 1] == '/')
        n--;
    if (n == 0)
        copy[n++] = '.';
    copy[n] = '\0';
    return copy;
}

/* A folder that was named and gives no trace. */
static void add_folder(tl_inventory *inventory, const char *path, size_t word, tl_input_kind kind, const char *reason)
{
    add_file(inventory, tl_strndup(path, strlen(path)), NULL, false);

    tl_input *input = &inventory->inputs.v[inventory->inputs.n - 1];
    input->no_file = input->named = true;
    input->word = word;
    tl_input_say_why(input, kind, reason);
}

/* Adds the files of a folder.  A folder that cannot be read is reported here; a file, when its reader looks at it. */
static tl_status add_folder_files(tl_inventory *inventory, const char *path, size_t word, tl_error *err)
{
    tl_error why = { 0 };
    char *copy = tl_strndup(path, strlen(path));
    size_t from = inventory->inputs.n,
           below = strcmp(path, ".") == 0 ? 0 : strlen(path) + (path[strlen(path) - 1] != '/');

    tl_status st = walk_all(inventory, copy, &why);
    for (size_t i = from; i < inventory->inputs.n; i++) {
        inventory->inputs.v[i].below = below;
        inventory->inputs.v[i].word = word;
    }
    if (st == TL_EINPUT) {
        add_folder(inventory, path, word, TL_INPUT_UNREADABLE, why.text);
        return TL_OK;
    }
    if (st != TL_OK && err != NULL)
        *err = why;
    return st;
}

static void add_named_file(tl_inventory *inventory, const char *path, size_t word)
{
    struct stat st, link;
    bool there = stat(path, &st) == 0, by_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    const char *slash = strrchr(path, '/');
    add_file(inventory, tl_strndup(path, strlen(path)), there ? &st : NULL, by_link);

    tl_input *input = &inventory->inputs.v[inventory->inputs.n - 1];
    input->below = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    input->named = true;
    input->word = word;
    input->pipe = there && S_ISFIFO(st.st_mode);
}

tl_status tl_inventory_add(tl_inventory *inventory, const char *path, tl_error *err)
{
    struct stat st;
    char *copy = path[0] != '\0' ? tidy(path) : tl_strndup("", 0);
    size_t word = inventory->words.n;

    tl_vec_room(&inventory->words);
    inventory->words.v[inventory->words.n++] = (tl_named){ .path = copy };
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return add_folder_files(inventory, copy, word, err);
    add_named_file(inventory, copy, word);
    return TL_OK;
}

void tl_inventory_close(tl_inventory *inventory)
{
    bool *gives = tl_calloc(inventory->words.n + 1, sizeof *gives);

    for (size_t i = 0; i < inventory->inputs.n; i++) {
        const tl_input *input = &inventory->inputs.v[i];
        gives[input->word] |= input->named || input->copy || input->kind != TL_INPUT_OTHER;
    }
    for (size_t i = 0; i < inventory->words.n; i++)
        if (!gives[i] && !inventory->words.v[i].shared && inventory->words.n > 1)
            add_folder(inventory, inventory->words.v[i].path, i, TL_INPUT_OTHER,
                       "expected traces (.json, .json.gz, .json.zst) below this folder, found none");
    free(gives);
}

void tl_inventory_free(tl_inventory *inventory)
{
    for (size_t i = 0; i < inventory->inputs.n; i++)
        free(inventory->inputs.v[i].path);
    for (size_t i = 0; i < inventory->words.n; i++)
        free(inventory->words.v[i].path);
    free(inventory->words.v);
    free(inventory->inputs.v);
    free(inventory->missing.v);
    free(inventory->runs);
    *inventory = (tl_inventory){ 0 };
}
