/* work_between_collectives.c - a rank's time, by activity, since its previous collective of the same group, and since
 * its step began.
 *
 *     compute    [=a=][=b=][=c=][=d=]            collective 1 waits for a, 2 for b, 3 for d; they run on one stream
 *     comm            [ 1       ][ 2 ][ 3 ]
 *     ready          ^1   ^2        ^3           2 could have begun at the end of b, had 1 been over
 *
 * Times count from ready to ready: in between every rank runs the same kernels, even a rank that waits in 1 and is far
 * ahead in its work when 1 ends.  The rank's wait in 1 is no part of the time up to 2.
 */
#include "tlmpi/analysis/local.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"

/* A collective that starts within this time after the one before it on its stream was held up by that one. */
static const int64_t held_ns = 30000;

typedef struct comparing {
    const tl_rank_view *view;
    const tl_activity *activity;
    tl_participant *participants;
    size_t n;
    int64_t begin_ns; /* start of the rank's first work or first step, whichever is earlier */
    int64_t *begins;  /* by window of the recording: the same of the window */
    tl_arena arena;
    uint32_t *order; /* participants by start */
    int64_t *ready;
    uint32_t *previous; /* index of the previous participant in the group; TL_NONE (equal to TL_MAP_NONE): none */
    tl_span *stretches;
    int64_t *done;      /* by participant: last end of compute launched before it; INT64_MIN: none */
    int64_t *step_done; /* by step of the view: tl_steps_done (time.h) */
    size_t window;      /* index of the step that was found last */
} comparing;

static int by_start(const void *participants, uint32_t a, uint32_t b)
{
    const tl_participant *p = participants;
    return TL_ORDER(&p[a], &p[b], start_ns, uid);
}

static int by_launch(const void *kernels, uint32_t a, uint32_t b)
{
    const tl_kernel *k = kernels;
    return TL_COMPARE(k[a].launch_ns, k[b].launch_ns);
}

static int by_own_launch(const void *participants, uint32_t a, uint32_t b)
{
    const tl_participant *p = participants;
    return TL_COMPARE(p[a].launch_ns, p[b].launch_ns);
}

/* ----------------------------------------------------------------------------------------------------------- ready */

/* Sets done, merging compute and participants in order of launch. */
static void set_compute_ends(comparing *c)
{
    const tl_kernel *kernels = c->view->kernels;
    uint32_t *work = tl_malloc((c->view->nkernels + 1) * sizeof *work),
             *participants = tl_sorted_index(c->n, by_own_launch, c->participants);
    size_t nwork = 0, next = 0;
    int64_t done = INT64_MIN;

    for (uint32_t i = 0; i < c->view->nkernels; i++)
        if (kernels[i].kind == TL_COMPUTE && kernels[i].launch_ns != TL_TIME_UNKNOWN)
            work[nwork++] = i;
    tl_sort_index(work, nwork, by_launch, kernels);
    for (size_t i = 0; i < c->n; i++) {
        int64_t launch = c->participants[participants[i]].launch_ns;
        for (; next < nwork && kernels[work[next]].launch_ns < launch; next++)
            done = tl_ns_max(done, kernels[work[next]].end_ns);
        c->done[participants[i]] = done;
    }
    free(work);
    free(participants);
}

/* Sets ready: when the participant could have started on a free stream. */
static void set_ready(comparing *c)
{
    tl_map last = { 0 };
    for (size_t i = 0; i < c->n; i++) {
        uint32_t at = c->order[i];
        const tl_participant *p = &c->participants[at];
        uint64_t stream = (uint64_t)(uint32_t)p->device << 32 | (uint32_t)p->stream;
        uint32_t before = tl_map_get(&last, stream);
        c->ready[at] = p->start_ns;
        if (before != TL_MAP_NONE && p->launch_ns != TL_TIME_UNKNOWN &&
            p->start_ns - c->participants[before].end_ns <= held_ns)
            c->ready[at] = tl_ns_min(tl_ns_max(c->done[at], p->launch_ns), p->start_ns);
        tl_map_put(&last, stream, at);
    }
    tl_map_free(&last);
}

