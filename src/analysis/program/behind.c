/* behind.c - which of the rank's own work each comm stands behind, and whether it waits for it. */
#include "build.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

#define US       INT64_C(1000)
#define TOUCH_NS (2 * US)  /* what ends so little after something may still have ended before it */
#define FREED_NS (10 * US) /* from the end of work to the start of communication that waited for it */
#define HELD_NS  (20 * US) /* so long before that it could have started, but for the work */

/* The stream of a device that computes most: kernels [from, to) of the view. */
typedef struct main_stream {
    int32_t device;
    size_t from, to;
    int64_t compute_ns;
} main_stream;

typedef struct placing {
    tl_building *b;
    int64_t *launched;    /* by kernel: the latest launch on its stream so far */
    uint32_t *last_local; /* by kernel: the last local work on its stream, itself included; TL_NONE */
    uint32_t *stream;     /* by kernel: the number of its stream */
    size_t nstreams;
    TL_VEC(main_stream) mains;
    uint32_t *all,
        *early; /* [nstreams * TL_NCOLLECTIVES]: comms, and those that started while work launched before ran */
    uint32_t *candidate; /* by comm: the last work launched before it on the main stream, or before it on its own */
} placing;

static void placing_free(placing *p)
{
    free(p->launched);
    free(p->last_local);
    free(p->stream);
    free(p->mains.v);
    free(p->all);
    free(p->early);
    free(p->candidate);
}

static bool look_at_streams(placing *p)
{
    const tl_building *b = p->b;
    const tl_kernel *k = b->view->kernels;
    size_t n = b->view->nkernels;

    p->launched = tl_malloc(n * sizeof *p->launched);
    p->last_local = tl_malloc(n * sizeof *p->last_local);
    p->stream = tl_malloc(n * sizeof *p->stream);
    if (p->launched == NULL || p->last_local == NULL || p->stream == NULL)
        return false;
    for (size_t from = 0, to; from < n; from = to) {
        int64_t compute = 0;
        for (to = from; to < n && tl_same_stream(&k[from], &k[to]); to++) {
            int64_t launch = tl_launch_of(b, &k[to]);
            p->launched[to] = to > from ? tl_ns_max(launch, p->launched[to - 1]) : launch;
            p->last_local[to] = k[to].kind != TL_COMM ? (uint32_t)to : to > from ? p->last_local[to - 1] : TL_NONE;
            p->stream[to] = (uint32_t)p->nstreams;
            compute +=
                k[to].kind == TL_COMPUTE ? tl_ns_min(k[to].end_ns - k[to].start_ns, TL_PROGRAM_MAX_NS) / 1024 : 0;
        }
        p->nstreams++;
        main_stream *last = p->mains.n > 0 ? &p->mains.v[p->mains.n - 1] : NULL;
        if (last == NULL || last->device != k[from].device) {
            if (!tl_vec_room(&p->mains))
                return false;
            p->mains.v[p->mains.n++] = (main_stream){ k[from].device, from, to, compute };
        } else if (compute > last->compute_ns) {
            *last = (main_stream){ k[from].device, from, to, compute };
        }
    }
    return true;
}

static const main_stream *main_of(const placing *p, int32_t device)
{
    size_t low = 0, high = p->mains.n;
    while (low + 1 < high) {
        size_t mid = (low + high) / 2;
        if (p->mains.v[mid].device <= device)
            low = mid;
        else
            high = mid;
    }
    return &p->mains.v[low];
}

/* The last local work of a stream that was launched before kernel `comm`; where launches do not tell, that started
 * before it. */
static uint32_t launched_before(const placing *p, const main_stream *s, uint32_t comm)
{
    const tl_kernel *k = p->b->view->kernels;
    int64_t launch = tl_launch_of(p->b, &k[comm]);
    size_t low = s->from;

    if (launch != TL_TIME_UNKNOWN)
        TL_BISECT(low, s->to, mid, p->launched[mid] <= launch);
    bool one_call = low > s->from && k[low - 1].launch != TL_NONE && k[low - 1].launch == k[comm].launch;
    if (launch == TL_TIME_UNKNOWN || one_call) {
        size_t end = one_call ? low : s->to;
        low = s->from;
        TL_BISECT(low, end, mid, k[mid].start_ns < k[comm].start_ns);
    }
    return low > s->from ? p->last_local[low - 1] : TL_NONE;
}

static bool runs_past(const placing *p, uint32_t work, uint32_t comm)
{
    const tl_kernel *k = p->b->view->kernels;
    return k[work].end_ns > k[comm].start_ns + TOUCH_NS;
}

static size_t class_of(const placing *p, uint32_t comm)
{
    return (size_t)p->stream[comm] * TL_NCOLLECTIVES + p->b->view->kernels[comm].collective % TL_NCOLLECTIVES;
}

