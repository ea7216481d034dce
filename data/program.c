/* program.c - the step of a transformer, for each stage of the pipeline.
 *
 * Which micro-batch when (one forward, one backward; `w` forwards ahead, so that all stages have something to do):
 *
 *     stage 0    F0 F1 F2 ..... F3 .. B0 F4 .. B1 ... B2
 *     stage 1       F0 F1 ... F2 B0 F3 B1 ...
 *     stage 2          F0 B0 F1 B1 ...
 *
 * Two neighbours talk in pairs of sends and receives that both sides put in the same order: the even stage sends first,
 * the odd one receives first.
 */
#include "program.h"
#include "chance.h"
#include <stdlib.h>
#include <string.h>

#define GRADIENTS_PER_LAYER 7087872
#define ACTIVATIONS         8388608 /* of a micro-batch between two layers */

struct builder {
    struct program *program;
    const struct job *job;
    int stage;
    const char *inside; /* innermost annotation */
    int dp;
    int gathered; /* the last all-gather of parameters, by number */
};

/* --- instructions ------------------------------------------------------------------------------------------------- */

/* Doubles an array that is full. */
static void *grown(void *v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    size_t more = *cap == 0 ? 64 : 2 * *cap;
    void *w = realloc(v, more * size);
    if (w != NULL)
        *cap = more;
    return w;
}

static void add(struct builder *b, struct instruction what)
{
    struct program *p = b->program;
    struct instruction *v = grown(p->v, p->n, &p->cap, sizeof *v);
    if (v == NULL) {
        p->failed = true;
        return;
    }
    p->v = v;
    p->v[p->n++] = what;
}

static void act(struct builder *b, enum action action, int number)
{
    add(b, (struct instruction){ .action = action, .number = number });
}

static void mark(struct builder *b, const char *text, int number)
{
    b->inside = text;
    add(b, (struct instruction){ .action = DO_MARK, .number = number, .text = text });
}

static void end(struct builder *b)
{
    b->inside = "ProfilerStep#";
    act(b, DO_END, 0);
}

static void site(struct builder *b)
{
    add(b, (struct instruction){ .action = DO_SITE, .number = b->program->sites++, .text = b->inside });
}

static void launch(struct builder *b, int part, int routing)
{
    struct program *p = b->program;

    for (size_t i = 0; i < parts[part].n; i++) {
        const struct shape *shape = &parts[part].v[i];
        int64_t ns = kernel_mean_ns(b->job, shape);
        p->launches++;
        p->kernel_ns += ns;
        if (shape->weight != LIGHT)
            p->heavy_ns += ns;
        if (shape->weight == EXPERT)
            p->expert_ns += ns;
        add(b, (struct instruction){ .action = DO_LAUNCH, .shape = shape, .number = routing });
    }
}

/* Its number on the axis. */
static int meet(struct builder *b, enum axis axis, struct instruction what)
{
    struct program *p = b->program;
    size_t cap = (size_t)p->metcap[axis];
    size_t *met = grown(p->met[axis], (size_t)p->nmet[axis], &cap, sizeof *met);
    if (met == NULL) {
        p->failed = true;
        return 0;
    }
    p->met[axis] = met;
    p->metcap[axis] = (int)cap;
    met[p->nmet[axis]] = p->n;
    what.action = DO_MEET;
    what.axis = axis;
    what.number = p->nmet[axis]++;
    add(b, what);
    return what.number;
}

static void join(struct builder *b, enum axis axis, int number)
{
    add(b, (struct instruction){ .action = DO_JOIN, .axis = axis, .number = number });
}

/* --- what layers say to other ranks ------------------------------------------------------------------------------- */

static int64_t activations(const struct job *job)
{
    return (int64_t)ACTIVATIONS * job->scale_percent / 100;
}

static int64_t layer_gradients(const struct job *job)
{
    return GRADIENTS_PER_LAYER / job->tp;
}

