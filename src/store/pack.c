/* pack.c - rows in the layout of the file, and complete chunks of them as HDF5 stores them.
 *
 *   rows in memory   a a a a . . . .  b b b b b b b b  c . . . . . . .    padded for the CPU
 *   packed           a a a a b b b b b b b b c                            cells in order
 *   shuffled         a a a ...  a a a ...  a a a ...                      byte 0 of every row, byte 1 of every row, ...
 *   encoded          one zlib stream of the shuffled chunk, and its Fletcher-32
 *
 * The shuffle is that of HDF5's filter with the packed row as its element, the stream is the input of its deflate
 * filter, and the checksum is that of its third filter, so the chunk is an ordinary one for every reader of the
 * file.
 */
#include "tlmpi/store/pack.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#if TLMPI_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packed cells are little-endian and are copied as they are"
#endif

enum { CHECKSUM_BYTES = 4 };
enum { TILE = 64 }; /* rows that are transposed together: a cache line of each plane */

/* Limits for tables without events: their rows are few, some are wide, and a chunk is held as a whole wherever it is
 * written or read. */
#define COLLECTIVE_CHUNK_ROWS 1024u
#define SMALL_CHUNK_ROWS      1024u
#define EVENT_CHUNK_BYTES     ((size_t)384 << 10)
#define SMALL_CHUNK_BYTES     ((size_t)128 << 10)

size_t tl_packed_size(const tl_schema *schema)
{
    size_t size = 0;
    for (size_t i = 0; i < schema->nfields; i++)
        size += schema->fields[i].size;
    return size;
}

size_t tl_chunk_rows(const tl_schema *schema)
{
    size_t rows = SMALL_CHUNK_ROWS, bytes = SMALL_CHUNK_BYTES, size = tl_packed_size(schema);
    if (schema->scope == TL_SCOPE_EVENT || schema->scope == TL_SCOPE_COLLECTIVE) {
        rows = schema->scope == TL_SCOPE_EVENT ? TL_CHUNK_ROWS : COLLECTIVE_CHUNK_ROWS;
        bytes = EVENT_CHUNK_BYTES;
    }
    while (rows > TILE && rows * size > bytes)
        rows /= 2;
    return rows;
}

/* One column of n rows.  from, to: its first cells; from_row, to_row: distance between rows, bytes. */
typedef struct column {
    const unsigned char *from;
    unsigned char *to;
    size_t from_row, to_row, n;
} column;

/* With a constant size, memcpy becomes one move. */
static inline void pack_bytes(column c, size_t size)
{
    for (size_t i = 0; i < c.n; i++)
        memcpy(c.to + i * c.to_row, c.from + i * c.from_row, size);
}

static const tl_hole *all_holes;
static size_t nall_holes;

void tl_pack_holes(const tl_hole *holes, size_t n)
{
    all_holes = holes;
    nall_holes = n;
}

static int64_t closed_before(int64_t recorded_ns)
{
    size_t low = 0;
    TL_BISECT(low, nall_holes, mid, all_holes[mid].recorded_ns <= recorded_ns);
    return low > 0 ? all_holes[low - 1].closed_ns : 0;
}

static void pack_times(column c, int64_t epoch_ns)
{
    for (size_t i = 0; i < c.n; i++) {
        int64_t t;
        memcpy(&t, c.from + i * c.from_row, sizeof t);
        /* Unsigned, so that arbitrary times of a damaged trace cannot overflow. */
        if (t != TL_TIME_UNKNOWN)
            t = (int64_t)((uint64_t)t + (uint64_t)closed_before(t) - (uint64_t)epoch_ns);
        memcpy(c.to + i * c.to_row, &t, sizeof t);
    }
}

static void pack_column(column c, const tl_field *field, int64_t epoch_ns)
{
    switch (field->type) {
    case TL_TYPE_TIME:
        pack_times(c, epoch_ns);
        break;
    case TL_TYPE_I32:
    case TL_TYPE_NAME:
        pack_bytes(c, 4);
        break;
    case TL_TYPE_I64:
    case TL_TYPE_F64:
        pack_bytes(c, 8);
        break;
    case TL_TYPE_ENUM:
    case TL_TYPE_TEXT:
        pack_bytes(c, field->size);
        break;
    }
}

