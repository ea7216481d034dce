/* verdict.h - who holds the job up?
 *
 *     late          its work exceeds what its peers need for the same work in the same steps         (baseline.h)
 *     significant   chance does not explain that
 *     costs         the job would be so much faster were that excess absent                          (replay.h)
 *     straggler     who is significantly late, and costs at least the least cost
 *
 * Lateness tells who and when, cost how much.  A delay that repeats in every step may cost its time in one of them
 * alone, because the next absorbs it.
 *
 * A unit is one rank's work of one family in the steps in which it is late.  Test: the sum of its lateness there over
 * the scale of noise of its role, against Student's t, times the number of units that could have been found
 * (Bonferroni).  Choice: all significant units are repaired together; whose repair can then be left out for less than
 * the least cost is dropped, least first; who is left is needed.  So equals that hide each other are all found, and who
 * is late at no cost is not.
 *
 * Links are judged like ranks: a unit is what data take on one of them.  One that nothing is like is compared with
 * itself, and cannot be slow in all steps.
 *
 * May use graph, baseline, replay, step, blame and chance.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_H
#define TLMPI_ANALYSIS_VERDICT_H

#include "tlmpi/analysis/chance.h"
#include "tlmpi/analysis/replay.h"
#include "tlmpi/analysis/config.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"

/* ------------------------------------------------------------------------------------------------------------ shape */

/* When is a unit late?  Its lateness x, step by step, is explained best, by penalised likelihood, as one of
 *
 *     never        ..........        0 in all steps
 *     two levels   ...####...        a in some steps, 0 in the others
 *     a ramp       ...._.-=##        nothing before an onset, then more from step to step; of five steps and more
 *
 * plus noise of scale sigma.  What it costs is another matter: what is late in every step may cost its time in one
 * alone, because the next absorbs it.
 */

typedef struct tl_shape {
    tl_pattern pattern; /* none; persistent; one_off; bounded: one run of steps; sporadic; drifting: a ramp */
    size_t nup;         /* steps in which it is late */
    size_t first, last; /* of them, as indices: first is n without any */
} tl_shape;

/* x[n], the lateness of a unit; sigma > 0, in its unit.  up[n]: the steps in which it is late.  O(n^2), of very many
 * O(n). */
void tl_shape_of(const double *x, size_t n, double sigma, tl_shape *out, bool *up);

/* ------------------------------------------------------------------------------------------------------------- test */

/* What some members are late by, and what that is judged by: ranks of a role in a family of work, links of a sort, or
 * ranks in a phase.  The arrays after `chance` are room. */
typedef struct tl_lateness_test {
    size_t nsteps;
    const double *x; /* [chance.members * nsteps] lateness by member, in ns; NAN: a member is not compared in a step */
    double sigma;    /* scale of its noise, in ns */
    double alpha;    /* largest chance of a unit */
    tl_chance chance;
    bool *taken;          /* [nsteps] steps of other units of the member, and those in which it is not compared */
    bool *up, *rest_up;   /* [nsteps] up: steps in which the member is late */
    double *rest, *column; /* [nsteps] */
    double *worst;        /* [chance.members] */
} tl_lateness_test;

/* Weighted sums over the steps that are up: sum t x, sum t and sum t^2; late: sum x. */
typedef struct tl_late_sums {
    double tx, t1, t2, late;
} tl_late_sums;

/* The shape of a member's lateness in the steps that are not taken; fills test->up. */
tl_late_sums tl_late_shape(const tl_lateness_test *test, size_t member, tl_shape *shape);

/* The chance of that lateness in as good as n steps, by its noise and beside the worst steps of other members; *z: the
 * lateness in scales of noise. */
double tl_late_chance(const tl_lateness_test *test, size_t member, const tl_shape *shape, const tl_late_sums *sums,
                      double n, double *z);

/* ------------------------------------------------------------------------------------------------------------ units */

typedef struct tl_unit {
    uint32_t rank; /* index; TL_NONE: of a link */
    uint32_t link; /* index; TL_NONE: of a rank */
    uint32_t role;
    uint8_t family;    /* tl_family */
    bool across;       /* late beside other roles: all ranks of its own are */
    bool needed;       /* chosen; of a link one unit, which has the steps of all that are */
    uint32_t with;     /* the unit of the other of two ranks between which data move slowly; TL_NONE */
    tl_shape shape;    /* its first and last are indices of steps */
    bool *on;          /* [nsteps] steps in which it is late */
    double z, p;       /* p: of all units together */
    int64_t late_ns;   /* its lateness in these steps, together */
    int64_t alone_ns;  /* what its repair gains with nothing else repaired; of `with` that of what both exchange; of a
                        * slight one late_ns: it gains no more */
    int64_t needed_ns; /* what the repair of all that are chosen would gain less without its */
} tl_unit;

