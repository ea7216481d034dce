/* internal.h - from rows of phase_step to verdicts, a file for each step of the way. */
#ifndef ANALYSIS_PHASE_INTERNAL_H
#define ANALYSIS_PHASE_INTERNAL_H

#include "tlmpi/analysis/phase.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"

/* The rows of one step and class, by rank. */
typedef struct tl_phase_group {
    tl_phase_step *rows;
    size_t n, step; /* step: index */
    uint32_t class;
} tl_phase_group;

/* A class that ranks are compared in: a phase, or, as the last class, time outside of phases. */
typedef struct tl_phase_class {
    tl_phase_holds holds;
    int32_t alone;   /* the one rank (index) with this phase, as a checkpoint; -1: none */
    size_t first, n; /* groups[first .. first + n), by step */
    size_t members;  /* ranks with a row that is compared */
    int64_t common;  /* steps in which most ranks have it */
    double widest;   /* ns: the most that a rank's mean excess is away from the median of the ranks' */
} tl_phase_class;

/* A rank that is late in a class. */
typedef struct tl_phase_candidate {
    uint32_t rank, class; /* rank: index */
    tl_shape shape;       /* its first and last are indices of steps */
    bool *on;             /* [nsteps] steps in which it is late */
    size_t nsteps;        /* steps that were compared */
    double z, p;
    int64_t late_ns, time_ns; /* its excess in the steps of `on`, and the length of these steps */
    int64_t *excess_ns;       /* [nsteps] excess of a step in which it is late, at least 0 */
    tl_phase_answer answer;
    uint32_t in;        /* class in which the rank is shorter; nclasses: measured waits; UINT32_MAX: none */
    bool by_history;    /* the steps in which it is not late have decided */
    int64_t shorter_ns; /* by how much it is shorter in class `in` */
    int32_t nwaiters;   /* ranks that wait in class `in`; waited_ns: how long, in the mean */
    int64_t waited_ns;
    int64_t cost_ns;
} tl_phase_candidate;

typedef struct tl_phase_job {
    const tl_names *names;
    const tl_verdict_options *options;
    tl_arena arena;
    size_t nsteps, nranks, nclasses; /* nclasses - 1: number of names */
    int32_t *steps, *ranks;          /* ascending; until rows.c has told all, rows have indices of these */
    int64_t *step_ns;                /* [nsteps] */
    tl_phase_class *classes;
    tl_phase_group *groups; /* by class, then step */
    size_t ngroups;
    TL_VEC(tl_phase_step) outside;
    TL_VEC(tl_phase_candidate) candidates;
    int64_t cost_ns; /* of all candidates that are named together */
} tl_phase_job;

/* The rank's own time: the duration, less the wait where it is measured. */
static inline int64_t tl_phase_own_ns(const tl_phase_step *row)
{
    return row->wait_ns > 0 ? tl_ns_max(0, row->duration_ns - row->wait_ns) : row->duration_ns;
}

/* The rank's row of the group; NULL: it has none. */
static inline const tl_phase_step *tl_phase_row_of(const tl_phase_group *g, uint32_t rank)
{
    size_t at = 0;
    TL_BISECT(at, g->n, mid, g->rows[mid].rank < (int32_t)rank);
    return at < g->n && g->rows[at].rank == (int32_t)rank ? &g->rows[at] : NULL;
}

/* Whether rows of the group are compared with each other. */
static inline bool tl_phase_is_compared(const tl_phase_job *j, const tl_phase_group *g)
{
    return g->n > 1 || (g->n > 0 && j->classes[g->class].alone >= 0);
}

/* Whether others may wait for the candidate then: a rank that ends a step late begins the next one late. */
static inline bool tl_phase_is_after(const tl_phase_candidate *u, size_t step)
{
    return u->on[step] || (step > 0 && u->on[step - 1]);
}

/* candidates.c: finds the ranks that are late, and the class of each. */
void tl_phase_candidates_find(tl_phase_job *job);

/* explain.c: first, in which class do the others wait for a candidate?  Then, compared with the ranks that no candidate
 * names: by how much is each candidate late, and which ranks wait for it? */
void tl_phase_candidates_explain(tl_phase_job *job);
void tl_phase_candidates_measure(tl_phase_job *job);
void tl_phase_waiters_find(tl_phase_job *job);

/* cost.c: the cost of each named candidate, and of all together; a candidate that costs too little becomes CHEAP. */
void tl_phase_candidates_cost(tl_phase_job *job);

/* rows.c: the rows of phase and phase_verdict. */
void tl_phase_rows(tl_phase_job *job, tl_tables *tables);

#endif
