/* test_whatif_truth.c - what a repair would gain, against jobs that were run without the fault.
 *
 * Random jobs: data parallel, tensor parallel, both, sharded with parameters gathered ahead, pipelines; with noise, hosts that
 * run ahead, wait, or are held back by a full queue; one fault each. */
#include "small_job.h"
#include "src/analysis/whatif/critical.h"
#include "tlmpi/base/robust.h"
#include <stdio.h>

typedef enum job_kind { JOB_DP, JOB_TP, JOB_DP_TP, JOB_SHARDED, JOB_PIPELINE, NJOBS } job_kind;

static const char *const job_names[] = { "data parallel", "tensor parallel", "both", "sharded", "pipeline" };

typedef struct shape {
    int layers, kernels, buckets, microbatches, steps, sync_every;
    int64_t kernel_ns, host_ns, load_ns, transfer_ns;
} shape;

typedef struct writing {
    small_job *job;
    shape shape;
    int tp, dp, stages;
} writing;

static void kernels(writing *w, int rank, int n)
{
    for (int i = 0; i < n; i++) {
        small_add(&w->job->ranks[rank], (small_op){ SMALL_HOST, w->shape.host_ns, 0, 0, false });
        small_add(&w->job->ranks[rank], (small_op){ SMALL_KERNEL, w->shape.kernel_ns * (1 + i % 3) / 2, 0, 0, false });
    }
}

static void add(writing *w, int rank, small_do what, int of)
{
    small_add(&w->job->ranks[rank], (small_op){ what, w->shape.load_ns, of, 0, false });
}

/* A collective of ranks first, first + stride, ...; all of them are told at once. */
static int meet(writing *w, int first, int stride, int n, uint8_t kind, int stream, bool free_, int like)
{
    int64_t ns = w->shape.transfer_ns * (1 + like % 3) / 2;
    int of = small_meeting_new(w->job, first, stride, n, kind, ns, like, first * 8 + stride);
    for (int i = 0; i < n; i++)
        small_add(&w->job->ranks[first + i * stride], (small_op){ SMALL_MEET, 0, of, stream, free_ });
    return of;
}

static void join(writing *w, int first, int stride, int n, int of)
{
    for (int i = 0; i < n; i++)
        add(w, first + i * stride, SMALL_JOIN, of);
}

static void begin(writing *w)
{
    for (int r = 0; r < w->job->nranks; r++) {
        add(w, r, SMALL_STEP, 0);
        add(w, r, SMALL_HOST, 0);
        small_add(&w->job->ranks[r], (small_op){ SMALL_COPY, 200 * US, 0, 0, false });
    }
}

static void finish(writing *w, int step)
{
    for (int r = 0; r < w->job->nranks; r++) {
        kernels(w, r, 4);
        if (w->shape.sync_every > 0 && (step + 1) % w->shape.sync_every == 0)
            add(w, r, SMALL_SYNC, 0);
    }
}

/* Tensor parallel groups reduce after each half of a layer. */
static void half_layer(writing *w)
{
    for (int r = 0; r < w->job->nranks; r++) {
        add(w, r, SMALL_PAUSE, 0);
        kernels(w, r, w->shape.kernels);
    }
    for (int first = 0; w->tp > 1 && first < w->job->nranks; first += w->tp)
        join(w, first, 1, w->tp, meet(w, first, 1, w->tp, TL_ALL_REDUCE, 1, false, 1));
}

static void data_parallel_step(writing *w, int step)
{
    int last = -1, lasts[SMALL_RANKS];

    begin(w);
    for (int l = 0; l < w->shape.layers; l++)
        half_layer(w);
    for (int l = 0; l < w->shape.layers; l++) {
        half_layer(w);
        half_layer(w);
        if (w->dp < 2 || ((l + 1) % w->shape.buckets != 0 && l + 1 < w->shape.layers))
            continue;
        for (int column = 0; column < w->tp; column++)
            lasts[column] = last = meet(w, column, w->tp, w->dp, TL_ALL_REDUCE, 2, false, 2);
    }
    for (int column = 0; last >= 0 && column < w->tp; column++)
        join(w, column, w->tp, w->dp, lasts[column]);
    finish(w, step);
}

