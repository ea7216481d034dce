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
    int64_t sigma_ns;  /* how far the clock may still be off; INT64_MAX: nothing tells */
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
    const tl_participant *by_rank; /* [n] ascending by rank; times on the job's clock */
    size_t n;
    int32_t group;
    int32_t size;     /* ranks that take part, -1 when unknown */
    int32_t expected; /* those of them with a trace */
    int32_t step;     /* ProfilerStep in which most ranks launched it, else the lowest that tells one; -1: none does */
    uint8_t kind;     /* tl_collective */
    uint8_t rule;     /* tl_match_rule */
    uint8_t state;    /* tl_coll_state */
    uint8_t suspect;  /* tl_suspicion */
    uint8_t span;     /* tl_node_span */
    int64_t uncertainty_ns; /* of its clocks together */
} tl_collective_view;

/* The uncertainty where nothing compares clocks of several hosts: larger than any wait. */
#define TL_CLOCK_UNTIED_NS (INT64_MAX / 4)

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

/* The rank's place, or NULL: it has no trace. */
const tl_rank_place *tl_place_of(const tl_job_facts *facts, int32_t rank);

#endif
