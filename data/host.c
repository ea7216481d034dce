/* host.c - what a host does and writes: annotations, operators, frames, calls of the runtime. */
#include "rank.h"

#define COPY_BYTES (INT64_C(16) << 20)

void rank_emit(struct rank *r, const struct event *event)
{
    if (r->sink != NULL)
        r->sink(r->arg, event);
}

/* What the host takes for something, this time. */
static int64_t host_takes(struct rank *r, int64_t ns)
{
    int percent = 6 * r->sim->job.noise.jitter_percent;
    return host_ns(&r->sim->job, r->rank, around(&r->random, ns, percent < 60 ? percent : 60));
}

/* What the device takes for a copy or a memset. */
static int64_t device_takes(struct rank *r, int64_t ns)
{
    return device_ns(&r->sim->job, r->rank, jittered(&r->random, ns, r->sim->job.noise.jitter_percent));
}

/* --- annotations -------------------------------------------------------------------------------------------------- */

void mark_open(struct rank *r, const char *text, int number)
{
    r->marks[r->nmarks++] = (struct mark){ text, number, r->now_ns, ++r->external, INT64_MAX, INT64_MIN };
    r->now_ns += host_takes(r, 3 * US);
}

void mark_close(struct rank *r)
{
    struct mark *m = &r->marks[--r->nmarks];

    r->now_ns += host_takes(r, 2 * US);
    rank_emit(r, &(struct event){ .kind = EVENT_ANNOTATION,
                                  .name = m->text,
                                  .number = m->number,
                                  .other = -1,
                                  .start_ns = m->start_ns,
                                  .end_ns = r->now_ns,
                                  .track = r->thread,
                                  .external = m->external });
    if (m->device_start_ns < m->device_end_ns)
        rank_emit(r, &(struct event){ .kind = EVENT_DEVICE_ANNOTATION,
                                      .name = m->text,
                                      .number = m->number,
                                      .other = -1,
                                      .start_ns = m->device_start_ns,
                                      .end_ns = m->device_end_ns,
                                      .track = SLOT_COMPUTE,
                                      .external = m->external,
                                      .called_ns = m->start_ns });
}

static void marks_see(struct rank *r, int64_t start_ns, int64_t end_ns)
{
    for (int i = 0; i < r->nmarks; i++) {
        struct mark *m = &r->marks[i];
        if (start_ns < m->device_start_ns)
            m->device_start_ns = start_ns;
        if (end_ns > m->device_end_ns)
            m->device_end_ns = end_ns;
    }
}

/* --- operators and frames ----------------------------------------------------------------------------------------- */

void emit_op(struct rank *r, const char *name, int64_t start_ns, int64_t end_ns, const struct collective *collective)
{
    rank_emit(r, &(struct event){ .kind = EVENT_OP,
                                  .name = name,
                                  .number = -1,
                                  .other = -1,
                                  .start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .track = r->thread,
                                  .external = r->external,
                                  .collective = collective });
}

void emit_frame(struct rank *r, const char *name, int number, int64_t start_ns, int64_t end_ns, int64_t parent)
{
    rank_emit(r, &(struct event){ .kind = EVENT_FRAME,
                                  .name = name,
                                  .number = number,
                                  .other = -1,
                                  .start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .track = r->thread,
                                  .external = ++r->frame,
                                  .parent = parent });
}

/* How many of something that comes `mean` times a launch come now. */
static int due(double *owed, double mean)
{
    *owed += mean;
    int n = (int)*owed;
    *owed -= n;
    return n;
}

