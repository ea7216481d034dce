/* kind.h - the kind of a piece of device work, and the kind of its collective.
 *
 * Every piece of device work has one kind; a piece of kind TL_COMM also has a kind of collective.
 */
#ifndef TLMPI_MODEL_KIND_H
#define TLMPI_MODEL_KIND_H

#include "tlmpi/model/schema.h"
#include <stdint.h>

#define TL_KIND_VALUES(V)                                                                                              \
    V(TL_COMPUTE, "compute", "a kernel that computes")                                                                 \
    V(TL_COMM, "comm", "communication between devices")                                                                \
    V(TL_MEMCPY, "memcpy", "a copy")                                                                                   \
    V(TL_MEMSET, "memset", "a memset")                                                                                 \
    V(TL_SYNC, "sync", "a recorded wait")
typedef enum tl_kind { TL_KIND_VALUES(TL_VALUE_NAME) TL_NKINDS } tl_kind;

#define TL_COLL_VALUES(V)                                                                                              \
    V(TL_COLL_NONE, "none", "no communication")                                                                        \
    V(TL_COLL_UNKNOWN, "unknown", "communication of an unknown kind")                                                  \
    V(TL_ALL_REDUCE, "all_reduce", "all ranks get the reduction")                                                      \
    V(TL_ALL_GATHER, "all_gather", "all ranks get the parts of all")                                                   \
    V(TL_REDUCE_SCATTER, "reduce_scatter", "each rank gets a part of the reduction")                                   \
    V(TL_ALL_TO_ALL, "all_to_all", "each rank sends to each")                                                          \
    V(TL_BROADCAST, "broadcast", "one rank sends to all")                                                              \
    V(TL_REDUCE, "reduce", "one rank gets the reduction")                                                              \
    V(TL_GATHER, "gather", "one rank gets the parts of all")                                                           \
    V(TL_SCATTER, "scatter", "each rank gets a part from one")                                                         \
    V(TL_SEND, "send", "to one rank")                                                                                  \
    V(TL_RECV, "recv", "from one rank")                                                                                \
    V(TL_SEND_RECV, "send_recv", "either, or several of them together")                                                \
    V(TL_BARRIER, "barrier", "no data; all ranks wait for the last one")                                               \
    V(TL_MEETING, "meeting", "known by behaviour only: its ranks leave together after the last one has arrived")
typedef enum tl_collective { TL_COLL_VALUES(TL_VALUE_NAME) TL_NCOLLECTIVES } tl_collective;

/* What a server does in an iteration. */
#define TL_SERVING_VALUES(V)                                                                                           \
    V(TL_NOT_SERVING, "none", "no iteration of a server")                                                              \
    V(TL_PREFILL, "prefill", "reads prompts")                                                                          \
    V(TL_DECODE, "decode", "continues answers")                                                                        \
    V(TL_MIXED, "mixed", "reads prompts and continues answers")                                                        \
    V(TL_SERVING_OTHER, "other", "neither: an idle iteration, or one of a draft model")
typedef enum tl_serving { TL_SERVING_VALUES(TL_VALUE_NAME) } tl_serving;
TL_LABELS(serving);

/* A kernel name that no rule classifies, but the behaviour of its kernels does. */
typedef struct tl_behaving {
    uint64_t name_key;   /* content key of the name */
    uint64_t collective; /* tl_collective, unless the name tells it: TL_SEND_RECV between two ranks; among more
                          * TL_MEETING, or TL_COLL_UNKNOWN if they do not leave together */
} tl_behaving;

TL_LABELS(kind);
TL_LABELS(collective);

#endif
