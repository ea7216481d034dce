/* stragglers.h - which ranks and links hold the job up?
 *
 *     late          its work exceeds what its peers need for the same work in the same steps         (baseline.h)
 *     significant   chance does not explain the lateness
 *     costs         time that the job would gain if the excess were absent                           (replay.h)
 *     straggler     a rank that is significantly late, and costs at least the least cost
 *
 * Lateness tells which rank and when, cost tells how much.  A delay that repeats in every step may cost its time in one
 * step alone, because the next step absorbs it.
 *
 * A candidate is one rank's work of one family in the steps in which it is late.  Test: the sum of its lateness there
 * over the scale of noise of its role, against Student's t, times the number of candidates that could have been found
 * (Bonferroni).  Choice: all significant candidates are repaired together; a candidate whose repair can then be left
 * out for less than the least cost is dropped, the least needed first; the candidates that stay are needed.  So all of
 * several equal candidates that hide each other are found, and a candidate that is late at no cost is not.
 *
 * Links are judged like ranks: a candidate is the transfer time of one link.  A link without a like one is compared
 * with itself, and cannot be slow in all steps.
 *
 * May use graph, baseline, replay, whatif, step, blame and chance.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_STRAGGLERS_H
#define TLMPI_ANALYSIS_VERDICT_STRAGGLERS_H

#include "tlmpi/analysis/chance.h"
#include "tlmpi/analysis/config.h"
#include "tlmpi/analysis/verdict/replay.h"
#include "tlmpi/analysis/verdict/whatif.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"

/* ------------------------------------------------------------------------------------------------------------ shape */

/* When is a candidate late?  Its lateness x, step by step, is explained best, by penalised likelihood, as one of
 *
 *     never        ..........        0 in all steps
 *     two levels   ...####...        a in some steps, 0 in the others
 *     a ramp       ...._.-=##        nothing before an onset, then more from step to step; of five steps and more
 *
 * plus noise of scale sigma.
 */

typedef struct tl_shape {
    tl_pattern pattern; /* none; persistent; one_off; bounded: one run of steps; sporadic; drifting: a ramp */
    size_t nup;         /* number of late steps */
    size_t first, last; /* indices of the first and last late step; first is n if there is none */
} tl_shape;

/* x[n]: lateness of a candidate; sigma > 0: scale of its noise, in the unit of x.  Fills up[n]: the steps in which it
 * is late.  O(n^2), for very large n O(n). */
void tl_shape_of(const double *x, size_t n, double sigma, tl_shape *out, bool *up);

/* ------------------------------------------------------------------------------------------------------------- test */

/* Lateness of some members, and the noise it is tested against: of the ranks of a role in a family of work, of the
 * links of a sort, or of ranks in a phase.  The arrays after `chance` are scratch. */
typedef struct tl_lateness_test {
    size_t nsteps;
    const double *x; /* [chance.members * nsteps] lateness by member, in ns; NAN: a member is not compared in a step */
    double sigma;    /* scale of its noise, in ns */
    double alpha;    /* largest chance of a candidate */
    tl_chance chance;
    bool *excluded;        /* [nsteps] steps of other candidates of the member, and steps in which the member is not
                            * compared */
    bool *up, *rest_up;    /* [nsteps] up: steps in which the member is late */
    double *rest, *column; /* [nsteps] */
    double *worst;         /* [chance.members] */
} tl_lateness_test;

/* Sums over the steps that are up, with the weight t of each: sum t x, sum t and sum t^2; late: sum x. */
typedef struct tl_late_sums {
    double tx, t1, t2, late;
} tl_late_sums;

/* Fills *shape with the shape of a member's lateness in the steps that are not excluded, and test->up; returns the sums
 * over the steps that are up. */
tl_late_sums tl_late_shape(const tl_lateness_test *test, size_t member, tl_shape *shape);

/* Returns the chance of a lateness with these sums in n effective steps: by the scale of noise, and by how it stands
 * out from the worst steps of the other members.  *z: the lateness over the scale of noise. */
double tl_late_chance(const tl_lateness_test *test, size_t member, const tl_shape *shape, const tl_late_sums *sums,
                      double n, double *z);

/* ------------------------------------------------------------------------------------------------------- candidates */

typedef struct tl_candidate {
    uint32_t rank; /* index; TL_NONE: of a link */
    uint32_t link; /* index; TL_NONE: of a rank */
    uint32_t role;
    uint8_t family;  /* tl_family */
    bool needed;     /* chosen; of the chosen candidates of a link only the first, which then has the steps of all */
    tl_shape shape;  /* its first and last are indices of steps */
    bool *on;        /* [nsteps] steps in which it is late */
    double z, p;     /* z: lateness over the scale of noise; p: chance of z, corrected for the number of tests */
    int64_t late_ns; /* sum of its lateness in these steps */
    int64_t solo_gain_ns; /* gain of its repair alone; of a slight candidate late_ns, which its gain does not exceed */
    int64_t marginal_gain_ns; /* gain of repairing all chosen candidates, less the gain without this candidate */
} tl_candidate;

