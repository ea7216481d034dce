#include "measured.h"
#include "part.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* Device types of PyTorch. */
enum { HOST = 0 };

static int by_start(const void *a, const void *b)
{
    const tl_counted *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return TL_COMPARE(x->start_ns, y->start_ns);
    if (x->uid != y->uid)
        return TL_COMPARE(x->uid, y->uid);
    return x->counter != y->counter ? TL_COMPARE(x->counter, y->counter) : TL_COMPARE(x->value, y->value);
}

static int by_device(const void *a, const void *b)
{
    const tl_memory *x = a, *y = b;
    if (x->device != y->device)
        return TL_COMPARE(x->device, y->device);
    return x->at_ns != y->at_ns ? TL_COMPARE(x->at_ns, y->at_ns) : TL_COMPARE(x->uid, y->uid);
}

static void collect_counters(const tl_events *e, int64_t base_ns, tl_linked *out)
{
    size_t n = 0;

    if (e->counters.n == 0)
        return;
    tl_counted *v = tl_malloc(e->counters.n * sizeof *v);
    out->counted = v;
    for (size_t i = 0; i < e->counters.n; i++) {
        const tl_counter_arg *c = &e->counters.v[i];
        if (e->flags[c->event] & TL_EVENT_HAS_TS)
            v[n++] = (tl_counted){ tl_since_base(e->ts_ns[c->event], base_ns), e->uid[c->event], e->name[c->event],
                                   c->name, c->value };
    }
    qsort(v, n, sizeof *v, by_start);
    out->view.counted = v;
    out->view.ncounted = n;
}

static void collect_memory(const tl_events *e, int64_t base_ns, tl_linked *out)
{
    size_t n = 0;

    if (e->memory.n == 0)
        return;
    tl_memory *v = tl_malloc(e->memory.n * sizeof *v);
    out->memory = v;
    for (size_t i = 0; i < e->memory.n; i++) {
        const tl_memory_args *m = &e->memory.v[i];
        bool of_host = m->device_type == HOST || m->device < 0 || m->device > INT32_MAX;
        if (e->flags[m->event] & TL_EVENT_HAS_TS)
            v[n++] = (tl_memory){ tl_since_base(e->ts_ns[m->event], base_ns),
                                  m->allocated,
                                  m->reserved,
                                  of_host ? -1 : (int32_t)m->device,
                                  e->uid[m->event],
                                  e->track[m->event],
                                  m->bytes };
    }
    qsort(v, n, sizeof *v, by_device);
    out->view.memory = v;
    out->view.nmemory = n;
}

/* User annotations as the profiler mirrors them on the device. */
static void collect_ranges(const tl_events *e, int64_t base_ns, tl_linked *out)
{
    const unsigned span = TL_EVENT_HAS_TS | TL_EVENT_PH_X;
    TL_VEC(tl_device_range) found = { 0 };

    if (!tl_events_have(e, TL_CAT_GPU_ANNOTATION))
        return;
    for (size_t i = 0; i < e->n; i++) {
        if (tl_event_cat(e, i) != TL_CAT_GPU_ANNOTATION || (e->flags[i] & span) != span || e->name[i] == TL_NO_NAME)
            continue;
        tl_vec_room(&found);
        found.v[found.n++] =
            (tl_device_range){ tl_since_base(e->ts_ns[i], base_ns), e->dur_ns[i], e->name[i], e->uid[i] };
    }
    out->ranges = found.v;
    out->view.ranges = found.v;
    out->view.nranges = found.n;
}

void tl_measured_collect(const tl_events *e, int64_t base_ns, tl_linked *out)
{
    collect_counters(e, base_ns, out);
    collect_memory(e, base_ns, out);
    collect_ranges(e, base_ns, out);
}
