/* pack.h - rows as they lie in the file, and whole chunks of them as HDF5 stores them.
 *
 * No HDF5 in here: every proc packs and compresses its own rows, and proc 0 hands the chunks to the library as they are
 * (H5Dwrite_chunk).  A packed row holds the cells in order without padding: I32 4, I64 F64 TIME 8, NAME 4, ENUM 1, TEXT
 * its size in bytes, all little-endian.
 */
#ifndef TLMPI_STORE_PACK_H
#define TLMPI_STORE_PACK_H

#include "tlmpi/model/schema.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most rows in a chunk of an EVENT table: 4 Ki, about a quarter of a megabyte of intervals.  Larger chunks hardly
 * make a smaller file, and every proc has room for one chunk, and every table a last chunk, which is written whole. */
#define TL_CHUNK_ROWS    4096u
#define TL_DEFLATE_LEVEL 4 /* as the file's filter says; the stream is plain zlib whatever made it */

/* Bytes of a packed row. */
size_t tl_packed_size(const tl_schema *schema);

/* Rows of a chunk of this table, a power of two: TL_CHUNK_ROWS at most of an EVENT table, 1024 of collectives, and
 * about 128 KiB of the others, whose rows are few: the last chunk of a table is written whole, however few rows it
 * has.  A table of less than one has a chunk of just its rows. */
size_t tl_chunk_rows(const tl_schema *schema);

/* From now on TIME cells are of recorded time with these holes, in order, which stay the caller's. */
void tl_pack_holes(const tl_hole *holes, size_t n);

/* Packs n rows, whose NAME cells are rows of /names.  TIME cells get the holes before them, and lose epoch_ns
 * (TL_TIME_UNKNOWN stays). */
void tl_pack(const tl_schema *schema, const void *rows, size_t n, int64_t epoch_ns, void *out);

/* Whether equal rows are encoded as equal bytes from now on, in every process.  Without, encoding takes a third of the
 * time, and one process of some thousand makes other bytes, which say the same. */
void tl_chunk_same_bytes(bool same);

/* Largest size in bytes of an encoded chunk of `rows` rows of this table. */
size_t tl_chunk_bound(const tl_schema *schema, size_t rows);

/* What encoding needs, kept from one chunk to the next.  Zero-initialise; tl_chunk_room_free ends it. */
typedef struct tl_chunk_room {
    unsigned char *bytes;
    size_t cap;
    struct z_stream_s *deflate;
    struct tl_fast_deflate *fast;
} tl_chunk_room;

void tl_chunk_room_free(tl_chunk_room *room);

/* Encodes a chunk of `rows` <= tl_chunk_rows rows into out, which has tl_chunk_bound bytes: shuffled, deflated, with
 * a checksum.  The first n rows are from `packed`, the others are zero bytes.  Returns the size. */
size_t tl_chunk_encode(const tl_schema *schema, const void *packed, size_t n, size_t rows, void *out,
                       tl_chunk_room *room);

#endif
