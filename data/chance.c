/* chance.c - seeded numbers, and what they make different. */
#include "chance.h"

/* splitmix64 */
uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t seeded(uint64_t seed, enum use use, uint64_t which)
{
    uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + (uint64_t)use;
    state = draw(&state) + which;
    return draw(&state);
}

/* In [-2^19, 2^19), from the upper bits. */
static int64_t unit(uint64_t bits)
{
    return (int64_t)(bits >> 44) - (1 << 19);
}

int64_t around(uint64_t *state, int64_t mean, int64_t percent)
{
    return mean + mean * percent / 100 * unit(draw(state)) / (1 << 19);
}

int64_t fixed_between(uint64_t seed, enum use use, uint64_t which, int64_t most)
{
    return most * unit(seeded(seed, use, which)) / (1 << 19);
}

int64_t jittered(uint64_t *state, int64_t ns, int percent)
{
    uint64_t bits = draw(state);
    int64_t out = ns + ns * percent / 100 * unit(bits) / (1 << 19);

    /* One in 256 is far out. */
    if ((bits & 0xff) == 0)
        out += ns * percent / 100 * (int64_t)((bits >> 8) & 0xff) / 32;
    return out;
}

/* Parts of a million that a device or a host differs from the usual one. */
static int64_t differs_ppm(const struct job *job, enum use use, int rank, int64_t most)
{
    return most * unit(seeded(job->seed, use, (uint64_t)rank)) / (1 << 19);
}

int64_t device_ns(const struct job *job, int rank, int64_t ns)
{
    return ns + ns * differs_ppm(job, USE_DEVICE, rank, 1000L * job->noise.spread_per_mille) / 1000000;
}

int64_t host_ns(const struct job *job, int rank, int64_t ns)
{
    return ns + ns * differs_ppm(job, USE_HOST, rank, 10000L * job->noise.spread_per_mille) / 1000000;
}

int host_of(const struct job *job, int rank)
{
    return rank / job->host_ranks;
}

int hosts_of(const struct job *job)
{
    return (job->ranks + job->host_ranks - 1) / job->host_ranks;
}

int64_t clock_offset_ns(const struct job *job, int host)
{
    return fixed_between(job->seed, USE_CLOCK_OFFSET, (uint64_t)host, job->clocks.offset_ns);
}

int64_t clock_drift_ppb(const struct job *job, int host)
{
    return fixed_between(job->seed, USE_CLOCK_DRIFT, (uint64_t)host, job->clocks.drift_ppb);
}

int64_t device_clock_ns(const struct job *job, int rank)
{
    return fixed_between(job->seed, USE_CLOCK_DEVICE, (uint64_t)rank, job->clocks.device_ns);
}

int64_t shown_ns(const struct job *job, int rank, int64_t true_ns)
{
    int host = host_of(job, rank);
    int64_t since = true_ns - JOB_START_NS, drift = clock_drift_ppb(job, host);
    return true_ns + clock_offset_ns(job, host) + since / 1000 * drift / 1000000;
}
