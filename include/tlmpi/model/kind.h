/* kind.h - what device work is, and which collective it carries.
 *
 * A piece of device work is of one kind, and carries a collective where that is TL_COMM.
 */
#ifndef TLMPI_MODEL_KIND_H
#define TLMPI_MODEL_KIND_H

#include <stdint.h>

typedef enum tl_kind { TL_COMPUTE, TL_COMM, TL_MEMCPY, TL_MEMSET, TL_SYNC, TL_NKINDS } tl_kind;

typedef enum tl_collective {
    TL_COLL_NONE,    /* not communication */
    TL_COLL_UNKNOWN, /* communication, but the name does not tell which */
    TL_ALL_REDUCE,
    TL_ALL_GATHER,
    TL_REDUCE_SCATTER,
    TL_ALL_TO_ALL,
    TL_BROADCAST,
    TL_REDUCE,
    TL_GATHER,
    TL_SCATTER,
    TL_SEND,
    TL_RECV,
    TL_SEND_RECV, /* either, or an all-to-all made of them */
    TL_BARRIER,
    TL_MEETING, /* a collective by its behaviour: ranks leave together, once the last has come; its kind is unknown */
    TL_NCOLLECTIVES
} tl_collective;

/* A kernel name that no rule classifies, but the kernels' behaviour does. */
typedef struct tl_behaving {
    uint64_t name_key;   /* content key of the name */
    uint64_t collective; /* tl_collective, unless the name tells it: TL_SEND_RECV between two ranks; of more TL_MEETING,
                          * or TL_COLL_UNKNOWN where they leave apart */
} tl_behaving;

extern const char *const tl_kind_labels[];       /* "compute", "comm", "memcpy", "memset", "sync", NULL */
extern const char *const tl_collective_labels[]; /* "none", "unknown", "all_reduce", ... NULL */

#define TL_CELL_KIND(name) uint8_t name
#define TL_TYPE_OF_KIND    TL_TYPE_ENUM
#define TL_LABELS_OF_KIND  tl_kind_labels

#endif
