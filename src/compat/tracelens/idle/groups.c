/* groups.c - gaps by what they have in common: the summary, and the overview by the two axes alone. */
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/tracelens/idle.h"

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
    return x->drained != y->drained ? TL_COMPARE(x->drained, y->drained) : TL_COMPARE(x->cpu, y->cpu);
}

static int by_axes_and_key(const void *context, uint32_t a, uint32_t b)
{
    const tl_lens_gap *x = (const tl_lens_gap *)context + a, *y = (const tl_lens_gap *)context + b;
    int order = by_axes(context, a, b);
    return order != 0 ? order : TL_COMPARE(x->key, y->key);
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
    (void)tl_sort_index(g->sorted, g->all.n, compare, gaps);
    for (size_t from = 0, to; from < g->all.n; from = to) {
        to = tl_group_end(g->sorted, from, g->all.n, compare, gaps);
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

    g.macro = tl_malloc(n * sizeof *g.macro);
    g.sorted = tl_malloc(n * sizeof *g.sorted);
    g.small = tl_malloc(n * sizeof *g.small);
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

    TL_CELLS(csv, tl_words(all ? "ALL" : tl_lens_drain_word(gap->drained)),
             tl_words(all ? "ALL" : tl_lens_cpu_word(gap->cpu)));
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
    TL_ROW(csv, tl_int((int64_t)group->n), tl_real(group->total / 1000), tl_real(percent), tl_real(share),
           tl_real(group->mean), tl_real(group->median), tl_real(group->std), tl_number(group->min, group->min_whole),
           tl_number(group->max, group->max_whole), ids != NULL ? tl_bytes_cell(ids) : tl_words(""));
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
    TL_CELLS(&csv, tl_words(DASH), tl_words("noise"), tl_words(DASH));
    put_summary_row(&csv, &g->noise, NAN, NAN, NULL);
    for (size_t i = 0; i < g->groups.n; i++) {
        const gap_group *group = &g->groups.v[i];
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
    TL_ROW(csv, tl_int((int64_t)group->n), tl_real(group->total / 1000), tl_real(percent_of_idle(g, group)),
           tl_real(100 * group->total / span), tl_real(100 * g->idle->busy / span), tl_real(group->mean),
           tl_real(group->median), tl_number(group->min, group->min_whole), tl_number(group->max, group->max_whole));
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
    free(g.macro);
    free(g.sorted);
    free(g.small);
    free(g.groups.v);
}
