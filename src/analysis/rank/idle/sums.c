/* sums.c - the sums over the gaps of a rank, for the whole rank and each device: by the two labels, for the whole trace
 * and each step, with rows for all gaps and for noise; and by class: the labels with a call, operator, graph or work.
 *
 * Gap rows of one device are consecutive and in order of time; those of the rank's devices follow each other.
 *
 *     annotation   [forward       ][     ][backward             ]
 *     gaps           |<- a ->|   |<- a ->|      |<- a ->|           class a: forward 11, backward 9, none 5
 *
 * Each instant of a gap counts for the innermost annotation of the gap's thread, or for none.  A gap may lie in several
 * annotations, and the longest gap of a class says little about the others.
 */
#include "internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NLABELS = TL_NDRAINS * TL_NDOINGS,
    /* Largest number of classes of a device; further ones are summed as others: a trace may give every gap a different
     * name. */
    MOST_CLASSES = 1000
};

/* The part of the class of a gap that is not its labels. */
typedef struct class_key {
    uint32_t sub, name;
} class_key;

/* The fields of a gap that are read repeatedly: a gap's row is large, and there may be many. */
typedef struct brief {
    int64_t ns, other_op_ns;
    int32_t step;
    uint32_t label;      /* both labels as one number, below NLABELS */
    uint32_t annotation; /* index of the gap's first entry in gap_annotations; TL_NONE: none */
    class_key key;
} brief;

/* One device, or all devices of a rank. */
typedef struct scope {
    tl_idle_rank *k;
    int32_t device; /* -1: all devices */
    const tl_gap *gaps;
    size_t first_row; /* index of gaps[0] in the gap table */
    brief *brief;     /* [ngaps] */
    size_t ngaps;
    const tl_idle_noise *noise;
    size_t nnoise;
    int64_t macro_ns;
    uint32_t *index;       /* scratch: indices of gaps, or of noise */
    int64_t *lengths;      /* scratch: lengths of gaps, or of noise */
    tl_idle_tally tally;   /* scratch: time by annotation */
    tl_table *summary;     /* idle_summary */
    tl_table *annotations; /* idle_annotation; NULL: a single device of several */
} scope;

/* ------------------------------------------------------------------------------------------------------- statistics */

/* Returns the population standard deviation (divided by n), rounded. */
static int64_t deviation(const int64_t *v, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += (double)v[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)v[i] - mean) * ((double)v[i] - mean);
    return n > 0 ? (int64_t)llround(sqrt(squares / (double)n)) : 0;
}

double tl_idle_pct(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : NAN;
}

/* ------------------------------------------------------------------------------------------------------------ rows */

/* Adds a row of idle_summary with the statistics of n lengths, which are sorted here.  all_ns: total of the macro gaps
 * in the step, or in all steps. */
static tl_idle_summary *add_row(const scope *s, int32_t step, uint8_t drain, uint8_t doing, int64_t *lengths, size_t n,
                                int64_t all_ns)
{
    tl_idle_summary *row = tl_table_add(s->summary);
    bool noise = doing == TL_DOING_NOISE, axes = step >= 0 || (doing != TL_DOING_ALL && !noise);

    row->std_ns = deviation(lengths, n);
    row->rank = s->k->view->rank;
    row->device = s->device;
    row->step = step;
    row->drain_type = drain;
    row->cpu_during_gap = doing;
    tl_cell_put(row->dominant_op, sizeof row->dominant_op, noise ? TL_TEXT("noise") : TL_TEXT("ALL"));
    row->count = (int64_t)n;
    for (size_t i = 0; i < n; i++)
        row->total_ns = tl_ns_add(row->total_ns, lengths[i]);
    row->median_rank_ns = row->worst_ns = row->total_ns;
    row->idle_pct = tl_idle_pct(row->total_ns, noise ? 0 : all_ns);
    row->peer_ns = axes ? -1 : 0;
    row->median_ns = n > 0 ? tl_median_rounded_up(lengths, n) : 0; /* sorts lengths */
    row->min_ns = n > 0 ? lengths[0] : 0;
    row->max_ns = n > 0 ? lengths[n - 1] : 0;
    row->longest_id = -1;
    row->annotation = TL_NO_NAME;
    row->ranks = n > 0;
    row->worst_rank = n > 0 ? row->rank : -1;
    return row;
}

/* Copies the lengths of the gaps index[0, n) to s->lengths. */
static void copy_lengths(const scope *s, const uint32_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->lengths[i] = s->brief[index[i]].ns;
}

