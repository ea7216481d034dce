/* pack.c - packs the nodes and edges of a rank into bytes: a fourth of their size as arrays.
 *
 * A graph is large, and is not read until all ranks are joined.  Each number is predicted from earlier ones, and the
 * difference from the prediction is written, 7 bits a byte: the nearer to 0, the fewer bytes.
 *
 *     head     kind, activity; number of edges; flags: has a key; other segment, step or blocks than predicted
 *     key      its index among the rank's keys; segment, step: difference from the node before
 *     blocks   if they differ from the last node with that key
 *     edge     from: difference from 1 + `from` of the same edge of the last node of the kind; vote; lag
 *     done     difference from the node before
 *     work     of the host: difference from the time since the nodes it waits for; else as it is
 */
#include "build.h"
#include "tlmpi/base/bytes.h"
#include <stdlib.h>
#include <string.h>

enum { MANY_EDGES = 15, HAS_SEGMENT = 0x10, HAS_STEP = 0x20, HAS_KEY = 0x40, HAS_BLOCKS = 0x80 };
enum { NSLOTS = 4, NBLOCKS = 64 };

/* Earlier values from which the next node is predicted. */
typedef struct guess {
    tl_node last;
    uint32_t from[TL_NNODE_KINDS][NSLOTS]; /* by kind of node and index of the edge: the last `from` */
    uint16_t blocks[NBLOCKS];              /* by key modulo NBLOCKS: the last blocks */
} guess;

static uint16_t *blocks_of(guess *g, uint64_t key)
{
    return &g->blocks[key % NBLOCKS];
}

static uint32_t *from_of(guess *g, const tl_node *node, uint32_t edge)
{
    return &g->from[node->kind][edge < NSLOTS ? edge : NSLOTS - 1];
}

/* Returns the latest done_ns of the earlier nodes that v waits for; only nodes before v are known when v is
 * unpacked. */
static int64_t predicted_begin_of(const tl_node *nodes, const tl_edge *edges, uint32_t v, uint32_t nedges)
{
    int64_t since = 0;
    bool any = false;
    for (uint32_t e = 0; e < nedges; e++) {
        if (edges[e].from >= v)
            continue;
        since = any && since > nodes[edges[e].from].done_ns ? since : nodes[edges[e].from].done_ns;
        any = true;
    }
    return since;
}

