/* par_mpi_wait.h - waiting for messages without the processor.
 *
 * MPI has no wait that sleeps.  So a proc that waits tests, and naps between tests; each proc has a bell in memory that
 * the procs of its host share, and who has sent it something rings it, which ends the nap.  A bell is a hint: naps end
 * by themselves, too, so that messages from other hosts, and what the library sends on its own, are noticed.
 */
#ifndef TLMPI_PAR_PAR_MPI_WAIT_H
#define TLMPI_PAR_PAR_MPI_WAIT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Collective; after tl_tree_start, and before tl_tree_end.  Without shared memory there are no bells, and naps are
 * short. False: memory is out. */
bool tl_bells_start(void);
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

#endif
