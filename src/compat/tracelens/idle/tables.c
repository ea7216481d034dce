/* tables.c - the tables of single gaps, and of gaps by what they have in common: the summary, and the overview by the two axes
 * alone.
 */
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/tracelens/idle.h"

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

static void put_times(tl_csv *csv, const tl_lens_gap *gap)
{
    TL_CELLS(csv, tl_number(gap->lo, gap->lo_whole), tl_number(gap->hi, gap->hi_whole),
             tl_number(tl_lens_duration(gap), tl_lens_gap_is_whole(gap)));
}

/* The call that waited: its name, number and duration. */
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
             tl_number(lens->words->dur[call], more->has & TL_MORE_WHOLE_DUR));
}

static void put_interval(tl_csv *csv, const tl_lens *lens, const tl_lens_idle *idle, const tl_lens_gap *gap)
{
    const char *drain = tl_lens_drain_word(gap->drained), *cpu = tl_lens_cpu_words[gap->cpu];
    tl_text key = tl_names_text(&idle->words, gap->key);
    bool launched = gap->launch != TL_NONE;
    bool whole = launched && tl_lens_whole(lens, gap->next, TL_MORE_WHOLE_TS) &&
                 tl_lens_whole(lens, gap->launch, TL_MORE_WHOLE_TS | TL_MORE_WHOLE_DUR);
    tl_bytes group = { 0 }; /* "starved | CPU_DOMINATED | aten::mm" */

    tl_bytes_say(&group, "%s | %s | ", drain, cpu);
    tl_bytes_put(&group, key.p, key.n);
    TL_CELLS(csv, gap->id, &group);
    put_times(csv, gap);
    TL_CELLS(csv, drain, tl_lens_sync_words[gap->sync]);
    put_sync_call(csv, lens, gap->sync_call);
    TL_ROW(csv, cpu, word_cell(idle, gap->detail), word_cell(idle, gap->op), name_cell(lens, gap->before),
           name_cell(lens, gap->after), name_cell(lens, gap->launch), uid_cell(lens, gap->next),
           uid_cell(lens, gap->launch), uid_cell(lens, gap->sync_call),
           tl_number(launched ? gap->launch_to_exec : NAN, whole),
           !launched        ? ""
           : gap->prequeued ? "True"
                            : "False");
    tl_bytes_free(&group);
}

static int longest_first(const void *context, uint32_t a, uint32_t b)
{
    const tl_lens_gap *gaps = context;
    return TL_COMPARE(tl_lens_duration(&gaps[b]), tl_lens_duration(&gaps[a]));
}

/* Without macro gaps the table of intervals has no columns either.  The columns of noise are no data frame's: each number is
 * as it is. */
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

    noise.as_is = true;
    for (size_t i = 0; i < idle->gaps.n; i++)
        if (!tl_lens_is_noise(&idle->gaps.v[order[i]]))
            put_interval(&intervals, lens, idle, &idle->gaps.v[order[i]]);
    TL_EACH (const tl_lens_gap, gap, idle->gaps)
        if (tl_lens_is_noise(gap)) {
            TL_CELLS(&noise, gap->id);
            put_times(&noise, gap);
            tl_csv_end_row(&noise);
        }
    free(order);
    tl_csv_close(&intervals);
    tl_csv_close(&noise);
}

/* ---------------------------------------------------------------------------------------------------- gaps in groups */

#define DASH "\342\200\224"

/* What is to be said of the durations of some gaps, us; NaN where there is none. */
typedef struct durations {
    double mean, median, std, min, max;
    bool min_whole, max_whole;
} durations;

/* The gaps of a rank in order of time, with all durations; which of them are macro gaps, and which are noise. */
typedef struct grouping {
    const tl_lens_idle *idle;
    tl_arena arena;
    double *us;
    uint32_t *sorted; /* macro gaps, by group */
    tl_sum all, noise;
} grouping;

TL_ORDER_BY(by_axes, tl_lens_gap, drained, cpu)
TL_ORDER_BY(by_axes_and_key, tl_lens_gap, drained, cpu, key)

static durations durations_of(const grouping *g, const tl_sum *group)
{
    const size_t n = group->n;
    durations d = { .mean = n > 0 ? group->total / (double)n : NAN, .min = NAN, .max = NAN };
    double *work = tl_column(group->order, n, g->us, sizeof *g->us);

    for (size_t i = 0; i < n; i++) {
        bool whole = tl_lens_gap_is_whole(&g->idle->gaps.v[group->order[i]]);
        d.min_whole = i == 0 || work[i] < d.min ? whole : d.min_whole;
        d.max_whole = i == 0 || work[i] > d.max ? whole : d.max_whole;
        d.min = fmin(d.min, work[i]);
        d.max = fmax(d.max, work[i]);
    }
    d.median = tl_real_median(work, n);
    for (size_t i = 0; i < n; i++) { /* in order of time again: the last digit depends on it */
        double x = g->us[group->order[i]] - d.mean;
        work[i] = x * x;
    }
    d.std = n > 0 ? sqrt(tl_numpy_sum(work, n, 1) / (double)n) : NAN;
    free(work);
    return d;
}

