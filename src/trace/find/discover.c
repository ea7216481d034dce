/* discover.c - lists the files that a path names.
 *
 * Folders are walked in two rounds: first the real folders below the path, then the targets of links.  So a
 * folder has its own path if it lies below, and that of a link only if it lies elsewhere.
 */
#include "internal.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/text/source.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#define LEVELS_MAX 64

typedef struct folder {
    char *path; /* owned */
    int level;
    bool by_link; /* a link leads to it, or to a folder above it */
} folder;

typedef TL_VEC(folder) folder_list;

typedef struct walk {
    tl_inventory *inventory;
    folder_list folders; /* stack of folders still to be walked */
    folder_list links;   /* links to folders, for the second round */
    tl_map visited;      /* hash of (device, inode) -> 0 */
    tl_error why;        /* why the first unreadable folder cannot be read */
} walk;

/* Adds a file; takes over the path. */
static tl_input *add_file(tl_inventory *inventory, char *path, const struct stat *st, bool by_link)
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
    return input;
}

/* Whether a file of this name may be a trace, or be packed around one (some packed formats are listed but not read). */
static bool may_be_trace(const char *name)
{
    static const char *const packed[] = {
        ".xz", ".zst", ".bz2", ".lz4", ".zip", ".7z", ".tar", ".tgz", ".tar.gz", NULL
    };
    bool may_be = tl_name_has_ending(name, packed);
    for (const tl_reader *const *reader = tl_readers; !may_be && *reader != NULL; reader++)
        may_be = tl_name_has_ending(name, (*reader)->endings);
    return may_be;
}

/* Whether the name is one of a trace: no other file represents a rank. */
static bool is_called_trace(const char *name)
{
    for (const tl_reader *const *reader = tl_readers; *reader != NULL; reader++)
        if ((*reader)->by_name && (*reader)->claims(name, (tl_text){ name, 0 }))
            return (*reader)->kind == TL_INPUT_TRACE;
    return true;
}

/* Returns the path of a name in a folder; the working directory is omitted: "./x" becomes "x". */
static char *path_in(const char *folder_path, const char *name)
{
    size_t a = strcmp(folder_path, ".") == 0 ? 0 : strlen(folder_path), size = a + strlen(name) + 2;
    char *path = tl_malloc(size);

    snprintf(path, size, "%.*s%s%s", (int)a, folder_path, a > 0 && folder_path[a - 1] != '/' ? "/" : "", name);
    return path;
}

/* Handles one name of a folder: a trace file, a folder to walk later, or something else.  A name like a trace's is
 * listed even if the file cannot be reached, so that a warning names it.  A pipe, socket or device is listed as
 * unreadable: a search must not wait for a writer. */
static void add_name(walk *w, const folder *in, int dir, const char *name)
{
    struct stat st;
    bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0, link = there && S_ISLNK(st.st_mode);
    char reason[80];

    if (link)
        there = fstatat(dir, name, &st, 0) == 0;
    if (there && S_ISDIR(st.st_mode)) {
        folder_list *list = link ? &w->links : &w->folders;
        tl_vec_push(list, (folder){ path_in(in->path, name), in->level + 1, link || in->by_link });
        return;
    }
    if (!may_be_trace(name))
        return;
    tl_input *input = add_file(w->inventory, path_in(in->path, name), there ? &st : NULL, link || in->by_link);
    if (!there || S_ISREG(st.st_mode))
        return;
    input->no_file = true;
    input->name_rank = is_called_trace(input->path) ? tl_rank_of_name(input->path) : -1;
    snprintf(reason, sizeof reason, "expected a regular file, found %s", tl_source_word(st.st_mode));
    tl_input_say_why(input, TL_INPUT_UNREADABLE, reason);
}

/* Whether the folder could be read.  One below the path that cannot be read is only a warning. */
static bool walk_folder(walk *w, const folder *f)
{
    struct stat st;
    const struct dirent *entry;

    if (f->level > LEVELS_MAX) {
        tl_warn("%s: left out: more than %d folders deep", f->path, LEVELS_MAX);
        return true;
    }
    DIR *dir = opendir(f->path);
    if (dir == NULL || fstat(dirfd(dir), &st) != 0) {
        int cause = errno;
        if (dir != NULL)
            (void)closedir(dir);
        if (f->level > 0)
            tl_warn("%s: left out: cannot be read: %s", f->path, strerror(cause));
        else
            tl_fail(&w->why, TL_EINPUT, "%s", strerror(cause));
        return f->level > 0;
    }
    uint64_t key = tl_hash_mix(tl_hash_mix(0, (uint64_t)st.st_dev), (uint64_t)st.st_ino);
    bool first_visit = tl_map_get(&w->visited, key) == TL_MAP_NONE;
    tl_map_put(&w->visited, key, 0);
    errno = 0;
    while (first_visit && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.')
            add_name(w, f, dirfd(dir), entry->d_name);
        errno = 0;
    }
    if (first_visit && errno != 0)
        tl_warn("%s: not read to its end: %s", f->path, strerror(errno));
    (void)closedir(dir);
    return true;
}

