/* solve.c - least squares over the graph of clocks and ties. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A round ends where nothing in it is a ns any more. */
static const double NOTHING = 1e-20;

/* One round: L x = b, where L is the Laplacian of the weights. */
typedef struct rounding {
    const tl_clock_ties *g;
    double *weight;                                /* by end */
    double *diagonal, *b, *x, *rest, *way, *along; /* by node */
} rounding;

/* Its square, as the diagonal weighs it; a node without ends has none. */
static double square_of(const rounding *r, const double *rest)
{
    double sum = 0;
    for (size_t i = 0; i < r->g->nnodes; i++)
        sum += r->diagonal[i] > 0 ? rest[i] * rest[i] / r->diagonal[i] : 0;
    return sum;
}

/* Conjugate gradients, preconditioned by the diagonal; b sums up to 0 over each component, so there is a solution. */
static void solve(rounding *r)
{
    size_t n = r->g->nnodes;
    memset(r->x, 0, n * sizeof *r->x);
    memcpy(r->rest, r->b, n * sizeof *r->rest);
    double square = square_of(r, r->rest), least = square * NOTHING;

    for (size_t i = 0; i < n; i++)
        r->way[i] = r->diagonal[i] > 0 ? r->rest[i] / r->diagonal[i] : 0;
    for (size_t k = 0; k < 2 * n && square > least; k++) {
        double curve = 0;
        memset(r->along, 0, r->g->nnodes * sizeof *r->along);
        for (size_t e = 0; e < r->g->nends; e++) {
            double flow = r->weight[e] * (r->way[r->g->clock[e]] - r->way[r->g->tie[e]]);
            r->along[r->g->clock[e]] += flow;
            r->along[r->g->tie[e]] -= flow;
        }
        for (size_t i = 0; i < n; i++)
            curve += r->way[i] * r->along[i];
        if (!(curve > 0))
            break;
        for (size_t i = 0; i < n; i++) {
            r->x[i] += square / curve * r->way[i];
            r->rest[i] -= square / curve * r->along[i];
        }
        double next = square_of(r, r->rest);
        for (size_t i = 0; i < n; i++)
            r->way[i] = (r->diagonal[i] > 0 ? r->rest[i] / r->diagonal[i] : 0) + next / square * r->way[i];
        square = next;
    }
}

static double rest_of(const tl_clock_ties *g, size_t e, const int64_t *value, const int64_t *out)
{
    return (double)tl_ns_between(value[e], tl_ns_between(out[g->clock[e]], out[g->tie[e]]));
}

/* Weighs ends by their sigma and, from the second round on, by what they contradict the others by. */
static void weigh(rounding *r, bool first, const int64_t *value, const double *sigma, const int64_t *out)
{
    memset(r->diagonal, 0, r->g->nnodes * sizeof *r->diagonal);
    memset(r->b, 0, r->g->nnodes * sizeof *r->b);
    for (size_t e = 0; e < r->g->nends; e++) {
        double rest = rest_of(r->g, e, value, out), off = first ? 0 : rest;
        r->weight[e] = isfinite(sigma[e]) ? 1 / (sigma[e] * sigma[e] + off * off) : 0;
        r->diagonal[r->g->clock[e]] += r->weight[e];
        r->diagonal[r->g->tie[e]] += r->weight[e];
        r->b[r->g->clock[e]] += r->weight[e] * rest;
        r->b[r->g->tie[e]] -= r->weight[e] * rest;
    }
}

/* The least sum of squares from the lowest clock of each component, over what ends leave open. */
static void find_apart(const tl_clock_ties *g, const int64_t *component, const int64_t *value, const double *sigma,
                       const int64_t *out, double *apart)
{
    bool changed = true;
    for (size_t i = 0; i < g->nnodes; i++)
        apart[i] = component[i] == (int64_t)i ? 0 : INFINITY;
    while (changed) {
        changed = false;
        for (size_t e = 0; e < g->nends; e++) {
            double *a = &apart[g->clock[e]], *b = &apart[g->tie[e]], rest = rest_of(g, e, value, out);
            double open = sigma[e] * sigma[e] + rest * rest;
            changed = changed || *a > *b + open || *b > *a + open;
            *a = fmin(*a, *b + open);
            *b = fmin(*b, *a + open);
        }
    }
    for (size_t i = 0; i < g->nnodes; i++)
        apart[i] = sqrt(apart[i]);
}

void tl_clock_ties_solve(const tl_clock_ties *g, const int64_t *component, const int64_t *value, const double *sigma,
                         int64_t *out, double *apart)
{
    double *room = tl_calloc(g->nends + 6 * g->nnodes + 1, sizeof *room);
    double *by_node = room + g->nends;
    rounding r = { .g = g, .weight = room, .diagonal = by_node };
    r.b = by_node + g->nnodes;
    r.x = r.b + g->nnodes;
    r.rest = r.x + g->nnodes;
    r.way = r.rest + g->nnodes;
    r.along = r.way + g->nnodes;

    memset(out, 0, g->nnodes * sizeof *out);
    for (int k = 0; k < TL_CLOCK_ROUNDS; k++) {
        weigh(&r, k == 0, value, sigma, out);
        solve(&r);
        for (size_t i = 0; i < g->nnodes; i++)
            out[i] = tl_ns_sum(out[i], llround(r.x[i]));
    }
    free(room);
    for (size_t i = g->nnodes; i-- > 0;) /* the lowest of a component comes last */
        out[i] = tl_ns_between(out[i], out[component[i]]);
    find_apart(g, component, value, sigma, out, apart);
}

void tl_clock_ties_label(const tl_clock_ties *g, int64_t *component)
{
    bool changed = true;
    for (size_t i = 0; i < g->nnodes; i++)
        component[i] = (int64_t)i;
    while (changed) {
        changed = false;
        for (size_t e = 0; e < g->nends; e++) {
            int64_t *a = &component[g->clock[e]], *b = &component[g->tie[e]], least = tl_ns_min(*a, *b);
            changed = changed || *a != *b;
            *a = *b = least;
        }
    }
}
