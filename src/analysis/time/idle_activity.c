/* idle_activity.c - gaps of the device, cut by spans of the host. */
#include "tlmpi/analysis/time.h"
#include "sweep.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/call.h"
#include <stdlib.h>

/* A launch this long before a gap was in time. */
static const int64_t in_time_ns = 8000;
/* A wait may end this long before the gap that it causes. */
static const int64_t sync_slack_ns = 2000;
/* What a host needs at most to launch again after a wait. */
static const int64_t restart_ns = 100000;

/* The activities that host spans stand for, the strongest first. */
static const tl_activity_kind named[] = { TL_ACTIVITY_GC, TL_ACTIVITY_INPUT, TL_ACTIVITY_ALLOCATOR, TL_ACTIVITY_SYNC };
enum { NNAMED = sizeof named / sizeof named[0] };

typedef struct finding {
    const tl_rank_view *view;
    TL_VEC(tl_idle_span) found; /* in the gap at hand */
    tl_spans spans[NNAMED];     /* of threads that launch */
    size_t at[NNAMED];          /* the first span that a gap from here on may meet */
    bool drained;               /* a wait has emptied the queue, and launches are not ahead again */
} finding;

/* ----------------------------------------------------------------------------------------------------------- names */

static bool has_any(tl_text name, const char *const *words)
{
    for (; *words != NULL; words++)
        if (tl_text_has(name, *words))
            return true;
    return false;
}

tl_activity_kind tl_idle_activity_of_call(tl_text name)
{
    tl_does does = (tl_does)tl_call_rule_of(name)->does;
    if (does == TL_DOES_WAIT)
        return TL_ACTIVITY_SYNC;
    return does == TL_DOES_ALLOCATE || does == TL_DOES_FREE ? TL_ACTIVITY_ALLOCATOR : TL_ACTIVITY_HOST;
}

tl_activity_kind tl_idle_activity_of_op(tl_text name)
{
    static const char *const garbage[] = {
        "gc.collect",      "gc_collect", "method collect", "function collect", "garbage collect",
        "Garbage collect", "GC pause",   "Python GC",      "python_gc",        NULL
    };
    static const char *const input[] = { "DataLoader", "dataloader", "data_loader", "next_batch",
                                         "get_batch",  "load_batch", "_next_data",  NULL };
    if (has_any(name, garbage) || tl_text_is(name, "gc"))
        return TL_ACTIVITY_GC;
    return has_any(name, input) ? TL_ACTIVITY_INPUT : TL_ACTIVITY_HOST;
}

/* ----------------------------------------------------------------------------------------------------------- spans */

/* Adds the spans of one thread whose names stand for something to `found`, which is grown by activity. */
typedef struct spans_found {
    TL_VEC(tl_span) of[NNAMED];
} spans_found;

static bool note(spans_found *found, tl_activity_kind activity, int64_t start_ns, int64_t dur_ns)
{
    for (int i = 0; activity != TL_ACTIVITY_HOST && i < NNAMED; i++) {
        if (named[i] != activity)
            continue;
        if (!tl_vec_room(&found->of[i]))
            return false;
        found->of[i].v[found->of[i].n++] = (tl_span){ start_ns, start_ns + dur_ns };
    }
    return true;
}

/* Threads that launch: a map of their numbers. */
static bool launching(const tl_rank_view *view, tl_map *threads)
{
    for (size_t i = 0; i < view->nlaunches; i++)
        if (view->launches[i].nkernels > 0 && tl_map_put(threads, view->launches[i].track, 1) != 0)
            return false;
    return true;
}

static bool collect_spans(finding *f)
{
    const tl_rank_view *view = f->view;
    uint8_t *of_call = tl_malloc(view->names->n + 1), *of_op = tl_malloc(view->names->n + 1);
    spans_found found = { 0 };
    tl_map threads = { 0 };
    bool ok = of_call != NULL && of_op != NULL && launching(view, &threads);

    for (size_t i = 0; ok && i < view->names->n; i++) {
        tl_text name = tl_names_text(view->names, (uint32_t)i);
        of_call[i] = (uint8_t)tl_idle_activity_of_call(name);
        of_op[i] = (uint8_t)tl_idle_activity_of_op(name);
    }
    for (size_t t = 0; t < view->calls.nthreads; t++) {
        const tl_thread *thread = &view->calls.threads[t];
        if (!ok || tl_map_get(&threads, thread->track) == TL_MAP_NONE)
            continue;
        for (size_t i = thread->first; ok && i < thread->first + thread->n; i++)
            if (view->calls.name[i] != TL_NO_NAME)
                ok = note(&found, of_call[view->calls.name[i]], view->calls.start_ns[i], view->calls.dur_ns[i]);
    }
    for (size_t t = 0; t < view->ops.nthreads; t++) {
        const tl_thread *thread = &view->ops.threads[t];
        if (!ok || tl_map_get(&threads, thread->track) == TL_MAP_NONE)
            continue;
        for (size_t i = thread->first; ok && i < thread->first + thread->n; i++)
            if (view->ops.name[i] != TL_NO_NAME)
                ok = note(&found, of_op[view->ops.name[i]], view->ops.start_ns[i], view->ops.dur_ns[i]);
    }
    for (int p = 0; p < NNAMED; p++) {
        ok = ok && tl_spans_add_all(&f->spans[p], found.of[p].v, found.of[p].n);
        free(found.of[p].v);
    }
    tl_map_free(&threads);
    free(of_call);
    free(of_op);
    return ok;
}

