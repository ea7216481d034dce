/* unpack.h - decompression: a file is a chain of parts, gzip members or zstd frames. */
#ifndef TLMPI_TRACE_TEXT_UNPACK_H
#define TLMPI_TRACE_TEXT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The result of a decompression step. */
typedef enum tl_unpacked {
    TL_GOES_ON,   /* needs more input, or more room */
    TL_PART_ENDS, /* the part ends; its checksum, if any, is right */
    TL_BAD_HEADER,
    TL_BAD_DATA,
    TL_BAD_CHECKSUM,
    TL_WIDE_WINDOW /* refers to text further back than is kept */
} tl_unpacked;

/* A compression format. */
typedef struct tl_unpacker {
    const char *word, *part; /* "gzip", "member" */
    size_t nmagic;           /* number of bytes that `begins` needs to recognise a part */
    unsigned char first;     /* the byte that most parts begin with */
    bool (*begins)(const unsigned char *p, size_t n);

    void *(*make)(void);
    void (*begin)(void *state); /* called before each part */

    /* Decompresses n bytes from `in` to `out`, which has room for cap: *used of them, to *made bytes of text.  A fault
     * is returned after all text before it. */
    tl_unpacked (*run)(void *state, const unsigned char *in, size_t n, size_t *used, unsigned char *out, size_t cap,
                       size_t *made);
    void (*end)(void *state); /* NULL is fine */

    /* Returns the length of the text of the part that begins with these n bytes and ends with the 8 of last, modulo
     * 2^32; 0: unknown. */
    uint32_t (*told_bytes)(const unsigned char *p, size_t n, const unsigned char *last);
} tl_unpacker;

extern const tl_unpacker tl_gzip;

/* Keeps up to 128 MiB of text, as the zstd program does, and rejects a frame that needs more.  In a build without
 * libzstd, no file begins with it. */
extern const tl_unpacker tl_zstd;

#endif
