/* activity.c - one thing at a time: of the layers that run at an instant the first. */
#include "sweep.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/base/text.h"
#include <stdlib.h>

tl_activity_kind tl_activity_of_work(const tl_rank_view *view, const tl_kernel *k)
{
    if (k->kind == TL_COMPUTE)
        return TL_ACTIVITY_COMPUTE;
    if (k->kind == TL_COMM)
        return TL_ACTIVITY_COMM;
    if (k->kind != TL_MEMCPY || k->name == TL_NO_NAME)
        return TL_ACTIVITY_COPY;
    tl_text name = tl_names_text(view->names, k->name);
    bool to_device =
        tl_text_has(name, "HtoD") || tl_text_has(name, "HOST_TO_DEVICE") || tl_text_has(name, "HostToDevice");
    return to_device ? TL_ACTIVITY_H2D : TL_ACTIVITY_COPY;
}

/* Room for one more, in both columns. */
static void room(tl_activity *a)
{
    size_t cap = a->cap, same = a->cap;
    if (a->n < cap)
        return;
    tl_grow((void **)&a->start_ns, &cap, a->n + 1, sizeof *a->start_ns);
    tl_grow((void **)&a->kind, &same, cap, sizeof *a->kind);
    a->cap = cap;
}

static void append(tl_activity *a, int64_t start_ns, tl_activity_kind kind)
{
    if (a->n > 0 && a->kind[a->n - 1] == kind)
        return;
    room(a);
    a->start_ns[a->n] = start_ns;
    a->kind[a->n++] = (uint8_t)kind;
}

/* Idle from from_ns to to_ns: by the spans given, *next the first that may still matter. */
static void append_idle(tl_activity *a, int64_t from_ns, int64_t to_ns, const tl_idle_span *idle, size_t n,
                        size_t *next)
{
    while (*next < n && idle[*next].end_ns <= from_ns)
        ++*next;
    while (from_ns < to_ns) {
        const tl_idle_span *span = *next < n && idle[*next].start_ns < to_ns ? &idle[*next] : NULL;
        if (span == NULL) {
            append(a, from_ns, TL_ACTIVITY_HOST);
            return;
        }
        if (span->start_ns > from_ns)
            append(a, from_ns, TL_ACTIVITY_HOST);
        append(a, span->start_ns > from_ns ? span->start_ns : from_ns, span->activity);
        from_ns = span->end_ns;
        if (from_ns < to_ns)
            ++*next;
    }
}

/* Appends what was done up to an instant before which no more work begins. */
static void go_on(tl_sweep *s, int64_t to_ns)
{
    while (s->now < to_ns) {
        int layer = 0;
        while (layer < TL_WORK_LAYERS && s->busy_to[layer] <= s->now)
            layer++;
        if (layer == TL_WORK_LAYERS) {
            append_idle(s->out, s->now, to_ns, s->idle, s->nidle, &s->next_idle);
            s->now = to_ns;
        } else {
            append(s->out, s->now, (tl_activity_kind)layer);
            s->now = s->busy_to[layer] < to_ns ? s->busy_to[layer] : to_ns;
        }
    }
}

tl_sweep tl_sweep_begin(tl_activity *out, const tl_rank_view *view, int64_t first_ns)
{
    tl_sweep s = { .out = out, .view = view, .now = first_ns, .last = first_ns };
    out->n = 0;
    for (int layer = 0; layer < TL_WORK_LAYERS; layer++)
        s.busy_to[layer] = INT64_MIN;
    return s;
}

void tl_sweep_work(tl_sweep *s, const tl_kernel *k)
{
    tl_activity_kind layer = tl_activity_of_work(s->view, k);
    go_on(s, k->start_ns);
    s->busy_to[layer] = tl_ns_max(s->busy_to[layer], k->end_ns);
    s->last = tl_ns_max(s->last, k->end_ns);
}

/* What came before each block of stretches. */
static void sum_blocks(tl_activity *a)
{
    tl_activity_ns sum = { { 0 } };

    free(a->sums);
    a->sums = tl_malloc((a->n / TL_ACTIVITY_BLOCK + 1) * sizeof *a->sums);
    for (size_t i = 0; i <= a->n; i++) {
        if (i % TL_ACTIVITY_BLOCK == 0)
            a->sums[i / TL_ACTIVITY_BLOCK] = sum;
        if (i < a->n)
            sum.ns[a->kind[i]] = tl_ns_sum(sum.ns[a->kind[i]], tl_ns_between(a->start_ns[i + 1], a->start_ns[i]));
    }
}

void tl_sweep_end(tl_sweep *s)
{
    tl_activity *a = s->out;
    go_on(s, s->last);
    room(a);
    a->start_ns[a->n] = s->last;
    a->kind[a->n] = TL_NACTIVITIES;
    sum_blocks(a);
}

void tl_activity_free(tl_activity *activity)
{
    free(activity->start_ns);
    free(activity->kind);
    free(activity->sums);
    *activity = (tl_activity){ 0 };
}

void tl_activity_seek(const tl_activity *a, tl_activity_cursor *cursor, int64_t t_ns)
{
    size_t low = 0;
    TL_BISECT(low, a->n, mid, a->start_ns[mid + 1] <= t_ns);
    cursor->at = low;
}

/* Adds the activities of [from_ns, to_ns) that lie in the stretches [i, end). */
static void add_stretches(const tl_activity *a, size_t i, size_t end, int64_t from_ns, int64_t to_ns,
                          tl_activity_ns *sum)
{
    for (; i < end && a->start_ns[i] < to_ns; i++) {
        int64_t start = a->start_ns[i], stop = a->start_ns[i + 1];
        start = start > from_ns ? start : from_ns;
        stop = stop < to_ns ? stop : to_ns;
        if (stop > start)
            sum->ns[a->kind[i]] += stop - start;
    }
}

/* The last block that begins at t or before, from one that does. */
static size_t block_at(const tl_activity *a, size_t block, int64_t t_ns)
{
    size_t low = block, high = a->n / TL_ACTIVITY_BLOCK;
    while (low < high) {
        size_t mid = low + (high - low + 1) / 2;
        if (a->start_ns[mid * TL_ACTIVITY_BLOCK] <= t_ns)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* The rest of the first block, the sums of whole blocks, and the beginning of the last one. */
void tl_activity_add(const tl_activity *a, tl_activity_cursor *cursor, int64_t from_ns, int64_t to_ns,
                     tl_activity_ns *sum)
{
    while (cursor->at < a->n && a->start_ns[cursor->at + 1] <= from_ns)
        cursor->at++;
    size_t first = cursor->at / TL_ACTIVITY_BLOCK + 1, next = first * TL_ACTIVITY_BLOCK;
    add_stretches(a, cursor->at, next < a->n ? next : a->n, from_ns, to_ns, sum);
    if (next >= a->n || a->start_ns[next] >= to_ns)
        return;
    size_t last = block_at(a, first, to_ns);
    for (int kind = 0; kind < TL_NACTIVITIES; kind++)
        sum->ns[kind] += a->sums[last].ns[kind] - a->sums[first].ns[kind];
    add_stretches(a, last * TL_ACTIVITY_BLOCK, a->n, from_ns, to_ns, sum);
}
