/* host_spans.c - finds when hosts do something known by the name of a call, operator or frame. */
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/call.h"

const tl_activity_kind tl_host_span_kinds[TL_HOST_SPANS] = { TL_ACTIVITY_GC, TL_ACTIVITY_INPUT, TL_ACTIVITY_ALLOCATOR,
                                                             TL_ACTIVITY_SYNC };

/* ----------------------------------------------------------------------------------------------------------- names */

static bool has_any(tl_text name, const char *const *words)
{
    for (; *words != NULL; words++)
        if (tl_text_has(name, *words))
            return true;
    return false;
}

tl_activity_kind tl_idle_activity_of_call(tl_text name)
{
    tl_does does = (tl_does)tl_call_rule_of(name)->does;
    if (does == TL_DOES_WAIT)
        return TL_ACTIVITY_SYNC;
    return does == TL_DOES_ALLOCATE || does == TL_DOES_FREE ? TL_ACTIVITY_ALLOCATOR : TL_ACTIVITY_HOST;
}

tl_activity_kind tl_idle_activity_of_op(tl_text name)
{
    static const char *const garbage[] = {
        "gc.collect",      "gc_collect", "method collect", "function collect", "garbage collect",
        "Garbage collect", "GC pause",   "Python GC",      "python_gc",        NULL
    };
    static const char *const input[] = { "DataLoader", "dataloader", "data_loader", "next_batch",
                                         "get_batch",  "load_batch", "_next_data",  NULL };
    if (has_any(name, garbage) || tl_text_is(name, "gc"))
        return TL_ACTIVITY_GC;
    return has_any(name, input) ? TL_ACTIVITY_INPUT : TL_ACTIVITY_HOST;
}

/* ----------------------------------------------------------------------------------------------------------- spans */

/* Spans of threads that launch, in the order in which they are found. */
typedef struct spans_found {
    const tl_rank_view *view;
    tl_map launching; /* tracks of the threads */
    TL_VEC(tl_span) of[TL_HOST_SPANS];
} spans_found;

/* Whether the thread launches work in [start_ns, end_ns): an operator around launches does more than its name says. */
static bool launches_in(const tl_rank_view *view, uint32_t track, int64_t start_ns, int64_t end_ns)
{
    size_t at = 0;
    TL_BISECT(at, view->nlaunches, mid, view->launches[mid].start_ns < start_ns);
    for (; at < view->nlaunches && view->launches[at].start_ns < end_ns; at++)
        if (view->launches[at].nkernels > 0 && view->launches[at].track == track)
            return true;
    return false;
}

static void add_span(spans_found *found, tl_activity_kind activity, int64_t start_ns, int64_t dur_ns)
{
    for (int i = 0; i < TL_HOST_SPANS; i++)
        if (tl_host_span_kinds[i] == activity)
            tl_vec_push(&found->of[i], (tl_span){ start_ns, start_ns + dur_ns });
}

void tl_host_spans_find(tl_host_spans *spans, const tl_rank_view *view)
{
    uint8_t *of_call = tl_malloc(view->names->n + 1), *of_op = tl_malloc(view->names->n + 1);
    spans_found found = { .view = view };

    for (size_t i = 0; i < view->nlaunches; i++)
        if (view->launches[i].nkernels > 0)
            tl_map_put(&found.launching, view->launches[i].track, 1);
    for (size_t i = 0; i < view->names->n; i++) {
        tl_text name = tl_names_text(view->names, (uint32_t)i);
        of_call[i] = (uint8_t)tl_idle_activity_of_call(name);
        of_op[i] = (uint8_t)tl_idle_activity_of_op(name);
    }
    for (size_t t = 0; t < view->calls.nthreads; t++)
        if (tl_map_get(&found.launching, view->calls.threads[t].track) != TL_MAP_NONE) {
            const tl_thread *thread = &view->calls.threads[t];
            const tl_calls *calls = &view->calls;
            for (size_t i = thread->first; i < thread->first + thread->n; i++)
                if (calls->name[i] != TL_NO_NAME && of_call[calls->name[i]] != TL_ACTIVITY_HOST)
                    add_span(&found, (tl_activity_kind)of_call[calls->name[i]], calls->start_ns[i], calls->dur_ns[i]);
        }
    for (size_t t = 0; t < view->ops.nthreads; t++)
        if (tl_map_get(&found.launching, view->ops.threads[t].track) != TL_MAP_NONE) {
            const tl_thread *thread = &view->ops.threads[t];
            const tl_ops *ops = &view->ops;
            for (size_t i = thread->first; i < thread->first + thread->n; i++)
                if (ops->name[i] != TL_NO_NAME && of_op[ops->name[i]] != TL_ACTIVITY_HOST &&
                    !launches_in(found.view, thread->track, ops->start_ns[i], tl_op_end(ops, i)))
                    add_span(&found, (tl_activity_kind)of_op[ops->name[i]], ops->start_ns[i], ops->dur_ns[i]);
        }
    for (int p = 0; p < TL_HOST_SPANS; p++) {
        tl_spans_add_all(&spans->of[p], found.of[p].v, found.of[p].n);
        free(found.of[p].v);
    }
    tl_map_free(&found.launching);
    free(of_call);
    free(of_op);
}

void tl_host_spans_free(tl_host_spans *spans)
{
    for (int p = 0; p < TL_HOST_SPANS; p++)
        tl_spans_free(&spans->of[p]);
}

tl_activity_kind tl_host_activity_in(const tl_host_spans *spans, int64_t from_ns, int64_t to_ns)
{
    for (int p = 0; p < TL_HOST_SPANS; p++) {
        const tl_spans *of = &spans->of[p];
        int64_t covered_ns = 0;
        size_t at = 0;
        if (tl_host_span_kinds[p] == TL_ACTIVITY_SYNC)
            continue;
        TL_BISECT(at, of->n, mid, of->v[mid].end_ns <= from_ns);
        for (; at < of->n && of->v[at].start_ns < to_ns; at++)
            covered_ns += tl_ns_min(of->v[at].end_ns, to_ns) - tl_ns_max(of->v[at].start_ns, from_ns);
        if (covered_ns > tl_ns_between(to_ns, from_ns) / 2)
            return tl_host_span_kinds[p];
    }
    return TL_ACTIVITY_HOST;
}
