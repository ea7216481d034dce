/* explain.c - a rank is longer in one phase: is it late there, or does it wait there?
 *
 * The phases in which the rank is shorter than other ranks decide, if there are any:
 *
 *     shorter in phases with more collectives    the rank arrived late at these collectives: others wait there
 *     shorter in phases with fewer of them       the rank was early: it waits in the longer phase
 *     shorter in phases with as many             the steps in which the rank is not late decide, if there are any: if
 *                                                other ranks are shorter in these steps, they waited in the late steps
 *     shorter nowhere                            no phase shows a wait
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"

/* By how much the rank is shorter in the classes with more, fewer or as many collectives; the class with the largest
 * amount, and that amount. */
typedef struct makes_up {
    double ns, most_ns;
    uint32_t class;
} makes_up;

/* Returns by how much the candidate is shorter in a class in steps in which others may wait for it. */
static double shorter_in(const tl_phase_job *j, const tl_phase_candidate *u, const tl_phase_class *class)
{
    double ns = 0;
    for (size_t k = 0; k < class->columns.n; k++)
        if (tl_phase_is_after(u, class->columns.v[k].step) && !isnan(tl_phase_own(j, class, k, u->rank)))
            ns -= tl_phase_excess(j, class, k, u->rank);
    return ns;
}

/* Returns by how much longer the other ranks are in a class in the candidate's late steps than in its other steps
 * (means). */
static double others_longer_in(const tl_phase_job *j, const tl_phase_candidate *u, const tl_phase_class *class)
{
    double ns[2] = { 0 }, n[2] = { 0 };
    for (size_t k = 0; k < class->columns.n; k++) {
        const bool late = tl_phase_is_late(u, class->columns.v[k].step);
        if (isnan(tl_phase_own(j, class, k, u->rank)))
            continue;
        ns[late] += tl_phase_own(j, class, k, u->rank) - tl_phase_excess(j, class, k, u->rank);
        n[late]++;
    }
    return n[0] > 0 && n[1] > 0 ? ns[1] / n[1] - ns[0] / n[0] : 0;
}

/* Sets the answer, and the class in which the candidate is shorter.  Being shorter outside of phases is no evidence:
 * other ranks may be idle there while phases of theirs overlap.  A class that may hold collectives may hold only
 * collectives: it counts as having as many as a class that holds some. */
static void explain(const tl_phase_job *j, tl_phase_candidate *u)
{
    const tl_phase_holds holds = j->classes[u->class].holds;
    const double enough = TL_MOST_SHARE * u->late_ns;
    makes_up fewer = { .class = TL_NONE }, equal = fewer, more = fewer;
    for (uint32_t c = 0; c < j->nclasses; c++) {
        const tl_phase_holds those = j->classes[c].holds;
        const bool open = those == holds || (those == TL_HOLDS_UNKNOWN && holds == TL_HOLDS_SOME);
        makes_up *m = open ? &equal : those > holds ? &more : &fewer;
        const double ns = c == u->class || c == j->outside ? 0 : shorter_in(j, u, &j->classes[c]);
        m->ns += fmax(0, ns);
        if (ns > m->most_ns) {
            m->most_ns = ns;
            m->class = c;
        }
    }
    const bool late = more.ns >= enough && more.ns >= fewer.ns, early = fewer.ns >= enough;
    const makes_up *m = late ? &more : early ? &fewer : &equal;
    u->in = m->class;
    u->shorter_ns = m->most_ns;
    u->by_history = !late && !early && equal.ns >= enough && u->shape.nup < u->nsteps &&
                    others_longer_in(j, u, &j->classes[u->in]) * (double)u->shape.nup >= enough;
    u->answer = late || u->by_history ? TL_PHASE_STRAGGLER
                : early               ? TL_PHASE_WAITING
                : equal.ns >= enough  ? TL_PHASE_OPEN
                                      : TL_PHASE_LONGER;
}

/* ---------------------------------------------------------------------------------------------------------- measure */

