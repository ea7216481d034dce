/* unpack.h - packed bytes to text: a file is a chain of parts, gzip members or zstd frames. */
#ifndef TLMPI_TRACE_TEXT_UNPACK_H
#define TLMPI_TRACE_TEXT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What came of some packed bytes. */
typedef enum tl_unpacked {
    TL_GOES_ON,   /* wants more input, or more room */
    TL_PART_ENDS, /* and its checksum, if it has one, is right */
    TL_BAD_HEADER,
    TL_BAD_DATA,
    TL_BAD_CHECKSUM,
    TL_WIDE_WINDOW /* it refers to text further back than we keep */
} tl_unpacked;

/* A way to pack. */
typedef struct tl_unpacker {
    const char *word, *part; /* "gzip", "member" */
    size_t nmagic;           /* bytes that `begins` needs to tell a part's begin */
    unsigned char first;     /* the byte that most parts begin with */
    bool (*begins)(const unsigned char *p, size_t n);

    void *(*make)(void);
    void (*begin)(void *state); /* before a part */

    /* Unpacks n bytes from `in` to `out`, which has room for cap: *used of them, to *made bytes of text.  A fault comes
     * when all text before it has been given. */
    tl_unpacked (*run)(void *state, const unsigned char *in, size_t n, size_t *used, unsigned char *out, size_t cap,
                       size_t *made);
    void (*end)(void *state); /* NULL is fine */

    /* How long the text of the part is that begins with these n bytes and ends with the 8 of last, modulo 2^32; 0: it
     * does not say. */
    uint32_t (*told_bytes)(const unsigned char *p, size_t n, const unsigned char *last);
} tl_unpacker;

extern const tl_unpacker tl_gzip;

/* Keeps up to 128 MiB of text, as the zstd program does, and does not read a frame that needs more.  Where libzstd was
 * not there when we were built, nothing begins with it. */
extern const tl_unpacker tl_zstd;

#endif
