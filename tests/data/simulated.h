/* simulated.h - jobs to simulate, and the events of a rank, kept; for the tests of the simulator. */
#ifndef TLMPI_TESTS_SIMULATED_H
#define TLMPI_TESTS_SIMULATED_H

#include "chance.h"
#include "cost.h"
#include "rank.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static inline struct job usual(int ranks, int tp, int pp, int ep)
{
    return (struct job){
        .ranks = ranks,
        .tp = tp,
        .pp = pp,
        .ep = ep,
        .host_ranks = 4,
        .warmup = 1,
        .steps = 4,
        .first_step = 10,
        .sync_every = 1,
        .layers = 2,
        .bucket_layers = 1,
        .scale_percent = 100,
        .microbatches = pp > 1 ? 2 * pp : 1,
        .seed = 7,
        .age = AGE_2026,
        .sync_events = true,
        .ops = 2,
        .noise = { .jitter_percent = 4, .spread_per_mille = 3, .hiccups_per_mille = 10, .imbalance_percent = 20 },
        .fault = { .rank = -1, .peer = -1, .site = -1, .nranks = 1, .from = 10, .to = 13 }
    };
}

static inline struct job quiet(int ranks, int tp, int pp, int ep)
{
    struct job job = usual(ranks, tp, pp, ep);
    job.noise = (struct noise){ 0 };
    return job;
}

static inline struct job faulty(struct job job, enum cause cause, int rank, int64_t ns)
{
    job.fault.cause = cause;
    job.fault.rank = rank;
    job.fault.ns = ns;
    return job;
}

enum { NJOBS = 12 };

/* One of each kind. */
static inline struct job job_number(int i)
{
    struct job job;

    switch (i) {
    case 0:
        return usual(4, 1, 1, 1);
    case 1:
        return usual(1, 1, 1, 1);
    case 2:
        return usual(8, 4, 1, 1);
    case 3:
        return usual(8, 1, 4, 1);
    case 4:
        return usual(8, 1, 1, 4);
    case 5:
        return usual(16, 2, 2, 2);
    case 6:
        job = usual(8, 2, 1, 1);
        job.shard = true;
        job.layers = 5;
        return job;
    case 7:
        job = usual(6, 1, 6, 1);
        job.microbatches = 2;
        job.batched_p2p = true;
        return job;
    case 8:
        job = usual(4, 2, 2, 1);
        job.tp_on_compute = true;
        job.vendor = VENDOR_ROCM;
        return job;
    case 9:
        job = usual(4, 1, 1, 1);
        job.sync_every = 0;
        job.scale_percent = 20;
        return job;
    case 10:
        job = faulty(usual(8, 2, 2, 1), CAUSE_ALLOCATOR, 3, 2 * MS);
        return job;
    default:
        job = faulty(usual(4, 1, 1, 2), CAUSE_SYNC_DRAIN, 1, MS);
        job.fault.style = STYLE_DEVICE_SYNC;
        return job;
    }
}

struct run {
    struct event *v;
    size_t n, cap;
    struct collective *collectives; /* by event */
    bool failed;
};

static inline void keep(void *arg, const struct event *event)
{
    struct run *run = arg;

    if (run->n == run->cap) {
        run->cap = run->cap == 0 ? 1024 : 2 * run->cap;
        run->v = realloc(run->v, run->cap * sizeof *run->v);
        run->collectives = realloc(run->collectives, run->cap * sizeof *run->collectives);
        if (run->v == NULL || run->collectives == NULL)
            abort();
    }
    if (event->collective != NULL)
        run->collectives[run->n] = *event->collective;
    run->v[run->n++] = *event;
}

static inline void run_free(struct run *run)
{
    free(run->v);
    free(run->collectives);
    *run = (struct run){ 0 };
}

static inline bool of_device(const struct event *e)
{
    return e->kind == EVENT_KERNEL || e->kind == EVENT_COPY || e->kind == EVENT_SET;
}

#endif
