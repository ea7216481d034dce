/* answer.c - the graph of a rank with changes.
 *
 *     stream 7    (k1)------------------->(k2)       overlap: k2 waits no longer for END, but for `ready`, a node that
 *                   \                      ^         waits for what ARRIVAL waits for
 *     stream 9       (ARRIVAL)-(meeting)-(END)
 *                    (ready) - - - - - - - ^
 */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

typedef struct changed_rank {
    const tl_open_rank *o; /* as recorded */
    const tl_node_labels *labels;
    tl_whatif_changes changes;
    size_t nsorts;  /* sorts of work: labels, then tl_activity_kind of host work */
    bool *selected; /* [changes * nsorts] whether the change selects the sort of work, in its steps */
    bool remove_sync, no_launch_overhead;
    tl_selected_work sum;
    double *factors;      /* [ports] factor of the transfer; INFINITY: not selected */
    uint32_t *ready;      /* [o->n] by END that overlaps: its node `ready`; TL_NONE: none */
    tl_arena arena;       /* of the arrays above */
    tl_final_graph final; /* with the changes; ports and order are those of o */
    tl_open_rank open;    /* of `final`, with nodes and edges of its own */
} changed_rank;

/* ------------------------------------------------------------------------------------------------------- selection */

static void get_changes(changed_rank *c, tl_bytes *in)
{
    size_t n;
    tl_bytes_get(in, &n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        tl_error err;
        uint8_t sort;
        tl_bytes_get(in, &sort, sizeof sort);
        const char *text = in->v + in->at;
        tl_bytes_skip(in, strlen(text) + 1);
        if (tl_whatif_change_read((tl_whatif_sort)sort, text, &c->changes, &err) != TL_OK)
            tl_fault("a change that was read once cannot be read again");
        c->remove_sync = c->remove_sync || sort == TL_WHATIF_REMOVE_SYNC;
        c->no_launch_overhead = c->no_launch_overhead || sort == TL_WHATIF_NO_LAUNCH_OVERHEAD;
    }
}

static void select_work(changed_rank *c)
{
    const size_t nlabels = c->labels->list.n;
    c->nsorts = nlabels + TL_NACTIVITIES + 1;
    c->selected = tl_arena_zeroed(&c->arena, c->changes.n * c->nsorts, sizeof *c->selected);
    for (size_t k = 0; k < c->changes.n; k++)
        for (size_t i = 0; i < nlabels + TL_NACTIVITIES; i++) {
            const tl_node_label host = { .kind = (uint8_t)(i - nlabels) };
            const tl_node_label *label = i < nlabels ? &c->labels->list.v[i] : &host;
            c->selected[k * c->nsorts + i] = tl_whatif_selects(&c->changes.v[k], c->o->of->graph.rank, label);
        }
}

/* Returns whether the node is a whole piece of device work or the end of one; such nodes have labels. */
static bool is_work(const tl_node *node)
{
    return node->kind == TL_NODE_WORK || node->kind == TL_NODE_END;
}

/* Returns whether the host waits for its device in a call that frees memory; the call is a piece of host work, too. */
static bool is_freeing_wait(const tl_node *node)
{
    return node->kind == TL_NODE_WAIT_END && node->activity == TL_ACTIVITY_ALLOCATOR && node->work_ns == 0;
}

/* Returns whether a change of the sort selects the node; *factor: the product of the factors of these changes. */
static bool is_selected(const changed_rank *c, uint32_t v, tl_whatif_sort sort, double *factor)
{
    const tl_node *node = &c->o->nodes[v];
    const bool named = node->work_ns > 0 || is_freeing_wait(node);
    const size_t of_host = c->labels->list.n + (named ? node->activity : TL_NACTIVITIES),
                 of = is_work(node) ? c->labels->of[v] : of_host;
    bool any = false;
    *factor = 1;
    for (size_t k = 0; k < c->changes.n; k++) {
        const tl_whatif_change *change = &c->changes.v[k];
        if (change->sort != sort || !c->selected[k * c->nsorts + of] || !tl_whatif_selects_step(change, node->step))
            continue;
        *factor *= change->factor;
        any = true;
    }
    return any;
}

static void count_selected(changed_rank *c, int64_t ns)
{
    c->sum.pieces++;
    c->sum.own_ns += ns;
}

/* -------------------------------------------------------------------------------------------------- nodes and edges */

/* Scales the work of a node; of an END that waits for its meeting, only the time after the meeting: proc 0 scales the
 * transfer. */
static void scale_work(changed_rank *c, uint32_t v, double factor)
{
    tl_node *node = &c->open.own_nodes[v];
    uint32_t port = tl_rank_port_of(c->o, v);
    int64_t own_ns = port == TL_NONE ? node->work_ns : node->done_ns - c->o->of->ports[port].meeting_done_ns;
    count_selected(c, tl_ns_max(0, own_ns));
    if (port == TL_NONE)
        c->sum.unmatched_ns += node->kind == TL_NODE_END ? own_ns : 0;
    else {
        c->factors[port] = factor;
        if (own_ns <= 0)
            return;
        c->open.rest_ns[v] = tl_scaled(c->open.rest_ns[v], factor);
    }
    node->work_ns = tl_scaled(node->work_ns, factor);
}