/* For each comm the work it would wait for, and how often comms of its stream and kind did not. */
static bool find_candidates(placing *p)
{
    tl_building *b = p->b;

    p->all = tl_calloc(p->nstreams * TL_NCOLLECTIVES, sizeof *p->all);
    p->early = tl_calloc(p->nstreams * TL_NCOLLECTIVES, sizeof *p->early);
    p->candidate = tl_malloc((b->ncomm + 1) * sizeof *p->candidate);
    if (p->all == NULL || p->early == NULL || p->candidate == NULL)
        return false;
    for (size_t i = 0; i < b->ncomm; i++) {
        uint32_t comm = b->comm[i];
        const tl_kernel *k = &b->view->kernels[comm];
        b->place[i].launched = tl_launch_of(b, k) != TL_TIME_UNKNOWN;
        p->candidate[i] = p->last_local[comm];
        if (p->candidate[i] != TL_NONE)
            continue;
        p->candidate[i] = launched_before(p, main_of(p, k->device), comm);
        if (!b->place[i].launched)
            continue;
        p->all[class_of(p, comm)]++;
        p->early[class_of(p, comm)] += p->candidate[i] != TL_NONE && runs_past(p, p->candidate[i], comm);
    }
    return true;
}

/* The number of local work pieces that start before an instant. */
static uint32_t started_before(const tl_building *b, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, b->nlocal, mid, b->view->kernels[b->local[mid]].start_ns < at_ns);
    return (uint32_t)low;
}

/* Whether comms of this sort do not wait, as a rule. */
static bool is_free(const placing *p, size_t i)
{
    uint32_t comm = p->b->comm[i];
    size_t class = class_of(p, comm);
    return p->last_local[comm] == TL_NONE && p->b->place[i].launched && p->early[class] > p->all[class] / 8;
}

/* A comm that was launched, and alone on its stream, long before its candidate ended, and started as soon as that had,
 * waited for it, whatever others of its sort do. */
static bool was_held(const placing *p, size_t i)
{
    const tl_building *b = p->b;
    const tl_kernel *k = &b->view->kernels[b->comm[i]];
    int64_t done = b->view->kernels[p->candidate[i]].end_ns, ready = tl_arrival_of(b, k);
    if (b->place[i].previous != TL_NONE)
        ready = tl_ns_max(ready, b->view->kernels[b->comm[b->place[i].previous]].end_ns);
    return k->start_ns - done >= -TOUCH_NS && k->start_ns - done <= FREED_NS && done - ready >= HELD_NS;
}

/* What a comm waits for: its candidate; if that still ran when the comm started, an earlier one on its stream, or
 * nothing where comms of this sort do not wait. */
static uint32_t behind(const placing *p, size_t i)
{
    enum { TRIES = 64 };
    const tl_building *b = p->b;
    uint32_t comm = b->comm[i], work = p->candidate[i];

    if (work == TL_NONE || (is_free(p, i) && !was_held(p, i)))
        return 0;
    for (int tries = 0; runs_past(p, work, comm); tries++) {
        if (work == 0 || p->stream[work - 1] != p->stream[work] || tries == TRIES || p->last_local[work - 1] == TL_NONE)
            return 0;
        work = p->last_local[work - 1];
    }
    return b->comm_of[work] + 1;
}

bool tl_building_place_comms(tl_building *b)
{
    placing p = { .b = b };
    bool whole = look_at_streams(&p) && find_candidates(&p);

    for (size_t i = 0; whole && i < b->ncomm; i++) {
        const tl_kernel *k = &b->view->kernels[b->comm[i]];
        tl_comm_place *place = &b->place[i];
        uint32_t work = p.candidate[i];
        if (!place->launched || work == TL_NONE)
            place->at = place->launched ? 0 : started_before(b, k->start_ns);
        else
            place->at = b->comm_of[work] + 1;
        place->launch_ns = place->launched ? tl_launch_of(b, k) : b->start_ns;
        if (!place->launched && place->at > 0) {
            int64_t launch = tl_launch_of(b, &b->view->kernels[b->local[place->at - 1]]);
            place->launch_ns = tl_ns_max(launch, b->start_ns);
        }
        bool follows = i > 0 && tl_same_stream(&b->view->kernels[b->comm[i - 1]], k);
        bool ended = follows && b->view->kernels[b->comm[i - 1]].end_ns <= k->start_ns + TL_ROUNDING_NS;
        place->previous = ended ? (uint32_t)i - 1 : TL_NONE;
        place->behind = behind(&p, i);
        if (place->behind > 0)
            b->cut[place->behind - 1] = true;
    }
    placing_free(&p);
    return whole;
}
