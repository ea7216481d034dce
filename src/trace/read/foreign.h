/* foreign.h - formats of other profilers, which are named and not read. */
#ifndef TLMPI_TRACE_READ_FOREIGN_H
#define TLMPI_TRACE_READ_FOREIGN_H

#include "tlmpi/trace/read/reader.h"

extern const tl_reader tl_foreign_reader;

#endif
