/* folded.c - folds a rank to its ports.
 *
 *     meeting p --> (p ends)--->( a )--->( b )--->(arrives at m) --> meeting m         path from p's END to m's ARRIVAL
 *                       |                   ^
 *                       +--->(launch)-------+
 *
 * An END that waits for a meeting has no edge here: meetings are nodes of the job's net.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

typedef struct making {
    const tl_changes *c;
    tl_arena arena;
    tl_net net;          /* net of the whole rank, with the rank's node numbers; the origin is the node after them */
    tl_lanes lanes;      /* lanes of `net` */
    uint8_t *marks;      /* by node of the net */
    uint32_t *number_of; /* by node of the net: its number in the fold */
} making;

static void make_net(making *m)
{
    const tl_changes *c = m->c;
    const tl_open_rank *o = &c->open;
    tl_net *net = &m->net;
    tl_net_new(o->n + (size_t)1, o->nodes[o->n].first_edge + o->n + (size_t)1, o->n, c->class_map->nsteps, net);
    net->order = tl_malloc(net->n * sizeof *net->order);
    net->order[0] = o->n;
    tl_open_order(o, net->order + 1);
    net->nedges = 0;
    for (uint32_t v = 0; v < o->n; v++) {
        uint32_t port = tl_rank_port_of(o, v);
        net->first_edge[v] = (uint32_t)net->nedges;
        if (port == TL_NONE) {
            uint32_t first = o->nodes[v].first_edge, last = o->nodes[v + 1].first_edge;
            if (first == last) {
                net->from[net->nedges] = o->n;
                net->lag_ns[net->nedges++] = 0;
            }
            for (uint32_t e = first; e < last; e++) {
                net->from[net->nedges] = o->edges[e].from;
                net->lag_ns[net->nedges++] = o->edges[e].lag_ns;
            }
        }
        net->own_ns[v] =
            o->nodes[v].work_ns + o->rest_ns[v] + (port != TL_NONE ? o->edges[o->nodes[v].first_edge].lag_ns : 0);
    }
    net->first_edge[o->n] = net->first_edge[o->n + 1] = (uint32_t)net->nedges;
    net->own_ns[o->n] = 0;
    m->lanes = (tl_lanes){ c->nlanes, o->n, c->kept_of, c->kept.v };
}

/* ------------------------------------------------------------------------------------------------------------- ends */

/* Lists the nodes that may end a step: all but those with a later node of the same step that waits for them and never
 * ends earlier. */
static void list_ends(making *m)
{
    const tl_changes *c = m->c;
    const uint32_t n = c->open.n;
    tl_net *net = &m->net;
    bool *ends = tl_arena_take(&m->arena, net->n, sizeof *ends);
    memset(ends, 1, n);
    for (uint32_t v = 0; v < n; v++) {
        int64_t most_ns = INT64_MIN; /* the most that a lane takes off v */
        size_t same = m->lanes.n;    /* number of lanes that take nothing off v */
        bool gone = false;
        for (uint32_t i = c->kept_of[v]; i != TL_NONE; i = c->kept.v[i].next, same--) {
            most_ns = tl_ns_max(most_ns, c->kept.v[i].less_ns);
            gone = gone || c->kept.v[i].gone;
        }
        most_ns = same > 0 ? tl_ns_max(most_ns, 0) : most_ns;
        for (uint32_t e = net->first_edge[v]; e < net->first_edge[v + 1] - gone && m->marks[v] < TL_FOLD_WORK; e++) {
            uint32_t from = net->from[e];
            if (from < n && net->lag_ns[e] + net->own_ns[v] - most_ns >= 0 &&
                c->open.nodes[from].step == c->open.nodes[v].step)
                ends[from] = false;
        }
    }
    net->nends = 0;
    for (uint32_t v = 0; v < n; v++) {
        net->first_end[v] = (uint32_t)net->nends;
        if (!ends[v])
            continue;
        net->end_ns[net->nends] = 0;
        net->end_step[net->nends++] = c->step_of[v];
    }
    net->first_end[n] = net->first_end[n + 1] = (uint32_t)net->nends;
}

