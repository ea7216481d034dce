/* threads.c - a counting sort of rows by track. */
#include "threads.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const tl_track *x = ((const tl_hta_thread *)a)->track, *y = ((const tl_hta_thread *)b)->track;
    return x->pid != y->pid ? TL_COMPARE(x->pid, y->pid) : TL_COMPARE(x->tid, y->tid);
}

static int by_first_row(const void *a, const void *b)
{
    const tl_hta_thread *x = a, *y = b;
    return TL_COMPARE(x->at[0], y->at[0]);
}

bool tl_hta_threads_of(tl_hta_threads *threads, const tl_hta_frame *frame)
{
    bool texts = false; /* numbers and texts have no order in Python: then it is that of their first rows */
    size_t *end = tl_arena_zeroed(&threads->arena, frame->tracks.n + 1, sizeof *end);
    uint32_t *at = tl_arena_take(&threads->arena, frame->rows.n, sizeof *at);
    threads->v = tl_arena_take(&threads->arena, frame->tracks.n, sizeof *threads->v);
    if (threads->arena.failed)
        return false;

    for (size_t i = 0; i < frame->rows.n; i++)
        end[frame->rows.v[i].track + 1]++;
    for (size_t t = 0; t < frame->tracks.n; t++)
        end[t + 1] += end[t];
    for (size_t i = 0; i < frame->rows.n; i++)
        at[end[frame->rows.v[i].track]++] = (uint32_t)i;

    threads->n = 0;
    for (size_t t = 0, from = 0; t < frame->tracks.n; from = end[t++]) {
        const tl_track *track = &frame->tracks.v[t];
        if (end[t] == from)
            continue;
        texts = texts || track->pid_text != TL_NO_NAME || track->tid_text != TL_NO_NAME;
        threads->v[threads->n++] = (tl_hta_thread){ track, at + from, end[t] - from };
    }
    if (threads->n > 1)
        qsort(threads->v, threads->n, sizeof *threads->v, texts ? by_first_row : by_number);
    return true;
}

void tl_hta_threads_free(tl_hta_threads *threads)
{
    tl_arena_free(&threads->arena);
    *threads = (tl_hta_threads){ 0 };
}
