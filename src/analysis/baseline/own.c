/* own.c - the baseline of a rank without peers, from its other steps.
 *
 *     baseline in step s  =  what it needs in its other steps  *  how heavy s is for all
 *
 * A step is as heavy as it is for the rank in the middle, against that rank's own steps.
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/model/parameters.h"

/* Work that takes time; of what is counted nothing is compared with a rank's own steps. */
enum { OWN_FAMILIES = TL_FAMILY_HOST + 1 };

/* What each rank has of a family in each step. */
static void sum_up(const tl_baseline *b, tl_family family, double *ns)
{
    for (size_t c = 0; c < b->nclasses; c++) {
        const tl_work_class *class = &b->classes[c];
        const tl_role_ranks *role = &b->roles[class->role];
        for (uint32_t i = 0; class->family == family && i < role->n; i++)
            for (size_t k = 0; k < class->steps.n; k++)
                ns[b->members[role->first + i] * b->nsteps + class->steps.v[k]] +=
                    (double)class->ns[i * class->steps.n + k];
    }
}

static double middle_of_own(const tl_baseline *b, const double *ns, double *scratch)
{
    size_t n = 0;
    for (size_t s = 0; s < b->nsteps; s++)
        if (!b->cut[s])
            scratch[n++] = ns[s];
    return n > 0 ? tl_real_median(scratch, n) : 0;
}

/* Fills heavy[nsteps], the median over ranks of a step against the rank's own median; 1 for two ranks or less, where
 * the late one would move the median. */
static void weigh(const tl_baseline *b, const double *ns, double *middle, double *scratch, double *heavy)
{
    size_t nranks = b->graph->nranks;
    for (size_t r = 0; r < nranks; r++)
        middle[r] = middle_of_own(b, ns + r * b->nsteps, scratch);
    for (size_t s = 0; s < b->nsteps; s++) {
        size_t n = 0;
        for (size_t r = 0; r < nranks; r++)
            if (middle[r] > 0)
                scratch[n++] = ns[r * b->nsteps + s] / middle[r];
        heavy[s] = n > 2 ? tl_real_median(scratch, n) : 1;
    }
}

void tl_baseline_own(tl_baseline *out)
{
    size_t n = out->graph->nranks, cells = n * out->nsteps, most = n > out->nsteps ? n : out->nsteps;
    tl_arena arena = { 0 };
    double *ns = tl_arena_take(&arena, cells, sizeof *ns), *middle = tl_arena_take(&arena, n, sizeof *middle);
    double *scratch = tl_arena_take(&arena, most, sizeof *scratch);
    out->heavy = tl_arena_take(&out->arena, OWN_FAMILIES * out->nsteps, sizeof *out->heavy);

    for (int family = 0; family < OWN_FAMILIES; family++) {
        for (size_t i = 0; i < cells; i++)
            ns[i] = 0;
        sum_up(out, (tl_family)family, ns);
        weigh(out, ns, middle, scratch, out->heavy + (size_t)family * out->nsteps);
    }
    tl_arena_free(&arena);
}

/* ------------------------------------------------------------------------------------------------------------ baseline */

static double heaviness(const tl_baseline *b, const tl_work_class *class, size_t step)
{
    return b->heavy[(size_t) class->family * b->nsteps + step];
}

/* What the only member of a class has in a step; *at goes through its cells with the steps. */
static int64_t next_ns(const tl_work_class *class, size_t step, size_t *at)
{
    return *at < class->steps.n && class->steps.v[*at] == step ? class->ns[(*at)++] : 0;
}

/* Lists the time of the only member in full steps that are not `on`, divided by heaviness; returns their number. */
static size_t list_others(const tl_baseline *b, const tl_work_class *class, const bool *on, int64_t *ns)
{
    size_t n = 0;
    for (size_t s = 0, at = 0; s < b->nsteps; s++) {
        int64_t own_ns = next_ns(class, s, &at);
        if (!b->cut[s] && !(on != NULL && on[s]) && heaviness(b, class, s) > 0)
            ns[n++] = (int64_t)((double)own_ns / heaviness(b, class, s));
    }
    return n;
}

int64_t tl_baseline_of_own(const tl_baseline *b, const tl_work_class *class, const bool *on, int64_t *own_ns,
                           int64_t *scratch)
{
    size_t n = list_others(b, class, on, scratch);
    int64_t others = n > 0 ? tl_median(scratch, n) : -1;
    double baseline = 0;
    *own_ns = 0;
    for (size_t s = 0, at = 0; s < b->nsteps; s++) {
        int64_t ns = next_ns(class, s, &at);
        *own_ns += on[s] ? ns : 0;
        baseline += on[s] ? (double)others * heaviness(b, class, s) : 0;
    }
    return others < 0 ? *own_ns : (int64_t)baseline;
}

void tl_lateness_of_own(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch)
{
    size_t n = list_others(b, class, NULL, scratch);
    if (n == 0)
        return;
    tl_ns_sort(scratch, n);
    double better = (double)scratch[(size_t)((1 - TL_PERSISTENT_SHARE) * (double)(n - 1))];
    for (size_t s = 0, at = 0; s < b->nsteps; s++)
        late_ns[s] += (double)next_ns(class, s, &at) - better * heaviness(b, class, s);
}
