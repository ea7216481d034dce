/* parts.h - what a rank's time is made of, for comparing ranks.
 *
 * At each instant it is one thing, so the parts of a stretch of time add up to its length, in ns.
 */
#ifndef TLMPI_MODEL_PARTS_H
#define TLMPI_MODEL_PARTS_H

#include <stdint.h>

typedef enum tl_part {
    TL_PART_COMPUTE,
    TL_PART_H2D,  /* copies from host to device that nothing hides */
    TL_PART_COPY, /* other copies and memsets, likewise */
    TL_PART_COMM, /* communication that nothing of the rank's own hides: transfer, and waiting for others */
    /* idle, by what the host did instead of feeding the device */
    TL_PART_HOST,      /* it was late, and none of what follows says why */
    TL_PART_INPUT,     /* it waited for data */
    TL_PART_GC,        /* it collected garbage */
    TL_PART_SYNC,      /* it had waited for the device to run dry */
    TL_PART_ALLOCATOR, /* it allocated or freed device memory */
    TL_PART_DEVICE,    /* nothing was late on the host: dependencies, launch latency, the inside of graphs */
    TL_NPARTS
} tl_part;

typedef struct tl_parts {
    int64_t ns[TL_NPARTS];
} tl_parts;

/* "compute", "h2d", "copy", "other_group", "host_late", "input", "gc", "sync_drain", "allocator", "device"; and for
 * TL_NPARTS "unknown"; NULL. */
extern const char *const tl_part_labels[];

#define TL_CELL_PART(name) uint8_t name
#define TL_TYPE_OF_PART    TL_TYPE_ENUM
#define TL_LABELS_OF_PART  tl_part_labels

#endif
