/* split_parts.h - what the parts of the splitter share: split_doc.c, split_gap.c, split_entry.c, split_seek.c.
 *
 * A decision that looks ahead or behind sees a fixed number of bytes (LOOK_AHEAD, LOOK_BEHIND) and waits until these
 * bytes are there: so the items do not depend on the blocks that the text comes in.
 */
#ifndef TLMPI_TRACE_TEXT_SPLIT_PARTS_H
#define TLMPI_TRACE_TEXT_SPLIT_PARTS_H

#include "tlmpi/trace/text/split.h"

enum {
    DOC,     /* the text around the array, while it is JSON */
    LOST,    /* the same after a fault: looking for traceEvents, or for entries */
    GAP,     /* in the array, between two elements */
    ELEMENT, /* a string or an array where an entry should be */
    ENTRY,   /* inside an entry */
    GIVEN,   /* after an entry that has been given and may still be rejected */
    SEEK /* in the array after something broken: looking for the next place that can only be the start of an entry */
};

/* tl_split.after */
enum { AFTER_NOTHING, AFTER_ENTRY, AFTER_COMMA };

/* What a state's step comes to, beside a tl_split_result. */
enum { STEP_ON = -1, STEP_MORE = -2 };

#define LOOK_AHEAD  ((size_t)256)
#define LOOK_BEHIND ((size_t)256)

static inline bool tl_split_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Whether all that may be looked at from i on is there. */
static inline bool tl_split_sees(const tl_split *s, size_t i)
{
    return s->eof || s->end - i > LOOK_AHEAD;
}

/* How far one may look from i on. */
static inline size_t tl_split_horizon(const tl_split *s, size_t i)
{
    return s->end - i > LOOK_AHEAD ? i + LOOK_AHEAD : s->end;
}

/* The first byte from i on, below `to`, that is no white space; `to` without one. */
static inline size_t tl_split_skip(const tl_split *s, size_t i, size_t to)
{
    while (i < to && tl_split_is_space(s->buf[i]))
        i++;
    return i;
}

/* The last byte before i that is no white space, 0 when there is none near. */
char tl_split_before(const tl_split *s, size_t i);

typedef enum tl_sight { TL_SIGHT_NO, TL_SIGHT_CUT, TL_SIGHT_YES } tl_sight;

/* Keys of an entry; of the document, which nothing else has.  Ended by NULL. */
extern const char *const tl_entry_keys[];
extern const char *const tl_document_keys[];

/* Whether one of the keys, quoted and followed by ':', stands at i (white space aside), as far as is to be seen below
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

/* The grammar of the document as after the '[' of the array. */
void tl_split_enter_array(tl_split *s);

/* The array ends before the key of the document at scan, its bracket is missing. */
void tl_split_end_array(tl_split *s);

/* The text is over: what that says about the document. */
void tl_split_finish(tl_split *s);

/* The item that reaches from at to scan. */
static inline tl_split_item tl_split_found(const tl_split *s, uint64_t fault)
{
    return (tl_split_item){ { s->buf + s->at, s->scan - s->at }, s->base + s->at, fault, s->nentries - 1, false };
}

/* Gives the entry that reaches from at to scan; later, on to what stands after it. */
int tl_split_give(tl_split *s, bool probed, tl_split_item *item);
void tl_split_leave_entry(tl_split *s);

/* On to SEEK, from index i on. */
void tl_split_seek_from(tl_split *s, size_t i);

/* Ends the value at `at`, which cannot go on at the byte at index `fault`: dooms the entries that seem to start inside
 * the value and are still open at `fault`, and goes on to SEEK.  all: false spares the innermost open entry, which may
 * still be whole.  *holds: whether any entry seems to start inside the value. */
void tl_split_doom(tl_split *s, size_t fault, bool all, bool *holds);

/* The byte at index `fault`, which breaks the text, may itself begin an entry, or follow the quote of its first key:
 * offset of that entry, from index `from` on; UINT64_MAX without one. */
uint64_t tl_split_restart_near(const tl_split *s, size_t fault, size_t from);

/* Whether the entry that starts at index i, no earlier than those asked about before, is known to be broken. */
bool tl_split_is_doomed(tl_split *s, size_t i);

#endif
