/* test_simulator.c - hosts, devices and ranks of the simulator do what real ones can do. */
#include "simulated.h"

/* --- what a rank does --------------------------------------------------------------------------------------------- */

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
    };
    return unit_main("simulator", tests, COUNT(tests));
}
