/* own.c - the baseline of a rank without peers, from its other steps.
 *
 *     baseline in step s  =  the role's median over its other steps  *  the weight of s for other roles
 *
 * The role's work in a step is the median of its ranks.
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/model/parameters.h"
#include <math.h>

/* Families of work that takes time; counts (ADDITIONAL, WAIT) are not compared with a rank's own steps. */
enum { OWN_FAMILIES = TL_FAMILY_HOST + 1 };

/* Fills ns[nsteps] with the role's work of a family in each step: the median of its members.  scratch: room for the
 * members. */
static void own_work(const tl_baseline *b, uint32_t role, tl_family family, double *ns, int64_t *scratch)
{
    for (size_t s = 0; s < b->nsteps; s++)
        ns[s] = 0;
    for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next)
        for (size_t k = 0; b->classes[c].family == family && k < b->classes[c].steps.n; k++)
            ns[b->classes[c].steps.v[k]] += (double)tl_class_middle(b, &b->classes[c], k, scratch);
}

static double middle_of_own(const tl_baseline *b, const double *ns, double *scratch)
{
    size_t n = 0;
    for (size_t s = 0; s < b->nsteps; s++)
        if (!b->cut[s])
            scratch[n++] = ns[s];
    return n > 0 ? tl_real_median(scratch, n) : 0;
}

/* Fills heavy[nroles * nsteps]: over the other roles, the median of (work in the step / the role's median step).  For
 * an even number of other roles a usual step, 1, is added: the middle value nearer to 1 is taken, since a role that is
 * late in most steps seems light in the others. */
static void fill_weights(const tl_baseline *b, const double *ns, double *middle, double *scratch, double *heavy)
{
    for (size_t q = 0; q < b->nroles; q++)
        middle[q] = middle_of_own(b, ns + q * b->nsteps, scratch);
    for (size_t q = 0; q < b->nroles; q++)
        for (size_t s = 0; s < b->nsteps; s++) {
            size_t n = 0;
            for (size_t r = 0; r < b->nroles; r++)
                if (r != q && middle[r] > 0)
                    scratch[n++] = ns[r * b->nsteps + s] / middle[r];
            if (n % 2 == 0)
                scratch[n++] = 1;
            heavy[q * b->nsteps + s] = tl_real_median(scratch, n);
        }
}

void tl_baseline_own(tl_baseline *out)
{
    size_t cells = out->nroles * out->nsteps, most = out->nroles > out->nsteps ? out->nroles : out->nsteps;
    tl_arena arena = { 0 };
    double *ns = tl_arena_take(&arena, cells, sizeof *ns), *middle = tl_arena_take(&arena, out->nroles, sizeof *middle);
    double *scratch = tl_arena_take(&arena, most, sizeof *scratch);
    int64_t *members = tl_arena_take(&arena, out->graph->nranks, sizeof *members);
    out->heavy = tl_arena_take(&out->arena, OWN_FAMILIES * cells, sizeof *out->heavy);

    for (int family = 0; family < OWN_FAMILIES; family++) {
        for (uint32_t role = 0; role < out->nroles; role++)
            own_work(out, role, (tl_family)family, ns + role * out->nsteps, members);
        fill_weights(out, ns, middle, scratch, out->heavy + (size_t)family * cells);
    }
    tl_arena_free(&arena);
}

/* --------------------------------------------------------------------------------------------------------- baseline */

static double weight_of(const tl_baseline *b, const tl_work_class *class, size_t step)
{
    return b->heavy[((size_t) class->family * b->nroles + class->role) * b->nsteps + step];
}

/* Returns the upper bound of a step's weight.  With a single other role, at least 1: that role may be late in most
 * steps itself, and then its other steps only seem lighter. */
static double greatest_weight(const tl_baseline *b, const tl_work_class *class, size_t step)
{
    double heavy = weight_of(b, class, step);
    return b->nroles == 2 ? fmax(1, heavy) : heavy;
}

/* Returns the median over the members of a class in a step, ns; *at walks its cells with the steps. */
static int64_t next_ns(const tl_baseline *b, const tl_work_class *class, size_t step, size_t *at, int64_t *scratch)
{
    return *at < class->steps.n && class->steps.v[*at] == step ? tl_class_middle(b, class, (*at)++, scratch) : 0;
}

/* Lists the class's median work in whole steps without late[step], divided by the step's weight; returns the number of
 * values.  If there is only one other role, steps heavy for it are left out: it may be late in them. */
static size_t list_other_steps(const tl_baseline *b, const tl_work_class *class, const bool *late, int64_t *ns)
{
    size_t n = 0;
    for (size_t s = 0, at = 0; s < b->nsteps; s++) {
        int64_t own_ns = next_ns(b, class, s, &at, ns + b->nsteps);
        bool tells = weight_of(b, class, s) > 0 && (b->nroles != 2 || weight_of(b, class, s) <= 1);
        if (!b->cut[s] && !(late != NULL && late[s]) && tells)
            ns[n++] = (int64_t)((double)own_ns / weight_of(b, class, s));
    }
    return n;
}

int64_t tl_baseline_of_own(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                           int64_t *own_ns, int64_t *scratch)
{
    size_t n = list_other_steps(b, class, on, scratch);
    int64_t others = n > 0 ? tl_median(scratch, n) : -1;
    double baseline = 0;
    *own_ns = 0;
    for (size_t k = 0; k < class->steps.n; k++)
        *own_ns += on[class->steps.v[k]] ? class->ns[member * class->steps.n + k] : 0;
    for (size_t s = 0; s < b->nsteps; s++)
        baseline += on[s] ? (double)others * greatest_weight(b, class, s) : 0;
    return others < 0 ? *own_ns : (int64_t)baseline;
}

static void add_lateness(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch)
{
    size_t n = list_other_steps(b, class, NULL, scratch);
    if (n == 0)
        return;
    tl_ns_sort(scratch, n);
    double better = (double)scratch[(size_t)((1 - TL_MOST_SHARE) * (double)(n - 1))];
    for (size_t s = 0, at = 0; s < b->nsteps; s++)
        late_ns[s] += (double)next_ns(b, class, s, &at, scratch) - better * greatest_weight(b, class, s);
}

void tl_lateness_of_own(const tl_baseline *b, uint32_t role, tl_family family, double *late_ns, int64_t *scratch)
{
    for (size_t s = 0; s < b->nsteps; s++)
        late_ns[s] = 0;
    for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next)
        if (b->classes[c].family == family)
            add_lateness(b, &b->classes[c], late_ns, scratch);
}
