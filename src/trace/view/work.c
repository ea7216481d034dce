/* work.c - makes rows of device work and of recorded waits, in the order of the view. */
#include "internal.h"

typedef struct making {
    const tl_events *e;
    const tl_rules *rules;
    const tl_comm *comm;
    const tl_rank_view *view;
    tl_launch *launches;
    tl_side grids, copies, colls;
    const tl_rule **rule_of_name; /* by name: NULL: not yet classified; &no_rule: no rule matches */
} making;

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

/* Sets kind and collective of a kernel: by the arguments of its collective (or NULL), then its name, then the operator
 * that launched it.  A kernel that is compute by its name, or whose name has no rule, is comm if all kernels of its
 * name behave like communication. */
static void classify(making *m, const tl_coll_args *args, tl_kernel *kernel)
{
    const tl_rule *rule = rule_of(m, kernel->name);
    tl_collective named = TL_COLL_NONE;
    if (args != NULL && args->name != TL_NO_NAME) {
        named = tl_collective_of(tl_names_text(&m->e->names, args->name));
    } else if (rule == NULL && kernel->launch != TL_NONE) {
        tl_comm_call call = tl_comm_launched(m->comm, &m->launches[kernel->launch]);
        named = call.in_operator ? call.collective : TL_COLL_NONE;
    }

    kernel->kind = named != TL_COLL_NONE ? TL_COMM : rule != NULL ? rule->kind : TL_COMPUTE;
    kernel->collective = (uint8_t)named;
    if (rule != NULL && (named == TL_COLL_NONE || named == TL_COLL_UNKNOWN))
        kernel->collective = rule->collective;
    kernel->unclassified = rule == NULL && named == TL_COLL_NONE;
    if (kernel->unclassified)
        kernel->collective = TL_COLL_UNKNOWN;
    bool users = rule != NULL && rule->seen == NULL;
    if (named != TL_COLL_NONE || kernel->kind != TL_COMPUTE || users || kernel->name == TL_NO_NAME)
        return;
    tl_collective as = tl_behaves_as(m->rules, tl_names_text(&m->e->names, kernel->name));
    if (as == TL_COLL_NONE)
        return;
    kernel->collective = (uint8_t)as;
    kernel->kind = TL_COMM;
    kernel->unclassified = 1;
}

/* Fills a kernel.  Work without a recorded launch was queued before next_ns, the launch of the next work on its stream,
 * since a stream works in order.  A device may be steps behind its host when a recording begins. */
static void fill_kernel(making *m, const tl_device *work, size_t i, const tl_stream_events *stream, int64_t next_ns,
                        tl_kernel *kernel)
{
    const tl_events *e = m->e;
    const uint32_t event = work->events.v[i];
    const tl_cat cat = tl_event_cat(e, event);
    const tl_copy_args *copy = tl_side_find(&m->copies, event);
    const uint32_t said = copy != NULL ? (uint32_t)(copy - e->copies.v) : TL_NONE;

    *kernel = (tl_kernel){ .start_ns = e->ts_ns[event],
                           .end_ns = e->ts_ns[event] + tl_event_dur_ns(e, event),
                           .launch_ns = TL_TIME_UNKNOWN,
                           .correlation = tl_event_corr(e, event),
                           .bytes = copy != NULL ? copy->bytes : -1,
                           .name = e->name[event],
                           .launch = work->launch[i],
                           .uid = e->uid[event],
                           .device = stream->device,
                           .stream = stream->stream };
    if (kernel->launch != TL_NONE) {
        tl_launch *launch = &m->launches[kernel->launch];
        kernel->launch_ns = launch->start_ns;
        launch->nkernels++;
    }
    kernel->step = tl_step_at(m->view->steps, m->view->nsteps,
                              kernel->launch != TL_NONE ? kernel->launch_ns : tl_ns_min(kernel->start_ns, next_ns));
    if (cat != TL_CAT_KERNEL) {
        kernel->kind = cat == TL_CAT_MEMCPY ? TL_MEMCPY : TL_MEMSET;
        kernel->said = said;
        return;
    }
    const tl_coll_args *coll = tl_side_find(&m->colls, event);
    classify(m, coll, kernel);
    if (kernel->kind == TL_COMM) {
        kernel->coll = coll != NULL ? (uint32_t)(coll - e->colls.v) : TL_NONE;
    } else if (kernel->kind == TL_COMPUTE) {
        const tl_grid_args *grid = tl_side_find(&m->grids, event);
        kernel->blocks = grid != NULL ? grid->blocks : 0;
    } else {
        kernel->said = said;
    }
}

