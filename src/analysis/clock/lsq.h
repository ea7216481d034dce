/* clock_lsq.h - values of clocks and groups that fit best what the edges between them say. */
#ifndef TLMPI_ANALYSIS_CLOCK_LSQ_H
#define TLMPI_ANALYSIS_CLOCK_LSQ_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Edge e says: value[e] = x[clock[e]] - y[group[e]], with weight[e] >= 0.  tl_lsq_make makes the arrays, whose contents
 * the caller sets; tl_lsq_free ends it in any case. */
typedef struct tl_lsq {
    size_t nedges, nclocks, ngroups;
    int32_t *clock, *group;
    double *weight, *value;
    double *x, *y;                    /* the solution */
    double *left, *direction, *image; /* room, by clock */
    double *at_edge;                  /* room, by edge */
    double *sum, *norm;               /* room, by group */
} tl_lsq;

bool tl_lsq_make(tl_lsq *s, size_t nedges, size_t nclocks, size_t ngroups);
void tl_lsq_free(tl_lsq *s);

/* Fills x and y.  A constant is free in each component (below); a clock without weight gets 0. */
void tl_lsq_solve(tl_lsq *s);

/* component[c] of each clock: the same number where edges of weight connect them, numbered by their lowest clock.
 * component has room for clocks and groups. */
void tl_lsq_components(const tl_lsq *s, int32_t *component);

/* A solution in whole ns or ppb; 0 where it is none. */
static inline int64_t tl_clock_rounded(double value)
{
    return fabs(value) < 9e18 ? llround(value) : 0;
}

/* How far a clock is from another, either way. */
static inline int64_t tl_clock_apart(int64_t ns)
{
    return ns < 0 ? -ns : ns;
}

#endif
