/* jsonl.h - the format of files of phases (phases.h), which hold no events. */
#ifndef TLMPI_TRACE_READ_JSONL_H
#define TLMPI_TRACE_READ_JSONL_H

#include "tlmpi/trace/read/reader.h"

extern const tl_reader tl_jsonl_reader;

#endif
