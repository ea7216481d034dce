/* groups_infer.h - finds from times which ranks form one group, for groups whose members no trace names (groups.c). */
#ifndef ANALYSIS_MATCH_GROUPS_INFER_H
#define ANALYSIS_MATCH_GROUPS_INFER_H

#include "tlmpi/analysis/match.h"
#include "tlmpi/base/mem.h"

/* While groups are decided. */
typedef struct tl_deciding {
    const tl_membership *m;
    const tl_job_facts *job;
    size_t n;
    const tl_sighting *sightings;
    size_t *first_sighting; /* of each membership; n + 1 of them */
    uint32_t *order;
    uint32_t *by_rank; /* memberships by rank and members */
    bool *slow_ring;   /* of each membership: those of one key leave one after another */
    tl_fate *fates;
} tl_deciding;

/* Whether order[from, to), the memberships of one key, are a ring with a slow link.  Those at the link are done last,
 * together, and each after them one pass before the one before it.  Stages of a pipeline end apart, too, but all ranks
 * of one together. */
void tl_groups_find_ring(tl_deciding *d, size_t from, size_t to);

/* Gives order[from, to), which are inferred and may be one group, their keys. */
void tl_groups_infer(tl_deciding *d, size_t from, size_t to);

#endif
