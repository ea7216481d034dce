/* persistence.c - the charge of each rank and step, tested.
 *
 *     z(r, i)    0.6745 (B(r, i) - m) / D,  m and D the median and the median distance from it over the other ranks;
 *                D is at least 0.3 % of the step, so that two ranks suffice and equal ranks do not divide by nothing
 *     flagged    z >= 3.5 and B >= 1 % of the step
 *     pattern    from the flagged steps and the levels of B / step
 *     p          ranks relabelled within each step at random: how often is the largest total as large as this one?
 *                A charge counts up to twice what the worst is charged in the upper quarter of the steps: a pause in
 *                one step must not hide who is late in many.  What a charge counts does not depend on whose it is.
 *                Or: how often is any of them flagged in as many steps?  Long pauses of others, one each, have a
 *                large total, but fall on one rank seldom.  The smaller of the two
 */
#include "tlmpi/analysis/outlier.h"
#include "change.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/robust.h"
#include "tlmpi/base/sort.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double z_flagged = 3.5, share_flagged = 0.01, floor_of_d = 0.003;
static const double trend_significant = 0.01;

enum { LEVELS_MAX = 1024, PERMUTATIONS = 9999, PERMUTATIONS_LEAST = 999, STEPS_LEAST = 5 };
static const double work_max = 2e8; /* relabelled charges, over all permutations */

typedef struct testing {
    const tl_charges *c;
    double *total;       /* [nranks] charge over all steps */
    double *in_order;    /* [nranks] the same, ascending; then, of each step, [nranks] charges */
    double *level;       /* scratch: B / step of one rank, by levels */
    double *share;       /* scratch [nsteps] */
    size_t *starts;      /* scratch: levels */
    double *slopes, *at; /* scratch of the trend */
    size_t *nflagged;    /* [nsteps] ranks that are flagged in it */
    double *tail;        /* scratch [nsteps + 1] */
} testing;

/* Copies every stride-th of the ranks' values, in order. */
static void put_in_order(const testing *t, const double *value, size_t stride, double *sorted)
{
    for (size_t r = 0; r < t->c->nranks; r++)
        sorted[r] = value[r * stride];
    tl_real_sort(sorted, t->c->nranks);
}

/* The robust z of one of the ranks' values, which are in order, among the others. */
static double z_of(const testing *t, const double *sorted, double value, double step_ns)
{
    size_t low = 0;
    double median, d, least = floor_of_d * step_ns;

    if (t->c->nranks < 2)
        return 0;
    TL_BISECT(low, t->c->nranks, mid, sorted[mid] < value);
    tl_real_others(sorted, t->c->nranks, low, &median, &d);
    return tl_robust_z(value, median, d > least ? d : least);
}

/* -------------------------------------------------------------------------------------------------------- patterns */

/* Sums of B / step over blocks of steps, so that no more than LEVELS_MAX numbers are cut into levels. */
static size_t levels(const testing *t, size_t r, size_t *block)
{
    size_t n = 0, nsteps = t->c->nsteps;
    *block = (nsteps + LEVELS_MAX - 1) / LEVELS_MAX;
    for (size_t i = 0; i < nsteps; i += *block) {
        size_t to = i + *block < nsteps ? i + *block : nsteps;
        double sum = 0;
        for (size_t j = i; j < to; j++)
            sum += t->c->charge_ns[r * nsteps + j] / t->c->step_ns[j];
        t->level[n++] = sum / (double)(to - i);
    }
    return n;
}

/* Whether the level rises or falls over the whole window by at least half of its middle. */
static bool drifts(const testing *t, size_t n)
{
    if (n < STEPS_LEAST || tl_trend_p(t->level, n) > trend_significant)
        return false;
    for (size_t i = 0; i < n; i++)
        t->at[i] = (double)i;
    double slope = tl_theil_sen(t->at, t->level, n, t->slopes);
    memcpy(t->at, t->level, n * sizeof *t->at);
    return fabs(slope) * (double)(n - 1) >= tl_real_median(t->at, n) / 2;
}

/* What a cut into levels must gain: three quarters of the usual charge of a flagged step, so that a window of two steps
 * is seen and one quiet step in a window is forgiven. */
