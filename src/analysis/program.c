/* program.c - work and host strung into two chains, and the chains woven into one list.
 *
 * A kernel starts when the work before it has ended, a collective that it waits for has ended, and its launch has
 * arrived; what is left between the last of these and its start (g) belongs to it:
 *
 *     host     ....[launch].........                    end of a stretch of kernels =
 *     work     [k1].........g[ k2 ]g[k3]                    max(end before it + all g and durations,
 *                           |<- tail ->|                        launch of one of them + its tail)
 *
 * Of all launches of a stretch the one that leaves least room is kept.  A stretch ends where something else depends on
 * it, where a segment ends, before work that waits for a collective, and before work whose late launch left the device
 * idle for SPLIT_NS: the pauses of a host are kept apart, so that one may go and the others stay.
 */
#include "tlmpi/analysis/program.h"
#include "program_build.h"
#include "program_shares.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>
#include <string.h>

#define US           INT64_C(1000)
#define JOIN_NS      (50 * US) /* from the end of a collective to the start of what waited for it */
#define USUAL_GAP_NS (3 * US)  /* between two kernels of a stream, if nothing keeps the second */
#define SPLIT_NS     (20 * US)
enum { SPLITS = 8 }; /* of a segment; beyond them only what is four times as long as any before */

/* A stretch of work before it is an entry. */
typedef struct stretch {
    tl_entry entry;
    int64_t launch_ns; /* of the launch that leaves least room, TL_TIME_UNKNOWN */
    int64_t tail_ns;   /* the end, as this launch alone would have it */
    int64_t end_ns;
    uint32_t until; /* pieces of local work up to its end */
} stretch;

typedef enum host_kind { HOST_WAIT, HOST_BOUNDARY, HOST_GATE } host_kind;

/* An instant of the host before it is an entry. */
typedef struct host_point {
    int64_t time_ns;
    uint32_t of; /* release, boundary or stretch */
    host_kind kind;
} host_point;

typedef struct composing {
    tl_building *b;
    tl_shares shares;
    tl_program *out;
    TL_VEC(stretch) works;
    stretch now;
    bool open;
    uint32_t segment;
    int splits;
    int64_t longest_split_ns;
    size_t ended; /* how many comms have ended, by `ended` of the building */
    host_point *points;
    size_t npoints;
    uint32_t *entry_of_work; /* by stretch */
    uint32_t *entry_of_comm; /* by comm: its launch; TL_NONE */
    uint32_t *gate_of_work;  /* by stretch: its host point, TL_NONE */
} composing;

/* ------------------------------------------------------------------------------------------------------------ work */

static bool close_stretch(composing *c)
{
    if (!c->open)
        return true;
    if (!tl_vec_room(&c->works))
        return false;
    c->now.entry.gate_ns = c->now.launch_ns != TL_TIME_UNKNOWN ? c->now.tail_ns - c->now.launch_ns : 0;
    c->works.v[c->works.n++] = c->now;
    c->open = false;
    return true;
}

static void open_stretch(composing *c, uint32_t comm, int64_t at_ns, uint32_t until)
{
    c->now = (stretch){ .entry = { .on = TL_NONE, .comm = comm, .segment = c->segment, .chain = TL_CHAIN_WORK },
                        .launch_ns = TL_TIME_UNKNOWN,
                        .tail_ns = INT64_MIN,
                        .end_ns = at_ns,
                        .until = until };
    c->open = true;
}

static bool close_segment(composing *c)
{
    if (!close_stretch(c))
        return false;
    c->splits = 0;
    c->longest_split_ns = 0;
    c->segment++;
    return true;
}

/* The comm whose end kernel k waited for: the last that ended shortly before it started and had been launched before
 * it. Nothing else may explain why it did not start before_ns or soon after.  `ended` comms have ended at its start.
 * TL_NONE. */
static uint32_t waited_for(const tl_building *b, const tl_kernel *k, size_t ended, int64_t before_ns)
{
    enum { TRIES = 16 };
    for (int tries = 0; ended > 0 && tries < TRIES; tries++) {
        uint32_t comm = b->ended[--ended];
        const tl_kernel *other = &b->view->kernels[b->comm[comm]];
        if (other->end_ns <= before_ns + USUAL_GAP_NS || k->start_ns - other->end_ns > JOIN_NS)
            return TL_NONE;
        if (k != other && (tl_launch_of(b, k) == TL_TIME_UNKNOWN || tl_launch_of(b, other) <= tl_launch_of(b, k)))
            return comm;
    }
    return TL_NONE;
}

static bool worth_a_split(composing *c, int64_t late_ns)
{
    if (late_ns < SPLIT_NS || (c->splits >= SPLITS && late_ns / 4 < c->longest_split_ns))
        return false;
    c->splits++;
    c->longest_split_ns = tl_ns_max(c->longest_split_ns, late_ns);
    return true;
}

