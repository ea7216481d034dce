/* counters.c - queues and copies as counters. */
#include "counters.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/trace_out/idle.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool add_counter(tl_counters *c, const tl_kernel *of, uint32_t name, const tl_loads *loads)
{
    size_t first = c->points.n;
    if (!tl_series_add(&c->points, loads->v, loads->n))
        return false;
    if (c->points.n == first)
        return true;
    if (!tl_vec_room(&c->v))
        return false;
    c->v.v[c->v.n++] = (tl_counter){ of->device, of->stream, name, first, c->points.n - first };
    return true;
}

/* The queue of each stream of one device. */
static bool add_queues(tl_counters *c, const tl_kernel *v, size_t n, tl_loads *loads)
{
    bool ok = true;
    for (size_t from = 0, to; ok && from < n; from = to) {
        for (to = from + 1; to < n && v[to].stream == v[from].stream; to++)
            ;
        loads->n = 0;
        ok = tl_queue_loads(v + from, to - from, loads) && add_counter(c, &v[from], TL_NO_NAME, loads);
    }
    return ok;
}

/* The copies of one device, by name. */
static bool add_copies(tl_counters *c, const tl_rank_view *view, const tl_kernel *v, size_t n, tl_loads *loads)
{
    tl_copy_order order = { 0 };
    bool ok = tl_copies_find(v, n, &order);
    for (size_t i = 0, same; ok && i < order.n; i += same) {
        const tl_kernel *first = &v[order.v[i]];
        same = tl_copies_of_name(v, order.v + i, order.n - i);
        loads->n = 0;
        ok = first->name == TL_NO_NAME ||
             (tl_copy_loads(view, v, order.v + i, same, loads) && add_counter(c, first, first->name, loads));
    }
    free(order.v);
    return ok;
}

bool tl_counters_find(tl_counters *c, const tl_rank_view *view)
{
    const tl_kernel *v = view->kernels;
    tl_loads loads = { 0 };
    bool ok = true;

    for (size_t from = 0, to; ok && from < view->nkernels; from = to) {
        for (to = from + 1; to < view->nkernels && v[to].device == v[from].device; to++)
            ;
        ok = add_queues(c, v + from, to - from, &loads) && add_copies(c, view, v + from, to - from, &loads);
    }
    free(loads.v);
    return ok;
}

void tl_counters_free(tl_counters *c)
{
    free(c->v.v);
    free(c->points.v);
    *c = (tl_counters){ 0 };
}

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
    if (text == NULL)
        return NULL;
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

tl_status tl_counters_put(const tl_counters *counters, tl_out_writer *w, const tl_out_process *p, const tl_names *names,
                          int64_t base_ns, tl_error *err)
{
    const tl_out_track track = tl_out_process_track(p, names);

    for (size_t i = 0; i < counters->v.n; i++) {
        const tl_counter *c = &counters->v.v[i];
        size_t n = 0;
        if (c->device != p->device)
            continue;
        char *name = name_of(c, p, names, &n);
        if (name == NULL)
            return tl_fail_memory(err, "the name of a counter");
        put_points(counters, c, w, &track, (tl_text){ name, n }, base_ns);
        free(name);
    }
    return TL_OK;
}
