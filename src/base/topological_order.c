/* topological_order.c - topological order of nodes (Kahn); cycles are broken by dropping edges. */
#include "tlmpi/base/topological_order.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <string.h>

#define ORDERED UINT32_MAX

typedef struct ordering {
    size_t n;
    const uint32_t *first_edge, *from;
    const int64_t *when_ns;
    tl_arena arena;
    uint32_t *degree;   /* by node: number of edges from nodes that are not ordered; ORDERED: the node itself is
                         * ordered */
    uint32_t *first_to; /* [n + 2] by node: index in `to` of the first of its successors */
    uint32_t *to;
    uint32_t *order;
    size_t head, tail; /* order[0 .. tail) is filled; the successors of order[0 .. head) have been updated */
    bool *dropped;
    size_t ndropped;
    uint32_t *by_time; /* nodes by time, ascending; NULL: no cycle yet */
    size_t next;       /* index in by_time: all nodes before it are ordered */
} ordering;

static void append(ordering *o, uint32_t v)
{
    o->degree[v] = ORDERED;
    o->order[o->tail++] = v;
}

static void append_sources(ordering *o)
{
    for (size_t e = 0; e < o->first_edge[o->n]; e++)
        o->first_to[o->from[e] + 2]++;
    for (size_t v = 0; v < o->n; v++)
        o->first_to[v + 2] += o->first_to[v + 1];
    for (uint32_t v = 0; v < o->n; v++) {
        for (uint32_t e = o->first_edge[v]; e < o->first_edge[v + 1]; e++)
            o->to[o->first_to[o->from[e] + 1]++] = v;
        o->degree[v] = o->first_edge[v + 1] - o->first_edge[v];
        if (o->degree[v] == 0)
            append(o, v);
    }
}

static void append_ready(ordering *o)
{
    while (o->head < o->tail) {
        uint32_t v = o->order[o->head++];
        for (uint32_t i = o->first_to[v]; i < o->first_to[v + 1]; i++) {
            uint32_t to = o->to[i];
            if (o->degree[to] != ORDERED && --o->degree[to] == 0)
                append(o, to);
        }
    }
}

static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const ordering *o = context;
    return TL_COMPARE(o->when_ns[a], o->when_ns[b]);
}

/* Appends the earliest of the remaining nodes, and drops its edges from unordered nodes. */
static void break_cycle(ordering *o)
{
    if (o->by_time == NULL) {
        o->by_time = tl_arena_take(&o->arena, o->n, sizeof *o->by_time);
        for (uint32_t v = 0; v < o->n; v++)
            o->by_time[v] = v;
        tl_sort_index(o->by_time, o->n, by_time, o);
        memset(o->dropped, 0, o->first_edge[o->n] * sizeof *o->dropped);
    }
    while (o->degree[o->by_time[o->next]] == ORDERED)
        o->next++;
    uint32_t v = o->by_time[o->next];
    for (uint32_t e = o->first_edge[v]; e < o->first_edge[v + 1]; e++)
        if (o->degree[o->from[e]] != ORDERED) {
            o->dropped[e] = true;
            o->ndropped++;
        }
    append(o, v);
}

void tl_topological_order(size_t n, const uint32_t *first_edge, const uint32_t *from, const int64_t *when_ns,
                          uint32_t *order, bool *dropped, size_t *ndropped)
{
    ordering o = {
        .n = n, .first_edge = first_edge, .from = from, .when_ns = when_ns, .order = order, .dropped = dropped
    };
    o.degree = tl_arena_take(&o.arena, n, sizeof *o.degree);
    o.first_to = tl_arena_zeroed(&o.arena, n + 2, sizeof *o.first_to);
    o.to = tl_arena_take(&o.arena, first_edge[n], sizeof *o.to);
    append_sources(&o);
    append_ready(&o);
    while (o.tail < n) {
        break_cycle(&o);
        append_ready(&o);
    }
    *ndropped = o.ndropped;
    tl_arena_free(&o.arena);
}
