/* find.c - the repetitions of a trace, and the work that was launched in each. */
#include "tlmpi/analysis/rep.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"
#include <stdlib.h>

const char *const tl_rep_measure_labels[] = { "kernel", "forward", "backward", "busy", "span", "bubble", NULL };

TL_TABLE_DEFINE(rep, TL_REP_FIELDS, TL_SCOPE_JOB, "repetitions", "How long did the device work in each repetition?");

/* ---- the windows of repetitions on the host ---- */

typedef struct window {
    int64_t start_ns, end_ns;
    uint32_t name;
} window;

typedef TL_VEC(window) windows;

static bool add_window(windows *w, int64_t start_ns, int64_t end_ns, uint32_t name)
{
    if (!tl_vec_room(w))
        return false;
    w->v[w->n++] = (window){ start_ns, end_ns, name };
    return true;
}

static int by_start(const void *a, const void *b)
{
    const window *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return TL_COMPARE(x->start_ns, y->start_ns);
    return x->end_ns != y->end_ns ? TL_COMPARE(y->end_ns, x->end_ns) : TL_COMPARE(x->name, y->name);
}

/* Those that begin in another are left out and counted. */
static int64_t keep_outer(windows *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++)
        if (kept == 0 || w->v[i].start_ns >= w->v[kept - 1].end_ns)
            w->v[kept++] = w->v[i];
    int64_t nested = (int64_t)(w->n - kept);
    w->n = kept;
    return nested;
}

static bool find_windows(const tl_rank_view *view, const tl_rep_rule *rule, windows *w, int64_t *nested)
{
    bool ok = true;
    if (rule->of == TL_REP_FILE)
        return add_window(w, INT64_MIN, INT64_MAX, TL_NO_NAME);
    if (rule->of == TL_REP_STEP)
        for (size_t i = 0; ok && i < view->nsteps; i++)
            ok = add_window(w, view->steps[i].start_ns, view->steps[i].end_ns, view->steps[i].name);
    else
        for (size_t i = 0; ok && i < view->ops.n; i++)
            if (view->ops.kind[i] == TL_ANNOTATION &&
                tl_text_is(tl_names_text(view->names, view->ops.name[i]), rule->name))
                ok = add_window(w, view->ops.start_ns[i], view->ops.start_ns[i] + view->ops.dur_ns[i],
                                view->ops.name[i]);
    if (ok && w->n > 1)
        qsort(w->v, w->n, sizeof *w->v, by_start);
    *nested = keep_outer(w);
    return ok;
}

/* TL_NONE: it is in none. */
static uint32_t window_at(const windows *w, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, w->n, mid, w->v[mid].start_ns <= at_ns);
    return low > 0 && at_ns < w->v[low - 1].end_ns ? (uint32_t)(low - 1) : TL_NONE;
}

/* ---- what autograd launches ---- */

/* For each operator whether it is, or lies in, a call of autograd.  NULL when memory is out. */
static bool *find_backward(const tl_rank_view *view)
{
    const tl_ops *ops = &view->ops;
    bool *backward = tl_calloc(ops->n + 1, sizeof *backward);
    for (size_t t = 0; backward != NULL && t < ops->nthreads; t++) {
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
    const tl_rep_rule *rule;
    tl_rep_set *out;
    windows windows;
    bool *backward;
    uint32_t *rep_of;      /* by kernel; TL_NONE */
    signed char *excluded; /* by name: 0 not asked yet, 1 it is, -1 it is not */
    uint32_t *order;       /* kernels that are in a repetition: by repetition, launch, start */
    size_t n;
    tl_map slot; /* name -> share of the repetition at hand */
} finding;

static int by_launch(const void *arg, uint32_t a, uint32_t b)
{
    const finding *f = arg;
    const tl_kernel *x = &f->view->kernels[a], *y = &f->view->kernels[b];
    if (f->rep_of[a] != f->rep_of[b])
        return TL_COMPARE(f->rep_of[a], f->rep_of[b]);
    if (x->launch_ns != y->launch_ns)
        return TL_COMPARE(x->launch_ns, y->launch_ns);
    return x->start_ns != y->start_ns ? TL_COMPARE(x->start_ns, y->start_ns) : TL_COMPARE(x->uid, y->uid);
}

static bool assign(finding *f)
{
    const tl_rank_view *view = f->view;
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        bool linked = k->launch_ns != TL_TIME_UNKNOWN;
        f->out->unlinked += !linked;
        f->rep_of[i] =
            linked || f->rule->of == TL_REP_FILE ? window_at(&f->windows, linked ? k->launch_ns : 0) : TL_NONE;
        if (f->rep_of[i] == TL_NONE)
            f->out->outside += linked;
        else
            f->order[f->n++] = (uint32_t)i;
    }
    return tl_sort_index(f->order, f->n, by_launch, f);
}

static bool is_excluded(finding *f, uint32_t name)
{
    if (f->rule->excludes == NULL || name == TL_NO_NAME)
        return false;
    if (f->excluded[name] == 0)
        f->excluded[name] = f->rule->excludes(f->rule->arg, tl_names_text(f->view->names, name)) ? 1 : -1;
    return f->excluded[name] > 0;
}

