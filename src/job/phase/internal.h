/* internal.h - the steps from files of phases to verdicts, each a file. */
#ifndef JOB_PHASE_INTERNAL_H
#define JOB_PHASE_INTERNAL_H

#include "tlmpi/analysis/phase.h"
#include "tlmpi/analysis/phase/rows.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/job/phase.h"
#include "tlmpi/par/par.h"

/* Phases that are told apart; a program has a few. */
enum { TL_PHASES_MOST = 256 };

/* What the steps hand on; every proc has one. */
typedef struct tl_phasing {
    const tl_options *options;
    tl_tables *tables;
    tl_names names;       /* of this proc's files; then of all */
    tl_phase_cells cells; /* of this proc's files; then of the steps that it owns */
    size_t left_out;      /* phases that are more than can be told apart */

    /* By file: of this proc, until they are gathered. */
    size_t nfiles;
    int64_t *file_counts; /* sums, of which `again` has its own */
    int64_t *left_out_of; /* ... and here are records of phases that are too many */
    tl_phase_again again;

    /* The same on every proc. */
    size_t nphases, nsteps, nranks;
    tl_phase_holds *holds;  /* [nphases], in order of names */
    tl_phase_title *titles; /* [nphases] */
    uint32_t *name_rows;    /* [nphases] in /names */
    int32_t *steps, *ranks; /* ascending */
    int32_t *alone;         /* [nphases] the rank that alone has it, -1: several have; see tl_phase_numbers_share */
    int64_t *step_ns;       /* [nsteps] */
    int64_t *common_steps;  /* [nphases] steps in which most ranks have it */
    tl_phase_holds *column_holds; /* [tl_phase_ncolumns] */
    bool *has_alone;              /* [nranks] whether the rank has such a phase */
    int64_t *before_ns;           /* [nranks] what each is longer in the step that is before those of this proc */

    /* Of the ranks that this proc owns. */
    tl_phase_series *series; /* by rank, then phase */
    size_t nseries;
    uint32_t *series_steps;
    double *series_x;
    size_t nseries_steps;
    bool *series_middle;

    tl_phase_norm *norms; /* [tl_phase_ncolumns] */
    tl_phase_units units; /* of all procs, those that are late by most */
} tl_phasing;

/* A column is what ranks are compared in: a phase as it was recorded; the same less the waits that Kineto traces have
 * measured, in the steps that they have; and, the last, what ranks are late by for something that is in no phase. */
static inline uint32_t tl_phase_outside(const tl_phasing *p)
{
    return 2 * (uint32_t)p->nphases;
}

static inline size_t tl_phase_ncolumns(const tl_phasing *p)
{
    return 2 * p->nphases + 1;
}

static inline uint32_t tl_phase_column(const tl_phasing *p, const tl_phase_step *row)
{
    return row->phase + (row->wait_ns >= 0 ? (uint32_t)p->nphases : 0);
}

static inline bool tl_phase_is_alone(const tl_phasing *p, uint32_t column)
{
    return column != tl_phase_outside(p) && p->alone[column % p->nphases] >= 0;
}

/* The rows of one step and column, by rank. */
typedef struct tl_phase_group {
    const tl_phase_step *rows;
    size_t n, step; /* step: index */
    uint32_t column;
} tl_phase_group;

/* walk.c, local: calls `see` for each group of this proc's steps, step after step.  False when memory is out. */
bool tl_phase_walk(const tl_phasing *p, void (*see)(const tl_phase_group *group, void *arg), void *arg);

/* walk.c, collective: the same on each proc; TL_ENOMEM everywhere. */
tl_status tl_phase_look(const tl_phasing *p, void (*see)(const tl_phase_group *group, void *arg), void *arg,
                        tl_error *err);

/* The rank's row of the group; NULL: it has none. */
static inline const tl_phase_step *tl_phase_row_of(const tl_phase_group *g, int32_t rank)
{
    size_t at = 0;
    TL_BISECT(at, g->n, mid, g->rows[mid].rank < rank);
    return at < g->n && g->rows[at].rank == rank ? &g->rows[at] : NULL;
}

/* Whether the unit is late in the step. */
static inline bool tl_phase_is_up(const tl_phasing *p, size_t unit, size_t step)
{
    return p->units.up[unit * p->nsteps + step] != 0;
}

/* Whether others may wait for it then: who ends a step late begins the next one so. */
static inline bool tl_phase_is_after(const tl_phasing *p, size_t unit, size_t step)
{
    return tl_phase_is_up(p, unit, step) || (step > 0 && tl_phase_is_up(p, unit, step - 1));
}

/* walk.c, collective: before_ns, from the rows of all procs, which have been compared. */
tl_status tl_phase_before_share(tl_phasing *p, tl_error *err);

/* The owner of the index-th of n things, ranks or steps: things with equal owners lie together and in order of procs. */
static inline int32_t tl_phase_owner_of(size_t index, size_t n)
{
    return (int32_t)(index * (size_t)tl_par_nprocs() / n);
}

static inline tl_phase_judging tl_phase_judging_of(const tl_phasing *p)
{
    return (tl_phase_judging){ .norms = p->norms,
                               .step_ns = p->step_ns,
                               .nsteps = p->nsteps,
                               .ncolumns = tl_phase_ncolumns(p),
                               .alpha = p->options->judge.alpha,
                               .least_cost = p->options->judge.least_cost };
}

/* read.c, local: this proc's share of the files: cells, names, rows of phase_file. */
tl_status tl_phase_files_read(const tl_plan *plan, tl_phasing *p, tl_error *err);

/* names.c, collective: names of phases in order, their numbers in the cells, and their rows in /names. */
tl_status tl_phase_names_share(tl_phasing *p, tl_error *err);

/* names.c, collective: all steps and ranks of the cells, and which phases a rank has alone. */
tl_status tl_phase_numbers_share(tl_phasing *p, tl_error *err);

/* names.c, collective: *out[*n], the caller frees: for each step that a Kineto trace marks what its rank waited in it. */
tl_status tl_phase_waits_share(const tl_phasing *p, tl_phase_wait **out, size_t *n, tl_error *err);

/* -1: not measured. */
int64_t tl_phase_wait_of(const tl_phase_wait *waits, size_t n, int32_t step, int32_t rank);

/* spread.c, collective: which phases, steps and ranks there are; cells to the owners of their steps, where those of
 * several files meet. */
tl_status tl_phases_meet(tl_phasing *p, tl_error *err);

/* files.c.  Local: no counts yet. */
bool tl_phase_files_begin(tl_phasing *p, size_t nfiles);

/* files.c, collective: the rows of phase_file to proc 0, with what was counted when the files met. */
tl_status tl_phase_files_gather(tl_phasing *p, tl_error *err);

/* spread.c, collective: rows of phase_step, and from these the series of ranks to their owners, and the rows of
 * phase. */
tl_status tl_phases_spread(tl_phasing *p, tl_error *err);

/* units.c, collective: who is late. */
tl_status tl_phases_judge(tl_phasing *p, tl_error *err);

/* cost.c, collective: what each unit that is named costs, and all together; who costs too little is named no more.  Of
 * the others late_ns and shorter_ns become what they are beside ranks that are not named. */
tl_status tl_phase_costs(tl_phasing *p, tl_phase_found *found, tl_error *err);

/* verdict.c, collective: who is waited for: the rows of phase_verdict. */
tl_status tl_phases_answer(tl_phasing *p, tl_error *err);

#endif
