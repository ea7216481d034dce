/* move.c - participants change procs: to the owner of their key, then to the owner of their time. */
#include "internal.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Participants of this proc as rows that go to procs. */
static void move_participants(tl_participants *set, const int32_t *to)
{
    void *moved = NULL;
    size_t n = 0;
    if (tl_par_nprocs() == 1)
        return;
    tl_par_shuffle(set->participants.v, set->participants.n, sizeof *set->participants.v, to, &moved, &n);

    free(set->participants.v);
    set->participants.v = moved;
    set->participants.n = set->participants.cap = n;
}

void tl_match_to_owners(tl_matching *m)
{
    size_t n = m->set->participants.n;
    int32_t *to = tl_malloc((n + 1) * sizeof *to);
    uint64_t nprocs = (uint64_t)tl_par_nprocs();

    for (size_t i = 0; i < n; i++)
        to[i] = (int32_t)(m->set->participants.v[i].key % nprocs);
    move_participants(m->set, to);
    free(to);
    tl_participants_sort(m->set->participants.v, m->set->participants.n);
}

/* --------------------------------------------------------------------------------------------------------- by time */

/* Arrival times of its collectives that each proc samples; the borders between procs are chosen from all samples. */
enum { SAMPLES = 128 };

/* Borders that part the collectives of all procs in nprocs shares of about one size; the same everywhere.  Wherever
 * they lie, the order of the whole is the same. */
static void choose_borders(const tl_collective_run *runs, size_t n, int64_t **borders, size_t *nborders)
{
    int64_t sample[SAMPLES], *all = NULL;
    size_t nsample = n < SAMPLES ? n : SAMPLES, nall = 0, nprocs = (size_t)tl_par_nprocs();

    for (size_t i = 0; i < nsample; i++)
        sample[i] = runs[i * n / nsample].s_first_ns;
    tl_collect_rows(sample, nsample, sizeof *sample, (void **)&all, &nall, NULL);
    if (tl_par_proc() == 0) {
        tl_ns_sort(all, nall);
        *nborders = nall > 0 ? nprocs - 1 : 0;
        *borders = tl_calloc(nprocs, sizeof **borders);
        for (size_t p = 0; p < *nborders; p++)
            (*borders)[p] = all[(p + 1) * nall / nprocs];
    }
    free(all);
    tl_par_share((void **)borders, nborders, sizeof **borders);
}

/* The proc of a time: how many borders lie at or before it. */
static int32_t proc_of(const int64_t *borders, size_t n, int64_t ns)
{
    size_t low = 0;
    TL_BISECT(low, n, mid, borders[mid] <= ns);
    return (int32_t)low;
}

/* Returns the proc that each participant goes to: the one that owns the first arrival of its run. */
static int32_t *goals(const tl_matching *m, const tl_collective_run *runs, size_t n, const int64_t *borders,
                      size_t nborders)
{
    int32_t *to = tl_malloc((m->set->participants.n + 1) * sizeof *to);
    for (size_t r = 0; r < n; r++) {
        int32_t proc = proc_of(borders, nborders, runs[r].s_first_ns);
        for (size_t i = 0; i < runs[r].n; i++)
            to[runs[r].first + i] = proc;
    }
    return to;
}

/* This proc's runs, in order of time. */
static void order(const tl_matching *m, tl_collective_run **runs, size_t *n)
{
    tl_runs_make(m->set->participants.v, m->set->participants.n, runs, n);
    tl_runs_by_time(m->set->participants.v, *runs, *n);
}

void tl_match_by_time(tl_matching *m, tl_collective_run **runs, size_t *nruns, int64_t *first)
{
    int64_t *borders = NULL;
    int32_t *to = NULL;
    size_t nborders = 0, before = 0, total = 0;

    order(m, runs, nruns);
    choose_borders(*runs, *nruns, &borders, &nborders);
    to = goals(m, *runs, *nruns, borders, nborders);
    free(*runs);
    *runs = NULL;
    move_participants(m->set, to);
    free(to);
    free(borders);
    tl_participants_sort(m->set->participants.v, m->set->participants.n);
    order(m, runs, nruns);
    tl_count_before(*nruns, &before, &total);
    *first = (int64_t)before;
}
