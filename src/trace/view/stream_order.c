/* stream_order.c - device work in the order of devices, streams and time.
 *
 * Streams take turns in a trace, but each by itself is almost in order: so events are parted by stream first.
 *
 * A rank mostly has one device.  So work without a recorded device counts as work of the lowest device that other work
 * names: a device of its own would be counted, and called idle, beside the one on which the work ran.
 */
#include "stream_order.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

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

/* Device and stream: as the args say, where that can be one, else as the track says, where Kineto puts them as pid and
 * tid; but a wait sits on a host track. */
static int32_t device_of(tl_cat cat, const tl_lane *lane, const tl_track *track)
{
    bool tracked = cat != TL_CAT_SYNC && track->pid_text == TL_NO_NAME;
    int32_t device = tl_small_int(lane->device);
    return device < 0 && tracked ? tl_small_int(track->pid) : device;
}

static int32_t stream_of(tl_cat cat, const tl_lane *lane, const tl_track *track, const tl_names *names)
{
    if (lane->stream != TL_LANE_ABSENT || cat == TL_CAT_SYNC)
        return tl_small_int(lane->stream);
    return tl_small_int(track->tid_text == TL_NO_NAME ? track->tid : number_in(tl_names_text(names, track->tid_text)));
}

int32_t tl_event_device(const tl_events *e, size_t i)
{
    return device_of(tl_event_cat(e, i), &e->lanes.v[e->lane[i]], &e->tracks.v[e->track[i]]);
}

typedef struct parting {
    const tl_events *e;
    const tl_columns *c;
    tl_streams *streams;
    tl_map map;         /* (device, stream) -> number */
    uint32_t *of;       /* by event: the number of its stream */
    uint32_t *position; /* by number: the place in order */
} parting;

static int by_position(const void *a, const void *b)
{
    const tl_stream_events *x = a, *y = b;
    return x->device != y->device ? TL_COMPARE(x->device, y->device) : TL_COMPARE(x->stream, y->stream);
}

static int by_time(const void *columns, uint32_t a, uint32_t b)
{
    const tl_columns *c = columns;
    return c->start_ns[a] != c->start_ns[b] ? TL_COMPARE(c->start_ns[a], c->start_ns[b])
                                            : TL_COMPARE(c->dur_ns[a], c->dur_ns[b]);
}

/* The number of the stream that event i ran on. */
static uint32_t number_of(parting *p, size_t i)
{
    const tl_lane *lane = &p->e->lanes.v[p->c->lane[i]];
    const tl_track *track = &p->e->tracks.v[p->c->track[i]];
    tl_cat cat = (tl_cat)p->c->kind[i];
    int32_t device = device_of(cat, lane, track), stream = stream_of(cat, lane, track, &p->e->names);
    uint64_t key = (uint64_t)(uint32_t)device << 32 | (uint32_t)stream;
    uint32_t number = tl_map_get(&p->map, key);

    if (number == TL_MAP_NONE) {
        tl_vec_room(p->streams);
        tl_map_put(&p->map, key, (uint32_t)p->streams->n);
        number = (uint32_t)p->streams->n++;
        p->streams->v[number] = (tl_stream_events){ device, stream, number, 0, 0 };
    }
    return number;
}

static void find_streams(parting *p)
{
    const tl_columns *c = p->c;

    for (size_t i = 0; i < c->n; i++) {
        bool same = i > 0 && c->lane[i] == c->lane[i - 1] && c->track[i] == c->track[i - 1] &&
                    (c->kind[i] == TL_CAT_SYNC) == (c->kind[i - 1] == TL_CAT_SYNC);
        p->of[i] = same ? p->of[i - 1] : number_of(p, i);
        p->streams->v[p->of[i]].n++;
    }
}

/* Gives streams of no known device the lowest that is known. */
static void settle_unknown(tl_streams *streams)
{
    int32_t lowest = -1;
    for (size_t i = 0; i < streams->n; i++)
        if (streams->v[i].device >= 0 && (lowest < 0 || streams->v[i].device < lowest))
            lowest = streams->v[i].device;
    for (size_t i = 0; i < streams->n; i++)
        if (streams->v[i].device < 0)
            streams->v[i].device = lowest;
}

/* Sorts the streams, merges streams that have become equal, and notes the position of each stream number. */
static void place_streams(parting *p)
{
    tl_streams *streams = p->streams;
    size_t n = 0;

    if (streams->n > 1)
        qsort(streams->v, streams->n, sizeof *streams->v, by_position);
    for (size_t i = 0; i < streams->n; i++) {
        const tl_stream_events stream = streams->v[i];
        if (n > 0 && by_position(&streams->v[n - 1], &stream) == 0)
            streams->v[n - 1].n += stream.n;
        else
            streams->v[n++] = stream;
        p->position[stream.number] = (uint32_t)(n - 1);
    }
    streams->n = n;
}

/* Parts the events by stream, each stream in file order. */
static void part(parting *p, uint32_t *order)
{
    tl_streams *streams = p->streams;
    size_t at = 0;

    p->position = tl_malloc((streams->n + 1) * sizeof *p->position);
    place_streams(p);
    for (size_t i = 0; i < streams->n; i++) {
        streams->v[i].first = at;
        at += streams->v[i].n;
        streams->v[i].n = 0;
    }
    for (size_t i = 0; i < p->c->n; i++) {
        tl_stream_events *stream = &streams->v[p->position[p->of[i]]];
        order[stream->first + stream->n++] = (uint32_t)i;
    }
}

void tl_order_by_stream(const tl_events *e, const tl_columns *c, bool work, uint32_t *order, tl_streams *streams)
{
    parting p = { .e = e, .c = c, .streams = streams, .of = tl_malloc(c->n * sizeof *p.of) };
    find_streams(&p);

    if (work)
        settle_unknown(streams);
    part(&p, order);

    free(p.of);
    free(p.position);
    tl_map_free(&p.map);
    for (size_t i = 0; i < streams->n; i++)
        tl_sort_index(order + streams->v[i].first, streams->v[i].n, by_time, c);
}
