/* activity.c - divides a rank's time into activities: at each instant the first layer of work that runs; idle time by
 * what the host did.
 *
 * Work comes in order of its start.  Up to the next start everything is known: work that has begun and not ended, then
 * idle time.
 */
#include "tlmpi/analysis/config.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

tl_activity_kind tl_activity_of_work(const tl_rank_view *view, const tl_kernel *k)
{
    if (k->kind == TL_COMPUTE)
        return TL_ACTIVITY_COMPUTE;
    if (k->kind == TL_COMM)
        return TL_ACTIVITY_COMM;
    if (k->kind != TL_MEMCPY || k->name == TL_NO_NAME)
        return TL_ACTIVITY_COPY;
    tl_text name = tl_names_text(view->names, k->name);
    bool to_device =
        tl_text_has(name, "HtoD") || tl_text_has(name, "HOST_TO_DEVICE") || tl_text_has(name, "HostToDevice");
    return to_device ? TL_ACTIVITY_H2D : TL_ACTIVITY_COPY;
}

/* -------------------------------------------------------------------------------------------------------- stretches */

/* Writes entry n of both columns. */
static void write_entry(tl_activity *a, int64_t start_ns, tl_activity_kind kind)
{
    size_t cap = a->cap, same = a->cap;
    if (a->n == cap) {
        tl_grow((void **)&a->start_ns, &cap, a->n + 1, sizeof *a->start_ns);
        tl_grow((void **)&a->kind, &same, cap, sizeof *a->kind);
        a->cap = cap;
    }
    a->start_ns[a->n] = start_ns;
    a->kind[a->n] = (uint8_t)kind;
}

static void append_stretch(tl_activity *a, int64_t start_ns, tl_activity_kind kind)
{
    if (a->n > 0 && a->kind[a->n - 1] == kind)
        return;
    write_entry(a, start_ns, kind);
    a->n++;
}

/* The layers of work: each hides the layers after it; comm is the last layer. */
enum { WORK_LAYERS = TL_ACTIVITY_COMM + 1 };

typedef struct finding {
    tl_activity *out;
    const tl_rank_view *view;
    const tl_host_spans *spans;
    size_t at[TL_HOST_SPANS];     /* by kind: the first span that ends after the current instant */
    bool drained;                 /* a wait has emptied the queue, and launches are not ahead again */
    int64_t now;                  /* time before `now` is appended */
    int64_t busy_to[WORK_LAYERS]; /* by layer: the last end of its work that has begun */
} finding;

/* Appends work until to_ns, before which no other work begins, or until no work is left. */
static void append_work(finding *f, int64_t to_ns)
{
    for (int layer = 0; layer < WORK_LAYERS && f->now < to_ns;) {
        if (f->busy_to[layer] <= f->now) {
            layer++;
            continue;
        }
        append_stretch(f->out, f->now, (tl_activity_kind)layer);
        f->now = tl_ns_min(f->busy_to[layer], to_ns);
    }
}

/* Ends the stretches, and fills the sums by block. */
static void end_stretches(tl_activity *a, int64_t end_ns)
{
    tl_activity_ns sum = { { 0 } };

    write_entry(a, end_ns, TL_NACTIVITIES);
    free(a->sums);
    a->sums = tl_malloc((a->n / TL_ACTIVITY_BLOCK + 1) * sizeof *a->sums);
    for (size_t i = 0; i <= a->n; i++) {
        if (i % TL_ACTIVITY_BLOCK == 0)
            a->sums[i / TL_ACTIVITY_BLOCK] = sum;
        if (i < a->n)
            sum.ns[a->kind[i]] = tl_ns_sum(sum.ns[a->kind[i]], tl_ns_between(a->start_ns[i + 1], a->start_ns[i]));
    }
}

/* -------------------------------------------------------------------------------------------------------- idle time */

/* Returns the first span of kind p that ends after t_ns; NULL: there is none. */
static const tl_span *first_ending_after(finding *f, int p, int64_t t_ns)
{
    while (f->at[p] < f->spans->of[p].n && f->spans->of[p].v[f->at[p]].end_ns <= t_ns)
        f->at[p]++;
    return f->at[p] < f->spans->of[p].n ? &f->spans->of[p].v[f->at[p]] : NULL;
}

/* Appends the parts of a gap whose work was launched late: at each instant the first kind of span that contains it,
 * else `rest`. */
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
        append_stretch(f->out, from_ns, activity);
    }
}

/* Returns the end of the last wait that began before the gap and ends in it (or at most the usual sync_ns before);
 * INT64_MIN: none. */
static int64_t wait_end_in_gap(finding *f, int64_t lo)
{
    int64_t end = INT64_MIN;
    const int p = TL_HOST_SPANS - 1;
    first_ending_after(f, p, lo - tl_config_default.idle.sync_ns - 1);
    for (size_t i = f->at[p]; i < f->spans->of[p].n && f->spans->of[p].v[i].start_ns < lo; i++)
        end = f->spans->of[p].v[i].end_ns;
    return end;
}

