/* queue.c - how many kernels of a stream have been launched and have not started.
 *
 *     host     [launch a][launch b].................
 *     stream   .............[   a   ][ b ]..........
 *     length   1.........2..1........0..............
 *
 * HTA gives up where a correlation is that of several launches, or of one without a kernel: its counts of launches and
 * of starts then differ.
 */
#include "series.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

static bool is_launch(tl_text name)
{
    static const char *const names[] = {
        "cudaLaunchKernel",
        "cudaLaunchKernelExC",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cudaMemcpyAsync",
        "cudaMemsetAsync",
        "runFunction - job_prep_and_submit_for_execution",
        "hipLaunchKernel",
        "hipExtModuleLaunchKernel",
        "hipMemsetAsync",
        "hipMemcpyAsync",
        "hipMemcpyWithStream",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tl_text_is(name, names[i]))
            return true;
    return false;
}

/* Launches, in row order, and the device rows of each, in row order, too. */
typedef struct pairs {
    tl_arena arena;
    tl_map by_correlation; /* -> the launch */
    const tl_hta_row **launches;
    size_t *nkernels, *first; /* of a launch: among kernels */
    const tl_hta_row **kernels;
    size_t nlaunches;
} pairs;

/* False: memory is out.  *paired: each launch has a correlation of its own, and kernels. */
static bool find_launches(pairs *p, const bool *launches, const tl_hta_frame *frame, bool *paired)
{
    *paired = true;
    for (size_t i = 0; i < frame->rows.n; i++)
        p->nlaunches += launches[frame->rows.v[i].name] && frame->rows.v[i].link > 0;
    p->launches = tl_arena_take(&p->arena, p->nlaunches, sizeof *p->launches);
    p->nkernels = tl_arena_zeroed(&p->arena, p->nlaunches, sizeof *p->nkernels);
    p->first = tl_arena_take(&p->arena, p->nlaunches, sizeof *p->first);
    if (p->arena.failed)
        return false;

    p->nlaunches = 0;
    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (!launches[row->name] || row->link <= 0)
            continue;
        *paired = *paired && tl_map_get(&p->by_correlation, (uint64_t)row->correlation) == TL_MAP_NONE;
        if (tl_map_put(&p->by_correlation, (uint64_t)row->correlation, (uint32_t)p->nlaunches) != 0)
            return false;
        p->launches[p->nlaunches++] = row;
    }
    return true;
}

/* The launch of a device row, or TL_MAP_NONE. */
static uint32_t launch_of(const pairs *p, const tl_hta_row *row)
{
    return tl_hta_on_stream(row) ? tl_map_get(&p->by_correlation, (uint64_t)row->correlation) : TL_MAP_NONE;
}

static bool find_kernels(pairs *p, const tl_hta_frame *frame, bool *paired)
{
    size_t n = 0;

    for (size_t i = 0; i < frame->rows.n; i++) {
        uint32_t launch = launch_of(p, &frame->rows.v[i]);
        if (launch != TL_MAP_NONE)
            p->nkernels[launch]++;
    }
    for (size_t k = 0; k < p->nlaunches; k++) {
        *paired = *paired && p->nkernels[k] > 0;
        p->first[k] = n;
        n += p->nkernels[k];
        p->nkernels[k] = 0;
    }
    p->kernels = tl_arena_take(&p->arena, n, sizeof *p->kernels);
    if (p->arena.failed)
        return false;
    for (size_t i = 0; i < frame->rows.n; i++) {
        uint32_t launch = launch_of(p, &frame->rows.v[i]);
        if (launch != TL_MAP_NONE)
            p->kernels[p->first[launch] + p->nkernels[launch]++] = &frame->rows.v[i];
    }
    return true;
}

static int by_stream(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_queued *v = context;
    return TL_COMPARE(v[a].stream, v[b].stream);
}

/* All launches stand before all starts when they are put in order. */
static bool make_series(tl_hta_queue *queue, pairs *p, const tl_hta_frame *frame)
{
    size_t n = 0;

    for (size_t k = 0; k < p->nlaunches; k++)
        n += 2 * p->nkernels[k];
    tl_hta_queued *changes = tl_arena_take(&p->arena, n, sizeof *changes);
    double *ts = tl_arena_take(&p->arena, n, sizeof *ts);
    queue->v = tl_malloc((n + 1) * sizeof *queue->v);
    if (p->arena.failed || queue->v == NULL)
        return false;

    for (size_t k = 0; k < p->nlaunches; k++)
        for (size_t i = 0; i < p->nkernels[k]; i++) {
            const tl_hta_row *launch = p->launches[k], *kernel = p->kernels[p->first[k] + i];
            changes[queue->n++] = (tl_hta_queued){ launch->ts, kernel->stream, launch->index, kernel->track, 1 };
        }
    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (launch_of(p, row) != TL_MAP_NONE)
            changes[queue->n++] = (tl_hta_queued){ row->ts, row->stream, row->index, row->track, -1 };
    }
    for (size_t i = 0; i < n; i++)
        ts[i] = changes[i].ts;
    uint32_t *order = tl_hta_series_order(changes, ts, n, by_stream);
    for (size_t i = 0; order != NULL && i < n; i++) {
        tl_hta_queued *now = &queue->v[i];
        *now = changes[order[i]];
        if (i > 0 && now[-1].stream == now->stream)
            now->length += now[-1].length;
    }
    bool ok = order != NULL;
    free(order);
    return ok;
}

tl_status tl_hta_queue_of(tl_hta_queue *queue, const char **why, const tl_hta_frame *frame,
                          const tl_hta_symbols *symbols, tl_error *err)
{
    pairs p = { .nlaunches = 0 };
    bool *launches = tl_arena_take(&p.arena, symbols->v.n, sizeof *launches), paired = true;

    for (size_t i = 0; launches != NULL && i < symbols->v.n; i++)
        launches[i] = is_launch(tl_names_text(&symbols->texts, (uint32_t)i));
    bool ok = launches != NULL && find_launches(&p, launches, frame, &paired) && find_kernels(&p, frame, &paired);
    *why = p.nlaunches == 0 ? "nothing was launched by a call that HTA knows"
           : !paired        ? "a correlation is that of several launches, or of none with a kernel"
                            : NULL;
    if (ok && *why == NULL)
        ok = make_series(queue, &p, frame);
    tl_map_free(&p.by_correlation);
    tl_arena_free(&p.arena);
    return ok ? TL_OK : tl_fail_memory(err, "the queues of a rank");
}
