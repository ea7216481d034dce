/* options.c - a table of options, what they may be, and what of them does not go together. */
#include "options.h"
#include "chance.h"
#include "fault.h"
#include "meet.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is read before it is known where it belongs. */
struct raw {
    int fault, host, peer, offset_us, drift_ppb, device_us, head_us, tail_us, p2p, tp_stream, pattern;
    int64_t us;
    bool window, sized, no_sync_events;
    const char *axis;
};

enum type { INT, LONG, SHARE, TEXT, STEPS, WORD, SET, CLEAR };

struct option {
    const char *name, *metavar;
    enum type type;
    void *to;
    int64_t least, most;                /* INT, LONG; WORD: how many words */
    const char *doc;
    const char *const *words;
};

static const char *const vendors[] = { "nvidia", "rocm" };
static const char *const ages[] = { "2022", "2024", "2026" };
static const char *const layouts[] = { "kineto", "oneline", "indent" };
static const char *const namings[] = { "mesh", "megatron", "undefined", "local" };
static const char *const p2ps[] = { "pair", "batch" };
static const char *const tp_streams[] = { "comm", "compute" };

enum { NOPTIONS = 64 };

/* The table; a heading has no metavar.  Returns how many. */
static int list_options(struct options *o, struct raw *raw, struct option list[NOPTIONS])
{
    struct job *job = &o->job;
    struct fault *fault = &job->fault;
    const struct option all[] = {
        { "-o", "DIR", TEXT, &o->folder, 0, 0,
          "folder for rank-<r>.json[.gz] and truth.json; made where it is missing", NULL },
        { "--seed", "N", LONG, &job->seed, 0, INT64_MAX, "what all chance comes from (1)", NULL },
        { "The job:", NULL, INT, NULL, 0, 0, NULL, NULL },
        { "--ranks", "N", INT, &job->ranks, 1, 100000, "ranks of the job (8)", NULL },
        { "--tp", "N", INT, &job->tp, 1, 1024, "tensor parallel: all-reduces in each layer (1)", NULL },
        { "--pp", "N", INT, &job->pp, 1, 1024, "stages of a pipeline: sends and receives, 1F1B (1)", NULL },
        { "--ep", "N", INT, &job->ep, 1, 64, "expert parallel: all-to-alls in each layer (1)", NULL },
        { "--shard", "", SET, &job->shard, 0, 0,
          "data parallel with sharded parameters: all-gather, reduce-scatter", NULL },
        { "--gpus", "N", INT, &job->host_ranks, 1, 64, "ranks of a host (8)", NULL },
        { "--microbatches", "N", INT, &job->microbatches, 1, 1024, "of a step (1; with --pp twice the stages)", NULL },
        { "--p2p", "pair|batch", WORD, &raw->p2p, 2, 0,
          "sends and receives of their own, or both in a kernel without arguments", p2ps },
        { "--tp-stream", "comm|compute", WORD, &raw->tp_stream, 2, 0,
          "where tensor parallel all-reduces run (comm)", tp_streams },
        { "--steps", "N", INT, &job->steps, 1, 1000000, "recorded steps (5)", NULL },
        { "--first-step", "N", INT, &job->first_step, 0, 1000000000,
          "number of the first recorded ProfilerStep# (1)", NULL },
        { "--warmup", "N", INT, &job->warmup, 0, 1000, "steps before them (1)", NULL },
        { "--sync", "N", INT, &job->sync_every, 0, 1000000,
          "the host reads the loss every N steps (1); 0: never", NULL },
        { "--layers", "N", INT, &job->layers, 1, 10000000, "layers of a stage: the length of a step (2)", NULL },
        { "--bucket-layers", "N", INT, &job->bucket_layers, 1, 10000000,
          "layers whose gradients travel together (1)", NULL },
        { "--scale", "PERCENT", INT, &job->scale_percent, 1, 10000, "size of kernels and activations (100)", NULL },
        { "--flavour", "nvidia|rocm", WORD, &job->vendor, 2, 0,
          "kernels, calls and streams of which vendor (nvidia)", vendors },
        { "What differs:", NULL, INT, NULL, 0, 0, NULL, NULL },
        { "--jitter", "PERCENT", INT, &job->noise.jitter_percent, 0, 50,
          "of kernels, up to; of hosts six times that (4)", NULL },
        { "--spread", "PERMILLE", INT, &job->noise.spread_per_mille, 0, 100,
          "between devices for good; hosts ten times that (3)", NULL },
        { "--hiccups", "PERMILLE", INT, &job->noise.hiccups_per_mille, 0, 1000,
          "steps of a rank in which its host stops for a harmless moment (10)", NULL },
        { "--imbalance", "PERCENT", INT, &job->noise.imbalance_percent, 0, 90,
          "of the tokens that experts are sent, up to (5)", NULL },
        { "--clock-offset-us", "N", INT, &raw->offset_us, 0, 2000000000,
          "of a host's clock from true time, up to (0)", NULL },
        { "--clock-drift-ppb", "N", INT, &raw->drift_ppb, 0, 1000000, "of a host's clock, up to (0)", NULL },
        { "--device-clock-us", "N", INT, &raw->device_us, 0, 1000,
          "of a device's times from its host's, up to (0)", NULL },
        { "The traces:", NULL, INT, NULL, 0, 0, NULL, NULL },
        { "--age", "2022|2024|2026", WORD, &job->age, 3, 0,
          "of the software: names, arguments, heads of files (2026)", ages },
        { "--no-seq", "", SET, &o->format.no_seq, 0, 0, "collectives carry no count", NULL },
        { "--no-groups", "", SET, &o->format.no_groups, 0, 0, "collectives carry no arguments at all", NULL },
        { "--no-sync-events", "", SET, &raw->no_sync_events, 0, 0, "waits are not recorded (cuda_sync)", NULL },
        { "--group-names", "STYLE", WORD, &o->format.naming, 4, 0,
          "of process groups: mesh, megatron, undefined, local (mesh)", namings },
        { "--cut-head-us", "N", INT, &raw->head_us, 0, 2000000000,
          "ranks begin to record up to that much later (0)", NULL },
        { "--cut-tail-us", "N", INT, &raw->tail_us, 0, 2000000000, "... and end up to that much earlier (0)", NULL },
        { "--missing", "R,R...", TEXT, &o->missing, 0, 0, "ranks that have no trace", NULL },
        { "--only-rank", "R", INT, &o->only, 0, 100000, "write the file of rank R alone", NULL },
        { "--no-truth", "", SET, &o->no_truth, 0, 0, "do not write truth.json", NULL },
        { "--mb", "N", LONG, &o->mb, 0, 1000000, "choose the layers so that a rank's text has N MB", NULL },
        { "--python-share", "X", SHARE, &o->python_share, 0, 1, "share of the bytes that are python frames (0)", NULL },
        { "--op-share", "X", SHARE, &o->op_share, 0, 1, "share of the bytes that are operators (0.4)", NULL },
        { "--gpu-share", "X", SHARE, &o->gpu_share, 0, 1,
          "share of device events, calls and flows (what is left)", NULL },
        { "--gzip", "", SET, &o->format.gzip, 0, 0, "compress", NULL },
        { "--plain", "", CLEAR, &o->format.gzip, 0, 0, "do not (so it is)", NULL },
        { "--style", "kineto|oneline|indent", WORD, &o->format.layout, 3, 0, "white space (kineto)", layouts },
        { "--absolute", "", SET, &o->format.absolute, 0, 0, "ts is Unix time in whole microseconds", NULL },
        { "--base-time", "", CLEAR, &o->format.absolute, 0, 0,
          "ts counts from baseTimeNanoseconds (so it is, from 2024 on)", NULL },
        { "The fault:", NULL, INT, NULL, 0, 0, NULL, NULL },
        { "--fault", "CAUSE", WORD, &raw->fault, NCAUSES, 0,
          "compute_slow, throttled, more_work, host_late, input, h2d, gc, sync_drain, allocator, slow_link",
          cause_names },
        { "--fault-rank", "R", INT, &fault->rank, 0, 100000, "who has it", NULL },
        { "--fault-host", "H", INT, &raw->host, 0, 100000, "... or all ranks of this host have it", NULL },
        { "--fault-peer", "R", INT, &raw->peer, 0, 100000, "slow_link: the other end (the next in the group)", NULL },
        { "--fault-axis", "dp|tp|ep|pp", TEXT, &raw->axis, 0, 0,
          "slow_link: whose data suffer (the seed chooses)", NULL },
        { "--fault-us", "N", LONG, &raw->us, 0, 10000000000, "what it adds to a step of the rank", NULL },
        { "--fault-share", "X", SHARE, &o->fault_share, 0, 100, "... or as a share of a step without it", NULL },
        { "--fault-cost", "X", SHARE, &o->fault_cost, 0, 100,
          "... or so that steps of the job are longer by this share", NULL },
        { "--fault-pattern", "PATTERN", WORD, &raw->pattern, NPATTERNS, 0,
          "persistent, bounded, sporadic, one_off, drifting", pattern_names },
        { "--fault-steps", "A-B", STEPS, fault, 0, 0, "window, in numbers of ProfilerStep# (all)", NULL },
        { "--fault-style", "STYLE", WORD, &fault->style, NSTYLES, 0,
          "pause, launches; larger, more, tokens; pageable, pinned; event, frame, hidden; device_sync, item, layers "
          "(any)", style_names },
        { "--fault-site", "N", INT, &fault->site, 0, 1000000,
          "place of a pause in the step, from 0 (the seed chooses)", NULL },
        { "--late-rank", "R", INT, &fault->rank, 0, 100000,
          "as --fault host_late --fault-style pause --fault-site 0 --fault-rank R ...", NULL },
        { "--late-us", "N", LONG, &raw->us, 0, 1000000000, "... --fault-us N (2000) ...", NULL },
        { "--late-steps", "A-B", STEPS, fault, 0, 0, "... --fault-steps A-B (all)", NULL },
    };
    memcpy(list, all, sizeof all);
    return (int)(sizeof all / sizeof all[0]);
}

