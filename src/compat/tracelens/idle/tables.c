/* tables.c - the tables of single gaps, and of gaps by what they have in common: the summary, and the overview by the two axes
 * alone.
 */
#include "tlmpi/base/group.h"
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

static tl_cell ref_cell(const tl_lens *lens, tl_ref ref)
{
    if (ref == TL_REF_NONE)
        return tl_blank();
    return ref >= TL_REF_TEXT ? tl_string(tl_names_text(&lens->e->names, (uint32_t)(ref & UINT32_MAX))) : tl_int(ref);
}

/* "starved | CPU_DOMINATED | aten::mm" */
static void put_group(tl_csv *csv, const tl_lens_idle *idle, const tl_lens_gap *gap)
{
    const char *const words[] = { tl_lens_drain_word(gap->drained), " | ", tl_lens_cpu_word(gap->cpu), " | " };
    tl_text key = tl_names_text(&idle->words, gap->key);
    tl_bytes group = { 0 };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        tl_bytes_put(&group, words[i], strlen(words[i]));
    tl_bytes_put(&group, key.p, key.n);
    TL_CELLS(csv, &group);
    tl_bytes_free(&group);
}

/* The call that waited: its name, number and duration. */
static void put_sync_call(tl_csv *csv, const tl_lens *lens, uint32_t call)
{
    if (call == TL_NONE) {
        TL_CELLS(csv, "", tl_blank(), tl_blank());
        return;
    }
    const tl_more *more = &lens->words->more[call];
    TL_CELLS(csv, name_cell(lens, call),
             ref_cell(lens, more->external_id != TL_REF_NONE ? more->external_id : more->correlation),
             tl_number(lens->words->dur[call], more->has & TL_MORE_WHOLE_DUR));
}

static void put_times(tl_csv *csv, const tl_lens_gap *gap)
{
    TL_CELLS(csv, tl_number(gap->lo, gap->lo_whole), tl_number(gap->hi, gap->hi_whole),
             tl_number(tl_lens_duration(gap), tl_lens_gap_is_whole(gap)));
}

static void put_interval(tl_csv *csv, const tl_lens *lens, const tl_lens_idle *idle, const tl_lens_gap *gap)
{
    bool launched = gap->launch != TL_NONE;
    bool whole = launched && tl_lens_whole(lens, gap->next, TL_MORE_WHOLE_TS) &&
                 tl_lens_whole(lens, gap->launch, TL_MORE_WHOLE_TS | TL_MORE_WHOLE_DUR);

    TL_CELLS(csv, gap->id);
    put_group(csv, idle, gap);
    put_times(csv, gap);
    TL_CELLS(csv, tl_lens_drain_word(gap->drained), tl_lens_sync_word(gap->sync));
    put_sync_call(csv, lens, gap->sync_call);
    TL_ROW(csv, tl_lens_cpu_word(gap->cpu), word_cell(idle, gap->detail), word_cell(idle, gap->op),
           name_cell(lens, gap->before), name_cell(lens, gap->after), name_cell(lens, gap->launch),
           uid_cell(lens, gap->next), uid_cell(lens, gap->launch), uid_cell(lens, gap->sync_call),
           tl_number(launched ? gap->launch_to_exec : NAN, whole),
           !launched        ? ""
           : gap->prequeued ? "True"
                            : "False");
}

static int longest_first(const void *context, uint32_t a, uint32_t b)
{
    const tl_lens_gap *gaps = context;
    return TL_COMPARE(tl_lens_duration(&gaps[b]), tl_lens_duration(&gaps[a]));
}

/* Without macro gaps the table has no columns either. */
static void write_intervals(const tl_lens *lens, const tl_lens_idle *idle, tl_csv_folder *folder)
{
    static const char header[] =
        "idle_id,group,start_us,end_us,duration_us,drain_type,sync_type,sync_event_name,sync_event_correlation,"
        "sync_event_dur,cpu_during_gap,cpu_during_gap_detail,dominant_op,preceding_gpu_event,following_gpu_event,"
        "following_launch_name,following_gpu_uid,following_launch_uid,sync_event_uid,launch_to_exec_us,"
        "kernel_prequeued";
    tl_csv csv = tl_csv_open(folder, "idle_intervals.csv", idle->nmacro > 0 ? header : "");
    uint32_t *order = tl_sorted_index(idle->gaps.n, longest_first, idle->gaps.v);

    for (size_t i = 0; i < idle->gaps.n; i++)
        if (!tl_lens_is_noise(&idle->gaps.v[order[i]]))
            put_interval(&csv, lens, idle, &idle->gaps.v[order[i]]);
    free(order);
    tl_csv_close(&csv);
}

