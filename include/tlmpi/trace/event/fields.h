/* fields.h - the values of one entry, before they become columns: the common ground of both event readers.
 *
 * A reader fills in the values it finds, as text; what the text means is decided in one place (events.c), so the two
 * readers can differ only in which bytes they find.
 */
#ifndef TLMPI_TRACE_EVENT_FIELDS_H
#define TLMPI_TRACE_EVENT_FIELDS_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum tl_key {
    /* of the entry itself */
    TL_KEY_PH, TL_KEY_CAT, TL_KEY_NAME, TL_KEY_PID, TL_KEY_TID, TL_KEY_TS, TL_KEY_DUR, TL_KEY_ID,
    /* of its args */
    TL_KEY_CORRELATION, TL_KEY_STREAM, TL_KEY_DEVICE, TL_KEY_BYTES, TL_KEY_BANDWIDTH, TL_KEY_KIND,
    TL_KEY_WAIT_ON_STREAM, TL_KEY_WAIT_ON_CORR,
    TL_KEY_COLL_NAME, TL_KEY_DTYPE, TL_KEY_IN_NELEMS, TL_KEY_OUT_NELEMS, TL_KEY_GROUP_SIZE, TL_KEY_PG_NAME,
    TL_KEY_PG_DESC, TL_KEY_PG_RANKS, TL_KEY_SEQ, TL_KEY_SRC_RANK, TL_KEY_DST_RANK, TL_KEY_IN_SPLIT, TL_KEY_OUT_SPLIT,
    TL_KEY_RANK_START, TL_KEY_RANK_STRIDE, TL_KEY_GROUP_RANK,
    TL_KEY_ORIGINAL_STREAM, /* where `stream` is a lane for display: the stream of the device */
    TL_KEY_COPY_KIND,       /* the direction of a copy as a text: "HtoD" */
    TL_KEY_ALLOCATED, TL_KEY_RESERVED, TL_KEY_DEVICE_ID, TL_KEY_DEVICE_TYPE, TL_KEY_MEMORY_BYTES, /* of an allocator */
    TL_KEY_GRID,            /* from here on arrays and objects are kept as they are written */
    TL_KEY_HOOK,            /* of its args, for a hook alone (hook.h): this one and those after it */
    TL_KEY_HOOK_LAST = TL_KEY_HOOK + 4,
    TL_NKEYS,
    TL_KEY_ARGS,            /* the args object: no value of its own */
    TL_KEY_UNKNOWN
} tl_key;

#define TL_KEY_BIT(key) (UINT64_C(1) << (key))

/* Maps the spelling of a key of args to the hook's own key. */
typedef tl_key tl_hook_key(const char *p, size_t n);

typedef enum tl_value_type { TL_VALUE_STRING, TL_VALUE_NUMBER, TL_VALUE_OTHER } tl_value_type;

typedef struct tl_value {
    tl_text text;           /* a string without its quotes, escapes resolved; a number as it is written; else empty, but
                             * for arrays and objects, which under the keys from TL_KEY_GRID on stand here as they are
                             * written, and under the others may */
    tl_value_type type;
    uint32_t ndecimals;     /* of the digits, those after the point */
    uint64_t digits;        /* of a number, all digits as one integer where the reader has read them: at most 16 before
                             * the point and 3 after it, no sign, no exponent; else TL_DIGITS_UNREAD */
} tl_value;

#define TL_DIGITS_UNREAD UINT64_MAX

typedef struct tl_fields {
    uint64_t seen;          /* bit k: value[k] is there; of equal keys the last counts */
    tl_value value[TL_NKEYS];
    tl_text args;           /* the args object as it is written; n is 0 without one */
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

/* The text between two values of an entry (brackets, commas and the key), and what this text means.  Values that come
 * again and again, as "X" and pids do, are a part of it. */
#define TL_PIECE_MAX 80

typedef struct tl_piece {
    char text[TL_PIECE_MAX];
    size_t n;
    size_t args_at, args_end;       /* where in it the args begin with '{', and end after '}'; 0: they do not */
    struct tl_piece *next, *other;  /* the pieces that may follow this one: next, next->other, ... */
    struct tl_piece *kin;           /* its `next` counts: this one, or another that differs in numbers alone */
    tl_key key;                     /* of the value after it */
    bool in_args;                   /* that value is one of args */
    bool brackets, over;            /* any of args or of the entry; the entry is over, and no value comes */
    bool words;                     /* some value in it is a string */
    struct tl_inner_value {
        uint8_t key, type, at, n;   /* tl_key, tl_value_type, its place in the text */
        uint64_t digits;
    } inner[4];
    size_t ninner;
    uint64_t seen;                  /* as in tl_fields, of these values */
} tl_piece;

/* The layouts of the entries that have been read.  Zero-initialise it, and leave it where it is. */
#define TL_PIECES 256

typedef struct tl_layouts {
    tl_piece root, v[TL_PIECES];
    size_t n;
} tl_layouts;

/* The fast reader: reads an entry that is plain (ASCII, no escapes, no oddities) whole and strictly, from its '{' at
 * p to its '}', wherever that is.  Returns its length; 0: leave the entry to yajl, *f is then undefined.  After the
 * text must stand a byte that is no JSON (a 0, say) and TL_PIECE_MAX more that may be read.  Values point into the
 * text.  The layouts are those of earlier entries, and change nothing but the time.  key_of is asked about unknown
 * keys of args; NULL: such keys are skipped. */
size_t tl_event_read_fast(const char *p, tl_layouts *layouts, tl_hook_key *key_of, tl_fields *f);

/* The reference reader.  Zero-initialise the scratch, tl_yajl_scratch_free ends it. */
typedef struct tl_yajl_scratch {
    char *text;             /* the decoded texts of the entry read last: values point here */
    size_t used, cap;
    tl_hook_key *key_of;    /* set it to read the keys of a hook, too; NULL without one */
} tl_yajl_scratch;

/* False: no JSON object.  *consumed is the number of bytes up to the fault, or of the object.  Values are valid
 * until the next call, and as long as the text is. */
bool tl_event_read_yajl(tl_yajl_scratch *scratch, tl_text text, tl_fields *f, size_t *consumed);

void tl_yajl_scratch_free(tl_yajl_scratch *scratch);

/* Appends the text of a JSON string, escapes resolved; nothing where it is none. */
void tl_yajl_string(tl_text json, tl_bytes *out);

#endif
