/* cells.c - what all ranks have of each class of work, by rank and step. */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------- segments */

static void find_cuts(tl_baseline *b)
{
    const tl_graph *g = b->graph;
    for (size_t r = 0; r < g->nranks; r++)
        for (size_t p = 0; p < g->ranks[r].nports; p++) {
            const tl_port *port = &g->ranks[r].ports[p];
            tl_step_cut *c = &b->cuts[r * b->nsteps + tl_step_index(b->steps, b->nsteps, port->step)];
            c->first = c->n == 0 || port->segment < c->first ? port->segment : c->first;
            c->n++;
        }
    for (size_t q = 0; q < b->nroles; q++)
        for (size_t s = 0; s < b->nsteps; s++) {
            const uint32_t *members = b->members + b->roles[q].first;
            bool comparable = true;
            for (size_t i = 1; i < b->roles[q].n; i++)
                comparable =
                    comparable && b->cuts[members[i] * b->nsteps + s].n == b->cuts[members[0] * b->nsteps + s].n;
            b->comparable[q * b->nsteps + s] = comparable;
        }
}

/* ---------------------------------------------------------------------------------------------------------- classes */

static bool class_init(tl_baseline *b, tl_family family, uint32_t role, uint64_t key, tl_work_class *out)
{
    size_t cells = b->roles[role].n * b->nsteps;
    *out = (tl_work_class){ .key = key, .role = role, .family = (uint8_t)family };
    out->ns = tl_arena_zeroed(&b->arena, cells, sizeof *out->ns);
    out->pieces = tl_arena_zeroed(&b->arena, cells, sizeof *out->pieces);
    if (family == TL_FAMILY_TRANSFER)
        out->sure_ns = tl_arena_zeroed(&b->arena, cells, sizeof *out->sure_ns);
    return !b->arena.failed;
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
    uint32_t number = tl_class_find(b, family, role, key);
    if (number != TL_NONE)
        return number;
    if (!tl_grow((void **)&b->classes, &b->class_room, b->nclasses + 1, sizeof *b->classes))
        return TL_NONE;
    number = (uint32_t)b->nclasses;
    if (!class_init(b, family, role, key, &b->classes[number]) || tl_map_put(&b->class_of, all, number) != 0)
        return TL_NONE;
    b->nclasses++;
    return number;
}

/* -------------------------------------------------------------------------------------------------------- all ranks */

static bool put_question(const tl_baseline *b, size_t rank, tl_bytes *out)
{
    const size_t whole[] = { b->first_whole, b->last_whole };
    return tl_bytes_put(out, whole, sizeof whole) && tl_bytes_put_list(out, b->steps, b->nsteps, sizeof *b->steps) &&
           tl_bytes_put_list(out, b->cut, b->nsteps, sizeof *b->cut) &&
           tl_bytes_put_list(out, b->cuts + rank * b->nsteps, b->nsteps, sizeof *b->cuts) &&
           tl_bytes_put_list(out, b->comparable + b->role_of[rank] * b->nsteps, b->nsteps, sizeof *b->comparable);
}

/* Its kinds of work become classes of its role. */
static bool take(tl_baseline *b, size_t rank, const tl_work_kind *kinds, const int64_t *ns, const uint32_t *pieces)
{
    uint32_t *class_of = b->class_of_kind[rank] = tl_arena_take(&b->arena, b->nkinds[rank], sizeof *class_of);
    for (size_t k = 0; class_of != NULL && k < b->nkinds[rank]; k++) {
        class_of[k] = tl_class_at(b, (tl_family)kinds[k].family, b->role_of[rank], kinds[k].key);
        if (class_of[k] == TL_NONE)
            return false;
        for (size_t s = 0; s < b->nsteps; s++) {
            b->classes[class_of[k]].ns[b->index_in_role[rank] * b->nsteps + s] = ns[k * b->nsteps + s];
            b->classes[class_of[k]].pieces[b->index_in_role[rank] * b->nsteps + s] = pieces[k * b->nsteps + s];
        }
    }
    return class_of != NULL;
}

static bool get_answer(tl_baseline *b, size_t rank, tl_bytes *in)
{
    tl_work_kind *kinds = NULL;
    int64_t *ns = NULL;
    uint32_t *pieces = NULL;
    size_t n;
    bool ok = tl_bytes_get(in, &b->compute_ns[rank], sizeof *b->compute_ns) &&
              tl_bytes_get_list(in, (void **)&kinds, &b->nkinds[rank], sizeof *kinds) &&
              tl_bytes_get_list(in, (void **)&ns, &n, sizeof *ns) &&
              tl_bytes_get_list(in, (void **)&pieces, &n, sizeof *pieces) && take(b, rank, kinds, ns, pieces);
    free(kinds);
    free(ns);
    free(pieces);
    return ok;
}

static bool ask(tl_baseline *b)
{
    tl_asked asked;
    bool ok = tl_asked_new(b->graph->nranks, &asked);
    for (size_t r = 0; ok && r < asked.n; r++)
        ok = !tl_graph_has(b->graph, r) || put_question(b, r, &asked.in[r]);
    ok = ok && tl_ask_ranks(b->asker, TL_ASK_CELLS, &asked);
    for (size_t r = 0; ok && r < asked.n; r++) {
        ok = !tl_graph_has(b->graph, r) || get_answer(b, r, &asked.out[r]);
        tl_bytes_free(&asked.out[r]);
    }
    tl_asked_free(&asked);
    return ok;
}

bool tl_baseline_cells(tl_baseline *out)
{
    size_t nranks = out->graph->nranks;
    out->cuts = tl_arena_zeroed(&out->arena, nranks * out->nsteps, sizeof *out->cuts);
    out->comparable = tl_arena_zeroed(&out->arena, out->nroles * out->nsteps, sizeof *out->comparable);
    out->compute_ns = tl_arena_zeroed(&out->arena, nranks, sizeof *out->compute_ns);
    out->class_of_kind = tl_arena_zeroed(&out->arena, nranks, sizeof *out->class_of_kind);
    out->nkinds = tl_arena_zeroed(&out->arena, nranks, sizeof *out->nkinds);
    if (out->arena.failed)
        return false;
    find_cuts(out);
    return ask(out);
}
