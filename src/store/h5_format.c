/* h5_format.c - the structures of an HDF5 file, as bytes: those of the format (version 3.0 of its specification) that a
 * result needs.  HDF5 1.8 reads all of them but the views.
 *
 *     superblock    version 2
 *     object        object header version 2, in one piece: prefix, messages, checksum
 *     message       type, length and flags, then its body
 *     chunk index   B-tree version 1
 *     heap          texts of any length, and what a view is a view of
 *
 * Everything is appended, and what refers to another structure comes after it: so each byte is written once, and the
 * superblock last.
 */
#include "h5_format.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)256 << 10)
#define NOWHERE     UINT64_MAX

/* Half of the children that a node of an index has room for, at most: the library's own choice. */
enum { MOST_HALF_NODE = 32 };

/* Sizes that the format fixes. */
enum { SUPERBLOCK_BYTES = 48, PREFIX_BYTES = 10, HEAP_HEAD_BYTES = 16, HEAP_LEAST_BYTES = 4096 };

/* Types of messages. */
enum {
    SPACE = 1,
    LINKS = 2,
    TYPE = 3,
    FILL = 5,
    LINK = 6,
    LAYOUT = 8,
    GROUP = 10,
    FILTERS = 11,
    ATTRIBUTE = 12,
    FANOUT = 19,
    COUNT = 22
};
enum { CONSTANT = 1, SHARED = 2 }; /* flags of a message */

void tl_h5_number(tl_bytes *to, uint64_t value, size_t size)
{
    tl_bytes_put(to, &value, size);
}

/* -------------------------------------------------------------------------------------------------------- checksums */

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static inline void mix(uint32_t *x, uint32_t *y, uint32_t *z, unsigned by)
{
    *x = (*x - *z) ^ rotate(*z, by);
    *z += *y;
}

static inline void mix_last(uint32_t *x, uint32_t y, unsigned by)
{
    *x = (*x ^ y) - rotate(y, by);
}

/* The checksum of HDF5's metadata: lookup3 of Bob Jenkins, from 0. */
static uint32_t checksum(const void *bytes, size_t n)
{
    enum { WORDS = 12 };
    const unsigned char *p = bytes;
    uint32_t a = UINT32_C(0xdeadbeef) + (uint32_t)n, b = a, c = a, w[3] = { 0 };

    for (; n > 0; p += WORDS, n -= WORDS) {
        if (n <= WORDS)
            memset(w, 0, sizeof w);
        memcpy(w, p, n < WORDS ? n : WORDS);
        a += w[0];
        b += w[1];
        c += w[2];
        if (n <= WORDS)
            break;
        mix(&a, &b, &c, 4);
        mix(&b, &c, &a, 6);
        mix(&c, &a, &b, 8);
        mix(&a, &b, &c, 16);
        mix(&b, &c, &a, 19);
        mix(&c, &a, &b, 4);
    }
    if (n > 0) {
        mix_last(&c, b, 14);
        mix_last(&a, c, 11);
        mix_last(&b, a, 25);
        mix_last(&c, b, 16);
        mix_last(&a, c, 4);
        mix_last(&b, a, 14);
        mix_last(&c, b, 24);
    }
    return c;
}

/* --------------------------------------------------------------------------------------------------------- the file */

static void write_at(tl_h5_out *out, uint64_t at, const char *bytes, size_t n)
{
    errno = EIO; /* of a write that takes nothing */
    while (n > 0 && out->broken.status == TL_OK) {
        ssize_t done = pwrite(out->fd, bytes, n, (off_t)at);
        if (done <= 0 && errno != EINTR)
            (void)tl_fail(&out->broken, TL_EOUTPUT, "%s: %s", out->path, strerror(errno));
        size_t more = done > 0 ? (size_t)done : 0;
        bytes += more;
        at += more;
        n -= more;
    }
}

static void write_block(tl_h5_out *out)
{
    write_at(out, out->base + out->end - out->block.n, out->block.v, out->block.n);
    out->block.n = 0;
}

