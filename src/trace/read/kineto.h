/* kineto.h - the reader of what PyTorch's profiler writes: a JSON document with traceEvents, or an array of events
 * alone. */
#ifndef TLMPI_TRACE_READ_KINETO_H
#define TLMPI_TRACE_READ_KINETO_H

#include "tlmpi/trace/read/reader.h"

extern const tl_reader tl_kineto_reader;

/* Its look, see tl_reader. */
void tl_kineto_look(const char *path, bool deep, bool should_be, tl_look *out);

#endif
