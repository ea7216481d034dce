/* clock_lsq.c - see clock_lsq.h.
 *
 * The sum of weight (x - y - value)^2 over all edges is least where
 *
 *     for each group   y = weighted mean over its edges of (x - value)
 *     for each clock   sum over its edges of weight (x - y - value) = 0
 *
 * The first put into the second leaves a system for x alone, symmetric and not negative, which conjugate gradients
 * solve. Sums run over the edges in their order, so the result is a function of them alone.
 */
#include "lsq.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>
#include <string.h>

/* In exact arithmetic there are as many rounds as distinct clocks; sooner where it is near enough. */
#define MOST_ROUNDS 5000
#define NEAR_ENOUGH 1e-28

/* All of them, to be looked at and freed. */
#define ARRAYS(s)                                                                                                      \
    {                                                                                                                  \
        (s)->clock, (s)->group, (s)->weight, (s)->value, (s)->x, (s)->y, (s)->left, (s)->direction, (s)->image,        \
            (s)->at_edge, (s)->sum, (s)->norm                                                                          \
    }

bool tl_lsq_make(tl_lsq *s, size_t nedges, size_t nclocks, size_t ngroups)
{
    *s = (tl_lsq){ .nedges = nedges, .nclocks = nclocks, .ngroups = ngroups };
    s->clock = tl_calloc(nedges + 1, sizeof *s->clock);
    s->group = tl_calloc(nedges + 1, sizeof *s->group);
    s->weight = tl_calloc(nedges + 1, sizeof *s->weight);
    s->value = tl_calloc(nedges + 1, sizeof *s->value);
    s->x = tl_calloc(nclocks + 1, sizeof *s->x);
    s->left = tl_calloc(nclocks + 1, sizeof *s->left);
    s->direction = tl_calloc(nclocks + 1, sizeof *s->direction);
    s->image = tl_calloc(nclocks + 1, sizeof *s->image);
    s->y = tl_calloc(ngroups + 1, sizeof *s->y);
    s->at_edge = tl_calloc(nedges + 1, sizeof *s->at_edge);
    s->sum = tl_calloc(ngroups + 1, sizeof *s->sum);
    s->norm = tl_calloc(ngroups + 1, sizeof *s->norm);
    void *const arrays[] = ARRAYS(s);
    bool whole = true;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        whole = whole && arrays[i] != NULL;
    return whole;
}

void tl_lsq_free(tl_lsq *s)
{
    void *const arrays[] = ARRAYS(s);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    *s = (tl_lsq){ 0 };
}

/* Of each edge the value of its clock: room that the next call uses again. */
static const double *at_edges(tl_lsq *s, const double *x)
{
    for (size_t e = 0; e < s->nedges; e++)
        s->at_edge[e] = x[s->clock[e]];
    return s->at_edge;
}

/* s->sum = of each group the weighted mean of the values of its edges. */
static void group_means(tl_lsq *s, const double *of_edge)
{
    for (size_t g = 0; g < s->ngroups; g++)
        s->sum[g] = s->norm[g] = 0;
    for (size_t e = 0; e < s->nedges; e++) {
        s->sum[s->group[e]] += s->weight[e] * of_edge[e];
        s->norm[s->group[e]] += s->weight[e];
    }
    for (size_t g = 0; g < s->ngroups; g++)
        s->sum[g] = s->norm[g] > 0 ? s->sum[g] / s->norm[g] : 0;
}

/* out = of each clock the weighted sum over its edges of what their values are above the mean of their group. */
static void apply(tl_lsq *s, const double *of_edge, double *out)
{
    group_means(s, of_edge);
    for (size_t c = 0; c < s->nclocks; c++)
        out[c] = 0;
    for (size_t e = 0; e < s->nedges; e++)
        out[s->clock[e]] += s->weight[e] * (of_edge[e] - s->sum[s->group[e]]);
}

static double square(const double *a, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * a[i];
    return sum;
}

static double product(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void tl_lsq_solve(tl_lsq *s)
{
    size_t n = s->nclocks;

    apply(s, s->value, s->left);
    for (size_t c = 0; c < n; c++) {
        s->x[c] = 0;
        s->direction[c] = s->left[c];
    }
    double now = square(s->left, n), enough = now * NEAR_ENOUGH;
    for (int round = 0; round < MOST_ROUNDS && now > enough; round++) {
        apply(s, at_edges(s, s->direction), s->image);
        double curvature = product(s->direction, s->image, n);
        if (!(curvature > 0))
            break;
        double step = now / curvature;
        for (size_t c = 0; c < n; c++) {
            s->x[c] += step * s->direction[c];
            s->left[c] -= step * s->image[c];
        }
        double next = square(s->left, n);
        for (size_t c = 0; c < n; c++)
            s->direction[c] = s->left[c] + next / now * s->direction[c];
        now = next;
    }

    group_means(s, at_edges(s, s->x));
    for (size_t g = 0; g < s->ngroups; g++)
        s->y[g] = s->sum[g];
    group_means(s, s->value);
    for (size_t g = 0; g < s->ngroups; g++)
        s->y[g] -= s->sum[g];
}

/* The lowest of the set that i is in. */
static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

void tl_lsq_components(const tl_lsq *s, int32_t *component)
{
    int32_t next = 0;
    for (size_t i = 0; i < s->nclocks + s->ngroups; i++)
        component[i] = (int32_t)i;
    for (size_t e = 0; e < s->nedges; e++) {
        if (!(s->weight[e] > 0))
            continue;
        int32_t a = root_of(component, s->clock[e]), b = root_of(component, (int32_t)s->nclocks + s->group[e]);
        component[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t i = 0; i < s->nclocks; i++)
        component[i] = root_of(component, (int32_t)i);
    for (size_t i = 0; i < s->nclocks; i++) /* the lowest of a set is its root, and comes first */
        component[i] = component[i] == (int32_t)i ? next++ : component[component[i]];
}
