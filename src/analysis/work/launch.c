/* launch.c - what did the calls cost that queued device work, and how long did the work take to start?
 *
 *     host     [launch a]....[graph b]
 *     stream   ..............[ a ].........[b1][b2]
 *                       |<->| delay  |<--->|
 *
 * A launch is any call of the runtime or driver that shares its correlation with device work, whatever it is called.
 */
#include "launch_step.h"
#include "places.h"
#include "tlmpi/analysis/work.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

/* Calls of one name: by[first, first + n), in order of time. */
typedef struct slot {
    uint32_t name;
    size_t first, n;
} slot;

typedef TL_VEC(slot) slots;

typedef struct launching {
    const tl_rank_view *view;
    const tl_launch_config *config;
    tl_arena arena;
    int64_t *device_ns, *first_ns; /* by launch: what its work takes, and when it starts first */
    uint32_t *slot_of_name;        /* TL_NONE for none */
    uint32_t *by;                  /* launches that have work, by slot */
    int64_t *delays, *step_calls;  /* of one slot */
} launching;

static void measure_work(launching *l)
{
    const tl_rank_view *view = l->view;
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        if (k->launch == TL_NONE)
            continue;
        int64_t *ns = &l->device_ns[k->launch], *first = &l->first_ns[k->launch];
        *first = *ns < 0 ? k->start_ns : tl_ns_min(*first, k->start_ns);
        *ns = tl_ns_add(tl_ns_max(*ns, 0), k->end_ns - k->start_ns);
    }
}

/* The slot of a name, which is a new one where it has none yet. */
static slot *slot_of(launching *l, slots *s, uint32_t name)
{
    uint32_t *at = &l->slot_of_name[name != TL_NO_NAME ? name : l->view->names->n];
    if (*at == TL_NONE) {
        tl_vec_room(s);
        *at = (uint32_t)s->n;
        s->v[s->n++] = (slot){ .name = name };
    }
    return &s->v[*at];
}

/* Puts the launches with work in order of their names. */
static void sort_by_name(launching *l, slots *s)
{
    const tl_rank_view *view = l->view;
    size_t first = 0;

    for (size_t i = 0; i < view->nlaunches; i++) {
        if (view->launches[i].nkernels == 0)
            continue;
        slot *mine = slot_of(l, s, view->launches[i].name);
        mine->n++;
    }
    for (size_t k = 0; k < s->n; k++) {
        s->v[k].first = first;
        first += s->v[k].n;
        s->v[k].n = 0;
    }
    for (size_t i = 0; i < view->nlaunches; i++) {
        if (view->launches[i].nkernels == 0)
            continue;
        slot *mine = slot_of(l, s, view->launches[i].name);
        l->by[mine->first + mine->n++] = (uint32_t)i;
    }
}

/* How many of the calls lie in a step: of the n steps with any, in l->step_calls. */
static size_t count_steps(launching *l, const slot *s)
{
    const tl_rank_view *view = l->view;
    size_t n = 0, step = 0;

    for (size_t i = 0, last = SIZE_MAX; i < s->n; i++) {
        int64_t at_ns = view->launches[l->by[s->first + i]].start_ns;
        while (step < view->nsteps && view->steps[step].end_ns <= at_ns)
            step++;
        if (step == view->nsteps)
            break;
        if (view->steps[step].start_ns > at_ns)
            continue;
        if (step != last)
            l->step_calls[n++] = 0;
        last = step;
        l->step_calls[n - 1]++;
    }
    return n;
}

static void fill_steps(launching *l, const slot *s, tl_launch_row *row)
{
    size_t all = l->view->nsteps, n = count_steps(l, s), none = all - n;
    size_t middle = all > 0 ? tl_lower_middle(all) : 0;

    row->step_min = row->step_median = row->step_max = all > 0 ? 0 : -1;
    if (n == 0)
        return;
    tl_ns_sort(l->step_calls, n);
    row->step_min = none > 0 ? 0 : l->step_calls[0];
    row->step_median = middle < none ? 0 : l->step_calls[middle - none];
    row->step_max = l->step_calls[n - 1];
}

static void add_row(launching *l, const slot *s, tl_table *table)
{
    const tl_launch_config *c = l->config;
    tl_launch_row *row = tl_table_add(table);

    row->rank = l->view->rank;
    row->name = s->name;
    row->calls = (int64_t)s->n;
    for (size_t i = 0; i < s->n; i++) {
        uint32_t at = l->by[s->first + i];
        const tl_launch *call = &l->view->launches[at];
        const tl_call_cost cost = tl_call_cost_of(call, l->device_ns[at], l->first_ns[at], c);
        l->delays[i] = cost.delay_ns;
        row->kernels += call->nkernels;
        row->host_ns = tl_ns_add(row->host_ns, cost.host_ns);
        row->host_max_ns = tl_ns_max(row->host_max_ns, cost.host_ns);
        row->device_ns = tl_ns_add(row->device_ns, l->device_ns[at]);
        row->short_calls += cost.is_short;
        row->slow_calls += cost.is_slow;
        row->delay_ns = tl_ns_add(row->delay_ns, cost.delay_ns);
        row->delay_max_ns = tl_ns_max(row->delay_max_ns, cost.delay_ns);
        row->late_calls += cost.is_late;
    }
    row->delay_median_ns = tl_median_up(l->delays, s->n);
    fill_steps(l, s, row);
}

static void launch_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    static const char *const measures[] = { "host_ns", NULL };
    tl_table *table = tl_tables_get(out, &tl_launch_row_schema);
    launching l = { .view = view, .config = &config->launch };
    size_t first = table->n, n = view->nlaunches;
    slots by_name = { 0 };

    l.device_ns = tl_arena_take(&l.arena, n, sizeof *l.device_ns);
    l.first_ns = tl_arena_take(&l.arena, n, sizeof *l.first_ns);
    l.slot_of_name = tl_arena_take(&l.arena, view->names->n + 1, sizeof *l.slot_of_name);
    l.by = tl_arena_take(&l.arena, n, sizeof *l.by);
    l.delays = tl_arena_take(&l.arena, n, sizeof *l.delays);
    l.step_calls = tl_arena_take(&l.arena, n, sizeof *l.step_calls);
    for (size_t i = 0; i < n; i++)
        l.device_ns[i] = -1;
    memset(l.slot_of_name, 0xff, (view->names->n + 1) * sizeof *l.slot_of_name);
    measure_work(&l);
    sort_by_name(&l, &by_name);
    for (size_t s = 0; s < by_name.n; s++)
        add_row(&l, &by_name.v[s], table);
    tl_places_number(table, first, view->names, measures);
    tl_launch_steps_add(view, l.config, l.device_ns, l.first_ns, tl_tables_get(out, &tl_launch_step_schema));
    free(by_name.v);
    tl_arena_free(&l.arena);
}

TL_TABLE_DEFINE_AS(launch_row, "launch", TL_LAUNCH_FIELDS, TL_SCOPE_RANK, "calls that queue device work",
                   "What do launches cost the host, and how long does their work take to start?");

TL_TABLE_DEFINE(launch_step, TL_LAUNCH_STEP_FIELDS, TL_SCOPE_RANK, "calls that queue device work, by step",
                "How many launches did a rank make in each step, and what did they cost?");

static const tl_schema *const tables[] = { &tl_launch_row_schema, &tl_launch_step_schema, NULL };

const tl_analysis tl_launch_analysis = {
    .name = "launch",
    .question = "What do launches cost, and how long does their work take to start?",
    .tables = tables,
    .per_rank = launch_per_rank,
};
