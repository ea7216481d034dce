/* test_fold.c - a folded net is done when the whole one is, whatever is changed of what stays: on nets made by hand and
 * by chance. */
#include "tlmpi/analysis/verdict/replay.h"
#include "unit.h"
#include <stdlib.h>

enum { MOST = 60, STEPS = 5 };

/* Off the least time of an edge, so that nothing is waited for there. */
#define GONE_NS (INT64_MAX / 2)

typedef struct changeable {
    tl_net net;
    uint8_t marks[MOST];
    int64_t more_ns[MOST]; /* by node: what it takes longer when it is changed */
    bool gone[MOST];       /* its second edge is, then */
} changeable;

static void new_net(size_t n, size_t nedges, tl_net *out)
{
    tl_net_new(n, nedges, n, STEPS, out);
    out->nedges = out->nends = 0;
}

/* After those that are there; its one end is itself. */
static uint32_t add_node(tl_net *net, uint32_t v, int64_t own_ns, size_t nedges, const uint32_t *from, const int64_t *lag_ns, uint32_t step)
{
    net->own_ns[v] = own_ns;
    net->first_edge[v] = (uint32_t)net->nedges;
    net->first_end[v] = (uint32_t)net->nends;
    for (size_t e = 0; e < nedges; e++) {
        net->from[net->nedges] = from[e];
        net->lag_ns[net->nedges++] = lag_ns[e];
    }
    net->end_ns[net->nends] = 0;
    net->end_step[net->nends++] = step;
    net->first_edge[v + 1] = (uint32_t)net->nedges;
    net->first_end[v + 1] = (uint32_t)net->nends;
    return v;
}

/* ---------------------------------------------------------------------------------------------------------- by hand */

/* The drawing in fold.c: (u)->(a)->(b)->(v), and (w)->(b). */
static void what_lies_between_becomes_ways(void)
{
    enum { ORIGIN, U, W, A, B, V, N };
    const uint8_t marks[N] = { TL_FOLD_KEEP, TL_FOLD_WORK, TL_FOLD_WORK, TL_FOLD_AWAY, TL_FOLD_AWAY, TL_FOLD_KEEP };
    tl_net net, fold;
    uint32_t number_of[N];
    int64_t done_ns[N], step_ends[STEPS];
    new_net(N, 6, &net);
    add_node(&net, ORIGIN, 0, 0, NULL, NULL, STEPS);
    add_node(&net, U, 10, 1, (uint32_t[]){ ORIGIN }, (int64_t[]){ 0 }, 0);
    add_node(&net, W, 30, 1, (uint32_t[]){ ORIGIN }, (int64_t[]){ 0 }, 0);
    add_node(&net, A, 5, 1, (uint32_t[]){ U }, (int64_t[]){ 1 }, 1);
    add_node(&net, B, 7, 2, (uint32_t[]){ A, W }, (int64_t[]){ 2, 3 }, 1);
    add_node(&net, V, 100, 1, (uint32_t[]){ B }, (int64_t[]){ 4 }, 2);
    tl_net_fold(&net, marks, NULL, &fold, number_of);
    CU_ASSERT_EQUAL_FATAL(fold.n, 4);
    CU_ASSERT(number_of[A] == TL_NONE && number_of[B] == TL_NONE);
    CU_ASSERT_EQUAL(fold.first_edge[number_of[V] + 1] - fold.first_edge[number_of[V]], 2);
    for (uint32_t e = fold.first_edge[number_of[V]]; e < fold.first_edge[number_of[V] + 1]; e++)
        CU_ASSERT_EQUAL(fold.lag_ns[e], fold.from[e] == number_of[U] ? 1 + 5 + 2 + 7 + 4 : 3 + 7 + 4);
    CU_ASSERT_EQUAL(tl_net_replay(&fold, done_ns), 30 + 3 + 7 + 4 + 100);
    tl_net_step_ends(&fold, done_ns, step_ends);
    CU_ASSERT(step_ends[0] == 30 && step_ends[1] == 40 && step_ends[2] == 144);
    CU_ASSERT(step_ends[3] == 144 && step_ends[4] == 144); /* no earlier than the one before */
    tl_net_free(&fold);
    tl_net_free(&net);
}

