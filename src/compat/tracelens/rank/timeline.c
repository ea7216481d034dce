/* timeline.c - where the time of the device went.
 *
 *     computation      [      ]      [   ]            |U(C)|
 *     communication       [=====)                     |U(M)|, exposed: |U(M) - U(C)|
 *     copies                  [=======)               |U(P)|, exposed: |U(P) - U(C) - U(M)|
 *     busy             [      ====  )[   ]            |U(all)|
 *
 * A memset is computation.  All devices and streams are one; runs that touch are one.
 */
#include "tlmpi/compat/tracelens/rank.h"

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

/* The events of the classes, merged; index is by ts. */
static spans merge(const tl_lens *lens, const uint32_t *index, size_t n, unsigned classes, bool linked_only)
{
    spans out = { 0 };

    for (size_t i = 0; i < n; i++) {
        uint32_t event = index[i];
        if (!(class_of(lens, event) & classes) || (linked_only && lens->launch[event] == TL_NONE))
            continue;
        double start = tl_lens_ts(lens, event), end = tl_lens_end(lens, event);
        if (out.n > 0 && start <= out.v[out.n - 1].end)
            out.v[out.n - 1].end = fmax(out.v[out.n - 1].end, end);
        else
            tl_vec_push(&out, (span){ start, end });
    }
    return out;
}

/* a without b. */
static spans subtract(const spans *a, const spans *b)
{
    spans out = { 0 };
    size_t k = 0;

    for (size_t i = 0; i < a->n; i++) {
        double from = a->v[i].start, to = a->v[i].end;
        while (k < b->n && b->v[k].end <= from)
            k++;
        for (size_t j = k; j < b->n && b->v[j].start < to; j++) {
            if (b->v[j].start > from)
                tl_vec_push(&out, (span){ from, b->v[j].start });
            from = fmax(from, b->v[j].end);
        }
        if (from < to)
            tl_vec_push(&out, (span){ from, to });
    }
    return out;
}

static double length(const spans *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += s->v[i].end - s->v[i].start;
    return sum;
}

tl_lens_timeline tl_lens_timeline_of(const tl_lens *lens, bool linked_only)
{
    tl_lens_timeline t = { .any = false };
    size_t n;
    uint32_t *index = tl_lens_pick(lens, tl_lens_is_gpu, false, &n);
    spans busy = merge(lens, index, n, ANY, linked_only), compute = merge(lens, index, n, COMPUTATION, linked_only);
    spans comm = merge(lens, index, n, COMMUNICATION, linked_only), copy = merge(lens, index, n, COPY, linked_only);
    spans comm_alone = subtract(&comm, &compute), no_compute = subtract(&copy, &compute);
    spans copy_alone = subtract(&no_compute, &comm);
    spans *const all[] = { &busy, &compute, &comm, &copy, &comm_alone, &no_compute, &copy_alone };

    t.any = busy.n > 0;
    t.busy = length(&busy);
    t.total = t.any ? busy.v[busy.n - 1].end - busy.v[0].start : 0;
    t.idle = t.total - t.busy;
    for (size_t i = 1; i < busy.n; i++) {
        double gap = busy.v[i].start - busy.v[i - 1].end;
        *(gap < TL_LENS_NOISE_US ? &t.micro_idle : &t.macro_idle) += gap;
    }
    t.computation = length(&compute);
    t.comm = length(&comm);
    t.memcpy = length(&copy);
    t.exposed_comm = length(&comm_alone);
    t.exposed_memcpy = length(&copy_alone);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]->v);
    free(index);
    return t;
}

static void write_timeline(const tl_lens_timeline *t, bool micro, tl_csv_folder *folder, const char *name)
{
    const struct {
        const char *type;
        bool shown;
        double us;
    } rows[] = {
        { "computation_time", true, t->computation },
        { "exposed_comm_time", true, t->exposed_comm },
        { "exposed_memcpy_time", true, t->exposed_memcpy },
        { "busy_time", true, t->busy },
        { "micro_idle_time", micro, t->micro_idle },
        { "macro_idle_time", micro, t->macro_idle },
        { "idle_time", !micro, t->idle },
        { "total_time", true, t->total },
        { "total_comm_time", true, t->comm },
        { "total_memcpy_time", true, t->memcpy },
    };

    if (!t->any)
        return;
    tl_csv csv = tl_csv_open(folder, name, "type,time ms,percent");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].shown)
            TL_ROW(&csv, rows[i].type, rows[i].us / 1000, rows[i].us / t->total * 100);
    tl_csv_close(&csv);
}

void tl_lens_write_timelines(const tl_lens_timeline *linked, const tl_lens_timeline *all, tl_csv_folder *folder)
{
    write_timeline(linked, false, folder, "gpu_timeline.csv");
    write_timeline(linked, true, folder, "gpu_timeline_micro5.csv");
    write_timeline(all, false, folder, "gpu_timeline_all_events.csv");
    write_timeline(all, true, folder, "gpu_timeline_all_events_micro5.csv");
}
