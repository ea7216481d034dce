/* contention.c - kernels take longer while communication runs beside them: so do those of ranks that wait for a late
 * one, which is not their doing.
 *
 *     rank 1, traced      [ collective: waits           | transfers ]      its kernels beside that take 1.1 times as long
 *                         [k][k][k][k][k]
 *     rank 0 repaired     [waits| transfers ]                              only the first ones do
 *                         [k][k][k][k][k]
 *
 * What is compared with peers is work without that part.  In a replay a communication that lasts for less time gives back
 * what the kernels beside the rest of it had to take longer; one that lasts longer takes more. */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/analysis/usual.h"
#include <math.h>
#include <stdlib.h>

/* More than kernels that share a device take, and less than anybody would notice. */
static const double most = 1, least = 0.01;
/* So many times what chance may make of it. */
static const double sure = 4;

typedef struct told {
    double part, weight;
} told;

static int by_part(const void *a, const void *b)
{
    const told *x = a, *y = b;
    return TL_COMPARE(x->part, y->part);
}

/* The middle of what ranks tell, each by how sure it is: who is slower in some of its steps waits less in these, so that its
 * own kernels tell the opposite.  0 where chance tells as much. */
static double contention_of(const tl_whatif *w, told *v)
{
    size_t n = 0, i = 0;
    double all = 0, so_far = 0;
    for (size_t r = 0; r < w->in.nranks; r++) {
        const tl_program *p = &w->in.programs[r];
        if (!(p->contention_error > 0 && p->contention_error < most)) /* a program made by hand has none */
            continue;
        v[n++] = (told){ p->contention, 1 / (p->contention_error * p->contention_error) };
        all += v[n - 1].weight;
    }
    if (n > 1)
        qsort(v, n, sizeof *v, by_part);
    while (i + 1 < n && so_far + v[i].weight < all / 2)
        so_far += v[i++].weight;
    return n > 0 && v[i].part * v[i].part * all >= sure * sure ? v[i].part : 0;
}

bool tl_whatif_find_contention(tl_whatif *w)
{
    told *v = tl_malloc((w->in.nranks + 1) * sizeof *v);
    if (v == NULL)
        return false;
    double part = fmin(contention_of(w, v), most);
    free(v);
    w->beside_part = part >= least ? part / (1 + part) : 0;
    return true;
}

int64_t tl_whatif_contended(const tl_whatif *w, int64_t beside_ns)
{
    return llround((double)beside_ns * w->beside_part);
}

/* What kernels beside it had to take longer if it lasts for so long. */
static int64_t taken_by(const tl_whatif *w, const tl_comm *c, int64_t ns)
{
    if (ns <= 0 || c->beside_until_ns <= 0)
        return 0;
    return tl_whatif_contended(w, ns < c->beside_until_ns ? tl_portion(c->beside_ns, ns, c->beside_until_ns) : c->beside_ns);
}

bool tl_whatif_keep_lengths(tl_whatif *w)
{
    if (w->beside_part <= 0)
        return true;
    w->lasted_ns = tl_malloc((w->ncomms + 1) * sizeof *w->lasted_ns);
    for (size_t i = 0; w->lasted_ns != NULL && i < w->ncomms; i++)
        w->lasted_ns[i] = w->end[i] - w->start[i];
    return w->lasted_ns != NULL;
}

void tl_whatif_give_back(tl_whatif *w, uint32_t comm)
{
    uint32_t rank = w->rank_of[comm];
    const tl_comm *c = &w->in.programs[rank].comms[comm - w->comm_base[rank]];
    if (w->lasted_ns != NULL && c->beside_ns > 0)
        w->given_back[rank] += taken_by(w, c, w->lasted_ns[comm]) - taken_by(w, c, w->end[comm] - w->start[comm]);
}
