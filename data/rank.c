/* rank.c - what a rank does: its host queues, its device runs in order. */
#include "rank.h"

#define JOB_START_NS (INT64_C(1754930221) * 1000 * MS)
#define QUEUE_NS (20 * MS)              /* a host that is further ahead than this waits in the launch call */
#define ELEMENTS_PER_LAYER 7087872      /* of gradients */

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t seeded(uint64_t seed, uint64_t what, uint64_t which)
{
    uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + what;
    state = draw(&state) + which;
    return draw(&state);
}

/* About `mean`, up to `percent` of it less or more.  Whole numbers only, and never two draws in one expression: the
 * same on every machine, whatever the compiler. */
static int64_t around(struct rank *r, int64_t mean, int64_t percent)
{
    int64_t unit = (int64_t)(draw(&r->random) >> 44) - (1 << 19);      /* in [-2^19, 2^19) */
    return mean + mean * percent / 100 * unit / (1 << 19);
}

void rank_emit(struct rank *r, const struct event *event)
{
    if (r->sink != NULL)
        r->sink(r->arg, event);
}

/* --- host --------------------------------------------------------------------------------------------------------- */

static void mark_open(struct rank *r, const char *text, int number)
{
    r->marks[r->nmarks++] = (struct mark){ text, number, r->now_ns, ++r->external, INT64_MAX, INT64_MIN };
    r->now_ns += around(r, 3 * US, 20);
}

