/* internal.h - the steps from files of phases to verdicts, each a file. */
#ifndef JOB_PHASE_INTERNAL_H
#define JOB_PHASE_INTERNAL_H

#include "tlmpi/analysis/phase.h"
#include "tlmpi/job/phase.h"

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
    int64_t *step_ns;       /* [nsteps] */
    bool *measured;         /* [nphases]: Kineto's waits are taken off in some step, and other steps do not count */
    size_t first_step, last_step; /* of steps, as indices: those that this proc owns are [first, last) */

    /* Of the ranks that this proc owns. */
    tl_phase_series *series; /* by rank, then phase */
    size_t nseries;
    uint32_t *series_steps;
    double *series_x;

    tl_phase_norm *norms; /* [nphases] */
    tl_phase_units units; /* of all procs, those that are late by most */
} tl_phasing;

static inline tl_phase_judging tl_phase_judging_of(const tl_phasing *p)
{
    return (tl_phase_judging){ .norms = p->norms,
                               .step_ns = p->step_ns,
                               .nsteps = p->nsteps,
                               .nphases = p->nphases,
                               .alpha = p->options->judge.alpha,
                               .least_cost = p->options->judge.least_cost };
}

/* read.c, local: this proc's share of the files: cells, names, rows of phase_file. */
tl_status tl_phase_files_read(const tl_plan *plan, tl_phasing *p, tl_error *err);

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

/* verdict.c, collective: who is waited for: the rows of phase_verdict. */
tl_status tl_phases_answer(tl_phasing *p, tl_error *err);

#endif
