/* groups.c - gaps by what they have in common: the summary, and the overview by the two axes alone. */
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include "tlmpi/compat/tracelens/idle.h"
#include <math.h>
#include <stdlib.h>

#define DASH "\342\200\224"

/* Gaps with something in common, and what is to be said of their durations. */
typedef struct gap_group {
    const tl_lens_gap **v; /* in order of time; a share of one array */
    size_t n;
    double total, mean, median, std, min, max; /* us; NaN where n is 0, but for the total */
    bool min_whole, max_whole;
} gap_group;

/* `work` has room for a duration of each. */
static void describe(gap_group *g, double *work)
{
    g->total = 0;
    g->min = g->max = NAN;
    for (size_t i = 0; i < g->n; i++) {
        double d = work[i] = tl_lens_duration(g->v[i]);
        g->total += d;
        if (i == 0 || d < g->min) {
            g->min = d;
            g->min_whole = tl_lens_gap_is_whole(g->v[i]);
        }
        if (i == 0 || d > g->max) {
            g->max = d;
            g->max_whole = tl_lens_gap_is_whole(g->v[i]);
        }
    }
    g->mean = g->n > 0 ? g->total / (double)g->n : NAN;
    g->median = tl_numpy_median(work, g->n);
    /* In order of time again: the last digit depends on it. */
    for (size_t i = 0; i < g->n; i++)
        work[i] = tl_lens_duration(g->v[i]) - g->mean;
    for (size_t i = 0; i < g->n; i++)
        work[i] *= work[i];
    g->std = g->n > 0 ? sqrt(tl_numpy_sum(work, g->n, 1) / (double)g->n) : NAN;
}

/* All tables of groups of a rank. */
typedef struct grouping {
    const tl_lens_idle *idle;
    const tl_lens_gap **macro, **sorted; /* in order of time; group by group */
    double *work;
    gap_group all;
    TL_VEC(gap_group) groups; /* longest total first */
    bool by_key;              /* else by the two axes alone */
} grouping;

static bool are_alike(const grouping *g, const tl_lens_gap *a, const tl_lens_gap *b)
{
    return a->drained == b->drained && a->cpu == b->cpu && (!g->by_key || a->key == b->key);
}

static int in_groups(const void *a, const void *b)
{
    const tl_lens_gap *x = *(const tl_lens_gap *const *)a, *y = *(const tl_lens_gap *const *)b;
    if (x->drained != y->drained)
        return x->drained ? 1 : -1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return TL_COMPARE(x->id, y->id);
}

static int in_axes(const void *a, const void *b)
{
    const tl_lens_gap *x = *(const tl_lens_gap *const *)a, *y = *(const tl_lens_gap *const *)b;
    if (x->drained != y->drained)
        return x->drained ? 1 : -1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return TL_COMPARE(x->id, y->id);
}

/* Equal totals: the one that comes first in time. */
static int largest_total_first(const void *a, const void *b)
{
    const gap_group *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return TL_COMPARE(x->v[0]->id, y->v[0]->id);
}

static bool make_groups(grouping *g, bool by_key)
{
    size_t n = g->idle->nmacro;

    g->by_key = by_key;
    g->groups.n = 0;
    if (n == 0)
        return true;
    memcpy(g->sorted, g->macro, n * sizeof(tl_lens_gap *));
    qsort(g->sorted, n, sizeof(tl_lens_gap *), by_key ? in_groups : in_axes);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && are_alike(g, g->sorted[i], g->sorted[next]);)
            next++;
        if (!tl_vec_room(&g->groups))
            return false;
        gap_group *new = &g->groups.v[g->groups.n++];
        *new = (gap_group){ .v = &g->sorted[i], .n = next - i };
        describe(new, g->work);
    }
    qsort(g->groups.v, g->groups.n, sizeof *g->groups.v, largest_total_first);
    return true;
}

static bool grouping_open(grouping *g, const tl_lens_idle *idle)
{
    *g = (grouping){ .idle = idle, .macro = tl_lens_macro_gaps(idle) };
    g->sorted = tl_malloc((idle->gaps.n + 1) * sizeof(tl_lens_gap *));
    g->work = tl_malloc((idle->gaps.n + 1) * sizeof *g->work);
    if (g->macro == NULL || g->sorted == NULL || g->work == NULL)
        return false;
    g->all = (gap_group){ .v = g->macro, .n = idle->nmacro };
    describe(&g->all, g->work);
    return true;
}

static void grouping_free(grouping *g)
{
    free(g->macro);
    free(g->sorted);
    free(g->work);
    free(g->groups.v);
}

static void put_labels(tl_sheet *sheet, const grouping *g, const gap_group *group)
{
    const tl_lens_gap *gap = group == &g->all ? NULL : group->v[0];
    tl_sheet_words(sheet, gap == NULL ? "ALL" : tl_lens_drain_word(gap->drained));
    tl_sheet_words(sheet, gap == NULL ? "ALL" : tl_lens_cpu_word(gap->cpu));
    if (gap == NULL && g->by_key)
        tl_sheet_words(sheet, "ALL");
    else if (g->by_key)
        tl_sheet_text(sheet, tl_names_text(&g->idle->words, gap->key));
}

/* ----------------------------------------------------------------------------------------------------- the summary */

/* "3,5,17" */
static bool put_ids(tl_sheet *sheet, const gap_group *group)
{
    TL_VEC(char) text = { 0 };

    for (size_t i = 0; i < group->n; i++) {
        if (!tl_grow((void **)&text.v, &text.cap, text.n + 24, 1)) {
            free(text.v);
            return false;
        }
        text.n += (size_t)snprintf(text.v + text.n, 24, "%s%lld", i > 0 ? "," : "", (long long)group->v[i]->id);
    }
    tl_sheet_text(sheet, (tl_text){ text.v != NULL ? text.v : "", text.n });
    free(text.v);
    return true;
}

