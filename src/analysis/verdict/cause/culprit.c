/* culprit.c - the table of culprits: a row per culprit, or one row that says why none is named. */
#include "tlmpi/analysis/verdict/cause/culprit.h"
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/parameters.h"
#include <math.h>

/* --------------------------------------------------------------------------------------------------------- why none */

static bool has_work(tl_tables *tables)
{
    const tl_table *breakdown = tl_tables_get(tables, &tl_breakdown_schema);
    TL_ROWS (const tl_breakdown, row, breakdown)
        if (row->rank == -1 && row->device == -1 && row->step == -1 && row->wall_ns > 0)
            return true;
    return false;
}

/* Whether `row` has stronger findings than `than`: a pattern of its lateness, then a larger gain, then larger blame. */
static bool says_more(const tl_straggler *row, const tl_straggler *than)
{
    bool has = row->pattern != TL_PATTERN_NONE, had = than->pattern != TL_PATTERN_NONE;
    if (has != had)
        return has;
    return row->gain_ns != than->gain_ns ? row->gain_ns > than->gain_ns : row->blame_ns > than->blame_ns;
}

/* Returns the inconclusive straggler row with the strongest findings (says_more); NULL: none is inconclusive. */
static const tl_straggler *most_inconclusive(const tl_judgement *j)
{
    const tl_straggler *most = NULL;
    TL_ROWS (const tl_straggler, row, j->stragglers)
        if (row->verdict == TL_VERDICT_INCONCLUSIVE && tl_rank_has_work(j->ranks, row->rank) &&
            (most == NULL || says_more(row, most)))
            most = row;
    return most;
}

/* Whether the job's time contains the offset of clocks; or clocks hide most arrivals, and no replay outweighs that:
 * clocks are untied, there is no replay, or the clock uncertainty, once a step, reaches the least cost.  A replay
 * compares the ranks' own time. */
static bool clocks_forbid(const tl_facts *f)
{
    double apart_ns = (double)f->trust.clock_uncertainty_ns * (double)f->trust.nsteps;
    return f->trust.apart ||
           (tl_clocks_blur(f) && f->trust.blurred > f->trust.matched / 2 &&
            (f->trust.untied || !f->trust.simulated || apart_ns >= TL_VERDICT_LEAST_COST * (double)f->wall_ns));
}

/* Returns why no culprit is named: the first reason that holds. */
static tl_culprit_kind kind_without_culprit(const tl_judgement *j)
{
    const tl_trust *t = &j->facts.trust;

    return !has_work(j->tables)       ? TL_CULPRIT_NO_WORK
           : t->nranks < 2            ? TL_CULPRIT_ONE_RANK
           : j->inconclusive != NULL  ? TL_CULPRIT_INCONCLUSIVE
           : t->collectives == 0      ? TL_CULPRIT_SILENCE
           : t->matched == 0          ? TL_CULPRIT_UNMATCHED
           : clocks_forbid(&j->facts) ? TL_CULPRIT_INCONCLUSIVE
                                      : TL_CULPRIT_NONE;
}

/* Fills the excess of each rank over its peers in steps that are not left out, ns, and the rank with the largest. */
static void find_excess(tl_judgement *j)
{
    j->excess_ns = tl_arena_zeroed(&j->arena, j->stragglers->n, sizeof *j->excess_ns);
    for (size_t i = 0; i < j->stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(j->stragglers, i);
        const tl_blame_step *s;
        for (size_t at = tl_table_from_rank(j->blame_steps, row->rank);
             at < j->blame_steps->n && (s = tl_table_row(j->blame_steps, at))->rank == row->rank; at++)
            j->excess_ns[i] = tl_ns_sum(j->excess_ns[i], tl_step_is_left_out(j->health, s->step) ? 0 : s->excess_ns);
        if (j->excess_ns[i] > j->largest_excess_ns) {
            j->largest_excess = row;
            j->largest_excess_ns = j->excess_ns[i];
        }
    }
}

/* Time of a rank in a step that may make the step longer, and which of the steps, in ascending order of this time, is
 * as long as steps usually are. */
