/* activity.h - what a rank does with its time, for comparing ranks.
 *
 * At each instant a rank has one activity, so the activities in a stretch of time add up to its length, in ns.
 */
#ifndef TLMPI_MODEL_ACTIVITY_H
#define TLMPI_MODEL_ACTIVITY_H

#include "tlmpi/model/schema.h"
#include <stdint.h>

#define TL_ACTIVITY_VALUES(V)                                                                                          \
    V(TL_ACTIVITY_COMPUTE, "compute", "kernels that compute")                                                          \
    V(TL_ACTIVITY_H2D, "h2d", "exposed copies from host to device")                                                    \
    V(TL_ACTIVITY_COPY, "copy", "other exposed copies and memsets")                                                    \
    V(TL_ACTIVITY_COMM, "other_group", "exposed communication with other ranks than those that wait here")             \
    V(TL_ACTIVITY_HOST, "host_late", "the host launched late, outside of the calls of the other activities")           \
    V(TL_ACTIVITY_INPUT, "input", "the host waited for input")                                                         \
    V(TL_ACTIVITY_GC, "gc", "the host collected garbage")                                                              \
    V(TL_ACTIVITY_SYNC, "sync_drain", "the host waited for the device, which then had an empty queue")                 \
    V(TL_ACTIVITY_ALLOCATOR, "allocator", "the host allocated or freed device memory")                                 \
    V(TL_ACTIVITY_DEVICE, "device", "work began late after its launch, or waited for an event")                        \
    V(TL_NACTIVITIES, "unknown", "no known activity")
typedef enum tl_activity_kind { TL_ACTIVITY_VALUES(TL_VALUE_NAME) } tl_activity_kind;

/* The activities, as bits, of a host before it launches work; a wait for the device is not among them. */
#define TL_HOST_ACTIVITIES                                                                                             \
    (1U << TL_ACTIVITY_HOST | 1U << TL_ACTIVITY_INPUT | 1U << TL_ACTIVITY_GC | 1U << TL_ACTIVITY_ALLOCATOR)

typedef struct tl_activity_ns {
    int64_t ns[TL_NACTIVITIES];
} tl_activity_ns;

/* "compute", "h2d", "copy", "other_group", "host_late", "input", "gc", "sync_drain", "allocator", "device"; and for
 * TL_NACTIVITIES "unknown"; NULL. */
TL_LABELS(activity);

#endif
