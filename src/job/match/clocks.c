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
static void move_samples(const tl_matching *m, tl_clock_sample **moved, size_t *n)
{
    const tl_job_facts facts = {
        .groups = m->groups, .ngroups = m->ngroups, .ranks = m->ranks, .nranks = m->nranks
    };
    tl_clock_samples mine = { 0 };
    int32_t *to = NULL;
    tl_clock_samples_take(m->set->participants.v, m->set->participants.n, &facts, &mine);
    to = tl_malloc((mine.n + 1) * sizeof *to);

    for (size_t i = 0; i < mine.n; i++)
        to[i] = (int32_t)(mine.v[i].tie % (uint64_t)tl_par_nprocs());
    tl_par_shuffle(mine.v, mine.n, sizeof *mine.v, to, (void **)moved, n);
    free(mine.v);
    free(to);
}

/* What the samples say, on all procs. */
static void share_ends(tl_clock_sample *samples, size_t n, int64_t cut_ns, tl_clock_end **all, size_t *nall)
{
    tl_clock_ends mine = { 0 };
    tl_clock_ends_fit(samples, n, cut_ns, &mine);

    free(*all);
    *all = NULL;
    tl_collect_rows(mine.v, mine.n, sizeof *mine.v, (void **)all, nall, NULL);
    free(mine.v);
    tl_par_share((void **)all, nall, sizeof **all);
    tl_clock_ends_sort(*all, *nall);
}

static void find_ends(const tl_matching *m, tl_clock_end **ends, size_t *n)
{
    tl_clock_sample *samples = NULL;
    size_t nsamples = 0;

    move_samples(m, &samples, &nsamples);
    share_ends(samples, nsamples, TL_TIME_UNKNOWN, ends, n);
    int64_t cut_ns = tl_clock_ends_cut(*ends, *n);
    if (cut_ns != TL_TIME_UNKNOWN)
        share_ends(samples, nsamples, cut_ns, ends, n);
    free(samples);
}

void tl_match_clocks(tl_matching *m, tl_clock_mode mode)
{
    static const tl_clock_procs procs = { tl_reduce_least, tl_reduce_sum };
    const tl_job_facts facts = { .ranks = m->ranks, .nranks = m->nranks };
    const tl_participants *set = m->set;
    tl_clock_end *ends = NULL;
    size_t n = 0;

    tl_clock_stays_find(set->participants.v, set->participants.n, &procs, m->ranks, m->nranks, m->groups, m->ngroups);
    find_ends(m, &ends, &n);
    tl_clocks_find(set->participants.v, set->participants.n, ends, n, mode, &procs, m->groups, m->ngroups,
                   m->ranks, m->nranks);
    if (tl_par_proc() == 0)
        tl_clock_rows_fill(m->ranks, m->nranks, ends, n, m->clock_rows);
    free(ends);
    tl_clocks_correct(m->set->participants.v, m->set->participants.n, &facts);
}
