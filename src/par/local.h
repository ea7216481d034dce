/* local.h - helpers of both implementations of par.h that involve no other proc. */
#ifndef TLMPI_PAR_LOCAL_H
#define TLMPI_PAR_LOCAL_H

#include "tlmpi/par/par.h"

/* Returns the number of processes that the launcher started together with this one; 1 without a launcher. */
int tl_local_copies(void);

/* Whether this is the first of them, according to the launcher. */
bool tl_local_first(void);

/* tl_par_shuffle for a single proc: copies the rows. */
void tl_local_shuffle(const void *rows, size_t n, size_t size, void **out, size_t *nout);

/* Returns the length of the next nap of a series (*spins, start with 0), ns: naps double, so that a proc oversleeps by
 * little more than it has waited already. */
long tl_local_nap_ns(unsigned *spins, long first_ns, long longest_ns);

/* Messages of a proc to itself: copied, and received in the order in which they were sent. */
void tl_local_send(int tag, const void *bytes, size_t n);
bool tl_local_probe(tl_envelope *envelope);
void tl_local_take(void *bytes);
void tl_local_drop_all(void);

#endif
