/* sink.h - bytes to a file, as they are or as one gzip member.
 *
 * A write that fails is remembered: the rest is passed over, and the end tells.  Holds a small constant of the bytes.
 */
#ifndef TLMPI_TRACE_OUT_SINK_H
#define TLMPI_TRACE_OUT_SINK_H

#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tl_sink tl_sink;

/* Writes to fd, which stays the caller's; `name` is for messages and must outlive the sink.  *out is set on success
 * alone. */
tl_status tl_sink_open(int fd, const char *name, bool gzip, tl_sink **out, tl_error *err);

/* False once something has failed. */
bool tl_sink_put(tl_sink *sink, const void *bytes, size_t n);

/* Writes what is left.  TL_EOUTPUT: not all of it could be written.  Nothing may be put afterwards. */
tl_status tl_sink_end(tl_sink *sink, tl_error *err);

/* NULL is fine. */
void tl_sink_close(tl_sink *sink);

#endif
