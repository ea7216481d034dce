/* kind.c - words for what device work is. */
#include "tlmpi/model/kind.h"

#include <stddef.h>

const char *const tl_kind_labels[TL_NKINDS + 1] = {
    [TL_COMPUTE] = "compute", [TL_COMM] = "comm", [TL_MEMCPY] = "memcpy", [TL_MEMSET] = "memset", [TL_SYNC] = "sync",
};

const char *const tl_collective_labels[TL_NCOLLECTIVES + 1] = {
    [TL_COLL_NONE] = "none",
    [TL_COLL_UNKNOWN] = "unknown",
    [TL_ALL_REDUCE] = "all_reduce",
    [TL_ALL_GATHER] = "all_gather",
    [TL_REDUCE_SCATTER] = "reduce_scatter",
    [TL_ALL_TO_ALL] = "all_to_all",
    [TL_BROADCAST] = "broadcast",
    [TL_REDUCE] = "reduce",
    [TL_GATHER] = "gather",
    [TL_SCATTER] = "scatter",
    [TL_SEND] = "send",
    [TL_RECV] = "recv",
    [TL_SEND_RECV] = "send_recv",
    [TL_BARRIER] = "barrier",
    [TL_MEETING] = "meeting",
};