static void mark_close(struct rank *r)
{
    struct mark *m = &r->marks[--r->nmarks];
    int stream = sim_stream(r->sim->job.vendor, false);

    r->now_ns += around(r, 2 * US, 20);
    rank_emit(r, &(struct event){ .kind = EVENT_ANNOTATION,
                                  .name = m->text,
                                  .number = m->number,
                                  .start_ns = m->start_ns,
                                  .end_ns = r->now_ns,
                                  .track = r->thread,
                                  .external = m->external });
    if (m->device_start_ns < m->device_end_ns)
        rank_emit(r, &(struct event){ .kind = EVENT_DEVICE_ANNOTATION, .name = m->text, .number = m->number,
                                      .start_ns = m->device_start_ns, .end_ns = m->device_end_ns, .track = stream,
                                      .external = m->external });
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

/* A call of the runtime; the host is back after cost_ns.  Returns its correlation. */
static int64_t call(struct rank *r, const char *cuda, const char *hip, const char *kernel, int64_t cost_ns)
{
    int64_t start = r->now_ns;
    r->now_ns += cost_ns;
    rank_emit(r, &(struct event){ .kind = EVENT_CALL,
                                  .name = r->sim->job.vendor == VENDOR_ROCM ? hip : cuda,
                                  .number = -1,
                                  .start_ns = start,
                                  .end_ns = r->now_ns,
                                  .track = r->thread,
                                  .correlation = ++r->correlation,
                                  .external = r->external,
                                  .kernel = kernel });
    return r->correlation;
}

/* Queues work that no all-reduce decides: it starts when the stream is free and the launch has arrived. */
static void queue(struct rank *r, struct event work, int64_t ns)
{
    int64_t arrives_ns = r->now_ns + around(r, 3 * US, 40);
    int64_t free_ns = r->free_ns[COMPUTE] + around(r, 1200, 30);
    work.start_ns = later(arrives_ns, free_ns);
    work.end_ns = work.start_ns + ns;
    work.number = -1;
    work.track = sim_stream(r->sim->job.vendor, false);
    work.correlation = r->correlation;
    work.external = r->external;
    r->free_ns[COMPUTE] = work.end_ns;
    marks_see(r, work.start_ns, work.end_ns);
    rank_emit(r, &work);
}

/* How many of something that comes `mean` times a launch come now. */
static int due(double *owed, double mean)
{
    *owed += mean;
    int n = (int)*owed;
    *owed -= n;
    return n;
}

static void frame(struct rank *r, const char *name, int number, int64_t start_ns, int64_t end_ns, int64_t parent)
{
    rank_emit(r, &(struct event){ .kind = EVENT_FRAME,
                                  .name = name,
                                  .number = number,
                                  .start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .track = r->thread,
                                  .external = ++r->frame,
                                  .parent = parent });
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
    int64_t leaf_ns = around(r, 250, 30), rim_ns = 180, parent = r->step_frame;
    int64_t start = r->now_ns, end = start + 2 * depth * rim_ns + leaves * leaf_ns;

    for (int i = 0; i < depth; i++) {
        frame(r, around_it[i], i == DEPTH - 1 ? (int)(r->at % 97) : -1, start + i * rim_ns, end - i * rim_ns, parent);
        parent = r->frame;
    }
    for (int i = 0; i < leaves; i++) {
        int64_t at = start + depth * rim_ns + i * leaf_ns;
        frame(r, inside[i % KINDS], -1, at, at + leaf_ns - 40, parent);
    }
    r->now_ns = end;
}

static void op(struct rank *r, const char *name, int64_t start_ns, int64_t end_ns, const struct collective *collective)
{
    rank_emit(r, &(struct event){ .kind = EVENT_OP, .name = name, .number = -1, .start_ns = start_ns, .end_ns = end_ns,
                                  .track = r->thread, .external = r->external, .collective = collective });
}

/* An operator that launches one kernel:
 *
 *     [op  [leaf][leaf]...  [inner  [launch]  ]  ]
 */
static void launch(struct rank *r, const struct shape *shape)
{
    static const char *const leaf[] = { "aten::empty", "aten::view", "aten::as_strided", "aten::transpose", "detach" };
    enum { LEAVES = 5 };
    const struct job *job = &r->sim->job;
    int nops = due(&r->ops_owed, job->ops), nframes = due(&r->frames_owed, job->frames);

    if (nframes > 0)
        frames(r, nframes);
    int64_t leaf_ns = around(r, 600, 30), call_ns = around(r, 4500, 30), rim_ns = 700;
    int nleaves = nops > 2 ? nops - 2 : 0;
    int64_t start = r->now_ns, inner = start + rim_ns + nleaves * leaf_ns;
    int64_t launch_at = inner + rim_ns;
    int64_t end = later(launch_at + call_ns, r->free_ns[COMPUTE] - QUEUE_NS);

    if (nops > 0) {
        r->external++;
        op(r, shape->op, start, end + 2 * rim_ns, NULL);
    }
    for (int i = 0; i < nleaves; i++) {
        r->external++;
        op(r, leaf[i % LEAVES], start + rim_ns + i * leaf_ns, start + rim_ns + (i + 1) * leaf_ns - 90, NULL);
    }
    if (nops > 1) {
        r->external++;
        op(r, shape->inner, inner, end + rim_ns, NULL);
    }
    r->now_ns = launch_at;
    const char *own = shape->kernel[job->vendor], *kernel = own != NULL ? own : shape->kernel[0];
    call(r, "cudaLaunchKernel", "hipLaunchKernel", kernel, end - launch_at);
    queue(r, (struct event){ .kind = EVENT_KERNEL, .name = kernel, .threads = shape->threads },
          around(r, shape->us * US, 4));
    r->now_ns = end + 2 * rim_ns;
}

static void copy_in(struct rank *r)
{
    int64_t start = r->now_ns;
    r->external++;
    r->now_ns += 2 * US;
    call(r, "cudaMemcpyAsync", "hipMemcpyAsync", NULL, around(r, 9 * US, 20));
    queue(r, (struct event){ .kind = EVENT_COPY, .name = "Memcpy HtoD (Pinned -> Device)", .bytes = 16 << 20 },
          around(r, 700 * US, 5));
    r->now_ns += 2 * US;
    op(r, "aten::copy_", start, r->now_ns, NULL);
}

static void clear(struct rank *r)
{
    call(r, "cudaMemsetAsync", "hipMemsetAsync", NULL, around(r, 4 * US, 20));
    queue(r, (struct event){ .kind = EVENT_SET, .name = "Memset (Device)", .bytes = 8 << 20 }, around(r, 9 * US, 10));
}

/* The loss travels to the host, and the host waits for everything before it. */
static void read_loss(struct rank *r)
{
    int64_t start = r->now_ns;
    r->external++;
    r->now_ns += 2 * US;
    call(r, "cudaMemcpyAsync", "hipMemcpyAsync", NULL, around(r, 6 * US, 20));
    queue(r, (struct event){ .kind = EVENT_COPY, .name = "Memcpy DtoH (Device -> Pinned)", .bytes = 4 },
          around(r, 1800, 10));
    int64_t wait_from = r->now_ns + US, done = later(r->free_ns[COMPUTE], wait_from) + around(r, 2 * US, 30);
    r->now_ns = wait_from;
    call(r, "cudaStreamSynchronize", "hipStreamSynchronize", NULL, done - wait_from);
    if (r->sim->job.vendor == VENDOR_NVIDIA)
        rank_emit(r, &(struct event){ .kind = EVENT_SYNC,
                                      .name = "Stream Sync",
                                      .number = -1,
                                      .start_ns = wait_from + 500,
                                      .end_ns = done - 500,
                                      .track = sim_stream(VENDOR_NVIDIA, false),
                                      .correlation = r->correlation,
                                      .external = r->external,
                                      .waits_for = -1 });
    op(r, "aten::_local_scalar_dense", start, r->now_ns, NULL);
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

struct collective collective_of(const struct sim *sim, size_t number)
{
    int bucket = (int)(number % (size_t)sim->program.buckets);
    int layers = sim->job.layers - bucket * sim->job.bucket_layers;
    if (layers > sim->job.bucket_layers)
        layers = sim->job.bucket_layers;
    return (struct collective){ .seq = (int64_t)number + 1, .elements = (int64_t)layers * ELEMENTS_PER_LAYER };
}

/* The gradients of a bucket: an event on the compute stream, the comm stream waits for it, the kernel follows. */
static void all_reduce(struct rank *r, int bucket)
{
    const struct sim *sim = r->sim;
    size_t number = (size_t)r->step * (size_t)sim->program.buckets + (size_t)bucket;
    struct collective what = collective_of(sim, number);
    const char *kernel = sim->job.vendor == VENDOR_ROCM
                             ? "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"
                             : "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    int stream = sim_stream(sim->job.vendor, true);
    int64_t start = r->now_ns, ns = around(r, 28 * US, 15);

    r->external++;
    op(r, "record_param_comms", start, start + ns, &what);
    int64_t comms = r->external++;
    rank_emit(r, &(struct event){ .kind = EVENT_ANNOTATION,
                                  .name = "nccl:all_reduce",
                                  .number = -1,
                                  .start_ns = start + 3 * US,
                                  .end_ns = start + ns - US,
                                  .track = r->thread,
                                  .external = r->external });
    r->now_ns = start + 5 * US;
    int64_t record = call(r, "cudaEventRecord", "hipEventRecord", NULL, US);
    int64_t wait = call(r, "cudaStreamWaitEvent", "hipStreamWaitEvent", NULL, US);
    if (sim->job.vendor == VENDOR_NVIDIA)
        rank_emit(r, &(struct event){ .kind = EVENT_SYNC, .name = "Stream Wait Event", .number = -1,
                                      .start_ns = r->now_ns - 600, .end_ns = r->now_ns - 100, .track = stream,
                                      .correlation = wait, .external = r->external, .waits_for = record });
    r->now_ns += US;
    int64_t correlation = call(r, "cudaLaunchKernelExC", "hipExtLaunchKernel", kernel, 7 * US);
    int64_t ready = later(r->now_ns + around(r, 4 * US, 30), r->free_ns[COMPUTE] + US);
    r->now_ns = start + ns;

    if (r->ready_ns != NULL)
        r->ready_ns[bucket] = later(r->ready_ns[bucket], ready);
    if (number >= sim->known)
        return;
    struct event work = { .kind = EVENT_KERNEL,
                          .name = kernel,
                          .number = -1,
                          .start_ns = later(ready, r->free_ns[COMM] + US),
                          .end_ns = sim->ends[number],
                          .track = stream,
                          .correlation = correlation,
                          .external = comms,
                          .threads = 512,
                          .collective = &what };
    r->free_ns[COMM] = work.end_ns;
    rank_emit(r, &work);
    work.kind = EVENT_DEVICE_ANNOTATION;
    work.name = "nccl:all_reduce";
    work.external = r->external;
    rank_emit(r, &work);
}

/* --- a rank's run ------------------------------------------------------------------------------------------------- */

static void stand_still(struct rank *r)
{
    const struct fault *late = &r->sim->job.late;
    int number = r->sim->job.first_step + r->step;
    if (late->rank == r->rank && number >= late->from && number <= late->to)
        r->now_ns += late->ns;
}

bool rank_run_step(struct rank *r)
{
    const struct program *program = &r->sim->program;
    size_t after_step = ((size_t)r->step + 1) * (size_t)program->buckets;

    for (; r->at < program->n; r->at++) {
        const struct instruction *what = &program->v[r->at];
        switch (what->action) {
        case DO_STEP_BEGIN:
            r->step_frame = ++r->frame;
            mark_open(r, "ProfilerStep#", r->sim->job.first_step + r->step);
            break;
        case DO_MARK:
            mark_open(r, what->text, -1);
            break;
        case DO_END:
            mark_close(r);
            break;
        case DO_LOAD:
            r->now_ns += around(r, 300 * US, 40);
            break;
        case DO_COPY_IN:
            copy_in(r);
            break;
        case DO_CLEAR:
            clear(r);
            break;
        case DO_STAND_STILL:
            stand_still(r);
            break;
        case DO_LAUNCH:
            launch(r, what->shape);
            break;
        case DO_THREAD:
            r->thread = what->number;
            r->now_ns += around(r, 15 * US, 30);
            break;
        case DO_ALL_REDUCE:
            all_reduce(r, what->number);
            break;
        case DO_JOIN:
            if (after_step > r->sim->known)
                return false;
            r->free_ns[COMM] = r->sim->ends[after_step - 1];
            r->free_ns[COMPUTE] = later(r->free_ns[COMPUTE], r->free_ns[COMM]);
            break;
        case DO_READ_LOSS:
            read_loss(r);
            break;
        }
    }
    r->at = 0;
    r->step++;
    r->now_ns += around(r, 40 * US, 30);
    return true;
}

struct rank rank_start(const struct sim *sim, int number)
{
    struct rank r = { .sim = sim, .rank = number, .random = seeded(sim->job.seed, 1, (uint64_t)number),
                      .correlation = 1000, .external = 0 };
    r.now_ns = JOB_START_NS + 50 * MS + around(&r, 100 * US, 100);
    return r;
}
