/* infer.c - waits that no call tells of, read off a host that was silent until its device had done something.
 *
 *     host     [launch][launch]...............[launch]      nothing is known of it for long
 *     device       [   a    ][        b      ]    [ c ]     and it goes on right after b
 *                              |<- the wait ->|
 *
 * A host that thinks goes on at any time, so that this happens by chance, too: of n pieces of work that end in a
 * silence, one ends within d of where the silence does in about n * d / silence of all cases.  Only where that is less
 * than 1 in UNLIKELY is it a wait.
 */
#include "tlmpi/analysis/host.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include <stdlib.h>

#define US          INT64_C(1000)
#define SILENCE_NS  (1000 * US) /* what is worth asking */
#define HEAD_NS     (100 * US)  /* the same, before the first call */
#define WAKE_NS     (200 * US)  /* from the end of the work to the first sign of the host */
#define ASK_NS      (5000 * US) /* the same, where the host then asks how long the work took */
#define CALL_END_NS (5 * US)    /* from the end of the work to the return of the call that waited for it */
#define CLOCKS_NS   (20 * US)   /* by which clocks of host and device may differ */
#define LONGEST_NS  (INT64_C(1) << 46)
enum { UNLIKELY = 100 };

/* No launching thread called anything in [start_ns, end_ns). */
typedef struct silence {
    int64_t start_ns, end_ns;
    int64_t last_ns; /* the last end of a piece of work in it */
    size_t nends;
} silence;

typedef struct silences {
    silence *v;
    size_t n, cap;
} silences;

static bool add_wait(tl_host_waits *waits, int64_t from_ns, int64_t to_ns)
{
    if (to_ns <= from_ns)
        return true;
    if (!tl_vec_room(waits))
        return false;
    waits->v[waits->n++] = (tl_host_wait){ from_ns, to_ns, -1, -1, TL_WAIT_EVENT };
    return true;
}

typedef TL_VEC(tl_span) span_list;

static bool add_span(span_list *list, int64_t start_ns, int64_t end_ns)
{
    if (!tl_vec_room(list))
        return false;
    list->v[list->n++] = (tl_span){ start_ns, end_ns };
    return true;
}

/* When one thread was busy: its calls, and pauses shorter than SILENCE_NS between them. */
static bool thread_busy(const tl_calls *calls, const tl_thread *thread, span_list *out)
{
    int64_t from = calls->start_ns[thread->first], to = from;
    for (size_t i = thread->first; i < thread->first + thread->n; i++) {
        int64_t start = calls->start_ns[i], end = start + calls->dur_ns[i];
        if (start - to >= SILENCE_NS) {
            if (!add_span(out, from, to > from ? to : from + 1))
                return false;
            from = start;
        }
        to = end > to ? end : to;
    }
    return add_span(out, from, to > from ? to : from + 1);
}

/* When any thread that launches was busy. */
static bool host_busy(const tl_rank_view *view, tl_spans *busy)
{
    const tl_calls *calls = &view->calls;
    tl_map launching = { 0 };
    span_list all = { 0 };
    bool ok = tl_launching_tracks(view, &launching);

    for (size_t t = 0; ok && t < calls->nthreads; t++)
        if (calls->threads[t].n > 0 && tl_map_get(&launching, calls->threads[t].track) != TL_MAP_NONE)
            ok = thread_busy(calls, &calls->threads[t], &all);
    ok = ok && tl_spans_add_all(busy, all.v, all.n);
    tl_map_free(&launching);
    free(all.v);
    return ok;
}

static bool find_silences(const tl_spans *busy, silences *out)
{
    for (size_t i = 1; i < busy->n; i++) {
        int64_t from = busy->v[i - 1].end_ns, to = busy->v[i].start_ns;
        if (to - from < SILENCE_NS || to - from > LONGEST_NS)
            continue;
        if (!tl_vec_room(out))
            return false;
        out->v[out->n++] = (silence){ from, to, INT64_MIN, 0 };
    }
    return true;
}

