/* truth.c - truth.json: the job, its fault and what it costs, clocks, and what each trace covers. */
#include "truth.h"
#include "fault.h"
#include "json.h"
#include "rank.h"
#include <math.h>
#include <stddef.h>

static void put_int(struct json *j, const char *key, int64_t value)
{
    json_key(j, key, true);
    json_int(j, value);
}

static void put_text(struct json *j, const char *key, const char *value)
{
    json_key(j, key, true);
    if (value != NULL)
        json_text(j, value);
    else
        json_raw(j, "null");
}

static void put_bool(struct json *j, const char *key, bool value)
{
    json_key(j, key, true);
    json_raw(j, value ? "true" : "false");
}

/* With six decimals. */
static void put_share(struct json *j, const char *key, double value)
{
    json_key(j, key, true);
    json_decimal(j, llround(value * 1e6), 6);
}

static void begin_list(struct json *j, const char *key)
{
    json_key(j, key, true);
    json_begin(j, '[', false);
}

static void put_list(struct json *j, const char *key, const int64_t *values, int n)
{
    begin_list(j, key);
    for (int i = 0; i < n; i++)
        json_int(j, values[i]);
    json_end(j, ']');
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

static void put_job(struct json *j, const struct truth *truth)
{
    static const char *const ages[] = { "2022", "2024", "2026" };
    const struct job *job = sim_job(truth->sim);

    json_key(j, "job", true);
    json_begin(j, '{', false);
    put_int(j, "ranks", job->ranks);
    put_int(j, "dp", data_parallel(job));
    put_int(j, "tp", job->tp);
    put_int(j, "pp", job->pp);
    put_int(j, "ep", job->ep);
    put_bool(j, "shard", job->shard);
    put_int(j, "microbatches", job->microbatches);
    put_int(j, "layers", job->layers);
    put_int(j, "ranks_per_host", job->host_ranks);
    put_text(j, "flavour", job->vendor == VENDOR_ROCM ? "rocm" : "nvidia");
    put_text(j, "age", ages[job->age]);
    put_bool(j, "collective_args", job->age != AGE_2022 && !truth->format->no_groups);
    put_bool(j, "seq", job->age == AGE_2026 && !truth->format->no_groups && !truth->format->no_seq);
    json_key(j, "seed", true);
    json_int(j, (int64_t)job->seed);
    put_int(j, "first_step", job->first_step);
    put_int(j, "last_step", job->first_step + job->steps - 1);
    put_int(j, "steps", job->steps);
    put_int(j, "sync_every", job->sync_every);
    json_end(j, '}');
}

/* What the trace has evidence for: a collector that nobody records is a host that stands still. */
static void put_causes(struct json *j, const struct sim *sim)
{
    const struct job *job = sim_job(sim);

    begin_list(j, "causes");
    json_text(j, cause_names[job->fault.cause]);
    if (sim->damage.style == STYLE_GC_HIDDEN)
        json_text(j, cause_names[CAUSE_HOST_LATE]);
    json_end(j, ']');
}

/* Ranks that wait for those that have the fault, outside of data parallelism: in its groups they come late as well. */
static void put_carriers(struct json *j, const struct job *job)
{
    static const enum axis axes[] = { AXIS_TP, AXIS_EP, AXIS_PP };

    begin_list(j, "carriers");
    for (int rank = 0; rank < job->ranks; rank++) {
        bool carries = false;
        for (size_t i = 0; i < sizeof axes / sizeof axes[0] && !fault_has(job, rank); i++) {
            struct group group = group_of(job, axes[i], rank);
            for (int k = 0; k < group.n; k++)
                carries = carries || fault_has(job, group.first + k * group.stride);
        }
        if (carries)
            json_int(j, rank);
    }
    json_end(j, ']');
}

static void put_link(struct json *j, const struct sim *sim)
{
    json_key(j, "link", true);
    if (sim_job(sim)->fault.cause != CAUSE_SLOW_LINK) {
        json_raw(j, "null");
        return;
    }
    json_begin(j, '{', false);
    put_int(j, "others", fault_link_others(sim));
    put_int(j, "apart_ns", fault_link_apart_ns(sim));
    json_end(j, '}');
}

static void put_fault(struct json *j, const struct truth *truth)
{
    static const char *const axes[NAXES] = { "dp", "tp", "ep", "pp", "pp", "world", "pp" };
    const struct job *job = sim_job(truth->sim);
    const struct fault *f = &job->fault;
    double step_ns = (double)truth->without->wall_ns / job->steps;
    int first = 0, last = 0, n = 0;
    bool traced = false;

    json_key(j, "fault", true);
    if (f->rank < 0) {
        json_raw(j, "null");
        return;
    }
    json_begin(j, '{', false);
    put_text(j, "cause", cause_names[f->cause]);
    put_causes(j, truth->sim);
    put_text(j, "style", style_names[truth->sim->damage.style]);
    begin_list(j, "ranks");
    for (int i = f->rank; i < f->rank + f->nranks && i < job->ranks; i++) {
        json_int(j, i);
        traced = traced || truth->written[i];
    }
    /* A link has two ends. */
    if (f->peer >= 0)
        json_int(j, f->peer);
    json_end(j, ']');
    put_bool(j, "traced", traced || (f->peer >= 0 && truth->written[f->peer]));
    json_key(j, "host", true);
    if (f->nranks > 1)
        json_int(j, host_of(job, f->rank));
    else
        json_raw(j, "null");
    put_text(j, "axis", f->cause == CAUSE_SLOW_LINK && f->peer >= 0 ? axes[f->axis] : NULL);
    put_link(j, truth->sim);
    put_text(j, "place", fault_place(truth->sim));
    put_carriers(j, job);
    put_text(j, "pattern", pattern_names[f->pattern]);
    begin_list(j, "steps");
    for (int i = job->warmup; i < all_steps(job); i++)
        if (fault_step_ns(job, i) > 0) {
            last = step_number(job, i);
            first = n++ == 0 ? last : first;
            json_int(j, last);
        }
    json_end(j, ']');
    put_int(j, "first_step", first);
    put_int(j, "last_step", last);
    put_int(j, "size_ns", f->ns);
    put_share(j, "size_share", (double)f->ns / step_ns);
    put_int(j, "gain_ns", truth->with->wall_ns - truth->without->wall_ns);
    put_share(j, "cost_share", cost_share(job, truth->with, truth->without));
    json_end(j, '}');
}

static void put_hosts(struct json *j, const struct job *job)
{
    begin_list(j, "hosts");
    for (int host = 0; host < hosts_of(job); host++) {
        json_begin(j, '{', false);
        json_key(j, "name", true);
        json_text_number(j, "node", host);
        put_int(j, "first_rank", host * job->host_ranks);
        put_int(j, "offset_ns", clock_offset_ns(job, host));
        put_int(j, "drift_ppb", clock_drift_ppb(job, host));
        json_end(j, '}');
    }
    json_end(j, ']');
}

static void put_traces(struct json *j, const struct truth *truth)
{
    const struct job *job = sim_job(truth->sim);

    begin_list(j, "traces");
    for (int rank = 0; rank < job->ranks; rank++) {
        if (!truth->written[rank])
            continue;
        struct window window = sim_window(truth->sim, rank);
        json_begin(j, '{', false);
        put_int(j, "rank", rank);
        put_int(j, "start_ns", window.start_ns);
        put_int(j, "end_ns", window.end_ns);
        put_int(j, "device_clock_ns", device_clock_ns(job, rank));
        json_end(j, '}');
    }
    json_end(j, ']');
}

bool truth_write(const char *path, const struct truth *truth)
{
    const struct job *job = sim_job(truth->sim);
    struct json *j = json_open(path, LAYOUT_INDENT, false);

    if (j == NULL)
        return false;
    json_begin(j, '{', false);
    put_int(j, "version", 1);
    put_job(j, truth);
    put_fault(j, truth);
    put_int(j, "start_ns", truth->with->start_ns);
    put_int(j, "wall_ns", truth->with->wall_ns);
    put_int(j, "healthy_wall_ns", truth->without->wall_ns);
    put_list(j, "step_ns", truth->with->step_ns, job->steps);
    put_list(j, "healthy_step_ns", truth->without->step_ns, job->steps);
    put_int(j, "epoch_ns", JOB_START_NS);
    put_hosts(j, job);
    put_traces(j, truth);
    json_end(j, '}');
    return json_close(j);
}