/* -------------------------------------------------------------------------------------------------------- by chance */

static uint32_t below(uint64_t *state, unsigned n)
{
    return unit_below(state, n);
}

/* Up to three edges from other nodes each; one in ten waits for none at all. */
static void draw_net(uint64_t *state, tl_net *net)
{
    const uint32_t n = 2 + below(state, MOST - 2);
    new_net(n, (size_t)3 * n, net);
    add_node(net, 0, 0, 0, NULL, NULL, STEPS);
    for (uint32_t v = 1; v < n; v++) {
        uint32_t from[3], nedges = 0, most = below(state, 10) == 0 ? 0 : 1 + below(state, 3);
        int64_t lag_ns[3];
        for (uint32_t i = 0; i < most; i++) {
            uint32_t u = v > 6 && below(state, 4) > 0 ? v - 1 - below(state, 6) : below(state, v);
            bool new = true;
            for (uint32_t k = 0; k < nedges; k++)
                new = new && from[k] != u;
            if (new) {
                from[nedges] = u;
                lag_ns[nedges++] = (int64_t)below(state, 60) - 20;
            }
        }
        add_node(net, v, (int64_t)below(state, 100) - 5, nedges, from, lag_ns, below(state, STEPS + 1));
    }
}

static void mark(changeable *c, uint32_t v, tl_fold_mark mark)
{
    c->marks[v] = c->marks[v] < mark ? (uint8_t)mark : c->marks[v];
}

static changeable drawn(uint64_t seed)
{
    changeable c = { .marks = { TL_FOLD_KEEP } };
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    const unsigned often = 2 + below(&state, 12);
    draw_net(&state, &c.net);
    for (uint32_t v = 1; v < c.net.n; v++) {
        uint32_t first = c.net.first_edge[v], nedges = c.net.first_edge[v + 1] - first;
        if (below(&state, often) == 0)
            mark(&c, v, (tl_fold_mark)below(&state, TL_FOLD_EDGES + 1));
        if (c.marks[v] >= TL_FOLD_WORK)
            c.more_ns[v] = (int64_t)below(&state, 400) - 200;
        if (c.marks[v] != TL_FOLD_EDGES)
            continue;
        for (uint32_t e = first; e < first + nedges; e++)
            mark(&c, c.net.from[e], TL_FOLD_KEEP);
        c.gone[v] = nedges == 2;
    }
    return c;
}

/* number_of NULL: the net itself. */
static void change(const changeable *c, const uint32_t *number_of, tl_net *net)
{
    for (uint32_t v = 0; v < c->net.n; v++) {
        uint32_t number = number_of != NULL ? number_of[v] : v;
        if (number == TL_NONE) {
            CU_ASSERT_EQUAL(c->marks[v], TL_FOLD_AWAY);
            continue;
        }
        net->own_ns[number] += c->more_ns[v];
        if (c->gone[v])
            net->lag_ns[net->first_edge[number] + 1] -= GONE_NS;
    }
}

static void expect_same(const tl_net *net, const tl_net *fold, const uint32_t *number_of)
{
    int64_t done_ns[MOST], folded_ns[MOST], ends[STEPS], folded_ends[STEPS];
    CU_ASSERT_EQUAL(tl_net_replay(fold, folded_ns), tl_net_replay(net, done_ns));
    tl_net_step_ends(net, done_ns, ends);
    tl_net_step_ends(fold, folded_ns, folded_ends);
    for (size_t s = 0; s < STEPS; s++)
        CU_ASSERT_EQUAL(folded_ends[s], ends[s]);
    for (size_t v = 0; v < net->n; v++)
        CU_ASSERT(number_of[v] == TL_NONE || folded_ns[number_of[v]] == done_ns[v]);
}

