/* internal.h - the steps of a verdict, in order. */
#ifndef ANALYSIS_VERDICT_INTERNAL_H
#define ANALYSIS_VERDICT_INTERNAL_H

#include "tlmpi/analysis/replay.h"
#include "tlmpi/analysis/verdict.h"
#include "tlmpi/model/parameters.h"

/* candidates.c: the candidates whose p is below alpha, and z and late_ns of all ranks.  step_ns is known. */
void tl_candidates_find(const tl_baseline *baseline, const tl_verdict_options *options, tl_findings *out);

/* two_hosts.c: on which of two hosts each rank of a role is, into host_of_member[members]; false: they are on one, on
 * more, or not known, or a host has one rank alone. */
bool tl_two_hosts_of(const tl_baseline *baseline, uint32_t role, uint8_t *host_of_member);

/* From what n ranks are late by, x[n * nsteps]: what one host is in the first step, in the middle; what the two are
 * later than each other, of_hosts[2 * nsteps]; whether all ranks of one are later than any of the other over the steps
 * that are on.  column: [n] scratch. */
double tl_host_middle(const double *x, size_t nsteps, const uint8_t *host_of_member, size_t n, uint8_t which,
                      double *column);
void tl_two_hosts_lateness(const double *x, size_t nsteps, const uint8_t *host_of_member, size_t n, double *of_hosts,
                           double *column);
bool tl_host_is_later(const double *x, size_t nsteps, const bool *on, const uint8_t *host_of_member, size_t n,
                      uint8_t which);

/* windows.c: in which of the first steps that all ranks mark the recording of a rank begins late, which graph->late
 * then says; steps: table step.  Then, with the baseline and the lengths of its steps, which ranks' recordings begin
 * later or end earlier than those of others, and which steps are not whole: rows of health. */
void tl_windows_open(const tl_table *steps, const int32_t *ranks, tl_job_graph *graph, tl_table *health);
void tl_windows_rows(const tl_baseline *baseline, const int64_t *step_ns, const int32_t *ranks,
                     const tl_table *rank_table, tl_table *health);

/* verdict.c: a question CHANGE. */
void tl_change_put(tl_asked *asked, size_t rank, tl_change change, const uint32_t *plans, size_t nplans);

/* shape.c: first, last, nup and pattern of the steps that are `on`; *share: of the full steps.  drifts: a ramp is
 * among them. */
void tl_put_pattern(const tl_baseline *baseline, const bool *on, bool drifts, tl_shape *shape, double *share);

/* cost.c: what repairs gain. */
typedef struct tl_costing tl_costing;

/* *out costs repairs of the candidates. */
tl_costing *tl_costing_new(const tl_baseline *baseline, const tl_findings *findings);
void tl_costing_free(tl_costing *costing);

tl_repair tl_repair_of(const tl_candidate *candidate);

/* Whether the candidate's repair is of the step. */
static inline bool tl_candidate_covers(const tl_baseline *b, const tl_candidate *candidate, size_t step)
{
    tl_repair repair = tl_repair_of(candidate);
    return candidate->on[step] || tl_repair_lasts(b, &repair, step);
}

/* Returns the gain, ns, of repairing all candidates with chosen[candidate]. */
int64_t tl_cost_of(tl_costing *costing, const bool *chosen);

/* Returns the sum of what repairs add to work, ns: classes of work in which a late rank is ahead of its peers. */
int64_t tl_cost_added_ns(const tl_costing *costing);

/* The gain of the last tl_cost_of by step, ns: differences of step ends. */
void tl_cost_by_step(const tl_costing *costing, int64_t *step_ns);

/* What the repair of all candidates with chosen[candidate] gains where of those of one rank only, or all but, what they
 * take off some activities in candidates of some families is repaired. */
typedef struct tl_cost_part {
    uint32_t rank;                 /* TL_NONE: of all ranks */
    unsigned families, activities; /* bits 1 << tl_family, 1 << tl_activity_kind (SYNC: waits) */
    bool without;
} tl_cost_part;

int64_t tl_cost_of_part(tl_costing *costing, const bool *chosen, const tl_cost_part *part);

/* Whether the chosen candidates take anything off in the part. */
bool tl_cost_has_part(const tl_costing *costing, const bool *chosen, const tl_cost_part *part);

/* cause.c: why the ranks of chosen candidates are late; joint_gain_ns and `with` are known.  some: [candidates]
 * scratch. */
void tl_causes_of_gains(tl_costing *costing, const bool *chosen, bool *some, tl_findings *out);

/* backward_elimination.c: needed, and all gains. */
void tl_backward_elimination(const tl_baseline *baseline, double least_cost, tl_findings *out);

/* untraced.c: ranks without a trace that are late; all else is known. */
void tl_untraced_find(const tl_baseline *baseline, const tl_verdict_options *options, tl_findings *out);

/* scenario_run.c: what the job would gain otherwise. */
typedef struct tl_scenario {
    unsigned activities;       /* of the ideal, bits 1 << tl_activity_kind (TL_ACTIVITY_SYNC: waits) */
    const bool *sorts;         /* [nsorts] of the ideal, transfers on links of these; NULL: none */
    uint64_t host;             /* the chosen candidates of its ranks are repaired; 0: none */
    const tl_balance *balance; /* NULL: as it is */
    bool free_hosts;
} tl_scenario;

typedef struct tl_scenario_run tl_scenario_run;

/* Asks the ranks what stays of them in each of the scenarios; the first has all activities, where any has some. */
tl_scenario_run *tl_scenario_run_new(const tl_findings *findings, const tl_baseline *baseline,
                                     const tl_scenario *scenarios, size_t n);
void tl_scenario_run_free(tl_scenario_run *run);

/* Returns the gain of the next scenario, ns; called once for each, in their order.  sorts: as they are now. */
int64_t tl_scenario_run_gain(tl_scenario_run *run, const bool *sorts);

/* scenarios.c: tl_scenario_rows appends the rows of whatif that are of no single rank or link, once the others are
 * there, and fills the slowdown against the ideal; tl_whatif_add appends one row, whose job time follows from
 * gain_ns. */
void tl_scenario_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks,
                      tl_table *whatif);
void tl_whatif_add(const tl_findings *findings, tl_scenario_kind kind, int32_t rank, int64_t gain_ns, tl_table *whatif);

/* links.c: the rows of link, and what straggler and whatif say of links; those of ranks are there. */
void tl_link_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks,
                  tl_tables *tables);

/* path_rows.c: appends the rows of tables critical_path, path_sum and path. */
void tl_path_rows(const tl_path *path, const int32_t *ranks, size_t nranks, tl_tables *tables);

#endif
