/* share.c - what proc 0 has, to all, with room made for it. */
#include "tlmpi/base/mem.h"
#include "tlmpi/par/par.h"

tl_status tl_par_share(void **rows, size_t *n, size_t size, tl_error *err)
{
    tl_status st = TL_OK;

    tl_par_bcast(n, sizeof *n);
    if (tl_par_proc() != 0) {
        *rows = tl_calloc(*n + 1, size);
        st = *rows != NULL ? TL_OK : tl_fail_memory(err, "what all procs know");
    }
    st = tl_par_agree(st, err);
    if (st == TL_OK && *n > 0)
        tl_par_bcast(*rows, *n * size);
    return st;
}