void tl_h5_out_begin(tl_h5_out *out, int fd, const char *path, uint64_t base)
{
    *out = (tl_h5_out){ .fd = fd, .path = path, .base = base, .half_node = MOST_HALF_NODE };
    tl_h5_append(out, NULL, SUPERBLOCK_BYTES);
    memset(out->block.v, 0, SUPERBLOCK_BYTES);
}

void tl_h5_expect_chunks(tl_h5_out *out, size_t most)
{
    const size_t half = most / 2 + 1;
    out->half_node = half < MOST_HALF_NODE ? (unsigned)half : MOST_HALF_NODE;
}

uint64_t tl_h5_append(tl_h5_out *out, const void *bytes, size_t n)
{
    const uint64_t at = out->end;
    tl_bytes_put(&out->block, bytes, n);
    out->end += n;
    if (out->block.n >= BLOCK_BYTES)
        write_block(out);
    return at;
}

void tl_h5_out_free(tl_h5_out *out)
{
    tl_bytes_free(&out->block);
}

/* --------------------------------------------------------------------------------------------- objects and messages */

void tl_h5_object_begin(tl_bytes *object)
{
    enum { SIZE_OF_4 = 2 };
    object->n = 0;
    tl_bytes_put(object, "OHDR\x02", 5);
    tl_h5_number(object, SIZE_OF_4, 1);
    tl_h5_number(object, 0, 4); /* set at the end */
}

uint64_t tl_h5_object_end(tl_h5_out *out, tl_bytes *object)
{
    const uint32_t n = (uint32_t)(object->n - PREFIX_BYTES);
    memcpy(object->v + PREFIX_BYTES - sizeof n, &n, sizeof n);
    tl_h5_number(object, checksum(object->v, object->n), 4);
    return tl_h5_append(out, object->v, object->n);
}

/* Where the body of a message of the object begins. */
static size_t begin_message(tl_bytes *object, unsigned type, unsigned flags)
{
    tl_h5_number(object, type | (uint64_t)flags << 24, 4);
    return object->n;
}

static void end_message(tl_bytes *object, size_t start)
{
    const uint16_t n = (uint16_t)(object->n - start);
    if (n != object->n - start)
        tl_fault("a message of an HDF5 object is longer than 64 KiB");
    memcpy(object->v + start - 3, &n, sizeof n);
}

void tl_h5_out_end(tl_h5_out *out, uint64_t root)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    tl_bytes super = { 0 };
    tl_h5_object_begin(&super);
    size_t start = begin_message(&super, FANOUT, 0);
    tl_h5_number(&super, 0, 1);
    tl_h5_number(&super, out->half_node, 2);
    tl_h5_number(&super, 16 | 4 << 16, 4); /* of groups in an older format: as they are by default */
    end_message(&super, start);
    const uint64_t extension = tl_h5_object_end(out, &super);

    super.n = 0;
    tl_bytes_put(&super, signature, 8);
    tl_h5_number(&super, 2 | 8 << 8 | 8 << 16, 4); /* version 2, addresses and lengths of 8 bytes */
    tl_h5_number(&super, out->base, 8);
    tl_h5_number(&super, extension, 8);
    tl_h5_number(&super, out->base + out->end, 8);
    tl_h5_number(&super, root, 8);
    tl_h5_number(&super, checksum(super.v, super.n), 4);
    write_block(out);
    write_at(out, out->base, super.v, super.n);
    tl_bytes_free(&super);
}

void tl_h5_group_begin(tl_bytes *group)
{
    tl_h5_object_begin(group);
    size_t start = begin_message(group, LINKS, 0);
    tl_h5_number(group, 0, 2);       /* version, flags */
    tl_h5_number(group, NOWHERE, 8); /* no heap, and no index: each link is a message of the group */
    tl_h5_number(group, NOWHERE, 8);
    end_message(group, start);
    start = begin_message(group, GROUP, CONSTANT);
    tl_h5_number(group, 0, 2); /* version, flags */
    end_message(group, start);
}

