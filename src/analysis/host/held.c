/* held.c - launches that found the queue full.
 *
 *     host     [launch a    ].[launch b  ].[launch c ]      what they took beyond the usual, as one wait at the end:
 *     one      .......a.b.c.[          wait          ]      so the host keeps its own time
 *
 * A slow host's launches take long, too.  But it loses its lead over the device, while a host that is held keeps as far
 * ahead as it ever gets, and launches as fast as the device works.  Where the device itself waits for other ranks its
 * work takes now more, now less time; then the count tells: as many launches are pending as ever, whenever one takes
 * long.
 */
#include "tlmpi/analysis/host.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/robust.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)

/* So long a launch takes at least if it was held, and so many times what launches of this rank take that nothing holds.
 */
#define HELD_NS (8 * US)
enum { HELD_TIMES = 2 };
/* So much the device has to do at least when the queue is full. */
#define LEAD_NS (500 * US)
/* So much of the most that is ever pending is a full queue, if so many long launches, and most of them, find it so. */
static const double full_share = 0.95;
enum { FULL_OFTEN = 16 };
/* Launches that were held one after the other are one wait: of no more than this, or a 4,096th of the recording, and
 * none across the launch of a collective. */
#define ONE_WAIT_NS (500 * US)
/* Held launches this far apart are held for different reasons. */
#define APART_NS (2000 * US)

typedef struct holding {
    const tl_rank_view *view;
    int64_t *lead_ns;  /* by launch: from its end to the start of its work; -1: unknown, or no work of the rank's own */
    uint8_t *held;     /* by launch */
    uint8_t *comm;     /* by launch: of communication */
    uint32_t *pending; /* by launch: work given to the device, this included, and not done when it ends; or NULL */
    uint32_t full;     /* so much is pending when the queue is full; UINT32_MAX: it never is */
    int64_t usual_ns, longest_lead_ns;
} holding;

/* What a launch takes that nothing holds: few do less; of many launches a thousand, evenly chosen. */
static bool find_usual(holding *h)
{
    enum { SAMPLES = 1000, FEW = 20 };
    const tl_rank_view *view = h->view;
    size_t stride = view->nlaunches / SAMPLES + 1, n = 0;
    double *ns = tl_malloc((view->nlaunches / stride + 1) * sizeof *ns);
    if (ns == NULL)
        return false;
    for (size_t i = 0; i < view->nlaunches; i += stride)
        if (h->lead_ns[i] >= 0)
            ns[n++] = (double)(view->launches[i].end_ns - view->launches[i].start_ns);
    tl_real_median(ns, n); /* puts them in order */
    h->usual_ns = n > 0 ? (int64_t)ns[n / FEW] : 0;
    free(ns);
    return true;
}

static bool find_leads(holding *h)
{
    const tl_rank_view *view = h->view;

    h->lead_ns = tl_malloc((view->nlaunches + 1) * sizeof *h->lead_ns);
    h->held = tl_calloc(view->nlaunches + 1, sizeof *h->held);
    h->comm = tl_calloc(view->nlaunches + 1, sizeof *h->comm);
    if (h->lead_ns == NULL || h->held == NULL || h->comm == NULL)
        return false;
    memset(h->lead_ns, 0xff, (view->nlaunches + 1) * sizeof *h->lead_ns); /* -1 */
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        if (k->launch == TL_NONE)
            continue;
        if (k->kind == TL_COMM) {
            h->comm[k->launch] = 1;
            continue;
        }
        int64_t lead = k->start_ns - view->launches[k->launch].end_ns;
        h->lead_ns[k->launch] = lead > 0 ? lead : 0;
        h->longest_lead_ns = lead > h->longest_lead_ns ? lead : h->longest_lead_ns;
    }
    return true;
}

static bool took_long(const holding *h, size_t i)
{
    const tl_launch *l = &h->view->launches[i];
    return l->end_ns - l->start_ns >= HELD_NS && l->end_ns - l->start_ns >= HELD_TIMES * h->usual_ns &&
           h->lead_ns[i] >= LEAD_NS;
}

/* Whether long launches from one to another were held: the lead was about as long as it gets, and stayed so. */
static bool queue_was_full(const holding *h, size_t first, size_t last)
{
    int64_t took = h->view->launches[last].end_ns - h->view->launches[first].end_ns;
    return h->lead_ns[last] >= h->longest_lead_ns / 2 && h->lead_ns[last] >= h->lead_ns[first] - took / 4;
}

