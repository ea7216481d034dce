/* lost_work.c - finds launches whose work is not in the trace.
 *
 *     calls     [a][b][c][d] . . . [e][f]
 *     stream     A  B     D         E          c is lost; f may not have run when the recording ended
 *
 * A profiler records the work of every launch of a kernel.  A launch without work is lost, except:
 *
 *     captured    launches between the begin and the end of a capture, which build a graph
 *     nested      calls within a call that launches: both stand for the same work
 *     unnamed     calls of a name that never has work in the trace: the profiler does not link them
 *     unjoined    if at least as much device work has no correlation as launches have no work, or if most device work
 *                 has no launch
 *
 * A copy of 0 bytes leaves no record, so a copy counts as lost only next to a lost launch.  Graphs have many kernels: a
 * graph launch is lost if it has no kernel, or less than half of the median of the graphs with the same first
 * kernel.
 */
#include "internal.h"
#include <stdlib.h>

void tl_idle_take_launch(tl_idle_rank *k, uint32_t call)
{
    const tl_calls *c = &k->view->calls;
    tl_idle_call *name = &k->name[c->name[call]];
    uint32_t launch = tl_idle_launch_of_call(k->view, call);
    bool works = launch != TL_NONE && k->first_kernel[launch] != TL_NONE;

    name->recorded = name->recorded || works;
    if (name->captures == 0 && k->launches.n > 0) {
        tl_idle_launch *last = &k->launches.v[k->launches.n - 1];
        if (tl_call_track(c, last->call) == tl_call_track(c, call) && c->start_ns[call] < tl_call_end(c, last->call)) {
            last->known = last->known || launch != TL_NONE; /* nested in the last one */
            return;
        }
    }
    tl_vec_push(&k->launches, (tl_idle_launch){ .start_ns = c->start_ns[call],
                                                .call = call,
                                                .uid = c->uid[call],
                                                .nkernels = works ? k->view->launches[launch].nkernels : 0,
                                                .known = launch != TL_NONE || c->correlation[call] <= 0 });
}

static const tl_idle_call *name_of(const tl_idle_rank *k, const tl_idle_launch *l)
{
    return &k->name[k->view->calls.name[l->call]];
}

static bool is_kernel(const tl_idle_rank *k, const tl_idle_launch *l)
{
    return name_of(k, l)->rule->does == TL_DOES_LAUNCH;
}

static bool is_copy(const tl_idle_rank *k, const tl_idle_launch *l)
{
    return name_of(k, l)->rule->does == TL_DOES_COPY;
}

TL_SORT_BY(by_start, tl_idle_launch, start_ns, uid)

typedef struct graph {
    uint32_t name; /* name of its first kernel; graphs with the same one count as equal */
    uint32_t nkernels;
    size_t at; /* in launches */
} graph;

TL_SORT_BY(by_graph, graph, name, nkernels, at)

static void find_lost_graphs(tl_idle_rank *k)
{
    TL_VEC(graph) graphs = { 0 };
    for (size_t i = 0; i < k->launches.n; i++) {
        tl_idle_launch *l = &k->launches.v[i];
        if (!tl_idle_launches_graph(name_of(k, l)))
            continue;
        l->lost = l->nkernels == 0;
        if (!l->lost) {
            uint32_t first = k->first_kernel[tl_idle_launch_of_call(k->view, l->call)];
            tl_vec_push(&graphs, (graph){ k->view->kernels[first].name, l->nkernels, i });
        }
    }
    tl_vec_sort(&graphs, by_graph);
    for (size_t from = 0, to; from < graphs.n; from = to) {
        const graph *v = graphs.v;
        for (to = from + 1; to < graphs.n && v[to].name == v[from].name; to++)
            ;
        uint64_t median = (uint64_t)v[from + tl_lower_middle(to - from)].nkernels +
                          v[from + tl_upper_middle(to - from)].nkernels; /* twice */
        for (size_t i = from; i < to && 4 * (uint64_t)v[i].nkernels < median; i++)
            k->launches.v[v[i].at].lost = true;
    }
    free(graphs.v);
}

