/* ends.c - clock differences from the ends of collectives: each rank's end less the mean end of all members.
 *
 *     rank 0   ...===]         Members end at one true time, but for differences of their transfers: the median
 *     rank 1   ...==]          difference of two ranks' recorded ends estimates the difference of their clocks.  Its
 *     rank 2   ...====]        error grows with the scatter of the ends and with the length of the transfers.
 */
#include "tlmpi/analysis/collective/clock.h"
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------- samples */

/* Whether the collective is sampled: decided by its key alone, so the same on any number of procs. */
static bool is_sampled(const tl_job_facts *job, const tl_participant *p)
{
    uint32_t most = p->group >= 0 && (size_t)p->group < job->ngroups ? job->groups[p->group].most : 0;
    return tl_hash_mix(p->key, 0) % (most / TL_SAMPLES + 1) == 0;
}

/* Appends a sample for each rank of one collective or message.  Samples of messages in one direction are kept apart
 * (`way`): a receiver that always comes late would look like a clock difference. */
static void add_samples(const tl_job_facts *job, const tl_participant *p, size_t n, tl_clock_samples *out)
{
    int32_t sender = tl_participants_sender(p, n);
    uint64_t tie = n;
    int64_t took_ns = INT64_MAX, mean_ns;

    if (n < 2 || !tl_clocks_compare(job, p, n))
        return;
    __extension__ typedef __int128 wide;
    wide sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += tl_ns_between(p[i].end_ns, p[0].end_ns);
    mean_ns = tl_ns_sum(p[0].end_ns, (int64_t)(sum / (wide)n));
    for (size_t i = 0; i < n; i++) {
        tie = tl_hash_mix(tie, (uint64_t)(int64_t)p[i].rank);
        took_ns = tl_ns_min(took_ns, tl_ns_max(0, tl_ns_between(p[i].end_ns, p[i].start_ns)));
    }
    for (size_t i = 0; i < n; i++)
        tl_vec_push(out, (tl_clock_sample){ .tie = tie,
                                            .at_ns = mean_ns,
                                            .late_ns = tl_ns_between(p[i].end_ns, mean_ns),
                                            .took_ns = took_ns,
                                            .rank = p[i].rank,
                                            .way = sender + 1 });
}

void tl_clock_samples_take(const tl_participant *participants, size_t n, const tl_job_facts *job, tl_clock_samples *out)
{
    for (size_t from = 0, to; from < n; from = to) {
        to = tl_participants_end(participants, n, from);
        if (is_sampled(job, &participants[from]))
            add_samples(job, participants + from, to - from, out);
    }
}

/* ------------------------------------------------------------------------------------------------------------- fit */

/* Samples of one rank, tie and way, ascending by time; room: scratch for n values, ns. */
typedef struct series {
    tl_clock_sample *v;
    size_t n;
    int64_t *room;
} series;

/* Returns the median of late_ns over samples [from, to), in ns, after subtracting a drift of `ppb` that is 0 at
 * middle_ns. */
static int64_t median_late(const series *s, size_t from, size_t to, int64_t ppb, int64_t middle_ns)
{
    for (size_t i = from; i < to; i++)
        s->room[i - from] =
            tl_ns_between(s->v[i].late_ns, tl_ns_of_drift(ppb, tl_ns_between(s->v[i].at_ns, middle_ns)));
    return tl_median(s->room, to - from);
}

/* Returns the lower quartile of the transfers, in ns. */
static int64_t short_transfer(const series *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->room[i] = s->v[i].took_ns;
    tl_ns_sort(s->room, s->n);
    return s->room[tl_lower_quarter(s->n)];
}

/* Returns the scatter (sigma) of one sample, in ns, from differences of successive samples, which drifts and steps
 * hardly change. */
static double scatter_of_differences(const series *s)
{
    for (size_t i = 1; i < s->n; i++)
        s->room[i - 1] = llabs(tl_ns_between(s->v[i].late_ns, s->v[i - 1].late_ns));
    return s->n > 1 ? (double)tl_sigma_of_mad_ns(tl_median(s->room, s->n - 1)) / sqrt(2) : 0;
}

static int64_t ppb_of(double rise_ns, double length_ns)
{
    return llround(fmax(-TL_CLOCK_MOST_DRIFT_PPB, fmin(TL_CLOCK_MOST_DRIFT_PPB, rise_ns / length_ns * 1e9)));
}

/* Returns how fast late_ns rises, in ppb: the median over pairs of samples a fixed part of the series apart.  A clock
 * step falls into few pairs; pairs across `cut` are left out. */
