/* folded.c - a rank folded to its ports.
 *
 *     meeting p --> (p ends)--->( a )--->( b )--->(arrives at m) --> meeting m          way from p's END to m's ARRIVAL
 *                       |                   ^
 *                       +--->(launch)-------+
 *
 * ENDs that wait for a meeting have no edge here: the meeting is not of the rank.
 */
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

typedef struct making {
    const tl_changes *c;
    tl_arena arena;
    uint32_t *order;     /* nodes */
    uint32_t *at;        /* by node: its place in the net, after the origin */
    tl_net net;          /* of the whole rank */
    uint8_t *marks;      /* by node of the net */
    uint32_t *number_of; /* likewise: in the fold */
} making;

static bool start(making *m)
{
    const tl_open_rank *o = &m->c->open;
    size_t n = o->n + (size_t)1;
    m->order = tl_arena_take(&m->arena, o->n, sizeof *m->order);
    m->at = tl_arena_take(&m->arena, o->n, sizeof *m->at);
    m->marks = tl_arena_zeroed(&m->arena, n, sizeof *m->marks);
    m->number_of = tl_arena_take(&m->arena, n, sizeof *m->number_of);
    return !m->arena.failed && tl_net_new(n, o->nodes[o->n].first_edge + n, o->n, m->c->frame->nsteps, &m->net) &&
           tl_open_order(o, m->order);
}

static void put_edges(making *m, uint32_t v)
{
    const tl_open_rank *o = &m->c->open;
    tl_net *net = &m->net;
    uint32_t e = o->nodes[v].first_edge, last = o->nodes[v + 1].first_edge;
    if (e == last) {
        net->from[net->nedges] = 0;
        net->lag_ns[net->nedges++] = 0;
        return;
    }
    for (last -= m->c->gone[v]; e < last; e++) {
        net->from[net->nedges] = m->at[o->edges[e].from];
        net->lag_ns[net->nedges++] = o->edges[e].lag_ns;
    }
}

/* Where a node is followed by one of its step that is done no earlier whatever changes, it does not end the step. */
static void find_ends(making *m, bool *ends)
{
    const tl_open_rank *o = &m->c->open;
    const tl_net *net = &m->net;
    for (uint32_t v = 0; v < net->n; v++)
        ends[v] = v > 0;
    for (uint32_t v = 1; v < net->n; v++)
        for (uint32_t e = net->first_edge[v]; e < net->first_edge[v + 1] && m->marks[v] < TL_FOLD_WORK; e++) {
            uint32_t from = net->from[e];
            if (from > 0 && net->lag_ns[e] + net->own_ns[v] >= 0 &&
                o->nodes[m->order[from - 1]].step == o->nodes[m->order[v - 1]].step)
                ends[from] = false;
        }
}

static bool put_ends(making *m)
{
    tl_net *net = &m->net;
    bool *ends = tl_malloc((net->n + 1) * sizeof *ends);
    if (ends == NULL)
        return false;
    find_ends(m, ends);
    net->nends = 0;
    for (uint32_t v = 0; v < net->n; v++) {
        net->first_end[v] = (uint32_t)net->nends;
        if (ends[v])
            net->ends[net->nends++] = (tl_net_end){ 0, m->c->step_of[m->order[v - 1]] };
    }
    net->first_end[net->n] = (uint32_t)net->nends;
    free(ends);
    return true;
}

static void put_nodes(making *m)
{
    const tl_open_rank *o = &m->c->open;
    tl_net *net = &m->net;
    net->nedges = 0;
    net->own_ns[0] = 0;
    net->first_edge[0] = net->first_edge[1] = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t v = m->order[i];
        m->at[v] = i + 1;
        net->own_ns[i + 1] = o->nodes[v].work_ns + o->rest_ns[v] - m->c->less_ns[v];
        if (tl_port_of(o, v) != TL_NONE)
            net->own_ns[i + 1] += o->edges[o->nodes[v].first_edge].lag_ns;
        else
            put_edges(m, v);
        net->first_edge[i + 2] = (uint32_t)net->nedges;
    }
}

static void mark(making *m, uint32_t node, tl_fold_mark how)
{
    tl_fold_mark_put(&m->marks[m->at[node]], how);
}

static void mark_all(making *m, const uint8_t *marks)
{
    const tl_settled *of = m->c->open.of;
    m->marks[0] = TL_FOLD_KEEP;
    for (size_t p = 0; p < of->graph.ncomms; p++) {
        if (of->ports[p].awaited)
            mark(m, of->ports[p].arrival, TL_FOLD_KEEP);
        if (of->ports[p].meeting != TL_NONE)
            mark(m, of->ports[p].arrival + 1, TL_FOLD_KEEP);
    }
    for (uint32_t v = 0; marks != NULL && v < m->c->open.n; v++)
        mark(m, v, (tl_fold_mark)marks[v]);
}

