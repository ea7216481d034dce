/* ends.c - what the ends of collectives leave in doubt of clocks, and the rows of table clock.
 *
 *     rank 0   ...===]         they leave together, but for their own transfers: whatever the clocks are off by after they
 *     rank 1   ...==]          have been corrected, ends lie as far apart
 *     rank 2   ...====]
 */
#include "tlmpi/analysis/clock.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include <stdlib.h>

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

/* What the ends of the ranks of a clock leave open, in the middle; INT64_MAX: none tells. */
static int64_t sigma_of(const tl_table *rows, const tl_rank_place *places, size_t nplaces, int32_t clock,
                        const int64_t *sigma, int64_t *room)
{
    size_t n = 0;
    for (size_t i = 0; i < nplaces; i++)
        if (places[i].clock == clock && ((const tl_clock *)tl_table_row(rows, i))->anchors > 0)
            room[n++] = sigma[i];
    return n > 0 ? tl_median(room, n) : INT64_MAX;
}

tl_status tl_clocks_fill(const tl_clock_scatter *scatter, size_t n, tl_rank_place *places, size_t nplaces,
                         tl_table *table, tl_error *err)
{
    int64_t *sigma = tl_calloc(nplaces + 1, sizeof *sigma), *room = tl_calloc(nplaces + 1, sizeof *room);
    int64_t *of_clock = tl_calloc(nplaces + 1, sizeof *of_clock);

    if (sigma == NULL || room == NULL || of_clock == NULL) {
        free(sigma);
        free(room);
        free(of_clock);
        return tl_fail_memory(err, "the clocks");
    }
    for (size_t i = 0, k = 0; i < nplaces; i++) {
        tl_clock *row = tl_table_row(table, i);
        while (k < n && scatter[k].rank < places[i].rank)
            k++;
        if (k < n && scatter[k].rank == places[i].rank) {
            row->anchors = scatter[k].ends;
            sigma[i] = scatter[k].sigma_ns;
        }
    }
    for (size_t i = 0; i < nplaces; i++) {
        size_t clock = (size_t)places[i].clock;
        tl_clock *row = tl_table_row(table, i);
        if (i == 0 || of_clock[clock] == 0)
            of_clock[clock] =
                1 + tl_ns_min(sigma_of(table, places, nplaces, places[i].clock, sigma, room), INT64_MAX - 1);
        row->clock = places[i].clock;
        row->component = places[i].component;
        row->offset_ns = places[i].offset_ns;
        row->drift_ppb = places[i].drift_ppb;
        row->applied = places[i].applied;
        row->bound_ns = places[i].sigma_ns < INT64_MAX ? places[i].sigma_ns : -1;
        places[i].sigma_ns = tl_ns_min(places[i].sigma_ns, of_clock[clock] - 1);
        /* Ranks of nobody knows which host whose clocks are possible as recorded may well share one. */
        if (places[i].host < 0 && !places[i].applied)
            places[i].sigma_ns = 0;
        row->sigma_ns = places[i].sigma_ns < INT64_MAX - 1 ? places[i].sigma_ns : -1;
    }
    free(sigma);
    free(room);
    free(of_clock);
    return TL_OK;
}