static double price_of_a_level(const testing *t, size_t r, const bool *flagged)
{
    size_t n = 0, nsteps = t->c->nsteps;
    for (size_t i = 0; i < nsteps; i++)
        if (flagged[i])
            t->share[n++] = t->c->charge_ns[r * nsteps + i] / t->c->step_ns[i];
    return 0.75 * tl_real_median(t->share, n);
}

/* The one run of levels in which two of three steps are flagged, as steps [*first, *last]; false where there are several
 * or none.  Of what comes and goes every other step is flagged: half of any run, and more of one that begins and ends
 * with it. */
static bool one_run(const testing *t, size_t r, size_t n, size_t block, const bool *flagged, size_t *first,
                    size_t *last)
{
    size_t nruns, found = 0, nsteps = t->c->nsteps;
    if (!tl_change_points(t->level, n, price_of_a_level(t, r, flagged), t->starts, &nruns))
        return false;
    for (size_t run = 0; run < nruns; run++) {
        size_t from = t->starts[run] * block, to = run + 1 < nruns ? t->starts[run + 1] * block : nsteps, count = 0;
        for (size_t i = from; i < to; i++)
            count += flagged[i];
        if (3 * count < 2 * (to - from))
            continue;
        if (found == 0 || *last + 1 != from) {
            found++;
            *first = from;
        }
        *last = to - 1;
    }
    if (found != 1)
        return false;
    while (!flagged[*first])
        ++*first;
    while (!flagged[*last])
        --*last;
    return true;
}

static void name_pattern(const testing *t, size_t r, const bool *flagged, tl_persistence *out)
{
    size_t nsteps = t->c->nsteps, block;

    out->pattern = TL_PATTERN_NONE;
    out->first = 1;
    out->last = 0;
    if (out->nflagged == 0)
        return;
    for (out->first = 0; !flagged[out->first];)
        out->first++;
    for (out->last = nsteps - 1; !flagged[out->last];)
        out->last--;
    size_t n = levels(t, r, &block), first = 0, last = 0;
    bool bounded = one_run(t, r, n, block, flagged, &first, &last);
    size_t inside = 0;
    for (size_t i = first; bounded && i <= last; i++)
        inside += flagged[i];
    /* What lies outside the run may be a few chance hits, no second visit. */
    bounded = bounded && last > first && (out->nflagged - inside) * 5 <= out->nflagged;

    if (out->nflagged == 1 && nsteps > 1)
        out->pattern = TL_PATTERN_ONE_OFF;
    else if (2 * out->nflagged > nsteps && drifts(t, n))
        out->pattern = TL_PATTERN_DRIFTING;
    else if (out->share_steps >= TL_PERSISTENT_SHARE)
        out->pattern = TL_PATTERN_PERSISTENT;
    else if (bounded) {
        out->pattern = TL_PATTERN_BOUNDED;
        out->first = first;
        out->last = last;
    } else
        out->pattern = TL_PATTERN_SPORADIC;
}

/* ---------------------------------------------------------------------------------------------------- significance */

/* Numbers that are not 0, a step's together: what a permutation has to move. */
typedef struct sparse {
    double *value;
    size_t *end;            /* [nsteps] */
    uint32_t *label;        /* [nranks]: ranks in some order */
    double *sum, *observed; /* [nranks] */
    double *largest;        /* [npermutations] */
} sparse;

/* Up to which part of its step a charge counts. */
static double most_that_counts(const testing *t)
{
    size_t nranks = t->c->nranks, nsteps = t->c->nsteps;
    for (size_t i = 0; i < nsteps; i++) {
        t->share[i] = 0;
        for (size_t r = 0; r < nranks; r++) {
            double share = t->c->charge_ns[r * nsteps + i] / t->c->step_ns[i];
            t->share[i] = share > t->share[i] ? share : t->share[i];
        }
    }
    tl_real_sort(t->share, nsteps);
    double upper = t->share[nsteps - 1 - tl_lower_quarter(nsteps)];
    return upper >= share_flagged ? 2 * upper : INFINITY;
}

