/* phase.h - who holds the job up, from how long phases took?
 *
 *     records of a file    ->  cells          one a step, phase and rank: micro-steps summed, repeats taken off
 *     cells of a step      ->  phase_step     each beside the median of the ranks
 *     rows of a rank       ->  phase, units   when is it late, and could it be chance (verdict.h)
 *     units, steps         ->  phase_verdict  who is waited for
 *
 * A collective in a phase makes it equally long on all ranks: who comes late to it is shorter in it by as much as it was
 * longer before.  So a rank that is longer in one phase and shorter in another either is late in the first, and the
 * others wait in the second; or is fast in the second, and waits in the first.  Which it is, the phases' names tell
 * (tl_phase_holds_of): a rank waits where collectives are.  Between two of which that is not known the steps tell
 * in which it is not late: if the others' second phase is shorter then, they waited.  Else nobody is named.
 *
 *     rank 3     h2d [######]  training_step [####]       late: shorter in what holds collectives
 *     others     h2d [##]      training_step [########]   they wait
 *
 * All functions are pure; who has which rows is for the caller.  May use chance, and of verdict the shapes.
 */
#ifndef TLMPI_ANALYSIS_PHASE_H
#define TLMPI_ANALYSIS_PHASE_H

#include "tlmpi/analysis/verdict.h"
#include "tlmpi/model/phase_tables.h"

/* What a phase's name says of collectives in it. */
tl_phase_holds tl_phase_holds_of(tl_text name);

/* What a phase is called in cells of tables: its name, or as much of it as has room there. */
typedef struct tl_phase_title {
    char text[sizeof((tl_phase *)0)->phase + 1]; /* all behind its end is 0 */
} tl_phase_title;

/* Titles of the first n names, which differ as their names do. */
void tl_phase_titles(const tl_names *names, size_t n, tl_phase_title *out);

/* ----------------------------------------------------------------------------------------------------------- cells */

/* One record, as it stands in a file. */
typedef struct tl_phase_line {
    int32_t rank, step;
    uint32_t phase;   /* id of its name */
    uint32_t session; /* of its rank in the file */
    int64_t duration_ns;
    uint64_t line, metadata; /* hashes */
} tl_phase_line;

/* What a rank took for a phase of a step. */
typedef struct tl_phase_cell {
    int32_t rank, step;
    uint32_t phase, records;
    int64_t duration_ns;
    uint64_t metadata; /* hash of that of all records */
    uint32_t file;
} tl_phase_cell;

typedef TL_VEC(tl_phase_cell) tl_phase_cells;

/* Adds a cell for each rank, phase and step of a file's lines, which are sorted here.  Of equal lines one counts; of
 * others those of the last session, which are summed.  False when memory is out. */
bool tl_phase_fold(tl_phase_line *lines, size_t n, uint32_t file, tl_phase_cells *out, int64_t *repeated,
                   int64_t *superseded);

/* By file: how many of its records a later file has, too; of how many a later one has others; and the first such file.
 * Begins as 0, 0 and INT64_MAX. */
typedef struct tl_phase_again {
    int64_t *repeated, *replaced, *replaced_by;
} tl_phase_again;

/* Sorts cells by step, phase, rank; what several files have of one becomes that of the last file.  Returns how many are
 * left. */
size_t tl_phase_merge(tl_phase_cell *cells, size_t n, tl_phase_again *again);

/* Measured waits of a rank in a step; by step, then rank. */
typedef struct tl_phase_wait {
    int32_t step, rank;
    int64_t wait_ns;
} tl_phase_wait;

/* What the rank itself took: the duration, less what it waited where that is measured. */
int64_t tl_phase_own_ns(const tl_phase_step *row);

/* The rows of one step and phase: duration_ns and wait_ns are there, baseline and excess come.  alone: one rank of the
 * job has the phase, and the others do not take any time for it.  scratch[n]. */
void tl_phase_compare(tl_phase_step *rows, size_t n, bool alone, int64_t *scratch);

/* How a rank came to the collectives of a step; begins as TL_PHASE_NO_ARRIVAL.
 *
 *     step 7     h2d +3   training_step -8     8 late, of which 3 are told: 5 for something outside of phases
 *     step 8     training_step 0   metrics +4  4 late, but for the next step
 *     step 9     training_step -4              4 late, all of it told
 *
 * Phases may be parts of each other, or run beside each other; so it is the largest shortness that tells how late it came,
 * and what is longer, in this step or the one before, tells at most how much of that is explained. */
typedef struct tl_phase_arrival {
    int64_t late_ns;   /* shorter than the others where there may be collectives; INT64_MIN: there is no such phase */
    int64_t longer_ns; /* longer than the others, all phases together */
    int32_t phases;    /* that it has, of those that others have, too */
} tl_phase_arrival;

