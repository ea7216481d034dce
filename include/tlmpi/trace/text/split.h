/* split.h - finds the entries of traceEvents in a stream of bytes; knows strings and brackets, no values.
 *
 *     document   { "schemaVersion": 1, "traceEvents": [ {...}, {...}, ... ], "distributedInfo": {...} }
 *                  ^------ doc ------^                  ^entry ^entry        ^-------- doc --------^
 *
 * The text around the array is collected in `doc`, where the array is left empty: a small document of its own.  A bare
 * array of entries has no doc.  traceEvents counts only as a key of the outermost object.
 *
 *     tl_split s;
 *     tl_split_init(&s);
 *     for (;;) {
 *         switch (tl_split_next(&s, &item)) {
 *         case TL_SPLIT_MORE:  tl_split_read(&s, source, SIZE_MAX, &err);  break;
 *         case TL_SPLIT_ENTRY: item.text is one entry, from its '{' to its '}';  break;
 *         ...
 *
 * Damaged text is read as far as its meaning is certain.  The items depend on the text alone, not on the blocks it
 * comes in; the time depends on the length alone: each stretch of text is looked at a few times at most.
 *
 *   An entry that cannot be JSON costs itself: the next place that can only be the start of an entry goes on.  One that may
 *   be JSON but goes on after its end has been torn: what its last value is, a number cut short may hide (TORN).
 *
 *   In a document that is no JSON, traceEvents is looked for by its name, entries after the end of the array by their own
 *   looks; `fault_at` says where it stops being JSON.  A nested traceEvents is given, too, for want of a closing bracket may
 *   have made it one: when the document turns out to be whole, `found` is false again at the END, or a RESTART comes before
 *   the true one.
 */
#ifndef TLMPI_TRACE_TEXT_SPLIT_H
#define TLMPI_TRACE_TEXT_SPLIT_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"
#include "tlmpi/trace/text/grammar.h"
#include "tlmpi/trace/text/source.h"
#include <stdbool.h>
#include <stdint.h>

/* An entry longer than this is given up: nothing in a trace may exhaust memory. */
#define TL_ENTRY_MAX ((size_t)16 << 20)
/* Largest size of the text around the array that is kept, in bytes; the rest is passed over. */
#define TL_DOC_MAX ((size_t)64 << 20)

typedef enum tl_split_result {
    TL_SPLIT_MORE,    /* the buffer is used up: fill it, or call tl_split_eof */
    TL_SPLIT_ENTRY,   /* one entry, brackets and strings in order as far as its end shows */
    TL_SPLIT_BAD,     /* text in the array that is no entry; passed over */
    TL_SPLIT_BROKEN,  /* the beginning of an entry that is no JSON, or too long; passed over */
    TL_SPLIT_TORN,    /* the entry given last may be wrong: text that cannot follow an entry stands after it */
    TL_SPLIT_LOOSE,   /* the entry given last is whole, but the comma after it is missing, or there is a brace too many
                       */
    TL_SPLIT_CUT,     /* the text ends inside this entry */
    TL_SPLIT_RESTART, /* forget the entries given until now: another array is the true one */
    TL_SPLIT_END      /* the text is over, after tl_split_eof */
} tl_split_result;

typedef struct tl_split_item {
    tl_text text;    /* ENTRY: whole; else what there is of it.  Valid until the next call */
    uint64_t offset; /* in the text, of text.p[0] */
    uint64_t fault;  /* in the text, of the byte that is wrong (BAD, BROKEN, TORN, LOOSE); where it ends (CUT) */
    uint32_t uid;    /* position in the array, from 0 */
    bool probed;     /* ENTRY: the probe has recognised it */
} tl_split_item;

