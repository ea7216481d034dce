/* split.h - finds the entries of traceEvents in a stream of bytes; knows strings and braces, no values.
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
 *         switch (tl_split_next(&s, &piece)) {
 *         case TL_PIECE_MORE:  p = tl_split_space(&s, &cap);  read up to cap bytes to p;  tl_split_fill(&s, n);  break;
 *         case TL_PIECE_ENTRY: piece.text is one entry, from its '{' to its '}';  break;
 *         ...
 *
 * Where a broken string misleads it, the caller finds that an entry is no JSON and calls tl_split_resync, which looks for
 * the next place that can only be the start of an entry.
 */
#ifndef TLMPI_TRACE_SPLIT_H
#define TLMPI_TRACE_SPLIT_H

#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stdint.h>

/* An entry longer than this is given up: nothing in a trace may exhaust memory. */
#define TL_ENTRY_MAX ((size_t)16 << 20)
/* So much of the text around the array is kept; what is beyond is passed over. */
#define TL_DOC_MAX ((size_t)64 << 20)

/* Brackets of the document that are noted while they are open. */
#define TL_OPEN_MAX 64

typedef enum tl_piece_kind {
    TL_PIECE_MORE,      /* the buffer is used up: fill it, or call tl_split_eof */
    TL_PIECE_ENTRY,     /* one entry */
    TL_PIECE_BAD,       /* something in the array that is no entry; passed over */
    TL_PIECE_LONG,      /* the entry is not over after piece.text.n bytes (64 Ki, 1 Mi, TL_ENTRY_MAX: asked at each): call
                         * tl_split_resync to give it up, or go on; at TL_ENTRY_MAX it is given up */
    TL_PIECE_CUT,       /* the text ends inside this entry, as far as it is understood: call tl_split_resync to look for
                         * entries in it, or go on to the end */
    TL_PIECE_END,       /* the text is over, after tl_split_eof */
    TL_PIECE_NO_MEMORY
} tl_piece_kind;

typedef struct tl_piece {
    tl_text text;       /* ENTRY: whole; BAD, LONG: what there is of it.  Valid until the next call */
    uint64_t offset;    /* in the text, of text.p[0] */
    uint32_t uid;       /* position in the array, from 0 */
    bool probed;        /* ENTRY: the probe has recognised it */
} tl_piece;

typedef struct tl_split {
    /* May be set after tl_split_init: whether a whole entry that needs no splitter starts at p, and its length, else 0.  It
     * must be right: an entry is then not looked at for its end.  Behind the text so far stand a 0 and 63 bytes that may be
     * read. */
    size_t (*probe)(void *arg, const char *p);
    void *probe_arg;

    char *buf;                      /* [at, end) is not yet used */
    size_t cap, at, end;
    size_t scan;                    /* bytes of buf looked at */
    uint64_t base;                  /* offset in the text of buf[0] */
    char *doc;                      /* text around the array */
    size_t ndoc, doc_cap;
    bool doc_full;                  /* doc has reached TL_DOC_MAX */
    bool found;                     /* the array has begun */
    bool closed;                    /* the array has ended */
    bool complete;                  /* the document has ended, too */
    bool bare;                      /* it is a bare array */
    uint64_t trailing_at;           /* offset of the first text behind the document; UINT64_MAX for none */
    bool eof;
    uint64_t stop_at;               /* an entry that starts here or later is not begun: that is the END, then `stopped` */
    bool stopped;
    uint64_t first_entry;           /* offset of the first entry begun; UINT64_MAX for none */
    uint64_t last_start;            /* offset of the entry at which it stopped; UINT64_MAX otherwise */
    uint64_t array_begin;           /* offset behind the array's '['; of the last array, where there are several */
    uint64_t array_end;             /* offset of its ']'; UINT64_MAX until that has been found */
    uint64_t whole_to;              /* the document up to here wants but the closing brackets of what was open there: it ends
                                     * behind a whole value, or the opening bracket of one */
    size_t whole_depth;             /* how many that are: of open[0 .. whole_depth), the last first */
    char open[TL_OPEN_MAX];         /* the brackets that are open in the document; what lies deeper is not noted */
    uint32_t nentries;              /* entries of the array begun so far */
    int state;                      /* private */
    uint64_t depth, entry_depth;    /* private */
    bool in_string, escaped, value; /* private */
    size_t long_at;                 /* private */
    char key[16];                   /* private: the last string at depth 1, as far as it fits */
    size_t nkey;
} tl_split;

void tl_split_init(tl_split *split);
void tl_split_free(tl_split *split);

/* Right after tl_split_init: the text to come starts somewhere in the array of a document, `base` bytes into the text; the first
 * `behind` of them are only looked back at.  The first entry is the first place that can only be the start of one. */
void tl_split_begin_inside(tl_split *split, uint64_t base, size_t behind);

/* The next piece. */
tl_piece_kind tl_split_next(tl_split *split, tl_piece *piece);

/* After TL_PIECE_MORE: a place for at least one byte, *cap of them; then the number that was read.  NULL: memory is out. */
char *tl_split_space(tl_split *split, size_t *cap);
void tl_split_fill(tl_split *split, size_t n);
void tl_split_eof(tl_split *split);

/* The piece last given (ENTRY, LONG, CUT) is broken: forget where it seemed to end and go on at the next start of an entry after
 * its first byte. */
void tl_split_resync(tl_split *split);

/* Whether the piece last given seems to hold the start of another entry behind its first byte: a bracket that is missing makes
 * what follows look like parts of it. */
bool tl_split_holds_start(const tl_split *split, const tl_piece *piece);

#endif