typedef struct spending {
    int64_t (*ns_of)(const tl_breakdown *row);
    size_t (*usual_of)(size_t n);
} spending;

static int64_t outside_communication(const tl_breakdown *row)
{
    return row->wall_ns - row->comm_exposed_ns;
}

static int64_t in_transfers(const tl_breakdown *row)
{
    return row->comm_transfer_ns;
}

/* A fault in less than TL_MOST_SHARE of the steps leaves this step of n as it was. */
static size_t lower_fifth(size_t n)
{
    return (size_t)((1 - TL_MOST_SHARE) * (double)(n - 1));
}

static int64_t usual_ns_of(const spending *spent, int64_t *ns, size_t n)
{
    tl_ns_sort(ns, n);
    return n > 0 ? ns[spent->usual_of(n)] : 0;
}

/* Steps of the job, ascending by number.  longer_ns: excess over the usual step if that is a large cost, else 0. */
typedef struct long_steps {
    int32_t *step;
    int64_t *longer_ns, *scratch;
    size_t n;
} long_steps;

static long_steps find_long_steps(tl_judgement *j, const spending *spent)
{
    const tl_blame_step *rows = tl_table_row(j->blame_steps, 0);
    size_t n = j->blame_steps->n + 1;
    long_steps out = { tl_arena_take(&j->arena, n, sizeof *out.step),
                       tl_arena_take(&j->arena, n, sizeof *out.longer_ns),
                       tl_arena_take(&j->arena, n, sizeof *out.scratch), 0 };
    for (size_t i = 0; i < j->blame_steps->n && rows[i].rank == rows[0].rank; i++)
        if (rows[i].step >= 0 && !tl_step_is_left_out(j->health, rows[i].step)) {
            out.step[out.n] = rows[i].step;
            out.scratch[out.n] = out.longer_ns[out.n] = rows[i].step_ns;
            out.n++;
        }
    const int64_t usual_ns = usual_ns_of(spent, out.scratch, out.n);
    for (size_t s = 0; s < out.n; s++) {
        int64_t longer_ns = tl_ns_between(out.longer_ns[s], usual_ns);
        bool large = longer_ns > 0 && (double)longer_ns >= TL_VERDICT_LARGE_COST * (double)out.longer_ns[s];
        out.longer_ns[s] = large ? longer_ns : 0;
    }
    return out;
}

/* Whether the rank whose rows of breakdown begin at *at spends more than usual in a long step, by at least half of the
 * step's excess.  Moves *at behind the rank's rows. */
static bool spends_more(const tl_table *breakdown, size_t *at, const spending *spent, const long_steps *steps)
{
    const tl_breakdown *rows = tl_table_row(breakdown, 0);
    size_t n = 0, begin = *at;
    for (; *at < breakdown->n && rows[*at].rank == rows[begin].rank; ++*at)
        if (rows[*at].device == -1 && tl_index_of(steps->step, steps->n, rows[*at].step) < steps->n && n < steps->n)
            steps->scratch[n++] = spent->ns_of(&rows[*at]);
    const int64_t usual_ns = usual_ns_of(spent, steps->scratch, n);
    for (size_t i = begin; n > 0 && i < *at; i++) {
        size_t s = rows[i].device == -1 ? tl_index_of(steps->step, steps->n, rows[i].step) : steps->n;
        if (s < steps->n && steps->longer_ns[s] > 0 && spent->ns_of(&rows[i]) - usual_ns >= steps->longer_ns[s] / 2)
            return true;
    }
    return false;
}

/* Whether a step takes longer by a large cost than usual, and a rank spends more time there outside of exposed
 * communication, or in transfers.  All ranks of a stage may do so, without a peer that shows their excess; a link, too,
 * that is alone of its kind. */
static bool has_long_step(tl_judgement *j)
{
    static const spending ways[] = { { outside_communication, tl_lower_middle }, { in_transfers, lower_fifth } };
    const tl_table *breakdown = tl_tables_get(j->tables, &tl_breakdown_schema);
    bool found = false;
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        const long_steps steps = find_long_steps(j, &ways[w]);
        for (size_t at = 0; !found && at < breakdown->n;)
            found = spends_more(breakdown, &at, &ways[w], &steps);
    }
    return found;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

