/* depend.c - adds the edges between streams: for which work of another stream a kernel waited.
 *
 *     1  recorded    a stream wait names an event of another stream: the next kernel launched on the waiting stream
 *                    comes after all kernels launched on the other stream before the event was recorded
 *     2  by custom   without recorded waits: a communication kernel comes after the compute kernel launched last before
 *     3  by kind     without recorded waits: the kernel launched next after communication of a kind comes after that
 *                    communication, if it always begins later, and on some rank begins right as the communication ends
 *                    though it was ready before; e.g. after a receive, which on a slow rank may have ended long before
 *     4  the rest    a kernel that starts later than all these edges explain comes after the kernel that ended right
 *                    before on another stream and was launched no later
 *
 * Edges 1 to 3 are put to a vote over all ranks: adapters of traces name waits that were none, and not all frameworks
 * keep the custom.
 */
#include "build.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* A recorded wait of a kernel: the kernel waited for, and the next recorded wait of the same kernel; TL_NONE: no
 * other. */
typedef struct recorded_wait {
    uint32_t kernel, next;
} recorded_wait;

typedef struct depending {
    tl_graph_build *b;
    uint32_t *recorded; /* by kernel: index of its last recorded wait; TL_NONE */
    TL_VEC(recorded_wait) waits;
    uint32_t *in_turn; /* kernels by stream, then in the order of launches */
} depending;

/* Adds an edge with its vote; if `from` ends after `to` starts, votes the edge false.  Returns the time, ns, up to
 * which the edge explains why `to` had not started; INT64_MIN: none. */
static int64_t add_voted_edge(tl_graph_build *b, uint32_t from, uint32_t to)
{
    const tl_kernel *k = &b->view->kernels[to];
    int64_t end = b->view->kernels[from].end_ns;
    uint64_t vote = tl_hash_mix(b->placed[to].position, b->placed[from].position);
    vote = vote > 1 ? vote & ~TL_VOTE_OF_KIND : 2;

    if (end > k->start_ns + TL_CLOCK_ERROR_NS) {
        tl_vec_push(&b->false_votes, vote);
        return INT64_MIN;
    }
    tl_graph_edge(b, b->placed[from].end, b->placed[to].start, tl_ns_min(0, tl_ns_between(k->start_ns, end)), vote);
    return tl_ns_min(end, k->start_ns);
}

/* A kernel's known waits: the time from which it was ready to start, and the kernel of its edge by rule 4; TL_NONE:
 * none. */
typedef struct waiting {
    int64_t ready_ns;
    uint32_t rest;
} waiting;

/* Adds an edge by rule 3 with its vote (TL_VOTE_OF_KIND), or votes it false.  Both times are of one device and differ
 * only by rounding. */
static void add_kind_edge(tl_graph_build *b, uint32_t from, uint32_t to, const waiting *known)
{
    const tl_kernel *comm = &b->view->kernels[from], *k = &b->view->kernels[to];
    uint64_t streams = (uint64_t)(uint32_t)comm->stream << 32 | (uint32_t)k->stream;
    uint64_t kind = tl_hash_mix(b->placed[from].name, b->view->colls[comm->coll].kind);
    if (k->kind == TL_COMM)
        kind = tl_hash_mix(tl_hash_mix(kind, b->placed[to].name), b->view->colls[k->coll].kind);
    uint64_t vote = tl_hash_mix(kind, streams) | TL_VOTE_OF_KIND;
    int64_t late = tl_ns_between(k->start_ns, comm->end_ns);

    if (late < -2 * TL_ROUNDING_NS) {
        tl_vec_push(&b->false_votes, vote);
        return;
    }
    if (from != known->rest)
        tl_graph_edge(b, b->placed[from].end, b->placed[to].start, tl_ns_min(0, late), vote);
    if (late <= TL_CLOCK_ERROR_NS && known->ready_ns < comm->end_ns - 2 * TL_ROUNDING_NS)
        tl_vec_push(&b->false_votes, tl_vote_shown(vote));
}

