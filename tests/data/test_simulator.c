/* test_simulator.c - hosts, devices and ranks of the simulator do what real ones can do, and faults cost what they
 * cost. */
#include "chance.h"
#include "cost.h"
#include "rank.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static struct job usual(int ranks, int tp, int pp, int ep)
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

static struct job quiet(int ranks, int tp, int pp, int ep)
{
    struct job job = usual(ranks, tp, pp, ep);
    job.noise = (struct noise){ 0 };
    return job;
}

static struct job faulty(struct job job, enum cause cause, int rank, int64_t ns)
{
    job.fault.cause = cause;
    job.fault.rank = rank;
    job.fault.ns = ns;
    return job;
}

enum { NJOBS = 12 };

/* One of each kind. */
static struct job job_number(int i)
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

/* --- what a rank does --------------------------------------------------------------------------------------------- */

struct run {
    struct event *v;
    size_t n, cap;
    struct collective *collectives; /* by event */
    bool failed;
};

static void keep(void *arg, const struct event *event)
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

static void run_free(struct run *run)
{
    free(run->v);
    free(run->collectives);
    *run = (struct run){ 0 };
}

static bool of_device(const struct event *e)
{
    return e->kind == EVENT_KERNEL || e->kind == EVENT_COPY || e->kind == EVENT_SET;
}

static const struct event *call_of(const struct run *run, int64_t correlation)
{
    for (size_t i = 0; i < run->n; i++)
        if (run->v[i].kind == EVENT_CALL && run->v[i].correlation == correlation)
            return &run->v[i];
    return NULL;
}