/* Returns the rank's time in a column beyond the median of the ranks that are not named. */
static double beside_peers(const tl_phase_job *j, const tl_phase_class *class, size_t k, uint32_t rank,
                           const bool *named, double *scratch)
{
    size_t n = 0;
    for (uint32_t r = 0; r < j->nranks; r++)
        if (!named[r] && !isnan(tl_phase_own(j, class, k, r)))
            scratch[n++] = tl_phase_own(j, class, k, r);
    if (n == 0)
        return tl_phase_excess(j, class, k, rank);
    double middle_ns = tl_real_median(scratch, n);
    return tl_phase_own(j, class, k, rank) - (class == &j->classes[j->outside] ? fmax(0, middle_ns) : middle_ns);
}

/* Measures, against ranks that are not named, how late a candidate is, and how much shorter in the class where others
 * wait. */
static void measure_against_peers(const tl_phase_job *j, tl_phase_candidate *u, const bool *named, double *scratch)
{
    const tl_phase_class *class = &j->classes[u->class], *in = &j->classes[u->in];
    u->late_ns = u->shorter_ns = 0;
    for (size_t k = 0; k < class->columns.n; k++) {
        const uint32_t step = class->columns.v[k].step;
        if (!tl_phase_is_late(u, step))
            continue;
        const double ns = beside_peers(j, class, k, u->rank, named, scratch);
        u->late_ns += ns;
        u->excess_ns[step] = fmax(0, ns);
    }
    for (size_t k = 0; k < in->columns.n; k++)
        if (tl_phase_is_after(u, in->columns.v[k].step) && !isnan(tl_phase_own(j, in, k, u->rank)))
            u->shorter_ns -= beside_peers(j, in, k, u->rank, named, scratch);
}

/* Finds the ranks that take longer than the candidate where they may wait for it, or whose measured waits are longer.
 * longer_ns[nranks]: scratch. */
static void find_waiters(const tl_phase_job *j, tl_phase_candidate *u, double *longer_ns)
{
    for (size_t r = 0; r < j->nranks; r++)
        longer_ns[r] = 0;
    for (uint32_t c = 0; c < j->nclasses; c++) {
        const tl_phase_class *class = &j->classes[c];
        for (size_t k = 0; k < class->columns.n && (c == u->in || c == j->waits); k++)
            for (uint32_t r = 0; r < j->nranks && tl_phase_is_after(u, class->columns.v[k].step); r++) {
                double ns = tl_phase_own(j, class, k, r) - tl_phase_own(j, class, k, u->rank);
                longer_ns[r] += isnan(ns) ? 0 : ns;
            }
    }
    for (size_t r = 0; r < j->nranks; r++)
        if (longer_ns[r] > 0 && longer_ns[r] >= TL_MOST_SHARE * u->late_ns) {
            u->nwaiters++;
            u->waited_ns += longer_ns[r];
        }
    u->waited_ns /= fmax(1, u->nwaiters);
}

/* Outside of phases only stragglers are kept: waiting there is expected. */
void tl_phase_candidates_explain(tl_phase_job *j)
{
    tl_arena arena = { 0 };
    bool *named = tl_arena_zeroed(&arena, j->nranks, sizeof *named);
    double *scratch = tl_arena_take(&arena, j->nranks, sizeof *scratch);
    size_t kept = 0;
    TL_EACH (tl_phase_candidate, u, j->candidates) {
        explain(j, u);
        named[u->rank] |= u->answer == TL_PHASE_STRAGGLER;
        if (u->class != j->outside || u->answer == TL_PHASE_STRAGGLER)
            j->candidates.v[kept++] = *u;
    }
    j->candidates.n = kept;
    TL_EACH (tl_phase_candidate, u, j->candidates)
        if (u->answer == TL_PHASE_STRAGGLER) {
            measure_against_peers(j, u, named, scratch);
            find_waiters(j, u, scratch);
        }
    tl_arena_free(&arena);
}
