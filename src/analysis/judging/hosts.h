/* hosts.h - a whole host that holds the job up: its ranks come late alike, none of them alone. */
#ifndef ANALYSIS_JUDGING_HOSTS_H
#define ANALYSIS_JUDGING_HOSTS_H

#include "judging.h"

typedef struct tl_host_input {
    const tl_verdict_input *job; /* gain_ns is known */
    const tl_table *ranks;       /* table rank; NULL: what follows are not hosts, but ranks that hide each other (alike.h) */
    const uint32_t *host_of;
    size_t nhosts;
    const double *gain_ns;     /* [nhosts * nsteps] as that of ranks, all ranks of a host repaired together */
    const int64_t *surplus_ns; /* [nranks * nsteps] all that a rank had more to do than its peers; NULL without hosts */
} tl_host_input;

/* After tl_verdict_judge.  Where the ranks of a host together cost the job what they do not one by one, each of them
 * that had more to do than its peers in the steps in which the host stands out is a straggler: its row gets the host's pattern, steps and p, and a reason that
 * names the host.  TL_ENOMEM. */
tl_status tl_hosts_judge(const tl_host_input *input, tl_table *stragglers, tl_error *err);

#endif
