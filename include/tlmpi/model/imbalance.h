/* imbalance.h - the time that the job loses though no rank is at fault. */
#ifndef TLMPI_MODEL_IMBALANCE_H
#define TLMPI_MODEL_IMBALANCE_H

#include "tlmpi/model/table.h"
#include <stdint.h>

/* Time that the job loses though no rank is at fault: gains of the replay, in ns.  A gain below verdict_least_cost
 * (a parameter, a share of the wall time) is 0. */
typedef struct tl_imbalance {
    int32_t rank;           /* lowest rank of the role that computes longest; -1: roles are alike */
    double times;           /* compute time of that role, as a multiple of the other roles' mean */
    bool alone;             /* that role is this rank alone */
    bool at_most;           /* roles_ns is an upper bound */
    int64_t roles_ns;       /* gain if roles were alike (scenario balanced of table whatif) */
    int64_t chance_ns;      /* gain if no rank were slower than usual in any step (scenario ideal), less the gain from
                             * repairing the named ranks and links */
    int64_t hosts_ns;       /* gain if hosts took no time (scenario host_free), less named_hosts_ns */
    int32_t hosts_rank;     /* the rank whose devices have most of all idle time (TL_MOST_SHARE); -1: none has */
    int64_t named_hosts_ns; /* gain from repairing the named ranks whose hosts are late */
} tl_imbalance;

/* Returns the imbalance from tables breakdown, straggler, whatif and parameter; wall_ns as in tl_facts. */
tl_imbalance tl_imbalance_of(tl_tables *tables, int64_t wall_ns);

#endif
