/* find.c - the repetitions of a trace, and the work that was launched in each. */
#include "tlmpi/analysis/repetition.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"
#include <stdlib.h>

const char *const tl_repetition_measure_labels[] = { TL_REPETITION_MEASURE_VALUES(TL_VALUE_LABEL) NULL };

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

static int by_start(const void *a, const void *b)
{
    const window *x = a, *y = b;
    if (x->start_ns != y->start_ns || x->track != y->track)
        return TL_ORDER(x, y, start_ns, track);
    return x->end_ns != y->end_ns ? TL_COMPARE(y->end_ns, x->end_ns) : TL_COMPARE(x->name, y->name);
}

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
static bool *find_backward(const tl_rank_view *view)
{
    const tl_ops *ops = &view->ops;
    bool *backward = tl_calloc(ops->n + 1, sizeof *backward);
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
    uint32_t *repetition_of; /* by kernel; TL_NONE */
    signed char *excluded; /* by name: 0 not asked yet, 1 it is, -1 it is not */
    uint32_t *order;       /* kernels that are in a repetition: by repetition, launch, start */
    size_t n;
    tl_map slot; /* name -> share of the repetition at hand */
} finding;

static int by_launch(const void *arg, uint32_t a, uint32_t b)
{
    const finding *f = arg;
    int order = TL_COMPARE(f->repetition_of[a], f->repetition_of[b]);
    return order != 0 ? order : TL_ORDER(&f->view->kernels[a], &f->view->kernels[b], launch_ns, start_ns, uid);
}

static bool is_excluded(finding *f, uint32_t name)
{
    if (f->rule->excludes == NULL || name == TL_NO_NAME)
        return false;
    if (f->excluded[name] == 0)
        f->excluded[name] = f->rule->excludes(f->rule->arg, tl_names_text(f->view->names, name)) ? 1 : -1;
    return f->excluded[name] > 0;
}

/* Assigns each work, in order of launches, to a repetition: the one open on the thread of its launch; where that thread
 * has none, as for autograd, the last one begun on any thread.  Work in no repetition leaves f->order. */
static void assign(finding *f)
{
    const windows *w = &f->windows;
    opened open = { 0 };
    size_t next = 0, kept = 0;

    for (size_t i = 0; i < f->n; i++) {
        const tl_kernel *k = &f->view->kernels[f->order[i]];
        while (next < w->n && w->v[next].start_ns <= k->launch_ns)
            tl_vec_push(&open, (uint32_t)next++);
        close_until(&open, w, k->launch_ns);
        uint32_t repetition = k->launch == TL_NONE ? TL_NONE : open_on(&open, w, f->view->launches[k->launch].track);
        f->out->guessed += repetition == TL_NONE && open.n > 1;
        if (repetition == TL_NONE && open.n > 0)
            repetition = open.v[open.n - 1];
        if (repetition != TL_NONE) {
            f->repetition_of[f->order[i]] = repetition;
            f->order[kept++] = f->order[i];
        } else if (!is_excluded(f, k->name)) {
            f->out->outside++;
            f->out->outside_ns = tl_ns_add(f->out->outside_ns, k->end_ns - k->start_ns);
        }
    }
    f->n = kept;
    free(open.v);
}

/* Sorts the work by repetition, and by launch within one. */
static void order_works(finding *f)
{
    for (size_t i = 0; i < f->view->nkernels; i++) {
        f->repetition_of[i] = TL_NONE;
        if (f->view->kernels[i].launch_ns != TL_TIME_UNKNOWN || f->rule->of == TL_REPETITION_FILE)
            f->order[f->n++] = (uint32_t)i;
        f->out->unlinked += f->view->kernels[i].launch_ns == TL_TIME_UNKNOWN;
    }
    tl_sort_index(f->order, f->n, by_launch, f);
    assign(f);
    tl_sort_index(f->order, f->n, by_launch, f);
}

/* first: the repetition's first share. */
static void share_out(finding *f, const tl_kernel *k, size_t first, int64_t repetition)
{
    uint32_t at = tl_map_get(&f->slot, k->name);
    if (at == TL_MAP_NONE || at < first) {
        at = (uint32_t)f->out->shares.n;
        tl_vec_room(&f->out->shares);
        tl_map_put(&f->slot, k->name, at);
        f->out->shares.v[f->out->shares.n++] =
            (tl_repetition_share){ .repetition = repetition, .name = k->name, .kind = k->kind };
    }
    f->out->shares.v[at].count++;
    f->out->shares.v[at].total_ns = tl_ns_add(f->out->shares.v[at].total_ns, k->end_ns - k->start_ns);
}

/* Measures one repetition from its kernels order[from, to); spans has room for them. */
static void measure(finding *f, size_t from, size_t to, tl_repetition *row, tl_span *spans)
{
    size_t n = 0, first = f->out->shares.n;
    int64_t start = INT64_MAX, end = INT64_MIN;
    tl_spans busy = { 0 };

    for (size_t i = from; i < to; i++) {
        const tl_kernel *k = &f->view->kernels[f->order[i]];
        int64_t ns = k->end_ns - k->start_ns;
        if ((int64_t)(i - from) < f->rule->skip || is_excluded(f, k->name)) {
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
        share_out(f, k, first, row->rep);
    }
    tl_spans_add_all(&busy, spans, n);
    row->busy_ns = tl_spans_total(&busy);
    row->span_ns = n > 0 ? end - start : 0;
    row->bubble_ns = row->span_ns - row->busy_ns;
    tl_spans_free(&busy);
}

static void measure_all(finding *f)
{
    tl_span *spans = tl_malloc((f->n + 1) * sizeof *spans);
    for (size_t w = 0, from = 0, to; w < f->windows.n; w++, from = to) {
        for (to = from; to < f->n && f->repetition_of[f->order[to]] == w; to++)
            ;
        tl_repetition row = { .rep = (int32_t)w };
        tl_cell_put(row.name, sizeof row.name, tl_names_text(f->view->names, f->windows.v[w].name));
        measure(f, from, to, &row, spans);
        tl_vec_push(&f->out->v, row);
    }
    free(spans);
}

void tl_repetition_set_find(const tl_rank_view *view, const tl_repetition_rule *rule, tl_repetition_set *out)
{
    finding f = { .view = view, .rule = rule, .out = out };
    f.backward = find_backward(view);
    f.repetition_of = tl_malloc((view->nkernels + 1) * sizeof *f.repetition_of);
    f.order = tl_malloc((view->nkernels + 1) * sizeof *f.order);
    f.excluded = tl_calloc(view->names->n + 1, 1);
    find_windows(view, rule, &f.windows, out);
    order_works(&f);
    measure_all(&f);
    tl_map_free(&f.slot);
    free(f.windows.v);
    free(f.excluded);
    free(f.order);
    free(f.repetition_of);
    free(f.backward);
}

void tl_repetition_set_free(tl_repetition_set *set)
{
    free(set->v.v);
    free(set->shares.v);
    *set = (tl_repetition_set){ 0 };
}

int64_t tl_repetition_value(const tl_repetition *r, tl_repetition_measure measure)
{
    const int64_t values[TL_NREPETITION_MEASURES] = {
        [TL_REPETITION_KERNEL] = r->kernel_ns,     [TL_REPETITION_FORWARD] = r->forward_ns,
        [TL_REPETITION_BACKWARD] = r->backward_ns, [TL_REPETITION_BUSY] = r->busy_ns,
        [TL_REPETITION_SPAN] = r->span_ns,         [TL_REPETITION_BUBBLE] = r->bubble_ns,
    };
    return values[measure];
}
