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
    tl_changes *c;
    tl_arena arena;
    uint8_t *marks;      /* by node of the net */
    uint32_t *number_of; /* by node of the net: its number in the fold */
} making;

/* ---------------------------------------------------------------------------------------------------------- the net */

static void put_edges(tl_changes *c, uint32_t v)
{
    const tl_open_rank *o = &c->open;
    tl_net *net = &c->net;
    uint32_t e = o->nodes[v].first_edge, last = o->nodes[v + 1].first_edge;
    if (e == last) {
        net->from[net->nedges] = 0;
        net->lag_ns[net->nedges++] = 0;
        return;
    }
    for (last -= c->gone[v]; e < last; e++) {
        net->from[net->nedges] = c->at[o->edges[e].from];
        net->lag_ns[net->nedges++] = o->edges[e].lag_ns;
    }
}

static void put_all_edges(tl_changes *c)
{
    tl_net *net = &c->net;
    net->nedges = 0;
    net->first_edge[0] = net->first_edge[1] = 0;
    for (uint32_t i = 0; i < c->open.n; i++) {
        if (tl_port_of(&c->open, c->order[i]) == TL_NONE)
            put_edges(c, c->order[i]);
        net->first_edge[i + 2] = (uint32_t)net->nedges;
    }
}

/* The net of the rank as it is changed: its edges are the same as long as none is gone. */
static void lay_out(tl_changes *c)
{
    const tl_open_rank *o = &c->open;
    bool parted = false, ok = c->laid_out;
    if (!ok) {
        tl_net_new(o->n + (size_t)1, o->nodes[o->n].first_edge + o->n + (size_t)1, o->n, c->frame->nsteps, &c->net);
        tl_open_order(o, c->order);
        ok = true;
    }
    for (uint32_t i = 0; !c->laid_out && i < o->n; i++)
        c->at[c->order[i]] = i + 1;
    for (uint32_t v = 0; v < o->n && !parted; v++)
        parted = c->gone[v];
    if (!c->laid_out || parted || c->parted)
        put_all_edges(c);
    c->laid_out = ok;
    c->parted = parted;
    c->net.own_ns[0] = 0;
    for (uint32_t v = 0; v < o->n; v++) {
        int64_t lag_ns = tl_port_of(o, v) != TL_NONE ? o->edges[o->nodes[v].first_edge].lag_ns : 0;
        c->net.own_ns[c->at[v]] = o->nodes[v].work_ns + o->rest_ns[v] + lag_ns - c->less_ns[v];
    }
}

/* ------------------------------------------------------------------------------------------------------------- ends */

/* Lists the nodes that may end a step.  A node does not if a later node of its step waits for it and is never done
 * earlier. */
static void put_ends(making *m)
{
    const tl_changes *c = m->c;
    tl_net *net = &m->c->net;
    bool *ends = tl_malloc((net->n + 1) * sizeof *ends);
    for (uint32_t v = 0; v < net->n; v++)
        ends[v] = v > 0;
    for (uint32_t v = 1; v < net->n; v++)
        for (uint32_t e = net->first_edge[v]; e < net->first_edge[v + 1] && m->marks[v] < TL_FOLD_WORK; e++) {
            uint32_t from = net->from[e];
            if (from > 0 && net->lag_ns[e] + net->own_ns[v] >= 0 &&
                c->open.nodes[c->order[from - 1]].step == c->open.nodes[c->order[v - 1]].step)
                ends[from] = false;
        }
    net->nends = 0;
    for (uint32_t v = 0; v < net->n; v++) {
        net->first_end[v] = (uint32_t)net->nends;
        if (ends[v])
            net->ends[net->nends++] = (tl_net_end){ 0, c->step_of[c->order[v - 1]] };
    }
    net->first_end[net->n] = (uint32_t)net->nends;
    free(ends);
}

