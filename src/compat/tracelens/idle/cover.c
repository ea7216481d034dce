/* cover.c - what others cover of spans, in one pass over their ends.
 *
 * Spans are taken in order of their end, so all that have been taken before one end no later.  For each piece of time
 * the latest span that covers it is known, and by span the time that it is the latest of: what is covered by spans from
 * `first` on is the sum of these.
 *
 *     taken     1 [----]          latest   . 1 1 3 3 3 3 3 . .
 *               3    [--------]   sums     1: 2   3: 5          after span 0: 7
 *
 * Taking a span raises what is less in its part of the timeline.  A tree over the pieces holds in each node the least
 * and the next larger one in it: where the span lies between them, only the least changes, and the node is all to be
 * looked at.
 */
#include "cover.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* The latest span of a piece, plus one; 0: it is not covered. */
typedef uint32_t latest;

typedef struct node {
    latest least, next; /* next is larger than least; NOTHING without any */
    int64_t length;     /* of the pieces where it is the least */
} node;

#define NOTHING UINT32_MAX

typedef struct timeline {
    tl_arena arena;
    int64_t *edge; /* pieces lie between neighbours */
    size_t npieces, nleaves;
    node *nodes;   /* nodes[1] is the root, 2i and 2i + 1 stand under i, leaves from nleaves on */
    int64_t *sums; /* by latest: a tree of sums, sums[0] unused */
    size_t nlatest;
} timeline;

/* -------------------------------------------------------------------------------------------------- sums of latest */

static void add(timeline *t, latest at, int64_t length)
{
    for (size_t i = at + 1; i <= t->nlatest; i += i & (~i + 1))
        t->sums[i] += length;
}

/* Returns the sum of all entries below `at`. */
static int64_t sum_below(const timeline *t, size_t at)
{
    int64_t sum = 0;
    for (size_t i = at; i > 0; i -= i & (~i + 1))
        sum += t->sums[i];
    return sum;
}

/* ----------------------------------------------------------------------------------------------------------- nodes */

static void gather(timeline *t, size_t i)
{
    const node *a = &t->nodes[2 * i], *b = &t->nodes[2 * i + 1];
    if (a->least > b->least) {
        const node *swap = a;
        a = b;
        b = swap;
    }
    bool same = a->least == b->least;
    latest other = same ? b->next : b->least;
    t->nodes[i] = (node){ a->least, a->next < other ? a->next : other, a->length + (same ? b->length : 0) };
}

/* Raises the pieces [from, to); node i holds the pieces [low, high). */
static void cover(timeline *t, size_t i, size_t low, size_t high, size_t from, size_t to, latest at)
{
    node *n = &t->nodes[i];
    if (to <= low || high <= from || n->least >= at)
        return;
    if (from <= low && high <= to && at < n->next) {
        add(t, n->least, -n->length);
        add(t, at, n->length);
        n->least = at;
        return;
    }
    size_t mid = low + (high - low) / 2;
    for (node *child = &t->nodes[2 * i]; child <= &t->nodes[2 * i + 1]; child++) /* raised since they were looked at */
        child->least = child->least > n->least ? child->least : n->least;
    cover(t, 2 * i, low, mid, from, to, at);
    cover(t, 2 * i + 1, mid, high, from, to, at);
    gather(t, i);
}

/* ------------------------------------------------------------------------------------------------------- the whole */

static void make(timeline *t, const tl_cover_span *spans, size_t n)
{
    t->edge = tl_arena_take(&t->arena, 2 * n, sizeof *t->edge);
    for (size_t i = 0; i < n; i++) {
        t->edge[2 * i] = spans[i].from;
        t->edge[2 * i + 1] = spans[i].to;
    }
    t->npieces = tl_ns_distinct(t->edge, 2 * n) - 1;
    for (t->nleaves = 1; t->nleaves < t->npieces;)
        t->nleaves *= 2;
    t->nlatest = n + 1;
    t->nodes = tl_arena_zeroed(&t->arena, 2 * t->nleaves, sizeof *t->nodes);
    t->sums = tl_arena_zeroed(&t->arena, t->nlatest + 1, sizeof *t->sums);
    for (size_t i = 0; i < t->nleaves; i++)
        t->nodes[t->nleaves + i] = (node){ 0, NOTHING, i < t->npieces ? t->edge[i + 1] - t->edge[i] : 0 };
    for (size_t i = t->nleaves; i-- > 1;)
        gather(t, i);
    add(t, 0, t->nodes[1].length);
}

static size_t piece_at(const timeline *t, int64_t edge)
{
    size_t low = 0;
    TL_BISECT(low, t->npieces, mid, t->edge[mid] < edge);
    return low;
}

typedef struct turn {
    double end;
    size_t span;
} turn;

/* By end; of spans that end together the one that begins last comes first, since it may lie within the others. */
static int by_end(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->span > y->span ? -1 : x->span < y->span;
}

void tl_cover_find(const tl_cover_span *spans, size_t n, int64_t *covered)
{
    timeline t = { .arena = { 0 } };

    if (n == 0)
        return;
    turn *turns = tl_arena_take(&t.arena, n, sizeof *turns);
    make(&t, spans, n);
    for (size_t i = 0; i < n; i++)
        turns[i] = (turn){ spans[i].end, i };
    qsort(turns, n, sizeof *turns, by_end);
    for (size_t i = 0; i < n; i++) {
        size_t at = turns[i].span;
        covered[at] = sum_below(&t, t.nlatest) - sum_below(&t, spans[at].first + 1);
        cover(&t, 1, 0, t.nleaves, piece_at(&t, spans[at].from), piece_at(&t, spans[at].to), (latest)at + 1);
    }
    tl_arena_free(&t.arena);
}