static void fill_folded(const making *m, tl_folded *out)
{
    const tl_open_rank *o = &m->c->open;
    size_t nports = o->of->graph.ncomms;
    out->done_ns = tl_malloc((out->net.n + 1) * sizeof *out->done_ns);
    out->arrival_node = tl_malloc((nports + 1) * sizeof *out->arrival_node);
    out->end_node = tl_malloc((nports + 1) * sizeof *out->end_node);
    out->done_ns[0] = 0;
    out->norigin = out->net.first_end[1];
    for (uint32_t v = 0; v < o->n; v++)
        if (m->number_of[v] != TL_NONE)
            out->done_ns[m->number_of[v]] = o->nodes[v].done_ns;
    for (size_t p = 0; p < nports; p++) {
        const tl_rank_port *port = &o->of->ports[p];
        out->arrival_node[p] = port->awaited ? m->number_of[port->arrival] : TL_NONE;
        out->end_node[p] = port->meeting != TL_NONE ? m->number_of[port->arrival + 1] : TL_NONE;
    }
}

void tl_folded_make(tl_changes *changes, const uint8_t *marks, tl_folded *out, uint32_t *number_of)
{
    size_t n = changes->open.n + (size_t)1;
    making m = { .c = changes };
    m.marks = tl_arena_zeroed(&m.arena, n, sizeof *m.marks);
    m.number_of = tl_arena_take(&m.arena, n, sizeof *m.number_of);
    *out = (tl_folded){ 0 };
    const bool now = changes->nlanes == 0;
    if (now)
        tl_changes_keep(changes);
    make_net(&m);
    const tl_final_graph *of = m.c->open.of;
    if (marks != NULL)
        memcpy(m.marks, marks, m.c->open.n);
    for (size_t p = 0; p < of->graph.ncomms; p++) {
        if (of->ports[p].awaited)
            tl_fold_mark_put(&m.marks[of->ports[p].arrival], TL_FOLD_KEEP);
        if (of->ports[p].meeting != TL_NONE)
            tl_fold_mark_put(&m.marks[of->ports[p].arrival + 1], TL_FOLD_KEEP);
    }
    list_ends(&m);
    tl_net_fold(&m.net, m.marks, &m.lanes, &out->net, m.number_of);
    fill_folded(&m, out);
    if (number_of != NULL)
        memcpy(number_of, m.number_of, changes->open.n * sizeof *number_of);
    if (now)
        tl_changes_drop_kept(changes);
    tl_net_free(&m.net);
    tl_arena_free(&m.arena);
}

