/* explain.c - a rank is longer in one phase: is it late there, or does it wait there?
 *
 * What makes up for it tells, if anything does: phases in which the rank is shorter than the others.
 *
 *     shorter where collectives are           it came late to them: the others wait there
 *     shorter where there are fewer of them   it was early: here it waits itself
 *     shorter where there may be as many      the steps in which it is not late tell, if there are any: where the others
 *                                             are shorter then, they waited
 *     shorter nowhere                         nothing shows that anybody waits
 *
 * What levels a delay makes the rank shorter by as much as it was longer, not by more.
 */
#include "tlmpi/analysis/phase.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>

/* What makes up for a unit, of one sort. */
typedef struct makes_up {
    int64_t ns, most_ns;
    uint32_t phase; /* that of the most */
} makes_up;

static void count(makes_up *m, uint32_t phase, int64_t shorter_ns)
{
    if (shorter_ns <= 0)
        return;
    m->ns = tl_ns_add(m->ns, shorter_ns);
    if (shorter_ns > m->most_ns) {
        m->most_ns = shorter_ns;
        m->phase = phase;
    }
}

int tl_phase_holds_compare(tl_phase_holds these, tl_phase_holds those)
{
    bool not_known = these == TL_HOLDS_UNKNOWN && those == TL_HOLDS_SOME; /* these may be all that there is */
    return not_known ? 0 : TL_COMPARE(these, those);
}

tl_phase_answer tl_phase_explain(const tl_phase_unit *unit, const tl_phase_holds *holds, size_t ncolumns,
                                 const tl_phase_evidence *e, uint32_t *in)
{
    makes_up more = { .phase = UINT32_MAX }, fewer = more, equal = more;
    double enough = TL_PHASE_MAKES_UP * (double)unit->late_ns, longer = 0;

    for (uint32_t c = 0; c < ncolumns; c++)
        if (holds[c] != TL_HOLDS_ONLY) /* there it waits */
            longer += (double)tl_ns_max(0, -e->shorter_ns[c]);
    for (uint32_t c = 0; c < ncolumns; c++) {
        int order = tl_phase_holds_compare(holds[c], holds[unit->phase]);
        if (c != unit->phase)
            count(order > 0 ? &more : order < 0 ? &fewer : &equal, c, e->shorter_ns[c]);
    }
    count(&more, (uint32_t)ncolumns, e->shorter_ns[ncolumns]);
    bool levelled = TL_PHASE_MAKES_UP * (double)more.most_ns <= fmax(longer, (double)unit->late_ns);
    if ((double)more.ns >= enough && more.ns >= fewer.ns && levelled) {
        *in = more.phase;
        return TL_PHASE_STRAGGLER;
    }
    if ((double)fewer.ns >= enough) {
        *in = fewer.phase;
        return TL_PHASE_WAITING;
    }
    *in = equal.phase;
    if ((double)equal.ns < enough)
        return TL_PHASE_LONGER;
    bool waited = unit->nup < unit->n && (double)e->others_longer_ns[equal.phase] * unit->nup >= enough;
    return waited ? TL_PHASE_STRAGGLER : TL_PHASE_OPEN;
}
