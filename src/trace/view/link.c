/* link.c - events to the view of a rank.
 *
 * What is device work is decided by its category, never by a `stream` argument: Triton's operators on the host carry
 * one.  A launch is any runtime or driver call that shares its correlation with device work, so one graph launch has
 * many kernels and no list of names is needed.
 *
 *     events   [op][op][call][kernel][op][call][kernel]      each column of these is dealt out to the four sets, in
 *     ops      [op][op]              [op]                    the order of the view, and is gone when the next one
 *     calls            [call]            [call]              comes: a large trace leaves no room for a second set of
 *     work                   [kernel]          [kernel]      columns.  The rows of kernels, which are the largest,
 *     waits    ...                                           come last.
 */
#include "internal.h"

enum { OPS, CALLS, WORK, WAITS, NSETS };

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

/* Makes the launches of the view: the calls that share a correlation with an event of a device.  Of each of these events
 * `launch` then is one of them. */
static void make_launches(const tl_events *e, const tl_event_list *calls, tl_device *work, tl_device *waits,
                          tl_linked *out)
{
    const tl_device *devices[] = { work, waits };
    uint32_t *order = tl_malloc((calls->n + 1) * sizeof *order), *place = tl_calloc(calls->n + 1, sizeof *place);
    size_t n = 0;

    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < devices[d]->events.n; i++)
            if (devices[d]->launch[i] != TL_NONE)
                place[devices[d]->launch[i]] = 1;
    for (size_t from = 0, to; from < calls->n; from = to) { /* calls of one correlation */
        bool queues = false;
        for (to = from; to < calls->n && e->corr[calls->v[to]] == e->corr[calls->v[from]]; to++)
            queues |= place[to] != 0;
        for (size_t k = from; queues && k < to; k++)
            order[n++] = (uint32_t)k;
    }
    tl_sort_index(order, n, by_start, &(queued){ e, calls->v });
    out->launches = tl_malloc(n * sizeof *out->launches);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = calls->v[order[i]];
        out->launches[i] = (tl_launch){ e->ts_ns[at], e->ts_ns[at] + e->dur_ns[at],
                                        e->name[at],  e->uid[at],
                                        e->track[at], 0,
                                        TL_LAUNCH_OF_NOTHING };
        place[order[i]] = (uint32_t)i;
    }
    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < devices[d]->events.n; i++)
            if (devices[d]->launch[i] != TL_NONE)
                devices[d]->launch[i] = place[devices[d]->launch[i]];
    free(order);
    free(place);
    out->view.launches = out->launches;
    out->view.nlaunches = n;
}

/* ---------------------------------------------------------------------------------------------------------- columns */

/* Deals the elements of a column out to the sets that have a place for it, each in its order, and frees the column. */
static void deal_wide(int64_t **column, int64_t **const to[NSETS], const tl_event_list of[NSETS])
{
    for (int s = 0; s < NSETS; s++) {
        if (to[s] == NULL)
            continue;
        *to[s] = tl_malloc(of[s].n * sizeof **to[s]);
        for (size_t i = 0; i < of[s].n; i++)
            (*to[s])[i] = (*column)[of[s].v[i]];
    }
    free(*column);
    *column = NULL;
}

static void deal_narrow(uint32_t **column, uint32_t **const to[NSETS], const tl_event_list of[NSETS])
{
    for (int s = 0; s < NSETS; s++) {
        if (to[s] == NULL)
            continue;
        *to[s] = tl_malloc(of[s].n * sizeof **to[s]);
        for (size_t i = 0; i < of[s].n; i++)
            (*to[s])[i] = (*column)[of[s].v[i]];
    }
    free(*column);
    *column = NULL;
}

/* The kind of each event of a set: of a device its category, of a call that of a copy or -1, else a tl_op_kind. */
static uint8_t *kinds_of(const tl_events *e, int set, const tl_event_list *of)
{
    tl_side copies = TL_SIDE(e->copies);
    uint8_t *kind = tl_malloc(of->n);

    for (size_t i = 0; i < of->n; i++) {
        tl_cat cat = tl_event_cat(e, of->v[i]);
        uint32_t copy = set == CALLS ? tl_side_find(&copies, of->v[i]) : TL_NONE;
        kind[i] = set == OPS     ? (cat == TL_CAT_CPU_OP ? TL_OP : cat == TL_CAT_PYTHON ? TL_FRAME : TL_ANNOTATION)
                  : set != CALLS ? (uint8_t)cat
                                 : (uint8_t)(copy != TL_NONE ? e->copies.v[copy].kind : -1);
    }
    return kind;
}