/* Sets the step of kernels [first, end) without a launch, between two kernels of one stream with launches in different
 * steps: kernels before the longest gap belong to the step of the kernel before `first`. */
static void set_steps_between(tl_kernel *v, size_t first, size_t end, int32_t next)
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

/* Sets the steps of kernels whose launches are lost in the middle of a recording. */
static void set_steps_of_stream(tl_kernel *v, size_t first, size_t end)
{
    size_t from = end; /* first kernel without a launch since the last kernel with one */
    for (size_t i = first; i < end; i++) {
        if (v[i].launch == TL_NONE) {
            from = from == end && i > first ? i : from;
            continue;
        }
        if (from < i && v[from - 1].launch != TL_NONE && v[from - 1].step != v[i].step)
            set_steps_between(v, from, i, v[i].step);
        from = end;
    }
}

tl_kernel *tl_kernels_make(const tl_events *e, const tl_rules *rules, const tl_comm *comm, const tl_device *work,
                           tl_launch *launches, tl_linked *out)
{
    size_t n = work->events.n;
    making m = { .e = e,
                 .rules = rules,
                 .comm = comm,
                 .view = &out->view,
                 .launches = launches,
                 .grids = TL_SIDE(e->grids),
                 .copies = TL_SIDE(e->copies),
                 .colls = TL_SIDE(e->colls),
                 .rule_of_name = tl_calloc(e->names.n + 1, sizeof *m.rule_of_name) };
    tl_kernel *v = tl_arena_take(&out->rest, n, sizeof *v);
    double *gb_per_s = tl_arena_take(&out->rest, e->copies.n, sizeof *gb_per_s);

    for (size_t i = 0; i < e->copies.n; i++)
        gb_per_s[i] = e->copies.v[i].gb_per_s;
    for (size_t s = work->streams.n; s-- > 0;) {
        const tl_stream_events *stream = &work->streams.v[s];
        int64_t next_ns = INT64_MAX;
        for (size_t i = stream->first + stream->n; i-- > stream->first;) {
            fill_kernel(&m, work, i, stream, next_ns, &v[i]);
            next_ns = v[i].launch != TL_NONE ? v[i].launch_ns : next_ns;
        }
        set_steps_of_stream(v, stream->first, stream->first + stream->n);
    }
    free(m.rule_of_name);
    out->view.said_gb_per_s = gb_per_s;
    out->view.kernels = v;
    out->view.nkernels = n;
    return v;
}

void tl_syncs_make(const tl_events *e, const tl_device *waits, tl_linked *out)
{
    tl_rank_view *view = &out->view;
    tl_sync *v = tl_arena_take(&out->rest, waits->events.n, sizeof *v);

    TL_EACH (const tl_stream_events, stream, waits->streams) {
        for (size_t i = stream->first; i < stream->first + stream->n; i++) {
            const uint32_t event = waits->events.v[i], call = waits->launch[i];
            const tl_wait_args *args = tl_events_wait(e, event);
            v[i] = (tl_sync){ .start_ns = e->ts_ns[event],
                              .end_ns = e->ts_ns[event] + tl_event_dur_ns(e, event),
                              .correlation = tl_event_corr(e, event),
                              .call_ns = call != TL_NONE ? view->launches[call].start_ns : TL_TIME_UNKNOWN,
                              .name = e->name[event],
                              .uid = e->uid[event],
                              .device = stream->device,
                              .stream = stream->stream,
                              .wait_on_stream = args != NULL ? tl_small_int(args->wait_on_stream) : -1,
                              .wait_on_correlation = args != NULL ? args->wait_on_corr : -1 };
            v[i].step = tl_step_at(view->steps, view->nsteps, call != TL_NONE ? v[i].call_ns : v[i].start_ns);
        }
    }
    view->syncs = v;
    view->nsyncs = waits->events.n;
}