/* ----------------------------------------------------------------------------------------------------------- parts */

/* Whether a window of the recording begins between two participants. */
static bool is_seam(const comparing *c, uint32_t a, uint32_t b)
{
    return tl_is_seam(c->view, c->participants[a].start_ns, c->participants[b].start_ns);
}

/* Returns the time from which the participant's window is measured, ns. */
static int64_t begin_of(const comparing *c, uint32_t participant)
{
    size_t window = tl_window_at(c->view, c->participants[participant].start_ns);
    return window == 0 ? c->begin_ns : c->begins[window];
}

static void set_previous(comparing *c)
{
    tl_map last = { 0 };
    for (size_t i = 0; i < c->n; i++) {
        uint32_t at = c->order[i];
        uint32_t previous = tl_map_get(&last, (uint64_t)(uint32_t)c->participants[at].group);
        if (previous != TL_NONE && is_seam(c, previous, at))
            previous = TL_NONE;
        c->previous[at] = previous;
        c->participants[at].previous = previous == TL_NONE ? TL_NONE : c->participants[previous].uid;
        tl_map_put(&last, (uint64_t)(uint32_t)c->participants[at].group, at);
    }
    tl_map_free(&last);
}

/* Sums the activities in each participant's stretch into `work_since_step` or `work_between_collectives`. */
static void sum_activities(comparing *c, bool of_step)
{
    int64_t first = c->activity->n > 0 ? c->activity->start_ns[0] : INT64_MAX;

    for (size_t i = 0; i < c->n; i++) {
        const tl_span *s = &c->stretches[i];
        tl_participant *p = &c->participants[i];
        tl_activity_ns *sum = of_step ? &p->work_since_step : &p->work_between_collectives;
        *sum = (tl_activity_ns){ { 0 } };
        tl_activity_add(c->activity, s->start_ns, s->end_ns, sum);
        /* Time before the first device work is the host's. */
        if (s->start_ns < first && s->start_ns < s->end_ns)
            sum->ns[TL_ACTIVITY_HOST] += tl_ns_min(first, s->end_ns) - s->start_ns;
    }
}

/* Sets work_between_collectives: from the previous participant of the group, less the time spent in that one. */
static void measure_by_group(comparing *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->stretches[i] =
            (tl_span){ c->previous[i] != TL_NONE ? c->ready[c->previous[i]] : begin_of(c, (uint32_t)i), c->ready[i] };
    sum_activities(c, false);
    for (size_t i = 0; i < c->n; i++) {
        uint32_t at = c->order[i];
        if (c->previous[at] == TL_NONE)
            continue;
        const tl_participant *previous = &c->participants[c->previous[at]];
        tl_activity_ns inside = { { 0 } };
        tl_activity_add(c->activity, previous->start_ns, tl_ns_min(previous->end_ns, c->ready[at]), &inside);
        c->participants[at].work_between_collectives.ns[TL_ACTIVITY_COMM] -= inside.ns[TL_ACTIVITY_COMM];
    }
}

/* ---------------------------------------------------------------------------------------------- after a step's last */

/* Returns step_done of the step; TL_TIME_UNKNOWN: the step is not in the view. */
static int64_t step_end(comparing *c, int32_t step)
{
    size_t s = tl_step_window_of(c->view, c->window > 0 ? c->window - 1 : 0, step);
    if (s == c->view->nsteps)
        return TL_TIME_UNKNOWN;
    c->window = s;
    return c->step_done[s];
}

