/* call_tree.c - the tree of a rank's calling contexts, as rows.
 *
 *     forward                 node 0, depth 0        preorder: a node, then its descendants;
 *       linear                     1        1        of siblings, the one with the most device time first
 *         cudaLaunchKernel         2        2
 *           gemm                   3        3
 *     backward                     4        0
 *
 * The host's timeline becomes a tree:
 *
 *     thread 1   [forward               ][backward           ]     forward   linear   addmm   launch   gemm
 *                  [linear      ]                                  backward  AddmmBackward0 (forward: addmm)  ...
 *                    [addmm ]
 *     launch           |
 *     thread 2                             [AddmmBackward0]
 *
 * One sweep over each thread opens and closes its operators, annotations and modules as they are nested; a launch
 * belongs to the innermost one.  The main thread, the one with the most annotations, comes first: work of a thread
 * without an annotation of its own belongs to the annotation that is open on the main thread.  An operator of length 0
 * is a parent of whatever begins at the same instant.
 */
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/analysis/rank/work.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/tree_table.h"
#include "tlmpi/model/view.h"
#include <math.h>
#include <stdlib.h>

/* A calling context: a name below its parent. */
typedef struct tree_node {
    uint32_t parent;
    uint32_t forward;       /* node of the forward operator; TL_NONE: none */
    uint32_t child, follow; /* a guess at the next node: the child used last, and the sibling that followed last;
                             * TL_NONE: none */
    int64_t called_ns;      /* host time in nodes below it on its own thread */
    tl_call_tree row;       /* without number, parent and forward operator until rows are chosen; launches to steps_ns,
                             * except device_self_ns and steps_count, are sums over the subtree once it is complete */
} tree_node;

/* Node 0 is the root, and has no row.  A node comes after its parent. */
typedef struct context_tree {
    TL_VEC(tree_node) nodes;
    tl_map places; /* hash of (parent, kind, name, forward) -> node */
} context_tree;

/* ----------------------------------------------------------------------------------------------------------- nodes */

static bool is_child(const tree_node *n, uint32_t parent, tl_tree_kind kind, uint32_t name, uint32_t forward)
{
    return n->row.name == name && n->parent == parent && n->row.kind == kind && n->forward == forward;
}

/* Returns the child with these properties, adding it if it is new.  Tries first the sibling that followed the last
 * child the last time.  On a hash collision the next key is tried. */
static uint32_t child_of(context_tree *t, uint32_t parent, tl_tree_kind kind, uint32_t name, uint32_t forward)
{
    uint32_t last = t->nodes.v[parent].child, next = last != TL_NONE ? t->nodes.v[last].follow : TL_NONE;
    bool found = next != TL_NONE && is_child(&t->nodes.v[next], parent, kind, name, forward);
    uint64_t end = (uint64_t)parent << 32 | name;

    for (uint64_t key = found ? 0 : tl_hash_mix(tl_hash_mix(kind, forward), end); !found; key++) {
        tl_mem_indexable(t->nodes.n);
        next = tl_map_number(&t->places, key, t->nodes.n);
        if (next == t->nodes.n)
            tl_vec_push(&t->nodes, (tree_node){ parent, forward, TL_NONE, TL_NONE, 0,
                                                { .rank = t->nodes.v[parent].row.rank,
                                                  .depth = t->nodes.v[parent].row.depth + 1,
                                                  .kind = (uint8_t)kind,
                                                  .name = name } });
        found = is_child(&t->nodes.v[next], parent, kind, name, forward);
    }
    if (last != TL_NONE)
        t->nodes.v[last].follow = next;
    t->nodes.v[parent].child = next;
    return next;
}

/* From at_ns on, `node` is the innermost annotation open on the main thread; node 0: none is open. */
typedef struct turn {
    int64_t at_ns;
    uint32_t node;
} turn;

/* A forward operator, in order of operators. */
typedef struct forward {
    uint32_t op, backward; /* indices in view->ops and view->backwards */
} forward;

/* The open operators and annotations, and their nodes. */
typedef struct opened {
    tl_open_ops ops;
    TL_VEC(uint32_t) nodes;
} opened;

