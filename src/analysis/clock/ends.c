/* ends.c - what the ends of collectives say of clocks: of each rank, how long after the mean end of all members its own
 * end lies.
 *
 *     rank 0   ...===]         members leave together, but for their own transfers: what their ends lie apart by in the
 *     rank 1   ...==]          median is what their clocks are apart by, as sure as ends scatter and as transfers are
 *     rank 2   ...====]        short
 */
#include "tlmpi/analysis/clock.h"
#include "bounds.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>

/* A group's ends are read of about so many of its collectives: more would not make them surer. */
#define COLLECTIVES_READ 256u

/* A line needs two samples in each third of its time; a step so many before it and after it. */
enum { LINE_LEAST = 6, STEP_LEAST = 3 };

/* --------------------------------------------------------------------------------------------------------- samples */

/* Whether the collective is one of those whose ends are read: a function of its key, so the same on any number of
 * procs. */
static bool is_read(const tl_job_facts *job, const tl_participant *p)
{
    uint32_t most = p->group >= 0 && (size_t)p->group < job->ngroups ? job->groups[p->group].most : 0;
    return tl_hash_mix(p->key, 0) % (most / COLLECTIVES_READ + 1) == 0;
}

static int64_t mean_end(const tl_participant *p, size_t n)
{
    __extension__ typedef __int128 wide;
    wide sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += tl_ns_between(p[i].end_ns, p[0].end_ns);
    return tl_ns_sum(p[0].end_ns, (int64_t)(sum / (wide)n));
}

/* Ends of a message say something only together with those the other way: the receiver may come late to all of one
 * way. */
static bool take(const tl_participant *p, size_t n, tl_clock_samples *out)
{
    int32_t sender = tl_participants_sender(p, n);
    uint64_t tie = n;
    int64_t took_ns = INT64_MAX, mean_ns;

    if (n < 2 || !tl_clocks_compare(p, n))
        return true;
    mean_ns = mean_end(p, n);
    for (size_t i = 0; i < n; i++) {
        tie = tl_hash_mix(tie, (uint64_t)(int64_t)p[i].rank);
        took_ns = tl_ns_min(took_ns, tl_ns_max(0, tl_ns_between(p[i].end_ns, p[i].start_ns)));
    }
    for (size_t i = 0; i < n; i++) {
        if (!tl_vec_room(out))
            return false;
        out->v[out->n++] = (tl_clock_sample){ .tie = tie,
                                              .at_ns = mean_ns,
                                              .late_ns = tl_ns_between(p[i].end_ns, mean_ns),
                                              .took_ns = took_ns,
                                              .rank = p[i].rank,
                                              .way = sender + 1 };
    }
    return true;
}

bool tl_clock_samples_take(const tl_participant *participants, size_t n, const tl_job_facts *job,
                           tl_clock_samples *out)
{
    bool ok = true;
    for (size_t from = 0, to; ok && from < n; from = to) {
        to = tl_participants_end(participants, n, from);
        ok = !is_read(job, &participants[from]) || take(participants + from, to - from, out);
    }
    return ok;
}

/* ------------------------------------------------------------------------------------------------------------- fit */

/* Samples of one rank, tie and way, in order of time, and room for as many times. */
typedef struct series {
    tl_clock_sample *v;
    size_t n;
    int64_t *room;
} series;

/* The median of late_ns over [from, to), less the line `ppb` through middle_ns. */
static int64_t middle_of(const series *s, size_t from, size_t to, int64_t ppb, int64_t middle_ns)
{
    for (size_t i = from; i < to; i++)
        s->room[i - from] = tl_ns_between(s->v[i].late_ns,
                                          tl_ns_gained(ppb, tl_ns_between(s->v[i].at_ns, middle_ns)));
    return tl_median(s->room, to - from);
}

/* Keeps those with short transfers, which differ least between members; what most of these take at least. */
static int64_t keep_short(series *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++)
        s->room[i] = s->v[i].took_ns;
    tl_ns_sort(s->room, s->n);
    int64_t short_ns = s->room[tl_lower_quarter(s->n)], most_ns = tl_ns_sum(short_ns, short_ns);
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].took_ns <= most_ns)
            s->v[kept++] = s->v[i];
    s->n = kept;
    return short_ns;
}

/* The scatter of one sample by what each differs in from the one before, which neither a drift nor a step adds to. */
static double scatter_of_differences(const series *s)
{
    for (size_t i = 1; i < s->n; i++)
        s->room[i - 1] = llabs(tl_ns_between(s->v[i].late_ns, s->v[i - 1].late_ns));
    return s->n > 1 ? (double)tl_sigma_of_mad_ns(tl_median(s->room, s->n - 1)) / sqrt(2) : 0;
}

