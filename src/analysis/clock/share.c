/* clock_share.c - see clock_share.h. */
#include "share.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"

/* On one host ends differ by where a rank sits in the ring (measured: up to 49 us): nothing below this is believed. */
#define BELIEVED_NS INT64_C(50000)

bool tl_clock_believed(int64_t ns, int64_t sigma_ns)
{
    return tl_clock_apart(ns) > tl_ns_max(sigma_ns < INT64_MAX / 3 ? 3 * sigma_ns : INT64_MAX, BELIEVED_NS);
}

int64_t tl_clock_residual(tl_clock_solving *s, size_t place)
{
    size_t n = 0;
    for (size_t e = s->first_edge[place]; e < s->first_edge[place + 1]; e++)
        s->values[n++] = tl_clock_rounded(s->lsq.value[e] - s->lsq.x[s->lsq.clock[e]] + s->lsq.y[s->lsq.group[e]]);
    return n > 0 ? tl_median(s->values, n) : 0;
}

int64_t tl_clock_sigma(tl_clock_solving *s, size_t place)
{
    size_t n = 0;
    for (size_t e = s->first_edge[place]; e < s->first_edge[place + 1]; e++)
        s->values[n++] = s->edges[e].sigma_ns;
    return n > 0 ? tl_median(s->values, n) : 0;
}

/* Hosts are numbered below the number of places. */
static bool has_host(const tl_clock_solving *s, size_t place)
{
    return s->places[place].host >= 0 && (size_t)s->places[place].host < s->nplaces;
}

void tl_clocks_by_host(tl_clock_solving *s)
{
    int32_t *clock_of_host = s->room;
    for (size_t i = 0; i < s->nplaces; i++)
        clock_of_host[i] = -1;
    s->nclocks = 0;
    for (size_t i = 0; i < s->nplaces; i++) {
        int32_t *known = has_host(s, i) ? &clock_of_host[s->places[i].host] : NULL;
        s->places[i].clock = known != NULL && *known >= 0 ? *known : (int32_t)s->nclocks++;
        if (known != NULL)
            *known = s->places[i].clock;
    }
}

static int by_clock(const void *places, uint32_t a, uint32_t b)
{
    const tl_rank_place *p = places;
    return p[a].clock < p[b].clock ? -1 : p[a].clock > p[b].clock;
}

bool tl_clocks_order(tl_clock_solving *s)
{
    for (size_t i = 0; i < s->nplaces; i++)
        s->order[i] = (uint32_t)i;
    return tl_sort_index(s->order, s->nplaces, by_clock, s->places);
}

static int64_t took_of(tl_clock_solving *s, size_t place)
{
    size_t n = 0;
    for (size_t e = s->first_edge[place]; e < s->first_edge[place + 1]; e++)
        s->values[n++] = s->edges[e].took_ns;
    return n > 0 ? tl_median(s->values, n) : 0;
}

/* Least squares let a rank that is far off pull at all it meets, so a rank is held against the middle of its clock's
 * ranks, and the whole is done again. */
bool tl_clocks_part(tl_clock_solving *s)
{
    size_t before = s->nclocks;

    for (size_t i = 0; i < s->nplaces; i++)
        s->residual[i] = tl_clock_residual(s, i);
    for (size_t from = 0, to; from < s->nplaces; from = to) {
        int32_t clock = s->places[s->order[from]].clock;
        size_t n = 0;
        for (to = from; to < s->nplaces && s->places[s->order[to]].clock == clock; to++)
            s->values[n++] = s->residual[s->order[to]];
        int64_t middle = tl_median(s->values, n);
        for (size_t k = from; n > 1 && k < to; k++) {
            size_t i = s->order[k];
            int64_t apart = tl_ns_between(s->residual[i], middle);
            if (tl_clock_believed(apart, tl_clock_sigma(s, i)) && tl_clock_apart(apart) > took_of(s, i))
                s->places[i].clock = (int32_t)s->nclocks++;
        }
    }
    return s->nclocks > before;
}

void tl_clocks_number(tl_clock_solving *s)
{
    int32_t *number = s->component; /* there are at most two clocks a place, and as much room */
    size_t n = 0;
    for (size_t c = 0; c < s->nclocks; c++)
        number[c] = -1;
    for (size_t i = 0; i < s->nplaces; i++) {
        int32_t *clock = &s->places[i].clock;
        if (number[*clock] < 0)
            number[*clock] = (int32_t)n++;
        *clock = number[*clock];
    }
    s->nclocks = n;
}