#define TL_PHASE_NO_ARRIVAL                                                                                            \
    {                                                                                                                  \
        .late_ns = INT64_MIN                                                                                           \
    }

/* Adds a row that has been compared, of a phase of the rank. */
void tl_phase_arrive(tl_phase_arrival *arrival, const tl_phase_step *row, tl_phase_holds holds, bool alone);

/* Late to the step for what is outside of its phases; before_ns: longer_ns of the step before. */
int64_t tl_phase_outside_ns(const tl_phase_arrival *arrival, int64_t before_ns);

/* ----------------------------------------------------------------------------------------------------------- series */

/* One phase of one rank, over the steps in which it can be compared; or another column, of which more are than phases:
 * the same less waits that were measured, and what it is late by for what is outside of phases. */
typedef struct tl_phase_series {
    int32_t rank;
    uint32_t phase;
    size_t n;
    uint32_t *steps; /* [n] indices */
    double *x;       /* [n] excess in ns */
    bool *middle;    /* [n] whether no other rank is nearer to the baseline: of three, one always is it, and no noise */
    double sum, noise;
} tl_phase_series;

/* A phase over all ranks. */
typedef struct tl_phase_norm {
    double noise;  /* of one step */
    double centre; /* of the ranks' mean excess: medians of skewed durations lie below their means */
    double widest; /* the most that a rank's mean is away from it */
    size_t ranks;  /* 0: nobody can be compared */
    bool alone;    /* one rank has it, and the others do nothing meanwhile: the noise is the largest of other phases */
} tl_phase_norm;

/* What all units are judged by. */
typedef struct tl_phase_judging {
    const tl_phase_norm *norms; /* by phase */
    const int64_t *step_ns;     /* [nsteps] */
    size_t nsteps, ncolumns;
    double alpha, least_cost;
} tl_phase_judging;

/* A rank that is late in a phase. */
typedef struct tl_phase_unit {
    int32_t rank;
    uint32_t phase;
    uint8_t pattern;
    uint32_t first, last, nup, n; /* steps; n: that were compared */
    double z, p;
    int64_t late_ns, time_ns;
    int64_t cost_ns;
} tl_phase_unit;

typedef struct tl_phase_units {
    TL_VEC(tl_phase_unit) units;
    uint8_t *up; /* [units.n * nsteps] by unit */
    size_t up_cap;
} tl_phase_units;

/* Fills noise, NAN where too few steps tell it, and sum.  scratch: room for 4 n. */
void tl_phase_series_measure(tl_phase_series *series, double *scratch);

/* Adds the units of a series that may cost enough and that chance does not explain, other ranks apart.  False when
 * memory is out. */
bool tl_phase_units_find(const tl_phase_series *series, const tl_phase_judging *judging, tl_phase_units *out);

/* In how many steps the series is late by half of what the unit is late by in the mean, and more. */
size_t tl_phase_stalls(const tl_phase_series *series, const tl_phase_unit *unit, const tl_phase_judging *judging);

/* Whether a unit is late in some steps, here and there, as any rank may be that is stalled more often than others: then
 * tl_phase_by_turns is asked, too.  What one rank alone does is no chance. */
bool tl_phase_is_stalled(const tl_phase_unit *unit, const tl_phase_judging *judging);

/* The chance that one of the ranks has so many of all stalls, when any rank is as likely to have one as any other. */
double tl_phase_by_turns(const tl_phase_unit *unit, const tl_phase_judging *judging, size_t own, size_t all);

/* ---------------------------------------------------------------------------------------------------------- verdict */

/* A rank is shorter where these are, and as much longer where those are.  1: it comes late to what these hold; -1: it
 * was early, and waits in what those hold; 0: it may be either. */
int tl_phase_holds_compare(tl_phase_holds these, tl_phase_holds those);

/* Of a unit, by column and last of measured waits: what the rank is shorter by than the others in its steps, and by how
 * much longer the others are in each of them than in its other steps. */
typedef struct tl_phase_evidence {
    const int64_t *shorter_ns, *others_longer_ns; /* [ncolumns + 1] */
} tl_phase_evidence;

/* Why a unit's rank is longer: STRAGGLER, WAITING, LONGER or OPEN; *in: the phase that makes up for it, ncolumns: waits
 * that were measured, UINT32_MAX: none. */
tl_phase_answer tl_phase_explain(const tl_phase_unit *unit, const tl_phase_holds *holds, size_t ncolumns,
                                 const tl_phase_evidence *evidence, uint32_t *in);

#endif
