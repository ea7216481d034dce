/* test_faults.c - faults of the simulator cost what they cost. */
#include "simulated.h"

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
    /* A host that waits for the device has nothing to hide after. */
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

/* After a slow link the two at its ends are done last, the others the earlier the further behind it they stand. */
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
    return unit_main("faults", tests, COUNT(tests));
}
