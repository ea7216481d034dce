/* share.c - what proc 0 has, to all, with room made for it. */
#include "tlmpi/base/mem.h"
#include "tlmpi/par/par.h"

void tl_par_share(void **rows, size_t *n, size_t size)
{
    tl_par_bcast(n, sizeof *n);
    if (tl_par_proc() != 0)
        *rows = tl_calloc(*n + 1, size);
    if (*n > 0)
        tl_par_bcast(*rows, *n * size);
}
