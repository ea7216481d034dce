/* missing.c - which ranks of the run that is taken have no trace. */
#include "tlmpi/base/sort.h"
#include "tlmpi/trace/find.h"
#include <stdlib.h>

#define MISSING_LISTED 4096u

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return TL_COMPARE(x, y);
}

/* Ranks of the traces of the run that is taken, or of all of its job, ascending, each once; with those of files that
 * cannot be read, which are there all the same. */
static int64_t *ranks_of(const tl_inventory *inventory, bool job, size_t *n)
{
    int64_t *ranks = tl_calloc(inventory->inputs.n + 1, sizeof *ranks);
    size_t all = 0;

    *n = 0;
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        const tl_input *input = &inventory->inputs.v[i];
        bool is_one = input->run >= 0 &&
                      (input->run == inventory->run || (job && input->job == inventory->runs[inventory->run].job));
        if (is_one || (input->kind == TL_INPUT_UNREADABLE && input->rank >= 0 && !input->elsewhere))
            ranks[all++] = input->rank;
    }
    qsort(ranks, all, sizeof *ranks, by_number);
    for (size_t i = 0; i < all; i++)
        if (*n == 0 || ranks[i] != ranks[*n - 1])
            ranks[(*n)++] = ranks[i];
    return ranks;
}

/* Lists the ranks below world_size that are not among ranks[0 .. n). */
static void list_missing(tl_inventory *inventory, const int64_t *ranks, size_t n)
{
    int64_t next = 0; /* every rank below is accounted for */

    inventory->missing.n = 0;
    inventory->nmissing = 0;
    for (size_t i = 0; i <= n; i++) {
        int64_t to = i < n && ranks[i] < inventory->world_size ? ranks[i] : inventory->world_size;
        if (to > next)
            inventory->nmissing += (size_t)(to - next);
        for (; next < to && inventory->missing.n < MISSING_LISTED; next++) {
            tl_vec_room(&inventory->missing);
            inventory->missing.v[inventory->missing.n++] = next;
        }
        next = to + 1;
    }
}

static void find_missing(tl_inventory *inventory)
{
    size_t nall, nhere;
    int64_t *all = ranks_of(inventory, true, &nall);
    int64_t *here = ranks_of(inventory, false, &nhere);

    inventory->world_size = -1;
    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (inventory->inputs.v[i].run == inventory->run && inventory->inputs.v[i].world_size > inventory->world_size)
            inventory->world_size = inventory->inputs.v[i].world_size;
    if (inventory->world_size < 0)
        inventory->world_size = nall > 0 ? all[nall - 1] + 1 : 0;
    list_missing(inventory, here, nhere);
    free(all);
    free(here);
}

void tl_inventory_learn(tl_inventory *inventory)
{
    find_missing(inventory);
}