static int by_stream_and_start(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void check_streams(struct run *run)
{
    int overlaps = 0, early = 0, lost = 0;
    struct event *work = malloc((run->n + 1) * sizeof *work);
    size_t n = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(work);
    for (size_t i = 0; i < run->n; i++) {
        const struct event *e = &run->v[i];
        if (!of_device(e))
            continue;
        const struct event *call = call_of(run, e->correlation);
        lost += call == NULL;
        early += call != NULL && (e->start_ns < call->start_ns || e->called_ns != call->start_ns);
        work[n++] = *e;
    }
    qsort(work, n, sizeof *work, by_stream_and_start);
    for (size_t i = 1; i < n; i++)
        overlaps += work[i].track == work[i - 1].track && work[i].start_ns < work[i - 1].end_ns;
    CU_ASSERT(n > 50);
    CU_ASSERT_EQUAL(lost, 0);
    CU_ASSERT_EQUAL(early, 0);
    CU_ASSERT_EQUAL(overlaps, 0);
    free(work);
}

static void work_is_done_one_by_one_and_after_its_launch(void)
{
    for (int i = 0; i < NJOBS; i++) {
        struct job job = job_number(i);
        struct sim *sim = sim_new(&job);
        CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
        for (int rank = 0; rank < job.ranks; rank++) {
            struct run run = { 0 };
            sim_run(sim, rank, keep, &run);
            check_streams(&run);
            run_free(&run);
        }
        sim_free(sim);
    }
}

/* Of one host thread or of both, calls do not overlap: they hand over to each other. */
static void a_host_does_one_call_at_a_time(void)
{
    for (int i = 0; i < NJOBS; i++) {
        struct job job = job_number(i);
        struct sim *sim = sim_new(&job);
        struct run run = { 0 };
        int64_t before = 0;
        int bad = 0;
        CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
        sim_run(sim, job.ranks - 1, keep, &run);
        for (size_t k = 0; k < run.n; k++) {
            if (run.v[k].kind != EVENT_CALL)
                continue;
            bad += run.v[k].start_ns < before || run.v[k].end_ns < run.v[k].start_ns;
            before = run.v[k].end_ns;
        }
        CU_ASSERT_EQUAL(bad, 0);
        run_free(&run);
        sim_free(sim);
    }
}

static void a_host_that_waits_is_back_after_the_work(void)
{
    for (int i = 0; i < NJOBS; i++) {
        struct job job = job_number(i);
        struct sim *sim = sim_new(&job);
        int waits = 0, bad = 0;
        CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
        for (int rank = 0; rank < job.ranks; rank += 3) {
            struct run run = { 0 };
            sim_run(sim, rank, keep, &run);
            for (size_t k = 0; k < run.n; k++) {
                const struct event *wait = &run.v[k];
                bool all = strstr(wait->name, "DeviceSynchronize") != NULL || strstr(wait->name, "Free") != NULL;
                bool compute =
                    strstr(wait->name, "StreamSynchronize") != NULL || strstr(wait->name, "WithStream") != NULL;
                if (wait->kind != EVENT_CALL || (!all && !compute))
                    continue;
                waits++;
                for (size_t w = 0; w < run.n; w++)
                    bad += of_device(&run.v[w]) && (all || run.v[w].track == SLOT_COMPUTE) &&
                           run.v[w].called_ns <= wait->start_ns && run.v[w].end_ns > wait->end_ns;
            }
            run_free(&run);
        }
        CU_ASSERT(waits > 0);
        CU_ASSERT_EQUAL(bad, 0);
        sim_free(sim);
    }
}

static void streams_wait_for_the_events_that_they_are_told_to(void)
{
    for (int i = 0; i < NJOBS; i++) {
        struct job job = job_number(i);
        struct sim *sim = sim_new(&job);
        struct run run = { 0 };
        int bad = 0, waits = 0;
        CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
        sim_run(sim, job.ranks / 2, keep, &run);
        for (size_t k = 0; k < run.n; k++) {
            const struct event *wait = &run.v[k];
            if (wait->kind != EVENT_SYNC || strcmp(wait->name, "Stream Wait Event") != 0)
                continue;
            const struct event *record = call_of(&run, wait->waits_for), *call = call_of(&run, wait->correlation);
            CU_ASSERT_PTR_NOT_NULL_FATAL(record);
            CU_ASSERT_PTR_NOT_NULL_FATAL(call);
            int64_t done = 0, next = INT64_MAX;
            for (size_t w = 0; w < run.n; w++) {
                const struct event *e = &run.v[w];
                if (of_device(e) && e->track == wait->waits_on && e->called_ns < record->start_ns && e->end_ns > done)
                    done = e->end_ns;
                if (of_device(e) && e->track == wait->track && e->called_ns > call->start_ns && e->start_ns < next)
                    next = e->start_ns;
            }
            waits++;
            bad += next < done;
        }
        CU_ASSERT(job.vendor == VENDOR_ROCM || job.ranks == 1 || waits > 0);
        CU_ASSERT_EQUAL(bad, 0);
        run_free(&run);
        sim_free(sim);
    }
}

/* --- ranks together ----------------------------------------------------------------------------------------------- */

/* Every collective of the job, seen from all its members: its kernels are in the order of the program on each of them.
 */
static void nobody_leaves_before_the_last_has_come(void)
{
    for (int i = 0; i < NJOBS; i++) {
        struct job job = job_number(i);
        if (job.batched_p2p)
            continue; /* the kernels do not say whom they are for */
        struct sim *sim = sim_new(&job);
        CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
        int64_t *start = calloc(sim->nmeetings + 1, sizeof *start), *end = calloc(sim->nmeetings + 1, sizeof *end);
        int *come = calloc(sim->nmeetings + 1, sizeof *come), *wanted = calloc(sim->nmeetings + 1, sizeof *wanted);
        CU_ASSERT_FATAL(start != NULL && end != NULL && come != NULL && wanted != NULL);
        for (int rank = 0; rank < job.ranks; rank++) {
            struct run run = { 0 };
            int at[NAXES] = { 0 };
            sim_run(sim, rank, keep, &run);
            for (size_t k = 0; k < run.n; k++) {
                const struct event *e = &run.v[k];
                if (e->kind != EVENT_KERNEL || e->collective == NULL)
                    continue;
                const struct collective *c = &run.collectives[k];
                enum axis axis = c->axis != AXIS_PP                            ? c->axis
                                 : (c->from > c->to ? c->to : c->from) == rank ? AXIS_NEXT
                                                                               : AXIS_PREV;
                int per_step = sim->programs[stage_of(&job, rank)].nmet[axis], number = at[axis]++;
                struct meeting m = meeting_of(sim, rank, axis, number / per_step, number % per_step);
                start[m.id] = later(start[m.id], e->start_ns);
                end[m.id] = come[m.id]++ == 0 || e->end_ns < end[m.id] ? e->end_ns : end[m.id];
                wanted[m.id] = m.group.n;
                CU_ASSERT(e->start_ns <= m.last_ns);
            }
            run_free(&run);
        }
        int bad = 0, lonely = 0, n = 0, off = 0;
        for (size_t k = 0; k < sim->nmeetings; k++) {
            n += come[k] > 0;
            lonely += come[k] != wanted[k];
            bad += come[k] > 0 && end[k] <= start[k];
            off += come[k] > 0 && start[k] != sim->last_ns[k];
        }
        CU_ASSERT(n > 0);
        CU_ASSERT_EQUAL(lonely, 0);
        CU_ASSERT_EQUAL(bad, 0);
        CU_ASSERT_EQUAL(off, 0);
        free(start);
        free(end);
        free(come);
        free(wanted);
        sim_free(sim);
    }
}

static void every_rank_is_in_one_group_of_each_axis(void)
{
    struct job job = usual(48, 2, 3, 4);

    for (int axis = 0; axis < NAXES; axis++) {
        for (int rank = 0; rank < job.ranks; rank++) {
            struct group g = group_of(&job, (enum axis)axis, rank);
            CU_ASSERT_EQUAL(g.first + g.me * g.stride, rank);
            CU_ASSERT(g.number < groups_of(&job, (enum axis)axis));
            if (axis == AXIS_PREV || axis == AXIS_NEXT)
                continue;
            for (int i = 0; i < g.n; i++) {
                struct group other = group_of(&job, (enum axis)axis, g.first + i * g.stride);
                CU_ASSERT(other.number == g.number && other.first == g.first && other.n == g.n);
                CU_ASSERT(group_has(&g, g.first + i * g.stride));
            }
        }
    }
    CU_ASSERT_EQUAL(group_of(&job, AXIS_TP, 5).n, 2);
    CU_ASSERT_EQUAL(group_of(&job, AXIS_DP, 5).n, 8);
    CU_ASSERT_EQUAL(group_of(&job, AXIS_EP, 5).n, 4);
    CU_ASSERT_EQUAL(group_of(&job, AXIS_NEXT, 5).number, group_of(&job, AXIS_PREV, 5 + 16).number);
}

static void both_sides_of_a_pair_mean_the_same_meeting(void)
{
    struct job job = usual(6, 1, 6, 1);
    struct sim *sim = sim_new(&job);

    CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
    for (int rank = 0; rank + 1 < job.ranks; rank++) {
        CU_ASSERT_EQUAL_FATAL(sim->programs[rank].nmet[AXIS_NEXT], sim->programs[rank + 1].nmet[AXIS_PREV]);
        for (int i = 0; i < sim->programs[rank].nmet[AXIS_NEXT]; i++) {
            struct meeting a = meeting_of(sim, rank, AXIS_NEXT, 2, i), b = meeting_of(sim, rank + 1, AXIS_PREV, 2, i);
            CU_ASSERT_EQUAL(a.id, b.id);
            CU_ASSERT((a.what->operation == OP_SEND && b.what->operation == OP_RECV) ||
                      (a.what->operation == OP_RECV && b.what->operation == OP_SEND));
        }
    }
    sim_free(sim);
}

/* Any number of stages and micro-batches fits together: nobody waits for ever. */
static void pipelines_of_all_sizes_come_to_their_end(void)
{
    for (int stages = 2; stages <= 7; stages++)
        for (int batches = 1; batches <= 9; batches++)
            for (int batched = 0; batched < 2; batched++) {
                struct job job = usual(stages, 1, stages, 1);
                job.layers = 1;
                job.steps = 1;
                job.microbatches = batches;
                job.batched_p2p = batched == 1;
                struct sim *sim = sim_new(&job);
                CU_ASSERT_PTR_NOT_NULL(sim);
                sim_free(sim);
            }
}

static void tokens_are_conserved_and_the_liked_experts_get_more(void)
{
    struct job job = quiet(4, 1, 1, 4);
    job.noise.imbalance_percent = 30;
    job = faulty(job, CAUSE_MORE_WORK, 2, MS);
    job.fault.style = STYLE_TOKENS;
    struct sim *sim = sim_new(&job);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
    for (int number = 0; number < 2; number++) {
        struct meeting m = meeting_of(sim, 0, AXIS_EP, 1, number);
        int64_t ppm = 0;
        for (int from = 0; from < 4; from++) {
            int64_t sent = 0;
            for (int to = 0; to < 4; to++)
                sent += tokens_sent(sim, &m, from, to);
            if (m.what->operation == OP_DISPATCH)
                CU_ASSERT(llabs(sent - m.what->elements) < m.what->elements / 200);
            ppm += tokens_ppm(sim, from, 1, m.what->routing);
        }
        CU_ASSERT(llabs(ppm - 4000000) < 4000);
    }
    /* Without imbalance the share is what the fault asks for. */
    job.noise.imbalance_percent = 0;
    sim_free(sim);
    sim = sim_new(&job);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
    int64_t more = MS * 1000000 / sim->programs[0].expert_ns;
    CU_ASSERT(llabs(tokens_ppm(sim, 2, 1, 0) - 1000000 - more) < 4000);
    CU_ASSERT(tokens_ppm(sim, 1, 1, 0) < 1000000);
    sim_free(sim);
}

/* --- the same again ----------------------------------------------------------------------------------------------- */

static uint64_t digest(const struct run *run)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < run->n; i++) {
        const struct event *e = &run->v[i];
        uint64_t state =
            (uint64_t)e->start_ns * 31 + (uint64_t)e->end_ns * 7 + (uint64_t)e->kind + (uint64_t)e->correlation;
        sum = sum * 1099511628211U + draw(&state);
    }
    return sum;
}

