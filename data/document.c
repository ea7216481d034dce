/* document.c - what stands around the events: the head of the file, names of processes and threads, the tail. */
#include "trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void device_properties(struct trace *t)
{
    bool rocm = t->job->vendor == VENDOR_ROCM;

    json_key(t->json, "deviceProperties", true);
    json_begin(t->json, '[', false);
    for (int i = 0; i < t->job->host_ranks; i++) {
        json_begin(t->json, '{', false);
        arg_int(t, "id", i, true);
        arg_text(t, "name", rocm ? "AMD Instinct MI300X" : "NVIDIA A100-SXM4-80GB", false);
        arg_int(t, "totalGlobalMem", rocm ? INT64_C(206141652992) : INT64_C(85174583296), false);
        arg_int(t, "computeMajor", rocm ? 9 : 8, true);
        arg_int(t, "computeMinor", rocm ? 4 : 0, false);
        arg_int(t, "maxThreadsPerBlock", 1024, true);
        arg_int(t, "maxThreadsPerMultiprocessor", 2048, false);
        arg_int(t, "regsPerBlock", 65536, true);
        arg_int(t, "warpSize", rocm ? 64 : 32, false);
        arg_int(t, "sharedMemPerBlock", rocm ? 65536 : 49152, true);
        arg_int(t, "numSms", rocm ? 304 : 108, false);
        json_end(t->json, '}');
    }
    json_end(t->json, ']');
}

/* A process group, with all its ranks. */
static void group_config(struct trace *t, const struct named_group *g)
{
    struct json *j = t->json;

    json_begin(j, '{', true);
    arg_text(t, "pg_name", g->name, false);
    arg_text(t, "pg_desc", g->description, false);
    arg_text(t, "backend_config", "cuda:nccl", false);
    arg_int(t, "pg_size", g->group.n, false);
    json_key(j, "ranks", false);
    json_begin(j, '[', true);
    for (int i = 0; i < g->group.n; i++)
        json_int(j, g->group.first + i * g->group.stride);
    json_end(j, ']');
    json_end(j, '}');
}

static void distributed_info(struct trace *t)
{
    static const enum axis axes[] = { AXIS_WORLD, AXIS_DP, AXIS_TP, AXIS_PP, AXIS_EP };
    struct json *j = t->json;
    const struct named_group *own[sizeof axes / sizeof axes[0]];
    int n = 0;

    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        const struct named_group *g = &t->groups[axes[i]];
        if (i == 0 || (g->group.n > 1 && strcmp(g->name, "0") != 0))
            own[n++] = g;
    }
    json_key(j, "distributedInfo", true);
    json_begin(j, '{', true);
    arg_text(t, "backend", "nccl", false);
    arg_int(t, "rank", t->rank, false);
    arg_int(t, "world_size", t->job->ranks, false);
    if (t->job->age == AGE_2026) {
        arg_int(t, "pg_count", n, false);
        json_key(j, "pg_config", false);
        json_begin(j, '[', true);
        for (int i = 0; i < n; i++)
            group_config(t, own[i]);
        json_end(j, ']');
    }
    if (t->job->age != AGE_2022)
        arg_text(t, "nccl_version", t->job->age == AGE_2024 ? "2.20.5" : "2.21.5", false);
    json_end(j, '}');
}

struct trace *trace_open(const char *path, const struct format *format, const struct job *job, int rank,
                         const struct window *window)
{
    struct trace *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    t->json = json_open(path, format->layout, format->gzip);
    if (t->json == NULL) {
        free(t);
        return NULL;
    }
    t->format = *format;
    t->job = job;
    t->rank = rank;
    t->window = *window;
    name_groups(t);

    json_begin(t->json, '{', false);
    arg_int(t, "schemaVersion", 1, true);
    device_properties(t);
    distributed_info(t);
    arg_int(t, "record_shapes", 1, true);
    arg_int(t, "with_stack", job->frames > 0 ? 1 : 0, true);
    if (job->age == AGE_2026) {
        json_key(t->json, "host_name", true);
        json_text_number(t->json, "node", host_of(job, rank));
    }
    if (!format->absolute) {
        arg_text(t, "displayTimeUnit", "ms", true);
        arg_int(t, "baseTimeNanoseconds", BASE_NS, true);
    }
    json_key(t->json, "traceEvents", true);
    json_begin(t->json, '[', false);
    return t;
}

