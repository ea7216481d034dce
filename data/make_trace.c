/* make_trace.c - writes the traces of a simulated training job.
 *
 *     make_trace -o traces --ranks 8 --steps 5 --seed 1
 *     make_trace -o big --ranks 1 --mb 435 --python-share 0.3 --op-share 0.4 --gzip
 *
 * The same options give the same bytes.
 */
#include "kineto.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct options {
    const char *folder;
    struct job job;
    struct format format;
    int64_t mb;                         /* of text a rank; 0: as the layers have it */
    double python_share, op_share, gpu_share;
    int late_us;
    int only;                           /* the one rank to write, -1: all */
};

/* --- command line ------------------------------------------------------------------------------------------------- */

enum type { INT, LONG, SHARE, TEXT, STEPS, STYLE, FLAVOUR, SET, CLEAR };

struct option {
    const char *name, *metavar;
    enum type type;
    void *to;
    int64_t least, most;
    const char *doc;
};

#define NOPTIONS 21

static void list_options(struct options *o, struct option list[NOPTIONS])
{
    const struct option all[NOPTIONS] = {
        { "-o", "DIR", TEXT, &o->folder, 0, 0, "folder for rank-<r>.json[.gz]; made where it is missing" },
        { "--ranks", "N", INT, &o->job.ranks, 1, 100000, "ranks of the job (8)" },
        { "--steps", "N", INT, &o->job.steps, 1, 1000000, "steps (5)" },
        { "--first-step", "N", INT, &o->job.first_step, 0, 1000000000, "number of the first ProfilerStep# (1)" },
        { "--seed", "N", LONG, &o->job.seed, 0, INT64_MAX, "what all chance comes from (1)" },
        { "--layers", "N", INT, &o->job.layers, 1, 10000000, "layers of the model: the size of a step (12)" },
        { "--bucket-layers", "N", INT, &o->job.bucket_layers, 1, 10000000,
          "layers whose gradients travel together (3)" },
        { "--mb", "N", LONG, &o->mb, 0, 1000000, "choose the layers so that a rank's text has N MB" },
        { "--flavour", "nvidia|rocm", FLAVOUR, &o->job.vendor, 0, 0,
          "kernels, calls and streams of which vendor (nvidia)" },
        { "--python-share", "X", SHARE, &o->python_share, 0, 0, "share of the bytes that are python frames (0)" },
        { "--op-share", "X", SHARE, &o->op_share, 0, 0, "share of the bytes that are operators (0.4)" },
        { "--gpu-share", "X", SHARE, &o->gpu_share, 0, 0, "share of device events, calls and flows (what is left)" },
        { "--gzip", "", SET, &o->format.gzip, 0, 0, "compress" },
        { "--plain", "", CLEAR, &o->format.gzip, 0, 0, "do not (so it is)" },
        { "--style", "kineto|oneline|indent", STYLE, &o->format.layout, 0, 0, "white space (kineto)" },
        { "--absolute", "", SET, &o->format.absolute, 0, 0, "ts is Unix time in whole microseconds" },
        { "--base-time", "", CLEAR, &o->format.absolute, 0, 0, "ts counts from baseTimeNanoseconds (so it is)" },
        { "--only-rank", "R", INT, &o->only, 0, 100000, "write the file of rank R alone" },
        { "--late-rank", "R", INT, &o->job.late.rank, 0, 100000, "the host of rank R stands still before forward ..." },
        { "--late-us", "N", INT, &o->late_us, 0, 1000000000, "... for N microseconds (2000) ..." },
        { "--late-steps", "A-B", STEPS, &o->job.late, 0, 0, "... in steps A to B (all)" },
    };
    memcpy(list, all, sizeof all);
}

static bool read_int(const char *text, int64_t least, int64_t most, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most)
        return false;
    *out = value;
    return true;
}

static bool read_share(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0 && value <= 1))
        return false;
    *out = value;
    return true;
}

/* "A-B" */
static bool read_steps(const char *text, struct fault *late)
{
    char from[16];
    const char *dash = strchr(text, '-');
    int64_t first, last;

    if (dash == NULL || (size_t)(dash - text) >= sizeof from)
        return false;
    memcpy(from, text, (size_t)(dash - text));
    from[dash - text] = '\0';
    if (!read_int(from, 0, INT32_MAX, &first) || !read_int(dash + 1, first, INT32_MAX, &last))
        return false;
    late->from = (int)first;
    late->to = (int)last;
    return true;
}

