/* kineto.c - which keys and values an event has in the profiler's file. */
#include "trace.h"
#include <stdio.h>
#include <string.h>

#define HOST_PID     4100 /* of rank 0 */
#define AUTOGRAD_TID 120  /* of the second host thread, from the first */

/* --- pieces of an event ------------------------------------------------------------------------------------------- */

int device_of(const struct trace *t)
{
    return t->rank % t->job->host_ranks;
}

int64_t host_pid(const struct trace *t)
{
    return HOST_PID + t->rank;
}

int64_t host_tid(const struct trace *t, int thread)
{
    return host_pid(t) + thread * AUTOGRAD_TID;
}

/* Whole microseconds are cut, not rounded: what lay inside of something else still does. */
static bool of_device(const struct event *e)
{
    return e->kind != EVENT_OP && e->kind != EVENT_ANNOTATION && e->kind != EVENT_FRAME && e->kind != EVENT_CALL;
}

static int64_t event_ns(const struct trace *t, const struct event *e, int64_t true_ns)
{
    return of_device(e) ? true_ns + device_clock_ns(t->job, t->rank) : true_ns;
}

void time_value(struct trace *t, int64_t true_ns)
{
    int64_t ns = shown_ns(t->job, t->rank, true_ns);
    if (t->format.absolute)
        json_int(t->json, ns / 1000);
    else
        json_decimal(t->json, ns - BASE_NS, 3);
}

/* "ProfilerStep#3", "nccl:send 3->4", "nccl:recv 4<-3" */
static void event_name(struct trace *t, const struct event *e)
{
    char text[64];

    json_key(t->json, "name", false);
    if (e->other >= 0) {
        bool receives = strstr(e->name, "recv") != NULL;
        snprintf(text, sizeof text, "%s%d%s%d", e->name, e->number, receives ? "<-" : "->", e->other);
        json_text(t->json, text);
    } else if (e->number >= 0) {
        json_text_number(t->json, e->name, e->number);
    } else {
        json_text(t->json, e->name);
    }
}

static void begin_span(struct trace *t, const char *category, const struct event *e, int64_t pid, int64_t tid)
{
    struct json *j = t->json;
    json_begin(j, '{', false);
    json_key(j, "ph", true);
    json_text(j, "X");
    json_key(j, "cat", false);
    json_text(j, category);
    event_name(t, e);
    json_key(j, "pid", false);
    json_int(j, pid);
    json_key(j, "tid", false);
    json_int(j, tid);
    json_key(j, "ts", true);
    time_value(t, event_ns(t, e, e->start_ns));
    json_key(j, "dur", false);
    int64_t start = shown_ns(t->job, t->rank, event_ns(t, e, e->start_ns));
    int64_t end = shown_ns(t->job, t->rank, event_ns(t, e, e->end_ns));
    if (t->format.absolute)
        json_int(j, end / 1000 - start / 1000);
    else
        json_decimal(j, end - start, 3);
    json_key(j, "args", true);
    json_begin(j, '{', false);
}

void end_span(struct trace *t)
{
    json_end(t->json, '}');
    json_end(t->json, '}');
}

void arg_int(struct trace *t, const char *key, int64_t value, bool line)
{
    json_key(t->json, key, line);
    json_int(t->json, value);
}

void arg_text(struct trace *t, const char *key, const char *value, bool line)
{
    json_key(t->json, key, line);
    json_text(t->json, value);
}

static void arg_raw(struct trace *t, const char *key, const char *value, bool line)
{
    json_key(t->json, key, line);
    json_raw(t->json, value);
}

static void arg_list(struct trace *t, const char *key, const char *first, const char *second)
{
    json_key(t->json, key, false);
    json_begin(t->json, '[', true);
    json_raw(t->json, first);
    json_raw(t->json, second);
    json_end(t->json, ']');
}

/* Rows as there are blocks in the grid of the kernel. */
static void input_dims(struct trace *t, int blocks)
{
    const int64_t dims[2][3] = { { 8, blocks > 0 ? blocks * INT64_C(16) / 9 : 2048, 768 }, { 768, 768, 0 } };

    json_key(t->json, "Input Dims", false);
    json_begin(t->json, '[', true);
    for (int i = 0; i < 2; i++) {
        json_begin(t->json, '[', true);
        for (int n = 0; n < 3 && dims[i][n] > 0; n++)
            json_int(t->json, dims[i][n]);
        json_end(t->json, ']');
    }
    json_end(t->json, ']');
}

