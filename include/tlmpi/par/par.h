/* par.h - procs that work together: the whole vocabulary.
 *
 * Two implementations, chosen at link time: MPI (par_mpi*, the only files that know of it), and one proc alone
 * (par_serial.c).  A call is local, or collective: every proc makes it, in the same order.  No call blocks in the MPI
 * library while another proc may still work: waits test and sleep, so that 64 procs on 2 cores do not burn them.
 *
 * It carries bytes and does not know what they mean.  May use base.
 */
#ifndef TLMPI_PAR_PAR_H
#define TLMPI_PAR_PAR_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Collective.  Starts the parallel machine; call it before anything that may exit. */
void tl_par_start(int *argc, char ***argv);

/* Collective.  Ends it. */
void tl_par_end(void);

/* Local. */
int tl_par_proc(void);
int tl_par_nprocs(void);
int tl_par_nhere(void); /* the procs of this host */

/* Whether a launcher (mpirun, srun) started this process: such a process must not exit before tl_par_start. */
bool tl_par_launched(void);

/* Collective.  The worst status of all procs, and its message, everywhere: from then on all hold one answer. */
tl_status tl_par_agree(tl_status status, tl_error *err);

/* Collective.  n bytes of proc 0 to all. */
void tl_par_bcast(void *bytes, size_t n);

/* Collective.  Gives every proc a copy of its own of the *n rows of `size` bytes at *rows on proc 0.  The caller
 * frees *rows, also after a failure. */
void tl_par_share(void **rows, size_t *n, size_t size);

/* Collective.  Every proc's n bytes, in proc order, to *all on proc 0, which the caller frees; empty elsewhere. */
void tl_par_gather(const void *bytes, size_t n, tl_bytes *all);

/* Collective.  Rows of `size` bytes change procs: row i of the n goes to proc to[i].  *out (the caller frees) holds the
 * *nout rows for this proc, in the order of the procs they come from and, of one proc, as they lay there.  They travel
 * in blocks of about 1 MB. */
void tl_par_shuffle(const void *rows, size_t n, size_t size, const int32_t *to, void **out, size_t *nout);

/* Collective.  No proc goes on before all are here. */
void tl_par_barrier(void);

/* What is known of a message between two procs before its bytes are taken. */
typedef struct tl_envelope {
    int from, tag;
    size_t n;
} tl_envelope;

/* Local.  Sends, and returns when the bytes may be reused; sleeps where it must wait and calls idle(arg), if given,
 * between.  Bulk data goes in messages of about 1 MB. */
void tl_par_send(int to, int tag, const void *bytes, size_t n, void (*idle)(void *), void *arg);

/* Local.  Whether a message has come, and which. */
bool tl_par_probe(tl_envelope *envelope);

/* Local.  Takes the message that tl_par_probe found, into `bytes` of envelope->n. */
void tl_par_take(const tl_envelope *envelope, void *bytes);

/* Local.  Sleeps a little, at most until something comes from a proc of this host; the more often it is called in a row
 * (*spins, start with 0), the longer. */
void tl_par_nap(unsigned *spins);

/* Ends all procs, for faults of ours alone; code is 1..125. */
_Noreturn void tl_par_abort(int code);

#endif