tl_culprit tl_culprit_empty(const tl_judgement *j, tl_culprit_kind kind)
{
    return (tl_culprit){ .kind = (uint8_t)kind,
                         .rank = -1,
                         .peer = -1,
                         .link = -1,
                         .device = -1,
                         .pattern = TL_PATTERN_NONE,
                         .first_step = -1,
                         .last_step = -1,
                         .share_steps = NAN,
                         .gain_ns = -1,
                         .wall_ns = j->facts.wall_ns,
                         .cost_share = NAN,
                         .path_share = NAN,
                         .p_value = NAN,
                         .z = NAN,
                         .cause_share = NAN };
}

/* Completes the row of a culprit.  Its cost is the gain of its repair; a rank whose repair gains nothing is named for
 * its excess time, unless culprits that hide each other gain something together. */
static void fill_cost(const tl_judgement *j, tl_suspect *c)
{
    bool in_turn = j->nculprits > 1 && j->facts.together_gain_ns > 0;
    tl_culprit *row = &c->row;
    bool gains = row->gain_ns > 0 || (row->gain_ns == 0 && (c->rank == NULL || in_turn));
    row->cost_ns = gains ? row->gain_ns : row->excess_ns;
    row->cost_share = row->wall_ns > 0 && row->cost_ns > 0 ? (double)row->cost_ns / (double)row->wall_ns : 0;
    tl_doubts_write(j, c, row);
}

static tl_culprit row_without_culprit(const tl_judgement *j)
{
    tl_culprit row = tl_culprit_empty(j, j->no_culprit_kind);
    const tl_straggler *of = j->no_culprit_kind == TL_CULPRIT_NONE           ? j->largest_excess
                             : j->no_culprit_kind == TL_CULPRIT_INCONCLUSIVE ? j->inconclusive
                                                                             : NULL;
    if (of != NULL) {
        row.rank = of->rank;
        row.p_value = of->p_value;
        row.gain_ns = of->gain_ns;
        row.excess_ns = j->no_culprit_kind == TL_CULPRIT_NONE ? j->largest_excess_ns : 0;
    }
    tl_doubts_write(j, NULL, &row);
    return row;
}

static void fill_table(const tl_judgement *j)
{
    bool some =
        j->nculprits > 0 && j->no_culprit_kind != TL_CULPRIT_NO_WORK && j->no_culprit_kind != TL_CULPRIT_ONE_RANK;
    tl_table made = { .schema = &tl_culprit_schema };

    for (size_t i = 0; i < (some ? j->nculprits : 1); i++) {
        if (some)
            fill_cost(j, &j->culprits[i]);
        tl_culprit row = some ? j->culprits[i].row : row_without_culprit(j);
        row.culprit = (int32_t)i;
        tl_table_append(&made, &row, 1);
    }
    tl_table *out = tl_tables_get(j->tables, &tl_culprit_schema);
    tl_table_free(out);
    *out = made;
}

void tl_culprits_find(tl_tables *tables)
{
    tl_judgement j = { .tables = tables,
                       .ranks = tl_tables_get(tables, &tl_rank_schema),
                       .stragglers = tl_tables_get(tables, &tl_straggler_schema),
                       .blame_steps = tl_tables_get(tables, &tl_blame_step_schema),
                       .blame = tl_tables_get(tables, &tl_blame_schema),
                       .health = tl_tables_get(tables, &tl_health_schema) };

    tl_facts_find(tables, &j.facts);
    find_excess(&j);
    j.inconclusive = most_inconclusive(&j);
    j.no_culprit_kind = kind_without_culprit(&j);
    j.has_long_step = has_long_step(&j);
    tl_suspects_find(&j);
    fill_table(&j);
    tl_arena_free(&j.arena);
}

const tl_analysis tl_culprit_analysis = { .reduce = tl_culprits_find };