/* What a kernel computes, to be summed over a segment: names tell it on every rank. */
static uint64_t does(const tl_building *b, const tl_kernel *k)
{
    const tl_names *names = b->view->names;
    if (k->kind != TL_COMPUTE || names == NULL || k->name >= names->n)
        return 0;
    return tl_hash_mix(names->v[k->name].key, k->blocks);
}

/* Appends one kernel; free_ns is when all work before it had ended. */
static bool append_kernel(composing *c, uint32_t i, int64_t free_ns)
{
    tl_building *b = c->b;
    const tl_kernel *k = &b->view->kernels[b->local[i]];
    int64_t arrival = tl_arrival_of(b, k), ready = free_ns, add = 0, room;
    uint32_t same = b->same[b->local[i]];

    while (c->ended < b->ncomm && b->view->kernels[b->comm[b->ended[c->ended]]].end_ns <= k->start_ns + TL_ROUNDING_NS)
        c->ended++;
    uint32_t comm = waited_for(b, k, c->ended, tl_ns_max(free_ns, arrival));
    if (same != TL_NONE && b->view->kernels[b->comm[same]].end_ns > k->start_ns + TL_ROUNDING_NS)
        same = TL_NONE;
    if (same != TL_NONE && comm != TL_NONE && same != comm) { /* an entry of its own for the one that ended first */
        if (!close_stretch(c))
            return false;
        open_stretch(c, same, free_ns, i);
    }
    comm = comm != TL_NONE ? comm : same;
    if (comm != TL_NONE)
        ready = tl_ns_max(ready, b->view->kernels[b->comm[comm]].end_ns);
    if (comm != TL_NONE || !c->open || worth_a_split(c, arrival != TL_TIME_UNKNOWN ? arrival - ready : 0)) {
        if (!close_stretch(c))
            return false;
        open_stretch(c, comm, free_ns, i);
    }
    if (k->start_ns >= free_ns) {
        int64_t base = tl_ns_max(ready, arrival);
        if (!tl_shares_late(&c->shares, ready, base))
            return false;
        tl_shares_work(&c->shares, c->segment, base, k->end_ns);
        add = tl_ns_max(0, k->end_ns - base);
        room = add;
    } else {
        add = tl_ns_max(0, k->end_ns - free_ns);
        tl_shares_work(&c->shares, c->segment, free_ns, free_ns + add);
        room = k->end_ns - k->start_ns;
    }
    stretch *s = &c->now;
    c->out->segments[c->segment].does += does(b, k);
    c->out->segments[c->segment].nkernels += k->kind == TL_COMPUTE;
    s->entry.ns += add;
    s->tail_ns = s->launch_ns != TL_TIME_UNKNOWN ? s->tail_ns + add : INT64_MIN;
    if (arrival != TL_TIME_UNKNOWN && arrival + room > s->tail_ns) {
        s->tail_ns = arrival + room;
        s->launch_ns = tl_launch_of(b, k);
    }
    s->end_ns = tl_ns_max(free_ns, k->end_ns);
    s->until = i + 1;
    return !b->cut[i] || close_stretch(c);
}

static bool compose_work(composing *c)
{
    const tl_building *b = c->b;
    size_t next = 0;

    for (uint32_t i = 0; i <= b->nlocal; i++) {
        for (; next < b->nboundaries && (b->boundaries[next].at <= i || i == b->nlocal); next++)
            if (!close_segment(c))
                return false;
        if (i < b->nlocal && !append_kernel(c, i, i > 0 ? b->busy_until[i - 1] : b->start_ns))
            return false;
    }
    if (!close_segment(c))
        return false;
    for (size_t i = 0; i < c->works.n; i++)
        c->out->segments[c->works.v[i].entry.segment].work_ns += c->works.v[i].entry.ns;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ host */

static int by_time(const void *a, const void *b)
{
    const host_point *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->of > y->of) - (x->of < y->of);
}

/* Where launches were held one after the other the host keeps its own time, and waits at the end: up to where it was at
 * this instant. */
static int64_t unheld(const tl_building *b, int64_t at_ns)
{
    size_t low = 0, high = b->nreleases;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (b->releases[mid].wait.end_ns <= at_ns)
            low = mid + 1;
        else
            high = mid;
    }
    const tl_release *r = low < b->nreleases ? &b->releases[low] : NULL;
    return r != NULL && r->wait.kind == TL_WAIT_QUEUE && r->wait.start_ns < at_ns ? r->wait.start_ns : at_ns;
}

