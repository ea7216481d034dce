/* link.c - events to the view of a rank.
 *
 *     host    ..[launch, correlation 7]......
 *     stream  ..............[kernel, correlation 7]....
 *
 * What is device work is decided by its category, never by a `stream` argument: Triton's operators on the host carry
 * one. A launch is any runtime or driver call that shares its correlation with device work, so one graph launch has
 * many kernels and no list of names is needed.
 *
 * The order is one of memory.  What the host did is most of a trace, and has less to keep once it is in its own
 * columns; so it goes first, and the rows of kernels, which are the largest, come last.
 */
#include "tlmpi/trace/view.h"
#include "coll.h"
#include "group.h"
#include "host.h"
#include "measured.h"
#include "overrun.h"
#include "part.h"
#include "place.h"
#include "select.h"
#include "step.h"
#include "tlmpi/base/sort.h"
#include "work.h"
#include <stdlib.h>

typedef struct later_call {
    int64_t correlation;
    uint32_t launch;
} later_call;

typedef struct joining {
    tl_linked *out;
    tl_map calls;             /* correlation of device work -> its first launch, NO_CALL for none */
    TL_VEC(later_call) later; /* launches that are not the first of their correlation: by correlation, then by time */
} joining;

/* A map keeps TL_NONE for "not in the map", so this is another value. */
#define NO_CALL (TL_NONE - 1)

bool tl_has_gpu_work(const tl_events *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (TL_CAT_BIT(tl_event_cat(e, i)) & TL_CAT_GPU_WORK && e->flags[i] & TL_EVENT_HAS_TS)
            return true;
    return false;
}

/* -------------------------------------------------------------------------------------------------------- launches */

/* Correlation 0 and below join nothing: profilers write them for work that they could not correlate. */
static bool correlates(int64_t correlation)
{
    return correlation > 0;
}

static void note_correlations(joining *k, const tl_columns *device)
{
    for (size_t i = 0; i < device->n; i++)
        if (correlates(device->corr[i]))
            tl_map_put(&k->calls, (uint64_t)device->corr[i], NO_CALL);
}

static int by_start(const void *calls, uint32_t a, uint32_t b)
{
    const tl_calls *c = calls;
    return c->start_ns[a] != c->start_ns[b] ? TL_COMPARE(c->start_ns[a], c->start_ns[b])
                                            : TL_COMPARE(c->uid[a], c->uid[b]);
}

/* Calls that have queued device work, by start. */
static uint32_t *find_launches(const joining *k, size_t *n)
{
    const tl_calls *c = &k->out->view.calls;
    TL_VEC(uint32_t) found = { 0 };

    for (size_t i = 0; i < c->n; i++) {
        if (!correlates(c->correlation[i]) || tl_map_get(&k->calls, (uint64_t)c->correlation[i]) == TL_MAP_NONE)
            continue;
        tl_vec_room(&found);
        found.v[found.n++] = (uint32_t)i;
    }
    tl_sort_index(found.v, found.n, by_start, c);
    *n = found.n;
    return found.v;
}

static int by_correlation(const void *a, const void *b)
{
    const later_call *x = a, *y = b;
    if (x->correlation != y->correlation)
        return TL_COMPARE(x->correlation, y->correlation);
    return TL_COMPARE(x->launch, y->launch);
}

/* Notes the launch under its correlation; they come in order of time. */
static void note_call(joining *k, int64_t correlation, uint32_t launch)
{
    uint32_t *first = tl_map_at(&k->calls, (uint64_t)correlation);
    if (*first == NO_CALL) {
        *first = launch;
        return;
    }
    tl_vec_room(&k->later);
    k->later.v[k->later.n++] = (later_call){ correlation, launch };
}

static void make_launches(joining *k)
{
    const tl_calls *c = &k->out->view.calls;
    size_t n;
    uint32_t *found = find_launches(k, &n);
    tl_launch *v = tl_malloc(n * sizeof *v);

    k->out->launches = v;
    for (size_t i = 0; i < n; i++) {
        uint32_t at = found[i];
        v[i] = (tl_launch){ c->start_ns[at],      c->start_ns[at] + c->dur_ns[at],
                            c->name[at],          c->uid[at],
                            tl_call_track(c, at), 0,
                            TL_LAUNCH_OF_NOTHING };
        note_call(k, c->correlation[at], (uint32_t)i);
    }
    if (k->later.n > 1)
        qsort(k->later.v, k->later.n, sizeof *k->later.v, by_correlation);
    free(found);
    k->out->view.launches = v;
    k->out->view.nlaunches = n;
}

/* Whether the call has a smaller correlation, or this one and began by then. */
static bool is_called_before(const joining *k, const later_call *c, int64_t correlation, int64_t ns)
{
    return c->correlation != correlation ? c->correlation < correlation : k->out->launches[c->launch].start_ns <= ns;
}