/* Fills the columns of single gaps, from the gaps index[0, n) of one class, or of all. */
static void fill_single_gaps(const scope *s, const uint32_t *index, size_t n, tl_idle_summary *row)
{
    const brief *v = s->brief;
    uint32_t longest = TL_NONE, other = TL_NONE;
    for (size_t i = 0; i < n; i++) {
        uint32_t g = index[i];
        if (longest == TL_NONE || v[g].ns > v[longest].ns)
            longest = g;
        if (v[g].other_op_ns > 0 && (other == TL_NONE || v[g].other_op_ns > v[other].other_op_ns))
            other = g;
    }
    if (longest != TL_NONE)
        row->longest_id = s->gaps[longest].idle_id;
    if (other != TL_NONE)
        tl_cell_put(row->other_op, sizeof row->other_op, tl_names_text(s->k->view->names, s->gaps[other].other_op));
}

/* Order: time, descending; ties in order of first addition. */
TL_ORDER_BY(by_time, tl_idle_tally_entry, DOWN(ns))

/* Sums the time of the gaps index[0, n) of a class, or of all, by annotation: the largest goes to the class's row, and
 * for a class all go to rows of idle_annotation. */
static void fill_annotations(scope *s, const uint32_t *index, size_t n, tl_idle_summary *row)
{
    tl_idle_tally *tally = &s->tally;
    size_t most = TL_IDLE_ANNOTATIONS_OF_CLASS;

    for (size_t i = 0; i < n; i++)
        for (size_t p = s->brief[index[i]].annotation; p < s->k->gap_annotations.n; p++) {
            const tl_gap_annotation *part = &s->k->gap_annotations.v[p];
            if (part->gap != s->first_row + index[i])
                break;
            tl_idle_tally_add(tally, part->name, 0, part->ns);
        }
    if (tally->n == 0)
        return;
    row->annotation = tl_idle_tally_largest(tally)->name;
    row->annotation_ns = tl_idle_tally_largest(tally)->ns;
    if (s->annotations != NULL && row->place != 0) {
        uint32_t *order = tl_sorted_index(tally->n, by_time, tally->v);
        if (TL_IDLE_ANNOTATIONS_OF_RANK - s->annotations->n < most)
            most = TL_IDLE_ANNOTATIONS_OF_RANK - s->annotations->n;
        for (size_t i = 0; i < tally->n && i < most; i++)
            *(tl_idle_annotation *)tl_table_add(s->annotations) =
                (tl_idle_annotation){ s->k->view->rank, row->place, (int32_t)i + 1, tally->v[order[i]].name,
                                      tally->v[order[i]].ns };
        free(order);
    }
    tl_idle_tally_clear(tally);
}

/* ------------------------------------------------------------------------------------------------ by step and label */

TL_ORDER_BY(by_step, brief, step)
TL_ORDER_BY(by_step_of_noise, tl_idle_noise, step)

static void fill_identity(uint32_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
}

/* Adds rows of one step, or of all steps, for the gaps index[0, n): one for all, and one for each pair of labels. */
static void add_label_rows(scope *s, int32_t step, const uint32_t *index, size_t n)
{
    size_t end[NLABELS + 1] = { 0 };

    copy_lengths(s, index, n);
    tl_idle_summary *row = add_row(s, step, TL_DRAIN_ALL, TL_DOING_ALL, s->lengths, n, 0);
    int64_t all_ns = row->total_ns;
    row->idle_pct = tl_idle_pct(all_ns, all_ns);
    if (step == -1) {
        fill_single_gaps(s, index, n, row);
        fill_annotations(s, index, n, row);
    }
    for (size_t i = 0; i < n; i++)
        end[s->brief[index[i]].label + 1]++;
    for (size_t l = 0; l < NLABELS; l++)
        end[l + 1] += end[l];
    for (size_t i = 0; i < n; i++) /* end[l] is the next free entry of label l, and finally its end */
        s->lengths[end[s->brief[index[i]].label]++] = s->brief[index[i]].ns;
    for (size_t l = 0, from = 0; l < NLABELS; from = end[l++])
        if (end[l] > from)
            add_row(s, step, (uint8_t)(l / TL_NDOINGS), (uint8_t)(l % TL_NDOINGS), s->lengths + from, end[l] - from,
                    all_ns);
}

static void add_in_step(tl_idle_summary *row, int32_t step, int64_t ns)
{
    row->steps_count += step >= 0;
    row->steps_ns = tl_ns_add(row->steps_ns, step >= 0 ? ns : 0);
}

static void add_noise_rows(const scope *s)
{
    for (size_t i = 0; i < s->nnoise; i++)
        s->lengths[i] = s->noise[i].duration_ns;
    tl_idle_summary *all = add_row(s, -1, TL_DRAIN_NOISE, TL_DOING_NOISE, s->lengths, s->nnoise, 0);
    for (size_t i = 0; i < s->nnoise; i++)
        add_in_step(all, s->noise[i].step, s->noise[i].duration_ns);
    fill_identity(s->index, s->nnoise);
    tl_sort_index(s->index, s->nnoise, by_step_of_noise, s->noise);
    TL_GROUPS (from, to, s->index, s->nnoise, by_step_of_noise, s->noise) {
        int32_t step = s->noise[s->index[from]].step;
        for (size_t i = from; i < to; i++)
            s->lengths[i - from] = s->noise[s->index[i]].duration_ns;
        if (step >= 0)
            add_row(s, step, TL_DRAIN_NOISE, TL_DOING_NOISE, s->lengths, to - from, 0);
    }
}

