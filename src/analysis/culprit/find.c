/* find.c - who holds the job up: ranks by themselves, ranks together, links. */
#include "internal.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct finding {
    tl_tables *tables;
    tl_judgement *out;
    tl_measures *measures;
    size_t nmembers; /* of all culprits found up to now */
} finding;

/* ----------------------------------------------------------------------------------------------------------- gains */

/* What the replay says of a repair of this rank, or (the lowest of) this host; -1: it was not tried. */
static int64_t simulated_gain(finding *f, tl_scenario_kind scenario, int32_t rank)
{
    const tl_whatif_row *row = tl_whatif_row_of(tl_tables_get(f->tables, &tl_whatif_row_schema), scenario, rank);
    return row == NULL ? -1 : row->gain_ns > 0 ? row->gain_ns : 0;
}

/* -------------------------------------------------------------------------------------------------------- one rank */

static void take_rank(finding *f, const tl_straggler *row)
{
    tl_suspect *c = &f->out->culprits[f->out->nculprits++];
    int32_t *member = &f->out->members[f->nmembers++];

    *member = row->rank;
    *c = (tl_suspect){ .rank = row,
                       .members = member,
                       .nmembers = 1,
                       .same_cause = true,
                       .of = tl_rank_row(f->tables, row->rank),
                       .pattern = (tl_pattern)row->pattern,
                       .first_step = row->first_step,
                       .last_step = row->last_step,
                       .p_value = row->p_value,
                       .late_count = row->late_count,
                       .gain_ns = simulated_gain(f, TL_SCENARIO_RANK, row->rank) };
    tl_culprit_measure(f->measures, c);
}

/* --------------------------------------------------------------------------------------------------- several ranks */

/* Where the members lie: on one host of several, and whether they are all of it. */
static void find_host(finding *f, tl_suspect *c)
{
    const tl_table *ranks = tl_tables_get(f->tables, &tl_rank_schema);
    const tl_rank *first = tl_rank_row(f->tables, c->members[0]);
    uint64_t host = first != NULL ? tl_host_key(first) : 0;
    size_t here = 0;

    for (size_t i = 1; host != 0 && i < c->nmembers; i++) {
        const tl_rank *next = tl_rank_row(f->tables, c->members[i]);
        if (next == NULL || tl_host_key(next) != host)
            return;
    }
    for (size_t i = 0; host != 0 && i < ranks->n; i++)
        here += tl_host_key(tl_table_row(ranks, i)) == host;
    if (here == 0 || here == ranks->n)
        return;
    c->of = first;
    c->whole_host = here == c->nmembers;
}

/* Fills the pattern of all members' flagged steps together; NONE where no step is flagged.  drift: each member
 * drifts. */
static void find_pattern(const finding *f, tl_suspect *c, bool drift)
{
    if (c->nflagged == 0) {
        c->first_step = c->last_step = -1;
        c->pattern = TL_PATTERN_NONE;
        return;
    }
    size_t nsteps = f->out->facts.trust.nsteps, run = (size_t)((int64_t)c->last_step - c->first_step + 1);

    if (drift)
        c->pattern = TL_PATTERN_DRIFTING;
    else if ((double)c->nflagged >= TL_PERSISTENT_SHARE * (double)nsteps)
        c->pattern = TL_PATTERN_PERSISTENT;
    else if (c->nflagged == 1)
        c->pattern = TL_PATTERN_ONE_OFF;
    else
        c->pattern = run == c->nflagged ? TL_PATTERN_BOUNDED : TL_PATTERN_SPORADIC;
}

/* Joins all ranks found up to now into one culprit if repairing all of them gains at least twice as much as repairing
 * the best one: ranks that are late in turn, or alike, hide each other. */
