/* coll.h - message and group of a piece of communication.
 *
 * Sizes are in bytes; nelems count elements.  All of it comes from the trace of one rank, before ranks are matched.
 */
#ifndef TLMPI_MODEL_COLL_H
#define TLMPI_MODEL_COLL_H

#include "tlmpi/model/schema.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/kind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The source of a message's size. */
#define TL_SIZE_FROM_VALUES(V)                                                                                         \
    V(TL_SIZE_UNKNOWN, "unknown", "unknown")                                                                           \
    V(TL_SIZE_FROM_KERNEL, "kernel", "arguments of the kernel")                                                        \
    V(TL_SIZE_FROM_OPERATOR, "operator", "arguments or shapes of the operator that launched it")                       \
    V(TL_SIZE_FROM_ANNOTATION, "annotation", "shapes of the annotation around it")
typedef enum tl_size_from { TL_SIZE_FROM_VALUES(TL_VALUE_NAME) } tl_size_from;

/* The best of the sources of the collective's metadata. */
typedef enum tl_coll_from {
    TL_COLL_FROM_KERNEL,     /* arguments of the kernel */
    TL_COLL_FROM_OPERATOR,   /* the operator that launched it */
    TL_COLL_FROM_ANNOTATION, /* the annotation around it */
    TL_COLL_FROM_NAME        /* its name alone */
} tl_coll_from;

/* One kernel's part in a collective, from the trace of the kernel's rank; -1: the trace does not tell. */
typedef struct tl_coll {
    int64_t seq; /* number of the collective in its group; point-to-point has its own numbers */
    int64_t in_nelems, out_nelems;
    int64_t bytes;      /* size of the message: tl_message_bytes */
    uint64_t dtype;     /* content key of the type's name; 0: unknown */
    int32_t src, dst;   /* point-to-point: sending and receiving rank */
    uint32_t group;     /* index into the view's groups; TL_NONE: nothing names a group */
    int32_t group_size; /* number of ranks in the group, if only the number is known */
    int8_t dtype_bytes; /* of an element */
    uint8_t kind;       /* tl_collective */
    uint8_t from;       /* tl_coll_from */
    uint8_t size_from;  /* tl_size_from */
    bool p2p;           /* between pairs of ranks, not within a group: sends, receives and batches of them */
} tl_coll;

/* A process group, as one rank names it. */
typedef struct tl_group {
    uint64_t members_key;   /* content key of the sorted ranks, or of what is known of the group unless all members are
                             * known */
    uint32_t name, desc;    /* ids in names, TL_NO_NAME */
    int32_t size;           /* ranks in it, -1 when unknown */
    bool complete;          /* all members are known */
    const int32_t *members; /* ascending */
    size_t nmembers;
} tl_group;

/* A type of elements; 0: unknown. */
typedef uint8_t tl_dtype;

/* Returns the type with this name in C++ ("c10::Half", "float"). */
tl_dtype tl_dtype_of_type(tl_text type);

/* Types whose matrices devices multiply. */
typedef enum tl_precision { TL_F64, TL_F32, TL_F16, TL_BF16, TL_F8, TL_NPRECISIONS } tl_precision;

/* Returns the precision of a type; TL_NPRECISIONS: none. */
tl_precision tl_precision_of(tl_dtype dtype);

/* Returns the name of the type in c10 ("Half"); "" for 0. */
const char *tl_dtype_name(tl_dtype dtype);

/* Returns the bytes of one element of a c10 type ("BFloat16"); -1: unknown type. */
int64_t tl_dtype_bytes(tl_text name);

/* Returns the size of a message as nccl-tests define it, from the numbers of elements in and out (-1: unknown) of
 * dtype_bytes each; -1: unknown.  It is what a rank contributes to an all-reduce, holds after an all-gather, holds
 * before a reduce-scatter or all-to-all, or sends. */
int64_t tl_message_bytes(tl_collective kind, int64_t in_nelems, int64_t out_nelems, int64_t dtype_bytes);

/* Returns whether no rank can leave before the last has come, so that all leave together; such ends serve to compare
 * clocks. */
bool tl_is_synchronising(tl_collective kind);

/* Returns whether ranks may leave before all have come: true for every kind that is not synchronising. */
bool tl_is_loose(tl_collective kind);

/* Returns whether the kind is a send, a receive, or both at once. */
bool tl_is_point_to_point(tl_collective kind);

/* Returns whether the kind is loose and involves a whole group: each member leaves when its own share is done. */
bool tl_is_loose_of_group(tl_collective kind);

/* Returns whether all ranks have messages of the same size. */
bool tl_is_of_one_size(tl_collective kind);

/* Returns whether NCCL implements the kind by sends and receives, so that the kernels have one name. */
bool tl_is_of_sends(tl_collective kind);

/* Returns whether `rank` is the sender of a message between it and `peer`; if both send and receive at once, the lower
 * rank is the sender. */
bool tl_is_sender(tl_collective kind, int32_t rank, int32_t peer);

/* Returns bus bandwidth / algorithm bandwidth for a group of n ranks, as nccl-tests define it: the share of the message
 * that crosses the busiest link. */
double tl_bus_factor(tl_collective kind, int32_t n);

#endif
