/* activity.h - what a rank does with its time, for comparing ranks.
 *
 * At each instant it is one thing, so the activities in a stretch of time add up to its length, in ns.
 */
#ifndef TLMPI_MODEL_ACTIVITY_H
#define TLMPI_MODEL_ACTIVITY_H

#include <stdint.h>

typedef enum tl_activity_kind {
    TL_ACTIVITY_COMPUTE,
    TL_ACTIVITY_H2D,  /* copies from host to device that nothing hides */
    TL_ACTIVITY_COPY, /* other copies and memsets, likewise */
    TL_ACTIVITY_COMM, /* communication that nothing of the rank's own hides: transfer, and waiting for others */
    /* idle, by what the host did instead of feeding the device */
    TL_ACTIVITY_HOST,      /* it was late, and none of what follows says why */
    TL_ACTIVITY_INPUT,     /* it waited for data */
    TL_ACTIVITY_GC,        /* it collected garbage */
    TL_ACTIVITY_SYNC,      /* it had waited for the device to run dry */
    TL_ACTIVITY_ALLOCATOR, /* it allocated or freed device memory */
    TL_ACTIVITY_DEVICE,    /* nothing was late on the host: dependencies, launch latency, the inside of graphs */
    TL_NACTIVITIES
} tl_activity_kind;

/* As bits: what a host does before it hands work over; a wait for the device is none of it. */
#define TL_HOST_ACTIVITIES                                                                                             \
    (1U << TL_ACTIVITY_HOST | 1U << TL_ACTIVITY_INPUT | 1U << TL_ACTIVITY_GC | 1U << TL_ACTIVITY_ALLOCATOR)

typedef struct tl_activity_ns {
    int64_t ns[TL_NACTIVITIES];
} tl_activity_ns;

/* "compute", "h2d", "copy", "other_group", "host_late", "input", "gc", "sync_drain", "allocator", "device"; and for
 * TL_NACTIVITIES "unknown"; NULL. */
extern const char *const tl_activity_labels[];

#define TL_CELL_ACTIVITY(name) uint8_t name
#define TL_TYPE_OF_ACTIVITY    TL_TYPE_ENUM
#define TL_LABELS_OF_ACTIVITY  tl_activity_labels

#endif