static void usage(const struct option *list, int n, FILE *out)
{
    fprintf(out, "usage: make_trace -o DIR [options]\n"
                 "Writes the traces of a simulated training job and, in truth.json, what is true of it.\n");
    for (int i = 0; i < n; i++) {
        if (list[i].metavar == NULL)
            fprintf(out, "%s\n", list[i].name);
        else
            fprintf(out, "  %-17s %-21s %s\n", list[i].name, list[i].metavar, list[i].doc);
    }
}

/* --- values ------------------------------------------------------------------------------------------------------- */

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

static bool read_share(const char *text, int64_t most, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0 && value <= (double)most))
        return false;
    *out = value;
    return true;
}

/* "A-B" */
static bool read_steps(const char *text, struct fault *fault)
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
    fault->from = (int)first;
    fault->to = (int)last;
    return true;
}

static bool read_word(const struct option *option, const char *text)
{
    for (int i = 0; i < option->least; i++)
        if (strcmp(text, option->words[i]) == 0) {
            *(int *)option->to = i;
            return true;
        }
    return false;
}

static bool take(const struct option *option, const char *text)
{
    int64_t number;

    switch (option->type) {
    case INT:
        if (!read_int(text, option->least, option->most, &number))
            return false;
        *(int *)option->to = (int)number;
        return true;
    case LONG:
        return read_int(text, option->least, option->most, option->to);
    case SHARE:
        return read_share(text, option->most, option->to);
    case TEXT:
        *(const char **)option->to = text;
        return true;
    case STEPS:
        return read_steps(text, option->to);
    case WORD:
        return read_word(option, text);
    case SET:
    case CLEAR:
        *(bool *)option->to = option->type == SET;
        return true;
    }
    return false;
}

