/* bytes.h - bytes that grow: what is put together piece by piece, to be sent or written as one, and taken apart again.
 *
 * Numbers and lists of them lie there as in memory: all procs are the same program on machines of one kind.
 */
#ifndef TLMPI_BASE_BYTES_H
#define TLMPI_BASE_BYTES_H

#include "tlmpi/base/mem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Zero-initialise; tl_bytes_free, or free(bytes.v), ends it. */
typedef struct tl_bytes {
    char *v;
    size_t n, cap;
    size_t at; /* how many have been read */
} tl_bytes;

static inline void tl_bytes_free(tl_bytes *b)
{
    free(b->v);
    *b = (tl_bytes){ 0 };
}

/* Appends n bytes.  False when memory is out; what was there stays. */
static inline bool tl_bytes_put(tl_bytes *b, const void *v, size_t n)
{
    if (!tl_grow((void **)&b->v, &b->cap, b->n + n, 1))
        return false;
    if (n > 0 && v != NULL)
        memcpy(b->v + b->n, v, n);
    b->n += n;
    return true;
}

/* Takes the next n.  False: so many are not left. */
static inline bool tl_bytes_get(tl_bytes *b, void *v, size_t n)
{
    if (n > b->n - b->at)
        return false;
    if (n > 0)
        memcpy(v, b->v + b->at, n);
    b->at += n;
    return true;
}

/* How many there are of `size` bytes each, and then they. */
static inline bool tl_bytes_put_list(tl_bytes *b, const void *v, size_t n, size_t size)
{
    return tl_bytes_put(b, &n, sizeof n) && tl_bytes_put(b, v, n * size);
}

/* Into *v, with room for one more, the caller's also after a failure; *n of them.  False: they are not there, or memory
 * is out. */
static inline bool tl_bytes_get_list(tl_bytes *b, void **v, size_t *n, size_t size)
{
    void *list = NULL;
    bool ok = tl_bytes_get(b, n, sizeof *n) && *n <= (b->n - b->at) / size;
    if (ok) {
        list = tl_malloc((*n + 1) * size);
        ok = list != NULL && tl_bytes_get(b, list, *n * size);
    }
    if (!ok)
        *n = 0;
    memcpy(v, &list, sizeof list);
    return ok;
}

#endif