/* --------------------------------------------------------------------------------------------------------- kernels */

/* Whether launches and work are linked reliably: nlost launches without work cannot be explained by work without
 * correlation, nor is most work unlinked. */
static bool is_linking_reliable(const tl_idle_rank *k, size_t nlost)
{
    const tl_calls *c = &k->view->calls;
    int64_t first = INT64_MAX;
    size_t nameless = 0, strays = 0, joined = 0;
    for (size_t i = 0; i < c->n; i++)
        first = c->correlation[i] > 0 ? tl_ns_min(first, c->correlation[i]) : first;
    for (size_t i = 0; i < k->view->nkernels; i++) {
        const tl_kernel *work = &k->view->kernels[i];
        joined += work->launch != TL_NONE;
        nameless += work->correlation <= 0;
        strays += work->launch == TL_NONE && work->correlation >= first;
    }
    return nameless < nlost && strays <= joined;
}

static void find_lost_kernels(tl_idle_rank *k)
{
    size_t nlost = 0;
    int captures = 0;
    TL_EACH (tl_idle_launch, l, k->launches) {
        const tl_idle_call *name = name_of(k, l);
        captures = captures + name->captures > 0 ? captures + name->captures : 0;
        l->known = l->known || captures > 0 || !name->recorded;
        nlost += is_kernel(k, l) && !l->known;
    }
    if (nlost == 0 || !is_linking_reliable(k, nlost))
        return;
    TL_EACH (tl_idle_launch, l, k->launches)
        l->lost |= is_kernel(k, l) && !l->known;
}

static bool is_lost_kernel(const tl_idle_rank *k, size_t at)
{
    return at < k->launches.n && k->launches.v[at].lost && !is_copy(k, &k->launches.v[at]);
}

