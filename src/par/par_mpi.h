/* par_mpi.h - shared by the parts of par.h with MPI. */
#ifndef TLMPI_PAR_PAR_MPI_H
#define TLMPI_PAR_PAR_MPI_H

#include "local.h"
#include "tlmpi/base/mem.h"
#include <mpi.h>

/* ------------------------------------------------------------------------- a few bytes from all procs to one, and back
 *
 * Each proc between two others has to wake before it passes anything on.  In the library's own small collectives a
 * dozen follow one another with 64 procs.  Here 64 procs report to one, so it is two up to 65 procs, and four up to
 * 4,161.
 *
 * Messages use a separate communicator, which tl_par_probe does not see.  All calls are collective. */

/* Largest message, bytes: a count in MPI is an int, and longer data are sent in chunks. */
#define TL_PIECE_BYTES ((size_t)16 << 20)

/* Returns the size of the chunk that begins at offset `at` of n bytes. */
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

/* Returns the winner of all votes, on every proc. */
tl_tree_vote tl_tree_elect(int32_t value);

/* Copies n bytes of proc `from` to all procs, through proc 0; n fits in an int. */
void tl_tree_tell(void *bytes, size_t n, int from);

/* --------------------------------------------------------------------------------------- waiting without the processor
 *
 * MPI has no wait that sleeps.  So a waiting proc tests, and naps between tests; each proc has a bell in memory shared
 * by the procs of its host, and a sender rings the bell of the receiver, which ends the nap.  A bell is a hint: naps
 * end by themselves as well, so that messages from other hosts, and messages of the library itself, are noticed. */

/* Collective; after tl_tree_start, and before tl_tree_end.  Without shared memory there are no bells, and naps are
 * short. */
void tl_bells_start(void);
void tl_bells_end(void);

/* Local.  Rings the bell of the proc: a message to it has been sent, or one from it has been received. */
void tl_ring(int proc);

/* Local.  Returns the number of the n requests that have ended since the last call, and which.  Open MPI looks first
 * and moves messages afterwards, so a second look is made before the answer 0. */
int tl_test(int n, MPI_Request *requests, int *which);

/* Local.  Sleeps until all n requests have ended; n is at most two per proc, and nbytes the longest message.  Senders
 * ring once for each. */
void tl_wait_for(int n, MPI_Request *requests, size_t nbytes);

/* Local.  Waits for n send requests.  Small messages usually end at once; if MPI has no room for one, no bell rings
 * when there is room, so the wait naps. */
void tl_wait_sent(int n, MPI_Request *requests);

/* Local.  As tl_wait_for, for one message from or to the proc, which may have to act for it to proceed. */
void tl_wait_with(int proc, MPI_Request *request, size_t nbytes);

/* Local.  tl_par_nap while long messages are in flight. */
void tl_nap_between_steps(unsigned *spins);

/* ----------------------------------------------------------------------------- memory that the procs of one host share
 *
 * MPI's own shared memory (MPI_Win_allocate_shared) is a file in /dev/shm: if that is full, Open MPI 4 fails on one
 * proc and lets the others wait for ever.  This memory is in no file system, so none of it remains, however a proc
 * ends. */

/* Collective over the procs of a host.  Returns n zeroed bytes, aligned to a line of memory; NULL: this proc has none,
 * while others may have it: the procs must agree.  One at a time. */
void *tl_shared_start(MPI_Comm here, size_t n);

/* Local.  Others may still use the memory. */
void tl_shared_end(void);

#endif