static int64_t slope_of(const series *s, size_t cut)
{
    size_t lag = s->n / (size_t)TL_LITTLE_PART + 1, n = 0;
    for (size_t i = lag; s->n >= 2 * TL_MEDIAN_LEAST && i < s->n; i++) {
        double length_ns = (double)tl_ns_between(s->v[i].at_ns, s->v[i - lag].at_ns);
        double rise_ns = (double)tl_ns_between(s->v[i].late_ns, s->v[i - lag].late_ns);
        if (length_ns > 0 && (i < cut || i - lag >= cut))
            s->room[n++] = ppb_of(rise_ns, length_ns);
    }
    return n > 0 ? tl_median(s->room, n) : 0;
}

/* Returns the median late_ns of samples [k, to) less that of [from, k), in ns, both without the drift `ppb`. */
static int64_t step_between(const series *s, size_t from, size_t k, size_t to, int64_t ppb)
{
    int64_t at_ns = s->v[k].at_ns, before_ns = median_late(s, from, k, ppb, at_ns);
    return tl_ns_between(median_late(s, k, to, ppb, at_ns), before_ns);
}

/* Returns the change of the median took_ns at sample k, in ns.  Where transfers change, differences between members may
 * change by as much. */
static int64_t transfer_change(const series *s, size_t k)
{
    for (size_t i = 0; i < s->n; i++)
        s->room[i] = s->v[i].took_ns;
    int64_t before_ns = tl_median(s->room, k);
    return llabs(tl_ns_between(tl_median(s->room + k, s->n - k), before_ns));
}

/* Fills room[i] with the distance of sample i, in ns, from a line of slope `ppb` through the median of the samples
 * before k or, from k on, after k.  Returns the sum of the distances. */
static double fill_residuals(const series *s, int64_t ppb, size_t k)
{
    int64_t middle_ns = s->v[tl_lower_middle(s->n)].at_ns, level_ns[2];
    double sum_ns = 0;
    level_ns[1] = median_late(s, k, s->n, ppb, middle_ns);
    level_ns[0] = k > 0 ? median_late(s, 0, k, ppb, middle_ns) : 0;
    for (size_t i = 0; i < s->n; i++) {
        int64_t gained_ns = tl_ns_of_drift(ppb, tl_ns_between(s->v[i].at_ns, middle_ns));
        s->room[i] = llabs(tl_ns_between(tl_ns_between(s->v[i].late_ns, gained_ns), level_ns[i >= k]));
        sum_ns += (double)s->room[i];
    }
    return sum_ns;
}

/* Returns the scatter (sigma) of the residuals, in ns: larger than scatter_of_differences where ends vary slowly. */
static double scatter_of_residuals(const series *s, int64_t ppb, size_t k)
{
    fill_residuals(s, ppb, k);
    return (double)tl_sigma_of_mad_ns(tl_median(s->room, s->n));
}

/* Sets drift_ppb to the slope between the medians of the first and the last third of the samples, and its sigma;
 * INFINITY: too few samples. */
static void fit_line(const series *s, double scatter_ns, tl_clock_end *out)
{
    size_t third = s->n / 3;
    int64_t length_ns =
        s->n < 2 * TL_MEDIAN_LEAST ? 0 : tl_ns_between(s->v[s->n - 1 - third / 2].at_ns, s->v[third / 2].at_ns);
    out->drift_sigma_ppb = INFINITY;
    if (length_ns <= 0)
        return;
    double rise_ns = (double)tl_ns_between(median_late(s, s->n - third, s->n, 0, 0), median_late(s, 0, third, 0, 0));
    out->drift_ppb = ppb_of(rise_ns, (double)length_ns);
    out->drift_sigma_ppb = sqrt(2) * scatter_ns / sqrt((double)third) / (double)length_ns * 1e9;
}

/* Returns the index of the first sample after the largest step between the medians of TL_MEDIAN_LEAST samples on
 * either side, moved by at most 1 to the largest step between two successive samples.  0: none. */
