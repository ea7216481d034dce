/* place.c - the order of a rank's work, and its segments. */
#include "build.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/robust.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

#define US INT64_C(1000)
#define USUAL_LATENCY_NS (5 * US) /* where no kernel shows it */
#define LATENCY_MAX_NS (50 * US)

/* ----------------------------------------------------------------------------------------------------------- order */

/* How much the clock of the host is ahead: kernels that seem to start before their launches tell.  Beyond TL_SKEW_MAX_NS it is
 * not the clock. */
static void find_skew(tl_building *b)
{
    for (size_t i = 0; i < b->view->nkernels; i++) {
        const tl_kernel *k = &b->view->kernels[i];
        int64_t ahead;
        if (k->launch_ns != TL_TIME_UNKNOWN && !__builtin_sub_overflow(k->launch_ns, k->start_ns, &ahead) &&
            ahead > b->skew_ns && ahead <= TL_SKEW_MAX_NS)
            b->skew_ns = ahead;
    }
}

/* The extent of the recording; false when there is none that can be worked on. */
static bool find_extent(tl_building *b)
{
    const tl_rank_view *view = b->view;
    int64_t length;

    find_skew(b);
    b->start_ns = INT64_MAX;
    b->end_ns = INT64_MIN;
    for (size_t i = 0; i < view->nkernels; i++) {
        int64_t launch = tl_launch_of(b, &view->kernels[i]);
        b->start_ns = tl_ns_min(b->start_ns, launch != TL_TIME_UNKNOWN ? launch : view->kernels[i].start_ns);
        b->end_ns = tl_ns_max(b->end_ns, view->kernels[i].end_ns);
    }
    if (view->nkernels == 0)
        return false;
    if (view->nsteps > 0)
        b->start_ns = tl_ns_min(b->start_ns, tl_on_device(b, view->steps[0].start_ns));
    return !__builtin_sub_overflow(b->end_ns, b->start_ns, &length) && length <= TL_PROGRAM_MAX_NS;
}

static int by_start(const void *kernels, uint32_t x, uint32_t y)
{
    const tl_kernel *k = kernels;
    if (k[x].start_ns != k[y].start_ns)
        return k[x].start_ns < k[y].start_ns ? -1 : 1;
    if (k[x].end_ns != k[y].end_ns)
        return k[x].end_ns < k[y].end_ns ? -1 : 1;
    return TL_COMPARE(x, y);
}

static int by_end(const void *building, uint32_t x, uint32_t y)
{
    const tl_building *b = building;
    int64_t p = b->view->kernels[b->comm[x]].end_ns, q = b->view->kernels[b->comm[y]].end_ns;
    return TL_COMPARE(p, q);
}

/* Splits the view into local work and communication, each in its order. */
static bool put_in_order(tl_building *b)
{
    const tl_kernel *k = b->view->kernels;
    size_t n = b->view->nkernels, ncomm = 0;

    for (size_t i = 0; i < n; i++)
        ncomm += k[i].kind == TL_COMM;
    b->local = tl_malloc((n - ncomm) * sizeof *b->local);
    b->comm = tl_malloc(ncomm * sizeof *b->comm);
    b->ended = tl_malloc(ncomm * sizeof *b->ended);
    b->comm_of = tl_malloc(n * sizeof *b->comm_of);
    b->same = tl_malloc(n * sizeof *b->same);
    b->busy_until = tl_malloc((n - ncomm) * sizeof *b->busy_until);
    b->cut = tl_calloc(n - ncomm, sizeof *b->cut);
    b->place = tl_calloc(ncomm, sizeof *b->place);
    if (b->local == NULL || b->comm == NULL || b->ended == NULL || b->comm_of == NULL || b->same == NULL ||
        b->busy_until == NULL || b->cut == NULL || b->place == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool follows = i > 0 && tl_same_stream(&k[i - 1], &k[i]) && k[i - 1].kind == TL_COMM;
        b->same[i] = follows ? b->comm_of[i - 1] : TL_NONE;
        if (k[i].kind == TL_COMM) {
            b->comm_of[i] = (uint32_t)b->ncomm;
            b->ended[b->ncomm] = (uint32_t)b->ncomm;
            b->comm[b->ncomm++] = (uint32_t)i;
        } else {
            b->local[b->nlocal++] = (uint32_t)i;
        }
    }
    if (!tl_sort_index(b->local, b->nlocal, by_start, k) || !tl_sort_index(b->ended, b->ncomm, by_end, b))
        return false;
    for (size_t i = 0; i < b->nlocal; i++)
        b->comm_of[b->local[i]] = (uint32_t)i;
    return true;
}

static void find_ends(tl_building *b)
{
    int64_t until = b->start_ns;
    for (size_t i = 0; i < b->nlocal; i++) {
        if (!b->beside[i])
            until = tl_ns_max(until, b->view->kernels[b->local[i]].end_ns);
        b->busy_until[i] = until;
    }
}

/* The lower quartile of what passed between launch and start where the device had nothing of its own left to do: the
 * kernels above it also waited for something else. */
