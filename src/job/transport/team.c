/* team.c - reads one large plain trace with several procs. */
#include "tlmpi/job/transport/team.h"
#include "slice.h"
#include <stdlib.h>

/* The bytes of slice k: equal shares. */
static tl_read_range range_of(const tl_plan_item *item, int32_t slice)
{
    uint64_t n = (uint64_t)item->nslices, k = (uint64_t)slice, share = item->bytes / n;
    return (tl_read_range){ k * share, k + 1 == n ? UINT64_MAX : (k + 1) * share };
}

void tl_team_help(tl_endpoint *endpoint, const tl_plan_item *item, const tl_task *task, const tl_read_options *options)
{
    tl_read_options mine = *options;
    const tl_read_range range = range_of(item, task->slice);
    tl_trace slice;
    tl_error err;

    mine.range = &range;
    tl_status st = tl_trace_read(item->path, &mine, &slice, &err);
    if (st != TL_OK)
        slice.report.dropped++; /* nothing that could be joined */
    tl_endpoint_send(endpoint, task->leader, TL_MESSAGE_READY, &task->slice, sizeof task->slice);
    free(tl_endpoint_await(endpoint, task->leader, TL_MESSAGE_GO).message.v);
    tl_slice_send(endpoint, task->leader, &slice);
    tl_trace_free(&slice);
}

/* Takes in the slices 1, 2 ... in their order.  False: one of them is not proven; all have been taken nevertheless, for
 * their senders wait. */
static bool take_pieces(tl_endpoint *endpoint, int32_t nslices, tl_trace *whole, bool proven)
{
    int *owner = tl_calloc((size_t)nslices, sizeof *owner);

    for (int32_t i = 1; i < nslices; i++) {
        tl_received ready = tl_endpoint_await(endpoint, -1, TL_MESSAGE_READY);
        int32_t slice;
        tl_bytes_get(&ready.message, &slice, sizeof slice);
        owner[slice] = ready.from;
        free(ready.message.v);
    }
    for (int32_t i = 1; i < nslices; i++) {
        tl_trace slice;
        tl_endpoint_send(endpoint, owner[i], TL_MESSAGE_GO, NULL, 0);
        tl_slice_receive(endpoint, owner[i], &slice);
        proven = proven && tl_trace_append(whole, &slice);
        tl_trace_free(&slice);
    }
    free(owner);
    return proven;
}

tl_status tl_team_read(void *arg, const tl_plan_item *item, const tl_read_options *options, tl_trace *out,
                       tl_error *err)
{
    if (item->nslices <= 1)
        return tl_trace_read(item->path, options, out, err);

    tl_read_options mine = *options;
    const tl_read_range range = range_of(item, 0);
    mine.range = &range;
    bool proven = tl_trace_read(item->path, &mine, out, err) == TL_OK;
    if (take_pieces(arg, item->nslices, out, proven)) {
        tl_trace_complete(out);
        return TL_OK;
    }
    tl_trace_free(out);
    return tl_trace_read(item->path, options, out, err);
}
