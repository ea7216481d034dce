/* local.h - what both implementations of par.h need and no other proc has a part in. */
#ifndef TLMPI_PAR_LOCAL_H
#define TLMPI_PAR_LOCAL_H

#include "tlmpi/par/par.h"

/* How many processes the launcher started together with this one; 1 without a launcher. */
int tl_local_copies(void);

/* Whether this is the first of them, as far as the launcher tells. */
bool tl_local_first(void);

/* tl_par_shuffle of one proc: a copy of what it has. */
void tl_local_shuffle(const void *rows, size_t n, size_t size, void **out, size_t *nout);

/* The next of a row of naps (*spins, start with 0): they double.  So a proc sleeps through little more than it has
 * waited already. */
long tl_local_nap_ns(unsigned *spins, long first_ns, long longest_ns);

/* Messages of a proc to itself: copied, and taken in the order in which they were sent. */
void tl_local_send(int tag, const void *bytes, size_t n);
bool tl_local_probe(tl_envelope *envelope);
void tl_local_take(void *bytes);
void tl_local_drop_all(void);

#endif
