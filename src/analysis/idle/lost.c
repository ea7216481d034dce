/* lost.c - launches whose work is not in the trace.
 *
 *     calls     [a][b][c][d] . . . [e][f]
 *     stream     A  B     D         E          c is lost; f may not have run when the recording ended
 *
 * A profiler records the work of every launch of a kernel.  What has none is lost, but for
 *
 *     captured    launches between the begin and the end of a capture, which make a graph
 *     nested      calls within a call that launches: both have one piece of work
 *     unnamed     calls of a name without any work in the trace: the profiler does not join them
 *     unjoined    where as much device work has no correlation as launches have no work, or most of it has none of a call
 *
 * Of a copy of nothing there is no record, so a copy is lost only next to a launch that is.  Graphs have many
 * kernels: a graph launch is lost if it has none, or less than half of the median of the graphs that begin with the
 * same kernel.
 */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* The launch last noted, if the call is within it; NULL. */
static tl_idle_launch *around(const tl_idle_rank *k, uint32_t call)
{
    const tl_calls *c = &k->view->calls;
    tl_idle_launch *last = k->launches.n > 0 ? &k->launches.v[k->launches.n - 1] : NULL;
    bool within = last != NULL && tl_call_track(c, last->call) == tl_call_track(c, call) &&
                  c->start_ns[call] < last->start_ns + c->dur_ns[last->call];
    return within ? last : NULL;
}

void tl_idle_take_launch(tl_idle_rank *k, uint32_t call)
{
    const tl_calls *c = &k->view->calls;
    tl_idle_call *name = &k->name[c->name[call]];
    uint32_t launch = tl_idle_launch_of_call(k->view, call);
    bool works = launch != TL_NONE && k->first_kernel[launch] != TL_NONE;
    tl_idle_launch *outer = name->captures == 0 ? around(k, call) : NULL;

    name->recorded = name->recorded || works;
    if (outer != NULL) {
        outer->known = outer->known || launch != TL_NONE;
        return;
    }
    tl_vec_room(&k->launches);
    k->launches.v[k->launches.n++] = (tl_idle_launch){ .start_ns = c->start_ns[call],
                                                       .call = call,
                                                       .uid = c->uid[call],
                                                       .nkernels = works ? k->view->launches[launch].nkernels : 0,
                                                       .known = launch != TL_NONE || c->correlation[call] <= 0 };
}

static const tl_idle_call *name_of(const tl_idle_rank *k, const tl_idle_launch *l)
{
    return &k->name[k->view->calls.name[l->call]];
}

static int by_start(const void *a, const void *b)
{
    const tl_idle_launch *x = a, *y = b;
    return x->start_ns != y->start_ns ? TL_COMPARE(x->start_ns, y->start_ns) : TL_COMPARE(x->uid, y->uid);
}

/* ---------------------------------------------------------------------------------------------------------- graphs */

typedef struct graph {
    uint32_t name; /* of its first kernel: graphs that begin with the same are equal */
    uint32_t nkernels;
    size_t at; /* in launches */
} graph;

static int by_graph(const void *a, const void *b)
{
    const graph *x = a, *y = b;
    if (x->name != y->name)
        return TL_COMPARE(x->name, y->name);
    return x->nkernels != y->nkernels ? TL_COMPARE(x->nkernels, y->nkernels) : TL_COMPARE(x->at, y->at);
}

static void judge_graphs(tl_idle_rank *k)
{
    TL_VEC(graph) graphs = { 0 };
    for (size_t i = 0; i < k->launches.n; i++) {
        tl_idle_launch *l = &k->launches.v[i];
        if (!name_of(k, l)->graph)
            continue;
        l->lost = l->nkernels == 0;
        if (!l->lost)
            tl_vec_room(&graphs);
        if (!l->lost) {
            uint32_t first = k->first_kernel[tl_idle_launch_of_call(k->view, l->call)];
            graphs.v[graphs.n++] = (graph){ k->view->kernels[first].name, l->nkernels, i };
        }
    }
    if (graphs.n > 1)
        qsort(graphs.v, graphs.n, sizeof *graphs.v, by_graph);
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

/* Whether launches and work can be joined: of nlost launches the work may be there, but for its number. */
static bool joins(const tl_idle_rank *k, size_t nlost)
{
    const tl_calls *c = &k->view->calls;
    int64_t first = INT64_MAX;
    size_t nameless = 0, strays = 0, joined = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->correlation[i] > 0 && c->correlation[i] < first)
            first = c->correlation[i];
    for (size_t i = 0; i < k->view->nkernels; i++) {
        const tl_kernel *work = &k->view->kernels[i];
        joined += work->launch != TL_NONE;
        nameless += work->correlation <= 0;
        strays += work->launch == TL_NONE && work->correlation >= first;
    }
    return nameless < nlost && strays <= joined;
}

static void judge_kernels(tl_idle_rank *k)
{
    size_t nlost = 0;
    int captures = 0;
    for (size_t i = 0; i < k->launches.n; i++) {
        tl_idle_launch *l = &k->launches.v[i];
        const tl_idle_call *name = name_of(k, l);
        captures += captures + name->captures >= 0 ? name->captures : 0;
        l->known = l->known || captures > 0 || !name->recorded;
        nlost += name->kernel && !l->known;
    }
    if (nlost == 0 || !joins(k, nlost))
        return;
    for (size_t i = 0; i < k->launches.n; i++)
        k->launches.v[i].lost |= name_of(k, &k->launches.v[i])->kernel && !k->launches.v[i].known;
}

