/* waits.c - what the waits of a rank's host stand behind. */
#include "build.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"

#define US       INT64_C(1000)
#define ROOM_NS  (500 * US) /* a launch that had to wait for room goes on so soon after work has made it */
#define WAKE_NS  (200 * US) /* a host goes on so soon after what it waited for */
#define CLOCK_NS (20 * US)  /* what ends so little after a wait of the host may have ended before: clocks differ */

/* How many pieces of local work have ended at an instant, as far as all before them have too. */
static uint32_t done_at(const tl_building *b, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, b->nlocal, mid, b->busy_until[mid] <= at_ns);
    return (uint32_t)low;
}

size_t tl_comms_ended_at(const tl_building *b, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, b->ncomm, mid, b->view->kernels[b->comm[b->ended[mid]]].end_ns <= at_ns);
    return low;
}

/* Whether it had been launched when the wait began; what does not tell had. */
static bool launched_before_wait(const tl_building *b, const tl_kernel *k, const tl_host_wait *w)
{
    return w->kind == TL_WAIT_QUEUE || tl_launch_of(b, k) <= w->start_ns;
}

/* How many pieces of local work had ended when the wait did; the last of them had been launched before it. */
static uint32_t done_before(const tl_building *b, const tl_host_wait *w)
{
    enum { TRIES = 64 };
    uint32_t done = done_at(b, w->end_ns + CLOCK_NS);
    for (int tries = 0; done > 0; tries++, done--) {
        if (!b->beside[done - 1] && launched_before_wait(b, &b->view->kernels[b->local[done - 1]], w))
            return done;
        if (tries == TRIES)
            return 0;
    }
    return 0;
}

/* The comm that ended last before the wait did, after it had begun; it had been launched before.  TL_NONE. */
static uint32_t comm_waited_for(const tl_building *b, const tl_host_wait *w)
{
    enum { TRIES = 64 };
    size_t ended = tl_comms_ended_at(b, w->end_ns + CLOCK_NS);
    for (int tries = 0; ended > 0 && tries < TRIES; tries++) {
        const tl_kernel *k = &b->view->kernels[b->comm[b->ended[--ended]]];
        if (k->end_ns < w->start_ns)
            return TL_NONE;
        if (launched_before_wait(b, k, w))
            return b->ended[ended];
    }
    return TL_NONE;
}

static bool for_device(const tl_host_wait *w)
{
    return w->kind == TL_WAIT_DEVICE || w->kind == TL_WAIT_FREE;
}

static bool for_stream(const tl_host_wait *w)
{
    return w->kind == TL_WAIT_STREAM || w->kind == TL_WAIT_COPY;
}

/* What ended the wait; false: nothing of the device did. */
static bool released_by(const tl_building *b, const tl_host_wait *w, tl_release *out)
{
    uint32_t done = done_before(b, w), comm = comm_waited_for(b, w);
    int64_t work_ns = done > 0 ? b->busy_until[done - 1] : INT64_MIN, comm_ns = INT64_MIN;
    bool of_stream = false;

    if (comm != TL_NONE) {
        const tl_kernel *k = &b->view->kernels[b->comm[comm]];
        comm_ns = k->end_ns;
        of_stream = w->stream >= 0 && k->stream == w->stream && (w->device < 0 || k->device == w->device);
    }
    /* Who waits for the device waits for all of it. */
    if (for_device(w) && done < b->nlocal &&
        tl_launch_of(b, &b->view->kernels[b->local[done]]) < w->start_ns)
        return false;
    /* Launches that were held one after the other count as one wait, at their end: what made room may have ended
     * before. */
    bool work = done > 0 && work_ns >= w->start_ns - (w->kind == TL_WAIT_QUEUE ? ROOM_NS : 0);
    bool other = comm != TL_NONE && (w->kind != TL_WAIT_QUEUE || (!work && comm_ns >= w->end_ns - CLOCK_NS));
    bool comm_last = other && comm_ns > work_ns;
    /* The communication counts on its own stream; on another one where there is nothing else, or the wait ends with it and
     * the work had ended long before: streams wait for each other. */
    if (for_stream(w)) {
        bool with_comm = work && comm_last && w->end_ns - work_ns > WAKE_NS && w->end_ns - comm_ns <= WAKE_NS;
        work = work && !(comm_last && of_stream) && !with_comm;
    }
    if (w->kind == TL_WAIT_EVENT)
        work = work && !comm_last;
    if (for_stream(w) || w->kind == TL_WAIT_EVENT)
        other = other && !work;
    if (!work && !other)
        return false;
    int64_t until = tl_ns_max(work ? work_ns : INT64_MIN, other ? comm_ns : INT64_MIN);
    *out = (tl_release){ *w, w->end_ns - until, work ? done : 0, other ? comm : TL_NONE };
    return true;
}

bool tl_building_find_releases(tl_building *b, const tl_host_waits *waits)
{
    b->releases = tl_malloc((waits->n + 1) * sizeof *b->releases);
    if (b->releases == NULL)
        return false;
    for (size_t i = 0; i < waits->n; i++) {
        tl_host_wait w = waits->v[i];
        tl_release *release = &b->releases[b->nreleases];
        if (w.start_ns < b->start_ns || w.end_ns > b->end_ns + TL_SKEW_MAX_NS)
            continue;
        w.start_ns -= b->skew_ns;
        w.end_ns -= b->skew_ns;
        if (!released_by(b, &w, release))
            continue;
        /* What the host did as soon as the wait was over may seem to have begun before. */
        release->wait.end_ns = tl_ns_max(release->wait.start_ns, release->wait.end_ns - TL_ROUNDING_NS);
        release->gate_ns -= w.end_ns - release->wait.end_ns;
        if (release->behind > 0)
            b->cut[release->behind - 1] = true;
        b->nreleases++;
    }
    return true;
}
