/* rank.c - a rank carries out its program. */
#include "rank.h"

/* Hosts stop for a moment now and then.  Where the device has enough to do meanwhile, it may be a longer one. */
static void maybe_hiccup(struct rank *r)
{
    const struct job *job = &r->sim->job;
    uint64_t lot = draw(&r->random), when = draw(&r->random), length = draw(&r->random);

    r->hiccup_site =
        lot % 1000 < (uint64_t)job->noise.hiccups_per_mille ? (int)(when % (uint64_t)r->program->sites) : -1;
    r->hiccup_ns = r->program->kernel_ns * (int64_t)(length % 1024) / 1024 / 20; /* up to 5 % of a step */
}

static void hiccup(struct rank *r, int site)
{
    if (site != r->hiccup_site)
        return;
    bool hidden = r->free_ns[SLOT_COMPUTE] - r->now_ns > 2 * r->hiccup_ns;
    r->now_ns += hidden ? r->hiccup_ns : r->hiccup_ns / 10;
}

static void begin_step(struct rank *r)
{
    const struct job *job = &r->sim->job;
    uint64_t which = (uint64_t)r->rank << 32 | (uint64_t)r->step;

    r->random = seeded(job->seed, USE_STEP, which);
    r->mishap = seeded(job->seed, USE_MISHAP, which);
    maybe_hiccup(r);
    if (r->step == job->warmup)
        r->start_ns = r->now_ns;
    r->step_frame = ++r->frame;
    mark_open(r, "ProfilerStep#", step_number(job, r->step));
}

static void load(struct rank *r)
{
    const struct job *job = &r->sim->job;
    int64_t start = r->now_ns, percent = 6 * job->noise.jitter_percent;

    r->now_ns += around(&r->random, 300 * US, percent < 60 ? percent : 60);
    if (job->fault.cause == CAUSE_INPUT)
        r->now_ns += fault_ns(job, r->rank, r->step);
    if (job->frames > 0) {
        emit_frame(r, "torch/utils/data/dataloader.py(733): __next__", -1, start, r->now_ns, r->step_frame);
        emit_frame(r, "<method 'acquire' of '_thread.lock' objects>", -1, start + 5 * US, r->now_ns - 5 * US, r->frame);
    }
}

static void launch_shape(struct rank *r, const struct instruction *what)
{
    const struct job *job = &r->sim->job;
    int64_t ns = device_ns(job, r->rank, kernel_mean_ns(job, what->shape));
    int64_t larger = fault_larger_ppm(r, what->shape);

    if (what->shape->weight == EXPERT && what->number >= 0)
        larger += tokens_ppm(r->sim, r->rank, r->step, what->number) - 1000000;
    launch(r, what->shape, ns + ns / 1000 * (larger + fault_slower_ppm(r, what)) / 1000, larger);
}

static bool reads_loss(const struct job *job, int step)
{
    return job->sync_every > 0 && (step + 1) % job->sync_every == 0;
}

/* False: to be done again when more is known. */
static bool carry_out(struct rank *r, const struct instruction *what)
{
    switch (what->action) {
    case DO_STEP_BEGIN:
        begin_step(r);
        break;
    case DO_MARK:
        mark_open(r, what->text, what->number);
        break;
    case DO_END:
        mark_close(r);
        break;
    case DO_LOAD:
        load(r);
        break;
    case DO_COPY_IN:
        copy_in(r);
        break;
    case DO_CLEAR:
        clear(r);
        break;
    case DO_SITE:
        if (!fault_at_site(r, what->number))
            return false;
        hiccup(r, what->number);
        break;
    case DO_LAUNCH:
        launch_shape(r, what);
        break;
    case DO_THREAD:
        r->thread = what->number;
        r->now_ns += 15 * US;
        break;
    case DO_MEET:
        take_part(r, what);
        break;
    case DO_JOIN:
        return take_leave(r, what->axis, what->number);
    case DO_READ_COUNTS:
        read_number(r, "aten::_to_copy", 512);
        break;
    case DO_EVENT:
        call(r, "cudaEventRecord", "hipEventRecord", NULL, US);
        r->events_ns[what->number] = r->free_ns[SLOT_COMPUTE];
        break;
    case DO_AWAIT_EVENT:
        waiting_call(r, "cudaEventSynchronize", "hipEventSynchronize", NULL, -1, r->events_ns[what->number]);
        break;
    case DO_READ_LOSS:
        if (reads_loss(&r->sim->job, r->step))
            read_number(r, "aten::_local_scalar_dense", 4);
        break;
    }
    return true;
}

bool rank_run_step(struct rank *r)
{
    for (; r->at < r->program->n; r->at++)
        if (!carry_out(r, &r->program->v[r->at]))
            return false;
    r->at = 0;
    r->step++;
    r->now_ns += 40 * US;
    return true;
}

int64_t rank_idle_ns(const struct rank *r)
{
    int64_t ns = r->now_ns;
    for (int i = 0; i < NSLOTS; i++)
        ns = later(ns, r->free_ns[i]);
    return ns;
}

void rank_stop(struct rank *r)
{
    r->external++;
    waiting_call(r, "cudaDeviceSynchronize", "hipDeviceSynchronize", "Context Sync", -1, rank_idle_ns(r));
}

struct rank rank_start(const struct sim *sim, int number, struct crowd *crowd)
{
    struct rank r = { .sim = sim,
                      .crowd = crowd,
                      .rank = number,
                      .program = &sim->programs[stage_of(&sim->job, number)],
                      .correlation = 1000 };
    r.now_ns =
        JOB_START_NS + 50 * MS + (int64_t)(seeded(sim->job.seed, USE_START, (uint64_t)number) % (uint64_t)(200 * US));
    return r;
}