/* Parameters of the next layer are gathered while this one computes; hosts run no more than two layers ahead. */
static void sharded_step(writing *w, int step)
{
    int n = w->job->nranks, layers = w->shape.layers;

    begin(w);
    for (int back = 0; back < 2; back++) {
        int own = meet(w, 0, 1, n, TL_ALL_GATHER, 1, true, 1), next = -1;
        for (int l = 0; l < layers; l++) {
            if (l + 1 < layers)
                next = meet(w, 0, 1, n, TL_ALL_GATHER, 1, true, 1);
            for (int r = 0; r < n && l >= 2; r++)
                add(w, r, SMALL_AWAIT, (l - 2) % 4);
            join(w, 0, 1, n, own);
            for (int r = 0; r < n; r++) {
                add(w, r, SMALL_PAUSE, 0);
                kernels(w, r, w->shape.kernels * (1 + back));
                add(w, r, SMALL_MARK, l % 4);
            }
            if (back)
                meet(w, 0, 1, n, TL_REDUCE_SCATTER, 1, false, 2);
            own = next;
        }
    }
    join(w, 0, 1, n, meet(w, 0, 1, n, TL_ALL_REDUCE, 1, false, 3));
    finish(w, step);
}

/* Between two stages; rank = replica * stages + stage.  What a stage sends it does not wait for. */
static void exchange(writing *w, int replica, int stage, int other, int *with, bool receives)
{
    int first = replica * w->stages + (stage < other ? stage : other), me = replica * w->stages + stage;
    int stream = receives ? (other < stage ? 3 : 4) : (other < stage ? 1 : 5);
    if (*with < 0)
        *with = small_meeting_new(w->job, first, 1, 2, TL_SEND_RECV, w->shape.transfer_ns / 4, 9, 100);
    small_add(&w->job->ranks[me], (small_op){ SMALL_MEET, 0, *with, stream, receives });
    if (receives)
        add(w, me, SMALL_JOIN, *with);
}

static void pass(writing *w, int replica, int stage, int layers)
{
    for (int l = 0; l < layers; l++) {
        add(w, replica * w->stages + stage, SMALL_PAUSE, 0);
        kernels(w, replica * w->stages + stage, w->shape.kernels);
    }
}

/* One forward, one backward. */
static void pipeline_step(writing *w, int step)
{
    enum { MOST = 16 };
    int n = w->shape.microbatches, s = w->stages;

    begin(w);
    for (int replica = 0; replica < w->dp; replica++) {
        int forward[SMALL_RANKS][MOST], backward[SMALL_RANKS][MOST];
        memset(forward, 0xff, sizeof forward);   /* -1: between stage and stage + 1, by microbatch */
        memset(backward, 0xff, sizeof backward);
        for (int stage = 0; stage < s; stage++) {
            int ahead = s - 1 - stage < n ? s - 1 - stage : n;
            for (int i = 0; i < n + ahead; i++) {
                if (i < n) {
                    if (stage > 0)
                        exchange(w, replica, stage, stage - 1, &forward[stage - 1][i], true);
                    pass(w, replica, stage, w->shape.layers);
                    if (stage + 1 < s)
                        exchange(w, replica, stage, stage + 1, &forward[stage][i], false);
                }
                if (i >= ahead) {
                    if (stage + 1 < s)
                        exchange(w, replica, stage, stage + 1, &backward[stage][i - ahead], true);
                    pass(w, replica, stage, 2 * w->shape.layers);
                    if (stage > 0)
                        exchange(w, replica, stage, stage - 1, &backward[stage - 1][i - ahead], false);
                }
            }
        }
    }
    for (int stage = 0; stage < s; stage++)
        join(w, stage, s, w->dp, meet(w, stage, s, w->dp, TL_ALL_REDUCE, 2, false, 2));
    finish(w, step);
}

static int between(uint64_t *random, int low, int high)
{
    return low + (int)unit_below(random, (unsigned)(high - low + 1));
}

