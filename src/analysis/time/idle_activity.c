/* idle_activity.c - gaps of the device, cut by spans of the host. */
#include "sweep.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"

/* A launch this long before a gap was in time. */
static const int64_t in_time_ns = 8000;
/* A wait may end this long before the gap that it causes. */
static const int64_t sync_slack_ns = 2000;
/* What a host needs at most to launch again after a wait. */
static const int64_t restart_ns = 100000;

typedef struct finding {
    const tl_rank_view *view;
    TL_VEC(tl_idle_span) found; /* in the gap at hand */
    const tl_host_spans *spans;
    size_t at[TL_HOST_SPANS]; /* the first span that a gap from here on may meet */
    bool drained;             /* a wait has emptied the queue, and launches are not ahead again */
} finding;

/* The first span of a named activity that ends after t; NULL where there is none. */
static const tl_span *first_ending_after(finding *f, int p, int64_t t_ns)
{
    while (f->at[p] < f->spans->of[p].n && f->spans->of[p].v[f->at[p]].end_ns <= t_ns)
        f->at[p]++;
    return f->at[p] < f->spans->of[p].n ? &f->spans->of[p].v[f->at[p]] : NULL;
}

/* A gap whose work was launched late: instant by instant the strongest name that holds; `rest` where none does. */
static void divide_by_activity(finding *f, int64_t from_ns, int64_t to_ns, tl_activity_kind rest)
{
    for (int64_t until; from_ns < to_ns; from_ns = until) {
        tl_activity_kind activity = rest;
        until = to_ns;
        for (int p = 0; p < TL_HOST_SPANS; p++) {
            const tl_span *span = first_ending_after(f, p, from_ns);
            bool holds = span != NULL && span->start_ns <= from_ns;
            activity = holds ? tl_host_span_kinds[p] : activity;
            if (span != NULL)
                until = tl_ns_min(until, holds ? span->end_ns : span->start_ns);
            if (holds)
                break;
        }
        tl_vec_push(&f->found, (tl_idle_span){ from_ns, until, activity });
    }
}

/* The end of a wait that had begun before the gap and lasts to it or into it; INT64_MIN where there is none. */
static int64_t wait_end_in_gap(finding *f, int64_t lo)
{
    int64_t end = INT64_MIN;
    const int p = TL_HOST_SPANS - 1;
    first_ending_after(f, p, lo - sync_slack_ns - 1);
    for (size_t i = f->at[p]; i < f->spans->of[p].n && f->spans->of[p].v[i].start_ns < lo; i++)
        end = f->spans->of[p].v[i].end_ns;
    return end;
}

/* Launched before the device ran dry.  Work of a launch of its own hardly begins before the call has ended: one that is
 * under way then is late. */
static bool is_launched_in_time(const finding *f, int64_t lo, const tl_kernel *next)
{
    if (next->launch_ns == TL_TIME_UNKNOWN)
        return true;
    if (next->launch_ns >= lo - in_time_ns)
        return false;
    const tl_launch *launch = next->launch != TL_NONE ? &f->view->launches[next->launch] : NULL;
    return launch == NULL || launch->nkernels > 1 || launch->end_ns <= lo;
}

static void divide_gap(finding *f, int64_t lo, int64_t hi, const tl_kernel *next)
{
    if (tl_is_seam(f->view, lo, hi) || is_launched_in_time(f, lo, next)) {
        f->drained = f->drained && next->launch_ns == TL_TIME_UNKNOWN;
        tl_vec_push(&f->found, (tl_idle_span){ lo, hi, TL_ACTIVITY_DEVICE });
        return;
    }
    int64_t wait_end = wait_end_in_gap(f, lo);
    f->drained = f->drained || wait_end != INT64_MIN;
    bool restart = f->drained && hi - tl_ns_max(wait_end, lo) <= restart_ns;
    divide_by_activity(f, lo, hi, restart ? TL_ACTIVITY_SYNC : TL_ACTIVITY_HOST);
}

/* The idle time before each piece of work, cut, to the sweep. */
void tl_activity_find(tl_activity *activity, const tl_rank_view *view, const tl_host_spans *spans)
{
    finding f = { .view = view, .spans = spans };
    const tl_kernel *kernels = view->kernels;

    activity->n = 0;
    if (view->nkernels == 0)
        return;
    uint32_t *order = tl_sorted_index(view->nkernels, tl_kernel_by_start_uid, kernels);
    tl_sweep s = tl_sweep_begin(activity, view, kernels[order[0]].start_ns);
    int64_t busy_to = s.now;
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &kernels[order[i]];
        f.found.n = 0;
        if (k->start_ns > busy_to)
            divide_gap(&f, busy_to, k->start_ns, k);
        else if (i > 0 && k->launch_ns != TL_TIME_UNKNOWN && k->launch_ns < busy_to - in_time_ns)
            f.drained = false; /* launched ahead of the device again */
        busy_to = tl_ns_max(busy_to, k->end_ns);
        s.idle = f.found.v;
        s.nidle = f.found.n;
        s.next_idle = 0;
        tl_sweep_work(&s, k);
    }
    tl_sweep_end(&s);
    free(f.found.v);
    free(order);
}
