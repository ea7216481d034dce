/* comm.c - a rank's part in a collective: its host's calls, its stream's kernel.
 *
 *     host      [record_param_comms [nccl:all_reduce [record][wait][launch][record]]]  ...  [wait]
 *     comm                    after what computes now                 [ kernel  ]
 *     compute                                                                    after the kernel
 *
 * An event is recorded on the compute stream, the comm stream waits for it, the kernel follows, an event after it;
 * where the result is needed, the compute stream waits for that.
 */
#include "rank.h"
#include <stdio.h>

#define MEMBERS 64 /* of a group whose tokens are listed */
#define TEXT    128

struct spelling {
    const char *annotation;
    const char *kernel[2]; /* of NVIDIA: as it used to be, and as it is; arguments not included */
};

static const struct spelling spellings[] = {
    [OP_ALL_REDUCE] = { "nccl:all_reduce",
                        { "ncclKernel_AllReduce_RING_LL_Sum___nv_bfloat16",
                          "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" } },
    [OP_ALL_GATHER] = { "nccl:_all_gather_base",
                        { "ncclKernel_AllGather_RING_LL_Sum_int8_t", "ncclDevKernel_AllGather_RING_LL" } },
    [OP_REDUCE_SCATTER] = { "nccl:_reduce_scatter_base",
                            { "ncclKernel_ReduceScatter_RING_LL_Sum___nv_bfloat16",
                              "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL" } },
    [OP_DISPATCH] = { "nccl:all_to_all", { "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "ncclDevKernel_SendRecv" } },
    [OP_COMBINE] = { "nccl:all_to_all", { "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "ncclDevKernel_SendRecv" } },
    [OP_SEND] = { "nccl:send ", { "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "ncclDevKernel_SendRecv" } },
    [OP_RECV] = { "nccl:recv ", { "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "ncclDevKernel_SendRecv" } },
    [OP_EXCHANGE] = { "nccl:coalesced", { "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "ncclDevKernel_SendRecv" } },
};

static const char *const kernel_arguments[] = { [AGE_2022] = "(ncclWorkElem)",
                                                [AGE_2024] = "(ncclDevComm*, unsigned long, ncclWork*)",
                                                [AGE_2026] = "(ncclDevKernelArgsStorage<4096ul>)" };

/* AMD has one kernel for all operations. */
static const char *kernel_text(const struct job *job, enum operation operation, char text[TEXT])
{
    const char *name = job->age == AGE_2022 ? "rcclGenericKernel" : "ncclDevKernel_Generic";

    if (job->vendor == VENDOR_NVIDIA)
        name = spellings[operation].kernel[job->age != AGE_2022];
    snprintf(text, TEXT, "%s%s", name, kernel_arguments[job->age]);
    return text;
}

/* The ranks between which data go: this one and its neighbour. */
static void ends_of(const struct rank *r, const struct meeting *m, bool sends, struct collective *c)
{
    int other = m->group.first + (1 - m->group.me) * m->group.stride;
    c->from = sends ? r->rank : other;
    c->to = sends ? other : r->rank;
}

static struct collective describe(struct rank *r, const struct meeting *m, int64_t sent[MEMBERS],
                                  int64_t received[MEMBERS])
{
    const struct instruction *what = m->what;
    const struct program *p = r->program;
    struct collective c = { .operation = what->operation,
                            .axis = what->axis,
                            .in = what->elements,
                            .out = what->elements,
                            .from = -1,
                            .to = -1,
                            .sent = sent,
                            .received = received };

    c.seq = (int64_t)r->step * p->nmet[what->axis] + what->number + 1;
    switch (what->operation) {
    case OP_ALL_GATHER:
        c.in = what->elements / m->group.n;
        break;
    case OP_REDUCE_SCATTER:
        c.out = what->elements / m->group.n;
        break;
    case OP_DISPATCH:
    case OP_COMBINE:
        c.in = c.out = 0;
        c.nsplits = m->group.n < MEMBERS ? m->group.n : MEMBERS;
        for (int i = 0; i < c.nsplits; i++) {
            sent[i] = tokens_sent(r->sim, m, m->group.me, i);
            received[i] = tokens_sent(r->sim, m, i, m->group.me);
            c.in += sent[i];
            c.out += received[i];
        }
        break;
    case OP_SEND:
    case OP_RECV:
        /* Each rank counts its own transfers, so both sides count differently. */
        c.axis = AXIS_PP;
        c.seq = ++r->transfers;
        ends_of(r, m, what->operation == OP_SEND, &c);
        break;
    case OP_EXCHANGE:
        c.axis = AXIS_PP;
        break;
    case OP_ALL_REDUCE:
        break;
    }
    return c;
}

/* Annotations call ranks by their places in the pipeline, which is the group that the library was given; without
 * anything that tells the group, by their numbers in the job. */
static int called(const struct job *job, int rank)
{
    return job->age == AGE_2022 ? rank : stage_of(job, rank);
}

static void name_ends(const struct rank *r, const struct collective *c, bool sends, struct event *note)
{
    note->number = called(&r->sim->job, sends ? c->from : c->to);
    note->other = called(&r->sim->job, sends ? c->to : c->from);
}

/* The operators of a batch stand before the call that launches it. */
static void batch_operators(struct rank *r, const struct meeting *m, struct collective c)
{
    for (int i = 0; i < 2; i++) {
        c.operation = i == 0 ? OP_SEND : OP_RECV;
        ends_of(r, m, i == 0, &c);
        c.seq = r->transfers;
        r->external++;
        if (r->sim->job.age != AGE_2022) {
            emit_op(r, "record_param_comms", r->now_ns, r->now_ns + 4 * US, &c);
        } else {
            struct event note = { .kind = EVENT_ANNOTATION,
                                  .name = spellings[c.operation].annotation,
                                  .start_ns = r->now_ns,
                                  .end_ns = r->now_ns + 4 * US,
                                  .track = r->thread,
                                  .external = r->external };
            name_ends(r, &c, i == 0, &note);
            rank_emit(r, &note);
        }
        r->now_ns += 5 * US;
    }
}

/* A stream waits for an event that was recorded on another. */
static void wait_for_event(struct rank *r, int64_t record, enum slot on, enum slot slot)
{
    const struct job *job = &r->sim->job;
    int64_t wait = call(r, "cudaStreamWaitEvent", "hipStreamWaitEvent", NULL, US);

    if (job->vendor == VENDOR_NVIDIA && job->sync_events)
        rank_emit(r, &(struct event){ .kind = EVENT_SYNC,
                                      .name = "Stream Wait Event",
                                      .number = -1,
                                      .other = -1,
                                      .start_ns = r->now_ns - 600,
                                      .end_ns = r->now_ns - 100,
                                      .track = (int)slot,
                                      .correlation = wait,
                                      .external = r->external,
                                      .called_ns = r->called_ns,
                                      .waits_for = record,
                                      .waits_on = (int)on });
}

/* The stream waits for what the compute stream has been given. */
static void wait_for_compute(struct rank *r, enum slot slot)
{
    int64_t record = call(r, "cudaEventRecord", "hipEventRecord", NULL, US);
    wait_for_event(r, record, SLOT_COMPUTE, slot);
}

void take_part(struct rank *r, const struct instruction *what)
{
    const struct job *job = &r->sim->job;
    struct meeting m = meeting_of(r->sim, r->rank, what->axis, r->step, what->number);
    const struct spelling *spelling = &spellings[what->operation];
    char text[TEXT];
    const char *kernel = kernel_text(job, what->operation, text);
    int64_t sent[MEMBERS], received[MEMBERS];
    struct collective c = describe(r, &m, sent, received);
    bool alone = what->operation == OP_EXCHANGE; /* a kernel of which the trace says no more */
    bool on_compute = job->tp_on_compute && what->axis == AXIS_TP;
    enum slot slot = on_compute ? SLOT_COMPUTE : slot_of(job, what->axis);

    if (alone)
        batch_operators(r, &m, c);
    int64_t start = r->now_ns, ns = 28 * US + around(&r->random, 2 * US, 90);
    int64_t comms = ++r->external;
    if (!alone)
        emit_op(r, "record_param_comms", start, start + ns, &c);
    r->external++;
    struct event note = { .kind = EVENT_ANNOTATION,
                          .name = spelling->annotation,
                          .number = -1,
                          .other = -1,
                          .start_ns = start + 3 * US,
                          .end_ns = start + ns - US,
                          .track = r->thread,
                          .external = r->external };
    if (c.from >= 0)
        name_ends(r, &c, what->operation == OP_SEND, &note);
    rank_emit(r, &note);
    r->now_ns = start + 5 * US;
    if (!on_compute && !what->unordered)
        wait_for_compute(r, slot);
    r->now_ns = start + 8 * US;
    int64_t correlation = call(r, "cudaLaunchKernelExC", "hipExtLaunchKernel", kernel, 7 * US),
            called_ns = r->called_ns;
    int64_t ready = r->now_ns + around(&r->random, 4 * US, 30);
    if (!what->unordered)
        ready = later(ready, r->free_ns[SLOT_COMPUTE] + STREAM_NS);
    if (!on_compute)
        r->records[what->axis][what->number % REMEMBERED] = call(r, "cudaEventRecord", "hipEventRecord", NULL, US);
    r->now_ns = start + ns;

    if (r->crowd != NULL) {
        r->failed = !crowd_come(r->crowd, r->rank, &m, ready) || r->failed;
        return;
    }
    int64_t *free_ns = &r->free_ns[slot_of(job, what->axis)];
    struct event work = { .kind = EVENT_KERNEL,
                          .name = kernel,
                          .number = -1,
                          .other = -1,
                          .start_ns = later(ready, *free_ns + STREAM_NS),
                          .end_ns = meeting_end(r->sim, &m, r->rank),
                          .track = (int)slot,
                          .correlation = correlation,
                          .external = alone ? 0 : comms,
                          .called_ns = called_ns,
                          .threads = 512,
                          .blocks = 24,
                          .collective = alone ? NULL : &c };
    *free_ns = work.end_ns;
    rank_emit(r, &work);
    note.kind = EVENT_DEVICE_ANNOTATION;
    note.called_ns = note.start_ns;
    note.start_ns = work.start_ns;
    note.end_ns = work.end_ns;
    note.track = (int)slot;
    rank_emit(r, &note);
}

static bool end_of(const struct rank *r, enum axis axis, int number, int64_t *end_ns)
{
    struct meeting m = meeting_of(r->sim, r->rank, axis, r->step, number);
    if (m.last_ns == TIME_UNKNOWN)
        return false;
    *end_ns = meeting_end(r->sim, &m, r->rank);
    return true;
}

bool take_leave(struct rank *r, enum axis axis, int number)
{
    const struct job *job = &r->sim->job;
    bool on_compute = job->tp_on_compute && axis == AXIS_TP;
    int64_t end_ns;

    if (!end_of(r, axis, number, &end_ns))
        return false;
    if (!on_compute)
        wait_for_event(r, r->records[axis][number % REMEMBERED], slot_of(job, axis), SLOT_COMPUTE);
    r->free_ns[SLOT_COMPUTE] = later(r->free_ns[SLOT_COMPUTE], end_ns);
    return true;
}

bool settle(struct rank *r)
{
    /* In the first run the ends of collectives that nobody has waited for stand with the crowd. */
    for (int axis = 0; r->crowd != NULL && axis < NAXES; axis++) {
        int number = -1;
        for (int i = 0; i < r->program->nmet[axis] && r->program->met[axis][i] < r->at; i++)
            number = i;
        int64_t end_ns = 0;
        if (number >= 0 && !end_of(r, (enum axis)axis, number, &end_ns))
            return false;
        int64_t *free_ns = &r->free_ns[slot_of(&r->sim->job, (enum axis)axis)];
        *free_ns = later(*free_ns, end_ns);
    }
    return true;
}
