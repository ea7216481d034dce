/* host_numbers.h - which ranks share a host. */
#ifndef TLMPI_ANALYSIS_HOST_NUMBERS_H
#define TLMPI_ANALYSIS_HOST_NUMBERS_H

#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"

/* host_of[nranks]: a number for the host of each of these ranks, ascending by its lowest rank; how many there are.
 * Hosts are those of table rank; where no trace tells, ranks in a row whose devices count up are one.  0 where they are
 * not told apart, SIZE_MAX when memory is out. */
size_t tl_hosts_of(const tl_table *ranks, const int32_t *of, size_t nranks, uint32_t *host_of);

/* The rank's row of table rank, if anything ran on its device; NULL. */
const tl_rank *tl_host_row_of(const tl_table *ranks, int32_t rank);

#endif