static void join_ranks(finding *f)
{
    tl_judgement *out = f->out;
    tl_suspect all = out->culprits[0];

    if (out->nculprits < 2)
        return;
    all = (tl_suspect){ .members = out->members,
                        .nmembers = f->nmembers,
                        .same_cause = true,
                        .gain_ns = out->facts.together_gain_ns,
                        .first_step = INT32_MAX,
                        .last_step = INT32_MIN,
                        .p_value = NAN };
    const tl_suspect *worst = &out->culprits[0];
    bool drift = true;
    for (size_t i = 0; i < out->nculprits; i++) {
        const tl_suspect *c = &out->culprits[i];
        worst = c->gain_ns > worst->gain_ns ? c : worst;
        all.late_count += c->late_count;
        all.same_cause &= c->rank->cause == out->culprits[0].rank->cause;
        drift &= c->pattern == TL_PATTERN_DRIFTING;
        if (c->nflagged > 0) {
            all.first_step = c->first_step < all.first_step ? c->first_step : all.first_step;
            all.last_step = c->last_step > all.last_step ? c->last_step : all.last_step;
        }
        all.p_value = isnan(all.p_value) || c->p_value < all.p_value ? c->p_value : all.p_value;
    }
    all.rank = worst->rank;
    find_host(f, &all);
    int64_t host_gain_ns = all.whole_host ? simulated_gain(f, TL_SCENARIO_HOST, all.members[0]) : -1;
    all.gain_ns = host_gain_ns >= 0 ? host_gain_ns : all.gain_ns;
    if (all.gain_ns <= 0 || worst->gain_ns > all.gain_ns / 2)
        return;
    tl_culprit_measure(f->measures, &all);
    find_pattern(f, &all, drift);
    out->culprits[0] = all;
    out->nculprits = 1;
}

/* ----------------------------------------------------------------------------------------------------------- links */

static void take_link(finding *f, const tl_slow_link_row *row)
{
    tl_suspect *c = &f->out->culprits[f->out->nculprits++];
    int32_t *members = &f->out->members[f->nmembers];
    bool known = row->rank >= 0 && row->peer >= 0;

    if (known) {
        members[0] = row->rank < row->peer ? row->rank : row->peer;
        members[1] = row->rank < row->peer ? row->peer : row->rank;
        f->nmembers += 2;
    }
    *c = (tl_suspect){ .link = row,
                       .members = members,
                       .nmembers = known ? 2 : 0,
                       .of = tl_rank_row(f->tables, row->rank),
                       .peer = tl_rank_row(f->tables, row->peer),
                       .pattern = (tl_pattern)row->pattern,
                       .first_step = row->first_step,
                       .last_step = row->last_step,
                       .p_value = row->p_value,
                       .gain_ns = f->out->facts.trust.simulated ? row->gain_ns : -1,
                       .excess_ns = row->excess_ns };
    tl_culprit_measure(f->measures, c);
}

static bool is_end_of(const tl_straggler *row, const tl_slow_link_row *link)
{
    return row->verdict == TL_VERDICT_STRAGGLER && row->cause == TL_CAUSE_SLOW_LINK &&
           (row->rank == link->rank || row->rank == link->peer);
}

/* Whether a row of table link already tells the rank's delay. */
static bool has_link(const tl_straggler *row, const tl_table *links)
{
    for (size_t i = 0; i < links->n; i++)
        if (is_end_of(row, tl_table_row(links, i)))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------- all */

static int64_t number_of(const tl_suspect *c)
{
    return c->rank != NULL ? c->rank->rank : c->link->rank;
}

/* Largest first. */
static int by_cost(const void *a, const void *b)
{
    const tl_suspect *x = a, *y = b;
    if (x->gain_ns != y->gain_ns)
        return x->gain_ns > y->gain_ns ? -1 : 1;
    if (x->excess_ns != y->excess_ns)
        return x->excess_ns > y->excess_ns ? -1 : 1;
    return TL_COMPARE(number_of(x), number_of(y));
}

void tl_suspects_find(tl_judgement *judgement, tl_measures *measures)
{
    finding all = { .tables = judgement->tables, .out = judgement, .measures = measures }, *f = &all;
    const tl_table *stragglers = tl_tables_get(f->tables, &tl_straggler_schema),
                   *links = tl_tables_get(f->tables, &tl_slow_link_row_schema);

    f->out->culprits = tl_calloc(stragglers->n + links->n + 1, sizeof *f->out->culprits);
    f->out->members = tl_calloc(stragglers->n + 2 * links->n + 1, sizeof *f->out->members);
    tl_measures_begin(measures);
    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        if (row->verdict == TL_VERDICT_STRAGGLER && !has_link(row, links))
            take_rank(f, row);
    }
    join_ranks(f);
    for (size_t i = 0; i < links->n; i++)
        take_link(f, tl_table_row(links, i));
    if (f->out->nculprits > 1)
        qsort(f->out->culprits, f->out->nculprits, sizeof *f->out->culprits, by_cost);
}
