/* critical_calls.c - what HTA looks up in all of a rank before it lays the graph of a part of it: what names mean, the
 * lengths of queues, and between which launches an event was recorded and waited for.
 */
#include "critical_path.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

const char *const tl_hta_edge_labels[TL_HTA_NEDGE_KINDS] = {
    [TL_HTA_OPERATOR] = "operator",
    [TL_HTA_DEPENDENCY] = "dependency",
    [TL_HTA_LAUNCH_DELAY] = "kernel_launch_delay",
    [TL_HTA_KERNEL_DELAY] = "kernel_kernel_delay",
    [TL_HTA_SYNC] = "sync_dependency",
};

static uint8_t traits_of(tl_text name, const char *loader)
{
    static const char *const locks[] = { "cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync", NULL };
    static const char *const blocks[] = { "cudaDeviceSynchronize",
                                          "cudaStreamSynchronize",
                                          "cudaEventQuery",
                                          "cudaEventSynchronize",
                                          "cudaMemcpy",
                                          "cudaMemcpyAsync",
                                          NULL };
    static const char *const with_nodes[] = { "cpu_op", "cuda_runtime", "cuda_driver", NULL };
    static const char *const of_threads[] = { "cpu_op", "user_annotation", NULL };
    return (uint8_t)((loader != NULL && tl_text_has(name, loader) ? TL_HTA_LOADS_DATA : 0) |
                     (tl_hta_is_one_of(name, with_nodes) ? TL_HTA_HAS_NODES : 0) |
                     (tl_hta_is_one_of(name, of_threads) ? TL_HTA_NAMES_THREAD : 0) |
                     (tl_text_has(name, "forward") ? TL_HTA_IS_FORWARD : 0) |
                     (tl_text_has(name, "autograd") ? TL_HTA_IS_AUTOGRAD : 0) |
                     (tl_hta_is_one_of(name, locks) ? TL_HTA_LOCKS : 0) |
                     (tl_hta_is_one_of(name, blocks) ? TL_HTA_BLOCKS : 0));
}

/* The device row that a row is linked to. */
static const tl_hta_row *linked_work(const tl_hta_rank_calls *c, const tl_hta_row *row)
{
    const tl_hta_row *work = row->link > 0 ? tl_hta_rank_row(c, row->link) : NULL;
    return work != NULL && tl_hta_on_stream(work) && work->link > 0 ? work : NULL;
}

/* A launch with what it launched. */
typedef struct launch {
    double ts;
    uint32_t track; /* of the call */
    int64_t stream; /* of the kernel, with the process it is shown in */
    int64_t pid;
    uint32_t pid_text;
    int64_t kernel; /* index */
} launch;

TL_ORDER_BY(by_device_stream, launch, stream, pid, pid_text)
TL_ORDER_BY(by_caller, launch, track, stream)

typedef TL_VEC(launch) launches;

/* In the order of time. */
static launches launches_of(const tl_hta_rank_calls *c)
{
    const tl_hta_frame *frame = c->frame;
    bool *is_launch = tl_hta_symbols_that(frame->symbols, tl_hta_is_launch);
    TL_VEC(const tl_hta_row *) calls = { 0 };
    launches out = { 0 };

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (is_launch[row->name] && row->link > 0)
            tl_vec_push(&calls, row);
    double *ts = tl_malloc(calls.n * sizeof *ts);
    uint32_t *order = tl_malloc(calls.n * sizeof *order);
    for (size_t i = 0; i < calls.n; i++)
        ts[i] = calls.v[i]->ts;
    tl_numpy_argsort(order, ts, calls.n);
    for (size_t i = 0; i < calls.n; i++) {
        const tl_hta_row *call = calls.v[order[i]], *kernel = linked_work(c, call);
        if (kernel == NULL)
            continue;
        const tl_track *device = &frame->tracks.v[kernel->track];
        tl_vec_push(&out,
                    (launch){ call->ts, call->track, kernel->stream, device->pid, device->pid_text, kernel->index });
    }
    free(is_launch);
    free(calls.v);
    free(ts);
    free(order);
    return out;
}

