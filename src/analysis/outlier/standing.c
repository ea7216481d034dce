/* standing.c - does a rank cost more than the job's own noise does?
 *
 *     share     of rank r in step s: its cost as a part of the step without it.  A step shorter than the middle one is
 *               as long as that: the recording cut it
 *     worst     the largest share in s of the others, of those alone whose labels tell nothing; once some have been
 *               found to stand out, what they cost in their events, or steadily, is known to be theirs: the rest is
 *               looked at again without it
 *
 *     labels    p <= 0.01.  In the flagged steps share - median worst is 1 % or more in the mean; and the share of all
 *               steps is 1 %, or that of the flagged ones 2.5 %: flagged ones are the worst of anybody.  Of one flagged
 *               step alone that is 4 %: labels tell of all steps, not of this one.  The first step alone is as little
 *               as it is an event
 *     steady    Student's t of share - worst over the steps: p, twice for either of two ranks, <= 0.01; its mean >=
 *               1 %.  More ranks do not make it likelier: only one of them can be ahead of all others in a step
 *     event     share >= 4 %, and three times the largest worst of any step that counts, if it makes 0.5 % of all
 *               steps; the less it makes of them, down to 0.25 %, the farther above; or twice that in several steps,
 *               in which chance would have to meet the same rank: two, of few ranks three.  Of ranks that are not few
 *               share >= 2.5 % will do: in two steps of three times the largest worst, or three of twice
 */
#include "tlmpi/analysis/outlier.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/robust.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Measured on healthy jobs of two simulators, one of them with heavy tails: with 0.05 twice as many false alarms, with
 * 0.01 no fault of 5 % of a step less is found. */
static const double significant = 0.01;
/* What healthy jobs of up to 32 ranks that differ by 0.4 % show at most; a fault of 2 % of a step passes. */
static const double matters = 0.01, matters_overall = 0.01, matters_flagged = 0.025;
/* One step is weak evidence.  Of healthy jobs with tails like Student's t of 4 degrees one in ten has a step that costs
 * twice what any other rank does, one in sixteen three times, one in fifty six times, however many steps there are: in
 * a longer recording, where the same step matters less, it has to stand farther above the rest.  Where pauses are rare
 * but long no ratio tells them from a fault; a fault of 5 % in one of twenty steps passes. */
static const double matters_event = 0.005, matters_rare = 0.0025, event_share = 0.04, event_ratio = 3, events_ratio = 2;
enum { FEW_UNITS = 4 };
/* Several steps are strong evidence.  Of four ranks whose costs have such tails, over five steps or more, less than one job in
 * a hundred has one with two steps of three times what any other costs in any step, or with three of twice that; of eight
 * ranks less than one in a thousand. */
enum { PAIR_RATIO = 3, MORE_RATIO = 2, PAIR = 2, MORE = 3 };
/* Differences of one length in all steps are no certainty: so much of a step they vary by. */
static const double least_deviation = 0.002;
enum { STEADY_STEPS_LEAST = 3, EITHER_OF = 2, FIRST_COUNTS_UP_TO = 2 };

typedef struct looking {
    const tl_costs *in;
    double *share;      /* [nunits * nsteps] */
    double *largest;    /* [nsteps]: of units that no labels speak against */
    double *second;     /* the same without that unit */
    size_t *of;         /* [nsteps]: that unit */
    double *scratch;    /* [nsteps] */
    double *event;      /* [nunits]: the least share of what is an event of that unit */
    double *in_flagged; /* [nunits]: shares of all flagged steps, summed */
    bool *known;        /* [nunits * nsteps]: a fault that has been found, and no noise */
    double middle_ns;   /* of the lengths of steps */
} looking;

double tl_student_tail(double t, size_t freedom)
{
    double angle = atan(t / sqrt((double)freedom)), c = cos(angle), term = 1, sum = 0, inside;
    size_t first = freedom % 2 ? 3 : 2;

    if (!(t > 0) || freedom == 0)
        return 0.5;
    /* The two series for odd and even degrees of freedom; the inside is P(-t < T < t). */
    if (freedom % 2) {
        term = c;
        for (size_t k = first; k <= freedom; k += 2) {
            sum += term;
            term *= c * c * (double)(k - 1) / (double)k;
        }
        inside = (angle + sin(angle) * sum) * 2 / 3.14159265358979323846;
    } else {
        for (size_t k = first; k <= freedom; k += 2) {
            sum += term;
            term *= c * c * (double)(k - 1) / (double)k;
        }
        inside = sin(angle) * sum;
    }
    return inside < 1 ? (1 - inside) / 2 : 0;
}

static bool speaks_against(const tl_costs *in, size_t unit)
{
    return in->p_value[unit] <= significant;
}

/* Of a step as long as the middle one at least. */
static double share_of(const looking *l, double cost_ns, size_t step)
{
    double ns = l->in->step_ns[step] > l->middle_ns ? l->in->step_ns[step] : l->middle_ns, without = ns - cost_ns;
    return cost_ns > 0 ? cost_ns / (without > ns / 2 ? without : ns / 2) : 0;
}

