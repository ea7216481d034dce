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

/* Opens path for reading.  The first bytes of a pipe, up to cap, go to buf: they show that the pipe has a writer.
 * TL_EINPUT: path cannot be opened, is neither file nor pipe, or is a pipe without a writer for 5 seconds. */
tl_status tl_open(const char *path, void *buf, size_t cap, tl_opened *out, tl_error *err);

#endif
