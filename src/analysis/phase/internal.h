/* internal.h - from cells to verdicts, a file for each step of the way. */
#ifndef ANALYSIS_PHASE_INTERNAL_H
#define ANALYSIS_PHASE_INTERNAL_H

#include "tlmpi/analysis/phase.h"
#include "tlmpi/model/parameters.h"
#include <math.h>

/* A step of a class in which ranks are compared. */
typedef struct tl_phase_column {
    uint32_t step; /* index */
    bool pair;     /* of two ranks: each is compared with the other */
    double middle_ns;
} tl_phase_column;

/* A class that ranks are compared in. */
typedef struct tl_phase_class {
    uint32_t name; /* id of the tables' names */
    tl_phase_holds holds;
    uint32_t only;                   /* the one rank with this phase, as a checkpoint: it takes the others 0; TL_NONE */
    TL_VEC(tl_phase_column) columns; /* ascending by step */
    TL_VEC(double) own_ns;           /* [columns.n * nranks] the rank's own time; NAN: not recorded */
    size_t members;                  /* ranks that are compared */
    double widest_ns;                /* the most that a rank's mean excess is away from the median of the ranks' */
} tl_phase_class;

/* A rank that is late in a class. */
typedef struct tl_phase_candidate {
    uint32_t rank, class;
    tl_shape shape;    /* its first and last are indices of steps */
    double *excess_ns; /* [nsteps] in the steps in which it is late, at least 0; NAN in the others */
    size_t nsteps;     /* steps that were compared */
    double z, p;
    double late_ns, time_ns; /* its excess in the steps in which it is late, and the length of these steps */
    tl_phase_answer answer;
    uint32_t in;       /* class in which the rank is shorter; TL_NONE */
    bool by_history;   /* the steps in which it is not late have decided */
    double shorter_ns; /* by how much it is shorter in class `in` */
    int32_t nwaiters;  /* ranks that wait in class `in`; waited_ns: how long, in the mean */
    double waited_ns;
    double cost_ns;
} tl_phase_candidate;

/* Ranks and steps are indices of these arrays; the classes are the phases, time outside of phases, and waits that
 * traces have measured. */
typedef struct tl_phase_job {
    const tl_names *names;
    const tl_verdict_options *options;
    tl_arena arena;
    int32_t *steps, *ranks; /* ascending */
    size_t nsteps, nranks, nclasses, outside, waits;
    double *step_ns; /* [nsteps] */
    tl_phase_class *classes;
    TL_VEC(tl_phase_candidate) candidates;
    double cost_ns; /* of all candidates that are named together */
} tl_phase_job;

/* The rank's own time in a column of the class; NAN: it is not compared there. */
static inline double tl_phase_own(const tl_phase_job *j, const tl_phase_class *c, size_t column, uint32_t rank)
{
    return c->own_ns.v[column * j->nranks + rank];
}

/* What the rank takes longer there than the middle of the ranks; of two ranks, than the other. */
static inline double tl_phase_excess(const tl_phase_job *j, const tl_phase_class *c, size_t column, uint32_t rank)
{
    const tl_phase_column *k = &c->columns.v[column];
    return (k->pair ? 2 : 1) * (tl_phase_own(j, c, column, rank) - k->middle_ns);
}

static inline bool tl_phase_is_late(const tl_phase_candidate *u, size_t step)
{
    return !isnan(u->excess_ns[step]);
}

/* Whether others may wait for the candidate then: a rank that ends a step late begins the next one late. */
static inline bool tl_phase_is_after(const tl_phase_candidate *u, size_t step)
{
    return tl_phase_is_late(u, step) || (step > 0 && tl_phase_is_late(u, step - 1));
}

/* Whole ns, as far as they fit: the sum of durations of months may not. */
static inline int64_t tl_phase_ns(double ns)
{
    return (int64_t)fmax(-0x1p62, fmin(ns, 0x1p62));
}

/* compare.c: fills the classes, step_ns and the rows of phase_step. */
void tl_phases_compare(tl_phase_job *job, const tl_phase_cells *cells, tl_tables *tables);

/* candidates.c: finds the ranks that are late, and the class of each. */
void tl_phase_candidates_find(tl_phase_job *job);

/* explain.c: in which class do the others wait for a candidate, how many, and how long? */
void tl_phase_candidates_explain(tl_phase_job *job);

/* cost.c: the cost of each named candidate, and of all together; a candidate that costs too little becomes CHEAP. */
void tl_phase_candidates_cost(tl_phase_job *job);

/* rows.c: the rows of phase and phase_verdict. */
void tl_phase_rows(const tl_phase_job *job, const tl_phase_cells *cells, tl_tables *tables);

#endif
