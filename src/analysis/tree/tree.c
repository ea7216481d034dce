/* tree.c - the tree of a rank's calling contexts, as rows.
 *
 *     forward                 node 0, depth 0        a node, and then what is below it:
 *       linear                     1        1        what has the most device time first
 *         cudaLaunchKernel         2        2
 *           gemm                   3        3
 *     backward                     4        0
 */
#include "tlmpi/analysis/tree.h"
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/base/text.h"
#include <math.h>

enum { MOST_ROWS = 4096 }; /* of a rank */

typedef struct listing {
    const tl_tree *tree;
    const tl_rank_view *view;
    uint32_t *order; /* nodes as they are printed, without node 0 */
    uint32_t *place; /* by node: where it stands there */
    int32_t *row;    /* by node: its row; -1: it has none */
} listing;

/* Children of one parent, as they are printed. */
static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const listing *l = context;
    const tl_node *x = &l->tree->nodes.v[a], *y = &l->tree->nodes.v[b];
    int order = TL_COMPARE(x->parent, y->parent);
    order = order != 0 ? order : TL_ORDER(y, x, device_ns, host_ns);
    if (order == 0)
        order = tl_text_compare(tl_names_text(l->view->names, x->name), tl_names_text(l->view->names, y->name));
    return order != 0 ? order : x->kind != y->kind ? TL_COMPARE(x->kind, y->kind) : TL_COMPARE(a, b);
}

static void put_in_order(listing *l, tl_arena *arena)
{
    size_t n = l->tree->nodes.n;
    uint32_t *parent_of = tl_arena_take(arena, n, sizeof *parent_of),
             *children = tl_arena_take(arena, n, sizeof *children), *stack = tl_arena_take(arena, n, sizeof *stack);
    size_t *first = tl_arena_take(arena, n + 1, sizeof *first), depth = 0;
    uint32_t place = 0;

    l->order = tl_arena_take(arena, n, sizeof *l->order);
    l->place = tl_arena_take(arena, n, sizeof *l->place);
    l->row = tl_arena_take(arena, n, sizeof *l->row);
    for (size_t i = 0; i < n; i++)
        parent_of[i] = l->tree->nodes.v[i].parent;
    tl_group_rows(parent_of, n, n, first, children);
    tl_sort_index(children, n - 1, by_time, l);
    stack[depth++] = 0;
    while (depth > 0) { /* in preorder */
        uint32_t node = stack[--depth];
        if (node != 0) {
            l->place[node] = place;
            l->order[place++] = node;
        }
        for (size_t i = first[node + 1]; i-- > first[node];)
            stack[depth++] = children[i];
    }
}

/* By descending device time, then by order of printing.  A node has no more device time than its parent, which is
 * printed before it: so the first n nodes in this order include their parents. */
static int by_device_time(const void *context, uint32_t a, uint32_t b)
{
    const listing *l = context;
    const tl_node *x = &l->tree->nodes.v[a], *y = &l->tree->nodes.v[b];
    return x->device_ns != y->device_ns ? TL_COMPARE(y->device_ns, x->device_ns) : TL_COMPARE(l->place[a], l->place[b]);
}

/* Gives the nodes with the most device time a row. */
static void choose(listing *l)
{
    size_t n = l->tree->nodes.n - 1;
    int32_t nrows = 0;

    if (n > MOST_ROWS) {
        uint32_t *most = tl_malloc(n * sizeof *most);
        for (size_t i = 0; i < n; i++)
            most[i] = l->order[i];
        tl_sort_index(most, n, by_device_time, l);
        for (size_t i = MOST_ROWS; i < n; i++)
            l->row[most[i]] = -1;
        for (size_t i = 0; i < MOST_ROWS; i++)
            l->row[most[i]] = 0;
        free(most);
    }
    for (size_t i = 0; i < n; i++)
        if (n <= MOST_ROWS || l->row[l->order[i]] == 0)
            l->row[l->order[i]] = nrows++;
}

/* ----------------------------------------------------------------------------------------------------------- rows */

static double share_of(const listing *l, int64_t device_ns)
{
    int64_t all = l->tree->nodes.v[0].device_ns;
    return (double)device_ns / (all > 0 ? (double)all : NAN);
}

static int64_t self_of(const tl_node *n)
{
    return tl_ns_max(n->host_ns - n->called_ns, 0);
}

/* Adds a node without a row to the row of the rest.  All nodes below it are without a row, too, so the sums of own
 * times are the times of all. */
static void add_rest(tl_call_tree *rest, const tl_node *n)
{
    rest->count++;
    rest->host_self_ns = rest->host_ns = tl_ns_add(rest->host_ns, self_of(n));
    rest->device_self_ns = tl_ns_add(rest->device_self_ns, n->device_self_ns);
    if (n->kind == TL_TREE_CALL)
        rest->launches += n->launches;
    if (n->kind != TL_TREE_WORK)
        return;
    rest->kernels += n->kernels;
    rest->device_ns = tl_ns_add(rest->device_ns, n->device_ns);
}

static void add_rows(const listing *l, tl_table *table)
{
    size_t n = l->tree->nodes.n - 1;
    tl_call_tree rest = { .rank = l->view->rank,
                          .node = MOST_ROWS,
                          .parent = -1,
                          .depth = -1,
                          .kind = TL_TREE_REST,
                          .forward = -1,
                          .name = TL_NO_NAME };

    tl_table_reserve(table, n < MOST_ROWS ? n : MOST_ROWS + 1);
    for (size_t i = 0; i < n; i++) {
        const tl_node *node = &l->tree->nodes.v[l->order[i]];
        int32_t at = l->row[l->order[i]];
        if (at < 0) {
            add_rest(&rest, node);
            continue;
        }
        const tl_call_tree row = (tl_call_tree){
            .rank = l->view->rank,
            .node = at,
            .parent = node->parent != 0 ? l->row[node->parent] : -1,
            .depth = (int32_t)node->depth - 1,
            .kind = node->kind,
            .forward = node->forward != TL_NONE ? l->row[node->forward] : -1,
            .count = node->count,
            .host_ns = node->host_ns,
            .host_self_ns = self_of(node),
            .launches = node->launches,
            .kernels = node->kernels,
            .device_ns = node->device_ns,
            .device_self_ns = node->device_self_ns,
            .share = share_of(l, node->device_ns),
            .name = node->name,
        };
        tl_table_append(table, &row, 1);
    }
    rest.share = share_of(l, rest.device_ns);
    if (rest.count != 0)
        tl_table_append(table, &rest, 1);
}

static void tree_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_tree tree = { .nodes = { .n = 0 } };
    tl_arena arena = { 0 };
    listing l = { .tree = &tree, .view = view };
    (void)config;

    tl_tree_grow(&tree, view);
    put_in_order(&l, &arena);
    choose(&l);
    add_rows(&l, tl_tables_get(out, &tl_call_tree_schema));
    tl_arena_free(&arena);
    free(tree.nodes.v);
    tl_map_free(&tree.places);
}

const tl_analysis tl_tree_analysis = {
    .name = "call_tree",
    .question = "What called what, and which device work came of it?",
    .needs = TL_NEEDS_HOST,
    .tables = TL_SCHEMAS(&tl_call_tree_schema),
    .per_rank = tree_per_rank,
};