static bool collect_points(composing *c)
{
    const tl_building *b = c->b;

    c->points = tl_malloc((b->nreleases + b->nboundaries + c->works.n + 1) * sizeof *c->points);
    if (c->points == NULL)
        return false;
    for (size_t i = 0; i < b->nreleases; i++)
        c->points[c->npoints++] = (host_point){ b->releases[i].wait.end_ns, (uint32_t)i, HOST_WAIT };
    for (size_t i = 0; i < b->nboundaries; i++)
        if (b->boundaries[i].comm == TL_NONE || b->place[b->boundaries[i].comm].launched)
            c->points[c->npoints++] = (host_point){ b->boundaries[i].host_ns, (uint32_t)i, HOST_BOUNDARY };
    for (size_t i = 0; i < c->works.n; i++) {
        if (c->works.v[i].launch_ns == TL_TIME_UNKNOWN)
            continue;
        int64_t at_ns = unheld(b, c->works.v[i].launch_ns);
        c->works.v[i].entry.gate_ns += c->works.v[i].launch_ns - at_ns;
        c->points[c->npoints++] = (host_point){ at_ns, (uint32_t)i, HOST_GATE };
    }
    if (c->npoints > 1)
        qsort(c->points, c->npoints, sizeof *c->points, by_time);
    return true;
}

/* --------------------------------------------------------------------------------------------------------- weaving */

/* The stretch that ends with the last of so many pieces of work. */
static uint32_t work_until(const composing *c, uint32_t until)
{
    size_t low = 0, high = c->works.v != NULL ? c->works.n : 0;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c->works.v[mid].until < until)
            low = mid + 1;
        else
            high = mid;
    }
    return (uint32_t)low;
}

typedef struct weaving {
    composing *c;
    size_t work, point; /* the next of each */
    size_t boundary;    /* boundaries passed by the host */
    int64_t host_ns;    /* time of the last point */
} weaving;

static tl_entry *next_entry(composing *c)
{
    return &c->out->entries[c->out->nentries++];
}

static void weave_work(weaving *w)
{
    composing *c = w->c;
    stretch *s = &c->works.v[w->work];
    c->entry_of_work[w->work] = (uint32_t)c->out->nentries;
    s->entry.on = c->gate_of_work[w->work];
    *next_entry(c) = s->entry;
    w->work++;
}

static void weave_point(weaving *w, const host_point *p)
{
    composing *c = w->c;
    const tl_building *b = c->b;
    w->point++;
    uint32_t at = (uint32_t)c->out->nentries;
    int64_t until = p->time_ns;
    tl_entry e = { .on = TL_NONE, .comm = TL_NONE, .chain = TL_CHAIN_HOST };

    while (w->boundary < b->nboundaries && p->kind != HOST_BOUNDARY && b->boundaries[w->boundary].host_ns <= p->time_ns)
        w->boundary++;
    if (p->kind == HOST_BOUNDARY)
        w->boundary = p->of;
    e.segment = (uint32_t)w->boundary;
    if (p->kind == HOST_BOUNDARY) {
        if (b->boundaries[p->of].comm != TL_NONE)
            c->entry_of_comm[b->boundaries[p->of].comm] = at;
        w->boundary++;
    } else if (p->kind == HOST_GATE) {
        c->gate_of_work[p->of] = at;
    } else {
        const tl_release *release = &b->releases[p->of];
        uint32_t work = release->behind > 0 ? work_until(c, release->behind) : TL_NONE;
        until = release->wait.start_ns;
        e.comm = release->comm;
        e.gate_ns = release->gate_ns;
        e.wait = (uint8_t)(1 + release->wait.kind);
        e.on = work < w->work ? c->entry_of_work[work] : TL_NONE;
    }
    e.ns = tl_ns_max(0, until - w->host_ns);
    w->host_ns = p->time_ns;
    c->out->segments[e.segment].host_ns += e.ns;
    *next_entry(c) = e;
}

/* Whichever comes first in time, as far as what it depends on has come. */
static void weave(composing *c)
{
    const tl_building *b = c->b;
    weaving w = { .c = c, .host_ns = b->start_ns };

    while (w.work < c->works.n || w.point < c->npoints) {
        const stretch *s = w.work < c->works.n ? &c->works.v[w.work] : NULL;
        const host_point *p = w.point < c->npoints ? &c->points[w.point] : NULL;
        bool work = s != NULL && (s->launch_ns == TL_TIME_UNKNOWN || c->gate_of_work[w.work] != TL_NONE);
        bool host = p != NULL;
        if (host && p->kind == HOST_WAIT && b->releases[p->of].behind > 0)
            host = work_until(c, b->releases[p->of].behind) < w.work;
        if (work && (!host || s->end_ns <= p->time_ns))
            weave_work(&w);
        else if (p != NULL)
            weave_point(
                &w,
                p); /* also where each waits for the other, which times that contradict each other can bring about */
    }
}

/* ----------------------------------------------------------------------------------------------------------- comms */

