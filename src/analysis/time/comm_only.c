/* comm_only.c - when did a device do nothing but communicate? */
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Kernels in order of start, up to an instant. */
typedef struct sweep {
    tl_comm_spans *out;
    size_t first; /* span of this sweep */
    int64_t now;
    int64_t compute_to; /* the last end of compute that has begun */
    int64_t comm_to;    /* and of communication: that of kernel `comm` */
    uint32_t comm;
} sweep;

static void append(sweep *s, int64_t start_ns, int64_t end_ns)
{
    tl_comm_spans *out = s->out;
    if (start_ns >= end_ns)
        return;
    tl_comm_span *last = out->n > s->first ? &out->v[out->n - 1] : NULL;
    if (last != NULL && last->kernel == s->comm && last->end_ns == start_ns) {
        last->end_ns = end_ns;
        return;
    }
    tl_vec_room(out);
    out->v[out->n++] = (tl_comm_span){ start_ns, end_ns, s->comm };
}

/* Goes on to an instant before which no more work begins. */
static void go_on(sweep *s, int64_t to_ns)
{
    int64_t from = s->now > s->compute_to ? s->now : s->compute_to;
    s->now = to_ns;
    append(s, from, s->comm_to < to_ns ? s->comm_to : to_ns);
}

void tl_comm_only(const tl_kernel *kernels, const uint32_t *order, size_t n, tl_comm_spans *out)
{
    sweep s = {
        .out = out, .first = out->n, .now = INT64_MIN, .compute_to = INT64_MIN, .comm_to = INT64_MIN, .comm = TL_NONE
    };
    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &kernels[order[i]];
        go_on(&s, k->start_ns);
        if (k->kind == TL_COMPUTE && k->end_ns > s.compute_to)
            s.compute_to = k->end_ns;
        if (k->kind == TL_COMM && k->end_ns > s.comm_to) {
            s.comm_to = k->end_ns;
            s.comm = order[i];
        }
    }
    go_on(&s, INT64_MAX);
}

int64_t tl_exposure_within(const tl_exposure *x, int64_t wait_ns)
{
    if (wait_ns >= x->to_ns)
        return x->ns;
    return wait_ns > x->from_ns ? tl_portion(x->ns, wait_ns - x->from_ns, x->to_ns - x->from_ns) : 0;
}

/* Pieces of one device on their way to exposures. */
typedef struct packing {
    const tl_rank_view *view;
    size_t first;     /* kernel of the device */
    uint32_t *nspans; /* by kernel, from the first */
    uint32_t *last;   /* by kernel: its last exposure, TL_NONE */
    tl_exposures *out;
    size_t window; /* the first that ends after the instant */
} packing;

/* Returns the end of the step, or of the time between two steps, that ns lies in.  Instants come in ascending order. */
static int64_t step_until(packing *p, int64_t ns, int32_t *step)
{
    const tl_step_window *w = p->view->steps;
    while (p->window < p->view->nsteps && w[p->window].end_ns <= ns)
        p->window++;
    *step = -1;
    if (p->window == p->view->nsteps)
        return INT64_MAX;
    if (ns < w[p->window].start_ns)
        return w[p->window].start_ns;
    *step = w[p->window].number;
    return w[p->window].end_ns;
}

static void add(packing *p, uint32_t kernel, int32_t step, int64_t from_ns, int64_t to_ns, int64_t ns)
{
    const tl_kernel *k = &p->view->kernels[kernel];
    tl_vec_room(p->out);
    tl_mem_indexable(p->out->n);
    p->last[kernel - p->first] = (uint32_t)p->out->n;
    p->out->v[p->out->n++] = (tl_exposure){ .from_ns = from_ns,
                                            .to_ns = to_ns,
                                            .ns = ns,
                                            .rank = p->view->rank,
                                            .device = k->device,
                                            .uid = k->uid,
                                            .step = step };
}

/* A span of a kernel that has too many: to the stretches in which it lies. */
static void spread(packing *p, uint32_t kernel, int32_t step, int64_t from_ns, int64_t to_ns)
{
    const tl_kernel *k = &p->view->kernels[kernel];
    int64_t duration_ns = tl_ns_between(k->end_ns, k->start_ns);
    int64_t width = duration_ns / TL_EXPOSURES_MOST + (duration_ns % TL_EXPOSURES_MOST != 0);

    while (from_ns < to_ns) {
        int64_t begin = from_ns / width * width, end = begin < duration_ns - width ? begin + width : duration_ns;
        int64_t until = to_ns < end ? to_ns : end;
        uint32_t last = p->last[kernel - p->first];
        if (last != TL_NONE && p->out->v[last].from_ns == begin && p->out->v[last].step == step)
            p->out->v[last].ns += until - from_ns;
        else
            add(p, kernel, step, begin, end, until - from_ns);
        from_ns = until;
    }
}

/* A piece of a span, in one step or between two. */
static void pack_piece(packing *p, uint32_t kernel, int32_t step, int64_t start_ns, int64_t end_ns)
{
    int64_t begin = p->view->kernels[kernel].start_ns;
    int64_t from = tl_ns_between(start_ns, begin), to = tl_ns_between(end_ns, begin);
    if (p->nspans[kernel - p->first] > TL_EXPOSURES_MOST)
        spread(p, kernel, step, from, to);
    else
        add(p, kernel, step, from, to, to - from);
}

static void pack(packing *p, const tl_comm_spans *spans)
{
    for (size_t i = 0; i < spans->n; i++)
        p->nspans[spans->v[i].kernel - p->first]++;
    for (size_t i = 0; i < spans->n; i++) {
        const tl_comm_span *span = &spans->v[i];
        for (int64_t from = span->start_ns, to; from < span->end_ns; from = to) {
            int32_t step;
            to = tl_ns_min(step_until(p, from, &step), span->end_ns);
            pack_piece(p, span->kernel, step, from, to);
        }
    }
}

static void add_device(const tl_rank_view *view, size_t first, size_t n, tl_exposures *out)
{
    uint32_t *order = tl_malloc(n * sizeof *order);
    packing p = { view, first, tl_calloc(n, sizeof *p.nspans), tl_malloc(n * sizeof *p.last), out, 0 };
    tl_comm_spans spans = { 0 };

    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)(first + i);
        p.last[i] = TL_NONE;
    }
    tl_sort_index(order, n, tl_kernel_by_start_uid, view->kernels);
    tl_comm_only(view->kernels, order, n, &spans);
    pack(&p, &spans);
    free(order);
    free(p.nspans);
    free(p.last);
    free(spans.v);
}

void tl_exposures_add(const tl_rank_view *view, tl_exposures *out)
{
    for (size_t first = 0, end; view->ncolls > 0 && first < view->nkernels; first = end) {
        for (end = first; end < view->nkernels && view->kernels[end].device == view->kernels[first].device; end++)
            ;
        add_device(view, first, end - first, out);
    }
}
