/* launch.c - what do the calls that queue device work cost, and how long does the work take to start?
 *
 *     host     [launch a]....[graph b]
 *     stream   ..............[ a ].........[b1][b2]
 *                       |<->| delay  |<--->|
 *
 *     steps    [    4    )[    5    )
 *     host      |a  |b       |c    |d  |e      step 4: a, b; step 5: c, d; no step: e
 *
 * A launch is any call of the runtime or driver that shares its correlation with device work, whatever its name.
 */
#include "internal.h"
#include <stdlib.h>

typedef struct launching {
    const tl_rank_view *view;
    const tl_launch_config *config;
    int64_t *device_ns, *first_ns; /* by launch: total time of its work, and first start of it */
    int64_t *delays, *step_calls;  /* scratch for the calls of one name */
} launching;

typedef struct call_cost {
    int64_t host_ns, delay_ns;
    bool is_short, is_slow, is_late; /* by the thresholds */
} call_cost;

static call_cost cost_of(const launching *l, size_t launch)
{
    const tl_launch *call = &l->view->launches[launch];
    call_cost cost = { .host_ns = call->end_ns - call->start_ns,
                       .delay_ns = tl_ns_max(tl_ns_between(l->first_ns[launch], call->end_ns), 0) };
    cost.is_slow = cost.host_ns > l->config->runtime_ns;
    cost.is_short = !cost.is_slow && l->device_ns[launch] < cost.host_ns;
    cost.is_late = cost.delay_ns > l->config->delay_ns;
    return cost;
}

/* Advances *step to the first step that ends after at_ns.  Returns whether at_ns lies in it.  Calls come with ascending
 * at_ns. */
static bool step_of(const tl_rank_view *view, int64_t at_ns, size_t *step)
{
    while (*step < view->nsteps && view->steps[*step].end_ns <= at_ns)
        ++*step;
    return *step < view->nsteps && view->steps[*step].start_ns <= at_ns;
}

/* Fills the minimum, median and maximum over steps of the number of the n calls in a step. */
static void fill_steps(launching *l, const uint32_t *calls, size_t n, tl_launch_row *row)
{
    size_t all = l->view->nsteps, nsteps = 0, step = 0;

    for (size_t i = 0, last = SIZE_MAX; i < n; i++) {
        if (!step_of(l->view, l->view->launches[calls[i]].start_ns, &step))
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
        const call_cost cost = cost_of(l, calls[i]);
        l->delays[i] = cost.delay_ns;
        row->kernels += l->view->launches[calls[i]].nkernels;
        row->host_ns = tl_ns_add(row->host_ns, cost.host_ns);
        row->host_max_ns = tl_ns_max(row->host_max_ns, cost.host_ns);
        row->device_ns = tl_ns_add(row->device_ns, l->device_ns[calls[i]]);
        row->short_calls += cost.is_short;
        row->slow_calls += cost.is_slow;
        row->delay_ns = tl_ns_add(row->delay_ns, cost.delay_ns);
        row->delay_max_ns = tl_ns_max(row->delay_max_ns, cost.delay_ns);
        row->late_calls += cost.is_late;
    }
    row->delay_median_ns = tl_median_rounded_up(l->delays, n);
    fill_steps(l, calls, n, row);
}

TL_SORT_BY(by_step, tl_launch_step, step)

/* Adds a row for each step of the rank, and one for calls outside of steps. */
static void add_steps(const launching *l, tl_table *table)
{
    const tl_rank_view *view = l->view;
    size_t first = table->n, step = 0;
    tl_launch_step none = { .rank = view->rank, .step = -1 };

    for (size_t s = 0; s < view->nsteps; s++) {
        tl_launch_step *row = tl_table_add(table);
        row->rank = view->rank;
        row->step = view->steps[s].number;
    }
    for (size_t i = 0; i < view->nlaunches; i++) {
        if (view->launches[i].nkernels == 0)
            continue;
        bool in = step_of(view, view->launches[i].start_ns, &step);
        const call_cost cost = cost_of(l, i);
        tl_launch_step *row = in ? tl_table_row(table, first + step) : &none;
        row->calls++;
        row->kernels += view->launches[i].nkernels;
        row->host_ns = tl_ns_add(row->host_ns, cost.host_ns);
        row->device_ns = tl_ns_add(row->device_ns, l->device_ns[i]);
        row->delay_ns = tl_ns_add(row->delay_ns, cost.delay_ns);
        row->short_calls += cost.is_short;
        row->slow_calls += cost.is_slow;
        row->late_calls += cost.is_late;
    }
    if (none.calls > 0)
        tl_table_append(table, &none, 1);
    if (table->n > first)
        qsort(tl_table_row(table, first), table->n - first, sizeof none, by_step);
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
    tl_rows_sort_and_number(table, from, view->names, "host_ns", NULL);
    add_steps(&l, tl_tables_get(out, &tl_launch_step_schema));
    tl_arena_free(&arena);
}

TL_TABLE_DEFINE_AS(launch_row, "launch", TL_LAUNCH_FIELDS, TL_SCOPE_RANK, "calls that queue device work",
                   "What do launches cost the host, and how long does their work take to start?");

TL_TABLE_DEFINE(launch_step, TL_LAUNCH_STEP_FIELDS, TL_SCOPE_RANK, "calls that queue device work, by step",
                "How many launches did a rank make in each step, and what did they cost?");

const tl_analysis tl_launch_analysis = {
    .name = "launch",
    .question = "What do launches cost, and how long does their work take to start?",
    .tables = TL_SCHEMAS(&tl_launch_row_schema, &tl_launch_step_schema),
    .per_rank = launch_per_rank,
};
