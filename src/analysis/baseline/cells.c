/* cells.c - every piece of work to its class, and the sums of each class by rank and step. */
#include "parts.h"
#include "tlmpi/base/hash.h"
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------------- segments */

static void find_cuts(tl_baseline *b)
{
    const tl_graph *g = b->graph;
    for (size_t r = 0; r < g->nranks; r++)
        for (size_t p = 0; p < g->ranks[r].graph.ncomms; p++) {
            const tl_port *port = &g->ranks[r].ports[p];
            tl_step_cut *c = &b->cuts[r * b->nsteps + tl_step_index(b, port->step)];
            c->first = c->n == 0 || port->segment < c->first ? port->segment : c->first;
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

uint32_t tl_segment_of(const tl_baseline *b, size_t rank, const tl_node *node)
{
    uint32_t step = (uint32_t)tl_step_index(b, node->step), segment = node->segment;
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

static uint64_t key_of(tl_family family, uint32_t role, uint64_t key)
{
    return tl_hash_mix(tl_hash_mix((uint64_t)family + 1, role), key);
}

uint32_t tl_class_find(const tl_baseline *b, tl_family family, uint32_t role, uint64_t key)
{
    return tl_map_get(&b->class_of, key_of(family, role, key)); /* TL_MAP_NONE is TL_NONE */
}

uint32_t tl_class_at(tl_baseline *b, tl_family family, uint32_t role, uint64_t key)
{
    uint64_t all = key_of(family, role, key);
    uint32_t number = tl_map_get(&b->class_of, all);
    if (number != TL_MAP_NONE)
        return number;
    if (!tl_grow((void **)&b->classes, &b->class_room, b->nclasses + 1, sizeof *b->classes))
        return TL_NONE;
    tl_work_class class;
    number = (uint32_t)b->nclasses;
    if (!class_init(b, family, role, key, &class) || tl_map_put(&b->class_of, all, number) != 0) {
        tl_class_free(&class);
        return TL_NONE;
    }
    b->classes[b->nclasses++] = class;
    return number;
}

/* The family of a node's work, and its key there; false: it has none. */
static bool kind_of_work(const tl_baseline *b, size_t rank, const tl_node *node, tl_family *family, uint64_t *key)
{
    bool host = is_host_work(node);
    if (host ? node->work_ns <= 0 : node->key == 0) /* what takes no time is a piece of work, too */
        return false;
    *family = host ? TL_FAMILY_HOST : TL_FAMILY_DEVICE;
    *key = host ? tl_segment_of(b, rank, node) : node->key;
    return true;
}

uint32_t tl_class_of(const tl_baseline *b, size_t rank, const tl_node *node)
{
    tl_family family;
    uint64_t key;
    if (!kind_of_work(b, rank, node, &family, &key))
        return TL_NONE;
    return tl_class_find(b, family, b->role_of[rank], key);
}

/* What a node has of a class.  False when memory is out. */
static bool fill_in(tl_baseline *b, size_t rank, const tl_node *node, tl_family family, uint64_t key, int64_t ns)
{
    uint32_t class = tl_class_at(b, family, b->role_of[rank], key);
    if (class == TL_NONE)
        return false;
    size_t cell = b->place_of[rank] * b->nsteps + tl_step_index(b, node->step);
    b->classes[class].ns[cell] += ns;
    b->classes[class].pieces[cell]++;
    return true;
}

static bool fill_rank(tl_baseline *b, size_t rank, const tl_open_rank *o)
{
    bool ok = true;
    for (uint32_t v = 0; ok && v < o->n; v++) {
        const tl_node *node = &o->nodes[v];
        int64_t waited_ns = tl_waited_ns(o, v);
        tl_family family;
        uint64_t key;
        if (tl_computes(b, node))
            b->compute_ns[rank] += node->work_ns;
        if (waited_ns >= 0)
            ok = fill_in(b, rank, node, TL_FAMILY_WAIT, tl_segment_of(b, rank, node), waited_ns);
        if (ok && kind_of_work(b, rank, node, &family, &key))
            ok = fill_in(b, rank, node, family, key, node->work_ns);
    }
    return ok;
}

bool tl_baseline_cells(tl_baseline *out)
{
    const tl_graph *g = out->graph;
    tl_open_rank open = { 0 };
    out->cuts = tl_calloc(g->nranks * out->nsteps + 1, sizeof *out->cuts);
    out->alike = tl_calloc(out->nroles * out->nsteps + 1, sizeof *out->alike);
    out->compute_ns = tl_calloc(g->nranks + 1, sizeof *out->compute_ns);
    bool ok = out->cuts != NULL && out->alike != NULL && out->compute_ns != NULL;

    if (ok)
        find_cuts(out);
    for (size_t r = 0; ok && r < g->nranks; r++)
        ok = tl_graph_open(g, r, &open) && fill_rank(out, r, &open);
    tl_open_free(&open);
    return ok;
}