typedef struct growing {
    const tl_rank_view *view;
    context_tree *tree;
    tl_arena arena;
    bool *is_mark, *is_module; /* by name: is a step mark, a module */
    uint32_t *call;            /* by launch: its node; TL_NONE: none */
    uint32_t *of;              /* by entry of view->backwards: the node of its forward operator; TL_NONE: none */
    forward *forwards;
    tl_thread_launches launches;
    TL_VEC(turn) turns;

    opened all;         /* of the current thread */
    opened annotations; /* of the main thread */
    size_t next_forward, next_backward;
} growing;

static bool is_in_tree(const growing *g, uint32_t op)
{
    const tl_ops *ops = &g->view->ops;
    if (ops->kind[op] == TL_OP || ops->name[op] == TL_NO_NAME)
        return ops->kind[op] == TL_OP;
    return ops->kind[op] == TL_ANNOTATION ? !g->is_mark[ops->name[op]] : g->is_module[ops->name[op]];
}

/* Closes the annotations of the main thread that end by at_ns, in order of end. */
static void close_until(growing *g, int64_t at_ns)
{
    tl_open_ops *open = &g->annotations.ops;
    while (open->stack.n > 0) {
        int64_t end_ns = tl_op_end(open->ops, open->stack.v[open->stack.n - 1]);
        if (end_ns > at_ns)
            break;
        (void)tl_open_ops_innermost(open, end_ns);
        tl_vec_push(&g->turns, (turn){ end_ns, open->stack.n > 0 ? g->annotations.nodes.v[open->stack.n - 1] : 0 });
    }
}

/* Returns the innermost annotation open on the main thread at at_ns; node 0: none is open. */
static uint32_t annotation_at(const growing *g, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, g->turns.n, mid, g->turns.v[mid].at_ns <= at_ns);
    return low > 0 ? g->turns.v[low - 1].node : 0;
}

/* ----------------------------------------------------------------------------------------------------- one thread */

/* Opens an operator or annotation; closes all ended operators and annotations before. */
static inline void push_open(opened *o, uint32_t op, uint32_t node)
{
    tl_vec_room(&o->ops.stack);
    size_t n = o->ops.stack.n++;
    if (n == o->nodes.cap)
        tl_grow((void **)&o->nodes.v, &o->nodes.cap, n + 1, sizeof *o->nodes.v);
    o->ops.stack.v[n] = op;
    o->nodes.v[n] = node;
}

/* Returns the node of the forward operator of the backward operator `op`; TL_NONE: there is none. */
static uint32_t forward_of(growing *g, uint32_t op)
{
    const tl_backward *v = g->view->backwards;
    while (g->next_backward < g->view->nbackwards && v[g->next_backward].op < op)
        g->next_backward++;
    return g->next_backward < g->view->nbackwards && v[g->next_backward].op == op ? g->of[g->next_backward] : TL_NONE;
}

/* Adds the time of a call to the callee time of the open entry `open`, clipped to its end. */
static void add_called(growing *g, size_t open, int64_t start_ns, int64_t end_ns)
{
    int64_t until = tl_ns_min(tl_op_end(&g->view->ops, g->all.ops.stack.v[open]), end_ns);
    tree_node *n = &g->tree->nodes.v[g->all.nodes.v[open]];
    n->called_ns = tl_ns_add(n->called_ns, tl_ns_max(until - start_ns, 0));
}

