/* comm_only.c - finds when a device does nothing but communicate. */
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"

/* Kernels come in order of start: before the start of the next one no other begins. */
void tl_comm_only(const tl_kernel *kernels, const uint32_t *order, size_t n, tl_comm_spans *out)
{
    const size_t first = out->n;
    /* now: end of the time that is done; compute_to: last end of compute that has begun; comm_to: of communication;
     * comm: its kernel */
    int64_t now = INT64_MIN, compute_to = INT64_MIN, comm_to = INT64_MIN;
    uint32_t comm = TL_NONE;

    for (size_t i = 0; i <= n; i++) {
        const tl_kernel *k = i < n ? &kernels[order[i]] : NULL;
        int64_t to = k != NULL ? k->start_ns : INT64_MAX, from = tl_ns_max(now, compute_to),
                end = tl_ns_min(comm_to, to);
        tl_comm_span *last = out->n > first ? &out->v[out->n - 1] : NULL;
        now = to;
        if (from < end && last != NULL && last->kernel == comm && last->end_ns == from)
            last->end_ns = end;
        else if (from < end)
            tl_vec_push(out, (tl_comm_span){ from, end, comm });
        if (k != NULL && k->kind == TL_COMPUTE)
            compute_to = tl_ns_max(compute_to, k->end_ns);
        if (k != NULL && k->kind == TL_COMM && k->end_ns > comm_to) {
            comm_to = k->end_ns;
            comm = order[i];
        }
    }
}

void tl_comm_only_of_device(const tl_rank_view *view, size_t first, size_t end, tl_comm_spans *out)
{
    uint32_t *order = tl_malloc((end - first) * sizeof *order);
    for (size_t i = first; i < end; i++)
        order[i - first] = (uint32_t)i;
    tl_sort_index(order, end - first, tl_kernel_by_start_uid, view->kernels);
    tl_comm_only(view->kernels, order, end - first, out);
    free(order);
}

int64_t tl_exposure_within(const tl_exposure *x, int64_t wait_ns)
{
    if (wait_ns >= x->to_ns)
        return x->ns;
    return wait_ns > x->from_ns ? tl_portion(x->ns, wait_ns - x->from_ns, x->to_ns - x->from_ns) : 0;
}

/* State of one device's spans on their way to exposures. */
typedef struct packing {
    const tl_rank_view *view;
    size_t first;     /* first kernel of the device */
    uint32_t *nspans; /* by kernel from `first`: number of its spans */
    uint32_t *last;   /* by kernel from `first`: its latest exposure; TL_NONE: none */
    tl_exposures *out;
    size_t window; /* first step window that ends after the current instant */
} packing;

/* Returns the end of the step, or of the time between two steps, that contains ns, and fills *step (-1: between).
 * Calls come with ascending ns. */
static int64_t step_end_after(packing *p, int64_t ns, int32_t *step)
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

static void add_exposure(packing *p, uint32_t kernel, int32_t step, int64_t from_ns, int64_t to_ns, int64_t ns)
{
    const tl_kernel *k = &p->view->kernels[kernel];
    tl_mem_indexable(p->out->n);
    p->last[kernel - p->first] = (uint32_t)p->out->n;
    tl_vec_push(p->out, (tl_exposure){ .from_ns = from_ns,
                                       .to_ns = to_ns,
                                       .ns = ns,
                                       .rank = p->view->rank,
                                       .device = k->device,
                                       .uid = k->uid,
                                       .step = step });
}

/* Adds [from_ns, to_ns) of the time of a kernel with too many spans to the kernel's parts of equal length. */
static void add_to_parts(packing *p, uint32_t kernel, int32_t step, int64_t from_ns, int64_t to_ns)
{
    const tl_kernel *k = &p->view->kernels[kernel];
    int64_t duration_ns = tl_ns_between(k->end_ns, k->start_ns);
    int64_t width = duration_ns / TL_EXPOSURES_MOST + (duration_ns % TL_EXPOSURES_MOST != 0);

    for (int64_t until; from_ns < to_ns; from_ns = until) {
        int64_t begin = from_ns / width * width, end = begin < duration_ns - width ? begin + width : duration_ns;
        uint32_t last = p->last[kernel - p->first];
        until = tl_ns_min(to_ns, end);
        if (last != TL_NONE && p->out->v[last].from_ns == begin && p->out->v[last].step == step)
            p->out->v[last].ns += until - from_ns;
        else
            add_exposure(p, kernel, step, begin, end, until - from_ns);
    }
}

void tl_exposures_add(const tl_rank_view *view, tl_exposures *out)
{
    for (size_t first = 0, end; view->ncolls > 0 && first < view->nkernels; first = end) {
        end = tl_device_end(view, first);
        size_t n = end - first;
        packing p = { view, first, tl_calloc(n, sizeof *p.nspans), tl_malloc(n * sizeof *p.last), out, 0 };
        tl_comm_spans spans = { 0 };

        for (size_t i = 0; i < n; i++)
            p.last[i] = TL_NONE;
        tl_comm_only_of_device(view, first, end, &spans);
        TL_EACH (const tl_comm_span, span, spans)
            p.nspans[span->kernel - first]++;
        TL_EACH (const tl_comm_span, span, spans) {
            int64_t begin = view->kernels[span->kernel].start_ns;
            for (int64_t at = span->start_ns, until; at < span->end_ns; at = until) {
                int32_t step;
                until = tl_ns_min(step_end_after(&p, at, &step), span->end_ns);
                int64_t from = tl_ns_between(at, begin), to = tl_ns_between(until, begin);
                if (p.nspans[span->kernel - first] > TL_EXPOSURES_MOST)
                    add_to_parts(&p, span->kernel, step, from, to);
                else
                    add_exposure(&p, span->kernel, step, from, to, to - from);
            }
        }
        free(p.nspans);
        free(p.last);
        free(spans.v);
    }
}
