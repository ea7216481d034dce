/* h5_rows.h - one table on its way into the file: rows in, chunks out.
 *
 *     rows of the table    |--------- chunk 0 ---------|--------- chunk 1 ---------|--- 2
 *     from sender A        aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
 *     from sender B                                             bbbbbbbbbbbbbbbbbbbbbbbbb
 *
 * A chunk is written once, whole.  A sender's rows that fill one are written at once, without a copy; chunk 1 waits in
 * memory until both have sent their part of it, and what never gets full (chunk 2) is the table's last.
 *
 * The dataset is made with its first chunk.  Most tables of a small trace never fill one: they come to the file when
 * all their rows are there, as a chunk of just these; and a short one as no chunk at all, in the header of its dataset.
 */
#ifndef TLMPI_STORE_H5_ROWS_H
#define TLMPI_STORE_H5_ROWS_H

#include "h5.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/schema.h"
#include "tlmpi/store/pack.h"

/* A chunk that waits for the rest of its rows. */
typedef struct tl_h5_partial {
    uint64_t chunk;
    size_t filled;       /* rows that have come */
    unsigned char *rows; /* zeros where none has come yet */
    size_t room;         /* rows that fit in `rows` */
} tl_h5_partial;

/* Room for a chunk on its way, for all tables of a file.  Zero-initialise; tl_h5_room_free ends it. */
typedef struct tl_h5_room {
    unsigned char *encoded;
    size_t cap;
    tl_chunk_room work;
} tl_h5_room;

void tl_h5_room_free(tl_h5_room *room);

/* Start from TL_H5_ROWS_INIT; tl_h5_rows_free ends it. */
typedef struct tl_h5_rows {
    const tl_schema *schema; /* borrowed */
    hid_t group;             /* /tables, borrowed */
    hid_t dataset, row_type; /* once it is made */
    size_t row_size, chunk_rows;
    uint64_t extent;  /* rows of the dataset: up to the end of the last chunk written */
    uint64_t given;   /* rows that have come */
    uint64_t end;     /* one past the last of them; the same number once none is missing */
    tl_h5_room *room; /* borrowed */
    TL_VEC(tl_h5_partial) partials;
} tl_h5_rows;

#define TL_H5_ROWS_INIT                                                                                                \
    {                                                                                                                  \
        .group = -1, .dataset = -1, .row_type = -1                                                                     \
    }

/* A table without rows, which will be <name> in the group. */
void tl_h5_rows_begin(tl_h5_rows *table, hid_t group, const tl_schema *schema, tl_h5_room *room);

/* As tl_store_rows and tl_store_chunk. */
tl_status tl_h5_rows_add(tl_h5_rows *table, uint64_t first, const void *packed, size_t n, tl_error *err);
tl_status tl_h5_rows_add_chunk(tl_h5_rows *table, uint64_t chunk, const void *encoded, size_t nbytes, tl_error *err);

/* Writes the last chunk; no more rows come.  TL_EINTERNAL: rows before it never came. */
tl_status tl_h5_rows_flush(tl_h5_rows *table, tl_error *err);

/* Closes the dataset and frees everything.  Negative when the closing failed. */
herr_t tl_h5_rows_free(tl_h5_rows *table);

#endif
