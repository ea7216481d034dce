/* work.c - rows of device work and of recorded waits, in the order of the view.
 *
 * A kernel has 72 bytes as a row and half of that in columns, and a large trace has no room for both of all of them: so
 * rows are made from the last one to the first, and the columns are cut after what is left of them.
 */
#include "work.h"
#include "part.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

/* Rows that are made before the columns are cut. */
enum { CUT_ROWS = 1 << 16 };

/* ------------------------------------------------------------------------------------------------------ in columns */

/* A walk along a side table: its entries come in the order of events, whose number is their first member. */
typedef struct side_walk {
    const char *table;
    size_t n, size, at;
} side_walk;

#define WALK(table)                                                                                                    \
    {                                                                                                                  \
        (const char *)(table).v, (table).n, sizeof *(table).v, 0                                                       \
    }

/* Returns the side-table entry of an event, TL_NONE without one.  Events must come in ascending order. */
static uint32_t entry_of(side_walk *w, uint32_t event)
{
    uint32_t of = 0;
    for (; w->at < w->n; w->at++) {
        memcpy(&of, w->table + w->at * w->size, sizeof of);
        if (of >= event)
            break;
    }
    return w->at < w->n && of == event ? (uint32_t)w->at : TL_NONE;
}

static tl_work_args *find_args(const tl_events *e, const tl_columns *work)
{
    side_walk grids = WALK(e->grids), copies = WALK(e->copies), colls = WALK(e->colls);
    tl_work_args *v = tl_malloc(work->n * sizeof *v);

    for (size_t i = 0; i < work->n; i++) {
        uint32_t event = work->event[i], grid = entry_of(&grids, event);
        v[i] = (tl_work_args){ grid != TL_NONE ? e->grids.v[grid].blocks : 0, entry_of(&copies, event),
                               entry_of(&colls, event) };
    }
    return v;
}

