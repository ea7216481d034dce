/* gaps.c - the timeline of a device, and its gaps.
 *
 *     stream 7   [ A   ]    [ B ]                        [ D ]
 *     stream 9      [ C    ]
 *     gaps                       |<----- macro gap ----->|
 *                          ||  noise
 *
 * Work that touches leaves no gap; work of no length in a gap parts it in two.  Before a gap stands the work that ended
 * last (of equal ends what started last, then what stands last in the file), after it what starts first, of equals
 * what stands first in the file.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>

/* Whether a runs on when b, which is next in the view, begins on its stream.  Branches of a graph run side by side, on
 * whatever stream they are said to be. */
static bool overruns(tl_idle_rank *k, const tl_kernel *a, const tl_kernel *b)
{
    return b->start_ns < a->end_ns && tl_same_stream(a, b) &&
           !(a->launch != TL_NONE && a->launch == b->launch && tl_idle_is_graph(k, a->launch));
}

void tl_idle_find_ends(tl_idle_rank *k)
{
    const tl_kernel *v = k->view->kernels;
    size_t n = k->view->nkernels;

    for (size_t i = 0; i + 1 < n; i++) {
        if (!overruns(k, &v[i], &v[i + 1]))
            continue;
        if (k->end_ns == NULL) {
            k->end_ns = tl_malloc(n * sizeof *k->end_ns);
            for (size_t j = 0; j < n; j++)
                k->end_ns[j] = v[j].end_ns;
        }
        k->end_ns[i] = v[i + 1].start_ns;
    }
}

static int32_t uid_of(uint32_t uid)
{
    return uid <= INT32_MAX ? (int32_t)uid : -1;
}

/* Returns the thread that a gap is charged to: the one that launched the work after the gap; if unknown the one that
 * launches most on this device, else the rank's main thread. */
static uint32_t thread_of(const tl_idle_rank *k, uint32_t launch, uint32_t main_track)
{
    if (launch != TL_NONE)
        return k->view->launches[launch].track;
    return main_track != TL_NONE ? main_track : k->main_track;
}

/* The columns that tell of the work around the gap. */
static void describe(tl_idle_rank *k, const tl_idle_gap *g, tl_gap *row)
{
    const tl_kernel *prev = &k->view->kernels[g->prev], *next = &k->view->kernels[g->next];

    row->preceding = prev->name;
    row->following = next->name;
    row->following_uid = uid_of(next->uid);
    row->launch = TL_NO_NAME;
    row->launch_uid = -1;
    row->call = row->dominant_op = row->second_op = row->third_op = row->other_op = row->annotation = TL_NO_NAME;
    if (g->launch == TL_NONE)
        return;
    const tl_launch *launch = &k->view->launches[g->launch];
    row->launch = launch->name;
    row->launch_uid = uid_of(launch->uid);
    /* Only the first node of a graph waits for its launch. */
    if (tl_idle_is_later_node(k, g))
        return;
    row->launch_to_exec_ns = next->start_ns - launch->end_ns;
    row->prequeued = launch->end_ns + k->config->launch_ns < row->start_ns ? TL_QUEUED_YES : TL_QUEUED_NO;
}

bool tl_idle_misses_work(const tl_idle_rank *k, const tl_idle_gap *g, int64_t hi)
{
    const tl_kernel *prev = &k->view->kernels[g->prev];
    int64_t from = prev->launch != TL_NONE ? prev->launch_ns : prev->start_ns;
    int64_t to = g->launch != TL_NONE ? k->view->launches[g->launch].start_ns : hi;
    size_t low = 0; /* to the first at or after `from` */

    TL_BISECT(low, k->lost.n, mid, k->lost.v[mid].start_ns < from);
    return low < k->lost.n && k->lost.v[low].start_ns <= to;
}

