/* answer.c - a rank as it would be with changes.
 *
 *     stream 7    (k1)----------------->(k2)              overlap: k2 waits no longer for the end of the collective, but
 *                   \                    ^                for what the collective waited for: ready, which is done when
 *     stream 9       (arrival)-(meeting)-(end)            the last of what leads to the arrival is
 *                     ready - - - - - - ^
 */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* How a rank is changed. */
typedef struct changing {
    const tl_open_rank *o;
    const tl_work_labels *labels;
    tl_whatif_changes changes;
    tl_arena arena;
    bool *of_label; /* [changes * labels] which it selects */
    bool *of_host;  /* [changes * TL_NACTIVITIES] */
    bool remove_sync, no_launch_overhead;
    tl_selected_work selected;
    TL_VEC(tl_selected_port) ports;
    uint32_t *ready;      /* by node: of an END that overlaps, the node that is done when the collective could begin;
                              * TL_NONE */
    tl_final_graph of;    /* the changed rank: borrows ports and order */
    tl_open_rank changed; /* the same, open; `nodes`, `edges` and rest_ns are of the arena */
    tl_node *nodes;       /* of `changed` */
    tl_edge *edges;       /* of `changed` */
} changing;

/* -------------------------------------------------------------------------------------------------- what is selected */

static void get_changes(changing *c, tl_bytes *in)
{
    size_t n = 0, length;
    tl_bytes_get(in, &n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        uint8_t sort;
        tl_error err;
        char *text = NULL;
        tl_bytes_get(in, &sort, sizeof sort);
        tl_bytes_get_list(in, (void **)&text, &length, 1);
        char *kept = tl_arena_zeroed(&c->arena, length + 1, 1);
        memcpy(kept, text, length);
        free(text);
        if (tl_whatif_change_read((tl_whatif_sort)sort, kept, &c->changes, &err) != TL_OK)
            tl_fault("a change that was read once cannot be read again");
    }
}

static void select_work(changing *c)
{
    const int32_t rank = c->o->of->graph.rank;
    const size_t n = c->labels->list.n;
    c->of_label = tl_arena_take(&c->arena, c->changes.n * n, sizeof *c->of_label);
    c->of_host = tl_arena_take(&c->arena, c->changes.n * TL_NACTIVITIES, sizeof *c->of_host);
    for (size_t k = 0; k < c->changes.n; k++) {
        const tl_whatif_change *change = &c->changes.v[k];
        c->remove_sync = c->remove_sync || change->sort == TL_WHATIF_REMOVE_SYNC;
        c->no_launch_overhead = c->no_launch_overhead || change->sort == TL_WHATIF_NO_LAUNCH_OVERHEAD;
        for (size_t i = 0; i < n; i++)
            c->of_label[k * n + i] = tl_whatif_selects(change, rank, &c->labels->list.v[i]);
        for (int a = 0; a < TL_NACTIVITIES; a++)
            c->of_host[k * TL_NACTIVITIES + (size_t)a] = tl_whatif_selects_host(change, rank, (tl_activity_kind)a);
    }
}

/* Whether some change of the sort selects the node; *factor: by what these scale it. */
static bool is_selected(const changing *c, uint32_t v, tl_whatif_sort sort, double *factor)
{
    const tl_node *node = &c->o->nodes[v];
    const uint32_t label = c->labels->of[v];
    bool any = false;
    *factor = 1;
    for (size_t k = 0; k < c->changes.n; k++) {
        const tl_whatif_change *change = &c->changes.v[k];
        bool selected = label != TL_NONE ? c->of_label[k * c->labels->list.n + label]
                                         : node->work_ns > 0 && c->of_host[k * TL_NACTIVITIES + node->activity];
        if (change->sort != sort || !selected || !tl_whatif_selects_step(change, node->step))
            continue;
        *factor *= change->factor;
        any = true;
    }
    return any;
}

/* ------------------------------------------------------------------------------------------------------- its nodes */

static void count(changing *c, int64_t ns)
{
    c->selected.pieces++;
    c->selected.own_ns += ns;
}

/* Scales an END: of one that met others what comes after the meeting; the transfer before is the job's. */
static void scale_end(changing *c, uint32_t v, double factor)
{
    const tl_open_rank *o = c->o;
    uint32_t port = tl_rank_port_of(o, v);
    tl_node *node = &c->nodes[v];
    c->selected.pieces++;
    if (port == TL_NONE) {
        c->selected.own_ns += node->work_ns;
        node->work_ns = tl_scaled(node->work_ns, factor);
        return;
    }
    tl_vec_push(&c->ports, (tl_selected_port){ factor, port, 0 });
    if (node->done_ns > o->of->ports[port].meeting_done_ns) {
        node->work_ns = tl_scaled(node->work_ns, factor);
        c->changed.rest_ns[v] = tl_scaled(o->rest_ns[v], factor);
    }
}

/* Appends the edges of a node to the changed rank's.  `waits`: the node gets rid of its wait for the device; ready: it is
 * a ready node, which has those of the ARRIVAL. */
