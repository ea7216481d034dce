/* kinds.c - how long each kind of kernel took in each step, for ranks that send to others or receive.
 *
 * Stages of a pipeline do different things, but mostly with the same kernels: these can be compared where the stages
 * cannot.
 */
#include "compose.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* So many kinds a step, those with most time. */
enum { KINDS_MOST = 32 };

typedef struct listing {
    const tl_composing *c;
    const uint64_t *key; /* by local work */
} listing;

uint64_t tl_kernel_does(const tl_rank_view *view, const tl_kernel *k)
{
    const tl_names *names = view->names;
    if (k->kind != TL_COMPUTE || names == NULL || k->name >= names->n)
        return 0;
    return tl_hash_mix(names->v[k->name].key, k->blocks);
}

static const tl_kernel *work_at(const listing *l, uint32_t i)
{
    return &l->c->b->view->kernels[l->c->b->local[i]];
}

static int by_kind(const void *context, uint32_t a, uint32_t b)
{
    const listing *l = context;
    int order = TL_COMPARE(l->c->step_of[a], l->c->step_of[b]);
    return order != 0 ? order : TL_COMPARE(l->key[a], l->key[b]);
}

bool tl_is_stage(const tl_rank_view *view)
{
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        if (k->kind == TL_COMM && tl_is_point_to_point((tl_collective)k->collective))
            return true;
    }
    return false;
}

static int by_time(const void *a, const void *b)
{
    const tl_kernel_kind *x = a, *y = b;
    int order = TL_COMPARE(y->ns, x->ns);
    return order != 0 ? order : TL_COMPARE(x->does, y->does);
}

static int by_what(const void *a, const void *b)
{
    const tl_kernel_kind *x = a, *y = b;
    return TL_COMPARE(x->does, y->does);
}

/* Those of the last step that matter, by what they do. */
static void close_step(tl_program *out, size_t first)
{
    size_t n = out->nkinds - first;
    if (n > KINDS_MOST) {
        qsort(out->kinds + first, n, sizeof *out->kinds, by_time);
        out->nkinds = first + KINDS_MOST;
        qsort(out->kinds + first, KINDS_MOST, sizeof *out->kinds, by_what);
    }
}

static bool list(const listing *l, const uint32_t *order, size_t n)
{
    tl_program *out = l->c->out;
    size_t cap = 0, first = 0;

    for (size_t i = 0, to; i < n; i = to) {
        tl_kernel_kind kind = { .does = l->key[order[i]], .step = l->c->step_of[order[i]] };
        for (to = i; to < n && by_kind(l, order[i], order[to]) == 0; to++) {
            kind.ns = tl_ns_add(kind.ns, tl_ns_max(0, work_at(l, order[to])->end_ns - work_at(l, order[to])->start_ns));
            kind.n++;
        }
        if (out->nkinds > first && out->kinds[first].step != kind.step) {
            close_step(out, first);
            first = out->nkinds;
        }
        if (!tl_grow((void **)&out->kinds, &cap, out->nkinds + 1, sizeof *out->kinds))
            return false;
        out->kinds[out->nkinds++] = kind;
    }
    close_step(out, first);
    return true;
}

bool tl_compose_kinds(tl_composing *c)
{
    size_t nlocal = c->b->nlocal, n = 0;
    if (c->step_of == NULL)
        return true;
    uint32_t *order = tl_malloc((nlocal + 1) * sizeof *order);
    uint64_t *key = tl_calloc(nlocal + 1, sizeof *key);
    const listing l = { c, key };

    for (uint32_t i = 0; order != NULL && key != NULL && i < nlocal; i++) {
        key[i] = c->step_of[i] >= 0 ? tl_kernel_does(c->b->view, work_at(&l, i)) : 0;
        if (key[i] != 0)
            order[n++] = i;
    }
    bool whole = order != NULL && key != NULL && tl_sort_index(order, n, by_kind, &l) && list(&l, order, n);
    free(order);
    free(key);
    return whole;
}
