/* repetitions.c - the repetitions of a trace, and the work that was launched in each. */
#include "tlmpi/analysis/rank/time/repetition.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"
#include <stdlib.h>

TL_LABELS_DEFINE(repetition_measure, TL_REPETITION_MEASURE_VALUES);

TL_TABLE_DEFINE_AS(repetition, "rep", TL_REPETITION_FIELDS, TL_SCOPE_JOB, "repetitions",
                   "How long did the device work in each repetition?");

/* ---- the windows of repetitions on the host ---- */

typedef struct window {
    int64_t start_ns, end_ns;
    uint32_t name, track; /* TL_NONE: of no thread in particular */
} window;

typedef TL_VEC(window) windows;

/* Windows that are open at an instant, no two of a thread, in order of their begin. */
typedef TL_VEC(uint32_t) opened;

static void close_until(opened *open, const windows *w, int64_t at_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < open->n; i++)
        if (w->v[open->v[i]].end_ns > at_ns)
            open->v[kept++] = open->v[i];
    open->n = kept;
}

/* TL_NONE: the thread has none open. */
static uint32_t open_on(const opened *open, const windows *w, uint32_t track)
{
    for (size_t i = 0; i < open->n; i++)
        if (w->v[open->v[i]].track == track)
            return open->v[i];
    return TL_NONE;
}

TL_SORT_BY(by_start, window, start_ns, track, DOWN(end_ns), name)

/* Keeps the outer windows; a window that begins inside another on its thread is left out and counted in out->nested. */
static void keep_outer(windows *w, tl_repetition_set *out)
{
    opened open = { 0 };
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++) {
        const window one = w->v[i];
        close_until(&open, w, one.start_ns);
        if (open_on(&open, w, one.track) != TL_NONE) {
            out->nested++;
            continue;
        }
        out->beside += open.n > 0;
        w->v[kept] = one;
        tl_vec_push(&open, (uint32_t)kept++);
    }
    w->n = kept;
    free(open.v);
}

static void find_annotations(const tl_rank_view *view, const char *name, windows *w)
{
    const tl_ops *ops = &view->ops;
    for (size_t t = 0; t < ops->nthreads; t++)
        for (size_t i = ops->threads[t].first; i < ops->threads[t].first + ops->threads[t].n; i++)
            if (ops->kind[i] == TL_ANNOTATION && tl_text_is(tl_names_text(view->names, ops->name[i]), name))
                tl_vec_push(w, (window){ ops->start_ns[i], ops->start_ns[i] + ops->dur_ns[i], ops->name[i],
                                         ops->threads[t].track });
}

static void find_windows(const tl_rank_view *view, const tl_repetition_rule *rule, windows *w, tl_repetition_set *out)
{
    if (rule->of == TL_REPETITION_FILE) {
        tl_vec_push(w, (window){ INT64_MIN, INT64_MAX, TL_NO_NAME, TL_NONE });
        return;
    }
    if (rule->of == TL_REPETITION_ANNOTATION)
        find_annotations(view, rule->name, w);
    else
        for (size_t i = 0; i < view->nsteps; i++)
            tl_vec_push(w, (window){ view->steps[i].start_ns, view->steps[i].end_ns, view->steps[i].name, TL_NONE });
    tl_vec_sort(w, by_start);
    keep_outer(w, out);
}

/* ---- what autograd launches ---- */

/* Returns, for each operator, whether it is, or lies in, a call of autograd. */
static bool *find_backward(const tl_rank_view *view, tl_arena *arena)
{
    const tl_ops *ops = &view->ops;
    bool *backward = tl_arena_zeroed(arena, ops->n, sizeof *backward);
    for (size_t t = 0; t < ops->nthreads; t++) {
        int64_t until_ns = INT64_MIN; /* end of the outermost call of autograd that is open */
        for (size_t i = ops->threads[t].first; i < ops->threads[t].first + ops->threads[t].n; i++) {
            if (ops->start_ns[i] >= until_ns && ops->kind[i] == TL_OP &&
                tl_text_starts(tl_names_text(view->names, ops->name[i]), "autograd::engine::evaluate_function"))
                until_ns = ops->start_ns[i] + ops->dur_ns[i];
            backward[i] = ops->start_ns[i] < until_ns;
        }
    }
    return backward;
}

/* ---- the work of each ---- */

typedef struct finding {
    const tl_rank_view *view;
    const tl_repetition_rule *rule;
    tl_repetition_set *out;
    windows windows;
    bool *backward;
    signed char *excluded; /* by name: 0 not asked yet, 1 it is, -1 it is not */
    uint32_t *works;       /* [n] kernels that may be in a repetition, by launch */
    size_t n;
    uint32_t *repetition_of; /* [n] of a work; TL_NONE: in none */
    tl_map share_of;         /* name -> share of the current repetition */
} finding;

TL_ORDER_BY(by_launch, tl_kernel, launch_ns, start_ns, uid)

static bool is_excluded(finding *f, uint32_t name)
{
    if (f->rule->exclude == NULL || name == TL_NO_NAME)
        return false;
    if (f->excluded[name] == 0)
        f->excluded[name] = regexec(f->rule->exclude, tl_names_text(f->view->names, name).p, 0, NULL, 0) == 0 ? 1 : -1;
    return f->excluded[name] > 0;
}

/* Assigns each work, in order of launches, to a repetition: the one open on the thread of its launch; where that thread
 * has none, as for autograd, the last one begun on any thread. */
