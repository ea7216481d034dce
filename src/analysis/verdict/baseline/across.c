/* across.c - compares the same kernels in different inner stages of a pipeline.
 *
 *     stage 0    embedding 1   gemm 8   relu 4
 *     stage 1                  gemm 8   relu 4
 *     stage 2                  gemm 8   relu 4
 *     stage 3                  gemm 8   relu 4
 *     stage 4                  gemm 8   relu 4   loss 1
 *
 * The first and the last stage are left out: they do more, possibly in kernels of the same names.  Inner stages are
 * compared if they run the same number of kernels of the same amount of work.  A role's work is the median of its
 * ranks.  With only two stages, an excess below TL_LITTLE_PART (a tenth) does not count: other work beside these
 * kernels need not be the same.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>

static int64_t middle_in(const tl_baseline *b, const tl_work_class *class, size_t step, int64_t *scratch)
{
    size_t k = tl_class_cell(class, 0, step);
    return k != SIZE_MAX ? tl_class_middle(b, class, k, scratch) : 0;
}

/* Whether the amounts of two classes, each relative to its first step, change alike from step to step. */
static bool vary_alike(const tl_work_class *x, const tl_work_class *y)
{
    for (size_t k = 0; k < x->steps.n && k < y->steps.n; k++) {
        double a = (double)x->amount[k] * (double)y->amount[0], c = (double)y->amount[k] * (double)x->amount[0];
        if (fabs(a - c) * (double)TL_LITTLE_PART > fmax(a, c))
            return false;
    }
    return true;
}

/* Returns the number of a member's pieces in whole steps; sets *varies if the number differs between steps. */
static int64_t count_pieces(const tl_baseline *b, const tl_work_class *class, size_t member, bool *varies)
{
    int64_t sum = 0, first = -1;
    for (size_t s = 0; s < b->nsteps; s++) {
        if (b->cut[s])
            continue;
        int64_t n = tl_class_pieces(class, member, s);
        first = first < 0 ? n : first;
        *varies = *varies || n != first;
        sum += n;
    }
    return sum;
}

/* Whether all members of y have as many pieces as the first member of x; if the number varies by step, a tenth of
 * tolerance. */
static bool has_equal_pieces(const tl_baseline *b, const tl_work_class *x, const tl_work_class *y)
{
    for (size_t i = 0; i < b->roles[y->role].n; i++) {
        bool varies = false;
        int64_t n = count_pieces(b, x, 0, &varies), other = count_pieces(b, y, i, &varies);
        int64_t apart = n < other ? other - n : n - other;
        if (n == 0 || (varies ? apart > n / TL_LITTLE_PART : apart > 0))
            return false;
    }
    return true;
}

static bool is_same_work(const tl_baseline *b, const tl_work_class *x, const tl_work_class *y)
{
    return tl_is_inner_stage(b, y->role) && y->amount != NULL && has_equal_pieces(b, x, y) && vary_alike(x, y);
}

/* Lists the classes of all inner stages that are the same work as `class`; returns their number. */
static size_t list_same(const tl_baseline *b, const tl_work_class *class, const tl_work_class **same)
{
    size_t n = 0;
    if (!tl_is_inner_stage(b, class->role) || class->amount == NULL || class->key == TL_EXCHANGED ||
        !has_equal_pieces(b, class, class))
        return 0;
    for (uint32_t role = 0; role < b->nroles; role++) {
        uint32_t c = tl_class_find(b, TL_FAMILY_DEVICE, role, class->key);
        if (c != TL_NONE && is_same_work(b, class, &b->classes[c]))
            same[n++] = &b->classes[c];
    }
    return n;
}

/* Adds the lateness of one class against the same work of other roles to late_ns[nsteps]. */
static void add_lateness_of(const tl_baseline *b, const tl_work_class *class, const tl_work_class **same,
                            double *late_ns, int64_t *scratch)
{
    const size_t n = list_same(b, class, same);
    int64_t *ns = scratch + b->graph->nranks;
    for (size_t k = 0; n > 1 && k < class->steps.n; k++) {
        const uint32_t step = class->steps.v[k];
        int64_t own = tl_class_middle(b, class, k, scratch);
        for (size_t i = 0; i < n; i++)
            ns[i] = middle_in(b, same[i], step, scratch);
        int64_t usual = tl_baseline_median(ns, n);
        late_ns[step] += n == 2 && own - usual <= usual / TL_LITTLE_PART ? 0 : (double)(own - usual);
    }
}

void tl_lateness_across(const tl_baseline *b, double *late_ns)
{
    const tl_work_class **same = tl_malloc((b->nroles + 1) * sizeof *same);
    int64_t *scratch = tl_malloc((b->graph->nranks + b->nroles + 1) * sizeof *scratch);
    for (size_t i = 0; i < b->nroles * b->nsteps; i++)
        late_ns[i] = 0;
    for (uint32_t role = 0; role < b->nroles; role++)
        for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next)
            if (b->classes[c].family == TL_FAMILY_DEVICE)
                add_lateness_of(b, &b->classes[c], same, late_ns + role * b->nsteps, scratch);
    free(same);
    free(scratch);
}

int64_t tl_baseline_across(const tl_baseline *b, const tl_work_class *class, int64_t own_ns, const bool *on,
                           const tl_work_class **same, int64_t *scratch)
{
    const size_t n = list_same(b, class, same);
    int64_t middle = 0, *ns = scratch + b->graph->nranks;
    for (size_t i = 0; n > 1 && i < n; i++) {
        ns[i] = 0;
        for (size_t s = 0; s < b->nsteps; s++)
            ns[i] += on[s] ? middle_in(b, same[i], s, scratch) : 0;
        middle = same[i] == class ? ns[i] : middle;
    }
    return middle > 0 ? tl_portion(own_ns, tl_ns_min(middle, tl_baseline_median(ns, n)), middle) : own_ns;
}