/* Opens the next operator or annotation of the thread. */
static void open_op(growing *g, uint32_t op, bool main)
{
    const tl_ops *ops = &g->view->ops;
    bool annotation = ops->kind[op] == TL_ANNOTATION;
    int64_t at_ns = ops->start_ns[op];
    uint32_t name = tl_name_key(g->view, ops->name[op]), node;

    (void)tl_open_ops_innermost(&g->all.ops, at_ns);
    size_t open = g->all.ops.stack.n;
    uint32_t parent = open > 0 ? g->all.nodes.v[open - 1] : main || annotation ? 0 : annotation_at(g, at_ns);
    if (open > 0)
        add_called(g, open - 1, at_ns, tl_op_end(ops, op));
    if (ops->kind[op] != TL_OP)
        node = child_of(g->tree, parent, annotation ? TL_TREE_ANNOTATION : TL_TREE_MODULE, name, TL_NONE);
    else
        node = child_of(g->tree, parent, TL_TREE_OPERATOR, name, forward_of(g, op));
    push_open(&g->all, op, node);
    tl_call_tree *n = &g->tree->nodes.v[node].row;
    n->count++;
    n->steps_count += tl_step_at(g->view->steps, g->view->nsteps, at_ns) >= 0;
    n->host_ns = tl_ns_add(n->host_ns, ops->dur_ns[op]);
    if (!annotation) {
        const size_t nbackwards = g->view->nbackwards; /* for its backward operators */
        while (g->next_forward < nbackwards && g->forwards[g->next_forward].op < op)
            g->next_forward++;
        for (; g->next_forward < nbackwards && g->forwards[g->next_forward].op == op; g->next_forward++)
            g->of[g->forwards[g->next_forward].backward] = node;
    }
    if (main && annotation) {
        close_until(g, at_ns);
        push_open(&g->annotations, op, node);
        tl_vec_push(&g->turns, (turn){ at_ns, node });
    }
}

/* Adds a call that queued work, below the node `parent`. */
static void add_call(growing *g, uint32_t launch, uint32_t parent)
{
    const tl_launch *l = &g->view->launches[launch];
    uint32_t node = child_of(g->tree, parent, TL_TREE_CALL, tl_name_key(g->view, l->name), TL_NONE);
    tl_call_tree *n = &g->tree->nodes.v[node].row;
    n->count++;
    n->steps_count += tl_step_at(g->view->steps, g->view->nsteps, l->start_ns) >= 0;
    n->launches++;
    n->host_ns = tl_ns_add(n->host_ns, l->end_ns - l->start_ns);
    g->call[launch] = node;
}

/* Adds a call below its operator or annotation in the view, or a module that lasts as long as the call, whichever began
 * last.  Nodes that began by then are open. */
static void place_call(growing *g, uint32_t launch, const tl_thread *thread)
{
    const tl_launch *l = &g->view->launches[launch];
    const tl_ops *ops = &g->view->ops;
    const uint32_t *v = g->all.ops.stack.v;
    size_t n = g->all.ops.stack.n;
    bool own = l->annotation != TL_NONE && l->annotation >= thread->first && l->annotation - thread->first < thread->n;
    uint32_t place = own && (l->op == TL_NONE || l->annotation > l->op) ? l->annotation : l->op;

    while (n > 0 && v[n - 1] != place && (ops->kind[v[n - 1]] != TL_FRAME || tl_op_end(ops, v[n - 1]) < l->end_ns))
        n--;
    if (n == 0) {
        add_call(g, launch, own || l->annotation == TL_NONE ? 0 : annotation_at(g, l->start_ns));
        return;
    }
    add_called(g, n - 1, l->start_ns, l->end_ns);
    add_call(g, launch, g->all.nodes.v[n - 1]);
}

static void sweep_thread(growing *g, const tl_thread *thread, bool main)
{
    const tl_rank_view *view = g->view;
    const tl_thread_launches *by = &g->launches;
    bool launches = thread->track < by->ntracks;
    size_t at = launches ? by->first[thread->track] : 0, end = launches ? by->first[thread->track + 1] : 0;
    size_t op = thread->first, last = thread->first + thread->n;

    g->all.ops.stack.n = g->next_forward = g->next_backward = 0;
    TL_BISECT(g->next_forward, view->nbackwards, mid, g->forwards[mid].op < op);
    TL_BISECT(g->next_backward, view->nbackwards, mid, view->backwards[mid].op < op);
    for (; at <= end; at++) {
        int64_t until_ns = at < end ? view->launches[by->v[at]].start_ns : INT64_MAX;
        for (; op < last && view->ops.start_ns[op] <= until_ns; op++)
            if (is_in_tree(g, (uint32_t)op))
                open_op(g, (uint32_t)op, main);
        if (at < end && view->launches[by->v[at]].nkernels > 0)
            place_call(g, by->v[at], thread);
    }
    if (main)
        close_until(g, INT64_MAX);
}

/* -------------------------------------------------------------------------------------------------------- the whole */