static grouping grouping_of(const tl_lens_idle *idle)
{
    const size_t n = idle->gaps.n;
    grouping g = { .idle = idle };
    uint32_t *macro = tl_arena_take(&g.arena, n, sizeof *macro), *small = tl_arena_take(&g.arena, n, sizeof *small);

    g.sorted = tl_arena_take(&g.arena, n, sizeof *g.sorted);
    g.us = tl_arena_take(&g.arena, n, sizeof *g.us);
    g.all.order = macro;
    g.noise.order = small;
    for (uint32_t i = 0; i < n; i++) {
        bool noise = tl_lens_is_noise(&idle->gaps.v[i]);
        tl_sum *group = noise ? &g.noise : &g.all;
        (noise ? small : macro)[group->n++] = i;
        g.us[i] = tl_lens_duration(&idle->gaps.v[i]);
        group->total += g.us[i];
    }
    return g;
}

/* The macro gaps by the two axes, or by their key, too; the longest total first. */
static tl_sums groups_of(grouping *g, tl_compare *compare)
{
    memcpy(g->sorted, g->all.order, g->all.n * sizeof *g->sorted);
    return tl_sums_of(g->sorted, g->all.n, compare, g->idle->gaps.v, g->us, sizeof *g->us, true);
}

static double percent_of_idle(const grouping *g, const tl_sum *group)
{
    return group == &g->all ? 100 : group->total / 1000 / (g->all.total / 1000) * 100;
}

static void put_labels(tl_csv *csv, const grouping *g, const tl_sum *group, bool by_key)
{
    const tl_lens_gap *gap = &g->idle->gaps.v[group->order[0]];
    bool all = group == &g->all;

    TL_CELLS(csv, all ? "ALL" : tl_lens_drain_word(gap->drained), all ? "ALL" : tl_lens_cpu_words[gap->cpu]);
    if (by_key)
        TL_CELLS(csv, all ? tl_words("ALL") : word_cell(g->idle, gap->key));
}

/* After the labels; share: NaN without ids. */
static void put_summary_row(tl_csv *csv, const grouping *g, const tl_sum *group, double percent, double share)
{
    const durations d = durations_of(g, group);
    tl_bytes ids = { 0 }; /* "3,5,17" */

    for (size_t i = 0; i < group->n && !isnan(share); i++)
        tl_bytes_say(&ids, "%s%lld", i > 0 ? "," : "", (long long)g->idle->gaps.v[group->order[i]].id);
    TL_ROW(csv, group->n, group->total / 1000, percent, share, d.mean, d.median, d.std, tl_number(d.min, d.min_whole),
           tl_number(d.max, d.max_whole), &ids);
    tl_bytes_free(&ids);
}

static void write_summary(grouping *g, tl_csv_folder *folder)
{
    tl_sums groups = groups_of(g, by_axes_and_key);
    double share = 0;
    tl_csv csv = tl_csv_open(folder, "idle_summary.csv",
                             "drain_type,cpu_during_gap,dominant_op,count,total_time_ms,pct_of_idle,cumulative_pct,"
                             "mean_us,median_us,std_us,min_us,max_us,idle_ids");

    if (g->all.n > 0) {
        put_labels(&csv, g, &g->all, true);
        put_summary_row(&csv, g, &g->all, 100, NAN);
    }
    TL_CELLS(&csv, DASH, "noise", DASH);
    put_summary_row(&csv, g, &g->noise, NAN, NAN);
    TL_EACH (const tl_sum, group, groups) {
        share += percent_of_idle(g, group);
        put_labels(&csv, g, group, true);
        put_summary_row(&csv, g, group, percent_of_idle(g, group), share);
    }
    free(groups.v);
    tl_csv_close(&csv);
}

static void put_overview_row(tl_csv *csv, const grouping *g, const tl_sum *group)
{
    const double span = g->idle->busy + g->all.total;
    const durations d = durations_of(g, group);

    put_labels(csv, g, group, false);
    TL_ROW(csv, group->n, group->total / 1000, percent_of_idle(g, group), 100 * group->total / span,
           100 * g->idle->busy / span, d.mean, d.median, tl_number(d.min, d.min_whole), tl_number(d.max, d.max_whole));
}

static void write_overview(grouping *g, tl_csv_folder *folder)
{
    tl_sums groups = groups_of(g, by_axes);
    tl_csv csv = tl_csv_open(folder, "idle_overview.csv",
                             g->all.n > 0 ? "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,pct_of_trace,"
                                            "gpu_utilization_pct,mean_us,median_us,min_us,max_us"
                                          : "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,mean_us,"
                                            "median_us,min_us,max_us");

    if (g->all.n > 0)
        put_overview_row(&csv, g, &g->all);
    TL_EACH (const tl_sum, group, groups)
        put_overview_row(&csv, g, group);
    free(groups.v);
    tl_csv_close(&csv);
}

void tl_lens_write_gap_groups(const tl_lens_idle *idle, tl_csv_folder *folder)
{
    grouping g = grouping_of(idle);

    write_overview(&g, folder);
    write_summary(&g, folder);
    tl_arena_free(&g.arena);
}
