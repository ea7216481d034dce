/* windows.c - decides which runs of a folder are windows of one job, and places them one after the other in time.
 *
 *     rank 0   [ window 1 ]..............[ window 2 ]
 *     rank 1    [ window 1 ]............[ window 2 ]
 *     hole                 |<--------->|                 from the last end to the first begin: no rank records
 *     recorded [ window 1 |  window 2 ]                  time without the holes
 *
 * The traces are read an extra time: only events give the end of a window and its step numbers.
 */
#include "tlmpi/base/group.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/read/plan.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/words.h"
#include "tlmpi/trace/view.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time span, steps and correlation ids of one trace. */
typedef struct scan {
    int64_t input, rank; /* index in the inventory; rank of that input, on proc 0 */
    int64_t begin_ns, end_ns;
    int32_t first_step, last_step; /* -1: no marks */
    int64_t first_corr, last_corr; /* correlation ids above 0; last_corr 0: there are none */
    bool found;
} scan;

typedef TL_VEC(scan) scan_list;

/* Sets first_corr and last_corr, without flow events: their ids may restart in each file. */
static void add_correlations(const tl_events *e, scan *s)
{
    s->first_corr = INT64_MAX;
    for (size_t i = 0; i < e->n; i++) {
        if ((e->flags[i] & (TL_EVENT_HAS_CORR | TL_EVENT_PH_X)) != (TL_EVENT_HAS_CORR | TL_EVENT_PH_X) ||
            tl_event_corr(e, i) <= 0)
            continue;
        s->first_corr = tl_ns_min(s->first_corr, tl_event_corr(e, i));
        s->last_corr = tl_ns_max(s->last_corr, tl_event_corr(e, i));
    }
}

static scan scan_of(const char *path, size_t input, const tl_options *options)
{
    const tl_read_options reading = { .keep = TL_LINK_KEEP, .yajl_only = options->yajl_only };
    const tl_rules rules = { .step_name = options->step_name };
    scan s = { .input = (int64_t)input, .first_step = -1, .last_step = -1 };
    tl_trace trace;
    tl_linked linked;
    tl_error ignored;

    if (tl_trace_read(path, &reading, &trace, &ignored) == TL_OK) {
        int64_t base_ns = trace.meta.has_base ? trace.meta.base_ns : 0;
        s.found = tl_events_extent(&trace.events, &s.begin_ns, &s.end_ns);
        s.begin_ns = tl_ns_sum(s.begin_ns, base_ns);
        s.end_ns = tl_ns_sum(s.end_ns, base_ns);
        add_correlations(&trace.events, &s);
        tl_link_steps(&trace, &rules, &linked);
        for (size_t i = 0; i < linked.view.nsteps; i++) {
            int32_t number = linked.view.steps[i].number;
            s.first_step = s.first_step < 0 || number < s.first_step ? number : s.first_step;
            s.last_step = number > s.last_step ? number : s.last_step;
        }
        tl_linked_free(&linked);
    }
    tl_trace_free(&trace);
    return s;
}

/* Collective: scans the traces whose byte in `wanted` is set, each proc a share; returns all scans on proc 0. */
static scan_list scan_all(const tl_bytes *paths, const char *wanted, const tl_options *options)
{
    scan_list mine = { 0 }, all = { 0 };
    tl_bytes gathered = { 0 };
    size_t input = 0, turn = 0;

    for (size_t at = 0; at < paths->n; at += strlen(paths->v + at) + 1, input++)
        if (wanted[input] && turn++ % (size_t)tl_par_nprocs() == (size_t)tl_par_proc())
            tl_vec_push(&mine, scan_of(paths->v + at, input, options));
    tl_par_gather(mine.v, mine.n * sizeof *mine.v, &gathered);
    free(mine.v);
    all.v = (scan *)(void *)gathered.v;
    all.n = all.cap = gathered.n / sizeof *all.v;
    return all;
}

/* Returns the time span and steps of all scans of a run. */
static scan scan_of_run(const tl_inventory *inventory, const scan_list *scans, int32_t run)
{
    scan sum = { .begin_ns = INT64_MAX, .end_ns = INT64_MIN, .first_step = -1, .last_step = -1 };
    TL_EACH (const scan, s, *scans) {
        if (!s->found || inventory->inputs.v[s->input].run != run)
            continue;
        sum.found = true;
        sum.begin_ns = tl_ns_min(sum.begin_ns, s->begin_ns);
        sum.end_ns = tl_ns_max(sum.end_ns, s->end_ns);
        if (s->first_step >= 0)
            sum.first_step = sum.first_step < 0 || s->first_step < sum.first_step ? s->first_step : sum.first_step;
        sum.last_step = s->last_step > sum.last_step ? s->last_step : sum.last_step;
    }
    return sum;
}

/* Returns the number to add to the steps of s so that they follow `last`: 0 if they do already, else a multiple of 1000
 * or of a larger power of ten; -1: it would overflow. */
static int32_t more_steps_after(int32_t last, const scan *s)
{
    int64_t unit = 1000;
    if (s->first_step < 0 || s->first_step > last)
        return 0;
    while (unit <= s->last_step)
        unit *= 10;
    int64_t more = (last / unit + 1) * unit;
    return more + s->last_step <= INT32_MAX ? (int32_t)more : -1;
}

TL_SORT_BY(by_rank_and_begin, scan, rank, begin_ns, input)

/* Whether b is of another start of the process: its steps, if any, and its correlation ids restart.  Process ids do not
 * show this: a container's processes have the same ids at each start. */
static bool begins_anew(const scan *a, const scan *b)
{
    bool steps_go_on = b->first_step > a->last_step && a->last_step >= 0;
    return !steps_go_on && a->last_corr > 0 && b->last_corr > 0 && b->first_corr <= a->last_corr;
}

