/* par_mpi.h - what the parts of par.h by MPI share. */
#ifndef TLMPI_PAR_PAR_MPI_H
#define TLMPI_PAR_PAR_MPI_H

#include "local.h"
#include "tlmpi/base/mem.h"
#include <mpi.h>

/* -------------------------------------------------------------------------- a few bytes from all procs to one, and back
 *
 * Each proc that stands between two others has to wake before it passes anything on.  In the library's own small
 * collectives a dozen stand one after the other on 64 procs.  Here 64 procs report to one, so it is two up to 65 procs,
 * and four up to 4,161.
 *
 * Messages travel on a communicator of their own, where tl_par_probe does not see them.  All collective. */

/* A count in MPI is an int: what is longer goes in chunks of this many bytes. */
#define TL_PIECE_BYTES ((size_t)16 << 20)

/* Returns the size of the chunk that begins at `at` of n bytes. */
static inline size_t tl_slice_size(size_t n, size_t at)
{
    return n - at < TL_PIECE_BYTES ? n - at : TL_PIECE_BYTES;
}

void tl_tree_start(int proc, int nprocs);
void tl_tree_end(void);

/* Returns the communicator for messages that tl_par_probe does not see; tags 0 to 2 are the tree's own. */
MPI_Comm tl_tree_comm(void);

/* The largest value, and the lowest proc that has it. */
typedef struct tl_tree_vote {
    int32_t value, proc;
} tl_tree_vote;

/* The winner of all votes, everywhere. */
tl_tree_vote tl_tree_elect(int32_t value);

/* n bytes of proc `from` to all, by proc 0; n is an int. */
void tl_tree_tell(void *bytes, size_t n, int from);

/* ------------------------------------------------------------------------------------------- waiting without the processor
 *
 * MPI has no wait that sleeps.  So a proc that waits tests, and naps between tests; each proc has a bell in memory that
 * the procs of its host share, and who has sent it something rings it, which ends the nap.  A bell is a hint: naps end
 * by themselves, too, so that messages from other hosts, and what the library sends on its own, are noticed. */

/* Collective; after tl_tree_start, and before tl_tree_end.  Without shared memory there are no bells, and naps are
 * short. */
void tl_bells_start(void);
void tl_bells_end(void);

/* Local.  Something is on its way to the proc, or has been taken that it is waiting to be rid of. */
void tl_ring(int proc);

/* Local.  How many of the n requests have ended since the last call, and which.  Open MPI looks first and moves
 * messages then, so it looks twice before it says none. */
int tl_test(int n, MPI_Request *requests, int *which);

/* Local.  Sleeps until all n requests have ended, which are at most two for each proc, and nbytes the longest of them;
 * who sends rings once for each. */
void tl_wait_for(int n, MPI_Request *requests, size_t nbytes);

/* Local.  Waits for n requests that send.  Small messages are gone at once as a rule; where MPI has no room for one, no
 * bell rings when room comes, so the wait naps. */
void tl_wait_sent(int n, MPI_Request *requests);

/* Local.  The same for one on its way from or to the proc, which may have to act for it to move. */
void tl_wait_with(int proc, MPI_Request *request, size_t nbytes);

/* Local.  tl_par_nap while long messages are on their way. */
void tl_nap_between_steps(unsigned *spins);

/* ------------------------------------------------------------------------------ memory that the procs of one host share
 *
 * MPI's own (MPI_Win_allocate_shared) lies in a file of /dev/shm: where that is full, Open MPI 4 fails on one proc and
 * leaves the others waiting for it for ever.  This lies in no file system, so nothing of it stays either, however a
 * proc ends. */

/* Collective over the procs of a host.  n bytes of zeros, on a line of memory of their own; NULL where this proc has
 * none of it, which says nothing about the others: they must agree.  Once at a time. */
void *tl_shared_start(MPI_Comm here, size_t n);

/* Local.  The others may still use it. */
void tl_shared_end(void);

#endif
