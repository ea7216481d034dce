/* kernels.c - does a kernel take longer on all ranks, or on some of them?  By its launches in the compared steps.
 *
 *     all ranks     mean time of one launch, by step of A and of B
 *     one rank      mean time of its own launches; p-values are corrected for the number of ranks
 *
 * Ranks are named if they are at most half of all ranks and the kernel changes by less than half as much on the others.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include <math.h>
#include <stdlib.h>

void tl_diff_take_interval(tl_diff *diff, int which, const tl_interval *row)
{
    const side *s = &diff->side[which];
    size_t step = s->marked ? place_of(s->steps.v, s->steps.n, row->step) : 0;
    if (step == s->steps.n || place_of(s->ranks.v, s->ranks.n, row->rank) == s->ranks.n || row->name == TL_NO_NAME ||
        row->kind == TL_SYNC)
        return; /* waits for the device are no kernels */
    uint64_t key = ((uint64_t)row->name << 32 | (uint32_t)row->rank) << 1 | (uint64_t)which;
    uint32_t at = tl_map_number(&diff->series_of, key, diff->series.n);
    if (at == diff->series.n) {
        uint32_t kind = tl_names_intern(&diff->names, tl_kind_labels[row->kind], strlen(tl_kind_labels[row->kind]));
        const work *w = tl_diff_works_at(&diff->of[KERNELS], kind, tl_diff_name_in(diff, which, row->name));
        tl_vec_push(&diff->series, (series){ .work = (uint32_t)(w - diff->of[KERNELS].v.v),
                                             .rank = row->rank,
                                             .side = which,
                                             .step = tl_calloc(s->steps.n, sizeof(launches)) });
    }
    series *x = &diff->series.v[at];
    if (s->marked && row->launch_ns != TL_TIME_UNKNOWN && !x->launched) {
        /* Work without a launch may come from before the first step, which then seems to have more of it. */
        memset(x->step, 0, s->steps.n * sizeof *x->step);
        x->launched = true;
    }
    if (x->launched && row->launch_ns == TL_TIME_UNKNOWN)
        return;
    launches *to = &x->step[step];
    to->count++;
    to->ns = tl_ns_sum(to->ns, row->duration_ns);
}

launches tl_diff_launches_of(const tl_diff *diff, const series *x)
{
    launches sum = { 0 };
    for (size_t i = 0; i < diff->side[x->side].steps.n; i++) {
        sum.count += x->step[i].count;
        sum.ns = tl_ns_sum(sum.ns, x->step[i].ns);
    }
    return sum;
}

/* Launches by compared step, on both sides. */
typedef struct both {
    launches *of[2];
} both;

/* The change of a kernel on one rank. */
typedef struct changed {
    int64_t rank;
    double change_ns, a_ns; /* per step */
    double p_value;
    tl_diff_change change;
} changed;

static void add_launches(const tl_diff *diff, both *to, const series *more)
{
    for (size_t i = 0; i < diff->side[more->side].steps.n; i++) {
        to->of[more->side][i].count += more->step[i].count;
        to->of[more->side][i].ns = tl_ns_sum(to->of[more->side][i].ns, more->step[i].ns);
    }
}

static void clear_launches(const tl_diff *diff, both *b)
{
    for (int i = A; i <= B; i++)
        memset(b->of[i], 0, (diff->side[i].steps.n + 1) * sizeof *b->of[i]);
}

static double chance_of(const tl_diff *diff, const both *b)
{
    double *mean[2];
    for (int i = A; i <= B; i++) {
        size_t n = diff->side[i].steps.n;
        mean[i] = tl_calloc(n + 1, sizeof *mean[i]);
        for (size_t k = 0; k < n; k++)
            mean[i][k] = b->of[i][k].count > 0 ? (double)b->of[i][k].ns / (double)b->of[i][k].count : NAN;
    }
    double p = tl_diff_times_test(diff, mean[A], mean[B]);
    free(mean[A]);
    free(mean[B]);
    return p;
}

static changed change_of(const tl_diff *diff, const both *b, int64_t rank)
{
    amount sum[2] = { { 0 } };
    double steps[2];
    for (int i = A; i <= B; i++) {
        steps[i] = (double)diff->side[i].steps.n;
        for (size_t k = 0; k < diff->side[i].steps.n; k++) {
            sum[i].count += (double)b->of[i][k].count;
            sum[i].ns = tl_ns_sum(sum[i].ns, b->of[i][k].ns);
        }
    }
    double a_ns = (double)sum[A].ns / steps[A], p = fmin(1, chance_of(diff, b) * (double)diff->side[A].ranks.n);
    return (changed){ rank, (double)sum[B].ns / steps[B] - a_ns, a_ns, p,
                      tl_diff_change_of(sum, steps, TL_DIFF_LEAST, p) };
}

