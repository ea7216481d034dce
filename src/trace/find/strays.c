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

/* Recordings of one process are at least so far apart. */
#define BLINK_NS INT64_C(1000000000)

typedef struct placing {
    const tl_inventory *inventory;
    tl_common *runs;
    size_t nruns;
    int32_t njobs;
    tl_map groups, taken; /* taken: run and rank -> 0 */
    int64_t *next_free;   /* of each run: no smaller number is free */
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

static bool has_its_process(const placing *p, size_t run, const tl_input *t)
{
    for (size_t i = 0; i < p->inventory->inputs.n; i++) {
        const tl_input *other = &p->inventory->inputs.v[i];
        if (other != t && other->kind == TL_INPUT_TRACE && other->run == (int32_t)run && is_same_process(other, t))
            return true;
    }
    return false;
}

static bool fits(const placing *p, size_t run, const tl_input *t)
{
    const tl_common *c = &p->runs[run];
    return (c->world_size < 0 || (int64_t)c->n < c->world_size) && !tl_common_contradicts(c, &p->groups, t) &&
           !tl_common_is_far(c, t) && !has_its_process(p, run, t);
}

static bool place(placing *p, tl_input *t)
{
    size_t nearest = p->nruns;

    for (size_t k = 0; k < p->nruns; k++)
        if ((nearest == p->nruns || tl_common_distance(&p->runs[k], t) < tl_common_distance(&p->runs[nearest], t)) &&
            fits(p, k, t))
            nearest = k;
    if (nearest == p->nruns) {
        p->runs[p->nruns] = TL_COMMON(p->nruns);
        p->nruns++;
        t->job = p->njobs++;
    } else {
        t->job = -1; /* that of its run */
    }
    t->run = (int32_t)nearest;
    return tl_common_add(&p->runs[nearest], &p->groups, t);
}

static uint64_t place_of(const tl_input *t)
{
    return (uint64_t)t->run << 32 | (uint64_t)t->rank; /* ranks fit 32 bits */
}

static bool number(placing *p, tl_input *t)
{
    t->rank = p->next_free[t->run];
    while (tl_map_get(&p->taken, place_of(t)) != TL_MAP_NONE)
        t->rank++;
    p->next_free[t->run] = t->rank + 1;
    return true;
}

/* What the traces that know their rank say of their runs. */
static bool sum_up(placing *p)
{
    for (size_t k = 0; k < p->nruns; k++)
        p->runs[k] = TL_COMMON(k);
    for (size_t i = 0; i < p->inventory->inputs.n; i++) {
        const tl_input *t = &p->inventory->inputs.v[i];
        if (t->run < 0)
            continue;
        p->njobs = t->job >= p->njobs ? t->job + 1 : p->njobs;
        if (!tl_common_add(&p->runs[t->run], &p->groups, t) || tl_map_put(&p->taken, place_of(t), 0) != 0)
            return false;
    }
    return true;
}

bool tl_strays_place(tl_inventory *inventory, tl_input **unknown, size_t nunknown, size_t *nruns)
{
    placing p = { .inventory = inventory, .nruns = *nruns };
    tl_input **in_time = tl_calloc(nunknown + 1, sizeof(tl_input *));
    p.runs = tl_calloc(*nruns + nunknown + 1, sizeof *p.runs);
    p.next_free = tl_calloc(*nruns + nunknown + 1, sizeof *p.next_free);
    bool fine = in_time != NULL && p.runs != NULL && p.next_free != NULL && sum_up(&p);

    if (fine && nunknown > 0) {
        memcpy(in_time, unknown, nunknown * sizeof(tl_input *));
        qsort(in_time, nunknown, sizeof(tl_input *), by_time);
    }
    for (size_t i = 0; fine && i < nunknown; i++)
        fine = place(&p, in_time[i]);
    for (size_t i = 0; fine && i < nunknown; i++)
        fine = number(&p, unknown[i]);
    *nruns = p.nruns;
    free(in_time);
    free(p.runs);
    free(p.next_free);
    tl_map_free(&p.groups);
    tl_map_free(&p.taken);
    return fine;
}