static void arg_triple(struct trace *t, const char *key, int64_t first)
{
    json_key(t->json, key, true);
    json_begin(t->json, '[', true);
    json_int(t->json, first);
    json_int(t->json, 1);
    json_int(t->json, 1);
    json_end(t->json, ']');
}

/* Arrow from a launch (ph "s") to its work (ph "f"). */
static void flow(struct trace *t, const char *ph, const struct event *e, int64_t pid, int64_t tid)
{
    struct json *j = t->json;
    const char *category = t->job->age == AGE_2022 ? "async_cpu_to_gpu" : "ac2g";

    json_begin(j, '{', false);
    json_key(j, "ph", true);
    json_text(j, ph);
    arg_int(t, "id", e->correlation, false);
    arg_int(t, "pid", pid, false);
    arg_int(t, "tid", tid, false);
    json_key(j, "ts", false);
    time_value(t, event_ns(t, e, e->start_ns));
    arg_text(t, "cat", category, true);
    arg_text(t, "name", category, false);
    if (ph[0] == 'f')
        arg_text(t, "bp", "e", false);
    json_end(j, '}');
}

/* --- the kinds of events ------------------------------------------------------------------------------------------ */

static void host_event(struct trace *t, const struct event *e)
{
    begin_span(t, e->kind == EVENT_OP ? "cpu_op" : "user_annotation", e, host_pid(t), host_tid(t, e->track));
    arg_int(t, "External id", e->external, true);
    if (t->job->age != AGE_2022)
        arg_int(t, "Record function id", 0, false);
    if (e->kind == EVENT_OP && e->collective == NULL) {
        arg_list(t, "Concrete Inputs", "\"\"", "\"\"");
        arg_list(t, "Input type", "\"c10::BFloat16\"", "\"c10::BFloat16\"");
        input_dims(t, e->blocks);
    }
    arg_int(t, "Ev Idx", t->index++, false);
    if (e->collective != NULL)
        collective_args(t, e->collective, true);
    end_span(t);
}

static void frame_event(struct trace *t, const struct event *e)
{
    begin_span(t, "python_function", e, host_pid(t), host_tid(t, e->track));
    if (e->parent == 0)
        arg_raw(t, "Python parent id", "null", true);
    else
        arg_int(t, "Python parent id", e->parent, true);
    arg_int(t, "Python id", e->external, false);
    arg_int(t, "Ev Idx", t->index++, false);
    end_span(t);
}

/* Old files have the correlation here, too. */
static int64_t external_id(const struct trace *t, const struct event *e)
{
    return t->job->age == AGE_2022 ? e->correlation : e->external;
}

static void call_event(struct trace *t, const struct event *e)
{
    bool rocm = t->job->vendor == VENDOR_ROCM;

    begin_span(t, "cuda_runtime", e, host_pid(t), host_tid(t, e->track));
    arg_int(t, "External id", external_id(t, e), true);
    if (rocm && e->kernel != NULL)
        arg_text(t, "kernel", e->kernel, false);
    if (rocm && e->bytes > 0) {
        json_key(t->json, "bytes", false);
        json_text_number(t->json, "", e->bytes);
        arg_text(t, "kind", e->to_host ? "2" : "1", false);
    }
    arg_int(t, rocm ? "cid" : "cbid", rocm ? 107 : 211, true);
    arg_int(t, "correlation", e->correlation, false);
    if (rocm && e->kernel != NULL) {
        arg_triple(t, "grid", 1152);
        arg_triple(t, "block", 256);
        arg_int(t, "shared memory", 0, true);
    }
    end_span(t);
    flow(t, "s", e, host_pid(t), host_tid(t, e->track));
}

static int stream_of(const struct trace *t, const struct event *e)
{
    return sim_stream(t->job->vendor, e->track);
}

static void kernel_args(struct trace *t, const struct event *e)
{
    if (t->job->vendor == VENDOR_ROCM) {
        arg_int(t, "device", device_of(t), true);
        arg_int(t, "stream", stream_of(t, e), false);
        arg_int(t, "correlation", e->correlation, false);
        arg_text(t, "kind", "Dispatch Kernel", false);
        arg_triple(t, "grid", e->blocks);
        arg_triple(t, "block", e->threads);
        return;
    }
    arg_int(t, "queued", 0, true);
    arg_int(t, "device", device_of(t), false);
    arg_int(t, "context", 1, false);
    arg_int(t, "stream", stream_of(t, e), true);
    arg_int(t, "correlation", e->correlation, false);
    arg_int(t, "registers per thread", 128, true);
    arg_int(t, "shared memory", e->threads * 192, true);
    arg_raw(t, "blocks per SM", "10.666667", true);
    arg_raw(t, "warps per SM", "42.666668", true);
    arg_triple(t, "grid", e->blocks);
    arg_triple(t, "block", e->threads);
    arg_int(t, "est. achieved occupancy %", 25, true);
}

