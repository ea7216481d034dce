/* par_serial.c - par.h for a single proc. */
#include "local.h"

#include "tlmpi/base/part_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Ends a run that a launcher started in several copies: without MPI each would write the whole output.  The sleep keeps
 * mpirun from hanging, as it does if processes end while it is still starting others. */
static _Noreturn void refuse(void)
{
    if (tl_local_first())
        fprintf(stderr, "tlmpi: built without MPI, so it runs alone; a launcher started %d of it\n", tl_local_copies());
    nanosleep(&(struct timespec){ .tv_sec = 2 }, NULL);
    exit(2);
}

void tl_par_start(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (tl_local_copies() > 1)
        refuse();
}

void tl_par_end(void)
{
    tl_local_drop_all();
}

int tl_par_proc(void)
{
    return 0;
}

int tl_par_nprocs(void)
{
    return 1;
}

int tl_par_nhere(void)
{
    return 1;
}

tl_status tl_par_agree(tl_status status, tl_error *err)
{
    (void)err;
    return status;
}

void tl_par_bcast(void *bytes, size_t n)
{
    (void)bytes;
    (void)n;
}

void tl_par_gather(const void *bytes, size_t n, tl_bytes *all)
{
    *all = (tl_bytes){ 0 };
    tl_bytes_put(all, bytes, n);
}

void tl_par_shuffle(const void *rows, size_t n, size_t size, const int32_t *to, void **out, size_t *nout)
{
    (void)to;
    tl_local_shuffle(rows, n, size, out, nout);
}

void tl_par_barrier(void)
{
}

void tl_par_send(int to, int tag, const void *bytes, size_t n, void (*idle)(void *), void *arg)
{
    (void)to;
    (void)idle;
    (void)arg;
    tl_local_send(tag, bytes, n);
}

bool tl_par_probe(tl_envelope *envelope)
{
    return tl_local_probe(envelope);
}

void tl_par_take(const tl_envelope *envelope, void *bytes)
{
    (void)envelope;
    tl_local_take(bytes);
}

_Noreturn void tl_par_abort(int code)
{
    tl_unfinished_remove();
    exit(code >= 1 && code <= 125 ? code : 70);
}

void tl_par_nap(unsigned *spins)
{
    nanosleep(&(struct timespec){ .tv_nsec = tl_local_nap_ns(spins, 1000000L, 20000000L) }, NULL);
}