/* Counts a selected wait: removed, or left because it has no edge from the work that released it. */
static void count_wait(changed_rank *c, uint32_t v, bool removed)
{
    const tl_open_rank *o = c->o;
    const tl_node *node = &o->nodes[v];
    int64_t waited_ns = tl_waited_ns(o, v);
    if (waited_ns >= 0 && !removed)
        c->sum.left_ns += waited_ns;
    else if (waited_ns >= 0)
        count_selected(c, waited_ns);
    else if (node->kind == TL_NODE_WAIT_END && node->work_ns == 0 && node[1].first_edge - node->first_edge == 1)
        c->sum.left_ns += node->done_ns - o->nodes[o->edges[node->first_edge].from].done_ns;
}

/* Adds the changed edges of v to node `to`: v itself, or a node `ready`, which gets the edges of its ARRIVAL.  removed:
 * v waits no longer for the device; no_call: nor does its call take time. */
static void put_edges(changed_rank *c, uint32_t v, uint32_t to, bool removed, bool no_call)
{
    const tl_open_rank *o = c->o;
    const bool overlaps = to != v || o->nodes[v].kind == TL_NODE_WORK,
               device = o->nodes[v].kind == TL_NODE_WORK || o->nodes[v].kind == TL_NODE_ARRIVAL,
               released = removed && tl_waited_ns(o, v) >= 0;
    c->open.own_nodes[to].first_edge = (uint32_t)c->final.graph.nedges;
    for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge - released; e++) {
        tl_edge edge = o->edges[e];
        if (edge.from >= o->n) {
            edge.from += c->open.n - o->n;
        } else {
            if (c->no_launch_overhead && device && o->nodes[edge.from].kind < TL_NODE_WORK && edge.lag_ns > 0)
                edge.lag_ns = 0;
            if (no_call)
                edge.lag_ns = 0;
            if (overlaps && c->ready[edge.from] != TL_NONE)
                edge.from = c->ready[edge.from];
        }
        c->open.own_edges[c->final.graph.nedges++] = edge;
    }
}

static void change_node(changed_rank *c, uint32_t v)
{
    tl_node *node = &c->open.own_nodes[v];
    double factor;
    const bool scaled = is_selected(c, v, TL_WHATIF_SCALE, &factor), freeing = scaled && is_freeing_wait(node),
               no_call = freeing && factor == 0, removed = c->remove_sync || no_call;
    if (scaled && !freeing)
        scale_work(c, v, factor);
    if (c->no_launch_overhead && node->activity == TL_ACTIVITY_HOST && node->work_ns > 0) {
        count_selected(c, node->work_ns);
        node->work_ns = 0;
    }
    if (removed || freeing)
        count_wait(c, v, removed);
    put_edges(c, v, v, removed, no_call);
}

/* Numbers the nodes `ready` after all other nodes.  Returns the number of their edges. */
static size_t number_ready(changed_rank *c)
{
    const tl_open_rank *o = c->o;
    size_t nedges = 0;
    c->open.n = o->n;
    c->ready = tl_arena_take(&c->arena, o->n, sizeof *c->ready);
    for (uint32_t v = 0; v < o->n; v++) {
        double factor;
        c->ready[v] = TL_NONE;
        if (o->nodes[v].kind != TL_NODE_END || !is_selected(c, v, TL_WHATIF_OVERLAP, &factor))
            continue;
        c->ready[v] = c->open.n++;
        nedges += o->nodes[v].first_edge - o->nodes[v - 1].first_edge;
        count_selected(c, o->nodes[v].done_ns - o->nodes[v - 1].done_ns);
    }
    return nedges;
}

/* Reads the changes of the question and makes `open`. */
static void change_rank(changed_rank *c, tl_bytes *in)
{
    const tl_open_rank *o = c->o;
    const tl_rank_graph *g = &o->of->graph;
    get_changes(c, in);
    select_work(c);
    c->factors = tl_arena_take(&c->arena, g->ncomms, sizeof *c->factors);
    for (size_t p = 0; p < g->ncomms; p++)
        c->factors[p] = INFINITY;
    size_t nedges = o->nodes[o->n].first_edge + number_ready(c), n = c->open.n;
    c->final = (tl_final_graph){ .graph = { .rank = g->rank, .nnodes = n, .ncomms = g->ncomms },
                                 .ports = o->of->ports,
                                 .order = n == o->n ? o->of->order : NULL };
    c->open = (tl_open_rank){ .of = &c->final,
                              .n = (uint32_t)n,
                              .own_nodes = tl_malloc((n + 1) * sizeof *c->open.own_nodes),
                              .own_edges = tl_malloc((nedges + 1) * sizeof *c->open.own_edges),
                              .rest_ns = tl_calloc(n + 1, sizeof *c->open.rest_ns) };
    c->open.nodes = c->open.own_nodes;
    c->open.edges = c->open.own_edges;
    memcpy(c->open.own_nodes, o->nodes, o->n * sizeof *o->nodes);
    memcpy(c->open.rest_ns, o->rest_ns, o->n * sizeof *o->rest_ns);
    for (uint32_t v = 0; v < o->n; v++)
        change_node(c, v);
    for (uint32_t v = 0; v < o->n; v++)
        if (c->ready[v] != TL_NONE) {
            c->open.own_nodes[c->ready[v]] = o->nodes[v - 1];
            put_edges(c, v - 1, c->ready[v], false, false);
        }
    c->open.own_nodes[n] = (tl_node){ .first_edge = (uint32_t)c->final.graph.nedges };
}