/* The step of an instant; gaps are asked for in order of time. */
static int32_t step_at(const tl_idle_rank *k, tl_idle_device *d, int64_t ns)
{
    const tl_step_window *steps = k->view->steps;
    while (d->step < k->view->nsteps && steps[d->step].start_ns <= ns)
        d->step++;
    return d->step > 0 && ns < steps[d->step - 1].end_ns ? steps[d->step - 1].number : -1;
}

static void add_noise(tl_idle_rank *k, tl_idle_device *d, int64_t lo, int64_t hi)
{
    d->sums.noise_gaps++;
    d->sums.noise_ns += hi - lo;
    tl_vec_push(&k->noise, (tl_idle_noise){ lo, hi - lo, d->device, step_at(k, d, lo) });
}

static void add_macro(tl_idle_rank *k, tl_idle_device *d, tl_table *gaps, int64_t lo, int64_t hi, tl_idle_gap g,
                      uint32_t main_track)
{
    tl_gap *row = tl_table_add(gaps);
    g.launch = k->view->kernels[g.next].launch;
    g.track = thread_of(k, g.launch, main_track);
    tl_vec_push(&d->gaps, g);
    row->rank = k->view->rank;
    row->device = d->device;
    row->start_ns = lo;
    row->end_ns = hi;
    row->duration_ns = hi - lo;
    row->idle_id = (int32_t)(d->gaps.n - 1);
    row->step = step_at(k, d, lo);
    describe(k, &g, row);
    d->sums.macro_ns += hi - lo;
    d->sums.unlinked += g.launch == TL_NONE;
}

/* A walk over the work of a device in order of its start, from gap to gap. */
typedef struct timeline {
    const tl_idle_rank *k;
    const uint32_t *order;
    size_t n, next;     /* the work after the gap is order[next] */
    int64_t lo, hi;     /* the gap */
    int64_t begin, end; /* of the busy time since the last gap */
    uint32_t last;      /* the work that ended last up to now; prev: last before the gap */
    uint32_t prev;
} timeline;

static timeline start_timeline(const tl_idle_rank *k, const uint32_t *order, size_t n)
{
    return (timeline){ .k = k,
                       .order = order,
                       .n = n,
                       .begin = k->view->kernels[order[0]].start_ns,
                       .end = tl_idle_end(k, order[0]),
                       .last = order[0] };
}

/* On to the next gap; *busy_ns grows by what was busy before it.  False: there is none. */
static bool next_gap(timeline *t, int64_t *busy_ns)
{
    while (++t->next < t->n) {
        uint32_t kernel = t->order[t->next];
        int64_t start = t->k->view->kernels[kernel].start_ns, stop = tl_idle_end(t->k, kernel);
        if (start > t->end) {
            *busy_ns += t->end - t->begin;
            t->lo = t->end;
            t->hi = t->begin = start;
            t->end = stop;
            t->prev = t->last;
            t->last = kernel;
            return true;
        }
        if (stop >= t->end) {
            t->end = stop;
            t->last = kernel;
        }
    }
    *busy_ns += t->end - t->begin;
    return false;
}

/* Room for all gaps at once: there may be as many as there is work. */
static void reserve(tl_idle_rank *k, tl_idle_device *d, const uint32_t *order, tl_table *gaps)
{
    timeline t = start_timeline(k, order, d->n);
    size_t nmacro = 0, nnoise = 0;
    int64_t busy_ns = 0;

    while (next_gap(&t, &busy_ns)) {
        bool macro = t.hi - t.lo >= k->config->noise_ns;
        nmacro += macro;
        nnoise += !macro;
    }
    tl_table_reserve(gaps, nmacro);
    tl_grow((void **)&k->noise.v, &k->noise.cap, k->noise.n + nnoise, sizeof *k->noise.v);
    tl_grow((void **)&d->gaps.v, &d->gaps.cap, nmacro, sizeof *d->gaps.v);
}

