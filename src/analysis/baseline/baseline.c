/* baseline.c - what is usual, and by how much a rank exceeds it. */
#include "parts.h"
#include "tlmpi/base/quantile.h"
#include <stdlib.h>

tl_status tl_baseline_make(const tl_graph *graph, const int32_t *ranks, const tl_late_row *rows, size_t nrows,
                           tl_baseline *out, tl_error *err)
{
    *out = (tl_baseline){ .graph = graph };
    bool ok = tl_baseline_roles(ranks, rows, nrows, out) && tl_baseline_steps(out) && tl_baseline_cells(out) &&
              tl_baseline_places(out) && tl_baseline_own(out);
    return ok ? TL_OK : tl_fail_memory(err, "what is usual");
}

void tl_baseline_free(tl_baseline *b)
{
    for (size_t c = 0; c < b->nclasses; c++)
        tl_class_free(&b->classes[c]);
    free(b->classes);
    free(b->roles);
    free(b->members);
    free(b->role_of);
    free(b->place_of);
    free(b->talks);
    free(b->steps);
    free(b->cut);
    free(b->class_of);
    free(b->step_of);
    free(b->segment_of);
    free(b->links);
    free(b->link_members);
    free(b->host_of);
    free(b->link_of);
    free(b->tail_ns);
    free(b->usual_ns);
    free(b->heavy);
    *b = (tl_baseline){ 0 };
}

int64_t tl_usual(int64_t *values, size_t n)
{
    return tl_lower_median(values, n);
}

int64_t tl_baseline_of(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on, int64_t *own_ns,
                       int64_t *scratch)
{
    size_t n = b->roles[class->role].n;
    if (class->family == TL_FAMILY_TRANSFER)
        return tl_baseline_of_link(b, class, member, on, own_ns, scratch);
    if (n == 1)
        return tl_usual_of_own(b, class, on, own_ns, scratch);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = 0;
        for (size_t s = 0; s < b->nsteps; s++)
            scratch[i] += on[s] ? class->ns[i * b->nsteps + s] : 0;
    }
    *own_ns = scratch[member];
    return tl_usual(scratch, n);
}

/* How long the waits of a member are that it has beyond n of them. */
static double more_than(const tl_work_class *class, size_t cell, int64_t n)
{
    int64_t more = (int64_t)class->pieces[cell] - n;
    return more > 0 ? (double)class->ns[cell] * (double)more / (double)class->pieces[cell] : 0;
}

static void add_waits(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch)
{
    size_t n = b->roles[class->role].n;
    for (size_t s = 0; n > 1 && s < b->nsteps; s++) {
        for (size_t i = 0; i < n; i++)
            scratch[i] = class->pieces[i * b->nsteps + s];
        int64_t usual = tl_usual(scratch, n);
        for (size_t i = 0; i < n; i++) {
            late_ns[i * b->nsteps + s] += more_than(class, i * b->nsteps + s, usual);
            if (n == 2)
                late_ns[i * b->nsteps + s] -= more_than(class, (1 - i) * b->nsteps + s, usual);
        }
    }
}

bool tl_lateness(const tl_baseline *b, uint32_t role, tl_family family, double *late_ns, int64_t *scratch)
{
    bool ok = true;
    size_t n = b->roles[role].n;
    for (size_t i = 0; i < n * b->nsteps; i++)
        late_ns[i] = 0;
    for (size_t c = 0; c < b->nclasses; c++) {
        const tl_work_class *class = &b->classes[c];
        if (class->role != role || class->family != family)
            continue;
        if (family == TL_FAMILY_TRANSFER) {
            ok = ok && tl_lateness_of_links(b, class, late_ns, scratch);
            continue;
        }
        if (family == TL_FAMILY_WAIT) {
            add_waits(b, class, late_ns, scratch);
            continue;
        }
        if (n == 1) {
            tl_lateness_of_own(b, class, late_ns, scratch);
            continue;
        }
        for (size_t s = 0; s < b->nsteps; s++) {
            for (size_t i = 0; i < n; i++)
                scratch[i] = class->ns[i * b->nsteps + s];
            int64_t pair = n == 2 ? scratch[0] + scratch[1] : 0, usual = tl_usual(scratch, n);
            for (size_t i = 0; i < n; i++) {
                /* Of two, each is the other's peer: noise has both signs. */
                usual = n == 2 ? pair - class->ns[i * b->nsteps + s] : usual;
                late_ns[i * b->nsteps + s] += (double)(class->ns[i * b->nsteps + s] - usual);
            }
        }
    }
    for (size_t s = 0; n > 2 && s < b->nsteps; s++) { /* medians of skewed parts do not add up */
        for (size_t i = 0; i < n; i++)
            scratch[i] = (int64_t)late_ns[i * b->nsteps + s];
        int64_t middle = tl_median(scratch, n);
        for (size_t i = 0; i < n; i++)
            late_ns[i * b->nsteps + s] -= (double)middle;
    }
    return ok;
}
