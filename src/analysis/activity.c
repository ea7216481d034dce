/* activity.c - one thing at a time: layers of spans, each cut by those above it. */
#include "tlmpi/analysis/activity.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"
#include <stdlib.h>

/* The layers of work, the first hides those that follow; comm is the last. */
enum { NLAYERS = TL_PART_COMM + 1 };

tl_part tl_part_of_work(const tl_rank_view *view, const tl_kernel *k)
{
    if (k->kind == TL_COMPUTE)
        return TL_PART_COMPUTE;
    if (k->kind == TL_COMM)
        return TL_PART_COMM;
    if (k->kind != TL_MEMCPY || k->name == TL_NO_NAME)
        return TL_PART_COPY;
    tl_text name = tl_names_text(view->names, k->name);
    bool to_device =
        tl_text_has(name, "HtoD") || tl_text_has(name, "HOST_TO_DEVICE") || tl_text_has(name, "HostToDevice");
    return to_device ? TL_PART_H2D : TL_PART_COPY;
}

static int by_start(const void *a, const void *b)
{
    const tl_span *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* The spans of each layer, and the whole extent of work. */
static bool collect_layers(const tl_rank_view *view, tl_spans layers[NLAYERS], tl_span *extent)
{
    tl_span *spans = tl_malloc((view->nkernels + 1) * sizeof *spans);
    bool whole = spans != NULL;

    *extent = (tl_span){ INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        extent->start_ns = k->start_ns < extent->start_ns ? k->start_ns : extent->start_ns;
        extent->end_ns = k->end_ns > extent->end_ns ? k->end_ns : extent->end_ns;
    }
    for (int layer = 0; whole && layer < NLAYERS; layer++) {
        size_t n = 0;
        for (size_t i = 0; i < view->nkernels; i++)
            if ((int)tl_part_of_work(view, &view->kernels[i]) == layer)
                spans[n++] = (tl_span){ view->kernels[i].start_ns, view->kernels[i].end_ns };
        if (n > 1)
            qsort(spans, n, sizeof *spans, by_start);
        for (size_t i = 0; whole && i < n; i++)
            whole = tl_spans_add(&layers[layer], spans[i].start_ns, spans[i].end_ns);
    }
    free(spans);
    return whole;
}

/* Cuts each layer by all above it. */
static bool expose(tl_spans layers[NLAYERS])
{
    tl_spans above = { 0 }, more = { 0 }, exposed = { 0 };
    bool whole = true;

    for (int layer = 0; whole && layer < NLAYERS; layer++) {
        whole = tl_spans_subtract(&exposed, &layers[layer], &above) && tl_spans_union(&more, &above, &layers[layer]);
        tl_spans swap = layers[layer];
        layers[layer] = exposed;
        exposed = swap;
        swap = above;
        above = more;
        more = swap;
    }
    tl_spans_free(&above);
    tl_spans_free(&more);
    tl_spans_free(&exposed);
    return whole;
}

static bool append(tl_activity *a, int64_t start_ns, tl_part part)
{
    if (a->n > 0 && a->v[a->n - 1].part == part)
        return true;
    if (!tl_vec_room(a))
        return false;
    a->v[a->n++] = (tl_stretch){ start_ns, part };
    return true;
}

/* Idle from from_ns to to_ns: by the spans given, *next the first that may still matter. */
static bool append_idle(tl_activity *a, int64_t from_ns, int64_t to_ns, const tl_idle_span *idle, size_t n,
                        size_t *next)
{
    while (*next < n && idle[*next].end_ns <= from_ns)
        ++*next;
    while (from_ns < to_ns) {
        const tl_idle_span *span = *next < n && idle[*next].start_ns < to_ns ? &idle[*next] : NULL;
        if (span == NULL)
            return append(a, from_ns, TL_PART_HOST);
        if (span->start_ns > from_ns && !append(a, from_ns, TL_PART_HOST))
            return false;
        if (!append(a, span->start_ns > from_ns ? span->start_ns : from_ns, span->part))
            return false;
        from_ns = span->end_ns;
        if (from_ns < to_ns)
            ++*next;
    }
    return true;
}

/* The exposed layers are disjoint: all in order of time, idle between. */
static bool merge(tl_activity *a, const tl_spans layers[NLAYERS], tl_span extent, const tl_idle_span *idle,
                  size_t nidle)
{
    size_t at[NLAYERS] = { 0 }, next = 0;
    int64_t now = extent.start_ns;

    for (;;) {
        int first = -1;
        for (int layer = 0; layer < NLAYERS; layer++)
            if (at[layer] < layers[layer].n &&
                (first < 0 || layers[layer].v[at[layer]].start_ns < layers[first].v[at[first]].start_ns))
                first = layer;
        int64_t start = first < 0 ? extent.end_ns : layers[first].v[at[first]].start_ns;
        if (!append_idle(a, now, start, idle, nidle, &next))
            return false;
        if (first < 0)
            break;
        if (!append(a, start, (tl_part)first))
            return false;
        now = layers[first].v[at[first]++].end_ns;
    }
    if (!tl_vec_room(a))
        return false;
    a->v[a->n] = (tl_stretch){ extent.end_ns, TL_NPARTS };
    return true;
}

/* What came before each block of stretches. */
static bool sum_blocks(tl_activity *a)
{
    tl_parts sum = { { 0 } };

    free(a->sums);
    a->sums = tl_malloc((a->n / TL_ACTIVITY_BLOCK + 1) * sizeof *a->sums);
    for (size_t i = 0; a->sums != NULL && i <= a->n; i++) {
        if (i % TL_ACTIVITY_BLOCK == 0)
            a->sums[i / TL_ACTIVITY_BLOCK] = sum;
        if (i < a->n)
            sum.ns[a->v[i].part] += a->v[i + 1].start_ns - a->v[i].start_ns;
    }
    return a->sums != NULL;
}

bool tl_activity_make(tl_activity *activity, const tl_rank_view *view, const tl_idle_span *idle, size_t nidle)
{
    tl_spans layers[NLAYERS] = { { 0 } };
    tl_span extent;

    activity->n = 0;
    if (view->nkernels == 0)
        return true;
    bool whole = collect_layers(view, layers, &extent) && expose(layers) &&
                 merge(activity, layers, extent, idle, nidle) && sum_blocks(activity);
    for (int layer = 0; layer < NLAYERS; layer++)
        tl_spans_free(&layers[layer]);
    if (!whole)
        activity->n = 0;
    return whole;
}

void tl_activity_free(tl_activity *activity)
{
    free(activity->v);
    free(activity->sums);
    *activity = (tl_activity){ 0 };
}

void tl_activity_seek(const tl_activity *a, tl_activity_cursor *cursor, int64_t t_ns)
{
    size_t low = 0, high = a->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (a->v[mid + 1].start_ns <= t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    cursor->at = low;
}

/* Adds the parts of [from_ns, to_ns) that lie in the stretches [i, end). */
static void add_stretches(const tl_activity *a, size_t i, size_t end, int64_t from_ns, int64_t to_ns, tl_parts *sum)
{
    for (; i < end && a->v[i].start_ns < to_ns; i++) {
        int64_t start = a->v[i].start_ns, stop = a->v[i + 1].start_ns;
        start = start > from_ns ? start : from_ns;
        stop = stop < to_ns ? stop : to_ns;
        if (stop > start)
            sum->ns[a->v[i].part] += stop - start;
    }
}

/* The last block that begins at t or before, from one that does. */
static size_t block_at(const tl_activity *a, size_t block, int64_t t_ns)
{
    size_t low = block, high = a->n / TL_ACTIVITY_BLOCK;
    while (low < high) {
        size_t mid = low + (high - low + 1) / 2;
        if (a->v[mid * TL_ACTIVITY_BLOCK].start_ns <= t_ns)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* The rest of the first block, the sums of whole blocks, and the beginning of the last one. */
void tl_activity_add(const tl_activity *a, tl_activity_cursor *cursor, int64_t from_ns, int64_t to_ns, tl_parts *sum)
{
    while (cursor->at < a->n && a->v[cursor->at + 1].start_ns <= from_ns)
        cursor->at++;
    size_t first = cursor->at / TL_ACTIVITY_BLOCK + 1, next = first * TL_ACTIVITY_BLOCK;
    add_stretches(a, cursor->at, next < a->n ? next : a->n, from_ns, to_ns, sum);
    if (next >= a->n || a->v[next].start_ns >= to_ns)
        return;
    size_t last = block_at(a, first, to_ns);
    for (int part = 0; part < TL_NPARTS; part++)
        sum->ns[part] += a->sums[last].ns[part] - a->sums[first].ns[part];
    add_stretches(a, last * TL_ACTIVITY_BLOCK, a->n, from_ns, to_ns, sum);
}