static void tensor_reduce(struct builder *b)
{
    if (b->job->tp > 1)
        join(b, AXIS_TP,
             meet(b, AXIS_TP, (struct instruction){ .operation = OP_ALL_REDUCE, .elements = activations(b->job) }));
}

static void tokens(struct builder *b, enum operation operation, int routing)
{
    join(b, AXIS_EP,
         meet(b, AXIS_EP,
              (struct instruction){ .operation = operation, .routing = routing, .elements = activations(b->job) }));
}

static void gather(struct builder *b)
{
    b->gathered = meet(
        b, AXIS_DP,
        (struct instruction){ .operation = OP_ALL_GATHER, .unordered = true, .elements = layer_gradients(b->job) });
}

/* Parameters of the next layer are gathered while this one computes.  The host runs no more than two layers ahead, so
 * that not all of them are in memory at once. */
static void parameters(struct builder *b, int layer, bool first, bool last)
{
    if (!b->job->shard)
        return;
    if (first)
        gather(b);
    int own = b->gathered;
    if (!last)
        gather(b);
    if (layer >= 2)
        act(b, DO_AWAIT_EVENT, (layer - 2) % 4);
    join(b, AXIS_DP, own);
}

/* --- layers ------------------------------------------------------------------------------------------------------- */

static void experts_forward(struct builder *b, int routing)
{
    launch(b, ROUTER, -1);
    act(b, DO_READ_COUNTS, 0);
    launch(b, PERMUTE, -1);
    tokens(b, OP_DISPATCH, routing);
    launch(b, EXPERTS_FORWARD, routing);
    tokens(b, OP_COMBINE, routing);
    launch(b, UNPERMUTE, -1);
}

/* Gradients go the way of the tokens back, and forth. */
static void experts_backward(struct builder *b, int routing)
{
    launch(b, PERMUTE, -1);
    tokens(b, OP_DISPATCH, routing);
    launch(b, EXPERTS_BACKWARD, routing);
    tokens(b, OP_COMBINE, routing);
    launch(b, UNPERMUTE, -1);
}

static void forward(struct builder *b, int batch)
{
    const struct job *job = b->job;
    const char *text = job->shard                     ? "FullyShardedDataParallel.forward"
                       : b->dp > 1 || job->ranks == 1 ? "DistributedDataParallel.forward"
                                                      : "forward_step";

    mark(b, text, -1);
    for (int i = 0; i < job->layers; i++) {
        site(b);
        parameters(b, i, i == 0, i + 1 == job->layers);
        launch(b, ATTENTION_FORWARD, -1);
        tensor_reduce(b);
        if (job->ep > 1)
            experts_forward(b, batch * job->layers + i);
        else
            launch(b, MLP_FORWARD, -1);
        tensor_reduce(b);
        if (job->shard)
            act(b, DO_EVENT, i % 4);
    }
    if (b->stage + 1 == job->pp)
        launch(b, LOSS, -1);
    end(b);
}

/* The last layers' gradients are ready first: as soon as a bucket is full it travels, while backward goes on. */
static void backward(struct builder *b, int batch, bool last)
{
    const struct job *job = b->job;
    int full = 0;

    act(b, DO_THREAD, 1);
    for (int i = 0; i < job->layers; i++) {
        site(b);
        parameters(b, i, i == 0, i + 1 == job->layers);
        if (job->ep > 1)
            experts_backward(b, batch * job->layers + job->layers - 1 - i);
        else
            launch(b, MLP_BACKWARD, -1);
        tensor_reduce(b);
        launch(b, ATTENTION_BACKWARD, -1);
        tensor_reduce(b);
        if (job->shard) {
            act(b, DO_EVENT, i % 4);
            meet(b, AXIS_DP, (struct instruction){ .operation = OP_REDUCE_SCATTER, .elements = layer_gradients(job) });
        }
        full++;
        if (!job->shard && last && (b->dp > 1 || job->ranks == 1) &&
            (full == job->bucket_layers || i + 1 == job->layers)) {
            meet(b, AXIS_DP,
                 (struct instruction){ .operation = OP_ALL_REDUCE, .elements = full * layer_gradients(job) });
            full = 0;
        }
    }
    act(b, DO_THREAD, 0);
}

