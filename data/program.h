/* program.h - what every rank of a pipeline stage does in every step: a list of instructions. */
#ifndef DATA_PROGRAM_H
#define DATA_PROGRAM_H

#include "job.h"
#include "shapes.h"
#include <stddef.h>

enum operation {
    OP_ALL_REDUCE,
    OP_ALL_GATHER,
    OP_REDUCE_SCATTER,
    OP_DISPATCH,        /* all-to-all: tokens to their experts */
    OP_COMBINE,         /* all-to-all: and back */
    OP_SEND,
    OP_RECV,
    OP_EXCHANGE         /* send and recv in one kernel */
};

enum action {
    DO_STEP_BEGIN,      /* ProfilerStep# opens */
    DO_MARK,            /* an annotation opens: text, and `number` after it where that is not -1 */
    DO_END,             /* the innermost annotation closes */
    DO_LOAD,            /* the host waits for the next batch */
    DO_COPY_IN,         /* batch to the device */
    DO_CLEAR,           /* memset of the gradients */
    DO_SITE,            /* place `number`, inside of annotation `text`: here a host may be held up */
    DO_LAUNCH,          /* one kernel: shape; `number` the routing of its tokens */
    DO_THREAD,          /* the rest is done by host thread `number` */
    DO_MEET,            /* a collective begins: collective `number` of the step on the axis */
    DO_JOIN,            /* the compute stream waits for collective `number` on the axis */
    DO_READ_COUNTS,     /* how many tokens to expect, to the host, which waits for it */
    DO_EVENT,           /* event `number` is recorded on the compute stream */
    DO_AWAIT_EVENT,     /* the host waits for event `number` */
    DO_READ_LOSS        /* one number to the host, which waits for it; or not, as the job has it */
};

struct instruction {
    enum action action;
    int number;
    const char *text;
    const struct shape *shape;
    bool slow;                      /* LAUNCH: of the kind that a fault slows down */
    /* MEET */
    enum axis axis;
    enum operation operation;
    bool unordered;                 /* does not wait for the compute stream */
    int routing;                    /* all-to-all: which tokens */
    int64_t elements;               /* all-to-all: in the mean, of a rank */
};

struct program {
    struct instruction *v;
    size_t n, cap;
    bool failed;                        /* memory was out */
    size_t *met[NAXES];                 /* by collective of the step: its instruction */
    int nmet[NAXES], metcap[NAXES];
    int sites, launches;
    int64_t kernel_ns, heavy_ns, expert_ns, slow_ns;    /* of a step in the mean: all kernels, the not LIGHT ones ... */
};

/* The step of a stage.  False when memory is out.  program_free ends it in any case. */
bool program_make(struct program *program, const struct job *job, int stage);
void program_free(struct program *program);

/* Marks the kernels of one kind, one of those that matter, chosen by the number; its name. */
const char *program_slow_down(struct program *program, const struct job *job, uint64_t which);

const char *kernel_of(const struct shape *shape, enum vendor vendor);
int64_t kernel_mean_ns(const struct job *job, const struct shape *shape);
int64_t copy_mean_ns(const struct job *job);        /* of the batch to the device */

#endif
