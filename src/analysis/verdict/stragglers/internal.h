/* internal.h - the steps of a verdict, in order. */
#ifndef ANALYSIS_VERDICT_INTERNAL_H
#define ANALYSIS_VERDICT_INTERNAL_H

#include "tlmpi/analysis/verdict/replay.h"
#include "tlmpi/analysis/verdict/stragglers.h"
#include "tlmpi/model/parameters.h"
#include <math.h>

/* candidates.c: fills the candidates whose p is below alpha, and z and late_ns of all ranks.  step_ns is known. */
void tl_candidates_find(const tl_baseline *baseline, const tl_verdict_options *options, tl_findings *out);

/* windows.c: tl_windows_open fills graph->late with the leading steps in which a rank's recording begins late, and adds
 * rows to health; steps: table step.  tl_windows_rows adds rows to health for recordings that begin later or end
 * earlier than others, and for steps that are not whole. */
void tl_windows_open(const tl_table *steps, const int32_t *ranks, tl_job_graph *graph, tl_table *health);
void tl_windows_rows(const tl_baseline *baseline, const int64_t *step_ns, const int32_t *ranks,
                     const tl_table *rank_table, tl_table *health);

/* Returns the number of a step; -1: the time after all steps. */
static inline int32_t tl_step_number(const tl_baseline *baseline, size_t step)
{
    return baseline->steps[step] == TL_STEP_AFTER ? -1 : baseline->steps[step];
}

/* Returns the job's time, as a multiple of its time without gain_ns; NAN: gain_ns is all of it. */
static inline double tl_slowdown_of(const tl_findings *findings, int64_t gain_ns)
{
    return gain_ns < findings->whole_ns ? (double)findings->whole_ns / (double)(findings->whole_ns - gain_ns) : NAN;
}

/* rows.c: returns the row of a rank that is not late, for this reason; what is not known of it is NAN or -1. */
tl_straggler tl_straggler_empty(int32_t rank, const char *reason);

/* cost.c: replaces step_ns[n], the ends of steps after a repair, by what each step gains, ns.  ends_ns[n]: the ends
 * before the repair. */
void tl_step_gains(const int64_t *ends_ns, size_t n, int64_t *step_ns);

/* verdict.c: appends question CHANGE of a rank. */
void tl_change_put(tl_asked *asked, size_t rank, tl_change change, const uint32_t *plans, size_t nplans);

/* shape.c: fills first, last, nup and pattern of the steps that are `on`; *share: their share of the full steps.
 * drifts: they hold a ramp. */
void tl_put_pattern(const tl_baseline *baseline, const bool *on, bool drifts, tl_shape *shape, double *share);

/* cost.c: gains of repairs. */
typedef struct tl_costing tl_costing;

/* Returns the costing of the candidates of findings. */
tl_costing *tl_costing_new(const tl_baseline *baseline, const tl_findings *findings);
void tl_costing_free(tl_costing *costing);

tl_repair tl_repair_of(const tl_candidate *candidate);

/* Returns the gain, ns, of repairing all candidates with chosen[candidate]. */
int64_t tl_cost_of(tl_costing *costing, const bool *chosen);

/* Fills step_ns[nsteps] with the gain of the last tl_cost_of by step, ns: differences of step ends. */
void tl_cost_by_step(const tl_costing *costing, int64_t *step_ns);

/* A part of the chosen candidates' reductions: those of some activities in candidates of some families.  Of one rank's
 * candidates only the part is repaired or, with `without`, all but the part. */
typedef struct tl_cost_part {
    uint32_t rank;                 /* TL_NONE: of all ranks */
    unsigned families, activities; /* bits 1 << tl_family, 1 << tl_activity_kind (SYNC: waits) */
    bool without;
} tl_cost_part;

int64_t tl_cost_of_part(tl_costing *costing, const bool *chosen, const tl_cost_part *part);

/* Whether the chosen candidates have any reduction in the part. */
bool tl_cost_has_part(const tl_costing *costing, const bool *chosen, const tl_cost_part *part);

/* backward_elimination.c: fills `needed` and all gains. */
void tl_backward_elimination(const tl_baseline *baseline, double least_cost, tl_findings *out);

/* scenarios.c: the job with some work changed on all its ranks. */
typedef struct tl_scenario {
    unsigned activities;       /* reduced to the ideal: bits 1 << tl_activity_kind (SYNC: waits) */
    const bool *sorts;         /* [nsorts] sorts of links with ideal transfers; NULL: none */
    uint64_t host;             /* host whose ranks' chosen candidates are repaired; 0: none */
    const tl_balance *balance; /* NULL: work is not balanced */
    bool free_hosts;
} tl_scenario;

typedef struct tl_scenario_run tl_scenario_run;

/* scenarios.c: tl_scenario_rows appends the rows of whatif that concern no single rank or link, after the rows of ranks
 * and links and those of critical_path, and fills the slowdown against the ideal; tl_whatif_add appends one row, whose
 * job time follows from gain_ns. */
void tl_scenario_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks,
                      tl_tables *tables);
void tl_whatif_add(const tl_findings *findings, tl_scenario_kind kind, int32_t rank, int64_t gain_ns, tl_table *whatif);

/* path_rows.c: appends the rows of tables critical_path, path_sum and path. */
void tl_path_rows(const tl_path *path, const int32_t *ranks, size_t nranks, tl_tables *tables);

#endif
