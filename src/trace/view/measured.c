/* measured.c - measurements that only some traces have: counters, memory, annotations on the device. */
#include "internal.h"

/* Device types of PyTorch. */
enum { HOST = 0 };

TL_SORT_BY(by_start, tl_counted, sampled, start_ns, uid, counter, value)
TL_SORT_BY(by_device, tl_memory, device, at_ns, uid)

static void collect_counters(const tl_events *e, tl_linked *out)
{
    tl_counted *v = tl_arena_take(&out->rest, e->counters.n, sizeof *v);
    size_t n = 0;

    TL_EACH (const tl_counter_arg, c, e->counters)
        if (e->flags[c->event] & TL_EVENT_HAS_TS)
            v[n++] = (tl_counted){ e->ts_ns[c->event], e->uid[c->event],
                                   e->name[c->event],  c->name,
                                   c->value,           tl_event_cat(e, c->event) == TL_CAT_SAMPLE };
    tl_sort(v, n, sizeof *v, by_start);
    out->view.counted = v;
    out->view.ncounted = n;
}

static void collect_memory(const tl_events *e, tl_linked *out)
{
    tl_memory *v = tl_arena_take(&out->rest, e->memory.n, sizeof *v);
    size_t n = 0;

    TL_EACH (const tl_memory_args, m, e->memory)
        if (e->flags[m->event] & TL_EVENT_HAS_TS)
            v[n++] = (tl_memory){ e->ts_ns[m->event],
                                  m->allocated,
                                  m->reserved,
                                  m->device_type == HOST ? -1 : tl_small_int(m->device),
                                  e->uid[m->event],
                                  tl_event_track(e, m->event),
                                  m->bytes };
    tl_sort(v, n, sizeof *v, by_device);
    out->view.memory = v;
    out->view.nmemory = n;
}

void tl_measured_collect(const tl_events *e, tl_linked *out)
{
    TL_VEC(tl_device_range) ranges = { 0 }; /* user annotations as the profiler mirrors them on the device */
    bool any = tl_events_have(e, TL_CAT_GPU_ANNOTATION);

    if (e->counters.n > 0)
        collect_counters(e, out);
    if (e->memory.n > 0)
        collect_memory(e, out);
    for (size_t i = 0; any && i < e->n; i++) {
        if (!tl_event_in(e, i, TL_CAT_BIT(TL_CAT_GPU_ANNOTATION)) || e->name[i] == TL_NO_NAME)
            continue;
        tl_vec_push(&ranges, (tl_device_range){ e->ts_ns[i], tl_event_dur_ns(e, i), e->name[i], e->uid[i] });
    }
    out->view.ranges = tl_arena_move(&out->rest, ranges.v, ranges.n, sizeof *ranges.v);
    out->view.nranges = ranges.n;
}
