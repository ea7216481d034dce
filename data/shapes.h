/* shapes.h - the kernels of a step, part by part. */
#ifndef DATA_SHAPES_H
#define DATA_SHAPES_H

#include <stddef.h>

/* What the duration of a kernel depends on. */
enum weight {
    LIGHT,      /* memory: hardly on the clock of the device */
    HEAVY,      /* arithmetic: on the clock, and on how much there is to do */
    EXPERT      /* as HEAVY, and on how many tokens the rank's experts have been sent */
};

/* One kind of device work and the operator that queues it. */
struct shape {
    const char *op, *inner;         /* framework operators, the outer around the inner */
    int us;                         /* mean duration of the kernel */
    int threads;                    /* of a block */
    enum weight weight;
    const char *kernel[2];          /* by vendor; the second NULL where it is the first */
};

enum {
    ATTENTION_FORWARD,
    MLP_FORWARD,
    MLP_BACKWARD,
    ATTENTION_BACKWARD,
    ROUTER,
    PERMUTE,
    EXPERTS_FORWARD,
    UNPERMUTE,
    EXPERTS_BACKWARD,
    LOSS,
    OPTIMIZER,
    NPARTS_OF_STEP
};

struct part_of_step {
    const struct shape *v;
    size_t n;
};

extern const struct part_of_step parts[NPARTS_OF_STEP];

#endif
