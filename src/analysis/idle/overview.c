/* overview.c - gaps by their two labels, for the whole trace and for each step, with rows for all and for noise.
 */
#include "scope.h"
#include "tlmpi/base/sort.h"

/* A row for n gaps; all_ns: of all macro gaps of the step. */
static bool add_overview(const tl_idle_scope *s, tl_table *table, int32_t step, uint8_t drain, uint8_t doing, size_t n,
                         const tl_idle_stats *stats, int64_t all_ns)
{
    tl_idle_overview *row = tl_table_add(table);
    if (row == NULL)
        return false;
    int64_t span = tl_idle_plus(s->busy_ns, s->macro_ns);
    bool whole = step == -1;
    row->rank = s->k->view->rank;
    row->device = s->device;
    row->step = step;
    row->drain_type = drain;
    row->cpu_during_gap = doing;
    row->count = (int64_t)n;
    row->total_ns = stats->total_ns;
    row->idle_pct = doing == TL_DOING_NOISE ? tl_idle_pct(0, 0) : tl_idle_pct(stats->total_ns, all_ns);
    row->trace_pct = doing == TL_DOING_NOISE || !whole ? tl_idle_pct(0, 0) : tl_idle_pct(stats->total_ns, span);
    row->utilization_pct = whole ? tl_idle_pct(s->busy_ns, span) : tl_idle_pct(0, 0);
    row->mean_ns = stats->mean_ns;
    row->median_ns = stats->median_ns;
    row->min_ns = stats->min_ns;
    row->max_ns = stats->max_ns;
    return true;
}

static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_idle_brief *v = ((const tl_idle_scope *)context)->brief, *x = &v[a], *y = &v[b];
    return TL_COMPARE(x->step, y->step);
}

static int noise_by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_gap_noise *x = &((const tl_idle_scope *)context)->noise[a],
                       *y = &((const tl_idle_scope *)context)->noise[b];
    return TL_COMPARE(x->step, y->step);
}

/* Gaps of one device mostly lie in order of their steps. */
static bool order_by_step(const tl_idle_scope *s, size_t n, tl_compare *compare)
{
    size_t i = 1;
    tl_idle_number(s->index, n);
    while (i < n && compare(s, (uint32_t)(i - 1), (uint32_t)i) <= 0)
        i++;
    return i >= n || tl_sort_index(s->index, n, compare, s);
}

/* The gaps index[0, n) of one step, or of all, with these stats: a row for all, and one for each pair of labels. */
static bool overview_of(const tl_idle_scope *s, tl_table *table, int32_t step, const uint32_t *index, size_t n,
                        const tl_idle_stats *all)
{
    size_t end[TL_IDLE_NLABELS + 1] = { 0 };

    if (!add_overview(s, table, step, TL_DRAIN_ALL, TL_DOING_ALL, n, all, all->total_ns))
        return false;
    for (size_t i = 0; i < n; i++)
        end[s->brief[index[i]].label + 1]++;
    for (size_t l = 0; l < TL_IDLE_NLABELS; l++)
        end[l + 1] += end[l];
    for (size_t i = 0; i < n; i++) /* end[l] is where l's next length goes, and at last its end */
        s->durations[end[s->brief[index[i]].label]++] = s->brief[index[i]].ns;
    for (size_t l = 0; l < TL_IDLE_NLABELS; l++) {
        size_t from = l > 0 ? end[l - 1] : 0;
        if (end[l] == from)
            continue;
        tl_idle_stats stats = tl_idle_measure(s->durations + from, end[l] - from);
        if (!add_overview(s, table, step, (uint8_t)(l / TL_NDOINGS), (uint8_t)(l % TL_NDOINGS), end[l] - from, &stats,
                          all->total_ns))
            return false;
    }
    return true;
}

static bool macro_rows(const tl_idle_scope *s, tl_table *table)
{
    tl_idle_number(s->index, s->ngaps);
    if (!overview_of(s, table, -1, s->index, s->ngaps, &s->all) || !order_by_step(s, s->ngaps, by_step))
        return false;
    for (size_t from = 0, to; from < s->ngaps; from = to) {
        int32_t step = s->brief[s->index[from]].step;
        for (to = from + 1; to < s->ngaps && s->brief[s->index[to]].step == step; to++)
            ;
        if (step < 0)
            continue;
        tl_idle_lengths(s, s->index + from, to - from);
        tl_idle_stats stats = tl_idle_measure(s->durations, to - from);
        if (!overview_of(s, table, step, s->index + from, to - from, &stats))
            return false;
    }
    return true;
}

static bool noise_rows(const tl_idle_scope *s, tl_table *table)
{
    if (!add_overview(s, table, -1, TL_DRAIN_NOISE, TL_DOING_NOISE, s->nnoise, &s->all_noise, 0) ||
        !order_by_step(s, s->nnoise, noise_by_step))
        return false;
    for (size_t from = 0, to; from < s->nnoise; from = to) {
        int32_t step = s->noise[s->index[from]].step;
        for (to = from; to < s->nnoise && s->noise[s->index[to]].step == step; to++)
            s->durations[to - from] = s->noise[s->index[to]].duration_ns;
        if (step < 0)
            continue;
        tl_idle_stats stats = tl_idle_measure(s->durations, to - from);
        if (!add_overview(s, table, step, TL_DRAIN_NOISE, TL_DOING_NOISE, to - from, &stats, 0))
            return false;
    }
    return true;
}

bool tl_idle_overview_rows(const tl_idle_scope *s, tl_table *table)
{
    return macro_rows(s, table) && noise_rows(s, table);
}