static int by_folder_path(const void *a, const void *b)
{
    return strcmp(((const folder *)a)->path, ((const folder *)b)->path);
}

/* Adds a named folder without traces. */
static void add_folder(tl_inventory *inventory, const char *path, size_t word, tl_input_kind kind, const char *reason)
{
    tl_input *input = add_file(inventory, tl_strndup(path, strlen(path)), NULL, false);
    input->no_file = input->named = true;
    input->word = word;
    tl_input_say_why(input, kind, reason);
}

/* Adds the files of a folder.  A folder that cannot be read is reported here; a file when its reader looks at it. */
static void add_folder_files(tl_inventory *inventory, const char *path, size_t word)
{
    walk w = { .inventory = inventory };
    bool readable = true;
    size_t from = inventory->inputs.n, next_link = 0,
           below = strcmp(path, ".") == 0 ? 0 : strlen(path) + (path[strlen(path) - 1] != '/');

    tl_vec_push(&w.folders, (folder){ .path = tl_strndup(path, strlen(path)) });
    while (w.folders.n > 0 || next_link < w.links.n) {
        if (w.folders.n == 0) { /* of two links to one folder, the first by name is followed, on every file system */
            qsort(w.links.v + next_link, w.links.n - next_link, sizeof *w.links.v, by_folder_path);
            w.folders.v[w.folders.n++] = w.links.v[next_link++];
        }
        folder f = w.folders.v[--w.folders.n];
        readable &= walk_folder(&w, &f);
        free(f.path);
    }
    free(w.folders.v);
    free(w.links.v);
    tl_map_free(&w.visited);
    for (size_t i = from; i < inventory->inputs.n; i++) {
        inventory->inputs.v[i].below = below;
        inventory->inputs.v[i].word = word;
    }
    if (!readable)
        add_folder(inventory, path, word, TL_INPUT_UNREADABLE, w.why.text);
}

/* Returns a copy without "./", double slashes and a slash at the end, so that a file has one path however it was
 * typed. */
static char *normalized_path(const char *path)
{
    char *copy = tl_malloc(strlen(path) + 2), *end = copy;

    if (*path == '/')
        *end++ = '/';
    for (const char *p = path; *p != '\0';) {
        size_t n = strcspn(p, "/");
        if (n > 0 && !(n == 1 && *p == '.')) {
            if (end > copy && end[-1] != '/')
                *end++ = '/';
            memcpy(end, p, n);
            end += n;
        }
        p += n + (p[n] == '/');
    }
    if (end == copy && *path != '\0')
        *end++ = '.';
    *end = '\0';
    return copy;
}

void tl_inventory_add(tl_inventory *inventory, const char *path)
{
    struct stat st, link;
    bool there = stat(path, &st) == 0;
    char *copy = normalized_path(path);
    size_t word = inventory->words.n;

    tl_vec_push(&inventory->words, (tl_named){ .path = copy });
    if (there && S_ISDIR(st.st_mode)) {
        add_folder_files(inventory, copy, word);
        return;
    }
    there = stat(copy, &st) == 0;
    bool by_link = lstat(copy, &link) == 0 && S_ISLNK(link.st_mode);
    const char *slash = strrchr(copy, '/');
    tl_input *input = add_file(inventory, tl_strndup(copy, strlen(copy)), there ? &st : NULL, by_link);
    input->below = slash != NULL ? (size_t)(slash + 1 - copy) : 0;
    input->named = true;
    input->word = word;
    input->pipe = there && S_ISFIFO(st.st_mode);
}

void tl_inventory_close(tl_inventory *inventory)
{
    bool *gives = tl_calloc(inventory->words.n + 1, sizeof *gives);

    TL_EACH (const tl_input, input, inventory->inputs)
        gives[input->word] |= input->named || input->copy || input->kind != TL_INPUT_OTHER;
    for (size_t i = 0; i < inventory->words.n; i++)
        if (!gives[i] && !inventory->words.v[i].shared && inventory->words.n > 1)
            add_folder(inventory, inventory->words.v[i].path, i, TL_INPUT_OTHER,
                       "expected traces (tlmpi describe formats) below this folder, found none");
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

/* ------------------------------------------------------------------------------------------------------- the same file
 *
 * A file that is named more than once is read once.
 *
 *     tlmpi traces traces/rank-0.json         the same path
 *     latest.json -> rank-0.json              two names of one file, by a link of either kind
 *
 * Read twice it would count as two runs of the job.  But rank-1.json -> rank-0.json is a file of each of the two
 * ranks.
 */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const tl_input *)a)->path, ((const tl_input *)b)->path);
}