/* What the samples before place k are earlier by than those from it on. */
static int64_t step_at(const series *s, size_t k)
{
    int64_t before_ns = middle_of(s, 0, k, 0, 0);
    return tl_ns_between(middle_of(s, k, s->n, 0, 0), before_ns);
}

/* The sum of what samples lie off the line through the median, and off the medians before and after place k. */
static double off_line(const series *s, int64_t ppb, size_t k)
{
    int64_t middle_ns = s->v[tl_lower_middle(s->n)].at_ns;
    double sum_ns = 0;
    for (size_t from = 0, to = k > 0 ? k : s->n; from < s->n; from = to, to = s->n) {
        int64_t level_ns = middle_of(s, from, to, ppb, middle_ns);
        for (size_t i = from; i < to; i++) {
            int64_t gained_ns = tl_ns_gained(ppb, tl_ns_between(s->v[i].at_ns, middle_ns));
            sum_ns += fabs((double)tl_ns_between(tl_ns_between(s->v[i].late_ns, gained_ns), level_ns));
        }
    }
    return sum_ns;
}

/* The slope between the medians of the first and the last third. */
static void fit_line(const series *s, double scatter_ns, tl_clock_end *out)
{
    size_t third = s->n / 3;
    int64_t length_ns = s->n < LINE_LEAST ? 0
                                          : tl_ns_between(s->v[s->n - 1 - third / 2].at_ns, s->v[third / 2].at_ns);
    out->drift_sigma_ppb = INFINITY;
    if (length_ns <= 0)
        return;
    double rise_ns = (double)tl_ns_between(middle_of(s, s->n - third, s->n, 0, 0), middle_of(s, 0, third, 0, 0));
    out->drift_ppb = llround(fmax(-TL_CLOCK_MOST_DRIFT_PPB, fmin(TL_CLOCK_MOST_DRIFT_PPB, rise_ns / (double)length_ns * 1e9)));
    out->drift_sigma_ppb = sqrt(2) * scatter_ns / sqrt((double)third) / (double)length_ns * 1e9;
}

/* A step is where two samples differ by most; it stands out of scatter and transfers, and explains them better than the
 * drift out->drift_ppb. */
static void look_for_step(const series *s, double sure_ns, tl_clock_end *out)
{
    size_t at = 0;
    int64_t most_ns = 0;
    for (size_t k = STEP_LEAST; k + STEP_LEAST <= s->n; k++) {
        int64_t apart_ns = llabs(tl_ns_between(s->v[k].late_ns, s->v[k - 1].late_ns));
        at = apart_ns > most_ns ? k : at;
        most_ns = tl_ns_max(most_ns, apart_ns);
    }
    int64_t step_ns = at > 0 ? step_at(s, at) : 0;
    if (fabs((double)step_ns) <= TL_CLOCK_SURE * fmax(sure_ns, scatter_of_differences(s)) ||
        off_line(s, 0, at) >= off_line(s, out->drift_ppb, 0))
        return;
    out->step_ns = step_ns;
    out->step_at_ns = tl_mean_of_two(s->v[at - 1].at_ns, s->v[at].at_ns);
}

/* Takes the step at the cut off what comes after it, and adds to out->step_ns what of it was there. */
static void flatten(const series *s, size_t cut, int64_t step_ns, tl_clock_end *out)
{
    for (size_t i = cut; i < s->n; i++)
        s->v[i].late_ns = tl_ns_between(s->v[i].late_ns, step_ns);
    out->step_ns = tl_ns_sum(out->step_ns, step_ns);
}

static void fit(series *s, int64_t cut_ns, tl_clock_end *out)
{
    size_t cut = 0;
    out->n = (int32_t)s->n;
    double transfer_ns = (double)keep_short(s) / TL_CLOCK_ENDS_PART, scatter_ns;

    TL_BISECT(cut, s->n, mid, s->v[mid].at_ns < cut_ns);
    bool parts = cut >= STEP_LEAST && cut + STEP_LEAST <= s->n;
    out->at_ns = s->v[tl_lower_middle(s->n)].at_ns;
    if (parts && cut_ns != TL_TIME_UNKNOWN)
        flatten(s, cut, step_at(s, cut), out);
    scatter_ns = fmax(scatter_of_differences(s), TL_ROUNDING_NS);
    fit_line(s, scatter_ns, out);
    if (cut_ns == TL_TIME_UNKNOWN) {
        look_for_step(s, fmax(transfer_ns, TL_CLOCK_ERROR_NS), out);
    } else if (parts) {
        int64_t before_ns = middle_of(s, 0, cut, out->drift_ppb, out->at_ns);
        flatten(s, cut, tl_ns_between(middle_of(s, cut, s->n, out->drift_ppb, out->at_ns), before_ns), out);
        out->step_at_ns = tl_ns_sum(s->v[cut - 1].at_ns, s->v[cut - 1].late_ns);
    }
    out->late_ns = middle_of(s, 0, s->n, out->drift_ppb, out->at_ns);
    scatter_ns = fmax(scatter_ns, (double)tl_sigma_of_mad_ns(tl_mad(s->room, s->n, out->late_ns)));
    out->sigma_ns = hypot(scatter_ns, transfer_ns);
}

