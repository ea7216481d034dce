/* imbalance.h - what the job loses that nobody is at fault for. */
#ifndef TLMPI_MODEL_IMBALANCE_H
#define TLMPI_MODEL_IMBALANCE_H

#include "tlmpi/model/table.h"
#include <stdint.h>

/* What the job loses that nobody is at fault for, beyond what those who are named cost; what is less of the wall time
 * than is worth acting upon (parameter verdict_least_cost) is 0. */
typedef struct tl_imbalance {
    int32_t rank;      /* the lowest of the role that computes longest; -1: roles are alike */
    double times;      /* how many times as long as the others in the mean */
    int64_t roles_ns;  /* gain were roles alike (scenario balanced of table whatif) */
    int64_t chance_ns; /* gain were nobody slower than usual in any step (ideal), less that of those who are named */
    int64_t hosts_ns;  /* gain were hosts to take no time (host_free), less ... */
    int64_t named_hosts_ns; /* ... that of those who are named and whose hosts are late */
} tl_imbalance;

/* From tables straggler, whatif and parameter; wall_ns as tl_facts has it. */
tl_imbalance tl_imbalance_of(tl_tables *tables, int64_t wall_ns);

#endif
