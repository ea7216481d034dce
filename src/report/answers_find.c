/* answers_find.c - see answers_find.h. */
#include "answers_find.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

/* A link that costs less than this share of the wall time is slow, and nobody's verdict. */
static const double least_share = 0.008;
/* Who waits less than a tenth of what ranks wait in the mean, does not wait for it. */
enum { LEAST_OF_MEAN = 10 };

typedef struct finding {
    tl_tables *tables;
    tl_answers *out;
    int64_t *waits; /* [ranks]: by row of table rank, scratch */
    tl_step *steps; /* one a number, ascending: start_ns 0, end_ns the median length over ranks */
    size_t nsteps;
    int64_t *of_step; /* scratch [2 * nsteps]: pairs of a cost and a length */
} finding;

/* ------------------------------------------------------------------------------------------------------------ steps */

static int by_number(const void *a, const void *b)
{
    const tl_step *x = a, *y = b;
    int64_t x_ns = tl_ns_between(x->end_ns, x->start_ns), y_ns = tl_ns_between(y->end_ns, y->start_ns);
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x_ns > y_ns) - (x_ns < y_ns);
}

static bool list_steps(finding *f)
{
    const tl_table *table = tl_tables_get(f->tables, &tl_step_schema);
    size_t n = 0;

    f->steps = tl_malloc((table->n + 1) * sizeof *f->steps);
    f->of_step = tl_malloc(2 * (table->n + 1) * sizeof *f->of_step);
    if (f->steps == NULL || f->of_step == NULL)
        return false;
    for (size_t i = 0; i < table->n; i++) {
        const tl_step *row = tl_table_row(table, i);
        if (row->end_ns > row->start_ns)
            f->steps[n++] = *row;
    }
    if (n > 1)
        qsort(f->steps, n, sizeof *f->steps, by_number);
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && f->steps[to].step == f->steps[i].step; to++)
            ;
        const tl_step middle = f->steps[i + (to - i) / 2];
        f->steps[f->nsteps++] =
            (tl_step){ .step = middle.step, .end_ns = tl_ns_between(middle.end_ns, middle.start_ns) };
    }
    return true;
}

/* The whole trace where no steps are marked. */
static int64_t length_of(const finding *f, int32_t step)
{
    size_t low = 0, high = f->nsteps;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (f->steps[mid].step < step)
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->nsteps && f->steps[low].step == step ? f->steps[low].end_ns : f->out->wall_ns;
}

