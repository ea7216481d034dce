/* keys.c - spellings of keys, old and new, to what they mean. */
#include "fields.h"

typedef struct key_word {
    const char *word;
    tl_key key;
} key_word;

/* By length, so that a look-up compares only words of the right length. */
static const key_word entry_2[] = { { "ph", TL_KEY_PH }, { "ts", TL_KEY_TS }, { "id", TL_KEY_ID }, { 0 } };
static const key_word entry_3[] = { { "cat", TL_KEY_CAT }, { "pid", TL_KEY_PID }, { "tid", TL_KEY_TID },
                                    { "dur", TL_KEY_DUR }, { 0 } };
static const key_word entry_4[] = { { "name", TL_KEY_NAME }, { "args", TL_KEY_ARGS }, { 0 } };

static const key_word args_3[] = { { "Seq", TL_KEY_SEQ }, { 0 } };
static const key_word args_5[] = { { "bytes", TL_KEY_BYTES }, { "dtype", TL_KEY_DTYPE }, { 0 } };
static const key_word args_6[] = { { "stream", TL_KEY_STREAM }, { "device", TL_KEY_DEVICE }, { "Stream", TL_KEY_STREAM },
                                   { 0 } };
static const key_word args_8[] = { { "Src Rank", TL_KEY_SRC_RANK }, { "Dst Rank", TL_KEY_DST_RANK }, { 0 } };
static const key_word args_10[] = { { "Group size", TL_KEY_GROUP_SIZE }, { 0 } };
static const key_word args_11[] = { { "correlation", TL_KEY_CORRELATION }, { "External id", TL_KEY_EXTERNAL_ID },
                                    { "external id", TL_KEY_EXTERNAL_ID }, { "External Id", TL_KEY_EXTERNAL_ID }, { 0 } };
static const key_word args_13[] = { { "In msg nelems", TL_KEY_IN_NELEMS }, { "In split size", TL_KEY_IN_SPLIT }, { 0 } };
static const key_word args_14[] = { { "Out msg nelems", TL_KEY_OUT_NELEMS }, { "Out split size", TL_KEY_OUT_SPLIT },
                                    { "wait_on_stream", TL_KEY_WAIT_ON_STREAM },
                                    { "Correlation ID", TL_KEY_CORRELATION }, { 0 } };
static const key_word args_15[] = { { "Collective name", TL_KEY_COLL_NAME }, { 0 } };
static const key_word args_17[] = { { "Global rank start", TL_KEY_RANK_START }, { 0 } };
static const key_word args_18[] = { { "Process Group Name", TL_KEY_PG_NAME }, { "Global rank stride", TL_KEY_RANK_STRIDE },
                                    { 0 } };
static const key_word args_19[] = { { "Process Group Ranks", TL_KEY_PG_RANKS }, { 0 } };
static const key_word args_23[] = { { "memory bandwidth (GB/s)", TL_KEY_BANDWIDTH }, { 0 } };
static const key_word args_25[] = { { "Process Group Description", TL_KEY_PG_DESC }, { 0 } };
static const key_word args_33[] = { { "wait_on_cuda_event_record_corr_id", TL_KEY_WAIT_ON_CORR }, { 0 } };

#define ENTRY_LONGEST 4
#define ARGS_LONGEST 33
static const key_word *const entry_words[ENTRY_LONGEST + 1] = { [2] = entry_2, [3] = entry_3, [4] = entry_4 };
static const key_word *const args_words[ARGS_LONGEST + 1] = {
    [3] = args_3,   [5] = args_5,   [6] = args_6,   [8] = args_8,   [10] = args_10, [11] = args_11, [13] = args_13,
    [14] = args_14, [15] = args_15, [17] = args_17, [18] = args_18, [19] = args_19, [23] = args_23, [25] = args_25,
    [33] = args_33,
};

static tl_key find(const key_word *words, const char *p, size_t n)
{
    for (; words != NULL && words->word != NULL; words++)
        if (words->word[0] == p[0] && memcmp(words->word, p, n) == 0)
            return words->key;
    return TL_KEY_UNKNOWN;
}

tl_key tl_key_of_entry(const char *p, size_t n)
{
    return n <= ENTRY_LONGEST ? find(entry_words[n], p, n) : TL_KEY_UNKNOWN;
}

tl_key tl_key_of_args(const char *p, size_t n)
{
    return n <= ARGS_LONGEST ? find(args_words[n], p, n) : TL_KEY_UNKNOWN;
}