static void put_edges(changing *c, uint32_t v, bool waits, bool ready)
{
    const tl_open_rank *o = c->o;
    uint32_t end = o->nodes[v + 1].first_edge - waits;
    bool device = o->nodes[v].kind == TL_NODE_WORK || o->nodes[v].kind == TL_NODE_ARRIVAL;
    for (uint32_t e = o->nodes[v].first_edge; e < end; e++) {
        tl_edge edge = o->edges[e];
        bool of_host = edge.from < o->n && o->nodes[edge.from].kind < TL_NODE_WORK;
        if (c->no_launch_overhead && device && of_host)
            edge.lag_ns = edge.lag_ns < 0 ? edge.lag_ns : 0;
        if (edge.from < o->n && c->ready[edge.from] != TL_NONE && (ready || o->nodes[v].kind == TL_NODE_WORK))
            edge.from = c->ready[edge.from];
        else if (edge.from >= o->n)
            edge.from += c->changed.n - o->n;
        c->edges[c->of.graph.nedges++] = edge;
    }
}

/* Whether the host waited in a call, and nothing tells for which work. */
static bool is_untold_wait(const tl_open_rank *o, uint32_t v)
{
    return o->nodes[v].kind == TL_NODE_WAIT_END && o->nodes[v].work_ns == 0 && tl_waited_ns(o, v) < 0 &&
           o->nodes[v + 1].first_edge - o->nodes[v].first_edge == 1;
}

static void change_node(changing *c, uint32_t v)
{
    const tl_open_rank *o = c->o;
    tl_node *node = &c->nodes[v];
    int64_t waited_ns = c->remove_sync ? tl_waited_ns(o, v) : -1;
    double factor;
    bool scaled = is_selected(c, v, TL_WHATIF_SCALE, &factor);
    node->first_edge = (uint32_t)c->of.graph.nedges;
    if (scaled && node->kind == TL_NODE_END) {
        scale_end(c, v, factor);
    } else if (scaled) {
        count(c, node->work_ns);
        node->work_ns = tl_scaled(node->work_ns, factor);
    }
    if (c->no_launch_overhead && node->activity == TL_ACTIVITY_HOST && node->work_ns > 0) {
        count(c, node->work_ns);
        node->work_ns = 0;
    }
    if (waited_ns >= 0)
        count(c, waited_ns);
    else if (c->remove_sync && is_untold_wait(o, v))
        c->selected.left_ns += node->done_ns - o->nodes[o->edges[o->nodes[v].first_edge].from].done_ns;
    put_edges(c, v, waited_ns >= 0, false);
}

/* Numbers the ready nodes, behind all others.  Returns how many edges they have. */
static size_t number_ready(changing *c)
{
    const tl_open_rank *o = c->o;
    size_t nedges = 0;
    c->ready = tl_arena_take(&c->arena, o->n, sizeof *c->ready);
    c->changed.n = o->n;
    for (uint32_t v = 0; v < o->n; v++) {
        double factor;
        bool overlaps = o->nodes[v].kind == TL_NODE_END && is_selected(c, v, TL_WHATIF_OVERLAP, &factor);
        c->ready[v] = overlaps ? c->changed.n++ : TL_NONE;
        if (!overlaps)
            continue;
        nedges += o->nodes[v].first_edge - o->nodes[v - 1].first_edge;
        count(c, o->nodes[v].done_ns - o->nodes[v - 1].done_ns);
    }
    return nedges;
}

/* Makes c->changed: the rank with the changes that the question holds. */
static void change(changing *c, tl_bytes *in)
{
    const tl_open_rank *o = c->o;
    tl_open_rank *m = &c->changed;
    get_changes(c, in);
    select_work(c);
    size_t nedges = o->nodes[o->n].first_edge + number_ready(c), n = m->n;
    c->of = (tl_final_graph){ .graph = { .rank = o->of->graph.rank, .nnodes = n, .ncomms = o->of->graph.ncomms },
                              .ports = o->of->ports,
                              .order = n == o->n ? o->of->order : NULL };
    m->of = &c->of;
    m->nodes = c->nodes = tl_arena_take(&c->arena, n + 1, sizeof *c->nodes);
    m->edges = c->edges = tl_arena_take(&c->arena, nedges, sizeof *c->edges);
    m->rest_ns = tl_arena_zeroed(&c->arena, n, sizeof *m->rest_ns);
    memcpy(c->nodes, o->nodes, o->n * sizeof *c->nodes);
    memcpy(m->rest_ns, o->rest_ns, o->n * sizeof *m->rest_ns);
    for (uint32_t v = 0; v < o->n; v++)
        change_node(c, v);
    for (uint32_t v = 0; v < o->n; v++) {
        tl_node *node = c->ready[v] != TL_NONE ? &c->nodes[c->ready[v]] : NULL;
        if (node == NULL)
            continue;
        *node = o->nodes[v - 1];
        node->first_edge = (uint32_t)c->of.graph.nedges;
        put_edges(c, v - 1, false, true);
    }
    c->nodes[n] = (tl_node){ .first_edge = (uint32_t)c->of.graph.nedges };
}