void tl_h5_link(tl_bytes *group, const char *name, uint64_t address)
{
    size_t start = begin_message(group, LINK, 0), n = strlen(name);
    if (n > UINT8_MAX)
        tl_fault("the name of a link is too long");
    tl_h5_number(group, 1, 2); /* version, flags */
    tl_h5_number(group, n, 1);
    tl_bytes_put(group, name, n);
    tl_h5_number(group, address, 8);
    end_message(group, start);
}

/* ------------------------------------------------------------------------------------------------------------ types */

void tl_h5_put_type_head(tl_bytes *to, unsigned kind, unsigned bits, size_t size)
{
    tl_h5_number(to, kind | (uint64_t)bits << 8, 4);
    tl_h5_number(to, size, 4);
}

void tl_h5_put_int_type(tl_bytes *to, size_t size, bool with_sign)
{
    tl_h5_put_type_head(to, 0x10, with_sign ? 8 : 0, size);
    tl_h5_number(to, 0, 2);
    tl_h5_number(to, 8 * size, 2);
}

void tl_h5_put_text_type(tl_bytes *to, size_t size)
{
    tl_h5_put_type_head(to, 0x13, 0x11, size); /* padded with 0, UTF-8 */
}

void tl_h5_put_any_text_type(tl_bytes *to)
{
    tl_h5_put_type_head(to, 0x19, 0x0111, TL_H5_REFERENCE_BYTES); /* a text, UTF-8 */
    tl_h5_put_int_type(to, 1, false);
}

void tl_h5_put_double_type(tl_bytes *to)
{
    enum { IMPLIED_BIT = 0x20, SIGN_AT = 63 };
    tl_h5_put_type_head(to, 0x11, IMPLIED_BIT | SIGN_AT << 8, 8);
    tl_h5_number(to, (uint64_t)64 << 16, 4); /* from bit 0 on, 64 bits */
    tl_h5_number(to, 52 | 11 << 8, 2);       /* the exponent: from bit 52 on, 11 bits */
    tl_h5_number(to, 0 | 52 << 8, 2);        /* the mantissa */
    tl_h5_number(to, 1023, 4);               /* bias */
}

uint64_t tl_h5_share_type(tl_h5_out *out, const tl_bytes *type, size_t nusers)
{
    tl_bytes object = { 0 };
    tl_h5_object_begin(&object);
    size_t start = begin_message(&object, TYPE, CONSTANT);
    tl_bytes_put(&object, type->v, type->n);
    end_message(&object, start);
    start = begin_message(&object, COUNT, 0);
    tl_h5_number(&object, 0, 1);
    tl_h5_number(&object, nusers, 4);
    end_message(&object, start);
    uint64_t at = tl_h5_object_end(out, &object);
    tl_bytes_free(&object);
    return at;
}

/* ------------------------------------------------------------------------------------------------------- attributes */

/* n < 0: one cell, else a list of n. */
static void put_attribute(tl_bytes *object, const char *name, const tl_bytes *type, long n, const void *cells,
                          size_t nbytes)
{
    size_t start = begin_message(object, ATTRIBUTE, 0);
    tl_h5_number(object, 3, 2); /* version, flags */
    tl_h5_number(object, strlen(name) + 1, 2);
    tl_h5_number(object, type->n, 2);
    tl_h5_number(object, n < 0 ? 4 : 12, 2);
    tl_h5_number(object, 0, 1); /* the name is ASCII */
    tl_bytes_put(object, name, strlen(name) + 1);
    tl_bytes_put(object, type->v, type->n);
    tl_h5_number(object, n < 0 ? 2 : 2 | 1 << 8 | 1 << 24, 4); /* a space of version 2: a scalar, or one dimension */
    if (n >= 0)
        tl_h5_number(object, (uint64_t)n, 8);
    tl_bytes_put(object, cells, nbytes);
    end_message(object, start);
}

