/* noisy_job.h - jobs made by hand whose ranks differ by noise, and by faults. */
#ifndef TLMPI_TESTS_NOISY_JOB_H
#define TLMPI_TESTS_NOISY_JOB_H

#include "hand_graph.h"

enum { HOST = 100000, DEVICE = 1000000 }; /* ns of a step */

/* Up to 1 % of it, alike in each run. */
static inline int64_t noise(size_t rank, size_t step, int64_t ns, uint64_t of)
{
    uint64_t random = (rank * 1009 + step * 17 + of) * UINT64_C(0x9E3779B97F4A7C15) + 1;
    unit_random(&random);
    unit_random(&random);
    return ns * ((int64_t)unit_below(&random, 2001) - 1000) / 100000;
}

static inline int64_t usual_host(size_t rank, size_t step)
{
    return HOST + noise(rank, step, HOST, 1);
}

static inline int64_t usual_device(size_t rank, size_t step)
{
    return DEVICE + noise(rank, step, DEVICE, 2);
}

static inline int64_t slow_device(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 3 ? DEVICE / 5 : 0);
}

/* Host 7 takes longer, but device 0 makes everybody wait for longer still. */
static inline int64_t idle_late_host(size_t rank, size_t step)
{
    return usual_host(rank, step) + (rank == 7 ? DEVICE / 20 : 0);
}

static inline int64_t late_for_long(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 0 ? DEVICE / 2 : rank == 7 ? -DEVICE / 4 : 0);
}

/* Returns the ranks, below 10, that have a candidate of the device, one after the other. */
static inline const char *late(const hand_job *h)
{
    static char text[11];
    size_t n = 0;
    for (uint32_t r = 0; r < 10 && r < h->graph.nranks; r++)
        if (hand_candidate(h, r, TL_FAMILY_DEVICE) != NULL)
            text[n++] = (char)('0' + r);
    text[n] = 0;
    return text;
}

static const double alpha = 0.01, least_cost = 0.01;

#endif