/* --- the pipeline ------------------------------------------------------------------------------------------------- */

/* What goes between this stage and a neighbour, together: `sends` in the direction of the neighbour, `receives` from
 * it. */
static void exchange(struct builder *b, enum axis axis, bool sends, bool receives)
{
    const struct job *job = b->job;
    int neighbour = axis == AXIS_NEXT ? b->stage + 1 : b->stage - 1, first = -1, second = -1;
    bool send_first = b->stage % 2 == 0;

    if (neighbour < 0 || neighbour >= job->pp)
        return;
    struct instruction what = { .elements = activations(job) };
    if (sends && receives && job->batched_p2p) {
        what.operation = OP_EXCHANGE;
        first = meet(b, axis, what);
    } else if (sends && receives) {
        what.operation = send_first ? OP_SEND : OP_RECV;
        first = meet(b, axis, what);
        what.operation = send_first ? OP_RECV : OP_SEND;
        second = meet(b, axis, what);
    } else {
        what.operation = sends ? OP_SEND : OP_RECV;
        first = meet(b, axis, what);
    }
    join(b, axis, first);
    if (second >= 0)
        join(b, axis, second);
}

static void pipeline(struct builder *b)
{
    int n = b->job->microbatches, ahead = b->job->pp - 1 - b->stage;

    if (ahead > n)
        ahead = n;
    for (int i = 0; i < ahead; i++) {
        exchange(b, AXIS_PREV, false, true);
        forward(b, i);
        exchange(b, AXIS_NEXT, true, false);
    }
    if (ahead < n)
        exchange(b, AXIS_PREV, false, true);
    for (int i = 0; i < n - ahead; i++) {
        forward(b, i + ahead);
        exchange(b, AXIS_NEXT, true, true);
        backward(b, i, i + 1 == n);
        exchange(b, AXIS_PREV, true, i + 1 < n - ahead);
    }
    for (int i = n - ahead; i < n; i++) {
        exchange(b, AXIS_NEXT, false, true);
        backward(b, i, i + 1 == n);
        exchange(b, AXIS_PREV, true, false);
    }
}

/* --- the step ----------------------------------------------------------------------------------------------------- */

static void optimizer(struct builder *b)
{
    const struct job *job = b->job;
    int reduced = b->program->nmet[AXIS_DP];

    if (reduced > 0)
        join(b, AXIS_DP, reduced - 1);
    if (job->tp * job->pp > 1 || job->shard) /* the norm of all gradients, for clipping */
        join(b, AXIS_WORLD, meet(b, AXIS_WORLD, (struct instruction){ .operation = OP_ALL_REDUCE, .elements = 1 }));
    mark(b, "Optimizer.step#AdamW.step", -1);
    site(b);
    for (int i = 0; i < job->layers; i += 2)
        launch(b, OPTIMIZER, -1);
    end(b);
}

bool program_make(struct program *p, const struct job *job, int stage)
{
    struct builder b = { .program = p, .job = job, .stage = stage, .dp = job->ranks / (job->tp * job->pp) };

    *p = (struct program){ 0 };
    act(&b, DO_STEP_BEGIN, 0);
    mark(&b, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", -1);
    act(&b, DO_LOAD, 0);
    end(&b);
    act(&b, DO_COPY_IN, 0);
    act(&b, DO_CLEAR, 0);
    pipeline(&b);
    optimizer(&b);
    act(&b, DO_READ_LOSS, 0);
    act(&b, DO_END, 0);
    return !p->failed;
}

void program_free(struct program *p)
{
    free(p->v);
    for (int i = 0; i < NAXES; i++)
        free(p->met[i]);
    *p = (struct program){ 0 };
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */
