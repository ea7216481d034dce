/* beside.c - by how much the work of steps takes longer or less long as more or less of it runs beside communication.
 *
 *     comm      [ waits, transfers ]             beside communication a kernel takes longer than alone: by how much is
 *     compute   [ a      ][ b     ]  [ a   ]     compared at one place of all steps
 */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* Kernels at one place of a step: sums over steps of x, the share that runs beside communication, and of y, the
 * logarithm of the time. */
typedef struct place {
    double n, x, y, xx, xy, yy;
    int64_t least_ns, most_ns; /* that one runs beside communication */
} place;

static bool is_compute(const tl_node *node)
{
    return node->kind == TL_NODE_WORK && node->activity == TL_ACTIVITY_COMPUTE && node->work_ns > 0;
}

static tl_spans communication_of(const tl_open_rank *o)
{
    const size_t n = o->of->graph.ncomms;
    tl_span *v = tl_malloc((n + 1) * sizeof *v);
    tl_spans set = { 0 };
    for (size_t p = 0; p < n; p++) {
        const tl_node *arrival = &o->nodes[o->of->ports[p].arrival];
        v[p] = (tl_span){ arrival[0].done_ns, arrival[1].done_ns };
    }
    tl_spans_add_all(&set, v, n);
    free(v);
    return set;
}

/* Returns for how long the kernel runs beside communication, ns. */
static int64_t beside_ns(const tl_spans *comm, const tl_node *node)
{
    const int64_t start_ns = node->done_ns - node->work_ns;
    int64_t ns = 0;
    size_t i = 0;
    TL_BISECT(i, comm->n, mid, comm->v[mid].end_ns <= start_ns);
    for (; i < comm->n && comm->v[i].start_ns < node->done_ns; i++)
        ns += tl_ns_min(comm->v[i].end_ns, node->done_ns) - tl_ns_max(comm->v[i].start_ns, start_ns);
    return ns;
}

/* Returns how much longer kernels surely take beside communication than alone, as a share: the slope of y over x within
 * places where x differs by more than times are rounded; 0: no longer, or not known. */
static double slowdown_of(const tl_open_rank *o, const tl_spans *comm, const tl_work_class_map *steps)
{
    TL_VEC(place) list = { 0 };
    tl_map number_of = { 0 }, counts = { 0 };
    double xx = 0, xy = 0, yy = 0, degrees = -1;
    for (uint32_t v = 0; v < o->n; v++) {
        const tl_node *node = &o->nodes[v];
        if (!is_compute(node))
            continue;
        uint64_t key = tl_hash_mix(tl_hash_mix(node->key, node->blocks), tl_segment_of(steps, node));
        key = tl_hash_mix(key, tl_map_count(&counts, tl_hash_mix(key, (uint32_t)node->step)));
        uint32_t at = tl_map_number(&number_of, key, list.n);
        if (at >= list.n)
            tl_vec_push(&list, (place){ .least_ns = INT64_MAX });
        place *p = &list.v[at];
        const int64_t ns = beside_ns(comm, node);
        const double x = (double)ns / (double)node->work_ns, y = log((double)node->work_ns);
        *p = (place){ p->n + 1,
                      p->x + x,
                      p->y + y,
                      p->xx + x * x,
                      p->xy + x * y,
                      p->yy + y * y,
                      tl_ns_min(p->least_ns, ns),
                      tl_ns_max(p->most_ns, ns) };
    }
    TL_EACH (const place, p, list) {
        if (p->most_ns - p->least_ns <= 2 * TL_ROUNDING_NS)
            continue;
        xx += p->xx - p->x * p->x / p->n;
        xy += p->xy - p->x * p->y / p->n;
        yy += p->yy - p->y * p->y / p->n;
        degrees += p->n - 1;
    }
    free(list.v);
    tl_map_free(&number_of);
    tl_map_free(&counts);
    const double slope = xy / xx, error = sqrt(fmax(0, yy - slope * xy) / degrees / xx);
    return degrees > 0 && slope > TL_SURE_SIGMAS * error ? slope : 0;
}

void tl_whatif_beside(const tl_open_rank *before, const tl_open_rank *after, const tl_work_class_map *steps,
                      int64_t *step_ns)
{
    tl_spans comm[] = { communication_of(before), communication_of(after) };
    const double slowdown = slowdown_of(before, &comm[0], steps);
    for (uint32_t v = 0; v < before->n && slowdown > 0; v++)
        if (is_compute(&before->nodes[v]))
            step_ns[tl_step_index(steps->steps, steps->nsteps, before->nodes[v].step)] += llround(
                slowdown * (double)(beside_ns(&comm[1], &after->nodes[v]) - beside_ns(&comm[0], &before->nodes[v])));
    tl_spans_free(&comm[0]);
    tl_spans_free(&comm[1]);
}
