/* waits.h - which rank waited for which, from the result of a run over the same traces. */
#ifndef JOB_AUGMENT_WAITS_H
#define JOB_AUGMENT_WAITS_H

#include "tlmpi/job/read/plan.h"
#include "tlmpi/model/view.h"

/* A wait of one rank for others. */
typedef struct tl_wait {
    int32_t rank;
    uint32_t uid;     /* of the kernel that waited from its start on, its place in traceEvents; TL_NONE: a device did */
    int32_t device;   /* ... that one */
    int64_t start_ns; /* ... from then on, on the rank's own clock */
    int64_t wait_ns;
    int32_t late_rank;  /* who was waited for; -1: not known */
    int64_t collective; /* in what, its row in table collective; -1: in what hosts do */
    uint8_t kind;       /* tl_collective */
} tl_wait;

/* Zero-initialise; tl_waits_free ends it. */
typedef struct tl_waits {
    tl_wait *v; /* by rank */
    size_t n;
    int64_t *rank_of; /* by item of the plan; -1: the result does not have it */
} tl_waits;

/* Reads those of the ranks whose traces are wanted: wanted[i] is of item i of the plan.  A trace is known by its name
 * and size, where several of the result have these by its path.  TL_EINPUT: it is no result, or of none of the plan's
 * traces. */
tl_status tl_waits_load(const char *path, const tl_plan *plan, const bool *wanted, tl_waits *out, tl_error *err);
void tl_waits_free(tl_waits *waits);

/* Returns the first wait of the item; *n waits of the item stand there. */
const tl_wait *tl_waits_of(const tl_waits *waits, size_t item, size_t *n);

#endif
