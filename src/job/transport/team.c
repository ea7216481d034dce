/* team.c - reads one large plain trace with several procs. */
#include "tlmpi/job/transport/team.h"
#include "tlmpi/trace/read/join.h"
#include "piece.h"
#include <stdlib.h>

/* The bytes of piece k: equal shares. */
static tl_read_range range_of(const tl_plan_item *item, int32_t piece)
{
    uint64_t n = (uint64_t)item->npieces, k = (uint64_t)piece, share = item->bytes / n;
    return (tl_read_range){ k * share, k + 1 == n ? UINT64_MAX : (k + 1) * share };
}

void tl_team_help(tl_endpoint *endpoint, const tl_plan_item *item, const tl_task *task, const tl_read_options *options)
{
    tl_read_options mine = *options;
    const tl_read_range range = range_of(item, task->piece);
    tl_trace piece;
    tl_error err;

    mine.range = &range;
    tl_status st = tl_trace_read(item->path, &mine, &piece, &err);
    if (st != TL_OK)
        piece.report.dropped++; /* nothing that could be joined */
    tl_endpoint_send(endpoint, task->leader, TL_MESSAGE_READY, &task->piece, sizeof task->piece);
    free(tl_endpoint_await(endpoint, task->leader, TL_MESSAGE_GO).message.v);
    tl_piece_send(endpoint, task->leader, &piece);
    tl_trace_free(&piece);
}

/* Takes in the pieces 1, 2 ... in their order.  False: one of them is not proven, or memory is out; all have been taken
 * nevertheless, for their senders wait. */
static bool take_pieces(tl_endpoint *endpoint, int32_t npieces, tl_trace *whole, bool proven)
{
    int *owner = tl_calloc((size_t)npieces, sizeof *owner);
    tl_error err;

    if (owner == NULL)
        tl_messages_broken();
    for (int32_t i = 1; i < npieces; i++) {
        tl_received ready = tl_endpoint_await(endpoint, -1, TL_MESSAGE_READY);
        int32_t piece = 0;
        if (!tl_bytes_get(&ready.message, &piece, sizeof piece) || piece < 1 || piece >= npieces)
            tl_messages_broken();
        owner[piece] = ready.from;
        free(ready.message.v);
    }
    for (int32_t i = 1; i < npieces; i++) {
        tl_trace piece;
        tl_endpoint_send(endpoint, owner[i], TL_MESSAGE_GO, NULL, 0);
        tl_piece_receive(endpoint, owner[i], &piece);
        proven = proven && tl_trace_continues(whole, &piece) && tl_trace_append(whole, &piece, &err) == TL_OK;
        tl_trace_free(&piece);
    }
    free(owner);
    return proven;
}

tl_status tl_team_read(void *arg, const tl_plan_item *item, const tl_read_options *options, tl_trace *out,
                       tl_error *err)
{
    if (item->npieces <= 1)
        return tl_trace_read(item->path, options, out, err);

    tl_read_options mine = *options;
    const tl_read_range range = range_of(item, 0);
    mine.range = &range;
    bool proven = tl_trace_read(item->path, &mine, out, err) == TL_OK;
    if (take_pieces(arg, item->npieces, out, proven)) {
        tl_trace_complete(out);
        return TL_OK;
    }
    tl_trace_free(out);
    return tl_trace_read(item->path, options, out, err);
}
