/* bytes.h - bytes that grow: what is put together piece by piece, to be sent or written as one, and taken apart again.
 *
 * Numbers and lists of them lie there as in memory: all procs are the same program on machines of one kind.
 */
#ifndef TLMPI_BASE_BYTES_H
#define TLMPI_BASE_BYTES_H

#include "tlmpi/base/mem.h"
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise; tl_bytes_free, or free(bytes.v), ends it. */
typedef struct tl_bytes {
    char *v;
    size_t n, cap;
    size_t at; /* how many have been read */
} tl_bytes;

/* Appends n bytes.  False when memory is out; what was there stays. */
bool tl_bytes_put(tl_bytes *b, const void *v, size_t n);

/* Takes the next n.  False: so many are not left. */
bool tl_bytes_get(tl_bytes *b, void *v, size_t n);

/* How many there are of `size` bytes each, and then they. */
bool tl_bytes_put_list(tl_bytes *b, const void *v, size_t n, size_t size);

/* Into *v, with room for one more, the caller's also after a failure; *n of them.  False: they are not there, or memory is out. */
bool tl_bytes_get_list(tl_bytes *b, void **v, size_t *n, size_t size);

void tl_bytes_free(tl_bytes *b);

#endif
