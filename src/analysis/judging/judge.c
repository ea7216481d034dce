/* judge.c - who is a straggler: what the tests have found, against what its repair gains. */
#include "tlmpi/analysis/outlier.h"
#include "tlmpi/analysis/blame.h"
#include "judging.h"
#include "tlmpi/base/mem.h"
#include "parts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranks that are late in turn must cost this share together. */
static const double together_share = 0.05;
/* Where a test of steps has nothing to stand on: last in this many collectives, and this many times its share of them.
 */
enum { LAST_LEAST = 10, LAST_TIMES = 2 };
/* A replay knows nothing of ranks without a trace: who is charged at least half of all waiting, and made others
 * wait this share of its steps, not just by chance, though a repair gains less than a tenth of that, is judged by the
 * waits. */
static const double waited_share = 0.05, most_of_all = 0.5, explained = 0.1;
static const double significant = 0.01, matters = 0.01;
/* What gains less than this share of the steps that it lies in is nobody's verdict. */
static const double least_gain = 0.008;
/* What gains less than this share of the steps in which it stands out costs nothing, whatever its steps gain one by one. */
static const double next_to_nothing = 0.002;

bool tl_is_unexplained(const tl_explaining *e, tl_pattern pattern, double p)
{
    double own = e->blame_ns > 0 ? 1 - e->comm_ns / e->blame_ns : 0;
    bool always = isnan(p) ? pattern == TL_PATTERN_PERSISTENT : p <= significant;
    return !e->waits_known && always && e->steps_ns > 0 && e->waited_ns * own >= waited_share * e->steps_ns &&
           e->gain_ns < explained * e->waited_ns && e->blame_ns * own >= most_of_all * e->all_ns;
}

/* What stands in the rows, as the test wants it. */
typedef struct weighing {
    double *cost_ns, *step_ns, *p_value;
    bool *flagged;
    tl_standing *found;
} weighing;

/* Several ranks that are late in turn: repairing one gains little, repairing all of them much. */
static bool late_in_turn(const tl_verdict_gains *gains, const tl_table *straggler, double flagged_ns)
{
    int64_t alone = 0, suspects = 0;
    for (size_t i = 0; i < straggler->n; i++) {
        const tl_straggler *row = tl_table_row(straggler, i);
        if (!tl_verdict_suspects(row, straggler))
            continue;
        alone += row->gain_ns > 0 ? row->gain_ns : 0;
        suspects++;
    }
    return suspects > 1 && alone < gains->together_ns / 2 && (double)gains->together_ns >= together_share * flagged_ns;
}

/* Two that are late by turns hide each other: what the repair of all suspects gains beyond that of any other of them alone, as a
 * share of the steps; 0 where they do not hide each other. */
static double hidden_share(const tl_verdict_gains *gains, const tl_table *straggler, const tl_straggler *own,
                           double flagged_ns)
{
    int64_t alone = 0, most = 0;
    for (size_t i = 0; i < straggler->n; i++) {
        const tl_straggler *row = tl_table_row(straggler, i);
        if (!tl_verdict_suspects(row, straggler))
            continue;
        alone += row->gain_ns > 0 ? row->gain_ns : 0;
        if (row != own)
            most = row->gain_ns > most ? row->gain_ns : most;
    }
    return gains->simulated && alone < gains->together_ns / 2 && flagged_ns > 0
               ? (double)(gains->together_ns - most) / flagged_ns
               : 0;
}

/* Whether it comes last more often than is its share. */
static bool is_last_often(const tl_verdict_input *in, const tl_table *straggler, const tl_straggler *row)
{
    int64_t all = 0;
    for (size_t i = 0; i < straggler->n; i++)
        all += ((const tl_straggler *)tl_table_row(straggler, i))->late_count;
    return row->late_count >= LAST_LEAST && row->late_count * (int64_t)in->nranks >= LAST_TIMES * all;
}

static tl_explaining explain(const tl_verdict_input *in, const tl_table *blame_step, size_t rank, const bool *flagged)
{
    const tl_blame_step *steps = tl_table_row(blame_step, 0);
    size_t nsteps = in->nsteps;
    tl_explaining e = { .waits_known = in->waits_known, .comm_ns = tl_charged_for_comm(in, rank, flagged) };
    for (size_t s = 0; s < nsteps; s++) {
        const tl_blame_step *own = &steps[rank * nsteps + s];
        if (!flagged[s])
            continue;
        e.steps_ns += (double)in->steps[s].ns;
        e.waited_ns += (double)own->wall_ns;
        e.gain_ns += (double)own->gain_ns;
        e.blame_ns += (double)own->blame_ns;
        for (size_t q = 0; q < in->nranks; q++)
            e.all_ns += (double)steps[q * nsteps + s].blame_ns;
    }
    return e;
}

