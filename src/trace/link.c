/* link.c - events to the view of a rank.
 *
 *     host    ..[launch, correlation 7]......
 *     stream  ..............[kernel, correlation 7]....
 *
 * What is device work is decided by its category, never by a `stream` argument: Triton's operators on the host carry one.
 * A launch is any runtime or driver call that shares its correlation with device work, so one graph launch has many kernels
 * and no list of names is needed.
 */
#include "tlmpi/trace/link.h"
#include "link_comm.h"
#include "link_step.h"
#include <stdlib.h>

typedef struct linking {
    const tl_trace *trace;
    const tl_events *e;
    const tl_rules *rules;
    tl_linked *out;
    tl_map wanted;              /* correlations of device work and waits */
    tl_map calls;               /* correlation -> its first launch; later ones of that number follow by `next` */
    uint32_t *next;             /* launch -> another with the same correlation, TL_NONE */
} linking;

static int64_t absolute(const tl_trace *t, int64_t ns)
{
    int64_t base = t->meta.has_base ? t->meta.base_ns : 0;
    int64_t sum;
    return __builtin_add_overflow(ns, base, &sum) ? ns : sum;
}

static bool is_gpu_work(const tl_events *e, size_t i)
{
    return TL_CAT_BIT(tl_event_cat(e, i)) & TL_CAT_GPU_WORK && e->flags[i] & TL_EVENT_HAS_TS;
}

static bool is_call(const tl_events *e, size_t i)
{
    tl_cat cat = tl_event_cat(e, i);
    return (cat == TL_CAT_RUNTIME || cat == TL_CAT_DRIVER) && e->flags[i] & TL_EVENT_HAS_TS;
}

/* Correlation 0 and below join nothing: profilers write them for work that they could not correlate. */
static bool correlates(const tl_events *e, size_t i)
{
    return e->flags[i] & TL_EVENT_HAS_CORR && e->corr[i] > 0;
}

static int32_t small_int(int64_t x)
{
    return x >= 0 && x <= INT32_MAX ? (int32_t)x : -1;
}

/* The number in a text such as "stream 7", -1 without one. */
static int64_t number_in(tl_text t)
{
    int64_t x = -1;
    for (size_t i = 0; i < t.n; i++)
        if (t.p[i] >= '0' && t.p[i] <= '9' && x < INT32_MAX)
            x = (x < 0 ? 0 : x * 10) + (t.p[i] - '0');
    return x;
}

/* Device and stream: as the args say, else as the track says, where Kineto puts them as pid and tid. */
static void place_of(const tl_events *e, size_t i, int32_t *device, int32_t *stream)
{
    const tl_lane *lane = &e->lanes.v[e->lane[i]];
    const tl_track *track = &e->tracks.v[e->track[i]];

    *device = small_int(lane->device);
    *stream = small_int(lane->stream);
    if (tl_event_cat(e, i) == TL_CAT_SYNC)
        return;                         /* a wait sits on a host track */
    if (lane->device == TL_LANE_ABSENT && track->pid_text == TL_NO_NAME)
        *device = small_int(track->pid);
    if (lane->stream == TL_LANE_ABSENT)
        *stream = small_int(track->tid_text == TL_NO_NAME ? track->tid : number_in(tl_names_text(&e->names, track->tid_text)));
}

/* ---------------------------------------------------------------------------------------------------- launches */

static bool count_events(linking *k, size_t *nkernels, size_t *nsyncs)
{
    *nkernels = *nsyncs = 0;
    for (size_t i = 0; i < k->e->n; i++) {
        bool work = is_gpu_work(k->e, i), sync = tl_event_cat(k->e, i) == TL_CAT_SYNC;
        *nkernels += work;
        *nsyncs += sync;
        if ((work || sync) && correlates(k->e, i) && tl_map_put(&k->wanted, (uint64_t)k->e->corr[i], 1) != 0)
            return false;
    }
    return true;
}

static int by_launch(const void *a, const void *b)
{
    const tl_launch *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->uid < y->uid ? -1 : x->uid > y->uid;
}