static void the_same_job_does_the_same(void)
{
    for (int i = 0; i < NJOBS; i++) {
        uint64_t found[3];
        for (int k = 0; k < 3; k++) {
            struct job job = job_number(i);
            job.seed += k == 2;
            struct sim *sim = sim_new(&job);
            struct run run = { 0 };
            CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
            sim_run(sim, 0, keep, &run);
            found[k] = digest(&run);
            run_free(&run);
            sim_free(sim);
        }
        CU_ASSERT_EQUAL(found[0], found[1]);
        CU_ASSERT_NOT_EQUAL(found[0], found[2]);
    }
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

static int64_t gain_of(const struct job *job)
{
    struct course with = { 0 }, without = { 0 };
    struct sim *sim = sim_new(job);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
    CU_ASSERT_FATAL(course_of(sim, &with) && healthy_course(job, &without));
    int64_t gain = with.wall_ns - without.wall_ns;
    course_free(&with);
    course_free(&without);
    sim_free(sim);
    return gain;
}

static bool near(int64_t found, int64_t wanted, int percent)
{
    bool ok = llabs(found - wanted) * 100 <= llabs(wanted) * percent;
    if (!ok)
        printf("\n    found %lld, wanted %lld within %d %%\n", (long long)found, (long long)wanted, percent);
    return ok;
}

static void a_fault_of_the_critical_rank_costs_its_size(void)
{
    /* All that the rank does is on the way of all: tensor parallel ranks wait for each other in each layer, the host
     * reads the loss in each step, and what is input or copied at the beginning of a step nobody can begin without. */
    static const enum cause causes[] = { CAUSE_COMPUTE_SLOW, CAUSE_THROTTLED, CAUSE_MORE_WORK,
                                         CAUSE_INPUT,        CAUSE_H2D,       CAUSE_SLOW_LINK };
    for (size_t i = 0; i < COUNT(causes); i++) {
        struct job job = faulty(quiet(4, 4, 1, 1), causes[i], 1, MS);
        if (causes[i] == CAUSE_MORE_WORK)
            job.fault.style = STYLE_LARGER;
        if (causes[i] == CAUSE_H2D)
            job.fault.style = STYLE_PINNED;
        job.fault.peer = causes[i] == CAUSE_SLOW_LINK ? 2 : -1;
        job.fault.axis = AXIS_TP;
        CU_ASSERT(near(gain_of(&job), job.steps * MS, 4));
        job.fault.pattern = PATTERN_BOUNDED;
        job.fault.from = 11;
        job.fault.to = 12;
        CU_ASSERT(near(gain_of(&job), 2 * MS, 4));
        job.fault.pattern = PATTERN_ONE_OFF;
        CU_ASSERT(near(gain_of(&job), MS, 4));
    }
}

static void a_pause_costs_its_size_at_the_start_of_a_step_and_nothing_where_the_device_is_busy(void)
{
    struct job job = faulty(quiet(4, 4, 1, 1), CAUSE_HOST_LATE, 1, 3 * MS);
    job.fault.style = STYLE_PAUSE;
    job.fault.site = 0;
    /* The copy of the batch is all there is to hide it. */
    CU_ASSERT(near(gain_of(&job), job.steps * (3 * MS - 700 * US), 6));
    job.fault.site = 3;
    job.fault.ns = 500 * US;
    CU_ASSERT(llabs(gain_of(&job)) < 20 * US);
    /* A host that waits for the device has nothing to hide behind. */
    job = faulty(job, CAUSE_SYNC_DRAIN, 1, 500 * US);
    job.fault.style = STYLE_DEVICE_SYNC;
    CU_ASSERT(gain_of(&job) > job.steps * 500 * US);
    CU_ASSERT(gain_of(&job) < job.steps * 600 * US);
}

static void a_fault_of_a_bubble_costs_less_than_its_size(void)
{
    struct job job = faulty(quiet(4, 1, 4, 1), CAUSE_HOST_LATE, 3, 300 * US);
    job.fault.style = STYLE_PAUSE;
    job.fault.site = 0;
    /* The last stage begins when three others have done a forward. */
    CU_ASSERT(llabs(gain_of(&job)) < 20 * US);
    job.fault.rank = 0;
    job.fault.ns = 2 * MS;
    CU_ASSERT(gain_of(&job) > job.steps * MS);
}

static void steps_before_the_fault_are_those_of_the_healthy_job(void)
{
    for (int cause = 0; cause < NCAUSES; cause++) {
        struct job job = faulty(usual(8, 2, 1, 2), (enum cause)cause, 3, 5 * MS);
        struct course with = { 0 }, without = { 0 };
        job.fault.pattern = PATTERN_BOUNDED;
        job.fault.from = job.fault.to = 12;
        job.fault.peer = cause == CAUSE_SLOW_LINK ? 2 : -1;
        job.fault.axis = AXIS_TP;
        struct sim *sim = sim_new(&job);
        CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
        CU_ASSERT_FATAL(course_of(sim, &with) && healthy_course(&job, &without));
        CU_ASSERT_EQUAL(with.step_ns[0], without.step_ns[0]);
        CU_ASSERT_EQUAL(with.step_ns[1], without.step_ns[1]);
        CU_ASSERT(with.step_ns[2] > without.step_ns[2] + 200 * US);
        /* And the step after it nearly is: others may have begun it while one is still late with the last. */
        CU_ASSERT(llabs(with.step_ns[3] - without.step_ns[3]) < MS);
        course_free(&with);
        course_free(&without);
        sim_free(sim);
    }
}

/* Copies as well: a larger batch has larger ones. */
static int64_t compute_ns(const struct job *job, int rank, int *kernels)
{
    struct sim *sim = sim_new(job);
    struct run run = { 0 };
    int64_t ns = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
    sim_run(sim, rank, keep, &run);
    *kernels = 0;
    for (size_t i = 0; i < run.n; i++) {
        if (!of_device(&run.v[i]) || run.v[i].track != SLOT_COMPUTE)
            continue;
        ns += run.v[i].end_ns - run.v[i].start_ns;
        ++*kernels;
    }
    run_free(&run);
    sim_free(sim);
    return ns;
}

/* What is planted in kernels is what there is more of, on the rank that has it and on no other. */
static void slow_and_additional_kernels_add_what_is_planted(void)
{
    static const struct {
        enum cause cause;
        enum style style;
    } cases[] = { { CAUSE_COMPUTE_SLOW, STYLE_ANY },
                  { CAUSE_THROTTLED, STYLE_ANY },
                  { CAUSE_MORE_WORK, STYLE_LARGER },
                  { CAUSE_MORE_WORK, STYLE_MORE } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct job job = faulty(quiet(4, 1, 1, 1), cases[i].cause, 2, 900 * US), healthy = quiet(4, 1, 1, 1);
        int more, usual_number;
        job.fault.style = cases[i].style;
        for (int rank = 1; rank < 3; rank++) {
            int64_t added = compute_ns(&job, rank, &more) - compute_ns(&healthy, rank, &usual_number);
            if (rank == 2)
                CU_ASSERT(near(added, all_steps(&job) * 900 * US, 2));
            if (rank != 2)
                CU_ASSERT_EQUAL(added, 0);
            CU_ASSERT((more > usual_number) == (rank == 2 && cases[i].style == STYLE_MORE));
        }
    }
}

/* Kernels of the compute stream, in their order. */
static size_t kernel_times(const struct job *job, int rank, int64_t *ns, size_t most)
{
    struct sim *sim = sim_new(job);
    struct run run = { 0 };
    size_t n = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
    sim_run(sim, rank, keep, &run);
    for (size_t i = 0; i < run.n && n < most; i++)
        if (run.v[i].kind == EVENT_KERNEL && run.v[i].track == SLOT_COMPUTE)
            ns[n++] = run.v[i].end_ns - run.v[i].start_ns;
    run_free(&run);
    sim_free(sim);
    return n;
}

static void a_fault_of_the_host_leaves_kernels_as_they_are(void)
{
    static const struct {
        enum cause cause;
        enum style style;
    } cases[] = {
        { CAUSE_HOST_LATE, STYLE_PAUSE }, { CAUSE_HOST_LATE, STYLE_LAUNCHES }, { CAUSE_INPUT, STYLE_ANY },
        { CAUSE_H2D, STYLE_PAGEABLE },    { CAUSE_H2D, STYLE_PINNED },         { CAUSE_GC, STYLE_GC_FRAME },
        { CAUSE_SYNC_DRAIN, STYLE_ITEM }, { CAUSE_SYNC_DRAIN, STYLE_LAYERS },  { CAUSE_ALLOCATOR, STYLE_ANY }
    };
    enum { MOST = 1000 };
    static int64_t with[MOST], without[MOST];
    struct job healthy = usual(4, 2, 1, 1);
    size_t n = kernel_times(&healthy, 1, without, MOST);

    CU_ASSERT(n > 100 && n < MOST);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct job job = faulty(healthy, cases[i].cause, 1, 3 * MS);
        job.fault.style = cases[i].style;
        CU_ASSERT_EQUAL(kernel_times(&job, 1, with, MOST), n);
        CU_ASSERT_EQUAL(memcmp(with, without, n * sizeof *with), 0);
    }
}

