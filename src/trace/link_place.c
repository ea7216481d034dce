/* link_place.c - see link_place.h.
 *
 * Streams take turns in a trace, but each by itself is almost in order: so events are parted by stream first.
 */
#include "link_place.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/trace/link.h"
#include <stdlib.h>
#include <string.h>

int32_t tl_small_int(int64_t x)
{
    return x >= 0 && x <= INT32_MAX ? (int32_t)x : -1;
}

/* The number in a text such as "stream 7", -1 without one. */
static int64_t number_in(tl_text t)
{
    int64_t x = -1;
    for (size_t i = 0; i < t.n; i++)
        if (t.p[i] >= '0' && t.p[i] <= '9' && x < INT32_MAX)
            x = (x < 0 ? 0 : x * 10) + (t.p[i] - '0');
    return x;
}

/* Device and stream: as the args say, else as the track says, where Kineto puts them as pid and tid; but a wait sits on
 * a host track. */
int32_t tl_event_device(const tl_events *e, size_t i)
{
    const tl_lane *lane = &e->lanes.v[e->lane[i]];
    const tl_track *track = &e->tracks.v[e->track[i]];
    bool tracked = tl_event_cat(e, i) != TL_CAT_SYNC && track->pid_text == TL_NO_NAME;
    return tl_small_int(lane->device == TL_LANE_ABSENT && tracked ? track->pid : lane->device);
}

void tl_event_place(const tl_events *e, size_t i, int32_t *device, int32_t *stream)
{
    const tl_lane *lane = &e->lanes.v[e->lane[i]];
    const tl_track *track = &e->tracks.v[e->track[i]];

    *device = tl_event_device(e, i);
    *stream = tl_small_int(lane->stream);
    if (lane->stream == TL_LANE_ABSENT && tl_event_cat(e, i) != TL_CAT_SYNC)
        *stream = tl_small_int(track->tid_text == TL_NO_NAME ? track->tid
                                                             : number_in(tl_names_text(&e->names, track->tid_text)));
}

/* One stream of one device, and where its events stand. */
typedef struct place {
    int32_t device, stream;
    uint32_t number; /* in order of first appearance */
    size_t n, at;
} place;

typedef struct parting {
    const tl_events *e;
    TL_VEC(place) places;
    tl_map map;      /* (device, stream) -> number */
    uint32_t *of;    /* by event of the index: the number of its place */
    uint32_t *order; /* by number: the place in order */
    uint32_t *room;
} parting;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->device != y->device ? TL_COMPARE(x->device, y->device) : TL_COMPARE(x->stream, y->stream);
}

static int by_time(const void *events, uint32_t a, uint32_t b)
{
    const tl_events *e = events;
    return e->ts_ns[a] != e->ts_ns[b] ? TL_COMPARE(e->ts_ns[a], e->ts_ns[b]) : TL_COMPARE(e->dur_ns[a], e->dur_ns[b]);
}

static bool find_places(parting *p, const uint32_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t device, stream;
        tl_event_place(p->e, index[i], &device, &stream);
        uint64_t key = (uint64_t)(uint32_t)device << 32 | (uint32_t)stream;
        uint32_t number = tl_map_get(&p->map, key);
        if (number == TL_MAP_NONE || p->places.v == NULL) {
            number = (uint32_t)p->places.n;
            if (!tl_vec_room(&p->places) || tl_map_put(&p->map, key, number) != 0)
                return false;
            p->places.v[p->places.n++] = (place){ device, stream, number, 0, 0 };
        }
        p->places.v[number].n++;
        p->of[i] = number;
    }
    return true;
}

/* Parts the events by place, in *index again, each place in file order. */
static bool part(parting *p, uint32_t *index, size_t n)
{
    size_t at = 0;

    p->order = tl_malloc((p->places.n + 1) * sizeof *p->order);
    p->room = tl_malloc((n + 1) * sizeof *p->room);
    if (p->order == NULL || p->room == NULL)
        return false;
    if (p->places.n > 1)
        qsort(p->places.v, p->places.n, sizeof *p->places.v, by_place);
    for (uint32_t i = 0; i < p->places.n; i++) {
        p->order[p->places.v[i].number] = i;
        p->places.v[i].at = at;
        at += p->places.v[i].n;
    }
    for (size_t i = 0; i < n; i++)
        p->room[p->places.v[p->order[p->of[i]]].at++] = index[i];
    if (n > 0)
        memcpy(index, p->room, n * sizeof *index);
    return true;
}

bool tl_order_by_place(const tl_events *e, uint32_t *index, size_t n)
{
    parting p = { .e = e, .of = tl_malloc((n + 1) * sizeof *p.of) };
    bool whole = p.of != NULL && find_places(&p, index, n) && part(&p, index, n);

    for (size_t i = 0; whole && i < p.places.n; i++) /* at is behind the last of a place now */
        whole = tl_sort_index(index + p.places.v[i].at - p.places.v[i].n, p.places.v[i].n, by_time, e);
    free(p.places.v);
    free(p.of);
    free(p.order);
    free(p.room);
    tl_map_free(&p.map);
    return whole;
}
