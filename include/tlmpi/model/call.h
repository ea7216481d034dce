/* call.h - what a call of the CUDA or HIP runtime or driver does, by its name.
 *
 *     cuMemFree_v2  =  prefix cu | MemFree | version _v2
 *
 * The same call has a name in each runtime, in the driver's interface, for the stream of each thread and for each
 * version of its arguments: rules look at the name without prefix and version.
 */
#ifndef TLMPI_MODEL_CALL_H
#define TLMPI_MODEL_CALL_H

#include "tlmpi/base/text.h"
#include <stdint.h>

typedef enum tl_does {
    TL_DOES_OTHER,
    TL_DOES_LAUNCH, /* a kernel */
    TL_DOES_LAUNCH_GRAPH,
    TL_DOES_COPY,
    TL_DOES_WAIT,     /* nothing but to wait */
    TL_DOES_HOLD,     /* makes a stream wait for an event; the host goes on */
    TL_DOES_ALLOCATE, /* memory of the device or pinned, or pins or maps some */
    TL_DOES_FREE      /* the reverse */
} tl_does;

/* The device work that a call waits for before it returns. */
typedef enum tl_does_after {
    TL_AFTER_NOTHING,
    TL_AFTER_STREAM, /* the work of a stream */
    TL_AFTER_EVENT,
    TL_AFTER_ALL,         /* all work: memory that is freed must be out of use */
    TL_AFTER_COPY,        /* its own copy */
    TL_AFTER_ALL_IF_LONG, /* all work, if the call takes long: no memory was free */
    TL_AFTER_PERHAPS      /* the name does not tell */
} tl_does_after;

typedef struct tl_call_rule {
    const char *pattern; /* of fnmatch, for the name without prefix and version */
    uint8_t does;        /* tl_does */
    uint8_t after;       /* tl_does_after */
    const char *seen;    /* a name that this rule, and no rule above it, must catch */
} tl_call_rule;

/* The first rule that matches counts; the last rule matches every name. */
extern const tl_call_rule tl_call_rules[];
extern const size_t tl_ncall_rules;

/* The rule for a name, the last one for names that are not of such a call. */
const tl_call_rule *tl_call_rule_of(tl_text name);

#endif
