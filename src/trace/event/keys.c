/* keys.c - maps spellings of keys, old and new, to tl_key. */
#include "tlmpi/trace/event/fields.h"

typedef struct spelling {
    const char *word; /* NULL: the end */
    tl_key key;
} spelling;

#define WORDS(...) ((const spelling[]){ __VA_ARGS__, { NULL, TL_KEY_UNKNOWN } })

/* By length. */
static const spelling *const known[] = {
    [2] = WORDS({ "ph", TL_KEY_PH }, { "ts", TL_KEY_TS }, { "id", TL_KEY_ID }),
    [3] = WORDS({ "cat", TL_KEY_CAT }, { "pid", TL_KEY_PID }, { "tid", TL_KEY_TID }, { "dur", TL_KEY_DUR },
                { "Seq", TL_KEY_SEQ }),
    [4] = WORDS({ "name", TL_KEY_NAME }, { "args", TL_KEY_ARGS }, { "kind", TL_KEY_KIND }, { "grid", TL_KEY_GRID },
                { "Rank", TL_KEY_GROUP_RANK }),
    [5] = WORDS({ "bytes", TL_KEY_BYTES }, { "dtype", TL_KEY_DTYPE }, { "Bytes", TL_KEY_MEMORY_BYTES }),
    [6] = WORDS({ "stream", TL_KEY_STREAM }, { "device", TL_KEY_DEVICE }, { "Stream", TL_KEY_STREAM }),
    [8] = WORDS({ "Src Rank", TL_KEY_SRC_RANK }, { "Dst Rank", TL_KEY_DST_RANK }),
    [9] = WORDS({ "copy kind", TL_KEY_COPY_KIND }, { "Device Id", TL_KEY_DEVICE_ID }),
    [10] = WORDS({ "Group size", TL_KEY_GROUP_SIZE }, { "Input Dims", TL_KEY_INPUT_DIMS },
                 { "Input type", TL_KEY_INPUT_TYPES }),
    [11] = WORDS({ "correlation", TL_KEY_CORRELATION }, { "Device Type", TL_KEY_DEVICE_TYPE }),
    [13] = WORDS({ "In msg nelems", TL_KEY_IN_NELEMS }, { "In split size", TL_KEY_IN_SPLIT }),
    [14] = WORDS({ "Out msg nelems", TL_KEY_OUT_NELEMS }, { "Out split size", TL_KEY_OUT_SPLIT },
                 { "wait_on_stream", TL_KEY_WAIT_ON_STREAM }, { "Correlation ID", TL_KEY_CORRELATION },
                 { "Total Reserved", TL_KEY_RESERVED }),
    [15] = WORDS({ "Collective name", TL_KEY_COLL_NAME }, { "original_stream", TL_KEY_ORIGINAL_STREAM },
                 { "Total Allocated", TL_KEY_ALLOCATED }, { "Concrete Inputs", TL_KEY_CONCRETE_INPUTS }),
    [17] = WORDS({ "Global rank start", TL_KEY_RANK_START }),
    [18] = WORDS({ "Process Group Name", TL_KEY_PG_NAME }, { "Global rank stride", TL_KEY_RANK_STRIDE }),
    [19] = WORDS({ "Process Group Ranks", TL_KEY_PG_RANKS }),
    [23] = WORDS({ "memory bandwidth (GB/s)", TL_KEY_BANDWIDTH }),
    [25] = WORDS({ "Process Group Description", TL_KEY_PG_DESC }),
    [33] = WORDS({ "wait_on_cuda_event_record_corr_id", TL_KEY_WAIT_ON_CORR }),
};

tl_key tl_key_of(const char *p, size_t n, bool in_args)
{
    const spelling *at = n < sizeof known / sizeof *known ? known[n] : NULL;
    for (; at != NULL && at->word != NULL; at++)
        if (*at->word == *p && memcmp(at->word, p, n) == 0 && in_args == (at->key > TL_KEY_ID && at->key < TL_NKEYS))
            return at->key;
    return TL_KEY_UNKNOWN;
}