/* --------------------------------------------------------------------------------------------------------- by class */

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
    case TL_DOING_LAUNCH_ANOMALY: {
        /* If most of the gap was one call, the class has the call: work was launched, and began late. */
        bool mostly = g->call_class != TL_CALL_NONE && g->call_ns > g->duration_ns / 2;
        return (class_key){ g->prequeued, mostly ? g->call : TL_NO_NAME };
    }
    case TL_DOING_LAUNCH_OVERHEAD:
        return (class_key){ g->prequeued, TL_NO_NAME };
    default:
        return (class_key){ 0, TL_NO_NAME };
    }
}

void tl_idle_say_class(const tl_names *names, const tl_gap *g, char *cell, size_t size)
{
    class_key key = key_of(g);
    tl_text name = tl_names_text(names, key.name);
    const char *word = NULL;
    char both[256];

    if (g->cpu_during_gap == TL_DOING_RUNTIME)
        word = tl_call_labels[g->call_class];
    else if (g->cpu_during_gap == TL_DOING_LAUNCH_ANOMALY || g->cpu_during_gap == TL_DOING_LAUNCH_OVERHEAD)
        word = g->prequeued == TL_QUEUED_YES ? "prequeued" : "launched_during_gap";
    else if (g->cpu_during_gap == TL_DOING_NO_TRACE)
        name = TL_TEXT("(no_cpu_trace)");
    else if (g->cpu_during_gap == TL_DOING_UNRECORDED)
        name = TL_TEXT("(launches_without_work)");
    else if (g->cpu_during_gap == TL_DOING_UNTRACED && g->ops_ns == 0)
        name = TL_TEXT("(no_cpu_op_overlap)");
    if (word != NULL) {
        bool alone = key.name == TL_NO_NAME && g->cpu_during_gap != TL_DOING_RUNTIME;
        size_t n = (size_t)snprintf(both, sizeof both, alone ? "%s" : "%s: ", word),
               more = name.n < sizeof both - n ? name.n : sizeof both - n;
        memcpy(both + n, name.p, more);
        name = (tl_text){ both, n + more };
    }
    tl_cell_put(cell, size, name);
}

/* The gaps of one class: index[from, to). */
typedef struct class_run {
    size_t from, to;
    int64_t total_ns;
    uint32_t first; /* its first gap */
} class_run;

TL_SORT_BY(by_total, class_run, DOWN(total_ns), first)
TL_ORDER_BY(by_class, brief, label, key.sub, key.name)

/* Returns the classes, *nruns of them, by time, descending; s->index has the gaps by class, and those of a class in
 * order of time. */
static class_run *find_classes(const scope *s, size_t *nruns)
{
    class_run *runs = tl_malloc((s->ngaps + 1) * sizeof *runs);

    *nruns = 0;
    fill_identity(s->index, s->ngaps);
    tl_sort_index(s->index, s->ngaps, by_class, s->brief);
    TL_GROUPS (from, to, s->index, s->ngaps, by_class, s->brief) {
        class_run *run = &runs[(*nruns)++];
        *run = (class_run){ .from = from, .to = to, .first = s->index[from] };
        for (size_t i = from; i < to; i++)
            run->total_ns += s->brief[s->index[i]].ns;
    }
    qsort(runs, *nruns, sizeof *runs, by_total);
    return runs;
}

static void add_class_rows(scope *s)
{
    size_t nruns, nothers = 0;
    class_run *runs = find_classes(s, &nruns);

    for (size_t r = 0; r < nruns && r < MOST_CLASSES; r++) {
        const uint32_t *index = s->index + runs[r].from;
        size_t count = runs[r].to - runs[r].from;
        const tl_gap *first = &s->gaps[index[0]];
        copy_lengths(s, index, count);
        tl_idle_summary *row = add_row(s, -1, first->drain_type, first->cpu_during_gap, s->lengths, count, s->macro_ns);
        row->place = (int32_t)r + 1;
        row->peer_ns = 0;
        for (size_t i = 0; i < count; i++)
            add_in_step(row, s->brief[index[i]].step, s->brief[index[i]].ns);
        tl_idle_say_class(s->k->view->names, first, row->dominant_op, sizeof row->dominant_op);
        fill_single_gaps(s, index, count, row);
        fill_annotations(s, index, count, row);
    }
    for (size_t r = MOST_CLASSES; r < nruns; r++)
        for (size_t i = runs[r].from; i < runs[r].to; i++)
            s->lengths[nothers++] = s->brief[s->index[i]].ns;
    if (nothers > 0) {
        tl_idle_summary *row = add_row(s, -1, TL_DRAIN_ALL, TL_DOING_ALL, s->lengths, nothers, s->macro_ns);
        for (size_t r = MOST_CLASSES; r < nruns; r++)
            for (size_t i = runs[r].from; i < runs[r].to; i++)
                add_in_step(row, s->brief[s->index[i]].step, s->brief[s->index[i]].ns);
        row->place = MOST_CLASSES + 1;
        tl_cell_put(row->dominant_op, sizeof row->dominant_op, TL_TEXT(TL_IDLE_OTHERS));
    }
    free(runs);
}

