/* par.h - parallel procs: all calls.
 *
 * Two implementations, chosen at link time: MPI (par_mpi*, the only files that depend on it), and a single proc
 * (par_serial.c).  A call is local, or collective: every proc makes it, in the same order.  No call blocks in the MPI
 * library while another proc may still work: waits test and sleep, so that 64 procs on 2 cores do not occupy them.
 *
 * The layer carries bytes and does not interpret them.  May use base.
 */
#ifndef TLMPI_PAR_PAR_H
#define TLMPI_PAR_PAR_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Collective.  Starts the procs; call it before any code that may exit. */
void tl_par_start(int *argc, char ***argv);

/* Collective.  Ends the procs' connection. */
void tl_par_end(void);

/* Local. */
int tl_par_proc(void);
int tl_par_nprocs(void);
int tl_par_nhere(void); /* number of procs on this host */

/* Whether a launcher (mpirun, srun) started this process: such a process must not exit before tl_par_start. */
bool tl_par_launched(void);

/* Collective.  Returns the worst status of all procs, with its message, on every proc. */
tl_status tl_par_agree(tl_status status, tl_error *err);

/* Collective.  Copies n bytes of proc 0 to all procs. */
void tl_par_bcast(void *bytes, size_t n);

/* Collective.  Gives every proc a copy of the *n rows of `size` bytes at *rows on proc 0.  The caller frees *rows, also
 * after a failure. */
void tl_par_share(void **rows, size_t *n, size_t size);

/* Collective.  Collects every proc's n bytes, in proc order, in *all on proc 0, which the caller frees; empty on other
 * procs. */
void tl_par_gather(const void *bytes, size_t n, tl_bytes *all);

/* Collective.  Redistributes rows of `size` bytes: row i of the n goes to proc to[i].  *out (the caller frees it) has
 * the *nout rows for this proc, in order of source proc, and for each in the original order.  They are sent in blocks
 * of about 1 MB. */
void tl_par_shuffle(const void *rows, size_t n, size_t size, const int32_t *to, void **out, size_t *nout);

/* Collective.  Returns once all procs have called it. */
void tl_par_barrier(void);

/* The description of a message between two procs, available before its bytes are received. */
typedef struct tl_envelope {
    int from, tag;
    size_t n;
} tl_envelope;

/* Local.  Sends, and returns when the bytes may be reused; while waiting it sleeps and calls idle(arg), if given.  Send
 * bulk data in messages of about 1 MB. */
void tl_par_send(int to, int tag, const void *bytes, size_t n, void (*idle)(void *), void *arg);

/* Local.  Returns whether a message has come; fills its envelope. */
bool tl_par_probe(tl_envelope *envelope);

/* Local.  Receives the message that tl_par_probe found, into `bytes` of envelope->n. */
void tl_par_take(const tl_envelope *envelope, void *bytes);

/* Local.  Sleeps a little, at most until something comes from a proc of this host; the longer, the more often it is
 * called in a row (*spins, start with 0). */
void tl_par_nap(unsigned *spins);

/* Ends all procs, after an internal error; code is 1..125. */
_Noreturn void tl_par_abort(int code);

#endif