/* Packs column by column, so that the type is checked once and not for each cell; and in blocks of rows, so that the
 * rows stay in the first-level cache. */
void tl_pack(const tl_schema *schema, const void *rows, size_t n, int64_t epoch_ns, void *out)
{
    enum { BLOCK = 128 };
    size_t packed = tl_packed_size(schema);
    const unsigned char *from = rows;
    unsigned char *to = out;

    for (size_t first = 0; first < n; first += BLOCK) {
        column c = { .from_row = schema->row_size, .to_row = packed, .n = n - first < BLOCK ? n - first : BLOCK };
        size_t at = 0;
        for (size_t f = 0; f < schema->nfields; f++) {
            c.from = from + first * schema->row_size + schema->fields[f].offset;
            c.to = to + first * packed + at;
            pack_column(c, &schema->fields[f], epoch_ns);
            at += schema->fields[f].size;
        }
    }
}

/* Swaps the bits of *a above `shift` under the mask with those of *b: one step of a transposition. */
static inline void swap_parts(uint64_t *a, uint64_t *b, unsigned shift, uint64_t mask)
{
    uint64_t t = ((*a >> shift) ^ *b) & mask;
    *b ^= t;
    *a ^= t << shift;
}

/* w[r] holds eight bytes of row r; afterwards w[b] holds byte b of the eight rows.  A square is transposed by swapping
 * its off-diagonal quarters, then theirs, then theirs. */
static inline void transpose_8x8(uint64_t w[8])
{
    for (int i = 0; i < 4; i++)
        swap_parts(&w[i], &w[i + 4], 32, 0x00000000ffffffffu);
    for (int half = 0; half < 8; half += 4)
        for (int i = half; i < half + 2; i++)
            swap_parts(&w[i], &w[i + 2], 16, 0x0000ffff0000ffffu);
    for (int i = 0; i < 8; i += 2)
        swap_parts(&w[i], &w[i + 1], 8, 0x00ff00ff00ff00ffu);
}

/* Writes bytes [at, at + 8) of TILE rows to eight lines of their planes, which are n bytes apart.  The planes of a
 * chunk are a power of two apart and map to the same cache sets: a whole line is written at once, before another one
 * evicts it. */
static void shuffle_tile(const unsigned char *rows, size_t size, size_t at, unsigned char *plane, size_t n)
{
    uint64_t line[8][TILE / 8];
    for (size_t r = 0; r < TILE; r += 8) {
        uint64_t w[8];
        for (size_t i = 0; i < 8; i++)
            memcpy(&w[i], rows + (r + i) * size + at, 8);
        transpose_8x8(w);
        for (size_t i = 0; i < 8; i++)
            line[i][r / 8] = w[i];
    }
    for (size_t i = 0; i < 8; i++)
        memcpy(plane + (at + i) * n, line[i], TILE);
}

/* planes[b * rows + r] = byte b of row r, 0 from row n on. */
static void shuffle(const unsigned char *packed, size_t n, size_t rows, size_t size, unsigned char *planes)
{
    size_t tiled = size < 8 ? 0 : n / TILE * TILE;

    if (n < rows)
        memset(planes, 0, rows * size);
    /* The last eight bytes of a row may overlap the previous eight: the overlap is written twice, with the same
     * value. */
    for (size_t r = 0; r < tiled; r += TILE)
        for (size_t b = 0; b < size; b += 8)
            shuffle_tile(packed + r * size, size, b + 8 <= size ? b : size - 8, planes + r, rows);
    for (size_t b = 0; b < size; b++)
        for (size_t r = tiled; r < n; r++)
            planes[b * rows + r] = packed[r * size + b];
}