static bool is_backward(const finding *f, const tl_kernel *k)
{
    uint32_t op = k->launch != TL_NONE ? f->view->launches[k->launch].op : TL_NONE;
    return op != TL_NONE && f->backward[op];
}

/* first: the repetition's first share. */
static bool share_out(finding *f, const tl_kernel *k, size_t first, int64_t rep)
{
    uint32_t at = tl_map_get(&f->slot, k->name);
    if (at == TL_MAP_NONE || at < first) {
        at = (uint32_t)f->out->shares.n;
        if (!tl_vec_room(&f->out->shares) || tl_map_put(&f->slot, k->name, at) != 0)
            return false;
        f->out->shares.v[f->out->shares.n++] = (tl_rep_share){ .rep = rep, .name = k->name, .kind = k->kind };
    }
    f->out->shares.v[at].count++;
    f->out->shares.v[at].total_ns = tl_ns_add(f->out->shares.v[at].total_ns, k->end_ns - k->start_ns);
    return true;
}

/* The kernels order[from, to) are those of a repetition; spans has room for them. */
static bool measure(finding *f, size_t from, size_t to, tl_rep *row, tl_span *spans)
{
    size_t n = 0, first = f->out->shares.n;
    tl_spans busy = { 0 };
    bool ok = true;

    for (size_t i = from; ok && i < to; i++) {
        const tl_kernel *k = &f->view->kernels[f->order[i]];
        int64_t ns = k->end_ns - k->start_ns;
        if ((int64_t)(i - from) < f->rule->skip || is_excluded(f, k->name)) {
            row->excluded++;
            row->excluded_ns = tl_ns_add(row->excluded_ns, ns);
            continue;
        }
        int64_t *part = is_backward(f, k) ? &row->backward_ns : &row->forward_ns;
        row->works++;
        row->kernel_ns = tl_ns_add(row->kernel_ns, ns);
        *part = tl_ns_add(*part, ns);
        spans[n++] = (tl_span){ k->start_ns, k->end_ns };
        ok = share_out(f, k, first, row->rep);
    }
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        start = tl_ns_min(start, spans[i].start_ns);
        end = tl_ns_max(end, spans[i].end_ns);
    }
    ok = ok && tl_spans_add_all(&busy, spans, n);
    row->busy_ns = ok ? tl_spans_total(&busy) : 0;
    row->span_ns = n > 0 ? end - start : 0;
    row->bubble_ns = row->span_ns - row->busy_ns;
    tl_spans_free(&busy);
    return ok;
}

static void name_rep(const finding *f, uint32_t name, tl_rep *row)
{
    if (name == TL_NO_NAME)
        return;
    tl_text text = tl_names_text(f->view->names, name);
    tl_cell_text(row->name, sizeof row->name, text.p, text.n);
}

static bool measure_all(finding *f)
{
    tl_span *spans = tl_malloc((f->n + 1) * sizeof *spans);
    bool ok = spans != NULL;
    for (size_t w = 0, from = 0, to; ok && w < f->windows.n; w++, from = to) {
        for (to = from; to < f->n && f->rep_of[f->order[to]] == w; to++)
            ;
        ok = tl_vec_room(&f->out->v);
        if (!ok)
            break;
        tl_rep *row = &f->out->v.v[f->out->v.n++];
        *row = (tl_rep){ .rep = (int32_t)w };
        name_rep(f, f->windows.v[w].name, row);
        ok = measure(f, from, to, row, spans);
    }
    free(spans);
    return ok;
}

tl_status tl_rep_set_find(const tl_rank_view *view, const tl_rep_rule *rule, tl_rep_set *out, tl_error *err)
{
    finding f = { .view = view, .rule = rule, .out = out };
    f.backward = find_backward(view);
    f.rep_of = tl_malloc((view->nkernels + 1) * sizeof *f.rep_of);
    f.order = tl_malloc((view->nkernels + 1) * sizeof *f.order);
    f.excluded = tl_calloc(view->names->n + 1, 1);
    bool ok = f.backward != NULL && f.rep_of != NULL && f.order != NULL && f.excluded != NULL;
    ok = ok && find_windows(view, rule, &f.windows, &out->nested) && assign(&f) && measure_all(&f);
    tl_map_free(&f.slot);
    free(f.windows.v);
    free(f.excluded);
    free(f.order);
    free(f.rep_of);
    free(f.backward);
    return ok ? TL_OK : tl_fail_memory(err, "repetitions");
}

void tl_rep_set_free(tl_rep_set *reps)
{
    free(reps->v.v);
    free(reps->shares.v);
    *reps = (tl_rep_set){ 0 };
}

int64_t tl_rep_value(const tl_rep *rep, tl_rep_measure measure)
{
    const int64_t values[TL_NREP_MEASURES] = {
        [TL_REP_KERNEL] = rep->kernel_ns, [TL_REP_FORWARD] = rep->forward_ns, [TL_REP_BACKWARD] = rep->backward_ns,
        [TL_REP_BUSY] = rep->busy_ns,     [TL_REP_SPAN] = rep->span_ns,       [TL_REP_BUBBLE] = rep->bubble_ns,
    };
    return values[measure];
}