static int64_t predicted_work_of(const tl_node *nodes, const tl_edge *edges, uint32_t v, uint32_t nedges)
{
    bool host = nodes[v].kind == TL_NODE_LAUNCH || nodes[v].kind == TL_NODE_WAIT_BEGIN;
    return host && nedges > 0 ? nodes[v].done_ns - predicted_begin_of(nodes, edges, v, nedges) : 0;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

typedef struct packing {
    tl_bytes bytes;
    TL_VEC(uint64_t) keys;
    tl_map number_of; /* by key */
    guess guess;
} packing;

static void put_signed(packing *p, int64_t x)
{
    tl_bytes_put_number(&p->bytes, x);
}

/* Writes an unsigned number, in one bit less than a signed one. */
static void put_unsigned(packing *p, uint64_t bits)
{
    put_signed(p, (int64_t)(bits >> 1 ^ ((bits & 1) != 0 ? UINT64_MAX : 0)));
}

static void put_head(packing *p, const tl_node *node, uint32_t nedges)
{
    const tl_node *last = &p->guess.last;
    bool segment = node->segment != last->segment, step = node->step != last->step;
    uint16_t *blocks = blocks_of(&p->guess, node->key);
    bool differs = node->key != 0 && node->blocks != *blocks;
    put_unsigned(p, (uint64_t)node->kind | (uint64_t)node->activity << 3);
    put_unsigned(p, (nedges < MANY_EDGES ? nedges : MANY_EDGES) | (segment ? HAS_SEGMENT : 0U) |
                        (step ? HAS_STEP : 0U) | (node->key != 0 ? HAS_KEY : 0U) | (differs ? HAS_BLOCKS : 0U));
    if (nedges >= MANY_EDGES)
        put_unsigned(p, nedges);
    if (node->key != 0) {
        uint32_t number = tl_map_number(&p->number_of, node->key, p->keys.n);
        if (number == p->keys.n)
            tl_vec_push(&p->keys, node->key);
        put_unsigned(p, number);
    }
    if (differs)
        put_unsigned(p, *blocks = node->blocks);
    if (segment)
        put_signed(p, (int64_t)node->segment - (int64_t)last->segment);
    if (step)
        put_signed(p, (int64_t)node->step - (int64_t)last->step);
}

static void put_node(packing *p, const tl_rank_graph *g, uint32_t v)
{
    const tl_node *node = &g->nodes[v];
    const tl_edge *edges = g->edges + node->first_edge;
    uint32_t nedges = node[1].first_edge - node->first_edge;

    put_head(p, node, nedges);
    for (uint32_t e = 0; e < nedges; e++) {
        uint32_t *from = from_of(&p->guess, node, e);
        put_signed(p, 2 * ((int64_t)edges[e].from - (int64_t)*from - 1) + (edges[e].vote != 0));
        if (edges[e].vote != 0)
            put_unsigned(p, edges[e].vote);
        put_signed(p, edges[e].lag_ns);
        *from = edges[e].from;
    }
    put_signed(p, node->done_ns - p->guess.last.done_ns);
    put_signed(p, node->work_ns - predicted_work_of(g->nodes, edges, v, nedges));
    p->guess.last = *node;
}

void tl_rank_graph_pack(tl_rank_graph *g)
{
    packing p = { 0 };
    for (uint32_t v = 0; v < g->nnodes; v++)
        put_node(&p, g, v);
    tl_map_free(&p.number_of);
    g->keys = tl_malloc((p.keys.n + 1) * sizeof *g->keys);
    g->bytes = tl_malloc(p.bytes.n + 1);
    /* Copied rather than shrunk in place: the grown buffers are large, and leave no hole when freed. */
    if (p.keys.n > 0)
        memcpy(g->keys, p.keys.v, p.keys.n * sizeof *g->keys);
    if (p.bytes.n > 0)
        memcpy(g->bytes, p.bytes.v, p.bytes.n);
    g->nkeys = p.keys.n;
    g->nbytes = p.bytes.n;
    free(p.bytes.v);
    free(p.keys.v);
    free(g->nodes);
    free(g->edges);
    g->nodes = NULL;
    g->edges = NULL;
}

size_t tl_rank_graph_plain_bytes(const tl_rank_graph *g)
{
    return g->nodes != NULL ? (g->nnodes + 1) * sizeof *g->nodes + g->nedges * sizeof *g->edges : 0;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

typedef struct unpacking {
    tl_bytes bytes;
    const uint64_t *keys;
    guess guess;
} unpacking;

static int64_t get_signed(unpacking *u)
{
    return tl_bytes_get_number(&u->bytes);
}

static uint64_t get_unsigned(unpacking *u)
{
    int64_t x = get_signed(u);
    return (uint64_t)x << 1 ^ (x < 0 ? UINT64_MAX : 0);
}

static uint32_t get_head(unpacking *u, tl_node *node)
{
    const uint64_t what = get_unsigned(u), has = get_unsigned(u);
    uint32_t nedges = has & MANY_EDGES;
    *node = (tl_node){
        .kind = what & 7, .activity = (uint8_t)(what >> 3), .segment = u->guess.last.segment, .step = u->guess.last.step
    };
    if (nedges == MANY_EDGES)
        nedges = (uint32_t)get_unsigned(u);
    if ((has & HAS_KEY) != 0) {
        node->key = u->keys[get_unsigned(u)];
        uint16_t *blocks = blocks_of(&u->guess, node->key);
        if ((has & HAS_BLOCKS) != 0)
            *blocks = (uint16_t)get_unsigned(u);
        node->blocks = *blocks;
    }
    if ((has & HAS_SEGMENT) != 0)
        node->segment = (uint32_t)((int64_t)node->segment + get_signed(u));
    if ((has & HAS_STEP) != 0)
        node->step = (int32_t)(node->step + get_signed(u));
    return nedges;
}

void tl_rank_graph_unpack(const tl_rank_graph *g, tl_node *nodes, tl_edge *edges)
{
    unpacking u = { .bytes = { .v = (char *)g->bytes, .n = g->nbytes }, .keys = g->keys };
    uint32_t first = 0;

    for (uint32_t v = 0; v < g->nnodes; v++) {
        tl_node *node = &nodes[v];
        uint32_t nedges = get_head(&u, node);
        node->first_edge = first;
        for (uint32_t e = 0; e < nedges; e++) {
            uint32_t *from = from_of(&u.guess, node, e);
            int64_t x = get_signed(&u);
            bool voted = x % 2 != 0;
            *from = (uint32_t)((int64_t)*from + 1 + (x - voted) / 2);
            edges[first + e] = (tl_edge){ .from = *from, .vote = voted ? (uint32_t)get_unsigned(&u) : 0 };
            edges[first + e].lag_ns = get_signed(&u);
        }
        node->done_ns = u.guess.last.done_ns + get_signed(&u);
        node->work_ns = get_signed(&u) + predicted_work_of(nodes, edges + first, v, nedges);
        u.guess.last = *node;
        first += nedges;
    }
    nodes[g->nnodes] = (tl_node){ .first_edge = first };
}