/* Returns why two successive traces of some rank are no windows: the first ends after the second begins, on one clock,
 * or the second is of another start of the process. */
static tl_run_apart apart_of(const tl_inventory *inventory, scan_list *scans)
{
    TL_EACH (scan, s, *scans)
        s->rank = inventory->inputs.v[s->input].rank;
    tl_vec_sort(scans, by_rank_and_begin);
    for (size_t i = 1; i < scans->n; i++) {
        const scan *a = &scans->v[i - 1], *b = &scans->v[i];
        if (a->rank != b->rank || !a->found || !b->found)
            continue;
        if (a->end_ns >= b->begin_ns)
            return TL_APART_TIMES;
        if (begins_anew(a, b))
            return TL_APART_ANEW;
    }
    return TL_APART_NOT;
}

/* Proc 0: places each window after the previous one; runs ascend by time. */
static void place_windows(tl_inventory *inventory, scan_list *scans)
{
    int64_t end_ns = INT64_MIN;
    int32_t last_step = -1;
    tl_window next = { 0 };

    tl_run_apart apart = apart_of(inventory, scans);
    if (apart != TL_APART_NOT) {
        tl_inventory_leave_windows(inventory, apart);
        return;
    }
    for (int32_t r = 0; r < inventory->nruns; r++) {
        tl_run_info *run = &inventory->runs[r];
        const scan s = scan_of_run(inventory, scans, r);
        if (!run->joined)
            continue;
        run->lost = false;
        if (s.found && end_ns > INT64_MIN) /* 1 ns of the hole stays: each instant is in one window */
            next.closed_ns = tl_ns_sum(next.closed_ns, tl_ns_max(0, tl_ns_between(s.begin_ns, end_ns) - 1));
        next.more_steps = more_steps_after(last_step, &s);
        run->window = next;
        run->recorded_ns = tl_ns_between(s.begin_ns, next.closed_ns);
        if (next.more_steps < 0) {
            tl_inventory_leave_windows(inventory, TL_APART_STEPS);
            return;
        }
        end_ns = s.found ? tl_ns_max(end_ns, s.end_ns) : end_ns;
        last_step = s.last_step >= 0 ? s.last_step + next.more_steps : last_step;
        next.number++;
    }
}

/* Proc 0: writes the message about the joined runs. */
static void describe_windows(tl_inventory *inventory, const scan_list *scans, size_t n)
{
    tl_ranges numbers = { 0 };
    char runs[64], steps[96] = "";
    int32_t more = 0;

    for (int32_t r = 0; r < inventory->nruns; r++)
        if (inventory->runs[r].joined) {
            tl_vec_push(&numbers, (tl_range){ r + 1, r + 1 });
            more = more != 0 ? more : inventory->runs[r].window.more_steps;
        }
    tl_ranges_text(&numbers, runs, sizeof runs);
    free(numbers.v);
    const scan first = scan_of_run(inventory, scans, inventory->run);
    if (more != 0)
        snprintf(steps, sizeof steps, ", step numbers come again and count %" PRId32 " more in the next one", more);
    else if (first.first_step >= 0)
        snprintf(steps, sizeof steps, ", step numbers go on");
    snprintf(inventory->windows, sizeof inventory->windows,
             "%zu windows of one job were analysed as one (runs %s of %" PRId32
             ": the same processes, one after the other%s)",
             n, runs, inventory->nruns, steps);
}

void tl_windows_join(const tl_options *options, const tl_bytes *paths, tl_inventory *inventory)
{
    char *wanted = NULL;
    size_t n = 0, nwindows = 0;

    if (tl_par_proc() == 0) {
        nwindows = options->run <= 0 ? tl_inventory_join_windows(inventory) : 1;
        n = nwindows > 1 && options->run == 0 ? inventory->inputs.n : 0;
        wanted = tl_calloc(n + 1, 1);
        for (size_t i = 0; i < n; i++)
            wanted[i] = tl_inventory_takes(inventory, &inventory->inputs.v[i]) &&
                        tl_ranges_has(&options->ranks, inventory->inputs.v[i].rank);
    }
    tl_par_share((void **)&wanted, &n, 1);
    if (n > 0) {
        scan_list scans = scan_all(paths, wanted, options);
        if (tl_par_proc() == 0) {
            place_windows(inventory, &scans);
            tl_inventory_learn(inventory);
            if (inventory->runs[inventory->run].joined)
                describe_windows(inventory, &scans, nwindows);
        }
        free(scans.v);
    }
    free(wanted);
}

/* In memory a hole is the last ns before recorded_ns. */
void tl_windows_cut_path(const tl_plan *plan, tl_table *path)
{
    tl_table cut = { .schema = path->schema };
    int64_t number = 0;
    for (size_t i = 0; i < path->n; i++) {
        tl_rank_path_row row = *(const tl_rank_path_row *)tl_table_row(path, i);
        number = row.number == 0 ? 0 : number;
        for (size_t h = 0; h <= plan->nholes; h++) {
            int64_t next_ns = h < plan->nholes ? plan->holes[h].recorded_ns : INT64_MAX;
            tl_rank_path_row part = row;
            part.number = number;
            part.end_ns = row.end_ns < next_ns ? row.end_ns : next_ns - 1;
            part.duration_ns = part.end_ns - part.start_ns;
            number += part.duration_ns > 0;
            if (part.duration_ns > 0)
                tl_table_append(&cut, &part, 1);
            row.start_ns = tl_ns_max(row.start_ns, next_ns);
        }
    }
    tl_table_free(path);
    *path = cut;
}