static bool collect_launches(linking *k)
{
    const tl_events *e = k->e;
    size_t n = 0;

    for (size_t i = 0; i < e->n; i++)
        n += is_call(e, i) && correlates(e, i) && tl_map_get(&k->wanted, (uint64_t)e->corr[i]) != TL_MAP_NONE;
    tl_launch *v = tl_calloc(n + 1, sizeof *v);
    k->out->launches = v;
    k->next = tl_calloc(n + 1, sizeof *k->next);
    if (v == NULL || k->next == NULL)
        return false;
    n = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (!is_call(e, i) || !correlates(e, i) || tl_map_get(&k->wanted, (uint64_t)e->corr[i]) == TL_MAP_NONE)
            continue;
        int64_t start = absolute(k->trace, e->ts_ns[i]);
        v[n++] = (tl_launch){ start, start + e->dur_ns[i], e->corr[i], e->name[i], e->uid[i], e->track[i], 0 };
    }
    qsort(v, n, sizeof *v, by_launch);
    /* Backwards, so that the chain of a number runs in order of time. */
    for (size_t i = n; i-- > 0;) {
        uint32_t later = tl_map_get(&k->calls, (uint64_t)v[i].correlation);
        k->next[i] = later;             /* TL_MAP_NONE is TL_NONE */
        if (tl_map_put(&k->calls, (uint64_t)v[i].correlation, (uint32_t)i) != 0)
            return false;
    }
    k->out->view.launches = v;
    k->out->view.nlaunches = n;
    return true;
}

/* The launch of work that starts at start_ns: of several calls with its correlation the last that began before it, else the
 * first. */
static uint32_t launch_of(const linking *k, size_t event, int64_t start_ns)
{
    if (!correlates(k->e, event))
        return TL_NONE;
    uint32_t found = tl_map_get(&k->calls, (uint64_t)k->e->corr[event]);
    for (uint32_t i = found; i != TL_NONE; i = k->next[i])
        if (k->out->launches[i].start_ns <= start_ns)
            found = i;
    return found;
}

/* -------------------------------------------------------------------------------------------------- device work */

/* Kernels by name are classified once a name: NULL is "not yet", &no_rule "no rule matches". */
static const tl_rule no_rule = { .needle = "" };

static const tl_rule *rule_of(const linking *k, uint32_t name, const tl_rule **rule_of_name)
{
    if (name == TL_NO_NAME)
        return NULL;
    if (rule_of_name[name] == NULL) {
        const tl_rule *rule = tl_classify(k->rules, tl_names_text(&k->e->names, name));
        rule_of_name[name] = rule != NULL ? rule : &no_rule;
    }
    return rule_of_name[name] != &no_rule ? rule_of_name[name] : NULL;
}

/* What the work is: by its category; a kernel by the arguments of its collective, then by its name, then by the operator
 * that launched it. */
static void classify(const linking *k, size_t event, tl_kernel *kernel, const tl_rule **rule_of_name,
                     tl_comm_evidence *evidence)
{
    tl_cat cat = tl_event_cat(k->e, event);
    if (cat == TL_CAT_MEMCPY || cat == TL_CAT_MEMSET) {
        kernel->kind = cat == TL_CAT_MEMCPY ? TL_MEMCPY : TL_MEMSET;
        return;
    }
    const tl_rule *rule = rule_of(k, kernel->name, rule_of_name);
    const tl_coll_args *args = tl_events_coll(k->e, (uint32_t)event);
    tl_collective named = TL_COLL_NONE;
    if (args != NULL && args->name != TL_NO_NAME)
        named = tl_collective_of(tl_names_text(&k->e->names, args->name));
    else if (rule == NULL && kernel->launch != TL_NONE)
        named = tl_comm_launched(evidence, &k->out->launches[kernel->launch]);

    kernel->kind = named != TL_COLL_NONE ? TL_COMM : rule != NULL ? rule->kind : TL_COMPUTE;
    kernel->collective = (uint8_t)named;
    if (rule != NULL && rule->kind == TL_COMM && (named == TL_COLL_NONE || named == TL_COLL_UNKNOWN))
        kernel->collective = rule->collective;
    kernel->unclassified = rule == NULL && named == TL_COLL_NONE;
}

static int by_place(const void *a, const void *b)
{
    const tl_kernel *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return x->uid < y->uid ? -1 : x->uid > y->uid;
}

