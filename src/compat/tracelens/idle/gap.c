/* gap.c - where the gaps are, what lies on either side, and whether a wait of the host emptied the device. */
#include "tlmpi/compat/tracelens/idle.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>

#define LAUNCH_LATENCY_US 8.0 /* typical; of a launch that returned earlier the work was queued */
#define PREV_NEAR_US      2.0
#define NEXT_NEAR_US      1.0
#define SYNC_NEAR_US      2.0
#define DRAIN_US          5.0

/* ----------------------------------------------------------------------------------------------------------- words */

const char *const tl_lens_sync_words[] = {
    [TL_LENS_NO_SYNC] = "",
    [TL_LENS_SYNC_DEVICE] = "DEVICE_SYNC",
    [TL_LENS_SYNC_STREAM] = "STREAM_SYNC",
    [TL_LENS_SYNC_EVENT] = "EVENT_SYNC",
    [TL_LENS_SYNC_D2H] = "D2H_COPY",
    [TL_LENS_SYNC_H2D] = "H2D_COPY",
};

const char *const tl_lens_cpu_words[] = {
    [TL_LENS_LAUNCH_ANOMALY] = "LAUNCH_ANOMALY",       [TL_LENS_LAUNCH_OVERHEAD_ONLY] = "LAUNCH_OVERHEAD_ONLY",
    [TL_LENS_RUNTIME_DOMINATED] = "RUNTIME_DOMINATED", [TL_LENS_CPU_UNTRACED] = "CPU_UNTRACED",
    [TL_LENS_CPU_DOMINATED] = "CPU_DOMINATED",
};

void tl_lens_idle_free(tl_lens_idle *idle)
{
    free(idle->gaps.v);
    tl_names_free(&idle->words);
}

/* --------------------------------------------------------------------------------------------------- the intervals */

/* The fraction is exact, so is its product as p + e; what p loses decides where p itself lies half way. */
int64_t tl_lens_thousandths(double us)
{
    double whole = floor(us), part = us - whole;
    double p = part * 1000, e = fma(part, 1000, -p), n = rint(p), d = p - n;

    if (d == 0.5 && e > 0)
        n += 1;
    else if (d == -0.5 && e < 0)
        n -= 1;
    return (int64_t)whole * 1000 + (int64_t)n;
}

/* Runs of events that touch are busy; between two of them lies a gap, whose next run begins and ends it. */
static void find_gaps(tl_lens_idle *idle, const tl_lens *lens)
{
    size_t n;
    uint32_t *index = tl_lens_pick(lens, tl_lens_is_gpu, false, &n), last = TL_NONE; /* last: ends the run before */

    for (size_t i = 0, from; i < n; last = index[from]) {
        const uint32_t first = index[from = i];
        const double start = tl_lens_ts(lens, first), lo = last != TL_NONE ? tl_lens_end(lens, last) : start;
        double end = tl_lens_end(lens, first);
        for (i++; i < n && tl_lens_ts(lens, index[i]) <= end; i++)
            if (tl_lens_end(lens, index[i]) > end)
                end = tl_lens_end(lens, index[from = i]);
        idle->busy += end - start;
        if (!(start - lo > 0))
            continue;
        const bool noise = start - lo < TL_LENS_NOISE_US;
        idle->nmacro += !noise;
        const tl_lens_gap gap = {
            .lo = lo,
            .hi = start,
            .lo_whole = tl_lens_whole(lens, last, TL_MORE_WHOLE_TS | TL_MORE_WHOLE_DUR),
            .hi_whole = tl_lens_whole(lens, first, TL_MORE_WHOLE_TS),
            .id = noise ? (int64_t)idle->nmacro - (int64_t)idle->gaps.n - 1 : (int64_t)idle->nmacro - 1,
            .before = TL_NONE,
            .after = TL_NONE,
            .next = TL_NONE,
            .launch = TL_NONE,
            .sync_call = TL_NONE,
            .detail = TL_NO_NAME,
            .op = TL_NO_NAME,
            .key = TL_NO_NAME,
        };
        tl_vec_push(&idle->gaps, gap);
    }
    free(index);
}

/* The last event of the file that ends at lo, and that begins at hi, to the thousandth: the columns of names follow
 * these, not `prev` and `next`. */
static void name_neighbours(const tl_lens *lens, tl_lens_idle *idle)
{
    tl_map ends = { 0 }, starts = { 0 };

    for (uint32_t i = 0; i < lens->e->n; i++)
        if (tl_lens_is_gpu(lens, i)) {
            tl_map_put(&ends, (uint64_t)tl_lens_thousandths(tl_lens_end(lens, i)), i);
            tl_map_put(&starts, (uint64_t)tl_lens_thousandths(tl_lens_ts(lens, i)), i);
        }
    TL_EACH (tl_lens_gap, gap, idle->gaps) {
        gap->before = tl_map_get(&ends, (uint64_t)tl_lens_thousandths(gap->lo));
        gap->after = tl_map_get(&starts, (uint64_t)tl_lens_thousandths(gap->hi));
    }
    tl_map_free(&ends);
    tl_map_free(&starts);
}

/* ------------------------------------------------------------------------------------------------------ neighbours */

static bool is_complete_gpu(const tl_lens *lens, uint32_t i)
{
    return tl_lens_is_gpu(lens, i) && tl_lens_is_complete(lens, i);
}

typedef struct walk {
    const tl_lens *lens;
    uint32_t *gpu, *calls; /* by ts */
    size_t ngpu, ncalls;
    size_t next_call;         /* calls before it began before the gap at hand */
    TL_VEC(uint32_t) running; /* calls before next_call that may still run at lo - 2, by ts */
} walk;

