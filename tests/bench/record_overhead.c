/* record_overhead.c - what recording costs the thread that trains, of a step of 3 ms with three phases.
 *
 *     build/tests/bench/record_overhead                 on this machine's GPU
 *     TLMPI_RECORD_LIBRARY=build/tests/record/libfake_cuda.so build/tests/bench/record_overhead
 *
 * Each way of recording is tried several times, in turns; the median, the least and the most are printed.  With the
 * driver of the tests it is the recorder alone; a real driver adds what its events take.
 */
#include "../record/real_gpu.h"
#include "tlmpi_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NROUNDS = 9, NSTEPS = 5000, NWAYS = 3, STEP_NS = 3000000 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Of a step, in ns; what the step does beside is left out. */
static double cost(const char *directory, int enable, int64_t every)
{
    static const char *const names[] = { "host_to_device", "training_step", "training_metrics" };
    const tlmpi_record_value micro = { "micro_step", TLMPI_RECORD_INT, { .integer = 0 } };
    tlmpi_record_settings settings;
    tlmpi_record *recorder;

    tlmpi_record_defaults(&settings);
    settings.enable = enable;
    settings.directory = directory;
    settings.record_every_n_steps = every;
    tlmpi_record_status opened = tlmpi_record_open(&settings, &recorder);
    if (enable && opened != TLMPI_RECORD_OK)
        exit(1);
    double from = now_ns();
    for (int64_t step = 0; step < NSTEPS; step++) {
        for (int i = 0; i < 3; i++) {
            uint64_t phase;
            (void)tlmpi_record_begin(recorder, names[i], step, NULL, &micro, 1, &phase);
            (void)tlmpi_record_end(recorder, phase, NULL);
        }
        (void)tlmpi_record_step_end(recorder, step);
    }
    double took = now_ns() - from;
    (void)tlmpi_record_close(recorder, NULL);
    return took / NSTEPS;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static const char *const ways[NWAYS] = { "off", "every 10th step", "every step" };
    char directory[] = "/tmp/tlmpi-record-XXXXXX", path[64];
    double ns[NWAYS][NROUNDS];
    const char *why, *fake = getenv("TLMPI_RECORD_LIBRARY");
    const char *gpu = fake != NULL ? fake : real_gpu(&why);

    if (gpu == NULL) {
        fprintf(stderr, "no GPU: %s; TLMPI_RECORD_LIBRARY names another driver\n", why);
        return 77;
    }
    if (mkdtemp(directory) == NULL)
        return 1;
    for (int round = 0; round < NROUNDS; round++)
        for (int way = 0; way < NWAYS; way++)
            ns[way][round] = cost(directory, way > 0, way == 1 ? 10 : 1);
    snprintf(path, sizeof path, "%s/cuda_events_rank_0.jsonl", directory);
    remove(path);
    remove(directory);

    printf("on %s, %d rounds of %d steps, us a step: median (least - most), of a step of 3 ms\n", gpu, NROUNDS, NSTEPS);
    for (int way = 0; way < NWAYS; way++) {
        qsort(ns[way], NROUNDS, sizeof ns[way][0], by_value);
        printf("%-16s %8.3f (%.3f - %.3f)  %.4f %%\n", ways[way], ns[way][NROUNDS / 2] / 1e3, ns[way][0] / 1e3,
               ns[way][NROUNDS - 1] / 1e3, 100 * ns[way][NROUNDS / 2] / STEP_NS);
    }
    return 0;
}