/* Takes the columns of the events over; the side tables stay. */
static void take_columns(tl_events *e, tl_device *work, tl_device *waits, tl_linked *out)
{
    struct tl_linked_host *h = &out->host;
    tl_columns *c[NSETS] = { &h->ops, &h->calls, &work->columns, &waits->columns };
    tl_event_list of[NSETS] = { [WORK] = work->events, [WAITS] = waits->events };

    of[CALLS] = tl_host_order(e, TL_SET_CALLS, &h->call_threads, &h->ncall_threads);
    deal_wide(&e->corr, (int64_t **[]){ NULL, &c[CALLS]->corr, &c[WORK]->corr, &c[WAITS]->corr }, of);
    deal_narrow(&e->lane, (uint32_t **[]){ NULL, &c[CALLS]->lane, NULL, NULL }, of);
    of[OPS] = tl_host_order(e, TL_SET_OPS, &h->op_threads, &h->nop_threads);
    for (int s = 0; s < NSETS; s++) {
        c[s]->n = of[s].n;
        c[s]->kind = kinds_of(e, s, &of[s]);
    }
    free(e->category);
    free(e->flags);
    free(e->track); /* the threads and streams say it */
    e->category = e->flags = NULL;
    e->track = NULL;
    deal_wide(&e->ts_ns, (int64_t **[]){ &c[OPS]->start_ns, &c[CALLS]->start_ns, &c[WORK]->start_ns, &c[WAITS]->start_ns },
              of);
    deal_wide(&e->dur_ns, (int64_t **[]){ &c[OPS]->dur_ns, &c[CALLS]->dur_ns, &c[WORK]->dur_ns, &c[WAITS]->dur_ns }, of);
    deal_narrow(&e->name, (uint32_t **[]){ &c[OPS]->name, &c[CALLS]->name, &c[WORK]->name, &c[WAITS]->name }, of);
    deal_narrow(&e->uid, (uint32_t **[]){ &c[OPS]->uid, &c[CALLS]->uid, &c[WORK]->uid, &c[WAITS]->uid }, of);
    e->n = e->cap = 0;
    free(of[OPS].v);
    free(of[CALLS].v);
}

void tl_columns_free(tl_columns *c)
{
    void *columns[] = { c->start_ns, c->dur_ns, c->corr, c->name, c->uid, c->lane, c->kind };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        free(columns[i]);
    *c = (tl_columns){ 0 };
}

/* -------------------------------------------------------------------------------------------------------- the whole */

void tl_link_selected(tl_trace *trace, const tl_rules *rules, int32_t rank, const tl_selection *selection,
                      tl_linked *out, tl_found *found)
{
    tl_events *e = &trace->events;
    tl_comm comm = { .e = NULL };
    tl_cuts cuts = { 0 };
    tl_flows flows = { 0 };

    *out = (tl_linked){ .view = { .rank = rank, .world_size = trace->meta.world_size, .names = &e->names } };
    for (size_t i = 0; trace->meta.has_base && i < e->n; i++)
        e->ts_ns[i] = tl_since_base(e->ts_ns[i], trace->meta.base_ns);
    tl_steps_collect(e, 0, out);
    tl_event_list calls = tl_calls_find(e);
    tl_device work = tl_device_find(e, &calls, TL_SET_WORK);
    tl_overruns_cut(e, &work, &cuts);
    if (selection != NULL) {
        tl_events_select(e, &calls, selection, out, found);
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
    make_launches(e, &calls, &work, &waits, out);
    free(calls.v);
    tl_comm_find(e, &comm);
    tl_measured_collect(e, out);
    tl_flows_collect(e, &flows);

    take_columns(e, &work, &waits, out);
    tl_host_show(e, out);
    tl_backwards_find(&flows, out);
    tl_launches_place(&out->view, out->launches);
    tl_kernels_make(e, rules, &comm, &work, out);
    tl_colls_collect(&trace->meta, &comm, out);
    tl_syncs_make(e, &waits, out);

    tl_device_free(&work);
    tl_device_free(&waits);
    free(flows.v);
    tl_comm_free(&comm);
    tl_events_free_columns(e);
}

void tl_link(tl_trace *trace, const tl_rules *rules, int32_t rank, tl_linked *out)
{
    tl_link_selected(trace, rules, rank, NULL, out, NULL);
}

void tl_linked_free_host(tl_linked *linked)
{
    struct tl_linked_host *h = &linked->host;
    void *arrays[] = { h->call_threads, h->op_threads, h->streams, h->backwards, h->name_key };

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    tl_columns_free(&h->calls);
    tl_columns_free(&h->ops);
    *h = (struct tl_linked_host){ 0 };
    linked->view.calls = (tl_calls){ 0 };
    linked->view.ops = (tl_ops){ 0 };
    linked->view.backwards = NULL;
    linked->view.nbackwards = 0;
    linked->view.streams = NULL;
    linked->view.name_key = NULL;
}

void tl_linked_free(tl_linked *linked)
{
    void *arrays[] = { linked->kernels, linked->syncs,   linked->launches, linked->steps, linked->colls,
                       linked->counted, linked->memory, linked->ranges,   linked->said_gb_per_s };

    tl_linked_free_host(linked);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    tl_groups_free(linked->groups, linked->view.ngroups);
    *linked = (tl_linked){ 0 };
}