static void order_args(tl_work_args **args, size_t n, const uint32_t *order)
{
    tl_work_args *from = *args, *to = tl_malloc(n * sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = from[order[i]];
    free(from);
    *args = to;
}

void tl_device_order(const tl_events *e, tl_columns *columns, bool work, tl_device *device)
{
    tl_columns *c = &device->columns;
    size_t n = columns->n;
    uint32_t *order = tl_malloc(n * sizeof *order);

    *device = (tl_device){ .columns = *columns };
    *columns = (tl_columns){ 0 };
    tl_order_by_stream(e, c, work, order, &device->streams);
    free(c->track); /* the streams say it */
    free(c->lane);
    c->track = c->lane = NULL;
    if (work) {
        device->args = find_args(e, c);
        free(c->event);
        c->event = NULL;
        order_args(&device->args, n, order);
    }
    tl_columns_order(c, order);
    free(order);
}

void tl_device_free(tl_device *device)
{
    tl_columns_free(&device->columns);
    free(device->streams.v);
    free(device->launch);
    free(device->args);
    *device = (tl_device){ 0 };
}

static void cut(tl_device *device, size_t n)
{
    tl_columns_cut(&device->columns, n);
    tl_shrink(&device->launch, n, sizeof *device->launch);
    tl_shrink(&device->args, n, sizeof *device->args);
}

/* --------------------------------------------------------------------------------------------------------- in rows */

typedef struct making {
    const tl_events *e;
    const tl_rules *rules;
    tl_comm_evidence *evidence;
    tl_linked *out;
    const tl_rule **rule_of_name;
} making;

/* Kernels by name are classified once a name: NULL is "not yet", &no_rule "no rule matches". */
static const tl_rule no_rule = { .needle = "" };

static const tl_rule *rule_of(making *m, uint32_t name)
{
    if (name == TL_NO_NAME)
        return NULL;
    if (m->rule_of_name[name] == NULL) {
        const tl_rule *rule = tl_classify(m->rules, tl_names_text(&m->e->names, name));
        m->rule_of_name[name] = rule != NULL ? rule : &no_rule;
    }
    return m->rule_of_name[name] != &no_rule ? m->rule_of_name[name] : NULL;
}

/* A kernel that computes by its name, or has none that tells, communicates where all of its name behave so. */
static void tell_by_behaviour(const making *m, tl_kernel *kernel)
{
    if (kernel->name == TL_NO_NAME || m->rules->nbehave == 0)
        return;
    tl_collective as = tl_behaves_as(m->rules, tl_names_text(&m->e->names, kernel->name));
    if (as == TL_COLL_NONE)
        return;
    kernel->collective = (uint8_t)as;
    kernel->kind = TL_COMM;
    kernel->unclassified = 1;
}

/* What the work is: by its category; a kernel by the arguments of its collective, then by its name, then by the
 * operator that launched it. */
static void classify(making *m, tl_cat cat, const tl_coll_args *args, tl_kernel *kernel)
{
    if (cat == TL_CAT_MEMCPY || cat == TL_CAT_MEMSET) {
        kernel->kind = cat == TL_CAT_MEMCPY ? TL_MEMCPY : TL_MEMSET;
        return;
    }
    const tl_rule *rule = rule_of(m, kernel->name);
    tl_collective named = TL_COLL_NONE;
    if (args != NULL && args->name != TL_NO_NAME) {
        named = tl_collective_of(tl_names_text(&m->e->names, args->name));
    } else if (rule == NULL && kernel->launch != TL_NONE) {
        tl_comm_call call = tl_comm_launched(m->evidence, &m->out->launches[kernel->launch]);
        named = call.in_operator ? call.collective : TL_COLL_NONE;
    }

    kernel->kind = named != TL_COLL_NONE ? TL_COMM : rule != NULL ? rule->kind : TL_COMPUTE;
    kernel->collective = (uint8_t)named;
    if (rule != NULL && (named == TL_COLL_NONE || named == TL_COLL_UNKNOWN))
        kernel->collective = rule->collective;
    kernel->unclassified = rule == NULL && named == TL_COLL_NONE;
    if (kernel->unclassified)
        kernel->collective = TL_COLL_UNKNOWN;
    if (named == TL_COLL_NONE && kernel->kind == TL_COMPUTE && (rule == NULL || rule->seen != NULL)) /* no user's rule */
        tell_by_behaviour(m, kernel);
}

/* Fills a kernel.  Work without a recorded launch was queued before next_ns, the launch of the work after it, since a
 * stream works in queue order.  A device may be steps behind its host when a recording begins. */
static void fill_kernel(making *m, const tl_device *work, size_t i, const tl_stream_events *stream, int64_t next_ns,
                        tl_kernel *kernel)
{
    const tl_columns *c = &work->columns;
    const tl_work_args *args = &work->args[i];

    *kernel = (tl_kernel){ .start_ns = c->start_ns[i],
                           .end_ns = c->start_ns[i] + c->dur_ns[i],
                           .launch_ns = TL_TIME_UNKNOWN,
                           .correlation = c->corr[i],
                           .bytes = args->copy != TL_NONE ? m->e->copies.v[args->copy].bytes : -1,
                           .name = c->name[i],
                           .launch = work->launch[i],
                           .uid = c->uid[i],
                           .device = stream->device,
                           .stream = stream->stream };
    if (kernel->launch != TL_NONE) {
        tl_launch *launch = &m->out->launches[kernel->launch];
        kernel->launch_ns = launch->start_ns;
        launch->nkernels++;
    }
    kernel->step = tl_step_at(m->out->steps, m->out->view.nsteps,
                              kernel->launch != TL_NONE ? kernel->launch_ns : tl_ns_min(kernel->start_ns, next_ns));
    classify(m, (tl_cat)c->kind[i], args->coll != TL_NONE ? &m->e->colls.v[args->coll] : NULL, kernel);
    if (kernel->kind == TL_COMM)
        kernel->coll = args->coll;
    else if (kernel->kind == TL_COMPUTE)
        kernel->blocks = args->blocks;
    else
        kernel->said = args->copy;
}

/* What the trace says of copies, in the order of the side table. */
static void keep_bandwidths(const tl_events *e, tl_linked *out)
{
    size_t n = e->copies.n;
    double *v = n > 0 ? tl_malloc(n * sizeof *v) : NULL;

    for (size_t i = 0; i < n; i++)
        v[i] = e->copies.v[i].gb_per_s;
    out->view.said_gb_per_s = out->said_gb_per_s = v;
}

/* Kernels [first, end) of a stream have no launch and lie between two that have, the one before `first` in another step
 * than `next`: what comes before the longest gap between them belongs to the step of the former. */
static void part_steps(tl_kernel *v, size_t first, size_t end, int32_t next)
{
    int64_t longest = -1;
    size_t parted = end, at = first;
    while (at < end && v[at].step == v[first - 1].step)
        at++;
    for (size_t i = at; i <= end; i++) {
        int64_t gap = tl_ns_between(v[i].start_ns, v[i - 1].end_ns);
        if (i < end && v[i].step != next)
            return;
        parted = gap > longest ? i : parted;
        longest = tl_ns_max(longest, gap);
    }
    for (; at < parted; at++)
        v[at].step = v[first - 1].step;
}

/* Where launches are lost in the middle of a recording. */
static void part_stream(tl_kernel *v, size_t first, size_t end)
{
    size_t from = end; /* the first without a launch since the last that has one */
    for (size_t i = first; i < end; i++) {
        if (v[i].launch == TL_NONE) {
            from = from == end && i > first ? i : from;
            continue;
        }
        if (from < i && v[from - 1].launch != TL_NONE && v[from - 1].step != v[i].step)
            part_steps(v, from, i, v[i].step);
        from = end;
    }
}

void tl_kernels_make(const tl_events *e, const tl_rules *rules, tl_comm_evidence *evidence, tl_device *work,
                     tl_linked *out)
{
    making m = { .e = e, .rules = rules, .evidence = evidence, .out = out };
    size_t n = work->columns.n, s = work->streams.n;
    tl_kernel *v = tl_malloc(n * sizeof *v);

    m.rule_of_name = tl_calloc(e->names.n + 1, sizeof *m.rule_of_name);
    out->kernels = v;
    keep_bandwidths(e, out);
    while (s-- > 0) {
        const tl_stream_events *stream = &work->streams.v[s];
        int64_t next_ns = INT64_MAX;
        for (size_t i = stream->first + stream->n; i-- > stream->first;) {
            fill_kernel(&m, work, i, stream, next_ns, &v[i]);
            next_ns = v[i].launch != TL_NONE ? v[i].launch_ns : next_ns;
            if (i % CUT_ROWS == 0)
                cut(work, i);
        }
        part_stream(v, stream->first, stream->first + stream->n);
    }
    free(m.rule_of_name);
    out->view.kernels = v;
    out->view.nkernels = n;
}

void tl_syncs_make(const tl_events *e, const tl_device *waits, tl_linked *out)
{
    const tl_columns *c = &waits->columns;
    tl_sync *v = tl_malloc(c->n * sizeof *v);

    out->syncs = v;
    for (size_t s = 0; s < waits->streams.n; s++) {
        const tl_stream_events *stream = &waits->streams.v[s];
        for (size_t i = stream->first; i < stream->first + stream->n; i++) {
            const tl_wait_args *args = tl_events_wait(e, c->event[i]);
            uint32_t call = waits->launch[i];
            v[i] = (tl_sync){ .start_ns = c->start_ns[i],
                              .end_ns = c->start_ns[i] + c->dur_ns[i],
                              .correlation = c->corr[i],
                              .call_ns = call != TL_NONE ? out->launches[call].start_ns : TL_TIME_UNKNOWN,
                              .name = c->name[i],
                              .uid = c->uid[i],
                              .device = stream->device,
                              .stream = stream->stream,
                              .wait_on_stream = args != NULL ? tl_small_int(args->wait_on_stream) : -1,
                              .wait_on_correlation = args != NULL ? args->wait_on_corr : -1 };
            v[i].step = tl_step_at(out->steps, out->view.nsteps, call != TL_NONE ? v[i].call_ns : v[i].start_ns);
        }
    }
    out->view.syncs = v;
    out->view.nsyncs = c->n;
}
