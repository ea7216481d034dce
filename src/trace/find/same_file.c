/* same_file.c - a file that was named more than once is read once.
 *
 *     tlmpi traces traces/rank-0.json         the same path
 *     latest.json -> rank-0.json              two names of one file, by a link of either kind
 *
 * Read twice it would count as two runs of the job.  But rank-1.json -> rank-0.json is a file for each of the two
 * ranks.
 */
#include "tlmpi/base/log.h"
#include "tlmpi/trace/find.h"
#include <stdlib.h>
#include <string.h>

static int by_path(const void *a, const void *b)
{
    return strcmp(((const tl_input *)a)->path, ((const tl_input *)b)->path);
}

/* The shell names pipes by falling numbers; the order in which they were written is what is meant. */
static int by_kind_and_path(const void *a, const void *b)
{
    const tl_input *x = a, *y = b;
    if (x->pipe != y->pipe)
        return x->pipe - y->pipe;
    if (x->pipe && x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return by_path(a, b);
}

/* Names of one file side by side, the one to keep first. */
static int by_file(const void *a, const void *b)
{
    const tl_input *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    if (x->by_link != y->by_link)
        return x->by_link - y->by_link;
    int64_t rank_x = tl_rank_of_name(x->path), rank_y = tl_rank_of_name(y->path);
    return rank_x != rank_y ? (rank_x < rank_y ? -1 : 1) : by_path(a, b);
}

static bool same_path(const tl_input *a, const tl_input *b)
{
    return strcmp(a->path, b->path) == 0;
}

/* Whether the names of the two tell different ranks: one file linked under two ranks' names is read as each of them. */
static bool other_rank(const tl_input *a, const tl_input *b)
{
    int64_t rank_a = tl_rank_of_name(a->path), rank_b = tl_rank_of_name(b->path);
    return rank_a >= 0 && rank_b >= 0 && rank_a != rank_b;
}

/* A file system may number two files alike: size and time must agree, too. */
static bool same_file(const tl_input *a, const tl_input *b)
{
    return !other_rank(a, b) && a->inode != 0 && a->device == b->device && a->inode == b->inode &&
           a->bytes == b->bytes && a->mtime_ns == b->mtime_ns;
}

/* Drops every input that is the same as the one kept before it.  Returns how many of those kept were named again; *kept
 * is the first of them by path and *dropped its next name, to be freed. */
static size_t merge(tl_inventory *inventory, bool (*same)(const tl_input *, const tl_input *), const char **kept,
                    char **dropped)
{
    tl_input *v = inventory->inputs.v;
    size_t n = 0, named_again = 0;
    bool counted = false;

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
    qsort(inventory->inputs.v, inventory->inputs.n, sizeof *inventory->inputs.v, by_path);
    size_t n = merge(inventory, same_path, &kept, &dropped);
    if (n == 1)
        tl_warn("%s is named more than once: it is read once", kept);
    else if (n > 1)
        tl_warn("%zu files are named more than once, %s the first of them: each is read once", n, kept);
    free(dropped);

    qsort(inventory->inputs.v, inventory->inputs.n, sizeof *inventory->inputs.v, by_file);
    n = merge(inventory, same_file, &kept, &dropped);
    if (n == 1)
        tl_warn("%s is another name of %s: the file is read once", dropped, kept);
    else if (n > 1)
        tl_warn("%zu files have several names, as %s, which is %s: each is read once", n, dropped, kept);
    free(dropped);
    qsort(inventory->inputs.v, inventory->inputs.n, sizeof *inventory->inputs.v, by_kind_and_path);
}
