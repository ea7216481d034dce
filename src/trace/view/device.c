/* device.c - events of devices: their streams, the calls that queued them, and impossible ends.
 *
 *     host    ..[launch, correlation 7]......
 *     stream  ..............[kernel, correlation 7]....
 *
 * Events of different streams alternate in a trace, but those of each stream are almost in order: so events are grouped
 * by stream first.  A rank mostly has one device, so work without a recorded device counts for the lowest device that
 * other work names: a separate device would be reported as idle beside the one on which the work ran.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/parameters.h"

/* ------------------------------------------------------------------------------------------------------------ lists */

/* Lists the events of these categories that have a time. */
static tl_event_list list_events(const tl_events *e, uint32_t cats)
{
    tl_event_list list = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < e->n; i++)
        n += tl_event_in(e, i, cats);
    list.v = tl_malloc(n * sizeof *list.v);
    list.cap = n;
    for (size_t i = 0; list.n < n; i++)
        if (tl_event_in(e, i, cats))
            list.v[list.n++] = (uint32_t)i;
    return list;
}

/* Sorts the list by part, part[i] < nparts of entry i, and within a part by `compare`, whose context is the events;
 * stable.  Returns the first entry of each part, and the end; the caller frees it. */
static size_t *sort_parts(const tl_events *e, tl_event_list *list, const uint32_t *part, size_t nparts,
                          tl_compare *compare)
{
    size_t *first = tl_malloc((nparts + 1) * sizeof *first);
    uint32_t *order = tl_malloc(list->n * sizeof *order);

    tl_group_rows(part, list->n, nparts, first, order);
    for (size_t i = 0; i < list->n; i++)
        order[i] = list->v[order[i]];
    free(list->v);
    list->v = order;
    for (size_t p = 0; p < nparts; p++)
        tl_sort_index(order + first[p], first[p + 1] - first[p], compare, e);
    return first;
}

/* ---------------------------------------------------------------------------------------------------------- streams */

/* Returns the number in a text such as "stream 7"; -1: there is none. */
static int64_t number_in(tl_text t)
{
    int64_t x = -1;
    for (size_t i = 0; i < t.n; i++)
        if (t.p[i] >= '0' && t.p[i] <= '9' && x < INT32_MAX)
            x = (x < 0 ? 0 : x * 10) + (t.p[i] - '0');
    return x;
}

/* Device and stream: from the args if valid, else from the track, where Kineto has them as pid and tid; but a wait lies
 * on a host track. */
int32_t tl_event_device(const tl_events *e, size_t i)
{
    const tl_track *track = &e->tracks.v[tl_event_track(e, i)];
    bool tracked = tl_event_cat(e, i) != TL_CAT_SYNC && track->pid_text == TL_NO_NAME;
    int32_t device = tl_small_int(tl_event_lane(e, i)->device);
    return device < 0 && tracked ? tl_small_int(track->pid) : device;
}

static int32_t stream_of(const tl_events *e, size_t i)
{
    const tl_track *track = &e->tracks.v[tl_event_track(e, i)];
    int64_t stream = tl_event_lane(e, i)->stream;
    if (stream != TL_LANE_ABSENT || tl_event_cat(e, i) == TL_CAT_SYNC)
        return tl_small_int(stream);
    return tl_small_int(track->tid_text == TL_NO_NAME ? track->tid
                                                      : number_in(tl_names_text(&e->names, track->tid_text)));
}

TL_ORDER_BY(by_device_and_stream, tl_stream_events, device, stream)

static int by_time(const void *events, uint32_t a, uint32_t b)
{
    const tl_events *e = events;
    return e->ts_ns[a] != e->ts_ns[b] ? TL_COMPARE(e->ts_ns[a], e->ts_ns[b]) : tl_narrow_compare(&e->dur_ns, a, b);
}

/* Gives n streams of unknown device the lowest known device. */
static void set_unknown_devices(tl_stream_events *v, size_t n)
{
    int32_t lowest = -1;
    for (size_t i = 0; i < n; i++)
        if (v[i].device >= 0 && (lowest < 0 || v[i].device < lowest))
            lowest = v[i].device;
    for (size_t i = 0; i < n; i++)
        v[i].device = v[i].device >= 0 ? v[i].device : lowest;
}