static void mark(making *m, uint32_t node, tl_fold_mark how)
{
    tl_fold_mark_put(&m->marks[m->c->at[node]], how);
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

static void hand_out(const making *m, tl_folded *out, uint32_t *number_of)
{
    const tl_open_rank *o = &m->c->open;
    size_t nports = o->of->graph.ncomms;
    out->done_ns = tl_malloc((out->net.n + 1) * sizeof *out->done_ns);
    out->came = tl_malloc((nports + 1) * sizeof *out->came);
    out->met = tl_malloc((nports + 1) * sizeof *out->met);
    out->done_ns[0] = 0;
    out->norigin = out->net.first_end[1];
    for (uint32_t v = 0; v < o->n; v++) {
        uint32_t number = m->number_of[m->c->at[v]];
        if (number != TL_NONE)
            out->done_ns[number] = o->nodes[v].done_ns;
        if (number_of != NULL)
            number_of[v] = number;
    }
    for (size_t p = 0; p < nports; p++) {
        const tl_port *port = &o->of->ports[p];
        out->came[p] = port->awaited ? m->number_of[m->c->at[port->arrival]] : TL_NONE;
        out->met[p] = port->meeting != TL_NONE ? m->number_of[m->c->at[port->arrival + 1]] : TL_NONE;
    }
}

void tl_folded_make(tl_changes *changes, const uint8_t *marks, tl_folded *out, uint32_t *number_of)
{
    size_t n = changes->open.n + (size_t)1;
    making m = { .c = changes };
    m.marks = tl_arena_zeroed(&m.arena, n, sizeof *m.marks);
    m.number_of = tl_arena_take(&m.arena, n, sizeof *m.number_of);
    *out = (tl_folded){ 0 };
    lay_out(changes);
    mark_all(&m, marks);
    put_ends(&m);
    tl_net_fold(&changes->net, m.marks, &out->net, m.number_of);
    hand_out(&m, out, number_of);
    tl_arena_free(&m.arena);
}

void tl_folded_free(tl_folded *folded)
{
    tl_net_free(&folded->net);
    free(folded->done_ns);
    free(folded->came);
    free(folded->met);
    tl_bytes_free(&folded->packed);
    *folded = (tl_folded){ 0 };
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

static void put_node(const tl_folded *folded, uint32_t v, tl_bytes *out)
{
    const tl_net *net = &folded->net;
    tl_bytes_put_number(out, net->own_ns[v]);
    tl_bytes_put_number(out, folded->done_ns[v] - (v > 0 ? folded->done_ns[v - 1] : 0));
    tl_bytes_put_number(out, net->first_edge[v + 1] - net->first_edge[v]);
    for (uint32_t e = net->first_edge[v]; e < net->first_edge[v + 1]; e++) {
        tl_bytes_put_number(out, v - net->from[e]);
        tl_bytes_put_number(out, net->lag_ns[e]);
    }
    tl_bytes_put_number(out, net->first_end[v + 1] - net->first_end[v]);
    for (uint32_t i = net->first_end[v]; i < net->first_end[v + 1]; i++) {
        tl_bytes_put_number(out, net->ends[i].step);
        tl_bytes_put_number(out, net->ends[i].ns);
    }
}

void tl_folded_put(const tl_folded *folded, size_t nports, tl_bytes *out)
{
    const tl_net *net = &folded->net;
    tl_bytes nodes = { 0 };
    tl_bytes_put_number(out, (int64_t)net->n);
    tl_bytes_put_number(out, (int64_t)net->nedges);
    tl_bytes_put_number(out, (int64_t)net->nends);
    tl_bytes_put_number(out, (int64_t)net->nsteps);
    tl_bytes_put_number(out, (int64_t)folded->norigin);
    tl_bytes_put_number(out, (int64_t)nports);
    for (size_t p = 0; p < nports; p++) {
        tl_bytes_put_number(out, (int64_t)folded->came[p] - (p > 0 ? folded->came[p - 1] : 0));
        tl_bytes_put_number(out, (int64_t)folded->met[p] - (p > 0 ? folded->met[p - 1] : 0));
    }
    for (uint32_t v = 0; v < net->n; v++)
        put_node(folded, v, &nodes);
    tl_bytes_put_list(out, nodes.v, nodes.n, 1);
    tl_bytes_free(&nodes);
}

static uint32_t get_small(tl_bytes *in)
{
    return (uint32_t)tl_bytes_get_number(in);
}

void tl_folded_get(tl_folded *folded, tl_bytes *in)
{
    size_t n = get_small(in), nedges = get_small(in), nends = get_small(in), nsteps = get_small(in);
    size_t norigin = get_small(in), nports = get_small(in);
    *folded = (tl_folded){ .net = { .n = n, .nedges = nedges, .nends = nends, .nsteps = nsteps },
                           .norigin = norigin,
                           .came = tl_malloc((nports + 1) * sizeof *folded->came),
                           .met = tl_malloc((nports + 1) * sizeof *folded->met) };
    for (size_t p = 0; p < nports; p++) {
        folded->came[p] = get_small(in) + (p > 0 ? folded->came[p - 1] : 0);
        folded->met[p] = get_small(in) + (p > 0 ? folded->met[p - 1] : 0);
    }
    tl_bytes_get_list(in, (void **)&folded->packed.v, &folded->packed.n, 1);
}

static void get_node(tl_net *net, int64_t *done_ns, uint32_t v, tl_bytes *in)
{
    net->own_ns[v] = tl_bytes_get_number(in);
    done_ns[v] = tl_bytes_get_number(in) + (v > 0 ? done_ns[v - 1] : 0);
    net->first_edge[v + 1] = net->first_edge[v] + get_small(in);
    for (uint32_t e = net->first_edge[v]; e < net->first_edge[v + 1]; e++) {
        net->from[e] = v - get_small(in);
        net->lag_ns[e] = tl_bytes_get_number(in);
    }
    net->first_end[v + 1] = net->first_end[v] + get_small(in);
    for (uint32_t i = net->first_end[v]; i < net->first_end[v + 1]; i++) {
        net->ends[i].step = get_small(in);
        net->ends[i].ns = tl_bytes_get_number(in);
    }
}

void tl_folded_unpack(const tl_folded *folded, tl_net *net, int64_t **done_ns)
{
    tl_bytes in = folded->packed;
    tl_net_new(folded->net.n, folded->net.nedges, folded->net.nends, folded->net.nsteps, net);
    *done_ns = tl_malloc((net->n + 1) * sizeof **done_ns);
    net->first_edge[0] = net->first_end[0] = 0;
    for (uint32_t v = 0; v < net->n; v++)
        get_node(net, *done_ns, v, &in);
}
