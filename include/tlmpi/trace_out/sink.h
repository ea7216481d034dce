/* sink.h - writes bytes to a file, as they are or as one gzip member.
 *
 * After a write has failed, further bytes are dropped, and the end reports the error.  Memory does not depend on the
 * number of bytes.
 */
#ifndef TLMPI_TRACE_OUT_SINK_H
#define TLMPI_TRACE_OUT_SINK_H

#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tl_sink tl_sink;

/* Writes to fd, which the caller keeps; `name` is for messages and must outlive the sink.  *out is set on success
 * only. */
tl_status tl_sink_open(int fd, const char *name, bool gzip, tl_sink **out, tl_error *err);

/* Returns false once a write has failed. */
bool tl_sink_put(tl_sink *sink, const void *bytes, size_t n);

/* Writes the remaining bytes.  TL_EOUTPUT: a write has failed.  Nothing may be put afterwards. */
tl_status tl_sink_end(tl_sink *sink, tl_error *err);

/* sink may be NULL. */
void tl_sink_close(tl_sink *sink);

#endif
