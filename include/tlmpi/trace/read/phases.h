/* phases.h - a file of phases: JSON lines, each a record of one phase of a step.
 *
 *     {"duration_ms": 1.25, "micro_step": 0, "name": "training_step", "rank": 3, "step": 7}
 *
 * libtlmpi_record and the CUDA-event profiler of lmms-engine write such files.  Keys come in any order; of equal keys
 * the last counts.  name, step and duration_ms are required; rank may come from the file's name; every other key is
 * metadata.
 *
 * A bad line is dropped alone, and counted: it is not JSON, lacks a key, or its duration is below 0, not a number, or
 * longer than a hundred days.  A truncated last line is reported separately.  Values of Python that are not JSON (NaN,
 * Infinity) are read as null.  The file may be compressed like a trace.
 */
#ifndef TLMPI_TRACE_READ_PHASES_H
#define TLMPI_TRACE_READ_PHASES_H

#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct tl_phase_record {
    tl_text name; /* valid until the next record */
    int32_t step;
    int32_t rank; /* -1: not in the record */
    int64_t duration_ns;
    uint64_t line;     /* hash of the line's text */
    uint64_t metadata; /* hash of all other keys and values; 0: there are none */
} tl_phase_record;

/* The outcome of reading a file. */
typedef struct tl_phases_report {
    int64_t file_bytes;
    int64_t lines;          /* lines that are not empty */
    int64_t records;        /* lines that are a record */
    int64_t no_json;        /* lines dropped: not a JSON object */
    int64_t no_key;         /* lines dropped: name or step is missing or invalid */
    int64_t no_duration;    /* lines dropped: the duration is missing or invalid */
    int64_t first_bad_byte; /* offset in the text of the first line dropped, or of the truncation; -1: none */
    char first_bad[256];    /* what was expected there, and what was done */
    bool cut;               /* the last line is truncated */
    bool fault;             /* the compressed stream is damaged */
} tl_phases_report;

/* Calls `take` for each record, in file order.  Returns TL_OK even if the file is damaged: see *out.  TL_EINPUT: the
 * file cannot be opened. */
tl_status tl_phases_read(const char *path, void (*take)(void *arg, const tl_phase_record *record), void *arg,
                         tl_phases_report *out, tl_error *err);

#endif