static void put_statistics(tl_sheet *sheet, const gap_group *group, bool std)
{
    tl_sheet_real(sheet, group->mean);
    tl_sheet_real(sheet, group->median);
    if (std)
        tl_sheet_real(sheet, group->std);
    tl_sheet_number(sheet, group->min, group->min_whole);
    tl_sheet_number(sheet, group->max, group->max_whole);
}

static bool put_summary(tl_sheet *sheet, const grouping *g, const gap_group *noise)
{
    double share = 0;
    bool ok = true;

    if (g->all.n > 0) {
        put_labels(sheet, g, &g->all);
        tl_sheet_int(sheet, (int64_t)g->all.n);
        tl_sheet_real(sheet, g->all.total / 1000);
        tl_sheet_real(sheet, 100);
        tl_sheet_real(sheet, NAN);
        put_statistics(sheet, &g->all, true);
        tl_sheet_words(sheet, "");
        tl_sheet_end_row(sheet);
    }
    tl_sheet_words(sheet, DASH);
    tl_sheet_words(sheet, "noise");
    tl_sheet_words(sheet, DASH);
    tl_sheet_int(sheet, (int64_t)noise->n);
    tl_sheet_real(sheet, noise->total / 1000);
    tl_sheet_real(sheet, NAN);
    tl_sheet_real(sheet, NAN);
    put_statistics(sheet, noise, true);
    tl_sheet_words(sheet, "");
    tl_sheet_end_row(sheet);
    for (size_t i = 0; ok && i < g->groups.n; i++) {
        const gap_group *group = &g->groups.v[i];
        double percent = group->total / 1000 / (g->all.total / 1000) * 100;
        share += percent;
        put_labels(sheet, g, group);
        tl_sheet_int(sheet, (int64_t)group->n);
        tl_sheet_real(sheet, group->total / 1000);
        tl_sheet_real(sheet, percent);
        tl_sheet_real(sheet, share);
        put_statistics(sheet, group, true);
        ok = put_ids(sheet, group);
        tl_sheet_end_row(sheet);
    }
    return ok;
}

static tl_status write_summary(grouping *g, const char *dir, tl_error *err)
{
    gap_group noise = { .v = g->sorted };
    tl_sheet sheet;

    for (size_t i = 0; i < g->idle->gaps.n; i++)
        if (tl_lens_is_noise(&g->idle->gaps.v[i]))
            noise.v[noise.n++] = &g->idle->gaps.v[i];
    describe(&noise, g->work);
    if (!make_groups(g, true))
        return tl_fail_memory(err, "groups of gaps");
    tl_status st = tl_sheet_open(&sheet, dir, "idle_summary.csv",
                                 "drain_type,cpu_during_gap,dominant_op,count,total_time_ms,pct_of_idle,cumulative_pct,"
                                 "mean_us,median_us,std_us,min_us,max_us,idle_ids",
                                 err);
    if (st != TL_OK)
        return st;
    tl_sheet_look(&sheet);
    bool ok = put_summary(&sheet, g, &noise);
    tl_sheet_write(&sheet);
    if (!ok || !put_summary(&sheet, g, &noise)) {
        tl_sheet_abandon(&sheet);
        return tl_fail_memory(err, "a row of a table");
    }
    return tl_sheet_close(&sheet, err);
}

/* ---------------------------------------------------------------------------------------------------- the overview */

static void put_overview_row(tl_sheet *sheet, const grouping *g, const gap_group *group)
{
    double span = g->idle->busy + g->all.total;

    put_labels(sheet, g, group);
    tl_sheet_int(sheet, (int64_t)group->n);
    tl_sheet_real(sheet, group->total / 1000);
    tl_sheet_real(sheet, group == &g->all ? 100 : group->total / 1000 / (g->all.total / 1000) * 100);
    tl_sheet_real(sheet, 100 * group->total / span);
    tl_sheet_real(sheet, 100 * g->idle->busy / span);
    put_statistics(sheet, group, false);
    tl_sheet_end_row(sheet);
}

static void put_overview(tl_sheet *sheet, const grouping *g)
{
    put_overview_row(sheet, g, &g->all);
    for (size_t i = 0; i < g->groups.n; i++)
        put_overview_row(sheet, g, &g->groups.v[i]);
}

static tl_status write_overview(grouping *g, const char *dir, tl_error *err)
{
    tl_sheet sheet;

    if (!make_groups(g, false))
        return tl_fail_memory(err, "groups of gaps");
    tl_status st =
        tl_sheet_open(&sheet, dir, "idle_overview.csv",
                      g->all.n > 0 ? "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,pct_of_trace,"
                                     "gpu_utilization_pct,mean_us,median_us,min_us,max_us"
                                   : "drain_type,cpu_during_gap,count,total_time_ms,pct_of_idle,mean_us,"
                                     "median_us,min_us,max_us",
                      err);
    if (st != TL_OK || g->all.n == 0)
        return st == TL_OK ? tl_sheet_close(&sheet, err) : st;
    tl_sheet_look(&sheet);
    put_overview(&sheet, g);
    tl_sheet_write(&sheet);
    put_overview(&sheet, g);
    return tl_sheet_close(&sheet, err);
}

tl_status tl_lens_write_gap_groups(const tl_lens_idle *idle, const char *dir, tl_error *err)
{
    grouping g;
    tl_status st = grouping_open(&g, idle) ? TL_OK : tl_fail_memory(err, "groups of gaps");

    if (st == TL_OK)
        st = write_overview(&g, dir, err);
    if (st == TL_OK)
        st = write_summary(&g, dir, err);
    grouping_free(&g);
    return st;
}
