/* job.h - what is simulated: a job, what is different from rank to rank, how it is traced, and the fault planted in it.
 *
 * Ranks are counted as Megatron does: tensor parallel ranks are neighbours, then data parallel ones, then the stages
 * of the pipeline.  Expert parallel groups are pieces of the data parallel ones.
 */
#ifndef DATA_JOB_H
#define DATA_JOB_H

#include <stdbool.h>
#include <stdint.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

enum vendor { VENDOR_NVIDIA, VENDOR_ROCM };

/* Of the software that ran and traced the job.  2022: nothing is written about collectives but their names, ids of
 * operators are not those of kernels.  2024: arguments, but no counts.  2026: counts, groups in the head of the
 * file. */
enum age { AGE_2022, AGE_2024, AGE_2026 };

/* Groups of ranks that communicate.  A pipeline is one group, and two neighbours in it are a pair: NEXT of the first,
 * PREV of the second. */
enum axis { AXIS_DP, AXIS_TP, AXIS_EP, AXIS_PREV, AXIS_NEXT, AXIS_WORLD, AXIS_PP, NAXES };

enum cause {
    CAUSE_COMPUTE_SLOW,     /* one kind of kernel takes longer */
    CAUSE_THROTTLED,        /* the clock of the device is low: all kernels take longer, arithmetic most */
    CAUSE_MORE_WORK,        /* larger kernels, more kernels, or more tokens for this rank's experts */
    CAUSE_HOST_LATE,        /* the host stands still, or every launch takes longer */
    CAUSE_INPUT,            /* the data loader is waited for */
    CAUSE_H2D,              /* the batch is copied slowly, or from pageable memory, which the host waits for */
    CAUSE_GC,               /* Python's collector stops the host, at another place in each step */
    CAUSE_SYNC_DRAIN,       /* the host waits until the device has run dry, and only then goes on thinking */
    CAUSE_ALLOCATOR,        /* cudaFree and cudaMalloc, which wait for the device as well */
    CAUSE_SLOW_LINK,        /* data between two ranks, or in and out of a host, move slowly */
    NCAUSES
};

/* How a fault is done, where there are several ways; the first of each cause is its usual one. */
enum style {
    STYLE_ANY,              /* the seed chooses */
    STYLE_PLAIN,
    STYLE_PAUSE,            /* host_late: one pause a step */
    STYLE_LAUNCHES,         /* host_late: a little at each launch */
    STYLE_LARGER,           /* more_work: larger kernels */
    STYLE_MORE,             /* more_work: more kernels, at one place of the step */
    STYLE_TOKENS,           /* more_work: more tokens for the experts of this rank */
    STYLE_PAGEABLE,         /* h2d: the host waits for the copy */
    STYLE_PINNED,           /* h2d: it does not */
    STYLE_GC_EVENT,         /* gc: recorded as "Python GC" */
    STYLE_GC_FRAME,         /* gc: recorded as a frame */
    STYLE_GC_HIDDEN,        /* gc: nothing in the trace says so */
    STYLE_DEVICE_SYNC,      /* sync_drain: cudaDeviceSynchronize */
    STYLE_ITEM,             /* sync_drain: .item() */
    STYLE_LAYERS,           /* sync_drain: .item() at every place of the step, each with its part of the thinking */
    NSTYLES
};

enum pattern {
    PATTERN_PERSISTENT,     /* from the first step of the job to its last */
    PATTERN_BOUNDED,        /* in all steps of a window */
    PATTERN_SPORADIC,       /* in some steps of the window, the first and the last among them */
    PATTERN_ONE_OFF,        /* in the first step of the window */
    PATTERN_DRIFTING,       /* growing all through the window; `ns` in the mean */
    NPATTERNS
};

struct fault {
    int rank;               /* the first rank that has it; -1: nobody has */
    int nranks;             /* 1, or all of a host */
    int peer;               /* SLOW_LINK: the other end; -1: all links in and out of the host */
    enum axis axis;         /* SLOW_LINK between two: of the group whose data suffer */
    enum cause cause;
    enum style style;
    enum pattern pattern;
    int from, to;           /* the window, in numbers of ProfilerStep# */
    int site;               /* the place of a pause in the step; -1: the seed chooses */
    int64_t ns;             /* what it adds to a step of the rank, before anything hides it */
};

/* All in per cent, per mille ... of what is usual; zero: the same everywhere. */
struct noise {
    int jitter_percent;     /* of each kernel; hosts have six times as much */
    int spread_per_mille;   /* between devices, for good; hosts ten times as much */
    int hiccups_per_mille;  /* rank-steps in which the host stops for a moment, harmlessly */
    int imbalance_percent;  /* of the tokens that experts are sent */
};

struct clocks {
    int64_t offset_ns;      /* at most, of a host from true time */
    int64_t drift_ppb;      /* at most */
    int64_t device_ns;      /* at most, of a device's times from those of its host */
};

struct window_cut {
    int64_t head_ns, tail_ns;       /* at most, from the start of a rank's first step and from its end */
};

struct job {
    int ranks, tp, pp, ep;          /* dp is what is left */
    int host_ranks;                 /* devices of a host */
    bool shard;                     /* parameters live in pieces (FSDP): all-gather before use, reduce-scatter after */
    bool batched_p2p;               /* both directions of the pipeline in one kernel, which then has no arguments */
    bool tp_on_compute;             /* blocking collectives run on the compute stream */
    int microbatches;
    int warmup, steps;              /* steps before the recorded ones, and these */
    int first_step;                 /* number of the first recorded ProfilerStep# */
    int sync_every;                 /* the host reads the loss every N steps; 0: never */
    int layers;                     /* of a stage */
    int bucket_layers;              /* layers whose gradients travel in one all-reduce */
    int scale_percent;              /* of the durations of kernels and of activations */
    uint64_t seed;
    enum vendor vendor;
    enum age age;
    bool sync_events;               /* waits are recorded, where the vendor can */
    double ops, frames;             /* cpu_op and python_function events beside each launch, in the mean */
    struct noise noise;
    struct clocks clocks;
    struct window_cut cut;
    struct fault fault;
};

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Steps are counted from 0, warm-up included. */
static inline int all_steps(const struct job *job)
{
    return job->warmup + job->steps;
}

static inline int step_number(const struct job *job, int step)
{
    return job->first_step + step - job->warmup;
}

#endif