/* Python frames before a launch: some around each other, the rest small ones inside. */
static void frames(struct rank *r, int n)
{
    static const char *const around_it[] = { "torch/nn/modules/module.py(1736): _wrapped_call_impl",
                                             "torch/nn/modules/module.py(1747): _call_impl", "nn.Module: Linear_" };
    static const char *const inside[] = { "torch/nn/modules/module.py(1915): __getattr__",
                                          "<built-in function _get_tracing_state>",
                                          "<built-in method size of Parameter object at 0x7f2b8c1d4e50>",
                                          "torch/_tensor.py(1062): __hash__", "<built-in function linear>" };
    enum { DEPTH = 3, KINDS = 5 };
    int depth = n < DEPTH ? n : DEPTH, leaves = n - depth;
    int64_t leaf_ns = host_takes(r, 250), rim_ns = 180, parent = r->step_frame;
    int64_t start = r->now_ns, end = start + 2 * depth * rim_ns + leaves * leaf_ns;

    for (int i = 0; i < depth; i++) {
        emit_frame(r, around_it[i], i == DEPTH - 1 ? (int)(r->at % 97) : -1, start + i * rim_ns, end - i * rim_ns,
                   parent);
        parent = r->frame;
    }
    for (int i = 0; i < leaves; i++) {
        int64_t at = start + depth * rim_ns + i * leaf_ns;
        emit_frame(r, inside[i % KINDS], -1, at, at + leaf_ns - 40, parent);
    }
    r->now_ns = end;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

int64_t call(struct rank *r, const char *cuda, const char *hip, const char *kernel, int64_t cost_ns)
{
    r->called_ns = r->now_ns;
    r->now_ns += cost_ns;
    rank_emit(r, &(struct event){ .kind = EVENT_CALL,
                                  .name = r->sim->job.vendor == VENDOR_ROCM ? hip : cuda,
                                  .number = -1,
                                  .other = -1,
                                  .start_ns = r->called_ns,
                                  .end_ns = r->now_ns,
                                  .track = r->thread,
                                  .correlation = ++r->correlation,
                                  .external = r->external,
                                  .kernel = kernel });
    return r->correlation;
}

void waiting_call(struct rank *r, const char *cuda, const char *hip, const char *kind, int slot, int64_t until_ns)
{
    const struct job *job = &r->sim->job;
    int64_t from = r->now_ns;

    call(r, cuda, hip, NULL, later(until_ns, from) + host_takes(r, 2 * US) - from);
    if (kind != NULL && job->vendor == VENDOR_NVIDIA && job->sync_events)
        rank_emit(r, &(struct event){ .kind = EVENT_SYNC,
                                      .name = kind,
                                      .number = -1,
                                      .other = -1,
                                      .start_ns = from + 500,
                                      .end_ns = later(r->now_ns - 500, from + 500),
                                      .track = slot,
                                      .correlation = r->correlation,
                                      .external = r->external,
                                      .called_ns = from,
                                      .waits_for = -1 });
}

/* --- device work -------------------------------------------------------------------------------------------------- */

/* Queues work on the compute stream: it starts when the stream is free and the launch has arrived. */
static void queue(struct rank *r, struct event work, int64_t ns)
{
    int64_t arrives_ns = r->now_ns + host_takes(r, 3 * US);
    int64_t free_ns = r->free_ns[SLOT_COMPUTE] + around(&r->random, 1200, 20);

    work.start_ns = later(arrives_ns, free_ns);
    work.end_ns = work.start_ns + ns;
    work.number = work.other = -1;
    work.track = SLOT_COMPUTE;
    work.correlation = r->correlation;
    work.external = r->external;
    work.called_ns = r->called_ns;
    r->free_ns[SLOT_COMPUTE] = work.end_ns;
    r->started_ns[r->queued++ % QUEUE_DEPTH] = work.start_ns;
    marks_see(r, work.start_ns, work.end_ns);
    rank_emit(r, &work);
}

/* When the queue has room for one more: it holds so many launches whose work has not started.  A job that does not wait
 * for its device in every step is about a step ahead. */
static int64_t room_ns(const struct rank *r)
{
    size_t depth = QUEUE_DEPTH, step = (size_t)r->program->launches;
    if (r->sim->job.sync_every != 1 && step < depth)
        depth = step;
    return r->queued < depth ? INT64_MIN : r->started_ns[(r->queued - depth) % QUEUE_DEPTH];
}

/*     [op  [leaf][leaf]...  [inner  [launch]  ]  ]     */
void launch(struct rank *r, const struct shape *shape, int64_t ns, int64_t grown_ppm)
{
    static const char *const leaf[] = { "aten::empty", "aten::view", "aten::as_strided", "aten::transpose", "detach" };
    enum { LEAVES = 5 };
    const struct job *job = &r->sim->job;
    int nops = due(&r->ops_owed, job->ops), nframes = due(&r->frames_owed, job->frames);

    if (nframes > 0)
        frames(r, nframes);
    int64_t leaf_ns = host_takes(r, 600), call_ns = host_takes(r, 4500), rim_ns = 700;
    int nleaves = nops > 2 ? nops - 2 : 0;
    int64_t start = r->now_ns, inner = start + rim_ns + nleaves * leaf_ns;
    int64_t launch_at = inner + rim_ns;
    int64_t end = later(launch_at + call_ns + fault_launch_ns(r), room_ns(r));
    int blocks = 1152 + (int)(grown_ppm * 1152 / 1000000);

    if (nops > 0) {
        r->external++;
        rank_emit(r, &(struct event){ .kind = EVENT_OP,
                                      .name = shape->op,
                                      .number = -1,
                                      .other = -1,
                                      .blocks = blocks,
                                      .start_ns = start,
                                      .end_ns = end + 2 * rim_ns,
                                      .track = r->thread,
                                      .external = r->external });
    }
    for (int i = 0; i < nleaves; i++) {
        r->external++;
        emit_op(r, leaf[i % LEAVES], start + rim_ns + i * leaf_ns, start + rim_ns + (i + 1) * leaf_ns - 90, NULL);
    }
    if (nops > 1) {
        r->external++;
        rank_emit(r, &(struct event){ .kind = EVENT_OP,
                                      .name = shape->inner,
                                      .number = -1,
                                      .other = -1,
                                      .blocks = blocks,
                                      .start_ns = inner,
                                      .end_ns = end + rim_ns,
                                      .track = r->thread,
                                      .external = r->external });
    }
    r->now_ns = launch_at;
    const char *kernel = kernel_of(shape, job->vendor);
    call(r, "cudaLaunchKernel", "hipLaunchKernel", kernel, end - launch_at);
    queue(r, (struct event){ .kind = EVENT_KERNEL, .name = kernel, .threads = shape->threads, .blocks = blocks },
          device_takes(r, ns));
    r->now_ns = end + 2 * rim_ns;
}

/* The host queues a copy and waits for it and all before it: two calls, or one of AMD. */
static void blocking_copy(struct rank *r, struct event copy, int64_t call_ns, int64_t copy_ns)
{
    if (r->sim->job.vendor == VENDOR_NVIDIA) {
        call(r, "cudaMemcpyAsync", NULL, NULL, call_ns);
        queue(r, copy, copy_ns);
        r->now_ns += US;
        waiting_call(r, "cudaStreamSynchronize", NULL, "Stream Sync", SLOT_COMPUTE, r->free_ns[SLOT_COMPUTE]);
        return;
    }
    int64_t start = r->called_ns = r->now_ns;
    r->correlation++;
    r->now_ns += call_ns;
    queue(r, copy, copy_ns);
    r->now_ns = later(r->now_ns + US, r->free_ns[SLOT_COMPUTE]) + host_takes(r, 2 * US);
    rank_emit(r, &(struct event){ .kind = EVENT_CALL,
                                  .name = "hipMemcpyWithStream",
                                  .number = -1,
                                  .other = -1,
                                  .start_ns = start,
                                  .end_ns = r->now_ns,
                                  .track = r->thread,
                                  .correlation = r->correlation,
                                  .external = r->external,
                                  .bytes = copy.bytes,
                                  .to_host = copy.to_host });
}

void copy_in(struct rank *r)
{
    const struct job *job = &r->sim->job;
    int64_t start = r->now_ns, slower = job->fault.cause == CAUSE_H2D ? fault_ns(job, r->rank, r->step) : 0;
    int64_t larger = fault_larger_ppm(r, &parts[ATTENTION_FORWARD].v[1]), bytes = COPY_BYTES * job->scale_percent / 100;
    bool pageable = slower > 0 && r->sim->damage.style == STYLE_PAGEABLE;

    r->external++;
    r->now_ns += 2 * US;
    int64_t call_ns = host_takes(r, 9 * US), copy_ns = device_takes(r, copy_mean_ns(job));
    struct event copy = { .kind = EVENT_COPY,
                          .bytes = bytes + bytes / 1000 * larger / 1000,
                          .name = pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)" };
    copy_ns += copy_ns * larger / 1000000 + slower;
    if (pageable) {
        blocking_copy(r, copy, call_ns, copy_ns);
    } else {
        call(r, "cudaMemcpyAsync", "hipMemcpyAsync", NULL, call_ns);
        queue(r, copy, copy_ns);
        draw(&r->random); /* as many draws one way as the other */
    }
    r->now_ns += 2 * US;
    emit_op(r, "aten::copy_", start, r->now_ns, NULL);
}

void clear(struct rank *r)
{
    int64_t call_ns = host_takes(r, 4 * US);
    call(r, "cudaMemsetAsync", "hipMemsetAsync", NULL, call_ns);
    int64_t set_ns = device_takes(r, 9 * US);
    queue(r, (struct event){ .kind = EVENT_SET, .name = "Memset (Device)", .bytes = 8 << 20 }, set_ns);
}

void read_number(struct rank *r, const char *op, int64_t bytes)
{
    int64_t start = r->now_ns;

    r->external++;
    r->now_ns += 2 * US;
    int64_t call_ns = host_takes(r, 6 * US), copy_ns = device_takes(r, 1800);
    blocking_copy(
        r,
        (struct event){ .kind = EVENT_COPY, .name = "Memcpy DtoH (Device -> Pinned)", .bytes = bytes, .to_host = true },
        call_ns, copy_ns);
    emit_op(r, op, start, r->now_ns, NULL);
}