/* A record is on the stream that the first row to wait for it names, in the process of that row. */
static void find_sources(tl_hta_rank_calls *c, const launches *l)
{
    const tl_hta_frame *frame = c->frame;
    uint32_t *order = tl_sorted_index(l->n, by_device_stream, l->v);
    tl_map waited = { 0 }; /* correlation of a record -> place of the first wait for it */

    for (uint32_t i = 0; i < frame->waits.n; i++)
        if (frame->waits.v[i].stream > -1 && tl_hta_rank_row(c, frame->waits.v[i].index) != NULL &&
            tl_map_get(&waited, (uint64_t)frame->waits.v[i].record) == TL_MAP_NONE)
            tl_map_put(&waited, (uint64_t)frame->waits.v[i].record, i);
    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (!tl_text_is(tl_hta_name(frame, row), "cudaEventRecord"))
            continue;
        uint32_t wait = tl_map_get(&waited, (uint64_t)row->correlation);
        if (wait == TL_MAP_NONE)
            continue;
        const tl_hta_wait *w = &frame->waits.v[wait];
        const tl_track *device = &frame->tracks.v[tl_hta_rank_row(c, w->index)->track];
        launch key = { .ts = row->ts, .stream = w->stream, .pid = device->pid, .pid_text = device->pid_text };
        size_t at = 0;
        TL_BISECT(at, l->n, mid, TL_ORDER(&l->v[order[mid]], &key, stream, pid, pid_text, ts) < 0);
        bool any = at > 0 && TL_ORDER(&l->v[order[at - 1]], &key, stream, pid, pid_text) == 0;
        tl_map_put(&c->source, (uint64_t)row->correlation, any ? (uint32_t)l->v[order[at - 1]].kernel : 0);
    }
    tl_map_free(&waited);
    free(order);
}

static void find_targets(tl_hta_rank_calls *c, const launches *l)
{
    const tl_hta_frame *frame = c->frame;
    uint32_t *order = tl_sorted_index(l->n, by_caller, l->v);

    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (!tl_text_is(tl_hta_name(frame, row), "cudaStreamWaitEvent"))
            continue;
        const tl_hta_row *wait = linked_work(c, row);
        if (wait == NULL)
            continue;
        launch key = { .ts = row->ts, .track = row->track, .stream = wait->stream };
        size_t at = 0;
        TL_BISECT(at, l->n, mid, TL_ORDER(&l->v[order[mid]], &key, track, stream, ts) <= 0);
        if (at < l->n && TL_ORDER(&l->v[order[at]], &key, track, stream) == 0)
            tl_map_put(&c->target, row->index, (uint32_t)l->v[order[at]].kernel);
    }
    free(order);
}

tl_hta_rank_calls tl_hta_rank_calls_of(const tl_hta_frame *frame, const char *loader)
{
    tl_hta_rank_calls c = { .frame = frame, .nindices = tl_hta_nindices(frame) };
    tl_hta_lengths lengths = { 0 };

    c.why = tl_hta_queue_lengths(frame, &lengths);
    if (c.why == NULL) {
        const size_t nsymbols = frame->symbols->v.n;
        c.traits = tl_arena_take(&c.arena, nsymbols, sizeof *c.traits);
        for (uint32_t i = 0; i < nsymbols; i++)
            c.traits[i] = traits_of(tl_hta_text(frame->symbols, i), loader);
        c.row_at = tl_arena_zeroed(&c.arena, c.nindices, sizeof *c.row_at);
        for (uint32_t i = 0; i < frame->rows.n; i++)
            c.row_at[frame->rows.v[i].index] = i + 1;
        uint32_t *index = tl_arena_take(&c.arena, lengths.n, sizeof *index);
        uint32_t *place = tl_arena_take(&c.arena, lengths.n, sizeof *place);
        c.first = tl_arena_take(&c.arena, c.nindices + 1, sizeof *c.first);
        c.length = tl_arena_take(&c.arena, lengths.n, sizeof *c.length);
        for (size_t i = 0; i < lengths.n; i++)
            index[i] = lengths.v[i].index;
        tl_group_rows(index, lengths.n, c.nindices, c.first, place);
        for (size_t i = 0; i < lengths.n; i++)
            c.length[i] = lengths.v[place[i]].length;
        launches l = launches_of(&c);
        find_sources(&c, &l);
        find_targets(&c, &l);
        free(l.v);
    }
    free(lengths.v);
    return c;
}

void tl_hta_rank_calls_free(tl_hta_rank_calls *c)
{
    tl_map_free(&c->source);
    tl_map_free(&c->target);
    tl_arena_free(&c->arena);
}
