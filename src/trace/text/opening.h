/* opening.h - a file or a pipe, opened without waiting for anybody. */
#ifndef TLMPI_TRACE_TEXT_OPENING_H
#define TLMPI_TRACE_TEXT_OPENING_H

#include "tlmpi/base/status.h"
#include <stddef.h>
#include <stdint.h>

typedef struct tl_opened {
    int fd;        /* to be closed, also after a failure; -1 for none */
    uint64_t size; /* of a file; 0 for a pipe */
    size_t n;      /* bytes of a pipe that have been read already */
} tl_opened;

/* Opens path for reading.  A pipe's first bytes, up to cap of them, go to buf: that is how its writer is noticed.
 * TL_EINPUT: it cannot be opened, is neither file nor pipe, or nobody writes to the pipe for some seconds. */
tl_status tl_open(const char *path, void *buf, size_t cap, tl_opened *out, tl_error *err);

#endif
