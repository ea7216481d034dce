/* rank.h - one rank of a simulated job, as far as its run has come. */
#ifndef DATA_RANK_H
#define DATA_RANK_H

#include "program.h"
#include "sim.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

enum { COMPUTE, COMM, NSTREAMS };

struct sim {
    struct job job;
    struct program program;
    int64_t *ends;              /* of all-reduce number step * buckets + bucket */
    size_t known;               /* how many of them are known */
};

/* An annotation that is open, and the device work queued inside it. */
struct mark {
    const char *text;
    int number;
    int64_t start_ns, external;
    int64_t device_start_ns, device_end_ns;     /* on the compute stream; start > end: none */
};

struct rank {
    const struct sim *sim;
    int rank, step;
    size_t at;                  /* next instruction */
    uint64_t random;
    int64_t now_ns;             /* of the host: its threads hand over to each other */
    int thread;
    int64_t free_ns[NSTREAMS];  /* when the stream has done what is queued */
    int64_t correlation, external, frame;       /* the last ids given */
    int64_t step_frame;
    double ops_owed, frames_owed;
    struct mark marks[4];
    int nmarks;
    int64_t *ready_ns;          /* NULL, or by bucket: when the last rank could start */
    event_sink *sink;
    void *arg;
};

/* The rank before its first step. */
struct rank rank_start(const struct sim *sim, int number);

/* Goes on in the step.  False: it has to wait for all-reduces whose ends are not known yet. */
bool rank_run_step(struct rank *rank);

void rank_emit(struct rank *rank, const struct event *event);

/* All-reduce `number` of the job, counted over steps. */
struct collective collective_of(const struct sim *sim, size_t number);

/* A number that looks like chance, from the seed and two others. */
uint64_t seeded(uint64_t seed, uint64_t what, uint64_t which);

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