/* Its columns are no data frame's: each number is as it is. */
static void write_noise(const tl_lens_idle *idle, tl_csv_folder *folder)
{
    tl_csv csv = tl_csv_open(folder, "idle_noise.csv", "idle_id,start_us,end_us,duration_us");

    csv.as_is = true;
    for (size_t i = 0; i < idle->gaps.n; i++)
        if (tl_lens_is_noise(&idle->gaps.v[i])) {
            TL_CELLS(&csv, idle->gaps.v[i].id);
            put_times(&csv, &idle->gaps.v[i]);
            tl_csv_end_row(&csv);
        }
    tl_csv_close(&csv);
}

void tl_lens_write_gaps(const tl_lens *lens, const tl_lens_idle *idle, tl_csv_folder *folder)
{
    write_intervals(lens, idle, folder);
    write_noise(idle, folder);
}

/* ---------------------------------------------------------------------------------------------------- gaps in groups */

#define DASH "\342\200\224"

/* Gaps with something in common, and what is to be said of their durations. */
typedef struct gap_group {
    const uint32_t *order; /* of gaps; in order of time */
    size_t n;
    double total, mean, median, std, min, max; /* us; NaN where n is 0, but for the total */
    bool min_whole, max_whole;
} gap_group;

static gap_group group_of(const tl_lens_gap *gaps, const uint32_t *order, size_t n)
{
    gap_group g = { .order = order, .n = n, .mean = NAN, .min = NAN, .max = NAN, .std = NAN };
    double *work = tl_malloc(n * sizeof *work);

    for (size_t i = 0; i < n; i++) {
        const tl_lens_gap *gap = &gaps[order[i]];
        double d = work[i] = tl_lens_duration(gap);
        g.total += d;
        if (i == 0 || d < g.min) {
            g.min = d;
            g.min_whole = tl_lens_gap_is_whole(gap);
        }
        if (i == 0 || d > g.max) {
            g.max = d;
            g.max_whole = tl_lens_gap_is_whole(gap);
        }
    }
    g.median = tl_numpy_median(work, n);
    if (n > 0)
        g.mean = g.total / (double)n;
    for (size_t i = 0; i < n; i++) { /* in order of time again: the last digit depends on it */
        double d = tl_lens_duration(&gaps[order[i]]) - g.mean;
        work[i] = d * d;
    }
    if (n > 0)
        g.std = sqrt(tl_numpy_sum(work, n, 1) / (double)n);
    free(work);
    return g;
}

static int by_axes(const void *context, uint32_t a, uint32_t b)
{
    const tl_lens_gap *x = (const tl_lens_gap *)context + a, *y = (const tl_lens_gap *)context + b;
    return TL_ORDER(x, y, drained, cpu);
}

static int by_axes_and_key(const void *context, uint32_t a, uint32_t b)
{
    const tl_lens_gap *x = (const tl_lens_gap *)context + a, *y = (const tl_lens_gap *)context + b;
    return TL_ORDER(x, y, drained, cpu, key);
}

/* Equal totals: the one that comes first in time. */
static int largest_total_first(const void *a, const void *b)
{
    const gap_group *x = a, *y = b;
    return x->total != y->total ? TL_COMPARE(y->total, x->total) : TL_COMPARE(x->order[0], y->order[0]);
}

/* The gaps of a rank: macro gaps in order of time, then group by group; noise. */
typedef struct grouping {
    const tl_lens_idle *idle;
    tl_arena arena;
    uint32_t *macro, *sorted, *small;
    gap_group all, noise;
    TL_VEC(gap_group) groups; /* longest total first */
    bool by_key;              /* else by the two axes alone */
} grouping;

static void make_groups(grouping *g, bool by_key)
{
    const tl_lens_gap *gaps = g->idle->gaps.v;
    tl_compare *compare = by_key ? by_axes_and_key : by_axes;

    g->by_key = by_key;
    g->groups.n = 0;
    memcpy(g->sorted, g->macro, g->all.n * sizeof *g->sorted);
    tl_sort_index(g->sorted, g->all.n, compare, gaps);
    TL_GROUPS (from, to, g->sorted, g->all.n, compare, gaps) {
        tl_vec_push(&g->groups, group_of(gaps, g->sorted + from, to - from));
    }
    if (g->groups.n > 0)
        qsort(g->groups.v, g->groups.n, sizeof *g->groups.v, largest_total_first);
}