static void patterns_are_what_they_are_called(void)
{
    struct job job = faulty(usual(2, 1, 1, 1), CAUSE_GC, 0, 1000);
    int64_t sum = 0;
    int n = 0;

    job.steps = 12;
    job.fault.from = 12;
    job.fault.to = 19;
    job.fault.pattern = PATTERN_PERSISTENT;
    CU_ASSERT_EQUAL(fault_step_ns(&job, 0), 1000);
    CU_ASSERT_EQUAL(affected_steps(&job), 12);
    CU_ASSERT_EQUAL(fault_ns(&job, 1, 3), 0);
    job.fault.pattern = PATTERN_BOUNDED;
    CU_ASSERT_EQUAL(affected_steps(&job), 8);
    CU_ASSERT_EQUAL(fault_step_ns(&job, 0), 0);
    CU_ASSERT_EQUAL(fault_step_ns(&job, 1 + 2), 1000);
    CU_ASSERT_EQUAL(fault_step_ns(&job, 1 + 10), 0);
    job.fault.pattern = PATTERN_ONE_OFF;
    CU_ASSERT_EQUAL(affected_steps(&job), 1);
    job.fault.pattern = PATTERN_SPORADIC;
    for (uint64_t seed = 0; seed < 50; seed++) {
        job.seed = seed;
        CU_ASSERT(fault_step_ns(&job, 3) == 1000 && fault_step_ns(&job, 10) == 1000 && fault_step_ns(&job, 4) == 0);
        n += affected_steps(&job);
    }
    CU_ASSERT(n > 50 * 3 && n < 50 * 6);
    job.fault.pattern = PATTERN_DRIFTING;
    for (int i = 3; i <= 10; i++) {
        CU_ASSERT(i == 3 || fault_step_ns(&job, i) > fault_step_ns(&job, i - 1));
        sum += fault_step_ns(&job, i);
    }
    CU_ASSERT(near(sum, 8 * 1000, 1));
}

