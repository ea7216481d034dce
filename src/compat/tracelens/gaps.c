/* gaps.c - the gaps with their neighbours, and whether a wait of the host emptied the device; the tables of single gaps
 * and of groups of gaps: the overview by drain type and host activity, the summary by these and the gap's key.
 */
#include "lens.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

#define LAUNCH_LATENCY_US 8.0 /* typical; after a launch that ended earlier than this the work was queued */
#define PREV_NEAR_US      2.0
#define NEXT_NEAR_US      1.0
#define SYNC_NEAR_US      2.0
#define DRAIN_US          5.0

void tl_lens_idle_free(tl_lens_idle *idle)
{
    free(idle->gaps.v);
    tl_names_free(&idle->words);
}

/* --------------------------------------------------------------------------------------------------- the intervals */

/* The fraction of `us` is exact, and so is its product with 1000, p + e; if p lies half way between two integers,
 * the sign of e decides the rounding. */
int64_t tl_lens_thousandths(double us)
{
    double whole = floor(us), part = us - whole;
    double p = part * 1000, e = fma(part, 1000, -p), n = rint(p), d = p - n;

    if (d == 0.5 && e > 0)
        n += 1;
    else if (d == -0.5 && e < 0)
        n -= 1;
    return (int64_t)whole * 1000 + (int64_t)n;
}

static const tl_lens_gap no_events = { .before = TL_NONE,
                                       .after = TL_NONE,
                                       .next = TL_NONE,
                                       .launch = TL_NONE,
                                       .sync_call = TL_NONE,
                                       .sync = TL_NO_NAME,
                                       .drain = TL_NO_NAME,
                                       .cpu = TL_NO_NAME,
                                       .detail = TL_NO_NAME,
                                       .op = TL_NO_NAME,
                                       .key = TL_NO_NAME };

/* Finds the gaps between runs of events that overlap or touch. */
static void find_gaps(tl_lens_idle *idle, const tl_lens *lens)
{
    size_t n;
    uint32_t *index = tl_lens_pick(lens, tl_lens_is_gpu, false, &n), last = TL_NONE; /* last: end of the previous run */

    for (size_t i = 0, from; i < n; last = index[from]) {
        const uint32_t first = index[from = i];
        const double start = tl_lens_ts(lens, first), lo = last != TL_NONE ? tl_lens_end(lens, last) : start;
        double end = tl_lens_end(lens, first);
        for (i++; i < n && tl_lens_ts(lens, index[i]) <= end; i++)
            if (tl_lens_end(lens, index[i]) > end)
                end = tl_lens_end(lens, index[from = i]);
        idle->busy += end - start;
        if (!(start - lo > 0))
            continue;
        const bool noise = start - lo < TL_LENS_NOISE_US;
        idle->nmacro += !noise;
        tl_lens_gap gap = no_events;
        gap.lo = lo;
        gap.hi = start;
        gap.us = start - lo;
        gap.lo_whole = tl_lens_whole(lens, last, TL_MORE_WHOLE_TS | TL_MORE_WHOLE_DUR);
        gap.hi_whole = tl_lens_whole(lens, first, TL_MORE_WHOLE_TS);
        gap.id = noise ? (int64_t)idle->nmacro - (int64_t)idle->gaps.n - 1 : (int64_t)idle->nmacro - 1;
        tl_vec_push(&idle->gaps, gap);
    }
    free(index);
}

/* Sets `before` and `after`: the last event of the file that ends at lo, that starts at hi, to the thousandth of a us.
 * TraceLens' columns of names use these events, not the events that find_sync_call and find_next use. */
static void name_neighbours(const tl_lens *lens, tl_lens_idle *idle)
{
    tl_map ends = { 0 }, starts = { 0 };

    for (uint32_t i = 0; i < lens->e->n; i++)
        if (tl_lens_is_gpu(lens, i)) {
            tl_map_put(&ends, (uint64_t)tl_lens_thousandths(tl_lens_end(lens, i)), i);
            tl_map_put(&starts, (uint64_t)tl_lens_thousandths(tl_lens_ts(lens, i)), i);
        }
    TL_EACH (tl_lens_gap, gap, idle->gaps) {
        gap->before = tl_map_get(&ends, (uint64_t)tl_lens_thousandths(gap->lo));
        gap->after = tl_map_get(&starts, (uint64_t)tl_lens_thousandths(gap->hi));
    }
    tl_map_free(&ends);
    tl_map_free(&starts);
}