static size_t place_of_step(const series *s, int64_t ppb)
{
    size_t at = 0;
    int64_t most_ns = 0;
    for (size_t k = TL_MEDIAN_LEAST; k + TL_MEDIAN_LEAST <= s->n; k++) {
        int64_t ns = llabs(step_between(s, k - TL_MEDIAN_LEAST, k, k + TL_MEDIAN_LEAST, ppb));
        at = ns > most_ns ? k : at;
        most_ns = tl_ns_max(most_ns, ns);
    }
    size_t last = at + TL_MEDIAN_LEAST < s->n ? at + 1 : at;
    for (size_t k = at > TL_MEDIAN_LEAST ? at - 1 : at, beside = at; at > 0 && k <= last; k++)
        if (llabs(step_between(s, k - 1, k, k + 1, ppb)) > llabs(step_between(s, beside - 1, beside, beside + 1, ppb)))
            at = beside = k;
    return at;
}

/* Sets found_ns and its time span if the largest step exceeds the scatter and the change in transfers, both near the
 * step and over all samples, and leaves smaller residuals than the drift out->drift_ppb. */
static void report_step(const series *s, double scatter_ns, tl_clock_end *out)
{
    int64_t ppb = slope_of(s, 0);
    size_t at = place_of_step(s, ppb);
    if (at == 0)
        return;
    scatter_ns = fmax(fmax(scatter_ns, scatter_of_residuals(s, ppb, at)), (double)transfer_change(s, at));
    double least_ns = fmax(TL_SURE_SIGMAS * scatter_ns, TL_CLOCK_ERROR_NS);
    double here_ns = (double)step_between(s, at - TL_MEDIAN_LEAST, at, at + TL_MEDIAN_LEAST, ppb);
    double all_ns = (double)step_between(s, 0, at, s->n, ppb);
    if (fmin(fabs(here_ns), fabs(all_ns)) <= least_ns || here_ns * all_ns < 0 ||
        fill_residuals(s, ppb, at) >= fill_residuals(s, out->drift_ppb, 0))
        return;
    out->found_ns = llround(all_ns);
    out->found_from_ns = s->v[at - 1].at_ns;
    out->found_to_ns = s->v[at].at_ns;
}

/* Subtracts the step at sample `cut` from late_ns of samples [cut, n), and adds the step to out->step_ns. */
static void remove_step(const series *s, size_t cut, int64_t ppb, tl_clock_end *out)
{
    int64_t step_ns = step_between(s, 0, cut, s->n, ppb);
    for (size_t i = cut; i < s->n; i++)
        s->v[i].late_ns = tl_ns_between(s->v[i].late_ns, step_ns);
    out->step_ns = tl_ns_sum(out->step_ns, step_ns);
}

static void fit_series(series *s, int64_t cut_ns, tl_clock_end *out)
{
    size_t cut = 0;
    out->n = (int32_t)s->n;
    double transfer_ns = (double)short_transfer(s) / TL_CLOCK_ENDS_PART, scatter_ns;

    TL_BISECT(cut, s->n, mid, s->v[mid].at_ns < cut_ns);
    bool parts = cut_ns != TL_TIME_UNKNOWN && cut >= TL_MEDIAN_LEAST && cut + TL_MEDIAN_LEAST <= s->n;
    out->at_ns = s->v[tl_lower_middle(s->n)].at_ns;
    if (parts)
        remove_step(s, cut, slope_of(s, cut), out);
    scatter_ns = fmax(scatter_of_differences(s), TL_ROUNDING_NS);
    fit_line(s, scatter_ns, out);
    out->step_sigma_ns = INFINITY;
    if (parts) {
        remove_step(s, cut, out->drift_ppb, out);
        out->step_at_ns = tl_ns_sum(s->v[cut - 1].at_ns, s->v[cut - 1].late_ns);
        double off_ns = fmax(scatter_ns, scatter_of_residuals(s, out->drift_ppb, 0));
        out->step_sigma_ns = hypot(off_ns, (double)transfer_change(s, cut));
    }
    report_step(s, scatter_ns, out);
    out->late_ns = median_late(s, 0, s->n, out->drift_ppb, out->at_ns);
    scatter_ns = fmax(scatter_ns, (double)tl_sigma_of_mad_ns(tl_mad(s->room, s->n, out->late_ns)));
    out->sigma_ns = hypot(scatter_ns, transfer_ns);
}

TL_SORT_BY(by_tie, tl_clock_sample, tie, rank, way, at_ns, late_ns, took_ns)

/* Sets out->found_ns to the smaller of the two found steps if both have one sign and their time spans overlap, else to
 * 0. */
