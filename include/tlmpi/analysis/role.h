/* role.h - which ranks do the same and may be compared, and which share a host?
 *
 * From who sends to whom, what programs compute, and what table rank says of hosts and devices.  May use wait and graph.
 */
#ifndef TLMPI_ANALYSIS_ROLE_H
#define TLMPI_ANALYSIS_ROLE_H

#include "tlmpi/analysis/program/programs.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"

/* -------------------------------------------------------------------------------------------------------- job roles */

/* Which ranks of the job do the same: those of one stage of a pipeline. */

typedef struct tl_role_input {
    const tl_late_row *rows; /* in the order of collectives */
    size_t nrows;
    const int32_t *ranks; /* that have a trace, ascending */
    size_t nranks;
    const tl_programs *programs; /* NULL: nobody knows what they compute */
} tl_role_input;

/* Zero-initialise; tl_job_roles_free ends it. */
typedef struct tl_job_roles {
    int32_t *of;          /* [nranks]: the role of each rank that has a trace */
    int32_t *named;       /* these, and the ranks without a trace that they send to or receive from; ascending */
    int32_t *named_roles; /* of each of them */
    size_t nnamed;
    bool several; /* not all of `of` are the same */
} tl_job_roles;

/* False when memory is out. */
bool tl_job_roles_find(tl_job_roles *roles, const tl_role_input *in);

void tl_job_roles_free(tl_job_roles *roles);

/* ----------------------------------------------------------------------------------------------------- host numbers */

/* Which ranks share a host. */

/* host_of[nranks]: a number for the host of each of these ranks, ascending by its lowest rank; how many there are.
 * Hosts are those of table rank; where no trace tells, ranks in a row whose devices count up are one.  0 where they are
 * not told apart, SIZE_MAX when memory is out. */
size_t tl_hosts_of(const tl_table *ranks, const int32_t *of, size_t nranks, uint32_t *host_of);

/* The rank's row of table rank, if anything ran on its device; NULL. */
const tl_rank *tl_host_row_of(const tl_table *ranks, int32_t rank);

#endif
