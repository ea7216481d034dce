/* sim.c - the ranks together: when does the last of each group come? */
#include "rank.h"
#include <stdlib.h>
#include <string.h>

int sim_stream(enum vendor vendor, int slot)
{
    static const int streams[2][NSLOTS] = { { 7, 20, 24, 28, 32, 36, 40 }, { 0, 4, 5, 6, 7, 8, 9 } };
    return slot < 0 ? -1 : streams[vendor][slot];
}

const struct job *sim_job(const struct sim *sim)
{
    return &sim->job;
}

/* Ranks go as far as they can, in turn, until all have come to their end. */
static bool run_together(struct sim *sim)
{
    size_t nranks = (size_t)sim->job.ranks, running = nranks;
    struct rank *ranks = calloc(nranks, sizeof *ranks);
    struct crowd *crowd = crowd_new(sim);
    bool ok = ranks != NULL && crowd != NULL;

    for (size_t i = 0; ok && i < nranks; i++)
        ranks[i] = rank_start(sim, (int)i, crowd);
    while (ok && running > 0) {
        size_t known = crowd_known(crowd), before = running;
        for (size_t i = 0; i < nranks; i++) {
            struct rank *r = &ranks[i];
            while (r->step < all_steps(&sim->job) && rank_run_step(r))
                if (r->step == all_steps(&sim->job))
                    running--;
            ok = ok && !r->failed;
        }
        /* Each waits for another: the programs do not fit together. */
        ok = ok && (crowd_known(crowd) > known || running < before);
    }
    free(ranks);
    crowd_free(crowd);
    return ok;
}

/* A place for each meeting: axis by axis, group by group, step by step. */
static bool number_meetings(struct sim *sim)
{
    const struct job *job = &sim->job;

    for (int axis = 0; axis < NAXES; axis++) {
        for (int stage = 0; stage < job->pp; stage++)
            if (sim->programs[stage].nmet[axis] > sim->per_step[axis])
                sim->per_step[axis] = sim->programs[stage].nmet[axis];
        sim->base[axis] = sim->nmeetings;
        if (axis != AXIS_PREV)
            sim->nmeetings +=
                (size_t)groups_of(job, (enum axis)axis) * (size_t)all_steps(job) * (size_t)sim->per_step[axis];
    }
    sim->last_ns = malloc((sim->nmeetings + 1) * sizeof *sim->last_ns);
    for (size_t i = 0; sim->last_ns != NULL && i < sim->nmeetings; i++)
        sim->last_ns[i] = TIME_UNKNOWN;
    return sim->last_ns != NULL;
}

struct sim *sim_new(const struct job *job)
{
    struct sim *sim = calloc(1, sizeof *sim);
    if (sim == NULL)
        return NULL;
    sim->job = *job;
    sim->programs = calloc((size_t)job->pp, sizeof *sim->programs);
    bool ok = sim->programs != NULL;
    for (int i = 0; ok && i < job->pp; i++)
        ok = program_make(&sim->programs[i], job, i);
    if (ok)
        damage_find(sim);
    if (ok && number_meetings(sim) && run_together(sim))
        return sim;
    sim_free(sim);
    return NULL;
}

void sim_free(struct sim *sim)
{
    if (sim == NULL)
        return;
    for (int i = 0; sim->programs != NULL && i < sim->job.pp; i++)
        program_free(&sim->programs[i]);
    free(sim->programs);
    free(sim->last_ns);
    free(sim);
}

void sim_run(const struct sim *sim, int rank, event_sink *sink, void *arg)
{
    struct rank r = rank_start(sim, rank, NULL);
    r.sink = sink;
    r.arg = arg;
    r.ops_owed = r.frames_owed = 0;
    while (r.step < all_steps(&sim->job)) {
        int64_t start = r.now_ns, number = r.frame + 1;
        rank_run_step(&r);
        rank_emit(&r, &(struct event){ .kind = EVENT_FRAME,
                                       .name = "train.py(118): train_step",
                                       .number = -1,
                                       .other = -1,
                                       .start_ns = start,
                                       .end_ns = r.now_ns,
                                       .external = number });
    }
    rank_stop(&r);
}

struct window sim_window(const struct sim *sim, int rank)
{
    const struct job *job = &sim->job;
    uint64_t head = seeded(job->seed, USE_CUT_HEAD, (uint64_t)rank),
             tail = seeded(job->seed, USE_CUT_TAIL, (uint64_t)rank);
    struct rank r = rank_start(sim, rank, NULL);

    while (r.step < all_steps(job))
        rank_run_step(&r);
    int64_t end = r.now_ns;
    rank_stop(&r);
    struct window window = { r.start_ns - 30 * US, r.now_ns };
    window.start_ns += (int64_t)(head % (uint64_t)(job->cut.head_ns + 1));
    if (job->cut.tail_ns > 0)
        window.end_ns = end - (int64_t)(tail % (uint64_t)(job->cut.tail_ns + 1));
    return window;
}

void sim_step_ends(const struct sim *sim, int64_t *ends_ns)
{
    memset(ends_ns, 0, (size_t)all_steps(&sim->job) * sizeof *ends_ns);
    for (int rank = 0; rank < sim->job.ranks; rank++) {
        struct rank r = rank_start(sim, rank, NULL);
        while (r.step < all_steps(&sim->job)) {
            int64_t *end = &ends_ns[r.step];
            rank_run_step(&r);
            *end = later(*end, rank_idle_ns(&r));
        }
    }
}