/* Returns the time without communication from from_ns to the earlier of done_ns and to_ns, ns. */
static int64_t work_until(const comparing *c, int64_t from_ns, int64_t done_ns, int64_t to_ns)
{
    tl_activity_ns sum = { { 0 } };
    int64_t ns = 0;

    if (done_ns <= from_ns)
        return 0;
    tl_activity_add(c->activity, from_ns, tl_ns_min(done_ns, to_ns), &sum);
    for (int kind = 0; kind < TL_NACTIVITIES; kind++)
        ns += kind == TL_ACTIVITY_COMM ? 0 : sum.ns[kind];
    return ns;
}

/* Sets after_last_ns, after_last_step_ns and done_ns; before: the last participant of the previous step, TL_NONE:
 * none. */
static void set_after_last(comparing *c, uint32_t at, uint32_t before)
{
    tl_participant *p = &c->participants[at];
    uint32_t previous = c->previous[at];

    p->after_last_ns = p->after_last_step_ns = 0;
    p->done_ns = step_end(c, p->step);
    if (p->step < 1)
        return;
    int64_t done_ns = step_end(c, p->step - 1);
    if (previous != TL_NONE && c->participants[previous].step == p->step - 1)
        p->after_last_ns = work_until(c, c->ready[previous], done_ns, c->ready[at]);
    if (before != TL_NONE && c->participants[before].step == p->step - 1)
        p->after_last_step_ns = work_until(c, c->ready[before], done_ns, c->ready[at]);
}

/* Sets work_since_step: from the last participant of the previous step. */
static void measure_by_step(comparing *c)
{
    uint32_t before = TL_NONE; /* the last participant of the previous step */
    for (size_t i = 0; i < c->n; i++) {
        uint32_t at = c->order[i];
        if (i > 0 && c->participants[at].step != c->participants[c->order[i - 1]].step)
            before = is_seam(c, c->order[i - 1], at) ? TL_NONE : c->order[i - 1];
        c->stretches[at] = (tl_span){ before != TL_NONE ? c->ready[before] : begin_of(c, at), c->ready[at] };
        set_after_last(c, at, before);
    }
    sum_activities(c, true);
}

static void set_window_begins(comparing *c)
{
    const tl_rank_view *view = c->view;
    c->begins = tl_arena_take(&c->arena, view->nwindows, sizeof *c->begins);
    for (size_t w = 0; w < view->nwindows; w++)
        c->begins[w] = INT64_MAX;
    for (size_t i = 0; view->nwindows > 1 && i < view->nkernels + view->nsteps; i++) {
        int64_t ns = i < view->nkernels ? view->kernels[i].start_ns : view->steps[i - view->nkernels].start_ns;
        size_t w = tl_window_at(view, ns);
        c->begins[w] = tl_ns_min(c->begins[w], ns);
    }
}

void tl_work_between_collectives(const tl_rank_view *view, const tl_activity *activity, tl_participant *participants,
                                 size_t n)
{
    comparing c = { .view = view, .activity = activity, .participants = participants, .n = n };
    c.begin_ns = activity->n > 0 ? activity->start_ns[0] : INT64_MAX;
    if (view->nsteps > 0)
        c.begin_ns = tl_ns_min(c.begin_ns, view->steps[0].start_ns);
    c.order = tl_sorted_index(n, by_start, participants);
    c.ready = tl_arena_take(&c.arena, n, sizeof *c.ready);
    c.previous = tl_arena_take(&c.arena, n, sizeof *c.previous);
    c.stretches = tl_arena_take(&c.arena, n, sizeof *c.stretches);
    c.done = tl_arena_take(&c.arena, n, sizeof *c.done);
    c.step_done = tl_arena_take(&c.arena, view->nsteps, sizeof *c.step_done);
    set_window_begins(&c);
    set_compute_ends(&c);
    set_ready(&c);
    set_previous(&c);
    measure_by_group(&c);
    tl_steps_done(view, c.step_done);
    measure_by_step(&c);
    free(c.order);
    tl_arena_free(&c.arena);
}