static double permuted_maximum(const testing *t, const sparse *s, tl_random *random)
{
    size_t nranks = t->c->nranks, from = 0;
    double largest = 0;

    memset(s->sum, 0, nranks * sizeof *s->sum);
    for (size_t i = 0; i < t->c->nsteps; i++) {
        for (size_t j = from; j < s->end[i]; j++) {
            size_t k = j - from, pick = k + tl_random_below(random, (uint32_t)(nranks - k));
            uint32_t r = s->label[pick];
            s->label[pick] = s->label[k];
            s->label[k] = r;
            s->sum[r] += s->value[j];
            if (s->sum[r] > largest)
                largest = s->sum[r];
        }
        from = s->end[i];
    }
    return largest;
}

/* What counts, and the sums of the ranks as they are. */
static void collect(const testing *t, sparse *s)
{
    double most = most_that_counts(t);
    size_t n = 0;
    memset(s->observed, 0, t->c->nranks * sizeof *s->observed);
    for (size_t i = 0; i < t->c->nsteps; i++) {
        for (size_t r = 0; r < t->c->nranks; r++) {
            double b = t->c->charge_ns[r * t->c->nsteps + i];
            if (b > 0) {
                s->value[n] = b < most * t->c->step_ns[i] ? b : most * t->c->step_ns[i];
                s->observed[r] += s->value[n++];
            }
        }
        s->end[i] = n;
    }
}

/* tail[n]: how probable it is that some rank is flagged in n steps or more, were those that are flagged in a step any
 * ranks: that one of them is, times the ranks.  O(steps^2). */
static void chances_of_counts(const testing *t)
{
    size_t nsteps = t->c->nsteps, most = 0;
    double nranks = (double)t->c->nranks, *p = t->tail;

    memset(p, 0, (nsteps + 1) * sizeof *p);
    p[0] = 1;
    for (size_t i = 0; i < nsteps; i++) {
        double hit = (double)t->nflagged[i] / nranks;
        if (hit <= 0)
            continue;
        for (size_t n = ++most; n > 0; n--)
            p[n] = p[n] * (1 - hit) + p[n - 1] * hit;
        p[0] *= 1 - hit;
    }
    for (size_t n = nsteps; n-- > 0;)
        p[n] += p[n + 1];
    for (size_t n = 0; n <= nsteps; n++)
        p[n] = p[n] * nranks < 1 ? p[n] * nranks : 1;
}

static bool significance(const testing *t, tl_persistence *out)
{
    size_t nranks = t->c->nranks, nsteps = t->c->nsteps, nonzero = 0, permutations = PERMUTATIONS;

    for (size_t r = 0; r < nranks; r++)
        out[r].p_value = NAN;
    if (nsteps < STEPS_LEAST || nranks < 2)
        return true;
    for (size_t i = 0; i < nranks * nsteps; i++)
        nonzero += t->c->charge_ns[i] > 0;
    if ((double)nonzero * PERMUTATIONS > work_max) {
        permutations = (size_t)(work_max / (double)nonzero);
        permutations = permutations < PERMUTATIONS_LEAST ? PERMUTATIONS_LEAST : permutations;
    }
    sparse s = { tl_malloc((nonzero + 1) * sizeof *s.value), tl_malloc(nsteps * sizeof *s.end),
                 tl_malloc(nranks * sizeof *s.label),        tl_malloc(nranks * sizeof *s.sum),
                 tl_malloc(nranks * sizeof *s.observed),     tl_malloc(permutations * sizeof *s.largest) };
    bool whole =
        s.value != NULL && s.end != NULL && s.label != NULL && s.sum != NULL && s.observed != NULL && s.largest != NULL;
    if (whole) {
        collect(t, &s);
        /* Seeded by the numbers themselves: the same job gives the same p on every run. */
        tl_random random = { tl_hash_bytes(s.value, nonzero * sizeof *s.value) };
        for (size_t r = 0; r < nranks; r++)
            s.label[r] = (uint32_t)r;
        for (size_t k = 0; k < permutations; k++)
            s.largest[k] = permuted_maximum(t, &s, &random);
        tl_real_sort(s.largest, permutations);
    }
    chances_of_counts(t);
    for (size_t r = 0; whole && r < nranks; r++) {
        /* Sums in another order may differ in the last digit. */
        double observed = s.observed[r] * (1 - 1e-12);
        size_t low = 0;
        TL_BISECT(low, permutations, mid, s.largest[mid] < observed);
        double least = 1 / (1 + (double)permutations), by_total = least * (1 + (double)(permutations - low));
        double by_count = t->tail[out[r].nflagged] > least ? t->tail[out[r].nflagged] : least;
        out[r].p_value = by_count < by_total ? by_count : by_total;
    }
    free(s.value);
    free(s.end);
    free(s.label);
    free(s.sum);
    free(s.observed);
    free(s.largest);
    return whole;
}