static bool collect_kernels(linking *k, size_t n)
{
    const tl_events *e = k->e;
    tl_kernel *v = tl_calloc(n + 1, sizeof *v);
    const tl_rule **rule_of_name = tl_calloc(e->names.n + 1, sizeof *rule_of_name);
    tl_comm_evidence evidence = { .trace = k->trace, .base_ns = absolute(k->trace, 0) };

    k->out->kernels = v;
    if (v == NULL || rule_of_name == NULL) {
        free(rule_of_name);
        return false;
    }
    n = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (!is_gpu_work(e, i))
            continue;
        tl_kernel *kernel = &v[n++];
        const tl_copy_args *copy = tl_events_copy(e, (uint32_t)i);
        kernel->start_ns = absolute(k->trace, e->ts_ns[i]);
        kernel->end_ns = kernel->start_ns + e->dur_ns[i];
        kernel->correlation = e->flags[i] & TL_EVENT_HAS_CORR ? e->corr[i] : -1;
        kernel->bytes = copy != NULL ? copy->bytes : -1;
        kernel->name = e->name[i];
        kernel->uid = e->uid[i];
        place_of(e, i, &kernel->device, &kernel->stream);
        kernel->launch = launch_of(k, i, kernel->start_ns);
        kernel->launch_ns = kernel->launch_end_ns = TL_TIME_UNKNOWN;
        if (kernel->launch != TL_NONE) {
            tl_launch *launch = &k->out->launches[kernel->launch];
            kernel->launch_ns = launch->start_ns;
            kernel->launch_end_ns = launch->end_ns;
            launch->nkernels++;
        }
        kernel->step = tl_step_at(k->out->steps, k->out->view.nsteps,
                                  kernel->launch != TL_NONE ? kernel->launch_ns : kernel->start_ns);
        classify(k, i, kernel, rule_of_name, &evidence);
    }
    free(rule_of_name);
    bool whole = !evidence.no_memory;
    tl_comm_evidence_free(&evidence);
    qsort(v, n, sizeof *v, by_place);
    k->out->view.kernels = v;
    k->out->view.nkernels = n;
    return whole;
}

/* ------------------------------------------------------------------------------------------------ recorded waits */

static int by_sync_place(const void *a, const void *b)
{
    const tl_sync *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->uid < y->uid ? -1 : x->uid > y->uid;
}

static bool collect_syncs(linking *k, size_t n)
{
    const tl_events *e = k->e;
    tl_sync *v = tl_calloc(n + 1, sizeof *v);

    k->out->syncs = v;
    if (v == NULL)
        return false;
    n = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (tl_event_cat(e, i) != TL_CAT_SYNC || !(e->flags[i] & TL_EVENT_HAS_TS))
            continue;
        tl_sync *sync = &v[n++];
        sync->start_ns = absolute(k->trace, e->ts_ns[i]);
        sync->end_ns = sync->start_ns + e->dur_ns[i];
        sync->correlation = e->flags[i] & TL_EVENT_HAS_CORR ? e->corr[i] : -1;
        sync->name = e->name[i];
        sync->uid = e->uid[i];
        place_of(e, i, &sync->device, &sync->stream);
        uint32_t call = launch_of(k, i, sync->start_ns);
        sync->call_ns = call != TL_NONE ? k->out->launches[call].start_ns : TL_TIME_UNKNOWN;
        sync->step = tl_step_at(k->out->steps, k->out->view.nsteps, call != TL_NONE ? sync->call_ns : sync->start_ns);
    }
    qsort(v, n, sizeof *v, by_sync_place);
    k->out->view.syncs = v;
    k->out->view.nsyncs = n;
    return true;
}

tl_status tl_link(const tl_trace *trace, const tl_rules *rules, int32_t rank, tl_linked *out, tl_error *err)
{
    linking k = { .trace = trace, .e = &trace->events, .rules = rules, .out = out };
    size_t nkernels, nsyncs;

    *out = (tl_linked){ .view = { .rank = rank, .names = &trace->events.names } };
    bool whole = tl_steps_collect(trace, absolute(trace, 0), &out->steps, &out->view.nsteps) &&
                 count_events(&k, &nkernels, &nsyncs) && collect_launches(&k) && collect_kernels(&k, nkernels) &&
                 collect_syncs(&k, nsyncs);
    out->view.steps = out->steps;
    tl_map_free(&k.wanted);
    tl_map_free(&k.calls);
    free(k.next);
    return whole ? TL_OK : tl_fail_memory(err, "the view of a rank");
}

void tl_linked_free(tl_linked *linked)
{
    free(linked->kernels);
    free(linked->syncs);
    free(linked->launches);
    free(linked->steps);
    *linked = (tl_linked){ 0 };
}