/* Lists the streams.  Returns the index of the stream of each class of the events; the caller frees it. */
static uint32_t *streams_of_classes(const tl_events *e, uint32_t cats, tl_device *d)
{
    uint32_t *number = tl_malloc_none(e->classes.n), *stream_of_number;
    TL_VEC(tl_stream_events) found = { 0 }; /* one for each class */

    TL_EACH (const uint32_t, event, d->events)
        if (number[e->class[*event]] == UINT32_MAX) {
            number[e->class[*event]] = (uint32_t)found.n;
            tl_vec_push(&found, (tl_stream_events){ tl_event_device(e, *event), stream_of(e, *event), 0, 0 });
        }
    if (cats == TL_SET_WORK)
        set_unknown_devices(found.v, found.n);
    uint32_t *order = tl_sorted_index(found.n, by_device_and_stream, found.v);
    stream_of_number = tl_malloc(found.n * sizeof *stream_of_number);
    for (size_t k = 0; k < found.n; k++) {
        if (k == 0 || by_device_and_stream(found.v, order[k - 1], order[k]) != 0)
            tl_vec_push(&d->streams, found.v[order[k]]);
        stream_of_number[order[k]] = (uint32_t)(d->streams.n - 1);
    }
    for (size_t c = 0; c < e->classes.n; c++)
        number[c] = number[c] != UINT32_MAX ? stream_of_number[number[c]] : UINT32_MAX;
    free(order);
    free(stream_of_number);
    free(found.v);
    return number;
}

tl_device tl_device_find(const tl_events *e, const tl_event_list *calls, uint32_t cats)
{
    tl_device d = { .events = list_events(e, cats) };
    uint32_t *part = tl_malloc(d.events.n * sizeof *part), *stream_of_class = streams_of_classes(e, cats, &d);
    size_t near = 0;

    for (size_t i = 0; i < d.events.n; i++)
        part[i] = stream_of_class[e->class[d.events.v[i]]];
    size_t *first = sort_parts(e, &d.events, part, d.streams.n, by_time);
    for (size_t k = 0; k < d.streams.n; k++) {
        d.streams.v[k].first = first[k];
        d.streams.v[k].n = first[k + 1] - first[k];
    }
    d.launch = part; /* reuses the memory of part */
    for (size_t i = 0; i < d.events.n; i++)
        d.launch[i] = tl_call_of(e, calls, d.events.v[i], &near);
    free(first);
    free(stream_of_class);
    return d;
}

void tl_device_free(tl_device *d)
{
    free(d->events.v);
    free(d->streams.v);
    free(d->launch);
    *d = (tl_device){ 0 };
}

/* ------------------------------------------------------------------------------------------------------------ calls */

static int by_correlation(const void *events, uint32_t a, uint32_t b)
{
    const tl_events *e = events;
    const int order = tl_narrow_compare(&e->corr, a, b);
    if (order != 0)
        return order;
    return e->ts_ns[a] != e->ts_ns[b] ? TL_COMPARE(e->ts_ns[a], e->ts_ns[b]) : TL_COMPARE(e->uid[a], e->uid[b]);
}

tl_event_list tl_calls_find(const tl_events *e)
{
    tl_event_list calls = list_events(e, TL_SET_CALLS);
    size_t n = 0;

    for (size_t i = 0; i < calls.n; i++)
        if (tl_event_corr(e, calls.v[i]) > 0)
            calls.v[n++] = calls.v[i];
    calls.n = n;
    tl_sort_index(calls.v, n, by_correlation, e);
    return calls;
}

/* Whether a call has a smaller correlation than the event, or the same and begins no later. */
static bool precedes(const tl_events *e, uint32_t call, uint32_t event)
{
    const int order = tl_narrow_compare(&e->corr, call, event);
    return order < 0 || (order == 0 && e->ts_ns[call] <= e->ts_ns[event]);
}

uint32_t tl_call_of(const tl_events *e, const tl_event_list *calls, uint32_t event, size_t *near)
{
    enum { CLOSE = 16 };
    const uint32_t *v = calls->v;
    size_t after = 0, end = calls->n;

    if (tl_event_corr(e, event) <= 0)
        return TL_NONE;
    if (*near + CLOSE < end && precedes(e, v[*near], event) && !precedes(e, v[*near + CLOSE], event)) {
        after = *near;
        end = *near + CLOSE;
    }
    TL_BISECT(after, end, mid, precedes(e, v[mid], event));
    *near = after > 0 ? after - 1 : 0;
    if (after > 0 && tl_narrow_compare(&e->corr, v[after - 1], event) == 0)
        return (uint32_t)after - 1;
    return after < calls->n && tl_narrow_compare(&e->corr, v[after], event) == 0 ? (uint32_t)after : TL_NONE;
}

/* ------------------------------------------------------------------------------------------------------------ overruns
 *
 *     stream   [ a ][ b ===================================================...
 *                        [ c ][ d ]  [ e ]
 *     cut      [ a ][ b ][ c ][ d ]  [ e ]        an earlier b lasts as long
 *
 * A stream does one piece of work after the other.  With programmatic dependent launch, work may begin while its
 * predecessor still runs, but waits for it and does not end before it.  So the end of a piece of work is impossible if
 * it
 *
 *     is later    than the end of the next work on its stream, of another launch, by more than TL_TRACE_ERROR_NS, or
 *     is later    than everything else in the recording by more than TL_LAST_WORK_MOST_NS, without next work.
 *
 * Such work lasts as long as work of its name usually does on its stream, at most until the latest possible end: the
 * start of the next work, or the end of the recording.
 *
 * Branches of a graph run side by side, whatever stream the trace names.  If a tenth of a stream's work outlasts the
 * next work, the stream is not a queue but a name for several: none of its work is cut.
 */