/* --------------------------------------------------------------------------------------------------------- answers */

static void answer_changed(changed_rank *c, const tl_work_class_map *class_map, tl_bytes *in, tl_bytes *out)
{
    tl_changes none = { 0 }; /* besides those of c->open */
    tl_folded folded = { 0 };
    change_rank(c, in);
    tl_changes_open(&c->open, class_map, &none);
    tl_folded_make(&none, NULL, &folded, NULL);
    tl_bytes_put(out, &c->sum, sizeof c->sum);
    tl_bytes_put_list(out, c->factors, c->final.graph.ncomms, sizeof *c->factors);
    tl_folded_put(&folded, c->final.graph.ncomms, out);
    tl_folded_free(&folded);
    tl_changes_free(&none);
}

/* Replays the changed rank.  port_ns: by port, the end of its meeting. */
static void replay(changed_rank *c, const int64_t *port_ns)
{
    const tl_open_rank *o = &c->open;
    uint32_t *order = tl_arena_take(&c->arena, o->n, sizeof *order);
    tl_open_order(o, order);
    for (uint32_t i = 0; i < o->n; i++) {
        tl_node *node = &c->open.own_nodes[order[i]];
        int64_t since_ns = node[0].first_edge == node[1].first_edge ? 0 : INT64_MIN;
        for (uint32_t e = node[0].first_edge; e < node[1].first_edge; e++) {
            uint32_t from = o->edges[e].from;
            int64_t ns = (from < o->n ? o->nodes[from].done_ns : port_ns[from - o->n]) + o->edges[e].lag_ns;
            since_ns = ns > since_ns ? ns : since_ns;
        }
        node->done_ns = since_ns + node->work_ns + o->rest_ns[order[i]];
    }
}

/* Replaces the rank's graph by the changed graph. */
static void answer_final(changed_rank *c, const tl_work_class_map *class_map, tl_final_graph *rank, tl_bytes *in,
                         tl_bytes *out)
{
    int64_t *port_ns = NULL, *beside_ns = tl_arena_zeroed(&c->arena, class_map->nsteps, sizeof *beside_ns);
    size_t n;
    change_rank(c, in);
    tl_bytes_get_list(in, (void **)&port_ns, &n, sizeof *port_ns);
    replay(c, port_ns);
    tl_whatif_beside(c->o, &c->open, class_map, beside_ns);
    for (size_t p = 0; p < n; p++) {
        tl_rank_port *port = &rank->ports[p];
        const tl_node *arrival = &c->open.nodes[port->arrival], *end = arrival + 1;
        port->arrived_ns = arrival->done_ns;
        if (port->meeting == TL_NONE)
            continue;
        port->meeting_done_ns = port_ns[p];
        port->after_meeting_ns = end->done_ns - port_ns[p] - c->open.edges[end->first_edge].lag_ns - end->work_ns;
    }
    c->final.graph.nodes = c->open.own_nodes;
    c->final.graph.edges = c->open.own_edges;
    c->final.order = NULL;
    c->open.own_nodes = NULL;
    c->open.own_edges = NULL;
    rank->ports = NULL;
    tl_final_graph_free(rank);
    *rank = c->final;
    tl_bytes_put_list(out, rank->ports, n, sizeof *rank->ports);
    tl_bytes_put_list(out, beside_ns, class_map->nsteps, sizeof *beside_ns);
    free(port_ns);
}

bool tl_whatif_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_final_graph *graph, tl_bytes *in,
                      tl_bytes *out)
{
    changed_rank c = { .o = rank, .labels = rank->of->graph.labels };
    uint32_t question;
    tl_bytes_get(in, &question, sizeof question);
    if (question == TL_WHATIF_CHANGED)
        answer_changed(&c, class_map, in, out);
    else
        answer_final(&c, class_map, graph, in, out);
    tl_open_free(&c.open);
    tl_whatif_changes_free(&c.changes);
    tl_arena_free(&c.arena);
    return question == TL_WHATIF_FINAL;
}
