/* nodes.c - paths that come again are one node.
 *
 *     a b c a b c       after a came b, after b c, after c a: what comes next is mostly what came next the last time
 */
#include "internal.h"
#include <stdlib.h>

static bool is_child(const tl_node *n, uint32_t parent, tl_node_kind kind, uint32_t name, uint32_t forward)
{
    return n->name == name && n->parent == parent && n->kind == kind && n->forward == forward;
}

/* Different ends of one hash are told apart by going on to the next key. */
static uint32_t find(tl_tree *t, uint32_t parent, tl_node_kind kind, uint32_t name, uint32_t forward)
{
    uint64_t end = (uint64_t)parent << 32 | name;
    for (uint64_t key = tl_hash_mix(tl_hash_mix(kind, forward), end);; key++) {
        uint32_t at = tl_map_get(&t->places, key);
        if (at != TL_MAP_NONE && is_child(&t->nodes.v[at], parent, kind, name, forward))
            return at;
        if (at != TL_MAP_NONE)
            continue;
        if (t->nodes.n >= TL_NONE)
            return TL_NONE;
        tl_vec_room(&t->nodes);
        tl_map_put(&t->places, key, (uint32_t)t->nodes.n);
        t->nodes.v[t->nodes.n] = (tl_node){ .parent = parent,
                                            .name = name,
                                            .forward = forward,
                                            .child = TL_NONE,
                                            .follow = TL_NONE,
                                            .depth = t->nodes.v[parent].depth + 1,
                                            .kind = (uint8_t)kind };
        return (uint32_t)t->nodes.n++;
    }
}

uint32_t tl_tree_child(tl_tree *t, uint32_t parent, tl_node_kind kind, uint32_t name, uint32_t forward)
{
    uint32_t last = t->nodes.v[parent].child, next = last != TL_NONE ? t->nodes.v[last].follow : TL_NONE;

    if (next == TL_NONE || !is_child(&t->nodes.v[next], parent, kind, name, forward)) {
        next = find(t, parent, kind, name, forward);
        if (next == TL_NONE)
            return TL_NONE;
        if (last != TL_NONE)
            t->nodes.v[last].follow = next;
    }
    t->nodes.v[parent].child = next;
    return next;
}

void tl_tree_free(tl_tree *t)
{
    free(t->nodes.v);
    tl_map_free(&t->places);
    *t = (tl_tree){ .nodes = { .n = 0 } };
}
