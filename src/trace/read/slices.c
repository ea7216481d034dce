#include "formats.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

static void set_duration(tl_events *events, const tl_slice_edge *begin, int64_t end_ns)
{
    if (begin->event != TL_NO_EVENT)
        tl_narrow_set(&events->dur_ns, begin->event, tl_ns_max(0, tl_ns_between(end_ns, begin->at_ns)));
}

/* Closes the slices of the batch if the k-th end is that of the k-th beginning; else leaves them open. */
static void close_batch(tl_slices *s, tl_events *events)
{
    const size_t n = s->nbegins;
    const tl_slice_edge *v = s->batch.v;
    bool pairs = 2 * n == s->batch.n, ordered = n > 1;

    for (size_t i = 0; pairs && i < n; i++)
        pairs = v[i].track == v[n + i].track && v[i].at_ns <= v[n + i].at_ns;
    for (size_t i = 1; ordered && i < s->batch.n; i++)
        ordered = v[i - 1].at_ns <= v[i].at_ns;
    for (size_t i = 0; i < s->batch.n; i++)
        if (!pairs || ordered)
            tl_vec_push(&s->edges, v[i]);
        else if (i < n)
            set_duration(events, &v[i], v[n + i].at_ns);
    s->batch.n = s->nbegins = 0;
}

void tl_slices_add(tl_slices *s, tl_events *events, uint32_t writer, tl_slice_edge edge)
{
    if (writer != s->writer || (!edge.ends && s->batch.n > s->nbegins))
        close_batch(s, events);
    s->writer = writer;
    s->nbegins += !edge.ends;
    tl_vec_push(&s->batch, edge);
}

TL_SORT_BY(by_time, tl_slice_edge, at_ns, order, ends)

uint64_t tl_slices_close(tl_slices *s, tl_events *events, size_t ntracks)
{
    tl_arena arena = { 0 };
    uint32_t *open = tl_arena_none(&arena, ntracks); /* by track: the innermost edge */
    uint64_t left = 0;

    close_batch(s, events);
    tl_vec_sort(&s->edges, by_time);
    for (size_t i = 0; i < s->edges.n; i++) {
        tl_slice_edge *e = &s->edges.v[i];
        const uint32_t top = open[e->track];
        if (!e->ends) {
            e->below = top;
            open[e->track] = (uint32_t)i;
            left += e->event != TL_NO_EVENT;
        } else if (top != UINT32_MAX) {
            set_duration(events, &s->edges.v[top], e->at_ns);
            open[e->track] = s->edges.v[top].below;
            left -= s->edges.v[top].event != TL_NO_EVENT;
        }
    }
    tl_arena_free(&arena);
    free(s->batch.v);
    free(s->edges.v);
    return left;
}
