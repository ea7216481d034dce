/* clocks.c - clocks: each proc's collectives bound them, all procs agree on the bounds; then all times are brought to
 * the clocks that were found.
 *
 *     owners of collectives    samples   ->   owners of ties   ends   ->   all procs
 *     owners of collectives    bounds, agreed on round by round (clock.h)    a clock a rank, known to all
 */
#include "internal.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Samples to the owners of their ties. */
static tl_status move_samples(const tl_matching *m, tl_clock_sample **moved, size_t *n, tl_error *err)
{
    const tl_job_facts facts = {
        .groups = m->groups, .ngroups = m->ngroups, .ranks = m->ranks, .nranks = m->nranks
    };
    tl_clock_samples mine = { 0 };
    int32_t *to = NULL;
    bool ok = tl_clock_samples_take(m->set->participants.v, m->set->participants.n, &facts, &mine) &&
              (to = tl_malloc((mine.n + 1) * sizeof *to)) != NULL;

    for (size_t i = 0; ok && i < mine.n; i++)
        to[i] = (int32_t)(mine.v[i].tie % (uint64_t)tl_par_nprocs());
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the clocks"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(mine.v, mine.n, sizeof *mine.v, to, (void **)moved, n, err);
    free(mine.v);
    free(to);
    return st;
}

/* What the samples say, on all procs. */
static tl_status share_ends(tl_clock_sample *samples, size_t n, int64_t cut_ns, tl_clock_end **all, size_t *nall,
                            tl_error *err)
{
    tl_clock_ends mine = { 0 };
    bool ok = tl_clock_ends_fit(samples, n, cut_ns, &mine);

    free(*all);
    *all = NULL;
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the clocks"), err);
    if (st == TL_OK)
        st = tl_collect_rows(mine.v, mine.n, sizeof *mine.v, (void **)all, nall, NULL, err);
    free(mine.v);
    if (st == TL_OK)
        st = tl_par_share((void **)all, nall, sizeof **all, err);
    if (st == TL_OK)
        tl_clock_ends_sort(*all, *nall);
    return st;
}

static tl_status find_ends(const tl_matching *m, tl_clock_end **ends, size_t *n, tl_error *err)
{
    tl_clock_sample *samples = NULL;
    size_t nsamples = 0;

    tl_status st = move_samples(m, &samples, &nsamples, err);
    if (st == TL_OK)
        st = share_ends(samples, nsamples, TL_TIME_UNKNOWN, ends, n, err);
    int64_t cut_ns = st == TL_OK ? tl_clock_ends_cut(*ends, *n) : TL_TIME_UNKNOWN;
    if (cut_ns != TL_TIME_UNKNOWN)
        st = share_ends(samples, nsamples, cut_ns, ends, n, err);
    free(samples);
    return st;
}

tl_status tl_match_clocks(tl_matching *m, tl_clock_mode mode, tl_error *err)
{
    static const tl_clock_procs procs = { tl_reduce_least, tl_reduce_sum };
    const tl_job_facts facts = { .ranks = m->ranks, .nranks = m->nranks };
    const tl_participants *set = m->set;
    tl_clock_end *ends = NULL;
    size_t n = 0;

    tl_status st = find_ends(m, &ends, &n, err);
    if (st == TL_OK)
        st = tl_clocks_find(set->participants.v, set->participants.n, ends, n, mode, &procs, m->ranks, m->nranks, err);
    if (st == TL_OK && tl_par_proc() == 0)
        tl_clock_rows_fill(m->ranks, m->nranks, ends, n, m->clock_rows);
    free(ends);
    if (st == TL_OK)
        tl_clocks_correct(m->set->participants.v, m->set->participants.n, &facts);
    return st;
}
