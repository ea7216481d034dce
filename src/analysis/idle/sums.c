/* sums.c - the gaps of a rank: sums of the whole and of each device; and by their two labels (axes), for the whole
 * trace and for each step, with rows for all and for noise.
 *
 * Gap rows of one device lie together, in order of time; those of the rank's devices follow each other.
 */
#include "scope.h"
#include "tlmpi/base/sort.h"

/* -------------------------------------------------------------------------------------------------------- by label */

static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_idle_brief *v = ((const tl_idle_scope *)context)->brief, *x = &v[a], *y = &v[b];
    return TL_COMPARE(x->step, y->step);
}

static int noise_by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_idle_noise *v = ((const tl_idle_scope *)context)->noise, *x = &v[a], *y = &v[b];
    return TL_COMPARE(x->step, y->step);
}

/* Gaps of one device mostly lie in order of their steps. */
static void order_by_step(const tl_idle_scope *s, size_t n, tl_compare *compare)
{
    size_t i = 1;
    tl_idle_number(s->index, n);
    while (i < n && compare(s, (uint32_t)(i - 1), (uint32_t)i) <= 0)
        i++;
    if (i < n)
        tl_sort_index(s->index, n, compare, s);
}

/* The gaps index[0, n) of one step, or of all: a row for all, and one for each pair of labels. */
static void add_axes(tl_idle_scope *s, tl_table *table, int32_t step, const uint32_t *index, size_t n)
{
    size_t end[TL_IDLE_NLABELS + 1] = { 0 };

    tl_idle_lengths(s, index, n);
    tl_idle_summary *row = tl_idle_row_add(s, table, step, TL_DRAIN_ALL, TL_DOING_ALL, s->durations, n, 0);
    int64_t all_ns = row->total_ns;
    row->idle_pct = tl_idle_pct(all_ns, all_ns);
    if (step == -1) {
        tl_idle_say_longest(s, index, n, row);
        tl_idle_say_places(s, index, n, row);
    }
    for (size_t i = 0; i < n; i++)
        end[s->brief[index[i]].label + 1]++;
    for (size_t l = 0; l < TL_IDLE_NLABELS; l++)
        end[l + 1] += end[l];
    for (size_t i = 0; i < n; i++) /* end[l] is where l's next length goes, and at last its end */
        s->durations[end[s->brief[index[i]].label]++] = s->brief[index[i]].ns;
    for (size_t l = 0; l < TL_IDLE_NLABELS; l++) {
        size_t from = l > 0 ? end[l - 1] : 0;
        if (end[l] > from)
            tl_idle_row_add(s, table, step, (uint8_t)(l / TL_NDOINGS), (uint8_t)(l % TL_NDOINGS), s->durations + from,
                            end[l] - from, all_ns);
    }
}

static void macro_rows(tl_idle_scope *s, tl_table *table)
{
    tl_idle_number(s->index, s->ngaps);
    add_axes(s, table, -1, s->index, s->ngaps);
    order_by_step(s, s->ngaps, by_step);
    for (size_t from = 0, to; from < s->ngaps; from = to) {
        int32_t step = s->brief[s->index[from]].step;
        for (to = from + 1; to < s->ngaps && s->brief[s->index[to]].step == step; to++)
            ;
        if (step >= 0)
            add_axes(s, table, step, s->index + from, to - from);
    }
}

static void noise_rows(const tl_idle_scope *s, tl_table *table)
{
    for (size_t i = 0; i < s->nnoise; i++)
        s->durations[i] = s->noise[i].duration_ns;
    tl_idle_row_add(s, table, -1, TL_DRAIN_NOISE, TL_DOING_NOISE, s->durations, s->nnoise, 0);
    order_by_step(s, s->nnoise, noise_by_step);
    for (size_t from = 0, to; from < s->nnoise; from = to) {
        int32_t step = s->noise[s->index[from]].step;
        for (to = from; to < s->nnoise && s->noise[s->index[to]].step == step; to++)
            s->durations[to - from] = s->noise[s->index[to]].duration_ns;
        if (step >= 0)
            tl_idle_row_add(s, table, step, TL_DRAIN_NOISE, TL_DOING_NOISE, s->durations, to - from, 0);
    }
}

/* ---------------------------------------------------------------------------------------------------------- of all */