/* ------------------------------------------------------------------------------------------------------------- all */

static void test_rank(const testing *t, size_t r, double all_ns, double *z, bool *flagged, tl_persistence *out)
{
    size_t nsteps = t->c->nsteps;
    const double *charge = t->c->charge_ns + r * nsteps;

    *out = (tl_persistence){ .z = z_of(t, t->in_order, t->total[r], all_ns) };
    for (size_t i = 0; i < nsteps; i++) {
        const double *others = t->in_order + (i + 1) * t->c->nranks;
        z[i] = charge[i] > 0 ? z_of(t, others, charge[i], t->c->step_ns[i]) : 0;
        flagged[i] = z[i] >= z_flagged && charge[i] >= share_flagged * t->c->step_ns[i];
        out->nflagged += flagged[i];
        t->nflagged[i] += flagged[i];
    }
    out->share_steps = nsteps > 0 ? (double)out->nflagged / (double)nsteps : 0;
    name_pattern(t, r, flagged, out);
}

tl_status tl_persistence_of(const tl_charges *c, tl_persistence *out, double *z, bool *flagged, tl_error *err)
{
    size_t nlevels = c->nsteps < LEVELS_MAX ? c->nsteps : LEVELS_MAX;
    testing t = { .c = c,
                  .total = tl_calloc(c->nranks + 1, sizeof(double)),
                  .in_order = tl_malloc(((c->nsteps + 1) * c->nranks + 1) * sizeof(double)),
                  .level = tl_malloc((nlevels + 1) * sizeof(double)),
                  .share = tl_malloc((c->nsteps + 1) * sizeof(double)),
                  .starts = tl_malloc((nlevels + 1) * sizeof(size_t)),
                  .slopes = tl_malloc((tl_slopes_max(nlevels) + 1) * sizeof(double)),
                  .at = tl_malloc((nlevels + 1) * sizeof(double)),
                  .nflagged = tl_calloc(c->nsteps + 1, sizeof(size_t)),
                  .tail = tl_malloc((c->nsteps + 1) * sizeof(double)) };
    double *own_z = z == NULL ? tl_malloc((c->nsteps + 1) * sizeof *own_z) : NULL;
    bool *own_flagged = flagged == NULL ? tl_malloc((c->nsteps + 1) * sizeof *own_flagged) : NULL;
    bool whole = t.total != NULL && t.in_order != NULL && t.level != NULL && t.share != NULL && t.starts != NULL &&
                 t.slopes != NULL && t.at != NULL && t.nflagged != NULL && t.tail != NULL &&
                 (z != NULL || own_z != NULL) && (flagged != NULL || own_flagged != NULL);
    double all_ns = 0;

    for (size_t i = 0; i < c->nsteps; i++)
        all_ns += c->step_ns[i];
    for (size_t r = 0; whole && r < c->nranks; r++)
        for (size_t i = 0; i < c->nsteps; i++)
            t.total[r] += c->charge_ns[r * c->nsteps + i];
    if (whole)
        put_in_order(&t, t.total, 1, t.in_order);
    for (size_t i = 0; whole && i < c->nsteps; i++)
        put_in_order(&t, c->charge_ns + i, c->nsteps, t.in_order + (i + 1) * c->nranks);
    for (size_t r = 0; whole && r < c->nranks; r++)
        test_rank(&t, r, all_ns, z != NULL ? z + r * c->nsteps : own_z,
                  flagged != NULL ? flagged + r * c->nsteps : own_flagged, &out[r]);
    whole = whole && significance(&t, out);
    free(t.total);
    free(t.in_order);
    free(t.level);
    free(t.share);
    free(t.starts);
    free(t.slopes);
    free(t.at);
    free(t.nflagged);
    free(t.tail);
    free(own_z);
    free(own_flagged);
    return whole ? TL_OK : tl_fail_memory(err, "the test of persistence");
}