/* The launch of work that starts at start_ns: of several calls with its correlation the last that began before it, else
 * the first. */
static uint32_t launch_of(const joining *k, int64_t correlation, int64_t start_ns)
{
    if (!correlates(correlation))
        return TL_NONE;
    uint32_t first = tl_map_get(&k->calls, (uint64_t)correlation);
    size_t low = 0;
    TL_BISECT(low, k->later.n, mid, is_called_before(k, &k->later.v[mid], correlation, start_ns));
    if (low > 0 && k->later.v[low - 1].correlation == correlation)
        return k->later.v[low - 1].launch;
    return first != NO_CALL ? first : TL_NONE;
}

static void join(const joining *k, tl_device *device)
{
    const tl_columns *c = &device->columns;

    device->launch = tl_malloc(c->n * sizeof *device->launch);
    for (size_t i = 0; i < c->n; i++)
        device->launch[i] = launch_of(k, c->corr[i], c->start_ns[i]);
}

/* Makes the launches, and finds that of each piece of work and of each wait. */
static void join_launches(tl_linked *out, tl_device *work, tl_device *waits)
{
    joining k = { .out = out };
    note_correlations(&k, &work->columns);
    note_correlations(&k, &waits->columns);
    make_launches(&k);
    join(&k, work);
    join(&k, waits);

    tl_map_free(&k.calls);
    free(k.later.v);
}

/* ------------------------------------------------------------------------------------------------------- the whole */

/* What of a trace the view is of: NULL for everything, and what there was. */
typedef struct part {
    const tl_selection *selection;
    tl_found *found;
} part;

static bool make_view(tl_trace *trace, const tl_rules *rules, const part *of, tl_linked *out)
{
    tl_events *e = &trace->events;
    int64_t base_ns = trace->meta.has_base ? trace->meta.base_ns : 0;
    tl_comm_evidence evidence = { .trace = trace, .base_ns = base_ns };
    tl_columns sets[TL_LINK_SETS] = { 0 };
    tl_device work = { .launch = NULL }, waits = { .launch = NULL };
    tl_flows flows = { 0 };

    tl_steps_collect(trace, base_ns, out);
    if (of->selection != NULL)
        tl_events_select(e, base_ns, of->selection, out, of->found);
    tl_comm_collect(&evidence);
    tl_measured_collect(e, base_ns, out);
    tl_flows_collect(e, base_ns, &flows);
    tl_events_part(e, base_ns, sets);
    out->host.calls = sets[TL_LINK_CALLS];
    out->host.ops = sets[TL_LINK_OPS];
    bool ok = tl_host_link(e, out);
    if (ok) {
        tl_backwards_find(&flows, out);
        tl_device_order(e, &sets[TL_LINK_WORK], true, &work);
        tl_device_order(e, &sets[TL_LINK_WAITS], false, &waits);
        join_launches(out, &work, &waits);
        tl_launches_place(&out->view, out->launches);
    }
    if (ok && of->selection == NULL) /* else that was done of the whole trace */
        tl_overruns_cut(&work, TL_TIME_UNKNOWN, &out->view);
    if (ok) {
        tl_kernels_make(e, rules, &evidence, &work, out);
        ok = tl_colls_collect(&evidence, out);
        if (ok)
            tl_syncs_make(e, &waits, out);
    }
    tl_columns_free(&sets[TL_LINK_WORK]);
    tl_columns_free(&sets[TL_LINK_WAITS]);
    tl_device_free(&work);
    tl_device_free(&waits);
    free(flows.v);
    tl_comm_evidence_free(&evidence);
    tl_events_free_columns(e);
    return ok;
}

tl_status tl_link_selected(tl_trace *trace, const tl_rules *rules, int32_t rank, const tl_selection *selection,
                           tl_linked *out, tl_found *found, tl_error *err)
{
    const part of = { selection, found };

    *out = (tl_linked){ .view = { .rank = rank, .world_size = trace->meta.world_size, .names = &trace->events.names } };
    if (make_view(trace, rules, &of, out))
        return TL_OK;
    tl_linked_free(out);
    return tl_fail_memory(err, "the view of a rank");
}

tl_status tl_link(tl_trace *trace, const tl_rules *rules, int32_t rank, tl_linked *out, tl_error *err)
{
    return tl_link_selected(trace, rules, rank, NULL, out, NULL, err);
}

void tl_linked_free(tl_linked *linked)
{
    tl_linked_free_host(linked);
    free(linked->kernels);
    free(linked->syncs);
    free(linked->launches);
    free(linked->steps);
    free(linked->colls);
    free(linked->said_gb_per_s);
    free(linked->counted);
    free(linked->memory);
    free(linked->ranges);
    tl_groups_free(linked->groups, linked->view.ngroups);
    *linked = (tl_linked){ 0 };
}
