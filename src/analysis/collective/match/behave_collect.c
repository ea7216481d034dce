/* behave_collect.c - samples kernels of each unknown name, the same ones on all ranks. */
#include "tlmpi/analysis/collective/match/behave.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* The kernels of one name. */
typedef struct use {
    int64_t time_ns;    /* sum of their durations */
    uint32_t n;         /* number of kernels of the rank */
    size_t stream;      /* first kernel of the last stream with the name */
    uint32_t on_stream; /* number of kernels on it */
    int32_t streams;    /* number of streams with the name, up to that one */
    bool chosen;
} use;

typedef struct collecting {
    const tl_rank_view *view;
    use *of_name;         /* by id of the name */
    TL_VEC(int64_t) ends; /* ends of kernels that communicate by their name, ascending */
    tl_map counters;      /* name, step and stream -> number of kernels up to now */
    tl_behaviours *out;
} collecting;

/* Whether the kernel may communicate: its name does not rule that out (names known to be arithmetic do, if other
 * kernels communicate by their name); and it is in a step and its launch was recorded, since ranks begin to record at
 * different moments. */
static bool is_counted(const collecting *c, const tl_kernel *k)
{
    const tl_rank_view *view = c->view;
    return k->kind == TL_COMPUTE && (k->collective == TL_COLL_UNKNOWN || c->ends.n == 0) && k->name != TL_NO_NAME &&
           (view->nsteps == 0 || k->step >= 0) && (view->nlaunches == 0 || k->launch != TL_NONE);
}

static bool is_sampled(const collecting *c, const tl_kernel *k)
{
    return is_counted(c, k) && c->of_name[k->name].chosen;
}

static int by_time(const void *arg, uint32_t a, uint32_t b)
{
    const collecting *c = arg;
    const use *x = &c->of_name[a], *y = &c->of_name[b];
    const uint64_t key = c->view->names->v[a].key, other_key = c->view->names->v[b].key;
    return x->time_ns != y->time_ns ? TL_COMPARE(y->time_ns, x->time_ns) : TL_COMPARE(key, other_key);
}

/* Chooses up to TL_SAMPLES names with the largest share of the rank's device time, TL_NOTHING_SHARE at least. */
static void choose_names(collecting *c)
{
    TL_VEC(uint32_t) order = { 0 };
    int64_t all_ns = 0;

    for (size_t i = 0; i < c->view->nkernels; i++) {
        const tl_kernel *k = &c->view->kernels[i];
        const int64_t ns = tl_ns_between(k->end_ns, k->start_ns);
        all_ns = tl_ns_sum(all_ns, ns);
        if (!is_counted(c, k))
            continue;
        c->of_name[k->name].time_ns = tl_ns_sum(c->of_name[k->name].time_ns, ns);
        c->of_name[k->name].n++;
    }
    for (uint32_t name = 0; name < c->view->names->n; name++) {
        const use *u = &c->of_name[name];
        if (u->n >= TL_PATTERN_LEAST && (double)u->time_ns >= TL_NOTHING_SHARE * (double)all_ns)
            tl_vec_push(&order, name);
    }
    tl_sort_index(order.v, order.n, by_time, c);
    for (size_t i = 0; i < order.n && i < (size_t)TL_SAMPLES; i++)
        c->of_name[order.v[i]].chosen = true;
    free(order.v);
}

/* Returns the time from which only the kernel itself determines its end: its start, the end of the kernel before it on
 * its stream (with programmatic launch it may start early), or the last end of communication, which may occupy the
 * device. */
static int64_t dependent_from(const collecting *c, const tl_kernel *k)
{
    int64_t begin_ns = k->start_ns;
    size_t low = 0;

    if (k > c->view->kernels && tl_same_stream(k - 1, k))
        begin_ns = tl_ns_max(begin_ns, tl_ns_min(k[-1].end_ns, k->end_ns));
    TL_BISECT(low, c->ends.n, mid, c->ends.v[mid] <= k->end_ns);
    return low > 0 ? tl_ns_max(begin_ns, c->ends.v[low - 1]) : begin_ns;
}

/* Whether the item is sampled: decided by a hash of the item, so that about TL_SAMPLES of n are. */
static bool is_drawn(uint64_t item, uint32_t n)
{
    const uint64_t wanted = (uint64_t)TL_SAMPLES;
    return n <= wanted || tl_hash_mix(item, 0) <= UINT64_MAX / n * wanted;
}

/* Adds sightings of the kernels [from, to) of one stream. */
static void add_sightings(collecting *c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const tl_kernel *k = &c->view->kernels[i];
        if (!is_sampled(c, k))
            continue;
        use *u = &c->of_name[k->name];
        if (u->streams == 0 || u->stream != from) {
            u->stream = from;
            u->streams++;
            u->on_stream = 0;
        }
        u->on_stream++;
    }
    for (size_t i = from; i < to; i++) {
        const tl_kernel *k = &c->view->kernels[i];
        if (!is_sampled(c, k))
            continue;
        const use *u = &c->of_name[k->name];
        const uint64_t key = c->view->names->v[k->name].key;
        const uint64_t counted = tl_hash_mix(tl_hash_mix(k->name, (uint64_t)k->step), (uint64_t)u->streams);
        const uint32_t nth = tl_map_count(&c->counters, counted);
        const uint64_t item = tl_hash_mix(tl_hash_mix(key, (uint64_t)k->step), nth);
        if (is_drawn(item, u->on_stream))
            tl_vec_push(c->out, (tl_behaviour){ key, item, k->start_ns, dependent_from(c, k), k->end_ns, c->view->rank,
                                                u->streams - 1 });
    }
}

void tl_behaviours_collect(const tl_rank_view *view, tl_behaviours *out)
{
    collecting c = { .view = view, .of_name = tl_calloc(view->names->n + 1, sizeof *c.of_name), .out = out };
    for (size_t i = 0; i < view->nkernels; i++)
        if (view->kernels[i].kind == TL_COMM)
            tl_vec_push(&c.ends, view->kernels[i].end_ns);
    tl_ns_sort(c.ends.v, c.ends.n);
    choose_names(&c);
    for (size_t from = 0, to; from < view->nkernels; from = to) {
        to = tl_stream_end(view, from);
        add_sightings(&c, from, to);
    }
    free(c.of_name);
    free(c.ends.v);
    tl_map_free(&c.counters);
}