static bool find_latency(tl_building *b)
{
    enum { SAMPLES = 4096 };
    double *ns = tl_malloc(SAMPLES * sizeof *ns);
    size_t n = 0;

    if (ns == NULL)
        return false;
    for (size_t i = 1; i < b->nlocal && n < SAMPLES; i++) {
        const tl_kernel *k = &b->view->kernels[b->local[i]];
        int64_t launch = tl_launch_of(b, k);
        if (launch != TL_TIME_UNKNOWN && !b->beside[i] && launch >= b->busy_until[i - 1])
            ns[n++] = (double)(k->start_ns - launch);
    }
    b->latency_ns = USUAL_LATENCY_NS;
    if (n > 0) {
        tl_real_median(ns, n); /* puts them in order */
        b->latency_ns = tl_ns_min((int64_t)ns[n / 4], LATENCY_MAX_NS);
    }
    free(ns);
    return true;
}

/* -------------------------------------------------------------------------------------------------------- segments */

static int by_launch(const void *building, uint32_t x, uint32_t y)
{
    const tl_building *b = building;
    const tl_comm_place *p = &b->place[x], *q = &b->place[y];
    if (p->launch_ns != q->launch_ns)
        return p->launch_ns < q->launch_ns ? -1 : 1;
    return by_start(b->view->kernels, b->comm[x], b->comm[y]);
}

static void add_boundary(tl_building *b, int64_t host_ns, uint32_t at, uint32_t comm, int32_t step)
{
    tl_boundary *last = b->nboundaries > 0 ? &b->boundaries[b->nboundaries - 1] : NULL;
    if (b->boundaries == NULL)
        return;
    if (last != NULL)
        at = at > last->at ? at : last->at;
    b->boundaries[b->nboundaries++] = (tl_boundary){ host_ns, at, comm, step };
}

/* Launches of collectives and beginnings of steps, in the order of the host; work goes with its launch. */
static bool find_boundaries(tl_building *b)
{
    const tl_rank_view *view = b->view;
    size_t ntimes = view->nsteps > 0 ? view->nsteps + 1 : 0, next = 0, at = 0;
    uint32_t *order = tl_malloc((b->ncomm + 1) * sizeof *order);
    int64_t launched = INT64_MIN;
    int32_t step = -1;
    bool any = false; /* launches are recorded at all */

    for (size_t i = 0; !any && i < b->nlocal; i++)
        any = tl_launch_of(b, &view->kernels[b->local[i]]) != TL_TIME_UNKNOWN;

    b->boundaries = tl_malloc((b->ncomm + ntimes + 1) * sizeof *b->boundaries);
    for (size_t i = 0; order != NULL && i < b->ncomm; i++)
        order[i] = (uint32_t)i;
    if (order == NULL || b->boundaries == NULL || !tl_sort_index(order, b->ncomm, by_launch, b)) {
        free(order);
        return false;
    }
    for (size_t i = 0; i <= b->ncomm; i++) {
        int64_t comm_ns = i < b->ncomm ? b->place[order[i]].launch_ns : INT64_MAX;
        for (; next < ntimes; next++) {
            int64_t time = next < view->nsteps ? view->steps[next].start_ns : view->steps[next - 1].end_ns;
            time = tl_on_device(b, time);
            if (time > comm_ns || time > b->end_ns)
                break;
            step = next < view->nsteps ? view->steps[next].number : -1;
            if (time < b->start_ns)
                continue;
            while (at < b->nlocal) {
                const tl_kernel *k = &view->kernels[b->local[at]];
                int64_t launch = tl_launch_of(b, k);
                /* It was launched before the recording, or is the next step's batch, copied while this one's work waits. */
                if ((launch != TL_TIME_UNKNOWN || !any) && !b->beside[at])
                    launched = tl_ns_max(launched, launch != TL_TIME_UNKNOWN ? launch : k->start_ns);
                if (launched >= time)
                    break;
                at++;
            }
            add_boundary(b, time, (uint32_t)at, TL_NONE, step);
        }
        if (i < b->ncomm)
            add_boundary(b, comm_ns, b->place[order[i]].at, order[i], step);
    }
    for (size_t i = 0; i < b->nboundaries; i++)
        if (b->boundaries[i].at > 0)
            b->cut[b->boundaries[i].at - 1] = true;
    free(order);
    return true;
}

bool tl_building_place(tl_building *b, const tl_rank_view *view, const tl_host_waits *waits)
{
    *b = (tl_building){ .view = view };
    if (!find_extent(b))
        return true;
    if (!put_in_order(b) || !tl_building_find_beside(b, waits))
        return false;
    find_ends(b);
    return find_latency(b) && tl_building_place_comms(b) && find_boundaries(b) && tl_building_find_releases(b, waits);
}

void tl_building_free(tl_building *b)
{
    free(b->local);
    free(b->comm);
    free(b->ended);
    free(b->comm_of);
    free(b->same);
    free(b->busy_until);
    free(b->place);
    free(b->boundaries);
    free(b->releases);
    free(b->cut);
    free(b->beside);
    *b = (tl_building){ 0 };
}
