/* sim.c - the ranks together: when does each all-reduce end? */
#include "rank.h"
#include <stdlib.h>

#define LINK_BYTES_PER_US 150000        /* what an all-reduce moves, ring factor included */

int sim_stream(enum vendor vendor, bool comm)
{
    if (vendor == VENDOR_ROCM)
        return comm ? 4 : 0;
    return comm ? 20 : 7;
}

/* How long the data of an all-reduce takes once every rank is there. */
static int64_t transfer_ns(const struct sim *sim, size_t number)
{
    int64_t bytes = 2 * collective_of(sim, number).elements, n = sim->job.ranks;
    int64_t ns = n > 1 ? 2 * (n - 1) * bytes / n * US / LINK_BYTES_PER_US : 2 * US;
    return 8 * US + ns + (int64_t)(seeded(sim->job.seed, 2, number) % 1000) * ns / 20000;
}

/* When all ranks have come to where they wait, the all-reduces of the step follow from one another. */
static void find_ends(struct sim *sim, int64_t *ready_ns)
{
    for (int bucket = 0; bucket < sim->program.buckets; bucket++) {
        size_t number = sim->known++;
        int64_t free_ns = number > 0 ? sim->ends[number - 1] + US : 0;
        sim->ends[number] = later(ready_ns[bucket], free_ns) + transfer_ns(sim, number);
        ready_ns[bucket] = 0;
    }
}

static bool run_together(struct sim *sim)
{
    size_t nranks = (size_t)sim->job.ranks;
    struct rank *ranks = calloc(nranks, sizeof *ranks);
    int64_t *ready_ns = calloc((size_t)sim->program.buckets, sizeof *ready_ns);
    bool ok = ranks != NULL && ready_ns != NULL;

    for (size_t i = 0; ok && i < nranks; i++) {
        ranks[i] = rank_start(sim, (int)i);
        ranks[i].ready_ns = ready_ns;
    }
    for (int step = 0; ok && step < sim->job.steps; step++) {
        for (size_t i = 0; i < nranks; i++)
            rank_run_step(&ranks[i]);
        find_ends(sim, ready_ns);
        for (size_t i = 0; i < nranks; i++)
            rank_run_step(&ranks[i]);
    }
    free(ranks);
    free(ready_ns);
    return ok;
}

struct sim *sim_new(const struct job *job)
{
    struct sim *sim = calloc(1, sizeof *sim);
    if (sim == NULL)
        return NULL;
    sim->job = *job;
    if (program_make(&sim->program, job)) {
        sim->ends = calloc((size_t)job->steps * (size_t)sim->program.buckets, sizeof *sim->ends);
        if (sim->ends != NULL && run_together(sim))
            return sim;
    }
    sim_free(sim);
    return NULL;
}

void sim_free(struct sim *sim)
{
    if (sim == NULL)
        return;
    program_free(&sim->program);
    free(sim->ends);
    free(sim);
}

void sim_run(const struct sim *sim, int rank, event_sink *sink, void *arg, struct window *window)
{
    struct rank r = rank_start(sim, rank);
    r.sink = sink;
    r.arg = arg;
    window->start_ns = r.now_ns;
    while (r.step < sim->job.steps) {
        int64_t start = r.now_ns, number = r.frame + 1;
        rank_run_step(&r);
        rank_emit(&r, &(struct event){ .kind = EVENT_FRAME,
                                       .name = "train.py(118): train_step",
                                       .number = -1,
                                       .start_ns = start,
                                       .end_ns = r.now_ns,
                                       .external = number });
    }
    window->end_ns = r.now_ns;
}
