/* unknown_ranks.c - assigns traces without a rank to runs.
 *
 * A trace fits a run if it does not contradict the run, begins at about the same time, is not a second recording of a
 * process of the run, and a number below the world size is free.  Of several such runs the nearest in time is taken; a
 * trace that fits none begins a run of its own, which later traces may fit.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"

typedef struct assigning {
    const tl_inventory *inventory;
    tl_commons runs;
    int32_t *job; /* by run */
    int32_t njobs;
    tl_map taken;       /* run and rank -> 0 */
    tl_map processes;   /* run and process id -> its input */
    int64_t *next_free; /* by run: no smaller number is free */
} assigning;

static uint64_t process_of(size_t run, const tl_input *t)
{
    return tl_hash_mix(tl_hash_mix(2, run), (uint64_t)t->origin.pid);
}

/* Whether the run has another recording of the trace's process, compared with the last one that joined under its
 * process id.  Containers use the same process ids, so traces of several hosts that begin together are different
 * processes. */
static bool has_its_process(const assigning *p, size_t run, const tl_input *t)
{
    uint32_t at = tl_map_get(&p->processes, process_of(run, t));
    const tl_input *other = at != TL_MAP_NONE ? &p->inventory->inputs.v[at] : NULL;

    if (other == NULL || t->origin.pid == 0 || !tl_input_is_timed(other) || !tl_input_is_timed(t))
        return false;
    if (other->origin.host[0] != 0 && t->origin.host[0] != 0 && strcmp(other->origin.host, t->origin.host) != 0)
        return false;
    return tl_ns_max(other->begin_ns, t->begin_ns) - tl_ns_min(other->begin_ns, t->begin_ns) >= TL_BLINK_NS;
}

/* Adds t to the traces of its run. */
static void add_to_run(assigning *p, const tl_input *t)
{
    tl_commons_add(&p->runs, (size_t)t->run, t);
    if (t->origin.pid != 0)
        tl_map_put(&p->processes, process_of((size_t)t->run, t), (uint32_t)(t - p->inventory->inputs.v));
}

/* Whether the run may contain t.  A pipe fits any run: the user named it, and its content is unknown. */
static bool fits_run(const assigning *p, size_t run, const tl_input *t)
{
    const tl_common *c = &p->runs.v.v[run];
    return t->pipe ||
           ((c->world_size < 0 || (int64_t)c->n < c->world_size) && !tl_commons_contradict(&p->runs, run, t) &&
            !tl_common_is_far(c, t) && !has_its_process(p, run, t));
}

/* Returns the job of a new run that begins with t: that of a run of the same time with another recording of its
 * process, else a new one. */
static int32_t job_of(assigning *p, const tl_input *t)
{
    for (size_t k = 0; k < p->runs.v.n; k++)
        if (!tl_commons_contradict(&p->runs, k, t) && !tl_common_is_far(&p->runs.v.v[k], t) && has_its_process(p, k, t))
            return p->job[k];
    return p->njobs++;
}

static void assign_run(assigning *p, tl_input *t)
{
    const tl_common *runs = p->runs.v.v;
    size_t nearest = SIZE_MAX;

    for (size_t k = 0; k < p->runs.v.n; k++)
        if ((nearest == SIZE_MAX || tl_common_distance(&runs[k], t) < tl_common_distance(&runs[nearest], t)) &&
            fits_run(p, k, t))
            nearest = k;
    if (nearest == SIZE_MAX) {
        int32_t job = job_of(p, t);
        nearest = tl_commons_new(&p->runs);
        p->job[nearest] = job;
    }
    t->run = (int32_t)nearest;
    t->job = p->job[nearest];
    add_to_run(p, t);
}

/* Order: run, then files by name, then pipes as named. */
static int by_run_and_name(const void *a, const void *b)
{
    const tl_input *x = *(tl_input *const *)a, *y = *(tl_input *const *)b;
    if (x->run != y->run || x->pipe != y->pipe)
        return TL_ORDER(x, y, run, pipe);
    return x->pipe ? TL_COMPARE(x, y) : tl_compare_names(x->path, y->path);
}

/* Numbers the traces of one run, in order: by the coordinates in their names if these are all valid in the run and
 * free; else by the next free numbers. */
static void assign_ranks(assigning *p, tl_input *const *v, size_t n)
{
    int64_t *ranks = tl_calloc(n + 1, sizeof *ranks), *next = &p->next_free[v[0]->run];
    int64_t world_size = p->runs.v.v[v[0]->run].world_size;
    bool told = tl_order_by_axes(v, n, ranks);

    for (size_t i = 0; told && i < n; i++)
        told = (world_size < 0 || ranks[i] < world_size) &&
               tl_map_get(&p->taken, tl_run_rank_key(v[0]->run, ranks[i])) == TL_MAP_NONE;
    for (size_t i = 0; i < n; i++) {
        while (!told && tl_map_get(&p->taken, tl_run_rank_key(v[0]->run, *next)) != TL_MAP_NONE)
            (*next)++;
        v[i]->rank = told ? ranks[i] : (*next)++;
        v[i]->rank_source = told ? TL_RANK_NAME : TL_RANK_ORDER;
    }
    free(ranks);
}

void tl_unknown_ranks_assign(tl_inventory *inventory, tl_input **unknown, size_t nunknown, size_t *nruns)
{
    assigning p = { .inventory = inventory };

    p.job = tl_calloc(*nruns + nunknown + 1, sizeof *p.job);
    p.next_free = tl_calloc(*nruns + nunknown + 1, sizeof *p.next_free);
    while (p.runs.v.n < *nruns)
        (void)tl_commons_new(&p.runs);
    TL_EACH (const tl_input, t, inventory->inputs) {
        if (t->run < 0)
            continue;
        p.njobs = t->job >= p.njobs ? t->job + 1 : p.njobs;
        p.job[t->run] = t->job;
        add_to_run(&p, t);
        tl_map_put(&p.taken, tl_run_rank_key(t->run, t->rank), 0);
    }
    if (nunknown > 0)
        qsort(unknown, nunknown, sizeof(tl_input *), tl_by_job_and_time);
    for (size_t i = 0; i < nunknown; i++)
        assign_run(&p, unknown[i]);
    if (nunknown > 0)
        qsort(unknown, nunknown, sizeof(tl_input *), by_run_and_name);
    for (size_t from = 0, to; from < nunknown; from = to) {
        for (to = from + 1; to < nunknown && unknown[to]->run == unknown[from]->run; to++)
            ;
        assign_ranks(&p, unknown + from, to - from);
    }
    *nruns = p.runs.v.n;
    free(p.job);
    free(p.next_free);
    tl_map_free(&p.taken);
    tl_map_free(&p.processes);
    tl_commons_free(&p.runs);
}