/* The first place in gpu whose ts is at or after t. */
static size_t first_at(const walk *w, double t)
{
    size_t low = 0;
    TL_BISECT(low, w->ngpu, mid, tl_lens_ts(w->lens, w->gpu[mid]) < t);
    return low;
}

static void find_next(const walk *w, tl_lens_gap *gap)
{
    size_t at = first_at(w, gap->hi - 0.001), first = at > 0 ? at - 1 : 0;

    for (size_t k = first; k < w->ngpu && k < at + 3 && gap->next == TL_NONE; k++)
        if (fabs(tl_lens_ts(w->lens, w->gpu[k]) - gap->hi) < NEXT_NEAR_US)
            gap->next = w->gpu[k];
    gap->launch = gap->next != TL_NONE ? w->lens->launch[gap->next] : TL_NONE;
    if (gap->launch != TL_NONE) {
        double returned = tl_lens_end(w->lens, gap->launch);
        gap->launch_to_exec = tl_lens_ts(w->lens, gap->next) - returned;
        gap->prequeued = returned + LAUNCH_LATENCY_US < gap->lo;
    }
}

/* ------------------------------------------------------------------------------------------------------- the drain */

tl_lens_sync tl_lens_sync_of(const tl_lens *lens, uint32_t call, uint32_t prev)
{
    const tl_names *names = &lens->e->names;
    unsigned says = tl_lens_says(lens, call);

    if (says & TL_LENS_DEVICE_SYNC)
        return TL_LENS_SYNC_DEVICE;
    if (says & TL_LENS_STREAM_SYNC)
        return TL_LENS_SYNC_STREAM;
    if (says & TL_LENS_EVENT_SYNC)
        return TL_LENS_SYNC_EVENT;
    if (!(says & TL_LENS_COPY_CALL))
        return TL_LENS_NO_SYNC;

    tl_text kind = tl_names_text(names, lens->words->more[call].kind);
    if (kind.n == 0 && prev != TL_NONE)
        kind = tl_names_text(names, lens->words->more[prev].kind);
    if (tl_text_is(kind, "2") || tl_text_has(kind, "DtoH") || (says & TL_LENS_DTOH))
        return TL_LENS_SYNC_D2H;
    if (tl_text_is(kind, "1") || tl_text_has(kind, "HtoD") || (says & TL_LENS_HTOD))
        return TL_LENS_SYNC_H2D;
    return TL_LENS_NO_SYNC;
}

/* A call that may wait: a copy that does not say its direction may, too. */
static bool is_waiting_call(const tl_lens *lens, uint32_t i)
{
    if (lens->set[i] != TL_LENS_RUNTIME || !tl_lens_is_complete(lens, i))
        return false;
    return tl_lens_sync_of(lens, i, TL_NONE) != TL_LENS_NO_SYNC ||
           ((tl_lens_says(lens, i) & TL_LENS_COPY_CALL) &&
            tl_names_text(&lens->e->names, lens->words->more[i].kind).n == 0);
}

/* The latest call that began before the gap and ran up to it, waits for the device, and was over when the next work was
 * launched.  Calls that ended earlier never count again: as they are met, from the latest on, they go. */
static void find_sync(walk *w, tl_lens_gap *gap)
{
    const tl_lens *lens = w->lens;
    size_t at = first_at(w, gap->lo), kept;
    /* The event that started last before the gap, if it ended where the gap begins. */
    uint32_t prev =
        at > 0 && fabs(tl_lens_end(lens, w->gpu[at - 1]) - gap->lo) < PREV_NEAR_US ? w->gpu[at - 1] : TL_NONE;

    for (; w->next_call < w->ncalls && tl_lens_ts(lens, w->calls[w->next_call]) < gap->lo; w->next_call++)
        tl_vec_push(&w->running, w->calls[w->next_call]);
    for (at = kept = w->running.n; at > 0 && gap->sync_call == TL_NONE; at--) {
        uint32_t call = w->running.v[at - 1];
        double end = tl_lens_end(lens, call);
        if (!(end >= gap->lo - SYNC_NEAR_US))
            continue;
        w->running.v[--kept] = call;
        tl_lens_sync sync = tl_lens_sync_of(lens, call, prev);
        if (sync == TL_LENS_NO_SYNC || (gap->launch != TL_NONE && end > tl_lens_ts(lens, gap->launch)))
            continue;
        gap->sync = sync;
        gap->sync_call = call;
        gap->drained = prev != TL_NONE && tl_lens_end(lens, prev) - tl_lens_ts(lens, call) > DRAIN_US;
    }
    if (kept > at && w->running.n > kept)
        memmove(&w->running.v[at], &w->running.v[kept], (w->running.n - kept) * sizeof *w->running.v);
    w->running.n -= kept - at;
}

tl_lens_idle tl_lens_idle_of(const tl_lens *lens)
{
    tl_lens_idle idle = { .nmacro = 0 };
    walk w = { .lens = lens };

    find_gaps(&idle, lens);
    name_neighbours(lens, &idle);
    w.gpu = tl_lens_pick(lens, is_complete_gpu, false, &w.ngpu);
    w.calls = tl_lens_pick(lens, is_waiting_call, false, &w.ncalls);
    tl_lens_host *host = tl_lens_host_new(lens, &idle.words);
    TL_EACH (tl_lens_gap, gap, idle.gaps) {
        if (tl_lens_is_noise(gap))
            continue;
        find_next(&w, gap);
        find_sync(&w, gap);
        tl_lens_host_label(host, gap);
    }
    free(w.gpu);
    free(w.calls);
    free(w.running.v);
    tl_lens_host_free(host);
    return idle;
}