/* Why a rank is late: the gain of repairing one kind of work, as a part of the gain of repairing all of the rank's
 * excess. */
typedef struct tl_rank_cause {
    tl_cause cause;   /* MIXED: no cause has TL_MOST_SHARE of the gain; UNKNOWN: none of the rank's candidates is
                       * chosen, or most gain is of transfers of no slow link, or of copies that are not to the
                       * device */
    tl_cause largest; /* cause; if MIXED, the cause with the largest gain */
    double share;     /* of the largest; NAN: UNKNOWN */
} tl_rank_cause;

/* An untraced rank that arrives later at meetings than ranks of its role, by more than chance explains; and the least
 * time that this costs the job. */
typedef struct tl_untraced {
    int32_t rank;
    tl_shape shape;             /* its first and last are indices of steps */
    bool *on;                   /* [nsteps] steps in which it is late */
    int64_t *late_ns, *step_ns; /* [nsteps] its lateness; the gain of its repair */
    double share, z, p;         /* share of the full steps */
    int64_t gain_ns;
} tl_untraced;

/* One round of backward elimination among n candidates.  Drops the chosen candidate with the smallest share, if that is
 * below least_cost; if very many are chosen, the half with the smallest shares, as far as these are below least_cost.
 * share[n]: marginal_gain_ns over the time of the candidate's steps; scratch[n].  Returns whether any candidate was
 * dropped. */
bool tl_eliminate_least_needed(bool *chosen, const double *share, size_t n, double least_cost, double *scratch);

/* Zero-initialise; tl_findings_free ends it. */
typedef struct tl_findings {
    /* Significant candidates: of ranks by rank, then family; then those of links.  slight: candidates whose lateness
     * sums up to less than the least cost, so that their repair is never replayed. */
    TL_VEC(tl_candidate) candidates, slight;
    tl_arena arena;    /* of the arrays below */
    tl_folded *folded; /* [nranks] unchanged */
    size_t nsteps, nranks;
    int64_t start_ns, end_ns, time_ns; /* of the job, unchanged: its first node, its last end, and the time between
                                        * these */
    int64_t whole_ns;                  /* time_ns without the steps that are left out; gains are parts of it */
    int64_t error_ns;                  /* largest difference of the unchanged replay from a measured time: 0 */
    int64_t joint_gain_ns;             /* gain of repairing all chosen candidates */
    int64_t links_ns;                  /* gain of repairing all chosen links */
    int64_t *step_ns;                  /* [nsteps] time of each step */
    double *z;             /* [ranks * nsteps] lateness over the scale of its role, of the later of two families; NAN:
                            * none */
    int64_t *late_ns;      /* [ranks * nsteps] the larger of the device's and the host's lateness */
    int64_t *rank_ns;      /* [ranks] gain of repairing all chosen candidates of the rank alone; -1: none is chosen */
    int64_t *rank_step_ns; /* [ranks * nsteps] rank_ns by step */
    tl_rank_cause *causes; /* [ranks] filled for ranks with chosen candidates */
    TL_VEC(tl_untraced) untraced;
} tl_findings;

/* On one proc. */
void tl_verdict_find(const tl_baseline *baseline, const tl_verdict_options *options, tl_findings *out);
void tl_findings_free(tl_findings *findings);

/* The ranks that get rows. */
typedef struct tl_verdict_ranks {
    const int32_t *ranks;       /* [nranks] of the graph, ascending */
    const int64_t *late_counts; /* [nranks] number of collectives in which each rank came last */
    size_t nranks;
} tl_verdict_ranks;

/* Adds the rows of blame_step, straggler, link and whatif; table blame is filled already. */
void tl_verdict_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks,
                     tl_tables *tables);

/* -------------------------------------------------------------------------------------------------------------- job */

/* What a verdict rests on. */
typedef struct tl_job_basis {
    const tl_rank_graphs *graphs; /* all graphs, ascending by rank; nodes and edges are not looked at */
    tl_asker asker;               /* asks ranks of the job; its `ranks` are set here */
    tl_verdict_options options;
    tl_whatif_study *whatif; /* NULL: no such study */
} tl_job_basis;

/* The ranks that have been judged.  Zero-initialise; tl_judged_free ends it. */
typedef struct tl_judged {
    int32_t *ranks;  /* [nranks], ascending */
    uint32_t *roles; /* [nranks]: ranks of one role are compared (baseline.h) */
    size_t nranks;
} tl_judged;

/* On proc 0.  rows: of all collectives of the job, in order; if ranks mark no steps, the rows get step numbers here.
 * Frees the rows.  `tables` has the rows of all ranks, and gets blame, blame_step, straggler, link, whatif and
 * critical_path. */
tl_status tl_job_judge(tl_late_row *rows, size_t nrows, const tl_job_basis *basis, tl_tables *tables, tl_judged *out,
                       tl_error *err);
void tl_judged_free(tl_judged *judged);

/* Called last: adds to blame_ns in table straggler the waiting for the rank outside of steps, which no verdict covers;
 * and adds an inconclusive row for each rank whose trace shows no device work. */
void tl_verdict_finish(tl_tables *tables);

#endif
