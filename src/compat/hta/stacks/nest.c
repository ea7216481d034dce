/* nest.c - threads; sorting the edges of rows, and the sweep over them. */
#include "nest.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------------- threads */

static int by_number(const void *a, const void *b)
{
    const tl_track *x = ((const tl_hta_thread *)a)->track, *y = ((const tl_hta_thread *)b)->track;
    return TL_ORDER(x, y, pid, tid);
}

static int by_first_row(const void *a, const void *b)
{
    const tl_hta_thread *x = a, *y = b;
    return TL_COMPARE(x->at[0], y->at[0]);
}

/* Numbers and texts have no order in Python: where there are both, threads come in the order of their first rows. */
tl_hta_threads tl_hta_threads_of(const tl_hta_frame *frame)
{
    bool texts = false;
    tl_hta_threads threads = { .groups = tl_hta_groups_of(frame, TL_HTA_BY_TRACK, frame->tracks.n, NULL, NULL) };
    const tl_hta_groups *g = &threads.groups;

    threads.v = tl_malloc(g->n * sizeof *threads.v);
    for (size_t t = 0; t < g->n; t++) {
        const tl_track *track = &frame->tracks.v[t];
        if (g->first[t + 1] == g->first[t])
            continue;
        texts = texts || track->pid_text != TL_NO_NAME || track->tid_text != TL_NO_NAME;
        threads.v[threads.n++] = (tl_hta_thread){ track, g->order + g->first[t], g->first[t + 1] - g->first[t] };
    }
    if (threads.n > 1)
        qsort(threads.v, threads.n, sizeof *threads.v, texts ? by_first_row : by_number);
    return threads;
}

void tl_hta_threads_free(tl_hta_threads *threads)
{
    tl_hta_groups_free(&threads->groups);
    free(threads->v);
}

/* ---------------------------------------------------------------------------------------------------------- nesting */

/* Row at[k] has edge 2k, its start, and 2k + 1, its end. */
typedef struct edges {
    tl_hta_nest *nest;
    const uint32_t *at;
    uint32_t *v;
} edges;

static bool is_end(uint32_t edge)
{
    return edge % 2 == 1;
}

static const tl_hta_row *row_of(const edges *e, uint32_t edge)
{
    return &e->nest->rows[e->at[edge / 2]];
}

static double length_of(const edges *e, const tl_hta_row *row)
{
    return row->dur < 0 && e->nest->way == TL_HTA_SIBLINGS ? 0 : row->dur;
}

static double time_of(const edges *e, uint32_t edge)
{
    const tl_hta_row *row = row_of(e, edge);
    return is_end(edge) ? row->ts + length_of(e, row) : row->ts;
}

/* Two starts, or two ends, of rows of that length at one time. */
static bool goes_before(const tl_hta_row *x, const tl_hta_row *y, double long_x, double long_y, bool ends)
{
    if (long_x != long_y)
        return ends ? long_x < long_y : long_x > long_y;
    return ends ? x->index > y->index : x->index < y->index;
}

static bool is_before_sibling(void *context, uint32_t a, uint32_t b)
{
    const edges *e = context;
    const tl_hta_row *x = row_of(e, a), *y = row_of(e, b);
    double long_x = length_of(e, x), long_y = length_of(e, y);

    if (x->index == y->index)
        return !is_end(a);
    if (time_of(e, a) != time_of(e, b))
        return time_of(e, a) < time_of(e, b);
    if (is_end(a) == is_end(b))
        return goes_before(x, y, long_x, long_y, is_end(a));
    if (long_x > 0 && long_y > 0)
        return is_end(a);
    return long_x == 0 && long_y == 0 ? x->index < y->index : !is_end(a);
}

static bool is_before_nested(void *context, uint32_t a, uint32_t b)
{
    edges *e = context;
    const tl_hta_row *x = row_of(e, a), *y = row_of(e, b);

    if (time_of(e, a) != time_of(e, b))
        return time_of(e, a) < time_of(e, b);
    if (x->index == y->index)
        return !is_end(a);
    if ((x->dur == 0 && y->dur < 0) || (x->dur < 0 && y->dur == 0)) {
        e->nest->clash = true;
        e->nest->clash_of = x->dur == 0 ? x->index : y->index;
        e->nest->clash_with = x->dur == 0 ? y->index : x->index;
    }
    if (x->dur == 0 && y->dur != 0)
        return is_end(b);
    if (x->dur != 0 && y->dur == 0)
        return !is_end(a);
    if (is_end(a) == is_end(b))
        return goes_before(x, y, x->dur, y->dur, is_end(a));
    return x->dur == 0 ? !is_end(a) : is_end(a);
}

/* Sorts the edges by time as numpy does, from an order of all starts, then all ends. */
static void presort(edges *e, size_t n)
{
    double *times = tl_malloc(2 * n * sizeof *times);

    for (size_t k = 0; k < n; k++) {
        times[k] = time_of(e, (uint32_t)(2 * k));
        times[n + k] = time_of(e, (uint32_t)(2 * k + 1));
    }
    tl_numpy_argsort(e->v, times, 2 * n);
    for (size_t i = 0; i < 2 * n; i++)
        e->v[i] = e->v[i] < n ? 2 * e->v[i] : (uint32_t)(2 * (e->v[i] - n) + 1);
    free(times);
}

static void sweep(const edges *e, size_t n, uint32_t *stack)
{
    tl_hta_nest *nest = e->nest;
    size_t depth = 0;

    for (size_t i = 0; i < 2 * n; i++) {
        uint32_t at = e->at[e->v[i] / 2];
        if (is_end(e->v[i])) {
            depth -= depth > 0;
            continue;
        }
        nest->parent[at] = depth > 0 ? stack[depth - 1] : TL_HTA_TOP;
        nest->opened[nest->nopened++] = at;
        stack[depth++] = at;
    }
}

void tl_hta_nest_rows(tl_hta_nest *nest, const uint32_t *at, size_t n)
{
    edges e = { .nest = nest, .at = at, .v = tl_malloc(2 * n * sizeof *e.v) };
    uint32_t *stack = tl_malloc(n * sizeof *stack);
    bool nested = nest->way == TL_HTA_NESTED;

    for (size_t i = 0; i < 2 * n; i++)
        e.v[i] = (uint32_t)i;
    if (nested)
        presort(&e, n);
    tl_python_sort(e.v, 2 * n, nested ? is_before_nested : is_before_sibling, &e);
    sweep(&e, n, stack);
    free(e.v);
    free(stack);
}