static void changing_free(changing *c)
{
    tl_whatif_changes_free(&c->changes);
    free(c->ports.v);
    tl_arena_free(&c->arena);
}

/* ------------------------------------------------------------------------------------------------------ the changed */

static void answer_changed(changing *c, const tl_work_class_map *class_map, tl_bytes *in, tl_bytes *out)
{
    tl_changes changes = { 0 };
    tl_folded folded = { 0 };
    change(c, in);
    tl_changes_open(&c->changed, class_map, &changes);
    tl_folded_make(&changes, NULL, &folded, NULL);
    tl_bytes_put(out, &c->selected, sizeof c->selected);
    tl_bytes_put_list(out, c->ports.v, c->ports.n, sizeof *c->ports.v);
    tl_folded_put(&folded, c->of.graph.ncomms, out);
    tl_folded_free(&folded);
    tl_changes_free(&changes);
}

/* Replays the changed rank between its meetings.  port_ns: when those of its ports are done. */
static void replay(changing *c, const int64_t *port_ns)
{
    tl_open_rank *m = &c->changed;
    uint32_t *order = tl_arena_take(&c->arena, m->n, sizeof *order);
    tl_open_order(m, order);
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t v = order[i], e = m->nodes[v].first_edge, end = m->nodes[v + 1].first_edge;
        int64_t since = e == end ? 0 : INT64_MIN;
        for (; e < end; e++) {
            const tl_edge *edge = &m->edges[e];
            int64_t from_ns = edge->from < m->n ? m->nodes[edge->from].done_ns : port_ns[edge->from - m->n];
            since = from_ns + edge->lag_ns > since ? from_ns + edge->lag_ns : since;
        }
        c->nodes[v].done_ns = since + m->nodes[v].work_ns + m->rest_ns[v];
    }
}

/* Hands the changed rank over: *rank is it from now on. */
static void become_changed(const changing *c, const int64_t *port_ns, tl_final_graph *rank)
{
    const tl_rank_graph *g = &c->of.graph;
    tl_final_graph after = { .graph = *g, .ports = rank->ports };
    after.graph.nodes = tl_malloc((g->nnodes + 1) * sizeof *after.graph.nodes);
    after.graph.edges = tl_malloc((g->nedges + 1) * sizeof *after.graph.edges);
    memcpy(after.graph.nodes, c->nodes, (g->nnodes + 1) * sizeof *after.graph.nodes);
    memcpy(after.graph.edges, c->edges, g->nedges * sizeof *after.graph.edges);
    rank->ports = NULL;
    for (size_t p = 0; p < g->ncomms; p++) {
        tl_rank_port *port = &after.ports[p];
        const tl_node *end = &c->nodes[port->arrival + 1];
        port->arrived_ns = c->nodes[port->arrival].done_ns;
        if (port->meeting == TL_NONE)
            continue;
        port->meeting_done_ns = port_ns[p];
        port->after_meeting_ns = end->done_ns - port_ns[p] - c->edges[end->first_edge].lag_ns - end->work_ns;
    }
    tl_final_graph_free(rank);
    *rank = after;
}

static void answer_final(changing *c, tl_final_graph *rank, tl_bytes *in, tl_bytes *out)
{
    int64_t *port_ns = NULL;
    size_t n;
    tl_bytes_get_list(in, (void **)&port_ns, &n, sizeof *port_ns);
    change(c, in);
    replay(c, port_ns);
    become_changed(c, port_ns, rank);
    tl_bytes_put_list(out, rank->ports, rank->graph.ncomms, sizeof *rank->ports);
    free(port_ns);
}

/* ------------------------------------------------------------------------------------------------------------- names */

static void answer_work(const tl_open_rank *o, const tl_work_labels *labels, tl_bytes *out)
{
    int64_t *total_ns = tl_calloc(labels->list.n + 1, sizeof *total_ns);
    for (uint32_t v = 0; v < o->n; v++)
        if (labels->of[v] != TL_NONE)
            total_ns[labels->of[v]] +=
                o->nodes[v].kind == TL_NODE_END ? o->nodes[v].done_ns - o->nodes[v - 1].done_ns : o->nodes[v].work_ns;
    for (size_t i = 0; i < labels->list.n; i++) {
        const tl_work_label *label = &labels->list.v[i];
        tl_bytes_put(out, &total_ns[i], sizeof total_ns[i]);
        tl_bytes_put_list(out, label->name, strlen(label->name) + 1, 1);
        tl_bytes_put_list(out, label->operator_name, strlen(label->operator_name) + 1, 1);
    }
    free(total_ns);
}

bool tl_whatif_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_final_graph *graph, tl_bytes *in,
                      tl_bytes *out)
{
    changing c = { .o = rank, .labels = rank->of->graph.labels };
    uint32_t question;
    tl_bytes_get(in, &question, sizeof question);
    if (question == TL_WHATIF_WORK)
        answer_work(rank, c.labels, out);
    else if (question == TL_WHATIF_CHANGED)
        answer_changed(&c, class_map, in, out);
    else
        answer_final(&c, graph, in, out);
    changing_free(&c);
    return question == TL_WHATIF_FINAL;
}