static void find_shares(looking *l)
{
    const tl_costs *in = l->in;
    memcpy(l->scratch, in->step_ns, in->nsteps * sizeof *l->scratch);
    l->middle_ns = in->nsteps > 0 ? tl_real_median(l->scratch, in->nsteps) : 0;

    for (size_t r = 0; r < in->nunits; r++)
        l->in_flagged[r] = 0;
    for (size_t s = 0; s < in->nsteps; s++) {
        l->largest[s] = l->second[s] = in->noise_ns != NULL ? share_of(l, in->noise_ns[s], s) : 0;
        l->of[s] = in->nunits;
        for (size_t r = 0; r < in->nunits; r++) {
            double share = share_of(l, in->cost_ns[r * in->nsteps + s], s);
            l->share[r * in->nsteps + s] = share;
            l->in_flagged[r] += in->flagged[r * in->nsteps + s] ? share : 0;
            if (speaks_against(in, r) || l->known[r * in->nsteps + s])
                continue;
            if (share > l->largest[s]) {
                l->second[s] = l->largest[s];
                l->largest[s] = share;
                l->of[s] = r;
            } else if (share > l->second[s]) {
                l->second[s] = share;
            }
        }
    }
}

static double worst_of_others(const looking *l, size_t unit, size_t step)
{
    return l->of[step] == unit ? l->second[step] : l->largest[step];
}

/* p of the test that the unit costs more than the worst of the others; *mean: by how much it does. */
static double steady_p(const looking *l, size_t unit, double *mean)
{
    size_t n = l->in->nsteps;
    double sum = 0, squares = 0;

    *mean = 0;
    if (n < STEADY_STEPS_LEAST)
        return 1;
    for (size_t s = 0; s < n; s++)
        sum += l->share[unit * n + s] - worst_of_others(l, unit, s);
    *mean = sum / (double)n;
    for (size_t s = 0; s < n; s++) {
        double off = l->share[unit * n + s] - worst_of_others(l, unit, s) - *mean;
        squares += off * off;
    }
    double deviation = sqrt(squares / (double)(n - 1));
    deviation = deviation > least_deviation ? deviation : least_deviation;
    double p = tl_student_tail(*mean / deviation * sqrt((double)n), n - 1) * EITHER_OF;
    return p < 1 ? p : 1;
}

/* Where there are two steps, the first is half of all that is known. */
static bool first_counts(const tl_costs *in)
{
    return in->begun || in->nsteps <= FIRST_COUNTS_UP_TO;
}

static bool last_counts(const tl_costs *in)
{
    return !in->in_turn || in->nsteps <= FIRST_COUNTS_UP_TO;
}

/* Of a first step that does not count only what is sure; of such a last one nothing. */
static double share_of_event(const looking *l, size_t unit, size_t step)
{
    const tl_costs *in = l->in;
    if (step + 1 == in->nsteps && !last_counts(in))
        return 0;
    if (step > 0 || first_counts(in))
        return l->share[unit * in->nsteps + step];
    return in->sure_ns != NULL ? share_of(l, in->sure_ns[unit], 0) : 0;
}

/* Steps that cost so many times the noise, and so much. */
static void find_events(const looking *l, size_t unit, double ratio, double share, tl_standing *out)
{
    size_t n = l->in->nsteps, first = first_counts(l->in) ? 0 : 1, to = last_counts(l->in) ? n : n - 1;
    double noise = 0;
    for (size_t s = first; s < to; s++)
        noise = worst_of_others(l, unit, s) > noise ? worst_of_others(l, unit, s) : noise;
    double least = ratio * noise > share ? ratio * noise : share;
    l->event[unit] = least;
    out->nevents = 0;
    out->first_event = out->left_out = n;
    for (size_t s = 0; s < n; s++)
        if (l->in->flagged[unit * n + s] && l->share[unit * n + s] >= least) {
            bool counts = share_of_event(l, unit, s) >= least;
            out->nevents += counts;
            if (!counts && (out->left_out == n || l->share[unit * n + s] > l->share[unit * n + out->left_out]))
                out->left_out = s;
            out->first_event = s < out->first_event ? s : out->first_event;
            out->last_event = s;
        }
}

/* Of one step that makes so much of all. */
static double ratio_of_one(double overall)
{
    return overall < matters_event ? event_ratio * matters_event / fmax(overall, matters_rare) : event_ratio;
}

static void look_for_events(const looking *l, size_t unit, tl_standing *out)
{
    bool few = l->in->nunits < FEW_UNITS;
    find_events(l, unit, events_ratio, event_share, out);
    if (out->nevents >= (few ? MORE : PAIR))
        return;
    if (!few && out->overall >= matters_event) {
        find_events(l, unit, MORE_RATIO, matters_flagged, out);
        if (out->nevents >= MORE)
            return;
        find_events(l, unit, PAIR_RATIO, matters_flagged, out);
        if (out->nevents >= PAIR)
            return;
    }
    find_events(l, unit, ratio_of_one(out->overall), event_share, out);
}

