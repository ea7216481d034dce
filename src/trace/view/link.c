/* link.c - events to the view of a rank.
 *
 * Device work is identified by its category, never by a `stream` argument: Triton's operators on the host have one.  A
 * launch is any runtime or driver call that shares its correlation with device work, so one graph launch has many
 * kernels, and no list of names is needed.
 *
 *     events   [op][op][call][kernel][op][call][kernel]      rows are made of device work and of waits; each column of
 *     ops      [op][op]              [op]                    the host's events is distributed to ops and calls, in the
 *     calls            [call]            [call]              order of the view, and freed before the next column: a
 *     work                   [kernel]          [kernel]      large trace leaves no memory for two copies of all
 *     waits    ...                                           columns.
 */
#include "internal.h"

bool tl_has_gpu_work(const tl_events *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (tl_event_in(e, i, TL_SET_WORK))
            return true;
    return false;
}

/* --------------------------------------------------------------------------------------------------------- launches */

typedef struct queued {
    const tl_events *e;
    const uint32_t *calls;
} queued;

static int by_start(const void *context, uint32_t a, uint32_t b)
{
    const queued *q = context;
    uint32_t x = q->calls[a], y = q->calls[b];
    return q->e->ts_ns[x] != q->e->ts_ns[y] ? TL_COMPARE(q->e->ts_ns[x], q->e->ts_ns[y])
                                            : TL_COMPARE(q->e->uid[x], q->e->uid[y]);
}

/* Makes the launches of the view: the calls that share a correlation with a device event.  Sets `launch` of device
 * events to an index into the launches. */
static tl_launch *make_launches(const tl_events *e, const tl_event_list *calls, tl_device *work, tl_device *waits,
                                tl_linked *out)
{
    const tl_device *devices[] = { work, waits };
    uint32_t *order = tl_malloc((calls->n + 1) * sizeof *order),
             *launch_of_call = tl_calloc(calls->n + 1, sizeof *launch_of_call);
    size_t n = 0;

    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < devices[d]->events.n; i++)
            if (devices[d]->launch[i] != TL_NONE)
                launch_of_call[devices[d]->launch[i]] = 1;
    for (size_t from = 0, to; from < calls->n; from = to) { /* calls of one correlation */
        bool queues = false;
        const int64_t corr = tl_event_corr(e, calls->v[from]);
        for (to = from; to < calls->n && tl_event_corr(e, calls->v[to]) == corr; to++)
            queues |= launch_of_call[to] != 0;
        for (size_t k = from; queues && k < to; k++)
            order[n++] = (uint32_t)k;
    }
    tl_sort_index(order, n, by_start, &(queued){ e, calls->v });
    tl_launch *v = tl_arena_take(&out->rest, n, sizeof *v);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = calls->v[order[i]];
        const int64_t end_ns = e->ts_ns[at] + tl_event_dur_ns(e, at);
        v[i] = (tl_launch){ e->ts_ns[at],          end_ns, e->name[at],         e->uid[at],
                            tl_event_track(e, at), 0,      TL_LAUNCH_OF_NOTHING };
        launch_of_call[order[i]] = (uint32_t)i;
    }
    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < devices[d]->events.n; i++)
            if (devices[d]->launch[i] != TL_NONE)
                devices[d]->launch[i] = launch_of_call[devices[d]->launch[i]];
    free(order);
    free(launch_of_call);
    out->view.launches = v;
    out->view.nlaunches = n;
    return v;
}

/* ---------------------------------------------------------------------------------------------------------- columns */

/* Returns the elements of a column at these events, in the order of the list. */
static void *gather_column(const void *column, size_t size, const tl_event_list *of, tl_arena *arena)
{
    char *to = tl_arena_take(arena, of->n, size);
    const char *from = column;

    for (size_t i = 0; size == sizeof(int64_t) && i < of->n; i++)
        memcpy(to + i * sizeof(int64_t), from + of->v[i] * sizeof(int64_t), sizeof(int64_t));
    for (size_t i = 0; size == sizeof(uint32_t) && i < of->n; i++)
        memcpy(to + i * sizeof(uint32_t), from + of->v[i] * sizeof(uint32_t), sizeof(uint32_t));
    return to;
}

#define GATHER(column, of, arena) gather_column(e->column, sizeof *e->column, of, arena)

static int64_t *gather_narrow(const tl_narrow *column, const tl_event_list *of, tl_arena *arena)
{
    int64_t *to = tl_arena_take(arena, of->n, sizeof *to);
    for (size_t i = 0; i < of->n; i++)
        to[i] = tl_narrow_get(column, of->v[i]);
    return to;
}

static void free_narrow(tl_narrow *column)
{
    free(column->v);
    free(column->wide.v);
    *column = (tl_narrow){ .v = NULL };
}