static void a_price_can_be_asked_for(void)
{
    for (int cause = 0; cause < NCAUSES; cause++) {
        struct job job = faulty(usual(8, 1, 2, 1), (enum cause)cause, 5, 0);
        struct course without = { 0 }, with = { 0 };
        job.fault.peer = cause == CAUSE_SLOW_LINK ? 6 : -1;
        job.fault.axis = AXIS_DP;
        CU_ASSERT_FATAL(healthy_course(&job, &without) && seek_cost(&job, 0.05, &without));
        struct sim *sim = sim_new(&job);
        CU_ASSERT_FATAL(sim != NULL && course_of(sim, &with));
        double found = cost_share(&job, &with, &without);
        CU_ASSERT(found > 0.045 && found < 0.055);
        course_free(&with);
        course_free(&without);
        sim_free(sim);
    }
}

/* Behind a slow link the two at its ends are done last, the others the earlier the further behind it they stand. */
static void a_slow_link_shows_at_its_ends(void)
{
    struct job job = faulty(quiet(8, 1, 1, 1), CAUSE_SLOW_LINK, 2, 7 * MS);
    job.host_ranks = 8;
    job.fault.peer = 3;
    job.fault.axis = AXIS_DP;
    struct sim *sim = sim_new(&job);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
    int64_t end[8];
    for (int rank = 0; rank < 8; rank++) {
        struct meeting m = meeting_of(sim, rank, AXIS_DP, 2, 0);
        end[rank] = meeting_end(sim, &m, rank);
    }
    CU_ASSERT_EQUAL(end[2], end[3]);
    for (int rank = 4; rank != 2; rank = (rank + 1) % 8)
        CU_ASSERT(end[rank] < end[(rank + 7) % 8]);
    sim_free(sim);
}

