/* internal.h - from cells to verdicts, one file per stage. */
#ifndef ANALYSIS_PHASE_INTERNAL_H
#define ANALYSIS_PHASE_INTERNAL_H

#include "tlmpi/analysis/verdict/phase.h"
#include "tlmpi/model/parameters.h"
#include <math.h>

/* A class in one step: the median of the ranks' own times. */
typedef struct tl_phase_column {
    uint32_t step; /* index */
    bool pair;     /* of two ranks: each is compared with the other */
    double middle_ns;
} tl_phase_column;

/* A class in which ranks are compared. */
typedef struct tl_phase_class {
    uint32_t name; /* id in the tables' names */
    tl_phase_holds holds;
    uint32_t only;                   /* the only rank with this phase; other ranks count as 0; TL_NONE */
    TL_VEC(tl_phase_column) columns; /* ascending by step */
    TL_VEC(double) own_ns;           /* [columns.n * nranks] the rank's own time; NAN: not recorded */
    size_t members;                  /* ranks that are compared */
    double widest_ns;                /* largest distance of a rank's mean excess from the median over ranks */
} tl_phase_class;

/* A rank that is late in a class. */
typedef struct tl_phase_candidate {
    uint32_t rank, class;
    tl_shape shape;    /* first and last are indices of steps */
    double *excess_ns; /* [nsteps] in its late steps, at least 0; NAN in other steps */
    size_t nsteps;     /* steps compared */
    double z, p;
    double late_ns, time_ns; /* sum of the excess in its late steps; length of these steps */
    tl_phase_answer answer;
    uint32_t in;       /* class in which the rank is shorter, where other ranks wait; TL_NONE */
    bool by_history;   /* the answer comes from the steps in which the rank is not late */
    double shorter_ns; /* by how much the rank is shorter in class `in` */
    int32_t nwaiters;  /* ranks that wait in class `in`; waited_ns: their mean waiting */
    double waited_ns;
    double cost_ns;
} tl_phase_candidate;

/* Ranks and steps are indices of these arrays.  The classes are the phases, time outside of phases, and waits measured
 * in traces. */
typedef struct tl_phase_job {
    const tl_names *names;
    const tl_verdict_options *options;
    tl_arena arena;
    int32_t *steps, *ranks; /* ascending */
    size_t nsteps, nranks, nclasses, outside, waits;
    double *step_ns; /* [nsteps] */
    tl_phase_class *classes;
    TL_VEC(tl_phase_candidate) candidates;
    double cost_ns; /* of all named candidates together */
} tl_phase_job;

/* Returns the rank's own time in a column of the class; NAN: not compared there. */
static inline double tl_phase_own(const tl_phase_job *j, const tl_phase_class *c, size_t column, uint32_t rank)
{
    return c->own_ns.v[column * j->nranks + rank];
}

/* Returns the rank's time beyond the median of the ranks; of two ranks, beyond the other rank's time. */
static inline double tl_phase_excess(const tl_phase_job *j, const tl_phase_class *c, size_t column, uint32_t rank)
{
    const tl_phase_column *k = &c->columns.v[column];
    return (k->pair ? 2 : 1) * (tl_phase_own(j, c, column, rank) - k->middle_ns);
}

static inline bool tl_phase_is_late(const tl_phase_candidate *u, size_t step)
{
    return !isnan(u->excess_ns[step]);
}

/* Returns whether others may wait for the candidate in the step: a rank that is late in a step may be late at its end,
 * and begin the next step late. */
static inline bool tl_phase_is_after(const tl_phase_candidate *u, size_t step)
{
    return tl_phase_is_late(u, step) || (step > 0 && tl_phase_is_late(u, step - 1));
}

/* Returns whole ns, limited to the range of int64_t, which sums over months may exceed. */
static inline int64_t tl_phase_ns(double ns)
{
    return (int64_t)fmax(-0x1p62, fmin(ns, 0x1p62));
}

/* compare.c: fills the classes, step_ns and the rows of phase_step. */
void tl_phases_compare(tl_phase_job *job, const tl_phase_cells *cells, tl_tables *tables);

/* explain.c: finds the class in which others wait for a candidate, the number of these ranks, and their waiting. */
void tl_phase_candidates_explain(tl_phase_job *job);

/* rows.c: fills tables phase and phase_verdict. */
void tl_phase_rows(const tl_phase_job *job, const tl_phase_cells *cells, tl_tables *tables);

#endif
