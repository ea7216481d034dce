/* critical_calls.c - data of a whole rank for its critical paths: queue lengths, and for each recorded event the
 * kernels before the record and after the wait.
 */
#include "critical_path.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include <stdlib.h>

/* -------------------------------------------------------------------------------- events, recorded and waited for
 *
 *     host     [launch a] [record e].........[wait for e] [launch b]      b, the next launch on the stream of the wait,
 *     stream 7      [      a      ]                                       waits for a, the last one on the stream of e
 *     stream 9                     |------------------------>[ b ]
 */

/* A launch, listed twice: by the process and stream of its kernel, and by the track of its call and that stream. */
typedef struct launch {
    uint64_t place; /* hash of these two */
    double ts;
    uint32_t kernel; /* index */
} launch;

TL_SORT_BY(by_place, launch, place)
TL_SORT_BY(by_place_and_time, launch, place, ts)

static uint64_t place_of(uint64_t kind, uint64_t who, int64_t stream)
{
    return tl_hash_mix(tl_hash_mix(kind, who), (uint64_t)stream);
}

/* Returns the linked row if it is on a stream and has a link itself; else NULL. */
static const tl_hta_row *linked_work(const tl_hta_rank_calls *c, const tl_hta_row *row)
{
    const tl_hta_row *work = row->link > 0 ? tl_hta_row_at(c->frame, row->link) : NULL;
    return work != NULL && tl_hta_on_stream(work) && work->link > 0 ? work : NULL;
}

static launch launch_by_device(const tl_hta_rank_calls *c, const tl_hta_row *work, int64_t stream, double ts)
{
    const tl_track *track = &c->frame->tracks.v[work->track];
    return (launch){ place_of(track->pid_text, (uint64_t)track->pid, stream), ts, work->index };
}

static launch launch_by_caller(const tl_hta_row *call, const tl_hta_row *work)
{
    return (launch){ place_of(UINT64_MAX, call->track, work->stream), call->ts, work->index };
}

/* Fills source and target.  The stream and process of a record are taken from the first row that waits for it. */
static void find_sources_and_targets(tl_hta_rank_calls *c)
{
    const tl_hta_frame *frame = c->frame;
    TL_VEC(launch) l = { 0 };
    tl_map waited = { 0 }; /* correlation of a record -> position in args of the first wait for it */

    TL_EACH (const tl_hta_row, call, frame->rows) {
        const tl_hta_row *work = tl_hta_is(frame->symbols, call->name, TL_HTA_QUEUES) ? linked_work(c, call) : NULL;
        if (work == NULL)
            continue;
        tl_vec_push(&l, launch_by_device(c, work, work->stream, call->ts));
        tl_vec_push(&l, launch_by_caller(call, work));
    }
    tl_vec_sort(&l, by_place_and_time);
    for (uint32_t i = 0; i < frame->args.n; i++) {
        const tl_hta_args *w = &frame->args.v[i];
        if (w->wait_stream > -1 && tl_hta_row_at(c->frame, w->index) != NULL &&
            tl_map_get(&waited, (uint64_t)w->wait_record) == TL_MAP_NONE)
            tl_map_put(&waited, (uint64_t)w->wait_record, i);
    }
    TL_EACH (const tl_hta_row, row, frame->rows) {
        const uint32_t first = tl_text_is(tl_hta_name(frame, row), "cudaEventRecord")
                                   ? tl_map_get(&waited, (uint64_t)row->correlation)
                                   : TL_MAP_NONE;
        size_t at = 0;
        if (first != TL_MAP_NONE) {
            const tl_hta_args *w = &frame->args.v[first];
            const launch record = launch_by_device(c, tl_hta_row_at(c->frame, w->index), w->wait_stream, row->ts);
            TL_BISECT(at, l.n, mid, by_place_and_time(&l.v[mid], &record) < 0);
            bool any = at > 0 && by_place(&l.v[at - 1], &record) == 0;
            tl_map_put(&c->source, (uint64_t)row->correlation, any ? l.v[at - 1].kernel : 0);
        } else if (tl_text_is(tl_hta_name(frame, row), "cudaStreamWaitEvent") && linked_work(c, row) != NULL) {
            const launch wait = launch_by_caller(row, linked_work(c, row));
            TL_BISECT(at, l.n, mid, by_place_and_time(&l.v[mid], &wait) <= 0);
            if (at < l.n && by_place(&l.v[at], &wait) == 0)
                tl_map_put(&c->target, row->index, l.v[at].kernel);
        }
    }
    tl_map_free(&waited);
    free(l.v);
}

tl_hta_rank_calls tl_hta_rank_calls_of(const tl_hta_frame *frame, const char *loader)
{
    tl_hta_rank_calls c = { .frame = frame, .loader = loader };

    c.why = tl_hta_queue_lengths(frame, &c.arena, &c.first, &c.length);
    if (c.why == NULL)
        find_sources_and_targets(&c);
    return c;
}

void tl_hta_rank_calls_free(tl_hta_rank_calls *c)
{
    tl_map_free(&c->source);
    tl_map_free(&c->target);
    tl_arena_free(&c->arena);
}
