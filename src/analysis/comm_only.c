/* comm_only.c - see comm_only.h. */
#include "tlmpi/analysis/comm_only.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Kernels in order of start, up to an instant. */
typedef struct sweep {
    tl_comm_pieces *out;
    size_t first; /* piece of this sweep */
    int64_t now;
    int64_t compute_to; /* the last end of compute that has begun */
    int64_t comm_to;    /* and of communication: that of kernel `comm` */
    uint32_t comm;
} sweep;

static bool append(sweep *s, int64_t start_ns, int64_t end_ns)
{
    tl_comm_pieces *out = s->out;
    if (start_ns >= end_ns)
        return true;
    tl_comm_piece *last = out->n > s->first ? &out->v[out->n - 1] : NULL;
    if (last != NULL && last->kernel == s->comm && last->end_ns == start_ns) {
        last->end_ns = end_ns;
        return true;
    }
    if (!tl_vec_room(out))
        return false;
    out->v[out->n++] = (tl_comm_piece){ start_ns, end_ns, s->comm };
    return true;
}

/* Up to an instant before which nothing more begins. */
static bool go_on(sweep *s, int64_t to_ns)
{
    int64_t from = s->now > s->compute_to ? s->now : s->compute_to;
    s->now = to_ns;
    return append(s, from, s->comm_to < to_ns ? s->comm_to : to_ns);
}

bool tl_comm_only(const tl_kernel *kernels, const uint32_t *order, size_t n, tl_comm_pieces *out)
{
    sweep s = {
        .out = out, .first = out->n, .now = INT64_MIN, .compute_to = INT64_MIN, .comm_to = INT64_MIN, .comm = TL_NONE
    };
    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &kernels[order[i]];
        if (!go_on(&s, k->start_ns))
            return false;
        if (k->kind == TL_COMPUTE && k->end_ns > s.compute_to)
            s.compute_to = k->end_ns;
        if (k->kind == TL_COMM && k->end_ns > s.comm_to) {
            s.comm_to = k->end_ns;
            s.comm = order[i];
        }
    }
    return go_on(&s, INT64_MAX);
}

static bool add_device(const tl_rank_view *view, size_t first, size_t n, uint32_t *order, tl_comm_pieces *pieces,
                       tl_exposures *out)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)(first + i);
    pieces->n = 0;
    if (!tl_sort_index(order, n, tl_kernel_by_start_uid, view->kernels) ||
        !tl_comm_only(view->kernels, order, n, pieces))
        return false;
    for (size_t i = 0; i < pieces->n; i++) {
        const tl_comm_piece *p = &pieces->v[i];
        const tl_kernel *k = &view->kernels[p->kernel];
        if (!tl_vec_room(out))
            return false;
        out->v[out->n++] = (tl_exposure){ .from_ns = tl_ns_between(p->start_ns, k->start_ns),
                                          .to_ns = tl_ns_between(p->end_ns, k->start_ns),
                                          .rank = view->rank,
                                          .device = k->device,
                                          .uid = k->uid };
    }
    return true;
}

bool tl_exposures_add(const tl_rank_view *view, tl_exposures *out)
{
    if (view->ncolls == 0)
        return true;
    uint32_t *order = tl_malloc((view->nkernels + 1) * sizeof *order);
    tl_comm_pieces pieces = { 0 };
    bool whole = order != NULL;

    for (size_t first = 0, end; whole && first < view->nkernels; first = end) {
        for (end = first; end < view->nkernels && view->kernels[end].device == view->kernels[first].device; end++)
            ;
        whole = add_device(view, first, end - first, order, &pieces, out);
    }
    free(order);
    free(pieces.v);
    return whole;
}
