/* pack.h - rows in the layout of the file, and complete chunks of them as HDF5 stores them.
 *
 * Independent of HDF5: every proc packs and compresses its own rows, and proc 0 passes the chunks to the library
 * unchanged (H5Dwrite_chunk).  A packed row holds the cells in order without padding: I32 4, I64 F64 TIME 8, NAME 4,
 * ENUM 1, TEXT its size in bytes, all little-endian.
 */
#ifndef TLMPI_STORE_PACK_H
#define TLMPI_STORE_PACK_H

#include "tlmpi/model/schema.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest number of rows in a chunk of an EVENT table: 4 Ki, about a quarter of a megabyte of intervals.  Larger chunks
 * hardly make a smaller file, while every proc holds one chunk, and the last chunk of every table is written in
 * full. */
#define TL_CHUNK_ROWS    4096u
#define TL_DEFLATE_LEVEL 4 /* as declared by the file's filter; the stream is zlib, made by either library */

/* Returns the size of a packed row, bytes. */
size_t tl_packed_size(const tl_schema *schema);

/* Returns the number of rows in a chunk of this table, a power of two: at most TL_CHUNK_ROWS for an EVENT table, 1024
 * for collectives, and about 128 KiB for others, which have few rows: the last chunk of a table is written in full.  A
 * table of less than one chunk has a chunk of just its rows. */
size_t tl_chunk_rows(const tl_schema *schema);

/* Sets the holes, in order, of the recorded time in which TIME cells are given from now on.  The caller keeps the
 * array. */
void tl_pack_holes(const tl_hole *holes, size_t n);

/* Packs n rows, whose NAME cells are row numbers of /names.  To TIME cells, the length of the holes before them is
 * added, and epoch_ns is subtracted (TL_TIME_UNKNOWN stays). */
void tl_pack(const tl_schema *schema, const void *rows, size_t n, int64_t epoch_ns, void *out);

/* Sets whether equal rows are encoded as equal bytes in every process from now on.  Otherwise encoding takes a third of
 * the time, and about one process in a thousand makes other bytes with the same content. */
void tl_chunk_same_bytes(bool same);

/* Returns the largest size of an encoded chunk of `rows` rows of this table, bytes. */
size_t tl_chunk_bound(const tl_schema *schema, size_t rows);

/* Working memory of the encoder, kept from one chunk to the next.  Zero-initialise; tl_chunk_room_free ends it. */
typedef struct tl_chunk_room {
    unsigned char *bytes;
    size_t cap;
    struct z_stream_s *deflate;
    struct tl_fast_deflate *fast;
} tl_chunk_room;

void tl_chunk_room_free(tl_chunk_room *room);

/* Encodes a chunk of `rows` <= tl_chunk_rows rows into out, which has tl_chunk_bound bytes: shuffled, deflated, with a
 * checksum.  The first n rows are from `packed`, the others are zero bytes.  Returns the size, bytes. */
size_t tl_chunk_encode(const tl_schema *schema, const void *packed, size_t n, size_t rows, void *out,
                       tl_chunk_room *room);

#endif
