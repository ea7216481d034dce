/* bytes.h - bytes that grow: what is put together piece by piece, to be sent or written as one. */
#ifndef TLMPI_BASE_BYTES_H
#define TLMPI_BASE_BYTES_H

#include "tlmpi/base/mem.h"
#include <string.h>

/* Zero-initialise; free(bytes.v) ends it. */
typedef TL_VEC(char) tl_bytes;

/* Adds n bytes.  False when memory is out; what was there stays. */
static inline bool tl_bytes_put(tl_bytes *bytes, const void *from, size_t n)
{
    if (!tl_grow((void **)&bytes->v, &bytes->cap, bytes->n + n, 1))
        return false;
    if (n > 0)
        memcpy(bytes->v + bytes->n, from, n);
    bytes->n += n;
    return true;
}

#endif
