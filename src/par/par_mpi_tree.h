/* par_mpi_tree.h - a few bytes from all procs to one, and from one to all.
 *
 * Each proc that stands between two others has to wake before it passes anything on.  In the library's own small
 * collectives a dozen stand one after the other on 64 procs.  Here 64 procs report to one, so it is two up to 65 procs,
 * and four up to 4,161.
 *
 * Messages travel on a communicator of their own, where tl_par_probe does not see them.  All collective.
 */
#ifndef TLMPI_PAR_PAR_MPI_TREE_H
#define TLMPI_PAR_PAR_MPI_TREE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
