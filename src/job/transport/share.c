/* share.c - rows that proc 0 has, to all; and what all have, to proc 0. */
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

void tl_collect_rows(const void *rows, size_t n, size_t size, void **out, size_t *nout, size_t *counts)
{
    size_t bytes = 0;
    tl_par_gather(rows, n * size, out, &bytes, counts);

    *nout = bytes / size;
    for (int p = 0; counts != NULL && tl_par_proc() == 0 && p < tl_par_nprocs(); p++)
        counts[p] /= size;
}

void tl_count_before(size_t n, size_t *before, size_t *total)
{
    size_t *all = NULL, nprocs = 0;
    tl_collect_rows(&n, 1, sizeof n, (void **)&all, &nprocs, NULL);

    tl_par_share((void **)&all, &nprocs, sizeof *all);
    *before = *total = 0;
    for (size_t p = 0; p < nprocs; p++) {
        *before += p < (size_t)tl_par_proc() ? all[p] : 0;
        *total += all[p];
    }
    free(all);
}

static void share_each(int64_t *values, size_t n, int64_t (*of)(int64_t a, int64_t b))
{
    int64_t *all = NULL;
    size_t nall = 0;

    if (tl_par_nprocs() == 1 || n == 0)
        return;
    tl_collect_rows(values, n, sizeof *values, (void **)&all, &nall, NULL);
    for (size_t i = n; i < nall; i++)
        all[i % n] = of(all[i % n], all[i]);
    if (nall > 0)
        memcpy(values, all, n * sizeof *values);
    free(all);
    tl_par_bcast(values, n * sizeof *values);
}

void tl_reduce_least(int64_t *values, size_t n)
{
    share_each(values, n, tl_ns_min);
}

void tl_reduce_sum(int64_t *values, size_t n)
{
    share_each(values, n, tl_ns_sum);
}
