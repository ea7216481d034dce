/* collect.c - samples kernels of each unknown name, the same ones on all ranks. */
#include "tlmpi/analysis/behave.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* The kernels of one name; time_ns: the sum of their durations. */
typedef struct use {
    int64_t time_ns;
    uint64_t key;
    uint32_t n;         /* number of kernels of the rank */
    uint32_t on_stream; /* number of kernels on the current stream */
    int32_t streams;    /* number of streams with the name, up to the current one */
    bool chosen;
} use;

typedef struct collecting {
    const tl_rank_view *view;
    use *of_name;  /* by id of the name */
    int64_t *ends; /* [nends] ends of kernels that communicate by their name, ascending */
    size_t nends;
    tl_map counters; /* name, step and stream -> number of kernels up to now */
    tl_behaviours *out;
} collecting;

/* Whether the kernel's name does not rule out communication: names known to be arithmetic do, if other kernels
 * communicate by their name. */
static bool may_communicate(const collecting *c, const tl_kernel *k)
{
    return k->kind == TL_COMPUTE && (k->collective == TL_COLL_UNKNOWN || c->nends == 0) && k->name != TL_NO_NAME;
}

/* Whether the kernel is in a step and its launch was recorded: others differ between ranks, since ranks begin to record
 * at different moments. */
static bool is_counted(const collecting *c, const tl_kernel *k)
{
    const tl_rank_view *view = c->view;
    return may_communicate(c, k) && (view->nsteps == 0 || k->step >= 0) &&
           (view->nlaunches == 0 || k->launch != TL_NONE);
}

static int by_time(const void *uses, uint32_t a, uint32_t b)
{
    const use *x = (const use *)uses + a, *y = (const use *)uses + b;
    int order = TL_COMPARE(y->time_ns, x->time_ns);
    return order != 0 ? order : TL_COMPARE(x->key, y->key);
}

/* Sums the kernels by name, and all durations into *all_ns; returns whether some kernel may communicate. */
static bool sum_by_name(collecting *c, int64_t *all_ns)
{
    bool any = false;
    for (size_t i = 0; i < c->view->nkernels; i++) {
        const tl_kernel *k = &c->view->kernels[i];
        int64_t ns = tl_ns_between(k->end_ns, k->start_ns);
        *all_ns = tl_ns_sum(*all_ns, ns);
        if (!is_counted(c, k))
            continue;
        use *u = &c->of_name[k->name];
        u->time_ns = tl_ns_sum(u->time_ns, ns);
        u->n++;
        any = true;
    }
    return any;
}

/* Chooses up to TL_SAMPLES names with the largest share of all_ns, TL_NOTHING_SHARE at least; *any: one was
 * found. */
static void choose_names(collecting *c, int64_t all_ns, bool *any)
{
    uint32_t *order = tl_malloc((c->view->names->n + 1) * sizeof *order);
    size_t n = 0;

    for (uint32_t name = 0; name < c->view->names->n; name++) {
        use *u = &c->of_name[name];
        if (u->n < TL_PATTERN_LEAST || (double)u->time_ns < TL_NOTHING_SHARE * (double)all_ns)
            continue;
        tl_text text = tl_names_text(c->view->names, name);
        u->key = tl_hash_bytes(text.p, text.n);
        order[n++] = name;
    }
    tl_sort_index(order, n, by_time, c->of_name);
    *any = n > 0;
    for (size_t i = 0; i < n && i < (size_t)TL_SAMPLES; i++)
        c->of_name[order[i]].chosen = true;
    free(order);
}

static void list_comm_ends(collecting *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->view->nkernels; i++)
        n += c->view->kernels[i].kind == TL_COMM;
    c->ends = tl_malloc((n + 1) * sizeof *c->ends);
    for (size_t i = 0; i < c->view->nkernels; i++)
        if (c->view->kernels[i].kind == TL_COMM)
            c->ends[c->nends++] = c->view->kernels[i].end_ns;
    tl_ns_sort(c->ends, c->nends);
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
    TL_BISECT(low, c->nends, mid, c->ends[mid] <= k->end_ns);
    return low > 0 ? tl_ns_max(begin_ns, c->ends[low - 1]) : begin_ns;
}

/* Whether the item is sampled: decided by a hash of the item, so that about TL_SAMPLES of n are. */
static bool is_drawn(uint64_t item, uint32_t n)
{
    const uint64_t wanted = (uint64_t)TL_SAMPLES;
    return n <= wanted || tl_hash_mix(item, 0) <= UINT64_MAX / n * wanted;
}

static bool is_sampled(const collecting *c, const tl_kernel *k)
{
    return is_counted(c, k) && c->of_name[k->name].chosen;
}

static void add_sighting(collecting *c, const tl_kernel *k)
{
    const use *u = &c->of_name[k->name];
    uint64_t counted = tl_hash_mix(tl_hash_mix(k->name, (uint64_t)k->step), (uint64_t)u->streams);
    uint32_t nth = tl_map_get(&c->counters, counted);

    nth = nth == TL_MAP_NONE ? 0 : nth;
    tl_map_put(&c->counters, counted, nth + 1);
    uint64_t item = tl_hash_mix(tl_hash_mix(u->key, (uint64_t)k->step), nth);
    if (!is_drawn(item, u->on_stream))
        return;
    tl_vec_push(c->out, (tl_behaviour){ u->key, item, k->start_ns, dependent_from(c, k), k->end_ns, c->view->rank,
                                        u->streams - 1 });
}

/* Adds sightings of the kernels [from, to) of one stream. */
static void add_sightings_of_stream(collecting *c, size_t from, size_t to)
{
    const tl_kernel *v = c->view->kernels;

    for (size_t i = from; i < to; i++)
        if (is_sampled(c, &v[i]))
            c->of_name[v[i].name].on_stream = 0;
    for (size_t i = from; i < to; i++)
        if (is_sampled(c, &v[i]))
            c->of_name[v[i].name].streams += c->of_name[v[i].name].on_stream++ == 0;
    for (size_t i = from; i < to; i++)
        if (is_sampled(c, &v[i]))
            add_sighting(c, &v[i]);
}

void tl_behaviours_collect(const tl_rank_view *view, tl_behaviours *out)
{
    collecting c = { .view = view, .out = out };
    int64_t all_ns = 0;
    bool any = false;

    c.of_name = tl_calloc(view->names->n + 1, sizeof *c.of_name);
    list_comm_ends(&c);
    if (sum_by_name(&c, &all_ns))
        choose_names(&c, all_ns, &any);
    for (size_t from = 0, to; any && from < view->nkernels; from = to) {
        to = tl_stream_end(view, from);
        add_sightings_of_stream(&c, from, to);
    }
    free(c.of_name);
    free(c.ends);
    tl_map_free(&c.counters);
}