/* The job of a seed, as it is without the fault. */
static small_job *job_new(job_kind kind, uint64_t seed)
{
    small_job *job = calloc(1, sizeof *job);
    uint64_t random = seed * 77 + 5;
    if (job == NULL)
        abort();
    unit_random(&random);
    writing w = { .job = job, .tp = 1, .dp = 1, .stages = 1 };
    w.shape = (shape){ .layers = between(&random, 3, 6), .kernels = between(&random, 2, 5),
                       .buckets = between(&random, 1, 3), .microbatches = between(&random, 3, 6),
                       .steps = between(&random, 4, 6), .sync_every = between(&random, 0, 2),
                       .kernel_ns = between(&random, 30, 500) * US, .host_ns = between(&random, 4, 60) * US,
                       .load_ns = between(&random, 100, 2000) * US, .transfer_ns = between(&random, 100, 1500) * US };
    job->jitter_permille = between(&random, 5, 20);
    job->host_permille = between(&random, 20, 100);
    job->queue = w.shape.sync_every == 0 ? between(&random, 40, 120) : 0;
    job->fault = (small_fault){ .rank = -1, .group = -1 };
    if (kind == JOB_DP || kind == JOB_SHARDED)
        w.dp = between(&random, 2, 8);
    if (kind == JOB_TP)
        w.tp = between(&random, 2, 8);
    if (kind == JOB_DP_TP) {
        w.tp = between(&random, 2, 4);
        w.dp = between(&random, 2, 4);
    }
    if (kind == JOB_PIPELINE) {
        w.stages = between(&random, 2, 4);
        w.dp = between(&random, 2, 4);
        w.shape.layers = 2;
    }
    job->nranks = w.tp * w.dp * w.stages;
    for (int r = 0; r < job->nranks; r++)
        job->ranks[r].role = kind == JOB_PIPELINE ? r % w.stages : 0;
    for (int step = 0; step < w.shape.steps; step++) {
        if (kind == JOB_SHARDED)
            sharded_step(&w, step);
        else if (kind == JOB_PIPELINE)
            pipeline_step(&w, step);
        else
            data_parallel_step(&w, step);
    }
    return job;
}

typedef enum fault_kind { FAULT_SLOW, FAULT_PAUSE, FAULT_LAUNCHES, FAULT_COPY, FAULT_LINK, NFAULTS } fault_kind;

static const char *const fault_names[] = { "slow kernels", "pause", "slow launches", "slow copy", "slow link" };

static small_fault fault_of(fault_kind kind, const small_job *job, int64_t step_ns, uint64_t seed)
{
    uint64_t random = seed * 31 + 11;
    unit_random(&random);
    small_fault f = { .rank = between(&random, 0, job->nranks - 1), .first = 0, .last = 99, .group = -1 };
    if (between(&random, 0, 2) == 0) {
        f.first = between(&random, 1, 2);
        f.last = f.first + between(&random, 0, 1);
    }
    if (kind == FAULT_SLOW)
        f.slower_percent = between(&random, 10, 100);
    if (kind == FAULT_PAUSE) {
        f.pause_ns = step_ns * between(&random, 5, 60) / 100;
        f.at = between(&random, 0, 8);
    }
    if (kind == FAULT_LAUNCHES)
        f.launch_percent = between(&random, 50, 400);
    if (kind == FAULT_COPY)
        f.copy_ns = step_ns * between(&random, 5, 60) / 100;
    if (kind == FAULT_LINK) {
        f.rank = -1;
        f.group = (int)job->meetings.v[unit_below(&random, (unsigned)job->meetings.n)].group;
        f.link_percent = between(&random, 50, 300);
    }
    return f;
}

typedef struct outcome {
    int64_t plain_ns, faulty_ns, simulated_ns, gain_ns;
    tl_whatif_state state;
} outcome;

/* From the end of the job back to a beginning, without a gap, and made of nothing else. */
static void check_path(const small_model *model, const small_job *job, int64_t simulated_ns)
{
    tl_path path;
    int64_t sum = 0, all = 0;
    CU_ASSERT_EQUAL_FATAL(tl_critical_path(model->whatif, &path, NULL), TL_OK);
    CU_ASSERT_FATAL(path.n > 0);
    for (size_t i = 0; i < path.n; i++) {
        if (i > 0 && path.v[i].start_ns != path.v[i - 1].end_ns)
            CU_FAIL("a gap in the path");
        sum += path.v[i].end_ns - path.v[i].start_ns;
    }
    for (int part = 0; part < TL_NPARTS; part++)
        all += path.sum.ns[part];
    const tl_program *first = &model->programs[path.v[0].rank];
    CU_ASSERT_EQUAL(path.v[0].start_ns, first->start_ns);
    CU_ASSERT_EQUAL(path.v[path.n - 1].end_ns, MS + simulated_ns);
    CU_ASSERT_EQUAL(sum, all);
    CU_ASSERT_EQUAL(sum, path.v[path.n - 1].end_ns - path.v[0].start_ns);
    CU_ASSERT(job->nranks > (int)path.v[0].rank);
    tl_path_free(&path);
}