static void metadata(struct trace *t, const char *what, int64_t pid, int64_t tid, int64_t at_ns, const char *key,
                     const char *text, int64_t number)
{
    json_begin(t->json, '{', false);
    arg_text(t, "name", what, true);
    arg_text(t, "ph", "M", false);
    json_key(t->json, "ts", false);
    time_value(t, at_ns);
    arg_int(t, "pid", pid, false);
    arg_int(t, "tid", tid, false);
    json_key(t->json, "args", true);
    json_begin(t->json, '{', false);
    json_key(t->json, key, true);
    if (text == NULL)
        json_int(t->json, number);
    else if (number < 0)
        json_text(t->json, text);
    else
        json_text_number(t->json, text, number);
    end_span(t);
}

static void process(struct trace *t, int64_t pid, int64_t at_ns, const char *label, int64_t number, int64_t place)
{
    metadata(t, "process_name", pid, 0, at_ns, "name", "python", -1);
    metadata(t, "process_labels", pid, 0, at_ns, "labels", label, number);
    metadata(t, "process_sort_index", pid, 0, at_ns, "sort_index", NULL, place);
}

static void instant(struct trace *t, const char *name, const char *pid, const char *tid, int64_t at_ns)
{
    json_begin(t->json, '{', false);
    arg_text(t, "name", name, true);
    arg_text(t, "ph", "i", false);
    arg_text(t, "s", "g", false);
    arg_text(t, "pid", pid, true);
    arg_text(t, "tid", tid, false);
    json_key(t->json, "ts", false);
    time_value(t, at_ns);
    json_end(t->json, '}');
}

/* The span of the whole recording, on a track of its own. */
static void whole_span(struct trace *t)
{
    const struct window *window = &t->window;

    json_begin(t->json, '{', false);
    arg_text(t, "ph", "X", true);
    arg_text(t, "cat", "Trace", false);
    json_key(t->json, "ts", false);
    time_value(t, window->start_ns);
    arg_int(t, "dur", (window->end_ns - window->start_ns) / 1000, false);
    arg_text(t, "pid", "Spans", true);
    arg_text(t, "tid", "PyTorch Profiler", false);
    arg_text(t, "name", "PyTorch Profiler (0)", true);
    json_key(t->json, "args", true);
    json_begin(t->json, '{', false);
    arg_int(t, "Op count", 0, true);
    end_span(t);
}

int64_t trace_bytes(const struct trace *t)
{
    return json_bytes(t->json);
}

bool trace_close(struct trace *t)
{
    int64_t at = t->window.start_ns;

    process(t, host_pid(t), at, "CPU", -1, host_pid(t));
    for (int i = 0; i < t->job->host_ranks; i++)
        process(t, i, at, "GPU ", i, 16777216 + i);
    for (int slot = 0; slot < NSLOTS; slot++) {
        int stream = sim_stream(t->job->vendor, slot);
        if ((t->streams & 1U << slot) != 0)
            metadata(t, "thread_name", device_of(t), stream, at, "name", "stream ", stream);
    }
    for (int i = 0; i < 2; i++)
        metadata(t, "thread_name", host_pid(t), host_tid(t, i), at, "name", "thread ", host_tid(t, i));
    whole_span(t);
    instant(t, "Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", at);
    instant(t, "Record Window End", "", "", t->window.end_ns);
    json_end(t->json, ']');
    json_key(t->json, "traceName", true);
    json_text_number(t->json, "./traces/rank-", t->rank);
    json_end(t->json, '}');
    bool ok = json_close(t->json);
    free(t);
    return ok;
}