/* Work without a launch was given before the recording. */
static bool count_pending(holding *h)
{
    const tl_rank_view *view = h->view;
    int64_t *ends = tl_malloc((view->nkernels + 1) * sizeof *ends);
    uint32_t *given = tl_calloc(view->nlaunches + 1, sizeof *given), before = 0;

    h->pending = tl_calloc(view->nlaunches + 1, sizeof *h->pending);
    bool ok = ends != NULL && given != NULL && h->pending != NULL;
    for (size_t i = 0; ok && i < view->nkernels; i++) {
        ends[i] = view->kernels[i].end_ns;
        if (view->kernels[i].launch != TL_NONE)
            given[view->kernels[i].launch]++;
        else
            before++;
    }
    if (ok)
        tl_ns_sort(ends, view->nkernels);
    size_t done = 0;
    for (size_t i = 0; ok && i < view->nlaunches; i++) {
        before += given[i];
        while (done < view->nkernels && ends[done] <= view->launches[i].end_ns)
            done++;
        h->pending[i] = before > done ? before - (uint32_t)done : 0;
    }
    free(ends);
    free(given);
    return ok;
}

/* Whether a queue is ever full is asked only where enough launches take long. */
static bool find_full(holding *h)
{
    uint32_t most = 0;
    size_t often = 0, nlong = 0;

    h->full = UINT32_MAX;
    for (size_t i = 0; i < h->view->nlaunches; i++)
        nlong += took_long(h, i);
    if (nlong < FULL_OFTEN)
        return true;
    if (!count_pending(h))
        return false;
    for (size_t i = 0; i < h->view->nlaunches; i++)
        most = h->pending[i] > most ? h->pending[i] : most;
    for (size_t i = 0; i < h->view->nlaunches; i++)
        often += took_long(h, i) && (double)h->pending[i] >= full_share * most;
    if (often >= FULL_OFTEN && 2 * often >= nlong)
        h->full = (uint32_t)(full_share * most);
    return true;
}

static bool finds_full(const holding *h, size_t i)
{
    return h->full != UINT32_MAX && h->pending[i] >= h->full;
}

static void find_held(holding *h)
{
    const tl_launch *l = h->view->launches;
    size_t n = h->view->nlaunches, first = n, last = n;

    for (size_t i = 0; i <= n; i++) {
        if (i < n && !took_long(h, i))
            continue;
        if (first < n && (i == n || l[i].start_ns - l[last].end_ns > APART_NS)) {
            bool full = queue_was_full(h, first, last);
            for (size_t k = first; k <= last; k++)
                h->held[k] = (full || finds_full(h, k)) && took_long(h, k);
            first = n;
        }
        first = first == n ? i : first;
        last = i;
    }
}

static bool add_held(const holding *h, tl_host_waits *waits)
{
    const tl_launch *l = h->view->launches;
    size_t n = h->view->nlaunches;
    int64_t held_ns = 0, from_ns = 0, to_ns = 0, most_ns = ONE_WAIT_NS;

    if (n > 0 && l[n - 1].start_ns - l[0].start_ns > most_ns * 4096)
        most_ns = (l[n - 1].start_ns - l[0].start_ns) / 4096;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && !h->held[i] && !h->comm[i])
            continue;
        if (held_ns > 0 && (i == n || h->comm[i] || l[i].end_ns - from_ns > most_ns)) {
            if (!tl_vec_room(waits))
                return false;
            waits->v[waits->n++] = (tl_host_wait){ to_ns - held_ns, to_ns, -1, -1, TL_WAIT_QUEUE };
            held_ns = 0;
        }
        if (i == n)
            break;
        if (!h->held[i])
            continue;
        from_ns = held_ns == 0 ? l[i].start_ns : from_ns;
        held_ns += l[i].end_ns - l[i].start_ns - h->usual_ns;
        to_ns = l[i].end_ns;
    }
    return true;
}

bool tl_host_waits_held(const tl_rank_view *view, tl_host_waits *waits)
{
    holding h = { .view = view };
    bool ok = find_leads(&h) && find_usual(&h) && find_full(&h);

    if (ok) {
        find_held(&h);
        ok = add_held(&h, waits);
    }
    free(h.lead_ns);
    free(h.held);
    free(h.comm);
    free(h.pending);
    return ok;
}
