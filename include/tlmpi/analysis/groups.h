/* groups.h - the process groups of a job, from what its ranks say of them.
 *
 * Decided once, for all ranks: which memberships are of one group, the group's number, and by what rule its collectives
 * are matched.  It takes rows per rank and group, and no events.
 */
#ifndef TLMPI_ANALYSIS_GROUPS_H
#define TLMPI_ANALYSIS_GROUPS_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/table.h"

/* A rank's k-th collective of an inferred group: some of them, to see which ranks end together. */
typedef struct tl_sighting {
    uint64_t item; /* equal for what should be one collective, were all ranks one group */
    int64_t start_ns, end_ns;
    int32_t membership; /* index among those of the job */
    int32_t loose;      /* its kind does not make ranks end together */
} tl_sighting;

/* How many of each membership, from all of the recording. */
#define TL_SIGHTINGS 64

/* What is decided for one membership. */
typedef struct tl_fate {
    uint64_t group_key;
    int32_t group;           /* number in the job */
    uint8_t by_seq;          /* all its ranks have sequence numbers */
    uint8_t by_loose_launch; /* what was launched outside any step counts alike on all its ranks */
    uint8_t padding[2];
} tl_fate;

/* What owners need to know of a group, in order of its number. */
typedef struct tl_group_fact {
    int32_t size, seen;
    uint32_t most;          /* participants of the rank that has most */
    uint8_t inferred, span; /* tl_node_span */
    uint8_t padding[2];
} tl_group_fact;

/* Decides the fate of n memberships (rank order does not matter) and fills the table of groups, and *facts (the caller
 * frees), in order of their numbers.  hosts: the host of each membership's rank, -1 when unknown.  sightings: ascending
 * by membership and item.  TL_ENOMEM. */
tl_status tl_groups_decide(const tl_membership *memberships, const int32_t *hosts, size_t n,
                           const tl_sighting *sightings, size_t nsightings, tl_fate *fates, tl_table *groups,
                           tl_group_fact **facts, tl_error *err);

#endif
