/* memory_reader.h - the format of memory timelines. */
#ifndef TLMPI_TRACE_READ_MEMORY_READER_H
#define TLMPI_TRACE_READ_MEMORY_READER_H

#include "tlmpi/trace/read/reader.h"

extern const tl_reader tl_memory_reader;

#endif