/* Returns two sums of 16-bit words, as in HDF5: the bytes of a word and of the sums are in opposite orders. */
static uint32_t fletcher32(const unsigned char *p, size_t n)
{
    enum { BEFORE_OVERFLOW = 360 };
    uint32_t sum1 = 0, sum2 = 0;
    for (size_t words = n / 2, block; words > 0; words -= block) {
        block = words < BEFORE_OVERFLOW ? words : BEFORE_OVERFLOW;
        for (size_t i = 0; i < block; i++, p += 2) {
            sum1 += (uint32_t)p[0] << 8 | p[1];
            sum2 += sum1;
        }
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    if (n % 2 == 1) {
        sum1 += (uint32_t)*p << 8;
        sum2 += sum1;
        sum1 = (sum1 & 0xffff) + (sum1 >> 16);
        sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    }
    sum1 = (sum1 & 0xffff) + (sum1 >> 16);
    sum2 = (sum2 & 0xffff) + (sum2 >> 16);
    return sum2 << 16 | sum1;
}

size_t tl_chunk_bound(const tl_schema *schema, size_t rows)
{
    return compressBound((uLong)(rows * tl_packed_size(schema))) + CHECKSUM_BYTES;
}

/* --------------------------------------------------------------------------------------------------------- deflate */

static bool same_bytes;

void tl_chunk_same_bytes(bool same)
{
    same_bytes = same;
}

#if TLMPI_HAVE_ISAL
/* Room for the matches of a block, which has its own code.  Blocks of a few thousand matches, several to a chunk, make
 * smaller streams than the default's (0.92 of the size) in 1.4 times the time. */
enum { BLOCK_ROOM = 32 << 10 };

struct tl_fast_deflate {
    struct isal_zstream stream;
    unsigned char level[BLOCK_ROOM];
};

/* Returns the length of the stream in out, which has room for compressBound(n) bytes. */
static size_t deflate_fast(tl_chunk_room *room, size_t n, void *out)
{
    if (room->fast == NULL)
        room->fast = tl_malloc(sizeof *room->fast);
    struct isal_zstream *stream = &room->fast->stream;
    isal_deflate_stateless_init(stream);
    stream->gzip_flag = IGZIP_ZLIB;
    stream->end_of_stream = 1;
    stream->level = 1;
    stream->level_buf = room->fast->level;
    stream->level_buf_size = sizeof room->fast->level;
    stream->next_in = room->bytes;
    stream->avail_in = (uint32_t)n;
    stream->next_out = out;
    stream->avail_out = (uint32_t)compressBound((uLong)n);
    if (isal_deflate_stateless(stream) != COMP_OK)
        tl_fault("a chunk is longer than its bound");
    return stream->total_out;
}
#endif

static size_t deflate_same(tl_chunk_room *room, size_t n, void *out)
{
    /* Most of the cost of a small stream is the initialisation. */
    if (room->deflate == NULL) {
        room->deflate = tl_calloc(1, sizeof *room->deflate);
        if (deflateInit(room->deflate, Z_BEST_SPEED) != Z_OK)
            tl_mem_out(sizeof *room->deflate);
    } else {
        (void)deflateReset(room->deflate);
    }
    z_stream *stream = room->deflate;
    stream->next_in = room->bytes;
    stream->avail_in = (uInt)n;
    stream->next_out = out;
    stream->avail_out = (uInt)compressBound((uLong)n);
    if (deflate(stream, Z_FINISH) != Z_STREAM_END)
        tl_fault("a chunk is longer than its bound");
    return (size_t)stream->total_out;
}

/* zlib takes three times as long as ISA-L.  But the matches of ISA-L depend on memory addresses: about one process in a
 * thousand found other matches in one chunk, each time that it packed the chunk, and none of 3,000 processes with fixed
 * addresses did. */
static size_t deflate_bytes(tl_chunk_room *room, size_t n, void *out)
{
#if TLMPI_HAVE_ISAL
    if (!same_bytes)
        return deflate_fast(room, n, out);
#endif
    return deflate_same(room, n, out);
}

void tl_chunk_room_free(tl_chunk_room *room)
{
    if (room->deflate != NULL)
        deflateEnd(room->deflate);
    free(room->deflate);
    free(room->fast);
    free(room->bytes);
    *room = (tl_chunk_room){ 0 };
}

size_t tl_chunk_encode(const tl_schema *schema, const void *packed, size_t n, size_t rows, void *out,
                       tl_chunk_room *room)
{
    size_t size = tl_packed_size(schema);
    tl_grow((void **)&room->bytes, &room->cap, rows * size, 1);
    shuffle(packed, n, rows, size, room->bytes);
    size_t nbytes = deflate_bytes(room, rows * size, out);
    uint32_t sum = fletcher32(out, nbytes);
    memcpy((unsigned char *)out + nbytes, &sum, CHECKSUM_BYTES);
    return nbytes + CHECKSUM_BYTES;
}
