/* gaps.c - the timeline of a device, and its gaps.
 *
 *     stream 7   [ A   ]    [ B ]                        [ D ]
 *     stream 9      [ C    ]
 *     gaps                       |<----- macro gap ----->|
 *                          ||  noise
 *
 * Work that touches leaves no gap; work of length 0 within a gap divides it in two.  The work before a gap is the one
 * that ended last (ties: that started last, then last in the file), the work after it the one that starts first (ties:
 * first in the file).
 */
#include "internal.h"
#include <stdlib.h>

/* Cuts the end of work that still runs when the next work of its stream begins.  Kernels of one graph launch are not
 * cut: its branches run side by side, whatever streams the trace names. */
void tl_idle_find_ends(tl_idle_rank *k)
{
    const tl_kernel *v = k->view->kernels;
    size_t n = k->view->nkernels;

    for (size_t i = 0; i + 1 < n; i++) {
        const tl_kernel *a = &v[i], *b = &v[i + 1];
        if (b->start_ns >= a->end_ns || !tl_same_stream(a, b) ||
            (a->launch != TL_NONE && a->launch == b->launch &&
             tl_idle_launches_graph(tl_idle_call_named(k, k->view->launches[a->launch].name))))
            continue;
        if (k->end_ns == NULL) {
            k->end_ns = tl_malloc(n * sizeof *k->end_ns);
            for (size_t j = 0; j < n; j++)
                k->end_ns[j] = v[j].end_ns;
        }
        k->end_ns[i] = b->start_ns;
    }
}

static int32_t uid_of(uint32_t uid)
{
    return uid <= INT32_MAX ? (int32_t)uid : -1;
}

/* Adds a gap.  It belongs to the thread that launched the work after it; if that is unknown, to main_track, which
 * launches most of this device's work; else to the rank's main thread. */
static void add_gap(tl_idle_rank *k, tl_idle_device *d, tl_table *gaps, int64_t lo, tl_idle_gap g, uint32_t main_track)
{
    const tl_kernel *prev = &k->view->kernels[g.prev], *next = &k->view->kernels[g.next];
    const tl_launch *launch = next->launch != TL_NONE ? &k->view->launches[next->launch] : NULL;
    tl_gap *row = tl_table_add(gaps);

    *row = (tl_gap){ .rank = k->view->rank,
                     .device = d->device,
                     .start_ns = lo,
                     .end_ns = next->start_ns,
                     .duration_ns = next->start_ns - lo,
                     .idle_id = (int32_t)d->gaps.n,
                     .step = tl_step_at(k->view->steps, k->view->nsteps, lo),
                     .preceding = prev->name,
                     .following = next->name,
                     .following_uid = uid_of(next->uid),
                     .launch = launch != NULL ? launch->name : TL_NO_NAME,
                     .launch_uid = launch != NULL ? uid_of(launch->uid) : -1,
                     .call = TL_NO_NAME,
                     .dominant_op = TL_NO_NAME,
                     .second_op = TL_NO_NAME,
                     .third_op = TL_NO_NAME,
                     .other_op = TL_NO_NAME,
                     .annotation = TL_NO_NAME };
    g.launch = next->launch;
    g.track = launch != NULL ? launch->track : main_track != TL_NONE ? main_track : k->main_track;
    if (launch != NULL &&
        !tl_idle_is_later_graph_node(k, &g)) { /* only the first node of a graph waits for its launch */
        row->launch_to_exec_ns = next->start_ns - launch->end_ns;
        row->prequeued = launch->end_ns + k->config->launch_ns < lo ? TL_QUEUED_YES : TL_QUEUED_NO;
    }
    d->sums.macro_ns += row->duration_ns;
    tl_vec_push(&d->gaps, g);
}

/* Finds the gaps between the n > 0 pieces of work of the device, in order of (start, uid). */
static void find_gaps(tl_idle_rank *k, tl_idle_device *d, const uint32_t *order, tl_table *gaps, uint32_t main_track)
{
    uint32_t last = order[0]; /* the work with the last end so far */
    int64_t begin = k->view->kernels[last].start_ns, end = tl_idle_end(k, last);

    for (size_t i = 1; i < d->n; i++) {
        int64_t start = k->view->kernels[order[i]].start_ns, stop = tl_idle_end(k, order[i]);
        bool seam = start > end && tl_is_seam(k->view, end, start);
        if (start > end) {
            d->sums.busy_ns += end - begin;
            begin = start;
        }
        if (start > end && !seam && start - end >= k->config->noise_ns) {
            add_gap(k, d, gaps, end, (tl_idle_gap){ .prev = last, .next = order[i] }, main_track);
        } else if (start > end && !seam) {
            int32_t step = tl_step_at(k->view->steps, k->view->nsteps, end);
            tl_vec_push(&k->noise, (tl_idle_noise){ end, start - end, d->device, step });
            d->sums.noise_ns += start - end;
            d->sums.noise_gaps++;
        }
        if (stop >= end) {
            end = stop;
            last = order[i];
        }
    }
    d->sums.busy_ns += end - begin;
}

/* Returns the thread with the most launches of this device's work; ties by track, ascending; TL_NONE: there are no
 * launches. */
static uint32_t main_track_of(const tl_idle_rank *k, const tl_idle_device *d)
{
    uint32_t main_track = TL_NONE;
    size_t most = 0, *count = tl_calloc(k->ntracks, sizeof *count);

    for (size_t i = d->first; i < d->first + d->n; i++)
        if (k->view->kernels[i].launch != TL_NONE)
            count[k->view->launches[k->view->kernels[i].launch].track]++;
    for (uint32_t t = 0; t < k->ntracks; t++)
        if (count[t] > most) {
            most = count[t];
            main_track = t;
        }
    free(count);
    return main_track;
}

void tl_idle_gaps(tl_idle_rank *k, tl_idle_device *d, tl_table *gaps)
{
    uint32_t *order = tl_malloc((d->n + 1) * sizeof *order), main_track = main_track_of(k, d);

    d->first_row = gaps->n;
    d->first_noise = k->noise.n;
    for (size_t i = 0; i < d->n; i++) {
        const tl_kernel *a = &k->view->kernels[d->first + i];
        int64_t end = tl_idle_end(k, d->first + i);
        order[i] = (uint32_t)(d->first + i);
        d->sums.overruns += end < a->end_ns;
        d->sums.overrun_ns = tl_ns_add(d->sums.overrun_ns, a->end_ns - end);
    }
    tl_sort_index(order, d->n, tl_kernel_by_start_uid, k->view->kernels);
    if (d->n > 0)
        find_gaps(k, d, order, gaps, main_track);
    free(order);
}