/* ------------------------------------------------------------------------------------------------------------ gaps */

static bool append(finding *f, int64_t start_ns, int64_t end_ns, tl_activity_kind activity)
{
    if (start_ns >= end_ns)
        return true;
    if (!tl_vec_room(&f->found))
        return false;
    f->found.v[f->found.n++] = (tl_idle_span){ start_ns, end_ns, activity };
    return true;
}

/* The first span of a named activity that ends after t; NULL where there is none. */
static const tl_span *meets(finding *f, int p, int64_t t_ns)
{
    while (f->at[p] < f->spans[p].n && f->spans[p].v[f->at[p]].end_ns <= t_ns)
        f->at[p]++;
    return f->at[p] < f->spans[p].n ? &f->spans[p].v[f->at[p]] : NULL;
}

/* A gap whose work was launched late: instant by instant the strongest name that holds; `rest` where none does. */
static bool cut(finding *f, int64_t from_ns, int64_t to_ns, tl_activity_kind rest)
{
    while (from_ns < to_ns) {
        int64_t until = to_ns;
        tl_activity_kind activity = rest;
        for (int p = 0; p < NNAMED; p++) {
            const tl_span *span = meets(f, p, from_ns);
            if (span == NULL || span->start_ns >= until)
                continue;
            if (span->start_ns <= from_ns) {
                activity = named[p];
                until = span->end_ns < until ? span->end_ns : until;
                break;
            }
            until = span->start_ns;
        }
        if (!append(f, from_ns, until, activity))
            return false;
        from_ns = until;
    }
    return true;
}

/* The end of a wait that had begun before the gap and lasts to it or into it; INT64_MIN where there is none. */
static int64_t wait_into(finding *f, int64_t lo)
{
    int64_t end = INT64_MIN;
    const int p = NNAMED - 1;
    meets(f, p, lo - sync_slack_ns - 1);
    for (size_t i = f->at[p]; i < f->spans[p].n && f->spans[p].v[i].start_ns < lo; i++)
        end = f->spans[p].v[i].end_ns;
    return end;
}

/* Launched before the device ran dry.  Work of a launch of its own hardly begins before the call has ended: one that is
 * under way then is late. */
static bool in_time(const finding *f, int64_t lo, const tl_kernel *next)
{
    if (next->launch_ns == TL_TIME_UNKNOWN)
        return true;
    if (next->launch_ns >= lo - in_time_ns)
        return false;
    const tl_launch *launch = next->launch != TL_NONE ? &f->view->launches[next->launch] : NULL;
    return launch == NULL || launch->nkernels > 1 || launch->end_ns <= lo;
}

static bool gap(finding *f, int64_t lo, int64_t hi, const tl_kernel *next)
{
    if (in_time(f, lo, next)) {
        f->drained = f->drained && next->launch_ns == TL_TIME_UNKNOWN;
        return append(f, lo, hi, TL_ACTIVITY_DEVICE);
    }
    int64_t wait_end = wait_into(f, lo);
    if (wait_end != INT64_MIN)
        f->drained = true;
    int64_t idle_from = wait_end > lo ? wait_end : lo;
    bool restart = f->drained && hi - idle_from <= restart_ns;
    return cut(f, lo, hi, restart ? TL_ACTIVITY_SYNC : TL_ACTIVITY_HOST);
}

/* The idle time before each piece of work, cut, to the sweep. */
static bool sweep_work(finding *f, const uint32_t *order, tl_activity *activity)
{
    const tl_kernel *kernels = f->view->kernels;
    tl_sweep s = tl_sweep_begin(activity, f->view, kernels[order[0]].start_ns);
    int64_t busy_to = s.now;
    bool ok = true;

    for (size_t i = 0; ok && i < f->view->nkernels; i++) {
        const tl_kernel *k = &kernels[order[i]];
        f->found.n = 0;
        if (k->start_ns > busy_to)
            ok = gap(f, busy_to, k->start_ns, k);
        else if (i > 0 && k->launch_ns != TL_TIME_UNKNOWN && k->launch_ns < busy_to - in_time_ns)
            f->drained = false; /* launched ahead of the device again */
        busy_to = tl_ns_max(busy_to, k->end_ns);
        s.idle = f->found.v;
        s.nidle = f->found.n;
        s.next_idle = 0;
        ok = ok && tl_sweep_work(&s, k);
    }
    return ok && tl_sweep_end(&s);
}

bool tl_activity_find(tl_activity *activity, const tl_rank_view *view)
{
    finding f = { .view = view };
    uint32_t *order = tl_malloc((view->nkernels + 1) * sizeof *order);
    bool ok = order != NULL && collect_spans(&f);

    activity->n = 0;
    for (size_t i = 0; ok && i < view->nkernels; i++)
        order[i] = (uint32_t)i;
    ok = ok && tl_sort_index(order, view->nkernels, tl_kernel_by_start_uid, view->kernels) &&
         (view->nkernels == 0 || sweep_work(&f, order, activity));
    for (int p = 0; p < NNAMED; p++)
        tl_spans_free(&f.spans[p]);
    free(f.found.v);
    free(order);
    if (!ok)
        activity->n = 0;
    return ok;
}
