/* places.c - what the same piece of host work usually takes: that before the launch at one place of one program. */
#include "parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* A piece of the host, and where what is usual of it belongs. */
typedef struct piece {
    uint64_t place; /* the same at one place of one step */
    int64_t ns;
    int64_t *usual_ns;
} piece;

typedef TL_VEC(piece) pieces;

static int by_place(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    return TL_COMPARE(x->place, y->place);
}

static bool list(const tl_baseline *b, size_t rank, tl_open_rank *o, pieces *p, int64_t **usual_ns)
{
    size_t n = 0;
    if (!tl_graph_open(b->graph, rank, o))
        return false;
    for (uint32_t v = 0; v < o->n; v++)
        n += tl_is_placed(&o->nodes[v]);
    int64_t *usual = *usual_ns = tl_calloc(n + 1, sizeof *usual);
    if (usual == NULL || !tl_grow((void **)&p->v, &p->cap, p->n + n, sizeof *p->v))
        return false;
    for (uint32_t v = 0; v < o->n; v++)
        if (tl_is_placed(&o->nodes[v]))
            p->v[p->n++] = (piece){ tl_hash_mix(o->nodes[v].key, (uint32_t)o->nodes[v].step), o->nodes[v].work_ns, usual++ };
    return true;
}

static bool find_usual(const tl_baseline *b, uint32_t role, int64_t **usual_ns)
{
    tl_open_rank open = { 0 };
    pieces p = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < b->roles[role].n; i++) {
        uint32_t rank = b->members[b->roles[role].first + i];
        ok = list(b, rank, &open, &p, &usual_ns[rank]);
    }
    tl_open_free(&open);
    int64_t *ns = ok ? tl_malloc((p.n + 1) * sizeof *ns) : NULL;
    if (p.n > 1)
        qsort(p.v, p.n, sizeof *p.v, by_place);
    for (size_t i = 0, to; ns != NULL && i < p.n; i = to) {
        for (to = i; to < p.n && p.v[to].place == p.v[i].place; to++)
            ns[to - i] = p.v[to].ns;
        int64_t usual = to - i > 1 ? tl_usual(ns, to - i) : 0;
        for (size_t k = i; k < to; k++)
            *p.v[k].usual_ns = usual;
    }
    free(ns);
    free(p.v);
    return ns != NULL;
}

bool tl_baseline_places(tl_baseline *out)
{
    out->usual_ns = tl_calloc(out->graph->nranks + 1, sizeof *out->usual_ns);
    bool ok = out->usual_ns != NULL;
    for (uint32_t q = 0; ok && q < out->nroles; q++)
        ok = find_usual(out, q, out->usual_ns);
    return ok;
}