/* What is known of the host, on the row of the whole rank. */
static void say_host(const tl_idle_rank *k, tl_idle *row)
{
    row->calls = (int64_t)k->view->calls.n;
    row->operators = (int64_t)k->nops[TL_OP];
    row->python_functions = (int64_t)k->nops[TL_FRAME];
}

void tl_idle_add(tl_idle *sum, const tl_idle *row)
{
    sum->busy_ns = tl_ns_add(sum->busy_ns, row->busy_ns);
    sum->macro_ns = tl_ns_add(sum->macro_ns, row->macro_ns);
    sum->noise_ns = tl_ns_add(sum->noise_ns, row->noise_ns);
    sum->utilization_pct = tl_idle_pct(sum->busy_ns, tl_ns_add(sum->busy_ns, sum->macro_ns));
    sum->noise_gaps += row->noise_gaps;
    sum->peer_ns = tl_ns_add(sum->peer_ns, row->peer_ns);
    sum->unlinked += row->unlinked;
    sum->overruns += row->overruns;
    sum->overrun_ns = tl_ns_add(sum->overrun_ns, row->overrun_ns);
    sum->calls += row->calls;
    sum->operators += row->operators;
    sum->python_functions += row->python_functions;
}

static void be_brief(tl_idle_scope *s)
{
    for (size_t i = 0; i < s->ngaps; i++) {
        const tl_gap *g = &s->gaps[i];
        s->brief[i] = (tl_idle_brief){ g->duration_ns, g->other_op_ns, g->step,
                                       (uint32_t)g->drain_type * TL_NDOINGS + g->cpu_during_gap, TL_NONE };
    }
    tl_idle_places_find(s);
}

static void sum_scope(tl_idle_scope *s, const tl_idle *sums, tl_tables *out)
{
    size_t most = s->ngaps > s->nnoise ? s->ngaps : s->nnoise;
    tl_arena arena = { 0 };
    tl_idle row = *sums;

    row.rank = s->k->view->rank;
    row.device = s->device;
    row.late_rank = -1;
    row.utilization_pct = tl_idle_pct(row.busy_ns, tl_ns_add(row.busy_ns, row.macro_ns));
    s->macro_ns = row.macro_ns;
    s->index = tl_arena_take(&arena, most, sizeof *s->index);
    s->durations = tl_arena_take(&arena, most, sizeof *s->durations);
    s->brief = tl_arena_take(&arena, s->ngaps, sizeof *s->brief);
    tl_table *summary = tl_tables_get(out, &tl_idle_summary_schema);
    tl_idle_tally_make(&s->tally, s->k->view->names);
    be_brief(s);
    tl_table_append(tl_tables_get(out, &tl_idle_schema), &row, 1);
    macro_rows(s, summary);
    noise_rows(s, summary);
    tl_idle_class_rows(s, summary);
    tl_idle_tally_free(&s->tally);
    tl_arena_free(&arena);
}

void tl_idle_sums(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out)
{
    const tl_table *gaps = tl_tables_get(out, &tl_gap_schema);
    tl_idle_scope s = { .k = k,
                        .device = -1,
                        .ngaps = gaps->n - devices[0].first_row,
                        .noise = k->noise.v,
                        .nnoise = k->noise.n };
    tl_idle all = { 0 };

    s.gaps = s.ngaps > 0 ? tl_table_row(gaps, devices[0].first_row) : NULL;
    s.first_row = devices[0].first_row;
    s.annotations = tl_tables_get(out, &tl_idle_annotation_schema);
    for (size_t i = 0; i < n; i++)
        tl_idle_add(&all, &devices[i].sums);
    say_host(k, &all);
    sum_scope(&s, &all, out);
    for (size_t i = 0; n > 1 && i < n; i++) {
        s.device = devices[i].device;
        s.first_row = devices[i].first_row;
        s.annotations = NULL;
        s.ngaps = devices[i].gaps.n;
        s.nnoise = (size_t)devices[i].sums.noise_gaps;
        s.gaps = s.ngaps > 0 ? tl_table_row(gaps, devices[i].first_row) : NULL;
        s.noise = s.nnoise > 0 ? k->noise.v + devices[i].first_noise : NULL;
        sum_scope(&s, &devices[i].sums, out);
    }
    tl_table_sort(tl_tables_get(out, &tl_idle_schema));
    tl_table_sort(tl_tables_get(out, &tl_idle_annotation_schema));
    tl_table_sort(tl_tables_get(out, &tl_idle_summary_schema));
}