static void copy_args(struct trace *t, const struct event *e)
{
    int64_t ns = e->end_ns > e->start_ns ? e->end_ns - e->start_ns : 1;
    arg_int(t, "device", device_of(t), true);
    if (t->job->vendor == VENDOR_NVIDIA)
        arg_int(t, "context", 1, false);
    else if (e->kind == EVENT_COPY)
        arg_text(t, "kind", e->to_host ? "DtoH" : "HtoD", false);
    arg_int(t, "stream", stream_of(t, e), true);
    arg_int(t, "correlation", e->correlation, false);
    arg_int(t, "bytes", e->bytes, true);
    json_key(t->json, "memory bandwidth (GB/s)", false);
    json_decimal(t->json, e->bytes * 1000000 / ns, 6);
}

static void sync_args(struct trace *t, const struct event *e)
{
    arg_text(t, "cuda_sync_kind", e->name, true);
    if (e->waits_for >= 0) {
        arg_int(t, "wait_on_stream", sim_stream(t->job->vendor, e->waits_on), true);
        arg_int(t, "wait_on_cuda_event_record_corr_id", e->waits_for, true);
        arg_int(t, "wait_on_cuda_event_id", 9, true);
    }
    arg_int(t, "stream", stream_of(t, e), true);
    arg_int(t, "correlation", e->correlation, false);
    arg_int(t, "device", device_of(t), true);
    arg_int(t, "context", 1, false);
}

/* Of work that was queued before the recording began nobody knows who queued it, or what for. */
static void device_event(struct trace *t, const struct event *e, const char *category)
{
    bool known = e->called_ns >= t->window.start_ns;
    int64_t external = external_id(t, e);

    if (!known && (e->kind == EVENT_DEVICE_ANNOTATION || e->kind == EVENT_SYNC))
        return;
    if (e->track >= 0)
        t->streams |= 1U << e->track;
    begin_span(t, category, e, device_of(t), stream_of(t, e));
    if (external > 0 && (known || t->job->age == AGE_2022))
        arg_int(t, "External id", external, true);
    if (e->kind == EVENT_KERNEL)
        kernel_args(t, e);
    else if (e->kind == EVENT_SYNC)
        sync_args(t, e);
    else if (e->kind != EVENT_DEVICE_ANNOTATION)
        copy_args(t, e);
    if (e->collective != NULL && e->kind == EVENT_KERNEL && known)
        collective_args(t, e->collective, false);
    end_span(t);
    if (e->kind != EVENT_DEVICE_ANNOTATION && known)
        flow(t, "f", e, device_of(t), stream_of(t, e));
}

void trace_part(struct trace *t, enum part part)
{
    t->part = part;
}

void trace_event(void *trace, const struct event *e)
{
    static const struct {
        enum part part;
        const char *category;
    } kinds[] = {
        [EVENT_OP] = { PART_HOST, "cpu_op" },
        [EVENT_ANNOTATION] = { PART_HOST, "user_annotation" },
        [EVENT_FRAME] = { PART_FRAMES, "python_function" },
        [EVENT_CALL] = { PART_DEVICE, "cuda_runtime" },
        [EVENT_KERNEL] = { PART_DEVICE, "kernel" },
        [EVENT_COPY] = { PART_DEVICE, "gpu_memcpy" },
        [EVENT_SET] = { PART_DEVICE, "gpu_memset" },
        [EVENT_SYNC] = { PART_DEVICE, "cuda_sync" },
        [EVENT_DEVICE_ANNOTATION] = { PART_DEVICE_ANNOTATIONS, "gpu_user_annotation" },
    };
    struct trace *t = trace;

    if (kinds[e->kind].part != t->part || e->start_ns < t->window.start_ns || e->end_ns > t->window.end_ns)
        return;
    switch (e->kind) {
    case EVENT_OP:
    case EVENT_ANNOTATION:
        host_event(t, e);
        break;
    case EVENT_FRAME:
        frame_event(t, e);
        break;
    case EVENT_CALL:
        call_event(t, e);
        break;
    case EVENT_DEVICE_ANNOTATION:
        if (t->job->age == AGE_2022)
            break;
        device_event(t, e, kinds[e->kind].category);
        break;
    case EVENT_KERNEL:
    case EVENT_COPY:
    case EVENT_SET:
    case EVENT_SYNC:
        device_event(t, e, kinds[e->kind].category);
        break;
    }
}
