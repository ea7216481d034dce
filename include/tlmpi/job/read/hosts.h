/* hosts.h - which ranks share a host, where traces do not name the host. */
#ifndef TLMPI_JOB_READ_HOSTS_H
#define TLMPI_JOB_READ_HOSTS_H

#include "tlmpi/job/read/plan.h"

/* Proc 0, with the rank table of the job in order: where a row has no host, but process ids, devices and times say that
 * ranks share one, its name is "pids <first>-<last>". */
void tl_hosts_infer(const tl_plan *plan, tl_rank *rows, size_t n);

#endif