void tl_h5_attr_text(tl_bytes *object, const char *name, const char *text)
{
    tl_bytes clean = { 0 }, type = { 0 };
    tl_clean_append(&clean, text, strlen(text));
    size_t n = clean.n - 1;
    if (n > TL_H5_ATTR_TEXT_MAX) {
        n = tl_text_utf8((tl_text){ clean.v, TL_H5_ATTR_TEXT_MAX });
        memcpy(clean.v + n, "...", 3);
        n += 3;
    }
    n += n == 0; /* no text has no bytes, but a type has at least one: the 0 after the text */
    tl_h5_put_text_type(&type, n);
    put_attribute(object, name, &type, -1, clean.v, n);
    tl_bytes_free(&type);
    tl_bytes_free(&clean);
}

void tl_h5_attr_int(tl_bytes *object, const char *name, int64_t value)
{
    tl_bytes type = { 0 };
    tl_h5_put_int_type(&type, sizeof value, true);
    put_attribute(object, name, &type, -1, &value, sizeof value);
    tl_bytes_free(&type);
}

void tl_h5_attr_texts(tl_bytes *object, const char *name, const char *const *texts, size_t n)
{
    tl_bytes type = { 0 };
    size_t size = 1; /* of a type: at least 1 */
    for (size_t i = 0; i < n; i++)
        size = strlen(texts[i]) > size ? strlen(texts[i]) : size;
    char *cells = tl_calloc(n, size);
    for (size_t i = 0; i < n; i++)
        memcpy(cells + i * size, texts[i], strlen(texts[i]));
    tl_h5_put_text_type(&type, size);
    put_attribute(object, name, &type, (long)n, cells, n * size);
    tl_bytes_free(&type);
    free(cells);
}

/* --------------------------------------------------------------------------------------------------------- datasets */

/* When the library would make room for the rows. */
enum { AT_ONCE = 1, WHEN_WRITTEN = 2, CHUNK_BY_CHUNK = 3 };

/* The messages before the layout: how many rows, and of which type.  shared: `type` is the address of a shared one. */
static void begin_dataset(tl_bytes *object, const tl_bytes *type, const uint64_t *shared, uint64_t nrows, unsigned room)
{
    enum { FILLED_IF_SET = 8 };
    tl_h5_object_begin(object);
    size_t start = begin_message(object, SPACE, 0);
    /* One dimension, which may grow or not. */
    tl_h5_number(object, 2 | 1 << 8 | (room == CHUNK_BY_CHUNK ? 1 << 16 : 0) | 1 << 24, 4);
    tl_h5_number(object, nrows, 8);
    if (room == CHUNK_BY_CHUNK)
        tl_h5_number(object, UINT64_MAX, 8);
    end_message(object, start);

    start = begin_message(object, TYPE, shared != NULL ? CONSTANT | SHARED : CONSTANT);
    if (shared != NULL) {
        tl_h5_number(object, 3 | 2 << 8, 2); /* version 3: a type that is an object */
        tl_h5_number(object, *shared, 8);
    } else {
        tl_bytes_put(object, type->v, type->n);
    }
    end_message(object, start);

    start = begin_message(object, FILL, CONSTANT);
    tl_h5_number(object, 3 | (room | FILLED_IF_SET) << 8, 2);
    end_message(object, start);
}

void tl_h5_compact_begin(tl_bytes *object, const tl_bytes *type, uint64_t nrows, const void *rows, size_t nbytes)
{
    begin_dataset(object, type, NULL, nrows, AT_ONCE);
    size_t start = begin_message(object, LAYOUT, 0);
    tl_h5_number(object, 3 | 0 << 8, 2);
    tl_h5_number(object, nbytes, 2);
    tl_bytes_put(object, rows, nbytes);
    end_message(object, start);
}

static void put_contiguous(tl_bytes *object, uint64_t at, uint64_t nbytes)
{
    size_t start = begin_message(object, LAYOUT, 0);
    tl_h5_number(object, 3 | 1 << 8, 2);
    tl_h5_number(object, at, 8);
    tl_h5_number(object, nbytes, 8);
    end_message(object, start);
}

void tl_h5_contiguous_begin(tl_bytes *object, const tl_bytes *type, uint64_t nrows, uint64_t at, uint64_t nbytes)
{
    begin_dataset(object, type, NULL, nrows, WHEN_WRITTEN);
    put_contiguous(object, nbytes > 0 ? at : NOWHERE, nbytes);
}

