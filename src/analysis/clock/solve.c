/* clock_solve.c - all edges of the job to a clock for each rank.
 *
 *     a clock for each host, and for each rank whose host is not known
 *     -> least squares -> a rank that lies further from its host's clock than its scatter explains gets its own
 *     -> least squares again -> what is sent ties components that no collective connects
 *     -> the clock of the middle rank of each component is taken to be right
 *
 * Offsets hold in the middle of the time that the edges cover; drifts are solved for in the same way, from the edges
 * that have one.
 */
#include "ring.h"
#include "share.h"
#include "ties.h"
#include "tlmpi/analysis/clock.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include <stdlib.h>

/* An edge weighs as its anchors, up to so many: then what does not fit is no chance. */
#define MOST_WEIGHT 100

/* A ring may let some go earlier than others by a part of what its transfers take.  So what takes longer than this is
 * less sure in proportion, and weighs as little as that squared; never nothing, as it may be all there is. */
#define BRIEF_NS     50000.0
#define LEAST_WEIGHT 1e-4

/* Clocks run right to a thousandth, or what they seem to do is a wrong match. */
#define MOST_DRIFT_PPB INT64_C(1000000)

/* Ranks are parted from their hosts' clocks so often at most. */
#define PARTINGS 4

/* -------------------------------------------------------------------------------------------------- what edges say */

static void take_middle(tl_clock_solving *s)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t e = 0; e < s->nedges + s->all->npairs; e++) {
        const tl_clock_edge *edge = e < s->nedges ? &s->edges[e] : &s->all->of_pairs[e - s->nedges];
        first = edge->first_ns < first ? edge->first_ns : first;
        last = tl_ns_max(edge->last_ns, last);
    }
    if (first <= last) {
        s->half_ns = tl_ns_between(last, first) / 2;
        s->middle_ns = first + s->half_ns;
    }
}

static void take_clocks(tl_clock_solving *s)
{
    s->lsq.nclocks = s->nclocks;
    for (size_t i = 0; i < s->nplaces; i++)
        for (size_t e = s->first_edge[i]; e < s->first_edge[i + 1]; e++)
            s->lsq.clock[e] = s->places[i].clock;
}

static double weight_of(const tl_clock_edge *edge)
{
    double sure = BRIEF_NS / (BRIEF_NS + (double)tl_ns_max(0, edge->took_ns));
    return (double)(edge->anchors < MOST_WEIGHT ? edge->anchors : MOST_WEIGHT) * fmax(sure * sure, LEAST_WEIGHT);
}

/* Offsets in the middle of the job. */
static void take_offsets(tl_clock_solving *s)
{
    for (size_t e = 0; e < s->nedges; e++) {
        const tl_clock_edge *edge = &s->edges[e];
        s->lsq.weight[e] = weight_of(edge);
        s->lsq.value[e] = (double)edge->ahead_ns + edge->drift * (double)tl_ns_between(s->middle_ns, edge->middle_ns);
    }
}

static void take_drifts(tl_clock_solving *s)
{
    for (size_t e = 0; e < s->nedges; e++) {
        s->lsq.weight[e] = s->edges[e].has_drift ? s->lsq.weight[e] : 0;
        s->lsq.value[e] = s->edges[e].drift * 1e9;
    }
}

/* ------------------------------------------------------------------------------------------------------ the values */

/* Takes the value of the middle rank of each component off all its clocks.  Of an even number it is the lower, so that
 * it is some rank's: two hosts of equal size do not meet halfway. */
static void set_zero(tl_clock_solving *s, int64_t *value)
{
    for (int32_t component = 0, more = 1; more; component++) {
        size_t n = 0;
        more = 0;
        for (size_t i = 0; i < s->nplaces; i++) {
            int32_t mine = s->component[s->places[i].clock];
            more |= mine > component;
            if (mine == component)
                s->values[n++] = value[s->places[i].clock];
        }
        if (n == 0)
            continue;
        tl_ns_sort(s->values, n);
        int64_t zero = s->values[(n - 1) / 2];
        for (size_t c = 0; c < s->nclocks; c++)
            if (s->component[c] == component)
                value[c] = tl_ns_between(value[c], zero);
    }
}

