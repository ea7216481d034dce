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
#include "tlmpi/analysis/rank/work/local.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"

/* A collective that starts within this time after the one before it on its stream was held up by that one. */
static const int64_t held_ns = 30000;

/* What is known of a rank's participants that started earlier. */
typedef struct comparing {
    const tl_rank_view *view;
    const tl_activity *activity;
    const tl_participant *participants;
    int64_t *ready;     /* by participant */
    int64_t *begins;    /* by window of the recording: start of the rank's first work or first step, whichever is
                         * earlier */
    int64_t *step_done; /* by step of the view: tl_steps_done (time.h) */
    size_t window;      /* index of the step that was found last */
    size_t nwork;
    int64_t *launch_ns; /* [nwork] launches of compute, ascending */
    int64_t *done_ns;   /* [nwork] the last end of compute up to that launch */
} comparing;

TL_ORDER_BY(by_start, tl_participant, start_ns, uid)
TL_ORDER_BY(by_launch, tl_kernel, launch_ns)

static void list_compute(comparing *c, tl_arena *arena)
{
    const tl_kernel *kernels = c->view->kernels;
    uint32_t *work = tl_arena_take(arena, c->view->nkernels, sizeof *work);
    for (uint32_t i = 0; i < c->view->nkernels; i++)
        if (kernels[i].kind == TL_COMPUTE && kernels[i].launch_ns != TL_TIME_UNKNOWN)
            work[c->nwork++] = i;
    tl_sort_index(work, c->nwork, by_launch, kernels);
    c->launch_ns = tl_arena_take(arena, c->nwork, sizeof *c->launch_ns);
    c->done_ns = tl_arena_take(arena, c->nwork, sizeof *c->done_ns);
    for (size_t i = 0; i < c->nwork; i++) {
        c->launch_ns[i] = kernels[work[i]].launch_ns;
        c->done_ns[i] = tl_ns_max(i > 0 ? c->done_ns[i - 1] : INT64_MIN, kernels[work[i]].end_ns);
    }
}

static void list_begins(comparing *c, tl_arena *arena)
{
    const tl_rank_view *view = c->view;
    c->begins = tl_arena_take(arena, view->nwindows + 1, sizeof *c->begins);
    for (size_t w = 0; w <= view->nwindows; w++)
        c->begins[w] = INT64_MAX;
    for (size_t i = 0; view->nwindows > 1 && i < view->nkernels + view->nsteps; i++) {
        int64_t ns = i < view->nkernels ? view->kernels[i].start_ns : view->steps[i - view->nkernels].start_ns;
        size_t w = tl_window_at(view, ns);
        c->begins[w] = tl_ns_min(c->begins[w], ns);
    }
    c->begins[0] = tl_ns_min(c->activity->n > 0 ? c->activity->start_ns[0] : INT64_MAX,
                             view->nsteps > 0 ? view->steps[0].start_ns : INT64_MAX);
}

/* Returns when the participant could have started on a free stream.  before: the participant before it on its stream;
 * TL_NONE: none. */
static int64_t ready_of(const comparing *c, const tl_participant *p, uint32_t before)
{
    if (before == TL_NONE || p->launch_ns == TL_TIME_UNKNOWN || p->start_ns - c->participants[before].end_ns > held_ns)
        return p->start_ns;
    size_t n = 0; /* compute launched before it */
    TL_BISECT(n, c->nwork, mid, c->launch_ns[mid] < p->launch_ns);
    return tl_ns_min(tl_ns_max(n > 0 ? c->done_ns[n - 1] : INT64_MIN, p->launch_ns), p->start_ns);
}

/* Sums the activities from from_ns to to_ns.  Time before the first device work is the host's. */
static tl_activity_ns activities(const comparing *c, int64_t from_ns, int64_t to_ns)
{
    const int64_t first_ns = c->activity->n > 0 ? c->activity->start_ns[0] : INT64_MAX;
    tl_activity_ns sum = { { 0 } };
    tl_activity_add(c->activity, from_ns, to_ns, &sum);
    if (from_ns < first_ns && from_ns < to_ns)
        sum.ns[TL_ACTIVITY_HOST] += tl_ns_min(first_ns, to_ns) - from_ns;
    return sum;
}

