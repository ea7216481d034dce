/* own.c - the baseline of a role, from its other steps: of a rank without peers, or where all ranks of a role are late.
 *
 *     baseline in step s  =  what the role needs in its other steps  *  how heavy s is for other roles
 *
 * What a role needs is what the rank in its middle does.
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/model/parameters.h"
#include <math.h>

/* Work that takes time; of what is counted nothing is compared with a rank's own steps. */
enum { OWN_FAMILIES = TL_FAMILY_HOST + 1 };

void tl_own_work(const tl_baseline *b, uint32_t role, tl_family family, double *ns, int64_t *scratch)
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

/* Fills heavy[nroles * nsteps]: a step of the role in the middle of all others, against that role's own median; of two
 * in the middle the one nearer to a usual step: a role that is late in most steps seems to be light in the others. */
static void weigh(const tl_baseline *b, const double *ns, double *middle, double *scratch, double *heavy)
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
            tl_own_work(out, role, (tl_family)family, ns + role * out->nsteps, members);
        weigh(out, ns, middle, scratch, out->heavy + (size_t)family * cells);
    }
    tl_arena_free(&arena);
}

/* ------------------------------------------------------------------------------------------------------------ baseline */

static double heaviness(const tl_baseline *b, const tl_work_class *class, size_t step)
{
    return b->heavy[((size_t)class->family * b->nroles + class->role) * b->nsteps + step];
}

/* How much heavier a step is than others may be.  A single other role may be late itself in most steps: then the others
 * only seem to be lighter. */
static double most_heavy(const tl_baseline *b, const tl_work_class *class, size_t step)
{
    double heavy = heaviness(b, class, step);
    return b->nroles == 2 ? fmax(1, heavy) : heavy;
}

/* What the rank in the middle of a class has in a step; *at goes through its cells with the steps. */
static int64_t next_ns(const tl_baseline *b, const tl_work_class *class, size_t step, size_t *at, int64_t *scratch)
{
    return *at < class->steps.n && class->steps.v[*at] == step ? tl_class_middle(b, class, (*at)++, scratch) : 0;
}

/* Lists what the class has in full steps that are not `late`, divided by heaviness; returns their number.  A step that is
 * heavy for the only other role may be one in which that role is late: it is left out. */
static size_t list_others(const tl_baseline *b, const tl_work_class *class, const bool *late, int64_t *ns)
{
    size_t n = 0;
    for (size_t s = 0, at = 0; s < b->nsteps; s++) {
        int64_t own_ns = next_ns(b, class, s, &at, ns + b->nsteps);
        bool tells = heaviness(b, class, s) > 0 && (b->nroles != 2 || heaviness(b, class, s) <= 1);
        if (!b->cut[s] && !(late != NULL && late[s]) && tells)
            ns[n++] = (int64_t)((double)own_ns / heaviness(b, class, s));
    }
    return n;
}

int64_t tl_baseline_of_own(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                           const bool *late, int64_t *own_ns, int64_t *scratch)
{
    size_t n = list_others(b, class, late, scratch);
    int64_t others = n > 0 ? tl_median(scratch, n) : -1;
    double baseline = 0;
    *own_ns = 0;
    for (size_t k = 0; k < class->steps.n; k++)
        *own_ns += on[class->steps.v[k]] ? class->ns[member * class->steps.n + k] : 0;
    for (size_t s = 0; s < b->nsteps; s++)
        baseline += on[s] ? (double)others * most_heavy(b, class, s) : 0;
    return others < 0 ? *own_ns : (int64_t)baseline;
}

static void add_lateness(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch)
{
    size_t n = list_others(b, class, NULL, scratch);
    if (n == 0)
        return;
    tl_ns_sort(scratch, n);
    double better = (double)scratch[(size_t)((1 - TL_PERSISTENT_SHARE) * (double)(n - 1))];
    for (size_t s = 0, at = 0; s < b->nsteps; s++)
        late_ns[s] += (double)next_ns(b, class, s, &at, scratch) - better * most_heavy(b, class, s);
}

void tl_lateness_of_own(const tl_baseline *b, uint32_t role, tl_family family, double *late_ns, int64_t *scratch)
{
    for (size_t s = 0; s < b->nsteps; s++)
        late_ns[s] = 0;
    for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next)
        if (b->classes[c].family == family)
            add_lateness(b, &b->classes[c], late_ns, scratch);
}