/* The first row of a rank, in a table whose rows are in the order of ranks: their first cell. */
static size_t first_of(const tl_table *table, int32_t rank)
{
    size_t low = 0, high = table->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const int32_t *of = tl_table_row(table, mid);
        if (*of < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int by_cost_of_step(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* What a rank cost in the steps in which it stands out. */
static void measure_steps(finding *f, tl_culprit *c)
{
    const tl_table *table = tl_tables_get(f->tables, &tl_blame_step_schema);
    size_t n = 0;

    for (size_t i = first_of(table, c->rank->rank); i < table->n; i++) {
        const tl_blame_step *row = tl_table_row(table, i);
        if (row->rank != c->rank->rank)
            break;
        if (!row->flagged)
            continue;
        int64_t length_ns = length_of(f, row->step), cost_ns = row->wall_ns < length_ns ? row->wall_ns : length_ns;
        c->nflagged++;
        c->lost_ns = tl_ns_add(c->lost_ns, cost_ns);
        if (n < f->nsteps || n == 0) {
            f->of_step[2 * n] = cost_ns;
            f->of_step[2 * n++ + 1] = length_ns;
        }
    }
    if (n == 0)
        return;
    qsort(f->of_step, n, 2 * sizeof *f->of_step, by_cost_of_step);
    c->step_cost_ns = c->gain_ns >= 0 ? c->gain_ns / (int64_t)c->nflagged : f->of_step[(n - 1) / 2 * 2];
    c->step_ns = f->of_step[(n - 1) / 2 * 2 + 1];
}

/* ---------------------------------------------------------------------------------------------------------- waiting */

/* Row of table rank, its number of rows for nobody. */
static size_t row_of(const tl_table *ranks, int32_t rank)
{
    size_t row = first_of(ranks, rank);
    return row < ranks->n && ((const tl_rank *)tl_table_row(ranks, row))->rank == rank ? row : ranks->n;
}

static const tl_rank *rank_of(finding *f, int32_t rank)
{
    const tl_table *ranks = tl_tables_get(f->tables, &tl_rank_schema);
    size_t row = row_of(ranks, rank);
    return row < ranks->n ? tl_table_row(ranks, row) : NULL;
}

/* The waits for one rank; what one end of a link waited for the other is left out. */
static int32_t add_waits(finding *f, tl_culprit *c, int32_t to_rank, int32_t other)
{
    const tl_table *blame = tl_tables_get(f->tables, &tl_blame_schema),
                   *ranks = tl_tables_get(f->tables, &tl_rank_schema);
    int32_t unnamed = 0;

    for (size_t i = first_of(blame, to_rank); i < blame->n; i++) {
        const tl_blame *row = tl_table_row(blame, i);
        if (row->to_rank != to_rank)
            break;
        int64_t ns = tl_ns_add(row->direct_ns, row->indirect_ns);
        size_t at = row->from_rank >= 0 ? row_of(ranks, row->from_rank) : ranks->n;
        if (row->from_rank >= 0 && row->from_rank == other)
            continue;
        c->blame_ns = tl_ns_add(c->blame_ns, ns);
        if (row->cause <= TL_NPARTS)
            c->parts[row->cause] = tl_ns_add(c->parts[row->cause], ns);
        if (at < ranks->n)
            f->waits[at] = tl_ns_add(f->waits[at], ns);
        else if (ns > 0 && row->waiters > unnamed)
            unnamed = row->waiters;
    }
    return unnamed;
}

/* Who waited for it, and how long; fills waits.  Returns the least wait that counts. */
static int64_t count_waiters(finding *f, tl_culprit *c)
{
    size_t nranks = tl_tables_get(f->tables, &tl_rank_schema)->n;
    int64_t sum = 0;
    int32_t unnamed, more = 0;

    for (size_t i = 0; i < nranks; i++)
        f->waits[i] = 0;
    if (c->rank != NULL) {
        unnamed = add_waits(f, c, c->rank->rank, -1);
    } else {
        unnamed = c->link->rank >= 0 ? add_waits(f, c, c->link->rank, c->link->peer) : 0;
        more = c->link->peer >= 0 ? add_waits(f, c, c->link->peer, c->link->rank) : 0;
    }
    unnamed = more > unnamed ? more : unnamed;
    for (size_t i = 0; i < nranks; i++)
        sum = tl_ns_add(sum, f->waits[i]);
    int64_t least = nranks > 0 ? sum / (int64_t)nranks / LEAST_OF_MEAN + 1 : 1;
    for (size_t i = 0; i < nranks; i++)
        c->nwaiters += f->waits[i] >= least;
    if (unnamed > 0 && (size_t)unnamed > c->nwaiters)
        c->nwaiters = (size_t)unnamed;
    return least;
}

static bool list_waiters(finding *f)
{
    const tl_table *ranks = tl_tables_get(f->tables, &tl_rank_schema);
    tl_culprit again = { .rank = f->out->culprits[0].rank, .link = f->out->culprits[0].link };

    f->out->waiters = tl_malloc((ranks->n + 1) * sizeof *f->out->waiters);
    if (f->out->waiters == NULL)
        return false;
    int64_t least = count_waiters(f, &again);
    for (size_t i = 0; i < ranks->n; i++)
        if (f->waits[i] >= least)
            f->out->waiters[f->out->nwaiters++] = ((const tl_rank *)tl_table_row(ranks, i))->rank;
    return true;
}

/* --------------------------------------------------------------------------------------------------------- culprits */

static double path_share_of(finding *f, int32_t rank)
{
    const tl_table *path = tl_tables_get(f->tables, &tl_path_row_schema);
    int64_t ns = 0;

    for (size_t i = first_of(path, rank); i < path->n; i++) {
        const tl_path_row *row = tl_table_row(path, i);
        if (row->rank != rank)
            break;
        ns = tl_ns_add(ns, row->path_ns);
    }
    return f->out->path.ns > 0 ? (double)ns / (double)f->out->path.ns : NAN;
}

/* -1: the rank was not among those that were repaired. */
static int64_t gain_of(finding *f, const tl_straggler *row)
{
    const tl_table *whatif = tl_tables_get(f->tables, &tl_whatif_row_schema);
    for (size_t i = 0; i < whatif->n; i++) {
        const tl_whatif_row *w = tl_table_row(whatif, i);
        if (w->scenario == TL_SCENARIO_RANK && w->rank == row->rank)
            return row->gain_ns;
    }
    return -1;
}

static void take_rank(finding *f, const tl_straggler *row)
{
    tl_culprit *c = &f->out->culprits[f->out->nculprits++];

    *c = (tl_culprit){ .rank = row,
                       .of = rank_of(f, row->rank),
                       .pattern = (tl_pattern)row->pattern,
                       .first_step = row->first_step,
                       .last_step = row->last_step,
                       .p_value = row->p_value,
                       .gain_ns = gain_of(f, row),
                       .path_share = path_share_of(f, row->rank) };
    measure_steps(f, c);
    count_waiters(f, c);
}

static void take_link(finding *f, const tl_slow_link_row *row)
{
    tl_culprit *c = &f->out->culprits[f->out->nculprits++];

    *c = (tl_culprit){ .link = row,
                       .of = rank_of(f, row->rank),
                       .peer = rank_of(f, row->peer),
                       .pattern = (tl_pattern)row->pattern,
                       .first_step = row->first_step,
                       .last_step = row->last_step,
                       .p_value = row->p_value,
                       .gain_ns = f->out->trust.simulated ? row->gain_ns : -1,
                       .lost_ns = row->surplus_ns,
                       .path_share = NAN };
    if (row->rank >= 0 && row->peer >= 0)
        c->path_share = path_share_of(f, row->rank) + path_share_of(f, row->peer);
    count_waiters(f, c);
}

static bool is_end_of(const tl_straggler *row, const tl_slow_link_row *link)
{
    return row->verdict == TL_VERDICT_STRAGGLER && row->cause == TL_CAUSE_SLOW_LINK &&
           (row->rank == link->rank || row->rank == link->peer);
}

/* Ranks whose delay is that of their link are told with it. */
static bool has_link(const tl_straggler *row, const tl_table *links)
{
    for (size_t i = 0; i < links->n; i++)
        if (is_end_of(row, tl_table_row(links, i)))
            return true;
    return false;
}

static bool counts(const finding *f, const tl_slow_link_row *link, const tl_table *stragglers)
{
    for (size_t i = 0; i < stragglers->n; i++)
        if (is_end_of(tl_table_row(stragglers, i), link))
            return true;
    int64_t lost = f->out->trust.simulated ? link->gain_ns : link->surplus_ns;
    return (double)lost >= least_share * (double)f->out->wall_ns;
}

static int64_t number_of(const tl_culprit *c)
{
    return c->rank != NULL ? c->rank->rank : c->link->rank;
}

/* Largest first. */
static int by_cost(const void *a, const void *b)
{
    const tl_culprit *x = a, *y = b;
    if (x->gain_ns != y->gain_ns)
        return x->gain_ns > y->gain_ns ? -1 : 1;
    if (x->lost_ns != y->lost_ns)
        return x->lost_ns > y->lost_ns ? -1 : 1;
    return (number_of(x) > number_of(y)) - (number_of(x) < number_of(y));
}

static bool take_all(finding *f)
{
    const tl_table *stragglers = tl_tables_get(f->tables, &tl_straggler_schema),
                   *links = tl_tables_get(f->tables, &tl_slow_link_row_schema);
    size_t nranks = tl_tables_get(f->tables, &tl_rank_schema)->n;

    f->waits = tl_malloc((nranks + 1) * sizeof *f->waits);
    f->out->culprits = tl_calloc(stragglers->n + links->n + 1, sizeof *f->out->culprits);
    if (f->waits == NULL || f->out->culprits == NULL || !list_steps(f))
        return false;
    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        if (row->verdict == TL_VERDICT_STRAGGLER && !has_link(row, links))
            take_rank(f, row);
    }
    for (size_t i = 0; i < links->n; i++)
        if (counts(f, tl_table_row(links, i), stragglers))
            take_link(f, tl_table_row(links, i));
    if (f->out->nculprits > 1)
        qsort(f->out->culprits, f->out->nculprits, sizeof *f->out->culprits, by_cost);
    return f->out->nculprits == 0 || list_waiters(f);
}

tl_status tl_culprits_find(tl_tables *tables, tl_answers *out, tl_error *err)
{
    finding f = { .tables = tables, .out = out };
    bool whole = take_all(&f);

    free(f.waits);
    free(f.steps);
    free(f.of_step);
    return whole ? TL_OK : tl_fail_memory(err, "the verdict");
}
