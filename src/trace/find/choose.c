/* choose.c - which file is read for each rank, once runs are decided. */
#include "decide.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

bool tl_inventory_is_unsure(const tl_inventory *inventory)
{
    bool unknown = false;
    for (size_t i = 0; i < inventory->inputs.n; i++)
        unknown |= inventory->inputs.v[i].kind == TL_INPUT_TRACE && !tl_input_is_timed(&inventory->inputs.v[i]);
    return inventory->nruns > 1 && unknown;
}

bool tl_input_is_lost(const tl_input *input)
{
    return input->kind == TL_INPUT_UNREADABLE || (input->kind == TL_INPUT_OTHER && input->named && !input->copy);
}

/* By rank, then kind (readable before unreadable), then path. */
static int by_rank(const void *a, const void *b)
{
    const tl_input *x = *(const tl_input *const *)a, *y = *(const tl_input *const *)b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return strcmp(x->path, y->path);
}

static bool is_chosen(const tl_inventory *inventory, const tl_input *in)
{
    if (in->rank < 0 || in->rank > INT32_MAX)
        return false;
    return in->kind == TL_INPUT_TRACE ? in->run == inventory->run : in->kind == TL_INPUT_UNREADABLE && !in->elsewhere;
}

size_t tl_inventory_choose(const tl_inventory *inventory, const tl_input **out)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (is_chosen(inventory, &inventory->inputs.v[i]))
            out[n++] = &inventory->inputs.v[i];
    if (n > 0)
        qsort(out, n, sizeof *out, by_rank);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || out[i]->rank != out[i - 1]->rank)
            out[kept++] = out[i];
    return kept;
}

/* ----------------------------------------------------------------------------------------- at one and the same time */

static bool is_timed(const tl_input *t, int64_t rank)
{
    return t->kind == TL_INPUT_TRACE && t->rank == rank && tl_input_is_timed(t);
}

size_t tl_inventory_duplicates(const tl_inventory *inventory, int64_t rank, int64_t within_ns)
{
    const tl_input *own = NULL;
    size_t n = 0;

    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (inventory->inputs.v[i].run == inventory->run && is_timed(&inventory->inputs.v[i], rank))
            own = &inventory->inputs.v[i];
    for (size_t i = 0; own != NULL && i < inventory->inputs.n; i++) {
        const tl_input *t = &inventory->inputs.v[i];
        if (t->run == inventory->run || !is_timed(t, rank))
            continue;
        int64_t apart_ns = tl_ns_between(t->begin_ns, own->begin_ns);
        n += apart_ns != 0 && apart_ns < within_ns && apart_ns > -within_ns; /* at the same instant: a copy */
    }
    return n;
}