/* --- what goes together ------------------------------------------------------------------------------------------- */

static bool refuse(const char *why)
{
    fprintf(stderr, "make_trace: %s\n", why);
    return false;
}

static bool complete_job(struct options *o, const struct raw *raw)
{
    struct job *job = &o->job;

    if (o->folder == NULL)
        return refuse("-o DIR is missing");
    if (job->ranks % (job->tp * job->pp) != 0)
        return refuse("--ranks: expected a multiple of --tp times --pp");
    if (data_parallel(job) % job->ep != 0)
        return refuse("--ep: expected a divisor of the data parallel ranks");
    if (job->shard && (job->pp > 1 || data_parallel(job) == 1))
        return refuse("--shard: expected data parallel ranks, and no --pp");
    if (job->microbatches == 0)
        job->microbatches = job->pp > 1 ? 2 * job->pp : 1;
    job->batched_p2p = raw->p2p == 1;
    job->tp_on_compute = raw->tp_stream == 1;
    job->clocks.offset_ns = raw->offset_us * US;
    job->clocks.drift_ppb = raw->drift_ppb;
    job->clocks.device_ns = raw->device_us * US;
    job->cut.head_ns = raw->head_us * US;
    job->cut.tail_ns = raw->tail_us * US;
    job->sync_events = job->age != AGE_2022 && !raw->no_sync_events;
    o->format.absolute = o->format.absolute || job->age == AGE_2022;
    return true;
}