TL_SORT_BY(by_forward, forward, op, backward)

/* Whether an operator of the forward pass ran on the thread. */
static bool has_forwards(const growing *g, const tl_thread *thread)
{
    size_t at = 0, n = g->view->nbackwards;
    TL_BISECT(at, n, mid, g->forwards[mid].op < thread->first);
    return at < n && g->forwards[at].op - thread->first < thread->n;
}

/* Sweeps the main thread, then threads with forward operators, then the others: a backward operator then finds the node
 * of its forward operator. */
static void sweep_all(growing *g)
{
    const tl_ops *ops = &g->view->ops;
    const tl_thread *main = tl_main_thread(ops);
    if (main != NULL)
        sweep_thread(g, main, true);

    for (int rest = 0; rest < 2; rest++)
        for (size_t t = 0; t < ops->nthreads; t++)
            if (&ops->threads[t] != main && has_forwards(g, &ops->threads[t]) == (rest == 0))
                sweep_thread(g, &ops->threads[t], false);
    for (uint32_t i = 0; i < g->view->nlaunches; i++) { /* launches of threads without operators */
        const tl_launch *l = &g->view->launches[i];
        if (g->call[i] == TL_NONE && l->nkernels > 0)
            add_call(g, i, l->annotation != TL_NONE ? annotation_at(g, l->start_ns) : 0);
    }
}

/* Returns, by kernel, the time in which its device does nothing but communicate and the kernel is the last to end. */
static const int64_t *exposed_by_kernel(growing *g)
{
    const tl_rank_view *view = g->view;
    int64_t *exposed_ns = tl_arena_zeroed(&g->arena, view->nkernels, sizeof *exposed_ns);
    tl_comm_spans spans = { 0 };

    for (size_t first = 0, end; view->ncolls > 0 && first < view->nkernels; first = end) {
        end = tl_device_end(view, first);
        tl_comm_only_of_device(view, first, end, &spans);
    }
    TL_EACH (const tl_comm_span, span, spans)
        exposed_ns[span->kernel] += span->end_ns - span->start_ns;
    free(spans.v);
    return exposed_ns;
}

static void add_work(growing *g)
{
    context_tree *t = g->tree;
    const int64_t *exposed_ns = exposed_by_kernel(g);
    /* By name: whether some launch of such work is recorded.  A kernel without a name has TL_NO_NAME. */
    bool *launched = tl_arena_zeroed(&g->arena, g->view->names->n, sizeof *launched);

    for (size_t i = 0; i < g->view->nkernels; i++)
        if (g->view->kernels[i].name != TL_NO_NAME)
            launched[g->view->kernels[i].name] |= g->view->kernels[i].launch != TL_NONE;
    for (size_t i = 0; i < g->view->nkernels; i++) {
        const tl_kernel *k = &g->view->kernels[i];
        uint32_t call = k->launch != TL_NONE ? g->call[k->launch] : child_of(t, 0, TL_TREE_NONE, TL_NO_NAME, TL_NONE);
        uint32_t node = child_of(t, call, TL_TREE_WORK, tl_name_key(g->view, k->name), TL_NONE);
        uint32_t around = t->nodes.v[call].parent, in = around != 0 ? around : call;
        int64_t ns = k->end_ns - k->start_ns;
        tl_call_tree *n = &t->nodes.v[node].row, *self = &t->nodes.v[in].row;
        n->count++;
        n->kernels++;
        n->device_ns = tl_ns_add(n->device_ns, ns);
        n->comm_exposed_ns = tl_ns_add(n->comm_exposed_ns, exposed_ns[i]);
        if (k->step >= 0 && (k->launch != TL_NONE || k->name == TL_NO_NAME || !launched[k->name])) {
            n->steps_count++;
            n->steps_ns = tl_ns_add(n->steps_ns, ns);
        }
        self->device_self_ns = tl_ns_add(self->device_self_ns, ns);
    }
}

