/* program.h - what every rank does in every step: a list of instructions. */
#ifndef DATA_PROGRAM_H
#define DATA_PROGRAM_H

#include "sim.h"

/* One kind of device work and the operator that queues it. */
struct shape {
    const char *op, *inner;         /* framework operators, the outer around the inner */
    int us;                         /* mean duration of the kernel */
    int threads;                    /* of a block */
    const char *kernel[2];          /* by vendor; the second NULL where it is the first */
};

enum action {
    DO_STEP_BEGIN,      /* ProfilerStep# opens */
    DO_MARK,            /* an annotation opens: text */
    DO_END,             /* the innermost annotation closes */
    DO_LOAD,            /* the host waits for the next batch */
    DO_COPY_IN,         /* batch to the device */
    DO_CLEAR,           /* memset of the gradients */
    DO_STAND_STILL,     /* where a fault may hold the host up */
    DO_LAUNCH,          /* one kernel: shape */
    DO_THREAD,          /* the rest is done by host thread `number` */
    DO_ALL_REDUCE,      /* gradients of bucket `number` */
    DO_JOIN,            /* the compute stream waits for the last all-reduce */
    DO_READ_LOSS        /* one number to the host, which waits for it */
};

struct instruction {
    enum action action;
    int number;
    const char *text;
    const struct shape *shape;
};

struct program {
    struct instruction *v;
    size_t n, cap;
    int buckets;
};

/* False when memory is out.  program_free ends it in any case. */
bool program_make(struct program *program, const struct job *job);
void program_free(struct program *program);

#endif