static void measure_between(const looking *l, size_t unit, tl_standing *out)
{
    size_t n = l->in->nsteps;
    for (size_t s = out->first_event; s < n && s <= out->last_event; s++)
        if (l->in->flagged[unit * n + s]) {
            out->share_between += l->share[unit * n + s];
            out->nbetween++;
        }
    double outside = l->in_flagged[unit] - out->share_between, most = 0;
    for (size_t r = 0; r < l->in->nunits; r++)
        if (r != unit && l->in_flagged[r] > most)
            most = l->in_flagged[r];
    out->peaks = out->nevents > 0 && outside > out->share_between && outside > most;
    out->share_between /= out->nbetween > 0 ? (double)out->nbetween : 1;
}

static tl_standing look_at(looking *l, size_t unit)
{
    size_t n = l->in->nsteps;
    tl_standing out = { .ground = TL_GROUND_NONE, .p = NAN, .left_out = n };

    for (size_t s = 0; s < n; s++) {
        l->scratch[s] = worst_of_others(l, unit, s);
        out.overall += l->share[unit * n + s] / (double)n;
        out.share += l->in->flagged[unit * n + s] ? l->share[unit * n + s] : 0;
        out.nflagged += l->in->flagged[unit * n + s];
    }
    if (out.nflagged == 0)
        return out;
    out.share /= (double)out.nflagged;
    out.usual = tl_real_median(l->scratch, n);
    double ahead, p = steady_p(l, unit, &ahead);
    bool matters_here = out.share - out.usual >= matters &&
                        (out.overall >= matters_overall || out.share >= matters_flagged + out.usual);
    bool first_alone = out.nflagged == 1 && l->in->flagged[unit * n] && share_of_event(l, unit, 0) < matters_flagged;
    bool one_alone = out.nflagged == 1 && out.overall < matters_overall && out.share < event_share;
    look_for_events(l, unit, &out);
    measure_between(l, unit, &out);
    if (matters_here && !first_alone && !one_alone && speaks_against(l->in, unit)) {
        out.ground = TL_GROUND_LABELS;
        out.p = l->in->p_value[unit];
    } else if (ahead >= matters && p <= significant) {
        out.ground = TL_GROUND_STEADY;
        out.p = p;
    } else if (out.nevents > 1 || (out.nevents == 1 && out.overall >= matters_rare)) {
        out.ground = TL_GROUND_EVENT;
    } else {
        out.ground = matters_here ? TL_GROUND_CHANCE : TL_GROUND_LITTLE;
    }
    return out;
}

/* What the units that stand out cost in the steps for which they do; whether there is any. */
static bool mark_known(const looking *l, const tl_standing *found)
{
    size_t n = l->in->nsteps;
    bool any = false;
    for (size_t r = 0; r < l->in->nunits; r++) {
        bool steady = found[r].ground == TL_GROUND_STEADY, event = found[r].ground == TL_GROUND_EVENT;
        for (size_t at = r * n; at < (r + 1) * n; at++) {
            l->known[at] = l->in->flagged[at] && (steady || (event && l->share[at] >= l->event[r]));
            any |= l->known[at];
        }
    }
    return any;
}

/* The rest once more, which a known fault had hidden. */
static void look_again(looking *l, tl_standing *out)
{
    find_shares(l);
    for (size_t r = 0; r < l->in->nunits; r++)
        if (!tl_stands_out(&out[r]))
            out[r] = look_at(l, r);
}

tl_status tl_standing_of(const tl_costs *costs, tl_standing *out, tl_error *err)
{
    size_t n = costs->nsteps + 1;
    looking l = { .in = costs,
                  .share = tl_malloc((costs->nunits * costs->nsteps + 1) * sizeof(double)),
                  .largest = tl_malloc(n * sizeof(double)),
                  .second = tl_malloc(n * sizeof(double)),
                  .of = tl_malloc(n * sizeof(size_t)),
                  .scratch = tl_malloc(n * sizeof(double)),
                  .event = tl_calloc(costs->nunits + 1, sizeof(double)),
                  .in_flagged = tl_malloc((costs->nunits + 1) * sizeof(double)),
                  .known = tl_calloc(costs->nunits * costs->nsteps + 1, sizeof(bool)) };
    bool whole = l.share != NULL && l.largest != NULL && l.second != NULL && l.of != NULL && l.scratch != NULL &&
                 l.event != NULL && l.in_flagged != NULL && l.known != NULL;

    if (whole)
        find_shares(&l);
    for (size_t r = 0; whole && r < costs->nunits; r++)
        out[r] = look_at(&l, r);
    if (whole && mark_known(&l, out))
        look_again(&l, out);
    free(l.share);
    free(l.largest);
    free(l.second);
    free(l.of);
    free(l.scratch);
    free(l.event);
    free(l.in_flagged);
    free(l.known);
    return whole ? TL_OK : tl_fail_memory(err, "the test against the job's noise");
}
