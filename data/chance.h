/* chance.h - numbers that look like chance and are the same every time; what differs from rank to rank; clocks.
 *
 * Whole numbers only, and never two draws in one expression: the same on every machine, whatever the compiler.
 */
#ifndef DATA_CHANCE_H
#define DATA_CHANCE_H

#include "job.h"

/* What a number from the seed is for. */
enum use {
    USE_STEP,               /* the draws of a rank in a step */
    USE_MISHAP,             /* those that only its fault needs */
    USE_DEVICE,
    USE_HOST,
    USE_TRANSFER,
    USE_TAIL,
    USE_RING,
    USE_TOKENS,
    USE_CLOCK_OFFSET,
    USE_CLOCK_DRIFT,
    USE_CLOCK_DEVICE,
    USE_CUT_HEAD,
    USE_CUT_TAIL,
    USE_FAULT_STYLE,
    USE_FAULT_SITE,
    USE_FAULT_SHAPE,
    USE_FAULT_STEPS,
    USE_FAULT_AXIS,
    USE_START
};

uint64_t draw(uint64_t *state);

/* From the seed and what it is for. */
uint64_t seeded(uint64_t seed, enum use use, uint64_t which);

/* About `mean`, up to `percent` of it less or more. */
int64_t around(uint64_t *state, int64_t mean, int64_t percent);

/* In [-most, most], fixed for good; most below 10^13. */
int64_t fixed_between(uint64_t seed, enum use use, uint64_t which, int64_t most);

/* A duration with its jitter; now and then much longer. */
int64_t jittered(uint64_t *state, int64_t ns, int percent);

/* ns as this device, or this host, takes for it. */
int64_t device_ns(const struct job *job, int rank, int64_t ns);
int64_t host_ns(const struct job *job, int rank, int64_t ns);

/* What the clock of a rank's host shows at a true time, both Unix ns. */
int64_t shown_ns(const struct job *job, int rank, int64_t true_ns);

int host_of(const struct job *job, int rank);
int hosts_of(const struct job *job);
int64_t clock_offset_ns(const struct job *job, int host);      /* at JOB_START_NS */
int64_t clock_drift_ppb(const struct job *job, int host);

/* What the times of a rank's device are off from those of its host, as it is recorded. */
int64_t device_clock_ns(const struct job *job, int rank);

#define JOB_START_NS (INT64_C(1754930221) * 1000 * MS)

#endif
