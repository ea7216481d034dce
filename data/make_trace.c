/* make_trace.c - writes the traces of a simulated training job, and what is true of it.
 *
 *     make_trace -o traces --ranks 8 --steps 5 --seed 1
 *     make_trace -o big --ranks 1 --mb 435 --python-share 0.3 --op-share 0.4 --gzip
 *     make_trace -o slow --ranks 16 --tp 4 --pp 2 --fault throttled --fault-rank 5 --fault-cost 0.05
 *
 * The same options give the same bytes.
 */
#include "chance.h"
#include "options.h"
#include "truth.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_missing(const struct options *o, int rank)
{
    for (const char *at = o->missing; at != NULL && *at != '\0';) {
        char *end;
        if (strtol(at, &end, 10) == rank && end != at)
            return true;
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return false;
}

/* --- how much of what --------------------------------------------------------------------------------------------- */

/* Bytes of each part of one step. */
static bool measure(const struct format *format, struct job job, int64_t bytes[NPARTS])
{
    job.steps = 1;
    job.warmup = 0;
    job.fault.rank = -1;
    job.cut = (struct window_cut){ 0 };
    struct sim *sim = sim_new(&job);
    struct window window = { JOB_START_NS, JOB_START_NS + 1000000000 * MS };
    struct trace *trace = sim != NULL ? trace_open(NULL, format, &job, 0, &window) : NULL;
    if (trace == NULL) {
        sim_free(sim);
        return false;
    }
    for (int part = 0; part < NPARTS; part++) {
        int64_t before = trace_bytes(trace);
        trace_part(trace, (enum part)part);
        sim_run(sim, 0, trace_event, trace);
        bytes[part] = trace_bytes(trace) - before;
    }
    sim_free(sim);
    return trace_close(trace);
}

static int64_t total(const int64_t bytes[NPARTS])
{
    return bytes[PART_HOST] + bytes[PART_FRAMES] + bytes[PART_DEVICE] + bytes[PART_DEVICE_ANNOTATIONS];
}

/* Operators and frames a launch for the shares that are asked for: bytes grow in proportion to their number.  Measured
 * in one layout, so that the others hold the same events. */
static bool set_shares(struct options *o)
{
    const struct format usual = { .layout = LAYOUT_KINETO };
    int64_t bytes[NPARTS];
    double device_share = 1 - o->python_share - o->op_share;

    if (o->gpu_share >= 0) {
        double sum = o->python_share + o->op_share + o->gpu_share;
        o->python_share /= sum;
        o->op_share /= sum;
        device_share = o->gpu_share / sum;
    }
    if (!(device_share > 0.01)) {
        fprintf(stderr, "make_trace: the shares leave nothing for device events\n");
        return false;
    }
    o->job.ops = 2;
    o->job.frames = 3;
    struct job job = o->job;
    if (o->mb > 0)
        job.layers = 100; /* many: what a step has but once does not count */
    if (!measure(&usual, job, bytes))
        return false;
    double device = (double)(bytes[PART_DEVICE] + bytes[PART_DEVICE_ANNOTATIONS]);
    o->job.ops *= o->op_share / device_share * device / (double)bytes[PART_HOST];
    o->job.frames *= o->python_share / device_share * device / (double)bytes[PART_FRAMES];
    return true;
}

/* Layers for the size that is asked for, from two small models. */
static bool set_layers(struct options *o)
{
    int64_t small[NPARTS], large[NPARTS];
    struct job job = o->job;

    job.layers = 10;
    if (!measure(&o->format, job, small))
        return false;
    job.layers = 110;
    if (!measure(&o->format, job, large))
        return false;
    double a_layer = (double)(total(large) - total(small)) / 100;
    double of_step = (double)o->mb * 1e6 / o->job.steps;
    double layers = 10 + (of_step - (double)total(small)) / a_layer;
    o->job.layers = layers < 1 ? 1 : (int)lround(layers);
    return true;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static bool name_file(char *path, size_t size, const struct options *o, const char *name)
{
    int n = snprintf(path, size, "%s/%s", o->folder, name);
    if (n >= 0 && (size_t)n < size)
        return true;
    fprintf(stderr, "make_trace: %s: the name is too long\n", o->folder);
    return false;
}

static bool write_rank(const struct options *o, const struct sim *sim, int rank)
{
    char name[64], path[4096];
    struct window window = sim_window(sim, rank);

    snprintf(name, sizeof name, "rank-%d.json%s", rank, o->format.gzip ? ".gz" : "");
    if (!name_file(path, sizeof path, o, name))
        return false;
    struct trace *trace = trace_open(path, &o->format, sim_job(sim), rank, &window);
    if (trace == NULL) {
        fprintf(stderr, "make_trace: %s: %s\n", path, strerror(errno));
        return false;
    }
    for (int part = 0; part < NPARTS; part++) {
        trace_part(trace, (enum part)part);
        sim_run(sim, rank, trace_event, trace);
    }
    if (!trace_close(trace)) {
        fprintf(stderr, "make_trace: %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

static bool write_truth(const struct options *o, const struct sim *sim, const bool *written,
                        const struct course *without)
{
    char path[4096];
    struct course with = { 0 };
    struct truth truth = { sim, &o->format, &with, without, written };

    if (!name_file(path, sizeof path, o, "truth.json"))
        return false;
    bool ok = course_of(sim, &with);
    if (ok && !truth_write(path, &truth)) {
        fprintf(stderr, "make_trace: %s: %s\n", path, strerror(errno));
        ok = false;
    }
    course_free(&with);
    return ok;
}

/* The size of the fault, where it is asked for as a part of a step. */
static bool size_fault(struct options *o, const struct course *without)
{
    double step_ns = (double)without->wall_ns / o->job.steps;

    if (o->fault_share >= 0)
        o->job.fault.ns = llround(o->fault_share * step_ns);
    return o->fault_cost < 0 || seek_cost(&o->job, o->fault_cost, without);
}

static bool simulate(struct options *o, bool *written)
{
    bool compared = !o->no_truth || o->fault_share >= 0 || o->fault_cost >= 0;
    struct course without = { 0 };
    struct sim *sim = NULL;
    bool ok = true;

    if (compared)
        ok = healthy_course(&o->job, &without) && (o->job.fault.rank < 0 || size_fault(o, &without));
    if (ok)
        sim = sim_new(&o->job);
    if (sim == NULL) {
        fprintf(stderr, "make_trace: memory is out\n");
        ok = false;
    }
    for (int rank = 0; ok && rank < o->job.ranks; rank++) {
        written[rank] = o->only >= 0 ? o->only == rank : !is_missing(o, rank);
        if (written[rank])
            ok = write_rank(o, sim, rank);
    }
    ok = ok && (o->no_truth || write_truth(o, sim, written, &without));
    sim_free(sim);
    course_free(&without);
    return ok;
}

int main(int argc, char **argv)
{
    struct options o;
    int status = options_read(&o, argc, argv);

    if (status != 0)
        return status == 1 ? 0 : status;
    if (mkdir(o.folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "make_trace: %s: %s\n", o.folder, strerror(errno));
        return 1;
    }
    if (!set_shares(&o) || (o.mb > 0 && !set_layers(&o)))
        return 1;
    bool *written = calloc((size_t)o.job.ranks, sizeof *written);
    bool ok = written != NULL && simulate(&o, written);
    free(written);
    return ok ? 0 : 1;
}
