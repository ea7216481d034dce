/* suspect.c - selects the stragglers to explain, the steps to look at, and the peers to compare with. */
#include "tlmpi/analysis/cause.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* The largest number of peers in a comparison. */
enum { PEERS_MOST = 64 };

static bool is_straggler(const tl_straggler *row)
{
    return row->verdict == TL_VERDICT_STRAGGLER;
}

void tl_suspects_list(const tl_table *stragglers, uint32_t **suspects, size_t *n)
{
    *n = 0;
    *suspects = tl_malloc((stragglers->n + 1) * sizeof **suspects);
    for (uint32_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        if (is_straggler(row) && row->cause != TL_CAUSE_UNKNOWN && row->cause != TL_CAUSE_SLOW_LINK &&
            row->cause != TL_CAUSE_OTHER_GROUP)
            (*suspects)[(*n)++] = i;
    }
}

static int64_t role_of(const tl_cause_input *in, int32_t rank)
{
    size_t r = tl_index_of(in->ranks, in->nranks, rank);
    return r < in->nranks ? (int64_t)in->roles[r] : -1;
}

/* Lists the suspect's peers: ranks of its role or, with `any`, all ranks; stragglers only if there are no others.  A
 * suspect with marked steps is compared only with ranks that have marked steps. */
static size_t list_peers(const tl_cause_input *in, const tl_table *stragglers, const tl_straggler *suspect, bool any,
                         int32_t *peers)
{
    int64_t role = role_of(in, suspect->rank);
    size_t n = 0;
    for (int with_stragglers = 0; n == 0 && with_stragglers < 2; with_stragglers++)
        for (size_t i = 0; i < stragglers->n; i++) {
            const tl_straggler *row = tl_table_row(stragglers, i);
            if (suspect->steps_from == TL_STEPS_MARKED && row->steps_from != TL_STEPS_MARKED)
                continue;
            if (row->rank != suspect->rank && (with_stragglers || !is_straggler(row)) &&
                (any || role_of(in, row->rank) == role))
                peers[n++] = row->rank;
        }
    if (n <= PEERS_MOST)
        return n;
    for (size_t i = 0; i < PEERS_MOST; i++)
        peers[i] = peers[i * n / PEERS_MOST];
    return PEERS_MOST;
}

/* Returns the begin and fills the end of a rank's rows in the table of steps. */
static size_t step_rows_of(const tl_table *steps, int32_t rank, size_t *end)
{
    size_t first = tl_table_from_rank(steps, rank);
    for (*end = first; *end < steps->n && ((const tl_blame_step *)tl_table_row(steps, *end))->rank == rank; ++*end)
        ;
    return first;
}

void tl_asking_make(const tl_cause_input *in, tl_tables *tables, const tl_straggler *row, tl_asking *a)
{
    const tl_table *steps = tl_tables_get(tables, &tl_blame_step_schema),
                   *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    size_t end, first = step_rows_of(steps, row->rank, &end);
    a->ranks = tl_malloc((stragglers->n + 1) * sizeof *a->ranks);
    a->steps = tl_malloc((end - first + 1) * sizeof *a->steps);
    a->others = tl_malloc((end - first + 1) * sizeof *a->others);
    a->ranks[0] = row->rank;
    a->against = (tl_against)row->against;
    a->nranks = 1 + (row->against == TL_AGAINST_OWN_STEPS ? 0 : list_peers(in, stragglers, row, false, a->ranks + 1));
    for (size_t i = first; i < end; i++) {
        const tl_blame_step *step = tl_table_row(steps, i);
        if (!step->flagged)
            continue;
        a->steps[a->nsteps++] = step->step;
        a->least_ns = tl_ns_add(a->least_ns, (int64_t)(in->least_cost * (double)step->step_ns));
    }
    for (size_t i = first; a->nranks == 1 && i < end && a->nothers < PEERS_MOST; i++) {
        const tl_blame_step *step = tl_table_row(steps, i);
        if (!step->flagged && row->pattern != TL_PATTERN_NONE)
            a->others[a->nothers++] = step->step;
    }
    if (row->steps_from != TL_STEPS_MARKED) { /* without step marks, work by name has no steps: all of it is compared */
        a->steps[0] = TL_ALL_STEPS;
        a->nsteps = 1;
        a->nothers = 0;
    }
    if (a->nranks == 1 && a->nothers < TL_MEDIAN_LEAST) {
        a->nothers = 0;
        a->against = TL_AGAINST_STAGES;
        a->nranks = 1 + list_peers(in, stragglers, row, true, a->ranks + 1);
    }
}
