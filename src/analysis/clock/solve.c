/* solve.c - least squares over the graph of clocks and ties. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Conjugate gradients stop when the squared residual has shrunk by this factor: below 1 ns. */
static const double NOTHING = 1e-20;

/* One round of least squares: L x = b, where L is the graph's weighted Laplacian. */
typedef struct rounding {
    const tl_clock_ties *g;
    double *weight;                                /* by end */
    double *diagonal, *b, *x, *rest, *way, *along; /* by node */
} rounding;

/* Returns the squared norm of `rest`, each node divided by its diagonal; nodes without ends are left out. */
static double squared_norm(const rounding *r, const double *rest)
{
    double sum = 0;
    for (size_t i = 0; i < r->g->nnodes; i++)
        sum += r->diagonal[i] > 0 ? rest[i] * rest[i] / r->diagonal[i] : 0;
    return sum;
}

/* Solves L x = b by conjugate gradients, preconditioned by the diagonal.  b sums to 0 over each component, so a
 * solution exists. */
static void solve_system(rounding *r)
{
    size_t n = r->g->nnodes;
    memset(r->x, 0, n * sizeof *r->x);
    memcpy(r->rest, r->b, n * sizeof *r->rest);
    double square = squared_norm(r, r->rest), least = square * NOTHING;

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
        double next = squared_norm(r, r->rest);
        for (size_t i = 0; i < n; i++)
            r->way[i] = (r->diagonal[i] > 0 ? r->rest[i] / r->diagonal[i] : 0) + next / square * r->way[i];
        square = next;
    }
}

static double residual_of(const tl_clock_ties *g, size_t e, const int64_t *value, const int64_t *out)
{
    return (double)tl_ns_between(value[e], tl_ns_between(out[g->clock[e]], out[g->tie[e]]));
}

/* Sets the weight of each end to 1 / sigma^2, diagonal, and b from the residuals of `out`. */
static void set_weights(rounding *r, const int64_t *value, const double *sigma, const int64_t *out)
{
    memset(r->diagonal, 0, r->g->nnodes * sizeof *r->diagonal);
    memset(r->b, 0, r->g->nnodes * sizeof *r->b);
    for (size_t e = 0; e < r->g->nends; e++) {
        double rest = residual_of(r->g, e, value, out);
        r->weight[e] = isfinite(sigma[e]) ? 1 / (sigma[e] * sigma[e]) : 0;
        r->diagonal[r->g->clock[e]] += r->weight[e];
        r->diagonal[r->g->tie[e]] += r->weight[e];
        r->b[r->g->clock[e]] += r->weight[e] * rest;
        r->b[r->g->tie[e]] -= r->weight[e] * rest;
    }
}

/* Sets apart[], by node, to the square root of the least sum of sigma^2 + residual^2 over paths of ends from the
 * component's lowest clock. */
static void find_sigmas(const tl_clock_ties *g, const int64_t *component, const int64_t *value, const double *sigma,
                        const int64_t *out, double *apart)
{
    bool changed = true;
    for (size_t i = 0; i < g->nnodes; i++)
        apart[i] = component[i] == (int64_t)i ? 0 : INFINITY;
    while (changed) {
        changed = false;
        for (size_t e = 0; e < g->nends; e++) {
            double *a = &apart[g->clock[e]], *b = &apart[g->tie[e]], rest = residual_of(g, e, value, out);
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
    for (int64_t most = INT64_MAX, last = 0;
         most > 0 && most != last;) { /* clocks years apart have more digits than x */
        last = most;
        most = 0;
        set_weights(&r, value, sigma, out);
        solve_system(&r);
        for (size_t i = 0; i < g->nnodes; i++) {
            int64_t by_ns = llround(r.x[i]);
            out[i] = tl_ns_sum(out[i], by_ns);
            most = tl_ns_max(most, llabs(by_ns));
        }
        most = most < last ? most : last;
    }
    free(room);
    for (size_t i = g->nnodes; i-- > 0;) /* descending: a component's lowest clock is subtracted last */
        out[i] = tl_ns_between(out[i], out[component[i]]);
    find_sigmas(g, component, value, sigma, out, apart);
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
