/* share.c - rows that proc 0 has, to all; and what all have, to proc 0. */
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

tl_status tl_collect_rows(const void *rows, size_t n, size_t size, void **out, size_t *nout, size_t *counts,
                          tl_error *err)
{
    size_t bytes = 0;
    tl_status st = tl_par_gather(rows, n * size, out, &bytes, counts, err);

    *nout = bytes / size;
    for (int p = 0; counts != NULL && st == TL_OK && tl_par_proc() == 0 && p < tl_par_nprocs(); p++)
        counts[p] /= size;
    return st;
}

tl_status tl_count_before(size_t n, size_t *before, size_t *total, tl_error *err)
{
    size_t *all = NULL, nprocs = 0;
    tl_status st = tl_collect_rows(&n, 1, sizeof n, (void **)&all, &nprocs, NULL, err);

    if (st == TL_OK)
        st = tl_par_share((void **)&all, &nprocs, sizeof *all, err);
    *before = *total = 0;
    for (size_t p = 0; st == TL_OK && p < nprocs; p++) {
        *before += p < (size_t)tl_par_proc() ? all[p] : 0;
        *total += all[p];
    }
    free(all);
    return st;
}

static tl_status share_each(int64_t *values, size_t n, int64_t (*of)(int64_t a, int64_t b), tl_error *err)
{
    int64_t *all = NULL;
    size_t nall = 0;

    if (tl_par_nprocs() == 1 || n == 0)
        return TL_OK;
    tl_status st = tl_collect_rows(values, n, sizeof *values, (void **)&all, &nall, NULL, err);
    for (size_t i = n; st == TL_OK && i < nall; i++)
        all[i % n] = of(all[i % n], all[i]);
    if (st == TL_OK && nall > 0)
        memcpy(values, all, n * sizeof *values);
    free(all);
    if (st == TL_OK)
        tl_par_bcast(values, n * sizeof *values);
    return st;
}

tl_status tl_reduce_least(int64_t *values, size_t n, tl_error *err)
{
    return share_each(values, n, tl_ns_min, err);
}

tl_status tl_reduce_sum(int64_t *values, size_t n, tl_error *err)
{
    return share_each(values, n, tl_ns_sum, err);
}