/* The silence in which an instant lies, or shortly after whose end; NULL. */
static silence *silence_at(const silences *all, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, all->n, mid, all->v[mid].end_ns + CLOCKS_NS < at_ns);
    return low < all->n && all->v[low].start_ns < at_ns ? &all->v[low] : NULL;
}

static bool asks_for_times(const tl_rank_view *view, int64_t at_ns)
{
    const tl_calls *calls = &view->calls;
    for (size_t t = 0; t < calls->nthreads; t++) {
        size_t low = calls->threads[t].first, end = low + calls->threads[t].n;
        TL_BISECT(low, end, mid, calls->start_ns[mid] < at_ns);
        for (; low < end && calls->start_ns[low] == at_ns; low++)
            if (calls->name[low] != TL_NO_NAME &&
                tl_text_has(tl_names_text(view->names, calls->name[low]), "EventElapsedTime"))
                return true;
    }
    return false;
}

static bool was_wait(const tl_rank_view *view, const silence *s)
{
    if (s->nends == 0)
        return false;
    int64_t ns = s->end_ns - s->start_ns, apart = s->end_ns - s->last_ns > US ? s->end_ns - s->last_ns : US;
    if (apart <= WAKE_NS && apart * UNLIKELY <= ns / (int64_t)s->nends)
        return true;
    return apart <= ASK_NS && apart <= ns / 2 && asks_for_times(view, s->end_ns);
}

/* What the call launched that ended the silence is not what ended it, however brief it was. */
static bool launched_after(const tl_kernel *k, const silence *s)
{
    return k->launch_ns != TL_TIME_UNKNOWN && k->launch_ns >= s->end_ns;
}

static bool infer_between_calls(const tl_rank_view *view, tl_host_waits *waits)
{
    tl_spans busy = { 0 };
    silences all = { 0 };
    bool ok = host_busy(view, &busy) && find_silences(&busy, &all);

    for (size_t i = 0; ok && all.n > 0 && i < view->nkernels; i++) {
        silence *s = silence_at(&all, view->kernels[i].end_ns);
        if (s == NULL || launched_after(&view->kernels[i], s))
            continue;
        s->nends++;
        s->last_ns = view->kernels[i].end_ns > s->last_ns ? view->kernels[i].end_ns : s->last_ns;
    }
    for (size_t i = 0; ok && i < all.n; i++) {
        const silence *s = &all.v[i];
        if (was_wait(view, s))
            ok = add_wait(waits, s->start_ns, s->end_ns);
    }
    free(all.v);
    tl_spans_free(&busy);
    return ok;
}

/* The first that is seen of the host follows soon after the device ran dry. */
static bool infer_before_calls(const tl_rank_view *view, tl_host_waits *waits)
{
    int64_t first = view->nlaunches > 0 ? view->launches[0].start_ns : INT64_MAX, begin = INT64_MAX, dry = INT64_MIN;

    if (view->nsteps > 0 && view->steps[0].start_ns < first)
        first = view->steps[0].start_ns;
    for (size_t i = 0; i < view->calls.nthreads; i++) {
        const tl_thread *thread = &view->calls.threads[i];
        if (thread->n > 0 && view->calls.start_ns[thread->first] < first)
            first = view->calls.start_ns[thread->first];
    }
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        if (k->start_ns >= first)
            continue;
        begin = k->start_ns < begin ? k->start_ns : begin;
        dry = k->end_ns > dry ? k->end_ns : dry;
    }
    if (begin == INT64_MAX || begin < first - LONGEST_NS || first - begin < HEAD_NS || first - dry > WAKE_NS ||
        dry > first + CLOCKS_NS)
        return true;
    return add_wait(waits, begin, dry + CALL_END_NS < first ? dry + CALL_END_NS : first);
}

bool tl_host_waits_infer(const tl_rank_view *view, tl_host_waits *waits)
{
    return infer_between_calls(view, waits) && infer_before_calls(view, waits);
}