/* Returns when the work of a step is done; TL_TIME_UNKNOWN: the step is not in the view. */
static int64_t step_end(comparing *c, int32_t step)
{
    size_t s = tl_step_window_of(c->view, c->window > 0 ? c->window - 1 : 0, step);
    if (s == c->view->nsteps)
        return TL_TIME_UNKNOWN;
    c->window = s;
    return c->step_done[s];
}

/* Returns the time without communication, ns, from when a participant of the step before was ready, until the work of
 * that step is done or the participant p is ready; 0 for a participant of another step, or none. */
static int64_t after_last(const comparing *c, uint32_t previous, const tl_participant *p, int64_t done_ns)
{
    if (previous == TL_NONE || c->participants[previous].step != p->step - 1 || done_ns <= c->ready[previous])
        return 0;
    tl_activity_ns sum = { { 0 } };
    int64_t ns = 0;
    tl_activity_add(c->activity, c->ready[previous], tl_ns_min(done_ns, c->ready[p - c->participants]), &sum);
    for (int kind = 0; kind < TL_NACTIVITIES; kind++)
        ns += kind == TL_ACTIVITY_COMM ? 0 : sum.ns[kind];
    return ns;
}

/* Whether a window of the recording begins between two participants. */
static bool is_seam(const comparing *c, uint32_t a, const tl_participant *b)
{
    return tl_is_seam(c->view, c->participants[a].start_ns, b->start_ns);
}

/* Fills in a participant.  previous: the one before it in its group; before: the last one of the previous step. */
static void measure(comparing *c, tl_participant *p, uint32_t previous, uint32_t before)
{
    const int64_t ready_ns = c->ready[p - c->participants];
    const int64_t begin_ns = c->begins[tl_window_at(c->view, p->start_ns)];

    p->work_between_collectives = activities(c, previous != TL_NONE ? c->ready[previous] : begin_ns, ready_ns);
    p->work_since_step = activities(c, before != TL_NONE ? c->ready[before] : begin_ns, ready_ns);
    p->previous = TL_NONE;
    if (previous != TL_NONE) { /* less the time spent in that one */
        const tl_participant *last = &c->participants[previous];
        tl_activity_ns inside = { { 0 } };
        tl_activity_add(c->activity, last->start_ns, tl_ns_min(last->end_ns, ready_ns), &inside);
        p->work_between_collectives.ns[TL_ACTIVITY_COMM] -= inside.ns[TL_ACTIVITY_COMM];
        p->previous = last->uid;
    }
    p->done_ns = step_end(c, p->step);
    const int64_t last_done_ns = p->step < 1 ? TL_TIME_UNKNOWN : step_end(c, p->step - 1);
    p->after_last_ns = p->step < 1 ? 0 : after_last(c, previous, p, last_done_ns);
    p->after_last_step_ns = p->step < 1 ? 0 : after_last(c, before, p, last_done_ns);
}

void tl_work_between_collectives(const tl_rank_view *view, const tl_activity *activity, tl_participant *participants,
                                 size_t n)
{
    tl_arena arena = { 0 };
    comparing c = { .view = view,
                    .activity = activity,
                    .participants = participants,
                    .ready = tl_arena_take(&arena, n, sizeof *c.ready),
                    .step_done = tl_arena_take(&arena, view->nsteps, sizeof *c.step_done) };
    tl_map of_stream = { 0 }, of_group = { 0 }; /* the last participant of each */
    uint32_t *order = tl_sorted_index(n, by_start, participants), before = TL_NONE;

    list_compute(&c, &arena);
    list_begins(&c, &arena);
    tl_steps_done(view, c.step_done);
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = &participants[order[i]];
        const uint64_t stream = (uint64_t)(uint32_t)p->device << 32 | (uint32_t)p->stream;
        uint32_t previous = tl_map_get(&of_group, (uint64_t)(uint32_t)p->group);
        if (previous != TL_NONE && is_seam(&c, previous, p))
            previous = TL_NONE;
        if (i > 0 && p->step != participants[order[i - 1]].step)
            before = is_seam(&c, order[i - 1], p) ? TL_NONE : order[i - 1];
        c.ready[order[i]] = ready_of(&c, p, tl_map_get(&of_stream, stream));
        measure(&c, p, previous, before);
        tl_map_put(&of_stream, stream, order[i]);
        tl_map_put(&of_group, (uint64_t)(uint32_t)p->group, order[i]);
    }
    tl_map_free(&of_stream);
    tl_map_free(&of_group);
    free(order);
    tl_arena_free(&arena);
}
