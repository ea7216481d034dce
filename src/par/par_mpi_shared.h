/* par_mpi_shared.h - memory that the procs of one host have in common.
 *
 * MPI's own (MPI_Win_allocate_shared) lies in a file of /dev/shm: where that is full, Open MPI 4 fails on one proc and
 * leaves the others waiting for it for ever.  This lies in no file system, so nothing of it stays either,
 * however a proc ends.
 */
#ifndef TLMPI_PAR_PAR_MPI_SHARED_H
#define TLMPI_PAR_PAR_MPI_SHARED_H

#include <mpi.h>
#include <stddef.h>

/* Collective over the procs of a host.  n bytes of zeros, on a line of memory of their own; NULL where this proc has
 * none of it, which says nothing about the others: they must agree.  Once at a time. */
void *tl_shared_start(MPI_Comm here, size_t n);

/* Local.  The others may still use it. */
void tl_shared_end(void);

#endif
