/* call.h - what a call of the CUDA or HIP runtime or driver does, by its name.
 *
 *     cuMemFree_v2  =  prefix cu | MemFree | version _v2
 *
 * The same call has a name in each runtime and in the driver API, for per-thread default streams, and for each version
 * of its arguments: rules match the name without prefix and version.
 */
#ifndef TLMPI_MODEL_CALL_H
#define TLMPI_MODEL_CALL_H

#include "tlmpi/base/text.h"
#include <stdint.h>

typedef enum tl_does {
    TL_DOES_OTHER,
    TL_DOES_LAUNCH, /* launches a kernel */
    TL_DOES_LAUNCH_GRAPH,
    TL_DOES_COPY,
    TL_DOES_WAIT,     /* only waits */
    TL_DOES_HOLD,     /* makes a stream wait for an event; the host goes on */
    TL_DOES_ALLOCATE, /* allocates device memory or pinned memory, or pins or maps memory */
    TL_DOES_FREE      /* frees, unpins or unmaps memory */
} tl_does;

/* The device work that a call waits for before it returns. */
typedef enum tl_does_after {
    TL_AFTER_NOTHING,
    TL_AFTER_STREAM, /* all work in a stream */
    TL_AFTER_EVENT,
    TL_AFTER_ALL,         /* all work: the memory that is freed must be out of use */
    TL_AFTER_COPY,        /* the copy that the call makes */
    TL_AFTER_ALL_IF_LONG, /* all work, if the call takes long, since no memory was free */
    TL_AFTER_PERHAPS      /* unknown from the name */
} tl_does_after;

typedef struct tl_call_rule {
    const char *pattern; /* fnmatch pattern, for the name without prefix and version */
    uint8_t does;        /* tl_does */
    uint8_t after;       /* tl_does_after */
    const char *seen;    /* a name that this rule, and no rule above it, must catch */
} tl_call_rule;

/* The first rule that matches counts.  The last rule matches every name. */
extern const tl_call_rule tl_call_rules[];
extern const size_t tl_ncall_rules;

/* Returns the rule for a name; the last rule for names that are not of the runtime or driver. */
const tl_call_rule *tl_call_rule_of(tl_text name);

#endif
