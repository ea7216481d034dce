/* cells.c - every piece of work to its class, and the sums of each class by rank and step. */
#include "parts.h"
#include "tlmpi/base/hash.h"
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------------- segments */

static void find_cuts(tl_baseline *b)
{
    const tl_graph *g = b->graph;
    for (size_t r = 0; r < g->nranks; r++)
        for (uint32_t v = g->first_node[r]; v < g->first_node[r + 1]; v++) {
            tl_step_cut *c = &b->cuts[r * b->nsteps + b->step_of[v]];
            if (g->nodes[v].kind != TL_NODE_ARRIVAL)
                continue;
            c->first = c->n == 0 || g->nodes[v].segment < c->first ? g->nodes[v].segment : c->first;
            c->n++;
        }
    for (size_t q = 0; q < b->nroles; q++)
        for (size_t s = 0; s < b->nsteps; s++) {
            const uint32_t *members = b->members + b->roles[q].first;
            bool alike = true;
            for (size_t i = 1; i < b->roles[q].n; i++)
                alike = alike && b->cuts[members[i] * b->nsteps + s].n == b->cuts[members[0] * b->nsteps + s].n;
            b->alike[q * b->nsteps + s] = alike;
        }
}

/* The stretch of a cut step with n collectives that is `at` from its beginning, in a whole one with `whole` of them. */
static uint32_t segment_of_cut(const tl_baseline *b, uint32_t step, uint32_t at, uint32_t n, uint32_t whole)
{
    if (step > b->first_whole)
        return at <= whole ? at : at % whole;
    return at < n ? whole - 1 - (n - at - 1) % whole : whole;
}

uint32_t tl_segment_of(const tl_baseline *b, size_t rank, uint32_t node)
{
    uint32_t step = b->step_of[node], segment = b->graph->nodes[node].segment;
    size_t like = b->cut[step] ? tl_whole_step_at(b, step) : step;
    const tl_step_cut *c = &b->cuts[rank * b->nsteps + step];
    if (like == b->nsteps || !b->alike[b->role_of[rank] * b->nsteps + like] || b->cuts[rank * b->nsteps + like].n == 0)
        return UINT32_MAX;
    uint32_t at = segment < c->first ? 0 : segment - c->first;
    at = at < c->n ? at : c->n;
    return b->cut[step] ? segment_of_cut(b, step, at, c->n, b->cuts[rank * b->nsteps + like].n) : at;
}

/* ----------------------------------------------------------------------------------------------------------- classes */

static bool is_host_work(const tl_node *node)
{
    return node->kind == TL_NODE_LAUNCH || node->kind == TL_NODE_WAIT_BEGIN || node->kind == TL_NODE_WAIT_END;
}

static bool class_init(const tl_baseline *b, tl_family family, uint32_t role, uint64_t key, tl_work_class *out)
{
    size_t cells = b->roles[role].n * b->nsteps + 1;
    bool transfer = family == TL_FAMILY_TRANSFER;
    *out = (tl_work_class){ .key = key,
                            .role = role,
                            .family = (uint8_t)family,
                            .ns = tl_calloc(cells, sizeof *out->ns),
                            .pieces = tl_calloc(cells, sizeof *out->pieces),
                            .sure_ns = transfer ? tl_calloc(cells, sizeof *out->sure_ns) : NULL };
    return out->ns != NULL && out->pieces != NULL && (out->sure_ns != NULL || !transfer);
}

void tl_class_free(tl_work_class *class)
{
    free(class->ns);
    free(class->pieces);
    free(class->sure_ns);
}

uint32_t tl_class_at(tl_baseline *b, tl_classes *classes, tl_family family, uint32_t role, uint64_t key)
{
    uint64_t all = tl_hash_mix(tl_hash_mix((uint64_t)family + 1, role), key);
    uint32_t number = tl_map_get(&classes->number_of, all);
    if (number != TL_MAP_NONE)
        return number;
    if (!tl_grow((void **)&b->classes, &classes->room, b->nclasses + 1, sizeof *b->classes))
        return TL_NONE;
    tl_work_class class;
    number = (uint32_t)b->nclasses;
    if (!class_init(b, family, role, key, &class) || tl_map_put(&classes->number_of, all, number) != 0) {
        tl_class_free(&class);
        return TL_NONE;
    }
    b->classes[b->nclasses++] = class;
    return number;
}

/* The class, with what a node has of it; TL_NONE when memory is out. */
static uint32_t fill_in(tl_baseline *b, tl_classes *classes, size_t rank, uint32_t node, tl_family family, uint64_t key,
                        int64_t ns)
{
    uint32_t class = tl_class_at(b, classes, family, b->role_of[rank], key);
    if (class == TL_NONE)
        return TL_NONE;
    size_t cell = b->place_of[rank] * b->nsteps + b->step_of[node];
    b->classes[class].ns[cell] += ns;
    b->classes[class].pieces[cell]++;
    return class;
}

static bool fill_rank(tl_baseline *b, tl_classes *classes, size_t rank)
{
    const tl_graph *g = b->graph;

    for (uint32_t v = g->first_node[rank]; v < g->first_node[rank + 1]; v++) {
        const tl_node *node = &g->nodes[v];
        bool host = is_host_work(node);
        int64_t waited_ns = tl_waited_ns(g, v);
        uint64_t segment = host ? tl_segment_of(b, rank, v) : 0;
        if (waited_ns >= 0 && fill_in(b, classes, rank, v, TL_FAMILY_WAIT, segment, waited_ns) == TL_NONE)
            return false;
        if (host ? node->work_ns <= 0 : node->key == 0) /* what takes no time is a piece of work, too */
            continue;
        b->class_of[v] = fill_in(b, classes, rank, v, host ? TL_FAMILY_HOST : TL_FAMILY_DEVICE, host ? segment : node->key,
                                 node->work_ns);
        if (b->class_of[v] == TL_NONE)
            return false;
    }
    return true;
}

bool tl_baseline_cells(tl_baseline *out)
{
    const tl_graph *g = out->graph;
    tl_classes classes = { .room = 0 };
    out->cuts = tl_calloc(g->nranks * out->nsteps + 1, sizeof *out->cuts);
    out->alike = tl_calloc(out->nroles * out->nsteps + 1, sizeof *out->alike);
    out->class_of = tl_malloc((g->nnodes + 1) * sizeof *out->class_of);
    bool ok = out->cuts != NULL && out->alike != NULL && out->class_of != NULL;

    for (size_t v = 0; ok && v < g->nnodes; v++)
        out->class_of[v] = TL_NONE;
    if (ok)
        find_cuts(out);
    for (size_t r = 0; ok && r < g->nranks; r++)
        ok = fill_rank(out, &classes, r);
    tl_map_free(&classes.number_of);
    return ok;
}
