/* bytes.h - a growing buffer of bytes: put together piece by piece, sent or written as one, and taken apart again.
 *
 * Numbers and lists of numbers are in the machine's own representation: all procs are the same program on machines of
 * one kind.
 */
#ifndef TLMPI_BASE_BYTES_H
#define TLMPI_BASE_BYTES_H

#include "tlmpi/base/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Zero-initialise; tl_bytes_free, or free(bytes.v), ends it. */
typedef struct tl_bytes {
    char *v;
    size_t n, cap;
    size_t at; /* number of bytes that have been read */
} tl_bytes;

static inline void tl_bytes_free(tl_bytes *b)
{
    free(b->v);
    *b = (tl_bytes){ 0 };
}

/* Appends n bytes. */
static inline void tl_bytes_put(tl_bytes *b, const void *v, size_t n)
{
    tl_grow((void **)&b->v, &b->cap, b->n + n, 1);
    if (n > 0 && v != NULL)
        memcpy(b->v + b->n, v, n);
    b->n += n;
}

/* Appends text formatted as by printf, truncated after 4,095 bytes. */
void tl_bytes_say(tl_bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Skips the next n bytes.  All procs of a run are the same program, so too few bytes are an error in the program. */
static inline void tl_bytes_skip(tl_bytes *b, size_t n)
{
    if (n > b->n - b->at)
        tl_fault("a message between procs is shorter than what it holds");
    b->at += n;
}

/* Reads the next n bytes. */
static inline void tl_bytes_get(tl_bytes *b, void *v, size_t n)
{
    const size_t at = b->at;
    tl_bytes_skip(b, n);
    if (n > 0)
        memcpy(v, b->v + at, n);
}

/* Appends n, then n elements of `size` bytes each. */
static inline void tl_bytes_put_list(tl_bytes *b, const void *v, size_t n, size_t size)
{
    tl_bytes_put(b, &n, sizeof n);
    tl_bytes_put(b, v, n * size);
}

/* Reads the next list into *v, with room for one element more, which the caller frees; *n: number of elements. */
static inline void tl_bytes_get_list(tl_bytes *b, void **v, size_t *n, size_t size)
{
    tl_bytes_get(b, n, sizeof *n);
    if (*n > (b->n - b->at) / size)
        tl_fault("a message between procs is shorter than its list");
    void *list = tl_malloc((*n + 1) * size);
    tl_bytes_get(b, list, *n * size);
    memcpy(v, &list, sizeof list);
}

/* Appends an integer in 7 bits per byte: the closer to 0, the fewer bytes. */
static inline void tl_bytes_put_number(tl_bytes *b, int64_t x)
{
    enum { LONGEST = 10 };
    uint64_t bits = (uint64_t)x << 1 ^ (x < 0 ? UINT64_MAX : 0); /* 0, -1, 1, -2, ...: 0, 1, 2, 3, ... */
    if (b->cap - b->n < LONGEST)
        tl_grow((void **)&b->v, &b->cap, b->n + LONGEST, 1);
    for (; bits > 0x7f; bits >>= 7)
        b->v[b->n++] = (char)((bits & 0x7f) | 0x80);
    b->v[b->n++] = (char)bits;
}

/* Reads the next integer of tl_bytes_put_number. */
static inline int64_t tl_bytes_get_number(tl_bytes *b)
{
    uint64_t bits = 0;
    unsigned shift = 0;
    for (uint8_t more = 0x80; more != 0; shift += 7) {
        tl_bytes_skip(b, 1);
        uint8_t byte = (uint8_t)b->v[b->at - 1];
        bits |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        more = byte & 0x80;
    }
    return (int64_t)(bits >> 1 ^ ((bits & 1) != 0 ? UINT64_MAX : 0));
}

#endif
