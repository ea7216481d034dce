/* clocks.c - clocks: each proc's collectives bound them, all procs agree on the bounds; then all times are brought to
 * the clocks that were found, and what ends still differ by tells how sure these are.
 *
 *     owners of collectives    bounds, agreed on round by round (clock.h)      a clock a rank, known to all
 *     owners of collectives    ends     ->  owners of ranks   scatter   ->     proc 0: table clock
 */
#include "internal.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Ends to the owners of their ranks. */
static tl_status move_ends(const tl_matching *m, tl_clock_end **moved, size_t *n, tl_error *err)
{
    const tl_job_facts facts = {
        .groups = m->groups, .ngroups = m->ngroups, .ranks = m->ranks, .nranks = m->nranks
    };
    tl_clock_end_list mine = { 0 };
    int32_t *to = NULL;
    bool ok = tl_clock_ends_take(m->set->participants.v, m->set->participants.n, &facts, &mine) &&
              (to = tl_malloc((mine.n + 1) * sizeof *to)) != NULL;

    for (size_t i = 0; ok && i < mine.n; i++)
        to[i] = (int32_t)(tl_hash_mix((uint64_t)mine.v[i].rank, 0) % (uint64_t)tl_par_nprocs());
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the clocks"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(mine.v, mine.n, sizeof *mine.v, to, (void **)moved, n, err);
    free(mine.v);
    free(to);
    return st;
}

/* What ends leave open, on all procs. */
static tl_status doubt(tl_matching *m, tl_error *err)
{
    tl_clock_end *ends = NULL;
    tl_clock_scatter *all = NULL;
    tl_clock_scatter_list mine = { 0 };
    size_t n = 0, nall = 0;

    tl_status st = move_ends(m, &ends, &n, err);
    if (st == TL_OK)
        st = tl_par_agree(tl_clock_scatters(ends, n, &mine) ? TL_OK : tl_fail_memory(err, "the clocks"), err);
    free(ends);
    if (st == TL_OK)
        st = tl_collect_rows(mine.v, mine.n, sizeof *mine.v, (void **)&all, &nall, NULL, err);
    free(mine.v);
    if (st == TL_OK && tl_par_proc() == 0)
        st = tl_clocks_fill(all, nall, m->ranks, m->nranks, m->clock_rows, err);
    free(all);
    st = tl_par_agree(st, err);
    if (st == TL_OK && m->nranks > 0)
        tl_par_bcast(m->ranks, m->nranks * sizeof *m->ranks);
    return st;
}

tl_status tl_match_clocks(tl_matching *m, tl_clock_mode mode, tl_error *err)
{
    static const tl_clock_procs procs = { tl_reduce_least, tl_reduce_sum };
    const tl_job_facts facts = { .ranks = m->ranks, .nranks = m->nranks };
    tl_status st =
        tl_clocks_find(m->set->participants.v, m->set->participants.n, mode, &procs, m->ranks, m->nranks, err);
    if (st != TL_OK)
        return st;
    tl_clocks_correct(m->set->participants.v, m->set->participants.n, &facts);
    return doubt(m, err);
}
