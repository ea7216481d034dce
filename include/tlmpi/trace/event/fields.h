/* fields.h - the values of one entry, before they become columns: filled by both event readers.
 *
 * A reader fills in the values it finds, as text; their meaning is decided in one place (events.c), so the two readers
 * can differ only in the bytes that they find.
 */
#ifndef TLMPI_TRACE_EVENT_FIELDS_H
#define TLMPI_TRACE_EVENT_FIELDS_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum tl_key {
    /* of the entry */
    TL_KEY_PH,
    TL_KEY_CAT,
    TL_KEY_NAME,
    TL_KEY_PID,
    TL_KEY_TID,
    TL_KEY_TS,
    TL_KEY_DUR,
    TL_KEY_ID,
    /* of its args */
    TL_KEY_CORRELATION,
    TL_KEY_STREAM,
    TL_KEY_DEVICE,
    TL_KEY_BYTES,
    TL_KEY_BANDWIDTH,
    TL_KEY_KIND,
    TL_KEY_WAIT_ON_STREAM,
    TL_KEY_WAIT_ON_CORR,
    TL_KEY_COLL_NAME,
    TL_KEY_DTYPE,
    TL_KEY_IN_NELEMS,
    TL_KEY_OUT_NELEMS,
    TL_KEY_GROUP_SIZE,
    TL_KEY_PG_NAME,
    TL_KEY_PG_DESC,
    TL_KEY_PG_RANKS,
    TL_KEY_SEQ,
    TL_KEY_SRC_RANK,
    TL_KEY_DST_RANK,
    TL_KEY_IN_SPLIT,
    TL_KEY_OUT_SPLIT,
    TL_KEY_RANK_START,
    TL_KEY_RANK_STRIDE,
    TL_KEY_GROUP_RANK,
    TL_KEY_ORIGINAL_STREAM, /* the device's stream, if `stream` is a lane for display */
    TL_KEY_COPY_KIND,       /* direction of a copy as a text: "HtoD" */
    TL_KEY_ALLOCATED,
    TL_KEY_RESERVED,
    TL_KEY_DEVICE_ID,
    TL_KEY_DEVICE_TYPE,
    TL_KEY_MEMORY_BYTES, /* of an allocator */
    TL_KEY_GRID,         /* this key and those below: arrays and objects are kept as text */
    TL_KEY_INPUT_DIMS,
    TL_KEY_INPUT_TYPES,
    TL_KEY_CONCRETE_INPUTS,
    TL_KEY_HOOK, /* of its args, for a hook alone (hook.h): this key and those up to TL_KEY_HOOK_LAST */
    TL_KEY_HOOK_LAST = TL_KEY_HOOK + 2,
    TL_NKEYS,
    TL_KEY_ARGS, /* the args object; has no value */
    TL_KEY_UNKNOWN
} tl_key;

#define TL_KEY_BIT(key) (UINT64_C(1) << (key))

/* Returns the key of an entry, or of its args, for its spelling. */
tl_key tl_key_of(const char *p, size_t n, bool in_args);

/* Maps the spelling of a key of args to a key of the hook. */
typedef tl_key tl_hook_key(const char *p, size_t n);

typedef enum tl_value_type { TL_VALUE_STRING, TL_VALUE_NUMBER, TL_VALUE_OTHER } tl_value_type;

typedef struct tl_value {
    tl_text text; /* a string without its quotes, escapes resolved; a number as text; else empty, except
                             * arrays and objects: as text under the keys from TL_KEY_GRID on, and possibly under
                             * others */
    tl_value_type type;
    uint32_t ndecimals; /* number of digits after the point */
    uint64_t digits;    /* all digits of a number as one integer, if the reader has read them: at most 16 before the
                             * point and 3 after it, no sign, no exponent; else TL_DIGITS_UNREAD */
} tl_value;

#define TL_DIGITS_UNREAD UINT64_MAX

typedef struct tl_fields {
    uint64_t seen; /* bit k: value[k] exists; of equal keys the last counts */
    tl_value value[TL_NKEYS];
    tl_text args; /* the args object as text; n is 0: none */
} tl_fields;

static inline void tl_fields_set(tl_fields *f, tl_key key, const char *p, size_t n, tl_value_type type)
{
    f->seen |= TL_KEY_BIT(key);
    f->value[key] = (tl_value){ { p, n }, type, 0, TL_DIGITS_UNREAD };
}

static inline const tl_value *tl_fields_get(const tl_fields *f, tl_key key)
{
    return f->seen >> key & 1 ? &f->value[key] : NULL;
}

/* The text between two values of an entry (brackets, commas and the key), with its interpretation.  Values that recur,
 * such as "X" and pids, are part of it. */
#define TL_PIECE_MAX 80

typedef struct tl_piece {
    char text[TL_PIECE_MAX];
    size_t n;
    size_t args_at, args_end;      /* positions in the text of the '{' and the end of args; 0: not in this piece */
    struct tl_piece *next, *other; /* the pieces that may follow this one: next, next->other, ... */
    struct tl_piece *kin;          /* the piece whose `next` is used: this one, or another that differs only in
                                     * numbers */
    tl_key key;                    /* of the value after it */
    bool in_args;                  /* that value is in args */
    bool brackets, over;           /* it has a bracket of args or of the entry; it ends the entry, and no value
                                     * follows */
    bool words;                    /* some value in it is a string */
    struct tl_inner_value {
        uint8_t key, type, at, n; /* tl_key, tl_value_type, position and length in the text */
        uint64_t digits;
    } inner[4];
    size_t ninner;
    uint64_t seen; /* as in tl_fields, of these values */
} tl_piece;

/* An array or object, as text. */
#define TL_NESTED_MAX 120

typedef struct tl_nested {
    char text[TL_NESTED_MAX + 8]; /* the 8 bytes more are read, in blocks of 16 */
    size_t n;                     /* 0: none */
} tl_nested;

/* The layouts of the entries read so far, and values in them.  Zero-initialise; must not be moved. */
#define TL_PIECES 256
#define TL_NESTED 128

typedef struct tl_layouts {
    tl_piece root, v[TL_PIECES];
    size_t n;
    tl_nested nested[TL_NESTED][2]; /* two with the same place: the later one first */
} tl_layouts;

/* The fast reader: reads an entry that is plain (printable ASCII, no escapes) completely and strictly, from its '{' at
 * p to its '}'.  Returns its length; 0: leave the entry to yajl; *f is then undefined.  A byte that is invalid in JSON
 * (such as 0) and TL_PIECE_MAX more readable bytes have to follow the text.  Values point into the text.  Layouts of
 * earlier entries change nothing but the time.  key_of is called for unknown keys of args; NULL: such keys are
 * skipped. */
size_t tl_event_read_fast(const char *p, tl_layouts *layouts, tl_hook_key *key_of, tl_fields *f);

/* The reference reader.  Zero-initialise the scratch, tl_yajl_scratch_free ends it. */
typedef struct tl_yajl_scratch {
    char *text; /* decoded texts of the last entry: values point here */
    size_t used, cap;
    tl_hook_key *key_of; /* set it to read the keys of a hook as well; NULL: none */
} tl_yajl_scratch;

/* Reads an entry.  Returns false if it is not a JSON object.  *consumed: number of bytes up to the fault, or of the
 * object.  Values are valid until the next call, and as long as the text is. */
bool tl_event_read_yajl(tl_yajl_scratch *scratch, tl_text text, tl_fields *f, size_t *consumed);

void tl_yajl_scratch_free(tl_yajl_scratch *scratch);

#endif
