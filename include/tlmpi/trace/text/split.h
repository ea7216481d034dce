/* split.h - finds the entries of traceEvents in a stream of bytes, by strings and brackets, without their values.
 *
 *     document   { "schemaVersion": 1, "traceEvents": [ {...}, {...}, ... ], "distributedInfo": {...} }
 *                  ^------ doc ------^                  ^entry ^entry        ^-------- doc --------^
 *
 * The text around the array is collected in `doc`, with an empty array: a small document of its own.  A bare array of
 * entries has no doc.  traceEvents counts only as a key of the outermost object.
 *
 *     tl_split s;
 *     tl_split_init(&s);
 *     for (;;) {
 *         switch (tl_split_next(&s, &item)) {
 *         case TL_SPLIT_MORE:  tl_split_read(&s, source, SIZE_MAX, &err);  break;
 *         case TL_SPLIT_ENTRY: item.text is one entry, from its '{' to its '}';  break;
 *         ...
 *
 * Damaged text is read as far as its meaning is certain.  The items depend on the text alone, not on its division into
 * blocks; the time depends on the length alone: each part of the text is looked at a small number of times.
 *
 *   An invalid entry is dropped alone: reading continues at the next place that can only be the start of an entry.  An
 *   entry that is valid JSON but is followed by other text is torn (TORN): its last value, or all after a missing
 *   bracket, may be wrong.
 *
 *   In a document that is not JSON, traceEvents is found by its name, and entries after the end of the array by their
 *   form; `fault_at` is where the document stops being JSON.  A nested traceEvents is returned as well, since it may be
 *   nested only for lack of a closing bracket: if the document turns out to be valid, `found` is false again at the
 *   END, or a RESTART comes before the true array.
 */
#ifndef TLMPI_TRACE_TEXT_SPLIT_H
#define TLMPI_TRACE_TEXT_SPLIT_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"
#include "tlmpi/trace/text/grammar.h"
#include "tlmpi/trace/text/source.h"
#include <stdbool.h>
#include <stdint.h>

/* Largest length of an entry: no trace may exhaust memory. */
#define TL_ENTRY_MAX ((size_t)16 << 20)
/* Largest size of the text around the array that is kept, bytes; the rest is skipped. */
#define TL_DOC_MAX ((size_t)64 << 20)

typedef enum tl_split_result {
    TL_SPLIT_MORE,    /* the buffer is used up: fill it, or call tl_split_eof */
    TL_SPLIT_ENTRY,   /* one entry, with strings and brackets valid as far as its end shows */
    TL_SPLIT_BAD,     /* text in the array that is not an entry; skipped */
    TL_SPLIT_BROKEN,  /* the beginning of an entry that is not JSON, or too long; skipped */
    TL_SPLIT_TORN,    /* the last ENTRY may be wrong: text that cannot follow an entry comes after it */
    TL_SPLIT_LOOSE,   /* the last ENTRY is complete, but the comma after it is missing, or there is an extra brace */
    TL_SPLIT_CUT,     /* the text ends inside this entry */
    TL_SPLIT_RESTART, /* drop all entries so far: another array is the true one */
    TL_SPLIT_END      /* the end of the text, after tl_split_eof */
} tl_split_result;

typedef struct tl_split_item {
    tl_text text;    /* ENTRY: complete; else the part that exists.  Valid until the next call */
    uint64_t offset; /* in the text, of text.p[0] */
    uint64_t fault;  /* offset in the text of the invalid byte (BAD, BROKEN, TORN, LOOSE), or of the end (CUT) */
    uint32_t uid;    /* position in the array, from 0 */
    bool probed;     /* ENTRY: recognised by the probe */
} tl_split_item;

