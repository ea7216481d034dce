/* unlaunched.c - estimates when kernels without a launch in the trace were handed over.
 *
 *     host     (launch a)          (launch c)  [ synchronize ]        (launch e)
 *     stream        [  a  ][  b  ][  c  ]                        [ d ][ e ]
 *
 *   b   began when other work ended, so b waited on the device and had been handed over before.  Its launch is taken
 *       to be the latest launch of all kernels begun before b (a's), but before the next launch on its stream (c's).
 *   d   began when no other work ended and the host was in no wait: it is given a launch of its own, right before d.
 *
 * A kernel's launch stays unknown if no launched kernel has begun before, or if its stream has had no launch yet: that
 * work was launched before the recording.
 */
#include "build.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"

/* A pass over the kernels by start.  Times are on the device's clock. */
typedef struct reading {
    tl_graph_build *b;
    int64_t *next_ns; /* by kernel: launch of the next kernel on its stream with a launch; INT64_MAX: none */
    tl_span *waits;   /* [nwaits] synchronising calls of the host, ascending by start */
    size_t nwaits, at;
    tl_span wait;    /* of the waits begun so far, the one that ends last */
    uint32_t latest; /* of the kernels begun so far, the one launched last; TL_NONE */
} reading;

TL_SORT_BY(by_wait, tl_span, start_ns, end_ns)

static int by_start(const void *context, uint32_t x, uint32_t y)
{
    const tl_kernel *k = context;
    return k[x].start_ns != k[y].start_ns ? TL_COMPARE(k[x].start_ns, k[y].start_ns) : TL_COMPARE(x, y);
}

/* Whether another kernel ended at most most_ns before the kernel began. */
static bool follows_work(const tl_graph_build *b, uint32_t kernel, int64_t most_ns)
{
    const tl_kernel *k = &b->view->kernels[kernel];
    for (size_t i = tl_graph_ended(b, k->start_ns + TL_ROUNDING_NS); i > 0; i--) {
        if (b->view->kernels[b->by_end[i - 1]].end_ns < k->start_ns - most_ns)
            return false;
        if (b->by_end[i - 1] != kernel)
            return true;
    }
    return false;
}

/* Adds a launch of the kernel, right before it begins and by until_ns, but after the last wait; by the thread of the
 * latest launch. */
static void add_own_launch(reading *r, uint32_t kernel, int64_t until_ns)
{
    tl_graph_build *b = r->b;
    tl_graph_kernel *p = &b->placed[kernel];
    bool any = r->latest != TL_NONE;
    const tl_graph_kernel *latest = &b->placed[any ? r->latest : kernel];
    int64_t start = b->view->kernels[kernel].start_ns, since = any ? latest->launch_ns : INT64_MIN;
    since = r->at > 0 ? tl_ns_max(since, r->wait.end_ns) : since;
    p->launch_ns = tl_ns_min(tl_ns_min(start, until_ns), tl_ns_max(since, tl_ns_between(start, b->latency_ns)));
    b->tracks[b->nlaunches] = any ? b->tracks[latest->launch] : b->calls->waits.v[0].track;
    b->handed_ns[b->nlaunches] = p->launch_ns;
    p->launch = (uint32_t)b->nlaunches++;
}

/* Sets the kernel's launch to the latest launch, or at until_ns if that is earlier: before the next launch of its
 * stream, and before the wait in which the kernel began. */
static void use_latest_launch(const reading *r, uint32_t kernel, int64_t until_ns)
{
    tl_graph_kernel *p = &r->b->placed[kernel];
    if (r->latest == TL_NONE)
        return;
    const tl_graph_kernel *latest = &r->b->placed[r->latest];
    p->launch_ns = tl_ns_min(latest->launch_ns, until_ns);
    if (latest->launch_ns <= until_ns)
        p->launch = latest->launch;
}

static void find_launch(reading *r, uint32_t kernel)
{
    tl_graph_build *b = r->b;
    int64_t start = b->view->kernels[kernel].start_ns;
    for (; r->at < r->nwaits && r->waits[r->at].start_ns <= start; r->at++)
        if (r->at == 0 || r->waits[r->at].end_ns > r->wait.end_ns)
            r->wait = r->waits[r->at];
    if (b->placed[kernel].launch == TL_NONE && !b->placed[kernel].before) {
        bool seen = r->latest != TL_NONE || r->at > 0, waiting = r->at > 0 && r->wait.end_ns > start;
        /* The next kernel on the stream was launched after this one began: the host had no lead. */
        bool late = kernel + 1 < b->view->nkernels && b->view->kernels[kernel + 1].launch != TL_NONE &&
                    r->next_ns[kernel] == b->placed[kernel + 1].launch_ns;
        int64_t until = waiting ? tl_ns_min(r->wait.start_ns, r->next_ns[kernel]) : r->next_ns[kernel];
        if (seen && tl_ns_sum(until, b->latency_ns) >= start &&
            !follows_work(b, kernel, late ? 2 * TL_ROUNDING_NS : TL_CLOCK_ERROR_NS))
            add_own_launch(r, kernel, until);
        else
            use_latest_launch(r, kernel, until);
    }
    if (b->placed[kernel].launch != TL_NONE &&
        (r->latest == TL_NONE || b->placed[kernel].launch_ns >= b->placed[r->latest].launch_ns))
        r->latest = kernel;
}

void tl_graph_find_unlaunched(tl_graph_build *b)
{
    size_t n = b->view->nkernels;
    tl_arena arena = { 0 };
    reading r = { .b = b,
                  .next_ns = tl_arena_take(&arena, n, sizeof *r.next_ns),
                  .waits = tl_arena_take(&arena, b->calls->waits.n, sizeof *r.waits),
                  .latest = TL_NONE };
    uint32_t *order = tl_arena_take(&arena, n, sizeof *order);

    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    tl_sort_index(order, n, by_start, b->view->kernels);
    TL_EACH (const tl_waiting_call, w, b->calls->waits)
        if (w->kind == TL_CALL_WAITS_STREAM || w->kind == TL_CALL_WAITS_DEVICE)
            r.waits[r.nwaits++] = (tl_span){ tl_graph_host_time(b, w->start_ns), tl_graph_host_time(b, w->end_ns) };
    tl_sort(r.waits, r.nwaits, sizeof *r.waits, by_wait);
    int64_t next = INT64_MAX;
    for (size_t i = n; i-- > 0;) {
        const tl_kernel *k = &b->view->kernels[i];
        if (i + 1 < n && (!tl_same_stream(k, k + 1) || tl_is_seam(b->view, k->start_ns, k[1].start_ns)))
            next = INT64_MAX;
        r.next_ns[i] = next;
        if (b->placed[i].launch != TL_NONE)
            next = b->placed[i].launch_ns;
    }
    for (size_t i = 0; i < n; i++)
        find_launch(&r, order[i]);
    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &b->view->kernels[i];
        bool own = b->placed[i].launch != TL_NONE && b->placed[i].launch >= b->view->nlaunches;
        if (k->launch == TL_NONE && (own || (b->placed[i].launch_ns != TL_TIME_UNKNOWN && k->step < 0)))
            b->placed[i].step = tl_graph_step(b->view, tl_ns_sum(b->placed[i].launch_ns, b->lag_ns));
        else if (k->launch == TL_NONE && k->step >= 0)
            b->placed[i].step = k->step;
    }
    tl_arena_free(&arena);
}
