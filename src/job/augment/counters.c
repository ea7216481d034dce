/* counters.c - queues and copies as counters. */
#include "counters.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/trace_out/idle.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* "Queue (stream 7)" or the name of the copies, and " (device 1)" where that is to be told; the caller frees it. */
static char *name_of(const tl_counter *c, const tl_out_process *p, const tl_names *names, size_t *n)
{
    char queue[32], device[32] = "";
    tl_text name = { queue, 0 };

    if (c->name != TL_NO_NAME)
        name = tl_names_text(names, c->name);
    else
        name.n = (size_t)snprintf(queue, sizeof queue, "Queue (stream %" PRId32 ")", c->stream);
    size_t more = p->shared ? (size_t)snprintf(device, sizeof device, " (device %" PRId32 ")", c->device) : 0;
    char *text = tl_malloc(name.n + more + 1);
    if (name.n > 0)
        memcpy(text, name.p, name.n);
    memcpy(text + name.n, device, more);
    *n = name.n + more;
    return text;
}

static void put_points(const tl_counters *all, const tl_counter *c, tl_out_writer *w, const tl_out_track *track,
                       tl_text name, int64_t base_ns)
{
    for (size_t i = c->first; i < c->first + c->n; i++) {
        const tl_point *point = &all->points.v[i];
        const tl_out_arg value = { c->name == TL_NO_NAME ? "length" : "GB/s",
                                   c->name == TL_NO_NAME ? tl_out_int(point->value)
                                                         : tl_out_double((double)point->value / 1e9) };
        tl_out_put(w, &(tl_out_event){ .ph = 'C',
                                       .track = *track,
                                       .name = name,
                                       .cat = TL_OUT_COUNTER_CAT,
                                       .ts = tl_out_us(tl_ns_between(point->at_ns, base_ns)),
                                       .args = &value,
                                       .nargs = 1 });
    }
}

void tl_counters_put(const tl_counters *counters, tl_out_writer *w, const tl_out_process *p, const tl_names *names,
                     int64_t base_ns)
{
    const tl_out_track track = tl_out_process_track(p, names);

    for (size_t i = 0; i < counters->v.n; i++) {
        const tl_counter *c = &counters->v.v[i];
        size_t n = 0;
        if (c->device != p->device)
            continue;
        char *name = name_of(c, p, names, &n);
        put_points(counters, c, w, &track, (tl_text){ name, n }, base_ns);
        free(name);
    }
}
