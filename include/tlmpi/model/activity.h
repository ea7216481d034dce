/* activity.h - what a rank does with its time, for comparing ranks.
 *
 * At each instant a rank has one activity, so the activities in a stretch of time add up to its length, in ns.
 */
#ifndef TLMPI_MODEL_ACTIVITY_H
#define TLMPI_MODEL_ACTIVITY_H

#include <stdint.h>

typedef enum tl_activity_kind {
    TL_ACTIVITY_COMPUTE,
    TL_ACTIVITY_H2D,  /* copies from host to device that nothing hides */
    TL_ACTIVITY_COPY, /* other copies and memsets that nothing hides */
    TL_ACTIVITY_COMM, /* communication under no other work of the rank: transfer, and waiting for others */
    /* idle, by what the host did instead of feeding the device */
    TL_ACTIVITY_HOST,      /* the host was late, and no activity below says why */
    TL_ACTIVITY_INPUT,     /* the host waited for data */
    TL_ACTIVITY_GC,        /* the host collected garbage */
    TL_ACTIVITY_SYNC,      /* the host had waited for the device to run dry */
    TL_ACTIVITY_ALLOCATOR, /* the host allocated or freed device memory */
    TL_ACTIVITY_DEVICE,    /* nothing was late on the host: dependencies, launch latency, the inside of graphs */
    TL_NACTIVITIES
} tl_activity_kind;

/* The activities, as bits, of a host before it launches work; a wait for the device is not among them. */
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
