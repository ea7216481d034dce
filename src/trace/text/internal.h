/* internal.h - shared by the files of the splitter, and by those of the source. */
#ifndef TLMPI_TRACE_TEXT_INTERNAL_H
#define TLMPI_TRACE_TEXT_INTERNAL_H

#include "tlmpi/trace/text/split.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -------------------------------------------------------------------------------------------------------- the splitter
 *
 * A decision that looks ahead or behind sees a fixed number of bytes (LOOK_AHEAD, LOOK_BEHIND) and waits until they are
 * available: so the items do not depend on how the text is divided into blocks.
 */

enum {
    DOC,     /* the text around the array, while it is JSON */
    LOST,    /* the same after a fault: searching for traceEvents, or for entries */
    GAP,     /* in the array, between two elements */
    ELEMENT, /* a string or an array in place of an entry */
    ENTRY,   /* inside an entry */
    GIVEN,   /* after an entry that has been returned and may still be rejected */
    SEEK /* in the array after something broken: searching for the next place that can only be the start of an entry */
};

/* tl_split.after */
enum { AFTER_NOTHING, AFTER_ENTRY, AFTER_COMMA };

/* Results of a state's step, in addition to tl_split_result. */
enum { STEP_ON = -1, STEP_MORE = -2 };

#define LOOK_AHEAD  ((size_t)256)
#define LOOK_BEHIND ((size_t)256)

static inline bool tl_split_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Whether LOOK_AHEAD bytes from i on are available. */
static inline bool tl_split_sees(const tl_split *s, size_t i)
{
    return s->eof || s->end - i > LOOK_AHEAD;
}

/* Returns the index up to which a decision at i may look. */
static inline size_t tl_split_horizon(const tl_split *s, size_t i)
{
    return s->end - i > LOOK_AHEAD ? i + LOOK_AHEAD : s->end;
}

/* Returns the index of the first byte in [i, to) that is not white space; `to`: none. */
static inline size_t tl_split_skip(const tl_split *s, size_t i, size_t to)
{
    while (i < to && tl_split_is_space(s->buf[i]))
        i++;
    return i;
}

/* Returns the last byte before i that is not white space; 0: there is none near. */
char tl_split_before(const tl_split *s, size_t i);

typedef enum tl_sight { TL_SIGHT_NO, TL_SIGHT_CUT, TL_SIGHT_YES } tl_sight;

/* Keys of an entry; keys of the document that nothing else has.  Ended by NULL. */
extern const char *const tl_entry_keys[];
extern const char *const tl_document_keys[];

/* Whether one of the keys, quoted and followed by ':', comes at i after white space, as far as can be seen before
 * `to`. */
tl_sight tl_split_key_at(const tl_split *s, size_t i, size_t to, const char *const *keys);

/* Whether an entry starts at i, a '{'. */
tl_sight tl_split_entry_at(const tl_split *s, size_t i, size_t to);

/* The states. */
int tl_split_doc(tl_split *s);
int tl_split_lost(tl_split *s);
int tl_split_gap(tl_split *s, tl_split_item *item);
int tl_split_element(tl_split *s, tl_split_item *item);
int tl_split_entry(tl_split *s, tl_split_item *item);
int tl_split_seek(tl_split *s);

/* Sets the grammar of the document to the state after the '[' of the array. */
void tl_split_enter_array(tl_split *s);

/* Ends the array before the key of the document at scan; its bracket is missing. */
void tl_split_end_array(tl_split *s);

/* Completes the state of the document at the end of the text. */
void tl_split_finish(tl_split *s);

/* Returns the item from `at` to `scan`. */
static inline tl_split_item tl_split_found(const tl_split *s, uint64_t fault)
{
    return (tl_split_item){ { s->buf + s->at, s->scan - s->at }, s->base + s->at, fault, s->nentries - 1, false };
}

/* tl_split_give returns the entry from `at` to `scan`; tl_split_leave_entry then continues after it. */
int tl_split_give(tl_split *s, bool probed, tl_split_item *item);
void tl_split_leave_entry(tl_split *s);

/* Goes to state SEEK, from index i on. */
void tl_split_seek_from(tl_split *s, size_t i);

/* Ends the value at `at`, which is invalid from the byte at index `fault`: marks the entries that seem to start inside
 * the value and are open at `fault` as broken, and goes to SEEK.  all: false spares the innermost open entry, which may
 * still be complete.  *holds: whether any entry seems to start inside the value. */
void tl_split_doom(tl_split *s, size_t fault, bool all, bool *holds);

/* Returns the offset of an entry that the invalid byte at index `fault` may begin, or whose first key's quote it
 * follows, from index `from` on; UINT64_MAX: there is none. */
uint64_t tl_split_restart_near(const tl_split *s, size_t fault, size_t from);

/* Whether the entry that starts at index i is known to be broken.  Calls come with ascending i. */
bool tl_split_is_doomed(tl_split *s, size_t i);

/* ------------------------------------------------------------------------ decompression: a file is a chain of parts */

/* The result of a decompression step. */
typedef enum tl_unpacked {
    TL_GOES_ON,   /* needs more input, or more room */
    TL_PART_ENDS, /* the part ends; its checksum, if any, is right */
    TL_BAD_HEADER,
    TL_BAD_DATA,
    TL_BAD_CHECKSUM,
    TL_WIDE_WINDOW /* refers to text further back than is kept */
} tl_unpacked;

/* A compression format. */
typedef struct tl_unpacker {
    const char *word, *part; /* "gzip", "member" */
    size_t nmagic;           /* number of bytes that `begins` needs to recognise a part */
    unsigned char first;     /* the byte that most parts begin with */
    bool (*begins)(const unsigned char *p, size_t n);

    void *(*make)(void);
    void (*begin)(void *state); /* called before each part */

    /* Decompresses n bytes from `in` to `out`, which has room for cap: *used of them, to *made bytes of text.  A fault
     * is returned after all text before it. */
    tl_unpacked (*run)(void *state, const unsigned char *in, size_t n, size_t *used, unsigned char *out, size_t cap,
                       size_t *made);
    void (*end)(void *state); /* NULL is fine */

    /* Returns the length of the text of the part that begins with these n bytes and ends with the 8 of last, modulo
     * 2^32; 0: unknown. */
    uint32_t (*told_bytes)(const unsigned char *p, size_t n, const unsigned char *last);
} tl_unpacker;

extern const tl_unpacker tl_gzip;

/* Keeps up to 128 MiB of text, as the zstd program does, and rejects a frame that needs more.  In a build without
 * libzstd, no file begins with it. */
extern const tl_unpacker tl_zstd;

#endif