void tl_h5_view_begin(tl_bytes *object, uint64_t type, uint64_t nrows, uint64_t heap, uint32_t index)
{
    begin_dataset(object, NULL, &type, nrows, WHEN_WRITTEN);
    size_t start = begin_message(object, LAYOUT, 0);
    tl_h5_number(object, 4 | 3 << 8, 2);
    tl_h5_number(object, heap, 8);
    tl_h5_number(object, index, 4);
    end_message(object, start);
}

void tl_h5_empty_begin(tl_bytes *object, uint64_t type)
{
    begin_dataset(object, NULL, &type, 0, WHEN_WRITTEN);
    put_contiguous(object, NOWHERE, 0);
}

static void put_filter(tl_bytes *object, unsigned id, unsigned flags, size_t n, uint32_t value)
{
    tl_h5_number(object, id | (uint64_t)flags << 16 | (uint64_t)n << 32, 6);
    tl_h5_number(object, value, 4 * n);
}

/* As tl_chunk_encode makes a chunk. */
static void put_filters(tl_bytes *object, size_t row_size)
{
    enum { DEFLATE = 1, SHUFFLE = 2, FLETCHER32 = 3, OPTIONAL = 1 };
    size_t start = begin_message(object, FILTERS, CONSTANT);
    tl_h5_number(object, 2 | 3 << 8, 2); /* version, filters */
    put_filter(object, SHUFFLE, OPTIONAL, 1, (uint32_t)row_size);
    put_filter(object, DEFLATE, OPTIONAL, 1, TL_DEFLATE_LEVEL);
    put_filter(object, FLETCHER32, 0, 0, 0);
    end_message(object, start);
}

/* What stands before a child of the index, and after the last: size and place of the chunk. */
static void put_key(tl_bytes *node, uint32_t nbytes, uint64_t row, size_t in_row)
{
    tl_h5_number(node, nbytes, 8); /* and no filter that was left out */
    tl_h5_number(node, row, 8);
    tl_h5_number(node, in_row, 8);
}

/* Writes the nodes of a level of the index; the list becomes those nodes, each with the key of its first child. */
static void put_level(tl_h5_out *out, unsigned level, tl_h5_chunk *v, size_t *n, size_t chunk_rows, size_t row_size)
{
    enum { HEAD_BYTES = 24, KEY_BYTES = 24, ADDRESS_BYTES = 8 };
    const size_t most = 2 * (size_t)out->half_node;
    const size_t node_bytes = HEAD_BYTES + most * (KEY_BYTES + ADDRESS_BYTES) + KEY_BYTES,
                 nnodes = (*n + most - 1) / most;
    tl_bytes node = { 0 };
    for (size_t k = 0; k < nnodes; k++) {
        const size_t first = k * most, end = k + 1 < nnodes ? first + most : *n;
        node.n = 0;
        tl_bytes_put(&node, "TREE\x01", 5);
        tl_h5_number(&node, level | (end - first) << 8, 3);
        tl_h5_number(&node, k > 0 ? out->end - node_bytes : NOWHERE, 8);
        tl_h5_number(&node, k + 1 < nnodes ? out->end + node_bytes : NOWHERE, 8);
        for (size_t i = first; i < end; i++) {
            put_key(&node, v[i].nbytes, v[i].chunk * chunk_rows, 0);
            tl_h5_number(&node, v[i].address, 8);
        }
        if (end < *n)
            put_key(&node, v[end].nbytes, v[end].chunk * chunk_rows, 0);
        else
            put_key(&node, 0, (v[end - 1].last + 1) * chunk_rows, row_size);
        const size_t used = node.n;
        tl_bytes_put(&node, NULL, node_bytes - used);
        memset(node.v + used, 0, node_bytes - used);
        v[k] = (tl_h5_chunk){ .chunk = v[first].chunk, .last = v[end - 1].last, .nbytes = v[first].nbytes };
        v[k].address = tl_h5_append(out, node.v, node.n);
    }
    *n = nnodes;
    tl_bytes_free(&node);
}

