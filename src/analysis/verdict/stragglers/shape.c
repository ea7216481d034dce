/* shape.c - the shape of a candidate's lateness over S steps: none, one level in some steps, or a ramp.
 *
 * Each switch between the two levels costs log S, as one more parameter does (BIC); a ramp costs 2 log S.  With x
 * normal around its level, the log-likelihood ratio of a step that is late by a, against "never late", is
 *
 *     (2 a x - a^2) / (2 sigma^2)
 *
 * Viterbi's algorithm finds the best steps for a given level, and the level becomes the mean of these steps, in turn
 * until neither changes.  As that ends in local optima, values of x above 0 all serve as starts.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include <math.h>
#include <string.h>

/* Largest number of refits of a level; three are nearly always enough. */
enum { REFITS = 8 };

/* A fit to n steps, and its scratch. */
typedef struct fit {
    const double *x;
    size_t n;
    double sigma;
    bool *up, *best;
    double *start;
    uint8_t *from; /* [2 * n] best level (0, 1) of the previous step, by step and level */
} fit;

/* Returns the mean of x over the steps that are up; 0 if none is. */
static double level_of(const fit *f, const bool *up)
{
    double sum = 0;
    size_t n = 0;
    for (size_t s = 0; s < f->n; s++)
        if (up[s]) {
            sum += f->x[s];
            n++;
        }
    return n > 0 ? sum / (double)n : 0;
}

/* Fills f->up with the likeliest choice of steps that are up by `level`.  Returns whether it changed. */
static bool viterbi(fit *f, double level)
{
    double penalty = log((double)(f->n > 2 ? f->n : 2)), score[2] = { 0, 0 };
    bool changed = false;

    for (size_t s = 0; s < f->n; s++) {
        double gain = (2 * level * f->x[s] - level * level) / (2 * f->sigma * f->sigma), next[2];
        for (int to = 0; to < 2; to++) {
            double stay = score[to], move = score[1 - to] - (s > 0 ? penalty : 0);
            f->from[2 * s + (size_t)to] = (uint8_t)(s > 0 && move > stay ? 1 - to : to);
            next[to] = (s > 0 ? fmax(stay, move) : 0) + (to == 1 ? gain : 0);
        }
        memcpy(score, next, sizeof score);
    }
    uint8_t now = score[1] > score[0];
    for (size_t s = f->n; s-- > 0;) {
        changed = changed || f->up[s] != (now != 0);
        f->up[s] = now != 0;
        now = f->from[2 * s + now];
    }
    return changed;
}

/* Returns the log-likelihood ratio of these steps being up, less the penalty of their switches. */
static double score_of(const fit *f, const bool *up)
{
    double level = level_of(f, up), score = 0;
    for (size_t s = 0; s < f->n; s++) {
        score += up[s] ? (2 * level * f->x[s] - level * level) / (2 * f->sigma * f->sigma) : 0;
        score -= s > 0 && up[s] != up[s - 1] ? log((double)(f->n > 2 ? f->n : 2)) : 0;
    }
    return score;
}

/* Fills f->start with starting levels; returns their number. */
static size_t list_starts(fit *f)
{
    const size_t starts = (size_t)TL_SAMPLES;
    size_t n = 0;
    for (size_t s = 0; s < f->n; s++)
        if (f->x[s] > 0)
            f->start[n++] = f->x[s];
    if (n <= starts)
        return n;
    tl_real_sort(f->start, n);
    for (size_t k = 0; k < starts; k++)
        f->start[k] = f->start[k * (n - 1) / (starts - 1)];
    return starts;
}

static double fit_two_levels(fit *f)
{
    size_t nstarts = list_starts(f);
    double best = 0;
    memset(f->best, 0, f->n * sizeof *f->best);
    for (size_t k = 0; k < nstarts; k++) {
        for (size_t s = 0; s < f->n; s++)
            f->up[s] = f->x[s] > f->start[k] / 2;
        double level = level_of(f, f->up);
        for (int refit = 0; refit < REFITS && level > 0 && viterbi(f, level); refit++)
            level = level_of(f, f->up);
        double score = score_of(f, f->up);
        if (level > 0 && score > best) {
            best = score;
            memcpy(f->best, f->up, f->n * sizeof *f->up);
        }
    }
    return best;
}