static void hosts_have_clocks_and_time_goes_on(void)
{
    struct job job = usual(8, 1, 1, 1);
    job.clocks = (struct clocks){ .offset_ns = 5 * MS, .drift_ppb = 300000 };
    CU_ASSERT_NOT_EQUAL(clock_offset_ns(&job, 0), clock_offset_ns(&job, 1));
    CU_ASSERT_EQUAL(shown_ns(&job, 5, JOB_START_NS) - JOB_START_NS, clock_offset_ns(&job, 1));
    CU_ASSERT_EQUAL(shown_ns(&job, 5, JOB_START_NS + 1000 * MS) - shown_ns(&job, 5, JOB_START_NS),
                    1000 * MS + clock_drift_ppb(&job, 1));
    for (int rank = 0; rank < 8; rank += 4) {
        int64_t before = shown_ns(&job, rank, JOB_START_NS);
        for (int64_t t = 1; t < 5000; t++) {
            int64_t now = shown_ns(&job, rank, JOB_START_NS + t);
            CU_ASSERT_FATAL(now >= before);
            before = now;
        }
    }
}

static void windows_are_cut_where_they_are_asked_to(void)
{
    struct job job = usual(8, 1, 1, 1), cut = job;
    cut.cut = (struct window_cut){ .head_ns = 3 * MS, .tail_ns = 2 * MS };
    struct sim *a = sim_new(&job), *b = sim_new(&cut);
    bool differ = false;
    CU_ASSERT_FATAL(a != NULL && b != NULL);
    for (int rank = 0; rank < 8; rank++) {
        struct window whole = sim_window(a, rank), part = sim_window(b, rank);
        CU_ASSERT(part.start_ns >= whole.start_ns && part.start_ns <= whole.start_ns + 3 * MS);
        CU_ASSERT(part.end_ns < whole.end_ns && part.end_ns >= whole.end_ns - 3 * MS);
        differ = differ || part.start_ns - whole.start_ns > MS;
    }
    CU_ASSERT(differ);
    sim_free(a);
    sim_free(b);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_is_done_one_by_one_and_after_its_launch),
        TEST(a_host_does_one_call_at_a_time),
        TEST(a_host_that_waits_is_back_after_the_work),
        TEST(streams_wait_for_the_events_that_they_are_told_to),
        TEST(nobody_leaves_before_the_last_has_come),
        TEST(every_rank_is_in_one_group_of_each_axis),
        TEST(both_sides_of_a_pair_mean_the_same_meeting),
        TEST(pipelines_of_all_sizes_come_to_their_end),
        TEST(tokens_are_conserved_and_the_liked_experts_get_more),
        TEST(the_same_job_does_the_same),
        TEST(a_fault_of_the_critical_rank_costs_its_size),
        TEST(a_pause_costs_its_size_at_the_start_of_a_step_and_nothing_where_the_device_is_busy),
        TEST(a_fault_of_a_bubble_costs_less_than_its_size),
        TEST(steps_before_the_fault_are_those_of_the_healthy_job),
        TEST(slow_and_additional_kernels_add_what_is_planted),
        TEST(a_fault_of_the_host_leaves_kernels_as_they_are),
        TEST(patterns_are_what_they_are_called),
        TEST(a_price_can_be_asked_for),
        TEST(a_slow_link_shows_at_its_ends),
        TEST(hosts_have_clocks_and_time_goes_on),
        TEST(windows_are_cut_where_they_are_asked_to),
    };
    return unit_main("simulator", tests, COUNT(tests));
}