void tl_idle_lost_find(tl_idle_rank *k)
{
    size_t i = 1;
    if (k->view->nkernels == 0)
        return;
    while (i < k->launches.n && by_start(&k->launches.v[i - 1], &k->launches.v[i]) <= 0)
        i++;
    if (i < k->launches.n)
        tl_vec_sort(&k->launches, by_start);
    find_lost_graphs(k);
    find_lost_kernels(k);
    for (i = 0; i < k->launches.n; i++) {
        tl_idle_launch *l = &k->launches.v[i];
        l->lost |= is_copy(k, l) && !l->known && (is_lost_kernel(k, i - 1) || is_lost_kernel(k, i + 1));
    }
    TL_EACH (const tl_idle_launch, l, k->launches)
        if (l->lost)
            tl_vec_push(&k->lost, *l);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

/* Launches whose work is recorded in one window of the recording: start of the first one, of the last one, and of the
 * last one by stream of the call; waited_ns: start of the last call that waited for the device or a stream: work
 * launched before it has run. */
typedef struct recorded {
    size_t window;
    int64_t first_ns, last_ns, waited_ns;
    int64_t *of_stream; /* by index of streams; INT64_MIN: none */
} recorded;

static recorded find_recorded(const tl_idle_rank *k, size_t window)
{
    const uint32_t *stream = k->view->calls.stream;
    recorded r = { window, INT64_MAX, INT64_MIN, INT64_MIN, NULL };
    size_t nstreams = 0;

    TL_EACH (const tl_idle_launch, l, k->launches)
        nstreams = stream[l->call] >= nstreams ? (size_t)stream[l->call] + 1 : nstreams;
    r.of_stream = tl_malloc(nstreams * sizeof *r.of_stream);
    for (size_t s = 0; s < nstreams; s++)
        r.of_stream[s] = INT64_MIN;
    TL_EACH (const tl_idle_wait, w, k->waits)
        if ((w->kind == TL_SYNC_DEVICE || w->kind == TL_SYNC_STREAM) && tl_window_at(k->view, w->start_ns) == window)
            r.waited_ns = tl_ns_max(r.waited_ns, w->start_ns);
    TL_EACH (const tl_idle_launch, l, k->launches)
        if (l->nkernels > 0 && !l->lost && tl_window_at(k->view, l->start_ns) == window) {
            r.first_ns = tl_ns_min(r.first_ns, l->start_ns);
            r.last_ns = r.of_stream[stream[l->call]] = l->start_ns;
        }
    return r;
}

static tl_defect defect_of(const tl_idle_rank *k, const recorded *r, const tl_idle_launch *l)
{
    int64_t last_ns = r->of_stream[k->view->calls.stream[l->call]];
    if (l->start_ns < r->first_ns)
        return TL_DEFECT_LOST_AT_BEGIN;
    bool after = l->start_ns > (last_ns != INT64_MIN ? last_ns : r->last_ns) && l->start_ns > r->waited_ns;
    return after ? TL_DEFECT_LOST_AT_END : TL_DEFECT_LOST;
}

/* Numbers of launches in one step, or outside of steps. */
typedef struct counted {
    int32_t step;
    int64_t of, lost[TL_NDEFECTS];
} counted;

static void add_rows(const tl_idle_rank *k, const counted *c, tl_table *health)
{
    for (int defect = TL_DEFECT_LOST; defect <= TL_DEFECT_LOST_AT_END; defect++)
        if (c->lost[defect] != 0)
            tl_health_add(health, (tl_health){ .rank = k->view->rank,
                                               .defect = (uint8_t)defect,
                                               .step = c->step,
                                               .count = c->lost[defect],
                                               .of = c->of });
}

/* Adds the row for work without a launch.  Work before the first launch of its stream in a window was launched before
 * the recording and does not count. */
static void add_unlaunched(const tl_rank_view *view, tl_table *health)
{
    tl_health row = { .rank = view->rank, .defect = TL_DEFECT_NO_LAUNCH, .step = -1, .of = (int64_t)view->nkernels };
    bool launched = false;
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        launched = k->launch != TL_NONE ||
                   (launched && tl_same_stream(k, k - 1) && !tl_is_seam(view, k[-1].start_ns, k->start_ns));
        row.count += launched && k->launch == TL_NONE && k->correlation > 0;
    }
    if (row.count > 0)
        tl_health_add(health, row);
}

/* Appends a row per step and defect.  The launches of a step are consecutive, except for launches outside of steps
 * between them, which are counted separately. */
void tl_idle_lost_rows(const tl_idle_rank *k, tl_table *health)
{
    counted in = { .step = -1 }, outside = in;
    add_unlaunched(k->view, health);
    if (k->lost.n == 0)
        return;
    recorded r = find_recorded(k, 0);
    TL_EACH (const tl_idle_launch, l, k->launches) {
        size_t window = tl_window_at(k->view, l->start_ns);
        if (window != r.window) {
            free(r.of_stream);
            r = find_recorded(k, window);
        }
        int32_t step = tl_step_at(k->view->steps, k->view->nsteps, l->start_ns);
        if (step >= 0 && step != in.step) {
            add_rows(k, &in, health);
            in = (counted){ .step = step };
        }
        counted *c = step >= 0 ? &in : &outside;
        c->of += l->lost || l->nkernels > 0;
        if (l->lost)
            c->lost[defect_of(k, &r, l)]++;
    }
    add_rows(k, &in, health);
    add_rows(k, &outside, health);
    free(r.of_stream);
}

void tl_idle_lost_time(const tl_idle_rank *k, const tl_gap *gap, tl_table *health)
{
    tl_health *of = NULL;
    for (size_t i = health->n; i-- > 0;) {
        tl_health *row = tl_table_row(health, i);
        if (row->rank != k->view->rank || !tl_is_lost(row->defect))
            break;
        of = of == NULL || row->step == gap->step ? row : of;
    }
    if (of != NULL)
        of->time_ns += gap->duration_ns;
}
