/* coll.h - what a piece of communication carries, and between which ranks.
 *
 * Sizes are in bytes, nelems count elements.  Everything here is what one rank's trace tells, before ranks are matched.
 */
#ifndef TLMPI_MODEL_COLL_H
#define TLMPI_MODEL_COLL_H

#include "tlmpi/model/schema.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/kind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the size of a message comes from. */
#define TL_SIZE_FROM_VALUES(V)                                                                                         \
    V(TL_SIZE_UNKNOWN, "unknown", "nobody")                                                                            \
    V(TL_SIZE_FROM_KERNEL, "kernel", "arguments of the kernel")                                                        \
    V(TL_SIZE_FROM_OPERATOR, "operator", "arguments or shapes of the operator that launched it")                       \
    V(TL_SIZE_FROM_ANNOTATION, "annotation", "shapes of the annotation around it")
typedef enum tl_size_from { TL_SIZE_FROM_VALUES(TL_VALUE_NAME) } tl_size_from;

/* Where the facts come from: the best of the sources that named the collective. */
#define TL_FROM_VALUES(V)                                                                                              \
    V(TL_COLL_FROM_KERNEL, "kernel", "arguments of the kernel")                                                        \
    V(TL_COLL_FROM_OPERATOR, "operator", "the operator that launched it")                                              \
    V(TL_COLL_FROM_ANNOTATION, "annotation", "the annotation around it")                                               \
    V(TL_COLL_FROM_NAME, "name", "its name alone")
typedef enum tl_coll_from { TL_FROM_VALUES(TL_VALUE_NAME) } tl_coll_from;

/* One kernel's part in a collective, as the kernel's own trace tells it; -1: the trace does not tell. */
typedef struct tl_coll {
    int64_t seq; /* number of the collective in its group; point-to-point has its own numbers */
    int64_t in_nelems, out_nelems;
    int64_t bytes;    /* size of the message: tl_message_bytes */
    uint64_t dtype;   /* content key of its name, 0 when unknown */
    int32_t src, dst; /* of a transfer from one rank to another: sending and receiving rank */
    uint32_t group;   /* index into the view's groups, TL_NONE when nothing names one */
    int32_t group_size; /* ranks in the group, where nothing else of the group is told */
    uint8_t kind;     /* tl_collective */
    uint8_t from;     /* tl_coll_from */
    uint8_t size_from; /* tl_size_from */
    bool p2p;         /* between pairs of ranks, not of a group: sends, receives, batches of them */
} tl_coll;

/* A process group, as one rank names it. */
typedef struct tl_group {
    uint64_t members_key;   /* of the sorted ranks; where they are not all known, of what is known */
    uint32_t name, desc;    /* ids in names, TL_NO_NAME */
    int32_t size;           /* ranks in it, -1 when unknown */
    bool complete;          /* all members are known */
    const int32_t *members; /* ascending */
    size_t nmembers;
} tl_group;

/* A type of elements; 0: unknown. */
typedef uint8_t tl_dtype;

/* The type that C++ calls by this name ("c10::Half", "float"). */
tl_dtype tl_dtype_of_type(tl_text type);

/* The name of its c10 type ("Half"); "" for 0. */
const char *tl_dtype_name(tl_dtype dtype);

/* Bytes of one element of a c10 type ("BFloat16"), -1 for others. */
int64_t tl_dtype_bytes(tl_text name);

/* The size of a message as nccl-tests count it, from elements in and out (-1: unknown) of dtype_bytes each; -1 when
 * unknown: what a rank contributes to an all-reduce, what it has in the end of an all-gather, at the beginning of a
 * reduce-scatter or all-to-all, what a send sends. */
int64_t tl_message_bytes(tl_collective kind, int64_t in_nelems, int64_t out_nelems, int64_t dtype_bytes);

/* Whether no rank can leave before the last has come, and all leave together: such ends compare clocks. */
bool tl_is_synchronising(tl_collective kind);

/* Whether ranks may leave before all have come: every kind that is not synchronising. */
bool tl_is_loose(tl_collective kind);

/* Whether the kind goes between two ranks: a send, a receive, or both at once. */
bool tl_is_point_to_point(tl_collective kind);

/* Whether the kind is loose and of a whole group: each member leaves when its own share is done. */
bool tl_is_loose_of_group(tl_collective kind);

/* Whether the message is of one size for all ranks: no rank gives or gets a share of its own. */
bool tl_is_of_one_size(tl_collective kind);

/* Whether NCCL makes the kind of sends and receives: the kernels then have one name. */
bool tl_is_of_sends(tl_collective kind);

/* Whether `rank` counts as the sender of what goes between it and `peer`: where each both sends and receives, the lower
 * of the two, so that both agree. */
bool tl_is_sender(tl_collective kind, int32_t rank, int32_t peer);

/* Bus bandwidth / algorithm bandwidth of a group of n ranks, as nccl-tests define it: the share of the message that
 * crosses the busiest link. */
double tl_bus_factor(tl_collective kind, int32_t n);

#endif