/* Whether the work that ends a gap was launched before the device ran dry.  A launch that queues one piece of work and
 * is still running then is late: its work can hardly begin before the call ends. */
static bool is_launched_in_time(const finding *f, int64_t lo, const tl_kernel *next)
{
    if (next->launch_ns == TL_TIME_UNKNOWN)
        return true;
    if (next->launch_ns >= lo - tl_config_default.idle.launch_ns)
        return false;
    const tl_launch *launch = next->launch != TL_NONE ? &f->view->launches[next->launch] : NULL;
    return launch == NULL || launch->nkernels > 1 || launch->end_ns <= lo;
}

static void divide_gap(finding *f, int64_t lo, int64_t hi, const tl_kernel *next)
{
    if (tl_is_seam(f->view, lo, hi) || is_launched_in_time(f, lo, next)) {
        f->drained = f->drained && next->launch_ns == TL_TIME_UNKNOWN;
        append_stretch(f->out, lo, TL_ACTIVITY_DEVICE);
        return;
    }
    int64_t wait_end = wait_end_in_gap(f, lo);
    f->drained = f->drained || wait_end != INT64_MIN;
    bool restart = f->drained && hi - tl_ns_max(wait_end, lo) <= 2 * TL_WAKE_SPREAD_NS;
    divide_by_activity(f, lo, hi, restart ? TL_ACTIVITY_SYNC : TL_ACTIVITY_HOST);
}

void tl_activity_find(tl_activity *activity, const tl_rank_view *view, const tl_host_spans *spans)
{
    const tl_kernel *kernels = view->kernels;

    activity->n = 0;
    if (view->nkernels == 0)
        return;
    uint32_t *order = tl_sorted_index(view->nkernels, tl_kernel_by_start_uid, kernels);
    int64_t first_ns = kernels[order[0]].start_ns, end_ns = first_ns; /* end_ns: last end of work that has begun */
    finding f = { .out = activity, .view = view, .spans = spans, .now = first_ns };
    for (int layer = 0; layer < WORK_LAYERS; layer++)
        f.busy_to[layer] = first_ns;
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &kernels[order[i]];
        int64_t *busy_to = &f.busy_to[tl_activity_of_work(view, k)];
        append_work(&f, k->start_ns);
        if (f.now < k->start_ns)
            divide_gap(&f, f.now, k->start_ns, k);
        else if (k->launch_ns != TL_TIME_UNKNOWN && k->launch_ns < end_ns - tl_config_default.idle.launch_ns)
            f.drained = false; /* launched ahead of the device again */
        f.now = k->start_ns;
        *busy_to = tl_ns_max(*busy_to, k->end_ns);
        end_ns = tl_ns_max(end_ns, k->end_ns);
    }
    append_work(&f, end_ns);
    end_stretches(activity, end_ns);
    free(order);
}

/* ------------------------------------------------------------------------------------------------------------- sums */

void tl_activity_free(tl_activity *activity)
{
    free(activity->start_ns);
    free(activity->kind);
    free(activity->sums);
    *activity = (tl_activity){ 0 };
}

/* Adds the parts of stretches [i, end) that lie in [from_ns, to_ns). */
static void add_stretches(const tl_activity *a, size_t i, size_t end, int64_t from_ns, int64_t to_ns,
                          tl_activity_ns *sum)
{
    for (; i < end && a->start_ns[i] < to_ns; i++) {
        int64_t start = tl_ns_max(a->start_ns[i], from_ns), stop = tl_ns_min(a->start_ns[i + 1], to_ns);
        if (stop > start)
            sum->ns[a->kind[i]] += stop - start;
    }
}

/* Adds the rest of the first block, the sums of whole blocks, and the beginning of the last block. */
void tl_activity_add(const tl_activity *a, int64_t from_ns, int64_t to_ns, tl_activity_ns *sum)
{
    size_t at = 0;
    TL_BISECT(at, a->n, mid, a->start_ns[mid + 1] <= from_ns);
    size_t first = at / TL_ACTIVITY_BLOCK + 1, next = first * TL_ACTIVITY_BLOCK, after = first + 1;
    add_stretches(a, at, next < a->n ? next : a->n, from_ns, to_ns, sum);
    if (next >= a->n || a->start_ns[next] >= to_ns)
        return;
    TL_BISECT(after, a->n / TL_ACTIVITY_BLOCK + 1, mid, a->start_ns[mid * TL_ACTIVITY_BLOCK] <= to_ns);
    for (int kind = 0; kind < TL_NACTIVITIES; kind++)
        sum->ns[kind] += a->sums[after - 1].ns[kind] - a->sums[first].ns[kind];
    add_stretches(a, (after - 1) * TL_ACTIVITY_BLOCK, a->n, from_ns, to_ns, sum);
}