/* The scatter of each clock: the median over its ranks. */
static void take_sigmas(tl_clock_solving *s)
{
    for (size_t i = 0; i < s->nplaces; i++)
        s->places[i].sigma_ns = tl_clock_sigma(s, i);
    for (size_t from = 0, to; from < s->nplaces; from = to) {
        int32_t clock = s->places[s->order[from]].clock;
        size_t n = 0;
        for (to = from; to < s->nplaces && s->places[s->order[to]].clock == clock; to++) {
            size_t place = s->order[to];
            if (s->first_edge[place] < s->first_edge[place + 1])
                s->values[n++] = s->places[place].sigma_ns;
        }
        s->sigma[clock] = n > 0 ? tl_median(s->values, n) : 0;
    }
}

/* By what is sent between components that no collective connects. */
static bool tie(tl_clock_solving *s)
{
    const tl_clock_tying tying = { .edges = s->all->of_pairs,
                                   .nedges = s->all->npairs,
                                   .places = s->places,
                                   .nplaces = s->nplaces,
                                   .nclocks = s->nclocks,
                                   .middle_ns = s->middle_ns,
                                   .component = s->component,
                                   .offset = s->offset,
                                   .drift = s->drift,
                                   .sigma = s->sigma };
    bool tied;
    if (!tl_clocks_tie(&tying, &tied))
        return false;
    if (tied) {
        set_zero(s, s->offset);
        set_zero(s, s->drift);
    }
    return true;
}

/* Offset, drift and scatter of each clock, and what each rank leaves. */
static bool solve(tl_clock_solving *s)
{
    bool parted = true;

    tl_clocks_by_host(s);
    take_offsets(s);
    for (int round = 0; parted; round++) {
        tl_clocks_number(s);
        take_clocks(s);
        tl_lsq_solve(&s->lsq);
        if (!tl_clocks_order(s))
            return false;
        parted = round < PARTINGS && tl_clocks_part(s);
    }
    for (size_t i = 0; i < s->nplaces; i++)
        s->residual[i] = tl_clock_residual(s, i);
    for (size_t c = 0; c < s->nclocks; c++)
        s->offset[c] = tl_clock_rounded(s->lsq.x[c]);
    tl_lsq_components(&s->lsq, s->component);
    set_zero(s, s->offset);
    if (!tl_clocks_leeway(s, s->leeway))
        return false;

    take_drifts(s);
    tl_lsq_solve(&s->lsq);
    for (size_t c = 0; c < s->nclocks; c++)
        s->drift[c] = tl_clock_rounded(s->lsq.x[c]);
    set_zero(s, s->drift);
    take_sigmas(s);
    return tie(s);
}

/* How far the clock gets from the job's at most, over the time that edges cover. */
static int64_t farthest(const tl_clock_solving *s, int32_t clock)
{
    int64_t gain = (int64_t)((double)tl_clock_apart(s->drift[clock]) * 1e-9 * (double)s->half_ns);
    return tl_ns_sum(tl_clock_apart(s->offset[clock]), gain);
}

static void fill(tl_clock_solving *s, tl_clock_mode mode, tl_table *table)
{
    for (size_t i = 0; i < s->nplaces; i++) {
        tl_rank_place *place = &s->places[i];
        tl_clock *row = tl_table_row(table, i);
        int32_t c = place->clock;
        bool off = s->offset[c] != 0 || s->drift[c] != 0;
        place->offset_ns = s->offset[c];
        place->drift_ppb = s->drift[c] > MOST_DRIFT_PPB    ? MOST_DRIFT_PPB
                           : s->drift[c] < -MOST_DRIFT_PPB ? -MOST_DRIFT_PPB
                                                           : s->drift[c];
        place->middle_ns = s->middle_ns;
        place->component = s->component[c];
        place->applied =
            off && (mode == TL_CLOCK_FORCE || (mode == TL_CLOCK_AUTO && tl_clock_believed(farthest(s, c), s->sigma[c])));
        /* Ranks of nobody knows which host that are not seen to be apart may well share a clock. */
        int64_t leeway = place->host >= 0 || place->applied ? s->leeway[c] : 0;
        place->sigma_ns = tl_ns_sum(s->sigma[c], leeway);
        row->clock = c;
        row->component = s->component[c];
        row->offset_ns = place->offset_ns;
        row->drift_ppb = place->drift_ppb;
        row->sigma_ns = s->sigma[c];
        row->leeway_ns = leeway;
        row->residual_ns = s->residual[i];
        row->applied = place->applied;
        for (size_t e = s->first_edge[i]; e < s->first_edge[i + 1]; e++)
            row->anchors += s->edges[e].anchors;
    }
}

