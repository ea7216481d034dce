/* h5_format.h - the structures of an HDF5 file, as bytes: how a result is written.
 *
 *     tl_bytes object = { 0 };
 *     tl_h5_compact_begin(&object, &type, nrows, rows, nbytes);       an object: first what it is,
 *     tl_h5_attr_text(&object, "TITLE", "gaps");                      then its attributes
 *     tl_h5_link(&group, "gap", tl_h5_object_end(out, &object));      and its name in a group, an object as well
 *
 * The HDF5 library could do it: an empty table and its attributes would take 600,000 instructions, not 60,000,
 * and a third more bytes; and a write that fails is told there by a later call than the one that wrote, or by none.  So
 * results are written here, and read by the library.
 */
#ifndef TLMPI_STORE_H5_FORMAT_H
#define TLMPI_STORE_H5_FORMAT_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/schema.h"
#include "tlmpi/store/pack.h"
#include <stdint.h>

/* The longest text of an attribute, which shares the 64 KiB of a message with its name and type. */
#define TL_H5_ATTR_TEXT_MAX ((size_t)60000)

/* Appends a number of `size` bytes, little-endian. */
void tl_h5_number(tl_bytes *to, uint64_t value, size_t size);

/* Appends the n bytes of text and a 0 to *out.  Each byte that is not part of valid UTF-8, and each 0, becomes U+FFFD,
 * the sign for what cannot be shown: strings of the file end at a 0, and h5py refuses a text that is not UTF-8. */
void tl_clean_append(tl_bytes *out, const char *text, size_t n);

/* --------------------------------------------------------------------------------------------------------- the file */

/* A file that is written from its first byte to its last.  An address is a distance in bytes from `base`. */
typedef struct tl_h5_out {
    int fd;             /* borrowed */
    const char *path;   /* borrowed, for messages */
    uint64_t base;      /* bytes of the file before the superblock */
    uint64_t end;       /* address of what is appended next */
    tl_bytes block;     /* what waits to be written */
    unsigned half_node; /* children that a node of an index has room for, halved */
    tl_error broken;    /* the first failure, after which nothing is written; status TL_OK: none */
} tl_h5_out;

void tl_h5_out_begin(tl_h5_out *out, int fd, const char *path, uint64_t base);

/* Before the first index: no dataset has more than `most` chunks, so that small files have small indexes. */
void tl_h5_expect_chunks(tl_h5_out *out, size_t most);

/* Returns the address of the n bytes. */
uint64_t tl_h5_append(tl_h5_out *out, const void *bytes, size_t n);

/* Writes what waits, and the superblock; root: address of the root group. */
void tl_h5_out_end(tl_h5_out *out, uint64_t root);
void tl_h5_out_free(tl_h5_out *out);

/* -------------------------------------------------------------------------------------------------- groups, attributes
 *
 * An object is made in a tl_bytes, whose room may be used again for the next; tl_h5_object_end returns its address. */

void tl_h5_object_begin(tl_bytes *object);
uint64_t tl_h5_object_end(tl_h5_out *out, tl_bytes *object);

void tl_h5_group_begin(tl_bytes *group);
void tl_h5_link(tl_bytes *group, const char *name, uint64_t address);

/* A text longer than an attribute may be is cut and ends in "..."; what is no UTF-8 in it is replaced. */
void tl_h5_attr_text(tl_bytes *object, const char *name, const char *text);
void tl_h5_attr_int(tl_bytes *object, const char *name, int64_t value);

/* n > 0 texts as one attribute of texts of equal length, padded with 0. */
void tl_h5_attr_texts(tl_bytes *object, const char *name, const char *const *texts, size_t n);

/* ------------------------------------------------------------------------------------------------------------ types */

    /* Class and version of a type, its three bytes of bits, and its size. */
    void
    tl_h5_put_type_head(tl_bytes *to, unsigned kind, unsigned bits, size_t size);
void tl_h5_put_double_type(tl_bytes *to);
void tl_h5_put_int_type(tl_bytes *to, size_t size, bool with_sign);
void tl_h5_put_text_type(tl_bytes *to, size_t size);

/* A text of any length: its length (4 bytes), the address of a heap (8) and an index in that heap (4). */
void tl_h5_put_any_text_type(tl_bytes *to);
enum { TL_H5_REFERENCE_BYTES = 16 };

/* A type for nusers datasets, which has no name in the file. */
uint64_t tl_h5_share_type(tl_h5_out *out, const tl_bytes *type, size_t nusers);

/* --------------------------------------------------------------------------------------------------------- datasets */

/* Rows in the object itself, less than 64 KiB. */
void tl_h5_compact_begin(tl_bytes *object, const tl_bytes *type, uint64_t nrows, const void *rows, size_t nbytes);

/* Rows elsewhere in the file, in one piece. */
void tl_h5_contiguous_begin(tl_bytes *object, const tl_bytes *type, uint64_t nrows, uint64_t at, uint64_t nbytes);

/* A chunk of rows, as tl_chunk_encode makes it. */
typedef struct tl_h5_chunk {
    uint64_t chunk;   /* its number: rows [chunk * chunk_rows, ...) */
    uint64_t last;    /* the same number; of a node of the index, the number of the last chunk below it */
    uint64_t address; /* where it is */
    uint32_t nbytes;
} tl_h5_chunk;

/* Rows in chunks, which are sorted by number; writes their index, and uses the list for it. */
void tl_h5_chunked_begin(tl_h5_out *out, tl_bytes *object, const tl_bytes *type, uint64_t nrows, tl_h5_chunk *chunks,
                         size_t nchunks, size_t chunk_rows, size_t row_size);

/* No rows; type: address of a shared type. */
void tl_h5_empty_begin(tl_bytes *object, uint64_t type);

/* Rows of another dataset, as entry `index` of the heap says; type: address of a shared type. */
void tl_h5_view_begin(tl_bytes *object, uint64_t type, uint64_t nrows, uint64_t heap, uint32_t index);

/* ------------------------------------------------------------------------------------------------------------- heap */

/* Entries of any length, up to 65,535, which are written together.  Zero-initialise; tl_bytes_free of its bytes ends
 * it. */
typedef struct tl_h5_heap {
    tl_bytes bytes;
    uint32_t n;
} tl_h5_heap;

/* The index of the new entry. */
uint32_t tl_h5_heap_add(tl_h5_heap *heap, const void *bytes, size_t n);

/* An entry that says: rows [first, first + n), n > 0, of the dataset at `path` in this file. */
uint32_t tl_h5_heap_add_view(tl_h5_heap *heap, const char *path, uint64_t first, uint64_t n);

/* Writes the entries, and returns the address that they share; the heap is empty afterwards. */
uint64_t tl_h5_heap_put(tl_h5_out *out, tl_h5_heap *heap);

#endif
