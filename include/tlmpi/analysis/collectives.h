/* collectives.h - participants that lie together, as collectives: who is there, what fits, when.
 *
 * An owner has all participants of some keys.  In order they are collectives, one behind the other.
 */
#ifndef TLMPI_ANALYSIS_COLLECTIVES_H
#define TLMPI_ANALYSIS_COLLECTIVES_H

#include "tlmpi/analysis/groups.h"

/* What the job knows of a rank, in rank order. */
typedef struct tl_rank_place {
    int32_t rank;
    int32_t host;    /* number, -1 when unknown */
    int32_t clock;   /* number: ranks of one clock need no correction between them */
    int32_t applied; /* 1: offset and drift are taken off the rank's times */
    int64_t offset_ns, drift_ppb;
    int64_t sigma_ns;  /* how sure the offset is: scatter, and what scatter does not show */
    int64_t middle_ns; /* when the offset holds; the drift counts from there */
    int32_t component; /* clocks of one number can be compared */
    int32_t padding;
} tl_rank_place;

/* What is known about everybody; borrowed. */
typedef struct tl_job_facts {
    const tl_group_fact *groups;
    size_t ngroups;
    const tl_rank_place *ranks;
    size_t nranks; /* ranks that have a trace */
} tl_job_facts;

/* One matched collective, as hooks see it. */
typedef struct tl_collective_view {
    int64_t number;
    const tl_participant *by_rank;
    size_t n; /* ascending by rank; times on the job's clock */
    int32_t group, size,
        expected; /* size: ranks that take part, -1 when unknown; expected: those of them with a trace */
    int32_t step; /* ProfilerStep in which the lowest rank that tells one launched it; -1: none does */
    uint8_t kind, rule, state, suspect, span; /* tl_collective, tl_match_rule, tl_coll_state, ... */
    int64_t uncertainty_ns;
} tl_collective_view;

/* A collective's place among the participants. */
typedef struct tl_collective_run {
    size_t first, n;
    int64_t s_first_ns;
} tl_collective_run;

/* Puts participants in the order of (group, key, rank, start, uid).  False when memory is out. */
bool tl_participants_sort(tl_participant *parts, size_t n);

/* The collectives in sorted participants, in their order; the caller frees *runs.  False when memory is out. */
bool tl_runs_make(const tl_participant *parts, size_t n, tl_collective_run **runs, size_t *nruns);

/* In order of (first arrival, group, key).  False when memory is out. */
bool tl_runs_by_time(const tl_participant *parts, tl_collective_run *runs, size_t n);

/* Looks at one collective; its number is left 0. */
tl_collective_view tl_collective_of_run(const tl_participant *parts, const tl_collective_run *run,
                                        const tl_job_facts *facts);

/* The first check that fails of those that need no clock: kind, dtype, size, a rank twice. */
tl_suspicion tl_collective_suspect(const tl_participant *by_rank, size_t n);

/* Whether its clocks hide who came last: arrivals [first, last] lie within twice what they leave open, unless it is a
 * matter of transfer even if every rank had waited that much longer than `wait_ns`, of `kernel_ns` in all. */
bool tl_clocks_hide(const tl_collective_view *c, int64_t first_ns, int64_t last_ns, int64_t wait_ns, int64_t kernel_ns);

/* Whom the waits of a collective are for. */
tl_wait_state tl_wait_state_of(const tl_collective_view *c);

/* Until when p waits in it: for the last to come, but not past its own end; where ranks may leave before all have come,
 * for the last who came by then. */
int64_t tl_wait_end(const tl_collective_view *c, const tl_participant *p, int64_t last_start_ns);

/* The rank's place, or NULL: it has no trace. */
const tl_rank_place *tl_place_of(const tl_job_facts *facts, int32_t rank);

/* How far the clocks of some ranks may be apart: nothing where all have one; else what the worst of them leaves open,
 * which is its sigma, or the offset that was not taken off it; TL_CLOCK_UNTIED_NS where they are known to be of
 * several hosts and nothing compares these.  { .clock = -1 } begins; a rank NULL adds nothing. */
typedef struct tl_clock_doubt {
    int64_t worst_ns;
    int32_t clock, component, host; /* of the last rank that was added */
    bool several;
    bool apart;  /* nothing tells how far they are apart */
    bool untied; /* ... and there is no reason to think that it is one clock */
} tl_clock_doubt;

#define TL_CLOCK_UNTIED_NS (INT64_MAX / 4)

void tl_clock_doubt_add(tl_clock_doubt *doubt, const tl_rank_place *rank);
int64_t tl_clock_doubt_of(const tl_clock_doubt *doubt);

#endif
