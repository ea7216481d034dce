/* suspect.c - who is asked, about which steps and against whom; and what is made of the answer. */
#include "tlmpi/analysis/cause.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* All stragglers are asked for; of others that stand out only so many as make up this number. */
enum { SUSPECTS = 8, PEERS_MOST = 64 };

/* Fewer steps than so many tell little of what is usual: then other stages do. */
enum { OTHERS_LEAST = 3 };

static bool is_straggler(const tl_straggler *row)
{
    return row->verdict == TL_VERDICT_STRAGGLER;
}

/* Stragglers first. */
static int by_suspicion(const void *rows, uint32_t a, uint32_t b)
{
    const tl_straggler *r = rows;
    if (is_straggler(&r[a]) != is_straggler(&r[b]))
        return is_straggler(&r[a]) ? -1 : 1;
    return (r[a].blame_ns < r[b].blame_ns) - (r[a].blame_ns > r[b].blame_ns);
}

bool tl_suspects_list(const tl_table *stragglers, uint32_t **suspects, size_t *n)
{
    uint32_t *order = tl_malloc((stragglers->n + 1) * sizeof *order);
    size_t m = 0, named = 0;

    *n = 0;
    *suspects = order;
    if (order == NULL)
        return false;
    for (uint32_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        named += is_straggler(row);
        if (is_straggler(row) || row->pattern != TL_PATTERN_NONE)
            order[m++] = i;
    }
    if (!tl_sort_index(order, m, by_suspicion, stragglers->rows))
        return false;
    size_t most = named > SUSPECTS ? named : SUSPECTS;
    *n = m < most ? m : most;
    return true;
}

static int64_t role_of(const tl_cause_input *in, int32_t rank)
{
    size_t r = tl_index_of(in->ranks, in->nranks, rank);
    return r < in->nranks ? (int64_t)in->roles[r] : -1;
}

/* Ranks of its role, or of any; others that are stragglers themselves only where there is nobody else.  With one that
 * is told by steps only those are compared that are. */
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

/* The rows of one rank in the table of steps: [first, *end). */
static size_t steps_of(const tl_table *steps, int32_t rank, size_t *end)
{
    size_t first = tl_table_from_rank(steps, rank);
    for (*end = first; *end < steps->n && ((const tl_blame_step *)tl_table_row(steps, *end))->rank == rank; ++*end)
        ;
    return first;
}

/* Where none of its own is flagged, those in which the ranks stand out that it is late with, or all. */
static bool in_window(const tl_straggler *row, const tl_blame_step *step)
{
    return row->pattern == TL_PATTERN_NONE || (step->step >= row->first_step && step->step <= row->last_step);
}

bool tl_asking_make(const tl_cause_input *in, tl_tables *tables, const tl_straggler *row, tl_asking *a,
                    int64_t *lost_ns)
{
    const tl_table *steps = tl_tables_get(tables, &tl_blame_step_schema),
                   *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    size_t end, first = steps_of(steps, row->rank, &end);
    a->ranks = tl_malloc((stragglers->n + 1) * sizeof *a->ranks);
    a->steps = tl_malloc((end - first + 1) * sizeof *a->steps);
    a->others = tl_malloc((end - first + 1) * sizeof *a->others);
    if (a->ranks == NULL || a->steps == NULL || a->others == NULL)
        return false;
    a->ranks[0] = row->rank;
    a->nranks = 1 + list_peers(in, stragglers, row, false, a->ranks + 1);
    *lost_ns = 0;
    for (int flagged = 1; a->nsteps == 0 && flagged >= 0; flagged--)
        for (size_t i = first; i < end; i++) {
            const tl_blame_step *step = tl_table_row(steps, i);
            if (!(flagged ? step->flagged : in_window(row, step)))
                continue;
            a->steps[a->nsteps++] = step->step;
            *lost_ns += step->wall_ns;
        }
    for (size_t i = first; a->nranks == 1 && i < end && a->nothers < PEERS_MOST; i++) {
        const tl_blame_step *step = tl_table_row(steps, i);
        if (!step->flagged && row->pattern != TL_PATTERN_NONE)
            a->others[a->nothers++] = step->step;
    }
    if (row->steps_from != TL_STEPS_MARKED) { /* what it did is told by marks alone: all of it together */
        a->steps[0] = TL_ALL_STEPS;
        a->nsteps = 1;
        a->nothers = 0;
    }
    if (a->nranks == 1 && a->nothers < OTHERS_LEAST) {
        a->nothers = 0;
        a->nranks = 1 + list_peers(in, stragglers, row, true, a->ranks + 1);
    }
    return true;
}

/* Charges may count one delay several times, in collectives that follow upon one another; but not that often. */
static const int64_t charged_most = 20;

int64_t tl_gain_of_asked(tl_tables *tables, const tl_straggler *row)
{
    if (row->gain_ns < 0)
        return 0;
    const tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    for (size_t i = 0; i < whatif->n; i++) {
        const tl_whatif_row *of = tl_table_row(whatif, i);
        bool others = of->scenario == TL_SCENARIO_SUSPECTS ||
                      (of->scenario == TL_SCENARIO_CAUSE && of->cause == TL_ACTIVITY_HOST);
        if (others && of->gain_ns / 2 >= row->gain_ns)
            return 0;
    }
    return row->gain_ns;
}

void tl_take_cause(const tl_cause_found *found, int64_t lost_ns, tl_straggler *row)
{
    int64_t cost_ns = found->awaited_ns > 0 && found->awaited_ns < lost_ns ? found->awaited_ns : lost_ns;
    if (!found->found || row->cause == TL_CAUSE_SLOW_LINK || found->ns < cost_ns / 2 ||
        found->ns < lost_ns / charged_most)
        return;
    row->cause = (uint8_t)found->cause;
    row->cause_share = found->share;
    row->cause_from = TL_CAUSE_FROM_PEERS;
}