/* ------------------------------------------------------------------------------------------------------ neighbours */

static bool is_complete_gpu(const tl_lens *lens, uint32_t i)
{
    return tl_lens_is_gpu(lens, i) && tl_lens_is_complete(lens, i);
}

typedef struct walk {
    const tl_lens *lens;
    uint32_t *gpu, *calls; /* by ts */
    size_t ngpu, ncalls;
    size_t next_call;         /* number of calls that began before the current gap */
    TL_VEC(uint32_t) running; /* calls among them, by ts, that may still run SYNC_NEAR_US before the gap */
} walk;

/* Returns the position in w->gpu of the first event with ts >= t. */
static size_t first_at_or_after(const walk *w, double t)
{
    size_t low = 0;
    TL_BISECT(low, w->ngpu, mid, tl_lens_ts(w->lens, w->gpu[mid]) < t);
    return low;
}

/* Sets `next`, its launch and the fields that follow from the launch. */
static void find_next(const walk *w, tl_lens_gap *gap)
{
    size_t at = first_at_or_after(w, gap->hi - 0.001), first = at > 0 ? at - 1 : 0;

    for (size_t k = first; k < w->ngpu && k < at + 3 && gap->next == TL_NONE; k++)
        if (fabs(tl_lens_ts(w->lens, w->gpu[k]) - gap->hi) < NEXT_NEAR_US)
            gap->next = w->gpu[k];
    gap->launch = gap->next != TL_NONE ? w->lens->launch[gap->next] : TL_NONE;
    if (gap->launch != TL_NONE) {
        double returned = tl_lens_end(w->lens, gap->launch);
        gap->launch_to_exec = tl_lens_ts(w->lens, gap->next) - returned;
        gap->prequeued = returned + LAUNCH_LATENCY_US < gap->lo;
    }
}

/* ------------------------------------------------------------------------------------------------------- the drain */

const char *tl_lens_sync_of(const tl_lens *lens, uint32_t call, uint32_t prev)
{
    const tl_names *names = &lens->e->names;
    unsigned says = tl_lens_says(lens, call);

    if (says & TL_LENS_DEVICE_SYNC)
        return "DEVICE_SYNC";
    if (says & TL_LENS_STREAM_SYNC)
        return "STREAM_SYNC";
    if (says & TL_LENS_EVENT_SYNC)
        return "EVENT_SYNC";
    if (!(says & TL_LENS_COPY_CALL))
        return NULL;

    tl_text kind = tl_names_text(names, lens->words->more[call].kind);
    if (kind.n == 0 && prev != TL_NONE)
        kind = tl_names_text(names, lens->words->more[prev].kind);
    if (tl_text_is(kind, "2") || tl_text_has(kind, "DtoH") || (says & TL_LENS_DTOH))
        return "D2H_COPY";
    return tl_text_is(kind, "1") || tl_text_has(kind, "HtoD") || (says & TL_LENS_HTOD) ? "H2D_COPY" : NULL;
}

/* Whether the event is a call that may wait; a copy without a recorded direction may. */
static bool is_waiting_call(const tl_lens *lens, uint32_t i)
{
    if (lens->set[i] != TL_LENS_RUNTIME || !tl_lens_is_complete(lens, i))
        return false;
    return tl_lens_sync_of(lens, i, TL_NONE) != NULL ||
           ((tl_lens_says(lens, i) & TL_LENS_COPY_CALL) &&
            tl_names_text(&lens->e->names, lens->words->more[i].kind).n == 0);
}

/* Sets sync_call: the latest call that began before the gap, ran up to the gap, waits for the device, and ended before
 * the next work was launched.  The search runs backwards and drops the calls that ended before the gap, since later
 * gaps cannot use them. */