/* ---------------------------------------------------------------------------------------------------------- of all */

void tl_idle_add(tl_idle *sum, const tl_idle *row)
{
    tl_row_add(&tl_idle_schema, sum, row);
    sum->utilization_pct = tl_idle_pct(sum->busy_ns, tl_ns_add(sum->busy_ns, sum->macro_ns));
}

static void sum_scope(scope *s, const tl_idle *sums, tl_tables *out)
{
    size_t most = s->ngaps > s->nnoise ? s->ngaps : s->nnoise;
    tl_arena arena = { 0 };
    tl_idle row = { .rank = s->k->view->rank, .device = s->device };

    tl_idle_add(&row, sums);
    tl_table_append(tl_tables_get(out, &tl_idle_schema), &row, 1);
    s->macro_ns = row.macro_ns;
    s->index = tl_arena_take(&arena, most, sizeof *s->index);
    s->lengths = tl_arena_take(&arena, most, sizeof *s->lengths);
    s->brief = tl_arena_take(&arena, s->ngaps, sizeof *s->brief);
    for (size_t i = 0; i < s->ngaps; i++) {
        const tl_gap *g = &s->gaps[i];
        s->brief[i] =
            (brief){ g->duration_ns, g->other_op_ns, g->step, (uint32_t)g->drain_type * TL_NDOINGS + g->cpu_during_gap,
                     TL_NONE,        key_of(g) };
    }
    for (size_t i = 0; i < s->k->gap_annotations.n; i++) {
        size_t gap = s->k->gap_annotations.v[i].gap - s->first_row; /* of an earlier device: larger than any */
        if (gap < s->ngaps && s->brief[gap].annotation == TL_NONE)
            s->brief[gap].annotation = (uint32_t)i;
    }
    fill_identity(s->index, s->ngaps);
    add_label_rows(s, -1, s->index, s->ngaps);
    tl_sort_index(s->index, s->ngaps, by_step, s->brief);
    TL_GROUPS (from, to, s->index, s->ngaps, by_step, s->brief)
        if (s->brief[s->index[from]].step >= 0)
            add_label_rows(s, s->brief[s->index[from]].step, s->index + from, to - from);
    add_noise_rows(s);
    add_class_rows(s);
    tl_arena_free(&arena);
}

void tl_idle_sums(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out)
{
    static const tl_idle_noise no_noise;
    const tl_table *gaps = tl_tables_get(out, &tl_gap_schema);
    tl_table *annotations = tl_tables_get(out, &tl_idle_annotation_schema);
    /* The sums of the whole rank have the columns of the host as well. */
    tl_idle all = { .operators = (int64_t)k->nops[TL_OP], .python_functions = (int64_t)k->nops[TL_FRAME] };
    scope s = { .k = k, .summary = tl_tables_get(out, &tl_idle_summary_schema) };

    tl_idle_tally_make(&s.tally, k->view->names);
    for (size_t i = 0; i < n; i++)
        tl_idle_add(&all, &devices[i].sums);
    for (size_t i = 0; i <= (n > 1 ? n : 0); i++) { /* all devices together, then each of several */
        const tl_idle_device *d = i > 0 ? &devices[i - 1] : &devices[0];
        s.device = i > 0 ? d->device : -1;
        s.annotations = i > 0 ? NULL : annotations;
        s.first_row = d->first_row;
        s.ngaps = i > 0 ? d->gaps.n : gaps->n - d->first_row;
        s.gaps = s.ngaps > 0 ? tl_table_row(gaps, d->first_row) : NULL;
        s.nnoise = i > 0 ? (size_t)d->sums.noise_gaps : k->noise.n;
        s.noise = s.nnoise > 0 ? k->noise.v + d->first_noise : &no_noise;
        sum_scope(&s, i > 0 ? &d->sums : &all, out);
    }
    tl_idle_tally_free(&s.tally);
    tl_table_sort(tl_tables_get(out, &tl_idle_schema));
    tl_table_sort(annotations);
    tl_table_sort(s.summary);
}
