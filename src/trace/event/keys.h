/* keys.h - maps spellings of keys, old and new, to tl_key. */
#ifndef TLMPI_TRACE_EVENT_KEYS_H
#define TLMPI_TRACE_EVENT_KEYS_H

#include "tlmpi/trace/event/fields.h"

#define TL_KEY_IF(word, key)                                                                                           \
    if (memcmp(p, word, sizeof(word) - 1) == 0)                                                                        \
    return key

/* Returns the key of an entry. */
static inline tl_key tl_key_of_entry(const char *p, size_t n)
{
    switch (n) {
    case 2:
        TL_KEY_IF("ph", TL_KEY_PH);
        TL_KEY_IF("ts", TL_KEY_TS);
        TL_KEY_IF("id", TL_KEY_ID);
        break;
    case 3:
        TL_KEY_IF("cat", TL_KEY_CAT);
        TL_KEY_IF("pid", TL_KEY_PID);
        TL_KEY_IF("tid", TL_KEY_TID);
        TL_KEY_IF("dur", TL_KEY_DUR);
        break;
    case 4:
        TL_KEY_IF("name", TL_KEY_NAME);
        TL_KEY_IF("args", TL_KEY_ARGS);
        break;
    }
    return TL_KEY_UNKNOWN;
}

/* Returns the key in args. */
static inline tl_key tl_key_of_args(const char *p, size_t n)
{
    switch (n) {
    case 3:
        TL_KEY_IF("Seq", TL_KEY_SEQ);
        break;
    case 4:
        TL_KEY_IF("kind", TL_KEY_KIND);
        TL_KEY_IF("grid", TL_KEY_GRID);
        TL_KEY_IF("Rank", TL_KEY_GROUP_RANK);
        break;
    case 5:
        TL_KEY_IF("bytes", TL_KEY_BYTES);
        TL_KEY_IF("dtype", TL_KEY_DTYPE);
        TL_KEY_IF("Bytes", TL_KEY_MEMORY_BYTES);
        break;
    case 6:
        TL_KEY_IF("stream", TL_KEY_STREAM);
        TL_KEY_IF("device", TL_KEY_DEVICE);
        TL_KEY_IF("Stream", TL_KEY_STREAM);
        break;
    case 8:
        TL_KEY_IF("Src Rank", TL_KEY_SRC_RANK);
        TL_KEY_IF("Dst Rank", TL_KEY_DST_RANK);
        break;
    case 9:
        TL_KEY_IF("copy kind", TL_KEY_COPY_KIND);
        TL_KEY_IF("Device Id", TL_KEY_DEVICE_ID);
        break;
    case 10:
        TL_KEY_IF("Group size", TL_KEY_GROUP_SIZE);
        TL_KEY_IF("Input Dims", TL_KEY_INPUT_DIMS);
        TL_KEY_IF("Input type", TL_KEY_INPUT_TYPES);
        break;
    case 11:
        TL_KEY_IF("correlation", TL_KEY_CORRELATION);
        TL_KEY_IF("Device Type", TL_KEY_DEVICE_TYPE);
        break;
    case 13:
        TL_KEY_IF("In msg nelems", TL_KEY_IN_NELEMS);
        TL_KEY_IF("In split size", TL_KEY_IN_SPLIT);
        break;
    case 14:
        TL_KEY_IF("Out msg nelems", TL_KEY_OUT_NELEMS);
        TL_KEY_IF("Out split size", TL_KEY_OUT_SPLIT);
        TL_KEY_IF("wait_on_stream", TL_KEY_WAIT_ON_STREAM);
        TL_KEY_IF("Correlation ID", TL_KEY_CORRELATION);
        TL_KEY_IF("Total Reserved", TL_KEY_RESERVED);
        break;
    case 15:
        TL_KEY_IF("Collective name", TL_KEY_COLL_NAME);
        TL_KEY_IF("original_stream", TL_KEY_ORIGINAL_STREAM);
        TL_KEY_IF("Total Allocated", TL_KEY_ALLOCATED);
        TL_KEY_IF("Concrete Inputs", TL_KEY_CONCRETE_INPUTS);
        break;
    case 17:
        TL_KEY_IF("Global rank start", TL_KEY_RANK_START);
        break;
    case 18:
        TL_KEY_IF("Process Group Name", TL_KEY_PG_NAME);
        TL_KEY_IF("Global rank stride", TL_KEY_RANK_STRIDE);
        break;
    case 19:
        TL_KEY_IF("Process Group Ranks", TL_KEY_PG_RANKS);
        break;
    case 23:
        TL_KEY_IF("memory bandwidth (GB/s)", TL_KEY_BANDWIDTH);
        break;
    case 25:
        TL_KEY_IF("Process Group Description", TL_KEY_PG_DESC);
        break;
    case 33:
        TL_KEY_IF("wait_on_cuda_event_record_corr_id", TL_KEY_WAIT_ON_CORR);
        break;
    }
    return TL_KEY_UNKNOWN;
}

/* Whether the value is kept as text, of any type. */
static inline bool tl_key_keeps_json(tl_key key)
{
    return key >= TL_KEY_GRID && key < TL_NKEYS;
}

#undef TL_KEY_IF

#endif