static void find_sync_call(walk *w, tl_lens_gap *gap, tl_names *words)
{
    const tl_lens *lens = w->lens;
    bool drained = false;
    size_t at = first_at_or_after(w, gap->lo), kept;
    /* The last event that started before the gap, if that event ends at the gap's start. */
    uint32_t prev =
        at > 0 && fabs(tl_lens_end(lens, w->gpu[at - 1]) - gap->lo) < PREV_NEAR_US ? w->gpu[at - 1] : TL_NONE;

    for (; w->next_call < w->ncalls && tl_lens_ts(lens, w->calls[w->next_call]) < gap->lo; w->next_call++)
        tl_vec_push(&w->running, w->calls[w->next_call]);
    for (at = kept = w->running.n; at > 0 && gap->sync_call == TL_NONE; at--) {
        uint32_t call = w->running.v[at - 1];
        double end = tl_lens_end(lens, call);
        if (!(end >= gap->lo - SYNC_NEAR_US))
            continue;
        w->running.v[--kept] = call;
        const char *sync = tl_lens_sync_of(lens, call, prev);
        if (sync == NULL || (gap->launch != TL_NONE && end > tl_lens_ts(lens, gap->launch)))
            continue;
        gap->sync = tl_names_intern(words, sync, strlen(sync));
        gap->sync_call = call;
        drained = prev != TL_NONE && tl_lens_end(lens, prev) - tl_lens_ts(lens, call) > DRAIN_US;
    }
    if (kept > at && w->running.n > kept)
        memmove(&w->running.v[at], &w->running.v[kept], (w->running.n - kept) * sizeof *w->running.v);
    w->running.n -= kept - at;
    gap->drain = tl_names_intern(words, drained ? "sync_drain" : "starved", drained ? 10 : 7);
}

tl_lens_idle tl_lens_idle_of(const tl_lens *lens)
{
    tl_lens_idle idle = { .nmacro = 0 };
    walk w = { .lens = lens };

    find_gaps(&idle, lens);
    name_neighbours(lens, &idle);
    w.gpu = tl_lens_pick(lens, is_complete_gpu, false, &w.ngpu);
    w.calls = tl_lens_pick(lens, is_waiting_call, false, &w.ncalls);
    TL_EACH (tl_lens_gap, gap, idle.gaps) {
        if (gap->id < 0)
            continue;
        find_next(&w, gap);
        find_sync_call(&w, gap, &idle.words);
    }
    free(w.gpu);
    free(w.calls);
    free(w.running.v);
    tl_lens_label_gaps(lens, &idle);
    return idle;
}

/* ----------------------------------------------------------------------------------------------------- single gaps */

static tl_cell word_cell(const tl_lens_idle *idle, uint32_t word)
{
    return tl_string(tl_names_text(&idle->words, word));
}

static tl_cell uid_cell(const tl_lens *lens, uint32_t event)
{
    return event != TL_NONE ? tl_int(lens->e->uid[event]) : tl_blank();
}

static tl_cell name_cell(const tl_lens *lens, uint32_t event)
{
    return tl_string(event != TL_NONE ? tl_lens_name(lens, event, "unknown") : TL_TEXT(""));
}

/* Adds a number as Python shows it, as the table of noise does: 12.0 if the trace writes a fraction. */
static void put_shown(tl_csv *csv, double us, bool whole)
{
    char number[TL_PYTHON_REPR_SIZE];

    tl_python_repr(number, us);
    TL_CELLS(csv, whole ? tl_int((int64_t)us) : tl_words(number));
}

/* Adds the name, the External id or correlation, and the duration of the call that waited. */
static void put_sync_call(tl_csv *csv, const tl_lens *lens, uint32_t call)
{
    if (call == TL_NONE) {
        TL_CELLS(csv, "", tl_blank(), tl_blank());
        return;
    }
    const tl_more *more = &lens->words->more[call];
    const tl_ref ref = more->external_id != TL_REF_NONE ? more->external_id : more->correlation;
    TL_CELLS(csv, name_cell(lens, call),
             ref == TL_REF_NONE   ? tl_blank()
             : ref >= TL_REF_TEXT ? tl_string(tl_names_text(&lens->e->names, (uint32_t)(ref & UINT32_MAX)))
                                  : tl_int(ref),
             lens->words->dur[call]);
}