static grouping grouping_of(const tl_lens_idle *idle)
{
    const size_t n = idle->gaps.n;
    size_t nmacro = 0, nsmall = 0;
    grouping g = { .idle = idle };

    g.macro = tl_arena_take(&g.arena, n, sizeof *g.macro);
    g.sorted = tl_arena_take(&g.arena, n, sizeof *g.sorted);
    g.small = tl_arena_take(&g.arena, n, sizeof *g.small);
    for (uint32_t i = 0; i < n; i++)
        if (tl_lens_is_noise(&idle->gaps.v[i]))
            g.small[nsmall++] = i;
        else
            g.macro[nmacro++] = i;
    g.all = group_of(idle->gaps.v, g.macro, nmacro);
    g.noise = group_of(idle->gaps.v, g.small, nsmall);
    return g;
}

static void put_labels(tl_csv *csv, const grouping *g, const gap_group *group)
{
    const tl_lens_gap *gap = &g->idle->gaps.v[group->order[0]];
    bool all = group == &g->all;

    TL_CELLS(csv, all ? "ALL" : tl_lens_drain_word(gap->drained), all ? "ALL" : tl_lens_cpu_word(gap->cpu));
    if (g->by_key)
        TL_CELLS(csv, all ? tl_words("ALL") : tl_string(tl_names_text(&g->idle->words, gap->key)));
}

static double percent_of_idle(const grouping *g, const gap_group *group)
{
    return group == &g->all ? 100 : group->total / 1000 / (g->all.total / 1000) * 100;
}

/* ----------------------------------------------------------------------------------------------------- the summary */

/* "3,5,17" */
static void list_ids(tl_bytes *out, const grouping *g, const gap_group *group)
{
    for (size_t i = 0; i < group->n; i++) {
        char id[24];
        int n = snprintf(id, sizeof id, "%s%lld", i > 0 ? "," : "", (long long)g->idle->gaps.v[group->order[i]].id);
        tl_bytes_put(out, id, (size_t)n);
    }
}

/* After the labels; ids: NULL for none. */
static void put_summary_row(tl_csv *csv, const gap_group *group, double percent, double share, const tl_bytes *ids)
{
    TL_ROW(csv, group->n, group->total / 1000, percent, share, group->mean, group->median, group->std,
           tl_number(group->min, group->min_whole), tl_number(group->max, group->max_whole),
           ids != NULL ? tl_bytes_cell(ids) : tl_words(""));
}

static void write_summary(grouping *g, tl_csv_folder *folder)
{
    double share = 0;
    tl_csv csv = tl_csv_open(folder, "idle_summary.csv",
                             "drain_type,cpu_during_gap,dominant_op,count,total_time_ms,pct_of_idle,cumulative_pct,"
                             "mean_us,median_us,std_us,min_us,max_us,idle_ids");

    make_groups(g, true);
    if (g->all.n > 0) {
        put_labels(&csv, g, &g->all);
        put_summary_row(&csv, &g->all, 100, NAN, NULL);
    }
    TL_CELLS(&csv, DASH, "noise", DASH);
    put_summary_row(&csv, &g->noise, NAN, NAN, NULL);
    TL_EACH (const gap_group, group, g->groups) {
        tl_bytes ids = { 0 };
        share += percent_of_idle(g, group);
        list_ids(&ids, g, group);
        put_labels(&csv, g, group);
        put_summary_row(&csv, group, percent_of_idle(g, group), share, &ids);
        tl_bytes_free(&ids);
    }
    tl_csv_close(&csv);
}

/* ---------------------------------------------------------------------------------------------------- the overview */

static void put_overview_row(tl_csv *csv, const grouping *g, const gap_group *group)
{
    double span = g->idle->busy + g->all.total;

    put_labels(csv, g, group);
    TL_ROW(csv, group->n, group->total / 1000, percent_of_idle(g, group), 100 * group->total / span,
           100 * g->idle->busy / span, group->mean, group->median, tl_number(group->min, group->min_whole),
           tl_number(group->max, group->max_whole));
}

static void write_overview(grouping *g, tl_csv_folder *folder)
{
    tl_csv csv = tl_csv_open(folder, "idle_overview.csv",
                             g->all.n > 0 ? "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,pct_of_trace,"
                                            "gpu_utilization_pct,mean_us,median_us,min_us,max_us"
                                          : "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,mean_us,"
                                            "median_us,min_us,max_us");

    make_groups(g, false);
    if (g->all.n > 0)
        put_overview_row(&csv, g, &g->all);
    for (size_t i = 0; i < g->groups.n; i++)
        put_overview_row(&csv, g, &g->groups.v[i]);
    tl_csv_close(&csv);
}

void tl_lens_write_gap_groups(const tl_lens_idle *idle, tl_csv_folder *folder)
{
    grouping g = grouping_of(idle);

    write_overview(&g, folder);
    write_summary(&g, folder);
    free(g.groups.v);
    tl_arena_free(&g.arena);
}
