/* activity.c - one thing at a time: of the layers that run at an instant the first. */
#include "sweep.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
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

/* Writes place n, of both columns. */
static void put(tl_activity *a, int64_t start_ns, tl_activity_kind kind)
{
    size_t cap = a->cap, same = a->cap;
    if (a->n == cap) {
        tl_grow((void **)&a->start_ns, &cap, a->n + 1, sizeof *a->start_ns);
        tl_grow((void **)&a->kind, &same, cap, sizeof *a->kind);
        a->cap = cap;
    }
    a->start_ns[a->n] = start_ns;
    a->kind[a->n] = (uint8_t)kind;
}

static void append(tl_activity *a, int64_t start_ns, tl_activity_kind kind)
{
    if (a->n > 0 && a->kind[a->n - 1] == kind)
        return;
    put(a, start_ns, kind);
    a->n++;
}

/* Idle from from_ns to to_ns: by the sweep's spans. */
static void append_idle(tl_sweep *s, int64_t from_ns, int64_t to_ns)
{
    while (s->next_idle < s->nidle && s->idle[s->next_idle].end_ns <= from_ns)
        s->next_idle++;
    while (from_ns < to_ns) {
        const tl_idle_span *span = s->next_idle < s->nidle ? &s->idle[s->next_idle] : NULL;
        if (span == NULL || span->start_ns > from_ns)
            append(s->out, from_ns, TL_ACTIVITY_HOST);
        if (span == NULL || span->start_ns >= to_ns)
            return;
        append(s->out, tl_ns_max(span->start_ns, from_ns), span->activity);
        from_ns = span->end_ns;
        s->next_idle += from_ns < to_ns;
    }
}

/* Appends what was done up to an instant before which no more work begins. */
static void append_until(tl_sweep *s, int64_t to_ns)
{
    while (s->now < to_ns) {
        int layer = 0;
        while (layer < TL_WORK_LAYERS && s->busy_to[layer] <= s->now)
            layer++;
        if (layer == TL_WORK_LAYERS) {
            append_idle(s, s->now, to_ns);
            s->now = to_ns;
        } else {
            append(s->out, s->now, (tl_activity_kind)layer);
            s->now = tl_ns_min(s->busy_to[layer], to_ns);
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
    append_until(s, k->start_ns);
    s->busy_to[layer] = tl_ns_max(s->busy_to[layer], k->end_ns);
    s->last = tl_ns_max(s->last, k->end_ns);
}

void tl_sweep_end(tl_sweep *s)
{
    tl_activity *a = s->out;
    tl_activity_ns sum = { { 0 } };

    append_until(s, s->last);
    put(a, s->last, TL_NACTIVITIES);
    free(a->sums);
    a->sums = tl_malloc((a->n / TL_ACTIVITY_BLOCK + 1) * sizeof *a->sums);
    for (size_t i = 0; i <= a->n; i++) {
        if (i % TL_ACTIVITY_BLOCK == 0)
            a->sums[i / TL_ACTIVITY_BLOCK] = sum;
        if (i < a->n)
            sum.ns[a->kind[i]] = tl_ns_sum(sum.ns[a->kind[i]], tl_ns_between(a->start_ns[i + 1], a->start_ns[i]));
    }
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
    cursor->at = 0;
    TL_BISECT(cursor->at, a->n, mid, a->start_ns[mid + 1] <= t_ns);
}

/* Adds the activities of [from_ns, to_ns) that lie in the stretches [i, end). */
static void add_stretches(const tl_activity *a, size_t i, size_t end, int64_t from_ns, int64_t to_ns,
                          tl_activity_ns *sum)
{
    for (; i < end && a->start_ns[i] < to_ns; i++) {
        int64_t start = tl_ns_max(a->start_ns[i], from_ns), stop = tl_ns_min(a->start_ns[i + 1], to_ns);
        if (stop > start)
            sum->ns[a->kind[i]] += stop - start;
    }
}

/* The rest of the first block, the sums of whole blocks, and the beginning of the last one. */
void tl_activity_add(const tl_activity *a, tl_activity_cursor *cursor, int64_t from_ns, int64_t to_ns,
                     tl_activity_ns *sum)
{
    while (cursor->at < a->n && a->start_ns[cursor->at + 1] <= from_ns)
        cursor->at++;
    size_t first = cursor->at / TL_ACTIVITY_BLOCK + 1, next = first * TL_ACTIVITY_BLOCK, after = first + 1;
    add_stretches(a, cursor->at, next < a->n ? next : a->n, from_ns, to_ns, sum);
    if (next >= a->n || a->start_ns[next] >= to_ns)
        return;
    TL_BISECT(after, a->n / TL_ACTIVITY_BLOCK + 1, mid, a->start_ns[mid * TL_ACTIVITY_BLOCK] <= to_ns);
    for (int kind = 0; kind < TL_NACTIVITIES; kind++)
        sum->ns[kind] += a->sums[after - 1].ns[kind] - a->sums[first].ns[kind];
    add_stretches(a, (after - 1) * TL_ACTIVITY_BLOCK, a->n, from_ns, to_ns, sum);
}