static void put_interval(tl_csv *csv, const tl_lens *lens, const tl_lens_idle *idle, const tl_lens_gap *gap)
{
    const uint32_t axes[] = { gap->drain, gap->cpu, gap->key };
    bool launched = gap->launch != TL_NONE;
    tl_bytes group = { 0 }; /* "starved | CPU_DOMINATED | aten::mm" */

    for (size_t k = 0; k < 3; k++)
        tl_bytes_join(&group, " | ", tl_names_text(&idle->words, axes[k]));
    TL_CELLS(csv, gap->id, &group, gap->lo, gap->hi, gap->us, word_cell(idle, gap->drain), word_cell(idle, gap->sync));
    put_sync_call(csv, lens, gap->sync_call);
    TL_ROW(csv, word_cell(idle, gap->cpu), word_cell(idle, gap->detail), word_cell(idle, gap->op),
           name_cell(lens, gap->before), name_cell(lens, gap->after), name_cell(lens, gap->launch),
           uid_cell(lens, gap->next), uid_cell(lens, gap->launch), uid_cell(lens, gap->sync_call),
           launched ? gap->launch_to_exec : NAN,
           !launched        ? ""
           : gap->prequeued ? "True"
                            : "False");
    tl_bytes_free(&group);
}

TL_ORDER_BY(longest_first, tl_lens_gap, DOWN(us))

/* Without macro gaps, the table of intervals has no header either. */
void tl_lens_write_gaps(const tl_lens *lens, const tl_lens_idle *idle, tl_csv_folder *folder)
{
    static const char header[] =
        "idle_id,group,start_us,end_us,duration_us,drain_type,sync_type,sync_event_name,sync_event_correlation,"
        "sync_event_dur,cpu_during_gap,cpu_during_gap_detail,dominant_op,preceding_gpu_event,following_gpu_event,"
        "following_launch_name,following_gpu_uid,following_launch_uid,sync_event_uid,launch_to_exec_us,"
        "kernel_prequeued";
    tl_csv intervals = tl_csv_open(folder, "idle_intervals.csv", idle->nmacro > 0 ? header : "");
    tl_csv noise = tl_csv_open(folder, "idle_noise.csv", "idle_id,start_us,end_us,duration_us");
    uint32_t *order = tl_sorted_index(idle->gaps.n, longest_first, idle->gaps.v);

    for (size_t i = 0; i < idle->gaps.n; i++)
        if (idle->gaps.v[order[i]].id >= 0)
            put_interval(&intervals, lens, idle, &idle->gaps.v[order[i]]);
    TL_EACH (const tl_lens_gap, gap, idle->gaps)
        if (gap->id < 0) {
            TL_CELLS(&noise, gap->id);
            put_shown(&noise, gap->lo, gap->lo_whole);
            put_shown(&noise, gap->hi, gap->hi_whole);
            put_shown(&noise, gap->us, gap->lo_whole && gap->hi_whole);
            tl_csv_end_row(&noise);
        }
    free(order);
    tl_csv_close(&intervals);
    tl_csv_close(&noise);
}

/* --------------------------------------------------------------------------------------------------- gaps in groups */

#define DASH "\342\200\224"

TL_ORDER_BY(by_axes, tl_lens_gap, drain, cpu)
TL_ORDER_BY(by_axes_and_key, tl_lens_gap, drain, cpu, key)

/* Returns the macro gaps as one group, then grouped by `compare`, sorted by total, descending; no group without macro
 * gaps.  The caller frees groups.v. */
static tl_sums groups_of(const tl_lens_idle *idle, uint32_t *macro, tl_compare *compare)
{
    const tl_lens_gap *gaps = idle->gaps.v;
    tl_sums all = { 0 };

    if (idle->nmacro == 0)
        return all;
    tl_vec_push(&all, (tl_sum){ macro, idle->nmacro, TL_STATS(macro, idle->nmacro, gaps, us) });
    tl_sums groups = TL_SUMS(macro, idle->nmacro, compare, gaps, us);
    TL_EACH (const tl_sum, group, groups)
        tl_vec_push(&all, *group);
    free(groups.v);
    return all;
}

static double median_of(const tl_lens_idle *idle, const tl_sum *group)
{
    double *us = tl_malloc(group->n * sizeof *us);
    for (size_t i = 0; i < group->n; i++)
        us[i] = idle->gaps.v[group->order[i]].us;
    const double median = tl_real_median(us, group->n);
    free(us);
    return median;
}

/* Adds the labels of group i: nlabels of drain, cpu and key; group 0 has all gaps. */
static void put_labels(tl_csv *csv, const tl_lens_idle *idle, const tl_sums *groups, size_t i, size_t nlabels)
{
    const tl_lens_gap *gap = &idle->gaps.v[groups->v[i].order[0]];
    const uint32_t labels[] = { gap->drain, gap->cpu, gap->key };

    for (size_t k = 0; k < nlabels; k++)
        TL_CELLS(csv, i == 0 ? tl_words("ALL") : word_cell(idle, labels[k]));
}