bool tl_gain_matters(const tl_verdict_input *in, int32_t first_step, int32_t last_step, int64_t gain_ns)
{
    double ns = 0;
    for (size_t s = 0; s < in->nsteps; s++)
        if (in->steps[s].number >= first_step && in->steps[s].number <= last_step)
            ns += (double)in->steps[s].ns;
    return (double)gain_ns >= least_gain * ns;
}

static bool weighing_new(weighing *w, const tl_verdict_input *in)
{
    size_t n = in->nranks * in->nsteps + 1;
    *w = (weighing){ tl_malloc(n * sizeof *w->cost_ns), tl_malloc((in->nsteps + 1) * sizeof *w->step_ns),
                     tl_malloc((in->nranks + 1) * sizeof *w->p_value), tl_malloc(n * sizeof *w->flagged),
                     tl_calloc(in->nranks + 1, sizeof *w->found) };
    return w->cost_ns != NULL && w->step_ns != NULL && w->p_value != NULL && w->flagged != NULL && w->found != NULL;
}

static void weighing_free(weighing *w)
{
    free(w->cost_ns);
    free(w->step_ns);
    free(w->p_value);
    free(w->flagged);
    free(w->found);
}

/* Rows of both tables are those of tl_verdict_make, in its order. */
static tl_status weigh(weighing *w, const tl_verdict_input *in, const tl_table *blame_step, const tl_table *straggler,
                       tl_error *err)
{
    for (size_t s = 0; s < in->nsteps; s++)
        w->step_ns[s] = (double)in->steps[s].ns;
    for (size_t r = 0; r < in->nranks; r++) {
        const tl_straggler *row = tl_table_row(straggler, r);
        const tl_blame_step *steps = tl_table_row(blame_step, r * in->nsteps);
        for (size_t s = 0; s < in->nsteps; s++)
            w->flagged[r * in->nsteps + s] = steps[s].flagged != 0;
        const tl_explaining e = explain(in, blame_step, r, w->flagged + r * in->nsteps);
        bool waits = in->gain_ns == NULL || tl_is_unexplained(&e, (tl_pattern)row->pattern, row->p_value);
        w->p_value[r] = row->p_value;
        for (size_t s = 0; s < in->nsteps; s++)
            w->cost_ns[r * in->nsteps + s] = (double)(waits ? steps[s].wall_ns : steps[s].gain_ns);
    }
    const tl_costs costs = { w->cost_ns, w->step_ns, w->flagged, w->p_value,  in->sure_ns,
                             in->nranks, in->nsteps, in->begun,  in->in_turn, NULL };
    return tl_standing_of(&costs, w->found, err);
}

static double flagged_ns(const tl_verdict_input *in, const bool *flagged)
{
    double sum = 0;
    for (size_t s = 0; s < in->nsteps; s++)
        sum += flagged[s] ? (double)in->steps[s].ns : 0;
    return sum;
}

double tl_percent_of_step(double share)
{
    double of = share <= 1 ? share / (1 + share) : share / 2;
    return of < 1 ? 100 * of : 100;
}

/* A pattern of all steps, or of which the events are but the peaks, is told by all that are flagged; else other steps in which
 * it was the last are like those of any rank, and what counts lies between the events. */
static bool is_between_events(const tl_standing *found, uint8_t pattern)
{
    return found->ground == TL_GROUND_EVENT && !found->peaks && pattern != TL_PATTERN_PERSISTENT &&
           pattern != TL_PATTERN_DRIFTING;
}

/* "3 of 12 steps", and flagged ones that are none of the pattern. */
static void say_steps(const tl_standing *found, size_t count, size_t steps, char *out, size_t n)
{
    char more[40] = "";
    if (count < found->nflagged)
        snprintf(more, sizeof more, " (%zu more flagged)", found->nflagged - count);
    snprintf(out, n, "%zu of %zu steps%s", count, steps, more);
}

static void say_events(const tl_standing *found, bool between, size_t steps, char *reason, size_t n)
{
    size_t flagged = between ? found->nbetween : found->nflagged;
    double percent = tl_percent_of_step(between ? found->share_between : found->share);
    char which[48], in[40] = "";
    say_steps(found, flagged, steps, which, sizeof which);
    if (found->nevents < flagged)
        snprintf(in, sizeof in, "in %zu ", found->nevents);
    snprintf(reason, n, "%s, %.1f %% of them, %sfar more than any other rank", which, percent, in);
}

/* Flagged steps of the pattern. */
static size_t count_inside(const tl_verdict_input *in, const tl_straggler *row, const bool *flagged)
{
    size_t count = 0;
    for (size_t s = 0; s < in->nsteps; s++)
        count += flagged[s] && in->steps[s].number >= row->first_step && in->steps[s].number <= row->last_step;
    return count;
}