static int by_tie(const void *a, const void *b)
{
    const tl_clock_sample *x = a, *y = b;
    int order = TL_COMPARE(x->tie, y->tie);
    order = order != 0 ? order : TL_COMPARE(x->rank, y->rank);
    order = order != 0 ? order : TL_COMPARE(x->way, y->way);
    order = order != 0 ? order : TL_COMPARE(x->at_ns, y->at_ns);
    order = order != 0 ? order : TL_COMPARE(x->late_ns, y->late_ns);
    return order != 0 ? order : TL_COMPARE(x->took_ns, y->took_ns);
}

/* Messages of one way tell nothing alone; of both, their mean, as sure as these differ.  Meetings tell more. */
static tl_clock_end join(const tl_clock_end *ways)
{
    if (ways[0].n > 0 || ways[1].n == 0 || ways[2].n == 0) {
        tl_clock_end one = ways[0].n > 0 ? ways[0] : ways[1].n > 0 ? ways[1] : ways[2];
        one.sigma_ns = ways[0].n > 0 ? one.sigma_ns : INFINITY;
        return one;
    }
    tl_clock_end both = ways[1];
    const tl_clock_end *b = &ways[2];
    both.sigma_ns = fmax(fmax(both.sigma_ns, b->sigma_ns), fabs((double)tl_ns_between(both.late_ns, b->late_ns)) / 2);
    both.late_ns = tl_mean_of_two(both.late_ns, b->late_ns);
    both.drift_ppb = tl_mean_of_two(both.drift_ppb, b->drift_ppb);
    both.drift_sigma_ppb = fmax(both.drift_sigma_ppb, b->drift_sigma_ppb);
    both.step_ns = tl_mean_of_two(both.step_ns, b->step_ns);
    both.n += b->n;
    return both;
}

bool tl_clock_ends_fit(tl_clock_sample *samples, size_t n, int64_t cut_ns, tl_clock_ends *out)
{
    int64_t *room = tl_malloc((n + 1) * sizeof *room);
    tl_clock_sample *copy = tl_malloc((n + 1) * sizeof *copy);
    bool ok = room != NULL && copy != NULL;

    if (ok && n > 0)
        qsort(samples, n, sizeof *samples, by_tie);
    for (size_t from = 0, to; ok && from < n; from = to) {
        tl_clock_end ways[3] = { 0 };
        for (to = from; to < n && samples[to].tie == samples[from].tie && samples[to].rank == samples[from].rank;) {
            int32_t way = samples[to].way;
            series s = { copy, 0, room };
            for (; to < n && samples[to].tie == samples[from].tie && samples[to].rank == samples[from].rank &&
                   samples[to].way == way;
                 to++)
                copy[s.n++] = samples[to];
            fit(&s, cut_ns, &ways[way]);
        }
        ok = tl_vec_room(out);
        if (ok) {
            out->v[out->n] = join(ways);
            out->v[out->n].tie = samples[from].tie;
            out->v[out->n++].rank = samples[from].rank;
        }
    }
    free(room);
    free(copy);
    return ok;
}

static int by_tie_of_end(const void *a, const void *b)
{
    const tl_clock_end *x = a, *y = b;
    int order = TL_COMPARE(x->tie, y->tie);
    return order != 0 ? order : TL_COMPARE(x->rank, y->rank);
}

void tl_clock_ends_sort(tl_clock_end *ends, size_t n)
{
    if (n > 0)
        qsort(ends, n, sizeof *ends, by_tie_of_end);
}

int64_t tl_clock_ends_cut(const tl_clock_end *ends, size_t n)
{
    int64_t cut_ns = TL_TIME_UNKNOWN;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double apart = isfinite(ends[i].sigma_ns) ? fabs((double)ends[i].step_ns) : 0;
        cut_ns = apart > most ? ends[i].step_at_ns : cut_ns;
        most = fmax(most, apart);
    }
    return cut_ns;
}
