/* view.c - look-ups in the view of a rank. */
#include "tlmpi/base/group.h"
#include "tlmpi/model/view.h"
#include "tlmpi/model/parameters.h"

size_t tl_window_at(const tl_rank_view *view, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, view->nwindows, mid, view->windows[mid].begin_ns <= at_ns);
    return low > 0 ? low - 1 : 0;
}

bool tl_is_seam(const tl_rank_view *view, int64_t from_ns, int64_t to_ns)
{
    return view->nwindows > 1 && tl_window_at(view, from_ns) != tl_window_at(view, to_ns);
}

size_t tl_device_end(const tl_rank_view *view, size_t from)
{
    size_t to = from + 1;
    while (to < view->nkernels && view->kernels[to].device == view->kernels[from].device)
        to++;
    return to;
}

size_t tl_stream_end(const tl_rank_view *view, size_t from)
{
    size_t to = from + 1;
    while (to < view->nkernels && tl_same_stream(&view->kernels[to], &view->kernels[from]))
        to++;
    return to;
}

const tl_flop *tl_flop_of(const tl_rank_view *view, uint32_t launch, size_t *near)
{
    const tl_flop *v = view->flops;
    const size_t n = view->nflops;

    *near += *near < n && v[*near].launch < launch;
    if ((*near < n && v[*near].launch < launch) || (*near > 0 && v[*near - 1].launch >= launch)) {
        *near = 0;
        TL_BISECT(*near, n, mid, v[mid].launch < launch);
    }
    return *near < n && v[*near].launch == launch ? &v[*near] : NULL;
}

int32_t tl_step_at(const tl_step_window *steps, size_t n, int64_t at_ns)
{
    size_t low = 0; /* lower bound: the first step that starts after the instant */
    TL_BISECT(low, n, mid, steps[mid].start_ns <= at_ns);
    return low > 0 && at_ns < steps[low - 1].end_ns ? steps[low - 1].number : -1;
}

uint32_t tl_open_ops_innermost(tl_open_ops *open, int64_t at_ns)
{
    while (open->stack.n > 0) {
        uint32_t top = open->stack.v[open->stack.n - 1];
        if (open->ops->start_ns[top] + open->ops->dur_ns[top] > at_ns)
            return top;
        open->stack.n--;
    }
    return TL_NONE;
}

size_t tl_open_ops_around(tl_open_ops *open, int64_t start_ns, int64_t end_ns)
{
    (void)tl_open_ops_innermost(open, start_ns);
    for (size_t n = open->stack.n; n > 0; n--) {
        uint32_t op = open->stack.v[n - 1];
        if (open->ops->start_ns[op] + open->ops->dur_ns[op] + TL_ROUNDING_NS >= end_ns)
            return n;
    }
    return open->stack.n;
}

void tl_open_ops_push(tl_open_ops *open, uint32_t op)
{
    (void)tl_open_ops_innermost(open, open->ops->start_ns[op]);
    tl_vec_push(&open->stack, op);
}

bool tl_is_step_mark(const tl_names *names, bool served, uint32_t name)
{
    tl_text text = tl_names_text(names, name);
    return tl_text_starts(text, "ProfilerStep#") || (served && tl_iteration_of(text).serving != TL_NOT_SERVING);
}

const tl_thread *tl_main_thread(const tl_ops *ops)
{
    const tl_thread *found = NULL;
    size_t most = 0;

    for (size_t t = 0; t < ops->nthreads; t++) {
        const tl_thread *thread = &ops->threads[t];
        size_t n = 0;
        for (size_t i = thread->first; i < thread->first + thread->n; i++)
            n += ops->kind[i] == TL_ANNOTATION;
        if (n > most || (n > 0 && n == most && ops->start_ns[thread->first] < ops->start_ns[found->first])) {
            most = n;
            found = thread;
        }
    }
    return found;
}

void tl_launching_tracks(const tl_rank_view *view, tl_map *tracks)
{
    const tl_launch *l = view->launches;
    for (size_t i = 0; i < view->nlaunches; i++)
        if (i == 0 || l[i].track != l[i - 1].track)
            tl_map_put(tracks, l[i].track, 1);
}

void tl_launches_by_thread(const tl_rank_view *view, tl_arena *arena, tl_thread_launches *out)
{
    const tl_launch *l = view->launches;
    size_t n = view->nlaunches, ntracks = 0;

    for (size_t i = 0; i < n; i++)
        if (l[i].track >= ntracks)
            ntracks = (size_t)l[i].track + 1;
    uint32_t *v = tl_arena_take(arena, n, sizeof *v), *track_of = tl_malloc((n + 1) * sizeof *track_of);
    size_t *first = tl_arena_take(arena, ntracks + 1, sizeof *first);
    *out = (tl_thread_launches){ v, first, ntracks };
    for (size_t i = 0; i < n; i++)
        track_of[i] = l[i].track;
    tl_group_rows(track_of, n, ntracks, first, v);
    free(track_of);
}

uint32_t tl_call_track(const tl_calls *calls, size_t call)
{
    size_t low = 0; /* lower bound: the first thread whose calls end after the call */
    TL_BISECT(low, calls->nthreads - 1, mid, calls->threads[mid].first + calls->threads[mid].n <= call);
    return calls->threads[low].track;
}

int tl_kernel_by_start(const void *kernels, uint32_t a, uint32_t b)
{
    const tl_kernel *k = kernels;
    return TL_COMPARE(k[a].start_ns, k[b].start_ns);
}

int tl_kernel_by_start_uid(const void *kernels, uint32_t a, uint32_t b)
{
    const tl_kernel *k = kernels;
    return TL_ORDER(&k[a], &k[b], start_ns, uid);
}