/* --------------------------------------------------------------------------------------------------------- recorded */

/* Returns the stream's kernels as a range of in_turn; an empty range: there are none. */
static tl_stream_range stream_range_of(const tl_graph_build *b, int32_t device, int32_t stream)
{
    for (size_t s = 0; s < b->nstreams; s++) {
        const tl_kernel *k = &b->view->kernels[b->streams[s].first];
        if (k->stream == stream && (device < 0 || k->device == device))
            return b->streams[s];
    }
    return (tl_stream_range){ 0, 0 };
}

/* Returns the index in in_turn of the stream's first kernel launched at at_ns or later. */
static size_t launched_from(const depending *d, tl_stream_range range, int64_t at_ns)
{
    size_t low = range.first;
    TL_BISECT(low, range.end, mid, d->b->latest_ns[d->b->placed[d->in_turn[mid]].turn] < at_ns);
    while (low < range.end && d->b->placed[d->in_turn[low]].launch_ns < at_ns)
        low++;
    return low;
}

/* Whether a kernel of in_turn has a recorded launch.  Other launch times are estimates, so recorded waits skip such
 * kernels. */
static bool is_launched(const depending *d, size_t at)
{
    return d->b->view->kernels[d->in_turn[at]].launch != TL_NONE;
}

static void find_recorded(depending *d)
{
    tl_graph_build *b = d->b;
    TL_EACH (const tl_event_wait, e, b->calls->events) {
        tl_stream_range waits = stream_range_of(b, e->device, e->stream),
                        records = stream_range_of(b, e->device, e->on_stream);
        size_t to = launched_from(d, waits, tl_graph_host_time(b, e->wait_ns));
        size_t from = launched_from(d, records, tl_graph_host_time(b, e->record_ns));
        while (to < waits.end && !is_launched(d, to))
            to++;
        while (from > records.first && !is_launched(d, from - 1))
            from--;
        if (to == waits.end || from == records.first)
            continue;
        uint32_t *last = &d->recorded[d->in_turn[to]], number = (uint32_t)d->waits.n;
        tl_vec_push(&d->waits, (recorded_wait){ d->in_turn[from - 1], *last });
        *last = number;
    }
}

static void sort_by_stream(depending *d)
{
    const tl_graph_build *b = d->b;
    size_t *next = tl_malloc((b->nstreams + 1) * sizeof *next);
    uint32_t *stream_of = tl_malloc((b->view->nkernels + 1) * sizeof *stream_of);
    for (size_t s = 0; s < b->nstreams; s++) {
        next[s] = b->streams[s].first;
        for (size_t i = b->streams[s].first; i < b->streams[s].end; i++)
            stream_of[i] = (uint32_t)s;
    }
    for (size_t turn = 0; turn < b->view->nkernels; turn++)
        d->in_turn[next[stream_of[b->by_turn[turn]]]++] = b->by_turn[turn];
    free(next);
    free(stream_of);
}

/* Returns the time, ns, up to which the kernel's stream and launch explain why it had not started; INT64_MIN: none. */
static int64_t explained_until(const tl_graph_build *b, uint32_t kernel)
{
    const tl_kernel *k = &b->view->kernels[kernel];
    uint32_t launch = b->placed[kernel].launch;
    int64_t since = INT64_MIN;
    if (kernel > 0 && tl_same_stream(k, k - 1))
        since = tl_ns_min(k[-1].end_ns, k->start_ns);
    if (launch != TL_NONE && b->launched[launch] != TL_NONE)
        since = tl_ns_max(since, tl_ns_min(k->start_ns, b->nodes.v[b->launched[launch]].done_ns + b->latency_ns));
    return since;
}

/* Adds an edge by rule 4, and returns the kernel that it comes from; TL_NONE: none.  A kernel that was queued by a
 * launch missing in the trace was released by the device: then the last end counts, however long before. */