/* The other end of a slow link, and the group whose data take it. */
static bool complete_link(struct options *o, const struct raw *raw)
{
    static const struct {
        const char *word;
        enum axis axis;
    } known[] = { { "dp", AXIS_DP }, { "tp", AXIS_TP }, { "ep", AXIS_EP }, { "pp", AXIS_NEXT } };
    struct fault *fault = &o->job.fault;
    uint64_t best = 0;

    fault->axis = NAXES;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct group group = group_of(&o->job, known[i].axis, fault->rank);
        uint64_t lot = seeded(o->job.seed, USE_FAULT_AXIS, i);
        if (group.n < 2 || (raw->axis != NULL && strcmp(raw->axis, known[i].word) != 0))
            continue;
        if (raw->peer >= 0 && !group_has(&group, raw->peer))
            continue;
        if (fault->axis == NAXES || lot > best) {
            fault->axis = known[i].axis;
            fault->peer = raw->peer >= 0 ? raw->peer : group.first + (group.me + 1) % group.n * group.stride;
            best = lot;
        }
    }
    return fault->axis != NAXES || refuse("slow_link: this rank has no such link");
}

static bool complete_fault(struct options *o, const struct raw *raw, bool late)
{
    struct job *job = &o->job;
    struct fault *fault = &job->fault;
    bool whose = fault->rank >= 0 || raw->host >= 0;

    if (raw->fault < 0 && !late)
        return !whose || refuse("--fault CAUSE is missing");
    if (!whose)
        return refuse("--fault-rank R is missing");
    fault->cause = late ? CAUSE_HOST_LATE : (enum cause)raw->fault;
    if (late) {
        fault->style = STYLE_PAUSE;
        fault->site = 0;
    }
    fault->nranks = 1;
    if (raw->host >= 0) {
        fault->rank = raw->host * job->host_ranks;
        fault->nranks = job->host_ranks;
    }
    if (fault->rank >= job->ranks)
        return refuse("--fault-rank, --fault-host: there is no such rank");
    fault->pattern = raw->pattern >= 0 ? (enum pattern)raw->pattern
                     : raw->window     ? PATTERN_BOUNDED
                                       : PATTERN_PERSISTENT;
    if (!raw->window) {
        fault->from = job->first_step;
        fault->to = job->first_step + job->steps - 1;
    }
    fault->ns = raw->us >= 0 ? raw->us * US : 2 * MS;
    if (!style_fits(fault->style, fault->cause))
        return refuse("--fault-style: that is no style of this fault");
    if (fault->style == STYLE_TOKENS && job->ep == 1)
        return refuse("--fault-style tokens: expected --ep");
    if (fault->cause != CAUSE_SLOW_LINK)
        return true;
    if (raw->host >= 0)
        return job->ranks > job->host_ranks || refuse("slow_link: there is one host only");
    return complete_link(o, raw);
}

/* --- the line ----------------------------------------------------------------------------------------------------- */

static const struct option *find(const struct option *list, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (list[i].metavar != NULL && strcmp(name, list[i].name) == 0)
            return &list[i];
    fprintf(stderr, "make_trace: what is %s?\n", name);
    return NULL;
}

static bool parse(int argc, char **argv, struct options *o, struct raw *raw, const struct option *list, int n)
{
    bool late = false;

    for (int i = 1; i < argc; i++) {
        const struct option *option = find(list, n, argv[i]);
        if (option == NULL)
            return false;
        bool alone = option->type == SET || option->type == CLEAR;
        if (!alone && i + 1 == argc) {
            fprintf(stderr, "make_trace: %s needs %s\n", option->name, option->metavar);
            return false;
        }
        late = late || strcmp(option->name, "--late-rank") == 0;
        raw->window = raw->window || option->type == STEPS;
        if (!take(option, alone ? NULL : argv[++i])) {
            fprintf(stderr, "make_trace: %s %s: %s expected\n", option->name, argv[i], option->metavar);
            return false;
        }
    }
    return complete_job(o, raw) && complete_fault(o, raw, late);
}

int options_read(struct options *o, int argc, char **argv)
{
    struct raw raw = { .fault = -1, .host = -1, .peer = -1, .pattern = -1, .us = -1 };
    struct option list[NOPTIONS];

    *o = (struct options){
        .job = { .ranks = 8, .tp = 1, .pp = 1, .ep = 1, .host_ranks = 8, .warmup = 1, .steps = 5, .first_step = 1,
                 .sync_every = 1, .layers = 2, .bucket_layers = 1, .scale_percent = 100, .seed = 1, .age = AGE_2026,
                 .noise = { .jitter_percent = 4, .spread_per_mille = 3, .hiccups_per_mille = 10,
                            .imbalance_percent = 5 },
                 .fault = { .rank = -1, .peer = -1, .site = -1 } },
        .op_share = 0.4,
        .gpu_share = -1,
        .only = -1,
        .fault_share = -1,
        .fault_cost = -1,
    };
    int n = list_options(o, &raw, list);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        usage(list, n, stdout);
        return 1;
    }
    if (!parse(argc, argv, o, &raw, list, n)) {
        usage(list, n, stderr);
        return 2;
    }
    return 0;
}