static void assign(finding *f)
{
    const windows *w = &f->windows;
    opened open = { 0 };
    size_t next = 0;

    for (size_t i = 0; i < f->n; i++) {
        const tl_kernel *k = &f->view->kernels[f->works[i]];
        while (next < w->n && w->v[next].start_ns <= k->launch_ns)
            tl_vec_push(&open, (uint32_t)next++);
        close_until(&open, w, k->launch_ns);
        uint32_t repetition = k->launch == TL_NONE ? TL_NONE : open_on(&open, w, f->view->launches[k->launch].track);
        f->out->guessed += repetition == TL_NONE && open.n > 1;
        if (repetition == TL_NONE && open.n > 0)
            repetition = open.v[open.n - 1];
        f->repetition_of[i] = repetition;
        if (repetition != TL_NONE || is_excluded(f, k->name))
            continue;
        f->out->outside++;
        f->out->outside_ns = tl_ns_add(f->out->outside_ns, k->end_ns - k->start_ns);
    }
    free(open.v);
}

static void list_works(finding *f)
{
    for (size_t i = 0; i < f->view->nkernels; i++) {
        if (f->view->kernels[i].launch_ns != TL_TIME_UNKNOWN || f->rule->of == TL_REPETITION_FILE)
            f->works[f->n++] = (uint32_t)i;
        f->out->unlinked += f->view->kernels[i].launch_ns == TL_TIME_UNKNOWN;
    }
    tl_sort_index(f->works, f->n, by_launch, f->view->kernels);
}

/* Adds a work to its name's share of a repetition, whose first share is out->shares.v[first]. */
static void add_to_share(finding *f, const tl_kernel *k, size_t first)
{
    uint32_t at = tl_map_get(&f->share_of, k->name);
    if (at == TL_MAP_NONE || at < first) {
        const tl_text name = tl_names_text(f->view->names, k->name);
        at = (uint32_t)f->out->shares.n;
        tl_map_put(&f->share_of, k->name, at);
        tl_vec_push(&f->out->shares, (tl_repetition_share){ .name = tl_hash_bytes(name.p, name.n), .kind = k->kind });
    }
    f->out->shares.v[at].count++;
    f->out->shares.v[at].total_ns = tl_ns_add(f->out->shares.v[at].total_ns, k->end_ns - k->start_ns);
}

/* Measures one repetition of n works, numbers of f->works; spans has room for them. */
static void measure(finding *f, const uint32_t *works, size_t nworks, tl_repetition *row, tl_span *spans)
{
    size_t n = 0, first = f->out->shares.n;
    int64_t start = INT64_MAX, end = INT64_MIN;
    tl_spans busy = { 0 };

    for (size_t i = 0; i < nworks; i++) {
        const tl_kernel *k = &f->view->kernels[f->works[works[i]]];
        int64_t ns = k->end_ns - k->start_ns;
        if ((int64_t)i < f->rule->skip || is_excluded(f, k->name)) {
            row->excluded++;
            row->excluded_ns = tl_ns_add(row->excluded_ns, ns);
            continue;
        }
        uint32_t op = k->launch != TL_NONE ? f->view->launches[k->launch].op : TL_NONE;
        int64_t *part = op != TL_NONE && f->backward[op] ? &row->backward_ns : &row->forward_ns;
        row->works++;
        row->kernel_ns = tl_ns_add(row->kernel_ns, ns);
        *part = tl_ns_add(*part, ns);
        spans[n++] = (tl_span){ k->start_ns, k->end_ns };
        start = tl_ns_min(start, k->start_ns);
        end = tl_ns_max(end, k->end_ns);
        add_to_share(f, k, first);
    }
    tl_spans_add_all(&busy, spans, n);
    row->busy_ns = tl_spans_total(&busy);
    row->span_ns = n > 0 ? end - start : 0;
    row->bubble_ns = row->span_ns - row->busy_ns;
    tl_spans_free(&busy);
}

void tl_repetition_set_find(const tl_rank_view *view, const tl_repetition_rule *rule, tl_repetition_set *out)
{
    tl_arena arena = { 0 };
    finding f = { .view = view,
                  .rule = rule,
                  .out = out,
                  .backward = find_backward(view, &arena),
                  .excluded = tl_arena_zeroed(&arena, view->names->n, sizeof *f.excluded),
                  .works = tl_arena_take(&arena, view->nkernels, sizeof *f.works),
                  .repetition_of = tl_arena_take(&arena, view->nkernels, sizeof *f.repetition_of) };
    uint32_t *grouped = tl_arena_take(&arena, view->nkernels, sizeof *grouped);
    tl_span *spans = tl_arena_take(&arena, view->nkernels, sizeof *spans);

    find_windows(view, rule, &f.windows, out);
    size_t *first = tl_arena_take(&arena, f.windows.n + 1, sizeof *first);
    list_works(&f);
    assign(&f);
    tl_group_rows(f.repetition_of, f.n, f.windows.n, first, grouped);
    for (size_t w = 0; w < f.windows.n; w++) {
        tl_repetition row = { .rep = (int32_t)w };
        tl_cell_put(row.name, sizeof row.name, tl_names_text(view->names, f.windows.v[w].name));
        measure(&f, grouped + first[w], first[w + 1] - first[w], &row, spans);
        tl_vec_push(&out->v, row);
    }
    tl_map_free(&f.share_of);
    free(f.windows.v);
    tl_arena_free(&arena);
}

void tl_repetition_set_free(tl_repetition_set *set)
{
    free(set->v.v);
    free(set->shares.v);
    *set = (tl_repetition_set){ 0 };
}