void tl_folded_free(tl_folded *folded)
{
    tl_net_free(&folded->net);
    free(folded->done_ns);
    free(folded->arrival_node);
    free(folded->end_node);
    tl_bytes_free(&folded->packed);
    *folded = (tl_folded){ 0 };
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

typedef struct folded_sizes {
    size_t n, nedges, nends, nsteps, nlanes, norigin, nports;
} folded_sizes;

/* Writes a time in each lane: the first lane's, a bit for each other lane that differs, and the differences. */
static void put_times(const int64_t *ns, size_t nlanes, tl_bytes *out)
{
    uint64_t differ = 0;
    tl_bytes_put_number(out, ns[0]);
    for (size_t k = 1; k < nlanes; k++)
        differ |= (uint64_t)(ns[k] != ns[0]) << (k - 1);
    if (nlanes > 1)
        tl_bytes_put_number(out, (int64_t)differ);
    for (size_t k = 1; k < nlanes; k++)
        if (ns[k] != ns[0])
            tl_bytes_put_number(out, ns[k] - ns[0]);
}

static int64_t get_time(tl_bytes *in, size_t nlanes, size_t lane)
{
    int64_t first_ns = tl_bytes_get_number(in), ns = first_ns;
    uint64_t differ = nlanes > 1 ? (uint64_t)tl_bytes_get_number(in) : 0;
    for (size_t k = 1; differ != 0; k++, differ >>= 1) {
        int64_t by_ns = (differ & 1) != 0 ? tl_bytes_get_number(in) : 0;
        ns = k == lane ? first_ns + by_ns : ns;
    }
    return ns;
}

void tl_folded_put(const tl_folded *folded, size_t nports, tl_bytes *out)
{
    const tl_net *net = &folded->net;
    const size_t nlanes = net->nlanes;
    tl_bytes nodes = { 0 };
    const folded_sizes of = { net->n, net->nedges, net->nends, net->nsteps, net->nlanes, folded->norigin, nports };
    tl_bytes_put(out, &of, sizeof of);
    for (size_t p = 0; p < nports; p++) {
        tl_bytes_put_number(out, (int64_t)folded->arrival_node[p] - (p > 0 ? folded->arrival_node[p - 1] : 0));
        tl_bytes_put_number(out, (int64_t)folded->end_node[p] - (p > 0 ? folded->end_node[p - 1] : 0));
    }
    for (uint32_t v = 0; v < net->n; v++) {
        put_times(net->own_ns + v * nlanes, nlanes, &nodes);
        tl_bytes_put_number(&nodes, folded->done_ns[v] - (v > 0 ? folded->done_ns[v - 1] : 0));
        tl_bytes_put_number(&nodes, net->first_edge[v + 1] - net->first_edge[v]);
        for (uint32_t e = net->first_edge[v]; e < net->first_edge[v + 1]; e++) {
            tl_bytes_put_number(&nodes, v - net->from[e]);
            put_times(net->lag_ns + e * nlanes, nlanes, &nodes);
        }
        tl_bytes_put_number(&nodes, net->first_end[v + 1] - net->first_end[v]);
        for (uint32_t i = net->first_end[v]; i < net->first_end[v + 1]; i++) {
            tl_bytes_put_number(&nodes, net->end_step[i]);
            put_times(net->end_ns + i * nlanes, nlanes, &nodes);
        }
    }
    tl_bytes_put_list(out, nodes.v, nodes.n, 1);
    tl_bytes_free(&nodes);
}

void tl_folded_get(tl_folded *folded, tl_bytes *in)
{
    folded_sizes of;
    tl_bytes_get(in, &of, sizeof of);
    const size_t nports = of.nports;
    *folded = (tl_folded){
        .net = { .n = of.n, .nedges = of.nedges, .nends = of.nends, .nsteps = of.nsteps, .nlanes = of.nlanes },
        .norigin = of.norigin,
        .arrival_node = tl_malloc((nports + 1) * sizeof *folded->arrival_node),
        .end_node = tl_malloc((nports + 1) * sizeof *folded->end_node)
    };
    for (size_t p = 0; p < nports; p++) {
        folded->arrival_node[p] = (uint32_t)tl_bytes_get_number(in) + (p > 0 ? folded->arrival_node[p - 1] : 0);
        folded->end_node[p] = (uint32_t)tl_bytes_get_number(in) + (p > 0 ? folded->end_node[p - 1] : 0);
    }
    tl_bytes_get_list(in, (void **)&folded->packed.v, &folded->packed.n, 1);
}

void tl_folded_unpack(const tl_folded *folded, tl_net *net, int64_t **done_ns)
{
    const size_t nlanes = folded->net.nlanes, lane = folded->lane;
    tl_bytes in = folded->packed;
    tl_net_new(folded->net.n, folded->net.nedges, folded->net.nends, folded->net.nsteps, net);
    *done_ns = tl_malloc((net->n + 1) * sizeof **done_ns);
    net->first_edge[0] = net->first_end[0] = 0;
    for (uint32_t v = 0; v < net->n; v++) {
        net->own_ns[v] = get_time(&in, nlanes, lane);
        (*done_ns)[v] = tl_bytes_get_number(&in) + (v > 0 ? (*done_ns)[v - 1] : 0);
        net->first_edge[v + 1] = net->first_edge[v] + (uint32_t)tl_bytes_get_number(&in);
        for (uint32_t e = net->first_edge[v]; e < net->first_edge[v + 1]; e++) {
            net->from[e] = v - (uint32_t)tl_bytes_get_number(&in);
            net->lag_ns[e] = get_time(&in, nlanes, lane);
        }
        net->first_end[v + 1] = net->first_end[v] + (uint32_t)tl_bytes_get_number(&in);
        for (uint32_t i = net->first_end[v]; i < net->first_end[v + 1]; i++) {
            net->end_step[i] = (uint32_t)tl_bytes_get_number(&in);
            net->end_ns[i] = get_time(&in, nlanes, lane);
        }
    }
}