/* ------------------------------------------------------------------------------------------------------------ room */

static bool make_room(tl_clock_solving *s)
{
    size_t n = s->nplaces, most = n > s->nedges ? n : s->nedges;
    s->first_edge = tl_calloc(n + 1, sizeof *s->first_edge);
    s->component = tl_calloc(2 * n + s->ngroups + 1, sizeof *s->component);
    s->offset = tl_calloc(2 * n + 1, sizeof *s->offset);
    s->drift = tl_calloc(2 * n + 1, sizeof *s->drift);
    s->sigma = tl_calloc(2 * n + 1, sizeof *s->sigma);
    s->leeway = tl_calloc(2 * n + 1, sizeof *s->leeway);
    s->residual = tl_calloc(n + 1, sizeof *s->residual);
    s->room = tl_calloc(n + 1, sizeof *s->room);
    s->order = tl_calloc(n + 1, sizeof *s->order);
    s->values = tl_calloc(most + 1, sizeof *s->values);
    return tl_lsq_make(&s->lsq, s->nedges, 2 * n, s->ngroups) && s->first_edge != NULL && s->component != NULL &&
           s->offset != NULL && s->drift != NULL && s->sigma != NULL && s->leeway != NULL && s->residual != NULL &&
           s->room != NULL && s->order != NULL && s->values != NULL;
}

static void free_room(tl_clock_solving *s)
{
    void *arrays[] = { s->first_edge, s->component, s->offset, s->drift, s->sigma,    s->leeway,
                       s->residual,   s->room,      s->order,  s->values };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    tl_lsq_free(&s->lsq);
}

/* Where the edges of each place begin; both are in rank order. */
static void find_edges(tl_clock_solving *s)
{
    size_t e = 0;
    for (size_t i = 0; i < s->nplaces; i++) {
        while (e < s->nedges && s->edges[e].rank < s->places[i].rank)
            e++;
        s->first_edge[i] = e;
        while (e < s->nedges && s->edges[e].rank == s->places[i].rank)
            e++;
    }
    s->first_edge[s->nplaces] = e;
    for (size_t i = 0; i < s->nedges; i++)
        s->lsq.group[i] = s->edges[i].group;
}

tl_status tl_clocks_solve(const tl_clock_edges *edges, tl_clock_mode mode, tl_rank_place *places, size_t nplaces,
                          tl_table *table, tl_error *err)
{
    tl_clock_solving s = {
        .all = edges, .edges = edges->of_groups, .nedges = edges->ngroups, .places = places, .nplaces = nplaces
    };

    for (size_t e = 0; e < s.nedges; e++)
        s.ngroups = (size_t)s.edges[e].group >= s.ngroups ? (size_t)s.edges[e].group + 1 : s.ngroups;
    bool whole = make_room(&s);
    if (whole) {
        find_edges(&s);
        take_middle(&s);
        whole = solve(&s);
    }
    if (whole)
        fill(&s, mode, table);
    free_room(&s);
    return whole ? TL_OK : tl_fail_memory(err, "the clocks");
}

/* In integers, in two parts that fit: whole seconds of the time since the middle, and the rest. */
int64_t tl_clock_correct(const tl_rank_place *place, int64_t ns)
{
    const int64_t second = 1000000000;
    if (!place->applied || ns == TL_TIME_UNKNOWN)
        return ns;
    int64_t since = tl_ns_between(ns, place->middle_ns);
    int64_t gain = since / second * place->drift_ppb + since % second * place->drift_ppb / second;
    return tl_ns_between(ns, tl_ns_sum(place->offset_ns, gain));
}