typedef struct tl_split {
    /* May be set after tl_split_init: returns the length of a whole entry that starts at p and needs no splitter,
     * else 0.  The length must be right: the splitter does not look for the end of such an entry.  After the text
     * stand a 0 and 95 bytes that may be read. */
    size_t (*probe)(void *arg, const char *p);
    void *probe_arg;

    char *buf; /* [at, end) is not yet used */
    size_t cap, at, end;
    size_t scan;   /* bytes of buf looked at */
    uint64_t base; /* offset in the text of buf[0] */
    char *doc;     /* text around the array */
    size_t ndoc, doc_cap;
    uint64_t full_at;      /* offset of the first byte for which doc had no room; UINT64_MAX for none */
    uint64_t base_at;      /* offset of the value of the document's last baseTimeNanoseconds; UINT64_MAX for none */
    bool found;            /* the array has begun */
    bool closed;           /* the array has ended */
    bool complete;         /* the document has ended, too */
    bool bare;             /* the document is a bare array */
    bool nested;           /* the array found last belongs to a nested value */
    uint64_t fault_at;     /* offset of the first byte of the document that cannot be there; UINT64_MAX for none */
    char fault[96];        /* what was expected there, and found */
    uint64_t misplaced_at; /* offset of the first key of the document in a nested object; UINT64_MAX for none */
    bool eof;
    uint64_t stop_at; /* an entry that starts here or later is not begun: that is the END, then `stopped` */
    bool stopped;
    uint64_t first_entry; /* offset of the first entry begun; UINT64_MAX for none */
    uint64_t last_start;  /* offset of the entry at which the splitter stopped; UINT64_MAX: it did not stop */
    uint64_t array_begin; /* offset after the array's '['; of the last array, where there are several */
    uint64_t array_end;   /* offset of the array's ']'; UINT64_MAX where it has not been found */
    uint64_t whole_to;    /* the document after the array is whole up to this offset, but for the brackets that are
                           * open */
    uint64_t whole_depth; /* number of these open brackets */
    uint32_t nentries;    /* entries of the array begun up to now */

    /* Private. */
    int state;
    tl_grammar outer; /* of the document */
    char key[24];     /* of the document: the last one, as far as it fits */
    size_t nkey;
    uint64_t key_at;
    char solid;             /* the last byte of the document that is no white space */
    tl_grammar inner;       /* of the entry or element at hand */
    bool checking;          /* inner looks at the entry, too */
    unsigned broken_lately; /* `inner` then looks at entries from their beginning */
    uint64_t entry_depth;
    bool in_string, escaped;
    uint64_t ph_free_to;     /* up to this offset nothing is called "ph" */
    int after;               /* what the array holds just before: an entry, perhaps with its comma */
    bool bare_end;           /* the last value of that entry is a number or word */
    bool args_end;           /* the last value of that entry is an object */
    uint64_t restart_at;     /* after a fault: an entry may start just here */
    TL_VEC(uint64_t) doomed; /* offsets of starts of entries that are known to be broken, the next one last */
    uint64_t doomed_by;      /* offset of the byte that breaks the entries in `doomed` */
} tl_split;

void tl_split_init(tl_split *split);
void tl_split_free(tl_split *split);

/* Right after tl_split_init: the text to come starts somewhere in the array of a document, `base` bytes into the text;
 * the first `after` of them are only looked back at.  The first entry is the first place that can only be the start of
 * one. */
void tl_split_begin_inside(tl_split *split, uint64_t base, size_t after);

/* The next item. */
tl_split_result tl_split_next(tl_split *split, tl_split_item *item);

/* After TL_SPLIT_MORE: a place for at least one byte, *cap of them; then the number that was read. */
char *tl_split_space(tl_split *split, size_t *cap);
void tl_split_fill(tl_split *split, size_t n);
void tl_split_eof(tl_split *split);

/* The three at once: the next block of a file's text, at most `most` bytes of it; returns how many.  A fault ends the text,
 * *err says which; err may be NULL. */
size_t tl_split_read(tl_split *split, tl_source *source, size_t most, tl_error *err);

/* Says that a reader of JSON does not take the ENTRY given last.  True: the entry cannot be mended, *fault is the
 * offset in the text of the byte that cannot be there, and the next item is looked for after the entry's beginning.
 * False: tl_repair_json can mend the entry. */
bool tl_split_reject(tl_split *split, const tl_split_item *item, uint64_t *fault);

/* The ENTRY given last is no entry: forgets where it seemed to end, and goes on at the next start of an entry after
 * its first byte. */
void tl_split_resync(tl_split *split);

/* Writes the brackets that would close the text: after the last entry where the array is open, else at whole_to.  At
 * most `cap` of them, and a 0: out has room for cap + 1 bytes. */
void tl_split_closing(const tl_split *split, char *out, size_t cap);

/* Whether the ENTRY given last begins as a document does. */
bool tl_split_is_document(const tl_split *split, const tl_split_item *item);

#endif