/* Moves the columns of the host's events into the view one by one; the side tables stay. */
static void take_columns(tl_events *e, tl_computing_ops *computing, tl_linked *out)
{
    tl_arena *host = &out->host;
    tl_calls *c = &out->view.calls;
    tl_ops *o = &out->view.ops;
    tl_side copies = TL_SIDE(e->copies);
    tl_event_list calls = tl_host_order(e, TL_SET_CALLS, host, &c->threads, &c->nthreads);

    c->correlation = gather_narrow(&e->corr, &calls, host);
    free_narrow(&e->corr);

    tl_event_list ops = tl_host_order(e, TL_SET_OPS, host, &o->threads, &o->nthreads);
    tl_flops_collect(e, &ops, computing);
    uint8_t *kind = tl_arena_take(host, ops.n, 1);
    int8_t *copy_kind = tl_arena_take(host, calls.n, 1);
    uint32_t *stream = tl_arena_take(host, calls.n, sizeof *stream);
    for (size_t i = 0; i < ops.n; i++) {
        tl_cat cat = tl_event_cat(e, ops.v[i]);
        kind[i] = cat == TL_CAT_CPU_OP ? TL_OP : cat == TL_CAT_PYTHON ? TL_FRAME : TL_ANNOTATION;
    }
    for (size_t i = 0; i < calls.n; i++) {
        const tl_copy_args *copy = tl_side_find(&copies, calls.v[i]);
        copy_kind[i] = (int8_t)(copy != NULL ? copy->kind : -1);
        stream[i] = e->classes.v[e->class[calls.v[i]]].lane;
    }
    o->kind = kind;
    c->copy = copy_kind;
    c->stream = stream;
    free(e->flags);
    free(e->class); /* threads and streams have the tracks */

    o->n = ops.n;
    c->n = calls.n;
    o->start_ns = GATHER(ts_ns, &ops, host);
    c->start_ns = GATHER(ts_ns, &calls, host);
    free(e->ts_ns);
    o->name = GATHER(name, &ops, host);
    c->name = GATHER(name, &calls, host);
    free(e->name);
    o->uid = GATHER(uid, &ops, host);
    c->uid = GATHER(uid, &calls, host);
    free(e->uid);
    o->dur_ns = gather_narrow(&e->dur_ns, &ops, host);
    c->dur_ns = gather_narrow(&e->dur_ns, &calls, host);
    free_narrow(&e->dur_ns);
    free(ops.v);
    free(calls.v);
    e->ts_ns = NULL;
    e->class = e->name = e->uid = NULL;
    e->flags = NULL;
    e->n = e->cap = 0;
}

/* -------------------------------------------------------------------------------------------------------- the whole */

void tl_link_selected(tl_trace *trace, const tl_rules *rules, int32_t rank, const tl_selection *selection,
                      tl_linked *out, tl_found *found)
{
    tl_events *e = &trace->events;
    tl_comm comm = { .e = NULL };
    tl_cuts cuts = { 0 };
    tl_flows flows = { 0 };
    tl_computing_ops computing = { 0 };

    *out = (tl_linked){ .view = { .rank = rank,
                                  .world_size = trace->meta.world_size,
                                  .names = &e->names,
                                  .device_name = trace->meta.device } };
    for (size_t i = 0; trace->meta.has_base && i < e->n; i++)
        e->ts_ns[i] = tl_since_base(e->ts_ns[i], trace->meta.base_ns);
    for (size_t i = 0; trace->meta.has_base && i < e->windows.n; i++)
        e->windows.v[i].begin_ns = tl_since_base(e->windows.v[i].begin_ns, trace->meta.base_ns);
    tl_step_window *steps = tl_steps_collect(e, 0, rules, out);
    tl_event_list calls = tl_calls_find(e);
    tl_device work = tl_device_find(e, &calls, TL_SET_WORK);
    tl_overruns_cut(e, &work, &cuts);
    if (selection != NULL) {
        tl_events_select(e, &calls, selection, steps, &out->view.nsteps, found);
        tl_device_free(&work);
        free(calls.v);
        calls = tl_calls_find(e);
        work = tl_device_find(e, &calls, TL_SET_WORK);
    }
    for (size_t i = 0; i < cuts.n; i++)
        if (e->flags[cuts.v[i].event] & TL_EVENT_HAS_TS) {
            out->view.ntoo_long++;
            out->view.too_long_ns = tl_ns_add(out->view.too_long_ns, cuts.v[i].less_ns);
        }
    free(cuts.v);
    tl_device waits = tl_device_find(e, &calls, TL_SET_WAITS);
    tl_launch *launches = make_launches(e, &calls, &work, &waits, out);
    free(calls.v);
    tl_comm_find(e, &comm);
    tl_measured_collect(e, out);
    tl_flows_collect(e, &flows);

    tl_kernel *kernels = tl_kernels_make(e, rules, &comm, &work, launches, out);
    tl_syncs_make(e, &waits, out);
    tl_device_free(&work);
    tl_device_free(&waits);

    take_columns(e, &computing, out);
    tl_stream_id *streams = tl_arena_take(&out->host, e->lanes.n, sizeof *streams);
    for (size_t i = 0; i < e->lanes.n; i++)
        streams[i] = (tl_stream_id){ tl_small_int(e->lanes.v[i].device), tl_small_int(e->lanes.v[i].stream) };
    out->view.streams = streams;
    out->view.name_key = tl_name_keys_make(&e->names, &out->host);
    tl_backwards_find(&flows, out);
    tl_launches_find_ops(&out->view, launches);
    tl_flops_find(&computing, out);
    tl_colls_collect(&trace->meta, &comm, kernels, out);
    free(flows.v);
    free(computing.v);
    tl_comm_free(&comm);
    tl_events_free_columns(e);
}

void tl_link(tl_trace *trace, const tl_rules *rules, int32_t rank, tl_linked *out)
{
    tl_link_selected(trace, rules, rank, NULL, out, NULL);
}

void tl_linked_free_host(tl_linked *linked)
{
    tl_arena_free(&linked->host);
    linked->view.calls = (tl_calls){ 0 };
    linked->view.ops = (tl_ops){ 0 };
    linked->view.backwards = NULL;
    linked->view.nbackwards = 0;
    linked->view.streams = NULL;
    linked->view.name_key = NULL;
}

void tl_linked_free(tl_linked *linked)
{
    tl_arena_free(&linked->host);
    tl_arena_free(&linked->rest);
    *linked = (tl_linked){ 0 };
}
