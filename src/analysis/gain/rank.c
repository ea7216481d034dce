/* rank.c - what the repair of one rank gains, and that of all ranks of one host.
 *
 * A repair is a replay of the job.  So that a large job costs no more of them than in proportion, not all ranks are
 * asked: those that others wait for most, those whose repair makes steps shorter in which they stand out, and those
 * that the verdict names.  Of the others nobody knows: -1.
 */
#include "parts.h"
#include "tlmpi/analysis/blame.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>
#include <string.h>

/* So many ranks that others wait for most, so many ranks at all, and so many hosts are repaired one by one. */
enum { CHARGED_MOST = 16, RANKS_MOST = 64, HOSTS_MOST = 16 };
/* So few of a role tell little of chance. */
enum { FEW = 3 };

/* ----------------------------------------------------------------------------------------------------------- ranks */

static int by_blame(const void *rows, uint32_t a, uint32_t b)
{
    const tl_straggler *r = rows;
    if ((r[a].pattern != TL_PATTERN_NONE) != (r[b].pattern != TL_PATTERN_NONE))
        return r[a].pattern != TL_PATTERN_NONE ? -1 : 1;
    return (r[a].blame_ns < r[b].blame_ns) - (r[a].blame_ns > r[b].blame_ns);
}

/* How many ranks are of its role, itself among them. */
static size_t alike_of(const tl_gains *g, size_t rank)
{
    size_t n = 0;
    for (size_t r = 0; r < g->in->nranks; r++)
        n += g->in->roles[r] == g->in->roles[rank];
    return n;
}

/* What a repair of the marked rank would gain if nothing was wrong with it: chance makes every rank late now and then,
 * and that would stay.  The last of n ranks comes 1/n of a mean delay later than the last of n - 1, where lateness has a
 * tail.  What the same repair of another of its role, no suspect, gains on top of this one is the next of these: 1/(n - 1)
 * of it, and so n/(n - 1) times what is asked for.  Of three ranks and fewer the late one is half of what others are
 * compared with, or all: what their repair gains is too little as it is. */
static int64_t by_chance(tl_gains *g, const tl_table *stragglers, size_t rank, const tl_scenario *repaired,
                         int64_t gain_ns)
{
    size_t nranks = g->in->nranks, tried = 0, alike = alike_of(g, rank);
    int64_t sum = 0;

    if (gain_ns <= 0)
        return 0;
    for (size_t i = 1; i < nranks; i++) {
        size_t r = (rank + i) % nranks;
        if (g->in->roles[r] != g->in->roles[rank] || tried == TL_OTHERS_MOST ||
            tl_verdict_suspects(tl_table_row(stragglers, r), stragglers))
            continue;
        g->marked[r] = 1;
        sum += tl_whatif_gain(g->whatif, repaired, NULL) - gain_ns;
        g->marked[r] = 0;
        tried++;
    }
    int64_t mean_ns = tried > 0 && sum > 0 ? sum / (int64_t)tried : 0;
    return alike > FEW ? tl_portion(mean_ns, (int64_t)alike - 1, (int64_t)alike) : mean_ns;
}

/* What it gains.  Where it stands out in the smaller part of the steps alone, what it has more in the others is chance,
 * unless it is more than half as much again; a step may be late for what was done in the one before.  One other rank may have
 * paused in just these steps: of so few, all steps tell what is chance. */
static int64_t gain_of(tl_gains *g, const tl_table *stragglers, const tl_straggler *row, size_t rank)
{
    const tl_scenario always = { .repaired = g->marked };
    tl_scenario repaired = always;
    int64_t all_ns = tl_whatif_gain(g->whatif, &repaired, NULL);
    int64_t window = (int64_t)row->last_step - row->first_step + 1;
    size_t nsteps = tl_whatif_facts_of(g->whatif)->nsteps;
    if (row->pattern == TL_PATTERN_NONE)
        return all_ns;
    if (2 * window > (int64_t)nsteps)
        return all_ns - by_chance(g, stragglers, rank, &always, all_ns);
    repaired.in_steps = true;
    repaired.first_step = row->first_step - 1;
    repaired.last_step = row->last_step;
    int64_t ns = tl_whatif_gain(g->whatif, &repaired, NULL);
    if (all_ns > ns + ns / 2)
        return all_ns - by_chance(g, stragglers, rank, &always, all_ns);
    if (alike_of(g, rank) > FEW)
        return ns - by_chance(g, stragglers, rank, &repaired, ns);
    return ns - tl_portion(by_chance(g, stragglers, rank, &always, all_ns), window, (int64_t)nsteps);
}

static bool repair(tl_gains *g, const tl_table *stragglers, tl_straggler *row)
{
    size_t r = tl_gains_index(g, row->rank);
    if (r == g->in->nranks)
        return true;
    g->marked[r] = 1;
    int64_t gain_ns = gain_of(g, stragglers, row, r);
    int64_t own_ns = tl_whatif_run(g->whatif, &(tl_scenario){ .ideal = true, .own = g->marked }, NULL);
    g->marked[r] = 0;
    row->gain_ns = gain_ns > 0 ? gain_ns : 0;
    row->slowdown = tl_gains_over(g->unchanged_ns, g->unchanged_ns - row->gain_ns);
    g->nrepaired++;
    return tl_gains_add(g, TL_SCENARIO_RANK, row->rank, TL_NPARTS, row->gain_ns, tl_gains_over(own_ns, g->ideal_ns));
}