typedef struct tl_split {
    /* Optional, set after tl_split_init: returns the length of a complete entry that starts at p, or 0 to leave it to
     * the splitter.  The length must be right: the splitter does not search for the end of such an entry.  A 0 and 95
     * more readable bytes follow the text. */
    size_t (*probe)(void *arg, const char *p);
    void *probe_arg;

    char *buf; /* [at, end) is not used yet */
    size_t cap, at, end;
    size_t scan;   /* number of bytes of buf that were looked at */
    uint64_t base; /* offset in the text of buf[0] */
    char *doc;     /* text around the array */
    size_t ndoc, doc_cap;
    uint64_t full_at;      /* offset of the first byte that doc had no room for; UINT64_MAX: none */
    uint64_t base_at;      /* offset of the value of the document's last baseTimeNanoseconds; UINT64_MAX: none */
    bool found;            /* the array has begun */
    bool closed;           /* the array has ended */
    bool complete;         /* the document has ended, too */
    bool bare;             /* the document is a bare array */
    bool nested;           /* the last array found belongs to a nested value */
    uint64_t fault_at;     /* offset of the first invalid byte of the document; UINT64_MAX: none */
    char fault[96];        /* what was expected there, and found */
    uint64_t misplaced_at; /* offset of the first key of the document in a nested object; UINT64_MAX: none */
    bool eof;
    uint64_t stop_at; /* an entry that starts here or later is not begun: END is returned, and `stopped` set */
    bool stopped;
    uint64_t first_entry; /* offset of the first entry; UINT64_MAX: none */
    uint64_t last_start;  /* offset of the entry at which the splitter stopped; UINT64_MAX: it did not stop */
    uint64_t array_begin; /* offset after the array's '['; of the last array if there are several */
    uint64_t array_end;   /* offset of the array's ']'; UINT64_MAX: not found */
    uint64_t whole_to;    /* the document after the array is valid up to this offset, except for open brackets */
    uint64_t whole_depth; /* number of these open brackets */
    uint32_t nentries;    /* number of entries of the array so far */

    /* Private. */
    int state;
    tl_grammar outer; /* of the document */
    char key[24];     /* the last key of the document, truncated */
    size_t nkey;
    uint64_t key_at;
    char solid;             /* last byte of the document that is not white space */
    tl_grammar inner;       /* of the current entry or element */
    bool checking;          /* inner checks the entry as well */
    unsigned broken_lately; /* number of entries that `inner` still checks from their beginning */
    uint64_t entry_depth;
    bool in_string, escaped;
    uint64_t ph_free_to;     /* no key "ph" occurs before this offset */
    int after;               /* what comes before in the array: an entry, and possibly its comma */
    bool bare_end;           /* the last value of that entry is a number or word */
    bool args_end;           /* the last value of that entry is an object */
    uint64_t restart_at;     /* after a fault: an entry may start at this offset */
    TL_VEC(uint64_t) doomed; /* offsets of the starts of entries that are known to be broken, descending */
    uint64_t doomed_by;      /* offset of the byte that breaks the entries in `doomed` */
} tl_split;

void tl_split_init(tl_split *split);
void tl_split_free(tl_split *split);

/* Right after tl_split_init: the following text starts inside the array of a document, `base` bytes into the text; the
 * first `after` of them are only looked back at.  The first entry is the first place that can only be the start of
 * one. */
void tl_split_begin_inside(tl_split *split, uint64_t base, size_t after);

/* Returns the next item. */
tl_split_result tl_split_next(tl_split *split, tl_split_item *item);

/* After TL_SPLIT_MORE: tl_split_space returns room for at least one byte, *cap of them; tl_split_fill takes the number
 * of bytes read; tl_split_eof: there are no more. */
char *tl_split_space(tl_split *split, size_t *cap);
void tl_split_fill(tl_split *split, size_t n);
void tl_split_eof(tl_split *split);

/* Reads the next block of a file's text, at most `most` bytes; returns their number.  A fault ends the text; *err
 * describes it; err may be NULL. */
size_t tl_split_read(tl_split *split, tl_source *source, size_t most, tl_error *err);

/* Rejects the last ENTRY, which is not valid JSON.  Returns true if it cannot be repaired: *fault is the offset in the
 * text of the invalid byte, and the search for the next item begins after the entry's first byte.  Returns false if
 * tl_repair_json can repair it. */
bool tl_split_reject(tl_split *split, const tl_split_item *item, uint64_t *fault);

/* Rejects the last ENTRY as not an entry: ignores its end, and continues at the next start of an entry after its first
 * byte. */
void tl_split_resync(tl_split *split);

/* Writes the brackets that would close the text: after the last entry if the array is open, else at whole_to.  At most
 * `cap` of them, and a 0: out has room for cap + 1 bytes. */
void tl_split_closing(const tl_split *split, char *out, size_t cap);

/* Whether the last ENTRY begins like a document. */
bool tl_split_is_document(const tl_split *split, const tl_split_item *item);

#endif