/* Why a rank is late: what the repair of one thing that it does gains, of what that of all of it does. */
typedef struct tl_rank_cause {
    tl_cause cause;   /* MIXED: nothing has TL_CAUSE_SHARE of it; UNKNOWN: none of its units is chosen, or most is of
                     * transfers that are no slow link's, or of copies that are not to the device */
    tl_cause largest; /* cause, or of MIXED what has most */
    double share;     /* of the largest; NAN: UNKNOWN */
} tl_rank_cause;

/* A rank without a trace that comes later to where it meets others than those that do the same, by more than chance
 * explains: what that costs the job, at least. */
typedef struct tl_untraced {
    int32_t rank;
    tl_shape shape; /* its first and last are indices of steps */
    bool *on;       /* [nsteps] steps in which it is late */
    int64_t *late_ns, *step_ns; /* [nsteps] by how much; what its repair gains there */
    double share, z, p;         /* share of the full steps */
    int64_t gain_ns;
} tl_untraced;

/* A round of backward elimination among n units: of the chosen units that are needed for less than least_cost the one
 * needed least is chosen no more, or of very many the half needed least.  share[n]: what each is needed for, as a part of
 * its steps; scratch[n].  Whether any was dropped. */
bool tl_drop_least_needed(bool *chosen, const double *share, size_t n, double least_cost, double *scratch);

/* Zero-initialise; tl_findings_free ends it. */
typedef struct tl_findings {
    TL_VEC(tl_unit) units, slight; /* significant ones; by rank, then family; then by link.  slight: what they are late
                                    * by together is below the least cost, so that their repair is never replayed */
    tl_arena arena;        /* of the arrays below */
    tl_folded *folded;     /* [nranks] unchanged */
    size_t nsteps, nranks;
    int64_t start_ns, end_ns, time_ns; /* of the job, unchanged: its first node, its last end, and between them */
    int64_t whole_ns;                  /* of time_ns what all ranks have recorded: whatever is gained is a part of it */
    int64_t error_ns;                  /* by how much the unchanged replay misses the measured time of any node: 0 */
    int64_t together_ns;               /* what the repair of all that are chosen gains */
    int64_t links_ns;                  /* what that of all links that are chosen gains */
    int64_t *step_ns;                  /* [nsteps] how long each took */
    double *z;        /* [ranks * nsteps] lateness over the scale of its role, of the family that is later; NAN: none */
    int64_t *late_ns; /* [ranks * nsteps] lateness of the device or the host, whichever is more */
    int64_t *rank_ns; /* [ranks] what the repair of all chosen units of a rank gains alone; -1: none is chosen */
    int64_t *rank_step_ns; /* [ranks * nsteps] ... by step */
    tl_rank_cause *causes; /* [ranks] of those of whom units are chosen */
    TL_VEC(tl_untraced) untraced;
} tl_findings;

/* On one proc. */
void tl_verdict_find(const tl_baseline *baseline, const tl_verdict_options *options, tl_findings *out);
void tl_findings_free(tl_findings *findings);

/* What rows need besides the findings. */
typedef struct tl_verdict_ranks {
    const int32_t *ranks;       /* [nranks] of the graph, ascending */
    const int64_t *late_counts; /* [nranks] */
    size_t nranks;
} tl_verdict_ranks;

/* The rows of blame_step, straggler, link and whatif; blame is there. */
void tl_verdict_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks,
                     tl_tables *tables);

/* -------------------------------------------------------------------------------------------------------------- job */

/* What a verdict rests on. */
typedef struct tl_job_basis {
    const tl_rank_graphs *graphs; /* of all ranks, ascending; nodes and edges are not looked at */
    tl_asker asker;               /* of ranks of the job; whose they are is told it here */
    tl_verdict_options options;
} tl_job_basis;

/* Who has been judged.  Zero-initialise; tl_judged_free ends it. */
typedef struct tl_judged {
    int32_t *ranks;  /* [nranks], ascending */
    uint32_t *roles; /* [nranks]: those of one role are compared (baseline.h) */
    size_t nranks;
} tl_judged;

/* On proc 0.  rows: of all collectives of the job, in order; where ranks mark no steps they get numbers of steps, and
 * they are freed.  `tables` has the rows of all ranks, and gets blame, blame_step, straggler, link, whatif and
 * critical_path. */
tl_status tl_job_judge(tl_late_row *rows, size_t nrows, const tl_job_basis *basis, tl_tables *tables, tl_judged *out,
                       tl_error *err);
void tl_judged_free(tl_judged *judged);

/* Last: blame_ns of each row in straggler with what others waited for the rank outside of steps, too, of which no
 * verdict is made; and ranks whose trace shows no device work get a row each, of which nothing is known. */
void tl_verdict_finish(tl_tables *tables);

#endif