static void agree_on_step(const tl_clock_end *b, tl_clock_end *out)
{
    int64_t found_ns = llabs(out->found_ns) < llabs(b->found_ns) ? out->found_ns : b->found_ns;
    int64_t from_ns = tl_ns_max(out->found_from_ns, b->found_from_ns);
    int64_t to_ns = tl_ns_min(out->found_to_ns, b->found_to_ns);
    bool agree = (out->found_ns > 0) == (b->found_ns > 0) && from_ns < to_ns;
    out->found_ns = agree ? found_ns : 0;
    out->found_from_ns = from_ns;
    out->found_to_ns = to_ns;
}

/* Returns the fit of the meetings if there are any, else the mean of the fits of both directions of messages, whose
 * sigma is at least half of their difference.  Messages in one direction alone have sigma INFINITY. */
static tl_clock_end combine_ways(const tl_clock_end *ways)
{
    if (ways[0].n > 0 || ways[1].n == 0 || ways[2].n == 0) {
        tl_clock_end one = ways[0].n > 0 ? ways[0] : ways[1].n > 0 ? ways[1] : ways[2];
        one.sigma_ns = ways[0].n > 0 ? one.sigma_ns : INFINITY;
        one.step_sigma_ns = ways[0].n > 0 ? one.step_sigma_ns : INFINITY;
        return one;
    }
    tl_clock_end both = ways[1];
    const tl_clock_end *b = &ways[2];
    both.sigma_ns = fmax(fmax(both.sigma_ns, b->sigma_ns), fabs((double)tl_ns_between(both.late_ns, b->late_ns)) / 2);
    both.late_ns = tl_mean_of_two(both.late_ns, b->late_ns);
    both.drift_ppb = tl_mean_of_two(both.drift_ppb, b->drift_ppb);
    both.drift_sigma_ppb = fmax(both.drift_sigma_ppb, b->drift_sigma_ppb);
    both.step_ns = tl_mean_of_two(both.step_ns, b->step_ns);
    both.step_sigma_ns = fmax(both.step_sigma_ns, b->step_sigma_ns);
    both.step_sigma_ns = fmax(both.step_sigma_ns, fabs((double)tl_ns_between(ways[1].step_ns, b->step_ns)) / 2);
    agree_on_step(b, &both);
    both.n += b->n;
    return both;
}

void tl_clock_ends_fit(tl_clock_sample *samples, size_t n, int64_t cut_ns, tl_clock_ends *out)
{
    int64_t *room = tl_malloc((n + 1) * sizeof *room);
    tl_clock_sample *copy = tl_malloc((n + 1) * sizeof *copy);

    tl_sort(samples, n, sizeof *samples, by_tie);
    for (size_t from = 0, to; from < n; from = to) {
        const tl_clock_sample *first = &samples[from];
        tl_clock_end ways[3] = { 0 };
        for (to = from; to < n && TL_ORDER(first, &samples[to], tie, rank) == 0;) {
            int32_t way = samples[to].way;
            series s = { copy, 0, room };
            for (; to < n && TL_ORDER(first, &samples[to], tie, rank) == 0 && samples[to].way == way; to++)
                copy[s.n++] = samples[to];
            fit_series(&s, cut_ns, &ways[way]);
        }
        tl_clock_end end = combine_ways(ways);
        end.tie = first->tie;
        end.rank = first->rank;
        tl_vec_push(out, end);
    }
    free(room);
    free(copy);
}

TL_SORT_BY(by_tie_of_end, tl_clock_end, tie, rank)

void tl_clock_ends_sort(tl_clock_end *ends, size_t n)
{
    tl_sort(ends, n, sizeof *ends, by_tie_of_end);
}

/* The time span of the largest step is intersected with the spans of steps at least half as large that overlap it. */
int64_t tl_clock_ends_cut(const tl_clock_end *ends, size_t n)
{
    const tl_clock_end *most = NULL;
    for (size_t i = 0; i < n; i++)
        if (isfinite(ends[i].sigma_ns) && llabs(ends[i].found_ns) > (most != NULL ? llabs(most->found_ns) : 0))
            most = &ends[i];
    if (most == NULL)
        return TL_TIME_UNKNOWN;
    int64_t from_ns = most->found_from_ns, to_ns = most->found_to_ns;
    for (size_t i = 0; i < n; i++) {
        const tl_clock_end *e = &ends[i];
        if (!isfinite(e->sigma_ns) || llabs(e->found_ns) < llabs(most->found_ns) / 2 || e->found_from_ns >= to_ns ||
            e->found_to_ns <= from_ns)
            continue;
        from_ns = tl_ns_max(from_ns, e->found_from_ns);
        to_ns = tl_ns_min(to_ns, e->found_to_ns);
    }
    return tl_mean_of_two(from_ns, to_ns);
}
