/* strays.c - traces that do not know their rank.
 *
 * Each is of the run that it fits: nothing it says contradicts that, it is of its time, it is no second recording of a
 * process that the run has, and there is a number below the world size left.  Of several it is the nearest in time; the
 * first that fits none begins a run of its own, which others may fit.
 */
#include "decide.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>
#include <string.h>

/* Least time between the begins of two recordings of one process, in ns. */
#define BLINK_NS INT64_C(1000000000)

typedef struct placing {
    const tl_inventory *inventory;
    tl_common *runs;
    int32_t *job; /* of each run */
    size_t nruns;
    int32_t njobs;
    tl_map groups;
    tl_map taken;       /* run and rank -> 0 */
    tl_map processes;   /* run and process id -> its input */
    int64_t *next_free; /* of each run: no smaller number is free */
} placing;

static int by_time(const void *a, const void *b)
{
    const tl_input *x = *(tl_input *const *)a, *y = *(tl_input *const *)b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Containers number their processes alike, so those of several hosts that begin together are not one. */
static bool is_same_process(const tl_input *a, const tl_input *b)
{
    int64_t apart = a->begin_ns < b->begin_ns ? b->begin_ns - a->begin_ns : a->begin_ns - b->begin_ns;

    if (a->origin.pid == 0 || a->origin.pid != b->origin.pid || !tl_input_is_timed(a) || !tl_input_is_timed(b))
        return false;
    if (a->origin.host[0] != 0 && b->origin.host[0] != 0 && strcmp(a->origin.host, b->origin.host) != 0)
        return false;
    return apart >= BLINK_NS;
}

static uint64_t process_of(size_t run, const tl_input *t)
{
    return tl_hash_mix(tl_hash_mix(2, run), (uint64_t)t->origin.pid);
}

/* Whether the run has another recording of the process: of several with its number the last that joined is asked. */
static bool has_its_process(const placing *p, size_t run, const tl_input *t)
{
    uint32_t at = tl_map_get(&p->processes, process_of(run, t));
    return at != TL_MAP_NONE && is_same_process(&p->inventory->inputs.v[at], t);
}

/* Counts t among the traces of its run. */
static void join(placing *p, const tl_input *t)
{
    tl_common_add(&p->runs[t->run], &p->groups, t);
    if (t->origin.pid != 0)
        tl_map_put(&p->processes, process_of((size_t)t->run, t), (uint32_t)(t - p->inventory->inputs.v));
}

/* Whether the run may hold t.  A pipe fits any run: the user named it, and its content is still unknown. */
static bool fits(const placing *p, size_t run, const tl_input *t)
{
    const tl_common *c = &p->runs[run];
    if (t->pipe)
        return true;
    return (c->world_size < 0 || (int64_t)c->n < c->world_size) && !tl_common_contradicts(c, &p->groups, t) &&
           !tl_common_is_far(c, t) && !has_its_process(p, run, t);
}

/* The job of a run that t begins: that of a run of its time which has another recording of its process, else a new
 * one. */
static int32_t job_of(placing *p, const tl_input *t)
{
    for (size_t k = 0; k < p->nruns; k++)
        if (!tl_common_contradicts(&p->runs[k], &p->groups, t) && !tl_common_is_far(&p->runs[k], t) &&
            has_its_process(p, k, t))
            return p->job[k];
    return p->njobs++;
}

static void place(placing *p, tl_input *t)
{
    size_t nearest = p->nruns;

    for (size_t k = 0; k < p->nruns; k++)
        if ((nearest == p->nruns || tl_common_distance(&p->runs[k], t) < tl_common_distance(&p->runs[nearest], t)) &&
            fits(p, k, t))
            nearest = k;
    if (nearest == p->nruns) {
        p->job[nearest] = job_of(p, t);
        p->runs[p->nruns++] = TL_COMMON(nearest);
    }
    t->run = (int32_t)nearest;
    t->job = p->job[nearest];
    join(p, t);
}

static uint64_t place_of(const tl_input *t)
{
    return (uint64_t)t->run << 32 | (uint64_t)t->rank; /* ranks fit 32 bits */
}

/* By run, then pipes after files: pipes in the order named, files by name. */
static int by_run_and_name(const void *a, const void *b)
{
    const tl_input *x = *(tl_input *const *)a, *y = *(tl_input *const *)b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->pipe != y->pipe)
        return x->pipe - y->pipe;
    return x->pipe ? TL_COMPARE(x, y) : tl_compare_names(x->path, y->path);
}