static double percent_of_idle(const tl_sums *groups, size_t i)
{
    return groups->v[i].stats.sum / 1000 / (groups->v[0].stats.sum / 1000) * 100;
}

/* Adds the cells after the labels.  share: running total of the percentages; NaN: the row lists no ids. */
static void put_summary_row(tl_csv *csv, const tl_lens_idle *idle, const tl_sum *group, double percent, double share)
{
    const tl_real_stats *stats = &group->stats;
    const double std = stats->n > 1 ? stats->std * sqrt(1 - 1 / (double)stats->n) : stats->n > 0 ? 0 : NAN;
    tl_bytes ids = { 0 }; /* "3,5,17" */

    for (size_t i = 0; i < group->n && !isnan(share); i++)
        tl_bytes_say(&ids, "%s%lld", i > 0 ? "," : "", (long long)idle->gaps.v[group->order[i]].id);
    TL_ROW(csv, group->n, stats->sum / 1000, percent, share, stats->mean, median_of(idle, group), std, stats->min,
           stats->max, &ids);
    tl_bytes_free(&ids);
}

/* The row of noise comes after the row of all macro gaps. */
static void write_summary(const tl_lens_idle *idle, uint32_t *macro, const tl_sum *noise, tl_csv_folder *folder)
{
    tl_sums groups = groups_of(idle, macro, by_axes_and_key);
    double share = 0;
    tl_csv csv = tl_csv_open(folder, "idle_summary.csv",
                             "drain_type,cpu_during_gap,dominant_op,count,total_time_ms,pct_of_idle,cumulative_pct,"
                             "mean_us,median_us,std_us,min_us,max_us,idle_ids");

    for (size_t i = 0; i < groups.n || i == 0; i++) {
        share += i > 0 ? percent_of_idle(&groups, i) : 0;
        if (groups.n > 0) {
            put_labels(&csv, idle, &groups, i, 3);
            put_summary_row(&csv, idle, &groups.v[i], percent_of_idle(&groups, i), i > 0 ? share : NAN);
        }
        if (i == 0) {
            TL_CELLS(&csv, DASH, "noise", DASH);
            put_summary_row(&csv, idle, noise, NAN, NAN);
        }
    }
    free(groups.v);
    tl_csv_close(&csv);
}

static void write_overview(const tl_lens_idle *idle, uint32_t *macro, tl_csv_folder *folder)
{
    tl_sums groups = groups_of(idle, macro, by_axes);
    const double span = groups.n > 0 ? idle->busy + groups.v[0].stats.sum : NAN;
    tl_csv csv = tl_csv_open(folder, "idle_overview.csv",
                             groups.n > 0 ? "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,pct_of_trace,"
                                            "gpu_utilization_pct,mean_us,median_us,min_us,max_us"
                                          : "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,mean_us,"
                                            "median_us,min_us,max_us");

    for (size_t i = 0; i < groups.n; i++) {
        const tl_real_stats *stats = &groups.v[i].stats;
        put_labels(&csv, idle, &groups, i, 2);
        TL_ROW(&csv, stats->n, stats->sum / 1000, percent_of_idle(&groups, i), 100 * stats->sum / span,
               100 * idle->busy / span, stats->mean, median_of(idle, &groups.v[i]), stats->min, stats->max);
    }
    free(groups.v);
    tl_csv_close(&csv);
}

void tl_lens_write_gap_groups(const tl_lens_idle *idle, tl_csv_folder *folder)
{
    TL_VEC(uint32_t) macro = { 0 }, noise = { 0 };

    for (uint32_t i = 0; i < idle->gaps.n; i++) {
        if (idle->gaps.v[i].id < 0)
            tl_vec_push(&noise, i);
        else
            tl_vec_push(&macro, i);
    }
    const double *first = idle->gaps.n > 0 ? &idle->gaps.v->us : NULL;
    const tl_sum short_gaps = { noise.v, noise.n, tl_stats_of(noise.v, noise.n, first, sizeof *idle->gaps.v) };
    write_overview(idle, macro.v, folder);
    write_summary(idle, macro.v, &short_gaps, folder);
    free(macro.v);
    free(noise.v);
}