/* Which of two or three words, or -1. */
static int which(const char *text, const char *const words[], int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

static bool take(const struct option *option, const char *text)
{
    static const char *const layouts[] = { "kineto", "oneline", "indent" }, *const vendors[] = { "nvidia", "rocm" };
    int64_t number;
    int word;

    switch (option->type) {
    case INT:
        if (!read_int(text, option->least, option->most, &number))
            return false;
        *(int *)option->to = (int)number;
        return true;
    case LONG:
        return read_int(text, option->least, option->most, option->to);
    case SHARE:
        return read_share(text, option->to);
    case TEXT:
        *(const char **)option->to = text;
        return true;
    case STEPS:
        return read_steps(text, option->to);
    case STYLE:
        if ((word = which(text, layouts, 3)) < 0)
            return false;
        *(enum layout *)option->to = (enum layout)word;
        return true;
    case FLAVOUR:
        if ((word = which(text, vendors, 2)) < 0)
            return false;
        *(enum vendor *)option->to = (enum vendor)word;
        return true;
    case SET:
    case CLEAR:
        *(bool *)option->to = option->type == SET;
        return true;
    }
    return false;
}

static void usage(const struct option *list, FILE *out)
{
    fprintf(out, "usage: make_trace -o DIR [options]\nWrites the traces of a simulated training job.\n");
    for (int i = 0; i < NOPTIONS; i++)
        fprintf(out, "  %-15s %-22s %s\n", list[i].name, list[i].metavar, list[i].doc);
}

static bool parse(int argc, char **argv, struct options *o, const struct option *list)
{
    for (int i = 1; i < argc; i++) {
        const struct option *option = NULL;
        for (int k = 0; k < NOPTIONS; k++)
            if (strcmp(argv[i], list[k].name) == 0)
                option = &list[k];
        if (option == NULL) {
            fprintf(stderr, "make_trace: what is %s?\n", argv[i]);
            return false;
        }
        bool alone = option->type == SET || option->type == CLEAR;
        if (!alone && i + 1 == argc) {
            fprintf(stderr, "make_trace: %s needs %s\n", option->name, option->metavar);
            return false;
        }
        if (!take(option, alone ? NULL : argv[++i])) {
            fprintf(stderr, "make_trace: %s %s: %s expected\n", option->name, argv[i], option->metavar);
            return false;
        }
    }
    if (o->folder == NULL) {
        fprintf(stderr, "make_trace: -o DIR is missing\n");
        return false;
    }
    o->job.late.ns = (int64_t)o->late_us * 1000;
    return true;
}

/* --- how much of what --------------------------------------------------------------------------------------------- */

/* Bytes of each part of one step. */
static bool measure(const struct format *format, struct job job, int64_t bytes[NPARTS])
{
    struct window window;
    job.steps = 1;
    struct sim *sim = sim_new(&job);
    struct trace *trace = sim != NULL ? trace_open(NULL, format, &job, 0) : NULL;
    if (trace == NULL) {
        sim_free(sim);
        return false;
    }
    for (int part = 0; part < NPARTS; part++) {
        int64_t before = trace_bytes(trace);
        trace_part(trace, (enum part)part);
        sim_run(sim, 0, trace_event, trace, &window);
        bytes[part] = trace_bytes(trace) - before;
    }
    sim_free(sim);
    return trace_close(trace, &window);
}

static int64_t total(const int64_t bytes[NPARTS])
{
    return bytes[PART_HOST] + bytes[PART_FRAMES] + bytes[PART_DEVICE] + bytes[PART_DEVICE_ANNOTATIONS];
}

/* Operators and frames a launch for the shares that are asked for: bytes grow in proportion to their number.  Measured
 * in one layout, so that the others hold the same events. */
static bool set_shares(struct options *o)
{
    const struct format usual = { .layout = LAYOUT_KINETO, .devices = o->format.devices };
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
    if (!measure(&usual, o->job, bytes))
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

    job.ranks = 1;
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

static bool write_rank(const struct options *o, const struct sim *sim, int rank)
{
    char path[4096];
    struct window window;
    int n = snprintf(path, sizeof path, "%s/rank-%d.json%s", o->folder, rank, o->format.gzip ? ".gz" : "");

    if (n < 0 || (size_t)n >= sizeof path) {
        fprintf(stderr, "make_trace: %s: the name is too long\n", o->folder);
        return false;
    }
    struct trace *trace = trace_open(path, &o->format, &o->job, rank);
    if (trace == NULL) {
        fprintf(stderr, "make_trace: %s: %s\n", path, strerror(errno));
        return false;
    }
    for (int part = 0; part < NPARTS; part++) {
        trace_part(trace, (enum part)part);
        sim_run(sim, rank, trace_event, trace, &window);
    }
    if (!trace_close(trace, &window)) {
        fprintf(stderr, "make_trace: %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options o = {
        .job = { .ranks = 8, .steps = 5, .first_step = 1, .layers = 12, .bucket_layers = 3, .seed = 1,
                 .late = { .rank = -1, .from = 0, .to = INT32_MAX } },
        .format = { .devices = 8 },
        .op_share = 0.4,
        .gpu_share = -1,
        .late_us = 2000,
        .only = -1,
    };
    struct option list[NOPTIONS];

    list_options(&o, list);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        usage(list, stdout);
        return 0;
    }
    if (!parse(argc, argv, &o, list)) {
        usage(list, stderr);
        return 2;
    }
    if (mkdir(o.folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "make_trace: %s: %s\n", o.folder, strerror(errno));
        return 1;
    }
    if (!set_shares(&o) || (o.mb > 0 && !set_layers(&o)))
        return 1;
    struct sim *sim = sim_new(&o.job);
    if (sim == NULL) {
        fprintf(stderr, "make_trace: memory is out\n");
        return 1;
    }
    bool ok = true;
    for (int rank = 0; ok && rank < o.job.ranks; rank++)
        if (o.only < 0 || o.only == rank)
            ok = write_rank(&o, sim, rank);
    sim_free(sim);
    return ok ? 0 : 1;
}
