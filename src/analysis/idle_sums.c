/* idle_sums.c - the gaps of a rank by their labels.
 *
 *     gap            gap rows of one device lie together, in order of time; those of the rank's devices follow each other
 *     idle           a row for the rank, and one for each device where it has several
 *     overview       ... for the whole trace and for each step, by (drain_type, cpu_during_gap), with rows for ALL and noise
 *     summary        ... by (drain_type, cpu_during_gap, dominant_op)
 */
#include "idle.h"
#include "idle_stats.h"
#include "tlmpi/base/sort.h"
#include <stdio.h>
#include <stdlib.h>

/* More classes than that of one device are summed as others: a trace may give every gap a name of its own. */
#define MOST_CLASSES 1000

/* One device, or all of a rank. */
typedef struct scope {
    tl_idle_rank *k;
    int32_t device;             /* -1: all */
    const tl_gap *gaps;
    size_t ngaps;
    const tl_gap_noise *noise;
    size_t nnoise;
    int64_t busy_ns, macro_ns;
    uint32_t *index;            /* room for the numbers of its gaps, of either kind */
    int64_t *durations;         /* and for their lengths */
} scope;

/* ------------------------------------------------------------------------------------------------------ overview */

static bool add_overview(const scope *s, tl_table *table, int32_t step, uint8_t drain, uint8_t doing, size_t n, int64_t all_ns)
{
    tl_idle_stats stats = tl_idle_measure(s->durations, n);
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
    row->total_ns = stats.total_ns;
    row->idle_pct = doing == TL_DOING_NOISE ? tl_idle_pct(0, 0) : tl_idle_pct(stats.total_ns, all_ns);
    row->trace_pct = doing == TL_DOING_NOISE || !whole ? tl_idle_pct(0, 0) : tl_idle_pct(stats.total_ns, span);
    row->utilization_pct = whole ? tl_idle_pct(s->busy_ns, span) : tl_idle_pct(0, 0);
    row->mean_ns = stats.mean_ns;
    row->median_ns = tl_idle_median(s->durations, n);
    row->min_ns = stats.min_ns;
    row->max_ns = stats.max_ns;
    return true;
}

static int by_label(const void *context, uint32_t a, uint32_t b)
{
    const tl_gap *x = &((const scope *)context)->gaps[a], *y = &((const scope *)context)->gaps[b];
    if (x->drain_type != y->drain_type)
        return x->drain_type < y->drain_type ? -1 : 1;
    return (x->cpu_during_gap > y->cpu_during_gap) - (x->cpu_during_gap < y->cpu_during_gap);
}

static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_gap *x = &((const scope *)context)->gaps[a], *y = &((const scope *)context)->gaps[b];
    return (x->step > y->step) - (x->step < y->step);
}

static int noise_by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_gap_noise *x = &((const scope *)context)->noise[a], *y = &((const scope *)context)->noise[b];
    return (x->step > y->step) - (x->step < y->step);
}

static void number(uint32_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
}

/* Lengths of the gaps index[0, n) to s->durations. */
static void take_durations(const scope *s, const uint32_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->durations[i] = s->gaps[index[i]].duration_ns;
}

/* The gaps index[0, n) of one step, or of all: a row for all, and one for each pair of labels. */
static bool overview_of(const scope *s, tl_table *table, int32_t step, uint32_t *index, size_t n)
{
    take_durations(s, index, n);
    int64_t all_ns = tl_idle_measure(s->durations, n).total_ns;
    if (!add_overview(s, table, step, TL_DRAIN_ALL, TL_DOING_ALL, n, all_ns) || !tl_sort_index(index, n, by_label, s))
        return false;
    for (size_t from = 0, to; from < n; from = to) {
        const tl_gap *first = &s->gaps[index[from]];
        for (to = from + 1; to < n && by_label(s, index[from], index[to]) == 0; to++)
            ;
        take_durations(s, index + from, to - from);
        if (!add_overview(s, table, step, first->drain_type, first->cpu_during_gap, to - from, all_ns))
            return false;
    }
    return true;
}

static bool overview(const scope *s, tl_table *table)
{
    number(s->index, s->ngaps);
    if (!overview_of(s, table, -1, s->index, s->ngaps))
        return false;
    number(s->index, s->ngaps);
    if (!tl_sort_index(s->index, s->ngaps, by_step, s))
        return false;
    for (size_t from = 0, to; from < s->ngaps; from = to) {
        int32_t step = s->gaps[s->index[from]].step;
        for (to = from + 1; to < s->ngaps && s->gaps[s->index[to]].step == step; to++)
            ;
        if (step >= 0 && !overview_of(s, table, step, s->index + from, to - from))
            return false;
    }
    return true;
}

