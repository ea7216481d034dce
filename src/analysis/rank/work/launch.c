/* launch.c - what do the calls that queue device work or wait for it cost, and how long does the work take to start?
 *
 *     host     [launch a]....[graph b]
 *     stream   ..............[ a ].........[b1][b2]
 *                       |<->| delay  |<--->|
 *
 *     steps    [    4    )[    5    )
 *     host      |a  |b       |c    |d  |e      step 4: a, b; step 5: c, d; no step: e
 *
 * A launch is any call of the runtime or driver that shares its correlation with device work, whatever its name; that a
 * call waits its name tells.
 */
#include "internal.h"
#include "tlmpi/model/call.h"

typedef struct launching {
    const tl_rank_view *view;
    const tl_launch_config *config;
    int64_t *device_ns, *first_ns; /* by launch: total time of its work, and first start of it */
    int64_t *delays, *step_calls;  /* scratch for the calls of one name: of waits their starts, ascending */
} launching;

/* Fills the least, median and most over steps of the number of the n calls in a step.  calls: launches, in order of
 * time; NULL: l->delays has the starts of the calls. */
static void fill_steps(launching *l, const uint32_t *calls, size_t n, tl_launch_row *row)
{
    size_t all = l->view->nsteps, nsteps = 0, step = 0;

    for (size_t i = 0, last = SIZE_MAX; i < n; i++) { /* calls and steps both ascend */
        const int64_t at_ns = calls != NULL ? l->view->launches[calls[i]].start_ns : l->delays[i];
        while (step < all && l->view->steps[step].end_ns <= at_ns)
            step++;
        if (step == all || l->view->steps[step].start_ns > at_ns)
            continue;
        if (step != last)
            l->step_calls[nsteps++] = 0;
        last = step;
        l->step_calls[nsteps - 1]++;
    }
    row->step_min = row->step_median = row->step_max = all > 0 ? 0 : -1;
    if (nsteps == 0)
        return;
    size_t none = all - nsteps, middle = tl_lower_middle(all);
    tl_ns_sort(l->step_calls, nsteps);
    row->step_min = none > 0 ? 0 : l->step_calls[0];
    row->step_median = middle < none ? 0 : l->step_calls[middle - none];
    row->step_max = l->step_calls[nsteps - 1];
}

/* Adds the row of the n calls of one name, which are in order of time. */
static void add_row(launching *l, const uint32_t *calls, size_t n, tl_table *table)
{
    tl_launch_row *row = tl_table_add(table);

    row->rank = l->view->rank;
    row->name = l->view->launches[calls[0]].name;
    row->calls = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        const tl_launch *call = &l->view->launches[calls[i]];
        const int64_t host_ns = call->end_ns - call->start_ns, device_ns = l->device_ns[calls[i]],
                      delay_ns = tl_ns_max(tl_ns_between(l->first_ns[calls[i]], call->end_ns), 0);
        const bool is_slow = host_ns > l->config->runtime_ns;
        l->delays[i] = delay_ns;
        row->kernels += call->nkernels;
        row->host_ns = tl_ns_add(row->host_ns, host_ns);
        row->host_max_ns = tl_ns_max(row->host_max_ns, host_ns);
        row->device_ns = tl_ns_add(row->device_ns, device_ns);
        row->short_calls += !is_slow && device_ns < host_ns;
        row->slow_calls += is_slow;
        row->delay_ns = tl_ns_add(row->delay_ns, delay_ns);
        row->delay_max_ns = tl_ns_max(row->delay_max_ns, delay_ns);
        row->late_calls += delay_ns > l->config->delay_ns;
    }
    row->delay_median_ns = tl_median_rounded_up(l->delays, n);
    fill_steps(l, calls, n, row);
}

/* Returns the group of the calls that wait, by name, in of[calls]; other calls get TL_NONE. */
static size_t group_waits(const tl_rank_view *view, uint32_t *group_of_name, uint32_t *of)
{
    size_t ngroups = 0;
    for (size_t i = 0; i < view->calls.n; i++) {
        const uint32_t name = view->calls.name[i];
        uint32_t *group = name != TL_NO_NAME ? &group_of_name[name] : NULL;
        if (group != NULL && *group == 0) /* not seen yet: 1: waits for nothing, else 2 + the group */
            *group =
                tl_call_rule_of(tl_names_text(view->names, name))->does == TL_DOES_WAIT ? (uint32_t)(2 + ngroups++) : 1;
        of[i] = group != NULL && *group > 1 ? *group - 2 : TL_NONE;
    }
    return ngroups;
}

