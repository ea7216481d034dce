/* parts.h - what the parts of gain.h share. */
#ifndef ANALYSIS_GAIN_PARTS_H
#define ANALYSIS_GAIN_PARTS_H

#include "job.h"
#include "tlmpi/analysis/gain.h"
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/blame_tables.h"
#include <math.h>

/* So many others tell what a repair gains by chance. */
enum { TL_OTHERS_MOST = 8 };

struct tl_gains {
    const tl_gain_input *in;
    tl_tables *tables;
    tl_gain_job job;
    tl_whatif *whatif;
    int64_t unchanged_ns, ideal_ns;
    size_t nrepaired; /* ranks, one by one */
    int64_t apart_ns; /* so far the clocks that it compares are apart, known and not taken off */
    uint8_t *marked; /* scratch [nranks] */
    uint32_t *host_of; /* [nranks], as far as they are told apart */
    size_t nhosts;     /* 0: they are not told apart */
};

/* nranks where there is no such rank. */
static inline size_t tl_gains_index(const tl_gains *g, int32_t rank)
{
    return tl_index_of(g->in->ranks, g->in->nranks, rank);
}

static inline double tl_gains_over(int64_t a, int64_t b)
{
    return b > 0 ? (double)a / (double)b : NAN;
}

/* Appends a row to table whatif, which is to be sorted.  False when memory is out. */
bool tl_gains_add(tl_gains *gains, tl_scenario_kind scenario, int32_t rank, int part, int64_t gain_ns, double slowdown);

/* The same for groups of one kind, by the number of the first. */
bool tl_gains_add_kind(tl_gains *gains, int32_t group, int64_t gain_ns);

/* group.c: the rows of kinds of groups.  False when memory is out. */
bool tl_gains_of_groups(tl_gains *gains);

/* rank.c: the rows of ranks and hosts.  False when memory is out. */
bool tl_gains_of_ranks(tl_gains *gains);
bool tl_gains_of_hosts(tl_gains *gains);

#endif