/* Fills an empty tree from what the host did and launched. */
static void grow_tree(context_tree *tree, const tl_rank_view *view)
{
    growing g = { .view = view, .tree = tree };
    const size_t nbackwards = view->nbackwards;

    g.all.ops.ops = g.annotations.ops.ops = &view->ops;
    g.is_mark = tl_arena_take(&g.arena, view->names->n, sizeof *g.is_mark);
    g.is_module = tl_arena_take(&g.arena, view->names->n, sizeof *g.is_module);
    g.call = tl_arena_take(&g.arena, view->nlaunches, sizeof *g.call);
    g.of = tl_arena_take(&g.arena, nbackwards, sizeof *g.of);
    g.forwards = tl_arena_take(&g.arena, nbackwards, sizeof *g.forwards);
    tl_launches_by_thread(view, &g.arena, &g.launches);
    for (uint32_t id = 0; id < view->names->n; id++) {
        g.is_mark[id] = tl_is_step_mark(view->names, view->served, id);
        g.is_module[id] = tl_text_starts(tl_names_text(view->names, id), "nn.Module: ");
    }
    for (size_t i = 0; i < view->nlaunches; i++)
        g.call[i] = TL_NONE;
    for (size_t i = 0; i < nbackwards; i++) {
        g.of[i] = TL_NONE;
        g.forwards[i] = (forward){ view->backwards[i].forward, (uint32_t)i };
    }
    qsort(g.forwards, nbackwards, sizeof *g.forwards, by_forward);
    tl_vec_push(&tree->nodes, (tree_node){ TL_NONE, TL_NONE, TL_NONE, TL_NONE, 0,
                                           { .rank = view->rank, .depth = -1, .name = TL_NO_NAME } });
    sweep_all(&g);
    add_work(&g);
    /* Adds the sums of each node to its parent. */
    for (size_t i = tree->nodes.n; i-- > 1;) {
        const tl_call_tree *n = &tree->nodes.v[i].row;
        tl_call_tree *around = &tree->nodes.v[tree->nodes.v[i].parent].row;
        around->launches += n->launches;
        around->kernels += n->kernels;
        around->device_ns = tl_ns_add(around->device_ns, n->device_ns);
        around->comm_exposed_ns = tl_ns_add(around->comm_exposed_ns, n->comm_exposed_ns);
        around->steps_ns = tl_ns_add(around->steps_ns, n->steps_ns);
    }
    tl_arena_free(&g.arena);
    free(g.turns.v);
    free(g.all.ops.stack.v);
    free(g.all.nodes.v);
    free(g.annotations.ops.stack.v);
    free(g.annotations.nodes.v);
}

/* --------------------------------------------------------------------------------------------------------- rows */

enum { MOST_ROWS = 4096 }; /* rows of a rank */

typedef struct listing {
    const context_tree *tree;
    const tl_rank_view *view;
    uint32_t *order; /* nodes in preorder, without node 0 */
    int32_t *row;    /* by node: its row; -1: none */
} listing;

/* Order of siblings (and of their parents). */
static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const listing *l = context;
    const tree_node *x = &l->tree->nodes.v[a], *y = &l->tree->nodes.v[b];
    const tl_names *names = l->view->names;
    int order = TL_ORDER(x, y, parent, DOWN(row.device_ns), DOWN(row.host_ns));
    order = order != 0 ? order : tl_text_compare(tl_names_text(names, x->row.name), tl_names_text(names, y->row.name));
    order = order != 0 ? order : TL_COMPARE(x->row.kind, y->row.kind);
    return order != 0 ? order : TL_COMPARE(a, b);
}

/* Orders the nodes, and gives a row to the MOST_ROWS nodes with the most device time, ties in preorder.  A node has at
 * most the device time of its parent, which comes before it: so the parent of a node with a row has one, too. */
