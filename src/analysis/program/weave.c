/* weave.c - the instants of the host, and both chains woven into one list, in which each entry comes after
 * those it depends on. */
#include "compose.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    const tl_host_point *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return TL_COMPARE(x->of, y->of);
}

/* Where launches were held one after the other the host keeps its own time, and waits at the end: up to where it was at
 * this instant. */
static int64_t unheld(const tl_building *b, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, b->nreleases, mid, b->releases[mid].wait.end_ns <= at_ns);
    const tl_release *r = low < b->nreleases ? &b->releases[low] : NULL;
    return r != NULL && r->wait.kind == TL_WAIT_QUEUE && r->wait.start_ns < at_ns ? r->wait.start_ns : at_ns;
}

bool tl_compose_points(tl_composing *c)
{
    const tl_building *b = c->b;

    c->points = tl_malloc((b->nreleases + b->nboundaries + c->works.n + 1) * sizeof *c->points);
    if (c->points == NULL)
        return false;
    for (size_t i = 0; i < b->nreleases; i++)
        c->points[c->npoints++] = (tl_host_point){ b->releases[i].wait.end_ns, (uint32_t)i, TL_HOST_WAIT };
    for (size_t i = 0; i < b->nboundaries; i++)
        if (b->boundaries[i].comm == TL_NONE || b->place[b->boundaries[i].comm].launched)
            c->points[c->npoints++] = (tl_host_point){ b->boundaries[i].host_ns, (uint32_t)i, TL_HOST_BOUNDARY };
    for (size_t i = 0; i < c->works.n; i++) {
        if (c->works.v[i].launch_ns == TL_TIME_UNKNOWN)
            continue;
        int64_t at_ns = unheld(b, c->works.v[i].launch_ns);
        c->works.v[i].entry.gate_ns += c->works.v[i].launch_ns - at_ns;
        c->points[c->npoints++] = (tl_host_point){ at_ns, (uint32_t)i, TL_HOST_GATE };
    }
    if (c->npoints > 1)
        qsort(c->points, c->npoints, sizeof *c->points, by_time);
    return true;
}

/* --------------------------------------------------------------------------------------------------------- weaving */

uint32_t tl_stretch_until(const tl_composing *c, uint32_t until)
{
    size_t low = 0;
    TL_BISECT(low, c->works.v != NULL ? c->works.n : 0, mid, c->works.v[mid].until < until);
    return (uint32_t)low;
}

typedef struct weaving {
    tl_composing *c;
    size_t work, point; /* the next of each */
    size_t boundary;    /* boundaries passed by the host */
    int64_t host_ns;    /* time of the last point */
} weaving;

static tl_entry *next_entry(tl_composing *c)
{
    return &c->out->entries[c->out->nentries++];
}

static void weave_work(weaving *w)
{
    tl_composing *c = w->c;
    tl_stretch *s = &c->works.v[w->work];
    c->entry_of_work[w->work] = (uint32_t)c->out->nentries;
    s->entry.on = c->gate_of_work[w->work];
    *next_entry(c) = s->entry;
    w->work++;
}

static void weave_point(weaving *w, const tl_host_point *p)
{
    tl_composing *c = w->c;
    const tl_building *b = c->b;
    w->point++;
    uint32_t at = (uint32_t)c->out->nentries;
    int64_t until = p->time_ns;
    tl_entry e = { .on = TL_NONE, .comm = TL_NONE, .chain = TL_CHAIN_HOST };

    while (w->boundary < b->nboundaries && p->kind != TL_HOST_BOUNDARY &&
           b->boundaries[w->boundary].host_ns <= p->time_ns)
        w->boundary++;
    if (p->kind == TL_HOST_BOUNDARY)
        w->boundary = p->of;
    e.segment = (uint32_t)w->boundary;
    if (p->kind == TL_HOST_BOUNDARY) {
        if (b->boundaries[p->of].comm != TL_NONE)
            c->entry_of_comm[b->boundaries[p->of].comm] = at;
        w->boundary++;
    } else if (p->kind == TL_HOST_GATE) {
        c->gate_of_work[p->of] = at;
    } else {
        const tl_release *release = &b->releases[p->of];
        uint32_t work = release->behind > 0 ? tl_stretch_until(c, release->behind) : TL_NONE;
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

/* Whether the work that ended a wait of the host has come, and that which a comm that ended it stood behind: while a copy of
 * another stream runs a stretch ends later than the comm that waited for its first kernels. */
static bool can_release(const tl_composing *c, const tl_release *r, size_t work)
{
    uint32_t behind = r->behind;
    if (r->comm != TL_NONE && c->b->place[r->comm].behind > behind)
        behind = c->b->place[r->comm].behind;
    return behind == 0 || tl_stretch_until(c, behind) < work;
}

/* Whichever comes first in time, as far as what it depends on has come. */
void tl_compose_weave(tl_composing *c)
{
    const tl_building *b = c->b;
    weaving w = { .c = c, .host_ns = b->start_ns };

    while (w.work < c->works.n || w.point < c->npoints) {
        const tl_stretch *s = w.work < c->works.n ? &c->works.v[w.work] : NULL;
        const tl_host_point *p = w.point < c->npoints ? &c->points[w.point] : NULL;
        bool work = s != NULL && (s->launch_ns == TL_TIME_UNKNOWN || c->gate_of_work[w.work] != TL_NONE);
        bool host = p != NULL && (p->kind != TL_HOST_WAIT || can_release(c, &b->releases[p->of], w.work));
        if (work && (!host || s->end_ns <= p->time_ns))
            weave_work(&w);
        else if (p != NULL) /* also where each waits for the other, which contradictory times can bring about */
            weave_point(&w, p);
    }
}