/* Whether the change of a kernel on one rank is told before that on another: a slower rank holds others up, a faster
 * one does not; then the larger change. */
static bool comes_before(const changed *x, const changed *y)
{
    if ((x->change_ns > 0) != (y->change_ns > 0))
        return x->change_ns > 0;
    return fabs(x->change_ns) > fabs(y->change_ns);
}

/* Sets the ranks that change by at least half of the change told first, in its direction. */
static void put_ranks(const tl_diff *diff, work *x, const changed *v, size_t n, double tests)
{
    const changed *most = NULL;
    TL_VEC(int64_t) ranks = { 0 };
    double inside_ns = 0, outside_ns = 0, a_ns = 0;
    for (size_t i = 0; i < n; i++) {
        bool told =
            v[i].change == TL_DIFF_COUNT || (v[i].change != TL_DIFF_SAME && v[i].p_value * tests < TL_VERDICT_ALPHA);
        if (told && fabs(v[i].change_ns) >= TL_NOTHING_SHARE * (double)diff->side[A].median_ns &&
            (most == NULL || comes_before(&v[i], most)))
            most = &v[i];
    }
    for (size_t i = 0; i < n && most != NULL; i++)
        if (v[i].change != TL_DIFF_SAME && 2 * v[i].change_ns / most->change_ns >= 1) {
            tl_vec_push(&ranks, v[i].rank);
            inside_ns += v[i].change_ns;
            a_ns += v[i].a_ns;
        } else {
            outside_ns += v[i].change_ns;
        }
    const bool new_or_gone = (x->side[A].count > 0) != (x->side[B].count > 0);
    double in = (double)ranks.n, out = (double)(n - ranks.n);
    if (most != NULL && !(new_or_gone && outside_ns != 0) && 2 * in <= (double)n &&
        2 * fabs(outside_ns / out) < fabs(inside_ns / in)) {
        tl_diff_put_ranks(x->ranks, sizeof x->ranks, ranks.v, ranks.n);
        x->ranks_times = a_ns > 0 ? 1 + inside_ns / a_ns : INFINITY;
        x->ranks_p = most->p_value;
        x->ranks_ns = llround(inside_ns / (double)n);
        x->ranks_change = most->change;
    }
    free(ranks.v);
}

TL_SORT_BY(by_work, series, work, rank, side)

void tl_diff_kernel_steps(tl_diff *diff)
{
    works *w = &diff->of[KERNELS];
    both all, own;
    TL_EACH (series, s, diff->series)
        s->work = w->v.v[s->work].root;
    if (!diff->side[A].marked)
        return;
    bool same_ranks = diff->side[A].common != NULL && diff->side[A].ranks.n > 1;
    TL_VEC(changed) ranks = { 0 };
    TL_EACH (work, x, w->v)
        x->p_value = NAN;
    for (int i = A; i <= B; i++) {
        all.of[i] = tl_calloc(diff->side[i].steps.n + 1, sizeof *all.of[i]);
        own.of[i] = tl_calloc(diff->side[i].steps.n + 1, sizeof *own.of[i]);
    }
    tl_vec_sort(&diff->series, by_work);
    for (size_t from = 0, to; from < diff->series.n; from = to) {
        const series *first = &diff->series.v[from];
        work *x = &w->v.v[first->work];
        clear_launches(diff, &all);
        ranks.n = 0;
        for (to = from; to < diff->series.n && diff->series.v[to].work == first->work;) {
            int32_t rank = diff->series.v[to].rank;
            for (clear_launches(diff, &own);
                 to < diff->series.n && diff->series.v[to].work == first->work && diff->series.v[to].rank == rank;
                 to++) {
                add_launches(diff, &all, &diff->series.v[to]);
                add_launches(diff, &own, &diff->series.v[to]);
            }
            if (same_ranks)
                tl_vec_push(&ranks, change_of(diff, &own, rank));
        }
        x->p_value = chance_of(diff, &all);
        put_ranks(diff, x, ranks.v, ranks.n, tl_diff_tests_of(w));
    }
    for (int i = A; i <= B; i++) {
        free(all.of[i]);
        free(own.of[i]);
    }
    free(ranks.v);
}