static void order_nodes(listing *l, tl_arena *arena)
{
    const tree_node *nodes = l->tree->nodes.v;
    size_t n = l->tree->nodes.n, most = n - 1 < MOST_ROWS ? n - 1 : MOST_ROWS;
    uint32_t *parent_of = tl_arena_take(arena, n, sizeof *parent_of),
             *children = tl_arena_take(arena, n, sizeof *children), *stack = tl_arena_take(arena, n, sizeof *stack);
    size_t *first = tl_arena_take(arena, n + 1, sizeof *first), depth = 0, place = 0;
    int64_t *device_ns = tl_arena_take(arena, n, sizeof *device_ns), least_ns = INT64_MAX;
    int32_t nrows = 0, ties = 0;

    l->order = tl_arena_take(arena, n, sizeof *l->order);
    l->row = tl_arena_take(arena, n, sizeof *l->row);
    for (size_t i = 0; i < n; i++) {
        parent_of[i] = nodes[i].parent;
        device_ns[i] = nodes[i].row.device_ns;
    }
    tl_ns_sort(device_ns + 1, n - 1);
    for (size_t i = n; i-- > n - most; least_ns = device_ns[i])
        ties = device_ns[i] == least_ns ? ties + 1 : 1;
    tl_group_rows(parent_of, n, n, first, children);
    tl_sort_index(children, n - 1, by_time, l);
    stack[depth++] = 0;
    while (depth > 0) { /* preorder */
        uint32_t node = stack[--depth];
        if (node != 0) {
            const int64_t over_ns = nodes[node].row.device_ns - least_ns;
            const bool has_row = over_ns > 0 || (over_ns == 0 && ties-- > 0);
            l->order[place++] = node;
            l->row[node] = has_row ? nrows++ : -1;
        }
        for (size_t i = first[node + 1]; i-- > first[node];)
            stack[depth++] = children[i];
    }
}

/* ----------------------------------------------------------------------------------------------------------- rows */

/* Adds a node without a row to the row of the rest.  Its descendants have no row either, so sums of self times are
 * total times. */
static void add_rest(tl_call_tree *rest, const tl_call_tree *n)
{
    rest->count++;
    rest->host_self_ns = rest->host_ns = tl_ns_add(rest->host_ns, n->host_self_ns);
    rest->device_self_ns = tl_ns_add(rest->device_self_ns, n->device_self_ns);
    if (n->kind == TL_TREE_CALL)
        rest->launches += n->launches;
    if (n->kind != TL_TREE_WORK)
        return;
    rest->kernels += n->kernels;
    rest->device_ns = tl_ns_add(rest->device_ns, n->device_ns);
    rest->comm_exposed_ns = tl_ns_add(rest->comm_exposed_ns, n->comm_exposed_ns);
    rest->steps_ns = tl_ns_add(rest->steps_ns, n->steps_ns);
}

static void add_rows(const listing *l, tl_table *table)
{
    size_t n = l->tree->nodes.n - 1;
    const int64_t all_ns = l->tree->nodes.v[0].row.device_ns;
    tl_call_tree rest = { .rank = l->view->rank,
                          .node = MOST_ROWS,
                          .parent = -1,
                          .depth = -1,
                          .kind = TL_TREE_REST,
                          .forward = -1,
                          .name = TL_NO_NAME };

    tl_table_reserve(table, n < MOST_ROWS ? n : MOST_ROWS + 1);
    for (size_t i = 0; i <= n; i++) {
        const tree_node *node = i < n ? &l->tree->nodes.v[l->order[i]] : NULL;
        tl_call_tree row = node != NULL ? node->row : rest;
        if (node != NULL) {
            row.node = l->row[l->order[i]];
            row.parent = node->parent != 0 ? l->row[node->parent] : -1;
            row.forward = node->forward != TL_NONE ? l->row[node->forward] : -1;
            row.host_self_ns = tl_ns_max(row.host_ns - node->called_ns, 0);
        }
        row.share = (double)row.device_ns / (all_ns > 0 ? (double)all_ns : NAN);
        if (row.node < 0)
            add_rest(&rest, &row);
        else if (node != NULL || rest.count != 0)
            tl_table_append(table, &row, 1);
    }
}

static void tree_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    context_tree tree = { .nodes = { .n = 0 } };
    tl_arena arena = { 0 };
    listing l = { .tree = &tree, .view = view };
    (void)config;

    grow_tree(&tree, view);
    order_nodes(&l, &arena);
    add_rows(&l, tl_tables_get(out, &tl_call_tree_schema));
    tl_arena_free(&arena);
    free(tree.nodes.v);
    tl_map_free(&tree.places);
}

const tl_analysis tl_tree_analysis = { .needs = TL_NEEDS_HOST, .per_rank = tree_per_rank };