/* Order: files by path, then pipes as named: the shell numbers pipes in descending order. */
static int by_kind_and_path(const void *a, const void *b)
{
    const tl_input *x = a, *y = b;
    if (x->pipe != y->pipe || (x->pipe && x->word != y->word))
        return TL_ORDER(x, y, pipe, word);
    return by_path(a, b);
}

/* Order by file, with the name to keep first. */
static int by_file(const void *a, const void *b)
{
    const tl_input *x = a, *y = b;
    int order = TL_ORDER(x, y, device, inode, by_link);
    if (order != 0)
        return order;
    int64_t rank_x = tl_rank_of_name(x->path), rank_y = tl_rank_of_name(y->path);
    return rank_x != rank_y ? TL_COMPARE(rank_x, rank_y) : by_path(a, b);
}

static bool same_path(const tl_input *a, const tl_input *b)
{
    return strcmp(a->path, b->path) == 0;
}

/* Whether two names have one file.  A file system may give two files the same number: size and time must agree, too.
 * One file linked under the names of two ranks is read as each of them. */
static bool same_file(const tl_input *a, const tl_input *b)
{
    int64_t rank_a = tl_rank_of_name(a->path), rank_b = tl_rank_of_name(b->path);
    bool other_rank = rank_a >= 0 && rank_b >= 0 && rank_a != rank_b;
    return !other_rank && a->inode != 0 && TL_ORDER(a, b, device, inode, bytes, mtime_ns) == 0;
}

/* Sorts inputs, and drops each that is the same as its predecessor.  Returns how many of those kept were named again;
 * *kept: the first of them by path, *dropped: its next name, which the caller frees. */
static size_t drop_repeated(tl_inventory *inventory, int (*order)(const void *, const void *),
                            bool (*same)(const tl_input *, const tl_input *), const char **kept, char **dropped)
{
    tl_input *v = inventory->inputs.v;
    size_t n = 0, named_again = 0;
    bool counted = false;

    qsort(v, inventory->inputs.n, sizeof *v, order);
    *dropped = NULL;
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        if (n == 0 || !same(&v[n - 1], &v[i])) {
            v[n++] = v[i];
            counted = false;
            continue;
        }
        bool shown = !counted && (*dropped == NULL || strcmp(v[n - 1].path, *kept) < 0);
        named_again += !counted;
        counted = true;
        v[n - 1].named |= v[i].named;
        if (v[i].word != v[n - 1].word)
            inventory->words.v[v[i].word].shared = true;
        free(shown ? *dropped : v[i].path);
        if (shown) {
            *kept = v[n - 1].path;
            *dropped = v[i].path;
        }
    }
    inventory->inputs.n = n;
    return named_again;
}

void tl_inventory_sort(tl_inventory *inventory)
{
    const char *kept = "";
    char *dropped = NULL;

    if (inventory->inputs.n == 0)
        return;
    size_t n = drop_repeated(inventory, by_path, same_path, &kept, &dropped);
    if (n == 1)
        tl_warn("%s is named more than once: it is read once", kept);
    else if (n > 1)
        tl_warn("%zu files are named more than once, %s the first of them: each is read once", n, kept);
    free(dropped);
    n = drop_repeated(inventory, by_file, same_file, &kept, &dropped);
    if (n == 1)
        tl_warn("%s is another name of %s: the file is read once", dropped, kept);
    else if (n > 1)
        tl_warn("%zu files have several names, as %s, which is %s: each is read once", n, dropped, kept);
    free(dropped);
    qsort(inventory->inputs.v, inventory->inputs.n, sizeof *inventory->inputs.v, by_kind_and_path);
}

/* ------------------------------------------------------------------------------------------------------------ parts */

void tl_inventory_part(tl_inventory *inventory)
{
    tl_inventory whole = *inventory;

    inventory->inputs.v = NULL;
    inventory->inputs.n = inventory->inputs.cap = 0;
    TL_EACH (tl_input, input, whole.inputs) {
        tl_bytes names = { 0 };
        if (!input->pipe && !input->no_file)
            tl_parts_list(input->path, &names);
        if (names.n == 0)
            tl_vec_push(&inventory->inputs, *input);
        for (size_t at = 0; at < names.n; at += strlen(names.v + at) + 1) {
            tl_vec_push(&inventory->inputs, *input);
            inventory->inputs.v[inventory->inputs.n - 1].path = path_in(input->path, names.v + at);
        }
        if (names.n > 0)
            free(input->path);
        tl_bytes_free(&names);
    }
    free(whole.inputs.v);
}