static bool is_lost_kernel(const tl_idle_rank *k, size_t at)
{
    return at < k->launches.n && k->launches.v[at].lost && !name_of(k, &k->launches.v[at])->copy;
}

static void judge_copies(tl_idle_rank *k)
{
    for (size_t i = 0; i < k->launches.n; i++) {
        tl_idle_launch *l = &k->launches.v[i];
        if (name_of(k, l)->copy && !l->known && (is_lost_kernel(k, i - 1) || is_lost_kernel(k, i + 1)))
            l->lost = true;
    }
}

void tl_idle_lost_find(tl_idle_rank *k)
{
    size_t i = 1;
    if (k->view->nkernels == 0)
        return;
    while (i < k->launches.n && by_start(&k->launches.v[i - 1], &k->launches.v[i]) <= 0)
        i++;
    if (i < k->launches.n)
        qsort(k->launches.v, k->launches.n, sizeof *k->launches.v, by_start);
    judge_graphs(k);
    judge_kernels(k);
    judge_copies(k);
    for (i = 0; i < k->launches.n; i++) {
        if (!k->launches.v[i].lost)
            continue;
        tl_vec_room(&k->lost);
        k->lost.v[k->lost.n++] = k->launches.v[i];
    }
}

/* ------------------------------------------------------------------------------------------------------------ rows */

/* When the first launch was whose work is in the trace, the last of each stream of calls, and the last of all; and when
 * the last call began that waited for the device or a stream: what was launched before has run. */
typedef struct told {
    int64_t first_ns, last_ns, waited_ns;
    int64_t *of_stream; /* by index of streams; INT64_MIN: none */
} told;

static void find_told(const tl_idle_rank *k, told *out)
{
    const uint32_t *stream = k->view->calls.stream;
    uint32_t most = 0;
    for (size_t i = 0; i < k->launches.n; i++)
        most = stream[k->launches.v[i].call] > most ? stream[k->launches.v[i].call] : most;
    *out = (told){ INT64_MAX, INT64_MIN, INT64_MIN, tl_malloc(((size_t)most + 1) * sizeof *out->of_stream) };
    for (size_t i = 0; i < k->waits.n; i++)
        if (k->waits.v[i].kind == TL_SYNC_DEVICE || k->waits.v[i].kind == TL_SYNC_STREAM)
            out->waited_ns = tl_ns_max(out->waited_ns, k->waits.v[i].start_ns);
    for (size_t s = 0; s <= most; s++)
        out->of_stream[s] = INT64_MIN;
    for (size_t i = 0; i < k->launches.n; i++) {
        const tl_idle_launch *l = &k->launches.v[i];
        if (l->nkernels == 0 || l->lost)
            continue;
        out->first_ns = l->start_ns < out->first_ns ? l->start_ns : out->first_ns;
        out->last_ns = out->of_stream[stream[l->call]] = l->start_ns;
    }
}

static tl_defect defect_of(const tl_idle_rank *k, const told *t, const tl_idle_launch *l)
{
    int64_t last_ns = t->of_stream[k->view->calls.stream[l->call]];
    if (l->start_ns < t->first_ns)
        return TL_DEFECT_LOST_AT_BEGIN;
    bool after = l->start_ns > (last_ns != INT64_MIN ? last_ns : t->last_ns) && l->start_ns > t->waited_ns;
    return after ? TL_DEFECT_LOST_AT_END : TL_DEFECT_LOST;
}

static void add_rows(const tl_idle_rank *k, int32_t step, const int64_t *count, int64_t of, tl_table *health)
{
    for (int defect = TL_DEFECT_LOST; defect <= TL_DEFECT_LOST_AT_END; defect++)
        if (count[defect] != 0)
            tl_health_add(
                health,
                (tl_health){
                    .rank = k->view->rank, .defect = (uint8_t)defect, .step = step, .count = count[defect], .of = of });
}

/* Appends a row per step and defect.  The launches of a step are consecutive, but for launches in no step between them,
 * which are counted apart. */
void tl_idle_lost_rows(const tl_idle_rank *k, tl_table *health)
{
    int64_t count[TL_NDEFECTS] = { 0 }, outside[TL_NDEFECTS] = { 0 }, of = 0, of_outside = 0;
    int32_t step = -1;
    told t = { 0 };
    if (k->lost.n != 0)
        find_told(k, &t);

    for (size_t i = 0; k->lost.n > 0 && i < k->launches.n; i++) {
        const tl_idle_launch *l = &k->launches.v[i];
        int32_t own = tl_step_at(k->view->steps, k->view->nsteps, l->start_ns);
        if (own >= 0 && own != step) {
            add_rows(k, step, count, of, health);
            for (int d = 0; d < TL_NDEFECTS; d++)
                count[d] = 0;
            of = 0;
            step = own;
        }
        if (!l->lost && l->nkernels == 0)
            continue;
        *(own >= 0 ? &of : &of_outside) += 1;
        if (l->lost)
            (own >= 0 ? count : outside)[defect_of(k, &t, l)]++;
    }
    if (step >= 0)
        add_rows(k, step, count, of, health);
    add_rows(k, -1, outside, of_outside, health);
    free(t.of_stream);
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