static uint32_t add_rest_edge(tl_graph_build *b, uint32_t kernel, int64_t since_ns)
{
    const tl_kernel *k = &b->view->kernels[kernel];
    const tl_graph_kernel *p = &b->placed[kernel];
    bool own = p->launch != TL_NONE && p->launch >= b->view->nlaunches; /* its launch was made up (unlaunched.c) */
    bool released = k->launch == TL_NONE && !p->before && !own;
    int64_t until = released ? since_ns : tl_ns_max(since_ns, k->start_ns - TL_CLOCK_ERROR_NS);

    if (since_ns == INT64_MIN ? !released : tl_ns_between(k->start_ns, since_ns) <= 2 * TL_ROUNDING_NS)
        return TL_NONE;
    for (size_t i = tl_graph_ended(b, k->start_ns + TL_ROUNDING_NS); i > 0; i--) {
        uint32_t from = b->by_end[i - 1];
        const tl_kernel *other = &b->view->kernels[from];
        if (other->end_ns <= until)
            return TL_NONE;
        if (from == kernel || tl_same_stream(other, k) || b->placed[from].turn > p->turn)
            continue;
        tl_graph_edge(b, b->placed[from].end, p->start, tl_ns_min(0, tl_ns_between(k->start_ns, other->end_ns)), 0);
        return from;
    }
    return TL_NONE;
}

/* -------------------------------------------------------------------------------------------------------------- all */

/* Adds edges by rule 3: to a compute kernel from all communication kernels since turn `since`, to a communication
 * kernel from the one launched right before.  Returns the next `since`. */
static size_t add_kind_edges(tl_graph_build *b, size_t since, size_t turn, const waiting *known)
{
    const tl_kernel *k = &b->view->kernels[b->by_turn[turn]];
    if (k->kind != TL_COMPUTE && k->kind != TL_COMM)
        return since;
    for (size_t i = k->kind == TL_COMPUTE || since == turn ? since : turn - 1; i < turn; i++) {
        const tl_kernel *comm = &b->view->kernels[b->by_turn[i]];
        if (comm->kind == TL_COMM && comm->launch != TL_NONE && !tl_same_stream(comm, k))
            add_kind_edge(b, b->by_turn[i], b->by_turn[turn], known);
    }
    return k->kind == TL_COMPUTE ? turn + 1 : since;
}

static void add_edges(depending *d)
{
    tl_graph_build *b = d->b;
    uint32_t computing = TL_NONE; /* the compute kernel launched last */
    size_t since = 0;             /* turn after the last compute kernel: communication from there on has had no edge to
                                   * compute */

    for (size_t turn = 0; turn < b->view->nkernels; turn++) {
        uint32_t kernel = b->by_turn[turn];
        const tl_kernel *k = &b->view->kernels[kernel];
        int64_t explained = explained_until(b, kernel);
        for (uint32_t w = d->recorded[kernel]; w < d->waits.n; w = d->waits.v[w].next) /* up to TL_NONE */
            explained = tl_ns_max(explained, add_voted_edge(b, d->waits.v[w].kernel, kernel));
        if (d->waits.n == 0 && k->kind == TL_COMM && k->launch != TL_NONE && computing != TL_NONE)
            explained = tl_ns_max(explained, add_voted_edge(b, computing, kernel));
        uint32_t rest = add_rest_edge(b, kernel, explained);
        if (d->waits.n == 0 && k->launch != TL_NONE)
            since = add_kind_edges(b, since, turn, &(waiting){ explained, rest });
        if (k->kind == TL_COMPUTE && k->launch != TL_NONE)
            computing = kernel;
    }
}

void tl_graph_depend(tl_graph_build *b)
{
    size_t n = b->view->nkernels;
    depending d = { .b = b, .recorded = tl_malloc_none(n), .in_turn = tl_malloc((n + 1) * sizeof *d.in_turn) };
    sort_by_stream(&d);
    find_recorded(&d);
    add_edges(&d);
    free(d.recorded);
    free(d.in_turn);
    free(d.waits.v);
}