static outcome try(job_kind kind, fault_kind fault, uint64_t seed)
{
    small_model model;
    outcome o;
    small_job *job = job_new(kind, seed);
    int steps = (int)job->ranks[0].script.n;

    o.plain_ns = small_run(job, seed);
    steps = (int)job->ranks[0].steps.n;
    small_fault f = fault_of(fault, job, o.plain_ns / steps, seed);
    small_free(job);

    job = job_new(kind, seed);
    job->fault = f;
    o.faulty_ns = small_run(job, seed);
    small_model_make(&model, job);
    o.simulated_ns = tl_whatif_facts_of(model.whatif)->simulated_ns;
    o.state = tl_whatif_facts_of(model.whatif)->state;

    uint8_t repaired[SMALL_RANKS] = { 0 }, *links = calloc(job->meetings.n + 1, 1);
    for (size_t c = 0; links != NULL && f.group >= 0 && c < job->meetings.n; c++)
        links[c] = job->meetings.v[c].group == f.group;
    if (f.rank >= 0)
        repaired[f.rank] = 1;
    o.gain_ns = tl_whatif_gain(model.whatif, &(tl_scenario){ .repaired = repaired, .links = links }, NULL);
    free(links);
    check_path(&model, job, o.simulated_ns);
    small_model_free(&model, job);
    small_free(job);
    return o;
}

static void compare(void)
{
    enum { SEEDS = 60 };
    double all[NJOBS * NFAULTS * SEEDS];
    size_t nall = 0;
    for (int kind = 0; kind < NJOBS; kind++) {
        for (int fault = 0; fault < NFAULTS; fault++) {
            double error[SEEDS];
            size_t n = 0;
            if (fault == FAULT_LINK && kind != JOB_DP_TP)
                continue;
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                outcome o = try((job_kind)kind, (fault_kind)fault, seed + 100 * (uint64_t)(kind * NFAULTS + fault));
                int64_t truth = o.faulty_ns - o.plain_ns;
                CU_ASSERT_EQUAL(o.state, TL_WHATIF_OK);
                double e = (double)(o.gain_ns - truth) / (double)o.faulty_ns;
                if (truth * 50 >= o.faulty_ns)      /* at least 2 % of the job's time */
                    error[n++] = all[nall++] = (double)(o.gain_ns - truth) / (double)truth;
                if (getenv("SHOW"))
                    printf("    %-15s %-13s seed %2d  T %8.2f ms  sim %+.3f %%  truth %6.2f %%  gain %6.2f %%  off %+6.2f %% of T\n",
                           job_names[kind], fault_names[fault], (int)seed, (double)o.faulty_ns / 1e6,
                           100.0 * (double)(o.simulated_ns - o.faulty_ns) / (double)o.faulty_ns,
                           100.0 * (double)truth / (double)o.faulty_ns, 100.0 * (double)o.gain_ns / (double)o.faulty_ns, 100 * e);
            }
            double mean = n > 0 ? tl_real_median(error, n) : 0;
            printf("  %-15s %-13s %2zu of %d: median %+6.1f %%  worst %+6.1f %% %+6.1f %%\n", job_names[kind], fault_names[fault], n,
                   SEEDS, 100 * mean, n > 0 ? 100 * error[0] : 0, n > 0 ? 100 * error[n - 1] : 0);
        }
    }
    for (size_t i = 0; i < nall; i++)
        all[i] = all[i] < 0 ? -all[i] : all[i];
    double middle = tl_real_median(all, nall);
    printf("  all: %zu jobs, |error| median %.1f %%, 90th percentile %.1f %%, 95th %.1f %%\n", nall, 100 * middle, 100 * all[nall * 90 / 100],
           100 * all[nall * 95 / 100]);
}

static void the_gain_of_a_repair_is_what_it_would_be(void)
{
    printf("\n");
    compare();
}

static const unit_test tests[] = {
    TEST(the_gain_of_a_repair_is_what_it_would_be),
};

int main(void)
{
    return unit_main("whatif_truth", tests, COUNT(tests));
}