/* Adds a row for each name of calls that wait. */
static void add_waits(launching *l, tl_table *table)
{
    const tl_calls *calls = &l->view->calls;
    tl_arena arena = { 0 };
    uint32_t *of = tl_arena_take(&arena, calls->n, sizeof *of), *order = tl_arena_take(&arena, calls->n, sizeof *order),
             *of_name = tl_arena_zeroed(&arena, l->view->names->n, sizeof *of_name);
    const size_t ngroups = group_waits(l->view, of_name, of);
    size_t *first = tl_arena_take(&arena, ngroups + 1, sizeof *first);
    launching waits = *l;
    waits.delays = tl_arena_take(&arena, calls->n, sizeof *waits.delays);
    waits.step_calls = tl_arena_take(&arena, calls->n, sizeof *waits.step_calls);
    tl_group_rows(of, calls->n, ngroups, first, order);
    for (size_t g = 0; g < ngroups; g++) {
        tl_launch_row *row = tl_table_add(table);
        const size_t n = first[g + 1] - first[g];
        row->rank = l->view->rank;
        row->name = calls->name[order[first[g]]];
        row->calls = (int64_t)n;
        for (size_t i = 0; i < n; i++) {
            const uint32_t call = order[first[g] + i];
            row->host_ns = tl_ns_add(row->host_ns, calls->dur_ns[call]);
            row->host_max_ns = tl_ns_max(row->host_max_ns, calls->dur_ns[call]);
            waits.delays[i] = calls->start_ns[call];
        }
        tl_ns_sort(waits.delays, n);
        fill_steps(&waits, NULL, n, row);
    }
    tl_arena_free(&arena);
}

static void launch_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_launch_row_schema);
    size_t from = table->n, n = view->nlaunches, nnames = view->names->n, ngroups = 0;
    tl_arena arena = { 0 };
    launching l = { .view = view,
                    .config = &config->launch,
                    .device_ns = tl_arena_take(&arena, n, sizeof *l.device_ns),
                    .first_ns = tl_arena_take(&arena, n, sizeof *l.first_ns),
                    .delays = tl_arena_take(&arena, n, sizeof *l.delays),
                    .step_calls = tl_arena_take(&arena, n, sizeof *l.step_calls) };
    /* group_of_name: by name, and at [nnames] for calls without one; group_of: by launch */
    uint32_t *group_of_name = tl_arena_zeroed(&arena, nnames + 1, sizeof *group_of_name),
             *group_of = tl_arena_take(&arena, n, sizeof *group_of), *order = tl_arena_take(&arena, n, sizeof *order);

    for (size_t i = 0; i < l.view->nlaunches; i++)
        l.device_ns[i] = -1;
    for (size_t i = 0; i < l.view->nkernels; i++) {
        const tl_kernel *k = &l.view->kernels[i];
        if (k->launch == TL_NONE)
            continue;
        int64_t *ns = &l.device_ns[k->launch], *first = &l.first_ns[k->launch];
        *first = *ns < 0 ? k->start_ns : tl_ns_min(*first, k->start_ns);
        *ns = tl_ns_add(tl_ns_max(*ns, 0), k->end_ns - k->start_ns);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t name = view->launches[i].name, *group = &group_of_name[name != TL_NO_NAME ? name : nnames];
        if (view->launches[i].nkernels > 0 && *group == 0)
            *group = (uint32_t)++ngroups;
        group_of[i] = view->launches[i].nkernels > 0 ? *group - 1 : TL_NONE;
    }
    size_t *first = tl_arena_take(&arena, ngroups + 1, sizeof *first);
    tl_group_rows(group_of, n, ngroups, first, order);
    for (size_t g = 0; g < ngroups; g++)
        add_row(&l, order + first[g], first[g + 1] - first[g], table);
    add_waits(&l, table);
    tl_rows_sort_and_number(table, from, view->names, "host_ns", NULL);
    tl_arena_free(&arena);
}

TL_TABLE_DEFINE_AS(launch_row, "launch", TL_LAUNCH_FIELDS, TL_SCOPE_RANK, "calls that queue device work or wait for it",
                   "What do launches cost the host, and how long does their work take to start?");

const tl_analysis tl_launch_analysis = { .needs = TL_NEEDS_HOST, .per_rank = launch_per_rank };