static bool overview_noise(const scope *s, tl_table *table)
{
    for (size_t i = 0; i < s->nnoise; i++)
        s->durations[i] = s->noise[i].duration_ns;
    number(s->index, s->nnoise);
    if (!add_overview(s, table, -1, TL_DRAIN_NOISE, TL_DOING_NOISE, s->nnoise, 0) ||
        !tl_sort_index(s->index, s->nnoise, noise_by_step, s))
        return false;
    for (size_t from = 0, to; from < s->nnoise; from = to) {
        int32_t step = s->noise[s->index[from]].step;
        for (to = from; to < s->nnoise && s->noise[s->index[to]].step == step; to++)
            s->durations[to - from] = s->noise[s->index[to]].duration_ns;
        if (step >= 0 && !add_overview(s, table, step, TL_DRAIN_NOISE, TL_DOING_NOISE, to - from, 0))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------- summary */

/* What a gap is grouped by beside its labels: two numbers. */
typedef struct class_key {
    uint32_t sub, name;
} class_key;

static class_key key_of(const tl_gap *g)
{
    switch (g->cpu_during_gap) {
    case TL_DOING_RUNTIME:
        return (class_key){ g->call_class, g->call };
    case TL_DOING_CPU:
    case TL_DOING_UNTRACED:
        return (class_key){ 0, g->dominant_op };
    case TL_DOING_GRAPH:
        return (class_key){ 0, g->launch };
    case TL_DOING_DEPENDENCY:
        return (class_key){ 0, g->following };
    case TL_DOING_LAUNCH_ANOMALY:
    case TL_DOING_LAUNCH_OVERHEAD:
        return (class_key){ g->prequeued, TL_NO_NAME };
    default:
        return (class_key){ 0, TL_NO_NAME };
    }
}

static int by_class(const void *context, uint32_t a, uint32_t b)
{
    int order = by_label(context, a, b);
    if (order != 0)
        return order;
    class_key x = key_of(&((const scope *)context)->gaps[a]), y = key_of(&((const scope *)context)->gaps[b]);
    if (x.sub != y.sub)
        return x.sub < y.sub ? -1 : 1;
    return (x.name > y.name) - (x.name < y.name);
}

static void text_cell(char *cell, size_t size, tl_text text)
{
    tl_cell_text(cell, size, text.p, text.n);
}

/* The class in words. */
static void say_class(const scope *s, const tl_gap *g, tl_idle_summary *row)
{
    class_key key = key_of(g);
    tl_text name = tl_names_text(s->k->view->names, key.name);
    char *cell = row->dominant_op;
    size_t size = sizeof row->dominant_op;

    switch (g->cpu_during_gap) {
    case TL_DOING_RUNTIME: {
        char text[256];
        int n = snprintf(text, sizeof text, "%s: ", tl_call_labels[g->call_class]);
        size_t more = name.n < sizeof text - (size_t)n ? name.n : sizeof text - (size_t)n;
        memcpy(text + n, name.p, more);
        tl_cell_text(cell, size, text, (size_t)n + more);
        break;
    }
    case TL_DOING_LAUNCH_ANOMALY:
    case TL_DOING_LAUNCH_OVERHEAD:
        text_cell(cell, size, g->prequeued == TL_QUEUED_YES ? TL_TEXT("prequeued") : TL_TEXT("launched_during_gap"));
        break;
    case TL_DOING_NO_TRACE:
        text_cell(cell, size, TL_TEXT("(no_cpu_trace)"));
        break;
    case TL_DOING_UNTRACED:
        text_cell(cell, size, g->ops_ns > 0 ? name : TL_TEXT("(no_cpu_op_overlap)"));
        break;
    default:
        text_cell(cell, size, name);
    }
}

static tl_idle_summary *add_summary(const scope *s, tl_table *table, uint8_t drain, uint8_t doing, size_t n)
{
    tl_idle_summary *row = tl_table_add(table);
    if (row == NULL)
        return NULL;
    tl_idle_stats stats = tl_idle_measure(s->durations, n);
    row->rank = s->k->view->rank;
    row->device = s->device;
    row->drain_type = drain;
    row->cpu_during_gap = doing;
    row->count = (int64_t)n;
    row->total_ns = stats.total_ns;
    row->idle_pct = doing == TL_DOING_NOISE ? tl_idle_pct(0, 0) : tl_idle_pct(stats.total_ns, s->macro_ns);
    row->cumulative_pct = tl_idle_pct(0, 0);
    row->mean_ns = stats.mean_ns;
    row->median_ns = tl_idle_median(s->durations, n);
    row->std_ns = tl_idle_deviation(s->durations, n);
    row->min_ns = stats.min_ns;
    row->max_ns = stats.max_ns;
    row->longest_id = -1;
    text_cell(row->dominant_op, sizeof row->dominant_op, doing == TL_DOING_NOISE ? TL_TEXT("noise") : TL_TEXT("ALL"));
    return row;
}

/* What the gaps index[0, n) of one class, or of all, say beside their lengths. */
static void say_longest(const scope *s, const uint32_t *index, size_t n, tl_idle_summary *row)
{
    const tl_gap *longest = NULL, *other = NULL;
    for (size_t i = 0; i < n; i++) {
        const tl_gap *g = &s->gaps[index[i]];
        if (longest == NULL || g->duration_ns > longest->duration_ns)
            longest = g;
        if (g->other_op_ns > 0 && (other == NULL || g->other_op_ns > other->other_op_ns))
            other = g;
    }
    if (longest != NULL) {
        row->longest_id = longest->idle_id;
        text_cell(row->annotation, sizeof row->annotation, tl_names_text(s->k->view->names, longest->annotation));
    }
    if (other != NULL)
        text_cell(row->other_op, sizeof row->other_op, tl_names_text(s->k->view->names, other->other_op));
}

/* One class among others: index[from, to). */
typedef struct class_run {
    size_t from, to;
    int64_t total_ns;
    uint32_t first;             /* its first gap */
} class_run;

/* The most time first; of equals what came first. */
static int by_total(const void *a, const void *b)
{
    const class_run *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The classes from the n-th on, as one. */
static bool add_others(const scope *s, tl_table *table, const class_run *runs, size_t n, size_t nruns)
{
    size_t count = 0;
    for (size_t r = n; r < nruns; r++)
        for (size_t i = runs[r].from; i < runs[r].to; i++)
            s->durations[count++] = s->gaps[s->index[i]].duration_ns;
    tl_idle_summary *row = count > 0 ? add_summary(s, table, TL_DRAIN_ALL, TL_DOING_ALL, count) : NULL;
    if (count == 0)
        return true;
    if (row == NULL)
        return false;
    row->place = (int32_t)n + 1;
    row->cumulative_pct = tl_idle_pct(s->macro_ns, s->macro_ns);
    text_cell(row->dominant_op, sizeof row->dominant_op, TL_TEXT("(others)"));
    return true;
}

static bool add_classes(const scope *s, tl_table *table, class_run *runs, size_t nruns)
{
    size_t n = nruns < MOST_CLASSES ? nruns : MOST_CLASSES;
    int64_t sum = 0;

    for (size_t r = 0; r < n; r++) {
        const uint32_t *index = s->index + runs[r].from;
        size_t count = runs[r].to - runs[r].from;
        const tl_gap *first = &s->gaps[index[0]];
        take_durations(s, index, count);
        tl_idle_summary *row = add_summary(s, table, first->drain_type, first->cpu_during_gap, count);
        if (row == NULL)
            return false;
        sum += row->total_ns;
        row->place = (int32_t)r + 1;
        row->cumulative_pct = tl_idle_pct(sum, s->macro_ns);
        say_class(s, first, row);
        say_longest(s, index, count, row);
    }
    return add_others(s, table, runs, n, nruns);
}

static bool summary(const scope *s, tl_table *table)
{
    class_run *runs = tl_malloc((s->ngaps + 1) * sizeof *runs);
    size_t nruns = 0;
    bool whole = runs != NULL;

    number(s->index, s->ngaps);
    if (whole && s->ngaps > 0) {
        take_durations(s, s->index, s->ngaps);
        tl_idle_summary *all = add_summary(s, table, TL_DRAIN_ALL, TL_DOING_ALL, s->ngaps);
        whole = all != NULL;
        if (whole)
            say_longest(s, s->index, s->ngaps, all);
    }
    whole = whole && tl_sort_index(s->index, s->ngaps, by_class, s);
    for (size_t from = 0, to; whole && from < s->ngaps; from = to) {
        class_run run = { .from = from, .first = s->index[from] };
        for (to = from; to < s->ngaps && by_class(s, s->index[from], s->index[to]) == 0; to++) {
            run.total_ns += s->gaps[s->index[to]].duration_ns;
            run.first = s->index[to] < run.first ? s->index[to] : run.first;
        }
        run.to = to;
        runs[nruns++] = run;
    }
    if (whole && nruns > 0)
        qsort(runs, nruns, sizeof *runs, by_total);
    whole = whole && add_classes(s, table, runs, nruns);
    free(runs);
    for (size_t i = 0; i < s->nnoise; i++)
        s->durations[i] = s->noise[i].duration_ns;
    return whole && add_summary(s, table, TL_DRAIN_NOISE, TL_DOING_NOISE, s->nnoise) != NULL;
}

/* ------------------------------------------------------------------------------------------------------ the whole */

/* What is known of the host, on the row of the whole rank. */
static void say_host(const tl_idle_rank *k, tl_idle *row)
{
    row->graph_launches = (int64_t)k->graph_launches;
    row->graph_under_recorded = (int64_t)k->under.n;
    row->calls = (int64_t)k->view->calls.n;
    for (size_t i = 0; i < k->view->ops.n; i++) {
        row->operators += k->view->ops.kind[i] == TL_OP;
        row->python_functions += k->view->ops.kind[i] == TL_FRAME;
    }
}

void tl_idle_add(tl_idle *sum, const tl_idle *row)
{
    sum->busy_ns = tl_idle_plus(sum->busy_ns, row->busy_ns);
    sum->macro_ns = tl_idle_plus(sum->macro_ns, row->macro_ns);
    sum->noise_ns = tl_idle_plus(sum->noise_ns, row->noise_ns);
    sum->utilization_pct = tl_idle_pct(sum->busy_ns, tl_idle_plus(sum->busy_ns, sum->macro_ns));
    sum->macro_gaps += row->macro_gaps;
    sum->noise_gaps += row->noise_gaps;
    sum->longest_ns = row->longest_ns > sum->longest_ns ? row->longest_ns : sum->longest_ns;
    sum->unlinked += row->unlinked;
    sum->overruns += row->overruns;
    sum->overrun_ns = tl_idle_plus(sum->overrun_ns, row->overrun_ns);
    sum->under_recorded_ns = tl_idle_plus(sum->under_recorded_ns, row->under_recorded_ns);
    sum->graph_launches += row->graph_launches;
    sum->graph_under_recorded += row->graph_under_recorded;
    sum->calls += row->calls;
    sum->operators += row->operators;
    sum->python_functions += row->python_functions;
}

static bool sum_scope(scope *s, const tl_idle *sums, tl_tables *out)
{
    size_t most = s->ngaps > s->nnoise ? s->ngaps : s->nnoise;
    tl_idle row = *sums;

    row.rank = s->k->view->rank;
    row.device = s->device;
    row.utilization_pct = tl_idle_pct(row.busy_ns, tl_idle_plus(row.busy_ns, row.macro_ns));
    s->busy_ns = row.busy_ns;
    s->macro_ns = row.macro_ns;
    s->index = tl_malloc((most + 1) * sizeof *s->index);
    s->durations = tl_malloc((most + 1) * sizeof *s->durations);
    tl_table *of_labels = tl_tables_get(out, &tl_idle_overview_schema);
    bool whole = s->index != NULL && s->durations != NULL &&
                 tl_table_append(tl_tables_get(out, &tl_idle_schema), &row, 1) && overview(s, of_labels) &&
                 overview_noise(s, of_labels) && summary(s, tl_tables_get(out, &tl_idle_summary_schema));
    free(s->index);
    free(s->durations);
    return whole;
}

bool tl_idle_sums(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out)
{
    const tl_table *gaps = tl_tables_get(out, &tl_gap_schema), *noise = tl_tables_get(out, &tl_gap_noise_schema);
    scope s = { .k = k, .device = -1, .ngaps = gaps->n - devices[0].first_row, .nnoise = noise->n - devices[0].first_noise };
    tl_idle all = { 0 };
    bool whole = true;

    s.gaps = s.ngaps > 0 ? tl_table_row(gaps, devices[0].first_row) : NULL;
    s.noise = s.nnoise > 0 ? tl_table_row(noise, devices[0].first_noise) : NULL;
    for (size_t i = 0; i < n; i++)
        tl_idle_add(&all, &devices[i].sums);
    say_host(k, &all);
    whole = sum_scope(&s, &all, out);
    for (size_t i = 0; whole && n > 1 && i < n; i++) {
        s.device = devices[i].device;
        s.ngaps = devices[i].gaps.n;
        s.nnoise = (size_t)devices[i].sums.noise_gaps;
        s.gaps = s.ngaps > 0 ? tl_table_row(gaps, devices[i].first_row) : NULL;
        s.noise = s.nnoise > 0 ? tl_table_row(noise, devices[i].first_noise) : NULL;
        whole = sum_scope(&s, &devices[i].sums, out);
    }
    return whole && tl_table_sort(tl_tables_get(out, &tl_idle_schema)) &&
           tl_table_sort(tl_tables_get(out, &tl_idle_overview_schema)) &&
           tl_table_sort(tl_tables_get(out, &tl_idle_summary_schema));
}