/* Whether the repair of the rank in row i makes steps shorter in which it stands out: it may be named. */
static bool shortens_steps(const tl_gains *g, const tl_table *stragglers, size_t i)
{
    const tl_table *steps = tl_tables_get(g->tables, &tl_blame_step_schema);
    size_t nsteps = stragglers->n > 0 ? steps->n / stragglers->n : 0;
    for (size_t s = i * nsteps; s < (i + 1) * nsteps; s++) {
        const tl_blame_step *step = tl_table_row(steps, s);
        if (step->flagged && step->gain_ns > 0)
            return true;
    }
    return false;
}

bool tl_gains_of_ranks(tl_gains *g)
{
    tl_table *stragglers = tl_tables_get(g->tables, &tl_straggler_schema);
    uint32_t *order = tl_malloc((stragglers->n + 1) * sizeof *order);
    bool whole = order != NULL;

    for (uint32_t i = 0; whole && i < stragglers->n; i++)
        order[i] = i;
    whole = whole && tl_sort_index(order, stragglers->n, by_blame, stragglers->rows);
    for (size_t i = 0; whole && i < stragglers->n && g->nrepaired < RANKS_MOST; i++)
        if (i < CHARGED_MOST || shortens_steps(g, stragglers, order[i]))
            whole = repair(g, stragglers, tl_table_row(stragglers, order[i]));
    free(order);
    return whole;
}

bool tl_gains_of_named(tl_gains *g)
{
    tl_table *stragglers = tl_tables_get(g->tables, &tl_straggler_schema);
    size_t before = g->nrepaired;
    bool whole = true;

    for (size_t i = 0; whole && i < stragglers->n && g->nrepaired < RANKS_MOST; i++) {
        tl_straggler *row = tl_table_row(stragglers, i);
        if (row->verdict == TL_VERDICT_STRAGGLER && row->gain_ns < 0)
            whole = repair(g, stragglers, row);
    }
    return whole && (g->nrepaired == before || tl_table_sort(tl_tables_get(g->tables, &tl_whatif_row_schema)));
}

/* ----------------------------------------------------------------------------------------------------------- hosts */

/* Some of the order of ranks by host: [first, end). */
typedef struct one_host {
    size_t first, end;
    int64_t blame_ns;
    int32_t lowest; /* rank */
} one_host;

static int by_host(const void *rows, uint32_t a, uint32_t b)
{
    const tl_rank *r = rows;
    int names = memcmp(r[a].host, r[b].host, sizeof r[a].host);
    return names != 0 ? names : TL_COMPARE(r[a].rank, r[b].rank);
}

static int by_charge(const void *a, const void *b)
{
    const one_host *x = a, *y = b;
    if (x->blame_ns != y->blame_ns)
        return x->blame_ns > y->blame_ns ? -1 : 1;
    return TL_COMPARE(x->lowest, y->lowest);
}

/* What the ranks of each host are charged; *several: there are hosts beside each other.  How many hosts have names. */
static size_t list_hosts(const tl_gains *g, const tl_table *ranks, const uint32_t *order, one_host *hosts,
                         bool *several)
{
    const tl_table *stragglers = tl_tables_get(g->tables, &tl_straggler_schema);
    size_t n = 0, runs = 0;

    for (size_t i = 0, end; i < ranks->n; i = end) {
        const tl_rank *first = tl_table_row(ranks, order[i]);
        one_host host = { .first = i, .lowest = first->rank };
        for (end = i; end < ranks->n; end++) {
            const tl_rank *row = tl_table_row(ranks, order[end]);
            size_t r = tl_gains_index(g, row->rank);
            if (memcmp(row->host, first->host, sizeof row->host) != 0)
                break;
            if (r < stragglers->n)
                host.blame_ns = tl_ns_sum(host.blame_ns, ((const tl_straggler *)tl_table_row(stragglers, r))->blame_ns);
        }
        host.end = end;
        runs++;
        if (first->host[0] != 0)
            hosts[n++] = host;
    }
    *several = runs > 1;
    return n;
}

static bool repair_host(tl_gains *g, const tl_table *ranks, const uint32_t *order, const one_host *host)
{
    size_t marked = 0;
    bool whole = true;

    for (size_t i = host->first; i < host->end; i++) {
        size_t r = tl_gains_index(g, ((const tl_rank *)tl_table_row(ranks, order[i]))->rank);
        if (r == g->in->nranks)
            continue;
        g->marked[r] = 1;
        marked++;
    }
    if (marked > 0 && marked < g->in->nranks) {
        int64_t gain_ns = tl_whatif_gain(g->whatif, &(tl_scenario){ .repaired = g->marked }, NULL);
        whole = tl_gains_add(g, TL_SCENARIO_HOST, host->lowest, TL_NPARTS, gain_ns, NAN);
    }
    memset(g->marked, 0, g->in->nranks);
    return whole;
}

/* Where there are several: those that others wait for most. */
bool tl_gains_of_hosts(tl_gains *g)
{
    const tl_table *ranks = tl_tables_get(g->tables, &tl_rank_schema);
    uint32_t *order = tl_malloc((ranks->n + 1) * sizeof *order);
    one_host *hosts = tl_malloc((ranks->n + 1) * sizeof *hosts);
    bool whole = order != NULL && hosts != NULL, several = false;
    size_t n = 0;

    for (uint32_t i = 0; whole && i < ranks->n; i++)
        order[i] = i;
    whole = whole && tl_sort_index(order, ranks->n, by_host, ranks->rows);
    if (whole)
        n = list_hosts(g, ranks, order, hosts, &several);
    if (whole && n > 1)
        qsort(hosts, n, sizeof *hosts, by_charge);
    for (size_t i = 0; whole && several && i < n && i < HOSTS_MOST; i++)
        whole = repair_host(g, ranks, order, &hosts[i]);
    free(order);
    free(hosts);
    return whole;
}
