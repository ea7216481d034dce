/* ends.c - what the ends of collectives leave in doubt of clocks.
 *
 *     rank 0   ...===]         they leave together, but for their own transfers: whatever the clocks are off by after they
 *     rank 1   ...==]          have been corrected, ends lie as far apart
 *     rank 2   ...====]
 */
#include "tlmpi/analysis/clock.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* A group's ends are read of about so many of its collectives: more would not make them surer. */
#define COLLECTIVES_READ 256u

bool tl_clock_ends(const tl_participant *p, size_t n, tl_clock_end *out, size_t *nout)
{
    *nout = 0;
    if (n < 2 || tl_collective_suspect(p, n) != TL_SUSPECT_NOTHING || !tl_participants_synchronise(p, n))
        return true;
    int64_t *ends = tl_malloc(n * sizeof *ends);
    if (ends == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        ends[i] = p[i].end_ns;
    int64_t middle_ns = tl_median(ends, n);
    for (size_t i = 0; i < n; i++) {
        int64_t apart_ns = tl_ns_between(p[i].end_ns, middle_ns);
        out[i] = (tl_clock_end){ .rank = p[i].rank, .apart_ns = apart_ns < 0 ? -apart_ns : apart_ns };
    }
    *nout = n;
    free(ends);
    return true;
}

/* Whether the collective is one of those whose ends are read: a function of its key, so the same on any number of
 * procs. */
static bool is_read(const tl_job_facts *job, const tl_participant *p)
{
    uint32_t most = p->group >= 0 && (size_t)p->group < job->ngroups ? job->groups[p->group].most : 0;
    return tl_hash_mix(p->key, 0) % (most / COLLECTIVES_READ + 1) == 0;
}

bool tl_clock_ends_take(const tl_participant *participants, size_t n, const tl_job_facts *job, tl_clock_end_list *out)
{
    for (size_t from = 0, to; from < n; from = to) {
        to = tl_participants_end(participants, n, from);
        size_t more = 0;
        if (!is_read(job, &participants[from]))
            continue;
        if (!tl_grow((void **)&out->v, &out->cap, out->n + (to - from), sizeof *out->v) ||
            !tl_clock_ends(participants + from, to - from, out->v + out->n, &more))
            return false;
        out->n += more;
    }
    return true;
}

static int by_distance(const void *a, const void *b)
{
    const tl_clock_end *x = a, *y = b;
    return TL_COMPARE(x->apart_ns, y->apart_ns);
}

tl_clock_scatter tl_clock_scatter_of(tl_clock_end *ends, size_t n)
{
    qsort(ends, n, sizeof *ends, by_distance);
    int64_t mad_ns = ends[tl_upper_middle(n)].apart_ns;
    return (tl_clock_scatter){ .rank = ends->rank, .ends = (int64_t)n, .sigma_ns = tl_sigma_of_mad_ns(mad_ns) };
}

static int by_rank(const void *a, const void *b)
{
    const tl_clock_end *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

bool tl_clock_scatters(tl_clock_end *ends, size_t n, tl_clock_scatter_list *out)
{
    if (n > 0)
        qsort(ends, n, sizeof *ends, by_rank);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && ends[to].rank == ends[from].rank; to++)
            ;
        if (!tl_vec_room(out))
            return false;
        out->v[out->n++] = tl_clock_scatter_of(ends + from, to - from);
    }
    return true;
}
