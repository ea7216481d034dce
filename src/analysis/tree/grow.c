/* grow.c - from the host's timeline to its tree.
 *
 *     thread 1   [forward               ][backward           ]     forward   linear   addmm   launch   gemm
 *                  [linear      ]                                  backward  AddmmBackward0 (forward: addmm)  ...
 *                    [addmm ]
 *     launch           |
 *     thread 2                             [AddmmBackward0]
 *
 * One sweep over each thread, its operators and annotations nested as they are for its launches, which know what is
 * around them.  The main thread, the one with the most annotations, comes first: where a thread has none around it, what
 * it does is in the annotation that is open there.  What is zero long is below what begins with it.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- nodes */

static bool is_child(const tl_node *n, uint32_t parent, tl_tree_kind kind, uint32_t name, uint32_t forward)
{
    return n->name == name && n->parent == parent && n->kind == kind && n->forward == forward;
}

/* Different ends of one hash are told apart by going on to the next key. */
static uint32_t find(tl_tree *t, uint32_t parent, tl_tree_kind kind, uint32_t name, uint32_t forward)
{
    uint64_t end = (uint64_t)parent << 32 | name;
    for (uint64_t key = tl_hash_mix(tl_hash_mix(kind, forward), end);; key++) {
        uint32_t at = tl_map_get(&t->places, key);
        if (at != TL_MAP_NONE && is_child(&t->nodes.v[at], parent, kind, name, forward))
            return at;
        if (at != TL_MAP_NONE)
            continue;
        tl_mem_indexable(t->nodes.n);
        tl_map_put(&t->places, key, (uint32_t)t->nodes.n);
        tl_vec_room(&t->nodes);
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

/* The child of the parent that is so, new if it is new.  After a node mostly comes the one that came the last time. */
static uint32_t child_of(tl_tree *t, uint32_t parent, tl_tree_kind kind, uint32_t name, uint32_t forward)
{
    uint32_t last = t->nodes.v[parent].child, next = last != TL_NONE ? t->nodes.v[last].follow : TL_NONE;

    if (next == TL_NONE || !is_child(&t->nodes.v[next], parent, kind, name, forward)) {
        next = find(t, parent, kind, name, forward);
        if (last != TL_NONE)
            t->nodes.v[last].follow = next;
    }
    t->nodes.v[parent].child = next;
    return next;
}

/* --------------------------------------------------------------------------------------------------------- growing */

/* From at_ns on, `node` is the innermost annotation open on the main thread; node 0: none. */
typedef struct turn {
    int64_t at_ns;
    uint32_t node;
} turn;

/* An operator of the forward pass, in order of operators. */
typedef struct forward {
    uint32_t op, backward; /* which of the view's */
} forward;

/* What is open, and which nodes they are. */
typedef struct opened {
    tl_open_ops ops;
    TL_VEC(uint32_t) nodes;
} opened;

typedef struct growing {
    const tl_rank_view *view;
    tl_tree *tree;
    tl_arena arena;
    bool *is_mark;  /* by name: of a step */
    uint32_t *call; /* by launch: its node; TL_NONE */
    uint32_t *of;   /* by entry of view->backwards: the node of its forward operator; TL_NONE */
    forward *forwards;
    tl_thread_launches launches;
    TL_VEC(turn) turns;

    opened all;         /* of the thread at hand */
    opened annotations; /* of the main thread */
    size_t next_forward, next_backward;
} growing;

static bool counts(const growing *g, uint32_t op)
{
    const tl_ops *ops = &g->view->ops;
    return ops->kind[op] == TL_OP ||
           (ops->kind[op] == TL_ANNOTATION && ops->name[op] != TL_NO_NAME && !g->is_mark[ops->name[op]]);
}

/* --------------------------------------------------------------------------- annotations of the main thread */

/* Closes the annotations that end by an instant, one after the other. */
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

/* The innermost annotation that is open on the main thread; node 0. */
static uint32_t annotation_at(const growing *g, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, g->turns.n, mid, g->turns.v[mid].at_ns <= at_ns);
    return low > 0 ? g->turns.v[low - 1].node : 0;
}

/* ----------------------------------------------------------------------------------------------------- one thread */

/* Opens one, after what has ended by then was closed. */
static inline void push_open(opened *o, uint32_t op, uint32_t node)
{
    tl_vec_room(&o->ops.stack);
    size_t n = o->ops.stack.n++;
    if (n == o->nodes.cap)
        tl_grow((void **)&o->nodes.v, &o->nodes.cap, n + 1, sizeof *o->nodes.v);
    o->ops.stack.v[n] = op;
    o->nodes.v[n] = node;
}

/* Returns the node of the forward operator that belongs to the backward operator `op`; TL_NONE. */
static uint32_t forward_of(growing *g, uint32_t op)
{
    const tl_backward *v = g->view->backwards;
    while (g->next_backward < g->view->nbackwards && v[g->next_backward].op < op)
        g->next_backward++;
    return g->next_backward < g->view->nbackwards && v[g->next_backward].op == op ? g->of[g->next_backward] : TL_NONE;
}

/* Time in what the open one called, on its thread. */
static void add_called(growing *g, size_t open, int64_t start_ns, int64_t end_ns)
{
    int64_t until = tl_ns_min(tl_op_end(&g->view->ops, g->all.ops.stack.v[open]), end_ns);
    tl_node *n = &g->tree->nodes.v[g->all.nodes.v[open]];
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
    if (annotation)
        node = child_of(g->tree, parent, TL_TREE_ANNOTATION, name, TL_NONE);
    else
        node = child_of(g->tree, parent, TL_TREE_OPERATOR, name, forward_of(g, op));
    push_open(&g->all, op, node);
    tl_node *n = &g->tree->nodes.v[node];
    n->count++;
    n->host_ns = tl_ns_add(n->host_ns, ops->dur_ns[op]);
    if (!annotation) {
        const size_t nbackwards = g->view->nbackwards; /* its backward operators find its node */
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

/* A call that queued work, below that node. */
static void add_call(growing *g, uint32_t launch, uint32_t parent)
{
    const tl_launch *l = &g->view->launches[launch];
    uint32_t node = child_of(g->tree, parent, TL_TREE_CALL, tl_name_key(g->view, l->name), TL_NONE);
    tl_node *n = &g->tree->nodes.v[node];
    n->count++;
    n->launches++;
    n->host_ns = tl_ns_add(n->host_ns, l->end_ns - l->start_ns);
    g->call[launch] = node;
}

/* Places a call of the thread below its operator or annotation in the view, whichever began later; nodes that began by
 * then are open. */
static void place_call(growing *g, uint32_t launch, const tl_thread *thread)
{
    const tl_launch *l = &g->view->launches[launch];
    const uint32_t *v = g->all.ops.stack.v;
    bool own = l->annotation != TL_NONE && l->annotation >= thread->first && l->annotation - thread->first < thread->n;
    uint32_t place = own && (l->op == TL_NONE || l->annotation > l->op) ? l->annotation : l->op;
    size_t at = 0;

    TL_BISECT(at, g->all.ops.stack.n, mid, v[mid] < place);
    if (place == TL_NONE || at == g->all.ops.stack.n || v[at] != place) {
        add_call(g, launch, own || l->annotation == TL_NONE ? 0 : annotation_at(g, l->start_ns));
        return;
    }
    add_called(g, at, l->start_ns, l->end_ns);
    add_call(g, launch, g->all.nodes.v[at]);
}

static void sweep(growing *g, const tl_thread *thread, bool main)
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
            if (counts(g, (uint32_t)op))
                open_op(g, (uint32_t)op, main);
        if (at < end && view->launches[by->v[at]].nkernels > 0)
            place_call(g, by->v[at], thread);
    }
    if (main)
        close_until(g, INT64_MAX);
}

/* -------------------------------------------------------------------------------------------------------- the whole */

TL_SORT_BY(by_forward, forward, op, backward)

static void prepare(growing *g)
{
    const tl_rank_view *view = g->view;
    size_t n = view->nbackwards;

    g->is_mark = tl_arena_take(&g->arena, view->names->n, sizeof *g->is_mark);
    g->call = tl_arena_take(&g->arena, view->nlaunches, sizeof *g->call);
    g->of = tl_arena_take(&g->arena, n, sizeof *g->of);
    g->forwards = tl_arena_take(&g->arena, n, sizeof *g->forwards);
    tl_launches_by_thread(view, &g->arena, &g->launches);
    tl_vec_room(&g->tree->nodes);
    for (uint32_t id = 0; id < view->names->n; id++)
        g->is_mark[id] = tl_is_step_mark(view->names, id);
    for (size_t i = 0; i < view->nlaunches; i++)
        g->call[i] = TL_NONE;
    for (size_t i = 0; i < n; i++) {
        g->of[i] = TL_NONE;
        g->forwards[i] = (forward){ view->backwards[i].forward, (uint32_t)i };
    }
    qsort(g->forwards, n, sizeof *g->forwards, by_forward);
    g->tree->nodes.v[g->tree->nodes.n++] =
        (tl_node){ .parent = TL_NONE, .name = TL_NO_NAME, .forward = TL_NONE, .child = TL_NONE, .follow = TL_NONE };
}

/* Whether an operator of the forward pass ran on the thread. */
static bool has_forwards(const growing *g, const tl_thread *thread)
{
    size_t at = 0, n = g->view->nbackwards;
    TL_BISECT(at, n, mid, g->forwards[mid].op < thread->first);
    return at < n && g->forwards[at].op - thread->first < thread->n;
}

/* Sweeps the main thread, then threads with operators of the forward pass, then the others: an operator of the backward
 * pass then finds the forward operator that it belongs to. */
static void sweep_all(growing *g)
{
    const tl_ops *ops = &g->view->ops;
    const tl_thread *main = tl_main_thread(ops);
    if (main != NULL)
        sweep(g, main, true);

    for (int rest = 0; rest < 2; rest++)
        for (size_t t = 0; t < ops->nthreads; t++)
            if (&ops->threads[t] != main && has_forwards(g, &ops->threads[t]) == (rest == 0))
                sweep(g, &ops->threads[t], false);
    for (uint32_t i = 0; i < g->view->nlaunches; i++) { /* of threads that have none */
        const tl_launch *l = &g->view->launches[i];
        if (g->call[i] == TL_NONE && l->nkernels > 0)
            add_call(g, i, l->annotation != TL_NONE ? annotation_at(g, l->start_ns) : 0);
    }
}

static void add_work(growing *g)
{
    tl_tree *t = g->tree;

    for (size_t i = 0; i < g->view->nkernels; i++) {
        const tl_kernel *k = &g->view->kernels[i];
        uint32_t call = k->launch != TL_NONE ? g->call[k->launch] : child_of(t, 0, TL_TREE_NONE, TL_NO_NAME, TL_NONE);
        uint32_t node = child_of(t, call, TL_TREE_WORK, tl_name_key(g->view, k->name), TL_NONE);
        uint32_t around = t->nodes.v[call].parent, in = around != 0 ? around : call;
        int64_t ns = k->end_ns - k->start_ns;
        tl_node *n = &t->nodes.v[node], *self = &t->nodes.v[in];
        n->count++;
        n->kernels++;
        n->device_ns = tl_ns_add(n->device_ns, ns);
        self->device_self_ns = tl_ns_add(self->device_self_ns, ns);
    }
}

void tl_tree_grow(tl_tree *tree, const tl_rank_view *view)
{
    growing g = { .view = view, .tree = tree };

    g.all.ops.ops = g.annotations.ops.ops = &view->ops;
    prepare(&g);
    sweep_all(&g);
    add_work(&g);
    /* What is below a node goes to it. */
    for (size_t i = tree->nodes.n; i-- > 1;) {
        const tl_node *n = &tree->nodes.v[i];
        tl_node *around = &tree->nodes.v[n->parent];
        around->launches += n->launches;
        around->kernels += n->kernels;
        around->device_ns = tl_ns_add(around->device_ns, n->device_ns);
    }
    tl_arena_free(&g.arena);
    free(g.turns.v);
    free(g.all.ops.stack.v);
    free(g.all.nodes.v);
    free(g.annotations.ops.stack.v);
    free(g.annotations.nodes.v);
}