/* flagged: [nsteps] of the rank. */
static tl_verdict say(const tl_verdict_input *in, const tl_standing *found, const bool *flagged, tl_straggler *row)
{
    size_t steps = in->nsteps, n = sizeof row->reason;
    char *reason = row->reason, which[48];
    bool in_first = !in->begun && steps > 0 && flagged[0];
    say_steps(found, count_inside(in, row, flagged), steps, which, sizeof which);
    switch (found->ground) {
    case TL_GROUND_NONE:
        snprintf(reason, n, "no step in which it stands out among its peers");
        return TL_VERDICT_OK;
    case TL_GROUND_LITTLE:
        snprintf(reason, n, "stands out in %zu of %zu steps, but costs %.1f %% of them", found->nflagged, steps,
                 tl_percent_of_step(found->share));
        return TL_VERDICT_OK;
    case TL_GROUND_CHANCE:
        if (in_first && found->nflagged == 1) {
            snprintf(reason, n,
                     "stands out in the first recorded step alone, by %.1f %%: recordings that begin in turn look so",
                     tl_percent_of_step(found->share));
            return TL_VERDICT_OK;
        }
        snprintf(reason, n, "stands out in %zu of %zu steps by %.1f %%, as others do by chance", found->nflagged, steps,
                 tl_percent_of_step(found->share));
        return TL_VERDICT_OK;
    case TL_GROUND_EVENT:
        say_events(found, is_between_events(found, row->pattern), steps, reason, n);
        return TL_VERDICT_STRAGGLER;
    case TL_GROUND_STEADY: /* a test of its own, and no p_value */
        snprintf(reason, n, "%s, %.1f %% of them, steadily more than any other rank (t test: p = %.4f)", which,
                 tl_percent_of_step(found->share), found->p);
        return TL_VERDICT_STRAGGLER;
    default:
        snprintf(reason, n, "%s, %.1f %% of them, p = %.4f", which, tl_percent_of_step(found->share), found->p);
        return TL_VERDICT_STRAGGLER;
    }
}

tl_status tl_verdict_judge(const tl_verdict_input *in, const tl_verdict_gains *gains, const tl_table *blame_step,
                           tl_table *straggler, tl_error *err)
{
    weighing w;
    tl_status st =
        weighing_new(&w, in) ? weigh(&w, in, blame_step, straggler, err) : tl_fail_memory(err, "the verdict");

    for (size_t i = 0; st == TL_OK && i < straggler->n; i++) {
        tl_straggler *row = tl_table_row(straggler, i);
        double ns = flagged_ns(in, w.flagged + i * in->nsteps);
        const tl_standing *found = &w.found[i];
        row->verdict = (uint8_t)say(in, found, w.flagged + i * in->nsteps, row);
        if (row->verdict == TL_VERDICT_STRAGGLER && gains->simulated && in->waits_known && row->gain_ns >= 0 &&
            (double)row->gain_ns < next_to_nothing * ns) {
            row->verdict = TL_VERDICT_OK;
            snprintf(row->reason, sizeof row->reason,
                     "stands out in %zu of %zu steps, but without it the job would take as long, as simulated",
                     found->nflagged, in->nsteps);
        }
        if (row->verdict == TL_VERDICT_OK && found->left_out < in->nsteps) {
            row->left_out_step = in->steps[found->left_out].number;
            row->left_out_ns = (int64_t)llround(w.cost_ns[i * in->nsteps + found->left_out]);
        }
        if (is_between_events(found, row->pattern)) {
            row->first_step = in->steps[found->first_event].number;
            row->last_step = in->steps[found->last_event].number;
            row->pattern = (uint8_t)(row->first_step == row->last_step ? TL_PATTERN_ONE_OFF : row->pattern);
        }
        if (row->verdict != TL_VERDICT_OK || found->nflagged == 0 || !tl_verdict_suspects(row, straggler))
            continue;
        double share = found->share, hidden = hidden_share(gains, straggler, row, ns);
        share = share > hidden ? share : hidden;
        if (in->nsteps <= TL_TOO_FEW_STEPS && share >= matters && is_last_often(in, straggler, row)) {
            row->verdict = TL_VERDICT_STRAGGLER;
            snprintf(row->reason, sizeof row->reason,
                     "last in %lld collectives, %.1f %% of %zu of %zu steps; too few steps for a test of significance",
                     (long long)row->late_count, tl_percent_of_step(share), found->nflagged, in->nsteps);
        } else if (row->p_value <= significant && gains->simulated && late_in_turn(gains, straggler, ns)) {
            row->verdict = TL_VERDICT_STRAGGLER;
            snprintf(row->reason, sizeof row->reason,
                     "%zu of %zu steps, p = %.4f; ranks late in turn: together they cost %.1f ms", found->nflagged,
                     in->nsteps, row->p_value, (double)gains->together_ns / 1e6);
        }
    }
    weighing_free(&w);
    return st;
}
