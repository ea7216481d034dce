/* changes.c - changes to the nodes of an open rank, and lanes of such changes. */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>
#include <string.h>

static void make_room(tl_changes *c)
{
    size_t n = c->open.n + (size_t)1;
    if (n <= c->room)
        return;
    tl_arena_free(&c->arena);
    c->room = n;
    c->kind_of = tl_arena_take(&c->arena, n, sizeof *c->kind_of);
    c->step_of = tl_arena_take(&c->arena, n, sizeof *c->step_of);
    c->baseline_ns = tl_arena_take(&c->arena, n, sizeof *c->baseline_ns);
    c->less_ns = tl_arena_take(&c->arena, n, sizeof *c->less_ns);
    c->gone = tl_arena_take(&c->arena, n, sizeof *c->gone);
    c->kept_of = tl_arena_take(&c->arena, n, sizeof *c->kept_of);
}

void tl_changes_reset(tl_changes *c)
{
    memset(c->less_ns, 0, c->open.n * sizeof *c->less_ns);
    memset(c->gone, 0, c->open.n * sizeof *c->gone);
}

void tl_changes_open(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_changes *c)
{
    c->class_map = class_map;
    c->compared = false;
    c->open = *rank;
    make_room(c);
    tl_changes_drop_kept(c);
    for (uint32_t v = 0; v < c->open.n; v++) {
        bool same = v > 0 && c->open.nodes[v].step == c->open.nodes[v - 1].step;
        c->step_of[v] = same ? c->step_of[v - 1]
                             : (uint32_t)tl_step_index(class_map->steps, class_map->nsteps, c->open.nodes[v].step);
    }
    tl_changes_reset(c);
}

/* A cache of kinds by node key: few kernels run again and again. */
enum { CACHED = 256 };

typedef struct cache {
    uint64_t key[CACHED];
    uint32_t kind_of[CACHED];
} cache;

static uint32_t kind_of(const tl_changes *c, cache *known, uint32_t v)
{
    const tl_node *node = &c->open.nodes[v];
    size_t at = node->key % CACHED;
    if (node->kind != TL_NODE_WORK || node->key == 0)
        return tl_kind_of(c->class_map, node);
    if (known->key[at] != node->key) {
        known->key[at] = node->key;
        known->kind_of[at] = tl_kind_of(c->class_map, node);
    }
    return known->kind_of[at];
}

void tl_changes_compare(tl_changes *c)
{
    const tl_host_pieces *pieces = c->class_map->pieces;
    size_t piece = c->class_map->first_piece;
    cache known = { .key = { 0 } };
    for (uint32_t v = 0; v < c->open.n && !c->compared; v++) {
        c->kind_of[v] = kind_of(c, &known, v);
        c->baseline_ns[v] = 0;
        if (pieces != NULL && tl_is_host_piece(&c->open.nodes[v]))
            c->baseline_ns[v] = pieces->ns.v[pieces->numbers.v[piece++]];
    }
    c->compared = true;
}

/* Whether the current changes equal those of a lane, whose first change is `at`. */
static bool is_lane(const tl_changes *c, size_t lane, size_t at)
{
    for (uint32_t v = 0; v < c->open.n; v++) {
        if (c->less_ns[v] == 0 && !c->gone[v])
            continue;
        const tl_node_change *kept = at < c->kept.n ? &c->kept.v[at++] : NULL;
        if (kept == NULL || kept->lane != lane || kept->node != v || kept->less_ns != c->less_ns[v] ||
            kept->gone != c->gone[v])
            return false;
    }
    return at == c->kept.n || c->kept.v[at].lane != lane;
}

size_t tl_changes_keep(tl_changes *c)
{
    for (size_t k = 0, at = 0; k < c->nlanes; k++) {
        if (is_lane(c, k, at))
            return k;
        while (at < c->kept.n && c->kept.v[at].lane == k)
            at++;
    }
    for (uint32_t v = 0; v < c->open.n; v++)
        if (c->less_ns[v] != 0 || c->gone[v]) {
            tl_vec_push(&c->kept, (tl_node_change){ c->less_ns[v], v, c->kept_of[v], (uint8_t)c->nlanes, c->gone[v] });
            c->kept_of[v] = (uint32_t)c->kept.n - 1;
        }
    return c->nlanes++;
}

void tl_changes_drop_kept(tl_changes *c)
{
    c->nlanes = c->kept.n = 0;
    memset(c->kept_of, 0xff, c->open.n * sizeof *c->kept_of); /* TL_NONE */
}

void tl_changes_free(tl_changes *c)
{
    tl_arena_free(&c->arena);
    free(c->kept.v);
    *c = (tl_changes){ 0 };
}
