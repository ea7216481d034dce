/* group_job.h - what some ranks say of their groups, and what is decided. */
#ifndef TLMPI_TESTS_GROUP_JOB_H
#define TLMPI_TESTS_GROUP_JOB_H

#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/stats.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

/* What ranks say, and what is decided. */
typedef struct job {
    tl_membership m[MOST];
    tl_rank_clock ranks[MOST];
    size_t n;
    tl_sighting seen[MOST * TL_SIGHTINGS];
    size_t nseen;
    bool all_traced;
    tl_fate fates[MOST];
    tl_table groups;
    tl_group_fact *facts;
} job;

static job j;

static inline void begin(void)
{
    tl_table_free(&j.groups);
    free(j.facts);
    memset(&j, 0, sizeof j);
    j.groups.schema = &tl_group_row_schema;
    for (int32_t r = 0; r < MOST; r++)
        j.ranks[r] = (tl_rank_clock){ .rank = r, .host = -1 };
}

static inline tl_membership *member(int32_t rank, uint64_t members, const char *name)
{
    tl_membership *m = &j.m[j.n];
    *m = (tl_membership){ .members_key = members,
                          .name_key = (uint64_t)name[0],
                          .rank = rank,
                          .size = 4,
                          .n = 1,
                          .nlaunched = 1 };
    snprintf(m->name, sizeof m->name, "%s", name);
    j.n++;
    return m;
}

static inline void decide(void)
{
    const tl_job_facts ranks = { .ranks = j.ranks, .nranks = MOST, .all_traced = j.all_traced };
    free(j.facts);
    tl_groups_decide(j.m, j.n, &ranks, j.seen, j.nseen, j.fates, &j.groups, &j.facts);
}

static inline const tl_group_row *group(size_t g)
{
    CU_ASSERT_FATAL(g < j.groups.n);
    return tl_table_row(&j.groups, g);
}

#endif
