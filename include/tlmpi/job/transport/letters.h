/* letters.h - the letters that procs write each other while traces are read. */
#ifndef TLMPI_JOB_TRANSPORT_LETTERS_H
#define TLMPI_JOB_TRANSPORT_LETTERS_H

#include "tlmpi/base/mem.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- letters */

/* What passes between a proc and the desk, as bytes. */

enum {
    TL_LETTER_NEXT = 1,
    TL_LETTER_ITEM,
    TL_LETTER_COUNTS,
    TL_LETTER_PLACE,
    TL_LETTER_CHUNK,
    TL_LETTER_ROWS,
    TL_LETTER_READY,            /* member to leader: my piece (int32_t) is read */
    TL_LETTER_GO,               /* leader to member: send it */
    TL_LETTER_PIECE             /* member to leader: about 1 MB of it */
};

/* A letter being written or read. */
typedef struct tl_letter {
    char *v;
    size_t n, cap;
    size_t at;                  /* how far it has been read */
} tl_letter;

static inline bool tl_letter_put(tl_letter *l, const void *bytes, size_t n)
{
    if (!tl_grow((void **)&l->v, &l->cap, l->n + n, 1))
        return false;
    if (n > 0)
        memcpy(l->v + l->n, bytes, n);
    l->n += n;
    return true;
}

static inline bool tl_letter_get(tl_letter *l, void *bytes, size_t n)
{
    if (n > l->n - l->at)
        return false;
    memcpy(bytes, l->v + l->at, n);
    l->at += n;
    return true;
}

/* ITEM: this. */
typedef struct tl_task {
    int64_t item;               /* number of the trace in the plan; -1: there is no more */
    int32_t piece;              /* of the item's npieces; who has piece 0 leads the team */
    int32_t leader;             /* proc that has piece 0 */
} tl_task;

/* COUNTS: this, rows of each event table (uint64_t each), then each name: its length (uint32_t) and bytes. */
typedef struct tl_counts_head {
    int64_t item, first_ns;
    int32_t rank;
    uint32_t ntables, nnames, padding;
} tl_counts_head;

/* PLACE: this, first row in each event table (uint64_t each), then the row of each name (uint32_t each). */
typedef struct tl_place_head {
    int64_t epoch_ns;
    int32_t wanted;             /* 0: the rows are not wanted, something has failed */
    int32_t padding;
} tl_place_head;

/* CHUNK and ROWS: this, then the bytes.  first: number of the chunk, or of the first row. */
typedef struct tl_rows_head {
    uint64_t first, n;
    uint32_t table;             /* index among the event tables */
    uint32_t padding;
} tl_rows_head;

/* ------------------------------------------------------------------------------------------------------------- mail */

/* Letters that have come and have not yet been asked for. */

typedef struct tl_mail_letter {
    int from, tag;
    tl_letter letter;
} tl_mail_letter;

/* In order of arrival.  Zero-initialise; tl_mail_free ends it. */
typedef struct tl_mail {
    TL_VEC(tl_mail_letter) letters;
} tl_mail;

/* Keeps a copy of the bytes.  False: memory is out. */
bool tl_mail_put(tl_mail *mail, int from, int tag, const void *bytes, size_t n);

/* Takes out the first letter with that tag, from that proc (-1: from any).  The caller frees out->letter.v. */
bool tl_mail_take(tl_mail *mail, int from, int tag, tl_mail_letter *out);

void tl_mail_free(tl_mail *mail);

#endif