static void whatever_changes_it_is_done_at_the_same_times(void)
{
    size_t nodes = 0, stay = 0;
    for (uint64_t seed = 1; seed < 2000; seed++) {
        changeable c = drawn(seed);
        tl_net fold;
        uint32_t number_of[MOST];
        tl_net_fold(&c.net, c.marks, NULL, &fold, number_of);
        expect_same(&c.net, &fold, number_of);
        change(&c, number_of, &fold);
        change(&c, NULL, &c.net);
        expect_same(&c.net, &fold, number_of);
        nodes += c.net.n;
        stay += fold.n;
        tl_net_free(&fold);
        tl_net_free(&c.net);
    }
    CU_ASSERT(stay < nodes);
}

/* A net that is the lane of another which is folded in several; the caller frees it. */
static tl_net lane_of(const tl_net *net, size_t lane)
{
    tl_net one;
    tl_net_new(net->n, net->nedges, net->nends, net->nsteps, &one);
    for (size_t v = 0; v <= net->n; v++) {
        one.first_edge[v] = net->first_edge[v];
        one.first_end[v] = net->first_end[v];
        one.own_ns[v] = v < net->n ? net->own_ns[v * net->nlanes + lane] : 0;
    }
    for (size_t e = 0; e < net->nedges; e++) {
        one.from[e] = net->from[e];
        one.lag_ns[e] = net->lag_ns[e * net->nlanes + lane];
    }
    for (size_t i = 0; i < net->nends; i++) {
        one.end_step[i] = net->end_step[i];
        one.end_ns[i] = net->end_ns[i * net->nlanes + lane];
    }
    return one;
}

/* Takes less_ns off the nodes, and makes the last edges that are gone too short to matter; sign -1: takes both back. */
static void part(tl_net *net, const int64_t *less_ns, const bool *gone, int64_t sign)
{
    for (uint32_t v = 0; v < net->n; v++)
        net->own_ns[v] -= sign * less_ns[v];
    for (uint32_t v = 0; v < net->n; v++)
        if (gone[v])
            net->lag_ns[net->first_edge[v + 1] - 1] -= sign * GONE_NS;
}

/* Work and edges of any node are others in each lane. */
static void in_each_lane_it_is_done_as_the_net_changed_so(void)
{
    enum { LANES = 3 };
    size_t nodes = 0, stay = 0;
    for (uint64_t seed = 1; seed < 500; seed++) {
        changeable c = drawn(seed);
        int64_t less_ns[MOST * LANES];
        bool gone[MOST * LANES];
        uint64_t state = seed;
        uint32_t number_of[MOST];
        tl_net fold;
        for (uint32_t v = 0; v < c.net.n; v++) {
            bool two = c.net.first_edge[v + 1] - c.net.first_edge[v] == 2;
            for (size_t k = 0; k < LANES; k++) {
                less_ns[k * c.net.n + v] = v > 0 && below(&state, 3) == 0 ? (int64_t)below(&state, 50) : 0;
                gone[k * c.net.n + v] = two && below(&state, 2) == 0;
            }
        }
        tl_node_change changes[MOST * LANES];
        uint32_t of_node[MOST];
        for (uint32_t v = 0; v < c.net.n; v++) {
            of_node[v] = TL_NONE;
            for (uint8_t k = 0; k < LANES; k++) {
                uint32_t at = k * (uint32_t)c.net.n + v;
                changes[at] = (tl_node_change){ less_ns[at], v, of_node[v], k, gone[at] };
                of_node[v] = at;
            }
        }
        tl_net_fold(&c.net, c.marks, &(tl_lanes){ LANES, c.net.n, of_node, changes }, &fold, number_of);
        for (size_t k = 0; k < LANES; k++) {
            tl_net one = lane_of(&fold, k);
            part(&c.net, less_ns + k * c.net.n, gone + k * c.net.n, 1);
            expect_same(&c.net, &one, number_of);
            part(&c.net, less_ns + k * c.net.n, gone + k * c.net.n, -1);
            tl_net_free(&one);
        }
        nodes += c.net.n;
        stay += fold.n;
        tl_net_free(&fold);
        tl_net_free(&c.net);
    }
    CU_ASSERT(stay < nodes);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_lies_between_becomes_ways),
        TEST(whatever_changes_it_is_done_at_the_same_times),
        TEST(in_each_lane_it_is_done_as_the_net_changed_so),
    };
    return unit_main("folded nets", tests, COUNT(tests));
}