static void number_in_order(placing *p, tl_input *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tl_input *t = v[i];
        t->rank = p->next_free[t->run];
        while (tl_map_get(&p->taken, place_of(t)) != TL_MAP_NONE)
            t->rank++;
        p->next_free[t->run] = t->rank + 1;
    }
}

/* Whether each of these ranks is possible in the run, and taken by no trace of it. */
static bool are_free(const placing *p, int32_t run, const int64_t *ranks, size_t n)
{
    int64_t world_size = p->runs[run].world_size;
    for (size_t i = 0; i < n; i++)
        if ((world_size >= 0 && ranks[i] >= world_size) ||
            tl_map_get(&p->taken, (uint64_t)run << 32 | (uint64_t)ranks[i]) != TL_MAP_NONE)
            return false;
    return true;
}

/* v: traces of one run, in order. */
static void number(placing *p, tl_input *const *v, size_t n)
{
    int64_t *ranks = tl_calloc(n + 1, sizeof *ranks);
    bool told = false;
    tl_order_by_axes(v, n, ranks, &told);

    if (told && are_free(p, v[0]->run, ranks, n)) {
        for (size_t i = 0; i < n; i++) {
            v[i]->rank = ranks[i];
            v[i]->rank_source = TL_RANK_NAME;
        }
    } else {
        number_in_order(p, v, n);
    }
    free(ranks);
}

/* What the traces that know their rank say of their runs. */
static void sum_up(placing *p)
{
    for (size_t k = 0; k < p->nruns; k++)
        p->runs[k] = TL_COMMON(k);
    for (size_t i = 0; i < p->inventory->inputs.n; i++) {
        const tl_input *t = &p->inventory->inputs.v[i];
        if (t->run < 0)
            continue;
        p->njobs = t->job >= p->njobs ? t->job + 1 : p->njobs;
        p->job[t->run] = t->job;
        join(p, t);
        tl_map_put(&p->taken, place_of(t), 0);
    }
}

void tl_strays_place(tl_inventory *inventory, tl_input **unknown, size_t nunknown, size_t *nruns)
{
    placing p = { .inventory = inventory, .nruns = *nruns };
    tl_input **in_time = tl_calloc(nunknown + 1, sizeof(tl_input *));
    p.runs = tl_calloc(*nruns + nunknown + 1, sizeof *p.runs);
    p.job = tl_calloc(*nruns + nunknown + 1, sizeof *p.job);
    p.next_free = tl_calloc(*nruns + nunknown + 1, sizeof *p.next_free);
    sum_up(&p);

    if (nunknown > 0) {
        memcpy(in_time, unknown, nunknown * sizeof(tl_input *));
        qsort(in_time, nunknown, sizeof(tl_input *), by_time);
    }
    for (size_t i = 0; i < nunknown; i++)
        place(&p, in_time[i]);
    if (nunknown > 0)
        qsort(unknown, nunknown, sizeof(tl_input *), by_run_and_name);
    for (size_t from = 0, to; from < nunknown; from = to) {
        for (to = from + 1; to < nunknown && unknown[to]->run == unknown[from]->run; to++)
            ;
        number(&p, unknown + from, to - from);
    }
    *nruns = p.nruns;
    free(in_time);
    free(p.runs);
    free(p.job);
    free(p.next_free);
    tl_map_free(&p.groups);
    tl_map_free(&p.taken);
    tl_map_free(&p.processes);
}