/* Returns the score of the best ramp; *begin: its first step, at least three from the end.  Goes backwards: a ramp that
 * begins one step earlier is one unit higher in each later step. */
static double fit_ramp(const fit *f, size_t *begin)
{
    double best = 0, x = 0, tx = 0, tt = 0;
    for (size_t first = f->n; first-- > 0;) {
        double length = (double)(f->n - first);
        x += f->x[first];
        tx += x;
        tt += length * length;
        double score = tx > 0 ? tx * tx / tt / (2 * f->sigma * f->sigma) - 2 * log((double)f->n) : 0;
        if (score >= best && score > 0 && first + TL_MEDIAN_LEAST < f->n) {
            best = score;
            *begin = first;
        }
    }
    return best;
}

static tl_pattern pattern_of(const tl_shape *shape, const bool *up, size_t n)
{
    size_t runs = 0;
    for (size_t s = 0; s < n; s++)
        runs += up[s] && (s == 0 || !up[s - 1]);
    if (shape->nup == 0)
        return TL_PATTERN_NONE;
    if ((double)shape->nup >= TL_MOST_SHARE * (double)n)
        return TL_PATTERN_PERSISTENT;
    return shape->nup == 1 ? TL_PATTERN_ONE_OFF : runs == 1 ? TL_PATTERN_BOUNDED : TL_PATTERN_SPORADIC;
}

void tl_shape_of(const double *x, size_t n, double sigma, tl_shape *out, bool *up)
{
    tl_arena arena = { 0 };
    fit f = { .x = x,
              .n = n,
              .sigma = sigma,
              .up = tl_arena_zeroed(&arena, n, sizeof *f.up),
              .best = tl_arena_zeroed(&arena, n, sizeof *f.best),
              .start = tl_arena_take(&arena, n, sizeof *f.start),
              .from = tl_arena_zeroed(&arena, 2 * n, sizeof *f.from) };
    size_t begin = 0;

    double levels = fit_two_levels(&f);
    bool drifts = n >= TL_PATTERN_LEAST && levels > 0 && fit_ramp(&f, &begin) > levels;
    *out = (tl_shape){ .first = n };
    for (size_t s = 0; s < n; s++) {
        up[s] = drifts ? s >= begin : f.best[s];
        out->nup += up[s];
        out->first = up[s] && out->first == n ? s : out->first;
        out->last = up[s] ? s : out->last;
    }
    out->pattern = drifts ? TL_PATTERN_DRIFTING : pattern_of(out, up, n);
    tl_arena_free(&arena);
}

/* --------------------------------------------------------------------------------------------------------- pattern */

/* Returns the number of runs of steps that are on; a cut step does not end a run. */
static size_t count_runs(const tl_baseline *b, const bool *on)
{
    size_t runs = 0;
    bool before = false;
    for (size_t s = 0; s < b->nsteps; s++) {
        runs += on[s] && !before;
        before = on[s] || (before && b->cut[s]);
    }
    return runs;
}

void tl_put_pattern(const tl_baseline *b, const bool *on, bool drifts, tl_shape *shape, double *share)
{
    size_t full = 0;
    shape->nup = shape->first = shape->last = 0;
    for (size_t s = 0; s < b->nsteps; s++) {
        full += !b->cut[s];
        if (!on[s])
            continue;
        shape->first = shape->nup == 0 ? s : shape->first;
        shape->last = s;
        shape->nup++;
    }
    *share = full > 0 ? (double)shape->nup / (double)full : NAN;
    shape->pattern = shape->nup == 0                       ? TL_PATTERN_NONE
                     : drifts                              ? TL_PATTERN_DRIFTING
                     : *share >= TL_MOST_SHARE && full > 1 ? TL_PATTERN_PERSISTENT
                     : shape->nup == 1                     ? TL_PATTERN_ONE_OFF
                     : count_runs(b, on) == 1              ? TL_PATTERN_BOUNDED
                                                           : TL_PATTERN_SPORADIC;
}