static bool fill_comm(composing *c, size_t i)
{
    const tl_building *b = c->b;
    const tl_kernel *k = &b->view->kernels[b->comm[i]];
    const tl_comm_place *place = &b->place[i];
    tl_comm *comm = &c->out->comms[i];
    int64_t base = b->start_ns;

    *comm = (tl_comm){ .start_ns = k->start_ns,
                       .end_ns = k->end_ns,
                       .work = TL_NONE,
                       .host = c->entry_of_comm[i],
                       .previous = place->previous,
                       .after = TL_NONE,
                       .kernel = b->comm[i],
                       .segment = comm->segment,
                       .kind = k->collective };
    if (place->behind > 0) {
        int64_t done = b->busy_until[place->behind - 1];
        comm->work = c->entry_of_work[work_until(c, place->behind)];
        comm->work_ns = tl_ns_min(0, k->start_ns - done);
        base = tl_ns_max(base, done + comm->work_ns);
    }
    if (comm->host != TL_NONE) {
        comm->host_ns = tl_arrival_of(b, k) - tl_launch_of(b, k);
        if (comm->work != TL_NONE && !tl_shares_late(&c->shares, base, tl_arrival_of(b, k)))
            return false;
        base = tl_ns_max(base, tl_arrival_of(b, k));
    }
    if (comm->previous != TL_NONE)
        base = tl_ns_max(base, b->view->kernels[b->comm[comm->previous]].end_ns);
    comm->after = waited_for(b, k, tl_comms_ended_at(b, k->start_ns), base);
    if (comm->after != TL_NONE)
        base = b->view->kernels[b->comm[comm->after]].end_ns;
    comm->lag_ns = k->start_ns - base;
    return true;
}

static bool reserve(composing *c)
{
    const tl_building *b = c->b;
    tl_program *out = c->out;

    out->start_ns = b->start_ns;
    out->end_ns = b->end_ns;
    out->nsegments = b->nboundaries + 1;
    out->segments = tl_calloc(out->nsegments + 1, sizeof *out->segments);
    out->comms = tl_calloc(b->ncomm + 1, sizeof *out->comms);
    c->entry_of_comm = tl_malloc((b->ncomm + 1) * sizeof *c->entry_of_comm);
    if (out->segments == NULL || out->comms == NULL || c->entry_of_comm == NULL)
        return false;
    memset(c->entry_of_comm, 0xff, (b->ncomm + 1) * sizeof *c->entry_of_comm); /* TL_NONE */
    out->ncomms = b->ncomm;
    out->segments[0].step = -1;
    for (size_t i = 0; i < b->nboundaries; i++) {
        out->segments[i + 1].step = b->boundaries[i].step;
        if (b->boundaries[i].comm != TL_NONE)
            out->comms[b->boundaries[i].comm].segment = (uint32_t)i;
    }
    return true;
}

static bool compose(composing *c)
{
    if (!reserve(c) || !compose_work(c) || !collect_points(c))
        return false;
    size_t n = c->works.n;
    c->entry_of_work = tl_malloc((n + 1) * sizeof *c->entry_of_work);
    c->gate_of_work = tl_malloc((n + 1) * sizeof *c->gate_of_work);
    c->out->entries = tl_malloc((n + c->npoints + 1) * sizeof *c->out->entries);
    if (c->entry_of_work == NULL || c->gate_of_work == NULL || c->out->entries == NULL)
        return false;
    memset(c->gate_of_work, 0xff, (n + 1) * sizeof *c->gate_of_work); /* TL_NONE */
    weave(c);
    for (size_t i = 0; i < c->b->ncomm; i++)
        if (!fill_comm(c, i))
            return false;
    return tl_shares_write(&c->shares, c->out);
}

tl_status tl_program_make(const tl_rank_view *view, const tl_activity *activity, const tl_host_waits *waits,
                          tl_program *out, tl_error *err)
{
    tl_building b;
    composing c = { .b = &b, .out = out };

    *out = (tl_program){ 0 };
    bool whole = tl_building_place(&b, view, waits);
    if (whole && b.nlocal + b.ncomm > 0)
        whole = tl_shares_begin(&c.shares, &b, activity, b.nboundaries + 1) && compose(&c);
    tl_shares_free(&c.shares);
    free(c.works.v);
    free(c.points);
    free(c.entry_of_work);
    free(c.entry_of_comm);
    free(c.gate_of_work);
    tl_building_free(&b);
    return whole ? TL_OK : tl_fail_memory(err, "the program of a rank");
}

void tl_program_free(tl_program *p)
{
    free(p->entries);
    free(p->comms);
    free(p->segments);
    free(p->shares);
    *p = (tl_program){ 0 };
}

void tl_program_parts(const tl_program *p, uint32_t segment, tl_parts *sum)
{
    for (size_t i = p->segments[segment].first_share; i < p->segments[segment + 1].first_share; i++)
        sum->ns[p->shares[i].part] += p->shares[i].ns;
}
