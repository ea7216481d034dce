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
#include "link_coll.h"
#include "link_group.h"
#include "link_place.h"
#include "link_step.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

typedef struct later_call {
    int64_t correlation;
    uint32_t launch;
} later_call;

/* Events of one sort in the order of the view, and the launch of each. */
typedef struct picked {
    TL_VEC(uint32_t) index;
    uint32_t *launch;
} picked;

typedef struct linking {
    const tl_trace *trace;
    const tl_events *e;
    const tl_rules *rules;
    tl_linked *out;
    picked work, waits;
    tl_map calls;               /* correlation of device work -> its first launch, NO_CALL for none */
    TL_VEC(later_call) later;   /* launches that are not the first of their correlation: by correlation, then by time */
} linking;

/* Not TL_NONE, which the map keeps for what is not in it. */
#define NO_CALL (TL_NONE - 1)

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

bool tl_has_gpu_work(const tl_events *events)
{
    for (size_t i = 0; i < events->n; i++)
        if (is_gpu_work(events, i))
            return true;
    return false;
}

static bool is_sync(const tl_events *e, size_t i)
{
    return tl_event_cat(e, i) == TL_CAT_SYNC && e->flags[i] & TL_EVENT_HAS_TS;
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

/* ---------------------------------------------------------------------------------------------------- launches */

static bool pick(picked *p, size_t event)
{
    if (!tl_vec_room(&p->index))
        return false;
    p->index.v[p->index.n++] = (uint32_t)event;
    return true;
}

static void picked_free(picked *p)
{
    free(p->index.v);
    free(p->launch);
    *p = (picked){ .launch = NULL };
}

/* Work and waits, in file order, and their correlations. */
static bool pick_work(linking *k)
{
    for (size_t i = 0; i < k->e->n; i++) {
        bool work = is_gpu_work(k->e, i);
        if (!work && !is_sync(k->e, i))
            continue;
        if (!pick(work ? &k->work : &k->waits, i) ||
            (correlates(k->e, i) && tl_map_put(&k->calls, (uint64_t)k->e->corr[i], NO_CALL) != 0))
            return false;
    }
    return true;
}

/* Calls that have queued device work. */
static bool pick_launches(const linking *k, picked *launches)
{
    for (size_t i = 0; i < k->e->n; i++)
        if (is_call(k->e, i) && correlates(k->e, i) &&
            tl_map_get(&k->calls, (uint64_t)k->e->corr[i]) != TL_MAP_NONE && !pick(launches, i))
            return false;
    return true;
}

static int by_start(const void *events, uint32_t a, uint32_t b)
{
    const tl_events *e = events;
    return TL_COMPARE(e->ts_ns[a], e->ts_ns[b]);
}

static int by_correlation(const void *a, const void *b)
{
    const later_call *x = a, *y = b;
    if (x->correlation != y->correlation)
        return TL_COMPARE(x->correlation, y->correlation);
    return TL_COMPARE(x->launch, y->launch);
}

/* Notes the launch under its correlation; they come in order of time. */
static bool note_call(linking *k, int64_t correlation, uint32_t launch)
{
    uint32_t *first = tl_map_at(&k->calls, (uint64_t)correlation);
    if (first == NULL)
        return false;
    if (*first == NO_CALL) {
        *first = launch;
        return true;
    }
    if (!tl_vec_room(&k->later))
        return false;
    k->later.v[k->later.n++] = (later_call){ correlation, launch };
    return true;
}

static bool collect_launches(linking *k)
{
    const tl_events *e = k->e;
    picked calls = { .launch = NULL };
    bool whole = pick_launches(k, &calls) && tl_sort_index(calls.index.v, calls.index.n, by_start, e);
    size_t n = calls.index.n;
    tl_launch *v = whole ? tl_calloc(n + 1, sizeof *v) : NULL;

    k->out->launches = v;
    whole = v != NULL;
    for (size_t i = 0; whole && i < n; i++) {
        uint32_t at = calls.index.v[i];
        int64_t start = absolute(k->trace, e->ts_ns[at]);
        v[i] = (tl_launch){ start, start + e->dur_ns[at], e->name[at], e->uid[at], e->track[at], 0 };
        whole = note_call(k, e->corr[at], (uint32_t)i);
    }
    if (whole && k->later.n > 1)
        qsort(k->later.v, k->later.n, sizeof *k->later.v, by_correlation);
    picked_free(&calls);
    k->out->view.launches = v;
    k->out->view.nlaunches = whole ? n : 0;
    return whole;
}

/* The launch of work that starts at start_ns: of several calls with its correlation the last that began before it, else the
 * first. */
static uint32_t launch_of(const linking *k, size_t event, int64_t start_ns)
{
    if (!correlates(k->e, event))
        return TL_NONE;
    int64_t correlation = k->e->corr[event];
    uint32_t first = tl_map_get(&k->calls, (uint64_t)correlation);
    size_t low = 0, high = k->later.n;
    while (low < high) {                /* those before low have a smaller correlation, or this one and began before */
        size_t mid = low + (high - low) / 2;
        const later_call *c = &k->later.v[mid];
        bool before = c->correlation != correlation ? c->correlation < correlation
                                                    : k->out->launches[c->launch].start_ns <= start_ns;
        if (before)
            low = mid + 1;
        else
            high = mid;
    }
    if (low > 0 && k->later.v[low - 1].correlation == correlation)
        return k->later.v[low - 1].launch;
    return first != NO_CALL ? first : TL_NONE;
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
    if (args != NULL && args->name != TL_NO_NAME) {
        named = tl_collective_of(tl_names_text(&k->e->names, args->name));
    } else if (rule == NULL && kernel->launch != TL_NONE) {
        tl_comm_call call = tl_comm_launched(evidence, &k->out->launches[kernel->launch]);
        named = call.in_operator ? call.collective : TL_COLL_NONE;
    }

    kernel->kind = named != TL_COLL_NONE ? TL_COMM : rule != NULL ? rule->kind : TL_COMPUTE;
    kernel->collective = (uint8_t)named;
    if (rule != NULL && rule->kind == TL_COMM && (named == TL_COLL_NONE || named == TL_COLL_UNKNOWN))
        kernel->collective = rule->collective;
    kernel->unclassified = rule == NULL && named == TL_COLL_NONE;
}

/* Puts them in order and finds the launch of each. */
static bool place(const linking *k, picked *p)
{
    size_t n = p->index.n;

    p->launch = tl_malloc((n + 1) * sizeof *p->launch);
    if (p->launch == NULL || !tl_order_by_place(k->e, p->index.v, n))
        return false;
    for (size_t i = 0; i < n; i++)
        p->launch[i] = launch_of(k, p->index.v[i], absolute(k->trace, k->e->ts_ns[p->index.v[i]]));
    return true;
}

static void fill_kernel(const linking *k, uint32_t at, uint32_t launch_at, tl_kernel *kernel,
                        const tl_rule **rule_of_name, tl_comm_evidence *evidence)
{
    const tl_events *e = k->e;
    const tl_copy_args *copy = tl_events_copy(e, at);
    const tl_grid_args *grid = tl_events_grid(e, at);

    kernel->start_ns = absolute(k->trace, e->ts_ns[at]);
    kernel->end_ns = kernel->start_ns + e->dur_ns[at];
    kernel->correlation = e->flags[at] & TL_EVENT_HAS_CORR ? e->corr[at] : -1;
    kernel->bytes = copy != NULL ? copy->bytes : -1;
    kernel->blocks = grid != NULL ? grid->blocks : 0;
    kernel->name = e->name[at];
    kernel->uid = e->uid[at];
    tl_event_place(e, at, &kernel->device, &kernel->stream);
    kernel->launch = launch_at;
    kernel->launch_ns = TL_TIME_UNKNOWN;
    if (kernel->launch != TL_NONE) {
        tl_launch *launch = &k->out->launches[kernel->launch];
        kernel->launch_ns = launch->start_ns;
        launch->nkernels++;
    }
    kernel->step = tl_step_at(k->out->steps, k->out->view.nsteps,
                              kernel->launch != TL_NONE ? kernel->launch_ns : kernel->start_ns);
    classify(k, at, kernel, rule_of_name, evidence);
}

static bool collect_kernels(linking *k, const picked *where)
{
    tl_kernel *v = tl_calloc(where->index.n + 1, sizeof *v);
    const tl_rule **rule_of_name = tl_calloc(k->e->names.n + 1, sizeof *rule_of_name);
    tl_comm_evidence evidence = { .trace = k->trace, .base_ns = absolute(k->trace, 0) };
    bool whole = v != NULL && rule_of_name != NULL;

    k->out->kernels = v;
    for (size_t i = 0; whole && i < where->index.n; i++)
        fill_kernel(k, where->index.v[i], where->launch[i], &v[i], rule_of_name, &evidence);
    free(rule_of_name);
    whole = whole && !evidence.no_memory;
    k->out->view.kernels = v;
    k->out->view.nkernels = whole ? where->index.n : 0;
    whole = whole && tl_colls_collect(&evidence, where->index.v, k->out);
    tl_comm_evidence_free(&evidence);
    return whole;
}

/* ------------------------------------------------------------------------------------------------ recorded waits */

static bool collect_syncs(linking *k, const picked *where)
{
    const tl_events *e = k->e;
    tl_sync *v = tl_calloc(where->index.n + 1, sizeof *v);

    k->out->syncs = v;
    for (size_t i = 0; v != NULL && i < where->index.n; i++) {
        uint32_t at = where->index.v[i], call = where->launch[i];
        tl_sync *sync = &v[i];
        sync->start_ns = absolute(k->trace, e->ts_ns[at]);
        sync->end_ns = sync->start_ns + e->dur_ns[at];
        sync->correlation = e->flags[at] & TL_EVENT_HAS_CORR ? e->corr[at] : -1;
        sync->name = e->name[at];
        sync->uid = e->uid[at];
        tl_event_place(e, at, &sync->device, &sync->stream);
        const tl_wait_args *wait = tl_events_wait(e, at);
        sync->wait_on_stream = wait != NULL ? tl_small_int(wait->wait_on_stream) : -1;
        sync->call_ns = call != TL_NONE ? k->out->launches[call].start_ns : TL_TIME_UNKNOWN;
        sync->step = tl_step_at(k->out->steps, k->out->view.nsteps, call != TL_NONE ? sync->call_ns : sync->start_ns);
    }
    k->out->view.syncs = v;
    k->out->view.nsyncs = v != NULL ? where->index.n : 0;
    return v != NULL;
}

tl_status tl_link(const tl_trace *trace, const tl_rules *rules, int32_t rank, tl_linked *out, tl_error *err)
{
    linking k = { .trace = trace, .e = &trace->events, .rules = rules, .out = out };

    *out = (tl_linked){ .view = { .rank = rank, .names = &trace->events.names } };
    bool whole = tl_steps_collect(trace, absolute(trace, 0), &out->steps, &out->view.nsteps) && pick_work(&k) &&
                 collect_launches(&k) && place(&k, &k.work) && place(&k, &k.waits);
    out->view.steps = out->steps;
    tl_map_free(&k.calls);              /* a large trace wants the room for its kernels */
    free(k.later.v);
    whole = whole && collect_kernels(&k, &k.work) && collect_syncs(&k, &k.waits);
    picked_free(&k.work);
    picked_free(&k.waits);
    return whole ? TL_OK : tl_fail_memory(err, "the view of a rank");
}

void tl_linked_free(tl_linked *linked)
{
    tl_linked_free_host(linked);
    free(linked->kernels);
    free(linked->syncs);
    free(linked->launches);
    free(linked->steps);
    free(linked->colls);
    tl_groups_free(linked->groups, linked->view.ngroups);
    *linked = (tl_linked){ 0 };
}