static bool hand_out(const making *m, tl_folded *out, uint32_t *number_of)
{
    const tl_open_rank *o = &m->c->open;
    size_t nports = o->of->graph.ncomms;
    out->done_ns = tl_malloc((out->net.n + 1) * sizeof *out->done_ns);
    out->came = tl_malloc((nports + 1) * sizeof *out->came);
    out->met = tl_malloc((nports + 1) * sizeof *out->met);
    if (out->done_ns == NULL || out->came == NULL || out->met == NULL)
        return false;
    out->done_ns[0] = 0;
    for (uint32_t v = 0; v < o->n; v++) {
        uint32_t number = m->number_of[m->at[v]];
        if (number != TL_NONE)
            out->done_ns[number] = o->nodes[v].done_ns;
        if (number_of != NULL)
            number_of[v] = number;
    }
    for (size_t p = 0; p < nports; p++) {
        const tl_port *port = &o->of->ports[p];
        out->came[p] = port->awaited ? m->number_of[m->at[port->arrival]] : TL_NONE;
        out->met[p] = port->meeting != TL_NONE ? m->number_of[m->at[port->arrival + 1]] : TL_NONE;
    }
    return true;
}

bool tl_folded_make(const tl_changes *changes, const uint8_t *marks, tl_folded *out, uint32_t *number_of)
{
    making m = { .c = changes };
    *out = (tl_folded){ 0 };
    bool ok = start(&m);
    if (ok) {
        put_nodes(&m);
        mark_all(&m, marks);
        ok = put_ends(&m) && tl_net_fold(&m.net, m.marks, &out->net, m.number_of) && hand_out(&m, out, number_of);
    }
    tl_arena_free(&m.arena);
    tl_net_free(&m.net);
    return ok;
}

void tl_folded_free(tl_folded *folded)
{
    tl_net_free(&folded->net);
    free(folded->done_ns);
    free(folded->came);
    free(folded->met);
    *folded = (tl_folded){ 0 };
}

bool tl_folded_put(const tl_folded *folded, size_t nports, tl_bytes *out)
{
    const tl_net *net = &folded->net;
    return tl_bytes_put(out, &net->nsteps, sizeof net->nsteps) &&
           tl_bytes_put_list(out, net->own_ns, net->n, sizeof *net->own_ns) &&
           tl_bytes_put_list(out, net->first_edge, net->n + 1, sizeof *net->first_edge) &&
           tl_bytes_put_list(out, net->from, net->nedges, sizeof *net->from) &&
           tl_bytes_put_list(out, net->lag_ns, net->nedges, sizeof *net->lag_ns) &&
           tl_bytes_put_list(out, net->first_end, net->n + 1, sizeof *net->first_end) &&
           tl_bytes_put_list(out, net->ends, net->nends, sizeof *net->ends) &&
           tl_bytes_put_list(out, folded->done_ns, net->n, sizeof *folded->done_ns) &&
           tl_bytes_put_list(out, folded->came, nports, sizeof *folded->came) &&
           tl_bytes_put_list(out, folded->met, nports, sizeof *folded->met);
}

bool tl_folded_get(tl_folded *folded, tl_bytes *in)
{
    tl_net *net = &folded->net;
    size_t n;
    *folded = (tl_folded){ 0 };
    return tl_bytes_get(in, &net->nsteps, sizeof net->nsteps) &&
           tl_bytes_get_list(in, (void **)&net->own_ns, &net->n, sizeof *net->own_ns) &&
           tl_bytes_get_list(in, (void **)&net->first_edge, &n, sizeof *net->first_edge) &&
           tl_bytes_get_list(in, (void **)&net->from, &net->nedges, sizeof *net->from) &&
           tl_bytes_get_list(in, (void **)&net->lag_ns, &net->nedges, sizeof *net->lag_ns) &&
           tl_bytes_get_list(in, (void **)&net->first_end, &n, sizeof *net->first_end) &&
           tl_bytes_get_list(in, (void **)&net->ends, &net->nends, sizeof *net->ends) &&
           tl_bytes_get_list(in, (void **)&folded->done_ns, &n, sizeof *folded->done_ns) &&
           tl_bytes_get_list(in, (void **)&folded->came, &n, sizeof *folded->came) &&
           tl_bytes_get_list(in, (void **)&folded->met, &n, sizeof *folded->met);
}