void tl_h5_chunked_begin(tl_h5_out *out, tl_bytes *object, const tl_bytes *type, uint64_t nrows, tl_h5_chunk *chunks,
                         size_t nchunks, size_t chunk_rows, size_t row_size)
{
    const size_t n = nchunks;
    for (unsigned level = 0; nchunks > 0 && (level == 0 || nchunks > 1); level++)
        put_level(out, level, chunks, &nchunks, chunk_rows, row_size);
    begin_dataset(object, type, NULL, nrows, CHUNK_BY_CHUNK);
    put_filters(object, row_size);
    size_t start = begin_message(object, LAYOUT, 0);
    tl_h5_number(object, 3 | 2 << 8 | 2 << 16, 3); /* in chunks; rows, and bytes of a row */
    tl_h5_number(object, n > 0 ? chunks[0].address : NOWHERE, 8);
    tl_h5_number(object, chunk_rows, 4);
    tl_h5_number(object, row_size, 4);
    end_message(object, start);
}

/* ------------------------------------------------------------------------------------------------------------- heap */

static void align_to_8(tl_bytes *b)
{
    tl_h5_number(b, 0, (8 - b->n % 8) % 8);
}

uint32_t tl_h5_heap_add(tl_h5_heap *heap, const void *bytes, size_t n)
{
    if (heap->bytes.n == 0)
        tl_bytes_put(&heap->bytes, "GCOL\x01\0\0\0\0\0\0\0\0\0\0\0", HEAP_HEAD_BYTES);
    if (++heap->n > UINT16_MAX)
        tl_fault("a heap of an HDF5 file has too many objects");
    tl_h5_number(&heap->bytes, heap->n, 8);
    tl_h5_number(&heap->bytes, n, 8);
    tl_bytes_put(&heap->bytes, bytes, n);
    align_to_8(&heap->bytes);
    return heap->n;
}

uint64_t tl_h5_heap_put(tl_h5_out *out, tl_h5_heap *heap)
{
    tl_bytes *b = &heap->bytes;
    if (heap->n == 0)
        return NOWHERE;
    if (b->n < HEAP_LEAST_BYTES) {
        const size_t used = b->n, left = HEAP_LEAST_BYTES - used;
        tl_bytes_put(b, NULL, left);
        memset(b->v + used, 0, left);
        if (left >= HEAP_HEAD_BYTES) /* an object of its own, with its size */
            memcpy(b->v + used + 8, &(uint64_t){ left }, 8);
    }
    memcpy(b->v + 8, &(uint64_t){ b->n }, 8);
    uint64_t at = tl_h5_append(out, b->v, b->n);
    heap->n = 0;
    b->n = 0;
    return at;
}

/* Rows [first, first + n) as the format has them: a hyperslab of one block. */
static void put_selection(tl_bytes *to, uint64_t first, uint64_t n)
{
    tl_h5_number(to, 2 | (uint64_t)1 << 32, 8); /* hyperslab, version 1 */
    tl_h5_number(to, 0, 4);
    tl_h5_number(to, 16 | (uint64_t)1 << 32, 8); /* bytes; dimensions */
    tl_h5_number(to, 1, 4);                      /* blocks */
    tl_h5_number(to, first, 4);
    tl_h5_number(to, first + n - 1, 4);
}

uint32_t tl_h5_heap_add_view(tl_h5_heap *heap, const char *path, uint64_t first, uint64_t n)
{
    tl_bytes view = { 0 };
    tl_h5_number(&view, 0, 1); /* version */
    tl_h5_number(&view, 1, 8); /* sources */
    tl_bytes_put(&view, ".", sizeof ".");
    tl_bytes_put(&view, path, strlen(path) + 1);
    put_selection(&view, first, n);
    put_selection(&view, 0, n);
    tl_h5_number(&view, checksum(view.v, view.n), 4);
    uint32_t index = tl_h5_heap_add(heap, view.v, view.n);
    tl_bytes_free(&view);
    return index;
}
