/* timeline.c - where the time of the device went.
 *
 *     computation      [      ]      [   ]            |U(C)|
 *     communication       [=====)                     |U(M)|, exposed: |U(M) - U(C)|
 *     copies                  [=======)               |U(P)|, exposed: |U(P) - U(C) - U(M)|
 *     busy             [      ====  )[   ]            |U(all)|
 *
 * A memset is computation.  All devices and streams are one; runs that touch are one.
 */
#include "tlmpi/compat/sheet.h"
#include "tlmpi/compat/tracelens/rank.h"
#include <stdlib.h>

typedef enum class { COMPUTATION = 1, COMMUNICATION = 2, COPY = 4, ANY = 7 } class;

static class class_of(const tl_lens *lens, uint32_t i)
{
    unsigned says = tl_lens_says(lens, i);
    if (lens->set[i] == TL_LENS_MEMCPY || (lens->set[i] == TL_LENS_KERNEL && (says & TL_LENS_COPY_KERNEL)))
        return COPY;
    return says & TL_LENS_COMM ? COMMUNICATION : COMPUTATION;
}

typedef struct span {
    double start, end;
} span;

typedef TL_VEC(span) spans;

static bool add_span(spans *out, double start, double end)
{
    if (!tl_vec_room(out))
        return false;
    out->v[out->n++] = (span){ start, end };
    return true;
}

/* The events of the classes, merged; index is by ts. */
static bool merge(spans *out, const tl_lens *lens, const uint32_t *index, size_t n, unsigned classes, bool linked_only)
{
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t event = index[i];
        if (!(class_of(lens, event) & classes) || (linked_only && lens->launch[event] == TL_NONE))
            continue;
        double start = tl_lens_ts(lens, event), end = tl_lens_end(lens, event);
        if (out->n > 0 && start <= out->v[out->n - 1].end)
            out->v[out->n - 1].end = fmax(out->v[out->n - 1].end, end);
        else if (!add_span(out, start, end))
            return false;
    }
    return true;
}

/* out = a without b. */
static bool subtract(spans *out, const spans *a, const spans *b)
{
    size_t k = 0;

    out->n = 0;
    for (size_t i = 0; i < a->n; i++) {
        double from = a->v[i].start, to = a->v[i].end;
        while (k < b->n && b->v[k].end <= from)
            k++;
        for (size_t j = k; j < b->n && b->v[j].start < to; j++) {
            if (b->v[j].start > from && !add_span(out, from, b->v[j].start))
                return false;
            from = fmax(from, b->v[j].end);
        }
        if (from < to && !add_span(out, from, to))
            return false;
    }
    return true;
}

static double length(const spans *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += s->v[i].end - s->v[i].start;
    return sum;
}

static void measure_busy(tl_lens_timeline *t, const spans *busy)
{
    double noise = 0;

    t->any = busy->n > 0;
    if (!t->any)
        return;
    t->busy = length(busy);
    t->total = busy->v[busy->n - 1].end - busy->v[0].start;
    t->idle = t->total - t->busy;
    for (size_t i = 1; i < busy->n; i++) {
        double gap = busy->v[i].start - busy->v[i - 1].end;
        *(gap < TL_LENS_NOISE_US ? &noise : &t->macro_idle) += gap;
    }
    t->micro_idle = noise;
}

tl_status tl_lens_timeline_of(tl_lens_timeline *t, const tl_lens *lens, bool linked_only, tl_error *err)
{
    spans busy = { 0 }, compute = { 0 }, comm = { 0 }, copy = { 0 }, alone = { 0 }, exposed = { 0 };
    size_t n = 0;

    *t = (tl_lens_timeline){ .any = false };
    uint32_t *index = tl_lens_pick(lens, tl_lens_is_gpu, false, &n);
    bool ok = index != NULL && merge(&busy, lens, index, n, ANY, linked_only) &&
              merge(&compute, lens, index, n, COMPUTATION, linked_only) &&
              merge(&comm, lens, index, n, COMMUNICATION, linked_only) &&
              merge(&copy, lens, index, n, COPY, linked_only);
    if (ok) {
        measure_busy(t, &busy);
        t->computation = length(&compute);
        t->comm = length(&comm);
        t->memcpy = length(&copy);
        ok = subtract(&exposed, &comm, &compute);
        t->exposed_comm = length(&exposed);
        ok = ok && subtract(&alone, &copy, &compute) && subtract(&exposed, &alone, &comm);
        t->exposed_memcpy = length(&exposed);
    }
    free(index);
    free(busy.v);
    free(compute.v);
    free(comm.v);
    free(copy.v);
    free(alone.v);
    free(exposed.v);
    return ok ? TL_OK : tl_fail_memory(err, "the timeline of a rank");
}

static void put_row(tl_sheet *sheet, const char *type, double us, double total)
{
    tl_sheet_words(sheet, type);
    tl_sheet_real(sheet, us / 1000);
    tl_sheet_real(sheet, us / total * 100);
    tl_sheet_end_row(sheet);
}

static tl_status write_timeline(const tl_lens_timeline *t, bool micro, const char *dir, const char *name, tl_error *err)
{
    tl_sheet sheet;
    if (!t->any)
        return TL_OK;
    tl_status st = tl_sheet_open(&sheet, dir, name, "type,time ms,percent", err);
    if (st != TL_OK)
        return st;

    put_row(&sheet, "computation_time", t->computation, t->total);
    put_row(&sheet, "exposed_comm_time", t->exposed_comm, t->total);
    put_row(&sheet, "exposed_memcpy_time", t->exposed_memcpy, t->total);
    put_row(&sheet, "busy_time", t->busy, t->total);
    if (micro) {
        put_row(&sheet, "micro_idle_time", t->micro_idle, t->total);
        put_row(&sheet, "macro_idle_time", t->macro_idle, t->total);
    } else {
        put_row(&sheet, "idle_time", t->idle, t->total);
    }
    put_row(&sheet, "total_time", t->total, t->total);
    put_row(&sheet, "total_comm_time", t->comm, t->total);
    put_row(&sheet, "total_memcpy_time", t->memcpy, t->total);
    return tl_sheet_close(&sheet, err);
}

tl_status tl_lens_write_timelines(const tl_lens_timeline *linked, const tl_lens_timeline *all, const char *dir,
                                  tl_error *err)
{
    tl_status st = write_timeline(linked, false, dir, "gpu_timeline.csv", err);
    if (st == TL_OK)
        st = write_timeline(linked, true, dir, "gpu_timeline_micro5.csv", err);
    if (st == TL_OK)
        st = write_timeline(all, false, dir, "gpu_timeline_all_events.csv", err);
    if (st == TL_OK)
        st = write_timeline(all, true, dir, "gpu_timeline_all_events_micro5.csv", err);
    return st;
}
