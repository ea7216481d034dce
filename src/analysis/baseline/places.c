/* places.c - what the same piece of host work usually takes: that before the launch at one place of one program. */
#include "parts.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

bool tl_places_list(const tl_settled *rank, tl_frame *f, uint32_t role, uint32_t held, tl_place_pieces *out)
{
    tl_open_rank o = { 0 };
    size_t n = 0;
    bool ok = tl_rank_open(rank, &o);
    for (uint32_t v = 0; ok && v < o.n; v++)
        n += tl_is_placed(&o.nodes[v]);
    free(f->usual_ns);
    f->nplaced = n;
    f->usual_ns = tl_calloc(n + 1, sizeof *f->usual_ns);
    ok = ok && f->usual_ns != NULL && tl_grow((void **)&out->v, &out->cap, out->n + n, sizeof *out->v);
    for (uint32_t v = 0, at = 0; ok && v < o.n; v++)
        if (tl_is_placed(&o.nodes[v]))
            out->v[out->n++] = (tl_place_piece){ .place = tl_hash_mix(tl_hash_mix(o.nodes[v].key, (uint32_t)o.nodes[v].step), role),
                                                 .ns = o.nodes[v].work_ns,
                                                 .held = held,
                                                 .at = at++ };
    tl_open_free(&o);
    return ok;
}

static int by_place(const void *a, const void *b)
{
    const tl_place_piece *x = a, *y = b;
    return TL_COMPARE(x->place, y->place);
}

bool tl_places_find(tl_place_pieces *p)
{
    int64_t *ns = tl_malloc((p->n + 1) * sizeof *ns);
    if (p->n > 1)
        qsort(p->v, p->n, sizeof *p->v, by_place);
    for (size_t i = 0, to; ns != NULL && i < p->n; i = to) {
        for (to = i; to < p->n && p->v[to].place == p->v[i].place; to++)
            ns[to - i] = p->v[to].ns;
        int64_t usual = to - i > 1 ? tl_usual(ns, to - i) : 0;
        for (size_t k = i; k < to; k++)
            p->v[k].ns = usual;
    }
    free(ns);
    return ns != NULL;
}

bool tl_baseline_places(const tl_baseline *b)
{
    tl_asked asked;
    bool ok = tl_asked_new(b->graph->nranks, &asked);
    for (size_t r = 0; ok && r < asked.n; r++)
        ok = !tl_graph_has(b->graph, r) || tl_bytes_put(&asked.in[r], &b->role_of[r], sizeof *b->role_of);
    ok = ok && tl_ask_ranks(b->asker, TL_ASK_PLACES, &asked);
    tl_asked_free(&asked);
    return ok;
}