/* Returns the last instant that is recorded, except ends of device work. */
static int64_t last_instant(const tl_events *e)
{
    int64_t last_ns = TL_TIME_UNKNOWN;
    for (size_t i = 0; i < e->n; i++) {
        if (tl_event_in(e, i, TL_SET_WORK))
            last_ns = tl_ns_max(last_ns, e->ts_ns[i]);
        else if (tl_event_in(e, i, TL_SET_CALLS | TL_SET_OPS))
            last_ns = tl_ns_max(last_ns, tl_ns_sum(e->ts_ns[i], tl_event_dur_ns(e, i)));
    }
    return last_ns;
}

/* Returns the latest possible end of an event whose recorded end is impossible; INT64_MAX: the end is possible.  next:
 * the next event of the stream from another launch; TL_NONE: there is none.  *last_ns: end of the recording, computed
 * on first use. */
static int64_t possible_end(const tl_events *e, uint32_t event, uint32_t next, int64_t *last_ns)
{
    int64_t end = e->ts_ns[event] + tl_event_dur_ns(e, event);
    if (next != TL_NONE) {
        int64_t next_end = e->ts_ns[next] + tl_event_dur_ns(e, next);
        return end > next_end && end - next_end > TL_TRACE_ERROR_NS ? e->ts_ns[next] : INT64_MAX;
    }
    if (tl_event_dur_ns(e, event) <= TL_LAST_WORK_MOST_NS)
        return INT64_MAX;
    *last_ns = *last_ns == TL_TIME_UNKNOWN ? last_instant(e) : *last_ns;
    return tl_ns_between(end, *last_ns) <= TL_LAST_WORK_MOST_NS ? INT64_MAX : tl_ns_max(e->ts_ns[event], *last_ns);
}

/* Returns the lower median of the times, ns, of those of the stream's n events that have the name of `event`: most of
 * them are possible.  INT64_MAX: there are too few. */
static int64_t usual_ns(const tl_events *e, const uint32_t *events, size_t n, uint32_t event)
{
    int64_t *ns = tl_malloc((n + 1) * sizeof *ns), usual;
    size_t alike = 0;
    for (size_t i = 0; i < n; i++)
        if (e->name[events[i]] == e->name[event])
            ns[alike++] = tl_event_dur_ns(e, events[i]);
    usual = alike >= TL_MEDIAN_LEAST ? tl_lower_median(ns, alike) : INT64_MAX;
    free(ns);
    return usual;
}

/* Cuts the i-th event of the stream at end_ns, and also longer events before it with the same start. */
static void cut_event(tl_events *e, const uint32_t *events, size_t i, int64_t end_ns, tl_cuts *cuts)
{
    int64_t start_ns = e->ts_ns[events[i]], dur_ns = end_ns - start_ns;

    for (size_t k = i + 1; k-- > 0 && e->ts_ns[events[k]] == start_ns && tl_event_dur_ns(e, events[k]) > dur_ns;) {
        tl_vec_room(cuts);
        cuts->v[cuts->n].event = events[k];
        cuts->v[cuts->n++].less_ns = tl_event_dur_ns(e, events[k]) - dur_ns;
        tl_narrow_set(&e->dur_ns, events[k], dur_ns);
    }
}

void tl_overruns_cut(tl_events *e, const tl_device *work, tl_cuts *cuts)
{
    int64_t last_ns = TL_TIME_UNKNOWN;

    TL_EACH (const tl_stream_events, stream, work->streams) {
        const uint32_t *v = work->events.v + stream->first, *launch = work->launch + stream->first;
        bool cuts_now = false;
        for (int turn = 0; turn < 2 && stream->stream >= 0; turn++) { /* counts, then cuts */
            uint32_t next = TL_NONE;
            size_t n = 0;
            for (size_t i = stream->n; i-- > 0;) { /* from the last one, so that the next work has its final end */
                if (i + 1 < stream->n && (launch[i] == TL_NONE || launch[i] != launch[i + 1]))
                    next = v[i + 1];
                int64_t end_ns = possible_end(e, v[i], next, &last_ns);
                n += end_ns != INT64_MAX;
                if (end_ns == INT64_MAX || !cuts_now)
                    continue;
                const int64_t usual = usual_ns(e, v, stream->n, v[i]);
                cut_event(e, v, i, tl_ns_min(end_ns, tl_ns_sum(e->ts_ns[v[i]], usual)), cuts);
            }
            cuts_now = n > 0 && n <= 1 + stream->n / (size_t)TL_LITTLE_PART;
            if (!cuts_now)
                break;
        }
    }
}