static void walk(tl_idle_rank *k, tl_idle_device *d, const uint32_t *order, tl_table *gaps, uint32_t main_track)
{
    reserve(k, d, order, gaps);
    timeline t = start_timeline(k, order, d->n);
    while (next_gap(&t, &d->sums.busy_ns))
        if (t.hi - t.lo < k->config->noise_ns)
            add_noise(k, d, t.lo, t.hi);
        else
            add_macro(k, d, gaps, t.lo, t.hi, (tl_idle_gap){ .prev = t.prev, .next = order[t.next] }, main_track);
}

/* The thread with most launches of this device's work, of equals the one met first; TL_NONE without any. */
static void main_thread(const tl_idle_rank *k, const tl_idle_device *d, uint32_t *main_track)
{
    uint32_t ntracks = 0;
    size_t most = 0;

    *main_track = TL_NONE;
    for (size_t i = 0; i < k->view->nlaunches; i++)
        ntracks = k->view->launches[i].track >= ntracks ? k->view->launches[i].track + 1 : ntracks;
    size_t *count = tl_calloc(ntracks, sizeof *count);
    for (size_t i = d->first; i < d->first + d->n; i++)
        if (k->view->kernels[i].launch != TL_NONE)
            count[k->view->launches[k->view->kernels[i].launch].track]++;
    for (uint32_t t = 0; t < ntracks; t++)
        if (count[t] > most) {
            most = count[t];
            *main_track = t;
        }
    free(count);
}

/* More streams than that are put in order like anything else. */
enum { STREAMS_MOST = 8 };

/* Kernels of one stream, in order of (start, uid). */
typedef struct stream_run {
    uint32_t at, end;
} stream_run;

/* The streams of the device; how many, or STREAMS_MOST + 1 where there are more, or one is in another order. */
static size_t find_runs(const tl_idle_rank *k, const tl_idle_device *d, stream_run *runs)
{
    const tl_kernel *v = k->view->kernels;
    size_t n = 0;
    for (uint32_t i = (uint32_t)d->first; i < d->first + d->n; i++) {
        if (i > d->first && v[i].start_ns > v[i - 1].start_ns) {
            runs[n - 1].end = i + 1;
            continue;
        }
        if (n == STREAMS_MOST)
            return n + 1;
        runs[n++] = (stream_run){ i, i + 1 };
    }
    return n;
}

/* The work of the device by (start, uid). */
static void order_work(const tl_idle_rank *k, const tl_idle_device *d, uint32_t *order)
{
    const tl_kernel *v = k->view->kernels;
    stream_run runs[STREAMS_MOST];
    size_t nruns = find_runs(k, d, runs), n = 0;

    if (nruns > STREAMS_MOST) {
        for (size_t i = 0; i < d->n; i++)
            order[i] = (uint32_t)(d->first + i);
        tl_sort_index(order, d->n, tl_kernel_by_start_uid, v);
        return;
    }
    while (nruns > 0) {
        size_t first = 0;
        for (size_t r = 1; r < nruns; r++) {
            const tl_kernel *a = &v[runs[r].at], *b = &v[runs[first].at];
            if (a->start_ns < b->start_ns || (a->start_ns == b->start_ns && a->uid < b->uid))
                first = r;
        }
        order[n++] = runs[first].at++;
        if (runs[first].at == runs[first].end)
            runs[first] = runs[--nruns];
    }
}

void tl_idle_gaps(tl_idle_rank *k, tl_idle_device *d, tl_table *gaps)
{
    uint32_t *order = tl_malloc((d->n + 1) * sizeof *order), main_track = TL_NONE;

    d->first_row = gaps->n;
    d->first_noise = k->noise.n;
    for (size_t i = 0; k->end_ns != NULL && i < d->n; i++) {
        const tl_kernel *a = &k->view->kernels[d->first + i];
        int64_t end = tl_idle_end(k, (uint32_t)(d->first + i));
        d->sums.overruns += end < a->end_ns;
        d->sums.overrun_ns = tl_ns_add(d->sums.overrun_ns, a->end_ns - end);
    }
    main_thread(k, d, &main_track);
    order_work(k, d, order);
    if (d->n > 0)
        walk(k, d, order, gaps, main_track);
    free(order);
}
