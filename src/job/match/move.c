/* move.c - participants change procs: to the owner of their key, then to whom their time belongs. */
#include "internal.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Participants of this proc as rows that go to procs. */
static tl_status move_participants(tl_participants *set, const int32_t *to, tl_error *err)
{
    void *moved = NULL;
    size_t n = 0;
    if (tl_par_nprocs() == 1)
        return TL_OK;
    tl_status st =
        tl_par_shuffle(set->participants.v, set->participants.n, sizeof *set->participants.v, to, &moved, &n, err);

    if (st != TL_OK)
        return st;
    free(set->participants.v);
    set->participants.v = moved;
    set->participants.n = set->participants.cap = n;
    return TL_OK;
}

tl_status tl_match_to_owners(tl_matching *m, tl_error *err)
{
    size_t n = m->set->participants.n;
    int32_t *to = tl_malloc((n + 1) * sizeof *to);
    uint64_t nprocs = (uint64_t)tl_par_nprocs();

    for (size_t i = 0; to != NULL && i < n; i++)
        to[i] = (int32_t)(m->set->participants.v[i].key % nprocs);
    tl_status st = tl_par_agree(to != NULL ? TL_OK : tl_fail_memory(err, "the owners of collectives"), err);
    if (st == TL_OK)
        st = move_participants(m->set, to, err);
    free(to);
    if (st == TL_OK) {
        st = tl_participants_sort(m->set->participants.v, m->set->participants.n)
                 ? TL_OK
                 : tl_fail_memory(err, "the order of collectives");
        st = tl_par_agree(st, err);
    }
    return st;
}

/* --------------------------------------------------------------------------------------------------------- by time */

/* Each proc shows so many of its times; from all of them the borders between procs are chosen. */
enum { SAMPLES = 128 };

/* Borders that part the collectives of all procs in nprocs shares of about one size; the same everywhere.  Wherever
 * they lie, the order of the whole is the same. */
static tl_status choose_borders(const tl_collective_run *runs, size_t n, int64_t **borders, size_t *nborders,
                                tl_error *err)
{
    int64_t sample[SAMPLES], *all = NULL;
    size_t nsample = n < SAMPLES ? n : SAMPLES, nall = 0, nprocs = (size_t)tl_par_nprocs();

    for (size_t i = 0; i < nsample; i++)
        sample[i] = runs[i * n / nsample].s_first_ns;
    tl_status st = tl_collect_rows(sample, nsample, sizeof *sample, (void **)&all, &nall, NULL, err);
    if (st == TL_OK && tl_par_proc() == 0) {
        tl_ns_sort(all, nall);
        *nborders = nall > 0 ? nprocs - 1 : 0;
        *borders = tl_calloc(nprocs, sizeof **borders);
        st = *borders != NULL ? TL_OK : tl_fail_memory(err, "the order of collectives");
        for (size_t p = 0; st == TL_OK && *borders != NULL && p < *nborders; p++)
            (*borders)[p] = all[(p + 1) * nall / nprocs];
    }
    free(all);
    st = tl_par_agree(st, err);
    return st == TL_OK ? tl_par_share((void **)borders, nborders, sizeof **borders, err) : st;
}

/* The proc of a time: how many borders lie at or before it. */
static int32_t proc_of(const int64_t *borders, size_t n, int64_t ns)
{
    size_t low = 0;
    TL_BISECT(low, n, mid, borders[mid] <= ns);
    return (int32_t)low;
}

/* Where the participants of each run go. */
static int32_t *goals(const tl_matching *m, const tl_collective_run *runs, size_t n, const int64_t *borders,
                      size_t nborders)
{
    int32_t *to = tl_malloc((m->set->participants.n + 1) * sizeof *to);
    for (size_t r = 0; to != NULL && r < n; r++) {
        int32_t proc = proc_of(borders, nborders, runs[r].s_first_ns);
        for (size_t i = 0; i < runs[r].n; i++)
            to[runs[r].first + i] = proc;
    }
    return to;
}

/* This proc's runs, in order of time. */
static tl_status order(const tl_matching *m, tl_collective_run **runs, size_t *n, tl_error *err)
{
    bool ok = tl_runs_make(m->set->participants.v, m->set->participants.n, runs, n) &&
              tl_runs_by_time(m->set->participants.v, *runs, *n);
    return tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the order of collectives"), err);
}

tl_status tl_match_by_time(tl_matching *m, tl_collective_run **runs, size_t *nruns, int64_t *first, tl_error *err)
{
    int64_t *borders = NULL;
    int32_t *to = NULL;
    size_t nborders = 0, before = 0, total = 0;

    tl_status st = order(m, runs, nruns, err);
    if (st == TL_OK)
        st = choose_borders(*runs, *nruns, &borders, &nborders, err);
    if (st == TL_OK) {
        to = goals(m, *runs, *nruns, borders, nborders);
        st = tl_par_agree(to != NULL ? TL_OK : tl_fail_memory(err, "the order of collectives"), err);
    }
    free(*runs);
    *runs = NULL;
    if (st == TL_OK)
        st = move_participants(m->set, to, err);
    free(to);
    free(borders);
    if (st == TL_OK) {
        st = tl_participants_sort(m->set->participants.v, m->set->participants.n)
                 ? TL_OK
                 : tl_fail_memory(err, "the order of collectives");
        st = tl_par_agree(st, err);
    }
    if (st == TL_OK)
        st = order(m, runs, nruns, err);
    if (st == TL_OK)
        st = tl_count_before(*nruns, &before, &total, err);
    *first = (int64_t)before;
    return st;
}
