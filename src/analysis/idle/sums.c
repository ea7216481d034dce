/* sums.c - the gaps of a rank: sums of the whole and of each device.
 *
 * Gap rows of one device lie together, in order of time; those of the rank's devices follow each other.
 */
#include "scope.h"
#include <stdlib.h>

/* What is known of the host, on the row of the whole rank. */
static void say_host(const tl_idle_rank *k, tl_idle *row)
{
    row->graph_launches = (int64_t)k->graph_launches;
    row->graph_under_recorded = (int64_t)k->under.n;
    row->calls = (int64_t)k->view->calls.n;
    row->operators = (int64_t)k->nops[TL_OP];
    row->python_functions = (int64_t)k->nops[TL_FRAME];
}

void tl_idle_add(tl_idle *sum, const tl_idle *row)
{
    sum->busy_ns = tl_idle_plus(sum->busy_ns, row->busy_ns);
    sum->macro_ns = tl_idle_plus(sum->macro_ns, row->macro_ns);
    sum->noise_ns = tl_idle_plus(sum->noise_ns, row->noise_ns);
    sum->utilization_pct = tl_idle_pct(sum->busy_ns, tl_idle_plus(sum->busy_ns, sum->macro_ns));
    sum->macro_gaps += row->macro_gaps;
    sum->noise_gaps += row->noise_gaps;
    sum->peer_ns = tl_idle_plus(sum->peer_ns, row->peer_ns);
    sum->waiting_ns = tl_idle_plus(sum->waiting_ns, row->waiting_ns);
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

static void be_brief(tl_idle_scope *s)
{
    for (size_t i = 0; i < s->ngaps; i++) {
        const tl_gap *g = &s->gaps[i];
        s->brief[i] = (tl_idle_brief){ g->duration_ns, g->other_op_ns, g->step,
                                       (uint32_t)g->drain_type * TL_NDOINGS + g->cpu_during_gap };
        s->durations[i] = g->duration_ns;
    }
    s->all = tl_idle_measure(s->durations, s->ngaps);
    for (size_t i = 0; i < s->nnoise; i++)
        s->durations[i] = s->noise[i].duration_ns;
    s->all_noise = tl_idle_measure(s->durations, s->nnoise);
}

static bool sum_scope(tl_idle_scope *s, const tl_idle *sums, tl_tables *out)
{
    size_t most = s->ngaps > s->nnoise ? s->ngaps : s->nnoise;
    tl_idle row = *sums;

    row.rank = s->k->view->rank;
    row.device = s->device;
    row.late_rank = -1;
    row.utilization_pct = tl_idle_pct(row.busy_ns, tl_idle_plus(row.busy_ns, row.macro_ns));
    s->busy_ns = row.busy_ns;
    s->macro_ns = row.macro_ns;
    s->index = tl_malloc((most + 1) * sizeof *s->index);
    s->durations = tl_malloc((most + 1) * sizeof *s->durations);
    s->brief = tl_malloc((s->ngaps + 1) * sizeof *s->brief);
    tl_table *of_labels = tl_tables_get(out, &tl_idle_overview_schema);
    bool whole = s->index != NULL && s->durations != NULL && s->brief != NULL;
    if (whole)
        be_brief(s);
    whole = whole && tl_table_append(tl_tables_get(out, &tl_idle_schema), &row, 1) &&
            tl_idle_overview_rows(s, of_labels) && tl_idle_summary_rows(s, tl_tables_get(out, &tl_idle_summary_schema));
    free(s->index);
    free(s->durations);
    free(s->brief);
    return whole;
}

bool tl_idle_sums(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out)
{
    const tl_table *gaps = tl_tables_get(out, &tl_gap_schema), *noise = tl_tables_get(out, &tl_gap_noise_schema);
    tl_idle_scope s = {
        .k = k, .device = -1, .ngaps = gaps->n - devices[0].first_row, .nnoise = noise->n - devices[0].first_noise
    };
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
