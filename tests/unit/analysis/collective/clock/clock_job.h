/* clock_job.h - ranks whose clocks are known to be off, and the collectives that they record. */
#ifndef TLMPI_TESTS_CLOCK_JOB_H
#define TLMPI_TESTS_CLOCK_JOB_H

#include "tlmpi/analysis/collective/clock.h"
#include "tlmpi/model/parameters.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define US  INT64_C(1000)
#define MS  INT64_C(1000000)

enum { MOST = 8, MANY = 4096 };

typedef struct job {
    tl_rank_clock rank_clocks[MOST];
    size_t nrank_clocks;
    tl_group_fact group; /* of all */
    int64_t ahead[MOST]; /* what is to be found: of clocks, when things are added */
    double drift[MOST];  /* ns a ns */
    int64_t step[MOST], step_at_ns; /* by how much more it is ahead from then on */
    tl_participant participants[MANY];
    size_t nparticipants;
    uint64_t key;
} job;

static job j;

/* n ranks, `share` on a host, 0: hosts are not known. */
static inline void begin(size_t n, size_t share)
{
    memset(&j, 0, sizeof j);
    for (size_t i = 0; i < n; i++)
        j.rank_clocks[i] = (tl_rank_clock){ .rank = (int32_t)i, .host = share > 0 ? (int32_t)(i / share) : -1 };
    j.nrank_clocks = n;
}

/* What the clock of a rank shows at a time. */
static inline int64_t shown(int32_t rank, int64_t ns)
{
    return ns + j.ahead[rank] + (int64_t)(j.drift[rank] * (double)ns) + (ns >= j.step_at_ns ? j.step[rank] : 0);
}

static inline void add(int32_t rank, tl_collective kind, int32_t peer, int64_t start_ns, int64_t end_ns)
{
    CU_ASSERT_FATAL(j.nparticipants < MANY);
    j.participants[j.nparticipants++] = (tl_participant){ .key = j.key,
                                            .start_ns = shown(rank, start_ns),
                                            .end_ns = shown(rank, end_ns),
                                            .launch_ns = TL_TIME_UNKNOWN,
                                            .seq = -1,
                                            .bytes = -1,
                                            .rank = rank,
                                            .step = -1,
                                            .nth = -1,
                                            .peer = peer,
                                            .kind = (uint8_t)kind,
                                            .rule = TL_BY_SEQ };
}

static inline void alone(int64_t *values, size_t n)
{
    (void)values;
    (void)n;
}

/* What ends say, of a clock that steps at cut_ns. */
static inline bool fit(int64_t cut_ns, tl_clock_ends *ends)
{
    const tl_job_facts facts = { .groups = &j.group, .ngroups = 1, .ranks = j.rank_clocks, .nranks = j.nrank_clocks };
    tl_clock_samples samples = { 0 };
    ends->n = 0;
    tl_participants_sort(j.participants, j.nparticipants);
    tl_clock_samples_take(j.participants, j.nparticipants, &facts, &samples);
    tl_clock_ends_fit(samples.v, samples.n, cut_ns, ends);
    tl_clock_ends_sort(ends->v, ends->n);
    free(samples.v);
    return true;
}

static inline void find(tl_clock_mode mode)
{
    static const tl_clock_procs procs = { alone, alone };
    tl_clock_ends ends = { 0 };
    tl_participants_sort(j.participants, j.nparticipants);
    tl_clock_stays_find(j.participants, j.nparticipants, &procs, j.rank_clocks, j.nrank_clocks, &j.group, 1);
    fit(TL_TIME_UNKNOWN, &ends);
    int64_t cut_ns = tl_clock_ends_cut(ends.v, ends.n);
    if (cut_ns != TL_TIME_UNKNOWN)
        fit(cut_ns, &ends);
    tl_clocks_find(j.participants, j.nparticipants, ends.v, ends.n, mode, &procs, &j.group, 1,
                   j.rank_clocks, j.nrank_clocks);
    free(ends.v);
}

#endif
