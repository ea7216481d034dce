/* tree.c - the call trees of both sides, merged: a path of both sides is one node, over all ranks. */
#include "internal.h"
#include "tlmpi/base/group.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the node.  Device work may be joined with other work under the same call; other nodes match by name only. */
static uint32_t node_at(tl_diff *diff, uint32_t parent, uint8_t kind, uint32_t name)
{
    uint32_t place = (parent == TL_MAP_NONE ? 0 : parent + 1) * TL_NTREE_KINDS + kind;
    work *w = tl_diff_works_at(&diff->of[CALLS], place, name);
    uint32_t at = (uint32_t)(w - diff->of[CALLS].v.v);
    if (at == diff->nodes.n) {
        tl_vec_push(&diff->nodes, (node){ .parent = parent, .kind = kind });
        w->by_name = kind != TL_TREE_WORK;
        w->operator= place;
    }
    return at;
}

/* Counts the kernel for the innermost operator around it, which launches it. */
static void add_launcher(tl_diff *diff, int which, uint32_t kernel, int64_t ns)
{
    size_t i = diff->stack[which].n;
    while (i > 0 && diff->nodes.v[diff->stack[which].v[i - 1]].kind != TL_TREE_OPERATOR)
        i--;
    if (i > 0)
        tl_diff_works_at(&diff->of[LAUNCHED], kernel, diff->of[CALLS].v.v[diff->stack[which].v[i - 1]].name)
            ->side[A]
            .ns += ns;
}

void tl_diff_take_node(tl_diff *diff, int which, const tl_call_tree *row)
{
    const side *s = &diff->side[which];
    if (place_of(s->ranks.v, s->ranks.n, row->rank) == s->ranks.n)
        return;
    size_t depth = row->depth > 0 ? (size_t)row->depth : 0;
    diff->stack[which].n = depth < diff->stack[which].n ? depth : diff->stack[which].n;
    uint32_t parent = diff->stack[which].n > 0 ? diff->stack[which].v[diff->stack[which].n - 1] : TL_MAP_NONE;
    uint32_t name = row->name != TL_NO_NAME ? tl_diff_name_in(diff, which, row->name) : TL_NO_NAME;
    if (row->kind == TL_TREE_WORK)
        add_launcher(diff, which, name, row->device_ns);
    uint32_t at = node_at(diff, parent, row->kind, name);
    tl_diff_add_rank(diff, diff->of[CALLS].v.v[at].side, which, tl_hash_mix(TL_NO_NAME, at), row->rank,
                     (amount){ .count = (double)row->count, .ns = row->device_ns });
    tl_vec_push(&diff->stack[which], at);
}

typedef struct child {
    uint32_t at, parent;
    int64_t change_ns; /* absolute value */
} child;

static int by_change(const void *a, const void *b)
{
    const child *x = a, *y = b;
    return x->parent == y->parent && x->change_ns != y->change_ns ? TL_COMPARE(y->change_ns, x->change_ns)
                                                                  : TL_ORDER(x, y, parent, at);
}

static void put_row(tl_diff *diff, uint32_t at, int32_t depth)
{
    const work *x = &diff->of[CALLS].v.v[at];
    const char *kind = tl_tree_kind_labels[diff->nodes.v[at].kind];
    tl_table *table = &diff->tables[TABLE_CALL_PATH];
    tl_diff_work *row = tl_table_add(table);
    tl_diff_amounts(diff, &diff->of[CALLS], x, row);
    row->place = (int32_t)table->n;
    row->depth = depth;
    row->kind = tl_names_intern(&diff->names, kind, strlen(kind));
    row->name = x->name;
    row->operator= TL_NO_NAME;
    row->b_name = x->aligned ? x->b_name : TL_NO_NAME;
}

/* Children of one node that are still to print. */
typedef struct level {
    size_t at, end; /* indices in the order of children */
} level;

void tl_diff_tree(tl_diff *diff)
{
    size_t n = diff->nodes.n;
    child *children = tl_calloc(n + 1, sizeof *children);
    size_t *first = tl_calloc(n + 2, sizeof *first); /* index of the first child by node; roots: first[n] */
    TL_VEC(level) open = { 0 };

    tl_diff_works_align(diff, &diff->of[CALLS]);
    for (size_t i = 0; i < n; i++) {
        const work *x = &diff->of[CALLS].v.v[i];
        uint32_t parent = diff->nodes.v[i].parent;
        const double *rate = diff->of[CALLS].rate;
        double change = (double)x->side[B].ns / rate[B] - (double)x->side[A].ns / rate[A];
        children[i] = (child){ (uint32_t)i, parent == TL_MAP_NONE ? (uint32_t)n : parent, llround(fabs(change)) };
        first[children[i].parent + 1]++;
    }
    for (size_t i = 0; i <= n; i++)
        first[i + 1] += first[i];
    if (n > 0)
        qsort(children, n, sizeof *children, by_change);
    tl_vec_push(&open, (level){ first[n], first[n + 1] });
    while (open.n > 0) {
        level *l = &open.v[open.n - 1];
        if (l->at == l->end) {
            open.n--;
            continue;
        }
        uint32_t at = children[l->at++].at;
        if (tl_diff_is_there(diff->of[CALLS].v.v[at].side))
            put_row(diff, at, (int32_t)open.n - 1);
        tl_vec_push(&open, (level){ first[at], first[at + 1] });
    }
    free(open.v);
    free(first);
    free(children);
}
